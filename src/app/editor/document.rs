//! The text that is edited: its lines, and for each the line of the file that it is.

use std::ops::Range;

use super::lines::Lines;
use crate::core::diff::lines::hunks as differences;
use crate::io::edit::{Hunk, Original};

/// A place in the text: a line and a byte of it, both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub row: usize,
    /// The byte of the line, at a character boundary.
    pub byte: usize,
}

/// A line of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its text, without a line end.
    pub(super) text: String,
    /// The line of the file that it is; none for one that was typed.
    from: Option<u32>,
}

/// Text between two lines, as [`Document::replace`] took it out.
pub(super) type Taken = Vec<Line>;

/// A text as lines. A copy shares them.
#[derive(Clone, Debug, Default)]
pub struct Document {
    lines: Lines,
    /// The characters of all lines, without line ends.
    chars: usize,
    /// So many lines at the start, and at the end, are the first and the last of the file that it was made from or rebased
    /// on: what was changed lies between them. They overlap only in the file's own text.
    untouched: (usize, usize),
}

/// The same lines, each the same line of the file.
impl PartialEq for Document {
    fn eq(&self, other: &Document) -> bool {
        self.lines == other.lines
    }
}

impl Eq for Document {}

impl Document {
    /// The text of a file.
    #[must_use]
    pub fn new(file: &Original) -> Document {
        let line = |(row, text): (usize, &str)| Line { text: text.to_owned(), from: u32::try_from(row).ok() };
        let lines: Vec<Line> = file.lines().enumerate().map(line).collect();
        let chars = lines.iter().map(|line| count(&line.text)).sum();
        let untouched = (lines.len(), lines.len());
        Document { lines: Lines::new(lines), chars, untouched }
    }

    /// The number of lines, at least one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// True for a text without a character.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.len() == 1 && self.lines.get(0).text.is_empty()
    }

    /// A line; the last one where there are not so many.
    #[must_use]
    pub fn line(&self, row: usize) -> &str {
        &self.lines.get(row).text
    }

    /// All lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &*line.text)
    }

    /// The number of characters, a line end counted as one.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.chars + self.lines.len() - 1
    }

    /// The end of the text.
    #[must_use]
    pub fn end(&self) -> Place {
        let row = self.lines.len() - 1;
        Place { row, byte: self.lines.get(row).text.len() }
    }

    /// The nearest place that is in the text, at a character boundary.
    #[must_use]
    pub fn clamp(&self, place: Place) -> Place {
        let row = place.row.min(self.lines.len() - 1);
        let line = &self.lines.get(row).text;
        let mut byte = place.byte.min(line.len());
        while !line.is_char_boundary(byte) {
            byte -= 1;
        }
        Place { row, byte }
    }

    /// Puts lines in the place of others and gives those; there is always a line left.
    pub(super) fn replace(&mut self, rows: Range<usize>, lines: Taken) -> Taken {
        let start = rows.start.min(self.lines.len());
        let end = rows.end.clamp(start, self.lines.len());
        let (head, tail) = self.untouched;
        // The lines at the end are counted from the end: they stay where they are.
        let behind = self.lines.len() - end;
        self.untouched = (head.min(start), tail.min(behind));
        self.chars += lines.iter().map(|line| count(&line.text)).sum::<usize>();
        let taken: Taken = self.lines.splice(start..end, lines);
        self.chars -= taken.iter().map(|line| count(&line.text)).sum::<usize>();
        taken
    }

    /// What has to be changed in the file to make it this text.
    #[must_use]
    pub fn hunks(&self, file: &Original) -> Vec<Hunk> {
        let mut out: Vec<Hunk> = Vec::new();
        let (head, tail) = self.untouched;
        if head + tail > self.lines.len() {
            return out;
        }
        let mut at = head;
        let between = self.lines.range(head..self.lines.len() - tail);
        let stop = file.len() - tail;
        let mut typed: Vec<String> = Vec::new();
        let mut close = |at: usize, to: usize, typed: &mut Vec<String>| {
            let hunk = trimmed(Hunk { old: at..to, new: std::mem::take(typed) }, file);
            if !(hunk.old.is_empty() && hunk.new.is_empty()) {
                out.push(hunk);
            }
        };
        for line in between {
            // A line that was taken out and put in elsewhere is a new one there.
            match line.from.map(|from| from as usize).filter(|from| *from >= at && *from < stop) {
                Some(from) => {
                    if from > at || !typed.is_empty() {
                        close(at, from, &mut typed);
                    }
                    at = from + 1;
                }
                None => typed.push(line.text.clone()),
            }
        }
        close(at, stop, &mut typed);
        out
    }

    /// Takes another file for what is to be changed; the text stays.
    pub fn rebase(&mut self, file: &Original) {
        let old: Vec<&str> = file.lines().collect();
        let new: Vec<&str> = self.lines.iter().map(|line| &*line.text).collect();
        let found = differences(&old, &new);
        drop(new);
        let mut changed = found.into_iter().peekable();
        let mut from = 0u32;
        self.lines.each_mut(|row, line| {
            while let Some(hunk) = changed.next_if(|hunk| hunk.new.end <= row) {
                from = hunk.old.end as u32;
            }
            let typed = changed.peek().is_some_and(|hunk| hunk.new.contains(&row));
            line.from = (!typed).then_some(from);
            from += u32::from(!typed);
        });
        let of_file = |row: usize, line: u32| self.lines.get(row).from == Some(line);
        let len = self.lines.len();
        let head = (0..len.min(file.len())).take_while(|&row| of_file(row, row as u32)).count();
        let tail = (1..=len.min(file.len()))
            .take_while(|&back| of_file(len - back, (file.len() - back) as u32))
            .count();
        self.untouched = (head, tail);
    }
}

