//! What a bench promises of its requests: relations between them, and, where it is asked for, their very text.
//!
//! Two relations hold in every agent that caches well. Each request of a conversation begins with all of the one before
//! it. And conversations of one role begin alike. A contract declares the parts that may break them; whatever else does
//! is a breach. Relations need no stored text, so they outlive every edit of the prompt; the text of what stays can be
//! part of a contract, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::bench::Bench;
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;
use crate::core::lint::{at_byte, at_layer, shown};
use crate::core::run::COMPACTION;
use crate::core::wire::{Block, CallNo, Request, Zone};

/// What is promised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// The parts that may change between the calls of a conversation.
    pub may_change: Vec<MayChange>,
    /// By role, the text of what stays, where it was asked for.
    pub stable: BTreeMap<Name, Stable>,
}

/// A part that may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MayChange {
    /// A layer's id, or an author that is no layer: `tools` for all of them, `tool Read`, `the compaction`.
    pub part: Name,
    /// In these runs; in all of them where there are none.
    pub runs: Vec<Name>,
    /// Why that is all right.
    pub why: Option<Name>,
    /// Where the contract says so; the start of a file for one that was not read.
    pub at: Position,
}

/// The text of what stays in the prompts of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stable {
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: Name,
    /// The text.
    pub text: Name,
    /// Where the contract says so.
    pub at: Position,
}

/// What was promised and does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// A request begins with all of the request before it.
    Prefix,
    /// Conversations of one role begin alike.
    Role,
    /// What stays has this text.
    Text,
}

/// A part that stands for every tool: its definition and its results.
pub const TOOLS: &str = "tools";

impl MayChange {
    /// True where this is said of a part.
    #[must_use]
    pub fn is_of(&self, part: &str) -> bool {
        *self.part == *part || &*self.part == TOOLS && part.starts_with("tool ")
    }
}

/// Parts that are no layers and may be named all the same.
#[must_use]
pub fn is_author(part: &str) -> bool {
    [TOOLS, COMPACTION, "user", "model", "context edit"].contains(&part) || part.starts_with("tool ")
}

/// The requests of a run, looked at one after the other: of each conversation no more is kept than its first and its
/// latest.
pub struct Walk<'a> {
    contract: &'a Contract,
    bench: &'a Bench,
    run: Option<&'a Name>,
    latest: BTreeMap<Name, Request>,
    firsts: Vec<Request>,
    found: Vec<Breach>,
}

impl<'a> Walk<'a> {
    /// No request yet.
    #[must_use]
    pub fn new(contract: &'a Contract, bench: &'a Bench, run: Option<&'a Name>) -> Walk<'a> {
        Walk { contract, bench, run, latest: BTreeMap::new(), firsts: Vec::new(), found: Vec::new() }
    }

    /// Compares the next request with the one before it in its conversation, and the first of a conversation with the
    /// first of its role.
    pub fn request(&mut self, request: &Request) {
        let (contract, bench, run) = (self.contract, self.bench, self.run);
        let found = match self.latest.get_mut(&request.agent) {
            Some(before) => {
                let found = contract.compare(bench, run, Promise::Prefix, before, request);
                before.clone_from(request);
                found
            }
            None => {
                let role = role(bench, &request.agent);
                let first = self.firsts.iter().find(|first| self::role(bench, &first.agent) == role);
                let found = first.map(|first| contract.compare(bench, run, Promise::Role, first, request));
                self.latest.insert(request.agent.clone(), request.clone());
                self.firsts.push(request.clone());
                found.unwrap_or_default()
            }
        };
        for breach in found {
            let known =
                self.found.iter().any(|known| known.promise == breach.promise && known.part == breach.part);
            if !known {
                self.found.push(breach);
            }
        }
    }

    /// The relations that do not hold, and the first request of each conversation.
    #[must_use]
    pub fn finish(self) -> (Vec<Breach>, Vec<Request>) {
        (self.found, self.firsts)
    }
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// Which.
    pub promise: Promise,
    /// The run.
    pub run: Option<Name>,
    /// The call that is not as it should be, and the one that it is measured against.
    pub call: CallNo,
    /// None where it is measured against the contract's text.
    pub before: Option<CallNo>,
    /// Who wrote what differs.
    pub part: Name,
    /// What stood there; empty for what appeared.
    pub old: String,
    /// What stands there now; empty for what is gone.
    pub new: String,
    /// In one sentence, with its place.
    pub diagnostic: Diagnostic,
}

/// No more breaches than this are told of two requests.
const MOST: usize = 24;

/// A part of a block, without the separator in front of it.
#[derive(Clone, Copy, PartialEq)]
struct Piece<'a> {
    part: &'a Name,
    text: &'a str,
}

