//! The one table of actions. The footer, the help, the palette and the `keys` command are all made from it.

mod useful;

pub use useful::{hint, own_keys_first, rank, useful};

use super::key::Key;
use super::state::{Mode, Overlay, OverlayKind, Pane, State, View};

/// Everything a key, a click or the palette can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Send the next call.
    Send,
    /// Back to the call before.
    Back,
    /// Type what the user says next.
    Say,
    /// Play the model: an answer, or calls of tools.
    Reply,
    /// Save what happened as a run of the bench.
    SaveRun,
    /// Show the call before.
    PreviousCall,
    /// Show the call after.
    NextCall,
    /// Play the run, or stop.
    Play,
    /// Type a CWD.
    Cwd,
    /// List the models.
    Models,
    /// List the variants.
    Variants,
    /// List the runs.
    Runs,
    /// The next branch.
    Branch,
    /// The menu of views.
    Views,
    /// Run order against byte order.
    Orders,
    /// Blocks and their budgets.
    Blocks,
    /// Offer what can be copied.
    Copy,
    /// Save a picture of the screen.
    Picture,
    /// To the next break.
    NextBreak,
    /// What was sent, persisted and replayed.
    Ledger,
    /// What injectors watch, told and have still to tell.
    Injectors,
    /// What happened.
    Log,
    /// The view of the recording.
    Recording,
    /// What the lints found.
    Lints,
    /// What a call reads, writes and pays again, for several models.
    Zones,
    /// In cache zones, the call before.
    ZonesBefore,
    /// In cache zones, the call behind.
    ZonesNext,
    /// Put the overlay on disk, or take it out again.
    SwitchOverlay,
    /// In cache zones, the next model.
    NextLane,
    /// Every way of building the run, side by side.
    Compare,
    /// What changes would do, before they are made.
    WhatIf,
    /// The steps of a search.
    Steps,
    /// The first turn alone, or all turns.
    FirstTurn,
    /// The next model of the comparison.
    NextModel,
    /// The model before.
    PreviousModel,
    /// Show what the selected way changes in the bench file, and write it.
    ApplyWay,
    /// Copy the comparison.
    CopyCompared,
    /// Give the focused pane the whole screen, or take it back.
    Zoom,
    /// Raw or rendered text.
    Raw,
    /// Long lines broken or not.
    Wrap,
    /// Fold every part but one, or unfold all.
    FoldOthers,
    /// To the left.
    ScrollLeft,
    /// To the right.
    ScrollRight,
    /// Find in the focused pane.
    Search,
    /// The next match.
    NextMatch,
    /// The match before.
    PreviousMatch,
    /// The keys.
    Help,
    /// Find an action.
    Palette,
    /// Read everything again.
    LookAgain,
    /// Ask about the programs of the bench.
    Programs,
    /// Mouse capture on or off.
    Mouse,
    /// List the themes.
    Themes,
    /// Focus the next pane.
    FocusNext,
    /// Focus the pane before.
    FocusPrevious,
    /// Focus pane 1.
    FocusLayers,
    /// Focus pane 2.
    FocusCalls,
    /// Focus pane 3.
    FocusRequest,
    /// Focus pane 4.
    FocusWhy,
    /// The shown call beside another one.
    Differences,
    /// What the shown call is compared with.
    Sides,
    /// The same call on the next branch.
    SidesBranch,
    /// The next difference.
    NextDifference,
    /// The difference before.
    PreviousDifference,
    /// To what the selected line of a view is about.
    OpenLine,
    /// The column before.
    ColumnBefore,
    /// The next column.
    ColumnNext,
    /// To the bytes of the selected layer.
    OpenLayer,
    /// Leave the selected layer out, or take it in again.
    ToggleLayer,
    /// The selected layer in front of the one above it.
    MoveUp,
    /// The selected layer behind the one below it.
    MoveDown,
    /// Take the latest change of the bench file back.
    UndoBench,
    /// Make the change again that was taken back last.
    RedoBench,
    /// The properties of the selected layer.
    LayerForm,
    /// The properties of the bench.
    BenchForm,
    /// Edit the text behind the selected layer or byte.
    EditText,
    /// The same in the user's own editor.
    EditOutside,
    /// Save the text.
    Save,
    /// Take the latest change of the text back.
    UndoText,
    /// Do it again.
    RedoText,
    /// Select the whole text.
    SelectAll,
    /// Copy what is selected in the text.
    CopyText,
    /// Cut what is selected in the text.
    CutText,
    /// Put in what was copied or cut.
    PutText,
    /// Find in the text.
    FindText,
    /// The next place where it stands.
    FindNext,
    /// The place before.
    FindPrevious,
    /// The text in the user's own editor.
    HandOff,
    /// Show the selected call, or the selected injection.
    OpenCall,
    /// Fold or unfold the part under the cursor.
    Fold,
    /// Switch to the selected way of telling it.
    SwitchWay,
    /// The block before in the request.
    PreviousBlock,
    /// The next block of the request.
    NextBlock,
    /// Up one row.
    Up,
    /// Down one row.
    Down,
    /// To the first row.
    Top,
    /// To the last row.
    Bottom,
    /// Up one page.
    PageUp,
    /// Down one page.
    PageDown,
    /// Up half a page.
    HalfUp,
    /// Down half a page.
    HalfDown,
    /// Take the selected row of a list.
    Accept,
    /// Change the selected field of a form.
    ChangeField,
    /// Take the selected field of a form out of the file.
    TakeOut,
    /// Write what is typed into the bench file.
    EnterValue,
    /// Set the fact in this run alone.
    EnterInRun,
    /// Change the selected part of a reply.
    ChangePart,
    /// Take the selected part out of a reply.
    TakePartOut,
    /// Send the reply that is composed.
    SendReply,
    /// Take the line that is typed.
    TakeLine,
    /// Go on in several lines.
    MoreLines,
    /// Write the selected model into the bench file.
    WriteModel,
    /// Switch the selected variant on or off.
    Toggle,
    /// Up one row of a list.
    ListUp,
    /// Down one row of a list.
    ListDown,
    /// Enter the CWD.
    EnterCwd,
    /// Complete the folder.
    Complete,
    /// Keep what was found.
    EnterSearch,
    /// Up one level.
    UpLevel,
    /// Quit, or close what is open.
    Quit,
    /// Stop what runs; twice quits.
    Cancel,
    /// Back to the shell, as a job.
    Suspend,
}

