//! `plywood compare PATH`: every way of building a run, side by side, with what each costs each model.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::args::{BenchArgs, CompareArgs};
use super::head::Schema;
use super::open::{Bench, Edge, adjust};
use super::order;
use super::output::{Failure, Out, Outcome, Result};
use crate::app::engine::Counters;
use crate::app::tables;
use crate::core::cache::{Measures, Models, Money, Verdict};
use crate::core::compare::{
    self, CallCell, Comparison, Policy, Row, Sum, Table as Compared, Volatility, Wrong,
};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::core::run::Player;
use crate::core::text::number::counted;
use crate::core::wire::CallNo;
use crate::io::edit::Original;
use crate::io::edit::bench as edit;

/// A bench whose ways are compared.
pub(super) struct Comparing {
    pub(super) bench: Bench,
    args: BenchArgs,
    models: Arc<Models>,
    counters: Counters,
    player: Player,
}

impl Comparing {
    /// Plays a way.
    fn row(&mut self, names: &[Name], ids: &[Name]) -> Row {
        let built = self.bench.file.bench(names);
        let (mut bench, _) = match built {
            Ok(built) => built,
            Err(problems) => {
                let why = problems.first().map_or_else(String::new, |problem| problem.message.clone());
                return Row::failed(names.to_vec(), why);
            }
        };
        adjust(Arc::make_mut(&mut bench), &self.args);
        let played = self.player.rebuild(bench, CallNo(u32::MAX), &mut Edge(self.bench.file.loader()));
        match played {
            Ok(player) => Row::of(names.to_vec(), player.session(), &self.models, ids, &mut self.counters),
            Err(refused) => Row::failed(names.to_vec(), refused.0),
        }
    }

    /// Every run of the bench as `change` makes it, played to its end; a bench without runs as the one request that it is.
    pub(super) fn runs(
        &mut self,
        change: impl Fn(&crate::core::bench::Bench) -> crate::core::bench::Bench,
    ) -> Vec<Player> {
        let bench = Arc::new(change(&self.bench.bench));
        let names: Vec<Option<Name>> = match bench.runs.len() {
            0 => vec![None],
            _ => bench.runs.keys().cloned().map(Some).collect(),
        };
        let mut players = Vec::new();
        for name in names {
            let mut edge = Edge(self.bench.file.loader());
            let Ok(mut player) = Player::start(bench.clone(), name.as_deref(), &mut edge) else { continue };
            while name.is_some() && player.beat(&mut edge).unwrap_or(false) {}
            players.push(player);
        }
        players
    }

    /// What a session costs these models.
    pub(super) fn row_of(&mut self, player: &Player, ids: &[Name]) -> Row {
        Row::of(Vec::new(), player.session(), &self.models, ids, &mut self.counters)
    }

    /// How often the layers of the bench changed, over all its runs.
    pub(super) fn volatility(&mut self, players: &[Player]) -> Volatility {
        let mut volatility = Volatility::default();
        for player in players {
            volatility.add(player.session());
        }
        let method = self.models.get(&self.bench.bench.model).method.clone();
        if let Some(encoding) = method.encoding() {
            volatility.count(&mut method.measure(self.counters.of(encoding)));
        }
        volatility
    }
}

