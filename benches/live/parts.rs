//! What is measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plywood::io::watch::{Mode, Notice, Watcher};
use portable_pty::CommandBuilder;

use crate::harness::{Seen, Session};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plywood");
const COLUMNS: u16 = 120;
const ROWS: u16 = 40;
/// What closes a frame.
const FRAME_END: &[u8] = b"\x1b[?2026l";
/// Rounds of everything that is measured more than once.
const ROUNDS: usize = 15;

/// The layer of a plain folder that holds its AGENTS.md, as the screen names it.
const AGENTS_LAYER: &str = "AGENTS.md";

/// A folder of our own, in which everything happens.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for name in ["home", "tmp", "repository/docs"] {
            fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A repository as people have them: an AGENTS.md of a few screens and some code.
    fn repository(&self) -> PathBuf {
        let path = self.path("repository");
        fs::write(path.join("AGENTS.md"), agents()).expect("a file");
        for number in 0..20 {
            fs::write(path.join(format!("docs/{number}.md")), "# A page\n\nText.\n").expect("a file");
        }
        for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "start"]] {
            git(&path, arguments);
        }
        path
    }

    /// The workbench on a path, in a terminal.
    fn open(&self, path: &str, columns: u16, rows: u16) -> Session {
        let mut command = CommandBuilder::new(PROGRAM);
        command.args([path]);
        command.cwd(self.folder.path());
        command.env("HOME", self.path("home"));
        command.env("TMPDIR", self.path("tmp"));
        command.env("TERM", "xterm-256color");
        Session::start(command, columns, rows)
    }

    /// The scratch copy of a sample that is open.
    fn scratch_copy(&self) -> PathBuf {
        let folders = fs::read_dir(self.path("tmp")).expect("the folder for temporary files").flatten();
        folders
            .map(|entry| entry.path())
            .find(|path| path.join("bench.yaml").exists())
            .expect("a scratch copy")
    }
}

fn agents() -> String {
    (0..60).map(|number| format!("- Rule {number}: keep it short, test it, and say why.\n")).collect()
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=bench", "-c", "user.email=bench@example.com"]).args(arguments);
    let status = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "git {arguments:?}");
}

/// The numbers of a layer's row (characters, then tokens); empty while the row is not there.
fn numbers(seen: &Seen, layer: &str) -> Vec<u64> {
    let text = seen.text();
    // The pane at the left edge.
    let mut rows = text.lines().filter_map(|line| line.strip_prefix('│')?.split('│').next());
    let Some((_, rest)) = rows.find_map(|row| row.split_once(layer)) else { return Vec::new() };
    rest.split_whitespace().map(|word| word.replace(',', "")).map_while(|word| word.parse().ok()).collect()
}

fn characters(seen: &Seen, layer: &str) -> Option<u64> {
    numbers(seen, layer).first().copied()
}

fn wait_for_characters(session: &Session, layer: &str, wanted: Option<u64>) -> Instant {
    session
        .wait_until(&format!("{layer} with {wanted:?} characters"), |seen| characters(seen, layer) == wanted)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Prints the median, the best and the worst of some times.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (best, worst) = (times[0], times[times.len() - 1]);
    let median = times[times.len() / 2];
    println!(
        "{what:<46} {:>8.1} ms   ({:.1} .. {:.1}, {} times)",
        ms(median),
        ms(best),
        ms(worst),
        times.len()
    );
}

/// The size of the program on disk.
pub(crate) fn size() {
    let bytes = fs::metadata(PROGRAM).expect("the program").len();
    println!("{:<46} {:>8.1} MB", "program, stripped", bytes as f64 / 1e6);
}

/// From the start of the process to the first frame, to filled panes and to exact tokens.
pub(crate) fn start() {
    let place = Place::new();
    let repository = place.repository();
    let mut floor = Vec::new();
    for _ in 0..ROUNDS {
        let mut command = CommandBuilder::new(PROGRAM);
        command.args(["--version"]);
        let begun = Instant::now();
        let mut session = Session::start(command, COLUMNS, ROWS);
        floor.push(session.wait_for("plywood") - begun);
        session.wait_for_exit();
    }
    report("--version, for comparison", floor);
    for (name, path, layer) in [
        ("plain repository", repository.to_str().expect("a path of ours"), AGENTS_LAYER),
        ("sample", "xbot", "00_base"),
    ] {
        let (mut first, mut filled, mut exact) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let mut session = place.open(path, COLUMNS, ROWS);
            let framed = |seen: &Seen| seen.log.windows(FRAME_END.len()).any(|window| window == FRAME_END);
            first.push(session.wait_until("a frame", framed) - begun);
            filled.push(session.wait_until("sizes", |seen| characters(seen, layer).is_some()) - begun);
            exact.push(session.wait_until("tokens", |seen| numbers(seen, layer).len() >= 2) - begun);
            session.send("q");
            session.wait_for_exit();
        }
        report(&format!("{name}: first frame"), first);
        report(&format!("{name}: sizes of all layers"), filled);
        report(&format!("{name}: exact tokens"), exact);
    }
}

