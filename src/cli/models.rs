//! `plywood models`: what is known of each model, from where, and how far it can be trusted.

use std::sync::Arc;

use serde::Serialize;

use super::args::ModelsArgs;
use super::head::Schema;
use super::open::known_models;
use super::output::{Failure, Out, Outcome, Result, Table};
use super::settings;
use crate::core::cache::{
    Accounting, Boundary, Confidence, Excess, Factor, Family, Generated, Known, Life, LongContext, Lookup,
    Model, Models, Price, Rates, Reasoning, Visible, When, short_id,
};
use crate::core::diagnostic::Diagnostic;
use crate::core::text::number::Thousands;
use crate::core::wire::BlockKind;
use crate::io::syntax::suggest;

#[derive(Serialize)]
struct Report {
    models: Vec<Entry>,
}

/// A model with every value that is known of it.
#[derive(Serialize)]
struct Entry {
    id: String,
    family: String,
    values: Vec<Value>,
}

/// One value with where it is from.
#[derive(Serialize)]
struct Value {
    name: String,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<&'static str>,
}

/// Prints the models, or everything about one.
pub(super) fn run(args: &ModelsArgs, out: &mut Out<'_>) -> Result {
    let models = settings::models(&args.settings)?;
    match &args.model {
        Some(id) => {
            let meant: Vec<Arc<Model>> = named(&models, id);
            if let [model] = &meant[..]
                && !models.knows(&model.id)
            {
                let problem = Diagnostic::error(format!("nothing is known of the model `{id}`"));
                let hint = like(&models, id).unwrap_or_else(|| known_models(id, &models));
                return Err(Failure::Diagnostics(vec![problem.hint(hint)]));
            }
            if args.json {
                let report = Report { models: meant.iter().map(|model| entry(model)).collect() };
                out.json(&Schema::Models.with(&models, report))?;
                return Ok(Outcome::Done);
            }
            for (index, model) in meant.iter().enumerate() {
                if index > 0 {
                    out.line("")?;
                }
                explain(model, out)?;
            }
        }
        None if args.json => {
            let report = Report { models: models.models.values().map(|model| entry(model)).collect() };
            out.json(&Schema::Models.with(&models, report))?;
        }
        None => {
            let heading =
                ["model", "family", ">minimum", ">input", ">read", ">write", ">output", "checked", "trust"];
            let mut table = Table::new(&heading);
            for model in models.models.values() {
                table.row(summary(model));
            }
            table.write(out)?;
            out.line(format_args!(
                "\nDollars for a million tokens, newest prices; model data of {}. A the vendor's own page, B a careful \
                 copy, C a third party,\nD inferred, yours from your own file. `plywood models MODEL` names the source \
                 of each value.",
                models.revision
            ))?;
        }
    }
    Ok(Outcome::Done)
}

/// The models with this id; without a provider, all whose own name it is.
fn named(models: &Models, id: &str) -> Vec<Arc<Model>> {
    let exact = models.get(&id.into());
    if models.knows(&exact.id) || id.contains(':') {
        return vec![exact];
    }
    let mut meant: Vec<_> = models.models.values().filter(|model| model.short() == id).cloned().collect();
    if meant.is_empty() {
        meant.push(exact);
    }
    meant
}

