//! The lines of boxes, drawn from the middle of one cell to the middle of the next: letters of a font would leave gaps.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::runs::Run;
use super::{CELL_HEIGHT, CELL_WIDTH};

/// To which sides of its cell a character draws a line: left, right, up, down.
pub(super) fn arms(c: char) -> Option<[bool; 4]> {
    const NO: bool = false;
    Some(match c {
        '─' => [true, true, NO, NO],
        '│' => [NO, NO, true, true],
        '┌' | '╭' => [NO, true, NO, true],
        '┐' | '╮' => [true, NO, NO, true],
        '└' | '╰' => [NO, true, true, NO],
        '┘' | '╯' => [true, NO, true, NO],
        '├' => [NO, true, true, true],
        '┤' => [true, NO, true, true],
        '┬' => [true, true, NO, true],
        '┴' => [true, true, true, NO],
        '┼' => [true, true, true, true],
        _ => return None,
    })
}

/// The paths of all lines: the colour, what is drawn. Places are counted in half cells until they are written.
pub(super) fn paths(runs: &[Run]) -> BTreeMap<&str, String> {
    // By colour: the pieces as (line, from, to).
    let mut across: BTreeMap<&str, Vec<(usize, usize, usize)>> = BTreeMap::new();
    let mut down: BTreeMap<&str, Vec<(usize, usize, usize)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_line()) {
        for (at, c) in run.text.chars().enumerate() {
            let Some([left, right, up, below]) = arms(c) else { continue };
            let (x, y) = ((run.column + at) * 2 + 1, run.row * 2 + 1);
            let (across, down) =
                (across.entry(&run.look.front).or_default(), down.entry(&run.look.front).or_default());
            if left || right {
                across.push((y, x - usize::from(left), x + usize::from(right)));
            }
            if up || below {
                down.push((x, y - usize::from(up), y + usize::from(below)));
            }
        }
    }
    let mut paths: BTreeMap<&str, String> = BTreeMap::new();
    for (color, pieces) in across {
        let path = paths.entry(color).or_default();
        for (y, from, to) in merged(pieces) {
            // Writing to a string cannot fail.
            let _ =
                write!(path, "M{} {}H{}", half(from, CELL_WIDTH), half(y, CELL_HEIGHT), half(to, CELL_WIDTH));
        }
    }
    for (color, pieces) in down {
        let path = paths.entry(color).or_default();
        for (x, from, to) in merged(pieces) {
            let _ = write!(
                path,
                "M{} {}V{}",
                half(x, CELL_WIDTH),
                half(from, CELL_HEIGHT),
                half(to, CELL_HEIGHT)
            );
        }
    }
    paths
}

/// Pieces that touch, as one.
fn merged(mut pieces: Vec<(usize, usize, usize)>) -> Vec<(usize, usize, usize)> {
    pieces.sort_unstable();
    let mut out: Vec<(usize, usize, usize)> = Vec::new();
    for (line, from, to) in pieces {
        match out.last_mut() {
            Some(last) if last.0 == line && last.2 >= from => last.2 = last.2.max(to),
            _ => out.push((line, from, to)),
        }
    }
    out
}

fn half(halves: usize, cell: usize) -> String {
    let twice = halves * cell;
    format!("{}{}", twice / 2, if twice % 2 == 1 { ".5" } else { "" })
}
