//! What could be changed against what a run loses: what the bench's author named, then what the differences of the run
//! call for. None of it is tried here.

use super::{Change, Fix, How, KeepRule};
use crate::core::bench::{Bench, Keeping, MarkPlace, PlaceKind, Refresh};
use crate::core::cache::{Blame, Outcome, Verdict, What};
use crate::core::diagnostic::Position;
use crate::core::fact::Name;
use crate::core::run::{Happened, Input, Player, ScriptLine, Session};
use crate::core::wire::{CallNo, Request, Zone};

/// What the bench's author named, and what of it is on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// The variants that are on, in order.
    pub on: &'a [Name],
    /// Variants that tell the same agent the same thing in another way.
    pub ways: &'a [Name],
    /// Two of them that are known to go well together.
    pub pair: Option<&'a [Name]>,
}

/// The changes worth trying against these outcomes of a run, played to its end, each with its call.
#[must_use]
pub fn remedies(run: &Player, outcomes: &[(CallNo, &Outcome)], given: Given<'_>) -> Vec<Fix> {
    let session = run.session();
    let bench = session.bench();
    let variants =
        |names: Vec<Name>| Fix { said: named(&names), how: How::Variants(names), worth: Vec::new() };
    let single = |way: &Name| variants(given.on.iter().chain([way]).cloned().collect());
    let ways = given.ways.iter().filter(|way| !given.on.contains(way));
    let mut fixes: Vec<Fix> = ways.map(single).collect();
    if let Some(pair) = given.pair.filter(|pair| *pair != given.on) {
        fixes.push(variants(pair.to_vec()));
    }
    // What each difference calls for; combinations of that follow once it is known what helps.
    let mut found: Vec<Fix> = Vec::new();
    let mut lines: Vec<(String, Position)> = Vec::new();
    let happened = run.lines();
    for &(call, outcome) in outcomes {
        let small = |part: &Name| session.request(call).is_some_and(|request| is_small(&request, part));
        against(bench, outcome, &small, &mut found);
        let blames = outcome.blame.iter().chain(outcome.behind.iter().map(|behind| &behind.blame));
        let causes = blames.filter_map(|blame| blame.cause);
        for line in causes.filter_map(|cause| happened.get(&cause)) {
            avoidable(bench, run.run(), *line, &mut lines);
        }
        before(session, run, outcome, &mut lines);
    }
    fixes.extend(found);
    let without = |(said, line)| Fix { said, how: How::Without(line), worth: Vec::new() };
    fixes.extend(lines.into_iter().map(without));
    fixes
}

fn named(variants: &[Name]) -> String {
    let names: Vec<String> = variants.iter().map(|name| name.replace('_', " ")).collect();
    match names.len() {
        1 => format!("variant {}", names[0]),
        _ => format!("variants {}", names.join(" AND ")),
    }
}

/// What could be changed in the bench against what an outcome says.
fn against(bench: &Bench, outcome: &Outcome, small: &dyn Fn(&Name) -> bool, found: &mut Vec<Fix>) {
    let mut add = |what: String, changes: Vec<Change>| {
        if !changes.is_empty() && !found.iter().any(|known| known.changes() == changes) {
            found.push(Fix::new(what, changes));
        }
    };
    let verdicts = || std::iter::once(outcome.verdict).chain(outcome.also.iter().copied());
    if verdicts().any(|verdict| verdict == Verdict::Expired) && !bench.marks.is_empty() {
        let short = bench.marks.iter().enumerate().filter(|(_, mark)| mark.ttl < 3_600);
        let changes = short.map(|(mark, _)| Change::MarkLife(mark, "1h".into()));
        add("marks with a life of 1 h".to_owned(), changes.collect());
    }
    let marked = |place: &MarkPlace| bench.marks.iter().any(|mark| mark.at == *place);
    let free = bench.marks.len() < 4;
    // Where marks mean nothing, one more changes nothing and is not offered.
    if free && !marked(&MarkPlace::LastMessage) {
        add("a mark behind the last message".to_owned(), vec![Change::AddMark("last_message".into())]);
    }
    if free && !marked(&MarkPlace::Tools) && outcome.blame.as_ref().is_some_and(|b| b.zone == Zone::System) {
        add("a mark behind the tools".to_owned(), vec![Change::AddMark("tools".into())]);
    }
    let blames = outcome.blame.iter().chain(outcome.behind.iter().map(|behind| &behind.blame));
    for blame in blames {
        for part in std::iter::once(&blame.part).chain(&blame.with) {
            for (what, change) in of_layer(bench, blame, part, small) {
                add(what, vec![change]);
            }
        }
    }
}

