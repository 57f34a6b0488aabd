//! Widths: what the workbench computes with is what the screen's buffer does, or columns would drift apart.

use plywood::app::cells;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// How many cells the buffer goes on when it is given a text.
fn drawn(text: &str) -> usize {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 400, 1));
    let (end, _) = buffer.set_stringn(0, 0, text, 400, Style::default());
    usize::from(end)
}

#[test]
fn widths_are_what_is_drawn() {
    for (text, cells) in [
        ("prompt", 6),
        ("提示词", 6),
        ("，。（）", 8),
        ("e\u{301}", 1),
        ("\u{301}", 0),
        ("\u{200b}\u{feff}", 0),
        ("☕\u{fe0f}✔\u{fe0f}❤\u{fe0f}", 6),
        ("✔❤", 2),
        ("👍🏽👩\u{200d}👩\u{200d}👧🇨🇳", 6),
        ("한글각", 6),
        ("\u{1112}\u{1161}\u{11ab}", 2),
        ("…—“”", 4),
        ("a\u{7}b", 2),
    ] {
        assert_eq!((cells::width(text), drawn(text)), (cells, cells), "{text:?}");
    }
}

const ATOMS: &[&str] = &[
    "a",
    " ",
    "提",
    "，",
    "…",
    "☕",
    "✔",
    "❤",
    "1",
    "#",
    "\u{fe0f}",
    "\u{fe0e}",
    "\u{20e3}",
    "👍",
    "🏽",
    "👩",
    "\u{200d}",
    "🇨",
    "🇳",
    "\u{301}",
    "\u{3099}",
    "か",
    "ﾊ",
    "ﾞ",
    "ﾟ",
    "ل",
    "ا",
    "ก",
    "ำ",
    "न",
    "ि",
    "각",
    "\u{1112}",
    "\u{1161}",
    "\u{11ab}",
    "\u{200b}",
    "\u{ad}",
    "\u{e0061}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{17d2}",
    "\u{1780}",
];

proptest! {
    #[test]
    fn any_width_is_what_is_drawn(
        atoms in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(ATOMS).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ], 0..40),
    ) {
        let text = atoms.concat();
        prop_assert_eq!(cells::width(&text), drawn(&text), "{:?}", text);
    }

    #[test]
    fn what_fits_is_drawn_in_exactly_these_cells(text in "(\\PC|[提示， a]){0,40}", cells in 0usize..60) {
        prop_assert_eq!(drawn(&cells::left(&text, cells)), cells);
        prop_assert_eq!(drawn(&cells::right(&text, cells)), cells);
    }
}
