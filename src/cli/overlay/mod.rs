//! `plywood overlay ACTION FILE`: the runtime overlay on real files.

pub(super) mod args;
mod report;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use self::args::{OverlayAction, SiteArgs, TargetArg};
use super::open::Named;
use super::output::{Failure, Out, Outcome, Result};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;
use crate::core::source::parse_time;
use crate::io::bench_file::Machine as Place;
use crate::io::load::machine_time;
use crate::io::overlay::findings::typed;
use crate::io::overlay::lock::{NoLock, State};
use crate::io::overlay::owner::{self, Owner};
use crate::io::overlay::profile::{Composed, Profile, Wanted};
use crate::io::overlay::session::{Life, Record, SCHEMA, Target, is_id, new_id};
use crate::io::overlay::world::{Kind, Machine, World};
use crate::io::overlay::{Change, Overlay, Site, Trouble};

/// Does what is asked.
pub(super) fn run(action: &OverlayAction, out: &mut Out<'_>) -> Result {
    let open = |args| Job::open(args, None);
    match action {
        OverlayAction::Apply(args) => open(args).and_then(|(job, mut profile)| job.apply(&mut profile, out)),
        OverlayAction::Strip(args) => open(args).and_then(|(job, _)| job.strip(out)),
        OverlayAction::Status(args) => {
            open(args).and_then(|(job, mut profile)| job.status(&mut profile, out))
        }
        OverlayAction::Refresh(args) => {
            open(args).and_then(|(job, mut profile)| job.refresh(&mut profile, out))
        }
        OverlayAction::Clean(args) => open(args).and_then(|(job, _)| job.clean(out)),
        OverlayAction::Mark(args) => open(&args.site()).and_then(|(job, _)| job.mark(out)),
        OverlayAction::Watch(args) => watch::run(args, out),
    }
}

/// A command on one file.
struct Job<'a> {
    args: &'a SiteArgs,
    /// What the bench is called.
    bench: String,
    site: Site,
    owner: Owner,
    target: Target,
}

impl<'a> Job<'a> {
    /// Finds out what FILE is and opens the bench. `owner` is whose sessions are meant where the user does not say.
    fn open(args: &'a SiteArgs, owner: Option<Owner>) -> Result<(Job<'a>, Profile)> {
        if let Some(id) = &args.session
            && !is_id(id)
        {
            return Err(Failure::message(format!(
                "--session `{id}`: a session is named with letters, digits, `_` and `-`, at most 64 of them"
            )));
        }
        if let Some(now) = &args.now
            && parse_time(now).is_none()
        {
            return Err(Failure::message(format!("--now {now}: write a time such as 2026-04-01T09:00:00Z")));
        }
        let file = args.file.display();
        let name = args.file.file_name().ok_or_else(|| {
            Failure::Diagnostics(vec![Diagnostic::error(format!("`{file}` names no file")).hint(format!(
                "name the file with the rules, such as `{}`",
                args.file.join("AGENTS.md").display()
            ))])
        })?;
        if name.to_str().is_none() {
            // Prompts and records name it, and they are text.
            return Err(Failure::message(format!("{file}: its name is not UTF-8")));
        }
        let folder = real_folder(args.file.parent().unwrap_or(Path::new("")))?;
        let workspace = match &args.workspace {
            Some(workspace) => real_folder(workspace)?,
            None => folder.clone(),
        };
        let (bench, sample) = match args.bench.as_deref().map(Named::of).transpose()? {
            Some(Named::Path(path)) => (Some(path), None),
            Some(Named::Sample(sample)) => (None, Some(sample)),
            None => (None, None),
        };
        let wanted = Wanted {
            bench,
            sample,
            variants: args.variants.iter().map(|name| Name::from(&**name)).collect(),
            model: None,
            source: folder.join(name),
            workspace,
            trust: args.trust,
        };
        let mut profile = Profile::open(&wanted, &Place::this()).map_err(Failure::Diagnostics)?;
        let site =
            profile.site(args.session.as_deref().unwrap_or("session")).map_err(Failure::Diagnostics)?;
        let owner = match args.owner {
            Some(pid) => owner::of(pid),
            None => owner.unwrap_or_else(owner::parent),
        };
        let target = match args.target {
            TargetArg::Session => Target::Session,
            TargetArg::Source => Target::Source,
        };
        Ok((Job { args, bench: profile.name(), site, owner, target }, profile))
    }

