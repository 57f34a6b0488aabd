//! What the engine publishes for the views besides the panes. Each is there only while its view is open.

mod compare;
mod injectors;
mod ledger;
mod lints;
mod log;
mod overlay;
mod recording;
mod steps;
mod what_if;
mod zones;

pub use compare::{CompareView, WayPreview};
pub use injectors::{FactRow, FateRow, InjectorRow, InjectorsView, ToldRow};
pub use ledger::{Form, LedgerRow, LedgerView, PieceRow, Size};
pub use lints::{LintFix, LintRow, LintsView};
pub use log::{LogChange, LogKind, LogRow, LogView};
pub use overlay::{OverlayPlan, OverlayView, Switch};
pub use recording::{CauseRow, RecordedRow, RecordingView};
pub use steps::{StepRow, StepState, StepsView};
pub use what_if::{WhatIfRow, WhatIfView};
pub use zones::{FixRow, ZoneBlame, ZoneFixes, ZoneLane, ZonePart, ZonePreview, ZoneStored, ZonesView};

use std::sync::Arc;

use super::effect::TextPlace;
use super::state::View;
use crate::core::fact::Name;
use crate::core::wire::{CallNo, MessageId};

/// Where the bytes are that something on the screen is about, and the text behind them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spot {
    /// The call; none for the shown one.
    pub call: Option<CallNo>,
    /// Who wrote them: a layer's id, else an author.
    pub author: Name,
    /// The message; none for wherever the author writes.
    pub message: Option<MessageId>,
    /// The text behind them, where it is known more closely than by the layer.
    pub text: Option<TextPlace>,
}

/// The data of one view, at one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ViewData {
    /// No view is open that has any.
    #[default]
    None,
    /// Of the ledger, and of the bytes behind it.
    Ledger(LedgerView),
    /// Of the injectors.
    Injectors(InjectorsView),
    /// Of the log.
    Log(LogView),
    /// Of the recording.
    Recording(RecordingView),
    /// Of cache zones.
    Zones(Box<ZonesView>),
    /// Of the overlay: its life on disk. What stands in it is always published.
    Overlay(Box<OverlayView>),
    /// Of the comparison.
    Compare(CompareView),
    /// Of what changes would do.
    WhatIf(WhatIfView),
    /// Of the lints.
    Lints(Arc<LintsView>),
    /// Of a search.
    Steps(StepsView),
}

impl ViewData {
    /// The view whose data a view shows.
    #[must_use]
    pub fn of(view: View) -> View {
        match view {
            View::Main | View::Orders | View::Diff => View::Main,
            View::Blocks => View::Blocks,
            View::Ledger | View::Bytes => View::Ledger,
            View::Injectors => View::Injectors,
            View::Log => View::Log,
            View::Recording => View::Recording,
            View::Zones => View::Zones,
            View::Compare => View::Compare,
            View::WhatIf => View::WhatIf,
            View::Lints => View::Lints,
            View::Steps => View::Steps,
        }
    }

    /// The ledger, if that is what there is.
    #[must_use]
    pub fn ledger(&self) -> Option<&LedgerView> {
        if let ViewData::Ledger(ledger) = self { Some(ledger) } else { None }
    }

    /// The injectors, if that is what there is.
    #[must_use]
    pub fn injectors(&self) -> Option<&InjectorsView> {
        if let ViewData::Injectors(injectors) = self { Some(injectors) } else { None }
    }

    /// The comparison, if that is what there is.
    #[must_use]
    pub fn compare(&self) -> Option<&CompareView> {
        if let ViewData::Compare(compare) = self { Some(compare) } else { None }
    }

    /// The steps of a search, if that is what there is.
    #[must_use]
    pub fn steps(&self) -> Option<&StepsView> {
        if let ViewData::Steps(steps) = self { Some(steps) } else { None }
    }

    /// What changes would do, if that is what there is.
    #[must_use]
    pub fn what_if(&self) -> Option<&WhatIfView> {
        if let ViewData::WhatIf(what_if) = self { Some(what_if) } else { None }
    }

    /// What the lints found, if that is what there is.
    #[must_use]
    pub fn lints(&self) -> Option<&LintsView> {
        if let ViewData::Lints(lints) = self { Some(lints) } else { None }
    }

    /// The log, if that is what there is.
    #[must_use]
    pub fn log(&self) -> Option<&LogView> {
        if let ViewData::Log(log) = self { Some(log) } else { None }
    }

    /// The life of the overlay, if that is what there is.
    #[must_use]
    pub fn overlay(&self) -> Option<&OverlayView> {
        if let ViewData::Overlay(overlay) = self { Some(overlay) } else { None }
    }

    /// The recording, if that is what there is.
    #[must_use]
    pub fn recording(&self) -> Option<&RecordingView> {
        if let ViewData::Recording(recording) = self { Some(recording) } else { None }
    }

    /// Cache zones, if that is what there is.
    #[must_use]
    pub fn zones(&self) -> Option<&ZonesView> {
        if let ViewData::Zones(zones) = self { Some(zones) } else { None }
    }
}
