//! The bytes of a log as UTF-8: as they are, out of UTF-16, or out of gzip, which may not expand without end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::{Decoder, Encoding};
use flate2::bufread::MultiGzDecoder;

/// How many bytes are asked for at once: they are looked through and copied while they are still in the processor's
/// own cache.
const CHUNK: usize = 128 << 10;
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
    /// As shells on Windows write it.
    Utf16(Box<BufReader<Utf16>>),
}

/// What the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// UTF-8, or nothing that a log could be.
    Plain,
    /// Compressed.
    Gzip,
    /// UTF-16, by its mark.
    Utf16(&'static Encoding),
}

impl Kind {
    /// The kind that the first two bytes tell.
    pub(super) fn of(first: [u8; 2]) -> Kind {
        match first {
            [0x1F, 0x8B] => Kind::Gzip,
            [0xFF, 0xFE] => Kind::Utf16(encoding_rs::UTF_16LE),
            [0xFE, 0xFF] => Kind::Utf16(encoding_rs::UTF_16BE),
            _ => Kind::Plain,
        }
    }
}

/// Turns UTF-16 into UTF-8. Half a sign at the end waits for the other half: the log may grow.
pub(super) struct Utf16 {
    file: File,
    decoder: Decoder,
    raw: Vec<u8>,
    /// What of `raw` is not decoded yet.
    waiting: std::ops::Range<usize>,
    read: u64,
}

impl Read for Utf16 {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.waiting.is_empty() {
                let got = self.file.read(&mut self.raw)?;
                if got == 0 {
                    return Ok(0);
                }
                self.read += got as u64;
                self.waiting = 0..got;
            }
            let (_, read, written, _) =
                self.decoder.decode_to_utf8(&self.raw[self.waiting.clone()], buffer, false);
            self.waiting.start += read;
            if written > 0 {
                return Ok(written);
            }
        }
    }
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
    /// The bytes of a file from its beginning on.
    pub(super) fn of(file: File, kind: Kind) -> Bytes {
        match kind {
            Kind::Plain => return Bytes::Plain(BufReader::with_capacity(CHUNK, file)),
            Kind::Utf16(encoding) => {
                let (raw, decoder) = (vec![0; CHUNK / 2], encoding.new_decoder_with_bom_removal());
                let utf16 = Utf16 { file, decoder, raw, waiting: 0..0, read: 0 };
                return Bytes::Utf16(Box::new(BufReader::with_capacity(CHUNK, utf16)));
            }
            Kind::Gzip => {}
        }
        let count = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, count: count.clone() };
        let decoder = MultiGzDecoder::new(BufReader::with_capacity(CHUNK / 2, counted));
        Bytes::Gzip(Box::new(BufReader::with_capacity(CHUNK, Guarded { decoder, read: count, out: 0 })))
    }

    /// How many bytes of the file were read, where they are not those that come out.
    pub(super) fn taken(&self) -> Option<u64> {
        match self {
            Bytes::Gzip(reader) => Some(reader.get_ref().read.load(Ordering::Relaxed)),
            Bytes::Utf16(reader) => Some(reader.get_ref().read),
            Bytes::Plain(_) | Bytes::Piped(_) => None,
        }
    }

    pub(super) fn buffer(&mut self) -> io::Result<&[u8]> {
        match self {
            Bytes::Plain(reader) => reader.fill_buf(),
            Bytes::Piped(reader) => reader.fill_buf(),
            Bytes::Gzip(reader) => reader.fill_buf(),
            Bytes::Utf16(reader) => reader.fill_buf(),
        }
    }

    pub(super) fn consume(&mut self, count: usize) {
        match self {
            Bytes::Plain(reader) => reader.consume(count),
            Bytes::Piped(reader) => reader.consume(count),
            Bytes::Gzip(reader) => reader.consume(count),
            Bytes::Utf16(reader) => reader.consume(count),
        }
    }
}
