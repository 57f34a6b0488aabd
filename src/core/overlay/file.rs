//! Blocks in files: found by their markers, put in and taken out byte for byte.
//!
//! A marker counts only where it stands alone on its line; what is quoted in a sentence is text. A block is a first
//! marker with the last one behind it and none of the two between them. Where a marker stands without the other, the
//! file is somebody's half-finished work, and nothing in it is touched.

use std::fmt;
use std::ops::Range;

use crate::core::bench::Markers;

/// A marker without the other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The line that it stands on, from 1.
    pub line: usize,
    /// True for the first marker of a block.
    pub start: bool,
    /// The marker.
    pub marker: String,
}

/// One sentence, lower case, without a full stop.
impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = if self.start { "end" } else { "start" };
        write!(f, "the marker `{}` in line {} has no {other}: nothing was taken out", self.marker, self.line)
    }
}

/// A file without its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripped {
    /// The ranges of the file that stay, in order. They begin and end between characters.
    pub kept: Vec<Range<usize>>,
    /// How many blocks were taken out.
    pub blocks: usize,
    /// True where the file held a block and nothing else: a file that was made for its block, which goes with it.
    pub gone: bool,
}

impl Stripped {
    /// What stays.
    #[must_use]
    pub fn of(&self, file: &[u8]) -> Vec<u8> {
        self.kept.iter().flat_map(|range| &file[range.clone()]).copied().collect()
    }
}

/// The byte order mark of UTF-8, which is no part of a line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The blocks of a file, as ranges of whole lines.
///
/// # Errors
///
/// The first marker that has no other one.
pub fn blocks(file: &[u8], markers: &Markers) -> Result<Vec<Range<usize>>, Stray> {
    let mut found = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut at = if file.starts_with(BOM) { BOM.len() } else { 0 };
    for (index, line) in file[at..].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let end = at + line.len();
        let text = line.trim_ascii_end();
        let stray = |line, start| Stray {
            line,
            start,
            marker: if start { markers.start.to_string() } else { markers.end.to_string() },
        };
        if text == markers.start.as_bytes() {
            if let Some((_, first)) = open {
                return Err(stray(first, true));
            }
            open = Some((at, index + 1));
        } else if text == markers.end.as_bytes() {
            let Some((start, _)) = open.take() else { return Err(stray(index + 1, false)) };
            found.push(start..end);
        }
        at = end;
    }
    match open {
        Some((_, line)) => Err(Stray { line, start: true, marker: markers.start.to_string() }),
        None => Ok(found),
    }
}

/// True where the file holds a whole block.
#[must_use]
pub fn has(file: &[u8], markers: &Markers) -> bool {
    blocks(file, markers).is_ok_and(|blocks| !blocks.is_empty())
}

/// Takes every block out of a file, each with the blank line that [`apply`] put in front of it, and nothing else.
///
/// # Errors
///
/// A marker without the other one: the file has to be left alone.
pub fn strip(file: &[u8], markers: &Markers) -> Result<Stripped, Stray> {
    let blocks = blocks(file, markers)?;
    // Blank lines between two blocks are nobody's text.
    let mut runs: Vec<Range<usize>> = Vec::new();
    for block in &blocks {
        match runs.last_mut() {
            Some(last) if file[last.end..block.start].iter().all(|byte| matches!(byte, b'\r' | b'\n')) => {
                last.end = block.end;
            }
            _ => runs.push(block.clone()),
        }
    }
    let mut kept: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    for block in &runs {
        kept.push(from..block.start - blank(&file[from..block.start], &file[block.end..]));
        from = block.end;
    }
    kept.push(from..file.len());
    kept.retain(|range| !range.is_empty());
    let gone = !blocks.is_empty() && kept.is_empty() && blocks[0].start == 0;
    Ok(Stripped { kept, blocks: blocks.len(), gone })
}

/// The bytes of the blank line in front of a block: two line ends. One of them stays where text follows that would
/// otherwise go on in the last line of the text before.
fn blank(before: &[u8], behind: &[u8]) -> usize {
    let (both, one) = match before {
        [.., b'\r', b'\n', b'\r', b'\n'] => (4, 2),
        [.., b'\n', b'\n'] => (2, 1),
        _ => return 0,
    };
    let left = &before[..before.len() - both];
    if behind.is_empty() || left.is_empty() || left.ends_with(b"\n") { both } else { one }
}

