//! What an audience sees: captions, and marks of what changed.

use std::sync::Arc;

use plywood::app::effect::{Effect, EngineRequest};
use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::event::Event;
use plywood::app::key::Key;
use plywood::app::rows::{CallLine, call_line_text, call_lines};
use plywood::app::state::State;
use plywood::app::update::update;
use plywood::core::tokens::Encoding;
use plywood::io::bench_file::Machine;
use plywood::io::models;
use tempfile::TempDir;

use super::shot::Shot;

/// A workbench without a terminal, whose engine answers at once.
pub(super) struct Stage {
    engine: Engine,
    pub(super) state: State,
    pub(super) shot: Shot,
}

impl Stage {
    pub(super) fn on(engine: Engine, size: (u16, u16), theme: &str) -> Stage {
        let mut stage =
            Stage { engine, state: State::new(true, false), shot: Shot::themed(size.0, size.1, theme) };
        stage.publish();
        stage
    }

    fn publish(&mut self) {
        while self.engine.work() {}
        let snapshot = self.engine.snapshot();
        self.happen(Event::Published(Arc::new(snapshot)));
        self.draw();
    }

    fn draw(&mut self) {
        // A frame that measured something new is followed by another.
        for _ in 0..3 {
            self.shot.draw(&mut self.state);
        }
    }

    fn happen(&mut self, event: Event) {
        for effect in update(&mut self.state, event) {
            if let Effect::Engine(request) = effect {
                self.ask(request);
            }
        }
    }

    /// Something was done to files elsewhere.
    fn look(&mut self) {
        self.ask(EngineRequest::Look);
    }

    fn ask(&mut self, request: EngineRequest) {
        if request == EngineRequest::Look {
            self.engine.look();
        } else {
            self.engine.handle(request);
        }
        self.publish();
    }

    /// Presses keys, and draws.
    pub(super) fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            self.happen(Event::Key(Key::parse(key).expect("a key")));
        }
        self.draw();
    }

    pub(super) fn text(&self) -> String {
        self.shot.text()
    }
}

const BENCH: &str = r##"bench: 1
name: captions
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
tools: [ { names: [Shell], schemas: tools.json } ]
places: { system: { of: system, join: "\n" }, user: { of: current_user } }
layers:
  - { id: base, in: system, from: { text: "Be kind." } }
  - { id: said, in: user, from: { said: user } }
runs:
  one:
    - note: 第一条字幕说明正在发生的事情，它比八十列宽得多，所以要按显示宽度换行，而不是按字符数换行，也不会切开一个字。
    - user: Go.
    - call: [ { Shell: { command: ls }, result: "a" } ]
    - call: [ { Shell: { command: ls }, result: "b" } ]
    - note: |
        The third call
        is the last.
    - say: Done.
    - note: That was all.
  silent:
    - user: Go.
    - say: Done.
"##;

fn bench() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("project")).expect("a folder");
    let tools = r#"[{ "name": "Shell", "description": "d", "input_schema": { "type": "object" } }]"#;
    for (path, text) in [("bench.yaml", BENCH), ("tools.json", tools)] {
        std::fs::write(folder.path().join(path), text).expect("a file");
    }
    folder
}

fn open(folder: &TempDir, run: &str, size: (u16, u16)) -> Stage {
    Encoding::O200k.load();
    let disk = Disk::open(folder.path(), &Machine::this()).unwrap_or_else(|list| panic!("{list:?}"));
    let options = Options { run: Some(run.into()), ..Options::default() };
    let engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), options);
    Stage::on(engine.unwrap_or_else(|list| panic!("{list:?}")), size, "ansi")
}

/// The rows above the row of keys.
fn band(stage: &Stage, rows: usize) -> Vec<String> {
    let text = stage.text();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len() - 1 - rows..lines.len() - 1].iter().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_caption_stays_until_the_next_beat_in_a_band_of_its_own() {
    let folder = bench();
    let mut stage = open(&folder, "one", (80, 24));
    let first = band(&stage, 2);
    assert!(first[0].starts_with("第一条字幕") && first[1].ends_with("1 of 3"), "{first:?}");
    let said: String = first.concat().replace("  1 of 3", "").split_whitespace().collect();
    assert!(said.ends_with("也不会切开一个字。"), "{said}");
    stage.keys(&["j", "tab", "?"]);
    stage.keys(&["esc"]);
    assert_eq!(band(&stage, 2), first, "moving around is no beat");
    stage.keys(&["space"]);
    assert_eq!(band(&stage, 2), ["", "2 of 3"], "the band keeps its room");
    stage.keys(&["space"]);
    assert_eq!(band(&stage, 2)[0], "The third call is the last.");
    stage.keys(&["space"]);
    assert_eq!(band(&stage, 2), ["That was all.", "3 of 3"], "behind the last call");
    stage.keys(&["backspace", "backspace"]);
    assert_eq!(band(&stage, 2), first);
}

