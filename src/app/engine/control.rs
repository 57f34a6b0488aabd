//! Owns the session and its branches, does what is asked, and describes the result.

use std::sync::Arc;

use super::compare::Comparing;
use super::edge::Edge;
use super::hand::Steps;
use super::numbers::{Counters, Numbers};
use super::texts::Editing;
use super::views::Chosen;
use super::ways::{self, AsLoad, Way};
use crate::app::effect::EngineRequest;
use crate::app::snapshot::{Drafted, EditedField};
use crate::app::state::View;
use crate::app::views::ZonePreview;
use crate::core::bench::Bench;
use crate::core::cache::{Lane, Models};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Base, FactKey, Found, Name, Value};
use crate::core::fix::Search;
use crate::core::run::{Input, Player, Refused, Session, resolve};
use crate::core::tokens::Encoding;
use crate::core::wire::CallNo;

/// How a bench is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Variants, in order.
    pub variants: Vec<Name>,
    /// The run; the first by default.
    pub run: Option<Name>,
    /// The model instead of the bench's.
    pub model: Option<Name>,
    /// The time at the start instead of the bench's.
    pub now: Option<Name>,
}

/// The engine.
pub struct Engine {
    pub(super) edge: Box<dyn Edge>,
    pub(super) models: Arc<Models>,
    pub(super) options: Options,
    pub(super) player: Player,
    /// The other branches, in order: what a change at an earlier call left behind.
    pub(super) others: Vec<Player>,
    /// The place of the branch that is on among all of them.
    pub(super) branch: usize,
    /// The call that is looked at; none for the one that waits.
    pub(super) shown: Option<CallNo>,
    /// The effect of a CWD or a text that is typed.
    pub(super) preview: Option<Preview>,
    /// What is composed by hand and shown before it is said.
    pub(super) drafted: Option<Drafted>,
    /// What was said by hand, to be taken back.
    pub(super) steps: Steps,
    /// The text file that is open for editing.
    pub(super) editing: Option<Editing>,
    /// The view whose data is published.
    pub(super) view: View,
    /// What was chosen after which the run was played again.
    pub(super) chosen: Vec<Chosen>,
    /// The number of the latest request to open a text.
    pub(super) asked: u32,
    /// The latest edit that a form asked for.
    pub(super) edited: Option<EditedField>,
    /// While somebody looks at it: the shown call beside another one.
    pub(super) comparing: Option<Comparing>,
    pub(super) playing: bool,
    /// What a look found that somebody else has changed, until it is said.
    pub(super) changed_outside: Option<String>,
    /// What is wrong with files that were good before.
    pub(super) broken: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) note: Arc<str>,
    pub(super) watching: Arc<str>,
    pub(super) counters: Counters,
    /// The numbers of the calls that were sent.
    pub(super) sent: Numbers,
    pub(super) ahead: Option<Ahead>,
    pub(super) ways: Vec<Way>,
    pub(super) ways_left: Option<Vec<Vec<Name>>>,
    /// The ways as they were before something changed, until they are worked out again.
    pub(super) old_ways: Vec<Way>,
    /// Every way side by side, since somebody looked at it.
    pub(super) comparison: Option<super::comparison::Comparing>,
    /// The comparison as it was shown before something changed, until it is worked out again.
    pub(super) compared: Option<super::comparison::Shown>,
    /// Changes that are being tried, since somebody looked at them.
    pub(super) trying: Option<super::what_if::Trying>,
    /// What a way would change in the bench file.
    pub(super) way_preview: Option<crate::app::views::WayPreview>,
    /// What putting the overlay on disk would write.
    pub(super) overlay_plan: Option<crate::app::views::OverlayPlan>,
    pub(super) generation: u64,
    pub(super) folders: Arc<[Arc<str>]>,
    /// The call whose cache zones are shown; none for the shown one.
    pub(super) zones_at: Option<CallNo>,
    /// What was tried to lose less, since somebody looked at what is lost.
    pub(super) fixes: Option<Search>,
    /// What the lints found in the run that is on, since somebody looked at it.
    pub(super) linted: Option<super::lints::Linted>,
    /// The demo that is on.
    pub(super) stage: Option<super::stage::Stage>,
    /// The log that is looked at instead of a bench.
    pub(super) recording: Option<super::recording::Recording>,
}

