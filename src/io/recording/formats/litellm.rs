//! Payloads of LiteLLM's standard logging: messages at the top, tools and parameters in a map of their own, with what the
//! gateway knows beside them.
//!
//! Its `cache_hit` is of the gateway's own cache and says nothing of the provider's.

use crate::core::audit::{Fields, Look, Pieces, Shape};
use crate::core::wire::Format;

/// See the module.
pub(super) struct LiteLlm;

impl Shape for LiteLlm {
    fn word(&self) -> &'static str {
        "litellm"
    }

    fn title(&self) -> &'static str {
        "LiteLLM payloads"
    }

    fn fits(&self, fields: &Fields, _line: &[u8]) -> bool {
        fields.has("messages")
            && fields.has("call_type")
            && (fields.has("model_group") || fields.has("startTime"))
    }

    fn pieces(&self, fields: &Fields, line: &[u8]) -> Option<Pieces> {
        let look = Look { fields, line };
        let hit = look.raw("cache_hit").is_some_and(|raw| matches!(raw, "true" | "\"True\"" | "\"true\""));
        // The gateway answered itself: no provider was asked.
        if !look.is_body("") || hit {
            return None;
        }
        let session = look
            .first_text(&[
                "litellm_session_id",
                "session_id",
                "metadata.session_id",
                "metadata.litellm_session_id",
            ])
            .or_else(|| look.session_of(""));
        // It logs messages as they came in, so the kind of call tells their format.
        let format = match look.text("call_type")?.trim_start_matches('a') {
            "completion" | "text_completion" => Some(Format::OpenaiChat),
            "nthropic_messages" => Some(Format::Anthropic),
            _ => None,
        };
        Some(Pieces {
            body: Some(""),
            parameters: Some("model_parameters"),
            format,
            answer: look.range("response"),
            usage: look.range("metadata.usage_object").or_else(|| {
                // Its own sums, at the top of the payload.
                let whole = fields.0.first()?;
                look.range("prompt_tokens").map(|_| whole.range.clone())
            }),
            at: look.first_time(&["startTime", "start_time"]),
            session,
            agent: look.first_text(&[
                "agent_id",
                "metadata.agent_id",
                "metadata.user_api_key_alias",
                "end_user",
            ]),
            provider: look.first_text(&["custom_llm_provider"]),
            ..Pieces::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{detected, read};

    const LINE: &str = r#"{"id":"c-1","trace_id":"t","call_type":"acompletion","cache_hit":null,"model":"claude-sonnet-4-5","model_group":"sonnet","custom_llm_provider":"anthropic","startTime":1764500000.25,"messages":[{"role":"user","content":"hi"}],"response":{"usage":{"prompt_tokens":20,"cache_read_input_tokens":5}},"prompt_tokens":20,"metadata":{"usage_object":{"prompt_tokens":20}}}"#;

    #[test]
    fn a_payload_is_a_call() {
        assert_eq!(detected(LINE), Some("litellm"));
        let pieces = read("litellm", LINE).expect("a call");
        assert_eq!((pieces.body, pieces.at), (Some(""), Some(1_764_500_000_250)));
        assert_eq!(pieces.provider.as_deref(), Some("anthropic"));
        assert!(pieces.answer.is_some() && pieces.usage.is_some());
    }

    #[test]
    fn what_the_gateway_answered_itself_is_no_call() {
        assert_eq!(read("litellm", &LINE.replace("\"cache_hit\":null", "\"cache_hit\":true")), None);
        assert!(read("litellm", &LINE.replace("\"cache_hit\":null", "\"cache_hit\":\"False\"")).is_some());
    }
}
