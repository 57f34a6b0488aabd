//! The title, the agent, the model; the row of status and the row of keys.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::layers::tokens;
use crate::app::action::{self, ACTIONS, Action};
use crate::app::cells;
use crate::app::event::Target;
use crate::app::rows;
use crate::app::snapshot::{ModelInfo, Pause, Snapshot};
use crate::app::state::{Mode, Pane, State};
use crate::core::text::number::grouped;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

/// A piece of the header that is not broken: a label and a value, with what a click on it opens.
struct Piece {
    label: String,
    value: String,
    note: String,
    action: Option<Action>,
}

impl Piece {
    fn new(label: impl Into<String>, value: impl Into<String>) -> Piece {
        Piece { label: label.into(), value: value.into(), note: String::new(), action: None }
    }

    fn width(&self) -> usize {
        let gap = usize::from(!self.label.is_empty());
        let note = if self.note.is_empty() { 0 } else { 2 + cells::width(&self.note) };
        cells::width(&self.label) + gap + cells::width(&self.value) + note
    }
}

/// Cells of `Agent` and `Model` with the space in front and behind.
const HEAD: usize = 8;

/// How tokens are counted, in words.
fn token_method(model: &ModelInfo) -> String {
    // Everyone says `o200k`; `_base` is what the encoding's authors add.
    let name = model.tokens.name.trim_end_matches("_base");
    match &model.tokens.estimate {
        _ if name.is_empty() => "not known".to_owned(),
        None => format!("{name}, exact"),
        Some(estimate) if estimate.error.is_empty() => format!("{name} x{:.2} ~", estimate.factor),
        Some(estimate) => format!("{name} x{:.2} ~ {}", estimate.factor, estimate.error),
    }
}

/// A price, without more decimals than it has, but at least two.
fn dollars(price: f64) -> String {
    let text = format!("{price:.4}");
    let short = text.trim_end_matches('0');
    let decimals = short.len() - short.find('.').map_or(short.len(), |dot| dot + 1);
    format!("${price:.*}", decimals.max(2))
}

fn prices(model: &ModelInfo) -> Option<String> {
    let prices = model.prices.as_ref()?;
    let rest = [prices.read, prices.write].into_iter().flatten().map(dollars);
    Some(std::iter::once(dollars(prices.input)).chain(rest).collect::<Vec<_>>().join("/"))
}

fn agent_pieces(snapshot: &Snapshot) -> Vec<Piece> {
    let agent = &snapshot.agent;
    let field = |name: &str| agent.fields.iter().find(|(key, _)| **key == *name).map(|(_, value)| value);
    let mut pieces = Vec::new();
    match (field("id"), field("role")) {
        (Some(id), Some(role)) => pieces.push(Piece::new("", format!("{id} ({role})"))),
        (Some(only), None) | (None, Some(only)) => pieces.push(Piece::new("", only.to_string())),
        (None, None) => {}
    }
    if !agent.cwd.is_empty() || agent.cwd_was.is_some() {
        let mut cwd = Piece::new("cwd", agent.cwd.to_string());
        if agent.cwd.is_empty() {
            cwd.value = "(empty)".to_owned();
        }
        cwd.action = Some(Action::Cwd);
        if let Some(draft) = &snapshot.draft {
            cwd.value = draft.value.to_string();
            cwd.note = "~ typed, not entered".to_owned();
        } else if let Some(was) = &agent.cwd_was {
            cwd.note = format!("~ was {}, {}", was.value, was.cause);
        }
        pieces.push(cwd);
    }
    pieces.push(Piece::new("tools", agent.tools.to_string()));
    let rest = agent.fields.iter().filter(|(key, _)| !matches!(&**key, "id" | "role"));
    pieces.extend(rest.map(|(key, value)| Piece::new(&**key, &**value)));
    if !agent.clock.is_empty() {
        pieces.push(Piece::new("clock", &*agent.clock));
    }
    pieces
}

fn model_pieces(snapshot: &Snapshot) -> Vec<Piece> {
    let model = &snapshot.model;
    let mut id = Piece::new("", &*model.id);
    id.action = Some(Action::Models);
    let mut pieces = vec![id];
    if !model.guidance.is_empty() {
        pieces.push(Piece::new("", &*model.guidance));
    }
    pieces.push(Piece::new("tokens:", token_method(model)));
    let cache = if model.cache.is_empty() { "not known" } else { &model.cache };
    pieces.push(Piece::new("cache:", cache));
    pieces.push(Piece::new("", prices(model).unwrap_or_else(|| "no prices".to_owned())));
    pieces
}

