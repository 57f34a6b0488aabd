//! Watching files: an event is a hint to look again, never a statement about what changed.
//!
//! A set of inputs (files and folders, which need not exist) is watched through their folders, without recursion: a watch
//! on the file itself dies with the first save that renames, one on a link's folder sees nothing of its target, one on a
//! folder dies with the folder, and a recursive one drowns in a checkout. So the folders that decide about each input are
//! watched by name (see `walk`), and again after each event that may have put another folder in their place.
//!
//! Whoever gets a hint reads the inputs again and compares *contents*: two writes within one tick of the file system's
//! clock leave the same time and may leave the same size. Every new watch is followed by a hint, so what happened between
//! reading and watching is not lost either.
//!
//! No timer runs while nothing happens, except where a folder is known not to report changes; [`Status`] says so.

mod burst;
mod interest;
mod mounts;
mod shared;
mod walk;
mod worker;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use self::shared::Shared;
use self::worker::Worker;

/// How often folders are looked at that do not report changes.
pub const POLL_PERIOD: Duration = Duration::from_secs(2);

/// How to watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// By the events of the system, and by looking where there are none.
    #[default]
    Auto,
    /// By looking every [`POLL_PERIOD`], whatever the folder.
    Poll,
    /// Not at all; [`Watcher::look_again`] still works.
    Off,
}

/// What the watcher says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Look at these inputs again.
    Look(Look),
    /// How the watching is done now; sent when it changes.
    Status(Status),
}

/// A hint to look at inputs again. They may have changed in any way, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// When the first sign of it was seen.
    pub at: Instant,
    /// The inputs, under the paths that were given to [`Watcher::set`].
    pub paths: BTreeSet<Arc<Path>>,
}

/// How the watching is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// By events from this many folders.
    Watching {
        /// Their number.
        folders: usize,
    },
    /// Some inputs or all are looked at every [`POLL_PERIOD`].
    Polling {
        /// Why.
        reason: String,
    },
    /// Not at all.
    Off {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Watching { folders: 1 } => formatter.write_str("watching 1 folder"),
            Self::Watching { folders } => write!(formatter, "watching {folders} folders"),
            Self::Polling { reason } => {
                write!(formatter, "looking every {} s: {reason}", POLL_PERIOD.as_secs())
            }
            Self::Off { reason } => write!(formatter, "not watching: {reason}"),
        }
    }
}

/// Watches a set of inputs on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts to watch, nothing at first. Folders outside of `root` are watched only where they hold an input; from `root`
    /// downwards every folder on the way to an input is.
    ///
    /// `sink` is called on the watcher's thread; while it runs nothing else is reported.
    ///
    /// # Errors
    /// When the thread cannot be started. That the system's events cannot be had is no error but a [`Status`].
    pub fn start(
        root: &Path,
        mode: Mode,
        sink: impl FnMut(Notice) + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let worker = Worker::new(Arc::clone(&shared), root, mode, Box::new(sink));
        let thread = thread::Builder::new().name("watch".into()).spawn(move || worker.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Watches exactly these inputs from now on, as absolute paths; they need not exist. Inputs that were not watched
    /// before are hinted at once when they are.
    pub fn set(&self, inputs: impl IntoIterator<Item = PathBuf>) {
        self.shared.set(inputs.into_iter().map(Arc::from).collect());
    }

    /// Sends a hint for every input: the user asked for it, or the terminal gained the focus.
    pub fn look_again(&self) {
        self.shared.look_again();
    }

    /// How often the watcher's thread woke up so far.
    pub fn wake_ups(&self) -> u64 {
        self.shared.wake_ups()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(thread) = self.thread.take()
            // The sink may own the last handle to its watcher.
            && thread.thread().id() != thread::current().id()
        {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}
