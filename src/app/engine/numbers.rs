//! Tokens and cache numbers of a session, call by call.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::app::snapshot::{Lost, Paid};
use crate::core::bench::{Bench, Keeping};
use crate::core::cache::{
    Labels, Lane, Measures, Models, NeverRead, Outcome, Simulator, Totals, Verdict, What,
};
use crate::core::fact::EventId;
use crate::core::run::{Answer, Requests, Session};
use crate::core::tokens::{Encoding, LineCounter, Measure};
use crate::core::wire::CallNo;

use super::publish::shown_name;

/// One counter for each vocabulary that was asked for, with what it has counted.
#[derive(Default)]
pub struct Counters(BTreeMap<Encoding, LineCounter>);

impl Measures for Counters {
    fn of(&mut self, encoding: Encoding) -> &mut dyn Measure {
        self.0.entry(encoding).or_insert_with(|| LineCounter::new(encoding))
    }
}

/// What came of the calls of a session, in order, for each lane of a simulator.
#[derive(Clone)]
pub struct Numbers {
    simulator: Simulator,
    /// By call number - 1; empty for a call that failed.
    outcomes: Vec<Vec<Outcome>>,
}

impl Numbers {
    /// No calls yet.
    #[must_use]
    pub fn new(models: Arc<Models>, lanes: impl IntoIterator<Item = Lane>) -> Numbers {
        Numbers { simulator: Simulator::new(models, lanes), outcomes: Vec::new() }
    }

    /// No calls yet, for the same questions as another.
    #[must_use]
    pub fn like(other: &Numbers, models: Arc<Models>) -> Numbers {
        Numbers::new(models, other.simulator.lanes().cloned().collect::<Vec<_>>())
    }

    /// Works out the calls that were sent since, and with `waiting` the one that waits as if it were sent now.
    pub fn extend(&mut self, session: &Session, waiting: bool, counters: &mut Counters) {
        let first = self.outcomes.len() as u32 + 1;
        let last = session.calls().len() as u32 + u32::from(waiting && session.prepared().is_some());
        let mut requests = Requests::default();
        for call in first..=last {
            let Some(request) = requests.get(session, CallNo(call)) else { continue };
            let failed = session
                .calls()
                .get(call as usize - 1)
                .is_some_and(|record| matches!(record.answer, Some(Answer::Failed(_))));
            if failed {
                self.simulator.not_sent(request);
                self.outcomes.push(Vec::new());
            } else {
                let mut outcomes = self.simulator.call(request, counters);
                outcomes.iter_mut().for_each(|outcome| explain(outcome, session));
                self.outcomes.push(outcomes);
            }
        }
    }

    /// How many calls are worked out.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.outcomes.len()
    }

    /// What came of a call in a lane; none for a call that failed or is not worked out.
    #[must_use]
    pub fn outcome(&self, call: CallNo, lane: usize) -> Option<&Outcome> {
        self.outcomes.get((call.0 as usize).checked_sub(1)?)?.get(lane)
    }

    /// What came of a call in each lane.
    #[must_use]
    pub fn outcomes(&self, call: CallNo) -> &[Outcome] {
        (call.0 as usize).checked_sub(1).and_then(|index| self.outcomes.get(index)).map_or(&[], Vec::as_slice)
    }

    /// What a lane's caches were written and have not read.
    #[must_use]
    pub fn never_read(&self, lane: usize) -> Vec<NeverRead> {
        self.simulator.never_read(lane)
    }

    /// The sums of a lane.
    #[must_use]
    pub fn totals(&self, lane: usize) -> Totals {
        let mut totals = Totals::default();
        for outcome in self.outcomes.iter().filter_map(|call| call.get(lane)) {
            totals += outcome;
        }
        totals
    }
}

/// What is not there any more, or only stands elsewhere, cannot say why; that a layer was changed by hand can.
fn explain(outcome: &mut Outcome, session: &Session) {
    let call = outcome.call;
    let blames = outcome.blame.iter_mut().chain(outcome.behind.iter_mut().map(|behind| &mut behind.blame));
    for blame in blames.filter(|blame| blame.cause.is_none_or(|cause| cause == EventId::OPENING)) {
        let event = match blame.what {
            What::Disappeared => session.edit_before(Some(&blame.part), call),
            What::Moved => session.edit_before(None, call),
            What::Changed | What::Appeared => None,
        };
        if let Some(event) = event {
            Arc::make_mut(blame).cause = Some(event);
        }
    }
}

/// The columns of pane 2.
#[must_use]
pub fn paid(outcome: &Outcome) -> Paid {
    let lost = match (outcome.split, outcome.verdict) {
        (None, _) if outcome.verdict == Verdict::First => Lost::First,
        (None, _) => Lost::Unknown("no cache rules for this model".into()),
        (Some(split), _) => match split.lost {
            None => Lost::First,
            Some(0) => Lost::Nothing,
            Some(lost) => Lost::Tokens(u64::from(lost)),
        },
    };
    Paid {
        sent: outcome.sent.map(u64::from),
        read: outcome.read().map(u64::from),
        write: outcome.write().map(u64::from),
        fresh: outcome.fresh().map(u64::from),
        lost,
        estimate: outcome.estimate,
    }
}

/// Calls `then` with the labels of a session: its events, its layers' shown names and keep rules.
pub fn with_labels<T>(session: &Session, then: impl FnOnce(&Labels<'_>) -> T) -> T {
    let bench: &Bench = session.bench();
    let event = |id: EventId| session.event(id).label.to_string();
    let layer = |id: &str| shown_name(bench, &id.into()).to_string();
    let strip = |id: &str, new_turn: bool| {
        let keep = &bench.layer(id)?.keep;
        match new_turn {
            true if keep.persist == Keeping::Strip => Some("persist: strip".to_owned()),
            false if keep.earlier == Keeping::Strip => Some("earlier: strip".to_owned()),
            _ => None,
        }
    };
    then(&Labels { event: &event, layer: &layer, strip: &strip })
}
