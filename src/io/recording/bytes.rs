//! The bytes of a log: as they are, or out of gzip, which may not expand without end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

/// How many bytes are asked for at once.
const CHUNK: usize = 1 << 20;
/// From so many bytes on, what comes out of gzip is measured against what went in.
const MEASURED: u64 = 64 << 20;
/// The most bytes that one compressed byte may become. Logs come to 5 to 50; only long runs of one byte to more.
const EXPANDS: u64 = 250;

/// A source of bytes.
pub(super) enum Bytes {
    /// As they are.
    Plain(BufReader<File>),
    /// From a pipe.
    Piped(BufReader<io::Stdin>),
    /// Compressed.
    Gzip(Box<BufReader<Guarded>>),
}

/// Counts what goes through it.
pub(super) struct Counted {
    file: File,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Gives up where too much comes out.
pub(super) struct Guarded {
    decoder: MultiGzDecoder<BufReader<Counted>>,
    read: Arc<AtomicU64>,
    out: u64,
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.out += read as u64;
        if self.out > MEASURED && self.out / self.read.load(Ordering::Relaxed).max(1) > EXPANDS {
            let message = format!("it expands to more than {EXPANDS} times its size, as no log does");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(read)
    }
}

impl Bytes {
    /// The bytes of a file from its present place on; the two first ones say whether it is compressed.
    pub(super) fn of(file: File, compressed: bool) -> Bytes {
        if !compressed {
            return Bytes::Plain(BufReader::with_capacity(CHUNK, file));
        }
        let count = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, count: count.clone() };
        let decoder = MultiGzDecoder::new(BufReader::with_capacity(CHUNK / 4, counted));
        Bytes::Gzip(Box::new(BufReader::with_capacity(CHUNK, Guarded { decoder, read: count, out: 0 })))
    }

    /// How many bytes of a compressed file were read; none of others.
    pub(super) fn compressed(&self) -> Option<u64> {
        match self {
            Bytes::Gzip(reader) => Some(reader.get_ref().read.load(Ordering::Relaxed)),
            _ => None,
        }
    }

    pub(super) fn buffer(&mut self) -> io::Result<&[u8]> {
        match self {
            Bytes::Plain(reader) => reader.fill_buf(),
            Bytes::Piped(reader) => reader.fill_buf(),
            Bytes::Gzip(reader) => reader.fill_buf(),
        }
    }

    pub(super) fn consume(&mut self, count: usize) {
        match self {
            Bytes::Plain(reader) => reader.consume(count),
            Bytes::Piped(reader) => reader.consume(count),
            Bytes::Gzip(reader) => reader.consume(count),
        }
    }
}
