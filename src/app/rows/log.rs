//! The lines of the log.

use super::page::{Column, Goal, Ink, Line, Page, page_cells};
use crate::app::state::State;
use crate::app::views::{LogKind, LogRow};

pub(super) fn page(state: &State) -> Page {
    let Some(log) = state.snapshot.data.log() else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let mut lines = Vec::new();
    for (index, row) in log.rows.iter().enumerate() {
        entry(&mut lines, index, row, row.call == log.shown);
    }
    let column = |head, right, rest| Column { head, right, rest, ..Column::default() };
    let mut page = Page {
        groups: Vec::new(),
        note: format!("{} entries; call {} is shown", log.rows.len(), log.shown.0),
        enter: "to the call",
        columns: vec![
            column("call", true, false),
            column("", false, false),
            column("what happened", false, true),
        ],
        lines,
        empty: "Nothing has happened yet.".to_owned(),
        filters: true,
        diff: None,
        start: None,
    };
    page.wrap_rest(page_cells(state));
    let shown = |line: &Line| line.cells.first().is_some_and(|cell| cell.ink == Ink::Warn);
    page.start = page.lines.iter().position(shown);
    page
}

fn ink(kind: LogKind) -> Ink {
    match kind {
        LogKind::User | LogKind::Say => Ink::Label,
        LogKind::Failed => Ink::Bad,
        LogKind::Note => Ink::Dim,
        LogKind::Set | LogKind::Write | LogKind::File | LogKind::Bench | LogKind::Model | LogKind::Tools => {
            Ink::Changed
        }
        LogKind::Call | LogKind::Tool | LogKind::Time | LogKind::Context | LogKind::Agent => Ink::Text,
    }
}

fn entry(lines: &mut Vec<Line>, index: usize, row: &LogRow, shown: bool) {
    let goal = Goal::Call { call: row.call, message: None, layer: None };
    let sign = if shown { "> " } else { "" };
    let number = if row.hangs { String::new() } else { format!("{sign}{}", row.call.0) };
    let agent = row.agent.as_ref().map_or(String::new(), |agent| format!("[{agent}] "));
    let ink = ink(row.kind);
    let depth = u16::from(row.hangs);
    let line = Line { depth, text: row.text.clone(), ..Line::new(format!("l{index}")) };
    lines.push(
        line.cell(number, if shown { Ink::Warn } else { Ink::Dim })
            .cell(row.kind.word(), ink)
            .cell(format!("{agent}{}", row.what), ink)
            .goal(goal.clone()),
    );
    for (at, change) in row.changes.iter().enumerate() {
        let text = match &*change.old {
            "" => format!("{} {}", change.fact, change.new),
            old => format!("{}: {old} -> {}", change.fact, change.new),
        };
        let key = format!("l{index}.{at}");
        let line = Line { depth: depth + 1, text: row.text.clone(), ..Line::new(key) };
        lines.push(line.cell("", Ink::Dim).cell("", Ink::Dim).cell(text, Ink::Text).goal(goal.clone()));
    }
}
