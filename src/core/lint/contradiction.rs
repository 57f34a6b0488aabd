//! Two layers of one request that name different working directories.
//!
//! A change that is announced leaves an old value in front of the right one; the last word counts, and it is right: that
//! is no contradiction. One is where the last word of a layer that reads the fact is wrong though another layer has the
//! right one, and where a text that nobody keeps up to date begins a line as if it said the working directory.

use super::{Finding, Lint, Subject, at_byte, shown};
use crate::core::fact::{FactKey, Name};
use crate::core::text::{Made, Part, Traced};

/// What a line begins with that says the working directory, in lower case; the longer ones first.
const LABELS: &[&str] = &[
    "current working directory",
    "current directory",
    "working directory",
    "cwd",
    "当前工作目录",
    "当前目录",
    "工作目录",
];

/// A directory that is named as the one in which work is done.
struct Claim<'a> {
    text: &'a Traced,
    part: &'a Part,
    at: usize,
    directory: &'a str,
    /// True where a fact wrote it: then the layer's refresh rule keeps it up to date, or a change is announced.
    fact: bool,
}

pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let bench = subject.bench;
    let mut claims: Vec<Claim<'_>> = Vec::new();
    for block in &subject.request.blocks {
        for part in block.text.parts().iter().filter(|part| bench.layer(&part.id).is_some()) {
            claims.extend(of_part(&block.text, part));
        }
    }
    let right = &*subject.record.cwd;
    let mut found: Vec<Finding> = Vec::new();
    for (index, claim) in claims.iter().enumerate().filter(|(_, claim)| claim.directory != right) {
        // Another layer says what is right; in front of a stale fact, where the model has read it before.
        let other = claims.iter().enumerate().find(|(at, other)| {
            other.part.id != claim.part.id && other.directory == right && (!claim.fact || *at < index)
        });
        let last =
            claims[index..].iter().rfind(|later| later.fact).is_none_or(|later| later.directory == right);
        if claim.fact && last {
            continue;
        }
        let Some((_, other)) = other else { continue };
        let about: Vec<Name> = vec![claim.part.id.clone(), other.part.id.clone()];
        if found.iter().any(|known| known.about == about) {
            continue;
        }
        let (who, whom) = (shown(bench, &claim.part.id), shown(bench, &other.part.id));
        let message =
            format!("{who} says that the working directory is {}, {whom} says {right}", claim.directory);
        let hint = if claim.fact {
            "the model reads the wrong one last: make this layer again when `cwd` changes, or leave it out"
        } else {
            "the text is not kept up to date: leave the line out, or write it so that it names no directory"
        };
        let diagnostic = at_byte(bench, claim.text, claim.part, claim.at, message).hint(hint);
        found.push(Finding::new(Lint::Contradiction, subject, about, None, diagnostic));
    }
    found
}

/// The claims of a part, in order: what the fact wrote, and lines that look as if they said it.
fn of_part<'a>(text: &'a Traced, part: &'a Part) -> Vec<Claim<'a>> {
    let mut claims = Vec::new();
    let is_cwd =
        |made: &Made| matches!(made, Made::Fact { key: FactKey::Named(name), .. } if &**name == "cwd");
    for (range, span) in text.ranges().filter(|(range, _)| range.start >= part.body && range.end <= part.end)
    {
        if is_cwd(&span.origin.made) {
            let directory = &text.text()[range.clone()];
            claims.push(Claim { text, part, at: range.start, directory, fact: true });
        }
    }
    let mut start = part.body;
    for line in text.text()[part.body..part.end].split('\n') {
        if let Some((at, directory)) = claimed(line) {
            let at = start + at;
            // What an expression made may be a path that begins like the directory, and no claim.
            match text.span_at(at).map(|(_, span)| &span.origin.made) {
                Some(made) if is_cwd(made) => {}
                Some(Made::Verbatim { .. }) => claims.push(Claim { text, part, at, directory, fact: false }),
                Some(Made::Fact { .. }) => claims.push(Claim { text, part, at, directory, fact: true }),
                _ => {}
            }
        }
        start += line.len() + 1;
    }
    claims.sort_by_key(|claim| claim.at);
    claims
}

/// The directory that a line names as the working directory, with the byte where it begins: `CWD: /home/x`,
/// `- **Working directory:** ~/x`. The line holds nothing else.
fn claimed(line: &str) -> Option<(usize, &str)> {
    const MARKUP: &[char] = &[' ', '\t', '-', '*', '+', '#', '>', '`', '_', '"', '•'];
    let trimmed = line.trim_start_matches(MARKUP);
    let lower = trimmed.chars().take(32).collect::<String>().to_ascii_lowercase();
    let label = LABELS.iter().find(|label| lower.starts_with(**label))?;
    let rest = trimmed.get(label.len()..)?.trim_start_matches(MARKUP);
    let rest = [":", "：", "=", "is ", "为"].iter().find_map(|sign| rest.strip_prefix(sign))?;
    let rest = rest.trim_start_matches(MARKUP);
    let directory = rest.trim_end_matches(|c: char| c.is_whitespace() || "`*\"。.".contains(c));
    let drive = |path: &str| path.as_bytes().get(1) == Some(&b':') && path.is_ascii();
    let absolute = directory.starts_with('/') || directory.starts_with("~/") || drive(directory);
    let plain = !directory.contains(char::is_whitespace) && !directory.contains(['{', '<', '$']);
    let at = line.len() - rest.len();
    (absolute && plain).then_some((at, directory))
}

#[cfg(test)]
mod tests {
    use super::claimed;

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
            let found = claimed(line);
            assert_eq!(found.map(|(_, directory)| directory), want, "{line}");
            if let Some((at, directory)) = found {
                assert!(line[at..].starts_with(directory), "{line}");
            }
        }
    }
}
