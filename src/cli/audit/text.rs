//! An audit for reading: what was paid, why it was paid again, and which calls lost most.

use std::io;

use super::Audit;
use super::csv::time;
use crate::cli::output::{Out, Table};
use crate::core::audit::{Call, Group, GroupBy, Sums};
use crate::core::cache::Money;
use crate::core::cache::short_id;
use crate::core::text::number::{counted, grouped};
use crate::core::tokens::Method;
use crate::core::wire::redact;

/// A call in a line, as it comes.
pub(super) fn line(call: &Call, first: bool, out: &mut Out<'_>) -> io::Result<()> {
    if first {
        out.line("time                  conversation      sent       read       lost  what")?;
    }
    let number = |value: Option<u64>| value.map_or_else(|| "n/a".to_owned(), grouped);
    let (told, expected) = (call.reported_figures(), call.expected_figures());
    let at = call.at.and_then(time).unwrap_or_else(|| "n/a".to_owned());
    let at: String = at.chars().take(19).collect();
    let what = match &call.error {
        Some(error) => format!("call {} (line {}) failed: {error}", call.number, call.line),
        None => call.sentence(true),
    };
    out.line(format!(
        "{at:<20}  {:<12}  {:>8}  {:>9}  {:>9}  {what}",
        call.conversation.chars().take(12).collect::<String>(),
        number(told.sent.or(expected.sent)),
        number(told.read),
        number(call.lost()),
    ))
}

/// The summary.
pub(super) fn summary(audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
    files(audit, out)?;
    let totals = &audit.totals;
    if totals.all.calls == 0 {
        let why = if audit.earlier > 0 { " since then" } else { "" };
        return out.line(format!("No calls{why}."));
    }
    out.line("")?;
    models(audit, out)?;
    if !totals.others.is_empty() {
        out.line("")?;
        others(audit, out)?;
    }
    out.line("")?;
    groups(audit, out)?;
    if !totals.top.is_empty() {
        out.line("")?;
        out.heading("Lost most")?;
        for (file, call) in &totals.top {
            let of = if audit.files.len() > 1 { format!("{}: ", audit.file(*file)) } else { String::new() };
            out.line(format!("  {of}{}", call.sentence(true)))?;
        }
    }
    let notes = notes(audit);
    if !notes.is_empty() {
        out.line("")?;
        notes.iter().try_for_each(|note| out.line(note))?;
    }
    new(audit, out)
}

fn files(audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
    for ((path, state), &repeated) in audit.files.iter().zip(&audit.repeated) {
        let what = match (state.shape, state.compressed) {
            (Some(shape), true) => format!("{}, gzip", shape.title()),
            (Some(shape), false) => shape.title().to_owned(),
            (None, _) => "no log of a kind that is known".to_owned(),
        };
        let mut text = format!("{}: {what}, {}", path.display(), counted(state.lines, "line"));
        if state.others > 0 {
            text.push_str(&format!(", {} without a call", grouped(state.others)));
        }
        if state.skipped > 0 {
            text.push_str(&format!(", {} skipped", grouped(state.skipped)));
        }
        if repeated > 0 {
            text.push_str(&format!(", {} read before and counted once", counted(repeated, "call")));
        }
        out.line(text)?;
    }
    let totals = &audit.totals;
    let mut text = format!(
        "{} in {}",
        counted(totals.all.calls, "call"),
        counted(totals.conversations.len() as u64, "conversation")
    );
    if let Some((first, last)) = totals.times {
        text.push_str(&format!(
            ", {} to {}",
            time(first).unwrap_or_default(),
            time(last).unwrap_or_default()
        ));
    }
    if totals.all.failed > 0 {
        text.push_str(&format!(", {} failed", grouped(totals.all.failed)));
    }
    if audit.earlier > 0 {
        text.push_str(&format!("; {} before that not counted", grouped(audit.earlier)));
    }
    out.line(text)
}

fn models(audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
    let mut table = Table::new(&[
        "model",
        ">calls",
        ">sent",
        ">read",
        ">write",
        ">fresh",
        ">lost",
        ">cost",
        ">of it lost",
        ">read, by the rules",
    ]);
    for (model, sums) in &audit.totals.models {
        let cost = if sums.unpriced == sums.calls - sums.failed && sums.calls > sums.failed {
            format!("n/a: no price for {}", short_id(model))
        } else {
            money(sums.cost, sums)
        };
        table.row([
            model.to_string(),
            grouped(sums.calls),
            figure(sums.sent, sums),
            known(sums.read, sums),
            sums.write.map_or_else(|| "n/a".to_owned(), |write| figure(write, sums)),
            known(sums.fresh, sums),
            known(sums.lost, sums),
            cost,
            if sums.unpriced == sums.calls { "n/a".to_owned() } else { money(sums.lost_cost, sums) },
            if sums.expected_read == 0 && sums.compared_read == 0 {
                "n/a".to_owned()
            } else {
                format!("{} of ~{}", grouped(sums.compared_read), grouped(sums.expected_read))
            },
        ]);
    }
    table.write(out)
}

