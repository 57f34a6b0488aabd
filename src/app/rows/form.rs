//! The rows of the forms of a layer and of the bench, and of the choices for one of their fields.

use super::overlay::{ListRow, Pick, sign};
use crate::app::form::{Field, Subject};
use crate::app::snapshot::Snapshot;
use crate::core::bench::{Keeping, Refresh, Since};
use crate::core::fact::Name;
use crate::core::fix::KeepRule;
use crate::io::edit::bench::{BenchEdit, LayerSheet, Rule, Sheet, Written};

/// The rows of a form.
pub(super) fn form(snapshot: &Snapshot, subject: &Subject) -> Vec<ListRow> {
    let Some(sheet) = &snapshot.sheet else { return Vec::new() };
    match subject {
        Subject::Layer(id) => sheet.layer(id).map(|layer| of_layer(sheet, layer)).unwrap_or_default(),
        Subject::Bench | Subject::Field(_) | Subject::Typing(_) => of_bench(snapshot, sheet),
    }
}

/// The title of a form, a list of choices or a line.
pub(super) fn title(snapshot: &Snapshot, subject: &Subject) -> String {
    let file = snapshot.sheet.as_ref().map_or("the bench", |sheet| &*sheet.file);
    match subject {
        Subject::Bench => format!("Bench, in {file}"),
        Subject::Layer(id) => {
            let layer = snapshot.sheet.as_ref().and_then(|sheet| sheet.layer(id));
            let (shown, line) = layer.map_or((id, 0), |layer| (&layer.shown, layer.line));
            format!("Layer {shown}, {file}:{line}")
        }
        Subject::Field(field) => format!("{}, in {file}", field.path()),
        Subject::Typing(typing) => typing.title(),
    }
}

/// A row for a field: its name, what the file says, and where.
fn row(
    sheet: &Sheet,
    name: impl Into<String>,
    written: &Written,
    default: &str,
    about: &str,
    field: Field,
) -> ListRow {
    let mut notes = vec![match &written.text {
        Some(_) => format!("{}:{}", sheet.file, written.line),
        None => "not written: the default".to_owned(),
    }];
    if let Some((variant, value)) = &written.instead {
        notes.push(format!("while the variant {variant} is on: {value}"));
    }
    if !about.is_empty() {
        notes.push(about.to_owned());
    }
    ListRow::new(name, written.or(default), notes.join("; "), Pick::Field(field))
}

fn of_layer(sheet: &Sheet, layer: &LayerSheet) -> Vec<ListRow> {
    let place = sheet.places.iter().find(|(name, _)| Some(&**name) == layer.place.text.as_deref());
    let place_about = place.map_or("", |(_, about)| about);
    let mut rows = vec![row(sheet, "place", &layer.place, "", place_about, Field::Place(layer.id.clone()))];
    for (rule, written) in &layer.rules {
        let (name, default, about) = match rule {
            Rule::When => ("when", "always", ""),
            Rule::Key => ("key", "", if place_about.ends_with("by key") { "decides the order" } else { "" }),
            Rule::Run => ("run", "0", "when it runs; smaller comes first"),
            Rule::Refresh => ("refresh", "turn", "when it is made again"),
            Rule::Earlier => ("keep earlier", "keep", "its earlier text in messages, when it writes again"),
            Rule::Persist => ("keep persist", "keep", "its text in messages, when the turn is persisted"),
            Rule::Budget => ("budget", "none", "characters; more is a warning"),
        };
        let default = if *rule == Rule::Key { &*layer.id } else { default };
        rows.push(row(sheet, name, written, default, about, Field::Rule(layer.id.clone(), *rule)));
    }
    rows.push(ListRow::new(
        "",
        "the bench",
        "its model, agent, facts and cache marks",
        Pick::Form(Subject::Bench),
    ));
    rows
}

