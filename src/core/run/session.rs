//! A session: inputs in, prepared requests out. The one place where anything happens.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::facts::{DerivedFacts, Held, Store};
use super::input::{EditTarget, Input, SessionEnd, ToolCall};
use super::prepare::Prepared;
use super::record::{Answer, Baseline, CallRecord, Changed, Event, Happened, Lead, ToolRun};
use super::short::{difference, in_short};
use crate::core::bench::{Bench, PlaceKind};
use crate::core::fact::{EventId, FactKey, FilePath, Found, Lookup, Name, Progress, Value};
use crate::core::log::{Body, Called, Closed, Log, Rule};
use crate::core::source::{Evaluated, Templates};
use crate::core::text::{Made, Traced};
use crate::core::wire::{Block, CallNo, MessageId, Request, json};

/// An input that cannot happen now: one sentence, lower case, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// A layer's text as it was committed by a call that was sent.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub evaluated: Evaluated,
    pub turn: u32,
}

/// One agent's conversation: its log, its own facts, what its layers were built with.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    pub id: Name,
    pub role: Name,
    pub goal: Held,
    pub said: Held,
    /// Facts of this conversation only: `cwd` above all.
    pub scope: BTreeMap<Name, Held>,
    pub began: EventId,
    /// The event of the last step: the user's message, the model's answer.
    pub stepped: EventId,
    pub turn: u32,
    pub log: Log,
    pub built: BTreeMap<Name, Built>,
    /// What each layer came to when it was evaluated last, sent or not.
    pub evaluated: BTreeMap<Name, Evaluated>,
    pub baselines: BTreeMap<Name, Baseline>,
    /// The tools that the model called just now.
    pub just: Vec<Name>,
    /// Tool results that this conversation still has.
    pub results: usize,
    /// The index of the newest tool message of this iteration.
    pub newest_tool: Option<usize>,
    /// The index of the user message that began the turn.
    pub current_user: Option<usize>,
    /// True until the first call of the turn was sent.
    pub fresh_turn: bool,
    pub lead: Lead,
    pub tool_names: Vec<Name>,
    /// The tool definitions as they were composed last.
    pub tools: Vec<Arc<Block>>,
    /// The tool call of the parent that this sub-agent answers.
    pub answers: Option<Name>,
    pub last_said: Arc<str>,
    /// The blocks of the last request that was sent, and the block index at which each message starts.
    pub sent_blocks: Vec<Arc<Block>>,
    pub sent_starts: Vec<usize>,
    pub sent_head: usize,
    pub calls_numbered: u32,
}

impl Conversation {
    fn new(id: Name, role: Name, goal: Held, began: EventId) -> Conversation {
        Conversation {
            id,
            role,
            said: Held::new(Value::text(""), began),
            goal,
            scope: BTreeMap::new(),
            began,
            stepped: began,
            turn: 0,
            log: Log::default(),
            built: BTreeMap::new(),
            evaluated: BTreeMap::new(),
            baselines: BTreeMap::new(),
            just: Vec::new(),
            results: 0,
            newest_tool: None,
            current_user: None,
            fresh_turn: false,
            lead: Lead::Again,
            tool_names: Vec::new(),
            tools: Vec::new(),
            answers: None,
            last_said: "".into(),
            sent_blocks: Vec::new(),
            sent_starts: Vec::new(),
            sent_head: 0,
            calls_numbered: 0,
        }
    }
}

/// What is still to do before a step is done. Each either happens whole or asks for facts and changes nothing.
#[derive(Clone, Debug)]
enum Op {
    Tool(ToolCall, Name, CallNo),
    StartAgent { role: Name, goal: Arc<str>, cwd: Option<Name>, fork: bool },
    Prepare,
}

