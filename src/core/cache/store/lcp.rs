//! The longest common prefix of a request with anything that is stored, readable and alive, in tokens.
//!
//! Several families round it in their own ways.

use super::room::Room;
use super::tree::{Cursor, ROOT, Seq, Tree, last_use};
use super::{Asked, comparable};
use crate::core::tokens::Measure;

/// Where a prompt has been left for many others at the same place, only so many of them are compared inside the
/// block that differs. They are the latest used, which is where a common beginning is to be expected.
const COMPARED: usize = 64;

/// A request to the store.
#[derive(Clone, Copy, Debug)]
struct Made {
    /// When it came, in milliseconds.
    at: i64,
    /// In milliseconds, how long it lives.
    life: i64,
    conversation: usize,
    /// Its number among all calls of the session.
    order: u64,
}

/// All prefixes that were sent.
#[derive(Clone, Debug)]
pub(super) struct Lcp {
    /// In milliseconds: how long what a request leaves lives; none where age does not matter.
    life: Option<i64>,
    /// In milliseconds after a request: when others can read it.
    visible_after: i64,
    pub tree: Tree,
    cursors: Vec<Cursor>,
    /// Each request, by its number.
    made: Vec<Made>,
}

/// What a request has in common with what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Common {
    /// Leading blocks, whole.
    pub blocks: usize,
    /// Tokens inside the next one.
    pub inside: u32,
    /// Leading blocks with the answer to what was stored, which the model wrote and which this request sends back.
    pub with_answer: usize,
    /// True when the request is one that was sent before, whole.
    pub whole: bool,
    /// The time since the conversation's latest request to this store, in milliseconds; none for the first.
    pub age: Option<i64>,
}

impl Lcp {
    /// Nothing stored yet. `life` and `visible_after` are in seconds and milliseconds.
    pub(super) fn new(life: Option<u32>, visible_after: u32) -> Lcp {
        let never = Made { at: i64::MIN / 2, life: 0, conversation: 0, order: 0 };
        Lcp {
            life: life.map(|life| i64::from(life) * 1_000),
            visible_after: i64::from(visible_after),
            tree: Tree::new(),
            cursors: Vec::new(),
            made: vec![never],
        }
    }

    /// In milliseconds, how long what was stored lives.
    pub(super) fn life(&self) -> Option<i64> {
        self.life
    }

    /// Notes that a conversation's coming request begins with only `same` blocks of the one before it.
    pub(super) fn note_same(&mut self, conversation: usize, same: usize) {
        if self.cursors.len() <= conversation {
            self.cursors.resize_with(conversation + 1, Cursor::default);
        }
        let cursor = &mut self.cursors[conversation];
        cursor.known = cursor.known.min(same);
    }

    /// The nodes of a conversation's latest request.
    pub(super) fn path(&self, conversation: usize) -> &[u32] {
        &self.cursors[conversation].path
    }

    /// The number of the latest request.
    pub(super) fn latest(&self) -> Seq {
        self.made.len() as Seq - 1
    }

    fn alive(&self, used: Seq, at: i64) -> bool {
        used > 0 && (self.life.is_none() || at - self.made[used as usize].at <= self.made[used as usize].life)
    }

    /// True when whoever asks can read what this request stored.
    pub(super) fn visible(&self, born: Seq, asked: &Asked<'_>) -> bool {
        let made = &self.made[born as usize];
        self.visible_after == 0
            || asked.at - made.at >= self.visible_after
            || (asked.knows)(made.conversation, made.order)
    }

