//! The same text, said by two layers of one request.
//!
//! Paragraphs are compared, as they are sent but for white space around them. Short ones are left alone: a heading or a
//! phrase may well stand twice. So is what one layer says several times, and what the user typed, which a layer that
//! repeats it does on purpose.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Finding, Lint, Price, Subject, at_byte, shown, source_of};
use crate::core::fact::{FactKey, Name};
use crate::core::text::width::width;
use crate::core::text::{Made, Part, Traced};

/// The fewest cells of a paragraph that is compared: two lines of Latin text, some sixty Chinese characters.
const LEAST: usize = 120;

/// A paragraph of a request.
#[derive(Clone, Copy)]
struct Paragraph<'a> {
    text: &'a Traced,
    part: &'a Part,
    /// Where it starts in its block.
    at: usize,
    body: &'a str,
}

pub(super) fn check(subject: &Subject<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    let mut first: BTreeMap<&str, Paragraph<'_>> = BTreeMap::new();
    // By the two layers: what they both say.
    let mut pairs: BTreeMap<(Name, Name), Vec<(Paragraph<'_>, Paragraph<'_>)>> = BTreeMap::new();
    for block in &subject.request.blocks {
        let text = &block.text;
        for part in text.parts().iter().filter(|part| subject.bench.layer(&part.id).is_some()) {
            for range in paragraphs(&text.text()[part.body..part.end]) {
                let at = part.body + range.start;
                let body = &text.text()[at..part.body + range.end];
                let paragraph = Paragraph { text, part, at, body };
                if is_typed(paragraph) {
                    continue;
                }
                match first.get(body) {
                    None => drop(first.insert(body, paragraph)),
                    Some(before) if before.part.id != part.id => {
                        let key = (before.part.id.clone(), part.id.clone());
                        pairs.entry(key).or_default().push((*before, paragraph));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    pairs.into_iter().map(|(key, found)| finding(subject, key, &found, price)).collect()
}

/// The paragraphs that are long enough, as byte ranges, without the white space around them.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for piece in text.split("\n\n") {
        let body = piece.trim();
        let at = start + (piece.len() - piece.trim_start().len());
        start += piece.len() + 2;
        // Most are told apart by their bytes: no character takes more cells than bytes, and few fewer than a third.
        if body.len() >= LEAST && (body.is_ascii() || width(body) >= LEAST) {
            found.push(at..at + body.len());
        }
    }
    found
}

/// True for what the user typed.
fn is_typed(paragraph: Paragraph<'_>) -> bool {
    let said =
        |made: &Made| matches!(made, Made::Fact { key: FactKey::Named(name), .. } if &**name == "said");
    paragraph.text.span_at(paragraph.at).is_some_and(|(_, span)| said(&span.origin.made))
}

fn finding(
    subject: &Subject<'_>,
    (one, other): (Name, Name),
    found: &[(Paragraph<'_>, Paragraph<'_>)],
    price: &mut Price<'_>,
) -> Finding {
    let bench = subject.bench;
    let tokens: Option<u64> = found.iter().map(|(_, again)| price.tokens(again.body)).sum();
    let (before, again) = found[0];
    let what = match found.len() {
        1 => "a paragraph".to_owned(),
        count => format!("{count} paragraphs"),
    };
    let cost = match price.words(tokens) {
        words if words.is_empty() => words,
        words => format!(": {words} twice in every request"),
    };
    let (first, second) = (shown(bench, &one), shown(bench, &other));
    let message = format!("{second} says {what} that {first} says, too ({}){cost}", place(before));
    let hint = match shared_file(before, again) {
        Some(file) => format!("both show {file}: one of the two roads is enough"),
        None if is_made(before) != is_made(again) => {
            let (copy, from) = if is_made(again) { (second, first) } else { (first, second) };
            format!("{copy} looks like a generated copy of {from}: leave one of them out")
        }
        None => format!("keep it in {first} or in {second}"),
    };
    let diagnostic = at_byte(bench, again.text, again.part, again.at, message).hint(hint);
    Finding::new(Lint::Duplicate, subject, vec![other, one], tokens, diagnostic)
}

/// Where a paragraph is written: `prompt.md:3:1`, else the layer alone.
fn place(paragraph: Paragraph<'_>) -> String {
    match source_of(paragraph.text, paragraph.at) {
        Some((file, at, _)) => format!("{file}:{at}"),
        None => match paragraph.text.span_at(paragraph.at).map(|(_, span)| &span.origin.made) {
            Some(Made::Fact { key, .. }) => key.to_string(),
            _ => "written by the bench".to_owned(),
        },
    }
}

/// The file from which both come.
fn shared_file(one: Paragraph<'_>, other: Paragraph<'_>) -> Option<Name> {
    let file = |paragraph: Paragraph<'_>| match &paragraph.text.span_at(paragraph.at)?.1.origin.made {
        Made::Verbatim { source, .. } => Some(source.name.clone()),
        Made::Fact { key, .. } if key.is_external() => Some(key.to_string().into()),
        Made::Fact { .. } | Made::Derived { .. } => only_file(paragraph),
        Made::Literal => None,
    };
    let (a, b) = (file(one)?, file(other)?);
    (a == b).then_some(a)
}

/// The file that a layer read, where it read one only.
fn only_file(paragraph: Paragraph<'_>) -> Option<Name> {
    let mut files = paragraph.part.reads.0.keys().filter(|key| {
        matches!(key, FactKey::File(path) | FactKey::Document(path) if path.base != crate::core::fact::Base::Bench)
    });
    match (files.next(), files.next()) {
        (Some(file), None) => Some(file.to_string().into()),
        _ => None,
    }
}

/// True for what was made by an expression, and is not a text copied as it stands.
fn is_made(paragraph: Paragraph<'_>) -> bool {
    let made = paragraph.text.span_at(paragraph.at).map(|(_, span)| &span.origin.made);
    matches!(made, Some(Made::Derived { .. } | Made::Fact { .. }))
}
