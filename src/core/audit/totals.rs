//! Sums over the calls of an audit: by agent, model and cause, and which causes are new.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use indexmap::IndexMap;
use serde::Serialize;

use super::call::Call;
use crate::core::cache::{self, Money, Verdict};
use crate::core::fact::Name;

/// What calls are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupBy {
    /// The agent that the log names, else the conversation.
    Agent,
    /// The model.
    Model,
    /// What went wrong; calls in which nothing did are a group, too.
    Cause,
}

impl GroupBy {
    /// The word that stands for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            GroupBy::Agent => "agent",
            GroupBy::Model => "model",
            GroupBy::Cause => "cause",
        }
    }

    fn key(self, call: &Call) -> String {
        match self {
            GroupBy::Agent => call.agent.as_ref().unwrap_or(&call.conversation).to_string(),
            GroupBy::Model => call.model.to_string(),
            GroupBy::Cause => call.cause().unwrap_or_else(|| NO_CAUSE.to_owned()),
        }
    }
}

/// The group of calls in which nothing went wrong.
pub const NO_CAUSE: &str = "nothing lost";

/// Sums over calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Calls.
    pub calls: u64,
    /// Calls that failed: the sums are without them.
    pub failed: u64,
    /// Calls whose tokens were reported; the others are in the sums with what is expected.
    pub reported: u64,
    /// Tokens sent.
    pub sent: u64,
    /// Tokens read from a cache.
    pub read: u64,
    /// Tokens written to one; none where nobody told of any.
    pub write: Option<u64>,
    /// Tokens paid as ordinary input.
    pub fresh: u64,
    /// Tokens paid again.
    pub lost: u64,
    /// Tokens that were to be read by the rules, in the calls of which it is known.
    pub expected_read: u64,
    /// Tokens read in the calls of which it is known what was to be read.
    pub compared_read: u64,
    /// Calls of which it is not known how their tokens divide: of those the sums have only what is sent.
    pub unknown: u64,
    /// What the input cost.
    pub cost: Money,
    /// What was paid because something was lost.
    pub lost_cost: Money,
    /// Calls without a price.
    pub unpriced: u64,
    /// Calls whose figures are estimates.
    pub estimates: u64,
}

impl AddAssign<&Call> for Sums {
    fn add_assign(&mut self, call: &Call) {
        self.calls += 1;
        if call.error.is_some() {
            self.failed += 1;
            return;
        }
        let (told, expected) = (call.reported_figures(), call.expected_figures());
        let figures = if call.reported.is_some() {
            self.reported += 1;
            told
        } else {
            self.estimates += u64::from(call.is_estimate());
            expected
        };
        self.sent = self.sent.saturating_add(figures.sent.unwrap_or(0));
        match figures.read {
            Some(read) => {
                self.read = self.read.saturating_add(read);
                self.fresh = self.fresh.saturating_add(figures.fresh.unwrap_or(0));
            }
            None => self.unknown += 1,
        }
        if let Some(write) = figures.write {
            let sum = self.write.get_or_insert(0);
            *sum = sum.saturating_add(write);
        }
        self.lost = self.lost.saturating_add(call.lost().unwrap_or(0));
        if let (Some(read), Some(expected)) = (told.read, expected.read) {
            self.expected_read = self.expected_read.saturating_add(expected);
            self.compared_read = self.compared_read.saturating_add(read);
        }
        match call.cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += 1,
        }
        self.lost_cost += call.lost_cost.unwrap_or(Money::ZERO);
    }
}

/// Where something was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The place of the file among those that were audited.
    pub file: usize,
    /// The line, from 1.
    pub line: u64,
    /// Milliseconds since the Unix epoch.
    pub at: Option<i64>,
}

/// Calls that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Their sums.
    pub sums: Sums,
    /// The first of them.
    pub first: Seen,
    /// The last of them.
    pub last: Seen,
}

