//! What the engine needs of the world, so that tests can give it another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::views::{OverlayPlan, OverlayView};
use crate::core::bench::Bench;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Command, FactKey, FilePath, Found, Name, Value};
use crate::core::run::{Input, Load};
use crate::io::command::Wake;
use crate::io::edit::bench::{BenchEdit, ChangedLine, Sheet};
use crate::io::edit::{KeptText, Original, SaveError, Splice};
use crate::io::overlay::Texts;

/// A bench on disk, with everything around it.
pub trait Edge: Load + Send {
    /// What stands behind the name in the title: `sample, scratch copy`; empty for none.
    fn note(&self) -> Name;

    /// The bench with these variants, in order, and warnings.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    fn bench(&mut self, variants: &[Name]) -> Result<(Arc<Bench>, Vec<Diagnostic>), Vec<Diagnostic>>;

    /// The names of the variants, in order.
    fn variants(&self) -> Vec<Name>;

    /// Those of them that tell the same agent the same thing in another way: what another agent or workspace costs
    /// is another question.
    fn ways(&self) -> Vec<Name> {
        self.variants()
    }

    /// Reads the bench file again. True when it says something else.
    fn reload(&mut self) -> bool;

    /// Looks again at everything that was loaded: what has another content now.
    fn changed(&mut self) -> Vec<(FactKey, Found)>;

    /// The files and folders to watch, absolute.
    fn inputs(&self) -> Vec<PathBuf>;

    /// The folder below which parents are watched, too.
    fn root(&self) -> PathBuf;

    /// The folders of the workspace, relative to it, with `/`, sorted; bounded.
    fn folders(&mut self) -> Vec<String>;

    /// True for what may be other on disk only because a run wrote it there.
    fn is_projected(&self, key: &FactKey) -> bool;

    /// What is on disk of the overlay that says this in a bench; none where the bench has none.
    fn overlay(&self, bench: &Bench, texts: &Texts) -> Option<OverlayView> {
        let _ = (bench, texts);
        None
    }

    /// What [`Edge::switch_overlay`] would write. Nothing is written.
    ///
    /// # Errors
    ///
    /// Why nothing would be: one sentence, lower case, without a full stop.
    fn plan_overlay(&self, bench: &Bench, texts: &Texts) -> Result<OverlayPlan, String> {
        let _ = (bench, texts);
        Err("there is no disk".into())
    }

    /// Puts the overlay on disk, or takes it out again; what was done.
    ///
    /// # Errors
    ///
    /// Why nothing was done: one sentence, lower case, without a full stop.
    fn switch_overlay(&mut self, bench: &Bench, texts: &Texts) -> Result<String, String> {
        let _ = (bench, texts);
        Err("there is no disk".into())
    }

    /// Writes the overlay that was put on disk again, where it says something else now; what was done, if anything was.
    ///
    /// # Errors
    ///
    /// Why it was not written.
    fn follow_overlay(&mut self, texts: &Texts) -> Result<Option<String>, String> {
        let _ = texts;
        Ok(None)
    }

    /// In a scratch copy only: makes the files on disk those of the shown step (none: deleted).
    fn project(&mut self, files: &[(FilePath, Option<Arc<str>>)]);

    /// Makes edits in the bench file, all of them as one, if the bench is right with these variants afterwards.
    ///
    /// # Errors
    ///
    /// Why they were not made: one sentence, lower case, without a full stop.
    fn edit_bench(&mut self, edits: &[BenchEdit], variants: &[Name]) -> Result<Edited, String>;

    /// The bench with these variants as it would be after these edits, one after the other. Nothing is written.
    ///
    /// # Errors
    ///
    /// Why they cannot be made.
    fn bench_edited(&mut self, edits: &[BenchEdit], variants: &[Name]) -> Result<Arc<Bench>, String>;

    /// Takes the latest edit of the bench file back, unless the file was changed since.
    ///
    /// # Errors
    ///
    /// Why it was not taken back.
    fn undo_bench(&mut self) -> Result<Edited, String>;

    /// Makes the edit again that was taken back last, unless the file was changed since.
    ///
    /// # Errors
    ///
    /// Why it was not made.
    fn redo_bench(&mut self) -> Result<Edited, String>;

