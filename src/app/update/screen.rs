//! Actions on the screen, with nothing open above it.

use std::sync::Arc;

use super::{compare, compose, differences, editor, form, overlay, reading, search, views, why_lines, zones};
use crate::app::action::Action;
use crate::app::editor::Purpose;
use crate::app::effect::{Effect, EngineRequest};
use crate::app::form::Subject;
use crate::app::rows::{self, CallLine, Goal, WhyKind};
use crate::app::snapshot::{ByteOrder, Now};
use crate::app::state::{OverlayKind, Pane, RequestState, State, View};
use crate::core::fact::Name;
use crate::io::edit::bench::BenchEdit;

/// How far a motion goes.
#[derive(Clone, Copy)]
pub(super) enum Motion {
    /// By rows, down where positive.
    By(isize),
    /// To the first row.
    Start,
    /// To the last row.
    End,
}

pub(super) fn perform(state: &mut State, action: Action) -> Vec<Effect> {
    let engine = |request| vec![Effect::Engine(request)];
    match action {
        Action::Send if compose::waits(state) => return compose::open_reply(state),
        Action::Send => return engine(EngineRequest::Send),
        Action::Say => return compose::open_said(state),
        Action::Reply => return compose::open_reply(state),
        Action::SaveRun => compose::open_save(state),
        Action::Back => return engine(EngineRequest::Back),
        Action::Branch => return engine(EngineRequest::NextBranch),
        Action::PreviousCall => return step(state, -1),
        Action::NextCall => return step(state, 1),
        Action::Play if state.snapshot.status.playing => return engine(EngineRequest::Stop),
        Action::Play => return engine(EngineRequest::Play),
        Action::Cwd => overlay::open(state, OverlayKind::Cwd),
        Action::Models => overlay::open(state, OverlayKind::Models),
        Action::Variants => overlay::open(state, OverlayKind::Variants),
        Action::Runs => overlay::open(state, OverlayKind::Runs),
        Action::Programs => overlay::open(state, OverlayKind::Programs),
        Action::Views => overlay::open(state, OverlayKind::Views),
        Action::Themes => overlay::open(state, OverlayKind::Themes),
        Action::Help => overlay::open(state, OverlayKind::Help),
        Action::Palette => overlay::open(state, OverlayKind::Palette),
        Action::Search => overlay::open(state, OverlayKind::Search),
        Action::Copy => overlay::open(state, OverlayKind::Copy),
        Action::Picture => return vec![Effect::Picture],
        Action::NextMatch => search::step(state, 1),
        Action::PreviousMatch => search::step(state, -1),
        Action::Orders => views::switch(state, View::Orders),
        Action::NextBreak if state.view == View::Zones => return zones::next_break(state),
        Action::NextBreak => return views::next_break(state),
        Action::Ledger => views::switch(state, View::Ledger),
        Action::Injectors => views::switch(state, View::Injectors),
        Action::Log => views::switch(state, View::Log),
        Action::Blocks => views::switch(state, View::Blocks),
        Action::Differences => views::switch(state, View::Diff),
        Action::Sides => overlay::open(state, OverlayKind::Sides),
        Action::SidesBranch => return differences::turn_branch(state),
        Action::NextDifference => differences::step(state, true),
        Action::PreviousDifference => differences::step(state, false),
        Action::Lints => views::switch(state, View::Lints),
        Action::Zones => views::switch(state, View::Zones),
        Action::SwitchOverlay => {
            overlay::open(state, OverlayKind::SwitchOverlay);
            return vec![Effect::Engine(EngineRequest::PlanOverlay)];
        }
        Action::Recording => views::switch(state, View::Recording),
        Action::ZonesBefore => return zones::step(state, -1),
        Action::ZonesNext => return zones::step(state, 1),
        Action::NextLane => zones::next_lane(state),
        Action::Compare => views::switch(state, View::Compare),
        Action::WhatIf => views::switch(state, View::WhatIf),
        Action::Steps => views::switch(state, View::Steps),
        Action::FirstTurn => compare::turn_first(state),
        Action::NextModel => views::turn_column(state, Action::ColumnNext),
        Action::PreviousModel => views::turn_column(state, Action::ColumnBefore),
        Action::ApplyWay => return compare::ask(state),
        Action::CopyCompared => return compare::copy(state),
        Action::OpenLine => return views::open(state),
        Action::ColumnBefore | Action::ColumnNext => views::turn_column(state, action),
        Action::Zoom => {
            state.zoom = !state.zoom || state.view != View::Main;
            focus(state, state.focus);
        }
        Action::Raw => reading::turn_look(state),
        Action::Wrap => reading::turn_wrap(state),
        Action::FoldOthers => reading::fold_others(state),
        Action::ScrollLeft => reading::scroll(state, -1),
        Action::ScrollRight => reading::scroll(state, 1),
        Action::Mouse => {
            state.mouse = !state.mouse;
            state.message = if state.mouse {
                "mouse on; hold Shift (Option on a Mac) to select text".to_owned()
            } else {
                "mouse off; the terminal selects text".to_owned()
            };
            return vec![Effect::Mouse(state.mouse)];
        }
        Action::FocusNext => turn_focus(state, 1),
        Action::FocusPrevious => turn_focus(state, 3),
        Action::FocusLayers => focus(state, Pane::Layers),
        Action::FocusCalls => focus(state, Pane::Calls),
        Action::FocusRequest => focus(state, Pane::Request),
        Action::FocusWhy => focus(state, Pane::Why),
        Action::OpenLayer => open_layer(state),
        Action::EditText => return editor::ask(state, Purpose::Here),
        Action::EditOutside => return editor::ask(state, Purpose::Outside),
        Action::ToggleLayer => return toggle_layer(state),
        Action::MoveUp => return move_layer(state, -1),
        Action::MoveDown => return move_layer(state, 1),
        Action::UndoBench => return engine(EngineRequest::Undo),
        Action::RedoBench => return engine(EngineRequest::Redo),
        Action::LayerForm => form::open_layer(state, state.layers.cursor),
        Action::BenchForm => form::open(state, Subject::Bench),
        Action::OpenCall => return open_call(state),
        Action::Fold => fold(state),
        Action::SwitchWay => return switch_way(state),
        Action::PreviousBlock => turn_block(state, -1),
        Action::NextBlock => turn_block(state, 1),
        Action::Up => go(state, Motion::By(-1)),
        Action::Down => go(state, Motion::By(1)),
        Action::Top => go(state, Motion::Start),
        Action::Bottom => go(state, Motion::End),
        Action::PageUp => go(state, Motion::By(-page(state))),
        Action::PageDown => go(state, Motion::By(page(state))),
        Action::HalfUp => go(state, Motion::By(-(page(state) / 2).max(1))),
        Action::HalfDown => go(state, Motion::By((page(state) / 2).max(1))),
        _ => {}
    }
    Vec::new()
}

