//! Text that changed, or that tells the time, in front of text that did not.
//!
//! What happened counts: a layer of the system prompt that broke the prefix in this run, and for which something was
//! paid again. Where nothing of that kind happened yet, a layer that tells the time of day is told all the same, if it
//! is made more than once a session: the next turn will show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::run::{Blocks, Latest};
use super::{Finding, Lint, Price, Sent, at_byte, at_key, at_layer, shown};
use crate::core::bench::{Bench, Layer, PlaceKind, Refresh};
use crate::core::cache::{Blame, Family, Models, Verdict, What};
use crate::core::compose::byte_order;
use crate::core::contract::TOOLS;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{FactKey, Name};
use crate::core::fix::{Change, Fix};
use crate::core::run::CallRecord;
use crate::core::text::number::grouped;
use crate::core::text::{Part, Traced};
use crate::core::wire::{Block, CallNo, Zone};

/// What changed in front of what did not, so far.
#[derive(Default)]
pub(super) struct Volatile<'a> {
    /// The first call, with its system prompt.
    first: Option<(&'a CallRecord, Blocks)>,
    /// The system prompt of each conversation's latest call that arrived.
    before: Latest<Blocks>,
    /// By layer what it broke; for the tools likewise.
    broke: BTreeMap<Name, Broke<'a>>,
}

/// The breaks of a layer or of the tools for which something was paid again.
struct Broke<'a> {
    calls: Vec<CallNo>,
    /// The most that was lost in one of them.
    lost: u32,
    /// That call, with the system prompt that it was sent and that of the call before it.
    record: &'a CallRecord,
    now: Blocks,
    before: Blocks,
    /// Where a tool broke the prefix, which one and how.
    tool: Option<Tool>,
}

/// The first tool that is not what it was.
struct Tool {
    part: Name,
    what: What,
    /// True where only the way in which the same is written changed: the order of keys, spaces.
    written: bool,
    /// How many more shared its fate.
    more: usize,
}

impl Tool {
    fn of(blame: &Blame) -> Tool {
        Tool {
            part: blame.part.clone(),
            what: blame.what,
            written: blame.verdict == Verdict::SerialisationOnly,
            more: blame.with_count,
        }
    }
}

impl<'a> Volatile<'a> {
    pub(super) fn call(&mut self, bench: &Bench, models: &Models, sent: &Sent<'a, '_>) {
        let record = sent.record;
        let system = sent.request.zone(Zone::System);
        self.first.get_or_insert_with(|| (record, system.to_vec()));
        let Some(outcome) = sent.outcome else { return };
        if outcome.verdict.is_break()
            && let Some(before) = self.before.get(&record.agent)
        {
            let floor = floor(models, sent);
            let first = outcome.blame.iter().map(|blame| (&**blame, outcome.lost().unwrap_or_default()));
            let behind = outcome.behind.iter().map(|behind| (&*behind.blame, behind.still_lost));
            for (blame, lost) in first.chain(behind).filter(|(_, lost)| *lost > floor) {
                let (about, tool) = match blame.zone {
                    Zone::Tools => (TOOLS.into(), Some(Tool::of(blame))),
                    Zone::System if bench.layer(&blame.part).is_some() => (blame.part.clone(), None),
                    _ => continue,
                };
                let broke = self.broke.entry(about).or_insert_with(|| Broke {
                    calls: Vec::new(),
                    lost: 0,
                    record,
                    now: Vec::new(),
                    before: Vec::new(),
                    tool: None,
                });
                broke.calls.push(record.call);
                if lost > broke.lost {
                    *broke = Broke {
                        calls: std::mem::take(&mut broke.calls),
                        lost,
                        record,
                        now: system.to_vec(),
                        before: before.clone(),
                        tool,
                    };
                }
            }
        }
        self.before.insert(record.agent.clone(), system.to_vec());
    }

    pub(super) fn findings(self, bench: &Bench, price: &mut Price<'_>) -> Vec<Finding> {
        let mut found: Vec<Finding> = self
            .broke
            .iter()
            .filter_map(|(part, broke)| match &broke.tool {
                Some(tool) => Some(tools(bench, tool, broke, price)),
                None => changed(bench, part, broke, price),
            })
            .collect();
        if let Some((record, system)) = &self.first {
            found.extend(clocks(bench, record, system, &self.broke, price));
        }
        found
    }
}

/// What a loss is no more than by rounding: caches that keep whole blocks lose one wherever a prompt ends.
fn floor(models: &Models, sent: &Sent<'_, '_>) -> u32 {
    match &models.get(&sent.request.model).family {
        Some(Family::Block(rules)) => rules.block.value,
        _ => 0,
    }
}

/// A part of a system prompt.
fn part<'b>(system: &'b [Arc<Block>], layer: &str) -> Option<(&'b Traced, &'b Part)> {
    let of_block = |block: &'b Arc<Block>| {
        Some((&block.text, block.text.parts().iter().find(|part| *part.id == *layer)?))
    };
    system.iter().find_map(of_block)
}