/// Compares and prints, or applies a way to the bench file.
pub(super) fn run(args: &CompareArgs, out: &mut Out<'_>) -> Result {
    let bench_args = BenchArgs { variants: Vec::new(), play: args.play.clone() };
    let mut bench = Bench::open(&args.path, &bench_args)?;
    let models = bench.models().clone();
    let ids = asked_models(args, &models, &bench.bench.model)?;
    let mut player = bench.start()?;
    while bench.beat(&mut player)? {}
    let taken: Vec<Name> = bench.file.variants().iter().map(|variant| variant.name.clone()).collect();
    if let Some(layer) = &args.layer
        && bench.bench.layer(layer).is_none()
    {
        let known: Vec<&str> = bench.bench.layers.iter().map(|layer| &*layer.id).collect();
        return Err(Failure::message(format!("there is no layer `{layer}`: there are {}", known.join(", "))));
    }
    let policies = compare::derive(player.session(), args.layer.as_deref(), &taken);
    bench.file.derive(policies.iter().map(|policy| (policy.name.clone(), policy.changes.clone())));
    if let Some(apply) = &args.apply {
        return write(&bench, apply, &policies, out);
    }
    let ways = ways(&bench);
    let mut comparison = match args.variants.as_slice() {
        [] => Comparison::new(ids.clone(), &ways, policies, &models),
        asked => Comparison::of(ids.clone(), sets(asked, &taken, &policies)?, policies),
    };
    let mut comparing =
        Comparing { bench, args: bench_args, models: models.clone(), counters: Counters::default(), player };
    while let Some(names) = comparison.next_way() {
        let row = comparing.row(&names, &ids);
        comparison.add(row);
    }
    let wrong: Vec<Wrong> = comparison.rows.iter().flat_map(|row| compare::check(row, &models)).collect();
    if let Some(turns) = args.turns
        && comparison.base().is_some_and(|base| turns > base.turns())
    {
        let have = comparison.base().map_or(0, Row::turns);
        return Err(Failure::message(format!("the run has no turn {turns}: it has {have}")));
    }
    let bench = comparing.bench.bench.clone();
    let table = comparison.table(&bench, &models, args.turns);
    let players = comparing.runs(Clone::clone);
    let volatility = comparing.volatility(&players);
    let worth = order::worth(&mut comparing, &volatility, &players, &ids);
    if args.json {
        let report = Report {
            bench: &bench.name,
            run: comparing.player.run().map(|run| &**run),
            turns: args.turns,
            models: &ids,
            rows: comparison.rows.iter().map(|row| row_report(&comparison, &table, row)).collect(),
            verdict: &table.verdict,
            least: &table.least,
            notes: &table.notes,
            sums: if wrong.is_empty() { "checked" } else { "wrong" },
            volatility: order::report(&volatility, worth.as_ref()),
        };
        out.json(&Schema::Compare.with(&models, report))?;
    } else {
        let run = comparing.player.run().map_or_else(String::new, |run| format!(", run {run}"));
        text(&bench.name, &run, &table, &comparison, wrong.is_empty(), out)?;
        out.line("")?;
        order::text(&comparing.bench, &volatility, worth.as_ref(), out)?;
    }
    let told = wrong.iter().map(|wrong| {
        let call = wrong.call.map_or_else(String::new, |call| format!(", call {}", call.0));
        Diagnostic::error(format!("a sum does not hold ({}{call}): {}", wrong.model, wrong.what))
    });
    Ok(Outcome::Told(told.collect()))
}

/// The models that are asked for; the usual ones by default.
pub(super) fn asked_models(args: &CompareArgs, models: &Models, own: &Name) -> Result<Vec<Name>> {
    if args.models.is_empty() {
        return Ok(compare::usual_models(models, own));
    }
    named_models(&args.models, models)
}

/// Models by their ids, or by the part of them behind the provider.
pub(super) fn named_models(asked: &[String], models: &Models) -> Result<Vec<Name>> {
    let mut out: Vec<Name> = Vec::new();
    for asked in asked {
        let id = match asked.split_once(':') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Name::from(&**asked),
            Some(_) => return Err(Failure::message(format!("--models {asked}: write provider:model"))),
            None => {
                let found: Vec<&Name> = models
                    .models
                    .keys()
                    .filter(|id| id.split_once(':').is_some_and(|(_, name)| name == asked))
                    .collect();
                match found.as_slice() {
                    [one] => (*one).clone(),
                    [] => return Err(Failure::message(format!("--models {asked}: write provider:model"))),
                    several => {
                        let names = several.iter().map(|id| &***id).collect::<Vec<_>>().join(", ");
                        return Err(Failure::message(format!("--models {asked}: name one of {names}")));
                    }
                }
            }
        };
        if !out.contains(&id) {
            out.push(id);
        }
    }
    Ok(out)
}

/// The variants that tell the same agent the same thing in another way.
fn ways(bench: &Bench) -> Vec<Name> {
    let elsewhere = |path: &str| matches!(path.split('.').next(), Some("agent" | "workspace"));
    let ways = bench.file.variants().iter();
    let ways = ways.filter(|way| !way.changes.iter().any(|change| elsewhere(&change.path)));
    ways.map(|way| way.name.clone()).collect()
}

