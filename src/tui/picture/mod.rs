//! The screen as a picture: the very frame that a terminal would get, as SVG.
//!
//! Nothing is measured with a font. Cells have a fixed size, texts are set into as many cells as they take in a
//! terminal, and lines of boxes are drawn as lines, so that columns stay columns whatever font the reader has.

mod colors;
mod lines;
mod runs;

use std::collections::BTreeMap;
use std::fmt::Write;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

pub use colors::Ground;

use self::runs::Run;
use super::present::present;
use super::theme::Theme;
use crate::app::state::State;

/// The width of a cell in pixels: six tenths of the size of the letters, as monospaced fonts have it.
const CELL_WIDTH: usize = 9;
/// The height of a cell.
const CELL_HEIGHT: usize = 18;
/// The size of the letters.
const FONT_SIZE: usize = 15;
/// From the top of a cell to the line on which the letters stand.
const BASELINE: usize = 14;
/// The margin around the cells.
const MARGIN: usize = 10;
/// Monospaced fonts of the usual systems, those that hold Chinese last.
const FONTS: &str = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', 'Noto Sans Mono \
                     CJK SC', 'PingFang SC', 'Microsoft YaHei', monospace";

/// The frame that a terminal of this size would be sent. Where the size is not that of the last frame, the state is
/// measured anew, as after a change of the terminal's size.
pub fn frame(state: &mut State, theme: &Theme, size: (u16, u16)) -> Buffer {
    frame_and_seen(state, theme, size).0
}

/// The same, with what of the texts it shows, as [`crate::app::highlight::wants`] asks for it.
pub fn frame_and_seen(
    state: &mut State,
    theme: &Theme,
    (width, height): (u16, u16),
) -> (Buffer, std::ops::Range<usize>) {
    let mut screen = match Terminal::new(TestBackend::new(width.max(1), height.max(1))) {
        Ok(screen) => screen,
        Err(never) => match never {},
    };
    let mut seen = 0..0;
    match screen.draw(|frame| seen = present(state, theme, frame).seen) {
        Ok(_) => (screen.backend().buffer().clone(), seen),
        Err(never) => match never {},
    }
}

/// A frame as SVG. `title` is what it is called where it cannot be seen.
#[must_use]
pub fn svg(buffer: &Buffer, ground: Ground, title: &str) -> String {
    let (columns, rows) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (width, height) = (columns * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + 2 * MARGIN);
    let (front, _) = ground.defaults();
    let runs = runs::of(buffer, ground);
    // A theme may paint a ground of its own: what most cells stand on is the ground of the picture.
    let back = most_common(&runs).unwrap_or_else(|| ground.defaults().1);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" font-size=\"{FONT_SIZE}\" fill=\"{front}\" \
         xml:space=\"preserve\">\n<title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{back}\"/>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\">\n",
        escaped(title)
    );
    for (row, column, cells, color) in grounds(&runs, &back) {
        let (x, y, wide) = (column * CELL_WIDTH, row * CELL_HEIGHT, cells * CELL_WIDTH);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{CELL_HEIGHT}\" fill=\"{color}\"/>"
        );
    }
    for (color, path) in lines::paths(&runs) {
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\"/>");
    }
    for run in runs.iter().filter(|run| !run.is_blank()) {
        text(&mut out, run, &front);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// The colour on which most cells stand.
fn most_common(runs: &[Run]) -> Option<String> {
    let mut cells: BTreeMap<&str, usize> = BTreeMap::new();
    for run in runs {
        *cells.entry(&run.look.back).or_default() += run.cells;
    }
    cells.into_iter().max_by_key(|(_, count)| *count).map(|(color, _)| color.to_owned())
}

/// Cells side by side on a ground of their own: row, column, how many, the colour.
fn grounds<'r>(runs: &'r [Run], page: &str) -> Vec<(usize, usize, usize, &'r str)> {
    let mut out: Vec<(usize, usize, usize, &str)> = Vec::new();
    for run in runs.iter().filter(|run| run.look.back != page) {
        match out.last_mut() {
            Some((row, column, cells, color))
                if *row == run.row && *column + *cells == run.column && *color == run.look.back =>
            {
                *cells += run.cells;
            }
            _ => out.push((run.row, run.column, run.cells, &run.look.back)),
        }
    }
    out
}

fn text(out: &mut String, run: &Run, front: &str) {
    let (x, y) = (run.column * CELL_WIDTH, run.row * CELL_HEIGHT + BASELINE);
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" textLength=\"{}\"", run.cells * CELL_WIDTH);
    // The letters of one cell have no space between them that could be made wider or narrower.
    if run.single {
        out.push_str(" lengthAdjust=\"spacingAndGlyphs\"");
    }
    if run.look.front != front {
        let _ = write!(out, " fill=\"{}\"", run.look.front);
    }
    for (on, attribute) in [
        (run.look.bold, " font-weight=\"bold\""),
        (run.look.italic, " font-style=\"italic\""),
        (run.look.underlined, " text-decoration=\"underline\""),
    ] {
        if on {
            out.push_str(attribute);
        }
    }
    let _ = writeln!(out, ">{}</text>", escaped(&run.text));
}

