//! Lists and inputs above the screen.

use ratatui::layout::{Position, Rect};

use super::canvas::{Canvas, row_area};
use super::{compose, header};
use crate::app::action::Action;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::form::{self, Subject};
use crate::app::line_editor::LineEditor;
use crate::app::rows::{self, ListRow};
use crate::app::state::{Mode, Overlay, OverlayKind, Pane, State};
use crate::tui::theme::Role;

/// Draws what is open on top. Returns where the terminal's cursor belongs: the windows of input methods stand there.
pub(super) fn draw(canvas: &mut Canvas<'_>, screen: Rect, footer: Rect, state: &State) -> Option<Position> {
    let overlay = state.overlays.last()?;
    match overlay.kind {
        OverlayKind::Cwd => cwd(canvas, screen, state, overlay),
        OverlayKind::Value => value(canvas, screen, state, overlay),
        OverlayKind::Line => compose::draw_line(canvas, above(screen, footer), state, overlay),
        OverlayKind::Search => {
            search(canvas, if footer.is_empty() { bottom(screen, 1) } else { footer }, state, overlay)
        }
        OverlayKind::Calls => list(canvas, above(screen, footer), state, overlay),
        _ => list(canvas, screen, state, overlay),
    }
}

/// The screen above the row of keys.
fn above(screen: Rect, footer: Rect) -> Rect {
    if footer.is_empty() { screen } else { Rect { height: footer.y.saturating_sub(screen.y), ..screen } }
}

/// The lowest rows of an area.
pub(super) fn bottom(area: Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    Rect { y: area.bottom() - height, height, ..area }
}

/// Draws an input behind a prompt and returns the cell of its cursor.
pub(super) fn input(
    canvas: &mut Canvas<'_>,
    area: Rect,
    prompt: &str,
    editor: &LineEditor,
) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let used = canvas.text(area.x, area.y, area.width, prompt, Role::Key);
    let room = area.width.saturating_sub(used);
    if room == 0 {
        return None;
    }
    let (shown, column) = editor.window(usize::from(room));
    canvas.text(area.x + used, area.y, room, &editor.text()[shown], Role::Input);
    Some(Position::new(area.x + used + u16::try_from(column).unwrap_or(0).min(room - 1), area.y))
}

/// The input of a search takes the place of the keys.
fn search(canvas: &mut Canvas<'_>, area: Rect, state: &State, overlay: &Overlay) -> Option<Position> {
    canvas.clear(area);
    canvas.regions.note(area, Target::Overlay);
    let found = state
        .editor
        .as_ref()
        .map(|editor| editor.find.as_ref().and_then(|find| find.number(editor.cursor)).unwrap_or((0, 0)));
    let count = match (&state.search, found) {
        (_, Some(_)) if overlay.editor.text().is_empty() => "in the text".to_owned(),
        (_, Some((_, 0))) => "nothing found".to_owned(),
        (_, Some((at, count))) => format!("{at}/{count}"),
        _ if overlay.editor.text().is_empty() => {
            format!("in {}", state.pane().map_or(state.view.title(), Pane::title))
        }
        _ if state.pane().is_none() && state.page.filters => {
            format!("{} lines", state.page.lines.len())
        }
        _ if state.pane().is_none() => String::new(),
        (Some(search), _) if !search.hits.is_empty() => format!("{}/{}", search.at + 1, search.hits.len()),
        _ => "nothing found".to_owned(),
    };
    let edge = area.right().saturating_sub(1);
    let used = canvas.right(area.x + area.width / 2, edge, area.y, &count, Role::Dim);
    let input_area =
        Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(used + 3), ..area };
    input(canvas, input_area, "/", &overlay.editor)
}