fn of_bench(snapshot: &Snapshot, sheet: &Sheet) -> Vec<ListRow> {
    let heading = |title: &str| ListRow::new("", title, "", Pick::Nothing);
    let more = |title: &str, about: &str, field| ListRow::new("+", title, about, Pick::Field(field));
    let used = match (&sheet.model.text, &sheet.model.instead) {
        (Some(text), None) if **text != *snapshot.model.id => {
            format!("chosen for this run alone: {}", snapshot.model.id)
        }
        _ => String::new(),
    };
    let mut rows = vec![row(sheet, "model", &sheet.model, "", &used, Field::Model), heading("Agent")];
    for (name, written) in &sheet.agent {
        rows.push(row(sheet, &**name, written, "", "", Field::Agent(name.clone())));
    }
    rows.push(more("a field of the agent", "prompts read it as agent.NAME", Field::NewAgent));
    rows.push(heading("Facts"));
    for (name, written) in &sheet.facts {
        let now = snapshot.facts_now.iter().find(|fact| fact.name == *name);
        let now = now
            .map_or_else(String::new, |fact| format!("in this run alone: {}, by {}", fact.value, fact.cause));
        rows.push(row(sheet, &**name, written, "", &now, Field::Fact(name.clone())));
    }
    // What was set in the run and stands in no file.
    let others =
        snapshot.facts_now.iter().filter(|fact| sheet.facts.iter().all(|(name, _)| *name != fact.name));
    for fact in others {
        let about = format!("not in the file; in this run alone, by {}", fact.cause);
        rows.push(ListRow::new(
            &*fact.name,
            &*fact.value,
            about,
            Pick::Field(Field::Fact(fact.name.clone())),
        ));
    }
    rows.push(more("a fact", "layers read it by its name", Field::NewFact));
    rows.push(heading("Cache marks"));
    for (index, mark) in sheet.marks.iter().enumerate() {
        let life = match &mark.ttl.text {
            Some(ttl) => format!("asks for {ttl}"),
            None => "asks for the default life, 5m".to_owned(),
        };
        let name = (index + 1).to_string();
        rows.push(row(sheet, name, &mark.at, "", &life, Field::Mark(index)));
    }
    rows.push(more("a cache mark", "for providers that cache up to a mark", Field::NewMark));
    rows.push(heading("Layers"));
    for layer in &sheet.layers {
        let refresh = layer.rule(Rule::Refresh).or("turn");
        let about = format!("{}:{}; in {}, refresh: {refresh}", sheet.file, layer.line, layer.place.or("-"));
        rows.push(ListRow::new("", &*layer.shown, about, Pick::Form(Subject::Layer(layer.id.clone()))));
    }
    rows
}

/// The choices for a field, what is written now marked.
pub(super) fn choices(snapshot: &Snapshot, field: &Field) -> Vec<ListRow> {
    let Some(sheet) = &snapshot.sheet else { return Vec::new() };
    match field {
        Field::Place(id) => places(sheet, id),
        Field::Rule(id, rule) => {
            let Some(layer) = sheet.layer(id) else { return Vec::new() };
            match rule {
                Rule::Refresh => refresh(sheet, layer),
                Rule::Earlier | Rule::Persist => keep(layer, *rule),
                _ => Vec::new(),
            }
        }
        Field::Mark(index) => mark(sheet, *index),
        Field::NewMark => new_mark(sheet),
        _ => Vec::new(),
    }
}

fn edit(on: bool, title: impl Into<String>, about: impl Into<String>, edit: BenchEdit) -> ListRow {
    ListRow::new(sign(on), title, about, Pick::Edit(Box::new(edit)))
}

fn places(sheet: &Sheet, id: &Name) -> Vec<ListRow> {
    let now = sheet.layer(id).and_then(|layer| layer.place.text.clone());
    let row = |(name, about): &(Name, std::sync::Arc<str>)| {
        let to = BenchEdit::Place { layer: id.clone(), place: name.clone() };
        edit(now.as_deref() == Some(&**name), &**name, &**about, to)
    };
    sheet.places.iter().map(row).collect()
}

