//! Text with an owner for every byte, and how it is measured and cut.

pub mod count;
pub mod cut;
pub mod hidden;
pub mod number;
pub mod table;
mod traced;
pub mod width;

pub use count::Counts;
pub use traced::{Builder, Made, Origin, Part, Source, Span, Traced};
