//! Pane 3: the shown request, block by block, with the author of each byte.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::core::fact::{EventId, Name};
use crate::core::text::Traced;
use crate::core::wire::{BlockKind, CallNo, MessageId, Request};

/// Pane 3.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestView {
    /// The call.
    pub call: CallNo,
    /// The sub-agent that sends it, without the main agent's id in front; none for the main agent.
    pub agent: Option<Name>,
    /// Its blocks: tools, system, messages.
    pub blocks: Vec<BlockRow>,
    /// Which block to look at first: the one with the first break or the newest injection. An index into `blocks`.
    pub focus: usize,
    /// Its texts in UTF-8 bytes.
    pub bytes: u64,
    /// Its tokens.
    pub tokens: Option<u64>,
    /// The request itself, as it is sent.
    pub sent: Option<Arc<Request>>,
    /// The events that made some of its bytes what they are, all but the opening, in words: `Cd in call 1`.
    pub causes: BTreeMap<EventId, Arc<str>>,
}

/// A block of the shown request.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    /// `tools`, `system`, `message 4 (tool)`.
    pub title: Arc<str>,
    /// What it is.
    pub kind: BlockKind,
    /// The message that it belongs to; none for tools and system.
    pub message: Option<MessageId>,
    /// The text, with an owner for each byte.
    pub text: Traced,
    /// Who wrote which bytes, in order; they tile the text.
    pub parts: Vec<PartRow>,
    /// What is with it, compared with the call before.
    pub change: BlockChange,
    /// Its tokens.
    pub tokens: Option<u64>,
    /// How many of them were injected; 0 for none.
    pub injected: Option<u64>,
    /// A cache mark behind this block: `mark, 5 min`.
    pub mark: Option<Arc<str>>,
}

/// A block compared with the call before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockChange {
    /// The same bytes.
    #[default]
    Same,
    /// It was not there: `new in this call`.
    New,
    /// It has other bytes, from this byte on: `changed at byte 386`.
    Changed(usize),
}

/// Who wrote a run of bytes of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartRow {
    /// `tool result, Cd`, `user`, `model`, `dynamic-context`.
    pub author: Arc<str>,
    /// True for text that a layer put into a message: shown with `+`.
    pub injected: bool,
    /// The layer; none for what no layer wrote.
    pub layer: Option<Name>,
    /// Its bytes, the separator in front of it included.
    pub range: Range<usize>,
    /// True when these bytes differ from the call before in a block that was there.
    pub changed: bool,
    /// The event that made it what it is, for what changed: `Cd in call 1`.
    pub cause: Option<Arc<str>>,
}
