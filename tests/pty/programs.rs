//! The question whether the programs of a bench may run, in a terminal: nothing runs before it is answered, and the answer
//! is remembered for the next time.

use std::fs;

use crate::place::Place;

/// Counts its runs in the workspace, and prints the count.
const BENCH: &str = r#"bench: 1
name: programs
model: openai:gpt-5.4
workspace: { path: ., shown_as: /w, clock: "2026-04-01T09:00:00Z" }
read: { told: { command: [/bin/sh, -c, "echo x >> runs; wc -l < runs | tr -d ' '"] } }
places: { system: { of: system, join: "\n" }, user: { of: current_user } }
layers:
  - { id: base, in: system, from: { text: "Be kind." } }
  - { id: told, in: system, refresh: call, from: { text: "Run number {{ told | trim }}." } }
  - { id: said, in: user, from: { said: user } }
runs:
  one:
    - user: Go.
    - say: Done.
"#;

#[test]
fn programs_run_after_the_user_has_said_so_and_not_before() {
    let place = Place::new();
    fs::write(place.path("project/bench.yaml"), BENCH).expect("a bench");
    let runs = place.path("project/runs");
    let asks = "Run them, now and whenever this bench is opened here";

    // Enter without reading, and whatever is pasted or typed meanwhile, allows nothing.
    let mut session = place.open("project");
    session.wait_for(asks);
    session.wait_for("echo x >> runs");
    session.send("\x1b[200~y\rj\r\x1b[201~\r");
    session.wait_until("the panes", |seen| !seen.text().contains(asks) && seen.text().contains("CALL 1"));
    assert!(!runs.exists(), "nothing has run");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
    assert!(!runs.exists(), "nothing has run");

    // It is asked again the next time, and by the key; then it runs, and its output is in the request.
    let mut session = place.open("project");
    session.wait_for(asks);
    session.send("\x1b");
    session.wait_until("the panes", |seen| !seen.text().contains(asks) && seen.text().contains("CALL 1"));
    session.send("T");
    session.wait_for(asks);
    session.send("j\r");
    place.wait_for_file("project/runs", "x\n");
    session.wait_for("Run number 1.");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);

    // From now on nobody is asked, and it runs when the bench is opened.
    let mut session = place.open("project");
    place.wait_for_file("project/runs", "x\nx\n");
    session.wait_for("Run number 2.");
    assert!(!session.seen().text().contains(asks));
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);

    // Another command is another question.
    fs::write(place.path("project/bench.yaml"), BENCH.replace("echo x", "echo y")).expect("a bench");
    let mut session = place.open("project");
    session.wait_for(asks);
    session.wait_for("echo y >> runs");
    session.send("\x1b");
    session.wait_until("the panes", |seen| !seen.text().contains(asks) && seen.text().contains("CALL 1"));
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
    assert_eq!(fs::read_to_string(&runs).expect("the count"), "x\nx\n");
}
