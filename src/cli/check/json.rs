//! What was found, as JSON.

use serde::Serialize;

use super::{Checked, Looked, Lost, Recorded, shown};
use crate::cli::head::Schema;
use crate::cli::output::Out;
use crate::cli::report::DiagnosticReport;
use crate::core::cache::Money;
use crate::core::contract::{Breach, Promise};
use crate::core::fact::Name;
use crate::core::fix::{Fix, Worth};
use crate::core::lint::Lint;
use crate::core::wire::{CallNo, Difference, Equality, Format};

#[derive(Serialize)]
struct Report<'a> {
    benches: Vec<BenchReport<'a>>,
}

#[derive(Serialize)]
struct BenchReport<'a> {
    path: String,
    /// Why it could not be checked; everything else is missing then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<DiagnosticReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<AgainstReport<'a>>,
    diagnostics: Vec<DiagnosticReport<'a>>,
    lints: Vec<LintReport<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<LostReport<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contract: Vec<BreachReport<'a>>,
}

/// What a lint found; `about` are layers or the place, `tokens` what it costs in each request.
#[derive(Serialize)]
struct LintReport<'a> {
    lint: Lint,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    runs: &'a [Name],
    about: &'a [Name],
    calls: &'a [CallNo],
    tokens: Option<u64>,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a str>,
    fixes: Vec<FixReport<'a>>,
    worth: Vec<WorthReport<'a>>,
    #[serde(flatten)]
    diagnostic: DiagnosticReport<'a>,
}

#[derive(Serialize)]
struct FixReport<'a> {
    says: &'a str,
    worth: Vec<WorthReport<'a>>,
}

/// What a run is spared, over all of its calls; less than nothing where it costs more. `cost` is in US dollars.
#[derive(Serialize)]
struct WorthReport<'a> {
    model: &'a str,
    sent: Option<i64>,
    lost: Option<i64>,
    cost: Option<f64>,
    estimate: bool,
    misled: u32,
}

#[derive(Serialize)]
struct LostReport<'a> {
    run: Option<&'a str>,
    model: &'a str,
    limit: u64,
    tokens: Option<u64>,
    estimate: bool,
    calls: Vec<&'a str>,
}

#[derive(Serialize)]
struct BreachReport<'a> {
    promise: &'static str,
    run: Option<&'a str>,
    call: CallNo,
    before: Option<CallNo>,
    part: &'a str,
    old: &'a str,
    new: &'a str,
    #[serde(flatten)]
    diagnostic: DiagnosticReport<'a>,
}

#[derive(Serialize)]
struct AgainstReport<'a> {
    file: String,
    format: Format,
    call: u32,
    equality: Equality,
    /// Blocks of the recording that were compared.
    compared: usize,
    /// The length in bytes of the recorded body.
    bytes: usize,
    left_out: &'a [String],
    differences: &'a [Difference],
}

/// Writes one document.
pub(super) fn write(
    looked: &[Looked],
    recorded: Option<&Recorded>,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let benches = looked.iter().map(|looked| match &looked.outcome {
        Ok(checked) => bench(shown(&looked.path), checked, recorded),
        Err(problems) => BenchReport {
            path: shown(&looked.path),
            broken: problems.iter().map(DiagnosticReport::of).collect(),
            against: None,
            diagnostics: Vec::new(),
            lints: Vec::new(),
            lost: Vec::new(),
            contract: Vec::new(),
        },
    });
    let report = Report { benches: benches.collect() };
    match looked.iter().find_map(|looked| looked.outcome.as_ref().ok()) {
        Some(checked) => out.json(&Schema::Check.with(checked.bench.models(), report)),
        None => out.json(&Schema::Check.plain(report)),
    }
}

fn bench<'a>(path: String, checked: &'a Checked, recorded: Option<&Recorded>) -> BenchReport<'a> {
    let exact = checked.bench.models().get(&checked.bench.bench.model).method.is_exact();
    BenchReport {
        path,
        broken: Vec::new(),
        against: recorded.zip(checked.found.against.as_ref()).map(|(recorded, (call, comparison))| {
            AgainstReport {
                file: recorded.path.display().to_string(),
                format: recorded.document.format,
                call: *call,
                equality: comparison.equality,
                compared: comparison.compared,
                bytes: comparison.bytes,
                left_out: &comparison.left_out,
                differences: &comparison.differences,
            }
        }),
        diagnostics: checked.found.diagnostics.iter().map(DiagnosticReport::of).collect(),
        lints: checked
            .found
            .lints
            .iter()
            .map(|lint| LintReport {
                lint: lint.finding.lint,
                runs: &lint.runs,
                about: &lint.finding.about,
                calls: &lint.finding.calls,
                tokens: lint.finding.tokens,
                exact,
                allowed: lint.finding.allowed.as_deref(),
                fixes: lint.finding.fixes.iter().map(fix).collect(),
                worth: lint.finding.worth.iter().map(worth).collect(),
                diagnostic: DiagnosticReport::of(&lint.finding.diagnostic),
            })
            .collect(),
        lost: checked.found.lost.iter().map(lost).collect(),
        contract: checked.found.breaches.iter().map(breach).collect(),
    }
}

fn fix(fix: &Fix) -> FixReport<'_> {
    FixReport { says: &fix.said, worth: fix.worth.iter().map(worth).collect() }
}

fn worth(worth: &Worth) -> WorthReport<'_> {
    let signed = |(amount, worse): (Money, bool)| if worse { -amount.dollars() } else { amount.dollars() };
    WorthReport {
        model: &worth.model,
        sent: worth.sent,
        lost: worth.lost,
        cost: worth.money.map(signed),
        estimate: worth.estimate,
        misled: worth.misled,
    }
}

fn lost(lost: &Lost) -> LostReport<'_> {
    LostReport {
        run: lost.run.as_deref(),
        model: &lost.model,
        limit: lost.limit,
        tokens: lost.tokens,
        estimate: lost.estimate,
        calls: lost.calls.iter().map(|(sentence, _)| &**sentence).collect(),
    }
}

fn breach(breach: &Breach) -> BreachReport<'_> {
    BreachReport {
        promise: match breach.promise {
            Promise::Prefix => "prefix",
            Promise::Role => "role",
            Promise::Text => "text",
        },
        run: breach.run.as_deref(),
        call: breach.call,
        before: breach.before,
        part: &breach.part,
        old: &breach.old,
        new: &breach.new,
        diagnostic: DiagnosticReport::of(&breach.diagnostic),
    }
}
