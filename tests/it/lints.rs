//! What the lints of `check` find, and what they leave alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Long enough to be a paragraph.
const RULE: &str = "Never push to the main branch; open a pull request, wait for the build, and ask somebody to read it \
                    before you merge it.";

fn bench(layers: &str, more: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let bench = format!(
        "bench: 1\nname: linted\nmodel: openai:gpt-5.4\n\
         workspace: {{ path: project, shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }}\n\
         read: {{ rules: {{ file: AGENTS.md }}, all: {{ glob: \"*.md\" }} }}\n\
         tools: [ {{ names: [Cd] }} ]\n\
         simulate: {{ Cd: {{ set: cwd, from: path }} }}\n\
         places:\n  system: {{ of: system, join: \"\\n\"{more} }}\n  user: {{ of: current_user }}\n  \
         end: {{ of: newest_tool, join: \"\\n\", none: wait }}\n\
         layers:\n{layers}\n\
         runs:\n  one:\n    - user: Go to a and look around.\n    - call: [ {{ Cd: {{ path: a }} }} ]\n    - say: Done.\n"
    );
    for (path, text) in [
        ("bench.yaml", &*bench),
        ("base.md", "You work in\nCWD: {{ cwd }}\n"),
        ("project/AGENTS.md", &format!("# Rules\n\n{RULE}\n")),
        ("project/a/x", ""),
    ] {
        write(folder.path(), path, text);
    }
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, text).expect("a file");
}

fn check(folder: &TempDir, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plywood"));
    command.current_dir(folder.path()).args(["check", "."]).args(args).output().expect("the program runs")
}

