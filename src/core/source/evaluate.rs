//! One layer, evaluated: its text or why there is none, and everything it read.

use std::sync::Arc;

use super::choice::Choice;
use super::context::{self, Facts};
use super::environment::Templates;
use super::render::{self, file_source};
use super::{Failure, each, lines, refs, table};
use crate::core::bench::{Bench, CapUnit, Layer, LayerSource, OnError};
use crate::core::diagnostic::{Diagnostic, Position, Severity};
use crate::core::fact::{FactKey, FileText, Lookup, Name, Progress, Reads, Value};
use crate::core::text::{Made, Traced, cut};

/// What evaluating needs beside facts.
#[derive(Debug)]
pub struct Scope<'a> {
    /// The bench.
    pub bench: &'a Bench,
    /// Compiled templates.
    pub templates: &'a mut Templates,
}

/// What a layer came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Its text, one part (several for a block of places), and how many characters a cap took away.
    Text {
        /// The text.
        text: Traced,
        /// Characters that were cut.
        cut: usize,
    },
    /// It is left out: why.
    Omitted(Arc<str>),
    /// It failed and is left out: why.
    Failed(Arc<Diagnostic>),
    /// It failed and the bench says that no request may be built without it.
    Stopped(Arc<Diagnostic>),
}

impl Piece {
    /// The text, if there is one.
    #[must_use]
    pub fn text(&self) -> Option<&Traced> {
        match self {
            Piece::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// A layer, evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// What it came to.
    pub piece: Piece,
    /// What it read.
    pub reads: Arc<Reads>,
    /// What went wrong on the way, though there is a text.
    pub diagnostic: Option<Arc<Diagnostic>>,
    /// What was chosen for it, and what was not.
    pub choice: Arc<Choice>,
}

/// Evaluates a layer. `block` is the composed text of the place that a `place` source names.
pub fn evaluate(
    layer: &Layer,
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    block: Option<&Traced>,
) -> Progress<Evaluated> {
    let mut reads = Reads::default();
    let mut choice = Choice::default();
    let mut result = condition(layer, scope, facts, &mut reads)
        .and_then(|()| text(layer, scope, facts, block, &mut choice, &mut reads));
    if let Err(Failure::Failed(failed)) = &mut result
        && failed.file.is_none()
    {
        // What has no place of its own failed where the layer stands.
        let source = &scope.bench.source;
        let placed = std::mem::replace(&mut **failed, Diagnostic::error(""));
        **failed = placed.at(source.name.clone(), &source.text, layer.at);
    }
    let mut diagnostic = None;
    if let Err(Failure::Failed(failed)) = &result
        && let OnError::Use(fallback) = &layer.on_error
    {
        let mut warning = (**failed).clone();
        warning.severity = Severity::Warning;
        diagnostic = Some(Arc::new(warning));
        result =
            render::template(&layer.id, fallback, scope, facts, &[], None, &mut reads).map(|text| (text, 0));
    }
    if diagnostic.is_none() {
        diagnostic = noted(&reads, facts, scope.bench).map(Arc::new);
    }
    let choice = Arc::new(choice);
    let piece = match result {
        Ok((text, cut)) => {
            let reads = Arc::new(reads);
            let text = with_reads(&text, &reads, matches!(layer.from, LayerSource::Place(_)));
            let piece = Piece::Text { text, cut };
            return Progress::Done(Evaluated { piece, reads, diagnostic, choice });
        }
        Err(Failure::Needs(needs)) => return Progress::Needs(needs),
        Err(Failure::Nothing(reason)) => Piece::Omitted(reason.into()),
        Err(Failure::Failed(failed)) if layer.on_error == OnError::Stop => Piece::Stopped(Arc::from(failed)),
        Err(Failure::Failed(failed)) => Piece::Failed(Arc::from(failed)),
    };
    Progress::Done(Evaluated { piece, reads: Arc::new(reads), diagnostic, choice })
}

/// What a reader should know about the files that a layer read: what was cut, replaced or not loaded.
fn noted(reads: &Reads, facts: &dyn Facts, bench: &Bench) -> Option<Diagnostic> {
    let mut told: Vec<(Arc<FileText>, Vec<Arc<str>>)> = Vec::new();
    for key in reads.0.keys() {
        if let Lookup::Ready(value, ..) = facts.look(key) {
            collect_notes(&value, &mut told);
        }
    }
    let joined = |notes: &[Arc<str>]| notes.join("; ");
    let whole = told.iter().flat_map(|(_, notes)| notes).all(|note| FileText::is_whole_with(note));
    let severity = if whole { Severity::Note } else { Severity::Warning };
    match &*told {
        [] => None,
        [(file, notes)] => Some(noted_at(Diagnostic::new(severity, joined(notes)), file, notes, bench)),
        files => {
            let each: Vec<String> =
                files.iter().map(|(file, notes)| format!("{}: {}", file.path, joined(notes))).collect();
            let (file, notes) = &files[0];
            Some(noted_at(Diagnostic::new(severity, each.join(". ")), file, notes, bench))
        }
    }
}

/// Where what is noted of a file is to be seen: at the end of what was read of it, at the first character that had to be
/// replaced, and for a file of another name where the bench reads this one.
fn noted_at(problem: Diagnostic, file: &FileText, notes: &[Arc<str>], bench: &Bench) -> Diagnostic {
    use crate::core::bench::ReadKind;
    let place = |problem: Diagnostic, byte: usize| {
        let at = Position::at(&file.text, file.start(), &file.jumps, byte);
        let before = file.text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let line = file.text[before..].lines().next().unwrap_or_default();
        let mut problem = problem.in_file(file.path.to_string());
        problem.at = Some(at);
        // A line of a file that was cut in it may be anything long.
        problem.line = (line.len() <= 400).then(|| line.to_owned());
        problem
    };
    if notes.iter().any(|note| note.ends_with(" is")) {
        let reads = bench.reads.values();
        let mut reads =
            reads.filter(|read| matches!(&read.kind, ReadKind::File { path, .. } if *path == file.path));
        if let Some(read) = reads.next() {
            return problem.at(bench.source.name.clone(), &bench.source.text, read.at);
        }
    }
    if notes.iter().any(|note| note.starts_with("cut at")) && !file.text.is_empty() {
        let last = file.text.char_indices().next_back().map_or(0, |(at, _)| at);
        return place(problem, last);
    }
    if let Some(replaced) = file.text.find('\u{fffd}') {
        return place(problem, replaced);
    }
    problem.in_file(file.path.to_string())
}

/// The notes of every file in a value. A file may come twice: as it was read, and as a fact made of it.
fn collect_notes(value: &Value, told: &mut Vec<(Arc<FileText>, Vec<Arc<str>>)>) {
    match value {
        Value::File(file) if !file.notes.is_empty() => {
            let index = told.iter().position(|(known, _)| known.path == file.path).unwrap_or_else(|| {
                told.push((file.clone(), Vec::new()));
                told.len() - 1
            });
            for note in &file.notes {
                if !told[index].1.contains(note) {
                    told[index].1.push(note.clone());
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| collect_notes(item, told)),
        Value::Map(map) => map.values().for_each(|item| collect_notes(item, told)),
        _ => {}
    }
}

/// Whether a condition holds.
///
/// # Errors
///
/// When the expression fails.
pub fn holds(
    when: &crate::core::bench::Expression,
    bench: &Bench,
    templates: &Templates,
    facts: &dyn Facts,
) -> Result<Progress<bool>, Box<Diagnostic>> {
    match render::expression(when, bench, templates, facts, &[], false, &mut Reads::default()) {
        Ok(value) => Ok(Progress::Done(value.is_true())),
        Err(Failure::Needs(needs)) => Ok(Progress::Needs(needs)),
        Err(Failure::Failed(diagnostic)) => Err(diagnostic),
        Err(Failure::Nothing(_)) => Ok(Progress::Done(false)),
    }
}

fn condition(layer: &Layer, scope: &Scope<'_>, facts: &dyn Facts, reads: &mut Reads) -> Result<(), Failure> {
    let Some(when) = &layer.when else { return Ok(()) };
    if render::expression(when, scope.bench, scope.templates, facts, &[], false, reads)?.is_true() {
        Ok(())
    } else {
        Err(Failure::Nothing(match &*when.text {
            "false" => "switched off (when: false)".to_owned(),
            condition => format!("when: {condition} does not hold"),
        }))
    }
}

fn text(
    layer: &Layer,
    scope: &mut Scope<'_>,
    facts: &dyn Facts,
    block: Option<&Traced>,
    choice: &mut Choice,
    reads: &mut Reads,
) -> Result<(Traced, usize), Failure> {
    let (text, already_cut) = match &layer.from {
        LayerSource::Template(template) => {
            (render::template(&layer.id, template, scope, facts, &[], None, reads)?, 0)
        }
        LayerSource::Table { rows, on, matching, join } => {
            (table::text(layer, rows, on, *matching, join, scope, facts, choice, reads)?, 0)
        }
        LayerSource::Each { .. } => each::text(layer, scope, facts, choice, reads)?,
        LayerSource::Lines { of, frame } => lines::text(layer, of, frame.as_ref(), scope, facts, reads)?,
        LayerSource::Fact { name, drop_refs: None } => (fact(layer, name, facts, reads)?, 0),
        LayerSource::Fact { name, drop_refs: Some(skills) } => {
            (without_refs(layer, &fact(layer, name, facts, reads)?, skills, facts, reads)?, 0)
        }
        LayerSource::Said => (fact(layer, &"said".into(), facts, reads)?, 0),
        LayerSource::Place(place) => match block {
            Some(block) if !block.is_empty() => (block.clone(), 0),
            _ => return Err(Failure::Nothing(format!("place {place} is empty"))),
        },
    };
    if text.is_empty() {
        return Err(Failure::Nothing("empty".into()));
    }
    let drops_blank = scope.bench.places.get(&layer.place).is_some_and(|place| place.drop_blank);
    if drops_blank && text.text().trim().is_empty() {
        return Err(Failure::Nothing("blank".into()));
    }
    match &layer.cap {
        // Items and the lines of a `lines` source were limited where they still were items and lines.
        Some(cap)
            if !cap.whole_items
                && cap.unit != CapUnit::Items
                && !matches!(layer.from, LayerSource::Lines { .. }) =>
        {
            let (text, chars) = cut::traced(&text, cap);
            Ok((text, chars + already_cut))
        }
        _ => Ok((text, already_cut)),
    }
}

/// A fact's text as it is.
fn fact(layer: &Layer, name: &Name, facts: &dyn Facts, reads: &mut Reads) -> Result<Traced, Failure> {
    let key = FactKey::Named(name.clone());
    let lookup = facts.look(&key);
    context::note_named(name, facts, true, reads);
    match lookup {
        Lookup::Ready(value, rev, cause) => {
            let made = match &value {
                Value::File(file) => Made::Verbatim { source: file_source(file, rev), at: 0 },
                _ => Made::Fact { key, rev, placeholder: None },
            };
            let text = value.as_text().cloned().unwrap_or_else(|| value.to_string().into());
            Ok(Traced::whole(layer.id.clone(), text, made, cause))
        }
        Lookup::Absent(_) => Err(Failure::Nothing(format!("{name} is not there"))),
        Lookup::Failed(reason, _) => Err(Failure::failed(Diagnostic::error(unreadable(name, &reason)))),
        Lookup::Unknown => Err(Failure::Needs(vec![facts.behind(&key)])),
    }
}

/// That a fact cannot be read. What was read from a file is told by the file's name, which its user knows.
pub(super) fn unreadable(name: &str, reason: &str) -> String {
    match reason.split_once(": ") {
        // The reason of a program begins with what was run.
        Some((file, reason)) if !file.contains('`') => match reason.strip_prefix("it is not ") {
            Some(format) => format!("{file} is not {format} (it is read as `{name}`)"),
            None => format!("{file} cannot be read: {reason} (it is read as `{name}`)"),
        },
        _ => format!("{name} cannot be read: {reason}"),
    }
}

/// A text without what refers to one of these skills.
fn without_refs(
    layer: &Layer,
    text: &Traced,
    skills: &Name,
    facts: &dyn Facts,
    reads: &mut Reads,
) -> Result<Traced, Failure> {
    let key = FactKey::Named(skills.clone());
    context::note_named(skills, facts, true, reads);
    let names = match facts.look(&key) {
        Lookup::Ready(value, ..) => refs::names(&value),
        Lookup::Absent(_) => Vec::new(),
        Lookup::Failed(reason, _) => {
            return Err(Failure::failed(Diagnostic::error(unreadable(skills, &reason))));
        }
        Lookup::Unknown => return Err(Failure::Needs(vec![facts.behind(&key)])),
    };
    match text.ranges().next() {
        Some((_, span)) if !names.is_empty() => {
            Ok(refs::pieces(&layer.id, text.text(), &refs::kept(text.text(), &names), &span.origin))
        }
        _ => Ok(text.clone()),
    }
}

/// Gives every part of a text the reads of its layer; the parts of a block of places have their own already.
fn with_reads(text: &Traced, reads: &Arc<Reads>, has_own: bool) -> Traced {
    if has_own { text.clone() } else { text.with_reads(reads) }
}
