//! What a model file says, as it is written.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::core::wire::BlockKind;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub revision: Option<String>,
    #[serde(default)]
    pub sources: BTreeMap<String, SourceEntry>,
    #[serde(default)]
    pub profiles: IndexMap<String, Entry>,
    #[serde(default)]
    pub models: IndexMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceEntry {
    pub name: String,
    pub checked: Option<String>,
}

/// A model, or what several have in common. What is not given comes from `like`.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub like: Option<String>,
    pub tokens: Option<TokensEntry>,
    pub window: Option<Sourced<u32>>,
    pub framing: Option<String>,
    pub accounting: Option<Sourced<AccountingWord>>,
    pub block: Option<BlockEntry>,
    pub marked: Option<MarkedEntry>,
    pub auto_marked: Option<AutoMarkedEntry>,
    pub units: Option<UnitsEntry>,
    pub radix: Option<RadixEntry>,
    pub slot: Option<SlotEntry>,
    pub resource: Option<ResourceEntry>,
    pub opaque: Option<OpaqueEntry>,
    pub salts: Option<SaltsEntry>,
    pub routing: Option<Sourced<Vec<String>>>,
    pub reasoning: Option<Sourced<ReasoningWord>>,
    pub reliability: Option<Sourced<f64>>,
    pub about: Option<IndexMap<String, Sourced<String>>>,
    pub prices: Option<Vec<PriceEntry>>,
    pub factors: Option<Vec<FactorEntry>>,
    pub defaults: Option<IndexMap<String, Sourced<String>>>,
}

