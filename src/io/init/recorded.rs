//! A bench from a recorded request.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::split::{Candidate, How, Piece, split};
use super::turns::{Conversation, Group, conversation, is_wrapped, said};
use super::{Draft, provider, run, template, yaml};
use crate::core::source::names::is_builtin;
use crate::core::wire::lossless::Json;
use crate::core::wire::{Document, Item, Zone};

/// A text that is longer, in characters, gets a file of its own.
const INLINE: usize = 72;

/// Writes a bench whose request is the recorded one. `name` is the bench's, `file` the recording's; `files` are those
/// whose texts become layers.
pub(super) fn draft(recorded: &Document, name: &str, file: &str, files: &[Candidate]) -> Draft {
    let conversation = conversation(recorded);
    let mut builder = Builder {
        recorded,
        files,
        reads: BTreeMap::new(),
        read_lines: Vec::new(),
        places: Vec::new(),
        layers: Vec::new(),
        taken: BTreeSet::new(),
        draft: Draft::default(),
        said_place: "user".to_owned(),
    };
    builder.system();
    builder.messages(&conversation);
    let tools = builder.tools(&conversation);
    let marks = builder.marks(&conversation);
    let (script, notes) = run::script(&conversation, builder.said_rest(&conversation));
    builder.draft.notes.extend(notes);
    let mut text = format!(
        "# Made by `plywood init` from {file}, a request to {} ({}).\n\
         # Texts that stand in a file of this folder are read from it; what is left is in texts/.\n\
         bench: 1\nname: {}\n",
        recorded.model.as_deref().unwrap_or("a model that it does not name"),
        recorded.format,
        yaml::scalar(name)
    );
    text.push_str(&format!("agent: {}\n", agent(recorded)));
    text.push_str(&format!("model: {}\n", yaml::scalar(&provider::model(recorded))));
    text.push_str("workspace: { path: . }\n");
    if !builder.read_lines.is_empty() {
        text.push_str(&format!("\nread:\n{}", builder.read_lines.concat()));
    }
    text.push_str(&tools);
    text.push_str(&format!("\nplaces:\n{}", builder.places.concat()));
    text.push_str(&format!("\nlayers:\n{}", builder.layers.concat()));
    if !marks.is_empty() {
        text.push_str(&format!("\nmarks:\n{}", marks.concat()));
    }
    text.push_str(&format!("\nruns:\n  recorded:\n{script}"));
    let mut draft = builder.draft;
    draft.files.insert(0, ("bench.yaml".to_owned(), text));
    draft
}

/// The settings that are one value, as fields of the agent.
fn agent(recorded: &Document) -> String {
    let mut fields = vec!["id: main".to_owned(), "role: main".to_owned()];
    for setting in &recorded.settings {
        let plain = setting.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let known = matches!(&*setting.name, "id" | "role" | "goal" | "session" | "stream" | "store");
        let value = match setting.value.as_bytes().first() {
            Some(b'"') => {
                let text = Json::parse(&setting.value).ok().and_then(|json| json.as_text().cloned());
                text.filter(|text| text.chars().count() <= INLINE).map(|text| yaml::scalar(&text))
            }
            Some(b'{' | b'[' | b'n') | None => None,
            Some(_) => Some(setting.value.clone()),
        };
        if let Some(value) = value.filter(|_| plain && !known) {
            fields.push(format!("{}: {value}", setting.name));
        }
    }
    format!("{{ {} }}", fields.join(", "))
}

/// Where a text goes that comes with what the user says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// Into the user's message, in front of what was said.
    Before,
    /// Into the user's message, behind it.
    After,
    /// Into a message of its own: its place.
    Own(String),
}

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Read,
    Place,
    Layer,
}

/// A text that stands in some requests.
struct Spec {
    text: String,
    /// The groups that it comes with: indices.
    groups: Vec<usize>,
}

struct Builder<'d> {
    recorded: &'d Document,
    files: &'d [Candidate],
    /// Path and whether the front matter is left out, to the name of the read.
    reads: BTreeMap<(String, bool), String>,
    read_lines: Vec<String>,
    places: Vec<String>,
    layers: Vec<String>,
    /// Names in use.
    taken: BTreeSet<(Kind, String)>,
    draft: Draft,
    /// The innermost place of what the user says.
    said_place: String,
}

