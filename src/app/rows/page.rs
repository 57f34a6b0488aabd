//! A view as a list of lines, laid out in columns: what is drawn, moved through, filtered and clicked is the same list.
//! A view is one function from the state to a [`Page`], named in [`page`]; everything else is common to all of them.

use std::sync::Arc;

use super::diff::{self, DiffRows};
use super::{blocks, compare, injectors, ledger, lints, log, orders, recording, steps, what_if, zones};
use crate::app::action::Action;
use crate::app::cells;
use crate::app::effect::TextPlace;
use crate::app::state::{State, View};
use crate::app::views::Form;
use crate::core::fact::Name;
use crate::core::fix::Fix;
use crate::core::wire::{CallNo, MessageId};
use crate::io::edit::bench::ChangedLine;

/// What a piece of text is on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ink {
    /// Ordinary text.
    #[default]
    Text,
    /// Text of less weight.
    Dim,
    /// A label or a heading.
    Label,
    /// Nothing is lost.
    Good,
    /// Lost, stale, swallowed.
    Bad,
    /// Superseded, crossing.
    Warn,
    /// Other bytes than before.
    Changed,
    /// Text that a layer put into a message.
    Injected,
}

/// A column of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// True for numbers, which end at its right edge.
    pub right: bool,
    /// True for the column that takes what the others leave; one of each page.
    pub rest: bool,
    /// True when its cells can be opened; where no column says so, lines are opened whole.
    pub opens: bool,
    /// Which columns give way on a narrow screen: the highest goes first, 0 always stays.
    pub rank: u8,
}

/// A cell of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// What it is.
    pub ink: Ink,
}

/// What Enter does on a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Goal {
    /// Nothing.
    #[default]
    Nothing,
    /// Shows or hides the lines that hang on this one.
    Fold,
    /// Opens the text behind the line, where it is written.
    Text,
    /// Makes a change that was proposed.
    Mend(Fix),
    /// To the bytes of a layer in the shown request.
    Layer(Name),
    /// To what a layer (or another author) wrote in what a call was sent; none for where the call differs first.
    Call {
        /// The call.
        call: CallNo,
        /// The message; none for wherever the layer writes.
        message: Option<MessageId>,
        /// The layer.
        layer: Option<Name>,
    },
    /// To another model of cache zones.
    Lane(usize),
    /// A change is tried out, and then made.
    Fix(Fix),
    /// An action.
    Do(Action),
    /// Makes a change that was tried.
    Happen(Arc<str>),
    /// Opens the text behind the line.
    Edit,
    /// Shows or hides what is known by this key.
    Turn(Arc<str>),
    /// To a message in one of the three forms of the ledger.
    Stored {
        /// The message.
        message: MessageId,
        /// The form.
        form: Form,
        /// Whose part of it is meant; none for its beginning.
        author: Option<Name>,
    },
}

/// A line of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// What it is, so that the selection finds it again after something happened. Unique in its page, or empty.
    pub key: Arc<str>,
    /// How deep it hangs, in steps of two cells.
    pub depth: u16,
    /// Whether it can be folded, and if so, whether it is open.
    pub open: Option<bool>,
    /// True when its first cell runs over all columns.
    pub whole: bool,
    /// Its cells, one for each column; those that are missing are empty.
    pub cells: Vec<Cell>,
    /// What Enter does, for each column; the last stands for all behind it.
    pub goals: Vec<Goal>,
    /// The text behind it, which can be edited.
    pub text: Option<TextPlace>,
}

impl Line {
    /// A line under a key.
    #[must_use]
    pub fn new(key: impl Into<Arc<str>>) -> Line {
        Line { key: key.into(), ..Line::default() }
    }

    /// A line of one text.
    #[must_use]
    pub fn text(text: impl Into<String>, ink: Ink) -> Line {
        Line { whole: true, ..Line::default() }.cell(text, ink)
    }

    /// The cells in front of its text: its depth, and the sign of a fold.
    #[must_use]
    pub fn indent(&self) -> usize {
        usize::from(self.depth) * 2 + if self.open.is_some() { 2 } else { 0 }
    }

    /// A line that goes from a file or comes into it, or the place where such lines are.
    #[must_use]
    pub fn changed(line: &ChangedLine) -> Line {
        let ink = match line {
            ChangedLine::At(_) => Ink::Dim,
            ChangedLine::Old(_) => Ink::Bad,
            ChangedLine::New(_) => Ink::Good,
        };
        Line::text(format!("{}{}", line.sign(), line.text()), ink)
    }

    /// With one more cell.
    #[must_use]
    pub fn cell(mut self, text: impl Into<String>, ink: Ink) -> Line {
        self.cells.push(Cell { text: text.into(), ink });
        self
    }

