//! One way of building the same run: what each of its calls costs each model, and what the model was told.

use std::sync::Arc;

use serde::Serialize;

use super::sums;
use crate::core::cache::{Lane, Measures, Models, Money, Outcome, Simulator, Verdict};
use crate::core::fact::Name;
use crate::core::run::{Answer, Belief, Requests, Session};
use crate::core::wire::CallNo;

/// What one call costs one model. Tokens are that model's; none is "not known".
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallCell {
    /// Tokens sent.
    pub sent: Option<u32>,
    /// Of them, read from the cache.
    pub read: Option<u32>,
    /// Written at a price of its own; none also where writing has no fee.
    pub write: Option<u32>,
    /// Paid as ordinary input.
    pub fresh: Option<u32>,
    /// Paid again; none also for the first call of a conversation, which has nothing to lose.
    pub lost: Option<u32>,
    /// What the input costs.
    pub cost: Option<Money>,
    /// What became of the cache.
    pub verdict: Verdict,
    /// True where the counts are estimates.
    pub estimate: bool,
}

impl CallCell {
    fn of(outcome: &Outcome) -> CallCell {
        CallCell {
            sent: outcome.sent,
            read: outcome.read(),
            write: outcome.write(),
            fresh: outcome.fresh(),
            lost: outcome.lost(),
            cost: outcome.cost,
            verdict: outcome.verdict,
            estimate: outcome.estimate,
        }
    }
}

/// What the model must believe in one call about the facts that changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beliefs {
    /// Some fact's last word is wrong.
    pub stale: bool,
    /// Some old value stands before the right one.
    pub superseded: bool,
    /// There is no word at all on some fact.
    pub untold: bool,
}

/// A call of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowCall {
    /// The call.
    pub call: CallNo,
    /// The turn of the main conversation in which it happens, from 1: that of a sub-agent counts to its caller's.
    pub turn: u32,
    /// The conversation.
    pub agent: Name,
    /// When it is sent, in milliseconds since the Unix epoch: prices and lives depend on it.
    pub at: i64,
    /// What the model must believe.
    pub beliefs: Beliefs,
    /// For each model, in the order of [`Row::models`]; empty for a call that failed.
    pub cells: Vec<CallCell>,
}

/// A way of building a run, played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What is changed, in order: names of variants and of derived policies. Empty for the bench as it is written.
    pub names: Vec<Name>,
    /// The models, as `provider:model`.
    pub models: Vec<Name>,
    /// Its calls, in order.
    pub calls: Vec<RowCall>,
    /// A hash of everything that was sent, marks included: rows of which it is equal are the same way.
    pub sent: u64,
    /// Why it could not be played; then there are no calls.
    pub failed: Option<String>,
}

/// The sums of one model over a row or over its first turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sum {
    /// Calls that are in it.
    pub calls: u32,
    /// Tokens sent; none where some are not known.
    pub sent: Option<u64>,
    /// Tokens read.
    pub read: Option<u64>,
    /// Tokens written at a price of their own; none also where writing has no fee.
    pub write: Option<u64>,
    /// Tokens paid as ordinary input.
    pub fresh: Option<u64>,
    /// Tokens paid again.
    pub lost: Option<u64>,
    /// What the input costs.
    pub cost: Option<Money>,
    /// True where a count in it is an estimate.
    pub estimate: bool,
    /// Tokens of the first call.
    pub first: Option<u32>,
    /// Tokens of the last call: how far the context has grown.
    pub last: Option<u32>,
    /// The largest of all calls.
    pub largest: Option<u32>,
}

/// In how many calls the model must believe what is not so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Told {
    /// Calls in which the last word on some fact is wrong.
    pub stale: u32,
    /// Calls in which an old value stands before the right one.
    pub superseded: u32,
    /// Calls in which there is no word on some fact.
    pub untold: u32,
}

impl Told {
    /// True when nothing is believed wrongly and nothing is left out.
    #[must_use]
    pub fn is_honest(self) -> bool {
        self.stale == 0 && self.untold == 0
    }
}

impl Row {
    /// A row that could not be played.
    #[must_use]
    pub fn failed(names: Vec<Name>, reason: impl Into<String>) -> Row {
        Row { names, failed: Some(reason.into()), ..Row::default() }
    }

    /// Plays what a session was sent against the caches of these models, as if each call went to each of them. A
    /// session that has sent nothing counts the request that waits.
    pub fn of(
        names: Vec<Name>,
        session: &Session,
        models: &Arc<Models>,
        ids: &[Name],
        measures: &mut dyn Measures,
    ) -> Row {
        let lanes = ids.iter().map(|id| Lane::As(id.clone()));
        let mut simulator = Simulator::new(models.clone(), lanes);
        let mut calls = Vec::new();
        let mut hash = sums::Hash::default();
        let mut turn = 0;
        let waiting = session.prepared().filter(|_| session.calls().is_empty());
        let mut requests = Requests::default();
        for record in session.calls().iter().map(|record| &**record).chain(waiting) {
            if !record.agent.contains('/') {
                turn = record.turn;
            }
            let Some(request) = requests.get(session, record.call) else { continue };
            hash.request(request);
            let cells = match &record.answer {
                Some(Answer::Failed(_)) => {
                    simulator.not_sent(request);
                    Vec::new()
                }
                _ => simulator.call(request, measures).iter().map(CallCell::of).collect(),
            };
            let has = |belief: Belief| record.told.iter().any(|told| told.belief == belief);
            calls.push(RowCall {
                call: record.call,
                turn: turn.max(1),
                agent: record.agent.clone(),
                at: record.at,
                beliefs: Beliefs {
                    stale: has(Belief::Stale),
                    superseded: has(Belief::Superseded),
                    untold: has(Belief::Untold),
                },
                cells,
            });
        }
        Row { names, models: ids.to_vec(), calls, sent: hash.value(), failed: None }
    }

    /// How many turns it has.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.calls.last().map_or(0, |call| call.turn)
    }

    /// The calls of the first `turns` turns; of all without a number.
    pub fn within(&self, turns: Option<u32>) -> impl Iterator<Item = &RowCall> {
        let turns = turns.unwrap_or(u32::MAX);
        self.calls.iter().filter(move |call| call.turn <= turns)
    }

    /// What the model must believe, over the first `turns` turns.
    #[must_use]
    pub fn told(&self, turns: Option<u32>) -> Told {
        let mut told = Told::default();
        for call in self.within(turns) {
            told.stale += u32::from(call.beliefs.stale);
            told.superseded += u32::from(call.beliefs.superseded);
            told.untold += u32::from(call.beliefs.untold);
        }
        told
    }

    /// The sums of a model, over the first `turns` turns. A sum of which a part is not known is not known.
    #[must_use]
    pub fn sum(&self, model: usize, turns: Option<u32>) -> Sum {
        sums::sum(self.within(turns).filter_map(|call| call.cells.get(model)))
    }

    /// The sums of a model over one turn.
    #[must_use]
    pub fn turn_sum(&self, model: usize, turn: u32) -> Sum {
        let calls = self.calls.iter().filter(|call| call.turn == turn);
        sums::sum(calls.filter_map(|call| call.cells.get(model)))
    }

    /// The first call in which something is paid again.
    #[must_use]
    pub fn first_loss(&self, model: usize, turns: Option<u32>) -> Option<CallNo> {
        let loses = |call: &&RowCall| call.cells.get(model).and_then(|cell| cell.lost).is_some_and(|n| n > 0);
        self.within(turns).find(loses).map(|call| call.call)
    }
}
