//! What git knows: the files that it tracks, and the branch.

use std::fs;
use std::path::{Path, PathBuf};

use crate::core::fact::{Found, Value};
use crate::io::git::command;

use super::stamp::Stamp;

/// What was found, and a note where there is nothing.
pub(super) struct Answer {
    pub(super) found: Found,
    pub(super) note: Option<&'static str>,
}

fn absent(note: &'static str) -> Answer {
    Answer { found: Found::Absent, note: Some(note) }
}

/// The files that git tracks below `folder`, relative to it, sorted by bytes.
pub(super) fn files(folder: &Path, inputs: &mut Vec<(PathBuf, Stamp)>) -> Answer {
    let Some(git) = git_folder(folder) else {
        inputs.push((folder.join(".git"), Stamp::of(&folder.join(".git"))));
        return absent("not in a git repository");
    };
    let index = git.join("index");
    inputs.push((index.clone(), Stamp::of(&index)));
    let output = command(folder).args(["ls-files", "--cached", "-z"]).output();
    let Ok(output) = output else { return absent("git is not installed") };
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let first = stderr.lines().next().unwrap_or("git failed").trim_start_matches("fatal: ");
        if first.starts_with("not a git repository") {
            return absent("not in a git repository");
        }
        return Answer { found: Found::Failed(format!("git: {first}").into()), note: None };
    }
    let mut files: Vec<String> = output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    files.sort_unstable();
    // A file in conflict is listed once for each side.
    files.dedup();
    Answer { found: Found::Value(Value::list(files.into_iter().map(Value::text))), note: None }
}

/// What tells one state of the index from another: a map of `root`, `dir` (absolute paths), `mtime_ms` and `size`.
pub(super) fn index(folder: &Path, inputs: &mut Vec<(PathBuf, Stamp)>) -> Answer {
    let Some(git) = git_folder(folder) else {
        inputs.push((folder.join(".git"), Stamp::of(&folder.join(".git"))));
        return absent("not in a git repository");
    };
    let index = git.join("index");
    inputs.push((index.clone(), Stamp::of(&index)));
    let Ok(metadata) = fs::metadata(&index) else { return absent("the repository has no index") };
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let root = folder.canonicalize().ok();
    let root = root.as_deref().and_then(|real| real.ancestors().find(|above| above.join(".git").exists()));
    let number = |n: u128| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let value = Value::map([
        ("root", Value::text(root.unwrap_or(folder).to_string_lossy())),
        ("dir", Value::text(git.to_string_lossy())),
        ("mtime_ms", number(modified.map_or(0, |age| age.as_millis()))),
        ("size", number(metadata.len().into())),
    ]);
    Answer { found: Found::Value(value), note: None }
}

/// The branch that is checked out, or the commit where none is.
pub(super) fn branch(folder: &Path, inputs: &mut Vec<(PathBuf, Stamp)>) -> Answer {
    let Some(git) = git_folder(folder) else {
        inputs.push((folder.join(".git"), Stamp::of(&folder.join(".git"))));
        return absent("not in a git repository");
    };
    let head = git.join("HEAD");
    inputs.push((head.clone(), Stamp::of(&head)));
    let Ok(text) = fs::read_to_string(&head) else { return absent("the repository has no HEAD") };
    let text = text.trim();
    let name = match text.strip_prefix("ref: ") {
        Some(reference) => reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned(),
        None => text.chars().take(12).collect(),
    };
    Answer { found: Found::Value(Value::text(name)), note: None }
}

/// The folder in which git keeps what it knows about `folder`: `.git` here or above, or where a file of that name points.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let real = folder.canonicalize().ok()?;
    real.ancestors().find_map(|above| {
        let git = above.join(".git");
        if git.is_dir() {
            return Some(git);
        }
        if !git.is_file() {
            return None;
        }
        let text = fs::read_to_string(&git).ok()?;
        Some(above.join(text.strip_prefix("gitdir:")?.trim()))
    })
}
