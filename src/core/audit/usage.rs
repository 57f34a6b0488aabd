//! What a provider reported that a call cost in tokens, from its answer.
//!
//! The names of the fields are those of the vendors' public API references (as of November 2026). They also tell how the
//! figures are meant: where cached tokens are a part of the input (inclusive) and where they stand beside it
//! (exclusive), so that one call is never counted twice.

use std::cell::Cell;

use serde::Serialize;

use crate::core::cache::Accounting;
use crate::core::wire::lossless::{Json, Kind};

/// The most bytes of one event in a stream that are looked into; usage events are a few hundred.
const EVENT: usize = 1 << 20;
/// No prompt or answer has more tokens: a greater number is a mistake of the log, and is not counted with.
const MOST: u64 = 100_000_000;

/// A number of usage is negative, or beyond any prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beyond;

/// The tokens of a call as its provider reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reported {
    /// All tokens of the prompt, however the provider counts.
    pub sent: u64,
    /// Read from the cache; none where it says nothing of it.
    pub read: Option<u64>,
    /// Written to the cache; none where it says nothing of it.
    pub write: Option<u64>,
    /// The part of `write` that was written to live for an hour.
    pub write_1h: u64,
    /// Tokens of the answer; none where it does not say.
    pub output: Option<u64>,
    /// How the figures were meant; none where nothing tells, and it does not matter.
    pub accounting: Option<Accounting>,
}

impl Reported {
    /// Tokens that were neither read nor written.
    #[must_use]
    pub fn fresh(&self) -> u64 {
        self.sent.saturating_sub(self.read.unwrap_or(0)).saturating_sub(self.write.unwrap_or(0))
    }

    /// What was in the cache behind this call as far as its figures show: for a provider that tells what it writes, what
    /// it read and wrote, else the whole prompt.
    #[must_use]
    pub fn stored(&self) -> u64 {
        match (self.accounting, self.write) {
            (Some(Accounting::Exclusive), write) => self.read.unwrap_or(0).saturating_add(write.unwrap_or(0)),
            (_, Some(write)) if write > 0 => self.read.unwrap_or(0).saturating_add(write),
            _ => self.sent,
        }
    }

    /// Reads an object of usage; none where it tells no tokens.
    ///
    /// # Errors
    ///
    /// When a number in it is negative or beyond any prompt.
    pub(super) fn of(usage: &Json, text: &str) -> Result<Option<Reported>, Beyond> {
        let beyond = Cell::new(false);
        let number = |path: &[&str]| -> Option<u64> {
            let found = path.iter().try_fold(usage, |json, key| json.get(key))?;
            tokens(found, text).unwrap_or_else(|Beyond| {
                beyond.set(true);
                None
            })
        };
        let reported = Reported::read(usage, &number);
        if beyond.get() { Err(Beyond) } else { Ok(reported) }
    }

    fn read(usage: &Json, number: &dyn Fn(&[&str]) -> Option<u64>) -> Option<Reported> {
        let any = |paths: &[&[&str]]| paths.iter().find_map(|path| number(path));
        let hour = any(&[
            &["cache_creation", "ephemeral_1h_input_tokens"],
            &["prompt_tokens_details", "cache_creation", "ephemeral_1h_input_tokens"],
            &["prompt_tokens_details", "cache_creation_token_details", "ephemeral_1h_input_tokens"],
        ])
        .unwrap_or(0);
        // Of Anthropic and those that speak like it, and of Bedrock: beside the input.
        let beside_read =
            any(&[&["cache_read_input_tokens"], &["cacheReadInputTokens"], &["cacheReadInputTokenCount"]]);
        let beside_write = any(&[
            &["cache_creation_input_tokens"],
            &["cacheWriteInputTokens"],
            &["cacheCreationInputTokens"],
        ]);
        // A part of the input.
        let inside_read = any(&[
            &["input_tokens_details", "cached_tokens"],
            &["prompt_tokens_details", "cached_tokens"],
            &["prompt_cache_hit_tokens"],
            &["cachedContentTokenCount"],
            &["cached_tokens"],
        ]);
        let inside_write = any(&[
            &["input_tokens_details", "cache_write_tokens"],
            &["prompt_tokens_details", "cache_write_tokens"],
            &["prompt_tokens_details", "cache_creation_input_tokens"],
            &["prompt_tokens_details", "cache_creation_tokens"],
        ]);
        let output =
            any(&[&["output_tokens"], &["completion_tokens"], &["outputTokens"], &["candidatesTokenCount"]]);
        let whole = any(&[&["prompt_tokens"], &["promptTokenCount"]]);
        let input = any(&[&["input_tokens"], &["inputTokens"]]);
        if let Some(sent) = whole {
            // Gateways that speak Chat Completions for another vendor name its fields beside their own sum.
            let (read, write) = (inside_read.or(beside_read), inside_write.or(beside_write));
            let parts = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
            if parts > sent {
                // The parts do not fit into the whole: it is no whole.
                let accounting = Some(Accounting::Exclusive);
                return Some(Reported {
                    sent: sent.saturating_add(parts),
                    read,
                    write,
                    write_1h: hour,
                    output,
                    accounting,
                });
            }
            let accounting = Some(Accounting::Inclusive);
            return Some(Reported { sent, read, write, write_1h: hour, output, accounting });
        }
        let input = input.or_else(|| beside_read.or(beside_write).map(|_| 0))?;
        if inside_read.is_some() || usage.get("input_tokens_details").is_some() {
            let accounting = Some(Accounting::Inclusive);
            return Some(Reported {
                sent: input,
                read: inside_read,
                write: inside_write,
                write_1h: hour,
                output,
                accounting,
            });
        }
        let told = beside_read.is_some() || beside_write.is_some();
        Some(Reported {
            sent: input.saturating_add(beside_read.unwrap_or(0)).saturating_add(beside_write.unwrap_or(0)),
            read: beside_read.or(told.then_some(0)),
            write: beside_write.or(told.then_some(0)),
            write_1h: hour,
            output,
            accounting: told.then_some(Accounting::Exclusive),
        })
    }

