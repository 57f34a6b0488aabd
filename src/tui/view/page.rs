//! A view that is a list: any [`Page`], in any size.

use ratatui::layout::Rect;

use super::canvas::{Canvas, row_area};
use crate::app::cells;
use crate::app::event::Target;
use crate::app::rows::{Ink, Line, Page};
use crate::app::state::State;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

pub(super) fn role(ink: Ink) -> Role {
    match ink {
        Ink::Text => Role::Text,
        Ink::Dim => Role::Dim,
        Ink::Label => Role::Label,
        Ink::Good => Role::Good,
        Ink::Bad => Role::Bad,
        Ink::Warn => Role::Warn,
        Ink::Changed => Role::Changed,
        Ink::Injected => Role::Injected,
    }
}

/// Draws the frame of a view with its title; returns the area for its lines and notes how large it is. `heads` rows
/// above the lines are left for what does not scroll.
pub(super) fn frame(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State, heads: u16) -> Rect {
    framed(canvas, area, size, state, (heads, 0))
}

/// The same with rows below the lines, too.
pub(super) fn framed(
    canvas: &mut Canvas<'_>,
    area: Rect,
    size: Size,
    state: &State,
    (heads, feet): (u16, u16),
) -> Rect {
    let page = &state.page;
    let number = state.view.number().map_or(String::new(), |number| format!("{number} "));
    let title = format!(" {number}{} ", state.view.title());
    let note = match state.here().filter.as_str() {
        "" if page.note.is_empty() => String::new(),
        "" => format!(" {} ", page.note),
        filter => format!(" lines with \"{filter}\"; {} ", page.note),
    };
    let pieces = [(&*title, Role::BoxTitleFocus), (&*note, Role::Dim)];
    let inner = match size {
        Size::Wide => canvas.boxed(area, &pieces, "", true),
        _ => canvas.ruled(area, &pieces, true),
    };
    if inner.width < 3 || inner.height <= heads + feet {
        return Rect::ZERO;
    }
    let inner = Rect { x: inner.x + 1, width: inner.width - 2, ..inner };
    let lines = Rect { y: inner.y + heads, height: inner.height - heads - feet, ..inner };
    canvas.regions.metrics.view = (lines.width, lines.height);
    let bottom = size == Size::Wide;
    canvas.away(area, bottom, state.here().list.top, usize::from(lines.height), page.lines.len());
    if page.lines.is_empty() {
        for (index, (range, hang)) in
            cells::wrap(&page.empty, usize::from(lines.width)).into_iter().enumerate()
        {
            let place = row_area(lines, index);
            let indent = u16::try_from(hang).unwrap_or(0) * place.height;
            canvas.text(
                place.x + indent,
                place.y,
                place.width * place.height,
                page.empty[range].trim_end(),
                Role::Dim,
            );
        }
    }
    lines
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    let page = &state.page;
    let heads = u16::from(page.columns.iter().any(|column| !column.head.is_empty()) && area.height > 6);
    let above = u16::from(!page.groups.is_empty() && heads > 0);
    let heads = heads + above;
    let lines = frame(canvas, area, size, state, heads);
    if lines.is_empty() {
        return;
    }
    let layout = page.layout(usize::from(lines.width));
    let here = state.here();
    if heads > 0 {
        for &(index, from, wide) in &layout {
            let column = &page.columns[index];
            let (x, wide) = (lines.x + narrow(from), narrow(wide));
            let role = if column.opens && index == here.column { Role::BoxTitleFocus } else { Role::Head };
            if column.right {
                canvas.right(x, x + wide, lines.y - 1, column.head, role);
            } else {
                canvas.text(x, lines.y - 1, wide, column.head, role);
            }
        }
    }
    for group in page.groups.iter().filter(|_| above > 0) {
        let mut own = layout.iter().filter(|(index, ..)| group.columns.contains(index));
        let Some(&(_, from, wide)) = own.next() else { continue };
        let right = own.next_back().map_or(from + wide, |&(_, from, wide)| from + wide);
        let (x, right) = (lines.x + narrow(from), lines.x + narrow(right));
        canvas.right(x, right, lines.y - 2, &group.text, Role::Head);
    }
    let shown = page.lines.iter().enumerate().skip(here.list.top).take(usize::from(lines.height));
    for (index, line) in shown {
        let place = row_area(lines, index - here.list.top);
        draw_line(canvas, place, state, page, &layout, index, line);
    }
}

fn narrow(cells: usize) -> u16 {
    u16::try_from(cells).unwrap_or(u16::MAX)
}

fn draw_line(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &State,
    page: &Page,
    layout: &[(usize, usize, usize)],
    index: usize,
    line: &Line,
) {
    let here = state.here();
    let selected = index == here.list.cursor && state.overlays.is_empty();
    let sign = match line.open {
        Some(true) => "- ",
        Some(false) => "+ ",
        None => "",
    };
    let indent = (line.depth * 2).min(area.width);
    let first_text = page.columns.iter().position(|column| column.rest).unwrap_or(0);
    canvas.regions.note(area, Target::ViewLine(index, here.column));
    if line.whole {
        let mut x = area.x + indent;
        x += canvas.text(x, area.y, area.right().saturating_sub(x), sign, Role::Dim);
        for cell in &line.cells {
            x += canvas.text(x, area.y, area.right().saturating_sub(x), &cell.text, role(cell.ink));
        }
        if selected {
            canvas.paint(area, Role::Selected);
        }
        return;
    }
    let several = page.columns.iter().filter(|column| column.opens).count() > 1;
    for &(column, from, wide) in layout {
        let (mut x, right) = (area.x + narrow(from), area.x + narrow(from) + narrow(wide));
        let place = Rect { x, width: right - x, ..area };
        if let Some(cell) = line.cells.get(column) {
            if page.columns[column].right {
                canvas.right(x, right, area.y, &cell.text, role(cell.ink));
            } else {
                if column == first_text {
                    x = (x + indent).min(right);
                    x += canvas.text(x, area.y, right.saturating_sub(x), sign, Role::Dim);
                }
                canvas.text(x, area.y, right.saturating_sub(x), &cell.text, role(cell.ink));
            }
        }
        canvas.regions.note(place, Target::ViewLine(index, column));
        // With several numbers to open, the one that Enter opens is the one that is marked.
        if selected && (!several || column == here.column || column == first_text) {
            canvas.paint(place, Role::Selected);
        }
    }
    if selected && !several {
        canvas.paint(area, Role::Selected);
    }
}
