//! The sentences of a comparison, computed from its numbers.

use std::sync::Arc;

use super::{Comparison, Row};
use crate::core::bench::Bench;
use crate::core::cache::{Models, Money};
use crate::core::fact::Name;
use crate::core::text::number::grouped;
use crate::core::tokens::Method;

/// The price of 1,000 runs in dollars: `64.38`.
fn of_1000(cost: Money) -> String {
    (cost * 1_000).decimals(2)
}

/// How the numbers of each model were got, and what is not known.
pub(super) fn notes(comparison: &Comparison, known: &Models) -> Vec<Arc<str>> {
    let mut out = Vec::new();
    for id in &comparison.models {
        let model = known.get(id);
        let tokens = match &model.method {
            Method::Exact { encoding } => format!("{}, exact", encoding.name()),
            Method::Estimate { base, factor, error } => {
                format!("~ estimate, {} x{factor:.2} +-{:.0} %", base.name(), error * 100.0)
            }
            Method::Unknown { reason } => format!("n/a: {reason}"),
        };
        let cache = model.cache_phrase().unwrap_or_else(|| format!("n/a: no cache rules for {id}"));
        let mut note = format!("{}: {cache}; {tokens}", model.short());
        if let Some(share) = &model.reliability {
            note.push_str(&format!(
                "; documented maximum, of which real traffic reads about {:.0} %",
                share.value * 100.0
            ));
        }
        // Of which day the price is changes nothing of whether there is one.
        match model.price_at(0, 0) {
            None => note.push_str(&format!("; n/a: no price for {id}")),
            Some(price) => {
                if let Some(currency) = price.currency {
                    note.push_str(&format!("; n/a: no price in dollars for {id}, only in {currency}"));
                }
            }
        }
        out.push(note.into());
    }
    out
}

/// What is said of the bench as it is written.
pub(super) fn verdict(comparison: &Comparison, bench: &Bench, base: &Row, short: &[Name]) -> Vec<Arc<str>> {
    let name = comparison.name(bench, base);
    let mut out: Vec<Arc<str>> = Vec::new();
    let Some(model) = (0..short.len()).find(|&model| base.sum(model, None).lost.is_some()) else {
        return vec!["n/a: no cache rules for any of these models".into()];
    };
    let sign = |row: &Row| if row.sum(model, None).estimate { "~" } else { "" };
    let at_once = comparison.at_once().filter(|row| row.names != base.names);
    let moved = at_once.and_then(|row| {
        let (then, now) = (row.first_loss(model, None)?, base.first_loss(model, None)?);
        (then < now).then_some((row, then, now))
    });
    match (moved, base.first_loss(model, None)) {
        (Some((row, then, now)), _) => {
            out.push(
                format!(
                    "\"{name}\" does not avoid the break, it moves it from call {} to call {} ({}):",
                    then.0, now.0, short[model]
                )
                .into(),
            );
            let other = comparison.name(bench, row);
            let price = |row: &Row, turns: Option<u32>| row.sum(model, turns).cost.map(of_1000);
            let turns = base.turns();
            let both = if turns == 2 { "Both turns".to_owned() } else { format!("All {turns} turns") };
            let whole = price(base, None).zip(price(row, None));
            let first = price(base, Some(1)).zip(price(row, Some(1)));
            if let (Some((ours, theirs)), Some((our_first, their_first))) = (whole, first) {
                let about = sign(base);
                out.push(
                    format!(
                        "turn 1 only: {name} {about}{our_first}, {other} {about}{their_first}. {both}: {about}{ours} and \
                         {about}{theirs}."
                    )
                    .into(),
                );
            }
        }
        (None, Some(call)) => {
            let lost = base.sum(model, None).lost.unwrap_or_default();
            out.push(
                format!(
                    "\"{name}\" pays {}{} tokens again on {}, the first of them in call {}.",
                    sign(base),
                    grouped(lost),
                    short[model],
                    call.0
                )
                .into(),
            );
        }
        (None, None) => {
            let others: Vec<String> = (0..short.len())
                .filter(|&other| other != model)
                .filter_map(|other| {
                    let sum = base.sum(other, None);
                    let about = if sum.estimate { "~" } else { "" };
                    let lost = sum.lost.filter(|lost| *lost > 0)?;
                    Some(format!("{about}{} on {}", grouped(lost), short[other]))
                })
                .collect();
            let others =
                if others.is_empty() { String::new() } else { format!(", but {}", others.join(", ")) };
            out.push(format!("\"{name}\" pays nothing again on {}{others}.", short[model]).into());
        }
    }
    out.extend(hidden(comparison, bench, base, model, &short[model]));
    let told = base.told(None);
    if !told.is_honest() {
        out.push(format!("The model is told wrongly in {}.", believed(told.stale, told.untold)).into());
    }
    out
}

