//! An audit as JSON, written call by call, with no text of any prompt; and read again as what is known.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::csv::time;
use super::{Audit, unreadable};
use crate::cli::head::Schema;
use crate::cli::output::{Out, Result};
use crate::core::audit::{Call, Figures, Group, Matched, Sums};
use crate::core::cache::{Money, Outcome, Verdict, What};
use crate::core::wire::Zone;

#[derive(Serialize)]
struct CallReport<'a> {
    file: String,
    line: u64,
    call: u32,
    at: Option<String>,
    conversation: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    turn: u32,
    model: &'a str,
    /// None where the log holds no figures.
    reported: Option<Figures>,
    output: Option<u64>,
    /// In the provider's tokens, where they can be had.
    expected: Figures,
    /// Figures of `expected` are estimates.
    estimate: bool,
    lost: Option<u64>,
    verdict: Verdict,
    also: &'a [Verdict],
    vendor: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_says: Option<&'a str>,
    cause: Option<String>,
    blame: Option<BlameReport<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    params: &'a [String],
    no_effect: bool,
    /// US dollars; null without a price.
    cost: Option<Money>,
    lost_cost: Option<Money>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct BlameReport<'a> {
    zone: Zone,
    place: &'a str,
    byte: usize,
    part: &'a str,
    what: What,
    #[serde(skip_serializing_if = "Option::is_none")]
    near: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<&'a str>,
    /// The layer of the bench with this text: found by likeness.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<&'a Matched>,
    digits_only: bool,
    behind: usize,
}

#[derive(Serialize)]
struct OtherReport<'a> {
    model: &'a str,
    sent: Option<u32>,
    read: Option<u32>,
    write: Option<u32>,
    fresh: Option<u32>,
    lost: Option<u32>,
    estimate: bool,
    verdict: Verdict,
    cost: Option<Money>,
}

fn other(outcome: &Outcome) -> OtherReport<'_> {
    OtherReport {
        model: &outcome.model,
        sent: outcome.sent,
        read: outcome.read(),
        write: outcome.write(),
        fresh: outcome.fresh(),
        lost: outcome.lost(),
        estimate: outcome.estimate,
        verdict: outcome.verdict,
        cost: outcome.cost,
    }
}

fn report<'a>(audit: &Audit, file: usize, call: &'a Call) -> CallReport<'a> {
    CallReport {
        file: audit.file(file),
        line: call.line,
        call: call.number,
        at: call.at.and_then(time),
        conversation: &call.conversation,
        agent: call.agent.as_deref(),
        turn: call.turn,
        model: &call.model,
        reported: call.reported.map(|_| call.reported_figures()),
        output: call.reported.and_then(|reported| reported.output),
        expected: call.expected_figures(),
        estimate: call.is_estimate(),
        lost: call.lost(),
        verdict: call.verdict,
        also: &call.also,
        vendor: call.vendor_name(),
        provider_says: call.diagnosis.as_deref(),
        cause: call.cause(),
        blame: call.found.as_ref().map(|found| BlameReport {
            zone: found.blame.zone,
            place: &found.place,
            byte: found.blame.byte,
            part: &found.blame.part,
            what: found.blame.what,
            near: found.near.as_deref(),
            moved_to: found.moved_to.as_deref(),
            matched: found.matched.as_ref(),
            digits_only: found.digits,
            behind: found.behind,
        }),
        params: &call.params,
        no_effect: call.no_effect,
        cost: call.cost,
        lost_cost: call.lost_cost,
        others: call.others.iter().map(other).collect(),
        error: call.error.as_deref(),
    }
}

/// A call on a line of its own, as it comes.
pub(super) fn line(audit: &Audit, file: usize, call: &Call, out: &mut Out<'_>) -> io::Result<()> {
    out.json_line(&Schema::AuditCall.with(&audit.models, report(audit, file, call)))
}

fn begin(audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
    Schema::Audit.head(&audit.models).open(out)?;
    out.text(",\n  \"calls\": [")
}

/// A call of the document, which is begun with the first one: however many there are, they are not kept.
pub(super) fn call(
    audit: &Audit,
    file: usize,
    call: &Call,
    first: bool,
    out: &mut Out<'_>,
) -> io::Result<()> {
    if first {
        begin(audit, out)?;
    }
    let json = serde_json::to_string(&report(audit, file, call))?;
    out.text(&format!("{}\n    {json}", if first { "" } else { "," }))
}

