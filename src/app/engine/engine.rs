//! Owns the session and its branches, does what is asked, and describes the result.

use std::sync::Arc;

use super::edge::Edge;
use super::info;
use super::numbers::{Counters, Numbers, paid, with_labels};
use super::publish::{self, Shown};
use super::ways::{self, AsLoad, Way};
use crate::app::effect::EngineRequest;
use crate::app::snapshot::{
    CallState, Choices, Draft, Pause, Snapshot, Status, Title, Tone, VariantChoice, VerdictLine, Ways,
};
use crate::core::bench::Bench;
use crate::core::cache::{Lane, Models};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Base, FactKey, Found, Name, Value};
use crate::core::run::{Answer, Input, Player, Refused, Session, resolve};
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
    edge: Box<dyn Edge>,
    models: Arc<Models>,
    options: Options,
    player: Player,
    /// The other branches, in order: what a change at an earlier call left behind.
    others: Vec<Player>,
    /// The place of the branch that is on among all of them.
    branch: usize,
    /// The call that is looked at; none for the one that waits.
    shown: Option<CallNo>,
    /// The effect of a CWD that is typed.
    preview: Option<(Arc<str>, Player)>,
    playing: bool,
    /// What is wrong with files that were good before.
    broken: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    note: Arc<str>,
    watching: Arc<str>,
    counters: Counters,
    /// The numbers of the calls that were sent.
    sent: Numbers,
    ahead: Option<(Player, Option<Numbers>)>,
    ways: Vec<Way>,
    ways_left: Option<Vec<Vec<Name>>>,
    generation: u64,
    folders: Arc<[Arc<str>]>,
}

