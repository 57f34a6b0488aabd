//! The rows of the text on the screen: lines wrapped at the width of the editor. One function for drawing and for moving.

use unicode_segmentation::UnicodeSegmentation;

use super::document::{Document, Place};
use crate::app::cells::{self, HANG};

/// Lines longer than this are broken at every multiple of it, in bytes, so that the rows in the middle of a megabyte
/// without a line end are found without laying out what stands before them.
const STRIDE: usize = 8 * 1024;

/// A row on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its line.
    pub row: usize,
    /// Its first byte in the line.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// The cells that are left empty in front of it.
    pub hang: usize,
}

/// The rows of a text in a width.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    document: &'a Document,
    cells: usize,
}

impl<'a> Rows<'a> {
    /// The rows of `document` in `cells` cells.
    #[must_use]
    pub fn new(document: &'a Document, cells: usize) -> Rows<'a> {
        Rows { document, cells: cells.max(4) }
    }

    /// The row that begins at a place.
    fn row(&self, at: Place) -> Row {
        let line = self.document.line(at.row);
        let hang = if at.byte > 0 && self.cells > HANG * 2 { HANG } else { 0 };
        let stop = floor(line, (stride_of(line, at.byte) + 1) * STRIDE);
        // The cursor behind the last character has a cell of its own.
        let end = at.byte + cells::row_len(&line[at.byte..stop.max(at.byte)], self.cells - 1 - hang, false);
        Row { row: at.row, start: at.byte, end, hang }
    }

    /// The rows of a part of a line that is laid out by itself.
    fn part(&self, row: usize, stride: usize) -> impl Iterator<Item = Row> + use<'_, 'a> {
        let line = self.document.line(row);
        let stop = floor(line, (stride + 1) * STRIDE);
        let mut next = Some(Place { row, byte: floor(line, stride * STRIDE) });
        std::iter::from_fn(move || {
            let row = self.row(next?);
            next = (row.end < stop && row.end > row.start).then_some(Place { byte: row.end, ..next? });
            Some(row)
        })
    }

    /// The row that holds a place.
    #[must_use]
    pub fn of(&self, place: Place) -> Row {
        let line = self.document.line(place.row);
        let mut stride = stride_of(line, place.byte);
        // The end of a line that ends at a stride stands behind its last row.
        if stride > 0 && place.byte == line.len() && place.byte == floor(line, stride * STRIDE) {
            stride -= 1;
        }
        let mut rows = self.part(place.row, stride);
        let mut found = Row { row: place.row, start: 0, end: 0, hang: 0 };
        while let Some(row) = rows.next().filter(|row| row.start <= place.byte) {
            found = row;
        }
        found
    }

    /// The row behind one; none for the last.
    #[must_use]
    pub fn after(&self, row: Row) -> Option<Row> {
        if row.end < self.document.line(row.row).len() {
            return Some(self.row(Place { row: row.row, byte: row.end }));
        }
        let next = row.row + 1;
        (next < self.document.len()).then(|| self.row(Place { row: next, byte: 0 }))
    }

    /// The row in front of one; none for the first.
    #[must_use]
    pub fn before(&self, row: Row) -> Option<Row> {
        if row.start > 0 {
            return Some(
                self.of(Place { row: row.row, byte: previous(self.document.line(row.row), row.start) }),
            );
        }
        let above = row.row.checked_sub(1)?;
        Some(self.of(Place { row: above, byte: self.document.line(above).len() }))
    }

    /// The rows from the one that holds a place.
    pub fn from(self, place: Place) -> impl Iterator<Item = Row> + 'a {
        let mut next = Some(self.of(place));
        std::iter::from_fn(move || {
            let row = next?;
            next = self.after(row);
            Some(row)
        })
    }

    /// The row some rows above or below one; the first or the last where there are not so many.
    #[must_use]
    pub fn moved(&self, mut row: Row, by: isize) -> Row {
        if by >= 0 {
            for _ in 0..by {
                let Some(next) = self.after(row) else { break };
                row = next;
            }
            return row;
        }
        let mut left = by.unsigned_abs();
        while left > 0 {
            // Where the rows of a long line begin is known from the start of its part only, which is laid out once and not
            // once for each of them.
            let stride = stride_of(self.document.line(row.row), row.start);
            let above: Vec<Row> =
                self.part(row.row, stride).take_while(|above| above.start < row.start).collect();
            if let Some(at) = above.len().checked_sub(left) {
                return above[at];
            }
            left -= above.len();
            row = above.first().copied().unwrap_or(row);
            let Some(before) = self.before(row) else { break };
            (row, left) = (before, left - 1);
        }
        row
    }

    /// The cell of a row at which a place of it stands, the cells in front of the row included.
    #[must_use]
    pub fn column(&self, row: Row, byte: usize) -> usize {
        let line = self.document.line(row.row);
        let mut column = 0;
        for (at, grapheme) in line[row.start..row.end.max(row.start)].grapheme_indices(true) {
            if row.start + at >= byte {
                break;
            }
            column += cells::shown(grapheme, column, false).1;
        }
        row.hang + column
    }

