//! What a prompt cache makes of a long run, against rebuilding and comparing whole requests; and what it takes to have the
//! requests of one.
//!
//! A run of 5,000 calls that grows to a request of 15 MB, answered for three models. Counting tokens is not part of it:
//! whoever owns the texts keeps their counts, so a count is a division here.
//!
//! `cargo bench --bench cache` prints the times and, last, the ratio, taken in the same run.

#[path = "cache/requests.rs"]
mod requests;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion};
use plywood::core::cache::{Lane, Measures, Models, Simulator};
use plywood::core::fact::EventId;
use plywood::core::text::{Made, Traced};
use plywood::core::tokens::{Encoding, Measure};
use plywood::core::wire::{Block, BlockKind, CallNo, MarkAt, MessageId, Request};
use plywood::io::models;

const CALLS: usize = 5_000;
const BYTES: usize = 15_000_000;
const MODELS: [&str; 3] = ["openai:gpt-5.4", "openai:gpt-4o", "anthropic:claude-sonnet-5"];

struct Quarters;

impl Measure for Quarters {
    fn tokens(&mut self, text: &Arc<str>) -> u32 {
        (text.len() / 4) as u32
    }

    fn tokens_before(&mut self, _: &Arc<str>, byte: usize) -> u32 {
        (byte / 4) as u32
    }

    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32 {
        a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count() as u32 / 4
    }
}

impl Measures for Quarters {
    fn of(&mut self, _: Encoding) -> &mut dyn Measure {
        self
    }
}

fn block(kind: BlockKind, name: &str, message: u32, text: String) -> Arc<Block> {
    let tool = (kind == BlockKind::ToolUse).then(|| "Shell".into());
    let text = Traced::whole("model", text, Made::Literal, EventId::OPENING);
    Block::new(kind, name.into(), tool, (message > 0).then_some(MessageId(message)), text)
}

/// Tools and a system prompt, then a call and its result for each model call.
fn blocks(calls: usize) -> Vec<Arc<Block>> {
    let text = |number: usize, bytes: usize| {
        let line = format!("{number} some output of a tool; ");
        line.repeat(bytes / line.len() + 1)[..bytes].to_owned()
    };
    let mut blocks = vec![
        block(BlockKind::Tool, "all", 0, text(0, 6_000)),
        block(BlockKind::System, "system", 0, text(1, 20_000)),
        block(BlockKind::User, "user", 1, text(2, 200)),
    ];
    let each = BYTES / CALLS;
    for call in 0..calls {
        let name = format!("call_{call}");
        blocks.push(block(BlockKind::ToolUse, &name, 2 + 2 * call as u32, text(call, 200)));
        blocks.push(block(BlockKind::ToolResult, &name, 3 + 2 * call as u32, text(call, each - 200)));
    }
    blocks
}

fn simulator(models: &Arc<Models>) -> Simulator {
    Simulator::new(models.clone(), MODELS.map(|model| Lane::As(model.into())))
}

fn empty() -> Request {
    Request {
        call: CallNo(0),
        turn: 1,
        agent: "main".into(),
        model: MODELS[0].into(),
        at: 1_775_000_000_000,
        blocks: Vec::new(),
        shared: 0,
        marks: Vec::new(),
        params: Default::default(),
    }
}

/// Plays a run; `change` may touch the request before each call and tells how much of it is still shared.
fn play(all: &[Arc<Block>], mut simulator: Simulator, change: impl Fn(&mut Request, usize)) -> u64 {
    let mut request = empty();
    request.blocks.reserve(all.len());
    let mut lost = 0;
    for (call, until) in (1..).zip((3..=all.len()).step_by(2)) {
        request.shared = request.blocks.len();
        let have = request.blocks.len();
        request.blocks.extend(all[have..until].iter().cloned());
        request.call = CallNo(call);
        request.at += 5_000;
        request.marks = vec![MarkAt { block: 1, ttl: 300 }, MarkAt { block: until - 1, ttl: 300 }];
        change(&mut request, call as usize);
        let outcomes = simulator.call(&request, &mut Quarters);
        lost += outcomes.iter().filter_map(|outcome| outcome.lost()).map(u64::from).sum::<u64>();
    }
    lost
}

