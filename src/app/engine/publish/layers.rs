//! Pane 1: the layers of the shown call.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Counter, Shown};
use crate::app::snapshot::{ByteOrder, LayerRow, LayerTable, Now, ReadRow, SourceAt, TotalRow};
use crate::core::bench::{Bench, Layer, LayerSource, PlaceKind, Refresh, Template, ToolEffect};
use crate::core::compose;
use crate::core::fact::{Base, FactKey, Name, Reads};
use crate::core::run::{Input, LayerState};
use crate::core::source::Piece;
use crate::core::text::Traced;
use crate::core::wire::{Block, Zone};

/// The table. Tokens are in context: T(end) - T(start) of a part in its block, so that they add up to the total.
#[must_use]
pub fn table(shown: &Shown<'_>, mut counter: Counter<'_>) -> LayerTable {
    let bench = shown.session.bench();
    let tokens = in_context(shown, &mut counter);
    let total = counter.as_mut().map(|counter| {
        shown.request.blocks.iter().map(|block| u64::from(counter.tokens(block.text.text()))).sum::<u64>()
    });
    let mut rows = Vec::new();
    if let Some(row) = tools_row(shown, tokens.get("\0tools").copied()) {
        rows.push(row);
    }
    let order = byte_rows(bench, shown);
    for (index, byte) in order {
        let layer = &bench.layers[index];
        let mut row = layer_row(shown, layer, byte, &mut counter);
        row.tokens =
            if counter.is_some() { Some(tokens.get(&*layer.id).copied().unwrap_or(0)) } else { None };
        rows.push(row);
    }
    runs_and_crossings(bench, &mut rows);
    if let Some(row) =
        conversation_row(shown, bench, tokens.get("\0rest").copied().or(counter.as_ref().map(|_| 0)))
    {
        let at = rows.iter().position(|row| !row.included).unwrap_or(rows.len());
        rows.insert(at, row);
    }
    if let Some(total) = total.filter(|total| *total > 0) {
        for row in &mut rows {
            row.share = row.tokens.map(|tokens| tokens as f64 / total as f64);
        }
    }
    let chars: u64 = shown.request.blocks.iter().map(|block| block.text.text().chars().count() as u64).sum();
    let parts: u64 = rows.iter().map(|row| row.chars).sum();
    LayerTable {
        rows,
        total: Some(TotalRow {
            label: format!("total, call {}", shown.record.call.0).into(),
            chars,
            joins: chars.saturating_sub(parts),
            tokens: total,
        }),
    }
}

/// Tokens in context by layer; `\0tools` for the tools and `\0rest` for what no layer wrote.
fn in_context(shown: &Shown<'_>, counter: &mut Counter<'_>) -> BTreeMap<String, u64> {
    let mut tokens: BTreeMap<String, u64> = BTreeMap::new();
    let Some(counter) = counter.as_mut() else { return tokens };
    let bench = shown.session.bench();
    for block in &shown.request.blocks {
        let text = block.text.text();
        for part in block.text.parts() {
            let key = match block.kind.zone() {
                Zone::Tools => "\0tools",
                _ if bench.layer(&part.id).is_some() => &*part.id,
                _ => "\0rest",
            };
            let end = if part.end == text.len() {
                counter.tokens(text)
            } else {
                counter.tokens_before(text, part.end)
            };
            let count = end - counter.tokens_before(text, part.start);
            *tokens.entry(key.to_owned()).or_default() += u64::from(count);
        }
    }
    tokens
}

