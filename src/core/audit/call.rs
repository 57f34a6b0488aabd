//! What an audit says of one call.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::matched::Matched;
use super::usage::Reported;
use crate::core::cache::{Blame, Labels, Money, Outcome, Verdict, What};
use crate::core::fact::Name;
use crate::core::text::number::grouped;
use crate::core::wire::{BlockKind, Zone, redact};

/// What an audit says of one call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its number among all calls, from 1.
    pub number: u32,
    /// The number of its line in its file, from 1.
    pub line: u64,
    /// The conversation: the session as the log names it, or `c1`, `c2`; of several in one session with a number behind.
    pub conversation: Name,
    /// The agent, where the log names it.
    pub agent: Option<Name>,
    /// The turn of the conversation.
    pub turn: u32,
    /// When it was sent, in milliseconds since the Unix epoch; none where the log does not say.
    pub at: Option<i64>,
    /// Milliseconds since the call before it in the conversation, where both times are known.
    pub gap: Option<i64>,
    /// The model, as `provider:model`.
    pub model: Name,
    /// What the provider reported; none where the log does not hold it.
    pub reported: Option<Reported>,
    /// By its figures, what was stored before and was not read now. None for the first call of a conversation, and
    /// where too little is reported.
    pub reported_lost: Option<u64>,
    /// What the rules of the model's cache lead to.
    pub expected: Outcome,
    /// The provider's tokens for each token that was counted, in this call; none where one of the two is not known.
    pub scale: Option<f64>,
    /// The same call with other models.
    pub others: Vec<Outcome>,
    /// What became of the cache.
    pub verdict: Verdict,
    /// Other verdicts that may be the reason as well.
    pub also: Vec<Verdict>,
    /// The difference, if the request differs from the one before.
    pub found: Option<Found>,
    /// The parameters that changed, as `name old -> new`.
    pub params: Vec<String>,
    /// The difference costs nothing: all that was stored was read.
    pub no_effect: bool,
    /// What the provider says itself of a miss: `tools_changed`.
    pub diagnosis: Option<String>,
    /// The call failed: what was answered.
    pub error: Option<String>,
    /// What the input cost, by what was reported; by what is expected where nothing was. None without a price.
    pub cost: Option<Money>,
    /// How much of it was paid because something was lost.
    pub lost_cost: Option<Money>,
}

/// The difference between a request and the one before it, as an audit names it.
#[derive(Clone, Debug)]
pub struct Found {
    /// As the comparison has it: its quotations are raw.
    pub blame: Arc<Blame>,
    /// What stood there before and what stands there now, short, and without what must not be shown.
    pub quoted: (String, String),
    /// Where it is in the body: `system, block 2`, `messages[3]`, `tool Grep`.
    pub place: String,
    /// The heading or tag in front of the difference.
    pub near: Option<String>,
    /// Where a block moved that is gone from its place.
    pub moved_to: Option<String>,
    /// The layer of a bench with this text.
    pub matched: Option<Matched>,
    /// Only digits differ.
    pub digits: bool,
    /// How many more differences stand behind it.
    pub behind: usize,
}

impl Call {
    /// Tokens paid again: as reported, else as expected, in the provider's tokens.
    #[must_use]
    pub fn lost(&self) -> Option<u64> {
        self.reported_lost.or_else(|| self.scaled(self.expected.lost()))
    }

    /// A number of counted tokens in the provider's tokens, as far as this call tells how they relate.
    #[must_use]
    pub fn scaled(&self, tokens: Option<u32>) -> Option<u64> {
        let tokens = tokens?;
        Some(match self.scale {
            Some(scale) => (f64::from(tokens) * scale).round() as u64,
            None => u64::from(tokens),
        })
    }

    /// True where figures of what is expected are estimates: they are wherever they were not counted by the provider.
    #[must_use]
    pub fn is_estimate(&self) -> bool {
        self.expected.estimate || self.scale.is_some()
    }

