//! The engine's thread: the newest request wins, numbers follow when they are ready, and nothing runs when idle.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::control::Engine;
use crate::app::effect::EngineRequest;
use crate::app::snapshot::Snapshot;

/// The time between two calls of a run that plays by itself.
const BEAT: Duration = Duration::from_millis(900);
/// While the table of variants is worked out, this often at most the screen is told.
const TELL: Duration = Duration::from_millis(120);
/// How long a text is typed before it is kept: so much may be lost when the program is killed.
const KEEP: Duration = Duration::from_millis(300);
/// How long the end of the program waits for the thread, which may be in the middle of a table.
const END: Duration = Duration::from_millis(500);

/// What arrives at the engine's thread.
enum Mail {
    Request(EngineRequest),
    /// A file may be another one.
    Look,
    /// The watcher's state, for the status line.
    Watching(String),
    /// A vocabulary is loaded.
    Loaded,
    /// Nobody is left to ask.
    End,
}

/// The way to the engine. When the last one is dropped, the thread ends.
#[derive(Clone)]
pub struct Handle(Arc<Door>);

struct Door {
    sender: Sender<Mail>,
    /// Disconnected when the thread is done. (The lock makes it sharable; only the end takes it.)
    done: Mutex<Receiver<()>>,
}

/// A way to the engine that does not keep its thread alive: for those whom the engine's own side owns.
#[derive(Clone)]
pub struct WeakHandle(Sender<Mail>);

impl WeakHandle {
    /// A file may be another one by now.
    pub fn look(&self) {
        let _ = self.0.send(Mail::Look);
    }

    /// What the status line says of watching.
    pub fn watching(&self, status: String) {
        let _ = self.0.send(Mail::Watching(status));
    }
}

impl Drop for Door {
    /// Ends the thread and waits for it: what it holds has to be put away before the program ends, a scratch copy on disk
    /// among it.
    fn drop(&mut self) {
        let _ = self.sender.send(Mail::End);
        // Nothing is ever sent: it ends with the thread, or not in time.
        let done = self.done.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = done.recv_timeout(END);
    }
}

impl Handle {
    /// Asks the engine for something. An engine that is gone hears nothing; its end has been told otherwise.
    pub fn request(&self, request: EngineRequest) {
        let _ = self.0.sender.send(Mail::Request(request));
    }

    /// A way to the engine that does not keep its thread alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakHandle {
        WeakHandle(self.0.sender.clone())
    }
}

/// What the engine's thread calls: with each snapshot, and when the files to watch are others.
pub trait Post: Send {
    /// A snapshot is ready.
    fn publish(&mut self, snapshot: Arc<Snapshot>);

    /// The files and folders to watch, and the folder below which parents are watched, too.
    fn watch(&mut self, inputs: Vec<PathBuf>, root: &Path);
}

/// Starts the thread. The first snapshot is published at once.
///
/// # Errors
///
/// When the machine gives no thread.
pub fn spawn(engine: Engine, post: Box<dyn Post>) -> std::io::Result<Handle> {
    let (sender, receiver) = channel();
    let own = sender.clone();
    let (alive, done) = channel();
    std::thread::Builder::new().name("engine".into()).spawn(move || {
        // Dropped after the worker.
        let _alive: Sender<()> = alive;
        let mut engine = engine;
        let ended = own.clone();
        engine.wake_with(std::sync::Arc::new(move || drop(ended.send(Mail::Look))));
        Worker {
            engine,
            post,
            receiver,
            own,
            ended: false,
            loading: false,
            watched: Vec::new(),
            idle_since: Instant::now(),
            keep_at: None,
        }
        .run();
    })?;
    Ok(Handle(Arc::new(Door { sender, done: Mutex::new(done) })))
}

struct Worker {
    engine: Engine,
    post: Box<dyn Post>,
    receiver: Receiver<Mail>,
    /// For the thread that loads a vocabulary to answer.
    own: Sender<Mail>,
    ended: bool,
    loading: bool,
    watched: Vec<PathBuf>,
    idle_since: Instant,
    /// When the text that is typed is kept; none while nothing is unkept.
    keep_at: Option<Instant>,
}

impl Worker {
    fn run(mut self) {
        self.publish();
        loop {
            let Some(first) = self.wait() else { return };
            let mut changed = false;
            if let Some(first) = first {
                changed |= self.take(first);
            }
            changed |= self.drain();
            if self.ended {
                self.engine.keep_text();
                return;
            }
            if self.engine.is_playing() && self.idle_since.elapsed() >= BEAT {
                self.engine.play_on();
                self.idle_since = Instant::now();
                changed = true;
            }
            if changed {
                self.publish();
            }
            self.keep();
            if !self.work() {
                self.engine.keep_text();
                return;
            }
        }
    }

