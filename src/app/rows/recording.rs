//! The lines of a recording: what went wrong, then every call as it was reported and as it was to be expected.

use super::page::{Column, Goal, Ink, Line, Page, Wrapped};
use crate::app::state::State;
use crate::app::views::RecordingView;
use crate::core::text::number::grouped;
use crate::core::wire::CallNo;

pub(super) fn page(state: &State) -> Page {
    let Some(view) = state.snapshot.data.recording() else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let mut lines = Vec::new();
    lines.push(Line { key: "about".into(), ..Line::text(view.about.to_string(), Ink::Label) });
    causes(view, &mut lines);
    calls(view, &mut lines);
    for (index, problem) in view.problems.iter().enumerate() {
        let text = format!("skipped: {problem}");
        lines.push(Line { key: format!("p{index}").into(), ..Line::text(text, Ink::Warn) });
    }
    for (index, note) in view.notes.iter().enumerate() {
        lines.push(Line { key: format!("n{index}").into(), ..Line::text(note.to_string(), Ink::Dim) });
    }
    let column = |head, right, rest, rank| Column { head, right, rest, rank, ..Column::default() };
    Page {
        note: format!("call {} of {} is shown", view.shown.0, view.rows.len()),
        enter: "to the call",
        columns: vec![
            column("call", true, false, 0),
            column("conversation", false, false, 3),
            column("sent", true, false, 2),
            column("read", true, false, 0),
            column("by the rules", true, false, 1),
            column("lost", true, false, 0),
            column("what became of the cache", false, true, 0),
        ],
        start: lines.iter().position(|line| *line.key == *format!("c{}", view.shown.0)),
        lines: Wrapped::of(state).fold(lines),
        empty: "The recording holds no call.".to_owned(),
        filters: true,
        ..Page::default()
    }
}

fn to(call: CallNo) -> Goal {
    Goal::Call { call, message: None, layer: None }
}

fn causes(view: &RecordingView, lines: &mut Vec<Line>) {
    for (index, cause) in view.causes.iter().enumerate() {
        let calls =
            if cause.calls == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(cause.calls)) };
        let cost = cause.cost.as_ref().map_or_else(String::new, |cost| format!(" ({cost})"));
        let text = format!("{}: {calls}, {} paid again{cost}", cause.cause, grouped(cause.lost));
        let ink = if cause.lost > 0 { Ink::Bad } else { Ink::Text };
        let line = Line { key: format!("k{index}").into(), ..Line::text(text, ink) };
        lines.push(line.goal(to(cause.first)));
    }
}

fn calls(view: &RecordingView, lines: &mut Vec<Line>) {
    let number = |value: Option<u64>| value.map_or_else(|| "n/a".to_owned(), grouped);
    for row in &view.rows {
        let told = row.reported.unwrap_or_default();
        let sign =
            |value: Option<u64>| if row.estimate && value.is_some_and(|value| value > 0) { "~" } else { "" };
        let shown = row.call == view.shown;
        let ink = if shown { Ink::Warn } else { Ink::Dim };
        let (expected, sent) = (row.expected.read, told.sent.or(row.expected.sent));
        let about = if told.sent.is_none() { sign(sent) } else { "" };
        lines.push(
            Line::new(format!("c{}", row.call.0))
                .cell(format!("{}{}", if shown { "> " } else { "" }, row.call.0), ink)
                .cell(row.conversation.to_string(), Ink::Dim)
                .cell(format!("{about}{}", number(sent)), Ink::Text)
                .cell(number(told.read), Ink::Text)
                .cell(format!("{}{}", sign(expected), number(expected)), Ink::Dim)
                .cell(
                    row.lost.filter(|&lost| lost > 0).map_or_else(|| "-".to_owned(), grouped),
                    if row.bad { Ink::Bad } else { Ink::Text },
                )
                .cell(row.says.to_string(), if row.bad { Ink::Bad } else { Ink::Text })
                .goal(to(row.call)),
        );
    }
}
