//! Blocks of a request: which of their layers got in, and what is told about them.

use std::sync::Arc;

use super::record::LayerState;
use crate::core::bench::{Bench, Place};
use crate::core::compose;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::fact::Name;
use crate::core::lint::{at_byte, at_layer};
use crate::core::overlay::{self, Block, Offered};
use crate::core::source::{Evaluated, Piece};
use crate::core::text::number::grouped;
use crate::core::text::{Made, Traced};

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
pub(super) fn tell(bench: &Bench, place: &Place, block: &Block, evaluated: &mut Evaluated) {
    let mut told = Vec::new();
    // A marker that was broken does no harm: it is worth knowing, and nothing is wrong.
    let mut severity = Severity::Note;
    if let (Some((lost, chars)), Some(budget)) = (block.cut, place.budget) {
        if let Piece::Text { cut, .. } = &mut evaluated.piece {
            *cut += lost;
        }
        let (chars, budget) = (grouped(chars), grouped(budget));
        severity = Severity::Warning;
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
        let message = told.join("; ");
        let problem = match block.broken.first() {
            Some(layer) if severity == Severity::Note => of_marker(bench, block, layer, message),
            _ => Diagnostic::warning(message).at(bench.source.name.clone(), &bench.source.text, place.at),
        };
        evaluated.diagnostic = Some(Arc::new(Diagnostic { severity, ..problem }));
    }
}

/// At the text with the marker: in front of the first byte that nobody but the block wrote into its layer.
fn of_marker(bench: &Bench, block: &Block, layer: &Name, message: String) -> Diagnostic {
    let text = &block.text;
    let part = text.parts().iter().find(|part| part.id == *layer);
    let literal = part.and_then(|part| {
        let inside = |range: &std::ops::Range<usize>| range.start > part.body && range.end <= part.end;
        let mut spans =
            text.ranges().filter(|(range, span)| inside(range) && span.origin.made == Made::Literal);
        spans
            .find_map(|(range, _)| text.text()[..range.start].char_indices().next_back())
            .map(|(at, _)| (part, at))
    });
    match literal {
        Some((part, at)) => at_byte(bench, text, part, at, message),
        None => at_layer(bench, layer, message),
    }
}
