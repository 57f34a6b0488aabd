//! The log: a file in the user's state folder, written only when `PLYWOOD_LOG` asks for it. Nothing of it ever reaches the
//! screen.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use super::settings::place::Places;

/// The variable that says what is logged: a level, or levels by module, as `debug` or `info,plywood::io::watch=trace`.
pub const VARIABLE: &str = "PLYWOOD_LOG";
/// A log that has grown beyond this is begun anew, in bytes.
const TOO_LONG: u64 = 8 << 20;

/// Starts to log, where that is asked for. That it cannot be written is no reason not to work: `doctor` tells it.
pub fn start(look: &dyn Fn(&str) -> Option<String>) {
    let Some(wanted) = look(VARIABLE) else { return };
    let Some(path) = Places::of_user(None, look).log else { return };
    let (Ok(file), Ok(filter)) = (open(&path), EnvFilter::try_new(wanted)) else { return };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    // A second start in one process, as in tests, keeps the first log.
    let _ = subscriber.with_writer(Mutex::new(file)).try_init();
    tracing::info!("plywood {} starts, process {}", env!("CARGO_PKG_VERSION"), std::process::id());
}

/// What is wrong with what the variable says, if anything is.
#[must_use]
pub fn problem(wanted: &str, path: Option<&Path>) -> Option<String> {
    if let Err(error) = EnvFilter::try_new(wanted) {
        return Some(format!("{VARIABLE} is not a level such as `debug`: {error}"));
    }
    match path.map(open) {
        None => Some("there is no home folder to write it in".to_owned()),
        Some(Err(error)) => Some(format!("it cannot be written: {error}")),
        Some(Ok(_)) => None,
    }
}

/// Opens the log to write behind what is there.
fn open(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let long = fs::metadata(path).is_ok_and(|metadata| metadata.len() > TOO_LONG);
    let mut options = fs::OpenOptions::new();
    options.create(true);
    if long {
        options.write(true).truncate(true)
    } else {
        options.append(true)
    };
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_level_and_a_folder_that_cannot_be_written_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state/plywood.log");
        assert_eq!(problem("debug", Some(&path)), None);
        assert!(path.exists());
        assert!(
            problem("plywood=loud", Some(&path)).expect("a problem").contains("PLYWOOD_LOG is not a level")
        );
        assert!(
            problem("debug", Some(&path.join("x"))).expect("a problem").starts_with("it cannot be written")
        );
        assert!(problem("debug", None).is_some());
    }

    #[test]
    fn a_long_log_is_begun_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plywood.log");
        fs::write(&path, "kept").expect("a file");
        drop(open(&path).expect("a log"));
        assert_eq!(fs::read_to_string(&path).expect("a file"), "kept");
        File::create(&path).and_then(|file| file.set_len(TOO_LONG + 1)).expect("a long file");
        drop(open(&path).expect("a log"));
        assert_eq!(fs::metadata(&path).expect("a file").len(), 0);
    }
}
