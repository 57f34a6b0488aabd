//! What a fix changes, as edits of the bench file.

use super::{BenchEdit, Rule};
use crate::core::fact::Value;
use crate::core::fix::Change;

/// The edits that make these changes, in order.
#[must_use]
pub fn edits_of(changes: &[Change]) -> Vec<BenchEdit> {
    changes.iter().map(edit_of).collect()
}

fn edit_of(change: &Change) -> BenchEdit {
    match change {
        Change::Behind(layer, past) => BenchEdit::Move { layer: layer.clone(), past: past.clone() },
        Change::Refresh(layer, refresh) => {
            BenchEdit::Refresh { layer: layer.clone(), refresh: refresh.clone() }
        }
        Change::Off(layer) => BenchEdit::Toggle(layer.clone()),
        Change::Place(layer, place) => BenchEdit::Place { layer: layer.clone(), place: place.clone() },
        Change::Run(layer, run) => {
            BenchEdit::Rule { layer: layer.clone(), rule: Rule::Run, to: Some(Value::Int(*run)) }
        }
        Change::Keep(layer, rule, keeping) => {
            BenchEdit::Keep { layer: layer.clone(), rule: *rule, keeping: *keeping }
        }
        Change::RemoveMark(mark) => BenchEdit::RemoveMark(*mark),
        Change::AddMark(at) => BenchEdit::AddMark { at: at.clone(), ttl: None },
        Change::MarkLife(mark, ttl) => BenchEdit::MarkLife { mark: *mark, ttl: Some(ttl.clone()) },
    }
}
