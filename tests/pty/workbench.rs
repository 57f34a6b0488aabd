//! The workbench in a terminal: opening, living, and leaving no trace.

use std::fs;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness::{Seen, Session};
use crate::place::{PROGRAM, Place};

/// The row of a layer and how many characters it has.
fn characters(seen: &Seen, layer: &str) -> Option<u64> {
    let text = seen.text();
    // The pane at the left edge.
    let mut rows = text.lines().filter_map(|line| line.strip_prefix('│')?.split('│').next());
    let (_, rest) = rows.find_map(|row| row.split_once(layer))?;
    rest.split_whitespace().next()?.replace(',', "").parse().ok()
}

#[track_caller]
fn wait_for_characters(session: &Session, layer: &str, count: u64) {
    session.wait_until(&format!("{layer} with {count} characters"), |seen| {
        characters(seen, layer) == Some(count)
    });
}

#[test]
fn a_sample_opens_and_leaves_nothing_behind() {
    let place = Place::new();
    for end in ["q", "SIGTERM"] {
        let mut session = place.open("xbot");
        session.wait_for("sample, scratch copy");
        session.wait_until("layers with sizes", |seen| characters(seen, "10_skills").is_some());
        assert_eq!(place.left().len(), 1, "the scratch copy is there");
        if end == "q" {
            session.send("q");
            assert_eq!(session.wait_for_exit(), 0);
        } else {
            kill(Pid::from_raw(session.pid()), Signal::SIGTERM).expect("the program runs");
            assert_eq!(session.wait_for_exit(), 143);
        }
        assert_eq!(session.seen().modes_left(), Vec::<String>::new(), "{end}");
        assert_eq!(place.left(), Vec::<String>::new(), "{end}");
    }
}

#[test]
fn what_is_typed_before_the_first_frame_reaches_the_program() {
    let place = Place::new();
    // The menu of views, five rows down, Enter: the run order against the byte order.
    let mut session = place.open("xbot");
    session.send("vjjjj\r");
    session.wait_for("run  layer");
}

#[test]
fn what_is_typed_while_the_terminal_is_asked_reaches_the_program() {
    let place = Place::new();
    let mut command = place.prepared(PROGRAM);
    command.args(["xbot", "--theme", "auto"]);
    command.env("COLORTERM", "truecolor");
    let mut session = Session::start(command, 120, 40);
    // Keys before, between and behind the answers to the questions for the colours.
    session.send("v\x1b]10;rgb:0000/0000/0000\x1b\\jj\x1b]11;rgb:ffff/ffff/ffff\x1b\\jj\r");
    session.wait_for("run  layer");
    let white = vt100::Color::Rgb(255, 255, 255);
    session.wait_until("the light theme", |seen| seen.cell_colours(20, 60).1 == white);
}

/// How often the threads of a process have been woken up so far.
#[cfg(target_os = "linux")]
fn wakeups(pid: i32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the program runs");
    let of_task = |task: fs::DirEntry| -> u64 {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    };
    tasks.filter_map(Result::ok).map(of_task).sum()
}

/// Anything that ticks, a spinner or a poll, would wake it again and again.
#[cfg(target_os = "linux")]
#[test]
fn nothing_wakes_it_while_nothing_happens() {
    let place = Place::new();
    let session = place.open("project");
    session.wait_for("Agent");
    let mut last = (std::time::Instant::now(), wakeups(session.pid()));
    place.wait_until("two seconds in which no thread wakes up", || {
        let now = wakeups(session.pid());
        if now != last.1 {
            last = (std::time::Instant::now(), now);
        }
        last.0.elapsed() > std::time::Duration::from_secs(2)
    });
}

#[test]
fn a_file_saved_elsewhere_is_on_the_screen() {
    let place = Place::new();
    let session = place.open("project");
    let file = place.path("project/AGENTS.md");
    wait_for_characters(&session, "AGENTS.md", 8);

    fs::write(&file, "# Rules\nmore\n").expect("a file");
    wait_for_characters(&session, "AGENTS.md", 13);

    for count in [20, 21] {
        let new = place.path("project/new");
        fs::write(&new, "x".repeat(count)).expect("a file");
        fs::rename(new, &file).expect("a rename");
        wait_for_characters(&session, "AGENTS.md", count as u64);
    }

    fs::remove_file(&file).expect("a file");
    session.wait_until("no AGENTS.md", |seen| {
        seen.text().contains("1 Layers") && characters(seen, "AGENTS.md").unwrap_or(0) == 0
    });
    fs::write(&file, "again").expect("a file");
    wait_for_characters(&session, "AGENTS.md", 5);

    fs::remove_file(&file).expect("a file");
    let target = place.path("target.md");
    fs::write(&target, "behind a link").expect("a file");
    std::os::unix::fs::symlink(&target, &file).expect("a link");
    wait_for_characters(&session, "AGENTS.md", 13);
    fs::write(&target, "behind a link, and longer").expect("a file");
    wait_for_characters(&session, "AGENTS.md", 25);
}