/// What may have been meant by an id that nothing is known of.
fn like(models: &Models, id: &str) -> Option<String> {
    const MOST: usize = 8;
    let known = || models.models.keys().map(|id| &**id);
    let shorts = models.models.values().map(|model| model.short());
    if let Some(near) = suggest::nearest(id, known().chain(shorts)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let word = short_id(id);
    let like: Vec<&str> =
        known().filter(|known| !word.is_empty() && known.contains(word)).take(MOST).collect();
    (!like.is_empty()).then(|| format!("known are {}; `plywood models` lists all", like.join(", ")))
}

const NOT_KNOWN: &str = "n/a";

fn summary(model: &Model) -> Vec<String> {
    let price = model.prices.last();
    // Another currency is said with each amount, as the heading speaks of dollars.
    let sign = price.and_then(|price| price.currency.as_ref());
    let sign = sign.map_or_else(String::new, |currency| format!("{currency} "));
    let rate = |of: fn(&Rates) -> Option<String>| {
        let shown = price.and_then(|price| of(&price.rates.value));
        shown.map_or_else(|| NOT_KNOWN.to_owned(), |shown| format!("{sign}{shown}"))
    };
    let write = |rates: &Rates| match (rates.write_5m, rates.write_1h) {
        (Some(short), Some(hour)) => format!("{short}/{hour}"),
        (Some(one), None) | (None, Some(one)) => one.to_string(),
        (None, None) => "no fee".to_owned(),
    };
    let minimum = match &model.family {
        Some(family) => {
            family.min().map_or_else(|| "none".to_owned(), |min| Thousands(min.value).to_string())
        }
        None => NOT_KNOWN.to_owned(),
    };
    let checked = price.and_then(|price| price.rates.checked).map_or_else(String::new, |day| day.to_string());
    let trust = price.map_or_else(String::new, |price| confidence(price.rates.confidence).to_owned());
    vec![
        model.id.to_string(),
        family(model),
        minimum,
        rate(|rates| Some(rates.input.to_string())),
        rate(|rates| Some(rates.read.to_string())),
        price.map_or_else(|| NOT_KNOWN.to_owned(), |price| write(&price.rates.value)),
        rate(|rates| rates.output.map(|rate| rate.to_string())),
        checked,
        trust,
    ]
}

fn family(model: &Model) -> String {
    model.family.as_ref().map_or(NOT_KNOWN, Family::word).to_owned()
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::A => "A",
        Confidence::B => "B",
        Confidence::C => "C",
        Confidence::D => "D",
        Confidence::User => "yours",
    }
}

fn explain(model: &Model, out: &mut Out<'_>) -> Result<()> {
    let entry = entry(model);
    out.line(&entry.id)?;
    let mut table = Table::new(&["what", "value", "source", "checked", "trust"]);
    for value in entry.values {
        table.row([
            value.name,
            value.value,
            value.source.unwrap_or_default(),
            value.checked.unwrap_or_default(),
            value.confidence.unwrap_or_default().to_owned(),
        ]);
    }
    table.write(out)?;
    Ok(())
}

fn entry(model: &Model) -> Entry {
    Entry { id: model.id.to_string(), family: family(model), values: values(model) }
}

fn of<T>(name: impl Into<String>, value: impl Into<String>, known: &Known<T>) -> Value {
    Value {
        name: name.into(),
        value: value.into(),
        source: Some(known.source.to_string()),
        checked: known.checked.map(|day| day.to_string()),
        confidence: Some(confidence(known.confidence)),
    }
}

fn missing(name: &str, what: &str, model: &Model) -> Value {
    let value = format!("n/a: no {what} for {}", model.id);
    Value { name: name.to_owned(), value, source: None, checked: None, confidence: None }
}

