//! What changed in a prompt since a revision of git, in repositories made here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const BENCH: &str = r#"bench: 1
name: shop
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
read: { rules: { file: AGENTS.md }, notes: { glob: "notes/**/*.md" }, map: { git_files: . } }
places: { system: { of: system, join: "\n" }, user: { of: current_user } }
layers:
  - { id: base, in: system, from: { template: base.md } }
  - { id: rules, in: system, when: rules, from: { fact: rules } }
  - { id: notes, in: system, when: notes, from: { each: notes, item: note.md } }
  - { id: map, in: system, from: { fact: map } }
  - { id: said, in: user, from: { said: user } }
runs: { one: [ { user: Go. }, { say: Done. } ] }
"#;

struct Repository(TempDir);

impl Repository {
    /// A repository with one commit of the bench in `agents/shop`.
    fn new() -> Repository {
        let repository = Repository(TempDir::new().expect("a folder"));
        repository.git(&["init", "-q", "-b", "main"]);
        for (path, text) in [
            ("bench.yaml", BENCH),
            ("base.md", "You are careful.\nWork in {{ cwd }}.\n"),
            ("note.md", "{{ item.text }}"),
            ("project/AGENTS.md", "first rule\nsecond rule\n"),
            ("project/notes/a.md", "a note\n"),
            ("project/src/main.rs", "fn main() {}\n"),
        ] {
            repository.write(path, text);
        }
        repository.commit();
        repository
    }

    fn bench(&self) -> PathBuf {
        self.0.path().join("agents/shop")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.bench().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.0.path()).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
        let output = command.args(["-c", "commit.gpgsign=false"]).args(args).output().expect("git");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "one"]);
    }
}

fn diff(path: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plywood"));
    // As under a hook of another repository.
    command.env("GIT_DIR", "/nowhere").env("GIT_INDEX_FILE", "/nowhere/index");
    command.arg("diff").arg(path).args(args).output().expect("the program runs")
}

#[track_caller]
fn said(path: &Path, args: &[&str], status: i32) -> String {
    let output = diff(path, args);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

#[test]
fn an_unchanged_bench_is_the_same() {
    let repository = Repository::new();
    // What is not tracked, and not read, changes nothing.
    repository.write("project/other.txt", "x");
    let text = said(&repository.bench(), &[], 0);
    assert!(text.starts_with("shop: the prompt of call 1 is the same as at HEAD ("), "{text}");
}

#[test]
fn what_changed_is_told_by_layer_and_line() {
    let repository = Repository::new();
    repository.write("base.md", "You are very careful.\nWork in {{ cwd }}.\n");
    repository.write("project/notes/deep/b.md", "another");
    fs::remove_file(repository.bench().join("project/AGENTS.md")).expect("it is there");
    let bench = BENCH.replace("  - { id: map, in: system, from: { fact: map } }\n", "");
    let bench =
        bench.replace("layers:\n", "layers:\n  - { id: first, in: system, from: { text: Hello. } }\n");
    repository.write("bench.yaml", &bench);

    let text = said(&repository.bench(), &["HEAD"], 1);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        ["first", "system", "added", "6", "+6"],
        ["base", "system", "changed", "34", "+5"],
        ["rules", "system", "left", "out", "-"],
        ["notes", "system", "changed", "14", "+7"],
        ["map", "system", "removed", "-", "-"],
    ] {
        let found = rows.iter().any(|cells| cells.starts_with(&row[..4]));
        assert!(found, "{row:?} in\n{text}");
    }
    for line in ["-You are careful.", "+You are very careful.", "+another\n\\ no line end", "-second rule"] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    let words = said(&repository.bench(), &["--words"], 1);
    assert!(words.contains(" You are {+very +}careful.\n"), "{words}");
}

#[test]
fn json_has_both_sides() {
    let repository = Repository::new();
    repository.write("project/AGENTS.md", "first rule\nthird rule\n");
    let output = diff(
        &repository.bench().join("bench.yaml"),
        &["main", "--json", "--model", "anthropic:claude-sonnet-4-6"],
    );
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["schema"], &report["same"]), (&"plywood.diff/1".into(), &false.into()));
    let layers = report["layers"].as_array().expect("a list");
    let rules = layers.iter().find(|layer| layer["id"] == "rules").expect("the layer");
    assert_eq!(rules["chars"], serde_json::json!([23, 22]));
    assert_eq!((&rules["status"], &rules["exact"]), (&"changed".into(), &false.into()));
    let hunk = serde_json::json!(
        [{ "old_line": 2, "new_line": 2, "removed": ["second rule\n"], "added": ["third rule\n"] }]
    );
    assert_eq!(rules["hunks"], hunk);
    assert!(layers.iter().filter(|layer| layer["id"] != "rules").all(|layer| layer["status"] == "same"));
}

