//! Which format a body has.

use super::lossless::{Json, Kind};
use super::shapes::Format;

/// The format of a body; none where it is no request that is known.
pub(super) fn detect(body: &Json) -> Option<Format> {
    let list = |key: &str| body.get(key).filter(|json| matches!(json.kind, Kind::List(_)));
    if let Some(messages) = list("messages") {
        return Some(chat_or_anthropic(body, messages.items()));
    }
    if list("contents").is_some() {
        return Some(Format::Gemini);
    }
    let input = body.get("input").filter(|json| matches!(json.kind, Kind::List(_) | Kind::Text(_)));
    if input.is_some() && body.get("model").is_some() {
        return Some(Format::OpenaiResponses);
    }
    None
}

/// Two formats keep their messages under `messages`. What only one of them has decides; where nothing does, the name of
/// the model.
fn chat_or_anthropic(body: &Json, messages: &[Json]) -> Format {
    let text =
        |json: &Json, key: &str| json.get(key).and_then(Json::as_text).map_or("", |text| text).to_owned();
    let tools = body.get("tools").map(Json::items).unwrap_or_default();
    let (mut anthropic, mut chat) = (0, 0);
    for key in [
        "system",
        "anthropic_version",
        "stop_sequences",
        "top_k",
        "thinking",
        "mcp_servers",
        "context_management",
    ] {
        anthropic += usize::from(body.get(key).is_some());
    }
    for key in [
        "stream_options",
        "max_completion_tokens",
        "response_format",
        "reasoning_effort",
        "n",
        "logprobs",
        "stop",
    ] {
        chat += usize::from(body.get(key).is_some());
    }
    for tool in tools {
        anthropic += usize::from(tool.get("input_schema").is_some());
        chat += usize::from(tool.get("function").is_some());
    }
    for message in messages {
        chat += usize::from(
            matches!(text(message, "role").as_str(), "tool" | "developer")
                || message.get("tool_calls").is_some(),
        );
        for part in message.get("content").map(Json::items).unwrap_or_default() {
            match text(part, "type").as_str() {
                "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image" | "document" => {
                    anthropic += 1;
                }
                "image_url" | "input_audio" | "file" | "refusal" => chat += 1,
                _ => {}
            }
        }
    }
    // Anthropic has had system messages only later in a conversation, and only of late.
    chat += usize::from(messages.first().is_some_and(|message| text(message, "role") == "system"));
    match anthropic.cmp(&chat) {
        std::cmp::Ordering::Greater => Format::Anthropic,
        std::cmp::Ordering::Less => Format::OpenaiChat,
        std::cmp::Ordering::Equal if text(body, "model").contains("claude") => Format::Anthropic,
        std::cmp::Ordering::Equal => Format::OpenaiChat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(body: &str) -> Option<Format> {
        detect(&Json::parse(body).expect("it is JSON"))
    }

    #[test]
    fn a_body_tells_its_format() {
        use Format::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
        for (body, format) in [
            (r#"{"model":"m","system":"s","messages":[{"role":"user","content":"x"}]}"#, Some(Anthropic)),
            (r#"{"model":"claude-x","messages":[{"role":"user","content":"x"}]}"#, Some(Anthropic)),
            (r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#, Some(OpenaiChat)),
            (r#"{"model":"claude-x","messages":[{"role":"system","content":"x"}]}"#, Some(OpenaiChat)),
            (r#"{"model":"m","tools":[{"input_schema":{}}],"messages":[]}"#, Some(Anthropic)),
            (
                r#"{"model":"claude","messages":[{"role":"assistant","content":null,"tool_calls":[]}]}"#,
                Some(OpenaiChat),
            ),
            (
                r#"{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#,
                Some(Anthropic),
            ),
            (r#"{"model":"m","input":"x"}"#, Some(OpenaiResponses)),
            (r#"{"model":"m","instructions":"i","input":[]}"#, Some(OpenaiResponses)),
            (r#"{"contents":[]}"#, Some(Gemini)),
            (r#"{"input":"x"}"#, None),
            (r#"{"messages":"x"}"#, None),
            ("[]", None),
        ] {
            assert_eq!(detected(body), format, "{body}");
        }
    }
}
