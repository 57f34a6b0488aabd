//! What people expect of a terminal program, where no other test of keys and screens holds it.

use std::sync::Arc;

use plywood::app::action::{self, ACTIONS, Action, Scope};
use plywood::app::event::Event;
use plywood::app::keymap::Keymap;
use plywood::app::rows::list_rows;
use plywood::app::setup::{SettingsNews, ThemeRow};
use plywood::app::state::{OverlayKind, Pane, State};
use plywood::app::update::update;
use plywood::app::{effect::Effect, key::Key};
use plywood::core::diagnostic::{Diagnostic, Position};
use plywood::io::settings::file;

use super::fixture::xbot;
use super::keys::press;
use super::shot::Shot;
use super::{shot, showing};

fn drawn() -> State {
    let mut state = showing(xbot());
    Shot::new(120, 40).draw(&mut state);
    state
}

/// The news of settings with these keys.
fn news(keys: &str) -> SettingsNews {
    let given = file::read("config.yaml", &format!("keys: {{ {keys} }}\n")).expect("settings");
    let row = |name: &str| ThemeRow { name: name.into(), about: "a theme".into() };
    SettingsNews {
        keymap: Arc::new(Keymap::new(&given.keys.expect("keys")).expect("a keymap")),
        theme: "ansi".into(),
        themes: ["ansi", "dark", "light"].map(row).into(),
        mouse: None,
        show_keys: None,
        animations: true,
        problems: Arc::default(),
        note: String::new(),
    }
}

#[test]
fn the_help_begins_with_the_focused_pane_lists_every_key_and_is_searched() {
    for pane in Pane::ALL {
        let mut state = drawn();
        press(&mut state, &format!("{}?", pane.index() + 1));
        let rows = list_rows(&state);
        assert_eq!((rows[0].is_heading(), rows[0].title.as_str()), (true, pane.title()));
        for info in ACTIONS.iter().filter(|info| action::useful(&state, info.action)) {
            assert!(
                rows.iter().any(|row| row.title == info.title && row.key == info.shown_keys()),
                "{} is missing",
                info.id
            );
        }
        press(&mut state, "mouse");
        let found = list_rows(&state);
        assert!(found.len() < rows.len());
        // The way to select text although the mouse is captured.
        assert!(found.iter().any(|row| row.about.contains("Shift (Option on a Mac) selects")), "{found:?}");
    }
}

#[test]
fn every_pane_says_its_number() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let text = shot(width, height, &mut drawn());
        for pane in Pane::ALL {
            let title = format!(" {} {} ", pane.index() + 1, pane.title());
            assert!(text.contains(&title), "{title} in {width}x{height}\n{text}");
        }
    }
}

#[test]
fn lists_move_by_letters_arrows_and_pages() {
    let place =
        |state: &State| (state.layers.cursor, state.calls.cursor, state.request.cursor, state.why.cursor);
    for pane in 1..=4 {
        for (one, other) in [("j", "<down>"), ("jk", "<down><up>"), ("G", "<end>"), ("Gg", "<end><home>")] {
            let (mut a, mut b) = (drawn(), drawn());
            press(&mut a, &format!("{pane}{one}"));
            press(&mut b, &format!("{pane}{other}"));
            assert_eq!(place(&a), place(&b), "{pane}: {one} and {other}");
        }
        let (mut line, mut half, mut page) = (drawn(), drawn(), drawn());
        press(&mut line, &format!("{pane}gj"));
        press(&mut half, &format!("{pane}g<ctrl-d>"));
        press(&mut page, &format!("{pane}g<pgdn>"));
        let far = |state: &State| {
            let (a, b, c, d) = place(state);
            a + b + c + d
        };
        assert!(far(&line) <= far(&half) && far(&half) <= far(&page), "{pane}");
        press(&mut page, "<pgup>");
        press(&mut half, "<ctrl-u>");
        assert_eq!(place(&page), place(&half), "{pane}: back at the start");
    }
}

#[test]
fn the_footer_shows_what_can_be_pressed_now_and_drops_the_least_first() {
    let footer = |width: u16, state: &mut State| {
        let text = shot(width, 40, state);
        text.lines().last().expect("a footer").to_owned()
    };
    let mut state = drawn();
    let mut last = usize::MAX;
    for width in [200, 120, 100, 80, 60, 40] {
        let line = footer(width, &mut state);
        assert!(line.contains("? keys"), "{width}: {line}");
        let hints = line.split_whitespace().count();
        assert!(hints <= last, "{width}: {line}");
        last = hints;
    }
    // At the first call there is nothing to go back to.
    assert!(footer(200, &mut state).contains("Bksp back"));
    let mut snapshot = xbot();
    snapshot.calls.shown = Some(0);
    update(&mut state, Event::Published(Arc::new(snapshot)));
    assert!(!footer(200, &mut state).contains("Bksp back"));
}

