//! Templates into traced text.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use minijinja::value::Value as Jinja;
use minijinja::{OutputSpan, OutputSpanKind};

use super::context::{self, Context, Facts};
use super::environment::{Templates, template_error};
use super::middle::Middle;
use super::{Failure, Scope};
use crate::core::bench::{Expression, Template};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{EventId, FactKey, Lookup, Name, Reads, Value};
use crate::core::text::{Builder, Made, Origin, Source, Traced};

/// Fetches a template's source.
pub(super) fn source_of(
    template: &Template,
    scope: &Scope<'_>,
    facts: &dyn Facts,
    reads: &mut Reads,
) -> Result<Arc<Source>, Failure> {
    let (path, at) = match template {
        Template::Inline(source) => return Ok(source.clone()),
        Template::File(path, at) => (path, *at),
    };
    let key = FactKey::File(path.clone());
    let lookup = facts.look(&key);
    context::note_lookup(&key, &lookup, true, reads);
    let missing = |message: String| {
        Failure::Failed(Box::new(Diagnostic::error(message).at(
            scope.bench.source.name.clone(),
            &scope.bench.source.text,
            at,
        )))
    };
    match lookup {
        Lookup::Ready(value, rev, _) => match value.as_text() {
            Some(text) => Ok(Source::with_rev(path.to_string(), text.clone(), rev)),
            None => Err(missing(format!("`{path}` is not a text"))),
        },
        Lookup::Absent(_) => Err(missing(format!("there is no template file `{path}`"))),
        Lookup::Failed(reason, _) => {
            Err(missing(format!("the template file `{path}` cannot be read: {reason}")))
        }
        Lookup::Unknown => Err(Failure::Needs(vec![key])),
    }
}

/// A value that a template writes and whose own spans are known: `items`, `lines`, an item's text.
pub(super) struct Insert<'a> {
    pub name: &'static str,
    pub text: &'a Traced,
}

/// Renders a template for `part`. `extra` are values that are not facts; where the template writes the insert by its
/// bare name, the insert's spans are kept.
pub(super) fn template(
    part: &Name,
    template: &Template,
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    extra: &[(&str, Jinja)],
    insert: Option<&Insert<'_>>,
    reads: &mut Reads,
) -> Result<Traced, Failure> {
    let source = source_of(template, scope, facts, reads)?;
    let cause = reads_cause(reads);
    if let Some(middle) = Middle::of(&source)
        && let Some(text) = middle.render(
            &Job { part, source: &source, facts, extra, insert, cause },
            scope.templates,
            reads,
        )?
    {
        return Ok(text);
    }
    whole(&Job { part, source: &source, facts, extra, insert, cause }, scope.templates, reads)
}

/// What is rendered, and with what.
pub(super) struct Job<'a> {
    pub part: &'a Name,
    pub source: &'a Arc<Source>,
    pub facts: &'a dyn Facts,
    pub extra: &'a [(&'a str, Jinja)],
    pub insert: Option<&'a Insert<'a>>,
    /// The event that made what was read so far what it is.
    pub cause: EventId,
}

/// Compiles and renders a template from its start to its end.
pub(super) fn whole(job: &Job<'_>, templates: &mut Templates, reads: &mut Reads) -> Result<Traced, Failure> {
    let compiled = templates.compile(job.source).map_err(Failure::failed)?;
    let names: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
    let context =
        Context::new(names.iter().map(String::as_str), job.facts, job.extra).map_err(Failure::Needs)?;
    let rendered = compiled.render_with_spans(context.value());
    context.note(job.facts, true, reads);
    let (text, spans) = rendered.map_err(|error| {
        let mut diagnostic = template_error(job.source, &error);
        if let Some(reason) = context.failure() {
            diagnostic.message = reason;
            diagnostic.hint = None;
        }
        Failure::failed(diagnostic)
    })?;
    let spans: Vec<Rendered> = spans.iter().map(Rendered::of).collect();
    Ok(trace(job, text.into(), &spans))
}

/// A run of rendered bytes.
pub(super) struct Rendered {
    /// In the output.
    pub output: Range<usize>,
    /// In the source.
    pub source: Range<usize>,
    /// True for text that was copied as it is.
    pub raw: bool,
}

impl Rendered {
    pub(super) fn of(span: &OutputSpan) -> Rendered {
        let raw = span.kind() == OutputSpanKind::Raw;
        Rendered { output: span.output_range(), source: span.source_range(), raw }
    }
}

/// The event that made what was read so far what it is: the newest of all.
fn reads_cause(reads: &Reads) -> EventId {
    reads.0.values().map(|read| read.cause).max().unwrap_or_default()
}