#[test]
fn a_sample_lives_in_its_scratch_copy() {
    let place = Place::new();
    let session = place.open("xbot");
    session.wait_until("layers with sizes", |seen| characters(seen, "00_base").is_some());
    let before = characters(&session.seen(), "00_base").expect("a size");
    let [copy] = place.left().try_into().expect("one scratch copy");
    let prompt = Path::new("tmp").join(copy).join("prompt.md");
    let prompt = place.0.path().join(prompt);
    let text = fs::read_to_string(&prompt).expect("the sample's prompt");
    fs::write(&prompt, text + "0123456789").expect("a file");
    session.wait_until("the new size", |seen| {
        // Whether the line end before the addition counts is not this test's matter.
        characters(seen, "00_base").is_some_and(|count| (before + 10..=before + 11).contains(&count))
    });
}

#[test]
fn any_size_is_survived() {
    let place = Place::new();
    let mut session = place.open("xbot");
    session.wait_until("layers with sizes", |seen| characters(seen, "10_skills").is_some());
    for (columns, rows) in [(1, 1), (2, 40), (120, 1), (20, 5), (80, 24), (300, 100), (1, 1), (120, 40)] {
        let before = session.seen().log.len();
        session.resize(columns, rows);
        session.wait_until("a frame in the new size", |seen| {
            seen.log[before..].windows(4).any(|window| window == b"\x1b[2J")
        });
    }
    session.wait_until("layers with sizes", |seen| characters(seen, "10_skills").is_some());
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
}

#[test]
fn a_stop_and_fg_bring_the_same_screen_back() {
    let place = Place::new();
    let mut command = place.prepared("bash");
    command.args(["--norc", "--noprofile", "-i"]);
    command.env("PS1", "prompt> ");
    let mut session = Session::start(command, 120, 40);
    session.wait_for("prompt>");
    session.send(&format!("'{PROGRAM}' xbot\r"));
    session.wait_until("layers with sizes", |seen| characters(seen, "10_skills").is_some());
    session.send("\x1a");
    session.wait_until("the shell", |seen| !seen.alternate() && seen.text().contains("Stopped"));
    session.send("fg\r");
    session
        .wait_until("layers with sizes", |seen| seen.alternate() && characters(seen, "10_skills").is_some());
    session.send("q");
    session.wait_until("the shell", |seen| !seen.alternate());
    session.send("echo code $?\r");
    session.wait_for("code 0");
}

#[test]
fn without_a_terminal_the_workbench_says_what_to_do_instead() {
    let place = Place::new();
    let mut command = place.prepared("sh");
    command.args(["-c", &format!("'{PROGRAM}' project > out; echo code $?")]);
    let mut session = Session::start(command, 120, 40);
    session.wait_for_exit();
    let text = session.seen().text();
    assert!(text.contains("error: the workbench needs a terminal"), "{text}");
    assert!(text.contains("plywood layers PATH"), "{text}");
    assert!(text.contains("code 2"), "{text}");
    assert_eq!(fs::read(place.path("out")).expect("the output"), b"");
}

#[test]
fn without_colour_the_selection_is_still_seen() {
    let place = Place::new();
    let mut command = place.prepared(PROGRAM);
    command.args(["xbot"]);
    command.env("NO_COLOR", "1");
    let session = Session::start(command, 120, 40);
    session.wait_until("layers with sizes", |seen| characters(seen, "10_skills").is_some());
    let seen = session.seen();
    let cells: Vec<_> = (0..40).flat_map(|row| (0..120).map(move |column| (row, column))).collect();
    let colours = |(row, column): &(u16, u16)| seen.cell_colours(*row, *column);
    let coloured: Vec<_> =
        cells.iter().filter(|at| colours(at) != (vt100::Color::Default, vt100::Color::Default)).collect();
    assert_eq!(coloured, Vec::<&(u16, u16)>::new(), "no cell has a colour");
    assert!(
        cells.iter().any(|(row, column)| seen.is_marked(*row, *column)),
        "reverse or bold marks something"
    );
}

