//! The lines of "what if": a change on each, with what it would do below it.

use super::page::{Column, Goal, Group, Ink, Line, Page, Wrapped};
use crate::app::state::State;
use crate::app::views::{WhatIfRow, WhatIfView};
use crate::core::text::number::grouped;
use crate::core::whatif::Hit;

/// The most cells of a model's name above its columns.
const NAME: usize = 12;

pub(super) fn page(state: &State) -> Page {
    let Some(view) = state.snapshot.data.what_if() else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let column = |head, right, rank| Column { head, right, rank, ..Column::default() };
    let mut columns = vec![Column { rest: true, ..column("what if", false, 0) }];
    let mut groups = Vec::new();
    for (index, short) in view.short.iter().enumerate() {
        let rank = if index == 0 { 0 } else { 3 + index as u8 };
        let from = columns.len();
        columns.extend([
            column("now", true, rank + 1),
            column("in all", true, rank),
            column("$", true, rank),
        ]);
        let name = match short.split_once('-') {
            Some((_, rest)) if short.len() > NAME => rest,
            _ => short,
        };
        groups.push(Group { columns: from..from + 3, text: name.to_owned() });
    }
    let mut lines = Vec::new();
    for row in &view.rows {
        change(&mut lines, view, row);
    }
    let ahead = if view.calls == 1 { "1 call".to_owned() } else { format!("{} calls", view.calls) };
    let note = match view.call {
        Some(call) => {
            format!("before call {}; tokens paid again now and over {ahead}, $ more for 1,000 runs", call.0)
        }
        None => String::new(),
    };
    if view.done && !view.rows.is_empty() {
        lines.push(Line::text("", Ink::Text));
        lines.push(Line::text(
            "An edit is tried as one line more at the end of its file: earlier in it, more is lost. A change of the model \
             concerns the model that is switched to.",
            Ink::Dim,
        ));
    }
    Page {
        note,
        enter: "do it",
        columns,
        groups,
        lines: Wrapped::of(state).fold(lines),
        empty: match (view.call, view.done) {
            (None, _) => {
                "No call waits, so nothing can be tried: go back, or let the user say something more."
            }
            (Some(_), false) => "The changes are being tried.",
            (Some(_), true) => "Nothing can be changed here.",
        }
        .to_owned(),
        filters: true,
        ..Page::default()
    }
}

fn change(lines: &mut Vec<Line>, view: &WhatIfView, row: &WhatIfRow) {
    let goal = match &row.text {
        Some(_) => Goal::Edit,
        None => Goal::Happen(row.id.clone()),
    };
    let mut line = Line { text: row.text.clone(), ..Line::new(row.id.clone()) }.cell(&*row.title, Ink::Text);
    for model in &view.models {
        let hit = row.hits.iter().find(|hit| hit.model == *model);
        for (text, ink) in hit.map_or_else(|| [(); 3].map(|()| ("-".to_owned(), Ink::Dim)), cells) {
            line = line.cell(text, ink);
        }
    }
    lines.push(line.goal(goal.clone()));
    for (label, words) in &row.said {
        let ink = match *label {
            "breaks" if !words.starts_with("nothing more") => Ink::Warn,
            "refused" => Ink::Bad,
            _ => Ink::Dim,
        };
        let line = Line { depth: 1, whole: true, text: row.text.clone(), ..Line::default() };
        lines.push(line.cell(format!("{label:<7}"), Ink::Label).cell(&**words, ink).goal(goal.clone()));
    }
}

fn cells(hit: &Hit) -> [(String, Ink); 3] {
    let about = if hit.estimate { "~" } else { "" };
    let none = || ("n/a".to_owned(), Ink::Dim);
    let now = match hit.lost {
        Some(0) => ("0".to_owned(), Ink::Good),
        Some(lost) => (format!("{about}{}", grouped(u64::from(lost))), Ink::Bad),
        None => none(),
    };
    let all = match hit.lost_more {
        Some(0) => ("0".to_owned(), Ink::Good),
        Some(more) if more > 0 => (format!("{about}{}", grouped(more.unsigned_abs())), Ink::Bad),
        Some(fewer) => (format!("-{about}{}", grouped(fewer.unsigned_abs())), Ink::Good),
        None => none(),
    };
    let money = match (hit.more, hit.less) {
        (Some(more), Some(less)) if less.as_pico() > 0 && more.as_pico() == 0 => {
            (format!("-{about}{}", (less * 1_000).decimals(2)), Ink::Good)
        }
        (Some(more), _) => (format!("{about}{}", (more * 1_000).decimals(2)), Ink::Text),
        _ => none(),
    };
    [now, all, money]
}
