//! Pane 3: the rows of a block. A position is a byte offset; rows are found from there in both directions without
//! laying out the rest of the text, so that a text of any length costs what is on the screen.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::laid::{self, Laid};
use crate::app::cells;
use crate::app::highlight::Sheet;
use crate::app::snapshot::BlockRow;
use crate::core::text::{Made, Span};

/// A row of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last one; the line feed is not part of it.
    pub end: usize,
    /// The bytes that are drawn; of a folded part its first line with text.
    pub text: Range<usize>,
    /// The part that it belongs to, an index into [`BlockRow::parts`].
    pub part: usize,
    /// True for the first row of its part, which carries the author.
    pub first: bool,
    /// True when it continues a line: it is drawn [`cells::HANG`] cells to the right.
    pub continues: bool,
    /// For a folded part the number of its lines.
    pub folded: Option<usize>,
    /// What is shown instead of the bytes, where they are laid out for reading.
    pub laid: Option<Vec<Laid>>,
    /// Where the next row begins; the length of the text at its end.
    pub next: usize,
}

/// Lines longer than this are broken at every multiple of it, in bytes of the block, so that rows in the middle of a
/// megabyte without a line feed are found without laying out what stands before them.
const STRIDE: usize = 8 * 1024;

/// The span that a row is about, with its first byte and the first of its bytes in the row: a fact in the row, which says
/// more than the template around it, else whatever stands first.
#[must_use]
pub fn span_in<'b>(block: &'b BlockRow, row: &Row) -> Option<(usize, usize, &'b Span)> {
    let spans = block.text.spans();
    let first = spans.partition_point(|span| span.end <= row.start);
    let mut start = first.checked_sub(1).map_or(0, |before| spans[before].end);
    let mut found = None;
    for span in &spans[first..] {
        if start >= row.end && found.is_some() {
            break;
        }
        let fact = matches!(span.origin.made, Made::Fact { .. });
        if found.is_none() || fact {
            found = Some((start, start.max(row.start), span));
        }
        if fact {
            break;
        }
        start = span.end;
    }
    found
}

/// How texts are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// As they are written.
    #[default]
    Text,
    /// As they are written, with everything that would not be seen written out.
    Raw,
    /// Laid out for reading.
    Rendered,
}

/// How the rows of a block are made.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The parts that are one row each.
    pub folded: &'a BTreeSet<usize>,
    /// The cells of a row.
    pub cells: u16,
    /// How texts are shown.
    pub look: Look,
    /// True when lines are broken where they are longer than a row.
    pub wrap: bool,
    /// True when separators in front of parts get no rows of their own.
    pub compact: bool,
    /// The parts laid out for reading, as far as they are; used with [`Look::Rendered`].
    pub sheets: &'a [Option<Arc<Sheet>>],
}

/// The rows of a block in a width.
#[derive(Clone, Copy, Debug)]
pub struct BlockRows<'a> {
    block: &'a BlockRow,
    folded: &'a BTreeSet<usize>,
    sheets: &'a [Option<Arc<Sheet>>],
    cells: usize,
    raw: bool,
    wrap: bool,
    compact: bool,
    stride: usize,
}

