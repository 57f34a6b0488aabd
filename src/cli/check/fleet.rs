//! Which benches a command line means: files, folders that hold one, and folders with benches somewhere below.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::open::holds_work;
use crate::core::diagnostic::Diagnostic;
use crate::io::load::{GLOB_SKIPS, reason};

/// The deepest folder that is looked into, from the one that was named.
const DEEPEST: usize = 16;

/// A bench to check, or what was named and why it is none.
pub(super) type Found = Result<PathBuf, (PathBuf, Diagnostic)>;

/// The benches that these paths mean, in order, each once. A folder that holds `bench.yaml` is that bench; a folder with
/// other bench files stands for all of them; a folder without any is searched, and where nothing is below it is opened as
/// a folder in which an agent works can be.
pub(super) fn benches(paths: &[PathBuf]) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let mut add = |found: Found| {
        let known = |other: &Found| matches!((other, &found), (Ok(a), Ok(b)) if a == b);
        if !all.iter().any(known) {
            all.push(found);
        }
    };
    for path in paths {
        if !path.is_dir() {
            // What is no path may be a sample.
            add(Ok(path.clone()));
            continue;
        }
        let here = match of_folder(path) {
            Ok(here) => here,
            Err(problem) => {
                add(Err((path.clone(), problem)));
                continue;
            }
        };
        match here.as_slice() {
            // Named as the user named it.
            [one] if one.file_name().is_some_and(|name| name == "bench.yaml") => add(Ok(path.clone())),
            [] => {
                let mut below = Vec::new();
                search(path, 0, &mut below);
                if below.is_empty() {
                    add(if holds_work(path) {
                        Ok(path.clone())
                    } else {
                        Err((path.clone(), no_bench(path)))
                    });
                }
                below.into_iter().for_each(|bench| add(Ok(bench)));
            }
            _ => here.into_iter().for_each(|bench| add(Ok(bench))),
        }
    }
    all
}

fn no_bench(folder: &Path) -> Diagnostic {
    let folder = folder.display();
    Diagnostic::error(format!("there is no bench in or below `{folder}`, and no AGENTS.md in it")).hint(
        format!(
            "`plywood init {folder}` writes a bench; a bench file ends in `.bench.yaml` or is `bench.yaml`"
        ),
    )
}

/// The bench files in a folder: `bench.yaml` alone, else those that end in `.bench.yaml`.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let own = folder.join("bench.yaml");
    if own.is_file() {
        return Ok(vec![own]);
    }
    let listed = fs::read_dir(folder).map_err(|error| {
        Diagnostic::error(format!("`{}` cannot be listed: {}", folder.display(), reason(&error)))
    })?;
    let mut files: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".bench.yaml")))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    Ok(files)
}

/// The benches below a folder. Links are not followed, and what tools make and what is hidden is not looked into.
fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    // What cannot be listed below the folder that was named has no bench that could be opened.
    let Ok(listed) = fs::read_dir(folder) else { return };
    let mut folders: Vec<PathBuf> = listed
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !name.starts_with('.') && !GLOB_SKIPS.contains(&&*name)
        })
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    for folder in folders {
        found.extend(of_folder(&folder).unwrap_or_default());
        if depth < DEEPEST {
            search(&folder, depth + 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_searched() {
        let folder = tempfile::TempDir::new().expect("a folder");
        for path in [
            "own/bench.yaml",
            "own/sub/bench.yaml",
            "fleet/b/bench.yaml",
            "fleet/a/one.bench.yaml",
            "fleet/a/two.bench.yaml",
            "fleet/.hidden/bench.yaml",
            "fleet/node_modules/x/bench.yaml",
            "plain/AGENTS.md",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, "").expect("a file");
        }
        let at = |path: &str| folder.path().join(path);
        let found = |path: &str| -> Vec<PathBuf> {
            benches(&[at(path)]).into_iter().map(|found| found.expect("a bench")).collect()
        };
        assert_eq!(found("own"), [at("own")]);
        assert_eq!(
            found("fleet"),
            [at("fleet/a/one.bench.yaml"), at("fleet/a/two.bench.yaml"), at("fleet/b/bench.yaml")]
        );
        assert_eq!(found("plain"), [at("plain")]);
        let twice = benches(&[at("fleet"), at("fleet/b/bench.yaml"), "sample".into()]);
        assert_eq!(twice.len(), 4);
    }
}
