//! The engine: it owns the session, composes, and publishes snapshots.

pub mod publish;
