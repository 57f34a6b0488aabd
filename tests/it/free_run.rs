//! The free run: a hand speaks for the user and the model, goes back and says something else, and keeps it as a run.

use std::fs;
use std::sync::Arc;

use plywood::app::effect::{EngineRequest, Spoken};
use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::snapshot::{Pause, Snapshot, Speaker};
use plywood::core::fact::Value;
use plywood::core::run::{Input, Player, ToolCall};
use plywood::core::tokens::Encoding;
use plywood::core::wire::{CallNo, Request};
use plywood::io::bench_file::Machine;
use plywood::io::edit::Original;
use plywood::io::edit::bench::{self, BenchEdit};
use plywood::io::load::fixed_clock;
use plywood::io::models;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::session::{BENCH, inputs};
use crate::support::{self, Memory};

fn said(text: &str) -> Input {
    Input::User(text.into())
}

fn answered(text: &str) -> Input {
    Input::Say(text.into())
}

fn called(tool: &str, path: &str) -> Input {
    let args = [("path".into(), Value::text(path))].into_iter().collect();
    Input::Call { text: None, calls: vec![ToolCall { tool: tool.into(), args, ..ToolCall::default() }] }
}

/// What the provider would be sent: the blocks, without the numbers that messages have here.
fn sent(request: &Request) -> Vec<(String, String)> {
    let block = |block: &Arc<plywood::core::wire::Block>| {
        (format!("{:?} {}", block.kind, block.name), block.text.text().to_string())
    };
    request.blocks.iter().map(block).collect()
}

fn all_sent(player: &Player) -> Vec<Vec<(String, String)>> {
    let session = player.session();
    let calls = 1..=session.calls().len() as u32 + u32::from(session.prepared().is_some());
    calls.filter_map(|call| session.request(CallNo(call))).map(|request| sent(&request)).collect()
}

/// A bench with one run, and files for it.
fn scripted() -> (String, Memory) {
    let mut memory = Memory::default();
    memory.put("AGENTS.md", "first rules").put("a", "text of a");
    let runs = "runs:\n  one:\n    - user: Go.\n    - note: Watch.\n    - call: [{ Cd: { path: api } }]\n    - say: There.\n    - user: And back.\n    - call: [{ Cd: { path: .. } }]\n    - say: Here.\n";
    (format!("{BENCH}{runs}"), memory)
}

fn play_all(player: &mut Player, memory: &mut Memory) {
    while player.beat(memory).expect("a beat") {}
}

#[test]
fn a_hand_goes_on_behind_a_script_and_instead_of_it() {
    let (bench, mut memory) = scripted();
    let mut player = support::player(&bench, &[], &mut memory);
    assert!(!player.is_free() && !player.ended());
    // A fact that is set, and a call that fails, leave the script where it is.
    player
        .input(Input::Set([("mood".into(), Value::text("bold"))].into_iter().collect()), &mut memory)
        .expect("a fact");
    player.input(Input::FailedSend("529".into()), &mut memory).expect("a failure");
    assert!(!player.is_free() && player.next_line().is_some());
    // Whoever plays the model leaves it: nothing that it still holds is played.
    player.input(called("Read", "a"), &mut memory).expect("a call");
    assert!(player.is_free() && player.ended() && player.next_line().is_none());
    assert!(!player.beat(&mut memory).expect("no beat"));
    assert_eq!(player.forecast(&mut memory).session().next_call(), player.session().next_call());
    let refused = player.input(said("Wait."), &mut memory).expect_err("a request waits");
    assert!(refused.0.contains("the model answers before the user speaks again"), "{refused}");
    player.input(answered("Read."), &mut memory).expect("an answer");
    player.input(said("Thanks."), &mut memory).expect("a message");
    // The same again before each call, and on the bench with another rule.
    let calls = player.session().next_call().0;
    let before = all_sent(&player);
    for call in 1..=calls {
        let branch = player.branch(CallNo(call), &mut memory).expect("a branch");
        assert_eq!(branch.session().next_call(), CallNo(call));
        assert_eq!(all_sent(&branch), before[..call as usize], "call {call}");
    }
    let again =
        player.rebuild(player.session().bench().clone(), CallNo(u32::MAX), &mut memory).expect("a run");
    assert_eq!(all_sent(&again), before);
    assert!(again.is_free());
}

