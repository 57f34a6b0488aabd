//! A home, a folder for temporary files, and a project: where the program is started.

use std::fs;
use std::path::PathBuf;

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

    /// What is left in the folder for temporary files.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("tmp")).expect("the folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}
