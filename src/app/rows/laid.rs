//! The rows of a line that is laid out for reading.

use crate::app::cells;
use crate::app::highlight::{Class, Sheet};

/// Some text of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laid {
    /// The byte that it shows or stands for.
    pub at: usize,
    /// What is shown.
    pub text: Box<str>,
    /// True when it is the source's bytes from [`Laid::at`] on; false for a bullet or the space that aligns a column.
    pub source: bool,
    /// What it is.
    pub class: Option<Class>,
}

/// A row of a line; its bytes go from `start` to `end`.
#[derive(Debug)]
pub(super) struct LaidRow {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) pieces: Vec<Laid>,
}

/// The rows of a line of a sheet, at least one, in `cells` cells; none for as many as it takes. They tile its bytes.
pub(super) fn rows(sheet: &Sheet, number: usize, text: &str, cells: Option<usize>) -> Vec<LaidRow> {
    let Some(line) = sheet.lines.get(number) else {
        return vec![LaidRow { start: 0, end: text.len(), pieces: Vec::new() }];
    };
    let line_end = sheet.end_of(number, text.len());
    let mut shown = String::new();
    // For each piece where it begins in what is shown.
    let mut pieces: Vec<(usize, Laid)> = Vec::new();
    for piece in sheet.pieces_of(number) {
        let own = piece.own.as_deref().unwrap_or_else(|| &text[piece.source.clone()]);
        let laid = Laid {
            at: piece.source.start,
            text: own.into(),
            source: piece.own.is_none(),
            class: piece.class,
        };
        pieces.push((shown.len(), laid));
        shown.push_str(own);
    }
    let mut rows: Vec<LaidRow> = Vec::new();
    let mut at = 0;
    loop {
        let hang = if at == 0 { 0 } else { line.hang };
        let end = match cells {
            Some(cells) if line.breaks => {
                let hang = if hang * 2 < cells { hang } else { 0 };
                at + cells::row_len(&shown[at..], (cells - hang).max(2), false)
            }
            _ => shown.len(),
        };
        let start = match rows.last() {
            None => Some(line.start),
            // A row begins with a byte of its own; what is only there for the eye has none.
            Some(before) => first_byte(&pieces, at, end).filter(|start| *start > before.start),
        };
        let mut own = cut(&pieces, at, end);
        match (start, rows.last_mut()) {
            (Some(start), last) => {
                if let Some(last) = last {
                    last.end = start;
                }
                if hang > 0 {
                    let text = " ".repeat(hang).into();
                    own.insert(0, Laid { at: start, text, source: false, class: None });
                }
                rows.push(LaidRow { start, end: line_end, pieces: own });
            }
            (None, Some(last)) => last.pieces.extend(own),
            (None, None) => {}
        }
        if end >= shown.len() {
            return rows;
        }
        at = end;
    }
}

/// The first byte of the source that is shown between two places of what is shown.
fn first_byte(pieces: &[(usize, Laid)], from: usize, to: usize) -> Option<usize> {
    pieces.iter().find_map(|(start, piece)| {
        let (first, last) = ((*start).max(from), (start + piece.text.len()).min(to));
        (piece.source && first < last).then(|| piece.at + first - start)
    })
}

/// The pieces between two places of what is shown.
fn cut(pieces: &[(usize, Laid)], from: usize, to: usize) -> Vec<Laid> {
    let cut = pieces.iter().filter_map(|(start, piece)| {
        let (first, last) = ((*start).max(from), (start + piece.text.len()).min(to));
        let text = piece.text.get(first.checked_sub(*start)?..last.checked_sub(*start)?)?;
        let at = if piece.source { piece.at + first - start } else { piece.at };
        (!text.is_empty()).then(|| Laid { at, text: text.into(), ..piece.clone() })
    });
    cut.collect()
}
