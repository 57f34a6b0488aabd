//! Facts from disk: a [`FactKey`] to what is found under it, and whether that has changed.
//!
//! A file may be anything: in another encoding, without permission, a pipe, endless. What can be read is read, with notes
//! about how; what cannot fails with the reason, and never blocks.

mod decode;
mod document;
mod file;
mod git;
mod glob;
mod stamp;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

pub use decode::MAX_BYTES;
pub(crate) use decode::{Coding, decode};
pub(crate) use file::{kind, reason};
pub(crate) use glob::{Pattern, SKIPPED as GLOB_SKIPS};

use crate::core::fact::{Base, Command, FactKey, FilePath, FileText, Found, Rev, Value};
use crate::io::command::Pool;
use crate::io::syntax::Files;

use stamp::Stamp;

/// Files that are part of the program: paths with their content.
pub type Embedded = &'static [(&'static str, &'static [u8])];

/// The folders that relative paths start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// The bench file's folder, or the files of a bench that is part of the program.
    pub bench: BenchRoot,
    /// The folder that the agent works in.
    pub workspace: PathBuf,
    /// The home folder; none where the machine has none.
    pub home: Option<PathBuf>,
}

/// Where the files of a bench are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BenchRoot {
    /// In a folder.
    Folder(PathBuf),
    /// In the program.
    Embedded(Embedded),
}

impl Roots {
    /// The path of a file on disk; none for a file of the program, without a home folder, and for a path that leads out
    /// of its folder.
    #[must_use]
    pub fn path(&self, path: &FilePath) -> Option<PathBuf> {
        let base = match (path.base, &self.bench) {
            (Base::Bench, BenchRoot::Folder(folder)) => folder,
            (Base::Bench, BenchRoot::Embedded(_)) => return None,
            (Base::Workspace, _) => &self.workspace,
            (Base::Home, _) => self.home.as_ref()?,
        };
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        Path::new(&*path.path)
            .components()
            .all(inside)
            .then(|| if path.path.is_empty() { base.clone() } else { base.join(&*path.path) })
    }
}

/// Tells the time, as RFC 9557 text.
pub type Clock = Arc<dyn Fn() -> String + Send + Sync>;

/// The machine's clock, in its time zone.
#[must_use]
pub fn machine_clock() -> Clock {
    Arc::new(|| jiff::ZonedDateTime::now().to_string())
}

/// The machine's time now, to the second, as RFC 9557 text.
#[must_use]
pub fn machine_time() -> String {
    let now = jiff::ZonedDateTime::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}

/// A clock that stands still.
#[must_use]
pub fn fixed_clock(time: impl Into<String>) -> Clock {
    let time = time.into();
    Arc::new(move || time.clone())
}

/// What is known about a key that was asked for.
struct Known {
    found: Found,
    rev: Rev,
    /// The content that [`Loader::changed`] last told of, or that was found first.
    told: Rev,
    note: Option<Arc<str>>,
    /// The files and folders that decided, with their stamps from before they were read.
    inputs: Vec<(PathBuf, Stamp)>,
    /// False when something was written so shortly before that its stamp may not tell the next change.
    settled: bool,
}

/// Supplies facts from disk, and remembers what it found so that looking again is cheap.
pub struct Loader {
    roots: Roots,
    clock: Clock,
    known: BTreeMap<FactKey, Known>,
    /// The most bytes that are read of some files; [`MAX_BYTES`] of all others.
    limits: BTreeMap<FilePath, usize>,
    commands: Pool,
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader").field("roots", &self.roots).field("keys", &self.known.len()).finish()
    }
}

impl Loader {
    /// A loader for a bench.
    #[must_use]
    pub fn new(roots: Roots, clock: Clock) -> Loader {
        Loader { roots, clock, known: BTreeMap::new(), limits: BTreeMap::new(), commands: Pool::default() }
    }

