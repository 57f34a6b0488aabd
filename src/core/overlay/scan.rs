//! Markers in a file: which are blocks, which are quoted, and which are nobody's.
//!
//! A marker counts only where it stands alone on its line and in no fence (a run of three or more backticks or tildes,
//! as CommonMark has them); what is quoted is text. A fence counts only where it is closed: one that is never closed would
//! hide everything behind it. What stands in a block is opaque, fences in it too.
//!
//! Everything works on bytes, and in time linear in the file.

use std::fmt;
use std::ops::Range;

use crate::core::bench::Markers;

/// A marker of which nobody can say which block it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The line that it stands on, from 1.
    pub line: usize,
    /// Its first column, from 1. Only markers at the start of their line count.
    pub column: usize,
    /// The marker.
    pub marker: String,
    /// What is wrong with it.
    pub trouble: Trouble,
}

impl Stray {
    /// True for the first marker of a block.
    #[must_use]
    pub fn is_start(&self) -> bool {
        matches!(self.trouble, Trouble::NoEnd | Trouble::Doubled { .. } | Trouble::Nested { start: true, .. })
    }
}

/// What is wrong with a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A start with no end behind it.
    NoEnd,
    /// An end with no start in front of it.
    NoStart,
    /// A start with another start behind it, before any end.
    Doubled {
        /// The line of the other.
        again: usize,
    },
    /// An end that stands in front of its start.
    Reversed {
        /// The line of the start.
        start: usize,
    },
    /// A marker inside of a block of another family.
    Nested {
        /// True for a start.
        start: bool,
        /// What the family of the block around it is called.
        inside: String,
        /// The line on which that block starts.
        from: usize,
    },
}

/// One sentence, lower case, without a full stop.
impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the marker `{}` in line {} ", self.marker, self.line)?;
        match &self.trouble {
            Trouble::NoEnd => f.write_str("has no end: ")?,
            Trouble::NoStart => f.write_str("has no start: ")?,
            Trouble::Doubled { again } => {
                write!(f, "has no end: the next one, in line {again}, is a start again; ")?;
            }
            Trouble::Reversed { start } => {
                write!(f, "has no start: the start stands behind it, in line {start}; ")?;
            }
            Trouble::Nested { inside, from, .. } => {
                write!(f, "stands inside the block {inside} that starts in line {from}: ")?;
            }
        }
        f.write_str("nothing was taken out")
    }
}

/// What a file holds of one family of markers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Complete blocks, as ranges of whole lines, in order. They do not overlap.
    pub blocks: Vec<Range<usize>>,
    /// Markers that belong to no block, in order. Where there is one, the file has to be left alone.
    pub strays: Vec<Stray>,
    /// How many markers of the family stand in fences, and are text.
    pub quoted: usize,
    /// Fences that are never closed.
    pub open: OpenFences,
}

/// Fences that are never closed: a line of enough backticks or tildes behind the file would close them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFences {
    /// The shortest of backticks; 0 for none.
    ticks: usize,
    /// The shortest of tildes; 0 for none.
    tildes: usize,
}

impl OpenFences {
    /// True where there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == OpenFences::default()
    }

    /// True for a line that would close one of them.
    #[must_use]
    pub fn closed_by(self, line: &[u8]) -> bool {
        fence(line).is_some_and(|fence| {
            let shortest = if fence.tick { self.ticks } else { self.tildes };
            fence.closes && shortest > 0 && fence.len >= shortest
        })
    }

    fn add(&mut self, fence: Fence) {
        let shortest = if fence.tick { &mut self.ticks } else { &mut self.tildes };
        *shortest = if *shortest == 0 { fence.len } else { fence.len.min(*shortest) };
    }
}

/// A line of a fence.
#[derive(Clone, Copy)]
struct Fence {
    tick: bool,
    len: usize,
    /// False for the start of a piece of code that is called inline.
    opens: bool,
    /// Nothing but the fence stands on it.
    closes: bool,
}

