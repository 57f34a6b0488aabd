//! Two requests of a conversation compared: blocks first, then parts, then spans, then bytes.
//!
//! So a change is blamed on its author, and never on a separator that came or went with somebody else's text.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::align::{self, Lists, Op};
use super::blame::{Blame, What};
use super::pin::{self, Pin};
use super::verdict::Verdict;
use crate::core::fact::{EventId, FactKey, Name};
use crate::core::text::{Part, Traced};
use crate::core::wire::{Block, BlockKind, Zone};

/// A place in a request: a block, and a byte of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub block: usize,
    pub byte: usize,
}

/// A difference, with its place in both requests.
#[derive(Clone, Debug)]
pub(super) struct Break {
    pub blame: Arc<Blame>,
    pub old: Spot,
    pub new: Spot,
}

/// No more differences than this are looked for behind the first.
pub(super) const MOST: usize = 32;
/// No more names than this are kept of what shared one fate.
const NAMED: usize = 3;

/// The differences between two requests, of which the first `same` blocks are equal and the old one has more, in the
/// order of the bytes; at most [`MOST`].
pub(super) fn breaks(old: &[Arc<Block>], new: &[Arc<Block>], same: usize, new_turn: bool) -> Vec<Break> {
    let mut found = Finder { old, new, new_turn, breaks: Vec::new(), last: None };
    let mut lists = Blocks { old, new, from: same, index: None };
    align::align(&mut lists, (same, same), false, |_, op| {
        found.block(op);
        found.breaks.len() < MOST
    });
    found.finish()
}

type Key<'a> = (BlockKind, Option<u32>, &'a str);

fn key(block: &Block) -> Key<'_> {
    (block.kind, block.message.map(|message| message.0), &block.name)
}

/// Where each block stands, by key.
type Places<'a> = BTreeMap<Key<'a>, usize>;

struct Blocks<'a> {
    old: &'a [Arc<Block>],
    new: &'a [Arc<Block>],
    from: usize,
    /// In the old and in the new list, from `from` on. Made when it is first asked for: most breaks are changes in
    /// place and ask nothing.
    index: Option<(Places<'a>, Places<'a>)>,
}

impl<'a> Blocks<'a> {
    fn index(&mut self) -> &(Places<'a>, Places<'a>) {
        self.index.get_or_insert_with(|| {
            let places = |blocks: &'a [Arc<Block>]| {
                let mut places = Places::new();
                for (at, block) in blocks.iter().enumerate().skip(self.from) {
                    places.entry(key(block)).or_insert(at);
                }
                places
            };
            (places(self.old), places(self.new))
        })
    }
}

impl Lists for Blocks<'_> {
    fn lens(&self) -> (usize, usize) {
        (self.old.len(), self.new.len())
    }

    fn same(&self, old: usize, new: usize) -> bool {
        let (old, new) = (&self.old[old], &self.new[new]);
        Arc::ptr_eq(old, new) || old.hash == new.hash
    }

    fn alike(&self, old: usize, new: usize) -> bool {
        key(&self.old[old]) == key(&self.new[new])
    }

    fn stands_for(&self, old: usize, new: usize) -> bool {
        // A placeholder where a picture was: the same author in the same message.
        let (old, new) = (&self.old[old], &self.new[new]);
        let author = |block: &Block| block.text.parts().first().map(|part| part.id.clone());
        old.message.is_some() && old.message == new.message && author(old) == author(new)
    }

    fn find_new(&mut self, old: usize, from: usize) -> Option<usize> {
        if self.alike(old, from) {
            return Some(from);
        }
        let key = key(&self.old[old]);
        self.index().1.get(&key).copied().filter(|&at| at >= from)
    }

    fn find_old(&mut self, new: usize, from: usize) -> Option<usize> {
        if self.alike(from, new) {
            return Some(from);
        }
        let key = key(&self.new[new]);
        self.index().0.get(&key).copied().filter(|&at| at >= from)
    }
}

struct Parts<'a> {
    old: &'a Traced,
    new: &'a Traced,
}