impl Line {
    /// A line that was typed.
    pub(super) fn typed(text: String) -> Line {
        Line { text, from: None }
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// A hunk without lines at its ends that are what the file holds anyway.
fn trimmed(mut hunk: Hunk, file: &Original) -> Hunk {
    let len = hunk.old.len().min(hunk.new.len());
    let start = (0..len).take_while(|at| hunk.new[*at] == file.line(hunk.old.start + at)).count();
    let end = (0..len - start)
        .take_while(|at| hunk.new[hunk.new.len() - 1 - at] == file.line(hunk.old.end - 1 - at))
        .count();
    hunk.old = hunk.old.start + start..hunk.old.end - end;
    hunk.new.truncate(hunk.new.len() - end);
    hunk.new.drain(..start);
    hunk
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(text: &str) -> Original {
        Original::of(text.as_bytes()).expect("text")
    }

    fn typed(lines: &[&str]) -> Taken {
        lines.iter().map(|line| Line::typed((*line).to_owned())).collect()
    }

    #[test]
    fn a_line_that_is_typed_back_is_no_change() {
        let original = file("a\nb\nc\n");
        let mut document = Document::new(&original);
        document.replace(1..2, typed(&["x"]));
        assert_eq!(document.hunks(&original), [Hunk { old: 1..2, new: vec!["x".into()] }]);
        document.replace(1..2, typed(&["b"]));
        assert_eq!(document.hunks(&original), []);
        document.replace(0..4, Vec::new());
        assert_eq!(document.hunks(&original), [Hunk { old: 0..3, new: vec![] }]);
        assert!(document.is_empty());
    }

    #[test]
    fn what_is_taken_out_and_put_back_is_what_it_was() {
        let original = file("a\r\na\na");
        let mut document = Document::new(&original);
        let taken = document.replace(0..2, typed(&["你好"]));
        assert_eq!(document.chars(), 4);
        document.replace(0..1, taken);
        assert_eq!(document, Document::new(&original));
    }

    proptest! {
        /// Whatever is done to the text, its hunks make the file that text, and so they do after a change of the file.
        #[test]
        fn hunks_make_the_file_the_text(
            text in "[a-c\n\r]{0,30}", other in "[a-c\n]{0,30}",
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..3, prop::collection::vec("[a-c]{0,2}", 0..3)), 0..6),
        ) {
            let original = file(&text);
            let mut document = Document::new(&original);
            for (at, remove, new) in edits {
                let row = at.index(document.len());
                document.replace(row..row + remove, typed(&new.iter().map(String::as_str).collect::<Vec<_>>()));
            }
            let lines: Vec<String> = (0..document.len()).map(|row| document.line(row).to_owned()).collect();
            prop_assert_eq!(document.chars(), lines.join("\n").chars().count());
            for base in [original, file(&other)] {
                document.rebase(&base);
                let saved = base.apply(&base.splices(&document.hunks(&base))).expect("text");
                let saved = Original::of(saved).expect("text");
                prop_assert_eq!(saved.lines().collect::<Vec<_>>(), lines.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }
}
