//! The user's own editor.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::io::load::reason;

/// The editor where the user has named none: every Unix has it.
const DEFAULT: &str = "vi";

/// Editors with windows of their own, which come back at once unless they are told to wait; with the way in which each
/// takes a line and a column.
const WINDOWS: &[(&str, &str, Takes)] = &[
    ("code", "--wait", Takes::Goto),
    ("code-insiders", "--wait", Takes::Goto),
    ("codium", "--wait", Takes::Goto),
    ("cursor", "--wait", Takes::Goto),
    ("windsurf", "--wait", Takes::Goto),
    ("zed", "--wait", Takes::Suffix),
    ("subl", "--wait", Takes::Suffix),
    ("gedit", "--wait", Takes::Plus),
    ("gvim", "--nofork", Takes::Plus),
    ("mate", "--wait", Takes::Line),
];

/// How an editor takes a place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// `+LINE file`.
    Plus,
    /// `--goto file:LINE:COLUMN`.
    Goto,
    /// `file:LINE:COLUMN`.
    Suffix,
    /// `--line LINE file`.
    Line,
}

/// Editors for the terminal that take `file:LINE:COLUMN`; all others take `+LINE`.
const SUFFIX: &[&str] = &["hx", "helix", "micro", "kak"];

/// Opens a file in the user's own editor, at a line and a column (from 1), and waits until it is left.
///
/// # Errors
///
/// When the editor cannot be started, or says that it failed: one sentence.
pub fn edit(path: &Path, line: u32, column: u32) -> Result<(), String> {
    let (name, named) = chosen(|name| env::var(name).ok());
    let words =
        command(&named, path, line, column).ok_or_else(|| format!("{name} names no editor: {named}"))?;
    let status = Command::new(&words[0]).args(&words[1..]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} ended with {status}", words[0].display())),
        Err(error) => Err(format!("{} ({name}) cannot be started: {}", words[0].display(), reason(&error))),
    }
}

/// Which variable names the editor, and what it says.
fn chosen(variable: impl Fn(&str) -> Option<String>) -> (&'static str, String) {
    ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| Some((name, variable(name).filter(|value| !value.trim().is_empty())?)))
        .unwrap_or(("the default editor", DEFAULT.to_owned()))
}

/// The words of the command; none where `editor` holds no word.
fn command(editor: &str, path: &Path, line: u32, column: u32) -> Option<Vec<OsString>> {
    let mut words = split(editor);
    let program = Path::new(words.first()?).file_name()?.to_string_lossy().into_owned();
    let window = WINDOWS.iter().find(|(name, ..)| *name == program);
    if let Some((_, wait, _)) = window
        && !words.iter().any(|word| word == wait || word == "-w" || word == "-f")
    {
        words.push((*wait).to_owned());
    }
    let takes = match window {
        Some((.., takes)) => *takes,
        None if SUFFIX.contains(&&*program) => Takes::Suffix,
        None => Takes::Plus,
    };
    match takes {
        Takes::Plus => words.push(format!("+{line}")),
        Takes::Goto => words.push("--goto".to_owned()),
        Takes::Line => words.extend(["--line".to_owned(), line.to_string()]),
        Takes::Suffix => {}
    }
    // A path need not be text.
    let mut file = OsString::from(path);
    if matches!(takes, Takes::Goto | Takes::Suffix) {
        file.push(format!(":{line}:{column}"));
    }
    Some(words.into_iter().map(OsString::from).chain([file]).collect())
}

/// The words of a command line, as a shell divides them: at spaces, with quotes and backslashes, and nothing expanded.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None, '\\') | (Some('"'), '\\') => {
                let next = chars.next_if(|next| quote.is_none() || matches!(next, '"' | '\\'));
                word.get_or_insert_default().push(next.unwrap_or('\\'));
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_editor_is_called_in_its_own_way() {
        for (editor, words) in [
            ("vi", &["vi", "+9", "/a b.md"][..]),
            ("/usr/bin/nvim -u NONE", &["/usr/bin/nvim", "-u", "NONE", "+9", "/a b.md"]),
            (
                "'/opt/my editor/vim' -c \"set ft=x\"",
                &["/opt/my editor/vim", "-c", "set ft=x", "+9", "/a b.md"],
            ),
            ("hx", &["hx", "/a b.md:9:6"]),
            ("code", &["code", "--wait", "--goto", "/a b.md:9:6"]),
            ("code -w", &["code", "-w", "--goto", "/a b.md:9:6"]),
            ("mate -w", &["mate", "-w", "--line", "9", "/a b.md"]),
            ("emacs\\ client -t", &["emacs client", "-t", "+9", "/a b.md"]),
        ] {
            assert_eq!(command(editor, Path::new("/a b.md"), 9, 6).expect("words"), words, "{editor}");
        }
        assert_eq!(command(" ", Path::new("/a"), 1, 1), None);
    }

    #[test]
    fn visual_comes_before_editor() {
        let of = |pairs: &[(&str, &str)]| {
            chosen(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("EDITOR", "nano"), ("VISUAL", "hx")]), ("VISUAL", "hx".to_owned()));
        assert_eq!(of(&[("EDITOR", "nano"), ("VISUAL", " ")]), ("EDITOR", "nano".to_owned()));
        assert_eq!(of(&[]), ("the default editor", "vi".to_owned()));
    }
}
