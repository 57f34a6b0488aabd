//! Pane 3: a block of the request, every byte beside who wrote it.

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::{Canvas, note_pane, row_area, selection, title};
use super::layers::tokens;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::rows::{BlockRows, Row, span_in};
use crate::app::snapshot::{BlockChange, BlockRow};
use crate::app::state::{Hit, Pane, State};
use crate::core::cache::Written;
use crate::core::text::Made;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

/// The cells of the byte column and of the authors, for a width.
fn gutter(width: u16, size: Size, zoom: bool) -> (u16, u16) {
    match width {
        100.. => (7, 22),
        // Without a box every cell goes to the text, unless the pane has the screen to itself.
        56.. if size == Size::Wide || zoom => (6, 17),
        56.. => (0, 18),
        40.. => (0, 16),
        28.. => (0, 10),
        _ => (0, 1),
    }
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    if area.is_empty() {
        return;
    }
    note_pane(canvas, area, Pane::Request);
    let focused = state.focus == Pane::Request;
    let rest = heading(state);
    let pieces = title(" 3 Request ", &rest, focused);
    let mut inner = match size {
        Size::Wide => {
            let note = if state.block().is_some() { origin(state) } else { String::new() };
            let inner = canvas.boxed(area, &pieces, &note, focused);
            Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
        }
        _ => canvas.ruled(area, &pieces, focused),
    };
    if inner.is_empty() {
        return;
    }
    if size != Size::Wide && inner.width > 20 {
        inner = Rect { x: inner.x + 1, width: inner.width - 1, ..inner };
    }
    let (bytes, authors) = gutter(inner.width, size, state.zoom);
    if size == Size::Wide && inner.height > 4 {
        if bytes > 0 {
            canvas.right(inner.x, inner.x + bytes - 1, inner.y, "byte", Role::Head);
        }
        canvas.text(inner.x + bytes, inner.y, authors, "author", Role::Head);
        canvas.text(inner.x + bytes + authors, inner.y, 6, "│ text", Role::Head);
        inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    }
    let text_x = inner.x + bytes + authors + 2;
    let text_cells = inner.right().saturating_sub(text_x);
    canvas.regions.metrics.panes[Pane::Request.index()] = (text_cells, inner.height);
    let Some(block) = state.block() else {
        empty(canvas, inner, state);
        return;
    };
    let folded = state.folded();
    let rows = BlockRows::new(block, &folded, text_cells, state.request.raw, canvas.regions.metrics.compact);
    let mut used = 0;
    let mut end = state.request.top;
    for (index, row) in rows.from(state.request.top).take(usize::from(inner.height)).enumerate() {
        let place = row_area(inner, index);
        draw_row(canvas, place, (bytes, authors), state, block, &row);
        if let Some(role) = selection(state, Pane::Request, row.start == state.request.cursor && focused) {
            canvas.paint(Rect { width: bytes + authors, ..place }, role);
        }
        canvas.regions.note(place, Target::RequestRow(row.start));
        used = index + 1;
        end = row.next;
    }
    let more = used == usize::from(inner.height) && end < block.text.len();
    if size == Size::Wide {
        // The lower border says what is under the cursor; the right one that there is more.
        let edge = area.right() - 1;
        if state.request.top > 0 {
            canvas.text(edge, inner.y, 1, "↑", Role::Warn);
        }
        if more {
            canvas.text(edge, inner.bottom() - 1, 1, "↓", Role::Warn);
        }
    } else {
        let (top, end) = (state.request.top, if more { 1 } else { 0 });
        canvas.arrows((area.right().saturating_sub(3), area.y), top, 1, 1 + top + end);
    }
    // Below the last row: what the block comes to.
    if used < usize::from(inner.height) {
        let place = row_area(inner, used);
        if bytes > 0 {
            canvas.right(inner.x, inner.x + bytes - 1, place.y, &block.text.len().to_string(), Role::Dim);
        }
        if authors > 4 {
            canvas.text(inner.x + bytes, place.y, authors, "end", Role::Dim);
        }
        canvas.text(text_x - 2, place.y, 1, "│", Role::Border);
        canvas.text(text_x, place.y, text_cells, &sum(state, block), Role::Dim);
    }
}

/// What stands in the title: the call, the block, what is with it.
fn heading(state: &State) -> String {
    let request = &state.snapshot.request;
    let Some(block) = state.block() else { return String::new() };
    let change = match block.change {
        BlockChange::Same => String::new(),
        BlockChange::New => ", new in this call".to_owned(),
        BlockChange::Changed(byte) => format!(", ! changed at byte {byte}"),
    };
    let agent = request.agent.as_ref().map_or(String::new(), |agent| format!(" [{agent}]"));
    let raw = if state.request.raw { ", raw" } else { "" };
    let count = format!("{} of {}", state.request.block + 1, request.blocks.len());
    format!("{}{agent} > {}{change}{raw}  ({count}) ", request.call.0, block.title)
}

fn sum(state: &State, block: &BlockRow) -> String {
    let estimate = state.snapshot.model.tokens.estimate.is_some();
    let mut text = format!(
        "{} bytes, {} tokens",
        cells::grouped(block.text.len() as u64),
        tokens(block.tokens, estimate)
    );
    if block.parts.iter().any(|part| part.injected) {
        text.push_str(&format!(", {} injected", tokens(block.injected, estimate)));
    }
    if let Some(mark) = &block.mark {
        text.push_str(&format!("; {mark}"));
    }
    text
}

