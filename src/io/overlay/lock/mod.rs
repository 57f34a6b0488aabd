//! The lock of a workspace: one process at a time writes its overlay.
//!
//! A lock is a file that comes into being in one step together with the record of its owner: the record is written beside
//! it and linked to its name, which fails where the name is taken. A folder of that name, as others make one, is a lock,
//! too.
//!
//! A lock whose owner is dead is taken away by one of those that find it (`claim`).
//!
//! A lock without a readable owner is taken away when it is [`OWNERLESS`] old, or lies as far in the future: then the clock
//! has jumped. No other decision uses the time of day.

mod claim;

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use self::claim::take_away;
pub(super) use self::claim::tidy;
use super::owner::{self, Owner};
use super::temp;
use super::world::{Kind, World, reason};

/// How old a lock without an owner has to be before it is taken away.
pub const OWNERLESS: Duration = Duration::from_secs(30);
/// How long is waited for a lock unless somebody says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked at meanwhile.
const POLL: Duration = Duration::from_millis(20);

/// Who has a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The process.
    #[serde(flatten)]
    pub owner: Owner,
    /// When it took the lock, in seconds since 1970, for people.
    #[serde(default)]
    pub at: u64,
    /// What for.
    #[serde(default)]
    pub what: String,
    /// What tells this lock from every other.
    #[serde(default)]
    pub mark: String,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.owner.pid)?;
        if !owner::is_here(&self.owner) {
            write!(f, " of {}", self.owner.host)?;
        }
        if !self.what.is_empty() {
            write!(f, " ({})", self.what)?;
        }
        Ok(())
    }
}

/// A lock as it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// There is none.
    Free,
    /// Somebody has it.
    Held(Record),
    /// Whoever had it is dead.
    Dead(Record),
    /// Nobody can be read in it; its age, as far as the clock tells.
    Ownerless {
        /// Its age.
        age: Duration,
        /// True where it is old enough to be taken away.
        old: bool,
    },
}

/// Why there is no lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLock {
    /// Somebody else has it, and kept it for as long as was waited.
    Busy {
        /// The lock.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
        /// As it was found last.
        state: Box<State>,
    },
    /// It cannot be made, read or taken away.
    Failed {
        /// The lock.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// One sentence, lower case, without a full stop.
impl fmt::Display for NoLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoLock::Busy { path, waited, state } => {
                let who = match &**state {
                    State::Held(record) | State::Dead(record) => format!("{record} has it"),
                    State::Free => "others were faster each time".into(),
                    State::Ownerless { age, .. } => {
                        let secs = OWNERLESS.as_secs();
                        format!(
                            "it has no owner, and is taken away when it is {secs} s old ({} s now)",
                            age.as_secs()
                        )
                    }
                };
                write!(f, "no lock {} within {:.1} s: {who}", path.display(), waited.as_secs_f64())
            }
            NoLock::Failed { path, reason } => {
                write!(f, "the lock {} cannot be had: {reason}", path.display())
            }
        }
    }
}

/// A lock that this process has.
pub struct Lock<'w> {
    world: &'w dyn World,
    path: PathBuf,
    mark: String,
    released: bool,
}

impl fmt::Debug for Lock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").field("path", &self.path).field("mark", &self.mark).finish_non_exhaustive()
    }
}

impl<'w> Lock<'w> {
    /// Takes a lock, and waits for it at most so long.
    ///
    /// # Errors
    ///
    /// When somebody else keeps it, or the disk does not let it be made.
    pub fn take(
        world: &'w dyn World,
        path: &Path,
        what: &str,
        patience: Duration,
    ) -> Result<Lock<'w>, NoLock> {
        let failed = |error: io::Error| NoLock::Failed { path: path.to_owned(), reason: reason(&error) };
        if let Some(folder) = path.parent() {
            world.make_folder(folder).map_err(failed)?;
        }
        let start = world.elapsed();
        // Right after a dead one's lock is gone, it is tried again at once.
        let mut at_once = 8;
        loop {
            let state = look(world, path).map_err(failed)?;
            match &state {
                State::Free => {
                    let mark = mark();
                    if create(world, path, what, &mark).map_err(failed)? {
                        if let Some(folder) = path.parent() {
                            temp::tidy(world, folder);
                        }
                        return Ok(Lock { world, path: path.to_owned(), mark, released: false });
                    }
                }
                State::Dead(_) | State::Ownerless { old: true, .. } => {
                    take_away(world, path, what, 0).map_err(failed)?;
                }
                State::Held(_) | State::Ownerless { .. } => {}
            }
            let waited = world.elapsed().saturating_sub(start);
            if waited >= patience {
                return Err(NoLock::Busy { path: path.to_owned(), waited, state: Box::new(state) });
            }
            if at_once > 0 && matches!(state, State::Dead(_) | State::Ownerless { old: true, .. }) {
                at_once -= 1;
            } else {
                world.sleep(POLL.min(patience.saturating_sub(waited)));
            }
        }
    }

    /// True while the lock is still this one.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        matches!(read(self.world, &self.path), Ok(Some((record, _))) if record.mark == self.mark)
    }

    /// Gives the lock back.
    ///
    /// # Errors
    ///
    /// When it cannot be removed, or is not ours any more: then it is left alone.
    pub fn release(mut self) -> Result<(), NoLock> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<(), NoLock> {
        if std::mem::replace(&mut self.released, true) {
            return Ok(());
        }
        // A lock that stays for a passing fault would keep everybody out until this process ends.
        let mut told = String::new();
        for _ in 0..3 {
            match read(self.world, &self.path) {
                Ok(Some((record, _))) if record.mark == self.mark => match self.world.remove(&self.path) {
                    Ok(()) => return Ok(()),
                    Err(error) => told = reason(&error),
                },
                Ok(_) => {
                    told = "somebody has taken it away".into();
                    break;
                }
                Err(error) => told = reason(&error),
            }
        }
        Err(NoLock::Failed { path: self.path.clone(), reason: told })
    }
}

