//! Previews: the system prompt that a client's fields would come to, without a session.

use std::sync::Arc;

use serde::Serialize;

use super::sessions::{stopped, system_of};
use crate::core::bench::{Bench, Expression, PlaceKind};
use crate::core::fact::{FactKey, Name, Progress, Value};
use crate::core::run::{Input, Load, Session};
use crate::core::source::Piece;
use crate::core::wire::json;

/// What a preview gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The system prompt.
    pub prompt: String,
    /// The layers in it, in the order of its bytes.
    pub layers: Vec<PreviewLayer>,
}

/// A layer of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreviewLayer {
    /// What screens call it.
    pub name: Name,
    /// Its text, without what joins it to others.
    pub content: Arc<str>,
}

/// Why there is no preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For programs.
    pub code: &'static str,
    /// For people: one sentence, lower case, without a full stop.
    pub message: String,
    /// True where the body is at fault, and not the bench or a file.
    pub by_body: bool,
}

fn refusal(code: &'static str, by_body: bool, message: impl Into<String>) -> Refusal {
    Refusal { code, message: message.into(), by_body }
}

/// True for a path that the bench gives previews under.
pub(super) fn is_served(bench: &Bench, path: &str) -> bool {
    let matches = |pattern: &str| {
        let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
        loop {
            match (pattern.next(), path.next()) {
                (None, None) => return true,
                (Some(wanted), Some(found)) if wanted == found => {}
                (Some(wanted), Some(found)) if wanted.starts_with('{') && !found.is_empty() => {}
                _ => return false,
            }
        }
    };
    bench.serve.preview.as_ref().is_some_and(|preview| preview.paths.iter().any(|pattern| matches(pattern)))
}

/// Builds a preview from the body of a request. Files are read as they are now; nothing is kept.
///
/// # Errors
///
/// When the body is not a JSON object, a field is of another type than the fact that it sets, or no prompt can be built.
pub fn preview(bench: &Arc<Bench>, load: &mut dyn Load, body: &str) -> Result<Preview, Refusal> {
    let Some(spec) = &bench.serve.preview else {
        return Err(refusal("no_preview", false, "this bench gives no previews"));
    };
    let body = json::parse(body).map_err(|reason| {
        let reason = reason.strip_prefix("it ").map_or(reason.clone(), |rest| format!("the body {rest}"));
        refusal("malformed", true, reason)
    })?;
    if body.as_map().is_none() {
        return Err(refusal("malformed", true, "the body must be a JSON object"));
    }
    let mut session = Session::new(bench.clone());
    let mut facts = indexmap::IndexMap::new();
    for (name, expression) in &spec.facts {
        let value = evaluate(&mut session, load, expression, &body)?;
        if let Some(usual) = bench.facts.get(name)
            && !fits(usual, &value)
        {
            let (usual, value) = (what(usual), what(&value));
            let message = format!("{} must be {usual}, but is {value}", Fields::of(expression, &body));
            return Err(refusal("wrong_type", true, message));
        }
        facts.insert(name.clone(), value);
    }
    let model = match &spec.model {
        Some(expression) => match evaluate(&mut session, load, expression, &body)? {
            Value::Text(model) => Some(model),
            other => {
                let fields = Fields::of(expression, &body);
                let message =
                    format!("the model that {fields} gives must be a text, but is {}", what(&other));
                return Err(refusal("wrong_type", true, message));
            }
        },
        None => None,
    };
    if !facts.is_empty() {
        step(&mut session, load, Input::Set(facts))?;
    }
    if let Some(model) = model {
        step(&mut session, load, Input::Model(model))?;
    }
    step(&mut session, load, Input::User("".into()))?;
    let Some(record) = session.prepared() else {
        return Err(refusal("refused", false, "nothing was prepared"));
    };
    if let Some(problem) = stopped(record) {
        return Err(refusal("stopped", false, format!("no request may be built: {problem}")));
    }
    let Some(request) = session.request(record.call) else {
        return Err(refusal("refused", false, "nothing was prepared"));
    };
    let mut layers = Vec::new();
    for place in bench.places.values().filter(|place| place.kind == PlaceKind::System) {
        for index in crate::core::compose::byte_order(bench, &place.id) {
            let layer = &bench.layers[index];
            match record.layer(&layer.id).map(|state| &state.state.piece) {
                Some(Piece::Text { text, .. }) => {
                    layers.push(PreviewLayer { name: layer.shown().clone(), content: text.text().clone() });
                }
                // A prompt without a layer that failed would pass for the whole.
                Some(Piece::Failed(problem)) => {
                    let message = format!("the layer {} failed: {}", layer.shown(), problem.message);
                    return Err(refusal("layer_failed", false, message));
                }
                _ => {}
            }
        }
    }
    Ok(Preview { prompt: system_of(&request), layers })
}

