//! The injectors: what was told, what waits, and what nobody ever hears of.

use plywood::core::fact::Value;
use plywood::core::run::{Fate, Injector, Input, Player, Session, Waiting, WatchedFact};
use plywood::core::wire::CallNo;
use proptest::prelude::*;

use crate::session::{inputs, play};
use crate::support::{Memory, player};

fn bench(since: &str, cwd: &str) -> String {
    format!(
        r#"
bench: 1
name: small
model: openai:gpt-5.4
workspace: {{ path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }}
facts: {{ cwd: "{cwd}" }}
tools: [ {{ names: [Cd, Shell] }} ]
simulate: {{ Cd: {{ set: cwd, from: path }} }}
places:
  system: {{ of: system }}
  user: {{ of: current_user }}
  end: {{ of: newest_tool, join: "\n", none: wait }}
layers:
  - {{ id: base, in: system, from: {{ text: "Work in {{{{ cwd }}}}." }}, refresh: turn }}
  - {{ id: said, in: user, from: {{ said: user }} }}
  - {{ id: moved, in: end, from: {{ text: "<cwd>{{{{ cwd }}}}</cwd>" }}, refresh: {{ change: [cwd], since: {since} }} }}
  - {{ id: reminder, in: end, when: call.tools, from: {{ text: "<r>" }}, refresh: call }}
"#
    )
}

/// A session that took these inputs, after its first message.
fn after(since: &str, cwd: &str, inputs: &[Input]) -> Session {
    let mut memory = Memory::default();
    let mut player: Player = player(&bench(since, cwd), &[], &mut memory);
    for input in inputs {
        player.input(input.clone(), &mut memory).unwrap_or_else(|refused| panic!("{input:?}: {}", refused.0));
    }
    player.session().clone()
}

fn cd(path: &str) -> Input {
    tool("Cd", path)
}

fn tool(name: &str, path: &str) -> Input {
    let args = [("path".into(), Value::text(path))].into_iter().collect();
    let result = (name == "Shell").then(|| "done".into());
    let call = plywood::core::run::ToolCall { tool: name.into(), args, result, ..Default::default() };
    Input::Call { text: None, calls: vec![call] }
}

fn set(cwd: &str) -> Input {
    Input::Set([("cwd".into(), Value::text(cwd))].into_iter().collect())
}

/// The injector `moved` at the newest call.
fn moved(session: &Session) -> Injector {
    let call = session.prepared().map_or(CallNo(session.calls().len() as u32), |record| record.call);
    session.injectors(call).into_iter().find(|injector| &*injector.layer == "moved").expect("the injector")
}

fn fates(fact: &WatchedFact) -> Vec<&Fate> {
    fact.changes.iter().map(|change| &change.fate).collect()
}

#[test]
fn a_change_by_the_first_tool_is_staged_then_told() {
    let session = after("built", "/w", &[cd("a")]);
    let injector = moved(&session);
    let fact = &injector.facts[0];
    assert!(matches!(fates(fact)[..], [Fate::Staged { call: CallNo(2), .. }]), "{fact:?}");
    assert_eq!((fact.base.as_deref(), fact.now.as_deref()), (Some("/w"), Some("/w/a")));
    assert_eq!(fact.told, None, "it is not told before it is sent");
    assert!(matches!(&injector.pending, Some(Waiting::Staged(staged)) if staged.call == CallNo(2)));

    let session = after("built", "/w", &[cd("a"), tool("Shell", "x")]);
    let injector = moved(&session);
    let fact = &injector.facts[0];
    assert!(matches!(fates(fact)[..], [Fate::Told { call: CallNo(2), .. }]), "{fact:?}");
    assert_eq!(fact.told, Some(("/w/a".into(), CallNo(2))));
    assert_eq!(injector.told.len(), 1);
    assert_eq!(&*session.event(injector.told[0].events[0]).label, "Cd in call 1");
    assert_eq!((fact.base.as_deref(), &injector.pending), (Some("/w/a"), &None));
}

#[test]
fn a_failed_send_is_on_record_and_told_with_the_next_call() {
    let session = after("built", "/w", &[cd("a"), Input::FailedSend("529".into()), tool("Shell", "x")]);
    let injector = moved(&session);
    let change = &injector.facts[0].changes[0];
    assert_eq!(change.failed, [CallNo(2)]);
    assert!(matches!(change.fate, Fate::Told { call: CallNo(3), .. }), "{change:?}");
    let told: Vec<(u32, bool)> = injector.told.iter().map(|told| (told.call.0, told.failed)).collect();
    assert_eq!(told, [(2, true), (3, false)]);
}

