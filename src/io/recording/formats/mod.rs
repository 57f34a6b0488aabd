//! The kinds of logs that are known: one file each. A new one is a file here and a line in [`ALL`].

mod claude_tap;
mod claude_trace;
mod litellm;
mod raw;

use crate::core::audit::{Fields, Shape};

/// All kinds, the most particular first: the last one takes what is left.
pub const ALL: &[&dyn Shape] =
    &[&claude_tap::ClaudeTap, &claude_trace::ClaudeTrace, &litellm::LiteLlm, &raw::Raw];

/// The kind that a word stands for.
#[must_use]
pub fn named(word: &str) -> Option<&'static dyn Shape> {
    ALL.iter().copied().find(|shape| shape.word() == word)
}

/// The kind that a line is of; none where it is no line of a kind that is known.
#[must_use]
pub fn detect(fields: &Fields, line: &[u8]) -> Option<&'static dyn Shape> {
    ALL.iter().copied().find(|shape| shape.fits(fields, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::audit::{Pieces, fields};

    /// The pieces of a line, read as one of a kind.
    pub(super) fn read(word: &str, line: &str) -> Option<Pieces> {
        let fields = fields(line.as_bytes()).expect("JSON");
        named(word).expect("a kind").pieces(&fields, line.as_bytes())
    }

    /// The word for the kind that a line is of.
    pub(super) fn detected(line: &str) -> Option<&'static str> {
        let fields = fields(line.as_bytes()).expect("JSON");
        detect(&fields, line.as_bytes()).map(Shape::word)
    }

    #[test]
    fn words_are_found_and_told_apart() {
        for shape in ALL {
            assert_eq!(named(shape.word()).map(Shape::title), Some(shape.title()));
        }
        assert!(named("other").is_none());
        assert_eq!(detected(r#"{"model":"m","messages":[]}"#), Some("raw"));
        assert_eq!(detected(r#"{"type":"user","message":{}}"#), None);
    }
}
