//! A tree of nodes to a bench. What is wrong is collected, and decoding goes on, so that all of it is told at once.

mod files;
mod layers;
mod paths;
mod places;
mod reads;
mod runs;
mod serve;

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::core::bench::{Bench, Budget, BudgetUnit, FORMAT, Workspace};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::{Base, FilePath, Found, Name, Value};
use crate::core::source::names::is_builtin;
use crate::core::source::parse_time;
use crate::core::text::Source;

use super::fields::BENCH;
use super::node::{Kind, Node};
use super::scalar::{self, BadPath};
use super::shape::{Problems, Shape};
use super::suggest;
use super::template::{Checker, Names};
use paths::constants;

/// What the decoder sees of the files beside a bench.
pub trait Files {
    /// The text of a file (a [`Value::File`]), or why there is none.
    fn read(&mut self, path: &FilePath) -> Found;

    /// A path that is there and is called nearly like one that is not.
    fn near(&self, path: &FilePath) -> Option<String> {
        let _ = path;
        None
    }
}

impl<F: FnMut(&FilePath) -> Found> Files for F {
    fn read(&mut self, path: &FilePath) -> Found {
        self(path)
    }
}

/// The names that a fact of the bench may share with a builtin: its value is then where the builtin starts.
const STARTS: &[&str] = &["cwd", "session", "goal"];

pub(super) struct Decoder<'a> {
    problems: Problems<'a>,
    files: &'a mut dyn Files,
    checker: &'a mut Checker,
    /// The names of facts, reads, places and tools: known even where their values are broken.
    facts: Vec<Name>,
    reads: Vec<Name>,
    /// Those of the reads that are folders of skills.
    skill_reads: Vec<Name>,
    /// The fields of the reads that clients report.
    reported_fields: Vec<Name>,
    places: Vec<Name>,
    /// None where some names could not be read, so that nobody knows which tools there are.
    tools: Option<Vec<Name>>,
    /// What can stand in a path: the values that the bench itself gives, by dotted name.
    constants: IndexMap<Name, Value>,
    /// True for the built-in bench, which works in the folder that the user named.
    builtin: bool,
}

/// Decodes `root`, the tree of `source`. The bench is there when no problem is an error.
pub(super) fn bench(
    source: &Arc<Source>,
    root: &Node,
    builtin: bool,
    files: &mut dyn Files,
    checker: &mut Checker,
) -> (Option<Bench>, Vec<Diagnostic>) {
    let mut problems = Problems { file: source.name.clone(), text: &source.text, list: Vec::new() };
    if matches!(root.kind, Kind::Null) {
        let hint = "start with `bench: 1`, `name:`, `model:`, `places:` and `layers:`".to_owned();
        problems.error(Position::START, "the bench is empty", hint);
        return (None, problems.list);
    }
    problems.check(root, &Shape::Record(&BENCH), "a bench");
    let keys = |key: &str| -> Vec<Name> {
        root.get(key).into_iter().flat_map(|node| node.entries().iter().map(|e| e.key.clone())).collect()
    };
    let tools = declared_tools(root);
    let names = Names { values: [keys("facts"), keys("read")].concat(), agent: keys("agent") };
    checker.set_names(names);
    let mut decoder = Decoder {
        problems,
        files,
        checker,
        facts: keys("facts"),
        reads: keys("read"),
        skill_reads: skill_reads(root),
        reported_fields: reported_fields(root),
        places: keys("places"),
        tools,
        constants: IndexMap::new(),
        builtin,
    };
    let bench = decoder.bench(source, root);
    (bench, decoder.problems.list)
}

