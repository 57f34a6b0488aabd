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

/// Follows a profile until the program is asked to end. `tell` makes the overlay again; false ends the watching.
///
/// # Errors
///
/// When neither files nor signals can be followed.
pub fn follow(
    profile: &mut Profile,
    mode: Mode,
    tell: &mut dyn FnMut(News<'_>) -> bool,
) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, mut notices) = mpsc::unbounded_channel();
    let watcher = Watcher::start(profile.workspace(), mode, move |notice| {
        // Whoever listened may be gone already.
        let _ = sender.send(notice);
    })?;
    watcher.set(profile.inputs());
    runtime.block_on(async {
        let asked = stop::asked()?;
        tokio::pin!(asked);
        let mut hinted: BTreeSet<PathBuf> = BTreeSet::new();
        // When it is due: after a quiet period, and after the longest time that is waited for one.
        let mut due: Option<(Instant, Instant)> = None;
        loop {
            let at = due.map_or_else(Instant::now, |(quiet, longest)| quiet.min(longest));
            tokio::select! {
                () = &mut asked => return Ok(Ended::Asked),
                notice = notices.recv() => match notice {
                    Some(Notice::Look(look)) => {
                        hinted.extend(look.paths.iter().map(|path| path.to_path_buf()));
                        let quiet = Instant::now() + QUIET;
                        let longest = due.map_or(Instant::now() + QUIET * MOST, |(_, longest)| longest);
                        due = Some((quiet, longest));
                    }
                    Some(Notice::Status(status)) => {
                        if !tell(News::Status(status)) {
                            return Ok(Ended::Enough);
                        }
                    }
                    None => return Ok(Ended::Enough),
                },
                () = sleep_until(at), if due.is_some() => {
                    due = None;
                    if profile.changed(&std::mem::take(&mut hinted)) && !tell(News::Changed(profile)) {
                        return Ok(Ended::Enough);
                    }
                    watcher.set(profile.inputs());
                }
            }
        }
    })
}
