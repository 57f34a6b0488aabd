//! What changes would do, worked out one by one while their view is open.

use super::control::Engine;
use super::ways::AsLoad;
use crate::app::blast;
use crate::app::effect::TextPlace;
use crate::app::state::View;
use crate::app::views::{WhatIfRow, WhatIfView};
use crate::core::compare::usual_models;
use crate::core::fact::{FactKey, Name};
use crate::core::run::{Load, Player, Refused};
use crate::core::whatif::{self, Act, Ahead, Given, Planned, Radius};
use crate::core::wire::CallNo;
use crate::io::edit::bench::BenchEdit;

/// Changes that are being tried.
pub(super) struct Trying {
    /// The call that was looked at when they were begun, and the one that waited.
    at: (Option<CallNo>, CallNo),
    player: Player,
    models: Vec<Name>,
    /// None where no call waits.
    ahead: Option<Ahead>,
    /// What is still to be tried, the next one last.
    left: Vec<Planned>,
    tried: Vec<(Planned, Radius)>,
}

impl Engine {
    /// Begins to try changes on the call that is looked at, if that is not under way.
    fn begin_trying(&mut self) {
        let shown = self.shown.filter(|_| self.player.session().prepared().is_some());
        let at = (shown, self.player.session().next_call());
        if self.trying.as_ref().is_some_and(|trying| trying.at == at) {
            return;
        }
        let player = match shown {
            Some(call) => match self.branch_from(call) {
                Ok(player) => player,
                Err(_) => return,
            },
            None => self.player.clone(),
        };
        let session = player.session();
        let models = usual_models(&self.models, &session.bench().model);
        let mut trying = Trying {
            at,
            models: models.clone(),
            ahead: None,
            left: Vec::new(),
            tried: Vec::new(),
            player: player.clone(),
        };
        if let Some(record) = session.prepared() {
            let request = session.request(record.call);
            let keys = request.map(|request| whatif::file_keys(&request)).unwrap_or_default();
            let found = AsLoad(&mut *self.edge).load(&keys);
            let folders = self.folders.iter().map(|folder| Name::from(&**folder)).collect();
            let given = Given { folders, models: models.clone() };
            trying.left = whatif::candidates(session, record, &given, &found);
            trying.left.reverse();
            let mut edge = AsLoad(&mut *self.edge);
            trying.ahead = Ahead::of(&player, &self.models, &models, &mut self.counters, &mut edge);
        }
        self.trying = Some(trying);
    }

    /// Tries one change. False when there is nothing left to try, or nobody looks.
    pub(super) fn work_on_what_if(&mut self) -> bool {
        if self.view != View::WhatIf || !self.can_count_lanes() {
            return false;
        }
        self.begin_trying();
        let Some(trying) = &mut self.trying else { return false };
        let Some(ahead) = &trying.ahead else { return false };
        let Some(planned) = trying.left.pop() else { return false };
        let mut edge = AsLoad(&mut *self.edge);
        let radius = Radius::of(&planned, &trying.player, ahead, &mut self.counters, &mut edge);
        trying.tried.push((planned, radius));
        true
    }

    /// What there is to show of it so far.
    pub(super) fn what_if_view(&self) -> WhatIfView {
        let Some(trying) = &self.trying else { return WhatIfView::default() };
        let session = trying.player.session();
        let row = |(planned, radius): &(Planned, Radius)| WhatIfRow {
            id: planned.id.clone(),
            title: planned.title.clone(),
            said: blast::said(session, radius)
                .into_iter()
                .map(|(label, words)| (label, words.into()))
                .collect(),
            hits: radius.hits.clone(),
            text: match &planned.act {
                Act::Edit(FactKey::File(path) | FactKey::Document(path), _) => {
                    Some(TextPlace::File(path.clone()))
                }
                _ => None,
            },
        };
        WhatIfView {
            call: session.prepared().map(|record| record.call),
            calls: trying.tried.iter().map(|(_, radius)| radius.calls).max().unwrap_or(0),
            short: trying.models.iter().map(|id| self.models.get(id).short().into()).collect(),
            models: trying.models.clone(),
            rows: trying.tried.iter().map(row).collect(),
            left: trying.left.len(),
            done: trying.left.is_empty(),
        }
    }

    /// Makes a change that was tried.
    pub(super) fn happen(&mut self, id: &str) -> Result<(), Refused> {
        let tried = self.trying.iter().flat_map(|trying| &trying.tried);
        let act = tried.map(|(planned, _)| planned).find(|planned| *planned.id == *id);
        match act.map(|planned| planned.act.clone()) {
            None => Err(Refused("this change is not on the list any more".into())),
            Some(Act::Input(input)) => {
                self.live(input)?;
                if self.note.is_empty() {
                    self.note = "done in this run; the bench file stays as it is".into();
                }
                Ok(())
            }
            Some(Act::Edit(key, _)) => Err(Refused(format!("{key} is edited in its text"))),
            Some(Act::Bench { layer, past, .. }) => self.edit_bench(&[BenchEdit::Move { layer, past }]),
        }
    }
}
