//! What only a whole run can show: what changed, what was stored and never read.
//!
//! A run is looked at call by call, and no more of it is kept than the lints need: of each conversation its latest
//! requests, of each finding its worst call. Requests grow with the run, so keeping all of them grows with its square.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::below_minimum::Minimums;
use super::dead_mark::DeadMarks;
use super::volatile_first::Volatile;
use super::{Finding, Price, merge, too_many_marks};
use crate::core::bench::Bench;
use crate::core::cache::{Models, NeverRead, Outcome};
use crate::core::fact::Name;
use crate::core::run::CallRecord;
use crate::core::wire::{Block, Request};

/// A call of a run. Records stay, requests go.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a, 'r> {
    /// The call.
    pub record: &'a CallRecord,
    /// What it was or would be sent.
    pub request: &'r Request,
    /// What came of it for the model that it went to; none for a call that failed.
    pub outcome: Option<&'r Outcome>,
}

/// A run, looked at as a whole with every lint that needs that.
pub struct Survey<'a> {
    bench: &'a Bench,
    models: &'a Models,
    volatile: Volatile<'a>,
    dead: DeadMarks,
    minimums: Minimums,
    found: Vec<Finding>,
}

impl<'a> Survey<'a> {
    /// No calls yet.
    #[must_use]
    pub fn new(bench: &'a Bench, models: &'a Models) -> Survey<'a> {
        Survey {
            bench,
            models,
            volatile: Volatile::default(),
            dead: DeadMarks::default(),
            minimums: Minimums::default(),
            found: Vec::new(),
        }
    }

    /// Looks at the next call.
    pub fn call(&mut self, sent: &Sent<'a, '_>, price: &mut Price<'_>) {
        self.volatile.call(self.bench, self.models, sent);
        self.dead.call(self.bench, self.models, sent);
        self.minimums.call(self.bench, self.models, sent, price);
        merge(&mut self.found, too_many_marks::check(self.bench, self.models, sent));
    }

    /// What was found, with what was stored and never read.
    #[must_use]
    pub fn finish(self, never_read: &[NeverRead], price: &mut Price<'_>) -> Vec<Finding> {
        let mut all = Vec::new();
        merge(&mut all, self.volatile.findings(self.bench, price));
        merge(&mut all, self.dead.findings(self.bench, never_read));
        merge(&mut all, self.minimums.findings(self.bench, self.models, price));
        merge(&mut all, self.found);
        for finding in &mut all {
            finding.allowed = super::allowed(self.bench, finding);
        }
        all
    }
}

/// For each conversation something of its latest request.
pub(super) type Latest<T> = BTreeMap<Name, T>;

/// Blocks of a request that stay when it goes.
pub(super) type Blocks = Vec<Arc<Block>>;
