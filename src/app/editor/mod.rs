//! The editor of a text: a file behind a layer or behind a byte of the request.
//!
//! It holds the whole text; the widget that edits is given a few lines around the cursor at each key, so that typing in a
//! megabyte costs what typing in a page does. Undoing, searching and rows on the screen are ours.

mod document;
mod find;
mod history;
mod rows;
mod window;

use std::path::Path;
use std::sync::Arc;

use tui_textarea::{CursorMove, Input, Key as Widget};

pub use document::{Document, Place};
pub use find::Find;
pub use rows::{Row, Rows};

use self::document::Line;
use self::history::{History, Kind};
use crate::app::key::{Code, Key};
use crate::core::fact::Name;
use crate::io::edit::{Hunk, Original};

/// What a text was opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be edited here.
    Here,
    /// To be handed to the user's own editor.
    Outside,
}

/// A text file that the engine has opened, as it says in each snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The number of the request that opened it.
    pub no: u32,
    /// What for.
    pub purpose: Purpose,
    /// The file as its user would name it.
    pub file: Name,
    /// The file on disk.
    pub path: Arc<Path>,
    /// Where to begin.
    pub at: Place,
    /// The layer that it was opened for; none for a byte that no layer wrote.
    pub layer: Option<Name>,
    /// What the file holds on disk now.
    pub disk: Arc<Original>,
    /// The latest text that is shown as a draft; none while what is shown is what the disk says.
    pub draft: Option<Draft>,
    /// The text that was saved last, by its serial number.
    pub saved: Option<u32>,
    /// Why the text could not be saved or shown: one sentence, lower case, without a full stop.
    pub problem: Option<Arc<str>>,
}

/// A text that is typed and not saved, taken into what the snapshot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its serial number.
    pub serial: u32,
    /// Why it cannot be shown; the snapshot then shows the latest that could.
    pub problem: Option<Arc<str>>,
}

/// What follows once a text is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// Nothing.
    #[default]
    Stay,
    /// The editor is closed.
    Leave,
    /// The file is handed to the user's own editor.
    HandOff,
}

/// A text that is edited.
#[derive(Clone, Debug)]
pub struct Editor {
    /// See [`Opened::no`].
    pub no: u32,
    /// The file as its user would name it.
    pub file: Name,
    /// The file on disk.
    pub path: Arc<Path>,
    /// The layer that it was opened for.
    pub layer: Option<Name>,
    /// What the text is compared with: the file as it was read or saved last.
    pub base: Arc<Original>,
    /// The text.
    pub document: Document,
    /// Where the cursor is.
    pub cursor: Place,
    /// The first row on the screen begins here.
    pub top: Place,
    /// The cell that moving up and down keeps to.
    goal: Option<usize>,
    history: History,
    yank: String,
    /// What is looked for.
    pub find: Option<Find>,
    /// Counts the changes of the text.
    pub serial: u32,
    /// True while the text is not what the file holds.
    pub modified: bool,
    /// A text that was sent to be saved, by its serial number, and what follows.
    pub saving: Option<(u32, Then)>,
    /// The file as somebody else has left it, while that is not decided.
    pub theirs: Option<Arc<Original>>,
}

impl Editor {
    /// An editor for what the engine has opened.
    #[must_use]
    pub fn new(opened: &Opened) -> Editor {
        let document = Document::new(&opened.disk);
        let cursor = document.clamp(opened.at);
        Editor {
            no: opened.no,
            file: opened.file.clone(),
            path: opened.path.clone(),
            layer: opened.layer.clone(),
            base: opened.disk.clone(),
            document,
            cursor,
            top: Place { row: cursor.row.saturating_sub(4), byte: 0 },
            goal: None,
            history: History::default(),
            yank: String::new(),
            find: None,
            serial: 0,
            modified: false,
            saving: None,
            theirs: None,
        }
    }

    /// What has to be changed in [`Editor::base`] to make it this text.
    #[must_use]
    pub fn hunks(&self) -> Arc<[Hunk]> {
        self.document.hunks(&self.base).into()
    }

    /// A key that edits or moves. True when the text is another one; none for a key without a meaning here.
    pub fn key(&mut self, key: Key, cells: usize, height: usize) -> Option<bool> {
        let motion = match (key.code, key.ctrl, key.alt) {
            (Code::Left, false, false) | (Code::Char('b'), true, false) => Motion::Left,
            (Code::Right, false, false) => Motion::Right,
            (Code::Up, false, false) => Motion::Rows(-1),
            (Code::Down, false, false) => Motion::Rows(1),
            (Code::PageUp, ..) => Motion::Rows(-page(height)),
            (Code::PageDown, ..) => Motion::Rows(page(height)),
            (Code::Home, true, _) => Motion::Start,
            (Code::End, true, _) => Motion::End,
            (Code::Home, ..) | (Code::Char('a'), true, false) => Motion::LineStart,
            (Code::End, ..) => Motion::LineEnd,
            (Code::Left, ..) | (Code::Char('b'), false, true) => Motion::WordBack,
            (Code::Right, ..) | (Code::Char('f'), false, true) => Motion::WordForward,
            _ => return self.type_key(key),
        };
        self.history.end_step();
        self.go(motion, cells);
        Some(false)
    }

