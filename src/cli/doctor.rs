//! `plywood doctor`: what was found on this machine, and where each setting comes from.

use std::io::IsTerminal;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::args::ListArgs;
use super::head::Schema;
use super::output::{Failure, Out, Outcome, Result, Table};
use super::settings::{self, Environment, shown, sources};
use crate::core::bench::FORMAT;
use crate::core::tokens;
use crate::io::clipboard;
use crate::io::settings::place::VARIABLE;
use crate::io::settings::themes::ThemeFiles;
use crate::io::settings::{Settings, Sources, ThemeChoice};
use crate::io::{log, models};
use crate::tui::theme::{Depth, background, load};

#[derive(Serialize)]
struct Report {
    checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    value: String,
    /// Where the value comes from: `TERM`, `default`, `the terminal`.
    origin: String,
    /// What does not work because of it; none when it is as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Check {
    fn new(name: &'static str, value: impl Into<String>, origin: impl Into<String>) -> Check {
        Check { name, value: value.into(), origin: origin.into(), problem: None }
    }

    fn problem(mut self, problem: impl Into<String>) -> Check {
        self.problem = Some(problem.into());
        self
    }
}

/// Prints what was found; status 1 when something does not work.
pub(super) fn run(args: &ListArgs, out: &mut Out<'_>) -> Result {
    let environment = Environment::of_process();
    let sources = sources(&args.settings, &environment)?;
    let mut checks = program();
    let (settings, found) = own(&sources, &environment);
    checks.extend(found);
    checks.extend(terminal(&environment, &settings));
    checks.push(copies(&settings));
    checks.extend(machine());
    let found = checks.iter().any(|check| check.problem.is_some());
    if args.json {
        out.json(&Schema::Doctor.plain(Report { checks }))?;
    } else {
        let mut table = Table::new(&["what", "value", "from"]);
        for check in &checks {
            table.row([check.name.to_owned(), check.value.clone(), check.origin.clone()]);
        }
        table.write(out)?;
        for check in &checks {
            if let Some(problem) = &check.problem {
                out.line(format_args!("problem: {}: {problem}", check.name))?;
            }
        }
    }
    Ok(if found { Outcome::Found } else { Outcome::Done })
}

fn program() -> Vec<Check> {
    vec![
        Check::new("version", env!("CARGO_PKG_VERSION"), "the program"),
        Check::new("bench format", FORMAT.to_string(), "the program"),
        Check::new("model data", models::embedded().revision.to_string(), "the program"),
        Check::new("tokenizer", tokens::REVISION, "the program"),
    ]
}

/// The user's own files, and each setting with where it was set. A broken file is a problem, not a failure: whoever asks
/// here wants to know what is broken.
fn own(sources: &Sources, environment: &Environment) -> (Settings, Vec<Check>) {
    let places = &sources.places;
    let from = if places.named {
        "--config"
    } else if environment.get(VARIABLE).is_some() {
        VARIABLE
    } else {
        "default"
    };
    let exists = places.file.as_deref().is_some_and(std::path::Path::exists);
    let note = if exists { "" } else { " (not there)" };
    let check = Check::new("settings file", format!("{}{note}", shown(places.file.as_deref())), from);
    let (settings, check) = match sources.read() {
        Ok(settings) => (settings, check),
        Err(problems) => (sources.without_own(), check.problem(problems[0].to_string())),
    };
    let mut checks = vec![check];
    let files = ThemeFiles { folder: places.themes() };
    for (name, value, origin) in settings.listed() {
        let check = Check::new(name, value, origin);
        let problem = match name {
            "theme" => themes(&settings.theme.value).into_iter().find_map(|theme| {
                let problems = load(&files, theme, Depth::True).err()?;
                problems.first().map(ToString::to_string)
            }),
            "models" => match settings::models_of(&settings) {
                Ok(_) => None,
                Err(Failure::Diagnostics(problems)) => problems.first().map(ToString::to_string),
                Err(_) => Some("they cannot be read".to_owned()),
            },
            "keys" => super::keys::keymap(&settings).err().and_then(|list| Some(list.first()?.to_string())),
            _ => None,
        };
        checks.push(match problem {
            Some(problem) => check.problem(problem),
            None => check,
        });
    }
    checks.push(Check::new("themes folder", shown(places.themes().as_deref()), from));
    let wanted = environment.get(log::VARIABLE);
    let log = Check::new(
        "log",
        shown(places.log.as_deref()),
        wanted.map_or("not written; PLYWOOD_LOG=debug writes it", |_| log::VARIABLE),
    );
    let problem = wanted.and_then(|wanted| log::problem(wanted, places.log.as_deref()));
    checks.push(match problem {
        Some(problem) => log.problem(problem),
        None => log,
    });
    (settings, checks)
}