fn seconds(seconds: u32) -> String {
    match seconds {
        s if s >= 3600 && s % 3600 == 0 => format!("{} h", s / 3600),
        s if s >= 60 && s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

/// Everything that is known, and what is not.
fn values(model: &Model) -> Vec<Value> {
    let mut values = Vec::new();
    let counted = model.method.to_string();
    values.push(match &model.method_from {
        Some(from) => of("tokens", counted, from),
        None => {
            Value { name: "tokens".to_owned(), value: counted, source: None, checked: None, confidence: None }
        }
    });
    values.push(match &model.window {
        Some(window) => of("window", format!("{} tokens", Thousands(window.value)), window),
        None => missing("window", "window", model),
    });
    match &model.family {
        Some(family) => cache(family, &mut values),
        None => values.push(missing("cache", "cache rules", model)),
    }
    for (zone, names) in
        [("tools", &model.salts.tools), ("system", &model.salts.system), ("messages", &model.salts.messages)]
    {
        if let Some(names) = names {
            values.push(of(format!("settings that count from {zone} on"), names.value.join(", "), names));
        }
    }
    for (name, known) in &model.defaults {
        values.push(of(format!("{name}, where it is not given"), known.value.to_string(), known));
    }
    if let Some(names) = &model.routing {
        values.push(of("settings that choose the machine", names.value.join(", "), names));
    }
    if let Some(known) = &model.reasoning {
        let shown = match known.value {
            Reasoning::Kept => "stays where it was sent back",
            Reasoning::Stripped => "of earlier turns is taken out when the user speaks again",
            Reasoning::Replay => "has to be sent back as it was",
        };
        values.push(of("reasoning", shown, known));
    }
    values.push(match &model.reliability {
        Some(share) => {
            of("read in real traffic", format!("{:.1} % of what could be", share.value * 100.0), share)
        }
        None => missing("read in real traffic", "measurement", model),
    });
    match &model.accounting {
        Some(known) => {
            let shown = match known.value {
                Accounting::Inclusive => "input includes what was read from the cache",
                Accounting::Exclusive => "input is what was neither read nor written",
            };
            values.push(of("usage", shown, known));
        }
        None => values.push(missing("usage", "accounting", model)),
    }
    if model.prices.is_empty() {
        values.push(missing("price", "price", model));
    }
    for price in &model.prices {
        prices(price, model, &mut values);
    }
    for known in &model.factors {
        let Factor { param, is, times } = &known.value;
        let shown = match times {
            Some(times) => format!("x{}", f64::from(*times) / 1_000.0),
            None => "n/a: another price, which is not known here".to_owned(),
        };
        values.push(of(format!("price with {param} {is}"), shown, known));
    }
    for (name, known) in &model.about {
        values.push(of(name.to_string(), known.value.to_string(), known));
    }
    if let Some(framing) = &model.framing {
        let value = framing.to_string();
        values.push(Value {
            name: "counts".to_owned(),
            value,
            source: None,
            checked: None,
            confidence: None,
        });
    }
    values
}

/// What is known of how a cache works.
fn cache(family: &Family, values: &mut Vec<Value>) {
    let tokens =
        |name: &str, known: &Known<u32>| of(name, format!("{} tokens", Thousands(known.value)), known);
    let count = |name: &str, known: &Known<u32>| of(name, Thousands(known.value).to_string(), known);
    let yes = |name: &str, known: &Known<bool>| of(name, if known.value { "yes" } else { "no" }, known);
    let lives = |known: &Known<Vec<u32>>| {
        let lives: Vec<String> = known.value.iter().map(|life| seconds(*life)).collect();
        of("lives", lives.join(", "), known)
    };
    match family {
        Family::Block(rules) => {
            values.push(of("cache", "the longest common prefix, in whole blocks", &rules.block));
            values.push(tokens("block", &rules.block));
            values.push(tokens("minimum", &rules.min));
            age(&rules.life, values);
            values.extend(rules.lives.as_ref().map(lives));
            values.extend(rules.visible.as_ref().map(visible));
            values.extend(rules.generated.as_ref().map(generated));
            values.extend(
                rules.recompute_last.as_ref().map(|known| yes("the last token is always new", known)),
            );
            values.extend(
                rules.exact_resend.as_ref().map(|known| yes("a repetition is read to its end", known)),
            );
            values.extend(rules.hidden.as_ref().map(|known| tokens("hidden in front", known)));
            values.extend(rules.report.as_ref().map(|known| tokens("reported in steps of", known)));
            values.extend(rules.room.as_ref().map(|known| tokens("room", known)));
        }
        Family::Marked(rules) => {
            values.push(of("cache", "what ends at a mark", &rules.max_marks));
            values.push(count("marks, at most", &rules.max_marks));
            values.extend(rules.excess.as_ref().map(excess));
            values.push(tokens("minimum", &rules.min));
            values.push(of("lookback", format!("{} positions", rules.lookback.value), &rules.lookback));
            values.push(collapse(&rules.collapse));
            values.push(lives(&rules.lives));
            values.push(visible(&rules.visible));
            values.extend(rules.automatic.as_ref().map(|known| yes("a mark for the whole request", known)));
            values.extend(rules.server_tools.as_ref().map(|known| {
                let shown = format!("get a mark of {}, if the request has any", seconds(known.value));
                of("results of the provider's own tools", shown, known)
            }));
        }
        Family::AutoMarked(rules) => {
            let shown = match rules.boundary.value {
                Boundary::LastMessage => {
                    "what ends at a mark; the provider puts one behind the latest message"
                }
                Boundary::End => "what ends at a mark; the provider puts one at the end",
            };
            values.push(of("cache", shown, &rules.boundary));
            values.push(count("own marks beside it, at most", &rules.max_marks));
            values.extend(rules.only_own.as_ref().map(|known| count("own marks alone, at most", known)));
            values.push(excess(&rules.excess));
            values.push(tokens("minimum", &rules.min));
            match &rules.lookup {
                Lookup::Walk { positions, collapse: kinds } => {
                    values.push(of("lookback", format!("{} positions", positions.value), positions));
                    values.push(collapse(kinds));
                }
                Lookup::Ends { first, last, previous, instructions } => {
                    values.push(count("looked at: own marks, the first", first));
                    values.push(count("looked at: own marks, the last", last));
                    values.push(count("looked at: ends of messages before", previous));
                    values.push(yes("looked at: the end of the instructions", instructions));
                }
            }
            values.push(lives(&rules.lives));
            values.extend(rules.renew.as_ref().map(|known| yes("a read renews the life it asks for", known)));
            values.push(visible(&rules.visible));
        }
        Family::Units(rules) => {
            values.push(of(
                "cache",
                "whole units: a prompt, with its answer, what two have in common",
                &rules.common,
            ));
            values.push(tokens("minimum", &rules.min));
            age(&rules.life, values);
            values.push(visible(&rules.visible));
            values.push(generated(&rules.generated));
        }
        Family::Radix(rules) => {
            values.push(of("cache", "a tree of all prefixes, while there is room", &rules.page));
            values.push(tokens("page", &rules.page));
            values.push(generated(&rules.generated));
            values.extend(rules.room.as_ref().map(|known| tokens("room", known)));
        }
        Family::Slot(rules) => {
            values.push(of("cache", "the last prompt of each slot", &rules.slots));
            values.push(count("slots", &rules.slots));
            let share = format!("{} % of the prompt", f64::from(rules.similarity.value) / 10.0);
            values.push(of("in common with a slot, at least", share, &rules.similarity));
            values.push(tokens("always new", &rules.min_eval));
            values.extend(rules.host.as_ref().map(|known| tokens("room in main memory", known)));
            values.push(generated(&rules.generated));
            values.extend(rules.checkpoint.as_ref().map(|known| tokens("can be cut at multiples of", known)));
        }
        Family::Resource(rules) => {
            let shown = if rules.chain.value {
                "a chain of answers, continued by id"
            } else {
                "what the caller makes and names"
            };
            values.push(of("cache", shown, &rules.chain));
            values.push(tokens("minimum", &rules.min));
            values.push(lives(&rules.lives));
            values.push(yes("a read makes it live on", &rules.refresh));
        }
        Family::Opaque(rules) => {
            values.push(of("cache", "not published: figures are the most that could be", &rules.min));
            values.push(tokens("minimum", &rules.min));
            age(&rules.life, values);
            values.extend(rules.visible.as_ref().map(visible));
        }
    }
}

fn age(life: &Life, values: &mut Vec<Value>) {
    match &life.max {
        Some(max) => values.push(of("life, at most", seconds(max.value), max)),
        None => values.push(Value {
            name: "life, at most".to_owned(),
            value: "n/a: none is published".to_owned(),
            source: None,
            checked: None,
            confidence: None,
        }),
    }
    values.extend(life.typical.as_ref().map(|typical| of("life, typical", seconds(typical.value), typical)));
}

fn visible(known: &Known<Visible>) -> Value {
    let Visible { when, after } = known.value;
    let shown = match when {
        When::Immediate => "at once".to_owned(),
        When::BlockFull => "as soon as a block is full".to_owned(),
        When::FirstToken => format!("when the answer begins ({after} ms stand for it)"),
        When::ResponseEnd => format!("when the answer is complete ({after} ms stand for it)"),
        When::Seconds => format!("seconds later ({after} ms stand for it)"),
        When::Asynchronous => format!("some time later ({after} ms stand for it)"),
    };
    of("readable by others", shown, known)
}

fn generated(known: &Known<Generated>) -> Value {
    let shown = match known.value {
        Generated::No => "not before it is sent back",
        Generated::Yes => "is stored behind the prompt",
        Generated::Measured => "is not documented; measured to be stored, so in the estimate only",
    };
    of("what the model writes", shown, known)
}

fn excess(known: &Known<Excess>) -> Value {
    let shown = match known.value {
        Excess::Error => "is an error",
        Excess::DropOldest => "takes the place of the oldest",
    };
    of("one mark more", shown, known)
}

fn collapse(known: &Known<Vec<BlockKind>>) -> Value {
    let kinds: Vec<String> = known.value.iter().map(|kind| kind_word(*kind)).collect();
    let kinds = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
    of("counted as one position", kinds, known)
}

fn prices(price: &Price, model: &Model, values: &mut Vec<Value>) {
    // The life that the price of writing is for, where there is a choice.
    let life = model.family.as_ref().and_then(|family| family.lives().first().copied());
    let write = life.map_or_else(|| "write".to_owned(), |life| format!("write for {}", seconds(life)));
    let from = price.from.map_or_else(String::new, |day| format!(" from {day}"));
    let sign = price.currency.as_ref().map_or_else(|| "$".to_owned(), |currency| format!("{currency} "));
    rates(&format!("price{from}"), &sign, &write, &price.rates.value, &price.rates, values);
    for long in &price.long {
        let LongContext { above, rates: dear } = &long.value;
        rates(&format!("price{from} above {} tokens", Thousands(*above)), &sign, &write, dear, long, values);
    }
    if let Some(known) = &price.peak {
        let peak = &known.value;
        let hours: Vec<String> = peak.hours.iter().map(|(from, to)| format!("{from:02}-{to:02}")).collect();
        let days = if peak.weekdays { ", Monday to Friday" } else { "" };
        let times = f64::from(peak.times) / 1_000.0;
        let shown = format!("x{times} at {} UTC{days}; holidays are not known", hours.join(" and "));
        values.push(of(format!("price{from}, peak hours"), shown, known));
    }
    if let Some(storage) = &price.storage {
        values.push(of(
            format!("price{from}, kept for an hour"),
            format!("{sign}{}", storage.value),
            storage,
        ));
    }
    if let Some(currency) = &price.currency {
        let value = format!("n/a: in {currency}, which is not converted");
        values.push(Value {
            name: format!("price{from}, in dollars"),
            value,
            source: None,
            checked: None,
            confidence: None,
        });
    }
}

/// A row for each rate, for a million tokens.
fn rates<T>(name: &str, sign: &str, write: &str, rates: &Rates, known: &Known<T>, values: &mut Vec<Value>) {
    let rows = [
        ("input", Some(rates.input)),
        ("read", Some(rates.read)),
        (write, rates.write_5m),
        ("write for 1 h", rates.write_1h),
        ("output", rates.output),
    ];
    for (what, rate) in rows {
        if let Some(rate) = rate {
            values.push(of(format!("{name}, {what}"), format!("{sign}{rate}"), known));
        }
    }
    if rates.write_5m.is_none() && rates.write_1h.is_none() {
        values.push(of(format!("{name}, write"), "n/a (no fee)", known));
    }
}

/// A kind of block as requests name it: `tool_use`.
fn kind_word(kind: BlockKind) -> String {
    let mut word = String::new();
    for (at, c) in format!("{kind:?}").char_indices() {
        if c.is_uppercase() && at > 0 {
            word.push('_');
        }
        word.extend(c.to_lowercase());
    }
    word
}
