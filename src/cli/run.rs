//! `plywood run PATH`: plays a run and tells for each call what was injected, what it costs, and why.

use indexmap::IndexMap;
use serde::Serialize;

use super::args::RunArgs;
use super::head::Schema;
use super::llm_log::LlmLog;
use super::open::{Bench, no_such_call};
use super::output::{Out, Result, Table};
use super::report::{failed_layers, request_sha256};
use crate::app::engine::{Counters, publish, with_labels};
use crate::core::cache::{
    Blame, Labels, Lane, Measures, Money, NeverRead, Outcome as CacheOutcome, Simulator, Totals, Verdict,
    Write,
};
use crate::core::compare::{Replays, Unkept, UnkeptCost, usual_models};
use crate::core::run::{Answer, Belief, CallRecord, Compacted, Lead, Near, Player, Requests, Session};
use crate::core::text::number::{counted, grouped};
use crate::core::tokens::Measure;
use crate::core::wire::{CallNo, Zone};

/// A line of JSON: one model call.
#[derive(Serialize)]
struct Line<'a> {
    call: u32,
    turn: u32,
    agent: &'a str,
    /// What led to it: `user`, `goal`, `tools`, `retry` or `again`.
    input: InputReport<'a>,
    /// What came of it; none for a request that the script does not answer.
    answer: Option<AnswerReport<'a>>,
    request_sha256: String,
    injected: Vec<InjectedReport<'a>>,
    pending: Vec<PendingReport<'a>>,
    cache: IndexMap<&'a str, CacheReport>,
    stale: Vec<&'a str>,
    superseded: Vec<&'a str>,
    untold: Vec<&'a str>,
    /// US dollars of input for the model that is asked; null without prices.
    cost: Option<Money>,
    notes: &'a [std::sync::Arc<str>],
    /// The compaction since the call before.
    #[serde(skip_serializing_if = "Option::is_none")]
    compacted: Option<CompactedReport<'a>>,
    /// What this call is sent otherwise than the turn before it was, and what that costs each model.
    ledger: Vec<UnkeptReport<'a>>,
}

/// A message that is replayed as other bytes than it was sent.
#[derive(Serialize)]
struct UnkeptReport<'a> {
    message: u32,
    /// The last call that was sent it as it was.
    sent_in: u32,
    /// UTF-8 bytes.
    sent: usize,
    replayed: usize,
    taken_out: Vec<TakenReport<'a>>,
    models: IndexMap<&'a str, &'a UnkeptCost>,
}

#[derive(Serialize)]
struct TakenReport<'a> {
    layer: &'a str,
    /// The keep rule; null where a context edit took it out.
    rule: Option<&'static str>,
}

#[derive(Serialize)]
struct CompactedReport<'a> {
    /// How full the window was; none for one that the script asked for.
    near: Option<NearReport>,
    /// The messages that left.
    left: Vec<u32>,
    /// Those of them that are texts of the user or the model.
    said: Vec<u32>,
    /// What had been written to files, with the layers that say it now.
    survives: Vec<SurvivorReport<'a>>,
}

#[derive(Serialize)]
struct NearReport {
    tokens: u32,
    window: u32,
    /// The share of the window that is allowed, in percent.
    at: u32,
}

#[derive(Serialize)]
struct SurvivorReport<'a> {
    path: String,
    layers: Vec<&'a str>,
}

#[derive(Serialize)]
struct InputReport<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolReport<'a>>,
}

#[derive(Serialize)]
struct ToolReport<'a> {
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<&'a str>,
    cwd: &'a str,
    /// The facts of which the model had been told another value when it called the tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale: Vec<&'a str>,
}

#[derive(Serialize)]
struct AnswerReport<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<&'a str>,
}

#[derive(Serialize)]
struct InjectedReport<'a> {
    layer: &'a str,
    /// The message that it went into.
    into: u32,
    chars: usize,
    tokens: Option<u32>,
    text: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct PendingReport<'a> {
    layer: &'a str,
    text: &'a str,
    waits_for: &'a str,
}

