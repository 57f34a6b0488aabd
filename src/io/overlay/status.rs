//! What is known of an overlay, without touching anything.

use std::path::PathBuf;

use super::lock::{self, State};
use super::owner::Owner;
use super::session::{Life, Target, sha256};
use super::whose::block_hash;
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
    /// True where its file, or the block in the source, is what was written; false where somebody else has written it; none
    /// without a record, a file or a block.
    pub own: Option<bool>,
    /// True where its file, or a block in the source, was to be there and is not.
    pub gone: bool,
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
    /// The session whose block the source holds.
    #[must_use]
    pub fn writer(&self) -> Option<&SessionStatus> {
        self.sessions.iter().find(|session| session.is_in_source() && session.own == Some(true))
    }

    /// How many sessions have ended, and which was the last one: `3 sessions, the last one s-3`; none where none has.
    #[must_use]
    pub fn ended(&self) -> Option<String> {
        let ended = self.sessions.iter().filter(|session| session.life == Life::Archived);
        let last = ended.clone().max_by_key(|session| (&session.ended, &session.id))?;
        Some(match ended.count() {
            1 => format!("1 session, {}", last.id),
            several => format!("{several} sessions, the last one {}", last.id),
        })
    }
}

impl SessionStatus {
    /// True for one of this file that goes on and has its block in the source.
    #[must_use]
    pub fn is_in_source(&self) -> bool {
        self.goes_on() && self.target == Some(Target::Source)
    }

    /// True for one of this file that nobody has ended.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        matches!(self.life, Life::Live | Life::Stale)
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
            sessions: self.session_status(bytes.as_deref()),
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

    /// The sessions, where the source holds this.
    fn session_status(&self, source: Option<&[u8]>) -> Vec<SessionStatus> {
        let Some(sessions) = &self.site.sessions else { return Vec::new() };
        let ids = sessions.ids(self.world).unwrap_or_default();
        let block = source.and_then(|source| block_hash(source, self.site));
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
            let known = record.as_ref().filter(|_| matches!(life, Life::Live | Life::Stale));
            let own = known.and_then(|record| match record.target {
                Target::Session => bytes.as_deref().map(|bytes| record.wrote(bytes)),
                Target::Source => block.as_ref().map(|block| record.written.contains(block)),
            });
            // One of which nothing was written has an overlay that says nothing.
            let gone = known.is_some_and(|record| own.is_none() && !record.written.is_empty())
                && file.unreadable.is_none();
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
                gone,
            })
        };
        ids.into_iter().filter_map(status).collect()
    }
}
