//! `lines:`: the lines of a text, so that a cap can count them before the frame is put around.

use minijinja::value::Value as Jinja;

use super::context::Facts;
use super::render::{self, Insert};
use super::{Failure, Scope};
use crate::core::bench::{Expression, Layer, Template};
use crate::core::fact::{FactKey, Lookup, Reads, Value};
use crate::core::text::{Made, Traced, cut};

/// The text, and how many characters the cap took away.
pub(super) fn text(
    layer: &Layer,
    of: &Expression,
    frame: Option<&Template>,
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    reads: &mut Reads,
) -> Result<(Traced, usize), Failure> {
    let value = render::expression(of, scope.bench, scope.templates, facts, &[], true, reads)?;
    let text: std::sync::Arc<str> =
        if value.is_none() || value.is_undefined() { "".into() } else { value.to_string().into() };
    if text.is_empty() {
        return Err(Failure::Nothing(format!("{} is empty", of.text)));
    }
    // The expression may choose among several files: the one whose text this is, is where the lines come from.
    let from =
        reads.0.iter().filter(|(_, read)| read.in_text).find_map(|(key, read)| match facts.look(key) {
            Lookup::Ready(Value::File(file), rev, _) if file.text == text => {
                Some((Made::Verbatim { source: render::file_source(&file, rev), at: 0 }, read.cause))
            }
            Lookup::Ready(Value::Text(fact), rev, _) if fact == text && matches!(key, FactKey::Named(_)) => {
                Some((Made::Fact { key: key.clone(), rev, placeholder: None }, read.cause))
            }
            _ => None,
        });
    let (made, cause) = from.unwrap_or((Made::Literal, crate::core::fact::EventId::OPENING));
    let mut lines = Traced::whole(layer.id.clone(), text, made, cause);
    let mut lost = 0;
    if let Some(cap) = &layer.cap {
        (lines, lost) = cut::traced(&lines, cap);
    }
    let Some(frame) = frame else { return Ok((lines, lost)) };
    let insert = Insert { name: "lines", text: &lines };
    let text = render::template(
        &layer.id,
        frame,
        scope,
        facts,
        &[("lines", Jinja::from(lines.text().clone()))],
        Some(&insert),
        reads,
    )?;
    Ok((text, lost))
}