fn refresh(sheet: &Sheet, layer: &LayerSheet) -> Vec<ListRow> {
    let now = layer.rule(Rule::Refresh).or("turn");
    let rule = |on: bool, title: String, about: &str, refresh: Refresh| {
        edit(on, title, about, BenchEdit::Refresh { layer: layer.id.clone(), refresh })
    };
    let mut rows: Vec<ListRow> = [
        (Refresh::Session, "once a session"),
        (Refresh::Turn, "once a turn; the default"),
        (Refresh::Call, "before every call"),
    ]
    .into_iter()
    .map(|(refresh, about)| rule(now == refresh.word(), refresh.word().to_owned(), about, refresh))
    .collect();
    // Each way of comparing for what is watched now, then one fact alone.
    let mut watched: Vec<Vec<Name>> = Vec::new();
    if !layer.watch.is_empty() {
        watched.push(layer.watch.clone());
    }
    let single = std::iter::once(Name::from("cwd")).chain(sheet.facts.iter().map(|(name, _)| name.clone()));
    for name in single.map(|name| vec![name]) {
        if !watched.contains(&name) {
            watched.push(name);
        }
    }
    for watch in watched {
        let own = watch == layer.watch;
        for (since, word, about) in [
            (
                Since::Built,
                "built",
                "told when it differs from the value with which the turn's layers were built",
            ),
            (Since::First, "first", "from the value at the first call that could tell it"),
            (Since::EmptyIsUnset, "empty_is_unset", "as first; a change from nothing is not told"),
        ] {
            // For what is not watched yet, the default of it is enough; the rest comes with it.
            if own || since == Since::Built {
                let on = own
                    && (now.contains(&format!("since: {word}"))
                        || (since == Since::Built && !now.contains("since:")));
                let title = format!("change of {}, since {word}", watch.join(", "));
                rows.push(rule(on, title, about, Refresh::Change { watch: watch.clone(), since }));
            }
        }
    }
    rows
}

fn keep(layer: &LayerSheet, rule: Rule) -> Vec<ListRow> {
    let now = layer.rule(rule).or("keep");
    let row = |word: &str, about: &str, keeping| {
        let rule = if rule == Rule::Earlier { KeepRule::Earlier } else { KeepRule::Persist };
        edit(now == word, word, about, BenchEdit::Keep { layer: layer.id.clone(), rule, keeping })
    };
    vec![
        row("keep", "it stays where it was put; the default", Keeping::Keep),
        row("strip", "it is taken out again", Keeping::Strip),
    ]
}

fn mark(sheet: &Sheet, index: usize) -> Vec<ListRow> {
    let Some(mark) = sheet.marks.get(index) else { return Vec::new() };
    let now = mark.ttl.text.as_deref();
    let life = |ttl: Option<&str>| BenchEdit::MarkLife { mark: index, ttl: ttl.map(Name::from) };
    vec![
        edit(now.is_none() || now == Some("5m"), "5m", "the default life", life(None)),
        edit(now == Some("1h"), "1h", "a longer life; writing it costs more", life(Some("1h"))),
        edit(
            false,
            "take it away",
            format!("no mark at {} any more", mark.at.or("-")),
            BenchEdit::RemoveMark(index),
        ),
    ]
}

fn new_mark(sheet: &Sheet) -> Vec<ListRow> {
    let fixed = [
        ("tools", "behind the last tool definition"),
        ("last_history", "behind what was said before the current user message"),
        ("last_message", "behind the last block of the request"),
    ];
    let places = sheet.places.iter().filter(|(_, about)| !about.starts_with("a block"));
    let places = places.map(|(name, about)| (&**name, format!("behind what stands in it: {about}")));
    let all = fixed.into_iter().map(|(name, about)| (name, about.to_owned())).chain(places);
    let there = |name: &str| sheet.marks.iter().any(|mark| mark.at.text.as_deref() == Some(name));
    all.filter(|(name, _)| !there(name))
        .map(|(name, about)| edit(false, name, about, BenchEdit::AddMark { at: name.into(), ttl: None }))
        .collect()
}
