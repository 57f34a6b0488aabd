//! The lines of cache zones: a ruler of who wrote what, a bar for each model, and who broke the prefix.

use super::page::{Goal, Ink, Line, Page, Wrapped, not_yet, page_cells};
use crate::app::action::Action;
use crate::app::cells;
use crate::app::effect::TextPlace;
use crate::app::snapshot::{Lost, Paid, Tone};
use crate::app::state::State;
use crate::app::views::{Form, Spot, ZoneLane, ZonePreview, ZonesView};
use crate::core::fix::How;
use crate::core::text::number::grouped;

/// Cells of the words in front of the lines below the bars.
const WORD: usize = 9;

/// From so many rows on, everything is said.
const ROOMY: u16 = 32;

/// The cells in front of a bar.
fn margin(width: usize) -> usize {
    (width / 4).clamp(4, 20)
}

/// The selected lane, of those that there are.
#[must_use]
pub fn lane_of(state: &State) -> usize {
    let lanes = state.snapshot.data.zones().map_or(0, |zones| zones.lanes.len());
    state.zones.lane.min(lanes.saturating_sub(1))
}

pub(super) fn page(state: &State) -> Page {
    let Some(zones) = state.snapshot.data.zones() else {
        return Page { empty: not_yet(state), ..Page::default() };
    };
    let width = page_cells(state);
    let chosen = lane_of(state);
    // What avoids the loss has to be in sight: on a lower screen the rest is said in fewer lines.
    let roomy = state.metrics.view.1 >= ROOMY;
    let mut lines = Vec::new();
    if let Some(tried) = &zones.preview {
        preview(&mut lines, tried);
    }
    if let Some(lane) = zones.lanes.get(chosen) {
        ruler(&mut lines, zones, lane, width, roomy);
    }
    let start = lines.len();
    for (index, lane) in zones.lanes.iter().enumerate() {
        lane_lines(&mut lines, state, lane, index, index == chosen, width);
    }
    if !state.metrics.compact {
        lines.push(Line::text("", Ink::Text));
    }
    if let Some(lane) = zones.lanes.get(chosen) {
        blame(&mut lines, zones, lane, width, roomy);
        fixes(&mut lines, zones, lane);
        see(&mut lines, zones);
        lines.push(Line::text("", Ink::Text));
        lines.push(strip(zones, lane, width));
    }
    // What can be edited here is the text behind the break, wherever one stands.
    let behind = zones.blame.as_ref().and_then(|blame| blame.at.text.clone());
    for line in lines.iter_mut().filter(|line| line.text.is_none()) {
        line.text.clone_from(&behind);
    }
    let agent = zones.agent.as_ref().map_or(String::new(), |agent| format!(" [{agent}]"));
    let forecast = if zones.forecast { " (forecast)" } else { "" };
    let at = format!("call {}{agent}, turn {}{forecast}", zones.call.0, zones.turn);
    let legend = "# read  + write  . fresh  ! lost = paid again";
    let note = match width > at.len() + legend.len() + 22 {
        true => format!("{at}   {legend}"),
        false => at,
    };
    let here = state.here().list.cursor;
    let lines = Wrapped::of(state).fold(lines);
    let enter = match lines.get(here).map(|line| line.goal_at(0)) {
        Some(Goal::Fix(fix)) if zones.preview.as_ref().is_some_and(|tried| tried.fix.how == fix.how) => {
            "enter it"
        }
        Some(Goal::Fix(_)) => "try it out",
        Some(Goal::Lane(_)) => "this model",
        Some(Goal::Do(_)) => "ledger",
        _ => "its bytes",
    };
    Page {
        groups: Vec::new(),
        note,
        enter,
        columns: Vec::new(),
        start: Some(start.min(lines.len().saturating_sub(1))),
        lines,
        empty: not_yet(state),
        filters: false,
        diff: None,
    }
}

/// What is tried out, and what making it would write.
fn preview(lines: &mut Vec<Line>, tried: &ZonePreview) {
    let goal = || Goal::Fix(tried.fix.clone());
    let enter = match tried.fix.how {
        How::Bench(_) | How::Variants(_) => "Enter enters it, Esc takes it back.",
        How::Without(_) => "Esc takes it back; e edits the line in the bench file.",
    };
    let words = format!("{}: tried out, and not entered. {enter}", tried.fix.said);
    lines.push(Line { key: "preview".into(), ..word("PREVIEW", words, Ink::Changed).goal(goal()) });
    if !tried.lines.is_empty() {
        lines.push(word("", format!("entering it writes to {}:", tried.file), Ink::Text).goal(goal()));
        let shown =
            tried.lines.iter().map(|line| Line { depth: (WORD as u16).div_ceil(2), ..Line::changed(line) });
        lines.extend(shown.map(|line| line.goal(goal())));
    }
    lines.push(Line::text("", Ink::Text));
}

