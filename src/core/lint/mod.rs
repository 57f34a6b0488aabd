//! Lints: what is likely a mistake in a prompt that can be built all the same. One file for each.
//!
//! A lint that cries wolf is switched off and never read again: each says only what it can prove from the bytes of one
//! request and from who wrote them.

mod budget;
mod contradiction;
mod duplicate;

use serde::Serialize;

use crate::core::bench::Bench;
use crate::core::cache::Written;
use crate::core::diagnostic::{Diagnostic, Position, Severity};
use crate::core::fact::Name;
use crate::core::run::CallRecord;
use crate::core::text::{Part, Traced};
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{CallNo, Request};

/// The lints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lint {
    /// A layer or a place is larger than its author allows it.
    Budget,
    /// Two layers say the same.
    Duplicate,
    /// Two layers name different working directories.
    Contradiction,
}

impl Lint {
    /// All of them.
    pub const ALL: [Lint; 3] = [Lint::Budget, Lint::Duplicate, Lint::Contradiction];

    /// Its word on command lines and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Lint::Budget => "budget",
            Lint::Duplicate => "duplicate",
            Lint::Contradiction => "contradiction",
        }
    }
}

/// One call, to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The bench.
    pub bench: &'a Bench,
    /// The call.
    pub record: &'a CallRecord,
    /// What it was or would be sent.
    pub request: &'a Request,
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
    fn tokens(&mut self, text: &str) -> Option<u64> {
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
    found
}

/// Adds what was found in one more call. The same finding in several calls is one finding, at its most expensive.
pub fn merge(all: &mut Vec<Finding>, found: Vec<Finding>) {
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
        let calls = vec![subject.record.call];
        Finding {
            lint,
            about,
            tokens,
            calls,
            diagnostic: Diagnostic { severity: Severity::Warning, ..diagnostic },
        }
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
fn shown(bench: &Bench, id: &Name) -> Name {
    bench.layer(id).map_or_else(|| id.clone(), |layer| layer.shown().clone())
}

/// A diagnostic at the place where a layer stands in the bench.
fn at_layer(bench: &Bench, id: &str, message: String) -> Diagnostic {
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
fn at_byte(bench: &Bench, text: &Traced, part: &Part, byte: usize, message: String) -> Diagnostic {
    use crate::core::text::Made;
    let made = text.span_at(byte).map(|(_, span)| &span.origin.made);
    let source = match made {
        Some(Made::Verbatim { source, .. } | Made::Derived { source, .. }) => Some(source),
        Some(Made::Fact { placeholder: Some((source, _)), .. }) => Some(source),
        _ => None,
    };
    match (source, source_of(text, byte)) {
        // A scalar of the bench has its place in the bench's text.
        (Some(source), Some((file, at, _))) => {
            let whole = if file == bench.source.name { &bench.source.text } else { &source.text };
            Diagnostic::warning(message).at(file, whole, at)
        }
        _ => at_layer(bench, &part.id, message),
    }
}

/// A number with a comma between thousands.
fn grouped(number: u64) -> String {
    crate::core::overlay::grouped(usize::try_from(number).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(about: &str, call: u32, tokens: u64) -> Finding {
        Finding {
            lint: Lint::Budget,
            about: vec![about.into()],
            tokens: Some(tokens),
            calls: vec![CallNo(call)],
            diagnostic: Diagnostic::warning(format!("{tokens} over")),
        }
    }

    #[test]
    fn the_same_finding_in_several_calls_is_one_at_its_worst() {
        let mut all = Vec::new();
        for (call, tokens) in [(1, 5), (2, 9), (3, 7), (5, 7)] {
            merge(&mut all, vec![finding("base", call, tokens)]);
        }
        merge(&mut all, vec![finding("rules", 5, 1)]);
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].calls_words(), &*all[0].diagnostic.message), ("calls 1-3, 5".into(), "9 over"));
        assert_eq!(all[1].calls_words(), "call 5");
    }

    #[test]
    fn every_lint_has_a_word_of_its_own() {
        for lint in Lint::ALL {
            assert_eq!(serde_json::to_value(lint).expect("JSON"), lint.word());
        }
    }
}