    /// Takes over what a later report of the same call says: events of one answer repeat their figures, and the last one
    /// has all of the output.
    pub fn merge(&mut self, later: Reported) {
        let output = self.output.max(later.output);
        if later.sent >= self.sent {
            let (read, write) = (later.read.or(self.read), later.write.or(self.write));
            let hour = self.write_1h.max(later.write_1h);
            let accounting = later.accounting.or(self.accounting);
            *self = Reported { read, write, write_1h: hour, accounting, ..later };
        }
        self.output = output;
    }
}

/// A number of tokens; none for what is no number.
fn tokens(json: &Json, text: &str) -> Result<Option<u64>, Beyond> {
    let Kind::Number = json.kind else { return Ok(None) };
    let spelled = &text[json.span.clone()];
    if let Ok(number) = spelled.parse::<u64>() {
        return if number > MOST { Err(Beyond) } else { Ok(Some(number)) };
    }
    match spelled.parse::<f64>() {
        Ok(number) if (0.0..=MOST as f64).contains(&number) => Ok(Some(number as u64)),
        Ok(_) => Err(Beyond),
        Err(_) => Ok(None),
    }
}

/// What an answer tells besides its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// The tokens.
    pub reported: Option<Reported>,
    /// The answer's id, which a later request may go on from.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// When it was made, in milliseconds since the Unix epoch.
    pub at: Option<i64>,
    /// What the model put out, as a list of items that a later request would have as input: JSON.
    pub output: Option<String>,
    /// The provider refused or failed: what it said, short.
    pub error: Option<String>,
    /// The provider's own diagnosis of a miss: `tools_changed`.
    pub diagnosis: Option<String>,
    /// A number of its usage is negative or beyond any prompt: nothing of it can be counted with.
    pub unusable: bool,
}

/// Reads an answer: a body, a stream of events as text (SSE) or as a list, or a map around one of them.
#[must_use]
pub(super) fn answered(json: &Json, text: &str) -> Answered {
    let mut found = Answered::default();
    look(json, text, 0, &mut found);
    found
}

/// Members in which logs keep what was answered.
const INSIDE: &[&str] = &[
    "body",
    "body_raw",
    "response",
    "message",
    "events",
    "ws_events",
    "data",
    "json",
    "choices",
    "content",
    "chunks",
    "parsed",
    "payload",
];

fn look(json: &Json, text: &str, depth: usize, found: &mut Answered) {
    if depth > 6 {
        return;
    }
    match &json.kind {
        Kind::Text(inner) => stream(inner, depth, found),
        Kind::List(items) => {
            for item in items.iter().filter(|item| !matches!(item.kind, Kind::Number | Kind::Null)) {
                look(item, text, depth + 1, found);
            }
        }
        Kind::Map(_) => map(json, text, depth, found),
        _ => {}
    }
}

