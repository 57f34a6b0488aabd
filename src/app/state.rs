//! The state of the workbench: what is focused, selected, scrolled to, open. Only [`super::update::update`] changes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::compose::Composer;
use super::diff::With;
use super::editor::Editor;
use super::event::{Event, Metrics};
use super::form::Subject;
use super::highlight::{Paints, Sheet};
use super::key::Key;
use super::keymap::Keymap;
use super::line_editor::LineEditor;
use super::marks::Marks;
use super::rows::{BlockRows, Look, Page, Reading};
use super::setup::ThemeRow;
use super::snapshot::{BlockRow, Programs, Snapshot};
use super::update::{Seek, ZonesState};
use crate::core::diagnostic::Diagnostic;
use crate::core::wire::MessageId;

/// The panes, in the order of their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pane {
    /// 1.
    Layers,
    /// 2.
    #[default]
    Calls,
    /// 3.
    Request,
    /// 4.
    Why,
}

impl Pane {
    /// All of them, in order.
    pub const ALL: [Pane; 4] = [Pane::Layers, Pane::Calls, Pane::Request, Pane::Why];

    /// Its place in [`Pane::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its name on the screen.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Pane::Layers => "Layers",
            Pane::Calls => "Calls",
            Pane::Request => "Request",
            Pane::Why => "Why",
        }
    }
}

/// What fills the screen. A view other than the panes is a list: its lines come from [`super::rows::page`], its place
/// in them is kept in [`State::views`], and its keys have the scopes [`super::action::Scope::Views`] and
/// [`super::action::Scope::View`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// The four panes.
    #[default]
    Main,
    /// Run order against byte order.
    Orders,
    /// What was sent, what is persisted, what is replayed.
    Ledger,
    /// The bytes behind a number of the ledger. Shown as pane 3 is.
    Bytes,
    /// What each injector watches, told, and has still to tell.
    Injectors,
    /// What happened, in order.
    Log,
    /// Blocks with their budget and what became of their sections.
    Blocks,
    /// The shown call beside another one.
    Diff,
    /// What the lints found.
    Lints,
    /// What a call reads, writes and pays again, for several models.
    Zones,
    /// Every way of building the run, side by side.
    Compare,
    /// What changes would do, before they are made.
    WhatIf,
    /// What becomes of a question that documents are searched for.
    Steps,
    /// What a log of real requests reports beside what was to be expected.
    Recording,
}

impl View {
    /// All of them but the panes.
    pub const ALL: &[View] = &[
        View::Orders,
        View::Ledger,
        View::Injectors,
        View::Log,
        View::Blocks,
        View::Diff,
        View::Lints,
        View::Zones,
        View::Compare,
        View::WhatIf,
        View::Steps,
        View::Recording,
    ];

    /// Its number behind those of the panes; none for views that have a letter.
    #[must_use]
    pub fn number(self) -> Option<u8> {
        match self {
            View::Zones => Some(5),
            _ => None,
        }
    }

    /// Its name on the screen.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            View::Main => "Panes",
            View::Orders => "Orders",
            View::Ledger => "Ledger",
            View::Bytes => "Bytes",
            View::Injectors => "Injectors",
            View::Log => "Log",
            View::Blocks => "Overlay",
            View::Diff => "Differences",
            View::Lints => "Lints",
            View::Zones => "Cache zones",
            View::Compare => "Compare",
            View::WhatIf => "What if",
            View::Steps => "Search check",
            View::Recording => "Recording",
        }
    }
}

/// Where one is in a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// The selected line, an index into the lines of the view's page, and the first on the screen.
    pub list: ListState,
    /// The selected column, an index into the page's.
    pub column: usize,
    /// The keys of the lines that are folded otherwise than they are by themselves.
    pub turned: BTreeSet<Arc<str>>,
    /// Only lines with this text are shown, and what they hang on; empty for all.
    pub filter: String,
}

/// What a demo can show: a pane, or a view of the whole screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The panes, with this one focused.
    Pane(Pane),
    /// A view.
    View(View),
}

impl Default for Shows {
    fn default() -> Shows {
        Shows::Pane(Pane::default())
    }
}

