//! What only a whole run can show: what changed, what was stored and never read.

use super::{Finding, Price, below_minimum, dead_mark, merge, too_many_marks, volatile_first};
use crate::core::bench::Bench;
use crate::core::cache::{Models, NeverRead, Outcome};
use crate::core::run::CallRecord;
use crate::core::wire::Request;

/// A call of a run.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The call.
    pub record: &'a CallRecord,
    /// What it was or would be sent.
    pub request: &'a Request,
    /// What came of it for the model that it went to; none for a call that failed.
    pub outcome: Option<&'a Outcome>,
}

/// A run, to be looked at as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The bench.
    pub bench: &'a Bench,
    /// Its calls, in order.
    pub calls: &'a [Sent<'a>],
    /// What was stored and never read.
    pub never_read: &'a [NeverRead],
    /// The models that are known.
    pub models: &'a Models,
}

impl<'a> Run<'a> {
    /// The call before one in its conversation, by its index.
    pub(super) fn before(&self, index: usize) -> Option<&Sent<'a>> {
        let agent = &self.calls[index].record.agent;
        self.calls[..index].iter().rfind(|sent| sent.record.agent == *agent && sent.outcome.is_some())
    }
}

/// Looks at a whole run with every lint that needs one.
#[must_use]
pub fn check_run(run: &Run<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    merge(&mut all, volatile_first::check(run, price));
    merge(&mut all, dead_mark::check(run));
    merge(&mut all, below_minimum::check(run, price));
    merge(&mut all, too_many_marks::check(run));
    for finding in &mut all {
        finding.allowed = super::allowed(run.bench, finding);
    }
    all
}
