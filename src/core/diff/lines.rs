//! The lines in which two texts differ.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token};

use crate::core::text::count::line_ends;

/// Lines of one text that stand where other lines stand in another text; one of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHunk {
    /// Lines of the old text, from 0.
    pub old: Range<usize>,
    /// Lines of the new text.
    pub new: Range<usize>,
}

/// The differences between two lists of lines, in order. What is equal at both ends is trimmed first, so that one changed
/// line costs no more than finding it.
#[must_use]
pub fn hunks(old: &[&str], new: &[&str]) -> Vec<LineHunk> {
    let len = old.len().min(new.len());
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let suffix = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let suffix = suffix.min(len - prefix);
    let (a, b) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let whole = || LineHunk { old: prefix..old.len() - suffix, new: prefix..new.len() - suffix };
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Vec::new(),
        (true, false) | (false, true) => return vec![whole()],
        (false, false) => {}
    }
    let mut input: InternedInput<&str> = InternedInput::default();
    for (lines, own) in [(a, true), (b, false)] {
        let tokens = named(lines, &mut input.interner);
        *(if own { &mut input.before } else { &mut input.after }) = tokens;
    }
    let mut out = Vec::new();
    if a.len() + b.len() > LARGE {
        between_anchors(&input.before, &input.after, input.interner.num_tokens() as usize, LARGE, &mut out);
    } else {
        of_tokens(&input.before, &input.after, input.interner.num_tokens(), 0, &mut out);
    }
    let shifted = |range: Range<usize>| range.start + prefix..range.end + prefix;
    out.into_iter().map(|hunk| LineHunk { old: shifted(hunk.old), new: shifted(hunk.new) }).collect()
}

/// The tokens of lines. One that is the line before it again, as in long runs of empty ones, is not looked up.
fn named<'l>(lines: &[&'l str], interner: &mut Interner<&'l str>) -> Vec<Token> {
    let mut last: Option<(&str, Token)> = None;
    let name = |line: &&'l str| match last {
        Some((before, token)) if before == *line => token,
        _ => {
            let token = interner.intern(*line);
            last = Some((line, token));
            token
        }
    };
    lines.iter().map(name).collect()
}

/// From so many lines on, both texts together, lines that stand once in each are aligned first: what takes long otherwise
/// is two long texts whose parts stand in another order.
const LARGE: usize = 3000;

/// The differences of two lists of tokens, `at` lines into both.
fn of_tokens(a: &[Token], b: &[Token], tokens: u32, at: usize, out: &mut Vec<LineHunk>) {
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Histogram, a, b, tokens);
    let shifted = |range: Range<u32>| range.start as usize + at..range.end as usize + at;
    out.extend(diff.hunks().map(|hunk| LineHunk { old: shifted(hunk.before), new: shifted(hunk.after) }));
}

/// The same between lines that stand once in each text, in the same order. Where `large` lines and more are left between
/// two of them, they are one difference.
fn between_anchors(a: &[Token], b: &[Token], tokens: usize, large: usize, out: &mut Vec<LineHunk>) {
    // How often each token stands in a text, and where.
    let places = |list: &[Token]| {
        let mut places = vec![(0u32, 0usize); tokens];
        for (at, token) in list.iter().enumerate() {
            let place = &mut places[token.0 as usize];
            *place = (place.0 + 1, at);
        }
        places
    };
    let (in_a, in_b) = (places(a), places(b));
    let once = a.iter().enumerate().filter_map(|(i, token)| {
        let (count, j) = in_b[token.0 as usize];
        (in_a[token.0 as usize].0 == 1 && count == 1).then_some((i, j))
    });
    let mut anchors = longest_ascending(&once.collect::<Vec<_>>());
    anchors.push((a.len(), b.len()));
    let (mut i, mut j) = (0, 0);
    for (to_i, to_j) in anchors {
        let (mut x, mut y) = (&a[i..to_i], &b[j..to_j]);
        let head = x.iter().zip(y).take_while(|(p, q)| p == q).count();
        (x, y) = (&x[head..], &y[head..]);
        let tail = x.iter().rev().zip(y.iter().rev()).take_while(|(p, q)| p == q).count();
        (x, y) = (&x[..x.len() - tail], &y[..y.len() - tail]);
        let (old, new) = (i + head, j + head);
        (i, j) = (to_i + 1, to_j + 1);
        if x.is_empty() && y.is_empty() {
            continue;
        }
        if x.is_empty() || y.is_empty() || x.len() + y.len() > large {
            out.push(LineHunk { old: old..old + x.len(), new: new..new + y.len() });
        } else {
            let mut own = Vec::new();
            // The tokens of a few lines are renamed, so that what is counted is as short as the lines.
            let mut short: InternedInput<u32> = InternedInput::default();
            short.update_before(x.iter().map(|token| token.0));
            short.update_after(y.iter().map(|token| token.0));
            of_tokens(&short.before, &short.after, short.interner.num_tokens(), 0, &mut own);
            out.extend(own.into_iter().map(|hunk| LineHunk {
                old: hunk.old.start + old..hunk.old.end + old,
                new: hunk.new.start + new..hunk.new.end + new,
            }));
        }
    }
}

