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
    assert!(text.contains(message) && text.contains(" --> project/AGENTS.md:2:22"), "{text}");
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

/// What is found in the first run of each sample, and why it may be: the samples are there to show it.
const IN_SAMPLES: &[(&str, &[&str])] = &[
    // Its claim is that a change of the directory is announced and breaks nothing. And two of its keys are not in the
    // order of its priorities, as in the program that it shows.
    ("xbot", &["volatile_first system_prompt", "key_order channel project_hint"]),
    // Its first run changes the rules while it runs, and they stand in front of the conversation.
    ("mao", &["volatile_first rules"]),
    // Its first run puts the time in front of everything.
    ("cache-lab", &["volatile_first clock"]),
    // The block behind the rules is made again each turn, and begins with the time.
    ("omx", &["volatile_first modes", "volatile_first notes", "volatile_first metadata"]),
];

#[test]
fn samples_have_the_findings_that_they_are_there_to_show() {
    for sample in plywood::io::samples::samples() {
        let output =
            Command::new(env!("CARGO_BIN_EXE_plywood")).args(["check", sample.name, "--json"]).output();
        let output = output.expect("the program runs");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let found: Vec<String> = report["benches"][0]["lints"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|lint| {
                let about = lint["about"].as_array().expect("a list").iter().map(text);
                std::iter::once(text(&lint["lint"])).chain(about).collect::<Vec<_>>().join(" ")
            })
            .collect();
        let want =
            IN_SAMPLES.iter().find(|(name, _)| *name == sample.name).map_or(&[][..], |(_, want)| *want);
        assert_eq!(found, want, "{}", sample.name);
    }
}

/// A bench of two turns, in which the base prompt tells the time and the directory.
fn two_turns(layers: &str, rest: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let bench = format!(
        "bench: 1\nname: turns\nmodel: openai:gpt-5.4\n\
         workspace: {{ path: project, shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }}\n\
         tools: [ {{ names: [Cd, Read] }} ]\n\
         simulate: {{ Cd: {{ set: cwd, from: path }} }}\n\
         places:\n  system: {{ of: system, join: \"\\n\" }}\n  user: {{ of: current_user }}\n  \
         end: {{ of: newest_tool, join: \"\\n\", none: wait }}\n  own: {{ of: message, at: end }}\n\
         layers:\n{layers}\n{rest}\n\
         runs:\n  one:\n    - user: Go.\n    - call: [ {{ Cd: {{ path: a }} }} ]\n    - say: Done.\n    \
         - advance: 60s\n    - user: Go on.\n    - call: [ {{ Read: {{ path: x }}, result: x }} ]\n    - say: Done.\n"
    );
    write(folder.path(), "bench.yaml", &bench);
    write(folder.path(), "project/a/x", "");
    write(folder.path(), "long.md", &"One two three four five six seven eight nine ten.\n".repeat(400));
    folder
}

const CLOCK: &str = "  - { id: clock, in: system, from: { text: \"It is {{ now }}.\" } }\n";
const LONG: &str = "  - { id: long, in: system, from: { template: long.md } }\n";

