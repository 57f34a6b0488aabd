//! The widget that edits, on a few lines around the cursor: it lays out all the text it is given at every key.

use tui_textarea::{CursorMove, TextArea};

use super::document::{Document, Line, Place};

/// How many bytes in front of the cursor and behind it the widget is given.
const REACH: usize = 4096;
/// And how many lines.
const LINES: usize = 64;

/// What the widget did to the text.
pub(super) struct Done {
    /// The lines that were changed, and what they are now; none where nothing was.
    pub change: Option<(std::ops::Range<usize>, Vec<Line>)>,
    /// Where the cursor is.
    pub cursor: Place,
}

/// Lets the widget do something at a place. `yank` is what it cut out last.
pub(super) fn edit(
    document: &Document,
    cursor: Place,
    yank: &mut String,
    work: impl FnOnce(&mut TextArea<'_>),
) -> Done {
    let (start, end) = (start_of(document, cursor), end_of(document, cursor));
    let head = &document.line(start.row)[..start.byte];
    let tail = &document.line(end.row)[end.byte..];
    let piece = |row: usize| {
        let line = document.line(row);
        let from = if row == start.row { start.byte } else { 0 };
        let to = if row == end.row { end.byte } else { line.len() };
        &line[from..to]
    };
    let mut area = TextArea::new((start.row..=end.row).map(|row| piece(row).to_owned()).collect());
    area.set_max_histories(0);
    area.set_hard_tab_indent((start.row..=end.row).any(|row| document.line(row).starts_with('\t')));
    area.set_yank_text(yank.as_str());
    let from = if cursor.row == start.row { start.byte } else { 0 };
    let column = document.line(cursor.row)[from..cursor.byte].chars().count();
    // The window is small enough for both.
    area.move_cursor(CursorMove::Jump((cursor.row - start.row) as u16, column as u16));
    work(&mut area);
    *yank = area.yank_text();

    let tui_textarea::DataCursor(row, column) = area.cursor();
    let mut new = area.into_lines();
    let byte = new[row].char_indices().nth(column).map_or(new[row].len(), |(byte, _)| byte);
    let cursor = Place { row: start.row + row, byte: byte + if row == 0 { head.len() } else { 0 } };
    if let Some(first) = new.first_mut() {
        first.insert_str(0, head);
    }
    if let Some(last) = new.last_mut() {
        last.push_str(tail);
    }
    let old = end.row + 1 - start.row;
    let most = old.min(new.len());
    let same = (0..most).take_while(|&at| new[at] == document.line(start.row + at)).count();
    let behind =
        (0..most - same).take_while(|&at| new[new.len() - 1 - at] == document.line(end.row - at)).count();
    if same == old && old == new.len() {
        return Done { change: None, cursor };
    }
    new.truncate(new.len() - behind);
    let lines = new.into_iter().skip(same).map(Line::typed).collect();
    Done { change: Some((start.row + same..end.row + 1 - behind, lines)), cursor }
}

fn start_of(document: &Document, cursor: Place) -> Place {
    let mut left = REACH;
    let mut at = cursor;
    for _ in 0..LINES {
        if at.byte > left {
            return document.clamp(Place { row: at.row, byte: at.byte - left });
        }
        left -= at.byte;
        if at.row == 0 {
            return Place::default();
        }
        at = Place { row: at.row - 1, byte: document.line(at.row - 1).len() };
    }
    Place { row: at.row + 1, byte: 0 }
}

fn end_of(document: &Document, cursor: Place) -> Place {
    let mut left = REACH;
    let mut at = cursor;
    for _ in 0..LINES {
        let line = document.line(at.row);
        if line.len() - at.byte > left {
            return document.clamp(Place { row: at.row, byte: at.byte + left });
        }
        left -= line.len() - at.byte;
        if at.row + 1 == document.len() {
            return document.end();
        }
        at = Place { row: at.row + 1, byte: 0 };
    }
    Place { row: at.row - 1, byte: document.line(at.row - 1).len() }
}
