//! `plywood diff PATH [REV]`: what changed in the prompt since a revision of git, layer by layer.

mod past;

use serde::Serialize;

use super::args::DiffArgs;
use super::head::Schema;
use super::open::{Bench, Named};
use super::output::{Failure, Out, Outcome, Result, Table};
use crate::app::engine::Counters;
use crate::core::bench;
use crate::core::cache::Measures;
use crate::core::diagnostic::Diagnostic;
use crate::core::diff::lines::hunks;
use crate::core::diff::prompt::{Change, Unit, Units, changes, units};
use crate::core::diff::words;
use crate::core::text::number::grouped;
use crate::core::text::width;
use crate::core::tokens::{Measure, Method};
use crate::core::wire::BlockKind;
use crate::io::revision::Revision;

#[derive(Serialize)]
struct Report<'a> {
    bench: &'a str,
    variants: &'a [String],
    call: u32,
    model: &'a str,
    since: Since<'a>,
    same: bool,
    total: Sizes,
    /// The characters between layers.
    joins: Joins,
    layers: Vec<UnitReport>,
    notes: Vec<&'a str>,
}

#[derive(Serialize)]
struct Since<'a> {
    revision: &'a str,
    commit: &'a str,
    model: &'a str,
}

/// Before and after; null on the side where it is not.
#[derive(Clone, Serialize)]
struct Sizes {
    chars: [Option<u64>; 2],
    /// Of the text alone; null also where the model's tokens cannot be counted.
    tokens: [Option<u64>; 2],
    method: String,
    exact: bool,
}

#[derive(Serialize)]
struct Joins {
    changed: bool,
    chars: [u64; 2],
}

#[derive(Serialize)]
struct UnitReport {
    id: String,
    shown: String,
    place: String,
    /// `same`, `changed`, `moved`, `changed and moved`; `added`, `removed`; and where the bench has the layer before and
    /// now, `taken in`, `left out`.
    status: &'static str,
    #[serde(flatten)]
    sizes: Sizes,
    hunks: Vec<Hunk>,
}

/// Lines that stand where other lines stood.
#[derive(Serialize)]
struct Hunk {
    /// The first line in the layer's text before, from 1.
    old_line: usize,
    /// The same now.
    new_line: usize,
    /// The lines with their line ends: the last line of a text may have none.
    removed: Vec<String>,
    added: Vec<String>,
}

/// Prints the differences; status 1 where there is one.
pub(super) fn run(args: &DiffArgs, out: &mut Out<'_>) -> Result {
    if let Named::Sample(sample) = Named::of(&args.path)? {
        let problem = format!("`{}` is a sample: it is part of the program and has no history", sample.name);
        let hint = "copy it into a repository of your own to compare it";
        return Err(Failure::Diagnostics(vec![Diagnostic::error(problem).hint(hint)]));
    }
    let mut bench_args = args.bench.clone();
    let mut now = Bench::open(&args.path, &bench_args)?;
    past::stand_still(&mut now, &mut bench_args);
    let problem = |problem: Diagnostic| Failure::Diagnostics(vec![problem]);
    let mut revision = Revision::open(now.file.folder(), &args.revision).map_err(problem)?;
    let player = now.play_to(args.call)?;
    let new = now.request(&player, args.call)?;
    let (was, old) = past::bench(&mut now, &mut revision, &bench_args, args.call)?;

    let mut notes: Vec<String> = revision.notes().iter().cloned().collect();
    notes.extend(link(&args.path, &revision));
    let method = now.models().get(&new.model).method.clone();
    let mut counters = Counters::default();
    let mut measure = method.encoding().map(|encoding| method.measure(counters.of(encoding)));
    let mut count = |text: &str| measure.as_mut().map(|measure| u64::from(measure.tokens(&text.into())));

    let (before, after) = (units(&old), units(&new));
    let found = changes(&before.units, &after.units);
    let sizes = |chars, tokens| Sizes { chars, tokens, method: method.to_string(), exact: method.is_exact() };
    let total = |units: &Units| {
        let own: usize = units.units.iter().map(|unit| unit.text.chars().count()).sum();
        Some((own + units.joins.chars().count()) as u64)
    };
    let mut sum = |request: &crate::core::wire::Request| {
        request.blocks.iter().map(|block| count(block.text.text())).sum::<Option<u64>>()
    };
    let total = sizes([total(&before), total(&after)], [sum(&old), sum(&new)]);
    let layers: Vec<UnitReport> = found
        .iter()
        .map(|change| {
            let sides = [change.old.map(|at| &before.units[at]), change.new.map(|at| &after.units[at])];
            let chars = sides.map(|unit| unit.map(|unit| unit.text.chars().count() as u64));
            let tokens = sides.map(|unit| unit.and_then(|unit| count(&unit.text)));
            unit_report([&was, &now.bench], *change, sides, sizes(chars, tokens))
        })
        .collect();
    let joins = Joins {
        changed: before.joins != after.joins,
        chars: [&before, &after].map(|units| units.joins.chars().count() as u64),
    };
    let same = found.iter().all(|change| change.is_same()) && !joins.changed && old.model == new.model;
    let report = Report {
        bench: now.name(),
        variants: now.variants(),
        call: args.call,
        model: &new.model,
        since: Since { revision: &args.revision, commit: revision.commit(), model: &old.model },
        same,
        total,
        joins,
        layers,
        notes: notes.iter().map(String::as_str).collect(),
    };
    if args.json {
        out.json(&Schema::Diff.with(now.models(), &report))?;
    } else {
        text(&report, &method, args.words, out)?;
    }
    Ok(if same { Outcome::Done } else { Outcome::Found })
}

