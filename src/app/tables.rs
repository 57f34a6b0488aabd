//! What panes show, as tables of text: to be copied, printed and reported.

use super::rows::Page;
use super::snapshot::{ByteOrder, CallState, CallTable, LayerRow, LayerTable, Lost, Paid, Ways};
use crate::core::compare;
use crate::core::text::number::grouped;
use crate::core::text::table::Table;

/// A view, as it is shown: its columns aligned anew, whatever the screen had room for, lines that run over all columns
/// between them.
#[must_use]
pub fn page(page: &Page) -> String {
    let heads: Vec<String> = page
        .columns
        .iter()
        .map(|column| format!("{}{}", if column.right { ">" } else { "" }, column.head))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new(&heads);
    let mut out = String::new();
    for line in &page.lines {
        let indent = " ".repeat(line.indent());
        if line.whole || heads.len() < 2 {
            if !table.is_empty() {
                out.push_str(&std::mem::replace(&mut table, Table::new(&heads)).text());
            }
            let words: String = line.cells.iter().map(|cell| cell.text.as_str()).collect();
            out.push_str(format!("{indent}{words}").trim_end());
            out.push('\n');
            continue;
        }
        table.row((0..heads.len()).map(|at| {
            let text = line.cells.get(at).map_or("", |cell| cell.text.as_str());
            if at == 0 { format!("{indent}{text}") } else { text.to_owned() }
        }));
    }
    if !table.is_empty() {
        out.push_str(&table.text());
    }
    out
}

/// The layers, in byte order. `sign` stands in front of counts that are estimates.
#[must_use]
pub fn layers(table: &LayerTable, sign: &str) -> Table {
    let count = |tokens: Option<u64>| {
        tokens.map_or_else(|| "n/a".to_owned(), |tokens| format!("{sign}{}", grouped(tokens)))
    };
    // Commands take ids; where titles or keys are shown instead, both are said.
    let ids = table.rows.iter().any(|row| row.shown != row.id);
    let heads: &[&str] = if ids {
        &[">byte", ">run", "layer", "id", "place", ">chars", ">tokens", "change", "note"]
    } else {
        &[">byte", ">run", "layer", "place", ">chars", ">tokens", "change", "note"]
    };
    let mut lines = Table::new(heads);
    let with_id = |mut cells: Vec<String>, id: &str| {
        if ids {
            cells.insert(3, id.to_owned());
        }
        cells
    };
    for row in &table.rows {
        let cells = vec![
            byte(row.byte),
            row.run.map_or_else(
                || "-".to_owned(),
                |run| format!("{run}{}", if row.crossing { "x" } else { "" }),
            ),
            row.shown.to_string(),
            row.place.to_string(),
            if row.included { grouped(row.chars) } else { "-".to_owned() },
            if row.included { count(row.tokens) } else { "-".to_owned() },
            row.change.to_string(),
            note(row),
        ];
        let id = if row.shown == row.id { "" } else { &*row.id };
        lines.row(with_id(cells, id));
    }
    if let Some(total) = &table.total {
        let joins = format!("{} of them between layers", grouped(total.joins));
        let cells = vec![
            String::new(),
            String::new(),
            total.label.to_string(),
            String::new(),
            grouped(total.chars),
            count(total.tokens),
            String::new(),
            joins,
        ];
        lines.row(with_id(cells, ""));
    }
    lines
}

fn byte(order: ByteOrder) -> String {
    match order {
        ByteOrder::None => "-".to_owned(),
        ByteOrder::Number(number) => number.to_string(),
        ByteOrder::User => "u".to_owned(),
        ByteOrder::Tool => "t".to_owned(),
        ByteOrder::Message => "m".to_owned(),
    }
}

fn note(row: &LayerRow) -> String {
    match (&row.truncated, row.included, &row.reason) {
        (Some(cut), ..) => cut.to_string(),
        (None, false, Some(reason)) => format!("left out: {reason}"),
        _ => String::new(),
    }
}

