//! Pane 4: what changed, who told the model, what still says the old value.

use std::sync::Arc;

use super::{Shown, shown_name, shown_text};
use crate::app::effect::TextPlace;
use crate::app::snapshot::{Belief, Change, Pending, Why};
use crate::app::views::Spot;
use crate::core::bench::Bench;
use crate::core::cache::Written;
use crate::core::fact::{FactKey, Name};
use crate::core::run::{self, Changed, Compacted, Input, Near, Told};
use crate::core::text::number::grouped;
use crate::core::text::{Made, Part, Traced};
use crate::core::wire::Block;

/// How many changes are shown; what lies further back is in the log.
const CHANGES: usize = 3;

/// The pane, without the other ways, which take a run of their own.
#[must_use]
pub fn why(shown: &Shown<'_>) -> Why {
    let session = shown.session;
    let record = shown.record;
    let mine = |changed: &&Changed| {
        session.event(changed.event).before <= record.call
            && changed.agent.as_ref().is_none_or(|agent| *agent == record.agent)
    };
    let mut seen: Vec<&FactKey> = Vec::new();
    let mut changes = Vec::new();
    for changed in session.changes().iter().rev().filter(mine) {
        if !seen.contains(&&changed.key) && reaches(shown, &changed.key) {
            seen.push(&changed.key);
            changes.push(change(shown, changed));
        }
    }
    // What is told or believed wrongly comes first: the rest is history.
    changes.sort_by_key(|change| change.belief == Belief::Right && change.told.is_empty());
    changes.truncate(CHANGES);
    let pending = record
        .injected
        .iter()
        .filter(|injected| record.answer.is_none() && is_change(shown, &injected.layer))
        .map(|injected| Pending {
            layer: shown_name(session.bench(), &injected.layer),
            waits: format!("goes into message {} with call {}", injected.into.0, record.call.0).into(),
            text: injected.text.text().clone(),
            at: Some(Spot {
                author: injected.layer.clone(),
                message: Some(injected.into),
                ..Spot::default()
            }),
        });
    let waiting = record.pending.iter().map(|pending| Pending {
        layer: shown_name(session.bench(), &pending.layer),
        waits: format!("waits for {}", pending.waits_for).into(),
        text: pending.text.text().clone(),
        at: None,
    });
    let pending: Vec<Pending> = pending.chain(waiting).collect();
    // What a run does to files, tools and models is no fact that changed: the verdict tells of it.
    let happened = session.inputs().iter().take(record.inputs).any(|input| {
        matches!(
            **input,
            Input::Write { .. }
                | Input::Delete(_)
                | Input::Model(_)
                | Input::Params(_)
                | Input::Tools(_)
                | Input::ContextEdit { .. }
                | Input::Compact(_)
                | Input::Session(_)
        )
    });
    // A file that a tool wrote is no input of its own.
    let happened = happened || record.compacted.is_some() || session.written(record.call).next().is_some();
    let mut notes = if changes.is_empty() && !happened {
        vec![Arc::from("Nothing has changed since the opening.")]
    } else {
        Vec::new()
    };
    notes.extend(record.compacted.iter().flat_map(|compacted| compaction(session.bench(), compacted)));
    Why { changes, pending, ways: crate::app::snapshot::Ways::default(), notes }
}

/// What a compaction took, and what is left of it elsewhere: a sentence a line.
#[must_use]
pub fn compaction(bench: &Bench, compacted: &Compacted) -> Vec<Arc<str>> {
    let mut lines = Vec::new();
    let messages = match compacted.left.len() {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    };
    lines.push(match compacted.near {
        Some(Near { tokens, window, at }) => format!(
            "Compaction: the request had come to {} of {} tokens ({at} % are allowed). Summed up: {messages}.",
            grouped(tokens),
            grouped(window),
        ),
        None => format!("Compaction, asked for. Summed up: {messages}."),
    });
    for survivor in &compacted.survives {
        let names: Vec<&str> =
            survivor.layers.iter().map(|id| bench.layer(id).map_or(&**id, |l| &**l.shown())).collect();
        lines.push(match names.is_empty() {
            true => format!("On disk, and no layer says it: {}", survivor.path),
            false => {
                format!("Survives, since it was written down: {} -> {}", survivor.path, names.join(", "))
            }
        });
    }
    let said: Vec<String> = compacted.said.iter().map(|id| id.0.to_string()).collect();
    if !said.is_empty() {
        lines.push(format!(
            "Lost but for the summary: what was only said, in {} {}.",
            if said.len() == 1 { "message" } else { "messages" },
            said.join(", ")
        ));
    }
    lines.into_iter().map(Arc::from).collect()
}

fn is_change(shown: &Shown<'_>, layer: &Name) -> bool {
    shown
        .session
        .bench()
        .layer(layer)
        .is_some_and(|layer| matches!(layer.refresh, crate::core::bench::Refresh::Change { .. }))
}

/// True for what some layer of the request reads, or the bench counts beliefs of.
fn reaches(shown: &Shown<'_>, key: &FactKey) -> bool {
    let told = match key {
        FactKey::Named(name) => shown.session.bench().told_facts().contains(name),
        _ => false,
    };
    told || shown.record.layers.iter().any(|layer| layer.state.reads.0.contains_key(key))
}