#[test]
fn what_the_user_said_can_be_said_otherwise() {
    let (bench, mut memory) = scripted();
    let mut player = support::player(&bench, &[], &mut memory);
    play_all(&mut player, &mut memory);
    let other = player.branch_unsaid(CallNo(3), &mut memory).expect("turn 2 begins there");
    assert!(other.is_free() && other.session().prepared().is_none());
    let mut other = other;
    other.input(said("Stay."), &mut memory).expect("a message");
    let request = other.session().request(CallNo(3)).expect("it waits");
    let texts: String = request.blocks.iter().map(|block| block.text.text().to_string()).collect();
    assert!(texts.contains("Stay.") && !texts.contains("And back."), "{texts}");
    assert_eq!(all_sent(&other)[..2], all_sent(&player)[..2]);
    // The first message of a run, and one that was typed.
    let mut first = player.branch_unsaid(CallNo(1), &mut memory).expect("turn 1 begins there");
    first.input(said("Come."), &mut memory).expect("a message");
    assert_eq!(first.session().prepared().map(|record| record.turn), Some(1));
    first.input(answered("Come where?"), &mut memory).expect("an answer");
    first.input(said("Here."), &mut memory).expect("a message");
    let mut typed = first.branch_unsaid(CallNo(2), &mut memory).expect("turn 2 begins there");
    typed.input(said("There."), &mut memory).expect("a message");
    assert_eq!(all_sent(&typed)[0], all_sent(&first)[0]);
    // In the middle of a turn nobody has said anything.
    let refused = player.branch_unsaid(CallNo(2), &mut memory).expect_err("a tool leads to it");
    assert!(refused.0.contains("no message of the user leads to call 2"), "{refused}");
}

#[test]
fn an_opening_without_words_waits_for_them() {
    let mut memory = Memory::default();
    let mut player = support::player(BENCH, &[], &mut memory);
    // The same conversation can be sent again and again, until somebody speaks.
    assert!(player.beat(&mut memory).expect("a beat"));
    assert!(player.session().hears());
    player.input(said("Go."), &mut memory).expect("a message");
    assert!(!player.session().hears());
    let record = player.session().prepared().expect("it waits");
    assert_eq!((record.call, record.turn), (CallNo(2), 1));
    assert!(!player.beat(&mut memory).expect("no beat"), "a hand answers it");
    let run = player.as_run();
    assert_eq!((run.lines, run.left_out), (vec![said("Go.")], 0));
}

/// The bench with a run that was saved, as it is read from its file.
fn with_run(text: &str, name: &str, lines: Vec<Input>) -> Result<String, String> {
    let original = Original::of(text.as_bytes()).expect("text");
    let edit = BenchEdit::Run { name: name.into(), lines, over: false };
    let edited = bench::edit(&"bench.yaml".into(), &original, &edit)?;
    let bytes = original.apply(&edited.splices)?;
    Ok(String::from_utf8(bytes).expect("text"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever was said and done by hand: saved as a run, it is sent byte for byte what was sent then.
    #[test]
    fn a_saved_run_sends_the_same_bytes(inputs in prop::collection::vec(inputs(), 1..60)) {
        let mut memory = Memory::default();
        memory.put("AGENTS.md", "first rules").put("a", "text of a");
        let mut player = support::player(BENCH, &[], &mut memory);
        player.input(said("Begin: \"你好\" 🙂\n  # and so on\n"), &mut memory).expect("a message");
        for input in inputs {
            // A run cannot say that a request was sent again, and is stricter about what comes after the end of a session.
            if !matches!(input, Input::Sent | Input::Session(_) | Input::ContextEdit { .. }) {
                let _ = player.input(input, &mut memory);
            }
        }
        // A sub-agent that is under way ends with the run.
        while player.session().is_in_sub_agent() {
            let done = player.input(Input::EndAgent, &mut memory).is_ok();
            if !done {
                player.input(answered("done"), &mut memory).expect("an answer");
            }
        }
        let run = player.as_run();
        prop_assert_eq!(run.left_out, 0);
        let text = with_run(BENCH, "tried", run.lines.clone()).map_err(TestCaseError::fail)?;
        let bench = support::bench(&text, &[], &memory);
        let script: Vec<Input> = bench.runs["tried"].iter().map(|line| line.input.clone()).collect();
        prop_assert_eq!(&script, &run.lines);
        let mut again = Player::start(bench, Some("tried"), &mut memory).expect("a run");
        play_all(&mut again, &mut memory);
        prop_assert_eq!(all_sent(&again), all_sent(&player));
        // The run that was tried is that run from then on, and goes back to every call of it.
        let bench = again.session().bench().clone();
        player.becomes(&"tried".into(), &bench.runs["tried"]);
        prop_assert!(!player.is_free() && player.ended());
        let calls = player.session().next_call();
        for call in 1..calls.0 {
            let branch = player.branch(CallNo(call), &mut memory).expect("a branch");
            prop_assert_eq!(all_sent(&branch), &all_sent(&player)[..call as usize]);
        }
    }
}

fn machine() -> Machine {
    Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None }
}

fn open(folder: &TempDir) -> Engine {
    Encoding::O200k.load();
    let disk = Disk::open(folder.path(), &machine()).expect("a folder");
    Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default()).expect("an engine")
}

