//! Values as JSON, in the order in which they were written.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::core::fact::{Name, Value};

/// A value as JSON. A file is its text.
#[must_use]
pub fn value(value: &Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Value::Null => Json::Null,
        Value::Bool(b) => Json::Bool(*b),
        Value::Int(n) => Json::from(*n),
        Value::Float(n) => serde_json::Number::from_f64(*n).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::String(text.to_string()),
        Value::File(file) => Json::String(file.text.to_string()),
        Value::List(items) => Json::Array(items.iter().map(self::value).collect()),
        Value::Map(map) => {
            Json::Object(map.iter().map(|(key, item)| (key.to_string(), self::value(item))).collect())
        }
    }
}

/// A JSON text as a value; an empty text is null.
///
/// # Errors
///
/// Why it is not JSON: one sentence, lower case, without a full stop.
pub fn parse(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => Ok(from_json(value)),
        Err(error) => {
            // The library appends the place in its own words.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or("it cannot be read").to_owned();
            Err(format!("it is not JSON: {message} (line {}, column {})", error.line(), error.column()))
        }
    }
}

fn from_json(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(b) => Value::Bool(b),
        serde_json::Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(n), _) => Value::Int(n),
            (None, Some(n)) => Value::Float(n),
            (None, None) => Value::text(n.to_string()),
        },
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(items) => Value::list(items.into_iter().map(from_json)),
        serde_json::Value::Object(map) => Value::map(map.into_iter().map(|(k, v)| (k, from_json(v)))),
    }
}

/// A tool call's arguments as compact JSON.
#[must_use]
pub fn arguments(args: &IndexMap<Name, Value>) -> Arc<str> {
    let object: serde_json::Map<String, serde_json::Value> =
        args.iter().map(|(key, item)| (key.to_string(), value(item))).collect();
    serde_json::Value::Object(object).to_string().into()
}
