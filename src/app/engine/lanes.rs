//! The models that are shown side by side.

use super::control::Engine;
use crate::app::state::View;
use crate::core::cache::{Lane, Models};
use crate::core::compare::usual_models;
use crate::core::fact::Name;
use crate::core::tokens::Encoding;

/// The models beside the selected one: of other vendors, each with another kind of cache.
#[must_use]
pub(super) fn beside(models: &Models, selected: &Name) -> Vec<Name> {
    usual_models(models, selected).into_iter().filter(|id| id != selected).collect()
}

/// The questions to a simulator: the run as it is sent, then each of these models for all of it.
#[must_use]
pub(super) fn lanes(beside: &[Name]) -> Vec<Lane> {
    std::iter::once(Lane::AsSent).chain(beside.iter().cloned().map(Lane::As)).collect()
}

impl Engine {
    /// True while somebody looks at cache zones.
    pub(super) fn shows_zones(&self) -> bool {
        self.view == View::Zones
    }

    /// True while somebody looks at numbers of several models.
    pub(super) fn shows_lanes(&self) -> bool {
        matches!(self.view, View::Zones | View::Compare | View::WhatIf | View::Ledger)
    }

    /// The models beside the selected one.
    pub(super) fn beside(&self) -> Vec<Name> {
        beside(&self.models, &self.player.session().bench().model)
    }

    /// A vocabulary that is needed now and not loaded.
    #[must_use]
    pub fn to_load(&self) -> Option<Encoding> {
        let own = self.encoding();
        let lanes = self.beside().into_iter().filter(|_| self.shows_lanes());
        let lanes = lanes.filter_map(|id| self.models.get(&id).method.encoding());
        own.into_iter().chain(lanes).find(|encoding| !encoding.is_loaded())
    }

    /// True when counting for all models side by side needs no loading first.
    pub(super) fn can_count_lanes(&self) -> bool {
        self.to_load().is_none()
    }
}
