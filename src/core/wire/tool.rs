//! What the definition of a tool says of its arguments, for whoever writes a call by hand.
//!
//! A definition is JSON as providers take it: the schema of the arguments under `parameters`, `input_schema` or
//! `inputSchema`, alone or inside of `function`. Of JSON Schema that is read which tools use: types, enumerations,
//! constants, defaults, references inside of the definition, and alternatives of which one is null.

use serde_json::Value as Json;

use super::json;
use crate::core::fact::{Name, Value};

/// How far references and alternatives are followed: a schema may refer to itself.
const DEEPEST: usize = 8;

/// A tool, as its definition describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tool {
    /// What it does; empty where nothing is said.
    pub about: Name,
    /// Its arguments: those that are required first, else in the order of the definition.
    pub arguments: Vec<Argument>,
    /// True where it may be called with arguments that the definition does not list.
    pub open: bool,
}

/// An argument of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: Name,
    /// What its value may be.
    pub kind: Kind,
    /// True where a call without it is wrong.
    pub required: bool,
    /// What it means; empty where nothing is said.
    pub about: Name,
    /// What holds without it.
    pub default: Option<Value>,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Int,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of these.
    OneOf(Vec<Value>),
    /// A list, with what its items are where the schema says it.
    List(Option<Box<Kind>>),
    /// A map.
    Map,
    /// Anything.
    Any,
}

impl Kind {
    /// In a word or two: `text`, `integer`, `one of matches, files, counts`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Kind::Text => "text".to_owned(),
            Kind::Int => "integer".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Bool => "true or false".to_owned(),
            Kind::OneOf(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                format!("one of {}", values.join(", "))
            }
            Kind::List(Some(items)) => format!("list of {}", items.words()),
            Kind::List(None) => "list".to_owned(),
            Kind::Map => "map".to_owned(),
            Kind::Any => "any value".to_owned(),
        }
    }

    /// True for a value that is of this kind.
    #[must_use]
    pub fn takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Any, _)
            | (Kind::Text, Value::Text(_))
            | (Kind::Int, Value::Int(_))
            | (Kind::Number, Value::Int(_) | Value::Float(_))
            | (Kind::Bool, Value::Bool(_))
            | (Kind::Map, Value::Map(_))
            | (Kind::List(None), Value::List(_)) => true,
            (Kind::OneOf(values), value) => values.contains(value),
            (Kind::List(Some(kind)), Value::List(items)) => items.iter().all(|item| kind.takes(item)),
            _ => false,
        }
    }
}

impl Tool {
    /// Reads a definition. Where it says nothing of the arguments, any may be given.
    #[must_use]
    pub fn of(definition: &str) -> Tool {
        let Ok(root) = serde_json::from_str::<Json>(definition) else {
            return Tool { open: true, ..Tool::default() };
        };
        let inner = root.get("function").unwrap_or(&root);
        let about = text(inner, "description");
        let schema = ["parameters", "input_schema", "inputSchema"].iter().find_map(|key| inner.get(key));
        let Some(schema) = schema else { return Tool { about, arguments: Vec::new(), open: true } };
        let schema = followed(schema, schema, DEEPEST);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Json::as_object);
        let mut arguments: Vec<Argument> = properties
            .into_iter()
            .flatten()
            .map(|(name, of)| {
                let own = followed(of, schema, DEEPEST);
                let said = text(of, "description");
                Argument {
                    name: name.as_str().into(),
                    kind: kind(of, schema, DEEPEST),
                    required: required.contains(&name.as_str()),
                    about: if said.is_empty() { text(own, "description") } else { said },
                    default: of.get("default").or_else(|| own.get("default")).map(value),
                }
            })
            .collect();
        // Their order among themselves stays.
        arguments.sort_by_key(|argument| !argument.required);
        let open = arguments.is_empty() && schema.get("additionalProperties") != Some(&Json::Bool(false))
            || matches!(schema.get("additionalProperties"), Some(Json::Bool(true) | Json::Object(_)));
        Tool { about, arguments, open }
    }

    /// The required arguments that a call does not give.
    pub fn missing<'t>(&'t self, given: impl Fn(&str) -> bool + 't) -> impl Iterator<Item = &'t Name> {
        self.arguments.iter().filter(move |own| own.required && !given(&own.name)).map(|own| &own.name)
    }
}

fn text(of: &Json, key: &str) -> Name {
    of.get(key).and_then(Json::as_str).unwrap_or_default().into()
}

fn value(json: &Json) -> Value {
    // What was JSON before is JSON again.
    json::parse(&json.to_string()).unwrap_or_default()
}

/// The schema that a reference leads to.
fn followed<'j>(schema: &'j Json, root: &'j Json, deep: usize) -> &'j Json {
    let target = schema
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|path| path.strip_prefix('#'))
        .and_then(|path| root.pointer(path))
        .filter(|_| deep > 0);
    target.map_or(schema, |target| followed(target, root, deep - 1))
}