impl Shows {
    /// Everything that can be shown, by its name.
    fn all() -> impl Iterator<Item = (String, Shows)> {
        let panes = Pane::ALL.into_iter().map(|pane| (pane.title().to_lowercase(), Shows::Pane(pane)));
        panes.chain(View::ALL.iter().map(|&view| (view.title().to_lowercase(), Shows::View(view))))
    }

    /// What has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Shows> {
        Shows::all().find(|(known, _)| known == name).map(|(_, shows)| shows)
    }

    /// The names.
    #[must_use]
    pub fn names() -> Vec<String> {
        Shows::all().map(|(name, _)| name).collect()
    }
}

/// What decides the meaning of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing is open above the screen.
    Screen,
    /// A list with a line to type into.
    Find,
    /// A list without one.
    Menu,
    /// The list of variants.
    Variants,
    /// A CWD is typed.
    Cwd,
    /// A search is typed.
    Search,
    /// A form.
    Form,
    /// A value of the bench is typed.
    Value,
    /// The calls of a reply are composed.
    Calls,
    /// Something short is typed for what is composed.
    Line,
    /// A text is edited.
    Editor,
}

impl Mode {
    /// True while a list is open whose rows are gone through.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Mode::Find | Mode::Menu | Mode::Variants | Mode::Form | Mode::Calls)
    }
}

/// What is open above the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayKind {
    /// The keys.
    Help,
    /// Actions by name.
    Palette,
    /// The models.
    Models,
    /// The runs.
    Runs,
    /// The variants.
    Variants,
    /// The views.
    Views,
    /// What can be copied.
    Copy,
    /// The themes; the one under the cursor is drawn.
    Themes,
    /// The input of a CWD.
    Cwd,
    /// The input of a search.
    Search,
    /// What the shown call can be compared with.
    Sides,
    /// A text that is not saved is to be left.
    Unsaved,
    /// A text that is edited was changed outside.
    Conflict,
    /// Both texts, where they differ.
    Both,
    /// A text was kept from before that was not saved.
    Kept,
    /// It and the file, where they differ.
    KeptBoth,
    /// The programs of the bench, which are to be allowed or not.
    Programs,
    /// What a way of building the run would change in the bench file.
    Way,
    /// What putting the overlay on disk would write.
    SwitchOverlay,
    /// The fields of a layer, or of the bench.
    Form,
    /// The values that a field can have.
    Choice,
    /// The input of a field's value.
    Value,
    /// What the model can do.
    Reply,
    /// The calls of a reply that is composed.
    Calls,
    /// The values that an argument of a call can have.
    Values,
    /// The input of something short that is composed.
    Line,
    /// Whether a run is written over.
    SaveOver,
}

impl OverlayKind {
    /// The title of its box.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            OverlayKind::Help => "Keys",
            OverlayKind::Palette => "Find an action",
            OverlayKind::Models => "Model",
            OverlayKind::Runs => "Run",
            OverlayKind::Variants => "Variants",
            OverlayKind::Views => "Views",
            OverlayKind::Copy => "Copy",
            OverlayKind::Themes => "Theme",
            OverlayKind::Cwd => "Change the CWD",
            OverlayKind::Search => "Search",
            OverlayKind::Sides => "Compare with",
            OverlayKind::Unsaved => "Not saved",
            OverlayKind::Conflict => "Changed outside",
            OverlayKind::Both => "Theirs and mine",
            OverlayKind::Kept => "Not saved the last time",
            OverlayKind::KeptBoth => "The file and what was not saved",
            OverlayKind::Programs => "This bench runs programs",
            OverlayKind::Way => "Write this way into the bench",
            OverlayKind::SwitchOverlay => "The overlay on disk",
            OverlayKind::Form => "Bench",
            OverlayKind::Choice => "Choose",
            OverlayKind::Value => "Change",
            OverlayKind::Reply => "What the model does",
            OverlayKind::Calls => "What the model calls",
            OverlayKind::Values | OverlayKind::Line => "Type",
            OverlayKind::SaveOver => "There is a run of this name",
        }
    }

    /// The mode that it brings.
    #[must_use]
    pub fn mode(self) -> Mode {
        match self {
            OverlayKind::Help | OverlayKind::Palette | OverlayKind::Models | OverlayKind::Reply => Mode::Find,
            OverlayKind::Runs
            | OverlayKind::Sides
            | OverlayKind::Views
            | OverlayKind::Copy
            | OverlayKind::Themes
            | OverlayKind::Unsaved
            | OverlayKind::Conflict
            | OverlayKind::Programs
            | OverlayKind::Both
            | OverlayKind::Kept
            | OverlayKind::KeptBoth
            | OverlayKind::Way
            | OverlayKind::SwitchOverlay
            | OverlayKind::Values
            | OverlayKind::SaveOver
            | OverlayKind::Choice => Mode::Menu,
            OverlayKind::Form => Mode::Form,
            OverlayKind::Value => Mode::Value,
            OverlayKind::Calls => Mode::Calls,
            OverlayKind::Line => Mode::Line,
            OverlayKind::Variants => Mode::Variants,
            OverlayKind::Cwd => Mode::Cwd,
            OverlayKind::Search => Mode::Search,
        }
    }
}

