//! `drop_refs:`: a text without what refers to skills that others stand in front of.
//!
//! A skill is referred to by its file, `.../skills/NAME/SKILL.md`. A line that refers to nothing else goes whole; in a
//! line that also refers to other skills, only the reference goes, with the separator that it then does not need.

use std::ops::Range;
use std::sync::Arc;

use crate::core::fact::{Name, Value};
use crate::core::text::{Builder, Made, Origin, Traced};

const FOLDER: &str = "/skills/";
const FILE: &str = "/SKILL.md";
/// What stands between the items of a list in prose, longest first.
const BETWEEN: &[&str] =
    &[" and ", " or ", " 和 ", " 与 ", " 或 ", ", ", "; ", "，", "、", "；", "和", "与", "或"];

/// The names by which the skills of a list are referred to: those of their folders.
pub(super) fn names(skills: &Value) -> Vec<Name> {
    let folder = |skill: &Value| skill.get("folder").and_then(Value::as_text).cloned();
    let last = |folder: Name| Name::from(folder.rsplit('/').next().unwrap_or(&folder));
    skills.as_list().unwrap_or_default().iter().filter_map(folder).map(last).collect()
}

/// The ranges that stay when what refers to one of `names` goes.
pub(super) fn kept(text: &str, names: &[Name]) -> Vec<Range<usize>> {
    let mut kept = Vec::new();
    let mut from = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let found = references(line);
        let dropped: Vec<&Range<usize>> = found
            .iter()
            .filter(|(name, _)| names.iter().any(|known| **known == **name))
            .map(|(_, range)| range)
            .collect();
        if !dropped.is_empty() && dropped.len() == found.len() {
            kept.push(from..at);
            from = at + line.len();
        } else {
            for range in dropped {
                let range = with_separator(line, range);
                kept.push(from..(at + range.start).max(from));
                from = at + range.end;
            }
        }
        at += line.len();
    }
    kept.push(from..text.len());
    kept.retain(|range| !range.is_empty());
    kept
}

/// The skills that a line refers to, each with the range of the whole reference: the path with what quotes it.
fn references(line: &str) -> Vec<(&str, Range<usize>)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = line[from..].find(FOLDER).map(|at| from + at) {
        let name_at = at + FOLDER.len();
        let name_end = line[name_at..].find('/').map(|end| name_at + end);
        let Some(name_end) = name_end.filter(|end| line[*end..].starts_with(FILE)) else {
            from = name_at;
            continue;
        };
        let end = name_end + FILE.len();
        let start = line[from..at].rfind(is_outside).map_or(from, |outside| {
            let outside = from + outside;
            outside + line[outside..].chars().next().map_or(1, char::len_utf8)
        });
        found.push((&line[name_at..name_end], quoted(line, start..end)));
        from = end;
    }
    found
}

/// A character that no path has in prose.
fn is_outside(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '`' | '"'
                | '\''
                | '('
                | ')'
                | '['
                | ']'
                | '<'
                | '>'
                | ','
                | ';'
                | '，'
                | '、'
                | '；'
                | '：'
                | '（'
                | '）'
                | '“'
                | '”'
        )
}

/// A path with the quotes around it, and with the words of a link in front of it.
fn quoted(line: &str, range: Range<usize>) -> Range<usize> {
    for (open, close) in [("`", "`"), ("\"", "\""), ("'", "'"), ("<", ">"), ("“", "”")] {
        if line[..range.start].ends_with(open) && line[range.end..].starts_with(close) {
            return range.start - open.len()..range.end + close.len();
        }
    }
    if line[..range.start].ends_with("](")
        && line[range.end..].starts_with(')')
        && let Some(open) = line[..range.start - 2].rfind('[')
    {
        return open..range.end + 1;
    }
    range
}

/// A reference with the separator behind it, or else the one in front.
fn with_separator(line: &str, range: &Range<usize>) -> Range<usize> {
    if let Some(between) = BETWEEN.iter().find(|between| line[range.end..].starts_with(**between)) {
        return range.start..range.end + between.len();
    }
    if let Some(between) = BETWEEN.iter().find(|between| line[..range.start].ends_with(**between)) {
        return range.start - between.len()..range.end;
    }
    range.clone()
}

/// These ranges of a text that one layer wrote, all of the same make.
pub(super) fn pieces(part: &Name, text: &str, kept: &[Range<usize>], whole: &Origin) -> Traced {
    let mut builder = Builder::default();
    builder.begin(part.clone(), Arc::default());
    for range in kept {
        let made = match &whole.made {
            Made::Verbatim { source, at } => Made::Verbatim { source: source.clone(), at: at + range.start },
            made => made.clone(),
        };
        builder.push(&text[range.clone()], Arc::new(Origin { made, ..whole.clone() }), false);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, names: &[&str]) -> String {
        let names: Vec<Name> = names.iter().map(|name| Name::from(*name)).collect();
        kept(text, &names).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_line_that_refers_to_nothing_else_goes_whole() {
        let text = "# Skills\n- review: ~/.codex/skills/review/SKILL.md\n- deploy: ~/.codex/skills/deploy/SKILL.md\nlast";
        assert_eq!(without(text, &["review"]), "# Skills\n- deploy: ~/.codex/skills/deploy/SKILL.md\nlast");
        assert_eq!(without(text, &["review", "deploy"]), "# Skills\nlast");
        assert_eq!(without(text, &["rev", "SKILL.md"]), text);
        assert_eq!(without("x\n`/skills/a/SKILL.md`", &["a"]), "x\n");
    }

    #[test]
    fn of_a_line_that_names_others_only_the_reference_goes() {
        for (line, want) in [
            ("读 `a/skills/x/SKILL.md` 和 `a/skills/y/SKILL.md`。", "读 `a/skills/y/SKILL.md`。"),
            ("读 `a/skills/y/SKILL.md` 和 `a/skills/x/SKILL.md`。", "读 `a/skills/y/SKILL.md`。"),
            ("use ~/skills/x/SKILL.md, ~/skills/y/SKILL.md", "use ~/skills/y/SKILL.md"),
            ("[x](a/skills/x/SKILL.md)、[y](a/skills/y/SKILL.md)", "[y](a/skills/y/SKILL.md)"),
            ("~/skills/y/SKILL.md (not ~/skills/x/SKILL.md)", "~/skills/y/SKILL.md (not )"),
        ] {
            assert_eq!(without(line, &["x"]), want, "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_reference_stays() {
        for line in
            ["the skill x", "a/skills/x/README.md", "a/skills/x", "/skills//SKILL.md", "skills/x/SKILL.md"]
        {
            assert_eq!(without(line, &["x"]), line);
        }
    }
}
