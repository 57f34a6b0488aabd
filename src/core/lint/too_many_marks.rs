//! More cache marks than the provider takes.

use super::{Change, Finding, Fix, Lint, Run, at_key};
use crate::core::cache::Family;

pub(super) fn check(run: &Run<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for sent in run.calls {
        let model = run.models.get(&sent.request.model);
        let Some(Family::Marked(rules)) = &model.family else { continue };
        let (marks, most) = (sent.request.marks.len(), rules.max_marks.value as usize);
        if marks <= most {
            continue;
        }
        let message =
            format!("{marks} cache marks, and {} takes {most}: it answers with an error", model.short());
        let diagnostic = at_key(run.bench, "marks", message)
            .hint("the marks that matter most stand behind what changes least, and behind the last message");
        let finding =
            Finding::in_call(Lint::TooManyMarks, sent.record.call, vec!["marks".into()], None, diagnostic);
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
