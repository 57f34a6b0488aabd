//! Which folders decide about an input: along its path, and along the paths of all links on the way.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Links in a path that are followed before it counts as a loop; the kernel's own limit.
const MAX_LINKS: u32 = 40;

/// Something that must be watched for an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot<'a> {
    /// What becomes of this name in this folder.
    Entry {
        /// The folder, without links.
        folder: &'a Path,
        /// The name.
        name: &'a OsStr,
    },
    /// Which names there are in this folder: the input itself is a folder.
    Listing {
        /// The folder, without links.
        folder: &'a Path,
    },
}

/// Walks to an input as the kernel does, and calls `watch` for every spot *before* looking at it, so that whatever happens
/// afterwards is reported and whatever happened before is seen.
///
/// Watched are the folders from `root` (without links) downwards, and outside of it the folder that holds the input or
/// the target of a link, or, if that does not exist, the innermost one that does. A missing input ends the walk.
pub(super) fn walk(input: &Path, root: &Path, mut watch: impl FnMut(Spot<'_>)) {
    let mut folder = PathBuf::new();
    let mut ahead: Vec<Piece> = Vec::new();
    push(&mut ahead, input);
    let mut links = 0;
    while let Some(piece) = ahead.pop() {
        let name = match piece {
            Piece::Start(start) => {
                folder.push(start);
                if ahead.is_empty() {
                    watch(Spot::Listing { folder: &folder });
                }
                continue;
            }
            Piece::Up => {
                folder.pop();
                if ahead.is_empty() {
                    watch(Spot::Listing { folder: &folder });
                }
                continue;
            }
            Piece::Name(name) => name,
        };
        let is_last = ahead.is_empty();
        let path = folder.join(&name);
        let watched = is_last || folder.starts_with(root);
        if watched {
            watch(Spot::Entry { folder: &folder, name: &name });
        }
        let mut found = path.symlink_metadata();
        if found.is_err() && !watched {
            watch(Spot::Entry { folder: &folder, name: &name });
            found = path.symlink_metadata();
        }
        let Ok(metadata) = found else { return };
        if metadata.is_symlink() {
            links += 1;
            let Ok(target) = path.read_link() else { return };
            if links > MAX_LINKS {
                return;
            }
            push(&mut ahead, &target);
        } else if is_last && metadata.is_dir() {
            watch(Spot::Listing { folder: &path });
            return;
        } else if metadata.is_dir() {
            folder = path;
        } else {
            return;
        }
    }
}

/// A [`Spot`] to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnedSpot {
    folder: PathBuf,
    name: Option<OsString>,
}

impl OwnedSpot {
    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The spot itself.
    pub(super) fn spot(&self) -> Spot<'_> {
        match &self.name {
            Some(name) => Spot::Entry { folder: &self.folder, name },
            None => Spot::Listing { folder: &self.folder },
        }
    }
}

impl From<Spot<'_>> for OwnedSpot {
    fn from(spot: Spot<'_>) -> Self {
        match spot {
            Spot::Entry { folder, name } => Self { folder: folder.to_owned(), name: Some(name.to_owned()) },
            Spot::Listing { folder } => Self { folder: folder.to_owned(), name: None },
        }
    }
}

enum Piece {
    Start(PathBuf),
    Up,
    Name(OsString),
}

/// Puts the pieces of a path before those that are still ahead.
fn push(ahead: &mut Vec<Piece>, path: &Path) {
    let first = ahead.len();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => match ahead.get_mut(first) {
                Some(Piece::Start(start)) => start.push(component),
                _ => ahead.push(Piece::Start(PathBuf::from(component.as_os_str()))),
            },
            Component::CurDir => {}
            Component::ParentDir => ahead.push(Piece::Up),
            Component::Normal(name) => ahead.push(Piece::Name(name.to_owned())),
        }
    }
    ahead[first..].reverse();
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// The spots of an input, with paths relative to the scratch folder.
    fn spots(scratch: &Path, input: &str, root: &str) -> Vec<String> {
        let mut spots = Vec::new();
        walk(&scratch.join(input), &scratch.join(root), |spot| {
            let shown = |folder: &Path| match folder.strip_prefix(scratch) {
                Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
                Ok(inside) => inside.display().to_string(),
                Err(_) => "outside".to_owned(),
            };
            spots.push(match spot {
                Spot::Entry { folder, name } => format!("{}: {}", shown(folder), name.display()),
                Spot::Listing { folder } => format!("{}: *", shown(folder)),
            });
        });
        spots
    }

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().canonicalize().expect("it exists");
        (scratch, path)
    }

    #[test]
    fn a_file_is_watched_through_its_folders_up_to_the_root() {
        let (_keep, scratch) = scratch();
        fs::create_dir_all(scratch.join("ws/a/b")).unwrap();
        fs::write(scratch.join("ws/a/b/file"), "").unwrap();
        assert_eq!(spots(&scratch, "ws/a/b/file", "ws"), ["ws: a", "ws/a: b", "ws/a/b: file"]);
        assert_eq!(
            spots(&scratch, "ws/a/../a/b/./file", "ws"),
            ["ws: a", "ws: a", "ws/a: b", "ws/a/b: file"]
        );
        assert_eq!(spots(&scratch, "ws/a/b", "ws"), ["ws: a", "ws/a: b", "ws/a/b: *"]);
        assert_eq!(spots(&scratch, "ws/a/b/file", "elsewhere"), ["ws/a/b: file"]);
    }

    #[test]
    fn what_is_missing_is_waited_for_where_it_would_appear() {
        let (_keep, scratch) = scratch();
        fs::create_dir_all(scratch.join("ws")).unwrap();
        assert_eq!(spots(&scratch, "ws/a/b/file", "ws"), ["ws: a"]);
        assert_eq!(spots(&scratch, "gone/a/file", "ws"), [".: gone"]);
        fs::write(scratch.join("ws/a"), "a file where a folder should be").unwrap();
        assert_eq!(spots(&scratch, "ws/a/b/file", "ws"), ["ws: a"]);
    }

    #[test]
    fn every_link_on_the_way_is_watched_and_its_target() {
        let (_keep, scratch) = scratch();
        fs::create_dir_all(scratch.join("ws/real")).unwrap();
        fs::create_dir_all(scratch.join("elsewhere/deep")).unwrap();
        fs::write(scratch.join("elsewhere/deep/file"), "").unwrap();
        symlink("real", scratch.join("ws/alias")).unwrap();
        symlink("../../elsewhere/link", scratch.join("ws/real/file")).unwrap();
        symlink(scratch.join("elsewhere/deep/file"), scratch.join("elsewhere/link")).unwrap();
        assert_eq!(
            spots(&scratch, "ws/alias/file", "ws"),
            ["ws: alias", "ws: real", "ws/real: file", "elsewhere: link", "elsewhere/deep: file"]
        );
    }

    #[test]
    fn links_in_a_circle_end() {
        let (_keep, scratch) = scratch();
        symlink("b", scratch.join("a")).unwrap();
        symlink("a", scratch.join("b")).unwrap();
        let spots = spots(&scratch, "a", "ws");
        assert!(spots.contains(&".: a".to_owned()) && spots.contains(&".: b".to_owned()), "{spots:?}");
    }
}
