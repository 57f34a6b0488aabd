//! Finding text in the editor.

use std::ops::Range;

use super::document::{Document, Place};
use crate::app::update::ranges;

/// More than this is not counted.
const MOST: usize = 10_000;

/// What is looked for in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Find {
    /// What was typed; lower case finds both cases.
    pub text: String,
    /// Where it stands: lines and bytes, in order; none until they were counted for this text.
    hits: Option<Vec<(usize, Range<usize>)>>,
}

impl Find {
    /// Looks for this.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Find {
        Find { text: text.into(), hits: None }
    }

    /// The text has changed.
    pub(super) fn forget(&mut self) {
        self.hits = None;
    }

    /// Where it stands.
    pub fn hits(&mut self, document: &Document) -> &[(usize, Range<usize>)] {
        let Find { text, hits } = self;
        hits.get_or_insert_with(|| {
            let rows = (0..document.len())
                .flat_map(|row| ranges(document.line(row), text).map(move |range| (row, range)));
            rows.take(MOST).collect()
        })
    }

    /// The first hit at or behind a place, round the end; its number and place.
    pub fn at(&mut self, document: &Document, from: Place) -> Option<(usize, Place)> {
        self.pick(document, |places| places.iter().position(|place| *place >= from).unwrap_or(0))
    }

    /// The next hit behind a place, or the one in front of it, round the ends.
    pub fn step(&mut self, document: &Document, from: Place, forward: bool) -> Option<(usize, Place)> {
        self.pick(document, |places| {
            if forward {
                places.iter().position(|place| *place > from).unwrap_or(0)
            } else {
                places.iter().rposition(|place| *place < from).unwrap_or(places.len() - 1)
            }
        })
    }

    fn pick(
        &mut self,
        document: &Document,
        choose: impl FnOnce(&[Place]) -> usize,
    ) -> Option<(usize, Place)> {
        let hits = self.hits(document);
        let places: Vec<Place> =
            hits.iter().map(|(row, range)| Place { row: *row, byte: range.start }).collect();
        if places.is_empty() {
            return None;
        }
        let at = choose(&places);
        Some((at, places[at]))
    }

    /// Which of the hits stands at a place, from 1, and how many there are; none until they were counted.
    #[must_use]
    pub fn number(&self, at: Place) -> Option<(usize, usize)> {
        let hits = self.hits.as_ref()?;
        let number = hits.partition_point(|(row, range)| (*row, range.start) <= (at.row, at.byte));
        Some((number, hits.len()))
    }

    /// Where it stands in a line.
    pub fn in_line<'a>(&'a self, line: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        ranges(line, &self.text)
    }
}
