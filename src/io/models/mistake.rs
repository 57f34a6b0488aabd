//! What is wrong with a model file, in our words: what stands there, where, and what to write instead.

use crate::core::diagnostic::{Diagnostic, Position};
use crate::io::syntax::suggest;

/// What the YAML library says of a file.
pub(super) fn of_yaml(error: &serde_yaml::Error, name: &str, text: &str) -> Diagnostic {
    let error = error.without_snippet();
    // The library puts the place into the message; the diagnostic has it already.
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().trim_end_matches([':', ',']);
    let at = error.location().and_then(|at| {
        Some(Position { line: u32::try_from(at.line()).ok()?, column: u32::try_from(at.column()).ok()? })
    });
    let (message, hint) = told(message);
    let diagnostic = Diagnostic::error(message);
    let diagnostic = match at {
        Some(at) if at.line > 0 => diagnostic.at(name, text, at),
        _ => diagnostic.in_file(name),
    };
    match hint {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

fn told(message: &str) -> (String, Option<String>) {
    let quoted = |text: &str| text.split('`').nth(1).map(str::to_owned);
    let known = |text: &str| -> Vec<String> {
        let list = text.split_once("expected ").map_or("", |(_, list)| list);
        let list = list.strip_prefix("one of ").unwrap_or(list);
        list.split([',', ' '])
            .map(|word| word.trim_matches('`'))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if let (true, Some(word)) = (message.starts_with("unknown field"), quoted(message)) {
        let known = known(message);
        let hint = suggest::hint(&word, known.iter().map(String::as_str));
        return (format!("unknown key `{word}`"), hint);
    }
    if let (true, Some(word)) = (message.starts_with("unknown variant"), quoted(message)) {
        let known = known(message);
        let hint = suggest::hint(&word, known.iter().map(String::as_str));
        return (format!("`{word}` is none of the words that can stand here"), hint);
    }
    if let Some(key) = message.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or(key);
        return (
            format!("`{key}` stands here twice"),
            Some("put what is said of it into one place".to_owned()),
        );
    }
    if let (true, Some(key)) = (message.starts_with("missing field"), quoted(message)) {
        let hint = match key.as_str() {
            "value" => "a value is written with where it is from, or alone: { value: 128 }".to_owned(),
            key => format!("add `{key}: ..`"),
        };
        return (format!("`{key}` is missing"), Some(hint));
    }
    match message {
        "invalid u32" | "invalid i8" => (
            "a whole number that is not negative was expected".to_owned(),
            Some("write it without quotes, signs and commas: 4096".to_owned()),
        ),
        "invalid f64" => {
            ("a number was expected".to_owned(), Some("write it without quotes: 0.95".to_owned()))
        }
        "invalid bool" => ("`true` or `false` was expected".to_owned(), None),
        "expected mapping start" => (
            "a map was expected".to_owned(),
            Some("a value is written with where it is from, or alone: { value: 128 }".to_owned()),
        ),
        "expected sequence start" => {
            ("a list was expected".to_owned(), Some("a list is written as [ 300, 3600 ]".to_owned()))
        }
        other => (other.to_owned(), None),
    }
}

/// A mistake in what a file says of a model, at the word that the message quotes, where that stands in the model's part of
/// the file; else at the model's id.
pub(super) fn of_model(
    id: &str,
    (name, text): (&str, &str),
    message: &str,
    hint: Option<String>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!("model `{id}`: {message}"));
    let diagnostic = match text.find(id) {
        Some(at) => diagnostic.at(name, text, Position::of(text, word(text, at, id, message).unwrap_or(at))),
        None => diagnostic.in_file(name),
    };
    match hint {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// The byte at which a word that is quoted in a message stands behind the model's id, in its part of the file.
fn word(text: &str, at: usize, id: &str, message: &str) -> Option<usize> {
    let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
    let indent = text[start..].len() - text[start..].trim_start_matches(' ').len();
    let from = at + id.len();
    // Up to the next line that is not further in.
    let mut end = text.len();
    let mut line = text[from..].find('\n').map(|next| from + next + 1);
    while let Some(begin) = line {
        let rest = &text[begin..];
        let own = rest.len() - rest.trim_start_matches(' ').len();
        if own <= indent && !rest.trim_start().is_empty() && !rest.starts_with('\n') {
            end = begin;
            break;
        }
        line = rest.find('\n').map(|next| begin + next + 1);
    }
    let part = &text[from..end];
    let quoted = message.split('`').skip(1).step_by(2);
    quoted.filter(|word| !word.is_empty()).find_map(|word| {
        // A key is named with the keys around it.
        let last = word.rsplit('.').next().unwrap_or(word);
        part.find(word).or_else(|| part.find(last)).map(|found| from + found)
    })
}

/// What may have been meant by a profile or model that is not there.
pub(super) fn like<'a>(message: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let word = message.strip_prefix("there is no profile `")?.split('`').next()?;
    suggest::nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}
