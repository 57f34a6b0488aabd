//! What the engine publishes of a recording: what was reported beside what was to be expected.

use std::sync::Arc;

use crate::core::audit::Figures;
use crate::core::wire::CallNo;

/// A recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordingView {
    /// The call that is shown.
    pub shown: CallNo,
    /// What the log is and what it holds, in a line.
    pub about: Arc<str>,
    /// What went wrong, with how much it cost, the worst first.
    pub causes: Vec<CauseRow>,
    /// The calls, in order.
    pub rows: Vec<RecordedRow>,
    /// Lines that gave no call and why, as `line 17: why`.
    pub problems: Vec<Arc<str>>,
    /// What a reader of the numbers should know besides.
    pub notes: Vec<Arc<str>>,
}

/// A cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CauseRow {
    /// In words.
    pub cause: Arc<str>,
    /// Calls.
    pub calls: u64,
    /// Tokens paid again.
    pub lost: u64,
    /// US dollars paid for them; none without a price.
    pub cost: Option<Arc<str>>,
    /// The first call.
    pub first: CallNo,
}

/// A call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRow {
    /// Its number.
    pub call: CallNo,
    /// The conversation.
    pub conversation: Arc<str>,
    /// What was reported; none where the log does not hold it.
    pub reported: Option<Figures>,
    /// What was to be expected, in the provider's tokens where they can be had.
    pub expected: Figures,
    /// Figures of `expected` are estimates.
    pub estimate: bool,
    /// Tokens paid again.
    pub lost: Option<u64>,
    /// The verdict in a sentence.
    pub says: Arc<str>,
    /// Something was lost.
    pub bad: bool,
}
