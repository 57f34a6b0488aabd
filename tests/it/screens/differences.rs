//! Two calls side by side, of one branch or of two.

use std::fs;
use std::sync::Arc;

use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::state::{Pane, View};
use plywood::core::tokens::Encoding;
use plywood::io::bench_file::Machine;
use plywood::io::{models, samples};
use tempfile::TempDir;

use super::stage::Stage;

fn engine(disk: Disk) -> Engine {
    Encoding::O200k.load();
    let engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default());
    engine.unwrap_or_else(|list| panic!("{list:?}"))
}

fn xbot(size: (u16, u16)) -> Stage {
    let sample = samples::find("xbot").expect("a sample");
    let disk =
        Disk::sample(sample, "differences", &Machine::this()).unwrap_or_else(|list| panic!("{list:?}"));
    Stage::on(engine(disk), size, "ansi")
}

const BENCH: &str = r#"bench: 1
name: words
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { mood: 平静, mark: "a" }
tools: [ { names: [Shell], schemas: tools.json } ]
places: { system: { of: system, join: "\n" }, user: { of: current_user } }
layers:
  - id: base
    in: system
    refresh: call
    from:
      text: |
        # 规则
        你的心情是{{ mood }}，请先读后写 🙂。
        One line that stays as it is.
        Another one.
        And a third.
        And a fourth.
        And a fifth.
        The mark is {{ mark }} and nothing else; this line is long enough to be broken where there is little room for it.
  - { id: said, in: user, from: { said: user } }
runs:
  one:
    - user: Go.
    - call: [ { Shell: { command: ls }, result: "a" } ]
    - set: { mood: 愉快, mark: "a\u202eb\u200b" }
    - call: [ { Shell: { command: ls }, result: "b\u001b[2J" } ]
    - say: Done.
"#;

fn words(size: (u16, u16)) -> (TempDir, Stage) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("project")).expect("a folder");
    fs::write(folder.path().join("bench.yaml"), BENCH).expect("written");
    let tools = r#"[{"name":"Shell","description":"Runs a command","input_schema":{"type":"object"}}]"#;
    fs::write(folder.path().join("tools.json"), tools).expect("written");
    let disk = Disk::open(folder.path(), &Machine::this()).unwrap_or_else(|list| panic!("{list:?}"));
    let stage = Stage::on(engine(disk), size, "ansi");
    (folder, stage)
}

#[test]
fn two_calls_differ_by_words() {
    for (width, height) in [(120, 40), (80, 24)] {
        let (_folder, mut stage) = words((width, height));
        stage.keys(&["space", "d"]);
        insta::assert_snapshot!(format!("words_{width}x{height}"), stage.text());
        insta::assert_snapshot!(format!("words_{width}x{height}_styles"), stage.shot.styles());
    }
}

#[test]
fn the_moved_break_is_seen_with_its_authors() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut stage = xbot((width, height));
        stage.keys(&["space", "space", "space", "space", "d"]);
        let text = stage.text();
        assert!(text.contains("call 4 -> call 5") && text.contains("00_base"), "{text}");
        insta::assert_snapshot!(format!("moved_{width}x{height}"), text);
    }
}

#[test]
fn what_is_equal_opens_and_lines_lead_to_their_bytes() {
    let (_folder, mut stage) = words((80, 24));
    stage.keys(&["space", "d", "g"]);
    let text = stage.text();
    assert!(text.contains("[tool Shell: 1 unchanged line]"), "{text}");
    assert!(!text.contains("Runs a"), "{text}");
    stage.keys(&["enter"]);
    let text = stage.text();
    assert!(text.contains("1 unchanged line, shown]") && text.contains("Runs a"), "{text}");
    stage.keys(&["enter"]);
    assert!(!stage.text().contains("Runs a"), "{}", stage.text());
    stage.keys(&["n"]);
    assert_eq!(stage.state.message, "1 of 4");
    stage.keys(&["n"]);
    assert_eq!(stage.state.message, "2 of 4");
    stage.keys(&["N", "N"]);
    assert_eq!(stage.state.message, "4 of 4");
    // To the bytes of the newer call: the panes, with the layer's block.
    stage.keys(&["n", "j", "enter"]);
    assert_eq!((stage.state.view, stage.state.focus), (View::Main, Pane::Request));
    assert_eq!(stage.state.block().map(|block| &*block.title), Some("system"));
    assert_eq!(stage.state.comparing, None, "nobody looks at it any more");
    assert_eq!(stage.state.snapshot.diff, None);
}

#[test]
fn any_call_can_be_chosen_and_the_shown_one_can_change() {
    let mut stage = xbot((120, 40));
    stage.keys(&["space", "space", "space", "d"]);
    assert!(stage.text().contains("call 3 -> call 4"), "{}", stage.text());
    stage.keys(&["["]);
    assert!(stage.text().contains("call 2 -> call 3"), "{}", stage.text());
    stage.keys(&["]", "s", "j", "enter"]);
    assert!(stage.text().contains("call 1 -> call 4"), "{}", stage.text());
    stage.keys(&["["]);
    assert!(stage.text().contains("call 1 -> call 3"), "it stays what was chosen: {}", stage.text());
    stage.keys(&["[", "["]);
    assert!(stage.text().contains("call 1 -> call 1: no difference"), "{}", stage.text());
    stage.keys(&["s", "k", "enter"]);
    assert!(stage.text().contains("nothing before it -> call 1"), "{}", stage.text());
}

#[test]
fn two_branches_stand_side_by_side() {
    let mut stage = xbot((120, 40));
    stage.keys(&["space", "space", "space", "[", "[", "c", "ctrl-u", "w", "e", "b", "enter", "enter"]);
    assert!(stage.state.snapshot.title.branch.is_some(), "{}", stage.text());
    stage.keys(&["d", "B"]);
    let text = stage.text();
    assert!(text.contains("branch 1, call 2 -> branch 2, call 2"), "{text}");
    assert!(text.contains("dynamic-context"), "{text}");
    insta::assert_snapshot!("branches_120x40", text);
    stage.keys(&["B"]);
    assert!(stage.text().contains("branch 2, call 1 -> branch 2, call 2"), "{}", stage.text());
    stage.keys(&["s"]);
    stage.keys(&["down"; 12]);
    stage.keys(&["enter"]);
    assert!(stage.text().contains("branch 1, call 4 -> branch 2, call 2"), "{}", stage.text());
}