/// A block without the parts that may change.
struct Rest<'a> {
    block: &'a Block,
    pieces: Vec<Piece<'a>>,
}

impl Contract {
    /// True for a part that may change in a run.
    #[must_use]
    pub fn allows(&self, part: &str, run: Option<&str>) -> bool {
        self.may_change.iter().any(|may| {
            may.is_of(part)
                && (may.runs.is_empty()
                    || run.is_some_and(|run| may.runs.iter().any(|other| **other == *run)))
        })
    }

    /// Every part in which two requests differ that should not.
    fn compare(
        &self,
        bench: &Bench,
        run: Option<&Name>,
        promise: Promise,
        before: &Request,
        now: &Request,
    ) -> Vec<Breach> {
        let mut found: Vec<Breach> = Vec::new();
        let name = run.map(|run| &**run);
        // After a compaction nothing in the messages is what it was.
        let compacted = |blocks: &[Arc<Block>]| {
            blocks.iter().any(|block| block.text.parts().iter().any(|part| &*part.id == COMPACTION))
        };
        // Blocks that both hold are no news, and there may be many of them.
        let shared = before.blocks.iter().zip(&now.blocks).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        let summed_up = compacted(&now.blocks[shared..]) && !compacted(&before.blocks);
        let mut zones: Vec<Zone> = vec![Zone::Tools, Zone::System];
        if promise == Promise::Prefix && !summed_up {
            zones.push(Zone::Messages);
        }
        if summed_up && promise == Promise::Prefix && !self.allows(COMPACTION, name) {
            let message = format!(
                "call {} does not begin with call {}: the conversation was compacted",
                now.call.0, before.call.0
            );
            found.push(Breach {
                promise,
                run: run.cloned(),
                call: now.call,
                before: Some(before.call),
                part: COMPACTION.into(),
                old: String::new(),
                new: String::new(),
                diagnostic: at_layer(bench, COMPACTION, message),
            });
        }
        for zone in zones {
            let mut dropped: Vec<Name> = Vec::new();
            while found.len() < MOST {
                let skip =
                    |part: &str| self.allows(part, name) || dropped.iter().any(|other| **other == *part);
                let (old, new) =
                    (rests(behind(before, zone, shared), &skip), rests(behind(now, zone, shared), &skip));
                // In the tools and the system prompt nothing may come in addition; messages follow upon messages.
                let exact = zone != Zone::Messages;
                let Some(breach) = first(bench, run, promise, (before, &old), (now, &new), exact) else {
                    break;
                };
                dropped.push(breach.part.clone());
                found.push(breach);
            }
        }
        found
    }

    /// The text of what stays in the prompts of a role: tools and system prompt without the parts that may change.
    #[must_use]
    pub fn stable_text(&self, request: &Request) -> String {
        // What changes in one run only does not stay, either: the text is that of all runs.
        let skip = |part: &str| self.may_change.iter().any(|may| may.is_of(part));
        let mut text = String::new();
        for zone in [Zone::Tools, Zone::System] {
            for rest in rests(request.zone(zone), &skip) {
                for piece in rest.pieces {
                    text.push_str(piece.text);
                    text.push('\n');
                }
            }
        }
        text
    }

    /// Compares what stays with the contract's text.
    #[must_use]
    pub fn text(
        &self,
        file: &Name,
        whole: &str,
        run: Option<&Name>,
        bench: &Bench,
        request: &Request,
    ) -> Option<Breach> {
        let role = role(bench, &request.agent);
        let stable = self.stable.get(&role)?;
        let now = self.stable_text(request);
        if *now == *stable.text {
            return None;
        }
        let message = format!("what stays in the prompt of {role} is not what the contract holds");
        Some(Breach {
            promise: Promise::Text,
            run: run.cloned(),
            call: request.call,
            before: None,
            part: role,
            old: stable.text.to_string(),
            new: now,
            diagnostic: Diagnostic::error(message)
                .at(file.clone(), whole, stable.at)
                .hint("`plywood check --accept` shows what is gone, and takes what is there"),
        })
    }
}

