//! What tells cheaply that a file may have changed.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A file system's clock ticks every few milliseconds: what was written so shortly before it was read may be written
/// again without a new time.
const TICK: Duration = Duration::from_millis(100);

/// What `stat` says about a path, links followed. Equal stamps mean "most likely the same content".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// There is nothing.
    Absent,
    /// It cannot be looked at.
    Failed(ErrorKind),
    /// It is there.
    There { modified: Option<SystemTime>, len: u64, folder: bool, more: (u64, u64, i64, i64, u32) },
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Stamp {
        match fs::metadata(path) {
            Ok(metadata) => Stamp::from(&metadata),
            Err(error) if is_absent(error.kind()) => Stamp::Absent,
            Err(error) => Stamp::Failed(error.kind()),
        }
    }

    /// False for what was written just before now: the same stamp may come again with other content.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        match self {
            Stamp::There { modified: Some(modified), .. } => {
                now.duration_since(*modified).is_ok_and(|age| age > TICK)
            }
            Stamp::There { modified: None, .. } => false,
            _ => true,
        }
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        let more = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec(), metadata.mode())
        };
        #[cfg(not(unix))]
        let more = (0, 0, 0, 0, u32::from(metadata.permissions().readonly()));
        Stamp::There {
            modified: metadata.modified().ok(),
            len: metadata.len(),
            folder: metadata.is_dir(),
            more,
        }
    }
}

/// No such path: nothing there, or a file where a folder is named.
pub(super) fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
