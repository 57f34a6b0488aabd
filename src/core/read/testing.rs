//! Answers for the tests of derived facts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ask;
use crate::core::fact::{Base, EventId, FactKey, FilePath, FileText, Lookup, Value};

/// Known answers; everything else is unknown and noted.
#[derive(Default)]
pub(super) struct Answers {
    known: BTreeMap<FactKey, Lookup>,
    pub(super) unknown: Vec<FactKey>,
}

impl Answers {
    pub(super) fn value(&mut self, key: FactKey, value: Value) {
        let rev = value.rev();
        self.known.insert(key, Lookup::Ready(value, rev, EventId::OPENING));
    }

    pub(super) fn file(&mut self, path: &str, text: &str) {
        let path = FilePath::new(Base::Workspace, path);
        let file = FileText::whole(path.clone(), text);
        self.value(FactKey::File(path), Value::File(Arc::new(file)));
    }

    pub(super) fn absent(&mut self, key: FactKey) {
        self.known.insert(key, Lookup::Absent(EventId::OPENING));
    }

    pub(super) fn failed(&mut self, key: FactKey, reason: &str) {
        self.known.insert(key, Lookup::Failed(reason.into(), EventId::OPENING));
    }
}

impl Ask for Answers {
    fn ask(&mut self, key: &FactKey) -> Lookup {
        self.known.get(key).cloned().unwrap_or_else(|| {
            self.unknown.push(key.clone());
            Lookup::Unknown
        })
    }
}