impl Lists for Parts<'_> {
    fn lens(&self) -> (usize, usize) {
        (self.old.parts().len(), self.new.parts().len())
    }

    fn same(&self, old: usize, new: usize) -> bool {
        let (old, new) = (&self.old.parts()[old], &self.new.parts()[new]);
        old.id == new.id && self.old[old] == self.new[new]
    }

    fn alike(&self, old: usize, new: usize) -> bool {
        self.old.parts()[old].id == self.new.parts()[new].id
    }

    fn find_new(&mut self, old: usize, from: usize) -> Option<usize> {
        let all = from..self.new.parts().len();
        all.clone().find(|&at| self.same(old, at)).or_else(|| all.clone().find(|&at| self.alike(old, at)))
    }

    fn find_old(&mut self, new: usize, from: usize) -> Option<usize> {
        let all = from..self.old.parts().len();
        all.clone().find(|&at| self.same(at, new)).or_else(|| all.clone().find(|&at| self.alike(at, new)))
    }
}

/// What the latest difference was, so that the next one can share its fate.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Fate {
    what: What,
    zone: Zone,
    /// For parts, the block of the new request.
    block: Option<usize>,
}

struct Finder<'a> {
    old: &'a [Arc<Block>],
    new: &'a [Arc<Block>],
    new_turn: bool,
    breaks: Vec<(Blame, Spot, Spot)>,
    last: Option<Fate>,
}

