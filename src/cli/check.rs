//! `plywood check PATH...`: whether a bench is what its program sends.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::args::{CheckArgs, CheckFormat, SkipLint};
use super::open::Bench;
use super::output::{Failure, Out, Outcome, Result};
use super::report::{DiagnosticReport, Revisions};
use crate::app::engine::{Counters, publish};
use crate::core::cache::Measures;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::fact::Name;
use crate::core::lint::{self, Finding, Lint, Price, Subject};
use crate::core::run::Player;
use crate::core::tokens::Measure;
use crate::core::wire::{Author, CallNo, Comparison, Difference, Document, Equality, Format, compare};
use crate::io::recording;

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    revisions: Option<Revisions>,
    benches: Vec<BenchReport<'a>>,
}

#[derive(Serialize)]
struct BenchReport<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<AgainstReport<'a>>,
    diagnostics: Vec<DiagnosticReport<'a>>,
    lints: Vec<LintReport<'a>>,
}

/// What a lint found; `about` are layers or the place, `tokens` what it costs in each request.
#[derive(Serialize)]
struct LintReport<'a> {
    lint: Lint,
    about: &'a [Name],
    calls: &'a [CallNo],
    tokens: Option<u64>,
    exact: bool,
    #[serde(flatten)]
    diagnostic: DiagnosticReport<'a>,
}

#[derive(Serialize)]
struct AgainstReport<'a> {
    file: String,
    format: Format,
    call: u32,
    equality: Equality,
    /// Blocks of the recording that were compared.
    compared: usize,
    /// The length in bytes of the recorded body.
    bytes: usize,
    left_out: &'a [String],
    differences: &'a [Difference],
}

/// What benches are checked against.
struct Recorded {
    path: PathBuf,
    document: Document,
}

/// A bench and what was found in it.
struct Checked {
    path: PathBuf,
    bench: Bench,
    diagnostics: Vec<Diagnostic>,
    lints: Vec<Finding>,
    against: Option<(u32, Comparison)>,
}

/// Checks benches; status 1 when something was found.
pub(super) fn run(args: &CheckArgs, out: &mut Out<'_>) -> Result {
    let recorded = match &args.against {
        Some(path) => {
            let document = recording::read(path).map_err(|problem| Failure::Diagnostics(vec![problem]))?;
            Some(Recorded { path: path.clone(), document })
        }
        None => None,
    };
    let mut checked = Vec::new();
    for path in &args.paths {
        checked.push(check(path, args, recorded.as_ref())?);
    }
    let found = checked.iter().any(|checked| {
        checked.diagnostics.iter().any(|problem| problem.severity != Severity::Note)
            || !checked.lints.is_empty()
            || checked
                .against
                .as_ref()
                .is_some_and(|(_, comparison)| comparison.equality != Equality::ByteIdentical)
    });
    if args.json {
        out.json(&report(&checked, recorded.as_ref()))?;
    } else {
        for checked in &checked {
            match args.format {
                CheckFormat::Text => text(checked, recorded.as_ref(), out)?,
                CheckFormat::Github => github(checked, recorded.as_ref(), out)?,
            }
        }
    }
    Ok(if found { Outcome::Found } else { Outcome::Done })
}

fn check(path: &Path, args: &CheckArgs, recorded: Option<&Recorded>) -> Result<Checked> {
    let mut bench = Bench::open(path, &args.bench)?;
    let mut diagnostics = bench.warnings().to_vec();
    let mut lints = Vec::new();
    let against = match recorded {
        Some(Recorded { document, .. }) => {
            let call = args.call.unwrap_or_else(|| call_of(document));
            let player = bench.play_to(call)?;
            let request = bench.request(&player, call).map_err(|failure| match (failure, args.call) {
                (Failure::Message(message), None) => Failure::message(format!(
                    "{message}; the recording holds {} answers, so that is its request; --call N compares another",
                    document.answers()
                )),
                (failure, _) => failure,
            })?;
            diagnostics.extend(problems(&player, call));
            Some((call, compare(&request, document)))
        }
        None => {
            let mut player = bench.start()?;
            while bench.beat(&mut player)? {}
            let last = player.session().next_call().0;
            for call in 1..=last {
                for problem in problems(&player, call) {
                    if !diagnostics.contains(&problem) {
                        diagnostics.push(problem);
                    }
                }
            }
            lints = found(&bench, &player, &args.skip);
            None
        }
    };
    Ok(Checked { path: path.to_owned(), bench, diagnostics, lints, against })
}

