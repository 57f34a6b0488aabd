//! The changes that can be tried on a session.

use std::sync::Arc;

use crate::core::bench::{Bench, PlaceKind};
use crate::core::cache::short_id;
use crate::core::compare::{Suggestion, reordered};
use crate::core::fact::{FactKey, FileText, Found, Name, Value};
use crate::core::run::{CallRecord, Input, Session};
use crate::core::wire::{BlockKind, Request};

/// How many files, folders and models are tried.
const MOST: usize = 6;

/// A change that can be tried.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What it is called on command lines, unique: `cwd=/home/shop/api`, `wait=1h`.
    pub id: Arc<str>,
    /// What it is, in words.
    pub title: Arc<str>,
    /// What is done.
    pub act: Act,
}

/// What is done to try a change.
#[derive(Clone, Debug)]
pub enum Act {
    /// The session takes an input.
    Input(Input),
    /// The file is edited: a copy of it takes this input.
    Edit(FactKey, Input),
    /// The bench becomes another one: this layer moves past that one.
    Bench {
        /// The bench.
        bench: Arc<Bench>,
        /// The event.
        by: Name,
        /// The layer that moves.
        layer: Name,
        /// The one that it passes.
        past: Name,
    },
}

/// What the edge knows besides.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Folders of the workspace, as prompts show them.
    pub folders: Vec<Name>,
    /// Models to switch to, as `provider:model`.
    pub models: Vec<Name>,
}

/// The files that wrote some of what a request is sent.
#[must_use]
pub fn file_keys(request: &Request) -> Vec<FactKey> {
    let mut keys: Vec<FactKey> = Vec::new();
    for part in request.blocks.iter().flat_map(|block| block.text.parts()) {
        for key in part.reads.0.keys() {
            if matches!(key, FactKey::File(_) | FactKey::Document(_)) && !keys.contains(key) {
                keys.push(key.clone());
            }
        }
    }
    keys
}

/// The changes that the request that waits can see: each kind of them, and of each kind a few. `found` holds what the
/// files that wrote it are found as.
#[must_use]
pub fn candidates(
    session: &Session,
    record: &CallRecord,
    given: &Given,
    found: &[(FactKey, Found)],
) -> Vec<Planned> {
    let mut out = Vec::new();
    let folders = given.folders.iter().filter(|folder| **folder != record.cwd);
    out.extend(folders.take(2).map(cwd));
    out.extend(found.iter().filter_map(|(key, found)| edit(key, found)).take(MOST));
    let models = given.models.iter().filter(|model| **model != record.model);
    out.extend(models.take(2).map(switch));
    let tools = record.tools();
    out.extend(tools.last().map(|last| without_tool(&tools, last)));
    if tools.len() > 1 {
        let turned: Vec<Name> = tools.iter().rev().cloned().collect();
        out.push(Planned {
            id: "tools=reversed".into(),
            title: "tools in reverse order".into(),
            act: Act::Input(Input::Tools(turned)),
        });
    }
    out.extend(first_move(session.bench(), record));
    for (seconds, id, words) in
        [(360, "6m", "6 minutes pass"), (3_660, "61m", "61 minutes pass"), (90_000, "25h", "25 hours pass")]
    {
        out.push(wait(seconds, id, words));
    }
    out
}

/// The working directory is another one.
#[must_use]
pub fn cwd(folder: &Name) -> Planned {
    let set = [("cwd".into(), Value::Text(folder.clone()))].into_iter().collect();
    Planned {
        id: format!("cwd={folder}").into(),
        title: format!("CWD {folder}").into(),
        act: Act::Input(Input::Set(set)),
    }
}

/// A file has a line more; none for what is no text.
#[must_use]
pub fn edit(key: &FactKey, found: &Found) -> Option<Planned> {
    let Found::Value(value) = found else { return None };
    let edited = edited(value)?;
    let id = format!("edit={key}").into();
    let by = format!("the edit of {key}").into();
    let observed = Input::Observed { found: vec![(key.clone(), Found::Value(edited))], by };
    Some(Planned { id, title: format!("{key}: one line more").into(), act: Act::Edit(key.clone(), observed) })
}

