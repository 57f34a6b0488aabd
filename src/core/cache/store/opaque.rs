//! The opaque family: no rule is published but that repeated beginnings are cheaper. What is worked out is the most that
//! could be read.

use super::lcp::Lcp;
use super::{Asked, Floor, Found, Kept, Miss, read_again};
use crate::core::cache::outcome::Write;
use crate::core::cache::rules::OpaqueRules;
use crate::core::tokens::Measure;

/// The store of a model of the opaque family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct OpaqueStore {
    floor: Floor,
    /// True where writing has a price of its own.
    fee: bool,
    lcp: Lcp,
}

impl OpaqueStore {
    pub(in crate::core::cache) fn new(rules: &OpaqueRules, fee: bool) -> OpaqueStore {
        OpaqueStore {
            floor: Floor { block: 1, min: rules.min.value, hidden: 0, report: 1 },
            fee,
            lcp: Lcp::new(
                rules.life.max.as_ref().map(|life| life.value),
                rules.visible.as_ref().map_or(0, |visible| visible.value.after),
            ),
        }
    }

    pub(in crate::core::cache) fn note_same(&mut self, conversation: usize, same: usize) {
        self.lcp.note_same(conversation, same);
    }

    pub(in crate::core::cache) fn call(&mut self, asked: &Asked<'_>, measure: &mut dyn Measure) -> Found {
        let sent = asked.running.total();
        let common = self.lcp.call(asked, None, measure);
        let read = self.floor.of(asked.running.before(common.blocks) + common.inside);
        self.lcp.forget();
        let ideal = self.floor.of(asked.equal);
        let below = (sent < self.floor.min).then_some(Miss::BelowMinimum(self.floor.min));
        let stored = if sent < self.floor.min { 0 } else { sent - read };
        Found {
            write: self.fee.then_some(Write { short: stored, hour: 0 }),
            kept: Kept::all(asked, self.floor),
            ideal,
            miss: read_again(asked, ideal, read, &common, self.lcp.life()).or(below),
            age: common.age,
            ..Found::read(read)
        }
    }
}
