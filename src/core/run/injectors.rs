//! Injectors: what each watches, what it told last, what waits, and which changes it never told.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::record::{Answer, Baseline, Belief, CallRecord, Watched};
use super::session::Session;
use super::short::in_short;
use crate::core::bench::{Keeping, PlaceKind, Refresh, Since};
use crate::core::fact::{EventId, FactKey, Lookup, Name, Rev, Value};
use crate::core::source::Facts;
use crate::core::text::Traced;
use crate::core::wire::{CallNo, MessageId};

/// A layer that speaks in messages, or announces changes, as it stands at one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Injector {
    /// The layer.
    pub layer: Name,
    /// What its changes are measured against; none for a layer that does not announce changes.
    pub since: Option<Since>,
    /// The facts that it watches.
    pub facts: Vec<WatchedFact>,
    /// What it told, in order, or tried to in a call that failed.
    pub told: Vec<Announcement>,
    /// What it would tell now and cannot, or has not yet.
    pub pending: Option<Waiting>,
    /// Why it says nothing in this request, where it says nothing.
    pub silent: Option<Arc<str>>,
}

/// A fact that an injector watches.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedFact {
    /// The fact.
    pub fact: Name,
    /// Its value at the call, short; none where there is no such fact.
    pub now: Option<Arc<str>>,
    /// What it is measured against, short; none where there is no baseline yet.
    pub base: Option<Arc<str>>,
    /// The value that the injector told last, and the call.
    pub told: Option<(Arc<str>, CallNo)>,
    /// Its changes and what became of each, in order.
    pub changes: Vec<Fated>,
    /// The calls in which the request said something else of it than what held.
    pub stale: Vec<CallNo>,
    /// The calls in which an old value stood before the right one.
    pub superseded: Vec<CallNo>,
    /// The calls without a word on it.
    pub untold: Vec<CallNo>,
}

/// A change of a watched fact and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fated {
    /// The old value, short.
    pub old: Arc<str>,
    /// The new value, short.
    pub new: Arc<str>,
    /// What changed it.
    pub event: EventId,
    /// What became of it.
    pub fate: Fate,
    /// The calls whose sending failed while they carried it.
    pub failed: Vec<CallNo>,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The injector told it.
    Told {
        /// With this call.
        call: CallNo,
        /// In this message.
        into: MessageId,
    },
    /// Another layer of this call says the new value, built for it: there is nothing to tell.
    Said {
        /// The call.
        call: CallNo,
        /// The layers.
        by: Vec<Name>,
    },
    /// It is staged and goes out with this call.
    Staged {
        /// The call.
        call: CallNo,
        /// The message.
        into: MessageId,
    },
    /// It waits for a place.
    Pending {
        /// What it waits for.
        waits_for: Arc<str>,
    },
    /// The fact went back to what was told before it could be told: nobody hears of it.
    ChangedBack {
        /// The event that changed it back.
        by: EventId,
    },
    /// Another value came before it could be told: only that one is.
    Replaced {
        /// The event.
        by: EventId,
        /// The other value.
        with: Arc<str>,
    },
    /// The first look took it for the baseline, so it will never be told.
    Swallowed {
        /// The call whose look it was.
        call: CallNo,
    },
    /// It was not told in any call so far, and nothing waits.
    Untold {
        /// Why, where the layer says so.
        why: Option<Arc<str>>,
    },
    /// No call was prepared since.
    Unseen,
}

impl Fate {
    /// True for a change that the model never hears of.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, Fate::ChangedBack { .. } | Fate::Swallowed { .. } | Fate::Untold { .. })
    }
}

/// Something that an injector told.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// The call that carried it first.
    pub call: CallNo,
    /// The message it went into.
    pub into: MessageId,
    /// Its text, without the separator.
    pub text: Traced,
    /// Why.
    pub reason: Arc<str>,
    /// The events that gave the facts their values, those that changed only.
    pub events: Vec<EventId>,
    /// True when the call failed: it counts as not told.
    pub failed: bool,
}

/// What waits to be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Waiting {
    /// It goes out with the prepared call.
    Staged(Announcement),
    /// It has no place yet: what it waits for, and what it would say.
    NoPlace(Arc<str>, Traced),
}

/// A value as baselines keep it: short, and empty where the value is.
pub(super) fn told_as(value: &Value) -> Arc<str> {
    match value.as_text() {
        Some(text) if text.is_empty() => "".into(),
        _ => in_short(&Lookup::Ready(value.clone(), Rev::ABSENT, EventId::OPENING)),
    }
}

