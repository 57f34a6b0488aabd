//! `places:` and `marks:`.

use indexmap::IndexMap;

use crate::core::bench::{Mark, MarkPlace, Markers, MessageAt, Place, PlaceKind, Role};
use crate::core::fact::{Base, FilePath, Name};
use crate::core::overlay;

use super::super::node::{Entry, Node};
use super::super::scalar;
use super::{Decoder, budget_of, count, flag, text, word};

impl Decoder<'_> {
    pub(super) fn places(&mut self, root: &Node) -> IndexMap<Name, Place> {
        let mut places: IndexMap<Name, Place> = IndexMap::new();
        for entry in root.get("places").map(|node| node.entries()).unwrap_or_default() {
            self.place_name(entry);
            let Some(place) = self.place(entry) else { continue };
            let once =
                matches!(place.kind, PlaceKind::System | PlaceKind::CurrentUser | PlaceKind::NewestTool);
            if let Some(first) = places.values().find(|first| once && first.kind == place.kind) {
                let of = word(&entry.value, "of").unwrap_or_default();
                let hint = format!("line {} has it already; layers can share a place", first.at.line);
                self.problems.error(
                    entry.at,
                    format!("`{}` is a second place with `of: {of}`", place.id),
                    hint,
                );
            }
            places.insert(entry.key.clone(), place);
        }
        places
    }

    fn place_name(&mut self, entry: &Entry) {
        let valid = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if entry.key.is_empty() || !entry.key.bytes().all(valid) {
            let hint = "letters, digits, `_` and `-`".to_owned();
            self.problems.error(entry.at, format!("`{}` cannot be the name of a place", entry.key), hint);
        }
        if matches!(&*entry.key, "tools" | "last_history" | "last_message") {
            let hint = "`marks:` uses it for something else".to_owned();
            self.problems.error(entry.at, format!("`{}` cannot be the name of a place", entry.key), hint);
        }
    }

    fn place(&mut self, entry: &Entry) -> Option<Place> {
        let node = &entry.value;
        let kind = match word(node, "of")? {
            "system" => PlaceKind::System,
            "current_user" => PlaceKind::CurrentUser,
            "newest_tool" => PlaceKind::NewestTool,
            "message" => PlaceKind::Message {
                at: match word(node, "at") {
                    Some("before_current") => MessageAt::BeforeCurrent,
                    _ => MessageAt::End,
                },
            },
            "block" => PlaceKind::Block,
            _ => return None,
        };
        for (key, wanted) in [
            ("role", "message"),
            ("at", "message"),
            ("none", "newest_tool"),
            ("keep_empty", "system"),
            ("path", "system"),
            ("lock", "system"),
            ("markers", "block"),
        ] {
            if let Some(option) = node.entry(key)
                && word(node, "of") != Some(wanted)
            {
                let hint = format!("it belongs to `of: {wanted}`");
                self.problems.error(option.at, format!("`{key}` does not go with this place"), hint);
            }
        }
        let blocks = text(node, "join").is_some_and(|join| &*join == "blocks");
        if blocks && kind == PlaceKind::Block {
            let hint = "the place that takes it in can have `join: blocks`".to_owned();
            let at = node.get("join").map_or(entry.at, |node| node.at);
            self.problems.error(at, "a block inside another place cannot hold blocks", hint);
        }
        if let Some(wrap) = node.entry("wrap").filter(|_| blocks) {
            let hint = "put `wrap` on a place with `of: block` for each".to_owned();
            self.problems.error(wrap.at, "`wrap` does not go with `join: blocks`", hint);
        }
        if let Some(path) = node.entry("path").filter(|_| blocks) {
            let hint =
                "one file holds one text: give the place a `join` that stands between its layers".to_owned();
            self.problems.error(path.at, "`path` does not go with `join: blocks`", hint);
        }
        if let Some(join) =
            node.get("join").filter(|join| matches!(&*join.text, "block" | "Blocks" | "Block"))
        {
            let hint = "did you mean `blocks`, which makes each layer a block of its own?".to_owned();
            self.problems.warning(
                join.at,
                format!("`join` puts the text `{}` between layers", join.text),
                hint,
            );
        }
        let wrap = node.get("wrap").map(|node| node.items()).unwrap_or_default();
        let markers = self.markers(node);
        let path = node.get("path").map(|path| self.place_path(path, "path"));
        let lock = node.get("lock").map(|lock| self.place_path(lock, "lock"));
        let mut place = Place {
            id: entry.key.clone(),
            at: entry.at,
            kind,
            by_key: word(node, "order") == Some("key"),
            join: if blocks { "".into() } else { text(node, "join").unwrap_or_else(|| "".into()) },
            blocks,
            role: match word(node, "role") {
                Some("developer") => Role::Developer,
                Some("system") => Role::System,
                _ => Role::User,
            },
            keep_empty: flag(node, "keep_empty"),
            drop_blank: word(node, "blank") == Some("drop"),
            wrap: match wrap {
                [before, behind] => Some((before.as_text()?.clone(), behind.as_text()?.clone())),
                _ => None,
            },
            markers,
            allowed: None,
            budget: None,
            path: match path {
                None => None,
                Some(path) => Some(path?),
            },
            lock: match lock {
                None => None,
                Some(lock) => Some(lock?),
            },
        };
        let of_block = kind == PlaceKind::Block;
        if let Some(budget) = node.get("budget") {
            place.allowed = budget_of(budget).filter(|_| !of_block);
            for (key, wrong, hint) in [
                (
                    "tokens",
                    of_block,
                    "a block is composed before anything is counted in tokens: give it `chars`",
                ),
                ("over", !of_block, "only an `of: block` leaves layers out; elsewhere a budget is a lint"),
            ] {
                if let Some(option) = budget.entry(key).filter(|_| wrong) {
                    let message = format!("`{key}` does not go with the budget of this place");
                    self.problems.error(option.at, message, hint.to_owned());
                }
            }
        }
        if let Some(budget) = node.get("budget").filter(|_| of_block)
            && let Some(chars) = count(budget, "chars")
        {
            let least = overlay::least_budget(&place);
            if chars < least {
                let hint =
                    "its markers, what is wrapped around it, and `...` where something is cut".to_owned();
                let message =
                    format!("a budget of {chars} characters, and the block needs {least} for itself");
                self.problems.error(budget.at, message, hint);
            }
            place.budget = Some(chars);
        }
        Some(place)
    }

    /// The file of the workspace that holds what stands in a place.
    fn place_path(&mut self, node: &Node, key: &str) -> Option<FilePath> {
        let path = self.workspace_path(node, key)?;
        if path.base != Base::Workspace || path.path.is_empty() {
            let hint = "write the path from the workspace".to_owned();
            self.problems.error(
                node.at,
                format!("`{key}`: `{}` is no file of the workspace", node.text),
                hint,
            );
            return None;
        }
        Some(path)
    }

    /// A pair of markers. What they must not hold is what would make them hard to find again, or to break in a text.
    fn markers(&mut self, node: &Node) -> Option<Markers> {
        let entries = node.get("markers")?.entries();
        let [entry] = entries else {
            let hint = "`markers: { runtime: [\"<!-- START -->\", \"<!-- END -->\"] }`".to_owned();
            let at = node.get("markers").map_or(node.at, |markers| markers.at);
            self.problems.error(at, "a block has one pair of markers", hint);
            return None;
        };
        let [start, end] = entry.value.items() else { return None };
        for marker in [start, end] {
            let text = marker.as_text()?;
            if text.chars().count() < 2 || text.contains(['\\', '\n', '\r']) || text.trim() != &**text {
                let hint = "one line of two characters or more, without a backslash and space around it";
                self.problems.error(marker.at, format!("`{text}` cannot be a marker"), hint.to_owned());
                return None;
            }
        }
        let (first, last) = (start.as_text()?, end.as_text()?);
        if first.contains(&**last) || last.contains(&**first) {
            let hint = "a program that looks for one would find the other".to_owned();
            self.problems.error(end.at, "one marker stands in the other", hint);
            return None;
        }
        Some(Markers { name: entry.key.clone(), start: first.clone(), end: last.clone() })
    }

    pub(super) fn marks(&mut self, root: &Node) -> Vec<Mark> {
        let mut marks = Vec::new();
        for node in root.get("marks").map(|node| node.items()).unwrap_or_default() {
            let Some(at) = node.get("at") else { continue };
            let Some(name) = at.as_text() else { continue };
            let place = match &**name {
                "tools" => MarkPlace::Tools,
                "last_history" => MarkPlace::LastHistory,
                "last_message" => MarkPlace::LastMessage,
                _ if self.places.contains(name) => MarkPlace::Place(name.clone()),
                _ => {
                    let mut known = self.places.clone();
                    known.extend(["tools", "last_history", "last_message"].map(Name::from));
                    let hint = Decoder::hint(name, &known);
                    self.problems.error(at.at, format!("there is no place `{name}` for a mark"), hint);
                    continue;
                }
            };
            let ttl = match node.get("ttl").and_then(|ttl| scalar::duration(ttl.as_text()?)) {
                None => 300,
                Some(seconds) => u32::try_from(seconds).unwrap_or(u32::MAX),
            };
            marks.push(Mark { at: place, ttl });
        }
        marks
    }
}
