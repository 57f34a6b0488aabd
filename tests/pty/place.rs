//! A home, a folder for temporary files, and a project: where the program is started.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;

use crate::harness::Session;

/// The program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_plywood");

/// A home, a folder for temporary files, and a project with an `AGENTS.md`.
pub(crate) struct Place(pub(crate) tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for name in ["home", "tmp", "project"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        fs::write(folder.path().join("project/AGENTS.md"), "# Rules\n").expect("a file");
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn prepared(&self, program: &str) -> CommandBuilder {
        let mut command = CommandBuilder::new(program);
        command.cwd(self.0.path());
        command.env("HOME", self.path("home"));
        command.env("TMPDIR", self.path("tmp"));
        command.env("TERM", "xterm-256color");
        // What the machine of the test says must not count.
        for name in
            ["NO_COLOR", "COLORTERM", "TERM_PROGRAM", "TMUX", "SSH_TTY", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]
        {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn open(&self, path: &str) -> Session {
        let mut command = self.prepared(PROGRAM);
        command.args([path]);
        Session::start(command, 120, 40)
    }

    /// Waits until something is so on disk: no frame tells of all that is written there.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, mut so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !so() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not in {}", self.0.path().display());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a file holds this.
    #[track_caller]
    pub(crate) fn wait_for_file(&self, name: &str, content: &str) {
        let path = self.path(name);
        let read = || fs::read_to_string(&path).unwrap_or_default();
        let begun = Instant::now();
        while read() != content && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(read(), content, "{name}");
    }

    /// What is left in the folder for temporary files.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("tmp")).expect("the folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}
