//! Tests in a real pseudo-terminal.
#![cfg(unix)]

mod app;
mod harness;
mod terminal;
mod workbench;