impl Finder<'_> {
    /// A difference between the lists of blocks.
    fn block(&mut self, op: Op) {
        let (what, old, new) = match op {
            Op::Changed { old, new } => {
                self.inside(old, new);
                return;
            }
            Op::Appeared { old, new } => (What::Appeared, old, new),
            Op::Gone { old, new } => (What::Disappeared, old, new),
            Op::Moved { old, new, .. } => (What::Moved, old, new),
        };
        let block = if what == What::Disappeared { &self.old[old] } else { &self.new[new] };
        let fate = Fate { what, zone: block.kind.zone(), block: None };
        if self.shares(fate, &block.name) {
            return;
        }
        let verdict = match what {
            What::Appeared if self.twin(new) => Verdict::Duplicated,
            What::Appeared | What::Changed => Verdict::Changed,
            What::Disappeared => Verdict::Missing,
            What::Moved if self.permuted(fate.zone) => Verdict::Reordered,
            What::Moved => Verdict::Moved,
        };
        let first = block.text.parts().first();
        let part = first.map_or_else(|| block.name.clone(), |part| part.id.clone());
        // The difference shows at the first of the two places of what moved.
        let at = match op {
            Op::Moved { old, new, .. } => old.min(new).min(self.new.len()),
            _ => new,
        };
        let cause = match what {
            What::Disappeared => None,
            _ => first.map(|part| newest_cause(&block.text, part)),
        };
        let excerpt = pin::clip(block.text.text());
        let blame = Blame {
            part,
            whole_block: true,
            verdict,
            cause,
            old: if what == What::Disappeared { excerpt.clone() } else { String::new() },
            new: if what == What::Appeared { excerpt } else { String::new() },
            ..self.blame(what, block, Spot { block: at, byte: 0 })
        };
        let old = Spot { block: old.min(at), byte: 0 };
        self.push(blame, fate, old, Spot { block: at, byte: 0 });
    }

    /// Differences inside a block that is in both requests.
    fn inside(&mut self, old_at: usize, new_at: usize) {
        let (old, new) = (self.old[old_at].clone(), self.new[new_at].clone());
        let (a, b) = (&old.text, &new.text);
        let common = pin::common(a.text(), b.text());
        let json = matches!(new.kind, BlockKind::Tool | BlockKind::ToolUse)
            && old.tool == new.tool
            && same_json(a.text(), b.text());
        let before = self.breaks.len();
        self.last = None;
        let mut ops = Vec::new();
        align::align(&mut Parts { old: a, new: b }, (0, 0), true, |_, op| {
            ops.push(op);
            ops.len() < MOST
        });
        let separator = separator(a, b, &ops);
        let mut todo = ops.into_iter().peekable();
        let mut separator = separator.into_iter().peekable();
        loop {
            // Both are in the order of the new text; what differs first is told first.
            let sep = separator.peek().map(|&(_, new)| new);
            let op = todo.peek().map(|op| match *op {
                Op::Changed { new, .. } | Op::Appeared { new, .. } | Op::Gone { new, .. } => new,
                Op::Moved { old, new, .. } => old.min(new),
            });
            match (sep, op) {
                (None, None) => break,
                (Some(sep), op) if op.is_none_or(|op| sep <= op) => {
                    if let Some((i, j)) = separator.next() {
                        self.glue(&old, &new, (old_at, i), (new_at, j));
                    }
                }
                _ => {
                    if let Some(op) = todo.next() {
                        self.part(op, &old, &new, old_at, new_at, common);
                    }
                }
            }
        }
        if self.breaks.len() == before {
            // No part differs, so what differs is not text: the name of the tool or the id of the call.
            let part = b.parts().first().map_or_else(|| new.name.clone(), |part| part.id.clone());
            let spot = Spot { block: new_at, byte: common };
            let (old_tool, new_tool) =
                (old.tool.as_ref().unwrap_or(&old.name), new.tool.as_ref().unwrap_or(&new.name));
            let blame = Blame {
                part,
                old: old_tool.to_string(),
                new: new_tool.to_string(),
                ..self.blame(What::Changed, &new, spot)
            };
            let fate = Fate { what: What::Changed, zone: new.kind.zone(), block: Some(new_at) };
            self.push(blame, fate, Spot { block: old_at, byte: common }, spot);
        }
        if json {
            for (blame, ..) in &mut self.breaks[before..] {
                blame.verdict = Verdict::SerialisationOnly;
            }
        }
        self.last = None;
    }

    /// A difference between the parts of a block. `common` bytes of the block are equal.
    fn part(
        &mut self,
        op: Op,
        old: &Arc<Block>,
        new: &Arc<Block>,
        old_at: usize,
        new_at: usize,
        common: usize,
    ) {
        let (a, b) = (&old.text, &new.text);
        let start = |text: &Traced, part: usize| text.parts().get(part).map_or(text.len(), |part| part.start);
        let first = self.breaks.is_empty();
        let spot = |block, byte| Spot { block, byte };
        let fate = |what| Fate { what, zone: new.kind.zone(), block: Some(new_at) };
        match op {
            Op::Changed { old: i, new: j } => {
                let (from, to) = (&a.parts()[i], &b.parts()[j]);
                let Pin { offset, origin, into, old: was, new: is } = pin::pin(a, from, b, to);
                let (facts, cause) = facts(&origin, from, to);
                let at = spot(new_at, to.body + offset);
                let blame = Blame {
                    part: to.id.clone(),
                    written: origin.as_deref().and_then(|origin| super::blame::Written::of(origin, into)),
                    facts,
                    cause,
                    old: was,
                    new: is,
                    ..self.blame(What::Changed, new, at)
                };
                self.push(blame, fate(What::Changed), spot(old_at, from.body + offset), at);
            }
            Op::Appeared { old: i, new: j } => {
                let part = &b.parts()[j];
                if self.shares(fate(What::Appeared), &part.id) {
                    return;
                }
                let twin = b.parts().iter().enumerate().any(|(at, other)| {
                    at != j && other.id == part.id && b[other] == b[part] && !b[part].is_empty()
                });
                let byte = if first { common.clamp(part.start, part.end) } else { part.body };
                let at = spot(new_at, byte);
                let blame = Blame {
                    part: part.id.clone(),
                    verdict: if twin { Verdict::Duplicated } else { Verdict::Changed },
                    facts: part
                        .reads
                        .0
                        .keys()
                        .filter(|key| read_cause(part, key) > EventId::OPENING)
                        .cloned()
                        .collect(),
                    cause: Some(newest_cause(b, part)),
                    new: pin::clip(&b[part]),
                    ..self.blame(What::Appeared, new, at)
                };
                self.push(blame, fate(What::Appeared), spot(old_at, start(a, i)), at);
            }
            Op::Gone { old: i, new: j } => {
                let part = &a.parts()[i];
                if self.shares(fate(What::Disappeared), &part.id) {
                    return;
                }
                let at = spot(new_at, if first { common } else { start(b, j) });
                let (facts, cause) = gone(part, b);
                let moved = self.elsewhere(part, a, new_at);
                let what = if moved { What::Moved } else { What::Disappeared };
                let blame = Blame {
                    part: part.id.clone(),
                    verdict: if moved { Verdict::Moved } else { Verdict::Changed },
                    facts,
                    cause,
                    old: pin::clip(&a[part]),
                    ..self.blame(what, new, at)
                };
                self.push(blame, fate(what), spot(old_at, part.start), at);
            }
            Op::Moved { old: i, new: j, .. } => {
                let part = &b.parts()[j];
                if self.shares(fate(What::Moved), &part.id) {
                    return;
                }
                let ids = |text: &Traced| {
                    let mut ids: Vec<Name> = text.parts().iter().map(|part| part.id.clone()).collect();
                    ids.sort();
                    ids
                };
                let byte = if first { common } else { start(b, j.min(i)) };
                let at = spot(new_at, byte);
                let blame = Blame {
                    part: part.id.clone(),
                    verdict: if ids(a) == ids(b) { Verdict::Reordered } else { Verdict::Moved },
                    cause: Some(newest_cause(b, part)),
                    ..self.blame(What::Moved, new, at)
                };
                self.push(blame, fate(What::Moved), spot(old_at, start(a, i.min(j))), at);
            }
        }
    }

    /// A separator between two parts that stand side by side in both requests.
    fn glue(
        &mut self,
        old: &Arc<Block>,
        new: &Arc<Block>,
        (old_at, i): (usize, usize),
        (new_at, j): (usize, usize),
    ) {
        let (from, to) = (&old.text.parts()[i], &new.text.parts()[j]);
        let (was, is) = (&old.text.text()[from.start..from.body], &new.text.text()[to.start..to.body]);
        let offset = pin::common(was, is);
        let at = Spot { block: new_at, byte: to.start + offset };
        let blame = Blame {
            part: to.id.clone(),
            separator: true,
            cause: new.text.span_at(to.start).map(|(_, span)| span.origin.cause),
            old: was.to_owned(),
            new: is.to_owned(),
            ..self.blame(What::Changed, new, at)
        };
        let fate = Fate { what: What::Changed, zone: new.kind.zone(), block: Some(new_at) };
        self.push(blame, fate, Spot { block: old_at, byte: from.start + offset }, at);
    }

    /// Adds a name to the latest difference, if that has the same fate.
    fn shares(&mut self, fate: Fate, name: &Name) -> bool {
        if self.last != Some(fate) {
            return false;
        }
        let Some((blame, ..)) = self.breaks.last_mut() else { return false };
        blame.with_count += 1;
        if blame.with.len() < NAMED {
            blame.with.push(name.clone());
        }
        true
    }

    fn push(&mut self, blame: Blame, fate: Fate, old: Spot, new: Spot) {
        self.breaks.push((blame, old, new));
        self.last = Some(fate);
    }

    /// A blame with everything that follows from the place.
    fn blame(&self, what: What, block: &Block, at: Spot) -> Blame {
        // Up to the block, in its zone or message, of the request as it is now.
        let zone = block.kind.zone();
        let before = self.new[..at.block.min(self.new.len())].iter().rev();
        let counted = before.take_while(|other| match zone {
            Zone::Messages => other.message == block.message && other.kind.zone() == zone,
            _ => other.kind.zone() == zone,
        });
        Blame {
            zone,
            block: at.block,
            kind: block.kind,
            name: block.name.clone(),
            message: block.message,
            byte: counted.map(|other| other.text.len()).sum::<usize>() + at.byte,
            part: block.name.clone(),
            with: Vec::new(),
            with_count: 0,
            whole_block: false,
            separator: false,
            what,
            verdict: Verdict::Changed,
            written: None,
            facts: Vec::new(),
            old: String::new(),
            new: String::new(),
            cause: None,
            new_turn: self.new_turn,
        }
    }

    /// True when a block of the new request equals the one beside it.
    fn twin(&self, new: usize) -> bool {
        let hash = self.new[new].hash;
        let beside = [new.checked_sub(1), Some(new + 1)];
        beside.into_iter().flatten().filter_map(|at| self.new.get(at)).any(|other| other.hash == hash)
    }

    /// True when a zone has the same blocks in both requests, in whatever order.
    fn permuted(&self, zone: Zone) -> bool {
        let keys = |blocks: &[Arc<Block>]| {
            let of_zone = blocks.iter().filter(|block| block.kind.zone() == zone);
            let mut keys: Vec<(BlockKind, Option<u32>, Name)> = of_zone
                .map(|block| (block.kind, block.message.map(|message| message.0), block.name.clone()))
                .collect();
            keys.sort();
            keys
        };
        keys(self.old) == keys(self.new)
    }

    /// True when a part that is gone stands, with the same text, in one of the last blocks of the new request.
    fn elsewhere(&self, part: &Part, text: &Traced, new_at: usize) -> bool {
        const LAST: usize = 16;
        let from = (new_at + 1).max(self.new.len().saturating_sub(LAST));
        let own = &text[part];
        !own.is_empty()
            && self.new.iter().skip(from).any(|block| {
                block.text.parts().iter().any(|other| other.id == part.id && &block.text[other] == own)
            })
    }

    fn finish(self) -> Vec<Break> {
        let shared = |(blame, old, new)| Break { blame: Arc::new(blame), old, new };
        self.breaks.into_iter().map(shared).collect()
    }
}

