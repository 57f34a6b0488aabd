//! Entries that exist exactly where a request has a mark, its own or its provider's, and how they are found.

use serde::Serialize;

use super::tree::{Cursor, NONE, ROOT, Seq, Tree};
use super::{Asked, Found, Kept, Miss};
use crate::core::cache::outcome::{StoredFor, Write};
use crate::core::wire::{BlockKind, CallNo, MarkAt};

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
    /// True where all that it holds was read as the beginning of a longer one: then none of it was written for nothing.
    within: bool,
}

/// Tokens that were written to a cache and never read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NeverRead {
    /// The call that wrote them.
    pub call: CallNo,
    /// How many.
    pub tokens: u32,
}

/// Where a request has marks, as its provider takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::core::cache) struct Placed {
    /// In order, with their lives.
    pub marks: Vec<MarkAt>,
    /// The blocks behind which entries are looked for, the last first; none where a walk backwards from each mark
    /// finds them.
    pub looked_at: Option<Vec<usize>>,
    /// Why the provider refuses the request.
    pub refused: Option<String>,
}

/// How entries are found and kept.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct Keeping {
    /// Tokens below which a mark stores nothing.
    pub min: u32,
    /// Positions of a walk, the mark included.
    pub lookback: u32,
    /// Runs of these are one position.
    pub collapse: Vec<BlockKind>,
    /// The shortest life, in seconds.
    pub short: u32,
    /// In milliseconds.
    pub visible_after: u32,
    /// True where a read makes an entry live on.
    pub refresh: bool,
    /// True where it then lives for what the reader asks for.
    pub renew: bool,
    /// True where writing has a price of its own.
    pub fee: bool,
    /// True where the answer to what is stored is stored, too.
    pub generated: bool,
}

/// The entries of a model.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct EntryStore {
    keeping: Keeping,
    tree: Tree,
    cursors: Vec<Cursor>,
    entries: Vec<Entry>,
    seq: Seq,
}

