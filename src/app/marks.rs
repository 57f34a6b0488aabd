//! What changed through the last beat, save or edit. It stays marked until the next key: nothing on the screen moves or
//! flashes by itself.
//!
//! What is compared is what was on the screen when the key was pressed with what is there now, whoever changed it. What
//! was still being counted then has not changed when its number arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::snapshot::{BlockRow, CallRow, LayerRow, Now, Snapshot, VerdictLine, WayRow};
use crate::core::fact::Name;
use crate::core::wire::CallNo;

/// What is marked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The rows of the layers, by id and place: what is no layer has a row, too, and may be called as a layer is.
    pub layers: BTreeSet<(Name, Name)>,
    /// The calls.
    pub calls: BTreeSet<CallNo>,
    /// The bytes of the shown request, by the index of their block. A range without bytes is where some were taken out.
    pub bytes: BTreeMap<usize, Vec<Range<usize>>>,
    /// The lines of the verdict, by index.
    pub verdict: BTreeSet<usize>,
    /// The rows of the table of ways, by index.
    pub ways: BTreeSet<usize>,
    /// What it is compared with, for lines that are laid out only when they are drawn.
    pub before: Option<Arc<Snapshot>>,
}

impl Marks {
    /// The marks of what differs between two snapshots.
    #[must_use]
    pub fn between(old: &Arc<Snapshot>, new: &Arc<Snapshot>) -> Marks {
        if old.generation == 0 || Arc::ptr_eq(old, new) {
            return Marks::default();
        }
        let layers: BTreeMap<_, &LayerRow> = old.layers.rows.iter().map(|row| (key(row), row)).collect();
        let calls: BTreeMap<CallNo, &CallRow> = old.calls.rows.iter().map(|row| (row.no, row)).collect();
        Marks {
            layers: (new.layers.rows.iter())
                .filter(|row| layers.get(&key(row)).is_none_or(|old| layer_differs(old, row)))
                .map(key)
                .collect(),
            calls: (new.calls.rows.iter())
                .filter(|row| calls.get(&row.no).is_none_or(|old| call_differs(old, row)))
                .map(|row| row.no)
                .collect(),
            bytes: bytes(old, new),
            verdict: verdict(&old.verdict, &new.verdict),
            ways: (new.why.ways.rows.iter().enumerate())
                .filter(|(_, row)| {
                    let same = old.why.ways.rows.iter().find(|old| old.variants == row.variants);
                    same.is_some_and(|old| way_differs(old, row))
                })
                .map(|(index, _)| index)
                .collect(),
            before: Some(Arc::clone(old)),
        }
    }

    /// True when this row is marked.
    #[must_use]
    pub fn layer(&self, row: &LayerRow) -> bool {
        self.layers.contains(&key(row))
    }

    /// The marked bytes of a block that lie in a range, or touch it where bytes were taken out.
    pub fn in_row(&self, block: usize, row: Range<usize>) -> impl Iterator<Item = &Range<usize>> {
        let ranges = self.bytes.get(&block).map(Vec::as_slice).unwrap_or_default();
        ranges.iter().filter(move |range| {
            if range.is_empty() {
                row.start <= range.start && range.start <= row.end
            } else {
                range.start < row.end && row.start < range.end
            }
        })
    }
}

fn key(row: &LayerRow) -> (Name, Name) {
    (row.id.clone(), row.place.clone())
}

fn layer_differs(old: &LayerRow, new: &LayerRow) -> bool {
    let turned = |now: &Now| matches!(now, Now::Old(_) | Now::Pending | Now::Failed(_));
    old.hash != new.hash || old.included != new.included || turned(&new.now) && old.now != new.now
}

fn call_differs(old: &CallRow, new: &CallRow) -> bool {
    old.state != new.state || old.paid.as_ref().zip(new.paid.as_ref()).is_some_and(|(old, new)| old != new)
}

fn way_differs(old: &WayRow, new: &WayRow) -> bool {
    old.current != new.current
        || old.outcome.as_ref().zip(new.outcome.as_ref()).is_some_and(|(old, new)| old != new)
}

fn verdict(old: &[VerdictLine], new: &[VerdictLine]) -> BTreeSet<usize> {
    // How it could be mended is worked out later than what happened.
    let said = |line: &VerdictLine| line.text.split(" Fix: ").next().unwrap_or_default().to_owned();
    let known: BTreeSet<(Arc<str>, String)> =
        old.iter().map(|line| (line.label.clone(), said(line))).collect();
    let differs = |(_, line): &(usize, &VerdictLine)| {
        !known.is_empty() && !known.contains(&(line.label.clone(), said(line)))
    };
    new.iter().enumerate().filter(differs).map(|(index, _)| index).collect()
}

/// The bytes of the shown request that did not stand in the one that was shown before.
fn bytes(old: &Snapshot, new: &Snapshot) -> BTreeMap<usize, Vec<Range<usize>>> {
    let mut marked = BTreeMap::new();
    // Two conversations have nothing in common that could have changed.
    if old.request.agent != new.request.agent || old.request.blocks.is_empty() {
        return marked;
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, block) in new.request.blocks.iter().enumerate() {
        let count = seen.entry(&block.title).or_default();
        let before = old.request.blocks.iter().filter(|old| old.title == block.title).nth(*count);
        *count += 1;
        let ranges = match before {
            None => std::iter::once(0..block.text.len()).collect(),
            Some(before) => in_block(before, block),
        };
        if !ranges.is_empty() {
            marked.insert(index, ranges);
        }
    }
    marked
}

