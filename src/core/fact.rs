//! Facts: anything a layer may read, under a key.
//!
//! The core never fetches a fact. It looks one up, and where the answer is [`Lookup::Unknown`] the step that
//! asked ends with the keys it needs; the driver supplies them and asks again.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::core::diagnostic::Position;

/// A name in the bench: of a fact, a read, a layer, a place, a tool.
pub type Name = Arc<str>;

/// Where a relative path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Base {
    /// The folder of the bench file: templates, tables, tool schemas.
    Bench,
    /// The folder that the agent works in: everything under `read:` and what tools touch.
    Workspace,
    /// The user's home, written `~/`.
    Home,
}

/// A file named from one of the three bases. The path is relative, with `/`, normalised, without `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FilePath {
    /// Where `path` starts.
    pub base: Base,
    /// The path from there; empty for the base itself.
    pub path: Arc<str>,
}

impl FilePath {
    /// A path from `base`.
    #[must_use]
    pub fn new(base: Base, path: impl Into<Arc<str>>) -> FilePath {
        FilePath { base, path: path.into() }
    }
}

/// As the user wrote it in the bench: `~/` in front of what lies in the home folder.
impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.base {
            Base::Home => write!(f, "~/{}", self.path),
            _ => f.write_str(&self.path),
        }
    }
}

/// A program whose output is a fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments, which no shell takes apart.
    pub args: Arc<[Name]>,
    /// For how many seconds it may run.
    pub timeout: u32,
    /// How many bytes it may print.
    pub max_bytes: u32,
}

/// As one would type it: `` `git log -1` ``, with quotes around what has spaces in it.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for (index, arg) in self.args.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            let plain =
                |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\'' | '`' | '\\');
            if !arg.is_empty() && arg.chars().all(plain) {
                f.write_str(arg)?;
            } else {
                write!(f, "{arg:?}")?;
            }
        }
        f.write_str("`")
    }
}

/// The key of a fact.
///
/// All but [`FactKey::Named`] are what the edge supplies; named facts are the bench's own, or derived by the core
/// from the others (see [`crate::core::read`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKey {
    /// A fact under a name: `cwd`, `channel`, `agent.role`, a name under `read:`.
    Named(Name),
    /// The decoded text of a file: a [`Value::File`].
    File(FilePath),
    /// A YAML or JSON file, parsed: the [`Value`] it holds.
    Data(FilePath),
    /// A file with front matter: a map with `meta` (a map, empty without front matter) and `body` (a [`Value::File`]).
    Document(FilePath),
    /// The files that match a glob pattern below its base, sorted by bytes: a list of texts, relative to the base.
    Glob(FilePath),
    /// The files that git tracks below a folder, sorted by bytes: a list of texts; absent where there is no git.
    Git(FilePath),
    /// What a program prints: a [`Value::File`].
    Command(Command),
    /// A property of the machine: `now` (RFC 9557 text), `os`, `shell`, `user`, `git_branch`, `workspace` (the absolute path), `home`;
    /// `git_index`, a map of `root`, `dir`, `mtime_ms` and `size`.
    Environment(Name),
    /// What a client reports in this field: a [`Value::Text`], or absent before the first report and where it was cleared.
    /// Nothing on disk stands behind it, so it is neither looked for nor watched.
    Reported(Name),
}

impl FactKey {
    /// A named fact.
    #[must_use]
    pub fn named(name: impl Into<Arc<str>>) -> FactKey {
        FactKey::Named(name.into())
    }

    /// True for keys that the edge supplies; all but [`FactKey::Reported`] are watched, too.
    #[must_use]
    pub fn is_external(&self) -> bool {
        !matches!(self, FactKey::Named(_))
    }
}

/// As people name it: `cwd`, `AGENTS.md`, `skills/*/SKILL.md`, `git branch`.
impl fmt::Display for FactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactKey::Named(name) => f.write_str(name),
            FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) | FactKey::Glob(path) => {
                path.fmt(f)
            }
            FactKey::Git(path) => {
                write!(f, "git files of {}", if path.path.is_empty() { "." } else { &path.path })
            }
            FactKey::Command(command) => write!(f, "the output of {command}"),
            FactKey::Environment(name) => f.write_str(&name.replace('_', " ")),
            FactKey::Reported(field) => write!(f, "reported {field}"),
        }
    }
}

/// The text of a file, as the core wants it: decoded, with what had to be done to get there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// Where it came from.
    pub path: FilePath,
    /// The decoded text. Line ends are as in the file; a byte order mark is removed and noted.
    pub text: Arc<str>,
    /// The size on disk in bytes.
    pub bytes: u64,
    /// How many lines of the file stand in front of the text and are no part of it: front matter.
    #[serde(default)]
    pub skipped: u32,
    /// Where something was left out in front of or inside of the text: byte offsets of the text, ascending, with the
    /// positions in the file at which the text goes on there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jumps: Vec<(usize, Position)>,
    /// What a reader should know: `UTF-16LE`, `BOM removed`, `cut at 4 MiB`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Arc<str>>,
}

