//! What the lints find in a session, and what putting it right would be worth: the run is played again with the change.

use std::sync::Arc;

use super::numbers::{Counters, Numbers};
use super::publish;
use super::ways::{AsLoad, outcome};
use crate::app::snapshot::WayOutcome;
use crate::core::cache::{Lane, Measures, Models, Simulator, Totals};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::core::lint::{self, Finding, Fix, Lint, Price, Run, Sent, Subject, Worth};
use crate::core::run::{Load, Player, Refused, Session};
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{CallNo, Request};
use crate::io::edit::Original;
use crate::io::edit::bench::edited_by;

use super::edge::Edge;

/// The most calls of a run that is played again for each fix: what takes longer is not looked at in passing.
pub const MOST_CALLS: usize = 400;

/// What all lints find in a session: in each of the first `most` calls that were or would be sent, and in them as a whole.
/// `numbers` hold the calls, the waiting one included, in their first lane as they are sent.
#[must_use]
pub fn survey(
    session: &Session,
    numbers: &Numbers,
    models: &Models,
    counters: &mut Counters,
    links: &dyn Fn() -> std::collections::BTreeMap<Name, Name>,
    most: usize,
) -> Vec<Finding> {
    let last = session.next_call().0.min(u32::try_from(most).unwrap_or(u32::MAX));
    let requests: Vec<Request> = (1..=last).filter_map(|call| session.request(CallNo(call))).collect();
    let calls: Vec<Sent<'_>> = requests
        .iter()
        .filter_map(|request| {
            let record = publish::record(session, request.call)?;
            Some(Sent { record, request, outcome: numbers.outcome(request.call, 0) })
        })
        .collect();
    let method = models.get(&session.bench().model).method.clone();
    let mut all = Vec::new();
    let found = with_price(&method, counters, |price| {
        let unread = numbers.never_read(0);
        let run = Run { bench: session.bench(), calls: &calls, never_read: &unread, models };
        lint::check_run(&run, price)
    });
    lint::merge(&mut all, found);
    for sent in &calls {
        let method = models.get(&sent.request.model).method.clone();
        let found = with_price(&method, counters, |price| {
            in_call(
                Subject {
                    bench: session.bench(),
                    record: sent.record,
                    request: sent.request,
                    links: &Default::default(),
                },
                price,
                links,
            )
        });
        lint::merge(&mut all, found);
    }
    all.sort_by_key(|finding| std::cmp::Reverse((finding.allowed.is_none(), finding.diagnostic.severity)));
    all
}

