//! Lists above the screen, footers and refusals at the smallest stage: what is cut is said whole somewhere, every key that
//! is offered does something, and every refusal says what would work.

use plywood::app::action::{self, ACTIONS, VIEWS};
use plywood::app::event::Event;
use plywood::app::key::Key;
use plywood::app::state::{OverlayKind, View};

use super::compare::pressed;
use super::day::{Day, body, has};

const STAGE: (u16, u16) = (80, 24);

/// The last two rows as one text: what is said may take both.
fn joined(screen: &str) -> String {
    let rows: Vec<&str> = screen.lines().rev().take(2).collect();
    rows.iter().rev().flat_map(|row| row.split_whitespace()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_menu_of_views_says_every_title_and_the_selected_sentence_whole() {
    let mut day = Day::sample("xbot", STAGE);
    let screen = day.press("v");
    for view in VIEWS.iter().filter(|view| action::useful(&day.state, **view)) {
        has(&screen, action::info(*view).title);
    }
    has(&screen, "Focuses the layers: sizes, shares, what changed.");
    assert!(!body(&screen).contains(".. "), "a row is cut:\n{screen}");
    // Each sentence, wherever it is broken.
    for _ in 1..VIEWS.len() {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ │ ", "");
        let screen = day.press("<down>");
        let list = plywood::app::rows::list_rows(&day.state);
        let row = &list[day.state.overlays[0].list.cursor];
        has(&words(&screen), &words(&row.about));
    }
    insta::assert_snapshot!("list_views_80x24", screen);
}

#[test]
fn what_is_cut_in_a_list_stands_below_it() {
    let mut day = Day::sample("omx", STAGE);
    for (keys, cut) in [("m", "$"), (":", "one beat.")] {
        let screen = day.press(keys);
        has(&screen, cut);
        day.press("<esc>");
    }
    // Where nothing is cut nothing stands below.
    let screen = day.press("R");
    let rows: Vec<&str> = screen.lines().collect();
    let last = rows.iter().position(|row| row.contains("skills      1 call, 1 turn")).expect("the last run");
    has(rows[last + 1], "└─ Enter takes; Esc closes");
}

#[test]
fn the_keys_of_a_list_are_the_same_in_its_border_and_in_the_footer() {
    let mut day = Day::sample("xbot", STAGE);
    for (keys, kind) in [
        ("v", OverlayKind::Views),
        ("m", OverlayKind::Models),
        ("V", OverlayKind::Variants),
        ("R", OverlayKind::Runs),
        ("y", OverlayKind::Copy),
        ("P", OverlayKind::Form),
        ("?", OverlayKind::Help),
        (":", OverlayKind::Palette),
    ] {
        let screen = day.press(keys);
        assert_eq!(day.open(), Some(kind), "{keys}");
        let footer = screen.lines().last().expect("a footer");
        let border = screen.lines().rfind(|line| line.contains('└')).expect("a border");
        for (action, does) in plywood::app::rows::list_keys(&day.state.overlays[0]) {
            let hint = format!("{} {does}", day.state.keymap.shown_key(action));
            assert!(footer.contains(&hint) && border.contains(&hint), "{hint}:\n{screen}");
        }
        day.press("<esc>");
    }
}

#[test]
fn reading_both_texts_leads_back_to_the_choice() {
    let mut day = Day::sized(80, 24);
    day.press("1jex");
    day.write("base.md", "theirs\n");
    assert_eq!(day.open(), Some(OverlayKind::Conflict));
    let screen = day.press("<enter>");
    assert_eq!(day.open(), Some(OverlayKind::Both));
    has(&screen, "- theirs, + mine; Enter goes back to the choice");
    has(screen.lines().last().expect("a footer"), "Enter goes back to the choice");
    let screen = day.press("<enter>");
    assert_eq!(day.open(), Some(OverlayKind::Conflict));
    has(&screen, "Esc decides later");
}

#[test]
fn a_line_that_is_only_read_says_what_can_be_taken() {
    let mut day = Day::sample("xbot", STAGE);
    pressed(&mut day, "x");
    day.press("jja");
    assert_eq!(day.open(), Some(OverlayKind::Way));
    let screen = day.press("<down><down><down><enter>");
    has(&joined(&screen), "this line is to be read; go to \"Write this into bench.yaml");
    has(&joined(&screen), "or \"Not now\"");
    assert_eq!(day.open(), Some(OverlayKind::Way), "it stays open");
}

#[test]
fn the_help_does_what_is_selected_or_says_where_it_works() {
    let mut day = Day::sample("xbot", STAGE);
    day.press("?ledger<enter>");
    assert_eq!(day.state.view, View::Ledger);
    day.press("<esc>");
    let screen = day.press("?Writes the lines that were changed<enter>");
    has(&screen, "Ctrl-S works while editing a text");
}

#[test]
fn a_view_says_how_it_is_closed_and_keeps_its_own_keys_longest() {
    for name in ["xbot", "cache-lab"] {
        let mut day = Day::sample(name, STAGE);
        day.press("<space>");
        for key in ["5", "x"] {
            let screen = day.press(key);
            let footer = screen.lines().last().expect("a footer").to_owned();
            assert!(footer.contains("Esc back"), "{name} {key}: {footer}");
            let line = day.state.page.lines.len();
            if line > 0 && !day.state.page.enter.is_empty() {
                let enter = format!("Enter {}", day.state.page.enter);
                assert!(footer.contains(&enter), "{name} {key}: {footer}");
            }
            day.press("<esc>");
            assert_eq!(day.state.view, View::Main, "{name} {key}");
        }
    }
}

#[test]
fn the_main_footer_at_80_columns_holds_what_the_stage_needs() {
    let mut day = Day::sample("xbot", STAGE);
    let screen = day.press("<space>");
    let footer = screen.lines().last().expect("a footer");
    for hint in ["Space send call 2", "Bksp back", "c cwd", "w what if", "x compare", "z zoom", "? keys"] {
        has(footer, hint);
    }
}

#[test]
fn down_goes_from_item_to_item() {
    let mut day = Day::sample("xbot", STAGE);
    pressed(&mut day, "w");
    let titles = |day: &Day| day.state.snapshot.data.what_if().expect("the view").rows.len();
    let rows = titles(&day);
    let mut seen = Vec::new();
    for _ in 0..rows {
        let here = day.state.here();
        seen.push(day.state.page.lines[here.list.cursor].key.to_string());
        day.press("<down>");
    }
    let ids = &day.state.snapshot.data.what_if().expect("the view").rows;
    assert_eq!(seen, ids.iter().map(|row| row.id.to_string()).collect::<Vec<_>>());
    // And back, by one key each.
    day.press("<home>");
    day.press("jjk");
    assert_eq!(*day.state.page.lines[day.state.here().list.cursor].key, *seen[1]);
    // All of an item is on the screen with it.
    for _ in 0..rows {
        let screen = day.press("<down>");
        let here = day.state.here();
        let row = ids_at(&day, here.list.cursor);
        if let Some((label, words)) = row.and_then(|row| row.last()) {
            let start: String = words.chars().take(20).collect();
            has(&screen, &format!("{label:<7}{start}"));
        }
    }
}

/// What is said under the what-if at a line of the page.
fn ids_at(day: &Day, line: usize) -> Option<&Vec<(&'static str, std::sync::Arc<str>)>> {
    let key = &day.state.page.lines.get(line)?.key;
    day.state.snapshot.data.what_if()?.rows.iter().find(|row| row.id == *key).map(|row| &row.said)
}

#[test]
fn long_notes_are_read_in_the_log() {
    let mut day = Day::sample("xbot", STAGE);
    let screen = day.press("<space>L");
    let note = day.state.snapshot.data.log().expect("the log").rows.iter().find(|row| row.what.len() > 70);
    let last: Vec<&str> = note.expect("a long note").what.rsplitn(3, ' ').collect();
    has(&screen, last[0]);
    assert!(!body(&screen).contains(" ..\n"), "{screen}");
}

#[test]
fn undo_says_which_of_the_three_it_was() {
    let mut day = Day::sized(80, 24);
    // Nothing was done.
    let screen = day.press("u");
    has(&joined(&screen), "nothing to take back: no edit of the bench was made here");
    has(&joined(&screen), "Ctrl-U undoes while a text is edited");
    // The bench: its file is as it was.
    let before = day.read("bench.yaml");
    day.press("1jj-");
    assert_ne!(day.read("bench.yaml"), before);
    let screen = day.press("u");
    // The folder of the test has no name that is always the same.
    has(&joined(&screen), "taken back in");
    has(&joined(&screen), "bench.yaml: rules is left out");
    assert_eq!(day.read("bench.yaml"), before);
    // The run: the CWD is what it was, and no file was touched.
    let cwd = |day: &Day| day.state.snapshot.agent.cwd.to_string();
    let was = cwd(&day);
    day.press("c<ctrl-u>/elsewhere<enter><enter>");
    assert_eq!(cwd(&day), "/elsewhere");
    let screen = day.press("u");
    has(&joined(&screen), "taken back: a change of cwd by hand, in this run; no file was changed");
    assert_eq!((cwd(&day), day.read("bench.yaml")), (was, before));
    // And it can be done again.
    day.press("<ctrl-r>");
    assert_eq!(cwd(&day), "/elsewhere");
}

#[test]
fn what_is_too_long_for_a_row_is_said_in_two() {
    let mut day = Day::sample("xbot", STAGE);
    day.state.message =
        "a refusal that goes on and on, since it says what would work as well as what does not, here".into();
    let screen = day.draw();
    has(&joined(&screen), "as well as what does not, here");
    let rows = screen.lines().rev().take(2).collect::<Vec<_>>();
    assert!(rows[1].contains("a refusal that goes on"), "{screen}");
}

#[test]
fn every_key_answers() {
    // On the screen and in every view, a key of the table either changes something or says why it does not.
    for (name, view) in
        [("xbot", ""), ("xbot", "l"), ("xbot", "w"), ("mao", ""), ("omx", "O"), ("wegent", "K")]
    {
        let mut day = Day::sample(name, STAGE);
        day.press(view);
        for info in ACTIONS {
            if !action::in_scope(&day.state, info.scope) || action::useful(&day.state, info.action) {
                continue;
            }
            for key in info.keys.iter().filter_map(|key| Key::parse(key)) {
                if action::lookup(&day.state, key) != Some(info.action) {
                    continue;
                }
                day.happen(Event::Key(key));
                let said = &day.state.message;
                assert!(!said.is_empty(), "{name} {view}: {}", info.id);
                assert!(!said.contains("nothing that it could be done to"), "{}: {said}", info.id);
            }
        }
    }
}
