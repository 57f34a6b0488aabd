//! The one vocabulary of everything that happens: script lines, keys, file changes.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::core::diagnostic::Position;
use crate::core::fact::{FactKey, FilePath, Found, Name, Value};

/// A line of a scripted run.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptLine {
    /// Where it stands in the bench.
    pub at: Position,
    /// What it says.
    pub input: Input,
}

/// A tool call of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool.
    pub tool: Name,
    /// Its arguments, in the order in which the model wrote them.
    #[serde(default)]
    pub args: IndexMap<Name, Value>,
    /// What the tool returns; where it is not given, the tool is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Arc<str>>,
    /// The arguments as the model wrote them, where that is not [`ToolCall::args`] as compact JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Arc<str>>,
    /// What a second model says about what the tool found, where the bench lets one stand between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mediator: Option<Arc<str>>,
}

/// The message that a context edit works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditTarget {
    /// The newest tool message.
    NewestTool,
    /// The message with this number.
    Message(u32),
}

/// A conversation that is summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// What stands in the place of what was said.
    pub summary: Arc<str>,
    /// How many of the last messages stay; a tool's result stays with its call.
    #[serde(default)]
    pub keep: u32,
    /// True where the layers that are made once a session are made again.
    #[serde(default)]
    pub rebuild: bool,
}

/// How a session ends. Layers that are made once a session are made again after each, and announcements begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    /// The next message begins another session, without history.
    End,
    /// The program starts again and replays what was persisted.
    Resume,
    /// The same, and the turn that was under way was not persisted.
    Crash,
}

/// One thing that happens to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// The user says something: a turn begins and a request is prepared.
    User(Arc<str>),
    /// The prepared request is sent and the model answers with tool calls, which run in order.
    Call {
        /// What it says before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Arc<str>>,
        /// The calls.
        calls: Vec<ToolCall>,
    },
    /// The prepared request is sent and the model answers with text: the turn ends and is persisted.
    Say(Arc<str>),
    /// The prepared request is sent; what comes of it is not part of the run, and the same conversation is prepared
    /// once more.
    Sent,
    /// The prepared request is sent, but the call fails: nothing that was to be told is told.
    FailedSend(Arc<str>),
    /// A caption for an audience.
    Note(Arc<str>),
    /// Facts take values, by the user's hand or the script's.
    Set(IndexMap<Name, Value>),
    /// The edge looked again and found other content; `by` names the event ("edit of AGENTS.md").
    Observed {
        /// What was found.
        found: Vec<(FactKey, Found)>,
        /// The event, for blame.
        by: Name,
    },
    /// A file of the workspace is written, for this run only.
    Write {
        /// Which.
        path: FilePath,
        /// Its new text.
        text: Arc<str>,
    },
    /// A file of the workspace is deleted, for this run only.
    Delete(FilePath),
    /// Time passes, in seconds.
    Advance(u64),
    /// Another model is chosen, as `provider:model`.
    Model(Name),
    /// Parameters of the requests besides their text take other values; none lets the provider's default hold again.
    Params(IndexMap<Name, Option<Name>>),
    /// The tools change: these names, in this order, instead of the bench's.
    Tools(Vec<Name>),
    /// The agent edits its own context: a message is deleted (no text) or rewritten.
    ContextEdit {
        /// The message.
        target: EditTarget,
        /// Its new text; none deletes it.
        text: Option<Arc<str>>,
    },
    /// What was said is summed up and makes room.
    Compact(Compaction),
    /// The user takes back what was said last, to say it otherwise: the turn goes, whether it was answered or not.
    TakeBack,
    /// The session ends.
    Session(SessionEnd),
    /// The prepared request is sent and the model starts a sub-agent with a goal; the inputs up to [`Input::EndAgent`] are its.
    StartAgent {
        /// The last part of its id: `worker` becomes `main/worker`.
        role: Name,
        /// The task it was given.
        goal: Arc<str>,
        /// The directory it starts in; the parent's by default.
        cwd: Option<Name>,
        /// True for a fork: it begins with all that its parent's conversation holds.
        #[serde(default)]
        fork: bool,
    },
    /// The sub-agent is done; its parent goes on.
    EndAgent,
}

impl Input {
    /// True for what ends a model call.
    #[must_use]
    pub fn answers(&self) -> bool {
        matches!(
            self,
            Input::Call { .. }
                | Input::Say(_)
                | Input::Sent
                | Input::FailedSend(_)
                | Input::StartAgent { .. }
        )
    }

    /// True for what a line of a run in a bench can say: not what was found in files, and not the sending of a request
    /// that nobody answers.
    #[must_use]
    pub fn is_line(&self) -> bool {
        match self {
            Input::Observed { found, .. } => {
                found.iter().all(|(key, _)| matches!(key, FactKey::Reported(_))) && !found.is_empty()
            }
            Input::Sent | Input::TakeBack => false,
            _ => true,
        }
    }
}

/// What the event of a report is called in blame.
#[must_use]
pub fn reported_by(fields: &[&str]) -> Name {
    format!("a report of {}", fields.join(", ")).into()
}
