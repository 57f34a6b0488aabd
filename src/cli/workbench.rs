//! Opens the workbench.

use std::path::Path;
use std::sync::Arc;

use clap::CommandFactory;

use super::args::{BenchArgs, Cli, ColorArg, OpenArgs};
use super::audit::layers_of;
use super::open::{Named, check, folder_of, holds_work, not_there, seen_from_here};
use super::output::{Failure, Outcome, Result};
use super::settings::{self, Environment, flags_of, models_of, sources};
use crate::app::engine::{Disk, Engine, Options};
use crate::core::cache::Models;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::io::bench_file::{Machine, Target};
use crate::io::command::TrustStore;
use crate::io::edit::Kept;
use crate::io::{models, samples};
use crate::tui::setup::Reader;
use crate::tui::{terminal, workbench};

pub(super) fn run(args: &OpenArgs, color: Option<ColorArg>) -> Result<Outcome> {
    if let Some(path) = args.path.as_deref().filter(|path| Named::of(path).is_err()) {
        // Whoever mistypes a command ends here, too.
        let commands: Vec<String> =
            Cli::command().get_subcommands().map(|own| own.get_name().to_owned()).collect();
        return Err(Failure::Diagnostics(vec![not_there(path, &commands)]));
    }
    // Before anything is read: without a terminal nothing of it could be shown.
    terminal::require().map_err(|error| {
        Failure::Diagnostics(vec![Diagnostic::error(error.to_string()).hint(error.hint())])
    })?;
    check(&args.bench)?;
    let environment = Environment::of_process();
    let mut sources = sources(&args.bench.play.settings, &environment)?;
    sources.flags = flags_of(args, color);
    let path = args.path.as_deref();
    if let Some(log) = path.filter(|path| is_log(path)) {
        return recorded(log, args, color);
    }
    if args.blame.is_some() {
        let problem = "--bench says whose layers the text of a log is, and no log is opened".to_owned();
        return Err(Failure::message(problem));
    }
    let mut disk = open(path, &Machine::this())?;
    if let Some(kept) = Kept::of_user() {
        disk.keep_drafts(kept);
    }
    sources.bench = disk.bench_file();
    let mut reader = Reader::new(sources, environment.into_look());
    // A broken settings file must not keep anybody from working: it is told on the screen.
    let setup = reader.start().map_err(Failure::Diagnostics)?;
    // Model data is read once: numbers must not change under an audience.
    let mut lasting = Vec::new();
    let models = match models_of(&setup.settings) {
        Ok(models) => models,
        Err(Failure::Diagnostics(problems)) => {
            lasting = problems;
            Arc::new(models::embedded())
        }
        Err(failure) => return Err(failure),
    };
    // Who is asked once is not asked again; who says --trust is not asked at all, this time.
    let disk =
        if args.bench.play.trust { disk.trusting_all(false) } else { disk.trusting(TrustStore::of_user()) };
    let engine = engine_on(disk, path, &args.bench, models)?;
    let code = workbench::run(engine, setup, reader, lasting)
        .map_err(|error| Failure::message(error.to_string()))?;
    Ok(Outcome::Code(code))
}

/// True for a file that is no bench: a log of requests.
fn is_log(path: &Path) -> bool {
    let bench = matches!(path.extension().and_then(std::ffi::OsStr::to_str), Some("yaml" | "yml"));
    let named = path.to_string_lossy().to_lowercase();
    let log = [".jsonl", ".ndjson", ".json", ".log", ".gz"].iter().any(|end| named.ends_with(end));
    !bench && log && path.is_file()
}

/// Opens a log of requests in the workbench.
fn recorded(log: &Path, args: &OpenArgs, color: Option<ColorArg>) -> Result<Outcome> {
    let environment = Environment::of_process();
    let mut sources = sources(&args.bench.play.settings, &environment)?;
    sources.flags = flags_of(args, color);
    let mut reader = Reader::new(sources, environment.into_look());
    let setup = reader.start().map_err(Failure::Diagnostics)?;
    let models = models_of(&setup.settings)?;
    let engine = recording(log, args.blame.as_deref(), models)?;
    let code = workbench::run(engine, setup, reader, Vec::new())
        .map_err(|error| Failure::message(error.to_string()))?;
    Ok(Outcome::Code(code))
}

/// The engine on a log of requests, whose breaks are blamed on the layers of this bench.
fn recording(log: &Path, bench: Option<&Path>, models: Arc<Models>) -> Result<Engine> {
    let layers = match bench {
        Some(bench) => Some((bench.display().to_string().into(), layers_of(bench)?)),
        None => None,
    };
    Engine::open_recording(log, models, layers).map_err(Failure::Diagnostics)
}

/// The engine on what a path names, or on what lies here.
pub(super) fn engine(path: Option<&Path>, args: &BenchArgs) -> Result<Engine> {
    let models = settings::models(&args.play.settings)?;
    if let Some(log) = path.filter(|path| is_log(path)) {
        return recording(log, None, models);
    }
    let disk = open(path, &Machine::this())?;
    let disk = if args.play.trust { disk.trusting_all(true) } else { disk };
    engine_on(disk, path, args, models)
}

fn engine_on(disk: Disk, path: Option<&Path>, args: &BenchArgs, models: Arc<Models>) -> Result<Engine> {
    let folder = path.and_then(folder_of);
    let problems = |list: Vec<Diagnostic>| {
        Failure::Diagnostics(
            list.into_iter().map(|problem| seen_from_here(problem, folder.as_deref())).collect(),
        )
    };
    let names = |names: &[String]| names.iter().map(|name| Name::from(&**name)).collect();
    let options = Options {
        variants: names(&args.variants),
        run: args.play.run.as_deref().map(Name::from),
        model: args.play.model.as_deref().map(Name::from),
        now: args.play.now.as_deref().map(Name::from),
    };
    Engine::open(Box::new(disk), models, options).map_err(problems)
}

/// What `path` names: a bench, a folder, or else a sample; without a path, what lies here, else the first sample.
fn open(path: Option<&Path>, machine: &Machine) -> Result<Disk> {
    let named = match path {
        Some(path) => Named::of(path)?,
        None => {
            let here = Path::new(".");
            let opens = match Target::find(here) {
                Ok(Target::Bench(_)) => true,
                Ok(Target::Plain(_)) => holds_work(here),
                Err(problem) => return Err(Failure::Diagnostics(vec![problem])),
            };
            match samples::samples().first() {
                Some(sample) if !opens => {
                    let note = "sample, scratch copy; your folder was not opened";
                    return Disk::sample(sample, note, machine).map_err(Failure::Diagnostics);
                }
                _ => Named::Path(here.to_owned()),
            }
        }
    };
    match named {
        Named::Sample(sample) => {
            Disk::sample(sample, "sample, scratch copy", machine).map_err(Failure::Diagnostics)
        }
        Named::Path(path) => Disk::open(&path, machine).map_err(|list| {
            let folder = folder_of(&path);
            Failure::Diagnostics(
                list.into_iter().map(|problem| seen_from_here(problem, folder.as_deref())).collect(),
            )
        }),
    }
}
