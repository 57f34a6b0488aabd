//! Requests as they would be without something that is said twice: what leaving it out is worth is worked out on these.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::duplicate::said_twice;
use crate::core::bench::Bench;
use crate::core::fact::{EventId, Name};
use crate::core::text::{Made, Traced};
use crate::core::wire::{Block, Request};

/// The requests of a run without the paragraphs of `layer` that another layer says, too.
#[must_use]
pub fn without(bench: &Bench, requests: &[Request], layer: &Name) -> Vec<Request> {
    // A block that is sent again is the same block without them, too.
    let mut known: BTreeMap<u64, Arc<Block>> = BTreeMap::new();
    let mut out: Vec<Request> = Vec::with_capacity(requests.len());
    for request in requests {
        let cut = said_twice(bench, request, layer);
        let blocks = request.blocks.iter().enumerate().map(|(index, block)| {
            let Some(ranges) = cut.get(&index) else { return block.clone() };
            let made = || {
                let mut text = String::new();
                let mut at = 0;
                for range in ranges {
                    text.push_str(&block.text.text()[at..range.start]);
                    at = range.end;
                }
                text.push_str(&block.text.text()[at..]);
                let part = block.text.parts().first().map_or_else(|| layer.clone(), |part| part.id.clone());
                let text = Traced::whole(part, text, Made::Literal, EventId::OPENING);
                Block::new(block.kind, block.name.clone(), block.tool.clone(), block.message, text)
            };
            known.entry(block.hash).or_insert_with(made).clone()
        });
        let blocks: Vec<Arc<Block>> = blocks.collect();
        let before = out.iter().rfind(|before| before.agent == request.agent);
        let shared = before.map_or(0, |before| {
            let pairs = before.blocks.iter().zip(&blocks);
            pairs.take_while(|(a, b)| Arc::ptr_eq(a, b)).count().min(request.shared)
        });
        out.push(Request { blocks, shared, ..request.clone() });
    }
    out
}
