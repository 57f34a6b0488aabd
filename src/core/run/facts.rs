//! The facts of a session: what the edge supplied, what runs wrote over it, what the bench sets, what the engine knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::conversation::Conversation;
use super::session::Session;
use crate::core::fact::{
    Base, EventId, FactKey, FilePath, FileText, Found, Lookup, Name, Read, Reads, Rev, Value,
};
use crate::core::read::{self, Ask, Derived};
use crate::core::source::Facts;
use crate::core::wire::json;

/// A value with its revision and the event that gave it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    pub value: Value,
    pub rev: Rev,
    pub cause: EventId,
}

impl Held {
    pub(super) fn new(value: Value, cause: EventId) -> Held {
        Held { rev: value.rev(), value, cause }
    }

    pub(super) fn ready(&self) -> Lookup {
        Lookup::Ready(self.value.clone(), self.rev, self.cause)
    }
}

/// What the edge supplied, and the files that the run wrote over it.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    found: BTreeMap<FactKey, (Found, Rev, EventId)>,
    /// What the run wrote over a file, the newest last; none where it deleted it. Never empty.
    written: BTreeMap<FilePath, Vec<Written>>,
}

/// A text of a file and the event that wrote it; none for its deletion.
type Written = (Option<Arc<str>>, EventId);

impl Store {
    /// Takes what the edge found. A value that is no other than before keeps its event.
    pub(super) fn supply(&mut self, key: FactKey, found: Found, cause: EventId) -> bool {
        let rev = found.rev();
        if self.found.get(&key).is_some_and(|(_, old, _)| *old == rev) {
            return false;
        }
        self.found.insert(key, (found, rev, cause));
        true
    }

    pub(super) fn holds(&self, key: &FactKey, found: &Found) -> bool {
        self.found.get(key).is_some_and(|(_, rev, _)| *rev == found.rev())
    }

    pub(super) fn has(&self, key: &FactKey) -> bool {
        self.found.contains_key(key)
    }

