//! One change in a bench of 8 layers and 50 KB, and in one layer of a megabyte: compose again, count characters and tokens
//! of each layer, find the first break. Compared with counting everything anew, by the counter of the program and by the
//! tokenizer crate alone.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use plywood::core::cache::{Lane, Measures, Simulator};
use plywood::core::fact::{Base, FactKey, FilePath, FileText, Found, Value};
use plywood::core::run::{Input, Load, Player};
use plywood::core::text::count;
use plywood::core::tokens::{Encoding, LineCounter, Measure};
use plywood::io::{models, syntax};

struct Files(BTreeMap<FilePath, Arc<str>>);

impl Files {
    fn find(&self, path: &FilePath) -> Found {
        match self.0.get(path) {
            Some(text) => Found::Value(Value::File(Arc::new(FileText::whole(path.clone(), text.clone())))),
            None => Found::Absent,
        }
    }
}

impl Load for Files {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        let find = |key: &FactKey| match key {
            FactKey::File(path) => self.find(path),
            _ => Found::Absent,
        };
        keys.iter().map(|key| (key.clone(), find(key))).collect()
    }
}

struct Counters(LineCounter);

impl Measures for Counters {
    fn of(&mut self, _: Encoding) -> &mut dyn Measure {
        &mut self.0
    }
}

/// A layer's text: sentences of its own, so that no two lines are equal.
fn text(layer: usize, bytes: usize) -> String {
    let mut text = format!("## Layer {layer}\n\n");
    let mut line = 0;
    while text.len() < bytes {
        line += 1;
        text.push_str(&format!("- Rule {line} of layer {layer}: read the file before you change it, then run the tests again. 先读后改。\n"));
    }
    text
}

fn bench(layers: usize) -> String {
    let mut bench = String::from(
        "bench: 1\nname: keystroke\nmodel: openai:gpt-5.4\nworkspace: { path: ., shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }\n\
         places: { system: { of: system, join: \"\\n\\n\" } }\nlayers:\n",
    );
    for layer in 0..layers {
        bench.push_str(&format!(
            "  - {{ id: l{layer}, in: system, from: {{ template: l{layer}.md }}, refresh: call }}\n"
        ));
    }
    bench
}

/// Composes, counts and judges one change; gives the tokens of the request, so that nothing is left out.
fn one_change(
    player: &mut Player,
    files: &mut Files,
    simulator: &mut Simulator,
    counters: &mut Counters,
    change: Input,
) -> u64 {
    player.input(change, files).expect("an edit can always happen");
    let call = player.session().next_call();
    let request = player.session().request(call).expect("a request waits");
    let mut sizes = 0;
    for block in &request.blocks {
        for part in block.text.parts() {
            sizes += count::chars(&block.text[part]) as u64;
            let (start, end) = (
                counters.0.tokens_before(block.text.text(), part.start),
                counters.0.tokens_before(block.text.text(), part.end),
            );
            sizes += u64::from(end - start);
        }
    }
    sizes
        + simulator
            .call(&request, counters)
            .iter()
            .map(|outcome| u64::from(outcome.sent.unwrap_or(0)))
            .sum::<u64>()
}

fn keystrokes(c: &mut Criterion) {
    Encoding::O200k.load();
    keystroke(c, "50 KB in 8 layers", 8, 50_000 / 8);
    keystroke(c, "1 MB in one layer", 1, 1_000_000);
}

/// One character more in the middle of a layer, of so many with so many bytes each.
fn keystroke(c: &mut Criterion, name: &str, layers: usize, bytes: usize) {
    let mut files = Files(BTreeMap::new());
    for layer in 0..layers {
        files.0.insert(FilePath::new(Base::Bench, format!("l{layer}.md")), text(layer, bytes).into());
    }
    let opened = syntax::open("bench.yaml", bench(layers), &[], &mut |path: &FilePath| files.find(path))
        .expect("the bench is right");
    let start = Player::start(Arc::new(opened.bench), None, &mut files).expect("it starts");
    let models = Arc::new(models::embedded());

    let layer = layers / 2;
    let path = FilePath::new(Base::Bench, format!("l{layer}.md"));
    let before = text(layer, bytes);
    let edited = |version: usize| {
        let mut text = before.clone();
        let middle = text.len() / 2;
        let at = (0..=middle).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.insert(at, char::from(b'a' + (version % 26) as u8));
        Input::Observed {
            found: vec![(
                FactKey::File(path.clone()),
                Found::Value(Value::File(Arc::new(FileText::whole(path.clone(), text)))),
            )],
            by: "the edit of a layer".into(),
        }
    };

    let mut group = c.benchmark_group(name);
    group.bench_function("one keystroke, everything known again", |b| {
        let mut counters = Counters(LineCounter::new(Encoding::O200k));
        let mut player = start.clone();
        // What was sent once; each keystroke asks what sending would come to now, in a copy, as the workbench does.
        let mut sent = Simulator::new(models.clone(), [Lane::AsSent]);
        one_change(&mut player, &mut files, &mut sent, &mut counters, edited(0));
        let mut version = 0;
        b.iter_batched(
            || {
                version += 1;
                edited(version)
            },
            |change| {
                let mut now = sent.clone();
                black_box(one_change(&mut player, &mut files, &mut now, &mut counters, change))
            },
            BatchSize::SmallInput,
        );
    });
    group.bench_function("a full recount of the same text", |b| {
        let request = start.session().request(start.session().next_call()).expect("a request waits");
        b.iter(|| {
            let mut counter = LineCounter::new(Encoding::O200k);
            black_box(request.blocks.iter().map(|block| counter.tokens(block.text.text())).sum::<u32>())
        });
    });
    group.bench_function("a full recount by the tokenizer crate", |b| {
        let request = start.session().request(start.session().next_call()).expect("a request waits");
        let crate_alone = tiktoken::get_encoding("o200k_base").expect("it is compiled in");
        b.iter(|| {
            black_box(request.blocks.iter().map(|block| crate_alone.count(block.text.text())).sum::<usize>())
        });
    });
    group.finish();
}

criterion_group!(benches, keystrokes);
criterion_main!(benches);
