//! A session into a snapshot: one file per pane, all reading the same call.

mod blocks;
mod calls;
mod caption;
mod differences;
mod fill;
mod layers;
mod places;
mod request;
pub(super) mod verdict;
mod why;

pub use blocks::blocks;
pub use calls::{lead_words, run_size, table as call_table};
pub use caption::caption;
pub use differences::blocks as diff_blocks;
pub use fill::{Filled, fill};
pub use layers::table as layer_table;
pub use places::places;
pub use request::{author, plain_block, title, view as request_view};
pub use verdict::verdict;
pub use why::{compaction, why};

use std::sync::Arc;

use crate::core::bench::{Bench, PlaceKind};
use crate::core::fact::Name;
use crate::core::fact::Value;
use crate::core::run::{CallRecord, Session};
use crate::core::tokens::Measure;
use crate::core::wire::{CallNo, Request};

/// One call, with everything the panes need to describe it.
pub struct Shown<'a> {
    /// The session.
    pub session: &'a Session,
    /// The call.
    pub record: &'a CallRecord,
    /// What it was or would be sent.
    pub request: &'a Request,
    /// What the same conversation was sent before.
    pub before: Option<(&'a CallRecord, &'a Request)>,
}

/// Counts, if the vocabulary is loaded.
pub type Counter<'a> = Option<&'a mut dyn Measure>;

/// The record of a call, sent or prepared.
#[must_use]
pub fn record(session: &Session, call: CallNo) -> Option<&CallRecord> {
    session
        .prepared()
        .filter(|prepared| prepared.call == call)
        .or_else(|| session.calls().get((call.0 as usize).checked_sub(1)?).map(|record| &**record))
}

/// The call before `record` in its conversation that was really sent.
#[must_use]
pub fn before<'s>(session: &'s Session, record: &CallRecord) -> Option<&'s CallRecord> {
    let calls = session.calls();
    let end = (record.call.0 as usize).saturating_sub(1).min(calls.len());
    let sent = |call: &&Arc<CallRecord>| {
        call.agent == record.agent && !matches!(call.answer, Some(crate::core::run::Answer::Failed(_)))
    };
    calls[..end].iter().rev().find(sent).map(|record| &**record)
}

/// What screens call a part: a layer's shown name (its id where another layer is shown by the same name), else the
/// part's own.
#[must_use]
pub fn shown_name(bench: &Bench, part: &Name) -> Name {
    let Some(layer) = bench.layer(part) else { return part.clone() };
    let shown = layer.shown();
    let first = bench.layers.iter().find(|other| other.shown() == shown);
    if first.is_some_and(|first| first.id == layer.id) { shown.clone() } else { layer.id.clone() }
}

/// What screens call a sub-agent: its id without the main agent's in front; none for the main agent.
#[must_use]
pub fn sub_agent(bench: &Bench, agent: &Name) -> Option<Name> {
    let main = bench.agent.get("id").and_then(|id| id.as_text().cloned()).unwrap_or_else(|| "main".into());
    (*agent != main).then(|| {
        agent
            .strip_prefix(&*main)
            .and_then(|rest| rest.strip_prefix('/'))
            .map_or_else(|| agent.clone(), Name::from)
    })
}

/// True for a layer whose text goes into messages other than what the user says: an injector.
#[must_use]
pub fn is_injector(bench: &Bench, part: &Name) -> bool {
    bench
        .layer(part)
        .and_then(|layer| bench.places.get(&layer.place))
        .is_some_and(|place| matches!(place.kind, PlaceKind::NewestTool | PlaceKind::Message { .. }))
}

/// A short form of a text for one line.
#[must_use]
pub fn one_line(text: &str, chars: usize) -> String {
    let mut flat = String::new();
    let mut count = 0;
    // One character more than there is room for is enough: the text may be long.
    for word in text.split_whitespace() {
        if count > chars {
            break;
        }
        if !flat.is_empty() {
            flat.push(' ');
            count += 1;
        }
        for c in word.chars().take(chars + 1) {
            flat.push(c);
            count += 1;
        }
    }
    match flat.char_indices().nth(chars) {
        Some((end, _)) => format!("{} ..", flat[..end].trim_end()),
        None => flat,
    }
}

/// The text of a value in a short form for one line, where an empty one is seen.
#[must_use]
pub fn shown_text(text: &str, chars: usize) -> String {
    if text.is_empty() { "(empty)".to_owned() } else { one_line(text, chars) }
}

/// A value in a short form for one line.
#[must_use]
pub fn value_in_short(value: &Value, chars: usize) -> String {
    match value {
        // Without a copy of the whole of it.
        Value::Text(text) => one_line(text, chars),
        Value::File(file) => one_line(&file.text, chars),
        value => one_line(&value.to_string(), chars),
    }
}

#[cfg(test)]
mod short {
    use super::*;

    #[test]
    fn a_text_on_one_line_is_cut_where_there_is_no_more_room() {
        for (text, chars, shown) in [
            ("", 4, ""),
            ("  a\n b ", 4, "a b"),
            ("abcd", 4, "abcd"),
            ("abcde", 4, "abcd .."),
            ("ab cde", 4, "ab c .."),
            ("abc  de", 4, "abc .."),
            ("你好 世界", 5, "你好 世界"),
            ("你好 世界们", 5, "你好 世界 .."),
        ] {
            assert_eq!(one_line(text, chars), shown, "{text:?} in {chars}");
        }
        assert_eq!(value_in_short(&Value::text("a\nb"), 9), "a b");
        assert_eq!(value_in_short(&Value::Int(3), 9), "3");
    }
}
