//! What texts are made of (headings, tags, keys, strings) and how they are laid out for reading.
//!
//! A text is first shown plain. What is on the screen is sent to a worker ([`worker`]), which answers with a [`Paint`];
//! the next frame uses it. Paints are kept by content, so that a text that was seen before is never looked at again. No
//! frame waits for any of this, and nothing of it runs while nothing happens.

mod json;
mod language;
mod markdown;
mod paints;
mod sheet;
mod signs;
mod syntax;
pub mod worker;

use std::ops::Range;
use std::sync::Arc;

use crate::app::editor::Document;

pub use language::Language;
pub use paints::{Paints, wants};
pub use sheet::{Line, Piece, Sheet};

/// What a run of bytes is in its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// The heading of the first level.
    Title = 1,
    /// Any other heading.
    Heading,
    /// Emphasis.
    Emphasis,
    /// Strong emphasis.
    Strong,
    /// Code in a text.
    Code,
    /// The text of a link.
    Link,
    /// What is quoted.
    Quote,
    /// A tag with its angle brackets.
    Tag,
    /// A key of data, the name of an attribute.
    Key,
    /// A string.
    String,
    /// A number.
    Number,
    /// A word with a meaning in its language: `true`, `if`.
    Keyword,
    /// A comment.
    Comment,
    /// Signs that only mark up what they stand at: `#`, `**`, a fence.
    Mark,
    /// What a template writes a value for, with its braces.
    Placeholder,
}

impl Class {
    const ALL: [Class; 15] = [
        Class::Title,
        Class::Heading,
        Class::Emphasis,
        Class::Strong,
        Class::Code,
        Class::Link,
        Class::Quote,
        Class::Tag,
        Class::Key,
        Class::String,
        Class::Number,
        Class::Keyword,
        Class::Comment,
        Class::Mark,
        Class::Placeholder,
    ];
}

/// What is known of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paint {
    /// Runs of bytes with a class, in order, none overlapping another.
    pub spans: Vec<(Range<usize>, Class)>,
    /// Up to this byte the spans are right; behind it they are missing, or a guess where the screen needed one early.
    pub done: usize,
    /// The text laid out for reading; none where there is nothing to lay out.
    pub sheet: Option<Arc<Sheet>>,
    /// The characters that nobody sees, with their byte offsets.
    pub hidden: Arc<[(usize, char)]>,
    /// Where the lines of an editor's text begin; empty for others.
    pub starts: Arc<[usize]>,
}

impl Paint {
    /// The spans that touch a range of bytes, cut to it.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Class)> + '_ {
        let first = self.spans.partition_point(|(span, _)| span.end <= range.start);
        self.spans[first..]
            .iter()
            .take_while(move |(span, _)| span.start < range.end)
            .map(move |(span, class)| (span.start.max(range.start)..span.end.min(range.end), *class))
    }
}

/// A text that is to be looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Want {
    /// Which text it is.
    pub id: Id,
    /// The text.
    pub text: Text,
    /// The bytes of it that are meant; all of them for the text of an editor.
    pub range: Range<usize>,
    /// What it is written in.
    pub language: Language,
    /// The bytes that are on the screen, in the text's range from 0: they come first. Of an editor's text the lines.
    pub visible: Range<usize>,
}

/// A text as it is handed to the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    /// In one piece.
    Whole(Arc<str>),
    /// As the editor has it: the worker puts it together.
    Lines(Document),
}

/// A want whose text is in one piece.
struct Whole<'w> {
    id: Id,
    text: Arc<str>,
    range: Range<usize>,
    language: &'w Language,
    visible: Range<usize>,
    /// Where the lines of an editor's text begin; empty for others.
    starts: Arc<[usize]>,
}

impl Want {
    fn whole(&self) -> Whole<'_> {
        let (id, language) = (self.id, &self.language);
        let document = match &self.text {
            Text::Whole(text) => {
                let (text, range, visible) = (text.clone(), self.range.clone(), self.visible.clone());
                return Whole { id, text, range, language, visible, starts: Arc::default() };
            }
            Text::Lines(document) => document,
        };
        let mut text = String::with_capacity(document.chars() * 2);
        let mut starts = Vec::with_capacity(document.len());
        for (row, line) in document.lines().enumerate() {
            if row > 0 {
                text.push('\n');
            }
            starts.push(text.len());
            text.push_str(line);
        }
        let byte = |line: usize| starts.get(line).copied().unwrap_or(text.len());
        let visible = byte(self.visible.start)..byte(self.visible.end);
        Whole { id, range: 0..text.len(), text: text.into(), language, visible, starts: starts.into() }
    }
}

impl Whole<'_> {
    /// The text that is meant.
    fn own(&self) -> &str {
        &self.text[self.range.clone()]
    }
}

/// Which text a paint is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A text with this hash, in whatever request it stands.
    Content(u64),
    /// The text of an editor, by its number and its serial.
    Editor(u32, u32),
}

impl Id {
    /// The id of a text in a language.
    #[must_use]
    pub fn of(text: &str, language: &Language) -> Id {
        Id::Content(xxhash_rust::xxh3::xxh3_64_with_seed(text.as_bytes(), language.seed()))
    }
}

/// A class for each byte, from which spans are made.
struct Canvas(Vec<u8>);

impl Canvas {
    fn new(len: usize) -> Canvas {
        Canvas(vec![0; len])
    }

    /// Gives bytes a class, whatever they had before.
    fn put(&mut self, range: Range<usize>, class: Class) {
        let end = range.end.min(self.0.len());
        if let Some(bytes) = self.0.get_mut(range.start.min(end)..end) {
            bytes.fill(class as u8);
        }
    }

    fn at(&self, byte: usize) -> Option<Class> {
        class_of(self.0.get(byte).copied().unwrap_or(0))
    }

    fn spans(&self) -> Vec<(Range<usize>, Class)> {
        let mut spans = Vec::new();
        let mut at = 0;
        for run in self.0.chunk_by(|a, b| a == b) {
            if let Some(class) = class_of(run[0]) {
                spans.push((at..at + run.len(), class));
            }
            at += run.len();
        }
        spans
    }
}

fn class_of(byte: u8) -> Option<Class> {
    Class::ALL.get(usize::from(byte).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests;
