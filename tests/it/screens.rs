//! What a terminal shows of the workbench, and what keys and the mouse do to it.

mod blocks;
mod compare;
mod conventions;
mod copying;
mod day;
mod demos;
mod differences;
mod fixture;
mod forms;
mod hand;
mod kept;
mod keys;
mod lists;
mod mending;
mod reading;
mod recording;
mod shot;
mod stage;
mod themes;
mod typing;
mod views;
mod zones;

use std::sync::Arc;

use plywood::app::event::Event;
use plywood::app::snapshot::{BlockChange, ByteOrder, LayerRow, Now, Snapshot};
use plywood::app::state::State;
use plywood::app::update::update;
use plywood::core::diagnostic::{Diagnostic, Position};
use plywood::core::wire::BlockKind;
use plywood::tui::present::present;
use plywood::tui::theme::{Depth, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use self::fixture::xbot;
use self::shot::Shot;

/// A state that shows a snapshot.
fn showing(snapshot: Snapshot) -> State {
    let mut state = State::new(true, false);
    update(&mut state, Event::Published(Arc::new(snapshot)));
    state
}

fn shot(width: u16, height: u16, state: &mut State) -> String {
    let mut shot = Shot::new(width, height);
    shot.draw(state);
    shot.text()
}

#[test]
fn main_screen_in_120x40() {
    let mut state = showing(xbot());
    let mut shot = Shot::new(120, 40);
    shot.draw(&mut state);
    insta::assert_snapshot!("main_120x40", shot.text());
    insta::assert_snapshot!("main_120x40_styles", shot.styles());
}

#[test]
fn main_screen_in_80x24() {
    insta::assert_snapshot!("main_80x24", shot(80, 24, &mut showing(xbot())));
}

#[test]
fn main_screen_in_200x60() {
    insta::assert_snapshot!("main_200x60", shot(200, 60, &mut showing(xbot())));
}

#[test]
fn one_pane_in_40x12() {
    insta::assert_snapshot!("main_40x12", shot(40, 12, &mut showing(xbot())));
}

#[test]
fn too_small_says_so() {
    assert_eq!(shot(1, 1, &mut showing(xbot())), ".");
    assert_eq!(shot(10, 1, &mut showing(xbot())), "too smal..");
    assert_eq!(shot(15, 3, &mut showing(xbot())), "too small: 15x3");
}

#[test]
fn without_colours_signs_and_modifiers_remain() {
    let mut state = showing(xbot());
    let mut shot = Shot::themed(120, 40, "mono");
    shot.draw(&mut state);
    let styles = shot.styles();
    assert!(!styles.contains("fg") && !styles.contains("bg"), "{styles}");
    assert!(styles.contains("reversed"), "{styles}");
    insta::assert_snapshot!("main_120x40_mono_styles", styles);
}

#[test]
fn before_anything_was_read_every_pane_says_so() {
    insta::assert_snapshot!("empty_80x24", shot(80, 24, &mut State::new(true, false)));
}

#[test]
fn counting_is_shown_until_tokens_are_there() {
    let mut snapshot = xbot();
    snapshot.status.counting = true;
    snapshot.verdict.clear();
    for row in &mut snapshot.layers.rows {
        (row.tokens, row.tokens_alone, row.share) = (None, None, None);
    }
    if let Some(total) = &mut snapshot.layers.total {
        total.tokens = None;
    }
    for row in &mut snapshot.calls.rows {
        row.paid = None;
    }
    for row in &mut snapshot.why.ways.rows {
        row.outcome = None;
    }
    insta::assert_snapshot!("counting_120x40", shot(120, 40, &mut showing(snapshot)));
}

#[test]
fn a_broken_bench_is_shown_beside_the_last_good_state() {
    let mut snapshot = xbot();
    let text = "layers:\n  - { id: rules, refesh: call }\n";
    let error = Diagnostic::error("unknown key `refesh` in a layer")
        .at("bench.yaml", text, Position { line: 2, column: 16 })
        .hint("did you mean `refresh`?");
    snapshot.diagnostics.push(error);
    snapshot.broken = true;
    insta::assert_snapshot!("broken_120x40", shot(120, 40, &mut showing(snapshot.clone())));
    insta::assert_snapshot!("broken_80x24", shot(80, 24, &mut showing(snapshot)));
}

#[test]
fn estimates_carry_their_sign() {
    let mut snapshot = xbot();
    snapshot.model.tokens.estimate =
        Some(plywood::app::snapshot::Estimate { factor: 1.31, error: "+-12 %".into() });
    for paid in snapshot.calls.rows.iter_mut().filter_map(|row| row.paid.as_mut()) {
        paid.estimate = true;
    }
    // One call went to a model whose tokens are counted exactly.
    snapshot.calls.rows[3].paid.as_mut().expect("numbers").estimate = false;
    let mut state = showing(snapshot);
    let text = shot(120, 40, &mut state);
    for want in ["~1,412", "~6,301", "! ~9,472", "o200k x1.31 ~ +-12 %"] {
        assert!(text.contains(want), "{want} in\n{text}");
    }
    assert!(text.contains(" 11,360") && !text.contains("~11,360"), "{text}");
    // Nothing is nothing, however it is counted.
    assert!(!text.contains("~0"), "{text}");
}

#[test]
fn what_there_is_to_say_stands_whole_above_the_keys() {
    let mut snapshot = xbot();
    snapshot.status.note = "a branch from call 2; the other stays as it was".into();
    let text = shot(120, 40, &mut showing(snapshot));
    assert!(text.contains("a branch from call 2; the other stays as it was"), "{text}");
}

#[test]
fn wide_characters_keep_the_columns_in_line() {
    let mut snapshot = xbot();
    for (index, name) in ["目录与规则", "😀_skills", "e\u{301}tude", "👨‍👩‍👧_family", "ｶﾞ"].into_iter().enumerate()
    {
        let row = &mut snapshot.layers.rows[index];
        row.shown = name.into();
        row.now = Now::Same;
    }
    snapshot.calls.rows[0].what = "user: 请切换到 api 目录并修复失败的测试 🙂🙂🙂".into();
    let mut state = showing(snapshot);
    for (width, height) in [(120, 40), (80, 24), (200, 60), (40, 12)] {
        let mut shot = Shot::new(width, height);
        shot.draw(&mut state);
        if width >= 100 {
            // Every row of the panes has its borders in the same columns: 4 for two boxes side by side.
            let first = shot.columns_of(5, "│");
            assert_eq!(first.len(), 4, "{}", shot.text());
            for row in 5..14 {
                assert_eq!(shot.columns_of(row, "│"), first, "row {row} of\n{}", shot.text());
            }
        } else if width == 80 {
            for row in 2..10 {
                assert_eq!(shot.columns_of(row, "│").len(), 1, "row {row} of\n{}", shot.text());
                assert_eq!(shot.columns_of(row, "│"), shot.columns_of(2, "│"), "{}", shot.text());
            }
        }
    }
    insta::assert_snapshot!("wide_120x40", shot(120, 40, &mut state));
}

#[test]
fn omitted_cut_failed_and_pending_layers_say_so() {
    let mut snapshot = xbot();
    let words = [
        Now::New,
        Now::Changed(47),
        Now::Changed(-3),
        Now::Omitted("when: skills".into()),
        Now::Cut,
        Now::Failed("no such file".into()),
        Now::Pending,
    ];
    for (row, now) in snapshot.layers.rows.iter_mut().zip(words) {
        row.included = !matches!(now, Now::Omitted(_) | Now::Failed(_));
        row.now = now;
    }
    let text = shot(200, 60, &mut showing(snapshot));
    for want in ["new", "+47", "-3", "omitted: when: skills", "cut", "! failed: no such file", "pending"] {
        assert!(text.contains(want), "{want} in\n{text}");
    }
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let mut state = showing(xbot());
    for (width, height) in [(120, 40), (80, 24), (40, 12)] {
        let mut shot = Shot::new(width, height);
        assert!(shot.draw(&mut state) > 0);
        assert_eq!(shot.draw(&mut state), 0, "{width}x{height}");
        // The same numbers, published again.
        update(&mut state, Event::Published(Arc::new(xbot())));
        assert_eq!(shot.draw(&mut state), 0, "{width}x{height}");
    }
}

#[test]
fn no_size_panics() {
    let mut state = showing(xbot());
    for width in 1..=130 {
        for height in 1..=45 {
            measure(width, height, &mut state);
        }
    }
}

#[test]
fn no_size_panics_whatever_is_open() {
    // The sizes at which the layout changes, and those around them.
    let widths = [1, 2, 3, 4, 15, 16, 17, 40, 59, 60, 61, 99, 100, 130];
    let heights = [1, 2, 3, 4, 5, 6, 17, 18, 19, 29, 30, 45];
    for opened in ["?", ":", "m", "V", "v", "c", "/a", "o", "z", "4z", "1", "3r", "4"] {
        let mut state = showing(xbot());
        keys::press(&mut state, opened);
        for width in widths {
            for height in heights {
                measure(width, height, &mut state);
            }
        }
    }
}

/// Draws into a buffer only.
fn measure(width: u16, height: u16, state: &mut State) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a buffer");
    let theme = Theme::built_in("ansi", Depth::Sixteen).expect("a built-in theme");
    terminal.draw(|frame| drop(present(state, &theme, frame))).expect("a frame");
}

