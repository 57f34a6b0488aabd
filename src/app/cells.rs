//! Text as a terminal shows it: what each grapheme becomes, how wide it is, where a row ends.
//!
//! Everything that draws or moves by rows goes through here, so that a cursor, a wrap and a column never disagree.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

pub use crate::core::text::width::{shown, width};

/// How many cells in front of a row that continues a line are left empty.
pub const HANG: usize = 2;

/// How many bytes of `text`, which holds no line feed, go into a row of `cells` cells. Breaks behind a space or beside
/// a wide character where there is one in the second half of the row. At least one grapheme, unless `text` is empty.
#[must_use]
pub fn row_len(text: &str, cells: usize, raw: bool) -> usize {
    let mut column = 0;
    // The last place where the row may break, with its column.
    let mut chance: Option<(usize, usize)> = None;
    let mut before_wide = false;
    for (at, grapheme) in text.grapheme_indices(true) {
        let (_, wide) = shown(grapheme, column, raw);
        if at > 0 && (before_wide || wide == 2) {
            chance = Some((at, column));
        }
        if column + wide > cells && at > 0 {
            if grapheme == " " {
                // A space at the edge is not worth a row of its own.
                return at + 1;
            }
            return match chance {
                Some((break_at, column)) if column * 2 > cells => break_at,
                _ => at,
            };
        }
        column += wide;
        before_wide = wide == 2;
        if grapheme == " " {
            chance = Some((at + 1, column));
        }
    }
    text.len()
}

/// Wraps a text into rows of at most `cells` cells; the second row of a line and those after it are [`HANG`] narrower.
/// Each row is a byte range with the number of cells to leave in front of it.
#[must_use]
pub fn wrap(text: &str, cells: usize) -> Vec<(std::ops::Range<usize>, usize)> {
    let mut rows = Vec::new();
    let mut line_start = 0;
    for line in text.split('\n') {
        let mut start = 0;
        loop {
            let hang = if start > 0 && cells > HANG * 2 { HANG } else { 0 };
            let len = row_len(&line[start..], cells.max(1) - hang, false);
            rows.push((line_start + start..line_start + start + len, hang));
            start += len;
            if start >= line.len() {
                break;
            }
        }
        line_start += line.len() + 1;
    }
    rows
}

/// The text, cut to `cells` cells with `..` at the end where something was cut, and its width.
#[must_use]
pub fn fit(text: &str, cells: usize) -> (Cow<'_, str>, usize) {
    // Most cells hold short words; long texts are not measured further than they are shown.
    if text.len() <= cells && text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return (Cow::Borrowed(text), text.len());
    }
    let mut out = String::new();
    let mut column = 0;
    // Where the text has to end so that the dots still fit.
    let mut room = (0, 0);
    for grapheme in text.graphemes(true) {
        // A line end inside a cell of a table is only a gap.
        let grapheme = if grapheme == "\n" || grapheme == "\r\n" { " " } else { grapheme };
        let (piece, wide) = shown(grapheme, column, false);
        if column + wide > cells {
            out.truncate(room.0);
            let dots = (cells - room.1).min(2);
            out.push_str(&".."[..dots]);
            return (out.into(), room.1 + dots);
        }
        out.push_str(&piece);
        column += wide;
        if column + 2 <= cells {
            room = (out.len(), column);
        }
    }
    (out.into(), column)
}

/// The text in exactly `cells` cells, cut or filled with spaces at its right.
#[must_use]
pub fn left(text: &str, cells: usize) -> String {
    let (text, used) = fit(text, cells);
    format!("{text}{:1$}", "", cells - used)
}

/// The text in exactly `cells` cells, cut or filled with spaces at its left.
#[must_use]
pub fn right(text: &str, cells: usize) -> String {
    let (text, used) = fit(text, cells);
    format!("{:1$}{text}", "", cells - used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_keeps_its_width() {
        for (text, cells, want) in [
            ("hello", 5, "hello"),
            ("hello there", 8, "hello .."),
            ("环境变化", 8, "环境变化"),
            ("环境变化", 7, "环境.. "),
            ("环境变化", 1, "."),
            ("a\tb", 9, "a   b    "),
            ("a\nb", 3, "a b"),
            ("\u{1b}[31m", 8, "^[[31m  "),
        ] {
            let got = left(text, cells);
            assert_eq!(got, want, "{text:?} in {cells}");
            assert_eq!(width(&got), cells, "{text:?} in {cells}");
        }
        assert_eq!(right("环境", 6), "  环境");
    }

    #[test]
    fn rows_break_at_spaces_and_beside_wide_characters() {
        let rows = |text: &str, cells| -> Vec<String> {
            wrap(text, cells).into_iter().map(|(range, _)| text[range].to_owned()).collect()
        };
        assert_eq!(rows("move into the api", 10), ["move into ", "the api"]);
        assert_eq!(rows("当前目录已切换", 7), ["当前目", "录已", "切换"]);
        assert_eq!(rows("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(rows("", 5), [""]);
        assert_eq!(rows("a\n\nb", 5), ["a", "", "b"]);
    }

    proptest::proptest! {
        #[test]
        fn every_row_fits(text in "\\PC{0,60}", cells in 2usize..20) {
            let mut covered = 0;
            for (range, hang) in wrap(&text, cells) {
                proptest::prop_assert!(range.start >= covered);
                covered = range.end;
                let mut column = 0;
                for grapheme in text[range.clone()].trim_end_matches(' ').graphemes(true) {
                    column += shown(grapheme, column, false).1;
                }
                let one = text[range].graphemes(true).count() <= 2;
                proptest::prop_assert!(one || column + hang <= cells, "{column}+{hang} > {cells}");
            }
            proptest::prop_assert_eq!(covered, text.len());
        }
    }
}
