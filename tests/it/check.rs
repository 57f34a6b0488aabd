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
    assert_eq!((&*out, &*err), ("2 benches: nothing found\n", ""));

    write(folder.path(), "fleet/b/bench.yaml", "bench: 1\nname: b\n");
    write(folder.path(), "fleet/c/rules.md", "Rules.\n```\nopen\n");
    let (out, err) = told(folder.path(), &[&["fleet"], &skip[..]].concat(), 2);
    assert!(
        out.starts_with("fleet/b/bench.yaml: cannot be checked\nfleet/c/bench.yaml:\nwarning: "),
        "{out}"
    );
    assert!(
        out.contains("warning: unclosed: rules opens a code fence")
            && out.ends_with("next: plywood check fleet/b/bench.yaml\n"),
        "{out}"
    );
    let summary: Vec<String> = out
        .lines()
        .skip_while(|line| !line.starts_with("3 benches"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        summary[..3],
        [
            "3 benches: 1 cannot be checked, 1 with findings, 1 without",
            "fleet/b/bench.yaml cannot be checked a bench without `model`",
            "fleet/c/bench.yaml 1 warning, up to 6 tokens unclosed",
        ]
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
        out.contains("2 benches: 1 cannot be checked, 1 without\n")
            && err.contains("there is no file or folder `nowhere`"),
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
    assert!(out.contains("error: contract: what stays in the prompt of main is not what the contract holds\n --> a/bench.contract.yaml:"), "{out}");
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

#[test]
fn a_run_that_a_bench_does_not_have_is_told_of_that_bench() {
    let folder = TempDir::new().expect("a folder");
    agent(folder.path(), "fleet/a");
    agent(folder.path(), "fleet/b");
    let text = fs::read_to_string(folder.path().join("fleet/b/bench.yaml")).expect("a bench");
    write(folder.path(), "fleet/b/bench.yaml", &text.replace("  two:", "  smoke:"));
    let (out, err) = told(folder.path(), &["fleet", "--run", "smoke"], 2);
    assert_eq!(err, "error: no run is called `smoke`: there are `one`, `two`\n --> fleet/a/bench.yaml\n");
    assert!(
        out.starts_with("fleet/a/bench.yaml: cannot be checked\n2 benches: 1 cannot be checked"),
        "{out}"
    );
    // A workflow is told once, with the file.
    let (out, err) = told(folder.path(), &["fleet", "--run", "smoke", "--format", "github"], 2);
    assert!(
        out.starts_with(
            "::error file=fleet/a/bench.yaml,title=plywood check::no run is called `smoke`: there are"
        ),
        "{out}"
    );
    assert_eq!(err, "");
    let (_, err) = told(folder.path(), &["fleet/a", "--run", "smoke"], 2);
    assert_eq!(err, "error: no run is called `smoke`: there are `one`, `two`\n");
}

#[test]
fn where_there_is_no_bench_nothing_was_checked() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    write(folder.path(), "code/main.rs", "fn main() {}\n");
    for path in ["empty", "code"] {
        let (out, err) = told(folder.path(), &[path], 2);
        assert_eq!(out, "");
        let message = format!("error: there is no bench in or below `{path}`, and no AGENTS.md in it\n");
        assert!(err.starts_with(&message), "{err}");
        let (out, _) = told(folder.path(), &[path, "--json"], 2);
        let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(
            (&report["benches"][0]["path"], &report["schema"]),
            (&path.into(), &"plywood.check/1".into())
        );
    }
    // A folder in which an agent works is something to check.
    write(folder.path(), "code/AGENTS.md", "Be careful.\n");
    told(folder.path(), &["code"], 0);
}

#[test]
fn a_contract_that_names_what_is_not_there_is_wrong() {
    let folder = TempDir::new().expect("a folder");
    agent(folder.path(), "fleet/a");
    agent(folder.path(), "fleet/b");
    let contract =
        "contract: 1\nmay_change:\n  - part: bas\n    runs: [one, tow]\n  - part: tools\n  - part: tool Cd\n";
    write(folder.path(), "fleet/a/bench.contract.yaml", contract);
    let (out, err) = told(folder.path(), &["fleet"], 2);
    assert!(out.contains("2 benches: 1 cannot be checked, 1 without\n"), "{out}");
    for part in [
        "error: the bench has no layer `bas`\n --> fleet/a/bench.contract.yaml:3:11\n",
        "  = hint: did you mean `base`?\n",
        "error: the bench has no run `tow`\n --> fleet/a/bench.contract.yaml:4:17\n",
        "  = hint: did you mean `two`?\n",
    ] {
        assert!(err.contains(part), "{part} in\n{err}");
    }
    // Written anew, it names what there is, and what went is said.
    let (out, _) = told(folder.path(), &["fleet/a", "--accept"], 0);
    assert!(
        out.contains("left out: the bench has no layer `bas`\nleft out: the bench has no run `tow`\n"),
        "{out}"
    );
    told(folder.path(), &["fleet/a"], 0);
}

#[test]
fn the_worst_of_many_benches_comes_first() {
    let folder = TempDir::new().expect("a folder");
    for number in 1..=14 {
        agent(folder.path(), &format!("fleet/a{number:02}"));
        let file = format!("fleet/a{number:02}/rules.md");
        match number {
            3 => {}
            9 => write(folder.path(), &file, &format!("{}```\nopen\n", "Rule of many words.\n".repeat(300))),
            _ => write(folder.path(), &file, "Rules.\n```\nopen\n"),
        }
    }
    let bench = "fleet/a05/bench.yaml";
    let text = fs::read_to_string(folder.path().join(bench)).expect("a bench");
    let (rules, base) = ("  - { id: rules, in: system, from: { template: rules.md } }\n", "  - { id: said");
    write(folder.path(), bench, &text.replace(rules, "").replace(base, &format!("{rules}{base}")));
    write(folder.path(), "fleet/a05/rules.md", &"Never guess a number that can be measured.\n".repeat(200));
    let (out, _) = told(folder.path(), &["fleet", "--contract"], 1);
    let benches: Vec<&str> = out.lines().filter(|line| line.ends_with("bench.yaml:")).collect();
    // All break the contract; of those the one that pays most again comes first, and nobody comes in who has nothing.
    assert_eq!((benches[0], benches.len()), ("fleet/a05/bench.yaml:", 14), "{out}");
    let end: Vec<&str> = out.lines().rev().take(13).collect();
    assert_eq!(end[12], "14 benches: 14 with findings", "{out}");
    assert!(end[11].starts_with("  fleet/a05/bench.yaml  1 error, 1 warning, up to 1,792 tokens"), "{out}");
    assert_eq!(end[1], "  and 4 more", "{out}");
    assert!(end[0].starts_with("next: plywood fleet/a05/bench.yaml and there C"), "{out}");
    // The messages of a workflow, too: it shows so many and no more.
    let (out, _) = told(folder.path(), &["fleet", "--contract", "--format", "github"], 1);
    assert!(out.starts_with("::warning file=fleet/a05/bench.yaml,"), "{out}");
    assert!(out.contains("\n14 benches: 14 with findings\n"), "{out}");
}
