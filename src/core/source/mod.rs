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

use std::sync::Arc;

use crate::core::bench::{Bench, Template};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{FactKey, Progress, Reads, Value};

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

/// The text of a template that stands in no layer: what a tool returns.
pub fn text_of(
    template: &Template,
    bench: &Bench,
    templates: &mut Templates,
    facts: &dyn Facts,
    extra: &[(&str, &Value)],
) -> Progress<Result<Arc<str>, Box<Diagnostic>>> {
    let extra: Vec<_> = extra.iter().map(|(name, value)| (*name, to_jinja(value))).collect();
    let mut scope = Scope { bench, templates };
    match render::template(&"tool".into(), template, &mut scope, facts, &extra, None, &mut Reads::default()) {
        Ok(text) => Progress::Done(Ok(text.text().clone())),
        Err(Failure::Needs(needs)) => Progress::Needs(needs),
        Err(Failure::Failed(problem)) => Progress::Done(Err(problem)),
        Err(Failure::Nothing(_)) => Progress::Done(Ok("".into())),
    }
}
