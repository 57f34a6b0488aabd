//! Variants: dotted paths and what they change, applied to the tree before it is decoded, so that what comes out is
//! checked as a whole and a mistake is told at the variant's own line.

use std::sync::Arc;

use crate::core::diagnostic::Position;
use crate::core::fact::Name;

use super::node::{Entry, Kind, Node};
use super::shape::Problems;
use super::suggest;

/// One change of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The dotted path: `layers.reminder.keep.persist`.
    pub path: Name,
    /// Where the path stands in the bench.
    pub at: Position,
    /// The new value.
    pub value: Arc<Node>,
}

/// A variant of a bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name.
    pub name: Name,
    /// Where it is named in the bench.
    pub at: Position,
    /// What it changes, in order.
    pub changes: Vec<Change>,
}

/// The variants of a bench, in the order of the file.
pub(super) fn all(root: &Node) -> Vec<Variant> {
    let entries = root.get("variants").map(|node| node.entries()).unwrap_or_default();
    let change = |entry: &Entry| Change { path: entry.key.clone(), at: entry.at, value: entry.value.clone() };
    entries
        .iter()
        .map(|entry| Variant {
            name: entry.key.clone(),
            at: entry.at,
            changes: entry.value.entries().iter().map(change).collect(),
        })
        .collect()
}

/// Applies a variant. A path that leads nowhere is told and left out.
pub(super) fn apply(root: &mut Arc<Node>, variant: &Variant, problems: &mut Problems<'_>) {
    // What a bench must have and does not is told once, and not again for each path into it.
    let missing = |head: &str| {
        super::fields::BENCH.field(head).is_some_and(|field| field.required) && root.get(head).is_none()
    };
    let lead_somewhere: Vec<&Change> = variant
        .changes
        .iter()
        .filter(|change| !missing(change.path.split('.').next().unwrap_or_default()))
        .collect();
    for change in lead_somewhere {
        let steps: Vec<&str> = change.path.split('.').collect();
        if let Err((message, hint)) = set(root, &steps, change) {
            // The path stands in the line. Without it here, all paths into what is not there are one mistake.
            problems.error(change.at, format!("this path leads nowhere: {message}"), hint);
        }
    }
}

type Nowhere = (String, Option<String>);

fn set(root: &mut Arc<Node>, steps: &[&str], change: &Change) -> Result<(), Nowhere> {
    let head = steps[0];
    if matches!(head, "bench" | "variants") || steps.contains(&"") {
        return Err((format!("`{}` cannot be changed", change.path), None));
    }
    if !super::fields::BENCH.fields.iter().any(|field| field.key == head) {
        let keys: Vec<&str> = super::fields::BENCH.fields.iter().map(|field| field.key).collect();
        return Err((format!("a bench has no `{head}`"), suggest::hint(head, keys)));
    }
    step(Arc::make_mut(root), steps, 0, change)
}

/// Goes one step from `node`, which `steps[..depth]` leads to.
fn step(node: &mut Node, steps: &[&str], depth: usize, change: &Change) -> Result<(), Nowhere> {
    let name = steps[depth];
    let last = depth + 1 == steps.len();
    let here = if depth == 0 { "the bench".to_owned() } else { format!("`{}`", steps[..depth].join(".")) };
    match &mut node.kind {
        Kind::Map(entries) => {
            if let Some(entry) = entries.iter_mut().find(|entry| &*entry.key == name) {
                if last {
                    entry.at = change.at;
                    entry.value = change.value.clone();
                    return Ok(());
                }
                return step(Arc::make_mut(&mut entry.value), steps, depth + 1, change);
            }
            // Names that the bench chose have to exist; keys of the format may be missing where they have a default.
            let chosen = depth == 1 && matches!(steps[0], "facts" | "places" | "read" | "runs" | "simulate");
            if chosen && (!last || steps[0] == "facts") {
                let known: Vec<&str> = entries.iter().map(|entry| &*entry.key).collect();
                return Err((format!("there is no `{name}` in {here}"), suggest::hint(name, known)));
            }
            let mut value = change.value.clone();
            for key in steps[depth + 1..].iter().rev() {
                let entry = Entry { key: (*key).into(), at: change.at, value };
                value = Arc::new(Node {
                    kind: Kind::Map(vec![entry]),
                    at: change.at,
                    byte: change.value.byte,
                    text: "".into(),
                    style: super::node::Style::Plain,
                });
            }
            entries.push(Entry { key: name.into(), at: change.at, value });
            Ok(())
        }
        Kind::Seq(items) => {
            let by_id = items.iter().position(|item| item.get("id").is_some_and(|id| *id.text == *name));
            let by_index = || name.parse::<usize>().ok().filter(|index| *index < items.len());
            let Some(index) = by_id.or_else(by_index) else {
                let ids: Vec<Name> =
                    items.iter().filter_map(|item| item.get("id")).map(|id| id.text.clone()).collect();
                let (what, hint) = if ids.is_empty() {
                    let count = items.len();
                    (format!("{here} is a list of {count}"), "name an item by its number, from 0".to_owned())
                } else {
                    let hint = suggest::hint(name, ids.iter().map(|id| &**id).collect::<Vec<_>>());
                    (format!("there is no `{name}` in {here}"), hint.unwrap_or_default())
                };
                return Err((what, Some(hint).filter(|hint| !hint.is_empty())));
            };
            if last {
                items[index] = change.value.clone();
                return Ok(());
            }
            step(Arc::make_mut(&mut items[index]), steps, depth + 1, change)
        }
        _ => {
            let what = node.describe();
            Err((format!("{here} is {what} and has no `{name}`"), Some(format!("change {here} as a whole"))))
        }
    }
}
