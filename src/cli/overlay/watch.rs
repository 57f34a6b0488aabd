//! `plywood overlay watch FILE`: applied, kept in step with what it reads, and taken out at the end.

use super::args::WatchArgs;
use super::{Job, Stop, report};
use crate::cli::output::{Failure, Out, Outcome, Result};
use crate::io::overlay::owner;
use crate::io::overlay::profile::Profile;
use crate::io::overlay::session::Record;
use crate::io::overlay::watch::{News, Told, follow};
use crate::io::overlay::world::Machine;
use crate::io::overlay::{Change, Overlay, Trouble};
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
    // What was told last of what is wrong: said once, however often it is tried again.
    let mut last = String::new();
    let ended = follow(&mut profile, Mode::Auto, std::slice::from_ref(&change.path), &mut |news| {
        let profile = match news {
            News::Status(Status::Watching { .. }) => return Told::Done,
            News::Status(status) => {
                crate::cli::output::warn(format_args!("note: {status}"));
                return Told::Done;
            }
            News::Changed(profile) => profile,
        };
        let told = again(&job, profile, &record, out);
        let wrong = match &told {
            Ok(Made::Written) => String::new(),
            Ok(Made::NotNow(why) | Made::Not(why)) => why.clone(),
            Err(_) => last.clone(),
        };
        if !wrong.is_empty() && wrong != last {
            crate::cli::output::warn(format_args!("{wrong}"));
        }
        last = wrong;
        match told {
            Ok(Made::NotNow(_)) => Told::Again,
            Ok(_) => Told::Done,
            Err(why) => {
                failure = Some(why);
                Told::Enough
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

/// What came of making the overlay again.
enum Made {
    /// It is as it should be.
    Written,
    /// It stays as it was until something changes, for what is wrong with the bench or a file.
    Not(String),
    /// It could not be written, and is tried again in a while.
    NotNow(String),
}

/// Makes the overlay again.
fn again(job: &Job<'_>, profile: &mut Profile, record: &Record, out: &mut Out<'_>) -> Result<Made> {
    let composed = match profile.compose(&record.id, &record.began) {
        Ok(composed) => composed,
        Err(problems) => {
            return Ok(Made::Not(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")));
        }
    };
    composed.keep_caches(&Machine);
    let overlay: Overlay<'_> = job.overlay();
    match overlay.displaced_by(record) {
        Ok(None) => {}
        // Two that follow one source would put each other's block out for ever.
        Ok(Some(other)) => {
            return Ok(Made::Not(format!(
                "note: the block in {} is that of the session {} of process {} now; it stays until that one ends",
                job.shown(&job.site.source),
                other.id,
                other.owner.pid
            )));
        }
        Err(trouble) => return Ok(Made::NotNow(format!("error: {trouble}"))),
    }
    let done = match &job.site.sessions {
        Some(_) => overlay.apply(record, &composed.texts),
        None => overlay.apply_source(&composed.texts.block).map(|change| (change, record.clone())),
    };
    match done {
        Ok((change, _)) if !change.is_change() => Ok(Made::Written),
        Ok((change, record)) => {
            report::change(job, "refresh", &change, Some(&record), Some(&composed), out)?;
            out.flush()?;
            Ok(Made::Written)
        }
        Err(trouble @ (Trouble::Lock(_) | Trouble::File(..))) => {
            Ok(Made::NotNow(format!("error: {trouble}")))
        }
        Err(trouble) => Ok(Made::Not(format!("error: {trouble}"))),
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
