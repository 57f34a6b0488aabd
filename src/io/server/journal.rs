//! What a server keeps of its sessions, so that none is lost with it: one file for each, a line for each message taken.
//!
//! A line is on the disk, and not only in the system's memory, before its reply is sent: a machine that loses its power
//! loses nothing that somebody was told of. A last line without its end is what a server could not write any more before
//! it was killed: nobody was told of it, so it counts as not taken.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::protocol::SessionId;
use crate::core::fact::{FactKey, Found, Name};
use crate::core::run::Input;

/// The version of these files.
const VERSION: u32 = 1;

/// One thing that happened to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Did {
    /// A message with this id was taken.
    Taken(Arc<str>),
    /// A turn began with the message of this id.
    Began(Option<Arc<str>>),
    /// The session took an input.
    Input(Input),
    /// It was supplied with what it needed.
    Supplied(Vec<(FactKey, Found)>),
    /// A client reported a field, or cleared it.
    Reported(Name, Option<Arc<str>>),
    /// A message waits: its id and content.
    Queued(Option<Arc<str>>, Arc<str>),
    /// The message that waits last says something else.
    Requeued(Option<Arc<str>>, Arc<str>),
    /// The message that waits first is taken.
    Dequeued,
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    session: Arc<str>,
}

/// What was kept of a session, a list for each message, and the file to go on with.
pub(super) type Kept = (Vec<Vec<Did>>, Journal);

/// Why sessions cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unkept {
    /// Another server keeps the sessions of this bench.
    InUse,
    /// The folder cannot be used: one sentence, lower case, without a full stop.
    Failed(String),
}

/// The files of one bench. While it is open no other server of the same bench is.
#[derive(Debug, Default)]
pub struct Journals {
    folder: Option<PathBuf>,
    /// Locked for as long as it is open.
    _lock: Option<File>,
}

impl Journals {
    /// Nothing is kept.
    #[must_use]
    pub fn none() -> Journals {
        Journals::default()
    }

    /// Those in a folder for servers' sessions, of the bench with this path, which should be canonical.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made or written, or another server has these files open.
    pub fn open(state: &Path, bench: &Path) -> Result<Journals, Unkept> {
        let folder = state.join(hash(bench.to_string_lossy().as_bytes()));
        let failed = |error: &io::Error| {
            Unkept::Failed(format!(
                "{} cannot be written: {}",
                folder.display(),
                crate::io::load::reason(error)
            ))
        };
        private_folder(&folder).map_err(|error| failed(&error))?;
        let lock = private().create(true).truncate(false).write(true).open(folder.join("lock"));
        let lock = lock.map_err(|error| failed(&error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Journals { folder: Some(folder), _lock: Some(lock) }),
            Err(fs::TryLockError::WouldBlock) => Err(Unkept::InUse),
            // Some network folders know no locks: two servers there are the user's to avoid.
            Err(fs::TryLockError::Error(_)) => Ok(Journals { folder: Some(folder), _lock: None }),
        }
    }

    /// How many sessions are kept.
    #[must_use]
    pub(super) fn count(&self) -> usize {
        let files = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let journal = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "jsonl");
        files.map_or(0, |files| files.flatten().filter(journal).count())
    }

    fn path(&self, id: &SessionId) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(hash(id.0.as_bytes())).with_extension("jsonl"))
    }

    /// What was kept of a session, a list for each message, and the file to go on with; none where nothing was kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is of a version that this program does not know.
    pub(super) fn load(&self, id: &SessionId) -> Result<Option<Kept>, String> {
        let Some(path) = self.path(id) else { return Ok(None) };
        let mut file = match private().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(crate::io::load::reason(&error)),
        };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| crate::io::load::reason(&error))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let Some(head) = lines.next() else {
            // Killed with its first line half written: there is no such session.
            drop(file);
            fs::remove_file(&path).map_err(|error| crate::io::load::reason(&error))?;
            return Ok(None);
        };
        let head: Head = serde_json::from_str(head).map_err(|error| error.to_string())?;
        if head.version != VERSION || head.session != id.0 {
            return Err("what was kept of it is of another version".to_owned());
        }
        let kept =
            lines.map(serde_json::from_str).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        file.set_len(whole as u64).map_err(|error| crate::io::load::reason(&error))?;
        Ok(Some((kept, Journal { path: Some(path), file: Some(file), bytes: whole as u64 })))
    }

    /// The names of files reach the disk on their own.
    fn sync_folder(&self) {
        // Not every system lets a folder be opened; those that do not keep names by themselves.
        let folder = self.folder.as_ref().and_then(|folder| File::open(folder).ok());
        let _ = folder.map(|folder| folder.sync_all());
    }

    /// The file of a new session.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(super) fn create(&self, id: &SessionId) -> Result<Journal, String> {
        let Some(path) = self.path(id) else { return Ok(Journal::default()) };
        let file = private().create_new(true).append(true).open(&path);
        let file = file.map_err(|error| crate::io::load::reason(&error))?;
        let mut journal = Journal { path: Some(path), file: Some(file), bytes: 0 };
        journal.line(&Head { version: VERSION, session: id.0.clone() })?;
        self.sync_folder();
        Ok(journal)
    }
}

/// The file of one session.
#[derive(Debug, Default)]
pub(super) struct Journal {
    path: Option<PathBuf>,
    file: Option<File>,
    bytes: u64,
}

impl Journal {
    /// How large it is.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes what a message did.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(super) fn append(&mut self, did: &[Did]) -> Result<(), String> {
        self.line(&did)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), String> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut line = serde_json::to_vec(value).map_err(|error| error.to_string())?;
        line.push(b'\n');
        if let Err(error) = file.write_all(&line).and_then(|()| file.sync_data()) {
            // What was written of it would run into the next line.
            let _ = file.set_len(self.bytes);
            return Err(crate::io::load::reason(&error));
        }
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Forgets the session.
    pub(super) fn remove(self) {
        if let Some(path) = self.path {
            // One that cannot be removed is found again; there is nobody to tell who could do more about it.
            let _ = fs::remove_file(path);
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes)[..16].iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// For nobody but this user: prompts and rules are private.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId(text.into())
    }

    #[test]
    fn what_was_written_is_found_again_without_a_half_written_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = Path::new("/b/bench.yaml");
        let did = [Did::Taken("m1".into()), Did::Input(Input::User("hi".into())), Did::Dequeued];
        let path = {
            let journals = Journals::open(folder.path(), bench).expect("it opens");
            assert!(matches!(Journals::open(folder.path(), bench), Err(Unkept::InUse)));
            assert!(Journals::open(folder.path(), Path::new("/other")).is_ok());
            assert!(journals.load(&id("11")).expect("readable").is_none());
            let mut journal = journals.create(&id("11")).expect("new");
            journal.append(&did).expect("written");
            assert_eq!(journals.count(), 1);
            journals.path(&id("11")).expect("a path")
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        }
        let mut text = fs::read_to_string(&path).expect("there");
        text.push_str("[{\"taken\":\"m2");
        fs::write(&path, &text).expect("written");
        let journals = Journals::open(folder.path(), bench).expect("it is free again");
        let (kept, mut journal) = journals.load(&id("11")).expect("readable").expect("kept");
        assert_eq!(kept, [did.to_vec()]);
        journal.append(&did[..1]).expect("written");
        let (kept, journal) = journals.load(&id("11")).expect("readable").expect("kept");
        assert_eq!(kept, [did.to_vec(), did[..1].to_vec()]);
        journal.remove();
        assert!(journals.load(&id("11")).expect("readable").is_none());
    }
}
