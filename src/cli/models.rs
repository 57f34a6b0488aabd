//! `plywood models`: what is known of each model, from where, and how far it can be trusted.

use serde::Serialize;

use super::args::ModelsArgs;
use super::output::{Out, Outcome, Result, Table};
use super::report::Revisions;
use super::settings;
use crate::core::cache::{
    Accounting, Confidence, Family, Known, LongContext, Model, Price, Rates, Thousands,
};
use crate::core::wire::BlockKind;
use crate::io::syntax::suggest;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    revisions: Revisions,
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
    let revisions = Revisions::new(&models.revision);
    let schema = "plywood.models/1";
    match &args.model {
        Some(id) => {
            let model = models.get(&id.as_str().into());
            if args.json {
                out.json(&Report { schema, revisions, models: vec![entry(&model)] })?;
            } else {
                explain(&model, out)?;
                let known = models.models.keys().map(|id| &**id).collect::<Vec<_>>();
                let near = suggest::nearest(id, known).filter(|_| model.family.is_none());
                if let Some(near) = near.filter(|near| near != id) {
                    out.line(format_args!("\nDid you mean {near}?"))?;
                }
            }
        }
        None if args.json => {
            let models = models.models.values().map(|model| entry(model)).collect();
            out.json(&Report { schema, revisions, models })?;
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

const NOT_KNOWN: &str = "n/a";

fn summary(model: &Model) -> Vec<String> {
    let price = model.prices.last();
    let rate =
        |of: fn(&Rates) -> String| price.map_or_else(|| NOT_KNOWN.to_owned(), |price| of(&price.rates.value));
    let write = |rates: &Rates| match (rates.write_5m, rates.write_1h) {
        (Some(short), Some(hour)) => format!("{short}/{hour}"),
        (Some(one), None) | (None, Some(one)) => one.to_string(),
        (None, None) => "no fee".to_owned(),
    };
    let minimum = match &model.family {
        Some(Family::Block(rules)) => Thousands(rules.min.value).to_string(),
        Some(Family::Marked(rules)) => Thousands(rules.min.value).to_string(),
        None => NOT_KNOWN.to_owned(),
    };
    let checked = price.and_then(|price| price.rates.checked).map_or_else(String::new, |day| day.to_string());
    let trust = price.map_or_else(String::new, |price| confidence(price.rates.confidence).to_owned());
    vec![
        model.id.to_string(),
        family(model),
        minimum,
        rate(|rates| rates.input.to_string()),
        rate(|rates| rates.read.to_string()),
        price.map_or_else(|| NOT_KNOWN.to_owned(), |price| write(&price.rates.value)),
        rate(|rates| rates.output.to_string()),
        checked,
        trust,
    ]
}

fn family(model: &Model) -> String {
    match &model.family {
        Some(Family::Block(_)) => "block".to_owned(),
        Some(Family::Marked(_)) => "marked".to_owned(),
        None => NOT_KNOWN.to_owned(),
    }
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
        Some(Family::Block(rules)) => {
            values.push(of("cache", "the longest common prefix, in whole blocks", &rules.block));
            values.push(of("block", format!("{} tokens", Thousands(rules.block.value)), &rules.block));
            values.push(of("minimum", format!("{} tokens", Thousands(rules.min.value)), &rules.min));
            values.push(of("life, at most", seconds(rules.life.max.value), &rules.life.max));
            if let Some(typical) = &rules.life.typical {
                values.push(of("life, typical", seconds(typical.value), typical));
            }
        }
        Some(Family::Marked(rules)) => {
            values.push(of("cache", "what ends at a mark", &rules.max_marks));
            values.push(of("marks, at most", rules.max_marks.value.to_string(), &rules.max_marks));
            values.push(of("minimum", format!("{} tokens", Thousands(rules.min.value)), &rules.min));
            values.push(of("lookback", format!("{} positions", rules.lookback.value), &rules.lookback));
            let kinds: Vec<String> = rules.collapse.value.iter().map(|kind| kind_word(*kind)).collect();
            values.push(of("counted as one position", kinds.join(", "), &rules.collapse));
            let lives: Vec<String> = rules.lives.value.iter().map(|life| seconds(*life)).collect();
            values.push(of("lives", lives.join(", "), &rules.lives));
            values.push(of(
                "readable after",
                format!("{} ms", rules.visible_after.value),
                &rules.visible_after,
            ));
        }
        None => values.push(missing("cache", "cache rules", model)),
    }
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
        prices(price, &mut values);
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

fn prices(price: &Price, values: &mut Vec<Value>) {
    let from = price.from.map_or_else(String::new, |day| format!(" from {day}"));
    rates(&format!("price{from}"), &price.rates.value, &price.rates, values);
    if let Some(long) = &price.long {
        let LongContext { above, rates: dear } = &long.value;
        rates(&format!("price{from} above {} tokens", Thousands(*above)), dear, long, values);
    }
}

/// A row for each rate, in dollars for a million tokens.
fn rates<T>(name: &str, rates: &Rates, known: &Known<T>, values: &mut Vec<Value>) {
    let rows = [
        ("input", Some(rates.input)),
        ("read", Some(rates.read)),
        ("write for 5 min", rates.write_5m),
        ("write for 1 h", rates.write_1h),
        ("output", Some(rates.output)),
    ];
    for (what, rate) in rows {
        if let Some(rate) = rate {
            values.push(of(format!("{name}, {what}"), format!("${rate}"), known));
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
