//! The editor of a text: opened, typed into, saved, left, and what becomes of it when the file changes outside.

use std::sync::Arc;

use super::{compose, overlay};
use crate::app::action::{self, Action};
use crate::app::copy;
use crate::app::editor::{Editor, Find, Opened, Place, Purpose, Rows, Then};
use crate::app::effect::{Effect, EngineRequest, TextEdit, TextPlace};
use crate::app::event::Event;
use crate::app::key::Key;
use crate::app::rows::{self, Answer, CallLine, span_in};
use crate::app::state::{OverlayKind, Pane, State};
use crate::app::views::Spot;
use crate::core::text::{Made, Source};
use crate::io::edit::Original;

/// What is said where a selection is wanted.
const NOTHING_SELECTED: &str = "nothing is selected; Shift with the arrows selects";

/// Asks for the text behind what is selected.
pub(super) fn ask(state: &mut State, purpose: Purpose) -> Vec<Effect> {
    let place = match state.pane() {
        None => {
            let line = state.page.lines.get(state.here().list.cursor);
            line.and_then(|line| line.text.clone()).ok_or_else(|| "no file wrote this line".to_owned())
        }
        Some(Pane::Layers) => layer_at(state, state.layers.cursor),
        Some(Pane::Calls) => injected_at(state).map_or_else(|| byte_under_cursor(state), Ok),
        Some(Pane::Why) => {
            let spot = super::why_lines(state).get(state.why.cursor).and_then(|line| line.at.clone());
            let layer = |spot: &Spot| {
                let known = state.snapshot.layers.rows.iter().any(|row| row.id == spot.author);
                known.then(|| TextPlace::Layer(spot.author.clone()))
            };
            let place = spot.and_then(|spot| spot.text.clone().or_else(|| layer(&spot)));
            place.map_or_else(|| byte_under_cursor(state), Ok)
        }
        // Calls and reasons are about the bytes that are shown beside them.
        _ => byte_under_cursor(state),
    };
    match place {
        Ok(place) => {
            state.asked += 1;
            state.waiting = Some(Vec::new());
            vec![Effect::Engine(EngineRequest::OpenText(state.asked, place, purpose))]
        }
        Err(reason) => {
            state.message = reason;
            Vec::new()
        }
    }
}

fn layer_at(state: &State, row: usize) -> Result<TextPlace, String> {
    let row = state.snapshot.layers.rows.get(row).ok_or("there is no layer")?;
    Ok(TextPlace::Layer(row.id.clone()))
}

/// The layer of the injection under the cursor of the calls.
fn injected_at(state: &State) -> Option<TextPlace> {
    let calls = &state.snapshot.calls;
    let lines = rows::call_lines(calls, state.metrics.compact);
    let &CallLine::Injected(call, injected) = lines.get(state.calls.cursor)? else { return None };
    let row = &calls.rows.get(call)?.injected[injected];
    let layer = state.snapshot.layers.rows.iter().find(|layer| layer.shown == row.layer)?;
    Some(TextPlace::Layer(layer.id.clone()))
}

/// The text that the row under the cursor of the request was made from.
fn byte_under_cursor(state: &State) -> Result<TextPlace, String> {
    let block = state.block().ok_or("there is no request")?;
    let row =
        state.with_rows(|rows| rows.row(state.request.cursor)).flatten().ok_or("there is no text here")?;
    let (start, byte, span) = span_in(block, &row).ok_or("there is no text here")?;
    let part = &block.parts[row.part.min(block.parts.len().saturating_sub(1))];
    let source = |source: &Arc<Source>, byte| TextPlace::Source(source.clone(), byte, part.layer.clone());
    Ok(match &span.origin.made {
        Made::Verbatim { source: text, at } => source(text, at + byte - start),
        Made::Derived { source: text, range } | Made::Fact { placeholder: Some((text, range)), .. } => {
            // Where blame says that it is written: at the braces.
            let before = text.text.get(..range.start).unwrap_or_default();
            let open = before.rfind("{{").max(before.rfind("{%")).unwrap_or(range.start);
            source(text, open)
        }
        // A layer that is a fact, or what a place writes around its layers.
        Made::Fact { placeholder: None, .. } | Made::Literal => match &part.layer {
            Some(layer) => TextPlace::Layer(layer.clone()),
            // What was said in a run stands in its script.
            None if state.snapshot.lines.contains_key(&span.origin.cause) => {
                TextPlace::Bench(state.snapshot.lines[&span.origin.cause])
            }
            None => return Err(format!("no file wrote this: it is {}", part.author)),
        },
    })
}

