//! Traced text: every byte knows who wrote it, from what, and because of which event.

use std::ops::Range;
use std::sync::Arc;

use crate::core::diagnostic::Position;
use crate::core::fact::{EventId, FactKey, Name, Reads, Rev, Value};

/// A text that prompt text was made from: a template, a file, a scalar of the bench.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file as the user would name it.
    pub name: Name,
    /// Its text.
    pub text: Arc<str>,
    /// The revision of the text.
    pub rev: Rev,
    /// Where the text starts in that file: [`Position::START`] for a whole file, elsewhere for a scalar of the bench.
    pub start: Position,
    /// For a scalar that is not written in the file as it reads (escapes, indentation, folded lines), and for a file of
    /// which something was left out: byte offsets of the text, ascending, with the positions in the file where the text
    /// goes on. Empty for a whole file.
    pub jumps: Arc<[(usize, Position)]>,
}

impl Source {
    /// A whole file.
    #[must_use]
    pub fn file(name: impl Into<Name>, text: impl Into<Arc<str>>) -> Arc<Source> {
        let text: Arc<str> = text.into();
        let rev = Value::Text(text.clone()).rev();
        Source::with_rev(name, text, rev)
    }

    /// A whole file whose revision is known.
    #[must_use]
    pub fn with_rev(name: impl Into<Name>, text: Arc<str>, rev: Rev) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text, rev, start: Position::START, jumps: Arc::default() })
    }

    /// The position, in the file, of a byte offset of the text.
    #[must_use]
    pub fn position(&self, byte: usize) -> Position {
        Position::at(&self.text, self.start, &self.jumps, byte)
    }
}

/// What a run of bytes was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// Copied unchanged from `source`, starting at byte `at`.
    Verbatim {
        /// The text it was copied from.
        source: Arc<Source>,
        /// The byte offset in the source's text.
        at: usize,
    },
    /// Written by the expression or statement at `range` of `source`.
    Derived {
        /// The template.
        source: Arc<Source>,
        /// The byte range of the expression, without its braces.
        range: Range<usize>,
    },
    /// The value of a fact, written by the placeholder at `range` of `source` (none where a layer is the fact itself).
    Fact {
        /// The fact.
        key: FactKey,
        /// Its revision.
        rev: Rev,
        /// The template and the byte range of the placeholder's expression in it.
        placeholder: Option<(Arc<Source>, Range<usize>)>,
    },
    /// Written by the bench's structure: a separator, a marker, what a tool returned, what the model said.
    Literal,
}

/// Who wrote a run of bytes, from what and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The layer, or for what no layer wrote: `user`, `model`, `tool Cd`, `tools`.
    pub part: Name,
    /// What it was made from.
    pub made: Made,
    /// The event that made it what it is.
    pub cause: EventId,
}

/// A half-open range of UTF-8 bytes, from the end of the span before it to `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The byte offset behind the last byte.
    pub end: usize,
    /// Who wrote it.
    pub origin: Arc<Origin>,
    /// True for a separator, which belongs to the part that follows it.
    pub glue: bool,
}

/// One part of a text: the contiguous bytes of one layer, with the separator in front of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The layer, or what stands for one (see [`Origin::part`]).
    pub id: Name,
    /// The byte offset of the first byte, that of the separator if there is one.
    pub start: usize,
    /// The byte offset of the first byte of its own text.
    pub body: usize,
    /// The byte offset behind its last byte.
    pub end: usize,
    /// What its layer read to write it.
    pub reads: Arc<Reads>,
}

/// A text whose spans tile it: every byte has exactly one owner. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    text: Arc<str>,
    spans: Arc<[Span]>,
    parts: Arc<[Part]>,
}

impl PartialEq for Traced {
    fn eq(&self, other: &Traced) -> bool {
        Arc::ptr_eq(&self.spans, &other.spans) && Arc::ptr_eq(&self.text, &other.text)
            || self.text == other.text && self.spans == other.spans && self.parts == other.parts
    }
}

impl Traced {
    /// A text that one part wrote, all of the same make.
    #[must_use]
    pub fn whole(part: impl Into<Name>, text: impl Into<Arc<str>>, made: Made, cause: EventId) -> Traced {
        let id: Name = part.into();
        let text: Arc<str> = text.into();
        let end = text.len();
        let span = Span { end, origin: Arc::new(Origin { part: id.clone(), made, cause }), glue: false };
        let spans = if text.is_empty() { Vec::new() } else { vec![span] };
        let part = Part { id, start: 0, body: 0, end, reads: Arc::default() };
        Traced { text, spans: spans.into(), parts: [part].into() }
    }