/// That a path leads into another folder, which is the one whose history is read.
fn link(path: &std::path::Path, revision: &Revision) -> Option<String> {
    let given = std::path::absolute(path).ok()?;
    let real = path.canonicalize().ok()?;
    let above = given.parent()?.canonicalize().ok()?;
    let leads = above.join(given.file_name()?) != real;
    leads.then(|| {
        let inside = revision.path(real.parent().unwrap_or(&real)).is_some();
        let shown = if inside { "in the repository" } else { "elsewhere" };
        format!("{} is a link to {}, {shown}: that is what is compared", path.display(), real.display())
    })
}

fn unit_report(
    benches: [&bench::Bench; 2],
    change: Change,
    sides: [Option<&Unit>; 2],
    sizes: Sizes,
) -> UnitReport {
    // At least one of the two is there; where both are, the new one names it.
    let unit = sides[1].or(sides[0]);
    let id = unit.map_or("", |unit| &unit.id);
    let texts = sides.map(|unit| unit.map_or("", |unit| &*unit.text));
    let lines = texts.map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let layer = |side: usize| benches[side].layer(id);
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let found = hunks(&lines[0], &lines[1]).into_iter().map(|hunk| Hunk {
        old_line: hunk.old.start + 1,
        new_line: hunk.new.start + 1,
        removed: owned(&lines[0][hunk.old]),
        added: owned(&lines[1][hunk.new]),
    });
    UnitReport {
        id: id.to_owned(),
        shown: layer(1).or_else(|| layer(0)).map_or_else(|| id.to_owned(), |layer| layer.shown().to_string()),
        place: unit.map_or_else(String::new, place),
        status: match change {
            Change { old: None, .. } if layer(0).is_some() => "taken in",
            Change { old: None, .. } => "added",
            Change { new: None, .. } if layer(1).is_some() => "left out",
            Change { new: None, .. } => "removed",
            Change { changed: true, moved: true, .. } => "changed and moved",
            Change { changed: true, .. } => "changed",
            Change { moved: true, .. } => "moved",
            _ => "same",
        },
        sizes,
        hunks: found.collect(),
    }
}

fn place(unit: &Unit) -> String {
    match (unit.place.kind, &unit.place.block) {
        (BlockKind::Tool, _) => "tools".to_owned(),
        (BlockKind::System, Some(block)) => block.to_string(),
        (BlockKind::System, None) => "system".to_owned(),
        (BlockKind::User | BlockKind::Image, _) => "user message".to_owned(),
        (BlockKind::Assistant | BlockKind::ToolUse, _) => "model message".to_owned(),
        (BlockKind::ToolResult, _) => "tool message".to_owned(),
    }
}

fn text(report: &Report<'_>, method: &Method, by_words: bool, out: &mut Out<'_>) -> std::io::Result<()> {
    let since = format!("{} ({})", report.since.revision, past::short(report.since.commit));
    if report.same {
        out.line(format_args!(
            "{}: the prompt of call {} is the same as at {since}",
            report.bench, report.call
        ))?;
    } else {
        out.line(format_args!("{}: the prompt of call {} since {since}", report.bench, report.call))?;
        out.line("")?;
        table(report, method).write(out)?;
        let what = format!("Tokens of each text alone, counted with {method}, for {}.", report.model);
        out.line(if report.since.model == report.model {
            what
        } else {
            format!("{what} The model was {}.", report.since.model)
        })?;
    }
    for layer in report.layers.iter().filter(|layer| !layer.hunks.is_empty()) {
        out.line("")?;
        out.line(format_args!("{} ({}): {}", layer.shown, layer.place, layer.status))?;
        for hunk in &layer.hunks {
            lines(hunk, by_words, out)?;
        }
    }
    for note in &report.notes {
        out.line("")?;
        out.line(format_args!("note: {note}"))?;
    }
    Ok(())
}