/// The role of a conversation: that of the bench's agent, else the last name of the conversation without its number.
#[must_use]
pub fn role(bench: &Bench, agent: &str) -> Name {
    let Some((_, last)) = agent.rsplit_once('/') else {
        return bench.agent.get("role").map_or_else(|| "main".into(), |role| role.to_string().into());
    };
    match last.rsplit_once('-') {
        Some((role, number)) if !role.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => role.into(),
        _ => last.into(),
    }
}

/// The blocks of a zone behind those that two requests share.
fn behind(request: &Request, zone: Zone, shared: usize) -> &[Arc<Block>] {
    let blocks = request.zone(zone);
    let start = request.blocks.partition_point(|block| block.kind.zone() < zone);
    &blocks[shared.saturating_sub(start).min(blocks.len())..]
}

fn rests<'a>(blocks: &'a [Arc<Block>], skip: &dyn Fn(&str) -> bool) -> Vec<Rest<'a>> {
    let rest = |block: &'a Arc<Block>| {
        let parts = block.text.parts();
        let pieces: Vec<Piece<'a>> = parts
            .iter()
            .filter(|part| !skip(&part.id))
            .map(|part| Piece { part: &part.id, text: &block.text[part] })
            .collect();
        // A block that was empty to begin with is still one.
        (!pieces.is_empty() || parts.is_empty()).then_some(Rest { block, pieces })
    };
    blocks.iter().filter_map(rest).collect()
}

/// The first difference, if there is one.
fn first(
    bench: &Bench,
    run: Option<&Name>,
    promise: Promise,
    (before, old): (&Request, &[Rest<'_>]),
    (now, new): (&Request, &[Rest<'_>]),
    exact: bool,
) -> Option<Breach> {
    let nothing = Vec::new();
    let blocks = if exact { old.len().max(new.len()) } else { old.len() };
    for index in 0..blocks {
        let (a, b) = (old.get(index), new.get(index));
        if let (Some(a), Some(b)) = (a, b)
            && a.block.kind == b.block.kind
            && a.block.name == b.block.name
            && a.pieces == b.pieces
        {
            continue;
        }
        let (was, is) = (a.map_or(&nothing, |a| &a.pieces), b.map_or(&nothing, |b| &b.pieces));
        let same = was.iter().zip(is).take_while(|(a, b)| a == b).count();
        let (was_at, is_at) = (was.get(same), is.get(same));
        let there = |piece: &Piece<'_>, list: &[Piece<'_>]| list.iter().any(|other| other.part == piece.part);
        let (part, gone, come) = match (was_at, is_at) {
            (Some(a), Some(b)) if a.part == b.part => (a.part, a.text, b.text),
            (Some(a), _) if !there(a, is) => (a.part, a.text, ""),
            (_, Some(b)) => (b.part, "", b.text),
            (Some(a), None) => (a.part, a.text, ""),
            // The same text in another block: its name says who it is for.
            (None, None) => match was.first().or(is.first()) {
                Some(piece) => (piece.part, piece.text, piece.text),
                None => continue,
            },
        };
        let who = shown(bench, part);
        let verb = match (gone.is_empty(), come.is_empty()) {
            (false, true) => "is gone",
            (true, false) => "has come in addition",
            _ => "is another",
        };
        let what = match promise {
            Promise::Role => format!(
                "the conversation of call {} does not begin as that of call {}",
                now.call.0, before.call.0
            ),
            _ => format!("call {} does not begin with all of call {}", now.call.0, before.call.0),
        };
        let message = format!("{what}: {who} {verb}");
        let same = gone.bytes().zip(come.bytes()).take_while(|(a, b)| a == b).count();
        let place = |rest: Option<&Rest<'_>>| {
            let text = &rest?.block.text;
            let part = text.parts().iter().find(|other| other.id == *part)?;
            Some(at_byte(
                bench,
                text,
                part,
                (part.body + same).min(part.end.saturating_sub(1)),
                message.clone(),
            ))
        };
        let diagnostic = place(b.filter(|_| !come.is_empty()))
            .or_else(|| place(a))
            .unwrap_or_else(|| at_layer(bench, part, message.clone()));
        return Some(Breach {
            promise,
            run: run.cloned(),
            call: now.call,
            before: Some(before.call),
            part: part.clone(),
            old: gone.to_owned(),
            new: come.to_owned(),
            diagnostic: Diagnostic { severity: crate::core::diagnostic::Severity::Error, ..diagnostic }.hint(
                format!(
                    "where that is meant, declare it: `may_change: [{{ part: {part} }}]` in the contract"
                ),
            ),
        });
    }
    None
}
