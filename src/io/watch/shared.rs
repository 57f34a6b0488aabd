//! What the watcher's thread shares with its owner and with the thread that delivers the system's events.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::burst::{Burst, Inputs, Pending};
use super::interest::Interest;
use super::walk::Spot;

/// The state, and the bell that wakes the watcher's thread.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    wake_ups: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    interest: Interest,
    burst: Burst,
    pending: Pending,
    /// The inputs whose way has to be walked again.
    rerouted: Inputs,
    /// The folders that have to be watched again, with everything beneath them.
    replaced: BTreeSet<PathBuf>,
    /// Events were lost: every input is touched and every folder replaced.
    lost: bool,
    /// A new set of inputs.
    wanted: Option<Inputs>,
    look_again: bool,
    stop: bool,
    /// Until when the thread sleeps; none while it works or sleeps for ever.
    sleeps_until: Option<Instant>,
}

/// What the watcher's thread woke up for.
#[derive(Debug, Default)]
pub(super) struct Job {
    /// The watcher is gone.
    pub(super) stop: bool,
    /// A new set of inputs.
    pub(super) wanted: Option<Inputs>,
    /// Every input has to be looked at.
    pub(super) look_again: bool,
    /// When the first sign of `look` was seen.
    pub(super) first: Option<Instant>,
    /// The inputs to look at.
    pub(super) look: Inputs,
    /// The inputs whose way has to be walked again.
    pub(super) rerouted: Inputs,
    /// The folders that have to be watched again, with everything beneath them.
    pub(super) replaced: BTreeSet<PathBuf>,
    /// Events were lost: every input is touched and every folder replaced.
    pub(super) lost: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.wake.notify_all();
    }

    /// Hands over a new set of inputs; the newest wins.
    pub(super) fn set(&self, inputs: Inputs) {
        self.tell(|state| state.wanted = Some(inputs));
    }

    /// Asks for a look at everything.
    pub(super) fn look_again(&self) {
        self.tell(|state| state.look_again = true);
    }

    /// Ends the watcher's thread.
    pub(super) fn stop(&self) {
        self.tell(|state| state.stop = true);
    }

    /// How often the watcher's thread woke up.
    pub(super) fn wake_ups(&self) -> u64 {
        self.wake_ups.load(Ordering::Relaxed)
    }

    /// Adds a spot of an input, before it is watched.
    pub(super) fn add_interest(&self, spot: Spot<'_>, input: &Arc<Path>) {
        self.lock().interest.add(spot, input);
    }

    /// Replaces what was added.
    pub(super) fn replace_interest(&self, interest: Interest) {
        self.lock().interest = interest;
    }

    /// Marks these inputs as touched.
    pub(super) fn touch(&self, inputs: Inputs) {
        self.lock().pending.add(Instant::now(), inputs);
    }

    /// Takes an event of the system. It runs for every event of a checkout, so it rings only when something has to happen
    /// sooner than the watcher's thread wakes by itself.
    pub(super) fn on_event(&self, event: notify::Result<notify::Event>) {
        let now = Instant::now();
        let mut state = self.lock();
        match event {
            Ok(event) if !event.need_rescan() => {
                let touched = state.interest.touched(&event);
                state.rerouted.extend(touched.rerouted);
                state.replaced.extend(touched.replaced);
                state.pending.add(now, touched.inputs);
            }
            _ => {
                state.lost = true;
                state.pending.first.get_or_insert(now);
            }
        }
        if let Some(due) = state.burst.due(&state.pending)
            && state.sleeps_until.is_none_or(|until| due < until)
        {
            self.wake.notify_all();
        }
    }

    /// Sleeps until there is something to do, or until `alarm`, and takes what there is.
    pub(super) fn wait(&self, alarm: Option<Instant>) -> Job {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let pass_at = state.burst.due(&state.pending);
            let wake_at = [pass_at, alarm].into_iter().flatten().min();
            if state.stop || state.look_again || state.wanted.is_some() || wake_at.is_some_and(|at| at <= now)
            {
                let mut job = Job {
                    stop: state.stop,
                    wanted: state.wanted.take(),
                    look_again: std::mem::take(&mut state.look_again),
                    ..Job::default()
                };
                if pass_at.is_some_and(|at| at <= now) {
                    let pending = std::mem::take(&mut state.pending);
                    job.first = pending.first;
                    job.look = state.burst.pass(now, pending.inputs);
                    job.rerouted = std::mem::take(&mut state.rerouted);
                    job.replaced = std::mem::take(&mut state.replaced);
                    job.lost = std::mem::take(&mut state.lost);
                }
                return job;
            }
            state.sleeps_until = wake_at;
            state = match wake_at {
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let waited = self.wake.wait_timeout(state, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.sleeps_until = None;
            self.wake_ups.fetch_add(1, Ordering::Relaxed);
        }
    }
}
