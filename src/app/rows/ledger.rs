//! The lines of the ledger.

use super::page::{Column, Goal, Ink, Line, Page, Wrapped};
use crate::app::state::State;
use crate::app::views::{Form, LedgerRow, LedgerView, PieceRow, Size};
use crate::core::text::number::grouped;

pub(super) fn page(state: &State) -> Page {
    let Some(ledger) = state.snapshot.data.ledger() else {
        return Page { empty: super::page::not_yet(state), ..Page::default() };
    };
    let agent = ledger.agent.as_ref().map_or(String::new(), |agent| format!(" [{agent}]"));
    let again = match (ledger.replay, ledger.persisted) {
        (Some(call), _) => format!("replayed in call {}", call.0),
        (None, true) => format!("replayed in turn {}, if there is one", ledger.turn + 1),
        (None, false) => "the turn goes on: the rest is what the keep rules say".to_owned(),
    };
    let number = |head, rank| Column { head, right: true, opens: rank == 0, rank, ..Column::default() };
    let mut lines = Vec::new();
    for row in &ledger.rows {
        message(&mut lines, state, ledger, row);
    }
    if !ledger.rows.is_empty() {
        sums(&mut lines, ledger);
    }
    let column = state.here().column;
    Page {
        groups: Vec::new(),
        note: format!("call {}{agent}, turn {}; {again}", ledger.call.0, ledger.turn),
        enter: if column == 0 { "expand or fold" } else { "its bytes" },
        columns: vec![
            Column { head: "message", rest: true, opens: true, ..Column::default() },
            number("sent", 0),
            number("persisted", 0),
            number("replayed", 0),
            number("tokens", 1),
        ],
        lines: Wrapped::of(state).fold(lines),
        empty: "This call is sent no message: only tools and the system prompt.".to_owned(),
        filters: true,
        diff: None,
        start: None,
    }
}

/// Bytes, or that nothing is there.
fn bytes(size: Size) -> (String, Ink) {
    if size.bytes == 0 { ("-".to_owned(), Ink::Dim) } else { (grouped(size.bytes), Ink::Text) }
}

/// `189 / 21 / 21`: tokens by form, or one number where they are all the same.
fn tokens(sizes: [Size; 3], estimate: bool) -> String {
    let about = |tokens: u64| if estimate && tokens > 0 { "~" } else { "" };
    let one = |size: Size| match size.tokens {
        None => "...".to_owned(),
        Some(tokens) => format!("{}{}", about(tokens), grouped(tokens)),
    };
    if sizes.iter().all(|size| size.tokens == sizes[0].tokens) {
        return one(sizes[0]);
    }
    sizes.map(one).join(" / ")
}

fn goals(row: &LedgerRow, layer: Option<&PieceRow>) -> Vec<Goal> {
    let stored = Form::ALL.map(|form| Goal::Stored {
        message: row.message,
        form,
        author: layer.map(|piece| piece.author.clone()),
    });
    [Goal::Fold].into_iter().chain(stored).collect()
}

fn message(lines: &mut Vec<Line>, state: &State, ledger: &LedgerView, row: &LedgerRow) {
    let key = format!("m{}", row.message.0);
    // What is not replayed as it was sent is what one is looking for.
    let open = row.differs != state.here().turned.contains(&*key);
    let (sign, ink) = if row.differs { ("! ", Ink::Changed) } else { ("", Ink::Text) };
    let mut line = Line { open: Some(open), text: row.text.clone(), ..Line::new(key) };
    line = line.cell(format!("{sign}{}", row.title), ink);
    for (index, size) in row.sizes.into_iter().enumerate() {
        let (text, mut ink) = bytes(size);
        if index > 0 && size.bytes != row.sizes[0].bytes {
            ink = Ink::Changed;
        }
        line = line.cell(text, ink);
    }
    line = line.cell(tokens(row.sizes, ledger.estimate), Ink::Dim);
    line.goals = goals(row, None);
    lines.push(line);
    if !open {
        return;
    }
    for (index, piece) in row.pieces.iter().enumerate() {
        let ink = if piece.layer.is_some() { Ink::Injected } else { Ink::Label };
        let key = format!("m{}.{index}", row.message.0);
        let mut line =
            Line { depth: 1, text: piece.text.clone(), ..Line::new(key) }.cell(&*piece.author, ink);
        for there in piece.there {
            let (text, ink) = if there { bytes(piece.size) } else { ("-".to_owned(), Ink::Changed) };
            line = line.cell(text, ink);
        }
        let sizes = piece.there.map(|there| if there { piece.size } else { none(piece.size) });
        line = line.cell(tokens(sizes, ledger.estimate), Ink::Dim);
        line.goals = goals(row, Some(piece));
        lines.push(line);
        if let Some(stripped) = &piece.stripped {
            lines.push(Line { depth: 3, ..Line::text(&**stripped, Ink::Dim) });
        }
    }
    if let Some(cost) = &row.cost {
        lines.push(Line { depth: 2, ..Line::text(format!("cost: {cost}"), Ink::Bad) });
    }
    for cost in &row.by_model {
        lines.push(Line { depth: 3, ..Line::text(&**cost, Ink::Dim) });
    }
}

/// Nothing of a size that is counted.
fn none(size: Size) -> Size {
    Size { bytes: 0, tokens: size.tokens.map(|_| 0) }
}

fn sums(lines: &mut Vec<Line>, ledger: &LedgerView) {
    let mut line = Line::new("total").cell("all messages", Ink::Label);
    for size in ledger.total {
        line = line.cell(bytes(size).0, Ink::Label);
    }
    lines.push(line.cell(tokens(ledger.total, ledger.estimate), Ink::Label).goal(Goal::Nothing));
    let head = Line::new("head").cell("tools and system", Ink::Dim).cell(bytes(ledger.head).0, Ink::Dim);
    let head = head.cell("-", Ink::Dim).cell("anew", Ink::Dim);
    let sent = tokens([ledger.head; 3], ledger.estimate);
    lines.push(head.cell(sent, Ink::Dim).goal(Goal::Nothing));
    for cost in &ledger.cost {
        lines.push(Line::text(&**cost, Ink::Text));
    }
}
