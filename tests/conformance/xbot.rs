//! A pipeline that announces a new working directory in the newest tool message: cases X1 to X26 and X45 to X50.
//!
//! X30 to X44, the pipeline that builds the system prompt, stand in a file of their own.
//!
//! | case | why it is not here |
//! |---|---|
//! | X8, X9, X13, X17 | the numbers have gaps |
//!
//! X20 and X25 are of the program as it is today and run on a small bench with its reminder; the sample has the reminder
//! of the program's design date.

use plywood::core::run::{Belief, Input, Lead, ToolCall};
use plywood::core::wire::{BlockKind, CallNo, Zone};

use crate::scene::{
    Files, Scene, bytes, cd, count, everything, gives, newest_tool, system, tool, tool_texts,
};

/// The sample's announcement in a bench of nothing else, in a workspace that prompts see as `/w`.
fn small(since: &str) -> Scene {
    Scene::of(&SMALL.replace("SINCE", since), &[], Files::of_sample("xbot"))
}

const SMALL: &str = r#"
bench: 1
name: small
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { cwd: /w }
tools: [{ names: [Cd, Shell, Read] }]
simulate: { Cd: { set: cwd, from: path } }
places:
  system: { of: system }
  user: { of: current_user }
  tool_end: { of: newest_tool, join: "\n\n", none: wait }
layers:
  - { id: base, in: system, from: { text: "CWD: {{ cwd }}" } }
  - { id: said, in: user, from: { said: user } }
  - { id: announcement, in: tool_end, from: { template: dynamic.md }, refresh: { change: [cwd], since: SINCE } }
marks: [{ at: system }]
runs: { none: [] }
"#;

/// The announcement as it stands behind the text of a tool message.
fn announced(cwd: &str) -> String {
    format!(
        "\n\n<dynamic-context>\n环境变化:\n- 当前目录已切换为：{cwd}，切换后所有 Shell 命令在新目录执行\n</dynamic-context>"
    )
}

const BASELINES: [&str; 3] = ["built", "first", "empty_is_unset"];

#[test]
fn x01_the_first_call_injects_nothing() {
    for since in BASELINES {
        let mut scene = small(since);
        scene.user("go").call([gives("Shell", "r")]);
        assert_eq!(newest_tool(&scene.next()), "r", "{since}");
        assert!(scene.prepared().injected.is_empty() && scene.prepared().pending.is_empty(), "{since}");
    }
}

#[test]
fn x02_an_unchanged_directory_injects_nothing() {
    for since in BASELINES {
        let mut scene = small(since);
        scene.user("go").call([gives("Shell", "r")]).call([gives("Shell", "s")]);
        assert_eq!(tool_texts(&scene.next()), ["r", "s"], "{since}");
        assert!(scene.prepared().injected.is_empty(), "{since}");
    }
}

#[test]
fn x03_a_change_is_announced_behind_the_newest_tool_message() {
    for since in BASELINES {
        let mut scene = small(since);
        scene.user("go").call([gives("Shell", "r")]).call([gives("Shell", "m")]).set_cwd("/w/sub");
        assert_eq!(
            newest_tool(&scene.next()),
            "m\n\n<dynamic-context>\n环境变化:\n- 当前目录已切换为：/w/sub，切换后所有 Shell 命令在新目录执行\n</dynamic-context>",
            "{since}"
        );
        assert_eq!(scene.prepared().injected.len(), 1, "{since}");
        assert_eq!(&*scene.prepared().injected[0].layer, "announcement", "{since}");
    }
}

#[test]
fn x04_each_change_is_announced_once() {
    let mut scene = small("built");
    scene.user("go").call([cd("a")]);
    assert!(newest_tool(&scene.next()).ends_with(&announced("/w/a")));
    scene.call([gives("Shell", "same")]);
    assert_eq!(newest_tool(&scene.next()), "same");
    scene.call([cd("b")]);
    assert!(newest_tool(&scene.next()).ends_with(&announced("/w/a/b")));
    assert_eq!(count(&scene.next(), "<dynamic-context>"), 2);
}

