//! What the lints find in a session, and what putting it right would be worth: the run is played again with the change.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::control::Engine;
use super::fixes::{MOST_CALLS, mended};
use super::numbers::{Counters, Numbers};
use super::publish;
use super::ways::AsLoad;
use crate::app::state::View;
use crate::app::views::{LintFix, LintRow, LintsView};
use crate::core::cache::{Lane, Measures, Models};
use crate::core::fact::Name;
use crate::core::fix::{Fix, Sum, Tally, Worth, sums, worth};
use crate::core::lint::{self, Finding, Lint, Price, Sent, Subject, Survey};
use crate::core::run::{Player, Requests, Session};
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{CallNo, Request};
use crate::io::edit::bench::edits_of;

/// What all lints find in a session: in each of the first `most` calls that were or would be sent, and in them as a whole.
/// `numbers` hold the calls, the waiting one included, in their first lane as they are sent.
#[must_use]
pub fn survey(
    session: &Session,
    numbers: &Numbers,
    models: &Models,
    counters: &mut Counters,
    links: &dyn Fn() -> BTreeMap<Name, Name>,
    most: usize,
) -> Vec<Finding> {
    let last = session.next_call().0.min(u32::try_from(most).unwrap_or(u32::MAX));
    let method = models.get(&session.bench().model).method.clone();
    let mut survey = Survey::new(session.bench(), models);
    let mut in_calls = Vec::new();
    // Requests grow with the run: only the latest of each conversation is kept.
    let mut requests = Requests::default();
    for call in (1..=last).map(CallNo) {
        let Some(record) = publish::record(session, call) else { continue };
        let Some(request) = requests.get(session, call) else { continue };
        let sent = Sent { record, request, outcome: numbers.outcome(call, 0) };
        with_price(&method, counters, |price| survey.call(&sent, price));
        let subject = Subject { bench: session.bench(), record, request, links: &BTreeMap::new() };
        let method = &models.get(&request.model).method;
        lint::merge(&mut in_calls, with_price(method, counters, |price| in_call(subject, price, links)));
    }
    let mut all = with_price(&method, counters, |price| survey.finish(&numbers.never_read(0), price));
    lint::merge(&mut all, in_calls);
    all.sort_by_key(|finding| std::cmp::Reverse((finding.allowed.is_none(), finding.diagnostic.severity)));
    all
}

/// What the lints find in one call. Which files are links is looked up only where something is said twice.
pub fn in_call(
    subject: Subject<'_>,
    price: &mut Price<'_>,
    links: &dyn Fn() -> BTreeMap<Name, Name>,
) -> Vec<Finding> {
    let found = lint::check(&subject, price);
    if !found.iter().any(|finding| finding.lint == Lint::Duplicate) {
        return found;
    }
    let links = links();
    if links.is_empty() { found } else { lint::check(&Subject { links: &links, ..subject }, price) }
}