    /// The name that vendors' diagnostics give to it.
    #[must_use]
    pub fn vendor_name(&self) -> Option<&'static str> {
        crate::core::cache::vendor_name(self.verdict, self.found.as_ref().map(|found| found.blame.zone))
    }

    /// Why, in words that are the same for all calls with the same reason: what calls are grouped by. None where nothing
    /// went wrong. Without what of the recorded text must not be shown.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        match self.verdict {
            Verdict::First | Verdict::Appended => return None,
            _ if self.no_effect => return None,
            _ => {}
        }
        Some(redact::shown(&match (self.verdict, &self.found) {
            (verdict, Some(found)) if verdict.is_break() => format!("{verdict}: {}", found.cause()),
            (Verdict::SettingsChanged, _) => {
                let names = self.params.iter().filter_map(|param| param.split(' ').next());
                format!("settings changed: {}", names.collect::<Vec<_>>().join(", "))
            }
            (verdict, _) => verdict.to_string(),
        }))
    }

    /// What was reported of a call in which nothing went wrong: `1,741 of 2,181 read`.
    fn told(&self) -> Option<String> {
        let reported = self.reported?;
        Some(match reported.read {
            Some(read) => format!("{} of {} read", grouped(read), grouped(reported.sent)),
            None => format!("{} tokens, nothing reported of the cache", grouped(reported.sent)),
        })
    }

    /// True where the rules of the model's cache lead to another verdict than what was reported. That a few tokens stand
    /// behind the last mark is none.
    #[must_use]
    pub fn differs(&self) -> bool {
        let tail = self.verdict == Verdict::Appended && self.expected.verdict == Verdict::NotCached;
        self.error.is_none() && self.verdict != self.expected.verdict && !tail
    }

    /// What happened, in a sentence. `quote` allows to show a little of the recorded text, of which nothing is shown in any
    /// case that may be a secret.
    #[must_use]
    pub fn sentence(&self, quote: bool) -> String {
        let mut text = format!("call {} (line {}) {}", self.number, self.line, self.verdict);
        match (&self.found, self.verdict) {
            (_, Verdict::First | Verdict::Appended) if self.told().is_some() => {
                text.push_str(&format!(": {}", self.told().unwrap_or_default()));
            }
            (Some(found), verdict) if verdict.is_break() || self.no_effect => {
                text.push_str(&format!(": {}", found.clause(quote)));
            }
            (_, Verdict::SettingsChanged) => text.push_str(&format!(": {}", self.params.join(", "))),
            (_, Verdict::Unexplained) => {
                let age = self.gap.map_or_else(String::new, |gap| format!(", {}", since_before(gap)));
                let read = self.reported.and_then(|reported| reported.read).unwrap_or_default();
                text.push_str(&format!(
                    ": bytes equal{age}, read {}. Routing or eviction; not yours",
                    grouped(read)
                ));
            }
            (_, Verdict::Expired) => {
                if let Some(gap) = self.gap {
                    text.push_str(&format!(": {}", since_before(gap)));
                }
            }
            (_, Verdict::ReasoningDropped) => {
                text.push_str(": the provider leaves earlier reasoning out when a new turn begins");
            }
            _ => {
                let words = self.expected.sentence(&Labels::PLAIN);
                let clause = words.split_once(": ").map(|(_, clause)| clause.trim_end_matches('.'));
                if let Some(clause) = clause.filter(|_| self.verdict == self.expected.verdict) {
                    let clause = clause.split("; ").next().unwrap_or(clause);
                    text.push_str(&format!(": {clause}"));
                }
            }
        }
        if !self.also.is_empty() {
            let also: Vec<&str> = self.also.iter().map(|verdict| verdict.words()).collect();
            text.push_str(&format!("; or {}", also.join(", ")));
        }
        if self.no_effect {
            text.push_str("; no effect on the cache");
        } else if let Some(lost) = self.lost().filter(|&lost| lost > 0) {
            let about = if self.reported_lost.is_none() && self.is_estimate() { "~" } else { "" };
            let cost = self.lost_cost.map_or_else(String::new, |cost| format!(" ({about}{cost})"));
            text.push_str(&format!("; {about}{} paid again{cost}", grouped(lost)));
        }
        if let Some(diagnosis) = &self.diagnosis {
            text.push_str(&format!("; the provider says {diagnosis}"));
        }
        text.push('.');
        redact::shown(&text)
    }
}

