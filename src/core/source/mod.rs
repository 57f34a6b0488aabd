//! Where a layer's text comes from: one file per kind of source, and what they share.

mod choice;
mod context;
pub mod delimiters;
mod each;
mod environment;
mod evaluate;
mod lines;
mod middle;
pub mod names;
mod refs;
mod render;
mod table;

pub use choice::{Choice, LeftOut, Row};
pub use context::{Facts, from_jinja, note_named, to_jinja};
pub use environment::{Templates, environment, parse_time, template_error};
pub use evaluate::{Evaluated, Piece, Scope, evaluate, holds};

use std::sync::Arc;

use crate::core::bench::{Bench, Expression, Template};
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

/// What an expression comes to that stands in no layer. One that is undefined fails.
pub fn value_of(
    expression: &Expression,
    bench: &Bench,
    templates: &mut Templates,
    facts: &dyn Facts,
    extra: &[(&str, &Value)],
) -> Progress<Result<Value, Box<Diagnostic>>> {
    let extra: Vec<_> = extra.iter().map(|(name, value)| (*name, to_jinja(value))).collect();
    let mut reads = Reads::default();
    let failed = |reason: &str| {
        let problem = Diagnostic::error(format!("`{}` {reason}", expression.text));
        Box::new(problem.at(bench.source.name.clone(), &bench.source.text, expression.at))
    };
    Progress::Done(match render::expression(expression, bench, templates, facts, &extra, true, &mut reads) {
        Ok(value) if value.is_undefined() => Err(failed("comes to nothing")),
        Ok(value) => from_jinja(&value).ok_or_else(|| failed("gives what no fact can be")),
        Err(Failure::Needs(needs)) => return Progress::Needs(needs),
        Err(Failure::Failed(problem)) => Err(problem),
        Err(Failure::Nothing(reason)) => Err(failed(&reason)),
    })
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
