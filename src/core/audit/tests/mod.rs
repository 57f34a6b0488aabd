//! Logs of all kinds against what they mean, and the reader that jumps against one that does not.

mod judged;
mod reference;

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::core::cache::{
    BlockRules, Confidence, Family, Known as Sourced, Life, MarkedRules, Measures, Model, Models, Price,
    Rate, Rates, Verdict, Visible, When,
};
use crate::core::tokens::{Encoding, LineCounter, Measure, Method};
use crate::core::wire::BlockKind;

/// Counts in one vocabulary.
pub(super) struct Counter(LineCounter);

impl Counter {
    pub(super) fn new() -> Counter {
        Counter(LineCounter::new(Encoding::O200k))
    }
}

impl Measures for Counter {
    fn of(&mut self, _: Encoding) -> &mut dyn Measure {
        &mut self.0
    }
}

/// A body in its line, with the answer beside it, as most programs log it.
struct Plain;

impl Shape for Plain {
    fn word(&self) -> &'static str {
        "plain"
    }

    fn title(&self) -> &'static str {
        "plain"
    }

    fn fits(&self, _: &Fields, _: &[u8]) -> bool {
        true
    }

    fn pieces(&self, fields: &Fields, line: &[u8]) -> Option<Pieces> {
        let look = Look { fields, line };
        let body = ["", "request.body", "request"].into_iter().find(|prefix| look.is_body(prefix))?;
        Some(Pieces {
            body: Some(body),
            answer: look.range("response"),
            at: look.first_time(&["ts"]),
            session: look.first_text(&["session"]).or_else(|| look.session_of(body)),
            ..Pieces::default()
        })
    }
}

fn known<T>(value: T) -> Sourced<T> {
    Sourced { value, source: "test".into(), checked: None, confidence: Confidence::A }
}

fn priced(input: &str, read: &str, write: Option<&str>) -> Price {
    let rate = |text: &str| Rate::parse(text).expect("a price");
    Price::plain(known(Rates {
        input: rate(input),
        read: rate(read),
        write_5m: write.map(rate),
        write_1h: None,
        output: None,
    }))
}

/// A model with marks and one with blocks, both counted exactly.
pub(super) fn models() -> Arc<Models> {
    let method = Method::Exact { encoding: Encoding::O200k };
    let marked = MarkedRules {
        max_marks: known(4),
        excess: None,
        lookback: known(20),
        collapse: known(vec![BlockKind::ToolUse, BlockKind::ToolResult]),
        min: known(1_024),
        lives: known(vec![300, 3_600]),
        visible: known(Visible { when: When::FirstToken, after: 1_000 }),
        automatic: None,
        server_tools: None,
    };
    let life = Life { max: Some(known(600)), typical: None };
    let blocks = BlockRules::plain(known(128), known(1_024), life);
    let all = [
        Model {
            method: method.clone(),
            family: Some(Family::Marked(marked)),
            prices: vec![priced("3", "0.3", Some("3.75"))],
            ..Model::unknown("anthropic:marked".into())
        },
        Model {
            method,
            family: Some(Family::Block(blocks)),
            prices: vec![priced("2.5", "0.25", None)],
            ..Model::unknown("openai:blocks".into())
        },
    ];
    let models = all.into_iter().map(|model| (model.id.clone(), Arc::new(model))).collect();
    Arc::new(Models { models, revision: "test".into() })
}

/// What an audit says of the lines of a log, with the lines that gave no call.
pub(super) fn audited(lines: &[String], memory: usize) -> (Vec<Call>, Vec<(u64, Skipped)>) {
    let mut reader = Reader::new(memory);
    let mut judge = Judge::new(models(), Vec::new(), None, 64 << 20);
    let mut counter = Counter::new();
    let (mut calls, mut skipped) = (Vec::new(), Vec::new());
    for (index, line) in lines.iter().enumerate() {
        let number = index as u64 + 1;
        let mut found = |exchange: Exchange| calls.push(judge.call(&exchange, &mut counter));
        if let Err(why) = reader.line(number, &mut line.clone().into_bytes(), &Plain, &mut found) {
            skipped.push((number, why));
        }
    }
    reader.flush(&mut |exchange| calls.push(judge.call(&exchange, &mut counter)));
    (calls, skipped)
}

/// A text of about so many tokens.
pub(super) fn words(count: usize, seed: &str) -> String {
    (0..count).map(|at| format!("{seed}{} ", at % 97)).collect()
}

/// A body of Anthropic Messages, whose last message is marked.
pub(super) fn anthropic(system: &str, tools: &[&str], messages: &[Value]) -> Value {
    let tools: Vec<Value> = tools
        .iter()
        .map(|name| json!({ "name": name, "description": words(100, name), "input_schema": { "type": "object" } }))
        .collect();
    let mut messages = messages.to_vec();
    if let Some(Value::Array(parts)) = messages.last_mut().map(|message| &mut message["content"])
        && let Some(last) = parts.last_mut()
    {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
    json!({
        "model": "marked",
        "system": [{ "type": "text", "text": system, "cache_control": { "type": "ephemeral" } }],
        "tools": tools,
        "messages": messages,
    })
}

pub(super) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": [{ "type": "text", "text": text }] })
}

pub(super) fn model(text: &str) -> Value {
    json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] })
}

/// A line: a body, its time in seconds, and the tokens that were read, written and neither.
pub(super) fn line(body: &Value, at: i64, usage: Option<(u64, u64, u64)>) -> String {
    let mut line = json!({ "ts": 1_764_500_000 + at, "request": body });
    if let Some((read, write, fresh)) = usage {
        line["response"] = json!({ "id": format!("msg_{at}"), "type": "message", "usage": {
            "input_tokens": fresh,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": write,
            "output_tokens": 5,
        }});
    }
    line.to_string()
}
