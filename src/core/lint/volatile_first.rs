//! Text that changed, or that tells the time, in front of text that did not.
//!
//! What happened counts: a layer of the system prompt that broke the prefix in this run, and for which something was
//! paid again. Where nothing of that kind happened yet, a layer that tells the time of day is told all the same, if it
//! is made more than once a session: the next turn will show it.

use std::collections::BTreeMap;

use super::{Finding, Lint, Price, Run, Sent, at_byte, at_layer, shown};
use crate::core::bench::{Layer, Refresh};
use crate::core::cache::{Blame, Family};
use crate::core::compose::byte_order;
use crate::core::fact::{FactKey, Name};
use crate::core::fix::{Change, Fix};
use crate::core::text::number::grouped;
use crate::core::text::{Part, Traced};
use crate::core::wire::{CallNo, Zone};

pub(super) fn check(run: &Run<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    // By layer: the calls in which something was lost for it, with how much, the worst first seen.
    let mut broke: BTreeMap<Name, Vec<(usize, u32)>> = BTreeMap::new();
    for (index, sent) in run.calls.iter().enumerate() {
        let Some(outcome) = sent.outcome.filter(|outcome| outcome.verdict.is_break()) else { continue };
        let first = outcome.blame.iter().map(|blame| (&**blame, outcome.lost().unwrap_or_default()));
        let behind = outcome.behind.iter().map(|behind| (&*behind.blame, behind.still_lost));
        let floor = floor(run, sent);
        for (blame, lost) in
            first.chain(behind).filter(|(blame, lost)| *lost > floor && of_system(run, blame))
        {
            broke.entry(blame.part.clone()).or_default().push((index, lost));
        }
    }
    let mut found: Vec<Finding> =
        broke.iter().filter_map(|(layer, calls)| changed(run, layer, calls, price)).collect();
    if let Some(first) = run.calls.first() {
        found.extend(clocks(run, first, &broke, price));
    }
    found
}

/// What a loss is no more than by rounding: caches that keep whole blocks lose one wherever a prompt ends.
fn floor(run: &Run<'_>, sent: &Sent<'_>) -> u32 {
    match &run.models.get(&sent.request.model).family {
        Some(Family::Block(rules)) => rules.block.value,
        _ => 0,
    }
}

fn of_system(run: &Run<'_>, blame: &Blame) -> bool {
    blame.zone == Zone::System && run.bench.layer(&blame.part).is_some()
}

/// A part of the system prompt of a request.
fn part<'a>(sent: &Sent<'a>, layer: &str) -> Option<(&'a Traced, &'a Part)> {
    let blocks = sent.request.zone(Zone::System);
    blocks
        .iter()
        .find_map(|block| Some((&block.text, block.text.parts().iter().find(|part| *part.id == *layer)?)))
}

/// The text that stands behind a layer in the system prompt and is the same in the request before; how many of its
/// tokens, and the layers.
fn stable(
    sent: &Sent<'_>,
    before: &Sent<'_>,
    layer: &str,
    price: &mut Price<'_>,
) -> (Option<u64>, Vec<Name>) {
    let mut behind = false;
    let (mut tokens, mut layers) = (Some(0), Vec::new());
    for block in sent.request.zone(Zone::System) {
        for part in block.text.parts() {
            if *part.id == *layer {
                behind = true;
            } else if behind
                && self::part(before, &part.id).is_some_and(|(text, old)| text[old] == block.text[part])
            {
                tokens = tokens.zip(price.tokens(&block.text[part])).map(|(sum, more)| sum + more);
                layers.push(part.id.clone());
            }
        }
    }
    (tokens, layers)
}

