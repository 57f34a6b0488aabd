//! Looks at one bench: plays its runs and gathers what is wrong.

use std::path::Path;

use super::contract::{Held, walked};
use super::{Checked, Found, LintIn, Lost, Recorded, call_of};
use crate::app::engine::{Counters, Numbers, lints, with_labels};
use crate::cli::args::CheckArgs;
use crate::cli::compare::named_models;
use crate::cli::open::Bench;
use crate::cli::output::{Failure, Result};
use crate::core::cache::Lane;
use crate::core::contract::Contract;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::core::run::Player;
use crate::core::wire::{CallNo, compare};

/// What is found in a bench; the inner error for what keeps this bench alone from being checked.
pub(super) fn check(
    path: &Path,
    args: &CheckArgs,
    recorded: Option<&Recorded>,
    several: bool,
) -> Result<std::result::Result<Checked, Vec<Diagnostic>>> {
    match checked(path, args, recorded) {
        Ok(checked) => Ok(Ok(checked)),
        Err(Failure::Diagnostics(problems)) => Ok(Err(problems)),
        Err(Failure::Message(message)) => {
            let problem = Diagnostic::error(message);
            // Alone it is the one that was named.
            Ok(Err(vec![if several { problem.in_file(path.display().to_string()) } else { problem }]))
        }
        Err(failure @ Failure::Output(_)) => Err(failure),
    }
}

fn checked(path: &Path, args: &CheckArgs, recorded: Option<&Recorded>) -> Result<Checked> {
    let mut bench = Bench::open(path, &args.bench)?;
    let mut found = Found { diagnostics: bench.warnings().to_vec(), ..Found::default() };
    if let Some(Recorded { document, .. }) = recorded {
        let call = args.call.unwrap_or_else(|| call_of(document));
        let player = bench.play_to(call)?;
        let request = bench.request(&player, call).map_err(|failure| match (failure, args.call) {
            (Failure::Message(message), None) => Failure::message(format!(
                "{message}; the recording holds {} answers, so that is its request; --call N compares another",
                document.answers()
            )),
            (failure, _) => failure,
        })?;
        found.diagnostics.extend(problems(&player, call));
        found.against = Some((call, compare(&request, document)));
        found.name_files(&bench);
        return Ok(Checked { bench, found });
    }
    let held = Held::of(&bench)?;
    // What is to be written anew may name what is gone.
    let strangers = held.as_ref().filter(|_| !args.accept).map(|held| held.strangers(&bench.bench));
    if let Some(strangers) = strangers.filter(|strangers| !strangers.is_empty()) {
        return Err(Failure::Diagnostics(
            strangers.into_iter().map(|one| bench.seen_from_here(one)).collect(),
        ));
    }
    if held.is_none() && args.accept {
        let message =
            format!("{}: there is no bench file beside which a contract could stand", path.display());
        return Err(Failure::message(message));
    }
    let promised = args.contract || held.as_ref().is_some_and(|held| held.exists);
    // A contract is about all runs.
    let all = args.all_runs || (promised || args.accept) && args.bench.play.run.is_none();
    let runs: Vec<Option<Name>> = match &args.bench.play.run {
        Some(run) => vec![Some(Name::from(&**run))],
        None if all && !bench.bench.runs.is_empty() => bench.bench.runs.keys().cloned().map(Some).collect(),
        None => vec![bench.bench.runs.keys().next().cloned()],
    };
    let default = runs.first().cloned().flatten();
    let mut played: Vec<(Option<Name>, Player)> = Vec::new();
    for run in &runs {
        let mut player = bench.start_run(run.as_deref())?;
        while bench.beat(&mut player)? {}
        played.push((run.clone(), player));
    }
    for (run, player) in &played {
        for call in 1..=player.session().next_call().0 {
            for problem in problems(player, call) {
                if !found.diagnostics.contains(&problem) {
                    found.diagnostics.push(problem);
                }
            }
        }
        // Lints and limits look at the run that was asked for; a contract alone brings no others in.
        if args.all_runs || *run == default {
            let named = run.clone().filter(|_| args.all_runs && runs.len() > 1);
            look(&mut bench, player, named, args, &mut found)?;
        }
    }
    if let Some(held) = held {
        if args.accept {
            found.accepted = Some(held.accept(&played, args.hashes)?);
        } else if promised {
            for (run, player) in &played {
                for breach in held.breaches(run.as_ref(), player) {
                    let known = found.breaches.iter().any(|known| {
                        known.promise == breach.promise
                            && known.part == breach.part
                            && known.diagnostic == breach.diagnostic
                    });
                    if !known {
                        found.breaches.push(breach);
                    }
                }
            }
        }
    } else if args.contract {
        for (run, player) in &played {
            found.breaches.extend(walked(&Contract::default(), run.as_ref(), player).0);
        }
    }
    found.name_files(&bench);
    Ok(Checked { bench, found })
}

