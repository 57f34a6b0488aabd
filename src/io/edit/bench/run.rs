//! What happened, as the lines of a run that stands in a bench file.

use super::tree::Refusal;
use super::value;
use crate::core::fact::{Base, FactKey, Found, Name, Value};
use crate::core::run::{EditTarget, Input, SessionEnd, ToolCall};
use crate::io::syntax::node::Node;

/// What is wrong with a name for a run, so that the file stays easy to read: one sentence, lower case, without a full stop.
#[must_use]
pub fn problem_with(name: &str) -> Option<String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    match name {
        "" => Some("a name is wanted".to_owned()),
        name if !name.starts_with(char::is_alphabetic) => Some("a name begins with a letter".to_owned()),
        name if !name.chars().all(fits) => Some("a name is made of letters, digits, _ and -".to_owned()),
        _ => None,
    }
}

/// The list of lines.
pub(super) fn node(lines: &[Input]) -> Result<Node, Refusal> {
    Ok(value::seq(list(&mut lines.iter(), false)?))
}

/// The list of lines as the text behind a key in `column`, for a bench that is written anew.
///
/// # Errors
///
/// When a line is none that a bench can hold: one sentence, lower case, without a full stop.
pub(crate) fn laid(lines: &[Input], column: usize) -> Result<String, String> {
    Ok(value::laid(&node(lines)?, column, "\n"))
}

/// The lines up to the end of them, or of the sub-agent.
fn list(lines: &mut std::slice::Iter<'_, Input>, inside: bool) -> Result<Vec<Node>, Refusal> {
    let mut out = Vec::new();
    while let Some(line) = lines.next() {
        out.push(match line {
            Input::EndAgent if inside => return Ok(out),
            Input::StartAgent { role, goal, cwd, fork } => {
                let mut agent = vec![("role", value::text(role)), ("goal", value::text(goal))];
                agent.extend(cwd.iter().map(|cwd| ("cwd", value::text(cwd))));
                agent.extend(fork.then(|| ("fork", value::plain("true"))));
                agent.push(("run", value::seq(list(lines, true)?)));
                value::map([("agent", value::map(agent))])
            }
            line => value::map(entries(line)?),
        });
    }
    Ok(out)
}

/// What a line says: the key that names it, and what stands beside it.
fn entries(line: &Input) -> Result<Vec<(&'static str, Node)>, Refusal> {
    let text = |text: &str| value::text(text);
    let one = |key, node| Ok(vec![(key, node)]);
    match line {
        Input::User(said) => one("user", text(said)),
        Input::Call { text: said, calls } => {
            let mut entries: Vec<(&'static str, Node)> = Vec::new();
            entries.extend(said.iter().map(|said| ("text", text(said))));
            entries.push(("call", value::seq(calls.iter().map(call).collect::<Result<Vec<_>, _>>()?)));
            Ok(entries)
        }
        Input::Say(said) => one("say", text(said)),
        Input::FailedSend(reason) => one("fail", text(reason)),
        Input::Note(note) => one("note", text(note)),
        Input::Set(values) => one("set", map(values.iter())?),
        Input::Write { path, text: written } if path.base == Base::Workspace => {
            one("write", value::map([("path", text(&path.path)), ("text", text(written))]))
        }
        Input::Delete(path) if path.base == Base::Workspace => one("delete", text(&path.path)),
        Input::Advance(seconds) => one("advance", text(&format!("{seconds}s"))),
        Input::Model(model) => one("model", text(model)),
        Input::Params(values) => {
            let value = |value: &Option<Name>| value::plain(value.as_deref().unwrap_or("default"));
            one("request", value::map(values.iter().map(|(name, chosen)| (name.clone(), value(chosen)))))
        }
        Input::Tools(names) => one("tools", value::seq(names.iter().map(|name| text(name)))),
        Input::ContextEdit { target, text: new } => {
            let message = match target {
                EditTarget::NewestTool => text("newest_tool"),
                EditTarget::Message(number) => value::int(i64::from(*number)),
            };
            let change = match new {
                Some(new) => ("text", text(new)),
                None => ("delete", value::plain("true")),
            };
            one("context_edit", value::map([("message", message), change]))
        }
        Input::Compact(compaction) => {
            let mut entries = vec![("summary", text(&compaction.summary))];
            entries.extend((compaction.keep > 0).then(|| ("keep", value::int(i64::from(compaction.keep)))));
            entries.extend(compaction.rebuild.then(|| ("rebuild", value::plain("true"))));
            one("compact", value::map(entries))
        }
        Input::Session(how) => one(
            "session",
            text(match how {
                SessionEnd::End => "end",
                SessionEnd::Resume => "resume",
                SessionEnd::Crash => "crash",
            }),
        ),
        Input::Observed { found, .. } => {
            let reports = found.iter().map(|(key, found)| match (key, found) {
                (FactKey::Reported(field), Found::Value(Value::Text(reported))) => {
                    Ok((field.clone(), text(reported)))
                }
                (FactKey::Reported(field), Found::Absent) => Ok((field.clone(), value::plain("null"))),
                (key, _) => Err(format!("a change of {key} by somebody else is no line of a run")),
            });
            one("report", value::map(reports.collect::<Result<Vec<_>, _>>()?))
        }
        Input::Write { path, .. } | Input::Delete(path) => {
            Err(format!("{path} lies outside of the workspace: no line of a run writes it"))
        }
        Input::Sent | Input::TakeBack | Input::StartAgent { .. } | Input::EndAgent => {
            Err("this is no line of a run".to_owned())
        }
    }
}

/// A tool call, with what stands beside its tool.
fn call(call: &ToolCall) -> Result<Node, Refusal> {
    let mut entries = vec![(call.tool.clone(), map(call.args.iter())?)];
    let beside = [("arguments", &call.written), ("result", &call.result), ("mediator", &call.mediator)];
    entries.extend(
        beside.into_iter().filter_map(|(key, said)| Some((Name::from(key), value::text(said.as_ref()?)))),
    );
    Ok(value::map(entries))
}

fn map<'v>(entries: impl Iterator<Item = (&'v Name, &'v Value)>) -> Result<Node, Refusal> {
    let entries = entries.map(|(name, value)| {
        let node = value::of(value).ok_or("a file cannot be written into a bench")?;
        Ok::<_, Refusal>((name.clone(), node))
    });
    Ok(value::map(entries.collect::<Result<Vec<_>, _>>()?))
}
