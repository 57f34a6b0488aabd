//! Plays a scripted run on a session, with what happens live in between, and runs ahead in copies.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::input::{Input, ScriptLine};
use super::record::Happened;
use super::script::AsRun;
use super::session::{Refused, Session};
use crate::core::bench::Bench;
use crate::core::diagnostic::Position;
use crate::core::fact::{EventId, FactKey, Found, Name, Progress};
use crate::core::wire::CallNo;

/// Supplies the facts that a session needs; the edge's side of [`Progress::Needs`].
pub trait Load {
    /// What is found under each key.
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)>;
}

/// First what was known then, and the edge only for what nobody had asked for.
struct Known<'a> {
    then: &'a Session,
    edge: &'a mut dyn Load,
}

impl Load for Known<'_> {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            keys.iter().partition(|key| self.then.first_supplied(key).is_some());
        let mut found: Vec<(FactKey, Found)> = known
            .iter()
            .filter_map(|key| Some(((*key).clone(), self.then.first_supplied(key)?.clone())))
            .collect();
        if !unknown.is_empty() {
            found.extend(self.edge.load(&unknown.into_iter().cloned().collect::<Vec<_>>()));
        }
        found
    }
}

/// A session with the script that it plays.
///
/// It always stands before a line that answers a request, or behind the last line: everything else on the way (what
/// the user says, captions, edits) has happened by then, so that it shows in the request that waits.
///
/// Behind the script, without one, or in the middle of it, a hand can go on: it says what the user says and plays the
/// model. From then on the run is free, and what the script still holds is not played.
#[derive(Clone, Debug)]
pub struct Player {
    session: Session,
    run: Option<Name>,
    script: Arc<[ScriptLine]>,
    next: usize,
    /// True from when a hand spoke for the user or the model.
    free: bool,
    /// So many lines of the script are played at most: of a run that is played again, as many as before a hand left it.
    most: usize,
    /// While a run is played again: it ends before the user's message that leads to this call.
    unsaid: Option<CallNo>,
    /// The bench that the run began with.
    first: Arc<Bench>,
    /// The lines of the script that were played, by the number of the step that each was.
    played: BTreeMap<usize, Position>,
    /// What happened live, and before which call.
    live: Vec<(CallNo, Live)>,
}

/// Something that happened live.
#[derive(Clone, Debug)]
enum Live {
    /// An input.
    Input(Arc<Input>),
    /// The bench became another one, by this event, which changed these layers.
    Bench(Arc<Bench>, Name, Arc<[Name]>),
}

impl Live {
    /// True where somebody changed the bench or what lies around it.
    fn is_edit(&self) -> bool {
        match self {
            Live::Bench(..) => true,
            Live::Input(input) => matches!(**input, Input::Observed { .. }),
        }
    }

    /// True for what ends a model call.
    fn answers(&self) -> bool {
        matches!(self, Live::Input(input) if input.answers())
    }

    /// True for what the user says.
    fn is_said(&self) -> bool {
        matches!(self, Live::Input(input) if matches!(**input, Input::User(_)))
    }
}

/// True for what leaves the script: somebody else than it speaks for the user or the model. A call that fails is sent
/// again, and the script's answer is still to come.
fn leaves_script(input: &Input) -> bool {
    matches!(
        input,
        Input::User(_)
            | Input::Call { .. }
            | Input::Say(_)
            | Input::StartAgent { .. }
            | Input::EndAgent
            | Input::Session(_)
            | Input::TakeBack
    )
}

impl Player {
    /// Opens a bench and plays up to the first request. `run` none means the first run of the bench; a bench without
    /// runs sends the same conversation again and again.
    ///
    /// # Errors
    ///
    /// When there is no run of this name, or the script does something that cannot happen.
    pub fn start(bench: Arc<Bench>, run: Option<&str>, load: &mut dyn Load) -> Result<Player, Refused> {
        let (run, script) = chosen(&bench, run)?;
        Player::begin(bench, (run, script, usize::MAX), None, load)
    }

