//! Verdicts on logs that were made for them.

use super::*;

fn verdicts(lines: &[String]) -> Vec<(Verdict, Option<u64>)> {
    audited(lines, 1 << 20).0.iter().map(|call| (call.verdict, call.lost())).collect()
}

fn system(cwd: &str) -> String {
    format!("You are an agent.\n# Rules\n{}\n# Environment\ncwd: {cwd}\n", words(1_500, "rule"))
}

fn talk(count: usize) -> Vec<Value> {
    (0..count)
        .map(|at| {
            let text = words(40, &format!("m{at}x"));
            if at % 2 == 0 { user(&text) } else { model(&text) }
        })
        .collect()
}

#[test]
fn an_appended_conversation_reads_what_was_written() {
    let (one, two) = (talk(1), talk(3));
    let lines = [
        line(&anthropic(&system("/a"), &["Read"], &one), 0, Some((0, 4_000, 3))),
        line(&anthropic(&system("/a"), &["Read"], &two), 10, Some((4_000, 300, 3))),
    ];
    let (calls, skipped) = audited(&lines, 1 << 20);
    assert_eq!(skipped, []);
    assert_eq!((calls[0].verdict, calls[1].verdict), (Verdict::First, Verdict::Appended));
    assert_eq!((calls[1].reported_lost, calls[1].gap, calls[1].turn), (Some(0), Some(10_000), 2));
    assert!(calls[1].cost.is_some() && calls[1].scale.is_some());
    assert_eq!(calls[1].cause(), None);
}

#[test]
fn a_changed_system_prompt_is_named_with_the_heading_in_front() {
    let lines = [
        line(&anthropic(&system("/a"), &["Read"], &talk(1)), 0, Some((0, 4_000, 3))),
        line(&anthropic(&system("/b"), &["Read"], &talk(3)), 10, Some((0, 4_300, 3))),
    ];
    let call = &audited(&lines, 1 << 20).0[1];
    assert_eq!((call.verdict, call.lost()), (Verdict::Changed, Some(4_000)));
    assert_eq!(call.vendor_name(), Some("system_changed"));
    assert_eq!(call.cause().as_deref(), Some("changed: system, near \"# Environment\""));
    let says = call.sentence(true);
    assert!(says.contains("cwd: /a") && says.ends_with("4,000 paid again ($0.0138)."), "{says}");
    assert!(!call.sentence(false).contains("/a"), "without leave nothing of the text is shown");
}

#[test]
fn what_differs_behind_the_last_mark_has_no_effect() {
    let body = |tail: &str| {
        let mut body = anthropic(&system("/a"), &["Read"], &talk(3));
        body["messages"][2]["content"]
            .as_array_mut()
            .expect("a list")
            .push(json!({ "type": "text", "text": tail }));
        body
    };
    let lines = [
        line(&body("it is ten"), 0, Some((0, 4_000, 10))),
        line(&body("it is eleven"), 5, Some((4_000, 0, 10))),
    ];
    let call = &audited(&lines, 1 << 20).0[1];
    assert!(call.no_effect && call.verdict == Verdict::Changed);
    assert_eq!(call.cause(), None);
    assert!(call.sentence(false).contains("no effect on the cache"), "{}", call.sentence(false));
}

#[test]
fn equal_bytes_that_are_not_read_are_expired_or_not_explained() {
    let (one, two) =
        (anthropic(&system("/a"), &["Read"], &talk(1)), anthropic(&system("/a"), &["Read"], &talk(3)));
    let miss = |gap| verdicts(&[line(&one, 0, Some((0, 4_000, 3))), line(&two, gap, Some((0, 4_300, 3)))])[1];
    assert_eq!(miss(20), (Verdict::Unexplained, Some(4_000)));
    assert_eq!(miss(900), (Verdict::Expired, Some(4_000)));
    // It was kept for longer than is promised.
    let kept = verdicts(&[line(&one, 0, Some((0, 4_000, 3))), line(&two, 900, Some((4_000, 300, 3)))]);
    assert_eq!(kept[1], (Verdict::Appended, Some(0)));
}

