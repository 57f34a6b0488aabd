//! The comparison on the samples, in three sizes, and what keys do in it.

use plywood::app::state::View;

use super::day::{Day, body, has};

/// Presses keys and waits until everything is worked out.
pub(super) fn pressed(day: &mut Day, keys: &str) -> String {
    day.press(keys);
    while day.engine.work() {}
    day.publish();
    day.draw()
}

#[test]
fn the_comparison_in_three_sizes() {
    let mut day = Day::sample("xbot", (120, 40));
    pressed(&mut day, "x");
    assert_eq!(day.state.view, View::Compare);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let screen = body(&day.resize(width, height));
        insta::assert_snapshot!(format!("view_xbot_compare_{width}x{height}"), screen);
    }
}

#[test]
fn enter_shows_the_calls_of_a_cell_and_t_counts_one_turn() {
    let mut day = Day::sample("xbot", (120, 40));
    pressed(&mut day, "x");
    let screen = day.press("<enter>");
    has(&screen, "call 5      2   10,429    1,152");
    // The same way on the next model: its calls are estimates.
    let screen = day.press("<enter><tab><enter>");
    has(&screen, "call 5      2  ~");
    let screen = day.press("<enter>t");
    has(&screen, "turn 1 only");
    assert!(!screen.contains("call 5   "), "{screen}");
    has(&screen, "0  33.71");
    has(&day.press("t"), "2 turns");
}

#[test]
fn a_way_is_written_after_its_lines_were_shown_and_undo_takes_it_back() {
    let mut day = Day::sample("xbot", (120, 40));
    pressed(&mut day, "x");
    // The row of the bench itself changes nothing.
    has(&day.press("a"), "this row is the bench as it is written");
    // The second row below it builds the system prompt anew at each call.
    let screen = day.press("jja");
    has(&screen, "Write this into bench.yaml of the scratch copy");
    has(&screen, "refresh: call");
    let before = day.read("bench.yaml");
    let screen = pressed(&mut day, "<enter>");
    has(&screen, "written to bench.yaml of the scratch copy");
    assert_ne!(day.read("bench.yaml"), before);
    // What was a variant is now what the bench says.
    has(&screen, "rebuild system sends the same as");
    has(
        &pressed(&mut day, "u"),
        "VERDICT  \"tool message\" does not avoid the break, it moves it from call 2",
    );
    assert_eq!(day.read("bench.yaml"), before);
}

#[test]
fn the_copied_table_is_the_one_on_the_screen() {
    let mut day = Day::sample("xbot", (120, 40));
    pressed(&mut day, "x");
    day.press("ty");
    assert_eq!(day.copied, ["the comparison"]);
    let table = plywood::app::rows::compared_table(&day.state).expect("a table");
    let text = plywood::app::tables::compared(table).text();
    assert!(text.contains("ctx @4") && text.contains("tool message (this bench)"), "{text}");
}

#[test]
fn what_if_in_three_sizes() {
    let mut day = Day::sample("xbot", (120, 40));
    pressed(&mut day, "<space>w");
    assert_eq!(day.state.view, View::WhatIf);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let screen = body(&day.resize(width, height));
        insta::assert_snapshot!(format!("view_xbot_what_if_{width}x{height}"), screen);
    }
}

#[test]
fn enter_makes_the_change_that_was_tried() {
    let mut day = Day::sample("xbot", (120, 40));
    let screen = pressed(&mut day, "<space>w");
    has(&screen, "CWD /home/shop");
    let folder = screen.lines().find_map(|line| line.split("│ CWD ").nth(1)).expect("a change");
    let folder = folder.split_whitespace().next().expect("a folder").to_owned();
    let screen = pressed(&mut day, "<enter>");
    assert!(screen.contains(&format!("cwd {folder}")), "{folder}: {screen}");
    // It has happened, so it is not offered any more.
    assert!(!screen.contains(&format!("│ CWD {folder} ")), "{screen}");
}
