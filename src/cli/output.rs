//! Data on stdout, messages on stderr, and what the exit status means.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::paint;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::text::hidden;
pub use crate::core::text::table::Table;

/// How a command ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Done: 0.
    Done,
    /// Done, and it found what it was to look for: 1.
    Found,
    /// Done as far as it goes, and this is wrong with what it worked on: told on stderr, and 1 where an error is among it,
    /// else 0.
    Told(Vec<Diagnostic>),
    /// The workbench ended with this status.
    Code(u8),
}

/// Why a command could not be done: exit status 2.
#[derive(Debug)]
pub enum Failure {
    /// What is wrong with the user's files.
    Diagnostics(Vec<Diagnostic>),
    /// One sentence, lower case, without a full stop.
    Message(String),
    /// The output could not be written.
    Output(io::Error),
}

impl Failure {
    /// A failure with one sentence.
    pub fn message(message: impl Into<String>) -> Failure {
        Failure::Message(message.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// What every command returns.
pub type Result<T = Outcome> = std::result::Result<T, Failure>;

/// Where a command writes its data: buffered, and one flush at its end.
pub struct Out<'a> {
    to: BufWriter<&'a mut dyn Write>,
    colored: bool,
}

impl<'a> Out<'a> {
    /// Writes to `to`, without colours.
    pub fn new(to: &'a mut dyn Write) -> Out<'a> {
        Out { to: BufWriter::new(to), colored: false }
    }

    /// The same, with colours where `colored`.
    #[must_use]
    pub fn colored(self, colored: bool) -> Out<'a> {
        Out { colored, ..self }
    }

    /// A text in a style, given by the parameters of its escape sequence; as it is where there are no colours.
    #[must_use]
    pub fn painted(&self, text: &str, codes: &str) -> String {
        let text = hidden::escaped(text);
        if self.colored { paint::styled(&text, codes) } else { text.into_owned() }
    }

    /// A line for reading: what would steer a terminal is written as an escape, since names come from files that nobody
    /// has looked at.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn line(&mut self, line: impl Display) -> io::Result<()> {
        let line = line.to_string();
        writeln!(self.to, "{}", hidden::escaped(&line))
    }

    /// A line as it is: for programs, or [`painted`](Out::painted).
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn raw_line(&mut self, line: impl Display) -> io::Result<()> {
        writeln!(self.to, "{line}")
    }

    /// A diagnostic, in colours where there are any.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn diagnostic(&mut self, problem: &Diagnostic) -> io::Result<()> {
        let text = paint::diagnostic(problem, self.colored);
        self.raw_line(text)
    }

    /// A heading, bold where there are colours.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        let painted = self.painted(text, "1");
        self.raw_line(painted)
    }

    /// Text as it is.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())
    }

    /// A value as JSON on one line, as fits a stream of values.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, value)?;
        self.to.write_all(b"\n")
    }

    /// A value as JSON over several lines, as fits a document.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.to, value)?;
        self.to.write_all(b"\n")
    }

    /// Hands on what was written so far, for those who wait for it.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// Hands everything on.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Table {
    /// Writes it, without spaces at the ends of lines.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        self.lines().into_iter().try_for_each(|line| out.line(line))
    }
}

/// A line on stderr, in which nothing steers a terminal.
pub fn warn(message: impl Display) {
    let message = message.to_string();
    // Nobody is left to be told when stderr is closed.
    let _ = writeln!(io::stderr().lock(), "{}", hidden::escaped(&message));
}

/// Says on stderr what went wrong, in colours where `colored`, and gives the exit status. A reader that went away, as
/// `head` does, is no failure.
pub fn finish(result: Result, colored: bool) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Told(problems)) => {
            let _ = tell(&problems, colored);
            ExitCode::from(u8::from(problems.iter().any(|problem| problem.severity == Severity::Error)))
        }
        Ok(Outcome::Found) => ExitCode::from(1),
        Ok(Outcome::Code(code)) => ExitCode::from(code),
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let problems = match failure {
                Failure::Diagnostics(all) => all,
                Failure::Message(message) => vec![Diagnostic::error(message)],
                Failure::Output(error) => {
                    vec![Diagnostic::error(format!(
                        "the output could not be written: {}",
                        crate::io::load::reason(&error)
                    ))]
                }
            };
            // Nobody is left to be told when stderr is closed, too.
            let _ = tell(&problems, colored);
            ExitCode::from(2)
        }
    }
}

fn tell(problems: &[Diagnostic], colored: bool) -> io::Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let told: Vec<String> = problems.iter().map(|one| paint::diagnostic(one, colored)).collect();
    writeln!(io::stderr().lock(), "{}", told.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        let mut out = Out::new(&mut bytes);
        write(&mut out).expect("a vector takes everything");
        out.finish().expect("a vector takes everything");
        String::from_utf8(bytes).expect("texts are UTF-8")
    }

    #[test]
    fn json_lines_are_single_lines() {
        let value = serde_json::json!({ "text": "a\nb" });
        assert_eq!(written(|out| out.json_line(&value)), "{\"text\":\"a\\nb\"}\n");
    }
}