    /// With what Enter does in one more column.
    #[must_use]
    pub fn goal(mut self, goal: Goal) -> Line {
        self.goals.push(goal);
        self
    }

    /// What Enter does in a column.
    #[must_use]
    pub fn goal_at(&self, column: usize) -> Goal {
        self.goals.get(column).or(self.goals.last()).cloned().unwrap_or_default()
    }

    /// True where one comes to rest: it is known by a key, and a key of the keyboard does something with it. Lines
    /// without one go on with the line above, or only say something.
    fn stops(&self) -> bool {
        let opens = self.goals.iter().any(|goal| *goal != Goal::Nothing);
        !self.key.is_empty() && (opens || self.text.is_some() || self.open.is_some())
    }

    /// The text of all its cells.
    fn words(&self) -> String {
        self.cells.iter().map(|cell| &*cell.text).collect::<Vec<_>>().join(" ")
    }
}

/// A word above several columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The columns.
    pub columns: std::ops::Range<usize>,
    /// What stands above them.
    pub text: String,
}

/// A view, laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What stands behind the title.
    pub note: String,
    /// What Enter does, in a word or two, for the footer.
    pub enter: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// What stands above the heads of columns; empty for nothing.
    pub groups: Vec<Group>,
    /// The lines.
    pub lines: Vec<Line>,
    /// The line to begin at: when the view is opened, and when another call is shown.
    pub start: Option<usize>,
    /// What is said where there are none.
    pub empty: String,
    /// True when a search hides the lines that it does not find; else it goes to the next one that it finds.
    pub filters: bool,
    /// For two requests side by side, what each line shows.
    pub diff: Option<Arc<DiffRows>>,
}

/// Cells between two columns.
pub const GAP: usize = 2;
/// The fewest cells of the column that takes the rest; other columns give way to it.
const REST: usize = 24;
/// Where fewer cells than these are left for a text, it is cut instead of broken.
const LEAST: usize = 16;

impl Page {
    /// The columns that fit into `width` cells, as index, first cell and cells.
    #[must_use]
    pub fn layout(&self, width: usize) -> Vec<(usize, usize, usize)> {
        let wants = |index: usize| {
            let own = self.lines.iter().filter(|line| !line.whole).filter_map(|line| line.cells.get(index));
            own.map(|cell| cells::width(&cell.text))
                .chain([cells::width(self.columns[index].head)])
                .max()
                .unwrap_or(0)
        };
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len())
            .map(|index| (index, if self.columns[index].rest { REST.min(width) } else { wants(index) }))
            .collect();
        let used = |shown: &[(usize, usize)]| {
            shown.iter().map(|(_, cells)| cells + GAP).sum::<usize>().saturating_sub(GAP)
        };
        // What stands above columns is read whole, also when only one of them is left.
        let below_groups = |shown: &[(usize, usize)]| {
            let mut shown = shown.to_vec();
            for group in &self.groups {
                let own: Vec<usize> =
                    (0..shown.len()).filter(|&at| group.columns.contains(&shown[at].0)).collect();
                let wide: usize = own.iter().map(|&at| shown[at].1 + GAP).sum::<usize>().saturating_sub(GAP);
                if let Some(&first) = own.first() {
                    shown[first].1 += cells::width(&group.text).saturating_sub(wide);
                }
            }
            shown
        };
        while used(&below_groups(&shown)) > width {
            let worst = (0..shown.len()).max_by_key(|&at| (self.columns[shown[at].0].rank, at));
            match worst.filter(|&at| self.columns[shown[at].0].rank > 0) {
                Some(at) => drop(shown.remove(at)),
                None => break,
            }
        }
        let shown = below_groups(&shown);
        let spare = width.saturating_sub(used(&shown));
        let mut from = 0;
        let mut out = Vec::with_capacity(shown.len());
        for (index, cells) in shown {
            let cells = if self.columns[index].rest { cells + spare } else { cells };
            let cells = cells.min(width.saturating_sub(from));
            out.push((index, from, cells));
            from += cells + GAP;
        }
        out
    }

    /// The line below (or above) at which one comes to rest next; none where there is no other.
    #[must_use]
    pub fn stop_from(&self, line: usize, down: bool) -> Option<usize> {
        let stops = |at: &usize| self.lines.get(*at).is_some_and(Line::stops);
        if down { (line + 1..self.lines.len()).find(stops) } else { (0..line).rev().find(stops) }
    }

    /// The line behind all that goes on with a line.
    #[must_use]
    pub fn end_of(&self, line: usize) -> usize {
        let more = self.lines.iter().skip(line + 1).take_while(|more| {
            more.key.is_empty() && more.cells.iter().any(|cell| !cell.text.trim().is_empty())
        });
        line + 1 + more.count()
    }

    /// Breaks what is too long for the column that takes the rest, at `width` cells. What continues a line opens the
    /// same.
    pub(super) fn wrap_rest(&mut self, width: usize) {
        let Some(&(rest, _, room)) = self.layout(width).iter().find(|(index, ..)| self.columns[*index].rest)
        else {
            return;
        };
        let mut out = Vec::with_capacity(self.lines.len());
        for mut line in std::mem::take(&mut self.lines) {
            let room = room.saturating_sub(line.indent());
            let cell = line.cells.get(rest).filter(|_| !line.whole).cloned();
            let Some(cell) = cell.filter(|cell| cells::width(&cell.text) > room && room >= LEAST) else {
                out.push(line);
                continue;
            };
            let mut rows = cells::wrap(&cell.text, room).into_iter();
            let pieces =
                rows.by_ref().map(|(range, hang)| format!("{:hang$}{}", "", cell.text[range].trim_end()));
            let pieces: Vec<String> = pieces.collect();
            let more = Line {
                key: "".into(),
                open: None,
                // What is in front of the text of the first line is not in front of these.
                depth: line.depth + u16::from(line.open.is_some()),
                cells: vec![Cell { ink: cell.ink, ..Cell::default() }; rest + 1],
                ..line.clone()
            };
            line.cells[rest].text.clone_from(&pieces[0]);
            out.push(line);
            out.extend(pieces.into_iter().skip(1).map(|piece| {
                let mut next = more.clone();
                next.cells[rest].text = piece;
                next
            }));
        }
        self.lines = out;
    }

    /// Keeps the lines that hold a text, and those that they hang on.
    fn filter(&mut self, text: &str) {
        let mut keep = vec![false; self.lines.len()];
        for at in 0..self.lines.len() {
            if crate::app::update::ranges(&self.lines[at].words(), text).next().is_none() {
                continue;
            }
            keep[at] = true;
            let mut depth = self.lines[at].depth;
            for above in (0..at).rev() {
                if depth == 0 {
                    break;
                }
                if self.lines[above].depth < depth {
                    depth = self.lines[above].depth;
                    keep[above] = true;
                }
            }
        }
        self.start = None;
        let mut kept = keep.into_iter();
        self.lines.retain(|_| kept.next().unwrap_or(false));
    }

    /// The columns that can be opened.
    #[must_use]
    pub fn open_columns(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&index| self.columns[index].opens).collect()
    }
}

