//! A log as a file: opened, told what it is, read call by call, and followed while it grows.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::bytes::{Bytes, Kind};
use super::formats;
use super::lines::{Line, Lines, Wrong};
use crate::core::audit::{Exchange, Reader, Shape, Skipped, fields, items};
use crate::core::diagnostic::Diagnostic;
use crate::core::text::number::grouped;

/// The longest line that is read, in bytes: a request with pictures may have 32 MB, and its answer stands behind it.
pub(super) const LINE: usize = 48 << 20;
/// Bytes of lines that are remembered to compare new ones with.
pub(super) const REMEMBERED: usize = 24 << 20;
/// How many lines are looked at to find out what a log is.
const LOOK: usize = 200;
/// How many problems are kept; more are only counted.
const PROBLEMS: usize = 1_000;

/// What a user says a log is, instead of what it looks like.
pub type Forced = Option<&'static dyn Shape>;

/// A line that gave no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its number, from 1.
    pub line: u64,
    /// One sentence, lower case, without a full stop.
    pub message: String,
}

/// What became of a log since it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing, or it grew.
    Same,
    /// It became shorter: it is read from its beginning, as a new one.
    Truncated,
    /// Another file stands in its place, or other bytes where it was read.
    Replaced,
}

/// A log.
pub struct Log {
    path: PathBuf,
    bytes: Bytes,
    lines: Lines,
    reader: Reader,
    forced: Forced,
    shape: Forced,
    /// Lines that came before it was known what the log is.
    first: Vec<Line>,
    problems: Vec<Problem>,
    skipped: u64,
    others: u64,
    read: u64,
    size: Option<u64>,
    identity: Option<u64>,
    compressed: bool,
    stopped: bool,
}

/// True for what a decoder says of data that has no end.
fn ends_early(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof || error.to_string().contains("incomplete")
}

/// What tells a file from another one under the same name.
fn identity(metadata: &fs::Metadata) -> Option<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some(metadata.ino())
    }
    #[cfg(not(unix))]
    {
        metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok().map(|time| time.as_nanos() as u64)
    }
}

