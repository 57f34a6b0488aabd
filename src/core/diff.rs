//! Where two texts begin to differ, and how to say so in a line.

pub mod lines;
pub mod pairs;
pub mod prompt;
pub mod words;

use std::ops::Range;

/// How many bytes are compared at a time: large enough for the comparison of slices to run at full speed, small
/// enough that the block with the difference is still in the first cache when it is looked at closely.
const BLOCK: usize = 4096;

/// The number of leading bytes that two texts have in common. It need not be a character boundary.
#[must_use]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    // Most pairs of texts differ early or not at all, so the first bytes are tried before whole blocks are.
    let mut at = 0;
    let mut step = 64;
    while at < len {
        let end = len.min(at + step);
        if a[at..end] != b[at..end] {
            return at + narrow(&a[at..end], &b[at..end]);
        }
        at = end;
        step = (step * 4).min(BLOCK);
    }
    len
}

/// The first difference of two slices of one length that do differ: halves until a few bytes are left.
fn narrow(mut a: &[u8], mut b: &[u8]) -> usize {
    let mut skipped = 0;
    while a.len() > 16 {
        let half = a.len() / 2;
        if a[..half] == b[..half] {
            skipped += half;
            (a, b) = (&a[half..], &b[half..]);
        } else {
            (a, b) = (&a[..half], &b[..half]);
        }
    }
    skipped + a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// The number of trailing bytes that two texts have in common. It need not be a character boundary.
#[must_use]
pub fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[a.len() - len..], &b[b.len() - len..]);
    let mut end = len;
    let mut step = 64;
    while end > 0 {
        let start = end.saturating_sub(step);
        if a[start..end] != b[start..end] {
            return len - end + narrow_back(&a[start..end], &b[start..end]);
        }
        end = start;
        step = (step * 4).min(BLOCK);
    }
    len
}

/// The equal bytes at the end of two slices of one length that do differ.
fn narrow_back(mut a: &[u8], mut b: &[u8]) -> usize {
    let mut skipped = 0;
    while a.len() > 16 {
        let half = a.len() / 2;
        if a[half..] == b[half..] {
            skipped += a.len() - half;
            (a, b) = (&a[..half], &b[..half]);
        } else {
            (a, b) = (&a[half..], &b[half..]);
        }
    }
    skipped + a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count()
}

/// The byte offset of the first character in which two texts differ, or none if they are equal. Where one text
/// begins with the other, it is the length of the shorter.
#[must_use]
pub fn first_difference(a: &str, b: &str) -> Option<usize> {
    let mut at = common_prefix(a.as_bytes(), b.as_bytes());
    if at == a.len() && at == b.len() {
        return None;
    }
    while !a.is_char_boundary(at) || !b.is_char_boundary(at) {
        at -= 1;
    }
    Some(at)
}

/// The parts of two texts that differ, as byte ranges: between the common prefix and the common suffix, on character
/// boundaries in both. Both are empty when the texts are equal.
#[must_use]
pub fn differing(a: &str, b: &str) -> (Range<usize>, Range<usize>) {
    let Some(start) = first_difference(a, b) else { return (a.len()..a.len(), b.len()..b.len()) };
    let mut same = common_suffix(&a.as_bytes()[start..], &b.as_bytes()[start..]);
    while !a.is_char_boundary(a.len() - same) || !b.is_char_boundary(b.len() - same) {
        same -= 1;
    }
    (start..a.len() - same, start..b.len() - same)
}

/// What stood in the one text and what stands in the other, short enough for a line: see [`excerpt`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The differing part of the first text; empty if the second only adds something.
    pub before: String,
    /// The differing part of the second text; empty if something was only taken away.
    pub after: String,
    /// The byte range in the first text that `before` shows, cut or not.
    pub in_before: Range<usize>,
    /// The byte range in the second text that `after` shows, cut or not.
    pub in_after: Range<usize>,
}

/// The first difference between two texts, widened to whole words and paths ("/home/shop" against "/home/shop/api"),
/// each side on one line and of at most `limit` characters; what is cut away is shown as `…`. None if they are equal.
///
/// Only the first differing lines are shown: a difference of several lines shows the first of them.
#[must_use]
pub fn excerpt(a: &str, b: &str, limit: usize) -> Option<Excerpt> {
    let (mut left, mut right) = differing(a, b);
    if left.is_empty() && right.is_empty() {
        return None;
    }
    // Both sides have the same bytes before and behind the difference, so widening keeps them in step. An inserted
    // word that stands alone is not widened into its neighbours.
    let (before, behind) = (&a[..left.start], &a[left.end..]);
    let changed = [&a[left.clone()], &b[right.clone()]];
    let touches = |edge: fn(&str) -> Option<char>| changed.iter().any(|text| edge(text).is_some_and(is_word));
    if touches(|text| text.chars().next()) {
        let grow: usize = before.chars().rev().take_while(|&c| is_word(c)).map(char::len_utf8).sum();
        left.start -= grow;
        right.start -= grow;
    }
    if touches(|text| text.chars().next_back()) {
        let grow: usize = behind.chars().take_while(|&c| is_word(c)).map(char::len_utf8).sum();
        // What ends a sentence is no part of its last word.
        let grow = behind[..grow].trim_end_matches(['.', ':']).len();
        left.end += grow;
        right.end += grow;
    }
    // Where in both the difference begins, cutting has to keep it in sight.
    let changed = before.len() - left.start;
    Some(Excerpt {
        before: one_line(&a[left.clone()], changed, limit),
        after: one_line(&b[right.clone()], changed, limit),
        in_before: left,
        in_after: right,
    })
}

