//! Pane 3: a block of the request, every byte beside who wrote it.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::{CHANGED, Canvas, note_pane, row_area, selection, title};
use super::layers::tokens;
use crate::app::action::Action;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::highlight::Paint;
use crate::app::rows::{Look, Row, span_in};
use crate::app::snapshot::{BlockChange, BlockRow};
use crate::app::state::{Hit, Pane, State};
use crate::core::cache::Written;
use crate::core::text::number::grouped;
use crate::core::text::{Made, hidden};
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
    let focused = state.pane() == Some(Pane::Request);
    let rest = heading(state, size);
    let name = if state.reading.is_some() { " Bytes " } else { " 3 Request " };
    let pieces = title(name, &rest, focused);
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
    let paints = state.paints.of_parts(block);
    let (top, height) = (state.request.top, usize::from(inner.height));
    let compact = canvas.regions.metrics.compact;
    let rows: Option<Vec<Row>> =
        state.with_rows_in(text_cells, compact, |rows| rows.from(top).take(height).collect());
    let rows = rows.unwrap_or_default();
    canvas.regions.seen = top..rows.last().map_or(top, |row| row.end);
    let mut used = 0;
    let mut end = state.request.top;
    for (index, row) in rows.iter().enumerate() {
        let place = row_area(inner, index);
        let paint = paints.get(row.part).copied().flatten().map(|paint| &**paint);
        draw_row(canvas, place, (bytes, authors), state, block, row, paint);
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
fn heading(state: &State, size: Size) -> String {
    let request = &state.snapshot.request;
    let Some(block) = state.block() else { return String::new() };
    let change = match block.change {
        BlockChange::Same => String::new(),
        BlockChange::New => ", new in this call".to_owned(),
        BlockChange::Changed(byte) => format!(", ! changed at byte {byte}"),
    };
    let agent = request.agent.as_ref().map_or(String::new(), |agent| format!(" [{agent}]"));
    let look = match state.request.look {
        Look::Text => "",
        Look::Raw => ", raw",
        Look::Rendered => ", rendered",
    };
    let side = match (state.request.cut, state.request.left) {
        (false, _) => String::new(),
        (true, 0) => ", not wrapped".to_owned(),
        (true, left) => format!(", from column {}", left + 1),
    };
    let hidden: usize =
        state.paints.of_parts(block).into_iter().flatten().map(|paint| paint.hidden.len()).sum();
    // Where no border has room for them, the names of those under the cursor stand here.
    let here = if size == Size::Wide { Vec::new() } else { hidden_at_cursor(state) };
    let hidden = match hidden {
        0 => String::new(),
        _ if !here.is_empty() => format!(", ! {}", here.join(", ")),
        1 => ", ! 1 hidden character".to_owned(),
        hidden => format!(", ! {} hidden characters", grouped(hidden as u64)),
    };
    let count = format!("{} of {}", state.request.block + 1, state.blocks().len());
    if state.reading.is_some() {
        let change = match block.change {
            BlockChange::Changed(byte) => format!(", ! differs at byte {byte}"),
            _ => String::new(),
        };
        return format!("{}{change}{hidden}{look}{side}  ({count}) ", block.title);
    }
    format!("{}{agent} > {}{change}{hidden}{look}{side}  ({count}) ", request.call.0, block.title)
}

fn sum(state: &State, block: &BlockRow) -> String {
    let estimate = state.snapshot.model.tokens.estimate.is_some();
    let mut text =
        format!("{} bytes, {} tokens", grouped(block.text.len() as u64), tokens(block.tokens, estimate));
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
    let cells = state.metrics.panes[Pane::Request.index()].0;
    let cursor = state.request.cursor;
    let row = state.with_rows_in(cells, state.metrics.compact, |rows| rows.row(cursor)).flatten();
    let Some(row) = row else { return String::new() };
    let Some((start, byte, span)) = span_in(block, &row) else { return String::new() };
    let made = match (Written::of(&span.origin, byte - start), &span.origin.made) {
        (Some(written), _) => format!(" {written}"),
        (None, Made::Fact { key, .. }) => format!(" {{{{{key}}}}}"),
        (None, _) => String::new(),
    };
    let part = block.parts.partition_point(|part| part.range.end <= byte);
    let part = block.parts.get(part.min(block.parts.len().saturating_sub(1)));
    let author = part.map_or(&*span.origin.part, |part| &*part.author);
    let cause = state.snapshot.request.causes.get(&span.origin.cause);
    let cause = cause.map_or(String::new(), |cause| format!(", by {cause}"));
    let hidden = hidden_at_cursor(state);
    let hidden = if hidden.is_empty() { String::new() } else { format!("; ! {}", hidden.join(", ")) };
    format!("byte {byte}: {author}{made}{cause}{hidden}")
}

/// The names of the characters in the row under the cursor that nobody sees.
fn hidden_at_cursor(state: &State) -> Vec<String> {
    let cells = state.metrics.panes[Pane::Request.index()].0;
    let cursor = state.request.cursor;
    let row = state.with_rows_in(cells, state.metrics.compact, |rows| rows.row(cursor)).flatten();
    match (state.block(), row) {
        (Some(block), Some(row)) => {
            hidden_in(block.text.text(), &row).into_iter().map(|(_, words)| words).collect()
        }
        _ => Vec::new(),
    }
}

/// The characters of a row that nobody sees, as byte ranges of the block, with their names: `U+200B zero width space`.
fn hidden_in(text: &str, row: &Row) -> Vec<(Range<usize>, String)> {
    if row.folded.is_some() {
        return Vec::new();
    }
    let found = hidden::find(&text[row.text.clone()]);
    // The carriage return of a line end stands beside its line feed, which is not in the row.
    let found = found.filter(|(at, c)| *c != '\r' || !text[row.text.start + at + 1..].starts_with('\n'));
    found
        .map(|(at, c)| {
            let at = row.text.start + at;
            let name = hidden::name(c).unwrap_or_default();
            (at..at + c.len_utf8(), format!("U+{:04X} {name}", c as u32))
        })
        .collect()
}

fn draw_row(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (bytes, authors): (u16, u16),
    state: &State,
    block: &BlockRow,
    row: &Row,
    paint: Option<&Paint>,
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
        let room = authors.saturating_sub(1).max(1);
        // The number is what counts: it is never cut.
        let signs = [format!("! differs at {byte}"), format!("! at {byte}"), format!("!{byte}")];
        let sign = signs.into_iter().find(|sign| cells::width(sign) <= usize::from(room));
        canvas.text(area.x + bytes, area.y, room, sign.as_deref().unwrap_or("!"), Role::Bad);
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
    let style = canvas.style(role);
    let raw = state.request.look == Look::Raw;
    let skip = if row.folded.is_some() || !state.request.cut { 0 } else { state.request.left };
    // What is shown, with the ranges of it that have a style of their own, and for bytes of the row where they are in it.
    let mut marks: Vec<(Range<usize>, Style)> = Vec::new();
    let shown: Cow<'_, str> = match &row.laid {
        None => {
            let start = part.map_or(0, |part| part.range.start);
            if let Some(paint) = paint {
                let own = row.text.start.saturating_sub(start)..row.text.end.saturating_sub(start);
                marks.extend(paint.within(own.clone()).map(|(range, class)| {
                    (range.start - own.start..range.end - own.start, canvas.syntax(class, injected))
                }));
            }
            text[row.text.clone()].into()
        }
        Some(laid) => {
            let mut shown = String::new();
            for piece in laid {
                if let Some(class) = piece.class {
                    marks.push((shown.len()..shown.len() + piece.text.len(), canvas.syntax(class, injected)));
                }
                shown.push_str(&piece.text);
            }
            shown.into()
        }
    };
    let mut put =
        |bytes: Range<usize>, style: Style| marks.extend(in_shown(row, bytes).map(|at| (at, style)));
    let mut changed_now = false;
    for range in state.marks.in_row(state.request.block, row.start..row.end.max(row.text.end)) {
        changed_now = true;
        // Injected text keeps its own colour; the sign says that it is new.
        if !injected {
            put(range.clone(), canvas.style(Role::Changed));
        }
    }
    if let Some((span, _)) = broken.and_then(|byte| block.text.span_at(byte)) {
        put(span, canvas.style(Role::Bad));
    }
    // Whatever the look, a reader sees that something is there; raw says what.
    let hidden = hidden_in(text, row);
    for (bytes, _) in &hidden {
        put(bytes.clone(), canvas.style(Role::Hidden));
    }
    for (bytes, style) in hits(canvas, state, row) {
        put(bytes, style);
    }
    if changed_now {
        canvas.text(text_x - 1, area.y, 1, CHANGED, Role::Changed);
    }
    let mut used = canvas.prompt((text_x + hang, area.y, width), &shown, (raw, skip), style, &marks);
    if let Some(lines) = row.folded {
        let key = state.keymap.keys(Action::Fold).first().map_or_else(String::new, |key| format!(" ({key})"));
        let note = format!(" {lines} lines, folded{key}");
        let need = u16::try_from(cells::width(&note)).unwrap_or(0);
        let x = text_x + used.min(width.saturating_sub(need));
        canvas.text(x, area.y, area.right().saturating_sub(x), &note, Role::Dim);
    } else if raw {
        if text[row.end..].starts_with('\n') {
            let x = text_x + hang + used;
            used += canvas.text(x, area.y, area.right().saturating_sub(x).min(2), "\\n", Role::Dim);
        }
        if !hidden.is_empty() {
            let names: Vec<&str> = hidden.iter().map(|(_, name)| &**name).collect();
            let x = text_x + hang + used + 2;
            let room = area.right().saturating_sub(x);
            canvas.text(x, area.y, room, &format!("! {}", names.join(", ")), Role::Bad);
        }
    }
}

/// Where bytes of a block stand in what is shown of a row.
fn in_shown(row: &Row, bytes: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let cut = move |at: usize, len: usize, from: usize| {
        let (start, end) = (bytes.start.max(at), bytes.end.min(at + len));
        (start < end).then(|| from + start - at..from + end - at)
    };
    let plain = row.laid.is_none().then(|| cut(row.text.start, row.text.len(), 0)).flatten();
    let mut from = 0;
    let laid = row.laid.iter().flatten().filter_map(move |piece| {
        let begin = from;
        from += piece.text.len();
        piece.source.then(|| cut(piece.at, piece.text.len(), begin)).flatten()
    });
    plain.into_iter().chain(laid)
}

/// The hits of the search in a row, as bytes of the block.
fn hits(canvas: &Canvas<'_>, state: &State, row: &Row) -> Vec<(Range<usize>, Style)> {
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
        marks.push((range.clone(), canvas.style(role)));
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