#[test]
fn two_reasons_at_once_are_both_told() {
    let lines = [
        line(&anthropic(&system("/a"), &["Read"], &talk(1)), 0, Some((0, 4_000, 3))),
        line(&anthropic(&system("/b"), &["Read"], &talk(3)), 14_000, Some((0, 4_300, 3))),
    ];
    let call = &audited(&lines, 1 << 20).0[1];
    let all: Vec<Verdict> = std::iter::once(call.verdict).chain(call.also.iter().copied()).collect();
    assert!(all.contains(&Verdict::Changed) && all.contains(&Verdict::Expired), "{all:?}");
}

#[test]
fn tools_in_another_order_are_reordered_and_parameters_are_settings() {
    let one = anthropic(&system("/a"), &["Read", "Bash"], &talk(1));
    let reordered = anthropic(&system("/a"), &["Bash", "Read"], &talk(3));
    let mut thinking = anthropic(&system("/a"), &["Read", "Bash"], &talk(3));
    thinking["tool_choice"] = json!({ "type": "any" });
    let second = |body: &Value| {
        let lines = [line(&one, 0, Some((0, 4_000, 3))), line(body, 10, Some((0, 4_300, 3)))];
        audited(&lines, 1 << 20).0[1].clone()
    };
    let call = second(&reordered);
    assert_eq!(call.cause().as_deref(), Some("reordered: tools in another order"));
    let call = second(&thinking);
    assert_eq!(call.verdict, Verdict::SettingsChanged);
    assert_eq!(call.params, ["tool_choice default -> any"]);
}

#[test]
fn a_block_that_moved_to_another_message_is_told_as_moved() {
    let reminder = words(60, "remind");
    let first = |texts: &[&str]| {
        let parts: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        json!({ "role": "user", "content": parts })
    };
    let before = [first(&[&reminder, "do it"]), model("done"), user("and now?")];
    let after =
        [first(&["do it"]), model("done"), user("and now?"), model("so"), first(&[&reminder, "go on"])];
    let lines = [
        line(&anthropic(&system("/a"), &["Read"], &before), 0, Some((0, 4_000, 3))),
        line(&anthropic(&system("/a"), &["Read"], &after), 10, Some((3_600, 700, 3))),
    ];
    let call = &audited(&lines, 1 << 20).0[1];
    let found = call.found.as_ref().expect("a difference");
    assert_eq!(found.moved_to.as_deref(), Some("messages[4]"), "{}", call.sentence(false));
}

#[test]
fn conversations_are_told_apart_with_and_without_a_name() {
    let lines: Vec<String> = (0..3)
        .flat_map(|step| {
            ["left", "right"].map(|who| {
                let messages: Vec<Value> = (0..=2 * step)
                    .map(|at| if at % 2 == 0 { user(&format!("{who} {at}")) } else { model(who) })
                    .collect();
                line(&anthropic(&system("/a"), &["Read"], &messages), step as i64 * 10, Some((0, 4_000, 3)))
            })
        })
        .collect();
    let names: Vec<String> =
        audited(&lines, 1 << 20).0.iter().map(|call| call.conversation.to_string()).collect();
    assert_eq!(names, ["c1", "c2", "c1", "c2", "c1", "c2"]);
    // A session that the log names, and what it calls besides.
    let in_session = |body: Value, at| {
        let mut line: Value = serde_json::from_str(&line(&body, at, Some((0, 4_000, 3)))).expect("JSON");
        line["session"] = json!("s-1");
        line.to_string()
    };
    let lines = [
        in_session(anthropic(&system("/a"), &["Read"], &talk(1)), 0),
        in_session(anthropic("You search.", &["Grep"], &[user("find it")]), 1),
        in_session(anthropic(&system("/a"), &["Read"], &talk(3)), 2),
    ];
    let names: Vec<String> =
        audited(&lines, 1 << 20).0.iter().map(|call| call.conversation.to_string()).collect();
    assert_eq!(names, ["s-1", "s-1/2", "s-1"]);
}

