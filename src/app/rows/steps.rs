//! The lines of the steps of a search.

use super::page::{Column, Goal, Ink, Line, Page, Wrapped};
use crate::app::state::State;
use crate::app::views::StepState;

pub(super) fn page(state: &State) -> Page {
    let Some(steps) = state.snapshot.data.steps() else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let mut lines = Vec::new();
    for (index, step) in steps.steps.iter().enumerate() {
        let (sign, ink) = match step.state {
            StepState::Yes => ("yes", Ink::Good),
            StepState::No => ("no", Ink::Warn),
            StepState::Refused => ("no", Ink::Bad),
            StepState::Idle => ("-", Ink::Dim),
        };
        let line = Line::new(format!("s{index}"));
        lines.push(
            line.cell((index + 1).to_string(), Ink::Label)
                .cell(sign, ink)
                .cell(format!("{}  {}", step.asks, step.says), Ink::Text),
        );
        for (at, (words, call, layer)) in step.because.iter().enumerate() {
            let goal = match call {
                Some(call) => Goal::Call { call: *call, message: None, layer: layer.clone() },
                None => Goal::Nothing,
            };
            let line = Line { depth: 1, ..Line::new(format!("s{index}.{at}")) };
            let number =
                call.filter(|_| layer.is_none()).map_or(String::new(), |call| format!("call {}, ", call.0));
            lines.push(
                line.cell("", Ink::Dim)
                    .cell("", Ink::Dim)
                    .cell(format!("{number}{words}"), Ink::Dim)
                    .goal(goal),
            );
        }
    }
    let column = |right, rest| Column { right, rest, ..Column::default() };
    Page {
        groups: Vec::new(),
        note: format!("turn {}, up to call {}", steps.turn, steps.call.0),
        enter: "to the call",
        columns: vec![column(true, false), column(false, false), column(false, true)],
        lines: Wrapped::of(state).fold(lines),
        empty: "No tool of this bench searches documents: `simulate: { TOOL: { search: .. } }` lets one."
            .to_owned(),
        filters: false,
        diff: None,
        start: None,
    }
}
