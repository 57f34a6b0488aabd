//! `plywood layers PATH`: every layer with its size, in byte order; those that are left out last, with the reason.

use serde::Serialize;

use super::args::LayersArgs;
use super::head::Schema;
use super::open::{Bench, no_such_call};
use super::output::{Out, Result};
use super::report::{DiagnosticReport, failed_layers, sha256};
use crate::app::engine::Counters;
use crate::app::engine::publish::{self, Shown};
use crate::app::snapshot::{LayerRow, LayerTable};
use crate::app::tables;
use crate::core::bench;
use crate::core::cache::Measures;
use crate::core::diagnostic::Severity;
use crate::core::run::CallRecord;
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{CallNo, Request};

#[derive(Serialize)]
struct Report<'a> {
    bench: &'a str,
    variants: &'a [String],
    call: u32,
    model: &'a str,
    layers: Vec<LayerReport<'a>>,
    total: TotalReport,
    diagnostics: Vec<DiagnosticReport<'a>>,
}

#[derive(Serialize)]
struct LayerReport<'a> {
    id: &'a str,
    title: Option<&'a str>,
    place: &'a str,
    run: Option<i64>,
    key: Option<&'a str>,
    refresh: &'a str,
    included: bool,
    reason: Option<&'a str>,
    truncated: Option<&'a str>,
    chars: u64,
    bytes: u64,
    lines: u64,
    tokens: TokensReport,
    sha256: Option<String>,
    source: Option<String>,
    reads: Vec<ReadReport<'a>>,
}

/// Tokens: alone, and in the block where they stand, which is what adds up to the total. Null where unknown.
#[derive(Serialize)]
struct TokensReport {
    count: Option<u64>,
    in_context: Option<u64>,
    method: String,
    exact: bool,
}

#[derive(Serialize)]
struct ReadReport<'a> {
    fact: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

#[derive(Serialize)]
struct TotalReport {
    chars: u64,
    joins: u64,
    tokens: TokensReport,
}

/// Prints the layers of a call.
pub(super) fn run(args: &LayersArgs, out: &mut Out<'_>) -> Result {
    let mut bench = Bench::open(&args.path, &args.bench)?;
    let player = bench.play_to(args.call)?;
    let session = player.session();
    let request = bench.request(&player, args.call)?;
    let record =
        publish::record(session, CallNo(args.call)).ok_or_else(|| no_such_call(&player, args.call))?;
    let before = publish::before(session, record);
    let old = before.and_then(|before| session.request(before.call));
    let shown = Shown { session, record, request: &request, before: before.zip(old.as_ref()) };
    let method = bench.models().get(&request.model).method.clone();
    let mut counters = Counters::default();
    let mut measure = method.encoding().map(|encoding| method.measure(counters.of(encoding)));
    let table = publish::layer_table(&shown, measure.as_mut().map(|measure| measure as &mut dyn Measure));
    if args.json {
        let report = report(&bench, session.bench(), record, &request, &table, &method);
        out.json(&Schema::Layers.with(bench.models(), report))?;
    } else {
        text(&table, record, &request, &method, out)?;
    }
    Ok(failed_layers([record]))
}

fn tokens(method: &Method, alone: Option<u64>, in_context: Option<u64>) -> TokensReport {
    TokensReport { count: alone, in_context, method: method.to_string(), exact: method.is_exact() }
}

fn report<'a>(
    opened: &'a Bench,
    bench: &'a bench::Bench,
    record: &'a CallRecord,
    request: &'a Request,
    table: &'a LayerTable,
    method: &Method,
) -> Report<'a> {
    let total = table.total.as_ref();
    let diagnostics =
        opened.warnings().iter().chain(record.diagnostics.iter().map(|diagnostic| &**diagnostic));
    Report {
        bench: opened.name(),
        variants: opened.variants(),
        call: record.call.0,
        model: &record.model,
        layers: table.rows.iter().map(|row| layer_report(bench, record, request, row, method)).collect(),
        total: TotalReport {
            chars: total.map_or(0, |total| total.chars),
            joins: total.map_or(0, |total| total.joins),
            tokens: {
                let count = total.and_then(|total| total.tokens);
                tokens(method, count, count)
            },
        },
        diagnostics: diagnostics.map(DiagnosticReport::of).collect(),
    }
}

fn layer_report<'a>(
    bench: &'a bench::Bench,
    record: &'a CallRecord,
    request: &Request,
    row: &'a LayerRow,
    method: &Method,
) -> LayerReport<'a> {
    let layer = bench.layer(&row.id);
    let text = record.layer(&row.id).and_then(|state| state.state.piece.text());
    // What stands from an earlier call is hashed as it stands in the request.
    let standing = || {
        let parts = request.blocks.iter().rev().flat_map(|block| {
            block.text.parts().iter().rev().filter(|part| part.id == row.id).map(|part| &block.text[part])
        });
        parts.into_iter().next().map(sha256)
    };
    LayerReport {
        id: &row.id,
        title: layer.and_then(|layer| layer.title.as_deref()),
        place: &row.place,
        run: layer.map(|layer| layer.run),
        key: layer.and_then(|layer| layer.key.as_deref()),
        refresh: layer.map_or(&*row.change, |layer| layer.refresh.word()),
        included: row.included,
        reason: row.reason.as_deref(),
        truncated: row.truncated.as_deref(),
        chars: row.chars,
        bytes: row.bytes,
        lines: row.lines,
        tokens: tokens(method, row.tokens_alone, row.tokens),
        sha256: text.map(|text| sha256(&**text.text())).or_else(standing),
        source: row.source.as_ref().map(|source| format!("{}:{}", source.file, source.at)),
        reads: row
            .reads
            .iter()
            .map(|read| ReadReport { fact: &read.fact, value: &read.value, cause: read.cause.as_deref() })
            .collect(),
    }
}

fn text(
    table: &LayerTable,
    record: &CallRecord,
    request: &Request,
    method: &Method,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    tables::layers(table, method.sign()).write(out)?;
    if table.crosses() {
        out.line("x: it runs in another order than it stands in the bytes.")?;
    }
    match method.encoding() {
        Some(_) => {
            out.line(format_args!("Tokens in context, counted with {method}, for {}.", request.model))?;
        }
        None => out.line(format_args!("Tokens are {method}."))?,
    }
    // Errors are told on standard error.
    for diagnostic in record.diagnostics.iter().filter(|problem| problem.severity != Severity::Error) {
        out.line("")?;
        out.line(diagnostic)?;
    }
    Ok(())
}