/// The longest list of pairs, ascending in the first already, that ascends in the second as well.
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair with the smallest end; for each pair the one in front of it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, j)) in pairs.iter().enumerate() {
        let len = ends.partition_point(|end| pairs[*end].1 < *j);
        before.push(len.checked_sub(1).map(|len| ends[len]));
        if len == ends.len() {
            ends.push(index);
        } else {
            ends[len] = index;
        }
    }
    let mut out = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(index) = at {
        out.push(pairs[index]);
        at = before[index];
    }
    out.reverse();
    out
}

/// The lines of a text, without their line feeds. A line feed at its end begins no line of its own.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line))
}

/// The same as a list, byte by byte: lines may be short and many.
fn list(text: &str) -> Vec<&str> {
    let mut lines = Vec::with_capacity(line_ends(text.as_bytes()) + 1);
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'\n' {
            lines.push(&text[start..at]);
            start = at + 1;
        }
    }
    if start < text.len() {
        lines.push(&text[start..]);
    }
    lines
}

/// The differences between the lines of two texts, in order. What the texts have in common at both ends is found at the
/// speed of comparing memory, and only what is left is taken apart. A line feed that only one text ends with is none.
#[must_use]
pub fn of_texts(old: &str, new: &str) -> Vec<LineHunk> {
    let (left, right) = super::differing(old, new);
    if left.is_empty() && right.is_empty() {
        return Vec::new();
    }
    // Up to here both texts are the same, so that what is counted in one holds for the other.
    let start = old[..left.start].rfind('\n').map_or(0, |at| at + 1);
    let behind = |text: &str, from: usize| {
        let rest = &text[from..];
        from + rest.find('\n').map_or(rest.len(), |at| at + 1)
    };
    let (a, b) = (&old[start..behind(old, left.end)], &new[start..behind(new, right.end)]);
    let first = line_ends(&old.as_bytes()[..start]);
    let (a, b) = (list(a), list(b));
    let shifted = |range: Range<usize>| range.start + first..range.end + first;
    hunks(&a, &b)
        .into_iter()
        .map(|hunk| LineHunk { old: shifted(hunk.old), new: shifted(hunk.new) })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_place_is_a_hunk_of_its_own() {
        let old = ["a", "b", "c", "d", "e"];
        let new = ["a", "B", "c", "e", "f"];
        let found = hunks(&old, &new);
        let pairs: Vec<(Range<usize>, Range<usize>)> = found.into_iter().map(|h| (h.old, h.new)).collect();
        assert_eq!(pairs, [(1..2, 1..2), (3..4, 3..3), (5..5, 4..5)]);
        assert_eq!(hunks(&old, &old), []);
    }

    #[test]
    fn a_list_holds_the_lines_of_a_text() {
        for text in ["", "\n", "a", "a\n", "\n\na\n你\n\nb"] {
            assert_eq!(list(text), split(text).collect::<Vec<_>>(), "{text:?}");
        }
    }

    /// The old list with what the hunks say: what they leave alone, and their pieces of the new one.
    fn applied<T: Clone>(hunks: &[LineHunk], old: &[T], new: &[T]) -> Vec<T> {
        let mut made: Vec<T> = Vec::new();
        let mut at = 0;
        for hunk in hunks {
            assert!(hunk.old.start >= at, "in order");
            made.extend_from_slice(&old[at..hunk.old.start]);
            assert_eq!(made.len(), hunk.new.start);
            made.extend_from_slice(&new[hunk.new.clone()]);
            at = hunk.old.end;
        }
        made.extend_from_slice(&old[at..]);
        made
    }

    /// True for a hunk that changes something.
    fn changes(hunk: &LineHunk) -> bool {
        !(hunk.old.is_empty() && hunk.new.is_empty())
    }

    proptest! {
        #[test]
        fn hunks_lead_from_one_text_to_the_other(
            old in prop::collection::vec("[a-d]{0,1}", 0..20), new in prop::collection::vec("[a-d]{0,1}", 0..20),
        ) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            prop_assert_eq!(applied(&hunks(&old, &new), &old, &new), new);
        }

        #[test]
        fn anchors_lead_there_as_well(
            old in prop::collection::vec(0u32..12, 0..20), new in prop::collection::vec(0u32..12, 0..20), large in 0usize..12,
        ) {
            let tokens = |list: &[u32]| list.iter().map(|token| Token(*token)).collect::<Vec<_>>();
            let mut found = Vec::new();
            between_anchors(&tokens(&old), &tokens(&new), 12, large, &mut found);
            prop_assert!(found.iter().all(changes));
            prop_assert_eq!(applied(&found, &old, &new), new);
        }

        #[test]
        fn so_they_do_in_whole_texts(old in "[ab字\n]{0,24}", new in "[ab字\n]{0,24}") {
            let (before, after): (Vec<&str>, Vec<&str>) = (split(&old).collect(), split(&new).collect());
            let found = of_texts(&old, &new);
            prop_assert!(found.iter().all(changes));
            prop_assert_eq!(applied(&found, &before, &after), after);
        }
    }
}
