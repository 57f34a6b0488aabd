//! The words in which two texts differ.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::lines::hunks as of_lists;

/// Bytes of one text that stand where other bytes stand in another text; one of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordHunk {
    /// Bytes of the old text.
    pub old: Range<usize>,
    /// Bytes of the new text.
    pub new: Range<usize>,
}

/// The differences between two texts, in order, as whole words (Unicode's word boundaries: a Chinese character, a sign
/// and a run of spaces are words of their own).
#[must_use]
pub fn hunks(old: &str, new: &str) -> Vec<WordHunk> {
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.split_word_bounds().collect(), new.split_word_bounds().collect());
    let (starts_a, starts_b) = (starts(&a), starts(&b));
    of_lists(&a, &b)
        .into_iter()
        .map(|hunk| WordHunk {
            old: starts_a[hunk.old.start]..starts_a[hunk.old.end],
            new: starts_b[hunk.new.start]..starts_b[hunk.new.end],
        })
        .collect()
}

/// Where each word begins, and behind them where the last one ends.
fn starts(words: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::with_capacity(words.len() + 1);
    starts.push(0);
    for word in words {
        at += word.len();
        starts.push(at);
    }
    starts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(old: &str, new: &str) -> Vec<(String, String)> {
        hunks(old, new).into_iter().map(|h| (old[h.old].to_owned(), new[h.new].to_owned())).collect()
    }

    #[test]
    fn whole_words_differ() {
        let pair = |old: &str, new: &str| vec![(old.to_owned(), new.to_owned())];
        assert_eq!(pairs("work in /home/shop now", "work in /home/shop/api now"), pair("", "/api"));
        assert_eq!(pairs("be careful", "be carefree"), pair("careful", "carefree"));
        assert_eq!(pairs("当前目录", "当前文件目录"), pair("", "文件"));
        assert_eq!(pairs("a b", "a  b"), pair(" ", "  "));
        assert_eq!(pairs("same", "same"), []);
    }

    proptest! {
        #[test]
        fn hunks_lead_from_one_text_to_the_other(old in "[ab环é \n]{0,24}", new in "[ab环é \n]{0,24}") {
            let mut made = String::new();
            let mut at = 0;
            for hunk in hunks(&old, &new) {
                made.push_str(&old[at..hunk.old.start]);
                prop_assert_eq!(made.len(), hunk.new.start);
                made.push_str(&new[hunk.new.clone()]);
                at = hunk.old.end;
            }
            made.push_str(&old[at..]);
            prop_assert_eq!(made, new);
        }
    }
}
