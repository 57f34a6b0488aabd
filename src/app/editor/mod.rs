//! The editor of a text: a file behind a layer or behind a byte of the request.
//!
//! It holds the whole text; the widget that edits is given a few lines around the cursor at each key, so that typing in a
//! megabyte costs what typing in a page does. Undoing, searching and rows on the screen are ours.

mod document;
mod find;
mod history;
mod lines;
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
use crate::app::compose::Typing;
use crate::app::key::{Code, Key};
use crate::core::fact::Name;
use crate::io::edit::{Hunk, KeptText, Original};

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
    /// A text that was typed before and not saved, because the program was killed.
    pub kept: Option<Arc<KeptText>>,
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
    /// Where a selection begins that ends at the cursor.
    anchor: Option<Place>,
    history: History,
    yank: String,
    /// True from when the mouse was pressed on a row of the text until it is pressed elsewhere: then moving it selects.
    pub held: bool,
    /// What is looked for.
    pub find: Option<Find>,
    /// What has to be changed in the base to make it this text.
    hunks: Arc<[Hunk]>,
    /// Counts the changes of the text.
    pub serial: u32,
    /// True while the text is not what the file holds.
    pub modified: bool,
    /// A text that was sent to be saved, by its serial number, and what follows.
    pub saving: Option<(u32, Then)>,
    /// The file as somebody else has left it, while that is not decided.
    pub theirs: Option<Arc<Original>>,
    /// A text from before that was not saved, while it is not decided what becomes of it.
    pub kept: Option<Arc<KeptText>>,
    /// What the text is typed for, where it is none of a file.
    pub typing: Option<Typing>,
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
            anchor: None,
            history: History::default(),
            yank: String::new(),
            held: false,
            find: None,
            hunks: Arc::default(),
            serial: 0,
            modified: false,
            saving: None,
            theirs: None,
            kept: opened.kept.clone(),
            typing: None,
        }
    }

    /// An editor for a text that is in no file and is typed for something, with what stands there already.
    #[must_use]
    pub fn typing(typing: Typing, text: &str) -> Editor {
        let opened = Opened {
            no: 0,
            purpose: Purpose::Here,
            file: typing.title().into(),
            path: Path::new("").into(),
            at: Place::default(),
            layer: None,
            disk: Arc::new(Original::empty()),
            draft: None,
            saved: None,
            kept: None,
            problem: None,
        };
        let mut editor = Editor { typing: Some(typing), ..Editor::new(&opened) };
        editor.paste(text);
        // What stood there already is nothing that was typed.
        editor.history = History::default();
        editor
    }

    /// What has to be changed in [`Editor::base`] to make it this text.
    #[must_use]
    pub fn hunks(&self) -> Arc<[Hunk]> {
        self.hunks.clone()
    }

    fn compare(&mut self) {
        let mut hunks = self.document.hunks(&self.base);
        // Among equal lines one may count as new and another as gone: together they change nothing. One hunk alone always
        // changes something.
        let more = |hunk: &Hunk| hunk.new.len() as isize - hunk.old.len() as isize;
        if hunks.len() > 1
            && hunks.iter().map(more).sum::<isize>() == 0
            && self.document.lines().eq(self.base.lines())
        {
            hunks.clear();
        }
        self.hunks = hunks.into();
        self.modified = !self.hunks.is_empty();
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
            (Code::Home, ..) => Motion::LineStart,
            (Code::End, ..) => Motion::LineEnd,
            (Code::Left, ..) | (Code::Char('b'), false, true) => Motion::WordBack,
            (Code::Right, ..) | (Code::Char('f'), false, true) => Motion::WordForward,
            _ => return self.type_key(key),
        };
        self.history.end_step();
        let selected = self.selected();
        match (key.shift, selected) {
            (true, _) => {
                self.anchor.get_or_insert(self.cursor);
                self.go(motion, cells);
            }
            // A step out of a selection goes to its side.
            (false, Some((start, _))) if matches!(motion, Motion::Left) => self.jump(start),
            (false, Some((_, end))) if matches!(motion, Motion::Right) => self.jump(end),
            (false, _) => {
                self.anchor = None;
                self.go(motion, cells);
            }
        }
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
        if (key.code, key.ctrl, key.alt) == (Code::Char('k'), true, false) {
            self.anchor = None;
            return Some(self.cut_line());
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
        if let Some((start, end)) = self.selected() {
            // What is typed takes the place of what is selected; what deletes deletes that.
            let text = match (key.code, kind) {
                (Code::Char(c), Kind::Typed(_)) => c.to_string(),
                (Code::Enter, _) => "\n".to_owned(),
                (Code::Tab, _) => "\t".to_owned(),
                _ => String::new(),
            };
            self.splice(start, end, &text);
            return Some(true);
        }
        self.anchor = None;
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
        self.compare();
        if let Some(find) = &mut self.find {
            find.forget();
        }
    }

    /// Text that was pasted, as one step, in the place of what is selected. Tabs stay; other control characters vanish.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let clean: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        if clean.is_empty() {
            return;
        }
        let (start, end) = self.selected().unwrap_or((self.cursor, self.cursor));
        self.splice(start, end, &clean);
    }

    /// Puts text in the place of what stands between two places, as one step.
    fn splice(&mut self, start: Place, end: Place, text: &str) {
        let before = self.cursor;
        let head = &self.document.line(start.row)[..start.byte];
        let tail = &self.document.line(end.row)[end.byte..];
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let last = lines.len() - 1;
        lines[0].insert_str(0, head);
        self.cursor = Place { row: start.row + last, byte: lines[last].len() };
        lines[last].push_str(tail);
        self.goal = None;
        self.anchor = None;
        let lines = lines.into_iter().map(Line::typed).collect();
        self.put(Kind::Other, start.row..end.row + 1, lines, before);
    }

    /// What is selected: from here to there; none where nothing is.
    #[must_use]
    pub fn selected(&self) -> Option<(Place, Place)> {
        let anchor = self.document.clamp(self.anchor?);
        let (start, end) = (anchor.min(self.cursor), anchor.max(self.cursor));
        (start != end).then_some((start, end))
    }

    /// How many characters are selected, a line end counted as one.
    #[must_use]
    pub fn selected_chars(&self) -> usize {
        let Some((start, end)) = self.selected() else { return 0 };
        let chars = |row: usize| {
            let line = self.document.line(row);
            let from = if row == start.row { start.byte } else { 0 };
            let to = if row == end.row { end.byte } else { line.len() };
            line[from..to].chars().count()
        };
        (start.row..=end.row).map(chars).sum::<usize>() + end.row - start.row
    }

    /// Selects the whole text.
    pub fn select_all(&mut self) {
        self.history.end_step();
        self.goal = None;
        self.anchor = Some(Place::default());
        self.cursor = self.document.end();
    }

    /// Copies what is selected into the register, from which [`Editor::put_in`] takes it; none where nothing is.
    pub fn copy(&mut self) -> Option<&str> {
        let (start, end) = self.selected()?;
        let mut text = String::new();
        for row in start.row..=end.row {
            let line = self.document.line(row);
            let from = if row == start.row { start.byte } else { 0 };
            let to = if row == end.row { end.byte } else { line.len() };
            if row > start.row {
                text.push('\n');
            }
            text.push_str(&line[from..to]);
        }
        self.yank = text;
        Some(&self.yank)
    }

    /// Cuts what is selected into the register; false where nothing is.
    pub fn cut(&mut self) -> bool {
        let Some((start, end)) = self.selected() else { return false };
        self.copy();
        self.splice(start, end, "");
        true
    }

    /// Puts in what was copied or cut last, in the place of what is selected; false where nothing was.
    pub fn put_in(&mut self) -> bool {
        let yank = self.yank.clone();
        self.paste(&yank);
        !yank.is_empty()
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
        self.anchor = None;
        self.changed();
        true
    }

    /// Goes to a place.
    pub fn jump(&mut self, place: Place) {
        self.history.end_step();
        self.goal = None;
        self.anchor = None;
        self.cursor = self.document.clamp(place);
    }

    /// Selects up to a place, from the cursor or from where the selection began.
    pub fn reach(&mut self, place: Place) {
        self.history.end_step();
        self.goal = None;
        self.anchor.get_or_insert(self.cursor);
        self.cursor = self.document.clamp(place);
    }

    /// Compares with another file from now on; the text stays.
    pub fn rebase(&mut self, file: Arc<Original>) {
        self.document.rebase(&file);
        self.base = file;
        self.compare();
    }

    /// Takes another file's text, as one step.
    pub fn take(&mut self, file: Arc<Original>) {
        let before = self.cursor;
        self.anchor = None;
        let lines = file.lines().map(|line| Line::typed(line.to_owned())).collect();
        self.base = file;
        self.put(Kind::Other, 0..self.document.len(), lines, before);
        let base = self.base.clone();
        self.rebase(base);
    }

    /// Takes the text up that was kept, as one step; false when there is none.
    pub fn take_kept(&mut self) -> bool {
        let Some(kept) = self.kept.take() else { return false };
        let before = self.cursor;
        self.anchor = None;
        let lines = kept.text.split('\n').map(|line| Line::typed(line.to_owned())).collect();
        self.put(Kind::Other, 0..self.document.len(), lines, before);
        let base = self.base.clone();
        self.rebase(base);
        true
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
