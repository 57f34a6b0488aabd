//! A file's content replaced whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use crate::io::load::reason;

/// Why nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// The file does not hold what was expected.
    Changed,
    /// It cannot be written: one sentence, lower case, without a full stop.
    Failed(String),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Unwritten {
        Unwritten::Failed(reason(&error))
    }
}

/// Puts `bytes` in the place of the file's content, if that is still `expected` (none: there is no such file).
///
/// The new content is written beside the file and renamed over it, so that no reader ever sees half of it; permissions
/// and owner stay. A link stays a link, and its target is replaced. A file with several names, and one whose owner
/// cannot be kept, is written in place instead.
pub(super) fn replace(path: &Path, expected: Option<&[u8]>, bytes: &[u8]) -> Result<(), Unwritten> {
    let Some(expected) = expected else { return create(path, bytes) };
    let target = match path.canonicalize() {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Unwritten::Changed),
        Err(error) => return Err(error.into()),
    };
    let metadata = fs::metadata(&target)?;
    if !metadata.is_file() {
        return Err(Unwritten::Failed("it is no regular file any more".into()));
    }
    // Renaming would replace a file that its owner has protected.
    OpenOptions::new().write(true).open(&target)?;
    let unchanged = || match fs::read(&target) {
        Ok(now) if now == expected => Ok(()),
        Ok(_) => Err(Unwritten::Changed),
        Err(error) => Err(Unwritten::from(error)),
    };
    unchanged()?;
    let Some(folder) = target.parent() else { return Err(Unwritten::Failed("it has no folder".into())) };
    if !has_other_names(&metadata) {
        let beside = tempfile::Builder::new().prefix(".plywood-").suffix(".tmp").tempfile_in(folder);
        if let Ok(mut beside) = beside {
            beside.write_all(bytes)?;
            if keep_owner(beside.as_file(), &metadata) {
                beside.as_file().set_permissions(metadata.permissions())?;
                beside.as_file().sync_all()?;
                unchanged()?;
                return beside.persist(&target).map(drop).map_err(|error| error.error.into());
            }
        }
    }
    let mut file = OpenOptions::new().write(true).truncate(true).open(&target)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(())
}

/// Writes a file that must not be there yet.
fn create(path: &Path, bytes: &[u8]) -> Result<(), Unwritten> {
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let dangling = fs::metadata(path).is_err();
            return Err(if dangling {
                Unwritten::Failed("it is a link that leads nowhere".into())
            } else {
                Unwritten::Changed
            });
        }
        Err(error) => return Err(error.into()),
    };
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| {
        // Half a file would be taken for the user's.
        let _ = fs::remove_file(path);
        error.into()
    })
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_metadata: &Metadata) -> bool {
    false
}

/// Gives a new file the owner and group of another; false where that is not possible.
#[cfg(unix)]
fn keep_owner(file: &File, of: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let Ok(own) = file.metadata() else { return false };
    (own.uid(), own.gid()) == (of.uid(), of.gid()) || fchown(file, Some(of.uid()), Some(of.gid())).is_ok()
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _of: &Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("real.md"), folder.path().join("link.md"));
        fs::write(&file, "old").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("permissions");
        symlink("real.md", &link).expect("a link");
        replace(&link, Some(b"old"), b"new").expect("it is written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&file).expect("there"), b"new");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing is left beside them");
    }

    #[test]
    fn a_file_with_two_names_keeps_both() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::write(&one, "old").expect("a file");
        fs::hard_link(&one, &two).expect("a second name");
        let inode = fs::metadata(&one).expect("there").ino();
        replace(&one, Some(b"old"), b"n").expect("it is written");
        assert_eq!(
            (fs::read(&two).expect("there"), fs::metadata(&one).expect("there").ino()),
            (b"n".to_vec(), inode)
        );
    }

    #[test]
    fn what_somebody_else_wrote_is_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        assert_eq!(replace(&file, Some(b"old"), b"new"), Err(Unwritten::Changed), "it was deleted");
        replace(&file, None, b"first").expect("it is created");
        assert_eq!(replace(&file, None, b"second"), Err(Unwritten::Changed));
        assert_eq!(replace(&file, Some(b"old"), b"new"), Err(Unwritten::Changed));
        assert_eq!(fs::read(&file).expect("there"), b"first");
        symlink("nowhere", folder.path().join("link")).expect("a link");
        assert!(matches!(replace(&folder.path().join("link"), None, b"x"), Err(Unwritten::Failed(_))));
        assert!(matches!(replace(folder.path(), Some(b""), b"x"), Err(Unwritten::Failed(_))));
    }
}
