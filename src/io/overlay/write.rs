//! A file's content replaced whole or not at all, and never over somebody else's change.
//!
//! The new content is written beside the file, gets its attributes, owner and permissions, is on the disk, and then changes
//! places with it. What came out of that place is compared with what was expected: if somebody has written meanwhile, the two
//! change back. Where the system cannot exchange two files, the file is compared right before it is replaced.

use std::io::ErrorKind;
use std::path::Path;

use super::temp;
use super::world::{About, Kind, World, reason};

/// Why nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// The file does not hold what was expected: somebody else wrote it.
    Changed,
    /// It cannot be written: one sentence, lower case, without a full stop.
    Failed(String),
}

impl From<std::io::Error> for Unwritten {
    fn from(error: std::io::Error) -> Unwritten {
        Unwritten::Failed(reason(&error))
    }
}

fn failed(why: &str) -> Unwritten {
    Unwritten::Failed(why.into())
}

/// The content of a file; none where there is none.
///
/// # Errors
///
/// What is there and cannot be read as a file, as one sentence.
pub fn content(world: &dyn World, path: &Path) -> Result<Option<Vec<u8>>, String> {
    match world.about(path) {
        Ok(about) if about.kind == Kind::Folder => Err("it is a folder".into()),
        Ok(about) if about.kind == Kind::Other => Err("it is no regular file".into()),
        Ok(_) => match world.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(reason(&error)),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if world.is_link(path) {
                Err("it is a link that leads nowhere".into())
            } else {
                Ok(None)
            }
        }
        Err(error) => Err(reason(&error)),
    }
}

/// Puts `new` in the place of a file's content (none: removes the file) if that is still `expected` (none: there is no such
/// file). A link stays a link, and its target is replaced; where that target is to be removed, it is emptied instead.
///
/// # Errors
///
/// When the file holds something else, or cannot be written whole: it is not a regular file, is protected, has several
/// names, which renaming would part, or an owner or attributes that cannot be kept; or the disk says no.
pub fn replace(
    world: &dyn World,
    path: &Path,
    expected: Option<&[u8]>,
    new: Option<&[u8]>,
) -> Result<(), Unwritten> {
    let now = content(world, path).map_err(Unwritten::Failed)?;
    if now.as_deref() != expected {
        return Err(Unwritten::Changed);
    }
    if now.as_deref() == new {
        return Ok(());
    }
    let Some(expected) = expected else {
        return new.map_or(Ok(()), |new| make(world, path, new));
    };
    let linked = world.is_link(path);
    let target = world.real(path)?;
    let about = world.about(&target)?;
    if about.kind != Kind::File {
        return Err(failed("it is no regular file any more"));
    }
    if about.names > 1 {
        let names = about.names;
        return Err(Unwritten::Failed(format!(
            "it has {names} names (hard links), which writing would part"
        )));
    }
    // Renaming would replace a file that its owner has protected.
    if about.read_only {
        return Err(failed("it is write-protected"));
    }
    world.try_write(&target)?;
    match new {
        None if !linked => remove(world, &target, expected),
        new => exchange(world, &target, &about, expected, new.unwrap_or_default()),
    }
}

/// Writes a new file beside another, whole and on the disk.
fn beside(
    world: &dyn World,
    path: &Path,
    bytes: &[u8],
    like: Option<&About>,
) -> Result<std::path::PathBuf, Unwritten> {
    let beside = temp::beside(world, path);
    world.create(&beside, like.is_some())?;
    let cannot = |what: &str, error: &std::io::Error| {
        Unwritten::Failed(format!("its {what} cannot be kept: {}", reason(error)))
    };
    let written = world.write(&beside, bytes).map_err(Unwritten::from).and_then(|()| match like {
        // The permissions come last: a list of access rights changes them, and another owner takes some of them away.
        Some(like) => {
            world.attributes(&beside, path).map_err(|error| cannot("attributes", &error)).and_then(|()| {
                world.liken(&beside, like).map_err(|error| cannot("owner and permissions", &error))
            })
        }
        None => Ok(()),
    });
    match written.and_then(|()| Ok(world.sync(&beside)?)) {
        Ok(()) => Ok(beside),
        Err(unwritten) => {
            let _ = world.remove(&beside);
            Err(unwritten)
        }
    }
}

fn sync_folder(world: &dyn World, path: &Path) {
    if let Some(folder) = path.parent() {
        world.sync_folder(folder);
    }
}

/// Makes a file that must not be there yet.
fn make(world: &dyn World, path: &Path, new: &[u8]) -> Result<(), Unwritten> {
    let beside = beside(world, path, new, None)?;
    if let Err(error) = world.rename_new(&beside, path) {
        let _ = world.remove(&beside);
        return Err(if error.kind() == ErrorKind::AlreadyExists { Unwritten::Changed } else { error.into() });
    }
    sync_folder(world, path);
    Ok(())
}

fn exchange(
    world: &dyn World,
    target: &Path,
    about: &About,
    expected: &[u8],
    new: &[u8],
) -> Result<(), Unwritten> {
    let beside = beside(world, target, new, Some(about))?;
    let undone = |unwritten| {
        let _ = world.remove(&beside);
        Err(unwritten)
    };
    match world.exchange(&beside, target) {
        Ok(true) => {
            // What is beside now was in the place; nobody but this process writes there any more.
            if world.read(&beside).is_ok_and(|was| was == expected) {
                // What cannot be removed is not the user's file; the next run removes it.
                let _ = world.remove(&beside);
            } else {
                world.exchange(&beside, target)?;
                if world.read(&beside).is_ok_and(|ours| ours == new) {
                    return undone(Unwritten::Changed);
                }
                // Somebody has written a third time, between the two exchanges: both of theirs stay.
                return Err(kept(world, &beside, target));
            }
        }
        Ok(false) => {
            match world.read(target) {
                Ok(now) if now == expected => {}
                Ok(_) => return undone(Unwritten::Changed),
                Err(error) => return undone(error.into()),
            }
            if let Err(error) = world.rename(&beside, target) {
                return undone(error.into());
            }
        }
        Err(error) => {
            let changed = error.kind() == ErrorKind::NotFound;
            return undone(if changed { Unwritten::Changed } else { error.into() });
        }
    }
    sync_folder(world, target);
    Ok(())
}

fn remove(world: &dyn World, target: &Path, expected: &[u8]) -> Result<(), Unwritten> {
    let aside = temp::beside(world, target);
    match world.rename(target, &aside) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Unwritten::Changed),
        other => other?,
    }
    if world.read(&aside).is_ok_and(|was| was == expected) {
        // What cannot be removed is not the user's file; the next run removes it.
        let _ = world.remove(&aside);
        sync_folder(world, target);
        return Ok(());
    }
    match world.rename_new(&aside, target) {
        Ok(()) => Err(Unwritten::Changed),
        Err(_) => Err(kept(world, &aside, target)),
    }
}

/// Keeps one of two texts of others under a name of its own.
fn kept(world: &dyn World, aside: &Path, target: &Path) -> Unwritten {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    for number in 1..100 {
        let other = format!("{name}.conflict-{number}");
        if world.rename_new(aside, &target.with_file_name(&other)).is_ok() {
            return Unwritten::Failed(format!(
                "others wrote it twice meanwhile; one of their texts is in {other}"
            ));
        }
    }
    Unwritten::Failed(format!(
        "others wrote it twice meanwhile; one of their texts is in {}",
        aside.display()
    ))
}
