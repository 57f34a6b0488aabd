//! A frame of the state, measured.

use ratatui::Frame;

use super::regions::Regions;
use super::theme::Theme;
use super::view;
use crate::app::event::Event;
use crate::app::state::State;
use crate::app::update::update;

/// Draws the state and tells it what was measured. Where that moves something (the first frame, another size, a pane
/// that was zoomed) the frame is drawn anew, so that what is on the screen is always settled. The state is not dirty
/// afterwards.
pub fn present(state: &mut State, theme: &Theme, frame: &mut Frame<'_>) -> Regions {
    let mut regions = view::draw(state, theme, frame);
    // Twice is enough: measures depend on the size and on what is open, not on what is scrolled to.
    for _ in 0..2 {
        update(state, Event::Drawn(regions.metrics));
        if !state.dirty {
            break;
        }
        frame.buffer_mut().reset();
        regions = view::draw(state, theme, frame);
    }
    state.dirty = false;
    regions
}