fn map(json: &Json, text: &str, depth: usize, found: &mut Answered) {
    let said = |key: &str| json.get(key).and_then(Json::as_text).map(|text| text.to_string());
    for key in ["usage", "usageMetadata", "usage_object"] {
        let Some(usage) = json.get(key) else { continue };
        match (Reported::of(usage, text), &mut found.reported) {
            (Err(Beyond), _) => found.unusable = true,
            (Ok(Some(reported)), Some(known)) => known.merge(reported),
            (Ok(Some(reported)), none) => *none = Some(reported),
            (Ok(None), _) => {}
        }
    }
    // The last event of a stream has all of the output, and may say nothing else.
    let output = json.get("usage").and_then(|usage| usage.get("output_tokens"));
    if let (Some(known), Some(output)) = (&mut found.reported, output)
        && let Ok(Some(output)) = tokens(output, text)
    {
        known.output = known.output.max(Some(output));
    }
    let is_answer =
        json.get("usage").is_some() || json.get("output").is_some() || json.get("choices").is_some();
    if is_answer || said("type").as_deref() == Some("message") {
        if let Some(id) = said("id") {
            found.id = Some(id);
        }
        if let Some(model) = said("model") {
            found.model = Some(model);
        }
        let created = json.get("created").or_else(|| json.get("created_at"));
        if let Some(at) = created.and_then(|at| super::time::read(at, text)) {
            found.at = Some(at);
        }
    }
    if let Some(output) = json.get("output").filter(|output| !output.items().is_empty()) {
        found.output = Some(text[output.span.clone()].to_owned());
    }
    if let Some(error) = json.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").or(Some(error)).and_then(Json::as_text);
        found.error = message.map(|message| message.chars().take(120).collect());
    }
    if let Some(reason) =
        json.get("cache_miss_reason").or_else(|| json.get("diagnostics")?.get("cache_miss_reason"))
        && let Some(kind) = reason.get("type").unwrap_or(reason).as_text()
    {
        found.diagnosis = Some(kind.chars().take(60).collect());
    }
    for key in INSIDE {
        if let Some(inner) = json.get(key) {
            // The text of an answer is no stream.
            let plain = matches!(*key, "content" | "message") && inner.as_text().is_some();
            if !plain {
                look(inner, text, depth + 1, found);
            }
        }
    }
}

