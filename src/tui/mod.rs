//! The terminal: its modes, the loop that drives it, and what is drawn.

pub mod backend;
pub mod driver;
pub mod input;
mod signals;
pub mod terminal;
