//! What `plywood overlay` prints.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::Job;
use crate::cli::head::Schema;
use crate::cli::output::{Out, Result};
use crate::core::overlay::scan::{Stray, Trouble as Wrong};
use crate::core::text::number::grouped;
use crate::io::overlay::findings::{Finding, typed};
use crate::io::overlay::lock::State;
use crate::io::overlay::profile::Composed;
use crate::io::overlay::session::{Life, Record, sha256};
use crate::io::overlay::status::{FileStatus, RoundTrip, SessionStatus, Status};
use crate::io::overlay::{Change, Cleaned, Did};

/// The most lines of a change that a dry run shows of each side.
const SHOWN: usize = 400;

#[derive(Serialize)]
struct Written<'a> {
    action: &'static str,
    target: &'static str,
    dry_run: bool,
    path: String,
    /// `created`, `written`, `removed`, `unchanged`; in a dry run, what would be done.
    did: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    began: Option<&'a str>,
    resumed: u32,
    /// None where there was no file.
    bytes_before: Option<usize>,
    /// None where there is no file now.
    bytes_after: Option<usize>,
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<Value>,
    notes: &'a [String],
}

fn target(job: &Job<'_>) -> &'static str {
    match job.target {
        crate::io::overlay::session::Target::Session => "session",
        crate::io::overlay::session::Target::Source => "source",
    }
}

fn reasons(all: &[(crate::core::fact::Name, String)]) -> Vec<Value> {
    all.iter().map(|(layer, reason)| json!({ "layer": &**layer, "reason": reason })).collect()
}

fn block(composed: &Composed) -> Value {
    json!({
        "place": &*composed.place,
        "chars": composed.chars,
        "budget": composed.budget,
        "evicted": reasons(&composed.evicted),
        "absent": reasons(&composed.absent),
        "told": composed.told,
    })
}

/// A file that was, or would be, another.
pub(super) fn change(
    job: &Job<'_>,
    action: &'static str,
    change: &Change,
    record: Option<&Record>,
    composed: Option<&Composed>,
    out: &mut Out<'_>,
) -> Result<()> {
    // A bench without files for sessions has no sessions.
    let record = record.filter(|_| job.site.sessions.is_some());
    let path = job.shown(&change.path);
    if job.args.json {
        out.json_line(&Schema::Overlay.plain(Written {
            action,
            target: target(job),
            dry_run: job.args.dry_run,
            path,
            did: change.word(),
            session: record.map(|record| &*record.id),
            owner: record.map(|record| record.owner.pid),
            began: record.map(|record| &*record.began),
            resumed: record.map_or(0, |record| record.resumed),
            bytes_before: change.before.as_ref().map(Vec::len),
            bytes_after: change.after.as_ref().map(Vec::len),
            sha256: change.after.as_deref().map(sha256),
            block: composed.map(block),
            notes: &change.notes,
        }))?;
        return Ok(());
    }
    let size = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
    let (before, after) = (grouped(size(&change.before)), grouped(size(&change.after)));
    let sizes = match (&change.before, &change.after) {
        (before, after) if before == after && before.is_none() => "no such file".to_owned(),
        (before, after) if before == after => format!("{} bytes", grouped(size(after))),
        (None, _) => format!("{after} bytes"),
        (_, None) => format!("it had {before} bytes"),
        _ => format!("{before} bytes before, {after} now"),
    };
    let would = match (job.args.dry_run, change.word()) {
        (true, "unchanged") | (false, _) => change.word().to_owned(),
        (true, word) => format!("would be {word}"),
    };
    out.line(format_args!("{would}  {path}  ({sizes})"))?;
    if let Some(record) = record {
        let resumed = match record.resumed {
            0 => String::new(),
            1 => ", resumed once".into(),
            times => format!(", resumed {times} times"),
        };
        let (id, pid) = (&record.id, record.owner.pid);
        out.line(format_args!("session {id}, of process {pid}, since {}{resumed}", record.began))?;
    }
    if let Some(composed) = composed {
        block_lines(composed, out)?;
    }
    for note in &change.notes {
        out.line(format_args!("note: {note}"))?;
    }
    if job.args.dry_run && change.is_change() {
        diff(change, out)?;
    }
    Ok(())
}

fn block_lines(composed: &Composed, out: &mut Out<'_>) -> Result<()> {
    out.line(format_args!("block {}: {}", composed.place, composed.size()))?;
    for (layer, reason) in &composed.evicted {
        out.line(format_args!("evicted: {layer}, {reason}"))?;
    }
    for told in &composed.told {
        out.line(format_args!("note: {told}"))?;
    }
    Ok(())
}

/// The lines that go and those that come, between those that stay at both ends.
fn diff(change: &Change, out: &mut Out<'_>) -> Result<()> {
    let text =
        |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    let (before, after) = (text(&change.before), text(&change.after));
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    for (sign, lines) in [('-', &old[..old.len() - tail]), ('+', &new[..new.len() - tail])] {
        for line in lines.iter().take(SHOWN) {
            out.line(format_args!("{sign} {line}").to_string().trim_end())?;
        }
        if lines.len() > SHOWN {
            out.line(format_args!("{sign} ... {} more lines", lines.len() - SHOWN))?;
        }
    }
    Ok(())
}

/// There was nothing to do.
pub(super) fn nothing(
    job: &Job<'_>,
    action: &'static str,
    why: &str,
    hints: &[String],
    out: &mut Out<'_>,
) -> Result<()> {
    if job.args.json {
        out.json_line(&Schema::Overlay.plain(json!({
            "action": action, "target": target(job), "did": "nothing", "reason": why, "hints": hints,
        })))?;
    } else {
        out.line(format_args!("nothing done: {why}"))?;
        for hint in hints {
            out.line(format_args!("hint: {hint}"))?;
        }
    }
    Ok(())
}

fn stray_json(stray: &Stray) -> Value {
    let what = match stray.trouble {
        Wrong::NoEnd => "no end",
        Wrong::NoStart => "no start",
        Wrong::Doubled { .. } => "doubled",
        Wrong::Reversed { .. } => "reversed",
        Wrong::Nested { .. } => "nested",
    };
    json!({
        "line": stray.line, "column": stray.column, "marker": stray.marker, "what": what, "message": stray.to_string(),
    })
}

/// A file was left alone for its markers.
pub(super) fn strays(
    job: &Job<'_>,
    action: &'static str,
    path: &Path,
    strays: &[Stray],
    out: &mut Out<'_>,
) -> Result<()> {
    out.json_line(&Schema::Overlay.plain(json!({
        "action": action,
        "target": target(job),
        "path": job.shown(path),
        "did": "left alone",
        "strays": strays.iter().map(stray_json).collect::<Vec<_>>(),
    })))?;
    Ok(())
}

/// What was cleaned up.
///
/// `elsewhere` are the stale sessions of other files, which stay.
pub(super) fn cleaned(
    job: &Job<'_>,
    done: &[Cleaned],
    elsewhere: &[Record],
    out: &mut Out<'_>,
) -> Result<()> {
    if job.args.json {
        let one = |one: &Cleaned| {
            let did = match (&one.trouble, one.did) {
                (Some(_), _) => "left alone",
                (None, Did::Removed | Did::RemovedFile) => "removed",
                (None, Did::TookOut) => "took the block out",
                (None, Did::Ended) => "ended",
            };
            let path = job.shown(&one.path);
            json!({ "what": one.what, "did": did, "path": path, "trouble": one.trouble })
        };
        let other = |record: &Record| json!({ "session": record.id, "source": job.shown(&record.source) });
        out.json_line(&Schema::Overlay.plain(json!({
            "action": "clean",
            "dry_run": job.args.dry_run,
            "cleaned": done.iter().map(one).collect::<Vec<_>>(),
            "of_other_files": elsewhere.iter().map(other).collect::<Vec<_>>(),
        })))?;
        return Ok(());
    }
    if done.is_empty() {
        out.line("nothing to clean")?;
    }
    for one in done {
        let (path, dry) = (job.shown(&one.path), job.args.dry_run);
        let told = match (one.did, dry) {
            _ if one.trouble.is_some() => format!("left {path} alone"),
            (Did::Removed, false) => format!("removed {path}"),
            (Did::Removed, true) => format!("would remove {path}"),
            (Did::RemovedFile, false) => format!("removed the session file {path}"),
            (Did::RemovedFile, true) => format!("would remove the session file {path}"),
            (Did::TookOut, false) => format!("took the block out of {path}"),
            (Did::TookOut, true) => format!("would take the block out of {path}"),
            (Did::Ended, false) => format!("ended, there was nothing of it in {path}"),
            (Did::Ended, true) => format!("would end, there is nothing of it in {path}"),
        };
        let why = one.trouble.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        out.line(format_args!("{told}  ({}){why}", one.what))?;
    }
    for record in elsewhere {
        let source = job.shown(&record.source);
        out.line(format_args!(
            "note: the session {} of {source} is stale, too: `plywood overlay clean {}`",
            record.id,
            typed(&source)
        ))?;
    }
    Ok(())
}

fn file_json(job: &Job<'_>, file: &FileStatus) -> Value {
    json!({
        "path": job.shown(&file.path),
        "bytes": file.bytes,
        "sha256": file.sha256,
        "unreadable": file.unreadable,
        "blocks": file.blocks,
        "strays": file.strays.iter().map(stray_json).collect::<Vec<_>>(),
        "quoted": file.quoted,
        "line_ends": file.ends,
    })
}

fn session_json(job: &Job<'_>, session: &SessionStatus) -> Value {
    json!({
        "id": session.id,
        "life": session.life.word(),
        "source": match &session.life {
            Life::OtherFile(source) => Some(job.shown(source)),
            _ => None,
        },
        "owner": session.owner,
        "target": session.target,
        "began": session.began,
        "ended": session.ended,
        "resumed": session.resumed,
        "file": file_json(job, &session.file),
        "as_written": session.own,
        "lost": session.gone,
    })
}

fn lock_json(job: &Job<'_>, status: &Status) -> Value {
    let (state, record) = match &status.held {
        Ok(State::Free) => ("free".to_owned(), None),
        Ok(State::Held(record)) => ("held".into(), Some(record)),
        Ok(State::Dead(record)) => ("of a dead process".into(), Some(record)),
        Ok(State::Ownerless { .. }) => ("without an owner".into(), None),
        Err(why) => (why.clone(), None),
    };
    json!({ "path": job.shown(&status.lock), "state": state, "by": record })
}

/// Everything that is known.
pub(super) fn status(
    job: &Job<'_>,
    status: &Status,
    session: Option<&str>,
    composed: &Composed,
    findings: &[Finding],
    out: &mut Out<'_>,
) -> Result<()> {
    if job.args.json {
        let trip = status.round_trip.as_ref().map(|trip| {
            json!({
                "applied_bytes": trip.applied, "stripped_bytes": trip.stripped, "differs_at": trip.differs, "gone": trip.gone,
            })
        });
        out.json(&Schema::Overlay.plain(json!({
            "action": "status",
            "session": session,
            "source": file_json(job, &status.source),
            "round_trip": trip,
            "block": block(composed),
            "lock": lock_json(job, status),
            "sessions": status.sessions.iter().map(|session| session_json(job, session)).collect::<Vec<_>>(),
            "left": status.left.iter().map(|path| job.shown(path)).collect::<Vec<_>>(),
            "findings": findings.iter().map(|one| json!({ "what": one.what, "next": one.next })).collect::<Vec<_>>(),
        })))?;
        return Ok(());
    }
    out.line(format_args!("source   {}", file_line(job, &status.source)))?;
    out.line(format_args!("applied  {}", trip_line(status.round_trip.as_ref())))?;
    out.line(format_args!("block    {}: {}", composed.place, composed.size()))?;
    for (layer, reason) in &composed.evicted {
        out.line(format_args!("         evicted: {layer}, {reason}"))?;
    }
    let lock = match &status.held {
        Ok(State::Free) => "free".to_owned(),
        Ok(State::Held(record)) => format!("{record} has it"),
        Ok(State::Dead(record)) => format!("{record} had it, and is dead"),
        Ok(State::Ownerless { age, .. }) => format!("without an owner, {} s old", age.as_secs()),
        Err(why) => why.clone(),
    };
    out.line(format_args!("lock     {}: {lock}", job.shown(&status.lock)))?;
    if status.sessions.is_empty() {
        out.line("sessions none")?;
    }
    for one in status.sessions.iter().filter(|session| session.life != Life::Archived) {
        let owner = one.owner.as_ref().map(|owner| format!(", process {}", owner.pid)).unwrap_or_default();
        let since = one.began.as_ref().map(|began| format!(", since {began}")).unwrap_or_default();
        if let Life::OtherFile(source) = &one.life {
            out.line(format_args!("session  {}: of another file, {}", one.id, job.shown(source)))?;
            continue;
        }
        out.line(format_args!("session  {}: {}{owner}{since}", one.id, one.life.word()))?;
        let carrier = match one.own {
            _ if !one.is_in_source() => file_line(job, &one.file),
            Some(true) => format!("{}: its block is in it", job.shown(&status.source.path)),
            Some(false) => format!("{}: the block in it is not its own", job.shown(&status.source.path)),
            None => format!("{}: there is no block in it", job.shown(&status.source.path)),
        };
        out.line(format_args!("         {carrier}"))?;
    }
    if let Some(ended) = status.ended() {
        out.line(format_args!("ended    {ended}"))?;
    }
    for finding in findings {
        out.line(format_args!("found    {}", finding.what))?;
        out.line(format_args!("         {}", finding.next))?;
    }
    Ok(())
}

fn file_line(job: &Job<'_>, file: &FileStatus) -> String {
    let path = job.shown(&file.path);
    if let Some(why) = &file.unreadable {
        return format!("{path}: {why}");
    }
    let Some(bytes) = file.bytes else { return format!("{path}: no such file") };
    let blocks = match file.blocks {
        0 => "no block".to_owned(),
        1 => "1 block".to_owned(),
        several => format!("{several} blocks"),
    };
    let mut line =
        format!("{path}: {} bytes, {blocks}", grouped(usize::try_from(bytes).unwrap_or(usize::MAX)));
    if file.quoted > 0 {
        line += &format!(", {} markers quoted", file.quoted);
    }
    if !file.strays.is_empty() {
        line += ", left alone";
    }
    line
}

fn trip_line(trip: Option<&RoundTrip>) -> String {
    let Some(trip) = trip else { return "not at all: the source has to be left alone".into() };
    let size = |bytes: u64| grouped(usize::try_from(bytes).unwrap_or(usize::MAX));
    let back = match (trip.differs, trip.gone) {
        (Some(byte), _) => format!("differs from byte {byte} on"),
        (None, true) => "the file goes with its block".into(),
        (None, false) => format!("{} bytes, the same byte for byte", size(trip.stripped)),
    };
    format!("the source would have {} bytes; stripped again: {back}", size(trip.applied))
}
