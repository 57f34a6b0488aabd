//! How git is started: on the repository that is meant, quietly, and running nothing of anybody's.

use std::path::Path;
use std::process::{Command, Stdio};

/// A git command in a folder.
///
/// What a hook has set about another repository, or about a part of this one, is forgotten: it is the folder that counts.
/// A file system monitor would be a program of the repository's choosing; locks and downloads are nobody's wish here.
pub(super) fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "core.fsmonitor=false"]);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
    command.stdin(Stdio::null());
    command
}
