//! What differs between two prompts, layer by layer: what was added, removed, changed or moved.

use std::collections::BTreeMap;

use crate::core::fact::Name;
use crate::core::wire::{BlockKind, Request};

/// What one author says in one place of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The layer, else what stands for one: `user`, `tool Read`.
    pub id: Name,
    /// Where it stands.
    pub place: Place,
    /// What it says, without the separator in front of it.
    pub text: String,
}

/// Where a unit stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kind of its block.
    pub kind: BlockKind,
    /// For system text, the block's name.
    pub block: Option<Name>,
}

/// A request as units, with what stands between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// The units, in the order of their bytes.
    pub units: Vec<Unit>,
    /// The separators, one behind the other.
    pub joins: String,
}

/// The units of a request.
#[must_use]
pub fn units(request: &Request) -> Units {
    let mut out = Units::default();
    for block in &request.blocks {
        let text = &block.text;
        for part in text.parts() {
            out.joins.push_str(&text.text()[part.start..part.body]);
            let id = match block.kind {
                BlockKind::Tool => format!("tool {}", block.name).into(),
                _ => part.id.clone(),
            };
            let named = block.kind == BlockKind::System;
            let place = Place { kind: block.kind, block: named.then(|| block.name.clone()) };
            out.units.push(Unit { id, place, text: text[part].to_owned() });
        }
    }
    out
}

/// A unit of either prompt, compared. At least one of the two is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The index of the unit in the old prompt; none where it was added.
    pub old: Option<usize>,
    /// The index of the unit in the new prompt; none where it was removed.
    pub new: Option<usize>,
    /// True when it says something else.
    pub changed: bool,
    /// True when it stands in another place, or in another order among what stands in both.
    pub moved: bool,
}

impl Change {
    /// True when the unit is the same in both.
    #[must_use]
    pub fn is_same(self) -> bool {
        self.old.is_some() && self.new.is_some() && !self.changed && !self.moved
    }
}

/// Compares two prompts: every unit of the new one in its order, and what was removed where it stood. A layer that
/// stands several times is matched in order.
#[must_use]
pub fn changes(old: &[Unit], new: &[Unit]) -> Vec<Change> {
    let mut of: BTreeMap<(&Name, usize), usize> = BTreeMap::new();
    for (key, at) in numbered(old).into_iter().zip(0..) {
        of.insert(key, at);
    }
    let before: Vec<Option<usize>> = numbered(new).iter().map(|key| of.remove(key)).collect();
    let common: Vec<usize> = before.iter().flatten().copied().collect();
    let stays = longest_ascending(&common);
    let mut out: Vec<Change> = Vec::with_capacity(new.len() + of.len());
    for (at, before) in before.iter().enumerate() {
        let unit = &new[at];
        let changed = before.is_some_and(|before| old[before].text != unit.text);
        let moved = before
            .is_some_and(|before| old[before].place != unit.place || stays.binary_search(&before).is_err());
        out.push(Change { old: *before, new: Some(at), changed, moved });
    }
    let mut removed: Vec<usize> = of.into_values().collect();
    removed.sort_unstable();
    for gone in removed {
        let change = Change { old: Some(gone), new: None, changed: false, moved: false };
        // Behind what stood in front of it and still stands; at the front where nothing does.
        let behind =
            (0..gone).rev().find_map(|before| out.iter().position(|c| c.old == Some(before) && !c.moved));
        out.insert(behind.map_or(0, |at| at + 1), change);
    }
    out
}

/// Each unit's id with how often it stood before.
fn numbered(units: &[Unit]) -> Vec<(&Name, usize)> {
    let mut seen: BTreeMap<&Name, usize> = BTreeMap::new();
    units
        .iter()
        .map(|unit| {
            let count = seen.entry(&unit.id).or_default();
            *count += 1;
            (&unit.id, *count - 1)
        })
        .collect()
}

/// The most values that ascend as they stand: all but the fewest that have to be called moved. Ascending.
fn longest_ascending(values: &[usize]) -> Vec<usize> {
    // For each length, the index of the smallest value that ends such a run; and for each index, the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        let length = ends.partition_point(|&end| values[end] < *value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut out = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(index) = at {
        out.push(values[index]);
        at = before[index];
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prompt(layers: &str) -> Vec<Unit> {
        layers
            .split_whitespace()
            .map(|layer| {
                let (id, text) = layer.split_once('=').unwrap_or((layer, "x"));
                let (id, kind) = match id.strip_prefix('u') {
                    Some(id) => (id, BlockKind::User),
                    None => (id, BlockKind::System),
                };
                Unit { id: id.into(), place: Place { kind, block: None }, text: text.into() }
            })
            .collect()
    }

    fn said(old: &str, new: &str) -> Vec<String> {
        let (old, new) = (prompt(old), prompt(new));
        changes(&old, &new)
            .into_iter()
            .filter(|change| !change.is_same())
            .map(|change| match (change.old, change.new) {
                (None, Some(new_at)) => format!("+{}", new[new_at].id),
                (Some(old_at), None) => format!("-{}", old[old_at].id),
                (_, at) => {
                    let unit = &new[at.unwrap_or_default()];
                    let words = [("changed", change.changed), ("moved", change.moved)];
                    let words: Vec<&str> = words.into_iter().filter(|(_, on)| *on).map(|(w, _)| w).collect();
                    format!("{} {}", unit.id, words.join(" "))
                }
            })
            .collect()
    }

    #[test]
    fn layers_are_added_removed_changed_and_moved() {
        assert_eq!(said("a b c", "a b c"), Vec::<String>::new());
        assert_eq!(said("a b c", "a x c=2"), ["-b", "+x", "c changed"]);
        assert_eq!(said("a b c d", "b c d a"), ["a moved"]);
        assert_eq!(said("a b c d", "a c=9 b d"), ["c changed moved"]);
        assert_eq!(said("a b", "a ub"), ["b moved"]);
        assert_eq!(said("", "a"), ["+a"]);
        assert_eq!(said("a b c", ""), ["-a", "-b", "-c"]);
        // The second time it is said is not the first.
        assert_eq!(said("a b a", "a b"), ["-a"]);
    }

    proptest! {
        #[test]
        fn every_unit_is_there_once(old in "([a-e](=[12])? ){0,6}", new in "([a-e](=[12])? ){0,6}") {
            let (old, new) = (prompt(&old), prompt(&new));
            let found = changes(&old, &new);
            let mut olds: Vec<usize> = found.iter().filter_map(|change| change.old).collect();
            olds.sort_unstable();
            prop_assert_eq!(olds, (0..old.len()).collect::<Vec<_>>());
            let news: Vec<usize> = found.iter().filter_map(|change| change.new).collect();
            prop_assert_eq!(news, (0..new.len()).collect::<Vec<_>>());
            prop_assert_eq!(found.iter().all(|change| change.is_same()), old == new);
        }
    }
}
