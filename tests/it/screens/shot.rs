//! What a terminal shows of a frame: the bytes that are written go through a terminal emulator.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io;
use std::rc::Rc;

use plywood::app::state::State;
use plywood::tui::present::present;
use plywood::tui::regions::Regions;
use plywood::tui::theme::{Depth, Theme};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

/// Where the terminal writes, for the emulator to take.
#[derive(Clone, Default)]
struct Wire(Rc<RefCell<Vec<u8>>>);

impl io::Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal of a fixed size, its emulator, and what it was sent.
pub(crate) struct Shot {
    terminal: Terminal<CrosstermBackend<Wire>>,
    wire: Wire,
    emulator: vt100::Parser,
    theme: Theme,
    pub(crate) regions: Regions,
}

impl Shot {
    pub(crate) fn new(width: u16, height: u16) -> Shot {
        Shot::themed(width, height, "ansi")
    }

    pub(crate) fn themed(width: u16, height: u16, theme: &str) -> Shot {
        Shot::in_depth(width, height, theme, Depth::Sixteen)
    }

    /// On a terminal of so many colours.
    pub(crate) fn in_depth(width: u16, height: u16, theme: &str, depth: Depth) -> Shot {
        // Whatever NO_COLOR says where the tests run: crossterm would leave colours out by itself.
        crossterm::style::force_color_output(true);
        let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
        let wire = Wire::default();
        let terminal =
            Terminal::with_options(CrosstermBackend::new(wire.clone()), TerminalOptions { viewport });
        Shot {
            terminal: terminal.expect("a terminal in memory"),
            wire,
            emulator: vt100::Parser::new(cells(height), cells(width), 0),
            theme: Theme::built_in(theme, depth).expect("a built-in theme"),
            regions: Regions::default(),
        }
    }

    /// Draws as the driver does. Returns how many bytes were written for cells: without those that end every frame
    /// and those that hide, show or move the cursor.
    pub(crate) fn draw(&mut self, state: &mut State) -> usize {
        let theme = &self.theme;
        let regions = &mut self.regions;
        self.terminal.draw(|frame| *regions = present(state, theme, frame)).expect("a frame");
        let bytes = self.wire.0.take();
        self.emulator.process(&bytes);
        let text = String::from_utf8(bytes).expect("frames are text");
        text.replace("\u{1b}[39m\u{1b}[49m\u{1b}[59m\u{1b}[0m", "")
            .replace("\u{1b}[?25l", "")
            .replace("\u{1b}[?25h", "")
            .len()
    }

    /// Rows and columns.
    fn size(&self) -> (u16, u16) {
        let (height, width) = self.emulator.screen().size();
        (height.into(), width.into())
    }