/// Sets of variants and policies, as `a`, or `a+b` for both at once.
fn sets(asked: &[String], variants: &[Name], policies: &[Policy]) -> Result<Vec<Vec<Name>>> {
    let mut sets = Vec::new();
    for asked in asked {
        let mut set = Vec::new();
        for name in asked.split('+') {
            let known = variants.iter().chain(policies.iter().map(|policy| &policy.name));
            match known.clone().find(|known| &***known == name) {
                Some(known) => set.push(known.clone()),
                None => {
                    let known: Vec<&str> = known.map(|known| &**known).collect();
                    let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
                    return Err(Failure::message(format!("there is no variant or policy `{name}`: {known}")));
                }
            }
        }
        sets.push(set);
    }
    Ok(sets)
}

fn text(
    name: &str,
    run: &str,
    table: &Compared,
    comparison: &Comparison,
    checked: bool,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let turns = match (table.turns, table.all_turns) {
        (Some(1), _) => "turn 1 only".to_owned(),
        (Some(n), _) => format!("turns 1 to {n} only"),
        (None, 1) => "1 turn".to_owned(),
        (None, n) => format!("{n} turns"),
    };
    let calls = if table.calls == 1 { "1 call".to_owned() } else { format!("{} calls", table.calls) };
    out.line(format_args!("{name}{run}: {calls}, {turns}; $ is the input of 1,000 runs"))?;
    for note in &table.notes {
        out.line(format_args!("  {note}"))?;
    }
    out.line("")?;
    let lines = tables::compared(table);
    lines.write(out)?;
    out.line("")?;
    for failed in table.rows.iter().filter_map(|row| Some((row, row.failed.as_ref()?))) {
        out.line(format_args!("{} cannot be played: {}", failed.0.label, failed.1))?;
    }
    labelled("VERDICT", &table.verdict, out)?;
    labelled("BEST", &table.least, out)?;
    labelled("SAME", &table.same, out)?;
    let ways = comparison.rows.iter().filter(|row| row.failed.is_none()).count();
    let checked = if checked { "checked" } else { "WRONG, see the messages" };
    out.line(format_args!(
        "sums {checked}: {} x {} x {}, inclusive and exclusive",
        counted(ways as u64, "way"),
        counted(comparison.base().map_or(0, |row| row.calls.len() as u64), "call"),
        counted(table.models.len() as u64, "model")
    ))
}

fn labelled(label: &str, lines: &[Arc<str>], out: &mut Out<'_>) -> std::io::Result<()> {
    for (index, line) in lines.iter().enumerate() {
        out.line(format_args!("{:<7}  {line}", if index == 0 { label } else { "" }))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Report<'a> {
    bench: &'a str,
    run: Option<&'a str>,
    /// Only so many turns are counted in the sums of the rows; null for all.
    turns: Option<u32>,
    models: &'a [Name],
    rows: Vec<RowReport<'a>>,
    verdict: &'a [Arc<str>],
    least: &'a [Arc<str>],
    notes: &'a [Arc<str>],
    /// `checked`, or `wrong`.
    sums: &'static str,
    volatility: order::VolatilityReport<'a>,
}

#[derive(Serialize)]
struct RowReport<'a> {
    /// `a`, `a+b` for several at once; empty for the bench as it is written.
    variant: String,
    /// What the table calls it; null for a row that it does not show.
    label: Option<&'a str>,
    /// The bench as it is written.
    this_bench: bool,
    /// The row that costs least of those that leave nothing stale and nothing untold.
    least: bool,
    /// The row that is sent the same; null for none.
    same_as: Option<String>,
    failed: Option<&'a str>,
    models: BTreeMap<&'a str, ModelReport<'a>>,
    stale: u32,
    superseded: u32,
    untold: u32,
    /// Tokens of the last call on the first model whose tokens can be counted: how far the context has grown.
    context: Option<u32>,
}

#[derive(Serialize)]
struct ModelReport<'a> {
    lost: Option<u64>,
    /// US dollars of input for 1,000 runs.
    cost_per_1000: Option<f64>,
    sent: Option<u64>,
    read: Option<u64>,
    write: Option<u64>,
    fresh: Option<u64>,
    estimate: bool,
    context: Context,
    turns: Vec<TurnReport>,
    calls: Vec<CallReport<'a>>,
}

/// How the requests grow, in tokens.
#[derive(Serialize)]
struct Context {
    first: Option<u32>,
    last: Option<u32>,
    largest: Option<u32>,
}

#[derive(Serialize)]
struct TurnReport {
    turn: u32,
    calls: u32,
    lost: Option<u64>,
    cost_per_1000: Option<f64>,
}

