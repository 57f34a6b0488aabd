//! The overlay on real files: a block put into a file, or a file of its own for a session, and taken out again.
//!
//! Whatever happens in the middle, a file is what it was or what it was to become: it is replaced whole ([`mod@write`]), by one
//! process at a time ([`lock`]), and not where somebody else has written it meanwhile. What a process leaves behind that dies
//! is removed by the next one. Everything outside goes through [`world::World`], step by step, so that tests can let any step
//! fail or be the last.

#[cfg(test)]
mod faults;
pub mod lock;
pub mod owner;
pub mod profile;
pub mod session;
pub mod status;
mod temp;
#[cfg(test)]
mod tests;
pub mod watch;
pub mod world;
pub mod write;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::lock::{Lock, NoLock};
use self::owner::Owner;
use self::session::{Life, Record, Sessions, Target, sha256};
use self::world::World;
use self::write::{Unwritten, content};
use crate::core::bench::Markers;
use crate::core::overlay::file::{apply_among, strip_among};
use crate::core::overlay::generated::{self, Sign};
use crate::core::overlay::scan::{Stray, scan};

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

impl<'w> Overlay<'w> {
    /// Puts a block at the end of the source, in place of those that it holds.
    ///
    /// # Errors
    ///
    /// When the source has to be left alone, or cannot be written.
    pub fn apply_source(&self, block: &str) -> Result<Change, Trouble> {
        let path = &self.site.source;
        self.edit(path, "apply", &|now| self.with_block(path, now, block))
    }

    /// Takes every block out of the source. A file that was made for its block goes with it.
    ///
    /// # Errors
    ///
    /// As [`Overlay::apply_source`].
    pub fn strip_source(&self) -> Result<Change, Trouble> {
        let path = &self.site.source;
        self.edit(path, "strip", &|now| self.without_block(path, now))
    }

    /// Puts the line into the source that says that it was generated, once. Everything else in it stays byte for byte.
    ///
    /// # Errors
    ///
    /// Where there is no source; and as [`Overlay::apply_source`].
    pub fn mark_source(&self, sign: &Sign) -> Result<Change, Trouble> {
        let path = &self.site.source;
        let families: Vec<Markers> = [&self.site.own].into_iter().chain(&self.site.others).cloned().collect();
        self.edit(path, "mark", &|now| {
            let now = now.ok_or_else(|| Trouble::File(path.clone(), "there is no such file".into()))?;
            let after = generated::put(now, sign, &families)
                .map_err(|stray| Trouble::Markers(path.clone(), vec![stray]))?;
            Ok((Some(after), Vec::new()))
        })
    }

    /// Begins a session, or goes on with one, and writes its overlay.
    ///
    /// # Errors
    ///
    /// When the session belongs to another file, or to another process that lives; and as [`Overlay::apply_source`].
    pub fn apply(&self, wanted: &Record, texts: &Texts) -> Result<(Change, Record), Trouble> {
        let sessions = self.sessions()?;
        let (file, id) = (sessions.file(&wanted.id), &wanted.id);
        let path = if wanted.target == Target::Source { &self.site.source } else { &file };
        let make = |now: Option<&[u8]>, record: Option<&Record>| match wanted.target {
            Target::Source => self.with_block(path, now, &texts.block),
            Target::Session => self.session_file(path, now, record, texts),
        };
        let found = self.record(id)?;
        self.of_this_file(id, found.as_ref())?;
        // Where nothing would be another, nobody is kept waiting.
        if let Some(known) = found
            && let now = self.content(path)?
            && (&known.owner, known.target, &known.ended) == (&wanted.owner, wanted.target, &None)
            && let (after, notes) = make(now.as_deref(), Some(&known))?
            && after == now
        {
            return Ok((Change { path: path.clone(), before: now, after, notes }, known));
        }
        self.locked("apply", || {
            let known = self.record(id)?;
            self.may(id, known.as_ref(), &wanted.owner)?;
            let mut record = match &known {
                Some(known) => Record {
                    resumed: known.resumed + u32::from(known.owner != wanted.owner || known.ended.is_some()),
                    began: known.began.clone(),
                    written: known.written.clone(),
                    ..wanted.clone()
                },
                None => wanted.clone(),
            };
            let moves = |known: &&Record| known.target != wanted.target && known.ended.is_none();
            if let Some(known) = known.as_ref().filter(moves) {
                // It moves: a session has one overlay.
                let old = if known.target == Target::Source { &self.site.source } else { &file };
                self.take_out(known, old)?;
            }
            for _ in 0..TRIES {
                let now = self.content(path)?;
                let (after, notes) = make(now.as_deref(), known.as_ref())?;
                if wanted.target == Target::Session {
                    // What the file may hold is on record before it does.
                    let mine = now.as_deref().filter(|now| record.wrote(now)).map(sha256);
                    // With text of somebody else in it, it is not ours to remove.
                    let whole = after.as_deref().filter(|after| *after == texts.file.as_bytes());
                    record.written = mine.into_iter().chain(whole.map(sha256)).collect();
                    record.written.dedup();
                }
                if !self.dry {
                    self.world
                        .make_folder(&sessions.folder.join(id))
                        .map_err(|error| Trouble::File(sessions.folder.join(id), world::reason(&error)))?;
                    self.keep(&record)?;
                }
                if self.put(path, now.as_deref(), after.as_deref())? {
                    return Ok((Change { path: path.clone(), before: now, after, notes }, record));
                }
            }
            Err(self.keeps_changing(path))
        })
    }

