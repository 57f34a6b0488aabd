//! `table:`: rows chosen by a key.

use std::ops::Range;

use minijinja::value::{Value as Jinja, ValueKind};

use super::choice::{self, Choice};
use super::context::{self, Facts};
use super::render;
use super::{Failure, Scope};
use crate::core::bench::{Expression, Layer, Matching, Template};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Base, EventId, FactKey, FilePath, Lookup, Name, Reads, Rev, Value};
use crate::core::text::{Builder, Made, Traced};

/// A row: its keys and its text or template.
struct Row<'v> {
    keys: Vec<&'v str>,
    /// True for the row that is taken where none before it matched.
    otherwise: bool,
    text: Option<&'v str>,
    template: Option<&'v str>,
}

#[expect(clippy::too_many_arguments, reason = "the fields of one source and what every source needs")]
pub(super) fn text(
    layer: &Layer,
    rows: &FilePath,
    on: &Expression,
    matching: Matching,
    join: &Name,
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    choice: &mut Choice,
    reads: &mut Reads,
) -> Result<Traced, Failure> {
    let wanted = render::expression(on, scope.bench, scope.templates, facts, &[], true, reads)?;
    let key = FactKey::Data(rows.clone());
    let lookup = facts.look(&key);
    context::note_lookup(&key, &lookup, true, reads);
    let (data, rev, cause) = match lookup {
        Lookup::Ready(data, rev, cause) => (data, rev, cause),
        Lookup::Absent(_) => {
            return Err(Failure::failed(Diagnostic::error(format!("there is no table `{rows}`"))));
        }
        Lookup::Failed(reason, _) => {
            return Err(Failure::failed(
                Diagnostic::error(format!("the table `{rows}` cannot be read: {reason}"))
                    .in_file(rows.to_string()),
            ));
        }
        Lookup::Unknown => return Err(Failure::Needs(vec![key])),
    };
    let table = parse(&data, rows)?;
    let wanted = texts(&wanted);
    let mut chosen: Vec<&Row<'_>> = Vec::new();
    for row in &table {
        if row.otherwise && chosen.is_empty() {
            chosen.push(row);
            let (key, within) = ("otherwise".into(), wanted.join(", ").into());
            choice.rows.push(choice::Row { key, matched: "".into(), within, taken: true });
            continue;
        }
        let found = row.keys.iter().find_map(|key| {
            wanted.iter().find_map(|within| Some((*key, within, matched(key, within, matching)?)))
        });
        let Some((key, within, at)) = found else { continue };
        let taken = matching == Matching::All || chosen.is_empty();
        if taken {
            chosen.push(row);
        }
        let (matched, within) = (within[at].into(), within.as_str().into());
        choice.rows.push(choice::Row { key: key.into(), matched, within, taken });
    }
    if chosen.is_empty() {
        let what =
            if wanted.is_empty() { "nothing".to_owned() } else { format!("`{}`", wanted.join("`, `")) };
        return Err(Failure::Nothing(format!("no row of {rows} matches {what}")));
    }
    let mut builder = Builder::default();
    for (index, row) in chosen.iter().enumerate() {
        let glue = if index == 0 { "" } else { &**join };
        builder.append_as(&layer.id, glue, &row_text(layer, row, rows, (rev, cause), scope, facts, reads)?);
    }
    Ok(builder.finish())
}

fn row_text(
    layer: &Layer,
    row: &Row<'_>,
    rows: &FilePath,
    (rev, cause): (Rev, EventId),
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    reads: &mut Reads,
) -> Result<Traced, Failure> {
    match (row.text, row.template) {
        (_, Some(file)) => {
            let template = Template::File(FilePath::new(Base::Bench, file), layer.at);
            render::template(&layer.id, &template, scope, facts, &[], None, reads)
        }
        (text, None) => {
            let made = Made::Fact { key: FactKey::Data(rows.clone()), rev, placeholder: None };
            Ok(Traced::whole(layer.id.clone(), text.unwrap_or_default(), made, cause))
        }
    }
}

