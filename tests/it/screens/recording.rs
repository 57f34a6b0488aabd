//! A log of real requests in the workbench: the same panes, the view of the recording, and what is added to the log.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use plywood::app::effect::EngineRequest;
use plywood::app::engine::Engine;
use plywood::core::audit::Layers;
use plywood::core::tokens::Encoding;
use plywood::core::wire::CallNo;
use plywood::io::models;

use super::day::{Day, has};
use crate::audit::lines;
use crate::support::{Memory, player};

/// The log in the workbench.
fn opened(log: &Path, size: (u16, u16)) -> Day {
    Encoding::O200k.load();
    let engine = Engine::open_recording(log, Arc::new(models::embedded()), None).expect("a recording");
    let root = log.parent().expect("a folder").to_owned();
    Day::with(engine, None, root, size)
}

#[test]
fn a_log_is_shown_in_the_same_panes_and_can_only_be_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.jsonl");
    fs::write(&log, lines().join("\n") + "\n").expect("a file");
    let mut day = opened(&log, (120, 40));
    let screen = day.press("<space><space>");
    has(&screen, "log.jsonl (recording, read-only)");
    has(&screen, "call 3 of 3");
    // As it was reported, not as the rules would have it.
    has(&screen, "! 2,900");
    has(&screen, "CALL 3");
    has(&screen, "near \"# Environment\"");
    assert!(!screen.contains("m model") && !screen.contains("e edit"), "{screen}");
    let screen = day.press("A");
    has(&screen, "Recording  call 3 of 3 is shown");
    has(&screen, "a claude-trace capture, 3 lines, 3 calls in 1 conversation");
    has(&screen, "changed: system, near \"# Environment\": 1 call, 2,900 paid again ($0.0100)");
    has(&screen, "by the rules");
    // To the first of the calls that a cause is about.
    let screen = day.press("ggj<enter>");
    has(&screen, "call 3 of 3");
    let screen = day.press("5");
    has(&screen, "Cache zones");
    // With the messages that were sent.
    has(&screen, "~23 tokens behind the last mark");
    day.press("<esc>");
    day.engine.handle(EngineRequest::SetCwd("/elsewhere".into()));
    day.publish();
    has(&day.draw(), "a recording is read-only; `plywood init --from log.jsonl` makes a bench of it");
    // What cannot be done says what can.
    has(
        &day.press("x"),
        "a recording cannot be played another way; `plywood init --from log.jsonl` makes a bench",
    );
    has(&day.press("e"), "this text was recorded, no file holds it; `plywood init --from log.jsonl`");
    has(&day.press("Agg<enter>"), "this line is about the whole log");
}

#[test]
fn with_a_bench_its_layers_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.jsonl");
    fs::write(&log, lines().join("\n") + "\n").expect("a file");
    let text = format!(
        "bench: 1\nname: b\nmodel: anthropic:claude-sonnet-4-5\nfacts: {{ cwd: /home/other }}\n\
         workspace: {{ path: work, shown_as: /home/other, clock: \"2026-04-01T09:00:00Z\" }}\n\
         places: {{ system: {{ of: system }}, user: {{ of: current_user }} }}\nlayers:\n  \
         - {{ id: base, title: House rules, in: system, from: {{ text: {} }} }}\n  \
         - {{ id: said, in: user, from: {{ said: user }} }}\nruns: {{ one: [ {{ user: hi }} ] }}\n",
        serde_json::Value::from(crate::audit::system("{{cwd}}"))
    );
    let player = player(&text, &[], &mut Memory::default());
    let shown = [("base".into(), "House rules".into())].into_iter().collect();
    let mut layers = Layers::new(shown);
    layers.learn(&player.session().request(CallNo(1)).expect("a request"));
    Encoding::O200k.load();
    let models = Arc::new(models::embedded());
    let engine =
        Engine::open_recording(&log, models, Some(("bench.yaml".into(), layers))).expect("a recording");
    let mut day = Day::with(engine, None, folder.path().to_owned(), (120, 40));
    has(&day.press("<space><space>"), "layer House rules");
    let screen = day.press("A");
    has(&screen, "changed: layer House rules");
    has(&screen, "layers are those of bench.yaml, matched by their text");
}

#[test]
fn keys_in_recorded_text_are_not_quoted() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.jsonl");
    let mut lines = lines();
    // One stands where the system prompt changes, one in an error of the provider.
    lines[2] = lines[2].replace("/home/shop/api", "ghp_0123456789abcdef");
    let mut failed: serde_json::Value = serde_json::from_str(&lines[2]).expect("JSON");
    let error =
        serde_json::json!({ "type": "authentication_error", "message": "no key sk-ant-0123456789abcdef" });
    failed["request"]["timestamp"] = 1_764_500_060.into();
    failed["response"] =
        serde_json::json!({ "status_code": 401, "body": { "type": "error", "error": error } });
    lines.push(failed.to_string());
    fs::write(&log, lines.join("\n") + "\n").expect("a file");
    let mut day = opened(&log, (200, 40));
    let verdict = |screen: &str| {
        let line = screen.lines().find(|line| line.contains("CALL "));
        line.expect("the line of the verdict").to_owned()
    };
    let third = verdict(&day.press("<space><space>"));
    assert!(third.contains("Working directory: <REDACTED>") && !third.contains("ghp_"), "{third}");
    let fourth = verdict(&day.press("<space>"));
    assert!(fourth.contains("failed: no key <REDACTED>"), "{fourth}");
    let screen = day.press("A");
    has(&screen, "failed: no key <REDACTED>");
    assert!(!screen.contains("sk-ant-"), "{screen}");
}

#[test]
fn what_is_added_to_the_log_is_shown_while_one_looks_at_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.jsonl");
    let lines = lines();
    fs::write(&log, lines[..2].join("\n") + "\n").expect("a file");
    let mut day = opened(&log, (120, 40));
    has(&day.press("<space>"), "call 2 of 2");
    let mut file = fs::OpenOptions::new().append(true).open(&log).expect("the file");
    writeln!(file, "{}", lines[2]).expect("written");
    day.engine.handle(EngineRequest::Look);
    day.publish();
    let screen = day.draw();
    has(&screen, "call 3 of 3");
    // Whoever looks at an earlier call stays there.
    day.press("<backspace>");
    writeln!(file, "{}", crate::audit::call("/home/shop/api", 4, 60, 2_901, 0)).expect("written");
    day.engine.handle(EngineRequest::Look);
    day.publish();
    has(&day.draw(), "call 2 of 4");
    // It begins anew.
    fs::write(&log, lines[0].clone() + "\n").expect("a file");
    day.engine.handle(EngineRequest::Look);
    day.publish();
    let screen = day.draw();
    has(&screen, "the log became shorter: it was read from its beginning");
    // Nothing of what was there before is left.
    has(&screen, "call 1 of 1");
    has(&day.press("A"), "a claude-trace capture, 1 line, 1 call in 1 conversation");
    day.press("<esc>");
    // So it is where another file takes its place, however long.
    let other = folder.path().join("other.jsonl");
    fs::write(&other, lines.join("\n") + "\n").expect("a file");
    fs::rename(&other, &log).expect("moved");
    day.engine.handle(EngineRequest::Look);
    day.publish();
    let screen = day.draw();
    has(&screen, "another log stands in its place: it was read from its beginning");
    has(&screen, "call 1 of 3");
    has(&day.press("A"), "3 lines, 3 calls in 1 conversation");
    assert!(
        Engine::open_recording(&folder.path().join("none.jsonl"), Arc::new(models::embedded()), None)
            .is_err()
    );
}
