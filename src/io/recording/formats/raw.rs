//! Raw requests and responses of the vendors' APIs: a body as it was sent, with its answer in the same line or in one of
//! its own, by themselves or under the names that programs give to them.

use crate::core::audit::{Fields, Look, Pieces, Shape, format_of_url};

/// See the module.
pub(super) struct Raw;

/// Where bodies stand.
const BODIES: &[&str] =
    &["", "request.body", "request.params", "request", "body", "params", "kwargs", "data"];
/// Where answers stand.
const ANSWERS: &[&str] = &["response", "response_body", "resp", "output", "result", "completion"];
const TIMES: &[&str] = &[
    "timestamp",
    "request.timestamp",
    "time",
    "ts",
    "at",
    "started_at",
    "start_time",
    "startTime",
    "request_time",
    "created_at",
    "logged_at",
    "date",
];
const SESSIONS: &[&str] =
    &["session_id", "sessionId", "session", "conversation_id", "conversationId", "thread_id"];
const AGENTS: &[&str] = &["agent", "agent_id", "agentId", "agent_name"];
const IDS: &[&str] = &["request_id", "requestId", "id", "call_id"];

impl Shape for Raw {
    fn word(&self) -> &'static str {
        "raw"
    }

    fn title(&self) -> &'static str {
        "raw requests and responses"
    }

    fn fits(&self, fields: &Fields, line: &[u8]) -> bool {
        self.pieces(fields, line).is_some()
    }

    fn pieces(&self, fields: &Fields, line: &[u8]) -> Option<Pieces> {
        let look = Look { fields, line };
        let body = BODIES.iter().copied().find(|prefix| look.is_body(prefix)).or_else(|| {
            // A body that was logged as a text.
            ["request.body", "body", "request"].into_iter().find(|path| {
                look.raw(path).is_some_and(|raw| raw.starts_with("\"{") && raw.contains("model"))
            })
        });
        let answer = ANSWERS.iter().find_map(|path| look.range(path).filter(|_| body != Some(*path)));
        if body.is_none() {
            // An answer in a line of its own says what it cost, or is said to be one.
            let whole =
                fields.0.first().filter(|field| field.path.is_empty()).map(|field| field.range.clone());
            let is_answer = answer.is_some() || fields.has("usage") || fields.has("usageMetadata");
            let range = answer.or(whole).filter(|_| is_answer)?;
            let id = look.first_text(&["request_id", "requestId", "call_id"]);
            return Some(Pieces { answer: Some(range), id, ..Pieces::default() });
        }
        let prefix = body.unwrap_or_default();
        let url = look.first_text(&["url", "request.url", "path", "endpoint", "request.path"]);
        Some(Pieces {
            body,
            parameters: None,
            apart: answer.is_none() && !ANSWERS.iter().any(|path| fields.has(path)),
            answer,
            usage: look.range("usage"),
            at: look.first_time(TIMES),
            session: look.first_text(SESSIONS).or_else(|| look.session_of(prefix)),
            agent: look.first_text(AGENTS),
            id: look.first_text(IDS),
            provider: look
                .first_text(&["provider"])
                .filter(|name| name.len() < 40)
                .map(|name| name.to_lowercase()),
            model: None,
            format: url.as_deref().and_then(format_of_url),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    #[test]
    fn bodies_are_found_wherever_programs_put_them() {
        for (line, body, answer) in [
            (r#"{"model":"m","messages":[]}"#, Some(""), false),
            (r#"{"request":{"model":"m","messages":[]},"response":{"usage":{}}}"#, Some("request"), true),
            (
                r#"{"request":{"url":"x","body":{"model":"m","input":"hi"}},"response":null}"#,
                Some("request.body"),
                false,
            ),
            (r#"{"body":{"model":"m","messages":[]},"response_body":"data: {}"}"#, Some("body"), true),
            (r#"{"params":{"model":"m","messages":[]}}"#, Some("params"), false),
            (r#"{"body":"{\"model\":\"m\",\"messages\":[]}"}"#, Some("body"), false),
            (r#"{"id":"msg_1","type":"message","usage":{"input_tokens":1}}"#, None, true),
        ] {
            let pieces = read("raw", line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((pieces.body, pieces.answer.is_some()), (body, answer), "{line}");
        }
        for line in [r#"{"event":"started"}"#, "[]", "1", r#"{"messages":"none"}"#] {
            assert_eq!(read("raw", line), None, "{line}");
        }
    }

    #[test]
    fn time_session_and_agent_are_read() {
        let line = r#"{"ts":1700000000,"agent":"reviewer","request":{"model":"m","metadata":{"user_id":"user_a_account_b_session_c-1"},"messages":[]}}"#;
        let pieces = read("raw", line).expect("a call");
        assert_eq!(pieces.at, Some(1_700_000_000_000));
        assert_eq!((pieces.session.as_deref(), pieces.agent.as_deref()), (Some("c-1"), Some("reviewer")));
        assert!(pieces.apart);
    }
}
