//! Sums over calls, and the check that they are what the calls say, under both ways in which vendors count.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use super::row::{CallCell, Row, Sum};
use crate::core::cache::{Accounting, Models, Money, Rate};
use crate::core::fact::Name;
use crate::core::wire::{CallNo, Request};

/// A hash of what was sent, call after call: equal for equal bytes in equal blocks with equal marks. What a request shares
/// with the one before it in its conversation is not looked at again.
#[derive(Clone, Debug, Default)]
pub(super) struct Hash {
    all: u64,
    /// For each conversation, the hash of its latest request up to each block.
    chains: BTreeMap<Name, Vec<u64>>,
}

impl Hash {
    /// Takes a request in.
    pub(super) fn request(&mut self, request: &Request) {
        let chain = self.chains.entry(request.agent.clone()).or_default();
        chain.truncate(request.shared);
        for block in &request.blocks[chain.len().min(request.blocks.len())..] {
            let before = chain.last().copied().unwrap_or_default();
            chain.push(mixed(before, block.hash));
        }
        let mut hash = mixed(self.all, chain.last().copied().unwrap_or_default());
        for mark in &request.marks {
            hash = mixed(mixed(hash, mark.block as u64), u64::from(mark.ttl));
        }
        for (name, param) in &request.params.0 {
            hash = mixed(hash, xxh3_64(name.as_bytes()));
            hash = mixed(hash, xxh3_64(param.value.as_bytes()));
        }
        self.all = hash;
    }

    pub(super) fn value(&self) -> u64 {
        self.all
    }
}

fn mixed(a: u64, b: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&a.to_le_bytes());
    bytes[8..].copy_from_slice(&b.to_le_bytes());
    xxh3_64(&bytes)
}

/// Adds up the calls of one model.
pub(super) fn sum<'a>(cells: impl Iterator<Item = &'a CallCell>) -> Sum {
    let mut sum = Sum {
        sent: Some(0),
        read: Some(0),
        fresh: Some(0),
        lost: Some(0),
        cost: Some(Money::ZERO),
        ..Sum::default()
    };
    let plus = |sum: Option<u64>, more: Option<u32>| Some(sum? + u64::from(more?));
    for cell in cells {
        sum.calls += 1;
        sum.estimate |= cell.estimate;
        sum.sent = plus(sum.sent, cell.sent);
        sum.read = plus(sum.read, cell.read);
        sum.fresh = plus(sum.fresh, cell.fresh);
        if let Some(write) = cell.write {
            sum.write = Some(sum.write.unwrap_or_default() + u64::from(write));
        }
        // The first call of a conversation loses nothing; where nothing is known of the cache, neither is this.
        let lost = if cell.read.is_some() { Some(cell.lost.unwrap_or_default()) } else { None };
        sum.lost = plus(sum.lost, lost);
        sum.cost = sum.cost.and_then(|sum| Some(sum + cell.cost?));
        if sum.calls == 1 {
            sum.first = cell.sent;
        }
        sum.last = cell.sent;
        sum.largest = sum.largest.max(cell.sent);
    }
    sum
}

/// A sum that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The call; none for a sum over calls.
    pub call: Option<CallNo>,
    /// The model.
    pub model: String,
    /// What does not hold: one clause, lower case, without a full stop.
    pub what: String,
}

/// Checks the numbers of a row: for each call and model, that what was read, written and paid as input is what was sent;
/// that no more is lost than was paid for, and no more than what both this call and the one before it hold without what
/// was read; that the price
/// comes out the same from the figures as a vendor with inclusive accounting would report them and as one with exclusive
/// accounting would; and that turns add up to the run.
#[must_use]
pub fn check(row: &Row, models: &Models) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (index, id) in row.models.iter().enumerate() {
        let model = models.get(id);
        let mut before: BTreeMap<&str, u32> = BTreeMap::new();
        let mut say = |call: Option<CallNo>, what: String| {
            wrong.push(Wrong { call, model: id.to_string(), what });
        };
        for call in &row.calls {
            let Some(cell) = call.cells.get(index) else { continue };
            let earlier = cell.sent.and_then(|sent| before.insert(&call.agent, sent));
            let (Some(sent), Some(read), Some(fresh)) = (cell.sent, cell.read, cell.fresh) else { continue };
            let write = cell.write.unwrap_or_default();
            let no = Some(call.call);
            if u64::from(read) + u64::from(write) + u64::from(fresh) != u64::from(sent) {
                say(no, format!("read {read} + write {write} + fresh {fresh} is not sent {sent}"));
            }
            let lost = cell.lost.unwrap_or_default();
            if lost > write + fresh {
                say(no, format!("lost {lost} is more than write {write} + fresh {fresh}"));
            }
            // Paid again can only be what the one before it could have left behind, and what is read is not paid again.
            if lost > 0 && u64::from(lost) + u64::from(read) > u64::from(earlier.unwrap_or(sent).min(sent)) {
                say(no, format!("lost {lost} is more than this call and the one before it hold"));
            }
            // Prices in another currency than dollars are told, and not added up.
            let price = model.price_at(call.at, sent).filter(|price| price.currency.is_none());
            let Some(price) = price else { continue };
            let short = price.rates.write_5m.unwrap_or(price.rates.input);
            let hour = price.rates.write_1h.unwrap_or(short);
            let most = short.max(hour);
            let bill = |accounting: Accounting, written: Rate| match accounting {
                // `input` is the whole prompt; what is cached is a part of it.
                Accounting::Inclusive => {
                    let (input, cached) = (sent, read);
                    price.rates.input.of(input.saturating_sub(cached + write))
                        + price.rates.read.of(cached)
                        + written.of(write)
                }
                // `input` is what is left beside what was read and written.
                Accounting::Exclusive => {
                    price.rates.input.of(fresh) + written.of(write) + price.rates.read.of(read)
                }
            };
            let least = short.min(hour);
            for accounting in [Accounting::Inclusive, Accounting::Exclusive] {
                let (low, high) = (bill(accounting, least), bill(accounting, most));
                if cell.cost.is_none_or(|cost| cost < low || cost > high) {
                    say(no, format!("the cost is not that of {accounting:?} accounting"));
                }
            }
        }
        let whole = row.sum(index, None);
        let turns = (1..=row.turns()).map(|turn| row.turn_sum(index, turn));
        let (mut lost, mut cost, mut calls) = (Some(0), Some(Money::ZERO), 0);
        for turn in turns {
            lost = lost.zip(turn.lost).map(|(sum, more)| sum + more);
            cost = cost.zip(turn.cost).map(|(sum, more)| sum + more);
            calls += turn.calls;
        }
        if calls > 0 && (lost, cost, calls) != (whole.lost, whole.cost, whole.calls) {
            say(None, "the turns do not add up to the run".to_owned());
        }
    }
    wrong
}
