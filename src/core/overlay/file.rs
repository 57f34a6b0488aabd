//! Blocks in files: found by their markers, put in and taken out byte for byte.
//!
//! A marker counts only where it stands alone on its line and outside of fences (see [`scan`](super::scan)). A block is a
//! first marker with the last one behind it and none of the two between them. Where a marker stands without the other,
//! the file is somebody's half-finished work, and nothing in it is touched.

use std::ops::Range;

use super::scan::{OpenFences, scan};
pub use super::scan::{Stray, Trouble};
use crate::core::bench::Markers;

/// A file without its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripped {
    /// The ranges of the file that stay, in order. They begin and end between characters.
    pub kept: Vec<Range<usize>>,
    /// How many blocks were taken out.
    pub blocks: usize,
    /// True where the file held a block and nothing else: a file that was made for its block, which goes with it.
    pub gone: bool,
    /// Its fences that are never closed.
    pub open: OpenFences,
}

impl Stripped {
    /// What stays.
    #[must_use]
    pub fn of(&self, file: &[u8]) -> Vec<u8> {
        self.kept.iter().flat_map(|range| &file[range.clone()]).copied().collect()
    }
}

/// The blocks of a file, as ranges of whole lines.
///
/// # Errors
///
/// The first marker that belongs to no block.
pub fn blocks(file: &[u8], markers: &Markers) -> Result<Vec<Range<usize>>, Stray> {
    among(file, markers, &[]).map(|(blocks, _)| blocks)
}

