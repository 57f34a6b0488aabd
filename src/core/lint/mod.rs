//! Lints: what is likely a mistake in a prompt that can be built all the same. One file for each.
//!
//! A lint that cries wolf is switched off and never read again: each says only what it can prove from the bytes of one
//! request and from who wrote them.

mod below_minimum;
mod budget;
mod contradiction;
mod dead_mark;
mod duplicate;
mod equal_priority;
mod injected_turn;
mod key_order;
mod run;
mod split_tool_call;
mod table;
#[cfg(test)]
mod tests;
mod too_many_marks;
mod unclosed;
mod volatile_first;
mod without;

pub use run::{Sent, Survey};
pub use table::{Lint, Row, TABLE};
pub use without::without;

use std::collections::BTreeMap;

use crate::core::bench::Bench;
use crate::core::cache::Written;
use crate::core::diagnostic::{Diagnostic, Position, Severity};
use crate::core::fact::Name;
use crate::core::fix::{Fix, Worth};
use crate::core::run::CallRecord;
use crate::core::text::number::grouped;
use crate::core::text::{Part, Traced};
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{CallNo, Request};

/// One call, to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The bench.
    pub bench: &'a Bench,
    /// The call.
    pub record: &'a CallRecord,
    /// What it was or would be sent.
    pub request: &'a Request,
    /// Files that are links, by name, with what they lead to: two links to one file lead to the same name.
    pub links: &'a BTreeMap<Name, Name>,
}

/// What a lint found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The lint.
    pub lint: Lint,
    /// The layers (or the place) that it is about, by id, the one to look at first.
    pub about: Vec<Name>,
    /// The tokens that it costs in each request; none where it costs none, or they cannot be counted.
    pub tokens: Option<u64>,
    /// The calls in which it was found.
    pub calls: Vec<CallNo>,
    /// Changes of the bench of which each alone would put it right, the best guess first; what each is worth is for
    /// whoever can play the run again. Empty where no change of the bench does.
    pub fixes: Vec<Fix>,
    /// What it would be worth without what was found, model by model, once somebody has worked it out: where that is no
    /// matter of the bench alone.
    pub worth: Vec<Worth>,
    /// Why the bench allows it; none where it does not.
    pub allowed: Option<Name>,
    /// What is said, where, and what to do about it.
    pub diagnostic: Diagnostic,
}

/// Counts tokens, and says how.
pub struct Price<'a> {
    /// None where nothing can be counted (yet).
    pub measure: Option<&'a mut dyn Measure>,
    /// How.
    pub method: &'a Method,
}

impl Price<'_> {
    /// The tokens of a text alone.
    pub(crate) fn tokens(&mut self, text: &str) -> Option<u64> {
        self.measure.as_mut().map(|measure| u64::from(measure.tokens(&text.into())))
    }

    /// `1,234 tokens`, `~1,234 tokens`; empty where they are not known.
    fn words(&self, tokens: Option<u64>) -> String {
        tokens.map_or_else(String::new, |tokens| {
            let unit = if tokens == 1 { "token" } else { "tokens" };
            format!("{}{} {unit}", self.method.sign(), grouped(tokens))
        })
    }
}

/// Looks at a call with every lint.
#[must_use]
pub fn check(subject: &Subject<'_>, price: &mut Price<'_>) -> Vec<Finding> {
    let mut found = budget::check(subject, price);
    found.extend(duplicate::check(subject, price));
    found.extend(contradiction::check(subject));
    found.extend(unclosed::check(subject, price));
    found.extend(split_tool_call::check(subject));
    found.extend(injected_turn::check(subject));
    found.extend(equal_priority::check(subject));
    found.extend(key_order::check(subject));
    for finding in &mut found {
        finding.allowed = allowed(subject.bench, finding);
    }
    found
}

/// The reason for which a bench allows a finding: that of one of the layers that it is about, else its own.
fn allowed(bench: &Bench, finding: &Finding) -> Option<Name> {
    let word = finding.lint.word();
    let mut layers = finding.about.iter().filter_map(|id| bench.layer(id)?.allow.get(word));
    layers.next().cloned().or_else(|| bench.allow.get(word).cloned())
}

/// Adds what was found in one more call. The same finding in several calls is one finding, at its most expensive.
pub fn merge(all: &mut Vec<Finding>, found: impl IntoIterator<Item = Finding>) {
    for finding in found {
        let same = all.iter_mut().find(|known| known.lint == finding.lint && known.about == finding.about);
        let Some(known) = same else {
            all.push(finding);
            continue;
        };
        let calls = std::mem::take(&mut known.calls);
        let worse = finding.tokens > known.tokens;
        if worse {
            known.clone_from(&finding);
        }
        known.calls = calls;
        known.calls.extend(finding.calls);
    }
}

