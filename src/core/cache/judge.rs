//! Works out one call for one model: what its store does, the verdict, and what hides behind the first difference.

use std::sync::Arc;

use super::diff::Break;
use super::model::{Family, Model};
use super::outcome::{Behind, Detail, Mark, Note, Outcome, Split, Write};
use super::simulator::{Conversation, Measures};
use super::store::{Asker, BlockStore, MarkedStore, Miss, Running, eligible, refusal};
use super::verdict::Verdict;
use crate::core::run::COMPACTION;
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{Block, MarkAt, Request, Zone};

/// A model and what its provider has stored.
#[derive(Clone)]
pub(super) struct World {
    pub(super) model: Arc<Model>,
    /// An index into the rulers; none where tokens cannot be counted.
    pub(super) ruler: Option<usize>,
    pub(super) store: Store,
}

#[derive(Clone)]
pub(super) enum Store {
    Block(BlockStore),
    Marked(Box<MarkedStore>),
    /// Nobody told us how it works.
    Unknown,
}

impl World {
    pub(super) fn new(model: Arc<Model>, rulers: &mut Vec<Method>) -> World {
        let ruler = model.method.encoding().map(|_| {
            rulers.iter().position(|ruler| *ruler == model.method).unwrap_or_else(|| {
                rulers.push(model.method.clone());
                rulers.len() - 1
            })
        });
        let store = match &model.family {
            _ if ruler.is_none() => Store::Unknown,
            Some(Family::Block(rules)) => Store::Block(BlockStore::new(rules)),
            Some(Family::Marked(rules)) => Store::Marked(Box::new(MarkedStore::new(rules))),
            None => Store::Unknown,
        };
        World { model, ruler, store }
    }

    pub(super) fn note_same(&mut self, conversation: usize, same: usize) {
        match &mut self.store {
            Store::Block(store) => store.note_same(conversation, same),
            Store::Marked(store) => store.note_same(conversation, same),
            Store::Unknown => {}
        }
    }
}

/// What all lanes see of a call.
pub(super) struct Seen<'a> {
    pub(super) request: &'a Request,
    pub(super) marks: &'a [MarkAt],
    pub(super) conversation: usize,
    /// How many leading blocks are those of the request before it.
    pub(super) same: usize,
    pub(super) before: Option<&'a Conversation>,
    pub(super) breaks: &'a [Break],
    pub(super) order: u64,
}

/// Running counts of a request and of the one before it, in one model's tokens.
pub(super) struct Sums<'a> {
    pub(super) now: &'a [u32],
    /// Of the request before: in front of `same` it has those of this one.
    pub(super) old_tail: &'a [u32],
    pub(super) same: usize,
}

