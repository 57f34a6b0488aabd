//! The line that says that a whole file was generated: found, and put in.
//!
//! Such a line counts where it stands alone, outside of blocks and of closed fences: quoted, it is text. It is put behind a
//! block at the top of the file, if there is one; else behind the title; else in front of everything. Nothing else of the
//! file is another byte.

use std::ops::Range;

use super::scan::{BOM, Stray, fences, scan};
use crate::core::bench::Markers;
use crate::core::fact::Name;

/// What says that a file was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    /// The line, without white space around it.
    pub line: Name,
    /// The block behind which it is put; none for files that have no such block.
    pub behind: Option<Markers>,
}

/// True where the sign stands in a file, outside of the blocks of these families. Blocks whose markers do not fit together
/// are text.
#[must_use]
pub fn has(file: &[u8], sign: &Sign, blocks: &[Markers]) -> bool {
    let mut text = file.to_vec();
    for markers in blocks {
        let found = scan(&text, markers, &[]);
        if found.strays.is_empty() {
            cover(&mut text, &found.blocks);
        }
    }
    let behind = sign.behind.as_ref().map(|behind| scan(&text, behind, &[]).blocks).unwrap_or_default();
    stands(&text, &sign.line, &behind)
}

/// The file with the sign in it; the same file where it stands there already.
///
/// # Errors
///
/// A marker that belongs to no block, of these families or of the block behind which the sign is put: the file has to be
/// left alone.
pub fn put(file: &[u8], sign: &Sign, blocks: &[Markers]) -> Result<Vec<u8>, Stray> {
    let mut text = file.to_vec();
    for markers in blocks {
        let ranges = whole(&text, markers)?;
        cover(&mut text, &ranges);
    }
    let behind = match &sign.behind {
        Some(behind) => whole(&text, behind)?,
        None => Vec::new(),
    };
    if stands(&text, &sign.line, &behind) {
        return Ok(file.to_vec());
    }
    let top = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let first = text[top..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| top + end + 1);
    let at = match behind.first() {
        Some(block) => block.end,
        None if is_title(&text[top..first]) => first,
        None => top,
    };
    let end = line_end(file, at);
    let added = if at > top && !file[..at].ends_with(b"\n") {
        // The file goes on ending without a line end.
        format!("{end}{}", sign.line)
    } else {
        format!("{}{end}", sign.line)
    };
    Ok([&file[..at], added.as_bytes(), &file[at..]].concat())
}

fn whole(text: &[u8], markers: &Markers) -> Result<Vec<Range<usize>>, Stray> {
    let mut found = scan(text, markers, &[]);
    if found.strays.is_empty() { Ok(found.blocks) } else { Err(found.strays.swap_remove(0)) }
}