/// The same calls with other models.
fn others(audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
    out.heading("With other models, by their rules")?;
    let mut table = Table::new(&["model", ">sent", ">read", ">write", ">fresh", ">lost", ">cost"]);
    for (id, totals) in &audit.totals.others {
        let model = audit.models.get(id);
        let missing = |what: &str| format!("n/a: no {what} for {}", short_id(id));
        let none = totals.unknown == totals.calls;
        let number = |number: u64| {
            format!("{}{}", if totals.estimates > 0 && number > 0 { "~" } else { "" }, grouped(number))
        };
        let known = |of: u64| if none { "n/a".to_owned() } else { number(of) };
        table.row([
            id.to_string(),
            if model.method.encoding().is_none() { missing("tokenizer") } else { number(totals.sent) },
            known(totals.read),
            totals.write.map_or_else(|| "n/a".to_owned(), number),
            known(totals.fresh),
            known(totals.lost),
            match totals.unpriced == totals.calls {
                true => missing("price"),
                false if totals.estimates > 0 => format!("~{}", totals.cost),
                false => totals.cost.to_string(),
            },
        ]);
    }
    table.write(out)
}

fn figure(number: u64, sums: &Sums) -> String {
    format!("{}{}", if sums.estimates > 0 && number > 0 { "~" } else { "" }, grouped(number))
}

/// A figure of which nothing may be known.
fn known(number: u64, sums: &Sums) -> String {
    if sums.unknown == sums.calls - sums.failed { "n/a".to_owned() } else { figure(number, sums) }
}

fn money(amount: Money, sums: &Sums) -> String {
    format!("{}{amount}", if sums.estimates > 0 && amount > Money::ZERO { "~" } else { "" })
}

fn groups(audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
    let totals = &audit.totals;
    let words: Vec<&str> = totals.by().iter().map(|by| by.word()).collect();
    let heading: Vec<&str> =
        words.iter().copied().chain([">calls", ">lost", ">of it lost", "first", "last"]).collect();
    let mut table = Table::new(&heading);
    for (key, group) in totals.ranked() {
        let sums = &group.sums;
        let lost = if sums.lost == 0 { "0".to_owned() } else { figure(sums.lost, sums) };
        let cost = if sums.unpriced == sums.calls { "n/a".to_owned() } else { money(sums.lost_cost, sums) };
        let row = key.iter().map(|cell| redact::shown(cell)).chain([
            grouped(sums.calls),
            lost,
            cost,
            seen(group, true),
            seen(group, false),
        ]);
        table.row(row);
    }
    table.write(out)
}

fn seen(group: &Group, first: bool) -> String {
    let seen = if first { &group.first } else { &group.last };
    format!("line {}", grouped(seen.line))
}

/// What a reader of the numbers should know besides.
fn notes(audit: &Audit) -> Vec<String> {
    let mut notes = Vec::new();
    for (id, tuned) in audit.judge.calibrations() {
        let model = audit.models.get(id);
        let Method::Estimate { factor, .. } = &model.method else { continue };
        notes.push(format!(
            "{id}: counted x{factor:.2}; the provider's own counts come to x{:.2} ({:.2} to {:.2}, {}). What is expected is told in the provider's tokens.",
            tuned.factor(),
            tuned.range.0,
            tuned.range.1,
            counted(tuned.calls, "call")
        ));
    }
    let totals = &audit.totals;
    let silent = totals.all.calls - totals.all.failed - totals.all.reported;
    if silent > 0 {
        notes.push(format!(
            "{} without reported tokens: their figures are what is expected.",
            counted(silent, "call")
        ));
    }
    if totals.timeless > 0 {
        notes.push(format!(
            "{} without a time: nothing of them is known to be old, so nothing expires.",
            counted(totals.timeless, "call")
        ));
    }
    if let Some(most) = audit.repeats.full() {
        notes.push(format!(
            "Only {} calls are remembered: what is repeated of later ones is counted again.",
            grouped(most as u64)
        ));
    }
    if audit.judge.forgotten() > 0 {
        notes.push(format!(
            "Older conversations were forgotten {} to stay within the memory; where one goes on, it is `first` again.",
            if audit.judge.forgotten() == 1 { "once".to_owned() } else { format!("{} times", audit.judge.forgotten()) }
        ));
    }
    let price = audit.totals.models.keys().find_map(|id| audit.models.get(id).price_at(0, 0)?.checked);
    if let Some(day) = price {
        notes.push(format!("Prices of {day}, input only; model data {}.", audit.models.revision));
    }
    if let Some(bench) = &audit.bench {
        notes.push(format!("Layers are those of {bench}, matched by their text."));
    }
    if totals.by().contains(&GroupBy::Agent) && totals.all.calls > 0 && totals.groups.len() > 1 {
        notes.push("An agent that the log does not name is its conversation.".to_owned());
    }
    notes
}

fn new(audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
    let Some(known) = &audit.known else { return Ok(()) };
    let new = audit.totals.new_causes(known);
    out.line("")?;
    if new.is_empty() {
        return out.line("Nothing is lost for a new cause.");
    }
    out.heading("New")?;
    for (cause, group) in new {
        out.line(format!(
            "  {}: {}, {} paid again, first in line {}",
            cause,
            counted(group.sums.calls, "call"),
            figure(group.sums.lost, &group.sums),
            grouped(group.first.line)
        ))?;
    }
    Ok(())
}