fn parse<'v>(data: &'v Value, file: &FilePath) -> Result<Vec<Row<'v>>, Failure> {
    let wrong = |what: String| {
        Failure::failed(Diagnostic::error(format!("{what} in the table `{file}`")).in_file(file.to_string()).hint(
            "a table is a map `key: text`, or a list of `{ match: key, text: ... }` with `template:` instead of `text:` where a file holds it; a row `{ otherwise: true, text: ... }` is taken where none before it matches",
        ))
    };
    match data {
        Value::Null => Ok(Vec::new()),
        Value::Map(map) => map
            .iter()
            .map(|(key, value)| match value.as_text() {
                Some(text) => Ok(Row { keys: vec![key], otherwise: false, text: Some(text), template: None }),
                None => Err(wrong(format!("the row `{key}` is not a text"))),
            })
            .collect(),
        Value::List(rows) => rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let otherwise = row.get("otherwise").is_some();
                let keys: Vec<&str> = match row.get("match") {
                    Some(Value::Text(key)) => vec![key],
                    Some(Value::List(keys)) => {
                        keys.iter().filter_map(|key| key.as_text().map(|k| &**k)).collect()
                    }
                    None if otherwise => Vec::new(),
                    _ => return Err(wrong(format!("row {} has no `match`", index + 1))),
                };
                let field = |name| row.get(name).and_then(Value::as_text).map(|text| &**text);
                let row = Row { keys, otherwise, text: field("text"), template: field("template") };
                if row.text.is_some() == row.template.is_some() {
                    return Err(wrong(format!(
                        "row {} needs exactly one of `text` and `template`",
                        index + 1
                    )));
                }
                Ok(row)
            })
            .collect(),
        _ => Err(wrong("there is neither a map nor a list".into())),
    }
}

fn texts(value: &Jinja) -> Vec<String> {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Vec::new(),
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter().map(|items| items.map(|item| item.to_string()).collect()).unwrap_or_default()
        }
        _ => vec![value.to_string()],
    }
}

/// The bytes of what is looked for that a row's key matches.
fn matched(key: &str, wanted: &str, matching: Matching) -> Option<Range<usize>> {
    let whole = 0..wanted.len();
    match matching {
        Matching::Exact => (key == wanted).then_some(whole),
        Matching::All => key.eq_ignore_ascii_case(wanted).then_some(whole),
        Matching::Substring => places(key, wanted).next(),
        Matching::TokenStart => places(key, wanted).find(|at| {
            let before = wanted[..at.start].chars().next_back();
            let behind = wanted[at.end..].chars().next();
            // `o3` begins a token in `openai/o3-mini` and in none of `turbo3` and `o3x`.
            before.is_none_or(|c| !c.is_alphanumeric()) && behind.is_none_or(|c| !c.is_alphabetic())
        }),
    }
}

/// Where a key stands in a text, without regard to ASCII case.
fn places(key: &str, text: &str) -> impl Iterator<Item = Range<usize>> {
    let (text, key) = (text.to_ascii_lowercase(), key.to_ascii_lowercase());
    let mut from = 0;
    std::iter::from_fn(move || {
        if key.is_empty() {
            return None;
        }
        let start = from + text[from..].find(&key)?;
        // The key may stand again one character further on.
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        Some(start..start + key.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(key: &str, wanted: &str, matching: Matching) -> bool {
        matched(key, wanted, matching).is_some()
    }

    #[test]
    fn keys_match_as_their_kind_says() {
        let wanted = "openai/GPT-4o";
        assert_eq!(matched("gpt", wanted, Matching::TokenStart), Some(7..10));
        assert!(!matches("pt-4o", wanted, Matching::TokenStart));
        assert!(matches("pt-4o", wanted, Matching::Substring));
        assert!(!matches("gpt-4o", wanted, Matching::Exact));
        assert!(matches("bash", "Bash", Matching::All));
        assert!(!matches("", wanted, Matching::Substring));
    }

    #[test]
    fn a_key_begins_a_token_and_ends_before_a_letter() {
        for (key, wanted) in
            [("o1", "o1-mini"), ("o3", "openai/o3"), ("abab", "abab6.5s"), ("qwen", "qwen2.5")]
        {
            assert!(matches(key, wanted, Matching::TokenStart), "{key} in {wanted}");
        }
        for (key, wanted) in [("o3", "turbo3"), ("o1", "solo1"), ("gpt", "gptx"), ("o4", "llama-3-pro4")] {
            assert!(!matches(key, wanted, Matching::TokenStart), "{key} in {wanted}");
        }
        // The second place counts where the first one does not.
        assert!(matches("o3", "turbo3-o3", Matching::TokenStart));
    }
}
