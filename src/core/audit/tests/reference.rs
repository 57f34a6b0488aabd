//! A slow and simple reader: every line in full, with another library, nothing remembered. The reader that jumps over
//! what it knows must come to the same.

use proptest::prelude::*;

use super::*;
use crate::core::audit::body::{Body, Element};
use crate::core::audit::usage::answered;
use crate::core::wire::Document;
use crate::core::wire::lossless::Json;

/// Reads a line as one value and its body as one document.
fn slow(number: u64, text: &str) -> Option<Exchange> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let body = match &value["request"] {
        Value::Object(request) if request.contains_key("body") => &request["body"],
        Value::Object(_) => &value["request"],
        _ => &value,
    };
    let of_responses = body["input"].is_array() && body.get("model").is_some();
    if !(body["messages"].is_array() || of_responses) {
        return None;
    }
    let spelled = body.to_string();
    let document = Document::read(spelled.clone()).ok()?;
    let fields = fields(spelled.as_bytes()).ok()?;
    let placed = crate::core::audit::body::Placed {
        line: spelled.as_bytes(),
        fields: &fields,
        prefix: "",
        parameters: None,
    };
    let whole: Body = crate::core::audit::body::read(placed, document.format, &[]).ok()?;
    // The messages from the one document, not from pieces of it.
    let list = fields.get("messages").or_else(|| fields.get("input"));
    let messages = list.map(|list| list.items.len()).filter(|&messages| messages > 0);
    let elements: Vec<Arc<Element>> = crate::core::audit::body::all(&document, messages);
    assert_eq!(whole.elements, elements, "a body read alone is its document");
    let response = &value["response"];
    let spelled = response.to_string();
    let json = Json::parse(&spelled).ok()?;
    let answered = (!response.is_null()).then(|| answered(&json, &spelled));
    if answered.as_ref().is_some_and(|answered| answered.unusable) {
        return None;
    }
    let session = value["session"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    let ts = value["ts"].to_string();
    let at = time::read(&Json::parse(&ts).ok()?, &ts);
    Some(Exchange::of(number, Body { elements, ..whole }, answered, at, session))
}

fn reference(lines: &[String]) -> Vec<Call> {
    let mut judge = Judge::new(models(), Vec::new(), None, 64 << 20);
    let mut counter = Counter::new();
    let read = lines.iter().enumerate().filter_map(|(index, line)| slow(index as u64 + 1, line));
    read.map(|exchange| judge.call(&exchange, &mut counter)).collect()
}

/// All of a JSON value's characters beyond ASCII, and some others, as escapes.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    let mut skip = false;
    for c in text.chars() {
        match c {
            _ if std::mem::take(&mut skip) => out.push(c),
            '\\' => {
                skip = true;
                out.push(c);
            }
            '"' => {
                inside = !inside;
                out.push(c);
            }
            '/' if inside => out.push_str("\\/"),
            'e' if inside => out.push_str("\\u0065"),
            c if inside && !c.is_ascii() => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04X}")));
            }
            c => out.push(c),
        }
    }
    out
}

