//! Values and their changes in a few words.

use std::sync::Arc;

use crate::core::diff::common_prefix;
use crate::core::fact::{Lookup, Value};
use crate::core::text::count;
use crate::core::text::number::grouped;

/// Where two texts begin to differ, which their sizes do not say.
pub(super) fn difference(old: &Lookup, new: &Lookup) -> String {
    let (Lookup::Ready(old, ..), Lookup::Ready(new, ..)) = (old, new) else { return String::new() };
    match (old, new) {
        (Value::File(old), Value::File(new)) => {
            let same = common_prefix(old.text.as_bytes(), new.text.as_bytes());
            let ends = count::line_ends(&old.text.as_bytes()[..same]);
            // Where both have a line end, or nothing more, the line is the same to its end.
            let whole = |text: &str| text.as_bytes().get(same).is_none_or(|byte| *byte == b'\n');
            let next = usize::from(whole(&old.text) && whole(&new.text));
            format!(", from line {}", ends + 1 + next)
        }
        (Value::Map(old), Value::Map(new)) if old.contains_key("body") => {
            let (meta, body) = (old.get("meta") != new.get("meta"), old.get("body") != new.get("body"));
            match (meta, body) {
                (true, false) => ", other front matter".into(),
                (true, true) => ", other front matter and text".into(),
                (false, _) => ", other text".into(),
            }
        }
        _ => String::new(),
    }
}

/// A value for one line: a file or a list by its size.
pub(super) fn in_short(lookup: &Lookup) -> Arc<str> {
    match lookup {
        Lookup::Ready(Value::File(file), ..) => {
            format!("{} chars", grouped(file.text.chars().count())).into()
        }
        Lookup::Ready(Value::List(items), ..) => format!("{} entries", items.len()).into(),
        Lookup::Ready(Value::Map(map), ..) => match map.get("body").and_then(Value::as_text) {
            Some(body) => format!("{} chars", grouped(body.chars().count())).into(),
            None => format!("{} entries", map.len()).into(),
        },
        Lookup::Ready(value, ..) => value.to_string().into(),
        Lookup::Absent(_) => "not there".into(),
        Lookup::Failed(reason, _) => reason.clone(),
        Lookup::Unknown => "not known".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fact::{Base, EventId, FilePath, FileText};

    fn file(text: &str) -> Value {
        let path = FilePath::new(Base::Workspace, "AGENTS.md");
        Value::File(Arc::new(FileText::whole(path, text)))
    }

    fn said(old: Value, new: Value) -> String {
        let ready = |value: Value| Lookup::Ready(value.clone(), value.rev(), EventId::OPENING);
        let (old, new) = (ready(old), ready(new));
        format!("{} -> {}{}", in_short(&old), in_short(&new), difference(&old, &new))
    }

    #[test]
    fn a_change_that_keeps_the_size_says_where_it_is() {
        let long = "x".repeat(4_000);
        assert_eq!(
            said(file(&format!("a\nb\n{long}")), file(&format!("a\nc\n{long}"))),
            "4,004 chars -> 4,004 chars, from line 2"
        );
        assert_eq!(said(file("a"), file("a\n")), "1 chars -> 2 chars, from line 2");
        let document =
            |meta: &str, body: &str| Value::map([("meta", Value::text(meta)), ("body", file(body))]);
        for (new, want) in [
            (document("m", "bb"), "1 chars -> 2 chars, other text"),
            (document("n", "b"), "1 chars -> 1 chars, other front matter"),
            (document("n", "bb"), "1 chars -> 2 chars, other front matter and text"),
        ] {
            assert_eq!(said(document("m", "b"), new), want);
        }
        assert_eq!(said(Value::text("/w"), Value::text("/w/a")), "/w -> /w/a");
    }
}
