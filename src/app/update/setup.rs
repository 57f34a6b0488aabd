//! Settings that were read again, and the theme that is chosen or looked at.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::app::effect::Effect;
use crate::app::rows::{self, Pick};
use crate::app::setup::SettingsNews;
use crate::app::state::{OverlayKind, State};

/// Takes the news in. The theme is drawn already.
pub(super) fn on_settings(state: &mut State, news: SettingsNews) -> Vec<Effect> {
    state.keymap = news.keymap;
    state.themes = news.themes;
    state.theme = news.theme.clone();
    if !choosing(state) {
        state.drawn_theme = news.theme;
    }
    state.animations = news.animations;
    state.broken_settings = news.problems;
    if !news.note.is_empty() {
        state.message = news.note;
    }
    if let Some(show) = news.show_keys {
        state.keys = show.then(VecDeque::new);
    }
    match news.mouse {
        Some(mouse) if mouse != state.mouse => {
            state.mouse = mouse;
            vec![Effect::Mouse(mouse)]
        }
        _ => Vec::new(),
    }
}

fn choosing(state: &State) -> bool {
    state.overlays.last().is_some_and(|open| open.kind == OverlayKind::Themes)
}

/// The theme under the cursor of the list, while it is open; else the one that was chosen.
pub(super) fn wanted_theme(state: &State) -> Arc<str> {
    let row = choosing(state).then(|| rows::list_rows(state));
    let cursor = state.overlays.last().map_or(0, |open| open.list.cursor);
    match row.and_then(|rows| rows.into_iter().nth(cursor)).map(|row| row.pick) {
        Some(Pick::Theme(name)) => name,
        _ => state.theme.clone(),
    }
}

/// Keeps a theme until the program ends.
pub(super) fn take_theme(state: &mut State, name: Arc<str>) {
    state.message = format!("theme {name} until you leave; `theme: {name}` in the settings keeps it");
    state.theme = name;
}
