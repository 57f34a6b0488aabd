//! Settings and themes in a terminal: read again while the workbench runs, and kept while they are broken.

use std::fs;

use portable_pty::CommandBuilder;

use crate::harness::{Seen, Session};
use crate::place::{PROGRAM, Place};

const WHITE: vt100::Color = vt100::Color::Rgb(255, 255, 255);
const NIGHT: vt100::Color = vt100::Color::Rgb(0x1a, 0x1b, 0x26);

/// The settings file of a place.
fn settings(place: &Place, text: &str) {
    let folder = place.path("home/.config/plywood");
    fs::create_dir_all(&folder).expect("a folder");
    // As many editors save: another file, then a rename over it.
    fs::write(folder.join("new"), text).expect("a file");
    fs::rename(folder.join("new"), folder.join("config.yaml")).expect("a rename");
}

fn theme(place: &Place, name: &str, text: &str) {
    let folder = place.path("home/.config/plywood/themes");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(format!("{name}.yaml")), text).expect("a file");
}

fn command(place: &Place, variables: &[(&str, &str)]) -> CommandBuilder {
    let mut command = place.prepared(PROGRAM);
    command.args(["project"]);
    command.env("COLORTERM", "truecolor");
    for (name, value) in variables {
        command.env(name, value);
    }
    command
}

fn open(place: &Place) -> Session {
    start(command(place, &[]))
}

fn start(command: CommandBuilder) -> Session {
    let session = Session::start(command, 120, 40);
    session.wait_for("1 Layers");
    session
}

/// The background of a cell at the right edge, where nothing but the screen's own colour is.
fn ground(seen: &Seen) -> vt100::Color {
    seen.cell_colours(38, 119).1
}

#[track_caller]
fn wait_for_ground(session: &Session, color: vt100::Color) {
    session.wait_until(&format!("a background of {color:?}"), |seen| ground(seen) == color);
}

#[test]
fn settings_are_read_again_as_soon_as_they_are_saved() {
    let place = Place::new();
    let mut session = open(&place);
    assert_eq!(ground(&session.seen()), vt100::Color::Default);

    // The folder does not even exist yet.
    settings(&place, "theme: light\n");
    session.send("\x0c");
    wait_for_ground(&session, WHITE);

    settings(&place, "theme: mine\nkeys: { send: f5, quit: [] }\n");
    session.wait_for("there is no theme `mine`");
    assert_eq!(ground(&session.seen()), WHITE, "the last good theme stays");
    theme(&place, "mine", "inherits: dark\n");
    wait_for_ground(&session, NIGHT);
    session.wait_until("no banner", |seen| !seen.text().contains("there is no theme"));

    theme(&place, "mine", "inherits: dark\npalette: { ground: \"#102030\" }\n");
    wait_for_ground(&session, vt100::Color::Rgb(16, 32, 48));

    settings(&place, "thme: light\n");
    session.wait_for(
        "unknown key `thme` in the settings, ~/.config/plywood/config.yaml:1:1; did you mean `theme`?",
    );
    assert_eq!(ground(&session.seen()), vt100::Color::Rgb(16, 32, 48));
    // The keys are those from before, too: q does nothing, and two Ctrl-C are a way out in any case.
    session.send("q?");
    session.wait_for("type to search");
    session.send("\x03\x03");
    assert_eq!(session.wait_for_exit(), 0);
    assert_eq!(session.seen().modes_left(), Vec::<String>::new());
}

#[test]
fn a_broken_file_at_the_start_leaves_a_banner_and_the_defaults() {
    let place = Place::new();
    settings(&place, "mouse: false\nkeys: { send: hyper-x }\n");
    let mut session = open(&place);
    session.wait_for("`hyper-x` is no key, ~/.config/plywood/config.yaml:2:15");
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);

    settings(&place, "theme: [\n");
    let mut session = open(&place);
    session.wait_for("Not taken: the `[` here is not closed");
    assert!(session.seen().modes_left().contains(&"?1000h".to_owned()), "the mouse is on by default");
    settings(&place, "theme: light\n");
    wait_for_ground(&session, WHITE);
    session.wait_until("no banner", |seen| !seen.text().contains("Not taken"));
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
}

#[test]
fn the_mouse_is_free_where_the_settings_say_so() {
    let place = Place::new();
    settings(&place, "mouse: false\n");
    let mut session = open(&place);
    let free = |seen: &Seen| seen.modes_left() == ["?25l", "?1004h", "?1049h", "?2004h"];
    session.wait_until("a terminal with a free mouse", free);
    session.send("M");
    session.wait_until("the mouse", |seen| seen.modes_left().contains(&"?1000h".to_owned()));
    settings(&place, "mouse: false\ntheme: light\nshow_keys: true\n");
    wait_for_ground(&session, WHITE);
    session.press_until("j", "the key in the corner", |seen| seen.text().trim_end().ends_with(" j"));
    assert!(session.seen().modes_left().contains(&"?1000h".to_owned()), "the mouse was not set anew");
}

