//! What an action would do now: whether anything, and in which word the row of keys says it.

use super::{Action, ActionInfo, Scope};
use crate::app::form::Subject;
use crate::app::rows;
use crate::app::snapshot::{Pause, Snapshot, Speaker};
use crate::app::state::{Mode, Pane, State, View};
use crate::app::views::Switch;

/// False when an action would do nothing: it is then shown nowhere.
#[must_use]
pub fn useful(state: &State, action: Action) -> bool {
    let snapshot = &state.snapshot;
    let shown = snapshot.calls.shown.unwrap_or(0);
    match action {
        // A recording can only be looked at.
        Action::Models
        | Action::EditText
        | Action::EditOutside
        | Action::ToggleLayer
        | Action::Compare
        | Action::WhatIf
            if snapshot.recorded =>
        {
            false
        }
        Action::Send => match &snapshot.demo {
            Some(demo) => demo.at < demo.of,
            None => goes_on(snapshot),
        },
        Action::Play => snapshot.status.playing || goes_on(snapshot) && !waits(snapshot),
        Action::Say => snapshot.hand.as_ref().is_some_and(|hand| {
            hand.speaker == Speaker::User || hand.said.as_ref().is_some_and(|said| !said.is_empty())
        }),
        Action::Reply => snapshot.hand.as_ref().is_some_and(|hand| hand.speaker == Speaker::Model),
        Action::SaveRun => snapshot.hand.as_ref().is_some_and(|hand| hand.worth_saving),
        Action::MoreLines => state.overlays.last().is_some_and(|open| match &open.subject {
            Some(Subject::Typing(typing)) => state.composer.takes_lines(typing),
            _ => false,
        }),
        // What is typed for a conversation is in no file.
        Action::HandOff => state.editor.as_ref().is_some_and(|editor| editor.typing.is_none()),
        Action::Back if snapshot.demo.is_some() => snapshot.demo.as_ref().is_some_and(|demo| demo.at > 1),
        Action::Back | Action::PreviousCall => shown > 0,
        Action::NextCall => shown + 1 < snapshot.calls.rows.len(),
        Action::Runs => snapshot.choices.runs.len() > 1,
        Action::Branch => snapshot.title.branch.is_some(),
        Action::Programs => snapshot.programs.is_some(),
        Action::SidesBranch => snapshot.title.branch.is_some(),
        Action::Sides => snapshot.diff.is_some(),
        Action::NextDifference | Action::PreviousDifference => {
            state.page.diff.as_ref().is_some_and(|rows| !rows.starts.is_empty())
        }
        Action::Differences => !snapshot.request.blocks.is_empty(),
        Action::Variants => !snapshot.choices.variants.is_empty(),
        Action::Models => !snapshot.choices.models.is_empty(),
        Action::Themes => !state.themes.is_empty(),
        Action::Copy => !snapshot.layers.rows.is_empty(),
        Action::BenchForm => snapshot.sheet.is_some(),
        Action::UndoBench => snapshot.can_undo,
        Action::RedoBench => snapshot.can_redo,
        Action::LayerForm => snapshot.sheet.is_some() && !snapshot.layers.rows.is_empty(),
        Action::EnterInRun => state
            .overlays
            .last()
            .is_some_and(|open| matches!(&open.subject, Some(Subject::Field(field)) if field.is_fact())),
        Action::SwitchWay => snapshot.calls.shown.is_some(),
        Action::NextBreak => snapshot.calls.rows.iter().any(|row| row.breaks()),
        Action::OpenLayer | Action::Orders | Action::ToggleLayer | Action::MoveUp | Action::MoveDown => {
            !snapshot.layers.rows.is_empty()
        }
        Action::Blocks => !snapshot.blocks.is_empty(),
        Action::OpenCall => !snapshot.calls.rows.is_empty(),
        Action::Fold => !state.blocks().is_empty(),
        Action::PreviousBlock | Action::NextBlock => state.blocks().len() > 1,
        Action::ApplyWay => state.snapshot.sheet.is_some() && !state.page.lines.is_empty(),
        Action::FirstTurn | Action::CopyCompared => snapshot.data.compare().is_some(),
        Action::NextModel | Action::PreviousModel => state.page.open_columns().len() > 1,
        Action::ZonesBefore | Action::ZonesNext | Action::NextLane => snapshot.data.zones().is_some(),
        Action::SwitchOverlay => {
            snapshot.data.overlay().is_some_and(|life| !matches!(life.switch, Switch::Refused(_)))
        }
        Action::Ledger
        | Action::Injectors
        | Action::Log
        | Action::Lints
        | Action::Zones
        | Action::Compare
        | Action::WhatIf
        | Action::Steps => snapshot.calls.shown.is_some(),
        Action::Recording => snapshot.recorded,
        Action::NextMatch | Action::PreviousMatch => state.search.is_some(),
        Action::OpenLine => state.pane().is_none() && !state.page.lines.is_empty(),
        Action::ColumnBefore | Action::ColumnNext => {
            state.pane().is_none() && state.page.open_columns().len() > 1
        }
        Action::EditText | Action::EditOutside => !snapshot.layers.rows.is_empty(),
        Action::FindNext | Action::FindPrevious => {
            state.editor.as_ref().is_some_and(|editor| editor.find.is_some())
        }
        Action::Suspend => cfg!(unix),
        Action::Cwd => !snapshot.agent.cwd.is_empty(),
        _ => true,
    }
}

