//! The overlay of the shown session on somebody's own disk: put there when its user asks, kept in step with its sources,
//! and taken out when the workbench is left.

use std::sync::Arc;
use std::time::Duration;

use super::control::Engine;
use crate::app::views::OverlayPlan;
use crate::core::bench::Bench;
use crate::core::run::Refused;
use crate::io::edit::bench::{ChangedLine, lines_between};
use crate::io::overlay::profile::{site_of, source_of, texts_of};
use crate::io::overlay::session::{Record, SCHEMA, Target, is_id};
use crate::io::overlay::world::Machine;
use crate::io::overlay::{Change, Overlay, Site, Texts, owner};

/// How long the workbench waits for others that write the same overlay.
const PATIENCE: Duration = Duration::from_secs(1);

/// An overlay that this process has put on disk.
pub(super) struct Overlaid {
    site: Site,
    record: Record,
}

impl Overlaid {
    /// Puts the overlay of a bench on disk.
    ///
    /// # Errors
    ///
    /// Why it was not: one sentence, lower case, without a full stop.
    pub(super) fn put(
        bench: &Bench,
        workspace: &std::path::Path,
        texts: &Texts,
    ) -> Result<(Overlaid, String), String> {
        let overlaid = Overlaid::of(bench, workspace)?;
        let told = overlaid.write(texts)?;
        let file = overlaid.shown(&told);
        Ok((overlaid, format!("{} {file}; it follows its sources until it is taken out", told.word())))
    }

    /// What [`Overlaid::put`] would write.
    ///
    /// # Errors
    ///
    /// Why it would not.
    pub(super) fn plan(
        bench: &Bench,
        workspace: &std::path::Path,
        texts: &Texts,
    ) -> Result<OverlayPlan, String> {
        let overlaid = Overlaid::of(bench, workspace)?;
        let dry = Overlay { dry: true, ..overlaid.overlay() };
        let change = dry.apply(&overlaid.record, texts).map(|(change, _)| change);
        change.map(|change| overlaid.planned(&change)).map_err(|trouble| trouble.to_string())
    }

    /// What [`Overlaid::end`] would write.
    ///
    /// # Errors
    ///
    /// Why it would not.
    pub(super) fn plan_end(&self) -> Result<OverlayPlan, String> {
        let now = crate::io::load::machine_time();
        let dry = Overlay { dry: true, ..self.overlay() };
        let change = dry.end(&self.record.id, Some(&self.record.owner), &now);
        change.map(|change| self.planned(&change)).map_err(|trouble| trouble.to_string())
    }

    fn planned(&self, change: &Change) -> OverlayPlan {
        let text = |bytes: &Option<Vec<u8>>| {
            String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
        };
        let (old, new) = (text(&change.before), text(&change.after));
        let notes = change.notes.iter().map(|note| ChangedLine::At(note.clone()));
        OverlayPlan {
            file: self.shown(change).into(),
            word: change.word(),
            lines: notes.chain(lines_between(&old, &new)).collect(),
            problem: None,
        }
    }

    /// The overlay of a bench for this process; nothing is written.
    fn of(bench: &Bench, workspace: &std::path::Path) -> Result<Overlaid, String> {
        let (site, id) = for_session(bench, workspace)?;
        let began =
            bench.workspace.clock.as_deref().map_or_else(crate::io::load::machine_time, str::to_owned);
        let record = Record {
            schema: SCHEMA.into(),
            id,
            owner: owner::me(),
            workspace: site.workspace.clone(),
            source: site.source.clone(),
            target: Target::Session,
            began,
            ended: None,
            resumed: 0,
            written: Vec::new(),
        };
        Ok(Overlaid { site, record })
    }

    /// Writes it again where it would say something else; what was done, if anything was.
    ///
    /// # Errors
    ///
    /// Why it was not written.
    pub(super) fn follow(&self, texts: &Texts) -> Result<Option<String>, String> {
        let change = self.write(texts)?;
        Ok(change.is_change().then(|| format!("{} {} again", change.word(), self.shown(&change))))
    }

