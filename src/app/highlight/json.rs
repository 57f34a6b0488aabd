//! JSON: its classes, and how it is laid out. It takes what is broken, too, as far as it goes; only then it is not laid
//! out.

use std::ops::Range;

use super::sheet::{LONGEST, Sheet};
use super::{Canvas, Class};

/// The cells that a level is indented.
const INDENT: usize = 2;
/// Texts deeper than this are not laid out.
const DEEPEST: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Open(u8),
    Close(u8),
    Comma,
    Colon,
    String,
    Number,
    Word,
    Other,
}

/// The tokens of a text; white space is between them.
fn tokens(text: &str) -> impl Iterator<Item = (Token, Range<usize>)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        let first = *bytes.get(at)?;
        at += 1;
        let run = |from: usize, part: fn(&u8) -> bool| {
            from + bytes[from..].iter().position(|byte| !part(byte)).unwrap_or(bytes.len() - from)
        };
        let token = match first {
            b'{' | b'[' => Token::Open(first),
            b'}' | b']' => Token::Close(first),
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => {
                while let Some(byte) = bytes.get(at) {
                    at += 1;
                    match byte {
                        b'"' => break,
                        // Whatever is escaped; a character of several bytes goes on below.
                        b'\\' => at = (at + 1).min(bytes.len()),
                        _ => {}
                    }
                }
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                Token::String
            }
            b'-' | b'0'..=b'9' => {
                at = run(at, |byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
                Token::Number
            }
            b'a'..=b'z' => {
                at = run(at, u8::is_ascii_alphanumeric);
                Token::Word
            }
            _ => {
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                Token::Other
            }
        };
        Some((token, start..at))
    })
}

/// The classes of a text.
pub(super) fn classes(text: &str) -> Canvas {
    let mut canvas = Canvas::new(text.len());
    let mut tokens = tokens(text).peekable();
    while let Some((token, range)) = tokens.next() {
        let key = tokens.peek().is_some_and(|(next, _)| *next == Token::Colon);
        match token {
            Token::String => canvas.put(range, if key { Class::Key } else { Class::String }),
            Token::Number => canvas.put(range, Class::Number),
            Token::Word => canvas.put(range, Class::Keyword),
            Token::Open(_) | Token::Close(_) | Token::Comma | Token::Colon => canvas.put(range, Class::Mark),
            Token::Other => {}
        }
    }
    canvas
}

/// The text laid out, one entry a line; none where it is no JSON.
pub(super) fn sheet(text: &str, canvas: &Canvas) -> Option<Sheet> {
    let mut sheet = Sheet::default();
    let mut open: Vec<u8> = Vec::new();
    let tokens = tokens(text);
    // What stands in front of the first token is the first line's.
    sheet.begin(0);
    // The token in front; none at the start of a line.
    let mut before: Option<Token> = None;
    let line = |sheet: &mut Sheet, start: usize, depth: usize| {
        let first = sheet.lines.len() == 1 && sheet.pieces.is_empty();
        if !first {
            sheet.begin(start);
        }
        sheet.goes_on((depth + 1) * INDENT, true);
        sheet.own(start..start, " ".repeat(depth * INDENT), None);
    };
    for (token, range) in tokens {
        if range.len() > LONGEST || open.len() > DEEPEST {
            return None;
        }
        match token {
            Token::Other => return None,
            Token::Word if !matches!(&text[range.clone()], "true" | "false" | "null") => return None,
            Token::Close(close) => {
                let opened = open.pop()?;
                if opened + 2 != close {
                    return None;
                }
                if !matches!(before, Some(Token::Open(_))) {
                    line(&mut sheet, range.start, open.len());
                }
            }
            // A value, or a bracket, begins a line behind a bracket, a comma or another value.
            Token::Open(_) | Token::String | Token::Number | Token::Word => {
                if before != Some(Token::Colon) {
                    line(&mut sheet, range.start, open.len());
                }
            }
            Token::Comma | Token::Colon if before.is_none() => return None,
            Token::Comma | Token::Colon => {}
        }
        sheet.source(range.clone(), canvas, &[]);
        match token {
            Token::Open(bracket) => open.push(bracket),
            Token::Colon => sheet.own(range.end..range.end, " ", None),
            _ => {}
        }
        before = Some(token);
    }
    (open.is_empty() && before.is_some()).then_some(sheet)
}
