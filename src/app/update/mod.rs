//! The one function that changes the state. It never composes and never waits: what it wants done is returned.

mod compare;
mod compose;
mod differences;
mod editor;
mod follow;
mod form;
mod overlay;
mod pointer;
mod reading;
mod refusal;
mod screen;
mod search;
mod setup;
mod stage;
mod views;
mod zones;

pub(super) use compose::run_name;
pub(super) use search::ranges;
pub use views::Seek;
pub use zones::ZonesState;

use std::sync::Arc;

use super::action::{self, Action};
use super::editor::Place;
use super::effect::{Effect, EngineRequest};
use super::event::Event;
use super::key::Key;
use super::rows::{self, Look};
use super::state::{ListState, Mode, OverlayKind, Pane, State, View};

/// How many keys are kept for an audience.
const SHOWN_KEYS: usize = 6;

/// Takes one event into the state and returns what has to be done about it, in order.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let rows_before = (Arc::clone(&state.snapshot), state.request.block, look(state));
    let folds_before = state.request.folded.len();
    let painted = matches!(event, Event::Painted(..));
    let mut effects = match event {
        Event::Key(key) => on_key(state, key),
        Event::Paste(text) => on_paste(state, &text),
        Event::Pointer(pointer, target) => pointer::on_pointer(state, pointer, target),
        Event::Published(snapshot) => {
            let told = (state.snapshot.broken, state.snapshot.diagnostics.clone());
            follow::on_published(state, snapshot);
            // What was said of a broken bench holds until it is broken in another way, or mended.
            let now = &state.snapshot;
            if state.message.starts_with("the bench is broken")
                && told != (now.broken, now.diagnostics.clone())
            {
                state.message.clear();
            }
            form::on_published(state);
            editor::on_published(state)
        }
        Event::EditedOutside(problem) => {
            state.message = problem.unwrap_or_default();
            vec![Effect::Engine(EngineRequest::Look)]
        }
        Event::Painted(id, paint) => {
            let State { paints, editor, .. } = state;
            paints.take(id, paint, editor.as_ref());
            Vec::new()
        }
        Event::Settings(news) => setup::on_settings(state, news),
        Event::Say(text) => {
            state.message = text;
            Vec::new()
        }
        Event::Focused => return vec![Effect::Engine(EngineRequest::Look), Effect::Settings],
        Event::Resized => Vec::new(),
        Event::Drawn(metrics) => {
            state.dirty = false;
            if state.metrics == metrics {
                state.staging = false;
                return Vec::new();
            }
            state.metrics = metrics;
            let before = places(state);
            if state.staging {
                stage::look(state);
            }
            settle(state, true);
            state.dirty = places(state) != before;
            return Vec::new();
        }
    };
    state.dirty = true;
    let (snapshot, block, look_before) = rows_before;
    let anew = !Arc::ptr_eq(&snapshot, &state.snapshot)
        || painted && state.request.look == Look::Rendered
        || (block, look_before, folds_before)
            != (state.request.block, look(state), state.request.folded.len());
    settle(state, anew);
    let theme = setup::wanted_theme(state);
    if theme != state.drawn_theme {
        state.drawn_theme = theme.clone();
        effects.push(Effect::Theme(theme));
    }
    views::ask(state, &mut effects);
    effects.extend(differences::ask(state));
    effects
}

/// What decides where the rows of the request begin, beside the request.
fn look(state: &State) -> (Look, bool) {
    (state.request.look, state.request.cut)
}

/// Everything that [`settle`] may move.
fn places(state: &State) -> ([ListState; 4], usize, usize, Option<ListState>, Option<Place>) {
    let request = &state.request;
    let lists = [state.layers, state.calls, state.why, state.here().list];
    let list = state.overlays.last().map(|overlay| overlay.list);
    (lists, request.top, request.cursor, list, state.editor.as_ref().map(|editor| editor.top))
}

/// Keeps every cursor inside its list and on the screen; `anew` when rows may begin elsewhere than before.
fn settle(state: &mut State, anew: bool) {
    let heights = Pane::ALL.map(|pane| state.height(pane));
    let table = &state.snapshot.layers;
    state.layers.fit(table.rows.len(), heights[0]);
    state.calls.fit(rows::call_lines(&state.snapshot.calls, state.metrics.compact).len(), heights[1]);
    state.why.fit(why_lines(state).len(), heights[3]);
    let block = state.request.block.min(state.blocks().len().saturating_sub(1));
    state.request.block = block;
    let (top, cursor) = (state.request.top, state.request.cursor);
    let height = heights[2];
    let places = state.with_rows(|rows| {
        // Both are beginnings of rows already, unless the text, its folds or its width changed.
        let (cursor, mut top) = if anew {
            let cursor = rows.row_of(cursor);
            (cursor, rows.row_of(top).min(cursor))
        } else {
            let cursor = rows.near(cursor);
            (cursor, rows.near(top).min(cursor))
        };
        if rows.from(top).take(height).all(|row| row.start != cursor) {
            top = rows.back(cursor, height - 1);
        }
        (top, cursor)
    });
    (state.request.top, state.request.cursor) = places.unwrap_or_default();
    views::refresh(state);
    editor::settle(state);
    if !state.overlays.is_empty() {
        let rows = rows::list_rows(state);
        let height = match state.metrics.list {
            0 => usize::MAX,
            height => usize::from(height),
        };
        if let Some(overlay) = state.overlays.last_mut() {
            overlay.list.fit(rows.len(), height);
            // The heading above the first row under it stays in sight.
            let above = overlay.list.cursor.checked_sub(1);
            if let Some(above) = above.filter(|&above| height > 1 && rows[above].is_heading()) {
                overlay.list.top = overlay.list.top.min(above);
            }
        }
    }
}

