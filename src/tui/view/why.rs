//! Pane 4, and the verdict below the panes.

use std::collections::BTreeSet;

use ratatui::layout::Rect;

use super::canvas::{CHANGED, Canvas, note_pane, row_area, selection, title};
use super::layers::tokens;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::rows::{self, WhyKind, WhyLine};
use crate::app::snapshot::{Snapshot, Tone, WayRow};
use crate::app::state::{Pane, State};
use crate::core::diagnostic::Severity;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

fn tone(tone: Tone) -> Role {
    match tone {
        Tone::Plain => Role::Text,
        Tone::Good => Role::Good,
        Tone::Bad => Role::Bad,
    }
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    if area.is_empty() {
        return;
    }
    note_pane(canvas, area, Pane::Why);
    let focused = state.focus == Pane::Why;
    let pieces = title(" 4 Why ", "", focused);
    let inner = match size {
        Size::Wide => canvas.boxed(area, &pieces, "", focused),
        _ => canvas.ruled(area, &pieces, focused),
    };
    if inner.width < 2 || inner.height == 0 {
        return;
    }
    // In a box the text may touch its right border.
    let right = if size == Size::Wide { 0 } else { 1 };
    let inner = Rect { x: inner.x + 1, width: inner.width - 1 - right, ..inner };
    canvas.regions.metrics.panes[Pane::Why.index()] = (inner.width, inner.height);
    let lines = rows::why_lines(&state.snapshot, inner.width, canvas.regions.metrics.compact);
    if lines.is_empty() {
        let text = if state.snapshot.generation == 0 { "" } else { "nothing has changed yet" };
        canvas.text(inner.x, inner.y, inner.width, text, Role::Dim);
        return;
    }
    canvas.away(area, size == Size::Wide, state.why.top, usize::from(inner.height), lines.len());
    let hits = super::hits(state, Pane::Why);
    let before = state.marks.before.as_ref().filter(|before| before.calls.shown.is_some());
    let old = before.map(|old| rows::why_lines(old, inner.width, canvas.regions.metrics.compact));
    let known: Option<BTreeSet<(&str, &str)>> =
        old.as_ref().map(|old| old.iter().map(|line| (&*line.label, &*line.text)).collect());
    for (index, line) in lines.iter().enumerate().skip(state.why.top).take(usize::from(inner.height)) {
        let place = row_area(inner, index - state.why.top);
        draw_line(canvas, place, &state.snapshot, line);
        let changed = match line.kind {
            WhyKind::Way(index) => state.marks.ways.contains(&index),
            WhyKind::Text | WhyKind::Quote => {
                let empty = line.text.is_empty() && line.label.is_empty();
                known.as_ref().is_some_and(|known| !empty && !known.contains(&(&*line.label, &*line.text)))
            }
            WhyKind::WaysHead => false,
        };
        if changed && place.height > 0 {
            canvas.text(place.x - 1, place.y, 1, CHANGED, Role::Changed);
        }
        if let Some(role) = hits.get(&index) {
            canvas.paint(place, *role);
        }
        let selected = index == state.why.cursor && focused;
        if let Some(role) = selection(state, Pane::Why, selected) {
            canvas.paint(place, role);
        }
        canvas.regions.note(place, Target::WhyLine(index));
    }
}

fn draw_line(canvas: &mut Canvas<'_>, area: Rect, snapshot: &Snapshot, line: &WhyLine) {
    match line.kind {
        WhyKind::Text => {
            let label = u16::try_from(line.label_cells).unwrap_or(0).min(area.width);
            let label_role = match line.tone {
                Tone::Bad => Role::Bad,
                _ => Role::Label,
            };
            canvas.text(area.x, area.y, label, &line.label, label_role);
            canvas.text(area.x + label, area.y, area.width - label, &line.text, tone(line.tone));
        }
        WhyKind::Quote => {
            canvas.text(area.x, area.y, 2, "| ", Role::Border);
            canvas.text(area.x + 2, area.y, area.width.saturating_sub(2), &line.text, Role::Injected);
        }
        WhyKind::WaysHead => {
            canvas.text(area.x, area.y, area.width, &line.text, Role::Title);
            let (lost, money) = way_columns(area);
            if area.width >= 44 {
                canvas.right(area.x, lost, area.y, "lost", Role::Head);
                canvas.right(area.x, money, area.y, "$/1k runs", Role::Head);
            }
        }
        WhyKind::Way(index) => {
            if let Some(row) = snapshot.why.ways.rows.get(index) {
                draw_way(canvas, area, row);
            }
        }
    }
}

/// Where the columns of lost tokens and of money end.
fn way_columns(area: Rect) -> (u16, u16) {
    (area.right().saturating_sub(11), area.right())
}

