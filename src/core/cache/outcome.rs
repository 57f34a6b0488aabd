//! What one call means for one model: tokens, money, verdict and blame, and the sentence that says so.

use std::ops::AddAssign;
use std::sync::Arc;

use super::blame::{Blame, Labels};
use super::model::{Accounting, Model, Rates};
use super::money::{Money, Rate};
use super::note::Note;
use super::salts::SettingChange;
use super::verdict::{Verdict, setting_name, vendor_name};
use crate::core::fact::{EventId, Name};
use crate::core::text::number::Thousands;
use crate::core::wire::{CallNo, Params, Zone};

/// How the tokens of a request divide. `read + written + fresh == sent`, where what is written is 0 without a fee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Read from the cache.
    pub read: u32,
    /// Written to it at a price of its own; none where writing has no fee.
    pub write: Option<Write>,
    /// Neither: paid as ordinary input.
    pub fresh: u32,
    /// Paid again: of min(previous, this), what was ever written, expired or not, minus what was read. A part of
    /// `write` and `fresh`, not a fourth zone. None for the first call of a conversation.
    pub lost: Option<u32>,
}

/// Tokens written, by the life they are written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// For the shortest life (5 minutes).
    pub short: u32,
    /// For an hour.
    pub hour: u32,
}

impl Write {
    /// All of it.
    #[must_use]
    pub fn total(self) -> u32 {
        self.short + self.hour
    }
}

/// What real traffic gives, where somebody has measured it: the calibrated estimate, beside the documented maximum.
/// `read + written + fresh` is what was sent, here too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Read from the cache.
    pub read: u32,
    /// Written at a price of its own; none without a fee.
    pub write: Option<Write>,
    /// Paid as ordinary input.
    pub fresh: u32,
    /// Paid again; none for the first call of a conversation.
    pub lost: Option<u32>,
    /// What the input costs; none where there are no prices.
    pub cost: Option<Money>,
}

impl Expected {
    /// What is to be expected of a split. `measured` is what the request could read with what measurements have found
    /// besides the rules, `most` what the request before has left; none where nobody has measured anything.
    pub(super) fn of(split: Split, measured: u32, most: Option<u32>, model: &Model) -> Option<Expected> {
        if model.reliability.is_none() && measured == split.read {
            return None;
        }
        let share = model.reliability.as_ref().map_or(1.0, |share| share.value.clamp(0.0, 1.0));
        let read = (f64::from(measured) * share).floor() as u32;
        let (mut write, mut fresh) = (split.write, split.fresh);
        // What is not read is written where that has a fee, and fresh otherwise; what is read besides was that.
        let (missing, besides) = (split.read.saturating_sub(read), read.saturating_sub(split.read));
        match &mut write {
            Some(write) => {
                write.short += missing;
                let short = besides.min(write.short);
                write.short -= short;
                let hour = (besides - short).min(write.hour);
                write.hour -= hour;
                fresh -= besides - short - hour;
            }
            None => fresh = fresh + missing - besides,
        }
        Some(Expected { read, write, fresh, lost: most.map(|most| most.saturating_sub(read)), cost: None })
    }
}

/// Tokens that are kept and paid for by the hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredFor {
    /// How many.
    pub tokens: u32,
    /// For how long, in seconds, unless they are deleted sooner.
    pub seconds: u32,
}

/// The fields of a provider's `usage`, by what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The input: everything, or what was neither read nor written, as the provider counts.
    pub input: u32,
    /// Read from the cache.
    pub read: u32,
    /// Written to the cache; 0 where the provider does not say.
    pub write: u32,
}

impl Usage {
    /// The tokens of the whole prompt.
    #[must_use]
    pub fn prompt(self, accounting: Accounting) -> u32 {
        match accounting {
            Accounting::Inclusive => self.input,
            Accounting::Exclusive => self.input + self.read + self.write,
        }
    }

    /// What was paid as ordinary input.
    #[must_use]
    pub fn fresh(self, accounting: Accounting) -> u32 {
        match accounting {
            Accounting::Inclusive => self.input.saturating_sub(self.read + self.write),
            Accounting::Exclusive => self.input,
        }
    }
}

