//! The requests of a long run: all of them in order, and one of them anywhere in it, against gathering each anew.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::Criterion;
use plywood::core::fact::{FactKey, FilePath, Found};
use plywood::core::run::{Load, Player, Requests, Session};
use plywood::core::wire::CallNo;
use plywood::io::syntax;

use super::least;

const CALLS: u32 = 2_000;
const RESULT: usize = 3_000;

struct Nothing;

impl Load for Nothing {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), Found::Absent)).collect()
    }
}

/// A run of so many calls, in which a reminder is written into the newest result and taken out of the one before.
fn bench(calls: u32) -> String {
    let mut bench = String::from(
        "bench: 1\nname: long\nmodel: openai:gpt-5.4\n\
         workspace: { path: ., shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }\n\
         tools: [ { names: [Shell] } ]\n\
         places:\n  system: { of: system }\n  user: { of: current_user }\n  end: { of: newest_tool, join: \"\\n\", none: wait }\n\
         layers:\n  - { id: base, in: system, from: { text: \"Work.\" } }\n  - { id: said, in: user, from: { said: user } }\n  \
         - { id: reminder, in: end, when: call.tools, from: { text: \"<r>{{ call.results }}</r>\" }, refresh: call, keep: { earlier: strip } }\n\
         runs:\n  one:\n    - user: Go.\n",
    );
    let result = "some output of a tool; ".repeat(RESULT / 23);
    for call in 0..calls {
        bench.push_str(&format!(
            "    - call: [ {{ Shell: {{ command: ls {call} }}, result: \"{call} {result}\" }} ]\n"
        ));
    }
    bench.push_str("    - say: Done.\n");
    bench
}

fn session(calls: u32) -> Session {
    let opened = syntax::open("bench.yaml", bench(calls), &[], &mut |_: &FilePath| Found::Absent)
        .expect("the bench is right");
    let mut player = Player::start(Arc::new(opened.bench), None, &mut Nothing).expect("it starts");
    while player.beat(&mut Nothing).expect("it goes on") {}
    player.session().clone()
}

/// All requests, one after the other.
fn in_order(session: &Session) -> usize {
    let mut requests = Requests::default();
    let calls = (1..=session.calls().len() as u32).map(CallNo);
    calls.filter_map(|call| requests.get(session, call).map(|request| request.blocks.len())).sum()
}

/// All requests, each gathered anew.
fn each_anew(session: &Session) -> usize {
    let calls = (1..=session.calls().len() as u32).map(CallNo);
    calls.filter_map(|call| session.request(call)).map(|request| request.blocks.len()).sum()
}

/// Prints the times and the ratio.
pub(crate) fn measure(criterion: &mut Criterion) {
    let session = session(CALLS);
    assert_eq!(in_order(&session), each_anew(&session), "both are the same requests");
    let mut group = criterion.benchmark_group("requests of 2,000 calls");
    group.bench_function("all, in order", |bencher| bencher.iter(|| black_box(in_order(&session))));
    let mut at = 1_u64;
    group.bench_function("one, anywhere", |bencher| {
        bencher.iter(|| {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let call = CallNo(1 + (at >> 33) as u32 % CALLS);
            black_box(session.request(call).map(|request| request.blocks.len()))
        });
    });
    group.finish();
    let walk = least(5, || {
        black_box(in_order(&session));
    });
    let anew = least(3, || {
        black_box(each_anew(&session));
    });
    let each = |all: Duration| all / CALLS;
    println!(
        "requests of {CALLS} calls in order: {walk:.2?} ({:.2?} each), each anew {anew:.2?} ({:.2?} each): 1/{:.0}",
        each(walk),
        each(anew),
        anew.as_secs_f64() / walk.as_secs_f64()
    );
}