/// What is written when nothing changed, and how soon a key is answered on a large screen.
pub(crate) fn frame() {
    let place = Place::new();
    let mut session = place.open("xbot", 200, 60);
    settle(&session);
    let before = session.seen().log.len();
    // The terminal gains the focus: everything is looked at again, and nothing is found.
    session.send("\x1b[I");
    thread::sleep(Duration::from_millis(500));
    println!("{:<46} {:>8} bytes", "200x60: written when nothing changed", session.seen().log.len() - before);
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        for key in ["?", "\x1b"] {
            let before = session.seen().log.len();
            let pressed = Instant::now();
            session.send(key);
            let framed = |seen: &Seen| seen.log[before..].ends_with(FRAME_END);
            times.push(session.wait_until("a frame", framed) - pressed);
            thread::sleep(Duration::from_millis(100));
        }
    }
    report("200x60: from a key to its whole frame", times);
}

/// Waits until nothing has been written for a while.
fn settle(session: &Session) {
    session.wait_until("a frame", |seen| seen.log.ends_with(FRAME_END));
    let mut length = 0;
    loop {
        thread::sleep(Duration::from_millis(700));
        let now = session.seen().log.len();
        if now == length {
            return;
        }
        length = now;
    }
}

/// A way to save, and how long it took each time until the new size was on the screen.
struct Saves<'a> {
    session: &'a Session,
    layer: &'a str,
    times: Vec<(String, Vec<Duration>)>,
}

impl<'a> Saves<'a> {
    fn new(session: &'a Session, layer: &'a str) -> Self {
        Self { session, layer, times: Vec::new() }
    }

    fn size(&self) -> Option<u64> {
        characters(&self.session.seen(), self.layer)
    }

    /// Saves, and waits for the size: so many characters more than now.
    fn more(&mut self, name: &str, more: i64, save: impl FnOnce()) {
        let wanted = self.size().map(|size| size.checked_add_signed(more).expect("a size"));
        self.until(name, wanted, save);
    }

    fn until(&mut self, name: &str, wanted: Option<u64>, save: impl FnOnce()) {
        // The next save comes when the program sleeps again, as between two saves of a person.
        thread::sleep(Duration::from_millis(150));
        let saved = Instant::now();
        save();
        let time = wait_for_characters(self.session, self.layer, wanted) - saved;
        match self.times.iter_mut().find(|(known, _)| known == name) {
            Some((_, times)) => times.push(time),
            None => self.times.push((name.into(), vec![time])),
        }
    }

    fn report(self, title: &str) {
        for (name, times) in self.times {
            report(&format!("{title}: {name}"), times);
        }
    }
}

fn append(path: &Path, text: &str) {
    use std::io::Write;
    let mut file = fs::File::options().append(true).open(path).expect("a file");
    file.write_all(text.as_bytes()).expect("a file");
}

/// As `sed -i`: a new file beside the old one, renamed over it.
fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("a text");
    let new = path.with_extension("sed");
    fs::write(&new, text.replacen(from, to, 1)).expect("a file");
    fs::rename(new, path).expect("a rename");
}

/// From a save in another program to the new size on the screen.
pub(crate) fn save() {
    let place = Place::new();
    let repository = place.repository();
    let file = repository.join("AGENTS.md");
    let session = place.open(repository.to_str().expect("a path of ours"), COLUMNS, ROWS);
    settle(&session);
    let mut saves = Saves::new(&session, AGENTS_LAYER);
    let whole = saves.size();
    for _ in 0..ROUNDS {
        saves.more("echo >> AGENTS.md", 8, || append(&file, "- more.\n"));
        saves.more("sed -i", -3, || replace(&file, "keep it short", "keep short"));
        for (name, more) in [("mv t AGENTS.md", 10), ("mv t AGENTS.md, again", -5)] {
            let wanted = whole.map(|size| size.checked_add_signed(more).expect("a size"));
            let other = place.path("t");
            let text = if more > 0 { agents() + "0123456789" } else { agents()[5..].to_owned() };
            fs::write(&other, text).expect("a file");
            saves.until(name, wanted, || fs::rename(&other, &file).expect("a rename"));
        }
        // The row stays, with nothing in it.
        saves.until("rm AGENTS.md", Some(0), || fs::remove_file(&file).expect("a file"));
        saves.until("made again", whole, || fs::write(&file, agents()).expect("a file"));
        // Behind a link.
        fs::rename(&file, repository.join("docs/agents.md")).expect("a rename");
        std::os::unix::fs::symlink("docs/agents.md", &file).expect("a link");
        thread::sleep(Duration::from_millis(300));
        saves.more("echo >> the target of a link", 4, || append(&repository.join("docs/agents.md"), "one\n"));
        saves.more("sed -i on the target of a link", -1, || {
            replace(&repository.join("docs/agents.md"), "keep it short", "keep it shor");
        });
        fs::remove_file(&file).expect("a link");
        fs::remove_file(repository.join("docs/agents.md")).expect("a file");
        fs::write(&file, agents()).expect("a file");
        wait_for_characters(&session, AGENTS_LAYER, whole);
    }
    saves.report("repository");
    drop(session);

    let mut session = place.open("xbot", COLUMNS, ROWS);
    settle(&session);
    let copy = place.scratch_copy();
    let mut saves = Saves::new(&session, "00_base");
    for _ in 0..ROUNDS {
        saves.more("echo >> prompt.md", 6, || append(&copy.join("prompt.md"), "more.\n"));
    }
    saves.report("sample");
    let mut saves = Saves::new(&session, "10_skills");
    for _ in 0..ROUNDS {
        let skill = copy.join("project/skills/release/SKILL.md");
        saves.more("sed -i SKILL.md", 1, || replace(&skill, "description: ", "description: x"));
    }
    saves.report("sample");
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        thread::sleep(Duration::from_millis(150));
        let (from, to) = (round_id(round), round_id(round + 1));
        let saved = Instant::now();
        replace(&copy.join("bench.yaml"), &format!("session: {from}"), &format!("session: {to}"));
        times.push(session.wait_for(&format!("session {to}")) - saved);
    }
    report("sample: sed -i bench.yaml", times);
    session.send("q");
    session.wait_for_exit();
}