#[test]
fn another_model_takes_over_or_stands_beside() {
    let body = |model: &str, turns: usize| {
        let messages = talk(2 * turns - 1).into_iter().map(|mut message| {
            message["content"] = message["content"][0]["text"].take();
            message
        });
        json!({ "model": model, "messages": std::iter::once(json!({ "role": "system", "content": system("/a") })).chain(messages).collect::<Vec<_>>() })
    };
    let asked = |model: &str, turns, at| line(&body(model, turns), at, Some((0, 0, 4_000)));
    let names = |lines: &[String]| -> Vec<String> {
        audited(lines, 1 << 20).0.iter().map(|call| call.conversation.to_string()).collect()
    };
    // Side by side, each with what the other was asked.
    let beside: Vec<String> = (1..=3)
        .flat_map(|turn| ["blocks", "other"].map(|model| asked(model, turn, turn as i64 * 10)))
        .collect();
    assert_eq!(names(&beside), ["c1", "c2", "c1", "c2", "c1", "c2"]);
    // One that goes on, and goes back.
    let over = [asked("blocks", 1, 0), asked("blocks", 2, 9), asked("other", 3, 20), asked("blocks", 4, 30)];
    assert_eq!(names(&over), ["c1"; 4]);
    // One that is asked because the other has failed.
    let failed = json!({ "ts": 1_764_500_015, "request": body("blocks", 2), "response": { "error": { "message": "overloaded" } } });
    let instead = [asked("blocks", 1, 0), failed.to_string(), asked("other", 2, 20), asked("other", 3, 30)];
    assert_eq!(names(&instead), ["c1"; 4]);
    assert_eq!(audited(&instead, 1 << 20).0[2].verdict, Verdict::ModelChanged);
}

#[test]
fn a_short_tail_behind_the_last_mark_is_no_cause() {
    let marked = |turns: usize| {
        let mut body = anthropic(&system("/a"), &["Read"], &talk(2 * turns - 1));
        body["messages"] = talk(2 * turns - 1).into();
        body
    };
    let calls = |usage: [Option<(u64, u64, u64)>; 2]| {
        audited(&[line(&marked(1), 0, usage[0]), line(&marked(2), 10, usage[1])], 1 << 20).0
    };
    let told = calls([Some((0, 4_000, 40)), Some((4_000, 0, 120))]);
    assert_eq!((told[1].verdict, told[1].cause(), told[1].differs()), (Verdict::Appended, None, false));
    let untold = calls([None, None]);
    assert_eq!((untold[1].expected.verdict, untold[1].verdict), (Verdict::NotCached, Verdict::Appended));
}

#[test]
fn a_chain_of_answers_is_put_together() {
    let first = json!({ "model": "blocks", "instructions": words(1_200, "i"), "input": [{ "role": "user", "content": "hi" }] });
    let second = json!({ "model": "blocks", "instructions": words(1_200, "i"), "previous_response_id": "r1", "input": [{ "role": "user", "content": "more" }] });
    let answer = |id: &str, sent: u64, read: u64| json!({ "id": id, "output": [{ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "hello" }] }], "usage": { "input_tokens": sent, "input_tokens_details": { "cached_tokens": read }, "output_tokens": 3 } });
    let lines = [
        json!({ "ts": 1_764_500_000, "request": first, "response": answer("r1", 2_600, 0) }).to_string(),
        json!({ "ts": 1_764_500_009, "request": second, "response": answer("r2", 2_620, 2_560) }).to_string(),
    ];
    let (calls, _) = audited(&lines, 1 << 20);
    assert_eq!((calls[1].verdict, &*calls[1].conversation), (Verdict::Appended, "c1"));
    assert!(calls[1].expected.sent > calls[0].expected.sent, "the second holds the first and its answer");
}

#[test]
fn what_a_log_does_not_hold_is_not_made_up() {
    let lines = [
        line(&anthropic(&system("/a"), &["Read"], &talk(1)), 0, None),
        line(&anthropic(&system("/b"), &["Read"], &talk(3)), 10, None),
    ];
    let (calls, _) = audited(&lines, 1 << 20);
    assert_eq!(calls[1].reported, None);
    assert_eq!(calls[1].verdict, Verdict::Changed);
    assert!(calls[1].lost().is_some_and(|lost| lost > 1_000), "the rules say what is lost");
    // A model that nobody knows has a verdict and no price.
    let mut body = anthropic(&system("/a"), &["Read"], &talk(1));
    body["model"] = json!("claude-next");
    let call = &audited(&[line(&body, 0, Some((0, 4_000, 3)))], 1 << 20).0[0];
    assert_eq!((call.cost, call.expected.sent, &*call.model), (None, None, "anthropic:claude-next"));
}

