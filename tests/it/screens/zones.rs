//! Cache zones on the samples, in three sizes, and what keys do in them.

use plywood::app::effect::EngineRequest;
use plywood::app::state::View;
use plywood::app::views::LintRow;
use plywood::core::bench::Keeping;
use plywood::core::fix::{Change, Fix, KeepRule};

use super::day::{Day, has};

/// Lets the engine work out what it does while nobody asks for anything.
fn settled(day: &mut Day) -> String {
    while day.engine.work() {}
    day.publish();
    day.draw()
}

/// The part of a screen that the view fills.
fn body(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let from = lines.iter().position(|line| line.contains("5 Cache zones")).expect("the view is open");
    let to = lines.iter().position(|line| line.contains(" Verdict ")).unwrap_or(lines.len());
    lines[from..to].join("\n")
}

#[test]
fn zones_of_the_moved_break_in_three_sizes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut day = Day::sample("xbot", (width, height));
        day.press("<space>");
        day.press("5");
        // Call 5 was not sent: it is a forecast, and stays one.
        day.press("b");
        let screen = body(&settled(&mut day));
        insta::assert_snapshot!(format!("zones_xbot_{width}x{height}"), screen);
        let screen = body(&day.press("<tab>G"));
        insta::assert_snapshot!(format!("zones_xbot_marked_{width}x{height}"), screen);
    }
}

#[test]
fn a_first_call_and_an_append_break_nothing() {
    let mut day = Day::sample("xbot", (120, 40));
    let screen = day.press("5");
    has(&screen, "call 1, turn 1");
    has(&screen, "BREAK    none: there is no call before it in its conversation.");
    let screen = day.press("<right>");
    has(&screen, "call 2, turn 1 (forecast)");
    has(&screen, "appended");
    has(&screen, "BREAK    none: this request begins with all of");
    // Nothing was sent.
    has(&screen, "paused before call 1 of 6");
    let screen = day.press("<left>");
    has(&screen, "call 1, turn 1");
}

#[test]
fn a_fix_is_tried_out_then_taken_back_or_entered() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space>");
    day.press("5");
    day.press("b");
    let before = settled(&mut day);
    has(
        &before,
        "FIX      variants no cwd in base AND keep tags: lost 9,216 -> 0 in the run, saves $0.0204.",
    );
    let to_fix = |day: &mut Day| {
        day.press("g");
        for _ in 0..40 {
            let line = day.state.page.lines.get(day.state.here().list.cursor);
            if line.is_some_and(|line| &*line.key == "fix:0") {
                return;
            }
            day.press("j");
        }
        panic!("there is no fix:\n{}", day.press("j"));
    };
    to_fix(&mut day);
    let tried = day.press("<enter>");
    has(&tried, "PREVIEW  variants no cwd in base AND keep tags: tried out, and not entered.");
    has(&tried, "5 -]");
    has(&tried, "total 0");
    let back = day.press("<esc>");
    assert!(body(&back).contains("5 ! 9,216]") && !back.contains("PREVIEW"), "Esc takes it back:\n{back}");
    assert!(day.state.snapshot.choices.variants.iter().all(|variant| !variant.on));
    to_fix(&mut day);
    day.press("<enter>");
    day.press("<enter>");
    let on = |day: &Day| {
        let on = day.state.snapshot.choices.variants.iter().filter(|variant| variant.on);
        on.map(|variant| variant.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(on(&day), ["no_cwd_in_base", "keep_tags"]);
    assert_eq!(day.state.view, View::Zones);
}

#[test]
fn the_blame_line_is_that_of_the_selected_model() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space>");
    day.press("5");
    day.press("b");
    let menu = day.press("y");
    has(&menu, "The blame line");
    has(&menu, "call 5 on gpt-5.4, changed: system_changed");
}

#[test]
fn a_fix_of_the_bench_shows_its_lines_and_is_one_undo() {
    let keep = |layer: &str| Change::Keep(layer.into(), KeepRule::Persist, Keeping::Keep);
    let best = Fix::new("keep both tags", [keep("dynamic_context"), keep("reminder")]);
    let mut day = Day::sample("xbot", (120, 40));
    let before = day.read("bench.yaml");
    day.press("5b");
    day.engine.handle(EngineRequest::PreviewFix(best.clone()));
    day.publish();
    let screen = day.draw();
    has(&screen, "PREVIEW  keep both tags: tried out, and not entered.");
    has(&screen, "entering it writes to bench.yaml of the scratch copy:");
    assert!(screen.contains("persist: strip") && screen.contains("persist: keep"), "{screen}");
    assert_eq!(day.read("bench.yaml"), before, "nothing is written yet");
    day.engine.handle(EngineRequest::Mend(best));
    day.publish();
    assert_ne!(day.read("bench.yaml"), before);
    day.press("u");
    assert_eq!(day.read("bench.yaml"), before, "one undo takes all of it back");
}

#[test]
fn what_was_put_right_in_the_middle_of_a_run_is_told_and_not_proposed_again() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space><space>C");
    let screen = settled(&mut day);
    has(&screen, "volatile_first");
    let lints = |day: &Day| day.state.snapshot.data.lints().cloned().expect("lints");
    let row = lints(&day).rows[0].clone();
    let once =
        row.fixes.iter().find(|row| row.fix.said.contains("once a session")).expect("a fix").fix.clone();
    assert!(!once.worth.is_empty(), "{once:?}");
    day.engine.handle(EngineRequest::Mend(once));
    day.publish();
    let screen = settled(&mut day);
    has(&screen, "played again on the bench and files as they are now");
    let same =
        |other: &LintRow| other.finding.lint == row.finding.lint && other.finding.about == row.finding.about;
    assert!(!lints(&day).rows.iter().any(same), "{screen}");
    // Zones tell the calls that were sent from what would be.
    day.press("<esc>5b");
    has(&settled(&mut day), "NOW      the bench was changed in this run");
}
