//! Views: their lines, what Enter does on them, and the way there and back.

use std::sync::Arc;

use super::screen::{self, Motion, moved};
use super::zones;
use crate::app::action::Action;
use crate::app::editor::Purpose;
use crate::app::effect::{Effect, EngineRequest};
use crate::app::rows::{self, Goal};
use crate::app::snapshot::{BlockChange, CallRow, Snapshot};
use crate::app::state::{Pane, State, Stored, View};
use crate::app::views::{Form, Spot, ViewData};
use crate::core::fact::Name;
use crate::core::wire::{CallNo, MessageId};

/// Bytes that are to be shown as soon as the engine has published their call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seek {
    /// The call.
    pub call: CallNo,
    /// The message; none for wherever the layer writes.
    pub message: Option<MessageId>,
    /// The layer; none for where the call differs first.
    pub layer: Option<Name>,
}

/// Opens a view, or goes back to the panes if it is open.
pub(super) fn switch(state: &mut State, view: View) {
    let open = state.view == view;
    to_panes(state);
    if open {
        return;
    }
    enter(state, view);
    begin(state);
}

/// Goes to where the view begins.
fn begin(state: &mut State) {
    if let Some(start) = state.page.start {
        state.here_mut().list.cursor = start;
    }
}

/// Leaves all views.
pub(super) fn to_panes(state: &mut State) {
    stop_reading(state);
    state.view = View::Main;
    state.under.clear();
}

/// The request is what pane 3 shows again, where it was.
fn stop_reading(state: &mut State) {
    if let Some(reading) = state.reading.take() {
        state.request = reading.request;
        state.search = None;
    }
}

/// Asks the engine for the data of the view that is open, if that is another one than before.
pub(super) fn ask(state: &mut State, effects: &mut Vec<Effect>) {
    let wanted = ViewData::of(state.view);
    if wanted != state.asked_for {
        state.asked_for = wanted;
        effects.push(Effect::Engine(EngineRequest::View(wanted)));
    }
}

/// Puts a view above the one that fills the screen.
fn enter(state: &mut State, view: View) {
    if state.view != View::Main {
        state.under.push(state.view);
    }
    state.view = view;
    state.zones.call = None;
    state.search = None;
    state.metrics.view = (0, 0);
    state.begins = true;
    refresh(state);
}

/// Back to the view below, at last to the panes.
pub(super) fn leave(state: &mut State) {
    let filter = &mut state.here_mut().filter;
    if !filter.is_empty() {
        filter.clear();
    } else {
        stop_reading(state);
        state.view = state.under.pop().unwrap_or_default();
    }
    refresh(state);
}

/// Makes the page of the view anew. The selected line stays selected, wherever it stands by now.
pub(super) fn refresh(state: &mut State) {
    let key = state.page.lines.get(state.here().list.cursor).map(|line| Arc::clone(&line.key));
    let page = if rows::page_stands(state) { std::mem::take(&mut state.page) } else { rows::page(state) };
    let same = state.page_of == state.view;
    let found = key.filter(|key| same && !key.is_empty());
    let found = found.and_then(|key| page.lines.iter().position(|line| line.key == key));
    let columns = page.open_columns();
    state.page = page;
    state.page_of = state.view;
    if state.view == View::Main {
        return;
    }
    let (len, rows) = (state.page.lines.len(), usize::from(state.metrics.view.1));
    let here = state.here_mut();
    here.list.cursor = found.unwrap_or(here.list.cursor);
    // How many rows there are is not known before it was drawn.
    here.list.fit(len, if rows == 0 { usize::MAX } else { rows });
    if !columns.contains(&here.column) {
        here.column = columns.first().copied().unwrap_or(0);
    }
}

/// Moves through the view: from one line that can be opened to the next, by rows where there is none.
pub(super) fn go(state: &mut State, motion: Motion) {
    let (len, rows) = (state.page.lines.len(), usize::from(state.metrics.view.1).max(1));
    let cursor = state.here().list.cursor;
    let to = moved(cursor, len, motion);
    let Motion::By(by) = motion else {
        state.here_mut().list.cursor = to;
        return;
    };
    if state.page.diff.is_some() || by == 0 {
        state.here_mut().list.cursor = to;
        return;
    }
    // From the row that the motion leads to, or from the row before it, to where one comes to rest.
    let from = if by > 0 { to.saturating_sub(1).max(cursor) } else { (to + 1).min(cursor) };
    let stop = state.page.stop_from(from, by > 0);
    // What lies farther away than a screen is scrolled to, so that nothing is leapt over unread.
    let to = stop.filter(|stop| stop.abs_diff(to) < rows).unwrap_or(to);
    let end = state.page.end_of(to).min(len);
    let list = &mut state.here_mut().list;
    list.cursor = to;
    // All that goes on with the line is on the screen with it, where it fits.
    list.top = list.top.max(end.saturating_sub(rows)).min(to);
}