/// A difference that hides behind the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Behind {
    /// What it is.
    pub blame: Arc<Blame>,
    /// Tokens that would still be lost here if everything in front of it were put right, and this alone were not.
    pub still_lost: u32,
}

/// The figures behind a verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Detail {
    /// There are none.
    #[default]
    None,
    /// Of `expired` and `unexplained`, in milliseconds.
    Age {
        /// Since the latest use.
        age: i64,
        /// How long it lives.
        life: i64,
    },
    /// Of `not yet visible`, in milliseconds.
    Visible {
        /// Since the start of the request that wrote it.
        age: i64,
        /// When it can be read.
        after: i64,
    },
    /// Of `out of lookback`.
    Lookback {
        /// Positions from the last mark back to the entry, counting both.
        positions: u32,
        /// How many are looked at.
        limit: u32,
    },
    /// Of `below minimum`: the minimum in tokens.
    Minimum(u32),
    /// Of `not cached`: what the last mark stands behind; none without a mark.
    Uncovered(Option<Mark>),
    /// Of `model changed`: the model before.
    Model(Name),
    /// Of `settings changed`: which.
    Settings(Vec<SettingChange>),
    /// Of `expired`, where not age but another prompt drove it out: the time since the latest use, in milliseconds.
    Evicted {
        /// Since the latest use.
        age: i64,
    },
    /// Of `refused`: why.
    Refused(String),
}

/// What a mark stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The last block of the tools or of the system prompt, or a block of either.
    Zone(Zone),
    /// A block of this message.
    Message(u32),
}

/// What one call means for one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The call.
    pub call: CallNo,
    /// The model: `provider:model`.
    pub model: Name,
    /// True when the figures are estimates, to be shown with `~`: the counts of tokens are, or the provider does not
    /// publish how its cache works.
    pub estimate: bool,
    /// True where the provider does not publish how its cache works: the split is the most that could be.
    pub upper_bound: bool,
    /// Tokens sent; none where the model's tokens cannot be counted.
    pub sent: Option<u32>,
    /// Tokens sent by the call before it in the conversation, counted for this model.
    pub sent_before: Option<u32>,
    /// How they divide; none where nothing is known of the model's cache, or the provider refuses the request.
    pub split: Option<Split>,
    /// What real traffic gives; none where nobody has measured it. `split` is the documented maximum.
    pub expected: Option<Expected>,
    /// What the input costs; none where there are no prices or no split.
    pub cost: Option<Money>,
    /// What was made that is kept and paid for by the hour; empty where keeping is free.
    pub stored: Vec<StoredFor>,
    /// What keeping it costs, until it dies. Not a part of the cost of the input.
    pub storage: Option<Money>,
    /// Parameters outside of the text that changed since the request before and count for this model's cache.
    pub settings: Vec<SettingChange>,
    /// By how much it is more than if what is lost had been read.
    pub lost_cost: Option<Money>,
    /// What became of the cache.
    pub verdict: Verdict,
    /// Other verdicts that hold at the same time.
    pub also: Vec<Verdict>,
    /// The figures behind the verdict.
    pub detail: Detail,
    /// The first difference from the call before it in the conversation; none where there is none.
    pub blame: Option<Arc<Blame>>,
    /// The differences behind the first, at most [`Outcome::MOST_BEHIND`].
    pub behind: Vec<Behind>,
    /// Tokens that no mark covers and that are therefore paid in full in each call; 0 for models without marks.
    pub uncovered: u32,
    /// What a reader of the numbers should know besides.
    pub notes: Vec<Note>,
}

impl Outcome {
    /// No more differences than this are listed behind the first.
    pub const MOST_BEHIND: usize = super::diff::MOST - 1;

    /// Tokens read; none where that is not known.
    #[must_use]
    pub fn read(&self) -> Option<u32> {
        self.split.map(|split| split.read)
    }

    /// Tokens written at a price of their own; none without a fee, and where it is not known.
    #[must_use]
    pub fn write(&self) -> Option<u32> {
        self.split.and_then(|split| split.write).map(Write::total)
    }

    /// Tokens paid as ordinary input; none where that is not known.
    #[must_use]
    pub fn fresh(&self) -> Option<u32> {
        self.split.map(|split| split.fresh)
    }

