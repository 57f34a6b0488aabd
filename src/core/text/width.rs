//! How wide text is in a terminal, and what a terminal may be sent of it. Nothing else measures text for a screen.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::hidden;

/// The width of a tab stop in cells.
const TAB: usize = 4;

/// The width of a text in cells. Control characters count as nothing.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !byte.is_ascii_control()).count();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// The width of one grapheme in cells, as the screen's buffer counts it.
fn grapheme_width(grapheme: &str) -> usize {
    // Halfwidth sound marks combine by the book, but terminals give them a cell of their own.
    let marks = grapheme.chars().filter(|c| matches!(c, '\u{ff9e}' | '\u{ff9f}')).count();
    if grapheme.chars().any(char::is_control) { 0 } else { grapheme.width() + marks }
}

/// The letters of a flag in brackets; none for what is no flag. Terminals and multiplexers do not agree whether the two
/// regional indicators of a flag are two cells or four: what is drawn behind one would stand where it never is erased.
fn flag(grapheme: &str) -> Option<String> {
    let letter = |c: char| {
        let index = (c as u32).checked_sub(0x1f1e6).filter(|index| *index < 26)?;
        Some(char::from(b'A' + index as u8))
    };
    // The common case without an allocation.
    letter(grapheme.chars().next()?)?;
    let letters: Option<String> = grapheme.chars().map(letter).collect();
    letters.map(|letters| format!("[{letters}]"))
}

/// True for characters that turn the direction of text: a terminal must not be sent them, since the rest of the line
/// would move.
#[must_use]
pub fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
}

/// What is drawn for one grapheme at a column (from 0) of its row, and its width in cells.
///
/// Where it is not `raw`, tabs become spaces, carriage returns vanish, other control characters are written `^[`, flags as
/// their letters, and characters that take no room and nobody sees as escapes, as those that turn the direction are. Raw,
/// all of these are written as escapes.
#[must_use]
pub fn shown(grapheme: &str, column: usize, raw: bool) -> (Cow<'_, str>, usize) {
    let first = grapheme.chars().next().unwrap_or(' ');
    if first.is_control() {
        let text = match (first, raw) {
            ('\t', false) => " ".repeat(TAB - column % TAB),
            ('\r', false) => String::new(),
            (c, false) if (c as u32) < 0x20 => format!("^{}", char::from(c as u8 + 0x40)),
            (c, _) => c.escape_default().collect(),
        };
        let cells = text.len();
        return (text.into(), cells);
    }
    if grapheme.chars().any(turns_direction) {
        let text: String = grapheme
            .chars()
            .map(|c| if turns_direction(c) { c.escape_unicode().to_string() } else { c.to_string() })
            .collect();
        let cells = width(&text);
        return (text.into(), cells);
    }
    if raw && grapheme != " " && grapheme.chars().any(|c| hidden::name(c).is_some() || c.is_whitespace()) {
        // What joins the parts of an emoji stays: it is seen.
        let joins = grapheme.chars().count() > 1 && grapheme_width(grapheme) == 2;
        if !joins {
            let one = |c: char| hidden::name(c).is_some() || c.is_whitespace();
            let text: String = grapheme
                .chars()
                .map(|c| if one(c) { c.escape_unicode().to_string() } else { c.to_string() })
                .collect();
            let cells = width(&text);
            return (text.into(), cells);
        }
    }
    if let Some(letters) = flag(grapheme) {
        let text = if raw { grapheme.escape_unicode().to_string() } else { letters };
        let cells = text.len();
        return (text.into(), cells);
    }
    match grapheme_width(grapheme) {
        0 if raw || grapheme.chars().any(|c| hidden::name(c).is_some()) => {
            let text: String = grapheme.chars().map(|c| c.escape_unicode().to_string()).collect();
            let cells = text.len();
            (text.into(), cells)
        }
        0 => (Cow::Borrowed(""), 0),
        cells => (Cow::Borrowed(grapheme), cells),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_joined_and_combining_characters_have_their_width() {
        for (text, cells) in [
            ("abc", 3),
            ("环境", 4),
            ("🙂", 2),
            ("e\u{301}", 1),
            ("👨\u{200d}👩\u{200d}👧", 2),
            ("a\tb\n", 2),
        ] {
            assert_eq!(width(text), cells, "{text:?}");
        }
    }

    #[test]
    fn what_moves_the_rest_of_a_line_is_written_out() {
        assert_eq!(shown("\u{202e}", 0, false).0, "\\u{202e}");
        assert_eq!(shown("\r", 0, true).0, "\\r");
        assert_eq!(shown("\u{feff}", 0, false), (Cow::Borrowed("\\u{feff}"), 8));
        assert_eq!(shown("\u{200b}", 0, false), (Cow::Borrowed("\\u{200b}"), 8));
        // A mark of its own that combines with nothing is no secret.
        assert_eq!(shown("\u{301}", 0, false), (Cow::Borrowed(""), 0));
        assert_eq!(shown("🇨🇳", 0, false), (Cow::Borrowed("[CN]"), 4));
        assert_eq!(shown("🇨🇳", 0, true).0, "\\u{1f1e8}\\u{1f1f3}");
        assert_eq!(shown("\u{feff}", 0, true).0, "\\u{feff}");
        assert_eq!(shown("\t", 5, false).1, 3);
    }
}
