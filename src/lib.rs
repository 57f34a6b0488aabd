//! Plywood: a workbench for layered agent prompts.

pub mod app;
pub mod core;
pub mod tui;