/// What the lints find in the calls of a run.
pub(super) fn found(bench: &Bench, player: &Player, skip: &[SkipLint]) -> Vec<Finding> {
    let session = player.session();
    let mut counters = Counters::default();
    let mut all = Vec::new();
    for call in 1..=session.next_call().0 {
        let (Some(record), Some(request)) =
            (publish::record(session, CallNo(call)), session.request(CallNo(call)))
        else {
            continue;
        };
        let method = bench.models().get(&request.model).method.clone();
        let mut measure = method.encoding().map(|encoding| method.measure(counters.of(encoding)));
        let measure = measure.as_mut().map(|measure| measure as &mut dyn Measure);
        let subject = Subject { bench: session.bench(), record, request: &request };
        let mut found = lint::check(&subject, &mut Price { measure, method: &method });
        found.retain(|finding| !skip.iter().any(|skip| Lint::from(*skip) == finding.lint));
        lint::merge(&mut all, found);
    }
    all
}

/// The call whose request a recording is: the one behind as many answers as it holds.
pub(super) fn call_of(recorded: &Document) -> u32 {
    u32::try_from(recorded.answers()).unwrap_or(u32::MAX - 1) + 1
}

/// What went wrong in the layers of a call.
fn problems(player: &Player, call: u32) -> Vec<Diagnostic> {
    let session = player.session();
    let sent = session.calls().get(call as usize - 1).map(|record| &**record);
    let record = sent.or_else(|| session.prepared().filter(|record| record.call.0 == call));
    record
        .map(|record| record.diagnostics.iter().map(|problem| (**problem).clone()).collect())
        .unwrap_or_default()
}

fn report<'a>(checked: &'a [Checked], recorded: Option<&Recorded>) -> Report<'a> {
    let benches = checked
        .iter()
        .map(|checked| BenchReport {
            path: checked.path.display().to_string(),
            against: recorded.zip(checked.against.as_ref()).map(|(recorded, (call, comparison))| {
                AgainstReport {
                    file: recorded.path.display().to_string(),
                    format: recorded.document.format,
                    call: *call,
                    equality: comparison.equality,
                    compared: comparison.compared,
                    bytes: comparison.bytes,
                    left_out: &comparison.left_out,
                    differences: &comparison.differences,
                }
            }),
            diagnostics: checked.diagnostics.iter().map(DiagnosticReport::of).collect(),
            lints: checked.lints.iter().map(|finding| lint_report(checked, finding)).collect(),
        })
        .collect();
    Report {
        schema: "plywood.check/1",
        revisions: checked.first().map(|checked| checked.bench.revisions()),
        benches,
    }
}

fn lint_report<'a>(checked: &Checked, finding: &'a Finding) -> LintReport<'a> {
    LintReport {
        lint: finding.lint,
        about: &finding.about,
        calls: &finding.calls,
        tokens: finding.tokens,
        exact: checked.bench.models().get(&checked.bench.bench.model).method.is_exact(),
        diagnostic: DiagnosticReport::of(&finding.diagnostic),
    }
}

/// A finding as a message: the lint's word in front, the calls behind.
fn lint_message(finding: &Finding) -> String {
    format!("{}: {} ({})", finding.lint.word(), finding.diagnostic.message, finding.calls_words())
}

