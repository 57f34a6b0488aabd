//! What a bench file says of everything that an edit can change in it, with the lines where it says so.

use std::sync::Arc;

use super::plan::Layer;
use super::{Rule, value};
use crate::core::fact::Name;
use crate::io::syntax::Variant;
use crate::io::syntax::node::Node;

/// A bench file, as a form shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The file as its user would name it.
    pub file: Name,
    /// `model:`.
    pub model: Written,
    /// The fields of `agent:`, in order.
    pub agent: Vec<(Name, Written)>,
    /// `facts:`, in order.
    pub facts: Vec<(Name, Written)>,
    /// `marks:`, in order.
    pub marks: Vec<MarkSheet>,
    /// The places, in order, and what each is: `system, by key`.
    pub places: Vec<(Name, Arc<str>)>,
    /// The layers, as listed.
    pub layers: Vec<LayerSheet>,
}

impl Sheet {
    /// The layer with this id.
    #[must_use]
    pub fn layer(&self, id: &str) -> Option<&LayerSheet> {
        self.layers.iter().find(|layer| &*layer.id == id)
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// On one line, as a bench writes it; none where the file does not say it and a default holds.
    pub text: Option<Arc<str>>,
    /// Its line, from 1; that of what it belongs to, where it is not written.
    pub line: u32,
    /// The variant that is applied and says otherwise, and what it says.
    pub instead: Option<(Name, Arc<str>)>,
}

impl Written {
    /// What is written, else the default.
    #[must_use]
    pub fn or<'a>(&'a self, default: &'a str) -> &'a str {
        self.text.as_deref().unwrap_or(default)
    }
}

/// A cache mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkSheet {
    /// `tools`, `last_history`, `last_message`, or a place.
    pub at: Written,
    /// The life that it asks for.
    pub ttl: Written,
}

/// The rules of a layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerSheet {
    /// Its id.
    pub id: Name,
    /// What screens call it.
    pub shown: Name,
    /// The line at which it begins.
    pub line: u32,
    /// `in:`.
    pub place: Written,
    /// Every [`Rule`], in order.
    pub rules: Vec<(Rule, Written)>,
    /// The facts of a refresh rule that watches some; empty for any other rule.
    pub watch: Vec<Name>,
}

impl LayerSheet {
    /// What the file says of a rule.
    #[must_use]
    pub fn rule(&self, rule: Rule) -> &Written {
        // All of them are there; the place stands for a list that somebody made by hand.
        self.rules.iter().find(|(other, _)| *other == rule).map_or(&self.place, |(_, written)| written)
    }
}

/// The rules in the order of the form.
const RULES: [Rule; 7] =
    [Rule::When, Rule::Key, Rule::Run, Rule::Refresh, Rule::Earlier, Rule::Persist, Rule::Budget];

impl Sheet {
    /// What a file says. `applied` are those of its variants that are applied, in order.
    #[must_use]
    pub fn of(file: &Name, root: &Node, applied: &[&Variant]) -> Sheet {
        let map = |key: &str| -> Vec<(Name, Written)> {
            let Some(map) = root.get(key) else { return Vec::new() };
            map.entries()
                .iter()
                .map(|entry| {
                    let written = written(Some(&entry.value), entry.at.line, &[key, &entry.key], applied);
                    (entry.key.clone(), written)
                })
                .collect()
        };
        let places = root.get("places").map(|places| places.entries()).unwrap_or_default();
        let marks = root.get("marks").map(|marks| marks.items()).unwrap_or_default();
        let layers = root.get("layers").map(|layers| layers.items()).unwrap_or_default();
        Sheet {
            file: file.clone(),
            model: written(root.get("model").map(|m| &**m), 1, &["model"], applied),
            agent: map("agent"),
            facts: map("facts"),
            marks: marks
                .iter()
                .enumerate()
                .map(|(index, mark)| {
                    let of = |key: &str| {
                        written(
                            mark.get(key).map(|node| &**node),
                            mark.at.line,
                            &["marks", &index.to_string(), key],
                            applied,
                        )
                    };
                    MarkSheet { at: of("at"), ttl: of("ttl") }
                })
                .collect(),
            places: places
                .iter()
                .map(|place| (place.key.clone(), place_about(&place.value).into()))
                .collect(),
            layers: layers
                .iter()
                .enumerate()
                .filter_map(|(index, node)| layer(&Layer { index, node }, applied))
                .collect(),
        }
    }
}

fn layer(layer: &Layer<'_>, applied: &[&Variant]) -> Option<LayerSheet> {
    let id: Name = layer.text("id")?.into();
    let line = layer.node.at.line;
    let of = |path: &[&str]| {
        let node = path.iter().try_fold(layer.node, |node, step| node.get(step).map(|node| &**node));
        let whole: Vec<&str> = ["layers", &*id].into_iter().chain(path.iter().copied()).collect();
        written(node, line, &whole, applied)
    };
    let watch = layer.node.get("refresh").and_then(|refresh| refresh.get("change"));
    Some(LayerSheet {
        shown: layer.shown().into(),
        line,
        place: of(&["in"]),
        rules: RULES.iter().map(|rule| (*rule, of(rule.path()))).collect(),
        watch: watch
            .map(|watch| watch.items().iter().map(|name| name.text.clone()).collect())
            .unwrap_or_default(),
        id,
    })
}