/// What a model's cache made of it. Null is "not known", and for `write` also "has no price of its own".
#[derive(Serialize)]
struct CacheReport {
    sent: Option<u32>,
    read: Option<u32>,
    write: Option<u32>,
    fresh: Option<u32>,
    lost: Option<u32>,
    estimate: bool,
    /// True where the provider publishes no rule, so that the figures are the most that could be.
    upper_bound: bool,
    /// What real traffic gives; null where nobody has measured it.
    expected: Option<ExpectedReport>,
    /// What keeping costs that is paid for by the hour, in dollars; null where it is free.
    storage: Option<Money>,
    verdict: Verdict,
    also: Vec<Verdict>,
    /// The vendors' name for it.
    vendor: Option<&'static str>,
    blame: Option<BlameReport>,
    behind: Vec<BehindReport>,
    /// Parameters besides the text that changed and count.
    settings: Vec<SettingReport>,
    /// The whole verdict in a sentence.
    says: String,
}

#[derive(Serialize)]
struct ExpectedReport {
    read: u32,
    write: Option<u32>,
    fresh: u32,
    lost: Option<u32>,
    cost: Option<Money>,
}

#[derive(Serialize)]
struct SettingReport {
    name: String,
    /// From which zone on it counts.
    zone: Zone,
    old: Option<String>,
    new: Option<String>,
    cause: Option<String>,
}

#[derive(Serialize)]
struct BlameReport {
    /// What the sentence says of it.
    says: String,
    layer: String,
    zone: Zone,
    byte: usize,
    message: Option<u32>,
    source: Option<String>,
    facts: Vec<String>,
    old: String,
    new: String,
    cause: Option<String>,
}

#[derive(Serialize)]
struct BehindReport {
    blame: BlameReport,
    still_lost: u32,
}

