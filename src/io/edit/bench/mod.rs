//! Edits of a bench file that keep every byte they do not mean: comments, order, quotes, spaces.
//!
//! A value is spliced where it stands. The result is read again and compared with the tree as it was meant to become;
//! where the two differ, the edit is refused and nothing is written.

mod key;
mod patch;
#[cfg(test)]
mod tests;
mod tree;
mod value;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use self::patch::{Change, switched_off};
use self::tree::{Refusal, Step, Tree};
use super::text::{Original, SaveError, Splice};
use crate::core::bench::{Keeping, Refresh, Since};
use crate::core::diff;
use crate::core::fact::{Name, Value};
use crate::io::syntax::node::{Kind, Node};
use crate::io::syntax::{bench_keys, parse};

/// Something about a bench that can be changed in its file.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchEdit {
    /// The model, as `provider:model`.
    Model(Name),
    /// A field of the agent.
    AgentField(Name, Value),
    /// The value of a fact.
    Fact(Name, Value),
    /// A layer is left out, or taken in again. Its condition is kept: `when: x` becomes `when: false and (x)`.
    Toggle(Name),
    /// A layer goes to the other side of another one of the same place. Where the place goes by keys, the key is changed,
    /// and where the two run at different times, the time.
    Move {
        /// The layer.
        layer: Name,
        /// The one that it passes: its neighbour in the order of the bytes.
        past: Name,
    },
    /// A layer goes to another place.
    Place {
        /// The layer.
        layer: Name,
        /// The place.
        place: Name,
    },
    /// When a layer is made again.
    Refresh {
        /// The layer.
        layer: Name,
        /// The rule.
        refresh: Refresh,
    },
    /// What becomes of the text that a layer put into messages.
    Keep {
        /// The layer.
        layer: Name,
        /// Which of the two rules.
        rule: KeepRule,
        /// What it is from now on.
        keeping: Keeping,
    },
    /// A cache mark more, behind the others.
    AddMark {
        /// `tools`, `last_history`, `last_message`, or a place.
        at: Name,
        /// The life that it asks for, as benches write it: `1h`; none for the default.
        ttl: Option<Name>,
    },
    /// A cache mark less, by its number from 0.
    RemoveMark(usize),
}

/// One of the rules of `keep:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepRule {
    /// Of a layer's earlier text, when it writes again.
    Earlier,
    /// When the turn is persisted.
    Persist,
}

/// An edit, worked out and not yet written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchEdited {
    /// What is spliced into the file's text.
    pub splices: Vec<Splice>,
    /// What has changed, as a sentence for the status line: `reminder is left out (when: "false")`.
    pub said: String,
    /// The event, for blame: `the toggle of reminder by hand`.
    pub by: Name,
    /// The layer that was changed; none for what belongs to no layer.
    pub layer: Option<Name>,
}

/// The way back from an edit that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchUndo {
    /// The hash of the file as the edit left it.
    after: u128,
    back: Vec<Splice>,
    /// What the edit had said.
    pub said: String,
    /// What the edit was: `the toggle of reminder`.
    pub of: String,
    /// The layer that it had changed.
    pub layer: Option<Name>,
}

/// Works out an edit of the bench in `original`, which `file` names.
///
/// # Errors
///
/// Why it cannot be made without losing something: one sentence, lower case, without a full stop.
pub fn edit(file: &Name, original: &Original, edit: &BenchEdit) -> Result<BenchEdited, String> {
    let root = parse(file, original.text()).map_err(|problems| {
        let problem = problems.first();
        let line = problem.and_then(|p| p.at).map_or_else(String::new, |at| format!("line {}: ", at.line));
        format!("{line}{}", problem.map_or("the bench is broken", |p| &p.message))
    })?;
    let plan = plan(&root, edit)?;
    let done = applied(file, original, &root, &plan.changes);
    let (splices, after) = match (done, plan.changes.as_slice()) {
        // A condition with a comment behind it stays for the comment's sake.
        (Err(_), [Change::Remove { path }]) if matches!(edit, BenchEdit::Toggle(_)) => {
            let holds = Change::Set { path: path.clone(), value: value::plain("true"), before: Vec::new() };
            applied(file, original, &root, &[holds])?
        }
        (done, _) => done?,
    };
    // The file's encoding may not be able to take it.
    original.apply(&splices)?;
    debug_assert_eq!(spliced(original.text(), &splices), after);
    Ok(BenchEdited { splices, said: plan.said, by: plan.by.into(), layer: plan.layer })
}

/// Writes an edit that was worked out for `original` and gives the way back.
///
/// # Errors
///
/// When the file was changed meanwhile, or cannot be written.
pub fn write(path: &Path, original: &Original, edited: &BenchEdited) -> Result<BenchUndo, SaveError> {
    let saved = original.save(path, &edited.splices)?;
    Ok(BenchUndo {
        after: saved.hash(),
        back: inverse(original.text(), &edited.splices),
        said: edited.said.clone(),
        of: edited.by.trim_end_matches(" by hand").to_owned(),
        layer: edited.layer.clone(),
    })
}

