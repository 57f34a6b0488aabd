//! Lists and inputs above the screen.

use ratatui::layout::{Position, Rect};

use super::canvas::{Canvas, row_area};
use super::compose;
use crate::app::action::Action;
use crate::app::cells;
use crate::app::event::Target;
use crate::app::form::{self, Subject};
use crate::app::line_editor::LineEditor;
use crate::app::rows;
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

fn bottom(screen: Rect, height: u16) -> Rect {
    let height = height.min(screen.height);
    Rect { y: screen.bottom() - height, height, ..screen }
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

fn list(canvas: &mut Canvas<'_>, screen: Rect, state: &State, overlay: &Overlay) -> Option<Position> {
    let rows = rows::list_rows(state);
    let finds = overlay.kind.mode() == Mode::Find;
    // What an edit came to is said in the last row; it has to be seen.
    let says = matches!(overlay.kind, OverlayKind::Form | OverlayKind::Choice) && screen.height > 4;
    let screen = Rect { height: screen.height - u16::from(says), ..screen };
    let wanted = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(2 + u16::from(finds));
    let keys = rows.iter().map(|row| cells::width(&row.key)).max().unwrap_or(0).min(22);
    let titles =
        rows.iter().filter(|row| !row.is_heading()).map(|row| cells::width(&row.title)).max().unwrap_or(0);
    let abouts = rows.iter().map(|row| cells::width(&row.about)).max().unwrap_or(0);
    let wide = u16::try_from(keys + titles + abouts + 10).unwrap_or(u16::MAX).max(40);
    // A filter must not make the box jump, so a list to type into keeps its size.
    let height = if finds { screen.height.saturating_sub(4).max(3) } else { wanted.max(3) };
    let width = if finds { wide.max(76) } else { wide };
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let (width, y) = match overlay.kind {
        // What a reply would do is seen above it.
        OverlayKind::Calls => (screen.width, screen.bottom() - height),
        _ => (width, screen.y + (screen.height - height) / 2),
    };
    let area = Rect { x: screen.x + (screen.width - width) / 2, y, width, height };
    canvas.clear(area);
    canvas.regions.note(area, Target::Overlay);
    let title = format!(" {} ", rows::list_title(state, overlay));
    let hints = |keys: &[(Action, &str)]| state.keymap.hints(keys, "; ");
    let (takes, closes) = ((Action::Accept, "takes"), (Action::UpLevel, "closes"));
    let note = match overlay.kind {
        OverlayKind::Form => hints(&[
            (Action::ChangeField, "changes"),
            (Action::TakeOut, "takes out"),
            (Action::UndoBench, "undoes"),
            closes,
        ]),
        OverlayKind::Calls => hints(&[
            (Action::ChangePart, "changes"),
            (Action::TakePartOut, "takes out"),
            (Action::SendReply, "sends"),
            closes,
        ]),
        OverlayKind::Help => format!("type to search; {}", hints(&[closes])),
        OverlayKind::Copy => format!("{} or {}", state.keymap.shown_key(Action::Accept), {
            hints(&[(Action::Copy, "takes"), closes])
        }),
        OverlayKind::Variants => hints(&[(Action::Toggle, "on or off"), closes]),
        OverlayKind::Both => format!("- theirs, + mine; {}", hints(&[closes])),
        OverlayKind::KeptBoth => format!("- the file, + not saved; {}", hints(&[closes])),
        OverlayKind::Themes => hints(&[takes, (Action::UpLevel, "takes the old one back")]),
        OverlayKind::Palette | OverlayKind::Models | OverlayKind::Reply => {
            format!("type to find; {}", hints(&[takes, closes]))
        }
        _ => hints(&[takes, closes]),
    };
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
    canvas.regions.metrics.list = inner.height;
    canvas.away(area, true, overlay.list.top, usize::from(inner.height), rows.len());
    if rows.is_empty() {
        canvas.text(inner.x, inner.y, inner.width * u16::from(inner.height > 0), "nothing fits", Role::Dim);
    }
    let keys = u16::try_from(keys).unwrap_or(0).min(inner.width / 3);
    let titles =
        u16::try_from(titles).unwrap_or(u16::MAX).min(if abouts > 0 { inner.width / 2 } else { inner.width });
    for (index, row) in rows.iter().enumerate().skip(overlay.list.top).take(usize::from(inner.height)) {
        let place = row_area(inner, index - overlay.list.top);
        if row.is_heading() {
            canvas.text(place.x, place.y, place.width, &row.title, Role::Label);
            continue;
        }
        let mut x = place.x;
        canvas.text(x, place.y, keys, &row.key, Role::Key);
        x += keys + 1;
        canvas.text(x, place.y, titles.min(place.right().saturating_sub(x)), &row.title, Role::Text);
        x += titles + 2;
        canvas.text(x, place.y, place.right().saturating_sub(x), &row.about, Role::Dim);
        if index == overlay.list.cursor {
            canvas.paint(place, Role::Selected);
        }
        canvas.regions.note(place, Target::ListRow(index));
    }
    cursor
}