/// Says who wrote each rendered run of a text. The text, which may be long, is kept as it is.
pub(super) fn trace(job: &Job<'_>, text: Arc<str>, spans: &[Rendered]) -> Traced {
    let Job { part, source, facts, insert, cause, .. } = *job;
    let mut builder = Builder::default();
    builder.begin(part.clone(), Arc::default());
    let literal = || Arc::new(Origin { part: part.clone(), made: Made::Literal, cause });
    let mut done = 0;
    for span in spans {
        let output = span.output.clone();
        if output.start > done {
            // Nothing in minijinja writes without a span today; were it to, the bytes would still have an owner.
            builder.cover(output.start - done, literal(), false);
        }
        done = output.end;
        let range = span.source.clone();
        let bytes = &text[output];
        let expression = source.text.get(range.clone()).unwrap_or_default();
        match span {
            Rendered { raw: true, .. } => {
                let made = Made::Verbatim { source: source.clone(), at: range.start };
                builder.cover(bytes.len(), Arc::new(Origin { part: part.clone(), made, cause }), false);
            }
            Rendered { raw: false, .. } => {
                if let Some(insert) = insert
                    && expression.trim() == insert.name
                    && **insert.text.text() == *bytes
                {
                    for (inner, span) in insert.text.ranges() {
                        builder.cover(inner.len(), span.origin.clone(), span.glue);
                    }
                    continue;
                }
                let (made, cause) = written_by(source, range, expression, bytes, facts, cause);
                builder.cover(bytes.len(), Arc::new(Origin { part: part.clone(), made, cause }), false);
            }
        }
    }
    if done < text.len() {
        builder.cover(text.len() - done, literal(), false);
    }
    builder.finish_as(text)
}

/// What an expression's output was made from: a fact where the expression is one, perhaps through filters.
fn written_by(
    source: &Arc<Source>,
    range: std::ops::Range<usize>,
    expression: &str,
    bytes: &str,
    facts: &dyn Facts,
    cause: EventId,
) -> (Made, EventId) {
    let (path, bare) = leading_path(expression);
    if !path.is_empty() {
        let key = FactKey::named(path);
        let lookup = facts.look(&key);
        let event = context::cause_of(&lookup);
        if let Lookup::Ready(value, rev, _) = lookup {
            if let Value::File(file) = &value
                && bare
                && *file.text == *bytes
            {
                return (Made::Verbatim { source: file_source(file, rev), at: 0 }, event);
            }
            return (Made::Fact { key, rev, placeholder: Some((source.clone(), range)) }, event);
        }
    }
    (Made::Derived { source: source.clone(), range }, cause)
}

/// A file's text as a source.
pub(super) fn file_source(file: &crate::core::fact::FileText, rev: crate::core::fact::Rev) -> Arc<Source> {
    let source = Source::with_rev(file.path.to_string(), file.text.clone(), rev);
    if file.skipped == 0 && file.jumps.is_empty() {
        return source;
    }
    let jumps = file.jumps.as_slice().into();
    Arc::new(Source { start: file.start(), jumps, ..Arc::unwrap_or_clone(source) })
}

/// The dotted name at the start of an expression, and whether it is the whole expression. Empty where the expression
/// is anything but a name with filters behind it.
fn leading_path(expression: &str) -> (&str, bool) {
    let expression = expression.trim();
    let end =
        expression.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(expression.len());
    let (path, rest) = expression.split_at(end);
    let rest = rest.trim_start();
    if path.starts_with(|c: char| c.is_alphabetic() || c == '_') && (rest.is_empty() || rest.starts_with('|'))
    {
        (path, rest.is_empty())
    } else {
        ("", false)
    }
}

/// Evaluates an expression.
pub(super) fn expression(
    expression: &Expression,
    bench: &crate::core::bench::Bench,
    templates: &super::Templates,
    facts: &dyn Facts,
    extra: &[(&str, Jinja)],
    in_text: bool,
    reads: &mut Reads,
) -> Result<Jinja, Failure> {
    let fail_with = |detail: String| {
        let source = &bench.source;
        Failure::failed(Diagnostic::error(format!("{detail} in `{}`", expression.text)).at(
            source.name.clone(),
            &source.text,
            expression.at,
        ))
    };
    let fail = |error: &minijinja::Error| {
        let detail = error.detail();
        fail_with(
            detail.map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind())),
        )
    };
    let compiled =
        templates.environment().compile_expression(&expression.text).map_err(|error| fail(&error))?;
    let names: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
    let context = Context::new(names.iter().map(String::as_str), facts, extra).map_err(Failure::Needs)?;
    let value = compiled.eval(context.value());
    context.note(facts, in_text, reads);
    match (value, context.failure()) {
        (Err(_), Some(reason)) => Err(fail_with(reason)),
        // The bare name of a fact that could not be used: it is no answer that it does not hold.
        (Ok(value), Some(reason)) if value.is_undefined() => Err(fail_with(reason)),
        (value, _) => value.map_err(|error| fail(&error)),
    }
}
