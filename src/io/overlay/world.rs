//! What the overlay does outside of itself, one step at a time, so that a test can make every step fail, or be the last
//! one of a process that dies.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use super::attributes;
use super::owner::{self, Owner};

/// What something on disk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// What kind of thing.
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// Permission bits; 0 where the system has none.
    pub mode: u32,
    /// User and group; 0 where the system has none.
    pub owner: (u32, u32),
    /// How many names it has.
    pub names: u64,
    /// True where nobody may write it.
    pub read_only: bool,
    /// When it was written last.
    pub modified: SystemTime,
    /// Device and number, which tell it from everything else.
    pub id: (u64, u64),
}

/// Kinds of things on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Anything else.
    Other,
}

/// Files, processes and clocks. Every method is one step.
pub trait World: Send + Sync {
    /// A file's bytes.
    ///
    /// # Errors
    ///
    /// As the system, here and below.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// What a path leads to, links followed.
    ///
    /// # Errors
    ///
    /// As the system.
    fn about(&self, path: &Path) -> io::Result<About>;
    /// True for a link, wherever it leads.
    fn is_link(&self, path: &Path) -> bool;
    /// The path without links.
    ///
    /// # Errors
    ///
    /// As the system.
    fn real(&self, path: &Path) -> io::Result<PathBuf>;
    /// The names in a folder, in order.
    ///
    /// # Errors
    ///
    /// As the system.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// Makes a folder, and those above it.
    ///
    /// # Errors
    ///
    /// As the system.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;
    /// Makes an empty file that must not be there yet; `private` for one that nobody else may read meanwhile.
    ///
    /// # Errors
    ///
    /// As the system.
    fn create(&self, path: &Path, private: bool) -> io::Result<()>;
    /// Writes into an empty file.
    ///
    /// # Errors
    ///
    /// As the system.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Gives a file the extended attributes of another, lists of access rights among them, and no others.
    ///
    /// # Errors
    ///
    /// The first that cannot be kept, by its name.
    fn attributes(&self, path: &Path, of: &Path) -> io::Result<()>;
    /// Gives a file the owner and the permissions of another.
    ///
    /// # Errors
    ///
    /// As the system.
    fn liken(&self, path: &Path, to: &About) -> io::Result<()>;
    /// Sees that what was written is on the disk.
    ///
    /// # Errors
    ///
    /// As the system.
    fn sync(&self, path: &Path) -> io::Result<()>;
    /// Sees that the names in a folder are on the disk, where the system can.
    fn sync_folder(&self, folder: &Path);
    /// Opens a file for writing and closes it again.
    ///
    /// # Errors
    ///
    /// As the system.
    fn try_write(&self, path: &Path) -> io::Result<()>;
    /// Gives a file another name, over whatever has it.
    ///
    /// # Errors
    ///
    /// As the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file another name, which must not be there yet.
    ///
    /// # Errors
    ///
    /// As the system.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Lets two files change places in one step; false where the system cannot.
    ///
    /// # Errors
    ///
    /// As the system.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool>;
    /// Gives a file a second name, which must not be there yet.
    ///
    /// # Errors
    ///
    /// As the system.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, or a folder with what is in it.
    ///
    /// # Errors
    ///
    /// As the system.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// This process.
    fn me(&self) -> Owner;
    /// True for a process that lives, as far as that can be told.
    fn alive(&self, owner: &Owner) -> bool;
    /// The time of day, which may jump.
    fn now(&self) -> SystemTime;
    /// The time since some moment, which only goes on.
    fn elapsed(&self) -> Duration;
    /// Waits.
    fn sleep(&self, time: Duration);
}

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

/// Where time is counted from.
static START: OnceLock<Instant> = OnceLock::new();

impl World for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn about(&self, path: &Path) -> io::Result<About> {
        let metadata = fs::metadata(path)?;
        let kind = match metadata.file_type() {
            of if of.is_file() => Kind::File,
            of if of.is_dir() => Kind::Folder,
            _ => Kind::Other,
        };
        let (mode, owner, names, id) = numbers(&metadata);
        Ok(About {
            kind,
            len: metadata.len(),
            mode,
            owner,
            names,
            read_only: metadata.permissions().readonly(),
            modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            id,
        })
    }

    fn is_link(&self, path: &Path) -> bool {
        path.is_symlink()
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let mut names: Vec<OsString> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    fn create(&self, path: &Path, private: bool) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = private;
        options.open(path).map(drop)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.write_all(bytes)
    }

    fn attributes(&self, path: &Path, of: &Path) -> io::Result<()> {
        attributes::copy(of, path)
    }

    fn liken(&self, path: &Path, to: &About) -> io::Result<()> {
        liken(path, to)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.sync_all()
    }

    fn sync_folder(&self, folder: &Path) {
        // Not every system can, and what was written is in its place all the same.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }

    fn try_write(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(path).map(drop)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match flagged::rename_new(from, to) {
            Some(done) => done,
            None => {
                fs::hard_link(from, to)?;
                fs::remove_file(from)
            }
        }
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        flagged::exchange(one, other)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::symlink_metadata(path)?.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        }
    }

    fn me(&self) -> Owner {
        owner::me()
    }

    fn alive(&self, owner: &Owner) -> bool {
        owner::alive(owner)
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        START.get_or_init(Instant::now).elapsed()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Permission bits, user and group, names, and what tells a file from others.
type Numbers = (u32, (u32, u32), u64, (u64, u64));

#[cfg(unix)]
fn numbers(metadata: &fs::Metadata) -> Numbers {
    use std::os::unix::fs::MetadataExt;
    let owner = (metadata.uid(), metadata.gid());
    (metadata.mode() & 0o7777, owner, metadata.nlink(), (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn numbers(_: &fs::Metadata) -> Numbers {
    (0, (0, 0), 1, (0, 0))
}

#[cfg(unix)]
fn liken(path: &Path, to: &About) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let own = fs::metadata(path)?;
    if (own.uid(), own.gid()) != to.owner {
        chown(path, Some(to.owner.0), Some(to.owner.1))?;
    }
    fs::set_permissions(path, fs::Permissions::from_mode(to.mode))
}

#[cfg(not(unix))]
fn liken(_: &Path, _: &About) -> io::Result<()> {
    Ok(())
}

/// Renaming with conditions, where the system has it.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod flagged {
    use std::io;
    use std::path::Path;

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    fn cannot(error: Errno) -> bool {
        [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
    }

    /// None where the file system cannot.
    pub(super) fn rename_new(from: &Path, to: &Path) -> Option<io::Result<()>> {
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(error) if cannot(error) => None,
            done => Some(done.map_err(Into::into)),
        }
    }

    pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(error) if cannot(error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod flagged {
    use std::io;
    use std::path::Path;

    pub(super) fn rename_new(_: &Path, _: &Path) -> Option<io::Result<()>> {
        None
    }

    pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
        Ok(false)
    }
}

/// A problem of the system, in words: lower case, without a full stop.
pub(super) fn reason(error: &io::Error) -> String {
    let looped = match error.raw_os_error() {
        #[cfg(unix)]
        Some(code) => code == rustix::io::Errno::LOOP.raw_os_error(),
        _ => false,
    };
    match error.kind() {
        _ if looped => "links lead in a circle".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk can only be read".into(),
        _ => crate::io::load::reason(error),
    }
}