impl<'a> BlockRows<'a> {
    /// The rows of `block`.
    #[must_use]
    pub fn new(block: &'a BlockRow, reading: Reading<'a>) -> BlockRows<'a> {
        BlockRows {
            block,
            folded: reading.folded,
            sheets: if reading.look == Look::Rendered { reading.sheets } else { &[] },
            cells: usize::from(reading.cells).max(4),
            raw: reading.look == Look::Raw,
            wrap: reading.wrap,
            compact: reading.compact,
            stride: STRIDE,
        }
    }

    /// How a part is laid out for reading; none where its text is shown.
    fn sheet(&self, part: usize) -> Option<&'a Sheet> {
        self.sheets.get(part).and_then(Option::as_deref)
    }

    /// How many bytes go into a row.
    fn row_len(&self, text: &str, cells: usize) -> usize {
        if self.wrap { cells::row_len(text, cells, self.raw) } else { text.len() }
    }

    fn text(&self) -> &'a str {
        self.block.text.text()
    }

    /// The part that owns a byte; the last one for the end.
    #[must_use]
    pub fn part_at(&self, byte: usize) -> usize {
        let parts = &self.block.parts;
        parts.partition_point(|part| part.range.end <= byte).min(parts.len().saturating_sub(1))
    }

    /// The byte range of a part; the whole text where the block has no parts.
    fn range(&self, part: usize) -> Range<usize> {
        self.block.parts.get(part).map_or(0..self.text().len(), |part| {
            part.range.start.min(self.text().len())..part.range.end.min(self.text().len())
        })
    }

    /// Where the first row of a part begins. A line feed at its start only ends the row before it.
    fn first_row(&self, part: usize) -> usize {
        let text = self.text();
        let range = self.range(part);
        if self.compact && range.start > 0 {
            let own = &text[range.clone()];
            return range.start + own.len() - own.trim_start_matches('\n').len();
        }
        let ends_row =
            range.start > 0 && text[range.clone()].starts_with('\n') && !text[..range.start].ends_with('\n');
        range.start + usize::from(ends_row)
    }

    /// The row that begins at `at`, which is a character boundary; none at the end.
    #[must_use]
    pub fn row(&self, at: usize) -> Option<Row> {
        let text = self.text();
        if at >= text.len() {
            return (text.is_empty() && at == 0).then_some(Row {
                start: 0,
                end: 0,
                text: 0..0,
                part: 0,
                first: true,
                continues: false,
                folded: None,
                laid: None,
                next: 1,
            });
        }
        let part = self.part_at(at);
        if let Some(sheet) = self.sheet(part).filter(|_| !self.folded.contains(&part)) {
            return Some(self.laid_row(at, part, sheet));
        }
        let range = self.range(part);
        let first_row = self.first_row(part);
        // No row reaches further than two strides: in a line as long as that there is a forced break before.
        let window = range.end.min(self.break_at(at / self.stride + 3)).max(at);
        let rest = &text[at..window];
        let line_end = at + rest.find('\n').unwrap_or(rest.len());
        let first = at == first_row;
        let continues = !first && !text[..at].ends_with('\n');
        let indent = if continues { cells::HANG } else { 0 };
        if self.folded.contains(&part) {
            let own = &text[range.clone()];
            let lines = own.trim_matches('\n').split('\n').count();
            let from = range.start + own.len() - own.trim_start_matches('\n').len();
            let line = text[from..range.end].split('\n').next().unwrap_or_default();
            let shown = from..from + cells::row_len(line, self.cells, self.raw);
            let next = self.behind(range.end, !own.ends_with('\n'));
            let (first, continues, folded) = (true, false, Some(lines));
            return Some(Row {
                start: at,
                end: range.end,
                text: shown,
                part,
                first,
                continues,
                folded,
                laid: None,
                next,
            });
        }
        let mut end = at + self.row_len(&text[at..line_end], self.cells - indent);
        // A forced break inside the row ends it.
        let breaks = at / self.stride + 1..=end / self.stride + 1;
        let forced = breaks.map(|number| (number, self.break_at(number)));
        let mut inside = forced.filter(|&(_, byte)| byte > at && byte < end);
        if let Some((_, byte)) = inside.find(|&(number, _)| self.is_forced(number)) {
            end = byte;
        }
        let next = self.behind(end, end == line_end);
        Some(Row { start: at, end, text: at..end, part, first, continues, folded: None, laid: None, next })
    }

    /// The row that holds a byte of a part that is laid out.
    fn laid_row(&self, at: usize, part: usize, sheet: &Sheet) -> Row {
        let range = self.range(part);
        let text = &self.text()[range.clone()];
        let line = sheet.line_at(at - range.start);
        let cells = self.wrap.then_some(self.cells);
        let mut rows = laid::rows(sheet, line, text, cells);
        let number = rows.iter().rposition(|row| row.start <= at - range.start).unwrap_or(0);
        let own = rows.swap_remove(number);
        let next = match range.start + own.end {
            end if end < range.end => end,
            end => self.behind(end, !text.ends_with('\n')),
        };
        let mut end = range.start + own.end;
        if end > range.start + own.start && self.text()[..end].ends_with('\n') {
            end -= 1;
        }
        let start = range.start + own.start;
        let mut pieces = own.pieces;
        for piece in &mut pieces {
            piece.at += range.start;
        }
        Row {
            start,
            end,
            text: start..end,
            part,
            first: start <= self.first_row(part),
            continues: false,
            folded: None,
            laid: Some(pieces),
            next,
        }
    }

    /// Where the row after one that ends at `end` begins.
    fn behind(&self, end: usize, takes_line_feed: bool) -> usize {
        let mut next = end + usize::from(takes_line_feed && self.text()[end..].starts_with('\n'));
        // Separators take no rows of their own; a part may be nothing but one.
        while self.compact && next < self.text().len() {
            let part = self.part_at(next);
            let first = self.first_row(part);
            if next >= first {
                break;
            }
            next = first;
        }
        next
    }

    /// The rows from `at` on.
    pub fn from(self, at: usize) -> impl Iterator<Item = Row> + 'a {
        let mut at = self.floor(at);
        if at < self.text().len() && self.folded.contains(&self.part_at(at)) {
            at = self.first_row(self.part_at(at));
        }
        let mut next = Some(at);
        std::iter::from_fn(move || {
            let row = self.row(next?)?;
            next = Some(row.next);
            Some(row)
        })
    }

    /// The byte at or before `at` that is a character boundary inside the text.
    fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.text().len());
        while !self.text().is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// Where a multiple of the stride lies, moved to a character boundary.
    fn break_at(&self, number: usize) -> usize {
        self.floor(number.saturating_mul(self.stride))
    }

    /// True when rows are broken at this multiple of the stride: there was no line feed for a whole stride, and there is
    /// none at it, which would end the row anyway.
    fn is_forced(&self, number: usize) -> bool {
        if number == 0 {
            return false;
        }
        let (from, to) = (self.break_at(number - 1), self.break_at(number));
        !self.text()[from..to].contains('\n') && !self.text()[to..].starts_with('\n')
    }

    /// The last place at or before a byte from which rows can be laid out forward: the start of a line or of a part.
    fn anchor(&self, byte: usize) -> usize {
        let text = self.text();
        let mut byte = byte;
        loop {
            let part = self.part_at(byte);
            let (range, first) = (self.range(part), self.first_row(part));
            if first > byte && range.start > 0 {
                // The separator in front of the part ends the row before it.
                byte = self.floor(range.start - 1);
                continue;
            }
            if self.folded.contains(&part) {
                return first;
            }
            if let Some(sheet) = self.sheet(part) {
                return (range.start + sheet.lines[sheet.line_at(byte - range.start)].start).max(first);
            }
            // Within two strides there is a line feed or a forced break.
            let number = byte / self.stride;
            let near = (number.saturating_sub(2)..=number + 1).map(|number| (number, self.break_at(number)));
            let mut forced =
                near.filter(|&(number, at)| at <= byte && self.is_forced(number)).map(|(_, at)| at);
            let from = forced.next_back().unwrap_or_else(|| self.break_at(number.saturating_sub(2)));
            let line = text[from..byte].rfind('\n').map_or(from, |line_feed| from + line_feed + 1);
            return line.max(first);
        }
    }

    /// Where the row `count` rows before the row at `at` begins; the first row where there are fewer.
    #[must_use]
    pub fn back(&self, at: usize, count: usize) -> usize {
        let mut at = self.floor(at);
        let mut left = count;
        while left > 0 && at > 0 {
            let anchor = self.anchor(self.floor(at - 1));
            let starts: Vec<usize> =
                self.from(anchor).map(|row| row.start).take_while(|&start| start < at).collect();
            if starts.is_empty() {
                break;
            }
            let steps = left.min(starts.len());
            at = starts[starts.len() - steps];
            left -= steps;
        }
        at
    }

    /// Where the row `count` rows behind the row at `at` begins; the last row where there are fewer.
    #[must_use]
    pub fn forward(&self, at: usize, count: usize) -> usize {
        self.from(at).take(count.saturating_add(1)).last().map_or_else(|| self.last(), |row| row.start)
    }

    /// Where the first row begins.
    #[must_use]
    pub fn first(&self) -> usize {
        0
    }

    /// Where the last row begins.
    #[must_use]
    pub fn last(&self) -> usize {
        self.back(self.text().len(), 1)
    }

    /// A byte at which a row may begin, `at` itself where that is possible.
    #[must_use]
    pub fn near(&self, at: usize) -> usize {
        let at = self.floor(at);
        if at > 0 && at >= self.text().len() {
            return self.last();
        }
        let part = self.part_at(at);
        if self.folded.contains(&part) {
            return self.first_row(part).min(at);
        }
        match self.sheet(part) {
            Some(_) => self.row(at).map_or(at, |row| row.start),
            None => at,
        }
    }

    /// Where the row that holds a byte begins.
    #[must_use]
    pub fn row_of(&self, byte: usize) -> usize {
        if self.text().is_empty() {
            return 0;
        }
        let byte = self.floor(byte.min(self.text().len() - 1));
        let anchor = self.anchor(byte);
        self.from(anchor).map(|row| row.start).take_while(|&start| start <= byte).last().unwrap_or(anchor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::snapshot::{BlockChange, PartRow};
    use crate::core::fact::EventId;
    use crate::core::text::{Made, Traced};
    use crate::core::wire::BlockKind;

    fn block(parts: &[&str]) -> BlockRow {
        let mut rows = Vec::new();
        let mut at = 0;
        for (index, part) in parts.iter().enumerate() {
            rows.push(PartRow {
                author: format!("part {index}").into(),
                injected: index > 0,
                layer: None,
                range: at..at + part.len(),
                changed: false,
                cause: None,
            });
            at += part.len();
        }
        BlockRow {
            title: "message 4 (tool)".into(),
            kind: BlockKind::ToolResult,
            message: None,
            text: Traced::whole("x", parts.concat(), Made::Literal, EventId::OPENING),
            parts: rows,
            change: BlockChange::Same,
            tokens: None,
            injected: None,
            mark: None,
        }
    }

    fn reading(folded: &BTreeSet<usize>, cells: u16, compact: bool) -> Reading<'_> {
        Reading { folded, cells, look: Look::Text, wrap: true, compact, sheets: &[] }
    }

    fn shown(block: &BlockRow, folded: &[usize], cells: u16, compact: bool) -> Vec<String> {
        let folded = folded.iter().copied().collect();
        BlockRows::new(block, reading(&folded, cells, compact))
            .from(0)
            .map(|row| {
                let label = if row.first { row.part.to_string() } else { String::new() };
                let hang = if row.continues { "~" } else { "" };
                let fold = row.folded.map_or(String::new(), |lines| format!(" [{lines}]"));
                format!("{label}|{hang}{}{fold}", &block.text.text()[row.text])
            })
            .collect()
    }

    #[test]
    fn a_part_is_named_at_its_first_row() {
        let block = block(&["Changed directory", "\n\n<a>\nb\n</a>", "\n\n<c>"]);
        assert_eq!(
            shown(&block, &[], 40, false),
            ["0|Changed directory", "1|", "|<a>", "|b", "|</a>", "2|", "|<c>"]
        );
        assert_eq!(shown(&block, &[], 40, true), ["0|Changed directory", "1|<a>", "|b", "|</a>", "2|<c>"]);
        assert_eq!(shown(&block, &[1], 40, true), ["0|Changed directory", "1|<a> [3]", "2|<c>"]);
        assert_eq!(shown(&block, &[1], 40, false), ["0|Changed directory", "1|<a> [3]", "2|", "|<c>"]);
    }

    #[test]
    fn parts_may_begin_in_the_middle_of_a_line() {
        let block = block(&["path: ", "/home", "\n", "\nend\n"]);
        assert_eq!(shown(&block, &[], 40, false), ["0|path: ", "1|/home", "3|", "|end"]);
        assert_eq!(shown(&block, &[], 40, true), ["0|path: ", "1|/home", "3|end"]);
    }

    #[test]
    fn long_lines_wrap_with_a_hanging_indent() {
        let block = block(&["当前目录已切换为新的目录"]);
        assert_eq!(shown(&block, &[], 10, false), ["0|当前目录已", "|~切换为新", "|~的目录"]);
    }

    #[test]
    fn an_empty_block_has_one_row() {
        assert_eq!(shown(&block(&[]), &[], 10, false), ["0|"]);
        assert_eq!(shown(&block(&[""]), &[], 10, true), ["0|"]);
    }

    #[test]
    fn a_megabyte_without_a_line_end_can_be_moved_through() {
        let block = block(&[&"字".repeat(350_000)]);
        let folded = BTreeSet::new();
        let rows = BlockRows::new(&block, reading(&folded, 60, false));
        let last = rows.last();
        assert!(rows.row(last).is_some_and(|row| row.end == block.text.len()));
        assert_eq!(rows.forward(rows.back(last, 100), 100), last);
        let middle = rows.row_of(500_000);
        assert_eq!(rows.back(rows.forward(middle, 300), 300), middle);
    }

    proptest::proptest! {
        #[test]
        fn going_back_meets_the_rows_of_going_forward(
            parts in proptest::collection::vec("[ab 字\n]{0,12}", 1..6),
            fold in proptest::collection::btree_set(0usize..6, 0..3),
            cells in 4u16..12,
            compact: bool,
            stride in 4usize..40,
        ) {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let block = block(&parts);
            let rows = BlockRows { stride, ..BlockRows::new(&block, reading(&fold, cells, compact)) };
            let all: Vec<Row> = rows.from(0).take(200).collect();
            proptest::prop_assert!(all.len() < 200);
            for pair in all.windows(2) {
                proptest::prop_assert!(pair[0].start < pair[1].start, "{:?}", all);
            }
            let starts: Vec<usize> = all.iter().map(|row| row.start).collect();
            for (index, &start) in starts.iter().enumerate() {
                for count in 0..4 {
                    let want = starts[index.saturating_sub(count)];
                    proptest::prop_assert_eq!(rows.back(start, count), want, "back {} from {}: {:?}", count, start, all);
                    let want = starts[(index + count).min(starts.len() - 1)];
                    proptest::prop_assert_eq!(rows.forward(start, count), want);
                }
                proptest::prop_assert_eq!(rows.row_of(start), start, "{:?}", all);
            }
            if let Some(&last) = starts.last() {
                proptest::prop_assert_eq!(rows.last(), last, "{:?}", all);
            }
            // Unfolded and not compact, every byte that is no line feed is in exactly one row.
            if fold.is_empty() {
                let shown: usize = all.iter().map(|row| row.text.len()).sum();
                let text = block.text.text();
                proptest::prop_assert_eq!(shown, text.len() - text.matches('\n').count());
            }
        }
    }
}
