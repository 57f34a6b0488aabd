//! A frame's cells as runs: what stands side by side in one style, in characters of one width.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;

use super::colors::Ground;
use crate::core::text::width::width;

/// How a run looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// The colour of the letters, `#rrggbb`.
    pub front: String,
    /// The colour behind them.
    pub back: String,
    pub bold: bool,
    pub italic: bool,
    pub underlined: bool,
}

/// What kind of characters a run is made of: such as all take the same number of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing is to be seen.
    Blank,
    /// One character in one cell.
    Narrow,
    /// One character in two cells.
    Wide,
    /// Lines of boxes.
    Line,
    /// A cluster of characters; each is a run of its own.
    Cluster,
}

/// Cells side by side in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub row: usize,
    pub column: usize,
    /// How many cells it takes.
    pub cells: usize,
    pub text: String,
    pub look: Look,
    /// True for a single character, or cluster of them.
    pub single: bool,
    kind: Kind,
}

impl Run {
    /// True where there is no text to be seen.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.kind, Kind::Blank | Kind::Line)
    }

    /// True for lines of boxes.
    pub(super) fn is_line(&self) -> bool {
        self.kind == Kind::Line
    }
}

/// The runs of a frame, row by row; they tile it.
pub(super) fn of(buffer: &Buffer, ground: Ground) -> Vec<Run> {
    let area = buffer.area;
    let mut runs: Vec<Run> = Vec::new();
    for y in 0..area.height {
        let first = runs.len();
        let mut x = 0;
        while x < area.width {
            let cell = &buffer[(area.x + x, area.y + y)];
            let symbol = if cell.symbol().is_empty() { " " } else { cell.symbol() };
            let look = look(cell, ground);
            let (kind, cells) = kind(symbol, look.underlined);
            let cells = cells.clamp(1, usize::from(area.width - x));
            match runs.get_mut(first..).and_then(|row| row.last_mut()) {
                Some(last) if last.kind == kind && last.look == look && kind != Kind::Cluster => {
                    last.text.push_str(symbol);
                    last.cells += cells;
                    last.single = false;
                }
                _ => runs.push(Run {
                    row: usize::from(y),
                    column: usize::from(x),
                    cells,
                    text: symbol.to_owned(),
                    look,
                    single: true,
                    kind,
                }),
            }
            // A wide character covers the cells behind it, whatever they hold.
            x += u16::try_from(cells).unwrap_or(1);
        }
    }
    // One space between words of one style need not part them.
    joined(runs)
}

fn joined(runs: Vec<Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    for run in runs {
        let mergeable = match out.as_slice() {
            [.., before, space] => {
                let side_by_side = before.row == space.row && space.row == run.row;
                let words = before.kind == Kind::Narrow && run.kind == Kind::Narrow;
                let looks = before.look == space.look && space.look == run.look;
                side_by_side && words && looks && space.kind == Kind::Blank && space.cells == 1
            }
            _ => false,
        };
        if mergeable {
            out.pop();
            if let Some(before) = out.last_mut() {
                before.text.push(' ');
                before.text.push_str(&run.text);
                before.cells += 1 + run.cells;
                before.single = false;
            }
        } else {
            out.push(run);
        }
    }
    out
}

fn look(cell: &Cell, ground: Ground) -> Look {
    let has = |modifier| cell.modifier.contains(modifier);
    let (front, back) = ground.cell(cell.fg, cell.bg, has(Modifier::DIM), has(Modifier::REVERSED));
    Look {
        front,
        back,
        bold: has(Modifier::BOLD),
        italic: has(Modifier::ITALIC),
        underlined: has(Modifier::UNDERLINED),
    }
}

/// What a symbol is, and the cells that it takes.
fn kind(symbol: &str, underlined: bool) -> (Kind, usize) {
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        (Some(' '), None) if !underlined => (Kind::Blank, 1),
        (Some(c), None) if super::lines::arms(c).is_some() => (Kind::Line, 1),
        (Some(_), None) => match width(symbol) {
            1 => (Kind::Narrow, 1),
            2 => (Kind::Wide, 2),
            other => (Kind::Cluster, other),
        },
        _ => (Kind::Cluster, width(symbol)),
    }
}
