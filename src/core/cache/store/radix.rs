//! The radix family: a server's tree of tokens, whole pages of it, with what it generated.

use super::lcp::Lcp;
use super::{Asked, Floor, Found, Kept, read_again};
use crate::core::cache::rules::{Generated, RadixRules};
use crate::core::tokens::Measure;

/// The store of a model of the radix family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct RadixStore {
    floor: Floor,
    generated: bool,
    lcp: Lcp,
}

impl RadixStore {
    pub(in crate::core::cache) fn new(rules: &RadixRules) -> RadixStore {
        RadixStore {
            floor: Floor { block: rules.page.value.max(1), min: 0, hidden: 0, report: 1 },
            generated: rules.generated.value == Generated::Yes,
            lcp: Lcp::new(None, 0),
        }
    }

    pub(in crate::core::cache) fn note_same(&mut self, conversation: usize, same: usize) {
        self.lcp.note_same(conversation, same);
    }

    pub(in crate::core::cache) fn call(&mut self, asked: &Asked<'_>, measure: &mut dyn Measure) -> Found {
        let common = self.lcp.call(asked, None, measure);
        let plain = asked.running.before(common.blocks) + common.inside;
        let answer = if self.generated { asked.running.before(common.with_answer) } else { 0 };
        let read = self.floor.of(plain.max(answer));
        self.lcp.forget();
        let ideal = self.floor.of(asked.equal);
        Found {
            kept: Kept::all(asked, self.floor),
            ideal,
            miss: read_again(asked, ideal, read, &common, None),
            age: common.age,
            ..Found::read(read)
        }
    }
}