/// The text that stands behind a layer in a system prompt and is the same in the one before; how many of its tokens, and
/// the layers.
fn stable(
    system: &[Arc<Block>],
    before: &[Arc<Block>],
    layer: &str,
    price: &mut Price<'_>,
) -> (Option<u64>, Vec<Name>) {
    let mut behind = false;
    let (mut tokens, mut layers) = (Some(0), Vec::new());
    for block in system {
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

fn changed(bench: &Bench, id: &Name, broke: &Broke<'_>, price: &mut Price<'_>) -> Option<Finding> {
    let layer = bench.layer(id)?;
    let (tokens, others) = stable(&broke.now, &broke.before, id, price);
    let who = shown(bench, id);
    let sign = price.method.sign();
    let stood = match (tokens, others.is_empty()) {
        (_, true) => "in front of the whole conversation, which did not".to_owned(),
        (Some(tokens), false) => {
            format!("in front of {sign}{} tokens of the system prompt that did not", grouped(tokens))
        }
        (None, false) => "in front of text of the system prompt that did not".to_owned(),
    };
    let lost = grouped(u64::from(broke.lost));
    let message = format!("{who} changes {stood}: up to {sign}{lost} tokens are paid again");
    let diagnostic = match (part(&broke.now, id), part(&broke.before, id)) {
        (Some((text, now)), Some((old, then))) => {
            let same = text[now].bytes().zip(old[then].bytes()).take_while(|(a, b)| a == b).count();
            at_byte(bench, text, now, (now.body + same).min(now.end.saturating_sub(1)), message)
        }
        _ => at_layer(bench, id, message),
    };
    let diagnostic =
        diagnostic.hint("caches hold prefixes: what changes goes behind what stays, or is made less often");
    Some(finding(id, broke, diagnostic).fixed_by(fixes(bench, layer, broke.record, &broke.now)))
}

/// Tools that changed, came, went or stand elsewhere: providers put tools in front of everything.
fn tools(bench: &Bench, tool: &Tool, broke: &Broke<'_>, price: &Price<'_>) -> Finding {
    let (does, hint) = match tool.what {
        _ if tool.written => (
            "written otherwise, though it says the same",
            "write schemas out with their keys in one order, always the same",
        ),
        What::Moved => (
            "elsewhere in their list",
            "give the tools in the same order in every call: sort them, or keep the list",
        ),
        What::Changed => {
            ("described otherwise", "what changes belongs into a message; the description stays as it is")
        }
        What::Appeared => {
            ("new", "give all tools from the first call on, and refuse in the result what is not allowed yet")
        }
        What::Disappeared => {
            ("gone", "keep it in the list, and refuse in the result what is not allowed any more")
        }
    };
    let (sign, lost) = (price.method.sign(), grouped(u64::from(broke.lost)));
    let who = match tool.more {
        0 => format!("{} is", tool.part),
        more => format!("{} and {more} more are", tool.part),
    };
    let message = format!(
        "the tools change in front of everything, {who} {does}: up to {sign}{lost} tokens are paid again"
    );
    finding(&TOOLS.into(), broke, at_key(bench, "tools", message).hint(hint))
}

fn finding(about: &Name, broke: &Broke<'_>, diagnostic: Diagnostic) -> Finding {
    let (call, tokens) = (broke.record.call, Some(u64::from(broke.lost)));
    let finding = Finding::in_call(Lint::VolatileFirst, call, vec![about.clone()], tokens, diagnostic);
    let mut calls = broke.calls.clone();
    calls.dedup();
    Finding { calls, ..finding }
}

/// A layer goes to the end of its place, or into a message, or is made once a session.
fn fixes(bench: &Bench, layer: &Layer, record: &CallRecord, system: &[Arc<Block>]) -> Vec<Fix> {
    let who = shown(bench, &layer.id);
    let mut fixes = Vec::new();
    let order = byte_order(bench, &layer.place);
    let last = order
        .iter()
        .rev()
        .map(|&index| &bench.layers[index])
        .find(|other| record.layer(&other.id).is_some_and(|state| state.state.piece.text().is_some()));
    if let Some(last) = last.filter(|last| last.id != layer.id) {
        fixes.push(Fix::new(
            format!("move {who} behind {}", shown(bench, &last.id)),
            [Change::Behind(layer.id.clone(), last.id.clone())],
        ));
    }
    // A remark can be made in a message; what makes up much of the prompt is none.
    let kind = if layer.refresh == Refresh::Call { PlaceKind::NewestTool } else { PlaceKind::CurrentUser };
    let place = bench.places.values().find(|place| place.kind == kind && place.id != layer.place);
    if let Some(place) = place.filter(|_| is_small(system, &layer.id)) {
        let to = place.id.clone();
        fixes.push(Fix::new(format!("let {who} go to {to}"), [Change::Place(layer.id.clone(), to)]));
    }
    if layer.refresh != Refresh::Session {
        let said = format!("make {who} once a session, so that it tells no change any more");
        fixes.push(Fix::new(said, [Change::Refresh(layer.id.clone(), Refresh::Session)]));
    }
    fixes
}

/// True for a part of a system prompt that makes up less than a fifth of it.
fn is_small(system: &[Arc<Block>], layer: &str) -> bool {
    let all: usize = system.iter().map(|block| block.text.len()).sum();
    part(system, layer).is_some_and(|(_, part)| (part.end - part.start) * 5 < all)
}

/// Layers that tell the time of day in front of others.
fn clocks(
    bench: &Bench,
    record: &CallRecord,
    system: &[Arc<Block>],
    broke: &BTreeMap<Name, Broke<'_>>,
    price: &mut Price<'_>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for block in system {
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
            let (tokens, others) = stable(system, system, &layer.id, price);
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
                record.call,
                vec![layer.id.clone()],
                tokens,
                diagnostic,
            );
            found.push(finding.fixed_by(fixes(bench, layer, record, system)));
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