    /// Tokens paid again; none for the first call of a conversation, and where it is not known.
    #[must_use]
    pub fn lost(&self) -> Option<u32> {
        self.split.and_then(|split| split.lost)
    }

    /// The name that vendors' diagnostics give to it: `system_changed`.
    #[must_use]
    pub fn vendor_name(&self) -> Option<&'static str> {
        if self.verdict == Verdict::SettingsChanged {
            return self.settings.first().and_then(|change| setting_name(&self.model, change));
        }
        vendor_name(self.verdict, self.blame.as_ref().map(|blame| blame.zone))
    }

    /// Fills in the money.
    pub(super) fn price(&mut self, model: &Model, at: i64, params: &Params) {
        let (Some(split), Some(sent)) = (self.split, self.sent) else { return };
        let Some(price) = model.price_at(at, sent) else { return };
        if price.long {
            self.notes.push(Note::LongContext);
        }
        if let Some(day) = price.later {
            self.notes.push(Note::LaterPrices(day));
        }
        if price.peak {
            self.notes.push(Note::Peak);
        }
        if let Some(currency) = &price.currency {
            self.notes.push(Note::Currency(currency.clone()));
            return;
        }
        for factor in model.factors_with(params) {
            let param = factor.param.clone();
            self.notes.push(match factor.times {
                Some(times) => Note::Times { param, times },
                None => Note::OtherPrice(param),
            });
        }
        let Ok(price) = price.with(model.factors_with(params)) else { return };
        let rates = price.rates;
        self.cost = Some(cost(&rates, split.read, split.write, split.fresh));
        if let Some(expected) = &mut self.expected {
            expected.cost = Some(cost(&rates, expected.read, expected.write, expected.fresh));
        }
        if let Some(rate) = price.storage.filter(|_| !self.stored.is_empty()) {
            let kept = |stored: &StoredFor| {
                Money::pico(rate.of(stored.tokens).as_pico() * u128::from(stored.seconds) / 3_600)
            };
            self.storage = Some(self.stored.iter().map(kept).sum());
        }
        // What is lost starts where reading ends, so it lies first in what is written, longest life first.
        let (short, hour) = write_rates(&rates);
        let write = split.write.unwrap_or_default();
        self.lost_cost = split.lost.map(|lost| {
            let in_hour = lost.min(write.hour);
            let in_short = (lost - in_hour).min(write.short);
            let paid = hour.of(in_hour) + short.of(in_short) + rates.input.of(lost - in_hour - in_short);
            paid.saturating_sub(rates.read.of(lost))
        });
    }

    /// The figures as the provider's `usage` would have them; none where they are not known.
    #[must_use]
    pub fn usage(&self, accounting: Accounting) -> Option<Usage> {
        let (split, sent) = (self.split?, self.sent?);
        let write = split.write.map_or(0, Write::total);
        let input = match accounting {
            Accounting::Inclusive => sent,
            Accounting::Exclusive => split.fresh,
        };
        Some(Usage { input, read: split.read, write })
    }

    /// A number of these tokens in words: `9,472`, `~9,472` where they are estimates.
    #[must_use]
    pub fn n(&self, tokens: u32) -> String {
        // Nothing is nothing in every vocabulary.
        format!("{}{}", if self.estimate && tokens > 0 { "~" } else { "" }, Thousands(tokens))
    }

    /// `9,472 paid again ($0.0213)`, `nothing paid again`; empty where it is not known.
    fn lost_phrase(&self) -> String {
        match (self.lost(), self.lost_cost) {
            (None, _) => String::new(),
            (Some(0), _) => "nothing paid again".into(),
            (Some(lost), None) => format!("{} paid again", self.n(lost)),
            (Some(lost), Some(cost)) => {
                let about = if self.estimate { "~" } else { "" };
                format!("{} paid again ({about}{cost})", self.n(lost))
            }
        }
    }

    /// The verdict as one sentence, ready for a line of a screen:
    /// `call 5 changed: system byte 386, 00_base {{cwd}} prompt.md:9:6, "/home/shop" -> "/home/shop/api", by Cd in
    /// call 1; 9,472 paid again ($0.0213).`
    #[must_use]
    pub fn sentence(&self, labels: &Labels<'_>) -> String {
        let call = self.call.0;
        let lost = self.lost_phrase();
        let and_lost = if lost.is_empty() { String::new() } else { format!("; {lost}") };
        let head = format!("call {call} {}", self.verdict);
        let sent = self.sent.map_or_else(|| "n/a".to_owned(), |sent| self.n(sent));
        match (&self.verdict, &self.detail) {
            (Verdict::First, _) => match self.read() {
                Some(0) => match &self.detail {
                    Detail::Minimum(min) => {
                        format!("{head}: {sent} tokens, minimum {}; nothing is stored.", Thousands(*min))
                    }
                    _ => format!("{head}: {sent} tokens, nothing stored before."),
                },
                Some(read) => format!("{head}: {} of {sent} read from another conversation.", self.n(read)),
                None if self.sent.is_none() => format!("{head}: its tokens cannot be counted."),
                None => format!("{head}: {sent} tokens."),
            },
            (Verdict::Appended, _) => {
                let (Some(now), Some(before)) = (self.sent, self.sent_before) else {
                    return format!("{head}. System unchanged.");
                };
                let more = now.saturating_sub(before);
                let about = if self.estimate && more > 0 { "~" } else { "" };
                let more = format!("{about}+{} tokens", Thousands(more));
                match self.read() {
                    Some(read) => {
                        format!("{head}: {more}, {} of {sent} read. System unchanged.", self.n(read))
                    }
                    None => format!("{head}: {more}. System unchanged."),
                }
            }
            (Verdict::Expired, Detail::Age { age, life }) => {
                format!("{head}: {}, age {}, life {}{and_lost}.", self.bytes(), time(*age), time(*life))
            }
            (Verdict::Expired, Detail::Evicted { age }) => format!(
                "{head}: {}, age {}, another prompt has taken its place{and_lost}.",
                self.bytes(),
                time(*age)
            ),
            (Verdict::SettingsChanged, Detail::Settings(changes)) => {
                let told = |change: &SettingChange| match change.cause.filter(|c| *c != EventId::OPENING) {
                    Some(cause) => format!("{change}, by {}", (labels.event)(cause)),
                    None => change.to_string(),
                };
                let changes: Vec<String> = changes.iter().map(told).collect();
                format!("{head}: {}, {}{and_lost}.", self.bytes(), changes.join("; "))
            }
            (Verdict::NotYetVisible, Detail::Visible { age, after }) => format!(
                "{head}: {}, written {} ago, readable after {}{and_lost}.",
                self.bytes(),
                time(*age),
                time(*after)
            ),
            (Verdict::OutOfLookback, Detail::Lookback { positions, limit }) => format!(
                "{head}: {}, what is stored stands {positions} positions before the mark, {limit} are looked at{and_lost}.",
                self.bytes()
            ),
            (Verdict::BelowMinimum, Detail::Minimum(min)) => {
                format!("{head}: {sent} tokens, minimum {}; nothing is stored or read.", Thousands(*min))
            }
            (Verdict::NotCached, Detail::Uncovered(mark)) => {
                let mark = match mark {
                    None => "no mark in the request".to_owned(),
                    Some(Mark::Zone(Zone::Tools)) => "no mark after tools".into(),
                    Some(Mark::Zone(_)) => "no mark after system".into(),
                    Some(Mark::Message(message)) => format!("no mark after message {message}"),
                };
                format!("{head}: {mark}; {} tokens at full price.", self.n(self.uncovered))
            }
            (Verdict::ModelChanged, Detail::Model(before)) => {
                format!("{head}: {before} -> {}; caches are per model{and_lost}.", self.model)
            }
            (Verdict::Refused, Detail::Refused(why)) => format!("{head}: {why}."),
            (Verdict::Unexplained, Detail::Age { age, .. }) => format!(
                "unexplained: {}, age {}, read {}. Routing or eviction; not yours.",
                self.bytes(),
                time(*age),
                self.read().map_or_else(|| "n/a".to_owned(), |read| self.n(read))
            ),
            _ => match &self.blame {
                Some(blame) => format!("{head}: {}{and_lost}.", blame.clause(labels)),
                None => {
                    format!("{head}{}.", if lost.is_empty() { String::new() } else { format!(": {lost}") })
                }
            },
        }
    }

    /// The same for narrow screens: `call 5 loses 9,472: system byte 386, 00_base {{cwd}} prompt.md:9:6.`
    #[must_use]
    pub fn short(&self, labels: &Labels<'_>) -> String {
        let Some(blame) = self.blame.as_ref().filter(|_| self.verdict.is_break()) else {
            return self.sentence(labels);
        };
        let lost = match self.lost() {
            Some(0) => format!("call {} {}", self.call.0, self.verdict),
            Some(lost) => format!("call {} loses {}", self.call.0, self.n(lost)),
            None => format!("call {} {}", self.call.0, self.verdict),
        };
        let source = blame.source().map_or_else(String::new, |source| format!(" {source}"));
        format!("{lost}: {}, {}{source}.", blame.place(), blame.who(labels))
    }

    fn bytes(&self) -> &'static str {
        if self.blame.is_none() { "bytes equal" } else { "bytes changed, too" }
    }
}

