//! The lines of the comparison: a row for each way, the calls behind a cell, and what is said of them.

use std::sync::Arc;

use super::page::{Column, Goal, Group, Ink, Line, Page, Wrapped};
use crate::app::state::{State, View};
use crate::app::tables::compared_row;
use crate::app::views::CompareView;
use crate::core::compare::{Row, Table, TableRow};
use crate::core::fact::Name;
use crate::core::text::number::grouped;

/// What is turned in the view while the first turn alone is counted.
pub const FIRST_TURN: &str = "turn 1";

/// The cells in front of those of the models: the sign, the way.
const FRONT: usize = 2;

/// The most cells of a model's name above its columns.
const NAME: usize = 12;

/// What a model is called above its columns: without the vendor's family, where the name is longer than what stands below
/// it.
pub(super) fn column_name(short: &str) -> &str {
    match short.split_once('-') {
        Some((_, rest)) if short.len() > NAME => rest,
        _ => short,
    }
}

/// True while the first turn alone is counted.
#[must_use]
pub fn first_turn_only(state: &State) -> bool {
    state.views.get(&View::Compare).is_some_and(|here| here.turned.contains(FIRST_TURN))
}

/// The table that is shown.
#[must_use]
pub fn compared_table(state: &State) -> Option<&Arc<Table>> {
    let view = state.snapshot.data.compare()?;
    Some(if first_turn_only(state) { &view.first } else { &view.all })
}

/// The way of the selected line: its own, or the one that its call belongs to.
#[must_use]
pub fn selected_way(state: &State) -> Option<Vec<Name>> {
    let table = compared_table(state)?;
    let cursor = state.here().list.cursor;
    let lines = state.page.lines.get(..=cursor)?;
    let of = |line: &Line| table.rows.iter().find(|row| *way_key(&row.names) == *line.key);
    // Lines behind the table belong to no way.
    let own = lines.last().is_some_and(|line| line.key.starts_with("way ") || line.key.starts_with("call "));
    lines.iter().rev().find_map(of).filter(|_| own).map(|row| row.names.clone())
}

fn way_key(names: &[Name]) -> String {
    format!("way {}", names.iter().map(|name| &**name).collect::<Vec<_>>().join("+"))
}

/// Below so many cells, columns have to be short to stand side by side for every model.
const NARROW: usize = 100;

pub(super) fn page(state: &State) -> Page {
    let Some((view, table)) = state.snapshot.data.compare().zip(compared_table(state)) else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let (columns, groups) = columns(state, table);
    let mut lines = Vec::new();
    let old = if table.done { None } else { old_table(state) };
    for (row, is_old) in rows(table, old.map(|old| &**old)) {
        way(&mut lines, state, view, (table, row), is_old);
    }
    if !table.rows.is_empty() {
        said(&mut lines, table, view);
    }
    let turns = match (table.turns, table.all_turns) {
        (Some(_), 2..) => "turn 1 only".to_owned(),
        (_, 1) => "1 turn".to_owned(),
        (_, n) => format!("{n} turns"),
    };
    let calls = if table.calls == 1 { "1 call".to_owned() } else { format!("{} calls", table.calls) };
    let going = match view.going {
        Some((played, ways)) => format!("; {played} of {ways} ways played"),
        None => String::new(),
    };
    Page {
        note: format!("{calls}, {turns}; $: input of 1,000 runs{going}"),
        enter: "its calls",
        columns,
        groups,
        lines: Wrapped::of(state).fold(lines),
        empty: "The ways are being played.".to_owned(),
        filters: false,
        ..Page::default()
    }
}

/// What was shown before something changed, for the turns that are looked at.
fn old_table(state: &State) -> Option<&Arc<Table>> {
    let old = state.snapshot.data.compare()?.old.as_ref()?;
    Some(if first_turn_only(state) { &old.1 } else { &old.0 })
}

