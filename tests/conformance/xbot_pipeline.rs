//! The pipeline that builds a system prompt from middlewares: cases X30 to X44.
//!
//! | case | why it is not here, or what it is here |
//! |---|---|
//! | X27, X28, X31, X35 to X37 | the numbers have gaps |
//! | X33 | layers are data: a middleware that is added, removed or doubled is another bench |
//! | X44 | sessions share nothing that can be written: 50 of them run side by side |

use std::sync::Arc;
use std::thread;

use plywood::core::diagnostic::Severity;
use plywood::core::fact::Value;
use plywood::core::run::Input;
use plywood::core::source::Piece;
use plywood::core::wire::{BlockKind, Zone};

use crate::scene::{Files, Scene, bytes, system, tool_texts};

/// A bench of these layers alone.
fn layers(layers: &str) -> Scene {
    let text = format!(
        "bench: 1\nname: small\nmodel: openai:gpt-5.4\nworkspace: {{ path: project, shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }}\n\
         facts: {{ cards: [1] }}\nplaces: {{ system: {{ of: system, order: key, join: \"\\n\", keep_empty: true }} }}\nlayers:{layers}\n"
    );
    let mut scene = Scene::of(&text, &[], Files::default());
    scene.user("hello");
    scene
}

/// The layers that ran, in the order in which they did.
fn run_order(scene: &Scene) -> Vec<String> {
    let bench = scene.session.bench();
    let mut order: Vec<usize> = (0..bench.layers.len()).collect();
    order.sort_by_key(|index| bench.layers[*index].run);
    order.into_iter().map(|index| bench.layers[index].id.to_string()).collect()
}

/// The system prompt of the sample with these files and facts.
fn prompt(files: Files, variants: &[&str], facts: &[(&str, &str)]) -> (Scene, String) {
    let mut scene = Scene::sample(files, variants);
    if !facts.is_empty() {
        scene.take(Input::Set(
            facts.iter().map(|(name, value)| ((*name).into(), Value::text(*value))).collect(),
        ));
    }
    scene.user("请看一下测试。");
    let text = system(&scene.next()).to_owned();
    (scene, text)
}

fn sample() -> Files {
    Files::of_sample("xbot")
}

/// True when a layer of the sample has written something.
fn wrote(scene: &Scene, layer: &str) -> bool {
    scene.prepared().layer(layer).expect("there is such a layer").state.piece.text().is_some()
}

#[test]
fn x30_priorities_decide_the_order_of_running() {
    let scene = layers(
        "\n  - { id: c, in: system, run: 300, key: a, from: { text: c } }\n  - { id: a, in: system, run: 100, key: b, from: { text: a } }\n  - { id: b, in: system, run: 200, key: c, from: { text: b } }",
    );
    assert_eq!(run_order(&scene), ["a", "b", "c"]);
    assert_eq!(system(&scene.next()), "c\na\nb", "and keys the order of the bytes");
}

#[test]
fn x32_one_that_fails_is_passed_over() {
    let scene = layers(
        "\n  - { id: a, in: system, run: 1, key: a, from: { text: A } }\n  - { id: b, in: system, run: 2, key: b, from: { text: \"{{ cards[9].name }}\" } }\n  - { id: c, in: system, run: 3, key: c, from: { text: C } }",
    );
    assert_eq!(system(&scene.next()), "A\nC");
    assert!(matches!(scene.prepared().layer("b").expect("a layer").state.piece, Piece::Failed(_)));
    let told = &scene.prepared().diagnostics;
    assert_eq!((told.len(), told[0].severity), (1, Severity::Error));
}

#[test]
fn x33_whatever_order_they_are_listed_in_they_run_sorted_and_equals_as_listed() {
    let layer = |id: &str, run: i64| {
        format!("\n  - {{ id: {id}, in: system, run: {run}, key: {id}, from: {{ text: {id} }} }}")
    };
    let scene = layers(&[layer("z", 20), layer("y", 10), layer("x", 20)].concat());
    assert_eq!(run_order(&scene), ["y", "z", "x"]);
    let added = layers(&[layer("z", 20), layer("y", 10), layer("x", 20), layer("w", 5)].concat());
    assert_eq!(run_order(&added), ["w", "y", "z", "x"]);
}

#[test]
fn x34_without_layers_there_is_an_empty_system_message_and_what_was_said() {
    let scene = layers(" []");
    let request = scene.next();
    let seen: Vec<(BlockKind, &str)> =
        request.blocks.iter().map(|block| (block.kind, &**block.text.text())).collect();
    assert_eq!(seen, [(BlockKind::System, ""), (BlockKind::User, "hello")]);
}

