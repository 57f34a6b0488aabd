//! A bench as it was at a revision of git: its files are read from git's objects, and only those that are asked for.
//!
//! What is not in the repository (the home folder, a workspace elsewhere, a link that leads out) is read as it is now,
//! and [`Revision::notes`] say so. Contents are the objects' own bytes: line ends are not converted.

mod git;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Base, FactKey, FilePath, Found, Value};
use crate::core::run::Load;
use crate::io::load::{GLOB_SKIPS, Loader, Pattern};
use crate::io::syntax::Files;

use git::Objects;
use tree::Tree;

/// A commit of the repository that holds a folder.
pub struct Revision {
    commit: String,
    top: PathBuf,
    files: GitFiles,
    notes: BTreeSet<String>,
}

/// The tree with the process that hands out its contents.
struct GitFiles {
    tree: Tree,
    objects: Objects,
    /// Where links point, by their objects.
    links: BTreeMap<String, Option<String>>,
}

impl GitFiles {
    /// Calls `ask` with the tree and what reads links.
    fn with<T>(&mut self, ask: impl FnOnce(&Tree, &mut dyn FnMut(&str) -> Option<String>) -> T) -> T {
        let GitFiles { tree, objects, links } = self;
        ask(tree, &mut |object| {
            let known = links.entry(object.to_owned()).or_insert_with(|| {
                let bytes = objects.read(object).ok()?;
                String::from_utf8(bytes).ok()
            });
            known.clone()
        })
    }

    fn find(&mut self, path: &str) -> tree::Found {
        self.with(|tree, target| tree.find(path, target))
    }
}

impl Revision {
    /// Opens a revision (`HEAD`, a branch, a tag, a commit) of the repository that holds `folder`.
    ///
    /// # Errors
    ///
    /// Without git or a repository, and for a revision that is not known.
    pub fn open(folder: &Path, revision: &str) -> Result<Revision, Diagnostic> {
        let top = git::top(folder)?;
        let commit = git::commit(&top, revision)?;
        let tree = Tree::new(git::tree(&top, &commit)?);
        let files = GitFiles { tree, objects: Objects::open(&top)?, links: BTreeMap::new() };
        // On some systems folders have several names.
        let top = top.canonicalize().unwrap_or(top);
        Ok(Revision { commit, top, files, notes: BTreeSet::new() })
    }

    /// The commit, in full.
    #[must_use]
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// What a reader should know: what was read as it is now.
    #[must_use]
    pub fn notes(&self) -> &BTreeSet<String> {
        &self.notes
    }

    /// A folder on disk as a path from the top of the repository; none outside of it.
    #[must_use]
    pub fn path(&self, folder: &Path) -> Option<String> {
        let real = folder.canonicalize().ok()?;
        let below = real.strip_prefix(&self.top).ok()?;
        let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        parts.map(|parts| parts.join("/"))
    }

    /// The facts as they were: the three folders as paths from the top (none: read as it is now), and what reads
    /// everything else.
    pub fn past<'a>(&'a mut self, roots: PastRoots, now: &'a mut Loader) -> Past<'a> {
        Past { revision: self, roots, now }
    }

    /// The folder that a path from another folder leads to, as a path from the top; none where that is outside.
    #[must_use]
    pub fn folder(&mut self, from: &str, path: &str) -> Option<String> {
        let path = join(from, path);
        match self.files.find(&path) {
            tree::Found::Folder(folder) => Some(folder),
            tree::Found::Outside => None,
            // There was no such folder: nothing is found below it.
            _ => Some(path),
        }
    }
}

/// The folders from which relative paths started; none for what is read as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastRoots {
    /// Of the bench.
    pub bench: Option<String>,
    /// Of the workspace.
    pub workspace: Option<String>,
    /// The home.
    pub home: Option<String>,
}

/// The facts as they were.
pub struct Past<'a> {
    revision: &'a mut Revision,
    roots: PastRoots,
    now: &'a mut Loader,
}

