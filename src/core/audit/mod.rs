//! Logs of real requests: what their provider reported of its cache, what was to be expected, and who is to blame.
//!
//! A line of a log goes through [`Reader`], which finds the call in it and takes over what lines before had in common with
//! it, and then to the [`Judge`], which finds the conversation that the call goes on with, plays it against the caches of
//! [`crate::core::cache`] at its real time, and compares. Where a log keeps the pieces of a call is told by a [`Shape`].

mod body;
mod pieces;
mod reader;
mod scan;
pub mod time;
mod usage;
mod walk;

pub use pieces::{Look, Pieces, Shape, format_of_url};
pub use reader::{Exchange, Reader, Skipped};
pub use scan::Balance;
pub use usage::{Answered, Reported};
pub use walk::{Field, Fields};
