//! What an edit comes to: the changes of the file that it needs, and how it is said.

use super::patch::{Change, switched_off};
use super::tree::{Refusal, Step};
use super::{BenchEdit, KeepRule, Rule, key, run, value};
use crate::core::bench::{Keeping, Refresh, Since};
use crate::core::fact::{Name, Value};
use crate::core::text::number::counted;
use crate::io::syntax::node::{Kind, Node};
use crate::io::syntax::{self, bench_keys};

/// What an edit comes to.
pub(super) struct Plan<'a> {
    pub(super) changes: Vec<Change<'a>>,
    pub(super) said: String,
    pub(super) by: String,
    pub(super) layer: Option<Name>,
}

/// A layer of the file.
pub(super) struct Layer<'n> {
    pub(super) index: usize,
    pub(super) node: &'n Node,
}

impl Layer<'_> {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.node.get(key).map(|value| &*value.text)
    }

    /// What screens call it.
    pub(super) fn shown(&self) -> &str {
        ["title", "key", "id"].into_iter().find_map(|key| self.text(key)).unwrap_or_default()
    }

    pub(super) fn key(&self) -> &str {
        self.text("key").or_else(|| self.text("id")).unwrap_or_default()
    }

    pub(super) fn run(&self) -> i64 {
        match self.node.get("run").map(|run| &run.kind) {
            Some(Kind::Int(run)) => *run,
            _ => 0,
        }
    }

    fn path<'k>(&self, key: &'k str) -> Vec<Step<'k>> {
        vec![Step::Key("layers"), Step::Index(self.index), Step::Key(key)]
    }
}

pub(super) fn layer<'n>(root: &'n Node, id: &str) -> Result<Layer<'n>, Refusal> {
    let layers = root.get("layers").map(|layers| layers.items()).unwrap_or_default();
    let found = layers.iter().enumerate().find(|(_, layer)| layer.get("id").is_some_and(|i| *i.text == *id));
    found.map(|(index, node)| Layer { index, node }).ok_or_else(|| format!("the bench has no layer `{id}`"))
}