/// True for a key that is kept for the text that is being opened: whoever types on after `e` types text, not commands.
pub(super) fn keeps(state: &mut State, key: Key) -> bool {
    let gives_up = matches!(action::lookup(state, key), Some(Action::UpLevel | Action::Cancel));
    if gives_up {
        state.waiting = None;
    }
    match &mut state.waiting {
        Some(waiting) => {
            waiting.push(Event::Key(key));
            true
        }
        None => false,
    }
}

/// What the engine says of the text that is open.
pub(super) fn on_published(state: &mut State) -> Vec<Effect> {
    let opened = state.snapshot.opened.clone();
    if state.waiting.is_some() && state.snapshot.asked == state.asked {
        let waiting = state.waiting.take().unwrap_or_default();
        return match opened.filter(|opened| opened.no == state.asked) {
            Some(opened) => begin(state, &opened, waiting),
            // It could not be opened, and the engine has said why.
            None => Vec::new(),
        };
    }
    match opened {
        Some(opened) => follow_disk(state, &opened),
        None => Vec::new(),
    }
}

/// A text was opened.
fn begin(state: &mut State, opened: &Opened, waiting: Vec<Event>) -> Vec<Effect> {
    match opened.purpose {
        Purpose::Here => {
            state.editor = Some(Editor::new(opened));
            if opened.kept.is_some() {
                // What was typed meanwhile was meant for the file's text; it is not known yet which text there will be.
                overlay::open(state, OverlayKind::Kept);
                return Vec::new();
            }
            waiting.into_iter().flat_map(|event| super::update(state, event)).collect()
        }
        Purpose::Outside => {
            let (line, column) = position(&opened.disk, opened.at);
            vec![
                Effect::Engine(EngineRequest::CloseText),
                Effect::EditOutside(opened.path.clone(), line, column),
            ]
        }
    }
}

/// What has become of the file of the text that is edited.
fn follow_disk(state: &mut State, opened: &Opened) -> Vec<Effect> {
    let Some(editor) = state.editor.as_mut().filter(|editor| editor.no == opened.no) else {
        return Vec::new();
    };
    if let Some((serial, then)) = editor.saving.filter(|(serial, _)| opened.saved == Some(*serial)) {
        editor.saving = None;
        editor.rebase(opened.disk.clone());
        editor.theirs = None;
        // Whoever typed on meanwhile has not left.
        if serial == editor.serial {
            return follow(state, then);
        }
        return Vec::new();
    }
    if opened.problem.is_some() {
        editor.saving = None;
    }
    if same(&opened.disk, &editor.base) {
        editor.theirs = None;
        return Vec::new();
    }
    if !editor.modified {
        editor.take(opened.disk.clone());
        state.message = format!("{} was changed outside and is read again", opened.file);
        return Vec::new();
    }
    let told = editor.theirs.as_ref().is_some_and(|theirs| same(theirs, &opened.disk));
    let asked = editor.saving.take().is_some();
    editor.theirs = Some(opened.disk.clone());
    if !told || asked {
        ask_whose(state);
    }
    Vec::new()
}

fn same(a: &Arc<Original>, b: &Arc<Original>) -> bool {
    Arc::ptr_eq(a, b) || a.exists() == b.exists() && a.bytes() == b.bytes()
}

/// Line and column from 1, as editors count.
fn position(file: &Original, at: Place) -> (u32, u32) {
    let line = file.line(at.row.min(file.len() - 1));
    let column = line.get(..at.byte.min(line.len())).map_or(0, |before| before.chars().count());
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    (number(at.row), number(column))
}

fn ask_whose(state: &mut State) {
    let on = |kind| state.overlays.iter().any(|overlay| overlay.kind == kind);
    if !on(OverlayKind::Conflict) {
        overlay::open(state, OverlayKind::Conflict);
    }
}

/// What follows once the text is saved.
fn follow(state: &mut State, then: Then) -> Vec<Effect> {
    match then {
        Then::Stay => Vec::new(),
        Then::Leave => close(state),
        Then::HandOff => hand_off(state),
    }
}

/// Closes the editor; what was not saved is gone, except a text from before of which nothing was decided.
pub(super) fn close(state: &mut State) -> Vec<Effect> {
    state.editor = None;
    state.overlays.retain(|overlay| {
        !matches!(
            overlay.kind,
            OverlayKind::Unsaved
                | OverlayKind::Conflict
                | OverlayKind::Both
                | OverlayKind::Kept
                | OverlayKind::KeptBoth
        )
    });
    vec![Effect::Engine(EngineRequest::CloseText)]
}

