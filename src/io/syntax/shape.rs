//! What a description of a format is made of. The decoder checks files against it and the JSON Schema is printed from
//! it, so the two cannot drift apart.

use std::sync::Arc;

use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;

use super::node::{Kind, Node};
use super::suggest;

/// The keys that can stand beside the tool in a call.
pub(crate) const BESIDE_A_TOOL: &[&str] = &["result", "arguments", "mediator"];

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// A text.
    Text,
    /// A text of `[a-z0-9_-]`.
    Id,
    /// `true` or `false`.
    Bool,
    /// A whole number in a range, its ends included.
    Int(i64, i64),
    /// A time span such as `90s` or `1h30m`.
    Duration,
    /// A template expression; a bare `true` or `false` will do.
    Expression,
    /// A path below the folder it starts from.
    Path,
    /// One of some words.
    Words(&'static [Word]),
    /// A list.
    List(&'static Shape),
    /// A list of exactly two.
    Pair(&'static Shape),
    /// A map from names that the bench chooses.
    Names(&'static Shape),
    /// A map with known keys.
    Record(&'static Record),
    /// A tool call: one tool's name with a map of arguments, and [`BESIDE_A_TOOL`] beside it.
    Call,
    /// One of several, told apart by scalar, list or map.
    Either(&'static [Shape]),
    /// Something that is read, but that this version does not do.
    Planned(&'static str),
}

/// A word that a value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) word: &'static str,
    pub(crate) doc: &'static str,
}

pub(crate) const fn word(word: &'static str, doc: &'static str) -> Word {
    Word { word, doc }
}

/// A key of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) shape: Shape,
    pub(crate) doc: &'static str,
    pub(crate) required: bool,
    pub(crate) planned: bool,
    /// The kinds beside which it may stand; empty for all.
    pub(crate) with: &'static [&'static str],
}

pub(crate) const fn field(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { key, shape, doc, required: false, planned: false, with: &[] }
}

impl Field {
    pub(crate) const fn required(mut self) -> Field {
        self.required = true;
        self
    }

    pub(crate) const fn planned(mut self) -> Field {
        self.planned = true;
        self
    }

    pub(crate) const fn with(mut self, kinds: &'static [&'static str]) -> Field {
        self.with = kinds;
        self
    }
}

/// A map with known keys.
#[derive(Debug)]
pub(crate) struct Record {
    /// With its article: `a layer`.
    pub(crate) what: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) fields: &'static [Field],
    /// What the kinds below are, and that exactly one of them has to be there: `source`.
    pub(crate) choice: Option<&'static str>,
    /// The keys that name the kind.
    pub(crate) kinds: &'static [&'static str],
}

impl Record {
    pub(crate) fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// The entry that names the kind, if exactly one does.
    pub(crate) fn kind<'n>(&self, node: &'n Node) -> Option<(&'n str, &'n Arc<Node>)> {
        let mut found = node.entries().iter().filter(|entry| self.kinds.contains(&&*entry.key));
        match (found.next(), found.next()) {
            (Some(entry), None) => Some((&entry.key, &entry.value)),
            _ => None,
        }
    }
}

/// The start of every message about something that this version reads but does not do.
pub const NOT_BUILT: &str = "not built yet";

/// Collects what is wrong with a file.
pub(crate) struct Problems<'a> {
    pub(crate) file: Name,
    pub(crate) text: &'a str,
    pub(crate) list: Vec<Diagnostic>,
}