fn evaluate(
    session: &mut Session,
    load: &mut dyn Load,
    expression: &Expression,
    body: &Value,
) -> Result<Value, Refusal> {
    let mut asked = Vec::new();
    loop {
        match session.evaluate(expression, &[("body", body)]) {
            Progress::Done(Ok(value)) => return Ok(value),
            Progress::Done(Err(_)) => {
                let message = format!("nothing comes of {}", Fields::of(expression, body));
                return Err(refusal("no_value", true, message));
            }
            Progress::Needs(keys) => supply(session, load, &keys, &mut asked)?,
        }
    }
}

/// The fields of a body that an expression reads, for whoever sent that body and does not know the bench: those that are
/// there, with what stands in them where it is short, or else all of them.
struct Fields {
    there: Vec<String>,
    missing: Vec<String>,
}

impl Fields {
    fn of(expression: &Expression, body: &Value) -> Fields {
        let mut paths: Vec<&str> = Vec::new();
        let text = &*expression.text;
        let in_name = |c: char| c.is_alphanumeric() || c == '_';
        for (at, _) in text.match_indices("body.") {
            if text[..at].ends_with(|c: char| in_name(c) || c == '.') {
                continue;
            }
            let path = &text[at + "body.".len()..];
            let end = path.find(|c: char| !in_name(c) && c != '.').unwrap_or(path.len());
            let path = path[..end].trim_end_matches('.');
            if !path.is_empty() && !paths.contains(&path) {
                paths.push(path);
            }
        }
        // `modelConfig` says nothing beside `modelConfig.modelId`, unless it is not what holds one.
        let deeper = |path: &&str| {
            let holds = matches!(at(body, path), None | Some(Value::Map(_)));
            let inner =
                paths.iter().any(|other| other.strip_prefix(*path).is_some_and(|rest| rest.starts_with('.')));
            !(holds && inner)
        };
        let (mut there, mut missing) = (Vec::new(), Vec::new());
        for path in paths.iter().copied().filter(deeper) {
            match at(body, path) {
                Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => {
                    there.push(format!("`{path}` ({value})"));
                }
                Some(Value::Text(text)) if text.chars().count() <= 40 && !text.contains(char::is_control) => {
                    there.push(format!("`{path}` (\"{text}\")"));
                }
                Some(value) => there.push(format!("`{path}` ({})", what(value))),
                None => missing.push(format!("`{path}`")),
            }
        }
        Fields { there, missing }
    }
}

impl std::fmt::Display for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.there.as_slice(), self.missing.as_slice()) {
            ([], []) => f.write_str("the body"),
            ([], missing) => write!(f, "a body without {}", missing.join(" and ")),
            (there, _) => f.write_str(&there.join(" and ")),
        }
    }
}

/// What stands under a path of a body.
fn at<'v>(body: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(body, |value, name| value.as_map()?.get(name))
}

fn step(session: &mut Session, load: &mut dyn Load, input: Input) -> Result<(), Refusal> {
    let mut progress = session.step(input).map_err(|refused| refusal("refused", false, refused.0))?;
    let mut asked = Vec::new();
    while let Progress::Needs(keys) = progress {
        supply(session, load, &keys, &mut asked)?;
        progress = session.resume();
    }
    Ok(())
}

fn supply(
    session: &mut Session,
    load: &mut dyn Load,
    keys: &[FactKey],
    asked: &mut Vec<FactKey>,
) -> Result<(), Refusal> {
    if let Some(key) = keys.iter().find(|key| asked.contains(key)) {
        return Err(refusal("refused", false, format!("{key} is needed and cannot be had")));
    }
    asked.extend(keys.iter().cloned());
    session.supply(load.load(keys));
    Ok(())
}

/// True when a fact that usually has a value like `usual` may have this one. Null stands for anything, and for nothing.
fn fits(usual: &Value, value: &Value) -> bool {
    what(usual) == what(value) || *usual == Value::Null
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::Text(_) | Value::File(_) => "a text",
        Value::List(_) => "a list",
        Value::Map(_) => "an object",
    }
}
