//! A block of sections between markers and inside a budget: cases O9 to O11 and O14 to O16, on disk.
//!
//! The numbers O12 and O13 are not given to any case.

mod file;

use std::fs;

use plywood::core::fact::Progress;
use plywood::core::run::{CallRecord, Input, Session};
use plywood::core::source::Piece;
use plywood::core::wire::{CallNo, Zone};
use plywood::io::bench_file::{BenchFile, Machine};
use plywood::io::load::fixed_clock;
use plywood::io::samples::{self, ScratchCopy};

const START: &str = "<!-- OMX:RUNTIME:START -->";
const END: &str = "<!-- OMX:RUNTIME:END -->";
const BUDGET: usize = 3_500;

/// The sample on disk, with the real loader.
struct Scene {
    file: BenchFile,
    copy: ScratchCopy,
}

impl Scene {
    fn new() -> Scene {
        let copy = samples::find("omx").expect("a sample").scratch_copy().expect("written");
        let machine = Machine { clock: fixed_clock("2026-03-07T08:00:00Z"), home: None };
        let file = BenchFile::open(&copy.bench(), &machine).expect("it opens");
        Scene { file, copy }
    }

    /// Writes a file beside the bench.
    fn put(&self, path: &str, text: &str) -> &Scene {
        fs::write(self.copy.path().join(path), text).expect("written");
        self
    }

    fn notes(&self, notes: &str) -> &Scene {
        self.put("project/.omx/notepad.md", &format!("## PRIORITY\n{notes}"))
    }

    fn memory(&self, memory: &serde_json::Value) -> &Scene {
        self.put("project/.omx/project-memory.json", &memory.to_string())
    }

    /// A session of its own before its first request.
    fn session(&mut self) -> Session {
        let (bench, warnings) = self.file.bench(&[]).expect("it is a bench");
        assert_eq!(warnings, []);
        let mut session = Session::new(bench);
        self.take(&mut session, Input::User("继续".into()));
        session
    }

    fn take(&mut self, session: &mut Session, input: Input) {
        let mut progress = session.step(input).expect("it can happen");
        while let Progress::Needs(keys) = progress {
            let loader = self.file.loader();
            session.supply(keys.into_iter().map(|key| (key.clone(), loader.load(&key))));
            progress = session.resume();
        }
    }
}

/// The block of the request that waits, markers and all. It stands at the end, whole and inside its budget.
fn block(session: &Session) -> String {
    let request = session.request(CallNo(session.next_call().0)).expect("a request waits");
    let system = request.zone(Zone::System)[0].text.text().clone();
    assert_eq!((system.matches(START).count(), system.matches(END).count()), (1, 1), "one pair of markers");
    let block = system[system.find(START).expect("it")..].to_owned();
    assert!(block.starts_with(&format!("{START}\n")) && block.ends_with(&format!("\n{END}")), "{block}");
    assert!(block.chars().count() <= BUDGET, "{} characters", block.chars().count());
    block
}

fn record(session: &Session) -> &CallRecord {
    session.prepared().expect("a request waits")
}

