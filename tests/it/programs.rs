//! `read: { x: { command: [..] } }`: never run before it was allowed, bounded, and the same bytes when played again.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use plywood::app::effect::{Effect, EngineRequest};
use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::event::Event;
use plywood::app::key::Key;
use plywood::app::rows;
use plywood::app::snapshot::{Now, Snapshot};
use plywood::app::state::{OverlayKind, State};
use plywood::app::update::update;
use plywood::core::tokens::Encoding;
use plywood::io::bench_file::Machine;
use plywood::io::command::TrustStore;
use plywood::io::models;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::run;

/// A bench that reads what a program prints; the script counts how often it was run.
fn bench(command: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("project")).expect("a folder");
    let text = format!(
        r#"bench: 1
name: programs
model: openai:gpt-5.4
workspace: {{ path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }}
read: {{ told: {{ {command} }} }}
tools: [ {{ names: [Shell] }} ]
places: {{ system: {{ of: system, join: "\n" }}, user: {{ of: current_user }} }}
layers:
  - {{ id: base, in: system, from: {{ text: "Be kind." }} }}
  - {{ id: told, in: system, refresh: call, from: {{ text: "It says: {{{{ told | trim }}}}" }} }}
  - {{ id: said, in: user, from: {{ said: user }} }}
variants:
  quiet: {{ layers.told.when: "false" }}
runs:
  one:
    - user: Go.
    - call: [ {{ Shell: {{ command: ls }}, result: "a" }} ]
    - call: [ {{ Shell: {{ command: ls }}, result: "b" }} ]
    - say: Done.
  two:
    - user: Go.
    - say: Done.
"#
    );
    fs::write(folder.path().join("bench.yaml"), text).expect("written");
    folder
}

/// Counts its runs in the workspace, and prints the count.
const COUNTS: &str = r#"command: [/bin/sh, -c, "echo x >> runs; wc -l < runs | tr -d ' '"]"#;

fn runs(folder: &Path) -> usize {
    fs::read_to_string(folder.join("project/runs")).map_or(0, |text| text.lines().count())
}

/// A workbench whose programs tell when they have ended.
struct Work {
    engine: Engine,
    state: State,
    ended: Receiver<()>,
}

impl Work {
    fn open(folder: &Path, store: &TrustStore) -> Work {
        Encoding::O200k.load();
        let disk = Disk::open(folder, &Machine::this()).unwrap_or_else(|list| panic!("{list:?}"));
        let disk = disk.trusting(Some(store.clone()));
        let engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default());
        let mut engine = engine.unwrap_or_else(|list| panic!("{list:?}"));
        let (sender, ended) = channel();
        engine.wake_with(Arc::new(move || {
            let _ = sender.send(());
        }));
        let mut work = Work { engine, state: State::new(true, false), ended };
        work.publish();
        work
    }

    fn publish(&mut self) {
        let snapshot = self.engine.snapshot();
        self.happen(Event::Published(Arc::new(snapshot)));
    }

    fn happen(&mut self, event: Event) {
        for effect in update(&mut self.state, event) {
            if let Effect::Engine(request) = effect {
                self.engine.handle(request);
                self.publish();
            }
        }
    }

    fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            self.happen(Event::Key(Key::parse(key).expect("a key")));
        }
    }

    /// Waits until a program has ended, and looks, as the engine's thread does.
    fn ends(&mut self) {
        self.ended.recv_timeout(Duration::from_secs(60)).expect("a program ends");
        assert!(self.engine.look(), "it has printed something");
        self.publish();
    }

    fn asks(&self) -> bool {
        self.state.overlays.iter().any(|open| open.kind == OverlayKind::Programs)
    }
}

fn now(snapshot: &Snapshot) -> Now {
    snapshot.layers.rows.iter().find(|row| &*row.id == "told").expect("a layer").now.clone()
}

/// The system prompt of the shown call.
fn system(snapshot: &Snapshot) -> String {
    let blocks = snapshot.request.blocks.iter().filter(|block| block.title.starts_with("system"));
    blocks.map(|block| block.text.text().to_string()).collect()
}