/// True for a part of the system prompt that makes up less than a fifth of it.
fn is_small(request: &Request, part: &Name) -> bool {
    let blocks = request.zone(Zone::System);
    let all: usize = blocks.iter().map(|block| block.text.len()).sum();
    let own = blocks.iter().flat_map(|block| block.text.parts()).filter(|other| other.id == *part);
    own.map(|part| part.end - part.start).sum::<usize>() * 5 < all
}

/// What could be changed about a layer that broke the prefix.
fn of_layer(
    bench: &Bench,
    blame: &Blame,
    part: &Name,
    small: &dyn Fn(&Name) -> bool,
) -> Vec<(String, Change)> {
    let Some(layer) = bench.layer(part) else { return Vec::new() };
    let shown = layer.shown();
    let mut changes = Vec::new();
    if blame.zone == Zone::Messages {
        let rules = [
            (KeepRule::Earlier, layer.keep.earlier, "earlier"),
            (KeepRule::Persist, layer.keep.persist, "persist"),
        ];
        // Inside of a turn only what is said again takes earlier text away.
        for (rule, keeping, word) in rules {
            let asked = blame.new_turn || rule == KeepRule::Earlier;
            if keeping == Keeping::Strip && asked && blame.what != What::Appeared {
                let change = Change::Keep(part.clone(), rule, Keeping::Keep);
                changes.push((format!("{word}: keep for {shown}"), change));
            }
        }
        return changes;
    }
    // What changes belongs behind what does not: to the newest message, as far as the bench has such a place. What makes
    // up much of the prompt is not a remark that could be made elsewhere.
    let messages = bench.places.iter().filter(|(_, place)| {
        matches!(place.kind, PlaceKind::NewestTool | PlaceKind::CurrentUser | PlaceKind::Message { .. })
    });
    for (name, _) in messages.filter(|(name, _)| **name != layer.place && small(part)).take(3) {
        changes.push((format!("{shown} in {name}"), Change::Place(part.clone(), name.clone())));
    }
    if layer.refresh != Refresh::Session {
        let change = Change::Refresh(part.clone(), Refresh::Session);
        changes.push((format!("{shown} made once a session"), change));
    }
    changes
}

/// A line of the script whose happening is the agent's own choice, and not what its user wants of it.
fn avoidable(bench: &Bench, run: Option<&Name>, line: Position, lines: &mut Vec<(String, Position)>) {
    if lines.iter().any(|(_, known)| *known == line) {
        return;
    }
    let Some(run) = run.and_then(|run| bench.runs.get(run)) else { return };
    let Some(ScriptLine { input, .. }) = run.iter().find(|other| other.at == line) else { return };
    if let Some(what) = choice(input) {
        lines.push((format!("{what} (line {})", line.line), line));
    }
}

/// What was chosen; none for what could not be left.
fn choice(input: &Input) -> Option<String> {
    Some(match input {
        Input::Model(model) => format!("without the switch to {model}"),
        Input::Params(values) => {
            let names = values.keys().map(|name| &**name).collect::<Vec<_>>().join(", ");
            format!("without the change of {names}")
        }
        Input::Tools(_) => "without the change of the tools".to_owned(),
        Input::ContextEdit { .. } => "without the context edit".to_owned(),
        Input::Compact(_) => "without the compaction".to_owned(),
        Input::Advance(_) => "without the wait".to_owned(),
        _ => return None,
    })
}

/// What happened between an outcome's call and the one before it, where the bytes cannot say it: time, model, parameters.
fn before(session: &Session, player: &Player, outcome: &Outcome, lines: &mut Vec<(String, Position)>) {
    let verdicts = || std::iter::once(outcome.verdict).chain(outcome.also.iter().copied());
    let told = |verdict: Verdict| {
        matches!(
            verdict,
            Verdict::Expired | Verdict::ModelChanged | Verdict::SettingsChanged | Verdict::Compacted
        )
    };
    if !verdicts().any(told) {
        return;
    }
    for (index, step) in session.steps().enumerate() {
        let Happened::Input(input) = &step.what else { continue };
        if step.before != outcome.call {
            continue;
        }
        let (Some(what), Some(line)) = (choice(input), player.line_of(index)) else { continue };
        if !lines.iter().any(|(_, known)| *known == line) {
            lines.push((format!("{what} (line {})", line.line), line));
        }
    }
}
