//! The text of the file that is reported.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::io::load::{decode, reason};

/// The most bytes of the file that are read.
pub const REPORT_BYTES: usize = 409_600;

/// What is reported: a text, or none where there is no file, or one that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The text.
    pub text: Option<String>,
    /// What the user should know about how it was read.
    pub notes: Vec<String>,
}

/// Reads the file as it is now. It is never read whole where it is larger than [`REPORT_BYTES`].
#[must_use]
pub fn read(path: &Path) -> Report {
    let failed = |reason: String| Report { text: None, notes: vec![format!("it cannot be read: {reason}")] };
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return failed("it is no file".to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Report::default(),
        Err(error) => return failed(reason(&error)),
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(REPORT_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => of(bytes),
        // Deleted just now.
        Err(error) if error.kind() == ErrorKind::NotFound => Report::default(),
        Err(error) => failed(reason(&error)),
    }
}

fn of(mut bytes: Vec<u8>) -> Report {
    let mut notes = Vec::new();
    if bytes.len() > REPORT_BYTES {
        // The byte behind the limit tells whether a character goes on there.
        let mut end = REPORT_BYTES;
        while end > REPORT_BYTES - 4 && bytes[end] & 0xC0 == 0x80 {
            end -= 1;
        }
        bytes.truncate(end);
        notes.push(format!("only its first {REPORT_BYTES} bytes are reported"));
    }
    let decoded = decode(&bytes);
    notes.extend(decoded.notes.iter().map(ToString::to_string));
    Report { text: Some(decoded.text), notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_none_and_a_folder_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read(&folder.path().join("none")), Report::default());
        let told = read(folder.path());
        assert_eq!((told.text, &*told.notes[0]), (None, "it cannot be read: it is no file"));
        fs::write(folder.path().join("a"), "\u{feff}规则\n").expect("written");
        let told = read(&folder.path().join("a"));
        assert_eq!((told.text.as_deref(), &*told.notes[0]), (Some("规则\n"), "BOM removed"));
    }

    #[test]
    fn a_large_file_is_cut_between_characters() {
        for lead in 0..4 {
            let text = format!("{}{}", "x".repeat(lead), "🙂".repeat(REPORT_BYTES / 4 + 2));
            let report = of(text.as_bytes()[..=REPORT_BYTES].to_vec());
            let whole = report.text.expect("a text");
            assert!(text.starts_with(&whole) && whole.len() > REPORT_BYTES - 4, "{lead}");
            assert_eq!(report.notes, ["only its first 409600 bytes are reported"]);
        }
        assert_eq!(of(vec![b'x'; REPORT_BYTES]).notes, [""; 0]);
    }
}
