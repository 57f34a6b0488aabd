//! What dead processes left, found and removed.

use std::path::PathBuf;

use super::session::{Life, Target};
use super::{Overlay, Trouble, lock, temp};

impl Overlay<'_> {
    /// Everything that dead processes left: stale sessions of this source are ended, locks and files of a moment removed.
    /// Gives what was done, or would be.
    ///
    /// # Errors
    ///
    /// When the sessions cannot be listed. What else goes wrong is among what was done.
    pub fn clean(&self, now: &str) -> Result<Vec<Cleaned>, Trouble> {
        let mut done = Vec::new();
        let lock = match lock::look(self.world, &self.site.lock) {
            Ok(lock::State::Dead(record)) => Some(format!("lock of {record}, which is dead")),
            Ok(lock::State::Ownerless { old: true, .. }) => Some("lock without an owner".to_owned()),
            _ => None,
        };
        done.extend(lock.map(|what| Cleaned {
            what,
            did: Did::Removed,
            path: self.site.lock.clone(),
            trouble: None,
        }));
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

    pub(super) fn tidy(&self) {
        lock::tidy(self.world, &self.site.lock);
        for folder in self.folders() {
            temp::tidy(self.world, &folder);
        }
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
