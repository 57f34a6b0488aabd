//! The editor of a text: its rows, and below them where the cursor is, how long the text is and what it would do.

use ratatui::layout::{Position, Rect};

use super::canvas::{Canvas, row_area};
use crate::app::editor::{Editor, Place, Row, Rows};
use crate::app::event::Target;
use crate::app::snapshot::{PlaceSize, Snapshot, Tone};
use crate::app::state::State;
use crate::core::bench::{Budget, BudgetUnit};
use crate::core::text::hidden;
use crate::core::text::number::grouped;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

/// Draws the editor and returns where the terminal's cursor belongs.
pub(super) fn draw(
    canvas: &mut Canvas<'_>,
    area: Rect,
    size: Size,
    state: &State,
    editor: &Editor,
) -> Option<Position> {
    canvas.regions.note(area, Target::Overlay);
    let about = editor.base.about();
    let mut notes: Vec<&str> = Vec::new();
    if editor.modified {
        notes.push("modified");
    }
    if !editor.base.exists() {
        notes.push("new file");
    }
    if editor.theirs.is_some() {
        notes.push("! changed outside");
    }
    if !about.is_empty() {
        notes.push(&about);
    }
    let file = format!(" {} ", editor.file);
    let notes = if notes.is_empty() { String::new() } else { format!(" {} ", notes.join(", ")) };
    let pieces = [(&*file, Role::BoxTitleFocus), (&*notes, Role::Dim)];
    let mut inner = match size {
        Size::Wide => canvas.boxed(area, &pieces, "", true),
        _ => canvas.ruled(area, &pieces, true),
    };
    if inner.width < 8 || inner.height == 0 {
        return None;
    }
    // The verdict has a place of its own only where there is room for one.
    let below = match size {
        Size::Wide => 0,
        _ => u16::try_from(state.snapshot.verdict.len()).unwrap_or(0).min(2),
    };
    let below = below.min(inner.height.saturating_sub(4));
    for (index, line) in state.snapshot.verdict.iter().take(usize::from(below)).enumerate() {
        let y = inner.bottom() - below + index as u16;
        let role = tone(line.tone);
        let used = canvas.text(inner.x + 1, y, inner.width - 1, &line.label, Role::Label);
        let text = line.short.as_ref().unwrap_or(&line.text);
        canvas.text(inner.x + used + 2, y, (inner.width - 1).saturating_sub(used + 2), text, role);
    }
    inner.height -= below;
    if inner.height > 1 {
        inner.height -= 1;
        status(canvas, Rect { y: inner.bottom(), height: 1, ..inner }, state, editor);
    }
    text(canvas, inner, state, editor)
}

fn tone(tone: Tone) -> Role {
    match tone {
        Tone::Plain => Role::Text,
        Tone::Good => Role::Good,
        Tone::Bad => Role::Bad,
    }
}

fn text(canvas: &mut Canvas<'_>, area: Rect, state: &State, editor: &Editor) -> Option<Position> {
    let digits = editor.document.len().to_string().len().max(3);
    let gutter = u16::try_from(digits + 2).unwrap_or(5).min(area.width / 2);
    let first = Rows::new(&editor.document, usize::from(area.width - gutter).max(1)).of(editor.top).row;
    canvas.regions.seen = first..first;
    let (cursor, end) = lines(canvas, area, gutter, state, editor);
    canvas.regions.seen.end = end;
    cursor
}

/// Draws a text that is in no file: without numbers of lines, and what the panes show is still what is seen.
pub(super) fn typed(canvas: &mut Canvas<'_>, area: Rect, state: &State, editor: &Editor) -> Option<Position> {
    lines(canvas, area, 0, state, editor).0
}

