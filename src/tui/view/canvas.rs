//! What every view draws with: text in cells, clipped to its area.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;

use crate::app::cells;
use crate::app::event::Target;
use crate::app::highlight::Class;
use crate::app::state::{Pane, State};
use crate::tui::regions::Regions;
use crate::tui::theme::{Role, Theme};

/// The buffer of a frame, with the theme and what is noted for the mouse.
pub(super) struct Canvas<'a> {
    pub buffer: &'a mut Buffer,
    pub theme: &'a Theme,
    pub regions: &'a mut Regions,
}

impl Canvas<'_> {
    pub(super) fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Writes text from a cell on, cut to `width` cells (`..` where something was cut). Returns the cells it took.
    pub(super) fn text(&mut self, x: u16, y: u16, width: u16, text: &str, role: Role) -> u16 {
        let style = self.style(role);
        self.styled(x, y, width, text, style)
    }

    /// The same with a style.
    pub(super) fn styled(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) -> u16 {
        let area = self.buffer.area;
        if y < area.top() || y >= area.bottom() || x >= area.right() || width == 0 {
            return 0;
        }
        let width = width.min(area.right() - x);
        let (text, used) = cells::fit(text, usize::from(width));
        self.buffer.set_stringn(x, y, &text, usize::from(width), style);
        u16::try_from(used).unwrap_or(width)
    }

    /// Writes text that ends before the cell `right`.
    pub(super) fn right(&mut self, left: u16, right: u16, y: u16, text: &str, role: Role) -> u16 {
        let room = right.saturating_sub(left);
        let wide = u16::try_from(cells::width(text)).unwrap_or(room).min(room);
        self.text(right.saturating_sub(wide), y, wide, text, role)
    }

    /// The style of a class. In text whose colour says who wrote it, or that it changed, only the weight is taken: what a
    /// text is made of never hides its author.
    pub(super) fn syntax(&self, class: Class, authored: bool) -> Style {
        let style = self.style(syntax_role(class));
        if authored { Style { fg: None, bg: None, ..style } } else { style }
    }

    /// Writes a slice of prompt text, `raw` or not and without its first `skip` cells, with the ranges in `marks` (of the slice) styled; of several that
    /// fit, later ones lie above earlier ones. Returns the cells it took.
    pub(super) fn prompt(
        &mut self,
        (x, y, width): (u16, u16, u16),
        text: &str,
        (raw, skip): (bool, usize),
        style: Style,
        marks: &[(std::ops::Range<usize>, Style)],
    ) -> u16 {
        let area = self.buffer.area;
        if y < area.top() || y >= area.bottom() || x < area.left() {
            return 0;
        }
        let mut passed = 0;
        let mut column = 0;
        for (at, grapheme) in text.grapheme_indices(true) {
            let (piece, wide) = cells::shown(grapheme, passed, raw);
            if passed < skip {
                passed += wide;
                // A wide character half in sight leaves its other half empty.
                column = passed.saturating_sub(skip);
                continue;
            }
            if column + wide > usize::from(width) {
                break;
            }
            let end = at + grapheme.len();
            let marked = marks.iter().filter(|(range, _)| range.start < end && range.end > at);
            let mut style = marked.fold(style, |style, (_, mark)| style.patch(*mark));
            let piece = if raw && grapheme == " " {
                style = style.patch(self.style(Role::SyntaxMark));
                Cow::Borrowed("·")
            } else {
                piece
            };
            let left = x + u16::try_from(column).unwrap_or(width);
            match &piece {
                // The common case, without measuring the grapheme a second time.
                Cow::Borrowed(symbol) if wide > 0 && left < self.buffer.area.right() => {
                    self.buffer[(left, y)].set_symbol(symbol).set_style(style);
                    for covered in left + 1..(left + wide as u16).min(self.buffer.area.right()) {
                        self.buffer[(covered, y)].reset();
                    }
                }
                _ => drop(self.styled(left, y, width - (left - x), &piece, style)),
            }
            passed += wide;
            column += wide;
        }
        u16::try_from(column).unwrap_or(width)
    }

    /// Lays a style over an area.
    pub(super) fn paint(&mut self, area: Rect, role: Role) {
        let style = self.style(role);
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Empties an area, wide characters at its edges included.
    pub(super) fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        let style = self.style(Role::Text);
        for y in area.top()..area.bottom() {
            // A wide character that begins left of the area would reach into it.
            if area.left() > self.buffer.area.left() {
                let left = area.left() - 1;
                if cells::width(self.buffer[(left, y)].symbol()) > 1 {
                    self.buffer[(left, y)].set_symbol(" ");
                }
            }
            for x in area.left()..area.right() {
                self.buffer[(x, y)].reset();
                self.buffer[(x, y)].set_style(style);
            }
        }
    }

    /// Draws a box with a title in its upper border and a note in its lower one; returns the area inside.
    pub(super) fn boxed(&mut self, area: Rect, title: &[(&str, Role)], note: &str, focused: bool) -> Rect {
        if area.width < 4 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let border = if focused { Role::BorderFocus } else { Role::Border };
        let (left, right, top, bottom) = (area.left(), area.right() - 1, area.top(), area.bottom() - 1);
        let line = "─".repeat(usize::from(area.width - 2));
        for (y, corners) in [(top, ("┌", "┐")), (bottom, ("└", "┘"))] {
            self.text(left, y, 1, corners.0, border);
            self.text(left + 1, y, area.width - 2, &line, border);
            self.text(right, y, 1, corners.1, border);
        }
        for y in top + 1..bottom {
            self.text(left, y, 1, "│", border);
            self.text(right, y, 1, "│", border);
        }
        let mut x = left + 2;
        for (piece, role) in title {
            x += self.text(x, top, right.saturating_sub(x + 1), piece, *role);
        }
        if !note.is_empty() {
            let room = area.width.saturating_sub(4);
            let note = format!(" {note} ");
            self.text(left + 2, bottom, room, &note, Role::Dim);
        }
        Rect { x: left + 1, y: top + 1, width: area.width - 2, height: area.height - 2 }
    }

    /// Says which rows of a list are on the screen, at the right end of its lower border or, without one, of its first
    /// row; nothing where all of them are.
    pub(super) fn away(&mut self, area: Rect, bottom: bool, top: usize, rows: usize, len: usize) {
        if len > rows && rows > 0 {
            if area.width < 8 || area.height < 2 {
                return;
            }
            let text = format!(" {}-{} of {len} ", top + 1, (top + rows).min(len));
            let y = if bottom { area.bottom() - 1 } else { area.top() };
            if !bottom {
                self.make_room(area, &text);
            }
            self.right(area.x + 1, area.right() - if bottom { 2 } else { 1 }, y, &text, Role::Dim);
        }
    }

    /// Cuts the title of a row where what stands at its right end would stand over it, and says so with dots.
    fn make_room(&mut self, area: Rect, text: &str) {
        let wide = u16::try_from(cells::width(text)).unwrap_or(area.width).min(area.width);
        let edge = area.right().saturating_sub(wide + 1);
        let over = |x: u16| x < area.right() && self.buffer[(x, area.y)].symbol() != "─";
        // A title that ends before the edge has a line behind it.
        if edge < area.x + 4 || !over(edge) && !over(edge - 1) {
            return;
        }
        let style = self.buffer[(edge - 3, area.y)].style();
        self.clear(Rect { x: edge - 2, width: area.right() - edge + 2, height: 1, ..area });
        self.buffer.set_stringn(edge - 2, area.y, "..", 2, style);
    }

    /// Says with arrows that rows are scrolled away above or below, where numbers have no room. Returns the cells.
    pub(super) fn arrows(&mut self, (x, y): (u16, u16), top: usize, rows: usize, len: usize) -> u16 {
        let text = match (top > 0, top + rows < len) {
            (false, false) => return 0,
            (true, false) => "↑",
            (false, true) => "↓",
            (true, true) => "↑↓",
        };
        self.text(x, y, 2, text, Role::Warn)
    }

    /// Draws a row as a line with a title in it; returns the area below.
    pub(super) fn ruled(&mut self, area: Rect, title: &[(&str, Role)], focused: bool) -> Rect {
        if area.is_empty() {
            return area;
        }
        let border = if focused { Role::BorderFocus } else { Role::Border };
        let line = "─".repeat(usize::from(area.width));
        self.text(area.x, area.y, area.width, &line, border);
        let mut x = area.x + 2.min(area.width - 1);
        for (piece, role) in title {
            x += self.text(x, area.y, area.right().saturating_sub(x), piece, *role);
        }
        Rect { y: area.y + 1, height: area.height - 1, ..area }
    }
}

