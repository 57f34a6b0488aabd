//! What Plywood tells its user about their files: message, file, line, column, the line itself and a hint.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::text::hidden::escaped;

/// A place in a file, as editors count it: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters (Unicode scalar values), from 1.
    pub column: u32,
}

impl Position {
    /// The first character of a file.
    pub const START: Position = Position { line: 1, column: 1 };

    /// The position of a byte offset in `text`; an offset behind the end gives the end.
    #[must_use]
    pub fn of(text: &str, byte: usize) -> Position {
        let mut byte = byte.min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &text[..byte];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: crate::core::text::count::line_ends(before.as_bytes()) as u32 + 1,
            column: before[start..].chars().count() as u32 + 1,
        }
    }

    /// The position, in its file, of a byte offset in `text`, which starts at `start` there. At each of `jumps` (byte
    /// offsets of the text, ascending) it goes on at another position.
    #[must_use]
    pub fn at(text: &str, start: Position, jumps: &[(usize, Position)], byte: usize) -> Position {
        let jump = jumps.partition_point(|&(from, _)| from <= byte);
        let (from, start) = if jump == 0 { (0, start) } else { jumps[jump - 1] };
        let at = Position::of(&text[from..], byte.saturating_sub(from));
        Position {
            line: start.line + at.line - 1,
            column: if at.line == 1 { start.column + at.column - 1 } else { at.column },
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something was left out or guessed.
    Warning,
    /// The file cannot be used as it is.
    Error,
}

impl Severity {
    /// The word in front of a message.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One message about a file (or, without `file`, about the bench as a whole).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// The file as the user would name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// Where in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Position>,
    /// The text of that line, without its line end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A diagnostic that is not tied to a file.
    #[must_use]
    pub fn new(severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity, message: message.into(), file: None, at: None, line: None, hint: None }
    }

    /// An error that is not tied to a file yet.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, message)
    }

    /// A warning that is not tied to a file yet.
    #[must_use]
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message)
    }

    /// Names the file, without a place in it.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<Arc<str>>) -> Diagnostic {
        self.file = Some(file.into());
        self
    }

    /// Ties the diagnostic to a position of `text`, which is the content of `file`.
    #[must_use]
    pub fn at(mut self, file: impl Into<Arc<str>>, text: &str, at: Position) -> Diagnostic {
        self.file = Some(file.into());
        self.at = Some(at);
        self.line = text.lines().nth(at.line as usize - 1).map(|l| l.trim_end_matches('\r').to_owned());
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }
}

/// The form in which a terminal shows it:
///
/// ```text
/// error: unknown key `refesh` in a layer
///   --> bench.yaml:14:38
///    |
/// 14 |   - { id: rules, in: system, refesh: call }
///    |                              ^
///    = hint: did you mean `refresh`?
/// ```
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity.word(), self.message)?;
        let gutter = self.at.map_or(1, |at| at.line.to_string().len());
        match (&self.file, self.at) {
            (Some(file), Some(at)) => write!(f, "\n{:gutter$}--> {file}:{at}", "")?,
            (Some(file), None) => write!(f, "\n{:gutter$}--> {file}", "")?,
            _ => {}
        }
        if let (Some(line), Some(at)) = (&self.line, self.at) {
            // The caret must stand under its character whatever the widths before it, so what
            // stands before the column is measured as the terminal will draw it.
            let before: String = line.chars().take(at.column as usize - 1).collect();
            let pad = crate::core::text::width::width(&escaped(&before.replace('\t', "    ")));
            let shown = line.replace('\t', "    ");
            write!(f, "\n{:gutter$} |\n{} | {shown}\n{:gutter$} | {:pad$}^", "", at.line, "", "")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n{:gutter$} = hint: {hint}", "")?;
        }
        Ok(())
    }
}
