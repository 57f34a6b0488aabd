//! The ledger: what was sent, what is persisted, what is replayed.

use std::sync::Arc;

use crate::app::effect::TextPlace;
use crate::app::snapshot::BlockRow;
use crate::core::fact::Name;
use crate::core::wire::{CallNo, MessageId};

/// The three forms of a message, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As the shown call is sent it.
    Sent,
    /// As it is persisted when the turn ends.
    Persisted,
    /// As the next turn is sent it.
    Replayed,
}

impl Form {
    /// All of them, in order.
    pub const ALL: [Form; 3] = [Form::Sent, Form::Persisted, Form::Replayed];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Form::Sent => "sent",
            Form::Persisted => "persisted",
            Form::Replayed => "replayed",
        }
    }
}

/// How much there is of something in one form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// UTF-8 bytes; 0 where nothing of it is there.
    pub bytes: u64,
    /// Tokens; none where they are not counted.
    pub tokens: Option<u64>,
}

/// The ledger of the shown call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerView {
    /// The call.
    pub call: CallNo,
    /// The sub-agent that makes it; none for the main agent.
    pub agent: Option<Name>,
    /// Its turn, from 1.
    pub turn: u32,
    /// False while the turn goes on: then the forms behind `sent` are what the keep rules will make of it.
    pub persisted: bool,
    /// The first call of the next turn; none where none is known.
    pub replay: Option<CallNo>,
    /// True when tokens are estimates.
    pub estimate: bool,
    /// Tools and system, which are sent with each call and are no part of the messages.
    pub head: Size,
    /// The messages, in order.
    pub rows: Vec<LedgerRow>,
    /// The sums over the messages, by form.
    pub total: [Size; 3],
    /// What the differences cost in the next turn, one line each.
    pub cost: Vec<Arc<str>>,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRow {
    /// The message.
    pub message: MessageId,
    /// `message 4 (tool)`.
    pub title: Arc<str>,
    /// How much there is of it, by form.
    pub sizes: [Size; 3],
    /// True when the next turn is sent other bytes.
    pub differs: bool,
    /// What that costs there, as far as it is known.
    pub cost: Option<Arc<str>>,
    /// The same for each model side by side, one line each; empty until they are worked out.
    pub by_model: Vec<Arc<str>>,
    /// What it is made of.
    pub pieces: Vec<PieceRow>,
    /// Its blocks in all forms, in the order of the forms.
    pub texts: Vec<BlockRow>,
    /// The first of [`LedgerRow::texts`] of each form; none where nothing of it is there.
    pub first: [Option<usize>; 3],
    /// The text behind it.
    pub text: Option<TextPlace>,
}

/// Something that a message is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceRow {
    /// Who wrote it, as screens call it.
    pub author: Name,
    /// The layer; none for what no layer wrote.
    pub layer: Option<Name>,
    /// How much it is, the separator in front of it left out.
    pub size: Size,
    /// In which forms it is there.
    pub there: [bool; 3],
    /// Who takes it out, by which rule and at which event; none where it stays.
    pub stripped: Option<Arc<str>>,
    /// The text behind it.
    pub text: Option<TextPlace>,
}
