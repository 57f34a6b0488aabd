//! More cache marks than the provider takes.

use super::{Finding, Lint, Run, at_key};
use crate::core::cache::{Excess, Family};
use crate::core::diagnostic::Severity;
use crate::core::fix::{Change, Fix};

pub(super) fn check(run: &Run<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for sent in run.calls {
        let model = run.models.get(&sent.request.model);
        let (most, excess) = match &model.family {
            Some(Family::Marked(rules)) => {
                let excess = rules.excess.as_ref().map_or(Excess::Error, |excess| excess.value);
                (rules.max_marks.value as usize, excess)
            }
            Some(Family::AutoMarked(rules)) => (rules.max_marks.value as usize, rules.excess.value),
            _ => continue,
        };
        let marks = sent.request.marks.len();
        if marks <= most {
            continue;
        }
        let then = match excess {
            Excess::Error => "it answers with an error",
            Excess::DropOldest => "the first of them count for nothing",
        };
        let message = format!("{marks} cache marks, and {} takes {most}: {then}", model.short());
        let diagnostic = at_key(run.bench, "marks", message)
            .hint("the marks that matter most stand behind what changes least, and behind the last message");
        let mut finding =
            Finding::in_call(Lint::TooManyMarks, sent.record.call, vec!["marks".into()], None, diagnostic);
        if excess == Excess::DropOldest {
            finding.diagnostic.severity = Severity::Warning;
        }
        // The first mark covers least: what stands in front of it is covered by the others, too.
        let over = run.bench.marks.len().saturating_sub(most);
        let fix = (over > 0).then(|| {
            let said = format!("take out the first {} of {} marks", over, run.bench.marks.len());
            Fix::new(said, (0..over).map(|_| Change::RemoveMark(0)))
        });
        found.push(finding.fixed_by(fix));
    }
    found
}
