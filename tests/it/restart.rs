//! What takes messages out of a conversation, or copies them: compaction, the ends of a session, forks.

use std::sync::Arc;

use plywood::core::cache::{Lane, Simulator, Verdict};
use plywood::core::fact::{FilePath, Found, Value};
use plywood::core::run::{Compaction, Input, Player, SessionEnd, ToolCall};
use plywood::core::wire::CallNo;

use crate::support::{Memory, player};

const BENCH: &str = r#"
bench: 1
name: small
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { mood: calm }
tools: [ { names: [Cd, Shell] } ]
simulate: { Cd: { set: cwd, from: path } }
places:
  system: { of: system, order: listed, join: "\n" }
  end: { of: newest_tool, join: "\n", none: wait }
layers:
  - { id: base, in: system, from: { text: "Work in {{ cwd }}." } }
  - { id: frozen, in: system, from: { text: "Be {{ mood }}." }, refresh: session }
  - { id: moved, in: end, from: { text: "<cwd>{{ cwd }}</cwd>" }, refresh: { change: [cwd], since: built }, keep: { persist: strip } }
"#;

struct Stage {
    player: Player,
    memory: Memory,
}

impl Stage {
    fn new() -> Stage {
        let mut memory = Memory::default();
        // The bench begins with an empty conversation of its own: a script makes it wait for the user.
        let text = format!("{BENCH}runs:\n  r:\n    - note: begin\n");
        let player = player(&text, &[], &mut memory);
        Stage { player, memory }
    }

    fn take(&mut self, input: Input) -> &mut Stage {
        self.player.input(input, &mut self.memory).expect("it can happen");
        self
    }

    fn refused(&mut self, input: Input) -> String {
        self.player.input(input, &mut self.memory).expect_err("it cannot happen").to_string()
    }

    fn user(&mut self, text: &str) -> &mut Stage {
        self.take(Input::User(text.into()))
    }

    fn say(&mut self, text: &str) -> &mut Stage {
        self.take(Input::Say(text.into()))
    }

    fn tool(&mut self, tool: &str, value: &str) -> &mut Stage {
        let args = [("path".into(), Value::text(value))].into_iter().collect();
        let result = (tool != "Cd").then(|| Arc::from(format!("did {value}")));
        let call = ToolCall { tool: tool.into(), args, result, ..ToolCall::default() };
        self.take(Input::Call { text: None, calls: vec![call] })
    }

    fn compact(&mut self, keep: u32, rebuild: bool) -> &mut Stage {
        self.take(Input::Compact(Compaction { summary: "SO FAR".into(), keep, rebuild }))
    }

    fn texts(&self, call: u32) -> Vec<String> {
        let request = self.player.session().request(CallNo(call)).expect("there is such a call");
        let texts =
            request.blocks.iter().filter(|block| block.message.is_some() || block.name.contains("system"));
        texts.map(|block| block.text.text().to_string()).collect()
    }

    fn next(&self) -> Vec<String> {
        self.texts(self.player.session().next_call().0)
    }
}

#[test]
fn a_summary_takes_the_place_of_what_was_said() {
    let mut stage = Stage::new();
    stage.user("one").say("two").user("three").say("four").user("five");
    stage.compact(2, false);
    assert_eq!(stage.next(), ["Work in /w.\nBe calm.", "SO FAR", "four", "five"]);
    assert_eq!(stage.texts(2)[1..], ["one", "two", "three"], "what was sent stays what it was");
    stage.say("six").user("seven");
    assert_eq!(stage.next()[1..], ["SO FAR", "four", "five", "six", "seven"]);
}

#[test]
fn a_result_stays_with_its_call() {
    let mut stage = Stage::new();
    stage.user("one").tool("Shell", "a");
    stage.compact(1, false);
    assert_eq!(stage.next()[1..], ["SO FAR", "{\"path\":\"a\"}", "did a"]);
    // An announcement that waits for a tool message still finds one.
    stage.tool("Cd", "x");
    assert_eq!(stage.next().last().expect("a result"), "Changed directory to /w/x\n<cwd>/w/x</cwd>");
}

#[test]
fn everything_can_be_summed_up_in_the_middle_of_a_turn() {
    let mut stage = Stage::new();
    stage.user("one").tool("Cd", "x");
    stage.compact(0, false);
    assert_eq!(stage.next()[1..], ["SO FAR"]);
    stage.tool("Shell", "b").say("done");
    stage.user("two");
    assert_eq!(stage.next()[0], "Work in /w/x.\nBe calm.");
    assert_eq!(stage.next()[1..], ["SO FAR", "{\"path\":\"b\"}", "did b", "done", "two"]);
}

#[test]
fn layers_of_a_session_are_made_again_where_a_compaction_says_so() {
    for (rebuild, mood) in [(false, "calm"), (true, "bold")] {
        let mut stage = Stage::new();
        stage.user("one").say("two");
        stage.take(Input::Set([("mood".into(), Value::text("bold"))].into_iter().collect()));
        stage.user("three").compact(0, rebuild);
        assert_eq!(stage.next()[0], format!("Work in /w.\nBe {mood}."));
    }
}

