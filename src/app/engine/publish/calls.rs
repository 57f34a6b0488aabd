//! Pane 2: the calls of the run, sent, next and forecast.

use std::sync::Arc;

use super::{is_injector, one_line, shown_name};
use crate::app::snapshot::{CallRow, CallState, CallTable, InjectedRow, Paid};
use crate::core::bench::Bench;
use crate::core::fact::Name;
use crate::core::run::{Answer, CallRecord, Lead, Session, ToolRun};
use crate::core::wire::CallNo;

/// The table: the calls of `session`, then those that only `ahead` has, which has played the script to its end.
/// `paid` gives the cache numbers of a call, as far as they are worked out; `count` the tokens of a text in those of a
/// model, and whether they are an estimate.
#[must_use]
pub fn table(
    session: &Session,
    ahead: Option<&Session>,
    shown: Option<CallNo>,
    mut paid: impl FnMut(CallNo) -> Option<Paid>,
    mut count: impl FnMut(&Name, &Arc<str>) -> Option<(u32, bool)>,
) -> CallTable {
    let bench = session.bench();
    let mut rows: Vec<CallRow> = Vec::new();
    let mut turns = std::collections::BTreeMap::new();
    let mut add = |record: &CallRecord, state: CallState| {
        let starts_turn = turns.insert(record.agent.clone(), record.turn) != Some(record.turn);
        let injected = record
            .injected
            .iter()
            .filter(|injected| is_injector(bench, &injected.layer))
            .map(|injected| {
                let counted = count(&record.model, injected.text.text());
                InjectedRow {
                    layer: shown_name(bench, &injected.layer),
                    tokens: counted.map(|(tokens, _)| u64::from(tokens)),
                    estimate: counted.is_some_and(|(_, estimate)| estimate),
                    chars: injected.text.text().chars().count() as u64,
                    into: format!("message {}", injected.into.0).into(),
                    at: None,
                }
            })
            .collect();
        let (what, short) = lead_words(record);
        rows.push(CallRow {
            no: record.call,
            turn: record.turn,
            starts_turn,
            agent: super::sub_agent(bench, &record.agent),
            state,
            what: what.into(),
            short: short.into(),
            answer: record.answer.as_ref().map(|answer| answer_words(answer, record, session).into()),
            paid: paid(record.call),
            injected,
            notes: record.notes.clone(),
        });
    };
    for record in session.calls() {
        let failed = matches!(record.answer, Some(Answer::Failed(_)));
        add(record, if failed { CallState::Failed } else { CallState::Sent });
    }
    if let Some(record) = session.prepared() {
        add(record, CallState::Next);
    }
    let known = session.next_call().0 - u32::from(session.prepared().is_none());
    let mut forecast: Vec<u32> = Vec::new();
    if let Some(ahead) = ahead {
        for record in
            ahead.calls().iter().filter(|record| record.call.0 > known).map(|record| &**record).chain(
                // A script that ends behind a tool call leaves a request that nobody answers; it is still what would be sent.
                ahead.prepared().filter(|record| record.call.0 > known),
            )
        {
            add(record, CallState::Forecast);
            forecast.push(record.call.0);
        }
    }
    let footnote = match (forecast.first(), forecast.last()) {
        (Some(first), Some(last)) if first == last => {
            Some(Arc::from(format!("{first} is forecast from the script")))
        }
        (Some(first), Some(last)) => Some(Arc::from(format!("{first}-{last} are forecast from the script"))),
        _ => None,
    };
    let shown = shown.and_then(|call| rows.iter().position(|row| row.no == call));
    // Behind the last call the captions are said as soon as it was sent.
    let said = session.prepared().is_none();
    let closing = ahead.filter(|_| !said).map(|ahead| ahead.closing_notes().to_vec()).unwrap_or_default();
    CallTable { rows, shown, write_fee: false, closing, footnote, by_hand: None }
}

/// What led to a call, for wide and for narrow screens.
pub fn lead_words(record: &CallRecord) -> (String, String) {
    match &record.lead {
        Lead::User(text) if text.is_empty() => ("opened: counts as sent".into(), "opened".into()),
        Lead::User(text) if record.turn <= 1 => (format!("user: {}", one_line(text, 40)), "user".into()),
        Lead::User(text) => {
            (format!("turn {}: {}", record.turn, one_line(text, 40)), format!("turn {}", record.turn))
        }
        Lead::Goal(goal) => (format!("goal: {}", one_line(goal, 40)), "goal".into()),
        Lead::Tools(runs) => {
            let names = names(runs);
            (names.clone(), names)
        }
        Lead::Retry => ("again, after a failed send".into(), "again".into()),
        Lead::Again => ("the same, once more".into(), "once more".into()),
    }
}

fn names(runs: &[ToolRun]) -> String {
    let name = |run: &ToolRun, argument: bool| {
        let mut words = run.tool.to_string();
        if let Some(argument) = run.argument.as_ref().filter(|text| argument && text.chars().count() <= 12) {
            words.push(' ');
            words.push_str(argument);
        }
        if !run.stale.is_empty() {
            // The model called it while it had been told another value.
            words.push_str(&format!(" (told old {})", run.stale.join(", ")));
        }
        words
    };
    match runs {
        [only] => name(only, true),
        runs => runs.iter().map(|run| name(run, false)).collect::<Vec<_>>().join(", "),
    }
}

/// What came of a call.
pub(in crate::app::engine) fn answer_words(
    answer: &Answer,
    record: &CallRecord,
    session: &Session,
) -> String {
    match answer {
        Answer::Tools(tools) => {
            // The tools that ran are on record with the call that they led to.
            let next = session
                .calls()
                .iter()
                .map(|call| &**call)
                .chain(session.prepared())
                .find(|call| call.call > record.call && call.agent == record.agent);
            match next.map(|next| &next.lead) {
                Some(Lead::Tools(runs)) => format!("model called {}", names(runs)),
                _ => format!(
                    "model called {}",
                    tools.iter().map(|tool| &**tool).collect::<Vec<_>>().join(", ")
                ),
            }
        }
        Answer::Said(text) => format!("model said: {}", one_line(text, 40)),
        Answer::Agent(role) => format!("model started {role}"),
        Answer::Failed(reason) => format!("failed: {}", one_line(reason, 40)),
        Answer::Sent => "sent".into(),
    }
}

/// The number of calls and turns of a run, for lists.
#[must_use]
pub fn run_size(bench: &Bench, run: &str) -> (usize, usize) {
    use crate::core::run::Input;
    let Some(lines) = bench.runs.get(run) else { return (0, 0) };
    let calls = lines.iter().filter(|line| line.input.answers()).count();
    let turns = lines.iter().filter(|line| matches!(line.input, Input::User(_))).count();
    (calls, turns)
}
