//! What is composed by hand: the next message of the user, the model's reply, and the run that they become.

use super::{editor, overlay};
use crate::app::action::Action;
use crate::app::compose::{Composed, Part, Typing};
use crate::app::editor::Editor;
use crate::app::effect::{Effect, EngineRequest, Spoken};
use crate::app::form::Subject;
use crate::app::line_editor::LineEditor;
use crate::app::rows::{self, Pick, ReplyWith};
use crate::app::snapshot::{ByHand, Speaker};
use crate::app::state::{OverlayKind, State};
use crate::core::fact::{Name, Value};
use crate::core::run::Input;
use crate::core::wire::tool::Kind;
use crate::io::edit::bench::problem_with_run_name;

/// What a run is called when it is saved, until its user says otherwise.
const RUN: &str = "tried";

/// True where nobody but a hand answers the request that waits.
pub(super) fn waits(state: &State) -> bool {
    state.snapshot.hand.as_ref().is_some_and(|hand| hand.waits)
}

/// Types the next message of the user, or the one before the call that is looked at otherwise.
pub(super) fn open_said(state: &mut State) -> Vec<Effect> {
    let Some(hand) = state.snapshot.hand.clone() else { return Vec::new() };
    match (hand.speaker, hand.said) {
        (Speaker::User, _) => type_text(state, Typing::Said(false), ""),
        (Speaker::Model, Some(said)) => type_text(state, Typing::Said(true), &said),
        (Speaker::Model, None) => Vec::new(),
    }
}

/// Lists what the model can do; a reply that was composed and not sent is gone on with.
pub(super) fn open_reply(state: &mut State) -> Vec<Effect> {
    let Some(hand) = &state.snapshot.hand else { return Vec::new() };
    let call = hand.call;
    if state.composer.call != call {
        // A call without an answer: what was composed for another one is not meant.
        state.composer.calls.clear();
        state.composer.before = "".into();
        state.composer.call = call;
    }
    state.composer.replaced = None;
    if state.composer.calls.is_empty() {
        overlay::open(state, OverlayKind::Reply);
        return Vec::new();
    }
    open_calls(state)
}

/// Opens the calls that are composed, with the cursor on what is next to do.
fn open_calls(state: &mut State) -> Vec<Effect> {
    if state.overlays.last().is_none_or(|open| open.kind != OverlayKind::Calls) {
        overlay::open(state, OverlayKind::Calls);
    }
    preview(state)
}

/// Puts the cursor of the open calls on a part.
fn select(state: &mut State, part: &Part) {
    let rows = rows::list_rows(state);
    let at = rows.iter().position(|row| matches!(&row.pick, Pick::Part(own) if own == part));
    if let (Some(overlay), Some(at)) = (state.overlays.last_mut(), at) {
        overlay.list.cursor = at;
    }
}

/// Takes a row of the list of what the model can do.
pub(super) fn reply_with(state: &mut State, with: &ReplyWith) -> Vec<Effect> {
    match with {
        ReplyWith::Answer => {
            state.overlays.pop();
            type_text(state, Typing::Answer, "")
        }
        ReplyWith::Failure => {
            state.overlays.pop();
            type_line(state, Typing::Failure, "529 overloaded");
            Vec::new()
        }
        ReplyWith::Tool(name) => {
            let offered = state.snapshot.hand.as_ref();
            let offered = offered.and_then(|hand| hand.tools.iter().find(|tool| tool.name == *name));
            let Some(composed) = offered.map(Composed::of) else { return Vec::new() };
            state.overlays.pop();
            let calls = &mut state.composer.calls;
            let at = match state.composer.replaced.take().filter(|at| *at < calls.len()) {
                Some(at) => {
                    // What the other tool takes, too, need not be typed again.
                    let args = std::mem::take(&mut calls[at].args);
                    let kept = args.into_iter().filter(|(name, value)| {
                        composed.argument(name).is_some_and(|own| own.kind.takes(value))
                    });
                    calls[at] = Composed { args: kept.collect(), ..composed };
                    at
                }
                None => {
                    calls.push(composed);
                    calls.len() - 1
                }
            };
            let mut effects = open_calls(state);
            effects.extend(go_on_with(state, at));
            effects
        }
    }
}

