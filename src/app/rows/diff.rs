//! Two requests side by side, or one above the other where there is no room: their rows.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::page::{Column, Goal, Ink, Line, Page, page_cells};
use crate::app::cells;
use crate::app::diff::{DiffBlock, DiffRun, DiffText, DiffView};
use crate::app::state::{State, View};
use crate::core::diff::pairs::Pair;
use crate::core::text::hidden;

/// From so many cells on, the two stand side by side.
const BESIDE: usize = 114;
/// Equal lines that are shown around each difference.
const AROUND: usize = 2;

/// The rows of the two requests.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffRows {
    /// What they are of.
    pub of: Arc<DiffView>,
    /// The cells for authors and texts.
    pub widths: Widths,
    /// What each line of the page shows.
    pub rows: Vec<DiffRow>,
    /// The rows with which a difference begins.
    pub starts: Vec<usize>,
    cells: usize,
    turned: BTreeSet<Arc<str>>,
}

/// How the cells of a row are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    /// True when the two stand side by side.
    pub beside: bool,
    /// The cells of an author.
    pub author: usize,
    /// The cells of a text.
    pub text: usize,
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub enum DiffRow {
    /// The name of a block, and what is with it.
    Block(String, Ink),
    /// Equal lines or blocks that are not shown, or are shown below because they were asked for.
    Fold(String),
    /// A row of a line of the older text, of the newer one, or of both side by side.
    Text {
        /// The block.
        block: usize,
        /// Of the older text.
        old: Option<Half>,
        /// Of the newer text.
        new: Option<Half>,
    },
}

/// A row of a line of one of the texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Half {
    /// Its bytes in the text.
    pub bytes: Range<usize>,
    /// The cells that are left empty in front of it.
    pub hang: usize,
    /// Who wrote it, where that was not said right above.
    pub author: Option<Arc<str>>,
    /// True for text that a layer put into a message.
    pub injected: bool,
    /// True for a line that differs.
    pub changed: bool,
    /// The bytes in it that differ; none where the whole line does.
    pub marks: Vec<Range<usize>>,
    /// True when spaces or characters that nobody sees are what differs: they are written out.
    pub raw: bool,
    /// True when the text ends here without a line feed, and that is a difference.
    pub no_end: bool,
}

/// True when the page that was laid out last is still right.
pub(super) fn still(state: &State) -> bool {
    state.view == View::Diff
        && state.page_of == View::Diff
        && match (&state.page.diff, &state.snapshot.diff) {
            (Some(rows), Some(view)) => {
                Arc::ptr_eq(&rows.of, view)
                    && rows.cells == page_cells(state)
                    && rows.turned == state.here().turned
            }
            _ => false,
        }
}

/// The page.
pub(super) fn page(state: &State) -> Page {
    let Some(view) = &state.snapshot.diff else {
        let empty = if state.block().is_none() { "there is no request to compare" } else { "comparing" };
        return Page { empty: empty.to_owned(), columns: columns(), ..Page::default() };
    };
    let cells = page_cells(state);
    let turned = &state.here().turned;
    let mut made = Made::new(view, cells);
    let mut at = 0;
    while at < view.blocks.len() {
        let same = view.blocks[at..].iter().take_while(|block| block.is_same()).count();
        if same > 0 {
            made.same_blocks(at..at + same, turned);
            at += same;
        } else {
            made.block(at, turned);
            at += 1;
        }
    }
    let note = match view.count {
        0 => format!("{} -> {}: no difference", view.old, view.new),
        1 => format!("{} -> {}: 1 difference, by {}", view.old, view.new, view.authors.join(", ")),
        count => format!("{} -> {}: {count} differences, by {}", view.old, view.new, view.authors.join(", ")),
    };
    let start = made.starts.first().copied();
    let rows = DiffRows {
        of: view.clone(),
        widths: made.widths,
        rows: made.rows,
        starts: made.starts,
        cells,
        turned: turned.clone(),
    };
    Page {
        groups: Vec::new(),
        note,
        enter: "its bytes",
        columns: columns(),
        lines: made.lines,
        start,
        empty: String::new(),
        filters: false,
        diff: Some(Arc::new(rows)),
    }
}