/// The rows in order. While ways are still being played, those that are not yet stand as they were, and are told apart.
fn rows<'t>(table: &'t Table, old: Option<&'t Table>) -> Vec<(&'t TableRow, bool)> {
    let now = |names: &[Name]| table.rows.iter().find(|row| row.names == names);
    let Some(old) = old else { return table.rows.iter().map(|row| (row, false)).collect() };
    let kept = old.rows.iter().map(|row| now(&row.names).map_or((row, true), |row| (row, false)));
    let new = table.rows.iter().filter(|row| !old.rows.iter().any(|old| old.names == row.names));
    kept.chain(new.map(|row| (row, false))).collect()
}

/// The model whose cells are selected.
fn selected_model(state: &State, table: &Table) -> usize {
    let cell = state.here().column.saturating_sub(FRONT) / 2;
    cell.min(table.models.len().saturating_sub(1))
}

/// The columns and the names above them. What is lost on each model stays longest, then the money of the selected one.
fn columns(state: &State, table: &Table) -> (Vec<Column>, Vec<Group>) {
    let narrow = super::page::page_cells(state) < NARROW;
    let chosen = selected_model(state, table);
    let column = |head, right, rank| Column { head, right, rank, ..Column::default() };
    let mut columns = vec![column("", false, 0), Column { rest: true, ..column("way", false, 0) }];
    let mut groups = Vec::new();
    for (index, short) in table.short.iter().enumerate() {
        let about = table.rows.iter().any(|row| row.sums.get(index).is_some_and(|sum| sum.estimate));
        let (head, sign) = match (about, narrow) {
            (true, true) => ("~lost", ""),
            (true, false) => ("lost", " ~"),
            (false, _) => ("lost", ""),
        };
        // The first model stays; the others give way from the last.
        let rank = if index == 0 { 0 } else { 3 + index as u8 };
        let from = columns.len();
        columns.push(Column { opens: true, ..column(head, true, rank) });
        columns.push(column("$", true, if index == chosen { 7 } else { 10 + index as u8 }));
        groups.push(Group { columns: from..from + 2, text: format!("{}{sign}", column_name(short)) });
    }
    let from = columns.len();
    columns.extend([column("stale", true, 1), column("superseded", true, 9), column("untold", true, 1)]);
    columns.push(column("context", true, 8));
    if let Some(call) = table.last {
        let last = columns.len() - 1;
        groups.push(Group { columns: last..last + 1, text: format!("call {}", call.0) });
    }
    groups.push(Group { columns: from..from + 3, text: "model saw".to_owned() });
    (columns, groups)
}

fn way(
    lines: &mut Vec<Line>,
    state: &State,
    view: &CompareView,
    (table, row): (&Table, &TableRow),
    is_old: bool,
) {
    let key = way_key(&row.names);
    let current = row.names == view.current;
    let texts = compared_row(table, row);
    let mut line = Line { depth: row.depth, ..Line::new(key.clone()) };
    for (index, text) in texts.iter().enumerate() {
        let model =
            index.checked_sub(FRONT).filter(|cell| *cell < table.models.len() * 2).map(|cell| cell / 2);
        let behind = index.checked_sub(FRONT + table.models.len() * 2);
        let ink = match (index, model, behind) {
            _ if is_old => Ink::Dim,
            (0, ..) if row.least => Ink::Good,
            (_, Some(model), _) if (index - FRONT).is_multiple_of(2) => {
                match row.sums.get(model).and_then(|sum| sum.lost) {
                    Some(0) => Ink::Good,
                    Some(_) => Ink::Bad,
                    None => Ink::Dim,
                }
            }
            (.., Some(0 | 2)) if text != "0" => Ink::Bad,
            (.., Some(1)) if text != "0" => Ink::Warn,
            (.., Some(0..=2)) => Ink::Dim,
            _ => Ink::Text,
        };
        let text = match index {
            0 if is_old => String::new(),
            0 if current && !row.least => ">".to_owned(),
            0 if row.base && !current => String::new(),
            1 => row.label.to_string(),
            _ => text.clone(),
        };
        line = line.cell(text, ink);
    }
    // Which model's calls are shown is said by the column.
    let goals = (0..texts.len()).map(|index| {
        let model =
            index.checked_sub(FRONT).map_or(0, |cell| cell / 2).min(table.models.len().saturating_sub(1));
        Goal::Turn(call_key(&key, model).into())
    });
    line.goals = goals.collect();
    lines.push(line);
    if let Some(failed) = &row.failed {
        lines.push(Line {
            depth: row.depth + 2,
            ..Line::text(format!("cannot be played: {failed}"), Ink::Bad)
        });
    }
    let here = state.views.get(&View::Compare);
    for model in 0..table.models.len() {
        let open = here.is_some_and(|here| here.turned.contains(&*call_key(&key, model)));
        if let Some(played) = view.row(&row.names).filter(|_| open) {
            calls(lines, row, played, table, model);
        }
    }
}

