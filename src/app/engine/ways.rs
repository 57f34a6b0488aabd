//! "Tell it another way": every variant of the bench on the same run.

use std::sync::Arc;

use super::control::{Options, adjusted};
use super::edge::Edge;
use super::numbers::{Counters, Numbers};
use crate::app::snapshot::{WayOutcome, WayRow};
use crate::core::cache::{Lane, Models};
use crate::core::fact::Name;
use crate::core::run::{Belief, Player, Session};
use crate::core::text::number::grouped;

/// A variant, run.
#[derive(Clone, Debug)]
pub struct Way {
    /// The variants, in order.
    pub variants: Vec<Name>,
    /// What came of it.
    pub outcome: WayOutcome,
}

/// Pairs of variants are tried only for runs up to this many calls and benches up to this many variants: they are a
/// suggestion, and the workbench has to stay at hand.
const PAIRS: (u32, usize) = (60, 12);

/// Counts what a session has come to.
#[must_use]
pub fn outcome(session: &Session, models: &Arc<Models>, counters: &mut Counters) -> WayOutcome {
    let mut numbers = Numbers::new(models.clone(), [Lane::AsSent]);
    numbers.extend(session, false, counters);
    let totals = numbers.totals(0);
    let mut way = WayOutcome::default();
    for record in session.calls() {
        let has = |belief: Belief| u32::from(record.told.iter().any(|told| told.belief == belief));
        way.stale += has(Belief::Stale);
        way.superseded += has(Belief::Superseded);
        way.untold += has(Belief::Untold);
    }
    way.lost = (totals.unknown == 0).then_some(totals.lost);
    way.per_1000 = (totals.unpriced == 0).then(|| totals.cost.dollars() * 1000.0);
    way.estimate = totals.estimates > 0;
    way
}

/// Runs the player's script and live inputs on a variant, to the end.
pub fn run(
    player: &Player,
    variants: &[Name],
    options: &Options,
    edge: &mut dyn Edge,
    models: &Arc<Models>,
    counters: &mut Counters,
) -> Way {
    let failed = |reason: String| WayOutcome { failed: Some(reason.into()), ..WayOutcome::default() };
    let outcome = match edge.bench(variants) {
        Err(problems) => failed(problems.first().map_or_else(String::new, |problem| problem.message.clone())),
        Ok((bench, _)) => match player.rebuild(
            adjusted(bench, options),
            crate::core::wire::CallNo(u32::MAX),
            &mut AsLoad(edge),
        ) {
            Err(refused) => failed(refused.to_string()),
            Ok(player) => outcome(player.session(), models, counters),
        },
    };
    Way { variants: variants.to_vec(), outcome }
}

/// An edge as a loader.
pub(super) struct AsLoad<'a>(pub(super) &'a mut dyn Edge);

impl crate::core::run::Load for AsLoad<'_> {
    fn load(
        &mut self,
        keys: &[crate::core::fact::FactKey],
    ) -> Vec<(crate::core::fact::FactKey, crate::core::fact::Found)> {
        self.0.load(keys)
    }
}

/// The sets of variants to try: the bench as it is written, then each variant.
#[must_use]
pub(super) fn singles(names: &[Name]) -> Vec<Vec<Name>> {
    std::iter::once(Vec::new()).chain(names.iter().map(|name| vec![name.clone()])).collect()
}

