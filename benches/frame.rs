//! How long a frame takes: the four panes at 200x60, with a request of a megabyte; and a key in a text of a megabyte.
//!
//! `cargo bench --bench frame`. The parts: `frame` is what is drawn into the buffer, `settled` is drawing and measuring
//! as after a key, `written` is what is compared with the last frame and encoded for the terminal. In the editor, `key`
//! is what a typed character and taking it back do to the state, what is to be saved among it; `typed` draws after each.

#[path = "../tests/it/screens/fixture.rs"]
mod fixture;

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use plywood::app::editor::{Editor, Opened, Place, Purpose};
use plywood::app::event::Event;
use plywood::app::key::Key;
use plywood::app::state::State;
use plywood::app::update::update;
use plywood::io::edit::Original;
use plywood::tui::present::present;
use plywood::tui::theme::{Depth, Theme};
use plywood::tui::view;
use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

const SIZE: (u16, u16) = (200, 60);
const TEXT: usize = 1_000_000;

/// A state that looks into the middle of a block of a megabyte, of many parts, in lines or in one line.
fn state(lines: bool) -> State {
    let mut snapshot = fixture::xbot();
    let block = &mut snapshot.request.blocks[3];
    if lines {
        block.text = fixture::long_text(TEXT);
        block.parts.clear();
    } else {
        let text = "目录与规则 and more of it ".repeat(TEXT / 32);
        *block = fixture::block("message 4 (tool)", block.kind, &[("tool result, Read", &text, false)]);
    }
    let mut state = State::new(true, false);
    update(&mut state, Event::Published(Arc::new(snapshot)));
    update(&mut state, Event::Key(Key::char('3')));
    let theme = Theme::built_in("ansi", Depth::Sixteen).expect("a built-in theme");
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a buffer");
    for _ in 0..400 {
        terminal.draw(|frame| drop(present(&mut state, &theme, frame))).expect("a frame");
        update(&mut state, Event::Key(Key::ctrl('d')));
    }
    state
}

fn frames(criterion: &mut Criterion) {
    let theme = Theme::built_in("ansi", Depth::Sixteen).expect("a built-in theme");
    for (name, lines) in [("lines", true), ("one_line", false)] {
        let mut state = state(lines);
        let mut group = criterion.benchmark_group(format!("frame_200x60_1MB_{name}"));
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a buffer");
        group.bench_function("frame", |bench| {
            let mut frame = terminal.get_frame();
            bench.iter(|| black_box(view::draw(&state, &theme, &mut frame)));
        });
        group.bench_function("settled", |bench| {
            let mut frame = terminal.get_frame();
            let mut down = false;
            bench.iter(|| {
                down = !down;
                update(&mut state, Event::Key(Key::char(if down { 'j' } else { 'k' })));
                black_box(present(&mut state, &theme, &mut frame))
            });
        });
        let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
        let backend = CrosstermBackend::new(io::sink());
        let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport }).expect("a terminal");
        group.bench_function("written", |bench| {
            bench.iter(|| {
                update(&mut state, Event::Key(Key::ctrl('d')));
                update(&mut state, Event::Key(Key::ctrl('u')));
                terminal.draw(|frame| drop(present(&mut state, &theme, frame))).expect("a frame");
            });
        });
        group.finish();
    }
}

/// A state with a text of a megabyte in the editor, in lines or in one line, the cursor in its middle.
fn editing(lines: bool) -> State {
    let line = "目录与规则 and more of it, said once more. ";
    let text = if lines { format!("{line}\n") } else { line.to_owned() }.repeat(TEXT / line.len());
    let disk = Arc::new(Original::of(text.into_bytes()).expect("a text"));
    let at = if lines { Place { row: disk.len() / 2, byte: 0 } } else { Place { row: 0, byte: TEXT / 2 } };
    let mut state = State::new(true, false);
    update(&mut state, Event::Published(Arc::new(fixture::xbot())));
    state.editor = Some(Editor::new(&Opened {
        no: 1,
        purpose: Purpose::Here,
        file: "AGENTS.md".into(),
        path: Path::new("AGENTS.md").into(),
        at,
        layer: None,
        disk,
        draft: None,
        saved: None,
        kept: None,
        problem: None,
    }));
    state
}

fn typing(criterion: &mut Criterion) {
    let theme = Theme::built_in("ansi", Depth::Sixteen).expect("a built-in theme");
    let keys = ["x", "backspace"].map(|name| Key::parse(name).expect("a key"));
    for (name, lines) in [("lines", true), ("one_line", false)] {
        let mut state = editing(lines);
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a buffer");
        terminal.draw(|frame| drop(present(&mut state, &theme, frame))).expect("a frame");
        let mut group = criterion.benchmark_group(format!("editor_200x60_1MB_{name}"));
        let mut at = 0;
        group.bench_function("key", |bench| {
            bench.iter(|| {
                at = 1 - at;
                black_box(update(&mut state, Event::Key(keys[1 - at])))
            });
        });
        group.bench_function("typed", |bench| {
            let mut frame = terminal.get_frame();
            bench.iter(|| {
                at = 1 - at;
                update(&mut state, Event::Key(keys[1 - at]));
                black_box(present(&mut state, &theme, &mut frame))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, frames, typing);
criterion_main!(benches);
