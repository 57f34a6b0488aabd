//! `plywood check PATH...`: whether benches are what their programs send, and what is likely a mistake in them.

mod contract;
mod fleet;
mod github;
mod json;
mod lints;
mod look;
mod text;

use std::path::{Path, PathBuf};

use super::args::{CheckArgs, CheckFormat};
use super::compare::named_models;
use super::open::{self, Bench};
use super::output::{Failure, Out, Outcome, Result};
use super::settings;
use crate::core::contract::Breach;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::fact::Name;
use crate::core::lint::Finding;
use crate::core::text::number::{counted, grouped};
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
    /// Names all files as they are found from here.
    fn name_files(&mut self, bench: &Bench) {
        let lints = self.lints.iter_mut().map(|lint| &mut lint.finding.diagnostic);
        let places = self.lost.iter_mut().flat_map(|lost| &mut lost.calls);
        let taken = self.accepted.iter_mut().flat_map(|accepted| &mut accepted.taken);
        let breaches = self.breaches.iter_mut().chain(taken).map(|breach| &mut breach.diagnostic);
        let all = self.diagnostics.iter_mut().chain(lints).chain(breaches);
        for problem in all.chain(places.filter_map(|(_, place)| place.as_mut())) {
            *problem = bench.seen_from_here(std::mem::replace(problem, Diagnostic::error("")));
        }
    }

    /// True when there is nothing to tell: also what does not count is told.
    fn is_quiet(&self) -> bool {
        let told = |lint: &LintIn| lint.finding.allowed.is_none();
        self.diagnostics.is_empty() && !self.lints.iter().any(told) && !self.is_found()
    }

    /// How bad it is.
    fn weight(&self) -> Weight {
        let mut weight = Weight::default();
        let against = self.against.iter().filter(|(_, found)| found.equality != Equality::ByteIdentical);
        let lost = self.lost.iter().filter(|lost| lost.is_too_much());
        weight.errors += against.count() + lost.clone().count() + self.breaches.len();
        weight.tokens += lost.filter_map(|lost| lost.tokens).max().unwrap_or_default();
        for severity in self.diagnostics.iter().map(|problem| problem.severity) {
            weight.add(severity);
        }
        for finding in self.lints.iter().map(|lint| &lint.finding).filter(|finding| finding.allowed.is_none())
        {
            weight.add(finding.diagnostic.severity);
            if finding.counts() {
                weight.tokens = weight.tokens.max(finding.tokens.unwrap_or_default());
            }
        }
        weight
    }

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

/// How bad it is what was found in a bench, for an order: errors first, then what costs most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    /// True where nothing could be looked for.
    broken: bool,
    errors: usize,
    /// The most tokens that one finding costs.
    tokens: u64,
    warnings: usize,
    notes: usize,
}

impl Weight {
    /// In words: `1 error, 2 warnings, up to 4,352 tokens`.
    fn words(&self) -> String {
        if self.broken {
            return "cannot be checked".to_owned();
        }
        let kinds = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<String> = kinds.map(|(count, word)| counted(count as u64, word)).collect();
        if self.tokens > 0 {
            words.push(format!("up to {} tokens", grouped(self.tokens)));
        }
        words.join(", ")
    }

    fn add(&mut self, severity: Severity) {
        *match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        } += 1;
    }
}

/// A bench that was looked at.
struct Looked {
    path: PathBuf,
    /// What was found, or why nothing could be looked for.
    outcome: std::result::Result<Box<Checked>, Vec<Diagnostic>>,
}

impl Looked {
    fn weight(&self) -> Weight {
        match &self.outcome {
            Ok(checked) => checked.found.weight(),
            Err(_) => Weight { broken: true, ..Weight::default() },
        }
    }

    fn is_found(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|checked| checked.found.is_found())
    }
}

/// The worst first, and the rest in order.
fn worst_first(looked: &[Looked]) -> Vec<&Looked> {
    let mut all: Vec<&Looked> = looked.iter().collect();
    all.sort_by_key(|looked| std::cmp::Reverse(looked.weight()));
    all
}

/// Checks benches; status 1 when something was found, 2 when one of them could not be checked. What is wrong with one
/// does not keep what was found in the others from being told.
pub(super) fn run(args: &CheckArgs, out: &mut Out<'_>) -> Result {
    let format = if args.json { CheckFormat::Json } else { args.format };
    if args.lints {
        return lints::run(format, out);
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
    let models = settings::models(&args.bench.play.settings)?;
    named_models(&args.models, &models)?;
    let mut looked = Vec::new();
    let paths = fleet::benches(&args.paths);
    let several = paths.len() > 1;
    for path in paths {
        let outcome = match path {
            Ok(ref path) => look::check(path, args, recorded.as_ref(), several)?.map(Box::new),
            Err((_, ref problem)) => Err(vec![problem.clone()]),
        };
        let path = match path {
            Ok(path) | Err((path, _)) => path,
        };
        looked.push(Looked { path, outcome });
    }
    match format {
        CheckFormat::Json => json::write(&looked, recorded.as_ref(), out)?,
        CheckFormat::Text => text::write(&looked, recorded.as_ref(), out)?,
        CheckFormat::Github => github::write(&looked, recorded.as_ref(), out)?,
    }
    let broken: Vec<Diagnostic> =
        looked.iter().filter_map(|looked| looked.outcome.as_ref().err()).flatten().cloned().collect();
    match broken.is_empty() {
        // Messages of a workflow have said it already, in the same log.
        false if format == CheckFormat::Github => Ok(Outcome::Code(2)),
        false => Err(Failure::Diagnostics(broken)),
        true if looked.iter().any(Looked::is_found) => Ok(Outcome::Found),
        true => Ok(Outcome::Done),
    }
}

/// The call whose request a recording is: the one behind as many answers as it holds.
pub(in crate::cli) fn call_of(recorded: &Document) -> u32 {
    u32::try_from(recorded.answers()).unwrap_or(u32::MAX - 1) + 1
}

/// A bench as messages name it: the path as it was given, from here.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
