//! What a run comes to, and what it would be spared by a change.

use std::sync::Arc;

use crate::core::cache::{Lane, Measures, Models, Money, Simulator, Totals, short_id};
use crate::core::fact::Name;
use crate::core::run::{Answer, Belief, Requests, Session};
use crate::core::text::number::{Thousands, grouped};
use crate::core::wire::Request;

/// What a run comes to on one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    /// The model, as `provider:model`.
    pub model: Name,
    /// Its calls, added up.
    pub totals: Totals,
    /// Calls that were told something wrong, or nothing: for each fact that is stale or untold in a call, the call counts
    /// once as either.
    pub misled: u32,
}

/// What a run comes to on each of these lanes, the call that waits included as if it were sent now. Where calls go to the
/// models that they go to, the bench's own model stands for them.
pub fn sums(
    session: &Session,
    lanes: &[Lane],
    models: &Arc<Models>,
    measures: &mut dyn Measures,
) -> Vec<Sum> {
    let mut tally = Tally::new(lanes, models);
    let mut requests = Requests::default();
    for record in session.calls().iter().map(|record| &**record).chain(session.prepared()) {
        let Some(request) = requests.get(session, record.call) else { continue };
        match &record.answer {
            Some(Answer::Failed(_)) => tally.failed(request),
            _ => tally.sent(request, measures),
        }
    }
    tally.sums(&session.bench().model, misled(session))
}

/// Calls in which the last word on a fact is wrong, and calls in which there is none.
fn misled(session: &Session) -> u32 {
    let has = |belief: Belief| {
        session.calls().iter().filter(|record| record.told.iter().any(|told| told.belief == belief)).count()
            as u32
    };
    has(Belief::Stale) + has(Belief::Untold)
}

/// Adds up requests that are sent one after the other, in each of some lanes.
pub struct Tally {
    simulator: Simulator,
    totals: Vec<Totals>,
}

impl Tally {
    /// Nothing was sent yet.
    #[must_use]
    pub fn new(lanes: &[Lane], models: &Arc<Models>) -> Tally {
        let simulator = Simulator::new(models.clone(), lanes.iter().cloned());
        Tally { simulator, totals: vec![Totals::default(); lanes.len()] }
    }

    /// A request is sent.
    pub fn sent(&mut self, request: &Request, measures: &mut dyn Measures) {
        for (totals, outcome) in self.totals.iter_mut().zip(self.simulator.call(request, measures)) {
            *totals += &outcome;
        }
    }

    /// A request never reached its provider.
    pub fn failed(&mut self, request: &Request) {
        self.simulator.not_sent(request);
    }

    /// What they came to. Where calls went to the models that they went to, it stands under the `own` model.
    #[must_use]
    pub fn sums(self, own: &Name, misled: u32) -> Vec<Sum> {
        let lanes: Vec<Lane> = self.simulator.lanes().cloned().collect();
        let model = |lane: Lane| match lane {
            Lane::AsSent => own.clone(),
            Lane::As(id) => id,
        };
        let sums = lanes.into_iter().zip(self.totals);
        sums.map(|(lane, totals)| Sum { model: model(lane), totals, misled }).collect()
    }
}

/// What is spared between two runs, model by model.
#[must_use]
pub fn worth(before: &[Sum], after: &[Sum]) -> Vec<Worth> {
    before.iter().zip(after).map(|(before, after)| before.worth(after)).collect()
}

impl Sum {
    fn worth(&self, after: &Sum) -> Worth {
        let (a, b) = (&self.totals, &after.totals);
        let less = |was: u64, is: u64| was as i64 - is as i64;
        Worth {
            model: self.model.clone(),
            sent: (a.sent > 0 && b.sent > 0).then(|| less(a.sent, b.sent)),
            lost: (a.unknown == 0 && b.unknown == 0).then(|| less(a.lost, b.lost)),
            money: (a.unpriced == 0 && b.unpriced == 0).then(|| match a.cost >= b.cost {
                true => (a.cost - b.cost, false),
                false => (b.cost - a.cost, true),
            }),
            estimate: a.estimates > 0 || b.estimates > 0,
            misled: after.misled.saturating_sub(self.misled),
        }
    }

    /// True for what spares a hundredth of this or more: for less nobody changes anything.
    #[must_use]
    pub fn is_much(&self, worth: &Worth) -> bool {
        match worth.money {
            Some((money, worse)) => !worse && money * 100 >= self.totals.cost,
            None => worth.lost.is_none_or(|lost| lost * 100 >= self.totals.lost as i64),
        }
    }

    /// True when another run of which this is the sum costs less: less is lost, or less is paid for what no mark covers;
    /// and the model is told no less.
    pub(super) fn is_better(&self, after: &Sum) -> bool {
        let (base, totals) = (&self.totals, &after.totals);
        let priced = totals.unpriced + base.unpriced == 0;
        // What is paid in full in each call is not lost, and still costs.
        let cheaper = priced && totals.cost.dollars() < base.cost.dollars() * 0.98;
        let less = totals.lost < base.lost || totals.lost == base.lost && cheaper;
        totals.unknown == 0 && less && after.misled <= self.misled
    }

    /// What is lost in all: `~9,472`; `n/a` where a part of it is not known.
    #[must_use]
    pub fn lost_words(&self) -> String {
        match (self.totals.unknown, self.totals.lost) {
            (0, 0) => "0".to_owned(),
            (0, lost) => format!("{}{}", if self.totals.estimates > 0 { "~" } else { "" }, Thousands(lost)),
            _ => "n/a".to_owned(),
        }
    }

    /// `lost 9,472 -> 0 in the run, saves $0.0213`.
    #[must_use]
    pub fn against(&self, after: &Sum) -> String {
        let (base, totals) = (&self.totals, &after.totals);
        let about = if base.estimates + totals.estimates > 0 { "~" } else { "" };
        let money = match (base.unpriced + totals.unpriced, base.cost > totals.cost) {
            (0, true) => format!(", saves {about}{}", base.cost.saturating_sub(totals.cost)),
            (0, false) if totals.cost > base.cost => {
                format!(", but costs {about}{} more", totals.cost.saturating_sub(base.cost))
            }
            _ => String::new(),
        };
        format!("lost {} -> {} in the run{money}", self.lost_words(), after.lost_words())
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
        let number = |tokens: i64| format!("{sign}{}", grouped(tokens.unsigned_abs()));
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
