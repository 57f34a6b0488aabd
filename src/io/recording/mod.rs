//! Recorded requests and logs of them, from files.

mod bytes;
pub mod formats;
mod lines;
mod log;

pub use lines::{Line, Lines, Wrong};
pub use log::{Forced, Log, News, Problem};

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::core::diagnostic::Diagnostic;
use crate::core::wire::{Document, Format, Unreadable};

/// The most bytes of a recording that are read. A body with pictures in it is a few of them.
const MAX_BYTES: u64 = 256 << 20;
/// The longest line that is shown with a message; bodies are often one line.
const LINE: usize = 160;

/// Reads a recorded request: a body of one of the formats that are known, or a log entry around one. `-` is standard
/// input.
///
/// # Errors
///
/// When it cannot be read, is not JSON, or is no request.
pub fn read(path: &Path) -> Result<Document, Diagnostic> {
    let name: Arc<str> = path.to_string_lossy().into();
    let problem = |message: String| Diagnostic::error(message).in_file(Arc::clone(&name));
    let mut bytes = Vec::new();
    if let Some(what) = waits(path) {
        let problem = problem(format!("the recording cannot be read: it is {what}"));
        return Err(
            problem.hint("a pipe nobody writes into waits for ever: pipe the recording in, and write -")
        );
    }
    let read = if path == Path::new("-") {
        io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| problem(format!("the recording cannot be read: {}", super::load::reason(&error))))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(problem(format!("the recording is larger than {} MiB", MAX_BYTES >> 20)));
    }
    let text: Arc<str> = text(bytes).map_err(|message| problem(message.to_owned()))?.into();
    Document::read(text.clone()).map_err(|error| match error {
        Unreadable::Json(mistake) => {
            let at = mistake.position(&text);
            let mut problem = Diagnostic::error(format!("the recording is not JSON: {}", mistake.message))
                .at(Arc::clone(&name), &text, at);
            if problem.line.as_ref().is_some_and(|line| line.len() > LINE) {
                problem.line = None;
            }
            problem
        }
        Unreadable::Unknown => {
            let formats = Format::ALL.map(|format| format.to_string()).join(", ");
            problem("the recording is not a request that is known".to_owned())
                .hint(format!("known are the bodies of {formats}"))
        }
    })
}

/// What a path is that may never come to an end; none for files, and for what a shell hands over as a file.
fn waits(path: &Path) -> Option<&'static str> {
    let handed = ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|known| path.starts_with(known));
    let kind = std::fs::metadata(path).ok()?.file_type();
    // What is no file and no folder is a pipe, a socket or a device.
    (!handed && path != Path::new("-") && !kind.is_file() && !kind.is_dir()).then(|| super::load::kind(kind))
}

/// The text of bytes: UTF-8, or UTF-16 with its mark, as shells on Windows write it.
fn text(bytes: Vec<u8>) -> Result<String, &'static str> {
    let utf16 = match bytes.get(..2) {
        Some(b"\xFF\xFE") => Some(encoding_rs::UTF_16LE),
        Some(b"\xFE\xFF") => Some(encoding_rs::UTF_16BE),
        _ => None,
    };
    if let Some(encoding) = utf16 {
        let (text, broken) = encoding.decode_with_bom_removal(&bytes);
        return if broken { Err("the recording is not valid UTF-16") } else { Ok(text.into_owned()) };
    }
    String::from_utf8(bytes).map_err(|_| "the recording is not UTF-8")
}
