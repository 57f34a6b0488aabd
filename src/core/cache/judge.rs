//! Works out one call for one model: what its store does, the verdict, and what hides behind the first difference.

use std::sync::Arc;

use super::blame::What;
use super::diff::Break;
use super::model::Model;
use super::note::Note;
use super::outcome::{Behind, Detail, Expected, Mark, Outcome, Split};
use super::salts::{self, Traits};
use super::simulator::{Conversation, Measures};
use super::store::{Asked, Before, Found, Kept, Miss, Running, comparable};
use super::verdict::Verdict;
use super::world::{World, without_reasoning};
use crate::core::run::COMPACTION;
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{Block, MarkAt, Request, Zone};

/// What all lanes see of a call.
pub(super) struct Seen<'a> {
    pub(super) request: &'a Request,
    pub(super) marks: &'a [MarkAt],
    pub(super) conversation: usize,
    /// How many leading blocks are those of the request before it.
    pub(super) same: usize,
    pub(super) traits: Traits,
    pub(super) before: Option<&'a Conversation>,
    pub(super) breaks: &'a [Break],
    pub(super) order: u64,
}

/// Running counts of a request and of the one before it, in one model's tokens.
#[derive(Clone, Copy)]
pub(super) struct Sums<'a> {
    pub(super) now: &'a [u32],
    /// Of the request before, in front of `same`: mostly those of this one.
    pub(super) old_head: &'a [u32],
    /// The same from `same` on.
    pub(super) old_tail: &'a [u32],
    pub(super) same: usize,
}

impl Sums<'_> {
    pub(super) fn old(&self, block: usize) -> u32 {
        if block < self.same { self.old_head[block] } else { self.old_tail[block - self.same] }
    }

    pub(super) fn old_total(&self, blocks: usize) -> u32 {
        blocks.checked_sub(1).map_or(0, |last| self.old(last))
    }
}