/// The page of the view that fills the screen, as wide as in the last frame; an empty one for the panes.
#[must_use]
pub fn page(state: &State) -> Page {
    let mut page = match state.view {
        View::Main | View::Bytes => return Page::default(),
        View::Orders => orders::page(state),
        View::Ledger => ledger::page(state),
        View::Injectors => injectors::page(state),
        View::Log => log::page(state),
        View::Recording => recording::page(state),
        View::Blocks => blocks::page(state),
        View::Diff => diff::page(state),
        View::Lints => lints::page(state),
        View::Zones => zones::page(state),
        View::Compare => compare::page(state),
        View::WhatIf => what_if::page(state),
        View::Steps => steps::page(state),
    };
    let here = state.here();
    if !here.filter.is_empty() && page.filters {
        page.filter(&here.filter);
        if page.lines.is_empty() {
            page.empty = format!("nothing holds \"{}\"", here.filter);
        }
    }
    page
}

/// What a view says whose data is not there yet.
pub(super) fn not_yet(state: &State) -> String {
    if state.snapshot.title.name.is_empty() { "No bench is open." } else { "No call was prepared yet." }
        .to_owned()
}

/// Breaks lines of one text into as many as they need.
pub(super) struct Wrapped {
    cells: usize,
}

impl Wrapped {
    /// For the width of the last frame.
    pub(super) fn of(state: &State) -> Wrapped {
        Wrapped { cells: page_cells(state) }
    }

    /// Breaks those lines that run over all columns, at their last cell. What continues a line opens the same.
    pub(super) fn fold(&self, lines: Vec<Line>) -> Vec<Line> {
        let mut out = Vec::with_capacity(lines.len());
        for mut line in lines {
            let Some(last) = line.cells.last().filter(|_| line.whole).cloned() else {
                out.push(line);
                continue;
            };
            let front: usize =
                line.cells[..line.cells.len() - 1].iter().map(|cell| cells::width(&cell.text)).sum();
            let indent = line.indent() + front;
            // Where hardly anything is left beside what stands in front, lines are cut instead.
            let room = self.cells.saturating_sub(indent);
            if cells::width(&last.text) <= room || room < LEAST {
                out.push(line);
                continue;
            }
            let rows = cells::wrap(&last.text, room);
            let goals = line.goals.clone();
            let (text, depth) = (line.text.clone(), line.depth);
            let pad = " ".repeat(indent - usize::from(depth) * 2);
            for (index, (range, hang)) in rows.into_iter().enumerate() {
                let piece = last.text[range].trim_end();
                if index == 0 {
                    if let Some(cell) = line.cells.last_mut() {
                        piece.clone_into(&mut cell.text);
                    }
                    out.push(line.clone());
                } else {
                    let more = Line {
                        depth,
                        whole: true,
                        text: text.clone(),
                        goals: goals.clone(),
                        ..Line::default()
                    };
                    out.push(more.cell(format!("{pad}{:hang$}", ""), last.ink).cell(piece, last.ink));
                }
            }
        }
        out
    }
}

