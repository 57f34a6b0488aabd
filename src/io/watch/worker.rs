//! The watcher's thread: it keeps the right folders watched and turns events into hints.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::burst::Inputs;
use super::interest::Interest;
use super::mounts::Mounts;
use super::shared::Shared;
use super::walk::{OwnedSpot, Spot, walk};
use super::{Look, Mode, Notice, POLL_PERIOD, Status};

/// When an input that is empty or gone is looked at again: between truncating and writing it is neither what it was nor
/// what it will be.
const SETTLE: Duration = Duration::from_millis(50);
/// A folder may disappear between looking at it and watching it; so often its inputs are walked to again at once.
const MAX_WALKS: u32 = 3;

/// What can be seen of an input without reading it: its size, time and number; none when there is nothing.
type Signature = Option<(u64, Option<SystemTime>, u64)>;

/// The state of the thread.
pub(super) struct Worker {
    shared: Arc<Shared>,
    root: PathBuf,
    mode: Mode,
    sink: Box<dyn FnMut(Notice) + Send>,
    native: Option<RecommendedWatcher>,
    /// Why there is no `native`.
    no_events: Option<String>,
    inputs: Inputs,
    /// The way to each input.
    ways: BTreeMap<Arc<Path>, Vec<OwnedSpot>>,
    /// The folders that are watched.
    armed: BTreeSet<PathBuf>,
    /// The folders that cannot be watched, and why.
    failed: BTreeMap<PathBuf, String>,
    /// Inputs that are looked at again once, and when.
    settle: Option<(Instant, Inputs)>,
    /// Inputs that are looked at regularly, with what was seen the last time.
    polled: BTreeMap<Arc<Path>, Signature>,
    poll_at: Option<Instant>,
    status: Option<Status>,
}

impl Worker {
    pub(super) fn new(
        shared: Arc<Shared>,
        root: PathBuf,
        mode: Mode,
        sink: Box<dyn FnMut(Notice) + Send>,
    ) -> Self {
        Self {
            shared,
            root,
            mode,
            sink,
            native: None,
            no_events: None,
            inputs: Inputs::new(),
            ways: BTreeMap::new(),
            armed: BTreeSet::new(),
            failed: BTreeMap::new(),
            settle: None,
            polled: BTreeMap::new(),
            poll_at: None,
            status: None,
        }
    }

    /// Works until the watcher is dropped.
    pub(super) fn run(mut self) {
        loop {
            let settle_at = self.settle.as_ref().map(|(at, _)| *at);
            let job = self.shared.wait([settle_at, self.poll_at].into_iter().flatten().min());
            if job.stop {
                return;
            }
            let now = Instant::now();
            let before = job.wanted.map(|wanted| std::mem::replace(&mut self.inputs, wanted));
            // First the hints, then everything else: somebody waits to see the change.
            if job.look_again {
                self.look(now, self.inputs.clone());
            }
            let touched = if job.lost { self.inputs.clone() } else { job.look };
            self.look_and_settle(job.first.unwrap_or(now), touched);
            if let Some((at, inputs)) = self.settle.take_if(|(at, _)| *at <= now) {
                self.look(at, inputs);
            }
            if let Some(before) = before {
                let new: Inputs = self.inputs.difference(&before).cloned().collect();
                let _ = self.rewatch(new.clone());
                // Whoever asked for them has read them before they were watched.
                self.look(now, new);
            }
            if job.lost {
                self.disarm(self.armed.clone());
                let touched = self.rewatch(self.inputs.clone());
                self.shared.touch(touched);
            } else if !job.rerouted.is_empty() || !job.replaced.is_empty() {
                let replaced = |folder: &&PathBuf| job.replaced.iter().any(|outer| folder.starts_with(outer));
                self.disarm(self.armed.iter().filter(replaced).cloned().collect());
                let touched = self.rewatch(job.rerouted);
                self.shared.touch(touched);
            }
            if self.poll_at.is_some_and(|at| at <= now) {
                self.poll(now);
            }
        }
    }

    fn look(&mut self, at: Instant, mut paths: Inputs) {
        // The set may have changed since the event.
        paths.retain(|path| self.inputs.contains(path));
        if !paths.is_empty() {
            (self.sink)(Notice::Look(Look { at, paths }));
        }
    }