    pub(super) fn rev(&self, key: &FactKey) -> Option<Rev> {
        self.found.get(key).map(|(_, rev, _)| *rev)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &FactKey> {
        self.found.keys()
    }

    pub(super) fn write(&mut self, path: FilePath, text: Option<Arc<str>>, cause: EventId) {
        self.written.entry(path).or_default().push((text, cause));
    }

    /// The files that were written, each with the newest text for whose event `then` holds.
    pub(super) fn written(
        &self,
        then: impl Fn(EventId) -> bool,
    ) -> impl Iterator<Item = (&FilePath, Option<&Arc<str>>)> {
        self.written.iter().filter_map(move |(path, texts)| {
            let (text, _) = texts.iter().rev().find(|(_, cause)| then(*cause))?;
            Some((path, text.as_ref()))
        })
    }

    /// What the run wrote over a file last (none: deleted it), if it did.
    pub(super) fn newest_text(&self, path: &FilePath) -> Option<Option<&Arc<str>>> {
        self.newest(path).map(|(text, _)| text.as_ref())
    }

    /// Everything that was written and deleted (false), with the event that did.
    pub(super) fn writes(&self) -> impl Iterator<Item = (&FilePath, bool, EventId)> {
        self.written
            .iter()
            .flat_map(|(path, texts)| texts.iter().map(move |(text, cause)| (path, text.is_some(), *cause)))
    }

    fn newest(&self, path: &FilePath) -> Option<&Written> {
        self.written.get(path)?.last()
    }

    fn look(&self, key: &FactKey) -> Lookup {
        match key {
            FactKey::File(path) => {
                if let Some((text, cause)) = self.newest(path) {
                    return match text {
                        Some(text) => Held::new(Value::File(Arc::new(file(path, text))), *cause).ready(),
                        None => Lookup::Absent(*cause),
                    };
                }
            }
            FactKey::Data(path) => {
                if let Some((text, cause)) = self.newest(path) {
                    return match text.as_ref().map(|text| json::parse(text)) {
                        Some(Ok(value)) => Held::new(value, *cause).ready(),
                        // On disk it may be YAML, which the edge parses.
                        Some(Err(reason)) => {
                            Lookup::Failed(format!("as the run wrote it, {reason}").into(), *cause)
                        }
                        None => Lookup::Absent(*cause),
                    };
                }
            }
            FactKey::Document(path) => {
                if let Some((text, cause)) = self.newest(path) {
                    return match text {
                        Some(text) => Held::new(document(path, text), *cause).ready(),
                        None => Lookup::Absent(*cause),
                    };
                }
            }
            FactKey::Glob(pattern) => return self.glob(key, pattern),
            _ => {}
        }
        self.look_below(key)
    }

    fn look_below(&self, key: &FactKey) -> Lookup {
        match self.found.get(key) {
            Some((Found::Value(value), rev, cause)) => Lookup::Ready(value.clone(), *rev, *cause),
            Some((Found::Absent, _, cause)) => Lookup::Absent(*cause),
            Some((Found::Failed(reason), _, cause)) => Lookup::Failed(reason.clone(), *cause),
            None => Lookup::Unknown,
        }
    }

    /// A folder's listing with what the run wrote and deleted.
    fn glob(&self, key: &FactKey, pattern: &FilePath) -> Lookup {
        let below = self.look_below(key);
        let touched: Vec<_> = self.written.iter().filter(|(path, _)| path.base == pattern.base).collect();
        if touched.is_empty() {
            return below;
        }
        let (listed, cause) = match below {
            Lookup::Ready(value, _, cause) => (value, cause),
            Lookup::Absent(cause) => (Value::list([]), cause),
            other => return other,
        };
        let Ok(matcher) = globset::GlobBuilder::new(&pattern.path).literal_separator(true).build() else {
            return Held::new(listed, cause).ready();
        };
        let matcher = matcher.compile_matcher();
        let mut paths: std::collections::BTreeSet<Arc<str>> =
            listed.as_list().unwrap_or_default().iter().filter_map(|path| path.as_text().cloned()).collect();
        let mut newest = cause;
        for (path, texts) in touched {
            let Some((text, cause)) = texts.last() else { continue };
            if !matcher.is_match(&*path.path) {
                continue;
            }
            let changed =
                if text.is_some() { paths.insert(path.path.clone()) } else { paths.remove(&path.path) };
            if changed {
                newest = newest.max(*cause);
            }
        }
        Held::new(Value::list(paths.into_iter().map(Value::Text)), newest).ready()
    }
}

fn file(path: &FilePath, text: &Arc<str>) -> FileText {
    FileText::whole(path.clone(), text.clone())
}

/// A document that a run wrote. Its front matter is read as plain `key: value` lines: the run's own text is not
/// worth a YAML parser in the core, and everything on disk comes parsed by the edge.
fn document(path: &FilePath, text: &Arc<str>) -> Value {
    let mut meta = Vec::new();
    let mut body: &str = text;
    if let Some(rest) = text.strip_prefix("---\n")
        && let Some(end) = rest.find("\n---\n")
    {
        body = &rest[end + 5..];
        for line in rest[..end].lines() {
            if let Some((key, value)) = line.split_once(':') {
                meta.push((key.trim().to_owned(), Value::text(value.trim().trim_matches(['"', '\'']))));
            }
        }
    }
    Value::map([("meta", Value::map(meta)), ("body", Value::File(Arc::new(file(path, &body.into()))))])
}

/// Derived facts (everything under `read:`), kept until something that they were derived from changes.
#[derive(Clone, Debug, Default)]
pub(super) struct DerivedFacts(BTreeMap<Name, (Derived, Rev, EventId, Reads)>);

impl DerivedFacts {
    /// What is known of a fact is not, any more.
    pub(super) fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }
}

struct Asker<'a> {
    store: &'a Store,
    reads: Reads,
    needs: Vec<FactKey>,
}

