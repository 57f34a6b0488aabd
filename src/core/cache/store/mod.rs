//! What a provider has stored, with time: one file for each family of caches, over three ways of remembering.
//!
//! `lcp` remembers all prefixes and finds the longest common one (block, radix, opaque, units); `entries` remembers
//! those behind marks (marked, auto-marked, resource); `slot` the last prompts. A store belongs to one model.
//! Conversations share it, so a sub-agent that begins like its parent reads what the parent wrote.

pub(super) mod auto_marked;
mod block;
mod entries;
mod lcp;
pub(super) mod marked;
mod opaque;
mod radix;
pub(super) mod resource;
mod room;
mod slot;
mod tree;
mod units;

pub(super) use block::BlockStore;
pub use entries::NeverRead;
pub(super) use entries::{EntryStore, Placed};
pub(super) use opaque::OpaqueStore;
pub(super) use radix::RadixStore;
pub(super) use slot::SlotStore;
pub(super) use units::UnitStore;

use std::sync::Arc;

use self::lcp::Common;
use super::outcome::{StoredFor, Write};
use super::salts::{Salted, Traits};
use crate::core::wire::{Block, CallNo, MarkAt, Params};

/// The running token counts of a request, in the model's tokens: behind each block.
#[derive(Clone, Copy)]
pub(super) struct Running<'a>(pub &'a [u32]);

impl Running<'_> {
    /// Tokens in front of block `block`.
    pub(super) fn before(self, block: usize) -> u32 {
        block.checked_sub(1).map_or(0, |last| self.0[last])
    }

    /// Tokens up to the end of block `block`.
    pub(super) fn behind(self, block: usize) -> u32 {
        self.0[block]
    }

    /// Tokens of everything.
    pub(super) fn total(self) -> u32 {
        self.0.last().copied().unwrap_or_default()
    }
}

/// The request before in the conversation.
pub(super) struct Before<'a> {
    /// How many of its blocks this request begins with, by their text.
    pub same: usize,
    /// How many it had.
    pub blocks: usize,
    /// Its tokens.
    pub sent: u32,
    /// Its running counts, in front of `same` and from there on.
    pub old_head: &'a [u32],
    pub old_tail: &'a [u32],
}

impl Before<'_> {
    /// Its tokens up to the end of block `block`.
    pub(super) fn behind(&self, block: usize) -> u32 {
        if block < self.same { self.old_head[block] } else { self.old_tail[block - self.same] }
    }
}

/// A request as a store sees it: who asks, when, with what.
pub(super) struct Asked<'a> {
    /// The index of the conversation.
    pub conversation: usize,
    /// The call.
    pub call: CallNo,
    /// The number of the call in the whole session.
    pub order: u64,
    /// The time, in milliseconds.
    pub at: i64,
    /// True when what a conversation wrote with a call had certainly been answered before this call was made.
    pub knows: &'a dyn Fn(usize, u64) -> bool,
    pub blocks: &'a [Arc<Block>],
    /// The request's own marks, in order.
    pub marks: &'a [MarkAt],
    pub params: &'a Params,
    /// What else of it matters.
    pub traits: Traits,
    pub running: Running<'a>,
    /// What stands between the blocks besides their text.
    pub salts: Salted,
    /// How many leading blocks are those of the request before, salts and all.
    pub same: usize,
    /// True where it is reasoning that the provider takes out that makes it fewer than by text alone.
    pub stripped: bool,
    /// Tokens that are those of the request before, by text alone.
    pub equal: u32,
    pub before: Option<Before<'a>>,
}

