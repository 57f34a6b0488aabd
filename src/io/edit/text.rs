//! A text file as it was read, and edits of its text put back into its bytes: what was not edited keeps its bytes,
//! whatever its encoding, line ends and end are.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::write::{self, Unwritten};
use crate::core::diagnostic::Position;
use crate::io::load::{Coding, MAX_BYTES, decode, reason};

/// A file as it was read.
///
/// Its lines are what stands between line ends (LF, CRLF and lone CR), so a text with n line ends has n + 1 lines, and
/// the last is empty where the text ends with a line end. Lines are counted from 0 here.
#[derive(Clone, PartialEq, Eq)]
pub struct Original {
    bytes: Arc<[u8]>,
    text: Arc<str>,
    coding: Coding,
    /// Of each line, the bytes of the text, without the line end.
    lines: Arc<[Range<usize>]>,
    /// The text that stands for bytes which are no characters.
    broken: Vec<Broken>,
    /// How many lines end with a line feed, with both, and with a carriage return.
    ends: [usize; 3],
    exists: bool,
}

/// The line ends, in the order of [`Original::ends`].
const ENDS: [&str; 3] = ["\n", "\r\n", "\r"];

/// Bytes that are not valid UTF-8, and the replacement character that stands for them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Broken {
    text: usize,
    /// The first byte behind, in the text and in the file.
    behind: (usize, usize),
}

/// Lines that take the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The lines of the original that are replaced; empty to insert in front of the line at its start.
    pub old: Range<usize>,
    /// The new lines, without line ends.
    pub new: Vec<String>,
}

/// Text that takes the place of a range of the original's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The bytes of the original's text that are replaced.
    pub range: Range<usize>,
    /// What stands there instead.
    pub new: String,
}

/// The file was changed by somebody else since it was read; nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The text that was to be saved.
    pub mine: Arc<str>,
    /// The file as it is now.
    pub theirs: Original,
    /// The file as it was read.
    pub base: Original,
}

/// Why a file was not saved. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveError {
    /// It was changed outside.
    Conflict(Box<Conflict>),
    /// It cannot be written, or not without losing something: one sentence, lower case, without a full stop.
    Refused(String),
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Conflict(_) => f.write_str("it was changed outside"),
            SaveError::Refused(reason) => f.write_str(reason),
        }
    }
}

impl fmt::Debug for Original {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines.len();
        f.debug_struct("Original").field("bytes", &self.bytes.len()).field("lines", &lines).finish()
    }
}

