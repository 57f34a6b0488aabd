//! Pane 1: the layers with their sizes and what is with them now.

use ratatui::layout::Rect;

use super::canvas::{CHANGED, Canvas, note_pane, row_area, selection, title};
use crate::app::cells;
use crate::app::event::Target;
use crate::app::snapshot::{ByteOrder, LayerRow, LayerTable, Now};
use crate::app::state::{Pane, State};
use crate::core::text::number::grouped;
use crate::tui::layout::Size;
use crate::tui::theme::Role;

/// The columns, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Byte,
    Run,
    Layer,
    Place,
    Chars,
    Lines,
    Bytes,
    Alone,
    Tokens,
    Share,
    Percent,
    Change,
    Now,
    Source,
    Reads,
}

use Column as C;

const FULL: &[Column] = &[
    C::Byte,
    C::Run,
    C::Layer,
    C::Place,
    C::Chars,
    C::Lines,
    C::Bytes,
    C::Alone,
    C::Tokens,
    C::Share,
    C::Percent,
    C::Change,
    C::Now,
    C::Source,
    C::Reads,
];
const WIDER: &[Column] = &[
    C::Byte,
    C::Run,
    C::Layer,
    C::Chars,
    C::Lines,
    C::Alone,
    C::Tokens,
    C::Share,
    C::Percent,
    C::Change,
    C::Now,
];
const USUAL: &[Column] = &[C::Byte, C::Run, C::Layer, C::Chars, C::Tokens, C::Share, C::Change, C::Now];
const FEW: &[Column] = &[C::Layer, C::Chars, C::Tokens, C::Now];
const FEWEST: &[Column] = &[C::Layer, C::Tokens, C::Now];

impl Column {
    /// Its head, its width (0: what is left over), and true for numbers.
    fn form(self, names: u16) -> (&'static str, u16, bool) {
        match self {
            C::Byte => ("byte", 4, true),
            C::Run => ("run", 4, true),
            C::Layer => ("layer", names, false),
            C::Place => ("place", 10, false),
            C::Chars => ("chars", 7, true),
            C::Lines => ("lines", 6, true),
            C::Bytes => ("bytes", 8, true),
            C::Alone => ("alone", 7, true),
            C::Tokens => ("tokens", 7, true),
            C::Share => ("share", 5, false),
            C::Percent => ("", 4, true),
            C::Change => ("change", 7, false),
            C::Now => ("now", 0, false),
            C::Source => ("source", 22, false),
            C::Reads => ("reads", 24, false),
        }
    }

    /// What stands in a cell. `beside_chars` where the characters have a column: then a change is counted in them without
    /// saying so.
    fn cell(self, row: &LayerRow, estimate: bool, room: u16, beside_chars: bool) -> (String, Role) {
        let plain = |text: String| (text, Role::Text);
        match self {
            C::Byte => plain(match row.byte {
                ByteOrder::None => "-".to_owned(),
                ByteOrder::Number(number) => number.to_string(),
                ByteOrder::User => "u".to_owned(),
                ByteOrder::Tool => "t".to_owned(),
                ByteOrder::Message => "m".to_owned(),
            }),
            // The sign keeps its own cell, so that the numbers stay in line.
            C::Run => {
                let sign = if row.crossing { 'x' } else { ' ' };
                let role = if row.crossing { Role::Warn } else { Role::Text };
                (format!("{}{sign}", row.run.map_or_else(|| "-".to_owned(), |run| run.to_string())), role)
            }
            C::Layer => plain(row.shown.to_string()),
            C::Place => plain(row.place.to_string()),
            C::Chars => plain(grouped(row.chars)),
            C::Lines => plain(grouped(row.lines)),
            C::Bytes => plain(grouped(row.bytes)),
            C::Alone => plain(tokens(row.tokens_alone, estimate)),
            C::Tokens => plain(tokens(row.tokens, estimate)),
            C::Share => (row.share.map_or(String::new(), bar), Role::Bar),
            C::Percent => {
                (row.share.map_or(String::new(), |share| format!("{:.0}%", share * 100.0)), Role::Dim)
            }
            C::Change => (row.change.to_string(), Role::Dim),
            C::Now => now(&row.now, room, beside_chars),
            C::Source => {
                (row.source.as_ref().map_or(String::new(), |at| format!("{}:{}", at.file, at.at)), Role::Dim)
            }
            C::Reads => {
                let reads = row.reads.iter().map(|read| match &read.cause {
                    Some(cause) => format!("{} ({cause})", read.fact),
                    None => read.fact.to_string(),
                });
                (reads.collect::<Vec<_>>().join(", "), Role::Dim)
            }
        }
    }
}