/// Plays and prints.
pub(super) fn run(args: &RunArgs, out: &mut Out<'_>) -> Result {
    let mut bench = Bench::open(&args.path, &args.bench)?;
    let mut player = bench.start()?;
    let mut log = LlmLog::open(args.log_llm.as_deref())?;
    let mut simulator = Simulator::new(bench.models().clone(), [Lane::AsSent]);
    let mut counters = Counters::default();
    let beside = usual_models(bench.models(), &bench.bench.model);
    let mut replays = Replays::new(bench.models(), &beside);
    let mut requests = Requests::default();
    let mut unkept_lines = Vec::new();
    let mut table = Table::new(&[
        ">call",
        ">turn",
        "what happened",
        ">sent",
        ">read",
        ">write",
        ">fresh",
        ">lost",
        "told",
        "verdict",
    ]);
    let mut totals = Totals::default();
    let mut sentences = Vec::new();
    let mut lines = Lines::default();
    let mut printed = 0;
    let mut failed = None;
    loop {
        // What was worked out before a failure is still data.
        let more = bench.beat(&mut player).unwrap_or_else(|failure| {
            failed = Some(failure);
            false
        });
        let session = player.session();
        // A request that nobody answers is still what would be sent next.
        let last = (!more && failed.is_none()).then(|| session.prepared()).flatten();
        for record in session.calls()[printed..].iter().map(|record| &**record).chain(last) {
            printed += 1;
            if args.until.is_some_and(|until| record.call.0 > until) {
                break;
            }
            let Some(request) = requests.get(session, record.call) else { continue };
            log.call(record, request)?;
            let outcome = match &record.answer {
                Some(Answer::Failed(_)) => {
                    simulator.not_sent(request);
                    None
                }
                _ => simulator.call(request, &mut counters).into_iter().next(),
            };
            if let Some(outcome) = &outcome {
                totals += outcome;
            }
            let unkept = replays.call(session, record, request, &mut counters);
            if args.json {
                let hash = request_sha256(request);
                let line = line(&bench, session, record, &hash, outcome.as_ref(), &unkept, &mut counters);
                lines.add(record.call, &Schema::Run.with(bench.models(), line))?;
            } else {
                for note in &record.notes {
                    sentences.push(format!("      {note}"));
                }
                for told in record.compacted.iter().flat_map(|c| publish::compaction(session.bench(), c)) {
                    sentences.push(format!("      {told}"));
                }
                row(&mut table, session, record, outcome.as_ref());
                unkept_lines.extend(unkept.iter().flat_map(|unkept| unkept_words(session.bench(), unkept)));
                if let Some(outcome) = &outcome {
                    sentences.push(with_labels(session, |labels| outcome.sentence(labels)));
                }
            }
        }
        if !more || args.until.is_some_and(|until| session.calls().len() as u32 >= until) {
            break;
        }
    }
    // What a call wrote and no later one has read; the last can have no reader yet.
    let mut unread = simulator.never_read(0);
    unread.retain(|unread| (unread.call.0 as usize) < printed);
    if args.json {
        lines.write(&unread, printed, out)?;
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    if let Some(until) = args.until
        && (printed as u32) < until
    {
        return Err(no_such_call(&player, until));
    }
    for unread in unread {
        let sign = if totals.estimates > 0 { "~" } else { "" };
        let tokens = grouped(u64::from(unread.tokens));
        sentences
            .push(format!("call {} never read: {sign}{tokens} tokens written for nothing.", unread.call.0));
    }
    if !args.json {
        sentences.extend(unkept_lines);
        summary(&bench, &player, &table, &sentences, &totals, out)?;
    }
    let shown = player.session().calls().iter().map(|record| &**record).chain(player.session().prepared());
    Ok(failed_layers(shown.take(printed)))
}

/// Lines of JSON that wait for the end of the run, which alone shows what was never read.
#[derive(Default)]
struct Lines(Vec<(CallNo, String)>);

impl Lines {
    fn add(&mut self, call: CallNo, line: &impl Serialize) -> Result<()> {
        self.0.push((call, serde_json::to_string(line).map_err(std::io::Error::from)?));
        Ok(())
    }

    /// Writes them, each with the tokens that its call wrote and no later call has read: null for the last call of
    /// `calls`, behind which nobody could have.
    fn write(self, unread: &[NeverRead], calls: usize, out: &mut Out<'_>) -> std::io::Result<()> {
        for (call, line) in self.0 {
            let tokens = unread.iter().filter(|unread| unread.call == call).map(|unread| unread.tokens);
            let tokens = ((call.0 as usize) < calls).then(|| tokens.sum::<u32>());
            let tokens = tokens.map_or_else(|| "null".to_owned(), |tokens| tokens.to_string());
            // The member goes into the object that ends the line.
            let open = line.strip_suffix('}').unwrap_or(&line);
            out.raw_line(format_args!("{open},\"never_read\":{tokens}}}"))?;
        }
        Ok(())
    }
}

fn line<'a>(
    bench: &'a Bench,
    session: &'a Session,
    record: &'a CallRecord,
    sha256: &str,
    outcome: Option<&CacheOutcome>,
    unkept: &'a [Unkept],
    counters: &mut Counters,
) -> Line<'a> {
    let method = bench.models().get(&record.model).method.clone();
    let believed = |belief: Belief| -> Vec<&'a str> {
        record.told.iter().filter(|told| told.belief == belief).map(|told| &*told.fact).collect()
    };
    let mut cache = IndexMap::new();
    if let Some(outcome) = outcome {
        cache.insert(&*record.model, with_labels(session, |labels| cache_report(outcome, session, labels)));
    }
    Line {
        call: record.call.0,
        turn: record.turn,
        agent: &record.agent,
        input: input_report(&record.lead),
        answer: record.answer.as_ref().map(answer_report),
        request_sha256: sha256.to_owned(),
        injected: record
            .injected
            .iter()
            .filter(|injected| publish::is_injector(session.bench(), &injected.layer))
            .map(|injected| InjectedReport {
                layer: &injected.layer,
                into: injected.into.0,
                chars: injected.text.text().chars().count(),
                tokens: method
                    .encoding()
                    .map(|encoding| method.measure(counters.of(encoding)).tokens(injected.text.text())),
                text: injected.text.text(),
                reason: &injected.reason,
            })
            .collect(),
        pending: record
            .pending
            .iter()
            .map(|pending| PendingReport {
                layer: &pending.layer,
                text: pending.text.text(),
                waits_for: &pending.waits_for,
            })
            .collect(),
        cache,
        stale: believed(Belief::Stale),
        superseded: believed(Belief::Superseded),
        untold: believed(Belief::Untold),
        cost: outcome.and_then(|outcome| outcome.cost),
        notes: &record.notes,
        ledger: unkept.iter().map(unkept_report).collect(),
        compacted: record.compacted.as_ref().map(compacted_report),
    }
}

fn compacted_report(compacted: &Compacted) -> CompactedReport<'_> {
    CompactedReport {
        near: compacted.near.map(|Near { tokens, window, at }| NearReport { tokens, window, at }),
        left: compacted.left.iter().map(|id| id.0).collect(),
        said: compacted.said.iter().map(|id| id.0).collect(),
        survives: compacted
            .survives
            .iter()
            .map(|survivor| SurvivorReport {
                path: survivor.path.to_string(),
                layers: survivor.layers.iter().map(|id| &**id).collect(),
            })
            .collect(),
    }
}

