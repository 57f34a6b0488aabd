//! Which block of one list stands for which of another.

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// The two stand for one another.
    Both(usize, usize),
    /// Only the first list has it.
    Theirs(usize),
    /// Only the second list has it; the index in the first before which it stands.
    Ours(usize, usize),
}

/// How far is looked ahead for where two lists meet again.
const AHEAD: usize = 32;

/// Pairs the blocks of two lists in order. `alike`: the two can stand for one another; `same`: and are equal.
pub(super) fn pairs(
    theirs: usize,
    ours: usize,
    alike: &dyn Fn(usize, usize) -> bool,
    same: &dyn Fn(usize, usize) -> bool,
) -> Vec<Pair> {
    let equal = |i: usize, j: usize| alike(i, j) && same(i, j);
    let mut pairs = Vec::with_capacity(theirs.max(ours));
    let (mut i, mut j) = (0, 0);
    while i < theirs && j < ours {
        if equal(i, j) {
            pairs.push(Pair::Both(i, j));
            (i, j) = (i + 1, j + 1);
            continue;
        }
        // The nearest place where they are equal again tells what was left out or put in between.
        let meets = (1..AHEAD).find_map(|far| {
            (0..=far)
                .map(|skip| (i + skip, j + far - skip))
                .find(|&(i, j)| i < theirs && j < ours && equal(i, j))
        });
        let (to_i, to_j) = meets.unwrap_or((theirs, ours));
        // Up to there, what can stand for one another does, from the front; the rest is on one side only.
        while i < to_i || j < to_j {
            if i < to_i && j < to_j && alike(i, j) {
                pairs.push(Pair::Both(i, j));
                (i, j) = (i + 1, j + 1);
            } else if i < to_i && (j == to_j || to_i - i >= to_j - j) {
                pairs.push(Pair::Theirs(i));
                i += 1;
            } else {
                pairs.push(Pair::Ours(i, j));
                j += 1;
            }
        }
    }
    pairs.extend((i..theirs).map(Pair::Theirs));
    pairs.extend((j..ours).map(|j| Pair::Ours(i, j)));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters are equal to themselves, and alike in their kind: vowels and others.
    fn shown(theirs: &str, ours: &str) -> String {
        let (a, b): (Vec<char>, Vec<char>) = (theirs.chars().collect(), ours.chars().collect());
        let vowel = |c: char| "aeiou".contains(c);
        pairs(a.len(), b.len(), &|i, j| vowel(a[i]) == vowel(b[j]), &|i, j| a[i] == b[j])
            .into_iter()
            .map(|pair| match pair {
                Pair::Both(i, j) if a[i] == b[j] => a[i].to_string(),
                Pair::Both(i, j) => format!("{}={}", a[i], b[j]),
                Pair::Theirs(i) => format!("-{}", a[i]),
                Pair::Ours(_, j) => format!("+{}", b[j]),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn blocks_are_paired_by_what_they_are_and_say() {
        assert_eq!(shown("abc", "abc"), "a b c");
        assert_eq!(shown("abc", "axc"), "a b=x c");
        assert_eq!(shown("abc", "ac"), "a -b c");
        assert_eq!(shown("ac", "abc"), "a +b c");
        assert_eq!(shown("abcd", "aexd"), "a -b +e c=x d");
        assert_eq!(shown("", "ab"), "+a +b");
        assert_eq!(shown("ab", ""), "-a -b");
        assert_eq!(shown("bcd", "xyz"), "b=x c=y d=z");
        assert_eq!(shown("abcab", "bcab"), "-a b c a b");
    }
}
