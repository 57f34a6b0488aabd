//! A bench as the user names it: a file, a folder with one, or any folder; with the loader for everything it reads.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::edit::Original;
use super::edit::bench::BenchEdit;
use super::load::{BenchRoot, Clock, Loader, Roots};
use super::near::{misnamed, near};
use super::plain;
use super::syntax::{Change, Document, Variant};
use crate::core::bench::Bench;
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::{Base, FactKey, FilePath, Found, Name, Rev, Value};
use crate::core::text::Source;

/// What a path that the user named turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A bench file.
    Bench(PathBuf),
    /// A folder without a bench, which gets the built-in one.
    Plain(PathBuf),
}

impl Target {
    /// Finds out what a path is. In a folder, `bench.yaml` is the bench, or the only file that ends in `.bench.yaml`.
    ///
    /// # Errors
    ///
    /// When there is nothing there, when it is a file of another kind, or when a folder has several benches.
    pub fn find(path: &Path) -> Result<Target, Diagnostic> {
        let shown = path.display();
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Diagnostic::error(format!("there is no file or folder `{shown}`"))
            }
            _ => {
                let reason = super::load::reason(&error);
                Diagnostic::error(format!("`{shown}` cannot be opened: {reason}"))
            }
        })?;
        if metadata.is_file() {
            return match path.extension().and_then(OsStr::to_str) {
                Some("yaml" | "yml") => Ok(Target::Bench(path.to_owned())),
                _ => Err(Diagnostic::error(format!("`{shown}` is not a bench file"))
                    .hint("a bench is a YAML file; any folder can be opened without one")),
            };
        }
        if !metadata.is_dir() {
            return Err(Diagnostic::error(format!("`{shown}` is neither a file nor a folder")));
        }
        let bench = path.join("bench.yaml");
        if bench.is_file() {
            return Ok(Target::Bench(bench));
        }
        let mut benches: Vec<PathBuf> = fs::read_dir(path)
            .map_err(|error| {
                Diagnostic::error(format!("`{shown}` cannot be listed: {}", super::load::reason(&error)))
            })?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".bench.yaml"))
            })
            .collect();
        benches.sort();
        match benches.as_slice() {
            [] => Ok(Target::Plain(path.to_owned())),
            [one] => Ok(Target::Bench(one.clone())),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .filter_map(|path| Some(format!("`{}`", path.file_name()?.to_string_lossy())))
                    .collect();
                Err(Diagnostic::error(format!("`{shown}` has several benches"))
                    .hint(format!("name one of {}", names.join(", "))))
            }
        }
    }
}

/// What the machine decides about a bench, so that tests can decide it instead.
#[derive(Clone)]
pub struct Machine {
    /// The time, where the bench does not tell it.
    pub clock: Clock,
    /// The user's home folder, where the bench does not name one.
    pub home: Option<PathBuf>,
}

impl Machine {
    /// This machine's clock and home folder.
    #[must_use]
    pub fn this() -> Machine {
        Machine { clock: super::load::machine_clock(), home: etcetera::home_dir().ok() }
    }
}

/// An opened bench: its document, and the loader for everything that it reads.
#[derive(Debug)]
pub struct BenchFile {
    target: Target,
    /// The folder that relative paths of the bench start from; for a plain folder, that folder.
    folder: PathBuf,
    /// The bench file, as the loader knows it.
    key: FactKey,
    home: Option<PathBuf>,
    document: Document,
    /// What is wrong with the file now, while `document` is what it was before.
    broken: Option<Vec<Diagnostic>>,
    /// The revision of the file of which every variant was checked, and what was said of them.
    checked: Option<(Rev, Vec<Diagnostic>)>,
    loader: Loader,
}

impl BenchFile {
    /// Reads the file; what it means is checked by [`BenchFile::bench`].
    ///
    /// # Errors
    ///
    /// When the path leads to no bench, or the file is not YAML.
    pub fn open(path: &Path, machine: &Machine) -> Result<BenchFile, Vec<Diagnostic>> {
        BenchFile::of(Target::find(path).map_err(|problem| vec![problem])?, machine)
    }

