//! `plywood demo`: lists the demos, performs one in the workbench, or prints it beat by beat.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::args::{ColorArg, DemoArgs};
use super::head::Schema;
use super::open::seen_from_here;
use super::output::{Failure, Out, Outcome, Result, Table};
use super::settings::{Environment, flags, sources};
use crate::app::cells;
use crate::app::effect::EngineRequest;
use crate::app::engine::{Disk, Engine, Options, publish};
use crate::app::snapshot::{Lost, Paid, Snapshot};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;
use crate::core::text::number::grouped;
use crate::io::bench_file::Machine;
use crate::io::demos::{self, Demo};
use crate::io::settings::{Given, Origin, Setting};
use crate::io::syntax::suggest;
use crate::io::watch::Mode;
use crate::io::{models, near, samples};
use crate::tui::setup::Reader;
use crate::tui::{terminal, workbench};

#[derive(Serialize)]
struct List {
    demos: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    title: Name,
    beats: usize,
    about: Name,
}

#[derive(Serialize)]
struct Report {
    demo: Name,
    title: Name,
    bench: Name,
    beats: Vec<BeatReport>,
}

#[derive(Serialize)]
struct BeatReport {
    beat: u32,
    says: Arc<str>,
    run: Option<Name>,
    variants: Vec<Name>,
    model: Name,
    call: u32,
    calls: u32,
    show: Option<Name>,
    look: Option<Name>,
    paid: Option<PaidReport>,
    verdict: Vec<String>,
}

/// Null is "not known", and for `write` also "has no price of its own".
#[derive(Serialize)]
struct PaidReport {
    sent: Option<u64>,
    read: Option<u64>,
    write: Option<u64>,
    fresh: Option<u64>,
    lost: Option<u64>,
    estimate: bool,
}

impl From<&Paid> for PaidReport {
    fn from(paid: &Paid) -> PaidReport {
        let lost = match paid.lost {
            Lost::Nothing => Some(0),
            Lost::Tokens(lost) => Some(lost),
            Lost::First | Lost::Unknown(_) => None,
        };
        let Paid { sent, read, write, fresh, estimate, .. } = *paid;
        PaidReport { sent, read, write, fresh, lost, estimate }
    }
}

/// Lists the demos, or prints one.
pub(super) fn run(args: &DemoArgs, out: &mut Out<'_>) -> Result {
    match &args.name {
        Some(name) => print(name, args.json, out),
        None => list(args.json, out),
    }
}

fn list(json: bool, out: &mut Out<'_>) -> Result {
    let read =
        |demo: &demos::BuiltIn| demo.demo().map_err(Failure::Diagnostics).map(|read| (demo.name, read));
    let list: Vec<(&str, Demo)> = demos::demos().iter().map(read).collect::<Result<_>>()?;
    if json {
        let demos = list.into_iter().map(|(name, demo)| Entry {
            name,
            title: demo.title,
            beats: demo.beats.len(),
            about: demo.about,
        });
        let demos = demos.collect();
        out.json(&Schema::Demos.plain(List { demos }))?;
    } else {
        let mut table = Table::new(&["demo", ">beats", "what it shows"]);
        for (name, demo) in list {
            table.row([name.to_owned(), demo.beats.len().to_string(), demo.about.to_string()]);
        }
        table.write(out)?;
    }
    Ok(Outcome::Done)
}

/// Performs a demo in the workbench.
pub(super) fn perform(args: &DemoArgs, color: Option<ColorArg>) -> Result<Outcome> {
    let Some(name) = &args.name else { return Ok(Outcome::Done) };
    let engine = open(name)?;
    terminal::require().map_err(|error| {
        Failure::Diagnostics(vec![
            Diagnostic::error(error.to_string()).hint("`--print` writes the demo without a screen"),
        ])
    })?;
    let environment = Environment::of_process();
    let mut sources = sources(&args.settings, &environment)?;
    // What an audience is shown is the script's: no file is watched, and the model data is the program's own. The keys
    // stand in a corner.
    let script = Origin::Flag("demo");
    sources.flags = Given {
        watch: Some(Setting::new(Mode::Off, script.clone())),
        show_keys: Some(Setting::new(true, script)),
        ..flags(args.theme.as_deref(), color)
    };
    let mut reader = Reader::new(sources, environment.into_look());
    let setup = reader.start().map_err(Failure::Diagnostics)?;
    let code = workbench::run(engine, setup, reader, Vec::new())
        .map_err(|error| Failure::message(error.to_string()))?;
    Ok(Outcome::Code(code))
}