/// What the lints find in one call. Which files are links is looked up only where something is said twice.
pub fn in_call(
    subject: Subject<'_>,
    price: &mut Price<'_>,
    links: &dyn Fn() -> std::collections::BTreeMap<Name, Name>,
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

/// Works out what each fix of a finding is worth on these models, and drops those that spare nothing. What is said twice
/// is worth what leaving it out spares, wherever it is written.
pub fn price(
    finding: &mut Finding,
    player: &Player,
    asked: &[Name],
    models: &Arc<Models>,
    counters: &mut Counters,
    mut play: impl FnMut(&Fix) -> Option<Player>,
) {
    if player.session().calls().len() > MOST_CALLS {
        return;
    }
    let before = sums(player.session(), asked, models, counters);
    for fix in &mut finding.fixes {
        let Some(after) = play(fix) else {
            continue;
        };
        let then = sums(after.session(), asked, models, counters);
        fix.worth = worth(&before, &then);
    }
    // A mark too many, an order by accident: what is wrong without costing anything is put right all the same.
    let costs = matches!(finding.lint, Lint::VolatileFirst | Lint::DeadMark | Lint::Duplicate);
    finding.fixes.retain(|fix| !costs || fix.worth.first().is_some_and(Worth::is_gain));
    let gain = |fix: &Fix| {
        fix.worth.first().map_or((0, 0), |worth| {
            (
                std::cmp::Reverse(worth.misled).0,
                worth.money.map_or(0, |(money, worse)| if worse { 0 } else { money.as_pico() }),
            )
        })
    };
    // First what misleads nobody, then what spares most.
    finding.fixes.sort_by_key(|fix| {
        let (misled, spared) = gain(fix);
        (misled, std::cmp::Reverse(spared))
    });
    if finding.lint == Lint::Duplicate
        && let Some(layer) = finding.about.first()
    {
        finding.worth = without(player.session(), layer, asked, models, counters);
    }
}

/// What a run comes to on a model.
struct Sum {
    model: Name,
    totals: Totals,
    way: (u32, u32),
}

fn sums(session: &Session, asked: &[Name], models: &Arc<Models>, counters: &mut Counters) -> Vec<Sum> {
    let mut numbers = Numbers::new(models.clone(), asked.iter().cloned().map(Lane::As));
    numbers.extend(session, true, counters);
    let way: WayOutcome = outcome(session, models, counters);
    asked
        .iter()
        .enumerate()
        .map(|(lane, model)| Sum {
            model: model.clone(),
            totals: numbers.totals(lane),
            way: (way.stale, way.untold),
        })
        .collect()
}

fn worth(before: &[Sum], after: &[Sum]) -> Vec<Worth> {
    before
        .iter()
        .zip(after)
        .map(|(before, after)| {
            let (a, b) = (&before.totals, &after.totals);
            let less = |was: u64, is: u64| was as i64 - is as i64;
            let known = a.unknown == 0 && b.unknown == 0;
            let priced = a.unpriced == 0 && b.unpriced == 0;
            Worth {
                model: before.model.clone(),
                sent: (a.sent > 0 && b.sent > 0).then(|| less(a.sent, b.sent)),
                lost: known.then(|| less(a.lost, b.lost)),
                money: priced.then(|| match a.cost >= b.cost {
                    true => (a.cost - b.cost, false),
                    false => (b.cost - a.cost, true),
                }),
                estimate: a.estimates > 0 || b.estimates > 0,
                misled: (after.way.0 + after.way.1).saturating_sub(before.way.0 + before.way.1),
            }
        })
        .collect()
}

/// What the paragraphs that a layer repeats are worth.
fn without(
    session: &Session,
    layer: &Name,
    asked: &[Name],
    models: &Arc<Models>,
    counters: &mut Counters,
) -> Vec<Worth> {
    let requests: Vec<Request> =
        (1..=session.next_call().0).filter_map(|call| session.request(CallNo(call))).collect();
    let shorter = lint::without(session.bench(), &requests, layer);
    let mut sums = |requests: &[Request]| -> Vec<Sum> {
        let mut simulator = Simulator::new(models.clone(), asked.iter().cloned().map(Lane::As));
        let mut totals = vec![Totals::default(); asked.len()];
        for request in requests {
            for (sum, outcome) in totals.iter_mut().zip(simulator.call(request, counters)) {
                *sum += &outcome;
            }
        }
        let sums = asked.iter().cloned().zip(totals);
        sums.map(|(model, totals)| Sum { model, totals, way: (0, 0) }).collect()
    };
    let (before, after) = (sums(&requests), sums(&shorter));
    worth(&before, &after)
}

/// The run on the bench as a fix would leave it; none where the fix cannot be made.
pub fn played(
    fix: &Fix,
    player: &Player,
    edge: &mut dyn Edge,
    variants: &[Name],
    adjust: &dyn Fn(Arc<crate::core::bench::Bench>) -> Arc<crate::core::bench::Bench>,
) -> Option<Player> {
    let (path, key) = edge.bench_file()?;
    let original = Original::read(&path).ok()?;
    let (bytes, _) = edited_by(&key.path, &original, fix).ok()?;
    let bench: Result<_, Vec<Diagnostic>> = edge.bench_with(&key, &bytes, variants);
    rebuilt(player, adjust(bench.ok()?), &mut AsLoad(edge)).ok()
}

/// The run again, to its end.
///
/// # Errors
///
/// When the bench no longer has the run.
pub fn rebuilt(
    player: &Player,
    bench: Arc<crate::core::bench::Bench>,
    load: &mut dyn Load,
) -> Result<Player, Refused> {
    player.rebuild(bench, CallNo(u32::MAX), load)
}
