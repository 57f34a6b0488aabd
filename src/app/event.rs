//! What can happen to the workbench.

use std::sync::Arc;

use super::action::Action;
use super::highlight::{Id, Paint};
use super::key::Key;
use super::setup::SettingsNews;
use super::snapshot::Snapshot;
use super::state::Pane;

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed (or repeated; never released).
    Key(Key),
    /// Text was pasted, whole.
    Paste(String),
    /// The mouse did something to a thing of the last frame.
    Pointer(Pointer, Target),
    /// The terminal has another size; the frame after it measures anew.
    Resized,
    /// The terminal was focused again: files may have changed unseen.
    Focused,
    /// The engine published.
    Published(Arc<Snapshot>),
    /// The worker has looked at a text.
    Painted(Id, Arc<Paint>),
    /// The settings were read, for the first time or again.
    Settings(SettingsNews),
    /// The user's own editor was left; what went wrong, if anything did.
    EditedOutside(Option<String>),
    /// The driver or the engine has something to say: a thread died, a copy was made.
    Say(String),
    /// A frame was drawn with these measures.
    Drawn(Metrics),
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// The left button went down.
    Press,
    /// It moved while the left button was down.
    Drag,
    /// The wheel turned up.
    WheelUp,
    /// The wheel turned down.
    WheelDown,
}

/// What lay under the mouse in the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A pane, beside its rows.
    Pane(Pane),
    /// A row of the layers.
    Layer(usize),
    /// A line of the calls, an index into [`super::rows::call_lines`].
    CallLine(usize),
    /// A row of the request that starts at this byte of the shown block.
    RequestRow(usize),
    /// A line of why, an index into [`super::rows::why_lines`].
    WhyLine(usize),
    /// A line of the verdict, an index into the snapshot's.
    Verdict(usize),
    /// A row of the editor: its line, its first byte, and the cell of it.
    EditorRow {
        /// The line.
        line: usize,
        /// The first byte of the row.
        start: usize,
        /// The cell, from the left edge of the text.
        cell: u16,
    },
    /// A line of the view that fills the screen, and the column.
    ViewLine(usize, usize),
    /// A row of the list that is open.
    ListRow(usize),
    /// The list or input that is open, beside its rows.
    Overlay,
    /// A hint of the footer, or a field that opens its list.
    Action(Action),
    /// Nothing.
    Nothing,
}

/// What a frame measured, for moving by rows and pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// For each pane in order: the cells of a row of text and the number of rows. Zero for a pane that was not drawn.
    pub panes: [(u16, u16); 4],
    /// The rows of the list that is open.
    pub list: u16,
    /// The cells of a line of the view that fills the screen, and its rows; zero for the panes.
    pub view: (u16, u16),
    /// The cells of a row of the editor, and its rows; zero while none is open.
    pub editor: (u16, u16),
    /// True when separators in front of parts take no rows, and the verdict stands in pane 4.
    pub compact: bool,
}
