//! Values as they are meant, and as they are written.

use std::sync::Arc;

use crate::core::diagnostic::Position;
use crate::core::fact::{Name, Value};
use crate::io::syntax::node::{Entry, Kind, Node, Style};
use crate::io::syntax::quote::{hidden, quoted};
use crate::io::syntax::{parse, plain_kind, yaml};

fn node(kind: Kind, text: &str) -> Node {
    Node { kind, at: Position::START, byte: 0, text: text.into(), style: Style::Plain }
}

/// A text.
pub(super) fn text(text: &str) -> Node {
    node(Kind::Text, text)
}

/// A whole number.
pub(super) fn int(number: i64) -> Node {
    node(Kind::Int(number), &number.to_string())
}

/// What a text without quotes stands for.
pub(super) fn plain(text: &str) -> Node {
    node(plain_kind(text), text)
}

/// A sequence.
pub(super) fn seq(items: impl IntoIterator<Item = Node>) -> Node {
    node(Kind::Seq(items.into_iter().map(Arc::new).collect()), "")
}

/// A map.
pub(super) fn map<K: Into<Name>>(entries: impl IntoIterator<Item = (K, Node)>) -> Node {
    let entry = |(key, value): (K, Node)| entry(key, Arc::new(value));
    node(Kind::Map(entries.into_iter().map(entry).collect()), "")
}

/// An entry of a map.
pub(super) fn entry(key: impl Into<Name>, value: Arc<Node>) -> Entry {
    Entry { key: key.into(), at: Position::START, value }
}

/// A fact's value as a node; none for a file, which no bench can hold.
pub(super) fn of(value: &Value) -> Option<Node> {
    Some(match value {
        Value::Null => node(Kind::Null, "null"),
        Value::Bool(b) => node(Kind::Bool(*b), if *b { "true" } else { "false" }),
        Value::Int(n) => int(*n),
        Value::Float(n) => node(Kind::Float(*n), &format!("{n:?}")),
        Value::Text(t) => text(t),
        Value::List(items) => seq(items.iter().map(of).collect::<Option<Vec<_>>>()?),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| Some((key.clone(), of(value)?)));
            map(entries.collect::<Option<Vec<_>>>()?)
        }
        Value::File(_) => return None,
    })
}

/// True for two values that mean the same, wherever and however they are written.
pub(super) fn same(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Seq(a), Kind::Seq(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Kind::Map(a), Kind::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        (Kind::Text, Kind::Text) => a.text == b.text,
        (a, b) => a == b,
    }
}

/// A value on one line, as it can stand anywhere: collections in brackets.
pub(super) fn written(value: &Node, in_flow: bool) -> String {
    match &value.kind {
        Kind::Seq(items) if items.is_empty() => "[]".to_owned(),
        Kind::Seq(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, true)).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Kind::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|entry| format!("{}: {}", scalar(&entry.key, true), written(&entry.value, true)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Kind::Text => scalar(&value.text, in_flow),
        _ => value.text.to_string(),
    }
}

/// What is no longer than this many bytes stands on one line.
const ONE_LINE: usize = 96;

/// A list as people write longer ones, behind a key in `column`: an item a line, texts of several lines as blocks; inside of
/// an item, on one line what is short. So is the list in the maps that stand around it. Begins with a space or a line end.
pub(super) fn laid(value: &Node, column: usize, eol: &str) -> String {
    lay(value, column, eol, true)
}

/// The same; `outer` for the list itself, which stands on lines of its own however short it is.
fn lay(value: &Node, column: usize, eol: &str, outer: bool) -> String {
    let line = written(value, false);
    let inside = " ".repeat(column + 2);
    let fits = !outer && fits(value, &line);
    match &value.kind {
        Kind::Text => match yaml::block(&value.text, column + 2) {
            Some(block) => format!(" {}", block.replace('\n', eol)),
            None => format!(" {line}"),
        },
        Kind::Seq(items) if !items.is_empty() && !fits => items.iter().fold(String::new(), |out, item| {
            let mut item = laid_item(item, column + 4, eol);
            if let Some(rest) = item.strip_prefix(' ') {
                item = rest.to_owned();
            }
            format!("{out}{eol}{inside}- {item}")
        }),
        Kind::Map(entries) if !entries.is_empty() && !fits => {
            entries.iter().fold(String::new(), |out, entry| {
                format!(
                    "{out}{eol}{inside}{}:{}",
                    scalar(&entry.key, true),
                    lay(&entry.value, column + 2, eol, outer)
                )
            })
        }
        _ => format!(" {line}"),
    }
}

/// An item of a list, its first line without what stands in front of it.
fn laid_item(item: &Node, column: usize, eol: &str) -> String {
    let Kind::Map(entries) = &item.kind else { return lay(item, column, eol, false) };
    if entries.is_empty() {
        return written(item, false);
    }
    let entries: Vec<String> = entries
        .iter()
        .map(|entry| format!("{}:{}", scalar(&entry.key, true), lay(&entry.value, column, eol, false)))
        .collect();
    entries.join(&format!("{eol}{}", " ".repeat(column)))
}

