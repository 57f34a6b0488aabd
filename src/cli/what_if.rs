//! `plywood what-if PATH`: what a change would do, before it is made.

use std::collections::BTreeMap;

use serde::Serialize;

use super::args::WhatIfArgs;
use super::compare::named_models;
use super::head::Schema;
use super::open::{Bench, Edge, no_such_call};
use super::output::{Failure, Out, Outcome, Result};
use crate::app::blast::{hit_words, said};
use crate::app::engine::{Counters, with_labels};
use crate::core::cache::short_id;
use crate::core::compare::usual_models;
use crate::core::fact::{FactKey, Found, Name};
use crate::core::run::{CallRecord, Load, Player, Session, resolve};
use crate::core::whatif::{self, Ahead, Given, Hit, Planned, Radius};
use crate::core::wire::CallNo;
use crate::io::syntax::scalar::{DURATIONS, duration};

/// Tries the changes and prints what each does.
pub(super) fn run(args: &WhatIfArgs, out: &mut Out<'_>) -> Result {
    let mut bench = Bench::open(&args.path, &args.bench)?;
    let known = bench.models().clone();
    let mut models = match args.models.as_slice() {
        [] => usual_models(&known, &bench.bench.model),
        asked => named_models(asked, &known)?,
    };
    // What a switch costs is the cost on the model that it goes to.
    for target in args.changes.iter().filter_map(|change| change.strip_prefix("model=")) {
        if target.contains(':') && !models.iter().any(|model| **model == *target) {
            models.push(target.into());
        }
    }
    let player = bench.play_to(args.call)?;
    let session = player.session();
    // A bench without runs has one request, whatever is asked for.
    let call = session.prepared().map_or(0, |record| record.call.0);
    let Some(record) = session.prepared().filter(|_| call == args.call || player.run().is_none()) else {
        return Err(no_such_call(&player, args.call));
    };
    let mut counters = Counters::default();
    let folders = bench.file.loaded().folders();
    let mut edge = Edge(bench.file.loader());
    let found = match session.request(record.call) {
        Some(request) => edge.load(&whatif::file_keys(&request)),
        None => Vec::new(),
    };
    let planned = match args.changes.as_slice() {
        [] => {
            let root = session.fact("workspace").map(|(value, _)| value.to_string()).unwrap_or_default();
            let root = root.trim_end_matches('/').to_owned();
            let folders =
                folders.iter().map(|folder| format!("{root}/{folder}").trim_end_matches('/').into());
            let given = Given { folders: folders.collect(), models: models.clone() };
            whatif::candidates(session, record, &given, &found)
        }
        asked => asked
            .iter()
            .map(|asked| change(asked, session, record, &found))
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(Failure::message)?,
    };
    let Some(ahead) = Ahead::of(&player, &known, &models, &mut counters, &mut edge) else {
        return Err(no_such_call(&player, args.call));
    };
    let tried: Vec<(Planned, Radius)> = planned
        .into_iter()
        .map(|planned| {
            let radius = Radius::of(&planned, &player, &ahead, &mut counters, &mut edge);
            (planned, radius)
        })
        .collect();
    if args.json {
        let report = Report {
            bench: bench.name(),
            run: player.run().map(|run| &**run),
            call,
            changes: tried.iter().map(|(planned, radius)| change_report(session, planned, radius)).collect(),
        };
        out.json(&Schema::WhatIf.with(bench.models(), report))?;
        return Ok(Outcome::Done);
    }
    text(&bench, &player, record.call, &models, &tried, out)?;
    Ok(Outcome::Done)
}

