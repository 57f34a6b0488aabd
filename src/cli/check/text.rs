//! What was found, for reading.

use std::path::Path;

use super::contract::Accepted;
use super::{Checked, LintIn, Looked, Lost, Recorded, shown, worst_first};
use crate::cli::open::Bench;
use crate::cli::output::{Out, Table};
use crate::core::contract::Breach;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::diff::lines;
use crate::core::fix::Worth;
use crate::core::lint::Finding;
use crate::core::wire::{Comparison, Document};

/// The most lines of a text that is gone or has come which are shown.
const MOST_LINES: usize = 12;

/// The most benches that are named in the lines about all of them.
const MOST_NAMED: usize = 10;

/// Writes everything that was found, bench by bench; of several of them the worst first, without those in which nothing
/// was found, and lines about all of them at the end.
pub(super) fn write(
    looked: &[Looked],
    recorded: Option<&Recorded>,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let several = looked.len() > 1;
    for looked in worst_first(looked) {
        match &looked.outcome {
            Ok(checked) if several && checked.found.is_quiet() && checked.found.accepted.is_none() => {}
            Ok(checked) => of_bench(&looked.path, checked, recorded, out)?,
            Err(_) if several => out.line(format_args!("{}: cannot be checked", shown(&looked.path)))?,
            Err(_) => {}
        }
    }
    if several {
        summary(looked, out)?;
    }
    Ok(())
}

/// What was found in several benches, in a few lines: how many, the worst by name, and what to do next.
pub(super) fn summary(looked: &[Looked], out: &mut Out<'_>) -> std::io::Result<()> {
    let worst: Vec<&Looked> = worst_first(looked)
        .into_iter()
        .filter(|looked| looked.outcome.is_err() || looked.is_found())
        .collect();
    let broken = looked.iter().filter(|looked| looked.outcome.is_err()).count();
    let mut parts = Vec::new();
    if broken > 0 {
        parts.push(format!("{broken} cannot be checked"));
    }
    if worst.len() > broken {
        parts.push(format!("{} with findings", worst.len() - broken));
    }
    let rest = looked.len() - worst.len();
    match (parts.is_empty(), rest) {
        (true, _) => parts.push("nothing found".to_owned()),
        (false, 0) => {}
        (false, rest) => parts.push(format!("{rest} without")),
    }
    out.line(format_args!("{} benches: {}", looked.len(), parts.join(", ")))?;
    let mut table = Table::new(&["", "", ""]);
    for looked in worst.iter().take(MOST_NAMED) {
        table.row([format!("  {}", shown(&looked.path)), looked.weight().words(), first_found(looked)]);
    }
    // The head of such a short table says nothing.
    table.lines().into_iter().skip(1).try_for_each(|line| out.line(line))?;
    if worst.len() > MOST_NAMED {
        out.line(format_args!("  and {} more", worst.len() - MOST_NAMED))?;
    }
    match worst.first() {
        Some(Looked { path, outcome: Err(_) }) => {
            out.line(format_args!("next: plywood check {}", shown(path)))
        }
        Some(Looked { path, .. }) => out.line(format_args!(
            "next: plywood {} and there C, which shows the findings and makes their fixes",
            shown(path)
        )),
        None => Ok(()),
    }
}

/// What was found in a bench, in a few words.
fn first_found(looked: &Looked) -> String {
    match &looked.outcome {
        Err(problems) => problems.first().map_or_else(String::new, |problem| problem.message.clone()),
        Ok(checked) => {
            let found = &checked.found;
            let mut words: Vec<&str> = Vec::new();
            let mut add = |word: &'static str, is: bool| {
                if is && !words.contains(&word) {
                    words.push(word);
                }
            };
            add("against", found.against.is_some());
            add("contract", !found.breaches.is_empty());
            add("max-lost", found.lost.iter().any(Lost::is_too_much));
            add("layers", found.diagnostics.iter().any(|problem| problem.severity != Severity::Note));
            for lint in found.lints.iter().filter(|lint| lint.finding.counts()) {
                add(lint.finding.lint.word(), true);
            }
            words.join(", ")
        }
    }
}

