//! What a terminal shows in each class of themes: true colours on dark and on light, the palette of 256, sixteen colours, and none. The texts
//! are the same in all of them, so they are kept once; a colour that changes shows in the letters.

use plywood::app::snapshot::{BlockChange, Now, Snapshot};
use plywood::app::state::State;
use plywood::core::wire::BlockKind;
use plywood::tui::theme::Depth;

use super::fixture::{self, xbot};
use super::shot::Shot;
use super::{keys, showing};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// A screen with something of everything: texts in Chinese, emoji and combining marks, control characters, what changed,
/// what failed, what was found, a selected row, and a banner.
fn scene() -> Snapshot {
    let mut snapshot = xbot();
    let shown = [
        (1, "目录与规则", Now::Changed(47)),
        (2, "😀_skills", Now::Cut),
        (3, "e\u{301}tude", Now::Failed("no such file".into())),
    ];
    for (index, name, now) in shown {
        let row = &mut snapshot.layers.rows[index];
        row.shown = name.into();
        row.now = now;
    }
    let text = "当前目录已切换 🙂\tafter a tab\r\n\u{1b}[31mnot red\u{7} \u{202e}turned\u{200b}\n# Rules\n- ｶﾞ and 🚀\n";
    snapshot.request.blocks[3] = fixture::block(
        "message 4 (tool)",
        BlockKind::ToolResult,
        &[
            ("tool result, Cd", "Changed directory to /home/shop/api\n", false),
            ("+dynamic-context", text, true),
        ],
    );
    snapshot.request.blocks[3].change = BlockChange::Changed(0);
    snapshot
}

fn state() -> State {
    let mut state = showing(scene());
    // The first frame measures; keys mean rows and pages from then on.
    Shot::new(120, 40).draw(&mut state);
    keys::press(&mut state, "3/目录<enter>");
    state
}

fn letters(theme: &str, depth: Depth) -> String {
    let mut out = String::new();
    for (width, height) in SIZES {
        let mut shot = Shot::in_depth(width, height, theme, depth);
        shot.draw(&mut state());
        out.push_str(&format!("{width}x{height}\n{}\n", shot.letters()));
    }
    out
}

#[test]
fn texts_are_the_same_in_every_theme() {
    let text = |theme: &str, depth: Depth| -> String {
        let mut out = String::new();
        for (width, height) in SIZES {
            let mut shot = Shot::in_depth(width, height, theme, depth);
            shot.draw(&mut state());
            out.push_str(&format!("{width}x{height}\n{}\n\n", shot.text()));
        }
        out
    };
    let dark = text("dark", Depth::True);
    for (theme, depth) in [
        ("light", Depth::True),
        ("dark", Depth::Palette),
        ("light", Depth::Palette),
        ("ansi", Depth::Sixteen),
        ("mono", Depth::None),
    ] {
        assert_eq!(text(theme, depth), dark, "{theme}");
    }
    insta::assert_snapshot!("themes_text", dark);
}

#[test]
fn true_colours_on_dark() {
    insta::assert_snapshot!("themes_dark", letters("dark", Depth::True));
}

#[test]
fn true_colours_on_light() {
    insta::assert_snapshot!("themes_light", letters("light", Depth::True));
}

#[test]
fn the_palette_of_256() {
    for theme in ["dark", "light"] {
        let letters = letters(theme, Depth::Palette);
        assert!(!letters.contains('#'), "no finer colour than the palette has");
        insta::assert_snapshot!(format!("themes_{theme}_256"), letters);
    }
}

#[test]
fn sixteen_colours() {
    let letters = letters("ansi", Depth::Sixteen);
    assert!(!letters.contains('#'), "no finer colour");
    insta::assert_snapshot!("themes_ansi", letters);
}

#[test]
fn no_colours() {
    let letters = letters("mono", Depth::None);
    let styles = letters.lines().filter(|line| line.contains(" on "));
    assert!(
        styles.clone().count() > 3 && styles.clone().all(|style| style.contains("default on default")),
        "{letters}"
    );
    insta::assert_snapshot!("themes_mono", letters);
}