    fn look_and_settle(&mut self, at: Instant, paths: Inputs) {
        if paths.is_empty() {
            return;
        }
        self.look(at, paths.clone());
        let unsettled =
            |path: &Arc<Path>| std::fs::metadata(path).map_or(true, |it| it.is_file() && it.len() == 0);
        let unsettled: Inputs = paths.into_iter().filter(unsettled).collect();
        if !unsettled.is_empty() {
            let (settle_at, inputs) = self.settle.get_or_insert_with(|| (at, Inputs::new()));
            *settle_at = Instant::now() + SETTLE;
            inputs.extend(unsettled);
        }
    }

    /// Stops watching these folders.
    fn disarm(&mut self, folders: BTreeSet<PathBuf>) {
        for folder in folders {
            if let Some(native) = &mut self.native {
                // The watch may have died with its folder.
                let _ = native.unwatch(&folder);
            }
            self.armed.remove(&folder);
        }
    }

    /// Walks to these inputs and watches what decides about them; no longer watches what decides about none. Returns the
    /// inputs that lead through a folder which is watched only now: until now anything may have happened there.
    #[must_use]
    fn rewatch(&mut self, mut inputs: Inputs) -> Inputs {
        inputs.retain(|input| self.inputs.contains(input));
        self.ways.retain(|input, _| self.inputs.contains(input));
        let before = self.armed.clone();
        if self.mode == Mode::Auto {
            if self.native.is_none() && !self.inputs.is_empty() {
                self.create_native();
            }
            for _ in 0..MAX_WALKS {
                inputs = self.walk_all(inputs);
                if inputs.is_empty() {
                    break;
                }
            }
        }
        let mut interest = Interest::default();
        for (input, way) in &self.ways {
            for spot in way {
                interest.add(spot.spot(), input);
            }
        }
        let unused: BTreeSet<PathBuf> =
            self.armed.iter().filter(|folder| !interest.has(folder)).cloned().collect();
        self.failed.retain(|folder, _| interest.has(folder));
        let new = self.armed.difference(&before);
        let touched = new.flat_map(|folder| interest.through(folder)).cloned().collect();
        self.shared.replace_interest(interest);
        self.disarm(unused);
        let reason = self.plan_polling();
        self.report(reason);
        touched
    }

    fn create_native(&mut self) {
        let shared = Arc::clone(&self.shared);
        let config = notify::Config::default().with_follow_symlinks(false);
        match RecommendedWatcher::new(move |event| shared.on_event(event), config) {
            Ok(native) => {
                self.native = Some(native);
                self.no_events = None;
            }
            Err(error) => {
                let reason = reason(
                    &error,
                    "the system's limit of watchers is reached (fs.inotify.max_user_instances)",
                );
                tracing::warn!("no file events: {reason}");
                self.no_events = Some(reason);
            }
        }
    }

    /// Walks to these inputs; returns those on whose way a folder vanished meanwhile.
    fn walk_all(&mut self, inputs: Inputs) -> Inputs {
        let root = self.root.clone();
        let mut vanished_inputs = Inputs::new();
        for input in inputs {
            let mut way = Vec::new();
            let mut vanished = false;
            walk(&input, &root, |spot| {
                // Interest first: an event that arrives right after the watch is set must find it.
                self.shared.add_interest(spot, &input);
                way.push(OwnedSpot::from(spot));
                let (Spot::Entry { folder, .. } | Spot::Listing { folder }) = spot;
                vanished |= !self.arm(folder);
            });
            self.ways.insert(Arc::clone(&input), way);
            if vanished {
                vanished_inputs.insert(input);
            }
        }
        vanished_inputs
    }

