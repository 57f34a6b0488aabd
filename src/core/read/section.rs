//! `section:`: what stands under a heading of a Markdown file.

use std::ops::Range;
use std::sync::Arc;

use super::{Ask, Derived};
use crate::core::fact::{FactKey, FilePath, FileText, Lookup, Value};

pub(super) fn derive(path: &FilePath, heading: &str, anywhere: bool, ask: &mut dyn Ask) -> Derived {
    match ask.ask(&FactKey::File(path.clone())) {
        Lookup::Ready(Value::File(file), ..) => {
            let text = &file.text;
            let section = if anywhere { behind(text, heading) } else { under(text, heading) };
            let section = section.map_or(0..0, |range| trimmed(text, range));
            Derived::Ready(Value::File(Arc::new(file.keeping(&[section]))))
        }
        Lookup::Ready(value, ..) => Derived::Ready(value),
        Lookup::Absent(_) => Derived::Ready(Value::File(Arc::new(FileText::whole(path.clone(), "")))),
        Lookup::Failed(reason, _) => Derived::Failed(format!("{path}: {reason}").into()),
        Lookup::Unknown => Derived::Unknown,
    }
}

/// The number of `#` at the start.
fn depth(heading: &str) -> usize {
    heading.bytes().take_while(|byte| *byte == b'#').count()
}

/// What is behind the first line that is this heading, up to the next heading that is not below it. Headings inside of
/// fenced code are none.
fn under(text: &str, heading: &str) -> Option<Range<usize>> {
    let wanted = heading.trim_end();
    let deep = depth(wanted);
    let mut start = None;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let trimmed = line.trim_end();
        match fence {
            Some(open) => {
                if trimmed.trim_start().starts_with(open) {
                    fence = None;
                }
            }
            None => {
                let inner = trimmed.trim_start();
                if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| inner.starts_with(mark)) {
                    fence = Some(mark);
                } else if start.is_none() {
                    if trimmed == wanted {
                        start = Some(end);
                    }
                } else if (1..=deep).contains(&depth(trimmed))
                    && trimmed[depth(trimmed)..].starts_with([' ', '\t'])
                {
                    return start.map(|start| start..at);
                }
            }
        }
        at = end;
    }
    start.map(|start| start..text.len())
}

/// What is behind the first place where the text of the heading stands, up to the next line that starts with as many
/// `#` and a space.
fn behind(text: &str, heading: &str) -> Option<Range<usize>> {
    let start = text.find(heading)? + heading.len();
    let next = format!("\n{} ", "#".repeat(depth(heading)));
    let end = text[start..].find(&next).map_or(text.len(), |at| start + at);
    Some(start..end)
}

/// A range of a text without white space at its ends.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + inner.len() - inner.trim_start().len();
    start..(start + inner.trim().len())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::diagnostic::Position;
    use crate::core::fact::Base;

    fn section(text: &str, heading: &str, anywhere: bool) -> FileText {
        let path = FilePath::new(Base::Workspace, "notes.md");
        let mut answers = Answers::default();
        assert_eq!(derive(&path, heading, anywhere, &mut answers), Derived::Unknown);
        answers.file("notes.md", text);
        let Derived::Ready(Value::File(file)) = derive(&path, heading, anywhere, &mut answers) else {
            panic!("no text")
        };
        FileText::clone(&file)
    }

    #[test]
    fn a_section_ends_at_the_next_heading_that_is_not_below_it() {
        let text = "# T\n\n## A\n\none\n### B\ntwo\n```\n## not a heading\n```\n\n## C\nthree\n";
        assert_eq!(&*section(text, "## A", false).text, "one\n### B\ntwo\n```\n## not a heading\n```");
        assert_eq!(&*section(text, "### B", false).text, "two\n```\n## not a heading\n```");
        assert_eq!(&*section(text, "## C", false).text, "three");
        assert_eq!(&*section("a\n## A\nb\n# T\nc\n", "## A", false).text, "b");
        for missing in ["## D", "## not a heading", "A", "## a"] {
            assert_eq!(&*section(text, missing, false).text, "", "{missing}");
        }
        assert_eq!(&*section("##  A\nx\n\n##A\n## A \ny\n##B\nz\n", "## A", false).text, "y\n##B\nz");
    }

    #[test]
    fn anywhere_means_the_text_of_the_heading_and_not_its_line() {
        assert_eq!(&*section("## PRIORITY\na\n\n## Other\nb", "## PRIORITY", true).text, "a");
        assert_eq!(&*section("## PRIORITY CONTEXT\nz", "## PRIORITY", true).text, "CONTEXT\nz");
        assert_eq!(&*section("text ## PRIORITY a", "## PRIORITY", true).text, "a");
        assert_eq!(
            &*section("## PRIORITY\na\n### b\nc\n##d\n# e", "## PRIORITY", true).text,
            "a\n### b\nc\n##d\n# e"
        );
        assert_eq!(&*section("## priority\na", "## PRIORITY", true).text, "");
        assert_eq!(&*section("## PRIORITY\n \n## b", "## PRIORITY", true).text, "");
    }

    #[test]
    fn a_section_knows_where_it_stands_in_its_file() {
        let file = section("# T\n\n## A\n\n  one\ntwo\n", "## A", false);
        let at = |byte| Position::at(&file.text, file.start(), &file.jumps, byte);
        assert_eq!(&*file.text, "one\ntwo");
        assert_eq!((at(0).to_string(), at(5).to_string()), ("5:3".to_owned(), "6:2".to_owned()));
    }
}
