//! Requests and answers as lines of a log, and recorded text on a screen, without what these must not hold.
//!
//! What is taken out is what carries documents and files: values under the keys below, data URLs, long runs of base64,
//! and texts that call themselves protected; also inside of JSON that stands in a string.

use serde_json::Value;

use super::{Format, Request, body};
use crate::core::run::Answer;

/// What stands in the place of what was taken out.
pub const REDACTED: &str = "<REDACTED>";

/// Keys whose values are taken out, whatever they hold.
const KEYS: &[&str] = &[
    "attachment",
    "attachments",
    "blob",
    "body",
    "bytes",
    "chunks",
    "extracted_text",
    "file_data",
    "image_base64",
    "injected_content",
    "results",
    "source_material",
];

/// A text that holds this is taken out whole.
const PROTECTED: &str = "Protected KB source material for internal reasoning only";

/// From this many characters on, a run of base64 is a file and no word.
const BASE64: usize = 512;

/// The line of a request: `[LLM_REQUEST] {..}`.
#[must_use]
pub fn request_line(request: &Request, format: Format) -> String {
    format!("[LLM_REQUEST] {}", redacted(&body(request, format)))
}

/// The line of an answer: `[LLM_RESPONSE] {..}`.
#[must_use]
pub fn response_line(request: &Request, answer: &Answer) -> String {
    let (kind, said) = match answer {
        Answer::Said(text) => ("content", Value::from(&**text)),
        Answer::Tools(tools) => ("tool_calls", tools.iter().map(|tool| Value::from(&**tool)).collect()),
        Answer::Agent(role) => ("agent", Value::from(&**role)),
        Answer::Failed(reason) => ("error", Value::from(&**reason)),
        Answer::Sent => ("content", Value::Null),
    };
    let line = serde_json::json!({ "call": request.call.0, "model": &*request.model, kind: said });
    format!("[LLM_RESPONSE] {}", redacted(&line.to_string()))
}

/// JSON text without what a log must not hold. What is no JSON is taken for one text.
#[must_use]
pub fn redacted(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => clean(value).to_string(),
        Err(_) => Value::from(text(json)).to_string(),
    }
}

/// Recorded text for a screen: without what a log must not hold, words that may be keys among it, and without signs that
/// move a cursor.
#[must_use]
pub fn shown(recorded: &str) -> String {
    let secret = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let key = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+/=".contains(c));
        let mixed = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(|c| c.is_ascii_alphabetic());
        let known =
            ["sk-", "ghp_", "gho_", "xox", "AKIA", "eyJ", "glpat-"].iter().any(|head| word.starts_with(head));
        // Paths and names have words in them; keys have none.
        key && (known && word.len() >= 12 || mixed && word.len() >= 32 && !word.contains('/'))
    };
    let clean = text(recorded);
    let mut out = String::with_capacity(clean.len());
    for word in clean.split_inclusive([' ', '"', '\n']) {
        let bare = word.trim_end_matches([' ', '"', '\n']);
        if secret(bare) {
            out.push_str(REDACTED);
            out.push_str(&word[bare.len()..]);
        } else {
            out.push_str(word);
        }
    }
    out.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn clean(value: Value) -> Value {
    match value {
        Value::String(string) => Value::String(text(&string)),
        Value::Array(items) => items.into_iter().map(clean).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| {
                let taken = KEYS.contains(&key.to_ascii_lowercase().as_str());
                (key, if taken { Value::from(REDACTED) } else { clean(value) })
            })
            .collect(),
        other => other,
    }
}

