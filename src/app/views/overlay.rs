//! The life of the overlay on disk: its source, what putting it in and taking it out would do, its lock, its sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::io::edit::bench::ChangedLine;
use crate::io::overlay::status::Status;

/// What is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayView {
    /// The folder that the agent works in, from which paths are shown.
    pub workspace: PathBuf,
    /// The session of the bench; its file is the run's own, where the bench is a scratch copy.
    pub session: String,
    /// True in a scratch copy, in which the run writes its files itself.
    pub scratch: bool,
    /// Everything that is known.
    pub status: Status,
    /// What can be done to the file of the session.
    pub switch: Switch,
    /// What doing it would write, once that was asked for.
    pub plan: Option<OverlayPlan>,
}

/// What can be done to the file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Switch {
    /// It can be put there.
    Apply,
    /// It can be taken out again.
    Strip,
    /// Nothing, and why: one sentence, lower case, without a full stop.
    Refused(Arc<str>),
}

/// What putting the file of a session there, or taking it out, would write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayPlan {
    /// The file, as screens show it.
    pub file: Arc<str>,
    /// What becomes of it: `created`, `written`, `removed`, `unchanged`.
    pub word: &'static str,
    /// The lines that go and come, in order, and what the user should know besides.
    pub lines: Arc<[ChangedLine]>,
    /// Why it cannot be done.
    pub problem: Option<Arc<str>>,
}

impl OverlayView {
    /// A path as screens show it.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }
}