/// A running bench. Cheap enough to clone that a forecast or a variant can run ahead in a copy.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) bench: Arc<Bench>,
    pub(super) store: Store,
    pub(super) derived: DerivedFacts,
    /// Shared by copies of the session: what one compiled, all have.
    templates: Arc<Mutex<Templates>>,
    pub(super) facts: BTreeMap<Name, Held>,
    pub(super) model: Held,
    /// Seconds that have passed since the start, and the event of the last advance.
    pub(super) passed: (u64, EventId),
    /// The tools that a run chose instead of the bench's groups.
    pub(super) tools: Option<Vec<Name>>,
    pub(super) tools_cause: EventId,
    pub(super) conversations: Vec<Conversation>,
    /// The conversations that are under way, the innermost last: indices.
    pub(super) active: Vec<usize>,
    pub(super) next_call: CallNo,
    pub(super) calls: Vec<Arc<CallRecord>>,
    /// Requests whose sending failed: what was staged for them is not in the log.
    pub(super) failed: BTreeMap<CallNo, Arc<Prepared>>,
    pub(super) prepared: Option<Arc<Prepared>>,
    pub(super) notes: Vec<Arc<str>>,
    /// The layers whose rules were changed in the middle of the run, with the latest event that did.
    pub(super) edited: BTreeMap<Name, EventId>,
    /// The agent's fields that the bench came to say otherwise, with the latest event that changed them.
    pub(super) agent_edits: BTreeMap<Name, EventId>,
    /// The facts that the bench does not say any more, with the event that took them out.
    pub(super) gone: BTreeMap<Name, EventId>,
    pub(super) events: Vec<Event>,
    pub(super) changes: Vec<Changed>,
    ops: VecDeque<Op>,
    inputs: Vec<Arc<Input>>,
    /// What was taken, with the events and changes that there were before it.
    pub(super) steps: Vec<(Happened, CallNo, Name, u32, usize)>,
    /// What was first supplied: with the inputs, enough to run again.
    supplied: BTreeMap<FactKey, Found>,
}

impl Session {
    /// A session of a bench, before anything has happened.
    #[must_use]
    pub fn new(bench: Arc<Bench>) -> Session {
        let text = |name: &str| bench.agent.get(name).and_then(Value::as_text).cloned();
        let id = text("id").unwrap_or_else(|| "main".into());
        let role = text("role").unwrap_or_else(|| "main".into());
        let goal = Held::new(bench.agent.get("goal").cloned().unwrap_or(Value::text("")), EventId::OPENING);
        let mut main = Conversation::new(id, role, goal, EventId::OPENING);
        let mut facts = BTreeMap::new();
        for (name, value) in &bench.facts {
            let held = Held::new(value.clone(), EventId::OPENING);
            if &**name == "cwd" {
                main.scope.insert(name.clone(), held)
            } else {
                facts.insert(name.clone(), held)
            };
        }
        Session {
            store: Store::default(),
            derived: DerivedFacts::default(),
            templates: Arc::default(),
            facts,
            model: Held::new(Value::Text(bench.model.clone()), EventId::OPENING),
            passed: (0, EventId::OPENING),
            tools: None,
            tools_cause: EventId::OPENING,
            conversations: vec![main],
            active: vec![0],
            next_call: CallNo(1),
            calls: Vec::new(),
            failed: BTreeMap::new(),
            prepared: None,
            notes: Vec::new(),
            edited: BTreeMap::new(),
            agent_edits: BTreeMap::new(),
            gone: BTreeMap::new(),
            events: vec![Event { label: "the opening".into(), before: CallNo(1) }],
            changes: Vec::new(),
            ops: VecDeque::new(),
            inputs: Vec::new(),
            steps: Vec::new(),
            supplied: BTreeMap::new(),
            bench,
        }
    }

    /// The bench.
    #[must_use]
    pub fn bench(&self) -> &Arc<Bench> {
        &self.bench
    }

    /// The calls that were sent, in order; call N is at index N - 1.
    #[must_use]
    pub fn calls(&self) -> &[Arc<CallRecord>] {
        &self.calls
    }