fn themes(choice: &ThemeChoice) -> Vec<&str> {
    match choice {
        ThemeChoice::Named(name) => vec![name],
        ThemeChoice::ByBackground { light, dark, fallback } => vec![light, dark, fallback],
    }
}

fn terminal(environment: &Environment, settings: &Settings) -> Vec<Check> {
    let look = environment.look();
    let depth = Depth::of(settings.color.value, &look);
    let mut checks = vec![Check::new("colours", depth.word(), "the terminal and the settings")];
    if depth == Depth::None {
        checks.push(Check::new("theme in use", "mono", "there are no colours"));
    }
    let asks = matches!(settings.theme.value, ThemeChoice::ByBackground { .. });
    let asked = if !asks {
        "not asked for: one theme is set"
    } else if background::may_ask(&look) {
        "asked for at the start, for 200 ms"
    } else {
        "not asked for: tmux behind SSH answers too late"
    };
    checks.push(Check::new("background", asked, "the theme"));
    let is_terminal = std::io::stdout().is_terminal();
    checks.push(Check::new("output", if is_terminal { "a terminal" } else { "no terminal" }, "stdout"));
    if is_terminal && let Ok((columns, rows)) = crossterm::terminal::size() {
        let check = Check::new("size", format!("{columns}x{rows}"), "the terminal");
        checks.push(if columns < 80 || rows < 24 {
            check.problem("smaller than 80x24: not every pane fits")
        } else {
            check
        });
    }
    for name in ["TERM", "COLORTERM", "NO_COLOR", "TMUX", "SSH_TTY"] {
        let value = environment.get(name).unwrap_or("not set");
        checks.push(Check::new(name, value, "environment"));
    }
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| Some((environment.get(name)?, name)));
    let (editor, origin) = editor.unwrap_or(("vi", "default"));
    checks.push(Check::new("editor", editor, origin));
    let (locale, origin) = environment.locale();
    let utf8 = locale.to_ascii_lowercase().replace('-', "").contains("utf8");
    let check = Check::new("locale", locale, origin);
    checks.push(if utf8 || check.origin == "default" {
        check
    } else {
        check.problem("not UTF-8: Chinese may not show")
    });
    checks
}

/// The ways to the clipboard, in the order in which they are tried.
fn copies(settings: &Settings) -> Check {
    let routes = clipboard::routes(settings.clipboard.value, &clipboard::Machine);
    let routes: Vec<String> = routes.iter().map(ToString::to_string).collect();
    Check::new("copies go to", routes.join(", else "), settings.clipboard.origin.to_string())
}

fn machine() -> Vec<Check> {
    let mut checks = Vec::new();
    let git = Command::new("git").arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    checks.push(match git {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Check::new("git", said.strip_prefix("git version ").unwrap_or(&said), "PATH")
        }
        _ => Check::new("git", "not found", "PATH").problem("no code map of a project's files"),
    });
    let folder = std::env::temp_dir();
    let check = Check::new("temporary files", folder.display().to_string(), "the system");
    checks.push(match tempfile::tempfile_in(&folder) {
        Ok(_) => check,
        Err(error) => check.problem(format!("samples cannot be opened: {error}")),
    });
    checks.push(match watcher() {
        Ok(kind) => Check::new("file watching", kind, "the system"),
        Err(error) => Check::new("file watching", "does not work", "the system")
            .problem(format!("changes show only after Ctrl-L: {error}")),
    });
    checks
}

/// Makes a watcher and lets it go again, which is what fails where the system's limit is used up.
fn watcher() -> notify::Result<String> {
    use notify::Watcher;
    let mut watcher = notify::recommended_watcher(|_| {})?;
    watcher.watch(&std::env::temp_dir(), notify::RecursiveMode::NonRecursive)?;
    Ok(format!("{:?}", notify::RecommendedWatcher::kind()).to_lowercase())
}
