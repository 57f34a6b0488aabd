//! Edits of the bench and of its texts from within: what is written, what the run says of it, and the way back.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use plywood::app::effect::EngineRequest;
use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::snapshot::{Now, Snapshot};
use plywood::core::fact::Value;
use plywood::core::tokens::Encoding;
use plywood::core::wire::CallNo;
use plywood::io::bench_file::Machine;
use plywood::io::edit::bench::BenchEdit;
use plywood::io::load::fixed_clock;
use plywood::io::{models, samples};
use tempfile::TempDir;

const BENCH: &str = r#"bench: 1
name: small
model: openai:gpt-5.4   # exact
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { mood: calm }
tools: [ { names: [Shell] } ]
places:
  system: { of: system, order: key, join: "\n" }
  user: { of: current_user }
layers:
  # What it is.
  - { id: base, in: system, key: 10_base, from: { template: base.md } }
  - { id: mood, in: system, key: 20_mood, when: mood, from: { text: "Be {{ mood }}." } }  # how it speaks
  - { id: rules, in: system, key: 30_rules, from: { text: "Rules." } }
  - { id: said, in: user, from: { said: user } }
  - { id: hint, in: user, from: { text: "(be brief)" } }
runs:
  one:
    - user: Go.
    - call: [ { Shell: { command: ls }, result: "a" } ]
    - call: [ { Shell: { command: ls }, result: "b" } ]
    - call: [ { Shell: { command: ls }, result: "c" } ]
    - say: Done.
"#;

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir_all(folder.path().join("project")).expect("a folder");
    fs::write(folder.path().join("bench.yaml"), BENCH).expect("a bench");
    let base = "- A rule that nobody needs, said again and again.\n".repeat(150);
    fs::write(folder.path().join("base.md"), base).expect("a template");
    folder
}

fn machine() -> Machine {
    Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None }
}

fn on(disk: Disk) -> Engine {
    Encoding::O200k.load();
    Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default()).expect("an engine")
}

fn open(folder: &Path) -> Engine {
    on(Disk::open(folder, &machine()).expect("a bench"))
}

fn bench(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("bench.yaml")).expect("the bench")
}

fn edit(engine: &mut Engine, edit: BenchEdit) -> Snapshot {
    engine.handle(EngineRequest::EditBench(edit));
    engine.snapshot()
}

fn toggle(layer: &str) -> BenchEdit {
    BenchEdit::Toggle(layer.into())
}

