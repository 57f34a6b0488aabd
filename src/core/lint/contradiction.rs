//! Two layers of one request that name different working directories, or different days as today.
//!
//! A change that is announced leaves an old value in front of the right one; the last word counts, and it is right: that
//! is no contradiction. One is where the last word of a layer that reads the fact is wrong though another layer has the
//! right one, and where a text that nobody keeps up to date begins a line as if it said the working directory or the day.

use super::{Finding, Lint, Subject, at_byte, shown};
use crate::core::fact::{FactKey, Name};
use crate::core::text::{Made, Part, Traced};

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Cwd,
    Day,
}

impl Topic {
    /// What a line begins with that says it, in lower case; the longer ones first.
    fn labels(self) -> &'static [&'static str] {
        match self {
            Topic::Cwd => &[
                "current working directory",
                "current directory",
                "working directory",
                "cwd",
                "当前工作目录",
                "当前目录",
                "工作目录",
            ],
            // A bare "date" may be that of anything.
            Topic::Day => &[
                "today's date",
                "today’s date",
                "current date",
                "today is",
                "today",
                "今天的日期",
                "今天是",
                "当前日期",
                "今日日期",
            ],
        }
    }

    fn fact(self) -> &'static str {
        match self {
            Topic::Cwd => "cwd",
            Topic::Day => "now",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Topic::Cwd => "the working directory is",
            Topic::Day => "today is",
        }
    }
}

/// Something that is named as the working directory, or as today.
struct Claim<'a> {
    text: &'a Traced,
    part: &'a Part,
    at: usize,
    value: String,
    /// True where a fact wrote it: then the layer's refresh rule keeps it up to date, or a change is announced.
    fact: bool,
}

pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let cwd = subject.record.cwd.to_string();
    let today = subject.record.now.get(..10).and_then(day_in).map(|(_, day)| day);
    let mut found = of(subject, Topic::Cwd, &cwd);
    if let Some(today) = today {
        found.extend(of(subject, Topic::Day, &today));
    }
    found
}

fn of(subject: &Subject<'_>, topic: Topic, right: &str) -> Vec<Finding> {
    let bench = subject.bench;
    let mut claims: Vec<Claim<'_>> = Vec::new();
    for block in &subject.request.blocks {
        for part in block.text.parts().iter().filter(|part| bench.layer(&part.id).is_some()) {
            claims.extend(of_part(topic, &block.text, part));
        }
    }
    let mut found: Vec<Finding> = Vec::new();
    for (index, claim) in claims.iter().enumerate().filter(|(_, claim)| claim.value != right) {
        // Another layer says what is right; in front of a stale fact, where the model has read it before.
        let other = claims.iter().enumerate().find(|(at, other)| {
            other.part.id != claim.part.id && other.value == right && (!claim.fact || *at < index)
        });
        let last = claims[index..].iter().rfind(|later| later.fact).is_none_or(|later| later.value == right);
        if claim.fact && last {
            continue;
        }
        let Some((_, other)) = other else { continue };
        let about: Vec<Name> = vec![claim.part.id.clone(), other.part.id.clone()];
        if found.iter().any(|known| known.about == about) {
            continue;
        }
        let (who, whom) = (shown(bench, &claim.part.id), shown(bench, &other.part.id));
        let message = format!("{who} says that {} {}, {whom} says {right}", topic.words(), claim.value);
        let fact = topic.fact();
        let hint = match (claim.fact, topic) {
            (true, _) => format!(
                "the model reads the wrong one last: make this layer again when `{fact}` changes, or leave it out"
            ),
            (false, Topic::Cwd) => {
                "the text is not kept up to date: leave the line out, or write it so that it names no directory"
                    .to_owned()
            }
            (false, Topic::Day) => {
                "the text is not kept up to date: leave the line out, or write it so that it names no day".to_owned()
            }
        };
        let diagnostic = at_byte(bench, claim.text, claim.part, claim.at, message).hint(hint);
        found.push(Finding::new(Lint::Contradiction, subject, about, None, diagnostic));
    }
    found
}

/// The claims of a part, in order: what the fact wrote, and lines that look as if they said it.
fn of_part<'a>(topic: Topic, text: &'a Traced, part: &'a Part) -> Vec<Claim<'a>> {
    let mut claims = Vec::new();
    let is_fact =
        |made: &Made| matches!(made, Made::Fact { key: FactKey::Named(name), .. } if &**name == topic.fact());
    for (range, span) in text.ranges().filter(|(range, _)| range.start >= part.body && range.end <= part.end)
    {
        if is_fact(&span.origin.made) {
            let written = &text.text()[range.clone()];
            let value = match topic {
                Topic::Cwd => Some(written.to_owned()),
                Topic::Day => day_in(written).map(|(_, day)| day),
            };
            claims.extend(value.map(|value| Claim { text, part, at: range.start, value, fact: true }));
        }
    }
    let mut start = part.body;
    for line in text.text()[part.body..part.end].split('\n') {
        if let Some((at, value)) = claimed(topic, line) {
            let at = start + at;
            // What an expression made may be a path that begins like the directory, and no claim.
            match text.span_at(at).map(|(_, span)| &span.origin.made) {
                Some(made) if is_fact(made) => {}
                Some(Made::Verbatim { .. }) => claims.push(Claim { text, part, at, value, fact: false }),
                Some(Made::Fact { .. }) => claims.push(Claim { text, part, at, value, fact: true }),
                // The day is what a filter makes of the time.
                Some(Made::Derived { .. }) if topic == Topic::Day => {
                    let clock = part.reads.0.keys().any(|key| *key == FactKey::named("now"));
                    claims.push(Claim { text, part, at, value, fact: clock });
                }
                _ => {}
            }
        }
        start += line.len() + 1;
    }
    claims.sort_by_key(|claim| claim.at);
    claims
}

