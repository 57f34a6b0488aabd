//! The log: what happened, in order.

use std::sync::Arc;

use crate::app::effect::TextPlace;
use crate::core::fact::Name;
use crate::core::wire::CallNo;

/// The log of the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogView {
    /// The call that is shown.
    pub shown: CallNo,
    /// What happened, in order.
    pub rows: Vec<LogRow>,
}

/// What kind of thing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogKind {
    /// The user said something.
    User,
    /// The model answered.
    #[default]
    Call,
    /// A tool ran.
    Tool,
    /// The model answered the user, and the turn ended.
    Say,
    /// A call failed.
    Failed,
    /// Facts took other values.
    Set,
    /// A file was written or deleted by the run.
    Write,
    /// A file changed on disk.
    File,
    /// The bench changed, or another variant was chosen.
    Bench,
    /// Another model.
    Model,
    /// Other tools.
    Tools,
    /// Time passed.
    Time,
    /// The context was edited.
    Context,
    /// A sub-agent began or ended.
    Agent,
    /// A caption.
    Note,
}

impl LogKind {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            LogKind::User => "user",
            LogKind::Call => "call",
            LogKind::Tool => "tool",
            LogKind::Say => "say",
            LogKind::Failed => "failed",
            LogKind::Set => "set",
            LogKind::Write => "write",
            LogKind::File => "file",
            LogKind::Bench => "bench",
            LogKind::Model => "model",
            LogKind::Tools => "tools",
            LogKind::Time => "time",
            LogKind::Context => "context",
            LogKind::Agent => "agent",
            LogKind::Note => "note",
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogRow {
    /// What kind of thing.
    pub kind: LogKind,
    /// The call that it led to.
    pub call: CallNo,
    /// The sub-agent whose conversation it was; none for the main agent.
    pub agent: Option<Name>,
    /// True for what hangs on the row above: a tool on the answer that called it.
    pub hangs: bool,
    /// What happened, in words.
    pub what: Arc<str>,
    /// The facts that it changed.
    pub changes: Vec<LogChange>,
    /// The text behind it: the line of the script, the file.
    pub text: Option<TextPlace>,
}

/// A fact that took another value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogChange {
    /// The fact.
    pub fact: Arc<str>,
    /// The old value, short.
    pub old: Arc<str>,
    /// The new value, short.
    pub new: Arc<str>,
}
