//! The lines in which two texts differ.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

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
    input.update_before(a.iter().copied());
    input.update_after(b.iter().copied());
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let shifted = |range: Range<u32>| range.start as usize + prefix..range.end as usize + prefix;
    diff.hunks().map(|hunk| LineHunk { old: shifted(hunk.before), new: shifted(hunk.after) }).collect()
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

    proptest! {
        #[test]
        fn hunks_lead_from_one_text_to_the_other(
            old in prop::collection::vec("[a-d]{0,1}", 0..20), new in prop::collection::vec("[a-d]{0,1}", 0..20),
        ) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let mut made: Vec<&str> = Vec::new();
            let mut at = 0;
            for hunk in hunks(&old, &new) {
                prop_assert!(hunk.old.start >= at, "in order");
                made.extend(&old[at..hunk.old.start]);
                prop_assert_eq!(made.len(), hunk.new.start);
                made.extend(&new[hunk.new.clone()]);
                at = hunk.old.end;
            }
            made.extend(&old[at..]);
            prop_assert_eq!(made, new);
        }
    }
}
