//! What is known of an overlay, without touching anything.

use std::path::PathBuf;

use super::lock::{self, State};
use super::owner::Owner;
use super::session::{Life, Target, sha256};
use super::write::content;
use super::{Overlay, Texts};
use crate::core::overlay::file::{apply_among, strip_among};
use crate::core::overlay::scan::{Stray, scan};

/// A file that may hold the block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStatus {
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes; none where there is no file.
    pub bytes: Option<u64>,
    /// SHA-256 of its content.
    pub sha256: Option<String>,
    /// Why it cannot be read.
    pub unreadable: Option<String>,
    /// How many complete blocks it holds.
    pub blocks: usize,
    /// Markers that belong to no block: it is left alone.
    pub strays: Vec<Stray>,
    /// Markers in fences, which are text.
    pub quoted: usize,
    /// How its lines end: `lf`, `cr lf`, `mixed`; none where it has no line end.
    pub ends: Option<&'static str>,
}

/// What becomes of a file when a block is put in and taken out again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Its size with the block, in bytes.
    pub applied: u64,
    /// Its size without it again.
    pub stripped: u64,
    /// The first byte in which what comes out differs from the file without blocks; none where it is the same.
    pub differs: Option<u64>,
    /// True where the file goes with its block.
    pub gone: bool,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStatus {
    /// Its id.
    pub id: String,
    /// How it is found.
    pub life: Life,
    /// Whose it is.
    pub owner: Option<Owner>,
    /// Where its overlay is.
    pub target: Option<Target>,
    /// When it began.
    pub began: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// How often it was resumed.
    pub resumed: u32,
    /// Its file.
    pub file: FileStatus,
    /// True where its file holds what was written, false where somebody else has edited it; none without a record or a
    /// file.
    pub own: Option<bool>,
}

/// Everything that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The source.
    pub source: FileStatus,
    /// What an overlay would do to it; none where it has to be left alone.
    pub round_trip: Option<RoundTrip>,
    /// The path of the lock.
    pub lock: PathBuf,
    /// How it is found; the reason where it cannot be.
    pub held: Result<State, String>,
    /// The sessions, in the order of their ids.
    pub sessions: Vec<SessionStatus>,
    /// What dead processes left.
    pub left: Vec<PathBuf>,
}

impl Status {
    /// What should be looked after, each one sentence: where it is empty, all is well.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let mut found = Vec::new();
        // What is wrong with a session of another file is said where that file is looked at.
        let here = self.sessions.iter().filter(|session| !matches!(session.life, Life::OtherFile(_)));
        let files = [&self.source].into_iter().chain(here.map(|session| &session.file));
        for file in files {
            found.extend(file.unreadable.iter().map(|why| format!("{}: {why}", file.path.display())));
            let strays = file.strays.iter();
            found
                .extend(strays.map(|stray| {
                    format!("{}:{}:{}: {stray}", file.path.display(), stray.line, stray.column)
                }));
            if file.blocks > 1 {
                found.push(format!("{}: it holds {} blocks", file.path.display(), file.blocks));
            }
        }
        match &self.held {
            Ok(State::Dead(record)) => found.push(format!("the lock is that of {record}, which is dead")),
            Ok(State::Ownerless { age, .. }) => {
                found.push(format!("the lock has no owner, and is {} s old", age.as_secs()));
            }
            Err(why) => found.push(format!("the lock cannot be read: {why}")),
            Ok(_) => {}
        }
        for session in &self.sessions {
            match (&session.life, &session.owner) {
                (Life::Stale, Some(owner)) => {
                    found.push(format!("the session {} is stale: process {} is dead", session.id, owner.pid));
                }
                (Life::Unreadable(why), _) => found.push(format!("the session {}: {why}", session.id)),
                _ => {}
            }
            if session.own == Some(false) {
                found.push(format!("{}: somebody else has edited it", session.file.path.display()));
            }
        }
        found.extend(self.left.iter().map(|path| format!("{}: left by a dead process", path.display())));
        found
    }
}

impl Overlay<'_> {
    /// Looks at everything, and touches nothing. `texts` is what would be applied.
    #[must_use]
    pub fn status(&self, texts: Option<&Texts>) -> Status {
        let site = self.site;
        let (source, bytes) = self.file_status(site.source.clone());
        let round_trip = texts.filter(|_| source.unreadable.is_none()).and_then(|texts| {
            let strip = |bytes: &[u8]| strip_among(bytes, &site.own, &site.others).ok();
            let before = match &bytes {
                Some(bytes) => strip(bytes)?.of(bytes),
                None => Vec::new(),
            };
            let applied = match texts.block.is_empty() {
                true => before.clone(),
                false => apply_among(bytes.as_deref(), &texts.block, &site.own, &site.others).ok()?,
            };
            let out = strip(&applied)?;
            let back = out.of(&applied);
            let first = before.iter().zip(&back).take_while(|(one, other)| one == other).count();
            Some(RoundTrip {
                applied: applied.len() as u64,
                stripped: back.len() as u64,
                differs: (before != back).then_some(first as u64),
                gone: out.gone,
            })
        });
        Status {
            source,
            round_trip,
            lock: site.lock.clone(),
            held: lock::look(self.world, &site.lock).map_err(|error| super::world::reason(&error)),
            sessions: self.session_status(),
            left: self.left(),
        }
    }

    fn file_status(&self, path: PathBuf) -> (FileStatus, Option<Vec<u8>>) {
        let mut status = FileStatus { path, ..FileStatus::default() };
        let bytes = match content(self.world, &status.path) {
            Ok(bytes) => bytes,
            Err(why) => {
                status.unreadable = Some(why);
                return (status, None);
            }
        };
        if let Some(bytes) = &bytes {
            let scan = scan(bytes, &self.site.own, &self.site.others);
            status.bytes = Some(bytes.len() as u64);
            status.sha256 = Some(sha256(bytes));
            status.blocks = scan.blocks.len();
            status.strays = scan.strays;
            status.quoted = scan.quoted;
            let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
            let pairs = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
            status.ends = match (ends, pairs) {
                (0, _) => None,
                (_, 0) => Some("lf"),
                (ends, pairs) if ends == pairs => Some("cr lf"),
                _ => Some("mixed"),
            };
        }
        (status, bytes)
    }

    fn session_status(&self) -> Vec<SessionStatus> {
        let Some(sessions) = &self.site.sessions else { return Vec::new() };
        let ids = sessions.ids(self.world).unwrap_or_default();
        let status = |id: String| {
            let (file, bytes) = self.file_status(sessions.file(&id));
            let record = sessions.read(self.world, &id);
            let life = match &record {
                Ok(Some(record)) => self.life(record),
                // A folder in which other programs keep something is no session of an overlay.
                Ok(None) if file.bytes.is_none() && file.unreadable.is_none() => return None,
                Ok(None) => Life::Foreign,
                Err(why) => Life::Unreadable(why.clone()),
            };
            let record = record.ok().flatten();
            let own = match (&record, &bytes, &life) {
                (Some(record), Some(bytes), Life::Live | Life::Stale) if record.target == Target::Session => {
                    Some(record.wrote(bytes))
                }
                _ => None,
            };
            Some(SessionStatus {
                id,
                life,
                target: record.as_ref().map(|record| record.target),
                began: record.as_ref().map(|record| record.began.clone()),
                ended: record.as_ref().and_then(|record| record.ended.clone()),
                resumed: record.as_ref().map_or(0, |record| record.resumed),
                owner: record.map(|record| record.owner),
                file,
                own,
            })
        };
        ids.into_iter().filter_map(status).collect()
    }
}
