//! The workbench without a terminal: state, events, effects, and the engine that composes.

pub mod effect;
pub mod snapshot;