/// True when the selected line of pane 4 is a row of the table of ways.
fn snapshot_way(state: &State) -> bool {
    let cells = state.metrics.panes[Pane::Why.index()].0.max(1);
    let lines = rows::why_lines(&state.snapshot, cells, state.metrics.compact);
    let kind = lines.get(state.why.cursor).map(|line| line.kind);
    matches!(kind, Some(rows::WhyKind::Way(_)))
}

/// True where nobody but a hand answers the request that waits.
fn waits(snapshot: &Snapshot) -> bool {
    snapshot.hand.as_ref().is_some_and(|hand| hand.waits)
}

/// True while there is something to send, or a script to begin with.
fn goes_on(snapshot: &Snapshot) -> bool {
    match snapshot.title.pause {
        Pause::Before(_) | Pause::Looking(_) => true,
        Pause::Start => !snapshot.choices.runs.is_empty(),
        Pause::End(_) => false,
    }
}

/// True while a view is open that is read by keys of its own, model by model: those come first in its footer, and the way
/// out of it.
#[must_use]
pub fn own_keys_first(state: &State) -> bool {
    state.mode() == Mode::Screen && matches!(state.view, View::Zones | View::Compare)
}

/// Which hints stay in a narrow footer, now: lower stays longer.
#[must_use]
pub fn rank(state: &State, info: &ActionInfo) -> u8 {
    // While a script goes on, nobody has to; and who reads a view reads.
    let last = state.snapshot.calls.by_hand.is_none() || state.view != View::Main;
    let rank = if last && matches!(info.action, Action::Say | Action::Reply) { 12 } else { info.rank };
    if !own_keys_first(state) {
        return rank;
    }
    match (info.scope, state.view, info.action) {
        (Scope::Views | Scope::View(_), ..) | (_, _, Action::Help) => rank,
        (_, View::Zones, Action::NextBreak | Action::Ledger) => 5,
        _ => rank.saturating_add(6),
    }
}

/// The word of an action in the footer: `send call 2`.
#[must_use]
pub fn hint(state: &State, info: &ActionInfo) -> String {
    match (info.action, state.snapshot.title.pause) {
        (Action::Send, _) if state.snapshot.demo.is_some() => "next beat".to_owned(),
        (Action::Send, Pause::Before(call)) if waits(&state.snapshot) => format!("reply to call {}", call.0),
        (Action::Say, Pause::Before(_)) if waits(&state.snapshot) => "say it otherwise".to_owned(),
        (Action::Save, _) => {
            let typing = state.editor.as_ref().and_then(|editor| editor.typing.as_ref());
            typing.map_or(info.hint, |typing| typing.takes()).to_owned()
        }
        (Action::TakeLine, _) => match state.overlays.last().and_then(|open| open.subject.as_ref()) {
            Some(Subject::Typing(typing)) => typing.takes().to_owned(),
            _ => info.hint.to_owned(),
        },
        (Action::Send, Pause::Before(call)) => format!("send call {}", call.0),
        (Action::Play, _) if state.snapshot.status.playing => "stop".to_owned(),
        (Action::Zoom, _) if state.zoom => "unzoom".to_owned(),
        (Action::SwitchWay, _) if snapshot_way(state) => info.hint.to_owned(),
        (Action::SwitchWay, _) => "its bytes".to_owned(),
        (Action::OpenLine, _) => state.page.enter.to_owned(),
        (Action::SwitchOverlay, _)
            if state.snapshot.data.overlay().is_some_and(|life| life.switch == Switch::Strip) =>
        {
            "strip".to_owned()
        }
        _ => info.hint.to_owned(),
    }
}
