//! The numeric vectors: documented examples and published measurements of providers' caches.

use std::sync::Arc;

use plywood::core::cache::{Accounting, Family, Verdict, Write};
use plywood::core::wire::Block;

use super::lab::{Lab, figures, system, text, tool_result, tool_use, user};

const SONNET: &str = "anthropic:claude-sonnet-5";
const HAIKU: &str = "anthropic:claude-haiku-4-5";

/// Messages of 500 tokens, each one position.
fn history(positions: usize) -> Vec<Arc<Block>> {
    (1..=positions).map(|at| user(at as u32, &text(at as u32, 500))).collect()
}

#[test]
fn v01_twenty_positions_are_looked_at() {
    let after_ten = |to: usize, marks: &[usize]| {
        let mut lab = Lab::of(SONNET);
        lab.send(&history(10), &[(9, 300)]);
        let marks: Vec<(usize, u32)> = marks.iter().map(|mark| (mark - 1, 300)).collect();
        let outcome = lab.send(&history(to), &marks);
        (outcome.read().unwrap(), outcome.verdict)
    };
    assert_eq!(after_ten(15, &[15]), (5_000, Verdict::Appended));
    // Positions 35 to 16: neither 10 nor 15 is among them.
    assert_eq!(after_ten(35, &[35]), (0, Verdict::OutOfLookback));
    assert_eq!(after_ten(35, &[12, 35]), (5_000, Verdict::Appended));
    assert_eq!((after_ten(29, &[29]).0, after_ten(30, &[30]).0), (5_000, 0));
}

/// Whether a request reads what stands this many messages and blocks in front of its mark, both ends counted.
fn reads(model: &'static str, messages: usize, blocks: usize) -> bool {
    let mut lab = Lab::of(model);
    let mut all = history(10);
    lab.send(&all, &[(9, 300)]);
    let each = blocks / messages;
    for message in 1..messages {
        for part in 0..each {
            let number = (100 + message * 50 + part) as u32;
            all.push(match message % 2 {
                1 => tool_use(number, &text(number, 10)),
                _ => tool_result(number, &text(number, 10)),
            });
        }
    }
    let last = all.len() - 1;
    lab.send(&all, &[(last, 300)]).read().unwrap() > 0
}

#[test]
fn v02_messages_are_counted_and_not_blocks() {
    let measured = [(20, 20, true), (22, 22, false), (8, 80, true), (20, 120, true), (22, 132, false)];
    for (messages, blocks, hit) in measured {
        assert_eq!(reads(HAIKU, messages, blocks), hit, "{messages} messages, {blocks} blocks");
    }
    // Where runs are not said to count as one, blocks are.
    assert!(reads("bedrock:claude-haiku-4-5", 20, 20));
    assert!(!reads("bedrock:claude-haiku-4-5", 8, 80));
}

#[test]
fn v03_lives_are_mixed() {
    let mut lab = Lab::of(SONNET);
    let sizes = [50_000, 10_000, 15_000, 5_000];
    let blocks: Vec<_> = sizes.iter().zip(1..).map(|(&size, at)| user(at, &text(at, size))).collect();
    lab.send(&blocks[..1], &[(0, 3_600)]);
    let outcome = lab.send(&blocks, &[(1, 3_600), (2, 300)]);
    let split = outcome.split.unwrap();
    assert_eq!((split.read, split.write), (50_000, Some(Write { short: 15_000, hour: 10_000 })));
    // What stands behind the last mark is what the provider calls input.
    assert_eq!(outcome.usage(Accounting::Exclusive).unwrap().input, 5_000);
    // A shorter life in front of a longer one is an error.
    let refused = lab.send(&blocks, &[(1, 300), (2, 3_600)]);
    assert_eq!((refused.verdict, refused.split), (Verdict::Refused, None));
}

#[test]
fn v04_prompt_tokens_are_the_sum_of_the_three() {
    let mut lab = Lab::of(SONNET);
    let blocks = [user(1, &text(1, 100_000)), user(2, &text(2, 50))];
    lab.send(&blocks, &[(0, 300)]);
    let usage = lab.send(&blocks, &[(0, 300)]).usage(Accounting::Exclusive).unwrap();
    assert_eq!((usage.input, usage.read, usage.write), (50, 100_000, 0));
    assert_eq!(usage.prompt(Accounting::Exclusive), 100_050);
}

