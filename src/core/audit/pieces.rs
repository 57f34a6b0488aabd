//! Where the pieces of a model call stand in a line of a log, and what is read from them.

use std::ops::Range;

use super::body::{Placed, list_key};
use super::time;
use super::walk::Fields;
use crate::core::wire::lossless::Json;
use crate::core::wire::{Document, Format};

/// Where the pieces of a call stand in a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pieces {
    /// The keys of the request's body from the top: `request.body`; empty where the line itself is it. None where the line
    /// holds no request.
    pub body: Option<&'static str>,
    /// The keys of a map in which the log keeps members of the body apart from the others: `model_parameters`.
    pub parameters: Option<&'static str>,
    /// The byte range of what was answered.
    pub answer: Option<Range<usize>>,
    /// Further places at which tokens are reported.
    pub usage: Option<Range<usize>>,
    /// True where an answer may come in a line of its own.
    pub apart: bool,
    /// When the request was sent, in milliseconds since the Unix epoch.
    pub at: Option<i64>,
    /// The session, where the log names it.
    pub session: Option<String>,
    /// The agent, where the log names it.
    pub agent: Option<String>,
    /// What joins a request and an answer that stand in two lines.
    pub id: Option<String>,
    /// The provider, where the log names it: `openai`.
    pub provider: Option<String>,
    /// The model, where the log knows better than the body.
    pub model: Option<String>,
    /// The format of the body, where the log tells, for instance by the address it was sent to.
    pub format: Option<Format>,
}

/// A kind of log: how its lines are told and where the pieces of a call stand in them.
pub trait Shape: Send + Sync {
    /// The word that stands for it on a command line and in JSON.
    fn word(&self) -> &'static str;

    /// What it is, in a few words.
    fn title(&self) -> &'static str;

    /// True where a line is one of this log.
    fn fits(&self, fields: &Fields, line: &[u8]) -> bool;

    /// The pieces of a line of this log; none for a line that is no call (an event, a summary).
    fn pieces(&self, fields: &Fields, line: &[u8]) -> Option<Pieces>;
}

/// Looks up values of a line, for those who know where they stand.
#[derive(Clone, Copy)]
pub struct Look<'l> {
    /// The fields.
    pub fields: &'l Fields,
    /// The line.
    pub line: &'l [u8],
}

impl<'l> Look<'l> {
    /// The spelled value with these keys.
    #[must_use]
    pub fn raw(&self, path: &str) -> Option<&'l str> {
        let field = self.fields.get(path)?;
        std::str::from_utf8(&self.line[field.range.clone()]).ok()
    }

    /// The text with these keys; none for anything else.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        let raw = self.raw(path)?;
        if !raw.starts_with('"') {
            return None;
        }
        Json::parse(raw).ok()?.as_text().map(|text| text.to_string())
    }

    /// The first of these texts that is there and not empty.
    #[must_use]
    pub fn first_text(&self, paths: &[&str]) -> Option<String> {
        paths.iter().find_map(|path| self.text(path).filter(|text| !text.is_empty()))
    }

    /// The first of these times that is there.
    #[must_use]
    pub fn first_time(&self, paths: &[&str]) -> Option<i64> {
        paths.iter().find_map(|path| {
            let raw = self.raw(path).filter(|raw| raw.len() < 64)?;
            time::read(&Json::parse(raw).ok()?, raw)
        })
    }

    /// The byte range of a value that is there and not `null`.
    #[must_use]
    pub fn range(&self, path: &str) -> Option<Range<usize>> {
        let range = self.fields.get(path)?.range.clone();
        (self.line.get(range.clone())? != b"null").then_some(range)
    }

    /// True where a body of a request stands under these keys.
    #[must_use]
    pub fn is_body(&self, prefix: &str) -> bool {
        // One byte is looked at, for a body may be long.
        let starts = |key: &str, with: &[u8]| {
            let field = self.fields.under(prefix, key);
            field.and_then(|field| self.line.get(field.range.start)).is_some_and(|byte| with.contains(byte))
        };
        starts("messages", b"[")
            || starts("contents", b"[")
            || starts("input", b"[\"") && self.fields.under(prefix, "model").is_some()
    }

    /// The session that a body names: in its metadata, or by the key for its cache.
    #[must_use]
    pub fn session_of(&self, prefix: &str) -> Option<String> {
        const LONG: usize = 8 << 10;
        let path = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        let metadata = self.raw(&path("metadata")).filter(|raw| raw.len() <= LONG);
        if let Some(metadata) = metadata
            && let Ok(json) = serde_json::from_str::<serde_json::Value>(metadata)
        {
            for key in ["session_id", "sessionId", "conversation_id", "thread_id", "litellm_session_id"] {
                if let Some(id) = json[key].as_str().filter(|id| !id.is_empty()) {
                    return Some(id.to_owned());
                }
            }
            if let Some(user) = json["user_id"].as_str() {
                // One text of several ids, or JSON in a text.
                if let Some((_, session)) = user.rsplit_once("session_") {
                    return Some(session.to_owned());
                }
                let inner: Option<serde_json::Value> = serde_json::from_str(user).ok();
                if let Some(id) = inner.as_ref().and_then(|inner| inner["session_id"].as_str()) {
                    return Some(id.to_owned());
                }
            }
        }
        self.text(&path("prompt_cache_key")).filter(|key| !key.is_empty())
    }
}

/// The format that an address is for.
#[must_use]
pub fn format_of_url(url: &str) -> Option<Format> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    [
        ("/chat/completions", Format::OpenaiChat),
        ("/responses", Format::OpenaiResponses),
        ("/messages", Format::Anthropic),
        (":generateContent", Format::Gemini),
        (":streamGenerateContent", Format::Gemini),
    ]
    .iter()
    .find(|(end, _)| path.ends_with(end))
    .map(|(_, format)| *format)
}

/// The format of a body by what stands in it. A body that is too long to be read twice is judged by its first and last
/// messages.
pub(super) fn detect(placed: Placed<'_>) -> Option<Format> {
    const MESSAGES: usize = 8;
    const VALUE: usize = 1 << 20;
    let mut text = String::from("{");
    let mut member = |key: &str, value: &str| {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&format!("\"{key}\":{value}"));
    };
    let dot = if placed.prefix.is_empty() { String::new() } else { format!("{}.", placed.prefix) };
    for field in &placed.fields.0 {
        let Some(key) = field.path.strip_prefix(&dot).filter(|key| !key.is_empty() && !key.contains('.'))
        else {
            continue;
        };
        if field.items.len() > 2 * MESSAGES {
            let (head, tail) = (&field.items[..MESSAGES], &field.items[field.items.len() - MESSAGES..]);
            let items: Vec<&str> = head.iter().chain(tail).map(|item| placed.raw(item)).collect();
            member(key, &format!("[{}]", items.join(",")));
        } else if field.range.len() <= VALUE || Format::ALL.iter().any(|format| list_key(*format) == key) {
            member(key, placed.raw(&field.range));
        }
    }
    text.push('}');
    Document::read(text).ok().map(|document| document.format)
}