impl Asked<'_> {
    /// Why less than by text alone is the same: settings, or reasoning that was taken out. None where nothing is less.
    pub(super) fn less(&self) -> Option<Miss> {
        let before = self.before.as_ref()?;
        (self.same < before.same).then_some(if self.stripped { Miss::Reasoning } else { Miss::Settings })
    }

    /// The life that is asked for, of these; none where there is no choice.
    pub(super) fn life(&self, lives: &[u32]) -> Option<u32> {
        let named = self.params.get("cache_ttl").and_then(seconds);
        let marked = self.marks.first().map(|mark| mark.ttl);
        let asked = named.or(marked).filter(|life| lives.contains(life));
        asked.or(lives.first().copied())
    }
}

/// A life as requests write it, in seconds: `5m`, `1h`.
pub(super) fn seconds(text: &str) -> Option<u32> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return None,
    };
    number.parse::<u32>().ok()?.checked_mul(unit)
}

/// Why something that the latest request of this conversation stored or read was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// It had died.
    Expired { age: i64, life: i64 },
    /// Its writer's answer had not begun.
    NotYetVisible { age: i64, after: i64 },
    /// It stands this many positions before the last mark, counting both.
    OutOfLookback { positions: u32, limit: u32 },
    /// No mark of the request stands at or behind it; the block of the last mark.
    NotMarked(Option<usize>),
    /// The request is too short.
    BelowMinimum(u32),
    /// Parameters outside of the text are others.
    Settings,
    /// The provider has taken reasoning out.
    Reasoning,
    /// Another prompt took its slot.
    Evicted { age: i64 },
    /// It is not there, for a reason that the rules do not give.
    Gone,
    /// The same, with its age and life.
    Unexplained { age: i64, life: Option<i64> },
}

/// Why less was read than the request before it would have allowed.
fn read_again(asked: &Asked<'_>, ideal: u32, read: u32, common: &Common, life: Option<i64>) -> Option<Miss> {
    (ideal > read).then(|| {
        asked.less().unwrap_or(match (common.age, life) {
            (Some(age), Some(life)) if age > life => Miss::Expired { age, life },
            (age, life) => Miss::Unexplained { age: age.unwrap_or_default(), life },
        })
    })
}

/// Why less was read, where other prompts needed the room: `there` tokens were left in memory.
fn driven_out(asked: &Asked<'_>, ideal: u32, read: u32, there: u32, common: &Common) -> Option<Miss> {
    let equal = asked.less().is_none() && there < ideal && read < ideal;
    equal.then(|| Miss::Evicted { age: common.age.unwrap_or_default() })
}

/// Tokens down to whole blocks, above a minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Floor {
    pub block: u32,
    pub min: u32,
    /// Tokens in front that fill blocks and are not reported.
    pub hidden: u32,
    /// What is reported is a multiple of this.
    pub report: u32,
}

impl Floor {
    /// Every token counts.
    pub(super) const TOKENS: Floor = Floor { block: 1, min: 0, hidden: 0, report: 1 };

    /// So many tokens, rounded down; 0 below the minimum.
    pub(super) fn of(self, tokens: u32) -> u32 {
        if tokens < self.min {
            return 0;
        }
        let whole = (tokens + self.hidden) / self.block * self.block;
        whole.saturating_sub(self.hidden) / self.report * self.report
    }
}

/// What the request before it in the conversation has left in the store, expired or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// There was none, or nothing.
    Nothing,
    /// All of it, in whole blocks.
    Floor {
        floor: Floor,
        /// Its tokens.
        sent: u32,
        /// Tokens at the end of any request that are always worked out anew.
        anew: u32,
    },
    /// Prefixes of so many tokens, ascending.
    Ends(Vec<u32>),
}

impl Kept {
    /// All of the request before.
    fn all(asked: &Asked<'_>, floor: Floor) -> Kept {
        asked.before.as_ref().map_or(Kept::Nothing, |before| Kept::Floor {
            floor,
            sent: before.sent,
            anew: 0,
        })
    }

    /// The most that a request of `sent` tokens could read of it.
    pub(super) fn most(&self, sent: u32) -> u32 {
        match self {
            Kept::Nothing => 0,
            Kept::Floor { floor, sent: old, anew } => floor.of((*old).min(sent.saturating_sub(*anew))),
            Kept::Ends(ends) => ends.iter().copied().max().unwrap_or(0).min(sent),
        }
    }

