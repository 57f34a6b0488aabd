//! The files below a folder that match a pattern.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::core::fact::{Found, Value};

use super::file;
use super::stamp::{self, Stamp};

/// The most entries that are looked at for one pattern.
const MAX_ENTRIES: usize = 50_000;
/// The most folders within each other.
const MAX_DEPTH: usize = 32;
/// Folders that are left out unless the pattern names them: what tools make and keep there is not the user's text.
pub(crate) const SKIPPED: &[&str] = &[".git", "target", "node_modules"];

/// A pattern that files are held against.
pub(crate) struct Pattern {
    matcher: globset::GlobMatcher,
    /// The folder below which everything lies that can match: the parts without wild cards.
    start: String,
    /// The pattern's parts behind that folder.
    parts: usize,
    /// True where files of any depth can match.
    deep: bool,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub(crate) fn new(pattern: &str) -> Result<Pattern, String> {
        let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|error| format!("the pattern cannot be used: {}", error.kind()))?;
        let parts: Vec<&str> = pattern.split('/').collect();
        let special = |part: &&str| part.contains(['*', '?', '[', '{', '}', ']', '\\']);
        let literal = parts[..parts.len() - 1].iter().take_while(|part| !special(part)).count();
        Ok(Pattern {
            matcher: glob.compile_matcher(),
            start: parts[..literal].join("/"),
            parts: parts.len() - literal,
            deep: parts.iter().any(|part| part.contains("**")) || pattern.contains('{'),
        })
    }

    /// The folder where the walk begins.
    pub(crate) fn start(&self) -> &str {
        &self.start
    }

    /// True for a file that matches.
    pub(crate) fn matches(&self, path: &str) -> bool {
        self.matcher.is_match(path)
    }
}

struct Walk<'a> {
    root: &'a Path,
    pattern: Pattern,
    found: BTreeSet<String>,
    entries: usize,
    inputs: &'a mut Vec<(PathBuf, Stamp)>,
}

/// Lists the files below `root` that match `pattern`, relative to `root`, sorted by bytes. Links are followed, but not in
/// circles. Every folder that was listed is added to `inputs`: a new file changes its stamp.
pub(super) fn list(root: &Path, pattern: &str, inputs: &mut Vec<(PathBuf, Stamp)>) -> Found {
    let pattern = match Pattern::new(pattern) {
        Ok(pattern) => pattern,
        Err(reason) => return Found::Failed(reason.into()),
    };
    let start = pattern.start.clone();
    let mut walk = Walk { root, pattern, found: BTreeSet::new(), entries: 0, inputs };
    match walk.folder(&start, &mut Vec::new()) {
        Ok(true) => Found::Value(Value::list(walk.found.into_iter().map(Value::text))),
        Ok(false) => Found::Absent,
        Err(reason) => Found::Failed(reason.into()),
    }
}

impl Walk<'_> {
    /// Lists one folder; false when it is not there.
    fn folder(&mut self, below: &str, above: &mut Vec<PathBuf>) -> Result<bool, String> {
        let folder = self.root.join(below);
        let stamp = Stamp::of(&folder);
        self.inputs.push((folder.clone(), stamp));
        let listing = match fs::read_dir(&folder) {
            Ok(listing) => listing,
            Err(error) if stamp::is_absent(error.kind()) => return Ok(false),
            // One folder without permission does not spoil the others.
            Err(_) if !above.is_empty() => return Ok(true),
            Err(error) => return Err(file::reason(&error)),
        };
        // A link to a folder that it stands in would be walked for ever.
        let real = folder.canonicalize().map_err(|error| file::reason(&error))?;
        if above.contains(&real) || above.len() >= MAX_DEPTH {
            return Ok(true);
        }
        above.push(real);
        for entry in listing {
            // An entry that goes away while the folder is listed is not there.
            let Ok(entry) = entry else { continue };
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(format!("more than {MAX_ENTRIES} files to look at; narrow the pattern"));
            }
            // A name that is not UTF-8 cannot be written in a bench or a prompt.
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
            let Ok(kind) = entry.file_type() else { continue };
            let is_folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
            if is_folder {
                let further = self.pattern.deep || above.len() < self.pattern.parts;
                if further && !SKIPPED.contains(&name) {
                    self.folder(&path, above)?;
                }
            } else if self.pattern.matches(&path) && (!kind.is_symlink() || entry.path().exists()) {
                self.found.insert(path);
            }
        }
        above.pop();
        Ok(true)
    }
}

/// The folders below `root`, nearest first until there are too many, then sorted by bytes. Links are not followed.
pub(super) fn folders(root: &Path) -> Vec<String> {
    const MOST: usize = 5_000;
    let mut found = Vec::new();
    let mut next = std::collections::VecDeque::from([(String::new(), 0)]);
    let mut entries = 0;
    while let Some((below, depth)) = next.pop_front() {
        let Ok(listing) = fs::read_dir(root.join(&below)) else { continue };
        for entry in listing.flatten() {
            entries += 1;
            if entries > MAX_ENTRIES || found.len() == MOST {
                next.clear();
                break;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if SKIPPED.contains(&name) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
            if depth + 1 < MAX_DEPTH {
                next.push_back((path.clone(), depth + 1));
            }
            found.push(path);
        }
    }
    found.sort_unstable();
    found
}
