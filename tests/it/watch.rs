//! The watcher against real folders. Every wait is for a hint; the time limits are only there to end a failed test.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use plywood::io::watch::{Look, Mode, Notice, Status, Watcher};

/// How long a hint may take before the test counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// When nothing was said for this long, nothing more will be said: after few events all timers of the watcher are shorter.
const SILENCE: Duration = Duration::from_millis(120);
/// The same where a hint that comes late would be counted, or where one that is missing would not be missed.
const LONG_SILENCE: Duration = Duration::from_secs(1);

/// A workspace and its watcher.
struct Watched {
    _keep: tempfile::TempDir,
    /// The scratch folder, without links.
    scratch: PathBuf,
    watcher: Watcher,
    notices: Receiver<Notice>,
}

impl Watched {
    /// Prepares the scratch folder, of which `ws` is the workspace, and watches inputs in it.
    fn new(mode: Mode, inputs: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let keep = tempfile::tempdir().expect("a scratch folder");
        let scratch = keep.path().canonicalize().expect("it exists");
        fs::create_dir(scratch.join("ws")).expect("a workspace");
        prepare(&scratch);
        let (sender, notices) = channel();
        let watcher = Watcher::start(&scratch.join("ws"), mode, move |notice| {
            // The test may be over.
            let _ = sender.send(notice);
        });
        let watched = Self { _keep: keep, scratch, watcher: watcher.expect("a thread"), notices };
        watched.set(inputs);
        if mode == Mode::Off {
            watched.drain();
        } else {
            // It looks once at what it is given, however late.
            watched.collect(inputs);
        }
        watched
    }

    /// Waits until all these inputs have been spoken of, and then until nothing more is said.
    #[track_caller]
    fn collect(&self, inputs: &[&str]) -> Vec<Look> {
        let deadline = Instant::now() + PATIENCE;
        let mut left: BTreeSet<PathBuf> = inputs.iter().map(|input| self.path(input)).collect();
        let mut looks = Vec::new();
        while !left.is_empty() {
            match self.notices.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Notice::Look(look)) => {
                    left.retain(|path| !look.paths.contains(path.as_path()));
                    looks.push(look);
                }
                Ok(_) => {}
                Err(_) => panic!("lost: {left:?}; {looks:?}"),
            }
        }
        looks.extend(self.drain_for(LONG_SILENCE));
        looks
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    fn set(&self, inputs: &[&str]) {
        self.watcher.set(inputs.iter().map(|input| self.path(input)));
    }

    /// Everything that is said until nothing more is said, so that what is said next is about what is done next.
    fn drain(&self) -> Vec<Look> {
        self.drain_for(SILENCE)
    }

    fn drain_for(&self, silence: Duration) -> Vec<Look> {
        let mut looks = Vec::new();
        while let Ok(notice) = self.notices.recv_timeout(silence) {
            if let Notice::Look(look) = notice {
                looks.push(look);
            }
        }
        looks
    }

    /// Waits for a hint about this input, or about nothing if `seen` holds without one.
    #[track_caller]
    fn wait(&self, input: &str, mut seen: impl FnMut() -> bool) {
        let path = self.path(input);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.notices.recv_timeout(left) {
                Ok(Notice::Look(look)) if look.paths.contains(path.as_path()) && seen() => return,
                Ok(_) => {}
                Err(_) => panic!("no hint for {input}"),
            }
        }
    }

    /// Does something, and waits until a reader that reads only at hints has read `content`; none for no file.
    #[track_caller]
    fn expect(&self, input: &str, content: Option<&str>, change: impl FnOnce()) {
        self.drain();
        change();
        let path = self.path(input);
        self.wait(input, || fs::read_to_string(&path).ok().as_deref() == content);
    }
}

fn write(path: impl AsRef<Path>, content: &str) {
    fs::write(path, content).expect("a file");
}

/// Saves as most editors and `sed -i` do: a new file, renamed over the old one.
fn save(path: &Path, content: &str) {
    let new = path.with_extension("new");
    write(&new, content);
    fs::rename(new, path).expect("a rename");
}