/// Makes blanks of what stands in these ranges. Every line stays where it is.
fn cover(text: &mut [u8], ranges: &[Range<usize>]) {
    for range in ranges {
        text[range.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
}

/// True where a line stands alone, outside of closed fences. A fence does not go on beyond the end of a block.
fn stands(text: &[u8], line: &str, blocks: &[Range<usize>]) -> bool {
    let mut rest = text.to_vec();
    cover(&mut rest, blocks);
    blocks.iter().map(|block| &text[block.clone()]).chain([&rest[..]]).any(|piece| stands_in(piece, line))
}

fn stands_in(text: &[u8], line: &str) -> bool {
    let mut quoted = fences(text).into_iter().peekable();
    let mut at = if text.starts_with(BOM) { BOM.len() } else { 0 };
    text[at..].split_inclusive(|byte| *byte == b'\n').any(|found| {
        let from = at;
        at += found.len();
        while quoted.next_if(|fence| fence.end <= from).is_some() {}
        found.trim_ascii() == line.as_bytes() && quoted.peek().is_none_or(|fence| from < fence.start)
    })
}

/// True for a heading of the first depth, such as `# Rules`.
fn is_title(line: &[u8]) -> bool {
    matches!(line, [b'#', b' ' | b'\t', ..])
}

/// How the line in front of a byte ends, else the one behind it, else the others of the file.
fn line_end(file: &[u8], at: usize) -> &'static str {
    let before = file[..at].iter().rposition(|byte| *byte == b'\n');
    let end = before.or_else(|| file.iter().position(|byte| *byte == b'\n'));
    match end {
        Some(end) if end > 0 && file[end - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "<!-- made -->";

    fn pair(name: &str) -> Markers {
        Markers {
            name: name.into(),
            start: format!("<!-- {name}:START -->").into(),
            end: format!("<!-- {name}:END -->").into(),
        }
    }

    fn sign() -> Sign {
        Sign { line: LINE.into(), behind: Some(pair("TOP")) }
    }

    /// `S` and `E` are the markers of the block at the top, `W` and `V` those of another, `M` is the sign.
    fn spelt(text: &str) -> String {
        let signs = [
            ('S', pair("TOP").start),
            ('E', pair("TOP").end),
            ('W', pair("RUN").start),
            ('V', pair("RUN").end),
            ('M', LINE.into()),
        ];
        text.chars().fold(String::new(), |mut out, c| {
            match signs.iter().find(|(sign, _)| *sign == c) {
                Some((_, marker)) => out += marker,
                None => out.push(c),
            }
            out
        })
    }

    fn marked(text: &str) -> Result<String, Stray> {
        put(spelt(text).as_bytes(), &sign(), &[pair("RUN")])
            .map(|bytes| String::from_utf8(bytes).expect("text stays text"))
    }

    #[test]
    fn it_is_put_behind_the_block_else_the_title_else_first() {
        for (text, want) in [
            ("S\nx\nE\n\n# t\n", "S\nx\nE\nM\n\n# t\n"),
            ("pre\nS\nx\nE\nS\ny\nE\n", "pre\nS\nx\nE\nM\nS\ny\nE\n"),
            ("S\nx\nE", "S\nx\nE\nM"),
            ("S\r\nx\r\nE\r\ny\n", "S\r\nx\r\nE\r\nM\r\ny\n"),
            ("S\r\nx\r\nE", "S\r\nx\r\nE\r\nM"),
            ("# t\n\nx\n", "# t\nM\n\nx\n"),
            ("# t", "# t\nM"),
            ("\u{feff}# t\r\nx", "\u{feff}# t\r\nM\r\nx"),
            ("#t\nx\n", "M\n#t\nx\n"),
            ("\u{feff}x\r\n", "\u{feff}M\r\nx\r\n"),
            ("", "M\n"),
            ("x", "M\nx"),
            // What stands in a fence or in another block is neither the sign nor the block behind which it goes.
            ("```\nM\n```\n", "M\n```\nM\n```\n"),
            ("# t\n~~~\nS\nE\n~~~\n", "# t\nM\n~~~\nS\nE\n~~~\n"),
            ("# t\nW\nM\nS\nE\nV\n", "# t\nM\nW\nM\nS\nE\nV\n"),
            // Neither a fence in a block nor one that is never closed goes on behind it.
            ("S\n```\nE\n# t\n```\n", "S\n```\nE\nM\n# t\n```\n"),
            ("```\nx\nS\nE\n", "```\nx\nS\nE\nM\n"),
            ("a M\n", "M\na M\n"),
        ] {
            let want = spelt(want);
            assert_eq!(marked(text).as_deref(), Ok(&*want), "{text:?}");
            assert!(has(want.as_bytes(), &sign(), &[pair("RUN")]), "{text:?}");
            assert!(!has(spelt(text).as_bytes(), &sign(), &[pair("RUN")]), "{text:?}");
            assert_eq!(put(want.as_bytes(), &sign(), &[pair("RUN")]), Ok(want.into_bytes()), "{text:?}");
        }
    }

    #[test]
    fn where_it_stands_already_nothing_is_put() {
        for text in
            ["M", "x\n  M\t\r\ny\n", "S\nM\nE\nx\n", "\u{feff}M\n", "```\nM\n", "```\n```\nM\n```\n```\n"]
        {
            assert_eq!(marked(text), Ok(spelt(text)), "{text:?}");
        }
    }

    #[test]
    fn half_a_block_leaves_the_file_alone() {
        for (text, line) in [("x\nS\n", 2), ("E\n", 1), ("x\n\nW\nM\n", 3), ("S\nE\nV\n", 3)] {
            assert_eq!(marked(text).map_err(|stray| stray.line), Err(line), "{text:?}");
        }
        // When it is only read, half a block is text.
        assert!(has(spelt("W\nM\n").as_bytes(), &sign(), &[pair("RUN")]));
    }

    proptest! {
        #[test]
        fn one_line_comes_and_everything_else_stays(text in "([SEWVM#` ~ax]|```|~~~|\n|\r\n|# t\n|\nS\nE\n){0,24}") {
            let before = spelt(&text);
            if let Ok(once) = marked(&text) {
                let families = [pair("RUN")];
                prop_assert!(has(once.as_bytes(), &sign(), &families));
                prop_assert_eq!(put(once.as_bytes(), &sign(), &families), Ok(once.clone().into_bytes()));
                let added = once.len() - before.len();
                prop_assert_eq!(added == 0, has(before.as_bytes(), &sign(), &families));
                let whole = added == 0 || (0..=before.len()).any(|at| {
                    once.as_bytes().starts_with(&before.as_bytes()[..at])
                        && once.as_bytes().ends_with(&before.as_bytes()[at..])
                        && once.as_bytes()[at..at + added].trim_ascii() == LINE.as_bytes()
                });
                prop_assert!(whole, "{:?} {:?}", before, once);
            }
        }
    }
}