impl Found {
    /// What it is, without numbers of messages: the same for all calls that it happens in.
    fn cause(&self) -> String {
        let blame = &self.blame;
        if let Some(matched) = &self.matched {
            return format!("layer {matched}");
        }
        let what = match blame.zone {
            Zone::Tools if blame.whole_block => match blame.what {
                What::Moved => "tools in another order".to_owned(),
                _ => format!("tool {} {}", blame.name, happened(blame)),
            },
            Zone::Tools => format!("tool {}", blame.name),
            Zone::System => match blame.what {
                What::Changed => "system".to_owned(),
                _ => format!("system block {}", happened(blame)),
            },
            Zone::Messages => {
                let who = part(blame);
                match (blame.what, &self.moved_to) {
                    (_, Some(_)) => format!("{who} in another message"),
                    (What::Changed, _) => format!("messages, {who}"),
                    _ => format!("messages, {who} {}", happened(blame)),
                }
            }
        };
        let near = self.near.as_deref().filter(|_| blame.zone == Zone::System && blame.what == What::Changed);
        let near = near.map_or_else(String::new, |near| format!(", near \"{near}\""));
        let digits = if self.digits { ", digits only" } else { "" };
        format!("{what}{near}{digits}")
    }

    /// What it is and where, in words.
    fn clause(&self, quote: bool) -> String {
        let blame = &self.blame;
        let mut text = self.place.clone();
        if blame.what == What::Changed {
            text.push_str(&format!(" byte {}", grouped(blame.byte as u64)));
        }
        if let Some(matched) = &self.matched {
            text.push_str(&format!(", layer {matched} (matched)"));
        } else if blame.zone == Zone::Messages {
            text.push_str(&format!(", {}", part(blame)));
        }
        if let Some(near) = &self.near {
            text.push_str(&format!(", near \"{near}\""));
        }
        match (blame.what, &self.moved_to) {
            (_, Some(to)) => text.push_str(&format!(", moved to {to}")),
            (What::Changed, _) if quote => text.push_str(&format!(
                ", \"{}\" -> \"{}\"",
                self.quoted.0.escape_debug(),
                self.quoted.1.escape_debug()
            )),
            (What::Changed, _) => text.push_str(", changed"),
            _ => text.push_str(&format!(", {}", happened(blame))),
        }
        if self.behind > 0 {
            let more = if self.behind == 1 { "difference" } else { "differences" };
            text.push_str(&format!(", {} {more} behind it", self.behind));
        }
        text
    }
}

/// Who wrote it, as far as a log tells: `<system-reminder>`, `user`, `tool Read`.
pub(super) fn part(blame: &Blame) -> String {
    match blame.kind {
        BlockKind::ToolUse => "tool call".to_owned(),
        _ => blame.part.to_string(),
    }
}

fn happened(blame: &Blame) -> &'static str {
    match blame.what {
        What::Changed => "changed",
        What::Appeared => "appeared",
        What::Disappeared => "disappeared",
        What::Moved => "moved",
    }
}

/// A time in words: `41 s`, `7 min`, `25 h`.
#[must_use]
pub fn time(milliseconds: i64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        ..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

/// How long after the call before a call was sent. Logs are put together and replaced: its time may be an earlier one.
fn since_before(gap: i64) -> String {
    match gap {
        0.. => format!("{} after the call before", time(gap)),
        _ => format!("the clock went back {} since the call before", time(gap.saturating_neg())),
    }
}

/// The sentence, with a quotation.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(true))
    }
}

/// The figures of a call as a person reads them: reported beside expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// All tokens of the prompt.
    pub sent: Option<u64>,
    /// Read from the cache.
    pub read: Option<u64>,
    /// Written to it; none where writing has no fee or nothing tells.
    pub write: Option<u64>,
    /// Neither.
    pub fresh: Option<u64>,
    /// Paid again.
    pub lost: Option<u64>,
}

impl Call {
    /// What the provider reported.
    #[must_use]
    pub fn reported_figures(&self) -> Figures {
        let Some(reported) = self.reported else { return Figures::default() };
        Figures {
            sent: Some(reported.sent),
            read: reported.read,
            write: reported.write,
            fresh: reported.read.map(|_| reported.fresh()),
            lost: self.reported_lost,
        }
    }

    /// What was to be expected, in the provider's tokens where they can be had.
    #[must_use]
    pub fn expected_figures(&self) -> Figures {
        let expected = &self.expected;
        Figures {
            sent: self.scaled(expected.sent),
            read: self.scaled(expected.read()),
            write: self.scaled(expected.write()),
            fresh: self.scaled(expected.fresh()),
            lost: self.scaled(expected.lost()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_negative() {
        assert_eq!(since_before(20_000), "20 s after the call before");
        assert_eq!(since_before(0), "0 s after the call before");
        assert_eq!(since_before(-3_200_000), "the clock went back 53 min since the call before");
        assert!(!since_before(i64::MIN).contains('-'));
    }
}
