//! Git, asked about a revision: never checks anything out, runs no hooks and fetches nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::core::diagnostic::Diagnostic;
use crate::io::git::command as git;

fn run(mut command: Command) -> Result<Vec<u8>, Diagnostic> {
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Diagnostic::error("git is not installed")
            .hint("revisions are read with git; `plywood check --against` compares with a recorded request"),
        _ => Diagnostic::error(format!("git cannot be started: {}", crate::io::load::reason(&error))),
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it failed");
    Err(Diagnostic::error(format!(
        "git: {}",
        said.trim_start_matches("fatal: ").trim_start_matches("error: ")
    )))
}

/// The folder at the top of the repository that holds `folder`.
pub(super) fn top(folder: &Path) -> Result<PathBuf, Diagnostic> {
    let mut command = git(folder);
    command.args(["rev-parse", "--show-toplevel"]);
    let said = run(command).map_err(|problem| {
        if problem.message.contains("not a git repository") {
            return Diagnostic::error(format!("`{}` is not in a git repository", folder.display())).hint(
                "commit the bench to compare it; `plywood check --against` compares with a recorded request",
            );
        }
        problem
    })?;
    Ok(PathBuf::from(String::from_utf8_lossy(&said).trim_end_matches(['\n', '\r']).to_owned()))
}

/// The commit that a revision names.
pub(super) fn commit(top: &Path, revision: &str) -> Result<String, Diagnostic> {
    let ask = |revision: &str| {
        let mut command = git(top);
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        command.arg(format!("{revision}^{{commit}}"));
        run(command)
    };
    match ask(revision) {
        Ok(said) => Ok(String::from_utf8_lossy(&said).trim().to_owned()),
        Err(problem) if problem.message.contains("not installed") => Err(problem),
        Err(_) if ask("HEAD").is_err() => Err(Diagnostic::error("the repository has no commit yet")
            .hint("commit the bench, then change it: the difference is what `diff` shows")),
        Err(_) => Err(Diagnostic::error(format!("git knows no revision `{revision}`"))
            .hint("a revision is a commit, a branch or a tag, such as HEAD~1, main or v1.0; `git log` lists commits")),
    }
}

/// An entry of a tree: mode, object, path from the top.
pub(super) struct Entry {
    pub(super) mode: String,
    pub(super) object: String,
    pub(super) path: String,
}

/// Every file of a commit. Names that are not UTF-8 cannot be written in a bench, and are left out.
pub(super) fn tree(top: &Path, commit: &str) -> Result<Vec<Entry>, Diagnostic> {
    let mut command = git(top);
    command.args(["ls-tree", "-r", "-z", "--full-tree", commit]);
    let listing = run(command)?;
    let entry = |record: &[u8]| {
        let (head, path) = std::str::from_utf8(record).ok()?.split_once('\t')?;
        let mut head = head.split(' ');
        let (mode, _, object) = (head.next()?, head.next()?, head.next()?);
        Some(Entry { mode: mode.to_owned(), object: object.to_owned(), path: path.to_owned() })
    };
    Ok(listing.split(|byte| *byte == 0).filter_map(entry).collect())
}

/// One process that hands out objects.
pub(super) struct Objects {
    child: Child,
    ask: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    pub(super) fn open(top: &Path) -> Result<Objects, Diagnostic> {
        let failed = |what: &str| Diagnostic::error(format!("git cat-file cannot be started: {what}"));
        let mut command = git(top);
        command
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| failed(&error.to_string()))?;
        let ask = child.stdin.take();
        let answers = child.stdout.take().ok_or_else(|| failed("it has no output"))?;
        Ok(Objects { child, ask, answers: BufReader::new(answers) })
    }

    /// The bytes of an object.
    pub(super) fn read(&mut self, object: &str) -> Result<Vec<u8>, String> {
        let lost = |error: std::io::Error| format!("git cat-file: {}", crate::io::load::reason(&error));
        let ask = self.ask.as_mut().ok_or("git cat-file has ended")?;
        ask.write_all(format!("{object}\n").as_bytes()).and_then(|()| ask.flush()).map_err(lost)?;
        let mut head = String::new();
        self.answers.read_line(&mut head).map_err(lost)?;
        // `<object> <kind> <size>`, or `<object> missing`.
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.ok_or("git does not have its content here")?;
        // The line end behind it is git's.
        let mut bytes = vec![0; size + 1];
        self.answers.read_exact(&mut bytes).map_err(lost)?;
        bytes.pop();
        Ok(bytes)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Without input it ends by itself.
        self.ask = None;
        let _ = self.child.wait();
    }
}
