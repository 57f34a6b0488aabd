//! `git_files:`: a map of the files that git tracks, short enough for a prompt.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Ask, Derived, paths};
use crate::core::bench::Cap;
use crate::core::fact::{EventId, FactKey, FilePath, Value};
use crate::core::text::{Made, Traced, cut};

/// One line for each folder at the top: its first files, those nearest to the top first, and how many more there are.
/// Folders in byte order, then the files of the folder itself, then folders whose name starts with a dot.
pub(super) fn derive(
    folder: &FilePath,
    groups: usize,
    per_group: usize,
    cap: Option<&Cap>,
    ask: &mut dyn Ask,
) -> Derived {
    let files = match paths(&FactKey::Git(folder.clone()), ask) {
        Ok(files) => files,
        Err(other) => return other,
    };
    let text: Arc<str> = map(&files, groups, per_group).into();
    let text = match cap {
        None => text,
        Some(cap) => {
            let whole = Traced::whole("map", text, Made::Literal, EventId::OPENING);
            cut::traced(&whole, cap).0.text().clone()
        }
    };
    Derived::Ready(Value::Text(text))
}

fn map(files: &[Arc<str>], groups: usize, per_group: usize) -> String {
    // The rank keeps folders, own files and hidden folders apart.
    let mut folders: BTreeMap<(u8, &str), Vec<&str>> = BTreeMap::new();
    for file in files {
        let (key, below) = match file.split_once('/') {
            Some((folder, below)) => ((if folder.starts_with('.') { 2 } else { 0 }, folder), below),
            None => ((1, ""), &**file),
        };
        folders.entry(key).or_default().push(below);
    }
    let mut lines = Vec::new();
    for ((_, folder), files) in folders.iter_mut().take(groups) {
        files.sort_unstable_by_key(|file| (file.matches('/').count(), *file));
        let mut line = if folder.is_empty() { "  (here):".to_owned() } else { format!("  {folder}/:") };
        line += &files.iter().take(per_group).map(|file| format!(" {file}")).collect::<Vec<_>>().join(",");
        if files.len() > per_group {
            let comma = if per_group == 0 { "" } else { "," };
            line += &format!("{comma} +{}", counted(files.len() - per_group, "file"));
        }
        lines.push(line);
    }
    let rest: Vec<usize> = folders.values().skip(groups).map(Vec::len).collect();
    if !rest.is_empty() {
        let files = counted(rest.iter().sum(), "file");
        lines.push(format!("  +{} with {files}", counted(rest.len(), "folder")));
    }
    lines.join("\n")
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::fact::Base;

    fn of(files: &[&str], groups: usize, per_group: usize) -> String {
        map(&files.iter().map(|file| Arc::from(*file)).collect::<Vec<_>>(), groups, per_group)
    }

    #[test]
    fn the_map_names_what_it_leaves_out() {
        let files = [
            "src/core/a.rs",
            "src/lib.rs",
            "src/main.rs",
            ".ci/run",
            "Cargo.toml",
            "docs/你好.md",
            "a/b/c/d",
        ];
        assert_eq!(
            of(&files, 9, 2),
            "  a/: b/c/d\n  docs/: 你好.md\n  src/: lib.rs, main.rs, +1 file\n  (here): Cargo.toml\n  .ci/: run"
        );
        assert_eq!(of(&files, 1, 0), "  a/: +1 file\n  +4 folders with 6 files");
        assert_eq!(of(&[], 9, 9), "");
    }

    #[test]
    fn the_order_of_the_listing_does_not_matter() {
        let mut files = ["b/x", "a/y", "a/x", "z", "a/d/x"];
        let before = of(&files, 9, 9);
        files.reverse();
        assert_eq!(of(&files, 9, 9), before);
    }

    #[test]
    fn without_git_the_map_is_empty() {
        let folder = FilePath::new(Base::Workspace, "");
        let mut answers = Answers::default();
        assert_eq!(derive(&folder, 9, 9, None, &mut answers), Derived::Unknown);
        answers.absent(FactKey::Git(folder.clone()));
        assert_eq!(derive(&folder, 9, 9, None, &mut answers), Derived::Ready(Value::text("")));
    }
}