/// Something open above the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// What it is.
    pub kind: OverlayKind,
    /// What it is about, where that is not said by the kind.
    pub subject: Option<Subject>,
    /// What is typed into it.
    pub editor: LineEditor,
    /// Its rows: an index into [`super::rows::list_rows`].
    pub list: ListState,
    /// While folders are gone through with Tab, what was typed before.
    pub stem: Option<String>,
    /// The text of which the user was told what is wrong with it: a second Enter takes it all the same.
    pub warned: Option<String>,
    /// The CWD when it was opened: what is shown below it may already be the effect of another one.
    pub base: Arc<str>,
}

/// A selected row and what is scrolled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListState {
    /// The selected row.
    pub cursor: usize,
    /// The first row on the screen.
    pub top: usize,
}

impl ListState {
    /// Keeps the cursor inside the list, and the cursor's row inside the `height` rows on the screen.
    pub fn fit(&mut self, len: usize, height: usize) {
        self.cursor = self.cursor.min(len.saturating_sub(1));
        let height = height.max(1);
        self.top = self.top.clamp((self.cursor + 1).saturating_sub(height), self.cursor);
        self.top = self.top.min(len.saturating_sub(height));
    }

    /// Scrolls without moving the cursor, unless it would leave the screen.
    pub fn scroll(&mut self, by: isize, len: usize, height: usize) {
        let height = height.max(1);
        self.top = self.top.saturating_add_signed(by).min(len.saturating_sub(height));
        self.cursor = self.cursor.clamp(self.top, self.top + height - 1);
    }
}

/// What is looked at in the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestState {
    /// The block, an index into the snapshot's.
    pub block: usize,
    /// The byte at which the first row on the screen begins.
    pub top: usize,
    /// The byte at which the selected row begins.
    pub cursor: usize,
    /// Folded parts: the title of the block and the index of the part.
    pub folded: BTreeSet<(Arc<str>, usize)>,
    /// How texts are shown.
    pub look: Look,
    /// True when lines longer than a row are not broken.
    pub cut: bool,
    /// The cells that are scrolled out of sight at the left, while lines are not broken.
    pub left: usize,
}

/// A message of the ledger that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The message.
    pub message: MessageId,
    /// Where one was in the request meanwhile.
    pub request: RequestState,
}

/// A search and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The pane that was searched.
    pub pane: Pane,
    /// What was typed.
    pub text: String,
    /// What was found, in order.
    pub hits: Vec<Hit>,
    /// The hit that is looked at.
    pub at: usize,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hit {
    /// A row of a list.
    Row(usize),
    /// Bytes of a block of the request.
    Bytes(usize, Range<usize>),
}

