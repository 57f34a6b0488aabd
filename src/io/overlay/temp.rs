//! Files beside others, for a moment. Their names say whose they are, so that those of a process that died can be told
//! and removed.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::owner::Owner;
use super::world::World;

const MARK: &str = ".plywood-";
const END: &str = ".tmp";

/// A new name beside a file.
pub(super) fn beside(world: &dyn World, path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let me = world.me();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Long names would not leave room for ours.
    let name: String = name.chars().take(40).collect();
    let start = me.start.as_deref().unwrap_or("0-0");
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}{MARK}{}-{start}-{number}{END}", me.pid))
}

/// Whose file this is; none for a name that is not ours.
fn owner(name: &OsStr, host: &str) -> Option<Owner> {
    let name = name.to_str()?.strip_prefix('.')?.strip_suffix(END)?;
    let (_, mut fields) = name.rsplit_once(MARK).map(|(name, rest)| (name, rest.split('-')))?;
    let pid = fields.next()?.parse().ok()?;
    let (ticks, boot) = (fields.next()?, fields.next()?);
    fields.next()?.parse::<u32>().ok()?;
    if fields.next().is_some() {
        return None;
    }
    let start = (ticks != "0").then(|| format!("{ticks}-{boot}"));
    Some(Owner { pid, start, host: host.into() })
}

/// What dead processes left in a folder, in order.
///
/// # Errors
///
/// When the folder cannot be listed; one that is not there holds nothing.
pub(super) fn left(world: &dyn World, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let names = match world.list(folder) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let host = world.me().host;
    let dead = |name: &&std::ffi::OsString| owner(name, &host).is_some_and(|owner| !world.alive(&owner));
    Ok(names.iter().filter(dead).map(|name| folder.join(name)).collect())
}

/// Removes what dead processes left in a folder, and gives how many there were. What cannot be removed stays.
pub(super) fn tidy(world: &dyn World, folder: &Path) -> usize {
    let Ok(left) = left(world, folder) else { return 0 };
    left.iter().filter(|path| world.remove(path).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::overlay::world::Machine;

    #[test]
    fn a_name_says_whose_the_file_is() {
        let me = Machine.me();
        let path = beside(&Machine, Path::new("/w/AGENTS.md"));
        let name = path.file_name().expect("a name");
        assert_eq!(owner(name, &me.host), Some(me.clone()));
        assert_ne!(path, beside(&Machine, Path::new("/w/AGENTS.md")));
        for other in
            [".AGENTS.md.tmp", ".x.plywood-1-2-3.tmp", ".x.plywood-1-2-3-4-5.tmp", "x.plywood-1-2-3-4.tmp"]
        {
            assert_eq!(owner(OsStr::new(other), &me.host), None, "{other}");
        }
    }

    #[test]
    fn only_what_the_dead_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("AGENTS.md");
        let mine = beside(&Machine, &path);
        let dead = folder.path().join(format!(".AGENTS.md{MARK}{}-7-0-0{END}", i32::MAX));
        for path in [&path, &mine, &dead] {
            Machine.create(path, true).expect("a file");
        }
        assert_eq!(tidy(&Machine, folder.path()), 1);
        assert_eq!((path.exists(), mine.exists(), dead.exists()), (true, true, false));
        assert_eq!(tidy(&Machine, &folder.path().join("none")), 0);
    }
}
