//! The marked family: entries exist exactly where a request had a mark, and are found by a bounded walk backwards.

use std::sync::Arc;

use serde::Serialize;

use super::Running;
use super::tree::{Cursor, NONE, ROOT, Seq, Tree};
use crate::core::cache::model::{MarkedRules, Thousands};
use crate::core::wire::{Block, BlockKind, CallNo, MarkAt};

/// A stored prefix.
#[derive(Clone, Debug)]
struct Entry {
    /// The latest use, in milliseconds.
    used: i64,
    /// In milliseconds.
    life: i64,
    /// In milliseconds: readable from here on by those who were not told earlier that it is there.
    visible: i64,
    /// The conversation that wrote it, and when, in calls of the whole session.
    writer: usize,
    order: u64,
    call: CallNo,
    /// Tokens that were written for it.
    written: u32,
    reads: u32,
}

/// Tokens that were written to a cache and never read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NeverRead {
    /// The call that wrote them.
    pub call: CallNo,
    /// How many.
    pub tokens: u32,
}

/// Why an entry that this conversation's latest request wrote or read was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::core::cache) enum Miss {
    /// It had died.
    Expired { age: i64, life: i64 },
    /// Its writer's answer had not begun.
    NotYetVisible { age: i64 },
    /// It stands this many positions before the last mark, counting both.
    OutOfLookback { positions: u32 },
    /// No mark of the request stands at or behind it.
    NotMarked,
    /// It is not there, for a reason that the rules do not give.
    Gone,
}

/// What a request reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::core::cache) struct MarkedRead {
    /// Tokens read.
    pub read: u32,
    /// Tokens written to live for the shortest life.
    pub write_5m: u32,
    /// Tokens written to live longer.
    pub write_1h: u32,
    /// Tokens up to the last mark that stores anything; 0 without one.
    pub covered: u32,
    /// Why the entry that was asked for was not read, where it was not.
    pub miss: Option<Miss>,
}

/// Who asks and when.
pub(in crate::core::cache) struct Asker<'a> {
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
}

/// The last mark (of `marks`) whose prefix is long enough to be stored, with that prefix's tokens.
pub(in crate::core::cache) fn eligible(
    marks: &[MarkAt],
    running: Running<'_>,
    min: u32,
) -> Option<(usize, u32)> {
    let last = marks.last()?;
    let tokens = running.behind(last.block);
    (tokens >= min.max(1)).then_some((last.block, tokens))
}

/// Why the provider refuses such marks; none when it does not.
pub(in crate::core::cache) fn refusal(rules: &MarkedRules, marks: &[MarkAt]) -> Option<String> {
    let max = rules.max_marks.value;
    if marks.len() > max as usize {
        return Some(format!(
            "{} cache marks, at most {max}: the provider answers with an error",
            marks.len()
        ));
    }
    let lives = &rules.lives.value;
    if let Some(mark) = marks.iter().find(|mark| !lives.contains(&mark.ttl)) {
        let offered: Vec<String> = lives.iter().map(|&life| format!("{} s", Thousands(life))).collect();
        return Some(format!(
            "a mark asks for a life of {} s, offered are {}: the provider answers with an error",
            Thousands(mark.ttl),
            offered.join(" and ")
        ));
    }
    if marks.windows(2).any(|pair| pair[0].ttl < pair[1].ttl) {
        return Some(
            "a mark with a longer life stands behind one with a shorter: the provider answers with an error"
                .into(),
        );
    }
    None
}

/// The store of a model of the marked family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct MarkedStore {
    min: u32,
    lookback: u32,
    collapse: Vec<BlockKind>,
    short: u32,
    visible_after: i64,
    tree: Tree,
    cursors: Vec<Cursor>,
    entries: Vec<Entry>,
    seq: Seq,
}

