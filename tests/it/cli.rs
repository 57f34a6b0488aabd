//! The commands, as a shell sees them: exact output and exit status.

use std::path::Path;
use std::process::{Command, Stdio};

/// The program, with an environment that says nothing about this machine.
pub(crate) fn plywood() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plywood"));
    command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TMPDIR", std::env::temp_dir())
        .stdin(Stdio::null());
    command
}

/// What a run of the program came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit status.
    pub(crate) status: i32,
    /// The data.
    pub(crate) stdout: String,
    /// The messages.
    pub(crate) stderr: String,
}

/// Runs the program with these arguments.
pub(crate) fn run(args: &[&str]) -> Ran {
    let output = plywood().args(args).output().expect("the program starts");
    Ran {
        status: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("data is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

#[test]
fn samples_are_listed() {
    let ran = run(&["samples"]);
    // The number of files changes with the samples; how they are listed does not.
    let mut expected = "sample       files  what it shows\n".to_owned();
    for sample in plywood::io::samples::samples() {
        expected += &format!("{:<11}  {:>5}  {}\n", sample.name, sample.files.len(), sample.about);
    }
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, expected.as_str(), ""));
    assert!(ran.stdout.contains("\nxbot            42  a chat agent of eight middlewares"), "{}", ran.stdout);
    let json: serde_json::Value = serde_json::from_str(&run(&["samples", "--json"]).stdout).expect("JSON");
    assert_eq!(json["schema"], "plywood.samples/1");
    assert_eq!(json["samples"][0]["name"], "xbot");
}

#[test]
fn the_schema_is_json_with_its_dialect() {
    let ran = run(&["schema"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let schema: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["$defs"]["layer"]["required"], serde_json::json!(["id", "in", "from"]));
}

#[test]
fn wrong_usage_is_told_on_stderr_with_status_2() {
    for (args, says) in [
        (&["layers"][..], "<PATH>"),
        (&["build", "samples/xbot", "--call", "0"], "0 is not in 1.."),
        (
            &["build", "samples/xbot", "--format", "xml"],
            "[possible values: text, json, anthropic, openai-chat, openai-responses, gemini]",
        ),
        (&["run", "samples/xbot", "--frobnicate"], "unexpected argument '--frobnicate'"),
        (&["completions", "tcsh"], "[possible values: bash, elvish, fish, powershell, zsh]"),
    ] {
        let ran = run(args);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

/// Every command that needs no screen.
const COMMANDS: [&str; 16] = [
    "layers",
    "build",
    "run",
    "init",
    "check",
    "serve",
    "client",
    "schema",
    "samples",
    "keys",
    "themes",
    "models",
    "config",
    "completions",
    "man",
    "doctor",
];

#[test]
fn help_and_version_are_data() {
    let ran = run(&["--version"]);
    assert_eq!(
        (ran.status, ran.stdout, ran.stderr),
        (0, format!("plywood {}\n", env!("CARGO_PKG_VERSION")), String::new())
    );
    let ran = run(&["--help"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    for command in COMMANDS {
        assert!(ran.stdout.lines().any(|line| line.trim_start().starts_with(command)), "{command}");
    }
}

#[test]
fn nothing_is_coloured_when_piped() {
    for args in [
        &["--help"][..],
        &["samples"],
        &["layers"],
        &["man"],
        &["doctor"],
        &["themes"],
        &["themes", "dark", "--sample"],
        &["models"],
        &["layers", "nowhere"],
    ] {
        let ran = run(args);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn every_shell_gets_a_completion_script() {
    for (shell, says) in [
        ("bash", "complete -F _plywood"),
        ("elvish", "edit:completion"),
        ("fish", "complete -c plywood"),
        ("powershell", "Register-ArgumentCompleter"),
        ("zsh", "#compdef plywood"),
    ] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{shell}");
        assert!(ran.stdout.contains(says), "{shell}");
    }
}

#[test]
fn every_flag_is_completed_and_described() {
    use clap::CommandFactory;
    let texts: Vec<(&str, String)> = ["bash", "fish", "zsh"]
        .into_iter()
        .map(|shell| (shell, run(&["completions", shell]).stdout))
        .chain([("man", run(&["man"]).stdout.replace("\\-", "-"))])
        .collect();
    let tree = plywood::cli::args::Cli::command();
    let flags = |command: &clap::Command| -> Vec<String> {
        command.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned).collect()
    };
    let mut count = 0;
    for command in std::iter::once(&tree).chain(tree.get_subcommands()) {
        for flag in flags(command) {
            count += 1;
            for (what, text) in &texts {
                let written = if *what == "fish" { format!("-l {flag}") } else { format!("--{flag}") };
                assert!(text.contains(&written), "{what} does not know --{flag} of {}", command.get_name());
            }
        }
    }
    assert!(count > 30, "{count}");
}

/// A command that waits for its input ends as every program does.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_command_as_shells_expect_it() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::os::unix::process::ExitStatusExt;

    // Whoever starts the tests with SIGINT ignored, as a script's job in the background is, has it so for its children.
    let ignored = |line: &str| {
        let mask = line.strip_prefix("SigIgn:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 0b10 != 0)
    };
    if std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.lines().any(ignored)) {
        return;
    }
    // A pipe that stays open: the request never comes.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut child = plywood()
        .args(["check", "samples/xbot", "--against", "-"])
        .stdin(reader)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    kill(Pid::from_raw(i32::try_from(child.id()).expect("a process id")), Signal::SIGINT).expect("it runs");
    let status = child.wait().expect("it ends");
    drop(writer);
    // Shells say 130 for it, 128 and the number of the signal.
    assert!(status.signal() == Some(2) || status.code() == Some(130), "{status}");
}

#[test]
fn the_manual_page_describes_every_command() {
    let ran = run(&["man"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains(".TH plywood 1"));
    for command in COMMANDS {
        assert!(ran.stdout.contains(&format!(".SS plywood {command}")), "{command}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for args in
        [&["completions", "zsh"][..], &["samples"], &["models"], &["config", "--default"], &["--help"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output =
            plywood().args(args).stdout(writer).stderr(Stdio::piped()).output().expect("the program starts");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), told.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn doctor_says_where_each_value_comes_from() {
    let output = plywood()
        .args(["doctor", "--json"])
        .env("NO_COLOR", "1")
        .env("LANG", "de_DE")
        .output()
        .expect("it starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], "plywood.doctor/1");
    let check = |name: &str| {
        json["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap().clone()
    };
    let row = |name: &str, value: &str, origin: &str| serde_json::json!({ "name": name, "value": value, "origin": origin });
    assert_eq!(check("color"), row("color", "never", "NO_COLOR"));
    assert_eq!(check("theme"), row("theme", "ansi", "default"));
    assert_eq!(check("theme in use"), row("theme in use", "mono", "there are no colours"));
    assert_eq!(check("locale")["problem"], "not UTF-8: Chinese may not show");
    assert_eq!(output.status.code(), Some(1), "a problem was found");
}
