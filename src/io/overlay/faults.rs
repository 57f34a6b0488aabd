//! A process that dies, or that meets a fault, at any of its steps.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::owner::Owner;
use super::world::{About, Machine, World};

/// Which of the processes of a test live.
pub(super) type Living = Arc<Mutex<BTreeSet<u32>>>;

/// What happens at one step.
pub(super) enum Fault {
    /// Nothing.
    None,
    /// The process dies before it; a write gets half of its bytes down.
    Death,
    /// The machine loses its power before it: what was written and is not on the disk is gone.
    PowerLoss,
    /// It fails, and everything after it works.
    Once(ErrorKind),
    /// It and every later step of its kind fail, as on a full disk.
    From(ErrorKind),
    /// Something else happens just before it.
    Meanwhile(Box<dyn Fn() + Send + Sync>),
}

/// A process on a real disk, with a clock of its own.
pub(super) struct Process {
    me: Owner,
    living: Living,
    at: usize,
    fault: Fault,
    step: AtomicUsize,
    dead: AtomicBool,
    /// How far its clock is off, in seconds; it jumps by as much at each step.
    pub(super) off: AtomicI64,
    jump: i64,
    /// How long it has slept, in milliseconds; nobody really waits.
    slept: AtomicUsize,
    /// Files that were written and are not on the disk yet, under whatever name.
    unsynced: Mutex<Vec<File>>,
}

/// Numbers that no real process has.
static NEXT: AtomicU32 = AtomicU32::new(i32::MAX as u32 / 2);

impl Process {
    pub(super) fn new(living: &Living, at: usize, fault: Fault) -> Process {
        let pid = NEXT.fetch_add(1, Ordering::Relaxed);
        living.lock().expect("no panic").insert(pid);
        Process {
            me: Owner { pid, start: Some(format!("{pid}-0")), host: Machine.me().host },
            living: living.clone(),
            at,
            fault,
            step: AtomicUsize::new(0),
            dead: AtomicBool::new(false),
            off: AtomicI64::new(0),
            jump: 0,
            slept: AtomicUsize::new(0),
            unsynced: Mutex::default(),
        }
    }

    /// One whose clock jumps by so many seconds at every step.
    pub(super) fn jumping(living: &Living, jump: i64) -> Process {
        Process { jump, ..Process::new(living, 0, Fault::None) }
    }

    /// True when the step at which something was to happen was reached.
    pub(super) fn reached(&self) -> bool {
        self.step.load(Ordering::Relaxed) >= self.at
    }

    pub(super) fn slept(&self) -> usize {
        self.slept.load(Ordering::Relaxed)
    }

    /// The process ends; whatever it left stays.
    pub(super) fn end(&self) {
        self.dead.store(true, Ordering::Relaxed);
        self.living.lock().expect("no panic").remove(&self.me.pid);
    }

    fn gone() -> io::Error {
        io::Error::other("this process is dead")
    }

    /// True for half of a write before death.
    fn step(&self, writes: bool) -> io::Result<bool> {
        if self.dead.load(Ordering::Relaxed) {
            return Err(Process::gone());
        }
        self.off.fetch_add(self.jump, Ordering::Relaxed);
        let step = self.step.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.fault {
            Fault::Death if step == self.at => {
                self.end();
                if writes { Ok(true) } else { Err(Process::gone()) }
            }
            Fault::PowerLoss if step == self.at => {
                self.end();
                for file in self.unsynced.lock().expect("no panic").iter() {
                    file.set_len(0)?;
                }
                Err(Process::gone())
            }
            Fault::Once(kind) if step == self.at => Err((*kind).into()),
            Fault::From(kind) if step >= self.at && writes => Err((*kind).into()),
            Fault::Meanwhile(act) if step == self.at => {
                act();
                Ok(false)
            }
            _ => Ok(false),
        }
    }
}

#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Without numbers of files, only one of this length can be meant.
#[cfg(not(unix))]
fn same(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len()
}

impl World for Process {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.step(false)?;
        Machine.read(path)
    }

    fn about(&self, path: &Path) -> io::Result<About> {
        self.step(false)?;
        Machine.about(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        Machine.is_link(path)
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.step(false)?;
        Machine.real(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.step(false)?;
        Machine.list(folder)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.step(false)?;
        Machine.make_folder(folder)
    }

    fn create(&self, path: &Path, private: bool) -> io::Result<()> {
        self.step(false)?;
        Machine.create(path, private)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.step(true)? {
            Machine.write(path, &bytes[..bytes.len() / 2])?;
            return Err(Process::gone());
        }
        Machine.write(path, bytes)?;
        let file = OpenOptions::new().write(true).open(path)?;
        self.unsynced.lock().expect("no panic").push(file);
        Ok(())
    }

    fn attributes(&self, path: &Path, of: &Path) -> io::Result<()> {
        self.step(false)?;
        Machine.attributes(path, of)
    }

    fn liken(&self, path: &Path, to: &About) -> io::Result<()> {
        self.step(false)?;
        Machine.liken(path, to)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.step(false)?;
        // It does not really wait for the disk; only what the machine would lose is kept in mind.
        let is = |file: &File| Ok::<_, io::Error>(same(&file.metadata()?, &fs::metadata(path)?));
        self.unsynced.lock().expect("no panic").retain(|file| !is(file).unwrap_or(false));
        Ok(())
    }

    fn sync_folder(&self, _: &Path) {
        let _ = self.step(false);
    }

    fn try_write(&self, path: &Path) -> io::Result<()> {
        self.step(false)?;
        Machine.try_write(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(false)?;
        Machine.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(false)?;
        Machine.rename_new(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        self.step(false)?;
        Machine.exchange(one, other)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(false)?;
        Machine.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(false)?;
        Machine.remove(path)
    }

    fn me(&self) -> Owner {
        self.me.clone()
    }

    fn alive(&self, owner: &Owner) -> bool {
        self.living.lock().expect("no panic").contains(&owner.pid)
    }

    fn now(&self) -> SystemTime {
        let off = self.off.load(Ordering::Relaxed);
        let by = Duration::from_secs(off.unsigned_abs());
        if off < 0 { SystemTime::now() - by } else { SystemTime::now() + by }
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.slept() as u64)
    }

    fn sleep(&self, time: Duration) {
        std::thread::yield_now();
        self.slept.fetch_add(time.as_millis() as usize, Ordering::Relaxed);
    }
}