impl Decoder<'_> {
    fn bench(&mut self, source: &Arc<Source>, root: &Node) -> Option<Bench> {
        if let Some(version) = root.get("bench")
            && let Kind::Int(n) = version.kind
            && n > FORMAT
        {
            let hint = format!("this version of Plywood reads format {FORMAT}");
            self.problems.error(version.at, format!("this bench is written in format {n}"), hint);
        }
        if let Some(name) = root.get("name").filter(|name| name.text.trim().is_empty() && name.is_scalar()) {
            self.problems.error(name.at, "`name` is empty", None);
        }
        let model = root.get("model").and_then(|node| self.model(node));
        let workspace = self.workspace(root.get("workspace"));
        self.names(root);
        self.constants = constants(root);
        let reads = self.reads(root);
        let tools = self.tool_groups(root);
        let simulate = self.simulate(root);
        let places = self.places(root);
        let layers = self.layers(root, &places);
        let marks = self.marks(root);
        let runs = self.runs(root);
        let serve = self.serve(root.get("serve"));
        let compaction = root.get("compaction").map(|node| self.compaction(node));
        if self.problems.list.iter().any(|p| p.severity == crate::core::diagnostic::Severity::Error) {
            return None;
        }
        let mut agent: IndexMap<Name, Value> = values(root.get("agent"));
        for key in ["id", "role"] {
            if !agent.contains_key(key) {
                agent.insert(key.into(), Value::text("main"));
            }
        }
        Some(Bench {
            name: text(root, "name")?,
            title: text(root, "title"),
            agent,
            model: model?,
            params: params(root.get("request"))
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            workspace,
            facts: values(root.get("facts")),
            reads,
            tools,
            simulate,
            places,
            layers,
            marks,
            runs,
            compaction: match compaction {
                None => None,
                Some(rule) => Some(rule?),
            },
            serve,
            allow: self.allow(root),
            sent_on_open: flag(root, "sent_on_open"),
            source: source.clone(),
        })
    }

    /// Lints that are not to be told, with the reasons.
    fn allow(&mut self, node: &Node) -> BTreeMap<Name, Name> {
        let mut allowed = BTreeMap::new();
        for entry in node.get("allow").map(|node| node.entries()).unwrap_or_default() {
            let Some(reason) = entry.value.as_text() else { continue };
            if reason.trim().is_empty() {
                let hint = "who reads the bench later wants to know why it is all right".to_owned();
                self.problems.error(
                    entry.value.at,
                    format!("`{}` is allowed without a reason", entry.key),
                    hint,
                );
            } else {
                allowed.insert(entry.key.clone(), reason.clone());
            }
        }
        allowed
    }

    fn model(&mut self, node: &Node) -> Option<Name> {
        let text = node.as_text()?;
        match text.split_once(':') {
            Some((provider, name)) if !provider.trim().is_empty() && !name.trim().is_empty() => {
                Some(text.clone())
            }
            _ => {
                let hint = "a provider, a colon and a name: `openai:gpt-5.4`".to_owned();
                self.problems.error(node.at, format!("`{text}` does not name a provider"), hint);
                None
            }
        }
    }

    fn workspace(&mut self, node: Option<&Arc<Node>>) -> Workspace {
        let mut workspace = Workspace { path: ".".into(), shown_as: None, home: None, clock: None };
        let Some(node) = node else { return workspace };
        let mut folder = |key: &str| {
            let path = self.path(node.get(key)?, key, "the folder of the bench")?;
            Some(Name::from(if path.is_empty() { ".".to_owned() } else { path }))
        };
        if let Some(path) = folder("path") {
            workspace.path = path;
        }
        workspace.home = folder("home");
        workspace.shown_as = text(node, "shown_as").map(|shown| match shown.trim_end_matches('/') {
            "" => "/".into(),
            shown => shown.into(),
        });
        if let Some(clock) = node.get("clock")
            && let Some(text) = clock.as_text()
        {
            if parse_time(text).is_some() {
                workspace.clock = Some(text.clone());
            } else {
                let (message, hint) = not_a_time(text);
                self.problems.error(clock.at, message, hint);
            }
        }
        workspace
    }

    /// The names of facts and reads must be usable in expressions, and mean one thing.
    fn names(&mut self, root: &Node) {
        let facts = root.get("facts").map(|node| node.entries()).unwrap_or_default();
        let reads = root.get("read").map(|node| node.entries()).unwrap_or_default();
        for (entry, is_read) in facts.iter().map(|e| (e, false)).chain(reads.iter().map(|e| (e, true))) {
            let name = &entry.key;
            let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
            if !name.starts_with(starts) || !name.chars().all(|c| starts(c) || c.is_ascii_digit()) {
                let hint = "a letter or `_`, then letters, digits and `_`".to_owned();
                self.problems.error(entry.at, format!("`{name}` cannot be used in an expression"), hint);
            } else if is_builtin(name) && (is_read || !STARTS.contains(&&**name)) {
                let hint = "choose another name".to_owned();
                self.problems.error(
                    entry.at,
                    format!("`{name}` is a name that Plywood supplies itself"),
                    hint,
                );
            } else if matches!(
                &**name,
                "true" | "false" | "none" | "not" | "and" | "or" | "in" | "is" | "if" | "else"
            ) {
                self.problems.error(entry.at, format!("`{name}` is a word of the expression language"), None);
            }
            if is_read && let Some(fact) = facts.iter().find(|fact| fact.key == *name) {
                let hint = format!("it is a fact in line {}; the two need different names", fact.at.line);
                self.problems.error(entry.at, format!("`{name}` is a fact and a read"), hint);
            }
        }
    }

    /// A name of a fact, a read or a builtin.
    fn known(&mut self, node: &Node) -> Option<Name> {
        let text = node.as_text()?;
        if self.checker.names.knows(text) {
            return Some(text.clone());
        }
        let hint = self.checker.names.hint(text);
        self.problems.error(node.at, format!("there is no fact or read `{text}`"), hint);
        None
    }

    /// A path that may not leave the folder that it starts from.
    fn path(&mut self, node: &Node, key: &str, from: &str) -> Option<String> {
        let text = node.as_text()?;
        if text.contains("{{") {
            let hint = "a path under `read:` and the path of a place may have them".to_owned();
            self.problems.error(node.at, format!("`{key}`: this path cannot have a placeholder"), hint);
            return None;
        }
        let (message, hint) = match scalar::path(text) {
            Ok(path) => return Some(path),
            Err(_) if self.builtin => return Some(text.to_string()),
            Err(BadPath::Absolute) => ("is absolute", format!("write the path from {from}")),
            Err(BadPath::Leaves) => ("leads out of its folder", format!("a bench reads only below {from}")),
            Err(BadPath::Unusable) => ("is not a path", format!("write the path from {from}")),
        };
        let shown = text.replace(['\n', '\r', '\0'], " ");
        self.problems.error(node.at, format!("`{key}`: the path `{shown}` {message}"), hint);
        None
    }

    /// A file beside the bench.
    fn bench_path(&mut self, node: &Node, key: &str) -> Option<FilePath> {
        let path = self.path(node, key, "the folder of the bench")?;
        Some(FilePath::new(Base::Bench, path))
    }

    /// A file or folder of the workspace, or with `~/` of the home folder.
    fn workspace_path(&mut self, node: &Node, key: &str) -> Option<FilePath> {
        let node = &self.filled(node, key)?;
        let text = node.as_text()?;
        match text.strip_prefix("~/") {
            Some(rest) => {
                let node = Node { text: rest.into(), ..node.clone() };
                let path = self.path(&node, key, "the home folder")?;
                Some(FilePath::new(Base::Home, path))
            }
            None => {
                let path = self.path(node, key, "the workspace")?;
                Some(FilePath::new(Base::Workspace, path))
            }
        }
    }

    /// The text of a file beside the bench; what is wrong is told where it is named.
    fn file_text(&mut self, path: &FilePath, at: Position) -> Option<Arc<str>> {
        match self.files.read(path) {
            Found::Value(value) => value.as_text().cloned(),
            Found::Absent => {
                let hint = match self.files.near(path) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "paths start at the folder of the bench".to_owned(),
                };
                self.problems.error(at, format!("there is no file `{path}`"), hint);
                None
            }
            Found::Failed(reason) => {
                self.problems.error(at, format!("the file `{path}` cannot be read: {reason}"), None);
                None
            }
        }
    }

    fn hint(word: &str, known: &[Name]) -> Option<String> {
        suggest::hint(word, known.iter().map(|name| &**name).collect::<Vec<_>>())
    }
}