/// The rows of a page: one row less than is on the screen, so that the eye keeps its place.
fn page(state: &State) -> isize {
    let height = match state.pane() {
        Some(pane) => state.height(pane),
        None => usize::from(state.metrics.view.1),
    };
    isize::try_from(height).unwrap_or(isize::MAX).saturating_sub(1).max(1)
}

pub(super) fn focus(state: &mut State, pane: Pane) {
    views::to_panes(state);
    state.focus = pane;
}

fn turn_focus(state: &mut State, by: usize) {
    focus(state, Pane::ALL[(state.focus.index() + by) % Pane::ALL.len()]);
}

fn go(state: &mut State, motion: Motion) {
    let Some(pane) = state.pane() else { return views::go(state, motion) };
    match pane {
        Pane::Layers => {
            state.layers.cursor = moved(state.layers.cursor, state.snapshot.layers.rows.len(), motion);
        }
        Pane::Calls => {
            let lines = rows::call_lines(&state.snapshot.calls, state.metrics.compact);
            let open: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].is_open()).collect();
            let now = open.partition_point(|&line| line < state.calls.cursor);
            if let Some(&line) = open.get(moved(now, open.len(), motion)) {
                state.calls.cursor = line;
            }
        }
        Pane::Why => state.why.cursor = moved(state.why.cursor, why_lines(state).len(), motion),
        Pane::Request => {
            let cursor = state.request.cursor;
            let to = state.with_rows(|rows| match motion {
                Motion::By(by) if by < 0 => rows.back(cursor, by.unsigned_abs()),
                Motion::By(by) => rows.forward(cursor, by.unsigned_abs()),
                Motion::Start => rows.first(),
                Motion::End => rows.last(),
            });
            state.request.cursor = to.unwrap_or(0);
        }
    }
}

