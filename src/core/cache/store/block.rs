//! The block family: the longest common prefix, down to whole blocks.

use super::lcp::Lcp;
use super::room::Room;
use super::{Asked, Floor, Found, Kept, Miss, driven_out, read_again};
use crate::core::cache::model::Known;
use crate::core::cache::outcome::Write;
use crate::core::cache::rules::{BlockRules, Generated};
use crate::core::tokens::Measure;

/// The store of a model of the block family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct BlockStore {
    floor: Floor,
    recompute_last: bool,
    exact_resend: bool,
    generated: Generated,
    /// In seconds, ascending; empty where a request has no choice.
    lives: Vec<u32>,
    /// True where writing has a price of its own.
    fee: bool,
    lcp: Lcp,
    /// None where no limit is known.
    room: Option<Room>,
}

impl BlockStore {
    pub(in crate::core::cache) fn new(rules: &BlockRules, fee: bool) -> BlockStore {
        let life = rules.life.max.as_ref().map(|life| life.value);
        let yes = |known: &Option<Known<bool>>| known.as_ref().is_some_and(|known| known.value);
        let floor = Floor {
            block: rules.block.value.max(1),
            min: rules.min.value,
            hidden: rules.hidden.as_ref().map_or(0, |hidden| hidden.value),
            report: rules.report.as_ref().map_or(1, |report| report.value.max(1)),
        };
        BlockStore {
            floor,
            recompute_last: yes(&rules.recompute_last),
            exact_resend: yes(&rules.exact_resend),
            generated: rules.generated.as_ref().map_or(Generated::No, |known| known.value),
            lives: rules.lives.as_ref().map_or_else(Vec::new, |lives| lives.value.clone()),
            fee,
            room: rules.room.as_ref().map(|room| Room::new(room.value, floor.block)),
            lcp: Lcp::new(life, rules.visible.as_ref().map_or(0, |visible| visible.value.after)),
        }
    }

    pub(in crate::core::cache) fn note_same(&mut self, conversation: usize, same: usize) {
        self.lcp.note_same(conversation, same);
    }

    pub(in crate::core::cache) fn call(&mut self, asked: &Asked<'_>, measure: &mut dyn Measure) -> Found {
        let running = asked.running;
        let sent = running.total();
        // The life that it asks for, where it has a choice.
        let life = asked.life(&self.lives);
        let common = self.lcp.call(asked, life.map(|life| i64::from(life) * 1_000), measure);
        let there = self.lcp.in_memory(self.room.as_mut(), asked, &common);
        let plain = (running.before(common.blocks) + common.inside).min(there);
        // An answer stands behind the prompt that it answered, and goes before it.
        let answer =
            if there < running.before(common.blocks) { 0 } else { running.before(common.with_answer) };
        let with_answer = answer.max(plain);
        let anew = u32::from(self.recompute_last);
        let last = sent.saturating_sub(anew);
        let read = |tokens: u32| {
            if self.exact_resend && common.whole && sent >= self.floor.min {
                sent
            } else {
                self.floor.of(tokens.min(last))
            }
        };
        let documented = read(if self.generated == Generated::Yes { with_answer } else { plain });
        let measured = match self.generated {
            Generated::Measured => read(with_answer),
            Generated::Yes | Generated::No => documented,
        };
        self.lcp.forget_with(self.room.as_mut());

        let ideal = self.floor.of(asked.equal.min(last));
        let below = (sent < self.floor.min).then_some(Miss::BelowMinimum(self.floor.min));
        let write = self.fee.then(|| {
            let stored = if sent < self.floor.min { 0 } else { sent - documented };
            if life.is_some_and(|life| self.lives.first().is_some_and(|&shortest| life > shortest)) {
                Write { short: 0, hour: stored }
            } else {
                Write { short: stored, hour: 0 }
            }
        });
        Found {
            write,
            measured,
            kept: asked.before.as_ref().map_or(Kept::Nothing, |before| Kept::Floor {
                floor: self.floor,
                sent: before.sent,
                anew,
            }),
            ideal,
            miss: driven_out(asked, ideal, documented, there, &common)
                .or_else(|| read_again(asked, ideal, documented, &common, self.lcp.life()))
                .or(below),
            age: common.age,
            ..Found::read(documented)
        }
    }
}
