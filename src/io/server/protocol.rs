//! The messages of the WebSocket: JSON objects, one in each text message.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;

use super::{BODY_BYTES, ID_CHARS, MESSAGE_BYTES, QUEUE};
use crate::core::bench::{Absent, Bench, ReportIn, Serve};
use crate::core::fact::Name;
use crate::core::wire::lossless::Json as Tree;

/// The id of a session: a text, or a whole number, which names the same session as its digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub Arc<str>);

impl SessionId {
    fn of(value: &Json) -> Result<Option<SessionId>, String> {
        let text = match value {
            Json::Null => return Ok(None),
            Json::String(text) => text.clone(),
            Json::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
            other => {
                return Err(format!(
                    "`sessionId` must be a text or a whole number, but this is {}",
                    kind(other)
                ));
            }
        };
        if text.is_empty() || text.chars().count() > ID_CHARS {
            return Err(format!("`sessionId` must have 1 to {ID_CHARS} characters"));
        }
        Ok(Some(SessionId(text.into())))
    }
}

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The user says something.
    Send,
    /// The user says otherwise what was said last.
    Edit,
    /// Only a report.
    Report,
    /// What the model said: it ends the turn.
    Answer,
    /// The session ends, and what was kept of it goes.
    End,
}

const KINDS: [(&str, Kind); 5] = [
    ("send_message", Kind::Send),
    ("edit_and_resend", Kind::Edit),
    ("report", Kind::Report),
    ("answer", Kind::Answer),
    ("end_session", Kind::End),
];

/// A message that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// What it asks for.
    pub kind: Kind,
    /// The session; none where the message names none.
    pub session: Option<SessionId>,
    /// Its own id, which replies to it carry, and by which one that is sent twice is known.
    pub id: Option<Arc<str>>,
    /// What was said; empty for messages that say nothing.
    pub content: Arc<str>,
    /// The fields that it reports; none clears.
    pub reports: Vec<(Name, Option<Arc<str>>)>,
}

impl Incoming {
    /// Reads a message.
    ///
    /// # Errors
    ///
    /// The reply that says what is wrong with it.
    pub fn read(text: &str, serve: &Serve) -> Result<Incoming, Reply> {
        if text.len() > MESSAGE_BYTES {
            let message = format!("a message of {} bytes; at most {MESSAGE_BYTES} are read", text.len());
            return Err(Reply::error("too_large", message));
        }
        let json: Json = serde_json::from_str(text)
            .map_err(|error| Reply::error("malformed", format!("this is not JSON: {error}")))?;
        // Of two, programs on the way may have looked at the other one.
        if let Some(key) = Tree::parse(text).ok().and_then(|tree| twice(&tree)) {
            return Err(Reply::error("malformed", format!("`{key}` stands twice in one object")));
        }
        if !json.is_object() {
            let message = format!("a message must be an object, but this is {}", kind(&json));
            return Err(Reply::error("malformed", message));
        }
        // The ids come first, so that an error can name them.
        let id = match json.get("messageId") {
            None | Some(Json::Null) => None,
            Some(Json::String(id)) if (1..=ID_CHARS).contains(&id.chars().count()) => Some(Arc::from(&**id)),
            Some(_) => {
                let message = format!("`messageId` must be a text of 1 to {ID_CHARS} characters");
                return Err(Reply::error("wrong_type", message));
            }
        };
        let mut session = None;
        let read = (|| {
            session = SessionId::of(json.get("sessionId").unwrap_or(&Json::Null)).map_err(wrong_type)?;
            body(&json, serve)
        })();
        match read {
            Ok((kind, content, reports)) => Ok(Incoming { kind, session, id, content, reports }),
            Err((code, message)) => {
                Err(Reply::Error { session_id: session.map(|s| s.0), message_id: id, code, message })
            }
        }
    }
}

/// A key that an object has twice.
fn twice(json: &Tree) -> Option<String> {
    let mut keys = std::collections::BTreeSet::new();
    let key = json.members().iter().find(|member| !keys.insert(&*member.key));
    let short = |key: &str| key.chars().take(40).collect();
    key.map(|member| short(&member.key))
        .or_else(|| json.members().iter().find_map(|member| twice(&member.value)))
        .or_else(|| json.items().iter().find_map(twice))
}

