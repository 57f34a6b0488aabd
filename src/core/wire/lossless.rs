//! A reader of JSON that loses nothing: every value knows where it stands in the text, so that what was not changed can
//! be written as it was, whatever its spacing, number spelling, escapes and key order.

use std::ops::Range;
use std::sync::Arc;

use crate::core::diagnostic::Position;

/// How deep values may be nested. Real bodies stay below 20; what is deeper would only be there to exhaust the stack.
pub const DEPTH: usize = 256;

/// A value, with the byte range of its spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct Json {
    /// The byte range in the text that was read; for a text, with its quotes.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a JSON value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; its spelling is all that is known of it.
    Number,
    /// A text, decoded. Half a surrogate pair is U+FFFD.
    Text(Arc<str>),
    /// `[...]`.
    List(Vec<Json>),
    /// `{...}`, in the order of the text, equal keys among them.
    Map(Vec<Member>),
}

/// A member of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The key, decoded.
    pub key: Arc<str>,
    /// The byte range of the key, with its quotes.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Json,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where in the text, in bytes.
    pub at: usize,
    /// One sentence, lower case, without a full stop.
    pub message: &'static str,
}

impl Mistake {
    /// The line and column.
    #[must_use]
    pub fn position(&self, text: &str) -> Position {
        Position::of(text, self.at)
    }
}

impl Json {
    /// Reads a text that holds one value, with white space and a byte order mark around it.
    ///
    /// # Errors
    ///
    /// At the first byte that cannot be JSON.
    pub fn parse(text: &str) -> Result<Json, Mistake> {
        let mut reader = Reader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
        reader.space();
        let value = reader.value(0)?;
        reader.space();
        if reader.at < text.len() {
            return Err(reader.mistake("something stands behind the JSON value"));
        }
        Ok(value)
    }

    /// The member of a map under a key; the last one, as most programs have it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members().iter().rev().find(|member| &*member.key == key).map(|member| &member.value)
    }

    /// The members of a map; none of anything else.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Map(members) => members,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    #[must_use]
    pub fn items(&self) -> &[Json] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The decoded text of a text.
    #[must_use]
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// True for `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// The value without white space and with escapes only where JSON asks for them; order, equal keys and the spelling
    /// of numbers stay. `text` is the text that it was read from.
    #[must_use]
    pub fn compact(&self, text: &str) -> String {
        let mut out = String::with_capacity(self.span.len());
        self.write_compact(text, &|_| false, &mut out);
        out
    }

    /// As [`Json::compact`], without the members of the map itself whose key `leaves_out` picks.
    #[must_use]
    pub fn compact_without(&self, text: &str, leaves_out: &dyn Fn(&str) -> bool) -> String {
        let mut out = String::with_capacity(self.span.len());
        self.write_compact(text, leaves_out, &mut out);
        out
    }

    fn write_compact(&self, text: &str, leaves_out: &dyn Fn(&str) -> bool, out: &mut String) {
        match &self.kind {
            Kind::Text(value) => quote(value, out),
            Kind::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_compact(text, &|_| false, out);
                }
                out.push(']');
            }
            Kind::Map(members) => {
                out.push('{');
                let kept = members.iter().filter(|member| !leaves_out(&member.key));
                for (index, member) in kept.enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quote(&member.key, out);
                    out.push(':');
                    member.value.write_compact(text, &|_| false, out);
                }
                out.push('}');
            }
            Kind::Null | Kind::Bool(_) | Kind::Number => out.push_str(&text[self.span.clone()]),
        }
    }

    /// The value over several lines, indented by two spaces; otherwise as [`Json::compact`].
    #[must_use]
    pub fn pretty(&self, text: &str) -> String {
        let mut out = String::with_capacity(self.span.len() * 2);
        self.write_pretty(text, 0, &mut out);
        out
    }

    fn write_pretty(&self, text: &str, depth: usize, out: &mut String) {
        let line = |out: &mut String, first: bool, depth: usize| {
            out.push_str(if first { "\n" } else { ",\n" });
            out.push_str(&"  ".repeat(depth));
        };
        match &self.kind {
            Kind::List(items) if !items.is_empty() => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    line(out, index == 0, depth + 1);
                    item.write_pretty(text, depth + 1, out);
                }
                line(out, true, depth);
                out.push(']');
            }
            Kind::Map(members) if !members.is_empty() => {
                out.push('{');
                for (index, member) in members.iter().enumerate() {
                    line(out, index == 0, depth + 1);
                    quote(&member.key, out);
                    out.push_str(": ");
                    member.value.write_pretty(text, depth + 1, out);
                }
                line(out, true, depth);
                out.push('}');
            }
            _ => self.write_compact(text, &|_| false, out),
        }
    }

    /// Every text of the value, keys among them, in the order in which they stand: byte range and decoded text.
    pub fn texts(&self, each: &mut dyn FnMut(&Range<usize>, &Arc<str>)) {
        match &self.kind {
            Kind::Text(text) => each(&self.span, text),
            Kind::List(items) => items.iter().for_each(|item| item.texts(each)),
            Kind::Map(members) => {
                for member in members {
                    each(&member.key_span, &member.key);
                    member.value.texts(each);
                }
            }
            Kind::Null | Kind::Bool(_) | Kind::Number => {}
        }
    }
}

