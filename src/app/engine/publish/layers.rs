//! Pane 1: the layers of the shown call.

use std::collections::BTreeMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::{Counter, Shown};
use crate::app::snapshot::{ByteOrder, LayerRow, LayerTable, Now, ReadRow, SourceAt, TotalRow};
use crate::core::bench::{Bench, Layer, LayerSource, PlaceKind, Refresh, Template, ToolEffect};
use crate::core::compose;
use crate::core::fact::{Base, FactKey, Name, Reads};
use crate::core::run::{Input, LayerState};
use crate::core::source::{Evaluated, Piece};
use crate::core::text::count;
use crate::core::wire::{Request, Zone};

/// The table. Tokens are in context: T(end) - T(start) of a part in its block, so that they add up to the total.
#[must_use]
pub fn table(shown: &Shown<'_>, mut counter: Counter<'_>) -> LayerTable {
    let bench = shown.session.bench();
    let tokens = in_context(shown, &mut counter);
    let total = counter.as_mut().map(|counter| {
        shown.request.blocks.iter().map(|block| u64::from(block.tokens(counter))).sum::<u64>()
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
    for of in [Rest::Wraps, Rest::Conversation] {
        let tokens = tokens.get(of.key()).copied().or(counter.as_ref().map(|_| 0));
        if let Some(row) = rest_row(shown, of, tokens) {
            let at = rows.iter().position(|row| !row.included).unwrap_or(rows.len());
            rows.insert(at, row);
        }
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

/// Tokens in context by layer; `\0tools` for the tools, and [`Rest::key`] for what no layer wrote.
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
                _ => Rest::of(bench, &part.id).key(),
            };
            let end = if part.end == text.len() {
                block.tokens(counter)
            } else {
                block.tokens_before(part.end, counter)
            };
            let count = end - block.tokens_before(part.start, counter);
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
        hash: Texts(blocks.iter().map(|block| &**block.text.text()).collect()).hash(),
        lines: size(|text| count::lines(text) as u64),
        tokens,
        tokens_alone: tokens,
        change: "fixed".into(),
        now,
        included: true,
        ..LayerRow::default()
    })
}

/// The own texts of some parts of a request, in the order of the bytes, and what they come to.
#[derive(Default, PartialEq)]
struct Texts<'r>(Vec<&'r str>);

impl<'r> Texts<'r> {
    fn of(request: &'r Request, zones: &[Zone], own: impl Fn(&Name) -> bool) -> Texts<'r> {
        let blocks = zones.iter().flat_map(|zone| request.zone(*zone));
        Texts(
            blocks
                .flat_map(|block| {
                    block.text.parts().iter().filter(|part| own(&part.id)).map(|part| &block.text[part])
                })
                .collect(),
        )
    }

    fn sum(&self, size: impl Fn(&str) -> usize) -> u64 {
        self.0.iter().map(|text| size(text) as u64).sum()
    }

    fn chars(&self) -> u64 {
        self.sum(|text| text.chars().count())
    }

    fn hash(&self) -> u64 {
        let each = self.0.iter().flat_map(|text| xxh3_64(text.as_bytes()).to_le_bytes());
        xxh3_64(&each.collect::<Vec<u8>>())
    }

    /// What the column `now` says of them, beside those of the call before.
    fn now(&self, before: &Texts<'_>) -> Now {
        match (self.0.is_empty(), before.0.is_empty()) {
            (false, true) => Now::New,
            _ if self == before => Now::Same,
            _ => match (self.0.as_slice(), before.0.as_slice()) {
                ([new], [old]) => Now::Changed(count::chars_more(new, old)),
                _ => Now::Changed(self.chars() as i64 - before.chars() as i64),
            },
        }
    }
}

/// What no layer wrote.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// What the model said, what it called, what tools returned.
    Conversation,
    /// What places write around their layers.
    Wraps,
}

impl Rest {
    /// Which of the two a part is that is no layer's.
    fn of(bench: &Bench, part: &Name) -> Rest {
        if bench.places.contains_key(part) { Rest::Wraps } else { Rest::Conversation }
    }

