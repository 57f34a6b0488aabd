//! The lines of the injectors.

use std::sync::Arc;

use super::page::{Column, Goal, Ink, Line, Page, Wrapped};
use crate::app::effect::TextPlace;
use crate::app::snapshot::Tone;
use crate::app::state::State;
use crate::app::views::{FactRow, FateRow, InjectorRow, ToldRow};
use crate::core::text::number::grouped;
use crate::core::wire::CallNo;

/// How many announcements are listed before the rest is folded.
const TOLD: usize = 6;

pub(super) fn page(state: &State) -> Page {
    let Some(injectors) = state.snapshot.data.injectors() else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let mut lines = Vec::new();
    for row in &injectors.rows {
        injector(&mut lines, state, injectors.call, row);
    }
    Page {
        groups: Vec::new(),
        note: format!("at call {}", injectors.call.0),
        enter: "its bytes",
        columns: vec![Column { rest: true, ..Column::default() }],
        lines: Wrapped::of(state).fold(lines),
        empty: injectors.empty.to_string(),
        filters: true,
        diff: None,
        start: None,
    }
}

/// A line with a label in front of it.
fn labelled(key: String, depth: u16, label: &str, text: &str, ink: Ink) -> Line {
    Line { depth, whole: true, ..Line::new(key) }.cell(format!("{label:<11}"), Ink::Label).cell(text, ink)
}

fn injector(lines: &mut Vec<Line>, state: &State, call: CallNo, row: &InjectorRow) {
    let id = &row.layer;
    let key = format!("i.{id}");
    let open = !state.here().turned.contains(&*key);
    let text = Some(TextPlace::Layer(id.clone()));
    let first = lines.len();
    lines.push(
        Line { open: Some(open), whole: true, ..Line::new(key) }
            .cell(format!("{}  ", row.shown), Ink::Injected)
            .cell(&*row.rule, Ink::Dim)
            .goal(Goal::Fold),
    );
    if open {
        for fact in &row.facts {
            fact_lines(lines, row, fact);
        }
        let at = Goal::Call { call, message: row.staged, layer: Some(id.clone()) };
        match (&row.pending, &row.silent) {
            (Some(pending), _) => {
                let goal = if row.staged.is_some() { at } else { Goal::Nothing };
                lines.push(labelled(format!("{id}.p"), 1, "pending", pending, Ink::Changed).goal(goal));
            }
            (None, Some(silent)) => {
                lines.push(labelled(
                    format!("{id}.p"),
                    1,
                    "now",
                    &format!("says nothing: {silent}"),
                    Ink::Dim,
                ));
            }
            (None, None) => {
                lines.push(labelled(format!("{id}.p"), 1, "pending", "nothing", Ink::Dim).goal(at));
            }
        }
        told_lines(lines, state, row);
    }
    for line in &mut lines[first..] {
        line.text = line.text.take().or_else(|| text.clone());
    }
}

fn fact_lines(lines: &mut Vec<Line>, row: &InjectorRow, fact: &FactRow) {
    let id = format!("{}.{}", row.layer, fact.fact);
    let told = match &fact.told {
        Some((value, call)) => format!("told {value} in call {}", call.0),
        None => "nothing told yet".to_owned(),
    };
    let goal = match &fact.told {
        Some((_, call)) => Goal::Call { call: *call, message: None, layer: Some(row.layer.clone()) },
        None => Goal::Nothing,
    };
    lines.push(
        labelled(format!("{id}.w"), 1, "watches", &format!("{} = {}", fact.fact, fact.now), Ink::Text)
            .goal(goal.clone()),
    );
    lines.push(labelled(format!("{id}.t"), 2, "last told", &told, Ink::Text).goal(goal));
    lines.push(labelled(format!("{id}.b"), 2, "baseline", &fact.base, Ink::Text));
    for (index, (belief, tone)) in fact.beliefs.iter().enumerate() {
        let ink = if *tone == Tone::Bad { Ink::Bad } else { Ink::Warn };
        let label = if index == 0 { "model saw" } else { "" };
        lines.push(labelled(format!("{id}.m{index}"), 2, label, belief, ink));
    }
    let count = fact.changes.len();
    for (index, change) in fact.changes.iter().enumerate() {
        // Numbered from the first, so that a line keeps its key while changes come.
        let key = format!("{id}.c{}", count - index);
        lines.extend(change_lines(&key, row, change, index == 0));
    }
}

fn change_lines(key: &str, row: &InjectorRow, change: &FateRow, first: bool) -> Vec<Line> {
    let goal = match change.call {
        Some(call) => Goal::Call { call, message: change.message, layer: Some(row.layer.clone()) },
        None => Goal::Nothing,
    };
    let label = if first { "changes" } else { "" };
    let label = format!("{label:<11}");
    let ink = if change.lost { Ink::Bad } else { Ink::Good };
    let sign = if change.lost { "! " } else { "" };
    let below = |part: &str, text: String, ink| {
        Line { depth: 2, whole: true, ..Line::new(format!("{key}{part}")) }
            .cell(" ".repeat(13), Ink::Label)
            .cell(text, ink)
    };
    let mut lines = vec![
        Line { depth: 2, whole: true, ..Line::new(key) }
            .cell(label, Ink::Label)
            .cell(&*change.change, Ink::Text)
            .goal(goal.clone()),
        below("f", format!("{sign}{}", change.fate), ink).goal(goal),
    ];
    if let Some(written) = &change.written {
        lines.push(below("w", format!("as the bench is written: {written}"), Ink::Good));
    }
    lines
}

fn told_lines(lines: &mut Vec<Line>, state: &State, row: &InjectorRow) {
    let key: Arc<str> = format!("{}.told", row.layer).into();
    let all = row.told.len() <= TOLD || state.here().turned.contains(&key);
    let shown = if all { row.told.len() } else { TOLD };
    for (index, told) in row.told[..shown].iter().enumerate() {
        lines.push(told_line(row, told, index == 0));
    }
    if row.told.len() > TOLD {
        let more = row.told.len() - TOLD;
        let text = if all { "the latest only".to_owned() } else { format!("{more} more, earlier") };
        let line = Line { depth: 1, whole: true, open: Some(all), ..Line::new(key) };
        lines.push(line.cell(text, Ink::Dim).goal(Goal::Fold));
    }
}

fn told_line(row: &InjectorRow, told: &ToldRow, first: bool) -> Line {
    let tokens = told.tokens.map_or("...".to_owned(), grouped);
    let (state, ink) =
        if told.failed { (", but the call failed: not told", Ink::Bad) } else { ("", Ink::Text) };
    let text = format!(
        "call {}, message {}: {} bytes, {tokens} tokens{state}; {}",
        told.call.0,
        told.message.0,
        grouped(told.bytes),
        told.why
    );
    let key = format!("{}.told{}", row.layer, told.call.0);
    labelled(key, 1, if first { "told" } else { "" }, &text, ink).goal(Goal::Call {
        call: told.call,
        message: Some(told.message),
        layer: Some(row.layer.clone()),
    })
}
