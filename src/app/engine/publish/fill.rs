//! Numbers in captions: `{call.5.lost}` is what the screen shows there, so no caption can say something else.

use crate::app::snapshot::{BlockChange, Lost, Paid, Snapshot, WayOutcome};
use crate::core::text::number::grouped;

/// A number of the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    /// Not counted yet.
    Pending,
    /// It cannot be said.
    Unknown,
    /// A count; true for an estimate.
    Count(f64, bool),
    /// US dollars; true for an estimate.
    Dollars(f64, bool),
}

/// A caption with its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// The text. What is still being counted is `...`, what the screen does not have is `?name?`.
    pub text: String,
    /// The names of what the screen does not have.
    pub unknown: Vec<String>,
}

/// Puts the numbers into a text.
#[must_use]
pub fn fill(text: &str, snapshot: &Snapshot) -> Filled {
    let mut out = String::new();
    let mut unknown = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
        match value(name, snapshot) {
            Some(number) => out.push_str(&number),
            None => {
                out.push_str(&format!("?{name}?"));
                unknown.push(name.to_owned());
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    Filled { text: out, unknown }
}

fn value(name: &str, snapshot: &Snapshot) -> Option<String> {
    let number = match name.split_once(" - ") {
        None => number(name.trim(), snapshot),
        Some((from, minus)) => number(from.trim(), snapshot)
            .and_then(|from| Some(difference(from, number(minus.trim(), snapshot)?))),
    };
    let about = |estimate: bool| if estimate { "~" } else { "" };
    Some(match number? {
        Number::Pending => "...".to_owned(),
        Number::Unknown => "n/a".to_owned(),
        Number::Count(count, estimate) => {
            let sign = if count < 0.0 { "-" } else { "" };
            format!("{}{sign}{}", about(estimate && count != 0.0), grouped(count.abs() as u64))
        }
        Number::Dollars(dollars, estimate) => format!("{}${dollars:.2}", about(estimate)),
    })
}

fn difference(from: Number, minus: Number) -> Number {
    match (from, minus) {
        (Number::Count(a, x), Number::Count(b, y)) => Number::Count(a - b, x || y),
        (Number::Dollars(a, x), Number::Dollars(b, y)) => Number::Dollars(a - b, x || y),
        (Number::Pending, _) | (_, Number::Pending) => Number::Pending,
        _ => Number::Unknown,
    }
}

/// None for a name that means nothing here.
fn number(name: &str, snapshot: &Snapshot) -> Option<Number> {
    let (kind, rest) = name.split_once('.')?;
    let estimate = snapshot.model.tokens.estimate.is_some();
    let size = |chars: u64, bytes: u64, tokens: Option<u64>, field: &str| match field {
        "chars" => Some(Number::Count(chars as f64, false)),
        "bytes" => Some(Number::Count(bytes as f64, false)),
        "tokens" => Some(tokens.map_or(Number::Pending, |tokens| Number::Count(tokens as f64, estimate))),
        _ => None,
    };
    match kind {
        // `call.5.lost`
        "call" => {
            let (call, field) = rest.split_once('.')?;
            let call: u32 = call.parse().ok()?;
            let row = snapshot.calls.rows.iter().find(|row| row.no.0 == call)?;
            row.paid.as_ref().map_or(Some(Number::Pending), |paid| of_paid(paid, field))
        }
        // `calls.lost`: of the whole run
        "calls" => {
            let mut sum = Number::Count(0.0, false);
            for row in &snapshot.calls.rows {
                let Some(paid) = &row.paid else { return Some(Number::Pending) };
                sum = match (sum, of_paid(paid, rest)?) {
                    (Number::Count(a, x), Number::Count(b, y)) => Number::Count(a + b, x || y),
                    _ => Number::Unknown,
                };
            }
            Some(sum)
        }
        // `way.never.stale`, `way.bench.lost`, `way.no_cwd_in_base+keep_tags.money`
        "way" => {
            let (names, field) = rest.split_once('.')?;
            let wanted: Vec<&str> = if names == "bench" { Vec::new() } else { names.split('+').collect() };
            let ways = &snapshot.why.ways.rows;
            let same = |row: &&crate::app::snapshot::WayRow| {
                row.variants.iter().map(|name| &**name).eq(wanted.iter().copied())
            };
            match ways.iter().find(same) {
                Some(way) => way.outcome.as_ref().map_or(Some(Number::Pending), |way| of_way(way, field)),
                // Sets of variants are tried last.
                None if ways.is_empty() || ways.iter().any(|way| way.outcome.is_none()) => {
                    Some(Number::Pending)
                }
                None => None,
            }
        }
        // `layer.system_prompt.chars`
        "layer" => {
            let (id, field) = rest.split_once('.')?;
            let row = snapshot.layers.rows.iter().find(|row| *row.id == *id)?;
            match field {
                "byte" => match row.byte {
                    crate::app::snapshot::ByteOrder::Number(n) => Some(Number::Count(f64::from(n), false)),
                    _ => None,
                },
                "run" => row.run.map(|run| Number::Count(f64::from(run), false)),
                _ => size(row.chars, row.bytes, row.tokens, field),
            }
        }
        // `message.4.bytes`: of the shown request
        "message" => {
            let (message, field) = rest.split_once('.')?;
            let title = format!("message {message} ");
            let blocks: Vec<_> =
                snapshot.request.blocks.iter().filter(|block| block.title.starts_with(&title)).collect();
            if blocks.is_empty() {
                return None;
            }
            let chars = blocks.iter().map(|block| block.text.text().chars().count() as u64).sum();
            let bytes = blocks.iter().map(|block| block.text.len() as u64).sum();
            size(chars, bytes, blocks.iter().map(|block| block.tokens).sum(), field)
        }
        // `break.byte`: where the first block that changed begins to differ
        "break" if rest == "byte" => {
            let changed = |block: &crate::app::snapshot::BlockRow| match block.change {
                BlockChange::Changed(byte) => Some(Number::Count(byte as f64, false)),
                _ => None,
            };
            snapshot.request.blocks.iter().find_map(changed)
        }
        _ => None,
    }
}

fn of_paid(paid: &Paid, field: &str) -> Option<Number> {
    let count = |count: Option<u64>| {
        Some(count.map_or(Number::Unknown, |count| Number::Count(count as f64, paid.estimate)))
    };
    match field {
        "sent" => count(paid.sent),
        "read" => count(paid.read),
        "write" => count(paid.write),
        "fresh" => count(paid.fresh),
        "lost" => match paid.lost {
            Lost::First | Lost::Nothing => count(Some(0)),
            Lost::Tokens(lost) => count(Some(lost)),
            Lost::Unknown(_) => Some(Number::Unknown),
        },
        _ => None,
    }
}

fn of_way(way: &WayOutcome, field: &str) -> Option<Number> {
    let calls = |count: u32| Some(Number::Count(f64::from(count), false));
    match field {
        "stale" => calls(way.stale),
        "superseded" => calls(way.superseded),
        "untold" => calls(way.untold),
        "lost" => Some(way.lost.map_or(Number::Unknown, |lost| Number::Count(lost as f64, way.estimate))),
        // US dollars of input for 1,000 runs
        "money" => Some(way.per_1000.map_or(Number::Unknown, |money| Number::Dollars(money, way.estimate))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::snapshot::{CallRow, LayerRow, WayRow};
    use crate::core::wire::CallNo;

    fn snapshot() -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (no, paid) in [(1, Lost::First), (2, Lost::Tokens(9_472))] {
            let paid = Paid { sent: Some(1_200), lost: paid, ..Paid::default() };
            snapshot.calls.rows.push(CallRow { no: CallNo(no), paid: Some(paid), ..CallRow::default() });
        }
        let outcome = WayOutcome { stale: 5, lost: Some(7), per_1000: Some(53.372), ..WayOutcome::default() };
        let variants = vec!["never".into(), "keep".into()];
        snapshot.why.ways.rows = vec![WayRow { variants, outcome: Some(outcome), ..WayRow::default() }];
        snapshot.layers.rows = vec![LayerRow { id: "a".into(), chars: 1_234, ..LayerRow::default() }];
        snapshot
    }

    #[test]
    fn numbers_are_those_of_the_screen() {
        for (text, want) in [
            ("lost {call.2.lost} of {call.2.sent}", "lost 9,472 of 1,200"),
            ("{calls.lost} {calls.sent}", "9,472 2,400"),
            ("{way.never+keep.stale} stale, {way.never+keep.money}", "5 stale, $53.37"),
            ("{call.1.sent - call.2.lost}", "-8,272"),
            ("{layer.a.chars} {layer.a.tokens}", "1,234 ..."),
            ("{call.1.read}", "n/a"),
            (
                "{call.3.lost} {way.other.lost} {call.1.what} {x}",
                "?call.3.lost? ?way.other.lost? ?call.1.what? ?x?",
            ),
            ("no number", "no number"),
        ] {
            assert_eq!(fill(text, &snapshot()).text, want, "{text}");
        }
    }

    #[test]
    fn what_is_not_counted_yet_says_so() {
        let mut snapshot = snapshot();
        snapshot.calls.rows[0].paid = None;
        snapshot.why.ways.rows[0].outcome = None;
        let text = fill("{call.1.lost} {calls.lost} {way.later.lost}", &snapshot);
        assert_eq!((&*text.text, text.unknown.len()), ("... ... ...", 0));
        snapshot.model.tokens.estimate =
            Some(crate::app::snapshot::Estimate { factor: 1.3, error: "".into() });
        snapshot.layers.rows[0].tokens = Some(10);
        assert_eq!(fill("{layer.a.tokens}", &snapshot).text, "~10");
        assert_eq!(fill("{a.b} {call.2.lost}", &snapshot).unknown, ["a.b"]);
    }
}