impl Finding {
    fn new(
        lint: Lint,
        subject: &Subject<'_>,
        about: Vec<Name>,
        tokens: Option<u64>,
        diagnostic: Diagnostic,
    ) -> Finding {
        Finding::in_call(lint, subject.record.call, about, tokens, diagnostic)
    }

    fn in_call(
        lint: Lint,
        call: CallNo,
        about: Vec<Name>,
        tokens: Option<u64>,
        diagnostic: Diagnostic,
    ) -> Finding {
        Finding {
            lint,
            about,
            tokens,
            calls: vec![call],
            fixes: Vec::new(),
            worth: Vec::new(),
            allowed: None,
            diagnostic: Diagnostic { severity: lint.level(), ..diagnostic },
        }
    }

    fn fixed_by(mut self, fixes: impl IntoIterator<Item = Fix>) -> Finding {
        self.fixes.extend(fixes);
        self
    }

    /// True for what counts: not allowed, and more than a note.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.allowed.is_none() && self.diagnostic.severity != Severity::Note
    }

    /// The calls, as people write them: `call 2`, `calls 1-3, 5`.
    #[must_use]
    pub fn calls_words(&self) -> String {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for call in &self.calls {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == call.0 => *last = call.0,
                _ => runs.push((call.0, call.0)),
            }
        }
        let runs: Vec<String> = runs
            .into_iter()
            .map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") })
            .collect();
        format!("{} {}", if self.calls.len() == 1 { "call" } else { "calls" }, runs.join(", "))
    }
}

/// What screens call a layer.
pub(crate) fn shown(bench: &Bench, id: &Name) -> Name {
    bench.layer(id).map_or_else(|| id.clone(), |layer| layer.shown().clone())
}

/// True where a layer writes something in a call.
fn included(subject: &Subject<'_>, id: &str) -> bool {
    let state = subject.record.layer(id);
    state.and_then(|state| state.state.piece.text()).is_some_and(|text| !text.is_empty())
}

/// A diagnostic at the place where a layer stands in the bench.
pub(crate) fn at_layer(bench: &Bench, id: &str, message: String) -> Diagnostic {
    let problem = Diagnostic::warning(message);
    match bench.layer(id) {
        Some(layer) => problem.at(bench.source.name.clone(), &bench.source.text, layer.at),
        None => problem.in_file(bench.source.name.clone()),
    }
}

/// Where the byte of a text comes from: the file and the place in it, and that file's text.
fn source_of(text: &Traced, byte: usize) -> Option<(Name, Position, Option<Name>)> {
    let (range, span) = text.span_at(byte)?;
    let written = Written::of(&span.origin, byte - range.start)?;
    Some((written.file, written.at, written.expression))
}

/// A diagnostic about a byte of a layer: at the text that wrote it, else where the layer stands in the bench.
pub(crate) fn at_byte(bench: &Bench, text: &Traced, part: &Part, byte: usize, message: String) -> Diagnostic {
    use crate::core::text::Made;
    let made = text.span_at(byte).map(|(_, span)| &span.origin.made);
    let source = match made {
        Some(Made::Verbatim { source, .. } | Made::Derived { source, .. }) => Some(source),
        Some(Made::Fact { placeholder: Some((source, _)), .. }) => Some(source),
        _ => None,
    };
    match (source, source_of(text, byte)) {
        // A scalar of the bench has its place in the bench's text.
        (Some(_), Some((file, at, _))) if file == bench.source.name => {
            Diagnostic::warning(message).at(file, &bench.source.text, at)
        }
        (Some(source), Some((file, at, _))) => {
            // A source may be a piece of its file: the line is looked for where its text has that place.
            let mut problem = Diagnostic::warning(message).in_file(file);
            problem.at = Some(at);
            let mut start = 0;
            problem.line = source.text.split('\n').find_map(|line| {
                let here = source.position(start).line == at.line;
                start += line.len() + 1;
                here.then(|| line.trim_end_matches('\r').to_owned())
            });
            problem
        }
        _ => at_layer(bench, &part.id, message),
    }
}

/// A diagnostic at a key of the bench file's top level, such as `marks`; at the file where it has none.
fn at_key(bench: &Bench, key: &str, message: String) -> Diagnostic {
    let text = &bench.source.text;
    let problem = Diagnostic::warning(message);
    let found =
        text.lines().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')));
    match found.and_then(|line| u32::try_from(line).ok()) {
        Some(line) => problem.at(bench.source.name.clone(), text, Position { line: line + 1, column: 1 }),
        None => problem.in_file(bench.source.name.clone()),
    }
}
