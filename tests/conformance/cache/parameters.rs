//! Parameters besides the text: what is no change, and what everything costs with them.

use plywood::core::cache::{Note, Verdict};

use super::lab::{Lab, system, text, user};

const SONNET: &str = "anthropic:claude-sonnet-5";

#[test]
fn to_name_a_default_is_no_change() {
    let blocks = [system(&text(1, 4_000)), user(1, &text(2, 1_000))];
    let marks = [(1, 300)];
    for (model, name, default) in [
        (SONNET, "effort", "high"),
        (SONNET, "tool_choice", "auto"),
        (SONNET, "parallel_tool_calls", "true"),
        (SONNET, "speed", "standard"),
        ("openai:gpt-5.4", "text_format", "text"),
        ("openai:gpt-6-sol", "service_tier", "auto"),
    ] {
        let mut lab = Lab::of(model);
        lab.send(&blocks, &marks);
        for value in [Some(default), None, Some(default)] {
            lab.choose(name, value);
            let outcome = lab.send(&blocks, &marks);
            assert_eq!(
                (outcome.verdict, outcome.lost()),
                (Verdict::Appended, Some(0)),
                "{model} {name} {value:?}"
            );
            assert!(outcome.settings.is_empty(), "{model} {name}");
        }
        lab.choose(name, Some("other"));
        let outcome = lab.send(&blocks, &marks);
        assert_eq!(outcome.verdict, Verdict::SettingsChanged, "{model} {name}");
    }
}

#[test]
fn batches_and_places_have_prices_of_their_own() {
    let blocks = [system(&text(1, 10_000)), user(1, &text(2, 1_000))];
    let sent = |params: &[(&str, &str)]| {
        let mut lab = Lab::of(SONNET);
        for (name, value) in params {
            lab.choose(name, Some(value));
        }
        lab.send(&blocks, &[(0, 300)])
    };
    let plain = sent(&[]).cost.expect("a price").as_pico();
    let times = |params: &[(&str, &str)]| {
        let outcome = sent(params);
        let notes = outcome.notes.iter().filter(|note| matches!(note, Note::Times { .. })).count();
        assert_eq!(notes, params.len(), "{params:?}");
        outcome.cost.expect("a price").as_pico() as f64 / plain as f64
    };
    for (params, factor) in [
        (&[("batch", "true")][..], 0.5),
        (&[("inference_geo", "us")], 1.1),
        (&[("batch", "true"), ("inference_geo", "us")], 0.55),
    ] {
        assert!((times(params) - factor).abs() < 1e-9, "{params:?}");
    }
    // That the fast mode costs more is known, and by how much it is not: there is no figure that would be wrong.
    let fast = sent(&[("speed", "fast")]);
    assert_eq!((fast.cost, fast.lost_cost), (None, None));
    assert!(fast.notes.contains(&Note::OtherPrice("speed".into())) && fast.split.is_some());
    // Elsewhere these parameters are nothing.
    let mut lab = Lab::of("openai:gpt-5.4");
    let before = lab.send(&blocks, &[]).cost;
    let mut lab = Lab::of("openai:gpt-5.4");
    lab.choose("inference_geo", Some("us"));
    assert_eq!(lab.send(&blocks, &[]).cost, before);
}
