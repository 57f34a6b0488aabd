//! What would have avoided what is paid again: changes are tried on the same run, and those that lose less are offered.

use std::sync::Arc;

use super::control::{Engine, Preview, adjusted};
use super::lanes::lanes;
use super::numbers::Numbers;
use super::ways::AsLoad;
use crate::app::views::{Fix, FixRow, ZoneFixes};
use crate::core::bench::{Bench, Keeping, MarkPlace, PlaceKind, Refresh};
use crate::core::cache::{Blame, Outcome, Totals, Verdict, What};
use crate::core::diagnostic::Position;
use crate::core::fact::Name;
use crate::core::run::{Belief, Input, Player, Refused, ScriptLine, Session};
use crate::core::text::number::Thousands;
use crate::core::wire::{CallNo, Request, Zone};
use crate::io::edit::bench::{BenchEdit, KeepRule};

/// Runs of more calls than this are not played again and again on every change that might help.
const CALLS: usize = 400;
/// No more changes than this are tried.
const MOST: usize = 24;
/// How many that help are offered.
const OFFERED: usize = 3;
/// How many changes are combined at most.
const TOGETHER: usize = 3;

/// What was tried on the run that is shown, and what is still to try.
#[derive(Default)]
pub struct Fixes {
    tried: Vec<Tried>,
    left: Vec<Try>,
    /// What the run as it is comes to, in each lane; empty until the first try.
    base: Vec<Totals>,
    wrong: u32,
    /// True once the changes to try are known.
    begun: bool,
    /// The single edits, of which combinations are made.
    singles: Vec<(String, BenchEdit)>,
    /// Those combinations that were extended already.
    extended: Vec<Vec<BenchEdit>>,
}

/// A change that might help.
struct Try {
    what: String,
    fix: Fix,
}

/// What came of it.
struct Tried {
    what: String,
    fix: Fix,
    /// In each lane; empty for one that could not be run.
    totals: Vec<Totals>,
    /// Calls in which the model believed something that is not so, or was not told.
    wrong: u32,
}

/// Calls in which the last word on a fact is wrong, or there is none.
fn wrong(session: &Session) -> u32 {
    let has = |belief: Belief| {
        let of = |record: &&Arc<crate::core::run::CallRecord>| {
            record.told.iter().any(|told| told.belief == belief)
        };
        session.calls().iter().filter(of).count() as u32
    };
    has(Belief::Stale) + has(Belief::Untold)
}

impl Fixes {
    /// True for what loses less than the run as it is, or costs less, in a lane, and leaves the model no less informed.
    fn helps(&self, tried: &Tried, lane: usize) -> bool {
        let Some((base, totals)) = self.base.get(lane).zip(tried.totals.get(lane)) else { return false };
        tried.wrong <= self.wrong && better(base, totals)
    }

    /// When all that is known was tried: the best edits of each lane, each with one more, as long as something is lost.
    fn combine(&mut self) {
        for lane in 0..self.base.len() {
            let edits = |tried: &Tried| match &tried.fix {
                Fix::Edits(edits) => Some(edits.clone()),
                _ => None,
            };
            let helping = self.tried.iter().filter(|tried| self.helps(tried, lane));
            let best = helping.min_by_key(|tried| (tried.totals[lane].lost, tried.totals[lane].cost));
            let found = self.tried.iter().filter(|tried| self.helps(tried, lane));
            let found = found.filter_map(|tried| Some((tried, edits(tried)?)));
            let Some((tried, edits)) = found
                .min_by_key(|(tried, edits)| (tried.totals[lane].lost, tried.totals[lane].cost, edits.len()))
            else {
                continue;
            };
            // What the author of the bench has named and loses nothing needs no company.
            let done = best.is_some_and(|best| best.totals[lane].lost == 0);
            if done || edits.len() >= TOGETHER || self.extended.contains(&edits) {
                continue;
            }
            self.extended.push(edits.clone());
            for (what, edit) in &self.singles {
                if self.tried.len() + self.left.len() >= MOST {
                    break;
                }
                if edits.iter().any(|other| same_thing(other, edit)) {
                    continue;
                }
                let mut more = edits.clone();
                more.push(edit.clone());
                let known = |fix: &Fix| matches!(fix, Fix::Edits(edits) if same_edits(edits, &more));
                if !self.tried.iter().any(|tried| known(&tried.fix))
                    && !self.left.iter().any(|left| known(&left.fix))
                {
                    self.left.push(Try { what: format!("{} AND {what}", tried.what), fix: Fix::Edits(more) });
                }
            }
        }
    }