/// The members of the map and of its body in another order: the session and the model behind the messages.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .rev()
            .map(|(key, value)| {
                let value = if key == "request" || key == "body" { turned(value) } else { value.clone() };
                (key.clone(), value)
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// How the bodies of a conversation are shaped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spoken {
    Anthropic,
    Chat,
    Responses,
}

#[derive(Clone, Debug)]
struct State {
    cwd: usize,
    tools: Vec<&'static str>,
    messages: Vec<Value>,
    spoken: Spoken,
}

/// The same conversation as items of Responses.
fn responses(system: &str, state: &State) -> Value {
    let items = state.messages.iter().flat_map(|message| {
        let parts = message["content"].as_array().expect("parts").iter();
        parts.map(|part| match part["type"].as_str() {
            Some("tool_use") => json!({ "type": "function_call", "call_id": part["id"], "name": "Read", "arguments": "{\"path\":\"x\"}" }),
            Some("tool_result") => json!({ "type": "function_call_output", "call_id": part["tool_use_id"], "output": part["content"] }),
            _ => {
                let kind = if message["role"] == "assistant" { "output_text" } else { "input_text" };
                json!({ "type": "message", "role": message["role"], "content": [{ "type": kind, "text": part["text"] }] })
            }
        })
    });
    let tools = state.tools.iter().map(|name| json!({ "type": "function", "name": name, "parameters": {} }));
    json!({ "model": "blocks", "instructions": system, "tools": tools.collect::<Vec<_>>(), "input": items.collect::<Vec<_>>() })
}

/// A log from a list of choices: who speaks, what happens, how the line is spelled.
fn log(steps: &[(usize, usize, usize)]) -> Vec<String> {
    let mut states: Vec<State> = (0..4)
        .map(|who| State {
            cwd: 0,
            tools: vec!["Read", "Bash"],
            messages: vec![user(&format!("你好 {who} 🙂/é"))],
            spoken: [Spoken::Anthropic, Spoken::Anthropic, Spoken::Chat, Spoken::Responses][who],
        })
        .collect();
    let mut lines = Vec::new();
    for (index, &(who, what, how)) in steps.iter().enumerate() {
        let state = &mut states[who];
        let count = state.messages.len();
        match what {
            0..=3 if index >= 3 => {
                state.messages.push(json!({ "role": "assistant", "content": [
                    { "type": "text", "text": words(30, "a") },
                    { "type": "tool_use", "id": format!("t{index}"), "name": "Read", "input": { "path": "x/é", "n": index } },
                ] }));
                let last = if what == 0 {
                    user(&words(20, "说"))
                } else {
                    json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("t{index}"), "content": words(25, "r") }] })
                };
                state.messages.push(last);
            }
            4 => state.cwd += 1,
            5 => state.tools.reverse(),
            6 if count > 2 => state.messages[count / 2] = user("rewritten"),
            7 if count > 3 => {
                state.messages.drain(1..3);
            }
            _ => {}
        }
        let system = format!("{}\n# Env\ncwd: /home/{}\n", words(1_100, "s"), state.cwd);
        let mut body = anthropic(&system, &state.tools, &state.messages);
        if state.spoken == Spoken::Responses {
            body = responses(&system, state);
        }
        if state.spoken == Spoken::Chat {
            // The system prompt as a message in front, as Chat Completions has it.
            let mut messages = vec![json!({ "role": "system", "content": system })];
            messages.extend(state.messages.iter().map(|message| match &message["content"][0]["type"] {
                Value::String(kind) if kind == "tool_result" => json!({ "role": "tool", "tool_call_id": message["content"][0]["tool_use_id"], "content": message["content"][0]["content"] }),
                _ if message["role"] == "assistant" => json!({ "role": "assistant", "content": message["content"][0]["text"], "tool_calls": [
                    { "id": message["content"][1]["id"], "type": "function", "function": { "name": "Read", "arguments": "{\"path\":\"x\"}" } }
                ] }),
                _ => json!({ "role": "user", "content": message["content"][0]["text"] }),
            }));
            let tools: Vec<Value> = state
                .tools
                .iter()
                .map(|name| json!({ "type": "function", "function": { "name": name, "parameters": {} } }))
                .collect();
            body = json!({ "model": "blocks", "tools": tools, "messages": messages });
        }
        let usage = (what % 3 != 2).then_some((0_u64, 3_000_u64, 5_u64));
        let mut value: Value = serde_json::from_str(&line(&body, index as i64 * 20, usage)).expect("JSON");
        if how & 1 == 1 {
            value["request"] = json!({ "method": "POST", "body": value["request"] });
        }
        if who == 1 {
            value["session"] = json!("named");
        }
        if how & 2 == 2 {
            value = turned(&value);
        }
        let mut text = if how & 4 == 4 {
            // Over several lines, as one value: white space where programs put it.
            serde_json::to_string_pretty(&value).expect("JSON")
        } else {
            value.to_string()
        };
        if how & 8 == 8 {
            text = escaped(&text);
        }
        if how & 16 == 16 {
            text.push('\r');
        }
        if how == 31 {
            text = text.chars().take(text.chars().count() / 2).collect();
        }
        if index == 0 && how & 3 == 3 {
            text.insert(0, '\u{feff}');
        }
        lines.push(text);
    }
    lines
}

