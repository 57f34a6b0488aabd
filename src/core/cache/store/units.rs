//! The units family: a few prefixes of each request, each read whole or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lcp::{Common, Lcp};
use super::tree::{NONE, ROOT, Seq};
use super::{Asked, Found, Kept, Miss, comparable, read_again};
use crate::core::cache::rules::{Generated, UnitRules};
use crate::core::tokens::Measure;
use crate::core::wire::Block;

/// A unit that ends inside a block.
#[derive(Clone, Debug)]
struct Inside {
    /// What was in common with it.
    block: Arc<Block>,
    salt: u64,
    /// So many leading tokens of it.
    tokens: u32,
    born: Seq,
}

/// A node behind which the answer to a request, or what two requests had in common, ends.
const UNIT: u32 = 0;

/// Of the units that end inside blocks at one place, only so many are kept: the latest.
const KEPT: usize = 16;

/// The store of a model of the units family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct UnitStore {
    min: u32,
    generated: bool,
    common: bool,
    lcp: Lcp,
    /// By the node in front of the block.
    inside: BTreeMap<u32, Vec<Inside>>,
}

impl UnitStore {
    pub(in crate::core::cache) fn new(rules: &UnitRules) -> UnitStore {
        UnitStore {
            min: rules.min.value,
            generated: rules.generated.value == Generated::Yes,
            common: rules.common.value,
            lcp: Lcp::new(rules.life.max.as_ref().map(|life| life.value), rules.visible.value.after),
            inside: BTreeMap::new(),
        }
    }

    pub(in crate::core::cache) fn note_same(&mut self, conversation: usize, same: usize) {
        self.lcp.note_same(conversation, same);
    }

    pub(in crate::core::cache) fn call(&mut self, asked: &Asked<'_>, measure: &mut dyn Measure) -> Found {
        let running = asked.running;
        let sent = running.total();
        let common = self.lcp.call(asked, None, measure);
        let (read, end) = self.longest(asked, &common, measure);
        if self.generated && common.with_answer > common.blocks {
            let end = self.lcp.path(asked.conversation)[common.with_answer - 1];
            self.lcp.tree.node_mut(end).entry = UNIT;
        }
        // What it has in common with an earlier request is kept from now on.
        let prefix = running.before(common.blocks) + common.inside;
        if self.common && prefix > read && prefix >= self.min && end != End::Answer {
            self.keep(asked, &common);
        }
        if let Some(moved) = self.lcp.forget() {
            let moved = |node: u32| moved.get(node as usize).copied().filter(|&node| node != NONE);
            self.inside = std::mem::take(&mut self.inside)
                .into_iter()
                .filter_map(|(node, units)| Some((moved(node)?, units)))
                .collect();
        }
        // All of the request before it was a unit, and so was that with its answer.
        let whole = asked.before.as_ref().filter(|before| before.sent >= self.min);
        let ideal =
            whole.filter(|before| before.same == before.blocks).map_or(0, |before| before.sent.min(sent));
        let below = (sent < self.min).then_some(Miss::BelowMinimum(self.min));
        Found {
            kept: whole.map_or(Kept::Nothing, |before| Kept::Ends(vec![before.sent])),
            ideal,
            miss: read_again(asked, ideal, read, &common, self.lcp.life()).or(below),
            age: common.age,
            ..Found::read(read)
        }
    }

    /// The longest unit that the request begins with.
    fn longest(&self, asked: &Asked<'_>, common: &Common, measure: &mut dyn Measure) -> (u32, End) {
        let running = asked.running;
        let path = self.lcp.path(asked.conversation);
        if self.generated && common.with_answer > common.blocks {
            let tokens = running.before(common.with_answer);
            if tokens >= self.min {
                return (tokens, End::Answer);
            }
        }
        // Inside the block that differs, then at the ends of those in front of it.
        for depth in (0..=common.blocks).rev() {
            let parent = depth.checked_sub(1).map_or(ROOT, |last| path[last]);
            let inside = self.inside.get(&parent).into_iter().flatten().filter_map(|unit| {
                let block = asked.blocks.get(depth)?;
                let readable = comparable(block, &unit.block)
                    && unit.salt == asked.salts.at(depth, block)
                    && self.lcp.visible(unit.born, asked);
                let reached = readable && unit.block.shared(block, measure) >= unit.tokens;
                reached.then_some(unit.tokens)
            });
            if let Some(tokens) = inside.max() {
                let tokens = running.before(depth) + tokens;
                return if tokens < self.min { (0, End::None) } else { (tokens, End::Inside) };
            }
            let Some(last) = depth.checked_sub(1) else { break };
            let node = self.lcp.tree.node(path[last]);
            // The request itself ends at its last node by now; before it, others may have.
            let ended = if node.ended == self.lcp.latest() { common.whole } else { node.ended > 0 };
            if ended || node.entry == UNIT {
                let tokens = running.before(depth);
                return if tokens < self.min { (0, End::None) } else { (tokens, End::Block) };
            }
        }
        (0, End::None)
    }

    /// Keeps what the request has in common with an earlier one.
    fn keep(&mut self, asked: &Asked<'_>, common: &Common) {
        let path = self.lcp.path(asked.conversation);
        let parent = common.blocks.checked_sub(1).map_or(ROOT, |last| path[last]);
        if common.inside == 0 {
            if parent != ROOT {
                self.lcp.tree.node_mut(parent).entry = UNIT;
            }
            return;
        }
        let block = asked.blocks[common.blocks].clone();
        let salt = asked.salts.at(common.blocks, &block);
        let born = self.lcp.latest();
        let units = self.inside.entry(parent).or_default();
        units.push(Inside { block, salt, tokens: common.inside, born });
        if units.len() > KEPT {
            units.remove(0);
        }
    }
}

/// Where a unit ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    None,
    Block,
    Inside,
    Answer,
}
