//! Blocks of a request: which of their layers got in, and what is told about them.

use std::sync::Arc;

use super::record::LayerState;
use crate::core::bench::{Bench, Place};
use crate::core::compose;
use crate::core::diagnostic::Diagnostic;
use crate::core::overlay::{self, Block, Offered, grouped};
use crate::core::source::{Evaluated, Piece};
use crate::core::text::Traced;

/// Composes a block of layers that have been evaluated. Those that did not get in are left out from here on.
pub(super) fn composed(bench: &Bench, place: &Place, states: &mut [Option<LayerState>]) -> Block {
    let offered: Vec<Offered> = compose::byte_order(bench, &place.id)
        .into_iter()
        .filter_map(|index| {
            let text = states[index].as_ref()?.state.piece.text()?.clone();
            let layer = &bench.layers[index];
            Some(Offered { layer: layer.id.clone(), text, required: layer.required })
        })
        .collect();
    let block = overlay::compose(place, &offered);
    for evicted in &block.evicted {
        if let Some(state) = states.iter_mut().flatten().find(|state| state.id == evicted.layer) {
            state.state.piece = Piece::Omitted(evicted.to_string().into());
        }
    }
    block
}

/// Leaves out the layers that are not in a block which stands from before.
pub(super) fn stands(bench: &Bench, place: &Place, text: Option<&Traced>, states: &mut [Option<LayerState>]) {
    for index in compose::byte_order(bench, &place.id) {
        let Some(state) = &mut states[index] else { continue };
        let there = text.is_some_and(|text| text.parts().iter().any(|part| part.id == state.id));
        if !there && state.state.piece.text().is_some() {
            state.state.piece = Piece::Omitted("not in its block, which stands from before".into());
        }
    }
}

/// What is told about a block in the layer that shows it: that it was cut, and that markers in it were broken.
pub(super) fn tell(place: &Place, block: &Block, evaluated: &mut Evaluated) {
    let mut told = Vec::new();
    if let (Some((lost, chars)), Some(budget)) = (block.cut, place.budget) {
        if let Piece::Text { cut, .. } = &mut evaluated.piece {
            *cut += lost;
        }
        let (chars, budget) = (grouped(chars), grouped(budget));
        told.push(format!("the required layers of {} alone make {chars} of {budget} characters", place.id));
    }
    if !block.broken.is_empty() {
        told.push(format!(
            "a marker of {} stands in the text of {}; it was broken with a backslash",
            place.id,
            block.broken.join(", ")
        ));
    }
    if !told.is_empty() && evaluated.diagnostic.is_none() {
        evaluated.diagnostic = Some(Arc::new(Diagnostic::warning(told.join("; "))));
    }
}
