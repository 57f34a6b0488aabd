//! The injectors at a call.

use std::sync::Arc;

use super::calls;
use crate::app::engine::publish::{self, Counter, one_line, shown_text};
use crate::app::snapshot::Tone;
use crate::app::views::{FactRow, FateRow, InjectorRow, InjectorsView, ToldRow};
use crate::core::bench::{Bench, Keeping, Layer, MessageAt, PlaceKind, Refresh, Since};
use crate::core::fact::Name;
use crate::core::run::{Announcement, Fate, Fated, Injector, Session, Waiting, WatchedFact};
use crate::core::wire::CallNo;

/// How many characters of a value are shown.
const VALUE: usize = 60;

/// The injectors at `call`, sent or prepared. `plain` is the same run on the bench as it is written, to its end, where
/// variants are on: what they lose is shown beside what becomes of it there.
pub fn injectors(
    session: &Session,
    call: CallNo,
    plain: Option<&Session>,
    mut counter: Counter<'_>,
) -> InjectorsView {
    let bench = session.bench();
    let plain =
        plain.and_then(|plain| Some(Plain { injectors: plain.injectors(last(plain)?), session: plain }));
    let rows = session
        .injectors(call)
        .into_iter()
        .map(|injector| row(session, bench, injector, plain.as_ref(), &mut counter))
        .collect();
    let empty = "No layer of this bench speaks in messages or announces changes: what changes is told where the \
                 system prompt is built again, or not at all.";
    InjectorsView { call, rows, empty: empty.into() }
}

/// The same run on the bench as it is written.
struct Plain<'s> {
    session: &'s Session,
    injectors: Vec<Injector>,
}

/// The last call of a run, sent or prepared.
fn last(session: &Session) -> Option<CallNo> {
    session.prepared().or(session.calls().last().map(|call| &**call)).map(|call| call.call)
}

impl Plain<'_> {
    /// What becomes of a change there; none where it is lost there, too.
    fn fate(&self, layer: &Name, fact: &WatchedFact, change: &Fated, before: CallNo) -> Option<String> {
        let injector = self.injectors.iter().find(|injector| injector.layer == *layer)?;
        let there = injector.facts.iter().find(|there| there.fact == fact.fact)?;
        let same = |other: &&Fated| {
            (&other.old, &other.new) == (&change.old, &change.new)
                && self.session.event(other.event).before == before
        };
        match there.changes.iter().find(same) {
            Some(other) if other.fate.is_lost() => None,
            Some(other) => Some(fate_words(self.session, &other.fate)),
            None => Some("this does not happen".to_owned()),
        }
    }
}

fn row(
    session: &Session,
    bench: &Bench,
    injector: Injector,
    plain: Option<&Plain<'_>>,
    counter: &mut Counter<'_>,
) -> InjectorRow {
    let mut told: Vec<ToldRow> = injector.told.iter().map(|told| told_row(session, told, counter)).collect();
    told.reverse();
    let (pending, staged) = match &injector.pending {
        Some(Waiting::Staged(staged)) => {
            let row = told_row(session, staged, counter);
            let words =
                format!("goes out with call {}, in message {}; {}", row.call.0, row.message.0, row.why);
            (Some(words), Some(staged.into))
        }
        Some(Waiting::NoPlace(waits_for, text)) => {
            let words = format!("waits for {waits_for}: \"{}\"", one_line(text.text(), VALUE));
            (Some(words), None)
        }
        None => (None, None),
    };
    let layer = bench.layer(&injector.layer);
    InjectorRow {
        shown: publish::shown_name(bench, &injector.layer),
        rule: layer.map(|layer| rule(bench, layer)).unwrap_or_default().into(),
        facts: injector.facts.iter().map(|fact| fact_row(session, &injector.layer, fact, plain)).collect(),
        pending: pending.map(Arc::from),
        staged,
        silent: injector.silent,
        told,
        layer: injector.layer,
    }
}

/// Where a layer speaks and when.
fn rule(bench: &Bench, layer: &Layer) -> String {
    let place = match bench.places.get(&layer.place).map(|place| place.kind) {
        Some(PlaceKind::NewestTool) => "in the newest tool message",
        Some(PlaceKind::CurrentUser) => "in the user's message",
        Some(PlaceKind::Message { at: MessageAt::End }) => "in a message of its own, at the end",
        Some(PlaceKind::Message { at: MessageAt::BeforeCurrent }) => {
            "in a message of its own, before the user's"
        }
        Some(PlaceKind::System) => "in the system prompt",
        Some(PlaceKind::Block) | None => "in a block",
    };
    match &layer.refresh {
        Refresh::Change { watch, since } => {
            let names = watch.iter().map(|name| &**name).collect::<Vec<_>>().join(", ");
            let drops = match layer.keep.untold {
                Keeping::Keep => "",
                Keeping::Strip => "; what it cannot tell counts as told",
            };
            format!("{place}, when {names} changes, since: {}{drops}", since_word(*since))
        }
        Refresh::Session => format!("{place}, once a session"),
        Refresh::Turn => format!("{place}, once a turn"),
        Refresh::Call => format!("{place}, every call"),
    }
}