/// The file with a block at its end, in place of those that it holds. [`strip`] gives back the file byte for byte. Where
/// the file ends its lines with CR LF, so does the block.
///
/// `file` is none where there is no such file yet; `block` starts with the first marker and ends with the last.
///
/// # Errors
///
/// A marker without the other one, in the file or in the block: nothing may be written.
pub fn apply(file: Option<&[u8]>, block: &str, markers: &Markers) -> Result<Vec<u8>, Stray> {
    // A block that would not be found again must not be written.
    blocks(block.as_bytes(), markers)?;
    let rest = match file {
        Some(file) => {
            let stripped = strip(file, markers)?;
            (!stripped.gone).then(|| stripped.of(file))
        }
        None => None,
    };
    let Some(mut text) = rest else { return Ok(format!("{block}\n").into_bytes()) };
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    let crlf = ends > 0 && text.windows(2).filter(|pair| pair == b"\r\n").count() == ends;
    let added = format!("\n\n{block}\n");
    text.extend(if crlf { added.replace('\n', "\r\n") } else { added }.into_bytes());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: &str = "<!-- X:START -->";
    const END: &str = "<!-- X:END -->";

    fn markers() -> Markers {
        Markers { name: "x".into(), start: START.into(), end: END.into() }
    }

    fn block(body: &str) -> String {
        format!("{START}\n{body}\n{END}")
    }

    fn stripped(text: &str) -> Result<String, String> {
        let text = text.replace('S', START).replace('E', END);
        match strip(text.as_bytes(), &markers()) {
            Ok(stripped) => {
                Ok(String::from_utf8(stripped.of(text.as_bytes())).expect("cut between characters"))
            }
            Err(stray) => Err(stray.to_string()),
        }
    }

    #[test]
    fn a_block_goes_with_the_blank_line_in_front_of_it() {
        for (text, want) in [
            ("abc\n\n\n", "abc\n\n\n"),
            ("a\n\nS\nx\nE\n", "a"),
            ("a\n\n\nS\nx\nE\n", "a\n"),
            ("a\r\n\r\nS\r\nx\r\nE\r\n", "a"),
            ("a\nS\nx\nE\nb\n", "a\nb\n"),
            ("a\n\nS\nx\nE\nb\n", "a\nb\n"),
            ("a\n\nS\nx\nE\n\n\nb\n", "a\n\n\nb\n"),
            ("a\n\nS\n1\nE\n\nS\n2\nE\n", "a"),
            ("S\nx\nE", ""),
            ("a `S` b\n", "a `S` b\n"),
            ("  S\nx\n", "  S\nx\n"),
        ] {
            let want = want.replace('S', START);
            assert_eq!(stripped(text).as_deref(), Ok(&*want), "{text:?}");
        }
    }

    #[test]
    fn a_marker_without_the_other_is_told_and_nothing_is_taken() {
        for (text, line, what) in [
            ("a\nS\nx\n", 2, "end"),
            ("a\nE\n", 2, "start"),
            ("E\nS\n", 1, "start"),
            ("S\nS\nx\nE\n", 1, "end"),
            ("S\nx\nE\nS\n", 4, "end"),
        ] {
            let told = stripped(text).expect_err(text);
            assert!(told.contains(&format!(" in line {line} has no {what}: ")), "{text:?}: {told}");
        }
    }

    #[test]
    fn a_file_that_was_made_for_its_block_goes_with_it() {
        let made = apply(None, &block("x"), &markers()).expect("applied");
        assert!(strip(&made, &markers()).expect("stripped").gone);
        assert_eq!(apply(Some(&made), &block("x"), &markers()), Ok(made));
        let empty = apply(Some(b""), &block("x"), &markers()).expect("applied");
        let stripped = strip(&empty, &markers()).expect("stripped");
        assert_eq!((stripped.gone, stripped.of(&empty)), (false, vec![]));
    }

    #[test]
    fn a_block_that_would_not_be_found_again_is_not_written() {
        let bad = block(&format!("a\n{END}\nb"));
        assert!(apply(Some(b"a\n"), &bad, &markers()).is_err());
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => "[a字🙂 ]{0,6}".prop_map(String::into_bytes),
            3 => Just(b"\n".to_vec()),
            2 => Just(b"\r\n".to_vec()),
            1 => Just(b"\r".to_vec()),
            1 => Just(BOM.to_vec()),
            1 => Just(b"\xFF".to_vec()),
            1 => Just(format!("a {START}").into_bytes()),
            1 => Just(format!("{END} b\n").into_bytes()),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn what_is_put_in_comes_out_byte_for_byte(file in texts(), crlf: bool, first in "[a字\n]{0,9}", second in "[b🙂\n]{0,9}") {
            let file = if crlf {
                String::from_utf8_lossy(&file).replace("\r\n", "\n").replace('\n', "\r\n").into_bytes()
            } else {
                file
            };
            prop_assume!(blocks(&file, &markers()).is_ok_and(|blocks| blocks.is_empty()));
            let once = apply(Some(&file), &block(&first), &markers()).expect("applied");
            prop_assert!(has(&once, &markers()));
            let out = strip(&once, &markers()).expect("stripped");
            prop_assert_eq!(out.of(&once), file.clone());
            prop_assert!(!out.gone);
            prop_assert_eq!(apply(Some(&once), &block(&first), &markers()), Ok(once.clone()));
            // Another block takes its place.
            let other = apply(Some(&once), &block(&second), &markers()).expect("applied");
            prop_assert_eq!(other, apply(Some(&file), &block(&second), &markers()).expect("applied"));
        }
    }
}
