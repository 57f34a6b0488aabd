//! What the lints propose, made from the view that shows it: the finding goes, what was promised holds, and `u` takes it
//! back.

use std::fs;
use std::path::Path;
use std::process::Command;

use plywood::app::engine::Disk;
use plywood::core::fix::Worth;
use tempfile::TempDir;

use super::day::{Day, has, machine};

/// A bench of two turns.
struct Case {
    lint: &'static str,
    model: &'static str,
    system: &'static str,
    layers: &'static str,
    marks: &'static str,
    /// What its first fix says.
    fix: &'static str,
}

const LONG: &str = "  - { id: long, in: system, from: { template: long.md } }\n";
const GPT: &str = "openai:gpt-5.4";
const SONNET: &str = "anthropic:claude-sonnet-4-5";

const CASES: &[Case] = &[
    Case {
        lint: "volatile_first",
        model: GPT,
        system: "",
        layers: "  - { id: clock, in: system, from: { text: \"It is {{ now }}.\" } }\nLONG",
        marks: "",
        fix: "move clock behind long",
    },
    Case {
        lint: "volatile_first",
        model: SONNET,
        system: "",
        layers: "  - { id: clock, in: system, from: { text: \"It is {{ now }}.\" } }\nLONG",
        marks: "marks: [ { at: system } ]\n",
        fix: "let clock go to user",
    },
    Case {
        lint: "duplicate",
        model: GPT,
        system: "",
        layers: "LONG  - { id: rules, in: system, from: { template: rules.md } }\n  \
                 - { id: copy, in: system, from: { template: rules.md } }\n",
        marks: "",
        fix: "leave copy out",
    },
    Case {
        lint: "dead_mark",
        model: SONNET,
        system: "",
        layers: "LONG  - { id: state, in: own, refresh: call, when: call.tools, from: { text: \"At {{ call.number }}\" }, \
                 keep: { earlier: strip, persist: strip } }\n",
        marks: "marks: [ { at: system }, { at: own } ]\n",
        fix: "let the mark stand behind the history",
    },
    Case {
        lint: "injected_turn",
        model: GPT,
        system: "",
        layers: "LONG  - { id: state, in: own, refresh: call, when: call.tools, from: { text: \"At {{ call.number }}\" } }\n",
        marks: "",
        fix: "let state go to end",
    },
    Case {
        lint: "too_many_marks",
        model: SONNET,
        system: "",
        layers: "LONG  - { id: said, in: user, from: { said: user } }\n  \
                 - { id: note, in: end, refresh: call, when: call.tools, from: { text: Noted. } }\n",
        marks: "marks: [ { at: tools }, { at: system }, { at: last_history }, { at: user }, { at: last_message } ]\n",
        fix: "take out the first of 5 marks",
    },
    Case {
        lint: "equal_priority",
        model: GPT,
        system: "",
        layers: "  - { id: a, in: system, run: 10, from: { text: A } }\n  \
                 - { id: b, in: system, run: 10, from: { text: B } }\n  \
                 - { id: c, in: system, run: 20, from: { text: C } }\n",
        marks: "",
        fix: "let b run at 11",
    },
    Case {
        lint: "key_order",
        model: GPT,
        system: ", order: key",
        layers: "  - { id: a, in: system, key: 1_a, run: 300, from: { text: A } }\n  \
                 - { id: b, in: system, key: 2_b, run: 200, from: { text: B } }\n  \
                 - { id: c, in: system, key: 3_c, run: 400, from: { text: C } }\n",
        marks: "",
        fix: "let 1_a run at 200 and 2_b at 300",
    },
];

impl Case {
    fn folder(&self) -> TempDir {
        let folder = TempDir::new().expect("a folder");
        let layers = self.layers.replace("LONG", LONG);
        let bench = format!(
            "bench: 1\nname: mended\nmodel: {}\n\
             workspace: {{ path: project, shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }}\n\
             tools: [ {{ names: [Read] }} ]\n\
             places:\n  system: {{ of: system, join: \"\\n\"{} }}\n  user: {{ of: current_user, join: \"\\n\" }}\n  \
             end: {{ of: newest_tool, join: \"\\n\", none: wait }}\n  own: {{ of: message, at: end }}\n\
             # The order matters.\n\
             layers:\n{layers}{}runs:\n  one:\n    - user: Go.\n    - call: [ {{ Read: {{ path: x }}, result: x }} ]\n    \
             - say: Done.\n    - advance: 60s\n    - user: Go on.\n    - call: [ {{ Read: {{ path: y }}, result: y }} ]\n    \
             - say: Done.\n",
            self.model, self.system, self.marks
        );
        let rules = "Never push to the main branch; open a pull request, wait for the build, and ask somebody to read it \
                     before you merge it.\n";
        fs::create_dir(folder.path().join("project")).expect("a folder");
        for (file, text) in [
            ("bench.yaml", &*bench),
            ("long.md", &"One two three four five six seven eight nine ten.\n".repeat(400)),
            ("rules.md", rules),
        ] {
            fs::write(folder.path().join(file), text).expect("a file");
        }
        folder
    }
}

