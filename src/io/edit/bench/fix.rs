//! What a lint proposes, as edits of the bench file.

use super::{BenchEdit, Rule, edit};
use crate::core::fact::{Name, Value};
use crate::core::lint::{Change, Fix};
use crate::io::edit::text::Original;

/// The file as a fix would leave it, and what was done, as a sentence.
///
/// # Errors
///
/// Why it cannot be made without losing something: one sentence, lower case, without a full stop.
pub fn edited_by(file: &Name, original: &Original, fix: &Fix) -> Result<(Vec<u8>, String), String> {
    let mut now = original.clone();
    let mut said = Vec::new();
    for change in edits_of(fix) {
        let edited = edit(file, &now, &change)?;
        now = Original::of(now.apply(&edited.splices)?)?;
        said.push(edited.said);
    }
    Ok((now.bytes().to_vec(), said.join("; ")))
}

/// The edits that a fix consists of, in order.
#[must_use]
pub fn edits_of(fix: &Fix) -> Vec<BenchEdit> {
    fix.changes.iter().map(edit_of).collect()
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
        Change::RemoveMark(mark) => BenchEdit::RemoveMark(*mark),
        Change::AddMark(at) => BenchEdit::AddMark { at: at.clone(), ttl: None },
    }
}