fn tools_row(shown: &Shown<'_>, tokens: Option<u64>) -> Option<LayerRow> {
    let blocks = shown.request.zone(Zone::Tools);
    if blocks.is_empty() {
        return None;
    }
    let size = |count: fn(&str) -> u64| blocks.iter().map(|block| count(block.text.text())).sum();
    let same = shown.before.is_none_or(|(_, before)| {
        let old = before.zone(Zone::Tools);
        old.len() == blocks.len() && old.iter().zip(blocks).all(|(a, b)| a.hash == b.hash)
    });
    let chars: u64 = size(|text| text.chars().count() as u64);
    let now = match shown.before {
        None => Now::New,
        Some(_) if same => Now::Same,
        Some((_, before)) => {
            let old: u64 =
                before.zone(Zone::Tools).iter().map(|block| block.text.text().chars().count() as u64).sum();
            Now::Changed(chars as i64 - old as i64)
        }
    };
    Some(LayerRow {
        id: "tools".into(),
        shown: format!("tools ({})", blocks.len()).into(),
        place: "tools".into(),
        chars,
        bytes: size(|text| text.len() as u64),
        lines: size(|text| text.lines().count() as u64),
        tokens,
        tokens_alone: tokens,
        change: "fixed".into(),
        now,
        included: true,
        ..LayerRow::default()
    })
}

/// What the model said, what it called, what tools returned: no layer wrote it.
fn conversation_row(shown: &Shown<'_>, bench: &Bench, tokens: Option<u64>) -> Option<LayerRow> {
    let texts: Vec<&str> = shown
        .request
        .zone(Zone::Messages)
        .iter()
        .flat_map(|block| {
            block
                .text
                .parts()
                .iter()
                .filter(|part| bench.layer(&part.id).is_none())
                .map(|part| &block.text[part])
        })
        .collect();
    if texts.is_empty() {
        return None;
    }
    let chars = texts.iter().map(|text| text.chars().count() as u64).sum();
    Some(LayerRow {
        id: "conversation".into(),
        shown: "(conversation)".into(),
        place: "messages".into(),
        byte: ByteOrder::Message,
        chars,
        bytes: texts.iter().map(|text| text.len() as u64).sum(),
        lines: texts.iter().map(|text| text.lines().count() as u64).sum(),
        tokens,
        change: "call".into(),
        now: if shown.before.is_some() { Now::Same } else { Now::New },
        included: true,
        reason: Some("what was said and what tools returned".into()),
        ..LayerRow::default()
    })
}

/// The layers in byte order, with their number; those that write nothing last.
fn byte_rows(bench: &Bench, shown: &Shown<'_>) -> Vec<(usize, ByteOrder)> {
    let mut rows = Vec::new();
    let mut number = 0;
    let writes = |index: &usize| {
        shown.request.blocks.iter().any(|b| b.text.parts().iter().any(|p| p.id == bench.layers[*index].id))
    };
    let blocks = shown.request.zone(Zone::System);
    for part in blocks.iter().flat_map(|block| block.text.parts()) {
        if let Some(index) = bench.layers.iter().position(|layer| layer.id == part.id) {
            number += 1;
            rows.push((index, ByteOrder::Number(number)));
        }
    }
    for kind in [ByteOrder::User, ByteOrder::Tool, ByteOrder::Message] {
        for place in bench.places.values() {
            let of = match place.kind {
                PlaceKind::CurrentUser => ByteOrder::User,
                PlaceKind::NewestTool => ByteOrder::Tool,
                PlaceKind::Message { .. } => ByteOrder::Message,
                PlaceKind::System | PlaceKind::Block => continue,
            };
            if of == kind {
                rows.extend(
                    compose::byte_order(bench, &place.id)
                        .into_iter()
                        .filter(writes)
                        .map(|index| (index, kind)),
                );
            }
        }
    }
    let written: Vec<usize> = rows.iter().map(|(index, _)| *index).collect();
    rows.extend(
        (0..bench.layers.len())
            .filter(|index| !written.contains(index))
            .map(|index| (index, ByteOrder::None)),
    );
    rows
}

