//! The log of a session.

use std::sync::Arc;

use crate::app::effect::TextPlace;
use crate::app::engine::Engine;
use crate::app::engine::publish::{self, one_line, shown_text};
use crate::app::views::{LogChange, LogKind, LogRow, LogView};
use crate::core::fact::{EventId, FactKey, FilePath, Name};
use crate::core::run::{Changed, Happened, Input, Player, Session, SessionEnd, Step, ToolCall};
use crate::core::wire::CallNo;

/// How many characters of a text are shown.
const TEXT: usize = 70;
/// The most characters of a note: what its author says is read whole.
const NOTE: usize = 600;

/// Something that the user chose and after which the run was played again: it is no input of the session.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The call that waited then.
    pub before: CallNo,
    /// What kind of thing.
    pub kind: LogKind,
    /// What it was, in words.
    pub what: Arc<str>,
}

impl Engine {
    /// Keeps for the log what was chosen.
    pub(in crate::app::engine) fn choose(&mut self, kind: LogKind, what: &str) {
        let before = self.session().next_call();
        self.chosen.push(Chosen { before, kind, what: what.into() });
    }
}

/// Everything that happened to the session of `player`, with what was chosen meanwhile.
pub fn log(player: &Player, shown: CallNo, chosen: &[Chosen]) -> LogView {
    let session = player.session();
    let mut rows: Vec<LogRow> = Vec::new();
    let mut chosen = chosen.iter().peekable();
    let choice = |chosen: &Chosen| LogRow {
        kind: chosen.kind,
        call: chosen.before,
        what: chosen.what.clone(),
        ..LogRow::default()
    };
    for (index, step) in session.steps().enumerate() {
        while let Some(next) = chosen.next_if(|next| next.before < step.before) {
            rows.push(choice(next));
        }
        step_rows(player, index, &step, &mut rows);
    }
    rows.extend(chosen.map(choice));
    LogView { shown, rows }
}

fn step_rows(player: &Player, index: usize, step: &Step, rows: &mut Vec<LogRow>) {
    let session = player.session();
    let script = player.line_of(index).map(TextPlace::Bench);
    let answers = matches!(&step.what, Happened::Input(input) if input.answers());
    // An answer leads to the call behind it, if the same conversation goes on.
    let next = CallNo(step.before.0 + u32::from(answers));
    let exists = publish::record(session, next).is_some();
    let call = if exists || !answers { next } else { step.before };
    let (kind, what) = match &step.what {
        Happened::Input(input) => words(input, step),
        Happened::Bench(by) => (LogKind::Bench, by.to_string()),
    };
    let text = script.or_else(|| match &step.what {
        Happened::Input(input) => file_of(input),
        Happened::Bench(_) => Some(TextPlace::Bench(crate::core::diagnostic::Position::START)),
    });
    let row = LogRow {
        kind,
        call,
        agent: publish::sub_agent(session.bench(), &step.agent),
        hangs: false,
        what: what.into(),
        changes: Vec::new(),
        text,
    };
    let mut changes = session.changes()[step.changes.clone()].iter().peekable();
    rows.push(row.clone());
    let main = rows.len() - 1;
    let Happened::Input(input) = &step.what else {
        rows[main].changes = changes.map(change).collect();
        return;
    };
    if let Input::Call { calls, .. } = &**input {
        // Each tool has an event of its own, behind that of the answer.
        let events = step.events.clone().skip(1).map(EventId);
        for (tool, event) in calls.iter().zip(events) {
            let own: Vec<&Changed> = std::iter::from_fn(|| changes.next_if(|c| c.event == event)).collect();
            let mut tool_row = row.clone();
            (tool_row.kind, tool_row.hangs, tool_row.what) = (LogKind::Tool, true, tool_words(tool).into());
            tool_row.changes = own.into_iter().map(change).collect();
            tool_row.changes.extend(written(session, event));
            rows.push(tool_row);
        }
    }
    let rest: Vec<LogChange> = changes.map(change).collect();
    rows[main].changes.extend(rest);
}

fn change(changed: &Changed) -> LogChange {
    LogChange {
        fact: changed.key.to_string().into(),
        old: shown_text(&changed.old, TEXT).into(),
        new: shown_text(&changed.new, TEXT).into(),
    }
}

