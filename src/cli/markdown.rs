//! `plywood report PATH`: what there is to say of a bench and its run, as one Markdown file, with pictures beside it.
//!
//! The same bench, facts and run give the same file. Tables are aligned, so that it can be read as text, too.

use std::fs;
use std::path::Path;

use super::args::ReportArgs;
use super::open;
use super::output::{Failure, Out, Outcome, Result};
use super::run::unkept_words;
use super::shot::{Shot, theme};
use super::workbench;
use crate::app::action::{self, Action};
use crate::app::effect::EngineRequest;
use crate::app::engine::{Counters, Inline};
use crate::app::event::Event;
use crate::app::key::Key;
use crate::app::snapshot::{Lost, Snapshot};
use crate::app::state::View;
use crate::app::tables;
use crate::core::compare::{self, usual_models};
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::lint::Finding;
use crate::core::text::number::{counted, grouped};
use crate::core::text::table::escaped;
use crate::core::tokens;
use crate::io::models;
use crate::io::picture::file_name;

/// The file that is written into the folder.
const FILE: &str = "report.md";

/// What is gathered over the calls of a run.
#[derive(Default)]
struct Gathered {
    /// What was sent and is not what is replayed: a line for each message, and its costs.
    unkept: Vec<Vec<String>>,
    /// For each call, its verdict and what hides behind it.
    verdicts: Vec<(u32, Vec<String>)>,
    lints: Vec<Finding>,
    diagnostics: Vec<Diagnostic>,
}

/// A picture: what it shows, its file, its content.
struct Picture {
    about: String,
    file: String,
    svg: String,
}

/// Writes the report.
pub(super) fn run(args: &ReportArgs, out: &mut Out<'_>) -> Result {
    open::check(&args.bench)?;
    let theme = theme(&args.theme)?;
    let mut inline = Inline::new(workbench::engine(Some(&args.path), &args.bench)?);
    let mut shot = Shot { inline: &mut inline, theme: &theme, size: args.size };
    let mut gathered = Gathered::default();
    let calls = shot.inline.state.snapshot.calls.rows.len() as u32;
    for call in 1..=calls {
        shot.show(call)?;
        gather(&mut gathered, call, &shot.inline.state.snapshot);
    }
    gathered.unkept = unkept(args)?;
    let call = args.call.unwrap_or_else(|| worst(&shot.inline.state.snapshot));
    shot.show(call)?;
    shot.inline.request(EngineRequest::View(View::Lints));
    if let Some(lints) = shot.inline.state.snapshot.data.lints() {
        gathered.lints.extend(lints.rows.iter().map(|row| row.finding.clone()));
    }
    shot.inline.request(EngineRequest::View(View::Main));
    let snapshot = shot.inline.state.snapshot.clone();
    let pictures = if args.output.is_some() { pictures(&mut shot, &snapshot, call) } else { Vec::new() };
    let text = markdown(args, &snapshot, &gathered, &pictures);
    match &args.output {
        None => out.text(&text)?,
        Some(folder) => {
            write(folder, &text, &pictures)?;
            out.line(folder.join(FILE).display())?;
        }
    }
    Ok(told(&gathered.diagnostics))
}

/// What is wrong with what was shown, for stderr and the exit status.
pub(super) fn told(problems: &[Diagnostic]) -> Outcome {
    Outcome::Told(problems.iter().filter(|problem| problem.severity != Severity::Note).cloned().collect())
}

/// What is replayed otherwise than it was sent, over the run.
fn unkept(args: &ReportArgs) -> Result<Vec<Vec<String>>> {
    let mut bench = open::Bench::open(&args.path, &args.bench)?;
    let mut player = bench.start()?;
    while bench.beat(&mut player)? {}
    let models = usual_models(bench.models(), &bench.bench.model);
    let session = player.session();
    let unkept = compare::unkept(session, bench.models(), &models, &mut Counters::default());
    Ok(unkept.iter().map(|unkept| unkept_words(session.bench(), unkept)).collect())
}

