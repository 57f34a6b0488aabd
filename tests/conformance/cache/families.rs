//! What sets the families apart: units, own marks of a provider, slots, what is paid for by the hour, settings, time.

use std::sync::Arc;

use plywood::core::cache::{Detail, Family, Note, Verdict};
use plywood::core::wire::{Block, Zone};

use super::lab::{Lab, figures, reminder, said, system, text, tool, tool_result, tool_use, user};

const SONNET: &str = "anthropic:claude-sonnet-5";
const GPT: &str = "openai:gpt-5.4";
const GPT_56: &str = "openai:gpt-6-sol";
const DEEPSEEK: &str = "deepseek:deepseek-v4-pro";
const LLAMA: &str = "llama.cpp:local";

/// Two turns of six calls in the sizes of the sample: the directory changes in call 1 and reaches the system prompt when
/// the second turn builds it again; what was injected is not replayed.
fn two_turns(at_once: bool) -> Vec<Vec<Arc<Block>>> {
    let head = |cwd: u32| {
        vec![
            tool("all", &text(3, 1_486)),
            system(&format!("{}{}{}", text(1, 96), text(cwd, 10), text(4, 4_651))),
            user(1, &text(5, 58)),
        ]
    };
    let told = |seed: u32, own: usize, told: usize| format!("{}{}", text(seed, own), text(seed + 1, told));
    let mut blocks = head(50);
    let mut calls = vec![blocks.clone()];
    if at_once {
        blocks.splice(..3, head(51));
    }
    blocks.push(tool_use(2, &text(6, 28)));
    let first = blocks.len();
    blocks.push(tool_result(2, &told(7, 21, 168)));
    calls.push(blocks.clone());
    blocks.extend([tool_use(3, &text(9, 40)), tool_result(3, &text(10, 4_243))]);
    calls.push(blocks.clone());
    blocks.extend([tool_use(4, &text(11, 30)), tool_result(4, &told(12, 229, 300))]);
    calls.push(blocks.clone());
    let mut second = head(51);
    second.extend(blocks[3..].iter().cloned());
    second[first] = tool_result(2, &text(7, 21));
    second[first + 4] = tool_result(4, &text(12, 229));
    second.extend([said(5, &text(14, 30)), user(6, &text(15, 60))]);
    calls.push(second.clone());
    second.extend([tool_use(7, &text(16, 91)), tool_result(7, &text(17, 1_000))]);
    calls.push(second);
    calls
}

#[test]
fn units_and_the_break_that_moves() {
    let lost = |calls: &[Vec<Arc<Block>>]| {
        let mut lab = Lab::of(DEEPSEEK);
        let outcomes: Vec<_> = calls.iter().map(|blocks| lab.send(blocks, &[])).collect();
        let lost: Vec<u32> = outcomes.iter().map(|outcome| outcome.lost().unwrap_or(0)).collect();
        let read: Vec<u32> = outcomes.iter().map(|outcome| outcome.read().unwrap()).collect();
        (lost, read)
    };
    // No stored unit ends in front of the directory: the whole prompt is new.
    let (moved, read) = lost(&two_turns(false));
    let sent = two_turns(false)[4].iter().map(|block| block.text.text().chars().count() as u32).sum::<u32>();
    assert_eq!(moved, [0, 0, 0, 0, sent, 0]);
    assert_eq!(read[4], 0);
    // In call 2 it is the same; but then two prompts had the tools and the head in common, and the second break reads
    // that.
    let (at_once, read) = lost(&two_turns(true));
    assert_eq!(at_once[1], 6_301);
    assert_eq!(read[4], 1_486 + 96);
    assert_eq!(at_once[4], sent - (1_486 + 96));
    // Reads within a turn go to the end of the answer.
    assert_eq!(read[2], 6_301 + 28 + 189 + 40);
}

