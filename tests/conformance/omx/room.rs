//! Compaction near the model's window: when it happens, what survives because it was written down, and what is lost.

use plywood::core::run::{Compacted, Session};

use super::Scene;

/// Plays the run that reads a long file, and gives what each call was sent, with the compaction before it.
fn played(variants: &[&str]) -> (Session, Vec<Option<Compacted>>) {
    let mut scene = Scene::new();
    let (bench, _) =
        scene.file.bench(&variants.iter().map(|&v| v.into()).collect::<Vec<_>>()).expect("a bench");
    let mut session = Session::new(bench.clone());
    for line in bench.runs["window"].iter() {
        scene.take(&mut session, line.input.clone());
    }
    let compacted = session.calls().iter().map(|record| record.compacted.clone()).collect();
    (session, compacted)
}

#[test]
fn a_request_that_nears_the_window_is_summed_up_before_it_is_sent() {
    let (session, compacted) = played(&["small_window"]);
    let happened: Vec<usize> = (0..compacted.len()).filter(|&at| compacted[at].is_some()).collect();
    assert_eq!(happened, [2], "once, before the third call");
    let compacted = compacted[2].as_ref().expect("it happened");
    let near = compacted.near.expect("by itself");
    assert_eq!((near.window, near.at), (2400, 80));
    assert!(near.tokens >= 1920, "{near:?}");
    assert_eq!(compacted.left.len(), 5);
    assert_eq!(compacted.said.len(), 1, "what the user said");
    let survives: Vec<(String, Vec<&str>)> = compacted
        .survives
        .iter()
        .map(|survivor| (survivor.path.to_string(), survivor.layers.iter().map(|id| &**id).collect()))
        .collect();
    assert_eq!(survives, [(".omx/notepad.md".to_owned(), vec!["notes"])]);
    // The request that was sent in its place has room, says what was written down, and nothing that was only said or read.
    let request = session.request(plywood::core::wire::CallNo(3)).expect("the third");
    let all: String = request.blocks.iter().map(|block| block.text.text().to_string()).collect();
    assert!(all.contains("- 决定：金额以分为单位"));
    assert!(all.contains("对话已压缩") && !all.contains("先定金额的规则"));
    assert_eq!(
        all.matches("金额以分为单位，用整数保存").count(),
        1,
        "what was read is gone, the rules stand"
    );
}

#[test]
fn with_the_models_own_window_nothing_is_summed_up() {
    let (session, compacted) = played(&[]);
    assert!(compacted.iter().all(Option::is_none));
    let request = session.request(plywood::core::wire::CallNo(4)).expect("the fourth");
    let all: String = request.blocks.iter().map(|block| block.text.text().to_string()).collect();
    assert_eq!(all.matches("金额以分为单位，用整数保存").count(), 2);
}

/// The message that begins a turn is never summed up before the model has seen it.
#[test]
fn what_was_said_just_now_stays() {
    let mut scene = Scene::new();
    let mut session = scene.with(&["small_window"]);
    scene.say(&mut session, &"很长的回答。".repeat(400));
    scene.ask(&mut session);
    let record = session.prepared().expect("a request");
    let compacted = record.compacted.as_ref().expect("it nears the window");
    assert_eq!(compacted.said.len(), 2, "the question before and its answer");
    let request = session.request(record.call).expect("it waits");
    let last = request.blocks.last().expect("a message").text.text().to_string();
    assert!(!last.is_empty() && !last.contains("对话已压缩"), "{last}");
    assert!(request.blocks[request.blocks.len() - 2].text.text().starts_with("对话已压缩"));
}
