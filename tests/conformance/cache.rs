//! What the sample's placements do to prompt caches: where they break, who did it, what is paid again.

mod families;
mod lab;
mod memory;
mod parameters;
mod reproductions;
mod sums;
mod vectors;

use std::collections::BTreeMap;
use std::sync::Arc;

use plywood::core::cache::{Labels, Lane, Measures, Outcome, Simulator, Verdict};
use plywood::core::fact::EventId;
use plywood::core::tokens::{Encoding, LineCounter, Measure};
use plywood::core::wire::Zone;
use plywood::io::models;

use crate::scene::Scene;

#[derive(Default)]
struct Counters(BTreeMap<Encoding, LineCounter>);

impl Measures for Counters {
    fn of(&mut self, encoding: Encoding) -> &mut dyn Measure {
        self.0.entry(encoding).or_insert_with(|| LineCounter::new(encoding))
    }
}

const GPT: usize = 0;
const SONNET: usize = 1;

/// The run `cd` under some variants, and what each call means for gpt-5.4 and sonnet-5.
fn played(variants: &[&str]) -> (Scene, Vec<Vec<Outcome>>) {
    let mut scene = Scene::xbot(variants);
    scene.play("cd");
    let lanes = [Lane::AsSent, Lane::As("anthropic:claude-sonnet-5".into())];
    let mut simulator = Simulator::new(Arc::new(models::embedded()), lanes);
    let mut counters = Counters::default();
    let calls = 1..=scene.session.calls().len() as u32;
    let outcomes = calls.map(|call| simulator.call(&scene.request(call), &mut counters)).collect();
    (scene, outcomes)
}

fn sentence(scene: &Scene, outcome: &Outcome) -> String {
    let event = |id: EventId| scene.session.event(id).label.to_string();
    let bench = scene.session.bench().clone();
    let layer = |id: &str| bench.layer(id).map_or(id.to_owned(), |layer| layer.shown().to_string());
    outcome.sentence(&Labels { event: &event, layer: &layer, strip: &|_, _| Some("persist: strip".into()) })
}

fn lost(outcomes: &[Vec<Outcome>], lane: usize) -> Vec<u32> {
    outcomes.iter().map(|call| call[lane].lost().unwrap_or(0)).collect()
}

#[test]
fn announcing_the_directory_moves_the_break_to_the_next_turn() {
    let (scene, outcomes) = played(&[]);
    let verdicts: Vec<Verdict> = outcomes.iter().map(|call| call[GPT].verdict).collect();
    assert_eq!(
        verdicts,
        [
            Verdict::First,
            Verdict::Appended,
            Verdict::Appended,
            Verdict::Appended,
            Verdict::Changed,
            Verdict::Appended
        ]
    );
    let losing: Vec<usize> = (0..6).filter(|&call| lost(&outcomes, GPT)[call] > 0).collect();
    assert_eq!(losing, [4]);
    let fifth = &outcomes[4][GPT];
    let blame = fifth.blame.as_ref().expect("a break has a blame");
    assert_eq!(
        (blame.zone, &*blame.part, fifth.vendor_name()),
        (Zone::System, "system_prompt", Some("system_changed"))
    );
    assert_eq!((blame.old.as_str(), blame.new.as_str()), ("/home/shop", "/home/shop/api"));
    assert_eq!(blame.facts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cwd"]);
    let text = sentence(&scene, fifth);
    assert!(text.starts_with("call 5 changed: system byte "), "{text}");
    assert!(text.contains(", 00_base {{cwd}} prompt.md:"), "{text}");
    assert!(text.contains(", \"/home/shop\" -> \"/home/shop/api\", by Cd in call 1; "), "{text}");
    // Behind it: persisting took the injected texts out of the first tool message.
    let behind = &fifth.behind[0];
    assert_eq!((behind.blame.zone, &*behind.blame.part), (Zone::Messages, "dynamic_context"));
    assert!(behind.still_lost > 0 && behind.still_lost < fifth.lost().expect("it is known"));
    // The placeholder stands where the sentence says.
    let written = blame.written.as_ref().expect("a template wrote it");
    let template = scene_text(&written.file);
    let line = template.lines().nth(written.at.line as usize - 1).expect("there is such a line");
    let from: String = line.chars().skip(written.at.column as usize - 1).collect();
    assert!(from.starts_with("{{"), "{line}");
}

fn scene_text(name: &str) -> String {
    let files = crate::scene::Files::of_sample("xbot");
    files.text(name).to_string()
}

#[test]
fn rebuilding_the_system_prompt_breaks_at_once() {
    let (scene, outcomes) = played(&["rebuild_system"]);
    assert_eq!(outcomes[1][GPT].verdict, Verdict::Changed, "{}", sentence(&scene, &outcomes[1][GPT]));
    assert_eq!(outcomes[1][GPT].blame.as_ref().map(|blame| &*blame.part), Some("system_prompt"));
    assert!(lost(&outcomes, GPT)[1] > 0);
}

#[test]
fn a_prompt_without_the_directory_and_with_kept_tags_loses_nothing() {
    let (scene, outcomes) = played(&["no_cwd_in_base", "keep_tags"]);
    for call in &outcomes {
        assert_eq!(call[GPT].lost().unwrap_or(0), 0, "{}", sentence(&scene, &call[GPT]));
        assert_eq!(call[SONNET].lost().unwrap_or(0), 0, "{}", sentence(&scene, &call[SONNET]));
    }
}

#[test]
fn a_mark_on_the_system_prompt_leaves_the_messages_at_full_price() {
    let (scene, outcomes) = played(&[]);
    assert_eq!(outcomes[1][SONNET].verdict, Verdict::NotCached);
    let text = sentence(&scene, &outcomes[1][SONNET]);
    assert!(text.starts_with("call 2 not cached: no mark after system; ~"), "{text}");
    // All that the first call wrote is paid again, and no more than that.
    let fifth = &outcomes[4][SONNET];
    assert_eq!((fifth.read(), fifth.lost()), (Some(0), outcomes[0][SONNET].write()));
    assert!(fifth.write() > fifth.lost());
}

#[test]
fn the_numbers_add_up_under_every_variant() {
    for variant in
        ["own_message", "never", "strip_reminders", "no_cwd_in_base", "keep_tags", "rebuild_system"]
    {
        let (_, outcomes) = played(&[variant]);
        assert_eq!(outcomes.len(), 6, "{variant}");
        for outcome in outcomes.iter().flatten() {
            let split = outcome.split.expect("it is known");
            let written = split.write.map_or(0, |write| write.total());
            assert_eq!(Some(split.read + written + split.fresh), outcome.sent, "{variant}");
        }
    }
}
