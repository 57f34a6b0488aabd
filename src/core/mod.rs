//! The pure core: no clock, disk, network, process or terminal. It asks for facts and returns values.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod audit;
pub mod bench;
pub mod cache;
pub mod compare;
pub mod compose;
pub mod contract;
pub mod diagnostic;
pub mod diff;
pub mod fact;
pub mod fix;
pub mod lint;
pub mod log;
pub mod overlay;
pub mod read;
pub mod run;
pub mod search;
pub mod source;
pub mod text;
pub mod tokens;
pub mod whatif;
pub mod wire;