/// Reads `cwd=..` and its like.
fn change(
    asked: &str,
    session: &Session,
    record: &CallRecord,
    found: &[(FactKey, Found)],
) -> std::result::Result<Planned, String> {
    let kinds = "write cwd=DIR, edit=FILE, model=MODEL, tools=-TOOL, move=LAYER:PAST or wait=TIME";
    let (kind, value) = asked.split_once('=').ok_or_else(|| format!("`{asked}` is no change: {kinds}"))?;
    match kind {
        "cwd" => {
            let home = session.fact("home").map(|(home, _)| home.to_string()).unwrap_or_default();
            Ok(whatif::cwd(&resolve(&record.cwd, value, &home).into()))
        }
        "edit" => {
            let named = |key: &FactKey| {
                let name = key.to_string();
                name == value || name.ends_with(&format!("/{value}"))
            };
            let file = found.iter().find(|(key, _)| named(key));
            file.and_then(|(key, found)| whatif::edit(key, found)).ok_or_else(|| {
                let known: Vec<String> = found.iter().map(|(key, _)| key.to_string()).collect();
                format!("no text of this call comes from the file `{value}`: {}", known.join(", "))
            })
        }
        "model" if value.split_once(':').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty()) => {
            Ok(whatif::switch(&value.into()))
        }
        "model" => Err(format!("model={value}: write provider:model")),
        "tools" => {
            let tools = record.tools();
            let name = value.strip_prefix('-').filter(|name| tools.iter().any(|tool| **tool == **name));
            let name = name.ok_or_else(|| {
                let known: Vec<&str> = tools.iter().map(|tool| &**tool).collect();
                format!("tools={value}: write - and one of {}", known.join(", "))
            })?;
            Ok(whatif::without_tool(&tools, &name.into()))
        }
        "move" => {
            let bench = session.bench();
            let (layer, past) = value.split_once(':').ok_or("move: write LAYER:PAST")?;
            let place = bench.layer(layer).map(|layer| layer.place.clone());
            let place = place.ok_or_else(|| {
                let known: Vec<&str> = bench.layers.iter().map(|layer| &*layer.id).collect();
                format!("there is no layer `{layer}`; the ids are {}", known.join(", "))
            })?;
            let order = whatif::standing(bench, record, &place);
            whatif::swap(bench, &layer.into(), &past.into(), &order).ok_or_else(|| {
                let known: Vec<&str> = order.iter().map(|layer| &**layer).collect();
                format!("`{layer}` cannot pass `{past}`: side by side in {place} stand {}", known.join(", "))
            })
        }
        "wait" => {
            let seconds = duration(value).ok_or_else(|| format!("wait={value}: write {DURATIONS}"))?;
            Ok(whatif::wait(seconds, value, &format!("{value} pass")))
        }
        _ => Err(format!("`{asked}` is no change: {kinds}")),
    }
}

fn text(
    bench: &Bench,
    player: &Player,
    call: CallNo,
    models: &[Name],
    tried: &[(Planned, Radius)],
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let session = player.session();
    let run = player.run().map_or_else(String::new, |run| format!(", run {run}"));
    let calls = tried.iter().map(|(_, radius)| radius.calls).max().unwrap_or(0);
    let ahead = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    out.line(format_args!("{}{run}: before call {}, over {ahead}", bench.name(), call.0))?;
    let wide = models.iter().map(|model| short_id(model).len()).max().unwrap_or(0).max(7);
    for (planned, radius) in tried {
        out.line("")?;
        out.line(format_args!("{}  ({})", planned.title, planned.id))?;
        for (label, words) in said(session, radius) {
            out.line(format_args!("  {label:<wide$}  {words}"))?;
        }
        for hit in &radius.hits {
            out.line(format_args!("  {:<wide$}  {}", short_id(&hit.model), hit_words(hit)))?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Report<'a> {
    bench: &'a str,
    run: Option<&'a str>,
    /// The call that waits when the change happens.
    call: u32,
    changes: Vec<ChangeReport<'a>>,
}

#[derive(Serialize)]
struct ChangeReport<'a> {
    change: &'a str,
    title: &'a str,
    /// How many calls were compared, this one included.
    calls: u32,
    refused: Option<&'a str>,
    /// Layers whose text is another one in this call.
    now: &'a [Name],
    later: Vec<LaterReport<'a>>,
    /// The first break that the change brings.
    broken: Option<BrokenReport>,
    models: BTreeMap<&'a str, &'a Hit>,
}

#[derive(Serialize)]
struct LaterReport<'a> {
    layer: &'a str,
    call: u32,
}

#[derive(Serialize)]
struct BrokenReport {
    call: u32,
    layer: Name,
    zone: crate::core::wire::Zone,
    byte: usize,
    message: Option<u32>,
    source: Option<String>,
    by: Option<Name>,
    says: String,
}

fn change_report<'a>(session: &Session, planned: &'a Planned, radius: &'a Radius) -> ChangeReport<'a> {
    ChangeReport {
        change: &planned.id,
        title: &planned.title,
        calls: radius.calls,
        refused: radius.refused.as_deref(),
        now: &radius.now,
        later: radius.later.iter().map(|(layer, call)| LaterReport { layer, call: call.0 }).collect(),
        broken: radius.broken.as_ref().map(|broken| BrokenReport {
            call: broken.call.0,
            layer: broken.blame.part.clone(),
            zone: broken.blame.zone,
            byte: broken.blame.byte,
            message: broken.blame.message.map(|message| message.0),
            source: broken.blame.source(),
            by: broken.by.clone(),
            says: with_labels(session, |labels| broken.blame.clause(labels)),
        }),
        models: radius.hits.iter().map(|hit| (&*hit.model, hit)).collect(),
    }
}
