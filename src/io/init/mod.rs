//! Benches from what is there: a folder, or a request that was recorded.

mod copied;
mod plain;
mod provider;
mod recorded;
mod run;
mod split;
mod template;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};

use super::bench_file::Machine;
use super::load::{BenchRoot, Loader, Roots, reason};
use super::syntax::yaml;
use crate::core::diagnostic::Diagnostic;
use crate::core::run::Input;
use crate::core::wire::Document;

/// A bench that is not written yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Its files: the path from the folder and the text; the first is the bench.
    pub files: Vec<(String, String)>,
    /// The files of the folder whose texts became layers, as paths from the folder.
    pub layers_from: Vec<String>,
    /// What of a recording the bench does not hold: sentences, lower case, without a full stop.
    pub notes: Vec<String>,
    /// Blocks with a cache mark that have a place of their own: path in the recording, place.
    marked: Vec<(String, String)>,
}

/// The name of a bench for a folder.
fn name(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    real.file_name().map_or_else(|| "bench".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A loader for the files of a folder.
fn loader(folder: &Path, machine: &Machine) -> Loader {
    let roots = Roots {
        bench: BenchRoot::Folder(folder.to_owned()),
        workspace: folder.to_owned(),
        home: machine.home.clone(),
    };
    Loader::new(roots, machine.clock.clone())
}

/// A bench for a folder: what most agents put in front of a model, with the instructions and skills that lie there.
#[must_use]
pub fn plain(folder: &Path, machine: &Machine) -> Draft {
    plain::draft(&name(folder), &mut loader(folder, machine))
}

/// A bench whose request is a recorded one. Texts that stand in files of the folder become layers that read them; `file`
/// is what the recording is called.
#[must_use]
pub fn from_recording(recorded: &Document, file: &str, folder: &Path, machine: &Machine) -> Draft {
    let files = split::candidates(&mut loader(folder, machine));
    recorded::draft(recorded, &name(folder), file, &files)
}

/// The bench of a folder that has none as a file of its own, with `lines` as its run.
///
/// # Errors
///
/// When a line is none that a bench can hold: one sentence, lower case, without a full stop.
pub fn copied(folder: &Path, run: &str, lines: &[Input]) -> Result<Draft, String> {
    copied::draft(&name(folder), run, lines)
}

impl Draft {
    /// Writes the bench into a folder; gives the paths of its files.
    ///
    /// # Errors
    ///
    /// When the folder has a bench, or one of the files: nothing is written then. Or when something cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, Vec<Diagnostic>> {
        let problem =
            |path: &Path, message: String| Diagnostic::error(message).in_file(path.to_string_lossy());
        let paths: Vec<PathBuf> = self.files.iter().map(|(path, _)| folder.join(path)).collect();
        let there: Vec<Diagnostic> = paths
            .iter()
            .filter(|path| path.symlink_metadata().is_ok())
            .map(|path| {
                problem(path, "the file is there already".to_owned())
                    .hint("nothing is overwritten; take it away, or name another folder")
            })
            .collect();
        if !there.is_empty() {
            return Err(there);
        }
        for (path, (_, text)) in paths.iter().zip(&self.files) {
            let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
                // Nobody else's file is written over, even one that came a moment ago.
                let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
                std::io::Write::write_all(&mut file, text.as_bytes())
            });
            written.map_err(|error| {
                vec![problem(path, format!("the file cannot be written: {}", reason(&error)))]
            })?;
        }
        Ok(paths)
    }
}