/// The whole state.
#[derive(Clone, Debug)]
pub struct State {
    /// What the engine published last.
    pub snapshot: Arc<Snapshot>,
    /// Which keys do what.
    pub keymap: Arc<Keymap>,
    /// The theme that was chosen.
    pub theme: Arc<str>,
    /// The theme that is drawn: another one while the list of themes is gone through.
    pub drawn_theme: Arc<str>,
    /// The themes that there are.
    pub themes: Arc<[ThemeRow]>,
    /// Whether anything on the screen may move by itself.
    pub animations: bool,
    /// What is broken in the settings; what was good before is in force.
    pub broken_settings: Arc<[Diagnostic]>,
    /// What fills the screen.
    pub view: View,
    /// The views that lie under it, the nearest last: Esc goes back to them.
    pub under: Vec<View>,
    /// Where one is in each view.
    pub views: BTreeMap<View, ViewState>,
    /// The view that fills the screen, laid out.
    pub page: Page,
    /// The view whose page that is.
    pub page_of: View,
    /// The view whose data the engine was asked for last.
    pub asked_for: View,
    /// True while a view is open that waits for its data, to begin where it says.
    pub begins: bool,
    /// The message of the ledger whose bytes are read; [`State::request`] is then where one is in them.
    pub reading: Option<Stored>,
    /// Where one is in cache zones.
    pub zones: ZonesState,
    /// Bytes that are to be shown as soon as the engine has published their call.
    pub seeking: Option<Seek>,
    /// The focused pane.
    pub focus: Pane,
    /// True when the focused pane has the whole screen.
    pub zoom: bool,
    /// The rows of pane 1.
    pub layers: ListState,
    /// The lines of pane 2.
    pub calls: ListState,
    /// Pane 3.
    pub request: RequestState,
    /// The lines of pane 4.
    pub why: ListState,
    /// What is composed by hand.
    pub composer: Composer,
    /// The text that is edited, below what is open above it.
    pub editor: Option<Editor>,
    /// The number of the latest request to open a text, see [`super::editor::Opened::no`].
    pub asked: u32,
    /// What was typed and pasted while a text was being opened: it is meant for it.
    pub waiting: Option<Vec<Event>>,
    /// The number of the latest edit that a form asked for, and of the latest whose answer was looked at.
    pub edits: u32,
    /// See [`State::edits`].
    pub edits_seen: u32,
    /// What is known of the texts on the screen.
    pub paints: Paints,
    /// What is open, the last on top.
    pub overlays: Vec<Overlay>,
    /// What the engine was asked to compare the shown call with, while it is looked at.
    pub comparing: Option<With>,
    /// The search whose hits are shown.
    pub search: Option<Search>,
    /// Something to say until the next key.
    pub message: String,
    /// True while the mouse is captured.
    pub mouse: bool,
    /// True when the last key was a Ctrl-C, so that another one quits.
    pub armed: bool,
    /// The last keys, when an audience is to see them.
    pub keys: Option<VecDeque<Key>>,
    /// What changed since the key that is looked at.
    pub marks: Marks,
    /// What was on the screen at that key; none where nothing is to be marked.
    pub before: Option<Arc<Snapshot>>,
    /// What the beats of a demo showed when they were reached.
    pub beats: BTreeMap<u32, Arc<Snapshot>>,
    /// True from when a beat was reached until the next key.
    pub on_beat: bool,
    /// The programs that the user was asked about last.
    pub asked_programs: Option<Programs>,
    /// True until the frame after a beat of a demo was drawn: where rows begin depends on what it measures.
    pub staging: bool,
    /// What the last frame measured.
    pub metrics: Metrics,
    /// True when something changed since the last frame.
    pub dirty: bool,
}

