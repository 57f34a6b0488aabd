//! Run order against byte order: a line for each layer, as it stands in the bytes.

use super::page::{Column, Goal, Ink, Line, Page};
use crate::app::effect::TextPlace;
use crate::app::state::State;

/// The page. Its lines are the rows of [`crate::app::snapshot::LayerTable`]; the view draws its own columns.
pub(super) fn page(state: &State) -> Page {
    let table = &state.snapshot.layers;
    let lines = table.rows.iter().map(|row| Line {
        text: Some(TextPlace::Layer(row.id.clone())),
        ..Line::new(row.id.clone()).cell(&*row.shown, Ink::Text).goal(Goal::Layer(row.id.clone()))
    });
    Page {
        note: if table.crosses() {
            "x = runs in another order than it stands"
        } else {
            "every layer runs where it stands"
        }
        .to_owned(),
        enter: "its bytes",
        columns: vec![Column { rest: true, ..Column::default() }],
        start: Some(state.layers.cursor),
        lines: lines.collect(),
        empty: "there is no layer".to_owned(),
        filters: false,
        diff: None,
    }
}
