//! `git_files:`: a map of the files that git tracks, short enough for a prompt.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Ask, Derived, map_cache, paths};
use crate::core::bench::{Cap, MapStyle};
use crate::core::fact::{EventId, FactKey, FilePath, Lookup, Value};
use crate::core::text::{Made, Traced, cut};

/// One line for each folder at the top: its first files, those nearest to the top first, and how many more there are.
/// Folders in byte order, then the files of the folder itself, then folders whose name starts with a dot; a bench can
/// say otherwise.
pub(super) fn derive(
    folder: &FilePath,
    groups: usize,
    per_group: usize,
    style: &MapStyle,
    cap: Option<&Cap>,
    ask: &mut dyn Ask,
) -> Derived {
    let files = match paths(&FactKey::Git(folder.clone()), ask) {
        Ok(files) => files,
        Err(other) => return other,
    };
    let text: Arc<str> = map(&files, groups, per_group, style).into();
    let text = match cap {
        None => text,
        Some(cap) => {
            let whole = Traced::whole("map", text, Made::Literal, EventId::OPENING);
            cut::traced(&whole, cap).0.text().clone()
        }
    };
    Derived::Ready(Value::Text(text))
}

/// The map that a file holds, where it was made from the index that git has now; `Unknown` while that cannot be told.
pub(super) fn cached(folder: &FilePath, cache: &FilePath, ask: &mut dyn Ask) -> Option<Derived> {
    let index = ask.ask(&FactKey::Environment("git_index".into()));
    let file = ask.ask(&FactKey::Data(cache.clone()));
    match (index, file) {
        (Lookup::Unknown, _) | (_, Lookup::Unknown) => Some(Derived::Unknown),
        (Lookup::Ready(index, ..), Lookup::Ready(file, ..)) => {
            map_cache::served(&file, folder, &index).map(|map| Derived::Ready(Value::Text(map)))
        }
        // Without git there is nothing to serve, and a file that cannot be read is made again.
        _ => None,
    }
}

/// Where a group stands: those that come first, the others, the files of the folder itself, hidden folders; then by
/// name, and within a split folder its own files in front of those of its folders.
type Group<'f> = (usize, &'f str, &'f str);

fn map(files: &[Arc<str>], groups: usize, per_group: usize, style: &MapStyle) -> String {
    let mut folders: BTreeMap<Group<'_>, Vec<&str>> = BTreeMap::new();
    for file in files {
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        if !style.only.is_empty() && !style.only.iter().any(|only| **only == *extension) {
            continue;
        }
        let (group, below) = match file.split_once('/') {
            Some((folder, _)) if style.skip.iter().any(|skip| **skip == *folder) => continue,
            Some((folder, below)) => {
                let first = style.first.iter().position(|first| **first == *folder);
                let hidden = folder.starts_with('.');
                let rank = first.unwrap_or(style.first.len() + if hidden { 2 } else { 0 });
                match below.split_once('/').filter(|_| style.split.iter().any(|split| **split == *folder)) {
                    Some((inner, below)) => ((rank, folder, inner), below),
                    None => ((rank, folder, ""), below),
                }
            }
            None => ((style.first.len() + 1, "", ""), &**file),
        };
        folders.entry(group).or_default().push(below);
    }
    // A folder that is split counts once, and shows no more of its own folders than the whole map shows.
    let mut tops: Vec<(usize, &str)> = folders.keys().map(|(rank, folder, _)| (*rank, *folder)).collect();
    tops.dedup();
    let shown = &tops[..tops.len().min(groups)];
    let mut lines = Vec::new();
    for top in shown {
        let of = folders.iter_mut().filter(|((rank, folder, _), _)| (*rank, *folder) == *top).take(groups);
        for ((_, folder, inner), files) in of {
            let name = match (*folder, *inner) {
                ("", _) => style.root.to_string(),
                (folder, "") => format!("{folder}/"),
                (folder, inner) => format!("{folder}/{inner}/"),
            };
            lines.push(format!("  {name}:{}", names(files, per_group, style)));
        }
    }
    let rest: Vec<usize> = folders
        .iter()
        .filter(|((rank, folder, _), _)| !shown.contains(&(*rank, *folder)))
        .map(|(_, files)| files.len())
        .collect();
    if !rest.is_empty() && style.more {
        let files = counted(rest.iter().sum(), "file");
        lines.push(format!("  +{} with {files}", counted(tops.len() - shown.len(), "folder")));
    }
    lines.join("\n")
}

/// The first files of a group, and how many more there are.
fn names(files: &mut Vec<&str>, per_group: usize, style: &MapStyle) -> String {
    if style.stems {
        for file in files.iter_mut() {
            let name = super::name(file);
            // What starts with a dot has no name in front of it.
            *file = name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
        }
        files.sort_unstable();
        // It says no more than the name of its folder, unless nothing else is there.
        if files.iter().any(|name| *name != "index") {
            files.retain(|name| *name != "index");
        } else {
            files.truncate(1);
        }
    } else {
        files.sort_unstable_by_key(|file| (file.matches('/').count(), *file));
    }
    let mut line = files.iter().take(per_group).map(|file| format!(" {file}")).collect::<Vec<_>>().join(",");
    if files.len() > per_group && style.more {
        let comma = if per_group == 0 { "" } else { "," };
        line += &format!("{comma} +{}", counted(files.len() - per_group, "file"));
    }
    line
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
        styled(files, groups, per_group, &MapStyle::default())
    }

    fn styled(files: &[&str], groups: usize, per_group: usize, style: &MapStyle) -> String {
        map(&files.iter().map(|file| Arc::from(*file)).collect::<Vec<_>>(), groups, per_group, style)
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
    fn a_bench_can_say_how_the_map_is_made() {
        let style = MapStyle {
            only: vec!["ts".into(), "js".into()],
            skip: vec![".omx".into()],
            first: vec!["src".into(), "bin".into()],
            split: vec!["src".into()],
            stems: true,
            root: "(root)".into(),
            more: false,
        };
        let files = [
            ".omx/x.ts",
            ".ci/x.js",
            "README.md",
            "a/z.ts",
            "bin/run.js",
            "root.ts",
            "src/cli/index.ts",
            "src/hooks/b.ts",
            "src/hooks/a.test.ts",
            "src/hooks/index.ts",
            "src/two/index.ts",
            "src/two/deep/index.js",
            "src/top.ts",
        ];
        assert_eq!(
            styled(&files, 9, 9, &style),
            "  src/: top\n  src/cli/: index\n  src/hooks/: a.test, b\n  src/two/: index\n  bin/: run\n  a/: z\n  (root): root\n  .ci/: x"
        );
        assert_eq!(styled(&files, 2, 1, &style), "  src/: top\n  src/cli/: index\n  bin/: run");
        assert_eq!(styled(&["x.rs"], 2, 1, &style), "");
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
        assert_eq!(derive(&folder, 9, 9, &MapStyle::default(), None, &mut answers), Derived::Unknown);
        answers.absent(FactKey::Git(folder.clone()));
        assert_eq!(
            derive(&folder, 9, 9, &MapStyle::default(), None, &mut answers),
            Derived::Ready(Value::text(""))
        );
    }
}