/// A count, or that it is not there yet. Nothing is nothing in every vocabulary, so it is no estimate.
pub(super) fn tokens(count: Option<u64>, estimate: bool) -> String {
    match count {
        None => "...".to_owned(),
        Some(count) if estimate && count > 0 => format!("~{}", grouped(count)),
        Some(count) => grouped(count),
    }
}

/// One `#` for every 5 %, at most five with a `+` for more.
fn bar(share: f64) -> String {
    let fives = (share * 20.0).round();
    match fives {
        n if n < 1.0 && share > 0.0 => ".".to_owned(),
        n if n > 5.0 => "####+".to_owned(),
        n => "#".repeat(n.max(0.0) as usize),
    }
}

/// The word of the column `now`: with its reason where there is room, else alone.
fn now(now: &Now, room: u16, beside_chars: bool) -> (String, Role) {
    let with = |word: &str, reason: &str| {
        let whole = format!("{word} {reason}");
        if reason.is_empty() || cells::width(&whole) > usize::from(room) && room < 16 {
            word.trim_end_matches(':').to_owned()
        } else {
            whole
        }
    };
    match now {
        Now::Same => ("=".to_owned(), Role::Dim),
        Now::New => ("new".to_owned(), Role::Changed),
        Now::Changed(by) if beside_chars => (format!("{by:+}"), Role::Changed),
        Now::Changed(by) => {
            let one = by.unsigned_abs() == 1;
            let words = [format!("{by:+} char{}", if one { "" } else { "s" }), format!("{by:+}ch")];
            let fits = words.into_iter().find(|word| cells::width(word) <= usize::from(room));
            (fits.unwrap_or_else(|| format!("{by:+}")), Role::Changed)
        }
        Now::Old(facts) => (with("! old", &facts.join(", ")), Role::Bad),
        Now::Pending => ("pending".to_owned(), Role::Changed),
        Now::Omitted(_) if room < 7 => ("out".to_owned(), Role::Dim),
        Now::Omitted(reason) => (with("omitted:", reason), Role::Dim),
        Now::Cut => ("cut".to_owned(), Role::Warn),
        Now::Failed(reason) => (with("! failed:", reason), Role::Bad),
    }
}

/// How many rows the pane wants.
pub(super) fn wish(table: &LayerTable) -> u16 {
    u16::try_from(table.rows.len().max(3)).unwrap_or(u16::MAX)
}

fn columns(width: u16) -> &'static [Column] {
    match width {
        150.. => FULL,
        90.. => WIDER,
        60.. => USUAL,
        44.. => FEW,
        _ => FEWEST,
    }
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, size: Size, state: &State) {
    if area.is_empty() {
        return;
    }
    note_pane(canvas, area, Pane::Layers);
    let table = &state.snapshot.layers;
    let focused = state.focus == Pane::Layers;
    let names = widest(table);
    let rows_area = match size {
        Size::Wide => {
            let note = if table.crosses() { "(byte order; x = run order differs) " } else { "(byte order) " };
            let inner = canvas.boxed(area, &title(" 1 Layers ", note, focused), "", focused);
            if inner.is_empty() {
                return;
            }
            let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
            head(canvas, inner, inner.y, names);
            Rect { y: inner.y + 1, height: inner.height - 1, ..inner }
        }
        _ => {
            // The name of the pane stands where the name of the column would.
            head(canvas, Rect { width: area.width.saturating_sub(1), ..area }, area.y, names);
            let role = if focused { Role::BoxTitleFocus } else { Role::BoxTitle };
            let name = " 1 Layers ";
            canvas.clear(Rect { width: area.width.min(name.len() as u16), height: 1, ..area });
            canvas.text(area.x, area.y, area.width, name, role);
            for y in area.top()..area.bottom() {
                if size == Size::Stage && !state.zoom {
                    canvas.text(area.right() - 1, y, 1, "│", Role::Border);
                }
            }
            let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
            Rect { y: inner.y + 1, height: inner.height - 1, ..inner }
        }
    };
    let total = table.total.is_some() && size != Size::Stage && rows_area.height > 3;
    let height = rows_area.height - u16::from(total);
    let rows_area = Rect { height, ..rows_area };
    canvas.regions.metrics.panes[Pane::Layers.index()] = (rows_area.width, height);
    if table.rows.is_empty() {
        let text = if state.snapshot.title.name.is_empty() {
            "no bench is open"
        } else {
            "this bench has no layers"
        };
        canvas.text(rows_area.x, rows_area.y, rows_area.width, text, Role::Dim);
        return;
    }
    if size == Size::Wide {
        canvas.away(area, true, state.layers.top, usize::from(height), table.rows.len());
    } else {
        canvas.arrows((area.x + 10, area.y), state.layers.top, usize::from(height), table.rows.len());
    }
    let hits = super::hits(state, Pane::Layers);
    for (index, row) in table.rows.iter().enumerate().skip(state.layers.top).take(usize::from(height)) {
        let place = row_area(rows_area, index - state.layers.top);
        draw_row(canvas, place, state, row, names);
        if let Some(role) = hits.get(&index) {
            canvas.paint(place, *role);
        }
        if let Some(role) = selection(state, Pane::Layers, index == state.layers.cursor) {
            canvas.paint(place, role);
        }
        canvas.regions.note(place, Target::Layer(index));
    }
    if let (true, Some(row)) = (total, &table.total) {
        draw_total(canvas, Rect { y: rows_area.bottom(), height: 1, ..rows_area }, state, row, names);
    }
}

