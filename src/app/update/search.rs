//! Finding text in the focused pane.

use std::ops::Range;

use super::screen::look_at;
use super::why_lines;
use crate::app::rows;
use crate::app::state::{Hit, Pane, Search, State, View};

/// More hits than this are not counted.
const MOST: usize = 10_000;

/// Searches the focused pane and goes to the first hit at or behind the cursor. Empty text clears the search.
pub(super) fn search(state: &mut State, text: &str) {
    if text.is_empty() {
        state.search = None;
        return;
    }
    let pane = state.pane().unwrap_or(state.focus);
    let hits = find(state, pane, text);
    let cursor = match pane {
        Pane::Layers => state.layers.cursor,
        Pane::Calls => state.calls.cursor,
        Pane::Why => state.why.cursor,
        Pane::Request => 0,
    };
    let here = (state.request.block, state.request.cursor);
    let at = hits.iter().position(|hit| match hit {
        Hit::Row(row) => *row >= cursor,
        Hit::Bytes(block, range) => (*block, range.start) >= here,
    });
    state.search = Some(Search { pane, text: text.to_owned(), hits, at: at.unwrap_or(0) });
    show(state);
}

/// Finds again, since what is on the screen has changed; nothing moves.
pub(super) fn refresh(state: &mut State) {
    let Some(Search { pane, text, at, .. }) = state.search.take() else { return };
    let hits = find(state, pane, &text);
    let at = at.min(hits.len().saturating_sub(1));
    state.search = Some(Search { pane, text, hits, at });
}

/// Goes to another hit, round the end.
pub(super) fn step(state: &mut State, by: isize) {
    let Some(search) = &mut state.search else { return };
    let len = search.hits.len();
    if len == 0 {
        return;
    }
    let steps = if by < 0 { len - 1 } else { 1 };
    search.at = (search.at + steps) % len;
    state.message = format!("{} of {}", search.at + 1, len);
    if state.view == View::Main {
        state.focus = search.pane;
    }
    show(state);
}

fn show(state: &mut State) {
    let Some(search) = &state.search else { return };
    match (search.pane, search.hits.get(search.at)) {
        (_, None) => {}
        (Pane::Layers, Some(Hit::Row(row))) => state.layers.cursor = *row,
        (Pane::Calls, Some(Hit::Row(row))) => state.calls.cursor = *row,
        (Pane::Why, Some(Hit::Row(row))) => state.why.cursor = *row,
        (_, Some(Hit::Bytes(block, range))) => {
            let (block, byte) = (*block, range.start);
            unfold(state, block, byte);
            look_at(state, block, byte);
        }
        (Pane::Request, Some(Hit::Row(_))) => {}
    }
}

/// Opens the part in which something was found.
fn unfold(state: &mut State, block: usize, byte: usize) {
    let Some(row) = state.blocks().get(block) else { return };
    let part = row.parts.iter().position(|part| part.range.contains(&byte));
    if let Some(part) = part {
        state.request.folded.remove(&(row.title.clone(), part));
    }
}

fn find(state: &State, pane: Pane, text: &str) -> Vec<Hit> {
    let rows = |texts: &mut dyn Iterator<Item = String>| {
        texts
            .enumerate()
            .filter(|(_, row)| ranges(row, text).next().is_some())
            .map(|(row, _)| Hit::Row(row))
            .take(MOST)
            .collect()
    };
    let snapshot = &state.snapshot;
    match pane {
        Pane::Layers => {
            let texts = snapshot.layers.rows.iter();
            rows(&mut texts.map(|row| format!("{} {} {}", row.shown, row.id, row.place)))
        }
        Pane::Calls => {
            let table = &snapshot.calls;
            let lines = rows::call_lines(table, state.metrics.compact);
            rows(&mut lines.into_iter().map(|line| rows::call_line_text(table, line).to_owned()))
        }
        Pane::Why => {
            rows(&mut why_lines(state).into_iter().map(|line| format!("{} {}", line.label, line.text)))
        }
        Pane::Request => state
            .blocks()
            .iter()
            .enumerate()
            .flat_map(|(index, block)| {
                ranges(block.text.text(), text).map(move |range| Hit::Bytes(index, range))
            })
            .take(MOST)
            .collect(),
    }
}

/// Where `needle` stands in `text`. Lower case finds both cases, of ASCII letters.
pub(crate) fn ranges<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let both = !needle.chars().any(char::is_uppercase);
    let len = needle.len();
    let mut from = 0;
    std::iter::from_fn(move || {
        if len == 0 {
            return None;
        }
        let found = if both {
            let first = needle.as_bytes()[0];
            let bytes = text.as_bytes();
            (from..(bytes.len() + 1).saturating_sub(len)).find(|&at| {
                bytes[at].eq_ignore_ascii_case(&first)
                    && bytes[at..at + len].eq_ignore_ascii_case(needle.as_bytes())
            })
        } else {
            text.get(from..).and_then(|rest| rest.find(needle)).map(|at| from + at)
        }?;
        from = found + len;
        Some(found..from)
    })
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn lower_case_finds_both_cases() {
        let at = |text: &str, needle: &str| ranges(text, needle).map(|range| range.start).collect::<Vec<_>>();
        assert_eq!(at("Cd cd CD", "cd"), [0, 3, 6]);
        assert_eq!(at("Cd cd CD", "Cd"), [0]);
        assert_eq!(at("目录 目录", "目录"), [0, 7]);
        assert_eq!(at("aaa", "aa"), [0]);
        assert_eq!(at("a", "aa"), [0usize; 0]);
        assert_eq!(at("a", ""), [0usize; 0]);
    }
}
