//! The families of caches: what a provider has to say about its own for each, as data.

use super::model::Known;
use crate::core::fact::Name;
use crate::core::text::number::Thousands;
use crate::core::wire::BlockKind;

/// How long what was stored lives after its last use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Life {
    /// In seconds: the documented maximum, which outcomes are worked out with. None where nothing is published or where
    /// only room runs out: nothing dies of age then.
    pub max: Option<Known<u32>>,
    /// In seconds: what the vendor calls typical; a note, where a request comes later than that.
    pub typical: Option<Known<u32>>,
}

/// From when on others can read what a request stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// As soon as it is sent.
    Immediate,
    /// As soon as a block is full: in the same batch.
    BlockFull,
    /// When its answer begins.
    FirstToken,
    /// When its answer is complete.
    ResponseEnd,
    /// Seconds after that.
    Seconds,
    /// Some time later, nobody says when.
    Asynchronous,
}

/// The same with a figure. Vendors say when, not how long that takes; the figure stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visible {
    /// What is documented.
    pub when: When,
    /// In milliseconds after the start of the request.
    pub after: u32,
}

/// Whether what the model wrote is stored behind the prompt that it answered, to be read when it is sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    /// No: it is stored when it is sent back.
    No,
    /// Yes, if it comes back with the same tokens.
    Yes,
    /// The vendor's rule leaves it out and real traffic has it: a part of the calibrated estimate only.
    Measured,
}

/// What a provider does with the model's own reasoning in later requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasoning {
    /// It stays.
    Kept,
    /// When the user speaks again, that of earlier turns is taken out, wherever it stands.
    Stripped,
    /// It has to be sent back as it was, else the prefix ends at the message that has lost it.
    Replay,
}

/// Parameters outside of the text that have a part in what is looked up, by the zone from which on. A dotted name is a
/// member: `output_config.effort`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Salts {
    /// From the first byte on.
    pub tools: Option<Known<Vec<Name>>>,
    /// From the system prompt on.
    pub system: Option<Known<Vec<Name>>>,
    /// In messages only.
    pub messages: Option<Known<Vec<Name>>>,
}

/// Caches that match the longest common prefix of tokens, down to whole blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRules {
    /// Tokens in a block: what is read is a multiple of it.
    pub block: Known<u32>,
    /// Tokens below which nothing is stored or read.
    pub min: Known<u32>,
    /// How long it lives.
    pub life: Life,
    /// The lives that a request may ask for, in seconds, ascending; none where it has no choice.
    pub lives: Option<Known<Vec<u32>>>,
    /// From when on others can read it; none where nothing is published: at once.
    pub visible: Option<Known<Visible>>,
    /// Whether it holds what the model wrote.
    pub generated: Option<Known<Generated>>,
    /// True where at least the last token is always worked out anew.
    pub recompute_last: Option<Known<bool>>,
    /// True where a request that was sent before, byte for byte, is read to its end.
    pub exact_resend: Option<Known<bool>>,
    /// Tokens that the provider puts in front. They fill blocks and are neither counted nor reported.
    pub hidden: Option<Known<u32>>,
    /// What is reported is a multiple of this, where that is not the block.
    pub report: Option<Known<u32>>,
    /// Tokens for which the server has room: what was used longest ago goes first, from its end. None: no limit known.
    pub room: Option<Known<u32>>,
}

impl BlockRules {
    /// Blocks, a minimum and a life, and nothing else.
    #[must_use]
    pub fn plain(block: Known<u32>, min: Known<u32>, life: Life) -> BlockRules {
        BlockRules {
            block,
            min,
            life,
            lives: None,
            visible: None,
            generated: None,
            recompute_last: None,
            exact_resend: None,
            hidden: None,
            report: None,
            room: None,
        }
    }
}

/// What happens to marks beyond the most that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// The provider answers with an error.
    Error,
    /// The latest are kept, the others count for nothing.
    DropOldest,
}

/// Caches with entries exactly where the request has marks.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedRules {
    /// The most marks of a request.
    pub max_marks: Known<u32>,
    /// What happens to one more; none: an error.
    pub excess: Option<Known<Excess>>,
    /// How many positions are looked at backwards from a mark, itself included.
    pub lookback: Known<u32>,
    /// Runs of blocks of one of these kinds count as one position.
    pub collapse: Known<Vec<BlockKind>>,
    /// Tokens, from the start of the request to the mark, below which a mark stores nothing, silently.
    pub min: Known<u32>,
    /// The lives that a mark may ask for, in seconds, ascending. They count from the start of a request, and a read
    /// refreshes them.
    pub lives: Known<Vec<u32>>,
    /// From when on others can read an entry.
    pub visible: Known<Visible>,
    /// True where a `cache_control` of the whole request puts one more mark behind its last block.
    pub automatic: Option<Known<bool>>,
    /// Where a request has marks, the provider puts one of its own, which does not count, behind each result of a tool that
    /// it has run itself: its life in seconds. None where it puts none.
    pub server_tools: Option<Known<u32>>,
}