#[test]
fn x05_a_change_without_a_tool_message_is_pending_and_not_lost() {
    let mut scene = small("built");
    scene.user("go").call([gives("Shell", "r")]).set_cwd("/w/a").edit_newest_tool(None);
    assert!(tool_texts(&scene.next()).is_empty());
    assert_eq!(scene.prepared().pending.len(), 1, "the change is shown as pending");
    assert!(scene.prepared().injected.is_empty());
    scene.call([gives("Shell", "s")]);
    assert_eq!(newest_tool(&scene.next()), format!("s{}", announced("/w/a")));
    assert!(scene.prepared().pending.is_empty());
    scene.call([gives("Shell", "t")]);
    assert_eq!(newest_tool(&scene.next()), "t", "it is told once");
}

#[test]
fn x06_a_sub_agent_that_stays_is_told_nothing() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").agent("worker", "Do task X", Some("api"));
    scene.call([tool("Read", "path", "price.rs")]).call([gives("Shell", "ok")]);
    assert_eq!(&*scene.next().agent, "main/worker");
    assert_eq!(count(&scene.next(), "<dynamic-context>"), 0);
    assert!(system(&scene.next()).contains("当前目录：/home/shop/api\n"));
}

#[test]
fn x07_a_sub_agent_that_moves_is_told_in_its_next_iteration() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").agent("worker", "Do task X", Some("api")).call([cd("../docs")]);
    let request = scene.next();
    assert_eq!(count(&request, "<dynamic-context>"), 1);
    assert!(newest_tool(&request).contains(&announced("/home/shop/docs")));
    scene.say("done").take(Input::EndAgent);
    assert_eq!(&*scene.next().agent, "main");
    assert_eq!(count(&scene.next(), "<dynamic-context>"), 0, "its parent did not move");
    assert_eq!(&*scene.prepared().cwd, "/home/shop");
}

#[test]
fn x10_the_target_is_the_newest_tool_message_even_where_it_is_not_the_last() {
    let text = SMALL
        .replace("SINCE", "built")
        .replace("marks:", "  - { id: last, in: end, from: { text: last word }, refresh: call }\nmarks:");
    let text = text.replace("layers:", "  end: { of: message, role: user, at: end }\nlayers:");
    let mut scene = Scene::of(&text, &[], Files::of_sample("xbot"));
    scene.user("go").call([cd("a")]);
    let request = scene.next();
    assert_eq!(&**request.blocks.last().expect("blocks").text.text(), "last word");
    assert!(newest_tool(&request).ends_with(&announced("/w/a")));
    assert_eq!(count(&request, "<dynamic-context>"), 1);
}

#[test]
fn x11_tool_text_then_announcement_then_reminder() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").call([cd("api")]);
    let request = scene.next();
    let text = newest_tool(&request);
    let expected = format!(
        "Changed directory to /home/shop/api{}\n\n<system-reminder>\n用户原始需求: go\n已完成 1 次工具调用\n本轮使用: Cd\n\
         行为提醒:\n- 优先编辑已有文件，避免创建新文件\n- 修改后运行测试验证\n- 错误时先分析根因再修改\n</system-reminder>",
        announced("/home/shop/api")
    );
    assert_eq!(text, expected);
    let authors: Vec<&str> =
        request.blocks.last().expect("blocks").text.parts().iter().map(|part| &*part.id).collect();
    assert_eq!(authors, ["tool Cd", "dynamic_context", "reminder"]);
}

#[test]
fn x12_a_change_in_an_iteration_without_tool_calls_waits() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").take(Input::Sent).set_cwd("/home/shop/api");
    assert_eq!(scene.prepared().pending.len(), 1);
    assert_eq!(count(&scene.next(), "<dynamic-context>") + count(&scene.next(), "<system-reminder>"), 0);
    scene.call([gives("Shell", "ok")]);
    let request = scene.next();
    assert!(newest_tool(&request).starts_with(&format!("ok{}", announced("/home/shop/api"))));
    assert_eq!(count(&request, "<system-reminder>"), 1);
}

