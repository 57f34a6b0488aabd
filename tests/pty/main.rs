//! Tests in a real pseudo-terminal.
#![cfg(unix)]

mod app;
mod going_out;
mod harness;
mod place;
mod programs;
mod settings;
mod terminal;
mod workbench;
