//! Going on by hand: what keys do in a conversation without a script, and what the screen shows of it.

use plywood::app::state::OverlayKind;

use super::day::{Day, has};

/// To the first row of a list.
const TOP: &str = "kkkkkkkkkkkkkkkk";

/// What came of each call, as pane 2 says it.
fn answers(day: &Day) -> Vec<String> {
    let rows = day.state.snapshot.calls.rows.iter();
    rows.filter_map(|row| Some(row.answer.as_ref()?.to_string())).collect()
}

#[test]
fn a_whole_conversation_by_hand() {
    let mut day = Day::sample("xbot", (80, 24));
    // Before the script has said anything: the first message otherwise.
    let screen = day.press("s");
    has(&screen, "What the user says instead");
    has(&screen, "Move into the api folder");
    day.press("<ctrl-a>看看 README 🙂<enter>and say what it is about");
    insta::assert_snapshot!("hand_said_80x24", day.draw());
    let screen = day.press("<ctrl-s>");
    has(&screen, "a plays the model");
    assert_eq!(day.state.snapshot.title.branch, Some((2, 2)), "the script is the other branch");
    // Two calls in one reply: the tool is found by its name, its required argument asked for.
    day.press("<space>");
    assert_eq!(day.open(), Some(OverlayKind::Reply));
    day.press("read<enter>");
    assert_eq!(day.open(), Some(OverlayKind::Line));
    day.press("README.md<enter>");
    assert_eq!(day.open(), Some(OverlayKind::Calls));
    // Another call; its result is typed, since the bench does not say what it does.
    day.press("k<enter>shell<enter>cargo test<enter>");
    day.press("<enter>running 3 tests<enter>1 failed<ctrl-s>");
    let screen = day.draw();
    has(&screen, "running 3 tests ..");
    insta::assert_snapshot!("hand_calls_80x24", screen);
    day.resize(120, 40);
    insta::assert_snapshot!("hand_calls_120x40", day.draw());
    day.resize(80, 24);
    let screen = day.press("<ctrl-s>");
    assert_eq!(answers(&day), ["model called Read, Shell"]);
    has(&screen, "Read, Shell");
    // An answer ends the turn; a second message; a choice, a number, and a call whose argument is missing.
    day.press("<space>ans<enter>It is a shop.<ctrl-s>");
    day.press("sThank you. 谢谢<ctrl-s>");
    day.press("agrep<enter><esc>");
    let screen = day.press("<ctrl-s>");
    has(&screen, "Grep needs pattern; Ctrl-S again sends it all the same");
    day.press(&format!("{TOP}jj<enter>fn main<enter>"));
    day.press("<esc>");
    has(&day.draw(), "the reply is kept, and there when you go on");
    let screen = day.press("a");
    has(&screen, "fn main");
    day.press("<ctrl-s>");
    assert_eq!(
        answers(&day),
        ["model called Read, Shell", "model said: It is a shop.", "model called Grep fn main"]
    );
    // Back to the first call, and something else: a branch, and the calls behind it stay on the other.
    day.press("<backspace><backspace><backspace>acd<enter>api<enter><ctrl-s>");
    assert_eq!(answers(&day), ["model called Cd api"]);
    assert_eq!(day.state.snapshot.title.branch, Some((3, 3)));
    let screen = day.draw();
    has(&screen, "a branch from call 1; the other stays as it was");
    // Taken back, it is gone; done again, it is there.
    day.press("u");
    assert_eq!(day.state.snapshot.title.branch, Some((2, 2)));
    day.press("<ctrl-r>");
    assert_eq!(answers(&day), ["model called Cd api"]);
    // Saved: a name is asked for, and one that is taken is asked about.
    day.press("<ctrl-s><ctrl-u>cd<enter>");
    assert_eq!(day.open(), Some(OverlayKind::SaveOver));
    day.press("<enter><ctrl-u>by hand<enter>");
    has(&day.draw(), "a name is made of letters, digits, _ and -");
    day.press("<ctrl-u>tried<enter>");
    assert_eq!(day.open(), None);
    let bench = day.read("bench.yaml");
    let run = bench.split("\n  tried:").nth(1).expect("a run");
    assert!(
        run.contains("    - user: |-\n        看看 README 🙂\n        and say what it is about\n"),
        "{run}"
    );
    assert!(run.contains("    - call: [{ Cd: { path: api } }]\n"), "{run}");
    assert_eq!(day.state.snapshot.title.run.as_deref(), Some("tried"));
}