#[test]
fn every_way_to_save_is_seen_every_time() {
    let watched =
        Watched::new(Mode::Auto, &["ws/AGENTS.md"], |scratch| write(scratch.join("ws/AGENTS.md"), "zero"));
    let file = watched.path("ws/AGENTS.md");
    for round in ["one", "two"] {
        watched.expect("ws/AGENTS.md", Some(round), || write(&file, round));
        let saved = format!("{round} saved");
        watched.expect("ws/AGENTS.md", Some(&saved), || save(&file, &saved));
        let moved = format!("{round} moved in from elsewhere");
        write(watched.path("elsewhere"), &moved);
        watched.expect("ws/AGENTS.md", Some(&moved), || {
            fs::rename(watched.path("elsewhere"), &file).expect("a rename");
        });
        watched.expect("ws/AGENTS.md", None, || fs::remove_file(&file).expect("a file"));
        watched.expect("ws/AGENTS.md", Some("again"), || write(&file, "again"));
    }
}

#[test]
fn a_folder_that_is_deleted_and_made_again_is_seen() {
    let watched = Watched::new(Mode::Auto, &["ws/a/b/file"], |scratch| {
        fs::create_dir_all(scratch.join("ws/a/b")).expect("folders");
        write(scratch.join("ws/a/b/file"), "zero");
    });
    for (round, gone) in [("one", "ws/a/b"), ("two", "ws/a"), ("three", "ws"), ("four", "ws/a/b")] {
        watched.expect("ws/a/b/file", None, || fs::remove_dir_all(watched.path(gone)).expect("a folder"));
        watched.expect("ws/a/b/file", Some(round), || {
            fs::create_dir_all(watched.path("ws/a/b")).expect("folders");
            write(watched.path("ws/a/b/file"), round);
        });
        let written = format!("{round} written");
        watched.expect("ws/a/b/file", Some(&written), || write(watched.path("ws/a/b/file"), &written));
    }
}

#[test]
fn a_folder_that_another_takes_the_place_of_is_seen() {
    let watched = Watched::new(Mode::Auto, &["ws/a/file"], |scratch| {
        for (folder, content) in [("ws/a", "old"), ("ws/b", "new")] {
            fs::create_dir(scratch.join(folder)).expect("a folder");
            write(scratch.join(folder).join("file"), content);
        }
    });
    watched.expect("ws/a/file", Some("new"), || {
        fs::rename(watched.path("ws/a"), watched.path("ws/c")).expect("a rename");
        fs::rename(watched.path("ws/b"), watched.path("ws/a")).expect("a rename");
    });
    watched.expect("ws/a/file", Some("newer"), || write(watched.path("ws/a/file"), "newer"));
}

#[test]
fn a_file_written_right_after_its_folder_is_seen() {
    let watched = Watched::new(Mode::Auto, &["ws/skills/new/SKILL.md"], |_| {});
    for round in 0..8 {
        let content = format!("round {round}");
        watched.expect("ws/skills/new/SKILL.md", Some(&content), || {
            fs::create_dir_all(watched.path("ws/skills/new")).expect("folders");
            write(watched.path("ws/skills/new/SKILL.md"), &content);
        });
        watched.expect("ws/skills/new/SKILL.md", None, || {
            fs::remove_dir_all(watched.path("ws/skills")).expect("a folder");
        });
    }
}

#[test]
fn a_link_is_followed_and_its_change_is_seen() {
    let watched = Watched::new(Mode::Auto, &["ws/AGENTS.md"], |scratch| {
        fs::create_dir_all(scratch.join("elsewhere/deep")).expect("folders");
        write(scratch.join("elsewhere/deep/one.md"), "one");
        write(scratch.join("elsewhere/two.md"), "two");
        symlink("../elsewhere/deep/one.md", scratch.join("ws/AGENTS.md")).expect("a link");
    });
    let one = watched.path("elsewhere/deep/one.md");
    watched.expect("ws/AGENTS.md", Some("one, written"), || write(&one, "one, written"));
    watched.expect("ws/AGENTS.md", Some("one, saved"), || save(&one, "one, saved"));
    watched.expect("ws/AGENTS.md", Some("one, through the link"), || {
        write(watched.path("ws/AGENTS.md"), "one, through the link");
    });
    watched.expect("ws/AGENTS.md", Some("two"), || {
        fs::remove_file(watched.path("ws/AGENTS.md")).expect("a link");
        symlink("../elsewhere/two.md", watched.path("ws/AGENTS.md")).expect("a link");
    });
    watched
        .expect("ws/AGENTS.md", Some("two, saved"), || save(&watched.path("elsewhere/two.md"), "two, saved"));
}

