//! The parameters of a recorded body on which a cache can depend, under the names that a bench has for them.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::body::Placed;
use crate::core::fact::{EventId, Name};
use crate::core::wire::{Param, Params};

/// The longest value that is kept as it is, in bytes.
const LONG: usize = 80;
/// Longer members are not read for their parameters.
const LARGE: usize = 64 << 10;

/// Reads the parameters.
pub(super) fn read(placed: &Placed<'_>) -> Params {
    let mut params = Params::default();
    let value = |key: &str| -> Value {
        let raw = placed.field(key).map(|field| placed.raw(&field.range)).filter(|raw| raw.len() <= LARGE);
        raw.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default()
    };
    let mut put = |name: &str, value: &Value| {
        if let Some(value) = plain(value) {
            params.0.insert(name.into(), Param { value, cause: EventId::OPENING });
        }
    };
    let (reasoning, text, choice) = (value("reasoning"), value("text"), value("tool_choice"));
    put("thinking", &value("thinking"));
    for effort in [&value("output_config")["effort"], &reasoning["effort"], &value("reasoning_effort")] {
        put("effort", effort);
    }
    put("tool_choice", &choice);
    put("parallel_tool_calls", &value("parallel_tool_calls"));
    if choice["disable_parallel_tool_use"] == true {
        put("parallel_tool_calls", &Value::from(false));
    }
    for key in ["speed", "service_tier", "prompt_cache_key", "inference_geo"] {
        put(key, &value(key));
    }
    for verbosity in [&text["verbosity"], &value("verbosity")] {
        put("verbosity", verbosity);
    }
    for format in [&text["format"], &value("response_format")] {
        put("text_format", format);
    }
    params
}

/// A value as one short text: of a map with a `type` that, and what stands beside it.
fn plain(value: &Value) -> Option<Name> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let mut words: Vec<String> = Vec::new();
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("disable_parallel_tool_use", _) => {}
                    ("type", Value::String(word)) => words.insert(0, word.clone()),
                    (_, Value::String(word)) => words.push(word.clone()),
                    (_, value) => words.push(value.to_string()),
                }
            }
            words.join(" ")
        }
        other => other.to_string(),
    };
    if text.len() <= LONG {
        return Some(text.into());
    }
    let head: String = text.chars().take(LONG / 2).collect();
    Some(format!("{head}.. ({} bytes, {:08x})", text.len(), xxh3_64(text.as_bytes()) as u32).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::audit::walk::walk;

    fn params(body: &str) -> Vec<(String, String)> {
        let fields = walk(body.as_bytes(), &[]).expect("JSON");
        let params = read(&Placed { line: body.as_bytes(), fields: &fields, prefix: "", parameters: None });
        params.0.iter().map(|(name, param)| (name.to_string(), param.value.to_string())).collect()
    }

    #[test]
    fn each_format_says_them_in_its_own_way() {
        let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        assert_eq!(
            params(
                r#"{"thinking":{"budget_tokens":1024,"type":"enabled"},"output_config":{"effort":"high"},"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"temperature":1}"#
            ),
            pairs(&[
                ("effort", "high"),
                ("parallel_tool_calls", "false"),
                ("thinking", "enabled 1024"),
                ("tool_choice", "auto"),
            ])
        );
        assert_eq!(
            params(
                r#"{"reasoning":{"effort":"low","summary":null},"text":{"verbosity":"high","format":{"type":"text"}},"prompt_cache_key":"k","service_tier":null}"#
            ),
            pairs(&[
                ("effort", "low"),
                ("prompt_cache_key", "k"),
                ("text_format", "text"),
                ("verbosity", "high")
            ])
        );
        let long =
            format!(r#"{{"response_format":{{"type":"json_schema","schema":"{}"}}}}"#, "x".repeat(500));
        assert!(params(&long)[0].1.starts_with("json_schema x"));
        assert!(params(&long)[0].1.len() < 80);
    }
}
