//! Opens the workbench.

use std::path::Path;
use std::sync::Arc;

use super::args::{BenchArgs, OpenArgs};
use super::open::{Named, check, folder_of, from_here};
use super::output::{Failure, Outcome, Result};
use super::settings::{Environment, Setting};
use crate::app::engine::{Disk, Engine, Options};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::io::bench_file::{Machine, Target};
use crate::io::clipboard::Preference;
use crate::io::watch::Mode;
use crate::io::{models, samples};
use crate::tui::theme::{Depth, Theme};
use crate::tui::{terminal, workbench};

/// What a folder holds when somebody's agent works in it.
const AGENT_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

pub(super) fn run(args: &OpenArgs) -> Result<Outcome> {
    // Before anything is read: without a terminal nothing of it could be shown.
    terminal::require().map_err(|error| {
        Failure::Diagnostics(vec![Diagnostic::error(error.to_string()).hint(error.hint())])
    })?;
    check(&args.bench)?;
    let environment = Environment::of_process();
    let theme = theme(&environment.theme(args.theme.as_deref()), &environment)?;
    let clipboard = clipboard(&environment)?;
    let engine = engine(args.path.as_deref(), &args.bench)?;
    let settings = workbench::Settings {
        theme,
        watch: if args.no_watch { Mode::Off } else { Mode::Auto },
        mouse: true,
        show_keys: args.show_keys,
        clipboard,
    };
    let code = workbench::run(engine, settings).map_err(|error| Failure::message(error.to_string()))?;
    Ok(Outcome::Code(code))
}

/// The engine on what a path names, or on what lies here.
pub(super) fn engine(path: Option<&Path>, args: &BenchArgs) -> Result<Engine> {
    let folder = path.and_then(folder_of);
    let problems = |list: Vec<Diagnostic>| {
        Failure::Diagnostics(list.into_iter().map(|problem| from_here(problem, folder.as_deref())).collect())
    };
    let disk = open(path, &Machine::this())?;
    let names = |names: &[String]| names.iter().map(|name| Name::from(&**name)).collect();
    let options = Options {
        variants: names(&args.variants),
        run: args.run.as_deref().map(Name::from),
        model: args.model.as_deref().map(Name::from),
        now: args.now.as_deref().map(Name::from),
    };
    Engine::open(Box::new(disk), Arc::new(models::embedded()), options).map_err(problems)
}

/// The way to the clipboard that the user wants.
pub(super) fn clipboard(environment: &Environment) -> Result<Preference> {
    let setting = environment.clipboard();
    Preference::parse(&setting.value).ok_or_else(|| {
        let words = Preference::WORDS.map(|(word, _)| word).join(", ");
        Failure::message(format!("{}={}: there is {words}", setting.origin, setting.value))
    })
}

/// The theme: built in, or a file.
pub(super) fn theme(setting: &Setting, environment: &Environment) -> Result<Theme> {
    // Who names a theme wants its colours; only where nobody did, NO_COLOR speaks (see <https://no-color.org>).
    let look = |name: &str| match name {
        "NO_COLOR" if setting.origin != "NO_COLOR" => None,
        _ => environment.get(name).map(str::to_owned),
    };
    let depth = Depth::detect(&look);
    if depth == Depth::None && setting.origin != "--theme" {
        // What other themes say by colours alone, this one says by weight.
        return Ok(Theme::choose(None, look));
    }
    named_theme(setting, depth)
}

/// The theme of a name or a file, in as many colours as there are.
pub(super) fn named_theme(setting: &Setting, depth: Depth) -> Result<Theme> {
    if let Some(theme) = Theme::built_in(&setting.value, depth) {
        return Ok(theme);
    }
    let shown = format!("the theme `{}` ({})", setting.value, setting.origin);
    let text = std::fs::read_to_string(&setting.value).map_err(|error| {
        let known = "dark, light, ansi, mono, or a theme file";
        Failure::message(format!("{shown} cannot be read: {error}; there is {known}"))
    })?;
    Theme::parse(&text, depth)
        .map_err(|problem| Failure::message(format!("{shown} cannot be used: {problem}")))
}

/// What `path` names: a bench, a folder, or else a sample; without a path, what lies here, else the first sample.
fn open(path: Option<&Path>, machine: &Machine) -> Result<Disk> {
    let named = match path {
        Some(path) => Named::of(path)?,
        None => {
            let here = Path::new(".");
            let holds_work = || AGENT_FILES.iter().any(|file| here.join(file).exists());
            let opens = match Target::find(here) {
                Ok(Target::Bench(_)) => true,
                Ok(Target::Plain(_)) => holds_work(),
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
                list.into_iter().map(|problem| from_here(problem, folder.as_deref())).collect(),
            )
        }),
    }
}
