//! Pane 2: the calls of the run.

use ratatui::layout::Rect;

use super::canvas::{CHANGED, Canvas, note_pane, row_area, selection, title};
use super::layers::tokens;
use crate::app::action::Action;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::rows::{self, CallLine};
use crate::app::snapshot::{CallRow, CallState, CallTable, Lost, Paid, Speaker};
use crate::app::state::{Pane, State};
use crate::tui::layout::Size;
use crate::tui::theme::Role;

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Sent,
    Read,
    Write,
    Fresh,
    Lost,
}

use Column as C;

fn head(column: Column) -> &'static str {
    match column {
        C::Sent => "sent",
        C::Read => "read",
        C::Write => "write",
        C::Fresh => "fresh",
        C::Lost => "lost",
    }
}

/// The columns with the cells that their widest number takes and the gap before it.
fn widths(table: &CallTable, columns: &[Column], gap: u16) -> Vec<(Column, u16)> {
    let most = |of: fn(&Paid) -> Option<u64>| {
        let paid = table.rows.iter().filter_map(|row| row.paid.as_ref());
        paid.map(|paid| cells::width(&tokens(Some(of(paid).unwrap_or(0)), paid.estimate))).max().unwrap_or(0)
    };
    let width = |column| match column {
        C::Sent => most(|paid| paid.sent),
        C::Read => most(|paid| paid.read),
        C::Write => most(|paid| paid.write),
        C::Fresh => most(|paid| paid.fresh),
        C::Lost => 2 + most(|paid| if let Lost::Tokens(count) = paid.lost { Some(count) } else { None }),
    };
    let wide = |column| u16::try_from(width(column).max(6)).unwrap_or(6) + gap;
    columns.iter().map(|&column| (column, wide(column))).collect()
}

/// The columns that fit. What is written to the cache has a column where it has a price of its own.
fn columns(width: u16, write_fee: bool) -> &'static [Column] {
    match (width, write_fee) {
        (64.., _) => &[C::Sent, C::Read, C::Write, C::Fresh, C::Lost],
        (50.., true) => &[C::Sent, C::Read, C::Write, C::Lost],
        (36.., _) => &[C::Sent, C::Read, C::Lost],
        (26.., _) => &[C::Sent, C::Lost],
        _ => &[C::Lost],
    }
}

/// What stands where there is nothing to say.
fn unknown() -> (String, Role) {
    ("n/a".to_owned(), Role::Dim)
}

fn cell(column: Column, paid: &Paid) -> (String, Role) {
    let number = |count: Option<u64>| {
        count.map_or_else(unknown, |count| (tokens(Some(count), paid.estimate), Role::Text))
    };
    match column {
        C::Sent => number(paid.sent),
        C::Read => number(paid.read),
        C::Write => number(paid.write),
        C::Fresh => number(paid.fresh),
        C::Lost => match &paid.lost {
            Lost::First => ("first".to_owned(), Role::Dim),
            Lost::Nothing => ("-".to_owned(), Role::Dim),
            Lost::Tokens(count) => (format!("! {}", tokens(Some(*count), paid.estimate)), Role::Bad),
            Lost::Unknown(_) => unknown(),
        },
    }
}

/// How many lines the pane wants.
pub(super) fn wish(table: &CallTable, compact: bool) -> u16 {
    u16::try_from(rows::call_lines(table, compact).len().max(3)).unwrap_or(u16::MAX)
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    if area.is_empty() {
        return;
    }
    note_pane(canvas, area, Pane::Calls);
    let table = &state.snapshot.calls;
    let focused = state.focus == Pane::Calls;
    let inner = match size {
        Size::Wide => {
            let inner = canvas.boxed(area, &title(" 2 Calls ", "", focused), "", focused);
            if inner.is_empty() {
                return;
            }
            let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(1), ..inner };
            canvas.text(inner.x, inner.y, inner.width, "call  what happened", Role::Head);
            inner
        }
        _ => {
            let role = if focused { Role::BoxTitleFocus } else { Role::BoxTitle };
            canvas.text(area.x, area.y, area.width, " 2 Calls ", role);
            Rect { width: area.width.saturating_sub(1), ..area }
        }
    };
    let gap = if size == Size::Wide { 2 } else { 1 };
    let columns = widths(table, columns(inner.width, table.write_fee), gap);
    let mut right = inner.right();
    for &(column, width) in columns.iter().rev() {
        canvas.right(inner.x, right, inner.y, head(column), Role::Head);
        right = right.saturating_sub(width);
    }
    let rows_area = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    canvas.regions.metrics.panes[Pane::Calls.index()] = (rows_area.width, rows_area.height);
    let compact = canvas.regions.metrics.compact;
    let lines = rows::call_lines(table, compact);
    if table.rows.is_empty() {
        let text = match by_hand(state) {
            Some(begins) => format!("no call yet; {begins}"),
            None if state.snapshot.choices.runs.is_empty() => "no call yet".to_owned(),
            None => format!("no call yet; {} sends the first", state.keymap.shown_key(Action::Send)),
        };
        canvas.text(rows_area.x, rows_area.y, rows_area.width, &text, Role::Dim);
        return;
    }
    if size == Size::Wide {
        canvas.away(area, true, state.calls.top, usize::from(rows_area.height), lines.len());
    } else {
        canvas.arrows((area.x + 9, area.y), state.calls.top, usize::from(rows_area.height), lines.len());
    }
    let hits = super::hits(state, Pane::Calls);
    let shown = lines.iter().enumerate().skip(state.calls.top).take(usize::from(rows_area.height));
    for (index, line) in shown {
        let place = row_area(rows_area, index - state.calls.top);
        draw_line(canvas, place, size, state, *line, &columns);
        if let Some(role) = hits.get(&index) {
            canvas.paint(place, *role);
        }
        if let Some(role) = selection(state, Pane::Calls, index == state.calls.cursor) {
            canvas.paint(place, role);
        }
        canvas.regions.note(place, Target::CallLine(index));
    }
}

