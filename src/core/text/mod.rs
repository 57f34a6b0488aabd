//! Text with an owner for every byte, and how it is measured and cut.

pub mod cut;
mod traced;

pub use traced::{Builder, Made, Origin, Part, Source, Span, Traced};
