//! How large a text is, in the units that people and limits count in.

use serde::{Deserialize, Serialize};

use crate::core::diff::{common_prefix, common_suffix};

/// The size of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Characters (Unicode scalar values).
    pub chars: usize,
    /// UTF-8 bytes.
    pub bytes: usize,
    /// Lines, see [`lines`].
    pub lines: usize,
}

impl Counts {
    /// The size of `text`.
    #[must_use]
    pub fn of(text: &str) -> Counts {
        Counts { chars: chars(text), bytes: text.len(), lines: lines(text) }
    }
}

/// The characters (Unicode scalar values) of a text.
#[must_use]
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// The lines of a text. A line end closes a line and opens none: `""` has no line, `"a"` and `"a\n"` have one.
#[must_use]
pub fn lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    line_ends(bytes) + usize::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
}

/// The line feeds of a text.
#[must_use]
pub fn line_ends(bytes: &[u8]) -> usize {
    // Sums that fit into a byte are added sixteen and more at a time.
    let ends = |chunk: &[u8]| chunk.iter().fold(0u8, |sum, &byte| sum + u8::from(byte == b'\n'));
    bytes.chunks(255).map(|chunk| usize::from(ends(chunk))).sum()
}

/// How many characters more one text has than another. What both begin and end with is not counted.
#[must_use]
pub fn chars_more(new: &str, old: &str) -> i64 {
    let (new, old) = (new.as_bytes(), old.as_bytes());
    let same = common_prefix(new, old);
    let (new, old) = (&new[same..], &old[same..]);
    let same = common_suffix(new, old);
    // A character has one byte that goes on with none before it; where the texts are cut within one, both are.
    let first = |bytes: &[u8]| bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count() as i64;
    first(&new[..new.len() - same]) - first(&old[..old.len() - same])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_told_apart() {
        let sizes =
            [("", 0, 0, 0), ("a", 1, 1, 1), ("目录\r\n", 4, 8, 1), ("a\n\nb", 4, 4, 3), ("\n", 1, 1, 1)];
        for (text, chars, bytes, lines) in sizes {
            assert_eq!(Counts::of(text), Counts { chars, bytes, lines }, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn more_characters_are_those_of_both_counted(
            head in "[a你é🙂]{0,6}", new in "[a你é🙂]{0,6}", old in "[a你é🙂]{0,6}", tail in "[a你é🙂]{0,6}",
        ) {
            let (new, old) = (format!("{head}{new}{tail}"), format!("{head}{old}{tail}"));
            prop_assert_eq!(chars_more(&new, &old), chars(&new) as i64 - chars(&old) as i64);
        }

        #[test]
        fn lines_are_those_of_the_standard_library(text in "(a|\n|字\n){0,700}") {
            prop_assert_eq!(lines(&text), text.lines().count());
        }
    }
}
