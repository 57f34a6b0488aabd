//! Writing into the user's files: only what was changed, and never over what somebody else wrote.

pub mod bench;
mod kept;
pub mod outside;
pub mod text;
mod write;

pub use kept::{Kept, KeptText};
pub use text::{Conflict, Hunk, Original, SaveError, Splice};