/// Where an action can be reached by its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Always, also while typing.
    Everywhere,
    /// On the screen, with nothing open above it.
    Screen,
    /// On the screen, while this pane is focused.
    Pane(Pane),
    /// In every view but the panes.
    Views,
    /// In this view.
    View(View),
    /// In a list that is open above the screen.
    List,
    /// In the list of models.
    Models,
    /// In the list of variants.
    Variants,
    /// While a CWD is typed.
    Cwd,
    /// While a search is typed.
    Search,
    /// In a form.
    Form,
    /// While a value is typed.
    Value,
    /// While a text is edited.
    Editor,
    /// While the calls of a reply are composed.
    Calls,
    /// While something short is typed for what is composed.
    Line,
}

impl Scope {
    /// The heading in the help.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Scope::Everywhere => "Always",
            Scope::Screen => "On the screen",
            Scope::Pane(pane) => pane.title(),
            Scope::Views => "In a view",
            Scope::View(view) => view.title(),
            Scope::List => "In a list",
            Scope::Models => "In the list of models",
            Scope::Variants => "In the list of variants",
            Scope::Cwd => "While typing a CWD",
            Scope::Search => "While searching",
            Scope::Form => "In the properties of a layer or the bench",
            Scope::Value => "While typing a value",
            Scope::Editor => "While editing a text",
            Scope::Calls => "While composing a reply",
            Scope::Line => "While typing a line of it",
        }
    }
}

/// A row of the action table.
#[derive(Clone, Copy, Debug)]
pub struct ActionInfo {
    /// The action.
    pub action: Action,
    /// Its name in key files: lower case, words joined with `_`.
    pub id: &'static str,
    /// Its keys, as [`Key::parse`] reads them; the first is the one that is shown. The user may have others: what is in
    /// force is [`super::keymap::Keymap`].
    pub keys: &'static [&'static str],
    /// A few words.
    pub title: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Where its keys work.
    pub scope: Scope,
    /// Its word in the footer; empty where it has no place there. The table's order is the footer's order.
    pub hint: &'static str,
    /// Which hints stay in a narrow footer: lower stays longer.
    pub rank: u8,
}

impl ActionInfo {
    /// The key that is shown first.
    #[must_use]
    pub fn shown_key(&self) -> String {
        self.keys.first().map_or_else(String::new, |key| show(key))
    }