/// The prices of writing, for the shortest life and for an hour. Where writing has no fee there is nothing written, and
/// they do not matter.
fn write_rates(rates: &Rates) -> (Rate, Rate) {
    let short = rates.write_5m.unwrap_or(rates.input);
    (short, rates.write_1h.unwrap_or(short))
}

fn cost(rates: &Rates, read: u32, write: Option<Write>, fresh: u32) -> Money {
    let (short, hour) = write_rates(rates);
    let write = write.unwrap_or_default();
    rates.read.of(read) + short.of(write.short) + hour.of(write.hour) + rates.input.of(fresh)
}

/// A time in words: `0.1 s`, `41 s`, `7 min`, `25 h`.
fn time(milliseconds: i64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        _ if milliseconds % 1_000 != 0 && seconds < 10 => format!("{:.1} s", milliseconds as f64 / 1_000.0),
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

/// Sums over calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls.
    pub calls: u32,
    /// Tokens sent.
    pub sent: u64,
    /// Tokens read.
    pub read: u64,
    /// Tokens written; none where writing has no fee.
    pub write: Option<u64>,
    /// Tokens paid as ordinary input.
    pub fresh: u64,
    /// Tokens paid again.
    pub lost: u64,
    /// What the input costs.
    pub cost: Money,
    /// Calls of which the split is not known: the sums are without them.
    pub unknown: u32,
    /// Calls of which the cost is not known.
    pub unpriced: u32,
    /// Calls of which the figures are estimates: so are the sums.
    pub estimates: u32,
}

