//! How many tokens a text is: exactly where the vocabulary is public, else an estimate that says so.
//!
//! Counting is exact for [`Encoding`]s and follows edits by lines ([`LineCounter`]); other models are estimated from
//! such a count ([`Scaled`]). Special tokens that are spelled out in a text (`<|endoftext|>`) are plain text. What a
//! provider adds around messages and tools is no text and is not counted here.

mod encoding;
mod estimate;
pub mod image;
mod joints;
mod lines;
mod memo;
#[cfg(test)]
mod random;
mod split;

use std::sync::Arc;

pub use encoding::Encoding;
pub use estimate::{Method, Scaled};
pub use lines::LineCounter;

/// The tokenizer that counts: figures of two revisions may differ. A test keeps it in step with the lock file.
pub const REVISION: &str = "tiktoken 4.1.2";

/// Counts tokens of block texts. A block is tokenized on its own.
pub trait Measure {
    /// Tokens of the whole text.
    fn tokens(&mut self, text: &Arc<str>) -> u32;

    /// T(byte): tokens that end at or before `byte`.
    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32;

    /// Leading tokens that two texts have in common (exact on token ids, not only on bytes).
    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32;
}

impl<M: Measure + ?Sized> Measure for &mut M {
    fn tokens(&mut self, text: &Arc<str>) -> u32 {
        (**self).tokens(text)
    }

    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32 {
        (**self).tokens_before(text, byte)
    }

    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32 {
        (**self).shared(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts recorded with OpenAI's own implementation; the file names its version.
    const RECORDED: &str = include_str!("../../../tests/fixtures/tokens.json");

    #[test]
    fn counts_are_those_of_the_official_implementation() {
        let recorded: serde_json::Value = serde_json::from_str(RECORDED).unwrap();
        let texts = recorded["texts"].as_array().unwrap();
        assert!(texts.len() > 40);
        for encoding in [Encoding::O200k, Encoding::Cl100k] {
            let mut counter = LineCounter::new(encoding);
            for row in texts {
                let times = row["times"].as_u64().unwrap_or(1) as usize;
                let text: Arc<str> = row["text"].as_str().unwrap().repeat(times).into();
                let told = row[encoding.name()].as_u64().unwrap();
                assert_eq!(u64::from(counter.tokens(&text)), told, "{encoding}: {}", row["name"]);
            }
        }
    }
}