/// A line with a piece of it taken out, or something put into it.
fn damaged(line: &str, at: usize, what: usize) -> String {
    const SIGNS: [&str; 14] = ["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "x", "\u{1}", "é"];
    let chars: Vec<char> = line.chars().collect();
    // The two libraries have other opinions on half a surrogate pair.
    if chars.is_empty() || line.contains("\\u") {
        return line.to_owned();
    }
    let at = at % chars.len();
    let (head, tail) = (&chars[..at], &chars[at..]);
    let text = |chars: &[char]| chars.iter().collect::<String>();
    match what {
        0..14 => text(head) + SIGNS[what] + &text(tail),
        14 => text(head),
        15 => text(tail),
        16 => text(head) + &text(&tail[1..]),
        17 => text(head) + &text(&tail[tail.len().min(400)..]),
        // A line that was written twice, without an end between.
        18 => format!("{line}{line}"),
        _ => text(head) + &line.chars().rev().take(30).collect::<String>() + &text(tail),
    }
}

/// What has to be the same.
fn told(calls: &[Call]) -> Vec<String> {
    calls
        .iter()
        .map(|call| {
            format!(
                "{} {} {:?} {:?} {:?} {:?} {:?} {}",
                call.line,
                call.conversation,
                call.at,
                call.cause(),
                call.reported,
                call.expected_figures(),
                call.found.as_ref().map(|found| (
                    &found.place,
                    &found.near,
                    &found.moved_to,
                    found.blame.byte
                )),
                call.sentence(true),
            )
        })
        .collect()
}

#[test]
fn another_spelling_is_no_break() {
    let plain = log(&[(0, 9, 0), (0, 9, 0), (0, 9, 0), (0, 1, 0), (0, 1, 0)]);
    let mixed: Vec<String> = log(&[(0, 9, 0), (0, 9, 8), (0, 9, 12), (0, 1, 2), (0, 1, 9)]);
    let verdicts = |lines: &[String]| {
        audited(lines, 1 << 20).0.iter().map(|call| call.expected.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&plain), verdicts(&mixed));
    assert!(verdicts(&mixed)[1..].iter().all(|verdict| !verdict.is_break()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn jumping_over_what_is_known_comes_to_what_reading_everything_comes_to(
        steps in prop::collection::vec((0..4_usize, 0..9_usize, 0..32_usize), 1..16),
        memory in prop::sample::select(vec![0_usize, 20_000, 1 << 22]),
    ) {
        let lines = log(&steps);
        let (calls, skipped) = audited(&lines, memory);
        prop_assert_eq!(told(&calls), told(&reference(&lines)));
        prop_assert_eq!(skipped.len() + calls.len(), lines.len());
    }

    #[test]
    fn the_same_holds_for_lines_that_are_damaged(
        steps in prop::collection::vec((0..4_usize, 0..9_usize, 0..32_usize), 1..16),
        // Near the beginning and the end of a line stand its keys and figures.
        damage in prop::collection::vec((0..16_usize, prop_oneof![0..200_usize, 0..20_000_usize, 19_600..20_000_usize], 0..20_usize), 1..8),
        memory in prop::sample::select(vec![0_usize, 20_000, 1 << 22]),
    ) {
        let mut lines = log(&steps);
        for (line, at, what) in damage {
            if let Some(line) = lines.get_mut(line) {
                let len = line.chars().count();
                // From the end, where it is near the end of the longest.
                let at = if at >= 19_600 { len.saturating_sub(20_000 - at) } else { at };
                *line = damaged(line, at, what);
            }
        }
        let (calls, skipped) = audited(&lines, memory);
        prop_assert_eq!(told(&calls), told(&reference(&lines)));
        prop_assert_eq!(skipped.len() + calls.len(), lines.len());
    }

    #[test]
    fn no_bytes_make_it_fall_over(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..400_usize) {
        let good = line(&anthropic("s", &["Read"], &[user("x"), model("y")]), 0, Some((1, 2, 3)));
        let mut mixed = good.clone().into_bytes();
        mixed.truncate(cut);
        mixed.extend(bytes);
        let mut reader = Reader::new(1 << 20);
        let mut judge = Judge::new(models(), Vec::new(), None, 1 << 20);
        let mut counter = Counter::new();
        for (number, line) in [good.clone().into_bytes(), mixed, good.into_bytes()].into_iter().enumerate() {
            let mut found = |exchange: Exchange| { judge.call(&exchange, &mut counter); };
            let _ = reader.line(number as u64 + 1, &mut line.clone(), &Plain, &mut found);
        }
    }
}