/// The fence that a line is.
fn fence(line: &[u8]) -> Option<Fence> {
    let indent = line.iter().take(4).take_while(|byte| **byte == b' ').count();
    let sign = *line.get(indent)?;
    if indent > 3 || !matches!(sign, b'`' | b'~') {
        return None;
    }
    let len = line[indent..].iter().take_while(|byte| **byte == sign).count();
    if len < 3 {
        return None;
    }
    let behind = line[indent + len..].trim_ascii();
    let tick = sign == b'`';
    Some(Fence { tick, len, opens: !tick || !behind.contains(&b'`'), closes: behind.is_empty() })
}

/// A line that matters.
struct Line {
    range: Range<usize>,
    number: usize,
    what: What,
}

impl Line {
    /// True for the end of a fence.
    fn closes(&self, fence: Fence) -> bool {
        matches!(self.what, What::Fence(other)
            if other.closes && other.tick == fence.tick && other.len >= fence.len)
    }
}

enum What {
    Fence(Fence),
    /// A marker of a family; 0 is the one that is looked for.
    Marker {
        family: usize,
        start: bool,
    },
}

/// The byte order mark of UTF-8, which is no part of a line.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The lines of a file that matter.
fn lines(file: &[u8], families: &[&Markers]) -> Vec<Line> {
    let mut found = Vec::new();
    let mut at = if file.starts_with(BOM) { BOM.len() } else { 0 };
    let mut number = 0;
    while at < file.len() {
        number += 1;
        let end = file[at..].iter().position(|byte| *byte == b'\n').map_or(file.len(), |line| at + line + 1);
        let line = &file[at..end];
        if let Some(fence) = fence(line) {
            found.push(Line { range: at..end, number, what: What::Fence(fence) });
        }
        let starts = |marker: &str| marker.as_bytes().first() == line.first();
        if families.iter().any(|markers| starts(&markers.start) || starts(&markers.end)) {
            let text = line.trim_ascii_end();
            let marker = families.iter().enumerate().find_map(|(family, markers)| {
                let start = text == markers.start.as_bytes();
                (start || text == markers.end.as_bytes()).then_some(What::Marker { family, start })
            });
            found.extend(marker.map(|what| Line { range: at..end, number, what }));
        }
        at = end;
    }
    found
}

/// For each of these lines and for the end, the longest fence of tildes and of backticks that closes from there on.
fn longest(lines: &[Line]) -> Vec<[usize; 2]> {
    let mut longest: Vec<[usize; 2]> = vec![[0; 2]; lines.len() + 1];
    for (index, line) in lines.iter().enumerate().rev() {
        longest[index] = longest[index + 1];
        if let What::Fence(fence) = line.what
            && fence.closes
        {
            let kind = usize::from(fence.tick);
            longest[index][kind] = longest[index][kind].max(fence.len);
        }
    }
    longest
}

/// The fences of a text that are closed, as ranges of whole lines, in order.
pub(super) fn fences(text: &[u8]) -> Vec<Range<usize>> {
    let lines = lines(text, &[]);
    let longest = longest(&lines);
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        if let What::Fence(fence) = line.what
            && fence.opens
            && longest[index + 1][usize::from(fence.tick)] >= fence.len
        {
            index += 1;
            while !lines[index].closes(fence) {
                index += 1;
            }
            found.push(line.range.start..lines[index].range.end);
        }
        index += 1;
    }
    found
}

