//! The sample's claim against the usual models: announcing a change of directory moves the break, it does not avoid it.

use std::collections::BTreeMap;
use std::sync::Arc;

use plywood::core::cache::Measures;
use plywood::core::compare::{self, Comparison, Row};
use plywood::core::fact::Name;
use plywood::core::tokens::{Encoding, LineCounter, Measure};
use plywood::core::wire::CallNo;
use plywood::io::models;

use crate::scene::Scene;

#[derive(Default)]
struct Counters(BTreeMap<Encoding, LineCounter>);

impl Measures for Counters {
    fn of(&mut self, encoding: Encoding) -> &mut dyn Measure {
        self.0.entry(encoding).or_insert_with(|| LineCounter::new(encoding))
    }
}

/// The ways of the sample on its run `cd`, for the models that a comparison shows by itself.
fn compared(ways: &[&[&str]]) -> (Scene, Comparison) {
    let known = Arc::new(models::embedded());
    let mut counters = Counters::default();
    let ids = compare::usual_models(&known, &"openai:gpt-5.4".into());
    let names = |way: &[&str]| way.iter().map(|name| Name::from(*name)).collect::<Vec<_>>();
    let mut comparison = Comparison::of(ids.clone(), ways.iter().map(|way| names(way)).collect(), Vec::new());
    while let Some(way) = comparison.next_way() {
        let mut scene = Scene::xbot(&way.iter().map(|name| &**name).collect::<Vec<_>>());
        scene.play("cd");
        comparison.add(Row::of(way, &scene.session, &known, &ids, &mut counters));
    }
    let mut scene = Scene::xbot(&[]);
    scene.play("cd");
    (scene, comparison)
}

#[test]
fn compare_reproduces_the_moved_break_over_two_turns_for_three_providers() {
    let (_, comparison) = compared(&[&["rebuild_system"], &["no_cwd_in_base", "keep_tags"]]);
    let known = models::embedded();
    assert_eq!(comparison.models.len(), 3, "{:?}", comparison.models);
    let [base, rebuild, kept] = &comparison.rows[..] else { panic!("three rows") };
    for (model, id) in comparison.models.iter().enumerate() {
        // In turn 1 the announcement loses nothing, and building the system prompt anew does.
        let first = |row: &Row| (row.sum(model, Some(1)), row.first_loss(model, None));
        assert_eq!(first(base).0.lost, Some(0), "{id}");
        assert!(first(rebuild).0.lost > Some(0), "{id}");
        assert!(first(base).0.cost < first(rebuild).0.cost, "{id}");
        // Over both turns the break is there all the same, later.
        assert_eq!(first(base).1, Some(CallNo(5)), "{id}");
        assert_eq!(first(rebuild).1, Some(CallNo(2)), "{id}");
        assert!(base.sum(model, None).lost > Some(0), "{id}");
        // Taking the directory out of the system prompt and keeping what was injected really loses nothing.
        assert_eq!(kept.sum(model, None).lost, Some(0), "{id}");
        assert!(kept.told(None).is_honest());
    }
    for row in &comparison.rows {
        assert_eq!(compare::check(row, &known), [], "{:?}", row.names);
    }
}

#[test]
fn what_is_said_of_it_is_computed() {
    let (scene, comparison) = compared(&[&["rebuild_system"], &["no_cwd_in_base", "keep_tags"], &["never"]]);
    let known = models::embedded();
    let table = comparison.table(scene.session.bench(), &known, None);
    let best = table.rows.iter().find(|row| row.least).expect("one costs least");
    assert_eq!(&*best.label, "no cwd in base and keep tags");
    let (base, least) = (&table.rows[0].sums[0], &best.sums[0]);
    let saved = base.cost.expect("a price").saturating_sub(least.cost.expect("a price")) * 1_000;
    assert!(table.least[0].contains(&format!("{} less on gpt-5.4", saved.decimals(2))), "{:?}", table.least);
    let more = least.last.expect("it is counted") - base.last.expect("it is counted");
    assert!(
        table.least[1].starts_with(&format!("Price: {more} tokens more context at call 6.")),
        "{:?}",
        table.least
    );
    // Never telling costs less than that, and is not what is called least: it leaves the model with a wrong word.
    let never = table.rows.iter().find(|row| &*row.label == "never").expect("a row");
    assert!(never.told.expect("it was played").stale > 0 && !never.least);
    for line in table.verdict.iter().chain(&table.least) {
        assert!(!line.to_lowercase().contains("optimal") && !line.contains("score"), "{line}");
    }
}