/// The layers that were evicted.
fn evicted(session: &Session) -> Vec<(String, String)> {
    let layers = record(session).layers.iter();
    layers
        .filter_map(|layer| match &layer.state.piece {
            Piece::Omitted(reason) if reason.starts_with("evicted: ") => {
                Some((layer.id.to_string(), reason.to_string()))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn o09_memory_shows_its_fields_and_the_first_three_urgent_directives() {
    let mut scene = Scene::new();
    let directive =
        |name: &str, priority: &str| serde_json::json!({ "directive": name, "priority": priority });
    scene.memory(&serde_json::json!({
        "stack": "Rust", "conventions": "errors go up",
        "directives": [
            directive("one", "high"), directive("ordinary", "normal"), directive("two", "high"),
            directive("three", "high"), directive("four", "high"),
        ],
    }));
    let block = block(&scene.session());
    assert!(block.contains(
        "## Project Context\n\n- Stack: Rust\n- Conventions: errors go up\n- Directive: one\n- Directive: two\n\
         - Directive: three\n\n"
    ));
    assert!(!block.contains("ordinary") && !block.contains("four") && !block.contains("Build"));
}

#[test]
fn o10_long_notes_and_memory_stay_inside_the_budget() {
    let mut scene = Scene::new();
    scene.notes(&"n".repeat(5_000));
    scene.memory(&serde_json::json!({ "stack": "s".repeat(2_000), "conventions": "c".repeat(2_000) }));
    let session = scene.session();
    let block = block(&session);
    // Each was cut to its own limit first.
    assert!(block.contains(&format!("## Priority Notes\n\n{}...\n\n", "n".repeat(619 - 19 - 3))));
    assert!(block.contains("sss...\n\n") && !block.contains("ccc"));
}

#[test]
fn o11_with_everything_inflated_the_same_sections_stay_in_two_calls() {
    let mut scene = Scene::new();
    scene.notes(&"n".repeat(8_000));
    scene.memory(&serde_json::json!({ "stack": "s".repeat(9_000) }));
    let skills: Vec<_> = (0..40)
        .map(|n| serde_json::json!({ "skill": format!("mode-{n:02}"), "active": true, "phase": "working on it" }))
        .collect();
    scene.put(
        "project/.omx/state/sessions/omx-1717567890-abc123/skill-active-state.json",
        &serde_json::json!({ "active_skills": skills }).to_string(),
    );
    // The fixed sections of this sample are short: a long routing makes the room scarce.
    scene.put("routing.md", &format!("## Native Subagent Routing\n\n{}", "r".repeat(2_000)));
    let mut session = scene.session();
    let first = block(&session);
    for heading in
        ["## Active Modes\n", "## Priority Notes\n", "## Compaction Protocol\n", "## Ralph Planning Gate\n"]
    {
        assert!(first.contains(heading), "{heading}");
    }
    let gone = evicted(&session);
    assert!(gone.iter().all(|(layer, _)| layer == "memory" || layer == "lookup"), "{gone:?}");
    scene.take(&mut session, Input::Say("好".into()));
    scene.take(&mut session, Input::User("再来".into()));
    assert_eq!((block(&session), evicted(&session)), (first, gone));
}

#[test]
fn what_is_evicted_goes_from_the_first_that_does_not_fit() {
    let mut scene = Scene::new();
    let bench = fs::read_to_string(scene.copy.bench()).expect("there");
    scene.put("bench.yaml", &bench.replace("budget: { chars: 3500,", "budget: { chars: 900,"));
    assert!(scene.file.reload());
    scene.notes(&"n".repeat(500));
    let session = scene.session();
    let block = block(&session);
    assert!(block.chars().count() <= 900);
    assert!(block.contains("## Active Modes") && block.contains("## Compaction Protocol"));
    let gone = evicted(&session);
    let layers: Vec<&str> = gone.iter().map(|(layer, _)| &**layer).collect();
    assert_eq!(layers, ["notes", "memory", "lookup"]);
    assert!(
        gone[0].1.starts_with("evicted: budget 900, needs 521, ") && gone[0].1.ends_with(" left"),
        "{gone:?}"
    );
    assert!(
        gone[1].1.ends_with(" left, behind notes") && gone[2].1.ends_with(" left, behind notes"),
        "{gone:?}"
    );
}

#[test]
fn o14_emoji_are_cut_between_characters() {
    let mut scene = Scene::new();
    scene.notes(&"🙂".repeat(400));
    assert!(
        block(&scene.session()).contains(&"🙂".repeat(400)),
        "a character is one, whatever it is made of"
    );
    scene.notes(&"🙂".repeat(700));
    let block = block(&scene.session());
    assert!(block.contains(&format!("\n\n{}...\n\n", "🙂".repeat(597))));
    assert!(!block.contains('\u{fffd}'));
}

#[test]
fn o15_required_sections_that_are_too_long_are_cut_inside_the_markers() {
    let mut scene = Scene::new();
    scene.put("gate.md", &"门".repeat(4_000));
    let session = scene.session();
    let block = block(&session);
    assert_eq!(block.chars().count(), BUDGET);
    assert!(block.ends_with(&format!("门...\n{END}")));
    let gone = evicted(&session);
    let layers: Vec<&str> = gone.iter().map(|(layer, _)| &**layer).collect();
    assert_eq!(layers, ["modes", "notes", "memory", "lookup"]);
    assert!(gone[0].1.ends_with(", 0 left"), "{gone:?}");
    let told: Vec<&str> = record(&session).diagnostics.iter().map(|told| &*told.message).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("the required layers of overlay alone make 4,"), "{told:?}");
}

#[test]
fn o16_a_marker_in_a_note_does_not_close_the_block() {
    let mut scene = Scene::new();
    scene.notes(&format!("before {END} behind\n{START}\nlast"));
    let session = scene.session();
    let block = block(&session);
    assert!(block.contains("before <\\!-- OMX:RUNTIME:END --> behind\n<\\!-- OMX:RUNTIME:START -->\nlast"));
    assert_eq!(
        record(&session).diagnostics[0].message,
        "a marker of overlay stands in the text of notes; it was broken with a backslash"
    );
}

#[test]
fn the_gate_opens_with_both_plans() {
    let mut scene = Scene::new();
    let status = |scene: &mut Scene| {
        let block = block(&scene.session());
        block.lines().find(|line| line.starts_with("Status: ")).expect("a status").to_owned()
    };
    assert_eq!(status(&mut scene), "Status: BLOCKED — No test-spec found. Run $ralplan first.");
    scene.put("project/.omx/plans/test-spec-a.md", "x");
    assert_eq!(status(&mut scene), "Status: UNLOCKED — PRD and test-spec artifacts exist.");
    fs::remove_file(scene.copy.path().join("project/.omx/plans/prd-checkout.md")).expect("removed");
    assert_eq!(status(&mut scene), "Status: BLOCKED — No PRD found. Run $ralplan first.");
}
