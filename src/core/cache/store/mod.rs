//! What a provider has stored, with time.
//!
//! A store belongs to one model. Conversations share it, so a sub-agent that begins like its parent reads what the
//! parent wrote.

mod block;
mod marked;
mod tree;

pub(super) use block::BlockStore;
pub use marked::NeverRead;
pub(super) use marked::{Asker, MarkedStore, Miss, eligible, refusal};

use std::sync::Arc;

use crate::core::wire::Block;

/// The running token counts of a request, in the model's tokens: behind each block.
#[derive(Clone, Copy)]
pub(super) struct Running<'a>(pub &'a [u32]);

impl Running<'_> {
    /// Tokens in front of block `block`.
    pub(super) fn before(self, block: usize) -> u32 {
        block.checked_sub(1).map_or(0, |last| self.0[last])
    }

    /// Tokens up to the end of block `block`.
    pub(super) fn behind(self, block: usize) -> u32 {
        self.0[block]
    }

    /// Tokens of everything.
    pub(super) fn total(self) -> u32 {
        self.0.last().copied().unwrap_or_default()
    }
}

/// True when two blocks that stand at the same place can have leading tokens in common: what is sent in front of
/// their text is the same.
pub(super) fn comparable(a: &Arc<Block>, b: &Arc<Block>) -> bool {
    use crate::core::wire::BlockKind::{ToolResult, ToolUse};
    a.kind == b.kind && (!matches!(a.kind, ToolUse | ToolResult) || a.name == b.name && a.tool == b.tool)
}
