//! The shown call beside another one: what it is compared with, and the way from difference to difference.

use crate::app::diff::With;
use crate::app::effect::{Effect, EngineRequest};
use crate::app::state::{State, View};

/// Asks the engine to compare while somebody looks at it, and to stop when nobody does any more.
pub(super) fn ask(state: &mut State) -> Option<Effect> {
    let open = state.view == View::Diff || state.under.contains(&View::Diff);
    let with = match (open, state.comparing) {
        (true, None) => Some(With::default()),
        (false, Some(_)) => None,
        _ => return None,
    };
    state.comparing = with;
    Some(Effect::Engine(EngineRequest::Compare(with)))
}

/// Compares with the same call on the next branch; behind the last one with the call before.
pub(super) fn turn_branch(state: &mut State) -> Vec<Effect> {
    let Some((here, count)) = state.snapshot.title.branch else { return Vec::new() };
    let first = match state.comparing {
        Some(With::Branch(branch)) => branch + 1,
        _ => 0,
    };
    // Titles count from 1.
    let next = (first..count).find(|branch| branch + 1 != here);
    let with = next.map_or(With::Before, With::Branch);
    state.comparing = Some(with);
    vec![Effect::Engine(EngineRequest::Compare(Some(with)))]
}

/// To the next difference, or the one before; round the end.
pub(super) fn step(state: &mut State, forward: bool) {
    let Some(rows) = state.page.diff.clone() else { return };
    let cursor = state.here().list.cursor;
    let starts = &rows.starts;
    let at = if forward {
        starts.iter().position(|start| *start > cursor).unwrap_or(0)
    } else {
        starts.iter().rposition(|start| *start < cursor).unwrap_or(starts.len().saturating_sub(1))
    };
    let Some(&start) = starts.get(at) else { return };
    state.message = format!("{} of {}", at + 1, starts.len());
    let height = usize::from(state.metrics.view.1);
    let list = &mut state.here_mut().list;
    list.cursor = start;
    // With what stands in front of it, and as much of what follows as there is room for.
    list.top = start.saturating_sub(height / 4);
}