#[test]
fn the_own_editor_has_the_terminal_to_itself() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    // An editor that reads a line and appends it: it gets what is typed only if nobody else reads.
    let editor = place.path("my editor");
    fs::write(&editor, "#!/bin/sh\nprintf 'at %s of %s\\n' \"$1\" \"${2##*/}\"\nread -r line\nprintf '%s\\n' \"$line\" >> \"$2\"\n")
        .expect("a script");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).expect("permissions");
    let mut command = place.prepared(PROGRAM);
    command.args(["project"]);
    command.env("VISUAL", format!("'{}'", editor.display()));
    let mut session = Session::start(command, 120, 40);
    wait_for_characters(&session, "AGENTS.md", 8);

    // From the screen, at the layer's file.
    session.send("1gE");
    session.wait_for("at +1 of AGENTS.md");
    assert!(!session.seen().alternate(), "the editor has the screen");
    assert_eq!(session.seen().modes_left(), Vec::<String>::new(), "and a terminal as it was");
    session.send("q by hand\r");
    session.wait_until("the screen again", Seen::alternate);
    wait_for_characters(&session, "AGENTS.md", 18);
    place.wait_for_file("project/AGENTS.md", "# Rules\nq by hand\n");

    // From the editor inside, which saves first and reads again afterwards.
    session.send("e\x1b[Bx\x05");
    session.wait_for("at +2 of AGENTS.md");
    session.send("more\r");
    session.wait_until("the screen again", |seen| {
        let text = seen.text();
        // A line of the file, not the `more` of the footer.
        seen.alternate() && text.lines().any(|line| line.contains(" more ") && !line.contains('?'))
    });
    place.wait_for_file("project/AGENTS.md", "# Rules\nxq by hand\nmore\n");

    // Typing goes to the program again, a paste is text, and Ctrl-S is no flow control.
    session.send("\x1b[200~pasted q\x1b[201~\x13");
    place.wait_for_file("project/AGENTS.md", "# Rules\nxpasted qq by hand\nmore\n");
    // The file is written before the screen is told; until then leaving would ask. What was pasted must be there too:
    // before it was, nothing was modified either.
    session.wait_until("the title says that all is saved", |seen| {
        seen.text().contains("xpasted qq") && !seen.text().contains("modified")
    });
    session.send("\x1b");
    session.wait_for("1 Layers");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
    assert_eq!(session.seen().modes_left(), Vec::<String>::new());
}

#[test]
fn what_was_typed_and_not_saved_outlives_a_kill() {
    let place = Place::new();
    let file = place.path("project/AGENTS.md");
    let drafts = place.path("home/.local/state/plywood/drafts");
    // What is being written has another ending until it is whole.
    let whole = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|ending| ending == "json");
    let kept = || fs::read_dir(&drafts).map_or(0, |entries| entries.flatten().filter(whole).count());
    let mut session = place.open("project");
    wait_for_characters(&session, "AGENTS.md", 8);
    session.send("1gemine ");
    session.wait_for("verdict of this draft");
    // It is kept a moment after it was typed.
    place.wait_until("a draft that is kept", || kept() == 1);
    kill(Pid::from_raw(session.pid()), Signal::SIGKILL).expect("the program runs");
    session.wait_for_exit();

    // Another end: at once, with what was typed last.
    let mut session = place.open("project");
    wait_for_characters(&session, "AGENTS.md", 8);
    session.send("1ge");
    session.wait_for("Not saved the last time");
    session.send("\r");
    session.wait_for("1 mine # Rules");
    session.send("\x1b[Fand more");
    session.wait_for("mine # Rulesand more");
    kill(Pid::from_raw(session.pid()), Signal::SIGTERM).expect("the program runs");
    assert_eq!(session.wait_for_exit(), 143);
    assert_eq!(session.seen().modes_left(), Vec::<String>::new());
    assert_eq!(fs::read_to_string(&file).expect("a file"), "# Rules\n");

    let mut session = place.open("project");
    wait_for_characters(&session, "AGENTS.md", 8);
    session.send("1ge");
    session.wait_for("Not saved the last time");
    session.send("\r");
    session.wait_for("mine # Rulesand more");
    session.send("\x13");
    place.wait_for_file("project/AGENTS.md", "mine # Rulesand more\n");
    session.wait_for("AGENTS.md saved");
    place.wait_until("no draft any more", || kept() == 0);
    assert_eq!(
        fs::read_dir(place.path("project")).expect("a folder").count(),
        1,
        "nothing lies beside the file"
    );
    session.send("\x1b");
    session.wait_until("the panes", |seen| seen.text().contains("2 Calls"));
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
}

#[test]
fn an_editor_that_cannot_be_started_is_a_message() {
    let place = Place::new();
    let mut command = place.prepared(PROGRAM);
    command.args(["project"]);
    command.env_remove("VISUAL");
    command.env("EDITOR", "no-such-editor --flag");
    let mut session = Session::start(command, 120, 40);
    wait_for_characters(&session, "AGENTS.md", 8);
    session.send("1gE");
    session.wait_for("no-such-editor (EDITOR) cannot be started: no such file or directory");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
}