    fn go(&mut self, motion: Motion, cells: usize) {
        let rows = Rows::new(&self.document, cells);
        let Place { row, byte } = self.cursor;
        let line = self.document.line(row);
        if !matches!(motion, Motion::Rows(_)) {
            self.goal = None;
        }
        self.cursor = match motion {
            Motion::Left if byte > 0 => Place { row, byte: rows::previous(line, byte) },
            Motion::Left if row > 0 => Place { row: row - 1, byte: self.document.line(row - 1).len() },
            Motion::Right if byte < line.len() => Place { row, byte: rows::next(line, byte) },
            Motion::Right if row + 1 < self.document.len() => Place { row: row + 1, byte: 0 },
            Motion::Left | Motion::Right => self.cursor,
            Motion::LineStart => Place { row, byte: 0 },
            Motion::LineEnd => Place { row, byte: line.len() },
            Motion::Start => Place::default(),
            Motion::End => self.document.end(),
            Motion::Rows(by) => {
                let from = rows.of(self.cursor);
                let goal = self.goal.unwrap_or_else(|| rows.column(from, byte));
                let to = rows.moved(from, by);
                self.goal = Some(goal);
                match (to == from, by < 0) {
                    // There is no further row: the end of this one is as far as it goes.
                    (true, true) => Place { row: 0, byte: 0 },
                    (true, false) => self.document.end(),
                    _ => Place { row: to.row, byte: rows.byte_at(to, goal) },
                }
            }
            Motion::WordBack | Motion::WordForward => {
                let word = if matches!(motion, Motion::WordBack) {
                    CursorMove::WordBack
                } else {
                    CursorMove::WordForward
                };
                window::edit(&self.document, self.cursor, &mut self.yank, |area| area.move_cursor(word))
                    .cursor
            }
        };
    }

    /// Cuts to the end of the line, or the line end itself; the widget may know a part of the line only.
    fn cut_line(&mut self) -> bool {
        let before = self.cursor;
        let line = self.document.line(before.row);
        let (head, tail) = (line[..before.byte].to_owned(), line[before.byte..].to_owned());
        let rows = match (tail.is_empty(), before.row + 1 < self.document.len()) {
            (true, false) => return false,
            (true, true) => before.row..before.row + 2,
            (false, _) => before.row..before.row + 1,
        };
        let next = if tail.is_empty() { self.document.line(before.row + 1) } else { "" };
        let line = Line::typed(format!("{head}{next}"));
        self.yank = if tail.is_empty() { "\n".to_owned() } else { tail };
        self.goal = None;
        self.put(Kind::Other, rows, vec![line], before);
        true
    }

    /// A key that edits.
    fn type_key(&mut self, key: Key) -> Option<bool> {
        match key {
            Key { code: Code::Char('k'), ctrl: true, alt: false } => return Some(self.cut_line()),
            Key { code: Code::Char('y'), ctrl: true, alt: false } => {
                let yank = self.yank.clone();
                self.paste(&yank);
                return Some(!yank.is_empty());
            }
            _ => {}
        }
        let code = match key.code {
            Code::Char(c) => Widget::Char(c),
            Code::Enter => Widget::Enter,
            Code::Tab => Widget::Tab,
            Code::Backspace => Widget::Backspace,
            Code::Delete => Widget::Delete,
            _ => return None,
        };
        let kind = match (key.code, key.ctrl || key.alt) {
            (Code::Char(c), false) => Kind::Typed(c.is_whitespace()),
            (Code::Backspace | Code::Delete, false) => Kind::Deleted,
            (Code::Enter | Code::Tab | Code::Backspace | Code::Delete, _) => Kind::Other,
            // Words; what else the widget knows has other keys here.
            (Code::Char('w' | 'h' | 'd'), true) if key.ctrl && !key.alt => Kind::Other,
            (Code::Char('d' | 'h'), true) if key.alt && !key.ctrl => Kind::Other,
            _ => return None,
        };
        let input = Input { key: code, ctrl: key.ctrl, alt: key.alt, shift: false };
        let before = self.cursor;
        let done = window::edit(&self.document, before, &mut self.yank, |area| {
            area.input(input);
        });
        self.cursor = done.cursor;
        self.goal = None;
        let Some((rows, lines)) = done.change else { return Some(false) };
        self.put(kind, rows, lines, before);
        Some(true)
    }