#[test]
fn captions_to_come_stand_with_their_calls() {
    let folder = bench();
    let stage = open(&folder, "one", (120, 40));
    let calls = &stage.state.snapshot.calls;
    let notes: Vec<&str> = call_lines(calls, false)
        .into_iter()
        .filter(|line| matches!(line, CallLine::Note(..) | CallLine::Closing(_)))
        .map(|line| call_line_text(calls, line).trim())
        .collect();
    assert_eq!(notes, ["The third call\nis the last.", "That was all."]);
    assert!(stage.text().contains("# That was all."), "{}", stage.text());
    let narrow = open(&folder, "one", (80, 24));
    assert!(!narrow.text().contains("That was all."), "{}", narrow.text());
    let third = narrow.text().lines().find(|line| line.contains("  3 Shell")).map(str::to_owned);
    assert!(third.as_deref().is_some_and(|line| line.contains("ls #")), "{third:?}");
}

#[test]
fn a_run_without_captions_has_no_band() {
    let folder = bench();
    let stage = open(&folder, "silent", (80, 24));
    assert!(stage.state.snapshot.caption.is_none());
    assert!(!band(&stage, 2)[1].ends_with("1 of 1"), "{}", stage.text());
}

/// A sample at its first call.
fn sample(name: &str, size: (u16, u16), theme: &str) -> Stage {
    Encoding::O200k.load();
    let sample = plywood::io::samples::find(name).expect("a sample");
    let disk = Disk::sample(sample, "", &Machine::this()).unwrap_or_else(|list| panic!("{list:?}"));
    let engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default());
    Stage::on(engine.unwrap_or_else(|list| panic!("{list:?}")), size, theme)
}

/// The rows of the screen that have a sign of change, without frames.
fn marked(stage: &Stage) -> Vec<String> {
    let text = stage.text();
    let rows = text.lines().filter(|line| line.contains('*'));
    rows.map(|line| line.replace(['│', '─'], " ").split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn what_a_beat_changed_is_marked_until_the_next_key() {
    // Without colours the signs have to say it.
    let mut stage = sample("xbot", (120, 40), "mono");
    assert!(marked(&stage).is_empty(), "{}", stage.text());
    stage.keys(&["space"]);
    let layers: Vec<&str> = stage.state.marks.layers.iter().map(|(id, _)| &**id).collect();
    // The base is stale from now on; what stands in the system prompt did not change.
    assert_eq!(layers, ["conversation", "dynamic_context", "reminder", "system_prompt"]);
    let calls: Vec<u32> = stage.state.marks.calls.iter().map(|call| call.0).collect();
    assert_eq!(calls, [1, 2], "the one that was sent, and the one that waits now");
    let rows = marked(&stage).join("\n");
    for part in
        ["* 1 1 00_base", "* t 9 dynamic-context", "> 2* Cd api", "1* user:", "*<dynamic-context>", "*CALL 2"]
    {
        assert!(rows.contains(part), "{part}:\n{}", stage.text());
    }
    assert!(!rows.contains("*AHEAD"), "{}", stage.text());
    stage.keys(&["j"]);
    assert!(marked(&stage).is_empty(), "{}", stage.text());
    stage.keys(&["space", "backspace"]);
    assert!(marked(&stage).is_empty(), "going back changes nothing:\n{}", stage.text());
}

#[test]
fn an_edit_and_a_save_elsewhere_are_marked() {
    let mut stage = sample("mao", (120, 40), "ansi");
    stage.keys(&["1", "j", "-"]);
    let toggled = stage.state.marks.layers.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>();
    assert_eq!(toggled.len(), 1, "the selected layer is left out: {toggled:?}");
    stage.keys(&["u"]);
    assert_eq!(stage.state.marks.layers.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>(), toggled);
    stage.keys(&["j"]);
    assert!(stage.state.marks.layers.is_empty());
    let watched = stage.engine.inputs().0;
    let rules = watched.iter().find(|path| path.ends_with("AGENTS.md")).expect("the rules are watched");
    let text = std::fs::read_to_string(rules).expect("a file");
    std::fs::write(rules, text.replace("500", "900")).expect("a save");
    stage.look();
    assert_eq!(stage.state.marks.layers.iter().map(|(id, _)| &**id).collect::<Vec<_>>(), ["rules"]);
    let system = stage.state.snapshot.request.blocks.iter().position(|block| &*block.title == "system");
    let system = system.expect("a system prompt");
    let ranges = &stage.state.marks.bytes[&system];
    let block = &stage.state.snapshot.request.blocks[system];
    assert_eq!(ranges.iter().map(|range| &block.text.text()[range.clone()]).collect::<Vec<_>>(), ["9"]);
    let (before, marks) = (stage.state.before.clone(), stage.state.marks.clone());
    stage.look();
    assert_eq!(stage.state.marks, marks, "nothing moves by itself");
    assert!(before.is_some());
}
