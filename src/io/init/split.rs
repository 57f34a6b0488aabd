//! Texts taken apart by the files that stand in them.

use std::ops::Range;
use std::sync::Arc;

use crate::core::fact::{Base, FactKey, FilePath, Found, Value};
use crate::io::load::Loader;

/// Files whose texts agents put into prompts.
const PATTERNS: &[&str] = &["**/*.md", "**/*.mdc", "**/.*rules"];
/// The most files that are looked at, and the largest, in bytes.
const FILES: usize = 5_000;
const BYTES: u64 = 1 << 20;
/// A shorter text, in bytes, could stand anywhere by chance.
const SHORT: usize = 24;
/// The beginning of a file counts as one that was cut from so many bytes on.
const CUT: usize = 400;

/// How a file's text stands in another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// All of it.
    Whole,
    /// Without white space at its ends.
    Trimmed,
    /// What stands behind its front matter.
    Body,
    /// That, without white space at its ends.
    TrimmedBody,
    /// Only its first characters: so many.
    Cut(usize),
}

/// A file that was found on disk.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The path from the folder.
    pub path: Arc<str>,
    text: Arc<str>,
    body: Option<Arc<str>>,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that is in no file.
    Text(Range<usize>),
    /// The text of a file.
    File(Arc<str>, How),
}

/// The files below the loader's workspace.
pub(super) fn candidates(loader: &mut Loader) -> Vec<Candidate> {
    let mut paths: Vec<Arc<str>> = Vec::new();
    for pattern in PATTERNS {
        let listed = loader.load(&FactKey::Glob(FilePath::new(Base::Workspace, *pattern)));
        if let Found::Value(Value::List(list)) = listed {
            paths.extend(list.iter().filter_map(|path| path.as_text().cloned()));
        }
    }
    paths.sort();
    paths.dedup();
    paths.truncate(FILES);
    let mut found = Vec::new();
    for path in paths {
        let file = FilePath::new(Base::Workspace, path.clone());
        let Found::Value(Value::File(text)) = loader.load(&FactKey::File(file.clone())) else { continue };
        if text.bytes > BYTES {
            continue;
        }
        let body = match loader.load(&FactKey::Document(file)) {
            Found::Value(document) => document.get("body").and_then(Value::as_text).cloned(),
            _ => None,
        };
        let body = body.filter(|body| **body != *text.text);
        found.push(Candidate { path, text: text.text.clone(), body });
    }
    found
}

/// Takes a text apart: whole files first, longest first; then what is a part of one.
pub(super) fn split(text: &str, files: &[Candidate]) -> Vec<Piece> {
    let mut wanted: Vec<(How, &str, &Candidate)> = Vec::new();
    for file in files {
        wanted.push((How::Whole, &file.text, file));
        if file.text.trim().len() < file.text.len() {
            wanted.push((How::Trimmed, file.text.trim(), file));
        }
        if let Some(body) = &file.body {
            wanted.push((How::Body, body, file));
            wanted.push((How::TrimmedBody, body.trim(), file));
        }
    }
    wanted.retain(|(_, part, _)| part.trim().len() >= SHORT);
    // Of two files with one text, the one nearer to the root is taken.
    wanted.sort_by_key(|(how, part, file)| {
        (*how, std::cmp::Reverse(part.len()), file.path.matches('/').count())
    });
    let mut taken: Vec<(Range<usize>, Piece)> = Vec::new();
    for (how, part, file) in wanted {
        let mut from = 0;
        while let Some(at) = text[from..].find(part) {
            let range = from + at..from + at + part.len();
            from = range.end;
            if taken.iter().all(|(other, _)| range.end <= other.start || other.end <= range.start) {
                taken.push((range, Piece::File(file.path.clone(), how)));
            }
        }
    }
    cut_files(text, files, &mut taken);
    taken.sort_by_key(|(range, _)| range.start);
    let mut pieces = Vec::new();
    let mut done = 0;
    for (range, piece) in taken {
        if range.start > done {
            pieces.push(Piece::Text(done..range.start));
        }
        done = range.end;
        pieces.push(piece);
    }
    if done < text.len() {
        pieces.push(Piece::Text(done..text.len()));
    }
    pieces
}

/// Files of which only the beginning stands there, as programs with a limit leave them.
fn cut_files(text: &str, files: &[Candidate], taken: &mut Vec<(Range<usize>, Piece)>) {
    for file in files.iter().filter(|file| file.text.len() > CUT) {
        let head = match file.text.char_indices().map(|(at, _)| at).find(|at| *at >= CUT) {
            Some(end) => &file.text[..end],
            None => continue,
        };
        let Some(at) = text.find(head) else { continue };
        let same = crate::core::diff::first_difference(&file.text, &text[at..]).unwrap_or(file.text.len());
        let range = at..at + same;
        if same < file.text.len()
            && taken.iter().all(|(other, _)| range.end <= other.start || other.end <= range.start)
        {
            let chars = file.text[..same].chars().count();
            taken.push((range, Piece::File(file.path.clone(), How::Cut(chars))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str, body: Option<&str>) -> Candidate {
        Candidate { path: path.into(), text: text.into(), body: body.map(Into::into) }
    }

    /// Pieces as words.
    fn shown(text: &str, files: &[Candidate]) -> String {
        let pieces = split(text, files);
        let shown = pieces.iter().map(|piece| match piece {
            Piece::Text(range) => format!("{:?}", &text[range.clone()]),
            Piece::File(path, how) => format!("{path} {how:?}"),
        });
        shown.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn whole_files_come_before_parts_and_long_ones_before_short_ones() {
        let rules = "# Rules\nAlways write tests first.\n";
        let long = format!("Intro to the project.\n{rules}More of it.\n");
        let files = [
            file("AGENTS.md", rules, None),
            file("docs/all.md", &long, None),
            file("sub/AGENTS.md", rules, None),
            file("tiny.md", "# Rules\n", None),
        ];
        assert_eq!(shown(&format!("<a>\n{rules}</a>"), &files), "\"<a>\\n\" | AGENTS.md Whole | \"</a>\"");
        assert_eq!(shown(&format!("{long}{rules}"), &files), "docs/all.md Whole | AGENTS.md Whole");
        assert_eq!(shown(&format!("x {} y", rules.trim()), &files), "\"x \" | AGENTS.md Trimmed | \" y\"");
        assert_eq!(shown("# Rules\n", &files), "\"# Rules\\n\"");
        assert_eq!(shown("", &files), "");
    }

    #[test]
    fn front_matter_and_cuts_are_seen() {
        let body = "\n# Skill\nDo this, and then that.\n";
        let skill = format!("---\nname: a\n---\n{body}");
        let files = [file("skills/a/SKILL.md", &skill, Some(body))];
        assert_eq!(shown(&format!("{body}x"), &files), "skills/a/SKILL.md Body | \"x\"");
        assert_eq!(shown(body.trim(), &files), "skills/a/SKILL.md TrimmedBody");
        let long = "规则 and words. ".repeat(60);
        let files = [file("AGENTS.md", &long, None)];
        let cut: String = long.chars().take(500).collect();
        assert_eq!(shown(&format!("<{cut}[cut]"), &files), "\"<\" | AGENTS.md Cut(500) | \"[cut]\"");
        let short: String = long.chars().take(100).collect();
        assert_eq!(split(&short, &files), [Piece::Text(0..short.len())]);
    }
}
