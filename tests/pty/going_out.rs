//! Copying and pictures in a terminal: the bytes that reach it, the file that is written.

use std::fs;

use portable_pty::CommandBuilder;

use crate::harness::Session;

/// The workbench over SSH, on a sample, in an empty folder.
fn remote(folder: &tempfile::TempDir, preference: Option<&str>) -> Session {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_plywood"));
    command.arg("xbot");
    command.cwd(folder.path());
    command.env("HOME", folder.path());
    command.env("TERM", "xterm-256color");
    command.env("SSH_TTY", "/dev/pts/9");
    // A display of the remote machine, which nobody sits at.
    command.env("DISPLAY", ":987");
    match preference {
        Some(word) => command.env("PLYWOOD_CLIPBOARD", word),
        None => command.env_remove("PLYWOOD_CLIPBOARD"),
    }
    for name in ["TMUX", "NO_COLOR", "WAYLAND_DISPLAY"] {
        command.env_remove(name);
    }
    let session = Session::start(command, 120, 40);
    session.wait_for("CALL 1");
    session
}

/// What the last OSC 52 put on the clipboard.
fn copied(log: &[u8]) -> Option<String> {
    const START: &[u8] = b"\x1b]52;c;";
    let from = log.windows(START.len()).rposition(|window| window == START)? + START.len();
    let end = log[from..].iter().position(|&byte| byte == 7)?;
    let digit = |byte: &u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in log[from..from + end].chunks(4) {
        let digits: Vec<u8> = group.iter().filter(|byte| **byte != b'=').map(digit).collect();
        let bits =
            digits.iter().enumerate().fold(0u32, |bits, (at, d)| bits | u32::from(*d) << (18 - 6 * at));
        bytes.extend(&bits.to_be_bytes()[1..digits.len()]);
    }
    String::from_utf8(bytes).ok()
}

#[test]
fn over_ssh_copies_go_through_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = remote(&folder, None);
    session.send("yy");
    session.wait_for("copied the blame line");
    session.wait_for("bytes, via OSC 52");
    let line = copied(&session.seen().log).expect("a sequence that is whole");
    assert!(line.starts_with("ahead: ") || line.starts_with("call 1 "), "{line}");

    // The text of the first layer that is one: the tools stand above it.
    session.send("1jyy");
    session.wait_for("copied the text of 00_base");
    let text = copied(&session.seen().log).expect("a sequence that is whole");
    assert!(text.contains("/home/shop") && text.lines().count() > 100, "{text}");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
}

#[test]
fn a_way_that_does_not_work_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = remote(&folder, Some("desktop"));
    session.send("yy");
    session.wait_for("was not copied: the desktop's clipboard");
    assert_eq!(copied(&session.seen().log), None);
}

#[test]
fn a_picture_is_saved_beside_the_ones_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = remote(&folder, None);
    session.send("S");
    session.wait_for("saved plywood-xbot-call1.svg");
    session.send("S");
    session.wait_for("saved plywood-xbot-call1-2.svg");
    let [first, second] = ["plywood-xbot-call1.svg", "plywood-xbot-call1-2.svg"]
        .map(|name| fs::read_to_string(folder.path().join(name)).expect("a picture"));
    for word in ["sample, scratch copy", "10_skills", "CALL 1"] {
        assert!(first.contains(word), "{word}");
    }
    assert!(first.starts_with("<svg ") && second.ends_with("</svg>\n"));
}
