//! `plywood doctor`: what was found on this machine, and where each setting comes from.

use std::io::IsTerminal;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::args::JsonArgs;
use super::output::{Out, Outcome, Result, Table};
use super::report::Revisions;
use super::settings::{Environment, Setting};
use crate::core::bench::FORMAT;
use crate::core::tokens;
use crate::io::clipboard::{self, Preference};
use crate::io::models;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    revisions: Revisions,
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

    fn setting(name: &'static str, setting: Setting) -> Check {
        Check::new(name, setting.value, setting.origin)
    }

    fn problem(mut self, problem: impl Into<String>) -> Check {
        self.problem = Some(problem.into());
        self
    }
}

/// Prints what was found; status 1 when something does not work.
pub(super) fn run(args: JsonArgs, out: &mut Out<'_>) -> Result {
    let environment = Environment::of_process();
    let mut checks = program();
    checks.extend(terminal(&environment));
    checks.push(clipboard(&environment));
    checks.extend(machine());
    let found = checks.iter().any(|check| check.problem.is_some());
    if args.json {
        out.json(&Report { schema: "plywood.doctor/1", revisions: Revisions::here(), checks })?;
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

fn terminal(environment: &Environment) -> Vec<Check> {
    let mut checks = vec![Check::setting("theme", environment.theme(None))];
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
    for name in ["TERM", "COLORTERM", "NO_COLOR"] {
        let value = environment.get(name).unwrap_or("not set");
        checks.push(Check::new(name, value, "environment"));
    }
    let locale = environment.locale();
    let utf8 = locale.value.to_ascii_lowercase().replace('-', "").contains("utf8");
    let check = Check::setting("locale", locale);
    checks.push(if utf8 || check.origin == "default" {
        check
    } else {
        check.problem("not UTF-8: Chinese may not show")
    });
    checks
}

/// The ways to the clipboard, in the order in which they are tried.
fn clipboard(environment: &Environment) -> Check {
    let setting = environment.clipboard();
    let Some(preference) = Preference::parse(&setting.value) else {
        let words = Preference::WORDS.map(|(word, _)| word).join(", ");
        return Check::setting("clipboard", setting).problem(format!("there is {words}"));
    };
    let routes = clipboard::routes(preference, &clipboard::Machine::default());
    let routes: Vec<String> = routes.iter().map(ToString::to_string).collect();
    Check::new("clipboard", routes.join(", else "), setting.origin)
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