impl Session {
    /// What a layer that announces changes compares with, for the record.
    pub(super) fn compared(&self, layer: &Name, watch: &[Name], base: Option<&Baseline>) -> Vec<Watched> {
        let conversation = &self.conversations[self.current()];
        let before = conversation.baselines.get(layer);
        let view = self.view(self.current());
        let one = |fact: &Name| {
            let (now, rev, cause) = match view.look(&FactKey::Named(fact.clone())) {
                Lookup::Ready(value, rev, cause) => (Some(told_as(&value)), rev, cause),
                Lookup::Absent(cause) | Lookup::Failed(_, cause) => (None, Rev::ABSENT, cause),
                Lookup::Unknown => (None, Rev::ABSENT, EventId::OPENING),
            };
            let old = base.and_then(|base| base.get(fact));
            let was = before.and_then(|base| base.get(fact));
            let same = |held: Option<&(Rev, Arc<str>)>| held.is_some_and(|(held, _)| *held == rev);
            Watched {
                layer: layer.clone(),
                fact: fact.clone(),
                base: old.map(|(_, text)| text.clone()),
                differs: now.is_some() && base.is_some() && !same(old),
                taken: now.is_some() && same(old) && !same(was),
                now,
                cause,
            }
        };
        watch.iter().map(one).collect()
    }

    /// Every injector of the bench as it stands at a call, sent or prepared, in the order of the bench.
    #[must_use]
    pub fn injectors(&self, call: CallNo) -> Vec<Injector> {
        let Some(record) =
            self.calls().iter().map(|call| &**call).chain(self.prepared()).find(|record| record.call == call)
        else {
            return Vec::new();
        };
        let calls: Vec<&CallRecord> = self
            .calls()
            .iter()
            .map(|call| &**call)
            .chain(self.prepared())
            .filter(|other| other.agent == record.agent && other.call <= call)
            .collect();
        let bench = self.bench().clone();
        let speaks = |place: &Name| {
            let place = bench.places.get(place);
            place.is_some_and(|place| matches!(place.kind, PlaceKind::NewestTool | PlaceKind::Message { .. }))
        };
        let layers = bench.layers.iter();
        layers
            .filter(|layer| matches!(layer.refresh, Refresh::Change { .. }) || speaks(&layer.place))
            .map(|layer| {
                let (watch, since) = match &layer.refresh {
                    Refresh::Change { watch, since } => (&watch[..], Some(*since)),
                    _ => (&[][..], None),
                };
                Injector {
                    layer: layer.id.clone(),
                    since,
                    facts: watch.iter().map(|fact| self.watched_fact(&calls, &layer.id, fact)).collect(),
                    told: calls
                        .iter()
                        .filter(|call| call.answer.is_some())
                        .flat_map(|call| announcements(call, &layer.id))
                        .collect(),
                    pending: waiting(record, &layer.id),
                    silent: silent(record, &layer.id),
                }
            })
            .collect()
    }

    fn watched_fact(&self, calls: &[&CallRecord], layer: &Name, fact: &Name) -> WatchedFact {
        let looks = |record: &CallRecord| look(record, layer, fact).cloned();
        let last = calls.last().and_then(|record| looks(record));
        let sent = |record: &&&CallRecord| record.answer.is_some() && reached(record);
        let told = calls.iter().rev().filter(sent).find_map(|record| {
            let watched = look(record, layer, fact)?;
            let told = watched.differs && record.injected.iter().any(|injected| injected.layer == *layer);
            told.then(|| Some((watched.now.clone()?, record.call))).flatten()
        });
        let believed = |belief: Belief| {
            let own = |record: &&&CallRecord| {
                record.told.iter().any(|told| told.fact == *fact && told.belief == belief)
            };
            calls.iter().filter(own).map(|record| record.call).collect()
        };
        WatchedFact {
            fact: fact.clone(),
            now: last.as_ref().and_then(|look| look.now.clone()),
            base: last.as_ref().and_then(|look| look.base.clone()),
            told,
            changes: self.fates(calls, layer, fact),
            stale: believed(Belief::Stale),
            superseded: believed(Belief::Superseded),
            untold: believed(Belief::Untold),
        }
    }

    /// The changes of a fact up to the last of `calls`, each with what became of it.
    fn fates(&self, calls: &[&CallRecord], layer: &Name, fact: &Name) -> Vec<Fated> {
        let Some(last) = calls.last() else { return Vec::new() };
        let mut changes: Vec<(Arc<str>, Arc<str>, EventId)> = self
            .changes()
            .iter()
            .filter(|changed| matches!(&changed.key, FactKey::Named(name) if name == fact))
            .filter(|changed| changed.agent.as_ref().is_none_or(|agent| *agent == last.agent))
            .filter(|changed| self.event(changed.event).before <= last.call)
            .map(|changed| (changed.old.clone(), changed.new.clone(), changed.event))
            .collect();
        if changes.is_empty() {
            // What is derived from files changes with them, and only the looks tell.
            let looks: Vec<&Watched> = calls.iter().filter_map(|record| look(record, layer, fact)).collect();
            let absent = || Arc::from("not there");
            changes = looks
                .windows(2)
                .filter(|pair| pair[0].now != pair[1].now || pair[0].cause != pair[1].cause)
                .map(|pair| {
                    let text = |look: &Watched| look.now.clone().unwrap_or_else(absent);
                    (text(pair[0]), text(pair[1]), pair[1].cause)
                })
                .collect();
        }
        (0..changes.len())
            .map(|index| {
                let (old, new, event) = changes[index].clone();
                let (fate, failed) = self.fate(calls, layer, fact, &changes[index..]);
                Fated { old, new, event, fate, failed }
            })
            .collect()
    }