fn of_bench(
    path: &Path,
    checked: &Checked,
    recorded: Option<&Recorded>,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let path_shown = shown(path);
    let told: Vec<&LintIn> =
        checked.found.lints.iter().filter(|lint| lint.finding.allowed.is_none()).collect();
    let allowed = checked.found.lints.len() - told.len();
    let allowed = match allowed {
        0 => String::new(),
        count => format!(" ({count} allowed by the bench)"),
    };
    match recorded.zip(checked.found.against.as_ref()) {
        Some((recorded, (call, comparison))) => {
            against(&checked.bench, path, (&recorded.path, &recorded.document), *call, comparison, out)?;
        }
        None if checked.found.is_quiet() => {
            out.line(format_args!("{path_shown}: nothing found{allowed}"))?;
        }
        None => out.line(format_args!("{path_shown}:{allowed}"))?,
    }
    for problem in &checked.found.diagnostics {
        out.diagnostic(problem)?;
    }
    for lint in told {
        out.diagnostic(&Diagnostic { message: lint_message(lint), ..lint.finding.diagnostic.clone() })?;
        let gutter = lint.finding.diagnostic.at.map_or(1, |at| at.line.to_string().len());
        for line in worth_lines(&lint.finding) {
            out.line(format_args!("{:gutter$} = {line}", ""))?;
        }
    }
    for lost in &checked.found.lost {
        if !lost.is_too_much() {
            continue;
        }
        out.diagnostic(&Diagnostic::error(format!("max-lost: {}", lost.message())))?;
        for (sentence, _) in &lost.calls {
            out.line(format_args!("  {sentence}"))?;
        }
    }
    for breach in &checked.found.breaches {
        let message = format!("contract: {}", breach.diagnostic.message);
        out.diagnostic(&Diagnostic { message, ..breach.diagnostic.clone() })?;
        changed(breach, out)?;
    }
    if let Some(Accepted { path, taken, gone }) = &checked.found.accepted {
        for problem in gone {
            out.line(format_args!("left out: {}", problem.message))?;
        }
        for breach in taken {
            out.line(format_args!("accepted: {}", breach.diagnostic.message))?;
            changed(breach, out)?;
        }
        out.line(format_args!("wrote {}", path.display()))?;
    }
    Ok(())
}

/// The lines that are gone, and those that have come.
fn changed(breach: &Breach, out: &mut Out<'_>) -> std::io::Result<()> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (lines::split(&breach.old).collect(), lines::split(&breach.new).collect());
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for hunk in lines::hunks(&old, &new) {
        gone.extend_from_slice(&old[hunk.old]);
        come.extend_from_slice(&new[hunk.new]);
    }
    for (sign, lines) in [('-', gone), ('+', come)] {
        for line in lines.iter().take(MOST_LINES) {
            out.line(format_args!("  {sign} {}", line.trim_end_matches(['\n', '\r'])))?;
        }
        if lines.len() > MOST_LINES {
            out.line(format_args!("  {sign} ... {} lines more", lines.len() - MOST_LINES))?;
        }
    }
    Ok(())
}

/// A finding as a message: the lint's word in front, the run and the calls behind.
pub(super) fn lint_message(lint: &LintIn) -> String {
    let finding = &lint.finding;
    let (run, more) = match lint.runs.split_first() {
        None => (String::new(), String::new()),
        Some((run, [])) => (format!("run {run}, "), String::new()),
        Some((run, others)) => (format!("run {run}, "), format!("; also in {}", others.join(", "))),
    };
    format!("{}: {} ({run}{}{more})", finding.lint.word(), finding.diagnostic.message, finding.calls_words())
}

/// What would put it right and what that is worth, one line each.
pub(in crate::cli) fn worth_lines(finding: &Finding) -> Vec<String> {
    let words = |worth: &[Worth]| {
        let words: Vec<String> = worth.iter().map(Worth::words).filter(|words| !words.is_empty()).collect();
        words.join("; ")
    };
    let mut lines = Vec::new();
    let all = words(&finding.worth);
    if !all.is_empty() {
        lines.push(format!("worth: {all}"));
    }
    for fix in &finding.fixes {
        let worth = words(&fix.worth);
        let gap = if worth.is_empty() { "" } else { ": " };
        lines.push(format!("fix: {}{gap}{worth}", fix.said));
    }
    lines
}

/// Says whether a bench's request is the recorded one, or what differs.
pub(in crate::cli) fn against(
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
