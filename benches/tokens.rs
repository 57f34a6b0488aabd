//! Counting tokens: against the tokenizer crate alone, on inputs that are bad for it, and after one edit.
//!
//! `cargo bench --bench tokens`; the ratios at the end are what counts.
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use inputs::{MB, base64, chinese, code, english, json_line, turns};
use plywood::core::tokens::{Encoding, LineCounter, Measure};
use ratios::Ratios;

fn texts(make: impl Fn(u64) -> String) -> Vec<Arc<str>> {
    (1..=4).map(|seed| make(seed).into()).collect()
}

/// A count without any memory of earlier ones.
fn fresh(encoding: Encoding) -> impl FnMut(&Arc<str>) {
    move |text| {
        black_box(LineCounter::new(encoding).tokens(text));
    }
}

fn cold(c: &mut Criterion, ratios: &Ratios) {
    for encoding in [Encoding::O200k, Encoding::Cl100k] {
        let peer = tiktoken::get_encoding(encoding.name()).expect("it is compiled in");
        for (name, texts) in [
            ("english", texts(|seed| english(MB, seed))),
            ("chinese", texts(|seed| chinese(MB, seed, true))),
            ("code", texts(|seed| code(MB, seed))),
        ] {
            let mut alone = turns(texts.clone(), |text: &Arc<str>| {
                black_box(peer.count(text));
            });
            let ours = turns(texts, fresh(encoding));
            ratios.measure(c, &format!("{name}, {encoding}"), MB, ours, Some(("tiktoken", &mut alone)));
        }
    }
}

fn worst(c: &mut Criterion, ratios: &Ratios) {
    for (name, text) in [
        ("one letter", "a".repeat(MB)),
        ("spaces", " ".repeat(MB)),
        ("line ends", "\n".repeat(MB)),
        ("no-space chinese", chinese(MB, 5, false)),
        ("base64", base64(MB, 6)),
        ("emoji", "😀🙂👍🏽".repeat(MB / 16)),
    ] {
        let ours = turns(vec![Arc::from(text)], fresh(Encoding::O200k));
        ratios.measure(c, &format!("worst: {name}"), MB, ours, None);
    }
}

/// Texts as they are while somebody types over a few characters in the middle; more than are remembered.
fn typed(text: &str) -> Vec<Arc<str>> {
    let mut at = text.len() / 2;
    while !text.is_char_boundary(at) {
        at += 1;
    }
    let (before, behind) = text.split_at(at);
    let times = (24 * MB / text.len()).min(100);
    (0..times).map(|n| format!("{before}{} 字{behind}", 1000 + n * 7).into()).collect()
}

fn edits(c: &mut Criterion, ratios: &Ratios) {
    for (name, text) in [
        ("edit in 50 KB", english(50_000, 7)),
        ("edit in 1 MB", english(MB, 8)),
        ("edit in 1 MB of chinese", chinese(MB, 9, true)),
        ("edit in one line of 1 MB", json_line(MB, 10)),
    ] {
        let (bytes, texts) = (text.len(), typed(&text));
        let mut counter = LineCounter::new(Encoding::O200k);
        let ours = turns(texts.clone(), |text: &Arc<str>| {
            black_box(counter.tokens(text));
        });
        let mut recount = turns(texts, fresh(Encoding::O200k));
        ratios.measure(c, name, bytes, ours, Some(("recount", &mut recount)));
    }
}

fn all(c: &mut Criterion) {
    for encoding in [Encoding::O200k, Encoding::Cl100k] {
        let start = Instant::now();
        encoding.load();
        let loaded = start.elapsed();
        let count = LineCounter::new(encoding).tokens(&"the first count".into());
        println!("{encoding}: tables in {loaded:.1?}, first count ({count}) after {:.1?}", start.elapsed());
    }
    let ratios = Ratios::default();
    cold(c, &ratios);
    worst(c, &ratios);
    edits(c, &ratios);
    ratios.print();
}

criterion_group!(benches, all);
criterion_main!(benches);