fn hand_off(state: &mut State) -> Vec<Effect> {
    let Some(editor) = &state.editor else { return Vec::new() };
    let before = editor.document.line(editor.cursor.row).get(..editor.cursor.byte);
    let column = before.map_or(0, |before| before.chars().count());
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    vec![Effect::EditOutside(editor.path.clone(), number(editor.cursor.row), number(column))]
}

/// Leaves the editor, or asks what becomes of a text that is not saved.
pub(super) fn leave(state: &mut State) -> Vec<Effect> {
    match &mut state.editor {
        Some(editor) if editor.find.is_some() => {
            editor.find = None;
            Vec::new()
        }
        Some(editor) if editor.typing.is_some() => compose::leave_text(state),
        Some(editor) if editor.modified => {
            overlay::open(state, OverlayKind::Unsaved);
            Vec::new()
        }
        Some(_) => close(state),
        None => Vec::new(),
    }
}

/// An answer to a question about the text.
pub(super) fn answer(state: &mut State, answer: Answer) -> Vec<Effect> {
    let Some(editor) = &mut state.editor else { return Vec::new() };
    match answer {
        Answer::SaveAndLeave => {
            state.overlays.pop();
            return save(state, Then::Leave);
        }
        Answer::LeaveUnsaved => {
            let mut effects = vec![Effect::Engine(EngineRequest::ForgetText)];
            effects.extend(close(state));
            return effects;
        }
        Answer::TakeKept => {
            editor.take_kept();
            state.overlays.clear();
            state.message = "what was not saved is here again; undo brings the file's text back".to_owned();
            return draft(state);
        }
        Answer::ShowKept => overlay::open(state, OverlayKind::KeptBoth),
        Answer::DropKept => {
            editor.kept = None;
            state.overlays.clear();
            return vec![Effect::Engine(EngineRequest::ForgetText)];
        }
        Answer::Stay => drop(state.overlays.pop()),
        Answer::KeepMine => {
            if let Some(theirs) = editor.theirs.take() {
                editor.rebase(theirs);
            }
            state.message = "yours is kept; saving writes it over theirs".to_owned();
            state.overlays.clear();
            return draft(state);
        }
        Answer::TakeTheirs => {
            if let Some(theirs) = editor.theirs.take() {
                editor.take(theirs);
            }
            state.message = "theirs is taken; undo brings yours back".to_owned();
            state.overlays.clear();
            return draft(state);
        }
        Answer::ShowBoth => overlay::open(state, OverlayKind::Both),
        // Asked about programs, not about a text.
        Answer::RunPrograms | Answer::NotNow => {}
    }
    Vec::new()
}

pub(super) fn perform(state: &mut State, action: Action) -> Vec<Effect> {
    let Some(editor) = &mut state.editor else { return Vec::new() };
    match action {
        Action::Save => return save(state, Then::Stay),
        Action::HandOff => return save(state, Then::HandOff),
        Action::UndoText | Action::RedoText => {
            let done = if action == Action::UndoText { editor.undo() } else { editor.redo() };
            if done {
                return draft(state);
            }
            let what = if action == Action::UndoText { "take back" } else { "do again" };
            state.message = format!("there is nothing to {what}");
        }
        Action::SelectAll => editor.select_all(),
        Action::CopyText => match editor.copy() {
            Some(text) => return copy::text("the selection", text),
            None => NOTHING_SELECTED.clone_into(&mut state.message),
        },
        Action::CutText => match editor.copy().map(str::to_owned) {
            Some(text) => {
                editor.cut();
                let mut effects = draft(state);
                effects.extend(copy::text("the selection", text));
                return effects;
            }
            None => NOTHING_SELECTED.clone_into(&mut state.message),
        },
        Action::PutText => {
            if editor.put_in() {
                return draft(state);
            }
            state.message = "nothing was copied or cut here yet".to_owned();
        }
        Action::FindText => overlay::open(state, OverlayKind::Search),
        Action::FindNext => step(state, true),
        Action::FindPrevious => step(state, false),
        _ => {}
    }
    Vec::new()
}

fn save(state: &mut State, then: Then) -> Vec<Effect> {
    let Some(editor) = &mut state.editor else { return Vec::new() };
    if editor.typing.is_some() {
        return compose::take_text(state);
    }
    if editor.theirs.is_some() {
        ask_whose(state);
        return Vec::new();
    }
    if !editor.modified && editor.base.exists() {
        if then == Then::Stay {
            state.message = format!("{} is saved already", editor.file);
        }
        return follow(state, then);
    }
    editor.saving = Some((editor.serial, then));
    let edit = TextEdit { serial: editor.serial, base: editor.base.clone(), hunks: editor.hunks() };
    vec![Effect::Engine(EngineRequest::SaveText(edit))]
}