/// A line with a word in front.
fn word(label: &str, text: impl Into<String>, ink: Ink) -> Line {
    Line { whole: true, ..Line::default() }.cell(format!("{label:WORD$}"), Ink::Label).cell(text, ink)
}

fn goal_of(spot: &Spot) -> Goal {
    match spot.call {
        Some(call) => Goal::Call {
            call,
            message: spot.message,
            layer: (!spot.author.is_empty()).then(|| spot.author.clone()),
        },
        None => Goal::Nothing,
    }
}

/// Which cells of a bar `tokens` of `sent` are: from the left, down.
fn cell_at(tokens: u32, sent: u32, width: usize) -> usize {
    match u64::from(sent) {
        0 => 0,
        sent => usize::try_from(u64::from(tokens) * width as u64 / sent).unwrap_or(width).min(width),
    }
}

/// The names of the parts, each where it begins.
fn names(zones: &ZonesView, ends: &[u32], width: usize) -> String {
    let sent = ends.last().copied().unwrap_or_default();
    let mut cells: Vec<char> = vec![' '; width];
    let mut wide: Vec<bool> = vec![false; width];
    let mut from = 0;
    for (part, &end) in zones.parts.iter().zip(ends) {
        let (start, end) = (cell_at(from, sent, width), cell_at(end, sent, width));
        from = ends.iter().copied().filter(|&e| cell_at(e, sent, width) <= end).max().unwrap_or(from);
        if end <= start {
            continue;
        }
        cells[start] = '|';
        let room = end - start - 1;
        let label = if cells::width(&part.label) <= room { &part.label } else { &part.short };
        let mut at = start + 1;
        for c in label.chars() {
            let wider = cells::width(c.encode_utf8(&mut [0; 4]));
            if at + wider > end || wider == 0 {
                break;
            }
            cells[at] = c;
            if wider == 2 {
                wide[at + 1] = true;
            }
            at += wider;
        }
    }
    cells.into_iter().zip(wide).filter(|(_, covered)| !covered).map(|(c, _)| c).collect()
}

fn ruler(lines: &mut Vec<Line>, zones: &ZonesView, lane: &ZoneLane, width: usize, roomy: bool) {
    let margin = margin(width);
    let bar = width.saturating_sub(margin);
    let sent = lane.ends.last().copied().unwrap_or_default();
    if sent == 0 || bar == 0 {
        lines.push(Line::text(format!("{}: its tokens are not counted.", lane.short), Ink::Dim));
        return;
    }
    let about = if lane.estimate { "~" } else { "" };
    let column = (u64::from(sent) + bar as u64 / 2) / bar as u64;
    let words = format!(
        "1 column = {about}{} tokens of {about}{}; rulers scale to each model",
        grouped(column.max(1)),
        grouped(u64::from(sent))
    );
    lines.push(Line::text(words, Ink::Dim));
    if roomy {
        lines.push(Line::text("", Ink::Text));
    }
    let pad = " ".repeat(margin);
    lines.push(
        Line { whole: true, ..Line::new("ruler") }
            .cell(pad.clone(), Ink::Text)
            .cell(names(zones, &lane.ends, bar), Ink::Text),
    );
    if let (Some(broken), Some(blame)) = (lane.broken, &zones.blame) {
        let at = cell_at(broken, sent, bar).min(bar - 1);
        let words = format!("break: {}", blame.short);
        let text = match at + 2 + cells::width(&words) <= bar {
            true => format!("{}^ {words}", " ".repeat(at)),
            false => {
                let room = at.saturating_sub(1);
                let words = if cells::width(&words) <= room { words } else { String::new() };
                format!("{words:>room$} ^").trim_end_matches('\n').to_owned()
            }
        };
        // The sign stands in its column, whichever side its words are on.
        let text = if at == 0 { text.trim_start().to_owned() } else { text };
        let line = Line { whole: true, ..Line::new("sign") }.cell(pad, Ink::Text).cell(text, Ink::Bad);
        lines.push(line.goal(goal_of(&blame.at)));
    }
}