/// A variant that names an item of a list by its number would mean another one when items move.
fn numbered(root: &Node, list: &str) -> Result<(), Refusal> {
    let variants = root.get("variants").map(|variants| variants.entries()).unwrap_or_default();
    for variant in variants {
        for change in variant.value.entries() {
            let mut steps = change.key.split('.');
            let numbered = steps.next() == Some(list)
                && steps.next().is_some_and(|step| step.bytes().all(|b| b.is_ascii_digit()));
            if numbered {
                return Err(format!(
                    "the variant {} names `{}` by its number (line {})",
                    variant.key, change.key, change.at.line
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn plan<'a>(root: &'a Node, edit: &'a BenchEdit) -> Result<Plan<'a>, Refusal> {
    // A key of the bench that is not there goes where the format describes it.
    let behind = |key: &str| bench_keys().skip_while(|other| *other != key).skip(1).collect::<Vec<_>>();
    let one = |change, said: String, by: String| Plan { changes: vec![change], said, by, layer: None };
    Ok(match edit {
        BenchEdit::Model(model) => one(
            Change::Set {
                path: vec![Step::Key("model")],
                value: value::text(model),
                before: behind("model"),
            },
            format!("the model is {model}"),
            format!("the choice of {model} by hand"),
        ),
        BenchEdit::AgentField(name, to) => named(root, "agent", name, to, behind("agent"))?,
        BenchEdit::Fact(name, to) => named(root, "facts", name, to, behind("facts"))?,
        BenchEdit::RemoveAgentField(name) => unnamed(root, "agent", name)?,
        BenchEdit::RemoveFact(name) => unnamed(root, "facts", name)?,
        BenchEdit::Toggle(id) => toggle(&layer(root, id)?),
        BenchEdit::Move { layer: id, past } => {
            return moved(root, &layer(root, id)?, &layer(root, past)?);
        }
        BenchEdit::Place { layer: id, place } => {
            let layer = layer(root, id)?;
            let set = Change::Set { path: layer.path("in"), value: value::text(place), before: vec!["from"] };
            of_layer(&layer, set, format!("goes to {place}"), "the move of")
        }
        BenchEdit::Refresh { layer: id, refresh } => {
            let layer = layer(root, id)?;
            let rule = refresh_rule(refresh);
            let said = format!("is made again: {}", value::written(&rule, false));
            let set = Change::Set { path: layer.path("refresh"), value: rule, before: vec!["keep"] };
            of_layer(&layer, set, said, "the change of")
        }
        BenchEdit::Keep { layer: id, rule, keeping } => {
            let layer = layer(root, id)?;
            let rule = match rule {
                KeepRule::Earlier => "earlier",
                KeepRule::Persist => "persist",
            };
            let word = match keeping {
                Keeping::Keep => "keep",
                Keeping::Strip => "strip",
            };
            let mut path = layer.path("keep");
            path.push(Step::Key(rule));
            let set = Change::Set { path, value: value::text(word), before: Vec::new() };
            of_layer(&layer, set, format!("has keep.{rule}: {word}"), "the change of")
        }
        BenchEdit::Rule { layer: id, rule, to } => ruled(&layer(root, id)?, *rule, to.as_ref())?,
        BenchEdit::MarkLife { mark: index, ttl } => {
            let mark = mark(root, *index)?;
            let path = vec![Step::Key("marks"), Step::Index(*index), Step::Key("ttl")];
            let at = mark.get("at").map_or("", |at| &*at.text);
            let (change, life) = match ttl {
                Some(ttl) => {
                    (Change::Set { path, value: value::text(ttl), before: Vec::new() }, format!("{ttl}"))
                }
                None if mark.get("ttl").is_none() => return Err(ALREADY.into()),
                None => (Change::Remove { path }, "the default".to_owned()),
            };
            let by = format!("the change of the mark at {at} by hand");
            one(change, format!("the life of the mark at {at} is {life}"), by)
        }
        BenchEdit::AddMark { at, ttl } => {
            let mut entries = vec![("at", value::text(at))];
            entries.extend(ttl.iter().map(|ttl| ("ttl", value::text(ttl))));
            let mark = value::map(entries);
            let said = format!("a cache mark stands at {at}");
            let set = match root.get("marks").map(|marks| &marks.kind) {
                Some(Kind::Seq(marks)) => Change::Set {
                    path: vec![Step::Key("marks"), Step::Index(marks.len())],
                    value: mark,
                    before: Vec::new(),
                },
                _ => Change::Set {
                    path: vec![Step::Key("marks")],
                    value: value::seq([mark]),
                    before: behind("marks"),
                },
            };
            one(set, said, format!("the mark at {at} by hand"))
        }
        BenchEdit::RemoveMark(index) => {
            let marks = root.get("marks").map(|marks| marks.items()).unwrap_or_default();
            let mark = mark(root, *index)?;
            let at = mark.get("at").map_or("", |at| &*at.text);
            numbered(root, "marks")?;
            // Without its last mark a bench needs no list of them.
            let mut path = vec![Step::Key("marks"), Step::Index(*index)];
            path.truncate(if marks.len() == 1 { 1 } else { 2 });
            let said = format!("no cache mark stands at {at} any more");
            one(Change::Remove { path }, said, format!("the removal of the mark at {at} by hand"))
        }
        BenchEdit::Variant { name, changes } => return varied(root, name, changes),
        BenchEdit::Run { name, lines, over } => {
            if let Some(problem) = run::problem_with(name) {
                return Err(problem);
            }
            if root.get("runs").is_some_and(|runs| runs.get(name).is_some()) && !over {
                return Err(format!("the bench has a run {name} already"));
            }
            let set = Change::Lay {
                path: vec![Step::Key("runs"), Step::Key(name)],
                value: run::node(lines)?,
                before: behind("runs"),
            };
            let calls = lines.iter().filter(|line| line.answers()).count();
            let calls = counted(calls as u64, "call");
            one(
                set,
                format!("{name} is a run of {calls} now"),
                format!("the saving of the run {name} by hand"),
            )
        }
    })
}

/// The bench says what variants of it say.
fn varied<'a>(root: &'a Node, name: &Name, changes: &'a [syntax::Change]) -> Result<Plan<'a>, Refusal> {
    let mut out: Vec<Change<'a>> = Vec::with_capacity(changes.len());
    let mut layer: Option<Name> = None;
    for (index, change) in changes.iter().enumerate() {
        // Of two variants that change the same, the later one holds.
        if changes[index + 1..].iter().any(|later| later.path == change.path) {
            continue;
        }
        let names: Vec<&str> = change.path.split('.').collect();
        let mut path = Vec::with_capacity(names.len());
        let mut here = Some(root);
        for (depth, name) in names.iter().enumerate() {
            match here.map(|node| &node.kind) {
                Some(Kind::Seq(items)) => {
                    let by_id =
                        items.iter().position(|item| item.get("id").is_some_and(|id| *id.text == **name));
                    let at = by_id.or_else(|| name.parse().ok().filter(|at| *at < items.len()));
                    let at = at.ok_or_else(|| format!("`{}` leads nowhere", change.path))?;
                    path.push(Step::Index(at));
                    here = items.get(at).map(|item| &**item);
                    if depth == 1 && names[0] == "layers" {
                        layer = here.and_then(|node| node.get("id")).map(|id| Name::from(&*id.text));
                    }
                }
                _ => {
                    path.push(Step::Key(name));
                    here = here.and_then(|node| node.get(name)).map(|node| &**node);
                }
            }
        }
        if here.is_some_and(|node| value::same(node, &change.value)) {
            continue;
        }
        let before = match names.as_slice() {
            [key] => bench_keys().skip_while(|other| other != key).skip(1).collect(),
            ["layers", _, "when" | "in"] => vec!["from"],
            ["layers", _, "key" | "run"] => vec!["when", "from"],
            ["layers", _, "refresh"] => vec!["keep"],
            _ => Vec::new(),
        };
        out.push(Change::Set { path, value: (*change.value).clone(), before });
    }
    let said = match out.len() {
        0 => return Err(ALREADY.into()),
        1 => format!("the bench says what {name} says: 1 value"),
        n => format!("the bench says what {name} says: {n} values"),
    };
    Ok(Plan { changes: out, said, by: format!("{name} by hand"), layer })
}

/// What is said where the file holds the wanted value.
pub(super) const ALREADY: &str = "the bench says so already";

fn mark(root: &Node, index: usize) -> Result<&Node, Refusal> {
    let marks = root.get("marks").map(|marks| marks.items()).unwrap_or_default();
    marks.get(index).map(|mark| &**mark).ok_or_else(|| format!("there is no mark {}", index + 1))
}

/// A rule of a layer takes a value or goes.
fn ruled<'a>(layer: &Layer<'a>, rule: Rule, to: Option<&Value>) -> Result<Plan<'a>, Refusal> {
    let steps = rule.path();
    let name = steps.join(".");
    let mut path = layer.path(steps[0]);
    path.extend(steps[1..].iter().map(|step| Step::Key(step)));
    let Some(to) = to else {
        let holder = match steps {
            [_, ..] if steps.len() > 1 => layer.node.get(steps[0]).map(|node| &**node),
            _ => Some(layer.node),
        };
        let last = steps[steps.len() - 1];
        let holder = holder.filter(|holder| holder.get(last).is_some()).ok_or(ALREADY)?;
        if steps.len() > 1 && holder.entries().len() == 1 {
            // A map of which nothing is left needs not be there.
            path.pop();
        }
        return Ok(of_layer(
            layer,
            Change::Remove { path },
            format!("has its default {name} again"),
            "the change of",
        ));
    };
    let value = value::of(to).ok_or("a file cannot be written into a bench")?;
    let before = match rule {
        Rule::When | Rule::Budget => vec!["from"],
        Rule::Key | Rule::Run => vec!["when", "from"],
        Rule::Refresh => vec!["keep"],
        Rule::Earlier | Rule::Persist => Vec::new(),
    };
    let said = format!("has {name}: {}", value::written(&value, false));
    Ok(of_layer(layer, Change::Set { path, value, before }, said, "the change of"))
}

/// An entry of a map of the bench goes; with its last one, the map.
fn unnamed<'a>(root: &Node, map: &'a str, name: &'a Name) -> Result<Plan<'a>, Refusal> {
    let holder = root.get(map).filter(|holder| holder.get(name).is_some());
    let holder = holder.ok_or_else(|| format!("the bench has no {map}.{name}"))?;
    let mut path = vec![Step::Key(map), Step::Key(name)];
    path.truncate(if holder.entries().len() == 1 { 1 } else { 2 });
    Ok(Plan {
        changes: vec![Change::Remove { path }],
        said: format!("{map}.{name} is gone"),
        by: format!("the removal of {name} by hand"),
        layer: None,
    })
}

fn of_layer<'a>(layer: &Layer<'_>, change: Change<'a>, said: String, by: &str) -> Plan<'a> {
    let shown = layer.shown();
    Plan {
        changes: vec![change],
        said: format!("{shown} {said}"),
        by: format!("{by} {shown} by hand"),
        layer: layer.text("id").map(Name::from),
    }
}

fn named<'a>(
    root: &Node,
    map: &'a str,
    name: &'a Name,
    to: &Value,
    before: Vec<&'a str>,
) -> Result<Plan<'a>, Refusal> {
    let value = value::of(to).ok_or("a file cannot be written into a bench")?;
    let said = format!("{map}.{name} is {}", value::written(&value, false));
    let missing = root.get(map).is_none();
    let change = if missing {
        Change::Set { path: vec![Step::Key(map)], value: value::map([(name.clone(), value)]), before }
    } else {
        Change::Set { path: vec![Step::Key(map), Step::Key(name)], value, before: Vec::new() }
    };
    Ok(Plan { changes: vec![change], said, by: format!("the change of {name} by hand"), layer: None })
}

fn toggle<'a>(layer: &Layer<'_>) -> Plan<'a> {
    let when = layer.node.get("when");
    let path = || layer.path("when");
    let (change, said) = match when {
        None => {
            let off = Change::Set { path: path(), value: value::text("false"), before: vec!["from"] };
            (off, "is left out (when: \"false\")".to_owned())
        }
        Some(when) if &*when.text == "false" => {
            (Change::Remove { path: path() }, "is taken in again".to_owned())
        }
        Some(when) => match switched_off(&when.text) {
            Some(condition) => {
                (Change::On { path: path() }, format!("is taken in again (when: {condition})"))
            }
            None => (Change::Off { path: path() }, format!("is left out (when: false and ({}))", when.text)),
        },
    };
    of_layer(layer, change, said, "the toggle of")
}

