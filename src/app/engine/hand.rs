//! The free run: the user speaks for the user and for the model, takes back what was spoken, and keeps it as a run.

use std::sync::Arc;

use super::branches::branched;
use super::control::{Engine, Preview};
use super::publish;
use super::ways::AsLoad;
use crate::app::effect::Spoken;
use crate::app::snapshot::{ByHand, Drafted, EditedField, OfferedTool, Speaker};
use crate::core::bench::{Bench, ToolEffect};
use crate::core::fact::{EventId, Name};
use crate::core::run::{CallRecord, Input, Lead, Player, Refused};
use crate::core::wire::{BlockKind, CallNo};
use crate::io::edit::bench::BenchEdit;

/// So many steps can be taken back.
const STEPS: usize = 100;

/// What was done by hand in the run, to be taken back and done again.
#[derive(Clone, Default)]
pub(super) struct Steps {
    /// The latest last.
    done: Vec<Step>,
    /// Those that were taken back, the latest last.
    undone: Vec<Step>,
}

/// Something that was said by hand.
#[derive(Clone)]
struct Step {
    before: Stand,
    after: Stand,
    /// What it was, in words.
    what: Name,
    /// How many edits of the bench there were to take back when it was done, or to make again when it was taken back: of
    /// those and this the later one goes first.
    edits: usize,
}

/// Where the run stands: the branch that is on, the others, and the call that is looked at.
#[derive(Clone)]
struct Stand {
    player: Player,
    others: Vec<Player>,
    branch: usize,
    shown: Option<CallNo>,
}

impl Engine {
    /// The user or the model says something by hand. At an earlier call, and in the middle of a script, that begins a
    /// branch.
    pub(super) fn speak(&mut self, spoken: &Spoken) -> Result<(), Refused> {
        self.playing = false;
        self.forget_draft();
        let (player, from) = self.after(spoken)?;
        self.keep_undone();
        let before = self.stand();
        self.go_on_as(player, from);
        self.shown = None;
        self.end_is_last();
        self.note = from.map_or_else(String::new, branched).into();
        self.keep_step(before, words(&spoken.input));
        Ok(())
    }

    /// Something else happens by the user's hand: another CWD, another model, what a change that was tried does. Where an
    /// earlier call is looked at, a branch begins there.
    pub(super) fn live(&mut self, input: Input) -> Result<(), Refused> {
        self.keep_undone();
        let before = self.stand();
        let mut what = Name::default();
        self.by_hand(|player, load| {
            let event = EventId(player.session().event_count());
            player.input(input, load)?;
            what = player.session().event(event).label.clone();
            Ok(())
        })?;
        // The undo of edits names the file; this one says that there is none.
        self.keep_step(before, format!("{what}, in this run; no file was changed").into());
        Ok(())
    }

    /// What was taken back and is not done again is not lost: it is a branch of its own.
    pub(super) fn keep_undone(&mut self) {
        if let Some(tip) = self.steps.undone.drain(..).next() {
            self.others.insert(self.branch, tip.after.player);
            self.branch += 1;
        }
    }

    /// What was just done can be taken back.
    fn keep_step(&mut self, before: Stand, what: Name) {
        let (edits, after) = (self.edge.undoable().0, self.stand());
        self.steps.done.push(Step { before, after, what, edits });
        if self.steps.done.len() > STEPS {
            self.steps.done.remove(0);
        }
    }

    /// Shows what it would do.
    pub(super) fn preview_spoken(&mut self, serial: u32, spoken: &Spoken) {
        let done = self.after(spoken);
        let problem = done.as_ref().err().map(|refused| Arc::from(&*refused.0));
        // What ends a turn leaves no request that could be shown.
        let player =
            done.ok().map(|(player, _)| player).filter(|player| player.session().prepared().is_some());
        self.preview = player.map(|player| Preview { typed: None, fix: None, player, ahead: None });
        self.drafted = Some(Drafted { serial, shown: self.preview.is_some(), problem });
    }

