//! A session: inputs in, prepared requests out. The one place where anything happens.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use super::conversation::Conversation;
use super::facts::{DerivedFacts, Held, Store};
use super::input::{Input, ToolCall};
use super::prepare::Prepared;
use super::record::{CallRecord, Changed, Event, Happened};
use crate::core::bench::Bench;
use crate::core::fact::{EventId, FactKey, FilePath, Found, Lookup, Name, Progress, Value};
use crate::core::source::Templates;
use crate::core::tokens::Encoding;
use crate::core::wire::{Block, CallNo, Params, Request};

/// An input that cannot happen now: one sentence, lower case, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// What is still to do before a step is done. Each either happens whole or asks for facts and changes nothing.
#[derive(Clone, Debug)]
pub(super) enum Op {
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
    pub(super) params: Arc<Params>,
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
    /// Requests that were recorded and not built here.
    pub(super) recordings: BTreeMap<CallNo, Arc<Request>>,
    pub(super) notes: Vec<Arc<str>>,
    /// Tokens of blocks, where a bench asks for them.
    pub(super) sizes: BTreeMap<(u64, Encoding), u32>,
    /// The layers whose rules were changed in the middle of the run, with the latest event that did.
    pub(super) edited: BTreeMap<Name, EventId>,
    /// The agent's fields that the bench came to say otherwise, with the latest event that changed them.
    pub(super) agent_edits: BTreeMap<Name, EventId>,
    /// The facts that the bench does not say any more, with the event that took them out.
    pub(super) gone: BTreeMap<Name, EventId>,
    pub(super) events: Vec<Event>,
    pub(super) changes: Vec<Changed>,
    pub(super) ops: VecDeque<Op>,
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
            params: Arc::new(opening_params(&bench)),
            passed: (0, EventId::OPENING),
            tools: None,
            tools_cause: EventId::OPENING,
            conversations: vec![main],
            active: vec![0],
            next_call: CallNo(1),
            calls: Vec::new(),
            failed: BTreeMap::new(),
            prepared: None,
            recordings: BTreeMap::new(),
            notes: Vec::new(),
            sizes: BTreeMap::new(),
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

    /// True while a sub-agent is under way.
    #[must_use]
    pub fn is_in_sub_agent(&self) -> bool {
        self.active.len() > 1
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

    /// How many events there were: the number of the next one.
    #[must_use]
    pub fn event_count(&self) -> u32 {
        self.events.len() as u32
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
        if let Some(recorded) = self.recordings.get(&call) {
            return Some((**recorded).clone());
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
            params: record.params.clone(),
        })
    }

    /// True for a call that was prepared or failed, and so stands in no log.
    pub(super) fn was_not_sent(&self, call: CallNo) -> bool {
        self.failed.contains_key(&call) || self.prepared.as_ref().is_some_and(|next| next.record.call == call)
    }

    /// The messages of a conversation.
    pub(super) fn log_of(&self, agent: &str) -> Option<&crate::core::log::Log> {
        self.conversations.iter().find(|own| *own.id == *agent).map(|own| &own.log)
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

    /// Parameters of requests take other values; none lets the provider's default hold again.
    pub(super) fn choose_params(&mut self, values: &IndexMap<Name, Option<Name>>, event: EventId) {
        Arc::make_mut(&mut self.params).choose(values, event);
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
}

/// The parameters with which a bench begins.
fn opening_params(bench: &Bench) -> Params {
    let mut params = Params::default();
    let values: IndexMap<Name, Option<Name>> =
        bench.params.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    params.choose(&values, EventId::OPENING);
    params
}
