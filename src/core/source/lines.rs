//! `lines:`: the lines of a text, so that a cap can count them before the frame is put around.
//!
//! A line ends at any line break that Unicode knows (its technical standard 18, rule 1.6), and `\n` is written for it.

use std::sync::Arc;

use minijinja::value::Value as Jinja;

use super::context::Facts;
use super::render::{self, Insert};
use super::{Failure, Scope};
use crate::core::bench::{Expression, Layer, Template};
use crate::core::fact::{EventId, FactKey, Lookup, Name, Reads, Value};
use crate::core::text::{Builder, Made, Origin, Traced, cut};

/// The text, and how many characters the cap took away.
pub(super) fn text(
    layer: &Layer,
    of: &Expression,
    frame: Option<&Template>,
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    reads: &mut Reads,
) -> Result<(Traced, usize), Failure> {
    let value = render::expression(of, scope.bench, scope.templates, facts, &[], true, reads)?;
    let text: Arc<str> =
        if value.is_none() || value.is_undefined() { "".into() } else { value.to_string().into() };
    if text.is_empty() {
        return Err(Failure::Nothing(format!("{} is empty", of.text)));
    }
    // The expression may choose among several files: the one whose text this is, is where the lines come from.
    let from =
        reads.0.iter().filter(|(_, read)| read.in_text).find_map(|(key, read)| match facts.look(key) {
            Lookup::Ready(Value::File(file), rev, _) if file.text == text => {
                Some((Made::Verbatim { source: render::file_source(&file, rev), at: 0 }, read.cause))
            }
            Lookup::Ready(Value::Text(fact), rev, _) if fact == text && matches!(key, FactKey::Named(_)) => {
                Some((Made::Fact { key: key.clone(), rev, placeholder: None }, read.cause))
            }
            _ => None,
        });
    let (made, cause) = from.unwrap_or((Made::Literal, EventId::OPENING));
    let mut lines = broken_at_newlines(&layer.id, text, made, cause);
    let mut lost = 0;
    if let Some(cap) = &layer.cap {
        (lines, lost) = cut::traced(&lines, cap);
    }
    let Some(frame) = frame else { return Ok((lines, lost)) };
    let insert = Insert { name: "lines", text: &lines };
    let text = render::template(
        &layer.id,
        frame,
        scope,
        facts,
        &[("lines", Jinja::from(lines.text().clone()))],
        Some(&insert),
        reads,
    )?;
    Ok((text, lost))
}

/// The text with `\n` for every line break. What stays as it is keeps its place in the source; the line breaks that are
/// written instead of others belong to the layer.
fn broken_at_newlines(layer: &Name, text: Arc<str>, made: Made, cause: EventId) -> Traced {
    if !text.contains(is_other_break) {
        return Traced::whole(layer.clone(), text, made, cause);
    }
    let origin = |made| Arc::new(Origin { part: layer.clone(), made, cause });
    let copied = |at: usize| match &made {
        Made::Verbatim { source, at: start } => Made::Verbatim { source: source.clone(), at: start + at },
        made => made.clone(),
    };
    let written = origin(Made::Literal);
    let mut builder = Builder::default();
    builder.begin(layer.clone(), Arc::default());
    let mut done = 0;
    for (at, other) in text.match_indices(is_other_break) {
        builder.push(&text[done..at], origin(copied(done)), false);
        done = at + other.len();
        // Of CR LF, the second stays as it is.
        if !text[at..].starts_with("\r\n") {
            builder.push("\n", written.clone(), false);
        }
    }
    builder.push(&text[done..], origin(copied(done)), false);
    builder.finish()
}

/// A line break other than `\n`: carriage return, vertical tab, form feed, next line, and the separators of lines and
/// paragraphs.
fn is_other_break(c: char) -> bool {
    matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::text::Source;
    use proptest::prelude::*;

    fn broken(text: &str) -> Traced {
        let made = Made::Verbatim { source: Source::file("a.md", text), at: 0 };
        broken_at_newlines(&"rules".into(), text.into(), made, EventId(3))
    }

    #[test]
    fn every_line_break_is_written_as_one_newline() {
        for (text, want) in [
            ("a\nb", "a\nb"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\rb\r\rc", "a\nb\n\nc"),
            ("a\n\rb", "a\n\nb"),
            ("一\u{2028}二\u{2029}三\u{85}四", "一\n二\n三\n四"),
            ("a\u{b}b\u{c}c", "a\nb\nc"),
            ("\r", "\n"),
        ] {
            assert_eq!(&**broken(text).text(), want, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_stays_is_found_in_its_source(text in "(a|\n|\r|\r\n|\u{2028}|\u{85}|字){0,40}") {
            let lines = broken(&text);
            prop_assert!(!lines.text().contains(is_other_break));
            prop_assert_eq!(lines.spans().last().map_or(0, |span| span.end), lines.len());
            for (range, span) in lines.ranges() {
                prop_assert_eq!(span.origin.cause, EventId(3));
                match &span.origin.made {
                    Made::Verbatim { source, at } => {
                        prop_assert_eq!(&source.text[*at..at + range.len()], &lines.text()[range]);
                    }
                    _ => prop_assert_eq!(&lines.text()[range], "\n"),
                }
            }
        }
    }
}
