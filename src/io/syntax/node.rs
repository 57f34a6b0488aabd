//! The tree of a YAML file, with the exact place of every key and value.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::core::diagnostic::Position;
use crate::core::fact::{Name, Value};
use crate::core::text::Source;

/// How a scalar is written, which decides where its text stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
    /// `|`.
    Literal,
    /// `>`.
    Folded,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text: quoted, or not one of the above.
    Text,
    /// A sequence.
    Seq(Vec<Arc<Node>>),
    /// A map, in the order of the file, without duplicate keys.
    Map(Vec<Entry>),
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Name,
    /// Where the key stands.
    pub at: Position,
    /// What it holds.
    pub value: Arc<Node>,
}

/// A value of a YAML file.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it starts; for quoted text at the quote, for block text at the `|` or `>`.
    pub at: Position,
    /// The byte at which it starts.
    pub byte: usize,
    /// For a scalar, its text, whatever it was taken for.
    pub text: Arc<str>,
    /// For a scalar, how it is written.
    pub style: Style,
}

impl Node {
    /// The value of a key of a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Arc<Node>> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key of a map.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| &*entry.key == key)
    }

    /// The entries of a map; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a sequence; none for anything else.
    #[must_use]
    pub fn items(&self) -> &[Arc<Node>] {
        match &self.kind {
            Kind::Seq(items) => items,
            _ => &[],
        }
    }

    /// The text of a text.
    #[must_use]
    pub fn as_text(&self) -> Option<&Arc<str>> {
        matches!(self.kind, Kind::Text).then_some(&self.text)
    }

    /// True for everything but sequences and maps.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        !matches!(self.kind, Kind::Seq(_) | Kind::Map(_))
    }

    /// What it is, for a message: `the number 5`, `a map`.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(_) => format!("`{}`", self.text),
            Kind::Int(_) | Kind::Float(_) => format!("the number {}", self.text),
            Kind::Text if self.text.chars().count() > 24 || self.text.contains('\n') => "a text".to_owned(),
            Kind::Text => format!("the text `{}`", self.text),
            Kind::Seq(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }

    /// The node as a fact's value.
    #[must_use]
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Int(n) => Value::Int(*n),
            Kind::Float(n) => Value::Float(*n),
            Kind::Text => Value::Text(self.text.clone()),
            Kind::Seq(items) => Value::list(items.iter().map(|item| item.value())),
            Kind::Map(entries) => Value::Map(Arc::new(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.value()))
                    .collect::<IndexMap<_, _>>(),
            )),
        }
    }

    /// On one line, as a person would write it, for lists of what a variant changes.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::Seq(items) => {
                format!("[{}]", items.iter().map(|item| item.shown()).collect::<Vec<_>>().join(", "))
            }
            Kind::Map(entries) => {
                let inner: Vec<String> =
                    entries.iter().map(|entry| format!("{}: {}", entry.key, entry.value.shown())).collect();
                format!("{{ {} }}", inner.join(", "))
            }
            Kind::Text if self.text.is_empty() => "\"\"".to_owned(),
            Kind::Text => self.text.replace('\n', "\\n"),
            Kind::Null => "null".to_owned(),
            _ => self.text.to_string(),
        }
    }

    /// The scalar as a source of prompt text, whose bytes know where they stand in `file`, whose content is `whole`.
    #[must_use]
    pub fn source(&self, file: &Name, whole: &str) -> Arc<Source> {
        let (start, jumps) = super::place::of_scalar(self, whole);
        Arc::new(Source {
            name: file.clone(),
            text: self.text.clone(),
            rev: Value::Text(self.text.clone()).rev(),
            start,
            jumps: jumps.into(),
        })
    }
}
