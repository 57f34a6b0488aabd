//! What an audience is shown: the beats of a demo, each of which puts the whole screen where it wants it, whatever the
//! presenter did in between, and the marks of what changed.

use std::sync::Arc;

use super::screen::{find_layer, look_at, show_part};
use super::{overlay, views};
use crate::app::action::Action;
use crate::app::marks::Marks;
use crate::app::rows::{self, CallLine};
use crate::app::snapshot::{BlockChange, Snapshot};
use crate::app::state::{ListState, Mode, OverlayKind, RequestState, Shows, State, View};
use crate::core::fact::FactKey;
use crate::core::text::Made;

/// A key: what was marked has been seen. On the screen whatever comes of the key will be marked; while something is typed
/// or chosen above it, what counts is what was there when that was opened.
pub(super) fn on_key(state: &mut State, action: Option<Action>) {
    if state.mode() != Mode::Screen {
        return;
    }
    state.on_beat = false;
    state.marks = Marks::default();
    // Going elsewhere changes nothing.
    let looks = matches!(
        action,
        Some(Action::Back | Action::PreviousCall | Action::Branch | Action::Runs | Action::OpenCall)
    );
    state.before = (!looks).then(|| Arc::clone(&state.snapshot));
}

/// Marks what changed, and follows a demo to another beat.
pub(super) fn on_published(state: &mut State, old: &Arc<Snapshot>) {
    let shown = |snapshot: &Snapshot| snapshot.calls.shown;
    if old.generation == 0 {
        state.before = Some(Arc::clone(&state.snapshot));
    } else if old.status.playing && shown(old) != shown(&state.snapshot) {
        // A run that plays by itself makes its beats without keys.
        state.before = Some(Arc::clone(old));
    }
    go_on(state, old);
    if let (true, Some(demo)) = (state.on_beat, &state.snapshot.demo) {
        // From whichever side a beat is reached, what it changed is what differs from the one before it.
        state.before = demo.at.checked_sub(1).and_then(|before| state.beats.get(&before)).cloned();
        state.beats.insert(demo.at, Arc::clone(&state.snapshot));
    }
    ask(state);
    state.marks = match &state.before {
        Some(before) => Marks::between(before, &state.snapshot),
        None => Marks::default(),
    };
}

/// Asks once about the programs of the bench, as soon as nothing else is open.
fn ask(state: &mut State) {
    let programs = &state.snapshot.programs;
    let news = programs.is_some() && *programs != state.asked_programs;
    if news && state.mode() == Mode::Screen {
        state.asked_programs.clone_from(programs);
        overlay::open(state, OverlayKind::Programs);
    } else if programs.is_none() {
        state.overlays.retain(|open| open.kind != OverlayKind::Programs);
    }
}

/// Follows the demo to another beat.
fn go_on(state: &mut State, old: &Snapshot) {
    let at = |snapshot: &Snapshot| snapshot.demo.as_ref().map(|demo| demo.at);
    if at(&state.snapshot).is_none() || at(old) == at(&state.snapshot) {
        return;
    }
    let Some(demo) = state.snapshot.demo.clone() else { return };
    state.on_beat = true;
    state.overlays.clear();
    state.search = None;
    state.seeking = None;
    state.reading = None;
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

/// What a beat looks at in the request, by the index of its block.
enum Spot {
    /// A part of it, from its beginning.
    Part(usize, usize),
    /// A byte of it, with what stands around it.
    Byte(usize, usize),
}

/// Where a message begins, where a layer writes first (or where the break in that is), or where a fact shows.
fn find(state: &State, look: &str) -> Option<Spot> {
    let blocks = &state.snapshot.request.blocks;
    if look.starts_with("message ") {
        let title = format!("{look} ");
        let block = blocks.iter().position(|block| block.title.starts_with(&title))?;
        return Some(Spot::Part(block, 0));
    }
    if let Some((block, part)) = find_layer(state, look) {
        let range = &blocks[block].parts[part].range;
        return Some(match blocks[block].change {
            BlockChange::Changed(byte) if range.contains(&byte) => Spot::Byte(block, byte),
            _ => Spot::Part(block, part),
        });
    }
    let shows = |made: &Made| matches!(made, Made::Fact { key: FactKey::Named(name), .. } if **name == *look);
    blocks.iter().enumerate().find_map(|(index, block)| {
        let (range, _) = block.text.ranges().find(|(_, span)| shows(&span.origin.made))?;
        Some(Spot::Byte(index, range.start))
    })
}

/// Puts every cursor where the beat wants it.
pub(super) fn look(state: &mut State) {
    let Some(demo) = state.snapshot.demo.clone() else { return };
    let row = |id: &str| state.snapshot.layers.rows.iter().position(|row| *row.id == *id);
    let cursor = demo.look.as_deref().and_then(row).unwrap_or(0);
    state.layers = ListState { cursor, top: 0 };
    state.why = ListState::default();
    let lines = rows::call_lines(&state.snapshot.calls, state.metrics.compact);
    let shown = state.snapshot.calls.shown.map(CallLine::Call);
    let cursor = lines.iter().position(|line| Some(*line) == shown).unwrap_or(0);
    state.calls = ListState { cursor, top: 0 };
    match demo.look.as_deref().and_then(|look| find(state, look)) {
        Some(Spot::Part(block, part)) => {
            // To look at bytes is not to go to them.
            let here = (state.view, state.focus);
            show_part(state, block, part);
            (state.view, state.focus) = here;
        }
        Some(Spot::Byte(block, byte)) => look_at(state, block, byte),
        None => {
            let block = state.snapshot.request.focus;
            let change = state.snapshot.request.blocks.get(block).map(|block| block.change);
            let byte = if let Some(BlockChange::Changed(byte)) = change { byte } else { 0 };
            look_at(state, block, byte);
        }
    }
    views::refresh(state);
    let line =
        state.page.lines.iter().position(|line| demo.look.as_deref().is_some_and(|look| *line.key == *look));
    if state.view != View::Main {
        state.here_mut().list = ListState { cursor: line.unwrap_or(0), top: 0 };
    }
}
