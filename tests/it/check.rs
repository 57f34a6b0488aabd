//! `check` over several benches, with limits and contracts, for people and for build servers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, text).expect("a file");
}

/// An agent whose prompt names the directory, so that its second turn pays again.
fn agent(folder: &Path, name: &str) {
    write(
        folder,
        &format!("{name}/bench.yaml"),
        &format!(
            "bench: 1\nname: {name}\nmodel: openai:gpt-5.4\n\
             workspace: {{ path: project, shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }}\n\
             tools: [ {{ names: [Cd] }} ]\nsimulate: {{ Cd: {{ set: cwd, from: path }} }}\n\
             places: {{ system: {{ of: system, join: \"\\n\" }}, user: {{ of: current_user }} }}\n\
             layers:\n  - {{ id: rules, in: system, from: {{ template: rules.md }} }}\n  \
             - {{ id: base, in: system, from: {{ text: \"CWD: {{{{ cwd }}}}\" }} }}\n  \
             - {{ id: said, in: user, from: {{ said: user }} }}\n\
             runs:\n  one:\n    - user: Go.\n    - call: [ {{ Cd: {{ path: a }} }} ]\n    - say: There.\n    \
             - user: Go on.\n    - say: Done.\n  two:\n    - user: Hello.\n    - say: Hello.\n"
        ),
    );
    write(folder, &format!("{name}/rules.md"), &"Never guess a number that can be measured.\n".repeat(200));
    write(folder, &format!("{name}/project/a/x"), "");
}

fn plywood(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plywood"))
        .current_dir(folder)
        .arg("check")
        .args(args)
        .output()
        .expect("the program runs")
}

#[track_caller]
fn told(folder: &Path, args: &[&str], status: i32) -> (String, String) {
    let output = plywood(folder, args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    (out, err)
}

#[test]
fn a_fleet_is_found_below_a_folder_and_one_broken_bench_hides_none_of_the_others() {
    let folder = TempDir::new().expect("a folder");
    agent(folder.path(), "fleet/a");
    agent(folder.path(), "fleet/c");
    let skip = ["--skip", "volatile_first"];
    let (out, err) = told(folder.path(), &[&["fleet"], &skip[..]].concat(), 0);
    assert_eq!(
        (&*out, &*err),
        (
            "fleet/a/bench.yaml: nothing found\nfleet/c/bench.yaml: nothing found\n2 benches: nothing found\n",
            ""
        )
    );

    write(folder.path(), "fleet/b/bench.yaml", "bench: 1\nname: b\n");
    write(folder.path(), "fleet/c/rules.md", "Rules.\n```\nopen\n");
    let (out, err) = told(folder.path(), &[&["fleet"], &skip[..]].concat(), 2);
    assert!(
        out.starts_with(
            "fleet/a/bench.yaml: nothing found\nfleet/b/bench.yaml: cannot be checked\nfleet/c/bench.yaml:\n"
        ),
        "{out}"
    );
    assert!(
        out.contains("warning: unclosed: rules opens a code fence")
            && out.ends_with("3 benches: 1 with findings, 1 cannot be checked\n"),
        "{out}"
    );
    assert!(
        err.contains("error: a bench without `model`") && err.contains("fleet/b/bench.yaml:1:1"),
        "{err}"
    );

    let (out, _) = told(folder.path(), &[&["fleet", "--format", "json"], &skip[..]].concat(), 2);
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let benches = report["benches"].as_array().expect("a list");
    assert_eq!((benches.len(), &report["schema"]), (3, &"plywood.check/1".into()));
    assert_eq!(benches[1]["broken"][0]["file"], "fleet/b/bench.yaml");
    assert_eq!(benches[2]["lints"][0]["lint"], "unclosed");

    let (out, _) = told(folder.path(), &[&["fleet", "--format", "github"], &skip[..]].concat(), 2);
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines.iter().any(|line| line.starts_with(
            "::error file=fleet/b/bench.yaml,line=1,col=1,title=plywood check::a bench without"
        )),
        "{out}"
    );
    assert!(
        lines.iter().any(|line| line
            .starts_with("::warning file=fleet/c/rules.md,line=2,col=1,title=plywood check::unclosed")),
        "{out}"
    );

    // A path that is nothing is one more that cannot be checked.
    let (out, err) = told(folder.path(), &[&["fleet/a", "nowhere"], &skip[..]].concat(), 2);
    assert!(
        out.contains("fleet/a: nothing found") && err.contains("there is no file or folder `nowhere`"),
        "{out}{err}"
    );
}

#[test]
fn github_names_files_from_the_top_of_the_repository_and_no_scratch_copy() {
    let folder = TempDir::new().expect("a folder");
    agent(folder.path(), "agents/a");
    fs::create_dir(folder.path().join(".git")).expect("a folder");
    write(folder.path(), "agents/a/rules.md", "Rules.\n```\nopen\n");
    // From below, and by an absolute path, it is the same file of the same repository.
    let absolute = folder.path().join("agents/a").to_string_lossy().into_owned();
    for (from, path) in [("agents/a", "."), ("agents", &*absolute)] {
        let (out, _) = told(&folder.path().join(from), &[path, "--format", "github"], 1);
        assert!(out.contains("::warning file=agents/a/rules.md,line=2,col=1,"), "{out}");
    }
    let (out, _) = told(folder.path(), &["xbot", "--format", "github"], 1);
    assert!(out.starts_with("::warning title=plywood check::xbot, prompt.md:9:6: volatile_first: "), "{out}");
    assert!(!out.contains("file=") && !out.contains("tmp"), "{out}");
}