impl Problems<'_> {
    pub(crate) fn error(
        &mut self,
        at: Position,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) {
        self.add(Diagnostic::error(message), at, hint);
    }

    pub(crate) fn warning(
        &mut self,
        at: Position,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) {
        self.add(Diagnostic::warning(message), at, hint);
    }

    fn add(&mut self, problem: Diagnostic, at: Position, hint: impl Into<Option<String>>) {
        let mut problem = problem.at(self.file.clone(), self.text, at);
        problem.hint = hint.into();
        self.push(problem);
    }

    /// Adds a problem, unless it has been told.
    pub(crate) fn push(&mut self, problem: Diagnostic) {
        if !self.list.contains(&problem) {
            self.list.push(problem);
        }
    }

    pub(crate) fn planned(&mut self, at: Position, what: &str) {
        let hint = "this version cannot open a bench that uses it".to_owned();
        self.error(at, format!("{NOT_BUILT}: {what}"), hint);
    }

    /// Checks a value against its description; `name` is what a message calls it, such as "`refresh`".
    pub(crate) fn check(&mut self, node: &Node, shape: &Shape, name: &str) {
        match shape {
            Shape::Any => {}
            Shape::Text | Shape::Path if node.as_text().is_some() => {}
            Shape::Expression if matches!(node.kind, Kind::Text | Kind::Bool(_)) => {}
            Shape::Bool if matches!(node.kind, Kind::Bool(_)) => {}
            Shape::Bool if matches!(&*node.text, "yes" | "no" | "on" | "off" | "True" | "False") => {
                self.wrong_type(node, shape, name, Some("write `true` or `false`".to_owned()));
            }
            Shape::Text | Shape::Path
                if matches!(node.kind, Kind::Int(_) | Kind::Float(_) | Kind::Bool(_)) =>
            {
                let hint = format!("quotes make it a text: \"{}\"", node.text);
                self.wrong_type(node, shape, name, Some(hint));
            }
            Shape::Id => self.check_id(node, name),
            Shape::Int(min, max) => match node.kind {
                Kind::Int(n) if (*min..=*max).contains(&n) => {}
                Kind::Int(_) => {
                    self.error(node.at, format!("{name} is out of range: {}", node.text), range(*min, *max));
                }
                _ => self.wrong_type(node, shape, name, None),
            },
            Shape::Duration => {
                if node.as_text().is_none_or(|text| super::scalar::duration(text).is_none()) {
                    self.wrong_type(node, shape, name, Some(super::scalar::DURATIONS.to_owned()));
                }
            }
            Shape::Words(words) => self.check_words(node, words, name),
            Shape::List(item) => match &node.kind {
                Kind::Seq(items) => items.iter().enumerate().for_each(|(index, node)| {
                    self.check(node, item, &format!("item {} of {name}", index + 1));
                }),
                _ => self.wrong_type(node, shape, name, Some("write a list: `[a, b]`".to_owned())),
            },
            Shape::Pair(item) => match &node.kind {
                Kind::Seq(items) if items.len() == 2 => {
                    items.iter().for_each(|node| self.check(node, item, name));
                }
                _ => self.wrong_type(node, shape, name, Some("write two of them: `[a, b]`".to_owned())),
            },
            Shape::Names(value) => match &node.kind {
                Kind::Map(entries) => {
                    entries.iter().for_each(|entry| {
                        self.check(&entry.value, value, &format!("`{}`", entry.key));
                    });
                }
                _ => {
                    self.wrong_type(node, shape, name, Some("write a map: `{ name: value }`".to_owned()));
                }
            },
            Shape::Record(record) => self.check_record(node, record, name),
            Shape::Call => self.check_call(node),
            Shape::Either(shapes) => {
                match shapes.iter().find(|shape| shape.fits(node)) {
                    Some(shape) => self.check(node, shape, name),
                    None => self.wrong_type(node, shape, name, None),
                };
            }
            Shape::Planned(what) => self.planned(node.at, what),
            _ => self.wrong_type(node, shape, name, None),
        }
    }

    fn wrong_type(&mut self, node: &Node, shape: &Shape, name: &str, hint: Option<String>) {
        let message = format!("{name} must be {}, but this is {}", shape.expected(), node.describe());
        self.error(node.at, message, hint);
    }

    fn check_id(&mut self, node: &Node, name: &str) {
        let Some(text) = node.as_text() else {
            let number = matches!(node.kind, Kind::Int(_) | Kind::Float(_));
            let hint = number.then(|| format!("quotes make it a text: \"{}\"", node.text));
            return self.wrong_type(node, &Shape::Id, name, hint);
        };
        let valid = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if text.is_empty() || !text.bytes().all(valid) {
            let hint = "small letters, digits, `_` and `-`; `title:` may hold any text".to_owned();
            self.error(node.at, format!("`{text}` cannot be an id"), hint);
        }
    }

    fn check_words(&mut self, node: &Node, words: &[Word], name: &str) {
        let known = || words.iter().map(|word| word.word);
        if !node.is_scalar() || matches!(node.kind, Kind::Null) {
            let hint = format!("one of {}", list(known()));
            return self.wrong_type(node, &Shape::Text, name, Some(hint));
        }
        if !known().any(|word| *word == *node.text) {
            let hint = suggest::hint(&node.text, known().collect::<Vec<_>>());
            self.error(node.at, format!("{name} cannot be `{}`", node.text), hint);
        }
    }

    fn check_call(&mut self, node: &Node) {
        let Kind::Map(entries) = &node.kind else {
            return self.wrong_type(node, &Shape::Call, "a call", None);
        };
        let mut tools = entries.iter().filter(|entry| !BESIDE_A_TOOL.contains(&&*entry.key));
        let (first, second) = (tools.next(), tools.next());
        let hint = "one tool in a map, with its arguments: `{ Read: { path: a.rs } }`";
        match (first, second) {
            (None, _) => self.error(node.at, "this call names no tool", hint.to_owned()),
            (_, Some(second)) => {
                self.error(
                    second.at,
                    format!("`{}` is a second tool in one call", second.key),
                    hint.to_owned(),
                );
            }
            (Some(tool), None) => {
                if !matches!(tool.value.kind, Kind::Map(_) | Kind::Null) {
                    let message = format!(
                        "the arguments of `{}` must be a map, but this is {}",
                        tool.key,
                        tool.value.describe()
                    );
                    self.error(tool.value.at, message, hint.to_owned());
                }
            }
        }
        for key in BESIDE_A_TOOL {
            if let Some(text) = node.get(key) {
                self.check(text, &Shape::Text, &format!("`{key}`"));
            }
        }
    }

    fn check_record(&mut self, node: &Node, record: &Record, name: &str) {
        let Kind::Map(entries) = &node.kind else {
            let built = || record.kinds.iter().copied().filter(|key| !record.is_planned(key));
            let hint = record
                .choice
                .map(|_| format!("write a map, whose key says what it is: {}", list(built())))
                .or_else(|| Some(record.as_map()));
            return self.wrong_type(node, &Shape::Names(&Shape::Any), name, hint);
        };
        let mut kinds = entries.iter().filter(|entry| record.kinds.contains(&&*entry.key));
        let kind = kinds.next();
        if let Some(choice) = record.choice {
            match (kind, kinds.next()) {
                // An unknown key is told below, and is most likely what should have named the kind.
                (None, _) if entries.iter().all(|entry| record.field(&entry.key).is_some()) => {
                    let built = record.kinds.iter().copied().filter(|key| !record.is_planned(key));
                    let hint = format!("exactly one of {}", list(built));
                    let article = if choice.starts_with(['e', 'i']) { "an" } else { "a" };
                    self.error(node.at, format!("{} without {article} {choice}", record.what), hint);
                }
                (Some(one), Some(two)) => self.error(
                    two.at,
                    format!("`{}` is a second {choice} in {}", two.key, record.what),
                    format!("keep `{}` or `{}`, not both", one.key, two.key),
                ),
                _ => {}
            }
        }
        if let Some(kind) = kind.filter(|kind| record.is_planned(&kind.key)) {
            return self.planned(kind.at, &format!("`{}` in {}", kind.key, record.what));
        }
        for entry in entries {
            let Some(field) = record.field(&entry.key) else {
                let known: Vec<&str> = record.fields.iter().map(|field| field.key).collect();
                let hint = suggest::hint(&entry.key, known);
                self.error(entry.at, format!("unknown key `{}` in {}", entry.key, record.what), hint);
                continue;
            };
            if field.planned {
                self.planned(entry.at, &format!("`{}` in {}", field.key, record.what));
                continue;
            }
            if let Some(kind) = kind
                && !field.with.is_empty()
                && !field.with.contains(&&*kind.key)
            {
                self.error(
                    entry.at,
                    format!("`{}` does not go with `{}`", field.key, kind.key),
                    format!("it belongs to {}", list(field.with.iter().copied())),
                );
                continue;
            }
            self.check(&entry.value, &field.shape, &format!("`{}`", field.key));
        }
        // A key that is nearly a required one is that one, written wrongly, and told above.
        let unknown = || entries.iter().filter(|entry| record.field(&entry.key).is_none());
        let meant = |key: &str| unknown().any(|entry| suggest::nearest(&entry.key, [key]).is_some());
        let missing = record.fields.iter().filter(|field| field.required && node.get(field.key).is_none());
        for field in missing.filter(|field| !meant(field.key)) {
            self.error(node.at, format!("{} without `{}`", record.what, field.key), field.doc.to_owned());
        }
    }
}

