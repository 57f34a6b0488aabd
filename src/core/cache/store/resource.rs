//! The resource family: what the caller has made, named and pays for by the hour.

use std::sync::Arc;

use super::entries::{EntryStore, Keeping, Placed};
use super::marked::{not_offered, refused};
use crate::core::cache::rules::ResourceRules;
use crate::core::wire::{Block, MarkAt};

/// The store of a model of the resource family.
pub(in crate::core::cache) fn store(rules: &ResourceRules) -> EntryStore {
    EntryStore::new(Keeping {
        min: rules.min.value,
        // A caller names the one that it has made for this very beginning; a chain goes back as far as it likes.
        lookback: if rules.chain.value { u32::MAX } else { 1 },
        collapse: Vec::new(),
        short: u32::MAX,
        visible_after: 0,
        refresh: rules.refresh.value,
        renew: false,
        fee: false,
        generated: rules.chain.value,
    })
}

/// What is made of a request: everything up to its last mark, or all of it.
pub(in crate::core::cache) fn place(
    rules: &ResourceRules,
    blocks: &[Arc<Block>],
    marks: &[MarkAt],
) -> Placed {
    let lives = &rules.lives.value;
    let default = lives.first().copied().unwrap_or(3_600);
    let last = marks.last();
    let block = if rules.chain.value { blocks.len().checked_sub(1) } else { last.map(|mark| mark.block) };
    // Marks ask for what marked caches offer; where that is not offered here, the default is taken.
    let ttl = last.map_or(default, |mark| mark.ttl);
    if !rules.any && !lives.contains(&ttl) && !rules.chain.value {
        return refused(not_offered(ttl, lives));
    }
    let ttl = if rules.any || lives.contains(&ttl) { ttl } else { default };
    Placed { marks: block.map(|block| MarkAt { block, ttl }).into_iter().collect(), ..Placed::default() }
}