#[test]
fn a_theme_is_looked_at_before_it_is_taken() {
    let place = Place::new();
    let mut session = open(&place);
    session.send("t");
    session.wait_for("takes the old one back");
    // ansi, mono, dark, light.
    session.send("jj");
    wait_for_ground(&session, NIGHT);
    session.send("j");
    wait_for_ground(&session, WHITE);
    session.send("\x1b");
    wait_for_ground(&session, vt100::Color::Default);
    session.send("tjjj\r");
    wait_for_ground(&session, WHITE);
    session.wait_for("theme light until you leave");
    // Settings that say nothing of the theme leave it as it is.
    settings(&place, "show_keys: true\n");
    session.press_until("\x0cj", "the key in the corner", |seen| seen.text().trim_end().ends_with(" j"));
    assert_eq!(ground(&session.seen()), WHITE);
    settings(&place, "theme: dark\n");
    wait_for_ground(&session, NIGHT);
}

/// The answers of a terminal to the questions for its colours and its kind.
fn answer(background: &str) -> String {
    format!("\x1b]10;rgb:8080/8080/8080\x1b\\\x1b]11;rgb:{background}\x1b\\\x1b[?62;c")
}

#[test]
fn the_terminal_is_asked_for_its_background_once_and_only_where_it_matters() {
    let asked = |seen: &Seen| {
        seen.log.windows(7).filter(|window| window == b"\x1b]11;?\x1b" || window == b"\x1b]11;?\x07").count()
    };
    let asked_on = |session: &Session| {
        let seen = session.seen();
        (asked(&seen), ground(&seen))
    };
    let place = Place::new();
    let session = open(&place);
    assert_eq!(asked(&session.seen()), 0, "the default fits every background");
    drop(session);

    settings(&place, "theme: { light: light, dark: dark, fallback: mono }\n");
    for (background, color) in [("ffff/ffff/ffff", WHITE), ("0000/0000/0000", NIGHT)] {
        // The answer is there before it is asked for, so that no clock decides.
        let mut session = Session::start(command(&place, &[]), 120, 40);
        session.send(&answer(background));
        wait_for_ground(&session, color);
        assert_eq!(asked(&session.seen()), 1);
    }
    let session = start(command(&place, &[("TMUX", "x"), ("SSH_TTY", "y")]));
    assert_eq!(asked_on(&session), (0, vt100::Color::Default));
    let session = start(command(&place, &[("PLYWOOD_THEME", "light")]));
    wait_for_ground(&session, WHITE);
    assert_eq!(asked(&session.seen()), 0);
}

#[test]
fn an_answer_that_comes_late_is_no_typed_text() {
    let place = Place::new();
    settings(&place, "theme: auto\n");
    let mut session = open(&place);
    assert_eq!(ground(&session.seen()), vt100::Color::Default, "the fallback");
    // Read as keys it would focus panes, search, and open the palette.
    session.send(&answer("ffff/ffff/ffff"));
    session.send("?");
    session.wait_for("type to search");
    session.send("\x1b");
    session.wait_until("the screen", |seen| !seen.text().contains("type to search"));
    assert!(!session.seen().text().contains("Find an action"));
    session.send("q");
    assert_eq!(session.wait_for_exit(), 0);
}

#[test]
fn a_terminal_gets_no_more_colours_than_it_has() {
    let place = Place::new();
    let text = |variables: &[(&str, &str)]| {
        let mut command = command(&place, variables);
        command.args(["--theme", "dark"]);
        let session = start(command);
        String::from_utf8_lossy(&session.seen().log).into_owned()
    };
    let all = text(&[]);
    assert!(all.contains("48;2;26;27;38"), "all of them");
    let palette = text(&[("COLORTERM", "")]);
    assert!(!palette.contains("8;2;") && palette.contains("48;5;2"), "the palette");
    let sixteen = text(&[("COLORTERM", ""), ("TERM", "xterm")]);
    let numbers =
        sixteen.split("8;5;").skip(1).filter_map(|rest| rest.split(['m', ';']).next()?.parse::<u8>().ok());
    assert!(
        !sixteen.contains("8;2;") && numbers.clone().count() > 0 && numbers.clone().all(|number| number < 16)
    );
    // What the settings say goes before what the terminal says.
    let wanted = text(&[("PLYWOOD_COLOR", "256")]);
    assert!(!wanted.contains("8;2;") && wanted.contains("48;5;2"));
}

#[test]
fn how_files_are_watched_is_set_and_told() {
    let place = Place::new();
    let session = start(command(&place, &[("PLYWOOD_WATCH", "poll")]));
    session.wait_for("looking every 2 s");
    drop(session);
    settings(&place, "watch: off\n");
    let session = open(&place);
    session.wait_for("not watching");
    // What is not watched is read when it is asked for.
    fs::write(place.path("project/AGENTS.md"), "# Rules, and more\n").expect("a file");
    settings(&place, "watch: off\ntheme: light\n");
    let mut session = session;
    session.send("\x0c");
    wait_for_ground(&session, WHITE);
    session.wait_for("# Rules, and more");
}
