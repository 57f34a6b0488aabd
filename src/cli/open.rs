//! From a path on the command line to a bench that can be played.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::BenchArgs;
use super::output::{Failure, Result};
use super::settings;
use crate::core::bench;
use crate::core::cache::Models;
use crate::core::diagnostic::{Diagnostic, Position, Severity};
use crate::core::fact::{FactKey, Found, Name};
use crate::core::fix::Fix;
use crate::core::run::{Load, Player, Refused};
use crate::core::source::parse_time;
use crate::core::wire::{CallNo, Request};
use crate::io::bench_file::{BenchFile, Machine};
use crate::io::edit::bench::edits_of;
use crate::io::load::Loader;
use crate::io::near;
use crate::io::samples::{self, Sample, ScratchCopy};
use crate::io::syntax::suggest;

/// A bench, read, with what supplies its facts.
pub(super) struct Bench {
    pub(super) bench: Arc<bench::Bench>,
    warnings: Vec<Diagnostic>,
    variants: Vec<String>,
    run: Option<String>,
    models: Arc<Models>,
    pub(super) file: BenchFile,
    /// Its folder as the command line names it; none where names from the bench are names from here.
    folder: Option<PathBuf>,
    /// Kept, since the bench's files go with it.
    _copy: Option<ScratchCopy>,
}

/// Puts what the command line says over what the bench says.
pub(super) fn adjust(bench: &mut bench::Bench, args: &BenchArgs) {
    if let Some(model) = &args.play.model {
        bench.model = Name::from(&**model);
    }
    if let Some(now) = &args.play.now {
        bench.workspace.clock = Some(Name::from(&**now));
    }
}

/// That nothing is known of the model of a bench: not wrong, and most often a slip of the pen.
fn unknown_model(bench: &bench::Bench, by_flag: bool, models: &Models) -> Option<Diagnostic> {
    if models.knows(&bench.model) {
        return None;
    }
    let message =
        format!("nothing is known of {}: its tokens, its cache and its prices are n/a", bench.model);
    let source = &bench.source;
    let line = source.text.lines().position(|line| line.starts_with("model:"));
    let problem = Diagnostic::new(Severity::Note, message);
    let mut problem = match line.and_then(|line| u32::try_from(line).ok()).filter(|_| !by_flag) {
        Some(line) => problem.at(source.name.clone(), &source.text, Position { line: line + 1, column: 1 }),
        None => problem,
    };
    problem.hint = Some(known_models(&bench.model, models));
    Some(problem)
}

/// What may be meant by the name of a model that is not known. The provider may be left out.
pub(super) fn known_models(name: &str, models: &Models) -> String {
    let about = "`plywood models` lists those that are known; a file of your own adds others";
    let ids = || models.models.keys().map(|id| &**id);
    let short = |id: &&str| id.split_once(':').is_some_and(|(_, short)| short == name);
    match ids().find(short).or_else(|| suggest::nearest(name, ids())) {
        Some(near) => format!("did you mean `{near}`? {about}"),
        None => about.to_owned(),
    }
}

/// What supplies facts, as a loader of sessions.
pub(super) struct Edge<'a>(pub(super) &'a mut Loader);

impl Load for Edge<'_> {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), self.0.load(key))).collect()
    }
}

/// What a path on the command line names: a path that exists, else a sample. An existing path wins over a sample's name.
pub(super) enum Named {
    /// A path, as it was given.
    Path(PathBuf),
    /// A sample.
    Sample(&'static Sample),
}

impl Named {
    /// Finds out what it names.
    pub(super) fn of(path: &Path) -> Result<Named> {
        // A link that leads nowhere exists, too: it is told as what it is.
        if path.symlink_metadata().is_ok() {
            return Ok(Named::Path(path.to_owned()));
        }
        if let Some(sample) = path.to_str().and_then(samples::find) {
            return Ok(Named::Sample(sample));
        }
        Err(Failure::Diagnostics(vec![not_there(path, &[])]))
    }
}

/// That a path names nothing, with what is called nearly like it: something in its folder, a sample, or one of `others`.
pub(super) fn not_there(path: &Path, others: &[String]) -> Diagnostic {
    let shown = path.to_string_lossy();
    let problem = Diagnostic::error(match others {
        [] => format!("there is no file or folder `{shown}`"),
        _ => format!("there is no file, folder, sample or command `{shown}`"),
    });
    let samples = samples::samples().iter().map(|sample| sample.name);
    let named = suggest::nearest(&shown, samples.chain(others.iter().map(String::as_str))).map(str::to_owned);
    let near = named.or_else(|| near::near(Path::new(""), &shown));
    problem.hint(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("a name alone can also be a sample: {}", sample_names()),
    })
}