fn in_block(old: &BlockRow, new: &BlockRow) -> Vec<Range<usize>> {
    if Arc::ptr_eq(old.text.text(), new.text.text()) || old.text.text() == new.text.text() {
        return Vec::new();
    }
    let slice = |block: &'_ BlockRow, range: &Range<usize>| block.text.text()[range.clone()].to_owned();
    let mut ranges = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for part in &new.parts {
        let count = seen.entry(&part.author).or_default();
        let before = old.parts.iter().filter(|old| old.author == part.author).nth(*count);
        *count += 1;
        let Some(before) = before else {
            ranges.push(part.range.clone());
            continue;
        };
        let (was, is) = (slice(old, &before.range), slice(new, &part.range));
        if was != is {
            let (start, end) = difference(&was, &is);
            ranges.push(part.range.start + start..part.range.start + end);
        }
    }
    if ranges.is_empty() {
        // Parts went away, or changed places: what stands now begins to differ here.
        let (start, end) = difference(old.text.text(), new.text.text());
        ranges.push(start..end);
    }
    ranges
}

/// The bytes of `new` between what it has in common with `old` at its start and at its end.
fn difference(old: &str, new: &str) -> (usize, usize) {
    let start = old
        .char_indices()
        .zip(new.chars())
        .find(|((_, a), b)| a != b)
        .map_or(old.len().min(new.len()), |((at, _), _)| at);
    let same: usize = old[start..]
        .chars()
        .rev()
        .zip(new[start..].chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    (start, new.len() - same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::snapshot::{CallState, Lost, Paid, WayOutcome};

    fn row(id: &str, hash: u64, now: Now) -> LayerRow {
        LayerRow { id: id.into(), hash, now, included: true, ..LayerRow::default() }
    }

    fn call(no: u32, state: CallState, paid: Option<Lost>) -> CallRow {
        let paid = paid.map(|lost| Paid { lost, ..Paid::default() });
        CallRow { no: CallNo(no), state, paid, ..CallRow::default() }
    }

    fn snapshot(generation: u64) -> Snapshot {
        let mut snapshot = Snapshot { generation, ..Snapshot::default() };
        snapshot.layers.rows = vec![
            row("a", 1, Now::Same),
            row("b", 2, Now::Same),
            row("c", 3, Now::New),
            row("d", 4, Now::Same),
        ];
        snapshot.calls.rows = vec![
            call(1, CallState::Next, Some(Lost::First)),
            call(2, CallState::Forecast, Some(Lost::Nothing)),
            call(3, CallState::Forecast, None),
        ];
        snapshot
    }

    #[test]
    fn what_differs_is_marked_and_what_arrives_is_not() {
        let old = Arc::new(snapshot(1));
        let mut new = snapshot(2);
        new.layers.rows[1].hash = 20;
        new.layers.rows[2].now = Now::Same;
        new.layers.rows[3].now = Now::Old(vec!["cwd".into()]);
        new.calls.rows[0].state = CallState::Sent;
        if let Some(paid) = &mut new.calls.rows[1].paid {
            paid.lost = Lost::Tokens(7);
        }
        new.calls.rows[2] = call(3, CallState::Forecast, Some(Lost::Tokens(9)));
        let marks = Marks::between(&old, &Arc::new(new));
        assert_eq!(marks.layers.iter().map(|(id, _)| &**id).collect::<Vec<_>>(), ["b", "d"]);
        assert_eq!(marks.calls.iter().map(|no| no.0).collect::<Vec<_>>(), [1, 2], "call 3 was only counted");
        assert_eq!(Marks::between(&old, &old), Marks::default());
        assert_eq!(Marks::between(&Arc::default(), &old), Marks::default(), "before anything was shown");
    }

    #[test]
    fn a_fix_that_is_found_later_is_no_change_of_the_verdict() {
        let line = |label: &str, text: &str| VerdictLine {
            label: label.into(),
            text: text.into(),
            ..VerdictLine::default()
        };
        let old = [line("CALL 1", "first."), line("AHEAD", "1 break.")];
        let new = [line("CALL 2", "appended."), line("AHEAD", "1 break. Fix: keep.")];
        assert_eq!(verdict(&old, &new), BTreeSet::from([0]));
        assert!(verdict(&[], &new).is_empty(), "it is there for the first time");
    }

    #[test]
    fn a_way_is_marked_when_its_outcome_changes() {
        let way = |lost: Option<u64>| WayRow {
            outcome: lost.map(|lost| WayOutcome { lost: Some(lost), ..WayOutcome::default() }),
            ..WayRow::default()
        };
        assert!(way_differs(&way(Some(1)), &way(Some(2))));
        assert!(!way_differs(&way(None), &way(Some(2))) && !way_differs(&way(Some(2)), &way(Some(2))));
    }

    #[test]
    fn the_difference_is_what_lies_between() {
        for (old, new, want) in [
            ("cwd: /a.", "cwd: /ab.", (7, 8)),
            ("环境变化", "环境没变化", (6, 9)),
            ("aa", "a", (1, 1)),
            ("", "x", (0, 1)),
            ("same", "other", (0, 5)),
        ] {
            assert_eq!(difference(old, new), want, "{old} {new}");
        }
    }
}
