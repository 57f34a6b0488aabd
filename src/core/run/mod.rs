//! The run loop: inputs, session, what each call was sent and why.

mod belief;
mod blocks;
mod facts;
mod files;
mod input;
mod player;
mod prepare;
mod rebench;
mod record;
mod restart;
mod session;
mod short;
mod simulate;

pub use facts::resolve;
pub use input::{Compaction, EditTarget, Input, ScriptLine, SessionEnd, ToolCall};
pub use player::{Load, Player};
pub use record::{
    Answer, Belief, CallRecord, Changed, Event, Injected, LayerState, Lead, Pending, Told, ToolRun,
};
pub(crate) use restart::COMPACTION;
pub use session::{Refused, Session};