    /// What is composed is given up, or said.
    pub(super) fn forget_draft(&mut self) {
        if self.drafted.take().is_some() {
            self.preview = None;
        }
    }

    /// The run after something was said, and the call at which that begins a branch.
    fn after(&mut self, spoken: &Spoken) -> Result<(Player, Option<CallNo>), Refused> {
        let earlier = self.earlier();
        let call = earlier.unwrap_or(self.player.session().next_call());
        let mut player = match (spoken.instead, earlier) {
            (true, _) => {
                let unsaid = self.player.branch_unsaid(call, &mut AsLoad(&mut *self.edge))?;
                self.seeing(unsaid)?
            }
            (false, Some(call)) => self.branch_from(call)?,
            (false, None) => self.player.clone(),
        };
        let leaves = earlier.is_some() || self.player.next_line().is_some();
        let load = &mut AsLoad(&mut *self.edge);
        player.input(spoken.input.clone(), load)?;
        // A sub-agent that has said what it found is done, and its parent goes on.
        if matches!(spoken.input, Input::Say(_)) && player.session().is_in_sub_agent() {
            player.input(Input::EndAgent, load)?;
        }
        // A call that fails leaves no script: its answer is still to come.
        let branch = earlier.is_some() || leaves && player.is_free();
        Ok((player, branch.then_some(call)))
    }

    fn stand(&self) -> Stand {
        Stand {
            player: self.player.clone(),
            others: self.others.clone(),
            branch: self.branch,
            shown: self.shown,
        }
    }

    /// Goes to where the run stood. What the bench and its files say by now is seen there, too.
    fn stand_on(&mut self, stand: Stand) {
        self.preview = None;
        Stand { player: self.player, others: self.others, branch: self.branch, shown: self.shown } = stand;
        self.forget_sent();
        self.project();
        self.catch_up();
    }

    /// Takes the latest change back, of the bench file or of the run.
    pub(super) fn undo(&mut self) -> Result<(), Refused> {
        let (edits, _) = self.edge.undoable();
        let Some(step) = self.steps.done.pop_if(|step| edits <= step.edits) else { return self.undo_bench() };
        self.forget_draft();
        self.stand_on(step.before.clone());
        self.note = format!("taken back: {}", step.what).into();
        let edits = self.edge.undoable().1;
        self.steps.undone.push(Step { edits, ..step });
        Ok(())
    }

    /// Does again what was taken back last.
    pub(super) fn redo(&mut self) -> Result<(), Refused> {
        let (_, edits) = self.edge.undoable();
        let Some(step) = self.steps.undone.pop_if(|step| edits <= step.edits) else {
            return self.redo_bench();
        };
        self.forget_draft();
        self.stand_on(step.after.clone());
        self.note = format!("done again: {}", step.what).into();
        let edits = self.edge.undoable().0;
        self.steps.done.push(Step { edits, ..step });
        Ok(())
    }

    /// Whether there is a change to take back, and one to make again.
    pub(super) fn can_turn_back(&self) -> (bool, bool) {
        let (undo, redo) = self.edge.undoable();
        (undo > 0 || !self.steps.done.is_empty(), redo > 0 || !self.steps.undone.is_empty())
    }

    /// The run is another one: what was done by hand in the one before cannot be taken back any more.
    pub(super) fn forget_steps(&mut self) {
        self.steps = Steps::default();
    }

    /// Writes what happened so far into the bench as a run, and goes on with it as that run. `serial` is that of the form
    /// that asked.
    pub(super) fn save_run(&mut self, serial: u32, name: &Name, over: bool) -> Result<(), Refused> {
        let done = self.write_run(name, over);
        self.edited = Some(EditedField { serial, refused: done.is_err() });
        done
    }

