//! The models that are known: an embedded file, and the user's own merged over it.

mod build;
mod entries;
mod mistake;

use std::sync::Arc;

use indexmap::IndexMap;
use jiff::civil::Date;
use serde::de::DeserializeOwned;

use self::build::Mistake;
use self::entries::File;
use crate::core::cache::{Models, short_id};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;

/// The file that comes with the program.
const EMBEDDED: &str = include_str!("../models.yaml");
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
    let mistake = |id: &str, place: (&str, &str), message: &str, hint: Option<String>| {
        Box::new(mistake::of_model(id, place, message, hint))
    };
    if let Some((name, text)) = own {
        let yours: File = parse(name, text)?;
        revision = format!("{revision} + yours").into();
        file.sources.extend(yours.sources);
        for (id, entry) in yours.profiles.iter().chain(&yours.models) {
            if entry.families() > 1 {
                return Err(mistake(id, (name, text), "a cache is of one family", None));
            }
        }
        if let Some(id) = yours.models.keys().find(|id| !id.contains(':')) {
            let known = file.models.keys().find(|known| short_id(known) == id);
            let hint =
                format!("write provider:model, such as `{}`", known.map_or("acme:model-1", |known| known));
            return Err(mistake(id, (name, text), "a model is named with its provider", Some(hint)));
        }
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
            let known = file.profiles.keys().chain(file.models.keys()).map(String::as_str);
            mistake(id, from[id], &message, mistake::like(&message, known))
        })?;
        models.insert(model.id.clone(), Arc::new(model));
    }
    Ok(Models { models, revision })
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Box<Diagnostic>> {
    serde_yaml::from_str(text).map_err(|error| Box::new(mistake::of_yaml(&error, name, text)))
}

