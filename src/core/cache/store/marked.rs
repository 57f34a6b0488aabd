//! The marked family: entries where the request has marks, found by a bounded walk backwards.

use std::sync::Arc;

use super::entries::{EntryStore, Keeping, Placed};
use crate::core::cache::rules::{Excess, MarkedRules};
use crate::core::cache::salts::{Traits, is_of_server_tool};
use crate::core::text::number::Thousands;
use crate::core::wire::{Block, MarkAt, Params};

/// The store of a model of the marked family.
pub(in crate::core::cache) fn store(rules: &MarkedRules) -> EntryStore {
    EntryStore::new(Keeping {
        min: rules.min.value,
        lookback: rules.lookback.value,
        collapse: rules.collapse.value.clone(),
        short: rules.lives.value.first().copied().unwrap_or(300),
        visible_after: rules.visible.value.after,
        refresh: true,
        renew: false,
        fee: true,
        generated: false,
    })
}

/// The marks of a request, with the one that a `cache_control` of the whole request puts behind its last block.
pub(in crate::core::cache) fn place(
    rules: &MarkedRules,
    blocks: &[Arc<Block>],
    marks: &[MarkAt],
    params: &Params,
    traits: Traits,
) -> Placed {
    let mut marks = marks.to_vec();
    let max = rules.max_marks.value as usize;
    let automatic = rules.automatic.as_ref().is_some_and(|automatic| automatic.value)
        && params.get("cache_mode") == Some("automatic");
    if automatic {
        let ttl = params.get("cache_ttl").and_then(super::seconds).unwrap_or(300);
        // Reasoning cannot carry a mark: the block in front of it does.
        let last = blocks.iter().rposition(|block| !block.is_reasoning());
        match (last, last.and_then(|last| marks.iter().find(|mark| mark.block == last))) {
            (Some(_), Some(own)) if own.ttl != ttl => {
                return refused(
                    "the last block has a mark of another life than the automatic one".to_owned(),
                );
            }
            (Some(last), None) if marks.len() < max => marks.push(MarkAt { block: last, ttl }),
            (Some(_), None) => {
                return refused(format!("{} cache marks leave no room for the automatic one", marks.len()));
            }
            _ => {}
        }
        marks.sort_by_key(|mark| mark.block);
    }
    let excess = rules.excess.as_ref().map_or(Excess::Error, |excess| excess.value);
    if marks.len() > max {
        match excess {
            Excess::Error => return refused(format!("{} cache marks, at most {max}", marks.len())),
            Excess::DropOldest => drop(marks.drain(..marks.len() - max)),
        }
    }
    let lives = &rules.lives.value;
    if let Some(mark) = marks.iter().find(|mark| !lives.contains(&mark.ttl)) {
        return refused(not_offered(mark.ttl, lives));
    }
    if marks.windows(2).any(|pair| pair[0].ttl < pair[1].ttl) {
        return refused("a mark with a longer life stands behind one with a shorter".to_owned());
    }
    if let Some(life) = rules.server_tools.as_ref().filter(|_| !marks.is_empty())
        && let Some(first) = traits.server_tool
    {
        let theirs = (first..blocks.len()).filter(|&at| is_of_server_tool(&blocks[at]));
        let theirs = theirs.filter(|at| marks.iter().all(|mark| mark.block != *at)).collect::<Vec<_>>();
        marks.extend(theirs.into_iter().map(|block| MarkAt { block, ttl: life.value }));
        marks.sort_by_key(|mark| mark.block);
    }
    Placed { marks, ..Placed::default() }
}

/// A request that the provider answers with an error.
pub(super) fn refused(why: String) -> Placed {
    Placed { refused: Some(format!("{why}: the provider answers with an error")), ..Placed::default() }
}

/// A life that cannot be asked for.
pub(super) fn not_offered(ttl: u32, lives: &[u32]) -> String {
    let offered: Vec<String> = lives.iter().map(|&life| format!("{} s", Thousands(life))).collect();
    format!("a mark asks for a life of {} s, offered are {}", Thousands(ttl), offered.join(" and "))
}
