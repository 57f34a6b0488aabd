//! What a session keeps of each model call, and what the screens and commands read.

use super::room::Compacted;
use crate::core::wire::BlockKind;
use std::sync::Arc;

use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{EventId, FactKey, Name, Rev};
use crate::core::source::Evaluated;
use crate::core::text::Traced;
use crate::core::wire::{Block, CallNo, MarkAt, MessageId, Params};

/// Something that happened, as blame names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// "Cd in call 1", "edit of AGENTS.md".
    pub label: Name,
    /// The call that was to be made next.
    pub before: CallNo,
}

/// A fact that took another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The fact: a named one, or what was read from disk.
    pub key: FactKey,
    /// The old value, short: for a file its size.
    pub old: Arc<str>,
    /// The new value, in the same form.
    pub new: Arc<str>,
    /// What changed it.
    pub event: EventId,
    /// The conversation whose fact it is; none for facts of all.
    pub agent: Option<Name>,
}

/// A layer as it stands in one request.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerState {
    /// The layer's id.
    pub id: Name,
    /// What it says in this request, where it says something: for an injector, what it injects now.
    pub state: Evaluated,
    /// True when it was not evaluated for this request but stands from before.
    pub kept: bool,
    /// The facts that it was made with and that have other values by now.
    pub old: Vec<FactKey>,
    /// Where the layer's text is to be told but cannot be yet, or why nothing is told.
    pub note: Option<Arc<str>>,
}

/// Text that a request carries for the first time because an injector put it there.
#[derive(Clone, Debug, PartialEq)]
pub struct Injected {
    /// The layer.
    pub layer: Name,
    /// The message it went into.
    pub into: MessageId,
    /// Its text, without the separator.
    pub text: Traced,
    /// Why: "cwd changed: /home/shop -> /home/shop/api", "every call".
    pub reason: Arc<str>,
}

/// A change that is to be told and has no place yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// The layer.
    pub layer: Name,
    /// What it would say now.
    pub text: Traced,
    /// What it waits for.
    pub waits_for: Arc<str>,
}

/// What a layer that announces changes compared for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The layer.
    pub layer: Name,
    /// The fact.
    pub fact: Name,
    /// The value that it is measured against, short; none where there is no baseline yet, or the fact is new.
    pub base: Option<Arc<str>>,
    /// What it is now, short; none where there is no such fact.
    pub now: Option<Arc<str>>,
    /// True when the two differ.
    pub differs: bool,
    /// True when this look took the present value as the baseline, which was another one or none before.
    pub taken: bool,
    /// The event that gave it its value.
    pub cause: EventId,
}

/// What a request says about a fact that has changed in this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belief {
    /// Its only word is the right one.
    Right,
    /// The last word is right, an old value stands before it.
    Superseded,
    /// The last word is wrong.
    Stale,
    /// There is no word at all.
    Untold,
}

/// The belief about one fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The fact.
    pub fact: Name,
    /// What the model must believe.
    pub belief: Belief,
    /// The layers whose words are old, in byte order.
    pub old: Vec<Name>,
    /// The layer with the last word.
    pub last: Option<Name>,
    /// The event that gave the fact its value.
    pub cause: EventId,
}

/// A tool that ran after an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRun {
    /// The tool.
    pub tool: Name,
    /// A short form of its arguments: the first one's value.
    pub argument: Option<Arc<str>>,
    /// The directory in which it ran.
    pub cwd: Arc<str>,
    /// The facts of which the model, when it called the tool, had been told another value.
    pub stale: Vec<Name>,
    /// What the tool's program wrote into its log.
    pub lines: Vec<Arc<str>>,
    /// What it searched, where that is what it does.
    pub searched: Option<Searched>,
}

/// A search of documents: counts and a decision, and no word of what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The pieces of all documents.
    pub total: usize,
    /// Those that fit, within the limits.
    pub selected: usize,
    /// What a second model decided that stands between; none where none does.
    pub mediated: Option<Mediated>,
}

