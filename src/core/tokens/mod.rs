//! How many tokens a text is: exactly where the vocabulary is public, else an estimate that says so.

use std::sync::Arc;

/// Counts tokens of block texts. A block is tokenized on its own.
pub trait Measure {
    /// Tokens of the whole text.
    fn tokens(&mut self, text: &Arc<str>) -> u32;

    /// T(byte): tokens that end at or before `byte`.
    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32;

    /// Leading tokens that two texts have in common (exact on token ids, not only on bytes).
    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32;
}
