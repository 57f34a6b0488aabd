//! Which neighbouring characters a vocabulary can join.

use super::split::is_caseless;

/// The size of the filter in bits: about twenty times what the larger vocabulary needs, and small enough to stay
/// in the first caches.
const BITS: u32 = 17;

/// The pairs of neighbouring letters without case that some token reaches across. Where there is none, byte pair
/// encoding can never merge over the place between the two, since each result of a merge is a token.
///
/// A filter without false negatives: it can say that a pair is joined when it is not, which costs only time.
pub(super) struct Joints {
    bits: Box<[u64]>,
}

impl Joints {
    /// Collects the pairs from all tokens of a vocabulary.
    pub(super) fn of(tokens: impl Iterator<Item = Vec<u8>>) -> Joints {
        let mut joints = Joints { bits: vec![0; 1 << (BITS - 6)].into() };
        for token in tokens {
            if !token.is_ascii() {
                joints.add(&token);
            }
        }
        joints
    }

    /// True when a token may reach across the place between two letters without case.
    pub(super) fn joins(&self, left: u32, right: u32) -> bool {
        // A token can begin or end inside of a character, so there are four kinds of crossings.
        let (last, first) = (left & 0x3F, right >> 12);
        self.has(key(left, right, 0))
            || self.has(key(last, right, 1))
            || self.has(key(left, first, 2))
            || self.has(key(last, first, 3))
    }

    /// Enters every place between two characters in the bytes of a token, which may begin and end inside of one.
    fn add(&mut self, token: &[u8]) {
        for at in 1..token.len() {
            let (before, after) = token.split_at(at);
            if !(0xE3..=0xED).contains(&after[0]) || before[at - 1] < 0x80 {
                continue;
            }
            let last = u32::from(before[at - 1]) & 0x3F;
            let first = u32::from(after[0]) & 0xF;
            let left = before.last_chunk::<3>().and_then(letter);
            let right = after.first_chunk::<3>().and_then(letter);
            // Whole characters that are none of ours never stand at the places that are asked for.
            let left_partial = left.is_none() && before.iter().all(|byte| byte & 0xC0 == 0x80) && at < 3;
            let right_partial = right.is_none() && after.len() < 3;
            match (left, right) {
                (Some(left), Some(right)) => self.set(key(left, right, 0)),
                (None, Some(right)) if left_partial => self.set(key(last, right, 1)),
                (Some(left), None) if right_partial => self.set(key(left, first, 2)),
                (None, None) if left_partial && right_partial => self.set(key(last, first, 3)),
                _ => {}
            }
        }
    }

    fn set(&mut self, key: u32) {
        self.bits[(key >> 6) as usize] |= 1 << (key & 63);
    }

    fn has(&self, key: u32) -> bool {
        self.bits[(key >> 6) as usize] >> (key & 63) & 1 == 1
    }
}

/// A place in the filter.
fn key(left: u32, right: u32, kind: u32) -> u32 {
    let mixed =
        (u64::from(left) << 20 | u64::from(right) << 2 | u64::from(kind)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - BITS)) as u32
}

/// The letter without case that three bytes are.
fn letter(bytes: &[u8; 3]) -> Option<u32> {
    let c = std::str::from_utf8(bytes).ok()?.chars().next()? as u32;
    (c > 0x7FF && is_caseless(c)).then_some(c)
}