    fn key(self) -> &'static str {
        match self {
            Rest::Conversation => "\0conversation",
            Rest::Wraps => "\0wraps",
        }
    }
}

fn rest_row(shown: &Shown<'_>, rest: Rest, tokens: Option<u64>) -> Option<LayerRow> {
    let bench = shown.session.bench();
    let of = |request| {
        Texts::of(request, &[Zone::System, Zone::Messages], |part| {
            bench.layer(part).is_none() && Rest::of(bench, part) == rest
        })
    };
    let texts = of(shown.request);
    if texts.0.is_empty() {
        return None;
    }
    let (id, name, reason) = match rest {
        Rest::Conversation => ("conversation", "(conversation)", "what was said and what tools returned"),
        // Nobody knows what the layers of a recorded prompt were.
        Rest::Wraps if shown.session.is_recorded() => {
            ("wraps", "(system)", "the system prompt, as it was recorded")
        }
        Rest::Wraps => ("wraps", "(wraps)", "what places write around their layers"),
    };
    Some(LayerRow {
        id: id.into(),
        shown: name.into(),
        place: if rest == Rest::Conversation { "messages" } else { "" }.into(),
        byte: if rest == Rest::Conversation { ByteOrder::Message } else { ByteOrder::None },
        chars: texts.chars(),
        hash: texts.hash(),
        bytes: texts.sum(str::len),
        lines: texts.sum(count::lines),
        tokens,
        // What is said stands first in its block, so nothing in front of it can change its count; a wrap hardly differs.
        tokens_alone: tokens,
        change: if rest == Rest::Conversation { "call" } else { "fixed" }.into(),
        now: shown.before.map_or(Now::New, |(_, before)| texts.now(&of(before))),
        included: true,
        reason: Some(reason.into()),
        ..LayerRow::default()
    })
}

/// The layers in byte order, with their number; those that write nothing last.
fn byte_rows(bench: &Bench, shown: &Shown<'_>) -> Vec<(usize, ByteOrder)> {
    let mut rows: Vec<(usize, ByteOrder)> = Vec::new();
    let mut number = 0;
    let writes = |index: &usize| {
        shown.request.blocks.iter().any(|b| b.text.parts().iter().any(|p| p.id == bench.layers[*index].id))
    };
    let blocks = shown.request.zone(Zone::System);
    for part in blocks.iter().flat_map(|block| block.text.parts()) {
        // What stands around a block is before and behind it, and one layer's for all that.
        if let Some(index) = bench.layers.iter().position(|layer| layer.id == part.id)
            && rows.iter().all(|(known, _)| *known != index)
        {
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
                    in_place(bench, &place.id, 0).into_iter().filter(writes).map(|index| (index, kind)),
                );
            }
        }
    }
    let written: Vec<usize> = rows.iter().map(|(index, _)| *index).collect();
    // A layer that only shows a block is what stands in the block.
    let shows = |index: usize| match &bench.layers[index].from {
        LayerSource::Place(inner) => in_place(bench, inner, 0).iter().any(|index| written.contains(index)),
        _ => false,
    };
    rows.extend(
        (0..bench.layers.len())
            .filter(|index| !written.contains(index) && !shows(*index))
            .map(|index| (index, ByteOrder::None)),
    );
    rows
}