impl FileText {
    /// The note about a byte order mark.
    pub const BOM_REMOVED: &'static str = "BOM removed";

    /// The start of a note about what the bench itself leaves out of a file.
    pub const LEFT_OUT: &'static str = "left out: ";

    /// A file of which nothing was left out.
    #[must_use]
    pub fn whole(path: FilePath, text: impl Into<Arc<str>>) -> FileText {
        let text = text.into();
        FileText { path, bytes: text.len() as u64, text, skipped: 0, jumps: Vec::new(), notes: Vec::new() }
    }

    /// True for a note that only says how the file was read: nothing of it was replaced, and nothing left out but what
    /// the bench itself leaves out.
    #[must_use]
    pub fn is_whole_with(note: &str) -> bool {
        matches!(note, FileText::BOM_REMOVED | "UTF-16LE" | "UTF-16BE" | "GB18030")
            || note.starts_with(FileText::LEFT_OUT)
    }

    /// Where the text starts in the file.
    #[must_use]
    pub fn start(&self) -> Position {
        Position { line: self.skipped + 1, ..Position::START }
    }

    /// The file with these ranges of its text alone, in order. What stays still knows where it stands in the file.
    #[must_use]
    pub fn keeping(&self, kept: &[Range<usize>]) -> FileText {
        let mut text = String::new();
        let mut jumps = Vec::new();
        for range in kept.iter().filter(|range| !range.is_empty()) {
            if range.start > 0 || self.jumps.first().is_some_and(|(from, _)| *from == 0) {
                jumps.push((text.len(), Position::at(&self.text, self.start(), &self.jumps, range.start)));
            }
            let inside = self.jumps.iter().filter(|(from, _)| (range.start + 1..range.end).contains(from));
            jumps.extend(inside.map(|(from, at)| (text.len() + from - range.start, *at)));
            text.push_str(&self.text[range.clone()]);
        }
        FileText { text: text.into(), jumps, ..self.clone() }
    }
}

/// The value of a fact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Nothing, as YAML's `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// A list, in order.
    List(Arc<[Value]>),
    /// A map, in the order in which it was written.
    Map(Arc<IndexMap<Name, Value>>),
    /// A file: in a template it is its text.
    File(Arc<FileText>),
}

impl Value {
    /// A text value.
    #[must_use]
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A list value.
    #[must_use]
    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(items.into_iter().collect())
    }

    /// A map value.
    #[must_use]
    pub fn map<K: Into<Arc<str>>>(items: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(Arc::new(items.into_iter().map(|(k, v)| (k.into(), v)).collect()))
    }

    /// The text of a text or a file.
    #[must_use]
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match self {
            Value::Text(text) => Some(text),
            Value::File(file) => Some(&file.text),
            _ => None,
        }
    }

    /// The items of a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&IndexMap<Name, Value>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// An entry of a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// False for what templates take as false: null, `false`, zero, and the empty text, list, map or file.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(b) => *b,
            Value::Int(n) => *n != 0,
            Value::Float(n) => *n != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::File(file) => !file.text.is_empty(),
        }
    }

    /// The revision of this value: equal values have equal revisions on every machine.
    #[must_use]
    pub fn rev(&self) -> Rev {
        // A text may be a megabyte: it is hashed where it stands, and not copied to stand behind its length.
        let mut hash = Xxh3Default::new();
        self.encode(&mut |bytes| hash.update(bytes));
        Rev(hash.digest())
    }

    /// Hands out the bytes of which a revision is the hash, piece by piece.
    fn encode(&self, out: &mut dyn FnMut(&[u8])) {
        fn headed(out: &mut dyn FnMut(&[u8]), tag: u8, bytes: [u8; 8]) {
            let mut head = [tag; 9];
            head[1..].copy_from_slice(&bytes);
            out(&head);
        }
        fn text(out: &mut dyn FnMut(&[u8]), tag: u8, text: &str) {
            headed(out, tag, (text.len() as u64).to_le_bytes());
            out(text.as_bytes());
        }
        match self {
            Value::Null => out(&[0]),
            Value::Bool(b) => out(&[1, u8::from(*b)]),
            Value::Int(n) => headed(out, 2, n.to_le_bytes()),
            Value::Float(n) => headed(out, 3, n.to_bits().to_le_bytes()),
            Value::Text(t) => text(out, 4, t),
            Value::List(items) => {
                headed(out, 5, (items.len() as u64).to_le_bytes());
                items.iter().for_each(|item| item.encode(out));
            }
            Value::Map(map) => {
                headed(out, 6, (map.len() as u64).to_le_bytes());
                for (key, value) in map.iter() {
                    text(out, 4, key);
                    value.encode(out);
                }
            }
            Value::File(file) => text(out, 7, &file.text),
        }
    }
}

