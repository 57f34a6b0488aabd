//! `plywood build PATH`: a request as it would be sent, for reading, with the owner of each byte, or for a provider.

use serde::Serialize;

use super::args::{BuildArgs, Format};
use super::head::Schema;
use super::open::Bench;
use super::output::{Out, Result};
use super::report::{failed_layers, request_sha256};
use crate::app::engine::publish;
use crate::core::cache::Written;
use crate::core::fact::{EventId, Name};
use crate::core::run::Session;
use crate::core::text::{Made, Origin};
use crate::core::tokens::image;
use crate::core::wire::{self, Block, BlockKind, Request, Zone};

#[derive(Serialize)]
struct Report<'a> {
    bench: &'a str,
    variants: &'a [String],
    call: u32,
    turn: u32,
    agent: &'a str,
    model: &'a str,
    /// The time, in milliseconds since the Unix epoch.
    at: i64,
    chars: usize,
    bytes: usize,
    sha256: String,
    blocks: Vec<BlockReport<'a>>,
}

#[derive(Serialize)]
struct BlockReport<'a> {
    zone: Zone,
    kind: BlockKind,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<u32>,
    /// `static`: the program keeps these bytes for the whole turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hint: Option<&'static str>,
    /// The life in seconds that a cache mark behind this block asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_mark: Option<u32>,
    text: &'a str,
    spans: Vec<SpanReport<'a>>,
}

/// A half-open range of UTF-8 bytes of the block's text.
#[derive(Serialize)]
struct SpanReport<'a> {
    start: usize,
    end: usize,
    /// The layer, or what stands for one: `user`, `model`, `tool Cd`.
    layer: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    glue: bool,
    source: SourceReport,
    /// The event that made it what it is; none for what is so since the opening.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

#[derive(Serialize)]
struct SourceReport {
    /// `verbatim`, `derived`, `fact` or `literal`.
    made: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

/// Prints the request of a call.
pub(super) fn run(args: &BuildArgs, out: &mut Out<'_>) -> Result {
    let mut bench = Bench::open(&args.path, &args.bench)?;
    let player = bench.play_to(args.call)?;
    let request = bench.request(&player, args.call)?;
    match args.format {
        Format::Text => text(&request, out)?,
        Format::Json => {
            let report = report(&bench, player.session(), &request);
            out.json(&Schema::Build.with(bench.models(), report))?;
        }
        Format::Anthropic => body(&request, wire::Format::Anthropic, out)?,
        Format::OpenaiChat => body(&request, wire::Format::OpenaiChat, out)?,
        Format::OpenaiResponses => body(&request, wire::Format::OpenaiResponses, out)?,
        Format::Gemini => body(&request, wire::Format::Gemini, out)?,
    }
    Ok(failed_layers(publish::record(player.session(), request.call)))
}

/// What a provider would be sent, on one line.
fn body(request: &Request, format: wire::Format, out: &mut Out<'_>) -> std::io::Result<()> {
    out.raw_line(wire::body(request, format))
}

/// Every block under a line that says what it is. The texts are as they are sent, a line end at the end of each.
fn text(request: &Request, out: &mut Out<'_>) -> std::io::Result<()> {
    for (index, block) in request.blocks.iter().enumerate() {
        if index > 0 {
            out.raw_line("")?;
        }
        out.raw_line(format_args!("=== {}", heading(block)))?;
        out.text(block.text.text())?;
        if !block.text.text().ends_with('\n') {
            out.raw_line("")?;
        }
        if let Some(mark) = request.marks.iter().find(|mark| mark.block == index) {
            out.raw_line(format_args!("=== cache mark, {} s", mark.ttl))?;
        }
    }
    Ok(())
}

fn heading(block: &Block) -> String {
    let message = block.message.map_or_else(String::new, |id| format!("message {}, ", id.0));
    let tool = block.tool.as_deref().unwrap_or_default();
    match block.kind {
        BlockKind::Tool => format!("tool {}", block.name),
        BlockKind::System => format!("system ({})", block.name),
        BlockKind::User => format!("{message}user"),
        BlockKind::Assistant => format!("{message}assistant"),
        BlockKind::ToolUse => format!("{message}assistant calls {tool} ({})", block.name),
        BlockKind::ToolResult => format!("{message}result of {tool} ({})", block.name),
        BlockKind::Image => format!("{message}image of the {}, {}", block.name, image::rule(block.size)),
    }
}

fn report<'a>(bench: &'a Bench, session: &'a Session, request: &'a Request) -> Report<'a> {
    let texts = request.blocks.iter().map(|block| &**block.text.text());
    Report {
        bench: bench.name(),
        variants: bench.variants(),
        call: request.call.0,
        turn: request.turn,
        agent: &request.agent,
        model: &request.model,
        at: request.at,
        chars: texts.clone().map(|text| text.chars().count()).sum(),
        bytes: texts.clone().map(str::len).sum(),
        sha256: request_sha256(request),
        blocks: request
            .blocks
            .iter()
            .enumerate()
            .map(|(index, block)| block_report(session, request, index, block))
            .collect(),
    }
}

fn block_report<'a>(
    session: &'a Session,
    request: &Request,
    index: usize,
    block: &'a Block,
) -> BlockReport<'a> {
    let zone = block.kind.zone();
    BlockReport {
        zone,
        kind: block.kind,
        name: &block.name,
        tool: block.tool.as_deref(),
        message: block.message.map(|id| id.0),
        cache_hint: (zone == Zone::System).then_some("static"),
        cache_mark: request.marks.iter().find(|mark| mark.block == index).map(|mark| mark.ttl),
        text: block.text.text(),
        spans: block
            .text
            .ranges()
            .map(|(range, span)| SpanReport {
                start: range.start,
                end: range.end,
                layer: &span.origin.part,
                glue: span.glue,
                source: source_report(&span.origin),
                cause: (span.origin.cause != EventId::OPENING)
                    .then(|| &*session.event(span.origin.cause).label),
            })
            .collect(),
    }
}

fn source_report(origin: &Origin) -> SourceReport {
    let (made, fact) = match &origin.made {
        Made::Verbatim { .. } => ("verbatim", None),
        Made::Derived { .. } => ("derived", None),
        Made::Fact { key, .. } => ("fact", Some(key.to_string())),
        Made::Literal => ("literal", None),
    };
    let written = Written::of(origin, 0);
    SourceReport {
        made,
        fact,
        line: written.as_ref().map(|written| written.at.line),
        column: written.as_ref().map(|written| written.at.column),
        file: written.map(|written| written.file),
    }
}