/// The text has changed: what it would do is shown.
fn draft(state: &mut State) -> Vec<Effect> {
    let Some(editor) = &state.editor else { return Vec::new() };
    if editor.typing.is_some() {
        return compose::typed(state);
    }
    let edit = TextEdit { serial: editor.serial, base: editor.base.clone(), hunks: editor.hunks() };
    vec![Effect::Engine(EngineRequest::DraftText(edit))]
}

/// The cells and rows of the text in the last frame.
fn size(state: &State) -> (usize, usize) {
    match state.metrics.editor {
        (0, _) => (80, 24),
        (cells, height) => (cells.into(), height.into()),
    }
}

/// A key that types or moves.
pub(super) fn on_key(state: &mut State, key: Key) -> Vec<Effect> {
    let (cells, height) = size(state);
    let Some(editor) = &mut state.editor else { return Vec::new() };
    match editor.key(key, cells, height) {
        Some(true) => draft(state),
        _ => Vec::new(),
    }
}

pub(super) fn on_paste(state: &mut State, text: &str) -> Vec<Effect> {
    if let Some(waiting) = &mut state.waiting {
        waiting.push(Event::Paste(text.to_owned()));
        return Vec::new();
    }
    let Some(editor) = &mut state.editor else { return Vec::new() };
    editor.paste(text);
    draft(state)
}

/// Keeps the cursor on the screen.
pub(super) fn settle(state: &mut State) {
    let (cells, height) = size(state);
    if let Some(editor) = &mut state.editor {
        editor.settle(cells, height);
    }
}

pub(super) fn scroll(state: &mut State, by: isize) {
    let (cells, height) = size(state);
    if let Some(editor) = &mut state.editor {
        editor.scroll(by, cells, height);
    }
}

/// The mouse was pressed on a cell of a row.
pub(super) fn click(state: &mut State, line: usize, start: usize, cell: u16) {
    let place = under(state, line, start, cell);
    if let (Some(editor), Some(place)) = (&mut state.editor, place) {
        editor.jump(place);
    }
}

/// The mouse was dragged to a cell of a row.
pub(super) fn drag(state: &mut State, line: usize, start: usize, cell: u16) {
    let place = under(state, line, start, cell);
    if let (Some(editor), Some(place)) = (&mut state.editor, place) {
        editor.reach(place);
    }
}

/// The place in a cell of a row.
fn under(state: &State, line: usize, start: usize, cell: u16) -> Option<Place> {
    let (cells, _) = size(state);
    let editor = state.editor.as_ref()?;
    let rows = Rows::new(&editor.document, cells);
    let row = rows.of(editor.document.clamp(Place { row: line, byte: start }));
    Some(Place { row: row.row, byte: rows.byte_at(row, cell.into()) })
}

/// What is looked for has changed.
pub(super) fn search(state: &mut State, text: &str) {
    let Some(editor) = &mut state.editor else { return };
    if text.is_empty() {
        editor.find = None;
        return;
    }
    let mut find = Find::new(text);
    if let Some((_, place)) = find.at(&editor.document, editor.cursor) {
        editor.jump(place);
    }
    editor.find = Some(find);
}

/// What was looked for is kept, and said.
pub(super) fn keep_search(state: &mut State) {
    let Some(editor) = &mut state.editor else { return };
    let Some(find) = &mut editor.find else { return };
    let count = find.hits(&editor.document).len();
    state.message = match find.at(&editor.document, editor.cursor) {
        Some((at, _)) => {
            let key = |action| state.keymap.shown_key(action);
            let (next, previous) = (key(Action::FindNext), key(Action::FindPrevious));
            format!("{} of {count}; {next} and {previous} go through them", at + 1)
        }
        None => {
            let text = format!("nothing found for \"{}\"", find.text);
            editor.find = None;
            text
        }
    };
}

fn step(state: &mut State, forward: bool) {
    let Some(editor) = &mut state.editor else { return };
    let Some(find) = &mut editor.find else { return };
    let count = find.hits(&editor.document).len();
    if let Some((at, place)) = find.step(&editor.document, editor.cursor, forward) {
        state.message = format!("{} of {count}", at + 1);
        editor.jump(place);
    }
}
