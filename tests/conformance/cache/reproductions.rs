//! Cache breaks that real agents had, built again from small requests, with what the rules make of them.

use std::sync::Arc;

use plywood::core::cache::{Accounting, Lane, Simulator, Verdict};
use plywood::core::wire::{Block, Zone};
use plywood::io::models;

use super::lab::{
    Characters, Lab, figures, reasoning, reminder, said, system, text, tool, tool_result, tool_use, user,
};

const SONNET: &str = "anthropic:claude-sonnet-5";
const GPT: &str = "openai:gpt-5.4";

#[test]
fn r01_a_clock_at_the_start_of_the_system_prompt() {
    let prompt = |clock: &str| {
        vec![
            tool("a", &text(1, 6_016)),
            system(&format!("{clock} {}", text(2, 9_000))),
            user(1, &text(3, 100)),
        ]
    };
    let (one, two) = (prompt("Now 10:00:01"), prompt("Now 10:00:02"));
    let marked = |marks: &[(usize, u32)]| {
        let mut lab = Lab::of(SONNET);
        lab.send(&one, marks);
        lab.send(&two, marks)
    };
    let outcome = marked(&[(1, 300)]);
    assert_eq!((outcome.read(), outcome.vendor_name()), (Some(0), Some("system_changed")));
    assert_eq!(outcome.blame.as_ref().map(|blame| blame.byte), Some("Now 10:00:0".len()));
    assert_eq!(marked(&[(0, 300), (1, 300)]).read(), Some(6_016));
    // The longest common prefix: the tools, and the few tokens of the clock that are the same.
    let mut lab = Lab::of(GPT);
    lab.send(&one, &[]);
    assert_eq!(lab.send(&two, &[]).read(), Some((6_016 + 11) / 128 * 128));
}

#[test]
fn r02_the_hour_in_the_system_prompt() {
    let mut lab = Lab::of(SONNET);
    let mut blocks = vec![tool("a", &text(1, 2_000)), system("")];
    let mut verdicts = Vec::new();
    for call in 0..12_u32 {
        // Every four minutes: three whole hours begin in between.
        let hour = 10 + (58 + call * 4) / 60;
        blocks[1] = system(&format!("{}\nIt is {hour}:00.\n{}", text(2, 3_000), text(3, 500)));
        blocks.push(user(call + 1, &text(10 + call, 50)));
        let outcome = lab.send(&blocks, &[(1, 300), (blocks.len() - 1, 300)]);
        verdicts.push(outcome.vendor_name());
        lab.wait(240);
    }
    let changed = verdicts.iter().filter(|name| **name == Some("system_changed")).count();
    assert_eq!(changed, 1, "{verdicts:?}");
}

#[test]
fn r06_the_directory_in_the_block_with_the_only_mark() {
    let prompt = |directory: &str| {
        vec![
            tool("a", &text(1, 14_000)),
            system(&text(2, 10_600)),
            system(&format!("{directory}{}", text(3, 26))),
            user(1, &text(4, 40)),
        ]
    };
    let (one, two) = (prompt("/src"), prompt("/lib"));
    let marked = |mark: usize| {
        let mut lab = Lab::of(SONNET);
        lab.send(&one, &[(mark, 300)]);
        let outcome = lab.send(&two, &[(mark, 300)]);
        figures(&outcome)
    };
    assert_eq!(marked(2), (0, 24_630, 40));
    // In front of the footer it would have saved it.
    assert_eq!(marked(1), (24_600, 0, 70));
}

#[test]
fn r07_tools_in_another_order() {
    let names = |order: [&str; 3]| {
        let mut blocks: Vec<Arc<Block>> =
            order.iter().map(|name| tool(name, &text(name.len() as u32, 7_600))).collect();
        blocks.push(system(&text(9, 2_000)));
        blocks
    };
    let (one, two) = (names(["a", "bb", "ccc"]), names(["a", "ccc", "bb"]));
    let mut lab = Lab::of(SONNET);
    lab.send(&one, &[(3, 300)]);
    let outcome = lab.send(&two, &[(3, 300)]);
    assert_eq!((outcome.read(), outcome.vendor_name()), (Some(0), Some("tools_changed")));
    assert_eq!(outcome.verdict, Verdict::Reordered);
    // Up to the end of the first tool.
    let mut lab = Lab::of(GPT);
    lab.send(&one, &[]);
    assert_eq!(lab.send(&two, &[]).read(), Some(7_552));
}

