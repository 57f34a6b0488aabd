//! The engine: it owns the session, composes, and publishes snapshots.

mod control;
mod describe;
mod disk;
mod edge;
mod edits;
mod info;
mod numbers;
pub mod publish;
mod thread;
mod ways;

pub use control::{Engine, Options};
pub use disk::Disk;
pub use edge::{Edge, Edited};
pub use numbers::{Counters, Numbers, paid, with_labels};
pub use thread::{Handle, Post, WeakHandle, spawn};
pub use ways::{Way, outcome as way_outcome, run as run_way};

use std::sync::Arc;

use crate::core::bench::Bench;
use crate::core::run::Player;

/// A variant's bench with the model that the player's bench has, which may have been chosen over the file's.
fn with_model(bench: Arc<Bench>, player: &Player) -> Arc<Bench> {
    let model = &player.session().bench().model;
    if bench.model == *model {
        return bench;
    }
    let mut bench = Arc::unwrap_or_clone(bench);
    bench.model = model.clone();
    Arc::new(bench)
}
