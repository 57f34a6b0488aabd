//! Whatever character of whatever layer of whatever sample is changed: that layer is to blame. And the sums hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plywood::app::engine::{Counters, Disk, Edge};
use plywood::core::cache::{Accounting, Labels, Lane, Outcome, Simulator};
use plywood::core::fact::Name;
use plywood::core::run::{Load, Player};
use plywood::core::text::Made;
use plywood::core::wire::{CallNo, Request};
use plywood::io::bench_file::Machine;
use plywood::io::load::fixed_clock;
use plywood::io::{models, samples};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tempfile::TempDir;

fn machine() -> Machine {
    Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None }
}

/// A sample's files in a folder of their own.
struct Copy {
    folder: TempDir,
}

impl Copy {
    fn of(sample: &samples::Sample) -> Copy {
        let folder = TempDir::new().expect("a folder");
        for (path, bytes) in sample.files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
        Copy { folder }
    }

    /// What the calls of a run are sent; empty where the variant cannot play it.
    fn requests(&self, variants: &[Name], run: &str) -> Vec<Request> {
        let mut disk = Disk::open(self.folder.path(), &machine()).expect("it opens");
        let Ok((bench, _)) = disk.bench(variants) else { return Vec::new() };
        let load: &mut dyn Load = &mut disk;
        let Ok(player) = Player::start(bench, Some(run), load) else { return Vec::new() };
        let player = player.forecast(load);
        let session = player.session();
        let calls = session.calls().iter().map(|record| record.call);
        let calls: Vec<CallNo> = calls.chain(session.prepared().map(|record| record.call)).collect();
        calls.into_iter().filter_map(|call| session.request(call)).collect()
    }

    /// The file that a source names, if it is one.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let root = self.folder.path();
        let home = name.strip_prefix("~/").map(|rest| root.join("home").join(rest));
        let places = [Some(root.join(name)), Some(root.join("project").join(name)), home];
        places.into_iter().flatten().find(|path| path.is_file() && !path.ends_with("bench.yaml"))
    }
}

/// A character of a request that a file holds as it stands.
struct Place {
    layer: Name,
    file: PathBuf,
    byte: usize,
    old: char,
}

/// Letters that are copied from files into a request, every `step`-th of them.
fn places(copy: &Copy, request: &Request, layers: &BTreeSet<Name>) -> Vec<Place> {
    let mut found = Vec::new();
    for block in &request.blocks {
        let text = block.text.text();
        let mut start = 0;
        for span in block.text.spans() {
            let range = start..span.end;
            start = span.end;
            let Made::Verbatim { source, at } = &span.origin.made else { continue };
            if !layers.contains(&span.origin.part) {
                continue;
            }
            let Some(file) = copy.file(&source.name) else { continue };
            let disk = fs::read_to_string(&file).expect("a text");
            for (offset, old) in text[range].char_indices() {
                let byte = at + offset;
                // Only what stands at the same byte of the file: not what was trimmed or cut first.
                let there = disk.get(byte..).is_some_and(|rest| rest.starts_with(old));
                if there && old.is_alphanumeric() && found.len() < 4_000 {
                    found.push(Place { layer: span.origin.part.clone(), file: file.clone(), byte, old });
                }
            }
        }
    }
    found
}

/// Changes a character of a file to another letter.
fn change(file: &Path, byte: usize, old: char) {
    let mut text = fs::read_to_string(file).expect("a text");
    let new = match old {
        '0'..='8' => char::from(old as u8 + 1),
        '9' => '1',
        'q' | 'Q' => 'j',
        c if c.is_ascii() => 'q',
        '字' => '词',
        _ => '字',
    };
    text.replace_range(byte..byte + old.len_utf8(), new.encode_utf8(&mut [0; 4]));
    fs::write(file, text).expect("it is written");
}