/// The rest of the document.
pub(super) fn end(audit: &Audit, empty: bool, out: &mut Out<'_>) -> io::Result<()> {
    if empty {
        begin(audit, out)?;
    }
    let totals = &audit.totals;
    let files: Vec<Value> = audit
        .files
        .iter()
        .zip(&audit.repeated)
        .map(|((path, state), repeated)| {
            json!({
                "path": path.display().to_string(),
                "log": state.shape.map(|shape| shape.word()),
                "gzip": state.compressed,
                "lines": state.lines,
                "skipped": state.skipped,
                "without_call": state.others,
                "repeated": repeated,
            })
        })
        .collect();
    let models: serde_json::Map<String, Value> =
        totals.models.iter().map(|(model, sums)| (model.to_string(), self::sums(sums))).collect();
    let by: Vec<&str> = totals.by().iter().map(|by| by.word()).collect();
    let groups: Vec<Value> = totals
        .ranked()
        .into_iter()
        .map(|(key, group)| {
            let mut value = grouped(audit, group);
            for (word, cell) in by.iter().zip(key) {
                value[*word] = Value::from(cell.as_str());
            }
            value
        })
        .collect();
    let causes: Vec<Value> = totals
        .causes
        .iter()
        .map(|(cause, group)| {
            let mut value = grouped(audit, group);
            value["cause"] = Value::from(cause.as_str());
            value
        })
        .collect();
    let tuned: serde_json::Map<String, Value> = audit
        .judge
        .calibrations()
        .iter()
        .map(|(model, tuned)| {
            (
                model.to_string(),
                json!({
                    "factor": round(tuned.factor()),
                    "least": round(tuned.range.0),
                    "most": round(tuned.range.1),
                    "calls": tuned.calls,
                }),
            )
        })
        .collect();
    let mut rest = json!({
        "files": files,
        "conversations": totals.conversations.len(),
        "totals": sums(&totals.all),
        "models": models,
        "group_by": by,
        "groups": groups,
        "causes": causes,
        "top": totals.top.iter().map(|(_, call)| call.number).collect::<Vec<_>>(),
        "calibration": tuned,
        "bench": audit.bench,
        "other_models": audit.others.iter().map(|name| &**name).collect::<Vec<_>>(),
    });
    if let Some(known) = &audit.known {
        let new: Vec<&str> = totals.new_causes(known).into_iter().map(|(cause, _)| cause.as_str()).collect();
        rest["new"] = json!(new);
    }
    let rest = serde_json::to_string_pretty(&rest)?;
    // The members go on in the object that is open.
    let members = rest.strip_prefix('{').unwrap_or(&rest);
    out.text(&format!("{}],{members}\n", if empty { "" } else { "\n  " }))
}

fn round(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

fn sums(sums: &Sums) -> Value {
    let known = sums.unknown < sums.calls - sums.failed;
    json!({
        "calls": sums.calls,
        "failed": sums.failed,
        "reported": sums.reported,
        "sent": sums.sent,
        "read": known.then_some(sums.read),
        "write": sums.write,
        "fresh": known.then_some(sums.fresh),
        "lost": sums.lost,
        "expected_read": sums.expected_read,
        "compared_read": sums.compared_read,
        "unknown": sums.unknown,
        "cost": (sums.unpriced < sums.calls - sums.failed).then_some(sums.cost),
        "lost_cost": (sums.unpriced < sums.calls - sums.failed).then_some(sums.lost_cost),
        "unpriced": sums.unpriced,
        "estimate": sums.estimates > 0,
    })
}

fn grouped(audit: &Audit, group: &Group) -> Value {
    let seen = |seen: &crate::core::audit::Seen| json!({ "file": audit.file(seen.file), "line": seen.line, "at": seen.at.and_then(time) });
    let mut value = sums(&group.sums);
    value["first"] = seen(&group.first);
    value["last"] = seen(&group.last);
    value
}

/// The causes for which something was lost in an audit before.
pub(super) fn baseline(path: &Path) -> Result<BTreeSet<String>> {
    const MOST: u64 = 1 << 30;
    const WRITE: &str = "write one with `plywood audit FILE --json > baseline.json`";
    let read = |error: &io::Error| {
        let why = crate::io::load::reason(error);
        unreadable(path, format!("the baseline cannot be read: {why}"), None)
    };
    let size = std::fs::metadata(path).map_err(|error| read(&error))?.len();
    if size > MOST {
        return Err(unreadable(path, "the baseline is larger than 1 GB", None));
    }
    let text = std::fs::read_to_string(path).map_err(|error| read(&error))?;
    let known: Baseline = serde_json::from_str(&text).map_err(|error| match error.classify() {
        // It may be any JSON, a log among it: which of its members is missed would tell nobody anything.
        serde_json::error::Category::Data => unreadable(path, "this is no audit", Some(WRITE)),
        _ => {
            let place = format!("line {}, column {}", error.line(), error.column());
            unreadable(
                path,
                format!("the baseline is not whole JSON: it breaks off or is wrong at {place}"),
                Some(WRITE),
            )
        }
    })?;
    let schema = Schema::Audit.name();
    if known.schema != schema {
        let found: String = known.schema.chars().take(40).collect();
        return Err(unreadable(path, format!("this is no {schema} but {found}"), Some(WRITE)));
    }
    Ok(known.causes.into_iter().filter(|cause| cause.lost > 0).map(|cause| cause.cause).collect())
}

/// What is read of an audit before; its calls are stepped over.
#[derive(serde::Deserialize)]
struct Baseline {
    schema: String,
    causes: Vec<Cause>,
}

#[derive(serde::Deserialize)]
struct Cause {
    cause: String,
    lost: u64,
}