impl Record {
    /// How it is written, for who wrote something else: the keys that it must have, else one that it can have.
    fn as_map(&self) -> String {
        let required: Vec<&str> =
            self.fields.iter().filter(|field| field.required).map(|field| field.key).collect();
        let first = self.fields.iter().take(1).map(|field| field.key);
        let keys = if required.is_empty() { first.collect() } else { required };
        let keys: Vec<String> = keys.iter().map(|key| format!("{key}: ..")).collect();
        format!("write a map: `{{ {} }}`", keys.join(", "))
    }

    fn is_planned(&self, key: &str) -> bool {
        self.field(key).is_some_and(|field| field.planned)
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn range(min: i64, max: i64) -> String {
    match (min, max) {
        (i64::MIN, i64::MAX) => "any whole number".to_owned(),
        (min, i64::MAX) => format!("a whole number from {min}"),
        (i64::MIN, max) => format!("a whole number up to {max}"),
        (min, max) => format!("a whole number from {min} to {max}"),
    }
}

impl Shape {
    /// True when a value is of this shape's YAML kind: what tells the choices of `Either` apart.
    fn fits(&self, node: &Node) -> bool {
        match self {
            Shape::Any => true,
            Shape::List(_) | Shape::Pair(_) => matches!(node.kind, Kind::Seq(_)),
            Shape::Names(_) | Shape::Record(_) | Shape::Call => matches!(node.kind, Kind::Map(_)),
            Shape::Either(shapes) => shapes.iter().any(|shape| shape.fits(node)),
            Shape::Int(..) => matches!(node.kind, Kind::Int(_)),
            Shape::Bool => matches!(node.kind, Kind::Bool(_)),
            _ => node.is_scalar() && !matches!(node.kind, Kind::Null),
        }
    }

    /// For messages: `a text`.
    fn expected(&self) -> String {
        match self {
            Shape::Any | Shape::Planned(_) => "a value".to_owned(),
            Shape::Text => "a text".to_owned(),
            Shape::Id => "an id".to_owned(),
            Shape::Bool => "`true` or `false`".to_owned(),
            Shape::Int(min, max) => range(*min, *max),
            Shape::Duration => "a time span".to_owned(),
            Shape::Expression => "an expression".to_owned(),
            Shape::Path => "a path".to_owned(),
            Shape::Words(words) => format!("one of {}", list(words.iter().map(|word| word.word))),
            Shape::List(_) => "a list".to_owned(),
            Shape::Pair(_) => "a list of two".to_owned(),
            Shape::Names(_) | Shape::Record(_) | Shape::Call => "a map".to_owned(),
            Shape::Either(shapes) => {
                let built = shapes.iter().filter(|shape| !matches!(shape, Shape::Planned(_)));
                built.map(Shape::expected).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}