fn changed(run: &Run<'_>, id: &Name, calls: &[(usize, u32)], price: &mut Price<'_>) -> Option<Finding> {
    let bench = run.bench;
    let layer = bench.layer(id)?;
    let &(worst, lost) = calls.iter().max_by_key(|(_, lost)| *lost)?;
    let sent = &run.calls[worst];
    let before = run.before(worst)?;
    let (tokens, others) = stable(sent, before, id, price);
    let who = shown(bench, id);
    let sign = price.method.sign();
    let stood = match (tokens, others.is_empty()) {
        (_, true) => "in front of the whole conversation, which did not".to_owned(),
        (Some(tokens), false) => {
            format!("in front of {sign}{} tokens of the system prompt that did not", grouped(tokens))
        }
        (None, false) => "in front of text of the system prompt that did not".to_owned(),
    };
    let message =
        format!("{who} changes {stood}: up to {sign}{} tokens are paid again", grouped(u64::from(lost)));
    let diagnostic = match (part(sent, id), part(before, id)) {
        (Some((text, now)), Some((old, then))) => {
            let same = text[now].bytes().zip(old[then].bytes()).take_while(|(a, b)| a == b).count();
            at_byte(bench, text, now, (now.body + same).min(now.end.saturating_sub(1)), message)
        }
        _ => at_layer(bench, id, message),
    };
    let diagnostic =
        diagnostic.hint("caches hold prefixes: what changes goes behind what stays, or is made less often");
    let mut finding = Finding::in_call(
        Lint::VolatileFirst,
        sent.record.call,
        vec![id.clone()],
        Some(u64::from(lost)),
        diagnostic,
    );
    finding.calls = calls.iter().map(|(index, _)| run.calls[*index].record.call).collect::<Vec<CallNo>>();
    finding.calls.dedup();
    Some(finding.fixed_by(fixes(run, layer, sent)))
}

/// A layer goes to the end of its place, or is made once a session.
fn fixes(run: &Run<'_>, layer: &Layer, sent: &Sent<'_>) -> Vec<Fix> {
    let bench = run.bench;
    let who = shown(bench, &layer.id);
    let mut fixes = Vec::new();
    let order = byte_order(bench, &layer.place);
    let last =
        order.iter().rev().map(|&index| &bench.layers[index]).find(|other| {
            sent.record.layer(&other.id).is_some_and(|state| state.state.piece.text().is_some())
        });
    if let Some(last) = last.filter(|last| last.id != layer.id) {
        fixes.push(Fix::new(
            format!("move {who} behind {}", shown(bench, &last.id)),
            [Change::Behind(layer.id.clone(), last.id.clone())],
        ));
    }
    if layer.refresh != Refresh::Session {
        let said = format!("make {who} once a session");
        fixes.push(Fix::new(said, [Change::Refresh(layer.id.clone(), Refresh::Session)]));
    }
    fixes
}

/// Layers that tell the time of day in front of others.
fn clocks(
    run: &Run<'_>,
    first: &Sent<'_>,
    broke: &BTreeMap<Name, Vec<(usize, u32)>>,
    price: &mut Price<'_>,
) -> Vec<Finding> {
    let bench = run.bench;
    let mut found = Vec::new();
    for block in first.request.zone(Zone::System) {
        for part in block.text.parts() {
            let Some(layer) = bench.layer(&part.id).filter(|layer| {
                matches!(layer.refresh, Refresh::Turn | Refresh::Call) && !broke.contains_key(&layer.id)
            }) else {
                continue;
            };
            let reads_clock = part.reads.0.keys().any(|key| match key {
                FactKey::Named(name) | FactKey::Environment(name) => &**name == "now",
                _ => false,
            });
            let Some(at) = reads_clock.then(|| time_of_day(&block.text, part)).flatten() else { continue };
            let (tokens, others) = stable(first, first, &layer.id, price);
            if others.is_empty() {
                continue;
            }
            let who = shown(bench, &layer.id);
            let how_often = if layer.refresh == Refresh::Call { "call" } else { "turn" };
            let behind = tokens.map_or_else(String::new, |tokens| {
                format!("{}{} tokens of ", price.method.sign(), grouped(tokens))
            });
            let message = format!(
                "{who} tells the time in front of {behind}the system prompt: they change with every {how_often}"
            );
            let diagnostic = at_byte(bench, &block.text, part, at, message)
                .hint("tell the day only, or let it stand behind what stays");
            let finding = Finding::in_call(
                Lint::VolatileFirst,
                first.record.call,
                vec![layer.id.clone()],
                tokens,
                diagnostic,
            );
            found.push(finding.fixed_by(fixes(run, layer, first)));
        }
    }
    found
}

/// Where a part names a time of day that is not written in its source: `09:00`, `T01:00:00.000Z`.
fn time_of_day(text: &Traced, part: &Part) -> Option<usize> {
    use crate::core::text::Made;
    let made = text.ranges().filter(|(range, span)| {
        range.start >= part.body
            && range.end <= part.end
            && matches!(span.origin.made, Made::Derived { .. } | Made::Fact { .. })
    });
    let mut made = made.map(|(range, _)| range);
    made.find_map(|range| {
        let bytes = text.text()[range.clone()].as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let time = |at: usize| {
            bytes[at] == b':' && at >= 2 && digit(at - 2) && digit(at - 1) && digit(at + 1) && digit(at + 2)
        };
        (0..bytes.len()).any(time).then_some(range.start)
    })
}
