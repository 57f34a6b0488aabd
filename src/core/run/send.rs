//! A prepared request is sent or fails: what was staged for it is committed, or stays staged.

use std::sync::Arc;

use super::prepare::Own;
use super::record::{Answer, CallRecord, Lead};
use super::session::Session;
use crate::core::bench::Keeping;
use crate::core::log::{Body, Closed, Rule};

impl Session {
    /// Sends what is prepared: what was staged is told from here on.
    pub(super) fn send(&mut self, answer: Answer) {
        let Some(prepared) = self.prepared.take() else { return };
        let prepared = Arc::unwrap_or_clone(prepared);
        let current = self.current();
        let call = self.next_call;
        let conversation = &mut self.conversations[current];
        let shift = |at: &mut Option<usize>, index: usize| {
            if let Some(at) = at.as_mut().filter(|at| **at >= index) {
                *at += 1;
            }
        };
        for Own { index, role, attached, .. } in prepared.own {
            conversation.log.insert(index, Body::Own(role), attached, call);
            shift(&mut conversation.current_user, index);
            shift(&mut conversation.newest_tool, index);
        }
        let own_stripped = !prepared.strip.is_empty();
        for (index, attachment) in prepared.attach {
            conversation.log.attach(index, attachment);
        }
        if own_stripped {
            let closed = Closed { rule: Rule::Earlier, by: conversation.stepped };
            conversation.log.close(call, 0, closed, |a| prepared.strip.contains(&a.layer));
        }
        conversation.log.settle();
        conversation.built = prepared.built;
        conversation.baselines = prepared.baselines;
        conversation.fresh_turn = false;
        conversation.compacted = None;
        conversation.sent_head = prepared.record.head.len();
        conversation.sent_blocks = prepared.blocks;
        conversation.sent_starts = prepared.starts;
        self.write_place_files(call, &prepared.record.head);
        let record = CallRecord { answer: Some(answer), ..prepared.record };
        self.calls.push(Arc::new(record));
        self.notes.clear();
        self.next_call.0 += 1;
    }

    /// The call fails: it is on record, and everything that was staged stays staged.
    pub(super) fn fail(&mut self, reason: &Arc<str>) {
        let Some(prepared) = self.prepared.take() else { return };
        let current = self.current();
        // What counts as told once it is made is not told again.
        for layer in self.bench.layers.iter().filter(|layer| layer.keep.untold == Keeping::Strip) {
            if let Some(baseline) = prepared.baselines.get(&layer.id) {
                self.conversations[current].baselines.insert(layer.id.clone(), baseline.clone());
            }
        }
        let record = CallRecord { answer: Some(Answer::Failed(reason.clone())), ..prepared.record.clone() };
        self.calls.push(Arc::new(record));
        self.failed.insert(self.next_call, prepared);
        self.notes.clear();
        self.next_call.0 += 1;
        self.conversations[current].lead = Lead::Retry;
    }
}
