//! A code map that another program keeps in a file: served while git's index is the one that it was made from.
//!
//! The file is JSON: `version`, `worktreeRoot`, `gitDir`, `indexMtimeMs`, `indexSize`, `directory`, `map`, `createdAt`. A file
//! without `directory` is about the root.

use std::sync::Arc;

use crate::core::fact::{FilePath, Value};

/// The version of the file.
const VERSION: i64 = 1;

/// The map in a cache, if it is about this folder and this index; none for a file of any other form.
pub fn served(cached: &Value, folder: &FilePath, index: &Value) -> Option<Arc<str>> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_text).cloned();
    let number = |value: &Value, key: &str| match value.get(key) {
        // Programs that count in fractions of a millisecond mean the same moment.
        Some(Value::Float(n)) => Some(n.floor() as i64),
        Some(Value::Int(n)) => Some(*n),
        _ => None,
    };
    let directory = text(cached, "directory").unwrap_or_default();
    let same = number(cached, "version") == Some(VERSION)
        && (if &*directory == "." { "" } else { &*directory }) == &*folder.path
        && text(cached, "worktreeRoot")? == text(index, "root")?
        && text(cached, "gitDir")? == text(index, "dir")?
        && number(cached, "indexMtimeMs")? == number(index, "mtime_ms")?
        && number(cached, "indexSize")? == number(index, "size")?;
    same.then(|| text(cached, "map")).flatten()
}

/// The file for a map.
#[must_use]
pub fn file(folder: &FilePath, index: &Value, map: &str, now: &str) -> String {
    let text = |key: &str| index.get(key).map(ToString::to_string).unwrap_or_default();
    let number = |key: &str| match index.get(key) {
        Some(Value::Int(n)) => *n,
        _ => 0,
    };
    let directory = if folder.path.is_empty() { "." } else { &*folder.path };
    let json = serde_json::json!({
        "version": VERSION,
        "worktreeRoot": text("root"),
        "gitDir": text("dir"),
        "indexMtimeMs": number("mtime_ms"),
        "indexSize": number("size"),
        "directory": directory,
        "map": map,
        "createdAt": now,
    });
    format!("{json:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fact::Base;
    use crate::core::wire::json;

    fn index(mtime: i64, size: i64) -> Value {
        Value::map([
            ("root", Value::text("/w")),
            ("dir", Value::text("/w/.git")),
            ("mtime_ms", Value::Int(mtime)),
            ("size", Value::Int(size)),
        ])
    }

    #[test]
    fn a_cache_is_served_for_its_folder_and_its_index_alone() {
        let root = FilePath::new(Base::Workspace, "");
        let inner = FilePath::new(Base::Workspace, "src");
        let of = |folder: &FilePath| json::parse(&file(folder, &index(7, 9), "  a", "now")).expect("JSON");
        assert_eq!(served(&of(&root), &root, &index(7, 9)).as_deref(), Some("  a"));
        assert_eq!(served(&of(&inner), &inner, &index(7, 9)).as_deref(), Some("  a"));
        for (cached, folder, index) in [
            (of(&root), &inner, index(7, 9)),
            (of(&inner), &root, index(7, 9)),
            (of(&root), &root, index(8, 9)),
            (of(&root), &root, index(7, 8)),
            (Value::Null, &root, index(7, 9)),
            (Value::text("broken"), &root, index(7, 9)),
        ] {
            assert_eq!(served(&cached, folder, &index), None);
        }
        // As the program in use writes it: no folder, a moment with fractions.
        let other = json::parse(
            r#"{ "version": 1, "worktreeRoot": "/w", "gitDir": "/w/.git", "indexMtimeMs": 7.25, "indexSize": 9, "map": "x" }"#,
        )
        .expect("JSON");
        assert_eq!(served(&other, &root, &index(7, 9)).as_deref(), Some("x"));
    }
}