impl State {
    /// The state before anything was published. `show_keys` keeps the last keys for an audience.
    #[must_use]
    pub fn new(mouse: bool, show_keys: bool) -> State {
        State {
            snapshot: Arc::default(),
            keymap: Arc::default(),
            theme: "ansi".into(),
            drawn_theme: "ansi".into(),
            themes: Arc::default(),
            animations: true,
            broken_settings: Arc::default(),
            view: View::Main,
            under: Vec::new(),
            views: BTreeMap::new(),
            page: Page::default(),
            page_of: View::Main,
            asked_for: View::Main,
            begins: false,
            reading: None,
            zones: ZonesState::default(),
            seeking: None,
            focus: Pane::default(),
            zoom: false,
            layers: ListState::default(),
            calls: ListState::default(),
            request: RequestState::default(),
            why: ListState::default(),
            composer: Composer::default(),
            editor: None,
            asked: 0,
            waiting: None,
            edits: 0,
            edits_seen: 0,
            paints: Paints::default(),
            overlays: Vec::new(),
            comparing: None,
            search: None,
            message: String::new(),
            mouse,
            armed: false,
            keys: show_keys.then(VecDeque::new),
            marks: Marks::default(),
            before: None,
            beats: BTreeMap::new(),
            on_beat: false,
            asked_programs: None,
            staging: false,
            metrics: Metrics::default(),
            dirty: true,
        }
    }

    /// What decides the meaning of keys.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self.overlays.last() {
            Some(overlay) => overlay.kind.mode(),
            None if self.editor.is_some() => Mode::Editor,
            None => Mode::Screen,
        }
    }

    /// Where one is in the view that fills the screen.
    #[must_use]
    pub fn here(&self) -> ViewState {
        self.views.get(&self.view).cloned().unwrap_or_default()
    }

    /// The same, to be changed.
    pub(super) fn here_mut(&mut self) -> &mut ViewState {
        self.views.entry(self.view).or_default()
    }

    /// The pane that keys go to; none while a view fills the screen.
    #[must_use]
    pub fn pane(&self) -> Option<Pane> {
        match self.view {
            View::Main => Some(self.focus),
            View::Bytes => Some(Pane::Request),
            _ => None,
        }
    }

    /// The blocks that pane 3 shows: those of the request, or the forms of the message that is read.
    #[must_use]
    pub fn blocks(&self) -> &[BlockRow] {
        match (&self.reading, self.snapshot.data.ledger()) {
            (Some(reading), Some(ledger)) => ledger
                .rows
                .iter()
                .find(|row| row.message == reading.message)
                .map_or(&[][..], |row| &row.texts),
            (Some(_), None) => &[],
            (None, _) => &self.snapshot.request.blocks,
        }
    }

    /// The block of the request that is looked at.
    #[must_use]
    pub fn block(&self) -> Option<&BlockRow> {
        self.blocks().get(self.request.block)
    }

    /// The folded parts of the block that is looked at.
    #[must_use]
    pub fn folded(&self) -> BTreeSet<usize> {
        let Some(block) = self.block() else { return BTreeSet::new() };
        let own = self.request.folded.iter().filter(|(title, _)| *title == block.title);
        own.map(|(_, part)| *part).collect()
    }

    /// Calls `f` with the rows of the block that is looked at, in the width of the last frame.
    pub(super) fn with_rows<T>(&self, f: impl FnOnce(BlockRows<'_>) -> T) -> Option<T> {
        let cells = match self.metrics.panes[Pane::Request.index()].0 {
            0 => 80,
            cells => cells,
        };
        self.with_rows_in(cells, self.metrics.compact, f)
    }

    /// Calls `f` with the rows of the block that is looked at, in so many cells.
    pub fn with_rows_in<T>(
        &self,
        cells: u16,
        compact: bool,
        f: impl FnOnce(BlockRows<'_>) -> T,
    ) -> Option<T> {
        let block = self.block()?;
        let folded = self.folded();
        let look = self.request.look;
        let sheets: Vec<Option<Arc<Sheet>>> = match look {
            Look::Rendered => {
                let paints = self.paints.of_parts(block);
                paints.into_iter().map(|paint| paint.and_then(|paint| paint.sheet.clone())).collect()
            }
            _ => Vec::new(),
        };
        let wrap = !self.request.cut;
        let reading = Reading { folded: &folded, cells, look, wrap, compact, sheets: &sheets };
        Some(f(BlockRows::new(block, reading)))
    }

    /// The rows of a pane in the last frame, at least one.
    pub(super) fn height(&self, pane: Pane) -> usize {
        usize::from(self.metrics.panes[pane.index()].1).max(1)
    }
}
