//! What the lints found in the shown call.

use super::page::{Column, Goal, Ink, Line, Page, Wrapped};
use crate::app::cells::grouped;
use crate::app::effect::TextPlace;
use crate::app::state::State;
use crate::core::lint::Finding;

pub(super) fn page(state: &State) -> Page {
    let snapshot = &state.snapshot;
    let sign = if snapshot.model.tokens.estimate.is_some() { "~" } else { "" };
    let mut lines = Vec::new();
    for (index, finding) in snapshot.lints.iter().enumerate() {
        entry(&mut lines, index, finding, sign);
    }
    let column = |head, right, rest| Column { head, right, rest, ..Column::default() };
    let call = snapshot.request.call.0;
    Page {
        note: match snapshot.lints.len() {
            0 => format!("call {call}"),
            1 => format!("call {call}, 1 finding"),
            count => format!("call {call}, {count} findings"),
        },
        enter: "its bytes",
        columns: vec![
            column("lint", false, false),
            column("what is said", false, true),
            column("tokens", true, false),
        ],
        lines: Wrapped::of(state).fold(lines),
        empty: "Nothing is over its budget, said twice, or at odds about the working directory.".to_owned(),
        filters: true,
        ..Page::default()
    }
}

fn entry(lines: &mut Vec<Line>, index: usize, finding: &Finding, sign: &str) {
    let layer = finding.about.first();
    let goal = layer.map_or(Goal::Nothing, |layer| Goal::Layer(layer.clone()));
    let text = layer.map(|layer| TextPlace::Layer(layer.clone()));
    let problem = &finding.diagnostic;
    let tokens = finding.tokens.map_or_else(|| "-".to_owned(), |tokens| format!("{sign}{}", grouped(tokens)));
    let about: Vec<&str> = finding.about.iter().map(|name| &**name).collect();
    lines.push(
        Line { text: text.clone(), ..Line::new(format!("f{index}")) }
            .cell(finding.lint.word(), Ink::Warn)
            .cell(about.join(", "), Ink::Label)
            .cell(tokens, Ink::Text)
            .goal(goal.clone()),
    );
    let place = match (&problem.file, problem.at) {
        (Some(file), Some(at)) => Some(format!("at {file}:{at}")),
        (Some(file), None) => Some(format!("in {file}")),
        _ => None,
    };
    let said = [Some(problem.message.clone()), place, problem.hint.clone()];
    for (line, ink) in said.into_iter().zip([Ink::Text, Ink::Dim, Ink::Good]) {
        if let Some(line) = line {
            let line = Line { depth: 1, text: text.clone(), ..Line::text(line, ink) };
            lines.push(line.goal(goal.clone()));
        }
    }
}