#[test]
fn units_live_for_a_day_and_are_not_there_at_once() {
    let blocks = [system(&text(1, 3_000))];
    let mut lab = Lab::of(DEEPSEEK);
    lab.send(&blocks, &[]);
    lab.agent = "main/a";
    lab.at += 1_000;
    // A sister has no word of it yet.
    lab.agent = "other";
    assert_eq!(lab.send(&blocks, &[]).read(), Some(0));
    lab.wait(10);
    lab.agent = "third";
    assert_eq!(lab.send(&blocks, &[]).read(), Some(3_000));
    lab.wait(3 * 3_600);
    let late = lab.send(&blocks, &[]);
    assert_eq!(late.read(), Some(3_000));
    assert!(late.notes.iter().any(|note| matches!(note, Note::PastTypicalLife { .. })));
    lab.wait(25 * 3_600);
    let outcome = lab.send(&blocks, &[]);
    assert_eq!((outcome.read(), outcome.verdict), (Some(0), Verdict::Expired));
}

#[test]
fn the_provider_marks_the_latest_message() {
    let mut lab = Lab::of(GPT_56);
    let mut blocks = vec![tool("a", &text(1, 500)), system(&text(2, 2_000)), user(1, &text(3, 300))];
    assert_eq!(figures(&lab.send(&blocks, &[])), (0, 2_800, 0));
    blocks.extend([tool_use(2, &text(4, 50)), tool_result(2, &text(5, 400)), tool_result(3, &text(6, 100))]);
    assert_eq!(figures(&lab.send(&blocks, &[])), (2_800, 550, 0));
    // Later words of the developer are no boundary: they are paid in full until the user speaks.
    blocks.push(reminder(4, &text(7, 80)));
    assert_eq!(figures(&lab.send(&blocks, &[])), (3_350, 0, 80));
    // A prefix that has no boundary at its end is not found, however long it is.
    let mut cut = blocks[..5].to_vec();
    cut.push(user(9, &text(8, 20)));
    assert_eq!(lab.send(&cut, &[]).read(), Some(2_800));
}

#[test]
fn of_too_many_own_marks_the_oldest_are_dropped() {
    let mut lab = Lab::of(GPT_56);
    let blocks: Vec<_> = (1..=8).map(|at| user(at, &text(at, 1_100))).collect();
    let marks: Vec<(usize, u32)> = (0..6).map(|at| (at, 1_800)).collect();
    assert_eq!(figures(&lab.send(&blocks, &marks)), (0, 8_800, 0));
    // The first three were dropped, the fourth is there.
    let with = |upto: usize| {
        let mut other = blocks[..upto].to_vec();
        other.push(user(20, &text(60, 40)));
        other
    };
    let mut probe = lab;
    assert_eq!(probe.send(&with(3), &[(2, 1_800)]).read(), Some(0));
    assert_eq!(probe.send(&with(4), &[(3, 1_800)]).read(), Some(4_400));
    // With its own marks only, nothing is stored where there is none.
    let mut lab = Lab::of(GPT_56);
    lab.choose("cache_mode", Some("explicit"));
    let outcome = lab.send(&blocks, &[]);
    assert_eq!((figures(&outcome), outcome.also.contains(&Verdict::NotCached)), ((0, 0, 8_800), true));
    assert_eq!(figures(&lab.send(&blocks, &[(1, 1_800)])), (0, 2_200, 6_600));
}

#[test]
fn entries_of_the_implicit_mode_need_a_mark_in_the_explicit_one() {
    let mut lab = Lab::of(GPT_56);
    let mut blocks = vec![system(&text(1, 2_000)), user(1, &text(2, 500))];
    lab.send(&blocks, &[]);
    blocks.push(user(2, &text(3, 100)));
    lab.choose("cache_mode", Some("explicit"));
    assert_eq!(lab.send(&blocks, &[(2, 1_800)]).read(), Some(0));
    assert_eq!(lab.send(&blocks, &[(1, 1_800), (2, 1_800)]).read(), Some(2_600));
}

