//! The line above everything, while the settings are broken.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::canvas::Canvas;
use crate::app::setup::in_one_line;
use crate::app::state::State;
use crate::tui::theme::Role;

/// Below this many rows the screen is needed for other things.
const ROOM: u16 = 8;

/// Draws it; returns the area below.
pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) -> Rect {
    let Some(problem) = state.broken_settings.first().filter(|_| area.height >= ROOM) else { return area };
    let more = match state.broken_settings.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let text = format!(" ! Not taken: {}{more}", in_one_line(problem));
    let line = Rect { height: 1, ..area };
    canvas.clear(line);
    let style = canvas.style(Role::Bad).add_modifier(Modifier::REVERSED);
    canvas.buffer.set_style(line, style);
    canvas.styled(line.x, line.y, line.width, &text, style);
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}