#[test]
fn a_plain_folder_says_how_to_begin_and_what_can_be_done() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut day = Day::plain((width, height));
        has(&day.draw(), "s says something as the user");
        has(&day.press("a"), "no request waits for an answer; s says something");
        has(&day.press("<ctrl-s>"), "nothing was done by hand that could be saved; s says something");
        // Given up, it is there when one goes on.
        day.press("sFix");
        has(&day.press("<esc>"), "it is kept, and there when you go on");
        day.press("s it.<ctrl-s>");
        has(&day.draw(), "Fix it.");
        has(&day.press("p"), "the script holds no answer; a answers by hand");
        let screen = day.press("<space>");
        has(&screen, "no tools are offered in this request");
        day.press("fail<enter><enter>");
        assert_eq!(answers(&day), ["sent", "failed: 529 overloaded"]);
        has(&day.draw(), "again");
        day.press("aansw<enter>Fixed.<ctrl-s>");
        has(&day.press("<space>"), "the run is at its end; Bksp goes back, s goes on by hand");
        // Saved where there is no bench: a copy of the built-in one, beside the files.
        has(&day.press("<ctrl-s>"), "bench.yaml, with this run");
        day.press("<enter>");
        assert!(
            day.read("bench.yaml")
                .contains("  tried:\n    - user: Fix it.\n    - fail: 529 overloaded\n    - say: Fixed.\n")
        );
    }
}

#[test]
fn arguments_are_typed_as_the_schema_says_and_text_may_have_lines() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("aedit<enter>src/a.rs<enter>");
    // Text with lines, put in where a line is: a box takes it.
    day.happen(plywood::app::event::Event::Paste("fn main() {\n}\n".into()));
    day.press("<ctrl-s>");
    let call = &day.state.composer.calls[0];
    assert_eq!(call.args["text"].to_string(), "fn main() {\n}\n");
    assert_eq!(day.open(), Some(OverlayKind::Calls));
    // Another tool in its place keeps what it takes, too.
    day.press(&format!("{TOP}j<enter>read<enter>"));
    assert_eq!(day.state.composer.calls[0].args.keys().map(|name| &**name).collect::<Vec<_>>(), ["path"]);
    let screen = day.press(&format!("{TOP}jjj<enter>two<enter>"));
    has(&screen, "! a whole number is wanted");
    day.press("<ctrl-u>2<enter>");
    assert_eq!(day.state.composer.calls[0].args["first_line"].to_string(), "2");
    // Taken out again, then the whole call.
    day.press(&format!("{TOP}jjj<delete>"));
    assert!(!day.state.composer.calls[0].args.contains_key("first_line"));
    day.press(&format!("{TOP}j<delete>"));
    assert_eq!(day.open(), Some(OverlayKind::Reply));
    // A choice among what there is.
    day.press("grep<enter>fn<enter>");
    let rows = plywood::app::rows::list_rows(&day.state);
    let output = rows.iter().position(|row| row.key.trim() == "output").expect("an argument");
    day.press(&format!("{TOP}{}<enter>", "j".repeat(output)));
    assert_eq!(day.open(), Some(OverlayKind::Values));
    day.press("j<enter>");
    assert_eq!(day.state.composer.calls[0].args["output"].to_string(), "files");
    // What it would do.
    let screen = day.draw();
    has(&screen, "CALL 2 ");
}