#[test]
fn without_a_place_it_waits_and_says_for_what() {
    // Sent once more without tools: there is no tool message in this iteration.
    let session = after(
        "built",
        "/w",
        &[tool("Shell", "x"), Input::Say("done".into()), Input::User("on".into()), Input::Sent, set("/w/b")],
    );
    let injector = moved(&session);
    assert!(
        matches!(&injector.pending, Some(Waiting::NoPlace(waits, text)) if &**waits == "a tool message" && text.text().contains("/w/b")),
        "{:?}",
        injector.pending
    );
    assert!(matches!(fates(&injector.facts[0])[..], [Fate::Pending { .. }]));
}

#[test]
fn what_changed_back_or_was_replaced_before_it_was_told_is_said_so() {
    let session = after("built", "/w", &[tool("Shell", "x"), set("/w/b"), set("/w"), tool("Shell", "y")]);
    let injector = moved(&session);
    let fact = &injector.facts[0];
    assert!(matches!(fates(fact)[0], Fate::ChangedBack { .. }), "{fact:?}");
    assert!(fates(fact)[0].is_lost() && injector.told.is_empty());

    let session = after("built", "/w", &[tool("Shell", "x"), set("/w/b"), set("/w/c"), tool("Shell", "y")]);
    let injector = moved(&session);
    let fact = &injector.facts[0];
    assert!(matches!(fates(fact)[0], Fate::Replaced { with, .. } if &**with == "/w/c"), "{fact:?}");
    assert!(matches!(fates(fact)[1], Fate::Told { .. }), "{fact:?}");
    assert!(!fates(fact)[0].is_lost(), "the net change is told");
}

#[test]
fn baselines_of_other_rules_swallow() {
    // The first look only takes note, so the first tool's change is swallowed.
    let session = after("first", "/w", &[cd("a"), tool("Shell", "x")]);
    let injector = moved(&session);
    assert!(matches!(fates(&injector.facts[0])[..], [Fate::Swallowed { call: CallNo(2) }]), "{injector:?}");
    assert!(injector.told.is_empty());
    // An empty baseline counts as none, so the change from empty is swallowed.
    let session = after("empty_is_unset", "", &[tool("Shell", "x"), cd("/w/a"), tool("Shell", "y")]);
    let injector = moved(&session);
    assert!(matches!(fates(&injector.facts[0])[..], [Fate::Swallowed { call: CallNo(3) }]), "{injector:?}");
    // The default tells it.
    let session = after("built", "", &[tool("Shell", "x"), cd("/w/a"), tool("Shell", "y")]);
    assert!(matches!(fates(&moved(&session).facts[0])[..], [Fate::Told { call: CallNo(3), .. }]));
}

#[test]
fn what_a_rebuilt_layer_says_needs_no_telling() {
    // The turn ends, the CWD changes, and the next turn builds the system prompt with it.
    let inputs = [tool("Shell", "x"), Input::Say("done".into()), set("/w/b"), Input::User("on".into())];
    let session = after("built", "/w", &inputs);
    let fact = &moved(&session).facts[0];
    match fates(fact)[..] {
        [Fate::Said { call: CallNo(3), by }] => {
            assert_eq!(by.iter().map(|by| &**by).collect::<Vec<_>>(), ["base"]);
        }
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn stale_calls_are_counted_from_the_change_on() {
    let inputs = [tool("Shell", "x"), set("/w/b"), tool("Shell", "y")];
    let fact = &moved(&after("built", "/w", &inputs)).facts[0];
    assert_eq!((&fact.stale[..], &fact.superseded[..]), (&[][..], &[CallNo(2), CallNo(3)][..]), "{fact:?}");
}

#[test]
fn every_injector_is_listed_with_what_it_said() {
    let session = after("built", "/w", &[tool("Shell", "x"), tool("Shell", "y")]);
    let injectors = session.injectors(CallNo(3));
    let names: Vec<&str> = injectors.iter().map(|injector| &*injector.layer).collect();
    assert_eq!(names, ["moved", "reminder"]);
    assert_eq!((injectors[1].since, injectors[1].told.len()), (None, 1));
    assert_eq!(injectors[0].silent.as_deref(), Some("nothing has changed"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever happens: what is said to have been told was injected by that call, and that call did not fail.
    #[test]
    fn what_was_told_is_in_the_requests(inputs in prop::collection::vec(inputs(), 1..24)) {
        let (player, ..) = play(&inputs);
        let session = player.session();
        for record in session.calls().iter().map(|call| &**call).chain(session.prepared()) {
            for injector in session.injectors(record.call) {
                for change in injector.facts.iter().flat_map(|fact| &fact.changes) {
                    if let Fate::Told { call, into } = change.fate {
                        let told = &session.calls()[call.0 as usize - 1];
                        prop_assert!(told.injected.iter().any(|one| one.layer == injector.layer && one.into == into));
                        prop_assert!(!matches!(told.answer, Some(plywood::core::run::Answer::Failed(_))));
                        prop_assert!(session.event(change.event).before <= call);
                    }
                }
            }
        }
    }
}