fn written(node: Option<&Node>, line: u32, path: &[&str], applied: &[&Variant]) -> Written {
    let on_one_line = |node: &Node| -> Arc<str> { value::written(node, false).into() };
    // The last one that says something of it counts, be it of the whole of which it is a part.
    let instead = applied.iter().rev().find_map(|variant| {
        let change = variant.changes.iter().rev().find_map(|change| {
            let steps: Vec<&str> = change.path.split('.').collect();
            let rest = path.strip_prefix(&*steps)?;
            let value = rest.iter().try_fold(&*change.value, |node, step| node.get(step).map(|node| &**node));
            Some(value.map_or_else(|| "the default".into(), on_one_line))
        })?;
        Some((variant.name.clone(), change))
    });
    Written { text: node.map(on_one_line), line: node.map_or(line, |node| node.at.line), instead }
}

/// What a place is, from its keys: `system, by key`.
fn place_about(place: &Node) -> String {
    let of = place.get("of").map_or("", |of| &*of.text);
    let what = match of {
        "system" => "the system prompt",
        "current_user" => "the current user message",
        "newest_tool" => "the newest tool message",
        "message" => "a message of its own",
        "block" => "a block inside another place",
        other => other,
    };
    let by_key = place.get("order").is_some_and(|order| &*order.text == "key");
    format!("{what}{}", if by_key { ", by key" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::syntax::Document;

    const BENCH: &str = "model: a:b\nagent: { id: main }\nfacts: { n: 1, s: \"x\\ny\" }\nplaces: { s: { of: system, order: key } }\n\
        layers:\n  - { id: a, title: A, in: s, when: \"x\", from: { text: t } }\n  - id: b\n    in: s\n    refresh: { change: [cwd, n], since: first }\n    keep: { persist: strip }\n\
        marks: [ { at: s, ttl: 1h } ]\nvariants:\n  one: { layers.b.keep: { earlier: strip }, layers.a.refresh: call }\n  two: { facts.n: 2, model: c:d }\n";

    #[test]
    fn a_sheet_says_what_is_written_and_where() {
        let document = Document::parse("b.yaml", BENCH).expect("YAML");
        let sheet = Sheet::of(&"b.yaml".into(), document.root(), &[]);
        let said = |written: &Written| (written.or("-").to_owned(), written.line);
        assert_eq!(said(&sheet.model), ("a:b".to_owned(), 1));
        assert_eq!(said(&sheet.facts[1].1), ("\"x\\ny\"".to_owned(), 3));
        assert_eq!(sheet.places, [("s".into(), "the system prompt, by key".into())]);
        let (a, b) = (sheet.layer("a").expect("a layer"), sheet.layer("b").expect("a layer"));
        assert_eq!((&*a.shown, said(a.rule(Rule::When))), ("A", ("x".to_owned(), 6)));
        assert_eq!(said(a.rule(Rule::Refresh)), ("-".to_owned(), 6));
        assert_eq!(said(b.rule(Rule::Persist)), ("strip".to_owned(), 10));
        assert_eq!(said(b.rule(Rule::Earlier)), ("-".to_owned(), 7));
        assert_eq!(b.watch, ["cwd".into(), "n".into()]);
        assert_eq!(
            (said(&sheet.marks[0].at), said(&sheet.marks[0].ttl)),
            (("s".into(), 11), ("1h".into(), 11))
        );
        assert!(a.rules.iter().chain(&b.rules).all(|(_, written)| written.instead.is_none()));
    }

    #[test]
    fn a_variant_that_is_applied_says_otherwise() {
        let document = Document::parse("b.yaml", BENCH).expect("YAML");
        let variants: Vec<&Variant> = document.variants().iter().collect();
        let sheet = Sheet::of(&"b.yaml".into(), document.root(), &variants);
        let instead =
            |written: &Written| written.instead.as_ref().map(|(name, text)| format!("{name}: {text}"));
        assert_eq!(instead(&sheet.model).as_deref(), Some("two: c:d"));
        assert_eq!(instead(&sheet.facts[0].1).as_deref(), Some("two: 2"));
        assert_eq!(instead(&sheet.facts[1].1), None);
        let (a, b) = (sheet.layer("a").expect("a layer"), sheet.layer("b").expect("a layer"));
        assert_eq!(instead(a.rule(Rule::Refresh)).as_deref(), Some("one: call"));
        assert_eq!(instead(b.rule(Rule::Earlier)).as_deref(), Some("one: strip"));
        assert_eq!(instead(b.rule(Rule::Persist)).as_deref(), Some("one: the default"));
        assert_eq!(instead(b.rule(Rule::When)), None);
    }
}