    /// The byte of a row that stands at a cell or right in front of it.
    #[must_use]
    pub fn byte_at(&self, row: Row, cell: usize) -> usize {
        let line = self.document.line(row.row);
        let mut column = row.hang;
        let mut last = row.start;
        for (at, grapheme) in line[row.start..row.end].grapheme_indices(true) {
            last = row.start + at;
            let (_, wide) = cells::shown(grapheme, column - row.hang, false);
            if column + wide > cell {
                return last;
            }
            column += wide;
        }
        // Behind the last character of a row that goes on is the next row.
        if row.end < line.len() { last } else { row.end }
    }
}

/// The number of the part of a line that a byte is laid out in; parts begin at character boundaries.
fn stride_of(line: &str, byte: usize) -> usize {
    let number = byte / STRIDE;
    let next = (number + 1) * STRIDE;
    if next <= line.len() && floor(line, next) == byte { number + 1 } else { number }
}

/// The byte at or in front of `at` that is a character boundary.
fn floor(line: &str, at: usize) -> usize {
    let mut at = at.min(line.len());
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The grapheme in front of a byte.
pub(super) fn previous(line: &str, byte: usize) -> usize {
    // Graphemes are short; a line may be long.
    let from = floor(line, byte.saturating_sub(256));
    line[from..byte].grapheme_indices(true).next_back().map_or(0, |(at, _)| from + at)
}

/// The byte behind the grapheme at a byte.
pub(super) fn next(line: &str, byte: usize) -> usize {
    let to = floor(line, byte + 256);
    line[byte..to].graphemes(true).next().map_or(line.len(), |grapheme| byte + grapheme.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::io::edit::Original;

    fn document(text: &str) -> Document {
        Document::new(&Original::of(text.as_bytes()).expect("text"))
    }

    #[test]
    fn a_long_line_is_laid_out_where_it_is_looked_at() {
        let text = format!("first\n{}\nlast", "word ".repeat(200_000));
        let document = document(&text);
        let rows = Rows::new(&document, 40);
        let row = rows.of(Place { row: 1, byte: 500_000 });
        assert!(row.start <= 500_000 && row.end > 500_000);
        let below = rows.moved(row, 30);
        assert_eq!(rows.moved(below, -30), row);
        assert_eq!(rows.moved(rows.of(Place { row: 2, byte: 0 }), -1).end, 1_000_000);
    }

    #[test]
    fn many_rows_up_are_one_row_up_many_times() {
        let wide = "目录与规则 and more 🙂 of it e\u{301}\t".repeat(800);
        let document = document(&format!("a\n\n{wide}\nb\n{}\n{wide}", "x".repeat(2 * STRIDE)));
        for cells in [9, 40, 200] {
            let rows = Rows::new(&document, cells);
            let all: Vec<Row> = rows.from(Place::default()).collect();
            for (number, row) in all.iter().enumerate().rev().step_by(61) {
                for by in [1, 2, 57, 300, all.len()] {
                    let want = all[number.saturating_sub(by)];
                    assert_eq!(rows.moved(*row, -(by as isize)), want, "{by} up from {number} in {cells}");
                }
            }
        }
    }

    proptest! {
        /// Rows tile the text, going down and up is the same, and every place has its cell.
        #[test]
        fn rows_tile_the_text(text in "(a|你|🙂|e\u{301}| |\t|\n){0,120}", cells in 6usize..20) {
            let document = document(&text);
            let rows = Rows::new(&document, cells);
            let all: Vec<Row> = rows.from(Place::default()).collect();
            let (mut line, mut byte) = (0, 0);
            for row in &all {
                if row.row != line {
                    prop_assert_eq!(byte, document.line(line).len());
                    (line, byte) = (line + 1, 0);
                }
                prop_assert_eq!((row.row, row.start), (line, byte));
                byte = row.end;
                let end = rows.column(*row, row.end);
                prop_assert!(end < cells || document.line(row.row)[row.start..row.end].graphemes(true).count() == 1
                    || document.line(row.row)[..row.end].ends_with(' '), "{end} of {cells}");
            }
            prop_assert_eq!((line, byte), (document.len() - 1, document.line(line).len()));
            for pair in all.windows(2) {
                prop_assert_eq!(rows.before(pair[1]), Some(pair[0]));
                prop_assert_eq!(rows.after(pair[0]), Some(pair[1]));
            }
            for row in 0..document.len() {
                let line = document.line(row);
                for (byte, _) in line.grapheme_indices(true) {
                    let place = Place { row, byte };
                    let on = rows.of(place);
                    prop_assert_eq!(rows.byte_at(on, rows.column(on, byte)), byte);
                }
            }
        }
    }
}
