//! Where inside a part two texts begin to differ, and what of them to show.

use std::ops::Range;
use std::sync::Arc;

use crate::core::text::{Made, Origin, Part, Traced};

/// The first difference inside a part.
#[derive(Debug)]
pub(super) struct Pin {
    /// Bytes of the part's own text that are equal.
    pub offset: usize,
    /// Who wrote the bytes that differ.
    pub origin: Option<Arc<Origin>>,
    /// The offset of the difference in the bytes of that origin.
    pub into: usize,
    /// What to show of the old text.
    pub old: String,
    /// What to show of the new text.
    pub new: String,
}

/// The length of the longest common beginning of two texts, in bytes, at a character boundary.
pub(super) fn common(a: &str, b: &str) -> usize {
    let (x, y) = (a.as_bytes(), b.as_bytes());
    let end = x.len().min(y.len());
    // Blocks first: comparing slices is far faster than comparing bytes.
    let mut at = 0;
    while at + 64 <= end && x[at..at + 64] == y[at..at + 64] {
        at += 64;
    }
    while at < end && x[at] == y[at] {
        at += 1;
    }
    while !a.is_char_boundary(at) || !b.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The spans of a part's own text.
fn spans<'a>(text: &'a Traced, part: &Part) -> Vec<(Range<usize>, &'a Arc<Origin>)> {
    let first = text.spans().partition_point(|span| span.end <= part.body);
    let mut start = part.body;
    let inside = text.spans()[first..].iter().take_while(|span| span.end <= part.end);
    inside.map(|span| (std::mem::replace(&mut start, span.end)..span.end, &span.origin)).collect()
}

/// True when two runs of bytes were made in the same way from the same place.
fn alike(a: &Origin, b: &Origin) -> bool {
    let text = |source: &crate::core::text::Source, range: &Range<usize>| {
        source.text.get(range.clone()).map(str::to_owned)
    };
    match (&a.made, &b.made) {
        (Made::Verbatim { source: a, .. }, Made::Verbatim { source: b, .. }) => a.name == b.name,
        (Made::Derived { source: a, range: x }, Made::Derived { source: b, range: y }) => {
            a.name == b.name && text(a, x) == text(b, y)
        }
        (Made::Fact { key: a, .. }, Made::Fact { key: b, .. }) => a == b,
        (Made::Literal, Made::Literal) => true,
        _ => false,
    }
}

/// Finds the first difference between two texts of a part. Spans are compared before bytes: where a placeholder's
/// value became longer, the byte that differs in the old text is already the next author's.
pub(super) fn pin(a: &Traced, old: &Part, b: &Traced, new: &Part) -> Pin {
    let offset = common(&a[old], &b[new]);
    let (old_spans, new_spans) = (spans(a, old), spans(b, new));
    let value = |text: &Traced, range: &Range<usize>| text.text()[range.clone()].to_owned();
    let written = |made: &Made| matches!(made, Made::Fact { .. } | Made::Derived { .. });
    for at in 0.. {
        let (Some((x, from)), Some((y, to))) = (old_spans.get(at), new_spans.get(at)) else { break };
        if alike(from, to) {
            if a.text()[x.clone()] == b.text()[y.clone()] {
                continue;
            }
            if written(&to.made) {
                let (was, is) = windows(&value(a, x), &value(b, y), true);
                let into = (new.body + offset).saturating_sub(y.start).min(y.len());
                return Pin { offset, origin: Some((*to).clone()), into, old: was, new: is };
            }
            break;
        }
        // A placeholder that is empty on one side has no span there.
        if written(&from.made) && old_spans.get(at + 1).is_some_and(|(_, next)| alike(next, to)) {
            let origin = Some((*from).clone());
            return Pin { offset, origin, into: 0, old: clip(&a.text()[x.clone()]), new: String::new() };
        }
        if written(&to.made) && new_spans.get(at + 1).is_some_and(|(_, next)| alike(from, next)) {
            let origin = Some((*to).clone());
            return Pin { offset, origin, into: 0, old: String::new(), new: clip(&b.text()[y.clone()]) };
        }
        break;
    }
    let at = |text: &Traced, part: &Part| {
        let byte = part.body + offset;
        (byte < part.end)
            .then(|| text.span_at(byte))
            .flatten()
            .map(|(range, span)| (byte - range.start, span.origin.clone()))
    };
    let (into, origin) =
        at(b, new).or_else(|| at(a, old)).map_or((0, None), |(into, origin)| (into, Some(origin)));
    let (was, is) = windows(&a[old], &b[new], false);
    Pin { offset, origin, into, old: was, new: is }
}