/// Numbers the layers that write something in the order in which they run, and flags those whose order in the bytes
/// is another one.
fn runs_and_crossings(bench: &Bench, rows: &mut [LayerRow]) {
    let mut run = 0;
    for index in compose::run_order(bench) {
        if let Some(row) =
            rows.iter_mut().find(|row| row.id == bench.layers[index].id && row.byte != ByteOrder::None)
        {
            run += 1;
            row.run = Some(run);
        }
    }
    let numbers: Vec<(u32, u32)> = rows
        .iter()
        .filter_map(|row| match row.byte {
            ByteOrder::Number(byte) => Some((byte, row.run?)),
            _ => None,
        })
        .collect();
    for row in rows.iter_mut() {
        if let (ByteOrder::Number(byte), Some(run)) = (row.byte, row.run) {
            row.crossing = numbers.iter().any(|(b, r)| (*b < byte) != (*r < run) && *b != byte);
        }
    }
}

fn layer_row(shown: &Shown<'_>, layer: &Layer, byte: ByteOrder, counter: &mut Counter<'_>) -> LayerRow {
    let bench = shown.session.bench();
    let state = shown.record.layer(&layer.id);
    let text =
        state.and_then(|state| state.state.piece.text()).cloned().or_else(|| in_request(shown, &layer.id));
    let before = shown
        .before
        .and_then(|(record, _)| record.layer(&layer.id))
        .and_then(|state| state.state.piece.text().cloned());
    let body = text.as_ref().map_or("", |text| text.text());
    let (reason, truncated) = match state.map(|state| &state.state.piece) {
        Some(Piece::Omitted(reason)) if byte == ByteOrder::None => (Some(reason.clone()), None),
        Some(Piece::Failed(failed) | Piece::Stopped(failed)) => (Some(Arc::from(&*failed.message)), None),
        Some(Piece::Text { cut, .. }) if *cut > 0 => (
            layer.when.as_ref().map(|when| Arc::from(format!("when: {}", when.text))),
            Some(Arc::from(format!("{cut} characters cut"))),
        ),
        _ => (layer.when.as_ref().map(|when| Arc::from(format!("when: {}", when.text))), None),
    };
    LayerRow {
        id: layer.id.clone(),
        shown: super::shown_name(bench, &layer.id),
        byte,
        place: layer.place.clone(),
        chars: body.chars().count() as u64,
        lines: body.lines().count() as u64,
        bytes: body.len() as u64,
        tokens_alone: match (counter.as_mut(), &text) {
            (Some(counter), Some(text)) => Some(u64::from(counter.tokens(text.text()))),
            (Some(_), None) => Some(0),
            (None, _) => None,
        },
        change: change_word(bench, layer, state.map(|state| &*state.state.reads)).into(),
        now: now(shown, state, byte, text.as_ref(), before.as_ref()),
        included: byte != ByteOrder::None,
        reason,
        truncated,
        source: source_at(bench, layer),
        reads: state.map(|state| reads(shown, &state.state.reads)).unwrap_or_default(),
        ..LayerRow::default()
    }
}

/// The layer's own text as it stands in the request, for what was told in an earlier call.
fn in_request(shown: &Shown<'_>, id: &Name) -> Option<Traced> {
    let own = |block: &&Arc<Block>| block.text.parts().iter().any(|part| part.id == *id);
    let block = shown.request.blocks.iter().rev().find(own)?;
    let part = block.text.parts().iter().rev().find(|part| part.id == *id)?;
    let made = crate::core::text::Made::Literal;
    Some(Traced::whole(id.clone(), &block.text[part], made, crate::core::fact::EventId::OPENING))
}