/// True for what words, numbers, names and paths are made of. Ideographs are words of their own.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() && (c as u32) < 0x2E80
        || matches!(c, '/' | '\\' | '.' | '_' | '-' | '~' | ':' | '@' | '+')
}

/// At most `limit` characters of the first line of `text` that is not empty from byte `changed` on. What comes before
/// `changed` is cut first.
fn one_line(text: &str, changed: usize, limit: usize) -> String {
    let lead = text[changed..].len() - text[changed..].trim_start_matches(['\n', '\r']).len();
    let (head, tail) = text.split_at(changed);
    let rest = &tail[lead..];
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let more = line.len() < rest.trim_end().len();
    let head = if lead > 0 { "" } else { head };
    let (heads, lines) = (head.chars().count(), line.chars().count());
    if heads + lines + usize::from(more) <= limit {
        return format!("{head}{line}{}", if more { "…" } else { "" });
    }
    // A third of the room at most goes to what both texts have in common.
    let room_line = lines.min(limit.saturating_sub(1).saturating_sub(heads.min(limit / 3)));
    let room_head = limit.saturating_sub(room_line + usize::from(room_line < lines || more));
    let mut shown = String::new();
    if heads <= room_head {
        shown.push_str(head);
    } else if room_head > 0 {
        shown.push('…');
        shown.extend(head.chars().skip(heads - (room_head - 1)));
    }
    shown.extend(line.chars().take(room_line));
    if room_line < lines || more {
        shown.push('…');
    }
    shown.chars().take(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(a: &str, b: &str, limit: usize) -> (String, String) {
        let excerpt = excerpt(a, b, limit).expect("they differ");
        (excerpt.before, excerpt.after)
    }

    #[test]
    fn an_excerpt_shows_whole_words_and_paths() {
        for (a, b, limit, before, after) in [
            ("cwd: /home/shop\nok", "cwd: /home/shop/api\nok", 40, "/home/shop", "/home/shop/api"),
            ("cwd: /home/shop/web\n", "cwd: /home/shop/api\n", 40, "/home/shop/web", "/home/shop/api"),
            ("time 10:59:00.", "time 11:00:00.", 40, "10:59:00", "11:00:00"),
            ("a fine day", "a day", 40, "fine", ""),
            ("x", "x and more", 40, "", "and more"),
            ("目录是上海。", "目录是北京。", 40, "上海", "北京"),
            ("one\ntwo\nthree", "one\n2\n3\nthree", 40, "two", "2…"),
            ("", "new", 40, "", "new"),
        ] {
            let (left, right) = shown(a, b, limit);
            assert_eq!((left.trim(), right.trim()), (before, after), "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_cut_excerpt_keeps_the_difference_in_sight() {
        let path = "/very/long/path/to/a/folder/that/goes/on/and/on";
        let (left, right) = shown(&format!("{path}/web"), &format!("{path}/api"), 16);
        assert!(left.starts_with('…') && left.ends_with("/web"), "{left}");
        assert!(right.starts_with('…') && right.ends_with("/api"), "{right}");
        assert_eq!(left.chars().count(), 16);
        let (left, _) = shown(&"字".repeat(50), "x", 10);
        assert_eq!(left, format!("{}…", "字".repeat(9)));
    }

    #[test]
    fn the_first_difference_stands_on_a_character() {
        // The two characters share their first two bytes.
        assert_eq!(first_difference("ab\u{4e00}", "ab\u{4e01}"), Some(2));
        assert_eq!(first_difference("same", "same"), None);
        assert_eq!(first_difference("same", "same!"), Some(4));
        assert_eq!(differing("a\u{4e00}b", "a\u{5e00}b"), (1..4, 1..4));
    }

    proptest! {
        #[test]
        fn common_ends_are_those_of_the_bytes(
            head in 0usize..9000, tail in 0usize..9000, a in ".{0,9}", b in ".{0,9}", fill in any::<u8>(),
        ) {
            let make = |middle: &str| {
                let mut bytes: Vec<u8> = (0..head).map(|i| (i as u8).wrapping_mul(fill)).collect();
                bytes.extend(middle.as_bytes());
                bytes.extend((0..tail).map(|i| (i as u8) ^ fill));
                bytes
            };
            let (x, y) = (make(&a), make(&b));
            let prefix = x.iter().zip(&y).take_while(|(p, q)| p == q).count();
            let suffix = x.iter().rev().zip(y.iter().rev()).take_while(|(p, q)| p == q).count();
            prop_assert_eq!(common_prefix(&x, &y), prefix);
            prop_assert_eq!(common_suffix(&x, &y), suffix);
        }

        #[test]
        fn what_differs_is_all_that_differs(a in "[ab/ 字\n]{0,30}", b in "[ab/ 字\n]{0,30}", limit in 0usize..12) {
            let (left, right) = differing(&a, &b);
            prop_assert_eq!(&a[..left.start], &b[..right.start]);
            prop_assert_eq!(&a[left.end..], &b[right.end..]);
            match excerpt(&a, &b, limit) {
                None => prop_assert_eq!(&a, &b),
                Some(found) => {
                    prop_assert!(found.before.chars().count() <= limit && found.after.chars().count() <= limit);
                    prop_assert!(!found.before.contains('\n') && !found.after.contains('\n'));
                    prop_assert!(found.in_before.start <= left.start && found.in_before.end >= left.end);
                    prop_assert!(found.in_after.start <= right.start && found.in_after.end >= right.end);
                }
            }
        }
    }
}
