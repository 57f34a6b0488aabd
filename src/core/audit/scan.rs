//! Finds where the values of a JSON text begin and end, without reading them.
//!
//! It accepts exactly what [`Json::parse`](crate::core::wire::lossless::Json::parse) accepts, so that a log read by
//! jumping over what is known and the same log read in full have the same broken lines.

use std::ops::Range;

use crate::core::wire::lossless::{DEPTH, Mistake, number_end};

/// A place in a text.
pub(super) struct Scan<'l> {
    pub(super) line: &'l [u8],
    pub(super) at: usize,
}

impl<'l> Scan<'l> {
    pub(super) fn new(line: &'l [u8]) -> Scan<'l> {
        Scan { line, at: if line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 } }
    }

    pub(super) fn mistake(&self, message: &'static str) -> Mistake {
        Mistake { at: self.at, message }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    pub(super) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Nothing but white space is left.
    pub(super) fn end(&mut self) -> Result<(), Mistake> {
        self.space();
        if self.at < self.line.len() {
            return Err(self.mistake("something stands behind the JSON value"));
        }
        Ok(())
    }

    /// Steps over a text in quotes; gives the range between them.
    pub(super) fn string(&mut self) -> Result<Range<usize>, Mistake> {
        self.at += 1;
        let start = self.at;
        let mut piece = start;
        loop {
            let rest = &self.line[self.at..];
            let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                self.plain(piece..self.line.len())?;
                self.at = self.line.len();
                return Err(self.mistake("the text ends inside of a JSON text"));
            };
            self.at += found;
            if rest[found] == b'"' {
                self.plain(piece..self.at)?;
                self.at += 1;
                return Ok(start..self.at - 1);
            }
            self.plain(piece..self.at)?;
            self.escape()?;
            piece = self.at;
        }
    }

    /// Checks bytes of a string that hold no escape.
    fn plain(&mut self, piece: Range<usize>) -> Result<(), Mistake> {
        let bytes = &self.line[piece.clone()];
        // Without a way out in the middle, so that many bytes are looked at in one step.
        let (control, high) = bytes
            .iter()
            .fold((false, false), |(control, high), &b| (control | (b < 0x20), high | (b >= 0x80)));
        if control {
            let first = bytes.iter().position(|&b| b < 0x20).unwrap_or_default();
            return Err(Mistake { at: piece.start + first, message: "a control character stands in a text" });
        }
        if high && let Err(error) = std::str::from_utf8(bytes) {
            return Err(Mistake { at: piece.start + error.valid_up_to(), message: "it is not UTF-8" });
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Mistake> {
        match self.line.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.line.get(self.at + 2..self.at + 6);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.mistake("four hexadecimal digits were expected"));
                }
                self.at += 6;
            }
            _ => return Err(self.mistake("this escape does not exist")),
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Mistake> {
        if !self.line[self.at..].starts_with(word) {
            return Err(self.mistake("a value was expected"));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Mistake> {
        self.at = number_end(self.line, self.at)?;
        Ok(())
    }

    /// Steps over a value that stands at this depth.
    pub(super) fn value(&mut self, depth: usize) -> Result<Range<usize>, Mistake> {
        let start = self.at;
        // What is open, and whether it is a map.
        let mut open: Vec<bool> = Vec::new();
        loop {
            if depth + open.len() > DEPTH {
                return Err(self.mistake("it is nested too deep"));
            }
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        open.push(true);
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(_) => return Err(self.mistake("a value was expected")),
                None => return Err(self.mistake("the text ends where a value was expected")),
            }
            // A value has ended: what is open around it goes on or ends, too.
            loop {
                let Some(&map) = open.last() else { return Ok(start..self.at) };
                self.space();
                match (self.peek(), map) {
                    (Some(b','), _) => {
                        self.at += 1;
                        self.space();
                        if map {
                            self.key()?;
                        }
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                    }
                    (_, true) => return Err(self.mistake("`,` or `}` was expected")),
                    (_, false) => return Err(self.mistake("`,` or `]` was expected")),
                }
            }
        }
    }

    /// Steps over a key, the colon and the space behind it; gives the range between the quotes.
    pub(super) fn key(&mut self) -> Result<Range<usize>, Mistake> {
        if self.peek() != Some(b'"') {
            return Err(self.mistake("a key in quotes was expected"));
        }
        let key = self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.mistake("`:` was expected"));
        }
        self.at += 1;
        self.space();
        Ok(key)
    }
}

/// How far a text that is read line by line is from the end of a JSON value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    depth: usize,
    string: bool,
    escaped: bool,
}

impl Balance {
    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                _ if std::mem::take(&mut self.escaped) => {}
                b'\\' if self.string => self.escaped = true,
                b'"' => self.string = !self.string,
                _ if self.string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// True where a list or map is open, and no text: more lines may follow.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.depth > 0 && !self.string
    }

    /// True where nothing is open.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.depth == 0 && !self.string
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::wire::lossless::Json;
    use proptest::prelude::*;

    fn scanned(text: &[u8]) -> Result<Range<usize>, Mistake> {
        let mut scan = Scan::new(text);
        scan.space();
        let range = scan.value(0)?;
        scan.end()?;
        Ok(range)
    }

    #[test]
    fn it_takes_what_the_reader_takes() {
        let deep = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        let mut texts: Vec<String> = [
            r#"{"a":[1,-0.5e+3,{"b":null}],"c":"\u00e9\"\\ x","d":true}"#,
            "[]",
            "{}",
            " [ ] ",
            "\u{feff}{\"a\":\"中文\"}",
            "{\"a\":1,}",
            "[1,]",
            "{\"a\" 1}",
            "{a:1}",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a\u{1}b\"",
            "\"open",
            "[1,2",
            "01",
            "1.",
            "tru",
            "",
            "1 2",
            "[\"\\ud800\"]",
        ]
        .map(str::to_owned)
        .into();
        texts.extend([deep(255), deep(256), deep(257), "[".repeat(100_000)]);
        for text in texts {
            let (scan, parse) = (scanned(text.as_bytes()), Json::parse(&text));
            assert_eq!(scan.is_ok(), parse.is_ok(), "{text:.60}: {scan:?} {parse:?}");
            if let (Ok(range), Ok(json)) = (scan, parse) {
                assert_eq!(range, json.span, "{text:.60}");
            }
        }
        assert!(scanned(b"\"\xff\"").is_err());
    }

    #[test]
    fn a_value_over_several_lines_is_counted_to_its_end() {
        let mut balance = Balance::default();
        for (line, goes_on, whole) in [
            ("{", true, false),
            ("  \"a\": \"}\\\"{\",", true, false),
            ("  \"b\": [", true, false),
            ("]}", false, true),
        ] {
            balance.take(line.as_bytes());
            assert_eq!((balance.goes_on(), balance.is_whole()), (goes_on, whole), "{line}");
        }
        let mut cut = Balance::default();
        cut.take(b"{\"a\":\"tex");
        assert!(!cut.goes_on() && !cut.is_whole());
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused_as_by_the_reader(text in r#"[\[\]{}:,"\\0-9a-ntrue .\-+eE\x01é]{0,24}"#) {
            prop_assert_eq!(scanned(text.as_bytes()).is_ok(), Json::parse(&text).is_ok());
        }
    }
}