    /// What of it a request could read that differs from `at` on.
    pub(super) fn in_front_of(&self, at: u32) -> u32 {
        match self {
            Kept::Nothing => 0,
            Kept::Floor { floor, sent, .. } => floor.of(at.min(*sent)),
            Kept::Ends(ends) => ends.iter().copied().filter(|&end| end <= at).max().unwrap_or(0),
        }
    }
}

/// What a request reads and writes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// Tokens read, as the documented rules have it.
    pub read: u32,
    /// The same with what measurements have found besides.
    pub measured: u32,
    /// Tokens written, where that has a price of its own.
    pub write: Option<Write>,
    /// Tokens up to the last mark that stores anything, 0 without one; none where nothing needs marks.
    pub covered: Option<u32>,
    /// What the request before had left.
    pub kept: Kept,
    /// Tokens that would be read if only bytes counted: not time, marks, settings or reach.
    pub ideal: u32,
    /// Why it was less, or why nothing can be read at all.
    pub miss: Option<Miss>,
    /// The time since the conversation's latest request to this store, in milliseconds.
    pub age: Option<i64>,
    /// What it has made, where keeping is paid for by the hour.
    pub made: Vec<StoredFor>,
    /// Why the provider refuses the request.
    pub refused: Option<String>,
}

impl Found {
    fn read(read: u32) -> Found {
        Found {
            read,
            measured: read,
            write: None,
            covered: None,
            kept: Kept::Nothing,
            ideal: 0,
            miss: None,
            age: None,
            made: Vec::new(),
            refused: None,
        }
    }
}

/// True when two blocks that stand at the same place can have leading tokens in common: what is sent in front of
/// their text is the same.
pub(super) fn comparable(a: &Arc<Block>, b: &Arc<Block>) -> bool {
    use crate::core::wire::BlockKind::{ToolResult, ToolUse};
    a.kind == b.kind && (!matches!(a.kind, ToolUse | ToolResult) || a.name == b.name && a.tool == b.tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_as_requests_write_them() {
        let cases = [
            ("5m", Some(300)),
            ("1h", Some(3_600)),
            ("30s", Some(30)),
            ("", None),
            ("h", None),
            ("5", None),
            ("5天", None),
        ];
        for (text, life) in cases {
            assert_eq!(seconds(text), life, "{text}");
        }
        assert_eq!(seconds("99999999h"), None);
    }

    #[test]
    fn hidden_tokens_fill_blocks_and_are_not_reported() {
        let floor = Floor { block: 2_048, min: 1_024, hidden: 600, report: 128 };
        // 5,600 tokens are two whole blocks, of which 600 are hidden; 3,496 are 27 steps of 128.
        assert_eq!(floor.of(5_000), 3_456);
        assert_eq!((floor.of(1_023), floor.of(1_500)), (0, 1_408));
        assert_eq!(Floor::TOKENS.of(7), 7);
    }

    #[test]
    fn what_is_left_of_a_request() {
        let floor = Floor { block: 16, min: 64, hidden: 0, report: 1 };
        let all = Kept::Floor { floor, sent: 100, anew: 1 };
        assert_eq!((all.most(1_000), all.most(96), all.most(97)), (96, 80, 96));
        assert_eq!((all.in_front_of(95), all.in_front_of(63)), (80, 0));
        let ends = Kept::Ends(vec![70, 90]);
        assert_eq!((ends.most(1_000), ends.most(80)), (90, 80));
        assert_eq!((ends.in_front_of(89), ends.in_front_of(90), ends.in_front_of(69)), (70, 90, 0));
        assert_eq!((Kept::Nothing.most(9), Kept::Nothing.in_front_of(9)), (0, 0));
    }
}
