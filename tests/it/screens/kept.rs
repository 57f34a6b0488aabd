//! Text that was typed and not saved outlives the program, and is offered when its file is opened again.

use std::fs;
use std::path::Path;

use plywood::app::engine::Disk;
use plywood::app::state::OverlayKind;
use plywood::io::edit::Kept;
use tempfile::TempDir;

use super::day::{Day, has, machine};

const BENCH: &str = "bench: 1\nname: kept\nmodel: openai:gpt-5.4\nworkspace: { path: ., shown_as: /w }\n\
    places: { system: { of: system } }\nlayers:\n  - { id: base, in: system, from: { template: base.md } }\n";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("work")).expect("a folder");
    fs::write(folder.path().join("work/bench.yaml"), BENCH).expect("a bench");
    fs::write(folder.path().join("work/base.md"), "one\r\ntwo\r\n").expect("a template");
    folder
}

/// A program that is started anew.
fn start(folder: &TempDir) -> Day {
    let mut disk = Disk::open(&folder.path().join("work"), &machine()).expect("a bench");
    disk.keep_drafts(Kept::new(folder.path().join("state")));
    let mut day = Day::on(disk, None, (120, 40));
    day.press("1");
    day
}

fn kept(folder: &TempDir) -> usize {
    fs::read_dir(folder.path().join("state")).map_or(0, Iterator::count)
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn what_was_typed_is_offered_again_after_a_kill() {
    let folder = folder();
    let mut day = start(&folder);
    day.press("emine <down>");
    assert!(day.engine.has_unkept());
    day.engine.keep_text();
    assert!(!day.engine.has_unkept());
    drop(day);
    assert_eq!((kept(&folder), names(&folder.path().join("work"))), (1, 2), "nothing lies beside the file");

    let mut day = start(&folder);
    // What is typed while the question comes up answers nothing.
    let screen = day.press("e");
    assert_eq!(day.open(), Some(OverlayKind::Kept));
    has(&screen, "Not saved the last time");
    let screen = day.press("j<enter>");
    has(&screen, "- one");
    has(&screen, "+ mine one");
    // Leaving decides nothing.
    let screen = day.press("<esc><esc>");
    has(&screen, "what was not saved is still kept");
    assert!(day.state.editor.is_none());
    assert_eq!(kept(&folder), 1);
    // Taken up, it is a draft like any other: undo brings the file's text back, saving forgets what was kept.
    let screen = day.press("e<enter>");
    has(&screen, "verdict of this draft");
    assert_eq!(day.text(), "mine one\ntwo\n");
    day.press("<ctrl-u>");
    assert_eq!((day.text().as_str(), kept(&folder)), ("one\ntwo\n", 0));
    day.press("<ctrl-r>");
    day.engine.keep_text();
    assert_eq!(kept(&folder), 1);
    day.press("<ctrl-s>");
    assert_eq!((day.read("base.md").as_str(), kept(&folder)), ("mine one\r\ntwo\r\n", 0));
}

#[test]
fn what_is_discarded_is_gone_and_a_change_meanwhile_is_said() {
    let folder = folder();
    let mut day = start(&folder);
    day.press("ex");
    day.engine.keep_text();
    // Left without saving: it is meant to be gone.
    day.press("<esc>j<enter>");
    assert_eq!(kept(&folder), 0);
    day.press("ey");
    day.engine.keep_text();
    drop(day);
    fs::write(folder.path().join("work/base.md"), "other\r\n").expect("a template");
    let mut day = start(&folder);
    let screen = day.press("e");
    has(&screen, "The file was changed since: saving writes it over that.");
    day.press("jj<enter>");
    assert_eq!((day.text().as_str(), kept(&folder)), ("other\n", 0));
    let editor = day.state.editor.as_ref().expect("an editor");
    assert!(!editor.modified && editor.kept.is_none());
    day.press("<esc>e");
    assert_eq!(day.open(), None, "it is offered no more");
}

#[test]
fn selecting_copying_and_cutting_show_on_the_screen() {
    let folder = folder();
    let mut day = start(&folder);
    let screen = day.press("e<shift-down>");
    has(&screen, "4 selected");
    day.press("<ctrl-x><ctrl-end><ctrl-v>");
    assert_eq!(day.text(), "two\none\n");
    let screen = day.press("<ctrl-a><alt-c>");
    has(&screen, "8 selected");
    let screen = day.press("<right><alt-c>");
    has(&screen, "nothing is selected; Shift with the arrows selects");
}