/// Scrolls by rows, down where positive.
pub(super) fn scroll(state: &mut State, by: isize) {
    let (len, rows) = (state.page.lines.len(), usize::from(state.metrics.view.1));
    state.here_mut().list.scroll(by, len, rows);
}

pub(super) fn turn_column(state: &mut State, action: Action) {
    let columns = state.page.open_columns();
    let here = state.here_mut();
    let at = columns.iter().position(|&column| column == here.column).unwrap_or(0);
    let at = if action == Action::ColumnNext { at + 1 } else { at.saturating_sub(1) };
    here.column = columns.get(at).copied().unwrap_or(here.column);
}

/// A click: it selects, and a second one on the same cell opens.
pub(super) fn click(state: &mut State, line: usize, column: usize) -> Vec<Effect> {
    let columns = state.page.open_columns();
    let here = state.here_mut();
    let column = if columns.contains(&column) { column } else { here.column };
    if (here.list.cursor, here.column) == (line, column) {
        return open(state);
    }
    here.list.cursor = line;
    here.column = column;
    Vec::new()
}

/// What Enter does on the selected line.
pub(super) fn open(state: &mut State) -> Vec<Effect> {
    let here = state.here();
    let Some(line) = state.page.lines.get(here.list.cursor) else { return Vec::new() };
    let key = Arc::clone(&line.key);
    match line.goal_at(here.column) {
        Goal::Nothing => {
            state.message = match state.view {
                View::Recording => {
                    "this line is about the whole log; Enter on a cause or a call goes to its request"
                }
                _ => "there are no bytes behind this line",
            }
            .to_owned();
        }
        Goal::Fold => {
            let turned = &mut state.here_mut().turned;
            if !turned.remove(&key) {
                turned.insert(key);
            }
            refresh(state);
        }
        Goal::Happen(id) => return vec![Effect::Engine(EngineRequest::Happen(id))],
        Goal::Edit => return super::editor::ask(state, crate::app::editor::Purpose::Here),
        Goal::Turn(key) => {
            let turned = &mut state.here_mut().turned;
            if !turned.remove(&key) {
                turned.insert(key);
            }
            refresh(state);
        }
        Goal::Stored { message, form, author } => read(state, message, form, author.as_ref()),
        Goal::Text => return super::editor::ask(state, Purpose::Here),
        Goal::Mend(fix) => return vec![Effect::Engine(EngineRequest::Mend(fix))],
        Goal::Layer(layer) => screen::show_layer(state, &layer),
        Goal::Lane(lane) => zones::select(state, lane),
        Goal::Fix(fix) => return zones::fix(state, fix),
        Goal::Do(action) => return screen::perform(state, action),
        Goal::Call { call, message, layer } => return seek(state, Seek { call, message, layer }),
    }
    Vec::new()
}

/// Reads a message of the ledger in one of its forms.
fn read(state: &mut State, message: MessageId, form: Form, author: Option<&Name>) {
    let row =
        state.snapshot.data.ledger().and_then(|ledger| ledger.rows.iter().find(|row| row.message == message));
    let Some(row) = row else { return };
    let Some(first) = row.first[form as usize] else {
        state.message = format!("{} is not {}: there are no bytes", row.title, form.word());
        return;
    };
    let end = Form::ALL
        .into_iter()
        .skip(form as usize + 1)
        .find_map(|form| row.first[form as usize])
        .unwrap_or(row.texts.len());
    let place = author.and_then(|author| {
        (first..end).find_map(|block| {
            Some((block, row.texts[block].parts.iter().position(|part| part.author == *author)?))
        })
    });
    if author.is_some() && place.is_none() {
        state.message =
            format!("{} is not {} with this message", author.map_or("", |name| name), form.word());
        return;
    }
    let (block, part) = place.unwrap_or((first, 0));
    enter(state, View::Bytes);
    let request = std::mem::take(&mut state.request);
    state.request.look = request.look;
    state.reading = Some(Stored { message, request });
    screen::look_at_part(state, block, part);
}

