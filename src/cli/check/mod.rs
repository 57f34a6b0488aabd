//! `plywood check PATH...`: whether benches are what their programs send, and what is likely a mistake in them.

mod contract;
mod fleet;
mod github;
mod json;
mod look;
mod text;

use std::path::{Path, PathBuf};

use super::args::{CheckArgs, CheckFormat};
use super::open::{self, Bench};
use super::output::{Failure, Out, Outcome, Result, Table};
use super::settings;
use crate::core::contract::Breach;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::fact::Name;
use crate::core::lint::{Finding, TABLE};
use crate::core::text::number::grouped;
use crate::core::wire::{Comparison, Document, Equality};
use crate::io::recording;

pub(super) use text::{against, worth_lines};

/// What benches are checked against.
struct Recorded {
    path: PathBuf,
    document: Document,
}

/// A bench and what was found in it.
struct Checked {
    bench: Bench,
    found: Found,
}

/// What was found in a bench.
#[derive(Default)]
struct Found {
    diagnostics: Vec<Diagnostic>,
    lints: Vec<LintIn>,
    against: Option<(u32, Comparison)>,
    lost: Vec<Lost>,
    breaches: Vec<Breach>,
    /// What became of the contract; none where nobody asked for that.
    accepted: Option<contract::Accepted>,
}

/// A finding, and where several runs were played those in which it was found, the one that it is told of first.
struct LintIn {
    runs: Vec<Name>,
    finding: Finding,
}

/// What a run paid again, where there is a limit.
struct Lost {
    /// The run; none for a bench without runs.
    run: Option<Name>,
    /// The model.
    model: Name,
    /// The most that it may be.
    limit: u64,
    /// What it is; none where nothing is known of the model's cache.
    tokens: Option<u64>,
    estimate: bool,
    /// The calls that paid something again: the whole verdict, and what can be told of its place.
    calls: Vec<(String, Option<Diagnostic>)>,
}

impl Lost {
    fn is_too_much(&self) -> bool {
        self.tokens.is_none_or(|tokens| tokens > self.limit)
    }

    /// What is too much, as a message.
    fn message(&self) -> String {
        let run = self.run.as_ref().map_or_else(String::new, |run| format!("the run {run} "));
        let limit = grouped(self.limit);
        match self.tokens {
            Some(tokens) => format!(
                "{run}pays {}{} tokens again on {}, at most {limit} are allowed",
                if self.estimate { "~" } else { "" },
                grouped(tokens),
                self.model
            ),
            None => {
                format!("what {run}pays again on {} is not known: n/a, no cache rules for it", self.model)
            }
        }
    }
}

impl Found {
    /// True when something counts.
    fn is_found(&self) -> bool {
        self.diagnostics.iter().any(|problem| problem.severity != Severity::Note)
            || self.lints.iter().any(|lint| lint.finding.counts())
            || self.lost.iter().any(Lost::is_too_much)
            || !self.breaches.is_empty()
            || self
                .against
                .as_ref()
                .is_some_and(|(_, comparison)| comparison.equality != Equality::ByteIdentical)
    }
}

/// A bench that was looked at.
struct Looked {
    path: PathBuf,
    /// What was found, or why nothing could be looked for.
    outcome: std::result::Result<Box<Checked>, Vec<Diagnostic>>,
}

/// Checks benches; status 1 when something was found, 2 when one of them could not be checked. What is wrong with one
/// does not keep what was found in the others from being told.
pub(super) fn run(args: &CheckArgs, out: &mut Out<'_>) -> Result {
    if args.lints {
        return lints(out);
    }
    let recorded = match &args.against {
        Some(path) => {
            let document = recording::read(path).map_err(|problem| Failure::Diagnostics(vec![problem]))?;
            Some(Recorded { path: path.clone(), document })
        }
        None => None,
    };
    // What is wrong with the command line is told once.
    open::check(&args.bench)?;
    settings::models(&args.bench.play.settings)?;
    let mut looked = Vec::new();
    for path in fleet::benches(&args.paths) {
        let outcome = match path {
            Ok(ref path) => look::check(path, args, recorded.as_ref())?.map(Box::new),
            Err((_, ref problem)) => Err(vec![problem.clone()]),
        };
        let path = match path {
            Ok(path) | Err((path, _)) => path,
        };
        looked.push(Looked { path, outcome });
    }
    let format = if args.json { CheckFormat::Json } else { args.format };
    match format {
        CheckFormat::Json => json::write(&looked, recorded.as_ref(), out)?,
        CheckFormat::Text => text::write(&looked, recorded.as_ref(), out)?,
        CheckFormat::Github => github::write(&looked, recorded.as_ref(), out)?,
    }
    let broken: Vec<Diagnostic> =
        looked.iter().filter_map(|looked| looked.outcome.as_ref().err()).flatten().cloned().collect();
    if !broken.is_empty() {
        return Err(Failure::Diagnostics(broken));
    }
    let found =
        looked.iter().any(|looked| looked.outcome.as_ref().is_ok_and(|checked| checked.found.is_found()));
    Ok(if found { Outcome::Found } else { Outcome::Done })
}

/// The table of the lints.
fn lints(out: &mut Out<'_>) -> Result {
    let mut table = Table::new(&["lint", "level", "finds", "why", "fix"]);
    for row in &TABLE {
        table.row([row.word, row.level.word(), row.what, row.why, row.fix].map(str::to_owned));
    }
    table.write(out)?;
    Ok(Outcome::Done)
}

/// The call whose request a recording is: the one behind as many answers as it holds.
pub(in crate::cli) fn call_of(recorded: &Document) -> u32 {
    u32::try_from(recorded.answers()).unwrap_or(u32::MAX - 1) + 1
}

/// A bench as messages name it: the path as it was given, from here.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
