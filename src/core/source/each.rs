//! `each:`: one piece of text for each item of a list.

use minijinja::value::Value as Jinja;

use super::choice::{Choice, LeftOut};
use super::context::{self, Facts, to_jinja};
use super::render::{self, Insert};
use super::{Failure, Scope};
use crate::core::bench::{CapUnit, Layer, LayerSource};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{FactKey, Lookup, Reads, Value};
use crate::core::text::{Builder, Traced};

/// Notes an item that is left out, under its name.
fn leave_out(choice: &mut Choice, at: usize, item: &Value, reason: &str) {
    let named = |field| item.get(field).and_then(Value::as_text).cloned();
    let name = named("name").or_else(|| named("path")).unwrap_or_else(|| format!("item {}", at + 1).into());
    choice.left_out.push(LeftOut { name, reason: reason.into() });
}

/// The text, and how many characters of items the cap left out.
pub(super) fn text(
    layer: &Layer,
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    choice: &mut Choice,
    reads: &mut Reads,
) -> Result<(Traced, usize), Failure> {
    let LayerSource::Each { over, item, frame, filter, join } = &layer.from else {
        return Err(Failure::Nothing("not a list".into()));
    };
    let key = FactKey::Named(over.clone());
    let lookup = facts.look(&key);
    context::note_named(over, facts, true, reads);
    let list = match lookup {
        Lookup::Ready(list, ..) => list,
        Lookup::Absent(_) => return Err(Failure::Nothing(format!("{over} is not there"))),
        Lookup::Failed(reason, _) => {
            return Err(Failure::failed(Diagnostic::error(super::evaluate::unreadable(over, &reason))));
        }
        Lookup::Unknown => return Err(Failure::Needs(vec![facts.behind(&key)])),
    };
    let items: Vec<Value> = match &list {
        Value::List(items) => items.to_vec(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    let mut builder = Builder::default();
    let mut used = 0;
    let mut chars = 0;
    let mut left_out = 0;
    let mut stopped = false;
    for (at, value) in items.iter().enumerate() {
        let extra = |index: usize| [("item", to_jinja(value)), ("loop_index", Jinja::from(index))];
        if let Some(filter) = filter
            && !render::expression(
                filter,
                scope.bench,
                scope.templates,
                facts,
                &extra(used + 1),
                false,
                reads,
            )?
            .is_true()
        {
            leave_out(choice, at, value, "its condition does not hold");
            continue;
        }
        let text = render::template(&layer.id, item, scope, facts, &extra(used + 1), None, reads)?;
        let glue = if used == 0 { "" } else { &**join };
        let size = glue.chars().count() + text.text().chars().count();
        // Once one item does not fit, none behind it is shown: an index with holes would say what it does not know.
        let behind = stopped;
        stopped = stopped
            || layer.cap.as_ref().is_some_and(|cap| match cap.unit {
                CapUnit::Items => used >= cap.limit,
                CapUnit::Chars if cap.whole_items => chars + size > cap.limit,
                CapUnit::Bytes if cap.whole_items => builder.len() + glue.len() + text.len() > cap.limit,
                _ => false,
            });
        if stopped {
            left_out += size;
            let reason = if behind { "behind one that did not fit" } else { "over the cap" };
            leave_out(choice, at, value, reason);
            continue;
        }
        builder.append_as(&layer.id, glue, &text);
        used += 1;
        chars += size;
    }
    if used == 0 {
        return Err(Failure::Nothing(format!("{over} has no items")));
    }
    let items = builder.finish();
    let text = match frame {
        Some(frame) => {
            let insert = Insert { name: "items", text: &items };
            render::template(
                &layer.id,
                frame,
                scope,
                facts,
                &[("items", Jinja::from(items.text().clone()))],
                Some(&insert),
                reads,
            )?
        }
        None => items,
    };
    Ok((text, left_out))
}
