//! Following the sources of an overlay: it is made again when something that it reads is another, at most once in each
//! quiet period. While nothing happens, nothing runs.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::profile::Profile;
use crate::io::stop;
use crate::io::watch::{Mode, Notice, Status, Watcher};

/// How long nothing has to happen before an overlay is made again.
pub const QUIET: Duration = Duration::from_millis(200);
/// Where something happens all the time, it is made again after so many quiet periods all the same.
const MOST: u32 = 10;
/// How long is waited after what could not be written, the first time; each time twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// The longest of these times.
const LAST_RETRY: Duration = Duration::from_secs(30);

/// Why the watching ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user or the system has asked for it.
    Asked,
    /// Whoever was told wants no more.
    Enough,
}

/// What is told of the watching.
#[derive(Debug)]
pub enum News<'p> {
    /// How it is done now.
    Status(Status),
    /// Something that is read is another.
    Changed(&'p mut Profile),
}

/// What came of making it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// All is as it should be until something changes.
    Done,
    /// It could not be written, but may be in a while: the disk was full, or somebody else was at it.
    Again,
    /// The watching is to end.
    Enough,
}

/// Follows a profile until the program is asked to end. `tell` makes the overlay again. `written` are the files that it
/// writes: it makes them again when somebody removes one.
///
/// # Errors
///
/// When neither files nor signals can be followed.
pub fn follow(
    profile: &mut Profile,
    mode: Mode,
    written: &[PathBuf],
    tell: &mut dyn FnMut(News<'_>) -> Told,
) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, mut notices) = mpsc::unbounded_channel();
    let watcher = Watcher::start(profile.workspace(), mode, move |notice| {
        // Whoever listened may be gone already.
        let _ = sender.send(notice);
    })?;
    let watch = |profile: &Profile| {
        watcher.set(profile.inputs().into_iter().chain(written.iter().cloned()).collect::<Vec<_>>());
    };
    watch(profile);
    runtime.block_on(async {
        let asked = stop::asked()?;
        tokio::pin!(asked);
        let mut hinted: BTreeSet<PathBuf> = BTreeSet::new();
        let mut due: Option<Due> = None;
        // How long is waited before what could not be written is tried again; none where all was.
        let mut retry: Option<Duration> = None;
        loop {
            let at = due.map_or_else(Instant::now, |due| due.quiet.min(due.longest));
            tokio::select! {
                () = &mut asked => return Ok(Ended::Asked),
                notice = notices.recv() => match notice {
                    Some(Notice::Look(look)) => {
                        hinted.extend(look.paths.iter().map(|path| path.to_path_buf()));
                        due = Some(Due::after(due));
                    }
                    Some(Notice::Status(status)) => {
                        if tell(News::Status(status)) == Told::Enough {
                            return Ok(Ended::Enough);
                        }
                    }
                    None => return Ok(Ended::Enough),
                },
                () = sleep_until(at), if due.is_some() => {
                    due = None;
                    let hinted = std::mem::take(&mut hinted);
                    let touched = written.iter().any(|path| hinted.contains(path));
                    if profile.changed(&hinted) || touched || retry.is_some() {
                        match tell(News::Changed(profile)) {
                            Told::Done => retry = None,
                            Told::Again => {
                                let wait = retry.map_or(FIRST_RETRY, |wait| (wait * 2).min(LAST_RETRY));
                                let at = Instant::now() + wait;
                                (retry, due) = (Some(wait), Some(Due { quiet: at, longest: at }));
                            }
                            Told::Enough => return Ok(Ended::Enough),
                        }
                    }
                    watch(profile);
                }
            }
        }
    })
}

/// When the overlay is to be made again.
#[derive(Clone, Copy)]
struct Due {
    /// After a quiet period.
    quiet: Instant,
    /// After the longest time that is waited for one.
    longest: Instant,
}

impl Due {
    /// Something has happened now, while this was due.
    fn after(due: Option<Due>) -> Due {
        let now = Instant::now();
        Due { quiet: now + QUIET, longest: due.map_or(now + QUIET * MOST, |due| due.longest) }
    }
}
