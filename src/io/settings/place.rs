//! Where the user's own files are: the same places on every Unix, macOS included.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The name of the settings file.
pub const FILE: &str = "config.yaml";
/// The variable that names the folder of the settings.
pub const VARIABLE: &str = "PLYWOOD_CONFIG_DIR";

/// The user's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder of the settings file; none where the user has no home.
    pub folder: Option<PathBuf>,
    /// The settings file, which need not exist.
    pub file: Option<PathBuf>,
    /// True when the file was named by a flag, so that it has to exist.
    pub named: bool,
    /// The log, which need not exist.
    pub log: Option<PathBuf>,
}

impl Places {
    /// Those of this user. `flag` is a settings file that was named on the command line; themes and model data then lie
    /// beside it.
    #[must_use]
    pub fn of_user(flag: Option<&Path>, look: &dyn Fn(&str) -> Option<String>) -> Places {
        // XDG on every Unix: that is where people look for it, and what their dotfiles keep.
        let base = etcetera::choose_base_strategy().ok();
        let folder = look(VARIABLE)
            .map(PathBuf::from)
            .or_else(|| base.as_ref().map(|base| base.config_dir().join("plywood")));
        let log = base.as_ref().map(|base| {
            let state = base.state_dir().unwrap_or_else(|| base.cache_dir());
            state.join("plywood").join("plywood.log")
        });
        match flag {
            Some(file) => Places {
                folder: file.parent().map(Path::to_owned),
                file: Some(file.to_owned()),
                named: true,
                log,
            },
            None => {
                Places { file: folder.as_ref().map(|folder| folder.join(FILE)), folder, named: false, log }
            }
        }
    }

    /// The folder of the user's own themes.
    #[must_use]
    pub fn themes(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join("themes"))
    }
}

/// A path as a person would write it: with `~` for the home folder.
#[must_use]
pub fn shortened(path: &Path) -> String {
    let shown = path.to_string_lossy().into_owned();
    match etcetera::home_dir() {
        Ok(home) if home != Path::new("/") => match path.strip_prefix(&home) {
            Ok(rest) => format!("~/{}", rest.to_string_lossy()),
            Err(_) => shown,
        },
        _ => shown,
    }
}

/// What [`shortened`] was made from.
pub(super) fn unshortened(shown: &str) -> PathBuf {
    match (shown.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => PathBuf::from(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_variable_and_that_over_the_home() {
        let set = |name: &str| (name == VARIABLE).then(|| "/conf".to_owned());
        let of = |flag: Option<&str>, look: &dyn Fn(&str) -> Option<String>| {
            let places = Places::of_user(flag.map(Path::new), look);
            (places.file.clone(), places.themes(), places.named)
        };
        assert_eq!(
            of(Some("mine/s.yaml"), &set),
            (Some("mine/s.yaml".into()), Some("mine/themes".into()), true)
        );
        assert_eq!(of(None, &set), (Some("/conf/config.yaml".into()), Some("/conf/themes".into()), false));
        let (file, ..) = of(None, &|_| None);
        assert!(file.is_none_or(|file| file.ends_with("plywood/config.yaml")));
    }

    #[test]
    fn the_home_folder_is_written_short_and_found_again() {
        let Ok(home) = etcetera::home_dir() else { return };
        let path = home.join("a/b.yaml");
        assert_eq!(unshortened(&shortened(&path)), path);
        assert_eq!(shortened(Path::new("/elsewhere/x")), "/elsewhere/x");
    }
}
