//! "Did you mean" for paths: what is there that is called nearly like what is not.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::load::Loader;
use super::syntax::{Files, suggest};
use crate::core::bench::{Bench, ReadKind, ReadSpec};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::FilePath;

/// A path below `base` as it was probably meant: the first part that is not there, replaced by the name that is nearest
/// to it in its folder, and the rest of the path where that is there as well. None where everything is there, and where
/// nothing is called nearly like it.
#[must_use]
pub fn near(base: &Path, asked: &str) -> Option<String> {
    let mut found = PathBuf::new();
    let mut parts = Path::new(asked).components();
    let missing = loop {
        let part = parts.next()?;
        if base.join(&found).join(part).symlink_metadata().is_err() {
            break part;
        }
        found.push(part);
    };
    let Component::Normal(missing) = missing else { return None };
    let folder = base.join(&found);
    let names: Vec<String> =
        fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { &folder })
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
    let name = suggest::nearest(missing.to_str()?, names.iter().map(String::as_str))?;
    found.push(name);
    // Joining nothing would end the path with a separator.
    let rest = parts.as_path();
    let whole = if rest.as_os_str().is_empty() { found.clone() } else { found.join(rest) };
    let meant = if base.join(&whole).exists() { whole } else { found };
    meant.to_str().map(|meant| meant.replace('\\', "/"))
}

/// What the reads of a bench name that is not there, while something else is that is called nearly like it. What is not
/// there may come later; a slip of the pen never will.
pub(super) fn misnamed(bench: &Bench, loader: &Loader) -> Vec<Diagnostic> {
    let named: Vec<FilePath> = bench.reads.values().filter_map(|read| path_of(&read.kind)).collect();
    let source = &bench.source;
    let of_read = |read: &ReadSpec| {
        let path = path_of(&read.kind)?;
        let meant = FilePath::new(path.base, loader.near(&path)?);
        // Where another read has that one, both are meant.
        if named.contains(&meant) {
            return None;
        }
        let message = format!("`{path}` is not there, so nothing is read");
        let problem = Diagnostic::warning(message).at(source.name.clone(), &source.text, read.at);
        Some(problem.hint(format!("did you mean `{meant}`?")))
    };
    bench.reads.values().filter_map(of_read).collect()
}

/// The file or folder that a read names; of a pattern, the folders in front of its first wildcard.
fn path_of(kind: &ReadKind) -> Option<FilePath> {
    match kind {
        ReadKind::File { path, .. } | ReadKind::Section { path, .. } | ReadKind::Json { path } => {
            Some(path.clone())
        }
        ReadKind::Skills { folder } | ReadKind::Docs { folder, .. } | ReadKind::GitFiles { folder, .. } => {
            Some(folder.clone())
        }
        ReadKind::Glob { pattern, .. } => {
            let fixed = |part: &&str| !part.contains(['*', '?', '[', '{']);
            let parts: Vec<&str> = pattern.path.split('/').take_while(fixed).collect();
            let folders = if pattern.path.split('/').all(|part| fixed(&part)) {
                &parts[..parts.len() - 1]
            } else {
                &parts
            };
            Some(FilePath::new(pattern.base, folders.join("/")))
        }
        ReadKind::Command { .. } | ReadKind::Environment { .. } | ReadKind::Reported { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_that_is_not_there_is_mended() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("project/skills")).expect("folders");
        fs::write(folder.path().join("project/skills/SKILL.md"), "").expect("a file");
        fs::write(folder.path().join("reminder.md"), "").expect("a file");
        let near = |asked| near(folder.path(), asked);
        assert_eq!(near("remider.md").as_deref(), Some("reminder.md"));
        assert_eq!(near("projct/skills/SKILL.md").as_deref(), Some("project/skills/SKILL.md"));
        assert_eq!(near("project/skils/none.md").as_deref(), Some("project/skills"));
        assert_eq!(near("reminder.md"), None, "it is there");
        assert_eq!(near("quite-another.md"), None);
    }
}