fn with_price<T>(method: &Method, counters: &mut Counters, then: impl FnOnce(&mut Price<'_>) -> T) -> T {
    let mut measure = method.encoding().map(|encoding| method.measure(counters.of(encoding)));
    let measure = measure.as_mut().map(|measure| measure as &mut dyn Measure);
    then(&mut Price { measure, method })
}

/// What fixes of findings are worth: the run is played again with each.
pub struct Pricing {
    lanes: Vec<Lane>,
    /// What the run comes to as it is.
    before: Vec<Sum>,
}

impl Pricing {
    /// Of this run, on these models; none for a run that is too long to be played again and again.
    pub fn new(
        player: &Player,
        asked: &[Name],
        models: &Arc<Models>,
        counters: &mut Counters,
    ) -> Option<Pricing> {
        if player.session().calls().len() > MOST_CALLS {
            return None;
        }
        let lanes: Vec<Lane> = asked.iter().cloned().map(Lane::As).collect();
        let before = sums(player.session(), &lanes, models, counters);
        Some(Pricing { lanes, before })
    }

    /// Works out what each fix of a finding is worth, and drops those that spare nothing; what the bench allows is left
    /// alone. What is said twice is worth what leaving it out spares, wherever it is written. `play` plays the run of
    /// `player` again with a fix, from its first call.
    pub fn price(
        &self,
        finding: &mut Finding,
        player: &Player,
        models: &Arc<Models>,
        counters: &mut Counters,
        mut play: impl FnMut(&Fix) -> Option<Player>,
    ) {
        if finding.allowed.is_some() {
            return;
        }
        for fix in &mut finding.fixes {
            if let Some(after) = play(fix) {
                fix.worth = worth(&self.before, &sums(after.session(), &self.lanes, models, counters));
            }
        }
        self.keep_gains(finding);
        if finding.lint == Lint::Duplicate
            && let Some(layer) = finding.about.first()
        {
            finding.worth = without(player.session(), layer, &self.lanes, models, counters);
        }
    }

    /// The fixes that are worth it: first what misleads nobody, then what still tells everything, then what spares most.
    fn keep_gains(&self, finding: &mut Finding) {
        let lint = finding.lint;
        let much = |worth: &Worth| self.before.first().is_some_and(|before| before.is_much(worth));
        finding.fixes.retain(|fix| match lint {
            Lint::VolatileFirst => fix.worth.first().is_some_and(|worth| worth.is_gain() && much(worth)),
            // A copy less is one, however short, and so is a dead mark.
            Lint::Duplicate | Lint::DeadMark => fix.worth.first().is_some_and(Worth::is_gain),
            // A mark too many, an order by accident: what is wrong without costing anything is put right all the same.
            _ => true,
        });
        finding.fixes.sort_by_key(|fix| {
            let spared = |worth: &Worth| match worth.money {
                Some((money, false)) => money.as_pico(),
                Some((_, true)) | None => 0,
            };
            let first = fix.worth.first();
            let misled = first.map_or(0, |worth| worth.misled);
            (misled, fix.tells_less(), std::cmp::Reverse(first.map_or(0, spared)))
        });
    }
}

/// What the paragraphs that a layer repeats are worth.
fn without(
    session: &Session,
    layer: &Name,
    lanes: &[Lane],
    models: &Arc<Models>,
    counters: &mut Counters,
) -> Vec<Worth> {
    let requests: Vec<Request> =
        (1..=session.next_call().0).filter_map(|call| session.request(CallNo(call))).collect();
    let shorter = lint::without(session.bench(), &requests, layer);
    let mut sums = |requests: &[Request]| {
        let mut tally = Tally::new(lanes, models);
        requests.iter().for_each(|request| tally.sent(request, counters));
        tally.sums(&session.bench().model, 0)
    };
    let (before, after) = (sums(&requests), sums(&shorter));
    worth(&before, &after)
}

/// What the lints found in the run that is on, as far as it is worked out.
pub(super) struct Linted {
    /// The run that they looked at, played to its end.
    player: Player,
    /// None for a run that is too long to be played again.
    pricing: Option<Pricing>,
    pub view: Arc<LintsView>,
}

impl Engine {
    /// Looks at the run with the lints, then works out what the fixes of one finding after the other are worth. False when
    /// there is nothing left to do, or nobody looks.
    pub(super) fn work_on_lints(&mut self) -> bool {
        if self.view != View::Lints || self.preview.is_some() || !self.can_count() {
            return false;
        }
        let Some(mut linted) = self.linted.take() else {
            let Some(ahead) = self.ahead.take() else { return false };
            self.linted = Some(self.begin_linting(&ahead.player));
            self.ahead = Some(ahead);
            return true;
        };
        let next = linted.view.priced;
        let pricing = linted.pricing.as_ref().filter(|_| next < linted.view.rows.len());
        let worked = pricing.is_some();
        if let Some(pricing) = pricing {
            let mut finding = linted.view.rows[next].finding.clone();
            let Engine { edge, options, models, counters, .. } = self;
            pricing.price(&mut finding, &linted.player, models, counters, |fix| {
                let bench = mended(fix, linted.player.run(), &mut **edge, options).ok()?;
                linted.player.rebuild(bench, CallNo(u32::MAX), &mut AsLoad(&mut **edge)).ok()
            });
            let row = self.lint_row(finding);
            let view = Arc::make_mut(&mut linted.view);
            view.rows[next] = row;
            view.priced = next + 1;
        }
        self.linted = Some(linted);
        worked
    }

    /// What the lints find in a run that was played to its end. Where the bench or a file was changed on the way, it is
    /// played again on what they are now: what was sent before cannot be put right any more.
    fn begin_linting(&mut self, ahead: &Player) -> Linted {
        let again = ahead.was_edited().then(|| ahead.anew(&mut AsLoad(&mut *self.edge)).ok()).flatten();
        let (player, again) = match again {
            Some(again) => (again, true),
            None => (ahead.clone(), false),
        };
        let session = player.session();
        let model = session.bench().model.clone();
        let models = self.models.clone();
        let mut numbers = Numbers::new(models.clone(), [Lane::AsSent]);
        numbers.extend(session, true, &mut self.counters);
        let links = || self.edge.links();
        let found = survey(session, &numbers, &models, &mut self.counters, &links, MOST_CALLS);
        let pricing = Pricing::new(&player, std::slice::from_ref(&model), &models, &mut self.counters);
        let rows: Vec<LintRow> = found.into_iter().map(|finding| self.lint_row(finding)).collect();
        let calls = session.next_call().0 as usize;
        let view = LintsView {
            first: (calls > MOST_CALLS).then_some(MOST_CALLS),
            run: player.run().cloned(),
            estimate: matches!(models.get(&model).method, Method::Estimate { .. }),
            again,
            priced: if pricing.is_some() { 0 } else { rows.len() },
            rows,
        };
        Linted { player, pricing, view: Arc::new(view) }
    }

    fn lint_row(&mut self, finding: Finding) -> LintRow {
        let fixes = finding.fixes.iter().map(|fix| {
            match self.edge.preview_bench(&edits_of(fix.changes()), &self.options.variants) {
                Ok((_, lines)) => LintFix { fix: fix.clone(), lines, refused: None },
                Err(reason) => LintFix { fix: fix.clone(), lines: Vec::new(), refused: Some(reason) },
            }
        });
        let fixes = fixes.collect();
        LintRow { finding, fixes }
    }
}
