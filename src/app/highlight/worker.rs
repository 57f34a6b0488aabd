//! Looks at texts on a thread of its own: the newest wish wins, what is on the screen comes first, and nothing runs while
//! nothing is wished.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::syntax::{Reader, Syntaxes};
use super::{Canvas, Class, Id, Language, Paint, Want, Whole, json, markdown};
use crate::app::event::Event;
use crate::app::state::State;
use crate::app::update::update;
use crate::core::diff;
use crate::core::text::hidden;

/// After so many lines a reader is kept, from which reading can go on.
const KEPT_EVERY: usize = 48;
/// So many lines behind the screen are read as well, so that a page further is there when it is turned to.
const AHEAD: usize = 120;
/// When the screen is further behind than this many lines, it gets a guess first.
const FAR: usize = 400;
/// The lines that are read in front of the screen for a guess.
const RUN_UP: usize = 40;
/// So many texts are kept with their readers.
const KNOWN: usize = 8;

/// What a thread or a test calls with each paint.
pub type Post<'a> = &'a mut dyn FnMut(Id, Arc<Paint>);

/// The worker itself, without a thread.
#[derive(Default)]
pub struct Painter {
    syntaxes: Option<Syntaxes>,
    known: Vec<Known>,
}

/// A text that was read by a grammar, as far as it was.
struct Known {
    id: Id,
    token: Arc<str>,
    text: Arc<str>,
    range: Range<usize>,
    /// Readers in front of lines: the byte at which the line begins, the lines in front of it.
    readers: Vec<(usize, usize, Reader)>,
    spans: Vec<(Range<usize>, Class)>,
    done: usize,
}

