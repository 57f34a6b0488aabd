//! What the editor shows of a text while it is typed: its markup, what nobody sees in it, how much its place may hold;
//! and what is said of files that somebody else changes.

use plywood::app::event::{Event, Pointer, Target};
use plywood::app::highlight::worker::finish;
use plywood::app::state::{OverlayKind, State};

use super::day::{Day, has};
use super::fixture::xbot;
use super::keys::press;
use super::shot::Shot;
use super::{shot, showing};

/// Draws until the worker has looked at everything that is on the screen.
fn painted(day: &mut Day) -> String {
    let Day { shot, state, .. } = day;
    finish(state, &mut |state| {
        shot.draw(state);
        shot.regions.seen.clone()
    });
    shot.text()
}

/// The style of the cell at which `text` stands in the first row that has it, as a letter of `Shot::letters`, in words.
fn style_of(shot: &Shot, text: &str) -> String {
    let column = usize::from(shot.column_of(text).unwrap_or_else(|| panic!("{text}:\n{}", shot.text())));
    let row = shot.text().lines().position(|row| row.contains(text)).expect("the row");
    let letters = shot.letters();
    let letter = letters.lines().nth(row).and_then(|row| row.chars().nth(column)).unwrap_or('.');
    let meaning = letters.lines().find_map(|line| line.strip_prefix(&format!("{letter} ")));
    meaning.expect("every letter is explained").to_owned()
}

#[test]
fn the_markup_of_a_text_is_seen_while_it_is_typed() {
    let mut day = Day::new();
    day.press("1je");
    painted(&mut day);
    let plain = style_of(&day.shot, "- one");
    let heading = style_of(&day.shot, "你好 base");
    let placeholder = style_of(&day.shot, "{{ cwd }}");
    assert!(heading != style_of(&day.shot, "Work in") && placeholder != style_of(&day.shot, "Work in"));
    assert_ne!(heading, placeholder);
    // What is typed looks like what it has become, and what stands below it keeps its looks meanwhile.
    day.press("<ctrl-home># new<enter>");
    assert_eq!(style_of(&day.shot, "{{ cwd }}"), placeholder, "before the worker has looked again");
    painted(&mut day);
    assert_eq!(style_of(&day.shot, "new"), heading);
    assert_eq!(style_of(&day.shot, "{{ cwd }}"), placeholder);
    day.press("<ctrl-home><delete><delete>");
    painted(&mut day);
    assert_ne!(style_of(&day.shot, "new"), heading);
    assert_eq!(style_of(&day.shot, "- one"), plain);
}

#[test]
fn what_nobody_sees_is_seen_while_it_is_typed_and_read() {
    let mut day = Day::new();
    day.write("base.md", "zero\u{200b}width no\u{a0}break\nflag 🇨🇳 here\n");
    let screen = day.press("1je");
    has(&screen, "zero\\u{200b}width");
    has(&screen, "flag [CN] here");
    assert_eq!(style_of(&day.shot, "\\u{200b}"), style_of(&day.shot, "\u{a0}break"), "both are flagged");
    assert_ne!(style_of(&day.shot, "\\u{200b}"), style_of(&day.shot, "width"));
    // Moving and deleting mean the character, not what stands for it.
    day.press("<right><right><right><right><delete>");
    assert!(day.text().starts_with("zerowidth"), "{}", day.text());
    day.press("<ctrl-u><esc>3");
    for (look, flag) in [("", "[CN]"), ("r", "\\u{1f1e8}\\u{1f1f3}"), ("r", "[CN]")] {
        let screen = day.press(look);
        has(&screen, "zero\\u{200b}width");
        has(&screen, flag);
    }
}

#[test]
fn the_mouse_selects_from_where_it_went_down() {
    let mut day = Day::new();
    day.press("1je");
    let (x, y) = (day.shot.column_of("Work in").expect("the line"), 6);
    let point = |day: &mut Day, pointer, (dx, dy): (u16, u16)| {
        let hit = day.shot.regions.hit(x + dx, y + dy);
        day.happen(Event::Pointer(pointer, hit));
        day.draw()
    };
    point(&mut day, Pointer::Press, (0, 0));
    point(&mut day, Pointer::Drag, (2, 0));
    let screen = point(&mut day, Pointer::Drag, (4, 1));
    has(&screen, "23 selected");
    let screen = point(&mut day, Pointer::Drag, (4, 0));
    has(&screen, "4 selected");
    day.press("x");
    assert!(day.text().contains("\nx in {{ cwd }}"), "{}", day.text());
    // A press alone selects nothing; neither does what is dragged from elsewhere.
    point(&mut day, Pointer::Press, (1, 0));
    assert!(!day.draw().contains("selected"));
    day.happen(Event::Pointer(Pointer::Press, Target::Overlay));
    let screen = point(&mut day, Pointer::Drag, (5, 0));
    assert!(!screen.contains("selected"), "{screen}");
}

