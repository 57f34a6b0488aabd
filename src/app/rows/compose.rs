//! The rows of what is composed by hand: what the model can do, its calls, and the values of their arguments.

use super::overlay::{ListRow, Pick, ReplyWith, sign};
use crate::app::action::Action;
use crate::app::compose::{Composed, Part, Typing};
use crate::app::form::Subject;
use crate::app::state::{Overlay, State};
use crate::core::fact::Value;
use crate::core::wire::tool::{Argument, Kind, Tool};
use crate::io::edit::bench::written_on_one_line;

/// How many characters of a value are shown.
const SHOWN: usize = 40;

/// What the model can do.
pub(super) fn reply(state: &State) -> Vec<ListRow> {
    let Some(hand) = &state.snapshot.hand else { return Vec::new() };
    let row = |title: &str, about: String, with| ListRow::new("", title, about, Pick::Reply(with));
    let tools = hand.tools.iter().map(|offered| {
        let tool = Tool::of(&offered.definition);
        let takes: Vec<String> =
            tool.arguments.iter().filter(|own| own.required).map(|own| own.name.to_string()).collect();
        let does = offered.does.as_deref().unwrap_or("its result is typed");
        let about = match takes.as_slice() {
            [] => does.to_owned(),
            takes => format!("{}; {does}", takes.join(", ")),
        };
        row(&offered.name, format!("call: {about}"), ReplyWith::Tool(offered.name.clone()))
    });
    // Beside a call that is composed already there can only be other calls.
    if !state.composer.calls.is_empty() {
        return tools.collect();
    }
    let answer = row("answers", "a text, which ends the turn".to_owned(), ReplyWith::Answer);
    let fails = row(
        "fails",
        "the request is sent, no answer comes, and nothing was told".to_owned(),
        ReplyWith::Failure,
    );
    let mut rows = vec![answer];
    rows.extend(tools);
    rows.push(fails);
    if hand.tools.is_empty() {
        rows.push(ListRow::new(
            "",
            "no tools are offered in this request; `tools:` in a bench offers some",
            "",
            Pick::Nothing,
        ));
    }
    rows
}

/// The calls that are composed, part by part, and what they would do.
pub(super) fn calls(state: &State) -> Vec<ListRow> {
    let composer = &state.composer;
    let row =
        |key: &str, title: String, about: String, part| ListRow::new(key, title, about, Pick::Part(part));
    let mut rows =
        vec![row("says", shown(&composer.before), "before it calls; optional".to_owned(), Part::Before)];
    for (at, call) in composer.calls.iter().enumerate() {
        rows.push(row(
            &(at + 1).to_string(),
            call.name.to_string(),
            call.tool.about.to_string(),
            Part::Call(at),
        ));
        for own in &call.tool.arguments {
            let value = call.args.get(&own.name).map_or_else(String::new, shown_value);
            let part = Part::Argument(at, own.name.clone());
            rows.push(row(&format!("  {}", own.name), value, about(own), part));
        }
        let others = call.args.iter().filter(|(name, _)| call.argument(name).is_none());
        for (name, value) in others {
            let part = Part::Argument(at, name.clone());
            rows.push(row(
                &format!("  {name}"),
                shown_value(value),
                "not in its definition".to_owned(),
                part,
            ));
        }
        if call.tool.open {
            rows.push(row("  +", "an argument".to_owned(), "name: value".to_owned(), Part::Another(at)));
        }
        rows.push(row("  result", result(call), result_about(call), Part::Result(at)));
    }
    rows.push(row("+", "another call".to_owned(), "in the same reply".to_owned(), Part::More));
    let send = state.keymap.shown_key(Action::SendReply);
    rows.push(row(">", "send this reply".to_owned(), format!("{send} from any row"), Part::Send));
    rows.push(ListRow::new("", effect(state), "", Pick::Nothing));
    rows
}

/// What an argument may be and what it means.
fn about(own: &Argument) -> String {
    let mut about = own.kind.words();
    if own.required {
        about.push_str(", required");
    }
    if let Some(default) = &own.default {
        about.push_str(&format!(", {} by default", written_on_one_line(default)));
    }
    if !own.about.is_empty() {
        about.push_str(&format!(": {}", own.about));
    }
    about
}

fn result(call: &Composed) -> String {
    match (&call.result, &call.does) {
        (Some(text), _) if text.is_empty() => "(empty)".to_owned(),
        (Some(text), _) => shown(text),
        (None, Some(_)) => "simulated".to_owned(),
        (None, None) => "(empty)".to_owned(),
    }
}

fn result_about(call: &Composed) -> String {
    match (&call.result, &call.does) {
        (Some(_), Some(does)) => format!("typed, instead of the one of the bench, which {does}"),
        (None, Some(does)) => format!("the bench {does}"),
        (_, None) => "what the tool returns".to_owned(),
    }
}

/// A value in a few characters.
fn shown_value(value: &Value) -> String {
    match value {
        Value::Text(text) => shown(text),
        value => shown(&written_on_one_line(value)),
    }
}

fn shown(text: &str) -> String {
    let mut out: String = text.lines().next().unwrap_or_default().chars().take(SHOWN).collect();
    if out.len() < text.trim_end_matches('\n').len() {
        out.push_str(" ..");
    }
    out
}

/// What it would do, or why it cannot be said.
#[must_use]
pub fn effect(state: &State) -> String {
    let drafted = state.snapshot.hand.as_ref().and_then(|hand| hand.drafted.as_ref());
    let Some(drafted) = drafted.filter(|drafted| drafted.serial == state.composer.serial) else {
        return String::new();
    };
    match (&drafted.problem, state.snapshot.verdict.first()) {
        (Some(problem), _) => format!("! {problem}"),
        (None, Some(line)) if drafted.shown => {
            format!("{} {}", line.label, line.short.as_ref().unwrap_or(&line.text))
        }
        _ => String::new(),
    }
}

/// The values that an argument can have.
pub(super) fn values(state: &State, overlay: &Overlay) -> Vec<ListRow> {
    let Some(Subject::Typing(Typing::Argument(at, name))) = &overlay.subject else { return Vec::new() };
    let Some(call) = state.composer.calls.get(*at) else { return Vec::new() };
    let given = call.args.get(name);
    let of = match call.argument(name).map(|own| &own.kind) {
        Some(Kind::OneOf(values)) => values.clone(),
        Some(Kind::Bool) => vec![Value::Bool(true), Value::Bool(false)],
        _ => Vec::new(),
    };
    let default = call.argument(name).and_then(|own| own.default.as_ref());
    of.into_iter()
        .map(|value| {
            let on = given == Some(&value);
            let about = if default == Some(&value) { "by default" } else { "" };
            let pick = Pick::Value(*at, name.clone(), value.clone());
            ListRow::new(sign(on), value.to_string(), about, pick)
        })
        .collect()
}

/// Whether a run is written over.
pub(super) fn save_over(state: &State) -> Vec<ListRow> {
    let name = crate::app::update::run_name(state);
    vec![
        ListRow::new("", "Take another name", "", Pick::Answer(super::Answer::NotNow)),
        ListRow::new(
            "",
            format!("Write over the run {name}"),
            "its lines go; undo brings them back",
            Pick::SaveOver(name.as_str().into()),
        ),
    ]
}