/// A text inside of XML. Characters that XML cannot hold at all become the one that stands for what cannot be shown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Modifier, Style};

    use super::*;

    fn buffer(rows: &[(&str, Style)]) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 24, rows.len() as u16));
        for (y, (text, style)) in rows.iter().enumerate() {
            buffer.set_string(0, y as u16, text, *style);
        }
        buffer
    }

    /// What is drawn: the elements behind the background.
    fn drawn(buffer: &Buffer, ground: Ground) -> Vec<String> {
        let svg = svg(buffer, ground, "a & b");
        assert!(svg.contains("<title>a &amp; b</title>"));
        let inside = svg.split_once("translate(10 10)\">\n").expect("a group").1;
        inside.trim_end().trim_end_matches("</g>\n</svg>").lines().map(str::to_owned).collect()
    }

    #[test]
    fn texts_stand_in_their_cells_and_wide_characters_take_two() {
        let plain = Style::new();
        let found = drawn(&buffer(&[("ab 环境 <c>", plain), ("   d  e&", plain)]), Ground::Dark);
        assert_eq!(
            found,
            [
                "<text x=\"0\" y=\"14\" textLength=\"18\">ab</text>",
                "<text x=\"27\" y=\"14\" textLength=\"36\">环境</text>",
                "<text x=\"72\" y=\"14\" textLength=\"27\">&lt;c&gt;</text>",
                "<text x=\"27\" y=\"32\" textLength=\"9\" lengthAdjust=\"spacingAndGlyphs\">d</text>",
                "<text x=\"54\" y=\"32\" textLength=\"18\">e&amp;</text>",
            ]
        );
    }

    #[test]
    fn a_cluster_of_several_characters_is_set_as_one() {
        let found = drawn(&buffer(&[("a👩‍🚀e\u{301}b", Style::new())]), Ground::Dark);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[1].starts_with("<text x=\"9\" y=\"14\" textLength=\"18\" lengthAdjust"), "{found:?}");
        assert!(found[1].ends_with(">👩‍🚀</text>") && found[2].ends_with(">e\u{301}</text>"), "{found:?}");
        assert!(found[3].starts_with("<text x=\"36\""), "{found:?}");
    }

    #[test]
    fn styles_are_shown_and_reversed_ones_change_their_colours() {
        let bold = Style::new().fg(Color::Rgb(1, 2, 3)).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        let reversed = Style::new().fg(Color::Red).add_modifier(Modifier::REVERSED);
        let found = drawn(&buffer(&[("bold", bold), ("back", reversed)]), Ground::Light);
        assert_eq!(found[0], "<rect x=\"0\" y=\"18\" width=\"36\" height=\"18\" fill=\"#c5221f\"/>");
        let want = "<text x=\"0\" y=\"14\" textLength=\"36\" fill=\"#010203\" font-weight=\"bold\" \
                    text-decoration=\"underline\">bold</text>";
        assert_eq!(found[1], want);
        assert_eq!(found[2], "<text x=\"0\" y=\"32\" textLength=\"36\" fill=\"#ffffff\">back</text>");
        // The same red is another one on a dark ground.
        assert!(!drawn(&buffer(&[("back", reversed)]), Ground::Dark)[0].contains("#c5221f"));
    }

    #[test]
    fn boxes_are_lines_and_not_letters() {
        let plain = Style::new();
        let found = drawn(&buffer(&[("┌──┐", plain), ("│ab│", plain), ("└──┘", plain)]), Ground::Dark);
        assert_eq!(found.len(), 2, "{found:?}");
        let path = "M4.5 9H31.5M4.5 45H31.5M4.5 9V45M31.5 9V45";
        assert!(found[0].starts_with(&format!("<path d=\"{path}\"")), "{found:?}");
        assert!(found[1].ends_with(">ab</text>"), "{found:?}");
    }

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(escaped("a\u{1b}\u{0}\u{fffe}b\tc\"'"), "a\u{fffd}\u{fffd}\u{fffd}b c&quot;'");
    }

    #[test]
    fn the_size_follows_the_cells() {
        let empty = Buffer::empty(Rect::new(0, 0, 80, 24));
        let svg = svg(&empty, Ground::Dark, "");
        assert!(svg.contains("width=\"740\" height=\"452\" viewBox=\"0 0 740 452\""), "{svg}");
        assert!(!svg.contains("<text"), "{svg}");
    }
}
