//! Pane 2: the calls of the run, with what each of them costs.

use std::sync::Arc;

use super::hand::Speaker;
use crate::core::fact::Name;
use crate::core::wire::CallNo;

/// Pane 2.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallTable {
    /// The calls in order, sub-agents' where they happened.
    pub rows: Vec<CallRow>,
    /// The call whose request is shown; an index into `rows`.
    pub shown: Option<usize>,
    /// True when writing to the cache has a price of its own, so that the column `write` means something.
    pub write_fee: bool,
    /// Captions behind the last call that are still to come.
    pub closing: Vec<Arc<str>>,
    /// A line below the calls: `3-6 are forecast from the script`.
    pub footnote: Option<Arc<str>>,
    /// For whom something has to be said by hand, so that the run goes on; none where a script goes on.
    pub by_hand: Option<Speaker>,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallState {
    /// It was sent.
    #[default]
    Sent,
    /// It is prepared, and the next to be sent.
    Next,
    /// The script still holds it.
    Forecast,
    /// It was sent and failed; nothing was told.
    Failed,
}

/// A row of pane 2, with the rows that hang on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallRow {
    /// Its number.
    pub no: CallNo,
    /// Its turn.
    pub turn: u32,
    /// True for the first call of a turn.
    pub starts_turn: bool,
    /// The sub-agent that makes it, without the main agent's id in front; none for the main agent.
    pub agent: Option<Name>,
    /// How far it is.
    pub state: CallState,
    /// What led to it: `user: Move into the api folder ..`, `Read, Shell`, `turn 2: Run the ..`, `next, not sent yet`.
    pub what: Arc<str>,
    /// The same for narrow screens: `user`, `Cd api`, `turn 2`.
    pub short: Arc<str>,
    /// What came of it: `model called Cd api`, `model said: Fixed.`, `failed: 529 overloaded`.
    pub answer: Option<Arc<str>>,
    /// What it cost; none while that is being counted.
    pub paid: Option<Paid>,
    /// What layers put into messages for this call.
    pub injected: Vec<InjectedRow>,
    /// Captions that stand before this call.
    pub notes: Vec<Arc<str>>,
}

impl CallRow {
    /// True for a call that pays something again.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.paid.as_ref().is_some_and(|paid| matches!(paid.lost, Lost::Tokens(_)))
    }
}

/// What became of the tokens of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paid {
    /// All that were sent; `read + write + fresh`. None where the model's tokens cannot be counted.
    pub sent: Option<u64>,
    /// Read from the cache; none where the model's cache is not known.
    pub read: Option<u64>,
    /// Written to it; none where that has no price of its own.
    pub write: Option<u64>,
    /// Paid in full.
    pub fresh: Option<u64>,
    /// Paid again.
    pub lost: Lost,
    /// True when all of these are estimates: the call's model may be another one than the selected one.
    pub estimate: bool,
}

/// Tokens that are paid again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// The first call of its conversation: there is nothing to lose.
    First,
    /// None: `-`.
    #[default]
    Nothing,
    /// This many.
    Tokens(u64),
    /// It cannot be said: `n/a`, with the reason.
    Unknown(Arc<str>),
}

/// Something that a layer put into a message for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectedRow {
    /// The layer, as screens call it.
    pub layer: Name,
    /// Its tokens alone, in those of the call's model.
    pub tokens: Option<u64>,
    /// True when they are an estimate.
    pub estimate: bool,
    /// Its characters.
    pub chars: u64,
    /// Where it went: `message 4`.
    pub into: Arc<str>,
    /// The block of the call's request and the part of that block, as indices; none where it is not shown.
    pub at: Option<(usize, usize)>,
}