/// A run, played to the end of its script.
pub(super) struct Ahead {
    pub(super) player: Player,
    /// The numbers of all its calls, once they are worked out.
    pub(super) numbers: Option<Numbers>,
    /// The same for the models side by side, while somebody looks at them.
    pub(super) lanes: Option<Numbers>,
    /// The same run on the bench as it is written, while somebody looks at the injectors under variants.
    pub(super) plain: Option<Player>,
}

/// What a CWD that is typed and not entered would do, or a text that is typed and not saved.
pub(super) struct Preview {
    /// The CWD; none for a text.
    pub(super) typed: Option<Arc<str>>,
    /// A change of the bench or the run: then the whole run was played again.
    pub(super) fix: Option<ZonePreview>,
    pub(super) player: Player,
    pub(super) ahead: Option<Ahead>,
}

impl Engine {
    /// Opens a bench.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn open(
        mut edge: Box<dyn Edge>,
        models: Arc<Models>,
        options: Options,
    ) -> Result<Engine, Vec<Diagnostic>> {
        let (bench, warnings) = edge.bench(&options.variants)?;
        let bench = adjusted(bench, &options);
        let commands = bench.commands();
        if !commands.is_empty() {
            // What was allowed before is started at once; what was not is asked about.
            edge.unasked(&commands);
        }
        let player = Player::start(bench, options.run.as_deref(), &mut AsLoad(&mut *edge))
            .map_err(|refused| vec![Diagnostic::error(refused.0)])?;
        let mut engine = Engine::with(edge, models, options, player, warnings);
        engine.list_folders();
        engine.project();
        Ok(engine)
    }

    /// The engine on a player.
    pub(super) fn with(
        edge: Box<dyn Edge>,
        models: Arc<Models>,
        options: Options,
        player: Player,
        warnings: Vec<Diagnostic>,
    ) -> Engine {
        let sent = Numbers::new(models.clone(), [Lane::AsSent]);
        let folders = Arc::default();
        Engine {
            edge,
            models,
            options,
            player,
            others: Vec::new(),
            branch: 0,
            shown: None,
            preview: None,
            drafted: None,
            steps: Steps::default(),
            editing: None,
            view: View::Main,
            chosen: Vec::new(),
            asked: 0,
            edited: None,
            comparing: None,
            playing: false,
            changed_outside: None,
            broken: Vec::new(),
            warnings,
            note: "".into(),
            watching: "".into(),
            counters: Counters::default(),
            sent,
            ahead: None,
            ways: Vec::new(),
            ways_left: None,
            old_ways: Vec::new(),
            comparison: None,
            compared: None,
            trying: None,
            way_preview: None,
            overlay_plan: None,
            generation: 0,
            folders,
            zones_at: None,
            fixes: None,
            linted: None,
            stage: None,
            recording: None,
        }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.player.session()
    }

    /// What to watch, and the folder below which parents are watched, too.
    #[must_use]
    pub fn inputs(&self) -> (Vec<std::path::PathBuf>, std::path::PathBuf) {
        (self.edge.inputs(), self.edge.root())
    }

    /// What the status line says of watching.
    pub fn set_watching(&mut self, watching: impl Into<Arc<str>>) {
        self.watching = watching.into();
    }

    /// True while the run plays by itself.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Does what is asked. What cannot be done is said in the status line of the next snapshot.
    pub fn handle(&mut self, request: EngineRequest) {
        self.note = "".into();
        if let Err(refused) = self.allows(&request) {
            self.note = refused.0.into();
            return;
        }
        // What is tried out in cache zones is looked at there, and given up by anything else.
        let looks = matches!(request, EngineRequest::Zones(_) | EngineRequest::PreviewFix(..));
        if !looks {
            self.preview.take_if(|preview| preview.fix.is_some());
        }
        let done = match request {
            EngineRequest::Send if self.stage.is_some() => self.turn_beat(1),
            EngineRequest::Back if self.stage.is_some() => self.turn_beat(-1),
            EngineRequest::Send => {
                self.playing = false;
                self.forward()
            }
            EngineRequest::Back => {
                self.playing = false;
                self.back();
                Ok(())
            }
            EngineRequest::Jump(call) => {
                self.playing = false;
                self.jump(call)
            }
            EngineRequest::Play => {
                self.playing = true;
                Ok(())
            }
            EngineRequest::Stop => {
                self.playing = false;
                Ok(())
            }
            EngineRequest::PreviewCwd(typed) => self.preview_cwd(&typed),
            EngineRequest::Zones(call) => {
                self.zones_at = Some(call);
                Ok(())
            }
            EngineRequest::PreviewFix(fix) => self.preview_fix(&fix),
            EngineRequest::View(view) => {
                self.zones_at = None;
                self.view = view;
                Ok(())
            }
            EngineRequest::PreviewSpoken(serial, spoken) => {
                self.preview_spoken(serial, &spoken);
                Ok(())
            }
            EngineRequest::Speak(spoken) => self.speak(&spoken),
            EngineRequest::SaveRun(serial, name, over) => self.save_run(serial, &name, over),
            EngineRequest::CancelPreview => {
                self.drafted = None;
                self.preview = None;
                Ok(())
            }
            EngineRequest::SetCwd(typed) => {
                self.preview = None;
                let value = self.resolved(&typed);
                self.live(Input::Set([("cwd".into(), Value::text(value))].into_iter().collect()))
            }
            EngineRequest::Variants(variants) => self.choose_variants(variants),
            EngineRequest::Model(model) => self.choose_model(model),
            EngineRequest::Run(run) => self.choose_run(run),
            EngineRequest::Look => {
                self.look();
                Ok(())
            }
            EngineRequest::NextBranch => {
                self.next_branch();
                Ok(())
            }
            EngineRequest::Compare(with) => {
                self.compare(with);
                Ok(())
            }
            EngineRequest::Happen(id) => self.happen(&id),
            EngineRequest::PreviewWay(names) => {
                self.preview_way(names);
                Ok(())
            }
            EngineRequest::ApplyWay(names) => self.apply_way(&names),
            EngineRequest::EditBench(edit) => self.edit_bench(&[edit]),
            EngineRequest::Mend(fix) => self.mend(&fix),
            EngineRequest::EditField(serial, edit) => self.edit_field(serial, &edit),
            EngineRequest::Undo => self.undo(),
            EngineRequest::Redo => self.redo(),
            EngineRequest::UndoBench => self.undo_bench(),
            EngineRequest::RedoBench => self.redo_bench(),
            EngineRequest::SetFact(name, value) => self.set_fact(name, value),
            EngineRequest::OpenText(no, place, purpose) => self.open_text(no, &place, purpose),
            EngineRequest::DraftText(edit) => {
                self.draft_text(&edit);
                Ok(())
            }
            EngineRequest::SaveText(edit) => self.save_text(&edit),
            EngineRequest::ForgetText => {
                self.forget_text();
                Ok(())
            }
            EngineRequest::CloseText => {
                self.editing = None;
                self.preview = None;
                Ok(())
            }
            EngineRequest::AllowPrograms => self.allow_programs(),
            EngineRequest::PlanOverlay => self.plan_overlay(),
            EngineRequest::Overlay => self.switch_overlay(),
            EngineRequest::LookAgain => {
                self.edge.run_again();
                self.take_news();
                self.note = "everything was read again".into();
                self.follow_overlay();
                Ok(())
            }
        };
        if let Err(refused) = done {
            self.playing = false;
            self.note = refused.0.into();
        }
    }

    /// One step of a run that plays by itself.
    pub fn play_on(&mut self) {
        if let Err(refused) = self.forward() {
            self.note = refused.0.into();
            self.playing = false;
        }
        let last = self.player.session().calls().len() as u32;
        let recorded = self.recording.is_some() && self.shown.is_some_and(|call| call.0 >= last);
        if self.player.ended() && self.shown.is_none() || recorded {
            self.playing = false;
        }
    }

    fn forward(&mut self) -> Result<(), Refused> {
        if let Some(call) = self.shown {
            let next = CallNo(call.0 + 1);
            self.shown = (next < self.player.session().next_call()).then_some(next);
            self.end_is_last();
            self.project();
            return Ok(());
        }
        // The forecast and the variants already hold this beat, unless a file has changed meanwhile.
        self.look();
        if self.player.next_line().is_none() {
            self.forget_ahead();
        }
        if !self.player.beat(&mut AsLoad(&mut *self.edge))? {
            self.note = "the script holds no further call".into();
        }
        self.end_is_last();
        self.project();
        Ok(())
    }

    /// Where nothing waits, the last call that was sent is what there is to look at.
    pub(super) fn end_is_last(&mut self) {
        let session = self.player.session();
        if self.shown.is_none() && session.prepared().is_none() && !session.calls().is_empty() {
            self.shown = Some(CallNo(session.calls().len() as u32));
        }
    }

    fn back(&mut self) {
        let here = self.shown.unwrap_or(self.player.session().next_call());
        let first = CallNo(1);
        if here > first {
            self.shown = Some(CallNo(here.0 - 1));
            self.project();
        }
    }

    pub(super) fn jump(&mut self, call: CallNo) -> Result<(), Refused> {
        while self.player.session().next_call() < call && !self.player.ended() {
            self.shown = None;
            self.forward()?;
        }
        let next = self.player.session().next_call();
        self.shown = (call < next).then_some(CallNo(call.0.max(1)));
        self.end_is_last();
        self.project();
        Ok(())
    }

    /// What files and folders say by now that a session has not seen yet.
    pub(super) fn unseen(&mut self, session: &Session) -> Vec<(FactKey, Found)> {
        let keys: Vec<FactKey> = session.watched().cloned().collect();
        let found = self.edge.load(&keys);
        self.news(session, found)
    }

    /// What of this is news to a session: not what it never asked for, and not what its run wrote.
    fn news(&self, session: &Session, mut found: Vec<(FactKey, Found)>) -> Vec<(FactKey, Found)> {
        found.retain(|(key, found)| {
            session.has_asked(key)
                && !session.knows(key, found)
                && !is_clock(key)
                && !self.edge.is_projected(key)
        });
        found
    }

    /// Looks again at every file, and says which of them somebody else has changed. True when something is not what it
    /// was.
    pub fn look(&mut self) -> bool {
        let before = std::mem::take(&mut self.note);
        self.changed_outside = None;
        let news = self.take_news();
        match self.changed_outside.take() {
            // What was said before, that a file was saved perhaps, is not about this.
            Some(said) => {
                let more = std::mem::take(&mut self.note);
                let gap = if more.is_empty() { "" } else { "; " };
                self.note = format!("{said}{gap}{more}").into();
            }
            None if self.note.is_empty() => self.note = before,
            None => {}
        }
        if news {
            self.follow_overlay();
        }
        news
    }

    /// The same without a word: whoever asks for it has something else to say.
    pub(super) fn take_news(&mut self) -> bool {
        if self.recording.is_some() {
            return self.read_on();
        }
        let text = self.look_at_text();
        let reloaded = self.edge.reload();
        let mut found = self.edge.changed();
        if !reloaded && found.is_empty() && self.broken.is_empty() {
            return text;
        }
        let own = found.iter().any(|(key, _)| is_bench_file(key));
        if reloaded || own || !self.broken.is_empty() {
            match self.edge.bench(&self.options.variants) {
                Err(problems) => {
                    self.broken = problems;
                    // What the workspace says has changed all the same; only the bench stays as it was.
                    found.retain(|(key, _)| !is_bench_file(key));
                    self.observe(found);
                    return true;
                }
                Ok((bench, warnings)) => {
                    let was_broken = !self.broken.is_empty();
                    self.broken.clear();
                    self.warnings = warnings;
                    if self.player.session().bench().source.rev != bench.source.rev {
                        self.changed_outside = Some(format!("{} was changed outside", bench.source.name));
                        self.bench_changed(bench);
                    }
                    if was_broken {
                        // What changed while something was broken was not taken: all of it is looked at again.
                        let keys: Vec<FactKey> = self.player.session().watched().cloned().collect();
                        found = self.edge.load(&keys);
                    }
                }
            }
        }
        self.observe(found);
        true
    }

    /// Takes what is news of this. Whichever player is on takes it; what is looked at stays where it is.
    pub(super) fn observe(&mut self, found: Vec<(FactKey, Found)>) {
        let found = self.news(self.player.session(), found);
        if found.is_empty() {
            return;
        }
        self.changed_outside = changed_outside(&found);
        self.list_folders();
        if self.begins_with(&found) {
            return;
        }
        if let Err(refused) = self.player.input(observed(found), &mut AsLoad(&mut *self.edge)) {
            self.note = refused.0.into();
        }
        self.forget_ahead();
        self.project();
    }

    /// The CWD that is meant by what was typed: relative to that of the shown call.
    pub(super) fn resolved(&self, typed: &str) -> String {
        let session = self.player.session();
        let fact = |name: &str| session.fact(name).map(|(value, _)| value.to_string()).unwrap_or_default();
        let shown = self.shown.and_then(|call| super::publish::record(session, call));
        let cwd = shown.map_or_else(|| fact("cwd"), |record| record.cwd.to_string());
        resolve(&cwd, typed.trim(), &fact("home"))
    }

    fn preview_cwd(&mut self, typed: &Arc<str>) -> Result<(), Refused> {
        let mut ahead = match self.shown {
            Some(call) if self.player.session().prepared().is_some() => self.branch_from(call)?,
            _ => self.player.clone(),
        };
        let value = self.resolved(typed);
        ahead.input(
            Input::Set([("cwd".into(), Value::text(value))].into_iter().collect()),
            &mut AsLoad(&mut *self.edge),
        )?;
        self.preview = Some(Preview { typed: Some(typed.clone()), fix: None, player: ahead, ahead: None });
        Ok(())
    }

    fn list_folders(&mut self) {
        let session = self.player.session();
        let root = session.fact("workspace").map(|(value, _)| value.to_string()).unwrap_or_default();
        let root = root.trim_end_matches('/').to_owned();
        let folders = std::iter::once(Arc::from(if root.is_empty() { "/" } else { &*root }))
            .chain(self.edge.folders().into_iter().map(|folder| Arc::from(format!("{root}/{folder}"))));
        self.folders = folders.collect();
    }

    /// A scratch copy's files follow the step that is shown.
    pub(super) fn project(&mut self) {
        let session = self.player.session();
        let shown = self.shown.unwrap_or(session.next_call());
        let mut files: Vec<_> =
            session.written(shown).map(|(path, text)| (path.clone(), text.cloned())).collect();
        // A request that still waits has its file already: it is what the agent would be started with.
        for (path, text) in session.place_files(shown) {
            match files.iter_mut().find(|(written, _)| *written == path) {
                Some(file) => file.1 = text,
                None => files.push((path, text)),
            }
        }
        self.edge.project(&files);
    }

    pub(super) fn forget_ahead(&mut self) {
        self.linted = None;
        self.ahead = None;
        self.fixes = None;
        self.preview.take_if(|preview| preview.fix.is_some());
        if !self.ways.is_empty() {
            self.old_ways = std::mem::take(&mut self.ways);
        }
        self.ways_left = None;
        self.forget_comparison();
        self.trying = None;
        self.way_preview = None;
    }

    pub(super) fn forget_sent(&mut self) {
        self.sent = Numbers::new(self.models.clone(), [Lane::AsSent]);
        self.forget_ahead();
    }

    /// The vocabulary in which the model's tokens are counted.
    #[must_use]
    pub fn encoding(&self) -> Option<Encoding> {
        self.models.get(&self.player.session().model()).method.encoding()
    }

    /// True when counting needs no loading first.
    #[must_use]
    pub fn can_count(&self) -> bool {
        self.encoding().is_none_or(Encoding::is_loaded)
    }

    /// Works out one thing more of what takes its time: first what somebody waits for who looks at it. False when nothing
    /// is left to do.
    pub fn work(&mut self) -> bool {
        self.work_on_comparison()
            || self.work_on_what_if()
            || self.work_on_lints()
            || self.work_on_ways()
            || self.work_on_fixes()
    }

    /// Works on the table of variants: one of them. False when there is nothing left to do.
    fn work_on_ways(&mut self) -> bool {
        let names = self.edge.ways();
        if names.is_empty() || !self.can_count() {
            return false;
        }
        let base = self.options.variants.clone();
        if self.ways_left.is_none() {
            let mut left = ways::singles(&names);
            if base.len() > 1 {
                left.push(base);
            }
            left.reverse();
            self.ways_left = Some(left);
        }
        if let Some(variants) = self.ways_left.as_mut().and_then(Vec::pop) {
            let way = ways::run(
                &self.player,
                &variants,
                &self.options,
                &mut *self.edge,
                &self.models,
                &mut self.counters,
            );
            self.ways.push(way);
            if self.ways_left.as_ref().is_some_and(Vec::is_empty) {
                let calls = self.player.session().calls().len() as u32;
                let mut pairs = ways::pairs(&self.ways, calls);
                pairs.retain(|pair| !self.ways.iter().any(|way| way.variants == *pair));
                pairs.reverse();
                self.ways_left = Some(pairs);
            }
            return true;
        }
        false
    }
}

