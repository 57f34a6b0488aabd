//! Another order of the layers of the system prompt: what seldom changes in front of what often does, as far as the bench
//! allows it.
//!
//! A layer that changes costs what stands behind it. Of two neighbours that change independently, the one with fewer
//! changes for each token belongs in front. Layers do not always change independently, so an order is only worth what its
//! runs come to: [`pick`] takes the best of those that lose no more on any model.

use std::sync::Arc;

use super::{Row, Volatility};
use crate::core::bench::{Bench, PlaceKind};
use crate::core::cache::Money;
use crate::core::fact::Name;

/// An order of a place that can be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The place.
    pub place: Name,
    /// Its layers, in the order that is suggested.
    pub order: Vec<Name>,
    /// The layers that go elsewhere, in that order.
    pub moved: Vec<Name>,
    /// How it is brought about: where the place goes by keys, by other keys; else by the order of the list.
    pub by_key: bool,
}

/// The orders worth trying, from how often layers changed. Layers stay in their place; where the place goes by keys, keys
/// can be given anew and the run order stays as it is declared; else only layers that run at the same time change places.
#[must_use]
pub fn suggest(bench: &Bench, volatility: &Volatility) -> Vec<Suggestion> {
    let mut found = Vec::new();
    for place in bench.places.values().filter(|place| place.kind == PlaceKind::System) {
        // Those that were ever there, in the order of the bytes; what was never there breaks nothing.
        let now: Vec<Name> = volatility
            .layers
            .iter()
            .filter(|layer| layer.place == place.id)
            .map(|layer| layer.layer.clone())
            .collect();
        let rate = |name: &Name| {
            let layer = volatility.layers.iter().find(|layer| layer.layer == *name);
            let (changed, of) = layer.map_or((0, 1), |layer| (layer.changed(), layer.of().max(1)));
            f64::from(changed) / f64::from(of)
        };
        let tokens = |name: &Name| {
            let layer = volatility.layers.iter().find(|layer| layer.layer == *name);
            f64::from(layer.and_then(|layer| layer.tokens).unwrap_or(1).max(1))
        };
        let run = |name: &Name| bench.layer(name).map_or(0, |layer| layer.run);
        let mut orders: Vec<Vec<Name>> = Vec::new();
        let mut sorted = |key: &dyn Fn(&Name) -> f64| {
            let mut order = now.clone();
            if place.by_key {
                order.sort_by(|a, b| key(a).total_cmp(&key(b)));
            } else {
                // What is declared to run earlier stays in front.
                order.sort_by(|a, b| run(a).cmp(&run(b)).then(key(a).total_cmp(&key(b))));
            }
            if order != now && !orders.contains(&order) {
                orders.push(order);
            }
        };
        sorted(&|name| rate(name) / tokens(name));
        sorted(&|name| rate(name));
        sorted(&|name| f64::from(u8::from(rate(name) > 0.0)));
        for order in orders {
            let moved = moved(&now, &order);
            found.push(Suggestion { place: place.id.clone(), order, moved, by_key: place.by_key });
        }
    }
    found
}

/// The fewest layers that have to be taken out and put elsewhere to come from one order to the other: all but those of a
/// longest common subsequence.
fn moved(now: &[Name], order: &[Name]) -> Vec<Name> {
    let at: Vec<usize> = order.iter().filter_map(|name| now.iter().position(|old| old == name)).collect();
    let mut best: Vec<(usize, Option<usize>)> = Vec::with_capacity(at.len());
    for index in 0..at.len() {
        let before = (0..index).filter(|&other| at[other] < at[index]).max_by_key(|&other| best[other].0);
        best.push((before.map_or(1, |before| best[before].0 + 1), before));
    }
    let mut stays = vec![false; at.len()];
    let mut end = (0..at.len()).max_by_key(|&index| best[index].0);
    while let Some(index) = end {
        stays[index] = true;
        end = best[index].1;
    }
    order.iter().zip(stays).filter(|(_, stays)| !stays).map(|(name, _)| name.clone()).collect()
}

