//! `table:`: rows chosen by a key.

use minijinja::value::{Value as Jinja, ValueKind};

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
    let chosen = table.iter().filter(|row| row.keys.iter().any(|key| matches(key, &wanted, matching)));
    let chosen: Vec<&Row<'_>> =
        if matching == Matching::All { chosen.collect() } else { chosen.take(1).collect() };
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
            "a table is a map `key: text`, or a list of `{ match: key, text: ... }` with `template:` instead of `text:` where a file holds it",
        ))
    };
    match data {
        Value::Null => Ok(Vec::new()),
        Value::Map(map) => map
            .iter()
            .map(|(key, value)| match value.as_text() {
                Some(text) => Ok(Row { keys: vec![key], text: Some(text), template: None }),
                None => Err(wrong(format!("the row `{key}` is not a text"))),
            })
            .collect(),
        Value::List(rows) => rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let keys: Vec<&str> = match row.get("match") {
                    Some(Value::Text(key)) => vec![key],
                    Some(Value::List(keys)) => {
                        keys.iter().filter_map(|key| key.as_text().map(|k| &**k)).collect()
                    }
                    _ => return Err(wrong(format!("row {} has no `match`", index + 1))),
                };
                let field = |name| row.get(name).and_then(Value::as_text).map(|text| &**text);
                let row = Row { keys, text: field("text"), template: field("template") };
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

fn matches(key: &str, wanted: &[String], matching: Matching) -> bool {
    wanted.iter().any(|wanted| match matching {
        Matching::Exact => key == wanted,
        Matching::All => key.eq_ignore_ascii_case(wanted),
        Matching::Substring => wanted.to_ascii_lowercase().contains(&key.to_ascii_lowercase()),
        Matching::TokenStart => {
            let (wanted, key) = (wanted.to_ascii_lowercase(), key.to_ascii_lowercase());
            !key.is_empty()
                && wanted.match_indices(&key).any(|(at, _)| {
                    at == 0
                        || wanted[..at].chars().next_back().is_some_and(|before| !before.is_alphanumeric())
                })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_match_as_their_kind_says() {
        let wanted = vec!["openai/GPT-4o".to_owned()];
        assert!(matches("gpt", &wanted, Matching::TokenStart));
        assert!(!matches("pt-4o", &wanted, Matching::TokenStart));
        assert!(matches("pt-4o", &wanted, Matching::Substring));
        assert!(!matches("gpt-4o", &wanted, Matching::Exact));
        assert!(matches("bash", &["Bash".into(), "todo".into()], Matching::All));
    }
}
