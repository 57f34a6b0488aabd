//! Pane 3: the request of the shown call, block by block.

use std::sync::Arc;

use super::{Counter, Shown, is_injector, shown_name};
use crate::app::snapshot::{BlockChange, BlockRow, PartRow, RequestView};
use crate::core::diff::common_prefix;
use crate::core::fact::{EventId, Name};
use crate::core::run::Session;
use crate::core::text::{Part, Traced};
use crate::core::wire::{Block, BlockKind, Request};

/// The view of the request.
#[must_use]
pub fn view(shown: &Shown<'_>, mut counter: Counter<'_>) -> RequestView {
    let mut blocks: Vec<BlockRow> = Vec::with_capacity(shown.request.blocks.len());
    for (index, block) in shown.request.blocks.iter().enumerate() {
        let shared = index < shown.request.shared;
        let old = match (shared, shown.before) {
            (true, _) | (_, None) => None,
            (false, Some((_, before))) => counterpart(before, block),
        };
        let change = match (shared, shown.before, old) {
            (true, ..) => BlockChange::Same,
            (_, None, _) => BlockChange::New,
            (_, Some(_), None) => BlockChange::New,
            (_, _, Some(old)) if old.hash == block.hash => BlockChange::Same,
            (_, _, Some(old)) => BlockChange::Changed(first_difference(old.text.text(), block.text.text())),
        };
        blocks.push(row(shown, index, block, old, change, &mut counter));
    }
    let focus = blocks
        .iter()
        .position(|block| matches!(block.change, BlockChange::Changed(_)))
        .or_else(|| {
            blocks.iter().rposition(|block| block.injected.is_some() && block.change != BlockChange::Same)
        })
        .or_else(|| {
            blocks
                .iter()
                .rposition(|block| block.change == BlockChange::New && block.kind == BlockKind::System)
        })
        .or_else(|| blocks.iter().rposition(|block| block.change == BlockChange::New))
        .or_else(|| blocks.iter().position(|block| block.kind == BlockKind::System))
        .unwrap_or(0);
    RequestView {
        call: shown.record.call,
        agent: super::sub_agent(shown.session.bench(), &shown.record.agent),
        focus,
        bytes: shown.request.blocks.iter().map(|block| block.text.len() as u64).sum(),
        tokens: blocks.iter().map(|block| block.tokens).sum(),
        sent: Some(std::sync::Arc::new(shown.request.clone())),
        causes: shown
            .request
            .blocks
            .iter()
            .flat_map(|block| block.text.spans())
            .map(|span| span.origin.cause)
            .filter(|cause| *cause != EventId::OPENING)
            .map(|cause| (cause, shown.session.event(cause).label.clone()))
            .collect(),
        blocks,
    }
}

/// The block of an earlier request that stands for the same thing.
pub(super) fn counterpart<'r>(before: &'r Request, block: &Block) -> Option<&'r Arc<Block>> {
    before.blocks.iter().find(|old| {
        old.kind == block.kind
            && old.message == block.message
            && (block.kind != BlockKind::ToolUse || old.name == block.name)
            && (block.message.is_some() || old.name == block.name)
    })
}

/// The first byte in which two texts differ, on a character's boundary in both.
fn first_difference(old: &str, new: &str) -> usize {
    let mut at = common_prefix(old.as_bytes(), new.as_bytes());
    while !(old.is_char_boundary(at) && new.is_char_boundary(at)) {
        at -= 1;
    }
    at
}

fn row(
    shown: &Shown<'_>,
    index: usize,
    block: &Arc<Block>,
    old: Option<&Arc<Block>>,
    change: BlockChange,
    counter: &mut Counter<'_>,
) -> BlockRow {
    let bench = shown.session.bench();
    let parts = block
        .text
        .parts()
        .iter()
        .map(|part| part_row(shown.session, block, part, old.map(|old| &old.text), change))
        .collect::<Vec<_>>();
    let tokens = counter.as_mut().map(|counter| u64::from(block.tokens(counter)));
    let injected_parts: Vec<&Part> =
        block.text.parts().iter().filter(|part| is_injector(bench, &part.id)).collect();
    let injected = match (injected_parts.is_empty(), counter.as_mut()) {
        (true, _) => None,
        (false, None) => Some(0),
        (false, Some(counter)) => Some(
            injected_parts
                .iter()
                .map(|part| {
                    u64::from(
                        block.tokens_before(part.end, counter) - block.tokens_before(part.start, counter),
                    )
                })
                .sum(),
        ),
    };
    let mark = shown.request.marks.iter().find(|mark| mark.block == index).map(|mark| {
        Arc::from(if mark.ttl % 3600 == 0 {
            format!("mark, {} h", mark.ttl / 3600)
        } else {
            format!("mark, {} min", mark.ttl.div_ceil(60))
        })
    });
    BlockRow {
        title: title(block).into(),
        kind: block.kind,
        message: block.message,
        text: block.text.clone(),
        parts,
        change,
        tokens,
        injected,
        mark,
    }
}

