//! The models that are known: an embedded file, and the user's own merged over it.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::civil::Date;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::core::cache::{
    Accounting, BlockRules, Confidence, Family, Known, Life, LongContext, MarkedRules, Model, Models, Price,
    Rate, Rates,
};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;
use crate::core::tokens::{Encoding, Method};
use crate::core::wire::BlockKind;

/// The file that comes with the program.
const EMBEDDED: &str = include_str!("models.yaml");
/// What messages call it.
const EMBEDDED_NAME: &str = "models.yaml (built in)";

/// The models that come with the program.
///
/// # Panics
///
/// Never, as a test reads the file.
#[must_use]
pub fn embedded() -> Models {
    load(None).expect("the embedded models are tested")
}

/// The models that come with the program, with the user's own file merged over them value by value.
///
/// # Errors
///
/// The first mistake in the user's file, with its place where that is known.
pub fn load(own: Option<(&str, &str)>) -> Result<Models, Box<Diagnostic>> {
    let mut file: File = parse(EMBEDDED_NAME, EMBEDDED)?;
    let mut from: IndexMap<String, (&str, &str)> =
        file.models.keys().map(|id| (id.clone(), (EMBEDDED_NAME, EMBEDDED))).collect();
    let mut revision: Name = file.revision.clone().unwrap_or_default().into();
    if let Some((name, text)) = own {
        let yours: File = parse(name, text)?;
        revision = format!("{revision} + yours").into();
        file.sources.extend(yours.sources);
        for (id, entry) in yours.profiles {
            file.profiles.entry(id).or_default().take_over(entry);
        }
        for (id, entry) in yours.models {
            from.insert(id.clone(), (name, text));
            file.models.entry(id).or_default().take_over(entry);
        }
    }
    let mut models = IndexMap::new();
    for (id, entry) in &file.models {
        let model = file.model(id, entry).map_err(|message| {
            let (name, text) = from[id];
            let diagnostic = Diagnostic::error(format!("model `{id}`: {message}"));
            Box::new(match text.find(id.as_str()) {
                Some(byte) => diagnostic.at(name, text, Position::of(text, byte)),
                None => diagnostic.in_file(name),
            })
        })?;
        models.insert(model.id.clone(), Arc::new(model));
    }
    Ok(Models { models, revision })
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Box<Diagnostic>> {
    serde_yaml::from_str(text).map_err(|error| {
        let error = error.without_snippet();
        // The library puts the place into the message; the diagnostic has it already.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let diagnostic = Diagnostic::error(message.trim_end_matches([':', ',']).to_owned());
        let at = error.location().and_then(|at| {
            Some(Position { line: u32::try_from(at.line()).ok()?, column: u32::try_from(at.column()).ok()? })
        });
        Box::new(match at {
            Some(at) if at.line > 0 => diagnostic.at(name, text, at),
            _ => diagnostic.in_file(name),
        })
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    revision: Option<String>,
    #[serde(default)]
    sources: BTreeMap<String, SourceEntry>,
    #[serde(default)]
    profiles: IndexMap<String, Entry>,
    #[serde(default)]
    models: IndexMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceEntry {
    name: String,
    checked: Option<String>,
}

/// A model, or what several have in common. What is not given comes from `like`.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    like: Option<String>,
    tokens: Option<TokensEntry>,
    window: Option<Sourced<u32>>,
    framing: Option<String>,
    accounting: Option<Sourced<AccountingWord>>,
    block: Option<BlockEntry>,
    marked: Option<MarkedEntry>,
    prices: Option<Vec<PriceEntry>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensEntry {
    encoding: String,
    factor: Option<f64>,
    error: Option<f64>,
    source: Option<String>,
    confidence: Option<ConfidenceWord>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sourced<T> {
    value: T,
    source: Option<String>,
    confidence: Option<ConfidenceWord>,
}

#[derive(Clone, Copy, Deserialize)]
enum ConfidenceWord {
    A,
    B,
    C,
    D,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AccountingWord {
    Inclusive,
    Exclusive,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockEntry {
    block: Option<Sourced<u32>>,
    min: Option<Sourced<u32>>,
    max_life: Option<Sourced<u32>>,
    typical_life: Option<Sourced<u32>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkedEntry {
    max_marks: Option<Sourced<u32>>,
    lookback: Option<Sourced<u32>>,
    collapse: Option<Sourced<Vec<BlockKind>>>,
    min: Option<Sourced<u32>>,
    lives: Option<Sourced<Vec<u32>>>,
    visible_after_ms: Option<Sourced<u32>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    from: Option<String>,
    input: String,
    read: String,
    write_5m: Option<String>,
    write_1h: Option<String>,
    output: String,
    source: Option<String>,
    confidence: Option<ConfidenceWord>,
    long: Option<LongEntry>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongEntry {
    above: u32,
    input: String,
    read: String,
    write_5m: Option<String>,
    write_1h: Option<String>,
    output: String,
}

/// `a` with what `b` gives put in its place.
macro_rules! take_over {
    ($a:expr, $b:expr, $($field:ident),+) => {
        $( if $b.$field.is_some() { $a.$field = $b.$field; } )+
    };
}

impl Entry {
    fn take_over(&mut self, other: Entry) {
        if let Some(theirs) = other.block {
            let ours = self.block.get_or_insert_default();
            take_over!(ours, theirs, block, min, max_life, typical_life);
        }
        if let Some(theirs) = other.marked {
            let ours = self.marked.get_or_insert_default();
            take_over!(ours, theirs, max_marks, lookback, collapse, min, lives, visible_after_ms);
        }
        take_over!(self, other, like, tokens, window, framing, accounting, prices);
    }
}

type Mistake = String;

impl File {
    /// An entry with everything that it takes from the profiles it is like.
    fn complete(&self, entry: &Entry, depth: u32) -> Result<Entry, Mistake> {
        let Some(like) = &entry.like else { return Ok(entry.clone()) };
        let profile = self.profiles.get(like).ok_or_else(|| format!("there is no profile `{like}`"))?;
        if depth > 8 {
            return Err(format!("profile `{like}` is like itself"));
        }
        let mut complete = self.complete(profile, depth + 1)?;
        complete.take_over(entry.clone());
        Ok(complete)
    }

    fn known<T>(
        &self,
        value: T,
        source: Option<&str>,
        confidence: Option<ConfidenceWord>,
    ) -> Result<Known<T>, Mistake> {
        let Some(key) = source else {
            return Ok(Known {
                value,
                source: "your file".into(),
                checked: None,
                confidence: Confidence::User,
            });
        };
        let source = self.sources.get(key).ok_or_else(|| format!("there is no source `{key}`"))?;
        let checked = source.checked.as_deref().map(day).transpose()?;
        let confidence = match confidence {
            Some(ConfidenceWord::A) => Confidence::A,
            Some(ConfidenceWord::B) => Confidence::B,
            Some(ConfidenceWord::C) => Confidence::C,
            Some(ConfidenceWord::D) => Confidence::D,
            None => Confidence::User,
        };
        Ok(Known { value, source: source.name.as_str().into(), checked, confidence })
    }

    fn sourced<T: Clone>(&self, sourced: &Sourced<T>) -> Result<Known<T>, Mistake> {
        self.known(sourced.value.clone(), sourced.source.as_deref(), sourced.confidence)
    }

    fn needed<T: Clone>(&self, sourced: &Option<Sourced<T>>, key: &str) -> Result<Known<T>, Mistake> {
        self.sourced(sourced.as_ref().ok_or_else(|| format!("`{key}` is missing"))?)
    }

    fn model(&self, id: &str, entry: &Entry) -> Result<Model, Mistake> {
        let entry = self.complete(entry, 0)?;
        let mut model = Model::unknown(id.into());
        if let Some(tokens) = &entry.tokens {
            let encoding = Encoding::named(&tokens.encoding)
                .ok_or_else(|| format!("there is no encoding `{}`", tokens.encoding))?;
            model.method = match tokens.factor {
                None => Method::Exact { encoding },
                Some(factor) if factor.is_finite() && factor > 0.0 => {
                    Method::Estimate { base: encoding, factor, error: tokens.error.unwrap_or(0.0) }
                }
                Some(factor) => return Err(format!("the factor {factor} is not above 0")),
            };
            model.method_from = Some(self.known((), tokens.source.as_deref(), tokens.confidence)?);
        }
        model.window = entry.window.as_ref().map(|window| self.sourced(window)).transpose()?;
        model.framing = entry.framing.as_deref().map(Into::into);
        model.accounting = entry
            .accounting
            .as_ref()
            .map(|sourced| {
                let known = self.sourced(sourced)?;
                let value = match known.value {
                    AccountingWord::Inclusive => Accounting::Inclusive,
                    AccountingWord::Exclusive => Accounting::Exclusive,
                };
                Ok::<_, Mistake>(Known {
                    value,
                    source: known.source,
                    checked: known.checked,
                    confidence: known.confidence,
                })
            })
            .transpose()?;
        model.family = match (&entry.block, &entry.marked) {
            (Some(block), None) => Some(Family::Block(self.block(block)?)),
            (None, Some(marked)) => Some(Family::Marked(self.marked(marked)?)),
            (None, None) => None,
            (Some(_), Some(_)) => return Err("a cache is of one family: `block` or `marked`".into()),
        };
        let prices = entry.prices.iter().flatten().map(|price| self.price(price));
        model.prices = prices.collect::<Result<_, _>>()?;
        model.prices.sort_by_key(|price| price.from);
        Ok(model)
    }

    fn block(&self, entry: &BlockEntry) -> Result<BlockRules, Mistake> {
        let rules = BlockRules {
            block: self.needed(&entry.block, "block.block")?,
            min: self.needed(&entry.min, "block.min")?,
            life: Life {
                max: self.needed(&entry.max_life, "block.max_life")?,
                typical: entry.typical_life.as_ref().map(|life| self.sourced(life)).transpose()?,
            },
        };
        if rules.block.value == 0 { Err("a block has at least 1 token".into()) } else { Ok(rules) }
    }

    fn marked(&self, entry: &MarkedEntry) -> Result<MarkedRules, Mistake> {
        let rules = MarkedRules {
            max_marks: self.needed(&entry.max_marks, "marked.max_marks")?,
            lookback: self.needed(&entry.lookback, "marked.lookback")?,
            collapse: self.needed(&entry.collapse, "marked.collapse")?,
            min: self.needed(&entry.min, "marked.min")?,
            lives: self.needed(&entry.lives, "marked.lives")?,
            visible_after: self.needed(&entry.visible_after_ms, "marked.visible_after_ms")?,
        };
        if rules.lives.value.is_empty() || !rules.lives.value.is_sorted() {
            return Err("`marked.lives` are seconds, ascending, at least one".into());
        }
        Ok(rules)
    }

    fn price(&self, entry: &PriceEntry) -> Result<Price, Mistake> {
        let ordinary = rates(&entry.input, &entry.read, &entry.write_5m, &entry.write_1h, &entry.output)?;
        let long = entry.long.as_ref().map(|long| {
            let rates = rates(&long.input, &long.read, &long.write_5m, &long.write_1h, &long.output)?;
            self.known(LongContext { above: long.above, rates }, entry.source.as_deref(), entry.confidence)
        });
        Ok(Price {
            from: entry.from.as_deref().map(day).transpose()?,
            rates: self.known(ordinary, entry.source.as_deref(), entry.confidence)?,
            long: long.transpose()?,
        })
    }
}

fn day(text: &str) -> Result<Date, Mistake> {
    text.parse().map_err(|_| format!("`{text}` is not a day like 2026-11-30"))
}

fn rates(
    input: &str,
    read: &str,
    write_5m: &Option<String>,
    write_1h: &Option<String>,
    output: &str,
) -> Result<Rates, Mistake> {
    let rate = |text: &str| {
        Rate::parse(text).ok_or_else(|| format!("`{text}` is not a price in dollars for a million tokens"))
    };
    Ok(Rates {
        input: rate(input)?,
        read: rate(read)?,
        write_5m: write_5m.as_deref().map(rate).transpose()?,
        write_1h: write_1h.as_deref().map(rate).transpose()?,
        output: rate(output)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_models_are_complete() {
        let models = embedded();
        assert_eq!(&*models.revision, "2026-11-30");
        for (id, model) in &models.models {
            assert!(model.method.encoding().is_some(), "{id}");
            assert!(
                model.method_from.as_ref().is_some_and(|from| from.confidence != Confidence::User),
                "{id}"
            );
            match &model.family {
                Some(Family::Marked(_)) => {
                    assert!(id.starts_with("anthropic:"), "{id}");
                    assert!(model.prices.iter().all(|price| price.rates.value.write_5m.is_some()), "{id}");
                }
                Some(Family::Block(_)) => {
                    assert!(id.starts_with("openai:"), "{id}");
                    assert!(model.prices.iter().all(|price| price.rates.value.write_5m.is_none()), "{id}");
                }
                None => assert!(model.prices.is_empty(), "{id}"),
            }
            assert_eq!(model.family.is_some(), !model.prices.is_empty(), "{id}");
        }
        let model = models.get(&"openai:gpt-5.4".into());
        assert_eq!(model.cache_phrase().unwrap(), "128 blocks, min 1,024");
        assert_eq!(model.price_at(0, 1).unwrap().rates.input.to_string(), "2.50");
        assert_eq!(model.short(), "gpt-5.4");
        let model = models.get(&"anthropic:claude-haiku-4-5".into());
        assert_eq!(model.cache_phrase().unwrap(), "at most 4 marks, min 4,096");
        assert_eq!(model.method.to_string(), "o200k_base x1.22 +-9 %");
    }

    #[test]
    fn vendors_multipliers_hold() {
        // Writing costs 1.25 and 2 times the input price, whatever the model.
        for (id, model) in &embedded().models {
            for price in &model.prices {
                let long = price.long.iter().map(|long| long.value.rates);
                for rates in long.chain([price.rates.value]) {
                    if let (Some(short), Some(hour)) = (rates.write_5m, rates.write_1h) {
                        assert_eq!(short, rates.input.times(1_250), "{id}");
                        assert_eq!(hour, rates.input.times(2_000), "{id}");
                    }
                    assert!(rates.read < rates.input, "{id}");
                }
            }
        }
    }

    #[test]
    fn a_file_of_ones_own_is_merged_value_by_value() {
        let own = r#"
models:
  "openai:gpt-5.4":
    block: { block: { value: 256 } }
  "acme:one":
    like: openai-24h
    prices: [ { input: "1", read: "0.5", output: "2" } ]
"#;
        let models = load(Some(("mine.yaml", own))).unwrap();
        assert_eq!(&*models.revision, "2026-11-30 + yours");
        let model = models.get(&"openai:gpt-5.4".into());
        assert_eq!(model.cache_phrase().unwrap(), "256 blocks, min 1,024");
        let Some(Family::Block(rules)) = &model.family else { panic!("{model:?}") };
        assert_eq!((rules.block.confidence, rules.min.confidence), (Confidence::User, Confidence::A));
        assert_eq!(model.prices.len(), 1);
        assert_eq!(models.get(&"acme:one".into()).cache_phrase().unwrap(), "128 blocks, min 1,024");
    }

    #[test]
    fn nothing_is_made_up_for_models_that_are_not_known() {
        let model = embedded().get(&"acme:two".into());
        assert_eq!(model.method.to_string(), "n/a: no tokenizer for acme:two");
        assert_eq!((model.family.clone(), model.price_at(0, 1), model.window.clone()), (None, None, None));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let cases = [
            ("models:\n  \"a:b\":\n    lke: openai\n", "lke", Some((3, 5))),
            ("models:\n  \"a:b\":\n    like: nobody\n", "there is no profile `nobody`", Some((2, 4))),
            (
                "models:\n  \"a:b\": { prices: [ { input: \"x\", read: \"1\", output: \"1\" } ] }\n",
                "`x` is not a price",
                Some((2, 4)),
            ),
            (
                "models:\n  \"a:b\": { tokens: { encoding: r50k } }\n",
                "there is no encoding `r50k`",
                Some((2, 4)),
            ),
        ];
        for (text, message, at) in cases {
            let mistake = load(Some(("mine.yaml", text))).unwrap_err();
            assert!(mistake.message.contains(message), "{mistake}");
            assert_eq!(mistake.at.map(|at| (at.line, at.column)), at, "{mistake}");
            assert_eq!(mistake.file.as_deref(), Some("mine.yaml"));
        }
    }
}