/// A text without data URLs and long runs of base64; JSON in it is cleaned like any other.
fn text(string: &str) -> String {
    if string.contains(PROTECTED) {
        return REDACTED.to_owned();
    }
    let trimmed = string.trim_start();
    if trimmed.starts_with(['{', '['])
        && let Ok(inner) = serde_json::from_str::<Value>(string)
    {
        return clean(inner).to_string();
    }
    let mut out = String::with_capacity(string.len());
    let mut rest = string;
    while let Some((before, after)) = next_secret(rest) {
        out.push_str(before);
        out.push_str(REDACTED);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What stands in front of the first data URL or run of base64, and what stands behind it.
fn next_secret(text: &str) -> Option<(&str, &str)> {
    let of_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    let url = text.match_indices("data:").find_map(|(at, _)| {
        let rest = &text[at..];
        let comma = rest.find(',')?;
        // A media type, perhaps with parameters, and nothing else stands before the comma.
        let head = &rest["data:".len()..comma];
        let media = head.contains('/') || head.ends_with(";base64");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | ';' | '=' | '-' | '+' | '.');
        let data = &rest[comma + 1..];
        let len = data.find(|c: char| !of_base64(c) && !matches!(c, '%' | '.' | '~')).unwrap_or(data.len());
        (media && head.chars().all(plain)).then_some((at, at + comma + 1 + len))
    });
    let mut run = None;
    let mut start = 0;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if !of_base64(c) || at == text.len() {
            if at - start >= BASE64 {
                run = Some((start, at));
                break;
            }
            start = at + c.len_utf8();
        }
    }
    let (from, to) = [url, run].into_iter().flatten().min()?;
    Some((&text[..from], &text[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_carry_documents_are_taken_out_whatever_they_hold() {
        let told = redacted(
            r#"{"a":1,"chunks":[{"text":"secret"}],"n":{"Results":"secret","body":null},"attachments":5}"#,
        );
        assert_eq!(
            told,
            r#"{"a":1,"chunks":"<REDACTED>","n":{"Results":"<REDACTED>","body":"<REDACTED>"},"attachments":"<REDACTED>"}"#
        );
    }

    #[test]
    fn json_in_a_string_is_cleaned_too_at_any_depth() {
        let inner = serde_json::json!({ "mode": "x", "results": ["secret"] }).to_string();
        let outer =
            serde_json::json!({ "content": serde_json::json!({ "text": inner }).to_string() }).to_string();
        let told = redacted(&outer);
        assert!(!told.contains("secret") && told.contains("mode") && told.contains(REDACTED), "{told}");
    }

    #[test]
    fn data_urls_and_long_base64_go_and_words_stay() {
        let told = redacted(r#"{"t":"see data:image/png;base64,QUJD+/= and data: more, please"}"#);
        assert_eq!(told, r#"{"t":"see <REDACTED> and data: more, please"}"#);
        let long = "Ab1+".repeat(128);
        assert_eq!(redacted(&format!(r#"{{"t":"x {long} y"}}"#)), r#"{"t":"x <REDACTED> y"}"#);
        let short = "Ab1+".repeat(127);
        assert!(redacted(&format!(r#"{{"t":"x {short} y"}}"#)).contains(&short));
        assert_eq!(redacted(&format!("{{\"t\":\"中文 {PROTECTED}: 42\"}}")), r#"{"t":"<REDACTED>"}"#);
        assert_eq!(redacted("no JSON"), "\"no JSON\"");
    }

    #[test]
    fn keys_and_signs_that_move_the_cursor_are_not_shown() {
        assert_eq!(shown("token \"sk-ant-REDACTED\" -> \"x\""), "token \"<REDACTED>\" -> \"x\"");
        assert_eq!(shown("a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3 x"), "<REDACTED> x");
        let path = "/home/shop/api/2026-05-01-some-longer-path";
        assert_eq!(shown(path), path);
        assert_eq!(shown("see data:image/png;base64,QUJD+/= there"), "see <REDACTED> there");
        assert_eq!(shown("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }

    proptest::proptest! {
        #[test]
        fn text_without_secrets_stays_as_it_is(text in "[a-z你 .,:/{]{0,80}") {
            let json = serde_json::json!({ "t": text }).to_string();
            proptest::prop_assume!(!text.contains("data:") && !text.trim_start().starts_with('{'));
            proptest::prop_assert_eq!(redacted(&json), json);
        }
    }
}
