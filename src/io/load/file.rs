//! One file.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use crate::core::fact::{FilePath, FileText, Found, Value};

use super::decode;
use super::stamp::is_absent;

/// Reads at most so many bytes of a file, links followed. Only regular files are opened: a pipe would wait for ever.
pub(super) fn read(path: &FilePath, real: &Path, most: usize) -> Result<FileText, Found> {
    let failed = |error: &io::Error| match is_absent(error.kind()) {
        true => Found::Absent,
        false => Found::Failed(reason(error).into()),
    };
    let metadata = fs::metadata(real).map_err(|error| failed(&error))?;
    if !metadata.is_file() {
        return Err(Found::Failed(format!("it is {}", kind(metadata.file_type())).into()));
    }
    let mut bytes = Vec::with_capacity((metadata.len() as usize).min(most) + 1);
    File::open(real)
        .and_then(|file| file.take(most as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| failed(&error))?;
    Ok(text(path, &bytes, metadata.len().max(bytes.len() as u64), most))
}

/// The text of at most so many bytes.
pub(super) fn text(path: &FilePath, bytes: &[u8], size: u64, most: usize) -> FileText {
    let decoded = decode::decode_at_most(bytes, most);
    FileText { bytes: size, notes: decoded.notes, ..FileText::whole(path.clone(), decoded.text) }
}

/// A file as it was found.
pub(super) fn found(file: Result<FileText, Found>) -> Found {
    match file {
        Ok(file) => Found::Value(Value::File(Arc::new(file))),
        Err(found) => found,
    }
}

/// `ELOOP`, for which the standard library has no stable name.
const TOO_MANY_LINKS: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

/// Why something could not be read: one sentence, lower case, without a full stop.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::NotADirectory => "it is not a folder".to_owned(),
        _ if error.raw_os_error() == Some(TOO_MANY_LINKS) => "its links lead in a circle".to_owned(),
        ErrorKind::InvalidFilename => "its name is too long".to_owned(),
        // Unstable kinds are told in the words of the system, without its number.
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text);
            let mut chars = text.chars();
            chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
        }
    }
}

/// What something is that is no file, with its article.
pub(crate) fn kind(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "not a file" }
}