fn syntax_role(class: Class) -> Role {
    match class {
        Class::Title => Role::SyntaxTitle,
        Class::Heading => Role::SyntaxHeading,
        Class::Emphasis => Role::SyntaxEmphasis,
        Class::Strong => Role::SyntaxStrong,
        Class::Code => Role::SyntaxCode,
        Class::Link => Role::SyntaxLink,
        Class::Quote => Role::SyntaxQuote,
        Class::Tag => Role::SyntaxTag,
        Class::Key => Role::SyntaxKey,
        Class::String => Role::SyntaxString,
        Class::Number => Role::SyntaxNumber,
        Class::Keyword => Role::SyntaxKeyword,
        Class::Comment => Role::SyntaxComment,
        Class::Mark => Role::SyntaxMark,
        Class::Placeholder => Role::SyntaxPlaceholder,
    }
}

/// The rows of a pane with one row under its cursor.
pub(super) fn row_area(area: Rect, index: usize) -> Rect {
    let y = area.y.saturating_add(u16::try_from(index).unwrap_or(u16::MAX));
    Rect { y, height: u16::from(y < area.bottom()), ..area }
}

/// The sign of what changed just now, beside its colour.
pub(super) const CHANGED: &str = "*";

/// The style of the selected row of the focused pane; none for other rows.
pub(super) fn selection(state: &State, pane: Pane, selected: bool) -> Option<Role> {
    (selected && state.pane() == Some(pane) && state.overlays.is_empty()).then_some(Role::Selected)
}

/// The pieces of a pane's title: ` 1 Layers `, then what stands behind it.
pub(super) fn title<'a>(number: &'a str, rest: &'a str, focused: bool) -> [(&'a str, Role); 2] {
    let role = if focused { Role::BoxTitleFocus } else { Role::BoxTitle };
    [(number, role), (rest, Role::Dim)]
}

/// What a wheel or a click beside the rows of a pane means.
pub(super) fn note_pane(canvas: &mut Canvas<'_>, area: Rect, pane: Pane) {
    canvas.regions.note(area, Target::Pane(pane));
}