/// A cursor after a motion through a list of `len` rows.
pub(super) fn moved(cursor: usize, len: usize, motion: Motion) -> usize {
    let to = match motion {
        Motion::By(by) => cursor.saturating_add_signed(by),
        Motion::Start => 0,
        Motion::End => usize::MAX,
    };
    to.min(len.saturating_sub(1))
}

/// Shows the call before or after the shown one.
fn step(state: &mut State, by: isize) -> Vec<Effect> {
    let calls = &state.snapshot.calls;
    let to = calls.shown.and_then(|shown| shown.checked_add_signed(by)).and_then(|to| calls.rows.get(to));
    to.map(|row| Effect::Engine(EngineRequest::Jump(row.no))).into_iter().collect()
}

/// The block of the shown request in which a layer writes first, and its part there.
pub(super) fn find_layer(state: &State, layer: &str) -> Option<(usize, usize)> {
    state.snapshot.request.blocks.iter().enumerate().find_map(|(index, block)| {
        let part = block.parts.iter().position(|part| part.layer.as_deref() == Some(layer))?;
        Some((index, part))
    })
}

/// To the bytes of the selected layer.
pub(super) fn open_layer(state: &mut State) {
    if let Some(row) = state.snapshot.layers.rows.get(state.layers.cursor) {
        let layer = row.id.clone();
        show_layer(state, &layer);
    }
}

/// To the bytes of a layer in the shown request.
pub(super) fn show_layer(state: &mut State, layer: &Name) {
    let Some(row) = state.snapshot.layers.rows.iter().find(|row| row.id == *layer) else { return };
    let blocks = &state.snapshot.request.blocks;
    let found = find_layer(state, &row.id);
    // The tools are no layer, but they have a row.
    let found = found.or_else(|| (&*row.id == "tools" && !blocks.is_empty()).then_some((0, 0)));
    match found {
        Some((block, part)) => show_part(state, block, part),
        None => {
            let reason = match (&row.now, &row.reason) {
                (Now::Omitted(reason) | Now::Failed(reason), _) | (_, Some(reason)) => format!(": {reason}"),
                _ => String::new(),
            };
            state.message = format!("{} writes nothing into this request{reason}", row.shown);
        }
    }
}

/// The selected layer; none, with a message, where the row is no layer.
fn selected_layer(state: &mut State) -> Option<usize> {
    let at = state.layers.cursor;
    let row = state.snapshot.layers.rows.get(at)?;
    // A layer that is left out does not run, and can be taken in again.
    if row.run.is_none() && matches!(&*row.place, "" | "tools" | "messages") {
        state.message = format!("{} is no layer of the bench", row.shown);
        return None;
    }
    Some(at)
}

fn toggle_layer(state: &mut State) -> Vec<Effect> {
    let Some(at) = selected_layer(state) else { return Vec::new() };
    let layer = state.snapshot.layers.rows[at].id.clone();
    vec![Effect::Engine(EngineRequest::EditBench(BenchEdit::Toggle(layer)))]
}

/// Moves the selected layer past its neighbour in the order of the bytes.
fn move_layer(state: &mut State, by: isize) -> Vec<Effect> {
    let Some(at) = selected_layer(state) else { return Vec::new() };
    let rows = &state.snapshot.layers.rows;
    let row = &rows[at];
    if row.byte == ByteOrder::None {
        state.message =
            format!("{} writes nothing into this request, so it has no place to move from", row.shown);
        return Vec::new();
    }
    let past = at.checked_add_signed(by).and_then(|at| rows.get(at));
    let past =
        past.filter(|past| past.place == row.place && past.byte != ByteOrder::None && past.run.is_some());
    let Some(past) = past else {
        let side = if by < 0 { "first" } else { "last" };
        state.message = format!("{} is the {side} layer of {}", row.shown, row.place);
        return Vec::new();
    };
    let (layer, past) = (row.id.clone(), past.id.clone());
    vec![Effect::Engine(EngineRequest::EditBench(BenchEdit::Move { layer, past }))]
}

