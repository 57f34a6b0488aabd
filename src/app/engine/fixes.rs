//! What would have avoided what is paid again: changes are tried on the same run, and those that lose less are offered.

use std::sync::Arc;

use super::control::{Ahead, Engine, Options, Preview, adjusted};
use super::edge::Edge;
use super::lanes::lanes;
use super::numbers::Numbers;
use super::ways::{AsLoad, best_pair};
use crate::app::views::ZonePreview;
use crate::core::bench::Bench;
use crate::core::cache::Outcome;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::core::fix::{Fix, Given, How, Search, remedies, sums, without_line};
use crate::core::run::{Player, Refused, Session};
use crate::core::wire::CallNo;
use crate::io::edit::bench::edits_of;

/// Runs of more calls than this are not played again and again on every change that might help.
pub(super) const MOST_CALLS: usize = 400;

/// The bench as a fix leaves it: with these options, for this run.
///
/// # Errors
///
/// Why it cannot be made.
pub(super) fn mended(
    fix: &Fix,
    run: Option<&Name>,
    edge: &mut dyn Edge,
    options: &Options,
) -> Result<Arc<Bench>, String> {
    let first = |problems: Vec<Diagnostic>| {
        problems.first().map_or_else(String::new, |problem| problem.message.clone())
    };
    let bench = match &fix.how {
        How::Variants(variants) => edge.bench(variants).map_err(first)?.0,
        How::Bench(changes) => edge.bench_edited(&edits_of(changes), &options.variants)?,
        How::Without(line) => {
            let (bench, _) = edge.bench(&options.variants).map_err(first)?;
            without_line(&bench, run, *line)
        }
    };
    Ok(adjusted(bench, options))
}

impl Engine {
    /// Tries one change that might lose less. False when there is nothing left to try.
    pub(super) fn work_on_fixes(&mut self) -> bool {
        if !self.shows_zones() || self.preview.is_some() || !self.can_count_lanes() {
            return false;
        }
        if self.fixes.is_none() {
            let Some(ahead) = self.ahead.take() else { return false };
            self.fixes = self.begin_search(&ahead);
            self.ahead = Some(ahead);
            return self.fixes.is_some();
        }
        let Some(fix) = self.fixes.as_mut().and_then(Search::next_fix) else { return false };
        let came = match self.player_with(&fix, CallNo(u32::MAX)) {
            Ok(player) => sums(player.session(), &lanes(&self.beside()), &self.models, &mut self.counters),
            Err(_) => Vec::new(),
        };
        if let Some(search) = &mut self.fixes {
            search.add(fix, came);
        }
        true
    }

    /// A search for what loses less in the run that is on; none where it is too long, or its numbers are not there yet.
    fn begin_search(&mut self, ahead: &Ahead) -> Option<Search> {
        let numbers = ahead.lanes.as_ref()?;
        let session = ahead.player.session();
        if session.calls().len() > MOST_CALLS {
            return None;
        }
        let lanes = lanes(&self.beside());
        let outcomes = outcomes(session, numbers, lanes.len());
        if outcomes.is_empty() {
            return Some(Search::default());
        }
        // What is tried is played from the first call on; so is what it is told apart from.
        let whole = match ahead.player.was_rebenched() {
            true => {
                let bench = session.bench().clone();
                ahead.player.rebuild(bench, CallNo(u32::MAX), &mut AsLoad(&mut *self.edge)).ok()?
            }
            false => ahead.player.clone(),
        };
        let base = sums(whole.session(), &lanes, &self.models, &mut self.counters);
        let ways = self.edge.ways();
        let pair = best_pair(&self.ways).map(|way| &*way.variants);
        let given = Given { on: &self.options.variants, ways: &ways, pair };
        Some(Search::new(base, remedies(&ahead.player, &outcomes, given)))
    }

    /// The run with a change, up to a call.
    fn player_with(&mut self, fix: &Fix, until: CallNo) -> Result<Player, Refused> {
        let bench = mended(fix, self.player.run(), &mut *self.edge, &self.options).map_err(Refused)?;
        self.player.rebuild(bench, until, &mut AsLoad(&mut *self.edge))
    }

    /// Shows what a change would do, everywhere on the screen, and does not make it.
    pub(super) fn preview_fix(&mut self, fix: &Fix) -> Result<(), Refused> {
        let until = self.player.session().next_call();
        let (file, lines) = match fix.changes() {
            [] => Default::default(),
            changes => {
                let edits = edits_of(changes);
                self.edge.preview_bench(&edits, &self.options.variants).map_err(Refused)?
            }
        };
        let player = self.player_with(fix, until)?;
        let fix = ZonePreview { fix: fix.clone(), file, lines: lines.into() };
        self.preview = Some(Preview { typed: None, fix: Some(fix), player, ahead: None });
        Ok(())
    }

    /// Makes a change that was proposed.
    pub(super) fn mend(&mut self, fix: &Fix) -> Result<(), Refused> {
        match &fix.how {
            How::Bench(changes) => self.edit_bench(&edits_of(changes)),
            How::Variants(variants) => self.choose_variants(variants.clone()),
            How::Without(at) => {
                Err(Refused(format!("that is line {} of the bench file: e edits it", at.line)))
            }
        }
    }
}

/// The outcomes of the run that lose something or pay it in full again and again, in any lane.
fn outcomes<'n>(session: &Session, numbers: &'n Numbers, lanes: usize) -> Vec<(CallNo, &'n Outcome)> {
    let calls = session.calls().iter().map(|record| record.call);
    let calls = calls.chain(session.prepared().map(|record| record.call));
    let all = calls.flat_map(|call| (0..lanes).map(move |lane| (call, lane)));
    let of = |(call, lane): (CallNo, usize)| Some((call, numbers.outcome(call, lane)?));
    all.filter_map(of)
        .filter(|(_, outcome)| outcome.lost().is_some_and(|lost| lost > 0) || outcome.uncovered > 0)
        .collect()
}
