//! Two layers of one place of which nothing but the order of the list says which comes first.
//!
//! A place in which nobody gives priorities goes by the list on purpose: only where some layer has one are equal ones
//! told. Layers that never stand in the same request do not count.

use super::{Finding, Lint, Subject, at_layer, included, shown};
use crate::core::bench::Layer;
use crate::core::compose::byte_order;
use crate::core::fix::{Change, Fix};

pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let bench = subject.bench;
    let mut found = Vec::new();
    for place in bench.places.values() {
        let order = byte_order(bench, &place.id);
        let layers: Vec<&Layer> = order.into_iter().map(|index| &bench.layers[index]).collect();
        if !place.by_key && layers.iter().all(|layer| layer.run == 0) {
            continue;
        }
        let here: Vec<&Layer> = layers.iter().copied().filter(|layer| included(subject, &layer.id)).collect();
        for pair in here.windows(2) {
            let [one, other] = pair else { continue };
            let key = |layer: &Layer| layer.key.clone().unwrap_or_else(|| layer.id.clone());
            let same_run = one.run == other.run;
            let what = match (place.by_key, key(one) == key(other)) {
                (true, true) if same_run => format!("the key {} and run at {}, both", key(one), one.run),
                (true, _) => continue,
                (false, _) if same_run => format!("the priority {}, both", one.run),
                (false, _) => continue,
            };
            let (first, second) = (shown(bench, &one.id), shown(bench, &other.id));
            let message = format!("{first} and {second} have {what}: the order of the list decides");
            let hint = "give each its own, so that moving a line of the file moves nothing in the prompt";
            let about = vec![other.id.clone(), one.id.clone()];
            let finding = Finding::new(
                Lint::EqualPriority,
                subject,
                about,
                None,
                at_layer(bench, &other.id, message).hint(hint),
            );
            // A number of its own, where there is one in front of the next layer.
            let next = layers.iter().map(|layer| layer.run).filter(|run| *run > other.run).min();
            let free = other.run.checked_add(1).filter(|run| next.is_none_or(|next| *run < next));
            let alone = layers.iter().filter(|layer| layer.run == other.run).count() == 2;
            found.push(finding.fixed_by(free.filter(|_| alone).map(|run| {
                Fix::new(format!("let {second} run at {run}"), [Change::Run(other.id.clone(), run)])
            })));
        }
    }
    found
}
