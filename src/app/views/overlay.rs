//! The life of the overlay on disk: its source, what putting it in and taking it out would do, its lock, its sessions.

use std::path::{Path, PathBuf};

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
}

impl OverlayView {
    /// A path as screens show it.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }
}
