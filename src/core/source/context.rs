//! What a template sees: facts by name, every read recorded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use minijinja::value::{Enumerator, Object, ObjectRepr, Value as Jinja};

use crate::core::fact::{EventId, FactKey, Lookup, Name, Read, Reads, Value};

/// Answers for facts. Named facts that are maps can be asked by path: `agent.role`.
pub trait Facts {
    /// What is known under a key.
    fn look(&self, key: &FactKey) -> Lookup;
    /// The external fact behind a key that is unknown: what has to be supplied.
    fn behind(&self, key: &FactKey) -> FactKey;
    /// The external facts that a named fact is derived from, as they were read for it.
    fn sources(&self, name: &str) -> Option<&Reads>;
}

/// The names that are maps of the engine's own, whose fields are facts of their own for blame.
const MAPS: &[&str] = &["agent", "call", "model"];

/// A value as templates see it.
#[must_use]
pub fn to_jinja(value: &Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(b) => Jinja::from(*b),
        Value::Int(n) => Jinja::from(*n),
        Value::Float(n) => Jinja::from(*n),
        Value::Text(text) => Jinja::from(text.clone()),
        Value::File(file) => Jinja::from(file.text.clone()),
        Value::List(items) => items.iter().map(to_jinja).collect(),
        Value::Map(map) => {
            Jinja::from_object(Plain(map.iter().map(|(k, v)| (k.clone(), to_jinja(v))).collect()))
        }
    }
}

/// A value that an expression gave, as a fact; none for what no fact can be.
#[must_use]
pub fn from_jinja(value: &Jinja) -> Option<Value> {
    use minijinja::value::ValueKind;
    Some(match value.kind() {
        ValueKind::None => Value::Null,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::Number => match i64::try_from(value.clone()) {
            Ok(whole) if value.is_integer() => Value::Int(whole),
            _ => Value::Float(f64::try_from(value.clone()).ok()?),
        },
        ValueKind::String => Value::text(value.as_str()?),
        ValueKind::Seq | ValueKind::Iterable => {
            Value::list(value.try_iter().ok()?.map(|item| from_jinja(&item)).collect::<Option<Vec<_>>>()?)
        }
        ValueKind::Map => {
            let entry =
                |key: Jinja| Some((Name::from(key.as_str()?), from_jinja(&value.get_item(&key).ok()?)?));
            Value::map(value.try_iter().ok()?.map(entry).collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

/// A map in the order in which it was written.
#[derive(Debug)]
struct Plain(indexmap::IndexMap<Name, Jinja>);

impl Object for Plain {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_str()?).cloned()
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.keys().map(|key| Jinja::from(key.clone())).collect())
    }
}

type Seen = Arc<Mutex<std::collections::BTreeSet<Name>>>;

#[derive(Debug)]
struct Recorded {
    prefix: Option<Name>,
    values: BTreeMap<Name, Jinja>,
    /// Facts that are there but could not be used, with the reason. Templates see them as undefined.
    failed: BTreeMap<Name, Arc<str>>,
    seen: Seen,
}

impl Object for Recorded {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        if self.failed.contains_key(key) {
            self.see(key.into());
        }
        let value = self.values.get(key)?;
        let name = match &self.prefix {
            Some(prefix) => format!("{prefix}.{key}").into(),
            None => key.into(),
        };
        if self.prefix.is_some() || !MAPS.contains(&key) {
            self.see(name);
        }
        Some(value.clone())
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.values.keys().map(|key| Jinja::from(key.clone())).collect())
    }
}

impl Recorded {
    fn see(&self, name: Name) {
        self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(name);
    }
}

/// The context of one evaluation.
#[derive(Debug)]
pub(super) struct Context {
    root: Arc<Recorded>,
    seen: Seen,
}