impl Sums<'_> {
    pub(super) fn old(&self, block: usize) -> u32 {
        if block < self.same { self.now[block] } else { self.old_tail[block - self.same] }
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
        let model = &world.model;
        let mut outcome = Outcome {
            call: self.request.call,
            model: model.id.clone(),
            estimate: matches!(model.method, Method::Estimate { .. }) || self.request.has_images(),
            blame: self.breaks.first().map(|first| first.blame.clone()),
            ..Outcome::default()
        };
        if let Some(sums) = &sums {
            outcome.sent = Some(Running(sums.now).total());
            outcome.sent_before = self.before.map(|before| sums.old_total(before.blocks.len()));
        }
        let mut judged = Judged { ideal: 0, reason: None, detail: Detail::None };
        match (&mut world.store, &sums) {
            (Store::Block(store), Some(sums)) => {
                if let Some(encoding) = model.method.encoding() {
                    let mut measure = model.method.measure(measures.of(encoding));
                    judged = self.block(&mut outcome, store, sums, model, &mut measure);
                }
            }
            (Store::Marked(store), Some(sums)) => {
                judged = self.marked(&mut outcome, store, sums, model, knows);
            }
            _ => {}
        }
        self.judge(&mut outcome, judged, model_changed);
        outcome.price(model, self.request.at);
        self.behind(&mut outcome, world, sums, measures);
        outcome
    }

    fn block(
        &self,
        outcome: &mut Outcome,
        store: &mut BlockStore,
        sums: &Sums<'_>,
        model: &Model,
        measure: &mut dyn Measure,
    ) -> Judged {
        let running = Running(sums.now);
        let blocks = &self.request.blocks;
        let sent = running.total();
        // What is equal to the request before, whatever the time.
        let inside =
            match (self.before.and_then(|before| before.blocks.get(self.same)), blocks.get(self.same)) {
                (Some(old), Some(new)) if super::store::comparable(old, new) => {
                    measure.shared(old.text.text(), new.text.text())
                }
                _ => 0,
            };
        let found = store.call(self.conversation, blocks, self.request.at, running, measure);
        let ideal = if self.before.is_some() { store.floor(running.before(self.same) + inside) } else { 0 };
        let lost = outcome.sent_before.map(|before| store.floor(before.min(sent)).saturating_sub(found.read));
        outcome.split = Some(Split { read: found.read, write: None, fresh: sent - found.read, lost });
        let below = sent < store.min();
        let mut judged = Judged { ideal, reason: None, detail: Detail::None };
        if ideal > found.read {
            let (age, life) = (found.age.unwrap_or_default(), store.life());
            let expired = found.age.is_some_and(|age| age > life);
            judged.reason = Some(if expired { Verdict::Expired } else { Verdict::Unexplained });
            judged.detail = Detail::Age { age, life };
        } else if below {
            judged.reason = Some(Verdict::BelowMinimum);
            judged.detail = Detail::Minimum(store.min());
        }
        if let (Some(Family::Block(rules)), Some(age)) = (&model.family, found.age)
            && let Some(typical) = &rules.life.typical
            && found.read > 0
            && age > i64::from(typical.value) * 1_000
        {
            outcome.notes.push(Note::PastTypicalLife { age: age / 1_000, typical: typical.value });
        }
        judged
    }

    fn marked(
        &self,
        outcome: &mut Outcome,
        store: &mut MarkedStore,
        sums: &Sums<'_>,
        model: &Model,
        knows: &dyn Fn(usize, u64) -> bool,
    ) -> Judged {
        let Some(Family::Marked(rules)) = &model.family else { return Judged::default() };
        let running = Running(sums.now);
        let sent = running.total();
        let min = rules.min.value.max(1);
        if let Some(why) = refusal(rules, self.marks) {
            return Judged { ideal: 0, reason: Some(Verdict::Refused), detail: Detail::Refused(why) };
        }
        // What the request before it stored, and what of that this one still begins with.
        let old = self.before.filter(|before| refusal(rules, &before.marks).is_none());
        let stored = |mark: &MarkAt| sums.old(mark.block);
        let old_marks = old.map_or(&[][..], |old| &old.marks);
        let longest = old_marks.iter().map(stored).filter(|&tokens| tokens >= min).max().unwrap_or(0);
        let wanted = old_marks.iter().rfind(|mark| mark.block < self.same && stored(mark) >= min);
        let asker = Asker {
            conversation: self.conversation,
            call: self.request.call,
            order: self.order,
            at: self.request.at,
            knows,
        };
        let wanted_block = wanted.map(|mark| mark.block);
        let found = store.call(&asker, &self.request.blocks, self.marks, running, wanted_block);
        let write = Write { short: found.write_5m, hour: found.write_1h };
        let lost = self.before.map(|_| longest.min(sent).saturating_sub(found.read));
        let fresh = sent - found.read - write.total();
        outcome.split = Some(Split { read: found.read, write: Some(write), fresh, lost });
        outcome.uncovered = sent - found.covered.max(found.read);

        let mut judged = Judged { ideal: wanted.map_or(0, stored), reason: None, detail: Detail::None };
        let last_mark = || {
            self.marks.last().map(|mark| {
                let block = &self.request.blocks[mark.block];
                match block.message {
                    Some(message) => Mark::Message(message.0),
                    None => Mark::Zone(block.kind.zone()),
                }
            })
        };
        // Text that was sent before and that no mark covers: it is paid in full again and again.
        let again = outcome.sent_before.unwrap_or_default().min(sent) > found.covered.max(found.read);
        let unmarked = eligible(self.marks, running, min).is_none();
        if let Some(miss) = found.miss {
            (judged.reason, judged.detail) = match miss {
                Miss::Expired { age, life } => (Some(Verdict::Expired), Detail::Age { age, life }),
                Miss::NotYetVisible { age } => {
                    (Some(Verdict::NotYetVisible), Detail::Visible { age, after: store.visible_after() })
                }
                Miss::OutOfLookback { positions } => {
                    (Some(Verdict::OutOfLookback), Detail::Lookback { positions, limit: store.lookback() })
                }
                Miss::NotMarked => (Some(Verdict::NotCached), Detail::Uncovered(last_mark())),
                Miss::Gone => (Some(Verdict::Unexplained), Detail::None),
            };
        } else if unmarked && !self.marks.is_empty() {
            judged.reason = Some(Verdict::BelowMinimum);
            judged.detail = Detail::Minimum(store.min());
        } else if self.marks.is_empty() || again {
            judged.reason = Some(Verdict::NotCached);
            judged.detail = Detail::Uncovered(last_mark());
        }
        judged
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
        world: &World,
        sums: Option<Sums<'_>>,
        measures: &mut dyn Measures,
    ) {
        if self.breaks.len() < 2 {
            return;
        }
        let (Some(sums), Some(before), Some(sent)) = (sums, self.before, outcome.sent) else { return };
        let model = &world.model;
        let Some(encoding) = model.method.encoding() else { return };
        let mut measure = model.method.measure(measures.of(encoding));
        let measure: &mut dyn Measure = &mut measure;
        let old_len = before.blocks.len();
        let old_sent = outcome.sent_before.unwrap_or_default();
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
            let still_lost = match (&world.store, &model.family) {
                (Store::Block(store), _) => {
                    store.floor(old_sent.min(would_send)).saturating_sub(store.floor(at))
                }
                (Store::Marked(_), Some(Family::Marked(rules))) => {
                    let min = rules.min.value.max(1);
                    let ends = before.marks.iter().map(|mark| sums.old(mark.block));
                    let (mut longest, mut read) = (0, 0);
                    for end in ends.filter(|&end| end >= min) {
                        longest = longest.max(end);
                        if end <= at {
                            read = read.max(end);
                        }
                    }
                    longest.min(would_send).saturating_sub(read)
                }
                _ => 0,
            };
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