/// The pieces in rows of `width` cells, with the cells to leave between them: fewer where that saves a row.
fn flow(pieces: Vec<Piece>, width: usize) -> (Vec<Vec<Piece>>, usize) {
    let room = width.saturating_sub(HEAD + 1);
    let whole =
        |gap: usize| pieces.iter().map(|piece| piece.width() + gap).sum::<usize>().saturating_sub(gap);
    let gap = if whole(3) > room && whole(2) <= room { 2 } else { 3 };
    let mut rows: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut used = 0;
    for piece in pieces {
        let own = piece.width();
        let Some(row) = rows.last_mut() else { break };
        if used + own > room && !row.is_empty() {
            rows.push(vec![piece]);
            used = own + gap;
        } else {
            row.push(piece);
            used += own + gap;
        }
    }
    (rows, gap)
}

/// How many rows the header of a wide screen wants.
pub(super) fn wish(state: &State, width: u16) -> u16 {
    let width = usize::from(width);
    let rows = flow(agent_pieces(&state.snapshot), width).0.len()
        + flow(model_pieces(&state.snapshot), width).0.len();
    u16::try_from(rows + 1).unwrap_or(3)
}

/// Where the run stands, in words.
fn place(snapshot: &Snapshot, long: bool) -> String {
    let title = &snapshot.title;
    let turn = if title.turns > 0 && long {
        format!("turn {} of {}, ", title.turn, title.turns)
    } else {
        String::new()
    };
    let of = title.calls;
    match (title.pause, long) {
        (Pause::Start, _) => "no call yet".to_owned(),
        (Pause::Before(call), true) => format!("{turn}paused before call {} of {of}", call.0),
        (Pause::Looking(call), true) => format!("{turn}at call {} of {of}, sent", call.0),
        (Pause::End(call), true) => format!("{turn}end of the run, call {} of {of}", call.0),
        (Pause::Before(call) | Pause::Looking(call) | Pause::End(call), false) => {
            format!("call {} of {of}", call.0)
        }
    }
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    if area.is_empty() {
        return;
    }
    match size {
        Size::Wide => wide(canvas, area, state),
        _ => narrow(canvas, area, state),
    }
}

fn wide(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let snapshot = &state.snapshot;
    let title = &snapshot.title;
    let right = area.right().saturating_sub(1);
    let mut place = place(snapshot, true);
    if snapshot.status.playing {
        place.push_str(", playing");
    }
    let used = canvas.right(area.x, right, area.y, &place, Role::Text);
    let room = right.saturating_sub(used + 2);
    let mut x = area.x + 1;
    x += canvas.text(x, area.y, room.saturating_sub(x), "plywood", Role::Dim) + 2;
    let name = if title.name.is_empty() { "no bench" } else { &title.name };
    x += canvas.text(x, area.y, room.saturating_sub(x), name, Role::Title) + 1;
    if !title.note.is_empty() {
        let note = format!("({})", title.note);
        x += canvas.text(x, area.y, room.saturating_sub(x), &note, Role::Text) + 1;
    }
    let run = title.run.as_ref().filter(|_| snapshot.choices.runs.len() > 1).map(|run| format!("run {run}"));
    let branch = title.branch.map(|(branch, of)| format!("branch {branch} of {of}"));
    let words: Vec<String> = [run, branch].into_iter().flatten().collect();
    if !words.is_empty() {
        canvas.text(x, area.y, room.saturating_sub(x), &words.join(", "), Role::Dim);
    }
    let mut y = area.y + 1;
    let width = usize::from(area.width);
    for (head, pieces) in [("Agent", agent_pieces(snapshot)), ("Model", model_pieces(snapshot))] {
        let (rows, gap) = flow(pieces, width);
        for (index, row) in rows.into_iter().enumerate() {
            if y >= area.bottom() {
                return;
            }
            if index == 0 {
                canvas.text(area.x + 1, y, area.width - 1, head, Role::Label);
            }
            let mut x = area.x + u16::try_from(HEAD).unwrap_or(0);
            for piece in row {
                x = draw_piece(canvas, x, y, right, &piece) + u16::try_from(gap).unwrap_or(2);
            }
            y += 1;
        }
    }
}

fn draw_piece(canvas: &mut Canvas<'_>, from: u16, y: u16, right: u16, piece: &Piece) -> u16 {
    let mut x = from;
    if !piece.label.is_empty() {
        x += canvas.text(x, y, right.saturating_sub(x), &piece.label, Role::Label) + 1;
    }
    x += canvas.text(x, y, right.saturating_sub(x), &piece.value, Role::Text);
    if !piece.note.is_empty() {
        x += 2;
        x += canvas.text(x, y, right.saturating_sub(x), &piece.note, Role::Changed);
    }
    if let Some(action) = piece.action {
        canvas
            .regions
            .note(Rect { x: from, y, width: x.saturating_sub(from), height: 1 }, Target::Action(action));
    }
    x
}