    /// Puts lines in the place of others, as one step or part of one.
    fn put(&mut self, kind: Kind, rows: std::ops::Range<usize>, lines: Vec<Line>, before: Place) {
        let (row, count) = (rows.start, lines.len());
        let taken = self.document.replace(rows, lines);
        self.history.push(kind, row, taken, count, (before, self.cursor));
        self.changed();
    }

    fn changed(&mut self) {
        self.serial += 1;
        self.cursor = self.document.clamp(self.cursor);
        self.top = self.document.clamp(self.top);
        self.modified = !self.document.hunks(&self.base).is_empty();
        if let Some(find) = &mut self.find {
            find.forget();
        }
    }

    /// Text that was pasted, as one step. Tabs stay; other control characters vanish.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let clean: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        if clean.is_empty() {
            return;
        }
        let before = self.cursor;
        let line = self.document.line(before.row);
        let (head, tail) = line.split_at(before.byte);
        let mut lines: Vec<String> = clean.split('\n').map(str::to_owned).collect();
        let last = lines.len() - 1;
        lines[0].insert_str(0, head);
        self.cursor = Place { row: before.row + last, byte: lines[last].len() };
        lines[last].push_str(tail);
        self.goal = None;
        let lines = lines.into_iter().map(Line::typed).collect();
        self.put(Kind::Other, before.row..before.row + 1, lines, before);
    }

    /// Takes the latest step back; false when there is none.
    pub fn undo(&mut self) -> bool {
        let place = self.history.undo(&mut self.document);
        self.went(place)
    }

    /// Does the step again that was taken back; false when there is none.
    pub fn redo(&mut self) -> bool {
        let place = self.history.redo(&mut self.document);
        self.went(place)
    }

    fn went(&mut self, place: Option<Place>) -> bool {
        let Some(place) = place else { return false };
        self.cursor = place;
        self.goal = None;
        self.changed();
        true
    }

    /// Goes to a place.
    pub fn jump(&mut self, place: Place) {
        self.history.end_step();
        self.goal = None;
        self.cursor = self.document.clamp(place);
    }

    /// Compares with another file from now on; the text stays.
    pub fn rebase(&mut self, file: Arc<Original>) {
        self.document.rebase(&file);
        self.base = file;
        self.modified = !self.document.hunks(&self.base).is_empty();
    }

    /// Takes another file's text, as one step.
    pub fn take(&mut self, file: Arc<Original>) {
        let before = self.cursor;
        let lines = file.lines().map(|line| Line::typed(line.to_owned())).collect();
        self.base = file;
        self.put(Kind::Other, 0..self.document.len(), lines, before);
        let base = self.base.clone();
        self.rebase(base);
    }

    /// Keeps the cursor among the `height` rows of `cells` cells on the screen, with a row or two around it.
    pub fn settle(&mut self, cells: usize, height: usize) {
        self.cursor = self.document.clamp(self.cursor);
        let rows = Rows::new(&self.document, cells);
        let (height, on) = (height.max(1), rows.of(self.cursor));
        let margin = ((height - 1) / 2).min(2) as isize;
        let top = rows.of(self.document.clamp(self.top));
        let highest = rows.moved(on, -(height as isize - 1 - margin));
        let lowest = rows.moved(on, -margin);
        let key = |row: &Row| (row.row, row.start);
        let top = if key(&top) < key(&highest) {
            highest
        } else if key(&top) > key(&lowest) {
            lowest
        } else {
            top
        };
        self.top = Place { row: top.row, byte: top.start };
    }

    /// Scrolls; the cursor goes along where it would leave the screen.
    pub fn scroll(&mut self, by: isize, cells: usize, height: usize) {
        let rows = Rows::new(&self.document, cells);
        let top = rows.moved(rows.of(self.document.clamp(self.top)), by);
        self.top = Place { row: top.row, byte: top.start };
        let margin = ((height.max(1) - 1) / 2).min(2) as isize;
        let (first, last) = (rows.moved(top, margin), rows.moved(top, height.max(1) as isize - 1 - margin));
        let on = rows.of(self.cursor);
        let key = |row: &Row| (row.row, row.start);
        // At the ends of the text the cursor may stand where it is.
        if key(&on) < key(&first) && key(&top) > (0, 0) {
            self.cursor = Place { row: first.row, byte: first.start };
        } else if key(&on) > key(&last) {
            self.cursor = Place { row: last.row, byte: last.start };
        }
    }
}

/// A page, one row less than the screen, so that the eye keeps its place.
fn page(height: usize) -> isize {
    isize::try_from(height).unwrap_or(isize::MAX).saturating_sub(1).max(1)
}

#[derive(Clone, Copy)]
enum Motion {
    Left,
    Right,
    WordBack,
    WordForward,
    LineStart,
    LineEnd,
    Start,
    End,
    Rows(isize),
}

#[cfg(test)]
mod tests;
