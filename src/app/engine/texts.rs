//! Text files that are edited: found behind layers and bytes, shown as drafts while they are typed, and saved.

use std::sync::Arc;

use super::control::{Engine, Preview, adjusted, is_bench_file};
use super::publish;
use super::ways::AsLoad;
use crate::app::editor::{Draft, Opened, Place, Purpose};
use crate::app::effect::{TextEdit, TextPlace};
use crate::core::bench::{Layer, LayerSource, ReadKind, Template};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::{Base, FactKey, FilePath, Found, Name, Value};
use crate::core::run::{Input, Player, Refused};
use crate::core::text::{Made, Source};
use crate::io::edit::{Original, SaveError};
use crate::io::syntax::{is_template, only_text_differs, template_errors};

/// A text file that is open.
pub(super) struct Editing {
    file: FilePath,
    pub(super) opened: Opened,
    /// The latest text that was typed and is not kept yet.
    unkept: Option<TextEdit>,
}

/// A text file that may be meant, and where to begin in it.
struct Spot {
    file: FilePath,
    at: Position,
}

impl Engine {
    /// Opens the text file behind something.
    pub(super) fn open_text(&mut self, no: u32, place: &TextPlace, purpose: Purpose) -> Result<(), Refused> {
        self.asked = no;
        let (spots, layer, none) = match place {
            TextPlace::Bench(at) => {
                let spots = self.bench_file().map(|file| Spot { file, at: *at });
                (spots.into_iter().collect(), None, "the bench has no file of its own".to_owned())
            }
            TextPlace::Named(name, at) => {
                let spots = self.files_named(name).into_iter().map(|file| Spot { file, at: *at });
                (spots.collect(), None, format!("there is no file {name}"))
            }
            TextPlace::File(file) => {
                let spot = Spot { file: file.clone(), at: Position::START };
                (vec![spot], None, format!("there is no file {file}"))
            }
            TextPlace::Layer(id) => {
                (self.behind_layer(id), Some(id.clone()), format!("{id} has no text of its own in a file"))
            }
            TextPlace::Source(source, byte, layer) => {
                let spots = self.files_of(source).into_iter();
                let at = source.position(*byte);
                (
                    spots.map(|file| Spot { file, at }).collect(),
                    layer.clone(),
                    format!("there is no file {}", source.name),
                )
            }
        };
        let mut refused = none;
        for Spot { file, at } in spots {
            match self.edge.open_text(&file) {
                Ok((path, disk)) => {
                    let (row, byte) = disk.line_at(at);
                    let kept = self.edge.kept_text(&path, &disk).map(Arc::new);
                    self.preview = None;
                    let opened = Opened {
                        no,
                        purpose,
                        file: file.to_string().into(),
                        path: path.into(),
                        at: Place { row, byte },
                        layer,
                        disk: Arc::new(disk),
                        draft: None,
                        saved: None,
                        kept,
                        problem: None,
                    };
                    self.editing = Some(Editing { file, opened, unkept: None });
                    return Ok(());
                }
                Err(reason) => refused = reason,
            }
        }
        Err(Refused(refused))
    }

    /// The files that may hold a layer's text, the likeliest first.
    fn behind_layer(&self, id: &Name) -> Vec<Spot> {
        let session = self.player.session();
        let bench = session.bench().clone();
        let start = |file: FilePath| Spot { file, at: Position::START };
        let Some(layer) = bench.layer(id) else {
            // The tools are no layer, but they have a row.
            return bench.tools.iter().filter_map(|group| group.schemas.clone()).map(start).collect();
        };
        let mut spots: Vec<Spot> = match &layer.from {
            LayerSource::Each { frame: Some(template), .. }
            | LayerSource::Lines { frame: Some(template), .. }
            | LayerSource::Template(template)
            | LayerSource::Each { item: template, .. } => self.template(template),
            LayerSource::Table { rows, .. } => vec![start(rows.clone())],
            LayerSource::Lines { .. }
            | LayerSource::Fact { .. }
            | LayerSource::Place(_)
            | LayerSource::Said => Vec::new(),
        };
        // Else what the layer shows of files, and what it would show if the file were there.
        spots.extend(self.shown_by(layer));
        if let LayerSource::Fact { name, .. } = &layer.from
            && let Some(ReadKind::File { path, .. } | ReadKind::Section { path, .. }) =
                bench.reads.get(name).map(|read| &read.kind)
        {
            spots.push(start(path.clone()));
        }
        // What no file holds is written in the bench itself.
        if spots.is_empty() {
            spots.extend(self.bench_file().map(|file| Spot { file, at: layer.at }));
        }
        spots
    }

    fn template(&self, template: &Template) -> Vec<Spot> {
        match template {
            Template::File(path, _) => vec![Spot { file: path.clone(), at: Position::START }],
            Template::Inline(source) => {
                self.bench_file().map(|file| Spot { file, at: source.start }).into_iter().collect()
            }
        }
    }

