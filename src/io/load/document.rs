//! Documents with front matter, and data files.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::core::fact::{FilePath, FileText, Found, Name, Value};
use crate::core::wire::json;
use crate::io::syntax;

/// A file's text as data: JSON by its name, else YAML.
pub(super) fn data(path: &FilePath, text: &str) -> Found {
    let parsed = if path.path.ends_with(".json") { json::parse(text) } else { yaml(&path.path, text) };
    match parsed {
        Ok(value) => Found::Value(value),
        Err(reason) => Found::Failed(reason.into()),
    }
}

fn yaml(name: &str, text: &str) -> Result<Value, String> {
    match syntax::parse(&Name::from(name), text) {
        Ok(root) => Ok(root.value()),
        Err(problems) => {
            let first = problems.first();
            let place =
                first.and_then(|p| p.at).map(|at| format!(" (line {}, column {})", at.line, at.column));
            let message = first.map_or("it cannot be read", |p| &p.message);
            Err(format!("it is not YAML: {message}{}", place.unwrap_or_default()))
        }
    }
}

/// A file with front matter, between lines of `---`: a map of `meta` and `body`.
///
/// Front matter that is not YAML is common, since people write `description: a: b`. It is then read as lines of
/// `key: value`, and the body carries a note.
pub(super) fn document(file: FileText) -> Value {
    let Some((matter, body)) = split(&file.text) else {
        return value(IndexMap::new(), file);
    };
    let mut notes = file.notes.clone();
    let meta = match yaml(&file.path.path, matter) {
        Ok(Value::Map(map)) => Arc::unwrap_or_clone(map),
        Ok(Value::Null) => IndexMap::new(),
        Ok(_) => {
            notes.push("the front matter is not a map".into());
            IndexMap::new()
        }
        Err(reason) => {
            notes.push(format!("front matter read line by line: {reason}").into());
            by_lines(matter)
        }
    };
    let skipped = file.text[..file.text.len() - body.len()].matches('\n').count() as u32;
    let body = FileText { text: body.into(), notes, skipped, ..file };
    value(meta, body)
}

fn value(meta: IndexMap<Name, Value>, body: FileText) -> Value {
    Value::map([("meta", Value::Map(Arc::new(meta))), ("body", Value::File(Arc::new(body)))])
}

/// The front matter and the text behind it.
fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn by_lines(matter: &str) -> IndexMap<Name, Value> {
    let mut meta: IndexMap<Name, Value> = IndexMap::new();
    for line in matter.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-'])) {
        if let Some((key, value)) = line.split_once(':') {
            let value = value.trim();
            let quoted = |quote| value.strip_prefix(quote).and_then(|v: &str| v.strip_suffix(quote));
            let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
            meta.entry(key.trim().into()).or_insert_with(|| Value::text(value));
        }
    }
    meta
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fact::Base;

    fn file(text: &str) -> FileText {
        FileText::whole(FilePath::new(Base::Workspace, "SKILL.md"), text)
    }

    fn body(document: &Value) -> &FileText {
        match document.get("body") {
            Some(Value::File(file)) => file,
            other => panic!("no body: {other:?}"),
        }
    }

    #[test]
    fn front_matter_is_yaml() {
        for text in
            ["---\nname: a\ntags: [x, y]\n---\n# Body\n", "---\r\nname: a\r\ntags: [x, y]\r\n---\r\n# Body\n"]
        {
            let document = document(file(text));
            let meta = document.get("meta").expect("meta");
            assert_eq!(meta.get("name"), Some(&Value::text("a")));
            assert_eq!(body(&document).skipped, 4);
            assert_eq!(meta.get("tags"), Some(&Value::list([Value::text("x"), Value::text("y")])));
            assert_eq!(&*body(&document).text, "# Body\n");
            assert!(body(&document).notes.is_empty());
        }
    }

    #[test]
    fn a_rule_in_the_text_is_no_front_matter() {
        for text in ["# A\n---\nb\n", "---\nnever closed\n", "----\na: 1\n---\n", ""] {
            let document = document(file(text));
            assert_eq!(document.get("meta"), Some(&Value::map::<&str>([])));
            assert_eq!(&*body(&document).text, text);
        }
    }

    #[test]
    fn front_matter_that_is_not_yaml_is_read_by_lines() {
        let document = document(file("---\nname: a\ndescription: use when: it breaks\nq: \"x\"\n---\nB"));
        let meta = document.get("meta").expect("meta");
        assert_eq!(meta.get("description"), Some(&Value::text("use when: it breaks")));
        assert_eq!(meta.get("q"), Some(&Value::text("x")));
        let note = &body(&document).notes[0];
        assert!(note.starts_with("front matter read line by line: it is not YAML: a second"), "{note}");
    }

    #[test]
    fn data_files_are_told_apart_by_name() {
        let of = |name: &str, text: &str| data(&FilePath::new(Base::Bench, name), text);
        let list = Found::Value(Value::list([Value::Int(1), Value::Float(1.5), Value::Null]));
        assert_eq!(of("a.json", "[1, 1.5,\tnull]"), list);
        assert_eq!(of("a.yaml", "- 1\n- 1.5\n-\n"), list);
        assert_eq!(of("a.json", " \n"), Found::Value(Value::Null));
        let Found::Failed(reason) = of("a.json", "{\n \"a\": }") else { panic!("it is broken") };
        assert_eq!(&*reason, "it is not JSON: expected value (line 2, column 7)");
        let Found::Failed(reason) = of("a.yaml", "a: b: c") else { panic!("it is broken") };
        assert_eq!(&*reason, "it is not YAML: a second `: ` in one line (line 1, column 5)");
    }
}