impl AddAssign<&Outcome> for Totals {
    fn add_assign(&mut self, outcome: &Outcome) {
        self.calls += 1;
        self.estimates += u32::from(outcome.estimate);
        self.sent += u64::from(outcome.sent.unwrap_or_default());
        match outcome.split {
            Some(split) => {
                self.read += u64::from(split.read);
                self.fresh += u64::from(split.fresh);
                self.lost += u64::from(split.lost.unwrap_or_default());
                if let Some(write) = split.write {
                    *self.write.get_or_insert(0) += u64::from(write.total());
                }
            }
            None => self.unknown += 1,
        }
        match outcome.cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_words() {
        let cases =
            [(100, "0.1 s"), (41_000, "41 s"), (61_500, "61 s"), (420_000, "7 min"), (90_000_000, "25 h")];
        for (milliseconds, words) in cases {
            assert_eq!(time(milliseconds), words);
        }
    }

    #[test]
    fn what_has_no_bench_still_gets_its_sentence() {
        let outcome = Outcome {
            call: CallNo(7),
            verdict: Verdict::Unexplained,
            detail: Detail::Age { age: 41_000, life: 300_000 },
            split: Some(Split::default()),
            ..Outcome::default()
        };
        assert_eq!(
            outcome.sentence(&Labels::PLAIN),
            "unexplained: bytes equal, age 41 s, read 0. Routing or eviction; not yours."
        );
    }
}
