//! What a change of state asks of the world, as data.

use std::path::Path;
use std::sync::Arc;

use super::copy::Copy;
use super::diff::With;
use super::editor::Purpose;
use super::state::View;
use crate::core::diagnostic::Position;
use crate::core::fact::{FilePath, Name, Value};
use crate::core::fix::Fix;
use crate::core::run::Input;
use crate::core::text::Source;
use crate::core::wire::CallNo;
use crate::io::edit::bench::BenchEdit;
use crate::io::edit::{Hunk, Original};

/// What `update` asks of the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Pass this to the engine.
    Engine(EngineRequest),
    /// Leave the program.
    Quit,
    /// Leave the terminal and stop, as Ctrl-Z does.
    Suspend,
    /// Turn mouse capture on or off.
    Mouse(bool),
    /// Draw with this theme.
    Theme(Arc<str>),
    /// Look at the settings again.
    Settings,
    /// Write every cell again: somebody else wrote on the screen.
    Redraw,
    /// Put a text on the clipboard, and say how.
    Copy(Copy),
    /// Save the screen as a picture, and say where.
    Picture,
    /// Hand a file to the user's own editor, at a line and a column (from 1), and look at it again afterwards.
    EditOutside(Arc<Path>, u32, u32),
}

/// What the text that is wanted is behind.
#[derive(Clone, Debug, PartialEq)]
pub enum TextPlace {
    /// A layer: its template, else the file that it shows, else the bench where it is written.
    Layer(Name),
    /// A byte of a text that prompt text was made from, by this layer.
    Source(Arc<Source>, usize, Option<Name>),
    /// A place in the bench file.
    Bench(Position),
    /// A file.
    File(FilePath),
    /// A place in a file as the user would name it: one of those that the session has read, or the bench.
    Named(Name, Position),
}

/// An edit of a text that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct TextEdit {
    /// Counts the changes, so that an answer finds its question.
    pub serial: u32,
    /// The file that the hunks are against.
    pub base: Arc<Original>,
    /// What is changed.
    pub hunks: Arc<[Hunk]>,
}

/// What the user says by hand, for the user or for the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoken {
    /// What.
    pub input: Input,
    /// True where it is said in the place of what the user said before the call that is looked at.
    pub instead: bool,
}

/// What the engine can be asked for. It answers by publishing a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineRequest {
    /// Send the next call: one beat of the run. At its end it does nothing.
    Send,
    /// Back to the call before.
    Back,
    /// Show this call: back among those that were sent, forward by sending what the script holds.
    Jump(CallNo),
    /// Send one call after the other, until [`EngineRequest::Stop`] or the end of the run.
    Play,
    /// Stop playing.
    Stop,
    /// Show what a CWD would do, as it is typed; the newest wins. The answer has [`super::snapshot::Snapshot::draft`].
    PreviewCwd(Arc<str>),
    /// Publish the data of this view, too; of none for [`View::Main`].
    View(View),
    /// Publish cache zones of this call of the run, sent or ahead, until the view is left.
    Zones(CallNo),
    /// Show what a change would do.
    PreviewFix(Fix),
    /// Show what something would do that is composed by hand; the newest wins. The answer is
    /// [`super::snapshot::ByHand::drafted`] with this number.
    PreviewSpoken(u32, Spoken),
    /// Say it. Where an earlier call is looked at, a branch begins there.
    Speak(Spoken),
    /// Write what happened so far into the bench as a run of this name, over one that has it where that is said. The
    /// answer is [`super::snapshot::Snapshot::edited`] with this number.
    SaveRun(u32, Name, bool),
    /// Stop showing what a CWD, a change or something that is composed would do.
    CancelPreview,
    /// Change the CWD, as typed: absolute as prompts see it, or relative to the CWD.
    SetCwd(Arc<str>),
    /// Apply these variants of the bench, in order, instead of those that are applied; empty for the bench as written.
    Variants(Vec<Name>),
    /// Choose a model, as `provider:model`.
    Model(Name),
    /// Compare the shown call with another one, or stop that. The answer is [`super::snapshot::Snapshot::diff`].
    Compare(Option<With>),
    /// Go on with the next branch: an edit at an earlier call leaves the calls behind it on a branch of their own.
    NextBranch,
    /// Choose a run of the bench.
    Run(Name),
    /// Look at the files again and say nothing of it: the terminal gained the focus, so something was done elsewhere.
    Look,
    /// Make the change that was tried under this name.
    Happen(Arc<str>),
    /// Show what a way of building the run would change in the bench file.
    PreviewWay(Vec<Name>),
    /// Write a way of building the run into the bench file.
    ApplyWay(Vec<Name>),
    /// Change the bench in its file; what was sent stays.
    EditBench(BenchEdit),
    /// Make a change that was proposed: by a lint, or against what is paid again.
    Mend(Fix),
    /// The same for a form. The answer is [`super::snapshot::Snapshot::edited`] with this number.
    EditField(u32, BenchEdit),
    /// Take the latest change back, of the bench file or of what was said by hand.
    Undo,
    /// Make the change again that was taken back last.
    Redo,
    /// Take the latest change of the bench file back.
    UndoBench,
    /// Make the change of the bench file again that was taken back last.
    RedoBench,
    /// Set a fact in this run alone; the bench file stays as it is.
    SetFact(Name, Value),
    /// Open the text file behind something. The answer is [`super::snapshot::Snapshot::opened`] with this number, or
    /// [`super::snapshot::Snapshot::asked`] alone, where it could not be opened.
    OpenText(u32, TextPlace, Purpose),
    /// Show what a text that is typed and not saved would do; the newest wins.
    DraftText(TextEdit),
    /// Save a text that was opened.
    SaveText(TextEdit),
    /// What was typed into the text that is open, and what was kept of it from before, is given up.
    ForgetText,
    /// The text is closed; what is shown is what the disk says.
    CloseText,
    /// The user allows the programs of the bench to run.
    AllowPrograms,
    /// Show what [`EngineRequest::Overlay`] would write.
    PlanOverlay,
    /// Put the overlay of the request that waits on disk, or take it out again.
    Overlay,
    /// Read everything again, whatever the watcher says, and say so. Programs run once more.
    LookAgain,
}