#[test]
fn a_project_folder_without_a_bench_has_a_history_too() {
    let repository = Repository::new();
    repository.write("project/AGENTS.md", "first rule\nnew rule\n");
    let folder = repository.bench().join("project");
    let text = said(&folder, &["HEAD", "--now", "2026-04-01T09:00:00Z"], 1);
    assert!(text.contains("+new rule") && text.contains("-second rule"), "{text}");
    repository.commit();
    // Without a time of its own both sides happen at the same moment.
    said(&folder, &[], 0);
    said(&folder, &["HEAD~1"], 1);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_those_that_lead_out_are_told() {
    use std::os::unix::fs::symlink;

    let repository = Repository::new();
    let outside = TempDir::new().expect("a folder");
    fs::write(outside.path().join("x.md"), "outside\n").expect("a file");
    let project = repository.bench().join("project");
    repository.write("common/rules.md", "shared rule\n");
    fs::remove_file(project.join("AGENTS.md")).expect("it is there");
    symlink("../common/rules.md", project.join("AGENTS.md")).expect("a link");
    symlink(outside.path().join("x.md"), project.join("notes/x.md")).expect("a link");
    repository.commit();
    said(&repository.bench(), &[], 0);

    repository.write("common/rules.md", "shared rule, changed\n");
    fs::write(outside.path().join("x.md"), "outside, changed\n").expect("a file");
    let elsewhere = outside.path().join("link");
    symlink(repository.bench(), &elsewhere).expect("a link");
    let text = said(&elsewhere, &[], 1);
    assert!(text.contains("-shared rule\n+shared rule, changed\n"), "{text}");
    assert!(
        text.contains("is a link to ") && text.contains("in the repository: that is what is compared"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_compared_is_told_with_a_hint() {
    let repository = Repository::new();
    let text = said(&repository.bench(), &["v9"], 2);
    assert!(
        text.contains("error: git knows no revision `v9`") && text.contains("hint: a revision is"),
        "{text}"
    );
    let text = said(&repository.bench(), &["--call", "7"], 2);
    assert!(text.contains("error: there is no call 7"), "{text}");

    // The bench came later.
    fs::rename(repository.bench(), repository.0.path().join("moved")).expect("it can be moved");
    let text = said(&repository.0.path().join("moved"), &[], 2);
    assert!(text.contains("there is no such bench file") && text.contains("hint: it came later"), "{text}");

    let fresh = TempDir::new().expect("a folder");
    fs::write(fresh.path().join("AGENTS.md"), "x").expect("a file");
    let text = said(fresh.path(), &[], 2);
    assert!(text.contains("is not in a git repository") && text.contains("hint: "), "{text}");
    let done = Command::new("git").arg("-C").arg(fresh.path()).args(["init", "-q"]).status().expect("git");
    assert!(done.success());
    assert!(said(fresh.path(), &[], 2).contains("error: the repository has no commit yet"));

    let text = said(Path::new("xbot"), &[], 2);
    assert!(text.contains("is a sample: it is part of the program"), "{text}");
}

#[test]
fn a_bench_that_was_broken_is_told_with_its_revision() {
    let repository = Repository::new();
    repository.write("bench.yaml", &BENCH.replace("id: base", "idd: base"));
    repository.commit();
    repository.write("bench.yaml", BENCH);
    let text = said(&repository.bench(), &[], 2);
    assert!(text.contains(":bench.yaml:8:"), "{text}");
    said(&repository.bench(), &["HEAD~1"], 0);
}

/// A folder whose bench was deleted is no project folder without one.
#[test]
fn a_bench_that_is_gone_is_no_empty_difference() {
    let repository = Repository::new();
    let bench = repository.bench();
    let file = if bench.is_dir() { bench.join("bench.yaml") } else { bench.clone() };
    let folder = file.parent().expect("a folder").to_owned();
    fs::remove_file(&file).expect("it is there");
    let text = said(&folder, &[], 2);
    assert!(
        text.contains("held a bench.yaml at ") && text.contains("hint: its whole prompt is gone"),
        "{text}"
    );
}
