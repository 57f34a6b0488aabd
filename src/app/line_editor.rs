//! A single line of text being typed.

use unicode_segmentation::UnicodeSegmentation;

use super::cells;
use super::key::{Code, Key};

/// A single-line text with a cursor between graphemes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEditor {
    text: String,
    cursor: usize,
}

impl LineEditor {
    /// An editor with a text, the cursor behind it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> LineEditor {
        let text = text.into();
        LineEditor { cursor: text.len(), text }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte offset of the cursor, at a grapheme boundary.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Replaces the text; the cursor goes behind it.
    pub fn set(&mut self, text: impl Into<String>) {
        *self = LineEditor::new(text);
    }

    /// Inserts text at the cursor, as typed or pasted: line ends and tabs become spaces, other control characters
    /// vanish.
    pub fn insert(&mut self, text: &str) {
        let text = text.trim_end_matches(['\r', '\n']).replace("\r\n", " ");
        let clean: String = text
            .chars()
            .map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        self.text.insert_str(self.cursor, &clean);
        self.cursor += clean.len();
        self.snap();
    }

    /// Moves the cursor off the inside of a grapheme: what stands before it may have joined with what stands behind it
    /// (a combining mark, half of a flag).
    fn snap(&mut self) {
        if !self.is_boundary(self.cursor) {
            self.cursor = self.next();
        }
    }

    /// Handles a key. True when the text or the cursor may have changed; false for keys that are not its business.
    pub fn key(&mut self, key: Key) -> bool {
        match (key.code, key.ctrl, key.alt) {
            (Code::Char(c), false, false) => self.insert(c.encode_utf8(&mut [0; 4])),
            (Code::Backspace, false, false) => {
                let start = self.previous();
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            (Code::Char('w'), true, false) | (Code::Backspace, _, _) => {
                let start = self.word_start();
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            (Code::Delete, ..) | (Code::Char('d'), true, false) => {
                let end = self.next();
                self.text.drain(self.cursor..end);
            }
            (Code::Char('u'), true, false) => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            (Code::Char('k'), true, false) => self.text.truncate(self.cursor),
            (Code::Left, true, _) | (Code::Left, _, true) => self.cursor = self.word_start(),
            (Code::Right, true, _) | (Code::Right, _, true) => self.cursor = self.word_end(),
            (Code::Left, ..) | (Code::Char('b'), true, false) => self.cursor = self.previous(),
            (Code::Right, ..) | (Code::Char('f'), true, false) => self.cursor = self.next(),
            (Code::Home, ..) | (Code::Char('a'), true, false) => self.cursor = 0,
            (Code::End, ..) | (Code::Char('e'), true, false) => self.cursor = self.text.len(),
            _ => return false,
        }
        self.snap();
        true
    }

    /// What is shown in `cells` cells: the byte range of the text, and the column of the cursor in it. The cursor is
    /// always inside.
    #[must_use]
    pub fn window(&self, cells: usize) -> (std::ops::Range<usize>, usize) {
        let room = cells.saturating_sub(1);
        let mut start = 0;
        let mut column = cells::width(&self.text[..self.cursor]);
        for grapheme in self.text[..self.cursor].graphemes(true) {
            if column <= room {
                break;
            }
            column -= cells::width(grapheme);
            start += grapheme.len();
        }
        let mut end = self.cursor;
        let mut used = column;
        for grapheme in self.text[self.cursor..].graphemes(true) {
            used += cells::width(grapheme);
            if used > cells {
                break;
            }
            end += grapheme.len();
        }
        (start..end, column)
    }

    fn is_boundary(&self, at: usize) -> bool {
        at == self.text.len() || self.text.grapheme_indices(true).any(|(index, _)| index == at)
    }

    fn previous(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(index, _)| index)
    }

    fn next(&self) -> usize {
        self.text
            .grapheme_indices(true)
            .map(|(index, grapheme)| index + grapheme.len())
            .find(|&end| end > self.cursor)
            .unwrap_or(self.text.len())
    }

    /// The start of the word (or the part of a path) before the cursor.
    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end_matches(is_gap);
        before.rfind(is_gap).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
    }

    fn word_end(&self) -> usize {
        let behind = &self.text[self.cursor..];
        let gap = behind.len() - behind.trim_start_matches(is_gap).len();
        self.cursor + behind[gap..].find(is_gap).map_or(behind.len(), |at| gap + at)
    }
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || c == '/'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::Strategy as _;

    use super::*;

    fn typed(keys: &str) -> LineEditor {
        let mut editor = LineEditor::default();
        for key in keys.split(' ') {
            assert!(editor.key(Key::parse(key).expect("a key")), "{key}");
        }
        editor
    }

    #[test]
    fn graphemes_are_never_split() {
        let mut editor = LineEditor::new("a家👨‍👩‍👧e\u{301}");
        let mut lengths = vec![editor.text().len()];
        while !editor.text().is_empty() {
            editor.key(Key::plain(Code::Backspace));
            lengths.push(editor.text().len());
        }
        assert_eq!(lengths, [25, 22, 4, 1, 0]);
    }

    #[test]
    fn words_are_parts_of_a_path() {
        let mut editor = LineEditor::new("/home/shop/api");
        editor.key(Key::ctrl('w'));
        assert_eq!(editor.text(), "/home/shop/");
        editor.key(Key::ctrl('w'));
        assert_eq!(editor.text(), "/home/");
        editor.key(Key::ctrl('u'));
        assert_eq!(editor.text(), "");
    }

    #[test]
    fn typing_in_the_middle() {
        let editor = typed("a c left b home 家 end d");
        assert_eq!(editor.text(), "家abcd");
        assert_eq!(editor.cursor(), editor.text().len());
    }

    #[test]
    fn a_paste_is_one_line() {
        let mut editor = LineEditor::default();
        editor.insert("/home\r\n/shop\tx\u{1b}\n");
        assert_eq!(editor.text(), "/home /shop x");
    }

    #[test]
    fn the_cursor_is_always_in_the_window() {
        let editor = LineEditor::new("/home/项目/很长的路径");
        for cells in 1..30 {
            let (range, column) = editor.window(cells);
            assert!(column < cells.max(1), "{cells}");
            assert!(cells::width(&editor.text()[range]) <= cells);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_keys_keep_the_cursor_at_a_boundary(
            steps in proptest::collection::vec(
                proptest::prelude::prop_oneof![
                    "\\PC{1,3}".prop_map(Err::<&str, String>),
                    proptest::sample::select(vec!["left", "right", "home", "end", "backspace", "delete",
                        "ctrl-w", "ctrl-u", "ctrl-k", "alt-left", "alt-right"]).prop_map(Ok),
                ], 0..40)
        ) {
            let mut editor = LineEditor::default();
            for step in steps {
                match step {
                    Ok(name) => { editor.key(Key::parse(name).expect("a key")); }
                    Err(text) => editor.insert(&text),
                }
                proptest::prop_assert!(editor.is_boundary(editor.cursor()));
            }
        }
    }
}