    /// Takes it out.
    ///
    /// # Errors
    ///
    /// Why it is still there.
    pub(super) fn end(&self) -> Result<String, String> {
        let now = crate::io::load::machine_time();
        let change = self.overlay().end(&self.record.id, Some(&self.record.owner), &now);
        change
            .map(|change| format!("{} {}", change.word(), self.shown(&change)))
            .map_err(|trouble| trouble.to_string())
    }

    fn overlay(&self) -> Overlay<'_> {
        Overlay { world: &Machine, site: &self.site, patience: PATIENCE, dry: false }
    }

    fn write(&self, texts: &Texts) -> Result<Change, String> {
        let done = self.overlay().apply(&self.record, texts);
        done.map(|(change, _)| change).map_err(|trouble| trouble.to_string())
    }

    fn shown(&self, change: &Change) -> String {
        change.path.strip_prefix(&self.site.workspace).unwrap_or(&change.path).display().to_string()
    }
}

/// The session ends with the process that it belongs to.
impl Drop for Overlaid {
    fn drop(&mut self) {
        // Where it cannot be taken out it is stale from now on, and `plywood overlay clean` takes it.
        let _ = self.end();
    }
}

/// The files of a bench's overlay in a workspace, and its session; none for a bench without one.
pub(super) fn site(bench: &Bench, workspace: &std::path::Path) -> Option<(Site, String)> {
    let session = bench.facts.get("session").or_else(|| bench.agent.get("session"));
    let session = session.map(ToString::to_string).unwrap_or_default();
    let source = source_of(bench).map_or("AGENTS.md", |source| &source.path);
    Some((site_of(bench, workspace, workspace.join(source), &session)?, session))
}

/// The same for a bench that has a file for its session.
///
/// # Errors
///
/// Why it has none: one sentence, lower case, without a full stop.
pub(super) fn for_session(bench: &Bench, workspace: &std::path::Path) -> Result<(Site, String), String> {
    let (site, id) = site(bench, workspace).ok_or("this bench has no block with markers")?;
    if site.sessions.is_none() || !is_id(&id) {
        return Err("this bench has no file for a session: a place with `path:` that names it".into());
    }
    Ok((site, id))
}

impl Engine {
    /// Works out what putting the overlay on disk, or taking it out, would write.
    pub(super) fn plan_overlay(&mut self) -> Result<(), Refused> {
        let texts = self.overlay_texts().ok_or_else(|| Refused("there is no request yet".into()))?;
        let plan = self.edge.plan_overlay(self.player.session().bench(), &texts);
        self.overlay_plan = Some(plan.unwrap_or_else(|why| OverlayPlan {
            file: "".into(),
            word: "unchanged",
            lines: Arc::default(),
            problem: Some(why.into()),
        }));
        Ok(())
    }

    /// Puts the overlay of the request that waits on disk, or takes it out again.
    pub(super) fn switch_overlay(&mut self) -> Result<(), Refused> {
        self.overlay_plan = None;
        let texts = self.overlay_texts().ok_or_else(|| Refused("there is no request yet".into()))?;
        let bench = self.player.session().bench().clone();
        self.note = self.edge.switch_overlay(&bench, &texts).map_err(Refused)?.into();
        Ok(())
    }

    /// Something that is read is another: the overlay on disk follows, if there is one.
    pub(super) fn follow_overlay(&mut self) {
        let Some(texts) = self.overlay_texts() else { return };
        match self.edge.follow_overlay(&texts) {
            Ok(None) => {}
            Ok(Some(told)) | Err(told) if self.note.is_empty() => self.note = told.into(),
            Ok(Some(told)) | Err(told) => self.note = format!("{}; {told}", self.note).into(),
        }
    }

    fn overlay_texts(&self) -> Option<Texts> {
        let session = self.player.session();
        let record = session.prepared().or_else(|| session.calls().last().map(|record| &**record))?;
        Some(texts_of(session, record))
    }
}