impl Seen<'_> {
    pub(super) fn outcome(
        &self,
        world: &mut World,
        sums: Option<Sums<'_>>,
        model_changed: bool,
        measures: &mut dyn Measures,
        knows: &dyn Fn(usize, u64) -> bool,
    ) -> Outcome {
        let model = world.model.clone();
        let published = model.family.as_ref().is_none_or(super::rules::Family::published);
        let mut outcome = Outcome {
            call: self.request.call,
            model: model.id.clone(),
            estimate: matches!(model.method, Method::Estimate { .. })
                || !published
                || self.traits.image.is_some(),
            upper_bound: !published,
            blame: self.breaks.first().map(|first| first.blame.clone()),
            ..Outcome::default()
        };
        let alike = world.alike(self.before, self.request, self.same, self.traits);
        if let Some(before) = self.before {
            let names = model.routing.iter().flat_map(|names| &names.value);
            let (old, new) = (&before.params, &self.request.params);
            let moved = names.filter(|name| old.get(name) != new.get(name));
            outcome.notes.extend(moved.cloned().map(Note::OtherMachine));
            outcome.settings = salts::changes(&model, before, self.request, self.traits);
        }
        // Where the provider takes reasoning out, it is not sent in effect.
        let blocks = &self.request.blocks;
        let less = sums.and_then(|sums| without_reasoning(sums.now, blocks, alike.salts.strip));
        let stripping = less.is_some() || alike.before.strip > 0;
        let old_less = sums.zip(self.before).filter(|_| stripping).and_then(|(sums, before)| {
            let all: Vec<u32> = (0..before.blocks.len()).map(|block| sums.old(block)).collect();
            without_reasoning(&all, &before.blocks, alike.before.strip)
                .or_else(|| less.is_some().then_some(all))
        });
        let sums = sums.map(|sums| Sums {
            now: less.as_deref().unwrap_or(sums.now),
            old_head: old_less.as_deref().unwrap_or(sums.old_head),
            old_tail: old_less.as_deref().map_or(sums.old_tail, |old| &old[sums.same..]),
            same: sums.same,
        });

        let mut judged = Judged::default();
        let mut kept = Kept::Nothing;
        if let Some((sums, encoding)) = sums.zip(model.method.encoding()) {
            let running = Running(sums.now);
            outcome.sent = Some(running.total());
            outcome.sent_before = self.before.map(|before| sums.old_total(before.blocks.len()));
            let mut measure = model.method.measure(measures.of(encoding));
            let before = self.before.map(|before| Before {
                same: self.same,
                blocks: before.blocks.len(),
                sent: sums.old_total(before.blocks.len()),
                old_head: sums.old_head,
                old_tail: sums.old_tail,
            });
            // What is equal to the request before by its text, whatever the time and the settings.
            let inside =
                match (self.before.and_then(|before| before.blocks.get(self.same)), blocks.get(self.same)) {
                    (Some(old), Some(new)) if comparable(old, new) => old.shared(new, &mut measure),
                    _ => 0,
                };
            let asked = Asked {
                traits: self.traits,
                conversation: self.conversation,
                call: self.request.call,
                order: self.order,
                at: self.request.at,
                knows,
                blocks,
                marks: self.marks,
                params: &self.request.params,
                running,
                salts: alike.salts,
                same: alike.same,
                stripped: alike.stripped,
                equal: if self.before.is_some() { running.before(self.same) + inside } else { 0 },
                before,
            };
            if let Some(found) = world.call(&asked, self.before, &mut measure) {
                judged = self.figures(&mut outcome, &found, &model);
                kept = found.kept;
            }
        }
        self.judge(&mut outcome, judged, model_changed);
        outcome.price(&model, self.request.at, &self.request.params);
        self.behind(&mut outcome, &model, &kept, sums, measures);
        outcome
    }

    /// Takes over what a store has found.
    fn figures(&self, outcome: &mut Outcome, found: &Found, model: &Model) -> Judged {
        if let Some(why) = &found.refused {
            let detail = Detail::Refused(why.clone());
            return Judged { ideal: 0, reason: Some(Verdict::Refused), detail };
        }
        let Some(sent) = outcome.sent else { return Judged::default() };
        let most = self.before.map(|_| found.kept.most(sent));
        let written = found.write.map_or(0, super::outcome::Write::total);
        let split = Split {
            read: found.read,
            write: found.write,
            fresh: sent - found.read - written,
            lost: most.map(|most| most.saturating_sub(found.read)),
        };
        outcome.split = Some(split);
        outcome.uncovered = found.covered.map_or(0, |covered| sent - covered.max(found.read));
        outcome.expected = Expected::of(split, found.measured, most, model);
        outcome.stored.clone_from(&found.made);
        let typical = model.family.as_ref().and_then(|family| family.life()?.typical.as_ref());
        if let (Some(typical), Some(age)) = (typical, found.age)
            && found.read > 0
            && age > i64::from(typical.value) * 1_000
        {
            outcome.notes.push(Note::PastTypicalLife { age: age / 1_000, typical: typical.value });
        }
        let (reason, detail) = match &found.miss {
            None => (None, Detail::None),
            Some(miss) => {
                let (reason, detail) = self.reason(miss, outcome);
                (Some(reason), detail)
            }
        };
        Judged { ideal: found.ideal, reason, detail }
    }

    /// A miss as a verdict with its figures.
    fn reason(&self, miss: &Miss, outcome: &Outcome) -> (Verdict, Detail) {
        match *miss {
            Miss::Expired { age, life } => (Verdict::Expired, Detail::Age { age, life }),
            Miss::NotYetVisible { age, after } => (Verdict::NotYetVisible, Detail::Visible { age, after }),
            Miss::OutOfLookback { positions, limit } => {
                (Verdict::OutOfLookback, Detail::Lookback { positions, limit })
            }
            Miss::NotMarked(last) => {
                let mark = last.map(|last| {
                    let block = &self.request.blocks[last];
                    match block.message {
                        Some(message) => Mark::Message(message.0),
                        None => Mark::Zone(block.kind.zone()),
                    }
                });
                (Verdict::NotCached, Detail::Uncovered(mark))
            }
            Miss::BelowMinimum(min) => (Verdict::BelowMinimum, Detail::Minimum(min)),
            Miss::Settings => (Verdict::SettingsChanged, Detail::Settings(outcome.settings.clone())),
            Miss::Reasoning => (Verdict::ReasoningDropped, Detail::None),
            Miss::Evicted { age } => (Verdict::Expired, Detail::Evicted { age }),
            Miss::Gone => (Verdict::Unexplained, Detail::None),
            Miss::Unexplained { age, life } => {
                (Verdict::Unexplained, Detail::Age { age, life: life.unwrap_or(i64::MAX) })
            }
        }
    }

    /// The verdict on a difference: where it begins with a summary of what was said, that is its name.
    fn named(&self, found: &Break) -> Verdict {
        let summed_up = |block: &Arc<Block>| block.text.parts().iter().any(|part| &*part.id == COMPACTION);
        let new = self.request.blocks.get(found.new.block..).unwrap_or_default();
        let old = self.before.and_then(|before| before.blocks.get(found.old.block));
        let messages = new.iter().skip_while(|block| block.kind.zone() != Zone::Messages);
        match old {
            Some(old) if old.kind.zone() == Zone::Messages && messages.take(1).any(summed_up) => {
                Verdict::Compacted
            }
            Some(old) if old.is_reasoning() && found.blame.what != What::Moved => Verdict::ReasoningDropped,
            _ => found.blame.verdict,
        }
    }

    /// Finds the verdict: what alone accounts for the loss comes first, what holds besides it behind.
    fn judge(&self, outcome: &mut Outcome, judged: Judged, model_changed: bool) {
        let broken = self.breaks.first().map(|first| self.named(first));
        let missed = outcome.read().is_some_and(|read| judged.ideal > read);
        let plain = broken.unwrap_or(Verdict::Appended);
        let moved = model_changed && outcome.lost().is_none_or(|lost| lost > 0);
        let reason = judged.reason;
        let mut all: Vec<Verdict> = if reason == Some(Verdict::Refused) {
            vec![Verdict::Refused]
        } else if self.before.is_none() {
            vec![Verdict::First].into_iter().chain(reason).collect()
        } else if moved {
            vec![Verdict::ModelChanged].into_iter().chain(broken).collect()
        } else if missed || broken.is_none() {
            reason.into_iter().chain(broken).collect()
        } else {
            broken.into_iter().chain(reason).collect()
        };
        if all.is_empty() {
            all.push(plain);
        }
        if outcome.notes.iter().any(|note| matches!(note, Note::OtherMachine(_))) {
            all.push(Verdict::Routing);
        }
        outcome.verdict = all.remove(0);
        outcome.also = all;
        outcome.detail = match &self.before {
            Some(before) if outcome.verdict == Verdict::ModelChanged => Detail::Model(before.model.clone()),
            _ if outcome.verdict.is_break() || outcome.verdict == Verdict::Appended => Detail::None,
            _ => judged.detail,
        };
    }

    /// The differences behind the first, and what each would still cost if all in front of it were put right.
    fn behind(
        &self,
        outcome: &mut Outcome,
        model: &Model,
        kept: &Kept,
        sums: Option<Sums<'_>>,
        measures: &mut dyn Measures,
    ) {
        if self.breaks.len() < 2 {
            return;
        }
        let (Some(sums), Some(before), Some(sent)) = (sums, self.before, outcome.sent) else { return };
        let Some(encoding) = model.method.encoding() else { return };
        let mut measure = model.method.measure(measures.of(encoding));
        let measure: &mut dyn Measure = &mut measure;
        let old_len = before.blocks.len();
        for hidden in &self.breaks[1..] {
            let inside = |blocks: &[Arc<Block>], block: usize, byte: usize, measure: &mut dyn Measure| {
                blocks.get(block).filter(|_| byte > 0).map_or(0, |block| block.tokens_before(byte, measure))
            };
            let (old, new) = (hidden.old, hidden.new);
            let at =
                sums.old_total(old.block.min(old_len)) + inside(&before.blocks, old.block, old.byte, measure);
            let new_block = new.block.min(sums.now.len());
            let new_at = new_block.checked_sub(1).map_or(0, |last| sums.now[last])
                + inside(&self.request.blocks, new.block, new.byte, measure);
            // Up to here it would be the old request, from here on it is the new one.
            let would_send = at + sent.saturating_sub(new_at);
            let still_lost = kept.most(would_send).saturating_sub(kept.in_front_of(at));
            outcome.behind.push(Behind { blame: hidden.blame.clone(), still_lost });
        }
    }
}

/// What a store's rules say besides the numbers.
#[derive(Default)]
struct Judged {
    /// Tokens that would be read if only bytes counted: not time, marks or reach.
    ideal: u32,
    /// Why it was less, or why nothing can be read at all.
    reason: Option<Verdict>,
    detail: Detail,
}
