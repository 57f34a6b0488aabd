//! A cache mark behind text that is taken out again before the next request.
//!
//! A provider that caches at marks finds an entry only where a later request begins with the same bytes. A mark counts as
//! dead where neither the request before it in its conversation nor the one behind it does, there is one behind it, and
//! what makes the difference is text that a layer put into the messages.

use super::{Finding, Lint, Run, Sent, at_layer, shown};
use crate::core::bench::{Bench, Layer, MarkPlace, PlaceKind};
use crate::core::cache::Family;
use crate::core::fix::{Change, Fix};
use crate::core::text::number::grouped;
use crate::core::wire::{Request, Zone};

pub(super) fn check(run: &Run<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, sent) in run.calls.iter().enumerate() {
        let model = run.models.get(&sent.request.model);
        if sent.outcome.is_none() || !matches!(model.family, Some(Family::Marked(_) | Family::AutoMarked(_)))
        {
            continue;
        }
        // An entry that is read at all is read by the next request, and was written by the one before or by this one.
        let same = |other: &&Sent<'_>| other.record.agent == sent.record.agent && other.outcome.is_some();
        let Some(next) = run.calls[index + 1..].iter().find(same) else { continue };
        let before = run.before(index);
        for mark in &sent.request.marks {
            let mut others = before.into_iter().chain([next]);
            if others.any(|other| begins_alike(sent.request, other.request, mark.block)) {
                continue;
            }
            let Some(layer) = taken_out(run.bench, sent, next.request, mark.block) else { continue };
            let who = shown(run.bench, &layer.id);
            let tokens = run
                .never_read
                .iter()
                .find(|unread| unread.call == sent.record.call)
                .map(|unread| u64::from(unread.tokens));
            let cost = tokens.map_or_else(String::new, |tokens| {
                let sign = sent.outcome.filter(|outcome| outcome.estimate).map_or("", |_| "~");
                format!(": {sign}{} tokens are written and never read", grouped(tokens))
            });
            let message =
                format!("a cache mark stands behind {who}, which the next request does not hold{cost}");
            let diagnostic = at_layer(run.bench, &layer.id, message)
                .hint("let the mark stand behind what is replayed, or keep the text");
            let about = vec![layer.id.clone()];
            let finding = Finding::in_call(Lint::DeadMark, sent.record.call, about, tokens, diagnostic);
            let last = mark.block + 1 == sent.request.blocks.len();
            found.push(finding.fixed_by(fix(run.bench, layer, last)));
        }
    }
    found
}

fn begins_alike(one: &Request, other: &Request, block: usize) -> bool {
    other.blocks.len() > block
        && one.blocks[..=block].iter().zip(&other.blocks).all(|(a, b)| a.hash == b.hash)
}

/// The layer whose text stands behind the last block that both requests begin with and is not there in the next.
fn taken_out<'a>(bench: &'a Bench, sent: &Sent<'_>, next: &Request, mark: usize) -> Option<&'a Layer> {
    let at = (0..=mark)
        .find(|&at| next.blocks.get(at).is_none_or(|block| block.hash != sent.request.blocks[at].hash))?;
    let block = &sent.request.blocks[at];
    if block.kind.zone() != Zone::Messages {
        return None;
    }
    let kept = |part: &str| {
        next.blocks.get(at).is_some_and(|block| block.text.parts().iter().any(|other| *other.id == *part))
    };
    block.text.parts().iter().filter(|part| !kept(&part.id)).find_map(|part| bench.layer(&part.id))
}

/// The mark goes, and one behind the history takes its place.
fn fix(bench: &Bench, layer: &Layer, last: bool) -> Option<Fix> {
    let at = |place: &MarkPlace| match place {
        MarkPlace::LastMessage => last,
        MarkPlace::Place(name) => *name == layer.place,
        _ => false,
    };
    let index = bench.marks.iter().position(|mark| at(&mark.at))?;
    let history = bench.marks.iter().any(|mark| mark.at == MarkPlace::LastHistory);
    let own =
        bench.places.get(&layer.place).is_some_and(|place| matches!(place.kind, PlaceKind::Message { .. }));
    let mut changes = vec![Change::RemoveMark(index)];
    let mut said = "take the mark out".to_owned();
    if !history && own {
        changes.push(Change::AddMark("last_history".into()));
        said = "let the mark stand behind the history".to_owned();
    }
    Some(Fix::new(said, changes))
}
