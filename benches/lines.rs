//! The lines in which two texts of a megabyte differ.
//!
//! `cargo bench --bench lines`; the ratios at the end are what counts. The peer of one changed line is `memcmp` over both
//! texts: nobody can find the line without reading them. The peer of any other pair is the diff library alone, with the
//! same algorithm, over all lines of both texts.
#[expect(dead_code, reason = "each bench takes what it needs of the common inputs")]
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/ratios.rs"]
mod ratios;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use imara_diff::{Algorithm, Diff, InternedInput};
use inputs::MB;
use plywood::core::diff::lines::of_texts;
use ratios::Ratios;

/// One line changed in the middle.
fn one_line(text: &str) -> String {
    let middle = text[..text.len() / 2].rfind('\n').map_or(0, |at| at + 1);
    format!("{}a line that was written anew\n{}", &text[..middle], &text[middle..])
}

/// Every line with another word at its end.
fn every_line(text: &str) -> String {
    text.lines().enumerate().map(|(number, line)| format!("{line} {}\n", number % 7)).collect()
}

/// Every second line gone, and the two halves in the other order.
fn moved(text: &str) -> String {
    let lines: Vec<&str> = text.lines().step_by(2).collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    second.iter().chain(first).map(|line| format!("{line}\n")).collect()
}

fn all(c: &mut Criterion) {
    let ratios = Ratios::default();
    let (english, code) = (inputs::english(MB, 1), inputs::code(MB, 2));
    let blank = "\n".repeat(MB);
    for (name, old, new) in [
        ("one changed line, prose", &english, one_line(&english)),
        ("one changed line, code", &code, one_line(&code)),
    ] {
        let ours = || drop(black_box(of_texts(black_box(old), black_box(&new))));
        let equal = old.clone();
        let mut memcmp = || {
            black_box(black_box(old.as_bytes()) == black_box(equal.as_bytes()));
        };
        ratios.measure(c, name, old.len(), ours, Some(("memcmp", &mut memcmp)));
    }
    for (name, old, new) in [
        ("every line changed", &english, every_line(&english)),
        ("half of it gone and moved", &code, moved(&code)),
        ("nothing in common", &english, inputs::english(MB, 3)),
        ("prose against code", &english, code.clone()),
        ("nothing but line ends", &blank, every_line(&blank[..MB / 2])),
    ] {
        let ours = || drop(black_box(of_texts(black_box(old), black_box(&new))));
        let mut alone = || {
            let input = InternedInput::new(black_box(&**old), black_box(&*new));
            black_box(Diff::compute(Algorithm::Histogram, &input));
        };
        ratios.measure(c, name, old.len(), ours, Some(("imara-diff", &mut alone)));
    }
    ratios.print();
}

criterion_group!(benches, all);
criterion_main!(benches);