/// Goes on with what a call still needs: its required arguments, one after the other, then its result.
fn go_on_with(state: &mut State, at: usize) -> Vec<Effect> {
    let Some(call) = state.composer.calls.get(at) else { return Vec::new() };
    if let Some(name) = call.missing().cloned() {
        select(state, &Part::Argument(at, name.clone()));
        return change(state, &Part::Argument(at, name));
    }
    let needs_result = call.does.is_none() && call.result.is_none();
    select(state, &if needs_result { Part::Result(at) } else { Part::Send });
    Vec::new()
}

/// Changes a part of the reply.
pub(super) fn change(state: &mut State, part: &Part) -> Vec<Effect> {
    match part {
        Part::Send => return send_reply(state),
        Part::More | Part::Call(_) => {
            state.composer.replaced = if let Part::Call(at) = part { Some(*at) } else { None };
            overlay::open(state, OverlayKind::Reply);
        }
        Part::Before => return retype(state, Typing::Before, true),
        Part::Result(at) => return retype(state, Typing::Result(*at), true),
        Part::Another(at) => return retype(state, Typing::Another(*at), false),
        Part::Argument(at, name) => {
            let kind =
                state.composer.calls.get(*at).and_then(|call| call.argument(name)).map(|own| &own.kind);
            let typing = Typing::Argument(*at, name.clone());
            if matches!(kind, Some(Kind::OneOf(_) | Kind::Bool)) {
                overlay::open_on(state, OverlayKind::Values, Some(Subject::Typing(typing)));
                let on = rows::list_rows(state).iter().position(|row| row.key == ">");
                if let Some(overlay) = state.overlays.last_mut() {
                    overlay.list.cursor = on.unwrap_or(0);
                }
                return Vec::new();
            }
            // A text that has lines needs room for them.
            let lines = state.composer.written(&typing).contains('\n');
            return retype(state, typing, lines);
        }
    }
    Vec::new()
}

/// Takes a value that was chosen for an argument.
pub(super) fn give(state: &mut State, at: usize, name: &Name, value: &Value) -> Vec<Effect> {
    state.overlays.pop();
    let text = crate::io::edit::bench::written_on_one_line(value);
    let kind = Typing::Argument(at, name.clone());
    if let Err(problem) = state.composer.take(&kind, &text) {
        state.message = problem;
        return Vec::new();
    }
    let mut effects = preview(state);
    effects.extend(go_on_with(state, at));
    effects
}

/// Takes the selected part out of the reply.
pub(super) fn take_out(state: &mut State) -> Vec<Effect> {
    let rows = rows::list_rows(state);
    let row = state.overlays.last().and_then(|open| rows.get(open.list.cursor));
    let Some(Pick::Part(part)) = row.map(|row| row.pick.clone()) else { return Vec::new() };
    if !state.composer.take_out(&part) {
        state.message = "there is nothing here that could be taken out".to_owned();
        return Vec::new();
    }
    if state.composer.calls.is_empty() {
        // Without a call there is no reply yet.
        state.overlays.pop();
        overlay::open(state, OverlayKind::Reply);
        return vec![Effect::Engine(EngineRequest::CancelPreview)];
    }
    preview(state)
}

/// What is written already is typed on: as a text with lines, or in one line.
fn retype(state: &mut State, typing: Typing, lines: bool) -> Vec<Effect> {
    let written = state.composer.written(&typing);
    if lines {
        return type_text(state, typing, &written);
    }
    type_line(state, typing, &written);
    Vec::new()
}

/// Opens a box to type a text with lines. What was given up before is gone on with.
fn type_text(state: &mut State, typing: Typing, written: &str) -> Vec<Effect> {
    let text = state.composer.given_up.remove(&typing).unwrap_or_else(|| written.to_owned());
    // The calls that it belongs to come back when it is done.
    state.overlays.retain(|open| open.kind != OverlayKind::Calls);
    state.editor = Some(Editor::typing(typing, &text));
    typed(state)
}

/// Opens a line to type something short.
fn type_line(state: &mut State, typing: Typing, written: &str) {
    overlay::open_on(state, OverlayKind::Line, Some(Subject::Typing(typing)));
    if let Some(overlay) = state.overlays.last_mut() {
        overlay.editor = LineEditor::new(written);
    }
}

/// What the open line is for.
fn line_of(state: &State) -> Option<(Typing, String)> {
    let overlay = state.overlays.last()?;
    match &overlay.subject {
        Some(Subject::Typing(typing)) => Some((typing.clone(), overlay.editor.text().to_owned())),
        _ => None,
    }
}