/// True for a collection that reads well on one line: a short one, without a text that has lines of its own, and a list of
/// maps only where each of them says one thing.
fn fits(value: &Node, line: &str) -> bool {
    fn plain(value: &Node) -> bool {
        match &value.kind {
            Kind::Seq(items) => items.iter().all(|item| plain(item)),
            Kind::Map(entries) => entries.iter().all(|entry| plain(&entry.value)),
            _ => !value.text.contains('\n'),
        }
    }
    let several = |item: &Arc<Node>| matches!(&item.kind, Kind::Map(entries) if entries.len() > 1);
    let list = matches!(&value.kind, Kind::Seq(items) if items.iter().any(several));
    line.len() <= ONE_LINE && plain(value) && !list
}

/// The same in a style that the place had before, where the value can be written in it.
pub(super) fn written_as(value: &Node, style: Style, in_flow: bool) -> String {
    match (&value.kind, style) {
        (Kind::Text, Style::Single) if !value.text.chars().any(hidden) => {
            format!("'{}'", value.text.replace('\'', "''"))
        }
        (Kind::Text, Style::Double) => quoted(&value.text),
        _ => written(value, in_flow),
    }
}

/// A text, in quotes only where it needs them.
fn scalar(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) { text.to_owned() } else { quoted(text) }
}

/// True for a text that YAML reads as this text without quotes.
fn is_plain(text: &str, in_flow: bool) -> bool {
    const FIRST: &str = "-?:,[]{}#&*!|>'\"%@`";
    plain_kind(text) == Kind::Text
        && text.trim() == text
        && !text.starts_with(|c| FIRST.contains(c))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.starts_with("...")
        && !text.chars().any(hidden)
        && !(in_flow && text.contains([',', '[', ']', '{', '}']))
}

/// A value as a person types it on one line: as a bench would write it, in quotes only where it needs them.
#[must_use]
pub fn written_on_one_line(value: &Value) -> String {
    of(value).map_or_else(|| value.to_string(), |node| written(&node, false))
}

/// The value that was typed: what stands in quotes, brackets or braces as YAML reads it; a number, `true`, `false` or
/// `null` as such; anything else as the text that it is.
///
/// # Errors
///
/// Where quotes or brackets do not end: one sentence, lower case, without a full stop.
pub fn typed(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if text.starts_with(['"', '\'', '[', '{']) {
        let name: Name = "what was typed".into();
        let root = parse(&name, &format!("v: {text}")).map_err(|problems| {
            problems.first().map_or_else(|| "it cannot be read".to_owned(), |problem| problem.message.clone())
        })?;
        return match root.entries() {
            [only] => Ok(only.value.value()),
            _ => Err("it is more than one value".to_owned()),
        };
    }
    Ok(plain(text).value())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_get_quotes_only_where_they_need_them() {
        for (value, flow, block) in [
            ("openai:gpt-5.4", "openai:gpt-5.4", "openai:gpt-5.4"),
            ("false", "\"false\"", "\"false\""),
            ("12", "\"12\"", "\"12\""),
            ("", "\"\"", "\"\""),
            ("a, b", "\"a, b\"", "a, b"),
            ("a: b", "\"a: b\"", "\"a: b\""),
            ("你好 世界", "你好 世界", "你好 世界"),
            ("x\ny\u{1}", "\"x\\ny\\u0001\"", "\"x\\ny\\u0001\""),
        ] {
            assert_eq!((&*written(&text(value), true), &*written(&text(value), false)), (flow, block));
        }
        assert_eq!(written_as(&text("it's"), Style::Single, true), "'it''s'");
        let list = map([("change", seq([text("cwd")])), ("since", text("built"))]);
        assert_eq!(written(&list, false), "{ change: [cwd], since: built }");
    }

    #[test]
    fn what_is_typed_is_what_a_bench_would_say() {
        for (text, value) in [
            ("calm", Value::text("calm")),
            (" a: b # c ", Value::text("a: b # c")),
            ("\"a\\nb\"", Value::text("a\nb")),
            ("3", Value::Int(3)),
            ("\"3\"", Value::text("3")),
            ("true", Value::Bool(true)),
            ("", Value::Null),
            ("''", Value::text("")),
            ("[a, 1]", Value::list([Value::text("a"), Value::Int(1)])),
            ("{ a: b }", Value::map([("a", Value::text("b"))])),
        ] {
            assert_eq!(typed(text), Ok(value.clone()), "{text}");
            assert_eq!(typed(&written_on_one_line(&value)), Ok(value), "{text}");
        }
        for text in ["\"a", "[a", "[a] b", "{ a: 1 } }", "\"a\"\nb: c"] {
            assert!(typed(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_it_is_meant(
            value in "[a-c0-9 :,#'\"\\\\{}\\[\\]|>&*!%@`?.\n\r\t\u{1}\u{85}\u{fffe}\u{ffff}你🙂-]{0,12}", in_flow: bool, style in 0usize..3,
        ) {
            let style = [Style::Plain, Style::Single, Style::Double][style];
            let shown = written_as(&text(&value), style, in_flow);
            let file = if in_flow { format!("{{ a: {shown}, b: [{shown}] }}") } else { format!("a: {shown}\nb: 1\n") };
            let root = parse(&"x.yaml".into(), &file).map_err(|p| TestCaseError::fail(format!("{file}: {}", p[0])))?;
            prop_assert!(same(root.get("a").expect("a"), &text(&value)), "{}", file);
        }
    }
}
