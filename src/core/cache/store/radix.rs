//! The radix family: a server's tree of tokens, whole pages of it, with what it generated.

use super::lcp::Lcp;
use super::room::Room;
use super::{Asked, Floor, Found, Kept, driven_out, read_again};
use crate::core::cache::rules::{Generated, RadixRules};
use crate::core::tokens::Measure;

/// The store of a model of the radix family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct RadixStore {
    floor: Floor,
    generated: bool,
    lcp: Lcp,
    /// None where no limit is known.
    room: Option<Room>,
}

impl RadixStore {
    pub(in crate::core::cache) fn new(rules: &RadixRules) -> RadixStore {
        RadixStore {
            floor: Floor { block: rules.page.value.max(1), min: 0, hidden: 0, report: 1 },
            generated: rules.generated.value == Generated::Yes,
            room: rules.room.as_ref().map(|room| Room::new(room.value, rules.page.value)),
            lcp: Lcp::new(None, 0),
        }
    }

    pub(in crate::core::cache) fn note_same(&mut self, conversation: usize, same: usize) {
        self.lcp.note_same(conversation, same);
    }

    pub(in crate::core::cache) fn call(&mut self, asked: &Asked<'_>, measure: &mut dyn Measure) -> Found {
        let common = self.lcp.call(asked, None, measure);
        let there = self.lcp.in_memory(self.room.as_mut(), asked, &common);
        let plain = (asked.running.before(common.blocks) + common.inside).min(there);
        // An answer stands behind the prompt that it answered, and goes before it.
        let whole = self.generated && there >= asked.running.before(common.blocks);
        let answer = if whole { asked.running.before(common.with_answer) } else { 0 };
        let read = self.floor.of(plain.max(answer));
        self.lcp.forget_with(self.room.as_mut());
        let ideal = self.floor.of(asked.equal);
        Found {
            kept: Kept::all(asked, self.floor),
            ideal,
            miss: driven_out(asked, ideal, read, there, &common)
                .or_else(|| read_again(asked, ideal, read, &common, None)),
            age: common.age,
            ..Found::read(read)
        }
    }
}
