//! The band of captions, where a demo stands, and the line above the keys.

use std::sync::Arc;

use crate::app::state::Shows;
use crate::core::fact::Name;

/// The band of captions, which keeps its room while nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// What is said now; empty for nothing.
    pub text: Arc<str>,
    /// The number of the beat, from 1: of the call, or of the beat of a demo.
    pub at: u32,
    /// How many there are.
    pub of: u32,
    /// The cells of the widest caption of the run, in one line: the band is as high as that needs.
    pub cells: usize,
}

/// Where a demo stands, and where it looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemoAt {
    /// The beat, from 1.
    pub at: u32,
    /// How many there are.
    pub of: u32,
    /// The pane or view that is shown.
    pub shows: Shows,
    /// True when the focused pane has the whole screen.
    pub zoom: bool,
    /// The layer, fact or message whose bytes are shown: `dynamic_context`, `cwd`, `message 4`.
    pub look: Option<Name>,
}

/// The line above the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// `watching 11 files`, `polling 3 folders every 2 s`, `not watching: inotify limit`.
    pub watching: Arc<str>,
    /// How many of the shown numbers are estimates.
    pub estimates: u32,
    /// What the engine wants to say once: `prompt.md read again`; empty for nothing.
    pub note: Arc<str>,
    /// True while a background thread counts.
    pub counting: bool,
    /// True while the run plays by itself.
    pub playing: bool,
}