fn call_key(way: &str, model: usize) -> String {
    format!("{way} model {model}")
}

/// The calls of a cell.
fn calls(lines: &mut Vec<Line>, row: &TableRow, played: &Row, table: &Table, model: usize) {
    let depth = row.depth + 2;
    lines.push(Line {
        depth,
        ..Line::text(
            format!(
                "{:<8} {:>4} {:>8} {:>8} {:>8} {:>8} {:>8}  {:<9} {}",
                table.short[model], "turn", "sent", "read", "write", "fresh", "lost", "$", "verdict"
            ),
            Ink::Label,
        )
    });
    for call in played.within(table.turns) {
        let Some(cell) = call.cells.get(model) else { continue };
        let about = if cell.estimate { "~" } else { "" };
        let n = |tokens: Option<u32>| {
            tokens.map_or_else(|| "n/a".to_owned(), |tokens| format!("{about}{}", grouped(u64::from(tokens))))
        };
        let lost = match (cell.read, cell.lost) {
            (Some(_), None) => "first".to_owned(),
            (_, Some(0)) => "-".to_owned(),
            (_, lost) => n(lost),
        };
        let ink = if cell.lost.is_some_and(|lost| lost > 0) { Ink::Bad } else { Ink::Text };
        let cost = cell.cost.map_or_else(|| "n/a".to_owned(), |cost| format!("{about}{cost}"));
        let text = format!(
            "{:<8} {:>4} {:>8} {:>8} {:>8} {:>8} {:>8}  {:<9} {}",
            format!("call {}", call.call.0),
            call.turn,
            n(cell.sent),
            n(cell.read),
            n(cell.write),
            n(cell.fresh),
            lost,
            cost,
            cell.verdict
        );
        let key = format!("call {} of {} on {model}", call.call.0, way_key(&row.names));
        let goal = if row.names.is_empty() {
            Goal::Call { call: call.call, message: None, layer: Some(Name::from("")) }
        } else {
            Goal::Nothing
        };
        lines.push(Line { depth, whole: true, ..Line::new(key) }.cell(text, ink).goal(goal));
    }
}

/// What is said of the table.
fn said(lines: &mut Vec<Line>, table: &Table, view: &CompareView) {
    lines.push(Line::text("", Ink::Text));
    for (label, said, ink) in [
        ("VERDICT", &table.verdict, Ink::Text),
        ("BEST", &table.least, Ink::Good),
        ("SAME", &table.same, Ink::Dim),
    ] {
        for (index, text) in said.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let line = Line { whole: true, ..Line::default() };
            lines.push(line.cell(format!("{label:<9}"), Ink::Label).cell(&**text, ink));
        }
    }
    lines.push(Line::text("", Ink::Text));
    let mut notes: Vec<String> = table.notes.iter().map(ToString::to_string).collect();
    notes.push(
        "stale: the last word on a fact is wrong. superseded: an old value stands before the right one. untold: no word \
         at all. lost: paid again; of as many tokens as this request and the one before it both have, what was ever stored, \
         minus what is read."
            .to_owned(),
    );
    if let Some(checked) = view.checked {
        notes.push(match checked {
            0 => "sums checked".to_owned(),
            1 => "1 sum does not hold: `plywood compare` says which".to_owned(),
            n => format!("{n} sums do not hold: `plywood compare` says which"),
        });
    }
    lines.extend(notes.into_iter().map(|note| Line::text(note, Ink::Dim)));
}
