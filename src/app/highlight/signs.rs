//! What prompts have beside Markdown: tags that frame sections, and what templates write values for.

use std::ops::Range;

/// The longest tag that is looked for, in bytes.
const LONGEST_TAG: usize = 400;
/// The longest placeholder.
const LONGEST_PLACEHOLDER: usize = 4000;

/// The tags of a text: `<name>`, `</name>`, `<name key="value"/>`, on one line. A name begins with a letter of any script.
pub(super) fn tags(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text[at..].find('<')?;
            let start = at;
            at += 1;
            // `Vec<u8>` is no tag; what closes one may stand right behind a word.
            let opens = !text[at..].starts_with('/');
            let joined = text[..start].ends_with(|c: char| c.is_ascii_alphanumeric());
            if let Some(len) = tag_len(&text[start..]).filter(|_| !(opens && joined)) {
                at = start + len;
                return Some(start..at);
            }
        }
    })
}

/// The length of the tag that a text begins with.
fn tag_len(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('<')?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let mut letters = rest.char_indices();
    letters.next().filter(|(_, c)| c.is_alphabetic() || *c == '_')?;
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let name = letters.find(|(_, c)| !part(*c)).map_or(rest.len(), |(at, _)| at);
    let behind = &rest[name..];
    // `a<b` and `Vec<u8>` are no tags of a prompt, `<https://..>` is a link.
    if !behind.starts_with(['>', '/', ' ']) || rest[..name].ends_with(':') {
        return None;
    }
    let mut quote = None;
    for (at, byte) in behind.bytes().take(LONGEST_TAG).enumerate() {
        match (byte, quote) {
            (b'\n', _) | (b'<', None) => return None,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (b'>', None) => return Some(text.len() - behind.len() + at + 1),
            _ => {}
        }
    }
    None
}

/// True for a line that is nothing but tags: Markdown would take what follows it for HTML as well, up to an empty line.
pub(super) fn only_tags(line: &str) -> bool {
    let mut rest = line.trim();
    let any = rest.starts_with('<');
    while let Some(len) = tag_len(rest) {
        rest = rest[len..].trim_start();
    }
    any && rest.is_empty()
}

/// A piece of a template that is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// `{{ value }}`.
    Placeholder(Range<usize>),
    /// `{% if ... %}`.
    Statement(Range<usize>),
    /// `{# ... #}`.
    Comment(Range<usize>),
}

/// The placeholders, statements and comments of a template, with their braces. Strings inside may hold braces.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text[at..].find('{')?;
            let start = at;
            at += 1;
            let close = match text.as_bytes().get(at) {
                Some(b'{') => "}}",
                Some(b'%') => "%}",
                Some(b'#') => "#}",
                _ => continue,
            };
            let Some(end) = close_of(&text[start + 2..], close) else { continue };
            at = start + 2 + end;
            return Some(match close {
                "}}" => Piece::Placeholder(start..at),
                "%}" => Piece::Statement(start..at),
                _ => Piece::Comment(start..at),
            });
        }
    })
}

/// Where a placeholder ends that begins in front of `text`.
fn close_of(text: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().take(LONGEST_PLACEHOLDER).enumerate() {
        match (byte, quote) {
            (_, Some(_)) if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (byte, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) if close != "#}" => quote = Some(byte),
            (byte, None) if byte == close.as_bytes()[0] && text[at..].starts_with(close) => {
                return Some(at + close.len());
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_any_script() {
        let found = |text: &'static str| tags(text).map(|range| &text[range]).collect::<Vec<_>>();
        assert_eq!(
            found("<dynamic-context>\n环境\n</dynamic-context>"),
            ["<dynamic-context>", "</dynamic-context>"]
        );
        assert_eq!(found("<规则 级别=\"高>低\"> x <br/>"), ["<规则 级别=\"高>低\">", "<br/>"]);
        assert_eq!(found("a < b, a<b, x<-y, <https://a.b>, Vec<u8>, <3, <a\nb>"), [""; 0]);
        assert_eq!(found("word</b>, 字<b>"), ["</b>", "<b>"]);
        assert_eq!(found("<<<mark>>>"), ["<mark>"]);
        assert!(only_tags("  <a> <b x='1'> "));
        assert!(!only_tags("<a> text") && !only_tags("") && !only_tags("text"));
    }

    #[test]
    fn placeholders_end_where_jinja_ends_them() {
        let text = "a {{ cwd }} {% if x == \"%}\" %}b{# {{ no }} #}{{ \"}}\" }} { x } {{ open";
        let found: Vec<_> = pieces(text)
            .map(|piece| match piece {
                Piece::Placeholder(range) => ('p', &text[range]),
                Piece::Statement(range) => ('s', &text[range]),
                Piece::Comment(range) => ('c', &text[range]),
            })
            .collect();
        assert_eq!(
            found,
            [
                ('p', "{{ cwd }}"),
                ('s', "{% if x == \"%}\" %}"),
                ('c', "{# {{ no }} #}"),
                ('p', "{{ \"}}\" }}"),
            ]
        );
    }
}
