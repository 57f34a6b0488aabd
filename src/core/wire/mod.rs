//! A request as one model call is sent: provider-neutral blocks, in the provider's order.

mod against;
mod align;
mod detect;
mod document;
pub mod json;
pub mod lossless;
mod params;
mod pattern;
pub mod redact;
mod shapes;
pub mod spelling;
#[cfg(test)]
mod tests;
pub mod tool;
mod visible;
mod write;

pub use against::{Author, Comparison, Difference, Differs, Equality, compare};
pub use document::{Document, Item, ItemKind, Mark, Setting, Unreadable};
pub use params::{PARAMS, Param, Params};
pub use shapes::Format;
pub use write::{body, tool_definition};

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::core::fact::Name;
use crate::core::text::Traced;
use crate::core::tokens::image::Pixels;
use crate::core::tokens::{self, Measure};

/// The three zones of a request, in the order in which providers hash them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Zone {
    /// Tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// One tool definition, as JSON.
    Tool,
    /// A block of system text.
    System,
    /// Text of a message of the user, or of somebody else whom the model answers.
    User,
    /// Text that the model said.
    Assistant,
    /// A tool call of the model: its text is the arguments as JSON.
    ToolUse,
    /// What a tool returned, with everything that was injected into it.
    ToolResult,
    /// An image in a message of the user: its text is its address, or a `data:` URL with all of it.
    Image,
}

impl BlockKind {
    /// The zone in which such a block stands.
    #[must_use]
    pub fn zone(self) -> Zone {
        match self {
            BlockKind::Tool => Zone::Tools,
            BlockKind::System => Zone::System,
            _ => Zone::Messages,
        }
    }
}

/// The number of a message in its conversation; given at creation, never from content. Number 1 is the system prompt's,
/// so the first message of a user is 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId(pub u32);

/// One block of a request: the smallest thing a cache mark can stand behind, and what a provider tokenizes on its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// What tells it apart from other blocks of its kind: the tool's name, the place's id (or the layer's, with `join:
    /// blocks`), for a tool call and its result the call's id, for a text of [`BlockKind::User`] who says it (`user`,
    /// `developer`, `system`), [`Block::REASONING`] for the model's reasoning. Sent to the provider in messages and for tools, so it is part of [`Block::hash`] there.
    pub name: Name,
    /// For a tool call, the tool's name.
    pub tool: Option<Name>,
    /// The message it is part of; none outside of [`Zone::Messages`].
    pub message: Option<MessageId>,
    /// The decoded text, with an owner for each byte.
    pub text: Traced,
    /// A hash of kind, names and text: equal blocks are sent as equal bytes.
    pub hash: u64,
    /// Of an image its size, where it is known. Not sent.
    pub size: Option<Pixels>,
}

impl Block {
    /// The name of blocks of [`BlockKind::Assistant`] that hold the model's own reasoning.
    pub const REASONING: &str = "reasoning";

    /// True for the model's own reasoning.
    #[must_use]
    pub fn is_reasoning(&self) -> bool {
        self.kind == BlockKind::Assistant && &*self.name == Block::REASONING
    }

    /// True for what the model wrote: its reasoning, its text, its tool calls.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        matches!(self.kind, BlockKind::Assistant | BlockKind::ToolUse)
    }

    /// A block; `hash` is computed.
    #[must_use]
    pub fn new(
        kind: BlockKind,
        name: Name,
        tool: Option<Name>,
        message: Option<MessageId>,
        text: Traced,
    ) -> Arc<Block> {
        let mut hasher = Xxh3::new();
        hasher.update(&[kind as u8]);
        if matches!(
            kind,
            BlockKind::Tool | BlockKind::User | BlockKind::ToolUse | BlockKind::ToolResult | BlockKind::Image
        ) {
            for sent in [Some(&name), tool.as_ref()].into_iter().flatten() {
                hasher.update(&(sent.len() as u64).to_le_bytes());
                hasher.update(sent.as_bytes());
            }
        }
        hasher.update(text.text().as_bytes());
        Arc::new(Block { kind, name, tool, message, hash: hasher.digest(), text, size: None })
    }

    /// An image that `who` (`user`) shows.
    #[must_use]
    pub fn image(who: Name, message: Option<MessageId>, url: Traced, size: Option<Pixels>) -> Arc<Block> {
        let mut block = Block::new(BlockKind::Image, who, None, message, url);
        Arc::make_mut(&mut block).size = size;
        block
    }

    /// The tokens of the whole block; of an image an estimate by its size, whatever measures texts.
    pub fn tokens<M: Measure + ?Sized>(&self, measure: &mut M) -> u32 {
        match self.kind {
            BlockKind::Image => tokens::image::tokens(self.size),
            _ => measure.tokens(self.text.text()),
        }
    }

    /// The tokens that end at or before a byte of the text. An image is not divided.
    pub fn tokens_before<M: Measure + ?Sized>(&self, byte: usize, measure: &mut M) -> u32 {
        match self.kind {
            BlockKind::Image if byte < self.text.len() => 0,
            BlockKind::Image => tokens::image::tokens(self.size),
            _ => measure.tokens_before(self.text.text(), byte),
        }
    }

    /// Leading tokens that two blocks have in common. Of images that differ, none are known to be.
    pub fn shared<M: Measure + ?Sized>(&self, other: &Block, measure: &mut M) -> u32 {
        match (self.kind, other.kind) {
            (BlockKind::Image, _) | (_, BlockKind::Image) if self.hash == other.hash => self.tokens(measure),
            (BlockKind::Image, _) | (_, BlockKind::Image) => 0,
            _ => measure.shared(self.text.text(), other.text.text()),
        }
    }
}

/// A cache mark behind a block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkAt {
    /// The index of the block in [`Request::blocks`].
    pub block: usize,
    /// The life that the mark asks for, in seconds.
    pub ttl: u32,
}

/// The number of a model call in its session, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallNo(pub u32);

/// What one model call is sent. Cheap to clone per block.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The call.
    pub call: CallNo,
    /// The turn it is part of, from 1.
    pub turn: u32,
    /// The conversation: `main`, or the id of a sub-agent. Requests of one conversation follow one another.
    pub agent: Name,
    /// The model, as `provider:model`.
    pub model: Name,
    /// The time at which it is sent, in milliseconds since the Unix epoch.
    pub at: i64,
    /// Tools, then system, then messages.
    pub blocks: Vec<Arc<Block>>,
    /// How many leading blocks are the same (pointer-equal) as in the request before it in this conversation; a lower
    /// bound that makes comparing linear in what is new. 0 for the first.
    pub shared: usize,
    /// The cache marks, in order.
    pub marks: Vec<MarkAt>,
    /// Its parameters besides the text.
    pub params: Arc<Params>,
}

impl Request {
    /// True when it shows images: what it counts is then an estimate, whatever counts the texts.
    #[must_use]
    pub fn has_images(&self) -> bool {
        self.blocks.iter().any(|block| block.kind == BlockKind::Image)
    }

    /// The blocks of a zone.
    #[must_use]
    pub fn zone(&self, zone: Zone) -> &[Arc<Block>] {
        let start = self.blocks.partition_point(|block| block.kind.zone() < zone);
        let end = self.blocks.partition_point(|block| block.kind.zone() <= zone);
        &self.blocks[start..end]
    }
}