/// The run in which each request appends to the one before it.
fn append_only(all: &[Arc<Block>], simulator: Simulator) -> u64 {
    play(all, simulator, |_, _| {})
}

/// The run in which the newest result is written otherwise in the next request, as reminders that are stripped do.
fn tail_rewritten(all: &[Arc<Block>], simulator: Simulator) -> u64 {
    play(all, simulator, |request, call| {
        if let Some(last) = request.shared.checked_sub(1).filter(|&last| last > 2) {
            let old = &request.blocks[last];
            let text = format!("{call} {}", &old.text.text()[..1_000]);
            request.blocks[last] =
                block(old.kind, &old.name, old.message.map_or(0, |message| message.0), text);
            request.shared = last;
        }
    })
}

/// What there is without chains and prefix sums: each request is put together whole and compared with the one before,
/// for each model.
fn naive(all: &[Arc<Block>]) -> usize {
    let mut read = 0;
    for _ in MODELS {
        let mut before = String::new();
        for until in (3..=all.len()).step_by(2) {
            let mut now = String::with_capacity(before.len() + 4_096);
            for block in &all[..until] {
                now.push_str(block.text.text());
            }
            read += before.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count() / 4;
            before = now;
        }
    }
    read
}

/// As [`naive`], comparing as fast as memory allows.
fn naive_memcmp(all: &[Arc<Block>]) -> usize {
    let mut read = 0;
    for _ in MODELS {
        let mut before = String::new();
        for until in (3..=all.len()).step_by(2) {
            let mut now = String::with_capacity(before.len() + 4_096);
            for block in &all[..until] {
                now.push_str(block.text.text());
            }
            read += if now.as_bytes().starts_with(before.as_bytes()) { before.len() / 4 } else { 0 };
            before = now;
        }
    }
    read
}

fn least(times: u32, mut run: impl FnMut()) -> Duration {
    let measured = (0..times).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    measured.min().unwrap_or_default()
}

fn main() {
    let models = Arc::new(models::embedded());
    let all = blocks(CALLS);
    let few = blocks(CALLS / 10);
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    let mut group = criterion.benchmark_group("cache");
    group.bench_function("5,000 calls to 15 MB, 3 models", |bencher| {
        bencher.iter_batched(
            || simulator(&models),
            |simulator| black_box(append_only(&all, simulator)),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("the same, newest result rewritten each time", |bencher| {
        bencher.iter_batched(
            || simulator(&models),
            |simulator| black_box(tail_rewritten(&all, simulator)),
            BatchSize::LargeInput,
        );
    });
    group.finish();
    requests::measure(&mut criterion);
    criterion.final_summary();

    // Both in one run: machines drift.
    let linear = least(10, || {
        black_box(append_only(&all, simulator(&models)));
    });
    let bytes = |all: &[Arc<Block>]| -> f64 {
        let lens: Vec<usize> = all.iter().map(|block| block.text.len()).collect();
        let (mut sum, mut whole) = (0, 0);
        for (at, len) in lens.iter().enumerate() {
            sum += len;
            if at >= 2 && at % 2 == 0 {
                whole += sum;
            }
        }
        (whole * MODELS.len()) as f64
    };
    let new: usize = all.iter().map(|block| block.text.len()).sum();
    println!(
        "linear: {linear:.2?} for {CALLS} calls, {:.3} ns for each new byte and model",
        linear.as_nanos() as f64 / (new * MODELS.len()) as f64
    );
    for (name, run) in [("byte by byte", naive as fn(&[Arc<Block>]) -> usize), ("memcmp", naive_memcmp)] {
        let measured = least(3, || {
            black_box(run(&few));
        });
        let per_byte = measured.as_nanos() as f64 / bytes(&few);
        let full = Duration::from_nanos((per_byte * bytes(&all)) as u64);
        println!(
            "whole requests, {name}: {measured:.2?} for {} calls, {per_byte:.3} ns for each byte sent, so {full:.1?} for {CALLS}: \
             1/{:.0}",
            CALLS / 10,
            full.as_secs_f64() / linear.as_secs_f64()
        );
    }
}