impl Ask for Asker<'_> {
    fn ask(&mut self, key: &FactKey) -> Lookup {
        let lookup = self.store.look(key);
        let (rev, cause) = match &lookup {
            Lookup::Ready(_, rev, cause) => (*rev, *cause),
            Lookup::Absent(cause) => (Rev::ABSENT, *cause),
            Lookup::Failed(reason, cause) => (Found::Failed(reason.clone()).rev(), *cause),
            Lookup::Unknown => {
                self.needs.push(key.clone());
                return lookup;
            }
        };
        self.reads.note(key.clone(), Read { rev, cause, in_text: true });
        lookup
    }
}

impl Session {
    /// Derives every fact under `read:` again that may have changed; gives what is needed first.
    pub(super) fn derive_reads(&mut self) -> Vec<FactKey> {
        let mut needs = Vec::new();
        let bench = self.bench.clone();
        for (name, spec) in &bench.reads {
            if let Some((_, _, _, reads)) = self.derived.0.get(name) {
                let same = reads.0.iter().all(|(key, read)| match self.store.look(key) {
                    Lookup::Ready(_, rev, _) => rev == read.rev,
                    Lookup::Absent(_) => read.rev == Rev::ABSENT,
                    Lookup::Failed(reason, _) => Found::Failed(reason).rev() == read.rev,
                    Lookup::Unknown => false,
                });
                if same {
                    continue;
                }
            }
            let mut asker = Asker { store: &self.store, reads: Reads::default(), needs: Vec::new() };
            let derived = read::derive(&spec.kind, &mut asker);
            if asker.needs.is_empty() {
                let rev = match &derived {
                    Derived::Ready(value) => value.rev(),
                    Derived::Failed(reason) => Found::Failed(reason.clone()).rev(),
                    Derived::Absent | Derived::Unknown => Rev::ABSENT,
                };
                let before = self.derived.0.get(name);
                let cause = match before {
                    Some((_, old, cause, _)) if *old == rev => *cause,
                    _ => {
                        let causes = asker.reads.0.values().map(|read| read.cause);
                        causes.chain(self.gone.get(name).copied()).max().unwrap_or_default()
                    }
                };
                self.derived.0.insert(name.clone(), (derived, rev, cause, asker.reads));
            } else {
                needs.append(&mut asker.needs);
            }
        }
        needs
    }
}

/// The facts as one conversation sees them.
pub(super) struct View<'a> {
    pub session: &'a Session,
    pub conversation: &'a Conversation,
}

