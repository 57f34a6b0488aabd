//! What servers have room for, where they can cut, and the marks that a provider puts behind its own tools.

use std::sync::Arc;

use plywood::core::cache::{Confidence, Detail, Family, Known, Verdict};
use plywood::core::wire::Block;

use super::lab::{Lab, figures, said_by, system, text, user};

fn known(value: u32) -> Option<Known<u32>> {
    Some(Known { value, source: "test".into(), checked: None, confidence: Confidence::User })
}

/// Prompts of 3,000 tokens and more of three agents, each asked twice, one after the other.
fn three_agents(mut lab: Lab) -> Vec<(u32, Detail)> {
    let agents = ["main/a", "main/b", "main/c"];
    let prompt = |index: u32, call: u32| -> Vec<Arc<Block>> {
        let mut blocks = vec![system(&text(10 + index, 3_008))];
        blocks.extend((0..=call).map(|at| user(at + 1, &text(40 + at, 192))));
        blocks
    };
    let mut all = Vec::new();
    for call in 0..2 {
        for (index, agent) in (0..).zip(agents) {
            lab.agent = agent;
            let outcome = lab.send(&prompt(index, call), &[]);
            all.push((outcome.read().expect("a figure"), outcome.detail.clone()));
        }
    }
    all.split_off(3)
}

#[test]
fn a_server_keeps_what_it_has_room_for() {
    let vllm = |room: Option<u32>| {
        three_agents(Lab::with("vllm:local", |model| {
            let Some(Family::Block(rules)) = &mut model.family else { panic!("blocks") };
            rules.room = room.and_then(known);
        }))
    };
    let sglang = |room: Option<u32>| {
        three_agents(Lab::with("sglang:local", |model| {
            let Some(Family::Radix(rules)) = &mut model.family else { panic!("a tree") };
            rules.room = room.and_then(known);
        }))
    };
    let reads = |all: &[(u32, Detail)]| all.iter().map(|(read, _)| *read).collect::<Vec<_>>();
    // Nobody knows how much room there is, or there is enough.
    for room in [None, Some(20_000)] {
        assert_eq!(reads(&vllm(room)), [3_200; 3], "{room:?}");
        assert_eq!(reads(&sglang(room)), [3_200; 3], "{room:?}");
    }
    // For two of three: each drives out the one that is needed next.
    for all in [vllm(Some(6_500)), sglang(Some(6_500))] {
        assert!(all.iter().all(|(read, _)| *read < 200), "{:?}", reads(&all));
        assert!(all.iter().all(|(_, detail)| matches!(detail, Detail::Evicted { .. })), "{all:?}");
    }
    // A prompt goes from its end: of the first as much is left as the others left room for.
    assert_eq!(vllm(Some(8_000))[0].0, 8_000 - 2 * 3_200);
    assert_eq!(sglang(Some(8_007))[0].0, 8_007 - 2 * 3_200);
}

#[test]
fn hybrid_models_go_back_to_checkpoints_only() {
    let lab = |checkpoint: Option<u32>| {
        Lab::with("llama.cpp:local", |model| {
            let Some(Family::Slot(rules)) = &mut model.family else { panic!("slots") };
            rules.checkpoint = checkpoint.and_then(known);
        })
    };
    let first = vec![system(&text(1, 20_000)), user(1, &text(2, 500))];
    let mut longer = first.clone();
    longer.push(user(2, &text(3, 500)));
    let changed = vec![first[0].clone(), user(1, &text(4, 500))];
    for (checkpoint, appended, other) in [(None, 20_500, 20_000), (Some(8_192), 20_500, 16_384)] {
        let mut lab = lab(checkpoint);
        lab.send(&first, &[]);
        assert_eq!(lab.send(&longer, &[]).read(), Some(appended), "{checkpoint:?}");
        let outcome = lab.send(&changed, &[]);
        assert_eq!((outcome.read(), outcome.verdict), (Some(other), Verdict::Changed), "{checkpoint:?}");
    }
}

#[test]
fn results_of_the_providers_own_tools_get_a_mark() {
    let result = |seed: u32| said_by("web_search_tool_result", 2, &text(seed, 3_000));
    // One answer searched 25 times, so that the last mark is far from the one before.
    let mut blocks = vec![system(&text(1, 5_000)), user(1, &text(2, 100))];
    let first = blocks.clone();
    blocks.extend((0..25).map(|at| result(10 + at)));
    blocks.push(user(3, &text(3, 100)));
    let last = blocks.len() - 1;
    let mut longer = blocks.clone();
    longer.extend((0..25).map(|at| said_by("text", 4, &text(60 + at, 10))));
    longer.push(user(5, &text(4, 100)));
    let end = longer.len() - 1;
    let mut lab = Lab::of("anthropic:claude-sonnet-5");
    lab.send(&first, &[(1, 300)]);
    // From the last mark alone nothing would be found: it looks back over 20 positions.
    assert_eq!(figures(&lab.send(&blocks, &[(last, 300)])), (5_100, 75_100, 0));
    assert_eq!(
        figures(&lab.send(&longer, &[(end, 300)])).0,
        5_100 + 75_000,
        "read at the last result's mark"
    );
    // Without a mark of its own a request is not cached at all, and elsewhere nobody says so.
    let mut lab = Lab::of("anthropic:claude-sonnet-5");
    lab.send(&blocks, &[]);
    assert_eq!(figures(&lab.send(&blocks, &[])), (0, 0, 80_200));
    let mut lab = Lab::of("qwen:qwen3.7-max");
    lab.send(&blocks, &[(last, 300)]);
    assert_eq!(figures(&lab.send(&longer, &[(end, 300)])).0, 0);
    // They take none of the four.
    let mut lab = Lab::of("anthropic:claude-sonnet-5");
    let four = [(0, 300), (1, 300), (2, 300), (last, 300)];
    assert_eq!(lab.send(&blocks, &four).verdict, Verdict::First);
}
