//! Sessions: what a call was sent stays what it was, however the session goes on.

use std::sync::Arc;

use plywood::core::fact::{Base, FilePath, Value};
use plywood::core::run::{Compaction, EditTarget, Input, Player, Session, SessionEnd, ToolCall};
use plywood::core::wire::{CallNo, Request};
use proptest::prelude::*;

use crate::support::{Memory, player};

pub(crate) const BENCH: &str = r#"
bench: 1
name: small
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { mood: calm }
read: { rules: { file: AGENTS.md } }
tools: [ { names: [Cd, Read, Edit, Shell] } ]
simulate: { Cd: { set: cwd, from: path }, Read: { file: path }, Edit: { write: path } }
places:
  system: { of: system, order: key, join: "\n" }
  user: { of: current_user, join: " " }
  end: { of: newest_tool, join: "\n\n", none: wait }
  own: { of: message, role: user, at: end }
  told: { of: message, role: developer, at: end, join: blocks }
  ahead: { of: message, role: user, at: before_current, join: blocks }
layers:
  - { id: base, in: system, key: "1", from: { text: "Work in {{ cwd }}. Be {{ mood }}." } }
  - { id: rules, in: system, key: "2", when: rules, from: { fact: rules }, refresh: call }
  - { id: frozen, in: system, key: "3", from: { text: "Began at {{ cwd }}." }, refresh: session }
  - { id: said, in: user, from: { said: user } }
  - { id: time, in: user, from: { text: "[{{ now | minute }}]" }, keep: { persist: strip } }
  - { id: moved, in: end, from: { text: "<cwd>{{ cwd }}</cwd>" }, refresh: { change: [cwd], since: built }, keep: { persist: strip } }
  - { id: reminder, in: end, when: call.tools, from: { text: "<r>{{ goal }} {{ call.results }}</r>" }, refresh: call, keep: { earlier: strip, persist: strip } }
  - { id: first, in: ahead, when: turn == 1, from: { text: "First." } }
  - { id: again, in: ahead, from: { text: "Turn {{ turn }}." } }
  - { id: told_tools, in: told, when: call.tools, from: { text: "Tools: {{ call.tools | join }}" }, refresh: call }
  - { id: told_mood, in: told, when: mood == "bold", from: { text: "Bold!" }, refresh: call }
  - { id: mood, in: own, from: { text: "Mood: {{ mood }}" }, refresh: { change: [mood], since: built } }
"#;

pub(crate) fn inputs() -> impl Strategy<Value = Input> {
    let name = prop_oneof![Just("a"), Just("b"), Just("../c"), Just("/w")];
    let call = (name.clone(), prop_oneof![Just("Cd"), Just("Read"), Just("Edit"), Just("Shell")]).prop_map(
        |(path, tool)| {
            let args = [("path".into(), Value::text(path)), ("text".into(), Value::text("new"))]
                .into_iter()
                .collect();
            let result = (tool == "Shell").then(|| Arc::from("done"));
            ToolCall { tool: tool.into(), args, result, ..ToolCall::default() }
        },
    );
    prop_oneof![
        3 => Just(Input::User("go on".into())),
        6 => (prop::option::of(Just(Arc::from("I look."))), prop::collection::vec(call, 1..4))
            .prop_map(|(text, calls)| Input::Call { text, calls }),
        2 => Just(Input::Say("done".into())),
        1 => Just(Input::FailedSend("529".into())),
        1 => Just(Input::Sent),
        2 => name.prop_map(|to| Input::Set([("cwd".into(), Value::text(format!("/w/{to}")))].into_iter().collect())),
        1 => prop_oneof![Just("calm"), Just("bold")].prop_map(|mood| Input::Set([("mood".into(), Value::text(mood))].into_iter().collect())),
        1 => any::<u8>().prop_map(|n| Input::Write { path: FilePath::new(Base::Workspace, "AGENTS.md"), text: format!("rule {n}").into() }),
        1 => Just(Input::Delete(FilePath::new(Base::Workspace, "AGENTS.md"))),
        1 => Just(Input::Advance(90)),
        1 => Just(Input::ContextEdit { target: EditTarget::NewestTool, text: None }),
        1 => Just(Input::ContextEdit { target: EditTarget::NewestTool, text: Some("short".into()) }),
        1 => Just(Input::Compact(Compaction { summary: "so far".into(), keep: 2, rebuild: false })),
        1 => Just(Input::Session(SessionEnd::Crash)),
        1 => Just(Input::StartAgent { role: "forked".into(), goal: "look".into(), cwd: None, fork: true }),
        1 => Just(Input::StartAgent { role: "worker".into(), goal: "look".into(), cwd: Some("a".into()), fork: false }),
        1 => Just(Input::EndAgent),
        1 => Just(Input::Note("a caption".into())),
    ]
}

/// The blocks of a request: what tells each apart, and its text.
pub(crate) type Bytes = Vec<(String, String)>;

fn bytes(request: &Request) -> Bytes {
    request
        .blocks
        .iter()
        .map(|b| (format!("{:?} {} {:?}", b.kind, b.name, b.message), b.text.text().to_string()))
        .collect()
}

pub(crate) fn play(inputs: &[Input]) -> (Player, Vec<Input>, Vec<Bytes>) {
    play_seen(inputs, &mut |_| {})
}

