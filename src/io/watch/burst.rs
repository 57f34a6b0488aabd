//! When to say that something changed: at once, once more 10 ms later, and ever more rarely while changes go on.
//!
//! Pure arithmetic over moments, so that it can be tested without waiting.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time from the first pass to the one that follows it: a save is rarely one event.
pub(super) const TRAILING: Duration = Duration::from_millis(10);
/// While events go on, the time between passes doubles up to this: a checkout of thousands of files costs few passes.
const SLOWEST: Duration = Duration::from_millis(640);
/// An input that was quiet so far need not wait for the next pass of a burst that others keep up, but such passes are
/// at least this far apart.
const FRESH_PERIOD: Duration = Duration::from_millis(500);

/// A set of inputs, by the paths under which they are watched.
pub(super) type Inputs = BTreeSet<Arc<Path>>;

/// The events of a burst that were not passed on yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The moment of the first of them.
    pub(super) first: Option<Instant>,
    /// The inputs that they are about.
    pub(super) inputs: Inputs,
}

impl Pending {
    /// Adds an event.
    pub(super) fn add(&mut self, now: Instant, inputs: impl IntoIterator<Item = Arc<Path>>) {
        let before = self.inputs.len();
        self.inputs.extend(inputs);
        if self.inputs.len() > before {
            self.first.get_or_insert(now);
        }
    }
}

/// Where a burst of events stands.
#[derive(Debug, Default)]
pub(super) struct Burst {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    /// The moment of the next pass.
    next: Instant,
    /// The time from the last pass to `next`.
    period: Duration,
    /// From when on an input that is not in `passed` gets a pass of its own.
    fresh_from: Instant,
    /// What this burst has passed on.
    passed: Inputs,
    /// Whether what was passed on still has its second pass to come.
    second: bool,
}

impl Burst {
    /// The moment of the next pass; none when nothing is going on.
    pub(super) fn due(&self, pending: &Pending) -> Option<Instant> {
        let Some(running) = &self.running else { return pending.first };
        let fresh = || pending.inputs.iter().any(|input| !running.passed.contains(input));
        match pending.first {
            Some(first) if fresh() => Some(running.next.min(running.fresh_from.max(first))),
            _ => Some(running.next),
        }
    }

    /// Makes the pass that is due: what to look at now, which may be nothing.
    pub(super) fn pass(&mut self, now: Instant, pending: Inputs) -> Inputs {
        let Some(running) = &mut self.running else {
            if !pending.is_empty() {
                self.running = Some(Running {
                    next: now + TRAILING,
                    period: TRAILING,
                    fresh_from: now + FRESH_PERIOD,
                    passed: pending.clone(),
                    second: true,
                });
            }
            return pending;
        };
        if now < running.next {
            running.fresh_from = now + FRESH_PERIOD;
            running.passed.extend(pending.iter().cloned());
            running.second = true;
            return pending;
        }
        if pending.is_empty() {
            let running = self.running.take();
            return running
                .filter(|running| running.second)
                .map(|running| running.passed)
                .unwrap_or_default();
        }
        running.period = (running.period * 2).min(SLOWEST);
        running.next = now + running.period;
        let mut inputs = pending;
        if std::mem::take(&mut running.second) {
            inputs.extend(running.passed.iter().cloned());
        }
        running.passed.extend(inputs.iter().cloned());
        inputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(names: &[&str]) -> Inputs {
        names.iter().map(|name| Arc::from(Path::new(*name))).collect()
    }

    fn pending(at: Instant, names: &[&str]) -> Pending {
        let mut pending = Pending::default();
        pending.add(at, inputs(names));
        pending
    }

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn one_event_is_two_passes() {
        let start = Instant::now();
        let mut burst = Burst::default();
        assert_eq!(burst.due(&Pending::default()), None, "no timer runs when idle");
        assert_eq!(burst.due(&pending(start, &["a"])), Some(start), "at once");
        assert_eq!(burst.pass(start, inputs(&["a"])), inputs(&["a"]));
        assert_eq!(burst.due(&Pending::default()), Some(start + ms(10)));
        assert_eq!(burst.pass(start + ms(10), inputs(&[])), inputs(&["a"]));
        assert_eq!(burst.due(&Pending::default()), None);
    }

    #[test]
    fn the_second_pass_holds_what_the_first_did_although_others_came() {
        let start = Instant::now();
        let mut burst = Burst::default();
        burst.pass(start, inputs(&["a"]));
        assert_eq!(burst.pass(start + ms(10), inputs(&["b"])), inputs(&["a", "b"]));
        assert_eq!(burst.due(&Pending::default()), Some(start + ms(30)));
        assert_eq!(
            burst.pass(start + ms(30), inputs(&[])),
            inputs(&[]),
            "it was looked at after its last event"
        );
        assert_eq!(burst.due(&Pending::default()), None);
    }

    #[test]
    fn ten_passes_are_enough_for_two_seconds_of_events() {
        let start = Instant::now();
        let mut burst = Burst::default();
        let mut passes = 0;
        let mut now = start;
        let mut waiting = pending(start, &["folder"]);
        // One event every half millisecond.
        while now < start + ms(2000) {
            waiting.add(now, inputs(&["folder"]));
            if burst.due(&waiting).is_some_and(|due| due <= now) {
                let inputs = burst.pass(now, std::mem::take(&mut waiting).inputs);
                passes += usize::from(!inputs.is_empty());
            }
            now += Duration::from_micros(500);
        }
        assert!((5..=10).contains(&passes), "{passes} passes");
        let due = burst.due(&waiting).expect("the last events are not forgotten");
        assert_eq!(burst.pass(due, waiting.inputs), inputs(&["folder"]));
    }

    #[test]
    fn a_quiet_input_does_not_wait_for_a_noisy_one() {
        let start = Instant::now();
        let mut burst = Burst::default();
        burst.pass(start, inputs(&["noisy"]));
        let mut now = start;
        while now < start + ms(1500) {
            now = burst.due(&pending(now, &["noisy"])).expect("a burst is running");
            burst.pass(now, inputs(&["noisy"]));
        }
        let save = now + ms(1);
        assert!(burst.due(&pending(save, &["noisy"])) > Some(save + ms(100)));
        assert_eq!(burst.due(&pending(save, &["noisy", "quiet"])), Some(save));
        assert_eq!(burst.pass(save, inputs(&["noisy", "quiet"])), inputs(&["noisy", "quiet"]));

        let next = save + ms(1);
        assert!(
            burst.due(&pending(next, &["third"])) > Some(next + ms(100)),
            "but not one such pass for each"
        );
    }
}
