//! Saving a picture without ever writing over another file.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes a new file `STEM.svg` in a folder; where there is one, `STEM-2.svg`, and so on. Gives the path.
///
/// # Errors
///
/// When the file cannot be made or written.
pub fn save(folder: &Path, stem: &str, svg: &str) -> std::io::Result<PathBuf> {
    let stem = file_name(stem);
    for number in 1u32.. {
        let name = if number == 1 { format!("{stem}.svg") } else { format!("{stem}-{number}.svg") };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => return file.write_all(svg.as_bytes()).map(|()| path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// A name as the name of a file that can be typed: letters, digits, `_` and `.` inside stay, everything else becomes a dash.
#[must_use]
pub fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || c == '_' || c == '.' { c } else { '-' };
    let dashed: String = name.chars().map(kept).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    // Dots in front would hide it, or lead somewhere else.
    let name = words.join("-");
    let name = name.trim_matches(['.', '-']);
    if name.is_empty() { "plywood".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = |count: usize| -> Vec<String> {
            (0..count)
                .map(|number| {
                    let path = save(folder.path(), "plywood-no agent/chosen-call1", &number.to_string());
                    path.expect("it is saved").file_name().expect("a name").to_string_lossy().into_owned()
                })
                .collect()
        };
        let stem = "plywood-no-agent-chosen-call1";
        assert_eq!(names(3), [format!("{stem}.svg"), format!("{stem}-2.svg"), format!("{stem}-3.svg")]);
        let first = std::fs::read_to_string(folder.path().join(format!("{stem}.svg")));
        assert_eq!(first.expect("it is there"), "0");
        assert!(save(&folder.path().join("none"), "a", "").is_err());
    }

    #[test]
    fn names_can_be_typed() {
        for (name, want) in [
            ("../a b", "a-b"),
            ("网页 v1.2", "网页-v1.2"),
            ("..", "plywood"),
            ("", "plywood"),
            ("a__b", "a__b"),
        ] {
            assert_eq!(file_name(name), want, "{name}");
        }
    }
}
