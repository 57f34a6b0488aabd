//! What a change of state asks of the world, as data.

use std::sync::Arc;

use crate::core::fact::Name;
use crate::core::wire::CallNo;
use crate::io::edit::bench::BenchEdit;

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
    /// Write every cell again: somebody else wrote on the screen.
    Redraw,
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
    /// Stop showing what a CWD would do.
    CancelPreview,
    /// Change the CWD, as typed: absolute as prompts see it, or relative to the CWD.
    SetCwd(Arc<str>),
    /// Apply these variants of the bench, in order, instead of those that are applied; empty for the bench as written.
    Variants(Vec<Name>),
    /// Choose a model, as `provider:model`.
    Model(Name),
    /// Go on with the next branch: an edit at an earlier call leaves the calls behind it on a branch of their own.
    NextBranch,
    /// Choose a run of the bench.
    Run(Name),
    /// Look at the files again and say nothing of it: the terminal gained the focus, so something was done elsewhere.
    Look,
    /// Change the bench in its file; what was sent stays.
    EditBench(BenchEdit),
    /// Take the latest change of the bench file back.
    UndoBench,
    /// Read everything again, whatever the watcher says, and say so.
    LookAgain,
}
