//! Text that was typed and not saved, kept so that it outlives a program that is killed.
//!
//! It lies in the user's folder for state, never beside the file: one draft for each file, named by a hash of the file's
//! path and of what the file held when the text was made from it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::base_strategy::{BaseStrategy as _, choose_base_strategy};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::text::Original;
use crate::io::load::MAX_BYTES;

/// What the first field of a draft says.
const SCHEMA: &str = "plywood.draft/1";

/// The folder of the drafts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    folder: PathBuf,
}

/// A text that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptText {
    /// The text, its lines ended by line feeds whatever the file has.
    pub text: Arc<str>,
    /// True when the file still holds what the text was made from.
    pub same_base: bool,
}

/// A draft as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct Draft {
    schema: String,
    /// For people who look into the folder.
    file: String,
    base: String,
    text: String,
}

impl Kept {
    /// The drafts in a folder, which need not be there yet.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Kept {
        Kept { folder: folder.into() }
    }

    /// The drafts of the user; none where the machine has no folder for state.
    #[must_use]
    pub fn of_user() -> Option<Kept> {
        let strategy = choose_base_strategy().ok()?;
        let state = strategy.state_dir().unwrap_or_else(|| strategy.cache_dir());
        Some(Kept::new(state.join("plywood").join("drafts")))
    }

    /// Keeps a text that was made from `base`, the content of the file at `path`, instead of what was kept for it.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn put(&self, path: &Path, base: &Original, text: &str) -> std::io::Result<()> {
        private_folder(&self.folder)?;
        let name = format!("{}-{:032x}.json", prefix(path), base.hash());
        let draft = Draft {
            schema: SCHEMA.to_owned(),
            file: path.display().to_string(),
            base: format!("{:032x}", base.hash()),
            text: text.to_owned(),
        };
        // Readable by its owner alone, and whole or not there.
        let mut file = tempfile::Builder::new().prefix(".draft-").tempfile_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(&draft)?)?;
        file.persist(self.folder.join(&name)).map_err(|error| error.error)?;
        for other in self.of(path).filter(|other| !other.ends_with(&name)) {
            fs::remove_file(other)?;
        }
        Ok(())
    }

    /// What is kept for a file that holds `disk` now, if it is another text than that.
    #[must_use]
    pub fn find(&self, path: &Path, disk: &Original) -> Option<KeptText> {
        let newest = self.of(path).max_by_key(|file| fs::metadata(file).and_then(|m| m.modified()).ok())?;
        // The text alone is bounded; what escapes add is not more than this.
        if fs::metadata(&newest).ok()?.len() > 8 * MAX_BYTES as u64 {
            return None;
        }
        let draft: Draft = serde_json::from_slice(&fs::read(&newest).ok()?).ok()?;
        let other = draft.schema == SCHEMA && !draft.text.split('\n').eq(disk.lines());
        let same_base = draft.base == format!("{:032x}", disk.hash());
        other.then(|| KeptText { text: draft.text.into(), same_base })
    }

    /// Forgets what is kept for a file.
    pub fn remove(&self, path: &Path) {
        for draft in self.of(path) {
            if let Err(error) = fs::remove_file(&draft) {
                tracing::debug!("{}: {error}", draft.display());
            }
        }
    }

    /// The drafts of a file.
    fn of(&self, path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
        let prefix = format!("{}-", prefix(path));
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        entries
            .filter(move |entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .map(|e| e.path())
    }
}

fn prefix(path: &Path) -> String {
    format!("{:016x}", xxh3_64(path.as_os_str().as_encoded_bytes()))
}

#[cfg(unix)]
fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn private_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_for_its_file_until_it_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = Kept::new(folder.path().join("state/drafts"));
        let (path, other) = (Path::new("/w/a.md"), Path::new("/w/b.md"));
        let old = Original::of(b"a\r\nb".to_vec()).expect("text");
        let new = Original::of(b"changed".to_vec()).expect("text");
        assert_eq!(kept.find(path, &old), None);
        kept.put(path, &old, "a\n\"你好\"").expect("it is kept");
        let found = |same_base| Some(KeptText { text: "a\n\"你好\"".into(), same_base });
        assert_eq!((kept.find(path, &old), kept.find(path, &new)), (found(true), found(false)));
        assert_eq!(kept.find(other, &old), None);
        // One for each file, also when it was made from another content.
        kept.put(path, &new, "later").expect("it is kept");
        let count = || fs::read_dir(folder.path().join("state/drafts")).expect("a folder").count();
        assert_eq!((count(), kept.find(path, &new).expect("a text").text), (1, "later".into()));
        // What the file holds is no unsaved text.
        kept.put(path, &old, "a\nb").expect("it is kept");
        assert_eq!(kept.find(path, &old), None);
        kept.remove(path);
        assert_eq!(count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let kept = Kept::new(folder.path().join("drafts"));
        kept.put(Path::new("/a"), &Original::of(Vec::new()).expect("text"), "secret").expect("it is kept");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("drafts")), 0o700);
        let file = fs::read_dir(folder.path().join("drafts")).expect("a folder").next().expect("a file");
        assert_eq!(mode(&file.expect("a file").path()), 0o600);
    }
}