/// Takes an edit back, if the file still is what the edit left.
///
/// # Errors
///
/// When the file was changed since, or cannot be written.
pub fn undo(path: &Path, undo: &BenchUndo) -> Result<(), String> {
    let now = Original::read(path)?;
    let changed = || "the bench was changed since; going back would write over that".to_owned();
    if now.hash() != undo.after {
        return Err(changed());
    }
    match now.save(path, &undo.back) {
        Ok(_) => Ok(()),
        Err(SaveError::Conflict(_)) => Err(changed()),
        Err(SaveError::Refused(reason)) => Err(reason),
    }
}

/// The splices that bring a text back, in the text that the splices gave.
fn inverse(text: &str, splices: &[Splice]) -> Vec<Splice> {
    let mut shift = 0isize;
    splices
        .iter()
        .map(|splice| {
            let start = splice.range.start.saturating_add_signed(shift);
            shift += splice.new.len() as isize - splice.range.len() as isize;
            Splice { range: start..start + splice.new.len(), new: text[splice.range.clone()].to_owned() }
        })
        .collect()
}

/// Makes the changes one after the other, each checked against the tree that it means.
fn applied(
    file: &Name,
    original: &Original,
    root: &Arc<Node>,
    changes: &[Change<'_>],
) -> Result<(Vec<Splice>, String), Refusal> {
    let mut text = original.text().to_string();
    let mut meant = root.clone();
    let mut splices = Vec::new();
    for change in changes {
        let tree = Tree::read(&text).ok_or("the bench is broken")?;
        let mut comments: Vec<&str> = tree.comments.iter().map(|at| &text[at.clone()]).collect();
        splices = change.splices(&tree, original.line_end())?;
        change.apply(&mut meant)?;
        let after = spliced(&text, &splices);
        let refused = |why: &str| Err(format!("it cannot be made without a risk: {why}"));
        let Ok(read) = parse(file, &after) else { return refused("the result could not be read") };
        if !value::same(&read, &meant) {
            return refused("the result would mean something else");
        }
        let Some(new) = Tree::read(&after) else { return refused("the result could not be read") };
        let mut kept: Vec<&str> = new.comments.iter().map(|at| &after[at.clone()]).collect();
        comments.sort_unstable();
        kept.sort_unstable();
        if comments != kept {
            return refused("a comment would be lost");
        }
        text = after;
    }
    if changes.len() > 1 {
        let (old, new) = diff::differing(original.text(), &text);
        splices = vec![Splice { range: old, new: text[new].to_owned() }];
    }
    splices.retain(|splice| original.text()[splice.range.clone()] != splice.new);
    if splices.is_empty() {
        return Err("the bench says so already".to_owned());
    }
    Ok((splices, text))
}

fn spliced(text: &str, splices: &[Splice]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for Splice { range: Range { start, end }, new } in splices {
        out.push_str(&text[at..*start]);
        out.push_str(new);
        at = *end;
    }
    out.push_str(&text[at..]);
    out
}

/// What an edit comes to.
struct Plan<'a> {
    changes: Vec<Change<'a>>,
    said: String,
    by: String,
    layer: Option<Name>,
}

/// A layer of the file.
struct Layer<'n> {
    index: usize,
    node: &'n Node,
}

impl Layer<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.node.get(key).map(|value| &*value.text)
    }

    /// What screens call it.
    fn shown(&self) -> &str {
        ["title", "key", "id"].into_iter().find_map(|key| self.text(key)).unwrap_or_default()
    }

    fn key(&self) -> &str {
        self.text("key").or_else(|| self.text("id")).unwrap_or_default()
    }

    fn run(&self) -> i64 {
        match self.node.get("run").map(|run| &run.kind) {
            Some(Kind::Int(run)) => *run,
            _ => 0,
        }
    }

    fn path<'k>(&self, key: &'k str) -> Vec<Step<'k>> {
        vec![Step::Key("layers"), Step::Index(self.index), Step::Key(key)]
    }
}

fn layer<'n>(root: &'n Node, id: &str) -> Result<Layer<'n>, Refusal> {
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

fn plan<'a>(root: &'a Node, edit: &'a BenchEdit) -> Result<Plan<'a>, Refusal> {
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
            let mark = marks.get(*index).ok_or_else(|| format!("there is no mark {}", index + 1))?;
            let at = mark.get("at").map_or("", |at| &*at.text);
            numbered(root, "marks")?;
            // Without its last mark a bench needs no list of them.
            let mut path = vec![Step::Key("marks"), Step::Index(*index)];
            path.truncate(if marks.len() == 1 { 1 } else { 2 });
            let said = format!("no cache mark stands at {at} any more");
            one(Change::Remove { path }, said, format!("the removal of the mark at {at} by hand"))
        }
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
