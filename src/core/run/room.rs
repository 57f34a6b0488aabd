//! Room in the model's window: compaction before a request that would fill it, and what is left of a conversation after one.

use std::sync::Arc;

use super::input::Compaction;
use super::record::LayerState;
use super::restart::COMPACTION;
use super::session::Session;
use crate::core::bench::CompactionRule;
use crate::core::fact::{EventId, FactKey, FilePath, Lookup, Name, Progress, Value};
use crate::core::log::Body;
use crate::core::source;
use crate::core::tokens::{Encoding, LineCounter, Method};
use crate::core::wire::{Block, MessageId};

/// A compaction, and what of the conversation stands elsewhere. Of the call that was made next.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    /// The event.
    pub event: EventId,
    /// How full the window was; none for one that the script asked for.
    pub near: Option<Near>,
    /// The messages that left, in order.
    pub left: Vec<MessageId>,
    /// Those of them that are texts of the user or the model: what they say stands in the summary or nowhere.
    pub said: Vec<MessageId>,
    /// What the run had written to files, and which layers of the request say it now: it survives.
    pub survives: Vec<Survivor>,
}

/// How full a window was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// The tokens of the request that was not sent; an estimate where the model's vocabulary is not public.
    pub tokens: u32,
    /// The window.
    pub window: u32,
    /// The share of it that the bench allows, in percent.
    pub at: u32,
}

/// A file that was written before a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// The file.
    pub path: FilePath,
    /// The layers whose text in the next request was made with it; none: it is on disk, and the model is not told.
    pub layers: Vec<Name>,
}

/// The key under which the edge tells what it knows of a model: a map with `window` (tokens), `encoding` and `factor`.
fn model_key(model: &str) -> FactKey {
    FactKey::Environment(format!("model {model}").into())
}

impl Session {
    /// Sums the conversation up if the request that waits fills the window too far; true when it did.
    pub(super) fn make_room(&mut self) -> Progress<bool> {
        let bench = self.bench.clone();
        let Some(rule) = &bench.compaction else { return Progress::Done(false) };
        let current = self.current();
        let conversation = &self.conversations[current];
        // Once before a call: what is left then does not get smaller.
        if conversation.compacted.is_some() {
            return Progress::Done(false);
        }
        let near = match self.near(rule) {
            Progress::Done(Some(near)) => near,
            Progress::Done(None) => return Progress::Done(false),
            Progress::Needs(needs) => return Progress::Needs(needs),
        };
        let text = {
            let mut templates = self.templates();
            source::text_of(&rule.summary, &bench, &mut templates, &self.view(current), &[])
        };
        let summary = match text {
            Progress::Done(Ok(text)) => text,
            // A conversation that cannot be summed up goes on as it is; the request says what failed.
            Progress::Done(Err(_)) => return Progress::Done(false),
            Progress::Needs(needs) => return Progress::Needs(needs),
        };
        let conversation = &self.conversations[current];
        let from = self.next_call;
        let live = |index: usize| conversation.log.messages()[index].live.contains(&from);
        let now = conversation.current_user.filter(|_| conversation.fresh_turn);
        let said_now = now.map_or(0, |start| (start..conversation.log.len()).filter(|&at| live(at)).count());
        let keep = rule.keep.max(u32::try_from(said_now).unwrap_or(u32::MAX));
        let all = (0..conversation.log.len()).filter(|&at| live(at)).count();
        if all <= keep as usize {
            return Progress::Done(false);
        }
        self.compact(&Compaction { summary, keep, rebuild: rule.rebuild }, Some(near));
        Progress::Done(true)
    }

    /// How full the window is, where that is too full.
    fn near(&mut self, rule: &CompactionRule) -> Progress<Option<Near>> {
        let key = model_key(&self.model());
        let (window, method) = match self.look(&key) {
            Lookup::Ready(Value::Map(model), ..) => {
                let number = |name: &str| match model.get(name) {
                    Some(Value::Int(number)) => u32::try_from(*number).ok(),
                    _ => None,
                };
                let encoding = model.get("encoding").and_then(Value::as_text);
                let encoding = encoding.and_then(|name| {
                    [Encoding::O200k, Encoding::Cl100k].into_iter().find(|e| e.name() == &**name)
                });
                let base = encoding.unwrap_or(Encoding::O200k);
                let factor = match model.get("factor") {
                    Some(Value::Float(factor)) => *factor,
                    _ => 1.0,
                };
                (number("window"), Method::Estimate { base, factor, error: 0.0 })
            }
            Lookup::Unknown => return Progress::Needs(vec![key]),
            _ => (None, Method::Estimate { base: Encoding::O200k, factor: 1.0, error: 0.0 }),
        };
        let (Some(window), Some(prepared)) = (rule.window.or(window), self.prepared.clone()) else {
            return Progress::Done(None);
        };
        let tokens = self.tokens(&prepared.blocks, &method);
        let full = u64::from(tokens) * 100 >= u64::from(window) * u64::from(rule.at);
        Progress::Done(full.then_some(Near { tokens, window, at: rule.at }))
    }

    /// The tokens of some blocks. Each is counted once.
    fn tokens(&mut self, blocks: &[Arc<Block>], method: &Method) -> u32 {
        let Some(encoding) = method.encoding() else { return 0 };
        let mut counter = method.measure(LineCounter::new(encoding));
        let one = |block: &Arc<Block>| {
            *self.sizes.entry((block.hash, encoding)).or_insert_with(|| block.tokens(&mut counter))
        };
        blocks.iter().map(one).sum()
    }

    /// What a compaction that takes the messages before `at` out, by an event, leaves behind.
    pub(super) fn compacted(
        &self,
        conversation: usize,
        at: usize,
        event: EventId,
        near: Option<Near>,
    ) -> Compacted {
        let from = self.next_call;
        let messages = &self.conversations[conversation].log.messages()[..at];
        let live = || messages.iter().filter(|message| message.live.contains(&from));
        let said = live().filter(|message| match &message.body {
            // An earlier summary was not said by anybody.
            Body::User(Some(text)) => text.parts().iter().all(|part| &*part.id != COMPACTION),
            Body::User(None) => true,
            Body::Assistant { text, .. } => text.is_some(),
            Body::Own(_) | Body::Tool { .. } => false,
        });
        Compacted {
            event,
            near,
            left: live().map(|message| message.id).collect(),
            said: said.map(|message| message.id).collect(),
            survives: Vec::new(),
        }
    }

    /// The files that the run has written, with the layers of a request that say them now.
    pub(super) fn survivors(&self, layers: &[LayerState]) -> Vec<Survivor> {
        let mut survivors: Vec<Survivor> = Vec::new();
        // The files that hold places of the prompt are written by the program itself, from what is said here.
        let own = |path: &FilePath| self.bench.places.values().any(|place| place.path.as_ref() == Some(path));
        for (path, there, cause) in self.store.writes().filter(|(path, ..)| !own(path)) {
            let says = |state: &&LayerState| {
                there
                    && state.state.piece.text().is_some()
                    && state.state.reads.0.values().any(|read| read.cause == cause)
            };
            let layers: Vec<Name> = layers.iter().filter(says).map(|state| state.id.clone()).collect();
            match survivors.iter_mut().find(|known| known.path == *path) {
                // The last writing of a file is what stands in it.
                Some(known) => known.layers = layers,
                None => survivors.push(Survivor { path: path.clone(), layers }),
            }
        }
        survivors
    }
}