/// Looks for the blocks of a family, among markers of others.
#[must_use]
pub fn scan(file: &[u8], own: &Markers, others: &[Markers]) -> Scan {
    let mut families: Vec<&Markers> = vec![own];
    families.extend(others.iter().filter(|other| (&other.start, &other.end) != (&own.start, &own.end)));
    let lines = lines(file, &families);

    // For each line, the next one with a marker of its family.
    let mut next: Vec<Option<usize>> = vec![None; lines.len()];
    let mut last: Vec<Option<usize>> = vec![None; families.len()];
    for (index, line) in lines.iter().enumerate().rev() {
        if let What::Marker { family, .. } = line.what {
            next[index] = last[family].replace(index);
        }
    }
    let longest = longest(&lines);
    let is_start = |index: usize| matches!(lines[index].what, What::Marker { start: true, .. });

    let mut scan = Scan::default();
    // The block of another family that is being passed: the index of its last line, its family, its first line.
    let mut around: Option<(usize, usize, usize)> = None;
    let stray = |index: usize, trouble: Trouble| {
        let What::Marker { family, start } = lines[index].what else {
            unreachable!("only markers are strays")
        };
        let markers = families[family];
        let marker = if start { &markers.start } else { &markers.end };
        Stray { line: lines[index].number, column: 1, marker: marker.to_string(), trouble }
    };
    let mut index = 0;
    while index < lines.len() {
        around = around.filter(|(until, ..)| index < *until);
        match lines[index].what {
            What::Fence(fence) => {
                if fence.opens && around.is_none() {
                    if longest[index + 1][usize::from(fence.tick)] >= fence.len {
                        index += 1;
                        while !lines[index].closes(fence) {
                            let quoted = matches!(lines[index].what, What::Marker { family: 0, .. });
                            scan.quoted += usize::from(quoted);
                            index += 1;
                        }
                    } else {
                        scan.open.add(fence);
                    }
                }
            }
            What::Marker { family: 0, start: true } => match next[index] {
                Some(end) if !is_start(end) => {
                    if let Some((_, family, from)) = around {
                        let inside = families[family].name.to_string();
                        scan.strays.push(stray(index, Trouble::Nested { start: true, inside, from }));
                    }
                    for inner in index + 1..end {
                        if let What::Marker { start, .. } = lines[inner].what {
                            let (inside, from) = (own.name.to_string(), lines[index].number);
                            scan.strays.push(stray(inner, Trouble::Nested { start, inside, from }));
                        }
                    }
                    scan.blocks.push(lines[index].range.start..lines[end].range.end);
                    index = end;
                }
                Some(again) => {
                    let again = lines[again].number;
                    scan.strays.push(stray(index, Trouble::Doubled { again }));
                }
                None => scan.strays.push(stray(index, Trouble::NoEnd)),
            },
            What::Marker { family: 0, start: false } => {
                let behind = next[index].filter(|&start| is_start(start) && next[start].is_none_or(is_start));
                let trouble =
                    behind.map_or(Trouble::NoStart, |start| Trouble::Reversed { start: lines[start].number });
                scan.strays.push(stray(index, trouble));
            }
            What::Marker { family, start: true } if around.is_none() => {
                around =
                    next[index].filter(|&end| !is_start(end)).map(|end| (end, family, lines[index].number));
            }
            What::Marker { .. } => {}
        }
        index += 1;
    }
    scan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str) -> Markers {
        Markers {
            name: name.into(),
            start: format!("<!-- {name}:START -->").into(),
            end: format!("<!-- {name}:END -->").into(),
        }
    }

    /// `S` and `E` are the family's own markers, `W` and `V` those of another.
    fn scanned(text: &str) -> (Scan, String) {
        let (own, other) = (pair("x"), pair("w"));
        let signs = [('S', &own.start), ('E', &own.end), ('W', &other.start), ('V', &other.end)];
        let mut file = String::new();
        for c in text.chars() {
            match signs.iter().find(|(sign, _)| *sign == c) {
                Some((_, marker)) => file += marker,
                None => file.push(c),
            }
        }
        (scan(file.as_bytes(), &own, &[other]), file)
    }

    fn troubles(text: &str) -> Vec<(usize, Trouble)> {
        scanned(text).0.strays.into_iter().map(|stray| (stray.line, stray.trouble)).collect()
    }

    #[test]
    fn blocks_are_whole_lines() {
        let (scan, file) = scanned("a\nS\nx\nE\nb\nS\r\nE\t\r\n");
        let texts: Vec<&str> = scan.blocks.iter().map(|range| &file[range.clone()]).collect();
        assert_eq!(
            texts,
            ["<!-- x:START -->\nx\n<!-- x:END -->\n", "<!-- x:START -->\r\n<!-- x:END -->\t\r\n"]
        );
        assert_eq!((scan.strays, scan.quoted, scan.open.is_empty()), (vec![], 0, true));
    }

    #[test]
    fn what_is_quoted_is_text() {
        for (text, quoted) in [
            ("a S b\n", 0),
            ("> S\n> E\n", 0),
            ("  S\n", 0),
            ("`S`\n", 0),
            ("```\nS\nx\nE\n```\n", 2),
            ("~~~ text\nS\n~~~~\n", 1),
            ("````\n```\nS\n```\n````\n", 1),
            ("```\nS\n```\nand\n```\nE\n```\n", 2),
            ("   ```\nE\n   ```\n", 1),
        ] {
            let (scan, _) = scanned(text);
            assert_eq!((scan.blocks.len(), scan.strays.len(), scan.quoted), (0, 0, quoted), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_fence_hides_nothing() {
        for text in [
            "``\nS\nE\n``\n",
            "    ```\nS\nE\n    ```\n",
            "```\nS\nE\n",
            "``` a ` b\nS\nE\n```\n",
            "~~~\nS\nE\n```\n",
        ] {
            assert_eq!(scanned(text).0.blocks.len(), 1, "{text:?}");
        }
        // What stands in a block is opaque, whoever's it is.
        for text in ["S\n```\nE\nb\n```\nc\n```\n", "W\n```\nV\nS\nE\n```\nc\n```\n"] {
            let (scan, _) = scanned(text);
            assert_eq!((scan.blocks.len(), scan.strays.len()), (1, 0), "{text:?}");
        }
    }

    #[test]
    fn each_kind_of_trouble_is_told_with_its_place() {
        let nested = |start, inside: &str, from| Trouble::Nested { start, inside: inside.into(), from };
        for (text, want) in [
            ("a\nS\nx\n", vec![(2, Trouble::NoEnd)]),
            ("a\nE\n", vec![(2, Trouble::NoStart)]),
            ("E\nS\n", vec![(1, Trouble::Reversed { start: 2 }), (2, Trouble::NoEnd)]),
            ("E\nS\nE\n", vec![(1, Trouble::NoStart)]),
            ("S\nS\nx\nE\n", vec![(1, Trouble::Doubled { again: 2 })]),
            ("S\nE\nE\n", vec![(3, Trouble::NoStart)]),
            ("S\nW\nV\nE\n", vec![(2, nested(true, "x", 1)), (3, nested(false, "x", 1))]),
            ("W\nS\nE\nV\n", vec![(2, nested(true, "w", 1))]),
            ("S\nW\nE\nV\n", vec![(2, nested(true, "x", 1))]),
            ("W\nS\nV\nE\n", vec![(2, nested(true, "w", 1)), (3, nested(false, "x", 2))]),
            // A broken block of another family is not ours to judge.
            ("W\nS\nE\n", vec![]),
            ("V\nS\nE\nW\n", vec![]),
            ("W\nV\nS\nE\nW\nV\n", vec![]),
        ] {
            assert_eq!(troubles(text), want, "{text:?}");
        }
        let (scan, _) = scanned("\u{feff}S\n");
        assert_eq!((scan.strays[0].line, scan.strays[0].column, scan.strays[0].is_start()), (1, 1, true));
        assert_eq!(
            scanned("a\nS\nS\nE\n").0.strays[0].to_string(),
            "the marker `<!-- x:START -->` in line 2 has no end: the next one, in line 3, is a start again; nothing was taken out"
        );
    }

    #[test]
    fn fences_that_are_never_closed_are_told() {
        let open = scanned("a\n~~~~\n````` x\n").0.open;
        for (line, closes) in [
            ("~~~~\n", true),
            ("~~~", false),
            ("`````\r\n", true),
            ("````", false),
            (" ~~~~~ a", false),
            ("text", false),
        ] {
            assert_eq!(open.closed_by(line.as_bytes()), closes, "{line:?}");
        }
        assert!(scanned("```\n```\n").0.open.is_empty());
    }

    #[test]
    fn ten_thousand_fences_that_are_never_closed_do_not_make_it_slow() {
        // With a walk to the end for each of them this would take minutes.
        let text = "``` a\nx\n".repeat(200_000) + "S\nE\n";
        assert_eq!(scanned(&text).0.blocks.len(), 1);
    }
}
