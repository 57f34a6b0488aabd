//! What each input does to a session: whether it can happen now, and what it leaves to do.

use std::sync::Arc;

use super::facts::Held;
use super::input::{EditTarget, Input, SessionEnd, ToolCall};
use super::record::{Answer, Changed, Lead, ToolRun};
use super::session::{Op, Refused, Session};
use super::short::{difference, in_short};
use crate::core::bench::PlaceKind;
use crate::core::fact::{EventId, FactKey, Found, Lookup, Name, Progress, Value};
use crate::core::log::{Body, Called, Log};
use crate::core::text::{Made, Traced};
use crate::core::wire::{CallNo, MessageId, json};

impl Session {
    pub(super) fn check(&self, input: &Input) -> Result<(), Refused> {
        let refuse = |reason: &str| Err(Refused(reason.to_owned()));
        let waiting = self.prepared.is_some();
        match input {
            Input::User(_) if !self.hears() => {
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

    pub(super) fn apply(&mut self, input: &Input) {
        let call = self.next_call;
        let again = self.prepared.is_some();
        match input {
            Input::User(text) => {
                if again {
                    self.begin_anew();
                }
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
            Input::Params(values) => {
                let names = values.keys().map(|name| &**name).collect::<Vec<_>>().join(", ");
                let event = self.begin_event(format!("a change of {names}"));
                self.choose_params(values, event);
            }
            Input::Tools(names) => {
                self.tools_cause = self.begin_event("a change of the tools");
                self.tools = Some(names.clone());
            }
            Input::ContextEdit { target, text } => self.edit_context(target, text.as_ref()),
            Input::Compact(compaction) => self.compact(compaction, None),
            Input::Session(how) => self.end_session(*how),
            Input::TakeBack => self.take_back(),
        }
        if again && !input.answers() && !matches!(input, Input::User(_) | Input::Session(_) | Input::TakeBack)
        {
            self.prepare_again();
        }
    }

    /// True where the user can say something: no request waits, or one that was opened without a word and that nobody has
    /// answered. What is said then is said in its place.
    #[must_use]
    pub fn hears(&self) -> bool {
        if self.prepared.is_none() {
            return true;
        }
        let conversation = &self.conversations[self.current()];
        let messages = conversation.log.messages();
        let silent = conversation.said.value.as_text().is_none_or(|said| said.is_empty());
        silent
            && self.active.len() < 2
            && conversation.current_user.is_some_and(|start| {
                let answered = |body: &Body| matches!(body, Body::Assistant { .. } | Body::Tool { .. });
                !messages[start..].iter().any(|message| answered(&message.body))
            })
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

    pub(super) fn user(&mut self, text: &Arc<str>, event: EventId, lead: Lead) {
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
        conversation.results_before = conversation.results;
        conversation.newest_tool = None;
        conversation.fresh_turn = true;
        conversation.lead = lead;
        let made = Made::Fact { key: FactKey::named("said"), rev: conversation.said.rev, placeholder: None };
        let body = (!writes && !text.is_empty()).then(|| Traced::whole("user", text.clone(), made, event));
        conversation.current_user = Some(conversation.log.push(Body::User(body), from));
        self.ops.push_back(Op::Prepare);
    }

    pub(super) fn model_calls(&mut self, text: Option<&Arc<str>>, calls: &[ToolCall], call: CallNo) {
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
        conversation.just_args = called.iter().map(|called| called.args.text().clone()).collect();
        let ids: Vec<Name> = called.iter().map(|called| called.id.clone()).collect();
        let text = text.filter(|text| !text.is_empty());
        let text = text.map(|text| Traced::whole("model", text.clone(), Made::Literal, event));
        conversation.log.push(Body::Assistant { text, calls: called }, from);
        for (tool, id) in calls.iter().zip(ids) {
            self.ops.push_back(Op::Tool(tool.clone(), id, call));
        }
        self.ops.push_back(Op::Prepare);
    }

    pub(super) fn say(&mut self, text: &Arc<str>, call: CallNo) {
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
        conversation.log.persist(from, event);
        let fields: Vec<Name> = self.bench.reports_of_a_turn().cloned().collect();
        for field in fields {
            let key = FactKey::Reported(field);
            if self.store.has(&key) {
                let event = self.begin_event("the end of the turn, which clears reports");
                self.observe(&key, &Found::Absent, event);
            }
        }
    }

    pub(super) fn run_tool(&mut self, call: &ToolCall, id: &Name, at: CallNo) -> Progress<()> {
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
            runs.push(ToolRun {
                tool: call.tool.clone(),
                argument,
                cwd,
                stale,
                lines,
                searched: outcome.searched,
            });
        }
        Progress::Done(())
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

    pub(super) fn edit_context(&mut self, target: &EditTarget, text: Option<&Arc<str>>) {
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
}