/// Draws the rows of a text, with numbers in `gutter` cells. Returns where the cursor is, and the line behind the last.
fn lines(
    canvas: &mut Canvas<'_>,
    area: Rect,
    gutter: u16,
    state: &State,
    editor: &Editor,
) -> (Option<Position>, usize) {
    let x = area.x + gutter;
    let width = area.width - gutter;
    canvas.regions.metrics.editor = (width, area.height);
    let rows = Rows::new(&editor.document, width.into());
    let on = rows.of(editor.cursor);
    let selected = editor.selected();
    let mut cursor = None;
    let mut end = rows.of(editor.top).row;
    for (index, row) in rows.from(editor.top).take(usize::from(area.height)).enumerate() {
        end = row.row + 1;
        let place = row_area(area, index);
        if row.start == 0 && gutter > 0 {
            let number = (row.row + 1).to_string();
            let role = if row.row == editor.cursor.row { Role::Text } else { Role::Dim };
            canvas.right(area.x, x - 1, place.y, &number, role);
        }
        let hang = u16::try_from(row.hang).unwrap_or(0);
        let line = &editor.document.line(row.row)[row.start..row.end];
        let classes = state.paints.of_row(editor, row.row, row.start..row.end);
        let classes = classes.into_iter().map(|(range, class)| (range, canvas.syntax(class, false)));
        let found = found(editor, &row).map(|range| (range, canvas.style(Role::Search)));
        let hidden = hidden::find(line).map(|(at, c)| (at..at + c.len_utf8(), canvas.style(Role::Hidden)));
        let chosen = selected.and_then(|(start, end)| in_row(&row, start, end));
        let chosen = chosen.map(|range| (range, canvas.style(Role::Selected)));
        let marks: Vec<_> = classes.chain(hidden).chain(chosen).chain(found).collect();
        let style = canvas.style(Role::Text);
        let room = width.saturating_sub(hang);
        let used = canvas.prompt((x + hang, place.y, room), line, (false, 0), style, &marks);
        // A line end that is selected has a cell of its own.
        let ends = row.end == editor.document.line(row.row).len();
        if ends
            && used < room
            && selected.is_some_and(|(start, end)| start.row <= row.row && row.row < end.row)
        {
            canvas.paint(Rect { x: x + hang + used, width: 1, ..place }, Role::Selected);
        }
        canvas
            .regions
            .note(Rect { x, width, ..place }, Target::EditorRow { line: row.row, start: row.start, cell: 0 });
        if row == on {
            let column = u16::try_from(rows.column(row, editor.cursor.byte)).unwrap_or(0);
            cursor = Some(Position::new(x + column.min(width - 1), place.y));
        }
    }
    (cursor.filter(|_| state.overlays.is_empty()), end)
}

/// What of a row is selected, as a range of it.
fn in_row(row: &Row, start: Place, end: Place) -> Option<std::ops::Range<usize>> {
    let from = if start.row < row.row { row.start } else { start.byte };
    let to = if end.row > row.row { row.end } else { end.byte };
    let there = start.row <= row.row && row.row <= end.row;
    let (from, to) = (from.clamp(row.start, row.end), to.clamp(row.start, row.end));
    (there && from < to).then(|| from - row.start..to - row.start)
}

/// What was found in a row, as ranges of it.
fn found<'e>(editor: &'e Editor, row: &Row) -> impl Iterator<Item = std::ops::Range<usize>> + use<'e> {
    let (start, end) = (row.start, row.end);
    let line = editor.document.line(row.row);
    editor.find.iter().flat_map(move |find| {
        // As far around the row as what is looked for reaches; a line may be long.
        let around = find.text.len();
        let mut from = start.saturating_sub(around);
        let mut to = (end + around).min(line.len());
        while !line.is_char_boundary(from) {
            from -= 1;
        }
        while !line.is_char_boundary(to) {
            to += 1;
        }
        find.in_line(&line[from..to])
            .map(move |range| {
                (range.start + from).clamp(start, end) - start..(range.end + from).clamp(start, end) - start
            })
            .filter(|range| !range.is_empty())
    })
}