    /// Plays up to the first request, or up to where the user says what leads to the call `unsaid`; of the script, so many
    /// lines at most.
    fn begin(
        bench: Arc<Bench>,
        (run, script, most): (Option<Name>, Arc<[ScriptLine]>, usize),
        unsaid: Option<CallNo>,
        load: &mut dyn Load,
    ) -> Result<Player, Refused> {
        let sent_on_open = bench.sent_on_open;
        let mut player = Player {
            session: Session::new(bench.clone()),
            run,
            script,
            next: 0,
            free: false,
            most,
            unsaid,
            first: bench,
            played: BTreeMap::new(),
            live: Vec::new(),
        };
        if player.script.is_empty() {
            player.take(Input::User("".into()), load)?;
            if sent_on_open {
                player.take(Input::Sent, load)?;
            }
        }
        player.advance(load)?;
        Ok(player)
    }

    /// A session that was recorded: there is no script, and nothing more comes of itself.
    #[must_use]
    pub fn recorded(session: Session) -> Player {
        let first = session.bench().clone();
        Player {
            session,
            run: None,
            script: Arc::default(),
            next: 0,
            free: false,
            most: usize::MAX,
            unsaid: None,
            first,
            played: BTreeMap::new(),
            live: Vec::new(),
        }
    }

    /// Adds a call to a session that was recorded.
    pub fn record(&mut self, recorded: super::recorded::Recorded) {
        self.session.record(recorded);
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The run that is played; none where the bench has none.
    #[must_use]
    pub fn run(&self) -> Option<&Name> {
        self.run.as_ref()
    }

    /// The line of the script that answers the request that waits; none at the end, and in a free run.
    #[must_use]
    pub fn next_line(&self) -> Option<&ScriptLine> {
        self.script.get(self.next).filter(|_| !self.free && self.next < self.most)
    }

    /// True when nobody but a hand goes on: the script holds no further call, or was left. A bench without runs, in which
    /// nothing was said yet, never ends.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.free || !self.script.is_empty() && self.next >= self.script.len().min(self.most)
    }