    /// The call that would be sent next; none between turns.
    #[must_use]
    pub fn prepared(&self) -> Option<&CallRecord> {
        self.prepared.as_ref().map(|prepared| &prepared.record)
    }

    /// The captions that no call stands behind yet: at the end of a run what is said last.
    #[must_use]
    pub fn closing_notes(&self) -> &[Arc<str>] {
        &self.notes
    }

    /// The number of the next call.
    #[must_use]
    pub fn next_call(&self) -> CallNo {
        self.next_call
    }

    /// Everything that happened.
    #[must_use]
    pub fn inputs(&self) -> &[Arc<Input>] {
        &self.inputs
    }

    /// What an event is called in blame.
    #[must_use]
    pub fn event(&self, id: EventId) -> &Event {
        self.events.get(id.0 as usize).unwrap_or(&self.events[0])
    }

    /// The facts that took other values, in order.
    #[must_use]
    pub fn changes(&self) -> &[Changed] {
        &self.changes
    }

    /// The external facts that were asked for so far: what a driver has to look at again before each request. Reports are
    /// none of them: they come by themselves.
    pub fn watched(&self) -> impl Iterator<Item = &FactKey> {
        self.store.keys().filter(|key| !matches!(key, FactKey::Reported(_)))
    }

    /// The revision of what was found under a key; none for a key that was never asked for.
    #[must_use]
    pub fn rev_of(&self, key: &FactKey) -> Option<crate::core::fact::Rev> {
        self.store.rev(key)
    }

    /// True when this is what the session knows under a key that it has asked for.
    #[must_use]
    pub fn knows(&self, key: &FactKey, found: &Found) -> bool {
        self.store.holds(key, found)
    }

    /// True when something has asked for this external fact.
    #[must_use]
    pub fn has_asked(&self, key: &FactKey) -> bool {
        self.store.has(key)
    }

    /// What the run wrote over files and deleted (false), with the event that did, file by file.
    pub fn writes(&self) -> impl Iterator<Item = (&FilePath, bool, EventId)> {
        self.store.writes()
    }

    /// The files that the run had written (none: deleted) over those on disk when this call was made, or would be.
    pub fn written(&self, call: CallNo) -> impl Iterator<Item = (&FilePath, Option<&Arc<str>>)> {
        self.store.written(move |cause| self.event(cause).before <= call)
    }