/// Shows the selected call, or the bytes of the selected injection.
pub(super) fn open_call(state: &mut State) -> Vec<Effect> {
    let calls = &state.snapshot.calls;
    let lines = rows::call_lines(calls, state.metrics.compact);
    match lines.get(state.calls.cursor) {
        Some(&CallLine::Injected(call, injected)) => {
            if let Some((block, part)) = calls.rows[call].injected[injected].at {
                show_part(state, block, part);
            }
            Vec::new()
        }
        Some(&CallLine::Call(call)) if calls.shown != Some(call) => {
            vec![Effect::Engine(EngineRequest::Jump(calls.rows[call].no))]
        }
        _ => Vec::new(),
    }
}

/// Looks at a part of a block, with the request focused.
pub(super) fn show_part(state: &mut State, block: usize, part: usize) {
    if state.snapshot.request.blocks.get(block).is_some() {
        focus(state, Pane::Request);
        look_at_part(state, block, part);
    }
}

/// Puts the row that carries the author of a part on top, under the cursor.
pub(super) fn look_at_part(state: &mut State, block: usize, part: usize) {
    let Some(row) = state.blocks().get(block) else { return };
    let byte = row.parts.get(part).map_or(0, |part| part.range.start);
    look_at(state, block, byte);
    // A separator belongs to the row before it; the row that is meant is the one that carries the author.
    let cursor = state.request.cursor;
    let first = state.with_rows(|rows| {
        rows.from(cursor).take(3).find(|row| row.part >= part).map_or(cursor, |row| row.start)
    });
    state.request.cursor = first.unwrap_or(cursor);
    state.request.top = state.request.cursor;
}

/// Puts the row that holds a byte of a block under the cursor, a few rows below the top.
pub(super) fn look_at(state: &mut State, block: usize, byte: usize) {
    state.request.block = block;
    let places = state.with_rows(|rows| {
        let cursor = rows.row_of(byte);
        (cursor, rows.back(cursor, 2))
    });
    (state.request.cursor, state.request.top) = places.unwrap_or_default();
}

fn turn_block(state: &mut State, by: isize) {
    let len = state.blocks().len();
    let block = moved(state.request.block, len, Motion::By(by));
    if block != state.request.block {
        let old = std::mem::take(&mut state.request);
        state.request = RequestState { block, top: 0, cursor: 0, left: 0, ..old };
    }
}

fn fold(state: &mut State) {
    let cursor = state.request.cursor;
    let Some(part) = state.with_rows(|rows| rows.part_at(cursor)) else { return };
    let Some(title) = state.block().map(|block| Arc::clone(&block.title)) else { return };
    let key = (title, part);
    if !state.request.folded.remove(&key) {
        state.request.folded.insert(key);
    }
}

fn switch_way(state: &mut State) -> Vec<Effect> {
    let lines = why_lines(state);
    match lines.get(state.why.cursor).map(|line| line.kind) {
        Some(WhyKind::Way(index)) => {
            let way = &state.snapshot.why.ways.rows[index];
            if way.current {
                state.message = format!("{} is what runs now", way.label);
                return Vec::new();
            }
            vec![Effect::Engine(EngineRequest::Variants(way.variants.clone()))]
        }
        Some(_) if lines[state.why.cursor].goal(state.snapshot.request.call) != Goal::Nothing => {
            let spot = lines[state.why.cursor].at.clone().unwrap_or_default();
            views::to_spot(state, &spot)
        }
        _ => {
            // Whoever presses Enter above the table is looking for it.
            let first = lines.iter().position(|line| matches!(line.kind, WhyKind::Way(_)));
            state.why.cursor = first.unwrap_or(state.why.cursor);
            Vec::new()
        }
    }
}
