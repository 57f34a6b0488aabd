//! Pane 1: the layers with their sizes and what is with each of them now.

use std::sync::Arc;

use crate::core::bench::Budget;
use crate::core::diagnostic::Position;
use crate::core::fact::Name;

/// Pane 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerTable {
    /// The rows in byte order; layers that write nothing in the shown call stand last.
    pub rows: Vec<LayerRow>,
    /// The last row; none while nothing was built.
    pub total: Option<TotalRow>,
}

impl LayerTable {
    /// True when the run order differs from the byte order somewhere.
    #[must_use]
    pub fn crosses(&self) -> bool {
        self.rows.iter().any(|row| row.crossing)
    }
}

/// Where a layer stands in the bytes of the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// It has no number: tools, and what is left out.
    #[default]
    None,
    /// The number in the system prompt, from 1.
    Number(u32),
    /// In the current user message: `u`.
    User,
    /// In the newest tool message: `t`.
    Tool,
    /// In a message of its own: `m`.
    Message,
}

/// A row of pane 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerRow {
    /// The layer's id; `tools` for the tools.
    pub id: Name,
    /// What screens call it: title, else key, else id.
    pub shown: Name,
    /// Where it stands in the bytes.
    pub byte: ByteOrder,
    /// When it runs, from 1; none for the tools.
    pub run: Option<u32>,
    /// True when its order of running differs from its order in the bytes.
    pub crossing: bool,
    /// What decides when it runs: `run: 100`; empty for what is no layer.
    pub runs_by: Arc<str>,
    /// What decides where it stands: `key 05_channel`, `as it runs`; empty for what is no layer.
    pub stands_by: Arc<str>,
    /// The place it goes to.
    pub place: Name,
    /// Its own text in characters (Unicode scalar values), without joins.
    pub chars: u64,
    /// In lines.
    pub lines: u64,
    /// In UTF-8 bytes.
    pub bytes: u64,
    /// The hash of its own text, for comparing.
    pub hash: u64,
    /// In tokens, alone.
    pub tokens_alone: Option<u64>,
    /// In tokens, in context; these add up to the total. What the column `tokens` shows.
    pub tokens: Option<u64>,
    /// Its share of the total, from 0 to 1.
    pub share: Option<f64>,
    /// What its author allows it.
    pub budget: Option<Budget>,
    /// How often it changes: `fixed`, `session`, `turn`, `call`, `change`, `60 s`.
    pub change: Name,
    /// What is with it now.
    pub now: Now,
    /// False when it is left out of the shown call.
    pub included: bool,
    /// Why it is included or left out, in words: `when: skills`.
    pub reason: Option<Arc<str>>,
    /// What was cut, in words: `212 of 400 lines`; none when nothing was.
    pub truncated: Option<Arc<str>>,
    /// Where its text comes from.
    pub source: Option<SourceAt>,
    /// What it read, in order of the keys.
    pub reads: Vec<ReadRow>,
}

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAt {
    /// The file as the user would name it.
    pub file: Name,
    /// Where.
    pub at: Position,
}

/// Something that a layer read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRow {
    /// The fact: `cwd`, `AGENTS.md`.
    pub fact: Arc<str>,
    /// Its value, short.
    pub value: Arc<str>,
    /// The event that gave it this value; none for what never changed.
    pub cause: Option<Arc<str>>,
}

/// The column `now`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Now {
    /// The same bytes as in the call before: `=`.
    #[default]
    Same,
    /// There was no call before it, or it was not in it: `new`.
    New,
    /// Other bytes, with the difference in characters: `+47`, `-3`, `+0`.
    Changed(i64),
    /// It still says the old value of these facts: `! old cwd`.
    Old(Vec<Name>),
    /// It waits to be told: `pending`.
    Pending,
    /// It was there in the call before and is left out now, or was never there: `omitted: reason`.
    Omitted(Arc<str>),
    /// It was cut: `cut`.
    Cut,
    /// It could not be made, with the reason: `failed`.
    Failed(Arc<str>),
}

/// The last row of pane 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TotalRow {
    /// `total, call 1`.
    pub label: Arc<str>,
    /// Characters, joins included.
    pub chars: u64,
    /// How many of these characters are joins.
    pub joins: u64,
    /// Tokens.
    pub tokens: Option<u64>,
}

/// A place that has a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceSize {
    /// Its name.
    pub place: Name,
    /// What its layers come to, in the unit of the budget; none until tokens are counted.
    pub size: Option<u64>,
    /// What its author allows it.
    pub budget: Budget,
}