/// The input of a CWD stands at the bottom, so that its effect is seen in the panes while it is typed.
fn cwd(canvas: &mut Canvas<'_>, screen: Rect, state: &State, overlay: &Overlay) -> Option<Position> {
    let area = bottom(screen, 6);
    canvas.clear(area);
    canvas.regions.note(area, Target::Overlay);
    let title = format!(" {} ", overlay.kind.title());
    let keys = [(Action::EnterCwd, "change it"), (Action::Complete, "complete"), (Action::UpLevel, "back")];
    let note = state.keymap.hints(&keys, ", ");
    let inner = canvas.boxed(area, &[(&title, Role::BoxTitleFocus)], &note, true);
    if inner.is_empty() {
        // No room for a box: the input alone.
        return input(canvas, bottom(screen, 1), "cwd ", &overlay.editor);
    }
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let cursor = input(canvas, row_area(inner, 0), "cwd ", &overlay.editor);
    let typed = overlay.editor.text();
    let draft = state.snapshot.draft.as_ref().filter(|draft| {
        let own = typed.trim_end_matches('/');
        *draft.typed == *typed || *draft.typed == *own
    });
    let row = |at: usize| row_area(inner, at);
    let (text, role) = match draft {
        Some(draft) => match &draft.problem {
            Some(problem) => (format!("! {problem}"), Role::Bad),
            None => (draft.effect.to_string(), Role::Changed),
        },
        None => {
            let key = state.keymap.shown_key(Action::EnterCwd);
            (format!("type a folder; its effect shows before {key}"), Role::Dim)
        }
    };
    let text = if state.message.is_empty() { text } else { state.message.clone() };
    let mut at = 1;
    for (range, _) in cells::wrap(&text, usize::from(inner.width)).into_iter().take(2) {
        let place = row(at);
        if place.height > 0 {
            canvas.text(place.x, place.y, place.width, text[range].trim_end(), role);
        }
        at += 1;
    }
    // The folders that fit, side by side, the one that Tab stands on marked.
    let place = row(at.max(3));
    if place.height > 0 {
        let mut x = place.x;
        let folders = rows::list_rows(state);
        let first = overlay.list.cursor.min(folders.len().saturating_sub(1));
        let first = if overlay.stem.is_some() { first } else { 0 };
        for (index, folder) in folders.iter().enumerate().skip(first) {
            let name = folder.title.rsplit('/').next().unwrap_or_default();
            let role = if overlay.stem.is_some() && index == overlay.list.cursor {
                Role::Selected
            } else {
                Role::Dim
            };
            let from = x;
            x += canvas.text(x, place.y, place.right().saturating_sub(x), name, role);
            canvas.regions.note(Rect { x: from, width: x - from, ..place }, Target::ListRow(index));
            x += 2;
        }
    }
    canvas.regions.metrics.list = 1;
    cursor
}

/// The input of a field's value, with what may be typed and what is wrong with it.
fn value(canvas: &mut Canvas<'_>, screen: Rect, state: &State, overlay: &Overlay) -> Option<Position> {
    let area = bottom(screen, 5);
    canvas.clear(area);
    canvas.regions.note(area, Target::Overlay);
    let title = format!(" {} ", rows::list_title(state, overlay));
    let Some(Subject::Field(field)) = &overlay.subject else { return None };
    let mut keys = vec![(Action::EnterValue, "into the bench")];
    if field.is_fact() {
        keys.push((Action::EnterInRun, "in this run alone"));
    }
    keys.push((Action::UpLevel, "back"));
    let note = state.keymap.hints(&keys, "; ");
    let inner = canvas.boxed(area, &[(&title, Role::BoxTitleFocus)], &note, true);
    if inner.is_empty() {
        // No room for a box: the input alone.
        return input(canvas, bottom(screen, 1), "> ", &overlay.editor);
    }
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let cursor = input(canvas, row_area(inner, 0), "> ", &overlay.editor);
    let wrong = form::edit(field, overlay.editor.text()).err();
    let (text, role) = match wrong {
        _ if !state.message.is_empty() => (format!("! {}", state.message), Role::Bad),
        Some(wrong) if !overlay.editor.text().is_empty() => (format!("! {wrong}"), Role::Bad),
        _ => (field.wanted().to_owned(), Role::Dim),
    };
    for (at, (range, _)) in cells::wrap(&text, usize::from(inner.width)).into_iter().take(2).enumerate() {
        let place = row_area(inner, at + 1);
        if place.height > 0 {
            canvas.text(place.x, place.y, place.width, text[range].trim_end(), role);
        }
    }
    cursor
}