/// The layers of a place in byte order, those of the blocks in it in their stead.
fn in_place(bench: &Bench, place: &Name, depth: usize) -> Vec<usize> {
    let mut rows = Vec::new();
    for index in compose::byte_order(bench, place) {
        match &bench.layers[index].from {
            // The bench was checked for cycles; the bound keeps this finite whatever is handed in.
            LayerSource::Place(inner) if depth < bench.places.len() => {
                rows.extend(in_place(bench, inner, depth + 1));
            }
            _ => rows.push(index),
        }
    }
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
    // All that it says in the request: what it was told to say in earlier calls stands there, too.
    let of = |request| Texts::of(request, &[Zone::System, Zone::Messages], |part| *part == layer.id);
    let texts = of(shown.request);
    let before = shown.before.map(|(_, before)| of(before)).unwrap_or_default();
    let whole = state.and_then(|state| state.state.piece.text());
    let reason = match state.map(|state| &state.state.piece) {
        Some(Piece::Omitted(reason)) if byte == ByteOrder::None => Some(reason.clone()),
        Some(Piece::Failed(failed) | Piece::Stopped(failed)) => Some(Arc::from(&*failed.message)),
        _ => layer.when.as_ref().map(|when| Arc::from(format!("when: {}", when.text))),
    };
    let truncated = state.and_then(|state| truncated(&state.state));
    LayerRow {
        id: layer.id.clone(),
        shown: super::shown_name(bench, &layer.id),
        byte,
        runs_by: match bench.places.get(&layer.place).map(|place| place.kind) {
            Some(PlaceKind::Block) => format!("run: {}, before its block", layer.run).into(),
            _ => format!("run: {}", layer.run).into(),
        },
        stands_by: stands_by(bench, layer).into(),
        place: layer.place.clone(),
        chars: texts.chars(),
        hash: texts.hash(),
        lines: texts.sum(count::lines),
        bytes: texts.sum(str::len),
        tokens_alone: counter.as_mut().map(|counter| {
            let alone = texts.0.iter().map(|text| match whole {
                // Counted before, most likely, under this very text.
                Some(whole) if **whole.text() == **text => counter.tokens(whole.text()),
                _ => counter.tokens(&Arc::from(*text)),
            });
            alone.map(u64::from).sum()
        }),
        budget: layer.budget,
        change: change_word(bench, layer, state).into(),
        now: now(shown, state, byte, &texts, &before),
        included: byte != ByteOrder::None,
        reason,
        truncated,
        source: source_at(bench, layer),
        reads: state.map(|state| reads(shown, &state.state.reads)).unwrap_or_default(),
        ..LayerRow::default()
    }
}

/// What is missing from a layer's text, in words.
fn truncated(state: &Evaluated) -> Option<Arc<str>> {
    let mut words = Vec::new();
    if let Piece::Text { cut, .. } = &state.piece
        && *cut > 0
    {
        words.push(format!("{cut} characters cut"));
    }
    words.extend(state.choice.left_out.iter().map(|item| format!("without {}: {}", item.name, item.reason)));
    (!words.is_empty()).then(|| words.join("; ").into())
}

/// What decides where a layer stands in its place.
fn stands_by(bench: &Bench, layer: &Layer) -> String {
    let by_key = bench.places.get(&layer.place).is_some_and(|place| place.by_key);
    match &layer.key {
        Some(key) if by_key && *key == super::shown_name(bench, &layer.id) => "by key".to_owned(),
        Some(key) if by_key => format!("key {key}"),
        None if by_key => format!("key {}", layer.id),
        _ => "as it runs".to_owned(),
    }
}

fn now(
    shown: &Shown<'_>,
    state: Option<&LayerState>,
    byte: ByteOrder,
    texts: &Texts<'_>,
    before: &Texts<'_>,
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
        Piece::Text { cut, .. } if *cut > 0 && texts == before => Now::Cut,
        _ => texts.now(before),
    }
}

/// How often a layer can change: `fixed` where it reads nothing that ever does.
fn change_word(bench: &Bench, layer: &Layer, state: Option<&LayerState>) -> &'static str {
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
                    && !matches!(root, "agent" | "session" | "home" | "workspace" | "layers"))
        }
        FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) | FactKey::Glob(path) => {
            path.base != Base::Bench
        }
        FactKey::Git(_) | FactKey::Command(_) | FactKey::Reported(_) => true,
        FactKey::Environment(name) => &**name == "now",
    };
    // What was left out before it was evaluated has not shown yet what it reads.
    let evaluated = state
        .map(|state| &state.state)
        .filter(|state| !state.reads.0.is_empty() || !matches!(state.piece, Piece::Omitted(_)));
    match (&layer.refresh, evaluated) {
        (Refresh::Change { .. }, _) => "change",
        (_, Some(state)) if !state.reads.0.keys().any(moves) => "fixed",
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
                    .map(|(value, _)| super::value_in_short(&value, 60).into())
                    .unwrap_or_default(),
                _ => "".into(),
            },
            cause: (read.cause.0 > 0).then(|| shown.session.event(read.cause).label.clone()),
        })
        .collect()
}
