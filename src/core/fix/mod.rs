//! What would put something right, as data: what a lint proposes, and what is tried against a break of the cache.
//!
//! Nothing is believed of a [`Fix`] before it was tried. Whoever drives the run makes the change in the text of the bench
//! (so that what is tried is what would be written), plays the same run again, adds it up with [`sums`], and learns from
//! [`worth()`] what it is worth. [`Search`] says what to try against what a run loses, one after the other; it begins with
//! what [`remedies()`] finds and goes on with combinations of what helped.

mod remedies;
mod search;
mod worth;

pub use remedies::{Given, remedies};
pub use search::{Offer, Search};
pub use worth::{Sum, Tally, Worth, sums, worth};

use std::sync::Arc;

use crate::core::bench::{Bench, Keeping, Refresh};
use crate::core::diagnostic::Position;
use crate::core::fact::Name;

/// One change of a bench file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A layer goes behind another one of its place.
    Behind(Name, Name),
    /// A layer is made again by another rule.
    Refresh(Name, Refresh),
    /// A layer is left out.
    Off(Name),
    /// A layer goes to another place.
    Place(Name, Name),
    /// The priority of a layer.
    Run(Name, i64),
    /// What becomes of the text that a layer put into messages.
    Keep(Name, KeepRule, Keeping),
    /// A cache mark goes, by its number from 0.
    RemoveMark(usize),
    /// A cache mark more: `tools`, `last_history`, `last_message` or a place.
    AddMark(Name),
    /// A cache mark asks for another life, as benches write it: `1h`.
    MarkLife(usize, Name),
}

/// One of the rules of `keep:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepRule {
    /// Of a layer's earlier text, when it writes again.
    Earlier,
    /// When the turn is persisted.
    Persist,
}

impl Change {
    /// True for two changes of which only one can hold.
    fn excludes(&self, other: &Change) -> bool {
        match (self, other) {
            (Change::Keep(a, x, _), Change::Keep(b, y, _)) => a == b && x == y,
            (Change::Refresh(a, _) | Change::Place(a, _), Change::Refresh(b, _) | Change::Place(b, _)) => {
                a == b
            }
            (Change::MarkLife(a, _), Change::MarkLife(b, _)) => a == b,
            _ => self == other,
        }
    }
}

/// How something is put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Changes of the bench file that belong together, in order, over the variants that are on.
    Bench(Vec<Change>),
    /// These variants of the bench instead of those that are on.
    Variants(Vec<Name>),
    /// The run without the line of its script that stands there in the bench file.
    Without(Position),
}

impl How {
    /// How many things it changes: of two that come to the same, the smaller is the better.
    fn size(&self) -> usize {
        match self {
            How::Bench(changes) => changes.len(),
            How::Variants(names) => names.len(),
            How::Without(_) => 1,
        }
    }
}

/// What would put something right.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What is done, lower case, without a full stop: `move 00_base behind 30_sender`.
    pub said: String,
    /// How it is done.
    pub how: How,
    /// What it is worth, model by model, once somebody has tried it.
    pub worth: Vec<Worth>,
}

impl Fix {
    /// Changes of the bench file that nobody has tried yet.
    pub fn new(said: impl Into<String>, changes: impl IntoIterator<Item = Change>) -> Fix {
        Fix { said: said.into(), how: How::Bench(changes.into_iter().collect()), worth: Vec::new() }
    }

    /// True where the model is told of fewer changes than before.
    #[must_use]
    pub fn tells_less(&self) -> bool {
        self.changes().iter().any(|change| matches!(change, Change::Refresh(_, Refresh::Session)))
    }

    /// What it changes in the bench file; empty for what changes nothing there.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        match &self.how {
            How::Bench(changes) => changes,
            How::Variants(_) | How::Without(_) => &[],
        }
    }
}

/// A bench of which one run lacks the line of its script that stands there.
#[must_use]
pub fn without_line(bench: &Bench, run: Option<&Name>, line: Position) -> Arc<Bench> {
    let mut bench = bench.clone();
    if let Some(script) = run.and_then(|run| bench.runs.get_mut(run)) {
        *script = script.iter().filter(|other| other.at != line).cloned().collect();
    }
    Arc::new(bench)
}