#[test]
fn r08_keys_in_another_order() {
    let schema = |first: &str, second: &str| {
        let body =
            format!("{{\"name\":\"a\",\"parameters\":{{{first},{second}}},\"x\":\"{}\"}}", text(1, 2_000));
        vec![tool("a", &body), system(&text(2, 2_000))]
    };
    let (kind, members) = ("\"type\":\"object\"", "\"properties\":{}");
    let mut lab = Lab::of(SONNET);
    lab.send(&schema(kind, members), &[(1, 300)]);
    let outcome = lab.send(&schema(members, kind), &[(1, 300)]);
    assert_eq!((outcome.read(), outcome.verdict), (Some(0), Verdict::SerialisationOnly));
    assert_eq!(outcome.vendor_name(), Some("tools_changed"));
}

#[test]
fn r11_a_line_end_in_an_old_message() {
    let prompt = |end: &str| {
        let mut blocks = vec![tool("a", &text(1, 9_000)), system(&text(2, 10_000))];
        blocks.push(user(1, &format!("{}</reminder>{end}", text(3, 400))));
        blocks.extend([said(2, &text(4, 300)), user(3, &text(5, 200))]);
        blocks
    };
    let mut lab = Lab::of(SONNET);
    lab.send(&prompt(""), &[(1, 300), (4, 300)]);
    let outcome = lab.send(&prompt("\n"), &[(1, 300), (4, 300)]);
    assert_eq!((outcome.read(), outcome.vendor_name()), (Some(19_000), Some("messages_changed")));
    assert_eq!(outcome.blame.as_ref().map(|blame| blame.zone), Some(Zone::Messages));
}

#[test]
fn r13_a_mark_on_a_reminder_that_is_not_replayed() {
    let mut lab = Lab::of(SONNET);
    let mut blocks = vec![system(&text(1, 4_000)), user(1, &text(2, 3_000))];
    let mut all = Vec::new();
    for turn in 0..3_u32 {
        let mut sent = blocks.clone();
        sent.push(reminder(100 + turn, &text(50 + turn, 300)));
        let outcome = lab.send(&sent, &[(0, 300), (sent.len() - 1, 300)]);
        all.push(figures(&outcome));
        blocks.extend([said(10 + turn, &text(20 + turn, 200)), user(30 + turn, &text(40 + turn, 100))]);
    }
    // Nothing but the system prompt is ever read: all messages are written again in each turn.
    assert_eq!(all, [(0, 7_300, 0), (4_000, 3_600, 0), (4_000, 3_900, 0)]);
    assert_eq!(lab.never_read().len(), 3);
    // A gateway that puts the reminder into the system prompt: the mark on the tools alone is left.
    let mut lab = Lab::of(SONNET);
    let hoisted = |prompt: &str| {
        vec![tool("a", &text(1, 42_237)), system(prompt), user(1, &text(3, 126_156 - prompt.chars().count()))]
    };
    lab.send(&hoisted(&text(2, 20_000)), &[(0, 300)]);
    let outcome = lab.send(&hoisted(&format!("{}{}", text(2, 20_000), text(4, 300))), &[(0, 300)]);
    assert_eq!(figures(&outcome), (42_237, 0, 126_156));
}