    /// Ends a session: its overlay is taken out, its file deleted, its record archived. What others have written into the
    /// file stays. Nothing happens where there is no such session.
    ///
    /// # Errors
    ///
    /// When the session belongs to another file, or to another process that lives; and as [`Overlay::apply_source`].
    pub fn end(&self, id: &str, by: Option<&Owner>, at: &str) -> Result<Change, Trouble> {
        let sessions = self.sessions()?;
        let file = sessions.file(id);
        let found = self.record(id)?;
        self.of_this_file(id, found.as_ref())?;
        let path = match found.as_ref().map(|record| record.target) {
            Some(Target::Source) => &self.site.source,
            _ => &file,
        };
        let open = found.as_ref().is_some_and(|record| record.ended.is_none());
        if !open && self.content(&file)?.is_none() {
            return Ok(Change { path: path.clone(), before: None, after: None, notes: Vec::new() });
        }
        self.locked("strip", || {
            let record = self.record(id)?;
            match by {
                Some(by) => self.may(id, record.as_ref(), by)?,
                // Whoever cleans up looks again: it may have been resumed meanwhile.
                None if record.as_ref().is_some_and(|record| self.life(record) != Life::Stale) => {
                    return Err(Trouble::Session(format!("the session {id} is not stale any more")));
                }
                None => {}
            }
            for _ in 0..TRIES {
                let now = self.content(path)?;
                let ours =
                    |bytes: &[u8]| path == &file && record.as_ref().is_some_and(|record| record.wrote(bytes));
                let (after, notes) = match now.as_deref() {
                    Some(bytes) if ours(bytes) => (None, Vec::new()),
                    bytes => {
                        let (after, mut notes) = self.without_block(path, bytes)?;
                        if after.is_some() && path == &file {
                            notes.push(
                                "it holds text that somebody else has written, so it stays without its block"
                                    .into(),
                            );
                        }
                        (after, notes)
                    }
                };
                if self.put(path, now.as_deref(), after.as_deref())? {
                    if let Some(record) = record.filter(|record| record.ended.is_none() && !self.dry) {
                        self.keep(&Record { ended: Some(at.to_owned()), written: Vec::new(), ..record })?;
                    }
                    return Ok(Change { path: path.clone(), before: now, after, notes });
                }
            }
            Err(self.keeps_changing(path))
        })
    }

    /// Takes the overlay of a session out of a file.
    fn take_out(&self, record: &Record, path: &Path) -> Result<(), Trouble> {
        for _ in 0..TRIES {
            let now = self.content(path)?;
            let whole =
                record.target == Target::Session && now.as_deref().is_some_and(|now| record.wrote(now));
            let after = if whole { None } else { self.without_block(path, now.as_deref())?.0 };
            if self.put(path, now.as_deref(), after.as_deref())? {
                return Ok(());
            }
        }
        Err(self.keeps_changing(path))
    }