fn round_id(round: usize) -> String {
    format!("s-{:02}", round + 1)
}

/// A checkout of 5,000 files below the workspace: what the watcher makes of it, and whether the screen is right after it.
pub(crate) fn checkout() {
    let place = Place::new();
    let repository = place.repository();
    git(&repository, &["checkout", "-q", "-b", "large"]);
    for folder in 0..100 {
        let path = repository.join(format!("src/{folder}"));
        fs::create_dir_all(&path).expect("a folder");
        for file in 0..50 {
            fs::write(path.join(format!("{file}.rs")), "fn main() {}\n").expect("a file");
        }
    }
    append(&repository.join("AGENTS.md"), "- large\n");
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-q", "-m", "large"]);
    git(&repository, &["checkout", "-q", "-"]);

    let hints = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&hints);
    let watcher = Watcher::start(&repository, Mode::Auto, move |notice| {
        if matches!(notice, Notice::Look(_)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    })
    .expect("a watcher");
    watcher.set(["AGENTS.md", ".git/HEAD", ".git/index", "docs"].map(|name| repository.join(name)));
    let session = place.open(repository.to_str().expect("a path of ours"), COLUMNS, ROWS);
    settle(&session);
    let size = characters(&session.seen(), AGENTS_LAYER).expect("a size");
    let (hints_before, wake_ups_before) = (hints.load(Ordering::Relaxed), watcher.wake_ups());
    let frames = |session: &Session| {
        session.seen().log.windows(FRAME_END.len()).filter(|window| *window == FRAME_END).count()
    };
    let frames_before = frames(&session);
    let begun = Instant::now();
    git(&repository, &["checkout", "-q", "large"]);
    let took = begun.elapsed();
    wait_for_characters(&session, AGENTS_LAYER, Some(size + 8));
    settle(&session);
    println!("{:<46} {:>8.1} ms", "checkout of 5,000 files: git itself", ms(took));
    println!("{:<46} {:>8}", "checkout of 5,000 files: hints", hints.load(Ordering::Relaxed) - hints_before);
    println!("{:<46} {:>8}", "checkout of 5,000 files: wake-ups", watcher.wake_ups() - wake_ups_before);
    println!("{:<46} {:>8}", "checkout of 5,000 files: frames", frames(&session) - frames_before);
}

/// How often the program wakes up when nothing happens, and what it holds in memory.
#[cfg(target_os = "linux")]
pub(crate) fn idle() {
    const WATCHED: Duration = Duration::from_secs(5);
    let place = Place::new();
    let repository = place.repository();
    for (name, path) in
        [("plain repository", repository.to_str().expect("a path of ours")), ("sample", "xbot")]
    {
        let session = place.open(path, COLUMNS, ROWS);
        settle(&session);
        let before = switches(session.pid());
        thread::sleep(WATCHED);
        let wake_ups = switches(session.pid()) - before;
        let status = fs::read_to_string(format!("/proc/{}/status", session.pid())).expect("the program runs");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).map_or("?", str::trim);
        println!("{:<46} {:>8} in {} s", format!("{name}: wake-ups when idle"), wake_ups, WATCHED.as_secs());
        println!("{:<46} {resident:>11}", format!("{name}: resident"));
    }
}

/// How often a thread of the process has got the processor so far.
#[cfg(target_os = "linux")]
fn switches(pid: i32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("the program runs").flatten();
    let of_thread = |status: String| -> u64 {
        let count = |line: &str| {
            line.split_once("ctxt_switches:").and_then(|(_, count)| count.trim().parse::<u64>().ok())
        };
        status.lines().filter_map(count).sum()
    };
    threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok()).map(of_thread).sum()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn idle() {
    println!("idle: read from /proc, which is not here");
}
