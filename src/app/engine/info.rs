//! The three lines on top: title, agent, model; and what lists offer.

use std::sync::Arc;

use super::publish::run_size;
use crate::app::snapshot::{
    AgentInfo, Estimate, ModelChoice, ModelInfo, Prices, RunChoice, TokenMethod, Was,
};
use crate::core::bench::{Bench, LayerSource};
use crate::core::cache::{Model, Models};
use crate::core::fact::{FactKey, Name};
use crate::core::run::{CallRecord, Session};
use crate::core::source::parse_time;
use crate::core::tokens::Method;

/// The second line.
pub(super) fn agent(session: &Session, record: Option<&CallRecord>) -> AgentInfo {
    // As the prompts of the agent that makes the call see them: a sub-agent has a role of its own.
    let own = record.and_then(|record| session.agent(&record.agent)).unwrap_or_default();
    let fields: Vec<(Name, Arc<str>)> = session
        .bench()
        .agent
        .iter()
        .map(|(name, value)| (name.clone(), own.get(name).unwrap_or(value).to_string().into()))
        .collect();
    let cwd = record.map(|record| record.cwd.clone()).unwrap_or_default();
    let was = record.and_then(|record| {
        session
            .changes()
            .iter()
            .rev()
            .filter(|changed| matches!(&changed.key, FactKey::Named(name) if &**name == "cwd"))
            .filter(|changed| changed.agent.as_ref().is_none_or(|agent| *agent == record.agent))
            .find(|changed| session.event(changed.event).before <= record.call && *changed.new == *cwd)
            .map(|changed| Was {
                value: if changed.old.is_empty() { "(empty)".into() } else { changed.old.clone() },
                cause: session.event(changed.event).label.clone(),
            })
    });
    let tools = record.map_or(0, |record| {
        record.head.iter().filter(|block| block.kind == crate::core::wire::BlockKind::Tool).count()
    });
    let clock = record
        .and_then(|record| parse_time(&record.now))
        .map(|time| time.strftime("%H:%M %Z").to_string().into());
    AgentInfo { fields, cwd, cwd_was: was, tools: tools as u32, clock: clock.unwrap_or_default() }
}

/// The third line. `at` is when the shown call is sent, in milliseconds since the Unix epoch, and `tokens` how long it
/// is: prices depend on both.
pub(super) fn model(
    bench: &Bench,
    record: Option<&CallRecord>,
    model: &Model,
    at: i64,
    tokens: Option<u64>,
) -> ModelInfo {
    let price = model.price_at(at, tokens.and_then(|tokens| u32::try_from(tokens).ok()).unwrap_or(0));
    ModelInfo {
        id: model.id.clone(),
        guidance: guidance(bench, record).into(),
        tokens: token_method(&model.method),
        cache: model.cache_phrase().unwrap_or_default().into(),
        prices: price.map(|price| {
            let long = price.long.then(|| "for a request as long as this".to_owned());
            let later = price.later.map(|day| format!("in force from {day}"));
            Prices {
                input: price.rates.input.per_million(),
                read: Some(price.rates.read.per_million()),
                write: price.rates.write_5m.map(|rate| rate.per_million()),
                date: price.checked.map(|day| day.to_string()).unwrap_or_default().into(),
                note: long.into_iter().chain(later).collect::<Vec<_>>().join(", ").into(),
            }
        }),
        window: model.window.as_ref().map(|window| u64::from(window.value)),
    }
}

/// What the bench says to this model: the rule that was taken, what it matched, and the rules that came too late.
fn guidance(bench: &Bench, record: Option<&CallRecord>) -> String {
    let mut said = Vec::new();
    for layer in &bench.layers {
        let LayerSource::Table { rows, on, .. } = &layer.from else { continue };
        if !on.text.contains("model") {
            continue;
        }
        let choice = record.and_then(|record| record.layer(&layer.id)).map(|layer| &layer.state.choice);
        said.push(match choice.map(|choice| choice.rows_in_words()) {
            Some(Some(words)) => words,
            Some(None) => format!("no rule of {rows} matches"),
            None => rows.to_string(),
        });
    }
    let said = if said.is_empty() { "no rules in bench".to_owned() } else { said.join("; ") };
    format!("guidance: {said}")
}

fn token_method(method: &Method) -> TokenMethod {
    match method {
        Method::Exact { encoding } => TokenMethod { name: encoding.name().into(), estimate: None },
        Method::Estimate { base, factor, error } => TokenMethod {
            name: base.name().into(),
            estimate: Some(Estimate { factor: *factor, error: format!("+-{:.0} %", error * 100.0).into() }),
        },
        Method::Unknown { .. } => TokenMethod::default(),
    }
}

/// The list of models, the bench's own first if it is not in the data.
pub(super) fn models(models: &Models, selected: &Name, at: i64) -> Vec<ModelChoice> {
    let choice = |model: &Model| {
        let mut about = vec![model.method.to_string()];
        about.extend(model.cache_phrase());
        about.extend(
            model.price_at(at, 0).map(|price| format!("${}/${}", price.rates.input, price.rates.read)),
        );
        ModelChoice { id: model.id.clone(), about: about.join("; ").into(), on: model.id == *selected }
    };
    let mut choices: Vec<ModelChoice> = Vec::new();
    if !models.models.contains_key(selected) {
        choices.push(choice(&models.get(selected)));
    }
    choices.extend(models.models.values().map(|model| choice(model)));
    choices
}

/// The list of runs.
pub(super) fn runs(bench: &Bench, on: Option<&Name>) -> Vec<RunChoice> {
    bench
        .runs
        .keys()
        .map(|name| {
            let (calls, turns) = run_size(bench, name);
            let plural =
                |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
            RunChoice {
                name: name.clone(),
                about: format!("{}, {}", plural(calls, "call"), plural(turns, "turn")).into(),
                on: Some(name) == on,
            }
        })
        .collect()
}
