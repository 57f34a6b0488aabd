//! What the engine publishes and the views draw: one whole picture of the session at one call.
//!
//! A snapshot is plain data. Nothing in it has to be worked out by a view: a view chooses columns, cuts texts to the
//! width it has and puts separators into numbers, and that is all. What takes long (tokens, cache numbers, the table of
//! variants) is an `Option` that is `None` until a background thread has it; the engine then publishes again.

mod band;
mod calls;
mod choices;
mod hand;
mod head;
mod layers;
mod request;
mod why;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::app::blocks::BlockView;
use crate::app::diff::DiffView;
use crate::app::editor::Opened;
use crate::app::views::ViewData;
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::{EventId, Name};
use crate::core::lint::Finding;
use crate::io::edit::bench::Sheet;

pub use band::{Caption, DemoAt, Status};
pub use calls::{CallRow, CallState, CallTable, InjectedRow, Lost, Paid};
pub use choices::{Choices, Draft, ModelChoice, Program, Programs, RunChoice, VariantChoice};
pub use hand::{ByHand, Drafted, OfferedTool, Speaker};
pub use head::{AgentInfo, Estimate, ModelInfo, Pause, Prices, Title, TokenMethod, Was};
pub use layers::{ByteOrder, LayerRow, LayerTable, Now, PlaceSize, ReadRow, SourceAt, TotalRow};
pub use request::{BlockChange, BlockRow, PartRow, RequestView};
pub use why::{Belief, Change, Pending, Tone, VerdictLine, WayOutcome, WayRow, Ways, Why};

/// Everything the screen shows about the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Counts up with every publication; an older one never replaces a newer one.
    pub generation: u64,
    /// The first line.
    pub title: Title,
    /// The second line.
    pub agent: AgentInfo,
    /// The third line.
    pub model: ModelInfo,
    /// Pane 1.
    pub layers: LayerTable,
    /// The blocks of the shown request, for the overlay view.
    pub blocks: Arc<[BlockView]>,
    /// The places that have a budget, with what they take of it.
    pub places: Vec<PlaceSize>,
    /// True for a log of real requests, which can only be looked at.
    pub recorded: bool,
    /// Pane 2.
    pub calls: CallTable,
    /// Pane 3: the request of [`CallTable::shown`].
    pub request: RequestView,
    /// Pane 4.
    pub why: Why,
    /// The verdict, one line for each entry, in order: `CALL`, then `AHEAD`.
    pub verdict: Vec<VerdictLine>,
    /// What the presenter has to say of the shown call or beat; none where the run has no captions at all.
    pub caption: Option<Caption>,
    /// Programs that the user is to be asked about; none where there is nothing to ask.
    pub programs: Option<Programs>,
    /// Where a demo stands; none while none is on.
    pub demo: Option<DemoAt>,
    /// What is wrong with the bench or its files, errors first.
    pub diagnostics: Vec<Diagnostic>,
    /// What the lints found in the shown call.
    pub lints: Vec<Finding>,
    /// True while a file is broken: everything else here is the last good state.
    pub broken: bool,
    /// The line above the keys.
    pub status: Status,
    /// What lists and inputs offer.
    pub choices: Choices,
    /// Set while this snapshot shows the effect of a CWD that is typed but not yet entered.
    pub draft: Option<Draft>,
    /// Who can go on by hand, and with what; none where nobody can.
    pub hand: Option<ByHand>,
    /// What the bench file says of everything that forms can change in it; none for a bench that is part of the program.
    pub sheet: Option<Arc<Sheet>>,
    /// True when there is a change to take back, of the bench file or of what was said by hand.
    pub can_undo: bool,
    /// True when there is one to make again.
    pub can_redo: bool,
    /// The facts whose value in this run is another one than the bench's.
    pub facts_now: Vec<FactNow>,
    /// The latest edit that a form asked for, once it was answered.
    pub edited: Option<EditedField>,
    /// The data of the view that is open.
    pub data: ViewData,
    /// Where the lines of the script stand in the bench, by the events that they led to.
    pub lines: BTreeMap<EventId, Position>,
    /// The shown call beside another one, while that was asked for.
    pub diff: Option<Arc<DiffView>>,
    /// The text file that is open for editing.
    pub opened: Option<Opened>,
    /// The number of the latest request to open a text that was answered.
    pub asked: u32,
}

/// A fact that has another value in this run than the bench says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactNow {
    /// Its name.
    pub name: Name,
    /// The value, short.
    pub value: Arc<str>,
    /// The event that gave it: `a change of mood by hand`.
    pub cause: Arc<str>,
}

/// An edit that a form asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditedField {
    /// The number of the request.
    pub serial: u32,
    /// True when it was not made; the status line says why.
    pub refused: bool,
}
