//! What a change would do, before it is made: which layers say something else, where the prefix breaks first, and what
//! that costs each model, in the call that waits and in those that follow.
//!
//! [`candidates()`] lists changes that a session can see; [`Radius::of`] tries one on a copy and compares it with the run
//! as it would go on without it.

mod candidates;
mod radius;

pub use candidates::{
    Act, Given, Planned, candidates, cwd, edit, file_keys, standing, swap, switch, wait, without_tool,
};
pub use radius::{Ahead, Broken, Hit, Radius};