/// A run of one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// `#`, `!`, `+` or `.`.
    pub sign: char,
    /// How it is coloured.
    pub ink: Ink,
    /// How many cells.
    pub cells: usize,
}

/// A call as a bar of this many cells: what is read, what is paid again, what is written and what is fresh, in the order
/// of the bytes. Whatever there is has at least one cell, as long as there are enough.
#[must_use]
pub fn bar(paid: &Paid, width: usize) -> Vec<Run> {
    let (Some(sent), Some(read)) = (paid.sent, paid.read) else { return Vec::new() };
    let write = paid.write.unwrap_or(0);
    let lost = if let Lost::Tokens(lost) = paid.lost { lost.min(sent.saturating_sub(read)) } else { 0 };
    // What is lost begins where reading ends, and lies first in what is written.
    let written = write.saturating_sub(lost);
    let fresh = sent.saturating_sub(read + lost + written);
    let runs =
        [('#', Ink::Good, read), ('!', Ink::Bad, lost), ('+', Ink::Changed, written), ('.', Ink::Dim, fresh)];
    let mut out: Vec<(Run, u64)> = Vec::new();
    let (mut sum, mut from) = (0, 0);
    for (sign, ink, tokens) in runs {
        if tokens == 0 || sent == 0 {
            continue;
        }
        sum += tokens;
        let to = usize::try_from((sum * width as u64 + sent / 2) / sent).unwrap_or(width).min(width);
        out.push((Run { sign, ink, cells: to - from }, tokens));
        from = to;
    }
    for at in 0..out.len() {
        if out[at].0.cells == 0 {
            let widest = (0..out.len()).max_by_key(|&other| out[other].0.cells);
            if let Some(widest) = widest.filter(|&widest| out[widest].0.cells > 1) {
                out[widest].0.cells -= 1;
                out[at].0.cells = 1;
            }
        }
    }
    out.into_iter().map(|(run, _)| run).filter(|run| run.cells > 0).collect()
}

fn lane_lines(
    lines: &mut Vec<Line>,
    state: &State,
    lane: &ZoneLane,
    index: usize,
    chosen: bool,
    width: usize,
) {
    let margin = margin(width);
    let sign = if chosen { ">" } else { " " };
    let name = cells::left(&format!("{sign}{}", lane.short), margin - 1);
    let mut line = Line { whole: true, ..Line::new(format!("lane:{index}")) }
        .cell(format!("{name} "), if chosen { Ink::Label } else { Ink::Text });
    let runs = lane.paid.as_ref().map(|paid| bar(paid, width.saturating_sub(margin))).unwrap_or_default();
    if runs.is_empty() {
        let why = match &lane.paid {
            None => "counting ..",
            Some(paid) if paid.sent.is_none() => "n/a: its tokens cannot be counted",
            Some(_) => "n/a: no cache rules for this model",
        };
        line = line.cell(why, Ink::Dim);
    }
    for run in runs {
        line = line.cell(run.sign.to_string().repeat(run.cells), run.ink);
    }
    lines.push(line.goal(Goal::Lane(index)));
    let indent = if margin < 20 { "  " } else { "   " };
    let method = cells::left(&format!("{indent}{}", lane.method), margin - 1);
    if let Some(paid) = lane.paid.as_ref().filter(|paid| paid.read.is_some()) {
        let figures = match state.metrics.compact {
            true => short_figures(paid, lane),
            false => figures(paid, lane),
        };
        let line = Line { whole: true, ..Line::new(format!("figures:{index}")) };
        let line = line.cell(format!("{method} "), Ink::Dim).cell(figures, Ink::Text);
        lines.push(line.goal(Goal::Lane(index)));
    }
    // On a small screen what the others say waits until they are selected.
    let told = match (chosen, state.metrics.compact, state.metrics.view.1 >= ROOMY) {
        (true, false, _) | (_, _, true) => usize::MAX,
        // Its verdict: what else there is to say of it must not push away who broke it and what avoids it.
        (true, true, false) => 1,
        (false, true, _) => 0,
        (false, false, false) => 1,
    };
    for (at, (text, tone)) in lane.says.iter().take(told).enumerate() {
        let ink = match tone {
            Tone::Plain => Ink::Text,
            Tone::Good => Ink::Good,
            Tone::Bad => Ink::Bad,
        };
        let line = Line { whole: true, ..Line::new(format!("says:{index}:{at}")) };
        let line = line.cell(" ".repeat(margin), Ink::Text).cell(&**text, ink);
        lines.push(line.goal(Goal::Lane(index)));
    }
}

