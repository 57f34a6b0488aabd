//! What takes messages out of a conversation: compaction, and the ends of a session.
//!
//! Nothing is deleted: lifetimes end, so that what earlier calls were sent stays what it was.

use std::sync::Arc;

use super::input::{Compaction, SessionEnd};
use super::record::Lead;
use super::room::Near;
use super::session::Session;
use crate::core::bench::{Layer, PlaceKind, Refresh};
use crate::core::fact::{EventId, FactKey, Found, Value};
use crate::core::log::Body;
use crate::core::text::{Made, Traced};

/// Who wrote a summary. With a space in it, it is the name of no layer.
pub(crate) const COMPACTION: &str = "the compaction";

impl Session {
    /// Puts a summary in the place of what was said before the last messages.
    pub(super) fn compact(&mut self, compaction: &Compaction, near: Option<Near>) {
        let event = self.begin_event(match near {
            Some(_) => "a compaction near the window",
            None => "a compaction",
        });
        let from = self.next_call;
        let current = self.current();
        let conversation = &mut self.conversations[current];
        let messages = conversation.log.messages();
        let live: Vec<usize> = (0..messages.len()).filter(|at| messages[*at].live.contains(&from)).collect();
        let keep = usize::try_from(compaction.keep).unwrap_or(usize::MAX).min(live.len());
        let mut first = live.len() - keep;
        // A result without its call is refused by every provider: the call stays with it.
        while live.get(first).is_some_and(|at| matches!(messages[*at].body, Body::Tool { .. })) && first > 0 {
            first -= 1;
        }
        let at = live.get(first).copied().unwrap_or(messages.len());
        let compacted = self.compacted(current, at, event, near);
        let conversation = &mut self.conversations[current];
        conversation.compacted = Some(compacted);
        conversation.log.end(from, event, |index| index < at);
        let text = Traced::whole(COMPACTION, compaction.summary.clone(), Made::Literal, event);
        conversation.log.insert(at, Body::User(Some(text)), Vec::new(), from);
        let shifted = |slot: Option<usize>| slot.filter(|index| *index >= at).map(|index| index + 1);
        // What the turn began with is part of the summary then, and that is where a message before it would stand.
        conversation.current_user = conversation.current_user.map(|index| shifted(Some(index)).unwrap_or(at));
        conversation.newest_tool = shifted(conversation.newest_tool);
        self.recount(current);
        if compaction.rebuild {
            self.forget_built(current);
            self.forget_turn(current);
        }
        self.conversations[current].stepped = event;
    }

    /// The session ends in one of its ways.
    pub(super) fn end_session(&mut self, how: SessionEnd) {
        let event = self.begin_event(match how {
            SessionEnd::End => "a new session",
            SessionEnd::Resume => "the resuming of the session",
            SessionEnd::Crash => "a crash and the resuming of the session",
        });
        let from = self.next_call;
        // Sub-agents do not outlive the program.
        self.active.truncate(1);
        let current = self.current();
        let unfinished = self.prepared.take().is_some();
        let conversation = &mut self.conversations[current];
        match how {
            SessionEnd::End => {
                conversation.log.end(from, event, |_| true);
                conversation.goal = super::facts::Held::new(Value::text(""), event);
                self.clear_reports(event);
            }
            SessionEnd::Resume => {}
            SessionEnd::Crash => {
                // What was not persisted is lost: the turn that was under way.
                if let Some(start) = conversation.current_user.filter(|_| unfinished) {
                    conversation.log.end(from, event, |index| index >= start);
                }
            }
        }
        let conversation = &mut self.conversations[current];
        conversation.current_user = None;
        conversation.newest_tool = None;
        conversation.compacted = None;
        conversation.just.clear();
        conversation.lead = Lead::Again;
        self.recount(current);
        self.forget_built(current);
        self.forget_told(current, event);
    }

    /// Reports hold until the session ends.
    fn clear_reports(&mut self, event: EventId) {
        let reports: Vec<FactKey> =
            self.store.keys().filter(|key| matches!(key, FactKey::Reported(_))).cloned().collect();
        for key in reports {
            self.observe(&key, &Found::Absent, event);
        }
    }

    /// A turn that was opened without a word has still to begin: what is said next begins it, under its number.
    pub(super) fn begin_anew(&mut self) {
        self.take_back();
        let (bench, current) = (self.bench.clone(), self.current());
        let conversation = &mut self.conversations[current];
        conversation.turn = conversation.turn.saturating_sub(1);
        // What is made once a turn was made for the turn that has not begun.
        conversation
            .built
            .retain(|id, _| bench.layer(id).is_some_and(|layer| layer.refresh != Refresh::Turn));
    }

    /// The messages of the last turn are sent no more, and a request of it that waits never is.
    pub(super) fn take_back(&mut self) {
        let event = self.begin_event("the taking back of the user's message");
        self.prepared = None;
        let from = self.next_call;
        let current = self.current();
        let conversation = &mut self.conversations[current];
        if let Some(start) = conversation.current_user.take() {
            conversation.log.end(from, event, |index| index >= start);
        }
        if conversation.goal.cause == conversation.said.cause {
            // The goal was what was said; what is said next is the goal.
            conversation.goal = super::facts::Held::new(Value::text(""), event);
        }
        conversation.newest_tool = None;
        conversation.just.clear();
        conversation.lead = Lead::Again;
        conversation.stepped = event;
        self.recount(current);
    }

    /// The results that the model still sees.
    fn recount(&mut self, conversation: usize) {
        let from = self.next_call;
        let conversation = &mut self.conversations[conversation];
        let results = |m: &&Arc<crate::core::log::Message>| {
            matches!(m.body, Body::Tool { .. }) && m.live.contains(&from)
        };
        conversation.results = conversation.log.messages().iter().filter(results).count();
    }

    /// Layers that are made once a session are made again.
    fn forget_built(&mut self, conversation: usize) {
        let bench = self.bench.clone();
        self.conversations[conversation]
            .built
            .retain(|id, _| bench.layer(id).is_some_and(|layer| layer.refresh != Refresh::Session));
    }

    /// What stands in front of the conversation is made again in the middle of a turn, too. What was put into messages is
    /// part of what was said.
    fn forget_turn(&mut self, conversation: usize) {
        let bench = self.bench.clone();
        let in_front = |layer: &Layer| {
            let place = bench.places.get(&layer.place);
            place.is_some_and(|place| matches!(place.kind, PlaceKind::System | PlaceKind::Block))
        };
        self.conversations[conversation].built.retain(|id, _| {
            bench.layer(id).is_some_and(|layer| layer.refresh != Refresh::Turn || !in_front(layer))
        });
    }

    /// A program that starts anew does not remember what it announced: its baselines are what it builds now.
    fn forget_told(&mut self, conversation: usize, event: EventId) {
        let conversation = &mut self.conversations[conversation];
        conversation.baselines.clear();
        conversation.evaluated.clear();
        conversation.stepped = event;
    }
}