/// The lines of pane 4, as wide as in the last frame.
fn why_lines(state: &State) -> Vec<rows::WhyLine> {
    let cells = match state.metrics.panes[Pane::Why.index()].0 {
        0 => 80,
        cells => cells,
    };
    rows::why_lines(&state.snapshot, cells, state.metrics.compact)
}

fn on_key(state: &mut State, key: Key) -> Vec<Effect> {
    if let Some(keys) = &mut state.keys {
        keys.push_back(key);
        while keys.len() > SHOWN_KEYS {
            keys.pop_front();
        }
    }
    if editor::keeps(state, key) {
        return Vec::new();
    }
    state.message.clear();
    let action = action::lookup(state, key);
    stage::on_key(state, action);
    let armed = std::mem::take(&mut state.armed);
    if action == Some(Action::Cancel) {
        if armed && state.editor.as_ref().is_some_and(|editor| editor.modified && editor.typing.is_none()) {
            overlay::open(state, OverlayKind::Unsaved);
            return Vec::new();
        }
        if armed {
            return vec![Effect::Quit];
        }
        state.armed = true;
    }
    match action {
        Some(action) => perform(state, action),
        None if asks_of_text(state) && state.keymap.is(Action::Save, key) => {
            state.message = "first choose what becomes of the text; Enter takes the selected row".to_owned();
            Vec::new()
        }
        None if state.mode() == Mode::Editor => editor::on_key(state, key),
        None => overlay::on_text_key(state, key),
    }
}

/// True while a question about the text that is edited is open.
fn asks_of_text(state: &State) -> bool {
    let kind = state.overlays.last().map(|open| open.kind);
    let questions = [
        OverlayKind::Conflict,
        OverlayKind::Both,
        OverlayKind::Unsaved,
        OverlayKind::Kept,
        OverlayKind::KeptBoth,
    ];
    kind.is_some_and(|kind| questions.contains(&kind))
}

fn on_paste(state: &mut State, text: &str) -> Vec<Effect> {
    match state.mode() {
        // A line that text with lines is put into is not enough for it.
        Mode::Line if text.trim_end().contains(['\n', '\r']) => compose::on_paste(state, text),
        Mode::Line | Mode::Find | Mode::Cwd | Mode::Search | Mode::Value => overlay::on_insert(state, text),
        Mode::Editor => editor::on_paste(state, text),
        _ if state.waiting.is_some() => editor::on_paste(state, text),
        _ => {
            // Pasted text must never act as keys.
            state.message = "nothing takes pasted text here".to_owned();
            Vec::new()
        }
    }
}

/// Does an action, whatever it was chosen with.
fn perform(state: &mut State, action: Action) -> Vec<Effect> {
    if !action::useful(state, action) {
        state.message = refusal::why(state, action);
        return Vec::new();
    }
    match action {
        Action::UpLevel => up_level(state),
        Action::Quit if state.overlays.is_empty() && state.view == View::Main && !state.zoom => {
            vec![Effect::Quit]
        }
        Action::Quit => up_level(state),
        Action::Cancel => cancel(state),
        Action::LookAgain => {
            vec![Effect::Engine(EngineRequest::LookAgain), Effect::Settings, Effect::Redraw]
        }
        Action::Suspend => vec![Effect::Suspend],
        _ if state.overlays.is_empty() && state.editor.is_some() => editor::perform(state, action),
        _ if state.overlays.is_empty() => screen::perform(state, action),
        _ => overlay::perform(state, action),
    }
}

/// One level up: what is open, the search, the view, the zoom. Never further.
fn up_level(state: &mut State) -> Vec<Effect> {
    if !state.overlays.is_empty() {
        return overlay::close(state);
    }
    if state.editor.is_some() {
        return editor::leave(state);
    }
    if state.search.take().is_some() {
        return Vec::new();
    }
    let mut effects = Vec::new();
    if state.view == View::Zones && zones::take_back(state, &mut effects) {
        return effects;
    }
    if state.view != View::Main {
        views::leave(state);
    } else {
        state.zoom = false;
    }
    Vec::new()
}

fn cancel(state: &mut State) -> Vec<Effect> {
    let mut effects = Vec::new();
    if state.snapshot.status.playing {
        effects.push(Effect::Engine(EngineRequest::Stop));
    }
    if !state.overlays.is_empty() {
        effects.extend(overlay::close(state));
    }
    state.message = "Ctrl-C again quits".to_owned();
    effects
}