/// One row: the bench, the CWD, the model, the call.
fn narrow(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let snapshot = &state.snapshot;
    let right = area.right().saturating_sub(1);
    let place = place(snapshot, false);
    let used = canvas.right(area.x, right, area.y, &place, Role::Text);
    let mut edge = right.saturating_sub(used + 2);
    // The CWD has to be seen; the model gives way.
    let cwd = agent_pieces(snapshot).into_iter().find(|piece| piece.action == Some(Action::Cwd));
    let name = if snapshot.title.name.is_empty() { "no bench" } else { &snapshot.title.name };
    let mut x = area.x + 1;
    x += canvas.text(x, area.y, edge.saturating_sub(x), name, Role::Title) + 2;
    let model = snapshot.model.id.rsplit(':').next().unwrap_or_default();
    let model = format!("{model} {}", token_method(&snapshot.model).replace(',', ""));
    let model_cells = u16::try_from(cells::width(&model)).unwrap_or(0);
    if let Some(mut cwd) = cwd {
        if let Some(was) = snapshot.agent.cwd_was.as_ref().filter(|_| snapshot.draft.is_none()) {
            cwd.note = format!("~ was {}", was.value);
        }
        let wide = |piece: &Piece| u16::try_from(piece.width()).unwrap_or(u16::MAX);
        let room = edge.saturating_sub(x);
        if wide(&cwd).saturating_add(model_cells + 3) <= room {
            canvas.right(x, edge, area.y, &model, Role::Dim);
            edge = edge.saturating_sub(model_cells + 2);
        } else if wide(&cwd) > room {
            cwd.note = if cwd.note.is_empty() { String::new() } else { "~".to_owned() };
        }
        draw_piece(canvas, x, area.y, edge, &cwd);
    } else {
        canvas.right(x, edge, area.y, &model, Role::Dim);
    }
}

/// The most rows in which something is said.
const TOLD: usize = 2;

/// What there is to say until the next key, in the rows that it takes.
pub(super) fn told(state: &State, width: u16) -> Vec<&str> {
    let rows = cells::wrap(&state.message, usize::from(width.saturating_sub(2)).max(1)).into_iter();
    let last = rows.len().min(TOLD).saturating_sub(1);
    // What two rows do not hold is cut, and the cut is seen.
    let text = |(at, (range, _)): (usize, (std::ops::Range<usize>, usize))| {
        let end = if at == last { state.message.len() } else { range.end };
        state.message[range.start..end].trim_end()
    };
    if state.message.is_empty() { Vec::new() } else { rows.enumerate().take(TOLD).map(text).collect() }
}

fn draw_told(canvas: &mut Canvas<'_>, area: Rect, rows: &[&str]) {
    canvas.clear(area);
    for (at, text) in rows.iter().enumerate() {
        let place = super::canvas::row_area(area, at);
        canvas.text(place.x + 1, place.y, place.width.saturating_sub(2), text, Role::Input);
    }
}

pub(super) fn draw_status(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    if area.is_empty() {
        return;
    }
    let snapshot = &state.snapshot;
    let status = &snapshot.status;
    let mut right = Vec::new();
    if let Some(window) = snapshot.model.window {
        let total = tokens(snapshot.request.tokens, snapshot.model.tokens.estimate.is_some());
        right.push(format!("context {total} of {}", grouped(window)));
    }
    if let Some(prices) = &snapshot.model.prices {
        let note = if prices.note.is_empty() { String::new() } else { format!(", {}", prices.note) };
        right.push(format!("prices of {}{note}", prices.date));
    }
    if status.counting {
        right.push("counting tokens".to_owned());
    } else if !snapshot.model.tokens.name.is_empty() {
        let how = if snapshot.model.tokens.estimate.is_some() { "estimated" } else { "exact" };
        right.push(format!("token counts {how}; {} estimates", status.estimates));
    }
    let (note, role) =
        if state.message.is_empty() { (&*status.note, Role::Dim) } else { (&*state.message, Role::Input) };
    let edge = area.right().saturating_sub(1);
    let told = told(state, area.width);
    if !told.is_empty() && 1 + cells::width(&status.watching) + 3 + cells::width(note) > usize::from(edge) {
        draw_told(canvas, area, &told[..1]);
        return;
    }
    // What there is to say now has to be read; what stands there always gives way, the last first.
    let left = 1 + cells::width(&status.watching) + 3 + cells::width(note) + 2;
    let whole = |right: &[String]| right.iter().map(|piece| cells::width(piece) + 2).sum::<usize>();
    while !note.is_empty() && !right.is_empty() && left + whole(&right) > usize::from(edge) {
        right.pop();
    }
    let used = canvas.right(area.x, edge, area.y, &right.join("; "), Role::Dim);
    let room = edge.saturating_sub(used + 2);
    let mut x = area.x + 1;
    x += canvas.text(x, area.y, room.saturating_sub(x), &status.watching, Role::Dim) + 3;
    canvas.text(x, area.y, room.saturating_sub(x), note, role);
}

