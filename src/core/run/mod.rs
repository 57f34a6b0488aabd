//! The run loop: inputs, session, what each call was sent and why.

mod agents;
mod announce;
mod assemble;
mod belief;
mod blocks;
mod conversation;
mod evaluate;
mod facts;
mod files;
mod injectors;
mod input;
mod ledger;
mod player;
mod prepare;
mod rebench;
mod record;
mod recorded;
mod requests;
mod restart;
mod room;
mod script;
mod send;
mod session;
mod short;
mod simulate;
mod steps;
mod take;

pub use facts::resolve;
pub use injectors::{Announcement, Fate, Fated, Injector, Waiting, WatchedFact};
pub use input::{Compaction, EditTarget, Input, ScriptLine, SessionEnd, ToolCall, reported_by};
pub use ledger::{Entry, Ledger, Piece, Stripped};
pub use player::{Load, Player};
pub use record::{
    Answer, Belief, CallRecord, Changed, Event, Happened, Injected, LayerState, Lead, Mediated, Pending,
    Searched, Step, Told, ToolRun, Watched,
};
pub use recorded::Recorded;
pub use requests::Requests;
pub(crate) use restart::COMPACTION;
pub use room::{Compacted, Near, Survivor};
pub use script::AsRun;
pub use session::{Refused, Session};
