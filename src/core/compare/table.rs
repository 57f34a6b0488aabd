//! What is shown of a comparison, for a number of turns.

use std::sync::Arc;

use super::words;
use super::{Comparison, Row, Sum, Told};
use crate::core::bench::{Bench, Layer, PlaceKind, Refresh};
use crate::core::cache::Models;
use crate::core::fact::Name;
use crate::core::wire::CallNo;

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// What is changed, in order; empty for the bench as it is written.
    pub names: Vec<Name>,
    /// What the table calls it.
    pub label: Arc<str>,
    /// How deep it hangs under the row that it adds something to.
    pub depth: u16,
    /// True for the bench as it is written.
    pub base: bool,
    /// True for the row that costs least of those that leave nothing stale and nothing untold.
    pub least: bool,
    /// For each model; empty where it could not be played, or is not played yet.
    pub sums: Vec<Sum>,
    /// What the model believed; none where it could not be played, or is not played yet.
    pub told: Option<Told>,
    /// Why it could not be played.
    pub failed: Option<Arc<str>>,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The models, as `provider:model`.
    pub models: Vec<Name>,
    /// The same without their providers.
    pub short: Vec<Name>,
    /// Only so many turns are counted; none for all.
    pub turns: Option<u32>,
    /// How many turns the run has.
    pub all_turns: u32,
    /// How many calls are counted.
    pub calls: u32,
    /// The last call that is counted.
    pub last: Option<CallNo>,
    /// The rows, in order: what adds something to a row stands below it.
    pub rows: Vec<TableRow>,
    /// The model whose tokens the context is counted in: the first that can be counted.
    pub counted: usize,
    /// What is said of the bench as it is written: whether it breaks, and where, and what that costs.
    pub verdict: Vec<Arc<str>>,
    /// What is said of the row that costs least, with its price and what it gives up. Empty until all is played.
    pub least: Vec<Arc<str>>,
    /// How each model's numbers were got, and what is not known and why; one line each.
    pub notes: Vec<Arc<str>>,
    /// Ways that send what another one sends: `live is rebuild system`.
    pub same: Vec<Arc<str>>,
    /// True when all was played.
    pub done: bool,
}

impl Comparison {
    /// The table over the first `turns` turns; over all of them without a number.
    #[must_use]
    pub fn table(&self, bench: &Bench, known: &Models, turns: Option<u32>) -> Table {
        let short: Vec<Name> = self.models.iter().map(|id| known.get(id).short().into()).collect();
        let base = self.base();
        let least = if self.is_done() { self.least_row() } else { None };
        let counted = |row: &Row| row.within(turns).count() as u32;
        let mut table = Table {
            models: self.models.clone(),
            short,
            turns,
            all_turns: base.map_or(0, Row::turns),
            calls: base.map_or(0, counted),
            last: base.and_then(|row| row.within(turns).last().map(|call| call.call)),
            counted: self.counted(),
            done: self.is_done(),
            ..Table::default()
        };
        let mut rows: Vec<(&Row, u16)> = Vec::new();
        let mut later: Vec<&Row> = Vec::new();
        for row in &self.rows {
            if let Some(other) = self.same_as(row) {
                if row.names.len() == 1 {
                    table.same.push(
                        format!("{} sends the same as {}", self.name(bench, row), self.name(bench, other))
                            .into(),
                    );
                }
                continue;
            }
            if row.names.len() < 2 || self.chosen { rows.push((row, 0)) } else { later.push(row) }
        }
        // Of several at once only those are shown that are worth it.
        let pair = self.best_pair().filter(|_| self.is_done() && !self.chosen);
        let triple = self.best_triple().filter(|_| self.is_done() && !self.chosen);
        for row in later {
            let shown = [pair, triple].into_iter().flatten().any(|shown| shown.names == row.names);
            let above = rows.iter().position(|(other, _)| {
                other.names.len() + 1 == row.names.len() && row.names.starts_with(&other.names)
            });
            if let Some(at) = above.filter(|_| shown) {
                let depth = rows[at].1 + 1;
                rows.insert(at + 1, (row, depth));
            }
        }
        table.rows = rows
            .into_iter()
            .map(|(row, depth)| {
                let played = row.failed.is_none();
                TableRow {
                    names: row.names.clone(),
                    label: self.label(bench, row, depth).into(),
                    depth,
                    base: row.names.is_empty(),
                    least: least.is_some_and(|least| least.names == row.names) && !row.names.is_empty(),
                    sums: if played {
                        (0..self.models.len()).map(|model| row.sum(model, turns)).collect()
                    } else {
                        Vec::new()
                    },
                    told: played.then(|| row.told(turns)),
                    failed: row.failed.as_deref().map(Arc::from),
                }
            })
            .collect();
        table.notes = words::notes(self, known);
        if let Some(base) = base.filter(|base| base.failed.is_none()) {
            table.verdict = words::verdict(self, bench, base, &table.short);
            if let Some(least) = least {
                table.least = words::least(base, least, &table.short, table.counted);
            }
        }
        table
    }

