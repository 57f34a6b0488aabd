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

/// A tool call's arguments as compact JSON.
#[must_use]
pub fn arguments(args: &IndexMap<Name, Value>) -> Arc<str> {
    let object: serde_json::Map<String, serde_json::Value> =
        args.iter().map(|(key, item)| (key.to_string(), value(item))).collect();
    serde_json::Value::Object(object).to_string().into()
}