    /// The rows as text, without spaces at their ends.
    pub(crate) fn text(&self) -> String {
        let (_, width) = self.size();
        let rows: Vec<String> =
            self.emulator.screen().rows(0, width).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// For each row the styles in it, as `from-to style`; rows in one plain style are left out.
    pub(crate) fn styles(&self) -> String {
        let screen = self.emulator.screen();
        let (height, width) = self.size();
        let mut out = String::new();
        for y in 0..height {
            let mut runs: Vec<(u16, u16, String)> = Vec::new();
            for x in 0..width {
                let Some(cell) = screen.cell(y, x) else { continue };
                let mut style = String::new();
                for (on, word) in [
                    (cell.bold(), "bold"),
                    (cell.dim(), "dim"),
                    (cell.underline(), "underlined"),
                    (cell.inverse(), "reversed"),
                ] {
                    if on {
                        style.push_str(word);
                        style.push(' ');
                    }
                }
                for (color, word) in [(cell.fgcolor(), "fg"), (cell.bgcolor(), "bg")] {
                    if let vt100::Color::Idx(index) = color {
                        let _ = write!(style, "{word}{index} ");
                    }
                }
                match runs.last_mut() {
                    Some((_, end, last)) if *last == style => *end = x,
                    _ => runs.push((x, x, style)),
                }
            }
            let runs: Vec<String> = runs
                .into_iter()
                .filter(|(.., style)| !style.is_empty())
                .map(|(from, to, style)| format!("{from}-{to} {}", style.trim_end()))
                .collect();
            if !runs.is_empty() {
                let _ = writeln!(out, "{y:>2}: {}", runs.join(", "));
            }
        }
        out
    }

    /// A letter for the style of each cell, row by row, and what each letter stands for. The style of most cells is a dot.
    pub(crate) fn letters(&self) -> String {
        let screen = self.emulator.screen();
        let (height, width) = self.size();
        let styles: Vec<Vec<String>> = (0..height)
            .map(|y| {
                let mut row: Vec<String> = Vec::new();
                for cell in (0..width).filter_map(|x| screen.cell(y, x)) {
                    // The second cell of a wide character has no style of its own.
                    let own = row.last().filter(|_| cell.is_wide_continuation()).cloned();
                    row.push(own.unwrap_or_else(|| described(cell)));
                }
                row
            })
            .collect();
        let mut known: Vec<(&str, usize)> = Vec::new();
        for style in styles.iter().flatten() {
            match known.iter_mut().find(|(one, _)| one == style) {
                Some((_, count)) => *count += 1,
                None => known.push((style, 1)),
            }
        }
        let most = known.iter().max_by_key(|(_, count)| *count).map_or("", |(style, _)| *style);
        let rest: Vec<&str> = known.iter().map(|(style, _)| *style).filter(|style| *style != most).collect();
        let letter = |style: &str| match rest.iter().position(|one| *one == style) {
            None => '.',
            Some(at) => ('a'..='z').chain('A'..='Z').chain('0'..='9').nth(at).expect("few styles"),
        };
        let mut out = String::new();
        for row in &styles {
            let row: String = row.iter().map(|style| letter(style)).collect();
            let _ = writeln!(out, "{}", row.trim_end_matches('.'));
        }
        for style in std::iter::once(most).chain(rest.iter().copied()) {
            let _ = writeln!(out, "{} {style}", letter(style));
        }
        out
    }

    /// Where the terminal's cursor stands, as (column, row); none while it is hidden.
    pub(crate) fn cursor(&self) -> Option<(u16, u16)> {
        let screen = self.emulator.screen();
        let (row, column) = screen.cursor_position();
        (!screen.hide_cursor()).then_some((column, row))
    }

    /// The column, in cells, at which `text` stands in the first row that has it.
    pub(crate) fn column_of(&self, text: &str) -> Option<u16> {
        let screen = self.emulator.screen();
        let (height, width) = self.size();
        (0..height)
            .find_map(|y| (0..width).find(|&x| screen.contents_between(y, x, y, width).starts_with(text)))
    }

    /// The columns at which a one-cell symbol stands in a row.
    pub(crate) fn columns_of(&self, row: u16, symbol: &str) -> Vec<u16> {
        let screen = self.emulator.screen();
        (0..self.size().1)
            .filter(|&x| screen.cell(row, x).is_some_and(|cell| cell.contents() == symbol))
            .collect()
    }
}

/// The style of a cell: modifiers, the colour in front, the colour behind.
fn described(cell: &vt100::Cell) -> String {
    let color = |color| match color {
        vt100::Color::Default => "default".to_owned(),
        vt100::Color::Idx(index) => index.to_string(),
        vt100::Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    };
    let mut style = format!("{} on {}", color(cell.fgcolor()), color(cell.bgcolor()));
    for (on, word) in [
        (cell.bold(), " bold"),
        (cell.dim(), " dim"),
        (cell.italic(), " italic"),
        (cell.underline(), " underlined"),
        (cell.inverse(), " reversed"),
    ] {
        if on {
            style.push_str(word);
        }
    }
    style
}

fn cells(count: u16) -> std::num::NonZero<u16> {
    std::num::NonZero::new(count).expect("a terminal has cells")
}