    /// Those that lose less in a lane, the best first.
    pub(super) fn of_lane(&self, lane: usize) -> ZoneFixes {
        let all = self.tried.len() + self.left.len();
        let Some(base) = self.base.get(lane).filter(|base| base.unknown == 0) else {
            return ZoneFixes { rows: Vec::new(), tried: (self.tried.len(), all) };
        };
        let mut rows: Vec<&Tried> = self.tried.iter().filter(|tried| self.helps(tried, lane)).collect();
        let size = |tried: &Tried| match &tried.fix {
            Fix::Variants(names) => names.len(),
            Fix::Edits(edits) => edits.len(),
            Fix::Without(_) => 1,
        };
        rows.sort_by_key(|tried| {
            // Least lost; then what costs least; then what the bench's author named, and the smallest change.
            let named = !matches!(tried.fix, Fix::Variants(_));
            (tried.totals[lane].lost, tried.totals[lane].cost, named, size(tried))
        });
        // What costs more than it saves is worth a word only where nothing else helps.
        let first = rows.first().map(|tried| tried.totals[lane].cost);
        let dear = |tried: &Tried| {
            base.unpriced == 0
                && tried.totals[lane].cost > base.cost
                && Some(tried.totals[lane].cost) != first
        };
        rows.retain(|tried| !dear(tried));
        let row = |tried: &Tried| FixRow {
            what: tried.what.as_str().into(),
            worth: worth(base, &tried.totals[lane]).into(),
            fix: tried.fix.clone(),
        };
        ZoneFixes { rows: rows.into_iter().take(OFFERED).map(row).collect(), tried: (self.tried.len(), all) }
    }
}

/// `lost 9,472 -> 0 in the run, saves $0.0213`.
fn worth(base: &Totals, totals: &Totals) -> String {
    let about = if base.estimates + totals.estimates > 0 { "~" } else { "" };
    let n = |lost: u64| {
        let about = if lost == 0 { "" } else { about };
        format!("{about}{}", Thousands(lost))
    };
    let money = match (base.unpriced + totals.unpriced, base.cost > totals.cost) {
        (0, true) => format!(", saves {about}{}", base.cost.saturating_sub(totals.cost)),
        (0, false) if totals.cost > base.cost => {
            format!(", but costs {about}{} more", totals.cost.saturating_sub(base.cost))
        }
        _ => String::new(),
    };
    format!("lost {} -> {} in the run{money}", n(base.lost), n(totals.lost))
}

impl Engine {
    /// Tries one change that might lose less. False when there is nothing left to try.
    pub fn work_on_fixes(&mut self) -> bool {
        if !self.shows_zones() || self.preview.is_some() || !self.can_count_lanes() {
            return false;
        }
        let Some(ahead) = self.ahead.take() else { return false };
        let worked = self.try_next(&ahead);
        self.ahead = Some(ahead);
        worked
    }

    fn try_next(&mut self, ahead: &super::control::Ahead) -> bool {
        let Some(numbers) = &ahead.lanes else { return false };
        if ahead.player.session().calls().len() > CALLS {
            return false;
        }
        if !self.fixes.begun {
            self.fixes.begun = true;
            let count = 1 + self.beside().len();
            self.fixes.base = (0..count).map(|lane| numbers.totals(lane)).collect();
            self.fixes.wrong = wrong(ahead.player.session());
            if !outcomes(ahead.player.session(), numbers, count).is_empty() {
                let mut tries = self.tries(&ahead.player, numbers);
                tries.truncate(MOST);
                let single = |one: &Try| match &one.fix {
                    Fix::Edits(edits) if edits.len() == 1 => Some((one.what.clone(), edits[0].clone())),
                    _ => None,
                };
                self.fixes.singles = tries.iter().filter_map(single).collect();
                tries.reverse();
                self.fixes.left = tries;
            }
            return true;
        }
        if self.fixes.left.is_empty() {
            self.fixes.combine();
        }
        let Some(next) = self.fixes.left.pop() else { return false };
        let tried = self.tried(next);
        self.fixes.tried.push(tried);
        true
    }

    fn tried(&mut self, Try { what, fix }: Try) -> Tried {
        let Ok(player) = self.player_with(&fix, CallNo(u32::MAX)) else {
            return Tried { what, fix, totals: Vec::new(), wrong: 0 };
        };
        let beside = self.beside();
        let mut numbers = Numbers::new(self.models.clone(), lanes(&beside));
        numbers.extend(player.session(), true, &mut self.counters);
        let totals = (0..=beside.len()).map(|lane| numbers.totals(lane)).collect();
        Tried { what, fix, totals, wrong: wrong(player.session()) }
    }

