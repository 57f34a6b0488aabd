//! Opens the workbench.

use std::path::Path;
use std::sync::Arc;

use super::args::OpenArgs;
use super::output::{Failure, Outcome, Result};
use super::settings::Environment;
use crate::app::engine::{Disk, Engine, Options};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::io::bench_file::{Machine, Target};
use crate::io::watch::Mode;
use crate::io::{models, samples};
use crate::tui::theme::Theme;
use crate::tui::{terminal, workbench};

/// What a folder holds when somebody's agent works in it.
const AGENT_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".git"];

pub(super) fn run(args: &OpenArgs) -> Result<Outcome> {
    // Before anything is read: without a terminal nothing of it could be shown.
    terminal::require().map_err(|error| {
        Failure::Diagnostics(vec![Diagnostic::error(error.to_string()).hint(error.hint())])
    })?;
    let machine = Machine::this();
    let disk = open(args.path.as_deref(), &machine).map_err(Failure::Diagnostics)?;
    let names = |names: &[String]| names.iter().map(|name| Name::from(&**name)).collect();
    let options = Options {
        variants: names(&args.bench.variants),
        run: args.bench.run.as_deref().map(Name::from),
        model: args.bench.model.as_deref().map(Name::from),
        now: args.bench.now.as_deref().map(Name::from),
    };
    let engine =
        Engine::open(Box::new(disk), Arc::new(models::embedded()), options).map_err(Failure::Diagnostics)?;
    let environment = Environment::of_process();
    let theme = environment.theme(args.theme.as_deref()).value;
    let settings = workbench::Settings {
        theme: Theme::choose(Some(&theme), |name| environment.get(name).map(str::to_owned)),
        watch: if args.no_watch { Mode::Off } else { Mode::Auto },
        mouse: true,
        show_keys: false,
    };
    let code = workbench::run(engine, settings).map_err(|error| Failure::message(error.to_string()))?;
    Ok(Outcome::Code(code))
}

/// What `path` names: a bench, a folder, or else a sample; without a path, what lies here, else the first sample.
fn open(path: Option<&Path>, machine: &Machine) -> std::result::Result<Disk, Vec<Diagnostic>> {
    let Some(path) = path else {
        let here = Path::new(".");
        let holds_work = AGENT_FILES.iter().any(|file| here.join(file).exists());
        let opens = match Target::find(here) {
            Ok(Target::Bench(_)) => true,
            Ok(Target::Plain(_)) => holds_work,
            Err(problem) => return Err(vec![problem]),
        };
        return match samples::samples().first() {
            Some(sample) if !opens => {
                Disk::sample(sample, "sample, scratch copy; your folder was not opened", machine)
            }
            _ => Disk::open(here, machine),
        };
    };
    // An existing path wins over a sample's name.
    match path.to_str().and_then(samples::find) {
        Some(sample) if !path.exists() => Disk::sample(sample, "sample, scratch copy", machine),
        _ => Disk::open(path, machine),
    }
}