/// `read 1,536   write n/a (no fee)   fresh 9,490, of which lost 9,472   $0.0241`.
fn figures(paid: &Paid, lane: &ZoneLane) -> String {
    let n =
        |tokens: u64| format!("{}{}", if paid.estimate && tokens > 0 { "~" } else { "" }, grouped(tokens));
    let lost = if let Lost::Tokens(lost) = paid.lost { lost } else { 0 };
    let of_which = |all: u64, lost: u64| match lost {
        0 => n(all),
        _ if lost == all => format!("{}, all lost", n(all)),
        _ => format!("{}, of which lost {}", n(all), n(lost)),
    };
    let write = match paid.write {
        None => "n/a (no fee)".to_owned(),
        Some(write) => of_which(write, lane.lost_written),
    };
    let fresh = paid.fresh.unwrap_or(0);
    format!(
        "read {}   write {write}   fresh {}   {}",
        n(paid.read.unwrap_or(0)),
        of_which(fresh, lost.saturating_sub(lane.lost_written)),
        lane.cost
    )
}

/// The same in one line of a narrow screen: `read 1,152  fresh 9,277  lost 9,216  $0.0235`.
fn short_figures(paid: &Paid, lane: &ZoneLane) -> String {
    let n =
        |tokens: u64| format!("{}{}", if paid.estimate && tokens > 0 { "~" } else { "" }, grouped(tokens));
    let mut text = format!("read {}", n(paid.read.unwrap_or(0)));
    for (word, tokens) in [("write", paid.write), ("fresh", paid.fresh)] {
        if let Some(tokens) = tokens {
            text.push_str(&format!("  {word} {}", n(tokens)));
        }
    }
    if let Lost::Tokens(lost) = paid.lost {
        text.push_str(&format!("  lost {}", n(lost)));
    }
    format!("{text}  {}", lane.cost)
}

fn blame(lines: &mut Vec<Line>, zones: &ZonesView, lane: &ZoneLane, width: usize, roomy: bool) {
    let Some(blame) = &zones.blame else {
        let words = "none: this request begins with all of the one before it in its conversation.";
        let words = match zones.lanes.first().and_then(|lane| lane.paid.as_ref()) {
            Some(paid) if paid.lost == Lost::First => "none: there is no call before it in its conversation.",
            None => "not worked out yet.",
            Some(_) => words,
        };
        lines.push(word("BREAK", words, Ink::Text));
        return;
    };
    let goal = || goal_of(&blame.at);
    let keyed = |key: &str, line: Line| Line { key: key.into(), ..line };
    lines.push(keyed("break", word("BREAK", &*blame.place, Ink::Bad).goal(goal())));
    let when = format!("   WHEN  {}", blame.when);
    let room = WORD + cells::width(&blame.who) + cells::width(&when) <= width;
    let beside = room && !blame.when.is_empty();
    let when = if beside { when } else { String::new() };
    lines.push(keyed("who", word("WHO", format!("{}{when}", blame.who), Ink::Text).goal(goal())));
    if !beside && !blame.when.is_empty() {
        lines.push(keyed("when", word("WHEN", &*blame.when, Ink::Text).goal(goal())));
    }
    if !blame.also.is_empty() {
        lines.push(keyed("also", word("ALSO", &*blame.also, Ink::Warn).goal(goal())));
    }
    let told = if roomy { lane.behind.len() } else { 1 };
    for (index, (words, spot)) in lane.behind.iter().enumerate().take(told) {
        let label = if index == 0 { "BEHIND" } else { "" };
        let more = lane.behind.len().saturating_sub(told);
        let more = if more > 0 { format!("; {more} more behind that") } else { String::new() };
        let line = word(label, format!("{words}{more}."), Ink::Warn).goal(goal_of(spot));
        lines.push(Line { text: spot.text.clone(), ..keyed(&format!("behind:{index}"), line) });
    }
}