/// The files that an event wrote or deleted.
fn written(session: &Session, event: EventId) -> Vec<LogChange> {
    let own = session.writes().filter(|(_, _, cause)| *cause == event);
    own.map(|(path, there, _)| LogChange {
        fact: path.to_string().into(),
        old: "".into(),
        new: if there { "written" } else { "deleted" }.into(),
    })
    .collect()
}

fn tool_words(tool: &ToolCall) -> String {
    let args: Vec<String> = tool
        .args
        .iter()
        .map(|(name, value)| format!("{name}: {}", one_line(&value.to_string(), 30)))
        .collect();
    format!("{} {}", tool.tool, args.join(", ")).trim_end().to_owned()
}

fn words(input: &Input, step: &Step) -> (LogKind, String) {
    let call = step.before.0;
    match input {
        Input::User(text) if text.is_empty() => (LogKind::User, "opened, without a script".into()),
        Input::User(text) => (LogKind::User, one_line(text, TEXT)),
        Input::Call { text, calls } => {
            let names: Vec<&str> = calls.iter().map(|call| &*call.tool).collect();
            let said =
                text.as_ref().map_or(String::new(), |text| format!("; it says: {}", one_line(text, TEXT)));
            (LogKind::Call, format!("call {call} is answered: {}{said}", names.join(", ")))
        }
        Input::Say(text) => (LogKind::Say, format!("call {call} ends the turn: {}", one_line(text, TEXT))),
        Input::Sent => (LogKind::Call, format!("call {call} is sent")),
        Input::FailedSend(reason) => {
            (LogKind::Failed, format!("call {call} fails: {}; nothing was told", one_line(reason, TEXT)))
        }
        Input::Note(text) => (LogKind::Note, one_line(text, NOTE)),
        Input::Set(values) => {
            let set: Vec<String> = values
                .iter()
                .map(|(name, value)| format!("{name} = {}", one_line(&value.to_string(), 40)))
                .collect();
            (LogKind::Set, set.join(", "))
        }
        Input::Observed { by, .. } => (LogKind::File, by.to_string()),
        Input::Write { path, .. } => (LogKind::Write, format!("{path} is written, in this run only")),
        Input::Delete(path) => (LogKind::Write, format!("{path} is deleted, in this run only")),
        Input::Advance(seconds) => (LogKind::Time, format!("{seconds} s pass")),
        Input::Model(model) => (LogKind::Model, format!("switch to {model}")),
        Input::Params(values) => {
            let value = |value: &Option<Name>| value.as_deref().unwrap_or("the default").to_owned();
            let set: Vec<String> =
                values.iter().map(|(name, chosen)| format!("{name} = {}", value(chosen))).collect();
            (LogKind::Model, format!("requests: {}", set.join(", ")))
        }
        Input::Tools(names) => (LogKind::Tools, format!("the tools are {}", names.join(", "))),
        Input::ContextEdit { text, .. } => {
            let verb = if text.is_some() { "is rewritten" } else { "is deleted" };
            (LogKind::Context, format!("a message {verb}"))
        }
        Input::Compact(compaction) => {
            let keep = match compaction.keep {
                0 => "nothing stays".to_owned(),
                1 => "the last message stays".to_owned(),
                n => format!("the last {n} messages stay"),
            };
            (LogKind::Context, format!("compaction, {keep}: {}", one_line(&compaction.summary, TEXT)))
        }
        Input::TakeBack => (LogKind::Context, "the user takes back what was said last".into()),
        Input::Session(how) => {
            let words = match how {
                SessionEnd::End => "the session ends; the next message begins another, without history",
                SessionEnd::Resume => "the session is resumed: what was persisted is replayed",
                SessionEnd::Crash => "a crash: the turn under way was not persisted; the session is resumed",
            };
            (LogKind::Context, words.into())
        }
        Input::StartAgent { role, goal, .. } => {
            (LogKind::Agent, format!("call {call} starts {role}: {}", one_line(goal, TEXT)))
        }
        Input::EndAgent => (LogKind::Agent, "the sub-agent is done".into()),
    }
}

/// The file that an input is about.
fn file_of(input: &Input) -> Option<TextPlace> {
    let path: Option<&FilePath> = match input {
        Input::Observed { found, .. } => found.iter().find_map(|(key, _)| match key {
            FactKey::File(path) | FactKey::Document(path) | FactKey::Data(path) => Some(path),
            _ => None,
        }),
        Input::Write { path, .. } => Some(path),
        _ => None,
    };
    path.map(|path| TextPlace::File(path.clone()))
}
