//! `docs:`: a folder of knowledge, its documents cut into chunks that can be searched.

use std::sync::Arc;

use super::{Ask, Derived, Item, list, name, paths};
use crate::core::fact::{FactKey, FilePath, Lookup, Value};

/// What is read below the folder.
const DOCUMENTS: &str = "**/*.{md,markdown,txt}";

/// Each document: `path`, `name`, `error`, and `chunks`, a list of `heading` and `text`. A chunk begins at a heading,
/// and at a blank line where it would get longer than `chunk_chars` characters.
pub(super) fn derive(folder: &FilePath, chunk_chars: usize, ask: &mut dyn Ask) -> Derived {
    let pattern = FilePath::new(folder.base, format!("{}{DOCUMENTS}", super::below(folder)));
    let paths = match paths(&FactKey::Glob(pattern), ask) {
        Ok(paths) => paths,
        Err(other) => return other,
    };
    list(paths.into_iter().map(|path| document(folder, path, chunk_chars, ask)))
}

fn document(folder: &FilePath, path: Arc<str>, chunk_chars: usize, ask: &mut dyn Ask) -> Item {
    let (text, error): (Arc<str>, Value) =
        match ask.ask(&FactKey::File(FilePath::new(folder.base, path.clone()))) {
            Lookup::Ready(text, ..) => (text.as_text().cloned().unwrap_or_default(), Value::Null),
            Lookup::Failed(reason, _) => ("".into(), Value::Text(reason)),
            // It was deleted after the folder was listed.
            Lookup::Absent(_) => return Item::Gone,
            Lookup::Unknown => return Item::Unknown,
        };
    let chunks = chunks(&text, chunk_chars).into_iter().map(|(heading, text)| {
        Value::map([
            ("path", Value::Text(path.clone())),
            ("heading", Value::text(heading)),
            ("text", Value::text(text)),
        ])
    });
    Item::Ready(Value::map([
        ("path", Value::Text(path.clone())),
        ("name", Value::text(name(&path))),
        ("chunks", Value::list(chunks)),
        ("error", error),
    ]))
}

/// The chunks of a text with the heading above each, without the white space around them. Blank ones are none.
fn chunks(text: &str, most: usize) -> Vec<(&str, &str)> {
    let mut chunks = Vec::new();
    let mut heading = "";
    let (mut start, mut end, mut chars) = (0, 0, 0);
    let mut at = 0;
    let mut fenced = false;
    let mut take = |range: std::ops::Range<usize>, heading| {
        let chunk = text[range].trim();
        if !chunk.is_empty() {
            chunks.push((heading, chunk));
        }
    };
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        fenced ^= bare.starts_with("```") || bare.starts_with("~~~");
        let hashes = bare.bytes().take_while(|byte| *byte == b'#').count();
        let titled = !fenced && (1..=6).contains(&hashes) && bare[hashes..].starts_with(' ');
        let count = line.chars().count();
        // `end` is behind the last blank line: a paragraph is not cut, unless it is longer than a chunk by itself.
        if titled || (chars + count > most && end > start) {
            let cut = if titled { at } else { end };
            take(start..cut, heading);
            chars = text[cut..at].chars().count();
            (start, end) = (cut, cut);
        } else if chars + count > most && chars > 0 {
            take(start..at, heading);
            (start, end, chars) = (at, at, 0);
        }
        if titled {
            heading = bare[hashes..].trim();
        }
        at += line.len();
        chars += count;
        if bare.is_empty() {
            end = at;
        }
    }
    take(start..text.len(), heading);
    chunks
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::fact::Base;

    #[test]
    fn a_document_is_cut_at_headings_and_blank_lines() {
        let text = "前言\n\n# 退款\n七天内。\n\n超过要审批。\n\n## 例外\n无\n```\n# not a heading\n```\n";
        assert_eq!(
            chunks(text, 100),
            [
                ("", "前言"),
                ("退款", "# 退款\n七天内。\n\n超过要审批。"),
                ("例外", "## 例外\n无\n```\n# not a heading\n```")
            ]
        );
        assert_eq!(chunks("aaaa\n\nbbbb\ncccc\n", 11), [("", "aaaa"), ("", "bbbb\ncccc")]);
        assert_eq!(chunks("aaaa\nbbbb\ncccc", 10), [("", "aaaa\nbbbb"), ("", "cccc")]);
        assert_eq!(chunks(" \n\n", 10), []);
    }

    #[test]
    fn every_chunk_of_every_document_is_there() {
        let folder = FilePath::new(Base::Workspace, "knowledge");
        let mut answers = Answers::default();
        answers.value(
            FactKey::Glob(FilePath::new(Base::Workspace, "knowledge/**/*.{md,markdown,txt}")),
            Value::list(["knowledge/a.md", "knowledge/b/c.txt"].map(Value::text)),
        );
        assert_eq!(derive(&folder, 100, &mut answers), Derived::Unknown);
        answers.file("knowledge/a.md", "# A\none\n");
        answers
            .failed(FactKey::File(FilePath::new(Base::Workspace, "knowledge/b/c.txt")), "it is not a text");
        let Derived::Ready(documents) = derive(&folder, 100, &mut answers) else { panic!("no list") };
        let documents = documents.as_list().expect("a list");
        let chunk = &documents[0].get("chunks").and_then(Value::as_list).expect("chunks")[0];
        assert_eq!(chunk.get("heading").expect("a heading").to_string(), "A");
        assert_eq!(chunk.get("path").expect("a path").to_string(), "knowledge/a.md");
        assert_eq!(documents[1].get("error").expect("a reason").to_string(), "it is not a text");
    }

    proptest::proptest! {
        #[test]
        fn no_word_of_a_document_is_lost(text in "([a-c#` \n]|你){0,120}", most in 1usize..20) {
            let kept: String = chunks(&text, most).iter().map(|(_, chunk)| *chunk).collect();
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            proptest::prop_assert_eq!(bare(&kept), bare(&text));
        }
    }
}
