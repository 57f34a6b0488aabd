//! The world around a recording: one file to watch, and nothing to write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::engine::edge::{Edge, Edited};
use crate::core::bench::Bench;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Command, FactKey, FilePath, Found, Name, Value};
use crate::core::run::Load;
use crate::io::command::Wake;
use crate::io::edit::bench::{BenchEdit, ChangedLine, Sheet};
use crate::io::edit::{Original, SaveError, Splice};

/// What is said of everything that would change a recording.
pub(super) const READ_ONLY: &str = "a recording is read-only";

/// See the module.
pub(super) struct RecordingEdge {
    pub bench: Arc<Bench>,
    /// The log, absolute.
    pub log: PathBuf,
}

impl Load for RecordingEdge {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), Found::Absent)).collect()
    }
}

impl Edge for RecordingEdge {
    fn note(&self) -> Name {
        "recording, read-only".into()
    }

    fn bench(&mut self, _: &[Name]) -> Result<(Arc<Bench>, Vec<Diagnostic>), Vec<Diagnostic>> {
        Ok((self.bench.clone(), Vec::new()))
    }

    fn variants(&self) -> Vec<Name> {
        Vec::new()
    }

    fn reload(&mut self) -> bool {
        false
    }

    fn changed(&mut self) -> Vec<(FactKey, Found)> {
        Vec::new()
    }

    fn inputs(&self) -> Vec<PathBuf> {
        vec![self.log.clone()]
    }

    fn root(&self) -> PathBuf {
        self.log.parent().unwrap_or(Path::new("/")).to_owned()
    }

    fn folders(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn is_projected(&self, _: &FactKey) -> bool {
        false
    }

    fn project(&mut self, _: &[(FilePath, Option<Arc<str>>)]) {}

    fn edit_bench(&mut self, _: &[BenchEdit], _: &[Name]) -> Result<Edited, String> {
        Err(READ_ONLY.to_owned())
    }

    fn undoable(&self) -> (usize, usize) {
        (0, 0)
    }

    fn bench_edited(&mut self, _: &[BenchEdit], _: &[Name]) -> Result<Arc<Bench>, String> {
        Err(READ_ONLY.to_owned())
    }

    fn undo_bench(&mut self) -> Result<Edited, String> {
        Err(READ_ONLY.to_owned())
    }

    fn redo_bench(&mut self) -> Result<Edited, String> {
        Err(READ_ONLY.to_owned())
    }

    fn sheet(&mut self, _: &[Name]) -> Option<Arc<Sheet>> {
        None
    }

    fn derive(&mut self, _: Vec<(Name, Vec<(Name, Value)>)>) {}

    fn variant_edit(&self, _: &[Name]) -> Option<BenchEdit> {
        None
    }

    fn preview_bench(&mut self, _: &[BenchEdit], _: &[Name]) -> Result<(Name, Vec<ChangedLine>), String> {
        Err(READ_ONLY.to_owned())
    }

    fn open_text(&mut self, _: &FilePath) -> Result<(PathBuf, Original), String> {
        Err(READ_ONLY.to_owned())
    }

    fn save_text(&mut self, _: &FilePath, _: &Original, _: &[Splice]) -> Result<Original, SaveError> {
        Err(SaveError::Refused(READ_ONLY.to_owned()))
    }

    fn bench_with(&mut self, _: &FilePath, _: &[u8], _: &[Name]) -> Result<Arc<Bench>, Vec<Diagnostic>> {
        Err(vec![Diagnostic::error(READ_ONLY)])
    }

    fn unasked(&mut self, _: &[Command]) -> Vec<Command> {
        Vec::new()
    }

    fn allow(&mut self, _: &[Command]) -> Result<(), String> {
        Ok(())
    }

    fn run_again(&mut self) {}

    fn wake_with(&mut self, _: Wake) {}

    fn place(&self) -> String {
        self.log.display().to_string()
    }

    fn found_with(&self, _: &FactKey, _: &[u8]) -> Option<Found> {
        None
    }
}
