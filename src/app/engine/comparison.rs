//! The comparison of every way of building the run, worked out while its view is open.

use std::sync::Arc;

use super::control::{Engine, adjusted};
use super::ways::AsLoad;
use crate::app::state::View;
use crate::app::views::{CompareView, WayPreview};
use crate::core::bench::Bench;
use crate::core::compare::{self, Comparison, Row, Table};
use crate::core::fact::Name;
use crate::core::run::Refused;
use crate::core::wire::CallNo;

/// A comparison that is being worked out, with what is shown of it.
pub(super) struct Comparing {
    comparison: Comparison,
    /// The bench as it is written.
    bench: Arc<Bench>,
    /// Made anew when a row has come.
    shown: Option<(usize, Shown)>,
}

#[derive(Clone)]
pub(super) struct Shown {
    all: Arc<Table>,
    first: Arc<Table>,
    rows: Arc<[Row]>,
    checked: Option<usize>,
}

impl Engine {
    /// Begins a comparison of the run that is on, if there is none yet.
    fn begin_comparison(&mut self) {
        if self.comparison.is_some() {
            return;
        }
        // The bench as it is written, whatever is applied now, is what ways are told apart from.
        let Ok((bench, _)) = self.edge.bench(&[]) else { return };
        let bench = adjusted(bench, &self.options);
        let written = self.player.rebuild(bench.clone(), CallNo(u32::MAX), &mut AsLoad(&mut *self.edge));
        let Ok(written) = written else { return };
        let taken = self.edge.variants();
        let policies = compare::derive(written.session(), None, &taken);
        self.edge
            .derive(policies.iter().map(|policy| (policy.name.clone(), policy.changes.clone())).collect());
        let ids = compare::usual_models(&self.models, &written.session().bench().model);
        let ways = self.edge.ways();
        let comparison = Comparison::new(ids, &ways, policies, &self.models);
        self.comparison = Some(Comparing { comparison, bench, shown: None });
    }

    /// Plays one way. False when there is nothing left to play, or nobody looks.
    pub(super) fn work_on_comparison(&mut self) -> bool {
        if self.view != View::Compare || !self.can_count_lanes() {
            return false;
        }
        self.begin_comparison();
        let Some(comparing) = &mut self.comparison else { return false };
        let Some(names) = comparing.comparison.next_way() else { return false };
        let ids = comparing.comparison.models.clone();
        let row = match self.edge.bench(&names) {
            Err(problems) => {
                let why = problems.first().map_or_else(String::new, |problem| problem.message.clone());
                Row::failed(names, why)
            }
            Ok((bench, _)) => {
                let bench = adjusted(bench, &self.options);
                match self.player.rebuild(bench, CallNo(u32::MAX), &mut AsLoad(&mut *self.edge)) {
                    Ok(player) => Row::of(names, player.session(), &self.models, &ids, &mut self.counters),
                    Err(refused) => Row::failed(names, refused.0),
                }
            }
        };
        if let Some(comparing) = &mut self.comparison {
            comparing.comparison.add(row);
        }
        true
    }

    /// What there is to show of it so far.
    pub(super) fn compare_view(&mut self) -> CompareView {
        let models = self.models.clone();
        let current = self.options.variants.clone();
        let preview = self.way_preview.clone();
        let old = self.compared.as_ref().map(|shown| (shown.all.clone(), shown.first.clone()));
        let Some(comparing) = &mut self.comparison else {
            return CompareView { current, preview, going: Some((0, 0)), old, ..CompareView::default() };
        };
        let done = comparing.comparison.rows.len() * 2 + usize::from(comparing.comparison.is_done());
        let shown = match &comparing.shown {
            Some((of, shown)) if *of == done => shown.clone(),
            _ => {
                let comparison = &comparing.comparison;
                let all = comparison.table(&comparing.bench, &models, None);
                let first = comparison.table(&comparing.bench, &models, Some(1));
                let listed = |row: &&Row| all.rows.iter().any(|shown| shown.names == row.names);
                let rows = comparison.rows.iter().filter(listed).cloned().collect();
                let checked = comparison
                    .is_done()
                    .then(|| comparison.rows.iter().map(|row| compare::check(row, &models).len()).sum());
                let shown = Shown { all: Arc::new(all), first: Arc::new(first), rows, checked };
                comparing.shown = Some((done, shown.clone()));
                shown
            }
        };
        let Shown { all, first, rows, checked } = shown;
        let done = comparing.comparison.is_done();
        let going = (!done).then(|| comparing.comparison.progress());
        if done {
            self.compared = None;
        }
        let old = if done { None } else { old };
        CompareView { all, first, rows, current, old, going, checked, preview }
    }

    /// What was compared is of another run now. Until it is played again, it stands as it was.
    pub(super) fn forget_comparison(&mut self) {
        if let Some((_, shown)) = self.comparison.take().and_then(|comparing| comparing.shown) {
            self.compared = Some(shown);
        }
    }

    /// Works out what a way would change in the bench file.
    pub(super) fn preview_way(&mut self, names: Vec<Name>) {
        let preview = match self.edge.variant_edit(&names) {
            None => Err("there is no bench file to write to".to_owned()),
            Some(edit) => self.edge.preview_bench(&[edit], &self.options.variants),
        };
        self.way_preview = Some(match preview {
            Ok((file, lines)) => WayPreview { names, file, lines: lines.into(), problem: None },
            Err(why) => {
                WayPreview { names, file: "".into(), lines: Arc::default(), problem: Some(why.into()) }
            }
        });
    }

    /// Writes a way into the bench file.
    pub(super) fn apply_way(&mut self, names: &[Name]) -> Result<(), Refused> {
        self.way_preview = None;
        let Some(edit) = self.edge.variant_edit(names) else {
            return Err(Refused("there is no bench file to write to".into()));
        };
        self.edit_bench(&[edit])
    }
}
