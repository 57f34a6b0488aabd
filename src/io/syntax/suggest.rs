//! "Did you mean": the known word that is nearest to an unknown one.

/// The nearest of `known` to `word`, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(3).clamp(1, 3);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// A hint for an unknown word: the nearest known one, else all of them.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = nearest(word, known.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let all: Vec<String> = known.into_iter().take(24).map(|word| format!("`{word}`")).collect();
    (!all.is_empty()).then(|| format!("known here: {}", all.join(", ")))
}

/// The number of characters to insert, delete, replace or swap with their neighbour, without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typos_and_swaps_but_not_other_words() {
        let known = ["refresh", "required", "run", "key"];
        assert_eq!(nearest("refesh", known), Some("refresh"));
        assert_eq!(nearest("refrehs", known), Some("refresh"));
        assert_eq!(nearest("Key", known), Some("key"));
        assert_eq!(nearest("budget", known), None);
        assert_eq!(hint("budget", ["a", "b"]).as_deref(), Some("known here: `a`, `b`"));
    }
}