    /// The bytes.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The spans, in order; they tile the text.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The parts, in order; they tile the text.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// True when there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The span that owns a byte, with its range; none at or behind the end.
    #[must_use]
    pub fn span_at(&self, byte: usize) -> Option<(Range<usize>, &Span)> {
        let index = self.spans.partition_point(|span| span.end <= byte);
        let span = self.spans.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.spans[before].end);
        Some((start..span.end, span))
    }

    /// The part that owns a byte; none at or behind the end.
    #[must_use]
    pub fn part_at(&self, byte: usize) -> Option<&Part> {
        self.parts.get(self.parts.partition_point(|part| part.end <= byte))
    }

    /// A piece of it, with whoever wrote its bytes.
    ///
    /// # Panics
    ///
    /// When the range does not lie between characters of the text.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Traced {
        let text = &self.text[range.clone()];
        let within = |at: usize| at.clamp(range.start, range.end) - range.start;
        let spans = self.ranges().filter(|(at, _)| at.start < range.end && at.end > range.start);
        let parts = self.parts.iter().filter(|part| part.start < range.end && part.end > range.start);
        Traced {
            text: text.into(),
            spans: spans.map(|(_, span)| Span { end: within(span.end), ..span.clone() }).collect(),
            parts: parts
                .map(|part| Part {
                    start: within(part.start),
                    body: within(part.body),
                    end: within(part.end),
                    ..part.clone()
                })
                .collect(),
        }
    }

    /// The same text, every part of it with these reads.
    #[must_use]
    pub fn with_reads(&self, reads: &Arc<Reads>) -> Traced {
        let parts = self.parts.iter().map(|part| Part { reads: reads.clone(), ..part.clone() }).collect();
        Traced { parts, ..self.clone() }
    }

    /// The spans with their ranges.
    pub fn ranges(&self) -> impl Iterator<Item = (Range<usize>, &Span)> {
        let mut start = 0;
        self.spans.iter().map(move |span| {
            let range = start..span.end;
            start = span.end;
            (range, span)
        })
    }
}

impl std::ops::Index<&Part> for Traced {
    type Output = str;

    /// The part's own text, without the separator in front of it.
    fn index(&self, part: &Part) -> &str {
        &self.text[part.body..part.end]
    }
}

/// Puts a traced text together, part by part.
#[derive(Debug, Default)]
pub struct Builder {
    text: String,
    /// The bytes so far: those of `text`, or those that the finished text is known to have.
    len: usize,
    spans: Vec<Span>,
    parts: Vec<Part>,
}

impl Builder {
    /// With room for so many bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Builder {
        Builder { text: String::with_capacity(bytes), ..Builder::default() }
    }

    /// Starts a part; what is pushed from here on is its.
    pub fn begin(&mut self, id: Name, reads: Arc<Reads>) {
        let at = self.len;
        self.parts.push(Part { id, start: at, body: at, end: at, reads });
    }

    /// Adds bytes to the part that was begun last. Empty text adds nothing.
    ///
    /// # Panics
    ///
    /// When no part was begun.
    pub fn push(&mut self, text: &str, origin: Arc<Origin>, glue: bool) {
        self.text.push_str(text);
        self.cover(text.len(), origin, glue);
    }

    /// Adds bytes to the part that was begun last without copying them: the text is handed to [`Builder::finish_as`] whole.
    ///
    /// # Panics
    ///
    /// When no part was begun.
    pub fn cover(&mut self, bytes: usize, origin: Arc<Origin>, glue: bool) {
        if bytes == 0 {
            return;
        }
        let part = self.parts.last_mut().expect("a part is begun before its text");
        self.len += bytes;
        part.end = self.len;
        if glue && part.body == self.spans.last().map_or(0, |span| span.end) {
            part.body = part.end;
        }
        self.spans.push(Span { end: self.len, origin, glue });
    }

    /// Adds a part whole: its separator, then everything of `traced`, as parts of their own if it has several.
    pub fn append(&mut self, glue: &str, traced: &Traced) {
        for (index, part) in traced.parts.iter().enumerate() {
            self.begin(part.id.clone(), part.reads.clone());
            if index == 0 && !glue.is_empty() {
                let origin = Origin { part: part.id.clone(), made: Made::Literal, cause: EventId::OPENING };
                self.push(glue, Arc::new(origin), true);
            }
            let first = traced.spans.partition_point(|span| span.end <= part.start);
            let mut start = part.start;
            for span in &traced.spans[first..] {
                if start >= part.end {
                    break;
                }
                self.push(&traced.text[start..span.end], span.origin.clone(), span.glue);
                start = span.end;
            }
        }
    }

    /// Adds to the part `id`, beginning it if another (or none) was begun last, whatever parts `traced` has: its
    /// separator, then all of its spans.
    pub fn append_as(&mut self, id: &Name, glue: &str, traced: &Traced) {
        if self.parts.last().is_none_or(|part| part.id != *id) {
            self.begin(id.clone(), Arc::default());
        }
        if !glue.is_empty() {
            let origin = Origin { part: id.clone(), made: Made::Literal, cause: EventId::OPENING };
            self.push(glue, Arc::new(origin), false);
        }
        for (range, span) in traced.ranges() {
            self.push(&traced.text[range], span.origin.clone(), span.glue);
        }
    }

    /// The number of bytes so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True while there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The finished text.
    #[must_use]
    pub fn finish(mut self) -> Traced {
        let text = std::mem::take(&mut self.text);
        self.finish_as(text)
    }

    /// The finished text, which is this one.
    ///
    /// # Panics
    ///
    /// When it is not as long as what was added.
    #[must_use]
    pub fn finish_as(self, text: impl Into<Arc<str>>) -> Traced {
        let text: Arc<str> = text.into();
        assert_eq!(text.len(), self.len, "spans tile their text");
        Traced { text, spans: self.spans.into(), parts: self.parts.into() }
    }
}
