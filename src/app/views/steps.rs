//! What becomes of a question that documents are searched for, step by step.

use std::sync::Arc;

use crate::core::fact::Name;
use crate::core::wire::CallNo;

/// The steps, for the turn of the shown call, up to it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepsView {
    /// The shown call.
    pub call: CallNo,
    /// Its turn.
    pub turn: u32,
    /// The steps in order; none for a bench whose tools search nothing.
    pub steps: Vec<StepRow>,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRow {
    /// What is asked.
    pub asks: &'static str,
    /// What it came to.
    pub state: StepState,
    /// In a few words.
    pub says: Arc<str>,
    /// What it rests on, a line each: the words, the call that they are of, and the layer.
    pub because: Vec<(Arc<str>, Option<CallNo>, Option<Name>)>,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// Yes.
    Yes,
    /// No.
    No,
    /// It was refused, or done in place of something better.
    Refused,
    /// It does not come up.
    Idle,
}