/// That there is no sample of a name, with the one that is called nearly like it.
pub(super) fn no_such_sample(name: &str) -> Diagnostic {
    let near = suggest::nearest(name, samples::samples().iter().map(|sample| sample.name));
    Diagnostic::error(format!("there is no sample `{name}`")).hint(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the samples are {}", sample_names()),
    })
}

fn sample_names() -> String {
    let names: Vec<String> = samples::samples().iter().map(|sample| format!("`{}`", sample.name)).collect();
    names.join(", ")
}

/// The problem with the file named as the user would find it from here: a bench names its files from its own folder.
pub(super) fn seen_from_here(problem: Diagnostic, folder: Option<&Path>) -> Diagnostic {
    match (folder, &problem.file) {
        (Some(folder), Some(file)) if Path::new(&**file).is_relative() && folder.join(&**file).exists() => {
            let file = folder.join(&**file).to_string_lossy().into();
            Diagnostic { file: Some(file), ..problem }
        }
        _ => problem,
    }
}

/// What agents of several makes read from a folder, which makes it one that an agent works in.
const AGENT_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// True for a folder in which an agent works, though it has no bench.
pub(super) fn holds_work(folder: &Path) -> bool {
    AGENT_FILES.iter().any(|file| folder.join(file).exists())
}

/// The folder of a bench as it was named; none where names from the bench are names from here.
pub(super) fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = if path.is_dir() { path } else { path.parent()? };
    (folder != Path::new("") && folder != Path::new(".")).then(|| folder.to_owned())
}

/// Checks what the command line says instead of the bench.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn check(args: &BenchArgs) -> Result<()> {
    if let Some(model) = &args.play.model
        && model.split_once(':').is_none_or(|(provider, name)| provider.is_empty() || name.is_empty())
    {
        return Err(Failure::message(format!("--model {model}: write provider:model")));
    }
    if let Some(now) = &args.play.now
        && parse_time(now).is_none()
    {
        let example = "2026-04-01T09:00:00+08:00[Asia/Shanghai]";
        return Err(Failure::message(format!("--now {now}: write a time such as {example}")));
    }
    Ok(())
}

impl Bench {
    /// Opens what `path` names.
    pub(super) fn open(path: &Path, args: &BenchArgs) -> Result<Bench> {
        check(args)?;
        let models = settings::models(&args.play.settings)?;
        let machine = Machine::this();
        let (path, copy) = match Named::of(path)? {
            Named::Path(path) => (path, None),
            Named::Sample(sample) => {
                let copy = sample.scratch_copy().map_err(|error| {
                    Failure::message(format!(
                        "the sample cannot be copied: {}",
                        crate::io::load::reason(&error)
                    ))
                })?;
                (copy.bench(), Some(copy))
            }
        };
        let folder = if copy.is_none() { folder_of(&path) } else { None };
        let problems = |list: Vec<Diagnostic>| {
            Failure::Diagnostics(
                list.into_iter().map(|problem| seen_from_here(problem, folder.as_deref())).collect(),
            )
        };
        let mut file = BenchFile::open(&path, &machine).map_err(problems)?;
        if args.play.trust {
            file.loader().commands().trust_all();
        }
        let variants: Vec<Name> = args.variants.iter().map(|name| Name::from(&**name)).collect();
        let (mut bench, mut warnings) = file.bench(&variants).map_err(problems)?;
        adjust(Arc::make_mut(&mut bench), args);
        warnings.extend(unknown_model(&bench, args.play.model.is_some(), &models));
        Ok(Bench {
            bench,
            warnings,
            variants: args.variants.clone(),
            run: args.play.run.clone(),
            models,
            file,
            folder,
            _copy: copy,
        })
    }

    /// The bench, what supplies its facts, and the scratch copy that goes when it is dropped.
    pub(super) fn into_parts(self) -> (Arc<bench::Bench>, BenchFile, Option<ScratchCopy>) {
        (self.bench, self.file, self._copy)
    }

