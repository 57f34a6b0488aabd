//! A layer or a place that is larger than its author allows it.

use std::sync::Arc;

use super::{Finding, Lint, Price, Subject, at_layer, shown};
use crate::core::bench::{Budget, BudgetUnit};
use crate::core::compose::{byte_order, join};
use crate::core::diagnostic::Diagnostic;
use crate::core::text::number::grouped;
use crate::core::text::{Traced, count};

pub(super) fn check(subject: &Subject<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    let bench = subject.bench;
    let mut found = Vec::new();
    for layer in &bench.layers {
        let Some(budget) = layer.budget else { continue };
        let state = subject.record.layer(&layer.id);
        let Some(text) = state.and_then(|state| state.state.piece.text()) else { continue };
        let Some((message, tokens)) = over(budget, text.text(), &shown(bench, &layer.id), price) else {
            continue;
        };
        let diagnostic = at_layer(bench, &layer.id, message)
            .hint("shorten it, cut it with `cap`, or allow it more with `budget`");
        found.push(Finding::new(Lint::Budget, subject, vec![layer.id.clone()], tokens, diagnostic));
    }
    for place in bench.places.values() {
        let Some(budget) = place.allowed else { continue };
        let pieces = byte_order(bench, &place.id).into_iter().filter_map(|index| {
            let state = subject.record.layer(&bench.layers[index].id)?;
            state.state.piece.text().cloned()
        });
        let text: Traced = join(place, pieces);
        let name = format!("the place {}", place.id);
        let Some((message, tokens)) = over(budget, text.text(), &name, price) else { continue };
        let source = &bench.source;
        let diagnostic = Diagnostic::warning(message)
            .at(source.name.clone(), &source.text, place.at)
            .hint("`plywood layers` lists what stands in it; allow it more with `budget`");
        found.push(Finding::new(Lint::Budget, subject, vec![place.id.clone()], tokens, diagnostic));
    }
    found
}

/// What is said of a text that is over its budget, and the tokens behind its limit.
fn over(budget: Budget, text: &Arc<str>, name: &str, price: &mut Price<'_>) -> Option<(String, Option<u64>)> {
    let limit = budget.limit as u64;
    match budget.unit {
        BudgetUnit::Chars => {
            let chars = count::chars(text) as u64;
            if chars <= limit {
                return None;
            }
            let at = text.char_indices().nth(budget.limit).map_or(text.len(), |(at, _)| at);
            let tokens =
                price.tokens(text).zip(price.tokens(&text[..at])).map(|(all, kept)| all.saturating_sub(kept));
            let cost = match price.words(tokens) {
                words if words.is_empty() => words,
                words => format!(", {words}"),
            };
            let message = format!(
                "{name} has {} characters, {} more than its budget of {}{cost}",
                grouped(chars),
                grouped(chars - limit),
                grouped(limit)
            );
            Some((message, tokens))
        }
        BudgetUnit::Tokens => {
            let tokens = price.tokens(text)?;
            if tokens <= limit {
                return None;
            }
            let sign = price.method.sign();
            let message = format!(
                "{name} has {}, {sign}{} more than its budget of {}",
                price.words(Some(tokens)),
                grouped(tokens - limit),
                grouped(limit)
            );
            Some((message, Some(tokens - limit)))
        }
    }
}