/// The calls, with what became of their tokens.
#[must_use]
pub fn calls(table: &CallTable) -> Table {
    let heading: &[&str] = if table.write_fee {
        &[">call", ">turn", "what happened", ">sent", ">read", ">write", ">fresh", ">lost"]
    } else {
        &[">call", ">turn", "what happened", ">sent", ">read", ">fresh", ">lost"]
    };
    let mut lines = Table::new(heading);
    for row in &table.rows {
        let mut what = row.what.to_string();
        if let Some(answer) = &row.answer {
            what.push_str(&format!("; {answer}"));
        }
        match row.state {
            CallState::Forecast => what.push_str(" (forecast)"),
            CallState::Failed => what.push_str(" (failed)"),
            CallState::Sent | CallState::Next => {}
        }
        if let Some(agent) = &row.agent {
            what = format!("{agent}: {what}");
        }
        let mut cells = vec![row.no.0.to_string(), row.turn.to_string(), what];
        match &row.paid {
            Some(paid) => cells.extend(numbers(paid, table.write_fee)),
            None => cells.resize(heading.len(), "n/a".to_owned()),
        }
        lines.row(cells);
    }
    lines
}

fn numbers(paid: &Paid, write_fee: bool) -> Vec<String> {
    let sign = if paid.estimate { "~" } else { "" };
    let count = |tokens: Option<u64>| {
        tokens.map_or_else(|| "n/a".to_owned(), |tokens| format!("{sign}{}", grouped(tokens)))
    };
    let lost = match &paid.lost {
        Lost::First => "first".to_owned(),
        Lost::Nothing => "-".to_owned(),
        Lost::Tokens(lost) => format!("{sign}{}", grouped(*lost)),
        Lost::Unknown(_) => "n/a".to_owned(),
    };
    let mut cells = vec![count(paid.sent), count(paid.read)];
    if write_fee {
        cells.push(count(paid.write));
    }
    cells.extend([count(paid.fresh), lost]);
    cells
}

/// How else it could be told, with what each way costs over the whole run.
#[must_use]
pub fn ways(ways: &Ways) -> Table {
    let mut lines =
        Table::new(&["", "way", ">stale", ">superseded", ">untold", ">lost", ">$/1k runs", "note"]);
    for row in &ways.rows {
        let mut cells = vec![
            if row.current { ">" } else { "" }.to_owned(),
            format!("{}{}", if row.indent { "  " } else { "" }, row.label),
        ];
        match &row.outcome {
            Some(outcome) => {
                let sign = if outcome.estimate { "~" } else { "" };
                let lost = outcome.lost.map(|lost| format!("{sign}{}", grouped(lost)));
                let money = outcome.per_1000.map(|money| format!("{sign}{money:.2}"));
                cells.extend(
                    [outcome.stale, outcome.superseded, outcome.untold].map(|calls| calls.to_string()),
                );
                cells.extend([lost, money].map(|cell| cell.unwrap_or_else(|| "n/a".to_owned())));
                cells.push(outcome.failed.as_ref().map_or_else(String::new, ToString::to_string));
            }
            None => {
                cells.resize(7, "n/a".to_owned());
                cells.push("not worked out yet".to_owned());
            }
        }
        lines.row(cells);
    }
    lines
}

/// Every way of building a run as a table: `>` the bench as it is written, `*` what costs least of what tells the truth.
#[must_use]
pub fn compared(table: &compare::Table) -> Table {
    let mut heading = vec!["".to_owned(), "way".to_owned()];
    for (index, short) in table.short.iter().enumerate() {
        let about = table.rows.iter().any(|row| row.sums.get(index).is_some_and(|sum| sum.estimate));
        heading.push(format!(">{short}{} lost", if about { " ~" } else { "" }));
        heading.push(">$".to_owned());
    }
    heading.extend([">stale", ">superseded", ">untold"].map(str::to_owned));
    heading.push(table.last.map_or_else(|| ">ctx".to_owned(), |call| format!(">ctx @{}", call.0)));
    let mut lines = Table::new(&heading.iter().map(|head| &**head).collect::<Vec<_>>());
    for row in &table.rows {
        lines.row(compared_row(table, row));
    }
    lines
}

