//! `plywood demo` without a screen.

use std::fs;

use serde_json::Value;

use crate::cli::run;

#[test]
fn demos_are_listed() {
    let ran = run(&["demo"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let names: Vec<&str> = ran.stdout.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    let own = ["moved-break", "injection-order", "reminder-stripping", "refresh-policy", "rules-file"];
    assert_eq!(names, own);
    let list: Value = serde_json::from_str(&run(&["demo", "--json"]).stdout).expect("JSON");
    assert_eq!(list["schema"], "plywood.demos/1");
    assert_eq!(list["demos"][0]["beats"], 10);
}

#[test]
fn a_rehearsal_sheet_has_captions_and_key_numbers() {
    let ran = run(&["demo", "moved-break", "--print"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let report: Value =
        serde_json::from_str(&run(&["demo", "moved-break", "--print", "--json"]).stdout).expect("JSON");
    assert_eq!(report["schema"], "plywood.demo/1");
    let beats = report["beats"].as_array().expect("beats");
    // What the sheet says of a call is what `run` says of it.
    let lines = run(&["run", "xbot", "--json"]).stdout;
    let calls: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for (index, beat) in beats.iter().enumerate() {
        let head = format!("{:>2} of 10", index + 1);
        assert!(ran.stdout.lines().any(|line| line.starts_with(&head)), "{head}");
        if beat["variants"].as_array().is_some_and(Vec::is_empty) {
            let call = beat["call"].as_u64().expect("a number") as usize;
            let cache = &calls[call - 1]["cache"]["openai:gpt-5.4"];
            for field in ["sent", "read", "fresh", "lost"] {
                assert_eq!(beat["paid"][field], cache[field], "beat {}: {field}", index + 1);
            }
        }
    }
    assert_eq!(run(&["demo", "moved-break", "--print"]).stdout, ran.stdout, "it is the same again");
}

#[test]
fn a_demo_of_ones_own_is_a_file_beside_its_bench() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let bench = "bench: 1\nname: own\nmodel: openai:gpt-5.4\nworkspace: { path: ., shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }\n\
        places: { system: { of: system }, user: { of: current_user } }\n\
        layers:\n  - { id: base, in: system, from: { text: Be kind. } }\n  - { id: said, in: user, from: { said: user } }\n\
        runs: { one: [ { user: Go. }, { say: Done. } ] }\n";
    fs::write(at("bench.yaml"), bench).expect("written");
    let script =
        |beat: &str| format!("demo: 1\ntitle: Own\nabout: a\nbench: bench.yaml\nbeats: [ {beat} ]\n");
    let path = at("talk.yaml").display().to_string();
    let print = |beat: &str| {
        fs::write(at("talk.yaml"), script(beat)).expect("written");
        run(&["demo", &path, "--print"])
    };
    let ran = print("{ say: \"{layer.base.chars} characters\", show: layers, look: base }");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("        8 characters\n"), "{}", ran.stdout);
    for (beat, want) in [
        ("{ say: \"{call.9.lost}\" }", "the screen has no number `call.9.lost` there"),
        ("{ say: a, run: two }", "no run is called `two`"),
        ("{ say: a }, { say: a, look: nobody }", "beat 2 of the demo: `nobody` is no layer, no fact"),
        ("{ say: a, show: nothing }", "`nothing` is no pane and no view"),
        ("{ say: a }, { say: a, variants: [x] }", "beat 2 of the demo: no variant is called `x`"),
        ("{ say: a, variants: [x] }", "there is no variant `x`"),
        ("{ say: a, colour: red }", "colour"),
    ] {
        let ran = print(beat);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{beat}");
        assert!(ran.stderr.contains(want), "{beat}: {}", ran.stderr);
    }
    let ran = run(&["demo", "nobody", "--print"]);
    assert!(ran.status == 2 && ran.stderr.contains("`moved-break`"), "{}", ran.stderr);
}