impl View<'_> {
    fn named(&self, name: &str) -> Lookup {
        if let Some(held) = self.conversation.scope.get(name) {
            return held.ready();
        }
        if let Some(held) = self.session.facts.get(name) {
            return held.ready();
        }
        if let Some((derived, rev, cause, _)) = self.session.derived.0.get(name) {
            return match derived {
                Derived::Ready(value) => Lookup::Ready(value.clone(), *rev, *cause),
                Derived::Absent => Lookup::Absent(*cause),
                Derived::Failed(reason) => Lookup::Failed(reason.clone(), *cause),
                Derived::Unknown => Lookup::Unknown,
            };
        }
        if let Some(edit) = self.session.edit_of(name) {
            return edit;
        }
        if let Some((map, field)) = name.split_once('.') {
            return match self.named(map) {
                Lookup::Ready(value, _, cause) => match value.get(field) {
                    Some(value) => {
                        Held::new(value.clone(), self.field_cause(map, field).unwrap_or(cause)).ready()
                    }
                    None => Lookup::Absent(cause),
                },
                other => other,
            };
        }
        self.builtin(name)
    }

    /// The event of a single field, where it differs from that of its map.
    fn field_cause(&self, map: &str, field: &str) -> Option<EventId> {
        match (map, field) {
            ("agent", "goal") => Some(self.conversation.goal.cause),
            ("agent", field) => {
                let edited = self.session.agent_edits.get(field).copied().unwrap_or_default();
                Some(edited.max(self.conversation.began))
            }
            _ => None,
        }
    }

    /// The agent as its prompts see it.
    fn agent(&self) -> IndexMap<Name, Value> {
        let conversation = self.conversation;
        let mut fields = self.session.bench.agent.clone();
        fields.insert("id".into(), Value::Text(conversation.id.clone()));
        fields.insert("role".into(), Value::Text(conversation.role.clone()));
        fields.insert("goal".into(), conversation.goal.value.clone());
        if !fields.contains_key("session") {
            fields.insert("session".into(), Value::text(""));
        }
        fields
    }

    fn builtin(&self, name: &str) -> Lookup {
        let conversation = self.conversation;
        let session = self.session;
        match name {
            "agent" => {
                let fields = self.agent();
                let edited = session.agent_edits.values().copied().max().unwrap_or_default();
                let cause = conversation.goal.cause.max(conversation.began).max(edited);
                Held::new(Value::Map(Arc::new(fields)), cause).ready()
            }
            "goal" => conversation.goal.ready(),
            "said" => conversation.said.ready(),
            "session" => {
                let value = session.bench.agent.get("session").cloned().unwrap_or(Value::text(""));
                Held::new(value, session.agent_edits.get("session").copied().unwrap_or_default()).ready()
            }
            "turn" => Held::new(Value::Int(i64::from(conversation.turn)), conversation.said.cause).ready(),
            "call" => {
                let since = conversation.results.saturating_sub(conversation.results_before);
                let arguments = conversation.just_args.iter().take(conversation.just.len());
                let arguments = arguments.map(|text| Value::Text(text.clone()));
                let fields = [
                    ("number", Value::Int(i64::from(session.next_call.0))),
                    ("turn", Value::Int(i64::from(conversation.turn))),
                    ("tools", Value::list(conversation.just.iter().map(|tool| Value::Text(tool.clone())))),
                    ("arguments", Value::list(arguments)),
                    ("results", Value::Int(conversation.results as i64)),
                    ("turn_results", Value::Int(since as i64)),
                ];
                Held::new(Value::map(fields), conversation.stepped).ready()
            }
            "tools" => {
                let names = conversation.tool_names.iter().map(|tool| Value::Text(tool.clone()));
                Held::new(Value::list(names), session.tools_cause).ready()
            }
            "model" => {
                let (provider, name) = session
                    .model
                    .value
                    .as_text()
                    .map_or(("", ""), |id| id.split_once(':').unwrap_or(("", id)));
                let fields = [
                    ("id", Value::text(name)),
                    ("provider", Value::text(provider)),
                    ("name", session.model.value.clone()),
                ];
                Held::new(Value::map(fields), session.model.cause).ready()
            }
            "now" => session.now(),
            "workspace" => session.shown_workspace(),
            "home" => match session.bench.workspace.shown_as.as_ref() {
                // A prompt must not show a real home beside a workspace that is shown as another.
                Some(shown) => {
                    let home = shown
                        .rsplit_once('/')
                        .map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
                    Held::new(Value::text(home), EventId::OPENING).ready()
                }
                None => session.look(&FactKey::Environment("home".into())),
            },
            "cwd" => session.shown_workspace(),
            _ => Lookup::Absent(session.gone.get(name).copied().unwrap_or(EventId::OPENING)),
        }
    }
}

impl Facts for View<'_> {
    fn look(&self, key: &FactKey) -> Lookup {
        match key {
            FactKey::Named(name) => self.named(name),
            _ => self.session.store.look(key),
        }
    }

    fn behind(&self, key: &FactKey) -> FactKey {
        match key {
            FactKey::Named(name) => match &**name {
                "cwd" | "workspace" => FactKey::Environment("workspace".into()),
                "home" | "now" => FactKey::Environment(name.clone()),
                _ => key.clone(),
            },
            key => key.clone(),
        }
    }

    fn sources(&self, name: &str) -> Option<&Reads> {
        if self.conversation.scope.contains_key(name) || self.session.facts.contains_key(name) {
            return None;
        }
        self.session.derived.0.get(name).map(|(_, _, _, reads)| reads)
    }
}