/// An engine with the demo of this name on it, at its first beat. An existing path wins over a demo's name.
fn open(name: &Path) -> Result<Engine> {
    let machine = Machine::this();
    let (demo, disk) = if name.symlink_metadata().is_ok() {
        of_file(name, &machine)?
    } else if let Some(built_in) = name.to_str().and_then(demos::find) {
        let demo = built_in.demo().map_err(Failure::Diagnostics)?;
        let own = built_in.own_bench();
        let sample = own.as_ref().or_else(|| samples::find(&demo.bench));
        let sample =
            sample.ok_or_else(|| Failure::message(format!("there is no sample `{}`", demo.bench)))?;
        let disk = Disk::sample(sample, NOTE, &machine).map_err(Failure::Diagnostics)?;
        (demo, disk)
    } else {
        let shown = name.to_string_lossy();
        let names: Vec<&str> = demos::demos().iter().map(|demo| demo.name).collect();
        let near = suggest::nearest(&shown, names.iter().copied()).map(str::to_owned);
        let hint = match near.or_else(|| near::near(Path::new(""), &shown)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the demos are `{}`", names.join("`, `")),
        };
        let problem = Diagnostic::error(format!("there is no demo and no file `{shown}`"));
        return Err(Failure::Diagnostics(vec![problem.hint(hint)]));
    };
    let first = demo.beats.first();
    let options = Options {
        variants: first.map(|beat| beat.variants.clone()).unwrap_or_default(),
        run: first.and_then(|beat| beat.run.clone()),
        model: first.and_then(|beat| beat.model.clone()),
        now: None,
    };
    let mut engine =
        Engine::open(Box::new(disk), Arc::new(models::embedded()), options).map_err(Failure::Diagnostics)?;
    engine.perform(demo).map_err(Failure::Diagnostics)?;
    Ok(engine)
}

/// What the title says of the bench of a demo.
const NOTE: &str = "demo, scratch copy";

fn of_file(path: &Path, machine: &Machine) -> Result<(Demo, Disk)> {
    let unread = |why: String| Failure::message(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| unread(crate::io::load::reason(&error)))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let demo = Demo::parse(&name, &path.to_string_lossy(), &text).map_err(Failure::Diagnostics)?;
    let bench = demos::bench_of(path, &demo);
    let disk = match samples::find(&demo.bench) {
        Some(sample) if !bench.exists() => Disk::sample(sample, NOTE, machine),
        _ => Disk::open(&bench, machine).map_err(|list| {
            list.into_iter().map(|problem| seen_from_here(problem, bench.parent())).collect()
        }),
    };
    let disk = disk.map_err(|list: Vec<Diagnostic>| match bench.exists() {
        true => list,
        // What is not there is wrong where it is named.
        false => list.into_iter().map(|problem| at_bench(problem, path, &text)).collect(),
    });
    Ok((demo, disk.map_err(Failure::Diagnostics)?))
}

/// A problem with the bench of a script, at the line that names it.
fn at_bench(problem: Diagnostic, path: &Path, text: &str) -> Diagnostic {
    let line = text.lines().position(|line| line.starts_with("bench:"));
    let Some(line) = line.and_then(|line| u32::try_from(line).ok()) else {
        return problem.in_file(path.to_string_lossy());
    };
    let hint = "a path from the folder of the script, or the name of a sample";
    problem.at(path.to_string_lossy(), text, Position { line: line + 1, column: 1 }).hint(hint)
}

