//! The tour of the cache says what happens, and that is what happens.

use std::sync::Arc;

use plywood::app::engine::{Counters, Disk, Edge, Numbers};
use plywood::core::cache::{Lane, Outcome, Verdict};
use plywood::core::run::{Load, Player};
use plywood::core::wire::CallNo;
use plywood::io::bench_file::Machine;
use plywood::io::load::fixed_clock;
use plywood::io::models;
use plywood::io::samples;

fn machine() -> Machine {
    Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None }
}

/// What comes of a run of the tour, call by call.
fn run(name: &str, variants: &[&str]) -> Vec<Outcome> {
    let sample = samples::find("cache-lab").expect("the sample");
    let mut disk = Disk::sample(sample, "", &machine()).expect("a copy");
    let variants: Vec<_> = variants.iter().map(|name| (*name).into()).collect();
    let (bench, warnings) = disk.bench(&variants).expect("a bench");
    assert!(warnings.is_empty(), "{warnings:?}");
    let load: &mut dyn Load = &mut disk;
    let player = Player::start(bench, Some(name), load).expect("a run").forecast(load);
    let mut numbers = Numbers::new(Arc::new(models::embedded()), [Lane::AsSent]);
    numbers.extend(player.session(), true, &mut Counters::default());
    (1..=numbers.calls() as u32).map(|call| numbers.outcome(CallNo(call), 0).expect("it").clone()).collect()
}

fn verdicts(outcomes: &[Outcome]) -> Vec<&'static str> {
    outcomes.iter().map(|outcome| outcome.verdict.words()).collect()
}

fn lost(outcomes: &[Outcome]) -> u32 {
    outcomes.iter().filter_map(Outcome::lost).sum()
}

#[test]
fn each_run_shows_what_it_says() {
    for (name, want) in [
        ("clock", &["first", "changed", "changed"][..]),
        ("tool_order", &["first", "appended", "reordered", "appended"]),
        ("key_order", &["first", "appended", "serialisation only", "appended"]),
        ("memory_save", &["first", "appended", "changed", "appended"]),
        ("compaction", &["first", "appended", "appended", "appended", "appended", "compacted"]),
        ("idle", &["first", "appended", "appended", "expired"]),
        ("sub_agents", &["first", "first", "appended", "appended", "first", "appended", "appended"]),
        ("model_switch", &["first", "appended", "model changed", "model changed"]),
        ("settings", &["first", "appended", "settings changed", "settings changed"]),
        ("picture", &["first", "changed", "appended"]),
    ] {
        assert_eq!(verdicts(&run(name, &[])), want, "{name}");
    }
    let bench = &samples::find("cache-lab").expect("the sample").files;
    let text = bench.iter().find(|(path, _)| *path == "bench.yaml").expect("a bench").1;
    let runs = String::from_utf8_lossy(text);
    let runs = runs.split_once("\nruns:\n").expect("runs").1;
    let names = runs.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    assert_eq!(names.count(), 10, "every run of the tour is in the list above");
}

#[test]
fn the_author_of_each_break_is_named() {
    let part = |name: &str, call: usize| {
        let outcomes = run(name, &[]);
        let blame = outcomes[call - 1].blame.clone().expect("somebody is to blame");
        (blame.part.to_string(), blame.byte)
    };
    assert_eq!(part("clock", 2).0, "clock");
    assert_eq!(part("memory_save", 3).0, "memory");
    assert_eq!(part("picture", 2), ("picture".to_owned(), 36), "not what was appended behind it");
    let reordered = run("tool_order", &[])[2].blame.clone().expect("a blame");
    assert_eq!(&*reordered.name, "Search");
    let settings = &run("settings", &[])[2].settings;
    assert_eq!(settings.iter().map(ToString::to_string).collect::<Vec<_>>(), ["tool_choice auto -> any"]);
}

#[test]
fn what_is_read_is_what_the_captions_say() {
    let idle = run("idle", &[]);
    assert!(idle[2].read() > Some(0), "after four minutes it is there");
    assert_eq!(idle[3].read(), Some(0), "after seven more it is gone");
    let switch = run("model_switch", &[]);
    assert_eq!(switch[2].read(), Some(0), "another model starts cold");
    assert_eq!(switch[3].read(), switch[1].sent, "back in time, all is warm");
    let agents = run("sub_agents", &[]);
    assert!(agents[1].read() > Some(0) && agents[4].read() > agents[1].read(), "a fork reads more");
    let tools = run("clock", &[])[1].read().expect("it is known");
    assert!(tools > 0 && Some(tools) < run("clock", &[])[1].sent, "the tools alone are read");
}

#[test]
fn the_ways_out_lead_out() {
    for (name, variant) in [
        ("clock", "clock_in_message"),
        ("clock", "clock_by_the_day"),
        ("memory_save", "memory_once"),
        ("idle", "hour_marks"),
        ("picture", "keep_pictures"),
    ] {
        let (before, after) = (run(name, &[]), run(name, &[variant]));
        assert!(lost(&before) > 0, "{name}");
        assert_eq!(lost(&after), 0, "{name} with {variant}: {:?}", verdicts(&after));
    }
    let cold = run("clock", &["no_marks"]);
    assert!(cold.iter().all(|outcome| outcome.read() == Some(0)));
    assert!(
        cold.iter()
            .skip(1)
            .all(|outcome| outcome.verdict == Verdict::Changed && outcome.also.contains(&Verdict::NotCached))
    );
}