/// The time is another one at each look.
fn is_clock(key: &FactKey) -> bool {
    matches!(key, FactKey::Environment(name) if &**name == "now")
}

pub(super) fn is_bench_file(key: &FactKey) -> bool {
    matches!(key, FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) if path.base == Base::Bench)
}

/// Which files of these somebody else has changed; none where they are no files.
fn changed_outside(found: &[(FactKey, Found)]) -> Option<String> {
    let files = |key: &FactKey| matches!(key, FactKey::File(_) | FactKey::Data(_) | FactKey::Document(_));
    let mut names: Vec<String> =
        found.iter().filter(|(key, _)| files(key)).map(|(key, _)| key.to_string()).collect();
    names.dedup();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("{one} was changed outside")),
        [one, rest @ ..] => Some(format!("{one} and {} more were changed outside", rest.len())),
    }
}

/// What was found, as something that happened.
pub(super) fn observed(found: Vec<(FactKey, Found)>) -> Input {
    // The listing of a folder changes with its files, which say more.
    let files = |key: &FactKey| matches!(key, FactKey::File(_) | FactKey::Data(_) | FactKey::Document(_));
    let mut names: Vec<String> =
        found.iter().filter(|(key, _)| files(key)).map(|(key, _)| key.to_string()).collect();
    names.dedup();
    let others = || found.iter().map(|(key, _)| key.to_string());
    let by = match names.as_slice() {
        [] => match found.first() {
            Some((FactKey::Command(command), _)) => format!("another run of {command}"),
            _ => format!("a change of {}", others().next().unwrap_or_default()),
        },
        [one] => format!("the edit of {one}"),
        [one, rest @ ..] => format!("the edit of {one} and {} more", rest.len()),
    };
    Input::Observed { found, by: by.into() }
}

/// The bench with what the command line or the user chose over it.
pub(super) fn adjusted(bench: Arc<Bench>, options: &Options) -> Arc<Bench> {
    if options.model.is_none() && options.now.is_none() {
        return bench;
    }
    let mut bench = Arc::unwrap_or_clone(bench);
    if let Some(model) = &options.model {
        bench.model = model.clone();
    }
    if let Some(now) = &options.now {
        bench.workspace.clock = Some(now.clone());
    }
    Arc::new(bench)
}
