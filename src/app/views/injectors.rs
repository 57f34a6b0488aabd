//! The injectors: what each watches, told, and has still to tell.

use std::sync::Arc;

use crate::app::snapshot::Tone;
use crate::core::fact::Name;
use crate::core::wire::{CallNo, MessageId};

/// The injectors at the shown call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InjectorsView {
    /// The call.
    pub call: CallNo,
    /// The injectors, in the order of the bench.
    pub rows: Vec<InjectorRow>,
    /// What is said where there are none.
    pub empty: Arc<str>,
}

/// An injector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InjectorRow {
    /// The layer.
    pub layer: Name,
    /// As screens call it.
    pub shown: Name,
    /// Where it speaks and when: `newest tool message; when cwd changes; since: built`.
    pub rule: Arc<str>,
    /// What it watches.
    pub facts: Vec<FactRow>,
    /// What waits to be told and why; none for nothing.
    pub pending: Option<Arc<str>>,
    /// The message that the pending text is staged for.
    pub staged: Option<MessageId>,
    /// Why it says nothing in this request; none where it says something.
    pub silent: Option<Arc<str>>,
    /// What it told, the latest first.
    pub told: Vec<ToldRow>,
}

/// A fact that an injector watches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactRow {
    /// The fact.
    pub fact: Name,
    /// Its value.
    pub now: Arc<str>,
    /// The value that was told last, and with which call; none for nothing.
    pub told: Option<(Arc<str>, CallNo)>,
    /// What it is measured against.
    pub base: Arc<str>,
    /// Its changes and what became of them, the latest first.
    pub changes: Vec<FateRow>,
    /// In which calls it was stale, superseded or untold: `stale in calls 3-4`; empty for none.
    pub beliefs: Vec<(Arc<str>, Tone)>,
}

/// A change of a fact and what became of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FateRow {
    /// `/home/shop -> /home/shop/api, by Cd in call 1`.
    pub change: Arc<str>,
    /// `told in call 2, message 4`, `changed back before it was told: nobody hears of it`.
    pub fate: Arc<str>,
    /// True for a change that the model never hears of.
    pub lost: bool,
    /// What becomes of a lost one in the bench as it is written, without the variants that are on; none where the bench
    /// loses it, too.
    pub written: Option<Arc<str>>,
    /// Where it was told, or should have been.
    pub call: Option<CallNo>,
    /// The message in which it was told.
    pub message: Option<MessageId>,
}

/// Something that an injector told.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldRow {
    /// The call.
    pub call: CallNo,
    /// The message.
    pub message: MessageId,
    /// `cwd changed: /home/shop -> /home/shop/api, by Cd in call 1`; `every call`.
    pub why: Arc<str>,
    /// Tokens; none where they are not counted.
    pub tokens: Option<u64>,
    /// UTF-8 bytes.
    pub bytes: u64,
    /// True when the call failed.
    pub failed: bool,
}
