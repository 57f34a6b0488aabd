//! The ledger: what was sent of each message, what is persisted, what is replayed, and who took what out.

use plywood::core::log::Rule;
use plywood::core::run::{EditTarget, Entry, Input, Ledger, Session};
use plywood::core::wire::{CallNo, Zone};
use proptest::prelude::*;

use crate::session::{inputs, play};
use crate::support::{Memory, player};

const BENCH: &str = r#"
bench: 1
name: small
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
tools: [ { names: [Cd, Shell] } ]
simulate: { Cd: { set: cwd, from: path } }
places:
  system: { of: system }
  user: { of: current_user }
  end: { of: newest_tool, join: "\n", none: wait }
layers:
  - { id: base, in: system, from: { text: "Work in {{ cwd }}." } }
  - { id: said, in: user, from: { said: user } }
  - { id: moved, in: end, from: { text: "<cwd>{{ cwd }}</cwd>" }, refresh: { change: [cwd], since: built }, keep: { persist: strip } }
  - { id: reminder, in: end, when: call.tools, from: { text: "<r>{{ call.results }}</r>" }, refresh: call, keep: { earlier: strip } }
runs:
  one:
    - user: Go.
    - call: [ { Cd: { path: a } } ]
    - call: [ { Shell: { command: ls }, result: x } ]
    - say: Done.
    - user: Again.
    - say: Fine.
"#;

fn text(blocks: &[std::sync::Arc<plywood::core::wire::Block>]) -> String {
    blocks.iter().map(|block| block.text.text().to_string()).collect::<Vec<_>>().join("|")
}

/// The ledger of a call after so many beats.
fn ledger(beats: usize, call: u32) -> (Session, Ledger) {
    let mut memory = Memory::default();
    let mut player = player(BENCH, &[], &mut memory);
    for _ in 0..beats {
        player.beat(&mut memory).expect("it goes on");
    }
    let session = player.session().clone();
    let ledger = session.ledger(CallNo(call)).expect("the call exists");
    (session, ledger)
}

/// The tool message of the first call.
fn tool(ledger: &Ledger) -> &Entry {
    ledger.entries.iter().find(|entry| text(&entry.sent).contains("<cwd>")).expect("the tool message")
}

#[test]
fn while_a_turn_goes_on_the_rules_say_what_will_be_kept() {
    // Call 2 waits: what is staged for it counts as sent.
    let (_, ledger) = ledger(1, 2);
    assert_eq!((ledger.persisted, ledger.replay), (false, None));
    let entry = tool(&ledger);
    assert!(text(&entry.sent).ends_with("\n<cwd>/w/a</cwd>\n<r>1</r>"), "{}", text(&entry.sent));
    assert!(!text(&entry.replayed).contains("<cwd>") && text(&entry.replayed).ends_with("<r>1</r>"));
    assert!(entry.differs());
    let moved = &entry.pieces[1];
    assert_eq!((&*moved.part, moved.sent, moved.persisted, moved.replayed), ("moved", true, false, false));
    let stripped = moved.stripped.expect("it will be stripped");
    assert_eq!((stripped.rule, stripped.by, stripped.from), (Rule::Persist, None, None));
    assert!(entry.pieces[2].stripped.is_none(), "the reminder stays so far");
}

#[test]
fn a_strip_says_its_rule_its_event_and_the_first_call_without_it() {
    let (session, ledger) = ledger(3, 2);
    assert_eq!((ledger.persisted, ledger.replay), (true, Some(CallNo(4))));
    let entry = tool(&ledger);
    let of = |part: &str| {
        let piece = entry.pieces.iter().find(|piece| &*piece.part == part).expect("a piece");
        let stripped = piece.stripped.expect("it was stripped");
        (stripped.rule, session.event(stripped.by.expect("by an event")).label.to_string(), stripped.from)
    };
    assert_eq!(of("moved"), (Rule::Persist, "the answer to call 3".into(), Some(CallNo(4))));
    // The reminder wrote again in the third call, and took its own earlier text out.
    assert_eq!(of("reminder"), (Rule::Earlier, "the answer to call 2".into(), Some(CallNo(3))));
    assert!(!text(&entry.replayed).contains('<'), "{}", text(&entry.replayed));
    // The user's message is replayed as it was sent.
    assert!(!ledger.entries[0].differs());
}

#[test]
fn what_an_edit_deletes_is_taken_out_by_the_edit() {
    let mut memory = Memory::default();
    let mut player = player(BENCH, &[], &mut memory);
    player.beat(&mut memory).expect("it goes on");
    player.beat(&mut memory).expect("it goes on");
    player
        .input(Input::ContextEdit { target: EditTarget::Message(4), text: None }, &mut memory)
        .expect("there is such a message");
    let session = player.session();
    let ledger = session.ledger(CallNo(2)).expect("the call exists");
    let entry = tool(&ledger);
    assert!(entry.replayed.is_empty() && entry.persisted.is_empty() && entry.differs());
    let event = entry.edited.expect("an event");
    assert!(
        session.event(event).label.starts_with("a context edit that deleted"),
        "{:?}",
        session.event(event)
    );
}

#[test]
fn a_call_that_is_not_there_has_no_ledger() {
    let (session, _) = ledger(1, 2);
    assert_eq!(session.ledger(CallNo(0)), None);
    assert_eq!(session.ledger(CallNo(3)), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever happens, the forms of the ledger are the messages of the requests that it speaks of.
    #[test]
    fn the_forms_are_what_the_requests_say(inputs in prop::collection::vec(inputs(), 1..24)) {
        let (player, ..) = play(&inputs);
        let session = player.session();
        let failed = |call: CallNo| matches!(
            session.calls().get(call.0 as usize - 1).and_then(|record| record.answer.clone()),
            Some(plywood::core::run::Answer::Failed(_))
        );
        for record in session.calls() {
            let Some(ledger) = session.ledger(record.call) else { continue };
            // What was staged for a call that failed is not in the log.
            if failed(record.call) || ledger.replay.is_some_and(failed) {
                continue;
            }
            let request = session.request(record.call).expect("it was sent");
            let messages = |blocks: &[std::sync::Arc<plywood::core::wire::Block>]| {
                let own = blocks.iter().filter(|block| block.kind.zone() == Zone::Messages);
                own.map(|block| (block.message, block.hash)).collect::<Vec<_>>()
            };
            let sent: Vec<_> = ledger.entries.iter().flat_map(|entry| messages(&entry.sent)).collect();
            prop_assert_eq!(sent, messages(&request.blocks));
            if let Some(again) = ledger.replay.and_then(|call| session.request(call)) {
                let again = messages(&again.blocks);
                for entry in &ledger.entries {
                    let own: Vec<_> = again.iter().filter(|(id, _)| *id == Some(entry.message)).copied().collect();
                    prop_assert_eq!(messages(&entry.replayed), own);
                }
            }
        }
    }
}