#[test]
fn r14_two_hooks_at_the_tail_take_both_marks() {
    let mut lab = Lab::of(SONNET);
    let mut blocks = vec![system(&text(1, 5_000))];
    for call in 0..4_u32 {
        blocks.push(user(call * 2 + 1, &text(10 + call, 400)));
        let mut sent = blocks.clone();
        sent.extend([user(900, &text(30 + call, 60)), user(901, &text(40 + call, 70))]);
        let len = sent.len();
        let outcome = lab.send(&sent, &[(0, 300), (len - 2, 300), (len - 1, 300)]);
        let (read, written, fresh) = figures(&outcome);
        assert_eq!((read, fresh), (if call == 0 { 0 } else { 5_000 }, 0));
        assert!(written >= 400 * (call + 1) + 130, "{written}");
    }
    // Two dead entries a call.
    assert_eq!(lab.never_read().len(), 8);
}

#[test]
fn r17_an_old_result_is_pruned() {
    let prompt = |result: &str| {
        vec![
            system(&text(1, 8_000)),
            user(1, &text(2, 1_000)),
            tool_use(2, &text(3, 100)),
            tool_result(2, result),
            user(3, &text(5, 204_900)),
        ]
    };
    let (full, pruned) = (prompt(&text(4, 5_000)), prompt("[cleared]"));
    let mut lab = Lab::of(SONNET);
    lab.send(&full, &[(4, 300)]);
    let outcome = lab.send(&pruned, &[(4, 300)]);
    assert_eq!((outcome.sent_before, outcome.read()), (Some(219_000), Some(0)));
    // Everything of what is sent now had been stored, up to what was cut out.
    assert_eq!(outcome.lost(), outcome.sent);
    let mut lab = Lab::of(GPT);
    lab.send(&full, &[]);
    assert_eq!(lab.send(&pruned, &[]).read(), Some(9_100 / 128 * 128));
}

#[test]
fn r20_a_model_switch_and_back() {
    let blocks = [system(&text(1, 20_000)), user(1, &text(2, 116_000))];
    let there_and_back = |away: i64| {
        let mut lab = Lab::of(SONNET);
        lab.send(&blocks, &[(1, 300)]);
        lab.wait(10);
        lab.model = "anthropic:claude-opus-4-8";
        let cold = lab.send(&blocks, &[(1, 300)]);
        assert_eq!((cold.verdict, cold.read()), (Verdict::ModelChanged, Some(0)));
        lab.wait(away);
        lab.model = SONNET;
        lab.send(&blocks, &[(1, 300)])
    };
    assert_eq!(there_and_back(100).read(), Some(136_000));
    assert_eq!(there_and_back(400).read(), Some(0));
    // With the system prompt gone, it is cold again.
    let mut lab = Lab::of(SONNET);
    lab.send(&blocks, &[(1, 300)]);
    assert_eq!(lab.send(&blocks[1..], &[(0, 300)]).read(), Some(0));
}

#[test]
fn r24_one_turn_adds_more_than_twenty_positions() {
    let mut lab = Lab::of(SONNET);
    let mut blocks = vec![system(&text(1, 18_700))];
    blocks.extend((1..10).map(|at| user(at, &text(10 + at, 100))));
    lab.send(&blocks, &[(0, 300), (9, 300)]);
    blocks.extend((10..35).map(|at| user(at, &text(10 + at, 100))));
    let outcome = lab.send(&blocks, &[(0, 300), (34, 300)]);
    assert_eq!((outcome.read(), outcome.verdict), (Some(18_700), Verdict::OutOfLookback));
    // A mark on each of five results.
    let five: Vec<(usize, u32)> = (30..35).map(|at| (at, 300)).collect();
    let refused = lab.send(&blocks, &five);
    assert_eq!((refused.verdict, refused.split), (Verdict::Refused, None));
}

#[test]
fn r25_parallel_agents_with_one_prefix() {
    let blocks = |difference: &str| {
        vec![system(&text(1, 6_066)), user(1, &format!("{difference}{}", text(2, 5_308 - 33)))]
    };
    let same = blocks(&text(3, 33));
    let marks = [(0, 300), (1, 300)];
    let mut lab = Lab::of(SONNET);
    let start = lab.at;
    let mut send = |agent: &'static str, after: i64, blocks: &[Arc<Block>]| {
        (lab.agent, lab.at) = (agent, start + after);
        let outcome = lab.send(blocks, &marks);
        figures(&outcome)
    };
    for agent in ["main/a", "main/b", "main/c", "main/d"] {
        assert_eq!(send(agent, 0, &same), (0, 11_374, 0), "{agent}");
    }
    for agent in ["main/e", "main/f", "main/g"] {
        assert_eq!(send(agent, 1_500, &same), (11_374, 0, 0), "{agent}");
    }
    assert_eq!(send("main/h", 1_500, &blocks(&text(4, 33))), (6_066, 5_308, 0));
}