/// A key of the footer: how soon it gives way, what it does, and both in words.
type KeyHint = (u8, Action, String, String);

/// The keys that mean something now.
fn hints(state: &State) -> Vec<KeyHint> {
    let shown = |action| state.keymap.shown_key(action);
    if let Some(open) = state.overlays.last().filter(|open| open.kind.mode().is_list()) {
        let keys = rows::list_keys(open).into_iter();
        let keys = keys.filter(|(action, _)| !state.keymap.keys(*action).is_empty());
        return keys.map(|(action, does)| (0, action, shown(action), does.to_owned())).collect();
    }
    let mut hints: Vec<KeyHint> = ACTIONS
        .iter()
        .filter(|info| !info.hint.is_empty() && action::in_scope(state, info.scope))
        .filter(|info| action::useful(state, info.action))
        .filter(|info| !state.keymap.keys(info.action).is_empty())
        .map(|info| (action::rank(state, info), info.action, shown(info.action), action::hint(state, info)))
        .collect();
    if state.mode() != Mode::Screen || action::own_keys_first(state) {
        hints.push((0, Action::UpLevel, shown(Action::UpLevel), "back".to_owned()));
    }
    hints
}

/// The keys that mean something now. Where there is no room, those of the highest rank go first.
pub(super) fn draw_footer(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    if area.is_empty() {
        return;
    }
    // Without a row of status, what there is to say stands here; where it is long it takes the row above as well, and
    // beside a row of status it goes on here.
    let told = told(state, area.width);
    let above = u16::try_from(told.len()).unwrap_or(1).saturating_sub(1).min(area.y);
    match size {
        Size::Wide if told.len() > 1 => return draw_told(canvas, area, &told[1..]),
        Size::Wide => {}
        _ if told.is_empty() => {}
        _ => {
            let rows = Rect { y: area.y - above, height: 1 + above, ..area };
            return draw_told(canvas, rows, &told);
        }
    }
    // The keys in the corner take nothing away: hints that have no room beside them are left out whole.
    let area = Rect { width: area.width - corner(area, state).width, ..area };
    let right = area.right().saturating_sub(1);
    let mut x = area.x + 1;
    let mut hints = hints(state);
    let gap = if size == Size::Wide { 3 } else { 2 };
    let wide = |hints: &[KeyHint]| {
        hints.iter().map(|(.., key, word)| cells::width(key) + 1 + cells::width(word) + gap).sum::<usize>()
    };
    while wide(&hints) + 2 > usize::from(area.width) + gap && !hints.is_empty() {
        let worst =
            hints.iter().enumerate().max_by_key(|(_, (rank, ..))| *rank).map_or(0, |(index, _)| index);
        hints.remove(worst);
    }
    let gap = u16::try_from(gap).unwrap_or(2);
    for (_, action, key, word) in hints {
        let from = x;
        x += canvas.text(x, area.y, right.saturating_sub(x), &key, Role::Key) + 1;
        x += canvas.text(x, area.y, right.saturating_sub(x), &word, Role::Text);
        canvas.regions.note(Rect { x: from, y: area.y, width: x - from, height: 1 }, Target::Action(action));
        x += gap;
    }
}

/// The last keys, in the corner of the row of keys.
pub(super) fn draw_keys(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let corner = corner(area, state);
    if corner.is_empty() {
        return;
    }
    canvas.clear(corner);
    canvas.text(corner.x, corner.y, corner.width, &last_keys(state), Role::Selected);
}

/// The last keys in words; empty where they are not shown.
fn last_keys(state: &State) -> String {
    let Some(keys) = state.keys.as_ref().filter(|keys| !keys.is_empty()) else { return String::new() };
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    format!(" {} ", keys.join(" "))
}

/// The corner of a row that the last keys take.
fn corner(area: Rect, state: &State) -> Rect {
    let wide = u16::try_from(cells::width(&last_keys(state))).unwrap_or(0).min(area.width);
    Rect { x: area.right() - wide, width: wide, ..area }
}

/// The names of the panes, where only one is shown.
pub(super) fn tabs(focus: Pane) -> Vec<(String, Pane, bool)> {
    Pane::ALL
        .into_iter()
        .map(|pane| (format!(" {} {} ", pane.index() + 1, pane.title()), pane, pane == focus))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn prices_keep_their_decimals() {
        for (price, text) in
            [(2.5, "$2.50"), (0.25, "$0.25"), (0.075, "$0.075"), (15.0, "$15.00"), (0.0036, "$0.0036")]
        {
            assert_eq!(dollars(price), text);
        }
    }
}