#[test]
fn x38_the_sender_is_told_word_for_word_or_not_at_all() {
    let (_, with) = prompt(sample(), &[], &[("sender", "alice")]);
    assert!(with.ends_with("\n## Current Sender\nName: alice\n"), "{with}");
    let (scene, without) = prompt(sample(), &[], &[("sender", "")]);
    assert!(!without.contains("Current Sender") && !wrote(&scene, "sender"));
}

#[test]
fn x39_an_empty_catalogue_is_left_out() {
    let (scene, text) = prompt(sample().without("skills/").without("agents/"), &[], &[]);
    assert!(!wrote(&scene, "skills") && !wrote(&scene, "agents"));
    assert!(!text.contains("\n\n\n\n"), "nothing stands where they stood");
    let (scene, _) = prompt(sample(), &[], &[]);
    assert!(wrote(&scene, "skills") && wrote(&scene, "agents"));
}

#[test]
fn x40_memory_that_is_missing_empty_or_unreadable() {
    let path = "memory/recall.md";
    let (scene, _) = prompt(sample().without(path), &[], &[]);
    assert!(!wrote(&scene, "memory") && scene.prepared().diagnostics.is_empty(), "no memory is no error");
    let (scene, _) = prompt(sample().with(path, ""), &[], &[]);
    assert!(!wrote(&scene, "memory"));
    let (scene, text) = prompt(sample().with(path, "Alice likes short answers."), &[], &[]);
    assert!(text.contains("# Memory\n\nAlice likes short answers.\n"), "{text}");
    assert!(wrote(&scene, "memory"));
    let (scene, text) = prompt(sample().unreadable(path), &[], &[]);
    assert!(!wrote(&scene, "memory") && text.contains("## Current Sender"), "the rest is built");
    let told: Vec<&str> = scene.prepared().diagnostics.iter().map(|told| &*told.message).collect();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("memory/recall.md cannot be read: permission denied (it is read as `recall`)"),
        "{told:?}"
    );
}

#[test]
fn x41_the_project_hint_runs_second_and_stands_between_base_and_skills() {
    let (scene, text) = prompt(sample(), &[], &[]);
    let bench = scene.session.bench();
    let hint = bench.layer("project_hint").expect("a layer");
    assert_eq!((hint.run, hint.key.as_deref()), (1, Some("05_project_hint")));
    let parts: Vec<String> =
        scene.next().zone(Zone::System)[0].text.parts().iter().map(|part| part.id.to_string()).collect();
    let at =
        |id: &str| parts.iter().position(|part| part == id).unwrap_or_else(|| panic!("{id} in {parts:?}"));
    assert!(at("system_prompt") < at("project_hint") && at("project_hint") < at("skills"));
    assert!(!text.is_empty());
    let (scene, _) = prompt(sample().without("cards/"), &[], &[]);
    assert!(!wrote(&scene, "project_hint"), "without cards there is nothing to hint at");
}

#[test]
fn x42_the_user_message_names_its_sender() {
    let said = |sender: &str| {
        let (scene, _) = prompt(sample(), &[], &[("sender", sender)]);
        scene.next().zone(Zone::Messages)[0].text.text().to_string()
    };
    assert!(said("alice").contains("[alice]") && said("alice").contains("请看一下测试。"));
    assert!(!said("").contains("[alice]") && !said("").contains("[]") && said("").contains("请看一下测试。"));
}

#[test]
fn x43_a_timer_sends_two_messages_and_what_is_to_be_done_as_it_was_written() {
    let (scene, text) = prompt(sample(), &["cron"], &[]);
    let request = scene.next();
    let said: Vec<&str> = request.zone(Zone::Messages).iter().map(|block| &**block.text.text()).collect();
    assert_eq!((request.zone(Zone::System).len(), said), (1, vec!["请看一下测试。"]));
    assert!(text.contains("工作目录：/home/shop\n") && text.starts_with("# 定时任务"), "{text}");
    assert!(tool_texts(&request).is_empty());
}

#[test]
fn x44_fifty_runs_side_by_side_are_one_run_fifty_times() {
    let files = Arc::new(sample());
    let runs: Vec<_> = (0..50)
        .map(|_| {
            let files = files.clone();
            thread::spawn(move || {
                let mut scene = Scene::sample((*files).clone(), &[]);
                scene.play("cd");
                (1..=6).map(|call| bytes(&scene.request(call))).collect::<Vec<_>>()
            })
        })
        .collect();
    let results: Vec<_> = runs.into_iter().map(|run| run.join().expect("it ends")).collect();
    assert!(results.iter().all(|result| *result == results[0]));
    assert!(results[0].iter().all(|request| request.iter().any(|block| block.starts_with("System"))));
}