fn among(
    file: &[u8],
    markers: &Markers,
    others: &[Markers],
) -> Result<(Vec<Range<usize>>, OpenFences), Stray> {
    let mut scan = scan(file, markers, others);
    if scan.strays.is_empty() { Ok((scan.blocks, scan.open)) } else { Err(scan.strays.swap_remove(0)) }
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
/// A marker that belongs to no block: the file has to be left alone.
pub fn strip(file: &[u8], markers: &Markers) -> Result<Stripped, Stray> {
    strip_among(file, markers, &[])
}

/// The same in a file that may hold blocks of other families: where one stands inside of the other, nobody can say what
/// would be left, so the file has to be left alone.
///
/// # Errors
///
/// A marker that belongs to no block, or to one inside of another.
pub fn strip_among(file: &[u8], markers: &Markers, others: &[Markers]) -> Result<Stripped, Stray> {
    let (blocks, open) = among(file, markers, others)?;
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
    Ok(Stripped { kept, blocks: blocks.len(), gone, open })
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
/// `file` is none where there is no such file yet; `block` starts with the first marker and ends with the last. Where a
/// fence of the file is never closed, a line of the block that would close it gets a backslash: else the file's last
/// lines and the start of the block would be a piece of code, and the block would not be found again.
///
/// # Errors
///
/// A marker that belongs to no block, in the file or in the block: nothing may be written.
pub fn apply(file: Option<&[u8]>, block: &str, markers: &Markers) -> Result<Vec<u8>, Stray> {
    apply_among(file, block, markers, &[])
}

/// The same in a file that may hold blocks of other families, as [`strip_among`].
///
/// # Errors
///
/// As [`strip_among`]; and a marker of any family in the block.
pub fn apply_among(
    file: Option<&[u8]>,
    block: &str,
    markers: &Markers,
    others: &[Markers],
) -> Result<Vec<u8>, Stray> {
    // A block that would not be found again must not be written.
    among(block.as_bytes(), markers, others)?;
    let stripped = match file {
        Some(file) => {
            Some((file, strip_among(file, markers, others)?)).filter(|(_, stripped)| !stripped.gone)
        }
        None => None,
    };
    let Some((file, stripped)) = stripped else { return Ok(format!("{block}\n").into_bytes()) };
    let mut text = stripped.of(file);
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    let crlf = ends > 0 && text.windows(2).filter(|pair| pair == b"\r\n").count() == ends;
    let block =
        if stripped.open.is_empty() { block.to_owned() } else { without_closers(block, stripped.open) };
    let added = format!("\n\n{block}\n");
    text.extend(if crlf { added.replace('\n', "\r\n") } else { added }.into_bytes());
    Ok(text)
}

/// A text in which no line closes these fences.
fn without_closers(text: &str, open: OpenFences) -> String {
    let line = |line: &str| {
        if !open.closed_by(line.as_bytes()) {
            return line.to_owned();
        }
        let fence = line.trim_start_matches(' ');
        format!("{}\\{fence}", &line[..line.len() - fence.len()])
    };
    text.split_inclusive('\n').map(line).collect()
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

    #[test]
    fn a_fence_that_is_never_closed_does_not_swallow_the_block() {
        let file = b"# rules\n```\ncode\n";
        let once = apply(Some(file), &block("x\n```\ny\n```` \n  ```\n~~~"), &markers()).expect("applied");
        let text = String::from_utf8(once.clone()).expect("a text");
        assert!(text.ends_with(&format!("{START}\nx\n\\```\ny\n\\```` \n  \\```\n~~~\n{END}\n")), "{text}");
        assert_eq!(strip(&once, &markers()).expect("stripped").of(&once), file);
        // Where all fences are closed, the block stands as it is.
        let closed = b"```\ncode\n```\n";
        let once = apply(Some(closed), &block("```"), &markers()).expect("applied");
        assert!(once.ends_with(format!("{START}\n```\n{END}\n").as_bytes()));
        assert_eq!(strip(&once, &markers()).expect("stripped").of(&once), closed);
    }

    #[test]
    fn blocks_of_others_stay_and_stand_in_nobody() {
        let other = Markers { name: "w".into(), start: "<!-- W -->".into(), end: "<!-- /W -->".into() };
        let others = std::slice::from_ref(&other);
        let file = b"a\n\n<!-- W -->\n```\n<!-- /W -->\n";
        let once = apply_among(Some(file), &block("x"), &markers(), others).expect("applied");
        assert_eq!(strip_among(&once, &markers(), others).expect("stripped").of(&once), file);
        assert!(apply_among(Some(file), &block("<!-- W -->"), &markers(), others).is_err());
        let inside = format!("{START}\n<!-- W -->\n<!-- /W -->\n{END}\n");
        let stray = strip_among(inside.as_bytes(), &markers(), others).expect_err("one in the other");
        assert_eq!(
            stray.to_string(),
            "the marker `<!-- W -->` in line 2 stands inside the block x that starts in line 1: nothing was taken out"
        );
    }

    /// Bytes of any kind, with markers in prose, in fences and alone, whole blocks and halves of some.
    fn files() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => "[a字🙂 ]{0,6}".prop_map(String::into_bytes),
            6 => Just(b"\n".to_vec()),
            4 => Just(b"\r\n".to_vec()),
            2 => Just(b"\r".to_vec()),
            1 => Just("\u{feff}".as_bytes().to_vec()),
            1 => Just(b"\0".to_vec()),
            2 => prop::collection::vec(any::<u8>(), 0..4),
            2 => Just(format!("a {START}").into_bytes()),
            2 => Just(format!("{END} b\n").into_bytes()),
            2 => Just(b"```\n".to_vec()),
            1 => Just(b"```` rust\n".to_vec()),
            1 => Just(b"~~~\r\n".to_vec()),
            1 => Just(format!("\n```\n{START}\n```\n").into_bytes()),
            1 => Just(format!("\n```\n{START}\nx\n{END}\n```\n").into_bytes()),
            3 => "[a\n`]{0,9}".prop_map(|body| format!("\n{START}\n{body}\n{END}\n").into_bytes()),
            2 => "[a\n]{0,9}".prop_map(|body| format!("\r\n{START}\r\n{body}\r\n{END}\r\n").into_bytes()),
            1 => Just(format!("\n{START}\nx\n{END}\n").repeat(60).into_bytes()),
            1 => Just(format!("\n{START}\n").into_bytes()),
            1 => Just(format!("\n{END}\n").into_bytes()),
            1 => Just(b"\n<!-- W -->\n```\n<!-- /W -->\n".to_vec()),
            1 => Just(b"\n<!-- W -->\n".to_vec()),
        ];
        prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn what_is_put_in_comes_out_byte_for_byte(
            file in files(), crlf: bool, first in "[a字`\n]{0,9}", second in "[b🙂~\n]{0,9}",
        ) {
            let file = if crlf {
                String::from_utf8_lossy(&file).replace("\r\n", "\n").replace('\n', "\r\n").into_bytes()
            } else {
                file
            };
            let other = Markers { name: "w".into(), start: "<!-- W -->".into(), end: "<!-- /W -->".into() };
            let others = [other];
            let put = |file: &[u8], body: &str| apply_among(Some(file), &block(body), &markers(), &others);
            let take = |file: &[u8]| strip_among(file, &markers(), &others);
            let found = scan(&file, &markers(), &others);
            // What nobody can judge is left alone, and told with its place.
            if let Some(stray) = found.strays.first() {
                prop_assert_eq!(&take(&file).expect_err("left alone"), stray);
                prop_assert_eq!(&put(&file, &first).expect_err("left alone"), stray);
                let line = file.split(|byte| *byte == b'\n').nth(stray.line - 1).expect("there is such a line");
                prop_assert!(line.windows(stray.marker.len()).any(|part| part == stray.marker.as_bytes()));
                return Ok(());
            }
            let before = take(&file).expect("stripped");
            prop_assert_eq!(before.blocks, found.blocks.len());
            if before.blocks == 0 {
                prop_assert_eq!(&before.of(&file), &file);
                prop_assert!(!before.gone);
            }
            // Nothing but what stood between and in front of the markers went, and no block is left.
            prop_assert_eq!(take(&before.of(&file)).expect("stripped").blocks, 0);
            let once = put(&file, &first).expect("applied");
            prop_assert_eq!(scan(&once, &markers(), &others).blocks.len(), 1);
            let out = take(&once).expect("stripped");
            prop_assert_eq!(out.of(&once), before.of(&file));
            prop_assert_eq!(out.gone, before.gone);
            prop_assert_eq!(put(&once, &first), Ok(once.clone()));
            // Another block takes its place.
            prop_assert_eq!(put(&once, &second), put(&file, &second));
        }
    }
}
