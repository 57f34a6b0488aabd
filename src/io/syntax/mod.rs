//! The syntax of bench files: YAML text to [`crate::core::bench::Bench`], with the exact place of every mistake.

pub mod node;
mod parse;
mod place;
mod suggest;
mod yaml_error;

pub use parse::parse;
