//! Models as data: how their tokens are counted, how their cache works, what they cost, and where each value is from.

use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::money::Rate;
use super::rules::{Family, Reasoning, Salts};
use crate::core::fact::Name;
use crate::core::tokens::Method;
use crate::core::wire::Params;

/// How far a value can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Confidence {
    /// The vendor's own page or repository says so.
    A,
    /// A careful copy, or a measurement that was published.
    B,
    /// One statement of a third party.
    C,
    /// Inferred from other values.
    D,
    /// The user's own file says so.
    User,
}

/// A value with where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Known<T> {
    /// The value.
    pub value: T,
    /// Where it is from, as a person would cite it.
    pub source: Name,
    /// The day on which the source was read; none for the user's own.
    pub checked: Option<Date>,
    /// How far it can be trusted.
    pub confidence: Confidence,
}

/// Whether the provider's `usage` counts cached tokens as part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Accounting {
    /// `input` is everything; cached tokens are a part of it.
    Inclusive,
    /// `input` is what was neither read nor written; the prompt is the sum of the three.
    Exclusive,
}

/// Prices for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Fresh input.
    pub input: Rate,
    /// Input read from the cache.
    pub read: Rate,
    /// Input written to live for the shortest life; none where writing has no fee.
    pub write_5m: Option<Rate>,
    /// Input written to live for an hour.
    pub write_1h: Option<Rate>,
    /// Output; none where it is not known.
    pub output: Option<Rate>,
}

impl Rates {
    /// All of them times so many thousandths.
    #[must_use]
    pub fn times(self, thousandths: u32) -> Rates {
        let times = |rate: Rate| rate.times(thousandths);
        Rates {
            input: times(self.input),
            read: times(self.read),
            write_5m: self.write_5m.map(times),
            write_1h: self.write_1h.map(times),
            output: self.output.map(times),
        }
    }
}

/// Prices that hold for requests longer than a limit, for the whole of them.
#[derive(Clone, Debug, PartialEq)]
pub struct LongContext {
    /// Requests of more tokens than this.
    pub above: u32,
    /// Their prices.
    pub rates: Rates,
}

/// Hours in which everything costs more. Public holidays are not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Hours of the day (UTC): from the first, up to and without the second.
    pub hours: Vec<(i8, i8)>,
    /// True where Saturdays and Sundays have none.
    pub weekdays: bool,
    /// By how much, in thousandths of the ordinary price.
    pub times: u32,
}

impl Peak {
    /// True at this moment, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn holds(&self, at: i64) -> bool {
        let Ok(at) = Timestamp::from_millisecond(at) else { return false };
        let at = TimeZone::UTC.to_datetime(at);
        let weekend = matches!(at.weekday(), Weekday::Saturday | Weekday::Sunday);
        !(self.weekdays && weekend) && self.hours.iter().any(|&(from, to)| (from..to).contains(&at.hour()))
    }
}

/// A parameter with which everything costs another price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name, as a bench says it: `inference_geo`.
    pub param: Name,
    /// The value with which it holds: `us`.
    pub is: Name,
    /// In thousandths of the ordinary price; none where it is known that it is another one, and not which.
    pub times: Option<u32>,
}

/// Prices from a day on.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The first day (UTC); none where it held from the model's start, as far as is known.
    pub from: Option<Date>,
    /// The prices.
    pub rates: Known<Rates>,
    /// Those of long requests, the shortest limit first.
    pub long: Vec<Known<LongContext>>,
    /// When everything costs more.
    pub peak: Option<Known<Peak>>,
    /// For a token stored for an hour, where keeping it has a fee.
    pub storage: Option<Known<Rate>>,
    /// The currency, where it is not the US dollar. Amounts are not converted, so nothing is added up then.
    pub currency: Option<Name>,
}

impl Price {
    /// Prices in dollars that hold for every request and always.
    #[must_use]
    pub fn plain(rates: Known<Rates>) -> Price {
        Price { from: None, rates, long: Vec::new(), peak: None, storage: None, currency: None }
    }
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// `provider:model`.
    pub id: Name,
    /// How its tokens are counted.
    pub method: Method,
    /// Where that is from.
    pub method_from: Option<Known<()>>,
    /// The most tokens of a request and its answer together.
    pub window: Option<Known<u32>>,
    /// How its cache works; none where nobody told us.
    pub family: Option<Family>,
    /// How the provider's `usage` counts.
    pub accounting: Option<Known<Accounting>>,
    /// Parameters outside of the text that have a part in what is looked up.
    pub salts: Salts,
    /// Parameters by which requests are sent to a machine: with another value, another machine may have nothing stored.
    pub routing: Option<Known<Vec<Name>>>,
    /// What becomes of the model's own reasoning in later requests; none where nobody told us.
    pub reasoning: Option<Known<Reasoning>>,
    /// Which share of what the rules allow real traffic reads; none where nobody has measured it.
    pub reliability: Option<Known<f64>>,
    /// By day, ascending; empty where nobody told us.
    pub prices: Vec<Price>,
    /// Parameters with which everything costs another price; those that hold together are multiplied.
    pub factors: Vec<Known<Factor>>,
    /// The values that parameters have where a request does not name them: to name them is no change.
    pub defaults: IndexMap<Name, Known<Name>>,
    /// What its counts leave out: the tokens of message and tool frames.
    pub framing: Option<Name>,
    /// What else is documented: the scope, the order, the names of the `usage` fields.
    pub about: IndexMap<Name, Known<Name>>,
}