impl Painter {
    /// Looks at texts, in order. Gives up when `newer` says that something else is wished for.
    pub fn work(&mut self, wants: &[Want], newer: &dyn Fn() -> bool, post: Post<'_>) {
        for want in wants {
            if newer() {
                return;
            }
            let want = &want.whole();
            // Where the lines begin goes with every paint of an editor's text.
            let starts = want.starts.clone();
            let post: Post<'_> = &mut |id, paint| {
                let mut paint = paint;
                if !starts.is_empty() {
                    Arc::make_mut(&mut paint).starts = starts.clone();
                }
                post(id, paint);
            };
            let text = want.own();
            match want.language {
                Language::Json => {
                    let canvas = json::classes(text);
                    let sheet = json::sheet(text, &canvas);
                    let paint = Paint {
                        spans: canvas.spans(),
                        done: text.len(),
                        sheet: sheet.map(Arc::new),
                        hidden: hidden_in(text),
                        ..Paint::default()
                    };
                    post(want.id, Arc::new(paint));
                }
                Language::Prompt { template } => self.prompt(want, *template, newer, post),
                Language::Other { token, template } => self.other(want, token, *template, newer, post),
            }
        }
    }

    fn prompt(&mut self, want: &Whole<'_>, template: bool, newer: &dyn Fn() -> bool, post: Post<'_>) {
        let text = want.own();
        let mut marked = markdown::read(text, template);
        let paint = |marked: &markdown::Marked, done: usize| Paint {
            spans: marked.canvas.spans(),
            done,
            sheet: marked.sheet(text).map(Arc::new),
            hidden: hidden_in(text),
            ..Paint::default()
        };
        let mut fences = std::mem::take(&mut marked.fences);
        if fences.is_empty() {
            post(want.id, Arc::new(paint(&marked, text.len())));
            return;
        }
        post(want.id, Arc::new(paint(&marked, 0)));
        fences.sort_by_key(|(range, _)| {
            let seen = range.start < want.visible.end && want.visible.start < range.end;
            (!seen, range.start)
        });
        for (range, language) in fences {
            let own = &text[range.clone()];
            let spans = match &language {
                Language::Json => json::classes(own).spans(),
                Language::Other { token, .. } => match self.read_all(own, token, newer) {
                    Some(spans) => spans,
                    // Something newer is wished for; this text will be again, if it is still on the screen.
                    None => return,
                },
                Language::Prompt { .. } => continue,
            };
            for (span, class) in spans {
                let span = range.start + span.start..range.start + span.end;
                if marked.canvas.at(span.start) != Some(Class::Placeholder) {
                    marked.canvas.put(span, class);
                }
            }
        }
        if template {
            markdown::put_template(&mut marked.canvas, text);
        }
        post(want.id, Arc::new(paint(&marked, text.len())));
    }

    /// The spans of a whole text; none when something newer came. Empty for a language that is not known.
    fn read_all(
        &mut self,
        text: &str,
        token: &str,
        newer: &dyn Fn() -> bool,
    ) -> Option<Vec<(Range<usize>, Class)>> {
        let syntaxes = self.syntaxes.get_or_insert_with(Syntaxes::load);
        let Some(syntax) = syntaxes.find(token) else { return Some(Vec::new()) };
        let mut reader = syntaxes.reader(syntax);
        let mut spans = Vec::new();
        let mut at = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            if number % KEPT_EVERY == 0 && newer() {
                return None;
            }
            reader.line(syntaxes, line, at, &mut spans);
            at += line.len();
        }
        Some(spans)
    }

    fn other(
        &mut self,
        want: &Whole<'_>,
        token: &Arc<str>,
        template: bool,
        newer: &dyn Fn() -> bool,
        post: Post<'_>,
    ) {
        let text = want.own();
        let syntaxes = self.syntaxes.get_or_insert_with(Syntaxes::load);
        let Some(syntax) = syntaxes.find(token) else {
            let mut canvas = Canvas::new(text.len());
            if template {
                markdown::put_template(&mut canvas, text);
            }
            let paint = Paint {
                spans: canvas.spans(),
                done: text.len(),
                hidden: hidden_in(text),
                ..Paint::default()
            };
            post(want.id, Arc::new(paint));
            return;
        };
        let mut known = take_known(&mut self.known, want, token);
        let (start, lines, mut reader) = match known.readers.last() {
            Some((start, lines, reader)) => (*start, *lines, reader.clone()),
            None => (0, 0, syntaxes.reader(syntax)),
        };
        let hidden = hidden_in(text);
        let paint = |spans: &[(Range<usize>, Class)], done: usize| {
            let mut spans = spans.to_vec();
            if template {
                let mut canvas = Canvas::new(text.len());
                spans.iter().for_each(|(range, class)| canvas.put(range.clone(), *class));
                markdown::put_template(&mut canvas, text);
                spans = canvas.spans();
            }
            Arc::new(Paint { spans, done, hidden: hidden.clone(), ..Paint::default() })
        };
        let until = ahead(text, want.visible.end);
        if known.done < until {
            // What the last reader was kept in front of is read again from there.
            known.spans.retain(|(range, _)| range.start < start);
            let far = text.get(start..want.visible.start).is_some_and(|rest| rest.split('\n').count() > FAR);
            if far {
                let from = back(text, want.visible.start, RUN_UP);
                let mut guess = known.spans.clone();
                let mut reader = syntaxes.reader(syntax);
                let mut at = from;
                for line in text[from..until].split_inclusive('\n') {
                    reader.line(syntaxes, line, at, &mut guess);
                    at += line.len();
                }
                post(want.id, paint(&guess, start));
            }
            let mut at = start;
            for (number, line) in text[start..until].split_inclusive('\n').enumerate() {
                let lines = lines + number;
                if lines % KEPT_EVERY == 0 {
                    if known.readers.last().is_none_or(|(byte, ..)| *byte < at) {
                        known.readers.push((at, lines, reader.clone()));
                    }
                    known.done = at;
                    if newer() {
                        self.keep(known);
                        return;
                    }
                }
                reader.line(syntaxes, line, at, &mut known.spans);
                at += line.len();
            }
            known.done = at;
        }
        post(want.id, paint(&known.spans, known.done));
        self.keep(known);
    }

    fn keep(&mut self, known: Known) {
        self.known.push(known);
        if self.known.len() > KNOWN {
            self.known.remove(0);
        }
    }
}

