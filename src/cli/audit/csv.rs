//! An audit as CSV: a line for each call, with no text of any prompt.

use std::io;

use super::Audit;
use crate::cli::output::Out;
use crate::core::audit::Call;

const COLUMNS: &[&str] = &[
    "file",
    "line",
    "call",
    "time",
    "conversation",
    "agent",
    "turn",
    "model",
    "sent",
    "read",
    "write",
    "fresh",
    "lost",
    "output",
    "expected_read",
    "expected_write",
    "expected_lost",
    "estimate",
    "verdict",
    "also",
    "cause",
    "cost_usd",
    "lost_cost_usd",
    "error",
];

/// The names of the columns.
pub(super) fn heading(out: &mut Out<'_>) -> io::Result<()> {
    out.raw_line(COLUMNS.join(","))
}

/// A call.
pub(super) fn line(
    audit: &Audit,
    file: usize,
    call: &Call,
    first: bool,
    out: &mut Out<'_>,
) -> io::Result<()> {
    if first {
        heading(out)?;
    }
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let (told, expected) = (call.reported_figures(), call.expected_figures());
    let also: Vec<&str> = call.also.iter().map(|verdict| verdict.words()).collect();
    let cells = [
        audit.file(file),
        call.line.to_string(),
        call.number.to_string(),
        call.at.and_then(time).unwrap_or_default(),
        call.conversation.to_string(),
        call.agent.as_deref().unwrap_or_default().to_owned(),
        call.turn.to_string(),
        call.model.to_string(),
        number(told.sent.or(expected.sent)),
        number(told.read),
        number(told.write),
        number(told.fresh),
        number(call.lost()),
        number(call.reported.and_then(|reported| reported.output)),
        number(expected.read),
        number(expected.write),
        number(expected.lost),
        call.is_estimate().to_string(),
        if call.error.is_some() { "failed".to_owned() } else { call.verdict.to_string() },
        also.join("; "),
        call.cause().unwrap_or_default(),
        call.cost.map_or_else(String::new, |cost| cost.decimals(6)),
        call.lost_cost.map_or_else(String::new, |cost| cost.decimals(6)),
        call.error.clone().unwrap_or_default(),
    ];
    out.raw_line(cells.map(|cell| quoted(&cell)).join(","))
}

/// A time as RFC 3339 has it.
pub(super) fn time(at: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(at).ok().map(|at| at.to_string())
}

/// A cell: in quotes where it has to be, and never a formula to the program that opens it.
fn quoted(cell: &str) -> String {
    let cell = match cell.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{cell}"),
        _ => cell.to_owned(),
    };
    if cell.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_are_no_formulas() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
    }
}