/// What is wrong with a text that is to be a time, and a hint.
fn not_a_time(text: &str) -> (String, String) {
    let zone = text.split_once('[').and_then(|(_, zone)| zone.strip_suffix(']'));
    let known = jiff::tz::db().available().map(|name| name.to_string()).collect::<Vec<_>>();
    match zone.filter(|zone| !known.iter().any(|name| name == zone)) {
        Some(zone) => {
            let near = suggest::nearest(zone, known.iter().map(String::as_str));
            let hint = near.map_or_else(
                || "a name of the time zone database, such as `Europe/Berlin`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            (format!("there is no time zone `{zone}`"), hint)
        }
        None => {
            let hint = "such as `2026-04-01T09:00:00+08:00[Asia/Shanghai]` or `2026-04-01T01:00:00Z`";
            (format!("`{text}` is not a time"), hint.to_owned())
        }
    }
}

/// The tools that a bench declares; none where what should be a list of names is none.
fn declared_tools(root: &Node) -> Option<Vec<Name>> {
    let mut tools = Vec::new();
    for group in root.get("tools").map(|node| node.items()).unwrap_or_default() {
        let Kind::Seq(names) = &group.get("names")?.kind else { return None };
        tools.extend(names.iter().filter_map(|name| name.as_text().cloned()));
    }
    Some(tools)
}

/// The names of the reads that are folders of skills.
fn skill_reads(root: &Node) -> Vec<Name> {
    let entries = root.get("read").map(|node| node.entries()).unwrap_or_default();
    entries
        .iter()
        .filter(|entry| entry.value.get("skills").is_some())
        .map(|entry| entry.key.clone())
        .collect()
}

/// The fields that clients report.
fn reported_fields(root: &Node) -> Vec<Name> {
    let entries = root.get("read").map(|node| node.entries()).unwrap_or_default();
    entries.iter().filter_map(|entry| entry.value.get("reported")?.as_text().cloned()).collect()
}

/// The text of a key.
fn text(node: &Node, key: &str) -> Option<Name> {
    node.get(key)?.as_text().cloned()
}

/// The word of a key: the text of any scalar.
fn word<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key).filter(|node| node.is_scalar()).map(|node| &*node.text)
}