    fn overlay(&self) -> Overlay<'_> {
        Overlay {
            world: &Machine,
            site: &self.site,
            patience: Duration::from_secs(self.args.wait),
            dry: self.args.dry_run,
        }
    }

    fn now(&self) -> String {
        self.args.now.clone().unwrap_or_else(machine_time)
    }

    /// The sessions that this command may mean, the newest first: those of the same owner; and where `others`, those that
    /// go on all the same.
    fn candidates(&self, others: bool) -> Vec<Record> {
        let Some(sessions) = &self.site.sessions else { return Vec::new() };
        let mut records: Vec<Record> = sessions
            .ids(&Machine)
            .unwrap_or_default()
            .iter()
            .filter_map(|id| sessions.read(&Machine, id).ok().flatten())
            .filter(|record| record.target == self.target)
            .filter(|record| match self.overlay().life(record) {
                Life::Live => others || record.owner == self.owner,
                Life::Stale => others,
                _ => false,
            })
            .collect();
        records.sort_by(|one, other| (&other.began, &other.id).cmp(&(&one.began, &one.id)));
        records
    }

    /// The session that is meant: the one that is named, else the only one of this owner.
    fn session(&self) -> Result<Option<String>> {
        if let Some(id) = &self.args.session {
            // One of another file is nothing that this command may touch, or even look at as its own. A record that
            // nobody can read is told by whoever needs it.
            let own = self.overlay().of_this_file(id, self.known(id).as_ref());
            return own.map(|()| Some(id.clone())).map_err(|trouble| self.failed(&trouble));
        }
        let own = self.candidates(false);
        match &own[..] {
            [] => Ok(None),
            [one] => Ok(Some(one.id.clone())),
            several => {
                let ids: Vec<String> = several.iter().map(|record| format!("`{}`", record.id)).collect();
                Err(Failure::Diagnostics(vec![
                    Diagnostic::error("this process has several sessions here")
                        .hint(format!("name one with --session: {}", ids.join(", "))),
                ]))
            }
        }
    }

    /// The record of a session, where there is one that can be read and says something here.
    fn known(&self, id: &str) -> Option<Record> {
        self.overlay().known(id).ok().flatten()
    }

    /// What the record of a session says now; a new one where there is none.
    fn record(&self, id: &str) -> Result<Record> {
        let known = match &self.site.sessions {
            Some(_) => self.overlay().known(id).map_err(|trouble| self.failed(&trouble))?,
            None => None,
        };
        let began = match (&self.args.now, &known) {
            (Some(now), _) => now.clone(),
            (None, Some(known)) => known.began.clone(),
            (None, None) => self.now(),
        };
        Ok(Record {
            schema: SCHEMA.into(),
            id: id.to_owned(),
            owner: self.owner.clone(),
            workspace: self.site.workspace.clone(),
            source: self.site.source.clone(),
            target: self.target,
            began,
            ended: None,
            resumed: 0,
            written: Vec::new(),
        })
    }

    /// Writes the overlay of a session.
    fn write(
        &self,
        profile: &mut Profile,
        id: &str,
    ) -> Result<std::result::Result<(Change, Record, Composed), Trouble>> {
        self.source_is_a_file()?;
        let record = self.record(id)?;
        let composed = profile.compose(id, &record.began).map_err(Failure::Diagnostics)?;
        let overlay = self.overlay();
        let done = match (&self.site.sessions, self.target) {
            (None, Target::Source) => {
                overlay.apply_source(&composed.texts.block).map(|change| (change, record))
            }
            _ => overlay.apply(&record, &composed.texts),
        };
        if !self.args.dry_run {
            composed.keep_caches(&Machine);
        }
        Ok(done.map(|(change, record)| (change, record, composed)))
    }

    /// Rules are read from a file: a folder, a pipe or a device has none, and its own folder is not the user's project.
    fn source_is_a_file(&self) -> Result<()> {
        let source = &self.site.source;
        let what = match Machine.about(source).map(|about| about.kind) {
            Ok(Kind::Folder) => "it is a folder",
            Ok(Kind::Other) => "it is no regular file",
            // What is not there may become a file; what else is wrong is told by whoever reads it.
            Ok(Kind::File) | Err(_) => return Ok(()),
        };
        let file = self.args.file.display();
        let hint = match what {
            "it is a folder" => {
                format!(
                    "name the file with the rules, such as `{}`",
                    self.args.file.join("AGENTS.md").display()
                )
            }
            _ => "FILE is the file with the rules, such as AGENTS.md".to_owned(),
        };
        Err(Failure::Diagnostics(vec![Diagnostic::error(format!("{file}: {what}")).hint(hint)]))
    }

    /// The id of a session that begins.
    fn new_session(&self) -> String {
        new_id(&self.bench, Machine.now())
    }

    fn apply(&self, profile: &mut Profile, out: &mut Out<'_>) -> Result {
        let id = self.session()?.unwrap_or_else(|| self.new_session());
        let done = self.write(profile, &id)?;
        self.applied("apply", done, out)
    }

    fn refresh(mut self, profile: &mut Profile, out: &mut Out<'_>) -> Result {
        let applied = |id: &String| self.known(id).is_some_and(|record| record.ended.is_none());
        let others = self.candidates(true);
        let id = match self.session()? {
            Some(id) => Some(id).filter(applied),
            None if others.len() == 1 => others.first().map(|record| record.id.clone()),
            None => None,
        };
        match id {
            Some(id) => {
                // It stays whose it is while that one lives: a refresh takes nothing from anybody.
                if let Some(record) = others.iter().find(|record| record.id == id)
                    && self.args.owner.is_none()
                    && self.overlay().life(record) == Life::Live
                {
                    self.owner = record.owner.clone();
                }
                let done = self.write(profile, &id)?;
                self.applied("refresh", done, out)
            }
            None => {
                // Which of several is meant, nobody can say; one that was named is not applied, whatever else is.
                let several = if self.args.session.is_none() { &others[..] } else { &[] };
                let why = match several {
                    [] => "no overlay is applied here",
                    _ => "several sessions are applied here",
                };
                let hint = |record: &Record| {
                    format!("`--session {}` writes that of process {}", record.id, record.owner.pid)
                };
                report::nothing(&self, "refresh", why, &several.iter().map(hint).collect::<Vec<_>>(), out)?;
                Ok(Outcome::Found)
            }
        }
    }

    /// Tells what was written.
    fn applied(
        &self,
        action: &'static str,
        done: std::result::Result<(Change, Record, Composed), Trouble>,
        out: &mut Out<'_>,
    ) -> Result {
        match done {
            Ok((change, record, composed)) => {
                report::change(self, action, &change, Some(&record), Some(&composed), out)?;
                Ok(Outcome::Done)
            }
            Err(trouble) => self.left_alone(action, &trouble, out),
        }
    }

    fn strip(&self, out: &mut Out<'_>) -> Result {
        match self.taken_out() {
            Ok(Some(change)) => {
                report::change(self, "strip", &change, None, None, out)?;
                Ok(Outcome::Done)
            }
            Ok(None) => {
                report::nothing(self, "strip", "no session of this process is here", &self.elsewhere(), out)?;
                Ok(Outcome::Done)
            }
            Err(Stop::Failed(failure)) => Err(failure),
            Err(Stop::Trouble(trouble)) => self.left_alone("strip", &trouble, out),
        }
    }

    /// Where an overlay is that was not meant, and what takes it out: each one sentence.
    fn elsewhere(&self) -> Vec<String> {
        let overlay = self.overlay();
        let (shown, file) = (self.shown(&self.site.source), self.typed(&self.site.source));
        let mut hints = Vec::new();
        if self.target == Target::Session && overlay.status(None).source.blocks > 0 {
            hints.push(format!(
                "{shown} holds a block: `plywood overlay strip {file} --target source` takes it out"
            ));
        }
        for record in self.candidates(true) {
            let (id, pid) = (&record.id, record.owner.pid);
            hints.push(match overlay.life(&record) {
                Life::Stale => format!(
                    "the session {id} of process {pid}, which is dead, is here: `plywood overlay clean {file}` ends it"
                ),
                _ => format!("the session {id} of process {pid} is here: `--session {id} --owner {pid}` ends it"),
            });
        }
        hints
    }

    fn mark(&self, out: &mut Out<'_>) -> Result {
        let Some(sign) = &self.site.sign else {
            return Err(Failure::Diagnostics(vec![
                Diagnostic::error(format!(
                    "the bench {} does not say how a generated file is marked",
                    self.bench
                ))
                .hint("`not_if` of the read that leaves the block out (`markers:`) is that line"),
            ]));
        };
        match self.overlay().mark_source(sign) {
            Ok(change) => {
                report::change(self, "mark", &change, None, None, out)?;
                Ok(Outcome::Done)
            }
            Err(trouble) => self.left_alone("mark", &trouble, out),
        }
    }

    /// Takes the overlay out; none where nobody knows which.
    fn taken_out(&self) -> std::result::Result<Option<Change>, Stop> {
        let overlay = self.overlay();
        let id = self.session().map_err(Stop::Failed)?;
        let known = id.as_deref().and_then(|id| self.known(id));
        let change = match (&id, self.target) {
            // A block in the source is one block, whoever has put it there.
            (_, Target::Source) if known.as_ref().is_none_or(|known| known.target != Target::Source) => {
                overlay.strip_source()
            }
            (Some(id), _) => overlay.end(id, Some(&self.owner), &self.now()),
            (None, Target::Source) => overlay.strip_source(),
            (None, Target::Session) => return Ok(None),
        };
        change.map(Some).map_err(Stop::Trouble)
    }

    fn status(&self, profile: &mut Profile, out: &mut Out<'_>) -> Result {
        let id = self.session()?;
        let id = id.or_else(|| self.candidates(true).first().map(|record| record.id.clone()));
        let began = match &id {
            Some(id) => self.record(id)?.began,
            None => self.now(),
        };
        let composed =
            profile.compose(id.as_deref().unwrap_or("session"), &began).map_err(Failure::Diagnostics)?;
        let status = self.overlay().status(Some(&composed.texts));
        let findings = status.findings(&|path| self.shown(path));
        report::status(self, &status, id.as_deref(), &composed, &findings, out)?;
        Ok(if findings.is_empty() { Outcome::Done } else { Outcome::Found })
    }

    fn clean(&self, out: &mut Out<'_>) -> Result {
        let done = self.overlay().clean(&self.now()).map_err(|trouble| self.failed(&trouble))?;
        let elsewhere = self.overlay().stale_elsewhere();
        report::cleaned(self, &done, &elsewhere, out)?;
        Ok(if done.iter().any(|one| one.trouble.is_some()) { Outcome::Found } else { Outcome::Done })
    }

    /// A file was left alone: markers are what was found in it, everything else is a failure.
    fn left_alone(&self, action: &'static str, trouble: &Trouble, out: &mut Out<'_>) -> Result {
        match trouble {
            Trouble::Markers(path, strays) => {
                if self.args.json {
                    report::strays(self, action, path, strays, out)?;
                }
                let problem = |stray: &crate::core::overlay::scan::Stray| Diagnostic {
                    file: Some(self.shown(path).into()),
                    at: Some(Position {
                        line: u32::try_from(stray.line).unwrap_or(u32::MAX),
                        column: u32::try_from(stray.column).unwrap_or(u32::MAX),
                    }),
                    line: Some(stray.marker.clone()),
                    ..Diagnostic::error(stray.to_string())
                };
                Ok(Outcome::Told(strays.iter().map(problem).collect()))
            }
            Trouble::File(path, why) if *path == self.site.source && action == "apply" => {
                let hint = "without `--target source` the overlay goes into a file of the session's own, and this one \
                            stays as it is";
                let told = format!("{}: {why}", self.shown(path));
                Err(Failure::Diagnostics(vec![Diagnostic::error(told).hint(hint)]))
            }
            other => Err(self.failed(other)),
        }
    }

    fn failed(&self, trouble: &Trouble) -> Failure {
        let (told, hint) = match trouble {
            Trouble::File(path, why) => (format!("{}: {why}", self.shown(path)), None),
            Trouble::OtherFile { id, source } => {
                let (source, file) = (self.shown(source), self.args.file.display());
                let hint = format!("name `{source}` instead of `{file}`, or another session with --session");
                (format!("the session {id} belongs to another file: {source}"), Some(hint))
            }
            Trouble::Session(why) => {
                let hint =
                    "--owner PID acts for another process; `overlay clean` ends the sessions of dead ones";
                (why.clone(), Some(hint.to_owned()))
            }
            Trouble::Lock(lock) => (lock.to_string(), self.lock_hint(lock)),
            Trouble::Markers(..) => (trouble.to_string(), None),
        };
        Failure::Diagnostics(vec![match hint {
            Some(hint) => Diagnostic::error(told).hint(hint),
            None => Diagnostic::error(told),
        }])
    }

    /// What to do about a lock that cannot be had.
    fn lock_hint(&self, lock: &NoLock) -> Option<String> {
        let NoLock::Busy { path, state, .. } = lock else { return None };
        match &**state {
            State::Held(record) if owner::is_here(&record.owner) => Some(
                "it is given back as soon as that process is done, or gone; --wait SECONDS waits longer"
                    .into(),
            ),
            // Nobody here can tell whether it lives.
            State::Held(_) => Some(format!("where nothing runs there any more, remove {}", self.typed(path))),
            _ => None,
        }
    }

    /// A path as the user would name it from here.
    fn shown(&self, path: &Path) -> String {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
        path.strip_prefix(&here).unwrap_or(path).display().to_string()
    }

    /// The same as it is typed in a shell.
    fn typed(&self, path: &Path) -> String {
        typed(&self.shown(path))
    }
}

/// Why an overlay was not taken out.
enum Stop {
    Failed(Failure),
    Trouble(Trouble),
}

fn real_folder(folder: &Path) -> Result<PathBuf> {
    let named = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match named.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        _ => Err(Failure::message(format!("there is no folder `{}`", named.display()))),
    }
}