    /// Everything that dead processes left: stale sessions of this source are ended, locks and files of a moment removed.
    /// Gives what was done, or would be.
    ///
    /// # Errors
    ///
    /// When the sessions cannot be listed. What else goes wrong is among what was done.
    pub fn clean(&self, now: &str) -> Result<Vec<Cleaned>, Trouble> {
        let mut done = Vec::new();
        if let Ok(lock::State::Dead(record)) = lock::look(self.world, &self.site.lock) {
            done.push(Cleaned {
                what: format!("lock of {record}, which is dead"),
                did: Did::Removed,
                path: self.site.lock.clone(),
                trouble: None,
            });
        }
        for path in self.left() {
            done.push(Cleaned {
                what: "left by a dead process".into(),
                did: Did::Removed,
                path,
                trouble: None,
            });
        }
        if !self.dry && !done.is_empty() {
            // Taking the lock takes away what the dead left of it.
            self.locked("clean", || {
                self.tidy();
                Ok(())
            })?;
            for one in &mut done {
                if self.world.about(&one.path).is_ok() {
                    one.trouble = Some("it could not be removed".into());
                }
            }
        }
        let Some(sessions) = &self.site.sessions else { return Ok(done) };
        let ids = sessions.ids(self.world).map_err(|why| Trouble::File(sessions.folder.clone(), why))?;
        for id in ids {
            let Ok(Some(record)) = sessions.read(self.world, &id) else { continue };
            if self.life(&record) != Life::Stale {
                continue;
            }
            let what = format!("session {id} of process {}, which is dead", record.owner.pid);
            match self.end(&id, None, now) {
                Ok(change) => {
                    let did = match (record.target, change.word()) {
                        (_, "unchanged") => Did::Ended,
                        (Target::Session, "removed") => Did::RemovedFile,
                        (_, "removed") => Did::Removed,
                        _ => Did::TookOut,
                    };
                    done.push(Cleaned { what, did, path: change.path, trouble: None });
                }
                Err(trouble) => {
                    let path = match record.target {
                        Target::Session => sessions.file(&id),
                        Target::Source => self.site.source.clone(),
                    };
                    done.push(Cleaned { what, did: Did::Ended, path, trouble: Some(trouble.to_string()) });
                }
            }
        }
        Ok(done)
    }

    /// The stale sessions of other sources, which only a `clean` of those ends.
    #[must_use]
    pub fn stale_elsewhere(&self) -> Vec<Record> {
        let Some(sessions) = &self.site.sessions else { return Vec::new() };
        let stale = |record: &Record| {
            matches!(self.life(record), Life::OtherFile(_))
                && record.life(self.world, &self.site.workspace) == Life::Stale
        };
        let ids = sessions.ids(self.world).unwrap_or_default();
        let records = ids.iter().filter_map(|id| sessions.read(self.world, id).ok().flatten());
        records.filter(stale).collect()
    }

    /// How a session is found from this source.
    #[must_use]
    pub fn life(&self, record: &Record) -> Life {
        match record.life(self.world, &self.site.workspace) {
            Life::Elsewhere => Life::Elsewhere,
            _ if !record.is_of(self.world, &self.site.source) => Life::OtherFile(record.source.clone()),
            life => life,
        }
    }

    /// That a session is one of this source; all is well also where there is none of that id yet.
    ///
    /// # Errors
    ///
    /// When the session belongs to another folder or another file, which is named.
    pub fn of_this_file(&self, id: &str, record: Option<&Record>) -> Result<(), Trouble> {
        let Some(record) = record else { return Ok(()) };
        match self.life(record) {
            Life::Elsewhere => {
                Err(Trouble::Session(format!("the session {id} is one of {}", record.workspace.display())))
            }
            Life::OtherFile(source) => Err(Trouble::OtherFile { id: id.to_owned(), source }),
            _ => Ok(()),
        }
    }

    /// What dead processes left beside the source, the lock and the files of sessions.
    #[must_use]
    pub fn left(&self) -> Vec<PathBuf> {
        let mut left: Vec<PathBuf> = self
            .folders()
            .iter()
            .flat_map(|folder| temp::left(self.world, folder).unwrap_or_default())
            .collect();
        left.sort_unstable();
        left.dedup();
        left
    }

    /// The folders in which files of a moment can be.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = [&self.site.source, &self.site.lock]
            .into_iter()
            .flat_map(|path| [Some(path.clone()), self.world.real(path).ok()])
            .filter_map(|path| Some(path?.parent()?.to_owned()))
            .collect();
        if let Some(sessions) = &self.site.sessions {
            let ids = sessions.ids(self.world).unwrap_or_default();
            let below = |id: &String| [sessions.record(id), sessions.file(id)];
            folders.extend(ids.iter().flat_map(below).filter_map(|path| Some(path.parent()?.to_owned())));
        }
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    fn tidy(&self) {
        lock::tidy(self.world, &self.site.lock);
        for folder in self.folders() {
            temp::tidy(self.world, &folder);
        }
    }