#[test]
fn a_linked_folder_is_followed_and_its_change_is_seen() {
    let watched = Watched::new(Mode::Auto, &["ws/docs/file"], |scratch| {
        for version in ["v1", "v2"] {
            fs::create_dir(scratch.join(version)).expect("a folder");
            write(scratch.join(version).join("file"), version);
        }
        symlink(scratch.join("v1"), scratch.join("ws/docs")).expect("a link");
    });
    watched.expect("ws/docs/file", Some("v1, saved"), || save(&watched.path("v1/file"), "v1, saved"));
    watched.expect("ws/docs/file", Some("v2"), || {
        symlink(watched.path("v2"), watched.path("ws/next")).expect("a link");
        fs::rename(watched.path("ws/next"), watched.path("ws/docs")).expect("a rename");
    });
    watched.expect("ws/docs/file", Some("v2, saved"), || save(&watched.path("v2/file"), "v2, saved"));
}

#[test]
fn names_that_come_and_go_in_a_folder_are_seen() {
    let watched = Watched::new(Mode::Auto, &["ws/cards"], |scratch| {
        fs::create_dir(scratch.join("ws/cards")).expect("a folder");
    });
    let names = || fs::read_dir(watched.path("ws/cards")).map_or(0, Iterator::count);
    watched.drain();
    write(watched.path("ws/cards/one.md"), "");
    watched.wait("ws/cards", || names() == 1);
    watched.drain();
    fs::create_dir(watched.path("ws/cards/two")).expect("a folder");
    watched.wait("ws/cards", || names() == 2);
    watched.drain();
    fs::remove_file(watched.path("ws/cards/one.md")).expect("a file");
    watched.wait("ws/cards", || names() == 1);
}

#[test]
fn a_file_that_is_empty_for_a_moment_is_looked_at_once_more() {
    let watched = Watched::new(Mode::Auto, &["ws/file"], |scratch| write(scratch.join("ws/file"), "text"));
    fs::File::create(watched.path("ws/file")).expect("a file");
    let looks = watched.collect(&["ws/file"]);
    let (first, last) = (looks.first().expect("a hint"), looks.last().expect("a hint"));
    assert!(last.at - first.at >= Duration::from_millis(50), "{looks:?}");
    assert!(looks.len() <= 4, "and then no more: {looks:?}");
}

#[test]
fn a_checkout_of_thousands_of_files_is_few_hints() {
    let watched =
        Watched::new(Mode::Auto, &["ws/AGENTS.md", "ws/skills", "ws/skills/a/SKILL.md"], |scratch| {
            fs::create_dir_all(scratch.join("ws/skills/a")).expect("folders");
            write(scratch.join("ws/AGENTS.md"), "before");
            write(scratch.join("ws/skills/a/SKILL.md"), "before");
        });
    let before = watched.watcher.wake_ups();
    // In the order of their names, as git writes them.
    save(&watched.path("ws/AGENTS.md"), "after");
    for number in 0..100 {
        write(watched.path(&format!("ws/a file beside the input {number}.md")), "text");
    }
    for number in 0..3 {
        write(watched.path(&format!("ws/skills/a file in a folder that is an input {number}.md")), "text");
    }
    save(&watched.path("ws/skills/a/SKILL.md"), "after");
    for folder in 0..100 {
        fs::create_dir_all(watched.path(&format!("ws/src/{folder}"))).expect("folders");
        for file in 0..50 {
            write(watched.path(&format!("ws/src/{folder}/{file}.rs")), "fn main() {}");
        }
    }
    let looks = watched.collect(&["ws/AGENTS.md", "ws/skills", "ws/skills/a/SKILL.md"]);
    let wake_ups = watched.watcher.wake_ups() - before;
    // Of all those files five matter, and each is two hints even if the machine is so slow that none coincide.
    assert!(looks.len() <= 10, "{} hints", looks.len());
    assert!(wake_ups <= 10, "{wake_ups} wake-ups");
}