/// Where a provider puts a mark of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// Behind the latest message of the user, or the last of the latest results of tools, or the instructions in
    /// front of both.
    LastMessage,
    /// Behind everything.
    End,
}

/// Where entries are looked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// Backwards from each mark.
    Walk {
        /// How many positions, the mark included.
        positions: Known<u32>,
        /// Runs of blocks of one of these kinds count as one position.
        collapse: Known<Vec<BlockKind>>,
    },
    /// At marks, and at the ends of messages where the provider would have put its own.
    Ends {
        /// Of the request's own marks, so many first ones.
        first: Known<u32>,
        /// And so many last ones.
        last: Known<u32>,
        /// So many ends of messages before the provider's own mark.
        previous: Known<u32>,
        /// True where the end of the instructions in front of the conversation is stored and looked at, too.
        instructions: Known<bool>,
    },
}

/// Caches in which the provider puts a mark of its own, besides those of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoMarkedRules {
    /// Where it puts it.
    pub boundary: Known<Boundary>,
    /// The most marks of the request beside it.
    pub max_marks: Known<u32>,
    /// The same where the request asks for its own marks only; none where it cannot.
    pub only_own: Option<Known<u32>>,
    /// What happens to one more.
    pub excess: Known<Excess>,
    /// Where entries are looked for.
    pub lookup: Lookup,
    /// Tokens, from the start of the request to the mark, below which nothing is stored, silently.
    pub min: Known<u32>,
    /// The lives that a request may ask for, in seconds, ascending.
    pub lives: Known<Vec<u32>>,
    /// True where an entry that is read lives on for what the reading request asks for, not for what it was written
    /// with.
    pub renew: Option<Known<bool>>,
    /// From when on others can read an entry.
    pub visible: Known<Visible>,
}

/// Caches that keep a few prefixes of each request, which are read whole or not at all: up to the end of the prompt, up
/// to the end of the answer, and what two requests had in common.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRules {
    /// Tokens below which nothing is kept.
    pub min: Known<u32>,
    /// How long a unit lives.
    pub life: Life,
    /// From when on it can be read.
    pub visible: Known<Visible>,
    /// Whether the end of the answer is one.
    pub generated: Known<Generated>,
    /// True where what two requests had in common is one from then on.
    pub common: Known<bool>,
}

/// Caches of a server that keeps all prefixes in one tree, as long as there is room.
#[derive(Clone, Debug, PartialEq)]
pub struct RadixRules {
    /// Tokens of a page: what is read is a multiple of it.
    pub page: Known<u32>,
    /// Whether the tree holds what the model wrote.
    pub generated: Known<Generated>,
    /// Tokens for which there is room: what was used longest ago goes first, from its end. None: no limit known.
    pub room: Option<Known<u32>>,
}

/// Caches of a server that works in slots, each with the last prompt that was worked out in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotRules {
    /// How many.
    pub slots: Known<u32>,
    /// In thousandths of the prompt: a slot with less in common is not chosen for it, the longest unused one is.
    pub similarity: Known<u32>,
    /// Tokens that are always worked out anew.
    pub min_eval: Known<u32>,
    /// Tokens of prompts that were driven out of their slot for which the main memory has room; none: no limit known.
    pub host: Option<Known<u32>>,
    /// Whether a slot holds what the model wrote.
    pub generated: Known<Generated>,
    /// Of models whose state cannot be cut at any token: a prompt that does not go on from the end of another is read up to
    /// a multiple of this. None where it can be cut anywhere.
    pub checkpoint: Option<Known<u32>>,
}

/// Caches that the caller makes, names and pays for by the hour.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceRules {
    /// Tokens below which none can be made.
    pub min: Known<u32>,
    /// The lives that one may ask for, in seconds, ascending; the first is the default. With `any`, any other, too.
    pub lives: Known<Vec<u32>>,
    /// True where any life may be asked for.
    pub any: bool,
    /// True where reading one makes it live on.
    pub refresh: Known<bool>,
    /// True where each answer continues the one before it by its id, so that a request is stored whole, with its
    /// answer; else up to the last mark.
    pub chain: Known<bool>,
}

