//! Policies that any bench can try: what its own variants might say, derived from how its layers read what changes.
//!
//! A policy is a variant that nobody wrote down: dotted paths of the bench and their values. So it is applied, shown and
//! written into the bench file the way variants are.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::core::bench::{Bench, MarkPlace, MessageAt, PlaceKind, Refresh, Role};
use crate::core::fact::{FactKey, Name, Value};
use crate::core::run::{CallRecord, Session};
use crate::core::wire::{BlockKind, Zone};

/// A way of telling what changes, or of caching it, that a bench can try.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its name among the variants: `freeze`.
    pub name: Name,
    /// What tables call it.
    pub title: Name,
    /// What it changes: dotted paths of the bench, as in a variant, in order.
    pub changes: Vec<(Name, Value)>,
}

/// The names of all policies, in order.
pub const NAMES: [&str; 6] = ["freeze", "live", "next_turn", "append", "system_message", "mark_last"];

/// The place of a policy's announcements where the bench has none of its kind.
const PLACE: &str = "announced";

/// The policies that say something else than the bench does, from what a session of it was sent. With `layer`, what they
/// change is that layer alone; else every layer of the system prompt that reads an announced fact, or that changed.
///
/// A policy whose name is that of a variant of the bench is left out: the bench's own word holds.
#[must_use]
pub fn derive(session: &Session, layer: Option<&str>, taken: &[Name]) -> Vec<Policy> {
    let bench = session.bench();
    let system: Vec<Name> = match layer {
        Some(layer) => {
            bench.layers.iter().filter(|own| *own.id == *layer).map(|own| own.id.clone()).collect()
        }
        None => moving(session).into_iter().collect(),
    };
    let announcing: Vec<&crate::core::bench::Layer> = bench
        .layers
        .iter()
        .filter(|layer| matches!(layer.refresh, Refresh::Change { .. }))
        .filter(|layer| bench.places.get(&layer.place).is_some_and(|place| place.kind != PlaceKind::System))
        .collect();
    let refresh =
        |rule: &str| system.iter().map(|id| (dotted(id, "refresh"), Value::text(rule))).collect::<Vec<_>>();
    let silent = || announcing.iter().map(|layer| (dotted(&layer.id, "when"), Value::text("false")));
    let mut policies = Vec::new();
    let mut add = |name: &str, title: &str, changes: Vec<(Name, Value)>| {
        if !changes.is_empty() && !taken.iter().any(|taken| **taken == *name) {
            policies.push(Policy { name: name.into(), title: title.into(), changes });
        }
    };
    if !system.is_empty() {
        let and_silent = |rule: &str| refresh(rule).into_iter().chain(silent()).collect::<Vec<_>>();
        add("freeze", "frozen, never told", and_silent("session"));
        add("live", "rebuilt at each call", and_silent("call"));
        add("next_turn", "told in the next turn", and_silent("turn"));
    }
    if !announcing.is_empty() && layer.is_none() {
        let told = |kind: fn(&PlaceKind) -> bool, role: Option<Role>, new: Value| {
            let known = bench
                .places
                .values()
                .find(|place| kind(&place.kind) && role.is_none_or(|role| place.role == role));
            let (place, made) = match known {
                Some(place) => (place.id.clone(), None),
                None => (free_place(bench), Some(new)),
            };
            let mut changes: Vec<(Name, Value)> =
                made.map(|new| (Name::from(format!("places.{place}")), new)).into_iter().collect();
            changes.extend(refresh("session"));
            for layer in &announcing {
                changes.push((dotted(&layer.id, "in"), Value::Text(place.clone())));
                changes.push((dotted(&layer.id, "keep.earlier"), Value::text("keep")));
                changes.push((dotted(&layer.id, "keep.persist"), Value::text("keep")));
            }
            changes
        };
        let newest = map([("of", "newest_tool"), ("join", "\n\n"), ("none", "wait")]);
        let append = told(|kind| matches!(kind, PlaceKind::NewestTool), None, newest);
        add("append", "frozen, appended and kept", append);
        let message = map([("of", "message"), ("role", "system"), ("at", "end")]);
        let at_end = |kind: &PlaceKind| matches!(kind, PlaceKind::Message { at: MessageAt::End });
        let told = told(at_end, Some(Role::System), message);
        add("system_message", "frozen, in system messages", told);
    }
    if layer.is_none() && !bench.marks.iter().any(|mark| mark.at == MarkPlace::LastMessage) {
        let old = bench.marks.iter().map(|mark| {
            let at = match &mark.at {
                MarkPlace::Tools => "tools",
                MarkPlace::LastHistory => "last_history",
                MarkPlace::LastMessage => "last_message",
                MarkPlace::Place(place) => place,
            };
            let ttl = (mark.ttl != 300).then(|| ("ttl", Value::text(format!("{}s", mark.ttl))));
            Value::map([("at", Value::text(at))].into_iter().chain(ttl))
        });
        let marks = old.chain([map([("at", "last_message")])]);
        add("mark_last", "mark on the last message", vec![("marks".into(), Value::list(marks))]);
    }
    policies
}

