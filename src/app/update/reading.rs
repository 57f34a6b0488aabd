//! How the request is read: raw or rendered, wrapped or not, with parts folded.

use std::sync::Arc;

use super::screen::open_layer;
use crate::app::action::Action;
use crate::app::rows::Look;
use crate::app::state::{Pane, State};

/// From the text to raw, to rendered, and back.
pub(super) fn turn_look(state: &mut State) {
    let (look, words) = match state.request.look {
        Look::Text => (Look::Raw, "raw: spaces and everything that is not seen are written out"),
        Look::Raw => (Look::Rendered, "rendered: laid out for reading, without its markup"),
        Look::Rendered => (Look::Text, "text: as it is written"),
    };
    state.request.look = look;
    state.message = words.to_owned();
}

/// Breaks long lines, or lets them go on to the right.
pub(super) fn turn_wrap(state: &mut State) {
    state.request.cut = !state.request.cut;
    state.request.left = 0;
    state.message = if state.request.cut {
        let key = |action| state.keymap.shown_key(action);
        let (left, right) = (key(Action::ScrollLeft), key(Action::ScrollRight));
        let there = match state.pane() {
            Some(Pane::Request) => String::new(),
            _ => format!(" in pane 3 ({})", key(Action::FocusRequest)),
        };
        format!("long lines are not broken; {left} and {right} scroll them{there}")
    } else {
        "long lines are broken".to_owned()
    };
}

/// Scrolls to the side by half of what is on the screen.
pub(super) fn scroll(state: &mut State, by: isize) {
    if !state.request.cut {
        state.message =
            "long lines are broken, so there is nothing at the side; W lets them go on".to_owned();
        return;
    }
    let step = usize::from(state.metrics.panes[Pane::Request.index()].0 / 2).max(8);
    let to = state.request.left.saturating_add_signed(by * isize::try_from(step).unwrap_or(8));
    // Not further than the longest row on the screen.
    let (top, height) = (state.request.top, state.height(Pane::Request));
    let widest = state.with_rows(|rows| {
        let rows = rows.from(top).take(height);
        rows.map(|row| row.text.len().max(row.laid.map_or(0, |laid| laid.iter().map(|l| l.text.len()).sum())))
            .max()
    });
    state.request.left = to.min(widest.flatten().unwrap_or(0).saturating_sub(1));
}

/// Folds every part of the block but one, or unfolds all of them when that is what is shown. In the list of layers the
/// one is the selected layer, elsewhere the part under the cursor.
pub(super) fn fold_others(state: &mut State) {
    if state.pane() == Some(Pane::Layers) {
        open_layer(state);
        if state.pane() == Some(Pane::Layers) {
            // It writes nothing here, and that was said.
            return;
        }
    }
    let cursor = state.request.cursor;
    let Some(part) = state.with_rows(|rows| rows.part_at(cursor)) else { return };
    let Some((title, parts)) = state.block().map(|block| (Arc::clone(&block.title), block.parts.len()))
    else {
        return;
    };
    if parts < 2 {
        state.message = "there is only this one part in the block".to_owned();
        return;
    }
    let folded = state.folded();
    let only = !folded.contains(&part) && folded.len() + 1 == parts;
    for other in 0..parts {
        let key = (Arc::clone(&title), other);
        if only || other == part {
            state.request.folded.remove(&key);
        } else {
            state.request.folded.insert(key);
        }
    }
    state.message = match parts - 1 {
        _ if only => "all parts are unfolded".to_owned(),
        1 => "the other part is folded; f again unfolds it".to_owned(),
        others => format!("{others} parts are folded; f again unfolds them"),
    };
}
