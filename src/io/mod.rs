//! The edges: everything that touches disk, clock, environment or other programs.

pub mod bench_file;
pub mod client;
pub mod clipboard;
pub mod command;
pub mod demos;
pub mod edit;
mod git;
pub mod init;
pub mod load;
pub mod log;
pub mod models;
pub mod near;
pub mod overlay;
pub mod picture;
mod plain;
pub mod recording;
pub mod revision;
pub mod samples;
pub mod server;
pub mod settings;
pub(crate) mod stop;
pub mod syntax;
pub mod watch;
