//! A tool that searches the documents of a `docs:` read.

use std::sync::Arc;

use super::{Outcome, mediator};
use crate::core::bench::{Search, Template};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{FactKey, Lookup, Progress, Value};
use crate::core::run::input::ToolCall;
use crate::core::run::record::Searched;
use crate::core::run::session::Session;
use crate::core::search;
use crate::core::source::{self, Facts};
use crate::core::text::Made;

/// A piece of a document that was found.
struct Hit<'v> {
    chunk: &'v Value,
    text: String,
}

impl Session {
    pub(super) fn search(&self, call: &ToolCall, effect: &Search, cwd: &Arc<str>) -> Progress<Outcome> {
        let view = self.view(self.current());
        let failed = |reason: String| Progress::Done(Outcome::plain(format!("error: {reason}"), cwd));
        let Some(question) = call.args.get(&effect.query).map(|value| value.to_string()) else {
            return failed(format!("no argument `{}`", effect.query));
        };
        let key = FactKey::Named(effect.over.clone());
        let documents = match view.look(&key) {
            Lookup::Ready(documents, ..) => documents,
            Lookup::Unknown => return Progress::Needs(vec![view.behind(&key)]),
            Lookup::Failed(reason, _) => return failed(format!("{} cannot be read: {reason}", effect.over)),
            Lookup::Absent(_) => Value::Null,
        };
        let chunks: Vec<&Value> = documents
            .as_list()
            .unwrap_or_default()
            .iter()
            .flat_map(|document| document.get("chunks").and_then(Value::as_list).unwrap_or_default())
            .collect();
        let hits = hits(&chunks, &question, effect);
        let private = match &effect.private {
            None => None,
            Some(private) => {
                match source::holds(&private.when, &self.bench, &self.templates(), &view) {
                    Ok(Progress::Done(holds)) => holds.then_some(private),
                    Ok(Progress::Needs(needs)) => return Progress::Needs(needs),
                    // Whoever cannot tell whether it is private treats it as private.
                    Err(_) => Some(private),
                }
            }
        };
        let count = |count: usize| Value::Int(count as i64);
        let mut found = vec![
            ("query", Value::text(&*question)),
            ("total", count(chunks.len())),
            ("selected", count(hits.len())),
            ("documents", count(documents.as_list().map_or(0, <[Value]>::len))),
        ];
        let mut searched = Searched { total: chunks.len(), selected: hits.len(), mediated: None };
        let (template, lines): (&Template, &[Template]) = match private {
            // Its templates see counts and a verdict: what they cannot see they cannot tell.
            Some(private) => {
                // A scripted answer may copy nothing of any document, found or not.
                let all: Vec<&str> = chunks
                    .iter()
                    .filter_map(|chunk| chunk.get("text").and_then(Value::as_text))
                    .map(|text| &**text)
                    .collect();
                let scripted = call.mediator.as_deref();
                let verdict = mediator::decide(&private.rules, &question, hits.len(), &all, scripted);
                searched.mediated = Some(verdict.told());
                found.push(("verdict", verdict.value()));
                (&private.result, &private.log)
            }
            None => {
                let shown = hits.iter().map(|hit| {
                    let field = |name| hit.chunk.get(name).cloned().unwrap_or(Value::Null);
                    Value::map([
                        ("path", field("path")),
                        ("heading", field("heading")),
                        ("text", Value::text(hit.text.as_str())),
                    ])
                });
                found.push(("hits", Value::list(shown)));
                (&effect.result, &effect.log)
            }
        };
        let found = Value::map(found);
        let render = |template: &Template| -> Progress<Result<Arc<str>, Box<Diagnostic>>> {
            source::text_of(template, &self.bench, &mut self.templates(), &view, &[("found", &found)])
        };
        let result = match render(template) {
            Progress::Done(Ok(text)) => text,
            Progress::Done(Err(problem)) => return failed(problem.message.clone()),
            Progress::Needs(needs) => return Progress::Needs(needs),
        };
        let mut told = Vec::new();
        for line in lines {
            match render(line) {
                Progress::Done(Ok(text)) => told.push(text),
                Progress::Done(Err(problem)) => told.push(problem.message.as_str().into()),
                Progress::Needs(needs) => return Progress::Needs(needs),
            }
        }
        Progress::Done(Outcome {
            result,
            made: Made::Literal,
            set: None,
            write: None,
            cwd: cwd.clone(),
            lines: told,
            searched: Some(searched),
        })
    }
}

/// What fits the question best, within the limits: blank chunks are none, and the first that does not fit ends it.
fn hits<'v>(chunks: &[&'v Value], question: &str, effect: &Search) -> Vec<Hit<'v>> {
    let text = |chunk: &Value| chunk.get("text").and_then(Value::as_text).cloned().unwrap_or_default();
    let texts: Vec<Arc<str>> = chunks.iter().map(|chunk| text(chunk)).collect();
    let ranked = search::search(texts.iter().map(|text| &**text), question, usize::MAX);
    let mut left = effect.total_chars;
    let mut hits = Vec::new();
    for at in ranked {
        let cut: String = texts[at.index].chars().take(effect.item_chars).collect();
        if cut.trim().is_empty() {
            continue;
        }
        let chars = cut.chars().count();
        if hits.len() == effect.top || chars > left {
            break;
        }
        left -= chars;
        hits.push(Hit { chunk: chunks[at.index], text: cut });
    }
    hits
}