fn since_word(since: Since) -> &'static str {
    match since {
        Since::Built => "built",
        Since::First => "first",
        Since::EmptyIsUnset => "empty_is_unset",
    }
}

fn value(text: &str) -> String {
    shown_text(text, VALUE)
}

fn fact_row(session: &Session, layer: &Name, fact: &WatchedFact, plain: Option<&Plain<'_>>) -> FactRow {
    let row = |change: &Fated| {
        let lost = plain.filter(|_| change.fate.is_lost());
        let written =
            lost.and_then(|plain| plain.fate(layer, fact, change, session.event(change.event).before));
        FateRow { written: written.map(Arc::from), ..fate_row(session, change) }
    };
    let mut changes: Vec<FateRow> = fact.changes.iter().map(row).collect();
    changes.reverse();
    let belief = |numbers: &[CallNo], word: &str, tone| {
        (!numbers.is_empty()).then(|| (Arc::from(format!("{word} in {}", calls(numbers))), tone))
    };
    FactRow {
        fact: fact.fact.clone(),
        now: fact.now.as_deref().map_or_else(|| "not there".to_owned(), value).into(),
        told: fact.told.as_ref().map(|(text, call)| (Arc::from(value(text)), *call)),
        base: fact.base.as_deref().map_or_else(|| "none yet".to_owned(), value).into(),
        changes,
        beliefs: [
            belief(&fact.stale, "stale", Tone::Bad),
            belief(&fact.untold, "untold", Tone::Bad),
            belief(&fact.superseded, "superseded", Tone::Plain),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

/// What became of a change, in words.
fn fate_words(session: &Session, fate: &Fate) -> String {
    let label = |event| session.event(event).label.clone();
    match fate {
        Fate::Told { call, into } => format!("told in call {}, message {}", call.0, into.0),
        Fate::Staged { call, into } => format!("goes out with call {}, in message {}", call.0, into.0),
        Fate::Said { call, by } => {
            let names: Vec<Name> = by.iter().map(|id| publish::shown_name(session.bench(), id)).collect();
            format!("call {} says it itself, in {}", call.0, names.join(", "))
        }
        Fate::Pending { waits_for } => format!("pending: waits for {waits_for}"),
        Fate::ChangedBack { by } => format!("swallowed: changed back by {} before it was told", label(*by)),
        Fate::Replaced { by, with } => {
            format!("replaced by {} ({}) before it was told: only the net change is", value(with), label(*by))
        }
        Fate::Swallowed { call } => {
            format!("swallowed: the look for call {} took it for the baseline", call.0)
        }
        Fate::Untold { why } => {
            let why = why.as_ref().map_or(String::new(), |why| format!(": {why}"));
            format!("never told{why}")
        }
        Fate::Unseen => "no call was prepared since".to_owned(),
    }
}

fn fate_row(session: &Session, change: &Fated) -> FateRow {
    let label = |event| session.event(event).label.clone();
    let (call, message) = match &change.fate {
        Fate::Told { call, into } | Fate::Staged { call, into } => (Some(*call), Some(*into)),
        Fate::Said { call, .. } | Fate::Swallowed { call } => (Some(*call), None),
        _ => (None, None),
    };
    let fate = fate_words(session, &change.fate);
    let failed = match change.failed.as_slice() {
        [] => String::new(),
        some => format!("; not told by {}, whose sending failed", calls(some)),
    };
    FateRow {
        change: format!("{} -> {}, by {}", value(&change.old), value(&change.new), label(change.event))
            .into(),
        fate: format!("{fate}{failed}").into(),
        lost: change.fate.is_lost(),
        written: None,
        call,
        message,
    }
}

fn told_row(session: &Session, told: &Announcement, counter: &mut Counter<'_>) -> ToldRow {
    let by: Vec<String> = told.events.iter().map(|event| session.event(*event).label.to_string()).collect();
    let by = if by.is_empty() { String::new() } else { format!(", by {}", by.join(", ")) };
    let text = told.text.text();
    ToldRow {
        call: told.call,
        message: told.into,
        why: format!("{}{by}", one_line(&told.reason, 2 * VALUE)).into(),
        tokens: counter.as_mut().map(|counter| u64::from(counter.tokens(text))),
        bytes: text.len() as u64,
        failed: told.failed,
    }
}