fn fixes(lines: &mut Vec<Line>, zones: &ZonesView, lane: &ZoneLane) {
    let (tried, all) = lane.fixes.tried;
    for (index, row) in lane.fixes.rows.iter().enumerate() {
        let label = if index == 0 { "FIX" } else { "" };
        let or = if index == 0 { "" } else { "or " };
        let enter = if index == 0 && zones.preview.is_none() { "   Enter: try it out" } else { "" };
        let mut line = word(label, format!("{or}{}: {}.{enter}", row.fix.said, row.worth), Ink::Good)
            .goal(Goal::Fix(row.fix.clone()));
        if let How::Without(at) = row.fix.how {
            line.text = Some(TextPlace::Bench(at));
        }
        lines.push(Line { key: format!("fix:{index}").into(), ..line });
    }
    if zones.preview.is_some() {
        return;
    }
    if let Some(whole) = &lane.fixes.whole {
        let words = format!(
            "the bench was changed in this run: from the first call on, it would lose {whole} as it is now on {}.",
            lane.short
        );
        lines.push(word("NOW", words, Ink::Text));
    }
    if tried < all {
        let label = if lane.fixes.rows.is_empty() { "FIX" } else { "" };
        lines.push(word(label, format!("trying out what would avoid it: {tried} of {all} ..."), Ink::Dim));
    } else if lane.fixes.rows.is_empty() && all > 0 {
        let words = match all {
            1 => format!("the one change that was tried out does not lose less on {}.", lane.short),
            _ => format!("none of the {all} changes that were tried out loses less on {}.", lane.short),
        };
        lines.push(word("FIX", words, Ink::Dim));
    }
}

fn see(lines: &mut Vec<Line>, zones: &ZonesView) {
    let Some(see) = &zones.see else { return };
    let [sent, persisted, replayed] = see.bytes.map(grouped);
    let forms = Form::ALL.map(Form::word).join(", ");
    let words =
        format!("{forms} bytes of message {}: {sent} / {persisted} / {replayed}   (l ledger)", see.message);
    lines.push(Line { key: "see".into(), ..word("SEE", words, Ink::Text).goal(Goal::Do(Action::Ledger)) });
}

/// The calls of the run, with what each loses: as many as fit, the shown one among them.
fn strip(zones: &ZonesView, lane: &ZoneLane, width: usize) -> Line {
    let about = if lane.estimate { "~" } else { "" };
    let cell = |index: usize| {
        let no = zones.calls[index].0;
        let lost = match lane.strip.get(index) {
            Some(Lost::First) => "first".to_owned(),
            Some(Lost::Nothing) => "-".to_owned(),
            Some(Lost::Tokens(lost)) => format!("! {about}{}", grouped(*lost)),
            Some(Lost::Unknown(_)) | None => "n/a".to_owned(),
        };
        if zones.calls[index] == zones.call { format!("[{no} {lost}]") } else { format!(" {no} {lost} ") }
    };
    let total =
        lane.total.as_ref().map_or(String::new(), |total| format!("  lost, {}, total {total}", lane.short));
    let room = width.saturating_sub(WORD + cells::width(&total) + 8);
    let at = zones.calls.iter().position(|call| *call == zones.call).unwrap_or(0);
    let (mut from, mut to) = (at, at + 1);
    let mut used = zones.calls.get(at).map_or(0, |_| cells::width(&cell(at)));
    loop {
        let before = from.checked_sub(1).map(|index| (index, cells::width(&cell(index)) + 1));
        let behind = (to < zones.calls.len()).then(|| (to, cells::width(&cell(to)) + 1));
        // The nearer side first, so that what is shown stays around the call.
        let next = match (before, behind) {
            (Some(before), Some(behind)) => {
                Some(if at - before.0 <= behind.0 - at { before } else { behind })
            }
            (one, other) => one.or(other),
        };
        let Some((index, wide)) = next.filter(|(_, wide)| used + wide <= room) else { break };
        used += wide;
        if index < from { from = index } else { to = index + 1 }
    }
    let mut line = Line { whole: true, ..Line::new("strip") }.cell(format!("{:WORD$}", "Call"), Ink::Label);
    if from > 0 {
        line = line.cell(".. ", Ink::Dim);
    }
    for index in from..to.min(zones.calls.len()) {
        let breaks = matches!(lane.strip.get(index), Some(Lost::Tokens(_)));
        line = line.cell(cell(index), if breaks { Ink::Bad } else { Ink::Text }).cell(" ", Ink::Text);
    }
    if to < zones.calls.len() {
        line = line.cell("..", Ink::Dim);
    }
    line.cell(total, Ink::Dim)
}

