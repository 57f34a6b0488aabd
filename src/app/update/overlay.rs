//! Lists and inputs that are open above the screen.

use std::sync::Arc;

use super::screen::{Motion, moved};
use super::{compose, editor, form, search, setup, views};
use crate::app::action::{self, Action, Scope};
use crate::app::copy;
use crate::app::effect::{Effect, EngineRequest};
use crate::app::folders;
use crate::app::form::Subject;
use crate::app::key::Key;
use crate::app::line_editor::LineEditor;
use crate::app::rows::{self, Answer, Pick};
use crate::app::state::{ListState, Mode, Overlay, OverlayKind, State};
use crate::core::fact::Name;
use crate::io::edit::bench::BenchEdit;

pub(super) fn open(state: &mut State, kind: OverlayKind) {
    open_on(state, kind, None);
}

/// Opens a list or an input that is about something.
pub(super) fn open_on(state: &mut State, kind: OverlayKind, subject: Option<Subject>) {
    let mut editor = LineEditor::default();
    let mut list = ListState::default();
    let base = Arc::clone(&state.snapshot.agent.cwd);
    let choices = &state.snapshot.choices;
    match kind {
        // What is on is selected, so that Enter changes nothing by accident.
        OverlayKind::Models => list.cursor = choices.models.iter().position(|model| model.on).unwrap_or(0),
        OverlayKind::Sides => {
            let choices = state.snapshot.diff.iter().flat_map(|view| &view.choices);
            list.cursor = choices.enumerate().find(|(_, choice)| choice.on).map_or(0, |(at, _)| at);
        }
        OverlayKind::Runs => list.cursor = choices.runs.iter().position(|run| run.on).unwrap_or(0),
        OverlayKind::Cwd => {
            editor.set(if base.ends_with('/') { base.to_string() } else { format!("{base}/") });
        }
        OverlayKind::Themes => {
            list.cursor = state.themes.iter().position(|theme| theme.name == state.theme).unwrap_or(0);
        }
        OverlayKind::Search => state.search = None,
        OverlayKind::Copy => {
            let first = copy::first(state);
            let rows = copy::choices(state);
            list.cursor = rows.iter().position(|(which, ..)| *which == first).unwrap_or(0);
        }
        _ => {}
    }
    state.overlays.push(Overlay { kind, subject, editor, list, stem: None, warned: None, base });
    // How many rows it has is not known before it was drawn.
    state.metrics.list = 0;
    skip_heading(state, 1);
    if kind == OverlayKind::Programs {
        // Whoever presses Enter without reading allows nothing.
        let rows = rows::list_rows(state);
        let careful = rows.iter().position(|row| row.pick == Pick::Answer(Answer::NotNow));
        if let (Some(overlay), Some(careful)) = (state.overlays.last_mut(), careful) {
            overlay.list.cursor = careful;
        }
    }
}

/// Closes what is on top; an input is given up.
pub(super) fn close(state: &mut State) -> Vec<Effect> {
    match state.overlays.pop().map(|overlay| overlay.kind) {
        // Nothing is decided: the text stays kept, and nothing is edited meanwhile.
        Some(OverlayKind::Kept) => {
            state.message = "what was not saved is still kept".to_owned();
            editor::close(state)
        }
        Some(OverlayKind::Cwd) => vec![Effect::Engine(EngineRequest::CancelPreview)],
        Some(OverlayKind::Calls) => compose::close_calls(state),
        Some(OverlayKind::Search) => {
            state.search = None;
            if state.pane().is_none() {
                state.here_mut().filter.clear();
            }
            if let Some(editor) = &mut state.editor {
                editor.find = None;
            }
            Vec::new()
        }
        _ => Vec::new(),
    }
}

