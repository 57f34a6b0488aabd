//! Captures of claude-trace: a request and its response in a line, each with its time, headers and body.

use crate::core::audit::{Fields, Look, Pieces, Shape, format_of_url};

/// See the module.
pub(super) struct ClaudeTrace;

impl Shape for ClaudeTrace {
    fn word(&self) -> &'static str {
        "claude-trace"
    }

    fn title(&self) -> &'static str {
        "a claude-trace capture"
    }

    fn fits(&self, fields: &Fields, line: &[u8]) -> bool {
        let url = Look { fields, line }.text("request.url");
        url.is_some() && fields.has("request.method") && fields.has("response") && fields.has("logged_at")
    }

    fn pieces(&self, fields: &Fields, line: &[u8]) -> Option<Pieces> {
        let look = Look { fields, line };
        let url = look.text("request.url").unwrap_or_default();
        // It captures everything: counts of tokens and telemetry are no calls of a model.
        if !look.is_body("request.body") || url.contains("count_tokens") {
            return None;
        }
        Some(Pieces {
            body: Some("request.body"),
            answer: look.range("response"),
            at: look.first_time(&["request.timestamp", "logged_at"]),
            session: look.session_of("request.body"),
            format: format_of_url(&url),
            ..Pieces::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{detected, read};

    const LINE: &str = r#"{"request":{"timestamp":1764500000.5,"method":"POST","url":"https://api.anthropic.com/v1/messages?beta=true","headers":{},"body":{"model":"claude-x","messages":[{"role":"user","content":"hi"}]}},"response":{"timestamp":1764500002,"status_code":200,"headers":{},"body_raw":"event: message_start\ndata: {}\n\n"},"logged_at":"2025-11-30T10:53:22.000Z"}"#;

    #[test]
    fn a_line_is_a_call() {
        assert_eq!(detected(LINE), Some("claude-trace"));
        let pieces = read("claude-trace", LINE).expect("a call");
        assert_eq!((pieces.body, pieces.at), (Some("request.body"), Some(1_764_500_000_500)));
        assert!(pieces.answer.is_some() && pieces.format.is_some() && !pieces.apart);
    }

    #[test]
    fn a_call_that_was_not_answered_is_one_and_a_count_is_none() {
        let open = LINE.split(",\"response\"").next().expect("there").to_owned()
            + ",\"response\":null,\"logged_at\":\"2025-11-30T10:53:22Z\"}";
        assert_eq!(detected(&open), Some("claude-trace"));
        assert_eq!(read("claude-trace", &open).expect("a call").answer, None);
        let count = LINE.replace("/v1/messages", "/v1/messages/count_tokens");
        assert_eq!(read("claude-trace", &count), None);
    }
}
