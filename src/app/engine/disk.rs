//! The real edge: a bench on disk, or a sample's scratch copy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::edge::{Edge, Edited};
use super::overlaid::{self, Overlaid};
use crate::app::views::{OverlayPlan, OverlayView, Switch};
use crate::core::bench::Bench;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Command, FactKey, FilePath, Found, Name, Rev, Value};
use crate::core::run::{Input, Load};
use crate::io::bench_file::{BenchFile, Machine, Target};
use crate::io::command::{TrustStore, Wake};
use crate::io::edit::bench::{self, BenchEdit, BenchEdited, BenchUndo, ChangedLine, Sheet};
use crate::io::edit::{Kept, KeptText, Original, SaveError, Splice};
use crate::io::init;
use crate::io::overlay::{self, Overlay, Texts};
use crate::io::samples::{Sample, ScratchCopy};
use crate::io::syntax::Variant;

/// Why the overlay of a scratch copy cannot be put on disk by hand.
const RUN_WRITES: &str = "in a scratch copy the run writes its files itself";

/// What a bench file says, for as long as it and the variants that are applied stay the same.
struct KnownSheet {
    rev: Rev,
    variants: Vec<Name>,
    sheet: Arc<Sheet>,
}

/// A bench on disk.
pub struct Disk {
    file: BenchFile,
    note: Name,
    /// Kept for its folder, which goes with it.
    scratch: Option<ScratchCopy>,
    /// What a scratch copy's files held before the run wrote them (none: they did not exist).
    before: BTreeMap<FilePath, Option<Vec<u8>>>,
    /// What the user has allowed; none where that cannot be remembered.
    trust: Option<TrustStore>,
    /// True where the user allowed everything, for this time.
    trusts_all: bool,
    /// The ways back from the edits of the bench file, the latest last.
    undo: Vec<BenchUndo>,
    /// The ways to those that were taken back, the latest last.
    redo: Vec<BenchUndo>,
    /// What the latest edit moved, and past which layer, where it was a move.
    moved: Option<(Name, Name)>,
    /// Where unsaved texts are kept; none to keep none.
    kept: Option<Kept>,
    /// The overlay that was put on disk; it is taken out with this.
    overlaid: Option<Overlaid>,
    /// What the bench file says, by its revision and the variants that are applied.
    sheet: Option<KnownSheet>,
}

impl Disk {
    /// Opens a bench or a folder.
    ///
    /// # Errors
    ///
    /// When the path leads to no bench, or the file is not YAML.
    pub fn open(path: &Path, machine: &Machine) -> Result<Disk, Vec<Diagnostic>> {
        let file = BenchFile::open(path, machine)?;
        let note = match file.target() {
            Target::Plain(folder) => {
                folder.canonicalize().unwrap_or_else(|_| folder.clone()).display().to_string()
            }
            Target::Bench(_) => String::new(),
        };
        Ok(Disk::of(file, &note, None))
    }

    /// Opens a scratch copy of a sample. `note` is what the title says of it.
    ///
    /// # Errors
    ///
    /// When the copy cannot be written.
    pub fn sample(sample: &Sample, note: &str, machine: &Machine) -> Result<Disk, Vec<Diagnostic>> {
        let failed = |error: std::io::Error| {
            vec![Diagnostic::error(format!(
                "no scratch copy of the sample {} can be made: {}",
                sample.name,
                crate::io::load::reason(&error)
            ))]
        };
        let scratch = sample.scratch_copy().map_err(failed)?;
        let file = BenchFile::open(&scratch.bench(), machine)?;
        Ok(Disk::of(file, note, Some(scratch)))
    }

    fn of(file: BenchFile, note: &str, scratch: Option<ScratchCopy>) -> Disk {
        Disk {
            file,
            note: note.into(),
            scratch,
            before: BTreeMap::new(),
            trust: None,
            trusts_all: false,
            undo: Vec::new(),
            redo: Vec::new(),
            moved: None,
            kept: None,
            overlaid: None,
            sheet: None,
        }
    }

    /// Remembers in this store what its user allows, and lets run what was allowed before.
    #[must_use]
    pub fn trusting(mut self, store: Option<TrustStore>) -> Disk {
        self.trust = store;
        self
    }

    /// Lets every program of the bench run, without asking, and waits for it where `waits`.
    #[must_use]
    pub fn trusting_all(mut self, waits: bool) -> Disk {
        self.trusts_all = true;
        if waits {
            self.file.loader().commands().trust_all();
        }
        self
    }