impl MarkedStore {
    pub(in crate::core::cache) fn new(rules: &MarkedRules) -> MarkedStore {
        MarkedStore {
            min: rules.min.value,
            lookback: rules.lookback.value,
            collapse: rules.collapse.value.clone(),
            short: rules.lives.value.first().copied().unwrap_or(300),
            visible_after: i64::from(rules.visible_after.value),
            tree: Tree::new(),
            cursors: Vec::new(),
            entries: Vec::new(),
            seq: 0,
        }
    }

    /// The minimum.
    pub(in crate::core::cache) fn min(&self) -> u32 {
        self.min
    }

    /// How many positions are looked at.
    pub(in crate::core::cache) fn lookback(&self) -> u32 {
        self.lookback
    }

    /// In milliseconds, when an entry becomes readable after the start of its request.
    pub(in crate::core::cache) fn visible_after(&self) -> i64 {
        self.visible_after
    }

    /// Notes that a conversation's coming request begins with only `same` blocks of the one before it.
    pub(in crate::core::cache) fn note_same(&mut self, conversation: usize, same: usize) {
        if self.cursors.len() <= conversation {
            self.cursors.resize_with(conversation + 1, Cursor::default);
        }
        let cursor = &mut self.cursors[conversation];
        cursor.known = cursor.known.min(same);
    }

    fn entry(&self, node: u32) -> Option<&Entry> {
        self.entries.get(self.tree.node(node).entry as usize)
    }

    fn readable(&self, entry: &Entry, asker: &Asker<'_>) -> Result<(), Miss> {
        let age = asker.at - entry.used;
        if age > entry.life {
            Err(Miss::Expired { age, life: entry.life })
        } else if asker.at < entry.visible && !(asker.knows)(entry.writer, entry.order) {
            Err(Miss::NotYetVisible { age: asker.at - (entry.visible - self.visible_after) })
        } else {
            Ok(())
        }
    }

    /// Reads, then stores, a request whose marks are not refused. `wanted` is the block behind which the latest
    /// request of the conversation has an entry that this request could still read, as far as bytes go.
    /// [`MarkedStore::note_same`] has been called for it.
    pub(in crate::core::cache) fn call(
        &mut self,
        asker: &Asker<'_>,
        blocks: &[Arc<Block>],
        marks: &[MarkAt],
        running: Running<'_>,
        wanted: Option<usize>,
    ) -> MarkedRead {
        self.seq += 1;
        self.walk(asker.conversation, blocks, marks.last().map_or(0, |mark| mark.block + 1));
        let path = std::mem::take(&mut self.cursors[asker.conversation].path);

        let hit = marks.iter().rev().find_map(|mark| self.look_back(mark.block, blocks, &path, asker));
        let read = hit.map_or(0, |block| running.behind(block));
        let mut outcome = MarkedRead { read, ..MarkedRead::default() };
        outcome.miss = wanted
            .filter(|&wanted| hit.is_none_or(|hit| hit < wanted))
            .map(|wanted| self.miss(wanted, blocks, marks, &path, asker));
        if let Some(block) = hit {
            let entry = self.tree.node(path[block]).entry as usize;
            self.entries[entry].used = asker.at;
            self.entries[entry].reads += 1;
        }

        let mut reached = read;
        for mark in marks {
            let tokens = running.behind(mark.block);
            if tokens < self.min.max(1) {
                continue;
            }
            outcome.covered = tokens;
            let written = tokens.saturating_sub(reached);
            reached = reached.max(tokens);
            if mark.ttl > self.short {
                outcome.write_1h += written;
            } else {
                outcome.write_5m += written;
            }
            self.mark(path[mark.block], mark.ttl, written, asker);
        }
        self.cursors[asker.conversation].path = path;
        outcome
    }

