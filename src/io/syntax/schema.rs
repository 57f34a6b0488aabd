//! The bench format as a JSON Schema, printed from the same description that the decoder checks files against.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fields::BENCH;
use super::shape::{Field, Record, Shape, Word};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
const ID: &str = "^[a-z0-9_-]+$";
const DURATION: &str = "^ *([0-9]+[smhd] *)+$";

/// The JSON Schema (draft 2020-12) of bench files. What this version reads but does not do is left out.
#[must_use]
pub fn schema() -> Value {
    let mut defs = Defs::default();
    let root = defs.record(&BENCH);
    let mut schema = Map::new();
    schema.insert("$schema".into(), DIALECT.into());
    schema.insert("title".into(), "Plywood bench".into());
    if let Value::Object(root) = root {
        schema.extend(root);
    }
    let done = defs.done.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect();
    schema.insert("$defs".into(), Value::Object(done));
    Value::Object(schema)
}

/// The records that were met, by name; none while one is being described, since records contain each other.
#[derive(Default)]
struct Defs {
    done: BTreeMap<String, Option<Value>>,
}

impl Defs {
    fn reference(&mut self, record: &'static Record) -> Value {
        let name: String = record
            .what
            .trim_start_matches("an ")
            .trim_start_matches("a ")
            .chars()
            .filter(|c| *c != '`')
            .map(|c| if c == ' ' { '_' } else { c })
            .collect();
        if !self.done.contains_key(&name) {
            self.done.insert(name.clone(), None);
            let described = self.record(record);
            self.done.insert(name.clone(), Some(described));
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn record(&mut self, record: &'static Record) -> Value {
        let built: Vec<&'static Field> = record.fields.iter().filter(|field| !field.planned).collect();
        if record.choice.is_none() {
            return self.object(&built, record.doc, None);
        }
        let kinds = built.iter().filter(|field| record.kinds.contains(&field.key));
        let branches: Vec<Value> = kinds
            .map(|kind| {
                let fields: Vec<&'static Field> = built
                    .iter()
                    .copied()
                    .filter(|field| {
                        field.key == kind.key
                            || !record.kinds.contains(&field.key)
                                && (field.with.is_empty() || field.with.contains(&kind.key))
                    })
                    .collect();
                self.object(&fields, kind.doc, Some(kind.key))
            })
            .collect();
        json!({ "description": record.doc, "type": "object", "oneOf": branches })
    }

    fn object(&mut self, fields: &[&'static Field], doc: &str, kind: Option<&'static str>) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in fields {
            let mut value = self.shape(&field.shape);
            if let Value::Object(map) = &mut value
                && !field.doc.is_empty()
            {
                map.insert("description".into(), field.doc.into());
            }
            properties.insert(field.key.into(), value);
            if field.required || kind == Some(field.key) {
                required.push(field.key);
            }
        }
        json!({
            "description": doc,
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn shape(&mut self, shape: &'static Shape) -> Value {
        match shape {
            Shape::Any | Shape::Planned(_) => json!({}),
            Shape::Text => json!({ "type": "string" }),
            Shape::Path => json!({ "type": "string" }),
            Shape::Id => json!({ "type": "string", "pattern": ID }),
            Shape::Bool => json!({ "type": "boolean" }),
            Shape::Int(min, max) => {
                let mut map = Map::new();
                map.insert("type".into(), "integer".into());
                if *min != i64::MIN {
                    map.insert("minimum".into(), (*min).into());
                }
                if *max != i64::MAX {
                    map.insert("maximum".into(), (*max).into());
                }
                Value::Object(map)
            }
            Shape::Duration => json!({ "type": "string", "pattern": DURATION }),
            Shape::Expression => json!({ "type": ["string", "boolean"] }),
            Shape::Words(words) => {
                json!({ "oneOf": words.iter().map(word).collect::<Vec<_>>() })
            }
            Shape::List(item) => json!({ "type": "array", "items": self.shape(item) }),
            Shape::Pair(item) => {
                json!({ "type": "array", "items": self.shape(item), "minItems": 2, "maxItems": 2 })
            }
            Shape::Names(value) => json!({ "type": "object", "additionalProperties": self.shape(value) }),
            Shape::Record(record) => self.reference(record),
            Shape::Call => json!({
                "description": "one tool with its arguments; `result` is what it returns, `arguments` how the model wrote them",
                "type": "object",
                "properties": { "result": { "type": "string" }, "arguments": { "type": "string" } },
                "additionalProperties": { "type": ["object", "null"] },
                "anyOf": [
                    { "required": ["result", "arguments"], "minProperties": 3, "maxProperties": 3 },
                    { "required": ["result"], "not": { "required": ["arguments"] }, "minProperties": 2, "maxProperties": 2 },
                    { "required": ["arguments"], "not": { "required": ["result"] }, "minProperties": 2, "maxProperties": 2 },
                    {
                        "not": { "anyOf": [{ "required": ["result"] }, { "required": ["arguments"] }] },
                        "minProperties": 1,
                        "maxProperties": 1,
                    },
                ],
            }),
            Shape::Either(shapes) => {
                let built = shapes.iter().filter(|shape| !matches!(shape, Shape::Planned(_)));
                json!({ "anyOf": built.map(|shape| self.shape(shape)).collect::<Vec<_>>() })
            }
        }
    }
}

fn word(word: &Word) -> Value {
    if word.doc.is_empty() {
        return json!({ "const": word.word });
    }
    json!({ "const": word.word, "description": word.doc })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::node::{Entry, Kind, Node};
    use super::super::shape::Problems;
    use super::*;

    /// Just as much of the specification as the schema uses.
    fn valid(schema: &Value, root: &Value, value: &Value) -> bool {
        let all = |key: &str, check: &dyn Fn(&Value) -> bool| schema.get(key).is_none_or(check);
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let of_type = |kind: &Value| match kind.as_str() {
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            Some("null") => value.is_null(),
            other => panic!("type {other:?}"),
        };
        let size = value.as_array().map(Vec::len).or(value.as_object().map(Map::len)).unwrap_or(0) as u64;
        let number = value.as_i64().unwrap_or(0);
        all("$ref", &|path| {
            let name = path.as_str().and_then(|path| path.strip_prefix("#/$defs/")).expect("a definition");
            valid(&root["$defs"][name], root, value)
        }) && all("type", &|kind| match kind {
            Value::Array(kinds) => kinds.iter().any(of_type),
            kind => of_type(kind),
        }) && all("const", &|word| word == value)
            && all("enum", &|words| list(words).contains(value))
            && all("not", &|schema| !valid(schema, root, value))
            && all("oneOf", &|any| list(any).iter().filter(|s| valid(s, root, value)).count() == 1)
            && all("anyOf", &|any| list(any).iter().any(|s| valid(s, root, value)))
            && all("minimum", &|min| min.as_i64().is_none_or(|min| number >= min))
            && all("maximum", &|max| max.as_i64().is_none_or(|max| number <= max))
            && all("minItems", &|min| min.as_u64().is_none_or(|min| size >= min))
            && all("maxItems", &|max| max.as_u64().is_none_or(|max| size <= max))
            && all("minProperties", &|min| min.as_u64().is_none_or(|min| size >= min))
            && all("maxProperties", &|max| max.as_u64().is_none_or(|max| size <= max))
            && all("items", &|schema| list(value).iter().all(|item| valid(schema, root, item)))
            && all("required", &|keys| {
                list(keys).iter().all(|key| value.get(key.as_str().expect("a key")).is_some())
            })
            && all("pattern", &|pattern| {
                let text = value.as_str().unwrap_or_default();
                match pattern.as_str() {
                    Some(ID) => {
                        !text.is_empty()
                            && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
                    }
                    Some(DURATION) => super::super::scalar::duration(text).is_some(),
                    other => panic!("pattern {other:?}"),
                }
            })
            && value.as_object().is_none_or(|map| {
                map.iter().all(|(key, value)| {
                    match schema.get("properties").and_then(|properties| properties.get(key)) {
                        Some(schema) => valid(schema, root, value),
                        None => all("additionalProperties", &|more| {
                            more.as_bool().unwrap_or_else(|| valid(more, root, value))
                        }),
                    }
                })
            })
    }

    fn to_json(node: &Node) -> Value {
        match &node.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => (*b).into(),
            Kind::Int(n) => (*n).into(),
            Kind::Float(n) => (*n).into(),
            Kind::Text => Value::String(node.text.to_string()),
            Kind::Seq(items) => items.iter().map(|item| to_json(item)).collect(),
            Kind::Map(entries) => {
                entries.iter().map(|entry| (entry.key.to_string(), to_json(&entry.value))).collect()
            }
        }
    }

    /// What the decoder says of the shape alone.
    fn accepted(root: &Node) -> Result<(), String> {
        let mut problems = Problems { file: "bench.yaml".into(), text: "", list: Vec::new() };
        problems.check(root, &Shape::Record(&BENCH), "a bench");
        match problems.list.first() {
            None => Ok(()),
            Some(problem) => Err(problem.message.clone()),
        }
    }

    const SAMPLES: &[&str] = &[
        include_str!("../../../samples/xbot/bench.yaml"),
        include_str!("../plain/bench.yaml"),
        "bench: 1\nname: all\nmodel: a:b\ntitle: x\nplaces:\n  s: { of: system, order: listed, wrap: [a, b] }\n  \
         m: { of: message, at: before_current }\n  b: { of: block, join: x, markers: { m: [aa, bb] }, budget: { chars: 90, over: required_then_listed } }\nread:\n  \
         f: { file: a, max_chars: 3 }\n  g: { git_files: ., groups: 1, per_group: 2, cap: { bytes: 3 } }\n  \
         j: { json: a }\n  e: { environment: now }\nlayers:\n  \
         - { id: a, in: s, from: { table: t, on: a, match: all, join: x }, on_error: stop, budget: 3 }\n  \
         - { id: b, in: b, from: { lines: a, frame_text: x }, cap: { lines: 3, mark: x, boundary: line } }\n  \
         - { id: c, in: s, from: { each: a, item_text: x, where: false }, cap: { chars: 8, of: items, over: stop } }\n  \
         - { id: d, in: s, from: { place: b }, refresh: session, keep: { earlier: keep, persist: strip } }\n\
         marks: [ { at: tools, ttl: 1h30m } ]\nruns:\n  r:\n    - set: { a: 1 }\n    - write: { path: a, text: b }\n    \
         - delete: a\n    - advance: 7m\n    - model: a:b\n    - request: { effort: low, web_search: true }\n    - tools: [a]\n    - call: [ { A: { x: 1 }, result: y } ]\n    \
         - context_edit: { message: 3, text: x }\n    - agent: { role: a, goal: b, run: [ { fail: x } ] }\n",
    ];

    fn sample(index: usize) -> Arc<Node> {
        super::super::parse(&"bench.yaml".into(), SAMPLES[index]).expect("a sample is YAML")
    }

    #[test]
    fn samples_are_valid() {
        let schema = schema();
        for index in 0..SAMPLES.len() {
            let root = sample(index);
            assert_eq!(accepted(&root), Ok(()), "sample {index}");
            assert!(valid(&schema, &schema, &to_json(&root)), "sample {index}");
        }
    }

    #[test]
    fn every_key_that_is_built_is_in_the_schema() {
        let text = schema().to_string();
        for key in [
            "refresh",
            "context_edit",
            "git_files",
            "mark_inside",
            "sent_on_open",
            "item_text",
            "serve",
            "reported",
        ] {
            assert!(text.contains(&format!("\"{key}\":")), "{key}");
        }
        assert!(!text.contains("\"private_when\":"), "it is not built yet");
    }

    /// Changes the node with this number, counted in reading order.
    fn change(node: &mut Arc<Node>, number: &mut usize, with: &Node, key: Option<&str>) {
        let node = Arc::make_mut(node);
        if *number == 0 {
            match (&mut node.kind, key) {
                (Kind::Map(entries), Some(key)) if entries.len() == 1 => entries[0].key = key.into(),
                (Kind::Map(entries), Some(key)) => {
                    entries.retain(|entry| &*entry.key != key);
                    entries.push(Entry { key: key.into(), at: node.at, value: Arc::new(with.clone()) });
                }
                _ => *node = with.clone(),
            }
        }
        *number = number.wrapping_sub(1);
        match &mut node.kind {
            Kind::Seq(items) => items.iter_mut().for_each(|item| change(item, number, with, key)),
            Kind::Map(entries) => {
                entries.iter_mut().for_each(|entry| change(&mut entry.value, number, with, key));
            }
            _ => {}
        }
    }

    fn count(node: &Node) -> usize {
        1 + node.items().iter().map(|item| count(item)).sum::<usize>()
            + node.entries().iter().map(|entry| count(&entry.value)).sum::<usize>()
    }

    static SCHEMA: std::sync::LazyLock<Value> = std::sync::LazyLock::new(schema);

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn the_schema_and_the_decoder_agree(
            index in 0..SAMPLES.len(),
            number in any::<prop::sample::Index>(),
            with in prop::sample::select(vec![
                "x", "12", "-1", "true", "1.5", "~", "[]", "[a]", "[a, b]", "{}", "{ a: b }", "turn", "system", "5m",
                "key", "{ text: x }", "{ change: [a] }", "{ A: { b: 1 } }", "{ A: {}, result: x }", "{ A: {}, arguments: x }", "{ A: {}, arguments: x, result: x }", "{ result: x }", "blocks", "[ { user: x } ]",
            ]),
            key in prop::option::of(prop::sample::select(vec![
                "text", "item", "of", "at", "join", "refresh", "key", "result", "typo", "cap", "chars", "with", "run", "arguments", "role",
                "serve", "budget", "markers", "over", "top", "match", "user", "say", "delete",
            ])),
        ) {
            let with = super::super::parse(&"x".into(), with).expect("it is YAML");
            let mut root = sample(index);
            let mut number = number.index(count(&root));
            change(&mut root, &mut number, &with, key);
            let told = accepted(&root);
            prop_assert_eq!(
                valid(&SCHEMA, &SCHEMA, &to_json(&root)),
                told.is_ok(),
                "the decoder says {:?} of {}",
                told,
                root.shown()
            );
        }
    }
}
