//! The overlay view: each block of the shown request with what became of its sections.

use std::sync::Arc;

use super::Shown;
use crate::app::blocks::{BlockView, SectionRow, SectionState};
use crate::core::bench::{Bench, Cap, CapUnit, Layer, LayerSource, Place, PlaceKind};
use crate::core::compose;
use crate::core::overlay::EVICTED;
use crate::core::source::Piece;
use crate::core::text::number::grouped;
use crate::core::text::{Traced, count};

/// The blocks of the bench, in the order in which it lists them.
#[must_use]
pub fn blocks(shown: &Shown<'_>) -> Vec<BlockView> {
    let bench = shown.session.bench();
    bench
        .places
        .values()
        .filter(|place| place.kind == PlaceKind::Block)
        .map(|place| block(shown, bench, place))
        .collect()
}

fn block(shown: &Shown<'_>, bench: &Bench, place: &Place) -> BlockView {
    let shows = |layer: &&Layer| matches!(&layer.from, LayerSource::Place(name) if *name == place.id);
    let layer = bench.layers.iter().find(shows);
    let state = layer.and_then(|layer| shown.record.layer(&layer.id));
    let text = state.and_then(|state| state.state.piece.text());
    let sections: Vec<SectionRow> = compose::byte_order(bench, &place.id)
        .into_iter()
        .map(|index| section(shown, bench, &bench.layers[index], text))
        .collect();
    let chars = text.map_or(0, |text| count::chars(text.text()) as u64);
    let absent = match state.map(|state| &state.state.piece) {
        Some(Piece::Text { .. }) => None,
        Some(Piece::Omitted(reason)) => Some(reason.clone()),
        Some(Piece::Failed(told) | Piece::Stopped(told)) => Some(Arc::from(&*told.message)),
        None if layer.is_none() => Some("no layer shows it".into()),
        None => Some("not in this request".into()),
    };
    let outer = layer.and_then(|layer| bench.places.get(&layer.place));
    BlockView {
        place: place.id.clone(),
        shown_by: layer.map(|layer| super::shown_name(bench, &layer.id)),
        markers: place.markers.as_ref().map(|markers| (markers.start.clone(), markers.end.clone())),
        chars,
        budget: place.budget.map(|budget| budget as u64),
        own: chars.saturating_sub(sections.iter().map(|section| section.chars).sum()),
        stands: state.is_some_and(|state| state.kept && text.is_some()),
        absent,
        file: outer.and_then(|outer| outer.path.as_ref()).map(|path| path.to_string().into()),
        told: state
            .filter(|_| text.is_some())
            .and_then(|state| state.state.diagnostic.as_ref())
            .map(|told| Arc::from(&*told.message)),
        sections,
    }
}

fn section(shown: &Shown<'_>, bench: &Bench, layer: &Layer, block: Option<&Traced>) -> SectionRow {
    let parts = block.map(Traced::parts).unwrap_or_default().iter().filter(|part| part.id == layer.id);
    let chars: u64 = parts.map(|part| block.map_or(0, |block| count::chars(&block[part]) as u64)).sum();
    let state = match shown.record.layer(&layer.id).map(|state| &state.state.piece) {
        None => SectionState::Absent("not in this request".into()),
        Some(Piece::Omitted(reason)) if reason.starts_with(EVICTED) => {
            SectionState::Dropped(reason[EVICTED.len()..].into())
        }
        Some(Piece::Omitted(reason)) => SectionState::Absent(reason.clone()),
        Some(Piece::Failed(told) | Piece::Stopped(told)) => SectionState::Absent(Arc::from(&*told.message)),
        Some(Piece::Text { .. }) if block.is_none() => {
            SectionState::Absent("its block is not in this request".into())
        }
        Some(Piece::Text { text, cut }) => {
            let whole = count::chars(text.text()) as u64;
            match (*cut as u64, whole.saturating_sub(chars)) {
                (0, 0) => SectionState::Kept,
                (limit, budget) => SectionState::Cut(limit, budget),
            }
        }
    };
    SectionRow {
        id: layer.id.clone(),
        shown: super::shown_name(bench, &layer.id),
        required: layer.required,
        limit: layer.cap.as_ref().map(limit).unwrap_or_default(),
        chars,
        state,
    }
}

/// A limit in a word or two.
fn limit(cap: &Cap) -> String {
    let number = grouped(cap.limit);
    match cap.unit {
        CapUnit::Chars => number,
        CapUnit::Bytes => format!("{number} bytes"),
        CapUnit::Lines => format!("{number} lines"),
        CapUnit::Items => format!("{number} items"),
    }
}
