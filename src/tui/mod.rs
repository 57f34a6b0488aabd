//! The terminal: its modes, the loop that drives it, and what is drawn.

pub mod backend;
pub mod driver;
mod follow;
pub mod input;
pub mod layout;
pub mod picture;
pub mod present;
pub mod regions;
pub mod setup;
mod signals;
pub mod terminal;
pub mod theme;
pub mod translate;
pub mod view;
pub mod workbench;
