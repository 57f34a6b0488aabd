//! Caches of blocks: what is read, what is lost, and when.

use super::*;

/// The prompt of the sample in its sizes: tools, the system prompt with the working directory in its first part, and
/// the user's message.
fn prompt(cwd: &str) -> Vec<Arc<Block>> {
    let base = format!("{}{cwd}{}", filler(1, 90), filler(2, 1_412 - 90 - 10));
    vec![
        tool("all", &filler(3, 1_486)),
        system(&[("00_base", "", &base), ("rest", "\n", &filler(4, 3_344))]),
        user(1, &filler(5, 58)),
    ]
}

#[test]
fn the_figures_of_two_turns() {
    let mut play = Play::of(block_model());
    let mut blocks = prompt("/home/shop");
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.sent, figures(&outcome), outcome.lost()), (Some(6_301), (0, 0, 6_301, 0), None));
    assert_eq!(outcome.verdict, Verdict::First);
    assert_eq!(outcome.write(), None);

    blocks.push(tool_use(2, &filler(6, 28)));
    blocks.push(tool_result(3, &[("tool Cd", "", &filler(7, 21)), ("reminder", "", &filler(8, 168))]));
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.sent, figures(&outcome)), (Some(6_518), (6_272, 0, 246, 0)));
    assert_eq!(outcome.verdict, Verdict::Appended);
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 2 appended: +217 tokens, 6,272 of 6,518 read. System unchanged."
    );

    blocks.push(tool_result(4, &[("tool Read", "", &filler(9, 4_283))]));
    assert_eq!(figures(&play.send(&blocks, &[])), (6_400, 0, 4_401, 0));
    blocks.push(tool_result(5, &[("tool Edit", "", &filler(10, 259)), ("reminder", "", &filler(8, 300))]));
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.sent, figures(&outcome)), (Some(11_360), (10_752, 0, 608, 0)));

    // The second turn: the system prompt is built again, and what was injected into messages 3 and 5 is gone.
    play.turn = 2;
    let mut second = prompt("/home/shop/api");
    second[0] = blocks[0].clone();
    second.truncate(2);
    second.extend(blocks[2..].iter().cloned());
    second[4] = tool_result(3, &[("tool Cd", "", &filler(7, 21))]);
    second[6] = tool_result(5, &[("tool Edit", "", &filler(10, 259))]);
    second.push(user(6, &filler(11, 130)));
    let outcome = play.send(&second, &[]);
    assert_eq!((outcome.sent, figures(&outcome)), (Some(11_026), (1_536, 0, 9_490, 9_472)));
    assert_eq!(outcome.cost.unwrap().to_string(), "$0.0241");
    assert_eq!(outcome.lost_cost.unwrap().to_string(), "$0.0213");
    assert_eq!((outcome.verdict, outcome.vendor_name()), (Verdict::Changed, Some("system_changed")));
    // With only the first put right, what stands in front of message 3's injected text would be read.
    assert_eq!(outcome.behind.len(), 2);
    assert_eq!(outcome.behind[0].blame.part.as_ref(), "reminder");
    assert_eq!(outcome.behind[0].still_lost, 4_736);

    second.push(tool_result(7, &[("tool Shell", "", &filler(12, 1_091))]));
    let outcome = play.send(&second, &[]);
    assert_eq!((outcome.sent, figures(&outcome)), (Some(12_117), (11_008, 0, 1_109, 0)));
}

#[test]
fn whole_blocks_only() {
    let mut play = Play::of(block_model());
    let text = filler(1, 18_362);
    play.send(&[system(&[("a", "", &text)])], &[]);
    assert_eq!(play.send(&[system(&[("a", "", &text)])], &[]).read(), Some(18_304));
}

#[test]
fn what_is_too_short_is_not_cached() {
    let mut play = Play::of(block_model());
    let first = [system(&[("a", "", &filler(1, 900))])];
    let outcome = play.send(&first, &[]);
    assert_eq!((outcome.verdict, outcome.also.as_slice()), (Verdict::First, &[Verdict::BelowMinimum][..]));
    let outcome = play.send(&first, &[]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::BelowMinimum, (0, 0, 900, 0)));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 2 below minimum: 900 tokens, minimum 1,024; nothing is stored or read."
    );
    // Nothing was stored, so what is now long enough finds nothing.
    let mut longer = first.to_vec();
    longer.push(user(1, &filler(2, 500)));
    assert_eq!(play.send(&longer, &[]).verdict, Verdict::Appended);
    assert_eq!(play.send(&longer, &[]).read(), Some(1_280));
}

#[test]
fn idle_longer_than_it_lives() {
    let mut play = Play::of(block_model());
    let mut blocks = vec![system(&[("a", "", &filler(1, 5_000))])];
    play.send(&blocks, &[]);
    for message in 1..4 {
        // Each read keeps it alive.
        play.at += 600_000;
        blocks.push(user(message, "x"));
        let outcome = play.send(&blocks, &[]);
        assert_eq!((outcome.verdict, outcome.read()), (Verdict::Appended, Some(4_992)));
    }
    play.at += 600_001;
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::Expired, (0, 0, 5_003, 4_992)));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 5 expired: bytes equal, age 10 min, life 10 min; 4,992 paid again ($0.0112)."
    );
    assert_eq!(play.send(&blocks, &[]).read(), Some(4_992));
}