/// The line is not enough: it becomes a box with lines.
pub(super) fn more_lines(state: &mut State, pasted: &str) -> Vec<Effect> {
    let Some((typing, text)) = line_of(state) else { return Vec::new() };
    state.overlays.pop();
    let effects = type_text(state, typing, &text);
    if pasted.is_empty() {
        return effects;
    }
    editor::on_paste(state, pasted)
}

/// Text with lines that is put into a line: a box with lines takes it, where that may be, else one line does.
pub(super) fn on_paste(state: &mut State, text: &str) -> Vec<Effect> {
    match line_of(state) {
        Some((typing, _)) if state.composer.takes_lines(&typing) => more_lines(state, text),
        _ => overlay::on_insert(state, text),
    }
}

/// The line is taken.
pub(super) fn take_line(state: &mut State) -> Vec<Effect> {
    let Some((typing, text)) = line_of(state) else { return Vec::new() };
    match typing {
        Typing::Failure => {
            state.overlays.pop();
            speak(state, Input::FailedSend(text.trim().into()), false)
        }
        Typing::RunName => save(state, text.trim()),
        typing => {
            if let Err(problem) = state.composer.take(&typing, &text) {
                state.message = problem;
                return Vec::new();
            }
            state.overlays.pop();
            taken(state, &typing)
        }
    }
}

/// The text in the box is taken.
pub(super) fn take_text(state: &mut State) -> Vec<Effect> {
    let Some((typing, text)) = typed_text(state) else { return Vec::new() };
    match typing {
        Typing::Said(_) if text.trim().is_empty() => {
            state.message = "nothing is typed yet".to_owned();
            Vec::new()
        }
        Typing::Said(instead) => {
            state.editor = None;
            speak(state, Input::User(text.into()), instead)
        }
        Typing::Answer => {
            state.editor = None;
            speak(state, Input::Say(text.into()), false)
        }
        typing => {
            if let Err(problem) = state.composer.take(&typing, &text) {
                state.message = problem;
                return Vec::new();
            }
            state.editor = None;
            let mut effects = open_calls(state);
            effects.extend(taken(state, &typing));
            effects
        }
    }
}

/// The box is left without taking what was typed; it is there when the box is opened again.
pub(super) fn leave_text(state: &mut State) -> Vec<Effect> {
    let Some((typing, text)) = typed_text(state) else { return Vec::new() };
    state.editor = None;
    let part_of_calls = matches!(typing, Typing::Before | Typing::Result(_) | Typing::Argument(..));
    if part_of_calls {
        return open_calls(state);
    }
    if !text.trim().is_empty() {
        state.message = "it is kept, and there when you go on".to_owned();
        state.composer.given_up.insert(typing, text);
    }
    vec![Effect::Engine(EngineRequest::CancelPreview)]
}

/// What the box is for, and what stands in it.
fn typed_text(state: &State) -> Option<(Typing, String)> {
    let editor = state.editor.as_ref()?;
    Some((editor.typing.clone()?, editor.document.lines().collect::<Vec<_>>().join("\n")))
}

/// A part of the reply has another value: what it would do is shown, and what is still needed is asked for.
fn taken(state: &mut State, typing: &Typing) -> Vec<Effect> {
    let mut effects = preview(state);
    match typing {
        Typing::Argument(at, _) | Typing::Another(at) | Typing::Result(at) => {
            effects.extend(go_on_with(state, *at));
        }
        Typing::Before => select(state, &Part::Before),
        Typing::Said(_) | Typing::Answer | Typing::Failure | Typing::RunName => {}
    }
    effects
}

