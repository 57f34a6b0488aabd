//! Whose a session is, and whose the block in the source.
//!
//! A source holds one block, and several sessions may have put theirs there, one after the other. Each keeps the hash of
//! its own on record before it writes it: so whoever ends one session does not take out the block of another.

use super::owner::Owner;
use super::session::{Life, Record, Sessions, Target, sha256};
use super::{Overlay, Site, Trouble};
use crate::core::overlay::scan::scan;

impl<'w> Overlay<'w> {
    /// The record of a session. One that ended is nobody's any more where it was of another file or folder: its id is
    /// free again.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or the bench has no sessions.
    pub fn known(&self, id: &str) -> Result<Option<Record>, Trouble> {
        let sessions = self.sessions()?;
        let record = sessions.read(self.world, id).map_err(|why| Trouble::File(sessions.record(id), why))?;
        let free = |record: &Record| record.ended.is_some() && self.of_this_file(id, Some(record)).is_err();
        Ok(record.filter(|record| !free(record)))
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

    /// The stale sessions of other sources, which only a `clean` of those ends.
    #[must_use]
    pub fn stale_elsewhere(&self) -> Vec<Record> {
        let stale = |record: &Record| {
            matches!(self.life(record), Life::OtherFile(_))
                && record.life(self.world, &self.site.workspace) == Life::Stale
        };
        self.records().into_iter().filter(stale).collect()
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

    /// That a session is one of this source, and this owner's, or nobody's any more.
    pub(super) fn may(&self, id: &str, record: Option<&Record>, by: &Owner) -> Result<(), Trouble> {
        self.of_this_file(id, record)?;
        match record {
            Some(record) if record.owner != *by && self.life(record) == Life::Live => {
                let pid = record.owner.pid;
                Err(Trouble::Session(format!("the session {id} belongs to process {pid}, which is alive")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn sessions(&self) -> Result<&'w Sessions, Trouble> {
        self.site.sessions.as_ref().ok_or_else(|| {
            Trouble::Session(
                "this bench has no file for a session: a place with `path:` that names it".into(),
            )
        })
    }

    /// Every record that can be read, in the order of their ids.
    fn records(&self) -> Vec<Record> {
        let Some(sessions) = &self.site.sessions else { return Vec::new() };
        let ids = sessions.ids(self.world).unwrap_or_default();
        ids.iter().filter_map(|id| sessions.read(self.world, id).ok().flatten()).collect()
    }

    /// The sessions, but for this one, that go on and have their block in the source; with how each is found.
    fn in_source(&self, but: Option<&str>) -> Vec<(Record, Life)> {
        let records = self.records().into_iter();
        records
            .filter(|record| record.target == Target::Source && Some(&*record.id) != but)
            .map(|record| (self.life(&record), record))
            .filter(|(life, _)| matches!(life, Life::Live | Life::Stale))
            .map(|(life, record)| (record, life))
            .collect()
    }

    /// The session, but for this one, that lives and has put the block there that these bytes of the source hold.
    pub(super) fn live_writer(&self, source: &[u8], but: Option<&str>) -> Option<Record> {
        let block = block_hash(source, self.site)?;
        let mut others = self.in_source(but).into_iter();
        others.find(|(other, life)| *life == Life::Live && other.written.contains(&block)).map(|(one, _)| one)
    }

    /// The session that lives and has put its block in the place of that of this one, which would only put it there in turn.
    ///
    /// # Errors
    ///
    /// When the source cannot be read.
    pub fn displaced_by(&self, record: &Record) -> Result<Option<Record>, Trouble> {
        if record.target != Target::Source {
            return Ok(None);
        }
        let source = self.content(&self.site.source)?;
        Ok(source.and_then(|source| self.live_writer(&source, Some(&record.id))))
    }

    /// The session whose block stays in the source when this one ends. `cleaning` for whoever ends the sessions of the
    /// dead: what was theirs goes.
    pub(super) fn keeps_block(&self, ends: &Record, source: &[u8], cleaning: bool) -> Option<Record> {
        let block = block_hash(source, self.site)?;
        let mut others = self.in_source(Some(&ends.id));
        others.retain(|(_, life)| !cleaning || *life == Life::Live);
        let writer = others.iter().position(|(other, _)| other.written.contains(&block));
        // A block that somebody has edited is nobody's for sure: who lives may still need it.
        let lives = || others.iter().position(|(_, life)| *life == Life::Live);
        let at = writer.or_else(|| if ends.written.contains(&block) { None } else { lives() })?;
        Some(others.swap_remove(at).0)
    }
}

/// SHA-256 of the block that a file holds, the last one where there are several, without what a program that changes line
/// ends would change.
pub(super) fn block_hash(file: &[u8], site: &Site) -> Option<String> {
    let range = scan(file, &site.own, &site.others).blocks.pop()?;
    let lines: Vec<&[u8]> = file[range].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    Some(sha256(lines.join(&b'\n').trim_ascii_end()))
}