#[test]
fn x14_a_new_turn_has_a_new_baseline() {
    for variant in [&[][..], &["first_call"], &["empty_is_unset"]] {
        let mut scene = Scene::xbot(variant);
        scene.user("go").call([gives("Shell", "r")]).call([cd("api")]).say("done").user("and now");
        assert_eq!(count(&scene.next(), "<dynamic-context>"), 0, "{variant:?}");
        assert!(system(&scene.next()).contains("\nCWD: /home/shop/api\n"), "the new turn is built with it");
        scene.call([gives("Shell", "r")]);
        assert_eq!(count(&scene.next(), "<dynamic-context>"), 0, "{variant:?}");
    }
}

#[test]
fn x15_the_system_message_stands_still() {
    let mut scene = Scene::xbot(&[]);
    scene.play("cd");
    let first = scene.request(1);
    for call in 2..=4 {
        let request = scene.request(call);
        assert_eq!(system(&request), system(&first), "call {call}");
        assert_eq!(request.zone(Zone::System)[0].hash, first.zone(Zone::System)[0].hash, "call {call}");
        assert_eq!(request.marks, first.marks, "the cache mark behind it, in call {call}");
    }
    assert_eq!(count(&scene.request(2), "<dynamic-context>"), 1);
}

#[test]
fn x16_tags_are_not_persisted_and_still_live() {
    let mut scene = Scene::xbot(&[]);
    scene.play("cd");
    assert_eq!(count(&scene.request(4), "<dynamic-context>"), 1, "live until the end of the turn");
    assert_eq!(count(&scene.request(4), "<system-reminder>"), 3);
    let second_turn = scene.request(5);
    assert_eq!(count(&second_turn, "<dynamic-context>") + count(&second_turn, "<system-reminder>"), 0);
    assert_eq!(tool_texts(&second_turn)[0], "Changed directory to /home/shop/api");
    assert!(scene.session.replayed().iter().all(|block| !block.text.text().contains("<system-reminder>")));

    let mut kept = Scene::xbot(&["keep_tags"]);
    kept.play("cd");
    assert_eq!(count(&kept.request(5), "<dynamic-context>"), 1);
    assert_eq!(count(&kept.request(5), "<system-reminder>"), 3);
}

#[test]
fn x18_without_a_tool_message_there_is_no_reminder() {
    let mut scene = Scene::xbot(&[]);
    scene.user("Hello");
    assert_eq!(count(&scene.next(), "<system-reminder>"), 0);
    scene.say("Hi").user("again");
    assert_eq!(count(&scene.next(), "<system-reminder>"), 0);
}

#[test]
fn x19_the_reminder_names_goal_count_and_tools() {
    let mut scene = Scene::xbot(&[]);
    scene.user("Hello").call([gives("Shell", "ok")]);
    let request = scene.next();
    let text = newest_tool(&request);
    for line in ["用户原始需求: Hello", "已完成 1 次工具调用", "本轮使用: Shell"] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
}

#[test]
fn x19_the_goal_is_that_of_the_first_user_message_and_is_cut_by_characters() {
    let mut scene = Scene::xbot(&[]);
    let long = "改".repeat(501);
    scene.user(&format!("  {long}\n")).call([gives("Shell", "ok")]).say("done");
    scene.user("another").call([gives("Shell", "ok")]);
    let expected = format!("用户原始需求: {}...", "改".repeat(500));
    assert!(newest_tool(&scene.next()).lines().any(|line| line == expected));
}

/// A bench with the reminder as the program has it today: the goal is the last message of the user, and says how far it is.
fn today() -> Scene {
    let reminder = r#"
  - id: reminder
    in: end
    refresh: call
    from:
      text: |-
        <system-reminder>
        {% if call.turn_results == 0 %}用户最新需求: {{ said }}{% else %}用户原始需求（正在处理中，已执行 {{ call.turn_results }} 次工具调用）: {{ said }}{% endif %}
        {% for arguments in call.arguments if "git commit" in arguments %}- 提交后请检查文档是否要更新
        {% endfor %}</system-reminder>
"#;
    let text = SMALL
        .replace("since: SINCE", "since: built")
        .replace("marks:", &format!("{}marks:", reminder.trim_start_matches('\n')))
        .replace("places:\n", "places:\n  end: { of: message, role: user, at: end }\n");
    Scene::of(&text, &[], Files::of_sample("xbot"))
}

