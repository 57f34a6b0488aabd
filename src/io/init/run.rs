//! A recorded conversation as a run of a bench.

use super::turns::{Answer, Conversation, Group, result, said};
use super::yaml;
use crate::core::fact::Name;
use crate::core::wire::Item;
use crate::core::wire::json;
use crate::io::syntax;

/// The lines of a run, and what of the conversation they cannot hold. `head`: so many bytes of what was said in the first
/// turn are written by layers.
pub(super) fn script(conversation: &Conversation<'_>, head: usize) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut notes = Vec::new();
    for (index, group) in conversation.groups.iter().enumerate() {
        if group.begins {
            let said = said(group).map_or("", |item| &item.text[if index == 0 { head } else { 0 }..]);
            text.push_str(&format!("    - user: {}\n", yaml::value(said, 6)));
            if let Some(result) = group.results.first() {
                notes.push(format!("the result at {} was left out: no call asked for it", result.path));
            }
        }
        if let Some(answer) = conversation.answers.get(index) {
            answered(answer, conversation.groups.get(index + 1), &mut text, &mut notes);
        }
    }
    (text, notes)
}

fn answered(answer: &Answer<'_>, next: Option<&Group<'_>>, text: &mut String, notes: &mut Vec<String>) {
    let said: String = answer.texts.iter().map(|item| &*item.text).collect();
    if let [_, second, ..] = answer.texts.as_slice() {
        notes.push(format!("the texts of one answer became one: see {}", second.path));
    }
    if answer.calls.is_empty() {
        return text.push_str(&format!("    - say: {}\n", yaml::value(&said, 6)));
    }
    let mut indent = "    - ";
    if !said.is_empty() {
        text.push_str(&format!("{indent}text: {}\n", yaml::value(&said, 6)));
        indent = "      ";
    }
    text.push_str(&format!("{indent}call:\n"));
    for call in &answer.calls {
        let result = next.and_then(|next| result(next, call));
        if result.is_none() {
            notes.push(format!("the call at {} has no result; the run gives it an empty one", call.path));
        }
        let (args, written) = arguments(call);
        text.push_str(&format!("        - {}: {args}\n", yaml::scalar(&call.tool)));
        if let Some(written) = written {
            text.push_str(&format!("          arguments: {}\n", yaml::value(&written, 10)));
        }
        text.push_str(&format!("          result: {}\n", yaml::value(&result.unwrap_or_default(), 10)));
    }
}

/// The arguments of a call as a flow map, and their spelling where writing the map gives another.
fn arguments(call: &Item) -> (String, Option<String>) {
    let parsed = serde_json::from_str::<serde_json::Value>(&call.text).ok();
    let flow = match parsed {
        Some(value @ serde_json::Value::Object(_)) => flow(&value),
        _ => return ("{}".to_owned(), Some(call.text.to_string())),
    };
    // What the bench will make of it is asked of the bench's own reader.
    let back = syntax::parse(&Name::from("arguments"), &flow).ok().map(|root| {
        let map = root.entries().iter().map(|entry| (entry.key.clone(), entry.value.value()));
        json::arguments(&map.collect())
    });
    match back {
        Some(back) if *back == *call.text => (flow, None),
        Some(_) => (flow, Some(call.text.to_string())),
        None => ("{}".to_owned(), Some(call.text.to_string())),
    }
}

/// A JSON value as a flow value of YAML.
fn flow(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::String(text) => yaml::quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}: {}", yaml::scalar(key), flow(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