impl Context {
    /// Collects the values of `names` (top-level names; those that nobody knows are left out and become undefined in
    /// the template) and the extra values, which are not facts.
    ///
    /// # Errors
    ///
    /// The keys that are still unknown.
    pub(super) fn new<'n>(
        names: impl IntoIterator<Item = &'n str>,
        facts: &dyn Facts,
        extra: &[(&str, Jinja)],
    ) -> Result<Context, Vec<FactKey>> {
        let seen = Seen::default();
        let mut values: BTreeMap<Name, Jinja> = BTreeMap::new();
        let mut failed = BTreeMap::new();
        let mut needs = Vec::new();
        for name in names {
            if let Some((name, value)) = extra.iter().find(|(extra, _)| *extra == name) {
                values.insert((*name).into(), value.clone());
                continue;
            }
            let key = FactKey::named(name);
            match facts.look(&key) {
                Lookup::Ready(Value::Map(map), ..) if MAPS.contains(&name) => {
                    let fields = map.iter().map(|(key, value)| (key.clone(), to_jinja(value))).collect();
                    let failed = BTreeMap::new();
                    let map =
                        Recorded { prefix: Some(name.into()), values: fields, failed, seen: seen.clone() };
                    values.insert(name.into(), Jinja::from_object(map));
                }
                Lookup::Ready(value, ..) => {
                    values.insert(name.into(), to_jinja(&value));
                }
                Lookup::Absent(_) => {}
                Lookup::Failed(reason, _) => {
                    failed.insert(name.into(), reason);
                }
                Lookup::Unknown => needs.push(facts.behind(&key)),
            }
        }
        if needs.is_empty() {
            Ok(Context {
                root: Arc::new(Recorded { prefix: None, values, failed, seen: seen.clone() }),
                seen,
            })
        } else {
            Err(needs)
        }
    }

    /// The value to render with.
    #[must_use]
    pub(super) fn value(&self) -> Jinja {
        Jinja::from_dyn_object(self.root.clone())
    }

    /// Why an evaluation that came to nothing did: a fact that it read is there but could not be used. One sentence,
    /// lower case, without a full stop.
    #[must_use]
    pub(super) fn failure(&self) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (name, reason) = self.root.failed.iter().find(|(name, _)| seen.contains(*name))?;
        Some(super::evaluate::unreadable(name, reason))
    }

    /// Notes what was read so far, and what that was derived from.
    pub(super) fn note(&self, facts: &dyn Facts, in_text: bool, reads: &mut Reads) {
        let seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for name in seen.iter() {
            note_named(name, facts, in_text, reads);
        }
    }
}

/// Notes the read of one named fact, and what it is derived from.
pub fn note_named(name: &Name, facts: &dyn Facts, in_text: bool, reads: &mut Reads) {
    let key = FactKey::Named(name.clone());
    note_lookup(&key, &facts.look(&key), in_text, reads);
    if let Some(sources) = facts.sources(name) {
        for (key, read) in &sources.0 {
            reads.note(key.clone(), Read { in_text, ..*read });
        }
    }
}

/// Notes the read of any fact.
pub(super) fn note_lookup(key: &FactKey, lookup: &Lookup, in_text: bool, reads: &mut Reads) {
    let (rev, cause) = match lookup {
        Lookup::Ready(_, rev, cause) => (*rev, *cause),
        Lookup::Absent(cause) => (crate::core::fact::Rev::ABSENT, *cause),
        Lookup::Failed(reason, cause) => (crate::core::fact::Found::Failed(reason.clone()).rev(), *cause),
        // Not a fact at all: a loop variable, an item.
        Lookup::Unknown => return,
    };
    reads.note(key.clone(), Read { rev, cause, in_text });
}

/// The event of a lookup.
#[must_use]
pub(super) fn cause_of(lookup: &Lookup) -> EventId {
    match lookup {
        Lookup::Ready(_, _, cause) | Lookup::Absent(cause) | Lookup::Failed(_, cause) => *cause,
        Lookup::Unknown => EventId::OPENING,
    }
}
