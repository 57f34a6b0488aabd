//! The verdict: what the shown call pays, what hides behind its break, and what lies ahead.

use std::sync::Arc;

use crate::app::effect::TextPlace;
use crate::app::engine::numbers::{Numbers, with_labels};
use crate::app::snapshot::{Tone, VerdictLine};
use crate::app::views::Spot;
use crate::core::cache::{Blame, Outcome, Verdict};
use crate::core::run::{Answer, Session};
use crate::core::text::number::Thousands;
use crate::core::wire::CallNo;

/// The lines. `ahead` is the run played to its end; `fix` says which variant loses less.
#[must_use]
pub fn verdict(
    session: &Session,
    ahead: &Session,
    numbers: &Numbers,
    call: CallNo,
    fix: Option<&str>,
) -> Vec<VerdictLine> {
    let mut lines = Vec::new();
    let failed = (call.0 as usize).checked_sub(1).and_then(|index| session.calls().get(index));
    if let Some(Answer::Failed(reason)) = failed.and_then(|record| record.answer.as_ref()) {
        let text = format!("failed: {reason}. Nothing was told; the next call tells it again.");
        lines.push(line(format!("CALL {}", call.0), text, Tone::Bad));
    }
    if let Some(outcome) = numbers.outcome(call, 0) {
        lines.extend(of_call(session, outcome, fix));
    }
    lines.extend(of_rest(ahead, numbers, call, fix));
    // What makes a price doubtful comes last: the tokens stand.
    let about_prices = numbers.outcome(call, 0).into_iter().flat_map(|outcome| &outcome.notes);
    lines.extend(
        about_prices
            .filter(|note| !note.doubts_the_read())
            .map(|note| line("NOTE", note.sentence(), Tone::Plain)),
    );
    lines
}

fn line(label: impl Into<Arc<str>>, text: impl Into<Arc<str>>, tone: Tone) -> VerdictLine {
    VerdictLine { label: label.into(), text: text.into(), short: None, tone, at: None }
}

/// Where the first of the differences is that an outcome blames.
pub(in crate::app::engine) fn spot(call: CallNo, blame: &Blame) -> Spot {
    Spot {
        call: Some(call),
        author: blame.part.clone(),
        message: blame.message,
        text: blame.written.as_ref().map(|written| TextPlace::Named(written.file.clone(), written.at)),
    }
}

/// False for what no bench can do anything about: that another model was asked, that parameters changed, what a provider
/// does without a reason that is known.
fn avoidable(outcome: &Outcome) -> bool {
    !matches!(
        outcome.verdict,
        Verdict::ModelChanged
            | Verdict::SettingsChanged
            | Verdict::Routing
            | Verdict::Refused
            | Verdict::Unexplained
    )
}

/// The call and what hides behind its first break.
fn of_call(session: &Session, outcome: &Outcome, fix: Option<&str>) -> Vec<VerdictLine> {
    let (text, short) = with_labels(session, |labels| (outcome.sentence(labels), outcome.short(labels)));
    let head = format!("call {} ", outcome.call.0);
    let strip = |sentence: String| sentence.strip_prefix(&head).map_or(sentence.clone(), str::to_owned);
    let (mut text, short) = (strip(text), strip(short));
    let lost = outcome.lost().is_some_and(|lost| lost > 0);
    let differs = short != text;
    if outcome.uncovered > 0 && !matches!(outcome.verdict, Verdict::NotCached | Verdict::First) {
        text.push_str(&format!(
            " {} tokens stand behind the last mark and are paid in full.",
            outcome.n(outcome.uncovered)
        ));
    }
    if let Some(fix) = fix.filter(|_| lost && avoidable(outcome)) {
        text.push_str(&format!(" Fix: {fix}."));
    }
    let tone = if lost || outcome.verdict.is_break() { Tone::Bad } else { Tone::Good };
    let short = differs.then(|| Arc::from(short));
    let at = outcome.blame.as_ref().map(|blame| spot(outcome.call, blame));
    let mut lines = vec![VerdictLine { short, at, ..line(format!("CALL {}", outcome.call.0), text, tone) }];
    // That what is read may be gone by then belongs to the sentence that says how much is read.
    let doubts = outcome.notes.iter().filter(|note| note.doubts_the_read());
    lines.extend(doubts.map(|note| line("NOTE", note.sentence(), Tone::Plain)));
    for (index, behind) in outcome.behind.iter().enumerate() {
        let clause = with_labels(session, |labels| behind.blame.clause(labels));
        // Each counts what is lost with everything in front of it fixed.
        let fixed = if index == 0 { "the first" } else { "all before it" };
        let still = outcome.n(behind.still_lost);
        let short = format!("{}: {still} still lost with only {fixed} fixed.", behind.blame.place());
        let text = format!("{clause}; with only {fixed} fixed, {still} would still be lost.");
        let at = Some(spot(outcome.call, &behind.blame));
        lines.push(VerdictLine { short: Some(short.into()), at, ..line("BEHIND", text, Tone::Bad) });
    }
    lines
}

/// The calls that the script still holds.
fn of_rest(ahead: &Session, numbers: &Numbers, call: CallNo, fix: Option<&str>) -> Option<VerdictLine> {
    let last = numbers.calls() as u32;
    let held = last.saturating_sub(call.0);
    if held == 0 {
        return None;
    }
    let breaks: Vec<&Outcome> = (call.0 + 1..=last)
        .filter_map(|call| numbers.outcome(CallNo(call), 0))
        .filter(|outcome| outcome.lost().is_some_and(|lost| lost > 0))
        .collect();
    let Some(first) = breaks.first() else {
        let calls = if held == 1 { "call" } else { "calls" };
        return Some(line(
            "AHEAD",
            format!("no break in the {held} {calls} that the script still holds."),
            Tone::Good,
        ));
    };
    let lost: u64 = breaks.iter().filter_map(|outcome| outcome.lost()).map(u64::from).sum();
    let (mut text, short) = with_labels(ahead, |labels| (first.sentence(labels), first.short(labels)));
    if let Some(fix) = fix.filter(|_| breaks.iter().any(|outcome| avoidable(outcome))) {
        text.push_str(&format!(" Fix: {fix}."));
    }
    let count = breaks.len();
    let about = if breaks.iter().any(|outcome| outcome.estimate) { "~" } else { "" };
    let lost = Thousands(lost);
    let text = format!(
        "{count} break{}, {about}{lost} tokens paid again: {text}",
        if count == 1 { "" } else { "s" }
    );
    let at = first.blame.as_ref().map(|blame| spot(first.call, blame));
    Some(VerdictLine { short: Some(short.into()), at, ..line("AHEAD", text, Tone::Bad) })
}