/// A word that can be an id.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => out.push(c),
            _ if out.ends_with('_') || out.is_empty() => {}
            _ => out.push('_'),
        }
    }
    let out = out.trim_end_matches('_');
    if out.starts_with(|c: char| c.is_ascii_alphabetic()) { out.to_owned() } else { format!("file_{out}") }
}

impl Builder<'_> {
    /// A name that nothing of its kind has yet.
    fn name(&mut self, kind: Kind, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        // Reads share their names with what templates are given.
        let known = |name: &str| kind == Kind::Read && is_builtin(name);
        while known(&name) || !self.taken.insert((kind, name.clone())) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    fn place(&mut self, name: &str, of: &str) {
        self.places.push(format!("  {name}: {{ {of} }}\n"));
    }

    fn layer(
        &mut self,
        id: &str,
        title: Option<&str>,
        place: &str,
        when: Option<&str>,
        from: &str,
        more: &str,
    ) {
        let title = title.map_or_else(String::new, |title| format!(", title: {}", yaml::scalar(title)));
        let when = when.map_or_else(String::new, |when| format!(", when: {}", yaml::quoted(when)));
        self.layers.push(format!("  - {{ id: {id}{title}, in: {place}{when}, from: {{ {from} }}{more} }}\n"));
    }

    /// A layer with a text, which is in a file of its own where it is long.
    fn text(&mut self, stem: &str, text: &str, place: &str, when: Option<&str>, more: &str) {
        let id = self.name(Kind::Layer, stem);
        let template = template::escape(text);
        if text.chars().count() <= INLINE && !text.trim_end_matches('\n').contains('\n') {
            let from = format!("text: {}", yaml::quoted(&template));
            return self.layer(&id, None, place, when, &from, more);
        }
        let path = format!("texts/{id}.md");
        self.layer(&id, None, place, when, &format!("template: {path}"), more);
        self.draft.files.push((path, template));
    }

    /// A layer with the text of a file.
    fn file(&mut self, path: &str, how: How, place: &str, when: Option<&str>, more: &str) {
        let body = matches!(how, How::Body | How::TrimmedBody);
        let key = (path.to_owned(), body);
        let read = match self.reads.get(&key) {
            Some(read) => read.clone(),
            None => {
                let read = self.name(Kind::Read, &slug(path));
                let drop = if body { ", front_matter: drop" } else { "" };
                self.read_lines.push(format!("  {read}: {{ file: {}{drop} }}\n", yaml::scalar(path)));
                self.reads.insert(key, read.clone());
                read
            }
        };
        let id = self.name(Kind::Layer, &slug(path));
        let (from, cap) = match how {
            How::Whole | How::Body => (format!("fact: {read}"), String::new()),
            How::Trimmed | How::TrimmedBody => (format!("text: \"{{{{ {read} | trim }}}}\""), String::new()),
            How::Cut(chars) => (format!("fact: {read}"), format!(", cap: {{ chars: {chars} }}")),
        };
        if !self.draft.layers_from.iter().any(|known| known == path) {
            self.draft.layers_from.push(path.to_owned());
        }
        self.layer(&id, Some(path), place, when, &from, &format!("{cap}{more}"));
    }

    fn pieces(&mut self, stem: &str, text: &str, place: &str, when: Option<&str>, more: &str) {
        for piece in split(text, self.files) {
            match piece {
                Piece::Text(range) => self.text(stem, &text[range], place, when, more),
                Piece::File(path, how) => self.file(&path, how, place, when, more),
            }
        }
    }

    /// A text as one block of a place in which every layer is a block.
    fn block(
        &mut self,
        stem: &str,
        text: &str,
        place: &str,
        when: Option<&str>,
        more: &str,
        alone: bool,
    ) -> String {
        if !alone && split(text, self.files).len() < 2 {
            self.pieces(stem, text, place, when, more);
            return place.to_owned();
        }
        let inner = self.name(Kind::Place, stem);
        self.place(&inner, "of: block");
        self.pieces(stem, text, &inner, when, more);
        let id = self.name(Kind::Layer, &format!("{stem}_block"));
        self.layer(&id, None, place, when, &format!("place: {inner}"), more);
        inner
    }

    fn system(&mut self) {
        self.taken.extend(["system", "user"].map(|name| (Kind::Place, name.to_owned())));
        let items: Vec<&Item> = self.recorded.zone(Zone::System).collect();
        if let [only] = items.as_slice() {
            let keep = if only.text.is_empty() { ", keep_empty: true" } else { "" };
            self.place("system", &format!("of: system{keep}"));
            return self.pieces("prompt", &only.text, "system", None, "");
        }
        self.place("system", "of: system, join: blocks");
        for (index, item) in items.iter().enumerate() {
            if item.text.is_empty() {
                self.draft.notes.push(format!("the empty block at {} was left out", item.path));
                continue;
            }
            // A mark behind a block that is not the last needs a place to name.
            let marked = item.mark.is_some() && index + 1 < items.len();
            let stem = format!("prompt_{}", index + 1);
            let inner = self.block(&stem, &item.text, "system", None, "", marked);
            if marked {
                self.draft.marked.push((item.path.clone(), inner));
            }
        }
    }

    /// Where the texts of each group go, in the order of the conversation.
    fn sides<'d>(&mut self, conversation: &Conversation<'d>) -> Vec<(usize, Side, &'d Item)> {
        let merges = self.recorded.format.merges();
        let mut sides = Vec::new();
        for (index, group) in conversation.groups.iter().enumerate() {
            let chosen = if group.begins { said(group) } else { None };
            let mut behind = false;
            // Which message of its own on this side it is: the place's number and what tells messages apart.
            let mut own: Option<(usize, Option<usize>, &str)> = None;
            for item in &group.texts {
                if chosen.is_some_and(|said| std::ptr::eq(said, *item)) {
                    (behind, own) = (true, None);
                    continue;
                }
                let with = chosen
                    .is_some_and(|said| said.role == item.role && (merges || said.message == item.message));
                if with {
                    sides.push((index, if behind { Side::After } else { Side::Before }, *item));
                    continue;
                }
                let message = if merges { None } else { item.message };
                let number = match own {
                    Some((number, of, role)) if of == message && role == &*item.role => number,
                    Some((number, ..)) => number + 1,
                    None => 1,
                };
                own = Some((number, message, &item.role));
                let at = if group.begins && chosen.is_some() && !behind { "ahead" } else { "behind" };
                let role =
                    if &*item.role == "user" { String::new() } else { format!("_{}", slug(&item.role)) };
                let place = match number {
                    1 => format!("{at}{role}"),
                    n => format!("{at}{role}_{n}"),
                };
                sides.push((index, Side::Own(place), *item));
            }
        }
        sides
    }

    fn messages(&mut self, conversation: &Conversation<'_>) {
        let sides = self.sides(conversation);
        // Places of their own, in the order in which they are met.
        let mut own: Vec<(String, String)> = Vec::new();
        for (_, side, item) in &sides {
            if let Side::Own(name) = side
                && !own.iter().any(|(known, _)| known == name)
            {
                own.push((name.clone(), item.role.to_string()));
            }
        }
        let blocks_in = |side: &Side| {
            let counts = conversation.groups.iter().enumerate().map(|(index, _)| {
                sides.iter().filter(|(group, of, _)| *group == index && of == side).count()
            });
            counts.max().unwrap_or(0)
        };
        let beside = sides.iter().any(|(_, side, _)| matches!(side, Side::Before | Side::After));
        let join = if beside { ", join: blocks" } else { "" };
        self.place("user", &format!("of: current_user{join}"));
        for (name, role) in &own {
            self.taken.insert((Kind::Place, name.clone()));
            let role = match role.as_str() {
                "developer" | "system" => role,
                _ => "user",
            };
            let at = if name.starts_with("ahead") { "before_current" } else { "end" };
            let join = if blocks_in(&Side::Own(name.clone())) > 1 { ", join: blocks" } else { "" };
            self.place(name, &format!("of: message, role: {role}, at: {at}{join}"));
        }
        let turns = conversation.groups.iter().filter(|group| group.begins).count();
        self.specs(conversation, &sides, &Side::Before, "user", true, turns);
        self.said(conversation, beside);
        self.specs(conversation, &sides, &Side::After, "user", true, turns);
        for (name, _) in &own {
            let side = Side::Own(name.clone());
            let blocks = blocks_in(&side) > 1;
            self.specs(conversation, &sides, &side, name, blocks, turns);
        }
    }

    /// What the user says, and in the first turn what stands in front of it in the same text.
    fn said(&mut self, conversation: &Conversation<'_>, beside: bool) {
        let first = conversation.groups.first().and_then(|group| said(group));
        let head = first.map(|item| said_head(&item.text, self.files)).unwrap_or(0..0);
        if head.is_empty() {
            let id = self.name(Kind::Layer, "said");
            return self.layer(&id, None, "user", None, "said: user", "");
        }
        if beside {
            let inner = self.name(Kind::Place, "said");
            self.place(&inner, "of: block");
            self.said_place = inner;
        }
        let place = self.said_place.clone();
        let text = first.map_or("", |item| &item.text[head]);
        self.pieces("user_head", text, &place, Some("turn == 1"), "");
        let id = self.name(Kind::Layer, "said");
        self.layer(&id, None, &place, None, "said: user", "");
        if beside {
            let id = self.name(Kind::Layer, "said_block");
            self.layer(&id, None, "user", None, &format!("place: {place}"), "");
        }
    }

    /// The part of what was said in the first turn that layers write, by group; the rest is what the user typed.
    fn said_rest(&self, conversation: &Conversation<'_>) -> usize {
        let first = conversation.groups.first().and_then(|group| said(group));
        first.map_or(0, |item| said_head(&item.text, self.files).end)
    }

    /// The texts of one side as layers; equal texts are one layer.
    fn specs(
        &mut self,
        conversation: &Conversation<'_>,
        sides: &[(usize, Side, &Item)],
        side: &Side,
        place: &str,
        blocks: bool,
        turns: usize,
    ) {
        let mut specs: Vec<Spec> = Vec::new();
        let (mut group, mut at) = (usize::MAX, 0);
        for (index, _, item) in sides.iter().filter(|(_, of, _)| of == side) {
            if *index != group {
                (group, at) = (*index, 0);
            }
            // Layers stand in one order in every request, so an equal text counts only behind those before it.
            match specs[at..].iter().position(|spec| *spec.text == *item.text) {
                Some(more) => {
                    specs[at + more].groups.push(*index);
                    at += more + 1;
                }
                None => {
                    specs.insert(at, Spec { text: item.text.to_string(), groups: vec![*index] });
                    at += 1;
                }
            }
        }
        let own = matches!(side, Side::Own(_));
        for spec in specs {
            let groups: Vec<&Group<'_>> =
                spec.groups.iter().map(|index| &conversation.groups[*index]).collect();
            let when = condition(&groups, own, turns);
            let (stem, more) = match side {
                Side::Own(name) => (name.as_str(), ", refresh: call"),
                Side::Before => ("with_user", ""),
                Side::After => ("after_user", ""),
            };
            if spec.text.is_empty() {
                self.draft.notes.push("an empty text in the messages was left out".to_owned());
            } else if blocks {
                self.block(stem, &spec.text, place, when.as_deref(), more, false);
            } else {
                self.pieces(stem, &spec.text, place, when.as_deref(), more);
            }
        }
    }

    fn tools(&mut self, conversation: &Conversation<'_>) -> String {
        let valid = |name: &str| {
            !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        };
        let mut names: Vec<String> = Vec::new();
        let mut definitions: Vec<(String, String, bool)> = Vec::new();
        for item in self.recorded.zone(Zone::Tools) {
            if !valid(&item.name) || names.iter().any(|name| **name == *item.name) {
                self.draft
                    .notes
                    .push(format!("the tool at {} was left out: its name cannot be used", item.path));
                continue;
            }
            names.push(item.name.to_string());
            let Ok(json) = Json::parse(&item.text) else { continue };
            let named = |json: &Json| json.get("name").is_some();
            let by_name = named(&json) || json.get("function").is_some_and(named);
            definitions.push((item.name.to_string(), json.pretty(&item.text), by_name));
        }
        let called = conversation.answers.iter().flat_map(|answer| &answer.calls);
        let mut others: Vec<String> = Vec::new();
        for call in called {
            let known = names.iter().chain(&others).any(|name| **name == *call.tool);
            if !known && valid(&call.tool) {
                others.push(call.tool.to_string());
            }
        }
        let mut text = String::new();
        if names.is_empty() && others.is_empty() {
            return text;
        }
        text.push_str("\ntools:\n");
        if !names.is_empty() {
            // A definition that does not name its tool is found by its key.
            let json = if definitions.iter().all(|(.., by_name)| *by_name) {
                let all: Vec<String> =
                    definitions.into_iter().map(|(_, json, _)| json.replace('\n', "\n  ")).collect();
                format!("[\n  {}\n]\n", all.join(",\n  "))
            } else {
                let all: Vec<String> = definitions
                    .into_iter()
                    .map(|(name, json, _)| format!("\"{name}\": {}", json.replace('\n', "\n  ")))
                    .collect();
                format!("{{\n  {}\n}}\n", all.join(",\n  "))
            };
            self.draft.files.push(("tools.json".to_owned(), json));
            text.push_str(&format!("  - {{ names: [{}], schemas: tools.json }}\n", flow(&names)));
        }
        if !others.is_empty() {
            text.push_str(&format!(
                "  # Called in the recording, and not among its tools.\n  - {{ when: false, names: [{}] }}\n",
                flow(&others)
            ));
        }
        text
    }

    fn marks(&mut self, conversation: &Conversation<'_>) -> Vec<String> {
        let mut marks: Vec<(String, u32)> = Vec::new();
        let marked: Vec<&Item> = self.recorded.items.iter().filter(|item| item.mark.is_some()).collect();
        let last = |zone: Zone| self.recorded.zone(zone).last();
        let turn = conversation.groups.iter().rfind(|group| group.begins);
        let begins = turn.and_then(|group| group.texts.first().copied());
        let history = begins.and_then(|first| {
            let at = self.recorded.items.iter().position(|item| std::ptr::eq(item, first))?;
            self.recorded.items[..at].iter().rfind(|item| item.zone == Zone::Messages)
        });
        let mut notes = Vec::new();
        for item in marked {
            let is = |other: Option<&Item>| other.is_some_and(|other| std::ptr::eq(other, item));
            let named =
                self.draft.marked.iter().find(|(path, _)| *path == item.path).map(|(_, place)| place.clone());
            let place = match item.zone {
                Zone::Tools => is(last(Zone::Tools)).then(|| "tools".to_owned()),
                Zone::System => is(last(Zone::System)).then(|| "system".to_owned()).or(named),
                Zone::Messages if is(last(Zone::Messages)) => Some("last_message".to_owned()),
                Zone::Messages if is(history) => Some("last_history".to_owned()),
                Zone::Messages if is(turn.and_then(|group| said(group))) => Some(self.said_place.clone()),
                Zone::Messages => None,
            };
            match place {
                Some(place) => {
                    marks.push((place, item.mark.and_then(|mark| mark.ttl).unwrap_or(300)));
                }
                None => notes.push(format!(
                    "the cache mark at {} was left out: no rule of a bench puts one there",
                    item.path
                )),
            }
        }
        self.draft.notes.extend(notes);
        let line = |(place, ttl): (String, u32)| match ttl {
            300 => format!("  - {{ at: {place} }}\n"),
            ttl if ttl % 3600 == 0 => format!("  - {{ at: {place}, ttl: {}h }}\n", ttl / 3600),
            ttl => format!("  - {{ at: {place}, ttl: {ttl}s }}\n"),
        };
        marks.into_iter().map(line).collect()
    }
}

fn flow(names: &[String]) -> String {
    names.iter().map(|name| yaml::scalar(name)).collect::<Vec<_>>().join(", ")
}

/// When a text comes; none where it always does.
fn condition(groups: &[&Group<'_>], own: bool, turns: usize) -> Option<String> {
    let (name, mut numbers): (&str, Vec<u32>) = if own {
        ("call.number", groups.iter().map(|group| group.call).collect())
    } else {
        ("turn", groups.iter().map(|group| group.turn).collect())
    };
    numbers.dedup();
    // What came in every turn of several will come in the next.
    if !own && numbers.len() == turns && turns > 1 {
        return None;
    }
    Some(match numbers.as_slice() {
        [one] => format!("{name} == {one}"),
        several => {
            format!("{name} in [{}]", several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    })
}

/// The part of what was said that layers write: up to the end of the last file in it, or all of it where nothing of it
/// is the user's.
fn said_head(text: &str, files: &[Candidate]) -> Range<usize> {
    if is_wrapped(text) {
        return 0..text.len();
    }
    let pieces = split(text, files);
    let tail = match pieces.as_slice() {
        [] | [Piece::Text(_)] => return 0..0,
        [.., Piece::Text(range)] => range.start,
        _ => text.len(),
    };
    0..tail
}