#[test]
fn r26_idle_longer_than_it_lives() {
    let after_seven_minutes = |ttl: u32| {
        let mut lab = Lab::of(SONNET);
        let blocks = [system(&text(1, 58_058))];
        lab.send(&blocks, &[(0, ttl)]);
        lab.wait(7 * 60);
        lab.send(&blocks, &[(0, ttl)])
    };
    let short = after_seven_minutes(300);
    assert_eq!((figures(&short), short.verdict), ((0, 58_058, 0), Verdict::Expired));
    assert_eq!(figures(&after_seven_minutes(3_600)), (58_058, 0, 0));
}

#[test]
fn r28_too_short_in_silence() {
    for model in ["anthropic:claude-opus-4-5", "anthropic:claude-haiku-4-5", "bedrock:claude-haiku-4-5"] {
        let mut lab = Lab::of(model);
        let blocks = [system(&text(1, 1_500)), user(1, &text(2, 10))];
        lab.send(&blocks, &[(0, 300)]);
        let outcome = lab.send(&blocks, &[(0, 300)]);
        assert_eq!(figures(&outcome), (0, 0, 1_510), "{model}");
        assert_eq!(outcome.verdict, Verdict::BelowMinimum, "{model}");
    }
    // Where somebody has measured another minimum than the page says, a file of one's own has the last word.
    let own = "models:\n  \"anthropic:claude-sonnet-4-6\": { marked: { min: { value: 2048 } } }\n";
    let models = models::load(Some(("mine.yaml", own))).expect("a good file");
    let min = models.models["anthropic:claude-sonnet-4-6"].family.as_ref().and_then(|family| family.min());
    assert_eq!(min.map(|min| min.value), Some(2_048));
}

#[test]
fn r29_marks_are_never_sent() {
    for model in [SONNET, "bedrock:claude-sonnet-5", "qwen:qwen3.7-max"] {
        let mut lab = Lab::of(model);
        let blocks = [system(&text(1, 9_000))];
        lab.send(&blocks, &[]);
        let outcome = lab.send(&blocks, &[]);
        assert_eq!((figures(&outcome), outcome.verdict), ((0, 0, 9_000), Verdict::NotCached), "{model}");
    }
    // One word for the whole request would do.
    let mut lab = Lab::of(SONNET);
    lab.choose("cache_mode", Some("automatic"));
    let blocks = [system(&text(1, 9_000))];
    lab.send(&blocks, &[]);
    assert_eq!(figures(&lab.send(&blocks, &[])), (9_000, 0, 0));
}