/// The layers whose own text differs between two requests.
fn differing(a: &Request, b: &Request) -> BTreeSet<Name> {
    let texts = |request: &Request| {
        let mut texts: Vec<(Name, String)> = Vec::new();
        for block in &request.blocks {
            for part in block.text.parts() {
                texts.push((part.id.clone(), block.text[part].to_owned()));
            }
        }
        texts
    };
    let (a, b) = (texts(a), texts(b));
    let one_sided = |x: &[(Name, String)], y: &[(Name, String)]| {
        x.iter().filter(|part| !y.contains(part)).map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    one_sided(&a, &b).into_iter().chain(one_sided(&b, &a)).collect()
}

/// Everybody that an outcome names.
fn named(outcome: &Outcome) -> BTreeSet<Name> {
    let blames = outcome.blame.iter().chain(outcome.behind.iter().map(|behind| &behind.blame));
    blames.flat_map(|blame| std::iter::once(blame.part.clone()).chain(blame.with.iter().cloned())).collect()
}

/// The outcome of the second of two requests of one conversation.
fn second(old: &Request, new: &Request) -> Outcome {
    let mut simulator = Simulator::new(Arc::new(models::embedded()), [Lane::As("openai:gpt-5.4".into())]);
    let mut counters = Counters::default();
    let first = Request { shared: 0, ..old.clone() };
    simulator.call(&first, &mut counters);
    let next = Request { shared: 0, call: CallNo(old.call.0 + 1), ..new.clone() };
    simulator.call(&next, &mut counters).remove(0)
}

#[test]
fn one_changed_character_is_blamed_on_its_layer_and_two_on_both() {
    let (mut one, mut two, mut gone) = (0, 0, 0);
    for sample in samples::samples() {
        let copy = Copy::of(sample);
        let mut disk = Disk::open(copy.folder.path(), &machine()).expect("it opens");
        let (bench, _) = disk.bench(&[]).expect("a bench");
        let layers: BTreeSet<Name> = bench.layers.iter().map(|layer| layer.id.clone()).collect();
        let ways: Vec<Vec<Name>> =
            std::iter::once(Vec::new()).chain(disk.variants().into_iter().map(|name| vec![name])).collect();
        let run = bench.runs.keys().next().expect("a run").to_string();
        // The same edits each time: a failure can be looked at again.
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        for variants in ways {
            let before = copy.requests(&variants, &run);
            let Some(last) = before.len().checked_sub(1) else { continue };
            for round in 0..3 {
                let at = (0..=last).new_tree(&mut runner).expect("a call").current();
                let all = places(&copy, &before[at], &layers);
                if all.is_empty() {
                    continue;
                }
                let pick = |runner: &mut TestRunner| (0..all.len()).new_tree(runner).expect("one").current();
                let mut chosen = vec![&all[pick(&mut runner)]];
                if round == 2 {
                    let other = &all[pick(&mut runner)];
                    if (&other.file, other.byte) != (&chosen[0].file, chosen[0].byte) {
                        chosen.push(other);
                    }
                }
                let kept: Vec<(PathBuf, Vec<u8>)> = chosen
                    .iter()
                    .map(|place| (place.file.clone(), fs::read(&place.file).expect("a file")))
                    .collect();
                for place in &chosen {
                    change(&place.file, place.byte, place.old);
                }
                let after = copy.requests(&variants, &run);
                for (file, bytes) in &kept {
                    fs::write(file, bytes).expect("it is put back");
                }
                let what = format!(
                    "{} {variants:?}, call {}: {:?}",
                    sample.name,
                    at + 1,
                    chosen
                        .iter()
                        .map(|place| (&place.layer, &place.file, place.byte, place.old))
                        .collect::<Vec<_>>()
                );
                let Some(after) = after.get(at) else { continue };
                let differs = differing(&before[at], after);
                let chosen_layers: BTreeSet<Name> = chosen.iter().map(|place| place.layer.clone()).collect();
                if differs.is_disjoint(&chosen_layers) {
                    // The run itself wrote the file before this call: what was edited was gone by then.
                    gone += 1;
                    continue;
                }
                let outcome = second(&before[at], after);
                let blame = outcome.blame.clone().unwrap_or_else(|| panic!("nobody is blamed: {what}"));
                let sentence = outcome.sentence(&Labels::PLAIN);
                assert!(
                    differs.contains(&blame.part),
                    "{what}\n{sentence}\nblamed, but changed are {differs:?}"
                );
                if differs.len() == 1 {
                    assert!(chosen_layers.contains(&blame.part), "{what}\n{sentence}");
                }
                let named = named(&outcome);
                for layer in &differs {
                    assert!(
                        named.contains(layer),
                        "{what}\n{sentence}\n{layer} is not named, only {named:?}"
                    );
                }
                if chosen.len() == 1 { one += 1 } else { two += 1 }
            }
        }
    }
    assert!(gone * 5 < one + two, "{gone} of {} edits reached no request", one + two + gone);
    assert!(one > 60 && two > 25, "{one} single and {two} double edits are too few to mean anything");
}

#[test]
fn sums_hold_for_every_call_of_every_sample_under_both_ways_of_counting() {
    let models = Arc::new(models::embedded());
    let ids: Vec<Name> = models.models.keys().cloned().collect();
    let mut checked = 0;
    for sample in samples::samples() {
        let copy = Copy::of(sample);
        let mut disk = Disk::open(copy.folder.path(), &machine()).expect("it opens");
        let (bench, _) = disk.bench(&[]).expect("a bench");
        for run in bench.runs.keys() {
            let mut simulator = Simulator::new(models.clone(), ids.iter().cloned().map(Lane::As));
            let mut counters = Counters::default();
            for request in copy.requests(&[], run) {
                for outcome in simulator.call(&request, &mut counters) {
                    let what = format!("{} {run}, call {}, {}", sample.name, request.call.0, outcome.model);
                    let (Some(sent), Some(split)) = (outcome.sent, outcome.split) else { continue };
                    let write = outcome.write().unwrap_or(0);
                    assert_eq!(split.read + write + split.fresh, sent, "{what}");
                    assert!(split.lost.unwrap_or(0) <= write + split.fresh, "{what}");
                    for how in [Accounting::Inclusive, Accounting::Exclusive] {
                        let usage = outcome.usage(how).expect("the figures are known");
                        assert_eq!(usage.prompt(how), sent, "{what}");
                        assert_eq!(usage.fresh(how), split.fresh, "{what}");
                    }
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 1_000, "only {checked} outcomes");
}
