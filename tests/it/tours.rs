//! The captions of the samples: each is read whole on the smallest screen, names what there is, and a tour has an end.

use plywood::app::cells;
use plywood::core::bench::Bench;
use plywood::core::fact::{FilePath, Found, Value};
use plywood::core::run::{Input, ScriptLine};
use plywood::io::{samples, syntax};

/// The bench of a sample, without its workspace.
fn bench(sample: &samples::Sample) -> (Bench, Vec<String>) {
    let file = |name: &str| {
        let (_, bytes) = sample.files.iter().find(|(path, _)| *path == name)?;
        Some(std::str::from_utf8(bytes).expect("text"))
    };
    let text = file("bench.yaml").expect("a bench");
    let mut beside = |path: &FilePath| match file(&path.path) {
        Some(text) => Found::Value(Value::text(text)),
        None => Found::Absent,
    };
    let opened = syntax::open("bench.yaml", text, &[], &mut beside).expect("the sample is right");
    let variants = opened.document.variants().iter().map(|variant| variant.name.to_string()).collect();
    (opened.bench, variants)
}

/// The captions of a run as the band shows them: those in front of each call in one, and last what stands behind the last.
fn captions(run: &[ScriptLine]) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in run {
        match &line.input {
            Input::Note(text) => {
                let here = all.last_mut().expect("there is one");
                *here = format!("{here} {text}").trim().to_owned();
            }
            input if input.answers() => all.push(String::new()),
            _ => {}
        }
    }
    all
}

#[test]
fn every_caption_is_read_whole_at_80_columns() {
    for sample in samples::samples() {
        for (name, run) in &bench(sample).0.runs {
            let captions = captions(run);
            let calls = captions.len() - 1;
            for caption in &captions {
                // One cell at either side, and how far the run is at the right.
                let width = 80 - 2 - format!("  {calls} of {calls}").len();
                let rows = cells::wrap(caption, width).len();
                assert!(rows <= 2, "{}, run {name}: {rows} rows: {caption}", sample.name);
            }
        }
    }
}

#[test]
fn every_run_says_what_it_is_about_and_the_first_what_to_try_next() {
    for sample in samples::samples() {
        let (bench, _) = bench(sample);
        for (name, run) in &bench.runs {
            assert!(!captions(run)[0].is_empty(), "{}, run {name}: it begins without a word", sample.name);
        }
        let (name, first) = bench.runs.first().expect("a run");
        let last = captions(first).pop().expect("there is one");
        assert!(!last.is_empty(), "{}, run {name}: it ends without a word", sample.name);
    }
}

/// Names of variants, runs and layers are words with `_` in captions: they have to be those of the bench.
#[test]
fn captions_name_only_what_there_is() {
    for sample in samples::samples() {
        let (bench, variants) = bench(sample);
        let layers = bench.layers.iter().flat_map(|layer| {
            [Some(layer.id.to_string()), layer.key.as_deref().map(str::to_owned)].into_iter().flatten()
        });
        let runs = bench.runs.keys().map(ToString::to_string);
        let known: Vec<String> = variants.into_iter().chain(layers).chain(runs).collect();
        for (name, run) in &bench.runs {
            for caption in captions(run) {
                let words = caption.split(|c: char| !c.is_alphanumeric() && c != '_');
                for word in words.filter(|word| word.contains('_')) {
                    assert!(known.iter().any(|known| known == word), "{}, run {name}: {word}", sample.name);
                }
            }
        }
    }
}