/// Where the cursor is, how long the text is, and whether what is shown is this text.
fn status(canvas: &mut Canvas<'_>, area: Rect, state: &State, editor: &Editor) {
    let line = editor.document.line(editor.cursor.row);
    let column = line.get(..editor.cursor.byte).map_or(0, |before| before.chars().count());
    let mut x = area.x + 1;
    let mut say = |canvas: &mut Canvas<'_>, text: &str, role: Role| {
        if !text.is_empty() {
            x += canvas.text(x, area.y, area.right().saturating_sub(x), text, role) + 3;
        }
    };
    say(canvas, &format!("{}:{}", editor.cursor.row + 1, column + 1), Role::Text);
    say(canvas, &format!("{} chars", grouped(editor.document.chars() as u64)), Role::Text);
    let chosen = editor.selected_chars();
    if chosen > 0 {
        say(canvas, &format!("{} selected", grouped(chosen as u64)), Role::Changed);
    }
    let (size, over) = layer(&state.snapshot, editor);
    say(canvas, &size, if over { Role::Bad } else { Role::Dim });
    let (size, over) = place(&state.snapshot, editor);
    say(canvas, &size, if over { Role::Bad } else { Role::Dim });
    let (shown, role) = shown(state, editor);
    say(canvas, &shown, role);
}

/// The layer's own length, with what its author allows it; true when it is longer.
fn layer(snapshot: &Snapshot, editor: &Editor) -> (String, bool) {
    let row = snapshot.layers.rows.iter().find(|row| editor.layer.as_ref() == Some(&row.id));
    let Some(row) = row else { return (String::new(), false) };
    let chars = grouped(row.chars);
    let Some(Budget { unit, limit }) = row.budget else {
        return (format!("{} {chars} chars", row.shown), false);
    };
    let now = match unit {
        BudgetUnit::Chars => Some(row.chars),
        BudgetUnit::Tokens => row.tokens_alone,
    };
    match now {
        Some(now) => beside(&row.shown, now, unit, limit),
        // Tokens come a moment later than the text.
        None => (format!("{} {chars} chars", row.shown), false),
    }
}

/// The size of the place that the layer stands in, where that has a budget; true when it is larger.
fn place(snapshot: &Snapshot, editor: &Editor) -> (String, bool) {
    let row = snapshot.layers.rows.iter().find(|row| editor.layer.as_ref() == Some(&row.id));
    let place = row.and_then(|row| snapshot.places.iter().find(|place| *place.place == *row.place));
    match place {
        Some(PlaceSize { place, size: Some(size), budget: Budget { unit, limit } }) => {
            beside(place, *size, *unit, *limit)
        }
        _ => (String::new(), false),
    }
}

/// A size beside what is allowed; true when it is larger.
fn beside(name: &str, now: u64, unit: BudgetUnit, limit: usize) -> (String, bool) {
    let limit = limit as u64;
    let unit = match unit {
        BudgetUnit::Chars => "chars",
        BudgetUnit::Tokens => "tokens",
    };
    let size = grouped(now);
    if now > limit {
        let over = grouped(now - limit);
        return (format!("{name} {size} {unit}, ! {over} over its budget"), true);
    }
    (format!("{name} {size} of {} {unit}", grouped(limit)), false)
}

/// Whether the numbers on the screen are those of this text.
fn shown(state: &State, editor: &Editor) -> (String, Role) {
    let opened = state.snapshot.opened.as_ref().filter(|opened| opened.no == editor.no);
    if let Some(problem) = opened.and_then(|opened| opened.problem.as_ref()) {
        return (format!("! {problem}"), Role::Bad);
    }
    if editor.saving.is_some() {
        return ("saving".to_owned(), Role::Dim);
    }
    match opened.and_then(|opened| opened.draft.as_ref()) {
        Some(draft) if draft.problem.is_some() => {
            (format!("! {}", draft.problem.as_deref().unwrap_or_default()), Role::Bad)
        }
        Some(draft) if draft.serial == editor.serial => ("verdict of this draft".to_owned(), Role::Good),
        _ if editor.modified => ("verdict follows".to_owned(), Role::Dim),
        _ => (String::new(), Role::Dim),
    }
}