    fn bench_file(&self) -> Option<FilePath> {
        let name = &self.player.session().bench().source.name;
        Some(FilePath::new(Base::Bench, name.clone()))
    }

    /// The files whose text a layer shows in the call that is looked at, in the order of the bytes.
    fn shown_by(&self, layer: &Layer) -> Vec<Spot> {
        let session = self.player.session();
        let call = self.shown.unwrap_or(session.next_call());
        let record = publish::record(session, call);
        let state = record.and_then(|record| record.layer(&layer.id));
        let Some(text) = state.and_then(|state| state.state.piece.text()) else { return Vec::new() };
        let mut spots: Vec<Spot> = Vec::new();
        for span in text.spans() {
            if let Made::Verbatim { source, at } = &span.origin.made {
                for file in self.files_of(source) {
                    if spots.iter().all(|spot| spot.file != file) {
                        spots.push(Spot { file, at: source.position(*at) });
                    }
                }
            }
        }
        spots
    }

    /// The files that a source's name can mean; where several folders have one, that which holds the text comes first.
    fn files_of(&self, source: &Source) -> Vec<FilePath> {
        let mut files = self.files_named(&source.name);
        let session = self.player.session();
        files.sort_by_key(|file| session.rev_of(&FactKey::File(file.clone())) != Some(source.rev));
        files
    }

    /// The files of a name: those that the session has read under it, and the bench.
    fn files_named(&self, name: &Name) -> Vec<FilePath> {
        let session = self.player.session();
        let mut files: Vec<FilePath> = Vec::new();
        if *name == session.bench().source.name {
            files.extend(self.bench_file());
        }
        for key in session.watched() {
            if let FactKey::File(path) | FactKey::Document(path) | FactKey::Data(path) = key
                && path.to_string() == **name
                && !files.contains(path)
            {
                files.push(path.clone());
            }
        }
        files
    }

    /// Shows what a text that is typed would do.
    pub(super) fn draft_text(&mut self, edit: &TextEdit) {
        let Some(editing) = &self.editing else { return };
        let file = editing.file.clone();
        let mut unkept = Some(edit.clone());
        let problem = match edit.base.apply(&edit.base.splices(&edit.hunks)) {
            Err(reason) => Some(reason),
            Ok(bytes) if *bytes == **editing.opened.disk.bytes() => {
                self.preview = None;
                self.edge.forget_text(&editing.opened.path);
                unkept = None;
                None
            }
            Ok(bytes) => self.preview_text(&file, &bytes).err(),
        };
        if let Some(editing) = &mut self.editing {
            editing.unkept = unkept;
            let draft = Draft { serial: edit.serial, problem: problem.map(Arc::from) };
            editing.opened.draft = (self.preview.is_some() || draft.problem.is_some()).then_some(draft);
        }
    }

    fn preview_text(&mut self, file: &FilePath, bytes: &[u8]) -> Result<(), String> {
        let mut player = match self.earlier() {
            Some(call) => self.branch_from(call).map_err(|refused| refused.0)?,
            None => self.player.clone(),
        };
        let mut found = self.found_with(&player, file, bytes);
        let text = found.iter().find_map(|(key, found)| match (key, found) {
            (FactKey::File(_), Found::Value(Value::File(file))) => Some(file.text.clone()),
            _ => None,
        });
        // A template is checked by itself, where it can be wrong now: the bench is the same, whatever it says.
        let checked = text.and_then(|text| {
            let session = player.session();
            // What is saved is right, and so is the draft that is shown: from either it may be plain text away.
            let shown = self.preview.as_ref().map(|preview| preview.player.session());
            let shown = shown.filter(|shown| Arc::ptr_eq(shown.bench(), session.bench()));
            let mut known = [Some(session), shown].into_iter().flatten().filter_map(|it| it.file_text(file));
            let right = self.broken.is_empty() && known.any(|known| only_text_differs(&known, &text));
            let whole = !right || !is_template(session.bench(), file);
            if whole { template_errors(session.bench(), file, &text) } else { Some(Vec::new()) }
        });
        if let Some(problems) = checked {
            if !problems.is_empty() {
                return Err(first(&problems));
            }
        } else if file.base == Base::Bench {
            let bench = self.edge.bench_with(file, bytes, &self.options.variants);
            let bench = bench.map_err(|problems| first(&problems))?;
            let old = player.session().bench().clone();
            if bench.source.rev != old.source.rev {
                let bench = adjusted(bench, &self.options);
                let by = format!("the draft of {file}").into();
                let layers = old.changed_layers(&bench);
                player = match self.on_bench(player.clone(), bench.clone(), by, layers) {
                    Ok(player) => player,
                    // As it is with what is saved: then the run is played again.
                    Err(_) => {
                        let call = player.session().next_call();
                        let again = player.rebuild(bench, call, &mut AsLoad(&mut *self.edge));
                        again.map_err(|refused| refused.0)?
                    }
                };
                // Another bench may have asked for more.
                found = self.found_with(&player, file, bytes);
            }
        }
        if !found.is_empty() {
            let by = format!("the draft of {file}").into();
            player
                .input(Input::Observed { found, by }, &mut AsLoad(&mut *self.edge))
                .map_err(|refused| refused.0)?;
        }
        self.preview = Some(Preview { typed: None, fix: None, player, ahead: None });
        Ok(())
    }