    /// What screens call a layer, by its id; what is no layer is called what it is.
    pub(super) fn shown(&self, id: &str) -> String {
        self.bench.layer(id).map_or_else(|| id.to_owned(), |layer| layer.shown().to_string())
    }

    /// A file of the bench or its workspace as it is found from here; none for one that is not there, and for the files of
    /// a sample, which are in a scratch copy.
    pub(super) fn path_from_here(&self, file: &str) -> Option<PathBuf> {
        if self._copy.is_some() {
            return None;
        }
        let bench = self.folder.clone().unwrap_or_default();
        let workspace = match &*self.bench.workspace.path {
            "." => bench.clone(),
            path => bench.join(path),
        };
        [bench, workspace].into_iter().map(|folder| folder.join(file)).find(|path| path.exists())
    }

    /// The problem with its file named as it is found from here.
    pub(super) fn seen_from_here(&self, problem: Diagnostic) -> Diagnostic {
        match problem.file.as_deref().and_then(|file| self.path_from_here(file)) {
            Some(path) => problem.in_file(path.to_string_lossy()),
            None => problem,
        }
    }

    /// Where the contract of this bench stands; none for a sample, and for a folder without a bench.
    pub(super) fn contract_path(&self) -> Option<PathBuf> {
        let (path, _) = self.file.path().filter(|_| self._copy.is_none())?;
        Some(crate::io::syntax::contract::path_of(path))
    }

    /// The run again on the bench as a fix would leave it; none where the fix cannot be made.
    pub(super) fn played_with(&mut self, player: &Player, fix: &Fix, args: &BenchArgs) -> Option<Player> {
        let variants: Vec<Name> = self.variants.iter().map(|name| Name::from(&**name)).collect();
        let mut bench = self.file.bench_edited(&edits_of(fix.changes()), &variants).ok()?;
        adjust(Arc::make_mut(&mut bench), args);
        player.rebuild(bench, CallNo(u32::MAX), &mut Edge(self.file.loader())).ok()
    }

    /// True for a scratch copy of a sample, which goes when the command ends.
    pub(super) fn is_copy(&self) -> bool {
        self._copy.is_some()
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.bench.name
    }

    /// The variants that are applied, in order.
    pub(super) fn variants(&self) -> &[String] {
        &self.variants
    }

    /// What its author should know.
    pub(super) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The models that are known.
    pub(super) fn models(&self) -> &Arc<Models> {
        &self.models
    }

    /// The run before its first call.
    pub(super) fn start(&mut self) -> Result<Player> {
        Player::start(self.bench.clone(), self.run.as_deref(), &mut Edge(self.file.loader())).map_err(refused)
    }

    /// Another run before its first call; the default for none.
    pub(super) fn start_run(&mut self, run: Option<&str>) -> Result<Player> {
        Player::start(self.bench.clone(), run, &mut Edge(self.file.loader())).map_err(refused)
    }

    /// Sends the request that waits; false at the end of the run, and for a bench without runs behind its first
    /// request, since nobody answers it.
    pub(super) fn beat(&mut self, player: &mut Player) -> Result<bool> {
        if player.run().is_none() {
            return Ok(false);
        }
        player.beat(&mut Edge(self.file.loader())).map_err(refused)
    }

    /// The run up to a call, which waits or was sent.
    pub(super) fn play_to(&mut self, call: u32) -> Result<Player> {
        let mut player = self.start()?;
        while player.session().next_call().0 < call && self.beat(&mut player)? {}
        Ok(player)
    }

    /// What a call is sent.
    pub(super) fn request(&self, player: &Player, call: u32) -> Result<Request> {
        player.session().request(CallNo(call)).ok_or_else(|| no_such_call(player, call))
    }
}

/// The failure for a call that the run does not come to.
pub(super) fn no_such_call(player: &Player, call: u32) -> Failure {
    let session = player.session();
    let calls = session.calls().len() + usize::from(session.prepared().is_some());
    let run = player.run().map_or_else(|| "the bench".to_owned(), |run| format!("the run {run}"));
    Failure::message(format!("there is no call {call}: {run} has {calls}"))
}

pub(super) fn refused(refused: Refused) -> Failure {
    Failure::message(refused.0)
}
