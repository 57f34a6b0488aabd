//! What was sent is not what is replayed: at each new turn, the messages of the turn before that come again as other
//! bytes, who took text out of them by which rule, and what that costs each model.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::core::cache::{Lane, Measures, Model, Models, Money, Outcome, Simulator};
use crate::core::fact::Name;
use crate::core::log::Rule;
use crate::core::run::{Answer, CallRecord, Entry, Ledger, Requests, Session};
use crate::core::text::number::Thousands;
use crate::core::wire::{Block, CallNo, MessageId, Request};

/// A message that is replayed as other bytes than it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Unkept {
    /// The message.
    pub message: MessageId,
    /// The last call that was sent it as it was.
    pub sent: CallNo,
    /// The first call of the next turn, which is sent the other bytes.
    pub replayed: CallNo,
    /// UTF-8 bytes as sent and as replayed.
    pub bytes: (usize, usize),
    /// The layers whose text was taken out, and by which rule; none by a rule where a context edit did it.
    pub taken: Vec<(Name, Option<Rule>)>,
    /// What it costs, for each model.
    pub costs: Vec<UnkeptCost>,
}

/// What it costs one model that a message is replayed as other bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnkeptCost {
    /// The model, as `provider:model`.
    pub model: Name,
    /// True where the call breaks here; false where it breaks earlier, and this break waits behind that one.
    pub first: bool,
    /// Tokens paid again because of this message, were everything in front of it as it was sent; none where it is not
    /// known.
    pub lost: Option<u32>,
    /// By how much that is more than if they had been read; none without prices.
    pub cost: Option<Money>,
    /// True where the count is an estimate.
    pub estimate: bool,
}

/// Follows a session and finds what is replayed otherwise than it was sent.
pub struct Replays {
    models: Vec<Arc<Model>>,
    simulator: Simulator,
    /// For each conversation the turn of its latest call, and that call.
    last: BTreeMap<Name, (u32, CallNo)>,
}

impl Replays {
    /// For these models, as if each call went to each of them.
    #[must_use]
    pub fn new(known: &Arc<Models>, models: &[Name]) -> Replays {
        let lanes = models.iter().cloned().map(Lane::As);
        Replays {
            models: models.iter().map(|id| known.get(id)).collect(),
            simulator: Simulator::new(known.clone(), lanes),
            last: BTreeMap::new(),
        }
    }

    /// Takes the next call of a session, sent or prepared, and tells what of the turn before it is sent otherwise.
    pub fn call(
        &mut self,
        session: &Session,
        record: &CallRecord,
        request: &Request,
        measures: &mut dyn Measures,
    ) -> Vec<Unkept> {
        if matches!(record.answer, Some(Answer::Failed(_))) {
            self.simulator.not_sent(request);
            return Vec::new();
        }
        let outcomes = self.simulator.call(request, measures);
        let before = self.last.insert(record.agent.clone(), (record.turn, record.call));
        let Some((_, sent)) = before.filter(|(turn, _)| *turn != record.turn) else { return Vec::new() };
        match session.ledger(sent).filter(|ledger| ledger.replay == Some(record.call)) {
            Some(ledger) => unkept_in(&ledger, record, &self.models, &outcomes),
            None => Vec::new(),
        }
    }
}

/// What of a ledger is replayed otherwise than it was sent, and what that costs. `record` is the call that is sent it
/// otherwise, `outcomes` what came of that call for each of the models.
#[must_use]
pub fn unkept_in(
    ledger: &Ledger,
    record: &CallRecord,
    models: &[Arc<Model>],
    outcomes: &[Outcome],
) -> Vec<Unkept> {
    let bytes = |blocks: &[Arc<Block>]| blocks.iter().map(|block| block.text.len()).sum();
    let one = |entry: &Entry| {
        let gone = entry.pieces.iter().filter(|piece| !piece.replayed);
        let costs = models.iter().zip(outcomes).map(|(model, outcome)| {
            let here = |message: Option<MessageId>| message == Some(entry.message);
            let first = outcome.blame.as_ref().is_some_and(|blame| here(blame.message));
            let behind = outcome.behind.iter().find(|behind| here(behind.blame.message));
            let lost = if first { outcome.lost() } else { behind.map(|behind| behind.still_lost) };
            // Where nothing is known of the cache, neither is this.
            let lost = lost.filter(|_| outcome.split.is_some());
            let cost = lost.and_then(|lost| paid(model, record.at, outcome, lost));
            UnkeptCost { model: model.id.clone(), first, lost, cost, estimate: outcome.estimate }
        });
        Unkept {
            message: entry.message,
            sent: ledger.call,
            replayed: record.call,
            bytes: (bytes(&entry.sent), bytes(&entry.replayed)),
            taken: gone
                .map(|piece| (piece.part.clone(), piece.stripped.map(|stripped| stripped.rule)))
                .collect(),
            costs: costs.collect(),
        }
    };
    ledger.entries.iter().filter(|entry| entry.differs()).map(one).collect()
}

impl UnkeptCost {
    /// `9,472 paid again ($0.0213): the call breaks here`.
    #[must_use]
    pub fn words(&self) -> String {
        let about = if self.estimate { "~" } else { "" };
        let Some(lost) = self.lost else {
            return "n/a: no other bytes here that a cache would see".to_owned();
        };
        let sign = if lost > 0 { about } else { "" };
        let cost = match self.cost {
            Some(cost) if lost > 0 => format!(" ({about}{cost})"),
            _ => String::new(),
        };
        let place = match (self.first, lost) {
            (_, 0) => "",
            (true, _) => ": the call breaks here",
            (false, _) => ", were all before it as it was sent",
        };
        format!("{sign}{} paid again{cost}{place}", Thousands(lost))
    }
}

/// By how much so many tokens that are paid again are more than if they had been read. What is lost starts where reading
/// ends, so it lies first in what is written.
fn paid(model: &Model, at: i64, outcome: &Outcome, lost: u32) -> Option<Money> {
    let (split, sent) = (outcome.split?, outcome.sent?);
    let rates = model.price_at(at, sent).filter(|price| price.currency.is_none())?.rates;
    let short = rates.write_5m.unwrap_or(rates.input);
    let hour = rates.write_1h.unwrap_or(short);
    let write = split.write.unwrap_or_default();
    let in_hour = lost.min(write.hour);
    let in_short = (lost - in_hour).min(write.short);
    let paid = hour.of(in_hour) + short.of(in_short) + rates.input.of(lost - in_hour - in_short);
    Some(paid.saturating_sub(rates.read.of(lost)))
}

/// Everything in a session, up to the request that waits, that is replayed otherwise than it was sent.
#[must_use]
pub fn unkept(
    session: &Session,
    known: &Arc<Models>,
    models: &[Name],
    measures: &mut dyn Measures,
) -> Vec<Unkept> {
    let mut replays = Replays::new(known, models);
    let mut out = Vec::new();
    let mut requests = Requests::default();
    for record in session.calls().iter().map(|record| &**record).chain(session.prepared()) {
        if let Some(request) = requests.get(session, record.call) {
            out.extend(replays.call(session, record, request, measures));
        }
    }
    out
}