    /// The bench file, to be edited.
    fn bench_path(&self) -> Result<(PathBuf, FilePath), String> {
        match self.file.path() {
            Some((path, key)) => Ok((path.to_owned(), key)),
            None => {
                Err("the built-in bench is part of the program; a bench of your own can be edited".into())
            }
        }
    }

    /// Edits of the bench file, worked out as one and found right with these variants: the file, what it holds, the edit.
    fn worked_out(
        &mut self,
        edits: &[BenchEdit],
        variants: &[Name],
    ) -> Result<(PathBuf, Original, BenchEdited), String> {
        let (path, key) = self.bench_path()?;
        let original = Original::read(&path)?;
        let edited = bench::edit_all(&key.path, &original, edits)?;
        let bytes = original.apply(&edited.splices)?;
        match self.file.bench_with(&key, &bytes, variants, true) {
            Ok(_) => Ok((path, original, edited)),
            Err(problems) => {
                let first = problems.first().map_or_else(String::new, |problem| problem.message.clone());
                Err(format!("the bench would be wrong: {first}"))
            }
        }
    }

    /// Where a text file is on disk.
    fn text_path(&self, file: &FilePath) -> Result<PathBuf, String> {
        self.file.loaded().roots().path(file).ok_or_else(|| format!("{file} is part of the program"))
    }

    /// A path as its user would name it: in a scratch copy from there on, since its folder has a name for machines.
    fn shown(&self, path: &Path) -> String {
        match &self.scratch {
            Some(scratch) => {
                let below = path.strip_prefix(scratch.path()).unwrap_or(path);
                format!("{} of the scratch copy", below.display())
            }
            None => path.display().to_string(),
        }
    }

    /// What was found, as it would be if the run had written nothing: a run keeps what it writes to itself, and another
    /// that starts must not find it.
    fn below(&self, found: Vec<(FactKey, Found)>) -> Vec<(FactKey, Found)> {
        if self.before.is_empty() {
            return found;
        }
        found
            .into_iter()
            .map(|(key, found)| {
                let below = match &key {
                    FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) => {
                        match self.before.get(path) {
                            None => found,
                            Some(None) => Found::Absent,
                            Some(Some(bytes)) => self.file.loaded().found_with(&key, bytes).unwrap_or(found),
                        }
                    }
                    FactKey::Glob(pattern) => self.listed_below(pattern, found),
                    FactKey::Named(_)
                    | FactKey::Git(_)
                    | FactKey::Command(_)
                    | FactKey::Environment(_)
                    | FactKey::Reported(_) => found,
                };
                (key, below)
            })
            .collect()
    }

    /// A listing without what the run made, and with what it deleted.
    fn listed_below(&self, pattern: &FilePath, found: Found) -> Found {
        let listed = match &found {
            Found::Value(value) => value.as_list().unwrap_or_default(),
            Found::Absent => &[],
            Found::Failed(_) => return found,
        };
        let Ok(glob) = globset::GlobBuilder::new(&pattern.path).literal_separator(true).build() else {
            return found;
        };
        let matcher = glob.compile_matcher();
        let mut paths: BTreeSet<Arc<str>> =
            listed.iter().filter_map(|path| path.as_text().cloned()).collect();
        let touched =
            self.before.iter().filter(|(path, _)| path.base == pattern.base && matcher.is_match(&*path.path));
        let mut differs = false;
        for (path, before) in touched {
            differs |= match before {
                Some(_) => paths.insert(path.path.clone()),
                None => paths.remove(&path.path),
            };
        }
        if differs { Found::Value(Value::list(paths.into_iter().map(Value::Text))) } else { found }
    }

    /// The bench file; none for the bench that is part of the program.
    #[must_use]
    pub fn bench_file(&self) -> Option<PathBuf> {
        self.file.path().map(|(path, _)| path.to_owned())
    }

    /// Keeps unsaved texts here from now on. Those of a scratch copy are not kept: its folder goes with the program.
    pub fn keep_drafts(&mut self, kept: Kept) {
        self.kept = self.scratch.is_none().then_some(kept);
    }

    /// The folder of the bench.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.file.folder()
    }
}

impl Load for Disk {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        let loader = self.file.loader();
        let found: Vec<_> = keys.iter().map(|key| (key.clone(), loader.load(key))).collect();
        self.below(found)
    }
}

