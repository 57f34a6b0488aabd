//! What the lints found in the run that is on, and what would put it right.

use super::page::{Column, Goal, Ink, Line, Page, Wrapped};
use crate::app::effect::TextPlace;
use crate::app::state::State;
use crate::app::views::{LintFix, LintRow};
use crate::core::diagnostic::Severity;
use crate::core::fix::Worth;
use crate::core::text::number::grouped;

pub(super) fn page(state: &State) -> Page {
    let column = |head, right, rest| Column { head, right, rest, ..Column::default() };
    let page = Page {
        enter: "its line, or its change",
        columns: vec![
            column("lint", false, false),
            column("what is said", false, true),
            column("tokens", true, false),
        ],
        filters: true,
        ..Page::default()
    };
    let Some(view) = state.snapshot.data.lints() else {
        return Page { empty: "The lints look at the run.".to_owned(), ..page };
    };
    let sign = if view.estimate { "~" } else { "" };
    let mut lines = Vec::new();
    for (index, row) in view.rows.iter().enumerate() {
        entry(&mut lines, index, row, sign, state);
    }
    let allowed = view.rows.iter().filter(|row| row.finding.allowed.is_some()).count();
    let looked = match view.first {
        None => "the whole run".to_owned(),
        Some(first) => format!("the first {first} calls of the run"),
    };
    let run = view.run.as_ref().map_or_else(|| looked.clone(), |run| format!("{looked} {run}"));
    let again = if view.again { ", played again on the bench and files as they are now" } else { "" };
    let working = match view.rows.len() - view.priced {
        0 => String::new(),
        left => format!("; working out what fixes are worth: {left} to go"),
    };
    let found = match view.rows.len() - allowed {
        0 => String::new(),
        1 => ", 1 finding".to_owned(),
        count => format!(", {count} findings"),
    };
    let allowed = if allowed == 0 { String::new() } else { format!(", {allowed} allowed by the bench") };
    Page {
        note: format!("{run}{again}{found}{allowed}{working}"),
        lines: Wrapped::of(state).fold(lines),
        empty: "Nothing found: `plywood check --lints` lists what is looked for.".to_owned(),
        ..page
    }
}

fn entry(lines: &mut Vec<Line>, index: usize, row: &LintRow, sign: &str, state: &State) {
    let (finding, problem) = (&row.finding, &row.finding.diagnostic);
    let layer =
        finding.about.first().filter(|name| state.snapshot.layers.rows.iter().any(|row| row.id == **name));
    // The line in its file; where none is known, whatever file the layer is written in.
    let text = match (&problem.file, problem.at) {
        (Some(file), Some(at)) => Some(TextPlace::Named(file.clone(), at)),
        _ => layer.map(|layer| TextPlace::Layer(layer.clone())),
    };
    let goal = if text.is_some() { Goal::Text } else { Goal::Nothing };
    let tokens = finding.tokens.map_or_else(|| "-".to_owned(), |tokens| format!("{sign}{}", grouped(tokens)));
    let about: Vec<&str> = finding.about.iter().map(|name| &**name).collect();
    let ink = match (&finding.allowed, problem.severity) {
        (Some(_), _) => Ink::Dim,
        (None, Severity::Error) => Ink::Bad,
        (None, Severity::Warning) => Ink::Warn,
        (None, Severity::Note) => Ink::Label,
    };
    lines.push(
        Line { text: text.clone(), ..Line::new(format!("f{index}")) }
            .cell(finding.lint.word(), ink)
            .cell(format!("{} ({})", about.join(", "), finding.calls_words()), Ink::Label)
            .cell(tokens, Ink::Text)
            .goal(goal.clone()),
    );
    let place = match (&problem.file, problem.at) {
        (Some(file), Some(at)) => Some(format!("at {file}:{at}")),
        (Some(file), None) => Some(format!("in {file}")),
        _ => None,
    };
    let allowed = finding.allowed.as_ref().map(|reason| format!("allowed by the bench: {reason}"));
    let worth = words(&finding.worth);
    let worth = (!worth.is_empty()).then(|| format!("worth: {worth}"));
    let said = [
        (Some(problem.message.clone()), Ink::Text),
        (place, Ink::Dim),
        (
            problem.line.as_ref().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()),
            Ink::Changed,
        ),
        (allowed, Ink::Good),
        (problem.hint.clone().filter(|_| finding.allowed.is_none()), Ink::Good),
        (worth, Ink::Text),
    ];
    for (said, ink) in said {
        if let Some(said) = said {
            let line = Line { depth: 1, text: text.clone(), ..Line::text(said, ink) };
            lines.push(line.goal(goal.clone()));
        }
    }
    for (number, fix) in row.fixes.iter().enumerate() {
        changes(lines, &format!("f{index}.{number}"), fix, state);
    }
}

/// A change of the bench: what it is and what it is worth; under it, once it is open, the lines that it changes, and at
/// their end what makes it.
fn changes(lines: &mut Vec<Line>, key: &str, row: &LintFix, state: &State) {
    let open = state.here().turned.contains(key);
    let worth = words(&row.fix.worth);
    let gap = if worth.is_empty() { "" } else { ": " };
    let line = Line { depth: 1, open: Some(open), whole: true, ..Line::new(key) };
    lines.push(line.cell(format!("fix: {}{gap}{worth}", row.fix.said), Ink::Good).goal(Goal::Fold));
    if !open {
        return;
    }
    let under = |text: String, ink| Line { depth: 2, ..Line::text(text, ink) };
    if let Some(reason) = &row.refused {
        lines.push(under(format!("it cannot be made: {reason}"), Ink::Bad));
        return;
    }
    lines.extend(row.lines.iter().map(|line| Line { depth: 2, ..Line::changed(line) }));
    let make = Line {
        key: format!("{key}!").into(),
        ..under("Enter: make this change; u takes it back".to_owned(), Ink::Label)
    };
    lines.push(make.goal(Goal::Mend(row.fix.clone())));
}

fn words(worth: &[Worth]) -> String {
    worth.iter().map(Worth::words).filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ")
}