    /// As [`BenchFile::open`], for a path that was looked at already.
    ///
    /// # Errors
    ///
    /// When the file is not YAML, or cannot be read.
    pub fn of(target: Target, machine: &Machine) -> Result<BenchFile, Vec<Diagnostic>> {
        let (folder, name, bench) = match &target {
            Target::Bench(file) => {
                let folder = match file.parent() {
                    Some(parent) if parent != Path::new("") => parent,
                    _ => Path::new("."),
                };
                let folder = absolute(folder);
                let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
                (folder.clone(), name.unwrap_or_default(), BenchRoot::Folder(folder))
            }
            Target::Plain(folder) => {
                (absolute(folder), plain::BENCH.to_owned(), BenchRoot::Embedded(plain::FILES))
            }
        };
        let roots = Roots { bench, workspace: folder.clone(), home: machine.home.clone() };
        let mut loader = Loader::new(roots, machine.clock.clone());
        let key = FactKey::File(FilePath::new(Base::Bench, name));
        let document = read(&mut loader, &key, matches!(target, Target::Plain(_)))?;
        Ok(BenchFile {
            target,
            folder,
            key,
            home: machine.home.clone(),
            document,
            broken: None,
            checked: None,
            loader,
        })
    }

    /// The bench with some variants applied in the order given, and warnings. All variants of the file are checked.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the bench as it is on disk now, its templates and its tables.
    pub fn bench(&mut self, variants: &[Name]) -> Result<(Arc<Bench>, Vec<Diagnostic>), Vec<Diagnostic>> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        // Every variant is checked once for each text of the file. After that only what is chosen is read again: a
        // variant whose own template breaks meanwhile says so when it is chosen.
        let rev = self.document.source().rev;
        let (bench, mut warnings) = match &self.checked {
            Some((checked, warnings)) if *checked == rev => {
                let (bench, own) = self.document.bench(variants, &mut self.loader)?;
                let mut all = own;
                all.extend(
                    warnings.iter().filter(|warning| !all.contains(warning)).cloned().collect::<Vec<_>>(),
                );
                (bench, all)
            }
            _ => {
                let opened = self.document.clone().open(variants, &mut self.loader)?;
                self.checked = Some((rev, opened.warnings.clone()));
                (opened.bench, opened.warnings)
            }
        };
        self.loader.limit(bench.byte_limits());
        if let Target::Bench(_) = self.target {
            let below = |path: &str| if path == "." { self.folder.clone() } else { self.folder.join(path) };
            let workspace = below(&bench.workspace.path);
            let home = bench.workspace.home.as_deref().map(below);
            let mut problems = Vec::new();
            for (key, folder) in [("path", Some(&workspace)), ("home", home.as_ref())] {
                if folder.is_some_and(|folder| !folder.is_dir()) {
                    problems.push(self.no_folder(key));
                }
            }
            if !problems.is_empty() {
                return Err(problems);
            }
            let roots = Roots {
                bench: BenchRoot::Folder(self.folder.clone()),
                workspace,
                home: home.or_else(|| self.home.clone()),
            };
            self.loader.move_to(roots);
            warnings.extend(misnamed(&bench, &self.loader));
        }
        Ok((Arc::new(bench), warnings))
    }

    /// The bench as it would be if a file held these bytes, and every other file what it holds now. With `whole`, every
    /// variant of the file is checked, as [`BenchFile::bench`] does, and not only those that are applied.
    ///
    /// # Errors
    ///
    /// What would be wrong with that bench.
    pub fn bench_with(
        &mut self,
        path: &FilePath,
        bytes: &[u8],
        variants: &[Name],
        whole: bool,
    ) -> Result<Arc<Bench>, Vec<Diagnostic>> {
        let key = FactKey::File(path.clone());
        let document = match (&self.broken, self.loader.found_with(&key, bytes)) {
            (_, Some(Found::Value(Value::File(file)))) if key == self.key => {
                let mut document = Document::parse(&key.to_string(), file.text.clone())?;
                document.derive(self.document.derived().to_vec());
                document
            }
            (Some(broken), _) => return Err(broken.clone()),
            (None, _) => self.document.clone(),
        };
        let mut files = |asked: &FilePath| match asked == path {
            true => self.loader.found_with(&key, bytes).unwrap_or(Found::Absent),
            false => self.loader.load(&FactKey::File(asked.clone())),
        };
        if whole {
            return document.open(variants, &mut files).map(|opened| Arc::new(opened.bench));
        }
        document.bench(variants, &mut files).map(|(bench, _)| Arc::new(bench))
    }

    /// The bench with these variants as it would be after these edits of its file, one after the other. Nothing is written.
    ///
    /// # Errors
    ///
    /// Why they cannot be made, or the first thing that would be wrong with that bench.
    pub fn bench_edited(&mut self, edits: &[BenchEdit], variants: &[Name]) -> Result<Arc<Bench>, String> {
        let (path, key) = self.path().ok_or("the built-in bench is part of the program")?;
        let original = Original::read(path)?;
        let edited = super::edit::bench::edit_all(&key.path, &original, edits)?;
        let bytes = original.apply(&edited.splices)?;
        self.bench_with(&key, &bytes, variants, false)
            .map_err(|problems| problems.first().map_or_else(String::new, |problem| problem.message.clone()))
    }

    /// The document as it would be if this were found as the bench file. The program's own bench stays what it is.
    ///
    /// # Errors
    ///
    /// When nothing was found, or what is not YAML.
    pub fn document_of(&self, found: Found) -> Result<Document, Vec<Diagnostic>> {
        match self.target {
            Target::Plain(_) => Ok(self.document.clone()),
            Target::Bench(_) => parsed(&self.key.to_string(), found),
        }
    }

    /// The bench file; none for the bench that is part of the program.
    #[must_use]
    pub fn path(&self) -> Option<(&Path, FilePath)> {
        match (&self.target, &self.key) {
            (Target::Bench(path), FactKey::File(key)) => Some((path, key.clone())),
            _ => None,
        }
    }

    /// Reads the bench file again. True when it says something else, or is broken in another way, than before; then
    /// [`BenchFile::bench`] gives the new bench or what is wrong with it.
    pub fn reload(&mut self) -> bool {
        match read(&mut self.loader, &self.key, matches!(self.target, Target::Plain(_))) {
            Ok(mut document) => {
                document.derive(self.document.derived().to_vec());
                let same = self.broken.is_none() && document.source().rev == self.document.source().rev;
                self.document = document;
                self.broken = None;
                !same
            }
            Err(problems) => {
                let same = self.broken.as_ref() == Some(&problems);
                self.broken = Some(problems);
                !same
            }
        }
    }

    /// The variants of the file as it could last be read, with what they change.
    #[must_use]
    pub fn variants(&self) -> &[Variant] {
        self.document.variants()
    }

    /// From now on these can be applied by their names, too, as if they were variants of the file: names with dotted paths
    /// and their values, in order. What cannot stand in a bench is left out.
    pub fn derive(&mut self, derived: impl IntoIterator<Item = (Name, Vec<(Name, Value)>)>) {
        let variants = derived.into_iter().filter_map(|(name, changes)| {
            let changes = changes.into_iter().map(|(path, value)| {
                let value = Arc::new(super::edit::bench::node_of(&value)?);
                Some(Change { path, at: Position::START, value })
            });
            Some(Variant { name, at: Position::START, changes: changes.collect::<Option<Vec<_>>>()? })
        });
        let variants = variants.collect();
        self.document.derive(variants);
    }

    /// The edit that makes the bench say what these variants and derived ones say, in order; none where there is no such
    /// variant.
    #[must_use]
    pub fn variant_edit(&self, names: &[Name]) -> Option<BenchEdit> {
        let variants: Option<Vec<&Variant>> = names.iter().map(|name| self.document.variant(name)).collect();
        let name = names.iter().map(|name| &**name).collect::<Vec<_>>().join(" and ").into();
        let changes = variants?.into_iter().flat_map(|variant| variant.changes.iter().cloned()).collect();
        Some(BenchEdit::Variant { name, changes })
    }

    /// What was opened.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The folder that relative paths of the bench start from, absolute; for a plain folder, that folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bench file and its text, as it could last be read.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        self.document.source()
    }

    /// The file as a tree, with its variants, as it could last be read.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The loader of everything that the bench reads, its own files included.
    pub fn loader(&mut self) -> &mut Loader {
        &mut self.loader
    }

    /// The loader, to look at.
    #[must_use]
    pub fn loaded(&self) -> &Loader {
        &self.loader
    }

    fn no_folder(&self, key: &str) -> Diagnostic {
        let source = self.document.source();
        let node = self.document.root().get("workspace").and_then(|node| node.get(key));
        let shown = node.map_or(".", |node| &*node.text);
        let problem = Diagnostic::error(format!("there is no folder `{shown}`"));
        let problem = match node {
            Some(node) => problem.at(source.name.clone(), &source.text, node.at),
            None => problem.in_file(source.name.clone()),
        };
        problem.hint(match near(&self.folder, shown) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "paths start at the folder of the bench".to_owned(),
        })
    }
}

