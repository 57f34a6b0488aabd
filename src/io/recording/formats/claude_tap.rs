//! Captures of claude-tap: a turn in a line, over HTTP or a WebSocket, with how long it took.

use crate::core::audit::{Fields, Look, Pieces, Shape, format_of_url};

/// See the module.
pub(super) struct ClaudeTap;

impl Shape for ClaudeTap {
    fn word(&self) -> &'static str {
        "claude-tap"
    }

    fn title(&self) -> &'static str {
        "a claude-tap capture"
    }

    fn fits(&self, fields: &Fields, _line: &[u8]) -> bool {
        fields.has("request.body")
            && fields.has("response")
            && (fields.has("duration_ms") || fields.has("transport"))
            && (fields.has("request_id") || fields.has("turn") || fields.has("id"))
    }

    fn pieces(&self, fields: &Fields, line: &[u8]) -> Option<Pieces> {
        let look = Look { fields, line };
        let path = look.first_text(&["request.path", "request.url"]).unwrap_or_default();
        if !look.is_body("request.body") || path.contains("count_tokens") {
            return None;
        }
        // The time is that of the line, which is written when the answer has ended.
        let written = look.first_time(&["timestamp"]);
        let took = look.raw("duration_ms").and_then(|raw| raw.parse::<f64>().ok()).unwrap_or(0.0);
        Some(Pieces {
            body: Some("request.body"),
            answer: look.range("response"),
            at: written.map(|at| at - took.clamp(0.0, 86_400_000.0) as i64),
            session: look.first_text(&["session_id", "session"]).or_else(|| look.session_of("request.body")),
            format: format_of_url(&path),
            ..Pieces::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{detected, read};

    #[test]
    fn a_line_is_a_call_that_began_before_it_was_written() {
        let line = r#"{"timestamp":"2026-05-01T10:00:10Z","request_id":"req_1","turn":3,"duration_ms":4000,"transport":"http","request":{"method":"POST","path":"/v1/messages","headers":{},"body":{"model":"claude-x","messages":[]}},"response":{"status":200,"body":{"usage":{"input_tokens":1}}}}"#;
        assert_eq!(detected(line), Some("claude-tap"));
        let pieces = read("claude-tap", line).expect("a call");
        let at = crate::core::audit::time::of_text("2026-05-01T10:00:06Z");
        assert_eq!((pieces.at, pieces.body), (at, Some("request.body")));
        let other = line.replace("/v1/messages", "/v1/messages/count_tokens");
        assert_eq!(read("claude-tap", &other), None);
    }
}