fn draw_way(canvas: &mut Canvas<'_>, area: Rect, row: &WayRow) {
    let (lost_edge, money_edge) = way_columns(area);
    let mut edge = lost_edge.saturating_sub(8);
    match &row.outcome {
        None => drop(canvas.right(area.x, money_edge, area.y, "...", Role::Dim)),
        Some(outcome) => {
            if let Some(reason) = &outcome.failed {
                let from = area.x + area.width / 2;
                canvas.right(from, money_edge, area.y, &format!("! {reason}"), Role::Bad);
                edge = from;
            } else {
                let unknown = || "n/a".to_owned();
                let about = if outcome.estimate { "~" } else { "" };
                let lost = outcome.lost.map_or_else(unknown, |lost| tokens(Some(lost), outcome.estimate));
                let text = if row.old { Role::Dim } else { Role::Text };
                let role = if outcome.lost == Some(0) && !row.old { Role::Good } else { text };
                canvas.right(area.x, lost_edge, area.y, &lost, role);
                let money = outcome.per_1000.map_or_else(unknown, |money| format!("{about}{money:.2}"));
                canvas.right(area.x, money_edge, area.y, &money, text);
                let belief = match (outcome.stale, outcome.untold) {
                    (0, 0) => String::new(),
                    (stale, 0) => format!("{stale} stale"),
                    (0, untold) => format!("{untold} untold"),
                    (stale, untold) => format!("{stale} stale, {untold} untold"),
                };
                let wide = u16::try_from(cells::width(&belief)).unwrap_or(0);
                if wide > 0 {
                    canvas.right(area.x, edge, area.y, &belief, if row.old { Role::Dim } else { Role::Bad });
                    edge = edge.saturating_sub(wide + 1);
                }
            }
        }
    }
    let sign = if row.current { "> " } else { "  " };
    let indent = if row.indent { "  " } else { "" };
    let bench = if row.variants.is_empty() && *row.label != *"this bench" { "  (this bench)" } else { "" };
    let role = if row.current { Role::Title } else { Role::Text };
    let x = area.x + canvas.text(area.x, area.y, 2, sign, role);
    let room = edge.saturating_sub(x);
    let label = format!("{indent}{}", row.label);
    let used = canvas.text(x, area.y, room, &label, role);
    canvas.text(x + used, area.y, room.saturating_sub(used), bench, Role::Dim);
}

/// A row of the verdict.
pub(super) struct VerdictRow {
    label: String,
    text: String,
    role: Role,
    /// The line that it belongs to, an index into the snapshot's; none for what is wrong with the files.
    line: Option<usize>,
}

/// The rows that the verdict takes in a width.
pub(super) fn verdict_rows(snapshot: &Snapshot, width: u16) -> Vec<VerdictRow> {
    let room = usize::from(width).saturating_sub(8).max(1);
    let mut rows = Vec::new();
    let broken = snapshot.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    if let Some(diagnostic) = broken.filter(|_| snapshot.broken) {
        let place = match (&diagnostic.file, diagnostic.at) {
            (Some(file), Some(at)) => format!("{file}:{at}: "),
            (Some(file), None) => format!("{file}: "),
            _ => String::new(),
        };
        let more = snapshot.diagnostics.len() - 1;
        let more = if more > 0 { format!(" ({more} more in 4 Why)") } else { String::new() };
        let text = format!("{place}{}{more}", diagnostic.message);
        rows.push(VerdictRow { label: "ERROR".to_owned(), text, role: Role::Bad, line: None });
    }
    for (index, line) in snapshot.verdict.iter().enumerate() {
        let mut label = line.label.to_string();
        for (range, hang) in cells::wrap(&line.text, room) {
            let text = format!("{:hang$}{}", "", line.text[range].trim_end());
            let (label, role) = (std::mem::take(&mut label), tone(line.tone));
            rows.push(VerdictRow { label, text, role, line: Some(index) });
        }
    }
    rows
}

pub(super) fn draw_verdict(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    if area.is_empty() {
        return;
    }
    let inner = canvas.boxed(area, &[(" Verdict ", Role::BoxTitle)], "", false);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(1), ..inner };
    let rows = verdict_rows(&state.snapshot, inner.width);
    if rows.is_empty() {
        let text = if state.snapshot.status.counting { "counting tokens" } else { "no call yet" };
        canvas.text(inner.x, inner.y, inner.width, text, Role::Dim);
    }
    for (index, row) in rows.iter().take(usize::from(inner.height)).enumerate() {
        let place = row_area(inner, index);
        let role = if row.role == Role::Text { Role::Label } else { row.role };
        canvas.text(place.x, place.y, 8, &row.label, role);
        canvas.text(place.x + 8, place.y, place.width.saturating_sub(8), &row.text, row.role);
        if let Some(line) = row.line {
            canvas.regions.note(place, Target::Verdict(line));
        }
        if row.line.is_some_and(|line| state.marks.verdict.contains(&line)) {
            canvas.text(place.x - 1, place.y, 1, CHANGED, Role::Changed);
        }
    }
}