#[test]
fn a_limit_on_what_a_run_pays_again_names_the_calls_that_do() {
    let folder = TempDir::new().expect("a folder");
    agent(folder.path(), "a");
    let text = fs::read_to_string(folder.path().join("a/bench.yaml")).expect("a bench");
    let rules = "  - { id: rules, in: system, from: { template: rules.md } }\n";
    let base = text.replace(rules, "").replace("  - { id: said", &format!("{rules}  - {{ id: said"));
    write(folder.path(), "a/bench.yaml", &base);
    let skip = ["a", "--skip", "volatile_first", "--max-lost"];
    let (out, _) = told(folder.path(), &[&skip[..], &["500"]].concat(), 1);
    assert!(out.contains("error: max-lost: the run one pays 1,792 tokens again on openai:gpt-5.4, at most 500 are allowed\n"), "{out}");
    assert!(out.contains("\n  call 3 changed: system byte 7, base {{cwd}} bench.yaml:9:"), "{out}");
    told(folder.path(), &[&skip[..], &["1792"]].concat(), 0);
    let (out, _) = told(folder.path(), &[&skip[..], &["1", "--format", "github"]].concat(), 1);
    assert!(
        out.starts_with("::error file=a/bench.yaml,line=9,col=")
            && out.contains("title=plywood check::max-lost: the run one pays"),
        "{out}"
    );
    let (out, _) = told(folder.path(), &[&skip[..], &["1", "--json"]].concat(), 1);
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let lost = &report["benches"][0]["lost"][0];
    assert_eq!((&lost["tokens"], &lost["run"]), (&1_792.into(), &"one".into()));
    // What nobody knows is not taken for nothing.
    let (out, _) = told(folder.path(), &[&skip[..], &["1", "--model", "nobody:knows"]].concat(), 1);
    assert!(out.contains("is not known: n/a, no cache rules for it"), "{out}");
    // The second run has but one call.
    told(folder.path(), &[&skip[..], &["0", "--run", "two"]].concat(), 0);
}

#[test]
fn a_contract_says_what_may_change_and_is_rewritten_only_after_showing_what_is_gone() {
    let folder = TempDir::new().expect("a folder");
    agent(folder.path(), "a");
    let contract = folder.path().join("a/bench.contract.yaml");
    let skip = ["a", "--skip", "volatile_first"];
    // Nobody asks: nothing is promised. Asked, each request has to begin with all of the one before it.
    told(folder.path(), &skip, 0);
    let (out, _) = told(folder.path(), &[&skip[..], &["--contract"]].concat(), 1);
    assert!(
        out.contains("error: contract: call 3 does not begin with all of call 2: base is another\n"),
        "{out}"
    );
    assert!(out.contains("\n  - CWD: /w\n  + CWD: /w/a\n"), "{out}");
    assert!(!contract.exists());

    let (out, _) = told(folder.path(), &[&skip[..], &["--accept"]].concat(), 0);
    assert!(out.contains("accepted: call 3 does not begin with all of call 2: base is another\n  - CWD: /w\n  + CWD: /w/a\nwrote a/bench.contract.yaml\n"), "{out}");
    assert_eq!(
        fs::read_to_string(&contract).expect("a contract"),
        "# What may change between the calls of bench.yaml; `plywood check --accept` writes this file.\ncontract: 1\n\
         may_change:\n  - part: \"base\"\n    runs: [\"one\"]\n"
    );
    // From now on it is checked wherever the bench is, and an edit of the prompt is no matter.
    told(folder.path(), &skip, 0);
    write(folder.path(), "a/rules.md", "Other rules.\n");
    told(folder.path(), &skip, 0);
    let text = fs::read_to_string(folder.path().join("a/bench.yaml")).expect("a bench");
    write(folder.path(), "a/bench.yaml", &text.replace("rules.md }", "rules.md }, when: turn.number == 1"));
    let (out, _) = told(folder.path(), &skip, 1);
    assert!(out.contains("base") || out.contains("rules"), "{out}");
    write(folder.path(), "a/bench.yaml", &text);

    // With the text of what stays, an edit shows, and so does what is gone, before it is taken.
    let (out, _) = told(folder.path(), &[&skip[..], &["--accept", "--hashes"]].concat(), 0);
    assert_eq!(out, "a: nothing found\nwrote a/bench.contract.yaml\n");
    write(folder.path(), "a/rules.md", "Other rules.\nAnd more.\n");
    let (out, _) = told(folder.path(), &skip, 1);
    assert!(out.contains("error: contract: what stays in the prompt of main is not what the contract holds\n --> bench.contract.yaml:"), "{out}");
    assert!(out.contains("\n  + And more.\n"), "{out}");
    write(folder.path(), "a/rules.md", "Rules.\n");
    let (out, _) = told(folder.path(), &[&skip[..], &["--accept"]].concat(), 0);
    assert!(out.contains("\n  - Other rules.\n  + Rules.\nwrote a/bench.contract.yaml\n"), "{out}");
    told(folder.path(), &skip, 0);

    // A contract that is wrong is told with its place.
    write(folder.path(), "a/bench.contract.yaml", "contract: 1\nmay_chang: []\n");
    let (_, err) = told(folder.path(), &skip, 2);
    assert!(
        err.contains("unknown key `may_chang` in a contract") && err.contains("bench.contract.yaml:2:1"),
        "{err}"
    );
    // A sample has no place for one.
    let (_, err) = told(folder.path(), &["xbot", "--accept"], 2);
    assert!(err.contains("xbot: there is no bench file beside which a contract could stand"), "{err}");
}