/// The cells of a row of [`compared`].
#[must_use]
pub fn compared_row(table: &compare::Table, row: &compare::TableRow) -> Vec<String> {
    let sign = match (row.least, row.base) {
        (true, _) => "*",
        (false, true) => ">",
        (false, false) => "",
    };
    let none = || "n/a".to_owned();
    let mut cells = vec![sign.to_owned(), format!("{}{}", "  ".repeat(usize::from(row.depth)), row.label)];
    for index in 0..table.models.len() {
        let sum = row.sums.get(index);
        cells.push(sum.and_then(|sum| sum.lost).map_or_else(none, grouped));
        cells.push(sum.and_then(|sum| sum.cost).map_or_else(none, |cost| (cost * 1_000).decimals(2)));
    }
    let told = |count: fn(&compare::Told) -> u32| {
        row.told.as_ref().map_or_else(none, |told| count(told).to_string())
    };
    cells.extend([told(|told| told.stale), told(|told| told.superseded), told(|told| told.untold)]);
    let context = row.sums.get(table.counted).and_then(|sum| sum.last);
    cells.push(context.map_or_else(none, |tokens| grouped(u64::from(tokens))));
    cells
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::snapshot::{CallRow, TotalRow, WayOutcome, WayRow};
    use crate::core::wire::CallNo;

    #[test]
    fn layers_say_what_is_estimated_and_what_is_left_out() {
        let row = |shown: &str, included| LayerRow {
            id: shown.into(),
            shown: shown.into(),
            place: "system".into(),
            change: "turn".into(),
            chars: 1_234,
            tokens: Some(300),
            included,
            reason: Some("when: skills".into()),
            ..LayerRow::default()
        };
        let total = TotalRow { label: "total, call 1".into(), chars: 1_234, joins: 0, tokens: None };
        let table = LayerTable { rows: vec![row("base", true), row("skills", false)], total: Some(total) };
        let want = "byte  run  layer          place   chars  tokens  change  note\n   \
             -    -  base           system  1,234    ~300  turn\n   \
             -    -  skills         system      -       -  turn    left out: when: skills\n           \
             total, call 1          1,234     n/a          0 of them between layers\n";
        assert_eq!(layers(&table, "~").text(), want);
    }

    #[test]
    fn calls_say_what_is_not_known() {
        let paid = Paid { sent: Some(6_301), estimate: true, lost: Lost::Tokens(9), ..Paid::default() };
        let call = |no, paid| CallRow {
            no: CallNo(no),
            turn: 1,
            what: Arc::from("user: Go."),
            state: CallState::Forecast,
            paid,
            ..CallRow::default()
        };
        let table = CallTable { rows: vec![call(1, Some(paid)), call(2, None)], ..CallTable::default() };
        let want = "call  turn  what happened           sent  read  fresh  lost\n   \
             1     1  user: Go. (forecast)  ~6,301   n/a    n/a    ~9\n   \
             2     1  user: Go. (forecast)     n/a   n/a    n/a   n/a\n";
        assert_eq!(calls(&table).text(), want);
    }

    #[test]
    fn ways_that_are_not_worked_out_say_so() {
        let outcome = WayOutcome { lost: Some(9_472), per_1000: Some(64.375), ..WayOutcome::default() };
        let rows = vec![
            WayRow {
                label: "tool message".into(),
                current: true,
                outcome: Some(outcome),
                ..WayRow::default()
            },
            WayRow { label: "and keep".into(), indent: true, ..WayRow::default() },
        ];
        let text = ways(&Ways { calls: 6, rows, left: 0, notes: Vec::new() }).text();
        assert!(text.contains(">  tool message      0           0       0  9,472      64.38"), "{text}");
        assert!(
            text.contains("     and keep      n/a         n/a     n/a    n/a        n/a  not worked"),
            "{text}"
        );
    }
}