    fn write_run(&mut self, name: &Name, over: bool) -> Result<(), Refused> {
        let run = self.player.as_run();
        if run.is_empty() {
            return Err(Refused("nothing was said yet that could be a run".into()));
        }
        let left_out = match run.left_out {
            0 => String::new(),
            1 => "; one thing that no line of a run can say is not part of it".to_owned(),
            n => format!("; {n} things that no line of a run can say are not part of it"),
        };
        if self.edge.bench_file().is_none() {
            let told = self.edge.copy_bench(name, &run.lines).map_err(Refused)?;
            self.note = format!("{told}{left_out}").into();
            return Ok(());
        }
        self.up_to_date()?;
        let edit = BenchEdit::Run { name: name.clone(), lines: run.lines, over };
        let edited = self.edge.edit_bench(&[edit], &self.options.variants).map_err(Refused)?;
        self.edge.reload();
        if let Ok((bench, _)) = self.edge.bench(&self.options.variants)
            && let Some((name, script)) = bench.runs.get_key_value(name)
        {
            self.player.becomes(name, script);
            if self.player.run() == Some(name) {
                self.options.run = Some(name.clone());
            }
        }
        // What was said before it was saved is a run now, which nothing is taken back of.
        self.forget_steps();
        self.shown = None;
        self.end_is_last();
        self.take_bench(edited)?;
        self.note = format!("{}{left_out}", self.note).into();
        Ok(())
    }

    /// Who can go on by hand at the call that is looked at, and with what.
    pub(super) fn by_hand_now(&self) -> Option<ByHand> {
        if self.recording.is_some() || self.stage.is_some() {
            return None;
        }
        let session = self.player.session();
        let earlier = self.earlier();
        let record = earlier
            .and_then(|call| publish::record(session, call))
            .or_else(|| session.prepared().filter(|_| earlier.is_none()));
        let opened = |record: &CallRecord| match &record.lead {
            Lead::User(said) => said.is_empty(),
            Lead::Again => true,
            Lead::Goal(_) | Lead::Tools(_) | Lead::Retry => false,
        };
        let mut hand = ByHand {
            call: record.map_or(session.next_call(), |record| record.call),
            drafted: self.drafted.clone(),
            worth_saving: self.player.is_worth_a_run(),
            ..ByHand::default()
        };
        let Some(record) = record.filter(|record| !opened(record)) else { return Some(hand) };
        hand.speaker = Speaker::Model;
        hand.waits = earlier.is_none() && self.player.ended();
        hand.said = match &record.lead {
            Lead::User(said) if !record.agent.contains('/') => Some(said.clone()),
            _ => None,
        };
        let tools = record.head.iter().filter(|block| block.kind == BlockKind::Tool);
        hand.tools = tools
            .map(|block| OfferedTool {
                name: block.name.clone(),
                definition: block.text.text().clone(),
                does: does(session.bench(), &block.name).map(Arc::from),
            })
            .collect();
        Some(hand)
    }
}

/// What the bench says that a tool does.
fn does(bench: &Bench, tool: &str) -> Option<String> {
    Some(match bench.simulate.get(tool)? {
        ToolEffect::Set { fact, from } => format!("sets {fact} to its `{from}`"),
        ToolEffect::File { path } => format!("reads the file that `{path}` names"),
        ToolEffect::Write { path } => {
            format!("writes `text` into the file that `{path}` names, in this run only")
        }
        ToolEffect::Search(search) => format!("searches {} for its `{}`", search.over, search.query),
    })
}

/// What was said, for whoever takes it back.
fn words(input: &Input) -> Name {
    match input {
        Input::User(_) => "what the user said".into(),
        Input::Say(_) => "the model's answer".into(),
        Input::Call { calls, .. } if calls.len() == 1 => {
            format!("the model's call of {}", calls[0].tool).into()
        }
        Input::Call { calls, .. } => format!("{} calls of the model", calls.len()).into(),
        Input::FailedSend(_) => "the call that failed".into(),
        _ => "what was done by hand".into(),
    }
}