#[test]
fn nothing_runs_before_the_user_has_allowed_it_here_and_then_it_is_remembered() {
    let folder = bench(COUNTS);
    let store = TrustStore::at(folder.path().join("state"));
    let mut work = Work::open(folder.path(), &store);
    assert!(work.asks(), "the user is asked");
    let rows: Vec<String> = rows::list_rows(&work.state).into_iter().map(|row| row.title).collect();
    let shown = rows.join("").replace(' ', "");
    assert!(shown.contains(r#"`/bin/sh-c"echox>>runs;wc-l<runs|tr-d''""#), "the exact command: {shown}");
    assert!(shown.contains("atmost5sand65536bytes"), "{shown}");
    let Now::Failed(reason) = now(&work.state.snapshot) else { panic!("the layer says so") };
    assert!(reason.contains("was not run"), "{reason}");
    // Enter without reading allows nothing.
    work.keys(&["enter"]);
    assert!(!work.asks() && runs(folder.path()) == 0);
    work.keys(&["space", "backspace"]);
    assert!(!work.asks(), "it is asked once");
    let mut again = Work::open(folder.path(), &store);
    assert!(again.asks() && runs(folder.path()) == 0, "not now is not for ever");
    again.keys(&["esc", "T", "down", "enter"]);
    again.ends();
    assert_eq!(runs(folder.path()), 1);
    assert_eq!(system(&again.state.snapshot), "Be kind.\nIt says: 1");
    // From now on it is run when the bench is opened.
    let mut third = Work::open(folder.path(), &store);
    assert!(!third.asks());
    third.ends();
    assert_eq!(system(&third.state.snapshot), "Be kind.\nIt says: 2");
    assert_eq!(now(&third.state.snapshot), Now::New, "the run begins with it");
    assert!(third.state.snapshot.why.changes.is_empty(), "{:?}", third.state.snapshot.why.changes);
    // Another command is another question.
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    fs::write(folder.path().join("bench.yaml"), text.replace("-l <", "-c <")).expect("written");
    assert!(Work::open(folder.path(), &store).asks());
}

#[test]
fn a_run_that_is_played_again_has_the_same_bytes_until_programs_run_again() {
    let folder = bench(COUNTS);
    let store = TrustStore::at(folder.path().join("state"));
    let mut work = Work::open(folder.path(), &store);
    work.keys(&["down", "enter"]);
    work.ends();
    work.keys(&["space", "space"]);
    let third = system(&work.state.snapshot);
    assert_eq!(third, "Be kind.\nIt says: 1");
    work.keys(&["backspace", "backspace", "space"]);
    assert_eq!(system(&work.state.snapshot), third);
    work.engine.handle(EngineRequest::Variants(vec!["quiet".into()]));
    work.engine.handle(EngineRequest::Variants(Vec::new()));
    work.engine.handle(EngineRequest::Run("two".into()));
    work.engine.handle(EngineRequest::Run("one".into()));
    work.publish();
    assert_eq!((system(&work.state.snapshot), runs(folder.path())), (third.clone(), 1));
    // Ctrl-L runs it again: that is something new that happens before the call that waits.
    work.keys(&["space", "ctrl-l"]);
    work.ends();
    assert_eq!((system(&work.state.snapshot).as_str(), runs(folder.path())), ("Be kind.\nIt says: 2", 2));
    let why = &work.state.snapshot.why.changes;
    assert!(why.iter().any(|change| change.by.starts_with("another run of `/bin/sh")), "{why:?}");
    work.keys(&["backspace"]);
    assert_eq!(system(&work.state.snapshot), third, "what was sent is what was sent");
}

#[test]
fn without_a_screen_programs_run_only_with_trust() {
    let folder = bench(COUNTS);
    let path = folder.path().display().to_string();
    for command in ["build", "run", "layers", "check"] {
        let ran = run(&[command, &path]);
        assert!(ran.status < 2 && runs(folder.path()) == 0, "{ran:?}");
        assert!(!ran.stdout.contains("It says"), "{ran:?}");
    }
    let layers: Value = serde_json::from_str(&run(&["layers", &path, "--json"]).stdout).expect("JSON");
    assert!(layers["diagnostics"].to_string().contains("was not run: nobody has allowed it"), "{layers}");
    assert_eq!(run(&["check", &path]).status, 1, "it is found");
    let ran = run(&["build", &path, "--trust"]);
    assert_eq!((ran.status, ran.stderr.as_str(), runs(folder.path())), (0, "", 1));
    assert!(ran.stdout.contains("It says: 1"), "{}", ran.stdout);
    // Every call of a run reads what was printed once.
    let ran = run(&["run", &path, "--trust", "--json"]);
    assert_eq!((ran.status, runs(folder.path())), (0, 2), "{}", ran.stderr);
}

#[test]
fn what_goes_wrong_is_told_with_the_command() {
    for (command, want) in [
        ("command: [/bin/sh, -c, \"echo boom >&2; exit 3\"]", "ended with status 3: boom"),
        (
            "command: [/bin/sleep, 600], timeout: 1s",
            "`/bin/sleep 600` did not end within 1 s and was stopped",
        ),
        ("command: [no-such-program-anywhere]", "`no-such-program-anywhere` cannot be started"),
    ] {
        let folder = bench(command);
        let path = folder.path().display().to_string();
        let ran = run(&["layers", &path, "--trust"]);
        assert!(ran.status == 1 && ran.stdout.contains(want), "{ran:?}");
        let built = run(&["build", &path, "--trust"]);
        assert!(built.stdout.contains("Be kind.") && !built.stdout.contains("It says"), "{built:?}");
    }
    // A flood is cut, and that is told.
    let folder = bench("command: [yes], max_bytes: 100");
    let ran = run(&["build", &folder.path().display().to_string(), "--trust"]);
    assert!(ran.stdout.contains("It says: y\ny\n"), "{}", ran.stdout);
    let layers = run(&["layers", &folder.path().display().to_string(), "--trust"]).stdout;
    assert!(layers.contains("cut at 100 bytes, and the program was stopped"), "{layers}");
}

#[test]
fn a_bench_cannot_raise_its_limits() {
    for (command, want) in [
        ("command: [date], timeout: 2m", "`timeout` is out of range: 2m"),
        ("command: [date], timeout: 0s", "`timeout` is out of range: 0s"),
        ("command: [date], max_bytes: 100000000", "out of range"),
        ("command: []", "a `command` without a program"),
        ("command: date", "must be a list"),
        ("file: a, timeout: 1s", "`timeout` does not go with `file`"),
    ] {
        let folder = bench(command);
        let ran = run(&["build", &folder.path().display().to_string(), "--trust"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{command}");
        assert!(ran.stderr.contains(want), "{command}: {}", ran.stderr);
    }
}
