//! Run order on the left, byte order on the right, and a stroke for each layer that crosses others where the orders do.

use std::collections::BTreeMap;

use ratatui::layout::Rect;

use super::canvas::{Canvas, row_area};
use super::page;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::rows::{Both, both_orders, meet, order_words, stroke};
use crate::app::snapshot::{ByteOrder, LayerRow};
use crate::app::state::State;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

/// How much of the width is between the two lists.
fn between(width: u16) -> u16 {
    (width / 5).clamp(6, 24).min(width / 3)
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    // The last rows say what decides the order of the selected layer.
    let said = if area.height > 8 { 1 + u16::from(area.width < 110) } else { 0 };
    let lines = page::framed(canvas, area, size, state, (1, said));
    if lines.height == 0 || lines.width < 12 {
        return;
    }
    let table = &state.snapshot.layers.rows;
    let list = state.here().list;
    let middle = between(lines.width);
    let half = (lines.width - middle) / 2;
    let left = Rect { width: half, ..lines };
    let channel = Rect { x: lines.x + half, width: middle, ..lines };
    let right = Rect { x: channel.right(), width: lines.width - half - middle, ..lines };
    let head = lines.y - 1;
    canvas.text(left.x, head, left.width, "run  layer", Role::Head);
    canvas.text(right.x, head, right.width, "byte  layer", Role::Head);

    let both = both_orders(table);
    let selected = both.iter().find(|both| both.stands == list.cursor).copied();
    let rows = list.top..list.top + usize::from(lines.height);
    draw_strokes(canvas, channel, &both, selected, rows.clone());
    for one in &both {
        let row = &table[one.row];
        let on = selected == Some(*one);
        if rows.contains(&one.runs) {
            let place = row_area(left, one.runs - rows.start);
            draw_side(canvas, place, row, &format!("{:>3}", one.runs + 1), &row.runs_by, on);
            canvas.regions.note(place, Target::ViewLine(one.stands, 0));
        }
        if rows.contains(&one.stands) {
            let place = row_area(right, one.stands - rows.start);
            let number = match row.byte {
                ByteOrder::User => "   u".to_owned(),
                ByteOrder::Tool => "   t".to_owned(),
                ByteOrder::Message => "   m".to_owned(),
                _ => format!("{:>4}", one.stands + 1),
            };
            draw_side(canvas, place, row, &number, &row.stands_by, on);
            canvas
                .regions
                .note(Rect { x: channel.x, width: middle, ..place }, Target::ViewLine(one.stands, 0));
            canvas.regions.note(place, Target::ViewLine(one.stands, 0));
        }
    }
    for (index, line) in state.page.lines.iter().enumerate().skip(both.len().max(rows.start)) {
        if !rows.contains(&index) {
            break;
        }
        let Some(row) = table.iter().find(|row| row.id == line.key) else { continue };
        let place = row_area(lines, index - rows.start);
        let text = format!("  -  {}", order_words(table, &row.id));
        canvas.text(place.x, place.y, place.width, &text, Role::Dim);
        if index == list.cursor && state.overlays.is_empty() {
            canvas.paint(place, Role::Selected);
        }
        canvas.regions.note(place, Target::ViewLine(index, 0));
    }
    let id = state.page.lines.get(list.cursor).map(|line| &line.key);
    if let (Some(id), true) = (id, said > 0) {
        let words = order_words(table, id);
        let rows = cells::wrap(&words, usize::from(lines.width));
        for (at, (range, hang)) in (0..said).zip(rows) {
            let indent = u16::try_from(hang).unwrap_or(0);
            let (x, y) = (lines.x + indent, lines.bottom() + at);
            canvas.text(x, y, lines.width - indent, words[range].trim_end(), Role::Changed);
        }
    }
}

/// The strokes between the lists: those that cross stand out, and the selected one lies on top.
fn draw_strokes(
    canvas: &mut Canvas<'_>,
    area: Rect,
    both: &[Both],
    selected: Option<Both>,
    rows: std::ops::Range<usize>,
) {
    let width = usize::from(area.width);
    let longest = both.iter().map(|both| both.runs.abs_diff(both.stands)).max().unwrap_or(0);
    let mut drawn: BTreeMap<(usize, usize), (char, Role)> = BTreeMap::new();
    let moved = |both: &&Both| both.runs != both.stands;
    let straight = both.iter().filter(|both| !moved(both)).map(|both| (both, Role::Border));
    let sloping = both.iter().filter(moved).map(|both| (both, Role::Warn));
    let on_top = selected.iter().map(|both| (both, Role::BoxTitleFocus));
    for (both, role) in straight.chain(sloping).chain(on_top) {
        let top = role == Role::BoxTitleFocus;
        for (row, column, glyph) in stroke(both.runs, both.stands, longest, width) {
            if !rows.contains(&row) {
                continue;
            }
            let below = drawn.get(&(row, column)).map_or(' ', |(glyph, _)| *glyph);
            let met = match (top, glyph) {
                // Where there are no colours the selected one is told by its weight.
                (true, '─') if !matches!(below, '╲' | '╱' | '╳') => '━',
                _ => meet(below, glyph),
            };
            drawn.insert((row, column), (met, role));
        }
    }
    for ((row, column), (glyph, role)) in drawn {
        let place = row_area(area, row - rows.start);
        let x = place.x + u16::try_from(column).unwrap_or(u16::MAX);
        canvas.text(x, place.y, 1, glyph.encode_utf8(&mut [0; 4]), role);
    }
}

fn draw_side(canvas: &mut Canvas<'_>, area: Rect, row: &LayerRow, number: &str, by: &str, on: bool) {
    let role = if row.crossing { Role::Warn } else { Role::Text };
    let by_cells = u16::try_from(cells::width(by)).unwrap_or(u16::MAX);
    let name_cells = u16::try_from(cells::width(&row.shown) + cells::width(number) + 2).unwrap_or(u16::MAX);
    // The name has to be read; what decides its place gives way, and is said below for the selected layer.
    let fits = name_cells.saturating_add(by_cells + 3) <= area.width;
    let room = area.width.saturating_sub(1);
    canvas.text(area.x, area.y, room, &format!("{number}  {}", row.shown), role);
    if fits {
        canvas.right(area.x, area.right() - 1, area.y, by, Role::Dim);
    }
    if on {
        canvas.paint(Rect { width: room, ..area }, Role::Selected);
    }
}