/// The separators that differ although the same two parts stand on both sides of them in both requests.
fn separator(a: &Traced, b: &Traced, ops: &[Op]) -> Vec<(usize, usize)> {
    let gone = |i: usize| {
        ops.iter().any(|op| matches!(op, Op::Gone { old, .. } | Op::Moved { old, .. } if *old == i))
    };
    let came = |j: usize| {
        ops.iter().any(|op| matches!(op, Op::Appeared { new, .. } | Op::Moved { new, .. } if *new == j))
    };
    let (mut i, mut j) = (0, 0);
    let mut beside = true;
    let mut found = Vec::new();
    while i < a.parts().len() && j < b.parts().len() {
        if gone(i) {
            i += 1;
            beside = false;
        } else if came(j) {
            j += 1;
            beside = false;
        } else {
            let (from, to) = (&a.parts()[i], &b.parts()[j]);
            if beside && a.text()[from.start..from.body] != b.text()[to.start..to.body] {
                found.push((i, j));
            }
            beside = true;
            i += 1;
            j += 1;
        }
    }
    found
}

/// The facts that changed between two texts of a part, the one that wrote the bytes of `origin` first, and the event
/// that changed them.
fn facts(
    origin: &Option<Arc<crate::core::text::Origin>>,
    old: &Part,
    new: &Part,
) -> (Vec<FactKey>, Option<EventId>) {
    use crate::core::text::Made;
    let mut keys = new.reads.changed_since(&old.reads);
    let wrote = |key: &FactKey| match origin.as_deref().map(|origin| &origin.made) {
        Some(Made::Fact { key: written, .. }) => written == key,
        Some(Made::Verbatim { source, .. } | Made::Derived { source, .. }) => key.to_string() == *source.name,
        _ => false,
    };
    keys.sort_by_key(|key| !wrote(key));
    let cause = |key: &FactKey| new.reads.0.get(key).map(|read| read.cause);
    let first = keys.first().filter(|key| wrote(key)).and_then(cause);
    let newest = || keys.iter().filter_map(cause).max();
    let written = || origin.as_deref().map(|origin| origin.cause);
    (keys.clone(), first.or_else(newest).or_else(written))
}

