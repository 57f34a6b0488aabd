//! Pictures of the workbench: the command that takes them, and that they are the same everywhere.

use std::process::{Command, Output};

fn plywood(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plywood"));
    command.args(args).env_remove("NO_COLOR").env("PLYWOOD_THEME", "mono");
    command.output().expect("the program runs")
}

fn shot(args: &[&str]) -> String {
    let output = plywood(&[&["shot"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a picture is UTF-8")
}

#[test]
fn a_picture_is_the_screen_and_the_same_every_time() {
    let first = shot(&["xbot", "--call", "2"]);
    assert_eq!(first, shot(&["xbot", "--call", "2"]));
    assert!(first.starts_with("<svg ") && first.ends_with("</svg>\n"));
    assert!(first.contains("<title>xbot, call 2</title>"));
    for text in ["10_skills", ">Cd api", "环境变化", "message 4 (tool)", "superseded by message 4, not stale"]
    {
        assert!(first.contains(text), "{text}");
    }
    // 120 columns of 9 pixels and 40 rows of 18, with a margin.
    assert!(first.contains("viewBox=\"0 0 1100 740\""));
}

#[test]
fn size_theme_and_keys_are_those_of_the_command_line() {
    let dark = shot(&["xbot", "--size", "80x24"]);
    let light = shot(&["xbot", "--size", "80x24", "--theme", "light"]);
    assert!(dark.contains("viewBox=\"0 0 740 452\"") && light.contains("viewBox=\"0 0 740 452\""));
    assert!(
        dark.contains("rx=\"8\" fill=\"#1") && light.contains("rx=\"8\" fill=\"#f"),
        "the ground of the theme"
    );
    let zoomed = shot(&["xbot", "--size", "80x24", "--keys", "1 z space backspace"]);
    assert!(zoomed.contains("share") && !dark.contains("share"), "pane 1 has the whole screen");
    let typed = shot(&["xbot", "--keys", "c w e b"]);
    assert!(typed.contains("/home/shop/web"), "what was typed is shown");
}

#[test]
fn mistakes_are_told() {
    for (args, want) in [
        (&["shot", "xbot", "--size", "80"][..], "write columns and rows, such as 120x40"),
        (&["shot", "xbot", "--size", "0x9"], "write columns and rows, such as 120x40"),
        (&["shot", "xbot", "--keys", "v nokey"], "error: --keys: `nokey` is no key"),
        (&["shot", "xbot", "--call", "99"], "error: there is no call 99: xbot has 6"),
        (&["shot", "xbot", "--theme", "none.yaml"], "error: --theme: the theme `none.yaml` cannot be read"),
        (&["shot", "xbot", "-o", "no/such/folder.svg"], "error: no/such/folder.svg cannot be written"),
    ] {
        let output = plywood(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(want), "{args:?}: {said}");
    }
}

/// The commands of the README that make its pictures: the file, the arguments.
fn of_readme() -> Vec<(String, Vec<String>)> {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("the README");
    let commands = readme.lines().filter_map(|line| line.strip_prefix("plywood shot "));
    let parts = |line: &str| {
        let (args, file) = line.split_once(" -o docs/pictures/").expect("it names its file");
        // Only keys stand in quotes.
        let quoted: Vec<&str> = args.split('"').collect();
        let mut out: Vec<String> = Vec::new();
        for (at, piece) in quoted.into_iter().enumerate() {
            if at % 2 == 1 {
                out.push(piece.to_owned());
            } else {
                out.extend(piece.split_whitespace().map(str::to_owned));
            }
        }
        (file.to_owned(), out)
    };
    commands.map(parts).collect()
}

#[test]
fn the_pictures_of_the_readme_are_made_by_its_commands() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("the README");
    let commands = of_readme();
    assert!(commands.len() > 3, "{commands:?}");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .expect("the pictures")
        .map(|entry| entry.expect("a picture").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut made: Vec<String> = commands.iter().map(|(file, _)| file.clone()).collect();
    made.sort();
    assert_eq!(files, made, "the pictures against the commands of the README");
    // What a screen shows changes every day; that a picture is one of that screen, in that size, does not.
    let frame = |svg: &str| {
        let between = |from: &str, to: &str| {
            svg.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map(|(x, _)| x.to_owned())
        };
        (between("viewBox=\"", "\""), between("<title>", "</title>"))
    };
    for (file, args) in commands {
        assert!(readme.contains(&format!("](docs/pictures/{file})")), "{file} is not shown");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let kept = std::fs::read_to_string(folder.join(&file)).expect("a picture");
        assert_eq!(frame(&shot(&args)), frame(&kept), "{file}: run the command of the README again");
    }
}