/// A flag, `false` where it is not given.
fn flag(node: &Node, key: &str) -> bool {
    matches!(node.get(key).map(|node| &node.kind), Some(Kind::Bool(true)))
}

/// A whole number that is not negative.
fn count(node: &Node, key: &str) -> Option<usize> {
    match node.get(key)?.kind {
        Kind::Int(n) => usize::try_from(n).ok(),
        _ => None,
    }
}

/// A budget: a number of characters, or a map of one unit.
fn budget_of(node: &Node) -> Option<Budget> {
    let budget = |unit| move |limit| Budget { unit, limit };
    match node.kind {
        Kind::Int(chars) => usize::try_from(chars).ok().map(budget(BudgetUnit::Chars)),
        _ => count(node, "tokens")
            .map(budget(BudgetUnit::Tokens))
            .or_else(|| count(node, "chars").map(budget(BudgetUnit::Chars))),
    }
}

/// The entries of a map as values.
fn values(node: Option<&Arc<Node>>) -> IndexMap<Name, Value> {
    node.map(|node| node.entries())
        .unwrap_or_default()
        .iter()
        .map(|entry| (entry.key.clone(), entry.value.value()))
        .collect()
}

/// Parameters of a request; none for one that is to have the provider's default.
fn params(node: Option<&Arc<Node>>) -> IndexMap<Name, Option<Name>> {
    let entries = node.map(|node| node.entries()).unwrap_or_default();
    let value = |node: &Node| match &node.kind {
        Kind::Bool(on) => Some(if *on { "true" } else { "false" }.into()),
        _ => node.as_text().filter(|text| &***text != "default").cloned(),
    };
    entries.iter().map(|entry| (entry.key.clone(), value(&entry.value))).collect()
}