/// The prices that hold for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceAt {
    /// The prices.
    pub rates: Rates,
    /// True when the request is longer than the limit of the ordinary prices.
    pub long: bool,
    /// True when it comes at an hour in which everything costs more.
    pub peak: bool,
    /// For a token stored for an hour.
    pub storage: Option<Rate>,
    /// The currency, where it is not the US dollar.
    pub currency: Option<Name>,
    /// The first day of these prices, where the request is older than the oldest prices that are known.
    pub later: Option<Date>,
    /// The day on which they were checked.
    pub checked: Option<Date>,
}

impl PriceAt {
    /// The same with factors.
    ///
    /// # Errors
    ///
    /// The first of which it is not known by how much it changes the price.
    pub fn with<'f>(mut self, factors: impl Iterator<Item = &'f Factor>) -> Result<PriceAt, &'f Factor> {
        for factor in factors {
            self.rates = self.rates.times(factor.times.ok_or(factor)?);
        }
        Ok(self)
    }
}

impl Model {
    /// A model that nothing is known of.
    #[must_use]
    pub fn unknown(id: Name) -> Model {
        Model {
            method: Method::Unknown { reason: format!("no tokenizer for {id}").into() },
            id,
            method_from: None,
            window: None,
            family: None,
            accounting: None,
            salts: Salts::default(),
            routing: None,
            reasoning: None,
            reliability: None,
            prices: Vec::new(),
            factors: Vec::new(),
            defaults: IndexMap::new(),
            framing: None,
            about: IndexMap::new(),
        }
    }

    /// The id without the provider: `gpt-5.4`.
    #[must_use]
    pub fn short(&self) -> &str {
        short_id(&self.id)
    }

    /// What a parameter comes to: none where it has the provider's default, whether it is named or not.
    #[must_use]
    pub fn effective<'v>(&self, name: &str, value: Option<&'v str>) -> Option<&'v str> {
        value.filter(|value| self.defaults.get(name).is_none_or(|default| *default.value != **value))
    }

    /// The factors that hold with these parameters.
    pub fn factors_with(&self, params: &Params) -> impl Iterator<Item = &Factor> {
        self.factors
            .iter()
            .map(|factor| &factor.value)
            .filter(|factor| params.get(&factor.param) == Some(&*factor.is))
    }

    /// The prices in force at `at` (milliseconds since the Unix epoch, UTC days) for a request of `tokens`.
    #[must_use]
    pub fn price_at(&self, at: i64, tokens: u32) -> Option<PriceAt> {
        let first = self.prices.first()?;
        let (price, later) = if self.prices.len() == 1 && first.from.is_none() {
            (first, None)
        } else {
            let day = Timestamp::from_millisecond(at).ok().map(|at| TimeZone::UTC.to_datetime(at).date());
            let in_force = self
                .prices
                .iter()
                .rfind(|price| price.from.is_none_or(|from| day.is_some_and(|day| from <= day)));
            (in_force.unwrap_or(first), if in_force.is_some() { None } else { first.from })
        };
        let long = price.long.iter().rfind(|long| tokens > long.value.above);
        let peak = price.peak.as_ref().filter(|peak| peak.value.holds(at));
        let rates = long.map_or(price.rates.value, |long| long.value.rates);
        Some(PriceAt {
            rates: peak.map_or(rates, |peak| rates.times(peak.value.times)),
            long: long.is_some(),
            peak: peak.is_some(),
            storage: price.storage.as_ref().map(|storage| storage.value),
            currency: price.currency.clone(),
            later,
            checked: long.map_or(price.rates.checked, |long| long.checked),
        })
    }

    /// How the cache works, as a phrase: `128 blocks, min 1,024`; none where nobody told us.
    #[must_use]
    pub fn cache_phrase(&self) -> Option<String> {
        self.family.as_ref().map(Family::phrase)
    }
}

/// All models that are known.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// By id, in the order of the data.
    pub models: IndexMap<Name, Arc<Model>>,
    /// The day of the data, `2026-11-30`; with `+ yours` where the user's file adds to it.
    pub revision: Name,
}

