//! The two public encodings and their tables.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tiktoken::CoreBpe;

use super::joints::Joints;
use super::memo::{SHORT, Words};
use super::split;

/// A public vocabulary, counted exactly. Special tokens that are spelled out in a text are plain text to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o and later.
    #[serde(rename = "o200k_base")]
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    #[serde(rename = "cl100k_base")]
    Cl100k,
}

impl Encoding {
    /// The name that its publisher gave it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::O200k => "o200k_base",
            Encoding::Cl100k => "cl100k_base",
        }
    }

    /// The encoding of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Encoding> {
        [Encoding::O200k, Encoding::Cl100k].into_iter().find(|encoding| encoding.name() == name)
    }

    /// True when the tables are there and counting starts at once.
    #[must_use]
    pub fn is_loaded(self) -> bool {
        self.cell().get().is_some()
    }

    /// Builds the tables if they are not there yet: about a tenth of a second and 27 MB for o200k, for as long as the
    /// program runs. A second thread that asks meanwhile waits for the first.
    pub fn load(self) {
        self.tables();
    }

    pub(super) fn tables(self) -> &'static Tables {
        self.cell().get_or_init(|| Tables::build(self))
    }

    fn cell(self) -> &'static OnceLock<Tables> {
        static O200K: OnceLock<Tables> = OnceLock::new();
        static CL100K: OnceLock<Tables> = OnceLock::new();
        match self {
            Encoding::O200k => &O200K,
            Encoding::Cl100k => &CL100K,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What counting in one encoding needs.
pub(super) struct Tables {
    bpe: &'static CoreBpe,
    pub(super) joints: Joints,
}

impl Tables {
    fn build(encoding: Encoding) -> Tables {
        let bpe = tiktoken::get_encoding(encoding.name()).expect("both vocabularies are compiled in");
        Tables { bpe, joints: Joints::of(encoding) }
    }

    /// Token ids of a text.
    pub(super) fn ids(&self, text: &str) -> Vec<u32> {
        self.bpe.encode(text)
    }

    /// Tokens of a text, which is cut where it can be; short pieces are looked up first.
    pub(super) fn count(&self, text: &str, words: &mut Words) -> u32 {
        let (mut start, mut total) = (0, 0);
        split::cuts(text, &self.joints, |at, _| {
            total += self.count_piece(text, start, at, words);
            start = at;
            true
        });
        total + self.count_piece(text, start, text.len(), words)
    }

    /// Tokens of `text[start..end]`, which holds no place where it could be cut.
    pub(super) fn count_piece(&self, text: &str, start: usize, end: usize, words: &mut Words) -> u32 {
        // A text has at most one token for each byte, and blocks are far below 4 GiB.
        let count = || self.bpe.count(&text[start..end]) as u32;
        if end - start > SHORT { count() } else { words.count(text.as_bytes(), start, end, count) }
    }

    /// Tokens of `text` that end at or before `byte`.
    pub(super) fn count_before(&self, text: &str, byte: usize, words: &mut Words) -> u32 {
        if byte >= text.len() {
            return self.count(text, words);
        }
        let (mut start, mut end, mut total) = (0, text.len(), 0);
        split::cuts(text, &self.joints, |at, _| {
            if at > byte {
                end = at;
                return false;
            }
            total += self.count_piece(text, start, at, words);
            start = at;
            true
        });
        // Most parts of a prompt begin where a text can be cut.
        if start == byte {
            return total;
        }
        let mut at = start;
        for id in self.ids(&text[start..end]) {
            at += self.bpe.decode(&[id]).len();
            if at > byte {
                break;
            }
            total += 1;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_encodings() {
        for encoding in [Encoding::O200k, Encoding::Cl100k] {
            assert_eq!(Encoding::named(encoding.name()), Some(encoding));
            assert_eq!(serde_json::to_value(encoding).unwrap(), encoding.name());
        }
        assert_eq!(Encoding::named("p50k_base"), None);
    }

    #[test]
    fn loading_once_is_enough() {
        Encoding::Cl100k.load();
        assert!(Encoding::Cl100k.is_loaded());
        assert!(std::ptr::eq(Encoding::Cl100k.tables(), Encoding::Cl100k.tables()));
    }
}
