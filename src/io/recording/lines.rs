//! Lines of a log, each of at most so many bytes; a JSON value that is spread over several lines is one.

use std::io;

use memchr::memchr;

use super::bytes::Bytes;
use crate::core::audit::Balance;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of its first line in the file, from 1.
    pub number: u64,
    /// Its bytes, without the line end.
    pub bytes: Vec<u8>,
}

/// What is wrong with a line, before anybody looks into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is longer than what is kept of a line: so many bytes.
    TooLong(u64),
    /// It ends in the middle of a JSON value, and the next one begins another.
    CutOff,
}

/// Reads lines.
pub struct Lines {
    limit: usize,
    number: u64,
    /// What there is of the line that is being read.
    partial: Vec<u8>,
    /// Bytes of it that were thrown away, since it is too long.
    dropped: u64,
    /// A JSON value that goes on in the next line, with the number of its first line.
    open: Option<(u64, Vec<u8>, Balance)>,
    /// True inside of a list of values, one behind the other.
    list: bool,
    /// A line that was read while another one was still open.
    ready: Option<Line>,
    position: u64,
    /// The bytes right in front of it, at most [`TAIL`].
    tail: Vec<u8>,
}

/// So many bytes in front of a place are the same only where nobody has written the file anew.
const TAIL: usize = 64;

impl Lines {
    /// A reader of lines of at most so many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Lines {
        Lines {
            limit,
            number: 0,
            partial: Vec::new(),
            dropped: 0,
            open: None,
            list: false,
            ready: None,
            position: 0,
            tail: Vec::new(),
        }
    }

    /// Takes the buffer of a line that is done with, to read another one into.
    pub(super) fn reuse(&mut self, mut buffer: Vec<u8>) {
        if self.partial.is_empty() && buffer.capacity() > self.partial.capacity() {
            buffer.clear();
            self.partial = buffer;
        }
    }

    /// How many bytes were read, of what came out where it is compressed.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The bytes that were read last.
    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// The next line: none where the bytes end, for now or for good.
    pub(super) fn next(&mut self, bytes: &mut Bytes) -> io::Result<Option<Result<Line, (u64, Wrong)>>> {
        if let Some(ready) = self.ready.take() {
            return Ok(Some(Ok(ready)));
        }
        while let Some(read) = self.line(bytes)? {
            if let Some(line) = self.frame(read) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// What stands behind the last line end: a log's last line may have none, or may still be being written.
    pub(super) fn rest(&mut self) -> Option<Result<Line, (u64, Wrong)>> {
        if let Some(ready) = self.ready.take() {
            return Some(Ok(ready));
        }
        if !self.partial.is_empty() || self.dropped > 0 {
            self.number += 1;
            let read = self.end();
            if let Some(line) = self.frame(read) {
                return Some(line);
            }
        }
        if let Some(ready) = self.ready.take() {
            return Some(Ok(ready));
        }
        let (number, ..) = self.open.take()?;
        Some(Err((number, Wrong::CutOff)))
    }

    /// One line as the file has it.
    fn line(&mut self, bytes: &mut Bytes) -> io::Result<Option<Result<Line, (u64, Wrong)>>> {
        loop {
            let buffer = bytes.buffer()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let (taken, whole) = match memchr(b'\n', buffer) {
                Some(end) => (end, true),
                None => (buffer.len(), false),
            };
            if self.dropped == 0 && self.partial.len() + taken <= self.limit {
                self.partial.extend_from_slice(&buffer[..taken]);
            } else {
                self.dropped += (std::mem::take(&mut self.partial).len() + taken) as u64;
            }
            let used = taken + usize::from(whole);
            let last = &buffer[used.saturating_sub(TAIL)..used];
            self.tail.drain(..(self.tail.len() + last.len()).saturating_sub(TAIL));
            self.tail.extend_from_slice(last);
            bytes.consume(used);
            self.position += used as u64;
            if whole {
                self.number += 1;
                return Ok(Some(self.end()));
            }
        }
    }

    fn end(&mut self) -> Result<Line, (u64, Wrong)> {
        let number = self.number;
        if self.partial.last() == Some(&b'\r') {
            self.partial.pop();
        }
        match std::mem::take(&mut self.dropped) {
            0 => Ok(Line { number, bytes: std::mem::take(&mut self.partial) }),
            dropped => Err((number, Wrong::TooLong(dropped))),
        }
    }

    /// Puts a value that is spread over several lines together. None while it goes on.
    fn frame(&mut self, read: Result<Line, (u64, Wrong)>) -> Option<Result<Line, (u64, Wrong)>> {
        let line = match (read, self.open.take()) {
            (Err(wrong), None) => return Some(Err(wrong)),
            // The value that was open cannot be whole without it.
            (Err((_, wrong)), Some((number, ..))) => return Some(Err((number, wrong))),
            (Ok(line), None) => line,
            (Ok(line), Some((number, mut open, mut balance))) => {
                if line.bytes.first() == Some(&b'{') && whole(&line.bytes) {
                    self.ready = Some(line);
                    return Some(Err((number, Wrong::CutOff)));
                }
                if open.len() + line.bytes.len() > self.limit {
                    return Some(Err((number, Wrong::TooLong((open.len() + line.bytes.len()) as u64))));
                }
                balance.take(&line.bytes);
                open.push(b'\n');
                open.extend_from_slice(&line.bytes);
                if balance.goes_on() {
                    self.open = Some((number, open, balance));
                    return None;
                }
                return Some(Ok(Line { number, bytes: self.of_list(open) }));
            }
        };
        let trimmed = line.bytes.trim_ascii();
        let bare = trimmed.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(trimmed);
        match bare {
            b"[" => {
                self.list = true;
                return None;
            }
            b"]" if self.list => {
                self.list = false;
                return None;
            }
            _ => {}
        }
        // Most lines are whole values: they are told by their ends, without a look at what is between.
        let ends = matches!((bare.first(), bare.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')));
        if !ends && matches!(bare.first(), Some(b'{' | b'[')) {
            let mut balance = Balance::default();
            balance.take(&line.bytes);
            if balance.goes_on() {
                self.open = Some((line.number, line.bytes, balance));
                return None;
            }
        }
        Some(Ok(Line { number: line.number, bytes: self.of_list(line.bytes) }))
    }

    /// A value without the comma that separates it from the next one in a list.
    fn of_list(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.list {
            let end = bytes.trim_ascii_end().len();
            bytes.truncate(end);
            if bytes.last() == Some(&b',') {
                bytes.pop();
            }
        }
        bytes
    }
}

/// True for a line that is a whole value by itself.
fn whole(line: &[u8]) -> bool {
    let mut balance = Balance::default();
    balance.take(line);
    balance.is_whole() && line.len() > 2
}
