//! Pane 4 and the verdict: what changed, what the model believes, how else it could be told.

use std::sync::Arc;

use crate::app::views::Spot;
use crate::core::fact::Name;

/// Pane 4.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Why {
    /// What changed, the latest first.
    pub changes: Vec<Change>,
    /// What is staged and waits for its call or its place.
    pub pending: Vec<Pending>,
    /// How else it could be told.
    pub ways: Ways,
    /// Lines for where nothing changed: `Nothing changed since call 1.`
    pub notes: Vec<Arc<str>>,
}

/// A fact that changed and what the model knows of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// What it is, as a title: `CWD`, `AGENTS.md`.
    pub what: Arc<str>,
    /// The old value, short.
    pub old: Arc<str>,
    /// The new value, short.
    pub new: Arc<str>,
    /// Who changed it: `Cd, call 1`.
    pub by: Arc<str>,
    /// How the model is told: `dynamic-context, call 2, message 4`. Empty: it is not told.
    pub told: Vec<Arc<str>>,
    /// What still says the old value: `00_base, prompt.md:9:6`.
    pub still_old: Vec<Arc<str>>,
    /// Where each of [`Change::told`] stands.
    pub told_at: Vec<Spot>,
    /// Where each of [`Change::still_old`] stands.
    pub old_at: Vec<Spot>,
    /// What that makes of it.
    pub belief: Belief,
    /// The same in words: `superseded by message 4, not stale`; empty for none.
    pub belief_words: Arc<str>,
}

/// What the model believes of a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Belief {
    /// The request says the right value only.
    #[default]
    Right,
    /// An old value stands before the right one.
    Superseded,
    /// The last word on it is wrong.
    Stale,
    /// No word on it at all.
    Untold,
}

/// An announcement that was staged and not yet sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pending {
    /// The layer, as screens call it.
    pub layer: Name,
    /// What it waits for: `goes into message 4 with call 2`, `waits for a tool message`.
    pub waits: Arc<str>,
    /// The text that will be told.
    pub text: Arc<str>,
    /// Where it is staged; none where it has no place yet.
    pub at: Option<Spot>,
}

/// The table `Tell it another way`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    /// The calls over which it counts.
    pub calls: u32,
    /// The rows; this bench stands where it belongs in the order.
    pub rows: Vec<WayRow>,
    /// How many rows are still to be worked out.
    pub left: usize,
    /// Lines below it: `Turn 1 alone: tool message 34.75, rebuild 45.05.`
    pub notes: Vec<Arc<str>>,
}

/// A row of `Tell it another way`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WayRow {
    /// The variants that make it, in order; empty for the bench as it is written.
    pub variants: Vec<Name>,
    /// What the row says: `tool message`, `rebuild system at once`.
    pub label: Arc<str>,
    /// True when it builds on the row before it: `and keep tags on persist`.
    pub indent: bool,
    /// True for what the session runs now.
    pub current: bool,
    /// What came of it; none while it is being worked out.
    pub outcome: Option<WayOutcome>,
    /// True where that came of it before something changed, and it is being worked out again.
    pub old: bool,
}

/// What came of a variant over the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WayOutcome {
    /// Calls in which the last word on a fact is wrong.
    pub stale: u32,
    /// Calls in which an old value stands before the right one.
    pub superseded: u32,
    /// Calls with no word on a fact.
    pub untold: u32,
    /// Tokens paid again; none where the model's cache is not known.
    pub lost: Option<u64>,
    /// US dollars of input for 1,000 runs; none where there are no prices.
    pub per_1000: Option<f64>,
    /// True when tokens and dollars are estimates.
    pub estimate: bool,
    /// Why the variant could not be run; none when it could.
    pub failed: Option<Arc<str>>,
}

/// A line of the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerdictLine {
    /// `CALL 2`, `AHEAD`.
    pub label: Arc<str>,
    /// The sentence.
    pub text: Arc<str>,
    /// A shorter one for narrow screens; none where the sentence is short.
    pub short: Option<Arc<str>>,
    /// How it is coloured. The words say it, too.
    pub tone: Tone,
    /// Where the bytes are that it is about; none where it is about none.
    pub at: Option<Spot>,
}

/// What a line means for the purse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// Nothing is lost.
    Good,
    /// Something is lost, stale or broken.
    Bad,
}