/// Who wrote what is under the cursor, from what and why. A fact in the row says more than the template around it.
fn origin(state: &State) -> String {
    let Some(block) = state.block() else { return String::new() };
    let folded = state.folded();
    let cells = state.metrics.panes[Pane::Request.index()].0;
    let rows = BlockRows::new(block, &folded, cells, state.request.raw, state.metrics.compact);
    let Some(row) = rows.row(state.request.cursor) else { return String::new() };
    let Some((start, byte, span)) = span_in(block, &row) else { return String::new() };
    let made = match (Written::of(&span.origin, byte - start), &span.origin.made) {
        (Some(written), _) => format!(" {written}"),
        (None, Made::Fact { key, .. }) => format!(" {{{{{key}}}}}"),
        (None, _) => String::new(),
    };
    let part = block.parts.get(rows.part_at(byte));
    let author = part.map_or(&*span.origin.part, |part| &*part.author);
    let cause = state.snapshot.request.causes.get(&span.origin.cause);
    let cause = cause.map_or(String::new(), |cause| format!(", by {cause}"));
    format!("byte {byte}: {author}{made}{cause}")
}

fn draw_row(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (bytes, authors): (u16, u16),
    state: &State,
    block: &BlockRow,
    row: &Row,
) {
    let text = block.text.text();
    let part = block.parts.get(row.part);
    let injected = part.is_some_and(|part| part.injected);
    let changed = part.is_some_and(|part| part.changed);
    let text_x = area.x + bytes + authors + 2;
    // Where the bytes begin to differ from the call before, also in the middle of a part.
    let broken = match block.change {
        BlockChange::Changed(byte) if row.folded.is_none() => (row.start..=row.end)
            .contains(&byte)
            .then_some(byte)
            .filter(|&byte| byte < row.end || row.end == text.len()),
        _ => None,
    };
    if let (Some(byte), false) = (broken, row.first) {
        let sign = if authors > 12 { format!("! differs at {byte}") } else { "!".to_owned() };
        canvas.text(area.x + bytes, area.y, authors.saturating_sub(1).max(1), &sign, Role::Bad);
    }
    if row.first {
        // The byte at which the part begins, its separator included.
        if bytes > 0 {
            let byte = part.map_or(row.start, |part| part.range.start).to_string();
            canvas.right(area.x, area.x + bytes - 1, area.y, &byte, Role::Dim);
        }
        let sign = match (injected, changed) {
            (true, _) => "+",
            (_, true) => "!",
            _ => "",
        };
        let author = part.map_or(String::new(), |part| format!("{sign}{}", part.author));
        let role = match (injected, changed) {
            (true, _) => Role::Injected,
            (_, true) => Role::Changed,
            _ => Role::Label,
        };
        canvas.text(area.x + bytes, area.y, authors.saturating_sub(1).max(1), &author, role);
    }
    canvas.text(text_x - 2, area.y, 1, "│", Role::Border);
    let hang = if row.continues { u16::try_from(cells::HANG).unwrap_or(0) } else { 0 };
    let width = area.right().saturating_sub(text_x + hang);
    let role = if injected { Role::Injected } else { Role::Text };
    let mut marks = marks(canvas, state, row);
    if let Some((span, _)) = broken.and_then(|byte| block.text.span_at(byte)) {
        let range = span.start.max(row.text.start)..span.end.min(row.text.end);
        marks.push((range.start - row.text.start..range.end - row.text.start, canvas.style(Role::Bad)));
    }
    let shown = &text[row.text.clone()];
    let style = canvas.style(role);
    let used = canvas.prompt((text_x + hang, area.y, width), shown, state.request.raw, style, &marks);
    if let Some(lines) = row.folded {
        let note = format!(" {lines} lines, folded (Enter)");
        let need = u16::try_from(cells::width(&note)).unwrap_or(0);
        let x = text_x + used.min(width.saturating_sub(need));
        canvas.text(x, area.y, area.right().saturating_sub(x), &note, Role::Dim);
    } else if state.request.raw && text[row.end..].starts_with('\n') {
        let x = text_x + hang + used;
        canvas.text(x, area.y, area.right().saturating_sub(x).min(2), "\\n", Role::Dim);
    }
}

/// The hits of the search in a row, relative to its text.
fn marks(canvas: &Canvas<'_>, state: &State, row: &Row) -> Vec<(std::ops::Range<usize>, Style)> {
    let Some(search) = state.search.as_ref().filter(|search| search.pane == Pane::Request) else {
        return Vec::new();
    };
    let key = |hit: &Hit| match hit {
        Hit::Bytes(block, range) => (*block, range.end),
        Hit::Row(row) => (*row, 0),
    };
    let from = search.hits.partition_point(|hit| key(hit) <= (state.request.block, row.text.start));
    let mut marks = Vec::new();
    for (index, hit) in search.hits.iter().enumerate().skip(from) {
        let Hit::Bytes(block, range) = hit else { continue };
        if *block != state.request.block || range.start >= row.text.end {
            break;
        }
        let role = if index == search.at { Role::SearchCurrent } else { Role::Search };
        let start = range.start.max(row.text.start) - row.text.start;
        let end = range.end.min(row.text.end) - row.text.start;
        marks.push((start..end, canvas.style(role)));
    }
    marks
}

fn empty(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let snapshot = &state.snapshot;
    let text = if snapshot.generation == 0 {
        "reading the bench"
    } else if snapshot.broken {
        "no request: the bench cannot be used as it is; see why"
    } else {
        "nothing is prepared yet"
    };
    canvas.text(area.x + 1, area.y, area.width.saturating_sub(1), text, Role::Dim);
}