fn columns() -> Vec<Column> {
    vec![Column { rest: true, ..Column::default() }]
}

struct Made<'v> {
    view: &'v DiffView,
    widths: Widths,
    rows: Vec<DiffRow>,
    lines: Vec<Line>,
    starts: Vec<usize>,
    /// True while a block is laid out of which only one text ends with a line feed.
    ends_differ: bool,
    /// The authors that stand right above, of the older and the newer text.
    said: [Option<Arc<str>>; 2],
}

impl<'v> Made<'v> {
    fn new(view: &'v DiffView, cells: usize) -> Made<'v> {
        let beside = cells >= BESIDE;
        let room = if beside { (cells - 1) / 2 } else { cells };
        let author = match room {
            80.. => 18,
            56.. => 15,
            40.. => 10,
            _ => 0,
        };
        // A sign and a gap stand between the author and the text.
        let text = room.saturating_sub(author + 3).max(4);
        let widths = Widths { beside, author, text };
        Made {
            view,
            widths,
            rows: Vec::new(),
            lines: Vec::new(),
            starts: Vec::new(),
            ends_differ: false,
            said: [None, None],
        }
    }

    fn push(&mut self, row: DiffRow, line: Line) {
        self.rows.push(row);
        self.lines.push(line);
    }

    /// A row that is folded or unfolded by Enter; true when it is open.
    fn fold(&mut self, key: String, text: String, turned: &BTreeSet<Arc<str>>) -> bool {
        let open = turned.contains(&*key);
        // No sign in front of it: `+` and `-` say whose a line is.
        let text = format!("[{text}{}]", if open { ", shown" } else { "" });
        let line = Line { whole: true, open: Some(open), ..Line::new(key) };
        self.push(DiffRow::Fold(text.clone()), line.cell(text, Ink::Dim).goal(Goal::Fold));
        self.said = [None, None];
        open
    }

    fn heading(&mut self, number: usize, words: &str, ink: Ink) {
        let block = &self.view.blocks[number];
        let text =
            if words.is_empty() { block.title.to_string() } else { format!("{}, {words}", block.title) };
        let line = Line { whole: true, ..Line::new(format!("block {number}")) }.cell(text.clone(), ink);
        let goal = self.goal(number, None, true);
        self.push(DiffRow::Block(text, ink), line.goal(goal));
        self.said = [None, None];
    }

    fn same_blocks(&mut self, blocks: Range<usize>, turned: &BTreeSet<Arc<str>>) {
        let lines = |at: usize| self.view.blocks[at].new.as_ref().map_or(0, |text| text.lines.len());
        let all: usize = blocks.clone().map(lines).sum();
        let title = &self.view.blocks[blocks.start].title;
        let text = match blocks.len() {
            1 => format!("{title}: {}", unchanged(all)),
            count => {
                let last = &self.view.blocks[blocks.end - 1].title;
                format!("{count} unchanged blocks, {title} to {last}, {all} lines")
            }
        };
        if self.fold(format!("blocks {}", blocks.start), text, turned) {
            for number in blocks {
                self.heading(number, "unchanged", Ink::Dim);
                self.runs(number, turned);
            }
        }
    }

    fn block(&mut self, number: usize, turned: &BTreeSet<Arc<str>>) {
        let block = &self.view.blocks[number];
        let (words, ink) = match (&block.old, &block.new) {
            (Some(_), None) => (format!("only in {}", self.view.old), Ink::Bad),
            (None, Some(_)) => (format!("only in {}", self.view.new), Ink::Injected),
            _ => (String::new(), Ink::Label),
        };
        self.heading(number, &words, ink);
        self.runs(number, turned);
    }

    fn runs(&mut self, number: usize, turned: &BTreeSet<Arc<str>>) {
        let block = &self.view.blocks[number];
        self.ends_differ = match (&block.old, &block.new) {
            (Some(old), Some(new)) => old.ends != new.ends,
            _ => false,
        };
        let count = block.runs.len();
        for (at, run) in block.runs.iter().enumerate() {
            match run {
                DiffRun::Same { old, new, len } => {
                    let before = if at == 0 { 0 } else { AROUND };
                    let behind = if at + 1 == count { 0 } else { AROUND };
                    let left_out = len.saturating_sub(before + behind);
                    // One line takes no more room than saying that it is left out.
                    let whole = left_out <= 1;
                    let lines = |made: &mut Made<'v>, from: usize, to: usize| {
                        (from..to).for_each(|line| made.same_line(number, block, old + line, new + line));
                    };
                    if whole {
                        lines(self, 0, *len);
                        continue;
                    }
                    lines(self, 0, before);
                    if self.fold(format!("run {number} {at}"), unchanged(left_out), turned) {
                        lines(self, before, before + left_out);
                    }
                    lines(self, before + left_out, *len);
                }
                DiffRun::Changed(pairs) => {
                    let start = self.rows.len();
                    self.changed(number, block, pairs);
                    if self.rows.len() > start {
                        self.starts.push(start);
                    }
                }
            }
        }
    }

