//! What the model must believe about facts that changed: right, superseded, stale or untold.

use std::sync::Arc;

use super::record::{Belief, Told};
use super::session::Session;
use crate::core::fact::{EventId, FactKey, Lookup, Name};
use crate::core::source::Facts;
use crate::core::wire::Block;

impl Session {
    /// The beliefs that a request gives, for every told fact that has changed since the session began.
    pub(super) fn believe(&self, blocks: &[Arc<Block>], conversation: usize) -> Vec<Told> {
        let view = self.view(conversation);
        let began = self.conversations[conversation].began;
        let mut told = Vec::new();
        for fact in self.bench.told_facts() {
            let key = FactKey::Named(fact.clone());
            let Lookup::Ready(_, now, cause) = view.look(&key) else { continue };
            if cause == EventId::OPENING || cause == began {
                continue;
            }
            let mut old: Vec<Name> = Vec::new();
            let mut last: Option<(Name, bool)> = None;
            // Most parts (what was said, what tools returned) read nothing; they are passed over without a search.
            let parts =
                blocks.iter().flat_map(|block| block.text.parts()).filter(|part| !part.reads.0.is_empty());
            for part in parts {
                let Some(read) = part.reads.0.get(&key).filter(|read| read.in_text) else { continue };
                let right = read.rev == now;
                if !right && !old.contains(&part.id) {
                    old.push(part.id.clone());
                }
                last = Some((part.id.clone(), right));
            }
            let belief = match &last {
                None => Belief::Untold,
                Some((_, false)) => Belief::Stale,
                Some((_, true)) if old.is_empty() => Belief::Right,
                Some((_, true)) => Belief::Superseded,
            };
            told.push(Told { fact, belief, old, last: last.map(|(id, _)| id), cause });
        }
        told
    }

    /// The facts of which the last request that was sent said something else than what holds now.
    pub(super) fn believed_wrongly(&self, conversation: usize) -> Vec<Name> {
        self.believe(&self.conversations[conversation].sent_blocks, conversation)
            .into_iter()
            .filter(|told| matches!(told.belief, Belief::Stale))
            .map(|told| told.fact)
            .collect()
    }
}