impl Log {
    /// Opens a log; `-` is standard input.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn open(path: &Path, forced: Forced) -> Result<Log, Diagnostic> {
        let problem = |error: &io::Error| {
            let message = format!("the log cannot be read: {}", crate::io::load::reason(error));
            let problem = Diagnostic::error(message).in_file(path.to_string_lossy());
            match error.kind() {
                io::ErrorKind::IsADirectory => {
                    problem.hint(format!("name the logs in it: {}", path.join("*.jsonl").display()))
                }
                _ => problem,
            }
        };
        let mut log = Log {
            path: path.to_owned(),
            bytes: Bytes::Piped(io::BufReader::with_capacity(1 << 20, io::stdin())),
            lines: Lines::new(LINE),
            reader: Reader::new(REMEMBERED),
            forced,
            shape: forced,
            first: Vec::new(),
            problems: Vec::new(),
            skipped: 0,
            others: 0,
            read: 0,
            size: None,
            identity: None,
            compressed: false,
            stopped: false,
        };
        if path != Path::new("-") {
            log.start().map_err(|error| problem(&error))?;
        }
        Ok(log)
    }

    fn start(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut magic = [0; 2];
        let mut got = 0;
        // A pipe cannot be wound back; only a regular file is looked into.
        if metadata.is_file() {
            while got < 2 {
                match file.read(&mut magic[got..])? {
                    0 => break,
                    more => got += more,
                }
            }
            file.seek(SeekFrom::Start(0))?;
            self.size = Some(metadata.len());
        }
        let kind = Kind::of(magic);
        self.compressed = kind == Kind::Gzip;
        self.identity = identity(&metadata);
        self.bytes = Bytes::of(file, kind);
        self.lines = Lines::new(LINE);
        Ok(())
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is, once that is known.
    #[must_use]
    pub fn shape(&self) -> Forced {
        self.shape
    }

    /// True for a log out of gzip.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Bytes that were read of the file, and how many it has; none where that is not known.
    #[must_use]
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.taken(), self.size)
    }

    /// False where other bytes stand right in front of what is read next: a log that was cut when it was rotated may be
    /// longer again than it was before anybody looks.
    fn is_where_it_was(&self) -> bool {
        let tail = self.lines.tail();
        if tail.is_empty() || self.bytes.taken().is_some() {
            return true;
        }
        let from = self.lines.position() - tail.len() as u64;
        let mut there = vec![0; tail.len()];
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(&mut there)
        });
        read.is_err() || there == tail
    }

    fn taken(&self) -> u64 {
        self.bytes.taken().unwrap_or(self.lines.position())
    }

    /// Lines that were read.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.read
    }

    /// The lines that gave no call since this was last asked, the first of them with what is wrong.
    pub fn problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// How many lines were skipped because something is wrong with them.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// How many lines are right and no calls: events, summaries, counts.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    fn skip(&mut self, line: u64, message: String) {
        self.skipped += 1;
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { line, message });
        }
    }

    /// Reads one line, and hands out the calls that are known then. False where the bytes end for now.
    pub fn step(&mut self, found: &mut dyn FnMut(Exchange)) -> bool {
        if self.stopped {
            return false;
        }
        match self.lines.next(&mut self.bytes) {
            Ok(Some(Ok(line))) => self.line(line, found),
            Ok(Some(Err((number, wrong)))) => self.wrong(number, wrong),
            Ok(None) => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let cut = self.compressed && ends_early(&error);
                let why = match cut {
                    true => "the compressed log ends in the middle".to_owned(),
                    false => crate::io::load::reason(&error),
                };
                self.skip(self.read + 1, format!("nothing is read from here on: {why}"));
                self.stopped = true;
                return false;
            }
        }
        true
    }

    fn wrong(&mut self, number: u64, wrong: Wrong) {
        self.read += 1;
        let message = match wrong {
            Wrong::TooLong(bytes) => {
                format!(
                    "it has {} bytes, more than the {} that a line may have",
                    grouped(bytes),
                    grouped(LINE as u64)
                )
            }
            Wrong::CutOff => "it ends in the middle of a value".to_owned(),
        };
        self.skip(number, message);
    }

    fn line(&mut self, line: Line, found: &mut dyn FnMut(Exchange)) {
        self.read += 1;
        // A list of calls in one line.
        let start = line.bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        if start.is_some_and(|start| line.bytes[start] == b'[')
            && let Some(list) = items(&line.bytes)
        {
            for item in list {
                self.value(Line { number: line.number, bytes: line.bytes[item].to_vec() }, found);
            }
            return;
        }
        self.value(line, found);
    }

    fn value(&mut self, line: Line, found: &mut dyn FnMut(Exchange)) {
        let Some(shape) = self.shape else {
            let shape = fields(&line.bytes).ok().and_then(|fields| formats::detect(&fields, &line.bytes));
            self.first.push(line);
            let bytes: usize = self.first.iter().map(|line| line.bytes.len()).sum();
            if shape.is_some() || self.first.len() >= LOOK || bytes > LINE {
                self.settle(shape, found);
            }
            return;
        };
        self.call(line, shape, found);
    }

    /// What the log is, is known or will not be: the lines that wait are read.
    fn settle(&mut self, shape: Forced, found: &mut dyn FnMut(Exchange)) {
        let read_as = shape.or_else(|| formats::named("raw"));
        self.shape = shape.or(self.shape);
        for line in std::mem::take(&mut self.first) {
            if let Some(shape) = read_as {
                self.call(line, shape, found);
            }
        }
    }

    fn call(&mut self, line: Line, shape: &dyn Shape, found: &mut dyn FnMut(Exchange)) {
        let number = line.number;
        let mut bytes = line.bytes;
        let mut done = self.reader.line(number, &mut bytes, shape, found);
        // Logs are put together, too: a line that is none of this kind may be one of another.
        if self.forced.is_none() && done == Err(Skipped::NoCall) {
            let other = fields(&bytes).ok().and_then(|fields| formats::detect(&fields, &bytes));
            if let Some(other) = other.filter(|other| other.word() != shape.word()) {
                done = self.reader.line(number, &mut bytes, other, found);
            }
        }
        self.count(number, done);
        self.lines.reuse(bytes);
    }

    fn count(&mut self, number: u64, done: Result<(), Skipped>) {
        match done {
            Ok(()) | Err(Skipped::Empty) => {}
            Err(Skipped::NoCall) => self.others += 1,
            Err(Skipped::NotJson { message, byte }) => {
                self.skip(number, format!("it is not JSON: {message}, at byte {byte}"));
            }
            Err(Skipped::Usage) => {
                self.skip(
                    number,
                    "its usage is unusable: a number in it is negative or beyond any prompt".to_owned(),
                );
            }
            Err(Skipped::NoRequest) => self.skip(number, "its request cannot be read".to_owned()),
        }
    }

    /// The log has ended: what stands behind the last line end is a line, and nobody waits for answers any more.
    pub fn finish(&mut self, found: &mut dyn FnMut(Exchange)) {
        while let Some(rest) = self.lines.rest() {
            match rest {
                Ok(line) => self.line(line, found),
                Err((number, wrong)) => self.wrong(number, wrong),
            }
        }
        self.pause(found);
    }

    /// The log waits: what is whole is handed out, what is still being written stays.
    pub fn pause(&mut self, found: &mut dyn FnMut(Exchange)) {
        self.settle(None, found);
        self.reader.flush(found);
    }

    /// Looks what became of the file, and goes on with it: to be called when all bytes were read and there may be more.
    ///
    /// # Errors
    ///
    /// When it cannot be read any more.
    pub fn look(&mut self) -> io::Result<News> {
        let metadata = fs::metadata(&self.path)?;
        if self.taken() == 0 && metadata.is_file() && metadata.len() > 0 {
            // It was empty when it was opened: only now its first bytes tell what it is.
            self.start()?;
            return Ok(News::Same);
        }
        let other = identity(&metadata) != self.identity;
        let shorter = metadata.is_file() && metadata.len() < self.taken();
        let other = other || !self.compressed && !shorter && !self.is_where_it_was();
        if !self.compressed && !other && !shorter {
            self.size = Some(metadata.len());
            return Ok(News::Same);
        }
        if self.compressed && !other && self.size == Some(metadata.len()) {
            return Ok(News::Same);
        }
        self.start()?;
        self.stopped = false;
        Ok(if other { News::Replaced } else { News::Truncated })
    }
}
