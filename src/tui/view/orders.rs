//! Run order against byte order.

use ratatui::layout::Rect;

use super::canvas::{CHANGED, Canvas, row_area};
use super::page;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::snapshot::{ByteOrder, LayerRow};
use crate::app::state::State;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

fn place(row: &LayerRow) -> String {
    match row.byte {
        ByteOrder::None if !row.included => "left out".to_owned(),
        ByteOrder::None => "first".to_owned(),
        ByteOrder::Number(number) => number.to_string(),
        ByteOrder::User => "user message".to_owned(),
        ByteOrder::Tool => "tool message".to_owned(),
        ByteOrder::Message => "own message".to_owned(),
    }
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    let table = &state.snapshot.layers;
    let inner = page::frame(canvas, area, size, state, 1);
    if inner.height == 0 || inner.width < 12 {
        return;
    }
    let inner = Rect { y: inner.y - 1, height: inner.height + 1, ..inner };
    let half = (inner.width - 1) / 2;
    let left = Rect { width: half, ..inner };
    let right = Rect { x: inner.x + half + 1, width: inner.width - half - 1, ..inner };
    canvas.text(left.x, left.y, left.width, "run  layer", Role::Head);
    canvas.right(left.x, left.right(), left.y, "stands at", Role::Head);
    canvas.text(right.x, right.y, right.width, "byte order", Role::Head);
    canvas.right(right.x, right.right(), right.y, "runs as", Role::Head);

    let height = inner.height - 1;
    let list = state.here().list;
    let mut run_order: Vec<usize> =
        (0..table.rows.len()).filter(|&index| table.rows[index].run.is_some()).collect();
    run_order.sort_by_key(|&index| table.rows[index].run);
    let below = |area: Rect| Rect { y: area.y + 1, height, ..area };
    let rows = usize::from(height);
    for y in inner.top()..inner.bottom() {
        canvas.text(inner.x + half, y, 1, "│", Role::Border);
    }
    for (at, &index) in run_order.iter().enumerate().skip(list.top).take(rows) {
        let row = &table.rows[index];
        let area = row_area(below(left), at - list.top);
        let run = row.run.map_or_else(String::new, |run| format!("{run:>3}"));
        draw_row(canvas, area, state, index, &run, &place(row));
    }
    for (index, row) in table.rows.iter().enumerate().skip(list.top).take(rows) {
        let area = row_area(below(right), index - list.top);
        let run = row.run.map_or_else(|| "-".to_owned(), |run| run.to_string());
        let byte = match row.byte {
            ByteOrder::Number(number) => format!("{number:>3}"),
            ByteOrder::None => "  -".to_owned(),
            _ => "  +".to_owned(),
        };
        draw_row(canvas, area, state, index, &byte, &run);
    }
}

fn draw_row(canvas: &mut Canvas<'_>, area: Rect, state: &State, index: usize, number: &str, other: &str) {
    let row = &state.snapshot.layers.rows[index];
    let role = match (row.included, row.crossing) {
        (false, _) => Role::Dim,
        (_, true) => Role::Warn,
        _ => Role::Text,
    };
    let sign = if row.crossing { "x" } else { " " };
    let other = format!("{other} {sign}");
    let used = u16::try_from(cells::width(&other)).unwrap_or(0);
    canvas.text(
        area.x,
        area.y,
        area.width.saturating_sub(used + 1),
        &format!("{number}  {}", row.shown),
        role,
    );
    canvas.right(area.x, area.right(), area.y, &other, role);
    if state.marks.layer(row) && area.height > 0 {
        canvas.right(area.x, area.right().saturating_sub(used), area.y, CHANGED, Role::Changed);
    }
    if index == state.here().list.cursor {
        canvas.paint(area, Role::Selected);
    }
    canvas.regions.note(area, Target::ViewLine(index, 0));
}