    /// How many edits of the bench file there are to take back, and how many to make again.
    fn undoable(&self) -> (usize, usize) {
        (0, 0)
    }

    /// Where there is no bench file: writes a copy of the bench into its folder, with these lines as its run. What was
    /// done, as a sentence for the status line.
    ///
    /// # Errors
    ///
    /// Why nothing was written: one sentence, lower case, without a full stop.
    fn copy_bench(&mut self, run: &Name, lines: &[Input]) -> Result<String, String> {
        let _ = (run, lines);
        Err("there is no disk".into())
    }

    /// What the bench file says, and what these variants of it say instead; none for a bench without a file.
    fn sheet(&mut self, variants: &[Name]) -> Option<Arc<Sheet>>;

    /// From now on these can be applied by their names, too, as if they were variants of the file: names with dotted
    /// paths and their values.
    fn derive(&mut self, derived: Vec<(Name, Vec<(Name, Value)>)>);

    /// The edit that makes the bench file say what these variants and derived ones say; none without a bench file.
    fn variant_edit(&self, names: &[Name]) -> Option<BenchEdit>;

    /// What edits would change in the bench file: its name, and the lines that go and come.
    ///
    /// # Errors
    ///
    /// Why they cannot be made: one sentence, lower case, without a full stop.
    fn preview_bench(
        &mut self,
        edits: &[BenchEdit],
        variants: &[Name],
    ) -> Result<(Name, Vec<ChangedLine>), String>;

    /// A text file, to be edited: its path on disk and what it holds.
    ///
    /// # Errors
    ///
    /// Why it cannot be edited: one sentence, lower case, without a full stop.
    fn open_text(&mut self, file: &FilePath) -> Result<(PathBuf, Original), String>;

    /// Writes a text file that was opened, if it still is what was read.
    ///
    /// # Errors
    ///
    /// When it was changed outside, or cannot be written.
    fn save_text(
        &mut self,
        file: &FilePath,
        base: &Original,
        splices: &[Splice],
    ) -> Result<Original, SaveError>;

    /// Keeps a text that was made from what a file holds, so that it outlives the program.
    fn keep_text(&mut self, path: &Path, base: &Original, text: &str) {
        let _ = (path, base, text);
    }

    /// What was kept for a file that holds this now.
    fn kept_text(&self, path: &Path, disk: &Original) -> Option<KeptText> {
        let _ = (path, disk);
        None
    }

    /// Forgets what was kept for a file.
    fn forget_text(&mut self, path: &Path) {
        let _ = path;
    }

    /// The bench as it would be if a file held these bytes.
    ///
    /// # Errors
    ///
    /// What would be wrong with it.
    fn bench_with(
        &mut self,
        file: &FilePath,
        bytes: &[u8],
        variants: &[Name],
    ) -> Result<Arc<Bench>, Vec<Diagnostic>>;

    /// Of these programs, those that may not run because the user was not asked yet. Those that the user has allowed
    /// before are let run.
    fn unasked(&mut self, commands: &[Command]) -> Vec<Command>;

    /// The user allows these programs, for the bench in its folder: they run from now on, and are not asked about again.
    ///
    /// # Errors
    ///
    /// When that cannot be written down; they run all the same, until the program is left.
    fn allow(&mut self, commands: &[Command]) -> Result<(), String>;

    /// Runs the programs of the bench once more.
    fn run_again(&mut self);

    /// Who is to be told when a program has ended: then [`Edge::changed`] has news.
    fn wake_with(&mut self, wake: Wake);

    /// The bench file on disk, and as the loader knows it; none for a bench without a file.
    fn bench_file(&self) -> Option<(PathBuf, FilePath)> {
        None
    }

    /// The files that were loaded and are links, by name, with what they lead to.
    fn links(&self) -> BTreeMap<Name, Name> {
        BTreeMap::new()
    }

    /// The folder of the bench, as its user would name it.
    fn place(&self) -> String;

    /// What would be under a key if its file held these bytes; none for keys that are no single file.
    fn found_with(&self, key: &FactKey, bytes: &[u8]) -> Option<Found>;
}

/// An edit of the bench file that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// What was written and where, as a sentence for the status line.
    pub said: String,
    /// The event, for blame.
    pub by: Name,
    /// The layers that were changed.
    pub layers: Arc<[Name]>,
}
