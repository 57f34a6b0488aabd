//! Pane 4: what changed, who tells it, how else it could be told.

use super::page::Goal;
use crate::app::cells;
use crate::app::effect::TextPlace;
use crate::app::snapshot::{Belief, PartRow, Snapshot, Tone};
use crate::app::views::Spot;
use crate::core::diagnostic::Severity;
use crate::core::lint::Lint;
use crate::core::wire::CallNo;

/// The cells of the labels.
const LABEL: usize = 14;
/// The cells of the verdict's labels.
const VERDICT_LABEL: usize = 8;
/// How many lines of a pending text are shown.
const PENDING_LINES: usize = 12;

/// What a line of pane 4 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyKind {
    /// A label and a text, or an empty line.
    Text,
    /// Text that will be told, as it will be told.
    Quote,
    /// The head of the table of ways.
    WaysHead,
    /// A row of the table of ways, an index into its rows.
    Way(usize),
}

/// A line of pane 4, wrapped already.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyLine {
    /// What it is.
    pub kind: WhyKind,
    /// The label, in the first line of a text only.
    pub label: String,
    /// The cells that the label takes, also where it is empty.
    pub label_cells: usize,
    /// The text.
    pub text: String,
    /// How it is coloured.
    pub tone: Tone,
    /// Where the bytes are that it is about; none where it is about none.
    pub at: Option<Spot>,
}

impl WhyLine {
    /// What Enter does on it.
    #[must_use]
    pub fn goal(&self, shown: CallNo) -> Goal {
        match &self.at {
            Some(spot) if !spot.author.is_empty() => Goal::Call {
                call: spot.call.unwrap_or(shown),
                message: spot.message,
                layer: Some(spot.author.clone()),
            },
            _ => Goal::Nothing,
        }
    }
}

struct Lines {
    cells: usize,
    out: Vec<WhyLine>,
    /// What the lines that come are about.
    at: Option<Spot>,
}

impl Lines {
    fn text(&mut self, label: &str, label_cells: usize, text: &str, tone: Tone) {
        // Where there is hardly room beside the label, the text goes below it.
        let beside = self.cells >= label_cells + 16;
        let indent = if beside { label_cells } else { 2.min(self.cells / 2) };
        let mut label = label.to_owned();
        if !beside && !label.is_empty() {
            let label = std::mem::take(&mut label);
            self.out.push(WhyLine {
                kind: WhyKind::Text,
                label,
                label_cells: self.cells,
                text: String::new(),
                tone,
                at: self.at.clone(),
            });
        }
        for (range, hang) in cells::wrap(text, self.cells.saturating_sub(indent)) {
            self.out.push(WhyLine {
                kind: WhyKind::Text,
                label: std::mem::take(&mut label),
                label_cells: indent,
                text: format!("{:hang$}{}", "", text[range].trim_end()),
                tone,
                at: self.at.clone(),
            });
        }
    }

    fn plain(&mut self, kind: WhyKind, text: &str, tone: Tone) {
        let (text, at) = (text.to_owned(), self.at.clone());
        self.out.push(WhyLine { kind, label: String::new(), label_cells: 0, text, tone, at });
    }

    fn gap(&mut self) {
        if self.out.last().is_some_and(|line| !line.text.is_empty() || !line.label.is_empty()) {
            self.plain(WhyKind::Text, "", Tone::Plain);
        }
    }
}

