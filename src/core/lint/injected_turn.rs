//! A user message at the end of a request that holds nothing but what layers injected.
//!
//! Anthropic's page on prompt caching says that a user turn without tool results makes some models drop the thinking
//! before it, which changes the request from there on.

use super::{Finding, Lint, Subject, at_layer, shown};
use crate::core::bench::{LayerSource, PlaceKind};
use crate::core::fact::{FactKey, Name};
use crate::core::fix::{Change, Fix};
use crate::core::text::{Made, Part, Traced};
use crate::core::wire::BlockKind;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let bench = subject.bench;
    let blocks = &subject.request.blocks;
    let Some(last) = blocks.last().filter(|block| block.kind == BlockKind::User && &*block.name == "user")
    else {
        return Vec::new();
    };
    let message: Vec<_> = blocks.iter().rev().take_while(|block| block.message == last.message).collect();
    // Only in the middle of a turn: what opens a turn is there because somebody, or a timer, began it.
    let before = blocks.len().checked_sub(message.len() + 1).map(|at| blocks[at].kind);
    if before != Some(BlockKind::ToolResult) {
        return Vec::new();
    }
    let parts = || message.iter().flat_map(|block| block.text.parts().iter().map(|part| (&block.text, part)));
    if !parts().all(|(text, part)| injected(subject, text, part)) {
        return Vec::new();
    }
    let Some(layer) = parts().find_map(|(_, part)| bench.layer(&part.id)) else { return Vec::new() };
    let who = shown(bench, &layer.id);
    let said = format!("the model answers a user message that holds only {who}: nobody said it");
    let diagnostic = at_layer(bench, &layer.id, said)
        .hint("let it go into the newest tool message, or say it as the developer or the system");
    let tools = bench.places.values().find(|place| place.kind == PlaceKind::NewestTool);
    let fix = tools.map(|place| {
        let to: Name = place.id.clone();
        Fix::new(format!("let {who} go to {to}"), [Change::Place(layer.id.clone(), to)])
    });
    vec![Finding::new(Lint::InjectedTurn, subject, vec![layer.id.clone()], None, diagnostic).fixed_by(fix)]
}

/// True for what a layer wrote in which nothing is what the user typed.
fn injected(subject: &Subject<'_>, text: &Traced, part: &Part) -> bool {
    let Some(layer) = subject.bench.layer(&part.id) else { return false };
    if layer.from == LayerSource::Said {
        return false;
    }
    let said =
        |made: &Made| matches!(made, Made::Fact { key: FactKey::Named(name), .. } if &**name == "said");
    !text
        .ranges()
        .any(|(range, span)| range.start < part.end && range.end > part.start && said(&span.origin.made))
}
