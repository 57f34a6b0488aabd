//! What the user has allowed: a file for each bench, in the folder where programs keep their state.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use sha2::{Digest, Sha256};

use crate::core::fact::Command;

/// Which commands of which folders may run.
#[derive(Clone, Debug)]
pub struct TrustStore {
    folder: PathBuf,
}

impl TrustStore {
    /// That of the user; none where there is no home folder.
    #[must_use]
    pub fn of_user() -> Option<TrustStore> {
        let base = etcetera::choose_base_strategy().ok()?;
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Some(TrustStore { folder: state.join("plywood").join("trust") })
    }

    /// A store in this folder, which need not exist.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> TrustStore {
        TrustStore { folder: folder.into() }
    }

    /// True when exactly these commands were allowed for the bench in this folder.
    #[must_use]
    pub fn holds(&self, bench: &Path, commands: &[Command]) -> bool {
        self.file(bench, commands).is_ok_and(|file| file.is_file())
    }

    /// Allows these commands for the bench in this folder, from now on.
    ///
    /// # Errors
    ///
    /// When it cannot be written down.
    pub fn add(&self, bench: &Path, commands: &[Command]) -> io::Result<()> {
        let file = self.file(bench, commands)?;
        std::fs::create_dir_all(&self.folder)?;
        let mut text = format!("{}\n", bench.canonicalize()?.display());
        for command in commands {
            let _ = writeln!(text, "{command}, {} s, {} bytes", command.timeout, command.max_bytes);
        }
        std::fs::write(file, text)
    }

    /// The file that stands for these commands in this folder: another command is another file.
    fn file(&self, bench: &Path, commands: &[Command]) -> io::Result<PathBuf> {
        let real = bench.canonicalize()?;
        let mut sorted: Vec<&Command> = commands.iter().collect();
        sorted.sort();
        let said = serde_json::to_vec(&(real.to_string_lossy(), sorted))?;
        let hash = Sha256::digest(&said).iter().fold(String::new(), |mut hash, byte| {
            let _ = write!(hash, "{byte:02x}");
            hash
        });
        Ok(self.folder.join(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(args: &[&str]) -> Command {
        Command { args: args.iter().map(|arg| (*arg).into()).collect(), timeout: 5, max_bytes: 100 }
    }

    #[test]
    fn exactly_these_commands_are_allowed_in_exactly_this_folder() {
        let home = tempfile::tempdir().expect("a folder");
        let (here, there) = (home.path().join("here"), home.path().join("there"));
        for folder in [&here, &there] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let store = TrustStore::at(home.path().join("state/trust"));
        let both = [command(&["date"]), command(&["git", "log"])];
        assert!(!store.holds(&here, &both));
        store.add(&here, &both).expect("written");
        assert!(store.holds(&here, &both) && !store.holds(&there, &both));
        let turned = [both[1].clone(), both[0].clone()];
        assert!(store.holds(&here, &turned), "their order says nothing");
        assert!(store.holds(&here.join("../here"), &both), "it is the same folder");
        for other in [command(&["date", "-u"]), Command { timeout: 6, ..both[0].clone() }] {
            assert!(!store.holds(&here, &[other, both[1].clone()]), "a changed command is asked about again");
        }
        assert!(!store.holds(&here, &both[..1]) && !store.holds(&home.path().join("gone"), &both));
        // Arguments are told apart, whatever is in them.
        store.add(&here, &[command(&["a b"])]).expect("written");
        assert!(!store.holds(&here, &[command(&["a", "b"])]));
    }
}
