//! `plywood audit FILE...`: what became of the cache in logs of real requests.

pub(super) mod args;
mod bar;
mod bench;
mod csv;
mod feed;
mod json;
mod since;
mod text;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

pub(super) use self::bench::layers as layers_of;

use args::{AuditArgs, AuditFormat};
use bar::Bar;
use feed::{FileState, Told};

use super::output::{Failure, Out, Outcome, Result, warn};
use super::settings;
use crate::app::engine::Counters;
use crate::core::audit::{Call, Judge, Repeats, Totals};
use crate::core::cache::Models;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::core::text::number::counted;
use crate::io::recording::{News, formats};

/// Bytes of text that are kept of conversations.
const MEMORY: usize = 32 << 20;
/// How many lines with something wrong are told one by one.
const PROBLEMS: u64 = 20;

/// What an audit comes to, for those who write it.
struct Audit {
    files: Vec<(PathBuf, FileState)>,
    models: Arc<Models>,
    others: Vec<Name>,
    judge: Judge,
    totals: Totals,
    /// The causes that count as known; none where nobody asked.
    known: Option<BTreeSet<String>>,
    /// Calls before the time that is counted from.
    earlier: u64,
    repeats: Repeats,
    /// Calls that were there before, of each file.
    repeated: Vec<u64>,
    bench: Option<String>,
}

impl Audit {
    fn file(&self, file: usize) -> String {
        self.files.get(file).map_or_else(String::new, |(path, _)| path.display().to_string())
    }
}

/// Audits; status 1 when a cause is new.
pub(super) fn run(args: &AuditArgs, out: &mut Out<'_>) -> Result {
    let models = settings::models(&args.settings)?;
    let others: Vec<Name> = args.models.iter().map(|name| Name::from(name.trim())).collect();
    if let Some(name) = others.iter().find(|name| !name.contains(':')) {
        return Err(Failure::message(format!("--models {name}: write provider:model")));
    }
    let since = args.since.as_deref().map(|text| since::parse("--since", text)).transpose()?;
    let new_since = args.new_since.as_deref().map(|text| since::parse("--new-since", text)).transpose()?;
    let known = args.baseline.as_deref().map(json::baseline).transpose()?;
    let known = known.or_else(|| new_since.map(|_| BTreeSet::new()));
    let layers = args.bench.as_deref().map(bench::layers).transpose()?;
    let forced = args.log.and_then(|kind| formats::named(kind.word()));
    let format = if args.json { AuditFormat::Json } else { args.format };
    let by = args.group_by.iter().map(|&by| by.into()).collect();
    let files = once(&args.files);
    let mut audit = Audit {
        files: files.iter().map(|path| (path.clone(), FileState::default())).collect(),
        repeats: Repeats::default(),
        repeated: vec![0; files.len()],
        judge: Judge::new(models.clone(), others.clone(), layers, MEMORY),
        models,
        others,
        totals: Totals::new(by, args.top),
        known,
        earlier: 0,
        bench: args.bench.as_ref().map(|path| path.display().to_string()),
    };
    let mut writer = Writer { format, follow: args.follow, started: false };
    let mut bar = Bar::new();
    let mut told = 0;
    let mut counters = Counters::default();
    let (receiver, thread) = feed::start(files, forced, args.follow);
    // What was lost before the time that new causes are counted from.
    let mut before = BTreeSet::new();
    for news in &receiver {
        match news {
            Told::Call(file, exchange) if audit.repeats.is_repeat(file, &exchange) => {
                audit.repeated[file] += 1;
            }
            Told::Call(file, exchange) => {
                let call = audit.judge.call(&exchange, &mut counters);
                if let (Some(from), Some(cause)) = (new_since, call.cause())
                    && call.at.is_none_or(|at| at < from)
                {
                    before.insert(cause);
                }
                if since.is_some_and(|since| call.at.is_none_or(|at| at < since)) {
                    audit.earlier += 1;
                    continue;
                }
                audit.totals.add(file, &call);
                if writer.tells_calls() {
                    bar.make_way();
                }
                writer.call(&audit, file, &call, out)?;
            }
            Told::Progress(file, read, size) => bar.draw(file, audit.files.len(), read, size),
            Told::File(file, state) => {
                if !state.problems.is_empty() {
                    bar.clear();
                }
                tell(&audit, file, &state, &mut told);
                audit.files[file].1 = state;
            }
            Told::Pause if args.follow => out.flush()?,
            Told::Pause => {}
            Told::News(file, news) => {
                bar.clear();
                let what = match news {
                    News::Truncated => "became shorter and is read from its beginning",
                    _ => "was replaced; the new one is read from its beginning",
                };
                warn(format_args!("{}: {what}", audit.file(file)));
            }
            Told::Failed(problem) => {
                bar.clear();
                return Err(Failure::Diagnostics(vec![problem]));
            }
        }
    }
    bar.clear();
    ended(thread)?;
    if let Some(known) = &mut audit.known {
        known.append(&mut before);
    }
    if told > PROBLEMS {
        warn(format_args!("and {} more with something wrong", counted(told - PROBLEMS, "line")));
    }
    writer.end(&audit, out)?;
    if audit.totals.all.calls == 0 && audit.earlier == 0 {
        return Err(Failure::message("no call could be read: nothing was audited"));
    }
    let new = audit.known.as_ref().is_some_and(|known| !audit.totals.new_causes(known).is_empty());
    Ok(if new { Outcome::Found } else { Outcome::Done })
}