#[test]
fn r31_reasoning_is_not_sent_back() {
    let with = vec![
        system(&text(1, 2_000)),
        user(1, &text(2, 200)),
        reasoning(2, &text(3, 500)),
        said(2, &text(4, 100)),
        user(3, &text(5, 50)),
    ];
    let mut without = with.clone();
    without.remove(2);
    without.push(user(5, &text(6, 50)));
    for (model, read) in [
        ("xai:grok-4.6", 2_200 / 128 * 128),
        ("moonshot:kimi-k3", 2_200 / 256 * 256),
        // No unit ends there: the request in front of the answer was not sent alone.
        ("deepseek:deepseek-v4-pro", 0),
    ] {
        let mut lab = Lab::of(model);
        lab.send(&with, &[]);
        let outcome = lab.send(&without, &[]);
        assert_eq!(outcome.read(), Some(read), "{model}");
        assert!(outcome.lost().unwrap() > 0, "{model}");
    }
    // Where the question had been sent first, it is what is left.
    let mut lab = Lab::of("deepseek:deepseek-v4-pro");
    lab.send(&with[..2], &[]);
    lab.send(&with, &[]);
    assert_eq!(lab.send(&without, &[]).read(), Some(2_200));
    // And where the provider itself takes it out when the user speaks again, appending is no help.
    for (model, marks) in [(GPT, &[][..]), ("anthropic:claude-haiku-4-5", &[(3, 300)][..])] {
        let mut lab = Lab::of(model);
        let mut blocks = vec![
            system(&text(1, 6_000)),
            user(1, &text(2, 200)),
            reasoning(2, &text(3, 500)),
            tool_use(2, &text(4, 100)),
            tool_result(2, &text(5, 300)),
        ];
        lab.send(&blocks, marks);
        blocks.extend([said(3, &text(6, 100)), user(4, &text(7, 50))]);
        let outcome = lab.send(&blocks, marks);
        assert_eq!(outcome.verdict, Verdict::ReasoningDropped, "{model}");
        assert!(outcome.read().unwrap() <= 6_200 && outcome.lost().unwrap() > 0, "{model}: {outcome:?}");
        // It is not sent in effect.
        assert_eq!(outcome.sent, Some(6_750), "{model}");
    }
}

#[test]
fn r33_the_same_message_grows() {
    let mut lab = Lab::of("openai:gpt-5.6-sol");
    let prompt = |message: &str| vec![system(&text(1, 10_445)), user(1, message)];
    let a = text(2, 2_000);
    lab.send(&prompt(&a), &[]);
    let outcome = lab.send(&prompt(&format!("{a}{}", text(3, 700))), &[]);
    assert_eq!(figures(&outcome), (10_445, 2_700, 0));
    // As another message it would have been read.
    let mut lab = Lab::of("openai:gpt-5.6-sol");
    let mut blocks = prompt(&a);
    lab.send(&blocks, &[]);
    blocks.push(user(2, &text(3, 700)));
    assert_eq!(figures(&lab.send(&blocks, &[])), (12_445, 700, 0));
}

#[test]
fn r35_inclusive_usage_read_as_exclusive_counts_twice() {
    let mut lab = Lab::of(GPT);
    let blocks = [system(&text(1, 12_800))];
    lab.send(&blocks, &[]);
    let outcome = lab.send(&blocks, &[]);
    let usage = outcome.usage(Accounting::Inclusive).unwrap();
    assert_eq!((usage.input, usage.read), (12_800, 12_800));
    assert_eq!(usage.prompt(Accounting::Inclusive), 12_800);
    assert_eq!(usage.prompt(Accounting::Exclusive), 25_600, "cached tokens are counted twice");
    assert_eq!(usage.fresh(Accounting::Inclusive), 0);
}

#[test]
fn all_models_play_side_by_side() {
    let models = Arc::new(super::lab::models());
    let lanes: Vec<Lane> = models.models.keys().cloned().map(Lane::As).collect();
    let mut simulator = Simulator::new(models.clone(), lanes);
    let blocks = vec![system(&text(1, 6_000)), user(1, &text(2, 500))];
    let request = plywood::core::wire::Request {
        call: plywood::core::wire::CallNo(1),
        turn: 1,
        agent: "main".into(),
        model: GPT.into(),
        at: 1_775_000_000_000,
        blocks,
        shared: 0,
        marks: vec![plywood::core::wire::MarkAt { block: 0, ttl: 300 }],
        params: Arc::default(),
    };
    simulator.call(&request, &mut Characters);
    for (outcome, model) in simulator.call(&request, &mut Characters).iter().zip(models.models.values()) {
        super::lab::sums(outcome, model);
        assert_eq!(outcome.split.is_some(), model.family.is_some(), "{}", model.id);
        if let Some(split) = outcome.split {
            assert!(split.read > 0, "{}: {outcome:?}", model.id);
        }
        let foreign = model.prices.first().is_some_and(|price| price.currency.is_some());
        assert_eq!(outcome.cost.is_some(), !model.prices.is_empty() && !foreign, "{}", model.id);
    }
}
