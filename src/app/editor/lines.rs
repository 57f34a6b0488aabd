//! Lines in pieces that copies share, so that a text of any size is handed to another thread, and edited on, without
//! being copied.

use std::ops::Range;
use std::sync::Arc;

use super::document::Line;

/// So many lines a piece has when it is made; one that has twice as many is divided.
const PIECE: usize = 256;

/// Lines, never none.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// None of them empty.
    pieces: Vec<Arc<Vec<Line>>>,
    /// The first line of each piece.
    starts: Vec<usize>,
    len: usize,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::new(Vec::new())
    }
}

impl PartialEq for Lines {
    fn eq(&self, other: &Lines) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Lines {
    /// These lines; an empty one where there are none.
    pub(super) fn new(lines: Vec<Line>) -> Lines {
        let mut new = Lines { pieces: pieces(lines), starts: Vec::new(), len: 0 };
        new.settle();
        new
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A line; the last one where there are not so many.
    pub(super) fn get(&self, row: usize) -> &Line {
        let row = row.min(self.len - 1);
        let piece = self.piece_of(row);
        &self.pieces[piece][row - self.starts[piece]]
    }

    /// All lines.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Line> {
        self.pieces.iter().flat_map(|piece| piece.iter())
    }

    /// Some of them.
    pub(super) fn range(&self, rows: Range<usize>) -> impl Iterator<Item = &Line> {
        let piece = self.piece_of(rows.start);
        let skip = rows.start - self.starts.get(piece).copied().unwrap_or(0);
        let rest = self.pieces[piece..].iter().flat_map(|piece| piece.iter());
        rest.skip(skip).take(rows.len())
    }

    /// Calls `f` with each line and its row.
    pub(super) fn each_mut(&mut self, mut f: impl FnMut(usize, &mut Line)) {
        let mut row = 0;
        for piece in &mut self.pieces {
            for line in Arc::make_mut(piece) {
                f(row, line);
                row += 1;
            }
        }
    }

    /// Puts lines in the place of others and gives those; an empty line where none is left.
    pub(super) fn splice(&mut self, rows: Range<usize>, new: Vec<Line>) -> Vec<Line> {
        let (first, last) = (self.piece_of(rows.start), self.piece_of(rows.end.max(rows.start + 1) - 1));
        let from = rows.start - self.starts[first];
        let taken;
        if first == last {
            let piece = Arc::make_mut(&mut self.pieces[first]);
            taken = piece.splice(from..from + rows.len(), new).collect();
            if piece.is_empty() || piece.len() > 2 * PIECE {
                let piece = std::mem::take(piece);
                self.pieces.splice(first..=first, pieces(piece));
            }
        } else {
            let mut all: Vec<Line> = Vec::new();
            for piece in self.pieces.drain(first..=last).collect::<Vec<_>>() {
                all.extend(Arc::unwrap_or_clone(piece));
            }
            taken = all.splice(from..from + rows.len(), new).collect();
            self.pieces.splice(first..first, pieces(all));
        }
        self.settle();
        taken
    }

    /// The piece that a row is in; the last one for the row behind all.
    fn piece_of(&self, row: usize) -> usize {
        self.starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// Counts anew, and leaves a line where there is none.
    fn settle(&mut self) {
        if self.pieces.is_empty() {
            self.pieces.push(Arc::new(vec![Line::typed(String::new())]));
        }
        self.starts.clear();
        self.len = 0;
        for piece in &self.pieces {
            self.starts.push(self.len);
            self.len += piece.len();
        }
    }
}

/// Lines in pieces; none for no lines.
fn pieces(lines: Vec<Line>) -> Vec<Arc<Vec<Line>>> {
    if lines.is_empty() {
        return Vec::new();
    }
    if lines.len() <= 2 * PIECE {
        return vec![Arc::new(lines)];
    }
    let mut pieces = Vec::with_capacity(lines.len() / PIECE + 1);
    let mut lines = lines.into_iter();
    loop {
        let piece: Vec<Line> = lines.by_ref().take(PIECE).collect();
        if piece.is_empty() {
            return pieces;
        }
        pieces.push(Arc::new(piece));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(numbers: Range<usize>) -> Vec<Line> {
        numbers.map(|number| Line::typed(number.to_string())).collect()
    }

    proptest! {
        /// They are what one list of lines is, and a copy made before an edit stays what it was.
        #[test]
        fn pieces_are_one_list(
            len in 0usize..2000,
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..900, 0usize..900), 0..8),
        ) {
            let mut list = lines(0..len);
            let mut pieces = Lines::new(list.clone());
            let mut next = len;
            for (at, remove, add) in edits {
                if list.is_empty() {
                    list.push(Line::typed(String::new()));
                }
                let (before, old) = (pieces.clone(), list.clone());
                let start = at.index(list.len() + 1);
                let end = (start + remove).min(list.len());
                let new = lines(next..next + add);
                next += add;
                let taken: Vec<Line> = list.splice(start..end, new.clone()).collect();
                prop_assert_eq!(pieces.splice(start..end, new), taken);
                prop_assert!(before.iter().eq(old.iter()));
            }
            if list.is_empty() {
                list.push(Line::typed(String::new()));
            }
            prop_assert_eq!(pieces.len(), list.len());
            prop_assert!(pieces.iter().eq(list.iter()));
            let half = list.len() / 3..list.len() / 2;
            prop_assert!(pieces.range(half.clone()).eq(list[half].iter()));
            for row in (0..list.len()).step_by(97) {
                prop_assert_eq!(pieces.get(row), &list[row]);
            }
            prop_assert_eq!(pieces.get(list.len() + 5), &list[list.len() - 1]);
        }
    }
}