    /// The run with a change, up to a call.
    fn player_with(&mut self, fix: &Fix, until: CallNo) -> Result<Player, Refused> {
        let refused = |problems: Vec<crate::core::diagnostic::Diagnostic>| {
            Refused(problems.first().map_or_else(String::new, |problem| problem.message.clone()))
        };
        let bench = match fix {
            Fix::Variants(variants) => self.edge.bench(variants).map_err(refused)?.0,
            Fix::Edits(edits) => self.edge.bench_edited(edits, &self.options.variants).map_err(Refused)?,
            Fix::Without(line) => {
                let (bench, _) = self.edge.bench(&self.options.variants).map_err(refused)?;
                Arc::new(without(&bench, self.player.run(), *line))
            }
        };
        let bench = adjusted(bench, &self.options);
        self.player.rebuild(bench, until, &mut AsLoad(&mut *self.edge))
    }

    /// Shows what a change would do, everywhere on the screen, and does not make it.
    pub(super) fn preview_fix(&mut self, fix: &Fix, what: Arc<str>) -> Result<(), Refused> {
        let until = self.player.session().next_call();
        let player = self.player_with(fix, until)?;
        self.preview = Some(Preview { typed: None, fix: Some(what), player, ahead: None });
        Ok(())
    }

    /// The changes worth trying: what the bench's author named, then what the differences of the run call for.
    fn tries(&self, ahead: &Player, numbers: &Numbers) -> Vec<Try> {
        let session = ahead.session();
        let bench = session.bench();
        let on = &self.options.variants;
        let mut tries: Vec<Try> = Vec::new();
        for name in self.edge.ways().into_iter().filter(|name| !on.contains(name)) {
            let mut variants = on.clone();
            variants.push(name);
            tries.push(Try { what: named(&variants), fix: Fix::Variants(variants) });
        }
        if let Some(pair) = super::ways::best_pair(&self.ways).filter(|pair| pair.variants != *on) {
            tries.push(Try { what: named(&pair.variants), fix: Fix::Variants(pair.variants.clone()) });
        }
        // What each difference calls for; combinations of that follow once it is known what helps.
        let mut found: Vec<(String, Vec<BenchEdit>)> = Vec::new();
        let mut lines: Vec<(String, Position)> = Vec::new();
        let happened = ahead.lines();
        for (call, outcome) in outcomes(session, numbers, 1 + self.beside().len()) {
            let small = |part: &Name| session.request(call).is_some_and(|request| is_small(&request, part));
            remedies(bench, outcome, &small, &mut found);
            let blames = outcome.blame.iter().chain(outcome.behind.iter().map(|behind| &behind.blame));
            let causes = blames.filter_map(|blame| blame.cause);
            for line in causes.filter_map(|cause| happened.get(&cause)) {
                avoidable(bench, ahead.run(), *line, &mut lines);
            }
            before(session, ahead, outcome, &mut lines);
        }
        tries.extend(found.into_iter().map(|(what, edits)| Try { what, fix: Fix::Edits(edits) }));
        tries.extend(lines.into_iter().map(|(what, line)| Try { what, fix: Fix::Without(line) }));
        tries
    }
}

fn named(variants: &[Name]) -> String {
    let names: Vec<String> = variants.iter().map(|name| name.replace('_', " ")).collect();
    match names.len() {
        1 => format!("variant {}", names[0]),
        _ => format!("variants {}", names.join(" AND ")),
    }
}

/// The outcomes of the run that lose something or pay it in full again and again, in any lane.
fn outcomes<'n>(session: &Session, numbers: &'n Numbers, lanes: usize) -> Vec<(CallNo, &'n Outcome)> {
    let calls = session.calls().iter().map(|record| record.call);
    let calls = calls.chain(session.prepared().map(|record| record.call));
    let all = calls.flat_map(|call| (0..lanes).map(move |lane| (call, lane)));
    let of = |(call, lane): (CallNo, usize)| Some((call, numbers.outcome(call, lane)?));
    all.filter_map(of)
        .filter(|(_, outcome)| outcome.lost().is_some_and(|lost| lost > 0) || outcome.uncovered > 0)
        .collect()
}

/// True when a run costs less: less is lost, or less is paid for what no mark covers.
fn better(base: &Totals, totals: &Totals) -> bool {
    let priced = totals.unpriced + base.unpriced == 0;
    // What is paid in full in each call is not lost, and still costs.
    let cheaper = priced && totals.cost.dollars() < base.cost.dollars() * 0.98;
    totals.unknown == 0 && (totals.lost < base.lost || totals.lost == base.lost && cheaper)
}

/// The same edits, in whatever order.
fn same_edits(a: &[BenchEdit], b: &[BenchEdit]) -> bool {
    a.len() == b.len() && a.iter().all(|edit| b.contains(edit))
}

