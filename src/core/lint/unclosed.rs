//! A code fence or comment that a layer opens and does not close, with text of others behind it.
//!
//! Fences are read as CommonMark reads them: a fence is closed by one of the same character that is at least as long
//! and has nothing behind it, so a fence inside of a fence closes the outer one. Two layers may well open and close one
//! on purpose: what is closed by the next layer that has an odd fence is left alone.

use super::{Finding, Lint, Price, Subject, at_byte, shown};
use crate::core::text::{Part, Traced};

/// What is open, and where it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// A fence: its character and length.
    Fence(u8, usize),
    /// `<!--`.
    Comment,
}

pub(super) fn check(subject: &Subject<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    let bench = subject.bench;
    let mut found = Vec::new();
    for block in &subject.request.blocks {
        let text = &block.text;
        let parts = text.parts();
        let mut index = 0;
        while index < parts.len() {
            let part = &parts[index];
            index += 1;
            if bench.layer(&part.id).is_none() {
                continue;
            }
            let Some((at, open)) = unclosed(&text[part]) else { continue };
            let behind = &parts[index..];
            // The layer that closes it on purpose: one that would leave something open itself.
            if let Some(closer) = behind.iter().position(|later| closes(&text[later], open)) {
                index += closer + 1;
                continue;
            }
            if behind.iter().all(|later| text[later].trim().is_empty()) {
                continue;
            }
            found.push(finding(subject, text, part, part.body + at, open, behind, price));
        }
    }
    found
}

fn finding(
    subject: &Subject<'_>,
    text: &Traced,
    part: &Part,
    at: usize,
    open: Open,
    behind: &[Part],
    price: &mut Price<'_>,
) -> Finding {
    let bench = subject.bench;
    let tokens: Option<u64> = behind.iter().map(|later| price.tokens(&text[later])).sum();
    let what = match open {
        Open::Fence(..) => "a code fence",
        Open::Comment => "a comment",
    };
    let next = behind.iter().find(|later| !text[*later].trim().is_empty()).unwrap_or(part);
    let more = match behind.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let size = match price.words(tokens) {
        words if words.is_empty() => words,
        words => format!(", {words}"),
    };
    let message = format!(
        "{} opens {what} and does not close it: {}{more} stand inside{size}",
        shown(bench, &part.id),
        shown(bench, &next.id)
    );
    let hint = match open {
        Open::Fence(sign, length) => {
            format!("close it with a line of {}", char::from(sign).to_string().repeat(length))
        }
        Open::Comment => "close it with -->".to_owned(),
    };
    let diagnostic = at_byte(bench, text, part, at, message).hint(hint);
    Finding::new(Lint::Unclosed, subject, vec![part.id.clone()], tokens, diagnostic)
}

/// What a text leaves open at its end, with the byte at which it is opened.
fn unclosed(text: &str) -> Option<(usize, Open)> {
    let mut open: Option<(usize, Open)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        match open {
            Some((_, Open::Fence(sign, length))) => {
                if fence(body).is_some_and(|(_, s, l, info)| s == sign && l >= length && info.is_empty()) {
                    open = None;
                }
            }
            Some((_, Open::Comment)) => {
                if body.contains("-->") {
                    open = None;
                }
            }
            None => match fence(body) {
                // An opening fence of backticks has none in what stands behind it.
                Some((at, sign, length, info)) if sign != b'`' || !info.contains('`') => {
                    open = Some((start + at, Open::Fence(sign, length)));
                }
                _ => open = comment(body).map(|at| (start + at, Open::Comment)),
            },
        }
        start += line.len();
    }
    open
}

/// True for a text that closes what is open in front of it and has more of its kind than it closes itself.
fn closes(text: &str, open: Open) -> bool {
    match open {
        Open::Comment => {
            let close = text.find("-->");
            close.is_some_and(|close| text.find("<!--").is_none_or(|start| start > close))
        }
        Open::Fence(sign, length) => {
            let closing = |line: &str| {
                fence(line).is_some_and(|(_, s, l, info)| s == sign && l >= length && info.is_empty())
            };
            // Alone it would open one with the very line that closes this one.
            let first = text.lines().find_map(|line| fence(line).map(|_| line));
            first.is_some_and(closing) && unclosed(text).is_some()
        }
    }
}

/// The fence that a line is, if it is one: where it starts, its character, its length, what stands behind it.
fn fence(line: &str) -> Option<(usize, u8, usize, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let indent = line.len() - trimmed.len();
    let sign = *trimmed.as_bytes().first().filter(|sign| matches!(sign, b'`' | b'~'))?;
    let length = trimmed.bytes().take_while(|byte| *byte == sign).count();
    (indent < 4 && length >= 3).then(|| (indent, sign, length, trimmed[length..].trim()))
}

/// Where a line opens a comment that it does not close: only at its beginning, where Markdown takes it for one.
fn comment(line: &str) -> Option<usize> {
    let trimmed = line.trim_start_matches(' ');
    let indent = line.len() - trimmed.len();
    let body = trimmed.strip_prefix("<!--").filter(|_| indent < 4)?;
    (!body.contains("-->")).then_some(indent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_left_open() {
        let fence = |length| Some(Open::Fence(b'`', length));
        for (text, want) in [
            ("```\na\n```\n", None),
            ("```js\na\n```", None),
            ("```\na", fence(3)),
            ("```md\n```js\nx\n```\nrest\n```\nmore", fence(3)),
            ("````\n```\nx\n````\n", None),
            ("~~~\n```\n~~~\n", None),
            ("~~~\nx", Some(Open::Fence(b'~', 3))),
            ("`` ``` ``\n", None),
            ("    ```\n", None),
            ("use ```this``` here\n", None),
            ("```a`b```\n", None),
            ("<!-- a -->\nb", None),
            ("<!-- a\nb -->\nc", None),
            ("<!-- a\nb", Some(Open::Comment)),
            ("say `<!--` and go on", None),
            ("```\n<!-- a\n```\n", None),
        ] {
            assert_eq!(unclosed(text).map(|(_, open)| open), want, "{text:?}");
        }
    }

    #[test]
    fn a_layer_that_closes_on_purpose() {
        let open = Open::Fence(b'`', 3);
        assert!(closes("code\n```\nrest", open));
        assert!(!closes("text\n```js\nx\n```\n", open));
        assert!(!closes("```\nx\n```\n", open));
        assert!(closes("x -->\n", Open::Comment));
        assert!(!closes("<!-- x -->\n", Open::Comment));
    }

    proptest! {
        /// Closing what is open leaves nothing open, whatever stands in front of it.
        #[test]
        fn closing_closes(text in "[ `~a<!>\\-\n]{0,60}") {
            if let Some((at, open)) = unclosed(&text) {
                prop_assert!(at < text.len());
                let end = match open {
                    Open::Fence(sign, length) => char::from(sign).to_string().repeat(length),
                    Open::Comment => "-->".to_owned(),
                };
                prop_assert_eq!(unclosed(&format!("{text}\n{end}\n")), None);
            }
        }
    }
}
