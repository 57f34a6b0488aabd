//! A memo of fixed size from a key of 128 bits to a count.

/// Direct-mapped: a key that falls on a taken place takes it over, so the memo never grows and never ages.
pub(super) struct Memo {
    keys: Box<[u128]>,
    counts: Box<[u32]>,
    bits: u32,
}

impl Memo {
    /// An empty memo of `1 << bits` places, of twenty bytes each.
    pub(super) fn new(bits: u32) -> Memo {
        Memo { keys: vec![0; 1 << bits].into(), counts: vec![0; 1 << bits].into(), bits }
    }

    /// The count under a key, from `count` if it is not remembered. The key 0 stands for a count of 0.
    pub(super) fn count(&mut self, key: u128, count: impl FnOnce() -> u32) -> u32 {
        let place = place(key, self.bits);
        if self.keys[place] != key {
            self.keys[place] = key;
            self.counts[place] = count();
        }
        self.counts[place]
    }
}

/// A place out of `1 << bits` for a key.
fn place(key: u128, bits: u32) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    // Only the upper bits of a product depend on all bits of what was multiplied.
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize
}

/// The longest text that [`Words`] remembers, in bytes.
pub(super) const SHORT: usize = 15;

/// The number of places in [`Words`]: as a power of two, and itself. They fill half of a usual second cache.
const PLACE_BITS: u32 = 13;
const PLACES: usize = 1 << PLACE_BITS;

/// A memo from texts of at most [`SHORT`] bytes to their token counts. The key is the text itself, so an answer is
/// never wrong. Direct-mapped, as [`Memo`]; key and count share a word, so that a look is one load.
pub(super) struct Words(Box<[u128; PLACES]>);

impl Words {
    /// An empty memo.
    pub(super) fn new() -> Words {
        let places: Box<[u128]> = vec![0; PLACES].into();
        Words(places.try_into().unwrap_or_else(|_| Box::new([0; PLACES])))
    }

    /// The tokens of `bytes[start..end]`, at most [`SHORT`] bytes, from `count` if they are not remembered.
    pub(super) fn count(
        &mut self,
        bytes: &[u8],
        start: usize,
        end: usize,
        count: impl FnOnce() -> u32,
    ) -> u32 {
        let key = short_key(bytes, start, end);
        let place = &mut self.0[place(key, PLACE_BITS) % PLACES];
        if *place & KEY != key {
            // At most one token for each of fifteen bytes, so the count fits into four bits.
            *place = key | u128::from(count()) << 124;
        }
        (*place >> 124) as u32
    }
}

/// The bits of a place that hold the key: fifteen bytes and four bits for their number.
const KEY: u128 = (1 << 124) - 1;

/// The key that `bytes[start..end]` is itself: the bytes with their number behind them, so that texts which end in
/// NUL have keys of their own. The empty text has key 0, as an empty place, and no tokens.
fn short_key(bytes: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    let padded = match bytes.get(start..start + 16).and_then(|window| window.first_chunk()) {
        // Reading sixteen bytes and cutting them is several times as fast as copying a few.
        Some(window) => u128::from_le_bytes(*window) & ((1 << (8 * len)) - 1),
        None => {
            let mut window = [0; 16];
            window[..len].copy_from_slice(&bytes[start..end]);
            u128::from_le_bytes(window)
        }
    };
    padded | (len as u128) << 120
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_keys_are_the_texts_wherever_they_stand() {
        let text = b"ab\0ab ab\0\0 and more bytes behind";
        assert_eq!(short_key(text, 0, 2), short_key(text, 3, 5));
        assert_eq!(short_key(text, 0, 2), short_key(b"ab", 0, 2));
        assert_ne!(short_key(text, 0, 2), short_key(text, 0, 3));
        assert_ne!(short_key(text, 6, 9), short_key(text, 6, 10));
        assert_eq!(short_key(text, 4, 4), 0);
    }

    #[test]
    fn words_of_any_length_are_remembered_with_their_counts() {
        let mut words = Words::new();
        let text = b"fifteen bytes!!";
        let mut missed = 0;
        for len in (0..=text.len()).chain(0..=text.len()) {
            let count = words.count(text, 0, len, || {
                missed += 1;
                len as u32
            });
            assert_eq!(count, len as u32);
        }
        // The empty text is known from the start.
        assert_eq!(missed, text.len());
    }

    #[test]
    fn a_taken_place_is_taken_over_and_never_answers_for_another_key() {
        let mut memo = Memo::new(1);
        for key in (1..50).chain(1..50) {
            assert_eq!(memo.count(key, || key as u32 * 3), key as u32 * 3);
        }
        assert_eq!(memo.count(49, || unreachable!("it was the last one asked for")), 147);
    }
}