/// The blame line of the selected model, for copying.
#[must_use]
pub fn blame_line(state: &State) -> Option<String> {
    let zones = state.snapshot.data.zones()?;
    let lane = zones.lanes.get(lane_of(state))?;
    let verdict = lane.says.first().map_or("", |(words, _)| words);
    let mut text = format!("call {} on {}, {verdict}", zones.call.0, lane.short);
    if let Some(blame) = &zones.blame {
        text.push_str(&format!(" {}; {}", blame.place, blame.who));
        if !blame.when.is_empty() {
            text.push_str(&format!(", by {}", blame.when));
        }
        text.push('.');
    }
    if let Some(paid) = lane.paid.as_ref().filter(|paid| paid.read.is_some()) {
        text.push_str(&format!(" {}.", figures(paid, lane).replace("   ", ", ")));
    }
    if let Some(fix) = lane.fixes.rows.first() {
        text.push_str(&format!(" Fix: {}: {}.", fix.fix.said, fix.worth));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::app::views::ZonePart;

    fn paid(sent: u64, read: u64, write: Option<u64>, lost: u64) -> Paid {
        let lost = if lost == 0 { Lost::Nothing } else { Lost::Tokens(lost) };
        let fresh = Some(sent - read - write.unwrap_or(0));
        Paid { sent: Some(sent), read: Some(read), write, fresh, lost, estimate: false }
    }

    fn drawn(paid: &Paid, width: usize) -> String {
        bar(paid, width).into_iter().map(|run| run.sign.to_string().repeat(run.cells)).collect()
    }

    #[test]
    fn bars_read_from_the_left() {
        assert_eq!(drawn(&paid(11_026, 1_536, None, 9_472), 20), "###!!!!!!!!!!!!!!!!.");
        assert_eq!(drawn(&paid(14_444, 0, Some(8_178), 8_178), 20), "!!!!!!!!!!!.........");
        assert_eq!(drawn(&paid(100, 50, Some(30), 10), 10), "#####!++..");
        assert_eq!(drawn(&paid(100, 100, None, 0), 4), "####");
        assert_eq!(drawn(&Paid::default(), 10), "");
    }

    proptest! {
        #[test]
        fn a_bar_has_its_width_and_shows_whatever_there_is(
            zones in prop::array::uniform4(0_u64..3_000), width in 4_usize..200, fee in any::<bool>(),
        ) {
            let [read, write, fresh, lost] = zones;
            let write = if fee { Some(write) } else { None };
            let sent = read + write.unwrap_or(0) + fresh;
            let lost = lost.min(sent - read);
            let paid = paid(sent, read, write, lost);
            let bar = drawn(&paid, width);
            prop_assert_eq!(bar.chars().count(), if sent == 0 { 0 } else { width });
            prop_assert_eq!(bar.contains('#'), read > 0);
            prop_assert_eq!(bar.contains('!'), lost > 0);
            prop_assert_eq!(bar.contains('+'), write.unwrap_or(0) > lost);
        }

        #[test]
        fn a_ruler_has_its_width(
            tokens in prop::collection::vec(0_u32..900, 1..12), width in 1_usize..120,
        ) {
            let part = |index: usize| ZonePart { label: format!("层{index}_long_name").into(), short: "m".into() };
            let parts = (0..tokens.len()).map(part).collect();
            let zones = ZonesView { parts, ..ZonesView::default() };
            let ends: Vec<u32> = tokens.iter().scan(0, |sum, tokens| { *sum += tokens; Some(*sum) }).collect();
            prop_assert_eq!(cells::width(&names(&zones, &ends, width)), width);
        }
    }

    #[test]
    fn names_stand_where_their_parts_begin() {
        let part = |label: &str, short: &str| ZonePart { label: label.into(), short: short.into() };
        let parts = vec![part("tools", "tools"), part("00_base", "base"), part("message 2: user", "m2")];
        let zones = ZonesView { parts, ..ZonesView::default() };
        assert_eq!(names(&zones, &[10, 20, 40], 40), "|tools    |00_base  |message 2: user    ");
        assert_eq!(names(&zones, &[10, 20, 40], 20), "|tool|base|m2       ");
        assert_eq!(names(&zones, &[0, 20, 21], 10), "|00_base |");
    }
}
