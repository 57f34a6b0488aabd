//! How a program spells the texts of its JSON: which characters it escapes, and how.
//!
//! JSON leaves it open whether `é`, `/`, `<` or a line separator is escaped, and programs differ. A spelling is learned
//! from a body, so that another text can be written into it as that program would have written it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::lossless::Json;

/// How one character is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// As itself.
    Plain,
    /// `\n`, `\/`.
    Short,
    /// `\u000a`.
    Unicode,
}

/// How a program spells texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Characters that others might write otherwise, as they were seen.
    seen: BTreeMap<char, How>,
    /// Everything outside of ASCII is escaped, as Python does by default.
    ascii: bool,
    /// Hexadecimal digits are capitals.
    capitals: bool,
}

/// The letter behind the backslash of a short escape.
fn short(c: char) -> Option<char> {
    Some(match c {
        '"' => '"',
        '\\' => '\\',
        '/' => '/',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => return None,
    })
}

/// Characters in ASCII that may stand as themselves and that some programs escape, and the two of Unicode that
/// JavaScript once did not allow in texts.
fn open(c: char) -> bool {
    matches!(c, '/' | '<' | '>' | '&' | '\'' | '+' | '=' | '`' | '\u{7f}' | '\u{2028}' | '\u{2029}')
}

impl Spelling {
    /// Learns the spelling of a value that was read from `text`.
    #[must_use]
    pub fn of(json: &Json, text: &str) -> Spelling {
        let mut learned = Learner::default();
        json.texts(&mut |span, _| learned.learn(&text[span.start + 1..span.end - 1]));
        Spelling {
            seen: learned.seen,
            ascii: learned.escaped > learned.plain,
            capitals: learned.upper > learned.lower,
        }
    }

    /// Writes a text in quotes.
    #[must_use]
    pub fn quote(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 2);
        out.push('"');
        for c in text.chars() {
            let how = self.seen.get(&c).copied().unwrap_or_else(|| self.usual(c));
            match (how, short(c)) {
                (How::Plain, _) => out.push(c),
                (How::Short, Some(letter)) => {
                    out.push('\\');
                    out.push(letter);
                }
                _ => {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        // Writing into a String cannot fail.
                        let _ = match self.capitals {
                            true => write!(out, "\\u{unit:04X}"),
                            false => write!(out, "\\u{unit:04x}"),
                        };
                    }
                }
            }
        }
        out.push('"');
        out
    }

    /// What most programs do with a character that was not seen.
    fn usual(&self, c: char) -> How {
        match c {
            '"' | '\\' | '\u{8}' | '\u{c}' | '\n' | '\r' | '\t' => How::Short,
            c if c < ' ' => How::Unicode,
            c if c.is_ascii() && c != '\u{7f}' => How::Plain,
            _ if self.ascii => How::Unicode,
            _ => How::Plain,
        }
    }
}

#[derive(Default)]
struct Learner {
    seen: BTreeMap<char, How>,
    /// Characters outside of ASCII that were escaped, and that were not.
    escaped: usize,
    plain: usize,
    /// Hexadecimal letters of both cases.
    upper: usize,
    lower: usize,
}

impl Learner {
    /// Looks at the spelling of one text, without its quotes. It is known to be right.
    fn learn(&mut self, spelled: &str) {
        if spelled.is_ascii() && !spelled.bytes().any(|b| b == b'\\' || open(b as char)) {
            return;
        }
        let mut rest = spelled;
        while let Some(c) = rest.chars().next() {
            if c != '\\' {
                if open(c) {
                    self.seen.insert(c, How::Plain);
                } else if !c.is_ascii() {
                    self.plain += 1;
                }
                rest = &rest[c.len_utf8()..];
                continue;
            }
            if !rest.starts_with("\\u") {
                let letter = rest[1..].chars().next().unwrap_or_default();
                let c = match letter {
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                };
                self.seen.insert(c, How::Short);
                rest = &rest[1 + letter.len_utf8()..];
                continue;
            }
            let digits = &rest[2..6];
            self.upper += digits.bytes().filter(u8::is_ascii_uppercase).count();
            self.lower += digits.bytes().filter(u8::is_ascii_lowercase).count();
            match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
                Some(c) if c.is_ascii() || open(c) => {
                    self.seen.insert(c, How::Unicode);
                }
                _ => self.escaped += 1,
            }
            rest = &rest[6..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text of `body`, written again in the body's spelling.
    fn again(body: &str) -> Vec<(String, String)> {
        let json = Json::parse(body).expect("it is JSON");
        let spelling = Spelling::of(&json, body);
        let mut all = Vec::new();
        json.texts(&mut |span, text| all.push((body[span.clone()].to_owned(), spelling.quote(text))));
        all
    }

    #[test]
    fn a_text_is_written_as_its_program_would() {
        for body in [
            r#"{"a": "\u4f60\u597d \ud83d\ude42 / <b> \u007f\n", "b": "\u00e9"}"#,
            r#"{"a":"你好 🙂 / <b> ' \n\t\b\f\r\u0001","b":"é"}"#,
            r#"{"a":"\/usr\/bin \u4F60","b":"\u00E9\u001F"}"#,
            r#"{"a":"\u003cb\u003e \u0026 \u2028 é","b":"x/y"}"#,
            r#"{"a":"\u0022 \u0027 \u002B","b":"\u000A"}"#,
        ] {
            for (was, is) in again(body) {
                assert_eq!(was, is, "{body}");
            }
        }
    }

    #[test]
    fn what_was_not_seen_is_written_as_most_would() {
        let spelling = |body: &str| Spelling::of(&Json::parse(body).expect("JSON"), body);
        assert_eq!(spelling(r#""\u4f60""#).quote("é/\u{1}\n"), r#""\u00e9/\u0001\n""#);
        assert_eq!(spelling(r#""\u4F6A""#).quote("é"), r#""\u00E9""#);
        assert_eq!(spelling(r#""你""#).quote("é\u{2028}\u{7f}"), "\"é\u{2028}\u{7f}\"");
        assert_eq!(spelling(r#""""#).quote("a\"\\"), r#""a\"\\""#);
    }
}
