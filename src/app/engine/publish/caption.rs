//! The band of captions: what `note:` lines of the run say of the shown call.

use std::sync::Arc;

use crate::app::cells;
use crate::app::snapshot::{CallTable, Caption};
use crate::core::run::Session;

/// The caption of the shown call. `ahead` is the run played to its end. A caption is no beat of its own: it stands with
/// the request that waits behind it, and what stands behind the last call is said once that was sent.
#[must_use]
pub fn caption(session: &Session, ahead: &Session, table: &CallTable) -> Option<Caption> {
    let closing = ahead.closing_notes();
    let all = table.rows.iter().map(|row| &*row.notes).chain([closing]).filter(|notes| !notes.is_empty());
    let cells = all.map(|notes| cells::width(&joined(notes))).max()?;
    let shown = table.shown.and_then(|shown| table.rows.get(shown));
    let at_end = session.prepared().is_none() && table.shown.is_some_and(|at| at + 1 == table.rows.len());
    let notes = match shown {
        Some(_) if at_end && !session.closing_notes().is_empty() => session.closing_notes(),
        Some(row) => &row.notes,
        None => &[],
    };
    Some(Caption {
        text: joined(notes).into(),
        at: shown.map_or(0, |row| row.no.0),
        of: table.rows.len() as u32,
        cells,
    })
}

fn joined(notes: &[Arc<str>]) -> String {
    // A caption is flowing text: where its author broke lines says nothing.
    notes.iter().flat_map(|note| note.split_whitespace()).collect::<Vec<_>>().join(" ")
}