fn text(checked: &Checked, recorded: Option<&Recorded>, out: &mut Out<'_>) -> std::io::Result<()> {
    let path = checked.path.display();
    match recorded.zip(checked.against.as_ref()) {
        Some((recorded, (call, comparison))) => {
            let from = (&*recorded.path, &recorded.document);
            against(&checked.bench, &checked.path, from, *call, comparison, out)?;
        }
        None if checked.diagnostics.is_empty() && checked.lints.is_empty() => {
            out.line(format_args!("{path}: nothing found"))?;
        }
        None => {}
    }
    for problem in &checked.diagnostics {
        out.line(problem)?;
    }
    for finding in &checked.lints {
        out.line(Diagnostic { message: lint_message(finding), ..finding.diagnostic.clone() })?;
    }
    Ok(())
}

/// Says whether a bench's request is the recorded one, or what differs.
pub(super) fn against(
    bench: &Bench,
    path: &Path,
    (file, recorded): (&Path, &Document),
    call: u32,
    comparison: &Comparison,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let (path, file) = (path.display(), file.display());
    out.line(format_args!(
        "{path}: {} (call {call} against {file}, {}, {} bytes)",
        comparison.equality, recorded.format, comparison.bytes
    ))?;
    let shown = |id: &str| bench.shown(id);
    if let Some(first) = comparison.differences.first() {
        out.line(first.sentence(&shown))?;
        if !(first.recorded.is_empty() && first.bench.is_empty()) {
            out.line(format_args!("  recorded: {}", first.recorded))?;
            out.line(format_args!("  bench:    {}", first.bench))?;
        }
        let path = if first.path.is_empty() { String::new() } else { format!("{} in ", first.path) };
        out.line(format_args!("  at {path}{file}:{}", first.at))?;
    }
    let more = comparison.differences.get(1..).unwrap_or_default();
    if !more.is_empty() {
        out.line("behind it:")?;
        for difference in more {
            out.line(format_args!("  {}", difference.sentence(&shown)))?;
        }
    }
    if !comparison.left_out.is_empty() {
        out.line(format_args!("not compared: {}", comparison.left_out.join(", ")))?;
    }
    Ok(())
}

/// Messages of a workflow of GitHub, which shows them beside the lines that they name.
fn github(checked: &Checked, recorded: Option<&Recorded>, out: &mut Out<'_>) -> std::io::Result<()> {
    let shown = |id: &str| checked.bench.shown(id);
    if let Some(((call, comparison), recorded)) = checked.against.as_ref().zip(recorded) {
        for difference in &comparison.differences {
            let written = difference.author.as_ref().and_then(|author| author.written.as_ref());
            let place = match written {
                Some(written) => {
                    let file = checked.bench.file_from_here(&written.file);
                    format!(" file={},line={},col={},", property(&file), written.at.line, written.at.column)
                }
                None => match difference.author.as_ref().and_then(|author: &Author| author.fact.as_deref()) {
                    Some(fact) => format!(" file={},", property(&checked.bench.file_from_here(fact))),
                    None => " ".to_owned(),
                },
            };
            let message = format!(
                "call {call} of {} is not what {} recorded: {}\nrecorded: {}\nbench: {}",
                checked.path.display(),
                recorded.path.display(),
                difference.sentence(&shown),
                difference.recorded,
                difference.bench
            );
            out.line(format_args!("::error{place}title=plywood check::{}", escaped(&message)))?;
        }
    }
    let lints = checked
        .lints
        .iter()
        .map(|finding| Diagnostic { message: lint_message(finding), ..finding.diagnostic.clone() });
    for problem in checked.diagnostics.iter().cloned().chain(lints) {
        let mut place = String::from(" ");
        if let Some(file) = &problem.file {
            place.push_str(&format!("file={},", property(&checked.bench.file_from_here(file))));
        }
        if let Some(at) = problem.at {
            place.push_str(&format!("line={},col={},", at.line, at.column));
        }
        let level = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        out.line(format_args!("::{level}{place}title=plywood check::{}", escaped(&problem.message)))?;
    }
    Ok(())
}

/// A message as GitHub's workflow commands want it.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property as GitHub's workflow commands want it.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_workflow() {
        assert_eq!(escaped("100 %\nof a:b, c"), "100 %25%0Aof a:b, c");
        assert_eq!(property("a,b:c%"), "a%2Cb%3Ac%25");
    }
}
