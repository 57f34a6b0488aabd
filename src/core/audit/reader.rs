//! Lines of a log into model calls, with what was read of lines before taken over.

use std::collections::VecDeque;

use super::body::{self, Before, Body, Placed};
use super::pieces::{Pieces, Shape, detect};
use super::usage::{self, Answered, Beyond, Reported};
use super::walk::{Fields, Known, walk};
use crate::core::wire::lossless::Json;

/// A model call as a log holds it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The number of its line, from 1.
    pub line: u64,
    /// What it was sent.
    pub(super) body: Body,
    /// What came back; none where the log does not hold it.
    pub answered: Option<Answered>,
    /// When it was sent, in milliseconds since the Unix epoch.
    pub at: Option<i64>,
    /// The session, where the log names it.
    pub session: Option<String>,
    /// The agent, where the log names it.
    pub agent: Option<String>,
    /// The provider, where the log names it.
    pub provider: Option<String>,
    /// The model, where the log knows better than the body.
    pub model: Option<String>,
    id: Option<String>,
    apart: bool,
}

impl Exchange {
    /// A call that was read in another way.
    #[cfg(test)]
    pub(super) fn of(
        line: u64,
        body: Body,
        answered: Option<Answered>,
        at: Option<i64>,
        session: Option<String>,
    ) -> Exchange {
        let (agent, provider, model, id) = (None, None, None, None);
        Exchange { line, body, answered, at, session, agent, provider, model, id, apart: false }
    }

    /// The id that its program has given to it, where the log holds one.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

/// Why a line gives no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It holds nothing.
    Empty,
    /// It is not JSON: what is wrong and at which byte.
    NotJson {
        /// One clause, lower case, without a full stop.
        message: &'static str,
        /// The byte, from 0.
        byte: usize,
    },
    /// It is JSON, and no call of a kind that is known.
    NoCall,
    /// The body of its request cannot be read.
    NoRequest,
    /// A number of its usage is negative or beyond any prompt.
    Usage,
}

/// A line that is remembered, with the body that was read from it.
struct Slot {
    line: Vec<u8>,
    fields: Fields,
    body: Body,
    /// The keys of the body; empty where it was a text of its own.
    prefix: &'static str,
}

/// Reads the lines of one log, in order.
pub struct Reader {
    /// The latest first.
    slots: VecDeque<Slot>,
    /// Calls whose answer may come in a line of its own.
    waiting: VecDeque<Exchange>,
    memory: usize,
}

/// The most lines that are remembered, and that are compared with a new one.
const SLOTS: usize = 12;
/// The most calls that wait for their answers.
const WAITING: usize = 16;

impl Reader {
    /// A reader that remembers lines up to so many bytes.
    #[must_use]
    pub fn new(memory: usize) -> Reader {
        Reader { slots: VecDeque::new(), waiting: VecDeque::new(), memory }
    }

