//! Demos: the same in every rehearsal, and every caption says what the screen shows.

use std::sync::Arc;

use plywood::app::cells;
use plywood::app::engine::{Disk, Engine, Options};
use plywood::core::tokens::Encoding;
use plywood::io::bench_file::Machine;
use plywood::io::demos::{self, BuiltIn};
use plywood::io::{models, samples};

use super::stage::Stage;

fn engine(demo: &BuiltIn) -> Engine {
    Encoding::O200k.load();
    let script = demo.demo().expect("a script");
    let own = demo.own_bench();
    let sample = own.as_ref().or_else(|| samples::find(&script.bench)).expect("a bench");
    let disk = Disk::sample(sample, "demo", &Machine::this()).unwrap_or_else(|list| panic!("{list:?}"));
    let engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default());
    let mut engine = engine.unwrap_or_else(|list| panic!("{list:?}"));
    engine.perform(script).unwrap_or_else(|list| panic!("{}: {list:?}", demo.name));
    engine
}

/// Plays to the end, back and to the end again, and compares what the terminal shows.
fn rehearse(name: &str, size: (u16, u16), in_between: &[&str]) {
    let demo = demos::find(name).expect("a demo");
    let beats = demo.demo().expect("a script").beats.len();
    let mut stage = Stage::on(engine(demo), size, "ansi");
    let mut first = vec![stage.text()];
    for beat in 1..beats {
        stage.keys(&["space"]);
        assert_eq!(stage.state.snapshot.demo.as_ref().map(|demo| demo.at), Some(beat as u32 + 1));
        first.push(stage.text());
    }
    for pair in first.windows(2) {
        assert_ne!(pair[0], pair[1], "{name}: a beat that changes nothing");
    }
    let order =
        (0..beats - 1).rev().map(|beat| ("backspace", beat)).chain((1..beats).map(|beat| ("space", beat)));
    for (key, beat) in order {
        stage.keys(in_between);
        stage.keys(&[key]);
        let now = stage.text();
        assert!(now == first[beat], "{name}: beat {} by {key}:\n{now}\nbut first\n{}", beat + 1, first[beat]);
    }
    stage.keys(&["space"]);
    assert_eq!(stage.state.message, "the demo is at its end");
}

#[test]
fn every_rehearsal_shows_the_same_in_80x24() {
    for demo in demos::demos() {
        rehearse(demo.name, (80, 24), &[]);
    }
}

#[test]
fn what_a_presenter_tries_out_leaves_no_trace() {
    rehearse("rules-file", (120, 40), &["z", "G", "o", "esc", "4", "]", "[", "r", "?", "esc"]);
    rehearse("moved-break", (120, 40), &["1", "j", "j", "tab", "v", "esc"]);
}

#[test]
fn captions_fit_on_two_lines_of_the_smallest_stage() {
    for demo in demos::demos() {
        let mut stage = Stage::on(engine(demo), (80, 24), "mono");
        for beat in demo.demo().expect("a script").beats {
            let caption = stage.state.snapshot.caption.clone().expect("a caption");
            for sign in ["?", "...", "n/a", "{", "}"] {
                let own = beat.say.matches(sign).count();
                let braces = matches!(sign, "{" | "}");
                assert_eq!(
                    caption.text.matches(sign).count(),
                    if braces { 0 } else { own },
                    "{}",
                    caption.text
                );
            }
            let count = format!("  {} of {}", caption.at, caption.of).len();
            let rows = cells::wrap(&caption.text, 78 - count);
            assert!(rows.len() <= 2, "{}: {}", demo.name, caption.text);
            let last = caption.text[rows[rows.len() - 1].0.clone()].trim_end();
            assert!(stage.text().contains(last), "{}:\n{}", caption.text, stage.text());
            stage.keys(&["space"]);
        }
    }
}

/// What the captions of a demo say.
fn told(name: &str) -> Vec<String> {
    let demo = demos::find(name).expect("a demo");
    let mut stage = Stage::on(engine(demo), (80, 24), "ansi");
    let mut told = Vec::new();
    for _ in 0..demo.demo().expect("a script").beats.len() {
        told.push(stage.state.snapshot.caption.as_ref().expect("a caption").text.to_string());
        stage.keys(&["space"]);
    }
    told
}

#[test]
fn the_stories_are_those_of_the_numbers() {
    let number = |text: &str, at: usize| -> u64 {
        let found: Vec<u64> = text
            .split_whitespace()
            .filter_map(|word| word.trim_matches(|c: char| !c.is_ascii_digit()).replace(',', "").parse().ok())
            .collect();
        found[at]
    };
    let moved = told("moved-break");
    assert!(moved[2].ends_with("Lost: 0.") && moved[3].contains("0 and 0 lost"), "it works at first");
    let lost = number(&moved[4], 2);
    assert!(moved[4].contains("tokens are paid again") && lost > 5_000, "{}", moved[4]);
    let (announced, rebuilt) = (number(&moved[6], 0), number(&moved[6], 1));
    assert!(announced == lost && rebuilt * 10 >= announced * 9, "moved, not avoided: {}", moved[6]);
    let behind = number(&moved[7], 0);
    assert!(behind > 0 && behind < announced, "a second break behind the first: {}", moved[7]);
    assert!(moved[8].contains(": 0 lost"), "{}", moved[8]);

    let stripping = told("reminder-stripping");
    assert!(number(&stripping[0], 2) > number(&stripping[3], 2), "sent more than is replayed");
    let (kept, stripped) = (number(&stripping[8], 0), number(&stripping[8], 1));
    assert!(stripped > kept, "{}", stripping[8]);

    let policy = told("refresh-policy");
    assert!(policy[1].contains("stale in 0") && policy[6].ends_with("with 5."), "{}", policy[6]);

    let rules = told("rules-file");
    assert!(rules[5].contains("loses") && number(&rules[5], 2) > 0, "{}", rules[5]);
}
