//! Reads logs on a thread of its own and hands calls over one by one: reading and judging go on side by side, and the one
//! never runs far ahead of the other.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::core::audit::{Exchange, Shape};
use crate::core::diagnostic::Diagnostic;
use crate::io::recording::{Forced, Log, News, Problem};
use crate::io::watch::{Mode, Notice, Watcher};

/// How many calls may wait to be judged.
const AHEAD: usize = 16;
/// How often it is told how far reading is, in lines.
const TOLD: u64 = 64;

/// What the thread says.
pub(super) enum Told {
    /// A call of a file, by its place among those that were given.
    Call(usize, Box<Exchange>),
    /// How far a file is read: bytes, and of how many.
    Progress(usize, u64, Option<u64>),
    /// What is known of a file by now.
    File(usize, FileState),
    /// Everything there is was read; with `follow`, for now.
    Pause,
    /// A file became shorter or another one stands in its place.
    News(usize, News),
    /// A file cannot be read.
    Failed(Diagnostic),
}

/// What is known of a file.
#[derive(Default)]
pub(super) struct FileState {
    /// What it is; none while nobody knows.
    pub shape: Option<&'static dyn Shape>,
    pub compressed: bool,
    pub lines: u64,
    /// Lines that something is wrong with.
    pub skipped: u64,
    /// Lines that are no calls.
    pub others: u64,
    /// What is wrong, since it was last told.
    pub problems: Vec<Problem>,
}

/// Starts to read.
pub(super) fn start(files: Vec<PathBuf>, forced: Forced, follow: bool) -> (Receiver<Told>, JoinHandle<()>) {
    let (sender, receiver) = sync_channel(AHEAD);
    let work = move || {
        // When the other end is gone, nobody wants to know any more.
        let _ = read(&files, forced, follow, &sender);
    };
    let thread = thread::spawn(work);
    (receiver, thread)
}

type Sent = Result<(), std::sync::mpsc::SendError<Told>>;

fn read(files: &[PathBuf], forced: Forced, follow: bool, to: &SyncSender<Told>) -> Sent {
    let mut logs = Vec::new();
    for (file, path) in files.iter().enumerate() {
        let mut log = match Log::open(path, forced) {
            Ok(log) => log,
            Err(problem) => return to.send(Told::Failed(problem)),
        };
        if follow && log.is_compressed() {
            let message = "--follow: a compressed log cannot be followed; leave out --follow, or follow the log that is not compressed";
            return to.send(Told::Failed(Diagnostic::error(message).in_file(path.to_string_lossy())));
        }
        drain(file, &mut log, to)?;
        let more = follow && path != Path::new("-");
        let last = |call: Exchange| to.send(Told::Call(file, Box::new(call)));
        let mut sent: Sent = Ok(());
        let mut found = |call| {
            if sent.is_ok() {
                sent = last(call);
            }
        };
        if more {
            log.pause(&mut found);
        } else {
            log.finish(&mut found);
        }
        sent?;
        state(file, &mut log, to)?;
        if more {
            logs.push((file, log));
        }
    }
    to.send(Told::Pause)?;
    if logs.is_empty() { Ok(()) } else { go_on(logs, to) }
}

/// Reads what there is.
fn drain(file: usize, log: &mut Log, to: &SyncSender<Told>) -> Sent {
    let mut sent: Sent = Ok(());
    let mut count = 0;
    loop {
        let more = log.step(&mut |call| {
            if sent.is_ok() {
                sent = to.send(Told::Call(file, Box::new(call)));
            }
        });
        std::mem::replace(&mut sent, Ok(()))?;
        if !more {
            return Ok(());
        }
        count += 1;
        if count % TOLD == 0 {
            let (read, size) = log.progress();
            to.send(Told::Progress(file, read, size))?;
            state(file, log, to)?;
        }
    }
}

fn state(file: usize, log: &mut Log, to: &SyncSender<Told>) -> Sent {
    let problems = log.problems();
    let state = FileState {
        shape: log.shape(),
        compressed: log.is_compressed(),
        lines: log.lines(),
        skipped: log.skipped(),
        others: log.others(),
        problems,
    };
    to.send(Told::File(file, state))
}

/// Reads what is added, whenever something happens to one of the files.
fn go_on(mut logs: Vec<(usize, Log)>, to: &SyncSender<Told>) -> Sent {
    let (hint, hints) = sync_channel(1);
    let here = std::env::current_dir().unwrap_or_default();
    let sink = move |notice| {
        if matches!(notice, Notice::Look(_)) {
            // One hint that waits is as good as several.
            let _ = hint.try_send(());
        }
    };
    let watcher = match Watcher::start(&here, Mode::Auto, sink) {
        Ok(watcher) => watcher,
        Err(error) => {
            return to.send(Told::Failed(Diagnostic::error(format!("the log cannot be watched: {error}"))));
        }
    };
    watcher.set(logs.iter().map(|(_, log)| here.join(log.path())));
    while hints.recv().is_ok() {
        for (file, log) in &mut logs {
            // Until the file holds nothing new: what was written while it was read may have given no further hint.
            // Each time it is first looked whether it is the same file still: else the middle of another one would be read.
            loop {
                match log.look() {
                    Ok(News::Same) => {}
                    Ok(news) => to.send(Told::News(*file, news))?,
                    // It is not there: it may come again, and then there is another hint.
                    Err(_) => break,
                }
                let before = log.progress().0;
                drain(*file, log, to)?;
                if log.progress().0 == before {
                    break;
                }
            }
            let mut sent: Sent = Ok(());
            log.pause(&mut |call| {
                if sent.is_ok() {
                    sent = to.send(Told::Call(*file, Box::new(call)));
                }
            });
            sent?;
            state(*file, log, to)?;
        }
        to.send(Told::Pause)?;
    }
    Ok(())
}
