//! Forms: the fields of a layer and of the bench, changed in the bench file.

use super::{compose, overlay};
use crate::app::effect::{Effect, EngineRequest};
use crate::app::form::{self, Field, Subject};
use crate::app::line_editor::LineEditor;
use crate::app::rows::{self, Pick};
use crate::app::state::{OverlayKind, State};
use crate::io::edit::bench::BenchEdit;

/// Opens the form of the selected layer, or of the bench where no layer is selected.
pub(super) fn open_layer(state: &mut State, row: usize) {
    let id = state.snapshot.layers.rows.get(row).map(|row| row.id.clone());
    let known =
        |sheet: &crate::io::edit::bench::Sheet| id.as_ref().is_some_and(|id| sheet.layer(id).is_some());
    let subject = match (&id, &state.snapshot.sheet) {
        (Some(id), Some(sheet)) if known(sheet) => Subject::Layer(id.clone()),
        _ => Subject::Bench,
    };
    open(state, subject);
}

/// Opens a form.
pub(super) fn open(state: &mut State, subject: Subject) {
    if state.snapshot.sheet.is_none() {
        state.message = "this bench is part of the program; a bench of your own can be changed".to_owned();
        return;
    }
    overlay::open_on(state, OverlayKind::Form, Some(subject));
}

/// Offers the values that a field can have, or a line to type one.
pub(super) fn change(state: &mut State, field: Field) {
    let kind = match &field {
        Field::Model => OverlayKind::Models,
        field if field.is_typed() => OverlayKind::Value,
        _ => OverlayKind::Choice,
    };
    let written = state.snapshot.sheet.as_ref().map(|sheet| field.written(sheet)).unwrap_or_default();
    overlay::open_on(state, kind, Some(Subject::Field(field)));
    if kind == OverlayKind::Value {
        if let Some(overlay) = state.overlays.last_mut() {
            overlay.editor = LineEditor::new(written);
        }
        return;
    }
    // What is written is selected, so that Enter changes nothing by accident.
    let on = rows::list_rows(state).iter().position(|row| row.key == ">");
    if let Some(overlay) = state.overlays.last_mut() {
        overlay.list.cursor = on.unwrap_or(0);
    }
}

/// Takes the value of the selected field out of the file.
pub(super) fn take_out(state: &mut State) -> Vec<Effect> {
    let rows = rows::list_rows(state);
    let Some(overlay) = state.overlays.last() else { return Vec::new() };
    let Some(Pick::Field(field)) = rows.get(overlay.list.cursor).map(|row| row.pick.clone()) else {
        return Vec::new();
    };
    match form::removal(&field) {
        Some(edit) => ask(state, edit),
        None => {
            state.message = format!("{} has to be there", field.path());
            Vec::new()
        }
    }
}

/// Enters what was typed for a field.
pub(super) fn enter(state: &mut State) -> Vec<Effect> {
    let Some((field, text)) = line(state) else { return Vec::new() };
    match form::edit(&field, &text) {
        Ok(edit) => ask(state, edit),
        Err(reason) => {
            state.message = reason;
            Vec::new()
        }
    }
}

/// Sets a fact to what was typed, in this run alone.
pub(super) fn enter_in_run(state: &mut State) -> Vec<Effect> {
    let Some((field, text)) = line(state) else { return Vec::new() };
    match form::fact(&field, &text) {
        Ok((name, value)) => {
            state.overlays.pop();
            vec![Effect::Engine(EngineRequest::SetFact(name, value))]
        }
        Err(reason) => {
            state.message = reason;
            Vec::new()
        }
    }
}

/// The field whose value is typed, and what is typed.
fn line(state: &State) -> Option<(Field, String)> {
    let overlay = state.overlays.last()?;
    match &overlay.subject {
        Some(Subject::Field(field)) => Some((field.clone(), overlay.editor.text().to_owned())),
        _ => None,
    }
}

/// Asks for an edit; the choice or the line stays open until it was made.
pub(super) fn ask(state: &mut State, edit: BenchEdit) -> Vec<Effect> {
    state.edits += 1;
    vec![Effect::Engine(EngineRequest::EditField(state.edits, edit))]
}

/// Closes the choice or the line whose edit was made; where it was refused, the reason is on the screen and what was
/// typed can be mended.
pub(super) fn on_published(state: &mut State) {
    let made =
        state.snapshot.edited.as_ref().is_some_and(|edited| edited.serial == state.edits && !edited.refused);
    if !made || state.edits_seen == state.edits {
        return;
    }
    state.edits_seen = state.edits;
    compose::saved(state);
    let about_field = |kind| matches!(kind, OverlayKind::Choice | OverlayKind::Value | OverlayKind::Models);
    if state
        .overlays
        .last()
        .is_some_and(|top| about_field(top.kind) && matches!(top.subject, Some(Subject::Field(_))))
    {
        state.overlays.pop();
    }
}