/// The bench with the layers of a place in another order. Names on screens stay what they were.
#[must_use]
pub fn reordered(bench: &Bench, suggestion: &Suggestion) -> Bench {
    let mut bench = bench.clone();
    let at: Vec<usize> = suggestion
        .order
        .iter()
        .filter_map(|name| bench.layers.iter().position(|layer| layer.id == *name))
        .collect();
    if suggestion.by_key {
        // Layers of the place that were never there keep their keys; they stand in front of or behind all others.
        for (number, &index) in at.iter().enumerate() {
            let layer = &mut bench.layers[index];
            layer.title = Some(layer.shown().clone());
            layer.key = Some(format!("{number:06}").into());
        }
        return bench;
    }
    let mut slots = at.clone();
    slots.sort_unstable();
    let old = bench.layers.clone();
    for (slot, index) in slots.into_iter().zip(at) {
        bench.layers[slot] = old[index].clone();
    }
    bench
}

/// What an order is worth on one model, over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// The model, as `provider:model`.
    pub model: Name,
    /// Tokens paid again today.
    pub lost: Option<u64>,
    /// Tokens paid again in the suggested order.
    pub lost_then: Option<u64>,
    /// What the input costs today.
    pub cost: Option<Money>,
    /// What it would cost.
    pub cost_then: Option<Money>,
    /// True where the counts are estimates.
    pub estimate: bool,
}

/// The order that is worth most, with what it is worth on each model: of those that lose no more and cost no more on any
/// model, the one that loses least, on the first model first. `today` and each candidate hold one row for each run. None
/// where no order is worth a hundredth.
#[must_use]
pub fn pick(today: &[Row], candidates: &[(Suggestion, Vec<Row>)]) -> Option<(Suggestion, Vec<Worth>)> {
    let worth = |rows: &[Row]| -> Option<Vec<Worth>> {
        if rows.len() != today.len() || rows.iter().any(|row| row.failed.is_some()) {
            return None;
        }
        let models = today.first()?.models.clone();
        let of = |(index, model): (usize, Name)| {
            let sums = |rows: &[Row]| {
                let mut lost = Some(0);
                let mut cost = Some(Money::ZERO);
                let mut estimate = false;
                for sum in rows.iter().map(|row| row.sum(index, None)) {
                    lost = lost.zip(sum.lost).map(|(all, more)| all + more);
                    cost = cost.zip(sum.cost).map(|(all, more)| all + more);
                    estimate |= sum.estimate;
                }
                (lost, cost, estimate)
            };
            let ((lost, cost, estimate), (lost_then, cost_then, _)) = (sums(today), sums(rows));
            Worth { model, lost, lost_then, cost, cost_then, estimate }
        };
        Some(models.into_iter().enumerate().map(of).collect())
    };
    let no_more = |worth: &[Worth]| {
        worth.iter().all(|worth| worth.lost_then <= worth.lost && worth.cost_then <= worth.cost)
    };
    // Nobody moves layers about for less than a hundredth.
    let less = |worth: &[Worth]| {
        worth.iter().any(|worth| match (worth.cost, worth.cost_then) {
            (Some(now), Some(then)) => then * 100 <= now * 99,
            _ => worth.lost.zip(worth.lost_then).is_some_and(|(now, then)| now > 0 && then * 100 <= now * 99),
        })
    };
    candidates
        .iter()
        .filter_map(|(suggestion, rows)| Some((suggestion, worth(rows)?)))
        .filter(|(_, worth)| no_more(worth) && less(worth))
        .min_by_key(|(suggestion, worth)| {
            let lost: Vec<Option<u64>> = worth.iter().map(|worth| worth.lost_then).collect();
            (lost, suggestion.moved.len())
        })
        .map(|(suggestion, worth)| (suggestion.clone(), worth))
}

impl Suggestion {
    /// What is to be done, in words: `move 30_sender behind 20_memory (keys)`.
    #[must_use]
    pub fn words(&self, shown: &dyn Fn(&Name) -> Name) -> Vec<Arc<str>> {
        let how = if self.by_key { "by another key" } else { "in the list" };
        self.moved
            .iter()
            .filter_map(|name| {
                let at = self.order.iter().position(|other| other == name)?;
                let words = match at.checked_sub(1) {
                    Some(before) => format!("{} behind {} ({how})", shown(name), shown(&self.order[before])),
                    None => format!("{} to the front ({how})", shown(name)),
                };
                Some(words.into())
            })
            .collect()
    }
}
