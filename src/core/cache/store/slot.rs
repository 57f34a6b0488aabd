//! The slot family: a server that works in slots, each with the last prompt that was worked out in it.

use std::sync::Arc;

use super::{Asked, Floor, Found, Kept, Miss, comparable};
use crate::core::cache::rules::{Generated, SlotRules};
use crate::core::cache::salts::Salted;
use crate::core::tokens::Measure;
use crate::core::wire::Block;

/// A prompt that was worked out.
#[derive(Clone, Debug)]
struct Prompt {
    blocks: Vec<Arc<Block>>,
    salts: Salted,
    tokens: u32,
    conversation: usize,
    at: i64,
    /// The number of its latest use.
    used: u64,
}

/// What a request has in common with a prompt.
#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    tokens: u32,
    /// With the answer that the model wrote to it.
    with_answer: u32,
    /// True where the request goes on from its end.
    whole: bool,
}

/// The store of a model of the slot family.
#[derive(Clone, Debug)]
pub(in crate::core::cache) struct SlotStore {
    slots: usize,
    similarity: u32,
    min_eval: u32,
    host: Option<u32>,
    generated: bool,
    checkpoint: Option<u32>,
    /// At most as many as there are slots.
    working: Vec<Prompt>,
    /// What was driven out, the longest unused first.
    parked: Vec<Prompt>,
    uses: u64,
}

/// More prompts than this are not remembered in the main memory, whatever its size.
const PARKED: usize = 256;

impl SlotStore {
    pub(in crate::core::cache) fn new(rules: &SlotRules) -> SlotStore {
        SlotStore {
            slots: rules.slots.value.max(1) as usize,
            similarity: rules.similarity.value,
            min_eval: rules.min_eval.value,
            host: rules.host.as_ref().map(|host| host.value),
            generated: rules.generated.value == Generated::Yes,
            checkpoint: rules.checkpoint.as_ref().map(|step| step.value.max(1)),
            working: Vec::new(),
            parked: Vec::new(),
            uses: 0,
        }
    }

    pub(in crate::core::cache) fn call(&mut self, asked: &Asked<'_>, measure: &mut dyn Measure) -> Found {
        let sent = asked.running.total();
        self.uses += 1;
        let own = |prompt: &&Prompt| prompt.conversation == asked.conversation;
        let latest = self.working.iter().chain(&self.parked).filter(own).max_by_key(|prompt| prompt.used);
        let age = latest.map(|prompt| asked.at - prompt.at);

        // The slot with the most in common, if that is enough of the prompt; else one that is free, else the longest
        // unused one, whose prompt goes to the main memory.
        let mut best: Option<(usize, Shared)> = None;
        for (index, prompt) in self.working.iter().enumerate() {
            let shared = shared(asked, prompt, measure);
            if best.is_none_or(|(_, most)| shared.with_answer > most.with_answer) {
                best = Some((index, shared));
            }
        }
        let enough = |shared: Shared| {
            u64::from(shared.with_answer) * 1_000 >= u64::from(self.similarity) * u64::from(sent)
                && shared.with_answer > 0
        };
        let chosen = best.filter(|(_, shared)| enough(*shared));
        let mut have = chosen.map(|(_, shared)| shared).unwrap_or_default();
        let mut slot = chosen.map(|(index, _)| index);
        // A prompt of the main memory with more in common is taken back.
        let mut parked: Option<(usize, Shared)> = None;
        for (index, prompt) in self.parked.iter().enumerate() {
            let shared = shared(asked, prompt, measure);
            if shared.with_answer > have.with_answer.max(parked.map_or(0, |(_, most)| most.with_answer)) {
                parked = Some((index, shared));
            }
        }
        if let Some((index, shared)) = parked {
            have = shared;
            slot = None;
            self.parked.remove(index);
        }
        let prompt = Prompt {
            blocks: asked.blocks.to_vec(),
            salts: asked.salts,
            tokens: sent,
            conversation: asked.conversation,
            at: asked.at,
            used: self.uses,
        };
        match slot {
            Some(index) => self.working[index] = prompt,
            None if self.working.len() < self.slots => self.working.push(prompt),
            None => {
                let oldest =
                    (0..self.working.len()).min_by_key(|&index| self.working[index].used).unwrap_or(0);
                let driven_out = std::mem::replace(&mut self.working[oldest], prompt);
                self.park(driven_out);
            }
        }

        let last = sent.saturating_sub(self.min_eval);
        let common = if self.generated { have.with_answer } else { have.tokens };
        let cut = |tokens: u32| self.checkpoint.map_or(tokens, |step| tokens / step * step);
        let read = if have.whole { common } else { cut(common) }.min(last);
        let whole = asked.before.as_ref().is_none_or(|before| before.same == before.blocks);
        let ideal = if whole { asked.equal } else { cut(asked.equal) }.min(last);
        let miss =
            (ideal > read).then(|| asked.less().unwrap_or(Miss::Evicted { age: age.unwrap_or_default() }));
        Found {
            kept: asked.before.as_ref().map_or(Kept::Nothing, |before| Kept::Floor {
                floor: Floor::TOKENS,
                sent: before.sent,
                anew: self.min_eval,
            }),
            ideal,
            miss,
            age,
            ..Found::read(read)
        }
    }

    fn park(&mut self, prompt: Prompt) {
        self.parked.push(prompt);
        let room = self.host.unwrap_or(u32::MAX);
        let mut tokens: u64 = self.parked.iter().map(|prompt| u64::from(prompt.tokens)).sum();
        while !self.parked.is_empty() && (tokens > u64::from(room) || self.parked.len() > PARKED) {
            tokens -= u64::from(self.parked.remove(0).tokens);
        }
    }
}

fn shared(asked: &Asked<'_>, prompt: &Prompt, measure: &mut dyn Measure) -> Shared {
    let equal = |index: usize, old: &Arc<Block>, new: &Arc<Block>| {
        (Arc::ptr_eq(old, new) || old.hash == new.hash)
            && prompt.salts.at(index, old) == asked.salts.at(index, new)
    };
    let both = prompt.blocks.iter().zip(asked.blocks).enumerate();
    let same = both.take_while(|(index, (old, new))| equal(*index, old, new)).count();
    let whole = same == prompt.blocks.len();
    let mut tokens = asked.running.before(same);
    let mut with_answer = tokens;
    match (prompt.blocks.get(same), asked.blocks.get(same)) {
        (Some(old), Some(new))
            if comparable(old, new) && prompt.salts.at(same, old) == asked.salts.at(same, new) =>
        {
            tokens += old.shared(new, measure);
            with_answer = tokens;
        }
        (None, Some(_)) => {
            let answer = asked.blocks[same..].iter().take_while(|block| block.is_generated()).count();
            with_answer = asked.running.before(same + answer);
        }
        _ => {}
    }
    Shared { tokens, with_answer, whole }
}