    /// True from when a hand spoke for the user or the model: what the script still held is not played.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.free
    }

    /// Sends the request that waits, with the answer that the script holds, and plays up to the next. False at the
    /// end of the script.
    ///
    /// # Errors
    ///
    /// When the script does something that cannot happen; the session stands before that line.
    pub fn beat(&mut self, load: &mut dyn Load) -> Result<bool, Refused> {
        if self.ended() {
            return Ok(false);
        }
        if self.script.is_empty() {
            self.take(Input::Sent, load)?;
            return Ok(true);
        }
        self.play(load)?;
        self.advance(load)?;
        Ok(true)
    }

    /// Something happens live: before the request that waits, or as the answer to it. Whoever speaks for the user or the
    /// model leaves the script.
    ///
    /// # Errors
    ///
    /// When it cannot happen now.
    pub fn input(&mut self, input: Input, load: &mut dyn Load) -> Result<(), Refused> {
        let before = self.session.next_call();
        let live = Live::Input(Arc::new(input));
        self.go_on(&live, load)?;
        self.live.push((before, live));
        Ok(())
    }

    /// What happened so far, as a run of a bench.
    #[must_use]
    pub fn as_run(&self) -> AsRun {
        AsRun::of(self.session.inputs(), self.run.is_none())
    }

    /// What happened so far is a run of its bench from now on, under this name, and nothing is played again. Of what
    /// happened live only that is kept beside it which no run can hold. Where calls were sent that are not in the run, the
    /// two would not agree on numbers of calls: then nothing changes.
    pub fn becomes(&mut self, run: &Name, script: &Arc<[ScriptLine]>) {
        let answers = script.iter().filter(|line| line.input.answers()).count();
        if answers != self.session.calls().len() {
            return;
        }
        (self.run, self.script, self.next) = (Some(run.clone()), script.clone(), script.len());
        (self.free, self.most) = (false, usize::MAX);
        self.live.retain(|(_, live)| !matches!(live, Live::Input(input) if input.is_line()));
        // Whoever goes back to an earlier call begins with the run, too.
        Arc::make_mut(&mut self.first).runs.insert(run.clone(), script.clone());
        self.played.clear();
        let mut lines = script.iter().peekable();
        for (step, taken) in self.session.steps().enumerate() {
            let Happened::Input(input) = &taken.what else { continue };
            if let Some(line) = lines.next_if(|line| line.input == **input) {
                self.played.insert(step, line.at);
            }
        }
    }

    /// The bench becomes another one, before the request that waits; what was sent stays. `by` names the event and
    /// `layers` those that it changed, see [`Session::rebench`].
    ///
    /// # Errors
    ///
    /// When a fact that is needed cannot be had.
    pub fn rebench(
        &mut self,
        bench: Arc<Bench>,
        by: Name,
        layers: Arc<[Name]>,
        load: &mut dyn Load,
    ) -> Result<(), Refused> {
        let before = self.session.next_call();
        self.go_on(&Live::Bench(bench.clone(), by.clone(), layers.clone()), load)?;
        self.live.push((before, Live::Bench(bench, by, layers)));
        Ok(())
    }

    /// Whether the run can go on with another bench: what was played stays, and what comes is that bench's.
    ///
    /// # Errors
    ///
    /// Why it cannot: the bench says otherwise what has happened already. One clause, lower case, without a full stop.
    pub fn goes_on_with(&self, bench: &Bench) -> Result<(), String> {
        let old = self.session.bench();
        if old.workspace != bench.workspace {
            return Err("the workspace is another one".into());
        }
        if old.agent.get("id") != bench.agent.get("id") {
            return Err("the agent has another id".into());
        }
        match (&self.run, bench.runs.len()) {
            (Some(run), _) if !bench.runs.contains_key(run) && !self.ended() => {
                Err(format!("the bench no longer has the run {run}"))
            }
            (None, 1..) if !self.free => Err("the bench has a run now".into()),
            _ if self.script_of(bench).is_none() => {
                Err("the bench says otherwise what was played already".into())
            }
            _ => Ok(()),
        }
    }

    /// The script of this run in another bench, if it begins with what was played.
    fn script_of(&self, bench: &Bench) -> Option<Arc<[ScriptLine]>> {
        let script = match &self.run {
            Some(run) => match bench.runs.get(run) {
                // At its end nothing more is wanted of it.
                None if self.ended() => self.script.clone(),
                script => script?.clone(),
            },
            None => Arc::default(),
        };
        let played = self.script.get(..self.next)?;
        let same = |(a, b): (&ScriptLine, &ScriptLine)| a.input == b.input;
        (script.len() >= played.len() && played.iter().zip(script.iter()).all(same)).then_some(script)
    }

    /// A copy that has played the script to its end, or as far as it goes: the forecast.
    #[must_use]
    pub fn forecast(&self, load: &mut dyn Load) -> Player {
        let mut ahead = self.clone();
        if !ahead.script.is_empty() {
            // What cannot happen ends the forecast; the player itself will say why when it gets there.
            while ahead.beat(load).unwrap_or(false) {}
        }
        ahead
    }

    /// A branch: the same run before this call, with the facts that held then.
    ///
    /// # Errors
    ///
    /// When the call was never prepared.
    pub fn branch(&self, call: CallNo, load: &mut dyn Load) -> Result<Player, Refused> {
        let mut known = Known { then: &self.session, edge: load };
        self.replay(self.first.clone(), &|_| true, call, None, &mut known)
    }

    /// The same for a call that begins a turn, before the user said what led to it: a free run, in which something else can
    /// be said. Nothing else is taken back: facts and files are what they were at the call.
    ///
    /// # Errors
    ///
    /// When the call was never prepared, or no message of the user leads to it.
    pub fn branch_unsaid(&self, call: CallNo, load: &mut dyn Load) -> Result<Player, Refused> {
        let mut known = Known { then: &self.session, edge: load };
        let player = self.replay(self.first.clone(), &|_| true, call, Some(call), &mut known)?;
        if !player.session.hears() {
            return Err(Refused(format!("no message of the user leads to call {}", call.0)));
        }
        Ok(player)
    }

    /// The same run on another bench (a variant, an edited file), up to this call or as far as it goes: the bench's
    /// script, with what happened live at the same calls. That the bench became another one on the way is forgotten.
    ///
    /// # Errors
    ///
    /// When the bench no longer has the run, or its script does something that cannot happen.
    pub fn rebuild(&self, bench: Arc<Bench>, call: CallNo, load: &mut dyn Load) -> Result<Player, Refused> {
        let mut known = Known { then: &self.session, edge: load };
        self.replay(bench, &|live| !matches!(live, Live::Bench(..)), call, None, &mut known)
    }

    /// The same run from its first call, on the bench and the files as they are now, to its end. What happened live
    /// happens at the same calls, but for changes of the bench and of files, which have happened by then.
    ///
    /// # Errors
    ///
    /// As for [`Player::rebuild`].
    pub fn anew(&self, load: &mut dyn Load) -> Result<Player, Refused> {
        let bench = self.session.bench().clone();
        self.replay(bench, &|live| !live.is_edit(), CallNo(u32::MAX), None, load)
    }

    fn replay(
        &self,
        bench: Arc<Bench>,
        happens: &dyn Fn(&Live) -> bool,
        call: CallNo,
        unsaid: Option<CallNo>,
        load: &mut dyn Load,
    ) -> Result<Player, Refused> {
        let (run, script) = match &self.run {
            Some(run) if bench.runs.contains_key(run) => chosen(&bench, Some(run))?,
            // Of a run that was played to its end, nothing more is wanted of the bench.
            Some(run) if self.ended() => (Some(run.clone()), self.script[..self.next].into()),
            // What was begun without a run goes on without one, though the bench has one by now.
            None if self.free => (None, Arc::default()),
            _ => chosen(&bench, None)?,
        };
        let most = if self.free { self.next } else { usize::MAX };
        let mut player = Player::begin(bench, (run, script, most), unsaid, load)?;
        let run = player.run.clone();
        // Without a run the same request goes out again and again: such a player has no end but where this one stands.
        let call = if run.is_none() { call.min(self.session.next_call()) } else { call };
        loop {
            let before = player.session.next_call();
            for (_, live) in self.live.iter().filter(|(at, _)| *at == before) {
                // What no longer can happen on this bench does not. What answers the call is behind it.
                let skipped = !happens(live)
                    || before >= call && live.answers()
                    || unsaid == Some(before) && live.is_said();
                if !skipped && player.go_on(live, load).is_ok() {
                    player.live.push((before, live.clone()));
                }
            }
            // An answer that was given by hand has led to another call, before which something happened, too.
            let answered = player.session.next_call() > before;
            if before >= call || !answered && !player.beat(load)? {
                player.unsaid = None;
                return Ok(player);
            }
        }
    }

    /// True when the bench became another one on the way: then the calls before that were built by another bench.
    #[must_use]
    pub fn was_rebenched(&self) -> bool {
        self.live.iter().any(|(_, live)| matches!(live, Live::Bench(..)))
    }

    /// True when the bench or a file was changed on the way: then the calls before that were sent something else than
    /// they would be now.
    #[must_use]
    pub fn was_edited(&self) -> bool {
        self.live.iter().any(|(_, live)| live.is_edit())
    }

    /// True when something happened that the script does not say and a run could.
    #[must_use]
    pub fn is_worth_a_run(&self) -> bool {
        self.free || self.live.iter().any(|(_, live)| matches!(live, Live::Input(input) if input.is_line()))
    }

    /// True when something happened live.
    #[must_use]
    pub fn has_live(&self) -> bool {
        !self.live.is_empty()
    }

    fn advance(&mut self, load: &mut dyn Load) -> Result<(), Refused> {
        while let Some(line) = self.next_line().filter(|line| !line.input.answers()) {
            if matches!(line.input, Input::User(_)) && self.unsaid == Some(self.session.next_call()) {
                self.free = true;
                break;
            }
            self.play(load)?;
        }
        Ok(())
    }

    /// The next line of the script happens.
    fn play(&mut self, load: &mut dyn Load) -> Result<(), Refused> {
        let Some(line) = self.next_line() else { return Ok(()) };
        let (input, at) = (line.input.clone(), line.at);
        let step = self.session.step_count();
        self.take(input, load)?;
        self.played.insert(step, at);
        self.next += 1;
        Ok(())
    }

    /// Where the lines that were played stand in the bench, by the events that they led to.
    #[must_use]
    pub fn lines(&self) -> BTreeMap<EventId, Position> {
        let steps = self.session.steps().enumerate();
        steps
            .filter_map(|(step, taken)| Some((taken.events, self.line_of(step)?)))
            .flat_map(|(events, at)| events.map(move |event| (EventId(event), at)))
            .collect()
    }

    /// Where the line stands in the bench that a step of the session was; none for what happened live.
    #[must_use]
    pub fn line_of(&self, step: usize) -> Option<Position> {
        self.played.get(&step).copied()
    }

    fn take(&mut self, input: Input, load: &mut dyn Load) -> Result<(), Refused> {
        let progress = self.session.step(input)?;
        self.finish(progress, load)
    }

    fn go_on(&mut self, live: &Live, load: &mut dyn Load) -> Result<(), Refused> {
        match live {
            Live::Input(input) => {
                self.take((**input).clone(), load)?;
                self.free |= leaves_script(input);
                Ok(())
            }
            Live::Bench(bench, by, layers) => {
                let progress = self.session.rebench(bench.clone(), by.clone(), layers)?;
                self.finish(progress, load)?;
                if let Some(script) = self.script_of(bench) {
                    self.script = script;
                    // What comes before the next answer happens now.
                    self.advance(load)?;
                }
                Ok(())
            }
        }
    }

    fn finish(&mut self, mut progress: Progress<()>, load: &mut dyn Load) -> Result<(), Refused> {
        let mut asked: Vec<FactKey> = Vec::new();
        while let Progress::Needs(keys) = progress {
            // Whoever loads answers for every key; asking twice would be asking for ever.
            if let Some(key) = keys.iter().find(|key| asked.contains(key)) {
                return Err(Refused(format!("{key} is needed and cannot be had")));
            }
            asked.extend(keys.iter().cloned());
            let found = load.load(&keys);
            self.session.supply(found);
            progress = self.session.resume();
        }
        Ok(())
    }
}

/// The script that a run of a bench plays, with its name; that of the first run where none is named.
fn chosen(bench: &Bench, run: Option<&str>) -> Result<(Option<Name>, Arc<[ScriptLine]>), Refused> {
    let Some(name) = run else {
        let first = bench.runs.first();
        return Ok(
            first.map_or((None, Arc::default()), |(name, script)| (Some(name.clone()), script.clone()))
        );
    };
    match bench.runs.get_key_value(name) {
        Some((name, script)) => Ok((Some(name.clone()), script.clone())),
        None => {
            let names = bench.runs.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let known =
                if names.is_empty() { "the bench has none".to_owned() } else { format!("there are {names}") };
            Err(Refused(format!("no run is called `{name}`: {known}")))
        }
    }
}