impl Models {
    /// True for a model that something is known of, a dated version of one included.
    #[must_use]
    pub fn knows(&self, id: &Name) -> bool {
        self.models.contains_key(id) || undated(id).is_some_and(|name| self.models.contains_key(name))
    }

    /// The model with this id, a dated version of it (`claude-sonnet-4-5-20250929`, `gpt-5.4-2026-03-05`) included; one
    /// that nothing is known of for any other id.
    #[must_use]
    pub fn get(&self, id: &Name) -> Arc<Model> {
        if let Some(model) = self.models.get(id) {
            return model.clone();
        }
        let dated = undated(id).and_then(|name| self.models.get(name));
        let known = dated.or_else(|| self.models.get(&*bedrock(id)?));
        Arc::new(match known {
            Some(model) => Model { id: id.clone(), ..(**model).clone() },
            None => Model::unknown(id.clone()),
        })
    }
}

/// The plain name of a model that Amazon Bedrock names in its own way: `bedrock:us.anthropic.claude-opus-4-7-v1:0` is
/// `bedrock:claude-opus-4-7`. None for any other.
fn bedrock(id: &str) -> Option<String> {
    let name = id.strip_prefix("bedrock:")?;
    let (_, name) = name.split_once("anthropic.")?;
    let name = name.split_once("-v").map_or(name, |(name, _)| name);
    let plain = format!("bedrock:{name}");
    Some(undated(&plain).map_or_else(|| plain.clone(), str::to_owned))
}

/// A model's name without the day at its end; none where it has none.
fn undated(id: &str) -> Option<&str> {
    let (name, end) = id.split_at_checked(id.len().checked_sub(11)?)?;
    let shape = |shape: &str, text: &str| {
        text.len() == shape.len()
            && text
                .chars()
                .zip(shape.chars())
                .all(|(c, s)| if s == '0' { c.is_ascii_digit() } else { c == s })
    };
    if shape("-0000-00-00", end) {
        return Some(name);
    }
    let (name, end) = id.split_at_checked(id.len().checked_sub(9)?)?;
    shape("-00000000", end).then_some(name)
}

/// The id of a model without the provider: `gpt-5.4` of `openai:gpt-5.4`.
#[must_use]
pub fn short_id(id: &str) -> &str {
    id.split_once(':').map_or(id, |(_, model)| model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_of_the_day_is_taken() {
        let known = |read: &str| Known {
            value: Rates {
                input: Rate::parse("2").unwrap(),
                read: Rate::parse(read).unwrap(),
                write_5m: None,
                write_1h: None,
                output: Rate::parse("10"),
            },
            source: "test".into(),
            checked: None,
            confidence: Confidence::A,
        };
        let mut model = Model::unknown("a:b".into());
        assert_eq!(model.price_at(0, 1), None);
        let day = |text: &str| Some(text.parse::<Date>().unwrap());
        model.prices = vec![
            Price { from: day("2026-09-28"), ..Price::plain(known("0.20")) },
            Price { from: day("2026-10-07"), ..Price::plain(known("0.10")) },
        ];
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let read = |text: &str| model.price_at(at(text), 1).unwrap();
        assert_eq!(read("2026-10-06T23:59:59Z").rates.read.to_string(), "0.20");
        assert_eq!(read("2026-10-07T00:00:00Z").rates.read.to_string(), "0.10");
        assert_eq!(read("2026-04-01T00:00:00Z").rates.read.to_string(), "0.20");
        assert_eq!(read("2026-04-01T00:00:00Z").later, day("2026-09-28"));
        assert_eq!(read("2026-10-01T00:00:00Z").later, None);
    }

    #[test]
    fn a_dated_version_is_its_model() {
        assert_eq!(undated("a:claude-sonnet-4-5-20250929"), Some("a:claude-sonnet-4-5"));
        assert_eq!(undated("a:gpt-5.4-2026-03-05"), Some("a:gpt-5.4"));
        for other in ["a:gpt-5.4", "a:b-2025092", "a:价格价格价格价格", "20250929", "a:gpt-5.4-2026-3-05x"]
        {
            assert_eq!(undated(other), None, "{other}");
        }
        let known = Arc::new(Model { window: None, ..Model::unknown("a:b".into()) });
        let models = Models { models: [("a:b".into(), known)].into_iter().collect(), revision: "x".into() };
        assert_eq!(&*models.get(&"a:b-20250929".into()).id, "a:b-20250929");
    }

    #[test]
    fn names_of_bedrock_are_understood() {
        for (id, plain) in [
            ("bedrock:us.anthropic.claude-opus-4-7-v1:0", Some("bedrock:claude-opus-4-7")),
            ("bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0", Some("bedrock:claude-sonnet-4-5")),
            ("bedrock:nova", None),
            ("anthropic:claude-opus-4-7", None),
        ] {
            assert_eq!(bedrock(id).as_deref(), plain, "{id}");
        }
    }
}
