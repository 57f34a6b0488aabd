//! The band of captions, above the row of keys: what a presenter says of what is shown.

use ratatui::layout::Rect;

use super::canvas::{Canvas, row_area};
use crate::app::cells;
use crate::app::snapshot::Caption;
use crate::app::state::State;
use crate::tui::theme::Role;

/// The most rows of a caption.
const ROWS: usize = 3;
/// The cells at the left and right of the band.
const EDGE: u16 = 1;

/// `2 of 6`, with the gap in front of it.
fn count(caption: &Caption) -> String {
    format!("  {} of {}", caption.at, caption.of)
}

/// How many rows the band wants; it keeps them while nothing is said.
pub(super) fn wish(state: &State, width: u16) -> u16 {
    let Some(caption) = &state.snapshot.caption else { return 0 };
    let room = usize::from(width.saturating_sub(2 * EDGE)).saturating_sub(cells::width(&count(caption)));
    u16::try_from(caption.cells.div_ceil(room.max(1)).clamp(1, ROWS)).unwrap_or(1)
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let Some(caption) = state.snapshot.caption.as_ref().filter(|_| !area.is_empty()) else { return };
    let count = count(caption);
    let right = area.right().saturating_sub(EDGE);
    let used = canvas.right(area.x, right, area.bottom() - 1, &count, Role::Dim);
    canvas.paint(area, Role::Caption);
    let width = area.width.saturating_sub(2 * EDGE + used);
    let rows = cells::wrap(&caption.text, usize::from(width).max(1));
    let last = usize::from(area.height) - 1;
    for (index, (range, _)) in rows.iter().enumerate().take(usize::from(area.height)) {
        // What does not fit is cut, and the cut is seen.
        let cut = index == last && rows.len() > usize::from(area.height);
        let text = if cut { &caption.text[range.start..] } else { caption.text[range.clone()].trim_end() };
        let place = row_area(area, index);
        canvas.text(place.x + EDGE, place.y, width, text, Role::Caption);
    }
}
