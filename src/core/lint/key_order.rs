//! Layers of a place that goes by keys which stand in another order than they run in.

use super::{Finding, Lint, Subject, at_layer, included, shown};
use crate::core::bench::Layer;
use crate::core::compose::byte_order;
use crate::core::fix::{Change, Fix};

pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let bench = subject.bench;
    let mut found = Vec::new();
    for place in bench.places.values().filter(|place| place.by_key) {
        let order = byte_order(bench, &place.id);
        let here: Vec<&Layer> = order
            .into_iter()
            .map(|index| &bench.layers[index])
            .filter(|layer| included(subject, &layer.id))
            .collect();
        for pair in here.windows(2) {
            let [one, other] = pair else { continue };
            if one.run <= other.run {
                continue;
            }
            let (first, second) = (shown(bench, &one.id), shown(bench, &other.id));
            let message =
                format!("{first} stands before {second} and runs behind it ({} and {})", one.run, other.run);
            let diagnostic = at_layer(bench, &one.id, message)
                .hint("the keys decide the bytes: let the priorities follow them, or the other way round");
            let about = vec![one.id.clone(), other.id.clone()];
            // The two change their priorities, where that puts the whole place in order.
            let (early, late) = (other.run, one.run);
            let run = |layer: &Layer| match layer.id {
                ref id if *id == one.id => early,
                ref id if *id == other.id => late,
                _ => layer.run,
            };
            let fix = here.windows(2).all(|pair| run(pair[0]) <= run(pair[1])).then(|| {
                let changes = [Change::Run(one.id.clone(), early), Change::Run(other.id.clone(), late)];
                Fix::new(format!("let {first} run at {early} and {second} at {late}"), changes)
            });
            found.push(Finding::new(Lint::KeyOrder, subject, about, None, diagnostic).fixed_by(fix));
        }
    }
    found
}
