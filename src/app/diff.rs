//! Two requests side by side: what the engine publishes of them, ready to be laid out.

use std::ops::Range;
use std::sync::Arc;

use crate::core::diff::pairs::Pair;
use crate::core::fact::Name;
use crate::core::wire::{CallNo, MessageId};

/// What the shown call is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum With {
    /// The call before it in its conversation that was really sent.
    #[default]
    Before,
    /// A call of the same branch.
    Call(CallNo),
    /// The call of the same number on another branch, by its number from 0; the last one where there are not so many.
    Branch(u32),
    /// A call of another branch.
    Other(u32, CallNo),
}

/// Two requests, block by block.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffView {
    /// The older one, at the left: `call 4`, `branch 1, call 3`.
    pub old: Arc<str>,
    /// The newer one, at the right: the shown call.
    pub new: Arc<str>,
    /// The call of the older one, where it is on the branch that is shown.
    pub old_call: Option<CallNo>,
    /// The shown call.
    pub new_call: CallNo,
    /// The blocks in order.
    pub blocks: Vec<DiffBlock>,
    /// The runs of lines, and the blocks, in which they differ.
    pub count: usize,
    /// The authors of bytes that differ, in order, each once.
    pub authors: Vec<Arc<str>>,
    /// What else the shown call can be compared with.
    pub choices: Vec<WithChoice>,
}

/// Something that the shown call can be compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithChoice {
    /// What it is: `the call before`, `call 3`, `branch 1, the same call`.
    pub title: Arc<str>,
    /// What stands beside it: `Read, Shell`.
    pub about: Arc<str>,
    /// What it means.
    pub with: With,
    /// True for what it is compared with now.
    pub on: bool,
}

/// A block of one of two requests, or of both.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffBlock {
    /// `system`, `message 4 (tool)`.
    pub title: Arc<str>,
    /// The text of the older request; none where it is not in it.
    pub old: Option<DiffText>,
    /// The text of the newer request; none where it is not in it.
    pub new: Option<DiffText>,
    /// What is equal and what is not, in order; one run that is the same for equal blocks.
    pub runs: Vec<DiffRun>,
}

impl DiffBlock {
    /// True when both requests have it, with the same bytes.
    #[must_use]
    pub fn is_same(&self) -> bool {
        matches!((&self.old, &self.new), (Some(old), Some(new)) if old.text == new.text)
    }
}

/// A text that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffText {
    /// The text.
    pub text: Arc<str>,
    /// Its lines, without line feeds. A line feed at the end of the text begins no line of its own.
    pub lines: Arc<[Range<usize>]>,
    /// Who wrote which bytes; they tile the text.
    pub parts: Arc<[DiffPart]>,
    /// The message that it belongs to.
    pub message: Option<MessageId>,
    /// True when the text ends with a line feed.
    pub ends: bool,
}

/// Who wrote a run of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffPart {
    /// What screens call it.
    pub author: Arc<str>,
    /// The layer; none for what no layer wrote.
    pub layer: Option<Name>,
    /// True for text that a layer put into a message.
    pub injected: bool,
    /// The byte behind its last one.
    pub end: usize,
}

impl DiffText {
    /// The part that owns a byte; the last one for the end.
    #[must_use]
    pub fn part_at(&self, byte: usize) -> Option<&DiffPart> {
        let at = self.parts.partition_point(|part| part.end <= byte);
        self.parts.get(at.min(self.parts.len().saturating_sub(1)))
    }
}

/// Lines of a block that are equal, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRun {
    /// Equal lines, from these on in each text.
    Same {
        /// Of the older text.
        old: usize,
        /// Of the newer text.
        new: usize,
        /// How many.
        len: usize,
    },
    /// Lines that differ, in pairs.
    Changed(Vec<Pair>),
}
