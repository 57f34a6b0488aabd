//! What all JSON begins with, command by command, against the list that the README shows.

use std::fs;
use std::path::Path;
use std::process::Command;

use plywood::cli::head::{Schema, TABLE};
use serde_json::Value;
use tempfile::TempDir;

/// The first JSON value that a command prints.
fn printed(folder: &Path, line: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_plywood"))
        .current_dir(folder)
        .args(line.split(' ').skip(1))
        .output()
        .expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let first = serde_json::Deserializer::from_str(&text).into_iter::<Value>().next();
    first.unwrap_or_else(|| panic!("{line} prints nothing")).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"])
        .args(args)
        .output()
        .expect("git");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_document_begins_with_its_schema_and_the_revisions_and_holds_what_is_documented() {
    let folder = TempDir::new().expect("a folder");
    let here = folder.path();
    fs::write(here.join("AGENTS.md"), "# Rules\n").expect("a file");
    git(here, &["init", "-q"]);
    git(here, &["add", "."]);
    git(here, &["commit", "-q", "-m", "one"]);
    let request = serde_json::json!({
        "request": { "timestamp": 1_764_500_000, "method": "POST", "url": "https://api.anthropic.com/v1/messages",
                     "headers": {}, "body": { "model": "claude-sonnet-4-5", "messages": [{ "role": "user", "content": "Hi" }] } },
        "response": { "status_code": 200, "body": { "id": "m", "type": "message",
                      "usage": { "input_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 1 } } },
        "logged_at": "2025-11-30T10:00:00Z",
    });
    fs::write(here.join("log.jsonl"), format!("{request}\n")).expect("a file");
    for row in &TABLE {
        // One that follows a log ends with nobody but its user: the audit's own tests look at its lines.
        if row.schema == Schema::AuditCall {
            continue;
        }
        let path = if row.schema == Schema::Diff { "." } else { "xbot" };
        let line = row
            .command
            .replace("ACTION FILE", "status AGENTS.md")
            .replace("FILE", "log.jsonl")
            .replace("NAME", "moved-break")
            .replace("PATH", path);
        let value = printed(here, &line);
        let object = value.as_object().unwrap_or_else(|| panic!("{line} prints no object"));
        assert_eq!(object["schema"], row.name, "{line}");
        let revisions = &object["revisions"];
        assert!(
            revisions["models"].as_str().is_some_and(|day| day.starts_with("20"))
                && revisions["tokenizer"] == plywood::core::tokens::REVISION,
            "{line}: {revisions}"
        );
        let known = |name: &str| {
            row.members.split(' ').any(|member| member.trim_matches(['[', ']']) == name || member == "...")
        };
        for name in object.keys().filter(|name| !["schema", "revisions"].contains(&&***name)) {
            assert!(known(name), "{line} prints `{name}`, which is not documented");
        }
        for member in row.members.split(' ').filter(|member| !member.starts_with('[') && *member != "...") {
            assert!(object.contains_key(member), "{line} does not print `{member}`");
        }
    }
}