/// A stream of server-sent events, or a body that was kept as text.
fn stream(text: &str, depth: usize, found: &mut Answered) {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['{', '['])
        && let Ok(json) = Json::parse(text)
    {
        look(&json, text, depth + 1, found);
        return;
    }
    for line in text.lines() {
        let line = line.strip_prefix("data:").map(str::trim_start).unwrap_or(line);
        let tells =
            ["usage", "\"error\"", "\"output\"", "cache_miss_reason"].iter().any(|word| line.contains(word));
        if line.starts_with('{')
            && line.len() <= EVENT
            && tells
            && let Ok(json) = Json::parse(line)
        {
            look(&json, line, depth + 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(text: &str) -> Reported {
        Reported::of(&Json::parse(text).expect("JSON"), text).expect("no mistake").expect("usage")
    }

    fn told(text: &str) -> Answered {
        answered(&Json::parse(text).expect("JSON"), text)
    }

    #[test]
    fn exclusive_figures_are_added_and_inclusive_ones_are_not() {
        let anthropic = usage(
            r#"{"input_tokens":50,"cache_read_input_tokens":100000,"cache_creation_input_tokens":0,"output_tokens":9}"#,
        );
        assert_eq!(
            (anthropic.sent, anthropic.read, anthropic.write, anthropic.fresh()),
            (100_050, Some(100_000), Some(0), 50)
        );
        assert_eq!(anthropic.accounting, Some(Accounting::Exclusive));
        let chat = usage(
            r#"{"prompt_tokens":18362,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":18304}}"#,
        );
        assert_eq!((chat.sent, chat.read, chat.write, chat.fresh()), (18_362, Some(18_304), None, 58));
        let responses = usage(
            r#"{"input_tokens":900,"input_tokens_details":{"cached_tokens":128,"cache_write_tokens":700},"output_tokens":1}"#,
        );
        assert_eq!(
            (responses.sent, responses.read, responses.write, responses.fresh()),
            (900, Some(128), Some(700), 72)
        );
        let deepseek =
            usage(r#"{"prompt_tokens":100,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}"#);
        assert_eq!((deepseek.sent, deepseek.read), (100, Some(64)));
        let gemini =
            usage(r#"{"promptTokenCount":5000,"cachedContentTokenCount":4096,"candidatesTokenCount":7}"#);
        assert_eq!((gemini.sent, gemini.read, gemini.output), (5_000, Some(4_096), Some(7)));
        let bedrock = usage(
            r#"{"inputTokens":10,"cacheReadInputTokens":20,"cacheWriteInputTokens":30,"outputTokens":1}"#,
        );
        assert_eq!((bedrock.sent, bedrock.fresh()), (60, 10));
    }

    #[test]
    fn a_gateway_that_names_both_is_counted_once() {
        // The sum is a sum: the parts are in it.
        let inside = usage(
            r#"{"prompt_tokens":1000,"cache_read_input_tokens":800,"cache_creation_input_tokens":100}"#,
        );
        assert_eq!(
            (inside.sent, inside.fresh(), inside.accounting),
            (1_000, 100, Some(Accounting::Inclusive))
        );
        // It cannot be one: the parts stand beside it.
        let beside =
            usage(r#"{"prompt_tokens":50,"cache_read_input_tokens":800,"cache_creation_input_tokens":100}"#);
        assert_eq!((beside.sent, beside.fresh(), beside.accounting), (950, 50, Some(Accounting::Exclusive)));
    }

    #[test]
    fn what_is_not_told_is_not_zero() {
        let silent = usage(r#"{"prompt_tokens":10}"#);
        assert_eq!((silent.read, silent.write, silent.output), (None, None, None));
        let responses = usage(r#"{"input_tokens":10,"input_tokens_details":null}"#);
        assert_eq!(responses.read, None);
        assert_eq!(Reported::of(&Json::parse("{}").expect("JSON"), "{}"), Ok(None));
        let text = r#"{"input_tokens":"many"}"#;
        assert_eq!(Reported::of(&Json::parse(text).expect("JSON"), text), Ok(None));
    }

    #[test]
    fn numbers_that_no_prompt_has_are_not_believed() {
        for number in
            ["18446744073709551615", "100000001", "1e13", "99999999999999999999999", "1e400", "-1", "-0.5"]
        {
            for key in ["input_tokens", "cache_read_input_tokens", "output_tokens"] {
                let usage = format!(r#"{{"input_tokens":5,"{key}":{number}}}"#);
                let usage = if key == "input_tokens" { format!(r#"{{"{key}":{number}}}"#) } else { usage };
                assert_eq!(Reported::of(&Json::parse(&usage).expect("JSON"), &usage), Err(Beyond), "{usage}");
                assert!(told(&format!(r#"{{"usage":{usage}}}"#)).unusable, "{usage}");
            }
        }
        // The greatest that is believed, in every place, comes to a sum.
        let most = usage(
            r#"{"input_tokens":100000000,"cache_read_input_tokens":100000000,"cache_creation_input_tokens":1e8}"#,
        );
        assert_eq!((most.sent, most.stored(), most.fresh()), (3 * MOST, 2 * MOST, MOST));
        // Other numbers are none of its business, and times may be as great.
        assert!(!told(r#"{"usage":{"input_tokens":5,"finished_at":1764500000000000}}"#).unusable);
    }

    #[test]
    fn a_stream_tells_its_input_at_the_start_and_its_output_at_the_end() {
        let sse = concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"model\":\"claude-x\",\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":10,\"cache_creation_input_tokens\":5,\"cache_creation\":{\"ephemeral_1h_input_tokens\":5},\"output_tokens\":1}}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"usage\"}}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":42}}\n\n",
        );
        for wrapped in [
            serde_json::json!({ "status_code": 200, "body_raw": sse }).to_string(),
            serde_json::json!({ "response": { "body": sse } }).to_string(),
            serde_json::to_string(sse).expect("text"),
        ] {
            let answer = told(&wrapped);
            let reported = answer.reported.expect("reported");
            assert_eq!(
                (reported.sent, reported.read, reported.write, reported.write_1h),
                (18, Some(10), Some(5), 5)
            );
            assert_eq!(reported.output, Some(42));
            assert_eq!((answer.id.as_deref(), answer.model.as_deref()), (Some("msg_1"), Some("claude-x")));
        }
        let events = r#"{"ws_events":[{"type":"response.created","response":{"id":"r1"}},{"type":"response.completed","response":{"id":"r1","model":"gpt-x","created_at":1700000000,"output":[{"type":"message","role":"assistant","content":[]}],"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":0},"output_tokens":2}}}]}"#;
        let answer = told(events);
        assert_eq!(answer.reported.map(|reported| (reported.sent, reported.read)), Some((7, Some(0))));
        assert_eq!((answer.id.as_deref(), answer.at), (Some("r1"), Some(1_700_000_000_000)));
        assert!(answer.output.is_some_and(|output| output.starts_with('[')));
    }

    #[test]
    fn errors_and_the_providers_own_diagnosis_are_kept_short() {
        let answer = told(r#"{"body":{"type":"error","error":{"type":"x","message":"too many marks"}}}"#);
        assert_eq!((answer.error.as_deref(), answer.reported), (Some("too many marks"), None));
        let answer = told(
            r#"{"usage":{"input_tokens":1},"diagnostics":{"cache_miss_reason":{"type":"tools_changed"}}}"#,
        );
        assert_eq!(answer.diagnosis.as_deref(), Some("tools_changed"));
    }
}