type Body = (Kind, Arc<str>, Vec<(Name, Option<Arc<str>>)>);

fn wrong_type(message: String) -> (&'static str, String) {
    ("wrong_type", message)
}

fn body(json: &Json, serve: &Serve) -> Result<Body, (&'static str, String)> {
    let known = || KINDS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let (name, found) = match json.get("type") {
        Some(Json::String(name)) => match KINDS.iter().find(|(known, _)| known == name) {
            Some(found) => *found,
            None => {
                let name: String = name.chars().take(40).collect();
                return Err(("unknown_type", format!("there is no type `{name}`: it is one of {}", known())));
            }
        },
        Some(other) => return Err(wrong_type(format!("`type` must be a text, but this is {}", kind(other)))),
        None => return Err(("unknown_type", format!("a message has a `type`: one of {}", known()))),
    };
    let data = match json.get("data") {
        None | Some(Json::Null) => &Json::Null,
        Some(data @ Json::Object(_)) => data,
        Some(other) => {
            return Err(wrong_type(format!("`data` must be an object, but this is {}", kind(other))));
        }
    };
    let content = match (found, data.get("content")) {
        (Kind::Report | Kind::End, _) => Arc::from(""),
        (_, Some(Json::String(content))) => Arc::from(&**content),
        (_, Some(other)) => {
            return Err(wrong_type(format!("`data.content` must be a text, but this is {}", kind(other))));
        }
        (_, None) => return Err(wrong_type(format!("`{name}` needs the text `data.content`"))),
    };
    let mut reports = Vec::new();
    for report in serve.report.iter().filter(|report| &*report.on == name) {
        match field(json, report)? {
            Some(Json::String(text)) if !text.trim().is_empty() => {
                reports.push((report.field().clone(), Some(Arc::from(&**text))));
            }
            Some(Json::String(_) | Json::Null) => reports.push((report.field().clone(), None)),
            Some(other) => {
                let path = report.path.join(".");
                let message = format!("`{path}` must be a text or null, but this is {}", kind(other));
                return Err(wrong_type(message));
            }
            // What stands beside its place was meant to be read: it is neither read there nor taken for missing.
            None => {
                if let Some(found) = misplaced(json, report) {
                    let path = report.path.join(".");
                    let message =
                        format!("`{found}` is not where reports are read: this server takes `{path}`");
                    return Err(("misplaced", message));
                }
                if serve.absent == Absent::Clear {
                    reports.push((report.field().clone(), None));
                }
            }
        }
    }
    Ok((found, content, reports))
}

/// A field of a message; none where it is absent.
fn field<'j>(json: &'j Json, report: &ReportIn) -> Result<Option<&'j Json>, (&'static str, String)> {
    let mut at = json;
    for (depth, name) in report.path.iter().enumerate() {
        match at {
            Json::Object(map) => match map.get(&**name) {
                Some(inner) => at = inner,
                None => return Ok(None),
            },
            Json::Null if depth > 0 => return Ok(None),
            other => {
                let path = report.path[..depth].join(".");
                return Err(wrong_type(format!("`{path}` must be an object, but this is {}", kind(other))));
            }
        }
    }
    Ok(Some(at))
}

/// Where the field of a report stands that is not at its place: in the message itself or in one of its objects.
fn misplaced(json: &Json, report: &ReportIn) -> Option<String> {
    let name = &**report.field();
    let members = json.as_object()?;
    if members.contains_key(name) {
        return Some(name.to_owned());
    }
    let inside = |(key, value): (&String, &Json)| value.get(name).map(|_| format!("{key}.{name}"));
    members.iter().find_map(inside)
}

/// What a value is, for a message.
pub(super) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// A field that carries a report, as clients are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportField {
    /// The type of message.
    pub on: Name,
    /// Where it stands, with dots.
    pub field: String,
}