#[test]
fn x19_today_the_goal_says_how_far_it_is() {
    let mut scene = today();
    scene.user("Hello").call([gives("Shell", "ok")]);
    let text = "用户原始需求（正在处理中，已执行 1 次工具调用）: Hello";
    assert!(everything(&scene.next()).lines().any(|line| line == text));
}

#[test]
fn x20_without_tool_messages_the_goal_is_the_newest_wish() {
    let mut scene = today();
    scene.user("Hello");
    let text = everything(&scene.next());
    assert!(text.contains("\n用户最新需求: Hello\n") && !text.contains("正在处理中"), "{text}");
    // Tool messages of an earlier turn are none of this one's.
    scene.call([gives("Shell", "ok")]).say("done").user("another");
    let request = scene.next();
    let last = request.blocks.last().expect("a reminder").text.text();
    assert!(last.contains("\n用户最新需求: another\n") && !last.contains("正在处理中"), "{last}");
}

#[test]
fn x25_a_commit_brings_its_reminder_and_a_build_does_not() {
    for (command, there) in [("git commit -m x", true), ("go build ./...", false)] {
        let mut scene = today();
        scene.user("go").call([ToolCall { result: Some("ok".into()), ..tool("Shell", "command", command) }]);
        assert_eq!(everything(&scene.next()).contains("提交后请检查"), there, "{command}");
        // It belongs to the call that committed.
        scene.call([gives("Read", "text")]);
        let request = scene.next();
        assert!(!request.blocks.last().expect("a reminder").text.text().contains("提交后请检查"));
    }
}

#[test]
fn x21_tool_messages_are_counted() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").call([gives("Shell", "1"), gives("Glob", "2")]).call([gives("Grep", "3")]);
    let request = scene.next();
    assert!(newest_tool(&request).contains("\n已完成 3 次工具调用\n本轮使用: Grep\n"));
    assert!(tool_texts(&request)[1].contains("\n已完成 2 次工具调用\n本轮使用: Shell, Glob\n"));
}

#[test]
fn x22_a_sub_agent_is_reminded_of_its_own_task() {
    let mut scene = Scene::xbot(&[]);
    scene.user("The user's wish").agent("worker", "Do task X", None).call([gives("Shell", "ok")]);
    let request = scene.next();
    assert_eq!(&*request.agent, "main/worker");
    assert!(newest_tool(&request).contains("<system-reminder>\n执行任务: Do task X\n"));
    assert_eq!(count(&request, "The user's wish"), 0);
}

#[test]
fn x22_a_sub_agent_has_a_prompt_of_its_own() {
    let mut scene = Scene::xbot(&[]);
    scene.user("The user's wish").agent("reviewer", "Do task X", Some("api"));
    let request = scene.next();
    let system = system(&request);
    assert!(system.starts_with("# 子助手 main/reviewer\n\n你是由 main 派出的子助手。"), "{system}");
    let parts: Vec<&str> = request.zone(Zone::System)[0].text.parts().iter().map(|part| &*part.id).collect();
    assert_eq!(parts, ["sub_prompt", "skills", "sub_project"]);
    assert!(system.contains("\n## 角色描述\n\n代码评审员。") && system.contains("\n## 用户项目背景\n"));
    let user: Vec<&str> = request.zone(Zone::Messages).iter().map(|block| &**block.text.text()).collect();
    assert_eq!(user, ["Do task X"], "it sees its task and nothing of the user's");
}

#[test]
fn x23_the_state_of_the_to_do_list_is_repeated_unless_it_is_empty() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").call([tool("TodoWrite", "summary", "2/5 完成")]);
    assert!(newest_tool(&scene.next()).contains("\nTODO: 2/5 完成\n行为提醒:\n"));
    scene.call([tool("TodoWrite", "summary", "")]);
    assert!(!newest_tool(&scene.next()).contains("TODO"));
}

#[test]
fn x24_the_reminder_never_mentions_context_edit() {
    for run in ["cd", "sub_agent", "failed_send", "context_edit"] {
        let mut scene = Scene::xbot(&["keep_tags"]);
        scene.play(run);
        for record in scene.session.calls() {
            assert!(!everything(&scene.request(record.call.0)).contains("context_edit"), "{run}");
        }
    }
}