fn map<const N: usize>(entries: [(&str, &str); N]) -> Value {
    let entries: IndexMap<Name, Value> =
        entries.into_iter().map(|(key, value)| (Name::from(key), Value::text(value))).collect();
    Value::map(entries)
}

fn dotted(layer: &Name, path: &str) -> Name {
    format!("layers.{layer}.{path}").into()
}

/// A name that no place of the bench has.
fn free_place(bench: &Bench) -> Name {
    let free = |name: &str| !bench.places.contains_key(name);
    let numbered = || (2..).map(|number| format!("{PLACE}_{number}")).find(|name| free(name));
    if free(PLACE) { PLACE.into() } else { numbered().unwrap_or_default().into() }
}

/// The layers of the system prompt that read an announced fact into their text, or whose text changed on the way.
fn moving(session: &Session) -> BTreeSet<Name> {
    let bench = session.bench();
    let told: Vec<FactKey> = bench.told_facts().into_iter().map(FactKey::Named).collect();
    let mut found = BTreeSet::new();
    let mut before: IndexMap<&str, &CallRecord> = IndexMap::new();
    let calls = session.calls().iter().map(|record| &**record).chain(session.prepared());
    for record in calls {
        let system = record.head.iter().filter(|block| block.kind.zone() == Zone::System);
        for part in system.flat_map(|block| block.text.parts()) {
            let reads = told.iter().any(|key| part.reads.0.get(key).is_some_and(|read| read.in_text));
            if reads && bench.layer(&part.id).is_some() {
                found.insert(part.id.clone());
            }
        }
        if let Some(old) = before.insert(&record.agent, record) {
            found.extend(changed_in_system(bench, old, record));
        }
    }
    found
}

/// The layers of the system prompt whose text is another one in the later of two calls of a conversation.
fn changed_in_system(bench: &Bench, old: &CallRecord, new: &CallRecord) -> Vec<Name> {
    let texts = |record: &CallRecord| -> IndexMap<Name, String> {
        let mut texts: IndexMap<Name, String> = IndexMap::new();
        for block in record.head.iter().filter(|block| block.kind == BlockKind::System) {
            for part in block.text.parts() {
                texts.entry(part.id.clone()).or_default().push_str(&block.text[part]);
            }
        }
        texts
    };
    if old.head.len() == new.head.len() && old.head.iter().zip(&*new.head).all(|(a, b)| a.hash == b.hash) {
        return Vec::new();
    }
    let (old, new) = (texts(old), texts(new));
    new.iter()
        .filter(|(id, text)| old.get(*id).is_some_and(|old| old != *text) && bench.layer(id).is_some())
        .map(|(id, _)| id.clone())
        .collect()
}