/// The text in the box has changed: what it would do is shown.
pub(super) fn typed(state: &mut State) -> Vec<Effect> {
    let Some((typing, text)) = typed_text(state) else { return Vec::new() };
    match typing {
        Typing::Said(_) if text.trim().is_empty() => vec![Effect::Engine(EngineRequest::CancelPreview)],
        Typing::Said(instead) => show(state, Input::User(text.into()), instead),
        Typing::Result(at) => {
            let mut composer = state.composer.clone();
            // What is typed is what the call would return.
            match composer.take(&Typing::Result(at), &text).map(|()| composer.reply()) {
                Ok(Some(reply)) => show(state, reply, false),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Shows what the reply that is composed would do.
fn preview(state: &mut State) -> Vec<Effect> {
    match state.composer.reply() {
        Some(reply) => show(state, reply, false),
        None => Vec::new(),
    }
}

fn show(state: &mut State, input: Input, instead: bool) -> Vec<Effect> {
    state.composer.serial += 1;
    vec![Effect::Engine(EngineRequest::PreviewSpoken(state.composer.serial, Spoken { input, instead }))]
}

fn speak(state: &mut State, input: Input, instead: bool) -> Vec<Effect> {
    state.composer.serial += 1;
    vec![Effect::Engine(EngineRequest::Speak(Spoken { input, instead }))]
}

/// Sends the reply that is composed. Where an argument is missing, that is said once.
pub(super) fn send_reply(state: &mut State) -> Vec<Effect> {
    let Some(reply) = state.composer.reply() else { return Vec::new() };
    let serial = state.composer.serial;
    if let Some(missing) = state.composer.missing()
        && state.composer.warned != Some(serial)
    {
        let key = state.keymap.shown_key(Action::SendReply);
        state.message = format!("{missing}; {key} again sends it all the same");
        state.composer.warned = Some(serial);
        return Vec::new();
    }
    state.overlays.clear();
    state.composer.calls.clear();
    state.composer.before = "".into();
    speak(state, reply, false)
}

/// Closes the calls that are composed; they are there when the reply is opened again.
pub(super) fn close_calls(state: &mut State) -> Vec<Effect> {
    state.message = "the reply is kept, and there when you go on".to_owned();
    vec![Effect::Engine(EngineRequest::CancelPreview)]
}

/// Asks for the name of the run that what happened is to become.
pub(super) fn open_save(state: &mut State) {
    let there = |name: &str| state.snapshot.choices.runs.iter().any(|run| *run.name == *name);
    let numbered = (2..).map(|n| format!("{RUN}-{n}"));
    let name = std::iter::once(RUN.to_owned()).chain(numbered).find(|name| !there(name));
    type_line(state, Typing::RunName, &name.unwrap_or_default());
}

/// Saves it, unless the name is another run's: then its user is asked.
fn save(state: &mut State, name: &str) -> Vec<Effect> {
    if let Some(problem) = problem_with_run_name(name) {
        state.message = problem;
        return Vec::new();
    }
    if state.snapshot.choices.runs.iter().any(|run| *run.name == *name) {
        overlay::open(state, OverlayKind::SaveOver);
        return Vec::new();
    }
    save_as(state, name, false)
}

/// Saves it under a name, over a run that has it where `over`. What was typed stays until that is done.
pub(super) fn save_as(state: &mut State, name: &str, over: bool) -> Vec<Effect> {
    state.edits += 1;
    vec![Effect::Engine(EngineRequest::SaveRun(state.edits, name.into(), over))]
}

/// The run was saved: its name needs not be typed any more.
pub(super) fn saved(state: &mut State) {
    state.overlays.retain(|open| {
        open.kind != OverlayKind::SaveOver && open.subject != Some(Subject::Typing(Typing::RunName))
    });
}

/// The name that is typed for a run.
#[must_use]
pub(in crate::app) fn run_name(state: &State) -> String {
    let mut lines = state.overlays.iter().rev();
    let line = lines.find(|open| open.subject == Some(Subject::Typing(Typing::RunName)));
    line.map_or_else(String::new, |line| line.editor.text().trim().to_owned())
}

/// Why nothing can be said for somebody now: one sentence, lower case, without a full stop.
pub(super) fn why_not(state: &State, action: Action) -> String {
    let key = |action| state.keymap.shown_key(action);
    let Some(ByHand { speaker, call, .. }) = &state.snapshot.hand else {
        return match state.snapshot.recorded {
            true => "a recording is read-only".to_owned(),
            false => "a demo says what it says; open its bench to go on by hand".to_owned(),
        };
    };
    match (action, speaker) {
        (Action::SaveRun, _) => {
            format!("nothing was done by hand that could be saved; {} says something", key(Action::Say))
        }
        (Action::Say, Speaker::Model) => {
            format!(
                "the model answers call {} before the user speaks again; {} answers",
                call.0,
                key(Action::Reply)
            )
        }
        _ => format!("no request waits for an answer; {} says something", key(Action::Say)),
    }
}
