//! How often layers changed, and what another order of them is worth: the last part of `plywood compare`.

use serde::Serialize;

use super::compare::Comparing;
use super::open::Bench;
use super::output::{Out, Table};
use crate::core::compare::{
    LayerVolatility, Row, Share, Suggestion, Volatility, Worth, pick, reordered, suggest,
};
use crate::core::fact::Name;
use crate::core::run::Player;
use crate::core::text::number::{counted, grouped};

/// The order that is worth most, if one is worth anything.
pub(super) fn worth(
    comparing: &mut Comparing,
    volatility: &Volatility,
    players: &[Player],
    ids: &[Name],
) -> Option<(Suggestion, Vec<Worth>)> {
    let suggestions = suggest(&comparing.bench.bench, volatility);
    if suggestions.is_empty() {
        return None;
    }
    let today: Vec<Row> = players.iter().map(|player| comparing.row_of(player, ids)).collect();
    let mut candidates = Vec::with_capacity(suggestions.len());
    for suggestion in suggestions {
        let players = comparing.runs(|bench| reordered(bench, &suggestion));
        let rows = players.iter().map(|player| comparing.row_of(player, ids)).collect();
        candidates.push((suggestion, rows));
    }
    pick(&today, &candidates)
}

fn share(share: Share) -> String {
    if share.of == 0 { "-".to_owned() } else { format!("{} of {}", share.changed, share.of) }
}

/// The table of layers, and the suggestion in words.
pub(super) fn text(
    bench: &Bench,
    volatility: &Volatility,
    worth: Option<&(Suggestion, Vec<Worth>)>,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let runs = if volatility.runs == 1 { "1 run".to_owned() } else { format!("{} runs", volatility.runs) };
    out.line(format_args!(
        "How often layers changed: {runs}, {}",
        counted(u64::from(volatility.calls), "call")
    ))?;
    let mut table =
        Table::new(&["layer", "refresh", ">in a turn", ">at a new turn", ">between runs", ">tokens"]);
    for layer in &volatility.layers {
        table.row([
            bench.shown(&layer.layer),
            layer.refresh.to_owned(),
            share(layer.in_turn),
            share(layer.at_turn),
            share(layer.between_runs),
            layer.tokens.map_or_else(|| "n/a".to_owned(), |tokens| grouped(u64::from(tokens))),
        ]);
    }
    table.write(out)?;
    out.line("")?;
    let Some((suggestion, worth)) = worth else {
        return out.line("ORDER    no other order that the bench allows loses less in its runs");
    };
    let shown = |id: &Name| Name::from(bench.shown(id));
    for (index, line) in suggestion.words(&shown).iter().enumerate() {
        out.line(format_args!("{:<7}  {line}", if index == 0 { "ORDER" } else { "" }))?;
    }
    for worth in worth {
        let about = if worth.estimate { "~" } else { "" };
        let tokens = |tokens: Option<u64>| {
            tokens.map_or_else(|| "n/a".to_owned(), |tokens| format!("{about}{}", grouped(tokens)))
        };
        let cost = |cost: Option<crate::core::cache::Money>| {
            cost.map_or_else(|| "n/a".to_owned(), |cost| format!("{about}{}", (cost * 1_000).decimals(2)))
        };
        out.line(format_args!(
            "         {}: lost {} instead of {}, {} instead of {} for 1,000 times all runs",
            worth.model,
            tokens(worth.lost_then),
            tokens(worth.lost),
            cost(worth.cost_then),
            cost(worth.cost),
        ))?;
    }
    Ok(())
}

#[derive(Serialize)]
pub(super) struct VolatilityReport<'a> {
    runs: u32,
    calls: u32,
    layers: &'a [LayerVolatility],
    order: Option<OrderReport<'a>>,
}

#[derive(Serialize)]
struct OrderReport<'a> {
    place: &'a str,
    /// True where layers are moved by other keys, false where by their place in the list.
    by_key: bool,
    layers: &'a [Name],
    moved: &'a [Name],
    models: Vec<WorthReport<'a>>,
}

#[derive(Serialize)]
struct WorthReport<'a> {
    model: &'a str,
    lost: Option<u64>,
    lost_then: Option<u64>,
    cost_per_1000: Option<f64>,
    cost_per_1000_then: Option<f64>,
    estimate: bool,
}

/// The same as JSON.
pub(super) fn report<'a>(
    volatility: &'a Volatility,
    worth: Option<&'a (Suggestion, Vec<Worth>)>,
) -> VolatilityReport<'a> {
    let of_1000 = |cost: Option<crate::core::cache::Money>| cost.map(|cost| (cost * 1_000).dollars());
    VolatilityReport {
        runs: volatility.runs,
        calls: volatility.calls,
        layers: &volatility.layers,
        order: worth.map(|(suggestion, worth)| OrderReport {
            place: &suggestion.place,
            by_key: suggestion.by_key,
            layers: &suggestion.order,
            moved: &suggestion.moved,
            models: worth
                .iter()
                .map(|worth| WorthReport {
                    model: &worth.model,
                    lost: worth.lost,
                    lost_then: worth.lost_then,
                    cost_per_1000: of_1000(worth.cost),
                    cost_per_1000_then: of_1000(worth.cost_then),
                    estimate: worth.estimate,
                })
                .collect(),
        }),
    }
}