    /// Keeps the text that is typed, once it is time.
    fn keep(&mut self) {
        let now = Instant::now();
        match self.keep_at {
            _ if !self.engine.has_unkept() => self.keep_at = None,
            None => self.keep_at = Some(now + KEEP),
            Some(at) if at <= now => {
                self.engine.keep_text();
                self.keep_at = None;
            }
            Some(_) => {}
        }
    }

    /// The next mail; none in time where a run plays or a text is to be kept. The outer none means that nobody is left to
    /// ask.
    fn wait(&mut self) -> Option<Option<Mail>> {
        let beat = self.engine.is_playing().then(|| BEAT.saturating_sub(self.idle_since.elapsed()));
        let keep = self.keep_at.map(|at| at.saturating_duration_since(Instant::now()));
        if let Some(left) = beat.into_iter().chain(keep).min() {
            return match self.receiver.recv_timeout(left) {
                Ok(mail) => Some(Some(mail)),
                Err(RecvTimeoutError::Timeout) => Some(None),
                Err(RecvTimeoutError::Disconnected) => None,
            };
        }
        self.receiver.recv().ok().map(Some)
    }

    /// Everything that has arrived: keys are never dropped, looks become one, of typed drafts the newest counts.
    fn drain(&mut self) -> bool {
        let mut changed = false;
        let mut preview = None;
        let mut look = false;
        while let Ok(mail) = self.receiver.try_recv() {
            match mail {
                Mail::Look => look = true,
                Mail::Request(
                    typed @ (EngineRequest::PreviewCwd(_)
                    | EngineRequest::DraftText(_)
                    | EngineRequest::PreviewSpoken(..)),
                ) => preview = Some(typed),
                other => {
                    if matches!(other, Mail::Request(_)) {
                        preview = None;
                    }
                    changed |= self.take(other);
                }
            }
        }
        if look {
            changed |= self.take(Mail::Look);
        }
        if let Some(typed) = preview {
            changed |= self.take(Mail::Request(typed));
        }
        changed
    }

    fn take(&mut self, mail: Mail) -> bool {
        match mail {
            Mail::Look | Mail::Request(EngineRequest::Look) => self.engine.look(),
            Mail::Request(request) => {
                let plays = request == EngineRequest::Play;
                self.engine.handle(request);
                if plays {
                    self.idle_since = Instant::now().checked_sub(BEAT).unwrap_or_else(Instant::now);
                }
                true
            }
            Mail::Watching(status) => {
                self.engine.set_watching(status);
                true
            }
            Mail::Loaded => {
                self.loading = false;
                true
            }
            Mail::End => {
                self.ended = true;
                false
            }
        }
    }

    fn publish(&mut self) {
        let snapshot = self.engine.snapshot();
        self.post.publish(Arc::new(snapshot));
        let (mut inputs, root) = self.engine.inputs();
        inputs.sort();
        inputs.dedup();
        if inputs != self.watched {
            self.watched.clone_from(&inputs);
            self.post.watch(inputs, &root);
        }
        if !self.loading && self.engine.to_load().is_some() {
            self.load();
        }
    }

    /// Loads the vocabulary beside the thread, so that keys are answered meanwhile.
    fn load(&mut self) {
        let Some(encoding) = self.engine.to_load() else { return };
        let back = self.own.clone();
        self.loading = true;
        let loader = std::thread::Builder::new().name("vocabulary".into()).spawn(move || {
            encoding.load();
            let _ = back.send(Mail::Loaded);
        });
        if loader.is_err() {
            // Then it is loaded here, and keys wait.
            encoding.load();
            self.loading = false;
        }
    }

    /// Works out the table of variants while nobody asks for anything. False when nobody is left to ask.
    fn work(&mut self) -> bool {
        let mut told = Instant::now();
        let mut untold = false;
        loop {
            match self.receiver.try_recv() {
                Ok(mail) => {
                    if self.take(mail) {
                        self.drain();
                        self.publish();
                        untold = false;
                    }
                }
                Err(TryRecvError::Disconnected) => return false,
                Err(TryRecvError::Empty) => {}
            }
            if self.ended {
                return false;
            }
            if !self.engine.work() {
                break;
            }
            untold = true;
            if told.elapsed() >= TELL {
                self.publish();
                told = Instant::now();
                untold = false;
            }
        }
        if untold {
            self.publish();
        }
        true
    }
}
