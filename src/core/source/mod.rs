//! Where a layer's text comes from: one file per kind of source, and what they share.

mod choice;
mod context;
mod each;
mod environment;
mod evaluate;
mod lines;
pub mod names;
mod refs;
mod render;
mod table;

pub use choice::{Choice, LeftOut, Row};
pub use context::{Facts, note_named, to_jinja};
pub use environment::{Templates, environment, parse_time, template_error};
pub use evaluate::{Evaluated, Piece, Scope, evaluate, holds};

use crate::core::diagnostic::Diagnostic;
use crate::core::fact::FactKey;

/// Why a source gave no text.
enum Failure {
    /// Facts are missing.
    Needs(Vec<FactKey>),
    /// It cannot be used; boxed, since a diagnostic is large.
    Failed(Box<Diagnostic>),
    /// There is nothing to say: the reason, for the list of layers.
    Nothing(String),
}

impl Failure {
    fn failed(diagnostic: Diagnostic) -> Failure {
        Failure::Failed(Box::new(diagnostic))
    }
}
