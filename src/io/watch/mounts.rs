//! Which folders are known not to report what other machines change in them.

use std::path::{Path, PathBuf};

/// File systems whose files somebody else can change: another machine, or the host of a virtual machine or container.
/// The kernel reports only what passes through itself.
const SILENT: &[&str] = &[
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "drvfs",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.grpcfuse",
    "fuse.osxfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "fuse.vmhgfs-fuse",
    "fakeowner",
    "gfs2",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "osxfs",
    "prl_fs",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
];

/// The mounted file systems.
#[derive(Clone, Debug, Default)]
pub(super) struct Mounts(Vec<(PathBuf, String)>);

impl Mounts {
    /// Those of this process. Where they cannot be listed every folder counts as one that reports.
    pub(super) fn read() -> Self {
        if cfg!(target_os = "linux") {
            std::fs::read_to_string("/proc/self/mounts").map(|table| Self::parse(&table)).unwrap_or_default()
        } else {
            Self::default()
        }
    }

    /// Reads the table of mounts as `proc(5)` describes it: device, mount point, type, options, two numbers.
    fn parse(table: &str) -> Self {
        let mount = |line: &str| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            Some((PathBuf::from(unescape(fields.next()?)), fields.next()?.to_owned()))
        };
        Self(table.lines().filter_map(mount).collect())
    }

    /// The type of the file system that holds this folder (absolute, without links), if it is a silent one.
    pub(super) fn silent(&self, folder: &Path) -> Option<&str> {
        // Of two mounts on the same point the later one hides the other.
        let (_, kind) = self
            .0
            .iter()
            .filter(|(point, _)| folder.starts_with(point))
            .max_by_key(|(point, _)| point.components().count())?;
        SILENT.contains(&kind.as_str()).then_some(kind)
    }
}

/// Blanks, tabs, line ends and backslashes in a mount point stand there in octal, as `\040`.
fn unescape(field: &str) -> String {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(code) if *first == b'\\' => {
                bytes.push(code);
                rest = &tail[3..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
/dev/vda1 / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
server:/export /home/ann/net\\040work nfs4 rw,vers=4.2 0 0
C:\\134 /mnt/c 9p rw,aname=drvfs 0 0
/dev/sdb1 /mnt/c/local ext4 rw 0 0
tmpfs /over nfs rw 0 0
tmpfs /over tmpfs rw 0 0
";

    #[test]
    fn the_innermost_mount_decides() {
        let mounts = Mounts::parse(TABLE);
        assert_eq!(mounts.silent(Path::new("/home/ann/project")), None);
        assert_eq!(mounts.silent(Path::new("/home/ann/net work/project")), Some("nfs4"));
        assert_eq!(mounts.silent(Path::new("/mnt/c/Users")), Some("9p"));
        assert_eq!(mounts.silent(Path::new("/mnt/c/local/project")), None);
        assert_eq!(
            mounts.silent(Path::new("/mnt/cellar")),
            None,
            "a name that starts alike is another folder"
        );
        assert_eq!(mounts.silent(Path::new("/over/there")), None, "the later mount hides the earlier one");
    }

    #[test]
    fn a_table_that_makes_no_sense_is_no_silent_folder() {
        assert_eq!(Mounts::parse("nonsense\n\n\\9 \\77").silent(Path::new("/")), None);
        assert_eq!(unescape("a\\040b\\"), "a b\\");
    }
}