/// What a block is called: `tool Cd`, `system`, `message 4 (tool)`.
#[must_use]
pub fn title(block: &Block) -> String {
    let number = block.message.map_or(0, |message| message.0);
    match block.kind {
        BlockKind::Tool => format!("tool {}", block.name),
        BlockKind::System if &*block.name == "system" => "system".into(),
        BlockKind::System => format!("system {}", block.name),
        BlockKind::User => format!("message {number} (user)"),
        BlockKind::Assistant => format!("message {number} (model)"),
        BlockKind::ToolUse => {
            format!("message {number} (calls {})", block.tool.as_deref().unwrap_or_default())
        }
        BlockKind::ToolResult => format!("message {number} (tool)"),
        BlockKind::Image => match block.size {
            Some(size) => format!("message {number} (image {size})"),
            None => format!("message {number} (image, size not known)"),
        },
    }
}

/// A block that stands for itself, compared with another form of it; its title and tokens come from elsewhere.
#[must_use]
pub fn plain_block(
    session: &Session,
    block: &Arc<Block>,
    other: Option<&Arc<Block>>,
    title: String,
    tokens: Option<u64>,
) -> BlockRow {
    let change = match other {
        Some(other) if other.hash != block.hash => {
            BlockChange::Changed(first_difference(other.text.text(), block.text.text()))
        }
        _ => BlockChange::Same,
    };
    let part = |part| part_row(session, block, part, other.map(|other| &other.text), change);
    BlockRow {
        title: title.into(),
        kind: block.kind,
        message: block.message,
        text: block.text.clone(),
        parts: block.text.parts().iter().map(part).collect(),
        change,
        tokens,
        injected: None,
        mark: None,
    }
}

/// What screens call who wrote a part of a block of this kind: a layer by its shown name, a tool by its result.
#[must_use]
pub fn author(session: &Session, kind: BlockKind, part: &Name) -> Name {
    let bench = session.bench();
    match (bench.layer(part), kind) {
        (Some(_), _) => shown_name(bench, part),
        (None, BlockKind::ToolResult) => match part.strip_prefix("tool ") {
            Some(tool) => format!("tool result, {tool}").into(),
            None => part.clone(),
        },
        (None, _) => part.clone(),
    }
}

/// What screens call who wrote a part of a block.
pub(super) fn author_in(session: &Session, block: &Block, part: &Name) -> Arc<str> {
    match (session.bench().layer(part), block.kind) {
        (None, BlockKind::ToolUse) => {
            format!("model calls {}", block.tool.as_deref().unwrap_or_default()).into()
        }
        _ => author(session, block.kind, part),
    }
}

fn part_row(
    session: &Session,
    block: &Block,
    part: &Part,
    old: Option<&Traced>,
    change: BlockChange,
) -> PartRow {
    let bench = session.bench();
    let layer = bench.layer(&part.id);
    let author = author_in(session, block, &part.id);
    let changed = matches!(change, BlockChange::Changed(_))
        && old.is_some_and(|old| {
            !old.parts().iter().any(|other| other.id == part.id && old[other] == block.text[part])
        });
    let new = change == BlockChange::New || changed;
    let cause = block.text.ranges().filter(|(range, span)| {
        range.start >= part.start && range.end <= part.end && span.origin.cause.0 > 0
    });
    let cause = cause.map(|(_, span)| span.origin.cause).max().filter(|_| new);
    PartRow {
        author,
        injected: is_injector(bench, &part.id),
        layer: layer.map(|layer| layer.id.clone()),
        range: part.start..part.end,
        changed,
        cause: cause.map(|cause| session.event(cause).label.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn texts_differ_from_a_character_on() {
        for (old, new, at) in [
            ("", "", 0),
            ("abc", "abc", 3),
            ("abc", "abd", 2),
            ("ab", "abc", 2),
            // They share bytes of a character that is another one.
            ("你", "佡", 0),
            ("a你", "a佡b", 1),
            ("a你b", "a你", 4),
        ] {
            assert_eq!(first_difference(old, new), at, "{old} {new}");
            assert_eq!(first_difference(new, old), at, "{new} {old}");
        }
    }
}
