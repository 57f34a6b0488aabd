//! The engine: it owns the session, composes, and publishes snapshots.

mod branches;
mod choices;
mod commands;
mod compare;
mod comparison;
mod control;
mod describe;
mod disk;
mod edge;
mod edits;
mod fixes;
mod hand;
mod info;
mod inline;
mod lanes;
pub mod lints;
mod numbers;
mod overlaid;
pub mod publish;
mod recording;
mod stage;
mod texts;
mod thread;
pub mod views;
mod ways;
mod what_if;

pub use control::{Engine, Options};
pub use disk::Disk;
pub use edge::{Edge, Edited};
pub use inline::Inline;
pub use numbers::{Counters, Numbers, paid, with_labels};
pub use thread::{Handle, Post, WeakHandle, spawn};
pub use ways::{Way, outcome as way_outcome, run as run_way};
