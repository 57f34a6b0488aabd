//! The lock of a workspace: one process at a time writes its overlay.
//!
//! A lock is a file that comes into being in one step together with the record of its owner: the record is written beside
//! it and linked to its name, which fails where the name is taken. A folder of that name, as others make one, is a lock,
//! too.
//!
//! A lock whose owner is dead is taken away by whoever first links a *claim* whose name holds the lock's own mark. A mark
//! is used once, so whoever has the claim and still finds that lock may take it away, and nobody who looked a moment ago
//! can take away the next one. A claim has an owner, too, and goes the same way when that one dies.
//!
//! A lock without a readable owner is taken away when it is [`OWNERLESS`] old, or lies as far in the future: then the clock
//! has jumped. No other decision uses the time of day.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

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

/// Claims of dead processes can be nested as deep as processes die in a row while they take one away.
const DEPTH: usize = 16;

/// Takes away the lock of a dead owner, or an old one without; at most one process does. Nothing happens where somebody
/// else is at it.
pub(super) fn take_away(world: &dyn World, path: &Path, what: &str, depth: usize) -> io::Result<()> {
    let gone = |state: &State| matches!(state, State::Dead(_) | State::Ownerless { old: true, .. });
    let Some((record, _)) = read(world, path)? else { return Ok(()) };
    if !gone(&look(world, path)?) || depth > DEPTH {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let claim = folder.join(format!("claim-{}", record.mark));
    if !create(world, &claim, what, &mark())? {
        return take_away(world, &claim, what, depth + 1);
    }
    // Only the owner of the claim may take away what has this mark, so what is found now stays until it does.
    let mut result = Ok(());
    if let Some((now, _)) = read(world, path)?
        && now.mark == record.mark
        && gone(&look(world, path)?)
    {
        let aside = temp::beside(world, path);
        result = world.rename(path, &aside).and_then(|()| world.remove(&aside));
    }
    let removed = world.remove(&claim);
    result.and(removed)
}

/// Takes away what dead processes left beside a lock: claims and files of a moment. Gives how many.
pub(super) fn tidy(world: &dyn World, path: &Path) -> usize {
    let Some(folder) = path.parent() else { return 0 };
    let claims = world.list(folder).unwrap_or_default();
    let claims = claims.iter().filter(|name| name.to_string_lossy().starts_with("claim-"));
    let mut count = 0;
    for claim in claims.map(|name| folder.join(name)) {
        let _ = take_away(world, &claim, "clean", 1);
        count += usize::from(world.about(&claim).is_err());
    }
    count + temp::tidy(world, folder)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;
    use crate::io::overlay::world::Machine;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Folder {
            Folder(tempfile::tempdir().expect("a folder"))
        }

        fn lock(&self) -> PathBuf {
            self.0.path().join("locks/overlay")
        }

        /// Puts a lock there as somebody else would have.
        fn put(&self, record: &str) -> &Folder {
            fs::create_dir_all(self.0.path().join("locks")).expect("made");
            fs::write(self.lock(), record).expect("written");
            self
        }

        fn aged(&self, by: Duration, ahead: bool) -> &Folder {
            let now = SystemTime::now();
            let at = if ahead { now + by } else { now - by };
            fs::File::open(self.lock()).and_then(|lock| lock.set_modified(at)).expect("it has a time");
            self
        }

        fn take(&self, patience: u64) -> Result<Lock<'static>, NoLock> {
            Lock::take(&Machine, &self.lock(), "test", Duration::from_millis(patience))
        }

        fn names(&self) -> Vec<String> {
            let list = Machine.list(&self.0.path().join("locks")).expect("listed");
            list.iter().map(|name| name.to_string_lossy().into_owned()).collect()
        }
    }

    fn dead() -> String {
        format!(r#"{{"pid":{},"mark":"m1","what":"apply"}}"#, i32::MAX)
    }

    #[test]
    fn a_lock_names_its_owner_and_goes_with_it() {
        let folder = Folder::new();
        let lock = folder.take(0).expect("free");
        let State::Held(record) = look(&Machine, &folder.lock()).expect("read") else { panic!("it is held") };
        assert_eq!((record.owner, &*record.what), (Machine.me(), "test"));
        assert_eq!(folder.names(), ["overlay"]);
        let busy = folder.take(30).expect_err("held").to_string();
        assert!(busy.contains(&format!(": process {} (test) has it", std::process::id())), "{busy}");
        assert!(lock.is_ours());
        lock.release().expect("released");
        assert_eq!(folder.names(), Vec::<String>::new());
    }

    #[test]
    fn the_lock_of_a_dead_process_is_taken_over_at_once() {
        let folder = Folder::new();
        let lock = folder.put(&dead()).take(0);
        assert!(
            matches!(&lock, Err(NoLock::Busy { state, .. }) if matches!(**state, State::Dead(_))),
            "without patience it is not tried twice"
        );
        let lock = folder.put(&dead()).take(5_000).expect("taken over");
        assert_eq!(folder.names(), ["overlay"]);
        drop(lock);
        assert_eq!(folder.names(), Vec::<String>::new());
    }

    #[test]
    fn a_number_that_was_given_again_does_not_keep_a_lock() {
        if owner::KNOWS_START {
            let record = format!(r#"{{"pid":{},"start":"1-0"}}"#, std::process::id());
            Folder::new().put(&record).take(5_000).expect("taken over");
        }
    }

    #[test]
    fn a_lock_without_an_owner_is_taken_away_when_it_is_old() {
        let (young, old) = (OWNERLESS - Duration::from_secs(10), OWNERLESS + Duration::from_secs(1));
        for record in ["", "not JSON", r#"{"pid":"x"}"#, "{}"] {
            let folder = Folder::new();
            let told = folder.put(record).aged(young, false).take(0).expect_err("young").to_string();
            assert!(told.contains("it has no owner, and is taken away when it is 30 s old (2"), "{told}");
            assert!(folder.aged(young, true).take(0).is_err(), "a little ahead: two machines, two clocks");
            folder.aged(old, false).take(5_000).expect("old");
            folder.put(record).aged(old, true).take(5_000).expect("the clock has jumped back");
        }
    }

    #[test]
    fn a_folder_is_a_lock_too() {
        let folder = Folder::new();
        fs::create_dir_all(folder.lock()).expect("made");
        assert!(folder.take(0).is_err(), "it is young");
        let owner = folder.lock().join("owner.json");
        fs::write(&owner, format!(r#"{{"pid":{},"ts":1}}"#, std::process::id())).expect("written");
        let told = folder.take(0).expect_err("its owner lives").to_string();
        assert!(told.contains(&format!("process {} has it", std::process::id())), "{told}");
        fs::write(&owner, format!(r#"{{"pid":{}}}"#, i32::MAX)).expect("written");
        drop(folder.take(5_000).expect("its owner is dead"));
        assert_eq!(folder.names(), Vec::<String>::new());
    }

    #[test]
    fn another_machines_lock_is_nobodys_to_take() {
        let far = r#"{"pid":1,"host":"somewhere-else"}"#;
        let told = Folder::new().put(far).take(0).expect_err("far away").to_string();
        assert!(told.ends_with("process 1 of somewhere-else has it"), "{told}");
    }

    #[test]
    fn only_the_owner_releases() {
        let folder = Folder::new();
        let lock = folder.take(0).expect("free");
        let other = format!(r#"{{"pid":{},"mark":"other"}}"#, std::process::id());
        folder.put(&other);
        assert!(!lock.is_ours());
        let told = lock.release().expect_err("not ours").to_string();
        assert!(told.ends_with("somebody has taken it away"), "{told}");
        assert_eq!(fs::read_to_string(folder.lock()).expect("it stays"), other);
    }

    #[test]
    fn a_claim_of_a_dead_process_is_taken_away_too() {
        let folder = Folder::new();
        folder.put(&dead());
        // It died while it took the lock away, and so did the one that took its claim away.
        let locks = folder.lock().with_file_name("x");
        fs::write(locks.with_file_name("claim-m1"), dead().replace("m1", "m2")).expect("written");
        fs::write(locks.with_file_name("claim-m2"), dead().replace("m1", "m3")).expect("written");
        drop(folder.take(5_000).expect("taken over"));
        assert_eq!(folder.names(), Vec::<String>::new());
    }

    #[test]
    fn whoever_looked_too_long_ago_takes_nothing_away() {
        let folder = Folder::new();
        folder.put(&dead());
        let lock = folder.take(5_000).expect("taken over");
        // The other one judged the dead lock a moment ago, and goes on only now.
        take_away(&Machine, &folder.lock(), "late", 0).expect("looked at");
        assert!(lock.is_ours());
        assert_eq!(folder.names(), ["overlay"]);
    }

    #[test]
    fn of_many_that_find_a_dead_owner_one_wins_at_a_time() {
        let folder = Folder::new();
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        for _ in 0..8 {
            folder.put(&dead());
            thread::scope(|scope| {
                for _ in 0..6 {
                    scope.spawn(|| {
                        let lock = folder.take(60_000).expect("in the end it is free");
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        lock.release().expect("ours");
                    });
                }
            });
        }
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert_eq!(folder.names(), Vec::<String>::new());
    }
}
