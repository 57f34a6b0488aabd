//! What is composed by hand: the box in which a text is typed, and the line for something short. They stand above the row
//! of keys, so that what they would do is seen in the panes meanwhile.

use ratatui::layout::{Position, Rect};

use super::canvas::{Canvas, row_area};
use super::{editor, overlay};
use crate::app::action::{Action, hint, info};
use crate::app::cells;
use crate::app::compose::Typing;
use crate::app::editor::{Editor, Rows};
use crate::app::event::Target;
use crate::app::form::Subject;
use crate::app::rows;
use crate::app::state::{Overlay, State};
use crate::tui::theme::Role;

/// The rows of a text that are shown at most.
const ROWS: usize = 8;

/// Draws the box of a text that is typed, in the lowest rows of `area`. Returns where the terminal's cursor belongs.
pub(super) fn draw_text(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &State,
    text: &Editor,
) -> Option<Position> {
    let Some(typing) = &text.typing else { return None };
    let width = usize::from(area.width.saturating_sub(4)).max(1);
    let lines = Rows::new(&text.document, width).from(Default::default()).take(ROWS).count().max(2);
    // As many rows as the text has, and one for what it would do; half of the panes stay in sight.
    let most = (area.height / 2).max(4);
    let height = u16::try_from(lines + 3).unwrap_or(most).min(most);
    let area = overlay::bottom(area, height);
    canvas.clear(area);
    canvas.regions.note(area, Target::Overlay);
    let title = format!(" {} ", title(state, typing));
    let keys = [(Action::Save, typing.takes()), (Action::UpLevel, "back")];
    let note = state.keymap.hints(&keys, ", ");
    let inner = canvas.boxed(area, &[(&title, Role::BoxTitleFocus)], &note, true);
    if inner.is_empty() {
        return None;
    }
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let says = u16::from(inner.height > 1);
    if says > 0 {
        let place = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        tell(canvas, place, state, typing, text.document.is_empty());
    }
    editor::typed(canvas, Rect { height: inner.height - says, ..inner }, state, text)
}

/// What it would do, what is wrong with it, or what is to be typed.
fn tell(canvas: &mut Canvas<'_>, place: Rect, state: &State, typing: &Typing, empty: bool) {
    let effect = rows::composed_effect(state);
    let (text, role) = if !state.message.is_empty() {
        (state.message.clone(), Role::Input)
    } else if effect.starts_with('!') {
        (effect, Role::Bad)
    } else if !effect.is_empty() {
        (effect, Role::Changed)
    } else {
        let wanted = match typing {
            Typing::Said(_) if empty => "a message; what it does to the next request shows before it is said",
            Typing::Answer => "a text without calls ends the turn",
            _ => "",
        };
        (wanted.to_owned(), Role::Dim)
    };
    canvas.text(place.x, place.y, place.width, &text, role);
}

fn title(state: &State, typing: &Typing) -> String {
    let call = state.composer.call.0;
    match typing {
        Typing::Argument(at, name) => {
            let tool = state.composer.calls.get(*at).map_or("", |call| &*call.name);
            format!("{tool}: {name}")
        }
        Typing::Another(at) | Typing::Result(at) => {
            let tool = state.composer.calls.get(*at).map_or("", |call| &*call.name);
            format!("{tool}: {}", typing.title().to_lowercase())
        }
        Typing::Answer | Typing::Before | Typing::Failure => {
            let call = state.snapshot.hand.as_ref().map_or(call, |hand| hand.call.0);
            format!("Call {call}: {}", typing.title().to_lowercase())
        }
        Typing::Said(_) | Typing::RunName => typing.title(),
    }
}

/// Draws the line in which something short is typed, with what is wanted and what is wrong with it.
pub(super) fn draw_line(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &State,
    open: &Overlay,
) -> Option<Position> {
    let Some(Subject::Typing(typing)) = &open.subject else { return None };
    let area = overlay::bottom(area, 5);
    canvas.clear(area);
    canvas.regions.note(area, Target::Overlay);
    let takes = hint(state, info(Action::TakeLine));
    let mut keys = vec![(Action::TakeLine, &*takes)];
    if state.composer.takes_lines(typing) {
        keys.push((Action::MoreLines, "several lines"));
    }
    keys.push((Action::UpLevel, "back"));
    let note = state.keymap.hints(&keys, "; ");
    let title = format!(" {} ", title(state, typing));
    let inner = canvas.boxed(area, &[(&title, Role::BoxTitleFocus)], &note, true);
    if inner.is_empty() {
        // No room for a box: the line alone.
        return overlay::input(canvas, overlay::bottom(area, 1), "> ", &open.editor);
    }
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let cursor = overlay::input(canvas, row_area(inner, 0), "> ", &open.editor);
    let (text, role) = match &state.message {
        message if !message.is_empty() => (format!("! {message}"), Role::Bad),
        _ => (wanted(state, typing), Role::Dim),
    };
    for (at, (range, _)) in cells::wrap(&text, usize::from(inner.width)).into_iter().take(2).enumerate() {
        let place = row_area(inner, at + 1);
        if place.height > 0 {
            canvas.text(place.x, place.y, place.width, text[range].trim_end(), role);
        }
    }
    cursor
}

/// What is to be typed.
fn wanted(state: &State, typing: &Typing) -> String {
    match typing {
        Typing::Argument(at, name) => {
            let call = state.composer.calls.get(*at);
            match call.and_then(|call| call.argument(name)) {
                Some(own) if own.about.is_empty() => own.kind.words(),
                Some(own) => format!("{}: {}", own.kind.words(), own.about),
                None => "any value".to_owned(),
            }
        }
        Typing::Another(_) => "name: value; [..] and {..} as YAML and JSON write them".to_owned(),
        Typing::Failure => "the reason that the provider gives; the same request waits again".to_owned(),
        Typing::RunName if state.snapshot.sheet.is_none() => {
            "this folder has no bench file: a copy of its built-in bench is written into it, bench.yaml, with this run"
                .to_owned()
        }
        Typing::RunName => "a name; the run is written into the bench file, and undo takes it out again".to_owned(),
        Typing::Said(_) | Typing::Answer | Typing::Before | Typing::Result(_) => String::new(),
    }
}