    /// Reads from other folders from now on. What was read from folders that are no longer the same is forgotten.
    pub fn move_to(&mut self, roots: Roots) {
        let moved = |base: Base| match base {
            Base::Bench => roots.bench != self.roots.bench,
            Base::Workspace => roots.workspace != self.roots.workspace,
            Base::Home => roots.home != self.roots.home,
        };
        self.known.retain(|key, _| match key {
            FactKey::Named(_) | FactKey::Reported(_) => false,
            FactKey::File(path)
            | FactKey::Data(path)
            | FactKey::Document(path)
            | FactKey::Glob(path)
            | FactKey::Git(path) => !moved(path.base),
            FactKey::Command(_) => !moved(Base::Workspace),
            FactKey::Environment(_) => !moved(Base::Workspace) && !moved(Base::Home),
        });
        self.roots = roots;
    }

    /// Reads at most so many bytes of these files from now on, but never more than [`MAX_BYTES`]. What was read under
    /// another limit is forgotten.
    pub fn limit(&mut self, limits: BTreeMap<FilePath, usize>) {
        let before = std::mem::replace(&mut self.limits, limits);
        let limits = &self.limits;
        self.known.retain(|key, _| match key {
            FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) => {
                before.get(path) == limits.get(path)
            }
            _ => true,
        });
    }

    fn most(&self, path: &FilePath) -> usize {
        self.limits.get(path).map_or(MAX_BYTES, |limit| (*limit).min(MAX_BYTES))
    }

    /// The programs whose output is read.
    pub fn commands(&mut self) -> &mut Pool {
        &mut self.commands
    }

    /// True for a program that may run.
    #[must_use]
    pub fn allows(&self, command: &Command) -> bool {
        self.commands.allows(command)
    }

    /// Lets these programs run beside whoever asks. Those that were asked for already are started.
    pub fn allow(&mut self, commands: &[Command]) {
        self.commands.allow(commands.iter().cloned());
        for command in commands {
            let key = FactKey::Command(command.clone());
            if self.known.contains_key(&key) {
                // What is known is that it was not run; what it prints will be news.
                self.commands.look(command, &self.roots.workspace);
            }
        }
    }

    /// Runs every program once more; what it prints then is told by [`Loader::changed`].
    pub fn run_again(&mut self) {
        let folder = self.roots.workspace.clone();
        self.commands.again(&folder);
    }

    /// The folders that it reads from.
    #[must_use]
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// What is under a key now. What did not change since it was last read is not read again.
    ///
    /// A [`FactKey::Named`] and a [`FactKey::Reported`] are not from disk: they are absent.
    pub fn load(&mut self, key: &FactKey) -> Found {
        if let Some(known) = self.known.get(key)
            && !is_time(key)
            && known.is_fresh()
        {
            return known.found.clone();
        }
        self.read_again(key)
    }

    /// Looks at everything again that was ever asked for, and gives what has other content than when this was last told,
    /// whoever has loaded it since: several sessions read through one loader, and a change that one of them comes upon is
    /// news to the others. The time is left out: it changes always.
    pub fn changed(&mut self) -> Vec<(FactKey, Found)> {
        self.changed_at(&BTreeSet::new())
    }

    /// As [`Loader::changed`], but what depends on one of `hinted` (paths as [`Loader::inputs`] gives them) is read
    /// again whatever its size and time say.
    pub fn changed_at(&mut self, hinted: &BTreeSet<PathBuf>) -> Vec<(FactKey, Found)> {
        let keys: Vec<FactKey> = self
            .known
            .iter()
            .filter(|(key, known)| {
                !is_time(key)
                    && (known.inputs.iter().any(|(path, _)| hinted.contains(path)) || !known.is_fresh())
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            self.read_again(&key);
        }
        for (command, _) in self.commands.take() {
            self.read_again(&FactKey::Command(command));
        }
        let untold = self.known.iter_mut().filter(|(key, known)| !is_time(key) && known.told != known.rev);
        untold
            .map(|(key, known)| {
                known.told = known.rev;
                (key.clone(), known.found.clone())
            })
            .collect()
    }

    /// What would be under a key if its file held these bytes; none for keys that are no single file.
    #[must_use]
    pub fn found_with(&self, key: &FactKey, bytes: &[u8]) -> Option<Found> {
        let file = |path| file::text(path, bytes, bytes.len() as u64, self.most(path));
        match key {
            FactKey::File(path) => Some(file::found(Ok(file(path)))),
            FactKey::Data(path) => Some(document::data(path, &file(path).text)),
            FactKey::Document(path) => Some(Found::Value(document::document(file(path)))),
            _ => None,
        }
    }

    /// Forgets a key: it is no longer looked at by [`Loader::changed`].
    pub fn forget(&mut self, key: &FactKey) {
        self.known.remove(key);
    }

    /// The files and folders whose change can change what was asked for; they need not exist.
    #[must_use]
    pub fn inputs(&self) -> BTreeSet<PathBuf> {
        self.known.values().flat_map(|known| known.inputs.iter().map(|(path, _)| path.clone())).collect()
    }

    /// The files that were asked for and are links, or stand below one, by name; with what they lead to, as it would be
    /// named where it lies in the workspace.
    #[must_use]
    pub fn links(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        let whole = |path: &Path| path.canonicalize().ok();
        let workspace = whole(&self.roots.workspace);
        let mut links = BTreeMap::new();
        for key in self.known.keys() {
            let (FactKey::File(path) | FactKey::Document(path)) = key else { continue };
            let Some((real, base)) =
                self.roots.path(path).zip(self.roots.path(&FilePath::new(path.base, "")))
            else {
                continue;
            };
            let (Some(real), Some(base)) = (whole(&real), whole(&base)) else { continue };
            if real == base.join(&*path.path) {
                continue;
            }
            let named = workspace.as_deref().and_then(|folder| real.strip_prefix(folder).ok());
            let named = named.unwrap_or(&real).to_string_lossy().replace('\\', "/");
            links.insert(key.to_string().into(), named.into());
        }
        links
    }

    /// The folders of the workspace, relative to it, with `/`, sorted: for completing a directory as it is typed. What
    /// tools make is left out, and at most 5,000 are listed.
    #[must_use]
    pub fn folders(&self) -> Vec<String> {
        glob::folders(&self.roots.workspace)
    }

    /// Why there is nothing under a key, where that is worth saying: `git is not installed`.
    #[must_use]
    pub fn note(&self, key: &FactKey) -> Option<&Arc<str>> {
        self.known.get(key)?.note.as_ref()
    }

    /// Reads a key and remembers it.
    fn read_again(&mut self, key: &FactKey) -> Found {
        // The stamps are taken before reading, so that what is written meanwhile is seen next time.
        let now = SystemTime::now();
        let mut inputs = Vec::new();
        let (found, note) = self.find(key, &mut inputs);
        let rev = found.rev();
        let settled = inputs.iter().all(|(_, stamp)| stamp.is_settled(now));
        let told = self.known.get(key).map_or(rev, |before| before.told);
        self.known.insert(key.clone(), Known { found: found.clone(), rev, told, note, inputs, settled });
        found
    }

    fn find(&mut self, key: &FactKey, inputs: &mut Vec<(PathBuf, Stamp)>) -> (Found, Option<Arc<str>>) {
        let found = match key {
            FactKey::Named(_) | FactKey::Reported(_) => Found::Absent,
            FactKey::File(path) => file::found(self.file(path, inputs)),
            FactKey::Data(path) => match self.file(path, inputs) {
                Ok(file) if file.bytes > MAX_BYTES as u64 => {
                    Found::Failed(format!("it is larger than {} MiB", MAX_BYTES >> 20).into())
                }
                Ok(file) => document::data(path, &file.text),
                Err(found) => found,
            },
            FactKey::Document(path) => match self.file(path, inputs) {
                Ok(file) => Found::Value(document::document(file)),
                Err(found) => found,
            },
            FactKey::Glob(pattern) => {
                let root = FilePath::new(pattern.base, "");
                match self.roots.path(&root) {
                    Some(_)
                        if pattern.path.split('/').any(|part| part == "..")
                            || pattern.path.starts_with('/') =>
                    {
                        leads_out()
                    }
                    Some(root) => glob::list(&root, &pattern.path, inputs),
                    None => Found::Absent,
                }
            }
            FactKey::Git(path) => match self.roots.path(path) {
                Some(folder) => return answer(git::files(&folder, inputs)),
                None => leads_out(),
            },
            FactKey::Command(command) => self.commands.look(command, &self.roots.workspace),
            FactKey::Environment(name) => return self.environment(name, inputs),
        };
        (found, None)
    }

    fn file(
        &self,
        path: &FilePath,
        inputs: &mut Vec<(PathBuf, Stamp)>,
    ) -> Result<crate::core::fact::FileText, Found> {
        if let (Base::Bench, BenchRoot::Embedded(files)) = (path.base, &self.roots.bench) {
            let content = files.iter().find(|(name, _)| *name == &*path.path);
            return match content {
                Some((_, bytes)) => Ok(file::text(path, bytes, bytes.len() as u64, MAX_BYTES)),
                None => Err(Found::Absent),
            };
        }
        let real = match self.roots.path(path) {
            Some(real) => real,
            None if path.base == Base::Home && self.roots.home.is_none() => return Err(Found::Absent),
            None => return Err(leads_out()),
        };
        inputs.push((real.clone(), Stamp::of(&real)));
        file::read(path, &real, self.most(path))
    }

    /// What is known of a model, for a bench that looks after its window.
    fn model(name: &str) -> Value {
        let model = crate::io::models::embedded().get(&name.into());
        let encoding = model.method.encoding().map_or(Value::Null, |encoding| Value::text(encoding.name()));
        let factor = match &model.method {
            crate::core::tokens::Method::Estimate { factor, .. } => *factor,
            _ => 1.0,
        };
        let window = model.window.as_ref().map_or(Value::Null, |window| Value::Int(i64::from(window.value)));
        Value::map([("window", window), ("encoding", encoding), ("factor", Value::Float(factor))])
    }

    fn environment(&self, name: &str, inputs: &mut Vec<(PathBuf, Stamp)>) -> (Found, Option<Arc<str>>) {
        if let Some(model) = name.strip_prefix("model ") {
            return (Found::Value(Loader::model(model)), None);
        }
        let shown = |path: &Path| Some(path.to_string_lossy().into_owned());
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let text = match name {
            "now" => Some((self.clock)()),
            "os" => Some(env::consts::OS.to_owned()),
            "shell" => variable("SHELL")
                .or_else(|| variable("COMSPEC"))
                .map(|shell| shell.rsplit(['/', '\\']).next().unwrap_or(&shell).to_owned()),
            "user" => variable("USER").or_else(|| variable("LOGNAME")).or_else(|| variable("USERNAME")),
            "workspace" => shown(&self.roots.workspace),
            "home" => self.roots.home.as_deref().and_then(shown),
            "git_branch" => return answer(git::branch(&self.roots.workspace, inputs)),
            "git_index" => return answer(git::index(&self.roots.workspace, inputs)),
            _ => None,
        };
        (text.map_or(Found::Absent, |text| Found::Value(Value::text(text))), None)
    }
}

/// A bench is read through the same loader as its facts, so that what it names is watched, too.
impl Files for Loader {
    fn read(&mut self, path: &FilePath) -> Found {
        self.load(&FactKey::File(path.clone()))
    }

    fn near(&self, path: &FilePath) -> Option<String> {
        let base = self.roots.path(&FilePath::new(path.base, ""))?;
        super::near::near(&base, &path.path)
    }
}

impl Known {
    /// True when nothing says that another read would find something else.
    fn is_fresh(&self) -> bool {
        self.settled && self.inputs.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }
}

/// The text of bytes that come from elsewhere than from a file, decoded as files are.
pub(crate) fn decoded(path: &FilePath, bytes: &[u8]) -> FileText {
    file::text(path, bytes, bytes.len() as u64, MAX_BYTES)
}

/// The time is never what it was, and that is no change.
fn is_time(key: &FactKey) -> bool {
    matches!(key, FactKey::Environment(name) if &**name == "now")
}

fn answer(answer: git::Answer) -> (Found, Option<Arc<str>>) {
    (answer.found, answer.note.map(Arc::from))
}

fn leads_out() -> Found {
    Found::Failed("the path leads out of its folder".into())
}
