//! Edits of the bench file: written, then taken into the run that is under way.

use super::control::Engine;
use super::edge::Edited;
use super::publish::one_line;
use crate::app::snapshot::{EditedField, FactNow};
use crate::core::fact::{Name, Value};
use crate::core::run::{Input, Refused};
use crate::io::edit::bench::{BenchEdit, written_on_one_line};

impl Engine {
    /// Makes edits in the bench file, all of them as one.
    pub(super) fn edit_bench(&mut self, edits: &[BenchEdit]) -> Result<(), Refused> {
        self.up_to_date()?;
        let edited = self.edge.edit_bench(edits, &self.options.variants).map_err(Refused)?;
        self.keep_undone();
        if edits.iter().any(|edit| matches!(edit, BenchEdit::Model(_))) {
            // What the file says is what was chosen last.
            self.options.model = None;
        }
        self.take_bench(edited)
    }

    /// The same for a form, which is told whether it was made.
    pub(super) fn edit_field(&mut self, serial: u32, edit: &BenchEdit) -> Result<(), Refused> {
        let done = self.edit_bench(std::slice::from_ref(edit));
        self.edited = Some(EditedField { serial, refused: done.is_err() });
        done
    }

    /// Sets a fact in this run.
    pub(super) fn set_fact(&mut self, name: Name, value: Value) -> Result<(), Refused> {
        let said =
            format!("{name} is {} in this run; the bench file stays as it is", written_on_one_line(&value));
        self.live(Input::Set([(name, value)].into_iter().collect()))?;
        let more = std::mem::take(&mut self.note);
        let gap = if more.is_empty() { "" } else { "; " };
        self.note = format!("{said}{gap}{more}").into();
        Ok(())
    }

    /// The facts whose value in this run is another one than the bench's.
    pub(super) fn facts_now(&self) -> Vec<FactNow> {
        let session = self.player.session();
        let facts = &session.bench().facts;
        session
            .facts_set()
            .filter(|(name, value, _)| facts.get(*name) != Some(value))
            .map(|(name, value, event)| FactNow {
                name: name.clone(),
                value: one_line(&written_on_one_line(value), 60).into(),
                cause: session.event(event).label.clone(),
            })
            .collect()
    }

    /// Makes the edit again that was taken back last.
    pub(super) fn redo_bench(&mut self) -> Result<(), Refused> {
        self.up_to_date()?;
        let edited = self.edge.redo_bench().map_err(Refused)?;
        self.take_bench(edited)
    }

    /// Takes the latest edit back.
    pub(super) fn undo_bench(&mut self) -> Result<(), Refused> {
        self.up_to_date()?;
        let edited = self.edge.undo_bench().map_err(Refused)?;
        self.take_bench(edited)
    }

    /// What somebody else wrote comes first.
    pub(super) fn up_to_date(&mut self) -> Result<(), Refused> {
        self.take_news();
        match self.broken.first() {
            Some(problem) => Err(Refused(format!("the bench is broken: {}", problem.message))),
            None => Ok(()),
        }
    }

    /// Goes on with the bench as it is written now.
    pub(super) fn take_bench(&mut self, edited: Edited) -> Result<(), Refused> {
        self.edge.reload();
        match self.edge.bench(&self.options.variants) {
            Ok((bench, warnings)) => {
                self.warnings = warnings;
                // An edit that is about no layer may have changed several all the same.
                let layers = match edited.layers.is_empty() {
                    true => self.player.session().bench().changed_layers(&bench),
                    false => edited.layers,
                };
                self.go_on_with(bench, edited.by, layers)?;
            }
            Err(problems) => self.broken = problems,
        }
        let branched = std::mem::take(&mut self.note);
        let gap = if branched.is_empty() { "" } else { "; " };
        self.note = format!("{}{gap}{branched}", edited.said).into();
        Ok(())
    }
}