/// What a server sends. Every reply to a message carries its `messageId`, if it had one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Reply {
    /// The first of all: what this server takes.
    Welcome {
        /// The bench's name.
        bench: Name,
        /// The fields that carry reports.
        report: Vec<ReportField>,
        /// `clear` or `keep`: what a message says that lacks its field.
        absent: &'static str,
        /// The most bytes of a message.
        message_bytes: usize,
        /// The most bytes of the body of a preview.
        body_bytes: usize,
        /// The most messages of a session that wait.
        queue: usize,
    },
    /// What the model is to be sent now.
    Request(Box<RequestReply>),
    /// The message waits for the answer to the request before it.
    Queued {
        /// The session.
        session_id: Arc<str>,
        /// The message.
        message_id: Option<Arc<str>>,
        /// How many messages wait, this one included.
        waiting: usize,
    },
    /// The answer was taken.
    Answered {
        /// The session.
        session_id: Arc<str>,
        /// The message.
        message_id: Option<Arc<str>>,
        /// The call that was answered.
        call: u32,
    },
    /// A report was taken.
    Reported {
        /// The session.
        session_id: Arc<str>,
        /// The message.
        message_id: Option<Arc<str>>,
        /// The characters of each field; none where it was cleared.
        characters: indexmap::IndexMap<Name, Option<usize>>,
    },
    /// The session has ended.
    Ended {
        /// The session.
        session_id: Arc<str>,
        /// The message.
        message_id: Option<Arc<str>>,
    },
    /// The message was taken before, and is not taken again.
    Duplicate {
        /// The session.
        session_id: Arc<str>,
        /// The message.
        message_id: Option<Arc<str>>,
    },
    /// The message named no session, so nothing was done.
    Ignored {
        /// The message.
        message_id: Option<Arc<str>>,
        /// Why.
        message: &'static str,
    },
    /// The message could not be taken.
    Error {
        /// The session, where it is known.
        session_id: Option<Arc<str>>,
        /// The message, where it is known.
        message_id: Option<Arc<str>>,
        /// For programs.
        code: &'static str,
        /// For people: one sentence, lower case, without a full stop.
        message: String,
    },
}

/// A request, ready to be sent to a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestReply {
    /// The session.
    pub session_id: Arc<str>,
    /// The message that began the turn.
    pub message_id: Option<Arc<str>>,
    /// The number of the call in its session, from 1.
    pub call: u32,
    /// The number of the turn, from 1.
    pub turn: u32,
    /// The model, as `provider:model`.
    pub model: Name,
    /// The system prompt; several blocks stand one behind the other.
    pub system: String,
    /// The conversation.
    pub messages: Vec<ChatMessage>,
    /// Every layer of the bench.
    pub layers: Vec<LayerReply>,
    /// What a reader should know: cuts, what could not be read.
    pub notes: Vec<NoteReply>,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChatMessage {
    /// `user`, `assistant`, `developer`, `system` or `tool`.
    pub role: Arc<str>,
    /// Its text.
    pub content: String,
}

/// A layer of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerReply {
    /// Its id.
    pub id: Name,
    /// What screens call it.
    pub title: Name,
    /// Its characters; none where it was left out.
    pub characters: Option<usize>,
    /// Why it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Something to know about a layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteReply {
    /// The layer.
    pub layer: Name,
    /// What.
    pub message: String,
}