/// What a second model decided about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mediated {
    /// True when it answered.
    pub answers: bool,
    /// Why, from a closed list.
    pub reason: Arc<str>,
    /// True where it could not do its work, which is no refusal of the question.
    pub fallback: bool,
}

/// What led to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Lead {
    /// The user said this, and a turn began.
    User(Arc<str>),
    /// A sub-agent began with this goal.
    Goal(Arc<str>),
    /// These tools ran.
    Tools(Vec<ToolRun>),
    /// The call before failed and is made again.
    Retry,
    /// The same conversation is sent once more.
    Again,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The model called tools.
    Tools(Vec<Name>),
    /// The model said this and the turn ended.
    Said(Arc<str>),
    /// The model started a sub-agent of this role.
    Agent(Name),
    /// It failed: nothing that it was to tell counts as told.
    Failed(Arc<str>),
    /// It was sent; what came of it is not part of the run.
    Sent,
}

/// A model call: as prepared, and once it was sent, with its answer.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// Its number.
    pub call: CallNo,
    /// The turn of its conversation, from 1.
    pub turn: u32,
    /// The conversation.
    pub agent: Name,
    /// The model.
    pub model: Name,
    /// When it is sent, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The time as the bench shows it.
    pub now: Arc<str>,
    /// The working directory as prompts show it.
    pub cwd: Arc<str>,
    /// Tools and system: the blocks before the messages.
    pub head: Arc<[Arc<Block>]>,
    /// The number of all blocks.
    pub blocks: usize,
    /// See [`crate::core::wire::Request::shared`].
    pub shared: usize,
    /// The cache marks.
    pub marks: Arc<[MarkAt]>,
    /// The parameters besides the text.
    pub params: Arc<Params>,
    /// The layers of this conversation, in listing order.
    pub layers: Arc<[LayerState]>,
    /// What is told for the first time.
    pub injected: Vec<Injected>,
    /// What is to be told and cannot be.
    pub pending: Vec<Pending>,
    /// What the layers that announce changes compared, layer by layer.
    pub watched: Vec<Watched>,
    /// What the model must believe about the facts that changed.
    pub told: Vec<Told>,
    /// What led to it.
    pub lead: Lead,
    /// Captions since the call before.
    pub notes: Vec<Arc<str>>,
    /// What came of it; none while it is prepared and not sent.
    pub answer: Option<Answer>,
    /// The compaction since the call before.
    pub compacted: Option<Compacted>,
    /// What went wrong in layers.
    pub diagnostics: Vec<Arc<Diagnostic>>,
    /// How many inputs the session had taken when this call was prepared last.
    pub inputs: usize,
}

impl CallRecord {
    /// The state of a layer.
    #[must_use]
    pub fn layer(&self, id: &str) -> Option<&LayerState> {
        self.layers.iter().find(|layer| &*layer.id == id)
    }

    /// The names of the tools that were offered, in their order.
    #[must_use]
    pub fn tools(&self) -> Vec<Name> {
        let tools = self.head.iter().filter(|block| block.kind == BlockKind::Tool);
        tools.map(|block| block.name.clone()).collect()
    }
}

/// An input as it was taken, with everything that it led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it was.
    pub what: Happened,
    /// The call that was to be made next.
    pub before: CallNo,
    /// The conversation that was under way.
    pub agent: Name,
    /// The events that it began, as their numbers.
    pub events: std::ops::Range<u32>,
    /// The facts that it changed, indices into [`super::Session::changes`].
    pub changes: std::ops::Range<usize>,
}

/// What a session can take.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// An input.
    Input(Arc<super::Input>),
    /// Another bench, by this event.
    Bench(Name),
}

/// The revision of a fact when something was last told about it, and its value, short.
pub(super) type Baseline = std::collections::BTreeMap<Name, (Rev, Arc<str>)>;
