//! What happens to the selection when the engine publishes.

use std::sync::Arc;

use super::screen::look_at;
use super::{search, stage, views, why_lines};
use crate::app::rows::{self, CallLine, WhyKind};
use crate::app::snapshot::{BlockChange, Snapshot};
use crate::app::state::{Pane, State};

/// Takes a snapshot over, unless a newer one is there. Selections stay on what they were on: the layer, the call, the
/// block. When another call is shown, or another block of it matters, the request shows that block.
pub(super) fn on_published(state: &mut State, snapshot: Arc<Snapshot>) {
    if snapshot.generation < state.snapshot.generation {
        return;
    }
    let old = std::mem::replace(&mut state.snapshot, snapshot);
    // The request is followed also while something else is read in its place.
    let reading = state.reading.take().map(|mut reading| {
        std::mem::swap(&mut reading.request, &mut state.request);
        reading
    });
    // What the engine says once is read once, also where no row of status is; the next key takes it away.
    let note = &state.snapshot.status.note;
    if !note.is_empty() && *note != old.status.note {
        state.message = note.to_string();
    }
    let compact = state.metrics.compact;

    if let Some(row) = old.layers.rows.get(state.layers.cursor) {
        let now = state.snapshot.layers.rows.iter().position(|new| new.id == row.id);
        state.layers.cursor = now.unwrap_or(state.layers.cursor);
    }

    let shown = |snapshot: &Snapshot| {
        let calls = &snapshot.calls;
        calls.shown.and_then(|shown| calls.rows.get(shown)).map(|row| row.no)
    };
    let lines = rows::call_lines(&state.snapshot.calls, compact);
    let before = rows::call_lines(&old.calls, compact).get(state.calls.cursor).copied();
    let now = if shown(&old) == shown(&state.snapshot) {
        lines.iter().position(|line| Some(*line) == before)
    } else {
        None
    };
    let on_shown = || {
        let shown = state.snapshot.calls.shown?;
        lines.iter().position(|line| *line == CallLine::Call(shown))
    };
    state.calls.cursor = now.or_else(on_shown).unwrap_or(0);

    follow_request(state, &old);

    // A way keeps its row although the lines above it come and go.
    let way = |lines: Vec<rows::WhyLine>, at: usize| lines.get(at).map(|line| line.kind);
    let cells = state.metrics.panes[Pane::Why.index()].0.max(1);
    if let Some(WhyKind::Way(index)) = way(rows::why_lines(&old, cells, compact), state.why.cursor) {
        let now = why_lines(state).iter().position(|line| line.kind == WhyKind::Way(index));
        state.why.cursor = now.unwrap_or(state.why.cursor);
    } else if shown(&old) != shown(&state.snapshot) {
        state.why.cursor = 0;
    }
    state.reading = reading.map(|mut reading| {
        std::mem::swap(&mut reading.request, &mut state.request);
        reading
    });
    search::refresh(state);
    let now = Arc::clone(&state.snapshot);
    views::on_published(state, &now, shown(&old) != shown(&now));
    stage::on_published(state, &old);
}

fn follow_request(state: &mut State, old: &Snapshot) {
    let now = Arc::clone(&state.snapshot);
    let key = |snapshot: &Snapshot| {
        let request = &snapshot.request;
        let focus = request.blocks.get(request.focus);
        (request.call, request.agent.clone(), focus.map(|block| (Arc::clone(&block.title), block.change)))
    };
    if key(old) != key(&now) {
        let focus = now.request.focus;
        let byte = match now.request.blocks.get(focus).map(|block| block.change) {
            Some(BlockChange::Changed(byte)) => byte,
            _ => 0,
        };
        look_at(state, focus, byte);
        return;
    }
    let title = old.request.blocks.get(state.request.block).map(|block| &block.title);
    let same = now.request.blocks.iter().position(|block| Some(&block.title) == title);
    state.request.block = same.unwrap_or(now.request.focus);
}