fn kind(schema: &Json, root: &Json, deep: usize) -> Kind {
    let schema = followed(schema, root, deep);
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        return Kind::OneOf(values.iter().map(value).collect());
    }
    if let Some(only) = schema.get("const") {
        return Kind::OneOf(vec![value(only)]);
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key)?.as_array());
    if let Some(alternatives) = alternatives.filter(|_| deep > 0) {
        let mut kinds = alternatives.iter().filter(|one| !is_null(one)).map(|one| kind(one, root, deep - 1));
        return match (kinds.next(), kinds.next()) {
            (Some(only), None) => only,
            _ => Kind::Any,
        };
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(several)) => {
            several.iter().filter_map(Json::as_str).filter(|one| *one != "null").collect()
        }
        _ => Vec::new(),
    };
    match types.as_slice() {
        ["string"] => Kind::Text,
        ["integer"] => Kind::Int,
        ["number"] => Kind::Number,
        ["boolean"] => Kind::Bool,
        ["array"] => {
            let items = schema.get("items").filter(|_| deep > 0).map(|items| kind(items, root, deep - 1));
            Kind::List(items.filter(|items| *items != Kind::Any).map(Box::new))
        }
        ["object"] => Kind::Map,
        _ => Kind::Any,
    }
}

fn is_null(schema: &Json) -> bool {
    schema.get("type").and_then(Json::as_str) == Some("null")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(tool: &Tool) -> Vec<(&str, String, bool)> {
        tool.arguments.iter().map(|own| (&*own.name, own.kind.words(), own.required)).collect()
    }

    #[test]
    fn definitions_of_every_provider_say_what_a_call_takes() {
        let schema = r##"{"type":"object","required":["b"],"additionalProperties":false,"$defs":{"mode":{"type":"string",
            "enum":["x","y"],"description":"which"}},"properties":{
            "a":{"type":"integer","default":3},"b":{"type":"string","description":"the b"},
            "c":{"anyOf":[{"type":"number"},{"type":"null"}]},"d":{"type":["boolean","null"]},"e":{"$ref":"#/$defs/mode"},
            "f":{"type":"array","items":{"type":"string"}},"g":{"type":"object"},"h":{"anyOf":[{"type":"string"},
            {"type":"integer"}]},"i":{"const":7},"j":{}}}"##;
        for definition in [
            format!(r#"{{"name":"T","description":"does it","parameters":{schema}}}"#),
            format!(r#"{{"name":"T","description":"does it","input_schema":{schema}}}"#),
            format!(
                r#"{{"type":"function","function":{{"name":"T","description":"does it","parameters":{schema}}}}}"#
            ),
        ] {
            let tool = Tool::of(&definition);
            assert_eq!(&*tool.about, "does it", "{definition}");
            assert_eq!(
                kinds(&tool),
                [
                    ("b", "text".to_owned(), true),
                    ("a", "integer".to_owned(), false),
                    ("c", "number".to_owned(), false),
                    ("d", "true or false".to_owned(), false),
                    ("e", "one of x, y".to_owned(), false),
                    ("f", "list of text".to_owned(), false),
                    ("g", "map".to_owned(), false),
                    ("h", "any value".to_owned(), false),
                    ("i", "one of 7".to_owned(), false),
                    ("j", "any value".to_owned(), false),
                ]
            );
            assert_eq!(tool.arguments[1].default, Some(Value::Int(3)));
            assert_eq!(&*tool.arguments[4].about, "which");
            assert!(!tool.open);
            assert_eq!(tool.missing(|name| name == "a").map(|name| &**name).collect::<Vec<_>>(), ["b"]);
        }
    }

    #[test]
    fn what_says_nothing_takes_anything_and_what_refers_to_itself_ends() {
        for definition in ["", "{", r#"{"name":"T"}"#, r#"{"name":"T","parameters":{"type":"object"}}"#] {
            assert!(Tool::of(definition).open, "{definition}");
        }
        let own = r##"{"parameters":{"$defs":{"a":{"$ref":"#/$defs/a"},"b":{"type":"array","items":{"$ref":"#/$defs/b"}}},
            "properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/b"}}}}"##;
        let tool = Tool::of(own);
        assert_eq!(tool.arguments[0].kind, Kind::Any);
        assert!(tool.arguments[1].kind.words().starts_with("list of list"));
    }

    #[test]
    fn a_value_is_of_a_kind_or_not() {
        let list = Kind::List(Some(Box::new(Kind::Int)));
        for (kind, value, takes) in [
            (Kind::Text, Value::text("3"), true),
            (Kind::Text, Value::Int(3), false),
            (Kind::Number, Value::Int(3), true),
            (Kind::Int, Value::Float(3.5), false),
            (Kind::OneOf(vec![Value::text("a")]), Value::text("b"), false),
            (list.clone(), Value::list([Value::Int(1)]), true),
            (list, Value::list([Value::text("1")]), false),
            (Kind::Any, Value::Null, true),
        ] {
            assert_eq!(kind.takes(&value), takes, "{kind:?} {value:?}");
        }
    }
}
