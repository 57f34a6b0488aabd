//! The menu of what can be copied, and what is copied from it.

use plywood::app::copy::{self, Content, Copy, Copyable};
use plywood::app::effect::Effect;
use plywood::app::event::Event;
use plywood::app::key::Key;
use plywood::app::state::State;
use plywood::app::update::update;

use super::fixture::xbot;
use super::{shot, showing};

fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    // A frame is drawn first, as keys mean what they mean on what is seen.
    shot(120, 40, state);
    keys.chars().flat_map(|key| update(state, Event::Key(Key::char(key)))).collect()
}

#[track_caller]
fn copied(state: &mut State, keys: &str) -> (String, String) {
    let effects = press(state, keys);
    let [Effect::Copy(Copy { what, content: Content::Text(text) })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(state.overlays.is_empty(), "the menu is closed");
    (what.to_string(), text.to_string())
}

#[test]
fn the_menu_opens_on_what_the_focused_pane_is_about() {
    let mut state = showing(xbot());
    press(&mut state, "y");
    insta::assert_snapshot!("copy_120x40", shot(120, 40, &mut state));
    insta::assert_snapshot!("copy_80x24", shot(80, 24, &mut state));

    for (keys, want_what, want_text) in [
        ("2yy", "the blame line", "ahead: 1 break, 9,472 tokens paid again: call 5, byte 386 of system"),
        ("1jyy", "the text of 00_base", "You are a coding agent.\nCWD: /home/shop\n"),
        ("3yy", "what tool result, Cd wrote into message 4 (tool)", "Changed directory to /home/shop/api"),
        ("2yjjy", "message 4 (tool)", "Changed directory to /home/shop/api\n\n<dynamic-context>"),
        ("2yjjjy", "the whole system prompt", "You are a coding agent.\nCWD: /home/shop\n\n渠道: feishu"),
    ] {
        let (what, text) = copied(&mut showing(xbot()), keys);
        assert_eq!(what, want_what);
        assert!(text.starts_with(want_text), "{what}: {text}");
    }
}

#[test]
fn a_separator_is_no_part_of_what_was_written() {
    let mut state = showing(xbot());
    let (what, text) = copied(&mut state, "3jyy");
    assert_eq!(what, "what dynamic-context wrote into message 4 (tool)");
    assert!(text.trim_start().starts_with("<dynamic-context>"), "{text:?}");
}

#[test]
fn tables_are_copied_with_their_columns() {
    let mut state = showing(xbot());
    press(&mut state, "y");
    let rows = plywood::app::copy::choices(&state);
    let titles: Vec<&str> = rows.iter().map(|(_, title, _)| &**title).collect();
    assert_eq!(
        titles[titles.len() - 3..],
        ["The layers as a table", "The calls as a table", "The ways as a table"]
    );
    let (what, text) = copied(&mut state, &("j".repeat(titles.len()) + "y"));
    assert_eq!(what, "the ways as a table");
    assert!(text.starts_with("   way"), "{text}");
    assert!(text.contains(">  tool message"), "{text}");
}

#[test]
fn escape_leaves_the_menu_and_copies_nothing() {
    let mut state = showing(xbot());
    press(&mut state, "y");
    let effects = update(&mut state, Event::Key(Key::parse("esc").expect("a key")));
    assert!(effects.is_empty() && state.overlays.is_empty());
}

#[test]
fn a_view_is_copied_as_it_is_shown() {
    for key in ["l", "L", "i"] {
        let mut day = super::day::Day::new();
        day.press(&format!(" {key}"));
        let page = day.state.page.clone();
        let title = day.state.view.title();
        assert!(!page.lines.is_empty() || key == "i", "{title}");
        let text = copy::of(&day.state, Copyable::View).map(|copy| copy.content.text().to_string());
        let text = text.unwrap_or_default();
        // Every word of every line is in it, and the heads.
        let cells = page.lines.iter().flat_map(|line| &line.cells);
        for cell in cells.map(|cell| cell.text.trim()) {
            assert!(text.contains(cell), "{title}: {cell:?} is not in\n{text}");
        }
        assert_eq!(
            text.lines().next().map(str::is_empty),
            (!page.lines.is_empty()).then_some(false),
            "{title}"
        );
    }
    // In a view the menu opens on it; with the panes there is no view to copy.
    let mut day = super::day::Day::new();
    assert_eq!(copy::of(&day.state, Copyable::View), None);
    let screen = day.press(" ly");
    super::day::has(&screen, "The view Ledger as a table");
    day.press("y");
    assert!(day.state.overlays.is_empty());
}