#[test]
fn a_long_text_shows_its_slice_only() {
    let mut snapshot = xbot();
    let block = &mut snapshot.request.blocks[3];
    block.text = fixture::long_text(1_000_000);
    block.parts.clear();
    let mut state = showing(snapshot);
    keys::press(&mut state, "3");
    let mut shot = Shot::new(120, 40);
    shot.draw(&mut state);
    keys::press(&mut state, "G");
    shot.draw(&mut state);
    let text = shot.text();
    assert!(text.contains("shell command runs there from now on"), "{text}");
    assert!(state.request.cursor > 990_000);
}

#[test]
fn overlays() {
    for (keys, name) in [
        ("?", "help"),
        (":swi", "palette"),
        ("m", "models"),
        ("V", "variants"),
        ("v", "views"),
        ("o", "orders"),
        ("3/目录", "search"),
        ("1z", "zoom_layers"),
        ("3z", "zoom_request"),
    ] {
        let mut state = showing(xbot());
        shot(120, 40, &mut state);
        keys::press(&mut state, keys);
        insta::assert_snapshot!(format!("{name}_120x40"), shot(120, 40, &mut state));
    }
}

#[test]
fn a_cwd_shows_its_effect_while_it_is_typed() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut snapshot = xbot();
        let mut state = showing(snapshot.clone());
        keys::press(&mut state, "c<ctrl-u>a<tab>");
        snapshot.generation = 2;
        snapshot.draft = Some(plywood::app::snapshot::Draft {
            typed: "api".into(),
            value: "/home/shop/api/api".into(),
            effect: "call 2 would carry dynamic-context, 47 tokens, into message 4; system unchanged".into(),
            problem: None,
        });
        update(&mut state, Event::Published(Arc::new(snapshot)));
        keys::press(&mut state, "pi");
        insta::assert_snapshot!(format!("cwd_{width}x{height}"), shot(width, height, &mut state));
    }
}