    /// What a player would find under the keys that it has asked for, if a file held these bytes.
    fn found_with(&self, player: &Player, file: &FilePath, bytes: &[u8]) -> Vec<(FactKey, Found)> {
        let session = player.session();
        let of_file = |key: &FactKey| matches!(key, FactKey::File(path) | FactKey::Document(path) | FactKey::Data(path) if path == file);
        session
            .watched()
            .filter(|key| of_file(key))
            .filter_map(|key| Some((key.clone(), self.edge.found_with(key, bytes)?)))
            .filter(|(key, found)| !session.knows(key, found))
            .collect()
    }

    /// True while a text is typed that would be lost if the program were killed now.
    #[must_use]
    pub fn has_unkept(&self) -> bool {
        self.editing.as_ref().is_some_and(|editing| editing.unkept.is_some())
    }

    /// Keeps the text that is typed, so that it is there when the file is opened again.
    pub fn keep_text(&mut self) {
        let Some(editing) = &mut self.editing else { return };
        if let Some(edit) = editing.unkept.take() {
            self.edge.keep_text(&editing.opened.path, &edit.base, &edit.base.with(&edit.hunks));
        }
    }

    /// Gives up what was typed and what was kept of it.
    pub(super) fn forget_text(&mut self) {
        if let Some(editing) = &mut self.editing {
            editing.unkept = None;
            editing.opened.kept = None;
            self.edge.forget_text(&editing.opened.path);
        }
    }

    /// Saves a text. Where an earlier call is looked at, a branch begins there.
    pub(super) fn save_text(&mut self, edit: &TextEdit) -> Result<(), Refused> {
        let Some(editing) = &mut self.editing else { return Ok(()) };
        editing.opened.problem = None;
        let splices = edit.base.splices(&edit.hunks);
        let file = editing.file.clone();
        match self.edge.save_text(&file, &edit.base, &splices) {
            Ok(saved) => {
                editing.opened.disk = Arc::new(saved);
                editing.opened.saved = Some(edit.serial);
                editing.opened.draft = None;
                editing.opened.kept = None;
                editing.unkept = None;
                self.edge.forget_text(&editing.opened.path);
                self.preview = None;
                self.take_saved(&file)?;
                let branched = std::mem::take(&mut self.note);
                let gap = if branched.is_empty() { "" } else { "; " };
                self.note = format!("{file} saved{gap}{branched}").into();
            }
            Err(SaveError::Conflict(conflict)) => {
                // The editor sees that the disk is not what its text was made from, and asks.
                editing.opened.disk = Arc::new(conflict.theirs);
            }
            Err(SaveError::Refused(reason)) => {
                editing.opened.problem = Some(reason.clone().into());
                return Err(Refused(format!("{file} was not saved: {reason}")));
            }
        }
        Ok(())
    }

    /// Takes what was saved into the run.
    fn take_saved(&mut self, file: &FilePath) -> Result<(), Refused> {
        let bench = self.bench_file().as_ref() == Some(file);
        if bench || self.earlier().is_none() {
            self.take_news();
            return Ok(());
        }
        self.edge.changed();
        if is_bench_file(&FactKey::File(file.clone())) {
            match self.edge.bench(&self.options.variants) {
                Ok((_, warnings)) => self.warnings = warnings,
                Err(problems) => {
                    self.broken = problems;
                    return Ok(());
                }
            }
        }
        // A branch has seen files as they are now.
        self.by_hand(|_, _| Ok(()))
    }

    /// Looks at the text file that is open. True when it is not what it was.
    pub(super) fn look_at_text(&mut self) -> bool {
        let Some(editing) = &mut self.editing else { return false };
        let now = match self.edge.open_text(&editing.file) {
            Ok((_, now)) => now,
            Err(reason) => {
                let problem = Some(Arc::from(reason));
                let news = editing.opened.problem != problem;
                editing.opened.problem = problem;
                return news;
            }
        };
        let same = Original::hash(&now) == editing.opened.disk.hash()
            && now.exists() == editing.opened.disk.exists();
        if !same {
            editing.opened.disk = Arc::new(now);
        }
        !same
    }
}

fn first(problems: &[Diagnostic]) -> String {
    let Some(problem) = problems.first() else { return String::new() };
    match (&problem.file, problem.at) {
        (Some(file), Some(at)) => format!("{file}:{at} {}", problem.message),
        _ => problem.message.clone(),
    }
}