#[test]
fn other_files_beside_an_input_wake_nobody() {
    let watched =
        Watched::new(Mode::Auto, &["ws/AGENTS.md"], |scratch| write(scratch.join("ws/AGENTS.md"), ""));
    let before = watched.watcher.wake_ups();
    for number in 0..100 {
        write(watched.path(&format!("ws/{number}.log")), "noise");
    }
    fs::read(watched.path("ws/AGENTS.md")).expect("reading is no change");
    assert_eq!(watched.drain_for(LONG_SILENCE), []);
    assert_eq!(watched.watcher.wake_ups(), before);
}

#[test]
fn the_set_of_inputs_can_change() {
    let watched = Watched::new(Mode::Auto, &["ws/a/one"], |scratch| {
        for folder in ["ws/a", "ws/b"] {
            fs::create_dir(scratch.join(folder)).expect("a folder");
        }
    });
    watched.set(&["ws/b/two", "ws/later"]);
    watched.wait("ws/b/two", || true);
    watched.expect("ws/b/two", Some("2"), || write(watched.path("ws/b/two"), "2"));
    watched.drain_for(LONG_SILENCE);
    write(watched.path("ws/a/one"), "1");
    assert_eq!(watched.drain_for(LONG_SILENCE), [], "it is no input any more");
    watched.watcher.look_again();
    let looks = watched.collect(&["ws/b/two", "ws/later"]);
    let all: BTreeSet<_> = looks.into_iter().flat_map(|look| look.paths).collect();
    assert_eq!(all, ["ws/b/two", "ws/later"].map(|input| watched.path(input).into()).into());
}

#[test]
fn an_input_outside_of_the_workspace_is_watched_too() {
    let watched = Watched::new(Mode::Auto, &["home/.agents/AGENTS.md"], |_| {});
    watched.expect("home/.agents/AGENTS.md", Some("hello"), || {
        fs::create_dir_all(watched.path("home/.agents")).expect("folders");
        write(watched.path("home/.agents/AGENTS.md"), "hello");
    });
    watched.expect("home/.agents/AGENTS.md", None, || {
        fs::remove_dir_all(watched.path("home/.agents")).expect("a folder");
    });
    watched.expect("home/.agents/AGENTS.md", Some("again"), || {
        fs::create_dir(watched.path("home/.agents")).expect("a folder");
        write(watched.path("home/.agents/AGENTS.md"), "again");
    });
}

#[test]
fn how_it_watches_is_said() {
    let status = |mode| {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (sender, notices) = channel();
        let watcher = Watcher::start(scratch.path(), mode, move |notice| {
            let _ = sender.send(notice);
        });
        let watcher = watcher.expect("a thread");
        watcher.set([scratch.path().join("AGENTS.md")]);
        loop {
            match notices.recv_timeout(PATIENCE).expect("a status") {
                Notice::Status(status) => return status,
                Notice::Look(_) => {}
            }
        }
    };
    assert_eq!(status(Mode::Auto), Status::Watching { folders: 1 });
    assert_eq!(status(Mode::Poll), Status::Polling { reason: "as set".into() });
    assert_eq!(status(Mode::Off), Status::Off { reason: "turned off".into() });
    assert_eq!(Status::Polling { reason: "as set".into() }.to_string(), "looking every 2 s: as set");
}

#[test]
fn looking_from_time_to_time_sees_changes_too() {
    let watched = Watched::new(Mode::Poll, &["ws/file"], |scratch| write(scratch.join("ws/file"), "before"));
    watched.expect("ws/file", Some("after that"), || write(watched.path("ws/file"), "after that"));
}

#[test]
fn turned_off_it_looks_only_when_asked() {
    let watched = Watched::new(Mode::Off, &["ws/file"], |_| {});
    write(watched.path("ws/file"), "text");
    assert_eq!(watched.drain(), []);
    watched.watcher.look_again();
    watched.wait("ws/file", || true);
}
