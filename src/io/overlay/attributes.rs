//! Extended attributes, which a file keeps when another one takes its place. On Linux, lists of access rights are among
//! them; on a Mac they are something else, which is not reached from here.

#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(super) use self::system::copy;

/// This system has none.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn copy(_: &std::path::Path, _: &std::path::Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod system {
    use std::collections::BTreeSet;
    use std::ffi::{CStr, CString};
    use std::io;
    use std::path::Path;

    use rustix::fs::{
        XattrFlags, getxattr, getxattr_query, listxattr, listxattr_query, removexattr, setxattr,
    };
    use rustix::io::Errno;

    use super::super::world::reason;

    #[cfg(target_os = "macos")]
    const ABSENT: Errno = Errno::NOATTR;
    #[cfg(not(target_os = "macos"))]
    const ABSENT: Errno = Errno::NODATA;

    /// Gives `to` the attributes of `from`, and takes away what it has beyond them.
    ///
    /// # Errors
    ///
    /// The first that cannot be kept, by its name.
    pub(in super::super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
        let named = |name: &CStr, errno: Errno| {
            let error = io::Error::from(errno);
            io::Error::other(format!("`{}`: {}", name.to_string_lossy(), reason(&error)))
        };
        let wanted = names(from)?;
        // A folder can give new files rights that the old one does not have.
        for name in names(to)?.difference(&wanted) {
            match removexattr(to, &**name) {
                Err(errno) if errno != ABSENT && !is_systems(name) => return Err(named(name, errno)),
                _ => {}
            }
        }
        for name in wanted {
            let value = value(from, &name).map_err(|errno| named(&name, errno))?;
            // What is the same already need not be allowed to be set.
            let Some(value) = value.filter(|new| value_is_not(to, &name, new)) else { continue };
            match setxattr(to, &*name, &value, XattrFlags::empty()) {
                Err(errno) if !is_systems(&name) => return Err(named(&name, errno)),
                _ => {}
            }
        }
        Ok(())
    }

    fn value_is_not(path: &Path, name: &CStr, wanted: &[u8]) -> bool {
        !matches!(value(path, name), Ok(Some(now)) if now == wanted)
    }

    /// True for attributes that the system makes itself, whatever is wanted: labels of its rules, and where a file came
    /// from.
    fn is_systems(name: &CStr) -> bool {
        name.to_bytes().starts_with(b"security.") || name.to_bytes() == b"com.apple.provenance"
    }

    /// The names of a file's attributes, but for sums of its content, which is another one now.
    fn names(path: &Path) -> io::Result<BTreeSet<CString>> {
        let list = match sized(|| listxattr_query(path), |room| listxattr(path, room)) {
            Ok(list) => list,
            // This file system has none.
            Err(errno) if [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS].contains(&errno) => Vec::new(),
            Err(errno) => return Err(errno.into()),
        };
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names
            .filter(|name| ![&b"security.ima"[..], b"security.evm"].contains(name))
            .filter_map(|name| CString::new(name).ok())
            .collect())
    }

    /// None where there is none of that name any more.
    fn value(path: &Path, name: &CStr) -> rustix::io::Result<Option<Vec<u8>>> {
        match sized(|| getxattr_query(path, name), |room| getxattr(path, name, room)) {
            Ok(value) => Ok(Some(value)),
            Err(errno) if errno == ABSENT => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// What is as large as it says; asked again where it grows meanwhile.
    fn sized(
        size: impl Fn() -> rustix::io::Result<usize>,
        read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
    ) -> rustix::io::Result<Vec<u8>> {
        let mut tries = 0;
        loop {
            let mut room = vec![0; size()?];
            match read(&mut room) {
                Ok(len) => {
                    room.truncate(len);
                    return Ok(room);
                }
                Err(Errno::RANGE) if tries < 8 => tries += 1,
                Err(errno) => return Err(errno),
            }
        }
    }
}