impl Reply {
    /// An error that belongs to no session.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Reply {
        Reply::Error { session_id: None, message_id: None, code, message: message.into() }
    }

    /// The first reply of a connection.
    #[must_use]
    pub fn welcome(bench: &Bench) -> Reply {
        let report = bench.serve.report.iter();
        Reply::Welcome {
            bench: bench.name.clone(),
            report: report.map(|r| ReportField { on: r.on.clone(), field: r.path.join(".") }).collect(),
            absent: if bench.serve.absent == Absent::Keep { "keep" } else { "clear" },
            message_bytes: MESSAGE_BYTES,
            body_bytes: BODY_BYTES,
            queue: QUEUE,
        }
    }

    /// As it is sent.
    #[must_use]
    pub fn json(&self) -> String {
        // Every key is a text, so this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(absent: Absent) -> Serve {
        let report = |on: &str, path: &[&str]| ReportIn {
            on: on.into(),
            path: path.iter().map(|p| Name::from(*p)).collect(),
        };
        Serve {
            report: vec![report("send_message", &["data", "rules"]), report("report", &["rules"])],
            absent,
            preview: None,
        }
    }

    fn read(text: &str) -> Result<Incoming, Reply> {
        Incoming::read(text, &serve(Absent::Clear))
    }

    fn code(text: &str) -> &'static str {
        match read(text) {
            Err(Reply::Error { code, .. }) => code,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_message_is_read_with_its_report() {
        let text = r#"{"type":"send_message","sessionId":11,"messageId":"m1","data":{"content":"hi","rules":"R","localSkills":[]}}"#;
        let incoming = read(text).expect("a message");
        assert_eq!((incoming.kind, &*incoming.content), (Kind::Send, "hi"));
        assert_eq!(incoming.session, Some(SessionId("11".into())));
        assert_eq!(incoming.reports, [("rules".into(), Some("R".into()))]);
        let text = text.replace("11", "\"11\"");
        assert_eq!(read(&text).expect("a message").session, Some(SessionId("11".into())));
    }

    #[test]
    fn null_blank_and_by_choice_absent_fields_clear() {
        let cleared = [(Name::from("rules"), None)];
        for rules in ["\"rules\":null", "\"rules\":\" \\n\"", "\"other\":1"] {
            let text = format!(r#"{{"type":"report","sessionId":1,{rules}}}"#);
            assert_eq!(read(&text).expect("a message").reports, cleared, "{rules}");
        }
        let absent = r#"{"type":"report","sessionId":1}"#;
        assert_eq!(Incoming::read(absent, &serve(Absent::Keep)).expect("a message").reports, []);
        let null = r#"{"type":"report","sessionId":1,"rules":null}"#;
        assert_eq!(Incoming::read(null, &serve(Absent::Keep)).expect("a message").reports, cleared);
        // A kind of message without such a field says nothing about it.
        let answer = r#"{"type":"answer","sessionId":1,"data":{"content":""}}"#;
        assert_eq!(read(answer).expect("a message").reports, []);
    }

    #[test]
    fn what_is_wrong_is_told_by_a_code() {
        for (text, expected) in [
            ("", "malformed"),
            ("{", "malformed"),
            ("[]", "malformed"),
            ("7", "malformed"),
            (&"[".repeat(100_000), "malformed"),
            ("{}", "unknown_type"),
            (r#"{"type":"report","sessionId":1,"sessionId":2}"#, "malformed"),
            (r#"{"type":"report","sessionId":1,"data":[{"a":1,"\u0061":2}]}"#, "malformed"),
            (r#"{"type":"drop_table"}"#, "unknown_type"),
            (r#"{"type":7}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":[]}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":1.5}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":""}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":1}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":1,"data":[]}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":1,"data":{"content":null}}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":1,"data":{"content":"a","rules":7}}"#, "wrong_type"),
            (r#"{"type":"send_message","sessionId":1,"rules":"a","data":{"content":"a"}}"#, "misplaced"),
            (r#"{"type":"report","sessionId":1,"messageId":7}"#, "wrong_type"),
        ] {
            assert_eq!(code(text), expected, "{}", &text[..text.len().min(80)]);
        }
        let large = format!(r#"{{"type":"report","sessionId":1,"rules":"{}"}}"#, "x".repeat(MESSAGE_BYTES));
        assert_eq!(code(&large), "too_large");
        // An error names the message that it is about.
        let Err(Reply::Error { session_id, message_id, .. }) =
            read(r#"{"type":"answer","sessionId":1,"messageId":"m"}"#)
        else {
            panic!("no error")
        };
        assert_eq!((session_id.as_deref(), message_id.as_deref()), (Some("1"), Some("m")));
    }

    #[test]
    fn replies_are_objects_with_a_type() {
        let reply = Reply::Queued { session_id: "11".into(), message_id: None, waiting: 2 };
        assert_eq!(reply.json(), r#"{"type":"queued","sessionId":"11","messageId":null,"waiting":2}"#);
    }
}
