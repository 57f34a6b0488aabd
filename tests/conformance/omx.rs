//! A block of sections between markers and inside a budget, and the file it stands in: cases O1 to O66, on disk.
//!
//! Which numbers are tested in another way than they are written, and which do not apply, stands at the head of each
//! part. O12 and O13 are not given to any case.

mod crash;
mod file;
mod launch;
mod map;
mod marked;
mod room;
mod sections;
mod session;
mod shipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use plywood::core::fact::Progress;
use plywood::core::run::{CallRecord, Input, Session};
use plywood::core::source::Piece;
use plywood::core::wire::{CallNo, Zone};
use plywood::io::bench_file::{BenchFile, Machine};
use plywood::io::load::fixed_clock;
use plywood::io::samples;

const START: &str = "<!-- OMX:RUNTIME:START -->";
const END: &str = "<!-- OMX:RUNTIME:END -->";
const BUDGET: usize = 3_500;

/// A bench in a folder of its own, with the real loader.
struct Scene {
    file: BenchFile,
    root: PathBuf,
    /// Removed with it.
    _folder: Box<dyn std::any::Any>,
}

impl Scene {
    /// The sample.
    fn new() -> Scene {
        let copy = samples::find("omx").expect("a sample").scratch_copy().expect("written");
        Scene::at(copy.path().to_owned(), Box::new(copy))
    }

    /// The small bench with the labels of the program in use.
    fn shipped() -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/omx/shipped");
        fs::create_dir(root.join("project")).expect("made");
        for name in ["bench.yaml", "gate.md"] {
            fs::copy(from.join(name), root.join(name)).expect("copied");
        }
        Scene::at(root, Box::new(folder))
    }

    fn at(root: PathBuf, folder: Box<dyn std::any::Any>) -> Scene {
        let machine = Machine { clock: fixed_clock("2026-03-07T08:00:00Z"), home: None };
        let file = BenchFile::open(&root, &machine).expect("it opens");
        Scene { file, root, _folder: folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("a text")
    }

    /// Writes a file beside the bench.
    fn put(&self, path: &str, text: &str) -> &Scene {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("made");
        fs::write(path, text).expect("written");
        self
    }

    fn remove(&self, path: &str) -> &Scene {
        fs::remove_file(self.path(path)).expect("removed");
        self
    }

    /// Runs git in the workspace, without what this machine's user has set.
    fn git(&self, args: &[&str]) -> &Scene {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.path("project")).args(args);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.output().expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self
    }

    /// Reads the bench file again.
    fn reload(&mut self) -> bool {
        self.file.reload()
    }

    fn notes(&self, notes: &str) -> &Scene {
        self.put("project/.omx/notepad.md", &format!("## PRIORITY\n{notes}"))
    }

    fn memory(&self, memory: &serde_json::Value) -> &Scene {
        self.put("project/.omx/project-memory.json", &memory.to_string())
    }

    /// A session of its own before its first request.
    fn session(&mut self) -> Session {
        self.with(&[])
    }

    /// The same with variants.
    fn with(&mut self, variants: &[&str]) -> Session {
        let variants: Vec<_> = variants.iter().map(|name| (*name).into()).collect();
        let (bench, warnings) = self.file.bench(&variants).expect("it is a bench");
        assert_eq!(warnings, []);
        let mut session = Session::new(bench);
        self.take(&mut session, Input::User("继续".into()));
        session
    }

    /// The user asks again, and the disk is looked at again before the request.
    fn ask(&mut self, session: &mut Session) {
        self.take(session, Input::User("再来".into()));
        let found = self.file.loader().changed();
        self.take(session, Input::Observed { found, by: "the look before a request".into() });
    }

    fn say(&mut self, session: &mut Session, text: &str) {
        self.take(session, Input::Say(text.into()));
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

/// The system prompt of the request that waits.
fn system(session: &Session) -> String {
    let request = session.request(CallNo(session.next_call().0)).expect("a request waits");
    request.zone(Zone::System)[0].text.text().to_string()
}

/// The block of the request that waits, markers and all. It stands at the end, whole and inside its budget.
fn block(session: &Session) -> String {
    let system = system(session);
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
    let bench = scene.text("bench.yaml");
    scene.put("bench.yaml", &bench.replace("budget: { chars: 3500,", "budget: { chars: 900,"));
    assert!(scene.reload());
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
    scene.remove("project/.omx/plans/prd-checkout.md");
    assert_eq!(status(&mut scene), "Status: BLOCKED — No PRD found. Run $ralplan first.");
}
