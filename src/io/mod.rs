//! The edges: everything that touches disk, clock, environment or other programs.

pub mod load;
pub mod samples;
pub mod syntax;