pub(super) fn perform(state: &mut State, action: Action) -> Vec<Effect> {
    match action {
        Action::ListUp => go(state, Motion::By(-1)),
        Action::ListDown => go(state, Motion::By(1)),
        Action::Accept | Action::Toggle => return take(state),
        Action::WriteModel => return write_model(state),
        Action::ChangeField => return take(state),
        Action::TakeOut => return form::take_out(state),
        Action::ChangePart => return take(state),
        Action::TakePartOut => return compose::take_out(state),
        Action::SendReply => return compose::send_reply(state),
        Action::TakeLine => return compose::take_line(state),
        Action::MoreLines => return compose::more_lines(state, ""),
        Action::EnterValue => return form::enter(state),
        Action::EnterInRun => return form::enter_in_run(state),
        Action::UndoBench => return vec![Effect::Engine(EngineRequest::UndoBench)],
        Action::RedoBench => return vec![Effect::Engine(EngineRequest::RedoBench)],
        Action::EnterCwd => return enter_cwd(state),
        Action::Complete => return complete(state),
        Action::EnterSearch if state.editor.is_some() => {
            state.overlays.pop();
            editor::keep_search(state);
        }
        Action::EnterSearch => {
            state.overlays.pop();
            if let Some(search) = &state.search {
                state.message = if search.hits.is_empty() {
                    format!("nothing found for \"{}\"", search.text)
                } else {
                    let key = |action| state.keymap.shown_key(action);
                    let (next, previous) = (key(Action::NextMatch), key(Action::PreviousMatch));
                    let (at, count) = (search.at + 1, search.hits.len());
                    format!("{at} of {count}; {next} and {previous} go through them")
                };
            }
            if state.search.as_ref().is_some_and(|search| search.hits.is_empty()) {
                state.search = None;
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Moves the cursor of the list, over headings.
pub(super) fn go(state: &mut State, motion: Motion) {
    let len = rows::list_rows(state).len();
    if let Some(overlay) = state.overlays.last_mut() {
        overlay.list.cursor = moved(overlay.list.cursor, len, motion);
    }
    skip_heading(state, if matches!(motion, Motion::By(by) if by < 0) { -1 } else { 1 });
}

fn skip_heading(state: &mut State, by: isize) {
    let rows = rows::list_rows(state);
    let Some(overlay) = state.overlays.last_mut() else { return };
    let heading = |at: usize| rows.get(at).is_some_and(rows::ListRow::is_heading);
    while heading(overlay.list.cursor) {
        match overlay.list.cursor.checked_add_signed(by).filter(|&to| to < rows.len()) {
            Some(to) => overlay.list.cursor = to,
            // The list begins with a heading: the row below it is the first one that can be taken.
            None => {
                overlay.list.cursor = (0..rows.len()).find(|&at| !heading(at)).unwrap_or(0);
                return;
            }
        }
    }
}

/// Takes the selected row.
pub(super) fn take(state: &mut State) -> Vec<Effect> {
    let rows = rows::list_rows(state);
    let Some(overlay) = state.overlays.last() else { return Vec::new() };
    let Some(row) = rows.get(overlay.list.cursor) else { return Vec::new() };
    let request = match row.pick.clone() {
        Pick::Nothing => return Vec::new(),
        Pick::Line => return line(state),
        Pick::Answer(Answer::NotNow) => return close(state),
        Pick::Answer(Answer::RunPrograms) => EngineRequest::AllowPrograms,
        Pick::Answer(answer) => return editor::answer(state, answer),
        Pick::Field(field) => {
            form::change(state, field);
            return Vec::new();
        }
        Pick::Form(subject) => {
            form::open(state, subject);
            return Vec::new();
        }
        Pick::Reply(with) => return compose::reply_with(state, &with),
        Pick::Part(part) => return compose::change(state, &part),
        Pick::Value(at, name, value) => return compose::give(state, at, &name, &value),
        Pick::SaveOver(name) => return compose::save_as(state, &name, true),
        Pick::Way(names) => EngineRequest::ApplyWay(names),
        Pick::SwitchOverlay => EngineRequest::Overlay,
        Pick::Edit(edit) => return form::ask(state, *edit),
        Pick::Action(action) => {
            state.overlays.pop();
            let scope = action::info(action).scope;
            if !action::in_scope(state, scope) && !matches!(scope, Scope::Pane(_)) {
                let (key, title) = (state.keymap.shown_key(action), scope.title());
                state.message = format!("{key} works {}{}", title[..1].to_lowercase(), &title[1..]);
                return Vec::new();
            }
            return super::perform(state, action);
        }
        Pick::Copy(which) => {
            state.overlays.pop();
            return copy::of(state, which).map(Effect::Copy).into_iter().collect();
        }
        Pick::Variant(name) => {
            // The list stays open: several can be switched.
            let now = &state.snapshot.choices.variants;
            let on = |name: &Name| now.iter().any(|variant| variant.on && variant.name == *name);
            let mut names: Vec<Name> = now
                .iter()
                .filter(|variant| variant.on && variant.name != name)
                .map(|v| v.name.clone())
                .collect();
            if !on(&name) {
                names.push(name);
            }
            return vec![Effect::Engine(EngineRequest::Variants(names))];
        }
        Pick::Folder(folder) => {
            if let Some(overlay) = state.overlays.last_mut() {
                overlay.editor.set(format!("{folder}/"));
                overlay.stem = None;
            }
            return typed(state);
        }
        Pick::Theme(name) => {
            state.overlays.pop();
            setup::take_theme(state, name);
            return Vec::new();
        }
        Pick::Model(name) => EngineRequest::Model(name),
        Pick::Run(name) => EngineRequest::Run(name),
        Pick::With(with) => {
            state.comparing = Some(with);
            EngineRequest::Compare(Some(with))
        }
    };
    state.overlays.pop();
    vec![Effect::Engine(request)]
}

/// A line of text was taken. Where two texts are read side by side that leads back to the choice between them;
/// elsewhere it is said what can be taken.
fn line(state: &mut State) -> Vec<Effect> {
    let kind = state.overlays.last().map(|overlay| overlay.kind);
    if matches!(kind, Some(OverlayKind::Both | OverlayKind::KeptBoth)) {
        return close(state);
    }
    let rows = rows::list_rows(state);
    let choices = rows.iter().filter(|row| !matches!(row.pick, Pick::Nothing | Pick::Line));
    let titles: Vec<String> = choices.map(|row| format!("\"{}\"", row.title)).collect();
    if !titles.is_empty() {
        state.message = format!("this line is to be read; go to {}", titles.join(" or "));
    }
    Vec::new()
}

/// Writes the selected model into the bench file.
fn write_model(state: &mut State) -> Vec<Effect> {
    let rows = rows::list_rows(state);
    let row = state.overlays.last().and_then(|overlay| rows.get(overlay.list.cursor));
    let Some(Pick::Model(model)) = row.map(|row| row.pick.clone()) else { return Vec::new() };
    state.overlays.pop();
    vec![Effect::Engine(EngineRequest::EditBench(BenchEdit::Model(model)))]
}

/// A key without a meaning of its own: text, where text is typed.
pub(super) fn on_text_key(state: &mut State, key: Key) -> Vec<Effect> {
    let kind = state.overlays.last().map(|overlay| overlay.kind);
    // The list of views shows their keys, and takes them.
    if kind == Some(OverlayKind::Views)
        && let Some(action) = action::VIEWS.iter().copied().find(|view| state.keymap.is(*view, key))
    {
        state.overlays.pop();
        return super::perform(state, action);
    }
    if kind.is_none_or(|kind| matches!(kind.mode(), Mode::Menu | Mode::Variants | Mode::Form | Mode::Calls)) {
        return Vec::new();
    }
    let Some(overlay) = state.overlays.last_mut() else { return Vec::new() };
    let before = overlay.editor.text().to_owned();
    if !overlay.editor.key(key) || overlay.editor.text() == before {
        return Vec::new();
    }
    overlay.stem = None;
    typed(state)
}

/// Text that was pasted where text is typed.
pub(super) fn on_insert(state: &mut State, text: &str) -> Vec<Effect> {
    let Some(overlay) = state.overlays.last_mut() else { return Vec::new() };
    overlay.editor.insert(text);
    overlay.stem = None;
    typed(state)
}

/// What was typed has changed.
fn typed(state: &mut State) -> Vec<Effect> {
    let in_view = state.pane().is_none();
    let Some(overlay) = state.overlays.last_mut() else { return Vec::new() };
    let text = overlay.editor.text().to_owned();
    match overlay.kind {
        OverlayKind::Cwd => {
            if overlay.stem.is_none() {
                overlay.list = ListState::default();
            }
            return vec![Effect::Engine(EngineRequest::PreviewCwd(without_final_slash(&text).into()))];
        }
        OverlayKind::Search if state.editor.is_some() => editor::search(state, &text),
        OverlayKind::Search if in_view => views::search(state, &text),
        OverlayKind::Search => search::search(state, &text),
        _ => {
            overlay.list = ListState::default();
            skip_heading(state, 1);
        }
    }
    Vec::new()
}

/// Folders are completed with a `/` behind them, which is no part of a CWD.
fn without_final_slash(text: &str) -> &str {
    match text.trim_end_matches('/') {
        "" if text.starts_with('/') => "/",
        trimmed => trimmed,
    }
}

fn enter_cwd(state: &mut State) -> Vec<Effect> {
    let Some(overlay) = state.overlays.last_mut() else { return Vec::new() };
    let text = without_final_slash(overlay.editor.text()).to_owned();
    let draft = state.snapshot.draft.as_ref().filter(|draft| *draft.typed == *text);
    // An agent may go anywhere, and only so many folders are listed: what looks like a slip is asked about once.
    if let Some(problem) = draft.and_then(|draft| draft.problem.as_ref())
        && overlay.warned.as_ref() != Some(&text)
    {
        state.message =
            format!("{problem}; {} again takes it all the same", state.keymap.shown_key(Action::EnterCwd));
        overlay.warned = Some(text);
        return Vec::new();
    }
    if text.is_empty() || *text == *overlay.base {
        return close(state);
    }
    state.overlays.pop();
    vec![Effect::Engine(EngineRequest::SetCwd(text.into()))]
}

/// Completes as far as it is certain, then goes through what fits.
fn complete(state: &mut State) -> Vec<Effect> {
    let folders = &state.snapshot.choices.folders;
    let Some(overlay) = state.overlays.last_mut() else { return Vec::new() };
    let text = overlay.stem.clone().unwrap_or_else(|| overlay.editor.text().to_owned());
    let fits = folders::complete(&text, &overlay.base, folders);
    let common = folders::common_start(&fits);
    match fits.as_slice() {
        [] => {
            state.message = "no folder begins like this".to_owned();
            return Vec::new();
        }
        [one] => {
            overlay.editor.set(format!("{one}/"));
            overlay.stem = None;
        }
        _ if overlay.stem.is_none() && common.len() > text.len() => overlay.editor.set(common),
        several => {
            let at = if overlay.stem.is_some() { (overlay.list.cursor + 1) % several.len() } else { 0 };
            overlay.stem = Some(text);
            overlay.list.cursor = at;
            overlay.editor.set(several[at].clone());
        }
    }
    typed(state)
}
