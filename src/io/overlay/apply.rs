//! A session begun, or gone on with: its overlay written.

use std::path::Path;

use super::session::{Record, Target, sha256};
use super::whose::block_hash;
use super::write::{self, Unwritten};
use super::{Change, Made, Overlay, TRIES, Texts, Trouble, world};

impl Overlay<'_> {
    /// Begins a session, or goes on with one, and writes its overlay. What the file may hold is on record before it does;
    /// where it cannot be written, the record is what it was.
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
        let found = self.known(id)?;
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
            let known = self.known(id)?;
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
                self.take_out(id, Some(known), old, false)?;
            }
            for _ in 0..TRIES {
                let now = self.content(path)?;
                let (after, mut notes) = make(now.as_deref(), known.as_ref())?;
                if wanted.target == Target::Source
                    && let Some(other) = now.as_deref().and_then(|now| self.live_writer(now, Some(id)))
                {
                    notes.push(format!(
                        "it stands in place of that of the session {} of process {}, which is alive",
                        other.id, other.owner.pid
                    ));
                }
                record.written = self.hashes(&record, texts, now.as_deref(), after.as_deref());
                if !self.dry {
                    self.world
                        .make_folder(&sessions.folder.join(id))
                        .map_err(|error| Trouble::File(sessions.folder.join(id), world::reason(&error)))?;
                    self.keep(&record)?;
                }
                match self.put(path, now.as_deref(), after.as_deref()) {
                    Ok(true) => {
                        return Ok((Change { path: path.clone(), before: now, after, notes }, record));
                    }
                    Ok(false) => {}
                    Err(trouble) => {
                        self.take_back(id, known.as_ref());
                        return Err(trouble);
                    }
                }
            }
            self.take_back(id, known.as_ref());
            Err(self.keeps_changing(path))
        })
    }

    /// What the record says of the file when it is written: the hash of what it holds, where that is the session's, and of
    /// what it is to hold. In the source, that of the block alone.
    fn hashes(
        &self,
        record: &Record,
        texts: &Texts,
        now: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Vec<String> {
        let (old, new) = match record.target {
            Target::Session => {
                // With text of somebody else in it, it is not ours to remove.
                let whole = after.filter(|after| *after == texts.file.as_bytes());
                (now.map(sha256), whole.map(sha256))
            }
            Target::Source => {
                let block = |file: Option<&[u8]>| file.and_then(|file| block_hash(file, self.site));
                (block(now), block(after))
            }
        };
        let mut written: Vec<String> =
            old.filter(|old| record.written.contains(old)).into_iter().chain(new).collect();
        written.dedup();
        written
    }

    /// Puts a session on record.
    pub(super) fn keep(&self, record: &Record) -> Result<(), Trouble> {
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

    /// The record says again what it said before: nothing was written.
    fn take_back(&self, id: &str, before: Option<&Record>) {
        if self.dry {
            return;
        }
        // Where even that fails, the session is stale when its process is gone, and `clean` finds nothing of it.
        let _ = match (before, self.sessions()) {
            (Some(before), _) => self.keep(before),
            (None, Ok(sessions)) => self
                .world
                .remove(&sessions.record(id))
                .map_err(|error| Trouble::File(sessions.record(id), world::reason(&error))),
            (None, Err(trouble)) => Err(trouble),
        };
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
}
