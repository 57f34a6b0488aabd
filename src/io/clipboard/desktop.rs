//! The desktop's clipboard, through the program that the desktop has for it. Such a program stays behind with the text, so
//! that it can be pasted also after the workbench was left; a desktop that does not answer keeps nobody waiting.

use std::io::{ErrorKind, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long the desktop may take. A display that is there answers in a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(5);

/// A program and its arguments; it reads the text from its input.
type Program = (&'static str, &'static [&'static str]);

/// The programs that may be there, in the order in which they are tried. `set` tells which variables are set.
fn programs(set: impl Fn(&str) -> bool) -> Vec<Program> {
    if cfg!(target_os = "macos") {
        return vec![("pbcopy", &[])];
    }
    if cfg!(windows) {
        return vec![("clip.exe", &[])];
    }
    let mut programs: Vec<Program> = Vec::new();
    if set("WAYLAND_DISPLAY") {
        programs.push(("wl-copy", &["--type", "text/plain;charset=utf-8"]));
    }
    if set("DISPLAY") {
        programs.push(("xclip", &["-selection", "clipboard", "-in"]));
        programs.push(("xsel", &["--clipboard", "--input"]));
    }
    programs
}

/// Puts text on the clipboard with the first program that is there.
///
/// # Errors
///
/// Why that cannot be done.
pub(super) fn copy(text: &str, set: impl Fn(&str) -> bool) -> Result<(), String> {
    first_of(&programs(set), text)
}

fn first_of(programs: &[Program], text: &str) -> Result<(), String> {
    let mut missing: Vec<&str> = Vec::new();
    for (program, arguments) in programs {
        match start(program, arguments) {
            Ok(child) => return hand_over(child, program, text),
            Err(error) if error.kind() == ErrorKind::NotFound => missing.push(program),
            Err(error) => return Err(format!("{program} cannot be started: {error}")),
        }
    }
    Err(match missing.as_slice() {
        [] => "there is no display".to_owned(),
        [one] => format!("{one} is not installed"),
        [rest @ .., last] => format!("neither {} nor {last} is installed", rest.join(", ")),
    })
}

fn start(program: &str, arguments: &[&str]) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // What ends the workbench must not take the text off the clipboard.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Gives a program its text, and waits until it has taken it: then it ends, or leaves a copy of itself behind.
fn hand_over(mut child: Child, program: &str, text: &str) -> Result<(), String> {
    let bytes = if cfg!(windows) { utf16(text) } else { text.as_bytes().to_vec() };
    let stdin = child.stdin.take();
    // One that does not read is not waited for either.
    let writer = thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&bytes)));
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if begun.elapsed() < PATIENCE => thread::sleep(LOOK),
            Ok(None) => {
                // It may have ended by itself meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} does not answer"));
            }
            Ok(Some(status)) if status.success() => {
                let written = writer.join().unwrap_or(Ok(()));
                return written.map_err(|error| format!("{program} did not take it all: {error}"));
            }
            Ok(Some(_)) => return Err(format!("{program} does not take it")),
            Err(error) => return Err(format!("{program} does not answer: {error}")),
        }
    }
}

/// With a byte order mark, as the program of Windows tells it from the console's own encoding.
fn utf16(text: &str) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(any(windows, target_os = "macos")))]
    #[test]
    fn programs_fit_the_display() {
        let names = |set: &'static [&'static str]| {
            let programs = programs(|name| set.contains(&name));
            programs.into_iter().map(|(program, _)| program).collect::<Vec<_>>()
        };
        assert_eq!(names(&["WAYLAND_DISPLAY", "DISPLAY"]), ["wl-copy", "xclip", "xsel"]);
        assert_eq!(names(&["DISPLAY"]), ["xclip", "xsel"]);
        assert_eq!(names(&[]), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn the_first_program_that_is_there_gets_the_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("copied");
        let script: &'static str = Box::leak(format!("cat > '{}'", file.display()).into_boxed_str());
        let arguments: &'static [&'static str] = Box::leak(vec!["-c", script].into_boxed_slice());
        let text = "目录 and more\n".repeat(20_000);
        assert_eq!(first_of(&[("no-such-program-1", &[]), ("/bin/sh", arguments)], &text), Ok(()));
        assert_eq!(std::fs::read_to_string(file).expect("a file"), text);
    }

    #[cfg(unix)]
    #[test]
    fn what_does_not_work_is_told() {
        for (programs, why) in [
            (&[][..], "there is no display"),
            (&[("no-such-program-1", &[][..])], "no-such-program-1 is not installed"),
            (
                &[("no-such-1", &[]), ("no-such-2", &[]), ("no-such-3", &[])],
                "neither no-such-1, no-such-2 nor no-such-3 is installed",
            ),
            (&[("/bin/sh", &["-c", "exit 3"])], "/bin/sh does not take it"),
            (&[("/bin/sleep", &["600"])], "/bin/sleep does not answer"),
        ] {
            assert_eq!(first_of(programs, "text"), Err(why.to_owned()));
        }
    }

    #[test]
    fn windows_is_told_the_encoding() {
        assert_eq!(utf16("a你"), [0xff, 0xfe, 0x61, 0, 0x60, 0x4f]);
    }
}
