//! Caches with marks: what is written, read and paid again.

use super::*;

fn history(blocks: usize) -> Vec<Arc<Block>> {
    (1..=blocks).map(|at| user(at as u32, &filler(at, 100))).collect()
}

/// A request whose first `blocks` positions exist, with marks behind these positions, counted from 1.
fn marked(play: &mut Play, blocks: &[Arc<Block>], positions: &[usize]) -> Outcome {
    let marks: Vec<(usize, u32)> = positions.iter().map(|&position| (position - 1, 300)).collect();
    play.send(blocks, &marks)
}

#[test]
fn twenty_positions_are_looked_at() {
    // Vector 1, R24.
    let start = || {
        let mut play = Play::of(marked_model(512));
        let blocks = history(10);
        let outcome = marked(&mut play, &blocks, &[10]);
        assert_eq!(figures(&outcome), (0, 1_000, 0, 0));
        (play, blocks)
    };
    let longer = |blocks: &[Arc<Block>], to: usize| {
        let mut longer = blocks.to_vec();
        longer.extend(history(to).into_iter().skip(blocks.len()));
        longer
    };
    let (mut play, blocks) = start();
    let outcome = marked(&mut play, &longer(&blocks, 15), &[15]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::Appended, (1_000, 500, 0, 0)));

    let (mut play, blocks) = start();
    let outcome = marked(&mut play, &longer(&blocks, 35), &[35]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::OutOfLookback, (0, 3_500, 0, 1_000)));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 2 out of lookback: bytes equal, what is stored stands 26 positions before the mark, 20 are looked at; \
         1,000 paid again ($0.0023)."
    );

    let (mut play, blocks) = start();
    let outcome = marked(&mut play, &longer(&blocks, 35), &[12, 35]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::Appended, (1_000, 2_500, 0, 0)));

    // The edge of the window: both ends count.
    let (mut play, blocks) = start();
    assert_eq!(marked(&mut play, &longer(&blocks, 29), &[29]).read(), Some(1_000));
    let (mut play, blocks) = start();
    assert_eq!(marked(&mut play, &longer(&blocks, 30), &[30]).read(), Some(0));
}

#[test]
fn runs_of_tool_blocks_are_one_position() {
    // Vector 2: messages are counted, not blocks; a run of calls or of results is a message here.
    let gap = |messages: usize, blocks: usize| {
        let mut play = Play::of(marked_model(512));
        let mut all = history(10);
        let each = blocks / messages;
        marked(&mut play, &all, &[10]);
        let first = all.len();
        for message in 1..messages {
            for part in 0..each {
                let number = (100 + message * 50 + part) as u32;
                let text = filler(number as usize, 10);
                all.push(match message % 2 {
                    1 => tool_use(number, &text),
                    _ => tool_result(number, &[("tool", "", &text)]),
                });
            }
        }
        assert!(all.len() > first);
        let last = all.len();
        marked(&mut play, &all, &[last]).read().unwrap() > 0
    };
    assert!(gap(20, 20));
    assert!(!gap(22, 22));
    assert!(gap(8, 80));
    assert!(gap(20, 120));
    assert!(!gap(22, 132));
}

#[test]
fn lives_may_be_mixed() {
    // Vector 3: A 50k, B 60k, C 75k.
    let mut play = Play::of(marked_model(512));
    let sizes = [50_000, 10_000, 15_000, 5_000];
    let blocks: Vec<_> =
        sizes.iter().zip(1..).map(|(&size, at)| user(at, &filler(at as usize, size))).collect();
    play.send(&blocks[..1], &[(0, 3_600)]);
    let outcome = play.send(&blocks, &[(1, 3_600), (2, 300)]);
    let split = outcome.split.unwrap();
    assert_eq!(split.read, 50_000);
    assert_eq!(split.write, Some(Write { short: 15_000, hour: 10_000 }));
    assert_eq!((split.fresh, outcome.uncovered), (5_000, 5_000));
    // 50,000 x 0.20 + 10,000 x 4 + 15,000 x 2.50 + 5,000 x 2, each for a million.
    assert_eq!(outcome.cost.unwrap().decimals(4), "0.0975");
}

#[test]
fn prompt_tokens_are_the_sum_of_the_three() {
    // Vector 4, the other way round.
    let mut play = Play::of(marked_model(512));
    let blocks = [user(1, &filler(1, 100_000)), user(2, &filler(2, 50))];
    play.send(&blocks, &[(0, 300)]);
    let outcome = play.send(&blocks, &[(0, 300)]);
    assert_eq!((outcome.sent, figures(&outcome)), (Some(100_050), (100_000, 0, 50, 0)));
}