fn day(text: &str) -> Result<Date, Mistake> {
    text.parse().map_err(|_| format!("`{text}` is not a day like 2026-11-30"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cache::{Confidence, Family};

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
            let priced = |price: &crate::core::cache::Price| price.rates.value.write_5m.is_some();
            match &model.family {
                Some(Family::Marked(_) | Family::AutoMarked(_)) => {
                    assert!(model.prices.iter().all(priced), "{id}");
                }
                Some(Family::Block(_)) => {
                    assert!(id.starts_with("moonshot:kimi-k3") || !model.prices.iter().any(priced), "{id}");
                }
                Some(_) => assert!(!model.prices.iter().any(priced), "{id}"),
                None => assert!(model.prices.is_empty(), "{id}"),
            }
        }
        // Every family has a model, and what is not known of one is not made up.
        let families: std::collections::BTreeSet<&str> =
            models.models.values().filter_map(|model| model.family.as_ref().map(Family::word)).collect();
        assert_eq!(families.len(), 8, "{families:?}");
        assert!(models.get(&"anthropic:claude-mythos-5".into()).prices.is_empty());
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
        // At Anthropic, writing costs 1.25 and 2 times the input price, whatever the model.
        let models = embedded();
        let all = models.models.iter();
        for (id, model) in all.filter(|(id, _)| id.starts_with("anthropic:") || id.starts_with("bedrock:")) {
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
    fn prices_follow_the_day_and_the_hour() {
        let models = embedded();
        let at = |id: &str, time: &str, tokens: u32| {
            let at: jiff::Timestamp = time.parse().unwrap();
            models.get(&id.into()).price_at(at.as_millisecond(), tokens).unwrap()
        };
        let read = |id: &str, time: &str| at(id, time, 1).rates.read.to_string();
        assert_eq!(read("google:gemini-4-argon", "2026-11-30T23:59:59Z"), "0.10");
        assert_eq!(read("google:gemini-4-argon", "2026-12-01T00:00:00Z"), "0.20");
        // A Monday and the Sunday before it.
        let pro = "deepseek:deepseek-v4-pro";
        assert_eq!(read(pro, "2026-11-30T03:59:59Z"), "0.044");
        assert_eq!(read(pro, "2026-11-30T04:00:00Z"), "0.022");
        assert_eq!(read(pro, "2026-11-30T06:00:00Z"), "0.044");
        assert_eq!(read(pro, "2026-11-29T02:00:00Z"), "0.022");
        // The highest limit that is passed counts, and no limit is passed by its own number.
        let code = |tokens| at("doubao:seed-code", "2026-11-30T00:00:00Z", tokens).rates.input.to_string();
        assert_eq!([32_000, 32_001, 128_001].map(code), ["1.20", "1.40", "2.80"]);
        let dear = at("openai:gpt-6.2-sol", "2026-11-30T00:00:00Z", 272_001).rates;
        assert_eq!(
            (dear.read.to_string(), dear.output.unwrap().to_string()),
            ("0.20".into(), "15.00".into())
        );
    }

    #[test]
    fn every_family_can_be_given_in_a_file_of_ones_own() {
        let own = r#"
models:
  "acme:block": { like: "vllm:local", block: { block: { value: 528 } } }
  "acme:auto": { like: openai-marked, auto_marked: { lookback: { value: 9 }, collapse: { value: [] } } }
  "acme:units": { like: openai, units: { min: { value: 64 }, visible: { value: { when: seconds, after_ms: 1 } }, generated: { value: no }, common: { value: true } } }
  "acme:slot": { like: "llama.cpp:local", slot: { slots: { value: 1 } } }
  "acme:tree": { like: "sglang:local", radix: { page: { value: 64 } } }
  "acme:own": { like: gemini-explicit, prices: [ { input: "1", read: "0.1", storage: "1", peak: { hours: [[0, 12]], times: 1.5 } } ] }
  "acme:old": { like: claude, marked: { visible_after_ms: { value: 7 } }, reliability: { value: 0.5 }, about: { room: { value: small } } }
"#;
        let models = load(Some(("mine.yaml", own))).unwrap();
        let phrase = |id: &str| models.get(&id.into()).cache_phrase().unwrap();
        assert_eq!(phrase("acme:block"), "528 blocks, min 0");
        assert_eq!(phrase("acme:units"), "whole units, min 64");
        assert_eq!(phrase("acme:slot"), "1 slots");
        assert_eq!(phrase("acme:tree"), "prefix tree, pages of 64");
        let old = models.get(&"acme:old".into());
        assert_eq!(old.family.as_ref().unwrap().visible().unwrap().after, 7);
        assert_eq!(old.about[&Name::from("room")].confidence, Confidence::User);
        assert_eq!(models.get(&"acme:own".into()).prices[0].peak.as_ref().unwrap().value.times, 1_500);
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
            ("models:\n  \"a:b\":\n    lke: openai\n", "unknown key `lke`", (3, 5), "did you mean `like`?"),
            ("modls: {}\n", "unknown key `modls`", (1, 1), "did you mean `models`?"),
            (
                "models:\n  \"a:b\":\n    like: opnai\n",
                "there is no profile `opnai` and no model",
                (3, 11),
                "did you mean `openai`?",
            ),
            (
                "models:\n  \"a:b\": { prices: [ { input: \"x\", read: \"1\", output: \"1\" } ] }\n",
                "`x` is not a price",
                (2, 32),
                "",
            ),
            (
                "models:\n  \"a:b\":\n    like: claude\n    reliability: { value: 97 }\n  \"a:c\": { like: claude, reliability: { value: 1 } }\n",
                "`reliability` is a share from 0 to 1",
                (4, 5),
                "",
            ),
            (
                "models:\n  \"a:b\": { block: { block: { value: 1 } }, opaque: { min: { value: 1 } } }\n",
                "a cache is of one family",
                (2, 4),
                "",
            ),
            (
                "models:\n  \"a:b\": { units: { min: { value: 1 } } }\n  \"a:c\": { like: claude }\n",
                "`units.visible` is missing",
                (2, 4),
                "",
            ),
            (
                "models:\n  \"a:b\":\n    radix: { page: { value: 1 }, generated: { value: maybe } }\n",
                "`maybe` is none of the words",
                (3, 54),
                "known here: `no`, `yes`, `measured`",
            ),
            (
                "models:\n  \"a:b\": { tokens: { encoding: r50k } }\n",
                "there is no encoding `r50k`",
                (2, 32),
                "",
            ),
            (
                "models:\n  \"a:b\":\n    window: { value: -5 }\n",
                "a whole number that is not negative was expected",
                (3, 22),
                "4096",
            ),
            (
                "models:\n  \"a:b\":\n    block: { block: 256 }\n",
                "a map was expected",
                (3, 21),
                "{ value: 128 }",
            ),
            (
                "models:\n  \"gpt-5.4\": { window: { value: 5 } }\n",
                "a model is named with its provider",
                (2, 4),
                "such as `openai:gpt-5.4`",
            ),
            ("models:\n  \"a:b\": {}\n  \"a:b\": {}\n", "`a:b` stands here twice", (3, 3), "one place"),
            (
                "models:\n  \"a:b\": { like: claude, factors: [ { param: geo, is: us, times: 2 } ] }\n",
                "there is no parameter `geo`",
                (2, 46),
                "",
            ),
            (
                "models:\n  \"a:b\": { like: claude, reliability: { value: 0.5, source: nowhere } }\n",
                "there is no source `nowhere`",
                (2, 61),
                "",
            ),
        ];
        for (text, message, at, hint) in cases {
            let mistake = load(Some(("mine.yaml", text))).unwrap_err();
            assert!(mistake.message.contains(message), "{mistake}");
            assert_eq!(mistake.at.map(|at| (at.line, at.column)), Some(at), "{mistake}");
            assert!(mistake.hint.as_deref().unwrap_or_default().contains(hint), "{mistake}");
            assert_eq!(mistake.file.as_deref(), Some("mine.yaml"));
        }
    }
}
