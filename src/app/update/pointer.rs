//! The mouse.

use super::screen::{Motion, open_call};
use super::{editor, overlay, views, why_lines};
use crate::app::action::Action;
use crate::app::effect::Effect;
use crate::app::event::{Pointer, Target};
use crate::app::rows::{self, CallLine};
use crate::app::snapshot::CallState;
use crate::app::state::{OverlayKind, Pane, State, View};
use crate::core::wire::CallNo;

/// How many rows a notch of the wheel scrolls.
const NOTCH: isize = 3;

pub(super) fn on_pointer(state: &mut State, pointer: Pointer, target: Target) -> Vec<Effect> {
    match pointer {
        Pointer::Press => press(state, target),
        Pointer::Drag => {
            drag(state, target);
            Vec::new()
        }
        Pointer::WheelUp => wheel(state, target, -NOTCH),
        Pointer::WheelDown => wheel(state, target, NOTCH),
    }
}

fn press(state: &mut State, target: Target) -> Vec<Effect> {
    state.message.clear();
    if !state.overlays.is_empty() {
        return match target {
            Target::ListRow(row) => {
                if let Some(overlay) = state.overlays.last_mut() {
                    overlay.list.cursor = row;
                }
                overlay::take(state)
            }
            Target::Overlay => Vec::new(),
            Target::Action(action) => super::perform(state, action),
            // Beside what is open: it is closed.
            _ => overlay::close(state),
        };
    }
    if let Some(text) = &mut state.editor {
        text.held = matches!(target, Target::EditorRow { .. });
        match target {
            Target::Action(action) => return super::perform(state, action),
            Target::EditorRow { line, start, cell } => editor::click(state, line, start, cell),
            _ => {}
        }
        return Vec::new();
    }
    let focused = state.focus;
    match target {
        Target::Action(action) => return super::perform(state, action),
        Target::Pane(pane) if state.view == View::Main => state.focus = pane,
        Target::Layer(row) => {
            state.focus = Pane::Layers;
            state.layers.cursor = row;
        }
        Target::Verdict(line) => {
            let spot = state.snapshot.verdict.get(line).and_then(|line| line.at.clone());
            let forecast = |call: CallNo| {
                let mut rows = state.snapshot.calls.rows.iter();
                rows.any(|row| row.no == call && row.state == CallState::Forecast)
            };
            match spot {
                Some(spot) if spot.call.is_some_and(forecast) => {
                    // A click alone sends nothing.
                    let key = state.keymap.shown_key(Action::NextBreak);
                    state.message = format!("that call is forecast; {key} sends the calls until there");
                }
                Some(spot) => return views::to_spot(state, &spot),
                None => {}
            }
        }
        Target::ViewLine(line, column) => return views::click(state, line, column),
        Target::CallLine(line) => {
            state.focus = Pane::Calls;
            let lines = rows::call_lines(&state.snapshot.calls, state.metrics.compact);
            // A click on what hangs on a call means the call.
            let meant = match lines.get(line) {
                Some(CallLine::Note(call, _) | CallLine::Answer(call)) => {
                    lines.iter().position(|other| *other == CallLine::Call(*call))
                }
                Some(CallLine::Footnote | CallLine::ByHand) | None => None,
                Some(_) => Some(line),
            };
            // A click selects, a second one goes there. What is forecast it only selects: to send takes a key.
            let forecast = |line: usize| match lines.get(line) {
                Some(&CallLine::Call(call)) => {
                    state.snapshot.calls.rows.get(call).is_some_and(|row| row.state == CallState::Forecast)
                }
                _ => false,
            };
            match meant {
                Some(line) if line == state.calls.cursor && focused == Pane::Calls => {
                    if forecast(line) {
                        let key = state.keymap.shown_key(Action::OpenCall);
                        state.message = format!("that call is forecast; {key} sends the calls until there");
                        return Vec::new();
                    }
                    return open_call(state);
                }
                Some(line) => state.calls.cursor = line,
                None => {}
            }
        }
        Target::RequestRow(byte) => {
            if state.view == View::Main {
                state.focus = Pane::Request;
            }
            state.request.cursor = byte;
        }
        Target::WhyLine(line) => {
            let again = (state.why.cursor, focused) == (line, Pane::Why);
            state.focus = Pane::Why;
            state.why.cursor = line;
            if again {
                return super::perform(state, Action::SwitchWay);
            }
        }
        Target::EditorRow { .. }
        | Target::ListRow(_)
        | Target::Overlay
        | Target::Pane(_)
        | Target::Nothing => {}
    }
    Vec::new()
}

/// Selects text in the editor, from where the button went down. Elsewhere nothing is dragged.
fn drag(state: &mut State, target: Target) {
    let held = state.overlays.is_empty() && state.editor.as_ref().is_some_and(|editor| editor.held);
    if let (true, Target::EditorRow { line, start, cell }) = (held, target) {
        state.message.clear();
        editor::drag(state, line, start, cell);
    }
}

/// Scrolls what is under the mouse, focused or not.
fn wheel(state: &mut State, target: Target, by: isize) -> Vec<Effect> {
    if let Some(overlay) = state.overlays.last() {
        if overlay.kind != OverlayKind::Search {
            overlay::go(state, Motion::By(by));
        }
        return Vec::new();
    }
    if state.editor.is_some() {
        editor::scroll(state, by);
        return Vec::new();
    }
    let height = |state: &State, pane| state.height(pane);
    if state.pane().is_none() {
        views::scroll(state, by);
        return Vec::new();
    }
    match target {
        Target::Layer(_) | Target::Pane(Pane::Layers) => {
            let (len, rows) = (state.snapshot.layers.rows.len(), height(state, Pane::Layers));
            state.layers.scroll(by, len, rows);
        }
        Target::CallLine(_) | Target::Pane(Pane::Calls) => {
            let len = rows::call_lines(&state.snapshot.calls, state.metrics.compact).len();
            let rows = height(state, Pane::Calls);
            state.calls.scroll(by, len, rows);
        }
        Target::WhyLine(_) | Target::Pane(Pane::Why) => {
            let (len, rows) = (why_lines(state).len(), height(state, Pane::Why));
            state.why.scroll(by, len, rows);
        }
        Target::RequestRow(_) | Target::Pane(Pane::Request) => {
            let (top, cursor, rows) = (state.request.top, state.request.cursor, height(state, Pane::Request));
            let places = state.with_rows(|block| {
                let top = if by < 0 {
                    block.back(top, by.unsigned_abs())
                } else {
                    // The last row stays at the bottom.
                    block.forward(top, by.unsigned_abs()).min(block.back(block.last(), rows - 1).max(top))
                };
                let bottom = block.forward(top, rows - 1);
                (top, cursor.clamp(top, bottom))
            });
            if let Some((top, cursor)) = places {
                (state.request.top, state.request.cursor) = (top, cursor);
            }
        }
        _ => {}
    }
    Vec::new()
}