#[test]
fn an_entry_is_readable_when_the_answer_begins() {
    // Vector 11, R25.
    let mut play = Play::of(marked_model(512));
    let blocks = [system(&[("s", "", &filler(1, 11_374))])];
    let start = play.at;
    let mut send = |agent: &str, after: i64| {
        play.agent = agent.into();
        play.at = start + after;
        play.send(&blocks, &[(0, 300)])
    };
    assert_eq!(figures(&send("main/a", 0)), (0, 11_374, 0, 0));
    assert_eq!(figures(&send("main/b", 100)), (0, 11_374, 0, 0));
    assert_eq!(figures(&send("main/c", 100)), (0, 11_374, 0, 0));
    assert_eq!(figures(&send("main/d", 1_100)), (11_374, 0, 0, 0));
    // A conversation waits for its own answers, and agents for those of the agents above them, whatever the clock.
    assert_eq!(send("main/a", 100).read(), Some(11_374));
    assert_eq!(send("main/a/deep", 100).read(), Some(11_374));
}

#[test]
fn what_an_agent_above_both_has_seen_is_readable() {
    let mut play = Play::of(marked_model(512));
    let shared = system(&[("s", "", &filler(1, 2_000))]);
    let mut send = |agent: &str, text: &str| {
        play.agent = agent.into();
        play.send(&[system(&[("own", "", text)]), shared.clone()], &[(1, 300)])
    };
    send("main", "parent");
    assert_eq!(send("main/a", "child").read(), Some(0));
    assert_eq!(send("main/b", "child").read(), Some(0));
    send("main", "parent");
    assert_eq!(send("main/c", "child").read(), Some(2_005));
}

#[test]
fn a_change_in_front_of_the_only_mark_loses_everything() {
    // R06: the working directory in the last system block, which carries the only mark.
    let mut play = Play::of(marked_model(512));
    let with = |cwd: &str| {
        let text = filler(2, 20_000);
        vec![
            tool("all", &filler(1, 4_600)),
            system(&[("base", "", &text), ("cwd", "\n", cwd)]),
            user(1, "hello"),
        ]
    };
    play.send(&with("/home/shop"), &[(1, 300)]);
    let outcome = play.send(&with("/home/work"), &[(1, 300)]);
    assert_eq!(figures(&outcome), (0, 24_611, 5, 24_611));
    assert_eq!((outcome.verdict, outcome.vendor_name()), (Verdict::Changed, Some("system_changed")));
    assert_eq!(outcome.blame.unwrap().part.as_ref(), "cwd");
    // A mark on the tools would have kept them.
    let mut play = Play::of(marked_model(512));
    play.send(&with("/home/shop"), &[(0, 300), (1, 300)]);
    assert_eq!(figures(&play.send(&with("/home/work"), &[(0, 300), (1, 300)])), (4_600, 20_011, 5, 20_011));
}

#[test]
fn a_line_end_in_an_old_message() {
    // R11: what is in front of the messages is read.
    let mut play = Play::of(marked_model(512));
    let with = |reminder: &str| {
        let mut blocks = vec![tool("all", &filler(1, 9_000)), system(&[("s", "", &filler(2, 10_000))])];
        blocks.push(block(
            BlockKind::User,
            "user",
            1,
            traced(&[("user", "", "hi"), ("reminder", "\n", reminder)]),
        ));
        blocks.extend((2..8).map(|message| user(message, &filler(message as usize, 3_000))));
        blocks
    };
    play.send(&with("<r>go</r>"), &[(1, 300), (8, 300)]);
    let outcome = play.send(&with("<r>go</r>\n"), &[(1, 300), (8, 300)]);
    assert_eq!(outcome.read(), Some(19_000));
    let blame = outcome.blame.unwrap();
    assert_eq!(
        (blame.part.as_ref(), blame.old.as_str(), blame.new.as_str()),
        ("reminder", "<r>go</r>", "<r>go</r>\n")
    );
    assert_eq!(outcome.verdict, Verdict::Changed);
}