fn unkept_report(unkept: &Unkept) -> UnkeptReport<'_> {
    UnkeptReport {
        message: unkept.message.0,
        sent_in: unkept.sent.0,
        sent: unkept.bytes.0,
        replayed: unkept.bytes.1,
        taken_out: unkept
            .taken
            .iter()
            .map(|one| TakenReport { layer: &one.0, rule: one.1.map(|rule| rule.word()) })
            .collect(),
        models: unkept.costs.iter().map(|cost| (&*cost.model, cost)).collect(),
    }
}

/// What a message that is not replayed as it was sent costs, in lines.
pub(super) fn unkept_words(bench: &crate::core::bench::Bench, unkept: &Unkept) -> Vec<String> {
    let taken: Vec<String> = unkept
        .taken
        .iter()
        .map(|(layer, rule)| {
            let rule = rule.map_or_else(|| "a context edit".to_owned(), |rule| rule.word().to_owned());
            format!("{} ({rule})", publish::shown_name(bench, layer))
        })
        .collect();
    let taken = if taken.is_empty() { String::new() } else { format!("; without {}", taken.join(", ")) };
    let mut out = vec![format!(
        "message {} is sent as {} bytes in call {} and replayed as {} in call {}{taken}",
        unkept.message.0,
        grouped(unkept.bytes.0 as u64),
        unkept.sent.0,
        grouped(unkept.bytes.1 as u64),
        unkept.replayed.0
    )];
    for cost in unkept.costs.iter().filter(|cost| cost.lost.is_some()) {
        out.push(format!("      {}: {}", cost.model, cost.words()));
    }
    out
}

fn input_report(lead: &Lead) -> InputReport<'_> {
    let (kind, text, runs) = match lead {
        Lead::User(text) => ("user", Some(&**text), &[][..]),
        Lead::Goal(goal) => ("goal", Some(&**goal), &[][..]),
        Lead::Tools(runs) => ("tools", None, &runs[..]),
        Lead::Retry => ("retry", None, &[][..]),
        Lead::Again => ("again", None, &[][..]),
    };
    let tools = runs.iter().map(|run| ToolReport {
        tool: &run.tool,
        argument: run.argument.as_deref(),
        cwd: &run.cwd,
        stale: run.stale.iter().map(|fact| &**fact).collect(),
    });
    InputReport { kind, text, tools: tools.collect() }
}

fn answer_report(answer: &Answer) -> AnswerReport<'_> {
    let (kind, text, tools) = match answer {
        Answer::Tools(tools) => ("tools", None, tools.iter().map(|tool| &**tool).collect()),
        Answer::Said(text) => ("said", Some(&**text), Vec::new()),
        Answer::Agent(role) => ("agent", Some(&**role), Vec::new()),
        Answer::Failed(reason) => ("failed", Some(&**reason), Vec::new()),
        Answer::Sent => ("sent", None, Vec::new()),
    };
    AnswerReport { kind, text, tools }
}

fn cache_report(outcome: &CacheOutcome, session: &Session, labels: &Labels<'_>) -> CacheReport {
    CacheReport {
        sent: outcome.sent,
        read: outcome.read(),
        write: outcome.write(),
        fresh: outcome.fresh(),
        lost: outcome.lost(),
        estimate: outcome.estimate,
        upper_bound: outcome.upper_bound,
        expected: outcome.expected.map(|expected| ExpectedReport {
            read: expected.read,
            write: expected.write.map(Write::total),
            fresh: expected.fresh,
            lost: expected.lost,
            cost: expected.cost,
        }),
        storage: outcome.storage,
        verdict: outcome.verdict,
        also: outcome.also.clone(),
        vendor: outcome.vendor_name(),
        blame: outcome.blame.as_ref().map(|blame| blame_report(blame, session, labels)),
        behind: outcome
            .behind
            .iter()
            .map(|behind| BehindReport {
                blame: blame_report(&behind.blame, session, labels),
                still_lost: behind.still_lost,
            })
            .collect(),
        settings: outcome
            .settings
            .iter()
            .map(|change| SettingReport {
                name: change.name.to_string(),
                zone: change.zone,
                old: change.old.as_deref().map(str::to_owned),
                new: change.new.as_deref().map(str::to_owned),
                cause: change.cause.map(|event| session.event(event).label.to_string()),
            })
            .collect(),
        says: outcome.sentence(labels),
    }
}