fn edited(value: &Value) -> Option<Value> {
    match value {
        Value::File(file) => {
            let gap = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
            let text = format!("{}{gap}One more line.\n", file.text);
            Some(Value::File(Arc::new(FileText { text: text.into(), ..(**file).clone() })))
        }
        // A document: its front matter stays, its text has a line more.
        Value::Map(map) => {
            let body = edited(map.get("body")?)?;
            let entries = map.iter().map(|(name, value)| {
                let value = if &**name == "body" { body.clone() } else { value.clone() };
                (name.clone(), value)
            });
            Some(Value::map(entries.collect::<Vec<_>>()))
        }
        _ => None,
    }
}

/// Another model is asked.
#[must_use]
pub fn switch(model: &Name) -> Planned {
    Planned {
        id: format!("model={model}").into(),
        title: format!("model {}", short_id(model)).into(),
        act: Act::Input(Input::Model(model.clone())),
    }
}

/// A tool is gone.
#[must_use]
pub fn without_tool(tools: &[Name], tool: &Name) -> Planned {
    Planned {
        id: format!("tools=-{tool}").into(),
        title: format!("without the tool {tool}").into(),
        act: Act::Input(Input::Tools(tools.iter().filter(|name| *name != tool).cloned().collect())),
    }
}

/// Time passes.
#[must_use]
pub fn wait(seconds: u64, id: &str, words: &str) -> Planned {
    Planned { id: format!("wait={id}").into(), title: words.into(), act: Act::Input(Input::Advance(seconds)) }
}

/// A layer moves past its neighbour in the order of the bytes; none where the two stand in different places.
#[must_use]
pub fn swap(bench: &Bench, layer: &Name, past: &Name, order: &[Name]) -> Option<Planned> {
    let (a, b) = (bench.layer(layer)?, bench.layer(past)?);
    let place = bench.places.get(&a.place).filter(|_| a.place == b.place)?;
    let at = |name: &Name| order.iter().position(|other| other == name);
    let (from, to) = (at(layer)?, at(past)?);
    let mut order = order.to_vec();
    let moved = order.remove(from);
    order.insert(to, moved);
    // Where the place does not go by keys, its layers run in the order of their bytes: the time moves, too.
    let mut changed = bench.clone();
    if !place.by_key {
        for (number, name) in (0i64..).zip(&order) {
            for own in changed.layers.iter_mut().filter(|own| own.id == *name) {
                own.run = number;
            }
        }
    }
    let suggestion =
        Suggestion { place: a.place.clone(), order, moved: vec![layer.clone()], by_key: place.by_key };
    let changed = reordered(&changed, &suggestion);
    let side = if from > to { "before" } else { "behind" };
    Some(Planned {
        id: format!("move={layer}:{past}").into(),
        title: format!("{} {side} {}", a.shown(), b.shown()).into(),
        act: Act::Bench {
            bench: Arc::new(changed),
            by: format!("the move of {}", a.shown()).into(),
            layer: layer.clone(),
            past: past.clone(),
        },
    })
}

/// The layers that stand in a place of the system prompt, in the order of their bytes.
#[must_use]
pub fn standing(bench: &Bench, record: &CallRecord, place: &Name) -> Vec<Name> {
    let mut out: Vec<Name> = Vec::new();
    let system = record.head.iter().filter(|block| block.kind == BlockKind::System);
    for part in system.flat_map(|block| block.text.parts()) {
        if bench.layer(&part.id).is_some_and(|layer| layer.place == *place) && !out.contains(&part.id) {
            out.push(part.id.clone());
        }
    }
    out
}

/// The second layer of the system prompt goes in front of the first.
fn first_move(bench: &Bench, record: &CallRecord) -> Option<Planned> {
    bench.places.values().filter(|place| place.kind == PlaceKind::System).find_map(|place| {
        let order = standing(bench, record, &place.id);
        swap(bench, order.get(1)?, order.first()?, &order)
    })
}
