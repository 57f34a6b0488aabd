//! A text laid out for reading, in lines that still know their bytes. How wide the screen is comes later.

use std::ops::Range;

use super::{Canvas, Class};

/// Lines longer than this, in bytes, are not laid out: their text is shown as it is.
pub(super) const LONGEST: usize = 16 * 1024;

/// A text laid out for reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The lines. Each owns the bytes from its start to the start of the next one; the first starts at 0.
    pub lines: Vec<Line>,
    /// The pieces of all lines, in order.
    pub pieces: Vec<Piece>,
}

/// A line of a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its first byte.
    pub start: usize,
    /// Its pieces, as indices.
    pub pieces: Range<usize>,
    /// How many cells the rows are indented in which it goes on.
    pub hang: usize,
    /// False for a line that is cut rather than broken: a row of a table.
    pub breaks: bool,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The bytes that it shows, or stands for.
    pub source: Range<usize>,
    /// What is shown instead of these bytes: a bullet, the space that aligns a column.
    pub own: Option<Box<str>>,
    /// What it is.
    pub class: Option<Class>,
}

impl Sheet {
    /// The line that owns a byte.
    #[must_use]
    pub fn line_at(&self, byte: usize) -> usize {
        self.lines.partition_point(|line| line.start <= byte).saturating_sub(1)
    }

    /// Where the bytes of a line end, in a text of `len` bytes.
    #[must_use]
    pub fn end_of(&self, line: usize, len: usize) -> usize {
        self.lines.get(line + 1).map_or(len, |next| next.start)
    }

    /// The pieces of a line.
    #[must_use]
    pub fn pieces_of(&self, line: usize) -> &[Piece] {
        self.lines.get(line).map_or(&[], |line| &self.pieces[line.pieces.clone()])
    }

    /// Begins a line; what is added from here on is its.
    pub(super) fn begin(&mut self, start: usize) {
        let at = self.pieces.len();
        self.lines.push(Line { start, pieces: at..at, hang: 0, breaks: true });
    }

    /// Sets how the line that was begun last goes on.
    pub(super) fn goes_on(&mut self, hang: usize, breaks: bool) {
        if let Some(line) = self.lines.last_mut() {
            (line.hang, line.breaks) = (hang, breaks);
        }
    }

    fn push(&mut self, piece: Piece) {
        self.pieces.push(piece);
        if let Some(line) = self.lines.last_mut() {
            line.pieces.end = self.pieces.len();
        }
    }

    /// Adds text that is not in the source, standing for some bytes of it or none.
    pub(super) fn own(&mut self, source: Range<usize>, text: impl Into<Box<str>>, class: Option<Class>) {
        let own: Box<str> = text.into();
        if !own.is_empty() {
            self.push(Piece { source, own: Some(own), class });
        }
    }

    /// Adds bytes of the source, in pieces of one class; without those in `left_out`.
    pub(super) fn source(&mut self, range: Range<usize>, canvas: &Canvas, left_out: &[bool]) {
        let mut at = range.start;
        while at < range.end {
            let key = |byte: usize| (canvas.0[byte], left_out.get(byte).copied().unwrap_or(false));
            let first = key(at);
            let end = (at + 1..range.end).find(|&byte| key(byte) != first).unwrap_or(range.end);
            if !first.1 {
                self.push(Piece { source: at..end, own: None, class: canvas.at(at) });
            }
            at = end;
        }
    }
}