#[test]
fn x26_earlier_reminders_are_stripped_under_that_variant_only() {
    let reminders = |variants: &[&str]| {
        let mut scene = Scene::xbot(variants);
        scene.user("go").call([gives("Shell", "1")]).call([gives("Shell", "2")]).call([gives("Shell", "3")]);
        let request = scene.next();
        let with: Vec<bool> =
            tool_texts(&request).iter().map(|text| text.contains("<system-reminder>")).collect();
        // What was sent before is not rewritten by it.
        assert_eq!(count(&scene.request(2), "<system-reminder>"), 1);
        with
    };
    assert_eq!(reminders(&["strip_reminders"]), [false, false, true]);
    assert_eq!(reminders(&[]), [true, true, true]);
}

#[test]
fn x29_a_goal_with_words_of_the_guide_is_kept() {
    for goal in ["请写一个 Fetch 函数", "[1, 2] 排序，用 Skill", "现在时间 显示错了"] {
        let mut scene = Scene::xbot(&[]);
        scene.user(goal).call([gives("Shell", "ok")]);
        assert!(newest_tool(&scene.next()).contains(&format!("\n用户原始需求: {goal}\n")), "{goal}");
    }
}

#[test]
fn x45_tools_follow_at_once_while_the_text_is_stale() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").call([cd("api"), tool("Read", "path", "price.rs")]);
    let Lead::Tools(runs) = &scene.prepared().lead else { panic!("tools led to it") };
    assert_eq!(
        (&*runs[0].cwd, runs[0].stale.len()),
        ("/home/shop", 0),
        "Cd itself ran where the model thought"
    );
    assert_eq!(&*runs[1].cwd, "/home/shop/api");
    assert_eq!(runs[1].stale, ["cwd".into()], "Read ran under stale text");
    let request = scene.next();
    let read = tool_texts(&request)[1];
    assert!(read.starts_with("//! Amounts are whole fen."), "the file in api was read");
    assert!(system(&request).contains("\nCWD: /home/shop\n"), "the system text still says the old one");
    let told = &scene.prepared().told;
    assert_eq!(told.len(), 1);
    assert_eq!((&*told[0].fact, told[0].belief), ("cwd", Belief::Superseded));
    assert_eq!(told[0].last.as_deref(), Some("dynamic_context"));

    // Once it was told, nothing runs under stale text.
    scene.call([tool("Read", "path", "price.rs")]);
    let Lead::Tools(runs) = &scene.prepared().lead else { panic!("tools led to it") };
    assert!(runs[0].stale.is_empty());
}

#[test]
fn x45_where_it_is_never_told_every_later_tool_runs_under_stale_text() {
    let mut scene = Scene::xbot(&["never"]);
    scene.user("go").call([cd("api")]).call([tool("Read", "path", "price.rs")]);
    let Lead::Tools(runs) = &scene.prepared().lead else { panic!("tools led to it") };
    assert_eq!(runs[0].stale, ["cwd".into()]);
    assert_eq!(scene.prepared().told[0].belief, Belief::Stale);
}

#[test]
fn x46_a_batch_is_announced_once_with_its_net_change() {
    let mut scene = small("built");
    scene.user("go").call([cd("a"), cd("b")]);
    assert_eq!(count(&scene.next(), "<dynamic-context>"), 1);
    assert!(newest_tool(&scene.next()).ends_with(&announced("/w/a/b")));
    scene.call([cd("/w"), cd("/w/a/b")]);
    assert_eq!(count(&scene.next(), "<dynamic-context>"), 1, "there and back is no change");
}

#[test]
fn x46_the_order_of_reads_does_not_change_what_they_give() {
    let texts = |order: [&str; 2]| {
        let mut scene = Scene::xbot(&[]);
        scene.user("go").call(order.map(|path| tool("Read", "path", path)));
        let request = scene.next();
        let first = |text: &&str| text.split("\n\n<system-reminder>").next().unwrap_or_default().to_owned();
        let mut texts: Vec<String> = tool_texts(&request).iter().map(first).collect();
        texts.sort();
        (texts, count(&request, "<system-reminder>"))
    };
    assert_eq!(texts(["api/price.rs", "web/money.ts"]), texts(["web/money.ts", "api/price.rs"]));
}