impl Original {
    /// Reads a file, links followed. A file that is not there is an empty one that does not exist.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or could not be written back without losing something: one sentence, lower case, without
    /// a full stop.
    pub fn read(path: &Path) -> Result<Original, String> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Original { exists: false, ..Original::of(Vec::new())? });
            }
            Err(error) => return Err(reason(&error)),
        };
        if !metadata.is_file() {
            return Err("it is not a regular file".into());
        }
        let mut bytes = Vec::with_capacity((metadata.len() as usize).min(MAX_BYTES) + 1);
        fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| reason(&error))?;
        Original::of(bytes)
    }

    /// A file without a byte.
    #[must_use]
    pub fn empty() -> Original {
        Original {
            bytes: Arc::default(),
            text: "".into(),
            coding: Coding::Utf8 { bom: 0 },
            lines: lines(""),
            broken: Vec::new(),
            ends: [0; 3],
            exists: true,
        }
    }

    /// The file with these bytes.
    ///
    /// # Errors
    ///
    /// When its text could not be written back without losing something.
    pub fn of(bytes: impl Into<Arc<[u8]>>) -> Result<Original, String> {
        let bytes: Arc<[u8]> = bytes.into();
        if bytes.len() > MAX_BYTES {
            return Err(format!("it is larger than {} MiB", MAX_BYTES >> 20));
        }
        let decoded = decode(&bytes);
        let mut broken = Vec::new();
        let restores = match decoded.coding {
            Coding::Utf8 { bom } => {
                let (mut at, mut text) = (bom, 0);
                for chunk in bytes[bom..].utf8_chunks() {
                    text += chunk.valid().len();
                    at += chunk.valid().len() + chunk.invalid().len();
                    if !chunk.invalid().is_empty() {
                        let behind = text + char::REPLACEMENT_CHARACTER.len_utf8();
                        broken.push(Broken { text, behind: (behind, at) });
                        text = behind;
                    }
                }
                text == decoded.text.len()
            }
            coding => coding.encode(&decoded.text) == bytes[coding.bom()..],
        };
        if !restores {
            return Err("it cannot be written back as it was read".into());
        }
        let lines = lines(&decoded.text);
        let mut ends = [0; 3];
        for pair in lines.windows(2) {
            let end = &decoded.text[pair[0].end..pair[1].start];
            if let Some(kind) = ENDS.iter().position(|kind| *kind == end) {
                ends[kind] += 1;
            }
        }
        let (text, coding) = (decoded.text.into(), decoded.coding);
        Ok(Original { bytes, text, coding, lines, broken, ends, exists: true })
    }

    /// The decoded text, with the line ends of the file.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// A hash of the bytes, to tell whether a file still holds them.
    #[must_use]
    pub fn hash(&self) -> u128 {
        xxhash_rust::xxh3::xxh3_128(&self.bytes)
    }

    /// False for a file that is not there yet.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The number of lines, at least one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// True for a file without a character.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// A line, without its end.
    ///
    /// # Panics
    ///
    /// When there is no such line.
    #[must_use]
    pub fn line(&self, index: usize) -> &str {
        &self.text[self.lines[index].clone()]
    }

    /// All lines, without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &self.text[line.clone()])
    }

    /// The line that holds a byte of the text, and the byte's offset in it.
    #[must_use]
    pub fn line_of(&self, byte: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|line| line.start <= byte).saturating_sub(1);
        let range = &self.lines[line];
        (line, byte.clamp(range.start, range.end) - range.start)
    }

    /// The line that holds a position, and the byte offset in it. Positions count the line feeds only.
    #[must_use]
    pub fn line_at(&self, at: Position) -> (usize, usize) {
        let start = match at.line.saturating_sub(2) {
            _ if at.line <= 1 => 0,
            nth => self.text.match_indices('\n').nth(nth as usize).map_or(self.text.len(), |(at, _)| at + 1),
        };
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let column = at.column.saturating_sub(1) as usize;
        let into = line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte);
        self.line_of(start + into)
    }

    /// The line end that new lines get: the one that the file has most often.
    #[must_use]
    pub fn line_end(&self) -> &'static str {
        let counts = ENDS.into_iter().zip(self.ends);
        counts.rev().max_by_key(|(_, count)| *count).map_or("\n", |(end, _)| end)
    }

    /// What is unusual about the file, for a title: `UTF-16, CRLF`; empty for UTF-8 with line feeds.
    #[must_use]
    pub fn about(&self) -> String {
        let coding = match self.coding {
            _ if !self.broken.is_empty() => "not valid UTF-8",
            Coding::Utf8 { bom: 0 } => "",
            Coding::Utf8 { .. } => "BOM",
            Coding::Utf16 { .. } => "UTF-16",
            Coding::Gb18030 => "GB18030",
        };
        let ends = match self.ends {
            [_, 0, 0] => "",
            [0, _, 0] => "CRLF",
            [0, 0, _] => "CR",
            _ => "mixed line ends",
        };
        let gap = if coding.is_empty() || ends.is_empty() { "" } else { ", " };
        format!("{coding}{gap}{ends}")
    }

    /// The text with lines put in the place of others, its lines ended by line feeds. Hunks are in order and do not
    /// overlap.
    #[must_use]
    pub fn with(&self, hunks: &[Hunk]) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        let mut push = |line: &str, first: bool| {
            if !first {
                out.push('\n');
            }
            out.push_str(line);
        };
        let mut first = true;
        for hunk in hunks {
            let kept = (at..hunk.old.start.min(self.lines.len())).map(|line| self.line(line));
            for line in kept.chain(hunk.new.iter().map(String::as_str)) {
                push(line, std::mem::take(&mut first));
            }
            at = hunk.old.end;
        }
        for line in (at..self.lines.len()).map(|line| self.line(line)) {
            push(line, std::mem::take(&mut first));
        }
        out
    }

    /// The splices that put lines in the place of others. Hunks are in order and do not overlap.
    ///
    /// A line that is replaced by one line keeps its line end; lines that come to it get [`Original::line_end`]. At the end
    /// of the text a line end comes in front of a new line and not behind it, so whether the text ends with one does not
    /// change unless the last line was edited away.
    #[must_use]
    pub fn splices(&self, hunks: &[Hunk]) -> Vec<Splice> {
        let own = self.line_end();
        let count = self.lines.len();
        let mut out: Vec<Splice> = Vec::with_capacity(hunks.len());
        for Hunk { old, new } in joined(hunks) {
            let (start, end) = (old.start.min(count), old.end.min(count));
            let joined = |ends: &[&str]| {
                let mut text = String::new();
                // Old line ends go to the last of the new lines, so that a line that is split keeps its own.
                let fresh = (new.len() - 1).saturating_sub(ends.len());
                for (index, line) in new.iter().enumerate() {
                    text.push_str(line);
                    if index + 1 < new.len() {
                        let skipped = ends.len().saturating_sub(new.len() - 1);
                        let end = index.checked_sub(fresh).and_then(|at| ends.get(at + skipped));
                        let end = end.copied().unwrap_or(own);
                        if end == "\n" && text.ends_with('\r') {
                            text.push('\r');
                        }
                        text.push_str(end);
                    }
                }
                text
            };
            let (range, new) = match (start == end, new.is_empty()) {
                (true, true) => continue,
                (true, false) if start < count => {
                    let at = self.lines[start].start;
                    (at..at, format!("{}{own}", joined(&[])))
                }
                (true, false) => {
                    let at = self.text.len();
                    (at..at, format!("{own}{}", joined(&[])))
                }
                (false, false) => {
                    let ends: Vec<&str> = self.lines[start..end]
                        .windows(2)
                        .map(|pair| &self.text[pair[0].end..pair[1].start])
                        .collect();
                    (self.lines[start].start..self.lines[end - 1].end, joined(&ends))
                }
                (false, true) if end < count => {
                    (self.lines[start].start..self.lines[end].start, String::new())
                }
                (false, true) => {
                    let from = start.checked_sub(1).map_or(0, |line| self.lines[line].end);
                    (from..self.text.len(), String::new())
                }
            };
            out.push(Splice { range, new });
        }
        self.keep_apart(&mut out);
        out
    }

    /// Where an edit brings a lone CR in front of a line feed, the two would become one line end: one of them becomes a
    /// CRLF, the one that belongs to the edit.
    fn keep_apart(&self, splices: &mut [Splice]) {
        let mut last = '\0';
        let mut kept = 0;
        for splice in splices {
            last = self.text[kept..splice.range.start].chars().next_back().unwrap_or(last);
            kept = splice.range.end;
            let behind = self.text[kept..].starts_with('\n');
            if last == '\r' && splice.new.starts_with('\n') {
                splice.new.insert(0, '\r');
            }
            if behind && splice.new.chars().next_back().unwrap_or(last) == '\r' {
                splice.new.push('\n');
            }
            last = splice.new.chars().next_back().unwrap_or(last);
        }
    }

    /// The bytes of the file with splices in place. Splices are in order and do not overlap.
    ///
    /// # Errors
    ///
    /// When a splice would replace bytes that are no characters: they are not known as text.
    pub fn apply(&self, splices: &[Splice]) -> Result<Vec<u8>, String> {
        let mut out = Vec::with_capacity(self.bytes.len());
        let mut at = 0;
        for splice in splices {
            let Range { start, end } = splice.range.clone();
            if self.broken.iter().any(|broken| broken.text < end && broken.behind.0 > start) {
                let line = self.line_of(start).0 + 1;
                return Err(format!("line {line} holds bytes that are not UTF-8"));
            }
            let (Some(from), Some(to)) = (self.byte_at(start), self.byte_at(end)) else {
                return Err("it cannot be written back as it was read".into());
            };
            out.extend_from_slice(&self.bytes[at..from]);
            out.extend(self.coding.encode(&splice.new));
            at = to;
        }
        out.extend_from_slice(&self.bytes[at..]);
        Ok(out)
    }

    /// The byte of the file at which a byte of the text stands.
    fn byte_at(&self, text: usize) -> Option<usize> {
        let before = self.text.get(..text)?;
        let byte = match self.coding {
            Coding::Utf8 { bom } => {
                let known = self.broken.partition_point(|broken| broken.behind.0 <= text);
                let (from, at) = known.checked_sub(1).map_or((0, bom), |last| self.broken[last].behind);
                at + text - from
            }
            Coding::Utf16 { bom, .. } => bom + before.encode_utf16().count() * 2,
            coding @ Coding::Gb18030 => coding.encode(before).len(),
        };
        (byte <= self.bytes.len()).then_some(byte)
    }

    /// Writes the file with splices in place, if it still is what was read. Gives the file as it is then.
    ///
    /// # Errors
    ///
    /// When it was changed outside, or cannot be written.
    pub fn save(&self, path: &Path, splices: &[Splice]) -> Result<Original, SaveError> {
        let bytes = self.apply(splices).map_err(SaveError::Refused)?;
        let saved = Original::of(bytes).map_err(SaveError::Refused)?;
        match write::replace(path, self.exists.then_some(&*self.bytes), saved.bytes()) {
            Ok(()) => Ok(saved),
            Err(Unwritten::Failed(reason)) => Err(SaveError::Refused(reason)),
            Err(Unwritten::Changed) => match Original::read(path) {
                Ok(theirs) => Err(SaveError::Conflict(Box::new(Conflict {
                    mine: saved.text,
                    theirs,
                    base: self.clone(),
                }))),
                Err(reason) => Err(SaveError::Refused(format!("it was changed outside, and now {reason}"))),
            },
        }
    }
}

impl Coding {
    /// The number of bytes in front of the text.
    fn bom(self) -> usize {
        match self {
            Coding::Utf8 { bom } | Coding::Utf16 { bom, .. } => bom,
            Coding::Gb18030 => 0,
        }
    }

    fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Coding::Utf8 { .. } => text.as_bytes().to_vec(),
            Coding::Utf16 { big: true, .. } => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Coding::Utf16 { .. } => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Coding::Gb18030 => encoding_rs::GB18030.encode(text).0.into_owned(),
        }
    }
}

/// The lines of a text, without their ends.
fn lines(text: &str) -> Arc<[Range<usize>]> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
            b'\r' | b'\n' => 1,
            _ => 0,
        };
        if end > 0 {
            lines.push(start..at);
            start = at + end;
        }
        at += end.max(1);
    }
    lines.push(start..text.len());
    lines.into()
}

/// Hunks without an untouched line between them as one.
fn joined(hunks: &[Hunk]) -> Vec<Hunk> {
    let mut out: Vec<Hunk> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        match out.last_mut().filter(|last| last.old.end == hunk.old.start) {
            Some(last) => {
                last.old.end = hunk.old.end;
                last.new.extend(hunk.new.iter().cloned());
            }
            None => out.push(hunk.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests;
