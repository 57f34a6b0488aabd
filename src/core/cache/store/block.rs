//! The block family: the longest common token prefix with anything stored and alive, down to whole blocks.

use std::sync::Arc;

use super::tree::{Cursor, ROOT, Seq, Tree, last_use};
use super::{Running, comparable};
use crate::core::cache::model::BlockRules;
use crate::core::tokens::Measure;
use crate::core::wire::Block;

/// Where a prompt has been left for many others at the same place, only so many of them are compared inside the
/// block that differs. They are the latest used, which is where a common beginning is to be expected.
const COMPARED: usize = 64;

/// The store of a model of the block family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct BlockStore {
    block: u32,
    min: u32,
    /// In milliseconds.
    life: i64,
    tree: Tree,
    cursors: Vec<Cursor>,
    /// When each request came, in milliseconds, by its number.
    times: Vec<i64>,
}

/// What a request reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::core::cache) struct BlockRead {
    /// Tokens, a multiple of the block.
    pub read: u32,
    /// The time since the conversation's latest request to this store, in milliseconds; none for the first.
    pub age: Option<i64>,
}

impl BlockStore {
    pub(in crate::core::cache) fn new(rules: &BlockRules) -> BlockStore {
        BlockStore {
            block: rules.block.value.max(1),
            min: rules.min.value,
            life: i64::from(rules.life.max.value) * 1_000,
            tree: Tree::new(),
            cursors: Vec::new(),
            times: vec![i64::MIN / 2],
        }
    }

    /// Tokens down to whole blocks; 0 below the minimum.
    pub(in crate::core::cache) fn floor(&self, tokens: u32) -> u32 {
        if tokens < self.min { 0 } else { tokens / self.block * self.block }
    }

    /// The minimum.
    pub(in crate::core::cache) fn min(&self) -> u32 {
        self.min
    }

    /// In milliseconds, how long what was stored lives.
    pub(in crate::core::cache) fn life(&self) -> i64 {
        self.life
    }

    /// Notes that a conversation's coming request begins with only `same` blocks of the one before it.
    pub(in crate::core::cache) fn note_same(&mut self, conversation: usize, same: usize) {
        if self.cursors.len() <= conversation {
            self.cursors.resize_with(conversation + 1, Cursor::default);
        }
        let cursor = &mut self.cursors[conversation];
        cursor.known = cursor.known.min(same);
    }

    fn alive(&self, used: Seq, at: i64) -> bool {
        used > 0 && at - self.times[used as usize] <= self.life
    }

    /// Reads, then stores, a request. [`BlockStore::note_same`] has been called for it.
    pub(in crate::core::cache) fn call(
        &mut self,
        conversation: usize,
        blocks: &[Arc<Block>],
        at: i64,
        running: Running<'_>,
        measure: &mut dyn Measure,
    ) -> BlockRead {
        let seq = self.times.len() as Seq;
        self.times.push(at);
        let mut cursor = std::mem::take(&mut self.cursors[conversation]);
        let keep = cursor.known.min(cursor.path.len());
        for &node in &cursor.path[keep..] {
            let node = self.tree.node_mut(node);
            node.left = node.left.max(cursor.seq);
        }
        cursor.path.truncate(keep);

        // How many leading blocks are stored whole and alive. Use never grows along a path, so the end of what
        // lives can be searched for by halves.
        let mut alive = if self.alive(cursor.seq, at) {
            keep
        } else {
            let used = |depth: usize| {
                last_use(&self.tree, &self.cursors, conversation, cursor.path[depth - 1], depth)
            };
            partition(keep, |depth| self.alive(used(depth), at))
        };
        let mut node = cursor.path.last().copied().unwrap_or(ROOT);
        for (depth, block) in blocks.iter().enumerate().skip(keep) {
            node = match self.tree.find(node, block) {
                Some(child) => {
                    let used = last_use(&self.tree, &self.cursors, conversation, child, depth + 1);
                    if alive == depth && self.alive(used, at) {
                        alive = depth + 1;
                    }
                    child
                }
                None => self.tree.add(node, block),
            };
            cursor.path.push(node);
        }
        let more = self.inside(conversation, &cursor.path, alive, blocks, at, measure);
        let read = self.floor(running.before(alive) + more);
        let age = (cursor.seq > 0).then(|| at - self.times[cursor.seq as usize]);

        cursor.seq = seq;
        cursor.known = blocks.len();
        self.cursors[conversation] = cursor;
        if self.tree.is_full() {
            let mut paths: Vec<_> = self.cursors.iter_mut().map(|cursor| &mut cursor.path).collect();
            self.tree.shrink(&mut paths);
        }
        BlockRead { read, age }
    }

    /// The tokens in common inside the first block that is not stored whole.
    fn inside(
        &self,
        conversation: usize,
        path: &[u32],
        alive: usize,
        blocks: &[Arc<Block>],
        at: i64,
        measure: &mut dyn Measure,
    ) -> u32 {
        let Some(block) = blocks.get(alive) else { return 0 };
        let parent = alive.checked_sub(1).map_or(ROOT, |last| path[last]);
        let others = self.tree.children(parent).filter(|&child| child != path[alive]).take(COMPARED);
        others
            .filter(|&child| {
                self.alive(last_use(&self.tree, &self.cursors, conversation, child, alive + 1), at)
            })
            .filter_map(|child| self.tree.block(child))
            .filter(|other| comparable(block, other))
            .map(|other| other.shared(block, measure))
            .max()
            .unwrap_or(0)
    }
}

/// The largest depth up to `end` for which `holds` is true, given that it is true up to some depth and false behind.
fn partition(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