/// Plays, and shows the session after each input that it took.
pub(crate) fn play_seen(inputs: &[Input], see: &mut dyn FnMut(&Session)) -> (Player, Vec<Input>, Vec<Bytes>) {
    let mut memory = Memory::default();
    memory.put("AGENTS.md", "first rules").put("a", "text of a");
    let mut player = player(BENCH, &[], &mut memory);
    let mut taken = Vec::new();
    let mut sent: Vec<Bytes> = Vec::new();
    for input in inputs {
        let before = player.session().prepared().map(|record| record.call);
        let request = before.and_then(|call| player.session().request(call));
        if player.input(input.clone(), &mut memory).is_ok() {
            taken.push(input.clone());
            if player.session().calls().len() > sent.len() {
                sent.push(bytes(&request.expect("what was sent was prepared")));
            }
            see(player.session());
        }
    }
    (player, taken, sent)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever happens later, a call's request read back from the log is what was prepared and sent then.
    #[test]
    fn stepping_back_gives_what_was_sent(inputs in prop::collection::vec(inputs(), 1..200)) {
        let (player, _, sent) = play(&inputs);
        for (index, expected) in sent.iter().enumerate() {
            let request = player.session().request(CallNo(index as u32 + 1)).expect("a call that was sent");
            prop_assert_eq!(&bytes(&request), expected, "call {}", index + 1);
        }
    }

    /// A fresh run up to a call gives the bytes that stepping back to it shows.
    #[test]
    fn stepping_back_equals_a_fresh_run(inputs in prop::collection::vec(inputs(), 1..120), pick in any::<prop::sample::Index>()) {
        let (player, taken, sent) = play(&inputs);
        prop_assume!(!sent.is_empty());
        let call = pick.index(sent.len()) as u32 + 1;
        let back = bytes(&player.session().request(CallNo(call)).expect("a call that was sent"));
        let mut calls = 0;
        let cut = taken.iter().position(|input| { calls += u32::from(input.answers()); calls == call }).expect("the answer");
        let (fresh, _, _) = play(&taken[..=cut]);
        prop_assert_eq!(bytes(&fresh.session().request(CallNo(call)).expect("the call")), back);
    }

    /// The spans of every text tile it, and the shared prefix is what it says it is.
    #[test]
    fn every_byte_has_one_owner(inputs in prop::collection::vec(inputs(), 1..80)) {
        let (player, _, sent) = play(&inputs);
        for call in 1..=sent.len() as u32 {
            let request = player.session().request(CallNo(call)).expect("a call that was sent");
            for block in &request.blocks {
                let text = &block.text;
                prop_assert_eq!(text.spans().last().map_or(0, |span| span.end), text.len());
                let mut end = 0;
                for part in text.parts() {
                    prop_assert_eq!(part.start, end);
                    prop_assert!(part.start <= part.body && part.body <= part.end);
                    end = part.end;
                }
                prop_assert_eq!(end, text.len());
            }
            let agent = &request.agent;
            let earlier = (1..call).rev().filter_map(|call| player.session().request(CallNo(call))).find(|before| {
                before.agent == *agent && !matches!(player.session().calls()[before.call.0 as usize - 1].answer, Some(plywood::core::run::Answer::Failed(_)))
            });
            let before = earlier.map_or(Vec::new(), |before| before.blocks);
            prop_assert!(request.shared <= before.len());
            for (a, b) in before.iter().zip(&request.blocks).take(request.shared) {
                prop_assert_eq!(a.hash, b.hash);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    /// A long session, stepped back to any call.
    #[test]
    fn a_thousand_inputs_and_back(inputs in prop::collection::vec(inputs(), 1000..1001), picks in prop::collection::vec(any::<prop::sample::Index>(), 3)) {
        let (player, taken, sent) = play(&inputs);
        for pick in picks {
            let call = pick.index(sent.len()) as u32 + 1;
            let back = bytes(&player.session().request(CallNo(call)).expect("a call that was sent"));
            prop_assert_eq!(&back, &sent[call as usize - 1]);
            let mut calls = 0;
            let cut = taken.iter().position(|input| { calls += u32::from(input.answers()); calls == call }).expect("the answer");
            let (fresh, _, _) = play(&taken[..=cut]);
            prop_assert_eq!(bytes(&fresh.session().request(CallNo(call)).expect("the call")), back);
        }
    }
}

#[test]
fn a_change_waits_for_a_tool_message_and_is_told_once() {
    let mut memory = Memory::default();
    memory.put("AGENTS.md", "rules");
    let mut player = player(BENCH, &[], &mut memory);
    let mut step =
        |player: &mut Player, input: Input| player.input(input, &mut memory).expect("it can happen");
    let cwd = |to: &str| Input::Set([("cwd".into(), Value::text(to))].into_iter().collect());
    let shell = || Input::Call {
        text: None,
        calls: vec![ToolCall { tool: "Shell".into(), result: Some("ok".into()), ..ToolCall::default() }],
    };
    step(&mut player, shell());
    step(&mut player, cwd("/w/a"));
    let told = |player: &Player| {
        let request = player
            .session()
            .prepared()
            .and_then(|record| player.session().request(record.call))
            .expect("prepared");
        request.blocks.iter().map(|block| block.text.text().matches("<cwd>").count()).sum::<usize>()
    };
    assert_eq!(told(&player), 1);
    step(&mut player, Input::FailedSend("529".into()));
    assert_eq!(told(&player), 1, "a failed send tells nothing, so the retry tells it");
    step(&mut player, shell());
    assert_eq!(told(&player), 1, "told once");
    step(&mut player, cwd("/w/b"));
    assert_eq!(told(&player), 2, "the next change is told in the next message");
    step(&mut player, Input::ContextEdit { target: EditTarget::NewestTool, text: None });
    assert_eq!(player.session().prepared().map(|record| record.pending.len()), Some(1), "no place: it waits");
    step(&mut player, shell());
    assert_eq!(told(&player), 2, "it arrives with the next tool message");
    step(&mut player, Input::Say("done".into()));
    step(&mut player, Input::User("more".into()));
    assert_eq!(told(&player), 0, "persisting strips it");
}