/// What a run loses and costs.
fn measured(folder: &Path) -> (i64, f64) {
    let output = Command::new(env!("CARGO_BIN_EXE_plywood"))
        .args(["run", "--json"])
        .arg(folder)
        .output()
        .expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut sums = (0, 0.0);
    for line in text.lines() {
        let call: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let cache = call["cache"].as_object().and_then(|cache| cache.values().next()).expect("a model");
        sums.0 += cache["lost"].as_i64().unwrap_or_default();
        sums.1 += call["cost"].as_f64().unwrap_or_default();
    }
    sums
}

/// Moves to the line with this key.
fn go(day: &mut Day, key: &str) {
    for _ in 0..80 {
        let at = day.state.here().list.cursor;
        if day.state.page.lines.get(at).is_some_and(|line| &*line.key == key) {
            return;
        }
        day.press("<down>");
    }
    panic!("no line {key} in\n{}", day.draw());
}

/// Lets the engine work out what it has left, and shows that.
fn settle(day: &mut Day) {
    while day.engine.work() {}
    day.publish();
    day.draw();
}

/// The number of the first finding of a lint, and what its first fix is worth.
fn found(day: &Day, lint: &str) -> Option<(usize, Option<Worth>)> {
    let rows = &day.state.snapshot.data.lints().expect("the lints").rows;
    let at = rows.iter().position(|row| row.finding.lint.word() == lint)?;
    Some((at, rows[at].fixes.first().and_then(|fix| fix.fix.worth.first().cloned())))
}

#[test]
fn every_fix_is_made_from_the_view_does_what_it_promises_and_is_taken_back() {
    for case in CASES {
        let what = case.lint;
        let folder = case.folder();
        let disk = Disk::open(folder.path(), &machine()).expect("a bench");
        let mut day = Day::on(disk, None, (120, 40));
        let before = day.read("bench.yaml");
        day.press("C");
        settle(&mut day);
        let (row, worth) = found(&day, what).unwrap_or_else(|| panic!("{what} in\n{}", day.draw()));
        let worth = worth.unwrap_or_else(|| panic!("{what} has no fix in\n{}", day.draw()));
        go(&mut day, &format!("f{row}.0"));
        has(&day.draw(), &format!("fix: {}", case.fix));
        // Enter shows the change of the file, Enter on its last line makes it.
        let screen = day.press("<enter>");
        has(&screen, "Enter: make this change; u takes it back");
        assert_eq!(day.read("bench.yaml"), before, "{what}: looking changes nothing");
        let was = measured(folder.path());
        go(&mut day, &format!("f{row}.0!"));
        day.press("<enter>");
        settle(&mut day);
        let after = day.read("bench.yaml");
        assert_ne!(after, before, "{what}");
        assert!(after.contains("# The order matters.\n"), "{what}: comments stay\n{after}");
        assert!(found(&day, what).is_none(), "{what} is still there\n{}\n{after}", day.draw());
        let is = measured(folder.path());
        // What a provider refuses has no price.
        if let Some(lost) = worth.lost {
            assert_eq!(was.0 - is.0, lost, "{what}");
        }
        if let Some((money, worse)) = worth.money {
            let money = if worse { -money.dollars() } else { money.dollars() };
            assert!((was.1 - is.1 - money).abs() < 1e-9, "{what}: {} is not {money}", was.1 - is.1);
        }
        day.press("u");
        settle(&mut day);
        assert_eq!(day.read("bench.yaml"), before, "{what}: taken back");
        assert!(found(&day, what).is_some(), "{what} is there again");
    }
}

#[test]
fn enter_on_a_finding_opens_the_line_that_it_is_about() {
    let folder = CASES[2].folder();
    let disk = Disk::open(folder.path(), &machine()).expect("a bench");
    let mut day = Day::on(disk, None, (120, 40));
    day.press("C");
    settle(&mut day);
    let (row, _) = found(&day, "duplicate").expect("a finding");
    go(&mut day, &format!("f{row}"));
    let screen = day.press("<enter>");
    assert!(day.state.editor.is_some(), "{screen}");
    has(&screen, "rules.md");
    has(&day.text(), "Never push to the main branch");
}