/// Caches of which no more is said than that repeated prefixes are cheaper: what is worked out is an upper bound.
#[derive(Clone, Debug, PartialEq)]
pub struct OpaqueRules {
    /// Tokens below which nothing is stored.
    pub min: Known<u32>,
    /// How long it lives, where that is published.
    pub life: Life,
    /// From when on it can be read.
    pub visible: Option<Known<Visible>>,
}

/// How a model's cache works.
#[derive(Clone, Debug, PartialEq)]
pub enum Family {
    /// See [`BlockRules`].
    Block(BlockRules),
    /// See [`MarkedRules`].
    Marked(MarkedRules),
    /// See [`AutoMarkedRules`].
    AutoMarked(AutoMarkedRules),
    /// See [`UnitRules`].
    Units(UnitRules),
    /// See [`RadixRules`].
    Radix(RadixRules),
    /// See [`SlotRules`].
    Slot(SlotRules),
    /// See [`ResourceRules`].
    Resource(ResourceRules),
    /// See [`OpaqueRules`].
    Opaque(OpaqueRules),
}

impl Family {
    /// Its name in the model file: `auto_marked`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Family::Block(_) => "block",
            Family::Marked(_) => "marked",
            Family::AutoMarked(_) => "auto_marked",
            Family::Units(_) => "units",
            Family::Radix(_) => "radix",
            Family::Slot(_) => "slot",
            Family::Resource(_) => "resource",
            Family::Opaque(_) => "opaque",
        }
    }

    /// How it works, as a phrase: `128 blocks, min 1,024`.
    #[must_use]
    pub fn phrase(&self) -> String {
        let min = |min: &Known<u32>| format!("min {}", Thousands(min.value));
        match self {
            Family::Block(rules) => {
                format!("{} blocks, {}", Thousands(rules.block.value), min(&rules.min))
            }
            Family::Marked(rules) => {
                format!("at most {} marks, {}", rules.max_marks.value, min(&rules.min))
            }
            Family::AutoMarked(rules) => {
                format!("own mark, at most {} more, {}", rules.max_marks.value, min(&rules.min))
            }
            Family::Units(rules) if rules.min.value > 0 => format!("whole units, {}", min(&rules.min)),
            Family::Units(_) => "whole units".to_owned(),
            Family::Radix(rules) if rules.page.value > 1 => {
                format!("prefix tree, pages of {}", Thousands(rules.page.value))
            }
            Family::Radix(_) => "prefix tree".to_owned(),
            Family::Slot(rules) => format!("{} slots", Thousands(rules.slots.value)),
            Family::Resource(rules) => format!("made by the caller, {}", min(&rules.min)),
            Family::Opaque(rules) => format!("not published, {}", min(&rules.min)),
        }
    }

    /// Tokens below which nothing is stored; none where there is no such limit.
    #[must_use]
    pub fn min(&self) -> Option<&Known<u32>> {
        match self {
            Family::Block(rules) => Some(&rules.min),
            Family::Marked(rules) => Some(&rules.min),
            Family::AutoMarked(rules) => Some(&rules.min),
            Family::Units(rules) => Some(&rules.min),
            Family::Resource(rules) => Some(&rules.min),
            Family::Opaque(rules) => Some(&rules.min),
            Family::Radix(_) | Family::Slot(_) => None,
        }
    }

    /// The lives that a request may ask for, in seconds, ascending; empty where it has no choice.
    #[must_use]
    pub fn lives(&self) -> &[u32] {
        match self {
            Family::Block(rules) => rules.lives.as_ref().map_or(&[], |lives| &lives.value),
            Family::Marked(rules) => &rules.lives.value,
            Family::AutoMarked(rules) => &rules.lives.value,
            Family::Resource(rules) => &rules.lives.value,
            Family::Units(_) | Family::Radix(_) | Family::Slot(_) | Family::Opaque(_) => &[],
        }
    }

    /// True where the vendor publishes the rule by which it matches. Where it does not, what is worked out is an upper
    /// bound or was measured by others: an estimate.
    #[must_use]
    pub fn published(&self) -> bool {
        use super::model::Confidence::{A, User};
        let told = |known: super::model::Confidence| matches!(known, A | User);
        match self {
            Family::Block(rules) => told(rules.block.confidence),
            Family::Opaque(_) => false,
            Family::Units(rules) => told(rules.common.confidence),
            _ => true,
        }
    }
}
