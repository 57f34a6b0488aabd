//! `layers:`: sources, conditions, refresh and keep rules, limits.

use indexmap::IndexMap;

use crate::core::bench::{
    Boundary, Cap, CapUnit, Expression, Form, Keep, Keeping, Layer, LayerSource, Matching, OnError, Place,
    PlaceKind, Refresh, Since, Template,
};
use crate::core::diagnostic::{Position, Severity};
use crate::core::fact::Name;
use crate::core::text::Source;

use super::super::fields::{CAP, FROM};
use super::super::node::{Kind, Node};
use super::super::template::Scope;
use super::{Decoder, budget_of, flag, text, word};

impl Decoder<'_> {
    pub(super) fn layers(&mut self, root: &Node, places: &IndexMap<Name, Place>) -> Vec<Layer> {
        let nodes = root.get("layers").map(|node| node.items()).unwrap_or_default();
        let mut layers: Vec<Layer> = Vec::new();
        let mut ids: Vec<(Name, Position)> = Vec::new();
        for node in nodes {
            if let Some(id) = node.get("id").filter(|id| id.is_scalar()) {
                if let Some((_, first)) = ids.iter().find(|(known, _)| *known == id.text) {
                    let hint = format!("it is first used in line {}", first.line);
                    self.problems.error(id.at, format!("the layer id `{}` is used twice", id.text), hint);
                }
                ids.push((id.text.clone(), id.at));
            }
            if let Some(layer) = self.layer(node, places) {
                layers.push(layer);
            }
        }
        self.blocks(&layers, places);
        layers
    }

    fn layer(&mut self, node: &Node, places: &IndexMap<Name, Place>) -> Option<Layer> {
        let id = node.get("id").filter(|id| id.is_scalar());
        let key = text(node, "key");
        if let Some(place) = node.get("in")
            && let Some(name) = place.as_text()
        {
            if !self.places.contains(name) {
                let hint = Decoder::hint(name, &self.places);
                self.problems.error(place.at, format!("there is no place `{name}`"), hint);
            }
            if node.get("key").is_none() && places.get(name).is_some_and(|place| place.by_key) {
                let hint = format!("the place `{name}` is ordered by key; a key such as `20_memory`");
                self.problems.error(node.at, "a layer without `key` in a place with `order: key`", hint);
            }
        }
        let from = node.get("from").and_then(|from| self.source(from));
        let when = node.get("when").map(|when| self.condition(when, Scope::Layer));
        let refresh = node.get("refresh").map_or(Some(Refresh::Turn), |node| self.refresh(node));
        let each = matches!(from, Some(LayerSource::Each { .. }) | None);
        let cap = node.get("cap").map(|cap| self.cap(cap, each));
        let on_error = node.get("on_error").map_or(Some(OnError::Skip), |node| self.on_error(node));
        let allow = self.allow(node);
        let keep = node.get("keep");
        let keeping = |key| match keep.and_then(|keep| word(keep, key)) {
            Some("strip") => Keeping::Strip,
            _ => Keeping::Keep,
        };
        let id = id?;
        Some(Layer {
            id: id.text.clone(),
            title: text(node, "title"),
            at: id.at,
            from: from?,
            when: match when {
                None => None,
                Some(when) => Some(when?),
            },
            place: text(node, "in")?,
            run: match node.get("run").map(|run| &run.kind) {
                Some(Kind::Int(n)) => *n,
                _ => 0,
            },
            key,
            refresh: refresh?,
            keep: Keep {
                earlier: keeping("earlier"),
                persist: keeping("persist"),
                untold: match keep.and_then(|keep| word(keep, "untold")) {
                    Some("drop") => Keeping::Strip,
                    _ => Keeping::Keep,
                },
                instead: keep.and_then(|keep| text(keep, "instead")),
            },
            form: self.form(node, places),
            cap: match cap {
                None => None,
                Some(cap) => Some(cap?),
            },
            budget: node.get("budget").and_then(|budget| budget_of(budget)),
            required: flag(node, "required"),
            on_error: on_error?,
            allow,
        })
    }

    /// `as:`, which only messages know, and `instead:`, which needs something to stand instead of.
    fn form(&mut self, node: &Node, places: &IndexMap<Name, Place>) -> Form {
        let keep = node.get("keep");
        if let Some(instead) = keep.and_then(|keep| keep.get("instead"))
            && keep.and_then(|keep| word(keep, "persist")) != Some("strip")
        {
            let hint = "with `persist: strip` it stands in the place of what was taken out".to_owned();
            self.problems.error(instead.at, "`instead` where nothing is taken out", hint);
        }
        let form = match word(node, "as") {
            Some("block") => Form::Block,
            Some("images") => Form::Images,
            _ => return Form::Text,
        };
        let place = text(node, "in").and_then(|name| places.get(&name));
        if let (Some(place), Some(at)) = (place, node.get("as"))
            && matches!(place.kind, PlaceKind::System | PlaceKind::Block)
        {
            let hint =
                "the places of messages are `of: current_user`, `newest_tool` and `message`".to_owned();
            let message = format!("`as` is for messages, and the place `{}` is none", place.id);
            self.problems.error(at.at, message, hint);
        }
        form
    }

    /// A condition; the words `true` and `false` without quotes are taken, too.
    pub(super) fn condition(&mut self, node: &Node, scope: Scope) -> Option<Expression> {
        match node.kind {
            Kind::Text => self.checker.expression(node, scope, &mut self.problems),
            Kind::Bool(value) => Some(Expression { text: value.to_string().into(), at: node.at }),
            _ => None,
        }
    }

    fn source(&mut self, node: &Node) -> Option<LayerSource> {
        let (kind, value) = FROM.kind(node)?;
        match kind {
            "text" => Some(LayerSource::Template(self.inline(value, Scope::Layer)?)),
            "template" => Some(LayerSource::Template(self.template_file(value, kind, Scope::Layer)?)),
            "table" => {
                let rows = self.bench_path(value, kind);
                if let Some(rows) = &rows {
                    self.check_table(rows, value.at);
                }
                let Some(on) = node.get("on") else {
                    let hint = "`on:` gives what is looked for in the table".to_owned();
                    self.problems.error(node.at, "a `table` without `on`", hint);
                    return None;
                };
                Some(LayerSource::Table {
                    on: self.condition(on, Scope::Layer)?,
                    rows: rows?,
                    matching: match word(node, "match") {
                        Some("token_start") => Matching::TokenStart,
                        Some("substring") => Matching::Substring,
                        Some("all") => Matching::All,
                        _ => Matching::Exact,
                    },
                    join: text(node, "join").unwrap_or_else(|| "".into()),
                })
            }
            "each" => {
                let over = self.known(value);
                let item = self.template(node, "item", "item_text", Scope::Item);
                let frame = self.template(node, "frame", "frame_text", Scope::EachFrame);
                let filter = node.get("where").map(|node| self.condition(node, Scope::Item));
                if item.is_none() {
                    let hint = "`item:` names the template file of an item, `item_text:` holds it".to_owned();
                    self.problems.error(node.at, "an `each` without `item`", hint);
                }
                Some(LayerSource::Each {
                    over: over?,
                    item: item??,
                    frame: match frame {
                        None => None,
                        Some(frame) => Some(frame?),
                    },
                    filter: match filter {
                        None => None,
                        Some(filter) => Some(filter?),
                    },
                    join: text(node, "join").unwrap_or_else(|| "".into()),
                })
            }
            "lines" => {
                let of = self.condition(value, Scope::Layer);
                let frame = self.template(node, "frame", "frame_text", Scope::LinesFrame);
                Some(LayerSource::Lines {
                    of: of?,
                    frame: match frame {
                        None => None,
                        Some(frame) => Some(frame?),
                    },
                })
            }
            "fact" => {
                let name = self.known(value);
                let drop_refs = match node.get("drop_refs") {
                    None => None,
                    Some(skills) => Some(self.skills(skills)?),
                };
                Some(LayerSource::Fact { name: name?, drop_refs })
            }
            "place" => {
                let name = value.as_text()?;
                if !self.places.contains(name) {
                    let hint = Decoder::hint(name, &self.places);
                    self.problems.error(value.at, format!("there is no place `{name}`"), hint);
                }
                Some(LayerSource::Place(name.clone()))
            }
            "said" => Some(LayerSource::Said),
            _ => None,
        }
    }

    /// The name of a read of skills.
    fn skills(&mut self, node: &Node) -> Option<Name> {
        let name = node.as_text()?;
        if self.skill_reads.contains(name) {
            return Some(name.clone());
        }
        let hint = Decoder::hint(name, &self.skill_reads)
            .or_else(|| Some("declare it: `read: { NAME: { skills: FOLDER } }`".to_owned()));
        self.problems.error(node.at, format!("there is no read of skills `{name}`"), hint);
        None
    }

    /// A template under one of two keys: a file, or the text itself. `Some(None)` where it is there but broken.
    fn template(&mut self, node: &Node, file: &str, inline: &str, scope: Scope) -> Option<Option<Template>> {
        match (node.get(file), node.entry(inline)) {
            (Some(_), Some(second)) => {
                let hint = format!("keep `{file}` or `{inline}`, not both");
                self.problems.error(second.at, format!("`{inline}` is a second template for the same"), hint);
                Some(None)
            }
            (Some(path), None) => Some(self.template_file(path, file, scope)),
            (None, Some(text)) => Some(self.inline(&text.value, scope)),
            (None, None) => None,
        }
    }

    pub(super) fn inline(&mut self, node: &Node, scope: Scope) -> Option<Template> {
        node.as_text()?;
        let source = node.source(&self.problems.file, self.problems.text);
        self.checker.template(&source, scope, &mut self.problems);
        Some(Template::Inline(source))
    }

    pub(super) fn template_file(&mut self, node: &Node, key: &str, scope: Scope) -> Option<Template> {
        let path = self.bench_path(node, key)?;
        let text = self.file_text(&path, node.at)?;
        let source = Source::file(path.to_string(), text);
        self.checker.template(&source, scope, &mut self.problems);
        Some(Template::File(path, node.at))
    }

    fn refresh(&mut self, node: &Node) -> Option<Refresh> {
        if let Kind::Map(_) = node.kind {
            let mut watch = Vec::new();
            for fact in node.get("change").map(|node| node.items()).unwrap_or_default() {
                watch.push(self.known(fact)?);
            }
            if watch.is_empty() {
                if let Some(list) = node.get("change").filter(|list| matches!(list.kind, Kind::Seq(_))) {
                    let hint = "name the facts whose change is told: `[cwd]`".to_owned();
                    self.problems.error(list.at, "`change` watches nothing", hint);
                }
                return None;
            }
            let since = match word(node, "since") {
                Some("first") => Since::First,
                Some("empty_is_unset") => Since::EmptyIsUnset,
                _ => Since::Built,
            };
            return Some(Refresh::Change { watch, since });
        }
        match &*node.text {
            "session" => Some(Refresh::Session),
            "turn" => Some(Refresh::Turn),
            "call" => Some(Refresh::Call),
            _ => None,
        }
    }

    pub(super) fn cap(&mut self, node: &Node, each: bool) -> Option<Cap> {
        let (kind, value) = CAP.kind(node)?;
        let unit = match kind {
            "chars" => CapUnit::Chars,
            "bytes" => CapUnit::Bytes,
            "lines" => CapUnit::Lines,
            _ => CapUnit::Items,
        };
        let whole_items = word(node, "of") == Some("items");
        if !each {
            let items = node.entry("of").or_else(|| node.entry("items"));
            if let Some(entry) = items {
                let hint = "only `from: { each: .. }` has items".to_owned();
                self.problems.error(
                    entry.at,
                    format!("`{}` counts items, and there are none here", entry.key),
                    hint,
                );
                return None;
            }
        }
        let limit = match value.kind {
            Kind::Int(n) => usize::try_from(n).ok()?,
            _ => return None,
        };
        let mark = text(node, "mark").unwrap_or_else(|| "".into());
        let mark_inside = flag(node, "mark_inside");
        if mark_inside && unit == CapUnit::Chars && mark.chars().count() > limit {
            let hint = format!("the limit is {limit} characters, the mark has {}", mark.chars().count());
            self.problems.error(node.at, "the mark does not fit inside the limit", hint);
        }
        Some(Cap {
            unit,
            limit,
            boundary: match word(node, "boundary") {
                Some("raw_lossy") => Boundary::RawLossy,
                Some("line") => Boundary::Line,
                _ => Boundary::Char,
            },
            mark,
            mark_inside,
            whole_items,
        })
    }

    fn on_error(&mut self, node: &Node) -> Option<OnError> {
        if let Some(file) = node.get("use") {
            return Some(OnError::Use(self.template_file(file, "use", Scope::Layer)?));
        }
        match &*node.text {
            "skip" => Some(OnError::Skip),
            "stop" => Some(OnError::Stop),
            _ => None,
        }
    }

    /// Blocks: taken in by a layer, not within themselves; and only blocks are taken in.
    fn blocks(&mut self, layers: &[Layer], places: &IndexMap<Name, Place>) {
        let takes = |layer: &Layer| match &layer.from {
            LayerSource::Place(name) => Some(name.clone()),
            _ => None,
        };
        for layer in layers {
            let Some(place) = takes(layer).and_then(|name| places.get(&name)) else { continue };
            if place.kind != PlaceKind::Block {
                let hint =
                    format!("give the place `{}` `of: block`, or put layers into it with `in:`", place.id);
                let message = format!("the layer `{}` takes in a place that is not a block", layer.id);
                self.problems.error(layer.at, message, hint);
            }
            // From the layer's own place outwards: does any of them stand in what it takes in?
            let mut outer = vec![layer.place.clone()];
            let mut index = 0;
            while let Some(name) = outer.get(index).cloned() {
                index += 1;
                if name == place.id {
                    let hint = "a block cannot contain itself".to_owned();
                    let message = format!("the layer `{}` takes in the block that it stands in", layer.id);
                    self.problems.error(layer.at, message, hint);
                    break;
                }
                for next in layers.iter().filter(|next| takes(next).as_ref() == Some(&name)) {
                    if !outer.contains(&next.place) {
                        outer.push(next.place.clone());
                    }
                }
            }
        }
        // While something is wrong, that may be what would say where a block stands.
        if self.problems.list.iter().any(|problem| problem.severity == Severity::Error) {
            return;
        }
        for place in places.values().filter(|place| place.kind == PlaceKind::Block) {
            let used = layers.iter().any(|layer| takes(layer).as_ref() == Some(&place.id));
            if !used && layers.iter().any(|layer| layer.place == place.id) {
                let hint = format!("a layer with `from: {{ place: {} }}` says where it stands", place.id);
                self.problems.warning(place.at, format!("the block `{}` stands nowhere", place.id), hint);
            }
        }
    }
}