#[test]
fn many_layers_and_calls_scroll() {
    let mut snapshot = xbot();
    for index in 0..60u32 {
        snapshot.layers.rows.push(LayerRow {
            id: format!("extra{index}").into(),
            shown: format!("extra {index}").into(),
            byte: ByteOrder::Number(8 + index),
            included: true,
            ..LayerRow::default()
        });
    }
    let mut state = showing(snapshot);
    let mut shot = Shot::new(80, 24);
    keys::press(&mut state, "1");
    shot.draw(&mut state);
    keys::press(&mut state, "G");
    shot.draw(&mut state);
    assert!(shot.text().contains("extra 59"), "{}", shot.text());
    assert!(!shot.text().contains("tools (7)"), "{}", shot.text());
    keys::press(&mut state, "g");
    shot.draw(&mut state);
    assert!(shot.text().contains("tools (7)"), "{}", shot.text());
}

#[test]
fn the_first_other_byte_is_marked() {
    let mut snapshot = xbot();
    snapshot.request.focus = 0;
    snapshot.request.blocks[0].change = BlockChange::Changed(29);
    let mut state = showing(snapshot);
    let mut shot = Shot::new(120, 40);
    shot.draw(&mut state);
    let text = shot.text();
    let row = text.lines().find(|row| row.contains("CWD: /home/shop ")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains("! differs at 29"), "{row}");
    assert!(text.contains("system, ! changed at byte 29"), "{text}");
    assert!(text.contains("byte 29: 00_base {{cwd}} prompt.md:2:6, by Cd in call 1"), "{text}");
}

#[test]
fn control_characters_of_a_prompt_never_reach_the_terminal() {
    let mut snapshot = xbot();
    let evil = "\u{1b}]0;title\u{7}a\tb\r\n\u{1b}[2Jc\u{202e}d\u{200b}e";
    snapshot.request.blocks[3] =
        fixture::block("message 4 (tool)", BlockKind::ToolResult, &[("tool result, Cd", evil, false)]);
    snapshot.calls.rows[0].what = "user: \u{1b}[2J\u{7}".into();
    snapshot.layers.rows[1].shown = "\u{1b}[2Jname".into();
    let mut state = showing(snapshot);
    let rendered = shot(200, 60, &mut state);
    for want in ["│ ^[]0;title^Ga   b", "│ ^[[2Jc\\u{202e}d\\u{200b}e", "user: ^[[2J^G", "^[[2Jname"] {
        assert!(rendered.contains(want), "{want} in\n{rendered}");
    }
    keys::press(&mut state, "r");
    let raw = shot(200, 60, &mut state);
    for want in ["a\\tb\\r\\n", "d\\u{200b}e", ", raw"] {
        assert!(raw.contains(want), "{want} in\n{raw}");
    }
}