/// Appends a text as JSON, with escapes only where JSON asks for them: as `serde_json` and JavaScript write it.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The length in bytes of what a spelled text (without quotes) decodes to.
pub(super) fn decoded_len(spelled: &str) -> usize {
    walk(spelled, usize::MAX).1
}

/// The byte of a spelled text (without quotes) at which the character begins that holds byte `decoded` of what it decodes
/// to; its length behind the end.
pub(super) fn spelled_at(spelled: &str, decoded: usize) -> usize {
    walk(spelled, decoded).0
}

/// Walks over characters while they end at or before a decoded byte: spelled and decoded bytes that were passed.
fn walk(spelled: &str, to: usize) -> (usize, usize) {
    let mut reader = Reader { text: spelled, at: 0 };
    let mut decoded = 0;
    while let Some(c) = spelled[reader.at..].chars().next() {
        let from = reader.at;
        let c = match c {
            // The text was read before, so its escapes are right.
            '\\' => reader.escape().unwrap_or('\u{fffd}'),
            c => c,
        };
        if decoded + c.len_utf8() > to {
            return (from, decoded);
        }
        reader.at = if reader.at == from { from + c.len_utf8() } else { reader.at };
        decoded += c.len_utf8();
    }
    (reader.at, decoded)
}

/// Where the number ends that begins at byte `at` of a JSON text.
pub(crate) fn number_end(text: &[u8], mut at: usize) -> Result<usize, Mistake> {
    let is = |at: usize, of: &[u8]| text.get(at).is_some_and(|byte| of.contains(byte));
    let digits = |from: usize| {
        let end = (from..text.len()).find(|&at| !text[at].is_ascii_digit()).unwrap_or(text.len());
        if end == from { Err(Mistake { at: from, message: "a digit was expected" }) } else { Ok(end) }
    };
    at += usize::from(is(at, b"-"));
    at = if is(at, b"0") { at + 1 } else { digits(at)? };
    if is(at, b".") {
        at = digits(at + 1)?;
    }
    if is(at, b"eE") {
        at += 1;
        at = digits(at + usize::from(is(at, b"+-")))?;
    }
    Ok(at)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn mistake(&self, message: &'static str) -> Mistake {
        Mistake { at: self.at, message }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Mistake> {
        if depth > DEPTH {
            return Err(self.mistake("it is nested too deep"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(b't') => self.word("true", Kind::Bool(true))?,
            Some(b'f') => self.word("false", Kind::Bool(false))?,
            Some(b'n') => self.word("null", Kind::Null)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => return Err(self.mistake("a value was expected")),
            None => return Err(self.mistake("the text ends where a value was expected")),
        };
        Ok(Json { span: start..self.at, kind })
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, Mistake> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.mistake("a value was expected"));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn number(&mut self) -> Result<Kind, Mistake> {
        self.at = number_end(self.text.as_bytes(), self.at)?;
        Ok(Kind::Number)
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Mistake> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::List(items));
        }
        loop {
            self.space();
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::List(items));
                }
                _ => return Err(self.mistake("`,` or `]` was expected")),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Kind, Mistake> {
        self.at += 1;
        let mut members = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Map(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.mistake("a key in quotes was expected"));
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.mistake("`:` was expected"));
            }
            self.at += 1;
            self.space();
            members.push(Member { key, key_span, value: self.value(depth + 1)? });
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Map(members));
                }
                _ => return Err(self.mistake("`,` or `}` was expected")),
            }
        }
    }

    fn string(&mut self) -> Result<Arc<str>, Mistake> {
        self.at += 1;
        let start = self.at;
        let plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..=0x1f);
        let run = self.text.as_bytes()[start..].iter().take_while(|byte| plain(byte)).count();
        self.at += run;
        // Most texts hold no escape: they are one slice.
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(self.text[start..self.at - 1].into());
        }
        let mut text = String::with_capacity(2 * run + 64);
        text.push_str(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text.into());
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(0..=0x1f) => return Err(self.mistake("a control character stands in a text")),
                Some(_) => {
                    let from = self.at;
                    let run = self.text.as_bytes()[from..].iter().take_while(|byte| plain(byte)).count();
                    self.at += run;
                    text.push_str(&self.text[from..self.at]);
                }
                None => return Err(self.mistake("the text ends inside of a JSON text")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Mistake> {
        let c = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.mistake("this escape does not exist")),
        };
        self.at += 2;
        Ok(c)
    }

    fn unicode(&mut self) -> Result<char, Mistake> {
        let unit = |at: usize| {
            let digits =
                self.text.get(at + 2..at + 6).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u32::from_str_radix(digits, 16).ok()
        };
        let Some(first) = unit(self.at) else {
            return Err(self.mistake("four hexadecimal digits were expected"));
        };
        if (0xD800..0xDC00).contains(&first)
            && self.text[self.at + 6..].starts_with("\\u")
            && let Some(second @ 0xDC00..0xE000) = unit(self.at + 6)
        {
            self.at += 12;
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
        }
        self.at += 6;
        Ok(char::from_u32(first).unwrap_or('\u{fffd}'))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spelling_is_known_and_order_stays() {
        let text = "\u{feff} { \"b\" : [ 1.50 , -0, 2E+3, 18446744073709551616 ],\n\t\"a\":\"\\u4f60\\/\\ud83d\\ude42\",\"b\":null } \r\n";
        let json = Json::parse(text).expect("it is JSON");
        assert_eq!(
            json.compact(text),
            "{\"b\":[1.50,-0,2E+3,18446744073709551616],\"a\":\"你/🙂\",\"b\":null}"
        );
        assert!(json.get("b").expect("there").is_null(), "the last of two equal keys holds");
        let a = json.get("a").expect("there");
        assert_eq!(&text[a.span.clone()], "\"\\u4f60\\/\\ud83d\\ude42\"");
        assert_eq!(a.as_text().map(|text| &**text), Some("你/🙂"));
        assert_eq!(json.compact_without(text, &|key| key == "b"), "{\"a\":\"你/🙂\"}");
        let small = "{\"a\":[1.0,{}],\"b\":{\"c\":[]}}";
        let pretty = Json::parse(small).expect("it is JSON").pretty(small);
        assert_eq!(pretty, "{\n  \"a\": [\n    1.0,\n    {}\n  ],\n  \"b\": {\n    \"c\": []\n  }\n}");
        assert_eq!(Json::parse(&pretty).expect("it is JSON").compact(&pretty), small);
    }

    #[test]
    fn half_a_pair_is_a_replacement_character() {
        for (text, says) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""\ude42\ud83d\u0041""#, "\u{fffd}\u{fffd}A"),
        ] {
            assert_eq!(Json::parse(text).expect("JSON").as_text().map(|text| &**text), Some(says), "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_where_they_are() {
        for (text, at, says) in [
            ("", 0, "the text ends where a value was expected"),
            ("{\"a\":1,}", 7, "a key in quotes was expected"),
            ("{\"a\" 1}", 5, "`:` was expected"),
            ("[1 2]", 3, "`,` or `]` was expected"),
            ("{\"a\":1", 6, "`,` or `}` was expected"),
            ("[01]", 2, "`,` or `]` was expected"),
            ("[1.]", 3, "a digit was expected"),
            ("[-]", 2, "a digit was expected"),
            ("nul", 0, "a value was expected"),
            ("\"a\nb\"", 2, "a control character stands in a text"),
            ("\"a\\x\"", 2, "this escape does not exist"),
            ("\"\\u12g4\"", 1, "four hexadecimal digits were expected"),
            ("\"\\u+123\"", 1, "four hexadecimal digits were expected"),
            ("\"open", 5, "the text ends inside of a JSON text"),
            ("{} {}", 3, "something stands behind the JSON value"),
        ] {
            assert_eq!(Json::parse(text), Err(Mistake { at, message: says }), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(Json::parse(&deep).expect_err("too deep").message, "it is nested too deep");
        assert_eq!(
            Json::parse("{\n  \"a\": x}").expect_err("x").position("{\n  \"a\": x}").to_string(),
            "2:8"
        );
    }

    #[test]
    fn a_decoded_byte_is_found_in_the_spelling() {
        let spelled = r"a\n\u4f60\ud83d\ude42b";
        assert_eq!(decoded_len(spelled), 1 + 1 + 3 + 4 + 1);
        let at: Vec<usize> = (0..=10).map(|byte| spelled_at(spelled, byte)).collect();
        assert_eq!(at, [0, 1, 3, 3, 3, 9, 9, 9, 9, 21, 22]);
    }

    /// What another reader makes of it.
    fn oracle(text: &str) -> Option<serde_json::Value> {
        serde_json::from_str(text).ok()
    }

    proptest! {
        #[test]
        fn it_accepts_what_json_is(text in "[\\[\\]{},:\"\\\\ \\n0-9.eE+\\-truefalsn\\u{e9}]{0,24}") {
            let ours = Json::parse(&text).ok().map(|json| json.compact(&text));
            match oracle(&text) {
                // Numbers beyond a double are JSON and no number to others.
                None => if let Some(ours) = ours { prop_assert!(ours.contains(['e', 'E']), "{}", text) },
                Some(theirs) => prop_assert_eq!(oracle(&ours.expect("it is JSON")), Some(theirs)),
            }
        }

        #[test]
        fn texts_come_back(text in "\\PC*|[\\x00-\\x7f]{0,20}") {
            let mut quoted = String::new();
            quote(&text, &mut quoted);
            let theirs = serde_json::to_string(&text).expect("a text is JSON");
            prop_assert_eq!(&quoted, &theirs);
            let json = Json::parse(&quoted).expect("it is JSON");
            prop_assert_eq!(json.as_text().map(|text| text.to_string()), Some(text));
        }
    }
}
