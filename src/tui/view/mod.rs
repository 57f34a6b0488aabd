//! Frames: pure functions of the state. Drawing decides nothing; it notes what lies where, for the mouse, and how many
//! rows there were, for moving.

mod banner;
mod calls;
mod canvas;
mod caption;
mod compose;
mod diff;
mod editor;
mod header;
mod layers;
mod orders;
mod overlay;
mod page;
mod request;
mod why;

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::Rect;

use self::canvas::Canvas;
use super::layout::{self, Layout, Size, Wishes};
use super::regions::Regions;
use super::theme::{Role, Theme};
use crate::app::action::Action;
use crate::app::event::Target;
use crate::app::state::{Hit, Pane, State, View};

/// Draws the state. What is returned belongs to the next events: [`Regions::hit`] for the mouse, and its metrics for
/// [`crate::app::event::Event::Drawn`].
pub fn draw(state: &State, theme: &Theme, frame: &mut Frame<'_>) -> Regions {
    let mut regions = Regions::default();
    let area = frame.area();
    let mut canvas = Canvas { buffer: frame.buffer_mut(), theme, regions: &mut regions };
    canvas.paint(area, Role::Text);
    let cursor = screen(&mut canvas, area, state);
    if let Some(cursor) = cursor.filter(|cursor| area.contains(*cursor)) {
        frame.set_cursor_position(cursor);
    }
    regions
}

fn screen(canvas: &mut Canvas<'_>, area: Rect, state: &State) -> Option<ratatui::layout::Position> {
    let area = banner::draw(canvas, area, state);
    // How wide the panes are decides how their content is laid out, and the other way round: the size of the screen
    // comes first.
    let probe = layout::layout(area, 0, false, Wishes::default());
    canvas.regions.metrics.compact = probe.size != Size::Wide;
    let wishes = Wishes {
        header: header::wish(state, area.width),
        layers: layers::wish(&state.snapshot.layers),
        calls: calls::wish(&state.snapshot.calls, canvas.regions.metrics.compact),
        verdict: u16::try_from(why::verdict_rows(&state.snapshot, area.width.saturating_sub(3)).len())
            .unwrap_or(2),
        caption: caption::wish(state, area.width),
    };
    // What is typed for a conversation stands below the panes; a file takes their place.
    let file = state.editor.as_ref().filter(|editor| editor.typing.is_none());
    let whole = state.zoom || state.view != View::Main || file.is_some();
    let layout = layout::layout(area, state.focus.index(), whole, wishes);
    if layout.size == Size::TooSmall {
        canvas.text(
            area.x,
            area.y,
            area.width,
            &format!("too small: {}x{}", area.width, area.height),
            Role::Text,
        );
        return None;
    }
    header::draw(canvas, layout.header, layout.size, state);
    let room = layout.panes[state.focus.index()];
    let mut typing = None;
    match (file, state.view) {
        (Some(text), _) => typing = editor::draw(canvas, room, layout.size, state, text),
        (None, View::Main) => panes(canvas, &layout, state),
        (None, View::Orders) => orders::draw(canvas, room, layout.size, state),
        (None, View::Bytes) => request::draw(canvas, room, layout.size, state),
        (
            None,
            View::Ledger
            | View::Injectors
            | View::Log
            | View::Blocks
            | View::Lints
            | View::Recording
            | View::Zones
            | View::Compare
            | View::WhatIf
            | View::Steps,
        ) => {
            page::draw(canvas, room, layout.size, state);
        }
        (None, View::Diff) => diff::draw(canvas, room, layout.size, state),
    }
    why::draw_verdict(canvas, layout.verdict, state);
    caption::draw(canvas, layout.caption, state);
    header::draw_status(canvas, layout.status, state);
    header::draw_footer(canvas, layout.footer, layout.size, state);
    if let Some(text) = state.editor.as_ref().filter(|editor| editor.typing.is_some()) {
        let low = if layout.status.is_empty() { layout.footer.y } else { layout.status.y };
        let above = Rect { height: low.saturating_sub(area.y), ..area };
        typing = compose::draw_text(canvas, above, state, text);
    }
    let cursor = overlay::draw(canvas, area, layout.footer, state);
    header::draw_keys(canvas, layout.footer, state);
    cursor.or(typing)
}

fn panes(canvas: &mut Canvas<'_>, layout: &Layout, state: &State) {
    let mut areas = layout.panes;
    if layout.size == Size::Single {
        let area = &mut areas[state.focus.index()];
        if area.height > 5 {
            tabs(canvas, Rect { height: 1, ..*area }, state);
            *area = Rect { y: area.y + 1, height: area.height - 1, ..*area };
        }
    }
    layers::draw(canvas, areas[0], layout.size, state);
    calls::draw(canvas, areas[1], layout.size, state);
    request::draw(canvas, areas[2], layout.size, state);
    why::draw(canvas, areas[3], layout.size, state);
}

/// The names of the panes, where only one of them is shown.
fn tabs(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let mut x = area.x;
    for (name, pane, focused) in header::tabs(state.focus) {
        let role = if focused { Role::BoxTitleFocus } else { Role::Dim };
        let from = x;
        x += canvas.text(x, area.y, area.right().saturating_sub(x), &name, role);
        let action = match pane {
            Pane::Layers => Action::FocusLayers,
            Pane::Calls => Action::FocusCalls,
            Pane::Request => Action::FocusRequest,
            Pane::Why => Action::FocusWhy,
        };
        canvas.regions.note(Rect { x: from, width: x - from, ..area }, Target::Action(action));
    }
}

/// The rows of a pane that the search found, with how they are painted.
fn hits(state: &State, pane: Pane) -> BTreeMap<usize, Role> {
    let Some(search) = state.search.as_ref().filter(|search| search.pane == pane) else {
        return BTreeMap::new();
    };
    let row = |(index, hit): (usize, &Hit)| match hit {
        Hit::Row(row) => Some((*row, if index == search.at { Role::SearchCurrent } else { Role::Search })),
        Hit::Bytes(..) => None,
    };
    search.hits.iter().enumerate().filter_map(row).collect()
}