/// Short enough for a line of a screen: long texts are cut by the caller.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => b.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Float(n) => n.fmt(f),
            Value::Text(text) => f.write_str(text),
            Value::File(file) => f.write_str(&file.text),
            Value::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    item.fmt(f)?;
                }
                Ok(())
            }
            Value::Map(map) => {
                for (i, (key, value)) in map.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{key}: {value}")?;
                }
                Ok(())
            }
        }
    }
}

/// The revision of a value: a hash of its content, so that a value that comes back has its old revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rev(pub u64);

impl Rev {
    /// The revision of "there is no such thing", which differs from that of every value.
    pub const ABSENT: Rev = Rev(0);
}

/// Numbers the events of a session, in order: the opening of the bench is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u32);

impl EventId {
    /// The opening of the bench: the cause of everything that never changed.
    pub const OPENING: EventId = EventId(0);
}

/// What the edge found under an external key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// The value.
    Value(Value),
    /// There is no such file, folder or property.
    Absent,
    /// It is there but could not be used: one sentence with the reason, lower case, without a full stop.
    Failed(Arc<str>),
}

impl Found {
    /// The revision of what was found.
    #[must_use]
    pub fn rev(&self) -> Rev {
        match self {
            Found::Value(value) => value.rev(),
            Found::Absent => Rev::ABSENT,
            Found::Failed(reason) => Rev(xxh3_64(reason.as_bytes()) | 1),
        }
    }
}

/// The answer to a question for a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// The value, its revision and the event that gave it this value.
    Ready(Value, Rev, EventId),
    /// Known not to be there, since this event.
    Absent(EventId),
    /// It is there but could not be used, since this event.
    Failed(Arc<str>, EventId),
    /// Nobody has asked the edge yet.
    Unknown,
}

/// What a step came to: its result, or the facts it needs before it can go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress<T> {
    /// It is done.
    Done(T),
    /// Supply these and ask again. Never empty.
    Needs(Vec<FactKey>),
}

/// One fact as a layer read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// What it held.
    pub rev: Rev,
    /// The event that gave it this value.
    pub cause: EventId,
    /// True when it was read for the text, false when only the condition asked for it.
    pub in_text: bool,
}

/// Everything a layer read, which is at once its certain blame, its memo key and its volatility.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reads(pub BTreeMap<FactKey, Read>);

impl Reads {
    /// Notes a read; reading for the text outweighs reading for the condition.
    pub fn note(&mut self, key: FactKey, read: Read) {
        let entry = self.0.entry(key).or_insert(read);
        entry.in_text |= read.in_text;
        entry.rev = read.rev;
        entry.cause = read.cause;
    }

    /// Takes over the reads of another.
    pub fn extend(&mut self, other: &Reads) {
        for (key, read) in &other.0 {
            self.note(key.clone(), *read);
        }
    }

    /// The facts whose revision differs from `before` (or that only one of the two read), external ones first
    /// where a named one is derived from them.
    #[must_use]
    pub fn changed_since(&self, before: &Reads) -> Vec<FactKey> {
        let mut keys: Vec<FactKey> = self
            .0
            .iter()
            .filter(|(key, read)| before.0.get(*key).is_none_or(|old| old.rev != read.rev))
            .map(|(key, _)| key.clone())
            .collect();
        keys.extend(before.0.keys().filter(|key| !self.0.contains_key(*key)).cloned());
        keys
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof!["[a-c你]{0,6}", Just("一行很长的文字 and more. ".repeat(40))];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            any::<f64>().prop_map(Value::Float),
            text.clone().prop_map(Value::text),
            text.prop_map(|text| Value::File(Arc::new(FileText::whole(
                FilePath::new(Base::Bench, "a.md"),
                text
            )))),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
                prop::collection::vec(("[a-c]{1,2}", inner), 0..4).prop_map(Value::map),
            ]
        })
    }

    proptest! {
        /// It is the hash of all bytes in one, in whatever pieces they are hashed.
        #[test]
        fn a_revision_is_the_hash_of_the_whole(value in value()) {
            let mut bytes = Vec::new();
            value.encode(&mut |more| bytes.extend_from_slice(more));
            prop_assert_eq!(value.rev(), Rev(xxh3_64(&bytes)));
        }
    }

    #[test]
    fn what_differs_has_another_revision() {
        let text = |text: &str| Value::text(text.to_owned());
        let values = [
            Value::Null,
            Value::Bool(false),
            Value::Int(0),
            Value::Float(0.0),
            text(""),
            text("a"),
            Value::list([text("a"), text("b")]),
            Value::list([text("ab")]),
            Value::list([Value::list([text("a")]), text("b")]),
            Value::map([("a", text("b"))]),
        ];
        for (at, one) in values.iter().enumerate() {
            for other in &values[at + 1..] {
                assert_ne!(one.rev(), other.rev(), "{one:?} {other:?}");
            }
        }
    }
}