#[test]
fn x47_without_the_injector_nothing_is_left_of_it() {
    let never_had = Scene::xbot_but(|text| {
        let from = text.find("  - id: dynamic_context\n").expect("the layer");
        let to = text.find("  - id: reminder\n").expect("the layer behind it");
        let variants = text.find("variants:\n").expect("variants");
        let runs = text.find("runs:\n").expect("runs");
        format!("{}{}{}", &text[..from], &text[to..variants], &text[runs..])
    });
    let taken_out =
        Scene::xbot_but(|text| text.replace("    run: 300\n", "    run: 300\n    when: \"false\"\n"));
    for run in ["cd", "first_cd", "failed_send", "context_edit", "sub_agent"] {
        let (mut one, mut two) = (never_had.clone(), taken_out.clone());
        one.play(run);
        two.play(run);
        assert_eq!(one.session.calls().len(), two.session.calls().len());
        for call in 1..=one.session.calls().len() as u32 {
            assert_eq!(bytes(&one.request(call)), bytes(&two.request(call)), "{run}, call {call}");
        }
        let stored =
            |scene: &Scene| scene.session.replayed().iter().map(|block| block.hash).collect::<Vec<_>>();
        assert_eq!(stored(&one), stored(&two), "{run}");
    }
}

#[test]
fn x48_an_edit_of_the_newest_tool_message_loses_no_change() {
    for text in [None, Some("…")] {
        let mut scene = small("built");
        scene.user("go").call([cd("a")]).call([gives("Shell", "r")]);
        scene.edit_newest_tool(text);
        assert!(scene.prepared().injected.is_empty() && scene.prepared().pending.is_empty(), "{text:?}");
        scene.call([cd("b")]);
        assert!(newest_tool(&scene.next()).ends_with(&announced("/w/a/b")), "{text:?}");
        assert_eq!(count(&scene.next(), "<dynamic-context>"), 2, "{text:?}");
    }
}

#[test]
fn x48_a_deleted_result_is_no_longer_counted() {
    let mut scene = Scene::xbot(&[]);
    scene.user("go").call([cd("api")]).call([gives("Shell", "r")]);
    scene.edit_newest_tool(None);
    scene.call([cd("../docs")]);
    // Cd, then Shell, whose result was deleted, then Cd.
    let told = newest_tool(&scene.next()).to_owned();
    assert!(told.contains("已完成 2 次工具调用"), "{told}");
}

#[test]
fn x48_an_edit_of_the_message_that_was_to_carry_it_keeps_the_change() {
    let mut scene = small("built");
    scene.user("go").call([cd("a")]);
    scene.edit_newest_tool(Some("rewritten"));
    assert_eq!(newest_tool(&scene.next()), format!("rewritten{}", announced("/w/a")));
    scene.edit_newest_tool(None);
    assert_eq!(scene.prepared().pending.len(), 1);
    scene.call([gives("Shell", "r")]);
    assert_eq!(newest_tool(&scene.next()), format!("r{}", announced("/w/a")));
}

#[test]
fn x49_a_change_by_the_first_tool_is_told_unless_the_baseline_swallows_it() {
    for (variant, times) in [(&[][..], 1), (&["first_call"], 0), (&["empty_is_unset"], 0)] {
        let mut scene = Scene::xbot(variant);
        scene.user("go").call([cd("api")]).call([gives("Shell", "r")]);
        assert_eq!(count(&scene.next(), "<dynamic-context>"), times, "{variant:?}");
        assert_eq!(count(&scene.request(2), "<dynamic-context>"), times, "{variant:?}");
        let belief = if times == 1 { Belief::Superseded } else { Belief::Stale };
        assert_eq!(scene.prepared().told[0].belief, belief, "{variant:?}");
    }
}

#[test]
fn x49_an_empty_baseline_is_a_value_unless_the_bench_says_it_is_none() {
    for (since, times) in [("built", 1), ("first", 1), ("empty_is_unset", 0)] {
        let text = SMALL.replace("SINCE", since).replace("facts: { cwd: /w }", "facts: { cwd: \"\" }");
        let mut scene = Scene::of(&text, &[], Files::of_sample("xbot"));
        scene.user("go").call([gives("Shell", "r")]).call([cd("/a")]);
        assert_eq!(count(&scene.next(), "<dynamic-context>"), times, "{since}");
    }
}