    /// Moves a conversation to the first `depth` blocks of its request.
    fn walk(&mut self, conversation: usize, blocks: &[Arc<Block>], depth: usize) {
        let mut cursor = std::mem::take(&mut self.cursors[conversation]);
        let keep = cursor.known.min(cursor.path.len()).min(depth);
        for &node in &cursor.path[keep..] {
            let node = self.tree.node_mut(node);
            node.left = node.left.max(cursor.seq);
        }
        cursor.path.truncate(keep);
        let mut node = cursor.path.last().copied().unwrap_or(ROOT);
        for block in &blocks[keep..depth] {
            node = self.tree.find(node, block).unwrap_or_else(|| self.tree.add(node, block));
            cursor.path.push(node);
        }
        cursor.seq = self.seq;
        cursor.known = blocks.len();
        self.cursors[conversation] = cursor;
        if self.tree.is_full() {
            let mut paths: Vec<_> = self.cursors.iter_mut().map(|cursor| &mut cursor.path).collect();
            self.tree.shrink(&mut paths);
        }
    }

    /// The nearest block, from `block` backwards, behind which something readable is stored.
    fn look_back(
        &self,
        block: usize,
        blocks: &[Arc<Block>],
        path: &[u32],
        asker: &Asker<'_>,
    ) -> Option<usize> {
        let mut positions = Positions::new(&self.collapse);
        for at in (0..=block).rev() {
            if positions.step(blocks[at].kind) > self.lookback {
                return None;
            }
            if self.entry(path[at]).is_some_and(|entry| self.readable(entry, asker).is_ok()) {
                return Some(at);
            }
        }
        None
    }

    fn miss(
        &self,
        wanted: usize,
        blocks: &[Arc<Block>],
        marks: &[MarkAt],
        path: &[u32],
        asker: &Asker<'_>,
    ) -> Miss {
        let Some(mark) = marks.iter().find(|mark| mark.block >= wanted) else { return Miss::NotMarked };
        let Some(entry) = self.entry(path[wanted]) else { return Miss::Gone };
        if let Err(miss) = self.readable(entry, asker) {
            return miss;
        }
        let mut positions = Positions::new(&self.collapse);
        for at in (wanted..=mark.block).rev() {
            positions.step(blocks[at].kind);
        }
        Miss::OutOfLookback { positions: positions.count }
    }

    /// Writes the entry of a mark, or refreshes the one that is there.
    fn mark(&mut self, node: u32, ttl: u32, written: u32, asker: &Asker<'_>) {
        let life = i64::from(ttl) * 1_000;
        let visible = asker.at + self.visible_after;
        let index = self.tree.node(node).entry;
        if index != NONE {
            let entry = &mut self.entries[index as usize];
            if asker.at - entry.used <= entry.life {
                // Whether it was read through its own mark or written a second time by a parallel request: it lives
                // on from here, and is readable when the first of its writers made it so.
                entry.used = entry.used.max(asker.at);
                entry.written += written;
                return;
            }
        }
        self.tree.node_mut(node).entry = self.entries.len() as u32;
        self.entries.push(Entry {
            used: asker.at,
            life,
            visible,
            writer: asker.conversation,
            order: asker.order,
            call: asker.call,
            written,
            reads: 0,
        });
    }

    /// What was written and not read so far, in the order of the calls.
    pub(in crate::core::cache) fn never_read(&self) -> impl Iterator<Item = NeverRead> {
        let unread = self.entries.iter().filter(|entry| entry.reads == 0 && entry.written > 0);
        unread.map(|entry| NeverRead { call: entry.call, tokens: entry.written })
    }
}

/// Counts positions backwards: a run of blocks of a collapsing kind is one.
struct Positions<'a> {
    collapse: &'a [BlockKind],
    last: Option<BlockKind>,
    count: u32,
}

impl<'a> Positions<'a> {
    fn new(collapse: &'a [BlockKind]) -> Positions<'a> {
        Positions { collapse, last: None, count: 0 }
    }

    fn step(&mut self, kind: BlockKind) -> u32 {
        if self.last != Some(kind) || !self.collapse.contains(&kind) {
            self.count += 1;
        }
        self.last = Some(kind);
        self.count
    }
}