/// The lines of pane 4 in `width` cells. With `verdict` the verdict stands in front, as on small screens.
#[must_use]
pub fn why_lines(snapshot: &Snapshot, width: u16, verdict: bool) -> Vec<WhyLine> {
    let mut lines = Lines { cells: usize::from(width).max(1), out: Vec::new(), at: None };
    problems(&mut lines, snapshot, |severity| snapshot.broken || severity == Severity::Error);
    if verdict {
        for line in &snapshot.verdict {
            let text = line.short.as_ref().unwrap_or(&line.text);
            lines.at.clone_from(&line.at);
            lines.text(&line.label, VERDICT_LABEL, text, line.tone);
        }
        lines.at = None;
    }
    let why = &snapshot.why;
    for (index, change) in why.changes.iter().enumerate() {
        // On small screens every row counts: what changed follows the verdict at once.
        if index > 0 || !verdict {
            lines.gap();
        }
        let what = format!("{} changed", change.what);
        lines.text(
            &what,
            LABEL.max(cells::width(&what) + 2),
            &format!("{} -> {}", change.old, change.new),
            Tone::Plain,
        );
        if !change.by.is_empty() {
            lines.text("  by", LABEL, &change.by, Tone::Plain);
        }
        if change.told.is_empty() {
            let tone =
                if matches!(change.belief, Belief::Stale | Belief::Untold) { Tone::Bad } else { Tone::Plain };
            lines.text("  told by", LABEL, "nobody", tone);
        }
        for (index, told) in change.told.iter().enumerate() {
            lines.at = change.told_at.get(index).cloned();
            lines.text(if index == 0 { "  told by" } else { "" }, LABEL, told, Tone::Plain);
        }
        for (index, old) in change.still_old.iter().enumerate() {
            lines.at = change.old_at.get(index).cloned();
            lines.text(if index == 0 { "  still old" } else { "" }, LABEL, old, Tone::Plain);
        }
        lines.at = None;
        if !change.belief_words.is_empty() {
            let tone = match change.belief {
                Belief::Right => Tone::Good,
                Belief::Superseded => Tone::Plain,
                Belief::Stale | Belief::Untold => Tone::Bad,
            };
            lines.text("", LABEL, &change.belief_words, tone);
        }
    }
    for pending in &why.pending {
        lines.gap();
        lines.at.clone_from(&pending.at);
        lines.text("pending", LABEL, &format!("{}: {}", pending.layer, pending.waits), Tone::Plain);
        // What the shown request carries already stands beside it, in pane 3.
        let carried = |part: &PartRow| part.injected && *part.author == *pending.layer;
        if snapshot.request.blocks.iter().any(|block| block.parts.iter().any(carried)) {
            continue;
        }
        quote(&mut lines, &pending.text);
    }
    lines.at = None;
    for note in &why.notes {
        lines.text("", 0, note, Tone::Plain);
    }
    if !snapshot.broken && snapshot.diagnostics.iter().any(|found| found.severity == Severity::Warning) {
        lines.gap();
        problems(&mut lines, snapshot, |severity| severity == Severity::Warning);
    }
    lints(&mut lines, snapshot);
    if !why.ways.rows.is_empty() {
        lines.gap();
        lines.plain(
            WhyKind::WaysHead,
            &match why.ways.left {
                0 => format!("Tell it another way ({} calls)", why.ways.calls),
                left => format!("Tell it another way ({} calls, {left} to go)", why.ways.calls),
            },
            Tone::Plain,
        );
        for (index, row) in why.ways.rows.iter().enumerate() {
            lines.plain(WhyKind::Way(index), &row.label, Tone::Plain);
        }
        for note in &why.ways.notes {
            lines.text("", 0, note, Tone::Plain);
        }
        lines.text("", 0, "Enter: switch to the selected row", Tone::Plain);
    }
    lines.out
}

