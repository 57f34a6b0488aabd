//! Plywood: a workbench for layered agent prompts.

pub mod core;
