//! How much of what their authors allow them places take up, for whoever types into one of their layers.

use super::{Counter, Shown};
use crate::app::snapshot::PlaceSize;
use crate::core::bench::{Budget, BudgetUnit};
use crate::core::compose::{byte_order, join};
use crate::core::text::count;

/// The places with a budget, in the order in which the bench lists them. What a block may have it is cut to, so it is
/// counted as it is after that; the overlay view says what was cut.
#[must_use]
pub fn places(shown: &Shown<'_>, mut counter: Counter<'_>) -> Vec<PlaceSize> {
    let bench = shown.session.bench();
    let mut sizes = Vec::new();
    for place in bench.places.values() {
        let block = place.budget.map(|limit| Budget { unit: BudgetUnit::Chars, limit });
        let Some(budget) = block.or(place.allowed) else { continue };
        let pieces = byte_order(bench, &place.id).into_iter().filter_map(|index| {
            let state = shown.record.layer(&bench.layers[index].id)?;
            state.state.piece.text().cloned()
        });
        let text = join(place, pieces);
        let size = match budget.unit {
            BudgetUnit::Chars => Some(count::chars(text.text()) as u64),
            BudgetUnit::Tokens => counter.as_mut().map(|counter| u64::from(counter.tokens(text.text()))),
        };
        sizes.push(PlaceSize { place: place.id.clone(), size, budget });
    }
    sizes
}