    /// Watches a folder; false when it is not there.
    fn arm(&mut self, folder: &Path) -> bool {
        if self.armed.contains(folder) || self.failed.contains_key(folder) {
            return true;
        }
        let Some(native) = &mut self.native else { return true };
        match native.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.armed.insert(folder.to_owned());
                true
            }
            Err(error) if is_missing(&error) => false,
            Err(error) => {
                let limit = "the system's limit of watched folders is reached (fs.inotify.max_user_watches)";
                let reason = reason(&error, limit);
                tracing::warn!("cannot watch {}: {reason}", folder.display());
                self.failed.insert(folder.to_owned(), reason);
                true
            }
        }
    }

    /// Chooses the inputs that have to be looked at regularly; returns why there are any.
    fn plan_polling(&mut self) -> Option<String> {
        let mounts = Mounts::read();
        let mut reason = None;
        let mut silent = |way: &[OwnedSpot]| {
            let found = way.iter().map(OwnedSpot::folder).find_map(|folder| {
                let silent =
                    |kind| format!("{} is on {kind}, which does not report changes", folder.display());
                self.failed.get(folder).cloned().or_else(|| mounts.silent(folder).map(silent))
            });
            let is_silent = found.is_some();
            reason = reason.take().or(found);
            is_silent
        };
        let mut chosen: Inputs = match self.mode {
            Mode::Off => Inputs::new(),
            Mode::Poll => self.inputs.clone(),
            Mode::Auto if self.native.is_none() => self.inputs.clone(),
            Mode::Auto => {
                self.ways.iter().filter(|(_, way)| silent(way)).map(|(input, _)| Arc::clone(input)).collect()
            }
        };
        if self.mode == Mode::Auto && self.native.is_none() {
            reason = self.no_events.clone();
        }
        self.polled.retain(|input, _| chosen.remove(input));
        self.polled.extend(chosen.into_iter().map(|input| {
            let signature = signature(&input);
            (input, signature)
        }));
        self.poll_at = if self.polled.is_empty() {
            None
        } else {
            self.poll_at.or_else(|| Some(Instant::now() + POLL_PERIOD))
        };
        reason
    }

    fn poll(&mut self, now: Instant) {
        self.poll_at = Some(now + POLL_PERIOD);
        let mut changed = Inputs::new();
        for (input, seen) in &mut self.polled {
            let signature = signature(input);
            if *seen != signature {
                *seen = signature;
                changed.insert(Arc::clone(input));
            }
        }
        self.shared.touch(changed);
        if self.mode == Mode::Auto {
            // What could not be watched perhaps can be now, and a folder that reports nothing does not report either that
            // it is another one.
            self.failed.clear();
            let touched = self.rewatch(self.polled.keys().cloned().collect());
            self.shared.touch(touched);
        }
    }

    fn report(&mut self, polling: Option<String>) {
        let status = match (self.mode, polling) {
            (Mode::Off, _) => Status::Off { reason: "turned off".into() },
            (Mode::Poll, _) => Status::Polling { reason: "as set".into() },
            (Mode::Auto, Some(reason)) => Status::Polling { reason },
            (Mode::Auto, None) => Status::Watching { folders: self.armed.len() },
        };
        if self.status.as_ref() != Some(&status) {
            self.status = Some(status.clone());
            (self.sink)(Notice::Status(status));
        }
    }
}

fn signature(path: &Path) -> Signature {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0;
    Some((metadata.len(), metadata.modified().ok(), number))
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => {
            matches!(error.kind(), IoErrorKind::NotFound | IoErrorKind::NotADirectory)
        }
        _ => false,
    }
}

/// What went wrong, in words; `limit` is said when the system has no more to give.
fn reason(error: &notify::Error, limit: &str) -> String {
    // EMFILE and ENFILE; the numbers are the same on every Unix.
    let is_limit = |error: &std::io::Error| matches!(error.raw_os_error(), Some(23 | 24));
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => limit.into(),
        notify::ErrorKind::Io(error) if is_limit(error) => limit.into(),
        notify::ErrorKind::Io(error) => match &error.kind() {
            IoErrorKind::PermissionDenied => "the folder may not be read".into(),
            _ => error.to_string(),
        },
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_the_system_is_named() {
        let full = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        assert_eq!(reason(&full, "the limit"), "the limit");
        let none_left = notify::Error::io(std::io::Error::from_raw_os_error(24));
        assert_eq!(reason(&none_left, "the limit"), "the limit");
        let closed = notify::Error::io(std::io::Error::from(IoErrorKind::PermissionDenied));
        assert_eq!(reason(&closed, "the limit"), "the folder may not be read");
        assert!(is_missing(&notify::Error::io(std::io::Error::from(IoErrorKind::NotFound))));
        assert!(!is_missing(&closed));
    }
}
