//! Edits of the bench file: written, then taken into the run that is under way.

use super::control::{Engine, adjusted};
use super::edge::Edited;
use crate::core::run::Refused;
use crate::io::edit::bench::BenchEdit;

impl Engine {
    /// Makes an edit in the bench file.
    pub(super) fn edit_bench(&mut self, edit: &BenchEdit) -> Result<(), Refused> {
        self.up_to_date()?;
        let edited = self.edge.edit_bench(edit, &self.options.variants).map_err(Refused)?;
        if matches!(edit, BenchEdit::Model(_)) {
            // What the file says is what was chosen last.
            self.options.model = None;
        }
        self.take_bench(edited)
    }

    /// Takes the latest edit back.
    pub(super) fn undo_bench(&mut self) -> Result<(), Refused> {
        self.up_to_date()?;
        let edited = self.edge.undo_bench().map_err(Refused)?;
        self.take_bench(edited)
    }

    /// What somebody else wrote comes first.
    fn up_to_date(&mut self) -> Result<(), Refused> {
        self.look();
        match self.broken.first() {
            Some(problem) => Err(Refused(format!("the bench is broken: {}", problem.message))),
            None => Ok(()),
        }
    }

    /// Goes on with the bench as it is written now.
    fn take_bench(&mut self, edited: Edited) -> Result<(), Refused> {
        self.edge.reload();
        match self.edge.bench(&self.options.variants) {
            Ok((bench, warnings)) => {
                self.warnings = warnings;
                let bench = adjusted(bench, &self.options);
                let Edited { by, layers, .. } = edited;
                self.by_hand(|player, load| player.rebench(bench, by, layers, load))?;
            }
            Err(problems) => self.broken = problems,
        }
        let branched = std::mem::take(&mut self.note);
        let gap = if branched.is_empty() { "" } else { "; " };
        self.note = format!("{}{gap}{branched}", edited.said).into();
        Ok(())
    }
}
