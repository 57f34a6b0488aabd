//! What the engine needs of the world, so that tests can give it another.

use std::path::PathBuf;
use std::sync::Arc;

use crate::core::bench::Bench;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{FactKey, FilePath, Found, Name};
use crate::core::run::Load;

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

    /// In a scratch copy only: makes the files on disk those of the shown step (none: deleted).
    fn project(&mut self, files: &[(FilePath, Option<Arc<str>>)]);
}
