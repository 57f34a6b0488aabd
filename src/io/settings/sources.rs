//! All the places that settings come from, read together, and read again when one of them changes.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::place::{Places, shortened};
use super::{Given, Settings, file};
use crate::core::diagnostic::Diagnostic;

/// Where to look for settings.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// What the command line says.
    pub flags: Given,
    /// What the environment says.
    pub environment: Given,
    /// The bench that is open.
    pub bench: Option<PathBuf>,
    /// The user's own files.
    pub places: Places,
}

impl Sources {
    /// Reads all of them. What is wrong with the `settings` of a bench is told when the bench is opened.
    ///
    /// # Errors
    ///
    /// What is wrong with the user's own file.
    pub fn read(&self) -> Result<Settings, Vec<Diagnostic>> {
        Ok(self.with(self.own()?))
    }

    /// The settings without the user's own file, for as long as it is broken.
    #[must_use]
    pub fn without_own(&self) -> Settings {
        self.with(Given::default())
    }

    fn with(&self, own: Given) -> Settings {
        let bench = self.bench.as_ref().and_then(|path| {
            let text = fs::read_to_string(path).ok()?;
            file::of_bench(&shortened(path), &text).ok()
        });
        let given = self.flags.clone().over(self.environment.clone()).over(bench.unwrap_or_default());
        Settings::of(given.over(own), self.places.folder.as_deref())
    }

    fn own(&self) -> Result<Given, Vec<Diagnostic>> {
        let Some(path) = &self.places.file else { return Ok(Given::default()) };
        let name = shortened(path);
        match fs::read(path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                // An editor on Windows may have put a mark in front of the text.
                Ok(text) => file::read(&name, text.strip_prefix('\u{feff}').unwrap_or(&text)),
                Err(_) => Err(vec![Diagnostic::error("the settings are not UTF-8").in_file(name)]),
            },
            Err(error) if error.kind() == ErrorKind::NotFound && !self.places.named => Ok(Given::default()),
            Err(error) => {
                let problem = Diagnostic::error(format!(
                    "the settings cannot be read: {}",
                    crate::io::load::reason(&error)
                ));
                Err(vec![problem.in_file(name)])
            }
        }
    }

    /// The files that decide, whether they exist or not.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.places.file.iter().chain(&self.bench).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_sets_nothing_unless_it_was_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.yaml");
        let places = Places { file: Some(file.clone()), ..Places::default() };
        let mut sources = Sources { places, ..Sources::default() };
        assert_eq!(sources.read().expect("defaults"), sources.without_own());
        sources.places.named = true;
        let problems = sources.read().expect_err("it was named");
        assert!(problems[0].message.starts_with("the settings cannot be read"), "{}", problems[0]);

        fs::write(&file, "\u{feff}mouse: false\n").expect("a file");
        assert!(!sources.read().expect("settings").mouse.value);
        fs::write(&file, b"mouse: \xff\n").expect("a file");
        assert_eq!(sources.read().expect_err("no text")[0].message, "the settings are not UTF-8");
    }

    #[test]
    fn a_bench_says_how_it_is_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let (bench, file) = (folder.path().join("bench.yaml"), folder.path().join("config.yaml"));
        fs::write(&bench, "bench: 1\nsettings: { theme: light }\n").expect("a file");
        fs::write(&file, "theme: dark\nshow_keys: true\n").expect("a file");
        let places = Places { file: Some(file), ..Places::default() };
        let sources = Sources { bench: Some(bench), places, ..Sources::default() };
        let settings = sources.read().expect("settings");
        assert_eq!((settings.theme.value.to_string().as_str(), settings.show_keys.value), ("light", true));
        assert_eq!(sources.files().len(), 2);
    }
}