/// The most rows below a list in which the selected row is said whole.
const WHOLE: usize = 3;
/// With fewer cells than these a sentence beside each row is left out: all of it stands below for the selected row.
const BESIDE: u16 = 36;

fn list(canvas: &mut Canvas<'_>, screen: Rect, state: &State, overlay: &Overlay) -> Option<Position> {
    let rows = rows::list_rows(state);
    let finds = overlay.kind.mode() == Mode::Find;
    // The last rows of the screen say which keys there are, and what an answer comes to; they have to be seen.
    let told = header::told(state, screen.width).len().max(1);
    let told = if screen.height > 5 { u16::try_from(told).unwrap_or(1) } else { 0 };
    let screen = Rect { height: screen.height - told, ..screen };
    let title = format!(" {} ", rows::list_title(state, overlay));
    let keys = state.keymap.hints(&rows::list_keys(overlay), "; ");
    let note = match overlay.kind {
        OverlayKind::Help => format!("type to search; {keys}"),
        OverlayKind::Palette | OverlayKind::Models | OverlayKind::Reply => format!("type to find; {keys}"),
        OverlayKind::Copy => format!("{} or {keys}", state.keymap.shown_key(Action::Accept)),
        OverlayKind::Both => format!("- theirs, + mine; {keys}"),
        OverlayKind::KeptBoth => format!("- the file, + not saved; {keys}"),
        _ => keys,
    };
    // What stands in the borders has to be read, too.
    let least = u16::try_from(cells::width(&note).max(cells::width(&title))).unwrap_or(u16::MAX);
    let columns = Columns::of(&rows, overlay.kind, (least.saturating_add(6), screen.width));
    let inside = usize::from(columns.width.saturating_sub(4));
    let whole = rows.iter().filter_map(|row| columns.whole(row)).map(|text| cells::wrap(&text, inside).len());
    let whole = u16::try_from(whole.max().unwrap_or(0).min(WHOLE)).unwrap_or(0);
    let wanted = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(2 + u16::from(finds) + whole);
    // A filter must not make the box jump, so a list to type into keeps its size.
    let height = if finds { screen.height.saturating_sub(3).max(3) } else { wanted.max(3) };
    let height = height.min(screen.height);
    let (width, y) = match overlay.kind {
        // What a reply would do is seen above it.
        OverlayKind::Calls => (screen.width, screen.bottom() - height),
        _ => (columns.width, screen.y + (screen.height - height) / 2),
    };
    let area = Rect { x: screen.x + (screen.width - width) / 2, y, width, height };
    canvas.clear(area);
    canvas.regions.note(area, Target::Overlay);
    let mut inner = canvas.boxed(area, &[(&title, Role::BoxTitleFocus)], &note, true);
    if inner.is_empty() {
        return None;
    }
    inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let mut cursor = None;
    if finds {
        cursor = input(canvas, row_area(inner, 0), "> ", &overlay.editor);
        inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    }
    // Where the screen is too low for both, the rows come first.
    let whole = if inner.height > whole + 2 { whole } else { 0 };
    inner.height -= whole;
    canvas.regions.metrics.list = inner.height;
    canvas.away(area, true, overlay.list.top, usize::from(inner.height), rows.len());
    if rows.is_empty() {
        canvas.text(inner.x, inner.y, inner.width * u16::from(inner.height > 0), "nothing fits", Role::Dim);
    }
    for (index, row) in rows.iter().enumerate().skip(overlay.list.top).take(usize::from(inner.height)) {
        let place = row_area(inner, index - overlay.list.top);
        columns.draw(canvas, place, row);
        if index == overlay.list.cursor && !row.is_heading() {
            canvas.paint(place, Role::Selected);
        }
        if !row.is_heading() {
            canvas.regions.note(place, Target::ListRow(index));
        }
    }
    if let Some(text) = rows.get(overlay.list.cursor).and_then(|row| columns.whole(row)) {
        let below = Rect { y: inner.bottom(), height: whole, ..inner };
        for (at, (range, hang)) in cells::wrap(&text, inside).into_iter().take(usize::from(whole)).enumerate()
        {
            let place = row_area(below, at);
            let hang = u16::try_from(hang).unwrap_or(0).min(place.width);
            canvas.text(place.x + hang, place.y, place.width - hang, text[range].trim_end(), Role::Changed);
        }
    }
    cursor
}

