//! Two texts around their first difference, in one line each, with what cannot be seen made visible.

use crate::core::diff;

/// Characters that are shown in front of a difference.
const BEFORE: usize = 24;
/// Characters that are shown from a difference on.
const AFTER: usize = 40;

/// What stands for a space where spaces are what differs.
const SPACE: char = '␣';

/// True for what takes no ink: white space, controls, what joins and marks.
fn invisible(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c.escape_debug().count() > 1 && !matches!(c, '"' | '\'' | '\\')
}

fn show(text: &str, spaces: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            ' ' if spaces => out.push(SPACE),
            ' ' | '"' | '\'' => out.push(c),
            '\u{a0}' | '\u{3000}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' => {
                out.extend(c.escape_unicode());
            }
            c => out.extend(c.escape_debug()),
        }
    }
}

/// Two texts around their first difference.
pub(super) fn both(a: &str, b: &str) -> (String, String) {
    let (left, right) = diff::differing(a, b);
    // Spaces count where nothing else differs, or where the difference begins with one.
    let blank = |text: &str| text.chars().all(char::is_whitespace);
    let starts = |text: &str| text.starts_with(' ');
    let (was, is) = (&a[left.clone()], &b[right.clone()]);
    let spaces = blank(was) && blank(is) || starts(was) || starts(is);
    let window = |text: &str, range: std::ops::Range<usize>| {
        let before: Vec<char> = text[..range.start].chars().rev().take(BEFORE + 1).collect();
        let mut out = String::new();
        if before.len() > BEFORE {
            out.push('…');
        }
        let before: String = before.into_iter().take(BEFORE).rev().collect();
        show(&before, spaces, &mut out);
        let rest = &text[range.start..];
        let end = rest.char_indices().nth(AFTER).map_or(rest.len(), |(at, _)| at);
        show(&rest[..end], spaces, &mut out);
        if end < rest.len() {
            out.push('…');
        }
        out
    };
    (window(a, left), window(b, right))
}

/// The beginning of a text.
pub(super) fn start(text: &str) -> String {
    let mut out = String::new();
    let end = text.char_indices().nth(AFTER + BEFORE).map_or(text.len(), |(at, _)| at);
    show(&text[..end], false, &mut out);
    if end < text.len() {
        out.push('…');
    }
    out
}

/// What was done to the recorded text to get the bench's, where that is one small thing: `a space is missing`.
pub(super) fn change(recorded: &str, bench: &str) -> Option<String> {
    let (left, right) = diff::differing(recorded, bench);
    let (text, verb) = match (&recorded[left], &bench[right]) {
        (text, "") => (text, "missing"),
        ("", text) => (text, "too much"),
        _ => return None,
    };
    let first = text.chars().next()?;
    if !invisible(first) || text.chars().any(|c| c != first) {
        return None;
    }
    let count = text.chars().count();
    let name = match first {
        ' ' => "space".to_owned(),
        '\n' => "line end".to_owned(),
        '\t' => "tab".to_owned(),
        '\r' => "carriage return".to_owned(),
        '\u{a0}' => "no-break space (U+00A0)".to_owned(),
        '\u{200b}' => "zero-width space (U+200B)".to_owned(),
        '\u{feff}' => "byte order mark (U+FEFF)".to_owned(),
        c => format!("U+{:04X}", c as u32),
    };
    Some(match count {
        1 => format!("a {name} is {verb}"),
        n => format!("{n} times {name} are {verb}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_space_is_seen_and_named() {
        let (was, is) = ("Be brief. Answer in English.", "Be brief.Answer in English.");
        assert_eq!(
            both(was, is),
            ("Be␣brief.␣Answer␣in␣English.".into(), "Be␣brief.Answer␣in␣English.".into())
        );
        assert_eq!(change(was, is).as_deref(), Some("a space is missing"));
        assert_eq!(change(is, was).as_deref(), Some("a space is too much"));
        assert_eq!(change("a\n\n\nb", "a\nb").as_deref(), Some("2 times line end are missing"));
        assert_eq!(change("a\r\n", "a\n").as_deref(), Some("a carriage return is missing"));
        assert_eq!(change("a\u{200b}b", "ab").as_deref(), Some("a zero-width space (U+200B) is missing"));
        assert_eq!(change("word more", "word"), None);
        assert_eq!(change("a", "b"), None);
    }

    #[test]
    fn what_cannot_be_seen_is_spelled() {
        assert_eq!(both("a\tb", "a b"), ("a\\tb".into(), "a␣b".into()));
        assert_eq!(
            both("目录\u{a0}/x\u{200b}", "目录 /x"),
            ("目录\\u{a0}/x\\u{200b}".into(), "目录␣/x".into())
        );
        assert_eq!(
            both("say \"hi\" \\ it's", "say \"ho\""),
            ("say \"hi\" \\\\ it's".into(), "say \"ho\"".into())
        );
        let long = "x".repeat(100);
        let (was, is) = both(&format!("{long}a{long}"), &format!("{long}b"));
        assert_eq!((was.chars().count(), is.as_str()), (1 + 24 + 40 + 1, &*format!("…{}b", "x".repeat(24))));
        assert_eq!(start("a\nb"), "a\\nb");
    }
}