/// True when the page that was laid out last is still right, and making it anew would only take time.
#[must_use]
pub fn page_stands(state: &State) -> bool {
    diff::still(state)
}

/// The cells of a line of the view that fills the screen.
#[must_use]
pub fn page_cells(state: &State) -> usize {
    match state.metrics.view.0 {
        0 => 78,
        cells => usize::from(cells),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Page {
        let column = |head, right, rest, rank| Column { head, right, rest, opens: false, rank };
        Page {
            columns: vec![
                column("call", true, false, 0),
                column("what", false, true, 0),
                column("tokens", true, false, 1),
                column("bytes", true, false, 2),
            ],
            lines: vec![
                Line::new("a").cell("1", Ink::Text).cell("user: go", Ink::Text).cell("12", Ink::Text),
                Line { depth: 1, ..Line::new("b") }.cell("", Ink::Text).cell("cwd changed", Ink::Text),
                Line::new("c").cell("2", Ink::Text).cell("Read", Ink::Text),
            ],
            ..Page::default()
        }
    }

    #[test]
    fn columns_tile_the_width_and_give_way_by_rank() {
        let page = sample();
        for width in 0..120 {
            let layout = page.layout(width);
            let mut end = 0;
            for (at, (_, from, cells)) in layout.iter().enumerate() {
                assert!(from + cells <= width || *cells == 0, "{width}: {layout:?}");
                assert!(at == 0 || *from == end + GAP, "{width}: {layout:?}");
                end = from + cells;
            }
        }
        let shown = |width| page.layout(width).iter().map(|(index, ..)| *index).collect::<Vec<_>>();
        assert_eq!(shown(45), [0, 1, 2, 3]);
        assert_eq!(shown(44), [0, 1, 2]);
        assert_eq!(shown(36), [0, 1]);
        assert_eq!(shown(3), [0, 1]);
    }

    #[test]
    fn one_comes_to_rest_at_what_can_be_opened_and_not_at_what_goes_on_with_it() {
        let lint = |key: &str| Line::new(key).cell("lint", Ink::Text).goal(Goal::Text);
        let more = |text: &str| Line { depth: 1, ..Line::text(text, Ink::Dim) }.goal(Goal::Text);
        let page = Page {
            lines: vec![
                Line::text("a heading", Ink::Label),
                lint("f0"),
                more("what is said"),
                more("and where"),
                lint("f1"),
                Line::text("", Ink::Text),
                Line::text("a word at the end", Ink::Dim),
            ],
            ..Page::default()
        };
        assert_eq!(page.stop_from(0, true), Some(1));
        assert_eq!((page.stop_from(1, true), page.end_of(1)), (Some(4), 4));
        assert_eq!((page.stop_from(4, true), page.end_of(4)), (None, 5));
        assert_eq!((page.stop_from(6, false), page.stop_from(4, false)), (Some(4), Some(1)));
        assert_eq!(page.stop_from(1, false), None);
    }

    #[test]
    fn what_is_too_long_for_its_column_goes_on_below() {
        let mut page = sample();
        page.lines[0].cells[1].text = "the user says more than fits into the column of the page".into();
        page.wrap_rest(45);
        let texts: Vec<&str> = page.lines.iter().map(|line| &*line.cells[1].text).collect();
        assert_eq!(texts[..3], ["the user says more than", "  fits into the column", "  of the page"]);
        assert_eq!((&*page.lines[0].cells[0].text, &*page.lines[1].cells[0].text), ("1", ""));
        assert_eq!((page.lines[1].stops(), &*page.lines[3].key), (false, "b"));
    }

    #[test]
    fn a_filter_keeps_what_it_finds_and_what_that_hangs_on() {
        let mut page = sample();
        page.filter("CWD");
        assert!(page.lines.is_empty(), "upper case finds upper case only");
        let mut page = sample();
        page.filter("cwd");
        assert_eq!(page.lines.iter().map(|line| &*line.key).collect::<Vec<_>>(), ["a", "b"]);
    }
}