fn table(report: &Report<'_>, method: &Method) -> Table {
    let sign = method.sign();
    let mut table = Table::new(&["layer", "place", "what", ">chars", ">", ">tokens", ">"]);
    let row = |name: &str, place: &str, what: &str, sizes: &Sizes| {
        let (chars, more_chars) = pair(sizes.chars, "");
        let (tokens, more_tokens) = match sizes.tokens {
            // One of the two is missing because it cannot be counted, not because it is not there.
            tokens if tokens.map(|n| n.is_some()) != sizes.chars.map(|n| n.is_some()) => {
                ("n/a".to_owned(), String::new())
            }
            tokens => pair(tokens, sign),
        };
        [name.into(), place.into(), what.into(), chars, more_chars, tokens, more_tokens]
    };
    for layer in report.layers.iter().filter(|layer| layer.status != "same") {
        table.row(row(&layer.shown, &layer.place, layer.status, &layer.sizes));
    }
    if report.joins.changed {
        let [old, new] = report.joins.chars;
        let (chars, more) = pair([Some(old), Some(new)], "");
        table.row([
            "between layers".into(),
            String::new(),
            "changed".into(),
            chars,
            more,
            String::new(),
            String::new(),
        ]);
    }
    table.row(row("total", "", "", &report.total));
    table
}

/// What it is now, and what was added or taken away.
fn pair([old, new]: [Option<u64>; 2], sign: &str) -> (String, String) {
    let (from, to) = (old.unwrap_or(0), new.unwrap_or(0));
    let more = match to.cmp(&from) {
        std::cmp::Ordering::Less => format!("{sign}-{}", grouped(from - to)),
        std::cmp::Ordering::Equal => "+0".to_owned(),
        std::cmp::Ordering::Greater => format!("{sign}+{}", grouped(to - from)),
    };
    (new.map_or_else(|| "-".to_owned(), |new| format!("{sign}{}", grouped(new))), more)
}

/// The lines of a difference: `-` what stood there, `+` what stands there now; by words, `[-old-]{+new+}` in one text.
fn lines(hunk: &Hunk, by_words: bool, out: &mut Out<'_>) -> std::io::Result<()> {
    out.line(format_args!("@@ line {}", hunk.new_line))?;
    if by_words && !hunk.removed.is_empty() && !hunk.added.is_empty() {
        let text = in_words(&hunk.removed.concat(), &hunk.added.concat());
        for line in text.strip_suffix('\n').unwrap_or(&text).split('\n') {
            out.line(format_args!(" {}", visible(line)))?;
        }
        return Ok(());
    }
    for (sign, side) in [("-", &hunk.removed), ("+", &hunk.added)] {
        for line in side {
            match line.strip_suffix('\n') {
                Some(line) => out.line(format_args!("{sign}{}", visible(line)))?,
                None => out.line(format_args!("{sign}{}\n\\ no line end", visible(line)))?,
            }
        }
    }
    Ok(())
}

fn in_words(old: &str, new: &str) -> String {
    let mut text = String::new();
    let mut at = 0;
    for hunk in words::hunks(old, new) {
        text.push_str(&new[at..hunk.new.start]);
        if !hunk.old.is_empty() {
            text.push_str(&format!("[-{}-]", &old[hunk.old]));
        }
        if !hunk.new.is_empty() {
            text.push_str(&format!("{{+{}+}}", &new[hunk.new.clone()]));
        }
        at = hunk.new.end;
    }
    text.push_str(&new[at..]);
    text
}

/// A line of prompt text that does nothing to a terminal: control characters are written out.
fn visible(line: &str) -> String {
    use unicode_segmentation::UnicodeSegmentation;
    let mut column = 0;
    let mut out = String::with_capacity(line.len());
    for grapheme in line.graphemes(true) {
        let (piece, wide) = width::shown(grapheme, column, false);
        out.push_str(&piece);
        column += wide;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_where_they_stand() {
        let (old, new) = ("CWD: /home/shop\nBe kind.", "CWD: /home/shop/api\nBe very kind.");
        assert_eq!(in_words(old, new), "CWD: /home/shop{+/api+}\nBe {+very +}kind.");
        assert_eq!(in_words("a b", "a c"), "a [-b-]{+c+}");
    }

    #[test]
    fn sizes_say_what_they_are_now_and_the_difference() {
        assert_eq!(pair([Some(1_000), Some(2_500)], ""), ("2,500".into(), "+1,500".into()));
        assert_eq!(pair([Some(10), None], "~"), ("-".into(), "~-10".into()));
        assert_eq!(pair([None, Some(0)], ""), ("0".into(), "+0".into()));
    }

    #[test]
    fn text_does_nothing_to_a_terminal() {
        assert_eq!(visible("a\u{1b}[31mb"), "a^[[31mb");
    }
}
