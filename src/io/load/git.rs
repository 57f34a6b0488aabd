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
