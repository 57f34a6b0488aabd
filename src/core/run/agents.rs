//! Sub-agents: the conversation that begins inside of another, and what comes of it.

use std::sync::Arc;

use super::conversation::Conversation;
use super::facts::Held;
use super::record::{Lead, ToolRun};
use super::session::{Op, Session};
use crate::core::fact::{FactKey, Lookup, Name, Progress, Value};
use crate::core::log::{Body, Called};
use crate::core::text::{Made, Traced};
use crate::core::wire::json;

impl Session {
    pub(super) fn start_agent(
        &mut self,
        role: &Name,
        goal: &Arc<str>,
        cwd: Option<Name>,
        fork: bool,
    ) -> Progress<()> {
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
        conversation.just_args = vec![args.text().clone()];
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

    pub(super) fn end_agent(&mut self) {
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
            searched: None,
        };
        conversation.lead = Lead::Tools(vec![run]);
        self.ops.push_back(Op::Prepare);
    }
}