fn blame_report(blame: &Blame, session: &Session, labels: &Labels<'_>) -> BlameReport {
    BlameReport {
        says: blame.clause(labels),
        layer: blame.part.to_string(),
        zone: blame.zone,
        byte: blame.byte,
        message: blame.message.map(|message| message.0),
        source: blame.source(),
        facts: blame.facts.iter().map(ToString::to_string).collect(),
        old: blame.old.clone(),
        new: blame.new.clone(),
        cause: blame.cause.map(|event| session.event(event).label.to_string()),
    }
}

fn row(table: &mut Table, session: &Session, record: &CallRecord, outcome: Option<&CacheOutcome>) {
    let (what, _) = publish::lead_words(record);
    let sign = if outcome.is_some_and(|outcome| outcome.estimate) { "~" } else { "" };
    let count = |tokens: Option<u32>| {
        tokens.map_or_else(|| "n/a".to_owned(), |tokens| format!("{sign}{}", grouped(u64::from(tokens))))
    };
    let injected: Vec<String> = record
        .injected
        .iter()
        .filter(|injected| publish::is_injector(session.bench(), &injected.layer))
        .map(|injected| publish::shown_name(session.bench(), &injected.layer).to_string())
        .collect();
    let fail = matches!(record.answer, Some(Answer::Failed(_)));
    let lost = match outcome {
        Some(outcome) if outcome.verdict == Verdict::First => "first".to_owned(),
        Some(outcome) if outcome.lost() == Some(0) => "-".to_owned(),
        Some(outcome) => count(outcome.lost()),
        None => "n/a".to_owned(),
    };
    table.row([
        record.call.0.to_string(),
        record.turn.to_string(),
        if record.agent.contains('/') { format!("{}: {what}", record.agent) } else { what },
        count(outcome.and_then(|outcome| outcome.sent)),
        count(outcome.and_then(CacheOutcome::read)),
        // Where writing has no price of its own there is nothing to say.
        outcome.and_then(CacheOutcome::write).map_or_else(|| "n/a".to_owned(), |write| count(Some(write))),
        count(outcome.and_then(CacheOutcome::fresh)),
        lost,
        if injected.is_empty() { "-".to_owned() } else { injected.join(", ") },
        match outcome {
            Some(outcome) => outcome.verdict.to_string(),
            None if fail => "failed".to_owned(),
            None => "n/a".to_owned(),
        },
    ]);
}

fn summary(
    bench: &Bench,
    player: &Player,
    table: &Table,
    sentences: &[String],
    totals: &Totals,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let session = player.session();
    let run = player.run().map_or_else(String::new, |run| format!(", run {run}"));
    let variants = bench.variants();
    let variants =
        if variants.is_empty() { String::new() } else { format!(", with {}", variants.join(", ")) };
    out.line(format_args!("{}{run}{variants}, {}", bench.name(), session.model()))?;
    if player.run().is_none() {
        // Nobody answers here: that takes a script, or a hand in the workbench.
        out.line("no run in this bench: what is sent before anybody says a word")?;
        out.line("(`runs:` scripts a conversation; in the workbench s and a play one by hand, and Ctrl-S saves it)")?;
    }
    table.write(out)?;
    out.line("")?;
    for sentence in sentences {
        out.line(sentence)?;
    }
    out.line("")?;
    let beliefs: Vec<String> =
        [(Belief::Stale, "stale"), (Belief::Superseded, "superseded"), (Belief::Untold, "untold")]
            .into_iter()
            .map(|(belief, word)| {
                let calls =
                    session.calls().iter().filter(|call| call.told.iter().any(|told| told.belief == belief));
                format!("{word} in {}", calls.count())
            })
            .collect();
    // A sum of which a part is not known is not known, and one with an estimate in it is one.
    let sign = if totals.estimates > 0 { "~" } else { "" };
    let sum = |tokens: u64| match totals.unknown {
        0 => format!("{sign}{}", grouped(tokens)),
        _ => "n/a".to_owned(),
    };
    let cost = if totals.unpriced > 0 { "n/a".to_owned() } else { format!("{sign}{}", totals.cost) };
    out.line(format_args!(
        "{}, {} tokens sent, {} read, {} paid again, input {cost}; {} of the calls.",
        counted(totals.calls.into(), "call"),
        sum(totals.sent),
        sum(totals.read),
        sum(totals.lost),
        beliefs.join(", "),
    ))
}
