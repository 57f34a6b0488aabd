//! The terminal is whole again, whatever happens to the program.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::CommandBuilder;

use crate::app;
use crate::harness::Session;

/// What a running program has turned on.
const ALL_MODES: [&str; 7] = ["?25l", "?1000h", "?1002h", "?1004h", "?1006h", "?1049h", "?2004h"];

fn start() -> Session {
    let session = Session::start(app::command(), 80, 24);
    session.wait_for("ready");
    assert_eq!(session.seen().modes_left(), ALL_MODES);
    session
}

fn signal(session: &Session, signal: Signal) {
    kill(Pid::from_raw(session.pid()), signal).expect("the program runs");
}

#[track_caller]
fn assert_whole(session: &Session) {
    let seen = session.seen();
    assert_eq!(seen.modes_left(), Vec::<String>::new());
    assert!(!seen.alternate());
}

#[test]
fn quitting_restores_everything() {
    let mut session = start();
    session.send("q");
    assert_eq!(session.wait_for_exit(), 7);
    assert_whole(&session);
}

#[test]
fn an_end_by_signal_restores_everything() {
    for (number, code) in
        [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130), (Signal::SIGQUIT, 131)]
    {
        let mut session = start();
        signal(&session, number);
        assert_eq!(session.wait_for_exit(), code, "{number}");
        assert_whole(&session);
    }
}

#[test]
fn an_end_by_signal_restores_everything_although_the_loop_hangs() {
    let mut session = start();
    session.send("h");
    signal(&session, Signal::SIGTERM);
    assert_eq!(session.wait_for_exit(), 143);
    assert_whole(&session);
}

#[test]
fn an_end_in_the_middle_of_frames_leaves_no_piece_of_one_behind() {
    for _ in 0..5 {
        let mut session = Session::start(app::command(), 200, 60);
        session.wait_for("ready");
        session.send("d");
        session.wait_for_bytes(100_000);
        signal(&session, Signal::SIGTERM);
        assert_eq!(session.wait_for_exit(), 143);
        assert_whole(&session);
        let seen = session.seen();
        let left =
            seen.log.windows(8).rposition(|window| window == b"\x1b[?1049l").expect("the screen was left");
        assert_eq!(String::from_utf8_lossy(&seen.log[left + 8..]), "", "nothing follows");
    }
}

#[test]
fn a_panic_is_printed_on_the_restored_screen() {
    for (key, message) in [("p", "the drawing thread panics"), ("b", "the background thread panics")] {
        let mut session = start();
        session.send(key);
        assert_eq!(session.wait_for_exit(), 101, "{message}");
        assert_whole(&session);
        let seen = session.seen();
        assert!(seen.text().contains(message), "the user's screen shows it:\n{}", seen.text());
    }
}

#[test]
fn a_terminal_as_small_as_one_cell_is_survived() {
    let mut session = start();
    for (columns, rows) in [(1, 1), (3, 1), (1, 3), (200, 60)] {
        let before = session.seen().log.len();
        session.resize(columns, rows);
        // A frame in a new size starts with an empty screen.
        session.wait_until("a frame in the new size", |seen| {
            seen.log[before..].windows(4).any(|window| window == b"\x1b[2J")
        });
    }
    session.wait_for("size 200x60");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 7);
    assert_whole(&session);
}

#[test]
fn input_arrives_whole() {
    let mut session = start();
    session.send("\x1b[200~two\r\nlines\x1b[201~");
    session.wait_for("pasted \"two\\nlines\"");
    session.send("\x1b[I");
    session.wait_for("focus");
    session.send("\x1b[<0;11;6M");
    session.wait_for("mouse 10,5");
    session.send("w");
    session.wait_for("from a thread");
}

#[test]
fn mouse_capture_can_be_given_up_at_run_time() {
    let mut session = start();
    session.send("m");
    session.wait_until("the mouse to be free", |seen| {
        seen.modes_left() == ["?25l", "?1004h", "?1049h", "?2004h"]
    });
}

#[test]
fn a_borrower_gets_the_terminal_and_every_key() {
    let mut session = start();
    session.send("l");
    session.wait_for("lent: type a line");
    assert_whole(&session);
    session.send("every key\r");
    session.wait_for("the borrower got \"every key\"");
    assert_eq!(session.seen().modes_left(), ALL_MODES);
    session.send("y");
    session.wait_for("key y");
}

#[test]
fn without_a_shell_ctrl_z_says_so() {
    let mut session = start();
    session.send("\x1a");
    session.wait_for("cannot stop");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 7);
}

/// A shell with job control, waiting for a command.
fn shell() -> Session {
    let mut command = CommandBuilder::new("bash");
    command.args(["--norc", "--noprofile", "-i"]);
    command.env("PS1", "prompt> ");
    command.env("TERM", "xterm-256color");
    let session = Session::start(command, 80, 24);
    session.wait_for("prompt>");
    session
}

fn stop_and_go_on(line: &str, stop: impl Fn(&mut Session)) {
    let mut session = shell();
    session.send(&format!("{line}\r"));
    session.wait_for("ready");
    assert!(session.seen().alternate());

    // Other words each time: those of the first time stay on the screen.
    for (sum, key) in [("40 + 2", 'y'), ("40 + 3", 'x')] {
        stop(&mut session);
        // Typed to the shell, and echoed by it in its own modes.
        session.wait_until("the shell's screen", |seen| !seen.alternate() && seen.text().contains("Stopped"));
        session.send(&format!("clear; echo sum $(({sum}))\r"));
        session.wait_for(if key == 'y' { "sum 42" } else { "sum 43" });
        // The line editor of the shell turns bracketed paste on for itself.
        session.wait_until("the shell's modes", |seen| seen.modes_left().iter().all(|mode| mode == "?2004h"));

        session.send("fg\r");
        session.wait_until("the program's screen", |seen| {
            seen.alternate() && seen.text().contains("ready") && seen.modes_left() == ALL_MODES
        });
        session.send(&key.to_string());
        session.wait_for(&format!("key {key}"));
    }
    session.send("q");
    session.wait_until("the shell's screen", |seen| !seen.alternate());
    session.send("echo code $?\r");
    session.wait_for("code 7");
}

#[test]
fn ctrl_z_stops_and_fg_goes_on() {
    stop_and_go_on(&app::command_line(), |session| session.send("\x1a"));
}

#[test]
fn ctrl_z_stops_a_wrapper_too() {
    let line = format!("sh -c \"{}; exit \\$?\"", app::command_line());
    stop_and_go_on(&line, |session| session.send("\x1a"));
}

#[test]
fn a_stop_from_outside_restores_everything_too() {
    stop_and_go_on(&app::command_line(), |session| {
        let text = session.seen().text();
        let pid =
            text.split_once("pid ").and_then(|(_, rest)| rest.split_whitespace().next()).expect("a pid");
        kill(Pid::from_raw(pid.parse().expect("a number")), Signal::SIGTSTP).expect("the program runs");
    });
}

#[test]
fn output_that_is_no_terminal_is_refused() {
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", &format!("{} | cat", app::command_line())]);
    let mut session = Session::start(command, 80, 24);
    session.wait_for_exit();
    let seen = session.seen();
    assert!(seen.text().contains("error: the workbench needs a terminal"), "{}", seen.text());
    assert!(!seen.log.contains(&b'\x1b'), "no escape sequence was written");
}
