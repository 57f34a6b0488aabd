//! A session ended: its overlay taken out.

use std::path::Path;

use super::owner::Owner;
use super::session::{Life, Record, Target};
use super::{Change, Made, Overlay, TRIES, Trouble};

impl Overlay<'_> {
    /// Ends a session: its overlay is taken out, its file deleted, its record archived. What others have written into the
    /// file stays, and so does the block of another session in the source. Nothing happens where there is no such session.
    /// `by` is who ends it; none for whoever cleans up after the dead.
    ///
    /// # Errors
    ///
    /// When the session belongs to another file, or to another process that lives; and as [`Overlay::apply_source`].
    pub fn end(&self, id: &str, by: Option<&Owner>, at: &str) -> Result<Change, Trouble> {
        let file = self.sessions()?.file(id);
        let path = |record: Option<&Record>| match record {
            Some(Record { target: Target::Source, .. }) => self.site.source.clone(),
            _ => file.clone(),
        };
        let found = self.known(id)?;
        self.of_this_file(id, found.as_ref())?;
        if found.as_ref().is_none_or(|record| record.ended.is_some()) {
            let path = path(found.as_ref());
            let now = self.content(&path)?;
            // In the source, one that ended has nothing any more.
            if path != file || now.is_none() {
                return Ok(Change { path, before: now.clone(), after: now, notes: Vec::new() });
            }
        }
        self.locked("strip", || {
            let record = self.known(id)?;
            match by {
                Some(by) => self.may(id, record.as_ref(), by)?,
                // Whoever cleans up looks again: it may have been resumed meanwhile.
                None if record.as_ref().is_some_and(|record| self.life(record) != Life::Stale) => {
                    return Err(Trouble::Session(format!("the session {id} is not stale any more")));
                }
                None => {}
            }
            let path = path(record.as_ref());
            let change = self.take_out(id, record.as_ref(), &path, by.is_none())?;
            if let Some(record) = record.filter(|record| record.ended.is_none() && !self.dry) {
                self.keep(&Record { ended: Some(at.to_owned()), written: Vec::new(), ..record })?;
            }
            Ok(change)
        })
    }

    /// Takes the overlay of a session out of a file.
    pub(super) fn take_out(
        &self,
        id: &str,
        record: Option<&Record>,
        path: &Path,
        cleaning: bool,
    ) -> Result<Change, Trouble> {
        for _ in 0..TRIES {
            let before = self.content(path)?;
            let (after, notes) = self.without(id, record, path, before.as_deref(), cleaning)?;
            if self.put(path, before.as_deref(), after.as_deref())? {
                return Ok(Change { path: path.to_owned(), before, after, notes });
            }
        }
        Err(self.keeps_changing(path))
    }

    /// A file without the overlay of a session.
    fn without(
        &self,
        id: &str,
        record: Option<&Record>,
        path: &Path,
        now: Option<&[u8]>,
        cleaning: bool,
    ) -> Result<Made, Trouble> {
        let is_own_file = path == self.sessions()?.file(id);
        if let (Some(now), Some(record)) = (now, record) {
            if is_own_file && record.wrote(now) {
                return Ok((None, Vec::new()));
            }
            if !is_own_file && let Some(other) = self.keeps_block(record, now, cleaning) {
                let note = format!("the block in it is that of the session {}, and stays", other.id);
                return Ok((Some(now.to_owned()), vec![note]));
            }
        }
        let (after, mut notes) = self.without_block(path, now)?;
        if after.is_some() && is_own_file {
            notes.push("it holds text that somebody else has written, so it stays without its block".into());
        }
        Ok((after, notes))
    }
}
