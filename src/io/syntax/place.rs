//! Where the text of a scalar stands in its file.
//!
//! What a YAML parser returns is the text after escapes, quotes, indentation and folding are undone. A message about
//! byte 40 of a template, or the blame for it, has to name a line and a column of the file, so the text is walked
//! once beside the file and every place where the two part ways is noted.

use crate::core::diagnostic::Position;

use super::node::{Node, Style};

/// The position of the first byte of the scalar's text, and the byte offsets at which its text goes on elsewhere than
/// a plain reading would expect.
pub(super) fn of_scalar(node: &Node, whole: &str) -> (Position, Vec<(usize, Position)>) {
    match node.style {
        Style::Literal => literal(node, whole),
        Style::Folded => {
            let (byte, line) = block_start(node, whole);
            walk(node, whole, (byte, Position { line, column: 1 }))
        }
        Style::Plain => walk(node, whole, (node.byte, node.at)),
        Style::Single | Style::Double => {
            let at = Position { line: node.at.line, column: node.at.column + 1 };
            walk(node, whole, (node.byte + 1, at))
        }
    }
}

/// The start of the line in which the text of a block scalar starts. The parser names the first line that is not blank.
fn block_start(node: &Node, whole: &str) -> (usize, u32) {
    let blank = node.text.bytes().take_while(|&b| b == b'\n').count();
    let mut byte = whole[..node.byte].rfind('\n').map_or(0, |at| at + 1);
    let mut line = node.at.line;
    for _ in 0..blank.min(line as usize - 1) {
        byte = whole[..byte - 1].rfind('\n').map_or(0, |at| at + 1);
        line -= 1;
    }
    (byte, line)
}

fn literal(node: &Node, whole: &str) -> (Position, Vec<(usize, Position)>) {
    let (from, line) = block_start(node, whole);
    let mut jumps = Vec::new();
    let mut offset = 0;
    let mut first = node.at;
    let file_lines = whole[from..].split('\n');
    for (index, (text, file)) in node.text.split('\n').zip(file_lines).enumerate() {
        // The indentation is whatever stands in front of the line's text.
        let file = file.strip_suffix('\r').unwrap_or(file);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let indent = file.chars().count().saturating_sub(text.chars().count());
        let at = Position { line: line + index as u32, column: indent as u32 + 1 };
        if index == 0 {
            first = at;
        } else if indent > 0 && offset < node.text.len() {
            jumps.push((offset, at));
        }
        offset += text.len() + 1;
    }
    (first, jumps)
}

/// Reads the file from `(byte, position)` on beside the text.
fn walk(node: &Node, whole: &str, from: (usize, Position)) -> (Position, Vec<(usize, Position)>) {
    let mut file = Cursor { text: whole, byte: from.0, at: from.1 };
    if node.style == Style::Folded && !node.text.starts_with('\n') {
        file.skip_space();
    }
    let start = file.at;
    let mut expected = start;
    let mut jumps = Vec::new();
    for (offset, wanted) in node.text.char_indices() {
        if !file.reach(wanted, node.style) {
            break;
        }
        if file.at != expected {
            jumps.push((offset, file.at));
            expected = file.at;
        }
        file.consume(wanted, node.style);
        expected = match wanted {
            '\n' => Position { line: expected.line + 1, column: 1 },
            _ => Position { line: expected.line, column: expected.column + 1 },
        };
    }
    (start, jumps)
}

struct Cursor<'a> {
    text: &'a str,
    byte: usize,
    at: Position,
}

impl Cursor<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.byte..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        if let Some(c) = self.peek() {
            self.byte += c.len_utf8();
            self.at = match c {
                '\n' => Position { line: self.at.line + 1, column: 1 },
                _ => Position { line: self.at.line, column: self.at.column + 1 },
            };
        }
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\r' | '\n')) {
            self.bump();
        }
    }

    /// Moves to where `wanted` is written; false when the two cannot be matched.
    fn reach(&mut self, wanted: char, style: Style) -> bool {
        if style == Style::Double {
            // An escaped line end writes nothing, and neither does the indentation behind it.
            while self.rest().starts_with("\\\n") || self.rest().starts_with("\\\r\n") {
                self.bump();
                self.skip_space();
            }
            if self.peek() == Some('\\') {
                return true;
            }
        }
        match self.peek() {
            None => false,
            Some(c) if c == wanted => true,
            // A folded line end: a space or some line ends were written by a run of white space.
            Some(' ' | '\t' | '\r' | '\n') if matches!(wanted, ' ' | '\n') => true,
            Some(' ' | '\t' | '\r' | '\n') => {
                self.skip_space();
                self.peek() == Some(wanted) || style == Style::Double && self.peek() == Some('\\')
            }
            Some(_) => false,
        }
    }

    fn consume(&mut self, wanted: char, style: Style) {
        match self.peek() {
            Some('\\') if style == Style::Double => {
                self.bump();
                let digits = match self.peek() {
                    Some('x') => 2,
                    Some('u') => 4,
                    Some('U') => 8,
                    _ => 0,
                };
                for _ in 0..=digits {
                    self.bump();
                }
                // The second half of a character that JSON writes as a pair.
                if digits == 4 && wanted as u32 > 0xFFFF && self.rest().starts_with("\\u") {
                    (0..6).for_each(|_| self.bump());
                }
            }
            Some('\'') if style == Style::Single => {
                self.bump();
                self.bump();
            }
            Some(c) if c == wanted && c != '\n' => self.bump(),
            // What a fold writes is matched with the first white space; the rest is skipped by `reach`.
            _ => self.bump(),
        }
    }
}