    fn same_line(&mut self, number: usize, block: &DiffBlock, old: usize, new: usize) {
        let right = self.halves(1, block.new.as_ref(), Some((new, &[])), None);
        let left = if self.widths.beside {
            self.halves(0, block.old.as_ref(), Some((old, &[])), None)
        } else {
            Vec::new()
        };
        self.beside(number, left, right);
    }

    fn changed(&mut self, number: usize, block: &DiffBlock, pairs: &[Pair]) {
        let mut at = 0;
        while at < pairs.len() {
            let pair = &pairs[at];
            let (mut old, mut new) = (pair.old.as_ref(), pair.new.as_ref());
            at += 1;
            if self.widths.beside && new.is_none() {
                // Lines that are no pair stand beside each other all the same: the old ones come first.
                let rest = pairs[at..].iter();
                let olds = 1 + rest.clone().take_while(|pair| pair.new.is_none()).count();
                let news = rest.skip(olds - 1).take_while(|pair| pair.old.is_none()).count();
                for row in 0..olds.max(news) {
                    old = if row < olds { pairs[at - 1 + row].old.as_ref() } else { None };
                    new = if row < news { pairs[at - 1 + olds + row].new.as_ref() } else { None };
                    self.pair(number, block, old, new);
                }
                at += olds - 1 + news;
                continue;
            }
            self.pair(number, block, old.take(), new.take());
        }
    }

    fn pair(
        &mut self,
        number: usize,
        block: &DiffBlock,
        old: Option<&(usize, Vec<Range<usize>>)>,
        new: Option<&(usize, Vec<Range<usize>>)>,
    ) {
        let raw = [(&block.old, old), (&block.new, new)].into_iter().any(|(text, line)| {
            let (Some(text), Some((line, marks))) = (text, line) else { return false };
            let own = &text.text[text.lines[*line].clone()];
            hidden::find(own).next().is_some()
                || marks.iter().any(|mark| own[mark.clone()].trim().is_empty())
                || own.trim().len() < own.len() && old.is_some() && new.is_some() && marks.is_empty()
        });
        fn part(side: &(usize, Vec<Range<usize>>)) -> (usize, &[Range<usize>]) {
            (side.0, &side.1)
        }
        let left = self.halves(0, block.old.as_ref(), old.map(part), Some(raw));
        let right = self.halves(1, block.new.as_ref(), new.map(part), Some(raw));
        if self.widths.beside {
            self.beside(number, left, right);
        } else {
            self.beside(number, left, Vec::new());
            self.beside(number, Vec::new(), right);
        }
    }