#[test]
fn a_call_that_failed_is_no_call_to_the_cache() {
    let body = anthropic(&system("/a"), &["Read"], &talk(1));
    let failed = json!({ "ts": 1_764_500_005, "request": anthropic(&system("/b"), &["Read"], &talk(3)),
        "response": { "type": "error", "error": { "type": "overloaded", "message": "try again" } } })
    .to_string();
    let lines = [
        line(&body, 0, Some((0, 4_000, 3))),
        failed,
        line(&anthropic(&system("/a"), &["Read"], &talk(3)), 10, Some((4_000, 300, 3))),
    ];
    let (calls, _) = audited(&lines, 1 << 20);
    assert_eq!(calls[1].error.as_deref(), Some("try again"));
    let mut totals = Totals::new(vec![GroupBy::Cause], 10);
    calls.iter().for_each(|call| totals.add(0, call));
    assert_eq!((totals.all.calls, totals.all.failed, totals.all.reported), (3, 1, 2));
}

#[test]
fn sums_groups_and_new_causes() {
    let lines = [
        line(&anthropic(&system("/a"), &["Read"], &talk(1)), 0, Some((0, 4_000, 3))),
        line(&anthropic(&system("/b"), &["Read"], &talk(3)), 10, Some((0, 4_300, 3))),
        line(&anthropic(&system("/c"), &["Read"], &talk(5)), 20, Some((0, 4_600, 3))),
        line(&anthropic(&system("/c"), &["Read"], &talk(7)), 30, Some((4_600, 300, 3))),
    ];
    let (calls, _) = audited(&lines, 1 << 20);
    let mut totals = Totals::new(vec![GroupBy::Model, GroupBy::Cause], 1);
    calls.iter().for_each(|call| totals.add(0, call));
    assert_eq!((totals.all.sent, totals.all.read, totals.all.lost), (17_812, 4_600, 8_300));
    assert_eq!(totals.all.sent, totals.all.read + totals.all.write.unwrap_or(0) + totals.all.fresh);
    let keys: Vec<&str> = totals.ranked().iter().map(|(key, _)| key[1].as_str()).collect();
    assert_eq!(keys, ["changed: system, near \"# Environment\"", NO_CAUSE]);
    let (_, group) = totals.ranked()[0];
    assert_eq!((group.first.line, group.last.line, group.sums.calls), (2, 3, 2));
    assert_eq!(totals.top.iter().map(|(_, call)| call.line).collect::<Vec<_>>(), [3]);
    let known = totals.causes.keys().cloned().collect();
    assert!(totals.new_causes(&known).is_empty());
    assert_eq!(totals.new_causes(&Default::default()).len(), 1);
}

#[test]
fn little_memory_changes_what_is_expected_and_no_verdict_on_what_is_under_way() {
    let lines: Vec<String> = (0..30)
        .map(|at| {
            line(&anthropic(&system("/a"), &["Read"], &talk(1 + 2 * at)), at as i64, Some((0, 4_000, 3)))
        })
        .collect();
    let mut reader = Reader::new(1 << 20);
    let mut judge = Judge::new(models(), Vec::new(), None, 0);
    judge.shrink(16 << 10);
    let mut counter = Counter::new();
    let mut seen = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut found = |exchange: Exchange| seen.push(judge.call(&exchange, &mut counter).expected.verdict);
        reader.line(index as u64 + 1, &mut line.clone().into_bytes(), &Plain, &mut found).expect("a call");
    }
    reader.flush(&mut |exchange| seen.push(judge.call(&exchange, &mut counter).expected.verdict));
    assert!(judge.forgotten() > 0);
    assert!(seen[1..].iter().all(|verdict| *verdict == Verdict::Appended), "{seen:?}");
}