/// The files without those that were given before, whatever they were called then.
fn once(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let (once, again): (Vec<_>, Vec<_>) = files
        .iter()
        .cloned()
        .partition(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    for path in again {
        warn(format_args!("{}: the same file is given more than once; it is read once", path.display()));
    }
    once
}

/// Waits for the thread that reads, whose end was seen. What it had read when it died is not all there is.
fn ended(thread: JoinHandle<()>) -> Result<()> {
    let died = |_| Failure::message("reading the logs ended before their end: this is a mistake in plywood");
    thread.join().map_err(died)
}

/// Tells what is wrong with lines.
fn tell(audit: &Audit, file: usize, state: &FileState, told: &mut u64) {
    for problem in &state.problems {
        *told += 1;
        if *told <= PROBLEMS {
            warn(format_args!("{}:{}: {}; skipped", audit.file(file), problem.line, problem.message));
        }
    }
}

struct Writer {
    format: AuditFormat,
    follow: bool,
    started: bool,
}

impl Writer {
    /// True where a call is written as soon as it is judged.
    fn tells_calls(&self) -> bool {
        self.follow || self.format != AuditFormat::Text
    }

    fn call(&mut self, audit: &Audit, file: usize, call: &Call, out: &mut Out<'_>) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.started, true);
        match self.format {
            AuditFormat::Text if self.follow => text::line(call, first, out)?,
            AuditFormat::Text => {}
            AuditFormat::Csv => csv::line(audit, file, call, first, out)?,
            AuditFormat::Json if self.follow => json::line(audit, file, call, out)?,
            AuditFormat::Json => json::call(audit, file, call, first, out)?,
        }
        if self.follow { out.flush() } else { Ok(()) }
    }

    fn end(&self, audit: &Audit, out: &mut Out<'_>) -> io::Result<()> {
        match self.format {
            AuditFormat::Text => text::summary(audit, out),
            AuditFormat::Csv if !self.started => csv::heading(out),
            AuditFormat::Csv => Ok(()),
            AuditFormat::Json if self.follow => Ok(()),
            AuditFormat::Json => json::end(audit, !self.started, out),
        }
    }
}

/// A diagnostic of a file that is an input of the command.
fn unreadable(path: &std::path::Path, what: impl Into<String>, hint: Option<&str>) -> Failure {
    let problem = Diagnostic::error(what.into()).in_file(path.to_string_lossy());
    Failure::Diagnostics(vec![match hint {
        Some(hint) => problem.hint(hint.to_owned()),
        None => problem,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_dies_is_no_success() {
        assert!(ended(std::thread::spawn(|| {})).is_ok());
        let thread = std::thread::spawn(|| std::panic::resume_unwind(Box::new("dead")));
        assert!(matches!(ended(thread), Err(Failure::Message(_))));
    }
}
