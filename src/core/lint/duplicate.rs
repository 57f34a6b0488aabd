//! The same text, said by two layers of one request.
//!
//! Paragraphs are compared, as they are sent but for white space around them. Short ones are left alone: a heading or a
//! phrase may well stand twice. So is what one layer's own template says several times, and what the user typed, which a
//! layer that repeats it does on purpose. What one layer shows of several files counts: a copy of a project inside of
//! itself, as worktrees are, brings every rule twice.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Finding, Lint, Price, Subject, at_byte, shown, source_of};
use crate::core::bench::{Bench, LayerSource};
use crate::core::fact::{FactKey, Name};
use crate::core::fix::{Change, Fix};
use crate::core::text::width::width;
use crate::core::text::{Made, Part, Traced};
use crate::core::wire::Request;

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

/// A paragraph as it is said first, and as it is said again.
type Pair<'a> = (Paragraph<'a>, Paragraph<'a>);

pub(super) fn check(subject: &Subject<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    let mut pairs: BTreeMap<(Name, Name), Vec<Pair<'_>>> = BTreeMap::new();
    for (_, pair) in twice(subject.bench, subject.request) {
        let key = (pair.0.part.id.clone(), pair.1.part.id.clone());
        pairs.entry(key).or_default().push(pair);
    }
    pairs.into_iter().map(|(key, found)| finding(subject, key, &found, price)).collect()
}

/// What is said twice in a request, with the block in which it is said again.
fn twice<'a>(bench: &Bench, request: &'a Request) -> Vec<(usize, Pair<'a>)> {
    let mut first: BTreeMap<&str, Paragraph<'a>> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, block) in request.blocks.iter().enumerate() {
        let text = &block.text;
        for part in text.parts() {
            let Some(layer) = bench.layer(&part.id) else { continue };
            let of_files = matches!(layer.from, LayerSource::Each { .. });
            for range in paragraphs(&text.text()[part.body..part.end]) {
                let at = part.body + range.start;
                let body = &text.text()[at..part.body + range.end];
                let paragraph = Paragraph { text, part, at, body };
                if is_typed(paragraph) {
                    continue;
                }
                match first.get(body) {
                    None => drop(first.insert(body, paragraph)),
                    // The same block may hold a part of the same layer in an earlier message: that is history.
                    Some(before) if before.part.id != part.id => found.push((index, (*before, paragraph))),
                    Some(before) => {
                        let here = std::ptr::eq(before.text, text);
                        if here && of_files && is_made(*before) && is_made(paragraph) {
                            found.push((index, (*before, paragraph)));
                        }
                    }
                }
            }
        }
    }
    found
}

/// Where a layer says in a request what was said before: by block, the byte ranges, in order.
pub(super) fn said_twice(
    bench: &Bench,
    request: &Request,
    layer: &Name,
) -> BTreeMap<usize, Vec<Range<usize>>> {
    let mut ranges: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
    for (block, (_, again)) in twice(bench, request) {
        if again.part.id == *layer {
            ranges.entry(block).or_default().push(again.at..again.at + again.body.len());
        }
    }
    ranges
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
    let message = if one == other {
        format!("{second} says {what} twice{cost}")
    } else {
        format!("{second} says {what} that {first} says, too ({}){cost}", place(before))
    };
    let shared = shared_file(before, again).filter(|_| one != other);
    let hint = match (shared, link(subject, before, again)) {
        (Some(file), _) => format!("both show {file}: one of the two roads is enough"),
        (None, Some((link, file))) => format!("{link} is a link to {file}: one of the two roads is enough"),
        (None, None) if one == other => {
            "two of its files hold the same text: leave one of them out of what it shows".to_owned()
        }
        (None, None) if is_made(before) != is_made(again) => {
            let (copy, from) = if is_made(again) { (second.clone(), first) } else { (first, second.clone()) };
            format!("{copy} looks like a generated copy of {from}: leave one of them out")
        }
        (None, None) => format!("keep it in {first} or in {second}"),
    };
    // Where hardly anything else is left of the layer, it can go.
    let said: usize = found.iter().map(|(_, again)| width(again.body)).sum();
    let rest = width(&again.text[again.part]).saturating_sub(said);
    let off = (one != other && rest < LEAST)
        .then(|| Fix::new(format!("leave {second} out"), [Change::Off(other.clone())]));
    let about = if one == other { vec![other] } else { vec![other, one] };
    let diagnostic = at_byte(bench, again.text, again.part, again.at, message).hint(hint);
    Finding::new(Lint::Duplicate, subject, about, tokens, diagnostic).fixed_by(off)
}

/// Where one of two files is a link to the other: the link and the file.
fn link(subject: &Subject<'_>, one: Paragraph<'_>, other: Paragraph<'_>) -> Option<(Name, Name)> {
    let (a, b) = (file_of(one)?, file_of(other)?);
    let real = |name: &Name| subject.links.get(name).cloned().unwrap_or_else(|| name.clone());
    (a != b && real(&a) == real(&b)).then(|| if subject.links.contains_key(&b) { (b, a) } else { (a, b) })
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
    let (a, b) = (file_of(one)?, file_of(other)?);
    (a == b).then_some(a)
}

/// The file from which a paragraph comes, where that can be told.
fn file_of(paragraph: Paragraph<'_>) -> Option<Name> {
    match &paragraph.text.span_at(paragraph.at)?.1.origin.made {
        Made::Verbatim { source, .. } => Some(source.name.clone()),
        Made::Fact { key, .. } if key.is_external() => Some(key.to_string().into()),
        Made::Fact { .. } | Made::Derived { .. } => only_file(paragraph),
        Made::Literal => None,
    }
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
