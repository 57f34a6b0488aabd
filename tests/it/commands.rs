//! The commands that read a bench, as a shell sees them: exact output, exit status, the same bytes everywhere.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{Ran, plywood, run};

/// A folder with a small bench, which announces where it moved to.
fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bench.yaml"), SMALL).expect("written");
    folder
}

const SMALL: &str = r#"bench: 1
name: small
model: openai:gpt-5.4
workspace: { path: ., shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { loud: false }
tools: [{ names: [Cd] }]
simulate: { Cd: { set: cwd, from: path } }
places:
  system: { of: system, order: key, join: "\n" }
  user: { of: current_user }
  tool_end: { of: newest_tool, join: "\n\n", none: wait }
layers:
  - { id: base, in: system, run: 2, key: a, from: { text: "You are in {{ cwd }}." } }
  - { id: rule, in: system, run: 1, key: b, from: { text: "Be brief." } }
  - { id: shout, in: system, run: 3, key: c, when: loud, from: { text: "SHOUT" } }
  - { id: said, in: user, from: { said: user } }
  - { id: moved, in: tool_end, from: { text: "Now in {{ cwd }}." }, refresh: { change: [cwd] } }
marks: [{ at: system }]
variants:
  loud: { facts.loud: true }
runs:
  go:
    - note: Off we go.
    - user: Go to the docs.
    - call: [{ Cd: { path: docs } }]
    - say: Done.
  stay: [{ user: Stay. }, { say: I stay. }]
"#;

/// Runs the program in a folder.
fn run_in(folder: &Path, args: &[&str]) -> Ran {
    let output = plywood().current_dir(folder).args(args).output().expect("the program starts");
    Ran {
        status: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("data is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

/// What is printed without a mistake.
fn printed(folder: &Path, args: &[&str]) -> String {
    let ran = run_in(folder, args);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

#[test]
fn layers_are_listed_in_byte_order() {
    let folder = small();
    assert_eq!(
        printed(folder.path(), &["layers", "."]),
        "\
byte  run  layer          id     place     chars  tokens  change  note
   -    -  tools (1)      tools  tools        13       5  fixed
   1   3x  a              base   system       14       5  turn
   2   2x  b              rule   system        9       4  fixed
   u    1  said                  user         15       5  turn
   -    -  c              shout  system        -       -  fixed   left out: when: loud does not hold
   -    -  moved                 tool_end      -       -  change  left out: nothing has changed
           total, call 1                      52      19          1 of them between layers
x: it runs in another order than it stands in the bytes.
Tokens in context, counted with o200k_base, for openai:gpt-5.4.
"
    );
}

#[test]
fn a_request_is_printed_for_reading() {
    let folder = small();
    assert_eq!(
        printed(folder.path(), &["build", ".", "--call", "2", "--variant", "loud"]),
        "\
=== tool Cd
{\"name\":\"Cd\"}

=== system (system)
You are in /w.
Be brief.
SHOUT
=== cache mark, 300 s

=== message 2, user
Go to the docs.

=== message 3, assistant calls Cd (call_1)
{\"path\":\"docs\"}

=== message 4, result of Cd (call_1)
Changed directory to /w/docs

Now in /w/docs.
"
    );
}

#[test]
fn a_run_is_told_call_by_call() {
    let folder = small();
    assert_eq!(
        printed(folder.path(), &["run", "."]),
        "\
small, run go, openai:gpt-5.4
call  turn  what happened          sent  read  write  fresh   lost  told   verdict
   1     1  user: Go to the docs.    19     0    n/a     19  first  -      first
   2     1  Cd docs                  37     0    n/a     37      -  moved  below minimum

      Off we go.
call 1 first: 19 tokens, minimum 1,024; nothing is stored.
call 2 below minimum: 37 tokens, minimum 1,024; nothing is stored or read.

2 calls, 56 tokens sent, 0 read, 0 paid again, input $0.0001; stale in 0, superseded in 1, untold in 0 of the calls.
"
    );
}

/// Every byte of a request has one author, and the layers of the system prompt are all of it.
#[test]
fn every_byte_of_a_built_sample_is_in_exactly_one_layer() {
    for sample in plywood::io::samples::samples() {
        let text = crate::cli::run(&["build", sample.name, "--format", "json"]);
        assert!(text.status <= 1, "{}: {}", sample.name, text.stderr);
        let built: Value = serde_json::from_str(&text.stdout).expect("JSON");
        let bench = crate::cli::run(&["layers", sample.name, "--json"]);
        let layers: Value = serde_json::from_str(&bench.stdout).expect("JSON");
        let ids: Vec<&str> = layers["layers"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|layer| layer["id"].as_str())
            .collect();
        for block in built["blocks"].as_array().expect("a list") {
            let text = block["text"].as_str().expect("a text");
            let mut at = 0;
            let mut joined = String::new();
            for span in block["spans"].as_array().expect("a list") {
                let (start, end) =
                    (span["start"].as_u64().expect("a byte"), span["end"].as_u64().expect("a byte"));
                assert_eq!(start as usize, at, "{}: no gap and no overlap", sample.name);
                assert!(end > start, "{}: no span is empty", sample.name);
                joined.push_str(&text[start as usize..end as usize]);
                at = end as usize;
                let author = span["layer"].as_str().expect("a layer");
                let known = ids.contains(&author) || author.contains(' ') || block["zone"] != "system";
                assert!(known, "{}: {author} is no layer", sample.name);
            }
            assert_eq!(
                (at, joined.as_str()),
                (text.len(), text),
                "{}: joined, they are the text",
                sample.name
            );
        }
    }
}

/// In the sample with eight layers, what they say one by one, joined as the bench joins them, is the prompt.
#[test]
fn joined_layers_are_the_prompt() {
    for sample in ["netaclaw", "netaclaw-en"] {
        let built: Value =
            serde_json::from_str(&crate::cli::run(&["build", sample, "--format", "json"]).stdout)
                .expect("JSON");
        let system =
            built["blocks"].as_array().expect("a list").iter().find(|block| block["zone"] == "system");
        let system = system.expect("a prompt");
        let text = system["text"].as_str().expect("a text");
        let mut contents: Vec<(String, String)> = Vec::new();
        for span in system["spans"].as_array().expect("a list") {
            let at = |key: &str| span[key].as_u64().expect("a byte") as usize;
            let (own, layer) = (&text[at("start")..at("end")], span["layer"].as_str().expect("a layer"));
            match (span["glue"] == true, contents.last_mut()) {
                (true, _) => {
                    assert_eq!(own, "\n\n", "{sample}");
                    contents.push((layer.to_owned(), String::new()));
                }
                (false, Some((last, said))) if last == layer => said.push_str(own),
                (false, _) => contents.push((layer.to_owned(), own.to_owned())),
            }
        }
        let joined: Vec<&str> = contents.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!(joined.join("\n\n"), text, "{sample}");
        assert!(contents.len() >= 6, "{sample}: {contents:?}");
    }
}

#[test]
fn a_call_as_json() {
    let folder = small();
    let all = lines(&printed(folder.path(), &["run", ".", "--json"]));
    assert_eq!(all.len(), 2);
    let mut second = all[1].clone();
    assert_eq!(second["request_sha256"].as_str().map(str::len), Some(64));
    second["request_sha256"] = json!("..");
    second["revisions"] = json!("..");
    assert_eq!(
        second,
        json!({
            "schema": "plywood.run/1",
            "revisions": "..",
            "call": 2,
            "turn": 1,
            "agent": "main",
            "input": { "kind": "tools", "tools": [{ "tool": "Cd", "argument": "docs", "cwd": "/w" }] },
            "answer": { "kind": "said", "text": "Done." },
            "request_sha256": "..",
            "injected": [{
                "layer": "moved",
                "into": 4,
                "chars": 15,
                "tokens": 6,
                "text": "Now in /w/docs.",
                "reason": "cwd changed: /w -> /w/docs",
            }],
            "pending": [],
            "cache": { "openai:gpt-5.4": {
                "sent": 37,
                "read": 0,
                "write": null,
                "fresh": 37,
                "lost": 0,
                "estimate": false,
                "upper_bound": false,
                "expected": { "read": 0, "write": null, "fresh": 37, "lost": 0, "cost": 0.0000925 },
                "storage": null,
                "verdict": "below_minimum",
                "also": [],
                "vendor": null,
                "blame": null,
                "behind": [],
                "settings": [],
                "says": "call 2 below minimum: 37 tokens, minimum 1,024; nothing is stored or read.",
            } },
            "stale": [],
            "superseded": ["cwd"],
            "untold": [],
            "cost": 0.0000925,
            "notes": [],
            "ledger": [],
            "never_read": null,
        })
    );
}

#[test]
fn layers_as_json() {
    let folder = small();
    let report: Value =
        serde_json::from_str(&printed(folder.path(), &["layers", ".", "--json"])).expect("JSON");
    let layers = report["layers"].as_array().expect("a list");
    let ids: Vec<&str> = layers.iter().filter_map(|layer| layer["id"].as_str()).collect();
    assert_eq!(ids, ["tools", "base", "rule", "said", "shout", "moved"]);
    assert_eq!(
        layers[1],
        json!({
            "id": "base", "title": null, "place": "system", "run": 2, "key": "a", "refresh": "turn",
            "included": true, "reason": null, "truncated": null, "chars": 14, "bytes": 14, "lines": 1,
            "tokens": { "count": 6, "in_context": 5, "method": "o200k_base", "exact": true },
            // printf 'You are in /w.' | sha256sum
            "sha256": "c1a469770aa2d9a7c72e0aa0845de7ab404c7bc5b1226e17243eb9f3a7d8b35a",
            "source": "bench.yaml:13:60",
            "reads": [{ "fact": "cwd", "value": "/w" }],
        })
    );
    assert_eq!(layers[4]["included"], false);
    assert_eq!(layers[4]["reason"], "when: loud does not hold");
    assert_eq!(report["total"]["chars"], 52);
    assert_eq!(report["diagnostics"], json!([]));
}

#[test]
fn a_request_as_json_names_the_owner_of_every_byte() {
    for call in ["1", "2", "4", "5"] {
        let ran = run(&["build", "samples/xbot", "--format", "json", "--call", call]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let blocks = report["blocks"].as_array().expect("blocks");
        for block in blocks {
            let text = block["text"].as_str().expect("a text");
            let mut at = 0;
            for span in block["spans"].as_array().expect("spans") {
                assert_eq!(span["start"], at, "no byte without an owner");
                at = span["end"].as_u64().expect("a number");
                assert!(!span["layer"].as_str().expect("an owner").is_empty());
            }
            assert_eq!(at, text.len() as u64);
        }
        let system = blocks.iter().find(|block| block["zone"] == "system").expect("a system message");
        assert_eq!(
            (&system["cache_hint"], &system["cache_mark"]),
            (&json!("static"), &json!(300)),
            "call {call}"
        );
        assert!(blocks.iter().all(|block| block["zone"] == "system" || block.get("cache_hint").is_none()));
    }
}

#[test]
fn tokens_add_up_for_every_model_and_variant() {
    let models = ["openai:gpt-5.4", "anthropic:claude-sonnet-4-5"];
    let variants =
        ["", "rebuild_system", "own_message", "never", "no_cwd_in_base", "keep_tags", "strip_reminders"];
    for model in models {
        for variant in variants {
            let mut args = vec!["run", "samples/xbot", "--json", "--model", model];
            if !variant.is_empty() {
                args.extend(["--variant", variant]);
            }
            let ran = run(&args);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
            let calls = lines(&ran.stdout);
            assert_eq!(calls.len(), 6);
            for call in &calls {
                let cache = &call["cache"][model];
                let number = |key: &str| cache[key].as_u64().unwrap_or(0);
                assert_eq!(
                    number("read") + number("write") + number("fresh"),
                    number("sent"),
                    "{model} {variant}"
                );
                assert!(number("lost") <= number("write") + number("fresh"), "{model} {variant}");
                assert!(number("sent") > 1_024);
            }
        }
    }
}

#[test]
fn the_sample_breaks_where_its_readme_says() {
    let lost = |variants: &[&str]| -> (u64, Vec<Value>) {
        let mut args = vec!["run", "samples/xbot", "--json"];
        for variant in variants {
            args.extend(["--variant", variant]);
        }
        let calls = lines(&run(&args).stdout);
        let lost = calls.iter().filter_map(|call| call["cache"]["openai:gpt-5.4"]["lost"].as_u64()).sum();
        (lost, calls)
    };
    let (all, calls) = lost(&[]);
    assert!(all > 0);
    let fifth = &calls[4]["cache"]["openai:gpt-5.4"];
    assert_eq!(fifth["lost"], all, "turn 2 is the only break");
    assert_eq!(fifth["verdict"], "changed");
    let blame = &fifth["blame"];
    assert_eq!(
        (&blame["layer"], &blame["byte"], &blame["source"], &blame["facts"], &blame["cause"]),
        (
            &json!("system_prompt"),
            &json!(386),
            &json!("{{cwd}} prompt.md:9:6"),
            &json!(["cwd"]),
            &json!("Cd in call 1")
        )
    );
    assert_eq!((&blame["old"], &blame["new"]), (&json!("/home/shop"), &json!("/home/shop/api")));
    assert!(!fifth["behind"].as_array().expect("a list").is_empty(), "the stripped tags wait behind it");

    let (rebuilt, calls) = lost(&["rebuild_system"]);
    assert!(rebuilt > 0 && calls[1]["cache"]["openai:gpt-5.4"]["lost"].as_u64() > Some(0), "at once");
    assert_eq!(lost(&["no_cwd_in_base", "keep_tags"]).0, 0);
    assert!(lost(&["no_cwd_in_base"]).0 > 0, "the stripped tags remain");
}

/// The bench's path, the folder it is opened from, and the environment.
type Elsewhere<'a> = (&'a str, &'a Path, &'a [(&'a str, &'a str)]);

#[test]
fn the_same_bytes_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let copy = elsewhere.path().join("a copy");
    for file in walk(&root.join("samples/xbot")) {
        let to = copy.join(file.strip_prefix(root.join("samples/xbot")).expect("below it"));
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        std::fs::copy(&file, &to).expect("copied");
    }
    let commands: [&[&str]; 3] = [
        &["run", "PATH", "--json"],
        &["layers", "PATH", "--json"],
        &["build", "PATH", "--format", "json", "--call", "5"],
    ];
    for command in commands {
        let with = |path: &str, folder: &Path, environment: &[(&str, &str)]| {
            let args = command.iter().map(|arg| if *arg == "PATH" { path } else { arg });
            let output = plywood()
                .current_dir(folder)
                .args(args)
                .envs(environment.iter().copied())
                .output()
                .expect("the program starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        let here = with("samples/xbot", root, &[]);
        assert!(!here.is_empty());
        let other: [Elsewhere<'_>; 6] = [
            ("samples/xbot", root, &[]),
            (
                "samples/xbot",
                root,
                &[("TZ", "America/New_York"), ("LANG", "de_DE.UTF-8"), ("HOME", "/elsewhere")],
            ),
            (
                "samples/xbot/bench.yaml",
                root,
                &[("LC_ALL", "C"), ("USER", "somebody"), ("SHELL", "/bin/fish")],
            ),
            ("xbot", elsewhere.path(), &[]),
            ("a copy", elsewhere.path(), &[("TZ", "Asia/Tokyo")]),
            (".", &copy, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]),
        ];
        for (path, folder, environment) in other {
            assert!(with(path, folder, environment) == here, "{command:?} with {path} and {environment:?}");
        }
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn an_existing_path_wins_over_a_samples_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = printed(folder.path(), &["run", "xbot", "--until", "1"]);
    assert!(sample.starts_with("xbot, run cd, "), "{sample}");
    std::fs::create_dir(folder.path().join("xbot")).expect("made");
    std::fs::write(folder.path().join("xbot/bench.yaml"), SMALL).expect("written");
    assert!(printed(folder.path(), &["run", "xbot", "--until", "1"]).starts_with("small, run go, "));
}

#[test]
fn a_scratch_copy_is_put_away() {
    let temporary = tempfile::tempdir().expect("a folder");
    let output =
        plywood().args(["layers", "xbot"]).env("TMPDIR", temporary.path()).output().expect("it starts");
    assert!(output.status.success());
    assert_eq!(std::fs::read_dir(temporary.path()).expect("a folder").count(), 0);
}

#[test]
fn a_folder_without_a_bench_gets_the_built_in_one() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("AGENTS.md"), "Answer in one line.\n").expect("written");
    let ran = printed(folder.path(), &["build", ".", "--now", "2026-04-01T09:00:00Z"]);
    assert!(ran.starts_with("=== system (system)\nAnswer in one line.\n"), "{ran}");
    let json = printed(folder.path(), &["run", ".", "--json"]);
    assert_eq!(lines(&json)[0]["schema"], "plywood.run/1");
}

#[test]
fn what_cannot_be_done_is_told_on_stderr_with_status_2() {
    let folder = small();
    std::fs::write(folder.path().join("notes.txt"), "hello").expect("written");
    std::fs::write(folder.path().join("broken.yaml"), SMALL.replace("refresh", "refesh")).expect("written");
    let samples = plywood::io::samples::samples().iter().map(|sample| format!("`{}`", sample.name));
    let samples = samples.collect::<Vec<_>>().join(", ");
    for (args, told) in [
        (
            &["layers", "nothing"][..],
            "error: there is no file or folder `nothing`\n  = hint: a name alone can also be a sample: SAMPLES\n",
        ),
        (
            &["layers", "notes.txt"],
            "error: `notes.txt` is not a bench file\n  = hint: a bench is a YAML file; any folder can be opened without one\n",
        ),
        (&["run", ".", "--run", "come"], "error: no run is called `come`: there are `go`, `stay`\n"),
        (&["run", ".", "--until", "3"], "error: there is no call 3: the run go has 2\n"),
        (&["build", ".", "--call", "9"], "error: there is no call 9: the run go has 2\n"),
        (&["run", ".", "--model", "gpt"], "error: --model gpt: write provider:model\n"),
        (
            &["run", ".", "--now", "noon"],
            "error: --now noon: write a time such as 2026-04-01T09:00:00+08:00[Asia/Shanghai]\n",
        ),
        (
            &["layers", "broken.yaml"],
            "error: unknown key `refesh` in a layer\n  --> broken.yaml:17:69\n   |\n17 |   - { id: moved, in: tool_end, from: { text: \"Now in {{ cwd }}.\" }, refesh: { change: [cwd] } }\n   |                                                                     ^\n   = hint: did you mean `refresh`?\n",
        ),
    ] {
        let ran = run_in(folder.path(), args);
        let told = told.replace("SAMPLES", &samples);
        assert_eq!((ran.status, ran.stderr.as_str()), (2, told.as_str()), "{args:?}");
    }
    let ran = run_in(folder.path(), &["layers", ".", "--variant", "laud"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("there is no variant `laud`") && ran.stderr.contains("did you mean `loud`?"));
}

#[test]
fn files_are_named_as_they_are_found_from_here() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("b")).expect("made");
    let bench = SMALL.replace("text: \"You are in {{ cwd }}.\"", "template: base.md");
    std::fs::write(folder.path().join("b/bench.yaml"), bench).expect("written");
    std::fs::write(folder.path().join("b/base.md"), "In {{ cdw }}.\n").expect("written");
    let ran = run_in(folder.path(), &["layers", "b"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("--> b/base.md:1:7"), "{}", ran.stderr);
}

#[test]
fn every_broken_bench_ends_with_status_2() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/broken");
    let mut benches = 0;
    for file in walk(&folder).iter().filter(|file| file.extension().is_some_and(|kind| kind == "yaml")) {
        let path = file.to_string_lossy();
        for command in ["layers", "build", "run"] {
            let ran = run(&[command, &path]);
            assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{command} {path}");
            assert!(
                ran.stderr.starts_with("error: ") || ran.stderr.contains("\nerror: "),
                "{path}: {}",
                ran.stderr
            );
        }
        benches += 1;
    }
    assert!(benches >= 10);
}

#[test]
fn json_says_what_it_depends_on() {
    for (args, schema) in [
        (&["run", "samples/xbot", "--json", "--until", "1"][..], "plywood.run/1"),
        (&["layers", "samples/xbot", "--json"], "plywood.layers/1"),
        (&["build", "samples/xbot", "--format", "json"], "plywood.build/1"),
        (&["samples", "--json"], "plywood.samples/1"),
        (&["keys", "--json"], "plywood.keys/1"),
        (&["doctor", "--json"], "plywood.doctor/1"),
    ] {
        let json: Value = serde_json::from_str(&run(args).stdout).expect("JSON");
        assert_eq!(json["schema"], schema);
        for revision in ["models", "tokenizer"] {
            assert!(json["revisions"][revision].as_str().is_some_and(|text| !text.is_empty()), "{args:?}");
        }
    }
}

/// A layer that fails is left out; whoever builds the prompt is told, and so is a script.
#[test]
fn a_layer_that_fails_is_told_and_the_status_is_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = "bench: 1\nname: x\nmodel: openai:gpt-5.4\nworkspace: { path: project, shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }\n\
         read: { rules: { file: rules.md } }\nplaces: { system: { of: system } }\nlayers:\n  - { id: a, in: system, from: { text: hello } }\n  \
         - { id: rules, in: system, from: { fact: rules } }\nruns: { r: [ { user: hi }, { say: ok } ] }\n";
    std::fs::write(folder.path().join("bench.yaml"), bench).expect("written");
    std::fs::create_dir_all(folder.path().join("project/rules.md")).expect("a folder where a file should be");
    for command in ["layers", "build", "run"] {
        for json in [&[][..], &["--json"]] {
            let json = if command == "build" && !json.is_empty() { &["--format", "json"][..] } else { json };
            let ran = run_in(folder.path(), &[&[command, "."], json].concat());
            assert_eq!(
                (ran.status, ran.stderr.as_str()),
                (
                    1,
                    "error: rules.md cannot be read: it is a folder (it is read as `rules`)\n --> bench.yaml:9:11\n  |\n\
                     9 |   - { id: rules, in: system, from: { fact: rules } }\n  |           ^\n"
                ),
                "{command} {json:?}"
            );
            assert!(
                ran.stdout.contains("hello") || command == "run" || command == "layers",
                "{}",
                ran.stdout
            );
        }
    }
}

/// The log of requests is written where it is asked for, and holds no document.
#[test]
fn requests_are_logged_where_it_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("llm.log");
    let path = log.to_str().expect("UTF-8");
    let ran = run_in(folder.path(), &["run", "wegent", "--run", "restricted", "--log-llm", path]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let text = std::fs::read_to_string(&log).expect("it was written");
    let kinds: Vec<&str> =
        text.lines().filter_map(|line| line.split_once(['{', ':'])).map(|(kind, _)| kind).collect();
    let call = ["[LLM_REQUEST] ", "[LLM_RESPONSE] "];
    let tool = [
        "[restricted_kb_summary] Starting safe summary",
        "[restricted_kb_summary] Safe summary completed",
        "[KnowledgeBaseTool] Persist HTTP request",
        "[KnowledgeBaseTool] Persist HTTP response",
    ];
    assert_eq!(kinds, [&call[..], &tool, &call, &call, &tool, &call].concat());
    assert!(!text.contains("4821") && !text.contains("同比增长"));
    let refused = run_in(folder.path(), &["run", "wegent", "--log-llm", "no/such/folder/llm.log"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("cannot be written"), "{}", refused.stderr);
}
