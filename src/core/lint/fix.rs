//! What would put a finding right, as data, and what that would be worth.

use crate::core::bench::Refresh;
use crate::core::cache::Money;
use crate::core::cache::short_id;
use crate::core::fact::Name;

/// One change of a bench.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A layer goes behind another one of its place.
    Behind(Name, Name),
    /// A layer is made again by another rule.
    Refresh(Name, Refresh),
    /// A layer is left out.
    Off(Name),
    /// A layer goes to another place.
    Place(Name, Name),
    /// The priority of a layer.
    Run(Name, i64),
    /// A cache mark goes, by its number from 0.
    RemoveMark(usize),
    /// A cache mark more: `tools`, `last_history`, `last_message` or a place.
    AddMark(Name),
}

/// Changes of a bench that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What is done, as a sentence, lower case, without a full stop: `move 00_base behind 30_sender`.
    pub said: String,
    /// In order.
    pub changes: Vec<Change>,
    /// What it is worth, model by model, once somebody has worked it out.
    pub worth: Vec<Worth>,
}

impl Fix {
    pub(super) fn new(said: impl Into<String>, changes: impl IntoIterator<Item = Change>) -> Fix {
        Fix { said: said.into(), changes: changes.into_iter().collect(), worth: Vec::new() }
    }
}

/// What a run would be spared on one model. All figures are differences over the whole run; what would get worse is
/// negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// The model, as `provider:model`.
    pub model: Name,
    /// Tokens that would not be sent; none where they cannot be counted.
    pub sent: Option<i64>,
    /// Tokens that would not be paid again; none where nothing is known of its cache.
    pub lost: Option<i64>,
    /// What the run would cost less, and whether it would cost more instead; none where there are no prices.
    pub money: Option<(Money, bool)>,
    /// True when the counts are estimates.
    pub estimate: bool,
    /// Calls that would be told something wrong or nothing and are not now.
    pub misled: u32,
}

impl Worth {
    /// True when it would spare something and nothing would cost more.
    #[must_use]
    pub fn is_gain(&self) -> bool {
        match self.money {
            Some((amount, worse)) => !worse && amount != Money::ZERO,
            None => self.lost.or(self.sent).is_some_and(|tokens| tokens > 0),
        }
    }

    /// In words: `9,472 tokens less paid again, $0.0213 a run on gpt-5.4`. Empty where nothing would change.
    #[must_use]
    pub fn words(&self) -> String {
        let sign = if self.estimate { "~" } else { "" };
        let number = |tokens: i64| format!("{sign}{}", super::grouped(tokens.unsigned_abs()));
        let than = |tokens: i64| if tokens > 0 { "less" } else { "more" };
        let mut said = Vec::new();
        if let Some(lost) = self.lost.filter(|lost| *lost != 0) {
            said.push(format!("{} tokens {} paid again", number(lost), than(lost)));
        } else if let Some(sent) = self.sent.filter(|sent| *sent != 0) {
            said.push(format!("{} tokens {} sent", number(sent), than(sent)));
        }
        if let Some((amount, worse)) = self.money.filter(|(amount, _)| *amount != Money::ZERO) {
            said.push(format!("{sign}{amount} {} a run", if worse { "more" } else { "less" }));
        }
        if said.is_empty() {
            return String::new();
        }
        let model = short_id(&self.model);
        let misled = match self.misled {
            0 => String::new(),
            1 => "; but 1 call more is told what is wrong, or nothing".to_owned(),
            calls => format!("; but {calls} calls more are told what is wrong, or nothing"),
        };
        format!("{} on {model}{misled}", said.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worth_is_said_with_its_sign() {
        let worth = Worth {
            model: "openai:gpt-5.4".into(),
            sent: Some(3),
            lost: Some(9_472),
            money: Some((Money::pico(21_312_000_000), false)),
            estimate: false,
            misled: 0,
        };
        assert_eq!(worth.words(), "9,472 tokens less paid again, $0.0213 less a run on gpt-5.4");
        assert!(worth.is_gain());
        let worse = Worth { lost: Some(-12), money: None, estimate: true, misled: 5, ..worth.clone() };
        assert_eq!(
            worse.words(),
            "~12 tokens more paid again on gpt-5.4; but 5 calls more are told what is wrong, or nothing"
        );
        assert!(!worse.is_gain());
        let none = Worth { lost: None, sent: None, money: None, ..worth };
        assert_eq!((none.words(), none.is_gain()), (String::new(), false));
    }
}
