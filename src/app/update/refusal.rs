//! Why an action does nothing now, and what would have to be there for it to do something.

use crate::app::action::{self, Action};
use crate::app::snapshot::Snapshot;
use crate::app::state::State;
use crate::app::views::Switch;

/// One sentence for the row of status, lower case, without a full stop.
pub(super) fn why(state: &State, action: Action) -> String {
    let key = |action| state.keymap.shown_key(action);
    let snapshot = &state.snapshot;
    let demo = snapshot.demo.is_some();
    let no_file = snapshot.sheet.is_none();
    if snapshot.recorded
        && let Some(why) = of_recording(snapshot, action)
    {
        return why;
    }
    match action {
        Action::Say | Action::Reply | Action::SaveRun => super::compose::why_not(state, action),
        Action::Play if super::compose::waits(state) => {
            format!("the script holds no answer; {} answers by hand", key(Action::Reply))
        }
        Action::Send if demo => "the demo is at its end".to_owned(),
        Action::Send | Action::Play => {
            let (back, say) = (key(Action::Back), key(Action::Say));
            format!("the run is at its end; {back} goes back, {say} goes on by hand")
        }
        Action::Back if demo => "this is the first beat".to_owned(),
        Action::Back | Action::PreviousCall => "this is the first call".to_owned(),
        Action::NextCall => "this is the last call".to_owned(),
        Action::Runs if snapshot.choices.runs.is_empty() => {
            "this bench scripts no run; `runs:` in the bench file does".to_owned()
        }
        Action::Runs => "this bench scripts one run, and it is on".to_owned(),
        Action::Branch | Action::SidesBranch => {
            "there is one branch; a change made while an earlier call is shown begins another".to_owned()
        }
        Action::Programs => "this bench reads the output of no program that is not allowed yet".to_owned(),
        Action::Variants => "this bench has no variants; `variants:` in the bench file lists some".to_owned(),
        Action::Models => "no model is known; `plywood models` says where they come from".to_owned(),
        Action::Themes => "no theme is known".to_owned(),
        Action::Differences
        | Action::Ledger
        | Action::Injectors
        | Action::Log
        | Action::Lints
        | Action::Steps => "there is no call yet whose request could be looked at".to_owned(),
        Action::Recording => {
            "no log of requests is open; `plywood LOG`, with the path of one, opens it".to_owned()
        }
        Action::Sides => "there is no other call to compare with yet".to_owned(),
        Action::NextDifference | Action::PreviousDifference => {
            "the two are equal: nothing differs".to_owned()
        }
        Action::BenchForm | Action::LayerForm if no_file => {
            "this folder has no bench file to change; `plywood init` writes one".to_owned()
        }
        Action::UndoBench => format!(
            "nothing to take back: no edit of the bench was made here, and nothing said by hand; {} undoes while a text \
             is edited",
            key(Action::UndoText)
        ),
        Action::RedoBench => "nothing to do again: nothing was taken back".to_owned(),
        Action::OpenLayer
        | Action::Orders
        | Action::ToggleLayer
        | Action::MoveUp
        | Action::MoveDown
        | Action::LayerForm
        | Action::EditText
        | Action::EditOutside
        | Action::Copy => "there are no layers: the bench has none, or it could not be read".to_owned(),
        Action::Blocks => "this bench has no blocks; a place with `of: block` is one".to_owned(),
        Action::SwitchOverlay => match snapshot.data.overlay().map(|life| &life.switch) {
            Some(Switch::Refused(why)) => why.to_string(),
            Some(Switch::Apply | Switch::Strip) | None => {
                "this bench has no overlay: a block with markers, in a place of its own".to_owned()
            }
        },
        Action::OpenCall | Action::SwitchWay => "there is no call yet".to_owned(),
        Action::NextBreak => "no call pays anything again, and none ahead will".to_owned(),
        Action::Fold => "there is no text to fold".to_owned(),
        Action::PreviousBlock | Action::NextBlock => "this request has only one block".to_owned(),
        Action::NextMatch | Action::PreviousMatch => {
            format!("nothing was searched; {} searches", key(Action::Search))
        }
        Action::FindNext | Action::FindPrevious => {
            format!("nothing was looked for; {} finds", key(Action::FindText))
        }
        Action::OpenLine => "this view has no lines".to_owned(),
        Action::ColumnBefore | Action::ColumnNext => "no column of this view leads anywhere else".to_owned(),
        Action::EnterInRun => "only a fact can be set in the run alone".to_owned(),
        Action::Suspend => "this system has no shell to go back to".to_owned(),
        Action::Cwd => "this agent has no CWD: no layer reads {{cwd}}".to_owned(),
        _ => format!("{}: there is nothing that it could be done to now", action::info(action).title),
    }
}

/// Why something cannot be done to a recording, and what can be done instead; none for what has nothing to do with that.
fn of_recording(snapshot: &Snapshot, action: Action) -> Option<String> {
    let bench = format!("`plywood init --from {}` makes a bench of it", snapshot.title.name);
    Some(match action {
        Action::Compare | Action::WhatIf | Action::Cwd | Action::Runs | Action::Variants => {
            format!("a recording cannot be played another way; {bench}, which can")
        }
        Action::EditText
        | Action::EditOutside
        | Action::ToggleLayer
        | Action::MoveUp
        | Action::MoveDown
        | Action::LayerForm
        | Action::BenchForm
        | Action::UndoBench
        | Action::RedoBench => format!("this text was recorded, no file holds it; {bench}, with files"),
        Action::Models => {
            format!(
                "its calls went where they went; `plywood audit {} --models` asks others",
                snapshot.title.name
            )
        }
        Action::Send | Action::Play => "this is the last call of the recording so far".to_owned(),
        _ => return None,
    })
}