    /// All keys, with spaces between them.
    #[must_use]
    pub fn shown_keys(&self) -> String {
        self.keys.iter().map(|key| show(key)).collect::<Vec<_>>().join(" ")
    }
}

fn show(key: &str) -> String {
    Key::parse(key).map_or_else(|| key.to_owned(), |key| key.to_string())
}

const fn row(
    action: Action,
    id: &'static str,
    keys: &'static [&'static str],
    scope: Scope,
    hint: (&'static str, u8),
    title: &'static str,
    about: &'static str,
) -> ActionInfo {
    ActionInfo { action, id, keys, title, about, scope, hint: hint.0, rank: hint.1 }
}

/// No place in the footer.
const NO: (&str, u8) = ("", 255);

/// The table. Within one scope no key stands twice.
#[rustfmt::skip]
pub const ACTIONS: &[ActionInfo] = {
    use Action as A;
    use Scope as S;
    &[
        row(A::Send, "send", &["space"], S::Screen, ("send", 1), "Send the next call", "Sends the prepared request and lets the script answer: one beat. Where no script answers, you are asked for the reply."),
        row(A::Back, "back", &["backspace"], S::Screen, ("back", 2), "Back one call", "Goes back to the call before; the same bytes as then."),
        row(A::Say, "say", &["s"], S::Screen, ("say something", 5), "Say something as the user", "Goes on by hand, without a script or behind it: types what the user says. Where the shown call begins a turn, what was said can be said otherwise."),
        row(A::Reply, "reply", &["a"], S::Screen, ("play the model", 9), "Play the model", "Replies to the shown call by hand: an answer, or calls of the tools that it offers, with their arguments and results. At an earlier call, and in the middle of a script, that begins a branch."),
        row(A::SaveRun, "save_run", &["ctrl-s"], S::Screen, NO, "Save the conversation as a run", "Writes what happened so far into the bench as a run, under a name of your own; in a folder without a bench, into a copy of the built-in one."),
        row(A::SwitchWay, "switch_way", &["enter"], S::Pane(Pane::Why), ("switch to this", 3), "Switch, or to its bytes", "Applies the selected row of \"Tell it another way\" to the session, the bench file stays as it is; on other lines goes to the bytes that they are about."),
        row(A::OpenLine, "open_line", &["enter"], S::Views, ("its bytes", 2), "To its bytes", "Shows what the selected line is about: the bytes, the call, or what hangs on it."),
        row(A::ColumnBefore, "column_before", &["left"], S::Views, NO, "The column before", "Selects the column before, where a line has several numbers."),
        row(A::ColumnNext, "column_next", &["right"], S::Views, ("column", 6), "The next column", "Selects the next column, where a line has several numbers."),
        row(A::OpenLayer, "open_layer", &["enter"], S::Pane(Pane::Layers), ("its bytes", 6), "To the layer's bytes", "Shows where the selected layer stands in the request."),
        row(A::ToggleLayer, "toggle_layer", &["-"], S::Pane(Pane::Layers), ("leave out", 7), "Leave out or take in", "Writes `when: \"false\"` into the bench file, or takes it out again; a condition is kept in brackets."),
        row(A::MoveUp, "move_up", &["K", "alt-up"], S::Pane(Pane::Layers), ("move up", 9), "Move the layer up", "Puts the layer in front of the one above it in its place, in the bench file; where the place goes by keys, the key is changed."),
        row(A::MoveDown, "move_down", &["J", "alt-down"], S::Pane(Pane::Layers), ("move down", 9), "Move the layer down", "Puts the layer behind the one below it in its place."),
        row(A::LayerForm, "layer_properties", &["P"], S::Pane(Pane::Layers), ("properties", 8), "Properties of the layer", "Lists the layer's place, condition, refresh and keep rules as the bench file says them, and changes them there."),
        row(A::OpenCall, "open_call", &["enter"], S::Pane(Pane::Calls), ("show", 6), "Show this call", "Shows the selected call, or the bytes of the selected injection."),
        row(A::Fold, "fold", &["enter"], S::Pane(Pane::Request), ("fold", 6), "Fold or unfold", "Folds the part under the cursor into one row, or unfolds it."),
        row(A::PreviousBlock, "previous_block", &["left"], S::Pane(Pane::Request), NO, "The block before", "Shows the block of the request before this one."),
        row(A::NextBlock, "next_block", &["right"], S::Pane(Pane::Request), ("next block", 9), "The next block", "Shows the next block of the request: tools, system, messages."),
        row(A::EditText, "edit_text", &["e"], S::Screen, ("edit", 6), "Edit the text", "Opens the text behind the selected layer or byte: the template, the file that it shows, or the bench."),
        row(A::EditOutside, "edit_outside", &["E"], S::Screen, NO, "Edit in your own editor", "Hands the text behind the selected layer or byte to $VISUAL, $EDITOR or vi, at its line."),
        row(A::BenchForm, "bench_properties", &["P"], S::Screen, NO, "Properties of the bench", "Lists the model, the agent, the facts, the cache marks and the layers as the bench file says them, and changes them there."),
        row(A::UndoBench, "undo_bench", &["u"], S::Screen, ("undo", 10), "Undo", "Takes back what came last: a change of the bench file, unless somebody else has changed it since, or what was done or said by hand in this run. Texts are undone where they are edited."),
        row(A::RedoBench, "redo_bench", &["ctrl-r"], S::Screen, NO, "Redo", "Makes the change again that was taken back last."),
        row(A::Cwd, "cwd", &["c"], S::Screen, ("cwd", 3), "Change the CWD", "Types a CWD for the agent; the effect is shown before Enter."),
        row(A::Models, "model", &["m"], S::Screen, ("model", 6), "Choose the model", "Lists the models whose cache and prices are known."),
        row(A::Variants, "variants", &["V"], S::Screen, ("variants", 7), "Variants on and off", "Switches variants of the bench on and off, also several at once."),
        row(A::Runs, "runs", &["R"], S::Screen, NO, "Choose the run", "Lists the scripted runs of the bench."),
        row(A::Branch, "branch", &["B"], S::Screen, ("branch", 9), "The next branch", "Goes to the calls that an edit at an earlier call left behind, and back."),
        row(A::PreviousCall, "previous_call", &["["], S::Screen, NO, "Show the call before", "Shows the call before the shown one."),
        row(A::NextCall, "next_call", &["]"], S::Screen, NO, "Show the call after", "Shows the call after the shown one; forecast calls are sent until there."),
        row(A::Play, "play", &["p"], S::Screen, ("play", 8), "Play or stop", "Sends one call after the other until the end of the run."),
        row(A::Orders, "orders", &["o"], S::Screen, ("orders", 9), "Run order against byte order", "Shows in which order the layers run and in which order their bytes stand."),
        row(A::Blocks, "overlay", &["O"], S::Screen, NO, "The overlay: blocks and their budgets", "Lists the sections of every block: required or optional, their limits and sizes, and which were kept, cut or dropped, and why."),
        row(A::Differences, "differences", &["d"], S::Screen, NO, "What differs from another call", "Shows the shown call beside the one before it, any other one, or the same call on another branch, by words."),
        row(A::Sides, "sides", &["s"], S::View(View::Diff), ("other call", 3), "Compare with another call", "Lists the calls of this branch and of the others that the shown call can be compared with."),
        row(A::SidesBranch, "sides_branch", &["B"], S::View(View::Diff), ("other branch", 4), "The same call on the next branch", "Puts two branches side by side; again goes to the next branch, at last back to the call before."),
        row(A::NextDifference, "next_difference", &["n"], S::View(View::Diff), ("next", 2), "The next difference", "Goes to the next difference."),
        row(A::PreviousDifference, "previous_difference", &["N"], S::View(View::Diff), NO, "The difference before", "Goes to the difference before."),
        row(A::Zones, "zones", &["5"], S::Screen, ("cache zones", 11), "Cache zones: read, written, paid again", "Shows what a call reads, writes and pays again on several models, who broke the prefix, what hides behind the break, and what would avoid it."),
        row(A::ZonesBefore, "zones_before", &["left"], S::View(View::Zones), NO, "The call before", "Shows the zones of the call before."),
        row(A::ZonesNext, "zones_next", &["right"], S::View(View::Zones), ("call", 3), "The call behind", "Shows the zones of the call behind; nothing is sent, calls ahead are forecast."),
        row(A::NextLane, "zones_model", &["tab"], S::View(View::Zones), ("next model", 4), "The next model", "Selects the next model: its ruler, its break, its fixes."),
        row(A::SwitchOverlay, "switch_overlay", &["a"], S::View(View::Blocks), ("apply", 5), "Apply the overlay, or strip it", "Shows what it writes and where, then writes the file of the session and keeps it in step with its sources; again, or at the end, it is taken out. The source is never written."),
        row(A::Raw, "raw", &["r"], S::Screen, NO, "Raw or rendered", "Turns from the text to raw, which writes out spaces and characters that nobody sees, and to rendered, which lays it out for reading."),
        row(A::FoldOthers, "fold_others", &["f"], S::Screen, NO, "Fold all others", "Folds every part of the block but the selected layer's, or the one under the cursor; again unfolds all."),
        row(A::Wrap, "wrap", &["W"], S::Screen, NO, "Break long lines or not", "Breaks lines of the request that are longer than a row, or lets them go on to the right."),
        row(A::ScrollLeft, "scroll_left", &["<"], S::Pane(Pane::Request), NO, "Scroll to the left", "While long lines are not broken: half a screen to the left."),
        row(A::ScrollRight, "scroll_right", &[">"], S::Pane(Pane::Request), NO, "Scroll to the right", "While long lines are not broken: half a screen to the right."),
        row(A::NextBreak, "next_break", &["b"], S::Screen, ("next break", 10), "The next break", "Goes to the next call that pays something again, at the byte where it breaks; forecast calls are sent until there."),
        row(A::Ledger, "ledger", &["l"], S::Screen, ("ledger", 9), "Ledger: sent, persisted, replayed", "Shows of each message what was sent, persisted and replayed, and what that costs."),
        row(A::Injectors, "injectors", &["i"], S::Screen, ("injectors", 10), "Injectors: watched, told, pending", "Shows what each injector watches, told and has to tell, and what was swallowed."),
        row(A::Log, "log", &["L"], S::Screen, ("log", 10), "Log: what happened, in order", "Lists inputs, the facts that they changed and the calls that they led to."),
        row(A::Recording, "recording", &["A"], S::Screen, ("recording", 11), "Recording: reported against expected", "Of a log of real requests: what the provider reported of each call, what was to be expected, what went wrong and what it cost."),
        row(A::Lints, "lints", &["C"], S::Screen, ("lints", 11), "Lints: likely mistakes, their fixes, their cost", "Lists what `plywood check` finds in the run and what it costs. Enter opens the line; on a fix it shows the change of the bench, and makes it."),
        row(A::Compare, "compare", &["x"], S::Screen, ("compare", 4), "Compare every way of building the run", "Plays variants and policies on the same run, side by side: what each loses and costs on each model, and what the model believes meanwhile."),
        row(A::WhatIf, "what_if", &["w"], S::Screen, ("what if", 4), "What a change would do", "Tries changes on the call that waits: another CWD, an edit, another model, tools, the order of layers, time; says which layers change, where the prefix breaks and what it costs. Enter makes the change."),
        row(A::Steps, "search_check", &["K"], S::Screen, NO, "Search check: four steps of a search", "Says of the turn whether the dynamic context is in the messages, the search was called, a second model started, and what it decided."),
        row(A::FirstTurn, "first_turn", &["t"], S::View(View::Compare), ("turn 1 only", 3), "Turn 1 only, or all turns", "Counts the first turn alone, or all of them: what costs less in one turn may cost more in two."),
        row(A::NextModel, "next_model", &["tab"], S::View(View::Compare), ("next model", 4), "The next model", "Selects the next model's cells: Enter shows their calls, and its money stands beside what it loses where there is room for one."),
        row(A::PreviousModel, "previous_model", &["shift-tab"], S::View(View::Compare), NO, "The model before", "Selects the cells of the model before."),
        row(A::ApplyWay, "apply_way", &["a"], S::View(View::Compare), ("apply", 4), "Write this way into the bench", "Shows the lines of the bench file that the selected way changes, and writes them if you say so; comments stay, and undo takes it back."),
        row(A::CopyCompared, "copy_compared", &["y"], S::View(View::Compare), ("copy table", 6), "Copy the table", "Copies the comparison as it is shown, as text."),
        row(A::Views, "views", &["v"], S::Screen, ("views", 6), "The menu of views", "Lists the panes and views."),
        row(A::Zoom, "zoom", &["z"], S::Screen, ("zoom", 3), "Zoom the pane", "Gives the focused pane the whole screen, with more columns; again takes it back."),
        row(A::Copy, "copy", &["y"], S::Screen, ("copy", 8), "Copy", "Offers what can be copied: the blame line, a layer, the prompt, the request as JSON, a table; `y` again takes what the focused pane is about."),
        row(A::Picture, "picture", &["S"], S::Screen, NO, "Save a picture", "Saves the screen as an SVG picture in the current folder."),
        row(A::Search, "search", &["/"], S::Screen, ("search", 8), "Search the pane", "Finds text in the focused pane; lower case finds both cases."),
        row(A::NextMatch, "next_match", &["n"], S::Screen, NO, "The next match", "Goes to the next match of the search."),
        row(A::PreviousMatch, "previous_match", &["N"], S::Screen, NO, "The match before", "Goes to the match before."),
        row(A::FocusNext, "focus_next", &["tab"], S::Screen, ("pane", 7), "The next pane", "Focuses the next pane."),
        row(A::FocusPrevious, "focus_previous", &["shift-tab"], S::Screen, NO, "The pane before", "Focuses the pane before."),
        row(A::FocusLayers, "focus_layers", &["1"], S::Screen, NO, "Layers", "Focuses the layers: sizes, shares, what changed."),
        row(A::FocusCalls, "focus_calls", &["2"], S::Screen, NO, "Calls", "Focuses the calls of the run: sent, read, lost."),
        row(A::FocusRequest, "focus_request", &["3"], S::Screen, NO, "Request", "Focuses the request: every byte and who wrote it."),
        row(A::FocusWhy, "focus_why", &["4"], S::Screen, NO, "Why", "Focuses why: what changed, who tells it, how else it could be told."),
        row(A::Up, "up", &["k", "up"], S::Screen, NO, "Up", "Up one row."),
        row(A::Down, "down", &["j", "down"], S::Screen, NO, "Down", "Down one row."),
        row(A::Top, "top", &["g", "home"], S::Screen, NO, "To the start", "To the first row."),
        row(A::Bottom, "bottom", &["G", "end"], S::Screen, NO, "To the end", "To the last row."),
        row(A::PageUp, "page_up", &["pgup"], S::Screen, NO, "Page up", "Up one page."),
        row(A::PageDown, "page_down", &["pgdn"], S::Screen, NO, "Page down", "Down one page."),
        row(A::HalfUp, "half_up", &["ctrl-u"], S::Screen, NO, "Half a page up", "Up half a page."),
        row(A::HalfDown, "half_down", &["ctrl-d"], S::Screen, NO, "Half a page down", "Down half a page."),
        row(A::Programs, "programs", &["T"], S::Screen, NO, "Allow its programs", "Shows the programs whose output this bench reads, and asks whether they may run."),
        row(A::Mouse, "mouse", &["M"], S::Screen, NO, "Mouse on or off", "Off gives the terminal its own selection back; with it on, Shift (Option on a Mac) selects."),
        row(A::Themes, "theme", &["t"], S::Screen, NO, "Choose the theme", "Lists the themes; the one under the cursor is drawn, Esc takes the old one back."),
        row(A::Save, "save", &["ctrl-s"], S::Editor, ("save", 1), "Save", "Writes the lines that were changed into the file, and no others."),
        row(A::UndoText, "undo_text", &["ctrl-u"], S::Editor, ("undo", 4), "Undo", "Takes the latest change of the text back."),
        row(A::RedoText, "redo_text", &["ctrl-r"], S::Editor, ("redo", 6), "Redo", "Does again what was taken back."),
        row(A::SelectAll, "select_all", &["ctrl-a", "alt-a"], S::Editor, NO, "Select all", "Selects the whole text; Shift with a key that moves selects as far as it goes."),
        row(A::CopyText, "copy_text", &["alt-c"], S::Editor, NO, "Copy", "Copies what is selected, for this editor and for the clipboard."),
        row(A::CutText, "cut_text", &["ctrl-x"], S::Editor, NO, "Cut", "Cuts what is selected, for this editor and for the clipboard."),
        row(A::PutText, "put_text", &["ctrl-v", "ctrl-y"], S::Editor, NO, "Put in", "Puts in what was copied or cut here last, also by Ctrl-K; what other programs copied is pasted by the terminal's own key."),
        row(A::FindText, "find_text", &["ctrl-f"], S::Editor, ("find", 3), "Find in the text", "Finds text; lower case finds both cases."),
        row(A::FindNext, "find_next", &["ctrl-n"], S::Editor, NO, "The next place", "Goes to the next place where it stands."),
        row(A::FindPrevious, "find_previous", &["ctrl-p"], S::Editor, NO, "The place before", "Goes to the place before."),
        row(A::HandOff, "hand_off", &["ctrl-e"], S::Editor, ("your editor", 5), "To your own editor", "Saves the text and opens it in $VISUAL, $EDITOR or vi, at this line."),
        row(A::Toggle, "toggle", &["space", "enter"], S::Variants, ("on or off", 1), "On or off", "Switches the selected variant on or off, behind those that are on."),
        row(A::Accept, "accept", &["enter"], S::List, ("take", 1), "Take it", "Takes the selected row."),
        row(A::WriteModel, "write_model", &["ctrl-s"], S::Models, ("into the bench", 2), "Model into the bench", "Writes the selected model into the bench file."),
        row(A::ChangeField, "change_field", &["enter"], S::Form, ("change", 1), "Change it", "Offers the values that the selected field can have, or a line to type one."),
        row(A::TakeOut, "take_out", &["delete"], S::Form, ("out of the file", 2), "Take it out", "Takes the selected field out of the bench file, so that its default holds."),
        row(A::EnterValue, "enter_value", &["enter"], S::Value, ("into the bench", 1), "Into the bench", "Writes what is typed into the bench file; comments and everything else stay."),
        row(A::EnterInRun, "enter_in_run", &["ctrl-t"], S::Value, ("in this run alone", 2), "In this run alone", "Sets the fact in this run; the bench file stays as it is."),
        row(A::ChangePart, "change_part", &["enter"], S::Calls, ("change", 1), "Change this part", "Types or chooses the selected part of the reply, or sends it."),
        row(A::SendReply, "send_reply", &["ctrl-s"], S::Calls, ("send", 1), "Send the reply", "Sends the request that waits, with this reply."),
        row(A::TakePartOut, "take_part_out", &["delete"], S::Calls, ("take out", 2), "Take this part out", "Takes the selected call, argument or result out of the reply."),
        row(A::TakeLine, "take_line", &["enter"], S::Line, ("take it", 1), "Take it", "Takes what is typed."),
        row(A::MoreLines, "more_lines", &["alt-enter"], S::Line, ("in several lines", 2), "In several lines", "Goes on with what is typed in a box with several lines."),
        row(A::ListUp, "list_up", &["up", "ctrl-p"], S::List, NO, "Up", "Up one row of the list."),
        row(A::ListDown, "list_down", &["down", "ctrl-n"], S::List, NO, "Down", "Down one row of the list."),
        row(A::EnterCwd, "enter_cwd", &["enter"], S::Cwd, ("change it", 1), "Change it", "Changes the CWD to what is typed."),
        row(A::Complete, "complete", &["tab"], S::Cwd, ("complete", 2), "Complete", "Completes the folder; again goes through the folders that fit."),
        row(A::EnterSearch, "enter_search", &["enter"], S::Search, ("keep", 1), "Keep", "Keeps the matches; `n` and `N` go through them."),
        row(A::Help, "help", &["?"], S::Screen, ("keys", 0), "The keys", "Lists every key, those of the focused pane first."),
        row(A::Palette, "palette", &[":", "ctrl-p"], S::Screen, ("find", 5), "Find an action", "Finds an action by its name."),
        row(A::UpLevel, "up_level", &["esc"], S::Everywhere, NO, "Up one level", "Closes what is open, then clears the search, then leaves the zoom. Never quits."),
        row(A::Quit, "quit", &["q"], S::Screen, NO, "Quit", "Closes what is open; with nothing open it quits."),
        row(A::Cancel, "cancel", &["ctrl-c"], S::Everywhere, NO, "Cancel", "Stops playing or closes what is open; twice quits."),
        row(A::LookAgain, "look_again", &["ctrl-l"], S::Everywhere, NO, "Read everything again", "Reads every file again, whatever the watcher said, runs the bench's programs again, and draws the screen anew."),
        row(A::Suspend, "suspend", &["ctrl-z"], S::Everywhere, NO, "Suspend", "Back to the shell; `fg` returns."),
    ]
};

