//! Names in files that nobody has looked at do not steer a terminal.

use std::fs;

use serde_json::{Value, json};

use crate::cli::run;

/// A name that clears the screen, sets a title, begins a sequence in one character, and turns the line around.
const NAME: &str = "n\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{7f}\rx";

/// True where the text holds nothing that a terminal acts on but line ends and tabs.
fn is_still(text: &str) -> bool {
    !text.contains(|c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

fn bench() -> String {
    // YAML takes these characters as escapes alone.
    let name = json!(NAME)
        .to_string()
        .replace('\u{9b}', "\\x9b")
        .replace('\u{7f}', "\\x7f")
        .replace('\u{202e}', "\\u202e");
    format!(
        "bench: 1\nname: {name}\nmodel: openai:gpt-5.4\n\
         tools: [ {{ names: [Look] }} ]\n\
         places:\n  system: {{ of: system, join: \"\\n\" }}\n  user: {{ of: current_user }}\n\
         layers:\n  - {{ id: base, title: {name}, in: system, from: {{ text: {name} }} }}\n\
         runs:\n  {name}:\n    - user: {name}\n    - call: [ {{ Look: {{}} }} ]\n    - say: {name}\n"
    )
}

fn log() -> String {
    let line = |text: &str, write: u32| {
        json!({
            "request": {
                "timestamp": 1_764_500_000 + write, "method": "POST", "url": "https://api.anthropic.com/v1/messages", "headers": {},
                "body": {
                    "model": NAME,
                    "metadata": { "user_id": NAME },
                    "tools": [{ "name": NAME, "description": text, "input_schema": {} }],
                    "system": [{ "type": "text", "text": format!("# {NAME}\n{}", text.repeat(900)), "cache_control": { "type": "ephemeral" } }],
                    "messages": [{ "role": "user", "content": NAME }],
                },
            },
            "response": { "status_code": 200, "body": { "id": NAME, "type": "message", "model": NAME,
                "usage": { "input_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 2_000 + write } } },
        })
        .to_string()
    };
    [line("be exact ", 0), line(&format!("be {NAME} "), 1), format!("{{\"cut\":\"{NAME}")].join("\n")
}

#[test]
fn names_from_files_reach_no_terminal_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join(NAME);
    fs::create_dir(&folder).expect("a folder");
    let file = folder.join("bench.yaml");
    let log_file = folder.join("log.jsonl");
    fs::write(&file, bench()).expect("written");
    fs::write(&log_file, log()).expect("written");
    let (bench, log, none) =
        (file.to_str().expect("UTF-8"), log_file.to_str().expect("UTF-8"), format!("/{NAME}"));
    let commands = [
        vec!["layers", bench],
        vec!["run", bench],
        vec!["check", bench],
        vec!["compare", bench, "--models", "openai:gpt-5.4"],
        vec!["what-if", bench, "--call", "1"],
        vec!["audit", log],
        vec!["audit", log, "--bench", bench],
        vec!["layers", &none],
        vec!["audit", &none],
        vec!["layers", log],
    ];
    for args in &commands {
        let ran = run(args);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.is_empty() && is_still(&all), "{args:?}: {all:?}");
    }
    for args in [&commands[0], &commands[1], &commands[5], &commands[7]] {
        let ran = run(args);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains("\\u{1b}["), "{args:?}: {ran:?}");
    }
    // Our own colours stay, and theirs are none.
    let ran = run(&["layers", &none, "--color", "always"]);
    assert!(
        ran.stderr.starts_with("\u{1b}[1;31merror\u{1b}[0m") && !ran.stderr.contains("\u{1b}[2J"),
        "{ran:?}"
    );
    // Programs get the names, and the prompt is what it is.
    let ran = run(&["layers", bench, "--json"]);
    let layers: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|why| panic!("{why}: {ran:?}"));
    assert!(layers.to_string().contains(&json!(NAME).to_string()[1..]), "{layers}");
    let text = run(&["build", bench, "--call", "1", "--format", "text"]).stdout;
    assert!(text.contains(NAME), "{text:?}");
}