/// The cells of the widest name.
fn widest(table: &LayerTable) -> usize {
    table.rows.iter().map(|row| cells::width(&row.shown)).max().unwrap_or(0)
}

/// Calls `f` with each column and where it stands; `names` are the cells of the widest name.
fn each(width: u16, x: u16, names: usize, mut f: impl FnMut(Column, u16, u16)) {
    let columns = columns(width);
    let fixed: u16 = columns.iter().map(|column| column.form(0).1 + 1).sum();
    // Names get what they need as long as the last column keeps room to say something.
    let spare = width.saturating_sub(fixed);
    let names = u16::try_from(names).unwrap_or(u16::MAX).clamp(13, 32).min(spare.saturating_sub(6).max(8));
    let now = (width + 1).saturating_sub(fixed + names).max(6);
    let mut at = x;
    for &column in columns {
        let (_, own, _) = column.form(names);
        let own = if own == 0 { now } else { own };
        let own = own.min((x + width).saturating_sub(at));
        f(column, at, own);
        at += own + 1;
    }
}

fn head(canvas: &mut Canvas<'_>, area: Rect, y: u16, names: usize) {
    each(area.width, area.x, names, |column, x, width| {
        let (name, _, number) = column.form(0);
        if number {
            canvas.right(x, x + width, y, name, Role::Head);
        } else {
            canvas.text(x, y, width, name, Role::Head);
        }
    });
}

fn draw_row(canvas: &mut Canvas<'_>, area: Rect, state: &State, row: &LayerRow, names: usize) {
    let estimate = state.snapshot.model.tokens.estimate.is_some();
    let marked = state.marks.layer(row);
    if marked {
        canvas.text(area.x - 1, area.y, 1, CHANGED, Role::Changed);
    }
    let beside_chars = columns(area.width).contains(&C::Chars);
    each(area.width, area.x, names, |column, x, width| {
        let (text, role) = column.cell(row, estimate, width, beside_chars);
        let role = if row.included || column == C::Now { role } else { Role::Dim };
        let role = if marked && column == C::Layer { Role::Changed } else { role };
        if column.form(0).2 {
            canvas.right(x, x + width, area.y, &text, role);
        } else {
            canvas.text(x, area.y, width, &text, role);
        }
    });
}

fn draw_total(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &State,
    row: &crate::app::snapshot::TotalRow,
    names: usize,
) {
    let estimate = state.snapshot.model.tokens.estimate.is_some();
    let joins = if row.joins > 0 { format!("(+{} joins)", grouped(row.joins)) } else { String::new() };
    each(area.width, area.x, names, |column, x, width| match column {
        C::Layer => drop(canvas.text(x, area.y, width, &row.label, Role::Dim)),
        C::Chars => drop(canvas.right(x, x + width, area.y, &grouped(row.chars), Role::Text)),
        C::Tokens => drop(canvas.right(x, x + width, area.y, &tokens(row.tokens, estimate), Role::Text)),
        C::Share => drop(canvas.text(x, area.y, area.right() - x, &joins, Role::Dim)),
        _ => {}
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_for_shares() {
        for (share, want) in [
            (0.0, ""),
            (0.004, "."),
            (0.037, "#"),
            (0.097, "##"),
            (0.224, "####"),
            (0.263, "#####"),
            (0.9, "####+"),
        ] {
            assert_eq!(bar(share), want, "{share}");
        }
    }
}
