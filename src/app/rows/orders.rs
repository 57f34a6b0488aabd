//! Run order against byte order: a line for each layer as it stands in the bytes, and the strokes that join the two.

use super::page::{Column, Goal, Ink, Line, Page};
use crate::app::effect::TextPlace;
use crate::app::snapshot::{ByteOrder, LayerRow};
use crate::app::state::State;

/// How many layers are named that the selected one crosses.
const NAMED: usize = 3;

/// A layer in both orders. Rows count from 0, over those layers that run and stand in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Both {
    /// The row of the layer table.
    pub row: usize,
    /// When it runs.
    pub runs: usize,
    /// Where it stands: also its line in the page.
    pub stands: usize,
}

/// The layers that run and stand in the request, in byte order.
#[must_use]
pub fn both_orders(rows: &[LayerRow]) -> Vec<Both> {
    let mut by_run: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].run.is_some()).collect();
    by_run.sort_by_key(|&at| rows[at].run);
    let bytes = (0..rows.len()).filter(|&at| rows[at].run.is_some());
    bytes
        .enumerate()
        .map(|(stands, row)| Both {
            row,
            stands,
            runs: by_run.iter().position(|&at| at == row).unwrap_or(stands),
        })
        .collect()
}

/// True when two layers run in another order than they stand.
fn cross(a: Both, b: Both) -> bool {
    (a.runs < b.runs) != (a.stands < b.stands)
}

/// The page. Its first lines are the layers of [`both_orders`], then what has no place in one of the orders; the view
/// draws columns of its own.
pub(super) fn page(state: &State) -> Page {
    let rows = &state.snapshot.layers.rows;
    let both = both_orders(rows);
    let others = (0..rows.len()).filter(|at| both.iter().all(|both| both.row != *at));
    let lines: Vec<Line> = both
        .iter()
        .map(|both| both.row)
        .chain(others)
        .map(|at| Line {
            text: Some(TextPlace::Layer(rows[at].id.clone())),
            ..Line::new(rows[at].id.clone())
                .cell(&*rows[at].shown, Ink::Text)
                .goal(Goal::Layer(rows[at].id.clone()))
        })
        .collect();
    let crossed = both.iter().filter(|one| both.iter().any(|other| cross(**one, *other))).count();
    let selected = both.iter().position(|both| both.row == state.layers.cursor);
    let first = both.iter().position(|one| both.iter().any(|other| cross(*one, *other)));
    Page {
        groups: Vec::new(),
        note: match crossed {
            0 => "every layer runs where it stands".to_owned(),
            n => format!("{n} of {} layers run in another order than they stand", both.len()),
        },
        enter: "its bytes",
        columns: vec![Column { rest: true, ..Column::default() }],
        start: selected.or(first).or(Some(0)),
        lines,
        empty: "There is no layer.".to_owned(),
        filters: false,
        diff: None,
    }
}

/// What decides where the layer of a line runs and stands, in a sentence.
#[must_use]
pub fn order_words(rows: &[LayerRow], id: &str) -> String {
    let Some(row) = rows.iter().find(|row| *row.id == *id) else { return String::new() };
    let both = both_orders(rows);
    let Some(own) = both.iter().find(|both| rows[both.row].id == row.id) else {
        return match (&row.reason, row.included) {
            (Some(reason), false) => format!("{} is left out: {reason}", row.shown),
            (None, false) => format!("{} writes nothing into this request", row.shown),
            (_, true) => format!("{} is no layer of the bench: nothing runs for it", row.shown),
        };
    };
    let place = match row.byte {
        ByteOrder::Number(_) => format!("in {}", row.place),
        ByteOrder::User => "in the user's message".to_owned(),
        ByteOrder::Tool => "in the tool message".to_owned(),
        ByteOrder::Message | ByteOrder::None => "in a message of its own".to_owned(),
    };
    let mut words = format!(
        "{} runs as {} ({}), stands as {} {place} ({})",
        row.shown,
        own.runs + 1,
        row.runs_by,
        own.stands + 1,
        row.stands_by
    );
    let crossed: Vec<&str> =
        both.iter().filter(|other| cross(*own, **other)).map(|other| &*rows[other.row].shown).collect();
    if !crossed.is_empty() {
        let more = crossed.len().saturating_sub(NAMED);
        let named = crossed[..crossed.len() - more].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        words.push_str(&format!("; crosses {named}{more}"));
    }
    words
}

