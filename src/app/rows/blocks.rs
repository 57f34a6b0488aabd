//! The overlay: every block of the shown request, its budget, and what became of its sections.

use super::overlay_life;
use super::page::{Column, Goal, Ink, Line, Page};
use crate::app::blocks::{BlockView, SectionRow, SectionState};
use crate::app::effect::TextPlace;
use crate::app::state::State;
use crate::core::text::number::grouped;

/// The page: for each block a head, its budget, and a line for each section.
pub(super) fn page(state: &State) -> Page {
    let blocks = &state.snapshot.blocks;
    let life = state.snapshot.data.overlay().filter(|_| !blocks.is_empty());
    let mut lines = life.map(overlay_life::lines).unwrap_or_default();
    for block in blocks.iter() {
        head(block, &mut lines);
    }
    Page {
        groups: Vec::new(),
        note: note(blocks),
        enter: "its bytes",
        columns: vec![
            Column { head: "section", rank: 0, ..Column::default() },
            Column { head: "kind", rank: 1, ..Column::default() },
            Column { head: "chars", right: true, rank: 0, ..Column::default() },
            Column { head: "limit", right: true, rank: 2, ..Column::default() },
            Column { head: "what became of it", rest: true, ..Column::default() },
        ],
        lines,
        start: None,
        empty: "this bench has no block: a place with `of: block`, which can have markers and a budget"
            .to_owned(),
        filters: true,
        diff: None,
    }
}

/// How many sections stand in all blocks together, and how many there was no room for.
fn note(blocks: &[BlockView]) -> String {
    let sections = || blocks.iter().filter(|block| block.absent.is_none()).flat_map(|block| &block.sections);
    let count = |is: fn(&SectionState) -> bool| sections().filter(|section| is(&section.state)).count();
    let kept = count(|state| matches!(state, SectionState::Kept | SectionState::Cut(..)));
    let cut = count(|state| matches!(state, SectionState::Cut(..)));
    let dropped = count(|state| matches!(state, SectionState::Dropped(_)));
    if blocks.is_empty() {
        return String::new();
    }
    let mut note = format!("{kept} {} in the request", if kept == 1 { "section" } else { "sections" });
    if cut > 0 {
        note += &format!(", {cut} of them cut");
    }
    if dropped > 0 {
        note += &format!(", {dropped} dropped for want of room");
    }
    note
}

fn head(block: &BlockView, lines: &mut Vec<Line>) {
    let place = &block.place;
    if let Some(reason) = &block.absent {
        let line = Line { whole: true, ..Line::new(format!("block {place}")) };
        lines.push(line.cell(&**place, Ink::Label).cell(format!("  not in the request: {reason}"), Ink::Dim));
        return;
    }
    let mut title = Line { whole: true, ..Line::new(format!("block {place}")) }.cell(&**place, Ink::Label);
    if let Some(layer) = &block.shown_by {
        title = title.cell(format!("  shown by {layer}"), Ink::Dim);
    }
    if let Some(file) = &block.file {
        title = title.cell(format!(", written to {file}"), Ink::Dim);
    }
    lines.push(title);
    let total = match block.budget {
        Some(budget) if block.chars <= budget => {
            format!(
                "{} of {} characters, {} left",
                grouped(block.chars),
                grouped(budget),
                grouped(budget - block.chars)
            )
        }
        Some(budget) => format!("{} of {} characters", grouped(block.chars), grouped(budget)),
        None => format!("{} characters, no budget", grouped(block.chars)),
    };
    let of = if block.markers.is_some() { "markers, wraps and joins" } else { "wraps and joins" };
    lines.push(
        Line { whole: true, depth: 1, ..Line::new(format!("total {place}")) }
            .cell(total, Ink::Text)
            .cell(format!("; {} of them {of}", grouped(block.own)), Ink::Dim),
    );
    if block.stands {
        lines.push(Line {
            depth: 1,
            ..Line::text("it stands from before: what its sections would say now is not in it", Ink::Warn)
        });
    }
    if let Some(told) = &block.told {
        lines.push(Line { depth: 1, ..Line::text(&**told, Ink::Warn) });
    }
    if let Some((start, _)) = &block.markers {
        lines.push(Line { depth: 1, ..Line::text(&**start, Ink::Dim) });
    }
    lines.extend(block.sections.iter().map(section));
    if let Some((_, end)) = &block.markers {
        lines.push(Line { depth: 1, ..Line::text(&**end, Ink::Dim) });
    }
}

fn section(row: &SectionRow) -> Line {
    let (what, ink) = match &row.state {
        SectionState::Kept => ("kept".to_owned(), Ink::Good),
        SectionState::Cut(limit, 0) => (format!("cut to its own limit, {} lost", grouped(*limit)), Ink::Warn),
        SectionState::Cut(0, budget) => (format!("cut to the budget, {} lost", grouped(*budget)), Ink::Bad),
        SectionState::Cut(limit, budget) => (
            format!(
                "cut to its own limit, {} lost, then to the budget, {} lost",
                grouped(*limit),
                grouped(*budget)
            ),
            Ink::Bad,
        ),
        SectionState::Dropped(reason) => (format!("dropped: {reason}"), Ink::Bad),
        SectionState::Absent(reason) => (format!("not there: {reason}"), Ink::Dim),
    };
    let there = matches!(row.state, SectionState::Kept | SectionState::Cut(..));
    let kind = if row.required { "required" } else { "optional" };
    let weight = if there { Ink::Text } else { Ink::Dim };
    Line { text: Some(TextPlace::Layer(row.id.clone())), ..Line::new(row.id.clone()) }
        .cell(format!("  {}", row.shown), weight)
        .cell(kind, if row.required { Ink::Label } else { Ink::Dim })
        .cell(if there { grouped(row.chars) } else { String::new() }, weight)
        .cell(row.limit.clone(), Ink::Dim)
        .cell(what, ink)
        .goal(if there { Goal::Layer(row.id.clone()) } else { Goal::Nothing })
}