impl EntryStore {
    pub(in crate::core::cache) fn new(keeping: Keeping) -> EntryStore {
        EntryStore { keeping, tree: Tree::new(), cursors: Vec::new(), entries: Vec::new(), seq: 0 }
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

    fn readable(&self, entry: &Entry, asked: &Asked<'_>) -> Result<(), Miss> {
        let age = asked.at - entry.used;
        let after = i64::from(self.keeping.visible_after);
        if age > entry.life {
            Err(Miss::Expired { age, life: entry.life })
        } else if asked.at < entry.visible && !(asked.knows)(entry.writer, entry.order) {
            Err(Miss::NotYetVisible { age: asked.at - (entry.visible - after), after })
        } else {
            Ok(())
        }
    }

    /// Reads, then stores, a request with marks as placed; `old` are those of the request before it in the
    /// conversation. [`EntryStore::note_same`] has been called for it.
    pub(in crate::core::cache) fn call(
        &mut self,
        asked: &Asked<'_>,
        placed: &Placed,
        old: Option<&Placed>,
    ) -> Found {
        if let Some(why) = &placed.refused {
            return Found { refused: Some(why.clone()), ..Found::read(0) };
        }
        let min = self.keeping.min.max(1);
        let (running, marks) = (asked.running, &placed.marks[..]);
        // What the request before it stored, and what of that this one still begins with, by its text.
        let before = asked.before.as_ref();
        let old_marks = old.filter(|old| old.refused.is_none()).map_or(&[][..], |old| &old.marks);
        let stored = |mark: &MarkAt| before.map_or(0, |before| before.behind(mark.block));
        let ends: Vec<u32> = old_marks.iter().map(stored).filter(|&tokens| tokens >= min).collect();
        let text_same = before.map_or(0, |before| before.same);
        let wanted = old_marks.iter().rfind(|mark| mark.block < text_same && stored(mark) >= min);
        let ideal = wanted.map_or(0, stored);
        let wanted = wanted.map(|mark| mark.block);

        self.seq += 1;
        self.walk(asked, marks.last().map_or(0, |mark| mark.block + 1));
        let path = std::mem::take(&mut self.cursors[asked.conversation].path);
        let hit = match &placed.looked_at {
            None => marks.iter().rev().find_map(|mark| self.look_back(mark.block, &path, asked)),
            Some(blocks) => blocks.iter().copied().find(|&block| {
                let entry = path.get(block).and_then(|&node| self.entry(node));
                entry.is_some_and(|entry| self.readable(entry, asked).is_ok())
            }),
        };
        let mut read = hit.map_or(0, |block| running.behind(block));
        let mut found = Found::read(read);
        let miss = wanted
            .filter(|&wanted| hit.is_none_or(|hit| hit < wanted))
            .map(|wanted| self.miss(wanted, placed, &path, asked));
        if let Some(block) = hit {
            if self.keeping.generated {
                let answer =
                    asked.blocks[block + 1..].iter().take_while(|block| block.is_generated()).count();
                read = running.behind(block + answer);
            }
            let entry = &mut self.entries[self.tree.node(path[block]).entry as usize];
            if self.keeping.refresh {
                entry.used = asked.at;
            }
            if self.keeping.renew
                && let Some(mark) = marks.last()
            {
                entry.life = i64::from(mark.ttl) * 1_000;
            }
            entry.reads += 1;
            for &node in path[..block].iter().rev() {
                let index = self.tree.node(node).entry;
                let Some(shorter) = self.entries.get_mut(index as usize) else { continue };
                // Whoever read that one has been here.
                if shorter.within || shorter.reads > 0 {
                    break;
                }
                shorter.within = true;
            }
        }

        let (mut reached, mut write, mut covered) = (read, Write::default(), 0);
        for mark in marks {
            let tokens = running.behind(mark.block);
            if tokens < min {
                continue;
            }
            covered = tokens;
            let written = tokens.saturating_sub(reached);
            reached = reached.max(tokens);
            if mark.ttl > self.keeping.short {
                write.hour += written;
            } else {
                write.short += written;
            }
            if self.mark(path[mark.block], mark.ttl, written, asked) && written > 0 && !self.keeping.fee {
                found.made.push(StoredFor { tokens: written, seconds: mark.ttl });
            }
        }
        self.cursors[asked.conversation].path = path;

        // Text that was sent before and that no mark covers: it is paid in full again and again.
        let sent = running.total();
        let again = before.map_or(0, |before| before.sent).min(sent) > covered.max(read);
        let behind = || Miss::NotMarked(marks.last().map(|mark| mark.block));
        let unmarked = covered == 0;
        Found {
            read,
            measured: read,
            write: self.keeping.fee.then_some(write),
            covered: Some(covered),
            kept: if before.is_some() { Kept::Ends(ends) } else { Kept::Nothing },
            ideal,
            miss: miss.or_else(|| {
                if unmarked && !marks.is_empty() {
                    Some(Miss::BelowMinimum(self.keeping.min))
                } else {
                    (marks.is_empty() || again).then(behind)
                }
            }),
            ..found
        }
    }

    /// Moves a conversation to the first `depth` blocks of its request.
    fn walk(&mut self, asked: &Asked<'_>, depth: usize) {
        let (conversation, blocks) = (asked.conversation, asked.blocks);
        let mut cursor = std::mem::take(&mut self.cursors[conversation]);
        let keep = cursor.known.min(cursor.path.len()).min(depth);
        for &node in &cursor.path[keep..] {
            let node = self.tree.node_mut(node);
            node.left = node.left.max(cursor.seq);
        }
        cursor.path.truncate(keep);
        let mut node = cursor.path.last().copied().unwrap_or(ROOT);
        for (index, block) in blocks.iter().enumerate().take(depth).skip(keep) {
            let salt = asked.salts.at(index, block);
            node = match self.tree.find(node, block, salt) {
                Some(node) => node,
                None => self.tree.add(node, block, salt, self.seq),
            };
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
    fn look_back(&self, block: usize, path: &[u32], asked: &Asked<'_>) -> Option<usize> {
        let mut positions = Positions::new(&self.keeping.collapse);
        for at in (0..=block).rev() {
            if positions.step(asked.blocks[at].kind) > self.keeping.lookback {
                return None;
            }
            if self.entry(path[at]).is_some_and(|entry| self.readable(entry, asked).is_ok()) {
                return Some(at);
            }
        }
        None
    }

    fn miss(&self, wanted: usize, placed: &Placed, path: &[u32], asked: &Asked<'_>) -> Miss {
        if wanted >= asked.same
            && let Some(less) = asked.less()
        {
            return less;
        }
        let Some(mark) = placed.marks.iter().find(|mark| mark.block >= wanted) else {
            return Miss::NotMarked(placed.marks.last().map(|mark| mark.block));
        };
        let Some(entry) = self.entry(path[wanted]) else { return Miss::Gone };
        if let Err(miss) = self.readable(entry, asked) {
            return miss;
        }
        if let Some(looked_at) = &placed.looked_at {
            let positions = asked.blocks[wanted..=mark.block].iter().filter(|block| !block.is_generated());
            return Miss::OutOfLookback {
                positions: positions.count() as u32,
                limit: looked_at.len() as u32,
            };
        }
        let mut positions = Positions::new(&self.keeping.collapse);
        for at in (wanted..=mark.block).rev() {
            positions.step(asked.blocks[at].kind);
        }
        Miss::OutOfLookback { positions: positions.count, limit: self.keeping.lookback }
    }

    /// Writes the entry of a mark, or refreshes the one that is there; true when it is a new one.
    fn mark(&mut self, node: u32, ttl: u32, written: u32, asked: &Asked<'_>) -> bool {
        let life = i64::from(ttl) * 1_000;
        let visible = asked.at + i64::from(self.keeping.visible_after);
        let index = self.tree.node(node).entry;
        if index != NONE {
            let keeping = &self.keeping;
            let entry = &mut self.entries[index as usize];
            if asked.at - entry.used <= entry.life {
                // Whether it was read through its own mark or written a second time by a parallel request: it lives
                // on from here, and is readable when the first of its writers made it so.
                if keeping.refresh {
                    entry.used = entry.used.max(asked.at);
                }
                if keeping.renew {
                    entry.life = life;
                }
                entry.written += written;
                return false;
            }
        }
        self.tree.node_mut(node).entry = self.entries.len() as u32;
        self.entries.push(Entry {
            used: asked.at,
            life,
            visible,
            writer: asked.conversation,
            order: asked.order,
            call: asked.call,
            written,
            reads: 0,
            within: false,
        });
        true
    }

    /// What was written and not read so far, in the order of the calls.
    pub(in crate::core::cache) fn never_read(&self) -> impl Iterator<Item = NeverRead> {
        let unread =
            self.entries.iter().filter(|entry| entry.reads == 0 && !entry.within && entry.written > 0);
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