#[test]
fn one_spelling_and_another_of_the_same_json() {
    // R08.
    let mut play = Play::of(marked_model(512));
    let with = |schema: &str| vec![tool("Read", schema), system(&[("s", "", &filler(2, 2_000))])];
    play.send(&with(r#"{"name":"Read","parameters":{"type":"object","properties":{}}}"#), &[(1, 300)]);
    let outcome =
        play.send(&with(r#"{"name":"Read","parameters":{"properties":{},"type":"object"}}"#), &[(1, 300)]);
    assert_eq!((outcome.verdict, outcome.vendor_name()), (Verdict::SerialisationOnly, Some("tools_changed")));
    assert_eq!(outcome.read(), Some(0));
    let outcome =
        play.send(&with(r#"{"name":"Read","parameters":{"properties":{},"type":"array"}}"#), &[(1, 300)]);
    assert_eq!(outcome.verdict, Verdict::Changed);
}

#[test]
fn too_short_in_front_of_the_mark() {
    // R28: silently neither read nor written.
    let mut play = Play::of(marked_model(2_048));
    let mut blocks = vec![system(&[("s", "", &filler(1, 1_500))]), user(1, &filler(2, 900))];
    assert_eq!(figures(&play.send(&blocks, &[(0, 300)])), (0, 0, 2_400, 0));
    blocks.push(user(2, "more"));
    let outcome = play.send(&blocks, &[(0, 300)]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::BelowMinimum, (0, 0, 2_404, 0)));
    // The minimum counts everything in front of the mark.
    let outcome = play.send(&blocks, &[(1, 300)]);
    assert_eq!(figures(&outcome), (0, 2_400, 4, 0));
}

#[test]
fn text_behind_the_last_mark_is_paid_in_full_each_time() {
    let mut play = Play::of(marked_model(512));
    let mut blocks = vec![system(&[("s", "", &filler(1, 6_243))]), user(1, &filler(2, 58))];
    let outcome = play.send(&blocks, &[(0, 300)]);
    assert_eq!((outcome.verdict, outcome.uncovered), (Verdict::First, 58));
    blocks.push(user(2, &filler(3, 302)));
    let outcome = play.send(&blocks, &[(0, 300)]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::NotCached, (6_243, 0, 360, 0)));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 2 not cached: no mark after system; 360 tokens at full price."
    );
    // Without any mark nothing is cached at all.
    let outcome = play.send(&blocks, &[]);
    assert_eq!((outcome.verdict, figures(&outcome)), (Verdict::NotCached, (0, 0, 6_603, 6_243)));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 3 not cached: no mark in the request; 6,603 tokens at full price."
    );
    // With the mark on the last block everything is covered: that is an append.
    play.send(&blocks, &[(2, 300)]);
    blocks.push(user(3, "more"));
    assert_eq!(play.send(&blocks, &[(3, 300)]).verdict, Verdict::Appended);
}

#[test]
fn five_marks_are_an_error() {
    let mut play = Play::of(marked_model(512));
    let blocks = history(10);
    let outcome = marked(&mut play, &blocks, &[6, 7, 8, 9, 10]);
    assert_eq!((outcome.verdict, outcome.split, outcome.cost), (Verdict::Refused, None, None));
    assert_eq!(
        outcome.sentence(&Labels::PLAIN),
        "call 1 refused: 5 cache marks, at most 4: the provider answers with an error."
    );
    // It stored nothing.
    assert_eq!(figures(&marked(&mut play, &blocks, &[10])), (0, 1_000, 0, 0));
    for wrong in [[(0, 300), (1, 3_600)], [(0, 600), (1, 300)]] {
        assert_eq!(play.send(&blocks, &wrong).verdict, Verdict::Refused);
    }
}

#[test]
fn idle_longer_than_the_mark_asked_for() {
    // R26.
    let blocks = [system(&[("s", "", &filler(1, 58_058))])];
    for (life, read) in [(300, 0), (3_600, 58_058)] {
        let mut play = Play::of(marked_model(512));
        play.send(&blocks, &[(0, life)]);
        play.at += 7 * 60_000;
        let outcome = play.send(&blocks, &[(0, life)]);
        assert_eq!(outcome.read(), Some(read));
        assert_eq!(outcome.verdict, if read == 0 { Verdict::Expired } else { Verdict::Appended });
    }
}

#[test]
fn a_dead_tail_is_written_and_never_read() {
    // R14: text at the tail that differs in each call takes the mark.
    let mut play = Play::of(marked_model(512));
    let stem = system(&[("s", "", &filler(1, 1_000))]);
    for call in 1..=3 {
        let hook = block(BlockKind::User, "hook", 9, traced(&[("hook", "", &filler(call, 600))]));
        play.send(&[stem.clone(), hook], &[(0, 300), (1, 300)]);
    }
    let never = play.simulator.never_read(0);
    let expected = [(1, 600), (2, 600), (3, 600)];
    assert_eq!(never.iter().map(|unread| (unread.call.0, unread.tokens)).collect::<Vec<_>>(), expected);
}

#[test]
fn estimates_say_so() {
    let mut model = marked_model(512);
    model.method = Method::Estimate { base: Encoding::O200k, factor: 1.31, error: 0.1 };
    let mut play = Play::of(model);
    let mut blocks = vec![system(&[("s", "", &filler(1, 6_243))])];
    let outcome = play.send(&blocks, &[(0, 300)]);
    assert_eq!((outcome.sent, figures(&outcome)), (Some(8_178), (0, 8_178, 0, 0)));
    blocks[0] = system(&[("s", "", &filler(2, 6_243))]);
    let outcome = play.send(&blocks, &[(0, 300)]);
    assert!(
        outcome.sentence(&Labels::PLAIN).ends_with("~8,178 paid again (~$0.0188)."),
        "{}",
        outcome.sentence(&Labels::PLAIN)
    );
}

#[test]
fn several_models_side_by_side() {
    let lanes = [Lane::AsSent, Lane::As("openai:gpt-5.4".into()), Lane::As("anthropic:sonnet-5".into())];
    let mut play = Play::new([marked_model(512), block_model()], lanes);
    let blocks = [system(&[("s", "", &filler(1, 2_000))]), user(1, "hi")];
    play.send_all(&blocks, &[(0, 300)]);
    let outcomes = play.send_all(&blocks, &[(0, 300)]);
    let read: Vec<_> = outcomes.iter().map(|outcome| (&*outcome.model, outcome.read().unwrap())).collect();
    assert_eq!(
        read,
        [("anthropic:sonnet-5", 2_000), ("openai:gpt-5.4", 1_920), ("anthropic:sonnet-5", 2_000)]
    );
}