    /// Reads a line, and keeps its bytes where it holds a call: `line` is then the buffer of one that is not kept any
    /// more. What is known from it and the lines before goes to `found`, in the order of the lines.
    ///
    /// # Errors
    ///
    /// Why the line gives no call.
    pub fn line(
        &mut self,
        number: u64,
        line: &mut Vec<u8>,
        shape: &dyn Shape,
        found: &mut dyn FnMut(Exchange),
    ) -> Result<(), Skipped> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Err(Skipped::Empty);
        }
        let known: Vec<Known<'_>> =
            self.slots.iter().map(|slot| Known { line: &slot.line, fields: &slot.fields }).collect();
        let fields = walk(line, &known)
            .map_err(|mistake| Skipped::NotJson { message: mistake.message, byte: mistake.at })?;
        let Some(pieces) = shape.pieces(&fields, line) else { return Err(Skipped::NoCall) };
        let answered = answer(&pieces, line);
        if answered.as_ref().is_some_and(|answered| answered.unusable) {
            return Err(Skipped::Usage);
        }
        let Some(prefix) = pieces.body else {
            return self.answer(answered, pieces.id.as_deref(), found);
        };
        // A body that was logged as a text is a line of its own.
        let inner = text_body(&fields, line, prefix);
        let (own, fields, prefix) = match inner {
            Some(inner) => {
                let fields = walk(&inner, &known).map_err(|_| Skipped::NoRequest)?;
                (Some(inner), fields, "")
            }
            None => (None, fields, prefix),
        };
        // What stands beside the body in its line is not there in a line of its own.
        let parameters = pieces.parameters.filter(|_| own.is_none());
        let placed = Placed { line: own.as_ref().unwrap_or(line), fields: &fields, prefix, parameters };
        let before: Vec<Before<'_>> = self
            .slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.prefix == prefix)
            .map(|(line, slot)| Before { body: &slot.body, line })
            .collect();
        let list = ["messages", "input", "contents"].iter().find_map(|key| placed.field(key));
        let from = list.and_then(|field| field.same);
        let like = from.and_then(|line| before.iter().find(|before| before.line == line));
        let format = pieces.format.or_else(|| like.map(|like| like.body.format)).or_else(|| detect(placed));
        let Some(format) = format else { return Err(Skipped::NoRequest) };
        let body = body::read(placed, format, &before).map_err(|_| Skipped::NoRequest)?;
        let exchange = Exchange {
            line: number,
            body: body.clone(),
            answered,
            at: pieces.at,
            session: pieces.session,
            agent: pieces.agent,
            provider: pieces.provider,
            model: pieces.model,
            id: pieces.id,
            apart: pieces.apart,
        };
        let kept = own.unwrap_or_else(|| std::mem::take(line));
        if let Some(free) = self.remember(Slot { line: kept, fields, body, prefix }, from) {
            *line = free;
        }
        self.waiting.push_back(exchange);
        self.hand_out(found);
        Ok(())
    }

    /// An answer that stands in a line of its own.
    fn answer(
        &mut self,
        answered: Option<Answered>,
        id: Option<&str>,
        found: &mut dyn FnMut(Exchange),
    ) -> Result<(), Skipped> {
        let Some(answered) = answered else { return Err(Skipped::NoCall) };
        let open = |exchange: &&mut Exchange| exchange.apart && exchange.answered.is_none();
        let by_id =
            id.and_then(|id| self.waiting.iter_mut().filter(open).find(|e| e.id.as_deref() == Some(id)));
        let call = match by_id {
            Some(call) => Some(call),
            None => self.waiting.iter_mut().find(open),
        };
        let Some(call) = call else { return Err(Skipped::NoCall) };
        call.answered = Some(answered);
        self.hand_out(found);
        Ok(())
    }

    fn hand_out(&mut self, found: &mut dyn FnMut(Exchange)) {
        while let Some(front) = self.waiting.front() {
            if front.apart && front.answered.is_none() && self.waiting.len() <= WAITING {
                break;
            }
            if let Some(front) = self.waiting.pop_front() {
                found(front);
            }
        }
    }

    /// Hands out the calls whose answers did not come: the log has ended, or waits.
    pub fn flush(&mut self, found: &mut dyn FnMut(Exchange)) {
        while let Some(front) = self.waiting.pop_front() {
            found(front);
        }
    }

    /// Keeps a line for those that follow, in the place of the one that it goes on from, whose buffer it gives back.
    fn remember(&mut self, mut slot: Slot, from: Option<usize>) -> Option<Vec<u8>> {
        // A short line in the buffer of a long one would take the place of others.
        if slot.line.capacity() / 2 > slot.line.len() {
            slot.line.shrink_to_fit();
        }
        let free = from.and_then(|from| self.slots.remove(from)).map(|slot| slot.line);
        self.slots.push_front(slot);
        let mut bytes = 0;
        let kept = self.slots.iter().take(SLOTS).take_while(|slot| {
            bytes += slot.line.capacity();
            bytes <= self.memory
        });
        let kept = kept.count();
        self.slots.truncate(kept);
        free
    }
}

fn answer(pieces: &Pieces, line: &[u8]) -> Option<Answered> {
    let read = |range: &std::ops::Range<usize>| {
        let raw = std::str::from_utf8(&line[range.clone()]).ok()?;
        Some(usage::answered(&Json::parse(raw).ok()?, raw))
    };
    let mut answered = pieces.answer.as_ref().and_then(read);
    if let Some(range) = &pieces.usage
        && let Ok(raw) = std::str::from_utf8(&line[range.clone()])
        && let Ok(json) = Json::parse(raw)
    {
        match Reported::of(&json, raw) {
            // The answer's own figures win: a gateway's are made from them.
            Ok(Some(reported)) => {
                answered.get_or_insert_default().reported.get_or_insert(reported);
            }
            Ok(None) => {}
            Err(Beyond) => answered.get_or_insert_default().unusable = true,
        }
    }
    answered
}

/// A body that stands as a text in the line, decoded.
fn text_body(fields: &Fields, line: &[u8], prefix: &str) -> Option<Vec<u8>> {
    let field = fields.get(prefix).filter(|_| !prefix.is_empty())?;
    if line.get(field.range.start) != Some(&b'"') {
        return None;
    }
    let raw = std::str::from_utf8(&line[field.range.clone()]).ok()?;
    let json = Json::parse(raw).ok()?;
    Some(json.as_text()?.as_bytes().to_vec())
}
