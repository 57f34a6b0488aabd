//! What a change would do, in words.

use super::engine::with_labels;
use crate::core::cache::Verdict;
use crate::core::fact::Name;
use crate::core::run::Session;
use crate::core::text::number::grouped;
use crate::core::whatif::{Hit, Radius};

/// What is said of a change beside its numbers: a label and a sentence for each line.
#[must_use]
pub fn said(session: &Session, radius: &Radius) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if let Some(refused) = &radius.refused {
        return vec![("refused", refused.clone())];
    }
    let shown =
        |name: &Name| session.bench().layer(name).map_or_else(|| name.clone(), |layer| layer.shown().clone());
    let now: Vec<String> = radius.now.iter().map(|name| shown(name).to_string()).collect();
    let same = if radius.reordered { "the same texts in another order" } else { "the same bytes" };
    out.push(("now", if now.is_empty() { same.to_owned() } else { now.join(", ") }));
    if !radius.later.is_empty() {
        let later: Vec<String> =
            radius.later.iter().map(|(name, call)| format!("{} (call {})", shown(name), call.0)).collect();
        out.push(("later", later.join(", ")));
    }
    let broken = radius.broken.as_ref().map(|broken| {
        let clause = with_labels(session, |labels| broken.blame.clause(labels));
        let by = broken.by.as_ref().map_or_else(String::new, |by| format!(", by {by}"));
        format!("call {}: {clause}{by}", broken.call.0)
    });
    out.push(("breaks", broken.unwrap_or_else(|| "nothing more than breaks without it".to_owned())));
    out
}

/// What a change does to a model, as one line.
#[must_use]
pub fn hit_words(hit: &Hit) -> String {
    let about = if hit.estimate { "~" } else { "" };
    let n = |tokens: u64| format!("{about}{}", grouped(tokens));
    let now = match (hit.verdict, hit.lost) {
        (Verdict::First, _) => "first call".to_owned(),
        (verdict, Some(lost)) => format!("{verdict}, {} paid again in this call", n(u64::from(lost))),
        (verdict, None) => format!("{verdict}, lost n/a"),
    };
    let ahead = match hit.lost_more {
        None => "lost n/a".to_owned(),
        Some(0) => "no more lost in all".to_owned(),
        Some(more) if more > 0 => format!("{} more lost in all", n(more.unsigned_abs())),
        Some(fewer) => format!("{} fewer lost in all", n(fewer.unsigned_abs())),
    };
    let money = match (hit.more, hit.less) {
        (Some(more), Some(less)) => match (more.as_pico(), less.as_pico()) {
            (0, 0) => "the same money".to_owned(),
            (0, _) => format!("{about}{less} less"),
            _ => format!("{about}{more} more"),
        },
        _ => "money n/a: no price for ".to_owned() + &hit.model,
    };
    format!("{now}; {ahead}; {money}")
}