fn write(folder: &Path, text: &str, pictures: &[Picture]) -> Result<()> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::message(format!("{} cannot be written: {}", path.display(), crate::io::load::reason(&error)))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let files = pictures.iter().map(|picture| (picture.file.as_str(), picture.svg.as_str()));
    for (name, content) in files.chain([(FILE, text)]) {
        let path = folder.join(name);
        fs::write(&path, content).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

fn gather(gathered: &mut Gathered, call: u32, snapshot: &Snapshot) {
    let own = snapshot.verdict.iter().filter(|line| &*line.label != "AHEAD");
    let lines = own.map(|line| match &*line.label {
        "BEHIND" => format!("behind it: {}", line.text),
        _ => line.text.to_string(),
    });
    gathered.verdicts.push((call, lines.collect()));
    for problem in &snapshot.diagnostics {
        if !gathered.diagnostics.contains(problem) {
            gathered.diagnostics.push(problem.clone());
        }
    }
}

/// The call that loses most; the first where none loses anything.
fn worst(snapshot: &Snapshot) -> u32 {
    let lost = |index: usize| match snapshot.calls.rows[index].paid.as_ref().map(|paid| &paid.lost) {
        Some(Lost::Tokens(lost)) => *lost,
        _ => 0,
    };
    let rows = 0..snapshot.calls.rows.len();
    let worst = rows.max_by_key(|&index| (lost(index), std::cmp::Reverse(index)));
    worst.map_or(1, |index| snapshot.calls.rows[index].no.0)
}

/// The panes, then each view that has something to show.
fn pictures(shot: &mut Shot<'_>, snapshot: &Snapshot, call: u32) -> Vec<Picture> {
    let name = file_name(&snapshot.title.name);
    let mut pictures =
        vec![Picture { about: format!("Call {call}"), file: format!("{name}-panes.svg"), svg: shot.svg() }];
    let views = action::VIEWS.iter().map(|&view| action::info(view)).filter(|info| {
        let pane = matches!(
            info.action,
            Action::FocusLayers | Action::FocusCalls | Action::FocusRequest | Action::FocusWhy
        );
        !pane && action::useful(&shot.inline.state, info.action)
    });
    for info in views.collect::<Vec<_>>() {
        let Some(key) = info.keys.first().and_then(|key| Key::parse(key)) else { continue };
        shot.press(key);
        let view = shot.inline.state.view;
        // A view that is empty needs no picture.
        if view != View::Main && !shot.inline.state.page.lines.is_empty() {
            let title = view.title();
            let file = format!("{name}-{}.svg", file_name(&title.to_lowercase()));
            pictures.push(Picture { about: format!("{title}, call {call}"), file, svg: shot.svg() });
        }
        while shot.inline.state.view != View::Main {
            shot.inline.happen(Event::Key(Key::plain(crate::app::key::Code::Esc)));
        }
    }
    pictures
}

fn markdown(args: &ReportArgs, snapshot: &Snapshot, gathered: &Gathered, pictures: &[Picture]) -> String {
    let mut text = String::new();
    let mut say = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    say(format!("# {}\n", escaped(&snapshot.title.name)));
    for (what, value) in head(args, snapshot) {
        say(format!("- {what}: {}", escaped(&value)));
    }
    for picture in pictures.iter().take(1) {
        say(format!("\n![{}]({})", escaped(&picture.about), picture.file));
    }
    say(format!("\n## Layers of call {}\n", snapshot.request.call.0));
    let sign = if snapshot.model.tokens.estimate.is_some() { "~" } else { "" };
    say(tables::layers(&snapshot.layers, sign).markdown());
    say("Characters are those of a layer's own text; tokens are counted in context and add up to the total."
        .into());
    if snapshot.layers.crosses() {
        say("x: it runs in another order than it stands in the bytes.".into());
    }
    say("\n## Calls\n".into());
    say(tables::calls(&snapshot.calls).markdown());
    let lost: u64 = snapshot
        .calls
        .rows
        .iter()
        .filter_map(|row| match row.paid.as_ref()?.lost {
            Lost::Tokens(lost) => Some(lost),
            _ => None,
        })
        .sum();
    say(format!(
        "{sign}{} tokens are paid again over {}.\n",
        grouped(lost),
        counted(snapshot.calls.rows.len() as u64, "call")
    ));
    for (call, lines) in &gathered.verdicts {
        if let Some((first, rest)) = lines.split_first() {
            say(format!("- call {call} {}", escaped(first)));
            rest.iter().for_each(|line| say(format!("  - {}", escaped(line))));
        }
    }
    if !gathered.unkept.is_empty() {
        say("\n## What was sent is not what is replayed\n".into());
    }
    for lines in &gathered.unkept {
        if let Some((first, rest)) = lines.split_first() {
            say(format!("- {}", escaped(first)));
            rest.iter().for_each(|line| say(format!("  - {}", escaped(line.trim_start()))));
        }
    }
    let ways = tables::ways(&snapshot.why.ways);
    if !ways.is_empty() {
        say(format!("\n## Told another way, over {}\n", counted(u64::from(snapshot.why.ways.calls), "call")));
        say(ways.markdown().trim_end().to_owned());
    }
    say("\n## Lints\n".into());
    if gathered.lints.is_empty() {
        say("Nothing found.".into());
    }
    for finding in gathered.lints.iter().filter(|finding| finding.allowed.is_none()) {
        let message =
            format!("{}: {} ({})", finding.lint.word(), finding.diagnostic.message, finding.calls_words());
        problem(&mut say, &Diagnostic { message, ..finding.diagnostic.clone() });
        super::check::worth_lines(finding)
            .into_iter()
            .for_each(|line| say(format!("  - {}", escaped(&line))));
    }
    say("\n## Diagnostics\n".into());
    let told = gathered.diagnostics.iter().filter(|problem| problem.severity != Severity::Note);
    let told: Vec<&Diagnostic> = told.collect();
    if told.is_empty() {
        say("None.".into());
    }
    told.into_iter().for_each(|told| problem(&mut say, told));
    if pictures.len() > 1 {
        say("\n## Views".into());
    }
    for picture in pictures.iter().skip(1) {
        say(format!("\n### {}\n\n![{}]({})", picture.about, picture.about, picture.file));
    }
    text
}

/// What stands at the top: what it is about, and what its numbers depend on.
fn head(args: &ReportArgs, snapshot: &Snapshot) -> Vec<(&'static str, String)> {
    let mut head = vec![("bench", args.path.display().to_string())];
    if !snapshot.title.note.is_empty() {
        head.push(("opened as", snapshot.title.note.to_string()));
    }
    head.extend(snapshot.title.run.as_ref().map(|run| ("run", run.to_string())));
    if !args.bench.variants.is_empty() {
        head.push(("variants", args.bench.variants.join(", ")));
    }
    let model = &snapshot.model;
    head.push(("model", model.id.to_string()));
    head.push((
        "tokens",
        match &model.tokens.estimate {
            _ if model.tokens.name.is_empty() => "n/a: no tokenizer is known for this model".to_owned(),
            None => format!("{}, exact", model.tokens.name),
            Some(estimate) => {
                format!("{} x{} ~ {}, an estimate", model.tokens.name, estimate.factor, estimate.error)
            }
        },
    ));
    let cache = if model.cache.is_empty() { "n/a: no rules are known for this model" } else { &model.cache };
    head.push(("cache", cache.to_owned()));
    if let Some(prices) = &model.prices {
        let read = prices.read.map_or_else(|| "n/a".to_owned(), |read| format!("${read}"));
        let price = format!("${} for a million tokens of input, {read} read from the cache", prices.input);
        head.push(("prices", format!("{price}, of {}", prices.date)));
    }
    head.push(("cwd", snapshot.agent.cwd.to_string()));
    head.push(("data", format!("models of {}, {}", models::embedded().revision, tokens::REVISION)));
    head
}

fn problem(say: &mut dyn FnMut(String), told: &Diagnostic) {
    let place = match (&told.file, told.at) {
        (Some(file), Some(at)) => format!(" ({file}:{at})"),
        (Some(file), None) => format!(" ({file})"),
        _ => String::new(),
    };
    say(format!("- {}: {}{}", told.severity.word(), escaped(&told.message), escaped(&place)));
    if let Some(hint) = &told.hint {
        say(format!("  - hint: {}", escaped(hint)));
    }
}
