//! The longest common prefix of two requests, against the comparison of equal slices, which is `memcmp`.
//!
//! `cargo bench --bench compare`; the ratios at the end are what counts.
#[path = "common/ratios.rs"]
mod ratios;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use plywood::core::diff::{common_prefix, common_suffix};
use ratios::Ratios;

fn all(c: &mut Criterion) {
    let ratios = Ratios::default();
    for (name, len) in [("50 KB", 50_000), ("1 MB", 1 << 20), ("15 MB", 15 << 20)] {
        let a: Vec<u8> =
            b"What the model is sent, line by line.\n".iter().copied().cycle().take(len).collect();
        let equal = a.clone();
        let mut last = a.clone();
        *last.last_mut().expect("it is not empty") ^= 1;
        let mut first = a.clone();
        first[0] ^= 1;
        let mut memcmp = || {
            black_box(black_box(&a) == black_box(&equal));
        };
        let ours = || {
            black_box(common_prefix(black_box(&a), black_box(&last)));
        };
        ratios.measure(c, &format!("prefix of {name}"), a.len(), ours, Some(("memcmp", &mut memcmp)));
        let ours = || {
            black_box(common_suffix(black_box(&a), black_box(&first)));
        };
        ratios.measure(c, &format!("suffix of {name}"), a.len(), ours, Some(("memcmp", &mut memcmp)));
    }
    ratios.print();
}

criterion_group!(benches, all);
criterion_main!(benches);