impl Edge for Disk {
    fn note(&self) -> Name {
        self.note.clone()
    }

    fn bench(&mut self, variants: &[Name]) -> Result<(Arc<Bench>, Vec<Diagnostic>), Vec<Diagnostic>> {
        self.file.bench(variants)
    }

    fn variants(&self) -> Vec<Name> {
        self.file.variants().iter().map(|variant| variant.name.clone()).collect()
    }

    fn ways(&self) -> Vec<Name> {
        let elsewhere = |path: &str| matches!(path.split('.').next(), Some("agent" | "workspace"));
        let ways = self.file.variants().iter();
        let ways = ways.filter(|way| !way.changes.iter().any(|change| elsewhere(&change.path)));
        ways.map(|way| way.name.clone()).collect()
    }

    fn reload(&mut self) -> bool {
        self.file.reload()
    }

    fn changed(&mut self) -> Vec<(FactKey, Found)> {
        let found = self.file.loader().changed();
        self.below(found)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.file.loaded().inputs().into_iter().collect()
    }

    fn root(&self) -> PathBuf {
        let loaded = self.file.loaded().roots();
        // The workspace lies in the bench's folder, or is it; a plain folder is both.
        if loaded.workspace.starts_with(self.file.folder()) {
            self.file.folder().to_owned()
        } else {
            loaded.workspace.clone()
        }
    }

    fn folders(&mut self) -> Vec<String> {
        self.file.loaded().folders()
    }

    fn derive(&mut self, derived: Vec<(Name, Vec<(Name, Value)>)>) {
        self.file.derive(derived);
    }

    fn variant_edit(&self, names: &[Name]) -> Option<BenchEdit> {
        self.file.path()?;
        self.file.variant_edit(names)
    }

    fn preview_bench(
        &mut self,
        edits: &[BenchEdit],
        variants: &[Name],
    ) -> Result<(Name, Vec<ChangedLine>), String> {
        let (path, original, edited) = self.worked_out(edits, variants)?;
        Ok((self.shown(&path).into(), bench::changed_lines(original.text(), &edited.splices)))
    }

    fn edit_bench(&mut self, edits: &[BenchEdit], variants: &[Name]) -> Result<Edited, String> {
        // Past a layer and past it again is back: the key is then the one that it was, not one that fits, too.
        if let ([BenchEdit::Move { layer, past }], Some((moved, over))) = (edits, &self.moved)
            && (layer, past) == (moved, over)
            && self.redo.is_empty()
            && let Some(of) = self.undo.last().map(|last| last.of.clone())
            && let Ok(edited) = self.undo_bench()
        {
            self.redo.clear();
            return Ok(Edited { by: format!("{of} by hand").into(), ..edited });
        }
        self.moved = None;
        let (_, key) = self.bench_path()?;
        let (path, original, edited) = self.worked_out(edits, variants)?;
        match bench::write(&path, &original, &edited) {
            Ok(undo) => {
                self.undo.push(undo);
                self.redo.clear();
                if let [BenchEdit::Move { layer, past }] = edits {
                    self.moved = Some((layer.clone(), past.clone()));
                }
            }
            Err(SaveError::Conflict(_)) => {
                return Err("the bench has just been changed by somebody else".into());
            }
            Err(SaveError::Refused(reason)) => {
                return Err(format!("{} cannot be written: {reason}", key.path));
            }
        }
        let said = format!("{}; written to {}", edited.said, self.shown(&path));
        Ok(Edited { said, by: edited.by, layers: edited.layer.into_iter().collect() })
    }