fn now(
    shown: &Shown<'_>,
    state: Option<&LayerState>,
    byte: ByteOrder,
    text: Option<&Traced>,
    before: Option<&Traced>,
) -> Now {
    let Some(state) = state else { return Now::Omitted("not in this request".into()) };
    let pending = shown.record.pending.iter().any(|pending| pending.layer == state.id);
    match &state.state.piece {
        Piece::Failed(failed) | Piece::Stopped(failed) => Now::Failed(Arc::from(&*failed.message)),
        _ if pending => Now::Pending,
        Piece::Omitted(reason) if byte == ByteOrder::None => Now::Omitted(reason.clone()),
        _ if !state.old.is_empty() => {
            // What people ask for is the fact they named, not the files that it was derived from.
            let named: Vec<Name> = state
                .old
                .iter()
                .filter_map(|key| match key {
                    FactKey::Named(name) => Some(name.clone()),
                    _ => None,
                })
                .collect();
            Now::Old(if named.is_empty() {
                state.old.iter().map(|key| Name::from(key.to_string())).collect()
            } else {
                named
            })
        }
        Piece::Text { cut, .. } if *cut > 0 && before.map(Traced::text) == text.map(Traced::text) => Now::Cut,
        _ => match (text, before) {
            (Some(text), Some(before)) if text.text() == before.text() => Now::Same,
            (Some(text), Some(before)) => {
                Now::Changed(text.text().chars().count() as i64 - before.text().chars().count() as i64)
            }
            (Some(_), None) if state.kept || matches!(state.state.piece, Piece::Omitted(_)) => Now::Same,
            (Some(_), None) => Now::New,
            (None, _) => Now::Same,
        },
    }
}

/// How often a layer can change: `fixed` where it reads nothing that ever does.
fn change_word(bench: &Bench, layer: &Layer, reads: Option<&Reads>) -> &'static str {
    let moves = |key: &FactKey| match key {
        FactKey::Named(name) => {
            let root = name.split('.').next().unwrap_or(name);
            let set_by_tool = bench
                .simulate
                .values()
                .any(|effect| matches!(effect, ToolEffect::Set { fact, .. } if fact == name));
            let set_by_run = bench.runs.values().flat_map(|run| run.iter()).any(|line| match &line.input {
                Input::Set(values) => values.contains_key(root),
                _ => false,
            });
            set_by_tool
                || set_by_run
                || (!bench.facts.contains_key(root)
                    && !matches!(root, "agent" | "session" | "home" | "workspace"))
        }
        FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) | FactKey::Glob(path) => {
            path.base != Base::Bench
        }
        FactKey::Git(_) => true,
        FactKey::Environment(name) => &**name == "now",
    };
    match (&layer.refresh, reads) {
        (Refresh::Change { .. }, _) => "change",
        (_, Some(reads)) if !reads.0.keys().any(moves) => "fixed",
        (refresh, _) => refresh.word(),
    }
}

fn source_at(bench: &Bench, layer: &Layer) -> Option<SourceAt> {
    let template = |template: &Template| match template {
        Template::File(path, _) => {
            SourceAt { file: path.to_string().into(), at: crate::core::diagnostic::Position::START }
        }
        Template::Inline(source) => SourceAt { file: source.name.clone(), at: source.start },
    };
    match &layer.from {
        LayerSource::Template(from) => Some(template(from)),
        LayerSource::Each { frame: Some(frame), .. } | LayerSource::Lines { frame: Some(frame), .. } => {
            Some(template(frame))
        }
        LayerSource::Each { item, .. } => Some(template(item)),
        LayerSource::Table { rows, .. } => {
            Some(SourceAt { file: rows.to_string().into(), at: crate::core::diagnostic::Position::START })
        }
        _ => Some(SourceAt { file: bench.source.name.clone(), at: layer.at }),
    }
}

fn reads(shown: &Shown<'_>, reads: &Reads) -> Vec<ReadRow> {
    reads
        .0
        .iter()
        .map(|(key, read)| ReadRow {
            fact: key.to_string().into(),
            value: match key {
                FactKey::Named(name) => shown
                    .session
                    .fact(name)
                    .map(|(value, _)| super::one_line(&value.to_string(), 60).into())
                    .unwrap_or_default(),
                _ => "".into(),
            },
            cause: (read.cause.0 > 0).then(|| shown.session.event(read.cause).label.clone()),
        })
        .collect()
}