fn refresh_rule(refresh: &Refresh) -> Node {
    match refresh {
        Refresh::Change { watch, since } => {
            let watch = value::seq(watch.iter().map(|name| value::text(name)));
            let since = match since {
                Since::Built => "built",
                Since::First => "first",
                Since::EmptyIsUnset => "empty_is_unset",
            };
            value::map([("change", watch), ("since", value::text(since))])
        }
        rule => value::text(rule.word()),
    }
}

fn moved<'a>(root: &'a Node, layer: &Layer<'a>, past: &Layer<'a>) -> Result<Plan<'a>, Refusal> {
    let place = layer.text("in").unwrap_or_default();
    if past.text("in") != Some(place) {
        return Err(format!("{} and {} stand in different places", layer.shown(), past.shown()));
    }
    if layer.index == past.index {
        return Err("a layer cannot pass itself".to_owned());
    }
    let order = root.get("places").and_then(|places| places.get(place)).and_then(|place| place.get("order"));
    let by_key = order.is_some_and(|order| &*order.text == "key");
    let others: Vec<Layer<'_>> = root
        .get("layers")
        .map(|layers| layers.items())
        .unwrap_or_default()
        .iter()
        .enumerate()
        .map(|(index, node)| Layer { index, node })
        .filter(|other| other.index != layer.index && other.text("in") == Some(place))
        .collect();
    if by_key {
        // Of two layers with one key, the one that runs first stands first.
        let order = |layer: &Layer<'_>| (layer.key().to_owned(), layer.run(), layer.index);
        let up = order(layer) > order(past);
        let keys: Vec<&str> = others.iter().map(Layer::key).collect();
        let new = key::beside(layer.key(), past.key(), up, &keys)?;
        let said = format!("has the key {new} now: {place} goes by keys");
        let set =
            Change::Set { path: layer.path("key"), value: value::text(&new), before: vec!["when", "from"] };
        return Ok(of_layer(layer, set, said, "the move of"));
    }
    let up = (layer.run(), layer.index) > (past.run(), past.index);
    let side = if up { "before" } else { "behind" };
    let mut changes = Vec::new();
    let mut said = format!("stands {side} {} now", past.shown());
    let mut run = layer.run();
    if run != past.run() {
        let beyond = others.iter().map(Layer::run).filter(|other| (*other < past.run()) == up);
        let beyond = beyond.filter(|other| *other != past.run());
        let beyond = if up { beyond.max() } else { beyond.min() };
        let next = if up { past.run() - 1 } else { past.run() + 1 };
        // A time of its own, where there is one between the two; else the same, and the order of the list decides.
        run = if beyond == Some(next) { past.run() } else { next };
        said = format!("runs at {run} now, {side} {}", past.shown());
        changes.push(Change::Set {
            path: layer.path("run"),
            value: value::int(run),
            before: vec!["when", "from"],
        });
    }
    if run == past.run() {
        let to = match (up, layer.index < past.index) {
            (true, true) => past.index - 1,
            (true, false) | (false, true) => past.index,
            (false, false) => past.index + 1,
        };
        if to != layer.index {
            numbered(root, "layers")?;
            changes.push(Change::Move { path: vec![Step::Key("layers")], from: layer.index, to });
        }
    }
    let mut plan = of_layer(layer, Change::Remove { path: Vec::new() }, said, "the move of");
    plan.changes = changes;
    Ok(plan)
}
