//! The ways in which other programs lose an update, each a variant of the sample that it belongs to: what the injectors say
//! became of the change, there and by default.

use plywood::core::run::{Fate, Fated};
use plywood::core::wire::CallNo;

use crate::scene::{Files, Scene};

/// What became of the changes of the fact that an injector watches, at the end of a run.
fn fates(sample: &str, run: &str, injector: &str, variants: &[&str]) -> Vec<Fated> {
    let mut scene = Scene::sample(Files::of_sample(sample), variants);
    let lines = scene.session.bench().runs.get(run).expect("there is such a run").clone();
    for line in lines.iter() {
        scene.take(line.input.clone());
    }
    let call = CallNo(scene.session.calls().len() as u32);
    let injectors = scene.session.injectors(call);
    let one = injectors.iter().find(|one| &*one.layer == injector).expect("there is such an injector");
    assert_eq!(one.facts.len(), 1);
    one.facts[0].changes.clone()
}

fn of_cwd(run: &str, variants: &[&str]) -> Vec<Fate> {
    fates("xbot", run, "dynamic_context", variants).into_iter().map(|change| change.fate).collect()
}

fn is_told(fate: &Fate) -> bool {
    matches!(fate, Fate::Told { .. })
}

#[test]
fn a_change_by_the_first_tool_is_swallowed_by_a_first_look() {
    assert!(of_cwd("first_cd", &[]).iter().all(is_told));
    for variant in ["first_call", "empty_is_unset"] {
        let fates = of_cwd("first_cd", &[variant]);
        assert!(matches!(fates[..], [Fate::Swallowed { call: CallNo(2) }]), "{variant}: {fates:?}");
    }
}

#[test]
fn a_first_value_is_swallowed_where_nothing_counts_as_no_baseline() {
    let last = |variants: &[&str]| of_cwd("from_nothing", variants).pop().expect("a change");
    assert!(is_told(&last(&[])), "{:?}", last(&[]));
    assert!(is_told(&last(&["first_call"])), "an empty value is one");
    assert!(matches!(last(&["empty_is_unset"]), Fate::Swallowed { .. }), "{:?}", last(&["empty_is_unset"]));
}

#[test]
fn a_value_that_goes_away_is_untold_where_there_are_no_words_for_it() {
    let last = |variants: &[&str]| of_cwd("to_nothing", variants).pop().expect("a change");
    assert!(is_told(&last(&[])), "{:?}", last(&[]));
    let lost = last(&["silent_when_empty"]);
    assert!(matches!(&lost, Fate::Untold { why: Some(why) } if why.contains("cwd")), "{lost:?}");
}

#[test]
fn a_failed_send_takes_the_announcement_with_it_where_made_counts_as_told() {
    let change = |variants: &[&str]| fates("xbot", "failed_send", "dynamic_context", variants).remove(0);
    let told = change(&[]);
    assert!(
        matches!(told.fate, Fate::Told { call: CallNo(3), .. }) && told.failed == [CallNo(2)],
        "{told:?}"
    );
    let lost = change(&["forgetful"]);
    assert_eq!(lost.failed, [CallNo(2)]);
    assert_eq!(lost.fate, Fate::Untold { why: Some("dropped with the call that failed".into()) });
}

#[test]
fn a_change_without_a_tool_message_is_dropped_where_made_counts_as_told() {
    // By default the next turn's system prompt says it; with one for the whole session it waits for its place.
    assert!(matches!(of_cwd("between_turns", &[])[..], [Fate::Said { call: CallNo(3), .. }]));
    let waits = of_cwd("between_turns", &["prompt_of_session"]);
    assert!(matches!(waits[..], [Fate::Told { call: CallNo(5), .. }]), "{waits:?}");
    let lost = of_cwd("between_turns", &["forgetful"]);
    assert_eq!(lost, [Fate::Untold { why: Some("dropped: there was no place for it".into()) }]);
}

#[test]
fn a_report_that_is_cleared_after_each_turn_is_gone_before_the_next_and_nobody_is_told() {
    let rules = |variants: &[&str]| {
        let mut scene = Scene::sample(Files::of_sample("mao"), variants);
        scene.play("scheduled");
        (1..=2)
            .map(|call| crate::scene::everything(&scene.request(call)).contains("本机规则"))
            .collect::<Vec<_>>()
    };
    assert_eq!(rules(&[]), [true, true]);
    assert_eq!(rules(&["cleared_each_turn"]), [true, false]);
    let last = |variants: &[&str]| fates("mao", "scheduled", "rules_news", variants).pop();
    let kept = last(&["announced"]);
    assert!(kept.is_none_or(|change| !change.fate.is_lost()));
    let lost = last(&["cleared_each_turn"]).expect("a change");
    assert!(lost.fate.is_lost(), "{lost:?}");
}

#[test]
fn no_run_is_refused_under_these_variants() {
    for (sample, variants) in
        [("xbot", &["forgetful", "silent_when_empty"][..]), ("mao", &["announced", "cleared_each_turn"])]
    {
        for variant in variants {
            let runs: Vec<_> = Scene::sample(Files::of_sample(sample), &[variant])
                .session
                .bench()
                .runs
                .keys()
                .cloned()
                .collect();
            for run in runs {
                let mut scene = Scene::sample(Files::of_sample(sample), &[variant]);
                scene.play(&run);
                assert!(!scene.session.calls().is_empty(), "{sample} {run} {variant}");
            }
        }
    }
}