#[test]
fn qwen4_marks_the_end_and_renews_what_it_reads() {
    let mut lab = Lab::of("qwen:qwen4");
    let mut blocks = vec![system(&text(1, 2_000)), user(1, &text(2, 500))];
    assert_eq!(figures(&lab.send(&blocks, &[])), (0, 2_500, 0));
    blocks.push(user(2, &text(3, 100)));
    lab.choose("cache_ttl", Some("1h"));
    // Only the new part is written, and what was read lives on for an hour.
    assert_eq!(figures(&lab.send(&blocks, &[])), (2_500, 100, 0));
    lab.wait(50 * 60);
    lab.choose("cache_ttl", None);
    assert_eq!(figures(&lab.send(&blocks[..2], &[])), (2_500, 0, 0));
    lab.wait(6 * 60);
    assert_eq!(lab.send(&blocks[..2], &[]).read(), Some(0));
    lab.choose("cache_ttl", Some("30m"));
    assert_eq!(lab.send(&blocks, &[]).verdict, Verdict::Refused);
}

#[test]
fn fewer_slots_than_agents_thrash() {
    let agents = ["main/a", "main/b", "main/c"];
    let prompt = |index: usize, call: u32| {
        let mut blocks = vec![system(&text(10 + index as u32, 3_000))];
        blocks.extend((0..=call).map(|at| user(at + 1, &text(40 + at, 200))));
        blocks
    };
    let play = |slots: u32, host: u32| {
        let mut lab = Lab::with(LLAMA, |model| {
            let Some(Family::Slot(rules)) = &mut model.family else { panic!("slots") };
            rules.slots.value = slots;
            rules.host.as_mut().expect("a host").value = host;
        });
        let mut all = Vec::new();
        for call in 0..2 {
            for (index, agent) in agents.into_iter().enumerate() {
                lab.agent = agent;
                all.push(lab.send(&prompt(index, call), &[]));
            }
        }
        all
    };
    let reads = |outcomes: &[plywood::core::cache::Outcome]| {
        outcomes[3..].iter().map(|outcome| outcome.read().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(reads(&play(4, 0)), [3_200, 3_200, 3_200]);
    let thrashed = play(2, 0);
    assert_eq!(reads(&thrashed), [0, 0, 0]);
    assert!(matches!(thrashed[3].detail, Detail::Evicted { .. }), "{:?}", thrashed[3]);
    assert_eq!(thrashed[3].lost(), Some(3_200));
    // With room in main memory they come back.
    assert_eq!(reads(&play(2, 65_536)), [3_200, 3_200, 3_200]);
}

#[test]
fn servers_of_ones_own_hold_what_they_wrote() {
    for (model, read) in
        [("vllm:local", (2_300 + 64) / 16 * 16), ("sglang:local", 2_300 + 64), (LLAMA, 2_300 + 64)]
    {
        let mut lab = Lab::of(model);
        let mut blocks = vec![system(&text(1, 2_000)), user(1, &text(2, 300))];
        lab.send(&blocks, &[]);
        blocks.extend([tool_use(2, &text(3, 64)), tool_result(2, &text(4, 500))]);
        let outcome = lab.send(&blocks, &[]);
        assert_eq!(outcome.read(), Some(read), "{model}");
        // Nobody asks a price.
        assert_eq!((outcome.cost, outcome.write()), (None, None), "{model}");
    }
}

#[test]
fn answers_are_in_the_estimate_where_only_measurements_have_them() {
    let mut lab = Lab::with(GPT, |model| model.reliability = None);
    let mut blocks = vec![system(&text(1, 5_000)), user(1, &text(2, 1_000))];
    assert_eq!(lab.send(&blocks, &[]).expected, None);
    blocks.extend([tool_use(2, &text(3, 500)), tool_result(2, &text(4, 300))]);
    let outcome = lab.send(&blocks, &[]);
    let expected = outcome.expected.expect("an estimate");
    assert_eq!((outcome.read(), expected.read), (Some(6_000 / 128 * 128), 6_500 / 128 * 128));
    assert_eq!(expected.fresh, 6_800 - 6_400);
    assert!(expected.cost.unwrap() < outcome.cost.unwrap());
    // And a share of it where somebody has counted how much of it comes true.
    let mut lab = Lab::of(SONNET);
    let blocks = [system(&text(1, 10_000)), user(1, &text(2, 100))];
    lab.send(&blocks, &[(0, 300)]);
    let outcome = lab.send(&blocks, &[(0, 300)]);
    let expected = outcome.expected.expect("an estimate");
    assert_eq!((outcome.read(), expected.read, expected.lost), (Some(10_000), 9_900, Some(100)));
    assert_eq!(expected.write.unwrap().short, 100);
}

#[test]
fn what_the_caller_makes_is_paid_for_by_the_hour() {
    let mut lab = Lab::of("google-explicit:gemini-2.5-pro");
    let blocks = [system(&text(1, 1_000_000)), user(1, &text(2, 1_000))];
    let made = lab.send(&blocks, &[(0, 3_600)]);
    // Making it costs what input costs, keeping it 4.50 for a million tokens and an hour.
    assert_eq!((figures(&made), made.write()), ((0, 0, 1_001_000), None));
    assert_eq!(made.storage.unwrap().decimals(2), "4.50");
    lab.wait(40 * 60);
    let read = lab.send(&blocks, &[(0, 3_600)]);
    assert_eq!((figures(&read), read.storage), ((1_000_000, 0, 1_000), None));
    // Reading does not make it live on.
    lab.wait(40 * 60);
    let gone = lab.send(&blocks, &[(0, 3_600)]);
    assert_eq!((gone.read(), gone.verdict), (Some(0), Verdict::Expired));
    assert!(gone.storage.is_some());
    // What nobody has made is not read.
    assert_eq!(lab.send(&blocks, &[]).read(), Some(0));
}

#[test]
fn a_chain_of_answers_holds_all_of_it() {
    let mut lab = Lab::of("doubao:seed-code");
    let mut blocks = vec![system(&text(1, 2_000)), user(1, &text(2, 300))];
    lab.send(&blocks, &[]);
    blocks.extend([said(2, &text(3, 100)), user(3, &text(4, 50))]);
    let outcome = lab.send(&blocks, &[]);
    assert_eq!(figures(&outcome), (2_400, 0, 50));
    // Yuan are not turned into dollars.
    assert_eq!((outcome.cost, outcome.storage), (None, None));
    assert!(outcome.notes.contains(&Note::Currency("CNY".into())));
}

#[test]
fn what_is_not_published_is_an_upper_bound() {
    for (model, min) in [
        ("google:gemini-4-argon", 4_096),
        ("qwen-implicit:qwen3.7-max", 1_024),
        ("zai:glm-5.3", 500),
        ("minimax-passive:minimax-m3", 512),
    ] {
        let mut lab = Lab::of(model);
        let blocks = [user(1, &text(1, min - 1)), user(2, &text(2, 1))];
        lab.send(&blocks[..1], &[]);
        let short = lab.send(&blocks[..1], &[]);
        assert_eq!((short.read(), short.verdict), (Some(0), Verdict::BelowMinimum), "{model}");
        lab.send(&blocks, &[]);
        let outcome = lab.send(&blocks, &[]);
        assert_eq!(outcome.read(), Some(min as u32), "{model}");
        assert!(outcome.upper_bound && outcome.estimate, "{model}");
    }
    let mut lab = Lab::of("google:gemini-2.5-pro");
    let blocks = [user(1, &text(1, 10_000))];
    lab.send(&blocks, &[]);
    assert_eq!(lab.send(&blocks, &[]).expected.map(|expected| expected.read), Some(6_000));
    // Of published rules it is not said.
    assert!(!Lab::of(SONNET).send(&blocks, &[]).upper_bound);
}

#[test]
fn kimi_writes_at_a_price_and_reads_a_repetition_whole() {
    let mut lab = Lab::of("moonshot:kimi-k3");
    let mut blocks = vec![system(&text(1, 1_000))];
    assert_eq!(figures(&lab.send(&blocks, &[])), (0, 1_000, 0));
    assert_eq!(figures(&lab.send(&blocks, &[])), (1_000, 0, 0));
    blocks.push(user(1, &text(2, 500)));
    assert_eq!(figures(&lab.send(&blocks, &[])), (768, 732, 0));
    lab.wait(301);
    assert_eq!(lab.send(&blocks, &[]).verdict, Verdict::Expired);
    lab.choose("cache_ttl", Some("1h"));
    let hour = lab.send(&blocks, &[]);
    assert_eq!(hour.read(), Some(1_500));
    lab.wait(1_000);
    assert_eq!(lab.send(&blocks, &[]).read(), Some(1_500));
    // 256 tokens are not enough, 257 are one block.
    for (sent, read) in [(256, 0), (257, 257)] {
        let mut lab = Lab::of("moonshot:kimi-k3");
        let blocks = [user(1, &text(1, sent))];
        lab.send(&blocks, &[]);
        assert_eq!(lab.send(&blocks, &[]).read(), Some(read));
    }
}

#[test]
fn explicit_entries_of_qwen_are_there_when_the_answer_is_complete() {
    let mut lab = Lab::of("qwen:qwen3.7-max");
    let blocks = [system(&text(1, 5_000))];
    let start = lab.at;
    let mut read = |agent: &'static str, after: i64| {
        (lab.agent, lab.at) = (agent, start + after);
        lab.send(&blocks, &[(0, 300)]).read().unwrap()
    };
    assert_eq!([read("main/a", 0), read("main/b", 2_000), read("main/c", 10_000)], [0, 0, 5_000]);
}

#[test]
fn settings_break_the_cache_from_their_zone_on() {
    let blocks = [tool("a", &text(1, 2_000)), system(&text(2, 3_000)), user(1, &text(3, 1_000))];
    let marks = [(0, 300), (1, 300), (2, 300)];
    for (name, read, zone) in [
        ("web_search", 2_000, Zone::System),
        ("speed", 2_000, Zone::System),
        ("citations", 2_000, Zone::System),
        ("tool_choice", 5_000, Zone::Messages),
        ("thinking", 5_000, Zone::Messages),
        ("effort", 5_000, Zone::Messages),
        ("parallel_tool_calls", 5_000, Zone::Messages),
    ] {
        let mut lab = Lab::of(SONNET);
        lab.send(&blocks, &marks);
        lab.choose(name, Some("other"));
        let outcome = lab.send(&blocks, &marks);
        assert_eq!((outcome.read(), outcome.verdict), (Some(read), Verdict::SettingsChanged), "{name}");
        assert_eq!(outcome.lost(), Some(6_000 - read), "{name}");
        let change = &outcome.settings[0];
        assert_eq!((&*change.name, change.zone, change.new.as_deref()), (name, zone, Some("other")));
        // Back again, the old entries are still there.
        lab.choose(name, None);
        assert_eq!(lab.send(&blocks, &marks).read(), Some(6_000), "{name}");
    }
    // A later model keeps its cache when the effort changes.
    let mut lab = Lab::of("anthropic:claude-opus-5-5");
    lab.send(&blocks, &marks);
    lab.choose("effort", Some("low"));
    assert_eq!(lab.send(&blocks, &marks).read(), Some(6_000));
    // At OpenAI they stand in front of everything, and a choice of tools does not count.
    let mut lab = Lab::of(GPT);
    lab.send(&blocks, &[]);
    lab.choose("tool_choice", Some("none"));
    assert_eq!(lab.send(&blocks, &[]).read(), Some(6_000 / 128 * 128));
    lab.choose("effort", Some("low"));
    let outcome = lab.send(&blocks, &[]);
    assert_eq!((outcome.read(), outcome.verdict), (Some(0), Verdict::SettingsChanged));
}

#[test]
fn another_key_may_be_another_machine() {
    let mut lab = Lab::of(GPT);
    let blocks = [system(&text(1, 6_000))];
    lab.send(&blocks, &[]);
    lab.choose("prompt_cache_key", Some("b"));
    let outcome = lab.send(&blocks, &[]);
    // The most that could be is read; that real traffic may find another machine is said.
    assert_eq!(outcome.read(), Some(6_000 / 128 * 128));
    assert!(outcome.also.contains(&Verdict::Routing), "{outcome:?}");
    assert!(outcome.notes.contains(&Note::OtherMachine("prompt_cache_key".into())));
    assert!(outcome.settings.is_empty(), "it is no part of what is looked up");
}

#[test]
fn long_requests_and_peak_hours_cost_more() {
    let mut lab = Lab::of(GPT_56);
    let cost = |lab: &mut Lab, tokens: usize| {
        let outcome = lab.send(&[system(&text(1, tokens))], &[]);
        (outcome.cost.unwrap().decimals(4), outcome.notes)
    };
    // Written at 2.50, and the whole of a longer one at twice that.
    assert_eq!(cost(&mut lab, 272_000).0, "0.6800");
    lab.wait(10_000);
    let (dear, notes) = cost(&mut lab, 272_001);
    assert_eq!((dear.as_str(), notes.contains(&Note::LongContext)), ("1.3600", true));
    let mut lab = Lab::of(DEEPSEEK);
    // A Monday at 5 and at 7.
    lab.at = "2026-11-30T05:00:00Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
    assert_eq!(cost(&mut lab, 1_000_000).0, "0.6600");
    lab.wait(2 * 3_600 + 86_400 * 7);
    let (peak, notes) = cost(&mut lab, 1_000_000);
    assert_eq!((peak.as_str(), notes.contains(&Note::Peak)), ("1.3200", true));
}

#[test]
fn compaction_forks_and_resumption() {
    // A summary that is asked for behind the same conversation reads all of it; one that begins anew reads nothing.
    let mut lab = Lab::of(SONNET);
    let mut blocks = vec![system(&text(1, 3_000))];
    blocks.extend((1..8).map(|at| user(at, &text(10 + at, 500))));
    lab.send(&blocks, &[(0, 300), (7, 300)]);
    let mut asked = blocks.clone();
    asked.push(user(20, &text(40, 60)));
    assert_eq!(lab.send(&asked, &[(0, 300), (8, 300)]).read(), Some(6_500));
    lab.agent = "summariser";
    let flat = [system(&text(50, 800)), user(1, &text(51, 5_000))];
    assert_eq!(lab.send(&flat, &[(1, 300)]).read(), Some(0));
    // The conversation goes on with the summary in the place of what was said: the system prompt is what is left.
    lab.agent = "main";
    let compacted = [blocks[0].clone(), user(30, &text(52, 400)), user(31, &text(53, 50))];
    let outcome = lab.send(&compacted, &[(0, 300), (2, 300)]);
    assert_eq!((outcome.read(), outcome.lost()), (Some(3_000), Some(450)));
    // A fork reads up to where it leaves, and so does a program that starts again within the life.
    lab.agent = "main/fork";
    let mut fork = blocks.clone();
    fork.push(user(60, &text(60, 70)));
    assert_eq!(lab.send(&fork, &[(0, 300), (8, 300)]).read(), Some(6_500));
    lab.agent = "resumed";
    lab.wait(200);
    assert_eq!(lab.send(&blocks, &[(0, 300), (7, 300)]).read(), Some(6_500));
    lab.wait(301);
    assert_eq!(lab.send(&blocks, &[(0, 300), (7, 300)]).read(), Some(0));
}