impl Session {
    /// The facts that the bench, a script or a hand has set, as the conversation under way sees them, with the events.
    pub fn facts_set(&self) -> impl Iterator<Item = (&Name, &Value, EventId)> {
        let own = self.conversations[self.current()].scope.iter();
        own.chain(&self.facts).map(|(name, held)| (name, &held.value, held.cause))
    }

    /// The text of a file as this session knows it, what a run wrote included; none for one that was never asked for or is
    /// not there.
    #[must_use]
    pub fn file_text(&self, path: &FilePath) -> Option<Arc<str>> {
        match self.look(&FactKey::File(path.clone())) {
            Lookup::Ready(Value::File(file), ..) => Some(file.text.clone()),
            _ => None,
        }
    }

    /// What an agent's prompts see under `agent`: its id, its role, its goal, and the other fields of the bench's.
    #[must_use]
    pub fn agent(&self, id: &str) -> Option<IndexMap<Name, Value>> {
        let conversation = self.conversations.iter().find(|conversation| &*conversation.id == id)?;
        Some(View { session: self, conversation }.agent())
    }

    /// An external fact.
    pub(super) fn look(&self, key: &FactKey) -> Lookup {
        self.store.look(key)
    }

    /// The time as text: the bench's clock, or the machine's, and what has passed since.
    pub(super) fn now(&self) -> Lookup {
        let start = match &self.bench.workspace.clock {
            Some(clock) => Held::new(Value::Text(clock.clone()), EventId::OPENING).ready(),
            None => self.look(&FactKey::Environment("now".into())),
        };
        match start {
            Lookup::Ready(value, _, cause) if self.passed.0 > 0 => {
                let later =
                    value.as_text().and_then(|text| crate::core::source::parse_time(text)).and_then(|time| {
                        time.checked_add(jiff::SignedDuration::from_secs(i64::try_from(self.passed.0).ok()?))
                            .ok()
                    });
                match later {
                    Some(time) => Held::new(Value::text(time.to_string()), cause.max(self.passed.1)).ready(),
                    None => Held::new(value, cause).ready(),
                }
            }
            other => other,
        }
    }

    /// The workspace as prompts show it.
    pub(super) fn shown_workspace(&self) -> Lookup {
        match &self.bench.workspace.shown_as {
            Some(shown) => Held::new(Value::Text(shown.clone()), EventId::OPENING).ready(),
            None => self.look(&FactKey::Environment("workspace".into())),
        }
    }

    /// The file that a path, as prompts show it, names; none outside of the workspace.
    pub(super) fn file_at(&self, shown: &str) -> Option<FilePath> {
        let Lookup::Ready(root, ..) = self.shown_workspace() else { return None };
        let root = root.as_text()?.trim_end_matches('/').to_owned();
        let rest = shown.strip_prefix(&root)?;
        match rest.strip_prefix('/') {
            Some(path) => Some(FilePath::new(Base::Workspace, path)),
            None if rest.is_empty() => Some(FilePath::new(Base::Workspace, "")),
            None => None,
        }
    }
}

/// Resolves a path against a directory, both as prompts show them: `.` and `..` are taken out, `~` is the home.
#[must_use]
pub fn resolve(cwd: &str, path: &str, home: &str) -> String {
    let joined = if path == "~" {
        home.to_owned()
    } else if let Some(rest) = path.strip_prefix("~/") {
        format!("{home}/{rest}")
    } else if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{cwd}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_as_a_shell_would() {
        assert_eq!(resolve("/w", "api", "/h"), "/w/api");
        assert_eq!(resolve("/w/api", "../web/./x", "/h"), "/w/web/x");
        assert_eq!(resolve("/w", "/etc//x/", "/h"), "/etc/x");
        assert_eq!(resolve("/w", "~/a", "/h"), "/h/a");
        assert_eq!(resolve("/", "../..", "/h"), "/");
    }
}
