//! Keys of cache zones.

use super::views;
use crate::app::effect::{Effect, EngineRequest};
use crate::app::rows::zone_lane;
use crate::app::snapshot::Lost;
use crate::app::state::State;
use crate::core::fix::Fix;
use crate::core::wire::CallNo;

/// Where one is in the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZonesState {
    /// The selected model, an index into the lanes.
    pub lane: usize,
    /// The call that was asked for last; none for the shown one.
    pub call: Option<CallNo>,
}

/// The index of the call that is looked at, of the run's calls.
fn at(state: &State) -> Option<usize> {
    let zones = state.snapshot.data.zones()?;
    let call = state.zones.call.unwrap_or(zones.call);
    zones.calls.iter().position(|other| *other == call)
}

fn look_at(state: &mut State, to: usize) -> Vec<Effect> {
    let call = state.snapshot.data.zones().and_then(|zones| zones.calls.get(to).copied());
    let Some(call) = call else { return Vec::new() };
    state.zones.call = Some(call);
    vec![Effect::Engine(EngineRequest::Zones(call))]
}

/// The call before or behind. Nothing is sent: calls ahead are forecast.
pub(super) fn step(state: &mut State, by: isize) -> Vec<Effect> {
    match at(state).and_then(|at| at.checked_add_signed(by)) {
        Some(to) => look_at(state, to),
        None => Vec::new(),
    }
}

/// The next call behind this one that pays something again on the selected model; behind the last comes the first.
pub(super) fn next_break(state: &mut State) -> Vec<Effect> {
    let Some((zones, at)) = state.snapshot.data.zones().zip(at(state)) else { return Vec::new() };
    let Some(lane) = zones.lanes.get(zone_lane(state)) else { return Vec::new() };
    let breaks = |index: &usize| matches!(lane.strip.get(*index), Some(Lost::Tokens(_)));
    let next = (at + 1..lane.strip.len()).find(breaks).or_else(|| (0..=at).find(breaks));
    match next {
        Some(next) => look_at(state, next),
        None => {
            state.message = format!("{} pays nothing again in this run", lane.short);
            Vec::new()
        }
    }
}

/// Another model is selected.
pub(super) fn select(state: &mut State, lane: usize) {
    state.zones.lane = lane;
    views::refresh(state);
    let key = format!("lane:{lane}");
    if let Some(line) = state.page.lines.iter().position(|line| *line.key == *key) {
        state.here_mut().list.cursor = line;
    }
}

/// The next model; behind the last comes the first.
pub(super) fn next_lane(state: &mut State) {
    let lanes = state.snapshot.data.zones().map_or(0, |zones| zones.lanes.len());
    if lanes > 0 {
        let next = (zone_lane(state) + 1) % lanes;
        select(state, next);
    }
}

/// A change is tried out; one that is tried out already is made.
pub(super) fn fix(state: &State, fix: Fix) -> Vec<Effect> {
    let preview = state.snapshot.data.zones().and_then(|zones| zones.preview.as_ref());
    let tried = preview.is_some_and(|preview| preview.fix.how == fix.how);
    vec![Effect::Engine(if tried { EngineRequest::Mend(fix) } else { EngineRequest::PreviewFix(fix) })]
}

/// What is tried out is taken back. False when nothing is.
pub(super) fn take_back(state: &State, effects: &mut Vec<Effect>) -> bool {
    let tried = state.snapshot.data.zones().is_some_and(|zones| zones.preview.is_some());
    if tried {
        effects.push(Effect::Engine(EngineRequest::CancelPreview));
    }
    tried
}
