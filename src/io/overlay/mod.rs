//! The overlay on real files: a block put into a file, or a file of its own for a session, and taken out again.
//!
//! Whatever happens in the middle, a file is what it was or what it was to become: it is replaced whole ([`mod@write`]), by one
//! process at a time ([`lock`]), and not where somebody else has written it meanwhile. What a process leaves behind that dies
//! is removed by the next one. Everything outside goes through [`world::World`], step by step, so that tests can let any step
//! fail or be the last.

mod apply;
mod attributes;
mod clean;
mod end;
#[cfg(test)]
mod faults;
pub mod findings;
pub mod lock;
pub mod owner;
pub mod profile;
pub mod session;
mod source;
pub mod status;
mod temp;
#[cfg(test)]
mod tests;
pub mod watch;
mod whose;
pub mod world;
pub mod write;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use self::clean::{Cleaned, Did};
use self::lock::{Lock, NoLock};
use self::session::Sessions;
use self::world::World;
use self::write::{Unwritten, content};
use crate::core::bench::Markers;
use crate::core::overlay::generated::Sign;
use crate::core::overlay::scan::Stray;

/// How often a file is tried again that others write at the same time.
const TRIES: usize = 8;

/// Which files an overlay is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The folder that the agent works in, absolute.
    pub workspace: PathBuf,
    /// The source, absolute. It need not exist.
    pub source: PathBuf,
    /// The lock of whoever writes.
    pub lock: PathBuf,
    /// The lines around the block.
    pub own: Markers,
    /// Those of other blocks that the files may hold.
    pub others: Vec<Markers>,
    /// What says that the source was generated; none for a bench that has nothing of the kind.
    pub sign: Option<Sign>,
    /// Where the files of sessions are; none for a bench that has none.
    pub sessions: Option<Sessions>,
}

/// What was, or would be, done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What it held; none where there was no file.
    pub before: Option<Vec<u8>>,
    /// What it holds now; none where it was removed.
    pub after: Option<Vec<u8>>,
    /// What the user should know of it, each one sentence.
    pub notes: Vec<String>,
}

impl Change {
    /// What was done, in a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (&self.before, &self.after) {
            (before, after) if before == after => "unchanged",
            (None, _) => "created",
            (_, None) => "removed",
            _ => "written",
        }
    }

    /// True where the file is another one now.
    #[must_use]
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }
}

/// Why an overlay was left as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Markers in a file that belong to no block. It was left alone.
    Markers(PathBuf, Vec<Stray>),
    /// Somebody else is at it.
    Lock(NoLock),
    /// A file cannot be read or written.
    File(PathBuf, String),
    /// The session is somebody else's, or there is none.
    Session(String),
    /// The session belongs to another source.
    OtherFile {
        /// Its id.
        id: String,
        /// That source, absolute.
        source: PathBuf,
    },
}

/// One sentence, lower case, without a full stop.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Markers(path, strays) => match strays.first() {
                Some(stray) => write!(f, "{}: {stray}", path.display()),
                None => write!(f, "{}: its markers cannot be read", path.display()),
            },
            Trouble::Lock(lock) => lock.fmt(f),
            Trouble::File(path, why) => write!(f, "{}: {why}", path.display()),
            Trouble::Session(why) => f.write_str(why),
            Trouble::OtherFile { id, source } => {
                write!(f, "the session {id} belongs to another file: {}", source.display())
            }
        }
    }
}

impl From<NoLock> for Trouble {
    fn from(lock: NoLock) -> Trouble {
        Trouble::Lock(lock)
    }
}

/// What a session's file and the block in it are to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The block with its markers.
    pub block: String,
    /// The whole file of the session, its last line ended.
    pub file: String,
}

/// The overlay of a site.
#[derive(Clone, Copy)]
pub struct Overlay<'w> {
    /// Where it happens.
    pub world: &'w dyn World,
    /// The files.
    pub site: &'w Site,
    /// How long is waited for others.
    pub patience: Duration,
    /// True to say what would be done, and do nothing.
    pub dry: bool,
}

impl fmt::Debug for Overlay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlay").field("site", &self.site).field("dry", &self.dry).finish_non_exhaustive()
    }
}

/// What becomes of a file: bytes, or none where it goes; and what is to be said of it.
type Made = (Option<Vec<u8>>, Vec<String>);

/// What makes it of what the file holds.
type Make<'m> = dyn Fn(Option<&[u8]>) -> Result<Made, Trouble> + 'm;

impl Overlay<'_> {
    fn content(&self, path: &Path) -> Result<Option<Vec<u8>>, Trouble> {
        content(self.world, path).map_err(|why| Trouble::File(path.to_owned(), why))
    }

    fn keeps_changing(&self, path: &Path) -> Trouble {
        Trouble::File(path.to_owned(), "others keep writing it: nothing was written".into())
    }

    /// Does something while nobody else does.
    fn locked<T>(&self, what: &str, act: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
        if self.dry {
            return act();
        }
        let lock = Lock::take(self.world, &self.site.lock, what, self.patience)?;
        self.tidy();
        let done = act();
        // What failed is told first; a lock that is not ours any more is told all the same.
        let released = lock.release();
        let done = done?;
        released?;
        Ok(done)
    }

    /// Replaces a file's content; false where somebody else has written it meanwhile.
    fn put(&self, path: &Path, now: Option<&[u8]>, after: Option<&[u8]>) -> Result<bool, Trouble> {
        if self.dry {
            return Ok(true);
        }
        match write::replace(self.world, path, now, after) {
            Ok(()) => Ok(true),
            Err(Unwritten::Changed) => Ok(false),
            Err(Unwritten::Failed(why)) => Err(Trouble::File(path.to_owned(), why)),
        }
    }

    /// Makes one file of another, as often as others write it meanwhile.
    fn edit(&self, path: &Path, what: &str, make: &Make<'_>) -> Result<Change, Trouble> {
        let before = self.content(path)?;
        let (after, notes) = make(before.as_deref())?;
        // Where there is nothing to do, nobody is kept waiting and nothing is made.
        if before == after {
            return Ok(Change { path: path.to_owned(), before, after, notes });
        }
        self.locked(what, || {
            for _ in 0..TRIES {
                let before = self.content(path)?;
                let (after, notes) = make(before.as_deref())?;
                if self.put(path, before.as_deref(), after.as_deref())? {
                    return Ok(Change { path: path.to_owned(), before, after, notes });
                }
            }
            Err(self.keeps_changing(path))
        })
    }
}