/// A parameter with which everything costs another price.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactorEntry {
    pub param: String,
    pub is: String,
    /// None where it is not known by how much.
    pub times: Option<f64>,
    pub source: Option<String>,
    pub confidence: Option<ConfidenceWord>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokensEntry {
    pub encoding: String,
    pub factor: Option<f64>,
    pub error: Option<f64>,
    pub source: Option<String>,
    pub confidence: Option<ConfidenceWord>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sourced<T> {
    pub value: T,
    pub source: Option<String>,
    pub confidence: Option<ConfidenceWord>,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) enum ConfidenceWord {
    A,
    B,
    C,
    D,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AccountingWord {
    Inclusive,
    Exclusive,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReasoningWord {
    Kept,
    Stripped,
    Replay,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GeneratedWord {
    No,
    Yes,
    Measured,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExcessWord {
    Error,
    DropOldest,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BoundaryWord {
    LastMessage,
    End,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WhenWord {
    Immediate,
    BlockFull,
    FirstToken,
    ResponseEnd,
    Seconds,
    Asynchronous,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VisibleEntry {
    pub when: WhenWord,
    pub after_ms: u32,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockEntry {
    pub block: Option<Sourced<u32>>,
    pub min: Option<Sourced<u32>>,
    pub max_life: Option<Sourced<u32>>,
    pub typical_life: Option<Sourced<u32>>,
    pub lives: Option<Sourced<Vec<u32>>>,
    pub visible: Option<Sourced<VisibleEntry>>,
    pub generated: Option<Sourced<GeneratedWord>>,
    pub recompute_last: Option<Sourced<bool>>,
    pub exact_resend: Option<Sourced<bool>>,
    pub hidden: Option<Sourced<u32>>,
    pub report: Option<Sourced<u32>>,
    pub room: Option<Sourced<u32>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkedEntry {
    pub max_marks: Option<Sourced<u32>>,
    pub excess: Option<Sourced<ExcessWord>>,
    pub lookback: Option<Sourced<u32>>,
    pub collapse: Option<Sourced<Vec<BlockKind>>>,
    pub min: Option<Sourced<u32>>,
    pub lives: Option<Sourced<Vec<u32>>>,
    pub visible: Option<Sourced<VisibleEntry>>,
    /// The figure of `visible` alone.
    pub visible_after_ms: Option<Sourced<u32>>,
    pub automatic: Option<Sourced<bool>>,
    pub server_tools: Option<Sourced<u32>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AutoMarkedEntry {
    pub boundary: Option<Sourced<BoundaryWord>>,
    pub max_marks: Option<Sourced<u32>>,
    pub only_own: Option<Sourced<u32>>,
    pub excess: Option<Sourced<ExcessWord>>,
    pub lookback: Option<Sourced<u32>>,
    pub collapse: Option<Sourced<Vec<BlockKind>>>,
    pub first: Option<Sourced<u32>>,
    pub last: Option<Sourced<u32>>,
    pub previous: Option<Sourced<u32>>,
    pub instructions: Option<Sourced<bool>>,
    pub min: Option<Sourced<u32>>,
    pub lives: Option<Sourced<Vec<u32>>>,
    pub renew: Option<Sourced<bool>>,
    pub visible: Option<Sourced<VisibleEntry>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnitsEntry {
    pub min: Option<Sourced<u32>>,
    pub max_life: Option<Sourced<u32>>,
    pub typical_life: Option<Sourced<u32>>,
    pub visible: Option<Sourced<VisibleEntry>>,
    pub generated: Option<Sourced<GeneratedWord>>,
    pub common: Option<Sourced<bool>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RadixEntry {
    pub page: Option<Sourced<u32>>,
    pub generated: Option<Sourced<GeneratedWord>>,
    pub room: Option<Sourced<u32>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlotEntry {
    pub slots: Option<Sourced<u32>>,
    /// A share of the prompt.
    pub similarity: Option<Sourced<f64>>,
    pub min_eval: Option<Sourced<u32>>,
    pub host_tokens: Option<Sourced<u32>>,
    pub generated: Option<Sourced<GeneratedWord>>,
    pub checkpoint: Option<Sourced<u32>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceEntry {
    pub min: Option<Sourced<u32>>,
    pub lives: Option<Sourced<Vec<u32>>>,
    pub any_life: Option<Sourced<bool>>,
    pub refresh: Option<Sourced<bool>>,
    pub chain: Option<Sourced<bool>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpaqueEntry {
    pub min: Option<Sourced<u32>>,
    pub max_life: Option<Sourced<u32>>,
    pub typical_life: Option<Sourced<u32>>,
    pub visible: Option<Sourced<VisibleEntry>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SaltsEntry {
    pub tools: Option<Sourced<Vec<String>>>,
    pub system: Option<Sourced<Vec<String>>>,
    pub messages: Option<Sourced<Vec<String>>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceEntry {
    pub from: Option<String>,
    pub input: String,
    pub read: String,
    /// For the shortest life, whatever it is; `write_5m` is another name for it.
    pub write: Option<String>,
    pub write_5m: Option<String>,
    pub write_1h: Option<String>,
    pub output: Option<String>,
    pub source: Option<String>,
    pub confidence: Option<ConfidenceWord>,
    pub long: Option<LongEntry>,
    /// More than one limit, the lowest first.
    pub tiers: Option<Vec<LongEntry>>,
    pub peak: Option<PeakEntry>,
    /// For a million tokens, kept for an hour.
    pub storage: Option<String>,
    pub currency: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LongEntry {
    pub above: u32,
    pub input: String,
    pub read: String,
    pub write: Option<String>,
    pub write_5m: Option<String>,
    pub write_1h: Option<String>,
    pub output: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeakEntry {
    /// Pairs of hours, UTC.
    pub hours: Vec<Vec<i8>>,
    #[serde(default)]
    pub weekdays: bool,
    pub times: f64,
}

/// `a` with what `b` gives put in its place.
macro_rules! take_over {
    ($a:expr, $b:expr, $($field:ident),+) => {
        $( if $b.$field.is_some() { $a.$field = $b.$field; } )+
    };
}

/// The same for a family: what is given of one is merged into it, and puts an end to any other.
macro_rules! family {
    ($a:expr, $b:expr, $name:ident: $($field:ident),+) => {
        if let Some(theirs) = $b.$name {
            let mut ours = $a.$name.take().unwrap_or_default();
            take_over!(ours, theirs, $($field),+);
            $a.end_families();
            $a.$name = Some(ours);
        }
    };
}

impl Entry {
    fn end_families(&mut self) {
        self.block = None;
        self.marked = None;
        self.auto_marked = None;
        self.units = None;
        self.radix = None;
        self.slot = None;
        self.resource = None;
        self.opaque = None;
    }

    /// How many families it gives something of.
    pub(super) fn families(&self) -> usize {
        [
            self.block.is_some(),
            self.marked.is_some(),
            self.auto_marked.is_some(),
            self.units.is_some(),
            self.radix.is_some(),
            self.slot.is_some(),
            self.resource.is_some(),
            self.opaque.is_some(),
        ]
        .into_iter()
        .filter(|given| *given)
        .count()
    }

    /// Puts what another entry gives in the place of what this one has, value by value.
    pub(super) fn take_over(&mut self, other: Entry) {
        family!(self, other, block: block, min, max_life, typical_life, lives, visible, generated, recompute_last, exact_resend, hidden, report, room);
        family!(self, other, marked: max_marks, excess, lookback, collapse, min, lives, visible, visible_after_ms, automatic, server_tools);
        family!(self, other, auto_marked: boundary, max_marks, only_own, excess, lookback, collapse, first, last, previous, instructions, min, lives, renew, visible);
        family!(self, other, units: min, max_life, typical_life, visible, generated, common);
        family!(self, other, radix: page, generated, room);
        family!(self, other, slot: slots, similarity, min_eval, host_tokens, generated, checkpoint);
        family!(self, other, resource: min, lives, any_life, refresh, chain);
        family!(self, other, opaque: min, max_life, typical_life, visible);
        if let Some(theirs) = other.salts {
            let ours = self.salts.get_or_insert_default();
            take_over!(ours, theirs, tools, system, messages);
        }
        if let Some(theirs) = other.about {
            self.about.get_or_insert_default().extend(theirs);
        }
        if let Some(theirs) = other.defaults {
            self.defaults.get_or_insert_default().extend(theirs);
        }
        take_over!(
            self,
            other,
            like,
            tokens,
            window,
            framing,
            accounting,
            routing,
            reasoning,
            reliability,
            prices,
            factors
        );
    }
}
