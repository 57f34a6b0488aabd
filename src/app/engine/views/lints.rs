//! What the lints found in the run that is on, with the changes that would put it right.

use std::sync::Arc;

use crate::app::engine::edge::Edge;
use crate::app::engine::lints::{MOST_CALLS, played, price, survey};
use crate::app::engine::numbers::{Counters, Numbers};
use crate::app::views::{LintFix, LintRow, LintsView};
use crate::core::bench::Bench;
use crate::core::cache::Models;
use crate::core::diff::lines;
use crate::core::fact::Name;
use crate::core::lint::Fix;
use crate::core::run::Player;
use crate::core::tokens::Method;
use crate::io::edit::Original;
use crate::io::edit::bench::edited_by;

/// Looks at a run, played to its end, and works out what each change is worth on its model.
pub fn lints(
    player: &Player,
    numbers: &Numbers,
    models: &Arc<Models>,
    counters: &mut Counters,
    edge: &mut dyn Edge,
    variants: &[Name],
    adjust: &dyn Fn(Arc<Bench>) -> Arc<Bench>,
) -> LintsView {
    let session = player.session();
    let model = session.bench().model.clone();
    let mut findings = survey(session, numbers, models, counters, &|| edge.links(), MOST_CALLS);
    for finding in findings.iter_mut().filter(|finding| finding.allowed.is_none()) {
        price(finding, player, std::slice::from_ref(&model), models, counters, |fix| {
            played(fix, player, edge, variants, adjust)
        });
    }
    let rows = findings.into_iter().map(|finding| {
        let fixes = finding.fixes.iter().map(|fix| fix_row(fix, edge)).collect();
        LintRow { finding, fixes }
    });
    let calls = session.next_call().0 as usize;
    LintsView {
        first: (calls > MOST_CALLS).then_some(MOST_CALLS),
        run: player.run().cloned(),
        rows: rows.collect(),
        estimate: matches!(models.get(&model).method, Method::Estimate { .. }),
    }
}

fn fix_row(fix: &Fix, edge: &dyn Edge) -> LintFix {
    let made = edge
        .bench_file()
        .ok_or_else(|| "the built-in bench is part of the program".to_owned())
        .and_then(|(path, key)| {
            let original = Original::read(&path)?;
            let (bytes, _) = edited_by(&key.path, &original, fix)?;
            Ok((original.text().clone(), Original::of(bytes)?.text().clone()))
        });
    match made {
        Ok((old, new)) => LintFix { fix: fix.clone(), diff: diff(&old, &new), refused: None },
        Err(reason) => LintFix { fix: fix.clone(), diff: Vec::new(), refused: Some(reason) },
    }
}

/// The lines that go and come, each hunk with a line around it.
fn diff(old: &str, new: &str) -> Vec<(char, String)> {
    let (a, b): (Vec<&str>, Vec<&str>) = (lines::split(old).collect(), lines::split(new).collect());
    let mut out = Vec::new();
    let shown = |line: &str| line.trim_end_matches(['\n', '\r']).to_owned();
    for hunk in lines::hunks(&a, &b) {
        if let Some(before) = hunk.old.start.checked_sub(1) {
            out.push((' ', shown(a[before])));
        }
        out.extend(a[hunk.old.clone()].iter().map(|line| ('-', shown(line))));
        out.extend(b[hunk.new.clone()].iter().map(|line| ('+', shown(line))));
        if let Some(behind) = a.get(hunk.old.end) {
            out.push((' ', shown(behind)));
        }
    }
    out
}
