//! The files of themes: those that are built in, and the user's own beside the settings. What they mean is known to
//! whoever draws.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::place::shortened;
use super::values::is_path;
use crate::core::diagnostic::Diagnostic;
use crate::core::text::Source;
use crate::io::syntax::suggest;

/// The themes that are built in: name, file.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("ansi", include_str!("../../../themes/ansi.yaml")),
    ("mono", include_str!("../../../themes/mono.yaml")),
    ("dark", include_str!("../../../themes/dark.yaml")),
    ("light", include_str!("../../../themes/light.yaml")),
];

/// A theme file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeText {
    /// The name of the theme: that of its file, without the ending.
    pub name: Arc<str>,
    /// Its text.
    pub source: Arc<Source>,
    /// Where it lies; none for one that is built in.
    pub path: Option<PathBuf>,
}

/// Where themes are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThemeFiles {
    /// The folder of the user's own; it need not exist.
    pub folder: Option<PathBuf>,
}

impl ThemeFiles {
    /// Finds a theme: a path, else a file of the user's folder, else one that is built in. A file of the user's that has
    /// the name of a built-in theme takes its place; `inside` is the file that asks, which then means the built-in one.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be read. The message names no place: that of whoever asked is known to them.
    pub fn find(&self, theme: &str, inside: Option<&Path>) -> Result<ThemeText, Diagnostic> {
        if is_path(theme) {
            // A theme names its neighbours from where it lies.
            let path =
                inside.and_then(Path::parent).map_or_else(|| theme.into(), |folder| folder.join(theme));
            return read(&path).map_err(|error| {
                Diagnostic::error(format!(
                    "the theme `{}` cannot be read: {}",
                    shortened(&path),
                    crate::io::load::reason(&error)
                ))
            });
        }
        if let Some(folder) = &self.folder {
            let path = folder.join(format!("{theme}.yaml"));
            if inside != Some(&path) {
                match read(&path) {
                    Ok(found) => return Ok(found),
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(error) => {
                        let path = shortened(&path);
                        return Err(Diagnostic::error(format!(
                            "the theme `{path}` cannot be read: {}",
                            crate::io::load::reason(&error)
                        )));
                    }
                }
            }
        }
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == theme) {
            return Ok(built_in(name, text));
        }
        let names = self.names();
        let mut problem = Diagnostic::error(format!("there is no theme `{theme}`"));
        problem.hint = suggest::hint(theme, names.iter().map(String::as_str).collect::<Vec<_>>());
        Err(problem)
    }

    /// The names of all themes: those that are built in, then the user's own by name.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        let entries = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let mut own: Vec<String> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                Some(entry.ok()?.file_name().to_string_lossy().strip_suffix(".yaml")?.to_owned())
            })
            .filter(|name| !name.is_empty() && !names.contains(name))
            .collect();
        own.sort();
        names.append(&mut own);
        names
    }
}

/// A theme that is built in.
#[must_use]
pub fn built_in(name: &str, text: &str) -> ThemeText {
    ThemeText { name: name.into(), source: Source::file(format!("{name}.yaml (built in)"), text), path: None }
}

fn read(path: &Path) -> std::io::Result<ThemeText> {
    let text = fs::read_to_string(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(ThemeText {
        name: name.as_ref().into(),
        source: Source::file(shortened(path), text),
        path: Some(path.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_themes_come_first_and_stand_on_those_that_are_built_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = ThemeFiles { folder: Some(folder.path().to_owned()) };
        fs::write(folder.path().join("dark.yaml"), "inherits: dark\n").expect("a file");
        fs::write(folder.path().join("zebra.yaml"), "").expect("a file");
        fs::write(folder.path().join("notes.md"), "").expect("a file");
        assert_eq!(files.names(), ["ansi", "mono", "dark", "light", "zebra"]);
        let own = files.find("dark", None).expect("a theme");
        assert_eq!((&*own.source.text, &*own.name), ("inherits: dark\n", "dark"));
        let below = files.find("dark", own.path.as_deref()).expect("a theme");
        assert_eq!(below.path, None, "the one that is built in");
        let by_path = files.find("./zebra.yaml", own.path.as_deref()).expect("a theme");
        assert_eq!(&*by_path.name, "zebra");
    }

    #[test]
    fn a_theme_that_is_not_there_is_told_with_the_nearest_name() {
        let problem = ThemeFiles::default().find("drak", None).expect_err("a slip");
        assert_eq!(problem.to_string(), "error: there is no theme `drak`\n  = hint: did you mean `dark`?");
        let problem = ThemeFiles::default().find("none/x.yaml", None).expect_err("no file");
        assert!(problem.message.starts_with("the theme `none/x.yaml` cannot be read: "), "{problem}");
    }
}