    /// The first model whose tokens can be counted, by its number; the first of all where there is none.
    #[must_use]
    pub fn counted(&self) -> usize {
        let can = |model: &usize| self.base().is_some_and(|base| base.sum(*model, None).sent.is_some());
        (0..self.models.len()).find(can).unwrap_or(0)
    }

    /// The row that costs least of those that tell the truth.
    pub(super) fn least_row(&self) -> Option<&Row> {
        let best = self.cheapest(|row| self.chosen || row.names.len() < 2);
        let more = [self.best_pair(), self.best_triple()].into_iter().flatten().filter(|_| !self.chosen);
        best.into_iter().chain(more).min_by_key(|row| self.costs(row))
    }

    /// The row of the policy that builds the system prompt anew at once: what an announcement is meant to avoid.
    pub(super) fn at_once(&self) -> Option<&Row> {
        let live = self.rows.iter().find(|row| row.names.len() == 1 && &*row.names[0] == "live")?;
        Some(self.same_as(live).unwrap_or(live)).filter(|row| row.failed.is_none())
    }

    /// What a row is called in a sentence.
    pub(super) fn name(&self, bench: &Bench, row: &Row) -> String {
        match row.names.as_slice() {
            [] => told_in(bench),
            names => names.iter().map(|name| self.word(name)).collect::<Vec<_>>().join(" and "),
        }
    }

    fn label(&self, bench: &Bench, row: &Row, depth: u16) -> String {
        match (row.names.as_slice(), depth) {
            ([], _) if told_in(bench) == THIS => THIS.to_owned(),
            ([], _) => format!("{} (this bench)", told_in(bench)),
            ([.., last], 1..) => format!("and {}", self.word(last)),
            _ => self.name(bench, row),
        }
    }

    fn word(&self, name: &Name) -> String {
        let policy = self.policies.iter().find(|policy| policy.name == *name);
        policy.map_or_else(|| name.replace('_', " "), |policy| policy.title.to_string())
    }
}

const THIS: &str = "this bench";

/// Where a bench announces changes, as tables call it. A layer that is left out announces nothing.
fn told_in(bench: &Bench) -> String {
    let is_on = |layer: &Layer| {
        layer.when.as_ref().is_none_or(|when| &*when.text != "false" && !when.text.starts_with("false and "))
    };
    let announces = |layer: &&Layer| matches!(layer.refresh, Refresh::Change { .. }) && is_on(layer);
    let place = bench.layers.iter().find(announces).and_then(|layer| bench.places.get(&layer.place));
    match place.map(|place| place.kind) {
        Some(PlaceKind::NewestTool) => "tool message",
        Some(PlaceKind::CurrentUser) => "user message",
        Some(PlaceKind::Message { .. }) => "message of its own",
        Some(PlaceKind::System | PlaceKind::Block) | None => THIS,
    }
    .to_owned()
}
