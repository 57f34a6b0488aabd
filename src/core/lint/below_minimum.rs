//! A mark, or a whole run, that stays below the minimum of the model's cache.
//!
//! A mark that does nothing is always told: somebody put it there. A run without marks is told where it comes near the
//! minimum and stays below.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::run::Blocks;
use super::{Finding, Lint, Price, Sent, at_key};
use crate::core::bench::Bench;
use crate::core::cache::{Family, Models};
use crate::core::diagnostic::Diagnostic;
use crate::core::text::number::grouped;
use crate::core::wire::{Block, BlockKind, CallNo, Zone};

/// How long what is marked, and the requests themselves, are in a run, so far.
#[derive(Default)]
pub(super) struct Minimums {
    /// By zone, its marks.
    marks: BTreeMap<&'static str, Seen>,
    /// True where what a mark covers cannot be counted.
    unknown: bool,
    /// The calls whose length is known, and the longest.
    calls: Vec<CallNo>,
    most: u32,
}

/// What is known of the marks of one zone.
#[derive(Default)]
struct Seen {
    calls: Vec<CallNo>,
    /// The most tokens that such a mark covers.
    most: u64,
    /// What the latest of them covers, so that the same is not counted again.
    covered: Blocks,
}

/// The minimum of a model, and whether marks decide what it stores.
fn rule(models: &Models, model: &str) -> Option<(u32, bool)> {
    match &models.get(&model.into()).family {
        Some(Family::Marked(rules)) => Some((rules.min.value, true)),
        Some(Family::AutoMarked(rules)) => Some((rules.min.value, true)),
        Some(Family::Block(rules)) => Some((rules.min.value, false)),
        Some(Family::Units(rules)) => Some((rules.min.value, false)),
        _ => None,
    }
}

impl Minimums {
    pub(super) fn call(
        &mut self,
        bench: &Bench,
        models: &Models,
        sent: &Sent<'_, '_>,
        price: &mut Price<'_>,
    ) {
        if let Some(tokens) = sent.outcome.and_then(|outcome| outcome.sent) {
            self.calls.push(sent.record.call);
            self.most = self.most.max(tokens);
        }
        let request = sent.request;
        if request.model != bench.model || !rule(models, &request.model).is_some_and(|(_, marked)| marked) {
            return;
        }
        for mark in &request.marks {
            // Marks behind messages come to stand behind more and more of them.
            let Some(place) = request.blocks.get(mark.block).and_then(|block| zone(block.kind)) else {
                continue;
            };
            let seen = self.marks.entry(place).or_default();
            seen.calls.push(sent.record.call);
            let covered = &request.blocks[..=mark.block];
            let same = |(a, b): (&Arc<Block>, &Arc<Block>)| a.hash == b.hash;
            if seen.covered.len() == covered.len() && seen.covered.iter().zip(covered).all(same) {
                continue;
            }
            let tokens: Option<u64> = covered.iter().map(|block| price.tokens(block.text.text())).sum();
            seen.covered = covered.to_vec();
            match tokens {
                Some(tokens) => seen.most = seen.most.max(tokens),
                None => self.unknown = true,
            }
        }
    }

    pub(super) fn findings(self, bench: &Bench, models: &Models, price: &Price<'_>) -> Vec<Finding> {
        let Some((min, marked)) = rule(models, &bench.model) else { return Vec::new() };
        let (model, sign) = (models.get(&bench.model), price.method.sign());
        if marked {
            if self.unknown {
                return Vec::new();
            }
            let short = self.marks.into_iter().filter(|(_, seen)| seen.most < u64::from(min));
            return short
                .map(|(place, seen)| {
                    let message = format!(
                        "the mark behind {place} covers {sign}{} tokens, and {} stores nothing below {}",
                        grouped(seen.most),
                        model.short(),
                        grouped(u64::from(min))
                    );
                    let diagnostic = at_key(bench, "marks", message)
                        .hint("it does nothing, and nobody says so: let it stand further behind");
                    finding(seen.calls, place, diagnostic)
                })
                .collect();
        }
        // With one call nothing could have been read anyway, and a prompt far from the minimum is a small prompt.
        if self.calls.len() < 2 || self.most >= min || self.most < min / 2 {
            return Vec::new();
        }
        let message = format!(
            "the longest request has {sign}{} tokens, and {} reads nothing below {}",
            grouped(u64::from(self.most)),
            model.short(),
            grouped(u64::from(min))
        );
        let diagnostic = at_key(bench, "model", message).hint("every call is paid in full");
        vec![finding(self.calls, "request", diagnostic)]
    }
}

fn zone(kind: BlockKind) -> Option<&'static str> {
    match kind.zone() {
        Zone::Tools => Some("the tools"),
        Zone::System => Some("the system prompt"),
        Zone::Messages => None,
    }
}

fn finding(calls: Vec<CallNo>, about: &str, diagnostic: Diagnostic) -> Finding {
    let about = about.trim_start_matches("the ").into();
    let first = calls.first().copied().unwrap_or_default();
    Finding { calls, ..Finding::in_call(Lint::BelowMinimum, first, vec![about], None, diagnostic) }
}