/// How far a snapshot goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// What can be said without counting, unless the vocabulary is loaded.
    Text,
    /// Tokens and the cache of what was sent, waits and is forecast.
    Numbers,
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
        let player = Player::start(bench, options.run.as_deref(), &mut AsLoad(&mut *edge))
            .map_err(|refused| vec![Diagnostic::error(refused.0)])?;
        let sent = Numbers::new(models.clone(), [Lane::AsSent]);
        let folders = Arc::default();
        let mut engine = Engine {
            edge,
            models,
            options,
            player,
            others: Vec::new(),
            branch: 0,
            shown: None,
            preview: None,
            playing: false,
            broken: Vec::new(),
            warnings,
            note: "".into(),
            watching: "".into(),
            counters: Counters::default(),
            sent,
            ahead: None,
            ways: Vec::new(),
            ways_left: None,
            generation: 0,
            folders,
        };
        engine.list_folders();
        Ok(engine)
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
        let done = match request {
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
            EngineRequest::CancelPreview => {
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
            EngineRequest::LookAgain => {
                self.look();
                self.note = "everything was read again".into();
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
        if self.player.ended() && self.shown.is_none() {
            self.playing = false;
        }
    }

    fn forward(&mut self) -> Result<(), Refused> {
        if let Some(call) = self.shown {
            let next = CallNo(call.0 + 1);
            self.shown = (next < self.player.session().next_call()).then_some(next);
            self.end_is_last();
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
    fn end_is_last(&mut self) {
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
        }
    }

    fn jump(&mut self, call: CallNo) -> Result<(), Refused> {
        while self.player.session().next_call() < call && !self.player.ended() {
            self.shown = None;
            self.forward()?;
        }
        let next = self.player.session().next_call();
        self.shown = (call < next).then_some(CallNo(call.0.max(1)));
        self.end_is_last();
        Ok(())
    }

    /// Something happens by the user's hand. Where an earlier call is looked at, a branch begins there.
    fn live(&mut self, input: Input) -> Result<(), Refused> {
        let ended = self.player.session().prepared().is_none();
        if let Some(call) = self
            .shown
            .filter(|_| !ended || self.shown != Some(CallNo(self.player.session().calls().len() as u32)))
        {
            let branch = self.player.branch(call, &mut AsLoad(&mut *self.edge))?;
            let old = std::mem::replace(&mut self.player, branch);
            self.others.insert(self.branch, old);
            self.branch = self.others.len();
            self.shown = None;
            self.forget_sent();
            self.note = format!("a branch from call {}; the other stays as it was", call.0).into();
        }
        self.player.input(input, &mut AsLoad(&mut *self.edge))?;
        if !ended {
            self.shown = None;
        }
        self.forget_ahead();
        Ok(())
    }

    /// Looks again at every file. True when something is not what it was.
    pub fn look(&mut self) -> bool {
        let reloaded = self.edge.reload();
        let mut found = self.edge.changed();
        if !reloaded && found.is_empty() && self.broken.is_empty() {
            return false;
        }
        let own = found.iter().any(|(key, _)| is_bench_file(key));
        if reloaded || own || !self.broken.is_empty() {
            match self.edge.bench(&self.options.variants) {
                Err(problems) => {
                    self.broken = problems;
                    // What the workspace says has changed all the same; only the bench stays as it was.
                    self.observe(found.into_iter().filter(|(key, _)| !is_bench_file(key)).collect());
                    return true;
                }
                Ok((bench, warnings)) => {
                    if !self.broken.is_empty() {
                        // What changed while something was broken was not taken: all of it is looked at again.
                        self.broken.clear();
                        let keys: Vec<FactKey> = self.player.session().watched().cloned().collect();
                        found = self.edge.load(&keys);
                        let session = self.player.session();
                        found.retain(|(key, found)| !session.knows(key, found) && !is_clock(key));
                    }
                    self.warnings = warnings;
                    if reloaded || self.player.session().bench().source.rev != bench.source.rev {
                        self.rebuild(bench);
                    }
                }
            }
        }
        self.observe(found);
        true
    }

    fn observe(&mut self, found: Vec<(FactKey, Found)>) {
        if found.is_empty() {
            return;
        }
        self.list_folders();
        let mut names: Vec<String> = found
            .iter()
            .filter(|(key, _)| !matches!(key, FactKey::Glob(_) | FactKey::Git(_)))
            .map(|(key, _)| key.to_string())
            .collect();
        names.dedup();
        let by = match names.as_slice() {
            [] => format!("a change of {}", found[0].0),
            [one] => format!("the edit of {one}"),
            [one, rest @ ..] => format!("the edit of {one} and {} more", rest.len()),
        };
        // Taken by whichever player is on; what is looked at stays where it is.
        if let Err(refused) =
            self.player.input(Input::Observed { found, by: by.into() }, &mut AsLoad(&mut *self.edge))
        {
            self.note = refused.0.into();
        }
        self.forget_ahead();
    }

    /// The same run on another bench, as far as it had come.
    fn rebuild(&mut self, bench: Arc<Bench>) {
        let bench = adjusted(bench, &self.options);
        match self.player.rebuild(bench, self.player.session().next_call(), &mut AsLoad(&mut *self.edge)) {
            Ok(player) => {
                self.player = player;
                let next = self.player.session().next_call();
                self.shown = self.shown.filter(|call| *call < next);
                self.end_is_last();
            }
            Err(refused) => self.note = refused.0.into(),
        }
        self.forget_sent();
    }

    fn choose_variants(&mut self, variants: Vec<Name>) -> Result<(), Refused> {
        match self.edge.bench(&variants) {
            Ok((bench, warnings)) => {
                self.options.variants = variants;
                self.warnings = warnings;
                self.rebuild_keeping_ways(bench);
                Ok(())
            }
            Err(problems) => {
                Err(Refused(problems.first().map_or_else(String::new, |problem| problem.message.clone())))
            }
        }
    }

    /// The ways are the same whichever of them is on.
    fn rebuild_keeping_ways(&mut self, bench: Arc<Bench>) {
        let (ways, left) = (std::mem::take(&mut self.ways), self.ways_left.take());
        self.rebuild(bench);
        self.ways = ways;
        self.ways_left = left;
    }

    fn choose_model(&mut self, model: Name) -> Result<(), Refused> {
        let sent = self.player.session().calls().len();
        let opened = usize::from(self.player.session().bench().sent_on_open);
        if sent <= opened {
            self.options.model = Some(model);
            let bench = self.player.session().bench().clone();
            self.rebuild(bench);
            return Ok(());
        }
        // In the middle of a run it is a switch, and its price shows.
        self.live(Input::Model(model))
    }

    /// Goes on with the next branch; behind the last comes the first.
    fn next_branch(&mut self) {
        if self.others.is_empty() {
            return;
        }
        let next = (self.branch + 1) % (self.others.len() + 1);
        // Without the one that is on, what stands at or behind its place is one nearer.
        let at = if next > self.branch { next - 1 } else { next };
        let player = self.others.remove(at);
        let old = std::mem::replace(&mut self.player, player);
        let place = if next > self.branch { self.branch } else { self.others.len() };
        self.others.insert(place, old);
        self.branch = next;
        self.shown = None;
        self.end_is_last();
        self.forget_sent();
        // What files say by now, this branch has not seen yet.
        let keys: Vec<FactKey> = self.player.session().watched().cloned().collect();
        let found = self.edge.load(&keys);
        let session = self.player.session();
        let found =
            found.into_iter().filter(|(key, found)| !session.knows(key, found) && !is_clock(key)).collect();
        self.observe(found);
        self.project();
    }

    fn choose_run(&mut self, run: Name) -> Result<(), Refused> {
        let bench = self.player.session().bench().clone();
        self.player = Player::start(bench, Some(&run), &mut AsLoad(&mut *self.edge))?;
        self.options.run = Some(run);
        self.shown = None;
        self.others.clear();
        self.branch = 0;
        self.forget_sent();
        self.project();
        Ok(())
    }

    fn resolved(&self, typed: &str) -> String {
        let fact = |name: &str| {
            self.player.session().fact(name).map(|(value, _)| value.to_string()).unwrap_or_default()
        };
        resolve(&fact("cwd"), typed.trim(), &fact("home"))
    }

    fn preview_cwd(&mut self, typed: &Arc<str>) -> Result<(), Refused> {
        let mut ahead = match self.shown {
            Some(call) if self.player.session().prepared().is_some() => {
                self.player.branch(call, &mut AsLoad(&mut *self.edge))?
            }
            _ => self.player.clone(),
        };
        let value = self.resolved(typed);
        ahead.input(
            Input::Set([("cwd".into(), Value::text(value))].into_iter().collect()),
            &mut AsLoad(&mut *self.edge),
        )?;
        self.preview = Some((typed.clone(), ahead));
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
    fn project(&mut self) {
        let files: Vec<_> =
            self.player.session().written().map(|(path, text)| (path.clone(), text.cloned())).collect();
        self.edge.project(&files);
    }

    fn forget_ahead(&mut self) {
        self.ahead = None;
        self.ways.clear();
        self.ways_left = None;
    }

    fn forget_sent(&mut self) {
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

    /// Works on the table of variants: one of them. False when there is nothing left to do.
    pub fn work_on_ways(&mut self) -> bool {
        let names = self.edge.variants();
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
            let way = ways::run(&self.player, &variants, &mut *self.edge, &self.models, &mut self.counters);
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

    /// Describes the session as it is now.
    pub fn snapshot(&mut self, depth: Depth) -> Snapshot {
        self.generation += 1;
        let counts = depth == Depth::Numbers || self.can_count();
        if counts {
            self.sent.extend(self.player.session(), false, &mut self.counters);
        }
        if self.preview.is_none() && self.ahead.is_none() {
            let ahead = self.player.forecast(&mut AsLoad(&mut *self.edge));
            self.ahead = Some((ahead, None));
        }
        let numbers = counts.then(|| {
            let mut numbers = self.sent.clone();
            match (&self.preview, &mut self.ahead) {
                (Some((_, ahead)), _) => {
                    let ahead = ahead.forecast(&mut AsLoad(&mut *self.edge));
                    numbers.extend(ahead.session(), true, &mut self.counters);
                    numbers
                }
                (None, Some((ahead, known))) => known
                    .get_or_insert_with(|| {
                        numbers.extend(ahead.session(), true, &mut self.counters);
                        numbers
                    })
                    .clone(),
                (None, None) => numbers,
            }
        });
        let previewed = self.preview.as_ref().map(|(_, player)| player.clone());
        let ahead = match &previewed {
            Some(player) => Some(player.forecast(&mut AsLoad(&mut *self.edge))),
            None => self.ahead.as_ref().map(|(ahead, _)| ahead.clone()),
        };
        let player = previewed.as_ref().unwrap_or(&self.player);
        let session = player.session();
        let shown_call = match (&previewed, self.shown) {
            (None, Some(call)) => call,
            _ => session.next_call(),
        };
        let record = publish::record(session, shown_call);
        let request = record.and_then(|record| session.request(record.call));
        let before_record = record.and_then(|record| publish::before(session, record));
        let before_request = before_record.and_then(|record| session.request(record.call));
        let model = self.models.get(&record.map_or_else(|| session.model(), |record| record.model.clone()));
        let encoding = model.method.encoding().filter(|_| counts);

        let mut snapshot = Snapshot { generation: self.generation, ..Snapshot::default() };
        snapshot.agent = info::agent(session, record);
        snapshot.model = info::model(session.bench(), &model);
        let ahead_session = ahead.as_ref().map(Player::session);
        if let (Some(record), Some(request)) = (record, request.as_ref()) {
            let shown =
                Shown { session, record, request, before: before_record.zip(before_request.as_ref()) };
            let mut measure =
                encoding.map(|encoding| model.method.measure(Reborrow(&mut self.counters, encoding)));
            snapshot.layers = publish::layer_table(
                &shown,
                measure.as_mut().map(|m| m as &mut dyn crate::core::tokens::Measure),
            );
            snapshot.request = publish::request_view(
                &shown,
                measure.as_mut().map(|m| m as &mut dyn crate::core::tokens::Measure),
            );
            snapshot.why = publish::why(&shown);
        }
        let mut measure =
            encoding.map(|encoding| model.method.measure(Reborrow(&mut self.counters, encoding)));
        snapshot.calls = publish::call_table(
            session,
            ahead_session,
            record.map(|record| record.call),
            |call| numbers.as_ref()?.outcome(call, 0).map(paid),
            measure.as_mut().map(|m| m as &mut dyn crate::core::tokens::Measure),
        );
        snapshot.calls.write_fee =
            snapshot.calls.rows.iter().any(|row| row.paid.as_ref().is_some_and(|paid| paid.write.is_some()));
        self.say_verdict(
            &mut snapshot,
            session,
            ahead_session,
            numbers.as_ref(),
            record.map(|record| record.call),
        );
        snapshot.title = self.title(&snapshot, player);
        snapshot.why.ways = self.ways_table(&snapshot);
        snapshot.broken = !self.broken.is_empty();
        snapshot.diagnostics = self.broken.iter().chain(&self.warnings).cloned().collect();
        if let Some(record) = record {
            snapshot.diagnostics.extend(record.diagnostics.iter().map(|diagnostic| (**diagnostic).clone()));
        }
        snapshot.diagnostics.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
        let estimate = snapshot.model.tokens.estimate.is_some();
        snapshot.status = Status {
            watching: self.watching.clone(),
            estimates: if estimate {
                snapshot.calls.rows.iter().filter(|row| row.paid.is_some()).count() as u32
            } else {
                0
            },
            note: self.note.clone(),
            counting: !counts,
            playing: self.playing,
        };
        snapshot.choices = Choices {
            variants: self
                .edge
                .variants()
                .into_iter()
                .map(|name| VariantChoice { on: self.options.variants.contains(&name), name })
                .collect(),
            models: info::models(&self.models, &snapshot.model.id),
            runs: info::runs(session.bench(), player.run()),
            folders: self.folders.clone(),
        };
        if let Some((typed, _)) = &self.preview {
            snapshot.draft = Some(self.draft(typed, &snapshot));
        }
        snapshot
    }

    fn draft(&self, typed: &Arc<str>, snapshot: &Snapshot) -> Draft {
        let value: Arc<str> = self.resolved(typed).into();
        let effect = match (snapshot.why.pending.first(), snapshot.verdict.first()) {
            (Some(pending), _) => format!("{} {}", pending.layer, pending.waits),
            (None, Some(verdict)) => format!("{} {}", verdict.label, verdict.text),
            (None, None) => String::new(),
        };
        let known = self.folders.iter().any(|folder| *folder == value);
        let problem =
            (!known && !self.folders.is_empty()).then(|| Arc::from("no such folder in the workspace"));
        Draft { typed: typed.clone(), value, effect: effect.into(), problem }
    }

    fn title(&self, snapshot: &Snapshot, player: &Player) -> Title {
        let session = player.session();
        let bench = session.bench();
        let rows = &snapshot.calls.rows;
        let shown = snapshot.calls.shown.map(|index| &rows[index]);
        let pause = match shown {
            None => Pause::Start,
            Some(row) if row.state == CallState::Next => Pause::Before(row.no),
            Some(row) if session.prepared().is_none() && Some(row.no) == rows.last().map(|row| row.no) => {
                Pause::End(row.no)
            }
            Some(row) => Pause::Looking(row.no),
        };
        Title {
            name: bench.title.clone().unwrap_or_else(|| bench.name.clone()),
            note: self.edge.note(),
            run: player.run().cloned(),
            branch: (!self.others.is_empty()).then(|| (self.branch as u32 + 1, self.others.len() as u32 + 1)),
            turn: shown.map_or(0, |row| row.turn),
            turns: rows.iter().filter(|row| row.agent.is_none()).map(|row| row.turn).max().unwrap_or(0),
            pause,
            calls: rows.len() as u32,
        }
    }

    fn ways_table(&self, snapshot: &Snapshot) -> Ways {
        let names = self.edge.variants();
        if names.is_empty() {
            return Ways::default();
        }
        let calls = snapshot.calls.rows.len() as u32;
        let done = self.ways_left.as_ref().is_some_and(Vec::is_empty);
        Ways { calls, rows: ways::rows(&names, &self.ways, &self.options.variants, done), notes: Vec::new() }
    }

    fn say_verdict(
        &self,
        snapshot: &mut Snapshot,
        session: &Session,
        ahead: Option<&Session>,
        numbers: Option<&Numbers>,
        shown: Option<CallNo>,
    ) {
        let (Some(numbers), Some(call)) = (numbers, shown) else { return };
        let failed = session.calls().get(call.0 as usize - 1).and_then(|record| match &record.answer {
            Some(Answer::Failed(reason)) => Some(reason.clone()),
            _ => None,
        });
        if let Some(reason) = failed {
            let text = format!("failed: {reason}. Nothing was told; the next call tells it again.");
            snapshot.verdict.push(VerdictLine {
                label: format!("CALL {}", call.0).into(),
                text: text.into(),
                short: None,
                tone: Tone::Bad,
            });
        }
        let strip = |call: CallNo, sentence: String| match sentence.strip_prefix(&format!("call {} ", call.0))
        {
            Some(rest) => rest.to_owned(),
            None => sentence,
        };
        if let Some(outcome) = numbers.outcome(call, 0) {
            let (text, short) =
                with_labels(session, |labels| (outcome.sentence(labels), outcome.short(labels)));
            let (text, short) = (strip(call, text), strip(call, short));
            let bad = outcome.lost().is_some_and(|lost| lost > 0) || outcome.verdict.is_break();
            let tone = if bad { Tone::Bad } else { Tone::Good };
            let short = (short != text).then(|| Arc::from(short));
            snapshot.verdict.push(VerdictLine {
                label: format!("CALL {}", call.0).into(),
                text: text.into(),
                short,
                tone,
            });
            for behind in &outcome.behind {
                let clause = with_labels(session, |labels| behind.blame.clause(labels));
                let text = format!(
                    "{clause}; with only the first fixed, {} would still be lost.",
                    crate::core::cache::Thousands(behind.still_lost)
                );
                snapshot.verdict.push(VerdictLine {
                    label: "BEHIND".into(),
                    text: text.into(),
                    short: None,
                    tone: Tone::Bad,
                });
            }
        }
        let Some(ahead) = ahead else { return };
        let breaks: Vec<_> = (call.0 + 1..=numbers.calls() as u32)
            .filter_map(|call| numbers.outcome(CallNo(call), 0))
            .filter(|outcome| outcome.lost().is_some_and(|lost| lost > 0))
            .collect();
        let held = (numbers.calls() as u32).saturating_sub(call.0);
        let line = match breaks.first() {
            _ if held == 0 => return,
            None => VerdictLine {
                label: "AHEAD".into(),
                text: format!(
                    "no break in the {held} call{} that the script still holds.",
                    if held == 1 { "" } else { "s" }
                )
                .into(),
                short: None,
                tone: Tone::Good,
            },
            Some(first) => {
                let lost: u64 = breaks.iter().filter_map(|outcome| outcome.lost()).map(u64::from).sum();
                let (text, short) =
                    with_labels(ahead, |labels| (first.sentence(labels), first.short(labels)));
                let count = breaks.len();
                let lost = crate::core::cache::Thousands(u32::try_from(lost).unwrap_or(u32::MAX));
                VerdictLine {
                    label: "AHEAD".into(),
                    text: format!(
                        "{count} break{}, {lost} tokens paid again: {text}",
                        if count == 1 { "" } else { "s" }
                    )
                    .into(),
                    short: Some(short.into()),
                    tone: Tone::Bad,
                }
            }
        };
        snapshot.verdict.push(line);
    }
}

/// The counter of one vocabulary, borrowed for a while.
struct Reborrow<'a>(&'a mut Counters, Encoding);

impl crate::core::tokens::Measure for Reborrow<'_> {
    fn tokens(&mut self, text: &Arc<str>) -> u32 {
        crate::core::cache::Measures::of(self.0, self.1).tokens(text)
    }
    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32 {
        crate::core::cache::Measures::of(self.0, self.1).tokens_before(text, byte)
    }
    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32 {
        crate::core::cache::Measures::of(self.0, self.1).shared(a, b)
    }
}

/// The time is another one at each look.
fn is_clock(key: &FactKey) -> bool {
    matches!(key, FactKey::Environment(name) if &**name == "now")
}

fn is_bench_file(key: &FactKey) -> bool {
    matches!(key, FactKey::File(path) | FactKey::Data(path) | FactKey::Document(path) if path.base == Base::Bench)
}

/// The bench with what the command line or the user chose over it.
fn adjusted(bench: Arc<Bench>, options: &Options) -> Arc<Bench> {
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