#[test]
fn a_model_switch_and_back() {
    // R20.
    let mut other = block_model();
    other.id = "openai:other".into();
    let mut play = Play::new([block_model(), other], [Lane::AsSent]);
    let mut blocks = vec![system(&[("a", "", &filler(1, 2_000))])];
    play.send(&blocks, &[]);
    play.model = "openai:other".into();
    blocks.push(user(1, &filler(2, 500)));
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::ModelChanged, (0, 0, 2_500, 1_920)));
    assert_eq!(outcome.vendor_name(), Some("model_changed"));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 2 model changed: openai:gpt-5.4 -> openai:other; caches are per model; 1,920 paid again ($0.0043)."
    );
    play.model = "openai:gpt-5.4".into();
    play.at += 500_000;
    blocks.push(user(2, &filler(3, 500)));
    let outcome = play.send(&blocks, &[]);
    // Warm, except for what only the other model has seen.
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::ModelChanged, (1_920, 0, 1_080, 512)));
    play.model = "openai:other".into();
    play.at += 200_000;
    assert_eq!(play.send(&blocks, &[]).read(), Some(0));
}

#[test]
fn a_value_that_comes_back_finds_its_old_cache() {
    let mut play = Play::of(block_model());
    let there = prompt("/home/shop");
    let away = prompt("/home/shop/api");
    play.send(&there, &[]);
    assert_eq!(play.send(&away, &[]).read(), Some(1_536));
    let outcome = play.send(&there, &[]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::Changed, (6_272, 0, 29, 0)));
}

#[test]
fn a_sub_agent_reads_what_its_parent_stored() {
    let mut play = Play::of(block_model());
    let blocks = prompt("/home/shop");
    play.send(&blocks, &[]);
    play.agent = "main/worker".into();
    let mut theirs = blocks[..2].to_vec();
    theirs.push(user(1, "another task"));
    let outcome = play.send(&theirs, &[]);
    assert_eq!((outcome.verdict, outcome.read(), outcome.lost()), (Verdict::First, Some(6_144), None));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 2 first: 6,144 of 6,255 read from another conversation."
    );
}

#[test]
fn a_clock_at_the_head_of_the_system_prompt() {
    // R01: only what stands in front of it is read.
    let mut play = Play::of(block_model());
    let at = |clock: &str| {
        let now = format!("Now {clock}");
        vec![
            tool("all", &filler(1, 1_300)),
            system(&[("clock", "", &now), ("rest", "\n", &filler(2, 4_000))]),
        ]
    };
    play.send(&at("10:00:01"), &[]);
    let outcome = play.send(&at("10:00:02"), &[]);
    assert_eq!(outcome.read(), Some(1_280));
    assert_eq!(outcome.blame.unwrap().part.as_ref(), "clock");
}

#[test]
fn tools_in_another_order() {
    // R07: up to the tool that moved.
    let mut play = Play::of(block_model());
    let tools: Vec<_> =
        ["a", "b", "c"].iter().zip(1..).map(|(name, seed)| tool(name, &filler(seed, 1_280))).collect();
    let mut blocks = tools.clone();
    blocks.push(system(&[("s", "", &filler(9, 3_000))]));
    play.send(&blocks, &[]);
    blocks.swap(1, 2);
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.verdict, outcome.read()), (Verdict::Reordered, Some(1_280)));
    assert_eq!(outcome.vendor_name(), Some("tools_changed"));
    assert_eq!(outcome.blame.unwrap().name.as_ref(), "c");
}

#[test]
fn an_old_tool_result_is_pruned() {
    // R17: everything behind it is lost.
    let mut play = Play::of(block_model());
    let mut blocks = vec![system(&[("s", "", &filler(1, 1_280))]), user(1, "go")];
    blocks.push(tool_result(2, &[("tool Read", "", &filler(2, 5_000))]));
    for message in 3..10 {
        blocks.push(tool_result(message, &[("tool Read", "", &filler(message as usize, 1_000))]));
    }
    play.send(&blocks, &[]);
    blocks[2] = tool_result(2, &[("tool Read", "", "[cleared]")]);
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::Changed, (1_280, 0, 7_011, 6_912)));
    assert_eq!(outcome.vendor_name(), Some("messages_changed"));
}

#[test]
fn an_unknown_model_has_no_numbers_but_a_verdict() {
    let mut play = Play::of(Model::unknown("acme:one".into()));
    let blocks = prompt("/home/shop");
    play.send(&blocks, &[]);
    let outcome = play.send(&prompt("/home/shop/api"), &[]);
    assert_eq!((outcome.sent, outcome.split, outcome.cost), (None, None, None));
    assert_eq!(outcome.verdict, Verdict::Changed);
    assert!(!outcome.sentence(&Labels::PLAIN).contains("paid again"));
    let mut totals = Totals::default();
    totals += &outcome;
    assert_eq!((totals.unknown, totals.unpriced), (1, 1));
}

#[test]
fn a_request_that_was_not_sent_stores_nothing() {
    let mut play = Play::of(block_model());
    let first = prompt("/home/shop");
    play.send(&first, &[]);
    let failed = play.request(&prompt("/home/shop/api"), &[]);
    play.simulator.not_sent(&failed);
    // Its blocks are shared with the request that failed, which the cache has never seen.
    let outcome = play.send(&failed.blocks, &[]);
    assert_eq!((outcome.read(), outcome.verdict), (Some(1_536), Verdict::Changed));
}
