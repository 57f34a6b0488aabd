//! What a session took, step by step, with what each led to.

use super::record::{Happened, Step};
use super::session::Session;

impl Session {
    /// From here on, events and changes belong to this.
    pub(super) fn begin_step(&mut self, what: Happened) {
        let agent = self.conversations[self.current()].id.clone();
        self.steps.push((what, self.next_call, agent, self.events.len() as u32, self.changes.len()));
    }

    /// How many inputs and benches were taken.
    #[must_use]
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// Everything that was taken, in order, with what it led to.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        let end = (self.events.len() as u32, self.changes.len());
        self.steps.iter().enumerate().map(move |(index, (what, before, agent, event, change))| {
            let (last_event, last_change) = self.steps.get(index + 1).map_or(end, |next| (next.3, next.4));
            Step {
                what: what.clone(),
                before: *before,
                agent: agent.clone(),
                events: *event..last_event,
                changes: *change..last_change,
            }
        })
    }
}