#[test]
fn what_changes_in_front_of_what_stays_is_told_with_a_fix_and_its_worth() {
    let folder = two_turns(&format!("{CLOCK}{LONG}"), "");
    let text = said(&folder, &[], 1);
    for line in [
        "warning: volatile_first: clock changes in front of 4,400 tokens of the system prompt that did not: up to 4,352 \
         tokens are paid again (call 3)",
        " --> bench.yaml:13:51",
        " = fix: move clock behind long: 4,352 tokens less paid again, $0.0098 less a run on gpt-5.4",
        " = fix: make clock once a session, so that it tells no change any more: 4,352 tokens less paid again, $0.0098 less a run on gpt-5.4",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    // Each fix makes it not fire.
    for layers in [format!("{LONG}{CLOCK}"), CLOCK.replace("system,", "system, refresh: session,") + LONG] {
        let text = said(&two_turns(&layers, ""), &["--max-lost", "200"], 0);
        assert!(text.contains("nothing found"), "{text}");
    }
    // Other models, and none that anybody knows.
    let text = said(&folder, &["--models", "anthropic:claude-sonnet-4-5,nobody:knows"], 1);
    assert!(text.contains("less a run on gpt-5.4") && !text.contains("on knows"), "{text}");
}

#[test]
fn a_clock_in_front_of_others_is_told_before_it_has_broken_anything() {
    let layers = format!("{CLOCK}{LONG}");
    let folder = two_turns(&layers, "");
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    let short = text.split("    - advance").next().expect("a beginning");
    write(folder.path(), "bench.yaml", short);
    let text = said(&folder, &[], 1);
    assert!(text.contains("clock tells the time in front of 4,400 tokens of the system prompt"), "{text}");
    write(folder.path(), "bench.yaml", &short.replace("{{ now }}", "{{ now | day }}"));
    assert!(said(&folder, &[], 0).contains("nothing found"));
}

#[test]
fn marks_are_looked_at_by_the_rules_of_the_model() {
    let own = "  - { id: state, in: own, refresh: call, when: call.tools, from: { text: \"State at {{ call.number }}\" }, keep: { earlier: strip, persist: strip } }\n";
    let sonnet = ["--model", "anthropic:claude-sonnet-4-5"];
    let folder = two_turns(&format!("{LONG}{own}"), "marks: [ { at: system }, { at: own } ]");
    let text = said(&folder, &sonnet, 1);
    assert!(
        text.contains("dead_mark: a cache mark stands behind state, which the next request does not hold"),
        "{text}"
    );
    assert!(text.contains(" = fix: let the mark stand behind the history"), "{text}");
    assert!(text.contains("injected_turn: the model answers a user message that holds only state"), "{text}");
    let folder = two_turns(&format!("{LONG}{own}"), "marks: [ { at: system }, { at: last_history } ]");
    let text = said(&folder, &[&sonnet[..], &["--skip", "injected_turn"]].concat(), 0);
    assert!(!text.contains("dead_mark"), "{text}");
    // What is too short is a note, and fails nothing.
    let short = "  - { id: short, in: system, from: { text: Short. } }\n";
    let folder = two_turns(short, "marks: [ { at: system } ]");
    let text = said(&folder, &sonnet, 0);
    assert!(text.contains("note: below_minimum: the mark behind the system prompt covers ~"), "{text}");
    // Five marks are one too many for Anthropic, and no matter for OpenAI.
    let many = "  - { id: a, in: system, from: { text: A } }\n  - { id: said, in: user, from: { said: user } }\n  \
                - { id: b, in: end, refresh: call, when: call.tools, from: { text: B } }\n";
    let marks =
        "marks: [ { at: tools }, { at: system }, { at: last_history }, { at: user }, { at: last_message } ]";
    let folder = two_turns(many, marks);
    let text = said(&folder, &sonnet, 1);
    assert!(text.contains("error: too_many_marks: 5 cache marks, and claude-sonnet-4-5 takes 4"), "{text}");
    assert!(text.contains(" = fix: take out the first of 5 marks"), "{text}");
    assert!(!said(&folder, &[], 0).contains("too_many_marks"));
}

#[test]
fn a_tool_call_and_its_result_belong_together() {
    let folder = two_turns(LONG, "");
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    let cut = text.replace(
        "    - say: Done.\n    - advance",
        "    - context_edit: { message: newest_tool, delete: true }\n    - say: Done.\n    - advance",
    );
    write(folder.path(), "bench.yaml", &cut);
    let text = said(&folder, &[], 1);
    assert!(text.contains("error: split_tool_call: ") && text.contains("the call of Cd"), "{text}");
}

#[test]
fn orders_that_nothing_decides_are_notes() {
    let layers = "  - { id: a, in: system, run: 10, from: { text: A } }\n  - { id: b, in: system, run: 10, from: { text: B } }\n  \
                  - { id: c, in: system, run: 20, from: { text: C } }\n";
    let folder = two_turns(layers, "");
    let text = said(&folder, &[], 0);
    assert!(
        text.contains(
            "note: equal_priority: a and b have the priority 10, both: the order of the list decides"
        ),
        "{text}"
    );
    assert!(text.contains(" = fix: let b run at 11"), "{text}");
    for other in [
        layers.replace("id: b, in: system, run: 10", "id: b, in: system, run: 11"),
        layers.replace("run: 10, ", "").replace("run: 20, ", ""),
    ] {
        assert!(!said(&two_turns(&other, ""), &[], 0).contains("equal_priority"));
    }
    // Layers that never meet may have the same.
    let apart = layers.replace("id: b, in: system,", "id: b, in: system, when: agent.role != \"main\",");
    assert!(!said(&two_turns(&apart, ""), &[], 0).contains("equal_priority"));
}

#[test]
fn text_behind_an_open_fence_is_told() {
    let layers = "  - { id: rules, in: system, from: { template: rules.md } }\n  - { id: more, in: system, from: { text: \"More rules.\" } }\n";
    let folder = two_turns(layers, "");
    write(folder.path(), "rules.md", "Write so:\n\n```md\n# Title\n```js\nx\n```\n\nAnd so on.\n```\n");
    let text = said(&folder, &[], 1);
    assert!(
        text.contains(
            "unclosed: rules opens a code fence and does not close it: more stand inside, 3 tokens"
        ),
        "{text}"
    );
    assert!(
        text.contains(" --> rules.md:10:1") && text.contains("hint: close it with a line of ```"),
        "{text}"
    );
    write(folder.path(), "rules.md", "Write so:\n\n````md\n```js\nx\n```\n````\n<!-- done -->\n");
    assert!(said(&folder, &[], 0).contains("nothing found"));
    write(folder.path(), "rules.md", "Rules.\n<!-- to be written\n");
    assert!(said(&folder, &[], 1).contains("unclosed: rules opens a comment"));
}

#[test]
fn two_layers_that_name_different_days_contradict() {
    let layers = "  - { id: base, in: system, from: { text: \"Today's date: {{ now | day }}\" } }\n  - { id: old, in: system, from: { template: old.md } }\n";
    let folder = two_turns(layers, "");
    write(folder.path(), "old.md", "# Notes\nToday's date: 2025-12-24\n");
    let text = said(&folder, &[], 1);
    assert!(
        text.contains("contradiction: old says that today is 2025-12-24, base says 2026-04-01"),
        "{text}"
    );
    assert!(text.contains(" --> old.md:2:15"), "{text}");
    write(folder.path(), "old.md", "# Notes\nDate: 2025-12-24\nToday's date: 2026-04-01\n");
    assert!(said(&folder, &[], 0).contains("nothing found"));
}

#[test]
fn a_bench_can_allow_what_is_meant_and_has_to_say_why() {
    let allow =
        |reason: &str| CLOCK.replace("system,", &format!("system, allow: {{ volatile_first: {reason} }},"));
    let folder = two_turns(&format!("{}{LONG}", allow("\"the hour is the point\"")), "");
    assert!(said(&folder, &[], 0).contains("nothing found (1 allowed by the bench)"));
    let output = check(&folder, &["--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["benches"][0]["lints"][0]["allowed"], "the hour is the point");
    let folder = two_turns(&format!("{}{LONG}", allow("\" \"")), "");
    assert!(said(&folder, &[], 2).contains("`volatile_first` is allowed without a reason"));
    let folder = two_turns(&format!("{}{LONG}", allow("x").replace("volatile_first", "volatile")), "");
    assert!(said(&folder, &[], 2).contains("unknown key `volatile` in an `allow`"));
}

#[cfg(unix)]
#[test]
fn a_link_to_the_same_file_is_told_as_that() {
    let folder = bench(
        "  - { id: rules, in: system, from: { fact: rules } }\n  - { id: also, in: system, from: { fact: also } }",
        "",
    );
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    write(
        folder.path(),
        "bench.yaml",
        &text.replace("rules: { file: AGENTS.md }", "rules: { file: AGENTS.md }, also: { file: CLAUDE.md }"),
    );
    std::os::unix::fs::symlink("AGENTS.md", folder.path().join("project/CLAUDE.md")).expect("a link");
    let text = said(&folder, &[], 1);
    assert!(
        text.contains("hint: CLAUDE.md is a link to AGENTS.md: one of the two roads is enough"),
        "{text}"
    );
    assert!(text.contains(" = fix: leave also out: ") && text.contains(" = worth: "), "{text}");
}

#[test]
fn the_lints_are_listed() {
    let output = Command::new(env!("CARGO_BIN_EXE_plywood")).args(["check", "--lints"]).output();
    let text = String::from_utf8(output.expect("the program runs").stdout).expect("text");
    let heads: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(heads.len(), plywood::core::lint::TABLE.len());
    assert!(text.contains("\nvolatile_first (warning)\n  finds  text or tools that changed"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let output = Command::new(env!("CARGO_BIN_EXE_plywood")).args(["check", "--lints", "--json"]).output();
    let report: serde_json::Value =
        serde_json::from_slice(&output.expect("the program runs").stdout).expect("JSON");
    let words = report["lints"].as_array().expect("a list").iter().map(|lint| &lint["lint"]);
    assert!(words.eq(heads.iter().map(|head| head.split(' ').next().expect("a word"))), "{report}");
}

#[test]
fn what_only_a_text_can_put_right_is_gone_once_it_is() {
    let one =
        |from: &str| format!("  - {{ id: one, in: system, budget: 400, from: {{ template: {from} }} }}\n");
    let day = "  - { id: day, in: system, from: { text: \"Today's date: {{ now | day }}\" } }\n";
    let marks = "marks: [ { at: system } ]";
    let sonnet = ["--model", "anthropic:claude-sonnet-4-5", "--skip", "budget"];
    for (lint, layers, rest, args, wrong, right) in [
        ("budget", one("one.md"), "", &[][..], "word ".repeat(81), "word ".repeat(80)),
        ("below_minimum", one("one.md"), marks, &sonnet[..], "word ".repeat(200), "word ".repeat(2_000)),
        (
            "contradiction",
            one("one.md") + day,
            "",
            &[][..],
            "Today's date: 2025-12-24\n".to_owned(),
            "Write dates in full.\n".to_owned(),
        ),
        ("unclosed", one("one.md") + day, "", &[][..], "```\nx\n".to_owned(), "```\nx\n```\n".to_owned()),
    ] {
        let folder = two_turns(&layers, rest);
        let found = |text: &str| {
            write(folder.path(), "one.md", text);
            let output = check(&folder, args);
            String::from_utf8(output.stdout).expect("text")
        };
        let text = found(&wrong);
        assert!(text.contains(&format!(": {lint}: ")), "{lint} in\n{text}");
        let text = found(&right);
        assert!(!text.contains(&format!(": {lint}: ")), "{lint} in\n{text}");
    }
}

#[test]
fn tools_that_change_are_told_once_and_say_how() {
    let folder = two_turns(LONG, "");
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    for (tools, told) in [("[Read, Cd]", "elsewhere in their list"), ("[Cd]", "tool Read is gone")] {
        let line = format!("    - advance: 60s\n    - tools: {tools}\n");
        write(folder.path(), "bench.yaml", &text.replace("    - advance: 60s\n", &line));
        let text = said(&folder, &[], 1);
        assert!(
            text.contains("warning: volatile_first: the tools change in front of everything, tool "),
            "{text}"
        );
        assert!(text.contains(&format!("{told}: up to ")), "{told} in\n{text}");
        assert!(text.contains("tokens are paid again (call 3)\n --> bench.yaml:5:1"), "{text}");
        assert_eq!(text.matches("volatile_first").count(), 1, "{text}");
    }
}

#[test]
fn a_conversation_that_was_summed_up_is_no_matter_of_marks() {
    let said = "  - { id: said, in: user, from: { said: user } }\n";
    let folder = two_turns(&format!("{LONG}{said}"), "marks: [ { at: system }, { at: last_message } ]");
    let text = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    let text = text.replace("    - advance: 60s\n", "    - compact: { summary: It went well., keep: 0 }\n");
    write(folder.path(), "bench.yaml", &text);
    let text = self::said(&folder, &["--model", "anthropic:claude-sonnet-4-5"], 0);
    assert!(!text.contains("dead_mark"), "{text}");
}
