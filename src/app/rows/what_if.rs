//! The lines of "what if": a change on each, with what it would do below it.

use super::compare::column_name;
use super::page::{Column, Goal, Group, Ink, Line, Page, Wrapped};
use crate::app::state::State;
use crate::app::views::{WhatIfRow, WhatIfView};
use crate::core::cache::{Money, Verdict};
use crate::core::text::number::grouped;
use crate::core::whatif::Hit;

/// Below so many cells, the money stands in a line of its own, so that the tokens of every model have their columns.
const NARROW: usize = 100;

pub(super) fn page(state: &State) -> Page {
    let Some(view) = state.snapshot.data.what_if() else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let narrow = super::page::page_cells(state) < NARROW;
    let column = |head, right, rank| Column { head, right, rank, ..Column::default() };
    let mut columns = vec![Column { rest: true, ..column("what if", false, 0) }];
    let mut groups = Vec::new();
    for (index, short) in view.short.iter().enumerate() {
        // The sum over all calls stays longest; the other models give way from the last.
        let rank = 2 * index as u8;
        let from = columns.len();
        columns.extend([column("now", true, rank + 3), column("in all", true, rank)]);
        if !narrow {
            columns.push(column("$", true, rank + 2));
        }
        groups.push(Group { columns: from..columns.len(), text: column_name(short).to_owned() });
    }
    let mut lines = Vec::new();
    let ahead = if view.calls == 1 { "1 call".to_owned() } else { format!("{} calls", view.calls) };
    let going = match view.rows.len() + view.left {
        _ if view.done => String::new(),
        all => format!("; {} of {all} tried", view.rows.len()),
    };
    let note = match view.call {
        Some(call) => format!("before call {}; paid again now, and in all ({ahead}){going}", call.0),
        None => String::new(),
    };
    for row in &view.rows {
        change(&mut lines, view, row, narrow);
    }
    if !view.rows.is_empty() {
        lines.push(Line::text("", Ink::Text));
        lines.push(Line::text(
            format!(
                "now: tokens paid again in the next call. in all: how many more (+) or fewer (-) than without the change, \
                 over {ahead} from the next one on. $: the same in money, for 1,000 runs. An edit is tried as one line more \
                 at the end of its file: earlier in it, more is lost. A change of the model concerns the model that is \
                 switched to."
            ),
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

fn change(lines: &mut Vec<Line>, view: &WhatIfView, row: &WhatIfRow, narrow: bool) {
    let goal = match &row.text {
        Some(_) => Goal::Edit,
        None => Goal::Happen(row.id.clone()),
    };
    let mut line = Line { text: row.text.clone(), ..Line::new(row.id.clone()) }.cell(&*row.title, Ink::Text);
    let mut money: Vec<String> = Vec::new();
    for (model, short) in view.models.iter().zip(&view.short) {
        let cells = row.hits.iter().find(|hit| hit.model == *model).map(cells);
        let [now, all, more] = cells.unwrap_or_else(|| [(); 3].map(|()| ("-".to_owned(), Ink::Dim)));
        line = line.cell(now.0, now.1).cell(all.0, all.1);
        if !narrow {
            line = line.cell(more.0, more.1);
        } else if more.0 != "-" {
            money.push(format!("{} on {}", more.0, column_name(short)));
        }
    }
    lines.push(line.goal(goal.clone()));
    let under = |label: &str, words: &str, ink| {
        let line = Line { depth: 1, whole: true, text: row.text.clone(), ..Line::default() };
        line.cell(format!("{label:<7}"), Ink::Label).cell(words, ink).goal(goal.clone())
    };
    if !money.is_empty() {
        lines.push(under("$", &money.join(", "), Ink::Dim));
    }
    for (label, words) in &row.said {
        let ink = match *label {
            "breaks" if !words.starts_with("nothing more") => Ink::Warn,
            "refused" => Ink::Bad,
            _ => Ink::Dim,
        };
        lines.push(under(label, words, ink));
    }
}

fn cells(hit: &Hit) -> [(String, Ink); 3] {
    let about = if hit.estimate { "~" } else { "" };
    let none = || ("n/a".to_owned(), Ink::Dim);
    let now = match (hit.lost, hit.verdict) {
        (Some(0), _) => ("0".to_owned(), Ink::Good),
        (Some(lost), _) => (format!("{about}{}", grouped(u64::from(lost))), Ink::Bad),
        (None, Verdict::First) => ("first".to_owned(), Ink::Dim),
        (None, _) => none(),
    };
    let all = match hit.lost_more {
        Some(0) => ("0".to_owned(), Ink::Good),
        Some(more) if more > 0 => (format!("{about}+{}", grouped(more.unsigned_abs())), Ink::Bad),
        Some(fewer) => (format!("{about}-{}", grouped(fewer.unsigned_abs())), Ink::Good),
        None => none(),
    };
    let dollars = |money: Money| (money * 1_000).decimals(2);
    let money = match (hit.more, hit.less) {
        (Some(Money::ZERO), Some(Money::ZERO)) => ("0".to_owned(), Ink::Text),
        (Some(Money::ZERO), Some(less)) => (format!("{about}-{}", dollars(less)), Ink::Good),
        (Some(more), _) => (format!("{about}+{}", dollars(more)), Ink::Text),
        (None, _) => none(),
    };
    [now, all, money]
}