#[test]
fn a_new_session_begins_without_history() {
    let mut stage = Stage::new();
    stage.user("one").say("two");
    stage.take(Input::Set([("mood".into(), Value::text("bold"))].into_iter().collect()));
    stage.take(Input::Session(SessionEnd::End));
    stage.user("three");
    assert_eq!(stage.next(), ["Work in /w.\nBe bold.", "three"]);
    assert_eq!(stage.player.session().fact("goal").expect("a goal").0.to_string(), "three");
    assert_eq!(stage.texts(1)[1..], ["one"]);
}

#[test]
fn a_resumed_session_replays_what_was_persisted() {
    let mut stage = Stage::new();
    stage.user("one").tool("Cd", "x");
    assert!(stage.next().last().expect("a result").contains("<cwd>"));
    let refused = stage.refused(Input::Session(SessionEnd::Resume));
    assert_eq!(refused, "a request waits to be sent: only a crash ends a session now");
    stage.say("two");
    stage.take(Input::Session(SessionEnd::Resume));
    stage.user("three");
    let next = stage.next();
    assert_eq!(next[0], "Work in /w/x.\nBe calm.");
    assert_eq!(next[1..], ["one", "{\"path\":\"x\"}", "Changed directory to /w/x", "two", "three"]);
}

#[test]
fn a_crash_loses_the_turn_that_was_under_way() {
    let mut stage = Stage::new();
    stage.user("one").say("two").user("three").tool("Shell", "a");
    stage.take(Input::Session(SessionEnd::Crash));
    assert!(stage.player.session().prepared().is_none());
    stage.user("four");
    assert_eq!(stage.next()[1..], ["one", "two", "four"]);
    assert_eq!(stage.texts(2)[1..], ["one", "two", "three"]);
}

#[test]
fn a_fork_begins_with_what_its_parent_was_sent() {
    let mut stage = Stage::new();
    stage.user("one").say("two").user("three");
    let before = stage.next();
    stage.take(Input::StartAgent { role: "look".into(), goal: "four".into(), cwd: None, fork: true });
    assert_eq!(stage.next()[..before.len()], before, "the whole prefix is shared");
    assert_eq!(stage.next().last().expect("a goal"), "four");
    stage.say("five").take(Input::EndAgent);
    let next = stage.next();
    assert_eq!(next[..before.len()], before);
    assert_eq!(next[next.len() - 1], "five", "the answer is the result of the parent's call");
}

/// The verdict on a summed-up conversation has a name of its own, with what it costs.
#[test]
fn a_compaction_is_named_in_the_verdict() {
    let mut stage = Stage::new();
    let long = "A sentence that is long enough to be worth something in the cache. ".repeat(120);
    stage.user(&long).say(&long).user("go on");
    stage.say("done").compact(0, false).user("next");
    let session = stage.player.session();
    let models = Arc::new(plywood::io::models::embedded());
    let mut counters = plywood::app::engine::Counters::default();
    let mut simulator = Simulator::new(models, [Lane::AsSent]);
    let outcomes: Vec<_> = (1..=3)
        .map(|call| simulator.call(&session.request(CallNo(call)).expect("a call"), &mut counters).remove(0))
        .collect();
    assert_eq!(outcomes[1].verdict, Verdict::Appended);
    assert_eq!(outcomes[2].verdict, Verdict::Compacted);
    // What was written once is not sent again, so it is not paid again: a summary is dear where it is followed by much.
    assert_eq!(outcomes[2].lost(), Some(0));
    assert!(outcomes[1].read().expect("it is counted") > 1_000 && outcomes[2].read() == Some(0));
}

/// The lines of a run, and what is wrong with them.
#[test]
fn runs_can_be_compacted_ended_and_forked() {
    let text = format!(
        "{BENCH}runs:\n  r:\n    - user: one\n    - say: two\n    - compact: {{ summary: SO FAR, keep: 0 }}\n    - user: three\n    - session: crash\n    - user: four\n    - agent: {{ role: look, goal: five, fork: true, run: [ {{ say: six }} ] }}\n    - say: seven\n    - session: end\n    - user: eight\n    - say: nine\n"
    );
    let mut memory = Memory::default();
    let mut player = player(&text, &[], &mut memory);
    while player.beat(&mut memory).expect("the run can be played") {}
    assert_eq!(player.session().calls().len(), 5);
    let broken = text.replace("    - session: crash\n", "    - session: resume\n");
    let mut beside = |_: &FilePath| Found::Absent;
    let problems = plywood::io::syntax::open("bench.yaml", broken.as_str(), &[], &mut beside)
        .expect_err("a session cannot end in the middle of a turn");
    assert!(problems[0].message.contains("in the middle of a turn"), "{}", problems[0]);
}