/// What the menu of views lists: panes first.
pub const VIEWS: &[Action] = &[
    Action::FocusLayers,
    Action::FocusCalls,
    Action::FocusRequest,
    Action::FocusWhy,
    Action::Orders,
    Action::Ledger,
    Action::Injectors,
    Action::Log,
    Action::Blocks,
    Action::Differences,
    Action::Lints,
    Action::Zones,
    Action::Compare,
    Action::WhatIf,
    Action::Steps,
    Action::Recording,
];

/// The row of an action.
#[must_use]
pub fn info(action: Action) -> &'static ActionInfo {
    // Every action has a row: a test goes through them.
    ACTIONS.iter().find(|info| info.action == action).unwrap_or(&ACTIONS[0])
}

/// How narrow a scope is, when it is open: a narrower one decides what a key does.
fn narrowness(scope: Scope, state: &State) -> Option<u8> {
    let mode = state.mode();
    let (open, narrow) = match scope {
        Scope::Everywhere => (true, 0),
        Scope::Screen => (mode == Mode::Screen, 1),
        Scope::List => (mode.is_list(), 1),
        Scope::Pane(pane) => (mode == Mode::Screen && state.pane() == Some(pane), 2),
        Scope::Views => (mode == Mode::Screen && state.pane().is_none(), 2),
        Scope::View(view) => (mode == Mode::Screen && state.pane().is_none() && state.view == view, 3),
        Scope::Models => {
            let chosen = |open: &Overlay| open.kind == OverlayKind::Models && open.subject.is_none();
            (state.overlays.last().is_some_and(chosen), 2)
        }
        Scope::Variants => (mode == Mode::Variants, 2),
        Scope::Cwd => (mode == Mode::Cwd, 2),
        Scope::Search => (mode == Mode::Search, 2),
        Scope::Form => (mode == Mode::Form, 2),
        Scope::Value => (mode == Mode::Value, 2),
        Scope::Editor => (mode == Mode::Editor, 2),
        Scope::Calls => (mode == Mode::Calls, 2),
        Scope::Line => (mode == Mode::Line, 2),
    };
    open.then_some(narrow)
}