/// The sums of an audit.
#[derive(Clone, Debug)]
pub struct Totals {
    by: Vec<GroupBy>,
    /// Of all calls.
    pub all: Sums,
    /// By model.
    pub models: IndexMap<Name, Sums>,
    /// What the same calls come to with other models, by model: by the rules, in counted tokens.
    pub others: IndexMap<Name, cache::Totals>,
    /// By what was asked for.
    pub groups: IndexMap<Vec<String>, Group>,
    /// By what went wrong.
    pub causes: IndexMap<String, Group>,
    /// Calls by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// The calls that lost most, the worst first, with the place of their file.
    pub top: Vec<(usize, Call)>,
    most: usize,
    /// The conversations.
    pub conversations: BTreeSet<(usize, Name)>,
    /// Calls without a time.
    pub timeless: u64,
    /// The first and the last time.
    pub times: Option<(i64, i64)>,
}

/// No more groups than this are told apart; whatever comes then is one group.
const GROUPS: usize = 4_096;
/// The group of what is too much.
const REST: &str = "(more)";

impl Totals {
    /// No calls yet. `most` is how many of the worst are kept.
    #[must_use]
    pub fn new(by: Vec<GroupBy>, most: usize) -> Totals {
        Totals {
            by,
            all: Sums::default(),
            models: IndexMap::new(),
            others: IndexMap::new(),
            groups: IndexMap::new(),
            causes: IndexMap::new(),
            verdicts: BTreeMap::new(),
            top: Vec::new(),
            most,
            conversations: BTreeSet::new(),
            timeless: 0,
            times: None,
        }
    }

    /// What groups are made by.
    #[must_use]
    pub fn by(&self) -> &[GroupBy] {
        &self.by
    }

    /// Adds a call of a file.
    pub fn add(&mut self, file: usize, call: &Call) {
        self.all += call;
        *self.models.entry(call.model.clone()).or_default() += call;
        for other in &call.others {
            *self.others.entry(other.model.clone()).or_default() += other;
        }
        if self.conversations.len() < 1 << 20 {
            self.conversations.insert((file, call.conversation.clone()));
        }
        match (call.at, &mut self.times) {
            (None, _) => self.timeless += 1,
            (Some(at), Some((first, last))) => (*first, *last) = ((*first).min(at), (*last).max(at)),
            (Some(at), none) => *none = Some((at, at)),
        }
        let seen = Seen { file, line: call.line, at: call.at };
        let key: Vec<String> = self.by.iter().map(|by| by.key(call)).collect();
        add(&mut self.groups, key, vec![REST.to_owned(); self.by.len()], call, &seen);
        if call.error.is_some() {
            return;
        }
        *self.verdicts.entry(call.verdict).or_default() += 1;
        let Some(cause) = call.cause() else { return };
        add(&mut self.causes, cause, REST.to_owned(), call, &seen);
        let lost = call.lost().unwrap_or(0);
        if lost == 0 {
            return;
        }
        let place = self.top.partition_point(|(_, other)| other.lost().unwrap_or(0) >= lost);
        if place < self.most {
            self.top.insert(place, (file, call.clone()));
            self.top.truncate(self.most);
        }
    }

    /// The groups, those that lost most first.
    #[must_use]
    pub fn ranked(&self) -> Vec<(&Vec<String>, &Group)> {
        let mut ranked: Vec<_> = self.groups.iter().collect();
        ranked.sort_by_key(|(_, group)| std::cmp::Reverse((group.sums.lost, group.sums.calls)));
        ranked
    }

    /// The causes that `old` does not have, those that lost most first. What lost nothing is no cause.
    #[must_use]
    pub fn new_causes(&self, old: &BTreeSet<String>) -> Vec<(&String, &Group)> {
        let mut new: Vec<_> = self
            .causes
            .iter()
            .filter(|(cause, group)| group.sums.lost > 0 && !old.contains(*cause))
            .collect();
        new.sort_by_key(|(_, group)| std::cmp::Reverse(group.sums.lost));
        new
    }
}

fn add<K: std::hash::Hash + Eq>(groups: &mut IndexMap<K, Group>, key: K, rest: K, call: &Call, seen: &Seen) {
    let key = if groups.len() < GROUPS || groups.contains_key(&key) { key } else { rest };
    let group = groups.entry(key).or_insert_with(|| Group { first: seen.clone(), ..Group::default() });
    group.sums += call;
    group.last = seen.clone();
}
