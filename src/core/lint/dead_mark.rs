//! A cache mark behind text that is taken out again before the next request.
//!
//! A provider that caches at marks finds an entry only where a later request begins with the same bytes. A mark counts as
//! dead where neither the request before it in its conversation nor the one behind it does, there is one behind it, and
//! what makes the difference is text that a layer put into the messages.

use super::run::Latest;
use super::{Finding, Lint, Sent, at_layer, shown};
use crate::core::bench::{Bench, Layer, MarkPlace, PlaceKind};
use crate::core::cache::{Family, Models, NeverRead};
use crate::core::fact::Name;
use crate::core::fix::{Change, Fix};
use crate::core::text::number::grouped;
use crate::core::wire::{CallNo, Request, Zone};

/// The dead marks of a run, so far.
#[derive(Default)]
pub(super) struct DeadMarks {
    /// Of each conversation the latest request that arrived, and the one before it.
    latest: Latest<(Option<Request>, Arrived)>,
    dead: Vec<Dead>,
}

/// A request that arrived.
struct Arrived {
    request: Request,
    /// True where its tokens are estimates.
    estimate: bool,
}

/// A mark behind the text of a layer that the next request does not hold.
struct Dead {
    call: CallNo,
    layer: Name,
    /// True where it stands behind everything.
    last: bool,
    estimate: bool,
}

impl DeadMarks {
    pub(super) fn call(&mut self, bench: &Bench, models: &Models, sent: &Sent<'_, '_>) {
        let Some(outcome) = sent.outcome.filter(|_| !bench.marks.is_empty()) else { return };
        let agent = &sent.record.agent;
        // An entry that is read at all is read by the next request, and was written by the one before or by this one.
        let (before, here) = match self.latest.remove(agent) {
            Some((before, here)) => {
                // A conversation that was summed up holds nothing that it held; that is no matter of marks.
                if sent.record.compacted.is_none() {
                    self.dead.extend(dead(bench, models, before.as_ref(), &here, sent.request));
                }
                (Some(here.request), sent.request.clone())
            }
            None => (None, sent.request.clone()),
        };
        self.latest.insert(agent.clone(), (before, Arrived { request: here, estimate: outcome.estimate }));
    }

    pub(super) fn findings(self, bench: &Bench, never_read: &[NeverRead]) -> Vec<Finding> {
        let finding = |dead: Dead| {
            let layer = bench.layer(&dead.layer)?;
            let who = shown(bench, &dead.layer);
            let mut unread = never_read.iter().filter(|unread| unread.call == dead.call);
            let tokens = unread.next().map(|unread| u64::from(unread.tokens));
            let cost = tokens.map_or_else(String::new, |tokens| {
                let sign = if dead.estimate { "~" } else { "" };
                format!(": {sign}{} tokens are written and never read", grouped(tokens))
            });
            let message =
                format!("a cache mark stands behind {who}, which the next request does not hold{cost}");
            let diagnostic = at_layer(bench, &dead.layer, message)
                .hint("let the mark stand behind what is replayed, or keep the text");
            let about = vec![dead.layer.clone()];
            let finding = Finding::in_call(Lint::DeadMark, dead.call, about, tokens, diagnostic);
            Some(finding.fixed_by(fix(bench, layer, dead.last)))
        };
        self.dead.into_iter().filter_map(finding).collect()
    }
}

/// The dead marks of a request, by the one before it and the one behind.
fn dead(
    bench: &Bench,
    models: &Models,
    before: Option<&Request>,
    here: &Arrived,
    next: &Request,
) -> Vec<Dead> {
    let request = &here.request;
    let model = models.get(&request.model);
    if !matches!(model.family, Some(Family::Marked(_) | Family::AutoMarked(_))) {
        return Vec::new();
    }
    let of_mark = |block: usize| {
        let mut others = before.into_iter().chain([next]);
        if others.any(|other| begins_alike(request, other, block)) {
            return None;
        }
        let layer = taken_out(bench, request, next, block)?;
        Some(Dead {
            call: request.call,
            layer: layer.id.clone(),
            last: block + 1 == request.blocks.len(),
            estimate: here.estimate,
        })
    };
    request.marks.iter().filter_map(|mark| of_mark(mark.block)).collect()
}

fn begins_alike(one: &Request, other: &Request, block: usize) -> bool {
    other.blocks.len() > block
        && one.blocks[..=block].iter().zip(&other.blocks).all(|(a, b)| a.hash == b.hash)
}

/// The layer whose text stands behind the last block that both requests begin with and is not there in the next.
fn taken_out<'a>(bench: &'a Bench, request: &Request, next: &Request, mark: usize) -> Option<&'a Layer> {
    let at = (0..=mark)
        .find(|&at| next.blocks.get(at).is_none_or(|block| block.hash != request.blocks[at].hash))?;
    let block = &request.blocks[at];
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