/// The lints of a run, what their fixes are worth, and what the run pays again.
fn look(
    bench: &mut Bench,
    player: &Player,
    run: Option<Name>,
    args: &CheckArgs,
    found: &mut Found,
) -> Result<()> {
    let session = player.session();
    let models = bench.models().clone();
    let mut counters = Counters::default();
    let mut numbers = Numbers::new(models.clone(), [Lane::AsSent]);
    numbers.extend(session, true, &mut counters);
    let links = || bench.file.loaded().links();
    let mut findings = lints::survey(session, &numbers, &models, &mut counters, &links, usize::MAX);
    findings.retain(|finding| !args.skip.contains(&finding.lint));
    let mut asked: Vec<Name> = vec![session.bench().model.clone()];
    let others = named_models(&args.models, &models)?;
    asked.extend(others.into_iter().filter(|model| **model != *session.bench().model));
    if let Some(pricing) = lints::Pricing::new(player, &asked, &models, &mut counters) {
        for finding in &mut findings {
            pricing.price(finding, player, &models, &mut counters, |fix| {
                bench.played_with(player, fix, &args.bench)
            });
        }
    }
    for finding in findings {
        let same =
            |known: &&mut LintIn| known.finding.lint == finding.lint && known.finding.about == finding.about;
        match found.lints.iter_mut().find(same) {
            None => found.lints.push(LintIn { runs: run.iter().cloned().collect(), finding }),
            // The same in another run: it is told of the run in which it costs most.
            Some(known) if finding.tokens > known.finding.tokens => {
                known.runs.splice(0..0, run.iter().cloned());
                known.finding = finding;
            }
            Some(known) => known.runs.extend(run.iter().cloned()),
        }
    }
    let Some(limit) = args.max_lost else { return Ok(()) };
    let totals = numbers.totals(0);
    let calls = (1..=session.next_call().0).filter_map(|call| {
        let outcome = numbers.outcome(CallNo(call), 0)?;
        if outcome.lost().is_none_or(|lost| lost == 0) {
            return None;
        }
        let place = outcome.blame.as_ref().and_then(|blame| blame.written.as_ref()).map(|written| {
            let mut place = Diagnostic::error("").in_file(written.file.clone());
            place.at = Some(written.at);
            place
        });
        Some((with_labels(session, |labels| outcome.sentence(labels)), place))
    });
    found.lost.push(Lost {
        run: run.or_else(|| player.run().cloned()),
        model: session.bench().model.clone(),
        limit,
        tokens: (totals.unknown == 0).then_some(totals.lost),
        estimate: totals.estimates > 0,
        calls: calls.collect(),
    });
    Ok(())
}

/// What went wrong in the layers of a call.
fn problems(player: &Player, call: u32) -> Vec<Diagnostic> {
    let session = player.session();
    let sent = session.calls().get(call as usize - 1).map(|record| &**record);
    let record = sent.or_else(|| session.prepared().filter(|record| record.call.0 == call));
    record
        .map(|record| record.diagnostics.iter().map(|problem| (**problem).clone()).collect())
        .unwrap_or_default()
}