#[track_caller]
fn said(folder: &TempDir, args: &[&str], status: i32) -> String {
    let output = check(folder, args);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

const BASE: &str = "  - { id: base, in: system, from: { template: base.md } }\n";

#[test]
fn budgets_count_characters_or_tokens_of_layers_and_places() {
    let folder = bench(
        "  - { id: a, in: system, budget: 10, from: { text: \"0123456789, more\" } }\n  \
           - { id: b, in: system, budget: { tokens: 3 }, from: { text: one two three four five } }\n  \
           - { id: c, in: system, budget: { chars: 9 }, from: { text: \"123456789\" } }",
        ", budget: { tokens: 5 }",
    );
    let text = said(&folder, &[], 1);
    for line in [
        "warning: budget: a has 16 characters, 6 more than its budget of 10, 2 tokens (calls 1-2)",
        " --> bench.yaml:13:11",
        "warning: budget: b has 5 tokens, 2 more than its budget of 3 (calls 1-2)",
        "warning: budget: the place system has ",
        " = hint: shorten it, cut it with `cap`, or allow it more with `budget`",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    assert!(!text.contains("budget: c "), "{text}");
    assert!(said(&folder, &["--skip", "budget"], 0).contains("nothing found"));
    // Where nothing can be counted, tokens are not guessed.
    let text = said(&folder, &["--model", "nobody:knows"], 1);
    assert!(text.contains("budget: a has 16 characters") && !text.contains("budget: b"), "{text}");
}

#[test]
fn a_budget_in_tokens_is_none_of_a_blocks() {
    let folder = bench(BASE, "");
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    let block = "places:\n  inner: { of: block, budget: { tokens: 50 } }\n";
    write(folder.path(), "bench.yaml", &text.replace("places:\n", block));
    let text = said(&folder, &[], 2);
    assert!(text.contains("`tokens` does not go with the budget of this place"), "{text}");
    assert!(text.contains("hint: a block is composed before anything is counted in tokens"), "{text}");
}

#[test]
fn a_text_said_twice_is_found_with_both_places_and_its_price() {
    let folder = bench(
        "  - { id: rules, in: system, from: { fact: rules } }\n  - { id: copy, in: system, from: { template: copy.md } }",
        "",
    );
    write(folder.path(), "copy.md", &format!("Mind this:\n\n{RULE}\n\nShort.\n"));
    let text = said(&folder, &[], 1);
    let message = "warning: duplicate: copy says a paragraph that rules says, too (AGENTS.md:3:1): ";
    assert!(text.contains(message) && text.contains(" tokens twice in every request (calls 1-2)"), "{text}");
    assert!(
        text.contains(" --> copy.md:3:1") && text.contains("hint: keep it in rules or in copy"),
        "{text}"
    );

    let output = check(&folder, &["--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let lint = &report["benches"][0]["lints"][0];
    assert_eq!(lint["lint"], "duplicate");
    assert_eq!(lint["about"], serde_json::json!(["copy", "rules"]));
    assert_eq!((&lint["file"], &lint["line"], &lint["exact"]), (&"copy.md".into(), &3.into(), &true.into()));
    assert!(lint["tokens"].as_u64().is_some_and(|tokens| tokens > 20), "{lint}");

    let text = said(&folder, &["--format", "github"], 1);
    assert!(
        text.starts_with("::warning file=copy.md,line=3,col=1,title=plywood check::duplicate: copy says"),
        "{text}"
    );
}

#[test]
fn the_same_file_by_two_roads_is_told_as_that() {
    let folder = bench(
        "  - { id: rules, in: system, from: { fact: rules } }\n  \
           - { id: found, in: system, from: { each: all, item: item.md } }",
        "",
    );
    write(folder.path(), "item.md", "{{ item.text }}");
    let text = said(&folder, &[], 1);
    assert!(text.contains("duplicate: found says a paragraph that rules says, too"), "{text}");
    assert!(text.contains("hint: both show AGENTS.md: one of the two roads is enough"), "{text}");
}

#[test]
fn what_may_well_stand_twice_is_left_alone() {
    let said_twice = "  - { id: said, in: user, from: { said: user } }\n  \
                        - { id: again, in: end, refresh: call, from: { text: \"{{ said }}\" } }\n  \
                        - { id: short, in: system, from: { text: \"Short.\" } }\n  \
                        - { id: short2, in: system, from: { text: \"Short.\" } }\n  \
                        - { id: rules, in: end, refresh: call, when: call.tools, from: { fact: rules } }";
    let folder = bench(said_twice, "");
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    let text = text.replace("Go to a and look around.", &RULE.replace("Never", "Please never"));
    write(folder.path(), "bench.yaml", &text);
    assert!(said(&folder, &[], 0).contains("nothing found"));
}

#[test]
fn a_rules_file_that_names_another_directory_contradicts_the_prompt() {
    let folder = bench(&format!("{BASE}  - {{ id: rules, in: system, from: {{ fact: rules }} }}"), "");
    write(folder.path(), "project/AGENTS.md", "# Rules\n- Working directory: /srv/old\n");
    let text = said(&folder, &[], 1);
    let message = "contradiction: rules says that the working directory is /srv/old, base says /w (call";
    assert!(text.contains(message) && text.contains(" --> AGENTS.md:2:22"), "{text}");
    assert!(text.contains("hint: the text is not kept up to date"), "{text}");
    // The right one is no contradiction, and neither is a line that only begins like one.
    write(folder.path(), "project/AGENTS.md", "Working directory: /w\nCWD: wherever the user works\n");
    let text = said(&folder, &["--run", "one"], 0);
    assert!(text.contains("nothing found"), "{text}");
}

#[test]
fn a_change_that_is_announced_is_no_contradiction_and_one_that_is_taken_back_is() {
    let told =
        "  - { id: moved, in: end, refresh: call, when: call.tools, from: { text: \"CWD: {{ cwd }}\" } }";
    let folder = bench(&format!("{BASE}{told}"), "");
    assert!(said(&folder, &[], 0).contains("nothing found"));

    // Behind the right one, in every call, the directory of the beginning: kept for the whole session.
    let stale = "\n  - { id: stale, in: end, run: 5, refresh: session, when: call.tools, from: { text: \"CWD: /w\" } }";
    let folder = bench(&format!("{BASE}{told}{stale}"), "");
    let text = said(&folder, &[], 1);
    assert!(
        text.contains("contradiction: stale says that the working directory is /w, moved says /w/a"),
        "{text}"
    );
}

#[test]
fn no_sample_has_a_finding() {
    for sample in plywood::io::samples::samples() {
        let output =
            Command::new(env!("CARGO_BIN_EXE_plywood")).args(["check", sample.name, "--json"]).output();
        let output = output.expect("the program runs");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["benches"][0]["lints"], serde_json::json!([]), "{}", sample.name);
    }
}
