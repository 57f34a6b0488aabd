//! The steps of a search: is the context in the messages, was the tool called, did a second model start, what did it decide?

use std::sync::Arc;

use crate::app::engine::publish;
use crate::app::views::{StepRow, StepState, StepsView};
use crate::core::bench::{PlaceKind, ToolEffect};
use crate::core::fact::Name;
use crate::core::run::{CallRecord, Lead, Searched, Session};
use crate::core::source::Piece;
use crate::core::wire::CallNo;

/// The steps of the turn that a call is of, up to that call.
#[must_use]
pub fn steps(session: &Session, record: &CallRecord) -> StepsView {
    let searches = |tool: &Name| matches!(session.bench().simulate.get(tool), Some(ToolEffect::Search(_)));
    let mut view = StepsView { call: record.call, turn: record.turn, steps: Vec::new() };
    if !session.bench().simulate.keys().any(searches) {
        return view;
    }
    let runs: Vec<Run<'_>> = session
        .calls()
        .iter()
        .map(|call| &**call)
        .chain(session.prepared())
        .filter(|call| call.agent == record.agent && call.turn == record.turn && call.call <= record.call)
        .filter_map(|call| match &call.lead {
            Lead::Tools(runs) => Some(runs.iter().map(move |run| (call.call, run))),
            _ => None,
        })
        .flatten()
        .filter(|(_, run)| searches(&run.tool))
        .map(|(call, run)| (call, &run.tool, run.argument.as_ref(), run.searched.as_ref()))
        .collect();
    view.steps = vec![context(session, record), called(&runs), started(&runs), decided(&runs)];
    view
}

type Run<'r> = (CallNo, &'r Name, Option<&'r Arc<str>>, Option<&'r Searched>);

/// What layers say in messages of their own.
fn context(session: &Session, record: &CallRecord) -> StepRow {
    let bench = session.bench();
    let own = bench.layers.iter().filter(|layer| {
        let place = bench.places.get(&layer.place);
        place.is_some_and(|place| matches!(place.kind, PlaceKind::Message { .. }))
    });
    let mut said = 0;
    let because = own
        .filter_map(|layer| {
            let shown = publish::shown_name(bench, &layer.id);
            let words = match &record.layer(&layer.id)?.state.piece {
                Piece::Text { text, .. } => {
                    said += 1;
                    format!("{shown}: {} characters", text.text().chars().count())
                }
                Piece::Omitted(reason) => format!("{shown} is left out: {reason}"),
                Piece::Failed(problem) | Piece::Stopped(problem) => {
                    format!("{shown} failed: {}", problem.message)
                }
            };
            Some((words.into(), Some(record.call), Some(layer.id.clone())))
        })
        .collect();
    let (state, says) = match said {
        0 => (StepState::No, "no layer says anything in a message of its own".to_owned()),
        1 => (StepState::Yes, "1 layer speaks in a message of its own".to_owned()),
        n => (StepState::Yes, format!("{n} layers speak in a message of their own")),
    };
    StepRow { asks: "Is the dynamic context in the messages?", state, says: says.into(), because }
}

fn called(runs: &[Run<'_>]) -> StepRow {
    let because = runs.iter().map(|(call, tool, question, searched)| {
        let question = question.map_or(String::new(), |text| format!(" \"{}\"", publish::one_line(text, 60)));
        let found = match searched {
            Some(searched) => format!(": {} of {} pieces fit", searched.selected, searched.total),
            None => ": the run gives the result".to_owned(),
        };
        (format!("{tool}{question}{found}").into(), Some(*call), None)
    });
    let (state, says) = match runs.len() {
        0 => (StepState::No, "not in this turn".to_owned()),
        1 => (StepState::Yes, "once in this turn".to_owned()),
        n => (StepState::Yes, format!("{n} times in this turn")),
    };
    StepRow { asks: "Was the search called?", state, says: says.into(), because: because.collect() }
}

fn started(runs: &[Run<'_>]) -> StepRow {
    let because: Vec<_> = runs
        .iter()
        .filter_map(|(call, _, _, searched)| {
            let searched = searched.as_ref()?;
            let words = match &searched.mediated {
                Some(_) => format!(
                    "{} of {} pieces were given to the second model",
                    searched.selected, searched.total
                ),
                None => "it does not stand between here: the model sees the texts".to_owned(),
            };
            Some((words.into(), Some(*call), None))
        })
        .collect();
    let stands =
        runs.iter().any(|(.., searched)| searched.is_some_and(|searched| searched.mediated.is_some()));
    let (state, says) = match (stands, runs.is_empty()) {
        (true, _) => (StepState::Yes, "yes"),
        (false, true) => (StepState::Idle, "nothing was searched"),
        (false, false) => (StepState::No, "no second model stands between"),
    };
    StepRow { asks: "Did the safe summary start?", state, says: says.into(), because }
}

fn decided(runs: &[Run<'_>]) -> StepRow {
    let mut last = None;
    let because: Vec<_> = runs
        .iter()
        .filter_map(|(call, _, _, searched)| {
            let mediated = searched.as_ref()?.mediated.as_ref()?;
            let what = match (mediated.answers, mediated.fallback) {
                (true, _) => "answered",
                (false, true) => "not answered, which is no refusal of the question",
                (false, false) => "refused",
            };
            last = Some((mediated.answers, what));
            Some((format!("{what}: {}", mediated.reason).into(), Some(*call), None))
        })
        .collect();
    let (state, says) = match last {
        Some((true, what)) => (StepState::Yes, what),
        Some((false, what)) => (StepState::Refused, what),
        None => (StepState::Idle, "nothing was decided"),
    };
    StepRow { asks: "Did it answer or refuse?", state, says: says.into(), because }
}