/// Characters that are shown in front of a difference.
const BEFORE: usize = 24;
/// Characters that are shown behind a difference, where both texts go on in the same way.
const AFTER: usize = 8;
/// Characters that are shown at most.
const SHOWN: usize = 60;

/// The parts of two texts around their first difference: both whole where they are short (a value over several lines,
/// too), else from a little in front of it to a little behind it, in its line.
fn windows(old: &str, new: &str, value: bool) -> (String, String) {
    let short = |text: &str| {
        text.chars().nth(SHOWN).is_none() && (value || !text.trim_end_matches('\n').contains('\n'))
    };
    if short(old) && short(new) {
        return (old.to_owned(), new.to_owned());
    }
    let offset = common(old, new);
    let line = old[..offset].rfind('\n').map_or(0, |at| at + 1);
    let from = old[line..offset].char_indices().rev().take(BEFORE).last().map_or(offset, |(at, _)| line + at);
    // The rest of the line. A line end is shown only where it is the difference: where the other text has none.
    let rest = |text: &str, other: &str| {
        let shown = if other[offset..].contains('\n') { 0 } else { 1 };
        let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at.max(shown));
        offset..end
    };
    let (old_rest, new_rest) = (rest(old, new), rest(new, old));
    let same: usize = old[old_rest.clone()]
        .chars()
        .rev()
        .zip(new[new_rest.clone()].chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let window = |text: &str, rest: Range<usize>| {
        let tail = &text[rest.end - same..rest.end];
        let (kept, more) = match tail.char_indices().nth(AFTER) {
            Some((at, _)) => (at, "…"),
            None => (tail.len(), ""),
        };
        let cut = if from > 0 && from > line { "…" } else { "" };
        let shown = clip(&text[from..rest.end - same + kept]);
        let more = if shown.ends_with('…') { "" } else { more };
        format!("{cut}{shown}{more}")
    };
    (window(old, old_rest), window(new, new_rest))
}

/// The beginning of a text.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_beginnings_end_between_characters() {
        assert_eq!(common("abc", "abd"), 2);
        assert_eq!(common("目录", "目标"), 3);
        assert_eq!(common("é", "è"), 0);
        let long = "x".repeat(1_000);
        assert_eq!(common(&format!("{long}a"), &format!("{long}b")), 1_000);
        assert_eq!(common(&long, &long), 1_000);
    }

    #[test]
    fn windows_show_the_difference() {
        assert_eq!(
            windows("/home/shop", "/home/shop/api", true),
            ("/home/shop".into(), "/home/shop/api".into())
        );
        let (old, new) = windows("first\nthe second line", "first\nthe second line\n", false);
        assert_eq!((old.as_str(), new.as_str()), ("the second line", "the second line\n"));
        let before = "a ".repeat(100);
        let (old, new) = windows(&format!("{before}cat\nrest"), &format!("{before}dog\nrest"), true);
        assert!(old.starts_with('…') && old.ends_with("cat") && new.ends_with("dog"), "{old} {new}");
        // A long line is not repeated on both sides.
        let line = |one: char| {
            format!("你是 xbot，一{one}在团队聊天渠道里工作的软件工程助手。{}", "读代码，".repeat(30))
        };
        let (old, new) = windows(&line('名'), &line('位'), false);
        assert_eq!((&*old, &*new), ("你是 xbot，一名在团队聊天渠道里…", "你是 xbot，一位在团队聊天渠道里…"));
        // The line goes on in one of them: the line end that both have behind it is not the difference.
        let (old, new) = windows(&format!("{before}\n"), &format!("{before}and more\n"), false);
        assert!(old.ends_with("a ") && new.ends_with("a and more"), "{old} {new}");
    }
}