/// Goes to the next call behind the shown one that pays something again; behind the last comes the first.
pub(super) fn next_break(state: &mut State) -> Vec<Effect> {
    let calls = &state.snapshot.calls;
    let shown = calls.shown.map_or(0, |shown| shown + 1);
    let breaks = |row: &&CallRow| row.breaks();
    let next = calls.rows.iter().skip(shown).find(breaks).or_else(|| calls.rows.iter().find(breaks));
    let Some(call) = next.map(|row| row.no) else { return Vec::new() };
    // Nobody's name: wherever the call differs first.
    seek(state, Seek { call, message: None, layer: Some(Name::from("")) })
}

/// Goes to the bytes that something is about.
pub(super) fn to_spot(state: &mut State, spot: &Spot) -> Vec<Effect> {
    let shown = state.snapshot.request.call;
    let (call, message) = (spot.call.unwrap_or(shown), spot.message);
    let layer = (!spot.author.is_empty()).then(|| spot.author.clone());
    seek(state, Seek { call, message, layer })
}

/// Goes to bytes of a call, which is shown first if it is not.
pub(super) fn seek(state: &mut State, seek: Seek) -> Vec<Effect> {
    let shown = state.snapshot.calls.shown.and_then(|shown| state.snapshot.calls.rows.get(shown));
    let call = seek.call;
    if shown.is_some_and(|row| row.no == call) && state.snapshot.request.call == call {
        arrive(state, &seek);
        return Vec::new();
    }
    state.seeking = Some(seek);
    vec![Effect::Engine(EngineRequest::Jump(call))]
}

/// The engine has published; `other` when another call is shown than before. What was sought may be there now.
pub(super) fn on_published(state: &mut State, snapshot: &Snapshot, other: bool) {
    refresh(state);
    let published = ViewData::of(state.view) != View::Main || state.view == View::Diff;
    if published && (other || state.begins) {
        state.begins &= snapshot.data == ViewData::None && snapshot.diff.is_none();
        begin(state);
    }
    // A message that is not there any more cannot be read.
    if state.reading.is_some() && state.blocks().is_empty() {
        leave(state);
    }
    if let Some(seek) = state.seeking.take_if(|seek| seek.call == snapshot.request.call) {
        arrive(state, &seek);
    }
}

fn arrive(state: &mut State, seek: &Seek) {
    let found = seek.layer.as_ref().and_then(|layer| {
        let blocks = state.snapshot.request.blocks.iter().enumerate();
        let mut blocks = blocks.filter(|(_, row)| seek.message.is_none() || row.message == seek.message);
        blocks.find_map(|(block, row)| {
            let part = row.parts.iter().position(|part| {
                part.layer.as_ref() == Some(layer) || part.layer.is_none() && part.author == *layer
            })?;
            Some((block, part))
        })
    });
    let blocks = &state.snapshot.request.blocks;
    // Where the call differs from the one before it inside of what is meant, that byte is what one looks for.
    let differs = |block: usize| match blocks[block].change {
        BlockChange::Changed(byte) => Some(byte),
        _ => None,
    };
    let of_message = || blocks.iter().position(|row| seek.message.is_some() && row.message == seek.message);
    let changed = || (0..blocks.len()).find(|&block| differs(block).is_some());
    match (found, of_message()) {
        (Some((block, part)), _) => {
            let range = blocks[block].parts[part].range.clone();
            match differs(block).filter(|byte| range.contains(byte)) {
                Some(byte) => show_byte(state, block, byte),
                None => screen::show_part(state, block, part),
            }
        }
        (None, Some(block)) => {
            let byte = differs(block).unwrap_or(0);
            show_byte(state, block, byte);
        }
        (None, None) => match (seek.message, &seek.layer, changed()) {
            (None, None, _) => screen::focus(state, Pane::Calls),
            (None, Some(_), Some(block)) => {
                let byte = differs(block).unwrap_or(0);
                show_byte(state, block, byte);
            }
            (Some(message), ..) => {
                state.message = format!("message {} is not in this request", message.0);
            }
            (None, Some(layer), None) => {
                state.message = format!("{layer} writes nothing into this request");
            }
        },
    }
}

/// Looks at a byte of the request, with the request focused.
fn show_byte(state: &mut State, block: usize, byte: usize) {
    screen::focus(state, Pane::Request);
    screen::look_at(state, block, byte);
}

/// Text was typed into the search of a view.
pub(super) fn search(state: &mut State, text: &str) {
    if state.page.filters {
        text.clone_into(&mut state.here_mut().filter);
        refresh(state);
        return;
    }
    let found = |line: &rows::Line| {
        line.cells.iter().any(|cell| super::search::ranges(&cell.text, text).next().is_some())
    };
    if let Some(at) = state.page.lines.iter().position(found) {
        state.here_mut().list.cursor = at;
    }
}