#[test]
fn x50_a_failed_send_tells_nothing_and_the_retry_tells_it_once() {
    let mut scene = Scene::xbot(&[]);
    scene.play("failed_send");
    let (failed, retry, after) = (scene.request(2), scene.request(3), scene.request(4));
    assert_eq!(count(&failed, "<dynamic-context>"), 1, "the failed request carried it");
    assert_eq!(count(&retry, "<dynamic-context>"), 1, "and so does the retry, once");
    assert_eq!(bytes(&failed), bytes(&retry));
    assert_eq!(scene.session.calls()[2].injected[0].layer, "dynamic_context".into());
    assert_eq!(count(&after, "<dynamic-context>"), 1, "and nobody says it again");
    assert!(scene.session.calls()[3].injected.iter().all(|injected| &*injected.layer != "dynamic_context"));
    assert_eq!(scene.session.calls()[1].call, CallNo(2));
}

#[test]
fn the_sample_is_made_of_the_design_dates_middlewares() {
    let scene = Scene::xbot(&[]);
    let bench = scene.session.bench();
    let mut listed: Vec<(i64, &str, &str)> = bench
        .layers
        .iter()
        .filter(|layer| layer.run <= 200 && !matches!(&*layer.id, "sub_prompt" | "sub_project" | "task"))
        .map(|layer| (layer.run, &*layer.id, layer.key.as_deref().unwrap_or("")))
        .collect();
    listed.sort();
    assert_eq!(
        listed,
        [
            (0, "system_prompt", "00_base"),
            (1, "project_hint", "05_project_hint"),
            (5, "channel", "05_channel"),
            (100, "skills", "10_skills"),
            (110, "agents", "15_agents"),
            (120, "memory", "20_memory"),
            (130, "sender", "30_sender"),
            (200, "user_message", ""),
        ]
    );
}

#[test]
fn the_sample_breaks_at_the_directory_in_line_9() {
    let mut scene = Scene::xbot(&[]);
    scene.play("cd");
    let (before, after) = (scene.request(4), scene.request(5));
    let (before, after) = (system(&before), system(&after));
    let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    assert_eq!(same, 386);
    let whole = scene.request(5);
    let (_, span) = whole.zone(Zone::System)[0].text.span_at(380).expect("a byte of the directory");
    let plywood::core::text::Made::Fact { key, placeholder: Some((source, range)), .. } = &span.origin.made
    else {
        panic!("the directory is a fact: {:?}", span.origin.made)
    };
    assert_eq!(
        (key.to_string().as_str(), &*span.origin.part, &*source.name),
        ("cwd", "system_prompt", "prompt.md")
    );
    let at = source.position(range.start);
    assert_eq!((at.line, &source.text[range.clone()]), (9, "cwd"));
}

#[test]
fn the_sample_renders_exactly() {
    let mut scene = Scene::xbot(&[]);
    scene.user("Hello");
    let request = scene.next();
    let user = request.blocks.iter().find(|block| block.kind == BlockKind::User).expect("a user message");
    let text = user.text.text();
    assert!(text.starts_with("[2026-04-01 09:00:00 CST] [alice]\nHello\n\n[系统引导] "), "{text}");
    assert!(text.ends_with("\n现在时间：2026-04-01 09:00:00 CST\n"), "{text}");
    let system = system(&request);
    let at = |what: &str| system.find(what).unwrap_or_else(|| panic!("no {what}"));
    let order = [
        "# xbot\n",
        "\n## 渠道：飞书\n",
        "\n## 已知项目\n",
        "\n# 可用技能\n",
        "\n# 可派出的子助手\n",
        "\n# Memory\n\n",
        "\n\n## Current Sender\nName: alice\n",
    ];
    let places: Vec<usize> = order.iter().map(|what| at(what)).collect();
    assert!(places.is_sorted(), "the parts stand in the order of their keys: {places:?}");
    assert!(
        system.contains("### 项目 1\n")
            && system.contains("### 项目 3\n")
            && !system.contains("### 项目 4\n")
    );
}