impl Past<'_> {
    /// Looks in other folders from now on.
    pub fn move_to(&mut self, roots: PastRoots) {
        self.roots = roots;
    }

    /// The folders it looks in.
    #[must_use]
    pub fn roots(&self) -> &PastRoots {
        &self.roots
    }

    /// As [`Revision::folder`].
    pub fn folder(&mut self, from: &str, path: &str) -> Option<String> {
        self.revision.folder(from, path)
    }

    /// Something that a reader should know.
    pub fn note(&mut self, note: impl Into<String>) {
        self.revision.notes.insert(note.into());
    }

    /// What was under a key.
    pub fn found(&mut self, key: &FactKey) -> Found {
        let (path, root) = match key {
            FactKey::File(path)
            | FactKey::Data(path)
            | FactKey::Document(path)
            | FactKey::Glob(path)
            | FactKey::Git(path) => (path, self.root(path.base)),
            _ => return self.now.load(key),
        };
        let Some(root) = root else {
            if path.base == Base::Home {
                self.note("the home folder is not in the repository: its files are read as they are now");
            }
            return self.now.load(key);
        };
        if path.path.split('/').any(|part| part == "..") {
            // Refused now as it was then.
            return self.now.load(key);
        }
        match key {
            FactKey::Glob(pattern) => self.glob(key, pattern, &root),
            FactKey::Git(_) => {
                let folder = join(&root, &path.path);
                let names = self.revision.files.tree.below(&folder).map(Value::text);
                Found::Value(Value::list(names.collect::<Vec<_>>()))
            }
            _ => self.file(key, path, &join(&root, &path.path)),
        }
    }

    fn root(&self, base: Base) -> Option<String> {
        match base {
            Base::Bench => self.roots.bench.clone(),
            Base::Workspace => self.roots.workspace.clone(),
            Base::Home => self.roots.home.clone(),
        }
    }

    fn file(&mut self, key: &FactKey, path: &FilePath, from_top: &str) -> Found {
        let files = &mut self.revision.files;
        match files.find(from_top) {
            tree::Found::File(object) => match files.objects.read(&object) {
                Ok(bytes) => self.now.found_with(key, &bytes).unwrap_or(Found::Absent),
                Err(reason) => Found::Failed(reason.into()),
            },
            tree::Found::Folder(_) => Found::Failed("it is a folder".into()),
            tree::Found::Absent => Found::Absent,
            tree::Found::Circle => Found::Failed("its links lead in a circle".into()),
            tree::Found::Module => {
                self.note(format!("{path} is in a submodule, which is not looked into"));
                Found::Absent
            }
            tree::Found::Outside => {
                self.note(format!("{path} is a link out of the repository: it is read as it is now"));
                self.now.load(key)
            }
        }
    }

    fn glob(&mut self, key: &FactKey, pattern: &FilePath, root: &str) -> Found {
        let Ok(compiled) = Pattern::new(&pattern.path) else { return self.now.load(key) };
        let start = compiled.start();
        let folder = match self.revision.files.find(&join(root, start)) {
            tree::Found::Folder(folder) => folder,
            tree::Found::Outside => {
                self.note(format!("{pattern} leads out of the repository: it is read as it is now"));
                return self.now.load(key);
            }
            _ => return Found::Absent,
        };
        let files = self.revision.files.with(|tree, target| tree.files(&folder, GLOB_SKIPS, target));
        let shown = files.into_iter().map(|path| join(start, &path)).filter(|path| compiled.matches(path));
        let names: BTreeSet<String> = shown.collect();
        Found::Value(Value::list(names.into_iter().map(Value::text)))
    }
}

impl Load for Past<'_> {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), self.found(key))).collect()
    }
}

impl Files for Past<'_> {
    fn read(&mut self, path: &FilePath) -> Found {
        self.found(&FactKey::File(path.clone()))
    }
}

fn join(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", path) => path.to_owned(),
        (folder, "" | ".") => folder.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}
