//! A mark, or a whole run, that stays below the minimum of the model's cache.
//!
//! A mark that does nothing is always told: somebody put it there. A run without marks is told where it comes near the
//! minimum and stays below.

use std::collections::BTreeMap;

use super::{Finding, Lint, Price, Run, at_key};
use crate::core::cache::Family;
use crate::core::text::number::grouped;
use crate::core::wire::{BlockKind, CallNo, Zone};

/// What is known of the marks of one zone over a run.
#[derive(Default)]
struct Seen {
    calls: Vec<CallNo>,
    /// The most tokens that such a mark covers.
    most: u64,
}

pub(super) fn check(run: &Run<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    let model = run.models.get(&run.bench.model);
    let sign = price.method.sign();
    let (marked, min) = match &model.family {
        Some(Family::Marked(rules)) => (true, rules.min.value),
        Some(Family::AutoMarked(rules)) => (true, rules.min.value),
        Some(Family::Block(rules)) => (false, rules.min.value),
        Some(Family::Units(rules)) => (false, rules.min.value),
        _ => return Vec::new(),
    };
    match marked {
        true => {
            let min = u64::from(min);
            let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
            for sent in run.calls.iter().filter(|sent| sent.request.model == model.id) {
                for mark in &sent.request.marks {
                    // Marks behind messages come to stand behind more and more of them.
                    let Some(place) = sent.request.blocks.get(mark.block).and_then(|block| zone(block.kind))
                    else {
                        continue;
                    };
                    let covered = &sent.request.blocks[..=mark.block];
                    let tokens: Option<u64> =
                        covered.iter().map(|block| price.tokens(block.text.text())).sum();
                    let Some(tokens) = tokens else { return Vec::new() };
                    let known = seen.entry(place).or_default();
                    known.calls.push(sent.record.call);
                    known.most = known.most.max(tokens);
                }
            }
            let short = seen.into_iter().filter(|(_, seen)| seen.most < min);
            short
                .map(|(place, seen)| {
                    let message = format!(
                        "the mark behind {place} covers {sign}{} tokens, and {} stores nothing below {}",
                        grouped(seen.most),
                        model.short(),
                        grouped(min)
                    );
                    let diagnostic = at_key(run.bench, "marks", message)
                        .hint("it does nothing, and nobody says so: let it stand further behind");
                    finding(seen.calls, place, diagnostic)
                })
                .collect()
        }
        false => {
            let sent: Vec<_> =
                run.calls.iter().filter_map(|sent| Some((sent.record.call, sent.outcome?.sent?))).collect();
            let Some(most) = sent.iter().map(|(_, tokens)| *tokens).max().filter(|most| *most < min) else {
                return Vec::new();
            };
            // With one call nothing could have been read anyway, and a prompt far from the minimum is a small prompt.
            if sent.len() < 2 || most < min / 2 {
                return Vec::new();
            }
            let message = format!(
                "the longest request has {sign}{} tokens, and {} reads nothing below {}",
                grouped(u64::from(most)),
                model.short(),
                grouped(u64::from(min))
            );
            let diagnostic = at_key(run.bench, "model", message).hint("every call is paid in full");
            vec![finding(sent.into_iter().map(|(call, _)| call).collect(), "request", diagnostic)]
        }
    }
}

fn zone(kind: BlockKind) -> Option<&'static str> {
    match kind.zone() {
        Zone::Tools => Some("the tools"),
        Zone::System => Some("the system prompt"),
        Zone::Messages => None,
    }
}

fn finding(calls: Vec<CallNo>, about: &str, diagnostic: crate::core::diagnostic::Diagnostic) -> Finding {
    let about = about.trim_start_matches("the ").into();
    let first = calls.first().copied().unwrap_or_default();
    Finding { calls, ..Finding::in_call(Lint::BelowMinimum, first, vec![about], None, diagnostic) }
}
