//! The example of the README, as it is written there.

use super::*;

/// A text in which every number, and every moment, is the same.
fn leveled(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let line = line.split_once(", since ").map_or(line, |(line, _)| line);
        let mut digits = false;
        for c in line.chars() {
            let digit = c.is_ascii_digit() || digits && c == ',';
            if !digit {
                out.push(c);
            } else if !digits {
                out.push('N');
            }
            digits = digit;
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_example_of_the_readme_works_from_start_to_end() {
    let readme = include_str!("../../../README.md");
    let section = readme.split("\n## The overlay on real files\n").nth(1).expect("there is such a section");
    let example =
        section.split("```console\n").nth(1).and_then(|rest| rest.split("```").next()).expect("one");
    // One shell runs all of it: the session is that shell's.
    let script: String = example
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .map(|command| format!("cat <<'SAID'\n$ {command}\nSAID\n{command}\n"))
        .collect();
    let project = Project::new();
    fs::remove_file(project.path("AGENTS.md")).expect("the example makes its own");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_plywood"));
    let folders = std::env::var("PATH").expect("a path");
    let output = Command::new("sh")
        .args(["-e", "-c", &script])
        .current_dir(project.0.path())
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("PATH", format!("{}:{folders}", program.parent().expect("a folder").display()))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(leveled(&said), leveled(example), "{said}");
}