    /// Reads, then stores, a request. [`Lcp::note_same`] has been called for it. `life` is what it asks for, in
    /// milliseconds, where it has a choice.
    pub(super) fn call(&mut self, asked: &Asked<'_>, life: Option<i64>, measure: &mut dyn Measure) -> Common {
        let (conversation, blocks, at) = (asked.conversation, asked.blocks, asked.at);
        let seq = self.made.len() as Seq;
        let life = life.or(self.life).unwrap_or(0);
        self.made.push(Made { at, life, conversation, order: asked.order });
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
        let mut new = blocks.len();
        for (depth, block) in blocks.iter().enumerate().skip(keep) {
            let salt = asked.salts.at(depth, block);
            node = match self.tree.find(node, block, salt) {
                Some(child) => {
                    let used = last_use(&self.tree, &self.cursors, conversation, child, depth + 1);
                    if alive == depth && self.alive(used, at) {
                        alive = depth + 1;
                    }
                    child
                }
                None => {
                    new = new.min(depth);
                    self.tree.add(node, block, salt, seq)
                }
            };
            cursor.path.push(node);
        }
        // What others have only just sent. What this conversation sent before is its own, whoever was first.
        while alive > keep && !self.visible(self.tree.node(cursor.path[alive - 1]).born, asked) {
            alive -= 1;
        }
        let ended = |depth: usize| {
            depth.checked_sub(1).is_some_and(|last| self.tree.node(cursor.path[last]).ended > 0)
        };
        let whole = alive == blocks.len() && ended(alive);
        let mut with_answer = alive;
        if alive < blocks.len() && ended(alive) && self.answers(&cursor.path, alive) {
            with_answer += blocks[alive..].iter().take_while(|block| block.is_generated()).count();
        }
        let inside = self.inside(asked, &cursor.path, alive, measure);
        let age = (cursor.seq > 0).then(|| at - self.made[cursor.seq as usize].at);

        cursor.seq = seq;
        cursor.known = blocks.len();
        if let Some(&last) = cursor.path.last() {
            let last = self.tree.node_mut(last);
            last.ended = seq;
            last.ends += 1;
        }
        self.cursors[conversation] = cursor;
        Common { blocks: alive, inside, with_answer, whole, age }
    }

    /// Forgets what was used longest ago, when it is time. Returns the new number of each node then.
    pub(super) fn forget(&mut self) -> Option<Vec<u32>> {
        self.tree.is_full().then(|| {
            let mut paths: Vec<_> = self.cursors.iter_mut().map(|cursor| &mut cursor.path).collect();
            self.tree.shrink(&mut paths)
        })
    }

    /// How many leading tokens of the request that was just made can be in memory, where there is only so much room: any
    /// number where all is there that it has in common with others. What is in common inside of a block is taken to be.
    pub(super) fn in_memory(&self, room: Option<&mut Room>, asked: &Asked<'_>, common: &Common) -> u32 {
        let Some(room) = room else { return u32::MAX };
        let there = room.call(self.path(asked.conversation), asked.running);
        if there < asked.running.before(common.blocks) { there } else { u32::MAX }
    }

    /// Forgets what was used longest ago when it is time, in memory as well.
    pub(super) fn forget_with(&mut self, room: Option<&mut Room>) {
        if let (Some(moved), Some(room)) = (self.forget(), room) {
            room.moved(&moved);
        }
    }

    /// True when what follows the first `depth` blocks can be the answer to a request that ended there: each had one, and
    /// what others have sent back since is taken.
    fn answers(&self, path: &[u32], depth: usize) -> bool {
        let Some(&node) = depth.checked_sub(1).and_then(|last| path.get(last)) else { return false };
        let others = self.tree.children(node).filter(|child| path.get(depth) != Some(child));
        let taken = others
            .filter(|&child| self.tree.block(child).is_some_and(|block| block.is_generated()))
            .take(COMPARED)
            .count();
        taken < self.tree.node(node).ends as usize
    }

    /// The tokens in common inside the first block that is not stored whole.
    fn inside(&self, asked: &Asked<'_>, path: &[u32], alive: usize, measure: &mut dyn Measure) -> u32 {
        let Some(block) = asked.blocks.get(alive) else { return 0 };
        let parent = alive.checked_sub(1).map_or(ROOT, |last| path[last]);
        let salt = asked.salts.at(alive, block);
        let others = self.tree.children(parent).filter(|&child| child != path[alive]).take(COMPARED);
        others
            .filter(|&child| self.tree.salt(child) == salt)
            .filter(|&child| {
                let used = last_use(&self.tree, &self.cursors, asked.conversation, child, alive + 1);
                // What the conversation itself has just left is written down as left.
                self.alive(used, asked.at) && self.readable(child, asked)
            })
            .filter_map(|child| self.tree.block(child))
            .filter(|other| comparable(block, other))
            .map(|other| other.shared(block, measure))
            .max()
            .unwrap_or(0)
    }

    /// The same for a node that the asking conversation may itself have sent before.
    fn readable(&self, node: u32, asked: &Asked<'_>) -> bool {
        let node = self.tree.node(node);
        self.visible(node.born, asked)
            || node.left > 0 && self.made[node.left as usize].conversation == asked.conversation
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