    fn undoable(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    fn copy_bench(&mut self, run: &Name, lines: &[Input]) -> Result<String, String> {
        if let Some(problem) = bench::problem_with_run_name(run) {
            return Err(problem);
        }
        let folder = self.file.folder();
        let told = |problems: Vec<Diagnostic>| match problems.first() {
            Some(Diagnostic { file: Some(file), message, .. }) => format!("{file}: {message}"),
            first => first.map_or_else(String::new, |problem| problem.message.clone()),
        };
        let paths = init::copied(folder, run, lines)?.write(folder).map_err(told)?;
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        Ok(format!("the run {run} is in {} now: open it to go on there", names.join(", ")))
    }

    fn bench_edited(&mut self, edits: &[BenchEdit], variants: &[Name]) -> Result<Arc<Bench>, String> {
        self.file.bench_edited(edits, variants)
    }

    fn undo_bench(&mut self) -> Result<Edited, String> {
        self.moved = None;
        let (path, _) = self.bench_path()?;
        let Some(last) = self.undo.last() else { return Err("no edit of the bench to take back".into()) };
        self.redo.push(bench::undo(&path, last)?);
        let said = format!("taken back in {}: {}", self.shown(&path), last.said);
        let by = format!("the undo of {} by hand", last.of).into();
        let layers = last.layer.iter().cloned().collect();
        self.undo.pop();
        Ok(Edited { said, by, layers })
    }

    fn redo_bench(&mut self) -> Result<Edited, String> {
        self.moved = None;
        let (path, _) = self.bench_path()?;
        let Some(last) = self.redo.last() else { return Err("no edit of the bench to make again".into()) };
        self.undo.push(bench::undo(&path, last)?);
        let said = format!("made again in {}: {}", self.shown(&path), last.said);
        let by = format!("{} by hand", last.of).into();
        let layers = last.layer.iter().cloned().collect();
        self.redo.pop();
        Ok(Edited { said, by, layers })
    }

    fn sheet(&mut self, variants: &[Name]) -> Option<Arc<Sheet>> {
        let (_, key) = self.file.path()?;
        let document = self.file.document();
        let rev = document.source().rev;
        if let Some(known) =
            self.sheet.as_ref().filter(|known| known.rev == rev && known.variants == variants)
        {
            return Some(known.sheet.clone());
        }
        let applied: Vec<&Variant> = variants
            .iter()
            .filter_map(|name| document.variants().iter().find(|variant| variant.name == *name))
            .collect();
        let sheet = Arc::new(Sheet::of(&key.path, document.root(), &applied));
        self.sheet = Some(KnownSheet { rev, variants: variants.to_vec(), sheet: sheet.clone() });
        Some(sheet)
    }

    fn is_projected(&self, key: &FactKey) -> bool {
        match key {
            FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) => {
                self.before.contains_key(path)
            }
            // Of a listing, what the run made and deleted is undone when it is read.
            FactKey::Glob(_)
            | FactKey::Named(_)
            | FactKey::Git(_)
            | FactKey::Command(_)
            | FactKey::Environment(_)
            | FactKey::Reported(_) => false,
        }
    }

    fn open_text(&mut self, file: &FilePath) -> Result<(PathBuf, Original), String> {
        let path = self.text_path(file)?;
        let original =
            Original::read(&path).map_err(|reason| format!("{file} cannot be edited here: {reason}"))?;
        Ok((path, original))
    }

    fn save_text(
        &mut self,
        file: &FilePath,
        base: &Original,
        splices: &[Splice],
    ) -> Result<Original, SaveError> {
        let path = self.text_path(file).map_err(SaveError::Refused)?;
        let saved = base.save(&path, splices)?;
        // What the run had put there is not what comes back when the run is stepped back.
        self.before.remove(file);
        Ok(saved)
    }

    fn keep_text(&mut self, path: &Path, base: &Original, text: &str) {
        let Some(kept) = &self.kept else { return };
        if let Err(error) = kept.put(path, base, text) {
            tracing::warn!("the unsaved text of {} cannot be kept: {error}", path.display());
        }
    }

    fn kept_text(&self, path: &Path, disk: &Original) -> Option<KeptText> {
        self.kept.as_ref()?.find(path, disk)
    }

    fn forget_text(&mut self, path: &Path) {
        if let Some(kept) = &self.kept {
            kept.remove(path);
        }
    }

    fn bench_with(
        &mut self,
        file: &FilePath,
        bytes: &[u8],
        variants: &[Name],
    ) -> Result<Arc<Bench>, Vec<Diagnostic>> {
        self.file.bench_with(file, bytes, variants, false)
    }

    fn bench_file(&self) -> Option<(PathBuf, FilePath)> {
        self.bench_path().ok()
    }

    fn links(&self) -> BTreeMap<Name, Name> {
        self.file.loaded().links()
    }

    fn unasked(&mut self, commands: &[Command]) -> Vec<Command> {
        let mut rest: Vec<Command> =
            commands.iter().filter(|command| !self.file.loaded().allows(command)).cloned().collect();
        let allowed = || self.trust.as_ref().is_some_and(|store| store.holds(self.file.folder(), commands));
        if !rest.is_empty() && (self.trusts_all || allowed()) {
            self.file.loader().allow(&rest);
            rest.clear();
        }
        rest
    }

