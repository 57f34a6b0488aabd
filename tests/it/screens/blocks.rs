//! The overlay view: what became of the sections of a block, as its user sees it.

use std::sync::Arc;

use plywood::app::effect::EngineRequest;
use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::event::Event;
use plywood::app::state::{State, View};
use plywood::app::update::update;
use plywood::core::tokens::Encoding;
use plywood::core::wire::CallNo;
use plywood::io::bench_file::Machine;
use plywood::io::load::fixed_clock;
use plywood::io::{models, samples};

use super::keys;
use super::{shot, showing};

/// The second call of the sample's run about its budget.
fn omx(variants: &[&str]) -> (State, Engine) {
    // The tests of a binary share the vocabulary: whether it is loaded must not depend on which of them ran before.
    Encoding::O200k.load();
    let machine = Machine { clock: fixed_clock("2026-03-07T08:00:00Z"), home: None };
    let disk = Disk::sample(samples::find("omx").expect("a sample"), "sample, scratch copy", &machine)
        .expect("a copy");
    let variants = variants.iter().map(|name| (*name).into()).collect();
    let options = Options { run: Some("budget".into()), variants, ..Options::default() };
    let mut engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), options).expect("an engine");
    engine.handle(EngineRequest::Jump(CallNo(2)));
    (showing(engine.snapshot()), engine)
}

#[test]
fn the_overlay_says_what_there_was_no_room_for() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let (mut state, _engine) = omx(&["small_budget"]);
        keys::press(&mut state, "O");
        assert_eq!(state.view, View::Blocks);
        insta::assert_snapshot!(format!("overlay_{width}x{height}"), shot(width, height, &mut state));
    }
}

#[test]
fn the_overlay_shows_its_life_on_disk() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let (mut state, mut engine) = omx(&[]);
        keys::press(&mut state, "O");
        engine.handle(EngineRequest::View(View::Blocks));
        update(&mut state, Event::Published(Arc::new(engine.snapshot())));
        insta::assert_snapshot!(format!("overlay_life_{width}x{height}"), shot(width, height, &mut state));
    }
}

#[test]
fn the_overlay_is_reached_from_the_menu_and_leads_to_the_bytes() {
    let (mut state, mut engine) = omx(&[]);
    keys::press(&mut state, ":budgets<enter>");
    let text = shot(120, 40, &mut state);
    assert!(text.contains("<!-- OMX:RUNTIME:START -->") && text.contains("not in the request"), "{text}");
    // What is edited outside is in the view at the next look.
    keys::press(&mut state, "<esc>O");
    engine.handle(EngineRequest::Variants(vec!["frozen".into()]));
    update(&mut state, Event::Published(Arc::new(engine.snapshot())));
    assert!(shot(120, 40, &mut state).contains("it stands from before"));
}

#[test]
fn a_bench_without_blocks_has_no_such_view() {
    let mut state = showing(super::fixture::xbot());
    keys::press(&mut state, "O");
    assert_eq!(state.view, View::Main);
}
