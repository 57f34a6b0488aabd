//! The words in which two texts differ.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use unicode_segmentation::UnicodeSegmentation;

/// Words of one text that stand where other words stand in another text; one of the two may be empty. Byte ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordHunk {
    /// Of the old text.
    pub old: Range<usize>,
    /// Of the new text.
    pub new: Range<usize>,
}

/// The words of a text, by Unicode's rules for word boundaries (UAX #29), spaces and punctuation between them included.
/// Scripts without spaces between words are taken character by character.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split_word_bounds().flat_map(|word| {
        let single = word.chars().any(without_spaces);
        let pieces = word.grapheme_indices(true).filter(move |_| single).map(|(_, piece)| piece);
        pieces.chain((!single).then_some(word))
    })
}

/// Kana and ideographs.
fn without_spaces(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The differences between two texts, in order, as whole words. Two that only spaces separate are one.
#[must_use]
pub fn hunks(old: &str, new: &str) -> Vec<WordHunk> {
    let (left, right) = super::differing(old, new);
    if left.is_empty() && right.is_empty() {
        return Vec::new();
    }
    // What both have at their ends is left out, but for the words in which the difference stands.
    let start = word_start(old, left.start).min(word_start(new, right.start));
    let behind = word_end(old, left.end).max(word_end(new, right.end));
    let (a, b) = (&old[start..left.end + behind], &new[start..right.end + behind]);
    let (before, after): (Vec<&str>, Vec<&str>) = (split(a).collect(), split(b).collect());
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let (old_at, new_at) = (offsets(&before, start), offsets(&after, start));
    let mut hunks: Vec<WordHunk> = Vec::new();
    for hunk in diff.hunks() {
        let old_range = old_at[hunk.before.start as usize]..old_at[hunk.before.end as usize];
        let new_range = new_at[hunk.after.start as usize]..new_at[hunk.after.end as usize];
        match hunks.last_mut() {
            Some(last) if is_gap(&old[last.old.end..old_range.start]) => {
                (last.old.end, last.new.end) = (old_range.end, new_range.end);
            }
            _ => hunks.push(WordHunk { old: old_range, new: new_range }),
        }
    }
    hunks
}

/// Spaces on one line.
fn is_gap(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Where each word begins, and where the last one ends.
fn offsets(words: &[&str], start: usize) -> Vec<usize> {
    let ends = words.iter().scan(start, |at, word| {
        *at += word.len();
        Some(*at)
    });
    std::iter::once(start).chain(ends).collect()
}

/// The start of the word, with the spaces behind it, in which a byte stands.
fn word_start(text: &str, byte: usize) -> usize {
    let before = text[..byte].trim_end_matches(char::is_whitespace);
    before.len() - before.chars().rev().take_while(|c| !c.is_whitespace()).map(char::len_utf8).sum::<usize>()
}

/// The bytes up to the end of the word, with the spaces in front of it, in which a byte stands.
fn word_end(text: &str, byte: usize) -> usize {
    let behind = text[byte..].trim_start_matches(char::is_whitespace);
    let word: usize = behind.chars().take_while(|c| !c.is_whitespace()).map(char::len_utf8).sum();
    text.len() - byte - behind.len() + word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(old: &str, new: &str) -> Vec<(String, String)> {
        hunks(old, new).into_iter().map(|hunk| (old[hunk.old].to_owned(), new[hunk.new].to_owned())).collect()
    }

    fn texts(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn differences_are_words() {
        for (old, new, want) in [
            ("cwd: /home/shop", "cwd: /home/shop/api", vec![("", "/api")]),
            ("fix the bug now", "fix this bug now", vec![("the", "this")]),
            ("fix the bug", "mend a fault", vec![("fix the bug", "mend a fault")]),
            ("目录是上海。", "目录是北京。", vec![("上海", "北京")]),
            ("先读后写", "先读再后写", vec![("", "再")]),
            ("a  b", "a b", vec![("  ", " ")]),
            ("be careful", "be carefree", vec![("careful", "carefree")]),
            ("当前目录", "当前文件目录", vec![("", "文件")]),
            ("same", "same", vec![]),
            ("", "new", vec![("", "new")]),
        ] {
            assert_eq!(shown(old, new), texts(&want), "{old:?} {new:?}");
        }
        assert_eq!(
            split("do it: 目录カタ x_y").collect::<Vec<_>>(),
            ["do", " ", "it", ":", " ", "目", "录", "カ", "タ", " ", "x_y"]
        );
    }

    fn prose() -> impl Strategy<Value = String> {
        prop::collection::vec(
            prop::sample::select(vec![
                "fix", "the", " ", " ", "bug", "目", "录", ".", "\n", "/home", "🙂", "e\u{301}", "カ",
            ]),
            0..24,
        )
        .prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn words_lead_from_one_text_to_the_other(old in prose(), new in prose()) {
            let mut made = String::new();
            let mut at = 0;
            for hunk in hunks(&old, &new) {
                prop_assert!(hunk.old.start >= at && !(hunk.old.is_empty() && hunk.new.is_empty()));
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