#[test]
fn rebound_keys_act_and_are_shown_wherever_keys_are() {
    let mut state = drawn();
    let before = press(&mut state, "<space>");
    update(&mut state, Event::Settings(news("send: [f5, f6], quit: [], accept: [f2], up: [f7, up]")));
    assert_eq!(press(&mut state, "<space>q"), [], "their keys of old");
    assert_eq!(press(&mut state, "<f5>"), before);
    assert_eq!(press(&mut state, "<f6>"), before);
    let text = shot(120, 40, &mut state);
    assert!(text.contains("F5 send call 2") && !text.contains("Space send"), "{text}");
    for list in ["?", ":"] {
        press(&mut state, list);
        let rows = list_rows(&state);
        let send = rows.iter().find(|row| row.title == "Send the next call").expect("the action");
        assert_eq!(send.key, "F5 F6", "{list}");
        press(&mut state, "<esc>");
    }
    // In a menu the keys of the screen's lists move, too, and the row is taken with the new key.
    press(&mut state, "v<down><down><f7>");
    assert_eq!(state.overlays.last().expect("the menu").list.cursor, 1);
    let text = shot(120, 40, &mut state);
    assert!(text.contains("F2 opens; Esc closes"), "{text}");
    assert_eq!(press(&mut state, "<enter>"), []);
    assert_eq!(state.overlays.len(), 1);
    press(&mut state, "<f2>");
    assert!(state.overlays.is_empty() && state.focus == Pane::Calls);
    assert!(press(&mut state, "<ctrl-c><ctrl-c>").contains(&Effect::Quit), "the way out");
}

#[test]
fn a_theme_is_drawn_while_it_is_looked_at() {
    let mut state = drawn();
    assert_eq!(press(&mut state, "t"), [], "no themes are known");
    update(&mut state, Event::Settings(news("")));
    let theme = |name: &str| Effect::Theme(name.into());
    assert_eq!(press(&mut state, "tj"), [theme("dark")]);
    assert_eq!(press(&mut state, "j"), [theme("light")]);
    assert_eq!(press(&mut state, "<esc>"), [theme("ansi")]);
    assert_eq!(press(&mut state, "tj<enter>"), [theme("dark")]);
    assert_eq!((&*state.theme, state.overlays.len()), ("dark", 0));
    // The list opens on the theme that is chosen.
    press(&mut state, "t");
    assert_eq!(state.overlays.last().expect("the list").list.cursor, 1);
    assert_eq!(state.overlays.last().expect("the list").kind, OverlayKind::Themes);
}

#[test]
fn broken_settings_are_told_above_everything_in_every_size() {
    let problem = Diagnostic::error("unknown key `thme` in the settings")
        .at("~/.config/plywood/config.yaml", "thme: dark\n", Position { line: 1, column: 1 })
        .hint("did you mean `theme`?");
    for (width, height) in [(80, 24), (120, 40), (200, 60), (30, 8)] {
        let mut state = drawn();
        let mut news = news("");
        news.problems = vec![problem.clone(), Diagnostic::error("another")].into();
        update(&mut state, Event::Settings(news.clone()));
        let text = shot(width, height, &mut state);
        assert!(text.starts_with(" ! Not taken: unknown key"), "{text}");
        if width == 200 {
            let line = text.lines().next().expect("a line");
            assert_eq!(
                line,
                " ! Not taken: unknown key `thme` in the settings, ~/.config/plywood/config.yaml:1:1; did you mean `theme`? (and 1 more)"
            );
        }
        news.problems = Arc::default();
        update(&mut state, Event::Settings(news));
        assert!(!shot(width, height, &mut state).contains("unknown key"));
    }
}

#[test]
fn nothing_that_is_typed_acts_as_a_key() {
    // Every character key of the screen, typed where text is typed.
    let plain = ACTIONS
        .iter()
        .filter(|info| matches!(info.scope, Scope::Screen | Scope::Pane(_)))
        .flat_map(|info| info.keys)
        .filter(|key| key.chars().count() == 1 || **key == "space");
    let keys: Vec<Key> = plain.filter_map(|key| Key::parse(key)).collect();
    assert!(keys.len() > 30);
    for open in ["/", "?", ":", "c"] {
        for key in &keys {
            let mut state = drawn();
            press(&mut state, open);
            let typed = |state: &State| state.overlays.last().map(|open| open.editor.text().chars().count());
            let before = typed(&state).expect("an input");
            let effects = update(&mut state, Event::Key(*key));
            assert_eq!(typed(&state), Some(before + 1), "{open}{key}: {effects:?}");
            assert!(!effects.contains(&Effect::Quit), "{open}{key}");
        }
    }
}

#[test]
fn a_click_reaches_nothing_that_no_key_reaches() {
    // What the footer, the header and the tabs offer to the mouse are actions, and every action has a key.
    assert!(ACTIONS.iter().all(|info| !Keymap::default().keys(info.action).is_empty()));
    assert!(!action::info(Action::Mouse).about.is_empty());
}
