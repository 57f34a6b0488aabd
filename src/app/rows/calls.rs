//! Pane 2: calls, with what hangs on them.

use crate::app::snapshot::{CallState, CallTable};

/// A line of pane 2. Indices go into [`CallTable::rows`] and the lists of that row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallLine {
    /// A caption before a call.
    Note(usize, usize),
    /// The call itself.
    Call(usize),
    /// What came of it.
    Answer(usize),
    /// Something that was put into a message for it.
    Injected(usize, usize),
    /// A caption behind the last call.
    Closing(usize),
    /// The line below all calls.
    Footnote,
    /// Who has to say something by hand, so that the run goes on.
    ByHand,
}

impl CallLine {
    /// The call it belongs to.
    #[must_use]
    pub fn call(self) -> Option<usize> {
        match self {
            CallLine::Note(call, _)
            | CallLine::Call(call)
            | CallLine::Answer(call)
            | CallLine::Injected(call, _) => Some(call),
            CallLine::Closing(_) | CallLine::Footnote | CallLine::ByHand => None,
        }
    }

    /// True for lines that can be taken.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, CallLine::Call(_) | CallLine::Injected(..))
    }
}

/// The lines of pane 2. What was injected is listed for the shown call, answers for calls that were sent, captions where
/// they are still to come; `compact` leaves out captions, and what the model answered, except where a call failed.
#[must_use]
pub fn call_lines(table: &CallTable, compact: bool) -> Vec<CallLine> {
    let mut lines = Vec::with_capacity(table.rows.len() + 4);
    for (index, row) in table.rows.iter().enumerate() {
        let shown = table.shown == Some(index);
        if row.state == CallState::Forecast && !shown && !compact {
            lines.extend((0..row.notes.len()).map(|note| CallLine::Note(index, note)));
        }
        lines.push(CallLine::Call(index));
        let sent = row.state == CallState::Sent && !compact || row.state == CallState::Failed;
        if row.answer.is_some() && sent {
            lines.push(CallLine::Answer(index));
        }
        if shown {
            lines.extend((0..row.injected.len()).map(|injected| CallLine::Injected(index, injected)));
        }
    }
    if !compact {
        lines.extend((0..table.closing.len()).map(CallLine::Closing));
    }
    if table.footnote.is_some() {
        lines.push(CallLine::Footnote);
    }
    if table.by_hand.is_some() {
        lines.push(CallLine::ByHand);
    }
    lines
}

/// The text of a line, for searching.
#[must_use]
pub fn call_line_text(table: &CallTable, line: CallLine) -> &str {
    let row = |call: usize| &table.rows[call];
    match line {
        CallLine::Note(call, note) => &row(call).notes[note],
        CallLine::Call(call) => &row(call).what,
        CallLine::Answer(call) => row(call).answer.as_deref().unwrap_or_default(),
        CallLine::Injected(call, injected) => &row(call).injected[injected].layer,
        CallLine::Closing(note) => &table.closing[note],
        CallLine::Footnote => table.footnote.as_deref().unwrap_or_default(),
        // It names keys, which nobody looks for here.
        CallLine::ByHand => "",
    }
}