/// What is known of a text, or of one that begins like it: of that, what was read in front of the difference.
fn take_known(all: &mut Vec<Known>, want: &Whole<'_>, token: &Arc<str>) -> Known {
    let text = want.own();
    let same = |known: &&Known| known.token == *token;
    let common =
        |known: &Known| diff::common_prefix(known.text[known.range.clone()].as_bytes(), text.as_bytes());
    let best =
        all.iter().enumerate().filter(|(_, known)| same(known)).map(|(at, known)| (common(known), at)).max();
    let mut known = match best {
        Some((_, at)) => all.remove(at),
        None => Known {
            id: want.id,
            token: token.clone(),
            text: want.text.clone(),
            range: want.range.clone(),
            readers: Vec::new(),
            spans: Vec::new(),
            done: 0,
        },
    };
    let equal = best.map_or(0, |(equal, _)| equal);
    if equal < text.len() || known.range.len() != text.len() {
        // A grammar may look at the whole line in which the difference is.
        let line = text.as_bytes()[..equal].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        known.readers.retain(|(start, ..)| *start <= line);
        known.done = known.done.min(known.readers.last().map_or(0, |(start, ..)| *start));
        known.spans.retain(|(range, _)| range.start < known.done);
    }
    known.id = want.id;
    known.text = want.text.clone();
    known.range = want.range.clone();
    known
}

/// Looks at once at everything that the screen shows, for pictures and tests, which have nothing else to do meanwhile.
/// `draw` draws the state and says what was seen, see [`super::wants`].
pub fn finish(state: &mut State, draw: &mut dyn FnMut(&mut State) -> Range<usize>) {
    let mut painter = Painter::default();
    // A text laid out for reading shows other bytes than before, which may want a paint of their own.
    for _ in 0..8 {
        let seen = draw(state);
        let wants = super::wants(state, &seen);
        if wants.is_empty() {
            return;
        }
        let mut paints = Vec::new();
        painter.work(&wants, &|| false, &mut |id, paint| paints.push((id, paint)));
        for (id, paint) in paints {
            update(state, Event::Painted(id, paint));
        }
    }
}

/// The characters that nobody sees.
fn hidden_in(text: &str) -> Arc<[(usize, char)]> {
    hidden::find(text).collect()
}

/// The end of the line some lines behind a byte.
fn ahead(text: &str, byte: usize) -> usize {
    let mut ends = text.as_bytes().iter().enumerate().skip(byte).filter(|(_, byte)| **byte == b'\n');
    ends.nth(AHEAD).map_or(text.len(), |(at, _)| at + 1)
}

/// The start of the line some lines in front of a byte.
fn back(text: &str, byte: usize, lines: usize) -> usize {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let mut starts = before.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    starts.nth(lines).map_or(0, |(at, _)| at + 1)
}

/// The way to the worker's thread. When it is dropped, the thread ends.
pub struct Handle(Arc<Door>);

#[derive(Default)]
struct Door {
    wish: Mutex<Wish>,
    news: Condvar,
}

#[derive(Default)]
struct Wish {
    wants: Option<Vec<Want>>,
    ended: bool,
}

impl Door {
    fn newer(&self) -> bool {
        let wish = self.wish.lock().unwrap_or_else(PoisonError::into_inner);
        wish.ended || wish.wants.is_some()
    }
}

impl Handle {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// When the machine gives no thread.
    pub fn start(mut post: impl FnMut(Id, Arc<Paint>) + Send + 'static) -> std::io::Result<Handle> {
        let door: Arc<Door> = Arc::default();
        let own = door.clone();
        std::thread::Builder::new().name("highlight".into()).spawn(move || {
            let mut painter = Painter::default();
            loop {
                let mut wish = own.wish.lock().unwrap_or_else(PoisonError::into_inner);
                let wants = loop {
                    if wish.ended {
                        return;
                    }
                    match wish.wants.take() {
                        Some(wants) => break wants,
                        None => wish = own.news.wait(wish).unwrap_or_else(PoisonError::into_inner),
                    }
                };
                drop(wish);
                painter.work(&wants, &|| own.newer(), &mut post);
            }
        })?;
        Ok(Handle(door))
    }

    /// Wishes for these instead of whatever was wished for before.
    pub fn ask(&self, wants: Vec<Want>) {
        let mut wish = self.0.wish.lock().unwrap_or_else(PoisonError::into_inner);
        wish.wants = Some(wants);
        self.0.news.notify_one();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut wish = self.0.wish.lock().unwrap_or_else(PoisonError::into_inner);
        wish.ended = true;
        self.0.news.notify_one();
    }
}
