//! The auto-marked family: the provider puts a mark of its own, and looks at the places where it would have put it.

use std::sync::Arc;

use super::entries::{EntryStore, Keeping, Placed};
use super::marked::{not_offered, refused};
use crate::core::cache::rules::{AutoMarkedRules, Boundary, Excess, Lookup};
use crate::core::wire::{Block, BlockKind, MarkAt, Params, Zone};

/// The store of a model of the auto-marked family.
pub(in crate::core::cache) fn store(rules: &AutoMarkedRules) -> EntryStore {
    let (lookback, collapse) = match &rules.lookup {
        Lookup::Walk { positions, collapse } => (positions.value, collapse.value.clone()),
        Lookup::Ends { .. } => (0, Vec::new()),
    };
    EntryStore::new(Keeping {
        min: rules.min.value,
        lookback,
        collapse,
        short: rules.lives.value.first().copied().unwrap_or(300),
        visible_after: rules.visible.value.after,
        refresh: true,
        renew: rules.renew.as_ref().is_some_and(|renew| renew.value),
        fee: true,
        generated: false,
    })
}

/// The marks that count: the provider's own, and those of the request that it takes.
pub(in crate::core::cache) fn place(
    rules: &AutoMarkedRules,
    blocks: &[Arc<Block>],
    marks: &[MarkAt],
    params: &Params,
) -> Placed {
    let lives = &rules.lives.value;
    let shortest = lives.first().copied().unwrap_or(300);
    let asked = params.get("cache_ttl").and_then(super::seconds);
    if let Some(ttl) = asked.filter(|ttl| !lives.contains(ttl)) {
        return refused(not_offered(ttl, lives));
    }
    let ttl = asked.unwrap_or(shortest);
    let only_own = rules.only_own.as_ref().filter(|_| params.get("cache_mode") == Some("explicit"));
    // Marks on tool definitions are not a thing here; lives are those of the request.
    let mut own: Vec<MarkAt> = marks
        .iter()
        .filter(|mark| blocks[mark.block].kind != BlockKind::Tool)
        .map(|mark| MarkAt { block: mark.block, ttl })
        .collect();
    let all_own = own.clone();
    let max = only_own.unwrap_or(&rules.max_marks).value as usize;
    if own.len() > max {
        match rules.excess.value {
            Excess::Error => return refused(format!("{} cache marks, at most {max}", own.len())),
            Excess::DropOldest => drop(own.drain(..own.len() - max)),
        }
    }
    let ends = ends(blocks, rules.boundary.value);
    let implicit = ends.last().copied().filter(|_| only_own.is_none());
    let instructions = blocks.partition_point(|block| block.kind.zone() <= Zone::System).checked_sub(1);
    let mut placed = own;
    placed.extend(implicit.map(|block| MarkAt { block, ttl }));
    let mut looked_at = None;
    if let Lookup::Ends { first, last, previous, instructions: kept } = &rules.lookup {
        let instructions = instructions.filter(|_| kept.value && only_own.is_none());
        placed.extend(instructions.map(|block| MarkAt { block, ttl }));
        let count = all_own.len();
        let (first, last) = (first.value as usize, last.value as usize);
        let mut look: Vec<usize> = all_own
            .iter()
            .enumerate()
            .filter(|(index, _)| *index < first || count - index <= last)
            .map(|(_, mark)| mark.block)
            .collect();
        if only_own.is_none() {
            look.extend(ends.iter().rev().take(previous.value as usize + 1));
            look.extend(instructions);
        }
        look.sort_unstable_by(|a, b| b.cmp(a));
        look.dedup();
        looked_at = Some(look);
    }
    placed.sort_by_key(|mark| mark.block);
    placed.dedup_by_key(|mark| mark.block);
    Placed { marks: placed, looked_at, refused: None }
}

/// The blocks behind which the provider would put its own mark, in order.
fn ends(blocks: &[Arc<Block>], boundary: Boundary) -> Vec<usize> {
    if boundary == Boundary::End {
        return blocks.len().checked_sub(1).into_iter().collect();
    }
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let next = blocks.get(index + 1);
        let ends = match block.kind {
            // Only what stands in front of the conversation; later instructions are none.
            BlockKind::System => next.is_none_or(|next| next.kind.zone() == Zone::Messages),
            BlockKind::User | BlockKind::Image => {
                let instructions = matches!(&*block.name, "developer" | "system");
                !instructions && next.is_none_or(|next| next.message != block.message)
            }
            BlockKind::ToolResult => next.is_none_or(|next| next.kind != BlockKind::ToolResult),
            BlockKind::Tool | BlockKind::Assistant | BlockKind::ToolUse => false,
        };
        if ends {
            found.push(index);
        }
    }
    found
}