#[test]
fn v05_multiples_of_128() {
    let mut lab = Lab::of("openai:gpt-5.4");
    let blocks = [system(&text(1, 18_362))];
    lab.send(&blocks, &[]);
    assert_eq!(lab.send(&blocks, &[]).read(), Some(18_304));
}

#[test]
fn v07_full_blocks_of_16_and_the_last_one_anew() {
    let mut lab = Lab::of("vllm:local");
    lab.send(&[system(&text(1, 1_610))], &[]);
    let outcome = lab.send(&[system(&format!("{}{}", text(1, 1_610), text(2, 2_007)))], &[]);
    assert_eq!((outcome.sent, outcome.read()), (Some(3_617), Some(1_600)));
    for (sent, read) in [(32, 16), (33, 32)] {
        let mut lab = Lab::of("vllm:local");
        let blocks = [user(1, &text(1, sent))];
        lab.send(&blocks, &[]);
        let outcome = lab.send(&blocks, &[]);
        assert_eq!((outcome.read(), outcome.lost()), (Some(read), Some(0)), "{sent}");
    }
}

#[test]
fn v09_one_token_is_always_worked_out() {
    let mut lab = Lab::of("llama.cpp:local");
    let blocks = [user(1, &text(1, 14))];
    lab.send(&blocks, &[]);
    let outcome = lab.send(&blocks, &[]);
    assert_eq!((outcome.read(), outcome.fresh(), outcome.lost()), (Some(13), Some(1), Some(0)));
}

#[test]
fn v10_whole_units() {
    const DEEPSEEK: &str = "deepseek:deepseek-v4-pro";
    let (a, b, c, d) = (text(1, 700), text(2, 90), text(3, 80), text(4, 70));
    let one = |parts: &[&str]| vec![user(1, &parts.concat())];
    let mut lab = Lab::of(DEEPSEEK);
    let read = |lab: &mut Lab, parts: &[&str]| lab.send(&one(parts), &[]).read().unwrap();
    assert_eq!(read(&mut lab, &[&a, &b]), 0);
    assert_eq!(read(&mut lab, &[&a, &c]), 0);
    assert_eq!(read(&mut lab, &[&a, &d]), 700);
    // The same where what is in common ends with a block.
    let mut lab = Lab::of(DEEPSEEK);
    let two = |first: &str, second: &str| vec![system(first), user(1, second)];
    let reads = [&b, &c, &d].map(|second| lab.send(&two(&a, second), &[]).read().unwrap());
    assert_eq!(reads, [0, 0, 700]);
    // A prompt is a unit, and with its answer another.
    let mut lab = Lab::of(DEEPSEEK);
    let mut blocks = two(&a, &b);
    lab.send(&blocks, &[]);
    let mut longer = blocks.clone();
    longer.push(user(2, &c));
    assert_eq!(lab.send(&longer, &[]).read(), Some(790));
    let mut lab = Lab::of(DEEPSEEK);
    lab.send(&blocks, &[]);
    blocks.extend([tool_use(2, &c), tool_result(3, &d)]);
    assert_eq!(lab.send(&blocks, &[]).read(), Some(790 + 80));
}

#[test]
fn v11_readable_when_the_answer_begins() {
    let mut lab = Lab::of(SONNET);
    let blocks = [system(&text(1, 11_374))];
    let start = lab.at;
    let mut send = |agent: &'static str, after: i64| {
        (lab.agent, lab.at) = (agent, start + after);
        let outcome = lab.send(&blocks, &[(0, 300)]);
        figures(&outcome)
    };
    assert_eq!(send("main/a", 0), (0, 11_374, 0));
    assert_eq!(send("main/b", 100), (0, 11_374, 0));
    assert_eq!(send("main/c", 100), (0, 11_374, 0));
    assert_eq!(send("main/d", 1_100), (11_374, 0, 0));
}

#[test]
fn the_default_three_are_of_three_families() {
    let models = super::lab::models();
    let word = |id: &str| models.models[id].family.as_ref().map(Family::word);
    assert_eq!(
        ["openai:gpt-5.4", SONNET, "deepseek:deepseek-v4-pro"].map(word),
        [Some("block"), Some("marked"), Some("units")]
    );
}