    /// What became of the first of these changes of a fact.
    fn fate(
        &self,
        calls: &[&CallRecord],
        layer: &Name,
        fact: &Name,
        changes: &[(Arc<str>, Arc<str>, EventId)],
    ) -> (Fate, Vec<CallNo>) {
        let (old, _, event) = &changes[0];
        let next = changes.get(1);
        let from = self.event(*event).before;
        let until = next.map(|(_, _, event)| self.event(*event).before);
        let mut failed = Vec::new();
        let mut waits = None;
        let mut seen = false;
        let mut why = None;
        let during = calls.iter().filter(|record| {
            record.call >= from
                && until.is_none_or(|until| record.call < until)
                // The layers of a call were evaluated with the latest change before it.
                && look(record, layer, fact).is_none_or(|look| look.cause >= *event)
        });
        for record in during {
            seen = true;
            let injected = record.injected.iter().find(|injected| injected.layer == *layer);
            let look = look(record, layer, fact);
            match (injected, look) {
                (Some(injected), Some(look)) if look.differs => {
                    let (call, into) = (record.call, injected.into);
                    match &record.answer {
                        Some(Answer::Failed(_)) => failed.push(call),
                        Some(_) => return (Fate::Told { call, into }, failed),
                        None => return (Fate::Staged { call, into }, failed),
                    }
                }
                (_, Some(look)) if look.taken && reached(record) => {
                    let by = self.says(record, layer, fact);
                    let call = record.call;
                    let fate = if by.is_empty() { Fate::Swallowed { call } } else { Fate::Said { call, by } };
                    return (fate, failed);
                }
                _ => {}
            }
            waits = record.pending.iter().find(|pending| pending.layer == *layer);
            why = silent(record, layer);
        }
        if let Some((_, value, by)) = next {
            let back = value == old;
            let fate = if back {
                Fate::ChangedBack { by: *by }
            } else {
                Fate::Replaced { by: *by, with: value.clone() }
            };
            return (fate, failed);
        }
        let drops = self.bench().layer(layer).is_some_and(|layer| layer.keep.untold == Keeping::Strip);
        if drops && waits.is_none() && seen {
            why = Some(if failed.is_empty() {
                "dropped: there was no place for it".into()
            } else {
                "dropped with the call that failed".into()
            });
        }
        let fate = match (waits, seen) {
            (Some(pending), _) => Fate::Pending { waits_for: pending.waits_for.clone() },
            (None, true) => Fate::Untold { why },
            (None, false) => Fate::Unseen,
        };
        (fate, failed)
    }

    /// The layers of a request, other than `layer`, that say the value that a fact has in it.
    fn says(&self, record: &CallRecord, layer: &Name, fact: &Name) -> Vec<Name> {
        let key = FactKey::Named(fact.clone());
        let cause = look(record, layer, fact).map(|look| look.cause);
        let says = record.layers.iter().filter(|state| {
            state.id != *layer
                && state.state.piece.text().is_some()
                && state.state.reads.0.get(&key).is_some_and(|read| read.in_text && Some(read.cause) == cause)
        });
        says.map(|state| state.id.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// True for a call that reached the model, or will.
fn reached(record: &CallRecord) -> bool {
    !matches!(record.answer, Some(Answer::Failed(_)))
}

fn look<'r>(record: &'r CallRecord, layer: &Name, fact: &Name) -> Option<&'r Watched> {
    record.watched.iter().find(|watched| watched.layer == *layer && watched.fact == *fact)
}

fn announcements(record: &CallRecord, layer: &Name) -> Vec<Announcement> {
    let own = record.injected.iter().filter(|injected| injected.layer == *layer);
    own.map(|injected| {
        let watched = record.watched.iter().filter(|watched| watched.layer == *layer);
        Announcement {
            call: record.call,
            into: injected.into,
            text: injected.text.clone(),
            reason: injected.reason.clone(),
            events: watched.filter(|watched| watched.differs).map(|watched| watched.cause).collect(),
            failed: !reached(record),
        }
    })
    .collect()
}

fn waiting(record: &CallRecord, layer: &Name) -> Option<Waiting> {
    if record.answer.is_none()
        && let Some(staged) = announcements(record, layer).pop()
    {
        return Some(Waiting::Staged(staged));
    }
    let pending = record.pending.iter().find(|pending| pending.layer == *layer)?;
    Some(Waiting::NoPlace(pending.waits_for.clone(), pending.text.clone()))
}

/// Why a layer says nothing in a request; none where it says something.
fn silent(record: &CallRecord, layer: &Name) -> Option<Arc<str>> {
    use crate::core::source::Piece;
    match &record.layer(layer)?.state.piece {
        Piece::Omitted(reason) => Some(reason.clone()),
        Piece::Failed(diagnostic) | Piece::Stopped(diagnostic) => Some(diagnostic.message.as_str().into()),
        Piece::Text { .. } => None,
    }
}