/// How wide the columns of a list are, in cells.
struct Columns {
    /// The whole box.
    width: u16,
    keys: u16,
    titles: u16,
    /// What there is to know about a row; none where it would be cut in most rows.
    abouts: Option<u16>,
}

impl Columns {
    fn of(rows: &[ListRow], kind: OverlayKind, (least, most): (u16, u16)) -> Columns {
        let widest = |text: fn(&ListRow) -> &str| {
            let own = rows.iter().filter(|row| !row.is_heading());
            u16::try_from(own.map(|row| cells::width(text(row))).max().unwrap_or(0)).unwrap_or(u16::MAX)
        };
        let (keys, titles, abouts) =
            (widest(|row| &row.key).min(22), widest(|row| &row.title), widest(|row| &row.about));
        let headings = rows.iter().filter(|row| row.is_heading()).map(|row| cells::width(&row.title));
        let headings = u16::try_from(headings.max().unwrap_or(0)).unwrap_or(u16::MAX).saturating_add(4);
        let wide = keys
            .saturating_add(titles)
            .saturating_add(abouts)
            .saturating_add(10)
            .max(40)
            .max(headings)
            .max(least);
        let width = if kind.mode() == Mode::Find { wide.max(76) } else { wide }.min(most);
        let inner = width.saturating_sub(4);
        let keys = keys.min(inner / 3);
        let room = inner.saturating_sub(keys + 1);
        // Sentences that are cut say nothing; figures do also with their end cut away.
        let sentences = matches!(kind, OverlayKind::Help | OverlayKind::Palette | OverlayKind::Views);
        let beside = room.saturating_sub(titles.min(inner / 2) + 2);
        let shown = abouts > 0 && (abouts <= beside || !sentences || beside >= BESIDE);
        let titles = if shown { titles.min(inner / 2) } else { titles.min(room) };
        Columns { width, keys, titles, abouts: shown.then_some(room.saturating_sub(titles + 2)) }
    }

    /// What of a row is cut away or left out, as one text; none where all of it is seen.
    fn whole(&self, row: &ListRow) -> Option<String> {
        if row.is_heading() {
            return None;
        }
        let cut = |text: &str, room: u16| cells::width(text) > usize::from(room);
        let about = cut(&row.about, self.abouts.unwrap_or(0));
        match (cut(&row.title, self.titles), about) {
            (false, false) => None,
            (false, true) => Some(row.about.clone()),
            (true, _) if row.about.is_empty() => Some(row.title.clone()),
            (true, _) => Some(format!("{}: {}", row.title, row.about)),
        }
    }

    fn draw(&self, canvas: &mut Canvas<'_>, place: Rect, row: &ListRow) {
        if row.is_heading() {
            canvas.text(place.x, place.y, place.width, &row.title, Role::Label);
            return;
        }
        let mut x = place.x;
        canvas.text(x, place.y, self.keys, &row.key, Role::Key);
        x += self.keys + 1;
        canvas.text(x, place.y, self.titles.min(place.right().saturating_sub(x)), &row.title, Role::Text);
        if let Some(abouts) = self.abouts {
            x += self.titles + 2;
            canvas.text(x, place.y, abouts.min(place.right().saturating_sub(x)), &row.about, Role::Dim);
        }
    }
}