/// True when the keys of the scope work now.
#[must_use]
pub fn in_scope(state: &State, scope: Scope) -> bool {
    narrowness(scope, state).is_some()
}

/// What a key does now; none for a key without a meaning, which is text where text is typed.
#[must_use]
pub fn lookup(state: &State, key: Key) -> Option<Action> {
    let mode = state.mode();
    let found = ACTIONS
        .iter()
        .filter(|info| state.keymap.is(info.action, key))
        .filter_map(|info| Some((narrowness(info.scope, state)?, info.action)))
        .max_by_key(|(narrow, _)| *narrow)
        .map(|(_, action)| action);
    // A list that is not typed into takes the keys of the screen's lists as well.
    found.or_else(|| {
        let is = |action| state.keymap.is(action, key);
        let opened = |kind| opened(state, kind);
        match mode {
            // What a form has changed is taken back in it.
            Mode::Form if is(Action::UndoBench) => Some(Action::UndoBench),
            Mode::Form if is(Action::RedoBench) => Some(Action::RedoBench),
            // The key that opened the menu takes what it offers first.
            Mode::Menu if opened(OverlayKind::Copy) && is(Action::Copy) => Some(Action::Accept),
            Mode::Menu | Mode::Variants | Mode::Form | Mode::Calls if is(Action::Up) => Some(Action::ListUp),
            Mode::Menu | Mode::Variants | Mode::Form | Mode::Calls if is(Action::Down) => {
                Some(Action::ListDown)
            }
            Mode::Menu | Mode::Variants | Mode::Form | Mode::Calls if is(Action::Quit) => {
                Some(Action::UpLevel)
            }
            _ => None,
        }
    })
}

/// True when a list of this kind is on top.
fn opened(state: &State, kind: OverlayKind) -> bool {
    state.overlays.last().is_some_and(|open| open.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_parses_and_none_stands_twice_in_a_scope() {
        for (index, info) in ACTIONS.iter().enumerate() {
            for key in info.keys {
                assert!(Key::parse(key).is_some(), "{}: {key}", info.id);
                for other in &ACTIONS[..index] {
                    let both = other.scope == info.scope
                        || other.scope == Scope::Everywhere
                        || info.scope == Scope::Everywhere;
                    assert!(!both || !other.keys.contains(key), "{key}: {} and {}", other.id, info.id);
                }
            }
        }
    }

    #[test]
    fn rows_are_complete_and_named_once() {
        for (index, info) in ACTIONS.iter().enumerate() {
            assert!(!info.keys.is_empty() && !info.title.is_empty(), "{}", info.id);
            assert!(info.about.ends_with('.'), "{}", info.id);
            assert!(info.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", info.id);
            assert!(ACTIONS[..index].iter().all(|other| other.id != info.id && other.action != info.action));
        }
        assert_eq!(info(Action::Suspend).id, "suspend");
    }
}