#[derive(Serialize)]
struct CallReport<'a> {
    call: u32,
    turn: u32,
    agent: &'a str,
    sent: Option<u32>,
    read: Option<u32>,
    write: Option<u32>,
    fresh: Option<u32>,
    lost: Option<u32>,
    cost: Option<Money>,
    verdict: Verdict,
}

fn joined(names: &[Name]) -> String {
    names.iter().map(|name| &**name).collect::<Vec<_>>().join("+")
}

fn row_report<'a>(comparison: &Comparison, table: &'a Compared, row: &'a Row) -> RowReport<'a> {
    let shown = table.rows.iter().find(|shown| shown.names == row.names);
    let told = row.told(table.turns);
    let models = row.models.iter().enumerate().map(|(index, id)| {
        let sum = row.sum(index, table.turns);
        let in_turns = (1..=table.turns.unwrap_or(row.turns())).map(|turn| {
            let sum = row.turn_sum(index, turn);
            TurnReport { turn, calls: sum.calls, lost: sum.lost, cost_per_1000: of_1000(&sum) }
        });
        let calls = row.within(table.turns).filter_map(|call| {
            let cell: &CallCell = call.cells.get(index)?;
            Some(CallReport {
                call: call.call.0,
                turn: call.turn,
                agent: &call.agent,
                sent: cell.sent,
                read: cell.read,
                write: cell.write,
                fresh: cell.fresh,
                lost: cell.lost,
                cost: cell.cost,
                verdict: cell.verdict,
            })
        });
        let report = ModelReport {
            lost: sum.lost,
            cost_per_1000: of_1000(&sum),
            sent: sum.sent,
            read: sum.read,
            write: sum.write,
            fresh: sum.fresh,
            estimate: sum.estimate,
            context: Context { first: sum.first, last: sum.last, largest: sum.largest },
            turns: in_turns.collect(),
            calls: calls.collect(),
        };
        (&**id, report)
    });
    RowReport {
        variant: joined(&row.names),
        label: shown.map(|shown| &*shown.label),
        this_bench: row.names.is_empty(),
        least: shown.is_some_and(|shown| shown.least),
        same_as: comparison.same_as(row).map(|other| joined(&other.names)),
        failed: row.failed.as_deref(),
        models: models.collect(),
        stale: told.stale,
        superseded: told.superseded,
        untold: told.untold,
        context: if row.models.is_empty() { None } else { row.sum(table.counted, table.turns).last },
    }
}

fn of_1000(sum: &Sum) -> Option<f64> {
    sum.cost.map(|cost| (cost * 1_000).dollars())
}

/// Shows what a way changes in the bench file, and writes it.
fn write(bench: &Bench, asked: &str, policies: &[Policy], out: &mut Out<'_>) -> Result {
    let Some((path, key)) = bench.file.path() else {
        return Err(Failure::message("a plain folder has no bench file to write to"));
    };
    if bench.is_copy() {
        return Err(Failure::message(
            "a sample cannot be changed: copy it with `plywood samples copy`, or open it in the workbench",
        ));
    }
    let taken: Vec<Name> = bench.file.variants().iter().map(|variant| variant.name.clone()).collect();
    let names = sets(&[asked.to_owned()], &taken, policies)?.concat();
    let Some(wanted) = bench.file.variant_edit(&names) else {
        return Err(Failure::message(format!("there is no variant or policy `{asked}`")));
    };
    let original = Original::read(path).map_err(|why| Failure::message(format!("{}: {why}", key.path)))?;
    let edited = edit::edit(&key.path, &original, &wanted)
        .map_err(|why| Failure::message(format!("{asked} cannot be written into {}: {why}", key.path)))?;
    for line in edit::changed_lines(original.text(), &edited.splices) {
        let text = format!("{}{}", line.sign(), line.text());
        let painted = match line {
            edit::ChangedLine::At(_) => out.painted(&text, "2"),
            edit::ChangedLine::Old(_) => out.painted(&text, "31"),
            edit::ChangedLine::New(_) => out.painted(&text, "32"),
        };
        out.raw_line(painted)?;
    }
    edit::write(path, &original, &edited).map_err(|_| {
        Failure::message(format!("{} could not be written, or was changed meanwhile", key.path))
    })?;
    out.line(format_args!("{}; written to {}", edited.said, path.display()))?;
    Ok(Outcome::Done)
}