/// Which key goes on by hand; none where a script goes on.
fn by_hand(state: &State) -> Option<String> {
    let key = |action| state.keymap.shown_key(action);
    match state.snapshot.calls.by_hand? {
        Speaker::User => Some(format!("{} says something as the user", key(Action::Say))),
        Speaker::Model => Some(format!("{} plays the model", key(Action::Reply))),
    }
}

fn draw_line(
    canvas: &mut Canvas<'_>,
    area: Rect,
    size: Size,
    state: &State,
    line: CallLine,
    columns: &[(Column, u16)],
) {
    let table = &state.snapshot.calls;
    let indent = if size == Size::Wide { 6 } else { 4 };
    let hanging =
        Rect { x: area.x + indent.min(area.width), width: area.width.saturating_sub(indent), ..area };
    match line {
        CallLine::Note(call, note) => {
            let text = format!("# {}", table.rows[call].notes[note]);
            canvas.text(hanging.x, area.y, hanging.width, &text, Role::Dim);
        }
        CallLine::Closing(note) => {
            let text = format!("# {}", table.closing[note]);
            canvas.text(hanging.x, area.y, hanging.width, &text, Role::Dim);
        }
        CallLine::Footnote => {
            let text = table.footnote.as_deref().unwrap_or_default();
            let indent = u16::from(size != Size::Wide).min(area.width);
            canvas.text(area.x + indent, area.y, area.width - indent, text, Role::Dim);
        }
        CallLine::ByHand => {
            let text = by_hand(state).unwrap_or_default();
            let indent = u16::from(size != Size::Wide).min(area.width);
            canvas.text(area.x + indent, area.y, area.width - indent, &text, Role::Key);
        }
        CallLine::Answer(call) => {
            let row = &table.rows[call];
            let role = if row.state == CallState::Failed { Role::Bad } else { Role::Dim };
            let text = row.answer.as_deref().unwrap_or_default();
            canvas.text(hanging.x, area.y, hanging.width, text, role);
        }
        CallLine::Injected(call, injected) => {
            let row = &table.rows[call].injected[injected];
            let mut x = hanging.x;
            x += canvas.text(x, area.y, 2, "+ ", Role::Injected);
            let names =
                table.rows[call].injected.iter().map(|row| cells::width(&row.layer)).max().unwrap_or(0);
            let names = u16::try_from(names).unwrap_or(0).min(hanging.width / 2);
            canvas.text(x, area.y, names, &row.layer, Role::Injected);
            x += names + 1;
            let count = tokens(row.tokens, row.estimate);
            let rest = if size == Size::Wide {
                format!("{count:>4}  into {}", row.into)
            } else {
                format!("{count:>4} tokens")
            };
            canvas.text(x, area.y, area.right().saturating_sub(x), &rest, Role::Text);
        }
        CallLine::Call(call) => draw_call(canvas, area, size, state, &table.rows[call], columns),
    }
}

fn draw_call(
    canvas: &mut Canvas<'_>,
    area: Rect,
    size: Size,
    state: &State,
    row: &CallRow,
    columns: &[(Column, u16)],
) {
    let table = &state.snapshot.calls;
    let shown = table.shown.and_then(|shown| table.rows.get(shown)).is_some_and(|shown| shown.no == row.no);
    let text_role = match row.state {
        CallState::Forecast if !shown => Role::Forecast,
        CallState::Failed => Role::Bad,
        _ => Role::Text,
    };
    let mut right = area.right();
    for &(column, width) in columns.iter().rev() {
        let (text, role) = match &row.paid {
            Some(paid) => cell(column, paid),
            // It was not answered, so nobody can say what it was charged.
            None if row.state == CallState::Failed => unknown(),
            None => ("...".to_owned(), Role::Dim),
        };
        let role = if role == Role::Text { text_role } else { role };
        canvas.right(area.x, right, area.y, &text, role);
        right = right.saturating_sub(width);
    }
    let wide = size == Size::Wide;
    let sign = if shown { ">" } else { " " };
    let number = if wide { format!("{sign} {:>2}  ", row.no.0) } else { format!("{sign}{:>2} ", row.no.0) };
    let marked = state.marks.calls.contains(&row.no);
    let mut x = area.x;
    let number_role = if shown { Role::Title } else { text_role };
    x += canvas.text(x, area.y, area.width, &number, if marked { Role::Changed } else { number_role });
    if marked && x < area.right() {
        canvas.text(x - if wide { 2 } else { 1 }, area.y, 1, CHANGED, Role::Changed);
    }
    let what = if wide { &row.what } else { &row.short };
    let what = match &row.agent {
        Some(agent) => format!("[{agent}] {what}"),
        None => what.to_string(),
    };
    let failed = if row.state == CallState::Failed { "! " } else { "" };
    x += canvas.text(x, area.y, right.saturating_sub(x), &format!("{failed}{what}"), text_role);
    // Where a caption to come has no line of its own, a sign says that there is one.
    if !wide && row.state == CallState::Forecast && !shown && !row.notes.is_empty() {
        canvas.text(x + 1, area.y, right.saturating_sub(x + 1), "#", Role::Dim);
    }
}