    fn sessions(&self) -> Result<&'w Sessions, Trouble> {
        self.site.sessions.as_ref().ok_or_else(|| {
            Trouble::Session(
                "this bench has no file for a session: a place with `path:` that names it".into(),
            )
        })
    }

    /// The record of a session.
    fn record(&self, id: &str) -> Result<Option<Record>, Trouble> {
        let sessions = self.sessions()?;
        sessions.read(self.world, id).map_err(|why| Trouble::File(sessions.record(id), why))
    }

    fn keep(&self, record: &Record) -> Result<(), Trouble> {
        let path = self.sessions()?.record(&record.id);
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Trouble::File(path.clone(), error.to_string()))?;
        for _ in 0..TRIES {
            let now = self.content(&path)?;
            match write::replace(self.world, &path, now.as_deref(), Some(format!("{text}\n").as_bytes())) {
                Ok(()) => return Ok(()),
                Err(Unwritten::Changed) => {}
                Err(Unwritten::Failed(why)) => return Err(Trouble::File(path, why)),
            }
        }
        Err(self.keeps_changing(&path))
    }

    /// That a session is one of this source, and this owner's, or nobody's any more.
    fn may(&self, id: &str, record: Option<&Record>, by: &Owner) -> Result<(), Trouble> {
        self.of_this_file(id, record)?;
        match record {
            Some(record) if record.owner != *by && self.life(record) == Life::Live => {
                let pid = record.owner.pid;
                Err(Trouble::Session(format!("the session {id} belongs to process {pid}, which is alive")))
            }
            _ => Ok(()),
        }
    }

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

    /// The file of a session: ours whole, unless somebody else has edited it; then only its block is another.
    fn session_file(
        &self,
        path: &Path,
        now: Option<&[u8]>,
        record: Option<&Record>,
        texts: &Texts,
    ) -> Result<Made, Trouble> {
        match now {
            Some(now) if !record.is_some_and(|record| record.wrote(now)) && now != texts.file.as_bytes() => {
                let (after, mut notes) = self.with_block(path, Some(now), &texts.block)?;
                notes.push("somebody else has written it: only its block was replaced".into());
                Ok((after, notes))
            }
            _ => Ok(((!texts.file.is_empty()).then(|| texts.file.clone().into_bytes()), Vec::new())),
        }
    }

    fn with_block(&self, path: &Path, now: Option<&[u8]>, block: &str) -> Result<Made, Trouble> {
        let site = self.site;
        if block.is_empty() {
            // Nothing stands in it, so nothing stands there.
            return self.without_block(path, now);
        }
        let after = apply_among(now, block, &site.own, &site.others)
            .map_err(|stray| self.strays(path, now, stray))?;
        // What could not be taken out again must not be put in.
        let strip =
            |bytes: &[u8]| strip_among(bytes, &site.own, &site.others).map(|out| (out.gone, out.of(bytes)));
        let back = strip(&after);
        let wanted = now.map_or(Ok((true, Vec::new())), strip);
        if back != wanted {
            return Err(Trouble::File(
                path.to_owned(),
                "the block could not be taken out of it again".into(),
            ));
        }
        let mut notes = Vec::new();
        let open = now.map(|now| scan(now, &site.own, &site.others).open).unwrap_or_default();
        if block.lines().any(|line| open.closed_by(line.as_bytes())) {
            notes.push(
                "a fence in it is never closed: lines of the block that would close it got a backslash"
                    .into(),
            );
        }
        Ok((Some(after), notes))
    }

    fn without_block(&self, path: &Path, now: Option<&[u8]>) -> Result<Made, Trouble> {
        let Some(now) = now else { return Ok((None, Vec::new())) };
        let stripped = strip_among(now, &self.site.own, &self.site.others)
            .map_err(|stray| self.strays(path, Some(now), stray))?;
        Ok(((!stripped.gone).then(|| stripped.of(now)), Vec::new()))
    }

    /// Every marker that belongs to no block, or the one that was found in the block itself.
    fn strays(&self, path: &Path, now: Option<&[u8]>, found: Stray) -> Trouble {
        let strays = now.map(|now| scan(now, &self.site.own, &self.site.others).strays).unwrap_or_default();
        let strays = if strays.is_empty() { vec![found] } else { strays };
        Trouble::Markers(path.to_owned(), strays)
    }
}

/// What cleaning up did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// It was removed: a lock, a file of a moment, or a source that held nothing but its block.
    Removed,
    /// It was removed, the file of a session.
    RemovedFile,
    /// The block was taken out of it, the rest stays.
    TookOut,
    /// Nothing: there was neither file nor block any more, and only the record says now that the session ended.
    Ended,
}

/// What was cleaned up, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// What it was.
    pub what: String,
    /// What was done to the file.
    pub did: Did,
    /// Where it was.
    pub path: PathBuf,
    /// Why it is still there.
    pub trouble: Option<String>,
}
