//! The source itself: its block put in and taken out, and the line that says that it was generated.

use std::path::Path;

use super::{Change, Made, Overlay, Trouble};
use crate::core::bench::Markers;
use crate::core::overlay::file::{apply_among, strip_among};
use crate::core::overlay::generated::{self, Sign};
use crate::core::overlay::scan::{Stray, scan};

impl Overlay<'_> {
    /// Puts a block at the end of the source, in place of those that it holds.
    ///
    /// # Errors
    ///
    /// When the source has to be left alone, or cannot be written.
    pub fn apply_source(&self, block: &str) -> Result<Change, Trouble> {
        let path = &self.site.source;
        self.edit(path, "apply", &|now| self.with_block(path, now, block))
    }

    /// Takes every block out of the source, whoever has put it there. A file that was made for its block goes with it.
    ///
    /// # Errors
    ///
    /// As [`Overlay::apply_source`].
    pub fn strip_source(&self) -> Result<Change, Trouble> {
        let path = &self.site.source;
        self.edit(path, "strip", &|now| {
            let (after, mut notes) = self.without_block(path, now)?;
            if let Some(other) = now.and_then(|now| self.live_writer(now, None)) {
                notes.push(format!(
                    "the block was that of the session {} of process {}, which is alive",
                    other.id, other.owner.pid
                ));
            }
            Ok((after, notes))
        })
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

    /// The file with the block in place of those that it holds.
    pub(super) fn with_block(&self, path: &Path, now: Option<&[u8]>, block: &str) -> Result<Made, Trouble> {
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

    /// The file without its blocks.
    pub(super) fn without_block(&self, path: &Path, now: Option<&[u8]>) -> Result<Made, Trouble> {
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