#[test]
fn the_budget_of_the_place_is_beside_that_of_the_layer() {
    let mut day = Day::new();
    let bench = day
        .read("bench.yaml")
        .replace("{ of: system, join: \"\\n\" }", "{ of: system, join: \"\\n\", budget: { chars: 7600 } }");
    day.write("bench.yaml", &bench);
    let screen = day.press("1je");
    has(&screen, "base 42 of 60 chars   system 7,574 of 7,600 chars");
    let screen = day.press("and some more of it to be over");
    has(&screen, "base 72 chars, ! 12 over its budget   system 7,604 chars, ! 4 over its budget");
}

#[test]
fn what_somebody_else_has_changed_is_not_told_as_saved() {
    let mut day = Day::new();
    let screen = day.press("1jex<ctrl-s>");
    has(&screen, "base.md saved");
    let screen = day.write("project/AGENTS.md", "other rule\n");
    has(&screen, "AGENTS.md was changed outside");
    assert!(!screen.contains("base.md saved"), "{screen}");
    // A look that finds nothing says nothing.
    day.press("j");
    assert!(!day.engine.look());
    day.publish();
    assert!(!day.draw().contains("outside;"), "{}", day.draw());
}

#[test]
fn a_question_about_a_text_speaks_of_the_text() {
    let mut day = Day::new();
    day.press("1jex");
    day.write("base.md", "theirs");
    assert_eq!(day.open(), Some(OverlayKind::Conflict));
    let screen = day.press("<ctrl-s>");
    has(&screen, "first choose what becomes of the text");
    assert_eq!(day.open(), Some(OverlayKind::Conflict));
    assert_eq!(day.read("base.md"), "theirs");
}

#[test]
fn undoing_the_bench_is_offered_where_there_is_something_to_undo() {
    let mut day = Day::sized(300, 60);
    assert!(!day.draw().contains("u undo"));
    let screen = day.press("u");
    has(&screen, "nothing to take back: no edit of the bench was made here, and nothing said by hand");
    let screen = day.press("1jj-j");
    has(&screen, "u undo");
    let screen = day.press("uj");
    assert!(!screen.contains("u undo"), "{screen}");
}

#[test]
fn a_narrow_list_says_what_it_counts() {
    let mut snapshot = xbot();
    snapshot.layers.rows[2].now = plywood::app::snapshot::Now::Changed(47);
    snapshot.layers.rows[3].now = plywood::app::snapshot::Now::Changed(-1);
    let mut state = showing(snapshot);
    let narrow = shot(80, 24, &mut state);
    has(&narrow, "+47 chars");
    has(&narrow, "-1 char ");
    assert!(!shot(120, 40, &mut state).contains("+47 chars"), "the column of characters says it");
}

#[test]
fn titles_end_before_the_position() {
    let mut state = showing(xbot());
    press(&mut state, "3W");
    let screen = shot(80, 24, &mut state);
    has(&screen, "long lines are not broken; < and > scroll them");
    press(&mut state, "1WW");
    has(&shot(80, 24, &mut state), "scroll them in pane 3 (3)");
}

#[test]
fn keys_for_an_audience_cut_no_hint() {
    let mut state = State { keys: Some(Default::default()), ..showing(xbot()) };
    press(&mut state, "jjjjjj");
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let screen = shot(width, height, &mut state);
        let footer = screen.lines().last().expect("a footer");
        let (hints, keys) = footer.split_at(footer.rfind(" j j j").expect("the keys"));
        assert!(keys.trim_end().ends_with("j j j"), "{footer}");
        let hints = hints.trim_end().trim_end_matches(" j").trim_end();
        assert!(hints.ends_with("keys") || hints.ends_with("find"), "{footer}");
        assert!(!hints.contains(".."), "{footer}");
    }
}

#[test]
fn where_bytes_differ_is_never_cut() {
    let mut snapshot = xbot();
    snapshot.request.focus = 0;
    let text = "a line of the prompt\n".repeat(700);
    snapshot.request.blocks[0] =
        super::fixture::block("system", plywood::core::wire::BlockKind::System, &[("00_base", &text, false)]);
    snapshot.request.blocks[0].change = plywood::app::snapshot::BlockChange::Changed(12_345);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut state = showing(snapshot.clone());
        press(&mut state, "3");
        let screen = shot(width, height, &mut state);
        let row = screen.lines().find(|row| row.contains("! ") && row.contains("a line")).expect("the row");
        assert!(row.contains("at 12345 "), "{row}");
    }
}

#[test]
fn a_text_that_has_several_names_is_offered_once() {
    let mut snapshot = xbot();
    let layer = snapshot.layers.rows[1].id.clone();
    snapshot.request.blocks = vec![super::fixture::block(
        "system",
        plywood::core::wire::BlockKind::System,
        &[("00_base", "All of it.", false)],
    )];
    snapshot.request.blocks[0].parts[0].layer = Some(layer);
    snapshot.request.focus = 0;
    let mut state = showing(snapshot);
    press(&mut state, "1jy");
    let screen = shot(120, 40, &mut state);
    assert_eq!(screen.matches("10 characters").count(), 1, "{screen}");
    has(&screen, "The text of 00_base");
}
