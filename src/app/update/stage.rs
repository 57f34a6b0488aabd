//! The beats of a demo: each puts the whole screen where it wants it, whatever the presenter did in between.

use super::screen::{find_layer, look_at, show_part};
use super::views;
use crate::app::rows::{self, CallLine};
use crate::app::snapshot::{BlockChange, BlockRow, Snapshot};
use crate::app::state::{ListState, RequestState, Shows, State, View};

/// Follows the demo to another beat.
pub(super) fn on_published(state: &mut State, old: &Snapshot) {
    let at = |snapshot: &Snapshot| snapshot.demo.as_ref().map(|demo| demo.at);
    if at(&state.snapshot).is_none() || at(old) == at(&state.snapshot) {
        return;
    }
    let Some(demo) = state.snapshot.demo.clone() else { return };
    state.overlays.clear();
    state.search = None;
    state.seeking = None;
    state.zoom = demo.zoom;
    state.under.clear();
    state.views.clear();
    match demo.shows {
        Shows::Pane(pane) => {
            state.view = View::Main;
            state.focus = pane;
        }
        Shows::View(view) => state.view = view,
    }
    views::refresh(state);
    state.request = RequestState::default();
    state.staging = true;
    look(state);
}

/// Where a layer writes first, or where a message begins.
fn find(state: &State, look: &str) -> Option<(usize, usize)> {
    let title = format!("{look} ");
    let message = |block: &BlockRow| look.starts_with("message ") && block.title.starts_with(&title);
    let message = state.snapshot.request.blocks.iter().position(message);
    message.map(|block| (block, 0)).or_else(|| find_layer(state, look))
}

/// Puts every cursor where the beat wants it.
pub(super) fn look(state: &mut State) {
    let Some(demo) = state.snapshot.demo.clone() else { return };
    let focus = state.focus;
    let row = |id: &str| state.snapshot.layers.rows.iter().position(|row| *row.id == *id);
    let cursor = demo.look.as_deref().and_then(row).unwrap_or(0);
    state.layers = ListState { cursor, top: 0 };
    state.why = ListState::default();
    let lines = rows::call_lines(&state.snapshot.calls, state.metrics.compact);
    let shown = state.snapshot.calls.shown.map(CallLine::Call);
    let cursor = lines.iter().position(|line| Some(*line) == shown).unwrap_or(0);
    state.calls = ListState { cursor, top: 0 };
    match demo.look.as_deref().and_then(|look| find(state, look)) {
        Some((block, part)) => show_part(state, block, part),
        None => {
            let block = state.snapshot.request.focus;
            let byte = match state.snapshot.request.blocks.get(block).map(|block| block.change) {
                Some(BlockChange::Changed(byte)) => byte,
                _ => 0,
            };
            look_at(state, block, byte);
        }
    }
    // To look at bytes is not to go to them.
    let view = state.snapshot.demo.as_ref().map_or(View::Main, |demo| match demo.shows {
        Shows::Pane(_) => View::Main,
        Shows::View(view) => view,
    });
    (state.view, state.focus) = (view, focus);
    views::refresh(state);
    let line =
        state.page.lines.iter().position(|line| demo.look.as_deref().is_some_and(|look| *line.key == *look));
    if view != View::Main {
        state.here_mut().list = ListState { cursor: line.unwrap_or(0), top: 0 };
    }
}