/// That lints found something, in one line: what it is has a view of its own.
fn lints(lines: &mut Lines, snapshot: &Snapshot) {
    if snapshot.lints.is_empty() {
        return;
    }
    let found: Vec<String> = Lint::all()
        .map(|lint| (lint, snapshot.lints.iter().filter(|finding| finding.lint == lint).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(lint, count)| format!("{count} {}", lint.word()))
        .collect();
    lines.gap();
    lines.text("lints", LABEL, &format!("{} (C lists them)", found.join(", ")), Tone::Plain);
}

/// The beginning of a text that will be told.
fn quote(lines: &mut Lines, text: &str) {
    let end = text.match_indices('\n').nth(PENDING_LINES - 1).map_or(text.len(), |(at, _)| at);
    let mut most = end.min(lines.cells * 4 * PENDING_LINES);
    while !text.is_char_boundary(most) {
        most -= 1;
    }
    let head = text[..most].trim_start_matches('\n');
    let rows = cells::wrap(head, lines.cells.saturating_sub(2));
    for (range, hang) in rows.into_iter().take(PENDING_LINES) {
        lines.plain(WhyKind::Quote, &format!("{:hang$}{}", "", head[range].trim_end()), Tone::Plain);
    }
    let more = text[most..].matches('\n').count() + usize::from(most < end);
    if more > 0 {
        lines.plain(WhyKind::Quote, &format!("... {more} more lines"), Tone::Plain);
    }
}

/// What is wrong with the files, of some severities: errors stand in front of everything, warnings behind what became of
/// the call, which holds in spite of them.
fn problems(lines: &mut Lines, snapshot: &Snapshot, of: impl Fn(Severity) -> bool) {
    for diagnostic in snapshot.diagnostics.iter().filter(|diagnostic| of(diagnostic.severity)) {
        let tone = if diagnostic.severity == Severity::Error { Tone::Bad } else { Tone::Plain };
        let place = match (&diagnostic.file, diagnostic.at) {
            (Some(file), Some(at)) => format!("{file}:{at} "),
            (Some(file), None) => format!("{file} "),
            _ => String::new(),
        };
        // What is wrong is about no bytes, but about a place in a file.
        let text = diagnostic.file.as_ref().zip(diagnostic.at);
        lines.at =
            text.map(|(file, at)| Spot { text: Some(TextPlace::Named(file.clone(), at)), ..Spot::default() });
        let label = diagnostic.severity.word();
        lines.text(label, 9, &format!("{place}{}", diagnostic.message), tone);
        if let (Some(line), Some(_)) = (&diagnostic.line, diagnostic.at) {
            let (line, _) = cells::fit(line.trim(), lines.cells.saturating_sub(9) * 2);
            lines.text("", 9, &line, Tone::Plain);
        }
        if let Some(hint) = &diagnostic.hint {
            lines.text("", 9, &format!("hint: {hint}"), Tone::Plain);
        }
    }
    lines.at = None;
    if snapshot.broken && !snapshot.layers.rows.is_empty() {
        lines.text("", 9, "everything else is the last good state", Tone::Plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::snapshot::{Change, WayRow};
    use crate::core::diagnostic::Diagnostic;

    #[test]
    fn errors_stand_in_front_and_ways_keep_their_index() {
        let mut snapshot = Snapshot { broken: true, ..Snapshot::default() };
        snapshot.diagnostics.push(Diagnostic::error("unknown key `refesh`").hint("did you mean `refresh`?"));
        snapshot.why.changes.push(Change {
            what: "CWD".into(),
            old: "/a".into(),
            new: "/b".into(),
            ..Change::default()
        });
        snapshot.why.ways.calls = 6;
        snapshot.why.ways.rows = vec![WayRow::default(), WayRow::default()];
        let lines = why_lines(&snapshot, 40, false);
        let text: Vec<String> = lines.iter().map(|line| format!("{}|{}", line.label, line.text)).collect();
        assert_eq!(
            text[..5],
            [
                "error|unknown key `refesh`",
                "|hint: did you mean `refresh`?",
                "|",
                "CWD changed|/a -> /b",
                "  told by|nobody"
            ]
        );
        let ways: Vec<usize> = lines
            .iter()
            .filter_map(|line| if let WhyKind::Way(index) = line.kind { Some(index) } else { None })
            .collect();
        assert_eq!(ways, [0, 1]);
    }

    #[test]
    fn a_pending_text_is_quoted_up_to_a_limit() {
        let mut snapshot = Snapshot::default();
        let text: String = (0..40).map(|line| format!("line {line}\n")).collect();
        let pending = crate::app::snapshot::Pending {
            layer: "dynamic".into(),
            waits: "waits".into(),
            text: text.into(),
            at: None,
        };
        snapshot.why.pending.push(pending);
        let lines = why_lines(&snapshot, 40, false);
        let quoted: Vec<&str> =
            lines.iter().filter(|line| line.kind == WhyKind::Quote).map(|line| &*line.text).collect();
        assert_eq!(quoted.len(), PENDING_LINES + 1);
        assert_eq!((quoted[0], quoted[PENDING_LINES]), ("line 0", "... 29 more lines"));
    }

    #[test]
    fn no_line_is_wider_than_the_pane() {
        let mut snapshot = Snapshot::default();
        snapshot.why.changes.push(Change {
            what: "当前目录与项目提示".into(),
            old: "/home/项目".into(),
            new: "/home/项目/很长的路径/很长的路径".into(),
            by: "Cd, call 1".into(),
            ..Change::default()
        });
        for width in 1..60u16 {
            for line in why_lines(&snapshot, width, true) {
                if width > 4 {
                    assert!(
                        cells::width(&line.text) + line.label_cells <= usize::from(width),
                        "{width}: {line:?}"
                    );
                }
            }
        }
    }
}