fn system(snapshot: &Snapshot) -> String {
    let block =
        snapshot.request.blocks.iter().find(|block| &*block.title == "system").expect("a system block");
    let text = block.text.text();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("- A rule"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn verdict(snapshot: &Snapshot) -> String {
    snapshot.verdict.iter().map(|line| format!("{} {}\n", line.label, line.text)).collect()
}

#[test]
fn a_layer_that_is_left_out_breaks_the_next_call_and_is_blamed_for_it() {
    let folder = folder();
    let mut engine = open(folder.path());
    engine.handle(EngineRequest::Send);
    let snapshot = edit(&mut engine, toggle("mood"));
    let off = BENCH.replace("when: mood,", "when: false and (mood),");
    assert_eq!(bench(&folder), off);
    assert_eq!(system(&snapshot), "Rules.");
    let note = format!(
        "20_mood is left out (when: false and (mood)); written to {}",
        folder.path().join("bench.yaml").display()
    );
    assert_eq!(&*snapshot.status.note, note);
    let told = verdict(&snapshot);
    assert!(told.contains("20_mood disappeared, by the toggle of 20_mood by hand"), "{told}");
    let row = snapshot.layers.rows.iter().find(|row| &*row.id == "mood").expect("a row");
    assert!(matches!(row.now, Now::Omitted(_)), "{:?}", row.now);

    // Once it was sent like this, taking it in again is the next break.
    engine.handle(EngineRequest::Send);
    let snapshot = edit(&mut engine, toggle("mood"));
    assert_eq!(bench(&folder), BENCH);
    assert_eq!(system(&snapshot), "Be calm.\nRules.");
    let told = verdict(&snapshot);
    assert!(told.contains("20_mood appeared, by the toggle of 20_mood by hand"), "{told}");
    // The calls that were sent stay what they were.
    engine.handle(EngineRequest::Jump(CallNo(1)));
    assert_eq!(system(&engine.snapshot()), "Be calm.\nRules.");
    engine.handle(EngineRequest::Jump(CallNo(2)));
    assert_eq!(system(&engine.snapshot()), "Rules.");
}

#[test]
fn going_back_restores_the_file_and_never_goes_over_somebody_else() {
    let folder = folder();
    let mut engine = open(folder.path());
    edit(&mut engine, toggle("rules"));
    edit(&mut engine, BenchEdit::Fact("mood".into(), Value::text("bold")));
    let snapshot = edit(&mut engine, BenchEdit::Model("anthropic:claude-sonnet-4-5".into()));
    assert_eq!(&*snapshot.model.id, "anthropic:claude-sonnet-4-5");
    assert_eq!(system(&snapshot), "Be bold.");
    for _ in 0..3 {
        engine.handle(EngineRequest::UndoBench);
    }
    let snapshot = engine.snapshot();
    assert_eq!((bench(&folder).as_str(), system(&snapshot).as_str()), (BENCH, "Be calm.\nRules."));
    assert_eq!(&*snapshot.model.id, "openai:gpt-5.4");
    assert!(snapshot.status.note.starts_with("taken back in "), "{}", snapshot.status.note);
    engine.handle(EngineRequest::UndoBench);
    assert_eq!(&*engine.snapshot().status.note, "no edit of the bench to take back");

    edit(&mut engine, toggle("rules"));
    let other = bench(&folder) + "# somebody else\n";
    fs::write(folder.path().join("bench.yaml"), &other).expect("a file");
    engine.handle(EngineRequest::UndoBench);
    assert_eq!(bench(&folder), other);
    assert!(engine.snapshot().status.note.contains("was changed since"));
}

#[test]
fn a_layer_moves_by_its_key_or_by_its_lines() {
    let folder = folder();
    let mut engine = open(folder.path());
    let past = |layer: &str, past: &str| BenchEdit::Move { layer: layer.into(), past: past.into() };
    let snapshot = edit(&mut engine, past("rules", "mood"));
    assert_eq!(bench(&folder), BENCH.replace("30_rules", "15_rules"));
    assert_eq!(system(&snapshot), "Rules.\nBe calm.");
    assert!(snapshot.status.note.contains("has the key 15_rules now: system goes by keys"));
    engine.handle(EngineRequest::Send);
    let snapshot = edit(&mut engine, past("rules", "mood"));
    let told = verdict(&snapshot);
    // Past it again is back, with the very key that it had.
    assert!(told.contains("moved, by the move of 30_rules by hand"), "{told}");
    assert_eq!(bench(&folder), BENCH);

    let snapshot = edit(&mut engine, past("hint", "said"));
    let (said, hint) = (bench(&folder).find("id: said"), bench(&folder).find("id: hint"));
    assert!(hint < said, "{}", bench(&folder));
    assert!(snapshot.status.note.contains("hint stands before said now"), "{}", snapshot.status.note);
}

#[test]
fn what_would_break_the_bench_is_refused_and_nothing_is_written() {
    let folder = folder();
    let mut engine = open(folder.path());
    for (change, why) in [
        (BenchEdit::Place { layer: "mood".into(), place: "nowhere".into() }, "the bench would be wrong: "),
        (toggle("nobody"), "the bench has no layer `nobody`"),
        (BenchEdit::Model("openai:gpt-5.4".into()), "the bench says so already"),
    ] {
        let snapshot = edit(&mut engine, change);
        assert!(snapshot.status.note.starts_with(why), "{}", snapshot.status.note);
        assert_eq!(bench(&folder), BENCH);
    }
    let plain = TempDir::new().expect("a folder");
    fs::write(plain.path().join("AGENTS.md"), "rules").expect("a file");
    let mut engine = open(plain.path());
    let layer = engine.snapshot().layers.rows[0].id.clone();
    let snapshot = edit(&mut engine, BenchEdit::Toggle(layer));
    assert!(snapshot.status.note.starts_with("the built-in bench is part of the program"));
    assert_eq!(fs::read_dir(plain.path()).expect("a folder").count(), 1);
}

#[test]
fn a_sample_is_edited_in_its_scratch_copy() {
    let disk = Disk::sample(&samples::samples()[0], "", &machine()).expect("a sample");
    let file = disk.folder().join("bench.yaml");
    let before = fs::read_to_string(&file).expect("the bench");
    let mut engine = on(disk);
    let snapshot = edit(&mut engine, toggle("reminder"));
    assert_ne!(fs::read_to_string(&file).expect("the bench"), before);
    assert!(
        snapshot.status.note.ends_with("written to bench.yaml of the scratch copy"),
        "{}",
        snapshot.status.note
    );
    engine.handle(EngineRequest::UndoBench);
    assert_eq!(fs::read_to_string(&file).expect("the bench"), before);
}

#[test]
fn an_edit_at_an_earlier_call_begins_a_branch() {
    let folder = folder();
    let mut engine = open(folder.path());
    for _ in 0..3 {
        engine.handle(EngineRequest::Send);
    }
    engine.handle(EngineRequest::Jump(CallNo(2)));
    let snapshot = edit(&mut engine, toggle("rules"));
    assert_eq!(snapshot.title.branch, Some((2, 2)));
    assert_eq!(system(&snapshot), "Be calm.");
    assert!(snapshot.status.note.contains("a branch from call 2"), "{}", snapshot.status.note);
    // The first call was sent before the edit.
    engine.handle(EngineRequest::Jump(CallNo(1)));
    assert_eq!(system(&engine.snapshot()), "Be calm.\nRules.");
    engine.handle(EngineRequest::NextBranch);
    let snapshot = engine.snapshot();
    assert_eq!((snapshot.title.branch, system(&snapshot).as_str()), (Some((1, 2)), "Be calm.\nRules."));
}

/// Somebody else writes the bench.
fn outside(folder: &TempDir, engine: &mut Engine, text: &str) -> Snapshot {
    fs::write(folder.path().join("bench.yaml"), text).expect("a file");
    engine.look();
    engine.snapshot()
}

#[test]
fn an_outside_edit_of_the_bench_is_taken_as_one_by_hand() {
    let changes: [(&str, &str, BenchEdit); 4] = [
        ("when: mood,", "when: false and (mood),", toggle("mood")),
        ("mood: calm", "mood: bold", BenchEdit::Fact("mood".into(), Value::text("bold"))),
        ("30_rules", "15_rules", BenchEdit::Move { layer: "rules".into(), past: "mood".into() }),
        ("openai:gpt-5.4", "openai:gpt-5.2", BenchEdit::Model("openai:gpt-5.2".into())),
    ];
    // Before the call that waits, and at an earlier one.
    for (sent, shown) in [(2, 3), (3, 2)] {
        for (old, new, change) in changes.clone() {
            let (ours, theirs) = (folder(), folder());
            let mut hand = open(ours.path());
            let mut other = open(theirs.path());
            for engine in [&mut hand, &mut other] {
                for _ in 0..sent {
                    engine.handle(EngineRequest::Send);
                }
                engine.handle(EngineRequest::Jump(CallNo(shown)));
            }
            let by_hand = edit(&mut hand, change);
            let from_outside = outside(&theirs, &mut other, &BENCH.replacen(old, new, 1));
            assert_eq!(bench(&ours), bench(&theirs));
            assert_eq!(system(&by_hand), system(&from_outside), "{new}");
            let calls = |snapshot: &Snapshot| {
                let row = |row: &plywood::app::snapshot::CallRow| (row.no, row.state, row.paid.clone());
                snapshot.calls.rows.iter().map(row).collect::<Vec<_>>()
            };
            assert_eq!(calls(&by_hand), calls(&from_outside), "{new}");
            assert_eq!(by_hand.title, from_outside.title, "{new}");
            assert_eq!(by_hand.title.branch, (shown < sent).then_some((2, 2)), "{new}");
            // The calls that were sent are what they were.
            other.handle(EngineRequest::Jump(CallNo(1)));
            assert_eq!(system(&other.snapshot()), "Be calm.\nRules.");
        }
    }
}

#[test]
fn an_outside_edit_is_blamed_and_its_neighbours_are_not() {
    let folder = folder();
    let mut engine = open(folder.path());
    engine.handle(EngineRequest::Send);
    // The lines move, and one layer says something else.
    let text = BENCH
        .replace("layers:\n", "layers:\n\n  # About the layers.\n")
        .replace("\"Rules.\"", "\"No rules.\"");
    let snapshot = outside(&folder, &mut engine, &text);
    assert_eq!(system(&snapshot), "Be calm.\nNo rules.");
    let told = verdict(&snapshot);
    assert!(told.contains("30_rules") && told.contains("by the edit of bench.yaml"), "{told}");
    assert!(!told.contains("20_mood"), "{told}");
    // What the agent is called is one more thing that a bench says.
    let agent =
        text.replace("facts:", "agent: { session: s-2 }\nfacts:").replace("No rules.", "{{ agent.session }}");
    let snapshot = outside(&folder, &mut engine, &agent);
    assert_eq!(system(&snapshot), "Be calm.\ns-2");
    let snapshot = edit(&mut engine, BenchEdit::AgentField("session".into(), Value::text("s-3")));
    assert!(snapshot.agent.fields.iter().any(|(name, value)| &**name == "session" && &**value == "s-3"));
    let change =
        snapshot.why.changes.iter().find(|change| &*change.what == "agent.session").expect("a change");
    assert_eq!((&*change.old, &*change.new), ("s-2", "s-3"));
}

#[test]
fn what_the_script_still_holds_may_be_written_otherwise() {
    let folder = folder();
    let mut engine = open(folder.path());
    engine.handle(EngineRequest::Send);
    let longer =
        BENCH.replace("    - say: Done.\n", "    - say: Done.\n    - user: More.\n    - say: Done again.\n");
    let snapshot = outside(&folder, &mut engine, &longer);
    assert_eq!(snapshot.calls.rows.len(), 5);
    assert_eq!(snapshot.title.pause, plywood::app::snapshot::Pause::Before(CallNo(2)));
    // At its end, a run that is written on goes on.
    for _ in 0..4 {
        engine.handle(EngineRequest::Send);
    }
    let longest = longer + "    - user: And more.\n    - say: Done for good.\n";
    let snapshot = outside(&folder, &mut engine, &longest);
    assert_eq!(snapshot.title.pause, plywood::app::snapshot::Pause::Before(CallNo(6)));
}

#[test]
fn a_bench_on_which_the_run_cannot_be_played_on_plays_it_again_and_says_so() {
    for (old, new, why) in [
        ("  one:", "  two:", "the bench no longer has the run one"),
        ("shown_as: /w", "shown_as: /v", "the workspace is another one"),
        ("facts:", "agent: { id: other }\nfacts:", "the agent has another id"),
        ("- user: Go.", "- user: Come.", "the bench says otherwise what was played already"),
    ] {
        let folder = folder();
        let mut engine = open(folder.path());
        engine.handle(EngineRequest::Send);
        engine.handle(EngineRequest::Send);
        let text = BENCH.replace(old, new);
        let snapshot = outside(&folder, &mut engine, &text);
        let note = format!(
            "bench.yaml was changed outside; {why}: the run was played again on the bench as it is now"
        );
        assert_eq!(&*snapshot.status.note, note);
        assert_eq!(snapshot.title.branch, None);
        // As far as it had come.
        assert_eq!(snapshot.title.pause, plywood::app::snapshot::Pause::Before(CallNo(3)), "{new}");
    }
}

#[test]
fn what_was_taken_back_can_be_made_again_until_something_else_is_edited() {
    let folder = folder();
    let mut engine = open(folder.path());
    edit(&mut engine, toggle("rules"));
    edit(&mut engine, toggle("mood"));
    let both = bench(&folder);
    for _ in 0..2 {
        engine.handle(EngineRequest::UndoBench);
    }
    assert_eq!(bench(&folder), BENCH);
    for _ in 0..2 {
        engine.handle(EngineRequest::RedoBench);
    }
    let snapshot = engine.snapshot();
    assert_eq!((bench(&folder), system(&snapshot).as_str()), (both, ""));
    assert!(snapshot.status.note.starts_with("made again in "), "{}", snapshot.status.note);
    engine.handle(EngineRequest::UndoBench);
    engine.handle(EngineRequest::RedoBench);
    engine.handle(EngineRequest::UndoBench);
    edit(&mut engine, toggle("hint"));
    engine.handle(EngineRequest::RedoBench);
    assert_eq!(&*engine.snapshot().status.note, "no edit of the bench to make again");
    // Never over somebody else.
    engine.handle(EngineRequest::UndoBench);
    let other = bench(&folder) + "# somebody else\n";
    fs::write(folder.path().join("bench.yaml"), &other).expect("a file");
    engine.handle(EngineRequest::RedoBench);
    assert_eq!(bench(&folder), other);
}
