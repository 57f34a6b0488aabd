//! The files of a commit as a tree that can be walked: links followed, folders listed.

use std::collections::{BTreeMap, BTreeSet};

use super::git::Entry;

/// How many links may lead to one another.
const MAX_LINKS: usize = 40;

/// What a path of a commit is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File(String),
    Link(String),
    Module,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A file: its object.
    File(String),
    /// A folder: its path from the top, links followed.
    Folder(String),
    /// Nothing.
    Absent,
    /// A link to what is no part of the repository.
    Outside,
    /// What another repository holds.
    Module,
    /// Links that lead in a circle.
    Circle,
}

/// The files of a commit, by their paths from the top.
#[derive(Debug, Default)]
pub(super) struct Tree(BTreeMap<String, Node>);

impl Tree {
    pub(super) fn new(entries: Vec<Entry>) -> Tree {
        let node = |entry: Entry| {
            let node = match &*entry.mode {
                "120000" => Node::Link(entry.object),
                "160000" => Node::Module,
                _ => Node::File(entry.object),
            };
            (entry.path, node)
        };
        Tree(entries.into_iter().map(node).collect())
    }

    /// What a path from the top leads to. `target` reads where a link points, by its object.
    pub(super) fn find(&self, path: &str, target: &mut dyn FnMut(&str) -> Option<String>) -> Found {
        let mut rest: Vec<String> = parts(path).rev().map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            match &*part {
                "." => continue,
                ".." => {
                    if at.pop().is_none() {
                        return Found::Outside;
                    }
                    continue;
                }
                _ => at.push(part),
            }
            match self.0.get(&at.join("/")) {
                Some(Node::File(object)) if rest.is_empty() => return Found::File(object.clone()),
                Some(Node::File(_)) => return Found::Absent,
                Some(Node::Module) => return Found::Module,
                Some(Node::Link(object)) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Found::Circle;
                    }
                    let Some(target) = target(object) else { return Found::Absent };
                    if target.starts_with('/') {
                        return Found::Outside;
                    }
                    at.pop();
                    rest.extend(parts(&target).rev().map(str::to_owned));
                }
                None => {}
            }
        }
        let folder = at.join("/");
        if folder.is_empty() || self.below(&folder).next().is_some() {
            Found::Folder(folder)
        } else {
            Found::Absent
        }
    }

    /// Every entry below a folder: its path from that folder. Links are entries, and are not followed.
    pub(super) fn below<'t>(&'t self, folder: &str) -> impl Iterator<Item = &'t str> + use<'t> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let len = prefix.len();
        self.0
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(move |(path, _)| &path[len..])
    }

    /// Every file below a folder, by its path from there; links are followed, but not in circles. Folders of these
    /// names are left out.
    pub(super) fn files(
        &self,
        folder: &str,
        skipped: &[&str],
        target: &mut dyn FnMut(&str) -> Option<String>,
    ) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.walk(folder, "", skipped, target, &mut vec![folder.to_owned()], &mut found);
        found
    }

    fn walk(
        &self,
        folder: &str,
        shown: &str,
        skipped: &[&str],
        target: &mut dyn FnMut(&str) -> Option<String>,
        above: &mut Vec<String>,
        found: &mut BTreeSet<String>,
    ) {
        let join = |a: &str, b: &str| if a.is_empty() { b.to_owned() } else { format!("{a}/{b}") };
        for path in self.below(folder) {
            if parts(path).rev().skip(1).any(|part| skipped.contains(&part)) {
                continue;
            }
            let (real, shown) = (join(folder, path), join(shown, path));
            match self.0.get(&real) {
                Some(Node::File(_)) => {
                    found.insert(shown);
                }
                Some(Node::Link(_)) => match self.find(&real, target) {
                    Found::File(_) => {
                        found.insert(shown);
                    }
                    Found::Folder(to) if !above.contains(&to) && above.len() < MAX_LINKS => {
                        above.push(to.clone());
                        self.walk(&to, &shown, skipped, target, above, found);
                        above.pop();
                    }
                    // What it leads to is read as it is now.
                    Found::Outside => {
                        found.insert(shown);
                    }
                    _ => {}
                },
                Some(Node::Module) | None => {}
            }
        }
    }
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files are named alone, links as `name -> target`; the object of a link is its target.
    fn tree(entries: &[&str]) -> Tree {
        let entry = |text: &&str| match text.split_once(" -> ") {
            Some((path, target)) => Entry { mode: "120000".into(), object: target.into(), path: path.into() },
            None if text.ends_with('@') => Entry {
                mode: "160000".into(),
                object: String::new(),
                path: text.trim_end_matches('@').into(),
            },
            None => Entry { mode: "100644".into(), object: format!("#{text}"), path: (*text).into() },
        };
        Tree::new(entries.iter().map(entry).collect())
    }

    fn target(object: &str) -> Option<String> {
        Some(object.to_owned())
    }

    #[test]
    fn links_are_followed_inside_of_the_repository() {
        let tree = tree(&[
            "a/b/c.md",
            "a/link.md -> b/c.md",
            "d -> a/b",
            "up -> ../x",
            "abs -> /etc/passwd",
            "x1 -> x2",
            "x2 -> x1",
            "sub@",
        ]);
        let file = Found::File("#a/b/c.md".into());
        for (path, want) in [
            ("a/b/c.md", file.clone()),
            ("a/link.md", file.clone()),
            ("d/c.md", file.clone()),
            ("a/./b/../link.md", file),
            ("d", Found::Folder("a/b".into())),
            ("", Found::Folder(String::new())),
            ("a/none.md", Found::Absent),
            ("a/b/c.md/x", Found::Absent),
            ("up", Found::Outside),
            ("../x", Found::Outside),
            ("abs", Found::Outside),
            ("x1", Found::Circle),
            ("sub/file", Found::Module),
        ] {
            assert_eq!(tree.find(path, &mut target), want, "{path}");
        }
    }

    #[test]
    fn folders_are_listed_with_what_their_links_hold() {
        let tree = tree(&[
            "w/a.md",
            "w/s/b.md",
            "w/l -> s",
            "w/s/round -> ..",
            "w/target/t.md",
            "w.md",
            "v -> w/a.md",
        ]);
        let found: Vec<String> = tree.files("w", &["target"], &mut target).into_iter().collect();
        assert_eq!(found, ["a.md", "l/b.md", "s/b.md"]);
        let all: Vec<String> = tree.files("", &[], &mut target).into_iter().collect();
        assert!(all.contains(&"v".to_owned()) && all.contains(&"w/target/t.md".to_owned()), "{all:?}");
        assert_eq!(tree.below("w/s").collect::<Vec<_>>(), ["b.md", "round"]);
    }
}