    /// The current value of a named fact, as the conversation under way sees it.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<(Value, EventId)> {
        use crate::core::source::Facts;
        match self.view(self.current()).look(&FactKey::named(name)) {
            Lookup::Ready(value, _, cause) => Some((value, cause)),
            _ => None,
        }
    }

    /// The model that the next call goes to.
    #[must_use]
    pub fn model(&self) -> Name {
        self.model.value.as_text().cloned().unwrap_or_default()
    }

    /// What a call was sent, or would be.
    #[must_use]
    pub fn request(&self, call: CallNo) -> Option<Request> {
        if let Some(prepared) = self.prepared.as_ref().filter(|prepared| prepared.record.call == call) {
            return Some(prepared.request());
        }
        if let Some(failed) = self.failed.get(&call) {
            return Some(failed.request());
        }
        let record = self.calls.get((call.0 as usize).checked_sub(1)?)?;
        let conversation = self.conversations.iter().find(|c| c.id == record.agent)?;
        let mut blocks: Vec<Arc<Block>> = Vec::with_capacity(record.blocks);
        blocks.extend(record.head.iter().cloned());
        blocks.extend(conversation.log.sent(call));
        Some(Request {
            call,
            turn: record.turn,
            agent: record.agent.clone(),
            model: record.model.clone(),
            at: record.at,
            blocks,
            shared: record.shared,
            marks: record.marks.to_vec(),
        })
    }

    /// What would be replayed of the conversation under way if the session ended now, or is persisted.
    #[must_use]
    pub fn replayed(&self) -> Vec<Arc<Block>> {
        self.conversations[self.current()].log.sent(self.next_call).collect()
    }

    pub(super) fn templates(&self) -> MutexGuard<'_, Templates> {
        self.templates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn current(&self) -> usize {
        self.active.last().copied().unwrap_or(0)
    }

    pub(super) fn view(&self, conversation: usize) -> super::facts::View<'_> {
        super::facts::View { session: self, conversation: &self.conversations[conversation] }
    }

    /// True while a step needs facts.
    pub(super) fn is_stepping(&self) -> bool {
        !self.ops.is_empty()
    }

    /// Whatever happened may show in the request that waits.
    pub(super) fn prepare_again(&mut self) {
        self.ops.push_back(Op::Prepare);
    }

    pub(super) fn switch_model(&mut self, model: Value, event: EventId) {
        self.model = Held::new(model, event);
    }

    pub(super) fn begin_event(&mut self, label: impl Into<Name>) -> EventId {
        self.events.push(Event { label: label.into(), before: self.next_call });
        EventId(self.events.len() as u32 - 1)
    }

    /// Supplies facts that a step needed. They count as known from the opening on, unless they are known already.
    pub fn supply(&mut self, found: impl IntoIterator<Item = (FactKey, Found)>) {
        for (key, found) in found {
            self.supplied.entry(key.clone()).or_insert_with(|| found.clone());
            self.store.supply(key, found, EventId::OPENING);
        }
    }

    /// What was first supplied under a key.
    pub(super) fn first_supplied(&self, key: &FactKey) -> Option<&Found> {
        self.supplied.get(key)
    }

    /// Takes an input. `Needs` means: supply, then [`Session::resume`].
    ///
    /// # Errors
    ///
    /// When it cannot happen now; nothing has changed then.
    pub fn step(&mut self, input: Input) -> Result<Progress<()>, Refused> {
        if self.is_stepping() {
            return Err(Refused("the step before still needs facts".into()));
        }
        self.check(&input)?;
        let input = Arc::new(input);
        self.begin_step(Happened::Input(input.clone()));
        self.inputs.push(input.clone());
        self.apply(&input);
        Ok(self.resume())
    }

    /// Goes on with a step that needed facts.
    pub fn resume(&mut self) -> Progress<()> {
        while let Some(op) = self.ops.front().cloned() {
            let progress = match op {
                Op::Tool(call, id, at) => self.run_tool(&call, &id, at),
                Op::StartAgent { role, goal, cwd, fork } => self.start_agent(&role, &goal, cwd, fork),
                Op::Prepare => self.prepare(),
            };
            match progress {
                Progress::Done(()) => {
                    self.ops.pop_front();
                }
                Progress::Needs(mut needs) => {
                    needs.sort();
                    needs.dedup();
                    return Progress::Needs(needs);
                }
            }
        }
        Progress::Done(())
    }

    fn check(&self, input: &Input) -> Result<(), Refused> {
        let refuse = |reason: &str| Err(Refused(reason.to_owned()));
        let waiting = self.prepared.is_some();
        match input {
            Input::User(_) if waiting => {
                refuse("a request waits to be sent: the model answers before the user speaks again")
            }
            Input::EndAgent if self.active.len() < 2 => refuse("no sub-agent is under way"),
            Input::EndAgent if waiting => refuse("the sub-agent's request waits to be sent"),
            Input::TakeBack if self.conversations[self.current()].current_user.is_none() => {
                refuse("the user has said nothing that could be taken back")
            }
            Input::TakeBack if self.active.len() > 1 => refuse("a sub-agent is under way"),
            Input::ContextEdit { target, .. } if self.edited(target).is_none() => {
                refuse("there is no such message to edit")
            }
            Input::Session(SessionEnd::End | SessionEnd::Resume) if waiting => {
                refuse("a request waits to be sent: only a crash ends a session now")
            }
            Input::Session(_) if self.active.len() > 1 && !waiting => refuse("a sub-agent is under way"),
            input if input.answers() && !waiting => {
                refuse("there is no request to send: the user speaks first")
            }
            input if input.answers() => {
                match self.prepared.as_ref().and_then(|prepared| prepared.stopped.as_ref()) {
                    Some(diagnostic) => {
                        Err(Refused(format!("no request may be built: {}", diagnostic.message)))
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn edited(&self, target: &EditTarget) -> Option<MessageId> {
        let messages = self.conversations[self.current()].log.messages();
        let live = messages.iter().rev().filter(|m| m.live.contains(&self.next_call));
        match target {
            EditTarget::NewestTool => {
                live.clone().find(|m| matches!(m.body, Body::Tool { .. })).map(|m| m.id)
            }
            EditTarget::Message(id) => live.clone().find(|m| m.id.0 == *id).map(|m| m.id),
        }
    }

    fn apply(&mut self, input: &Input) {
        let call = self.next_call;
        let again = self.prepared.is_some();
        match input {
            Input::User(text) => {
                let turn = self.conversations[self.current()].turn + 1;
                let event = self.begin_event(format!("the user's message of turn {turn}"));
                self.user(text, event, Lead::User(text.clone()));
            }
            Input::Call { text, calls } => {
                self.send(Answer::Tools(calls.iter().map(|call| call.tool.clone()).collect()));
                self.model_calls(text.as_ref(), calls, call);
            }
            Input::Say(text) => {
                self.send(Answer::Said(text.clone()));
                self.say(text, call);
            }
            Input::Sent => {
                self.send(Answer::Sent);
                let current = self.current();
                self.conversations[current].lead = Lead::Again;
                self.ops.push_back(Op::Prepare);
            }
            Input::FailedSend(reason) => {
                self.fail(reason);
                self.ops.push_back(Op::Prepare);
            }
            Input::StartAgent { role, goal, cwd, fork } => {
                self.send(Answer::Agent(role.clone()));
                self.ops.push_back(Op::StartAgent {
                    role: role.clone(),
                    goal: goal.clone(),
                    cwd: cwd.clone(),
                    fork: *fork,
                });
            }
            Input::EndAgent => self.end_agent(),
            Input::Note(text) => self.notes.push(text.clone()),
            Input::Set(values) => {
                let names = values.keys().map(|name| &**name).collect::<Vec<_>>().join(", ");
                let event = self.begin_event(format!("a change of {names} by hand"));
                let current = self.current();
                for (name, value) in values {
                    self.set(current, name, value.clone(), event);
                }
            }
            Input::Observed { found, by } => {
                let event = self.begin_event(by.clone());
                for (key, found) in found {
                    self.observe(key, found, event);
                }
            }
            Input::Write { path, text } => {
                let event = self.begin_event(format!("a write to {path}"));
                self.store.write(path.clone(), Some(text.clone()), event);
            }
            Input::Delete(path) => {
                let event = self.begin_event(format!("the deletion of {path}"));
                self.store.write(path.clone(), None, event);
            }
            Input::Advance(seconds) => {
                let event = self.begin_event("the passing of time");
                self.passed = (self.passed.0.saturating_add(*seconds), event);
            }
            Input::Model(model) => {
                let event = self.begin_event(format!("the switch to {model}"));
                self.switch_model(Value::Text(model.clone()), event);
            }
            Input::Tools(names) => {
                self.tools_cause = self.begin_event("a change of the tools");
                self.tools = Some(names.clone());
            }
            Input::ContextEdit { target, text } => self.edit_context(target, text.as_ref()),
            Input::Compact(compaction) => self.compact(compaction),
            Input::Session(how) => self.end_session(*how),
            Input::TakeBack => self.take_back(),
        }
        if again && !input.answers() && !matches!(input, Input::Session(_) | Input::TakeBack) {
            self.prepare_again();
        }
    }

    pub(super) fn observe(&mut self, key: &FactKey, found: &Found, event: EventId) {
        let old = self.look(key);
        if self.store.supply(key.clone(), found.clone(), event) {
            let new = self.look(key);
            let more = difference(&old, &new);
            let (old, new) = (in_short(&old), format!("{}{more}", in_short(&new)).into());
            self.changes.push(Changed { key: key.clone(), old, new, event, agent: None });
        }
    }

    pub(super) fn set(&mut self, conversation: usize, name: &Name, value: Value, event: EventId) {
        use crate::core::source::Facts;
        let key = FactKey::Named(name.clone());
        let old = self.view(conversation).look(&key);
        let held = Held::new(value, event);
        if matches!(&old, Lookup::Ready(_, rev, _) if *rev == held.rev) {
            return;
        }
        let (old, new) = (in_short(&old), in_short(&held.ready()));
        let own = &**name == "cwd";
        let agent = own.then(|| self.conversations[conversation].id.clone());
        self.changes.push(Changed { key, old, new, event, agent });
        if own {
            self.conversations[conversation].scope.insert(name.clone(), held);
        } else {
            self.facts.insert(name.clone(), held);
        }
    }

    fn user(&mut self, text: &Arc<str>, event: EventId, lead: Lead) {
        let writes = self.bench.layers.iter().any(|layer| {
            self.bench.places.get(&layer.place).is_some_and(|place| place.kind == PlaceKind::CurrentUser)
        });
        let current = self.current();
        let from = self.next_call;
        let conversation = &mut self.conversations[current];
        conversation.turn += 1;
        conversation.said = Held::new(Value::Text(text.clone()), event);
        if conversation.goal.value.as_text().is_none_or(|goal| goal.is_empty()) {
            conversation.goal = Held::new(Value::Text(text.clone()), event);
        }
        conversation.stepped = event;
        conversation.just.clear();
        conversation.newest_tool = None;
        conversation.fresh_turn = true;
        conversation.lead = lead;
        let made = Made::Fact { key: FactKey::named("said"), rev: conversation.said.rev, placeholder: None };
        let body = (!writes && !text.is_empty()).then(|| Traced::whole("user", text.clone(), made, event));
        conversation.current_user = Some(conversation.log.push(Body::User(body), from));
        self.ops.push_back(Op::Prepare);
    }

    fn model_calls(&mut self, text: Option<&Arc<str>>, calls: &[ToolCall], call: CallNo) {
        let event = self.begin_event(format!("the answer to call {call}", call = call.0));
        let from = self.next_call;
        let current = self.current();
        let conversation = &mut self.conversations[current];
        conversation.stepped = event;
        conversation.just = calls.iter().map(|call| call.tool.clone()).collect();
        conversation.newest_tool = None;
        conversation.lead = Lead::Tools(Vec::new());
        let mut called = Vec::new();
        for call in calls {
            conversation.calls_numbered += 1;
            let args = call.written.clone().unwrap_or_else(|| json::arguments(&call.args));
            let args = Traced::whole("model", args, Made::Literal, event);
            called.push(Called {
                id: format!("call_{}", conversation.calls_numbered).into(),
                tool: call.tool.clone(),
                args,
            });
        }
        let ids: Vec<Name> = called.iter().map(|called| called.id.clone()).collect();
        let text = text.filter(|text| !text.is_empty());
        let text = text.map(|text| Traced::whole("model", text.clone(), Made::Literal, event));
        conversation.log.push(Body::Assistant { text, calls: called }, from);
        for (tool, id) in calls.iter().zip(ids) {
            self.ops.push_back(Op::Tool(tool.clone(), id, call));
        }
        self.ops.push_back(Op::Prepare);
    }

    fn say(&mut self, text: &Arc<str>, call: CallNo) {
        let event = self.begin_event(format!("the answer to call {}", call.0));
        let from = self.next_call;
        let current = self.current();
        let conversation = &mut self.conversations[current];
        conversation.stepped = event;
        conversation.just.clear();
        conversation.newest_tool = None;
        conversation.last_said = text.clone();
        if !text.is_empty() {
            let text = Traced::whole("model", text.clone(), Made::Literal, event);
            conversation.log.push(Body::Assistant { text: Some(text), calls: Vec::new() }, from);
        }
        // The turn is persisted: what is not kept is sent for the last time in the call before.
        let closed = Closed { rule: Rule::Persist, by: event };
        conversation.log.close(from, 0, closed, |a| a.persist == crate::core::bench::Keeping::Strip);
    }

    fn start_agent(&mut self, role: &Name, goal: &Arc<str>, cwd: Option<Name>, fork: bool) -> Progress<()> {
        use crate::core::source::Facts;
        let parent = self.current();
        let inherited = match self.view(parent).look(&FactKey::named("cwd")) {
            Lookup::Ready(value, ..) => value,
            Lookup::Unknown => return Progress::Needs(vec![FactKey::Environment("workspace".into())]),
            _ => Value::text("/"),
        };
        let event = self.begin_event(format!("the start of {role}"));
        let from = self.next_call;
        let conversation = &mut self.conversations[parent];
        conversation.stepped = event;
        conversation.just = vec!["Agent".into()];
        conversation.newest_tool = None;
        conversation.lead = Lead::Tools(Vec::new());
        conversation.calls_numbered += 1;
        let id: Name = format!("call_{}", conversation.calls_numbered).into();
        let args = [("role".into(), Value::Text(role.clone())), ("goal".into(), Value::Text(goal.clone()))];
        let args = Traced::whole("model", json::arguments(&args.into_iter().collect()), Made::Literal, event);
        let called = Called { id: id.clone(), tool: "Agent".into(), args };
        conversation.log.push(Body::Assistant { text: None, calls: vec![called] }, from);
        let mut name: Name = format!("{}/{role}", conversation.id).into();
        let mut number = 2;
        while self.conversations.iter().any(|c| c.id == name) {
            name = format!("{}/{role}-{number}", self.conversations[parent].id).into();
            number += 1;
        }
        let mut child =
            Conversation::new(name, role.clone(), Held::new(Value::Text(goal.clone()), event), event);
        if fork {
            // It answers the same call, so it has what its parent was sent, and not the parent's last answer.
            let parent = &self.conversations[parent];
            child.log = parent.log.clone();
            child.log.end(from, event, |index| index + 1 == parent.log.len());
            child.role = parent.role.clone();
            child.scope = parent.scope.clone();
            child.turn = parent.turn;
            child.built = parent.built.clone();
            child.baselines = parent.baselines.clone();
            child.calls_numbered = parent.calls_numbered;
            child.results = parent.results;
        }
        let start = match (cwd, inherited.as_text()) {
            (Some(cwd), Some(parent)) => Value::text(super::facts::resolve(parent, &cwd, "/")),
            (Some(cwd), None) => Value::Text(cwd),
            (None, _) => inherited,
        };
        child.scope.insert("cwd".into(), Held::new(start, event));
        child.answers = Some(id);
        self.conversations.push(child);
        self.active.push(self.conversations.len() - 1);
        self.user(goal, event, Lead::Goal(goal.clone()));
        Progress::Done(())
    }

    fn end_agent(&mut self) {
        let Some(child) = self.active.pop() else { return };
        let event = self.begin_event(format!("the end of {}", self.conversations[child].role));
        let result = self.conversations[child].last_said.clone();
        let id = self.conversations[child].answers.clone().unwrap_or_default();
        let role = self.conversations[child].role.clone();
        let from = self.next_call;
        let parent = self.current();
        let conversation = &mut self.conversations[parent];
        conversation.stepped = event;
        conversation.results += 1;
        let text = Traced::whole("tool Agent", result, Made::Literal, event);
        conversation.newest_tool =
            Some(conversation.log.push(Body::Tool { call: id, tool: "Agent".into(), text }, from));
        let run = ToolRun {
            tool: "Agent".into(),
            argument: Some(role),
            cwd: "".into(),
            stale: Vec::new(),
            lines: Vec::new(),
        };
        conversation.lead = Lead::Tools(vec![run]);
        self.ops.push_back(Op::Prepare);
    }

    fn edit_context(&mut self, target: &EditTarget, text: Option<&Arc<str>>) {
        let Some(id) = self.edited(target) else { return };
        let verb = if text.is_some() { "rewrote" } else { "deleted" };
        let event = self.begin_event(format!("a context edit that {verb} message {}", id.0));
        let from = self.next_call;
        let current = self.current();
        let conversation = &mut self.conversations[current];
        let position = |log: &Log, id: MessageId| log.messages().iter().position(|m| m.id == id);
        let at = position(&conversation.log, id);
        let text = text.map(|text| Traced::whole("context edit", text.clone(), Made::Literal, event));
        let rewritten = text.is_some();
        conversation.log.edit(id, from, text, event);
        if let (false, Some(Body::Tool { .. })) =
            (rewritten, at.map(|at| &conversation.log.messages()[at].body))
        {
            // It is no longer among the results that the model sees.
            conversation.results = conversation.results.saturating_sub(1);
        }
        // Where the message was what something waits to be put into, its new text is; without one, another tool
        // message of this iteration, or none.
        for (slot, is_tool) in
            [(&mut conversation.newest_tool, true), (&mut conversation.current_user, false)]
        {
            let Some(index) = *slot else { continue };
            if at == Some(index) {
                *slot = if rewritten {
                    Some(index + 1)
                } else {
                    let messages = conversation.log.messages();
                    let open = |i: &usize| {
                        matches!(messages[*i].body, Body::Tool { .. }) && messages[*i].live.contains(&from)
                    };
                    is_tool
                        .then(|| {
                            (0..index)
                                .rev()
                                .take_while(|i| matches!(messages[*i].body, Body::Tool { .. }))
                                .find(open)
                        })
                        .flatten()
                };
            } else if rewritten && at.is_some_and(|at| at < index) {
                *slot = Some(index + 1);
            }
        }
    }

    fn run_tool(&mut self, call: &ToolCall, id: &Name, at: CallNo) -> Progress<()> {
        let outcome = match self.simulate(call, at) {
            Progress::Done(outcome) => outcome,
            Progress::Needs(needs) => return Progress::Needs(needs),
        };
        let current = self.current();
        let stale = self.believed_wrongly(current);
        let label = format!("{} in call {}", call.tool, at.0);
        let event = self.begin_event(label);
        if let Some((fact, value)) = outcome.set {
            self.set(current, &fact, value, event);
        }
        if let Some((path, text)) = outcome.write {
            self.store.write(path, Some(text), event);
        }
        let from = self.next_call;
        let part: Name = format!("tool {}", call.tool).into();
        let text = Traced::whole(part, outcome.result, outcome.made, event);
        let conversation = &mut self.conversations[current];
        conversation.results += 1;
        let index =
            conversation.log.push(Body::Tool { call: id.clone(), tool: call.tool.clone(), text }, from);
        conversation.newest_tool = Some(index);
        let argument = call.args.values().next().map(|value| value.to_string().into());
        if let Lead::Tools(runs) = &mut conversation.lead {
            let (cwd, lines) = (outcome.cwd, outcome.lines);
            runs.push(ToolRun { tool: call.tool.clone(), argument, cwd, stale, lines });
        }
        Progress::Done(())
    }
}
