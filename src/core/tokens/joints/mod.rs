//! Which neighbouring characters a vocabulary can join.

use super::Encoding;

/// The size of the filter in bits: about twenty times what the larger vocabulary needs, and small enough to stay
/// in the first caches.
const BITS: u32 = 17;
const BYTES: usize = 1 << (BITS - 3);

/// The pairs of neighbouring letters without case that some token reaches across. Where there is none, byte pair
/// encoding can never merge over the place between the two, since each result of a merge is a token.
///
/// A filter without false negatives: it can say that a pair is joined when it is not, which costs only time. It was
/// collected once and is part of the program: going through two hundred thousand tokens at every start would keep the
/// first count waiting.
#[derive(Clone, Copy)]
pub(super) struct Joints(&'static [u8; BYTES]);

impl Joints {
    /// Those of a vocabulary.
    pub(super) fn of(encoding: Encoding) -> Joints {
        Joints(match encoding {
            Encoding::O200k => include_bytes!("o200k_base.joints"),
            Encoding::Cl100k => include_bytes!("cl100k_base.joints"),
        })
    }

    /// True when a token may reach across the place between two letters without case.
    pub(super) fn joins(self, left: u32, right: u32) -> bool {
        // A token can begin or end inside of a character, so there are four kinds of crossings.
        let (last, first) = (left & 0x3F, right >> 12);
        self.has(key(left, right, 0))
            || self.has(key(last, right, 1))
            || self.has(key(left, first, 2))
            || self.has(key(last, first, 3))
    }

    fn has(self, key: u32) -> bool {
        self.0[(key >> 3) as usize] >> (key & 7) & 1 == 1
    }
}

/// A place in the filter.
fn key(left: u32, right: u32, kind: u32) -> u32 {
    let mixed =
        (u64::from(left) << 20 | u64::from(right) << 2 | u64::from(kind)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - BITS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::tokens::split::is_caseless;

    /// Enters every place between two characters in the bytes of a token, which may begin and end inside of one.
    fn add(bits: &mut [u8], token: &[u8]) {
        let mut set = |key: u32| bits[(key >> 3) as usize] |= 1 << (key & 7);
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
                (Some(left), Some(right)) => set(key(left, right, 0)),
                (None, Some(right)) if left_partial => set(key(last, right, 1)),
                (Some(left), None) if right_partial => set(key(left, first, 2)),
                (None, None) if left_partial && right_partial => set(key(last, first, 3)),
                _ => {}
            }
        }
    }

    /// The letter without case that three bytes are.
    fn letter(bytes: &[u8; 3]) -> Option<u32> {
        let c = std::str::from_utf8(bytes).ok()?.chars().next()? as u32;
        (c > 0x7FF && is_caseless(c)).then_some(c)
    }

    /// With `UPDATE_JOINTS` in the environment they are written anew.
    #[test]
    fn they_are_those_of_the_vocabularies() {
        for encoding in [Encoding::O200k, Encoding::Cl100k] {
            let bpe = tiktoken::get_encoding(encoding.name()).unwrap();
            let mut bits = vec![0; BYTES];
            for id in 0..bpe.vocab_size() as u32 {
                add(&mut bits, &bpe.decode(&[id]));
            }
            assert!(bits.iter().map(|byte| byte.count_ones()).sum::<u32>() > 300);
            #[expect(
                clippy::disallowed_methods,
                reason = "writes a file of the repository, when it is asked to"
            )]
            if std::env::var_os("UPDATE_JOINTS").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/core/tokens/joints");
                std::fs::write(format!("{folder}/{encoding}.joints"), &bits).unwrap();
            }
            assert!(bits == Joints::of(encoding).0, "the joints of {encoding} are others");
        }
    }
}