/// That a second break stands behind the first: what takes the first one away alone still loses, and only with another way
/// beside it less.
fn hidden(
    comparison: &Comparison,
    bench: &Bench,
    base: &Row,
    model: usize,
    short: &Name,
) -> Option<Arc<str>> {
    let pair = comparison.best_pair().filter(|_| comparison.is_done())?;
    let [one, other] = pair.names.as_slice() else { return None };
    let alone = |name: &Name| comparison.rows.iter().find(|row| row.names == [name.clone()]);
    let (one, other) = (alone(one)?, alone(other)?);
    // The one that takes more away is what one would do first.
    let lost = |row: &Row| row.sum(model, None).lost;
    let (first, second) = if lost(one)? <= lost(other)? { (one, other) } else { (other, one) };
    let (whole, rest, both) = (lost(base)?, lost(first)?, lost(pair)?);
    if !(both < rest && rest < whole) {
        return None;
    }
    let about = if base.sum(model, None).estimate { "~" } else { "" };
    let n = |lost: u64| if lost == 0 { "nothing".to_owned() } else { format!("{about}{}", grouped(lost)) };
    Some(
        format!(
            "A second break hides behind the first: \"{}\" alone still pays {} again on {short}; with \"{}\" beside it, {}.",
            comparison.name(bench, first),
            n(rest),
            comparison.name(bench, second),
            n(both)
        )
        .into(),
    )
}

fn believed(stale: u32, untold: u32) -> String {
    let calls = |n: u32| if n == 1 { "1 call".to_owned() } else { format!("{n} calls") };
    let parts = [(stale, "stale"), (untold, "untold")].into_iter().filter(|(n, _)| *n > 0);
    parts.map(|(n, word)| format!("{} ({word})", calls(n))).collect::<Vec<_>>().join(" and ")
}

/// What is said of the row that costs least: how much less on each model, for how much more context, and what it gives
/// up.
pub(super) fn least(base: &Row, least: &Row, short: &[Name], counted: usize) -> Vec<Arc<str>> {
    if least.names == base.names {
        return vec!["no other way that leaves nothing stale and nothing untold costs less".into()];
    }
    let mut parts = Vec::new();
    for (model, short) in short.iter().enumerate() {
        let (old, new) = (base.sum(model, None), least.sum(model, None));
        let about = if new.estimate { "~" } else { "" };
        parts.push(match (old.cost, new.cost) {
            (Some(old), Some(new)) if new < old => {
                let saved = old.saturating_sub(new);
                let share = 100.0 * saved.dollars() / old.dollars();
                format!("{about}{} less on {short} ({share:.0} %)", of_1000(saved))
            }
            (Some(old), Some(new)) if new > old => {
                format!("{about}{} more on {short}", of_1000(new.saturating_sub(old)))
            }
            (Some(_), Some(_)) => format!("the same on {short}"),
            _ => match (old.lost, new.lost) {
                (Some(old), Some(new)) => {
                    format!("{about}{} instead of {about}{} lost on {short}", grouped(new), grouped(old))
                }
                _ => continue,
            },
        });
    }
    let mut out: Vec<Arc<str>> = vec![format!("row * costs per 1,000 runs {}.", parts.join(", ")).into()];
    let (old, new) = (base.sum(counted, None), least.sum(counted, None));
    let new_estimate = new.estimate;
    let mut price = Vec::new();
    if let (Some(old), Some(new), Some(call)) = (old.last, new.last, least.calls.last()) {
        let call = call.call.0;
        let about = if new_estimate { "~" } else { "" };
        price.push(match new.cmp(&old) {
            std::cmp::Ordering::Greater => {
                format!("Price: {about}{} tokens more context at call {call}.", grouped(u64::from(new - old)))
            }
            std::cmp::Ordering::Less => {
                format!("{about}{} tokens less context at call {call}.", grouped(u64::from(old - new)))
            }
            std::cmp::Ordering::Equal => format!("No more context at call {call}."),
        });
    }
    let superseded = least.told(None).superseded;
    price.push(match superseded {
        0 => "Nothing stale, nothing untold.".to_owned(),
        1 => "Nothing stale, nothing untold; superseded in 1 call.".to_owned(),
        n => format!("Nothing stale, nothing untold; superseded in {n} calls."),
    });
    out.push(price.join(" ").into());
    out
}
