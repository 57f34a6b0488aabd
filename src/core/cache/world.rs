//! A model and what its provider has stored: the one place that knows all families.

use std::sync::Arc;

use super::model::Model;
use super::rules::{Family, Life, Visible};
use super::salts::{Salted, Traits};
use super::simulator::Conversation;
use super::store::{
    Asked, BlockStore, EntryStore, Found, NeverRead, OpaqueStore, Placed, RadixStore, SlotStore, UnitStore,
    auto_marked, marked, resource,
};
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{Block, MarkAt, Params, Request};

/// A model and what its provider has stored.
#[derive(Clone)]
pub(super) struct World {
    pub(super) model: Arc<Model>,
    /// An index into the rulers; none where tokens cannot be counted.
    pub(super) ruler: Option<usize>,
    store: Store,
}

#[derive(Clone)]
enum Store {
    Block(Box<BlockStore>),
    /// Of the marked, auto-marked and resource families.
    Entries(Box<EntryStore>),
    Units(Box<UnitStore>),
    Radix(Box<RadixStore>),
    Slot(Box<SlotStore>),
    Opaque(Box<OpaqueStore>),
    /// Nobody told us how it works.
    Unknown,
}

/// What a request and the one before it have in common for a model, salts and all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alike {
    pub(super) salts: Salted,
    /// Of the request before.
    pub(super) before: Salted,
    /// Leading blocks.
    pub(super) same: usize,
    /// True where it is reasoning that is taken out that makes them fewer.
    pub(super) stripped: bool,
}

impl World {
    pub(super) fn new(model: Arc<Model>, rulers: &mut Vec<Method>) -> World {
        let ruler = model.method.encoding().map(|_| {
            rulers.iter().position(|ruler| *ruler == model.method).unwrap_or_else(|| {
                rulers.push(model.method.clone());
                rulers.len() - 1
            })
        });
        let fee = model.prices.iter().any(|price| price.rates.value.write_5m.is_some());
        let store = match &model.family {
            _ if ruler.is_none() => Store::Unknown,
            Some(Family::Block(rules)) => Store::Block(Box::new(BlockStore::new(rules, fee))),
            Some(Family::Marked(rules)) => Store::Entries(Box::new(marked::store(rules))),
            Some(Family::AutoMarked(rules)) => Store::Entries(Box::new(auto_marked::store(rules))),
            Some(Family::Units(rules)) => Store::Units(Box::new(UnitStore::new(rules))),
            Some(Family::Radix(rules)) => Store::Radix(Box::new(RadixStore::new(rules))),
            Some(Family::Slot(rules)) => Store::Slot(Box::new(SlotStore::new(rules))),
            Some(Family::Resource(rules)) => Store::Entries(Box::new(resource::store(rules))),
            Some(Family::Opaque(rules)) => Store::Opaque(Box::new(OpaqueStore::new(rules, fee))),
            None => Store::Unknown,
        };
        World { model, ruler, store }
    }

    /// What a request and the one before it in the conversation have in common, of the `same` leading blocks that are
    /// equal by their text.
    pub(super) fn alike(
        &self,
        before: Option<&Conversation>,
        request: &Request,
        same: usize,
        traits: Traits,
    ) -> Alike {
        let salts = Salted::of(&self.model, &request.blocks, &request.params, traits);
        let Some(before) = before else {
            return Alike { salts, before: Salted::default(), same, stripped: false };
        };
        let old = Salted::of(&self.model, &before.blocks, &before.params, before.traits);
        let (same, stripped) = salts.same(&old, &request.blocks, same);
        Alike { salts, before: old, same, stripped }
    }

    /// Notes that a conversation's coming request begins with only `same` blocks of the one before it.
    pub(super) fn note_same(&mut self, conversation: usize, same: usize) {
        match &mut self.store {
            Store::Block(store) => store.note_same(conversation, same),
            Store::Entries(store) => store.note_same(conversation, same),
            Store::Units(store) => store.note_same(conversation, same),
            Store::Radix(store) => store.note_same(conversation, same),
            Store::Opaque(store) => store.note_same(conversation, same),
            Store::Slot(_) | Store::Unknown => {}
        }
    }

    /// Reads, then stores, a request; none where nobody told us how. `before` is the conversation with its latest
    /// request.
    pub(super) fn call(
        &mut self,
        asked: &Asked<'_>,
        before: Option<&Conversation>,
        measure: &mut dyn Measure,
    ) -> Option<Found> {
        Some(match &mut self.store {
            Store::Block(store) => store.call(asked, measure),
            Store::Units(store) => store.call(asked, measure),
            Store::Radix(store) => store.call(asked, measure),
            Store::Opaque(store) => store.call(asked, measure),
            Store::Slot(store) => store.call(asked, measure),
            Store::Entries(store) => {
                let placed = place(&self.model, asked.blocks, asked.marks, asked.params, asked.traits)?;
                let old = before
                    .and_then(|old| place(&self.model, &old.blocks, &old.marks, &old.params, old.traits));
                store.call(asked, &placed, old.as_ref())
            }
            Store::Unknown => return None,
        })
    }

    /// What was written and not read so far.
    pub(super) fn never_read(&self) -> Vec<NeverRead> {
        match &self.store {
            Store::Entries(store) => store.never_read().collect(),
            _ => Vec::new(),
        }
    }
}

/// The marks of a request as the model's provider takes them; none for families without.
fn place(
    model: &Model,
    blocks: &[Arc<Block>],
    marks: &[MarkAt],
    params: &Params,
    traits: Traits,
) -> Option<Placed> {
    Some(match model.family.as_ref()? {
        Family::Marked(rules) => marked::place(rules, blocks, marks, params, traits),
        Family::AutoMarked(rules) => auto_marked::place(rules, blocks, marks, params),
        Family::Resource(rules) => resource::place(rules, blocks, marks),
        Family::Block(_) | Family::Units(_) | Family::Radix(_) | Family::Slot(_) | Family::Opaque(_) => {
            return None;
        }
    })
}

impl Family {
    /// How long what was stored lives, where age decides.
    #[must_use]
    pub fn life(&self) -> Option<&Life> {
        match self {
            Family::Block(rules) => Some(&rules.life),
            Family::Units(rules) => Some(&rules.life),
            Family::Opaque(rules) => Some(&rules.life),
            _ => None,
        }
    }

    /// From when on others can read what a request stores, where that is known.
    #[must_use]
    pub fn visible(&self) -> Option<Visible> {
        match self {
            Family::Block(rules) => rules.visible.as_ref().map(|visible| visible.value),
            Family::Marked(rules) => Some(rules.visible.value),
            Family::AutoMarked(rules) => Some(rules.visible.value),
            Family::Units(rules) => Some(rules.visible.value),
            Family::Opaque(rules) => rules.visible.as_ref().map(|visible| visible.value),
            Family::Radix(_) | Family::Slot(_) | Family::Resource(_) => None,
        }
    }
}

/// Running counts without the reasoning in front of block `strip`, which the provider takes out; none where there is
/// none to take out.
pub(super) fn without_reasoning(sums: &[u32], blocks: &[Arc<Block>], strip: usize) -> Option<Vec<u32>> {
    if !blocks.iter().take(strip).any(|block| block.is_reasoning()) {
        return None;
    }
    let (mut gone, mut before) = (0, 0);
    let lessened = sums.iter().zip(blocks).enumerate().map(|(index, (&sum, block))| {
        if index < strip && block.is_reasoning() {
            gone += sum - before;
        }
        before = sum;
        sum - gone
    });
    Some(lessened.collect())
}