fn print(name: &Path, json: bool, out: &mut Out<'_>) -> Result {
    let mut engine = open(name)?;
    if let Some(encoding) = engine.encoding() {
        encoding.load();
    }
    let Some((demo, _)) = engine.demo() else { return Ok(Outcome::Done) };
    let demo = demo.clone();
    let mut beats = Vec::new();
    for (index, beat) in demo.beats.iter().enumerate() {
        if index > 0 {
            engine.handle(EngineRequest::Send);
        }
        if let Some(encoding) = engine.encoding() {
            encoding.load();
        }
        while engine.work() {}
        let snapshot = engine.snapshot();
        if !snapshot.status.note.is_empty() {
            return Err(Failure::Diagnostics(vec![demo.problem(index, "call", &snapshot.status.note)]));
        }
        if let Some(unknown) = publish::fill(&beat.say, &snapshot).unknown.first() {
            let problem = demo.problem(index, "say", &format!("the screen has no number `{unknown}` there"));
            return Err(Failure::Diagnostics(vec![problem]));
        }
        beats.push(report(&snapshot, beat));
    }
    if json {
        let (name, title, bench) = (demo.name, demo.title, demo.bench);
        out.json(&Schema::Demo.plain(Report { demo: name, title, bench, beats }))?;
        return Ok(Outcome::Done);
    }
    out.line(format_args!("{}: {} ({})", demo.title, demo.about, demo.bench))?;
    let count = beats.len();
    for beat in beats {
        out.line("")?;
        write(&beat, count, out)?;
    }
    Ok(Outcome::Done)
}

fn report(snapshot: &Snapshot, beat: &demos::Beat) -> BeatReport {
    let shown = snapshot.calls.shown.and_then(|shown| snapshot.calls.rows.get(shown));
    BeatReport {
        beat: snapshot.demo.as_ref().map_or(0, |demo| demo.at),
        says: snapshot.caption.as_ref().map(|caption| caption.text.clone()).unwrap_or_default(),
        run: snapshot.title.run.clone(),
        variants: beat.variants.clone(),
        model: snapshot.model.id.clone(),
        call: shown.map_or(0, |row| row.no.0),
        calls: snapshot.title.calls,
        show: beat.show.clone(),
        look: beat.look.clone(),
        paid: shown.and_then(|row| row.paid.as_ref()).map(PaidReport::from),
        verdict: snapshot.verdict.iter().map(|line| format!("{} {}", line.label, line.text)).collect(),
    }
}

/// The cells of a rehearsal sheet, and those in front of each line.
const SHEET: (usize, usize) = (100, 8);

fn write(beat: &BeatReport, of: usize, out: &mut Out<'_>) -> Result<()> {
    let run = beat.run.as_ref().map_or(String::new(), |run| format!("run {run}, "));
    let with = if beat.variants.is_empty() {
        String::new()
    } else {
        format!(" with {}", beat.variants.join(" and "))
    };
    let look = beat.look.as_ref().map_or(String::new(), |look| format!(" at {look}"));
    let show = beat.show.as_deref().unwrap_or("calls");
    let place = format!("{run}call {} of {}{with}; {show}{look}", beat.call, beat.calls);
    out.line(format_args!("{:>2} of {:<2} {place}", beat.beat, of))?;
    let mut lines = vec![beat.says.to_string()];
    if let Some(paid) = &beat.paid {
        let count = |name: &str, count: Option<u64>| {
            count.map(|count| format!("{name} {}{}", if paid.estimate { "~" } else { "" }, grouped(count)))
        };
        let columns = [
            count("sent", paid.sent),
            count("read", paid.read),
            count("write", paid.write),
            count("fresh", paid.fresh),
            count("lost", paid.lost),
        ];
        lines.push(columns.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    lines.extend(beat.verdict.iter().cloned());
    for text in lines {
        for (range, hang) in cells::wrap(&text, SHEET.0 - SHEET.1) {
            let indent = SHEET.1 + hang;
            out.line(format_args!("{:indent$}{}", "", text[range].trim_end()))?;
        }
    }
    Ok(())
}