    /// Rows of the older and the newer text, one beside the other.
    fn beside(&mut self, number: usize, left: Vec<Half>, right: Vec<Half>) {
        let rows = left.len().max(right.len());
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        for _ in 0..rows {
            let (old, new) = (left.next(), right.next());
            let block = &self.view.blocks[number];
            let words = |text: &Option<DiffText>, half: &Option<Half>| match (text, half) {
                (Some(text), Some(half)) => text.text[half.bytes.clone()].to_owned(),
                _ => String::new(),
            };
            let key = match (&old, &new) {
                (_, Some(new)) => format!("{number} + {}", new.bytes.start),
                (Some(old), None) => format!("{number} - {}", old.bytes.start),
                (None, None) => String::new(),
            };
            let goal = match (&old, &new) {
                (_, Some(new)) => self.goal(number, Some(new), true),
                (old, None) => self.goal(number, old.as_ref(), false),
            };
            let text = words(&block.new, &new);
            let text = if text.is_empty() { words(&block.old, &old) } else { text };
            let line = Line { whole: true, ..Line::new(key) }.cell(text, Ink::Text).goal(goal);
            self.push(DiffRow::Text { block: number, old, new }, line);
        }
    }

    /// The bytes that a row is about.
    fn goal(&self, number: usize, half: Option<&Half>, new: bool) -> Goal {
        let block = &self.view.blocks[number];
        let text = if new { block.new.as_ref() } else { block.old.as_ref() };
        let call = if new { Some(self.view.new_call) } else { self.view.old_call };
        let (Some(text), Some(call)) = (text, call) else { return Goal::Nothing };
        let byte = half.map_or(0, |half| half.marks.first().map_or(half.bytes.start, |mark| mark.start));
        let layer = text.part_at(byte).map(|part| part.layer.clone().unwrap_or_else(|| part.author.clone()));
        Goal::Call { call, message: text.message, layer }
    }

    /// The rows of a line of one text; `raw` is none for an equal line.
    fn halves(
        &mut self,
        side: usize,
        text: Option<&DiffText>,
        line: Option<(usize, &[Range<usize>])>,
        raw: Option<bool>,
    ) -> Vec<Half> {
        let (Some(text), Some((number, marks))) = (text, line) else {
            self.said[side] = None;
            return Vec::new();
        };
        let line = text.lines[number].clone();
        let (changed, raw) = (raw.is_some(), raw.unwrap_or(false));
        let last = number + 1 == text.lines.len();
        let marks: Vec<Range<usize>> =
            marks.iter().map(|mark| line.start + mark.start..line.start + mark.end).collect();
        let mut out = Vec::new();
        let mut at = line.start;
        loop {
            let hang = if at > line.start && self.widths.text > cells::HANG * 2 { cells::HANG } else { 0 };
            let end = at + cells::row_len(&text.text[at..line.end], self.widths.text - hang, raw);
            // Who wrote what differs says more than who wrote the beginning of the line.
            let own: Vec<Range<usize>> =
                marks.iter().filter(|mark| mark.start < end && mark.end > at).cloned().collect();
            let part = text.part_at(own.first().map_or(at, |mark| mark.start.max(at)));
            let author = part.map(|part| part.author.clone());
            let news = author != self.said[side];
            self.said[side].clone_from(&author);
            out.push(Half {
                bytes: at..end,
                hang,
                author: author.filter(|_| news),
                injected: part.is_some_and(|part| part.injected),
                changed,
                marks: own,
                raw,
                no_end: changed && last && !text.ends && self.ends_differ && end >= line.end,
            });
            at = end;
            if at >= line.end {
                return out;
            }
        }
    }
}

fn unchanged(lines: usize) -> String {
    match lines {
        1 => "1 unchanged line".to_owned(),
        lines => format!("{lines} unchanged lines"),
    }
}