/// Whatever goes wrong, the lock does not stay.
impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Whoever comes next finds out that its owner is gone.
        let _ = self.give_back();
    }
}

/// What tells one lock from every other, also from one of the same process number.
fn mark() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("{}{:x}", run(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// What all marks of this process start with.
fn run() -> &'static str {
    static RUN: OnceLock<String> = OnceLock::new();
    RUN.get_or_init(|| {
        // Each of these is another in each process, whatever its number.
        let seed = std::hash::RandomState::new();
        format!("{:016x}", std::hash::BuildHasher::hash_one(&seed, std::process::id()))
    })
}

/// Makes a lock with its owner's record, in one step; false where there is one.
fn create(world: &dyn World, path: &Path, what: &str, mark: &str) -> io::Result<bool> {
    let at = world.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let record = Record { owner: world.me(), at, what: what.into(), mark: mark.into() };
    let text = serde_json::to_vec(&record)?;
    let beside = temp::beside(world, path);
    world.create(&beside, false)?;
    let made = world.write(&beside, &text).and_then(|()| world.link(&beside, path));
    let removed = world.remove(&beside);
    match made {
        // A second name that cannot be removed now is removed when this process is gone.
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => removed.map(|()| false),
        // Somebody took it for that of a dead process; it is tried again.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) if cannot_link(&error) => {
            match world.create(path, false) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
                Err(error) => return Err(error),
            }
            // Whoever looks now finds no owner, and waits.
            world.write(path, &text)?;
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

/// True where the file system has no second names.
fn cannot_link(error: &io::Error) -> bool {
    #[cfg(unix)]
    let code = error.raw_os_error().is_some_and(|code| {
        use rustix::io::Errno;
        [Errno::PERM, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::MLINK]
            .iter()
            .any(|errno| errno.raw_os_error() == code)
    });
    #[cfg(not(unix))]
    let code = false;
    code || error.kind() == ErrorKind::Unsupported
}

/// The record in a lock and its file's own mark; none where there is no lock. A record without a mark gets that of its
/// file.
fn read(world: &dyn World, path: &Path) -> io::Result<Option<(Record, SystemTime)>> {
    let about = match world.about(path) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let file = if about.kind == Kind::Folder { path.join("owner.json") } else { path.to_owned() };
    let bytes = match world.read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound && about.kind != Kind::Folder => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut record = serde_json::from_slice(&bytes).unwrap_or_else(|_| nobody());
    if record.mark.is_empty() {
        let nanos = about.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        record.mark = format!("f{}-{}-{nanos}", about.id.0, about.id.1);
    }
    // It becomes the name of a file.
    record.mark.retain(|c| c.is_ascii_alphanumeric() || c == '-');
    record.mark.truncate(100);
    Ok(Some((record, about.modified)))
}

fn nobody() -> Record {
    Record {
        owner: Owner { pid: 0, start: None, host: String::new() },
        at: 0,
        what: String::new(),
        mark: String::new(),
    }
}

/// How a lock is found.
///
/// # Errors
///
/// When it cannot be read.
pub fn look(world: &dyn World, path: &Path) -> io::Result<State> {
    let Some((record, modified)) = read(world, path)? else { return Ok(State::Free) };
    if record.owner.pid == 0 {
        let now = world.now();
        let (age, old) = match now.duration_since(modified) {
            Ok(age) => (age, age >= OWNERLESS),
            Err(ahead) => (Duration::ZERO, ahead.duration() >= OWNERLESS),
        };
        return Ok(State::Ownerless { age, old });
    }
    // Where the system does not tell when a process started, our own number in another's record was given again.
    let ours = owner::KNOWS_START || record.owner.pid != world.me().pid || record.mark.starts_with(run());
    Ok(if ours && world.alive(&record.owner) { State::Held(record) } else { State::Dead(record) })
}

#[cfg(test)]
mod tests;
