//! Derived facts: everything under `read:`. One file for each kind.
//!
//! They are pure: they ask for what the edge supplies and work the answers into a value. Where an answer is not known
//! yet, everything else that can be asked for is asked for before giving up, so that one round trip fetches it all.
//!
//! What is not there is not a mistake: a missing file is an empty text, a missing folder an empty list, so that
//! `when: name` can leave a layer out. What is there and cannot be used fails with the reason.

mod command;
mod docs;
mod environment;
mod file;
mod git_files;
mod glob;
mod json;
mod leave;
pub mod map_cache;
mod reported;
mod section;
mod skills;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use crate::core::bench::ReadKind;
use crate::core::fact::{FactKey, FilePath, Lookup, Value};

/// Answers for the facts that the edge supplies.
pub trait Ask {
    /// What is known under a key; the key of an unknown one has to be remembered by whoever answers.
    fn ask(&mut self, key: &FactKey) -> Lookup;
}

/// What a derived fact came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Derived {
    /// Its value.
    Ready(Value),
    /// There is no such thing.
    Absent,
    /// It is there but cannot be used: one sentence with the reason, lower case, without a full stop.
    Failed(Arc<str>),
    /// Something that was asked for is not known yet.
    Unknown,
}

/// Derives one fact.
#[must_use]
pub fn derive(kind: &ReadKind, ask: &mut dyn Ask) -> Derived {
    match kind {
        ReadKind::File { path, max_chars, near, body, leave, .. } => {
            file::derive(path, *max_chars, near.as_ref(), *body, leave, ask)
        }
        ReadKind::Section { path, heading, anywhere } => section::derive(path, heading, *anywhere, ask),
        ReadKind::Glob { pattern, top, data } => glob::derive(pattern, *top, *data, ask),
        ReadKind::Docs { folder, chunk_chars } => docs::derive(folder, *chunk_chars, ask),
        ReadKind::Skills { folder } => skills::derive(folder, ask),
        ReadKind::GitFiles { folder, groups, per_group, style, cap, cache } => {
            if let Some(answer) = cache.as_ref().and_then(|cache| git_files::cached(folder, cache, ask)) {
                return answer;
            }
            git_files::derive(folder, *groups, *per_group, style, cap.as_ref(), ask)
        }
        ReadKind::Command { command } => command::derive(command, ask),
        ReadKind::Json { path } => json::derive(path, ask),
        ReadKind::Environment { name } => environment::derive(name, ask),
        ReadKind::Reported { field, max_chars, .. } => reported::derive(field, *max_chars, ask),
    }
}

/// What an item of a list came to: an item, none, or not known yet.
enum Item {
    Ready(Value),
    Gone,
    Unknown,
}

/// A list of items, all of them asked for.
fn list(items: impl Iterator<Item = Item>) -> Derived {
    let mut values = Vec::new();
    let mut unknown = false;
    for item in items {
        match item {
            Item::Ready(value) => values.push(value),
            Item::Gone => {}
            Item::Unknown => unknown = true,
        }
    }
    if unknown { Derived::Unknown } else { Derived::Ready(Value::list(values)) }
}

/// The paths that a listing holds, or what to give instead of them.
fn paths(key: &FactKey, ask: &mut dyn Ask) -> Result<Vec<Arc<str>>, Derived> {
    match ask.ask(key) {
        Lookup::Ready(value, ..) => Ok(value
            .as_list()
            .unwrap_or_default()
            .iter()
            .filter_map(|path| path.as_text().cloned())
            .collect()),
        Lookup::Absent(_) => Ok(Vec::new()),
        Lookup::Failed(reason, _) => Err(Derived::Failed(reason)),
        Lookup::Unknown => Err(Derived::Unknown),
    }
}

/// The last part of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The start of a pattern for what lies below a folder. The folder's own name is not part of the pattern's language.
fn below(folder: &FilePath) -> String {
    let below = if folder.path.is_empty() { String::new() } else { format!("{}/", folder.path) };
    below
        .chars()
        .flat_map(|c| {
            let special = matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
            special.then_some('\\').into_iter().chain([c])
        })
        .collect()
}
