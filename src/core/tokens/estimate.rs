//! How a count was got, and counts of models whose vocabulary is not public.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Encoding, Measure};

/// How a token count was got. It goes wherever the count goes, so that no estimate passes for a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Method {
    /// Counted in the model's own vocabulary.
    Exact {
        /// The vocabulary.
        encoding: Encoding,
    },
    /// Counted in another vocabulary and multiplied.
    Estimate {
        /// The vocabulary that was counted in.
        base: Encoding,
        /// Tokens of the model for each token counted.
        factor: f64,
        /// How far off the result may be, as a share of it: 0.09 for 9 %.
        error: f64,
    },
    /// No number can be given.
    Unknown {
        /// Why, in a few words, lower case, without a full stop.
        reason: Arc<str>,
    },
}

impl Method {
    /// True when the count is the model's own.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self, Method::Exact { .. })
    }

    /// The vocabulary to count in; none where no number can be given.
    #[must_use]
    pub fn encoding(&self) -> Option<Encoding> {
        match self {
            Method::Exact { encoding } => Some(*encoding),
            Method::Estimate { base, .. } => Some(*base),
            Method::Unknown { .. } => None,
        }
    }

    /// Turns a measure of [`Method::encoding`] into one of the model.
    pub fn measure<M: Measure>(&self, counter: M) -> Scaled<M> {
        match self {
            Method::Estimate { factor, .. } => Scaled::new(counter, *factor),
            _ => Scaled::new(counter, 1.0),
        }
    }

    /// The counts that are as likely as this one: itself where it is exact, none where there is no number.
    #[must_use]
    pub fn range(&self, count: u32) -> Option<RangeInclusive<u32>> {
        match self {
            Method::Exact { .. } => Some(count..=count),
            Method::Estimate { error, .. } => {
                Some(scaled(count, (1.0 - error).max(0.0))..=scaled(count, 1.0 + error))
            }
            Method::Unknown { .. } => None,
        }
    }

    /// What stands in front of a count: `~` for an estimate, nothing for an exact one.
    #[must_use]
    pub fn sign(&self) -> &'static str {
        match self {
            Method::Estimate { .. } => "~",
            _ => "",
        }
    }
}

/// `o200k_base`, `o200k_base x1.22 +-9 %`, `n/a: why`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Exact { encoding } => encoding.fmt(f),
            Method::Estimate { base, factor, error } => {
                write!(f, "{base} x{factor} +-{:.0} %", error * 100.0)
            }
            Method::Unknown { reason } => write!(f, "n/a: {reason}"),
        }
    }
}

/// A measure multiplied by a factor. Cumulative counts are rounded, not differences, so parts of a text always add up
/// to the whole and no count ever falls when text is added.
#[derive(Debug)]
pub struct Scaled<M> {
    inner: M,
    factor: f64,
}

impl<M: Measure> Scaled<M> {
    /// Multiplies what `inner` measures by `factor`, which is not negative.
    #[must_use]
    pub fn new(inner: M, factor: f64) -> Scaled<M> {
        Scaled { inner, factor }
    }
}

impl<M: Measure> Measure for Scaled<M> {
    fn tokens(&mut self, text: &Arc<str>) -> u32 {
        scaled(self.inner.tokens(text), self.factor)
    }

    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32 {
        scaled(self.inner.tokens_before(text, byte), self.factor)
    }

    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32 {
        scaled(self.inner.shared(a, b), self.factor)
    }
}

/// A count times a factor, rounded to the nearest; at most `u32::MAX`.
fn scaled(count: u32, factor: f64) -> u32 {
    // A float becomes an integer by saturation, so neither end can wrap.
    (f64::from(count) * factor).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::tokens::LineCounter;
    use proptest::prelude::*;

    const CLAUDE: Method = Method::Estimate { base: Encoding::O200k, factor: 1.22, error: 0.09 };

    #[test]
    fn a_method_says_how_the_count_was_got() {
        assert_eq!(Method::Exact { encoding: Encoding::O200k }.to_string(), "o200k_base");
        assert_eq!(CLAUDE.to_string(), "o200k_base x1.22 +-9 %");
        assert_eq!(Method::Unknown { reason: "no vocabulary".into() }.to_string(), "n/a: no vocabulary");
        assert_eq!((CLAUDE.sign(), CLAUDE.is_exact()), ("~", false));
        assert_eq!(CLAUDE.range(1000), Some(910..=1090));
        assert_eq!(Method::Unknown { reason: "no vocabulary".into() }.range(1000), None);
    }

    #[test]
    fn a_method_survives_being_written_and_read() {
        let json = serde_json::to_string(&CLAUDE).unwrap();
        assert_eq!(json, r#"{"kind":"estimate","base":"o200k_base","factor":1.22,"error":0.09}"#);
        assert_eq!(serde_json::from_str::<Method>(&json).unwrap(), CLAUDE);
    }

    #[test]
    fn an_exact_method_changes_nothing() {
        let text: Arc<str> = "one two three".into();
        let mut measure =
            Method::Exact { encoding: Encoding::Cl100k }.measure(LineCounter::new(Encoding::Cl100k));
        assert_eq!(measure.tokens(&text), 3);
        assert_eq!(CLAUDE.measure(LineCounter::new(Encoding::Cl100k)).tokens(&text), 4);
    }

    proptest! {
        #[test]
        fn estimated_parts_add_up(words in prop::collection::vec("[a-z]{1,9} |字|\n", 1..40), factor in 0.3..3.0f64) {
            let text: Arc<str> = words.concat().into();
            let mut exact = LineCounter::new(Encoding::Cl100k);
            let whole = exact.tokens(&text);
            let mut measure = Scaled::new(exact, factor);
            let total = measure.tokens(&text);
            prop_assert!((f64::from(total) - f64::from(whole) * factor).abs() <= 0.5);
            let (mut at, mut sum) = (0, 0);
            for word in &words {
                let before = measure.tokens_before(&text, at);
                at += word.len();
                let after = measure.tokens_before(&text, at);
                prop_assert!(before <= after);
                sum += after - before;
            }
            prop_assert_eq!(sum, total);
        }
    }
}