fn read(loader: &mut Loader, key: &FactKey, builtin: bool) -> Result<Document, Vec<Diagnostic>> {
    let document = parsed(&key.to_string(), loader.load(key))?;
    Ok(if builtin { document.builtin() } else { document })
}

/// What was found as the bench file, as a document.
fn parsed(name: &str, found: Found) -> Result<Document, Vec<Diagnostic>> {
    match found {
        Found::Value(Value::File(file)) => Document::parse(name, file.text.clone()),
        Found::Failed(reason) => {
            Err(vec![Diagnostic::error(format!("the bench cannot be read: {reason}")).in_file(name)])
        }
        _ => Err(vec![Diagnostic::error("there is no such bench file").in_file(name)]),
    }
}

/// The path from the root; as it is where that cannot be told.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::core::bench::{LayerSource, Refresh, Template};
    use crate::io::load::fixed_clock;

    const BENCH: &str = "bench: 1\nname: small\nmodel: openai:gpt-5.4\nworkspace: { path: project }\n\
        places: { system: { of: system } }\n\
        layers:\n  - { id: base, in: system, from: { template: base.md } }\n\
        variants: { later: { layers.base.refresh: call } }\n";

    fn machine() -> Machine {
        Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None }
    }

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = TempDir::new().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    fn found(folder: &TempDir, path: &str) -> Result<Target, String> {
        Target::find(&folder.path().join(path)).map_err(|problem| {
            format!("{} | {}", problem.message, problem.hint.unwrap_or_default())
                .replace(&*folder.path().to_string_lossy(), "")
        })
    }

    #[test]
    fn a_path_is_a_bench_or_a_folder() {
        let files = [
            ("a/bench.yaml", ""),
            ("a/other.bench.yaml", ""),
            ("b/one.bench.yaml", ""),
            ("c/one.bench.yaml", ""),
            ("c/two.bench.yaml", ""),
            ("d/AGENTS.md", ""),
        ];
        let folder = folder(&files);
        let at = |path: &str| folder.path().join(path);
        assert_eq!(found(&folder, "a"), Ok(Target::Bench(at("a/bench.yaml"))));
        assert_eq!(found(&folder, "a/other.bench.yaml"), Ok(Target::Bench(at("a/other.bench.yaml"))));
        assert_eq!(found(&folder, "b"), Ok(Target::Bench(at("b/one.bench.yaml"))));
        assert_eq!(found(&folder, "d"), Ok(Target::Plain(at("d"))));
        let several = "`/c` has several benches | name one of `one.bench.yaml`, `two.bench.yaml`";
        assert_eq!(found(&folder, "c"), Err(several.to_owned()));
        assert_eq!(found(&folder, "e"), Err("there is no file or folder `/e` | ".to_owned()));
        assert!(found(&folder, "d/AGENTS.md").is_err_and(|e| e.starts_with("`/d/AGENTS.md` is not a bench")));
    }

    #[test]
    fn a_bench_opens_with_its_workspace_and_variants() {
        let folder = folder(&[("bench.yaml", BENCH), ("base.md", "hi"), ("project/AGENTS.md", "rules")]);
        let mut file = BenchFile::open(folder.path(), &machine()).expect("it is YAML");
        let (bench, warnings) = file.bench(&[]).expect("it is right");
        assert_eq!((bench.layers[0].refresh.clone(), warnings.len()), (Refresh::Turn, 0));
        assert_eq!(&*bench.source.name, "bench.yaml");
        assert_eq!(file.variants()[0].changes[0].value.shown(), "call");
        let (bench, _) = file.bench(&["later".into()]).expect("it is right");
        assert_eq!(bench.layers[0].refresh, Refresh::Call);
        let problems = file.bench(&["latr".into()]).expect_err("no such variant");
        assert_eq!(problems[0].hint.as_deref(), Some("did you mean `later`?"));
        let rules = FactKey::File(FilePath::new(Base::Workspace, "AGENTS.md"));
        assert!(matches!(file.loader().load(&rules), Found::Value(_)));
        let inputs = file.loaded().inputs();
        let real = folder.path().canonicalize().expect("a path");
        for path in ["bench.yaml", "base.md", "project/AGENTS.md"] {
            assert!(inputs.contains(&real.join(path)), "{path} is not watched");
        }
    }

    #[test]
    fn a_bench_that_breaks_is_told_and_recovers() {
        let folder = folder(&[("bench.yaml", BENCH), ("base.md", "hi"), ("project/x", "")]);
        let path = folder.path().join("bench.yaml");
        let mut file = BenchFile::open(&path, &machine()).expect("it is YAML");
        assert!(file.bench(&[]).is_ok());
        assert!(!file.reload());
        fs::write(&path, "bench: [").expect("a file");
        assert!(file.reload());
        assert!(!file.reload());
        assert_eq!(file.bench(&[]).expect_err("broken")[0].line.as_deref(), Some("bench: ["));
        assert_eq!(file.variants().len(), 1);
        fs::write(&path, BENCH).expect("a file");
        assert!(file.reload());
        assert!(file.bench(&[]).is_ok());
        fs::remove_file(&path).expect("a removal");
        assert!(file.reload());
        assert_eq!(file.bench(&[]).expect_err("gone")[0].message, "there is no such bench file");
    }

    #[test]
    fn a_missing_workspace_is_told_where_it_is_named() {
        let folder = folder(&[("bench.yaml", BENCH), ("base.md", "hi")]);
        let mut file = BenchFile::open(folder.path(), &machine()).expect("it is YAML");
        let problem = &file.bench(&[]).expect_err("no workspace")[0];
        assert_eq!(problem.message, "there is no folder `project`");
        assert_eq!(problem.at.expect("a place").to_string(), "4:20");
    }

    #[test]
    fn the_built_in_bench_opens_for_any_folder() {
        let folder = folder(&[("AGENTS.md", "rules")]);
        let mut file = BenchFile::open(folder.path(), &machine()).expect("it is YAML");
        let (bench, warnings) = file.bench(&[]).unwrap_or_else(|problems| panic!("{}", problems[0]));
        assert_eq!(warnings, []);
        assert_eq!(bench.title.as_deref(), Some("no agent chosen"));
        assert!(bench.sent_on_open);
        for layer in &bench.layers {
            assert_eq!((&layer.refresh, &layer.cap), (&Refresh::Call, &None), "{}", layer.id);
            if let LayerSource::Template(Template::File(path, _)) = &layer.from {
                assert!(matches!(file.loader().load(&FactKey::File(path.clone())), Found::Value(_)));
            }
        }
        let rules = FactKey::File(FilePath::new(Base::Workspace, "AGENTS.md"));
        assert!(matches!(file.loader().load(&rules), Found::Value(_)));
        assert!(!file.reload());
    }
}
