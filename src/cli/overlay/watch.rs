//! `plywood overlay watch FILE`: applied, kept in step with what it reads, and taken out at the end.

use super::args::WatchArgs;
use super::{Job, Stop, report};
use crate::cli::output::{Failure, Out, Outcome, Result};
use crate::io::overlay::owner;
use crate::io::overlay::profile::Profile;
use crate::io::overlay::session::Record;
use crate::io::overlay::watch::{News, follow};
use crate::io::overlay::world::Machine;
use crate::io::overlay::{Change, Overlay};
use crate::io::watch::{Mode, Status};

pub(super) fn run(args: &WatchArgs, out: &mut Out<'_>) -> Result {
    if args.site.dry_run {
        return Err(Failure::message("--dry-run: there is nothing to watch; see `overlay apply --dry-run`"));
    }
    let (job, mut profile) = Job::open(&args.site, Some(owner::me()))?;
    let id = match &args.site.session {
        Some(_) => job.session()?.unwrap_or_else(|| job.new_session()),
        None => job.new_session(),
    };
    let (change, record, composed) = match job.write(&mut profile, &id)? {
        Ok(done) => done,
        Err(trouble) => return job.left_alone("apply", &trouble, out),
    };
    report::change(&job, "apply", &change, Some(&record), Some(&composed), out)?;
    out.flush()?;
    let mut failure: Option<Failure> = None;
    let ended = follow(&mut profile, Mode::Auto, &mut |news| {
        let told = match news {
            News::Status(Status::Watching { .. }) => Ok(()),
            News::Status(status) => {
                crate::cli::output::warn(format_args!("note: {status}"));
                Ok(())
            }
            News::Changed(profile) => again(&job, profile, &record, out),
        };
        match told {
            Ok(()) => true,
            Err(why) => {
                failure = Some(why);
                false
            }
        }
    });
    if let Err(error) = ended {
        failure = Some(Failure::message(format!("the sources cannot be watched: {error}")));
    }
    if !args.keep {
        match end(&job, &id) {
            Ok(Some(change)) => report::change(&job, "strip", &change, None, None, out)?,
            Ok(None) => {}
            Err(Stop::Failed(why)) => return Err(why),
            Err(Stop::Trouble(trouble)) => return job.left_alone("strip", &trouble, out),
        }
    }
    failure.map_or(Ok(Outcome::Done), Err)
}

/// Makes the overlay again. What is wrong with the bench or the files is told, and the overlay stays as it was.
fn again(job: &Job<'_>, profile: &mut Profile, record: &Record, out: &mut Out<'_>) -> Result<()> {
    let composed = match profile.compose(&record.id, &record.began) {
        Ok(composed) => composed,
        Err(problems) => {
            for problem in problems {
                crate::cli::output::warn(format_args!("{problem}"));
            }
            return Ok(());
        }
    };
    composed.keep_caches(&Machine);
    let overlay: Overlay<'_> = job.overlay();
    let done = match &job.site.sessions {
        Some(_) => overlay.apply(record, &composed.texts),
        None => overlay.apply_source(&composed.texts.block).map(|change| (change, record.clone())),
    };
    match done {
        Ok((change, _)) if !change.is_change() => Ok(()),
        Ok((change, record)) => {
            report::change(job, "refresh", &change, Some(&record), Some(&composed), out)?;
            out.flush()?;
            Ok(())
        }
        Err(trouble) => {
            crate::cli::output::warn(format_args!("error: {trouble}"));
            Ok(())
        }
    }
}

/// Takes out what was applied.
fn end(job: &Job<'_>, id: &str) -> std::result::Result<Option<Change>, Stop> {
    let overlay = job.overlay();
    let done = match &job.site.sessions {
        Some(_) => overlay.end(id, Some(&job.owner), &job.now()),
        None => overlay.strip_source(),
    };
    done.map(Some).map_err(Stop::Trouble)
}