/// What a line names as the working directory or as today, with the byte where it begins: `CWD: /home/x`,
/// `- **Working directory:** ~/x`, `Today's date: 2026-04-01`. Of a directory, the line holds nothing else.
fn claimed(topic: Topic, line: &str) -> Option<(usize, String)> {
    const MARKUP: &[char] = &[' ', '\t', '-', '*', '+', '#', '>', '`', '_', '"', '•'];
    let trimmed = line.trim_start_matches(MARKUP);
    let lower = trimmed.chars().take(32).collect::<String>().to_ascii_lowercase();
    let label = topic.labels().iter().find(|label| lower.starts_with(**label))?;
    let rest = trimmed.get(label.len()..)?.trim_start_matches(MARKUP);
    let signs = [":", "：", "=", "is ", "为"];
    let signed = signs.iter().find_map(|sign| rest.strip_prefix(sign));
    // "Today is" needs no sign more.
    let rest = match signed {
        Some(rest) => rest,
        None if label.ends_with("is") || label.ends_with('是') => rest,
        None => return None,
    };
    let rest = rest.trim_start_matches(MARKUP);
    let from = line.len() - rest.len();
    if topic == Topic::Day {
        let (at, day) = day_in(rest)?;
        // A name of a weekday may stand before it, a sentence about another day may not.
        return (at <= 16).then(|| (from + at, day));
    }
    let directory = rest.trim_end_matches(|c: char| c.is_whitespace() || "`*\"。.".contains(c));
    let drive = |path: &str| path.as_bytes().get(1) == Some(&b':') && path.is_ascii();
    let absolute = directory.starts_with('/') || directory.starts_with("~/") || drive(directory);
    let plain = !directory.contains(char::is_whitespace) && !directory.contains(['{', '<', '$']);
    (absolute && plain).then(|| (from, directory.to_owned()))
}

/// The first day in a text, as `2026-04-01`, and where it begins: written so, with slashes, or in Chinese.
fn day_in(text: &str) -> Option<(usize, String)> {
    let number = |text: &str, most: usize| {
        let digits = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        (digits > 0).then(|| (text[..digits].parse::<u32>().unwrap_or_default(), digits))
    };
    let starts = text.char_indices().map(|(at, _)| at);
    for at in starts.filter(|&at| at == 0 || !text.as_bytes()[at - 1].is_ascii_digit()) {
        let rest = &text[at..];
        let Some((year, 4)) = number(rest, 4) else { continue };
        for (first, second, end) in [("-", "-", ""), ("/", "/", ""), ("年", "月", "日"), (".", ".", "")] {
            let Some(rest) = rest[4..].strip_prefix(first) else { continue };
            let Some((month, digits)) = number(rest, 2) else { continue };
            let Some(rest) = rest[digits..].strip_prefix(second) else { continue };
            let Some((day, digits)) = number(rest, 2) else { continue };
            if rest[digits..].starts_with(end)
                && (1970..2200).contains(&year)
                && (1..=12).contains(&month)
                && (1..=31).contains(&day)
            {
                return Some((at, format!("{year:04}-{month:02}-{day:02}")));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_say_the_working_directory() {
        for (line, want) in [
            ("CWD: /home/shop", Some("/home/shop")),
            ("- **Working directory:** `~/x`", Some("~/x")),
            ("current working directory = /a/b.", Some("/a/b")),
            ("当前目录：/srv/应用", Some("/srv/应用")),
            ("工作目录为 /srv", Some("/srv")),
            ("cwd is C:\\work", Some("C:\\work")),
            ("The CWD: /home/shop", None),
            ("CWD: the folder of the project", None),
            ("CWD: /home/shop and all below", None),
            ("CWD: /home/{name}", None),
            ("cwd-cache: /tmp", None),
            ("Working directory", None),
            ("", None),
        ] {
            let found = claimed(Topic::Cwd, line);
            assert_eq!(found.as_ref().map(|(_, directory)| &**directory), want, "{line}");
            if let Some((at, directory)) = found {
                assert!(line[at..].starts_with(&directory), "{line}");
            }
        }
    }

    #[test]
    fn lines_that_say_the_day() {
        for (line, want) in [
            ("Today's date: 2026-04-01", Some("2026-04-01")),
            ("- **Current date:** 2026/4/1", Some("2026-04-01")),
            ("Today is Wednesday, 2026-04-01.", Some("2026-04-01")),
            ("今天是2026年4月1日", Some("2026-04-01")),
            ("当前日期：2026-04-01", Some("2026-04-01")),
            ("Date: 2026-04-01", None),
            ("Today is the day after the release of 2026-04-01", None),
            ("Today's date: unknown", None),
            ("Today's date: 2026-13-01", None),
            ("Todays: 2026-04-01", None),
        ] {
            let found = claimed(Topic::Day, line);
            assert_eq!(found.map(|(_, day)| day).as_deref(), want, "{line}");
        }
    }

    proptest! {
        /// Every day is read back from each of its spellings, whatever stands around it.
        #[test]
        fn days_are_read(y in 1970u32..2200, m in 1u32..=12, d in 1u32..=31, front in "[a-z :]{0,6}") {
            let want = format!("{y:04}-{m:02}-{d:02}");
            for text in [format!("{y:04}-{m:02}-{d:02}T09"), format!("{y}/{m}/{d}"), format!("{y}年{m}月{d}日")] {
                prop_assert_eq!(day_in(&format!("{front}{text}")), Some((front.len(), want.clone())));
            }
        }
    }
}