/// A cell of a stroke: its row, its column, and what is drawn there.
pub type StrokeCell = (usize, usize, char);

/// The cells of the stroke from the row where a layer runs to the row where it stands, in `width` columns. `longest` is
/// the most rows that any stroke of the picture goes up or down. Strokes slope from one common column on, so that no
/// two lie on one another where they are level.
#[must_use]
pub fn stroke(from: usize, to: usize, longest: usize, width: usize) -> Vec<StrokeCell> {
    let steps = from.abs_diff(to);
    let wide = (longest + 1).min(width);
    let begin = (width - wide) / 2;
    if steps == 0 || wide == 0 {
        return (0..width).map(|column| (from, column, '─')).collect();
    }
    // One column a row, or less where there are more rows than columns.
    let column = |step: usize| begin + if longest < width { step } else { step * (wide - 1) / longest };
    let row = |step: usize| if to > from { from + step } else { from - step };
    let slope = if to > from { '╲' } else { '╱' };
    let level = (0..begin).map(|column| (from, column, '─'));
    let sloping = (0..=steps).map(|step| {
        let stands = step > 0 && column(step) == column(step - 1);
        (row(step), column(step), if stands { '│' } else { slope })
    });
    let last = (column(steps) + 1..width).map(|column| (to, column, '─'));
    level.chain(sloping).chain(last).collect()
}

/// What is drawn where two strokes meet: the later one, and a cross where slopes cross.
#[must_use]
pub fn meet(below: char, above: char) -> char {
    match (below, above) {
        ('╲', '╱') | ('╱', '╲') | ('╳', '╲' | '╱') => '╳',
        (' ', above) => above,
        (below, '─') => below,
        (_, above) => above,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture of strokes from each row to `to[row]`.
    fn picture(to: &[usize], width: usize) -> Vec<String> {
        let longest = to.iter().enumerate().map(|(from, &to)| from.abs_diff(to)).max().unwrap_or(0);
        let mut cells = vec![vec![' '; width]; to.len()];
        for (from, &to) in to.iter().enumerate() {
            for (row, column, glyph) in stroke(from, to, longest, width) {
                cells[row][column] = meet(cells[row][column], glyph);
            }
        }
        cells.into_iter().map(String::from_iter).collect()
    }

    #[test]
    fn strokes_that_swap_cross() {
        assert_eq!(picture(&[0, 2, 1, 3], 8), ["────────", "───╲╱───", "───╱╲───", "────────"]);
        assert_eq!(picture(&[2, 1, 0], 7), ["──╲ ╱──", "───╳───", "──╱ ╲──"]);
    }

    #[test]
    fn every_stroke_is_whole_and_stays_inside() {
        for width in 1..24 {
            for from in 0..40 {
                for to in 0..40 {
                    let cells = stroke(from, to, 39, width);
                    let (first, last) = (cells[0], cells[cells.len() - 1]);
                    assert!(cells.iter().all(|(_, column, _)| *column < width), "{width} {from} {to}");
                    assert!(first.0 == from && (last.0 == to), "{width} {from} {to}: {cells:?}");
                    for pair in cells.windows(2) {
                        assert!(
                            pair[0].0.abs_diff(pair[1].0) <= 1 && pair[1].1 - pair[0].1 <= 1,
                            "{cells:?}"
                        );
                    }
                }
            }
        }
    }
}
