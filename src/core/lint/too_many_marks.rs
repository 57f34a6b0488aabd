//! More cache marks than the provider takes.

use super::{Finding, Lint, Sent, at_key};
use crate::core::bench::Bench;
use crate::core::cache::{Excess, Family, Models};
use crate::core::diagnostic::Severity;
use crate::core::fix::{Change, Fix};

pub(super) fn check(bench: &Bench, models: &Models, sent: &Sent<'_, '_>) -> Option<Finding> {
    let model = models.get(&sent.request.model);
    let (most, excess) = match &model.family {
        Some(Family::Marked(rules)) => {
            let excess = rules.excess.as_ref().map_or(Excess::Error, |excess| excess.value);
            (rules.max_marks.value as usize, excess)
        }
        Some(Family::AutoMarked(rules)) => (rules.max_marks.value as usize, rules.excess.value),
        _ => return None,
    };
    let marks = sent.request.marks.len();
    if marks <= most {
        return None;
    }
    let then = match excess {
        Excess::Error => "it answers with an error",
        Excess::DropOldest => "the first of them count for nothing",
    };
    let message = format!("{marks} cache marks, and {} takes {most}: {then}", model.short());
    let diagnostic = at_key(bench, "marks", message)
        .hint("the marks that matter most stand behind what changes least, and behind the last message");
    let mut finding =
        Finding::in_call(Lint::TooManyMarks, sent.record.call, vec!["marks".into()], None, diagnostic);
    if excess == Excess::DropOldest {
        finding.diagnostic.severity = Severity::Warning;
    }
    // The first mark covers least: what stands in front of it is covered by the others, too.
    let over = bench.marks.len().saturating_sub(most);
    let fix = (over > 0).then(|| {
        let said = match over {
            1 => format!("take out the first of {} marks", bench.marks.len()),
            over => format!("take out the first {over} of {} marks", bench.marks.len()),
        };
        Fix::new(said, (0..over).map(|_| Change::RemoveMark(0)))
    });
    Some(finding.fixed_by(fix))
}
