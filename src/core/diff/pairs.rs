//! Which changed line of a text became which line of another one, and the words that differ in it.

use std::ops::Range;

use super::words::{WordHunk, hunks};

/// Longer texts are not compared by words: whole lines are marked.
const LONGEST: usize = 256 * 1024;

/// A line that changed, or one that is on one side only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// The line of the old text, from 0, and the bytes of it that are not in the new one.
    pub old: Option<(usize, Vec<Range<usize>>)>,
    /// The line of the new text, and the bytes of it that were not in the old one.
    pub new: Option<(usize, Vec<Range<usize>>)>,
}

/// Which of the `old` lines became which of the `new` lines, in order, with the words that differ. Lines that share less
/// than half of their letters are no pair: the old ones among them stand in front of the new ones, without words.
#[must_use]
pub fn pairs(old: &[&str], new: &[&str]) -> Vec<Pair> {
    let size = |lines: &[&str]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let (old_size, new_size) = (size(old), size(new));
    if old_size.max(new_size) > LONGEST || old.is_empty() || new.is_empty() {
        return alone(0..old.len(), 0..new.len()).collect();
    }
    let (a, b) = (Lines::new(old), Lines::new(new));
    let found = hunks(&a.text, &b.text);
    let mut out = Vec::new();
    let (mut old_next, mut new_next) = (0, 0);
    for (i, j) in kin(&a, &b, &found) {
        out.extend(alone(old_next..i, new_next..j));
        let marks = |lines: &Lines, line: usize, side: fn(&WordHunk) -> &Range<usize>| {
            let own = lines.range(line);
            let cut = |hunk: &WordHunk| {
                let range = side(hunk);
                let (start, end) = (range.start.max(own.start), range.end.min(own.end));
                (start < end).then(|| start - own.start..end - own.start)
            };
            found.iter().filter_map(cut).collect()
        };
        out.push(Pair {
            old: Some((i, marks(&a, i, |hunk| &hunk.old))),
            new: Some((j, marks(&b, j, |hunk| &hunk.new))),
        });
        (old_next, new_next) = (i + 1, j + 1);
    }
    out.extend(alone(old_next..old.len(), new_next..new.len()));
    out
}

fn alone(old: Range<usize>, new: Range<usize>) -> impl Iterator<Item = Pair> {
    let old = old.map(|line| Pair { old: Some((line, Vec::new())), new: None });
    old.chain(new.map(|line| Pair { old: None, new: Some((line, Vec::new())) }))
}

/// Lines joined, and where each begins.
struct Lines {
    text: String,
    starts: Vec<usize>,
    /// The letters of each line.
    letters: Vec<usize>,
}

impl Lines {
    fn new(lines: &[&str]) -> Lines {
        let mut out = Lines { text: String::new(), starts: Vec::new(), letters: Vec::new() };
        for line in lines {
            out.starts.push(out.text.len());
            out.letters.push(letters(line));
            out.text.push_str(line);
            out.text.push('\n');
        }
        out
    }

    fn range(&self, line: usize) -> Range<usize> {
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| *next);
        self.starts[line]..end - 1
    }

    fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

/// The pairs of lines that share at least half of the letters of the shorter one, in order on both sides.
fn kin(a: &Lines, b: &Lines, hunks: &[WordHunk]) -> Vec<(usize, usize)> {
    // What is equal stands between the hunks; a piece of it is in one line of each side.
    let mut shared: Vec<(usize, usize, usize)> = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for hunk in hunks
        .iter()
        .map(|hunk| (hunk.old.clone(), hunk.new.clone()))
        .chain([(a.text.len()..a.text.len(), b.text.len()..b.text.len())])
    {
        for piece in a.text[old_at..hunk.0.start].split_inclusive('\n') {
            let count = letters(piece);
            if count > 0 {
                let (i, j) = (a.line(old_at), b.line(new_at));
                match shared.last_mut() {
                    Some((last_i, last_j, sum)) if (*last_i, *last_j) == (i, j) => *sum += count,
                    _ => shared.push((i, j, count)),
                }
            }
            old_at += piece.len();
            new_at += piece.len();
        }
        (old_at, new_at) = (hunk.0.end, hunk.1.end);
    }
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (i, j, count) in shared {
        let enough = count * 2 >= a.letters[i].min(b.letters[j]);
        if enough && out.last().is_none_or(|last| last.0 < i && last.1 < j) {
            out.push((i, j));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_paired_with_what_became_of_it() {
        let old = ["Work in /home/shop.", "Be brief.", "one two three four"];
        let new = ["An entirely new line", "Work in /home/shop/api.", "nothing alike at all"];
        let found = pairs(&old, &new);
        let lines = |pair: &Pair| {
            (pair.old.as_ref().map(|(line, _)| *line), pair.new.as_ref().map(|(line, _)| *line))
        };
        assert_eq!(
            found.iter().map(lines).collect::<Vec<_>>(),
            [(None, Some(0)), (Some(0), Some(1)), (Some(1), None), (Some(2), None), (None, Some(2))]
        );
        let (_, marks) = found[1].new.as_ref().expect("a new line");
        assert_eq!(marks.iter().map(|mark| &new[1][mark.clone()]).collect::<Vec<_>>(), ["/api"]);
        assert_eq!(found[1].old.as_ref().map(|(_, marks)| marks.len()), Some(0));
    }

    proptest! {
        #[test]
        fn every_line_is_in_one_pair_in_order(
            old in prop::collection::vec("[a-c 字]{0,6}", 0..8), new in prop::collection::vec("[a-c 字]{0,6}", 0..8),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let found = pairs(&old, &new);
            let olds: Vec<usize> = found.iter().filter_map(|pair| Some(pair.old.as_ref()?.0)).collect();
            let news: Vec<usize> = found.iter().filter_map(|pair| Some(pair.new.as_ref()?.0)).collect();
            prop_assert_eq!(olds, (0..old.len()).collect::<Vec<_>>());
            prop_assert_eq!(news, (0..new.len()).collect::<Vec<_>>());
            for pair in &found {
                if let (Some((i, a)), Some((j, b))) = (&pair.old, &pair.new) {
                    // Without what is marked, both lines say the same.
                    let rest = |line: &str, marks: &[Range<usize>]| {
                        let mut rest = String::new();
                        let mut at = 0;
                        for mark in marks {
                            rest.push_str(&line[at..mark.start]);
                            at = mark.end;
                        }
                        rest + &line[at..]
                    };
                    let (a, b) = (rest(old[*i], a), rest(new[*j], b));
                    prop_assert!(!a.trim().is_empty() && !b.trim().is_empty(), "{:?}", found);
                }
            }
        }
    }
}
