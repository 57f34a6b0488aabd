//! The comparison: its keys, and the way from a row into the bench file.

use super::{overlay, views};
use crate::app::copy as copied;
use crate::app::effect::{Effect, EngineRequest};
use crate::app::rows::{FIRST_TURN, compared_table, selected_way};
use crate::app::state::{OverlayKind, State};
use crate::app::tables;

/// Counts the first turn alone, or all turns.
pub(super) fn turn_first(state: &mut State) {
    let turned = &mut state.here_mut().turned;
    if !turned.remove(FIRST_TURN) {
        turned.insert(FIRST_TURN.into());
    }
    views::refresh(state);
}

/// Asks what the selected way changes in the bench file, and whether to write it.
pub(super) fn ask(state: &mut State) -> Vec<Effect> {
    match selected_way(state) {
        None => state.message = "select a way first".to_owned(),
        Some(names) if names.is_empty() => {
            state.message = "this row is the bench as it is written".to_owned();
        }
        Some(names) => {
            overlay::open(state, OverlayKind::Way);
            return vec![Effect::Engine(EngineRequest::PreviewWay(names))];
        }
    }
    Vec::new()
}

/// Copies the table as it is shown.
pub(super) fn copy(state: &mut State) -> Vec<Effect> {
    let Some(table) = compared_table(state) else { return Vec::new() };
    copied::text("the comparison", tables::compared(table).text())
}
