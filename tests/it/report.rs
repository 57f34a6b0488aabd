//! The report of a bench: one Markdown file that no name can break, with pictures beside it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn report(path: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plywood"));
    command.arg("report").arg(path).args(args).output().expect("the program runs")
}

fn text(path: &Path, args: &[&str]) -> String {
    let output = report(path, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a report is UTF-8")
}

#[test]
fn a_report_says_everything_once_and_the_same_every_time() {
    let first = text(Path::new("xbot"), &["--markdown"]);
    assert_eq!(first, text(Path::new("xbot"), &["--markdown"]));
    let headings: Vec<&str> = first.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        headings,
        [
            "# xbot",
            "## Layers of call 5",
            "## Calls",
            "## What was sent is not what is replayed",
            "## Told another way, over 6 calls",
            "## Lints",
            "## Diagnostics"
        ]
    );
    for line in [
        "- model: openai:gpt-5.4",
        "- tokens: o200k_base, exact",
        "- call 5 changed: system byte 386, 00_base {{cwd}} prompt.md:9:6",
        "  - behind it: message 4;",
    ] {
        assert!(first.contains(line), "{line} in\n{first}");
    }
    assert!(!first.contains("!["), "no picture without a folder for it");
    let other = text(
        Path::new("xbot"),
        &["--call", "1", "--variant", "keep_tags", "--model", "anthropic:claude-sonnet-5"],
    );
    for line in ["## Layers of call 1", "- variants: keep_tags", ", an estimate", " write |"] {
        assert!(other.contains(line), "{line} in\n{other}");
    }
}

#[test]
fn pictures_stand_beside_the_report() {
    let folder = TempDir::new().expect("a folder");
    let into = folder.path().join("out/report");
    let said = text(Path::new("xbot"), &["-o", &into.to_string_lossy(), "--size", "100x30"]);
    assert_eq!(Path::new(said.trim()), into.join("report.md"));
    let report = fs::read_to_string(into.join("report.md")).expect("a report");
    let shown: Vec<&str> = report.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(shown.starts_with(&["xbot-panes.svg", "xbot-orders.svg"]) && shown.len() > 3, "{shown:?}");
    for picture in &shown {
        let svg = fs::read_to_string(into.join(picture)).expect("a picture");
        assert!(svg.starts_with("<svg ") && svg.contains("viewBox=\"0 0 920 560\""), "{picture}");
    }
    assert_eq!(fs::read_dir(&into).expect("the folder").count(), shown.len() + 1);
    // Once more: the same files, written again.
    text(Path::new("xbot"), &["-o", &into.to_string_lossy(), "--size", "100x30"]);
    assert_eq!(fs::read_to_string(into.join("report.md")).expect("a report"), report);
}

#[test]
fn no_name_breaks_the_report() {
    let folder = TempDir::new().expect("a folder");
    let bench = "bench: 1\nname: evil\ntitle: \"# a | b ](x) <script>\"\nmodel: nobody:knows\n\
        workspace: { path: ., shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }\n\
        places: { system: { of: system, join: \"\\n\" } }\nlayers:\n  \
        - { id: a, title: \"x | y\\n# z `q` <img>\", in: system, budget: 1, from: { text: \"text\" } }\n\
        runs: { one: [ { user: \"- go | *now*\" }, { say: \"1. done\" } ] }\n";
    fs::write(folder.path().join("bench.yaml"), bench).expect("a bench");
    let report = text(folder.path(), &[]);
    let tables: Vec<&str> = report.lines().filter(|line| line.starts_with('|')).collect();
    assert!(!tables.is_empty());
    for table in report.split("\n\n").filter(|part| part.starts_with('|')) {
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
        assert!(lines.iter().all(|line| bars(line) == bars(lines[0])), "{table}");
    }
    assert_eq!(report.lines().filter(|line| line.starts_with("# ")).count(), 1, "{report}");
    assert!(!report.contains("<script>") && !report.contains("<img>"), "{report}");
    assert!(
        report.contains("- warning: budget: x \\| y # z \\`q\\` &lt;img&gt; has 4 characters"),
        "{report}"
    );
    assert!(report.contains("- tokens: n/a: no tokenizer is known for this model"), "{report}");
}

#[test]
fn what_cannot_be_written_is_told() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let output = report(Path::new("xbot"), &["-o", &file.join("x").to_string_lossy()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be written"));
}
