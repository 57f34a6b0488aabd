//! The log of requests: what each call was sent and answered, and what tools wrote, one line each, redacted.
//!
//! It is written only where it is asked for: by `--log-llm FILE`, or by two variables that chat services use for theirs.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::output::{Failure, Result};
use crate::core::run::{CallRecord, Lead};
use crate::core::wire::{Format, Request, redact};

/// Switches the log on: `1`, `true`, `yes`, `y` or `on`.
const ON: &str = "CHAT_SHELL_LOG_LLM_REQUESTS";
/// The file that it is appended to; standard error without it.
const FILE: &str = "CHAT_SHELL_LOG_LLM_REQUESTS_FILE";

/// Where the lines go; nowhere, most of the time.
pub(super) struct LlmLog(Option<Box<dyn Write>>);

impl LlmLog {
    /// The log that the flag or the environment asks for.
    ///
    /// # Errors
    ///
    /// When its file cannot be written.
    pub(super) fn open(flag: Option<&Path>) -> Result<LlmLog> {
        let on = env::var(ON).is_ok_and(|value| {
            matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "y" | "on")
        });
        let named = env::var_os(FILE).filter(|_| on);
        let to: Option<Box<dyn Write>> = match (flag, named) {
            (Some(path), _) => Some(Box::new(append(path)?)),
            (None, Some(path)) => Some(Box::new(append(Path::new(&path))?)),
            (None, None) if on => Some(Box::new(io::stderr())),
            (None, None) => None,
        };
        Ok(LlmLog(to))
    }

    /// Writes the lines of a call: what tools logged before it, the request, the answer.
    pub(super) fn call(&mut self, record: &CallRecord, request: &Request) -> io::Result<()> {
        let Some(to) = &mut self.0 else { return Ok(()) };
        if let Lead::Tools(runs) = &record.lead {
            for line in runs.iter().flat_map(|run| &run.lines) {
                writeln!(to, "{line}")?;
            }
        }
        writeln!(to, "{}", redact::request_line(request, Format::of_model(&request.model)))?;
        if let Some(answer) = &record.answer {
            writeln!(to, "{}", redact::response_line(request, answer))?;
        }
        to.flush()
    }
}

fn append(path: &Path) -> Result<File> {
    OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
        Failure::message(format!(
            "the log {} cannot be written: {}",
            path.display(),
            crate::io::load::reason(&error)
        ))
    })
}