fn speak(engine: &mut Engine, input: Input) -> Snapshot {
    engine.handle(EngineRequest::Speak(Spoken { input, instead: false }));
    engine.snapshot()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

#[test]
fn a_conversation_in_a_plain_folder_becomes_a_bench_of_its_own() {
    let folder = folder(&[("AGENTS.md", "# Rules\n\n你好 {{ x }}\n")]);
    let mut engine = open(&folder);
    let hand = engine.snapshot().hand.expect("a hand");
    assert_eq!((hand.speaker, hand.waits, hand.worth_saving), (Speaker::User, false, false));
    engine.handle(EngineRequest::SaveRun(1, "tried".into(), false));
    assert_eq!(&*engine.snapshot().status.note, "nothing was said yet that could be a run");
    let snapshot = speak(&mut engine, said("What is here?"));
    assert_eq!(snapshot.title.pause, Pause::Before(CallNo(2)));
    let hand = snapshot.hand.expect("a hand");
    assert_eq!((hand.speaker, hand.waits, hand.worth_saving), (Speaker::Model, true, true));
    speak(&mut engine, answered("Rules."));
    speak(&mut engine, said("Thank you."));
    engine.handle(EngineRequest::SaveRun(2, "tried".into(), false));
    let snapshot = engine.snapshot();
    let edited = snapshot.edited.expect("an answer");
    assert_eq!((edited.serial, edited.refused), (2, false), "{}", snapshot.status.note);
    let by_hand = sent(&engine.session().request(CallNo(3)).expect("it waits"));
    // Nothing is written over.
    let written = fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench");
    engine.handle(EngineRequest::SaveRun(3, "again".into(), false));
    assert!(engine.snapshot().status.note.contains("the file is there already"));
    assert_eq!(fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench"), written);
    // The folder opens as that bench, and its run sends the same.
    let mut opened = open(&folder);
    assert_eq!(opened.snapshot().title.run.as_deref(), Some("tried"));
    opened.handle(EngineRequest::Send);
    assert_eq!(sent(&opened.session().request(CallNo(2)).expect("it waits")), by_hand);
}

#[test]
fn what_was_said_by_hand_is_taken_back_and_nothing_is_lost() {
    let (bench, _) = scripted();
    let folder =
        folder(&[("bench.yaml", &bench), ("project/AGENTS.md", "first rules"), ("project/a", "text of a")]);
    let mut engine = open(&folder);
    let texts =
        |engine: &Engine, call: u32| sent(&engine.session().request(CallNo(call)).expect("a request"));
    let first = texts(&engine, 1);
    // In the middle of the script: the script is the other branch.
    let snapshot = speak(&mut engine, called("Read", "a"));
    assert_eq!(snapshot.title.branch, Some((2, 2)));
    assert_eq!(&*snapshot.status.note, "a branch from call 1; the other stays as it was");
    let read = texts(&engine, 2);
    let snapshot = speak(&mut engine, answered("Read."));
    assert_eq!((snapshot.title.pause, snapshot.title.branch), (Pause::End(CallNo(2)), Some((2, 2))));
    // A change of the bench in between is taken back in its turn.
    engine.handle(EngineRequest::EditBench(BenchEdit::Fact("mood".into(), Value::text("bold"))));
    engine.handle(EngineRequest::Undo);
    assert_eq!(fs::read_to_string(folder.path().join("bench.yaml")).expect("a bench"), bench);
    engine.handle(EngineRequest::Undo);
    let snapshot = engine.snapshot();
    assert_eq!(
        (&*snapshot.status.note, snapshot.title.pause),
        ("taken back: the model's answer", Pause::Before(CallNo(2)))
    );
    engine.handle(EngineRequest::Undo);
    let snapshot = engine.snapshot();
    assert_eq!((snapshot.title.branch, snapshot.title.pause), (None, Pause::Before(CallNo(1))));
    assert_eq!((texts(&engine, 1), snapshot.can_redo), (first, true));
    engine.handle(EngineRequest::Redo);
    assert_eq!(texts(&engine, 2), read);
    // Something else is said: what was taken back and not done again is another branch.
    let snapshot = speak(&mut engine, answered("No."));
    assert_eq!(snapshot.title.branch, Some((3, 3)), "{}", snapshot.status.note);
    let mut kept = Vec::new();
    for _ in 0..3 {
        engine.handle(EngineRequest::NextBranch);
        kept.push(
            engine
                .snapshot()
                .calls
                .rows
                .iter()
                .map(|row| row.answer.as_deref().unwrap_or("").to_owned())
                .collect::<Vec<_>>()
                .join("; "),
        );
    }
    assert!(kept.iter().any(|calls| calls.contains("model said: Read.")), "{kept:?}");
    assert!(kept.iter().any(|calls| calls.contains("model said: No.")), "{kept:?}");
}

#[test]
fn a_saved_run_is_written_beside_the_others_and_goes_on_from_there() {
    let (bench, _) = scripted();
    let folder =
        folder(&[("bench.yaml", &bench), ("project/AGENTS.md", "first rules"), ("project/a", "text of a")]);
    let file = folder.path().join("bench.yaml");
    let mut engine = open(&folder);
    speak(&mut engine, called("Read", "a"));
    speak(&mut engine, answered("Read."));
    let by_hand = sent(&engine.session().request(CallNo(2)).expect("a request"));
    engine.handle(EngineRequest::SaveRun(1, "one".into(), false));
    let snapshot = engine.snapshot();
    assert_eq!(&*snapshot.status.note, "the bench has a run one already");
    assert!(snapshot.edited.is_some_and(|edited| edited.refused));
    engine.handle(EngineRequest::SaveRun(2, "tried".into(), false));
    let snapshot = engine.snapshot();
    assert!(
        snapshot.status.note.starts_with("tried is a run of 2 calls now; written to "),
        "{}",
        snapshot.status.note
    );
    assert_eq!((snapshot.title.run.as_deref(), snapshot.title.pause), (Some("tried"), Pause::End(CallNo(2))));
    let lines = "  tried:\n    - user: Go.\n    - note: Watch.\n    - call: [{ Read: { path: a } }]\n    - say: Read.\n";
    assert_eq!(fs::read_to_string(&file).expect("a bench"), format!("{bench}{lines}"));
    assert!(!snapshot.hand.expect("a hand").worth_saving);
    // Whoever goes on by hand goes on behind that run.
    let snapshot = speak(&mut engine, said("More."));
    assert_eq!(
        (snapshot.title.run.as_deref(), snapshot.title.pause),
        (Some("tried"), Pause::Before(CallNo(3)))
    );
    // Undo takes what was said back first, then the run out of the file; the calls stay.
    engine.handle(EngineRequest::Undo);
    engine.handle(EngineRequest::Undo);
    assert_eq!(fs::read_to_string(&file).expect("a bench"), bench);
    engine.handle(EngineRequest::Redo);
    let mut opened = open(&folder);
    opened.handle(EngineRequest::Run("tried".into()));
    opened.handle(EngineRequest::Send);
    assert_eq!(sent(&opened.session().request(CallNo(2)).expect("a request")), by_hand);
}
