//! Markers in texts that stand between markers.

use std::sync::Arc;

use crate::core::bench::Markers;
use crate::core::fact::Name;
use crate::core::text::{Builder, Made, Origin, Traced};

/// What is written behind the first character of a marker to break it. No marker holds it, so that no text can become
/// a marker by it.
const BREAK: &str = "\\";

/// A text in which no marker stands, and the parts in which one stood. Where a marker began in one part and ended in
/// another, it is that in which it began.
pub(super) fn broken(markers: Option<&Markers>, text: &Traced) -> (Traced, Vec<Name>) {
    let Some(markers) = markers else { return (text.clone(), Vec::new()) };
    let bytes = text.text();
    let mut breaks: Vec<usize> = [&markers.start, &markers.end]
        .into_iter()
        .filter(|marker| !marker.is_empty())
        .flat_map(|marker| {
            let first = marker.chars().next().map_or(0, char::len_utf8);
            // They may overlap, so each is looked for behind the start of the one before.
            let mut from = 0;
            std::iter::from_fn(move || {
                let at = from + bytes.get(from..)?.find(&**marker)?;
                from = at + first;
                Some(at + first)
            })
        })
        .collect();
    if breaks.is_empty() {
        return (text.clone(), Vec::new());
    }
    breaks.sort_unstable();
    breaks.dedup();
    let mut parts: Vec<Name> = Vec::new();
    for &at in &breaks {
        if let Some(part) = text.part_at(at - 1)
            && !parts.contains(&part.id)
        {
            parts.push(part.id.clone());
        }
    }
    (with_breaks(text, &breaks), parts)
}

/// The text with the break at these bytes, which are ascending. It belongs to whoever wrote the byte before.
fn with_breaks(text: &Traced, breaks: &[usize]) -> Traced {
    let mut builder = Builder::default();
    let mut breaks = breaks.iter().copied().peekable();
    let mut ranges = text.ranges().peekable();
    for part in text.parts() {
        builder.begin(part.id.clone(), part.reads.clone());
        while let Some((range, span)) = ranges.next_if(|(range, _)| range.end <= part.end) {
            let mut from = range.start;
            while let Some(at) = breaks.next_if(|at| *at <= range.end) {
                builder.push(&text.text()[from..at], piece(&span.origin, from - range.start), span.glue);
                let written = Origin { made: Made::Literal, ..(*span.origin).clone() };
                builder.push(BREAK, Arc::new(written), span.glue);
                from = at;
            }
            builder.push(&text.text()[from..range.end], piece(&span.origin, from - range.start), span.glue);
        }
    }
    builder.finish()
}

/// The origin of a span's rest, `skipped` bytes into it.
fn piece(origin: &Arc<Origin>, skipped: usize) -> Arc<Origin> {
    match &origin.made {
        Made::Verbatim { source, at } if skipped > 0 => {
            let made = Made::Verbatim { source: source.clone(), at: at + skipped };
            Arc::new(Origin { made, ..(**origin).clone() })
        }
        _ => origin.clone(),
    }
}
