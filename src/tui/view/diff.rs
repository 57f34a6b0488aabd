//! Two requests side by side, or one above the other: authors, signs and texts, with the words that differ.

use std::ops::Range;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::{Canvas, row_area};
use super::page;
use crate::app::cells;
use crate::app::diff::DiffText;
use crate::app::event::Target;
use crate::app::rows::{DiffRow, Half, Widths};
use crate::app::state::State;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    // The heads say which call stands at which side.
    let heads = u16::from(area.height > 6);
    let inner = page::frame(canvas, area, size, state, heads);
    let Some(diff) = state.page.diff.as_ref().filter(|_| !inner.is_empty()) else { return };
    let widths = diff.widths;
    if heads > 0 {
        let y = inner.y - 1;
        if widths.beside {
            let half = (inner.width - 1) / 2;
            canvas.text(inner.x, y, half, &format!("- {}", diff.of.old), Role::Head);
            canvas.text(inner.x + half + 1, y, half, &format!("+ {}", diff.of.new), Role::Head);
        } else {
            let both = format!("- {}   + {}", diff.of.old, diff.of.new);
            canvas.text(inner.x, y, inner.width, &both, Role::Head);
        }
    }
    let list = state.here().list;
    for (index, row) in diff.rows.iter().enumerate().skip(list.top).take(usize::from(inner.height)) {
        let place = row_area(inner, index - list.top);
        match row {
            DiffRow::Block(text, ink) => {
                canvas.text(place.x, place.y, place.width, text, page::role(*ink));
            }
            DiffRow::Fold(text) => {
                canvas.text(place.x, place.y, place.width, text, Role::Dim);
            }
            DiffRow::Text { block, old, new } => {
                let block = &diff.of.blocks[*block];
                let sides = [(block.old.as_ref(), old.as_ref()), (block.new.as_ref(), new.as_ref())];
                if widths.beside {
                    let half = (place.width - 1) / 2;
                    let right = Rect { x: place.x + half + 1, width: place.width - half - 1, ..place };
                    canvas.text(place.x + half, place.y, 1, "│", Role::Border);
                    for (at, (side, place)) in
                        sides.into_iter().zip([Rect { width: half, ..place }, right]).enumerate()
                    {
                        draw_half(canvas, place, widths, side, at == 0);
                    }
                } else {
                    for (at, side) in sides.into_iter().enumerate().filter(|(_, (_, half))| half.is_some()) {
                        draw_half(canvas, place, widths, side, at == 0);
                    }
                }
            }
        }
        if index == list.cursor && state.overlays.is_empty() {
            // The words that differ keep their marks: only what stands in front of the text is painted.
            let wide = match row {
                DiffRow::Text { .. } => cells_of(widths.author + 2),
                _ => place.width,
            };
            canvas.paint(Rect { width: wide.min(place.width), ..place }, Role::Selected);
        }
        canvas.regions.note(place, Target::ViewLine(index, state.here().column));
    }
}

fn cells_of(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn draw_half(
    canvas: &mut Canvas<'_>,
    area: Rect,
    widths: Widths,
    (text, half): (Option<&DiffText>, Option<&Half>),
    old: bool,
) {
    let (Some(text), Some(half)) = (text, half) else { return };
    let author = cells_of(widths.author);
    if let (Some(name), true) = (&half.author, author > 1) {
        let (sign, role) = if half.injected { ("+", Role::Injected) } else { ("", Role::Label) };
        canvas.text(area.x, area.y, author - 1, &format!("{sign}{name}"), role);
    }
    let (sign, role, word) = match (half.changed, old) {
        (false, _) => (" ", Role::Text, Role::Text),
        (true, true) => ("-", Role::DiffOld, Role::DiffOldWord),
        (true, false) => ("+", Role::DiffNew, Role::DiffNewWord),
    };
    canvas.text(area.x + author, area.y, 2, sign, role);
    let hang = cells_of(half.hang);
    let x = area.x + author + 2 + hang;
    let width = area.right().saturating_sub(x);
    let marks: Vec<(Range<usize>, Style)> = half
        .marks
        .iter()
        .map(|mark| {
            let (start, end) = (mark.start.max(half.bytes.start), mark.end.min(half.bytes.end));
            (start - half.bytes.start..end.saturating_sub(half.bytes.start), canvas.style(word))
        })
        .collect();
    let style = canvas.style(role);
    let own = &text.text[half.bytes.clone()];
    let used = canvas.prompt((x, area.y, width), own, (half.raw, 0), style, &marks);
    if half.no_end {
        let words = "(no line end)";
        let room = width.saturating_sub(used + 1);
        if usize::from(room) >= cells::width(words) {
            canvas.text(x + used + 1, area.y, room, words, Role::Dim);
        }
    }
}
