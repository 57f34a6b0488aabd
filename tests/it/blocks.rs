//! Blocks inside another place: their markers, their budget, and what the layers say about it.

use plywood::core::fact::Value;
use plywood::core::run::{Input, Player};
use plywood::core::source::Piece;

use crate::support::{Memory, player};

const BENCH: &str = r#"
bench: 1
name: blocks
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { map: "src: a, b", notes: "", gate: open }
places:
  system: { of: system, join: "\n\n" }
  block:
    of: block
    join: "\n\n"
    wrap: ["<context>\n", "\n</context>"]
    markers: { runtime: ["<!-- RUN:START -->", "<!-- RUN:END -->"] }
    budget: { chars: 120, over: required_then_listed }
  user: { of: current_user }
layers:
  - { id: base, in: system, from: { text: "Base." } }
  - { id: overlay, in: system, from: { place: block }, refresh: REFRESH }
  - { id: map, in: block, from: { fact: map }, refresh: call }
  - { id: notes, in: block, when: notes, from: { fact: notes }, refresh: call }
  - { id: gate, in: block, required: true, from: { text: "Gate: {{ gate }}" }, refresh: call }
  - { id: said, in: user, from: { said: user } }
runs:
  one: [ { user: go }, { say: done }, { user: on }, { say: done } ]
"#;

struct Scene {
    player: Player,
    memory: Memory,
}

impl Scene {
    fn new(refresh: &str) -> Scene {
        let mut memory = Memory::default();
        let player = player(&BENCH.replace("REFRESH", refresh), &[], &mut memory);
        Scene { player, memory }
    }

    fn set(&mut self, name: &str, value: &str) {
        let values = [(name.into(), Value::text(value))].into_iter().collect();
        self.player.input(Input::Set(values), &mut self.memory).expect("it can be set");
    }

    fn system(&self) -> String {
        let record = self.player.session().prepared().expect("a request");
        record.head.iter().map(|block| block.text.text().to_string()).collect()
    }

    /// Why a layer is not there; empty where it is.
    fn omitted(&self, layer: &str) -> String {
        let record = self.player.session().prepared().expect("a request");
        match &record.layer(layer).expect("a layer").state.piece {
            Piece::Omitted(reason) => reason.to_string(),
            Piece::Text { .. } => String::new(),
            other => panic!("{other:?}"),
        }
    }

    fn told(&self) -> Vec<String> {
        let record = self.player.session().prepared().expect("a request");
        record.diagnostics.iter().map(|told| told.message.clone()).collect()
    }
}

fn marked(body: &str) -> String {
    format!("Base.\n\n<!-- RUN:START -->\n<context>\n{body}\n</context>\n<!-- RUN:END -->")
}

#[test]
fn a_block_follows_what_stands_in_it() {
    let mut scene = Scene::new("call");
    assert_eq!(scene.system(), marked("src: a, b\n\nGate: open"));
    scene.set("gate", "closed");
    assert_eq!(scene.system(), marked("src: a, b\n\nGate: closed"));
    scene.set("notes", "be quick");
    assert_eq!(scene.system(), marked("src: a, b\n\nbe quick\n\nGate: closed"));
    assert_eq!(scene.told(), Vec::<String>::new());
}

#[test]
fn what_does_not_fit_is_left_out_with_its_reason_and_comes_back() {
    let mut scene = Scene::new("call");
    scene.set("notes", &"n".repeat(60));
    assert_eq!(scene.system(), marked("src: a, b\n\nGate: open"));
    // 36 characters for the markers and their lines, 21 for the wrap, 10 for the gate, 11 for the map.
    assert_eq!(scene.omitted("notes"), "evicted: budget 120, needs 62, 42 left");
    scene.set("map", &"m".repeat(60));
    assert_eq!(scene.system(), marked("Gate: open"));
    assert_eq!(scene.omitted("map"), "evicted: budget 120, needs 62, 53 left");
    assert_eq!(scene.omitted("notes"), "evicted: budget 120, needs 62, 53 left, behind map");
    scene.set("map", "short");
    scene.set("notes", "short");
    assert_eq!(scene.system(), marked("short\n\nshort\n\nGate: open"));
}

#[test]
fn required_layers_alone_are_cut_and_that_is_told() {
    let mut scene = Scene::new("call");
    scene.set("gate", &"长".repeat(100));
    let system = scene.system();
    assert!(system.ends_with("长...\n</context>\n<!-- RUN:END -->"), "{system}");
    assert_eq!(system.chars().count(), "Base.\n\n".len() + 120);
    assert_eq!(scene.told(), ["the required layers of block alone make 163 of 120 characters"]);
    let record = scene.player.session().prepared().expect("a request");
    let Piece::Text { cut, .. } = record.layer("overlay").expect("a layer").state.piece else {
        panic!("no text")
    };
    assert_eq!(cut, 46);
}

#[test]
fn a_marker_in_a_fact_does_not_end_the_block() {
    let mut scene = Scene::new("call");
    scene.set("notes", "a <!-- RUN:END --> b");
    assert_eq!(scene.system().matches("<!-- RUN:END -->").count(), 1);
    assert!(scene.system().contains("a <\\!-- RUN:END --> b"));
    assert_eq!(
        scene.told(),
        ["a marker of block stands in the text of notes; it was broken with a backslash"]
    );
}

#[test]
fn a_block_that_stands_keeps_what_is_in_it() {
    let mut scene = Scene::new("session");
    scene.player.beat(&mut scene.memory).expect("sent");
    scene.set("notes", "late");
    scene.set("gate", "closed");
    assert_eq!(scene.system(), marked("src: a, b\n\nGate: open"));
    assert_eq!(scene.omitted("notes"), "not in its block, which stands from before");
    assert_eq!(scene.omitted("map"), "");
}