fn change(shown: &Shown<'_>, changed: &Changed) -> Change {
    let session = shown.session;
    let event = session.event(changed.event);
    let what: Arc<str> = match &changed.key {
        FactKey::Named(name) if &**name == "cwd" => "CWD".into(),
        key => key.to_string().into(),
    };
    let told = match &changed.key {
        FactKey::Named(name) => shown.record.told.iter().find(|told| told.fact == *name),
        _ => None,
    };
    let (belief, belief_words) = match told {
        Some(told) => belief(shown, told),
        None => (Belief::Right, "".into()),
    };
    let (told_lines, told_at) = told_by(shown, changed, told).into_iter().unzip();
    let (still_old, old_at) = still_old(shown, changed, told).into_iter().unzip();
    Change {
        what,
        old: shown_text(&changed.old, 60).into(),
        new: shown_text(&changed.new, 60).into(),
        by: event.label.clone(),
        told: told_lines,
        still_old,
        told_at,
        old_at,
        belief,
        belief_words,
    }
}

fn belief(shown: &Shown<'_>, told: &Told) -> (Belief, Arc<str>) {
    match told.belief {
        run::Belief::Right => (Belief::Right, "".into()),
        run::Belief::Superseded => {
            let place = told
                .last
                .as_ref()
                .and_then(|last| last_block(shown, last))
                .map_or_else(String::new, |(block, _)| format!(" by {}", place(block)));
            (Belief::Superseded, format!("superseded{place}, not stale").into())
        }
        run::Belief::Stale => {
            (Belief::Stale, format!("stale: the last word on {} is wrong", told.fact).into())
        }
        run::Belief::Untold => {
            (Belief::Untold, format!("untold: no word on {} in this request", told.fact).into())
        }
    }
}

fn place(block: &Block) -> String {
    match block.message {
        Some(message) => format!("message {}", message.0),
        None => "the system prompt".into(),
    }
}

/// The last block in which a layer writes, with its part.
fn last_block<'s>(shown: &Shown<'s>, layer: &Name) -> Option<(&'s Block, &'s Part)> {
    shown
        .request
        .blocks
        .iter()
        .rev()
        .find_map(|block| Some((&**block, block.text.parts().iter().rev().find(|part| part.id == *layer)?)))
}

fn told_by(shown: &Shown<'_>, changed: &Changed, told: Option<&Told>) -> Vec<(Arc<str>, Spot)> {
    let bench = shown.session.bench();
    let layers: Vec<Name> = match told {
        Some(told) if told.belief != run::Belief::Stale => told.last.iter().cloned().collect(),
        Some(_) => Vec::new(),
        None => shown
            .record
            .layers
            .iter()
            .filter(|layer| {
                layer.state.reads.0.contains_key(&changed.key)
                    && !layer.old.contains(&changed.key)
                    && layer.state.piece.text().is_some()
            })
            .map(|layer| layer.id.clone())
            .collect(),
    };
    layers
        .iter()
        .map(|layer| {
            let name = shown_name(bench, layer);
            let block = last_block(shown, layer);
            let message = block.and_then(|(block, _)| block.message);
            let spot = Spot { author: layer.clone(), message, ..Spot::default() };
            let words = match block {
                Some((block, _)) if block.message.is_some() => {
                    let calls =
                        shown.session.calls().iter().map(|call| &**call).chain(shown.session.prepared());
                    let call =
                        calls.filter(|c| c.call <= shown.record.call && c.agent == shown.record.agent).rfind(
                            |c| c.injected.iter().any(|i| i.layer == *layer && Some(i.into) == block.message),
                        );
                    let call = call.map_or(String::new(), |call| format!("call {}, ", call.call.0));
                    format!("{name}, {call}{}", place(block)).into()
                }
                _ => name,
            };
            (words, spot)
        })
        .collect()
}

fn still_old(shown: &Shown<'_>, changed: &Changed, told: Option<&Told>) -> Vec<(Arc<str>, Spot)> {
    let bench = shown.session.bench();
    let layers: Vec<Name> = match told {
        Some(told) => told.old.clone(),
        None => shown
            .record
            .layers
            .iter()
            .filter(|layer| layer.old.contains(&changed.key))
            .map(|layer| layer.id.clone())
            .collect(),
    };
    layers
        .iter()
        .map(|layer| {
            let name = shown_name(bench, layer);
            let at = shown.request.blocks.iter().find_map(|block| {
                let part = block.text.parts().iter().find(|part| part.id == *layer)?;
                placeholder(&block.text, part, &changed.key)
            });
            let mut spot = Spot { author: layer.clone(), ..Spot::default() };
            match at {
                Some(Written { file, at, .. }) => {
                    let words = format!("{name}, {file}:{at}");
                    spot.text = Some(TextPlace::Named(file, at));
                    (words.into(), spot)
                }
                None => (name, spot),
            }
        })
        .collect()
}

/// The file position of the placeholder through which a part shows a fact.
fn placeholder(text: &Traced, part: &Part, key: &FactKey) -> Option<Written> {
    let mut spans = text.ranges().filter(|(range, _)| range.start >= part.start && range.end <= part.end);
    let shows =
        |made: &Made| matches!(made, Made::Fact { key: fact, placeholder: Some(_), .. } if fact == key);
    let (_, span) = spans.find(|(_, span)| shows(&span.origin.made))?;
    Written::of(&span.origin, 0)
}
