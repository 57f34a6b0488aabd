//! A file that is there but cannot be read: whoever reads it says so, and not that something is missing.

use plywood::core::fact::{FactKey, Found};
use plywood::core::run::{Load, Player};
use plywood::core::source::Piece;

use crate::support::{Memory, bench};

/// Files in memory, one of which nobody may read.
struct Denied(Memory);

impl Load for Denied {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        let mut found = self.0.load(keys);
        for (key, found) in &mut found {
            if matches!(key, FactKey::File(path) if &*path.path == "secret.md") {
                *found = Found::Failed("permission denied".into());
            }
        }
        found
    }
}

/// What a layer of a bench with a read `secret` comes to.
fn piece(layer: &str) -> String {
    let text = format!(
        "bench: 1\nname: x\nmodel: openai:gpt-5.4\nread: {{ secret: {{ file: secret.md }} }}\nfacts: {{ on: true }}\n\
         places: {{ system: {{ of: system }} }}\nlayers:\n  - {{ id: a, in: system, {layer} }}\n"
    );
    let memory = Memory::default();
    let bench = bench(&text, &[], &memory);
    let player = Player::start(bench, None, &mut Denied(memory)).expect("the run starts");
    let record = player.session().prepared().expect("a request");
    match &record.layer("a").expect("the layer").state.piece {
        Piece::Text { text, .. } => format!("text: {}", text.text()),
        Piece::Omitted(reason) => format!("omitted: {reason}"),
        Piece::Failed(diagnostic) => format!("failed: {}", diagnostic.message),
        Piece::Stopped(diagnostic) => format!("stopped: {}", diagnostic.message),
    }
}

#[test]
fn the_reason_is_told_in_conditions_and_in_texts() {
    let why = "secret.md cannot be read: permission denied (it is read as `secret`)";
    let with = |when: &str| piece(&format!("when: {when}, from: {{ text: x }}"));
    assert_eq!(with("secret"), format!("failed: {why} in `secret`"));
    assert_eq!(with("on and secret"), format!("failed: {why} in `on and secret`"));
    assert_eq!(with("secret | trim == \"x\""), format!("failed: {why} in `secret | trim == \"x\"`"));
    assert_eq!(piece("from: { text: \"{{ secret }}\" }"), format!("failed: {why}"));
    assert_eq!(piece("from: { fact: secret }"), format!("failed: {why}"));
    // What does not need it goes on.
    assert_eq!(with("on or secret"), "text: x");
    assert_eq!(piece("from: { text: \"{{ secret | default('none') }}\" }"), "text: none");
}