/// True for two edits of which only one can hold.
fn same_thing(a: &BenchEdit, b: &BenchEdit) -> bool {
    match (a, b) {
        (BenchEdit::Keep { layer: a, rule: x, .. }, BenchEdit::Keep { layer: b, rule: y, .. }) => {
            a == b && x == y
        }
        (
            BenchEdit::Refresh { layer: a, .. } | BenchEdit::Place { layer: a, .. },
            BenchEdit::Refresh { layer: b, .. } | BenchEdit::Place { layer: b, .. },
        ) => a == b,
        (BenchEdit::MarkLife { mark: a, .. }, BenchEdit::MarkLife { mark: b, .. }) => a == b,
        _ => a == b,
    }
}

/// What could be changed in the bench against what an outcome says.
fn remedies(
    bench: &Bench,
    outcome: &Outcome,
    small: &dyn Fn(&Name) -> bool,
    found: &mut Vec<(String, Vec<BenchEdit>)>,
) {
    let mut add = |what: String, edits: Vec<BenchEdit>| {
        if !edits.is_empty() && !found.iter().any(|(_, other)| *other == edits) {
            found.push((what, edits));
        }
    };
    let verdicts = || std::iter::once(outcome.verdict).chain(outcome.also.iter().copied());
    if verdicts().any(|verdict| verdict == Verdict::Expired) && !bench.marks.is_empty() {
        let short = bench.marks.iter().enumerate().filter(|(_, mark)| mark.ttl < 3_600);
        let edits = short.map(|(mark, _)| BenchEdit::MarkLife { mark, ttl: Some("1h".into()) });
        add("marks with a life of 1 h".to_owned(), edits.collect());
    }
    let marked = |place: &MarkPlace| bench.marks.iter().any(|mark| mark.at == *place);
    let free = bench.marks.len() < 4;
    // Where marks mean nothing, one more changes nothing and is not offered.
    if free && !marked(&MarkPlace::LastMessage) {
        add(
            "a mark behind the last message".to_owned(),
            vec![BenchEdit::AddMark { at: "last_message".into(), ttl: None }],
        );
    }
    if free && !marked(&MarkPlace::Tools) && outcome.blame.as_ref().is_some_and(|b| b.zone == Zone::System) {
        add("a mark behind the tools".to_owned(), vec![BenchEdit::AddMark { at: "tools".into(), ttl: None }]);
    }
    let blames = outcome.blame.iter().chain(outcome.behind.iter().map(|behind| &behind.blame));
    for blame in blames {
        for part in std::iter::once(&blame.part).chain(&blame.with) {
            for (what, edit) in of_layer(bench, blame, part, small) {
                add(what, vec![edit]);
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
) -> Vec<(String, BenchEdit)> {
    let Some(layer) = bench.layer(part) else { return Vec::new() };
    let shown = super::publish::shown_name(bench, part);
    let mut edits = Vec::new();
    if blame.zone == Zone::Messages {
        let rules = [
            (KeepRule::Earlier, layer.keep.earlier, "earlier"),
            (KeepRule::Persist, layer.keep.persist, "persist"),
        ];
        // Inside of a turn only what is said again takes earlier text away.
        for (rule, keeping, word) in rules {
            let asked = blame.new_turn || rule == KeepRule::Earlier;
            if keeping == Keeping::Strip && asked && blame.what != What::Appeared {
                let edit = BenchEdit::Keep { layer: part.clone(), rule, keeping: Keeping::Keep };
                edits.push((format!("{word}: keep for {shown}"), edit));
            }
        }
        return edits;
    }
    // What changes belongs behind what does not: to the newest message, as far as the bench has such a place. What makes
    // up much of the prompt is not a remark that could be made elsewhere.
    let messages = bench.places.iter().filter(|(_, place)| {
        matches!(place.kind, PlaceKind::NewestTool | PlaceKind::CurrentUser | PlaceKind::Message { .. })
    });
    for (name, _) in messages.filter(|(name, _)| **name != layer.place && small(part)).take(3) {
        let edit = BenchEdit::Place { layer: part.clone(), place: name.clone() };
        edits.push((format!("{shown} in {name}"), edit));
    }
    if layer.refresh != Refresh::Session {
        let edit = BenchEdit::Refresh { layer: part.clone(), refresh: Refresh::Session };
        edits.push((format!("{shown} made once a session"), edit));
    }
    edits
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
        let crate::core::run::Happened::Input(input) = &step.what else { continue };
        if step.before != outcome.call {
            continue;
        }
        let (Some(what), Some(line)) = (choice(input), player.line_of(index)) else { continue };
        if !lines.iter().any(|(_, known)| *known == line) {
            lines.push((format!("{what} (line {})", line.line), line));
        }
    }
}

/// A bench whose run lacks a line.
fn without(bench: &Bench, run: Option<&Name>, line: Position) -> Bench {
    let mut bench = bench.clone();
    if let Some(script) = run.and_then(|run| bench.runs.get_mut(run)) {
        *script = script.iter().filter(|other| other.at != line).cloned().collect();
    }
    bench
}