    fn allow(&mut self, commands: &[Command]) -> Result<(), String> {
        self.file.loader().allow(commands);
        match &self.trust {
            Some(store) => store
                .add(self.file.folder(), commands)
                .map_err(|error| format!("it will be asked again, since it cannot be written down: {error}")),
            None => Ok(()),
        }
    }

    fn run_again(&mut self) {
        self.file.loader().run_again();
    }

    fn wake_with(&mut self, wake: Wake) {
        self.file.loader().commands().wake_with(wake);
    }

    fn place(&self) -> String {
        match &self.scratch {
            Some(_) => "a scratch copy".to_owned(),
            None => self.file.folder().display().to_string(),
        }
    }

    fn found_with(&self, key: &FactKey, bytes: &[u8]) -> Option<Found> {
        self.file.loaded().found_with(key, bytes)
    }

    fn overlay(&self, bench: &Bench, texts: &Texts) -> Option<OverlayView> {
        let workspace = self.file.loaded().roots().workspace.clone();
        let (site, session) = overlaid::site(bench, &workspace)?;
        let overlay =
            Overlay { world: &overlay::world::Machine, site: &site, patience: Duration::ZERO, dry: true };
        let status = overlay.status(Some(texts));
        let switch = match (self.scratch.is_some(), &self.overlaid) {
            (true, _) => Switch::Refused(RUN_WRITES.into()),
            (false, Some(_)) => Switch::Strip,
            (false, None) => match overlaid::for_session(bench, &workspace) {
                Ok(_) => Switch::Apply,
                Err(why) => Switch::Refused(why.into()),
            },
        };
        let scratch = self.scratch.is_some();
        Some(OverlayView { workspace, session, scratch, status, switch, plan: None })
    }

    fn plan_overlay(&self, bench: &Bench, texts: &Texts) -> Result<OverlayPlan, String> {
        if self.scratch.is_some() {
            return Err(RUN_WRITES.into());
        }
        match &self.overlaid {
            Some(overlaid) => overlaid.plan_end(),
            None => Overlaid::plan(bench, &self.file.loaded().roots().workspace, texts),
        }
    }

    fn switch_overlay(&mut self, bench: &Bench, texts: &Texts) -> Result<String, String> {
        if self.scratch.is_some() {
            return Err(RUN_WRITES.into());
        }
        if let Some(overlaid) = self.overlaid.take() {
            return overlaid.end();
        }
        let (overlaid, told) = Overlaid::put(bench, &self.file.loaded().roots().workspace, texts)?;
        self.overlaid = Some(overlaid);
        Ok(told)
    }

    fn follow_overlay(&mut self, texts: &Texts) -> Result<Option<String>, String> {
        self.overlaid.as_ref().map_or(Ok(None), |overlaid| overlaid.follow(texts))
    }

    fn project(&mut self, files: &[(FilePath, Option<Arc<str>>)]) {
        if self.scratch.is_none() {
            return;
        }
        let roots = self.file.loaded().roots().clone();
        // What is no longer written gets back what it held.
        let gone: Vec<FilePath> = self
            .before
            .keys()
            .filter(|path| !files.iter().any(|(written, _)| written == *path))
            .cloned()
            .collect();
        for path in gone {
            if let (Some(bytes), Some(at)) = (self.before.remove(&path), roots.path(&path)) {
                put(&at, bytes.as_deref());
            }
        }
        for (path, text) in files {
            let Some(at) = roots.path(path) else { continue };
            let now = std::fs::read(&at).ok();
            self.before.entry(path.clone()).or_insert_with(|| now.clone());
            let wanted = text.as_ref().map(|text| text.as_bytes());
            if now.as_deref() != wanted {
                put(&at, wanted);
            }
        }
    }
}

/// Writes or removes a file of a scratch copy. That it cannot be done costs the copy its likeness to the run, nothing else.
fn put(at: &Path, bytes: Option<&[u8]>) {
    let done = match bytes {
        Some(bytes) => {
            at.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(at, bytes))
        }
        None => std::fs::remove_file(at),
    };
    if let Err(error) = done {
        tracing::debug!("{} in the scratch copy: {error}", at.display());
    }
}