/// The facts that a part which is gone had read and that now have other values, as far as what is still there shows.
fn gone(part: &Part, now: &Traced) -> (Vec<FactKey>, Option<EventId>) {
    let mut found: BTreeMap<&FactKey, EventId> = BTreeMap::new();
    for other in now.parts() {
        for (key, read) in &other.reads.0 {
            if part.reads.0.get(key).is_some_and(|old| old.rev != read.rev) {
                found.insert(key, read.cause);
            }
        }
    }
    let cause = found.values().copied().max();
    (found.into_keys().cloned().collect(), cause)
}

fn read_cause(part: &Part, key: &FactKey) -> EventId {
    part.reads.0.get(key).map_or(EventId::OPENING, |read| read.cause)
}

/// The newest event behind a part: of what it read, its condition among it, and of what its bytes say themselves.
fn newest_cause(text: &Traced, part: &Part) -> EventId {
    let read = part.reads.0.values().map(|read| read.cause).max();
    let first = text.spans().partition_point(|span| span.end <= part.body);
    let spans = text.spans()[first..].iter().take_while(|span| span.end <= part.end);
    read.into_iter().chain(spans.map(|span| span.origin.cause)).max().unwrap_or_default()
}

/// True for two spellings of one JSON value.
fn same_json(a: &str, b: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    parse(a).is_some_and(|a| parse(b).is_some_and(|b| a == b))
}
