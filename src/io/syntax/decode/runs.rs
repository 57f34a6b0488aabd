//! `runs:`: scripted inputs, checked for an order in which they can happen.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::core::bench::CompactionRule;
use crate::core::diagnostic::Position;
use crate::core::fact::{Base, FactKey, FilePath, Found, Name, Value};
use crate::core::run::{Compaction, EditTarget, Input, ScriptLine, SessionEnd, ToolCall, reported_by};

use super::super::fields::LINE;
use super::super::node::{Entry, Kind, Node};
use super::super::scalar;
use super::super::shape::BESIDE_A_TOOL;
use super::super::template::Scope;
use super::{Decoder, flag, text, values};

/// What a run has come to.
struct Script {
    lines: Vec<ScriptLine>,
    /// A request is prepared: something was said, or tools have returned.
    prepared: bool,
    /// Some call has returned tool messages.
    called: bool,
}

impl Decoder<'_> {
    pub(super) fn runs(&mut self, root: &Node) -> IndexMap<Name, Arc<[ScriptLine]>> {
        let mut runs = IndexMap::new();
        for entry in root.get("runs").map(|node| node.entries()).unwrap_or_default() {
            if entry.key.is_empty() {
                self.problems.error(entry.at, "a run without a name", None);
            }
            let mut script = Script { lines: Vec::new(), prepared: false, called: false };
            self.lines(entry.value.items(), &mut script);
            runs.insert(entry.key.clone(), script.lines.into());
        }
        runs
    }

    fn lines(&mut self, nodes: &[Arc<Node>], script: &mut Script) {
        for node in nodes {
            let Some((kind, value)) = LINE.kind(node) else {
                // What the line was meant to be is not known, so the lines behind it are not judged by it.
                (script.prepared, script.called) = (true, true);
                continue;
            };
            if kind == "agent" {
                self.agent(value, node.at, script);
            } else if let Some(input) = self.input(kind, node, value, script) {
                script.lines.push(ScriptLine { at: node.at, input });
            }
        }
    }

    fn input(&mut self, kind: &str, node: &Node, value: &Arc<Node>, script: &mut Script) -> Option<Input> {
        let at = node.at;
        let said = || value.as_text().cloned();
        if matches!(kind, "call" | "say" | "fail") && !script.prepared {
            let hint = "a turn begins with `user:`; `say:` ends it".to_owned();
            self.problems.error(at, format!("`{kind}` answers a request, but none is prepared here"), hint);
        }
        match kind {
            "user" => {
                script.prepared = true;
                said().map(Input::User)
            }
            "call" => {
                script.prepared = true;
                script.called = true;
                let calls: Vec<ToolCall> = value.items().iter().filter_map(|node| self.call(node)).collect();
                if value.items().is_empty() && matches!(value.kind, Kind::Seq(_)) {
                    let hint = "an answer without calls is `say:`".to_owned();
                    self.problems.error(value.at, "`call` without a call", hint);
                }
                let text = node.get("text").and_then(|text| text.as_text().cloned());
                Some(Input::Call { text, calls })
            }
            "say" => {
                script.prepared = false;
                said().map(Input::Say)
            }
            "fail" => said().map(Input::FailedSend),
            "note" => said().map(Input::Note),
            "set" => {
                for entry in value.entries() {
                    self.set(entry);
                }
                Some(Input::Set(value.entries().iter().map(|e| (e.key.clone(), e.value.value())).collect()))
            }
            "write" => {
                let path = value.get("path").and_then(|path| self.run_path(path, "path"));
                Some(Input::Write { path: path?, text: text(value, "text")? })
            }
            "delete" => Some(Input::Delete(self.run_path(value, "delete")?)),
            "report" => {
                let found: Vec<_> = value.entries().iter().filter_map(|entry| self.report(entry)).collect();
                let fields: Vec<&str> = value.entries().iter().map(|entry| &*entry.key).collect();
                Some(Input::Observed { found, by: reported_by(&fields) })
            }
            "advance" => scalar::duration(value.as_text()?).map(Input::Advance),
            "model" => self.model(value).map(Input::Model),
            "request" => Some(Input::Params(super::params(Some(value)))),
            "tools" => {
                let mut names = Vec::new();
                for item in value.items() {
                    let name = item.as_text()?;
                    self.tool(name, item.at);
                    names.push(name.clone());
                }
                Some(Input::Tools(names))
            }
            "context_edit" => self.context_edit(value, script),
            "compact" => Some(Input::Compact(Compaction {
                summary: text(value, "summary")?,
                keep: super::count(value, "keep").and_then(|keep| u32::try_from(keep).ok()).unwrap_or(0),
                rebuild: flag(value, "rebuild"),
            })),
            "session" => {
                let how = match value.as_text().map(|text| &**text) {
                    Some("end") => SessionEnd::End,
                    Some("resume") => SessionEnd::Resume,
                    Some("crash") => SessionEnd::Crash,
                    _ => return None,
                };
                if script.prepared && how != SessionEnd::Crash {
                    let hint = "`say:` ends the turn before it, or let it be a `crash`".to_owned();
                    self.problems.error(at, "the session ends in the middle of a turn", hint);
                }
                script.prepared = false;
                script.called = false;
                Some(Input::Session(how))
            }
            _ => None,
        }
    }

    /// `compaction:`, which happens in every run.
    pub(super) fn compaction(&mut self, node: &Node) -> Option<CompactionRule> {
        let small = |key| super::count(node, key).and_then(|number| u32::try_from(number).ok());
        let summary = node.get("summary").and_then(|summary| self.inline(summary, Scope::Layer));
        Some(CompactionRule {
            at: small("at")?,
            window: small("window"),
            keep: small("keep").unwrap_or(0),
            rebuild: flag(node, "rebuild"),
            summary: summary?,
        })
    }

    fn run_path(&mut self, node: &Node, key: &str) -> Option<FilePath> {
        let path = self.path(node, key, "the workspace")?;
        if path.is_empty() {
            self.problems.error(node.at, format!("`{key}` names no file"), None);
            return None;
        }
        Some(FilePath::new(Base::Workspace, path))
    }

    /// What a client reports in a field.
    fn report(&mut self, entry: &Entry) -> Option<(FactKey, Found)> {
        if !self.reported_fields.contains(&entry.key) {
            let hint = Decoder::hint(&entry.key, &self.reported_fields);
            self.problems.error(entry.at, format!("no read has `reported: {}`", entry.key), hint);
            return None;
        }
        let found = match entry.value.kind {
            Kind::Text => Found::Value(Value::Text(entry.value.text.clone())),
            Kind::Null => Found::Absent,
            _ => {
                let what = entry.value.describe();
                let hint = "write a text, or `null` to clear it".to_owned();
                self.problems.error(
                    entry.value.at,
                    format!("a report must be a text, but this is {what}"),
                    hint,
                );
                return None;
            }
        };
        Some((FactKey::Reported(entry.key.clone()), found))
    }

    /// A fact of the bench, or a field of its agent.
    fn set(&mut self, entry: &Entry) {
        match entry.key.strip_prefix("agent.") {
            Some(field) if !self.checker.names.agent.iter().any(|known| &**known == field) => {
                let hint = Decoder::hint(field, &self.checker.names.agent);
                self.problems.error(entry.at, format!("the agent has no field `{field}`"), hint);
            }
            Some(_) => {}
            None => {
                self.settable(&entry.key, entry.at);
            }
        }
    }

    fn call(&mut self, node: &Node) -> Option<ToolCall> {
        let tool = node.entries().iter().find(|entry| !BESIDE_A_TOOL.contains(&&*entry.key))?;
        self.tool(&tool.key, tool.at);
        Some(ToolCall {
            tool: tool.key.clone(),
            args: values(Some(&tool.value)),
            result: text(node, "result"),
            written: text(node, "arguments"),
            mediator: text(node, "mediator"),
        })
    }

    fn context_edit(&mut self, node: &Node, script: &Script) -> Option<Input> {
        let message = node.get("message")?;
        let target = match message.kind {
            Kind::Int(n) => EditTarget::Message(u32::try_from(n).ok()?),
            _ => EditTarget::NewestTool,
        };
        if target == EditTarget::NewestTool && !script.called {
            let hint = "a `call:` before it makes tool messages".to_owned();
            self.problems.error(message.at, "there is no tool message yet", hint);
        }
        if let Some(delete) = node.get("delete")
            && !flag(node, "delete")
        {
            let hint = "`delete: true`, or `text:` with the new text".to_owned();
            self.problems.error(delete.at, "a `context_edit` that changes nothing", hint);
        }
        Some(Input::ContextEdit { target, text: text(node, "text") })
    }

    /// A sub-agent: its start, its own lines, its end. Its goal is what it was told, so its first request is prepared.
    fn agent(&mut self, node: &Node, at: Position, script: &mut Script) {
        let (Some(role), Some(goal)) = (text(node, "role"), text(node, "goal")) else { return };
        if role.is_empty() || role.contains('/') {
            let hint = "it becomes the last part of the id: `main/reviewer`".to_owned();
            self.problems.error(node.at, format!("`{role}` cannot be the role of a sub-agent"), hint);
        }
        let cwd = text(node, "cwd");
        script
            .lines
            .push(ScriptLine { at, input: Input::StartAgent { role, goal, cwd, fork: flag(node, "fork") } });
        let mut own = Script { lines: Vec::new(), prepared: true, called: false };
        self.lines(node.get("run").map(|run| run.items()).unwrap_or_default(), &mut own);
        script.lines.append(&mut own.lines);
        script.lines.push(ScriptLine { at, input: Input::EndAgent });
    }
}
