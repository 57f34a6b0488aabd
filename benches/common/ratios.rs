//! Ratios of what was measured in one run: machines drift, ratios less.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use criterion::{BenchmarkGroup, BenchmarkId, Criterion};

/// What one run measured, for the ratios at its end.
#[derive(Default)]
pub(crate) struct Ratios(RefCell<Vec<Row>>);

struct Row {
    name: String,
    bytes: usize,
    ours: Duration,
    peer: Option<(String, Duration)>,
}

impl Ratios {
    /// Measures `ours`, and a peer if there is one, over inputs of `bytes` bytes.
    pub(crate) fn measure(
        &self,
        c: &mut Criterion,
        name: &str,
        bytes: usize,
        mut ours: impl FnMut(),
        mut peer: Option<(&str, &mut dyn FnMut())>,
    ) {
        let mut group = c.benchmark_group(name);
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_secs(1));
        let time = |group: &mut BenchmarkGroup<'_, _>, id: &str, work: &mut dyn FnMut()| {
            let mut best = Duration::MAX;
            group.bench_function(BenchmarkId::from_parameter(id), |bencher| {
                bencher.iter_custom(|times| {
                    let start = Instant::now();
                    (0..times).for_each(|_| work());
                    let spent = start.elapsed();
                    best = best.min(spent / times as u32);
                    spent
                });
            });
            best
        };
        let ours = time(&mut group, "plywood", &mut ours);
        let peer = peer.as_mut().map(|(id, work)| ((*id).to_owned(), time(&mut group, id, work)));
        group.finish();
        if ours < Duration::MAX {
            self.0.borrow_mut().push(Row { name: name.to_owned(), bytes, ours, peer });
        }
    }

    /// Prints the best times of this run side by side.
    pub(crate) fn print(&self) {
        let speed = |bytes: usize, time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        println!(
            "\n{:<34} {:>12} {:>10}  {:<12} {:>12} {:>9}",
            "best of this run", "plywood", "MB/s", "peer", "peer takes", "ratio"
        );
        for Row { name, bytes, ours, peer } in self.0.borrow().iter() {
            let head = format!("{name:<34} {ours:>12.2?} {:>10.1}", speed(*bytes, *ours));
            match peer {
                Some((id, time)) => {
                    let ratio = time.as_secs_f64() / ours.as_secs_f64();
                    println!("{head}  {id:<12} {time:>12.2?} {ratio:>8.2}x");
                }
                None => println!("{head}"),
            }
        }
    }
}
