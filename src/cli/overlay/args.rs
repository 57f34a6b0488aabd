//! The command line of `plywood overlay`, as data.

use std::path::PathBuf;

use crate::io::overlay::lock;
use clap::{ArgAction, Args, Subcommand, ValueEnum};

/// What is done with an overlay.
#[derive(Clone, Debug, Subcommand)]
pub enum OverlayAction {
    /// Write the overlay: into a file of the session, or with --target source at the end of FILE
    Apply(SiteArgs),
    /// Take the overlay out: the session's file is deleted, a source is what it was, byte for byte
    Strip(SiteArgs),
    /// Print what is there: source, sessions, lock, what dead processes left; status 1 where something is to be done
    Status(SiteArgs),
    /// Write the overlay again where it is applied; status 1 where it is not
    Refresh(SiteArgs),
    /// Apply, and again whenever something that it reads changes; at the end, strip
    Watch(WatchArgs),
    /// Put the line into FILE that says that it was generated: once, and nothing else is another byte
    Mark(MarkArgs),
    /// End stale sessions and remove what dead processes left
    Clean(SiteArgs),
}

/// Which overlay.
#[derive(Clone, Debug, Default, Args)]
pub struct SiteArgs {
    /// The file with the rules, such as AGENTS.md; the path of a session's own file follows from it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A bench or a sample that says what the overlay is made of; by default a profile that is part of the program
    #[arg(long, value_name = "BENCH")]
    pub bench: Option<PathBuf>,
    /// Apply a variant of the bench; several are applied in the order given
    #[arg(long = "variant", value_name = "VARIANT", action = ArgAction::Append)]
    pub variants: Vec<String>,
    /// Where the overlay goes
    #[arg(long, value_name = "TARGET", default_value = "session")]
    pub target: TargetArg,
    /// The session; by default the one of the same owner, or a new one
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The process that the session belongs to; by default the one that runs this command
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub owner: Option<u32>,
    /// The folder that the agent works in; by default the one of FILE
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// How long to wait for others, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = lock::PATIENCE.as_secs())]
    pub wait: u64,
    /// When the session began, such as 2026-04-01T09:00:00Z, instead of now
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Run the programs whose output the bench reads (`command:`), without asking
    #[arg(long)]
    pub trust: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `overlay mark`.
#[derive(Clone, Debug, Args)]
pub struct MarkArgs {
    /// The file that was generated
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A bench with the line (`not_if`) and the block that it stands behind (`not_if_behind`); by default a profile that is
    /// part of the program
    #[arg(long, value_name = "BENCH")]
    pub bench: Option<PathBuf>,
    /// How long to wait for others, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = lock::PATIENCE.as_secs())]
    pub wait: u64,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl MarkArgs {
    /// The same as arguments of the other actions: the source is what is written.
    pub(super) fn site(&self) -> SiteArgs {
        SiteArgs {
            file: self.file.clone(),
            bench: self.bench.clone(),
            target: TargetArg::Source,
            wait: self.wait,
            dry_run: self.dry_run,
            json: self.json,
            ..SiteArgs::default()
        }
    }
}

/// `overlay watch`.
#[derive(Clone, Debug, Args)]
pub struct WatchArgs {
    /// Which overlay.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Leave the overlay where it is at the end
    #[arg(long)]
    pub keep: bool,
}

/// Where an overlay goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TargetArg {
    /// A file of the session's own
    #[default]
    Session,
    /// FILE itself
    Source,
}