/// The pairs worth trying, once the single ones are known: of two variants that each leave something lost, where both
/// could be run.
#[must_use]
pub(super) fn pairs(ways: &[Way], calls: u32) -> Vec<Vec<Name>> {
    let singles: Vec<&Way> =
        ways.iter().filter(|way| way.variants.len() == 1 && way.outcome.failed.is_none()).collect();
    if calls > PAIRS.0 || singles.len() > PAIRS.1 {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for (index, first) in singles.iter().enumerate() {
        for second in &singles[index + 1..] {
            if first.outcome.lost.is_some_and(|lost| lost > 0)
                && second.outcome.lost.is_some_and(|lost| lost > 0)
            {
                pairs.push(vec![first.variants[0].clone(), second.variants[0].clone()]);
            }
        }
    }
    pairs
}

/// The pair that loses least, if it loses less than every single variant that tells the truth, and tells it, too.
#[must_use]
pub(super) fn best_pair(ways: &[Way]) -> Option<&Way> {
    let honest =
        |way: &&Way| way.outcome.failed.is_none() && way.outcome.stale == 0 && way.outcome.untold == 0;
    let least_single = ways
        .iter()
        .filter(|way| way.variants.len() < 2)
        .filter(honest)
        .filter_map(|way| way.outcome.lost)
        .min()?;
    ways.iter()
        .filter(|way| way.variants.len() == 2)
        .filter(honest)
        .filter(|way| way.outcome.lost.is_some_and(|lost| lost < least_single))
        .min_by_key(|way| way.outcome.lost)
}

/// What to do about what is lost: of the ways that tell the truth the one that loses least, in words, if it loses less
/// than the way that is on.
#[must_use]
pub(super) fn fix(ways: &[Way], current: &[Name]) -> Option<String> {
    let on = ways.iter().find(|way| way.variants == current)?.outcome.lost?;
    let honest =
        |way: &&Way| way.outcome.failed.is_none() && way.outcome.stale == 0 && way.outcome.untold == 0;
    let best = ways.iter().filter(honest).filter(|way| way.outcome.lost.is_some_and(|lost| lost < on));
    let best = best.min_by_key(|way| (way.outcome.lost, way.variants.len()))?;
    let names = best.variants.iter().map(|name| name.replace('_', " ")).collect::<Vec<_>>().join(" and ");
    let lost = best.outcome.lost?;
    Some(format!(
        "{}, which loses {}{}",
        if names.is_empty() { "the bench as it is written" } else { &names },
        if best.outcome.estimate && lost > 0 { "~" } else { "" },
        grouped(lost)
    ))
}

/// The rows of the table. Ways that are not run yet have the outcome that they had in `old`, if any; the best pair is told
/// once all are `done`.
#[must_use]
pub(super) fn rows(names: &[Name], ways: &[Way], old: &[Way], current: &[Name], done: bool) -> Vec<WayRow> {
    let of = |ways: &[Way], variants: &[Name]| {
        ways.iter().find(|way| way.variants == variants).map(|way| way.outcome.clone())
    };
    let known = |variants: &[Name]| match of(ways, variants) {
        Some(outcome) => (Some(outcome), false),
        None => (of(old, variants), true),
    };
    let words = |name: &Name| name.replace('_', " ");
    let mut rows: Vec<WayRow> = singles(names)
        .into_iter()
        .map(|variants| {
            let (outcome, old) = known(&variants);
            WayRow {
                label: variants.first().map_or_else(|| "this bench".to_owned(), words).into(),
                indent: false,
                current: variants == current,
                outcome,
                old,
                variants,
            }
        })
        .collect();
    let mut pair = |variants: &[Name], (outcome, old): (Option<WayOutcome>, bool)| {
        let at = rows
            .iter()
            .position(|row| row.variants.first() == variants.first())
            .map_or(rows.len(), |at| at + 1);
        let label: Arc<str> =
            format!("and {}", variants[1..].iter().map(words).collect::<Vec<_>>().join(" and ")).into();
        rows.insert(
            at,
            WayRow {
                variants: variants.to_vec(),
                label,
                indent: true,
                current: variants == current,
                outcome,
                old,
            },
        );
    };
    let best = if done { best_pair(ways) } else { None };
    if let Some(best) = best {
        pair(&best.variants, (Some(best.outcome.clone()), false));
    }
    if current.len() > 1 && best.is_none_or(|best| best.variants != current) {
        pair(current, known(current));
    }
    rows
}
