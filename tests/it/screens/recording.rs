//! A log of real requests in the workbench: the same panes, the view of the recording, and what is added to the log.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use plywood::app::effect::EngineRequest;
use plywood::app::engine::Engine;
use plywood::core::tokens::Encoding;
use plywood::io::models;

use super::day::{Day, has};
use crate::audit::lines;

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
    has(&day.draw(), "a recording is read-only");
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
    writeln!(file, "{}", lines[2]).expect("written");
    day.engine.handle(EngineRequest::Look);
    day.publish();
    has(&day.draw(), "call 2 of 4");
    // It begins anew.
    fs::write(&log, lines[0].clone() + "\n").expect("a file");
    day.engine.handle(EngineRequest::Look);
    day.publish();
    has(&day.draw(), "the log became shorter");
    assert!(
        Engine::open_recording(&folder.path().join("none.jsonl"), Arc::new(models::embedded()), None)
            .is_err()
    );
}
