//! What is composed by hand: a message of the user, or the model's reply, an answer or calls of tools.

use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::snapshot::OfferedTool;
use crate::core::fact::{Name, Value};
use crate::core::run::{Input, ToolCall};
use crate::core::wire::CallNo;
use crate::core::wire::tool::{Argument, Kind, Tool};
use crate::io::edit::bench::{typed, written_on_one_line};

/// What a text or a line is typed for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Typing {
    /// What the user says; true where it takes the place of what was said before the call that is looked at.
    Said(bool),
    /// What the model answers, which ends the turn.
    Answer,
    /// What the model says before it calls.
    Before,
    /// Why the call fails.
    Failure,
    /// The value of an argument, by the number of the call from 0.
    Argument(usize, Name),
    /// An argument that the definition does not list, with its name.
    Another(usize),
    /// What a call returns.
    Result(usize),
    /// The name of the run that is saved.
    RunName,
}

impl Typing {
    /// What it is called, for the title of a box.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Typing::Said(false) => "What the user says".to_owned(),
            Typing::Said(true) => "What the user says instead".to_owned(),
            Typing::Answer => "What the model answers".to_owned(),
            Typing::Before => "What the model says before it calls".to_owned(),
            Typing::Failure => "Why the call fails".to_owned(),
            Typing::Argument(_, name) => name.to_string(),
            Typing::Another(_) => "Another argument".to_owned(),
            Typing::Result(_) => "What the tool returns".to_owned(),
            Typing::RunName => "Save this conversation as a run".to_owned(),
        }
    }

    /// What taking it does, for the row of keys.
    #[must_use]
    pub fn takes(&self) -> &'static str {
        match self {
            Typing::Said(_) => "say it",
            Typing::Answer => "answer",
            Typing::Failure => "let it fail",
            Typing::RunName => "save",
            Typing::Before | Typing::Argument(..) | Typing::Another(_) | Typing::Result(_) => "take it",
        }
    }
}

/// A part of a reply that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// What the model says before it calls.
    Before,
    /// A call, by its number from 0.
    Call(usize),
    /// An argument of a call.
    Argument(usize, Name),
    /// An argument more.
    Another(usize),
    /// What a call returns.
    Result(usize),
    /// A call more.
    More,
    /// The whole, to be sent.
    Send,
}

/// A call of a tool, as far as it is composed.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    /// The tool.
    pub name: Name,
    /// What its definition says.
    pub tool: Tool,
    /// What the bench says that it does; none where its result is typed.
    pub does: Option<Arc<str>>,
    /// Its arguments, by their names.
    pub args: IndexMap<Name, Value>,
    /// What it returns, where that was typed.
    pub result: Option<Arc<str>>,
}

impl Composed {
    /// A call without arguments.
    #[must_use]
    pub fn of(offered: &OfferedTool) -> Composed {
        Composed {
            name: offered.name.clone(),
            tool: Tool::of(&offered.definition),
            does: offered.does.clone(),
            args: IndexMap::new(),
            result: None,
        }
    }

    /// An argument as the definition describes it.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.tool.arguments.iter().find(|own| *own.name == *name)
    }

    /// The first required argument that has no value.
    #[must_use]
    pub fn missing(&self) -> Option<&Name> {
        self.tool.missing(|name| self.args.contains_key(name)).next()
    }

    /// Gives an argument a value. Arguments stand in the order of the definition, others behind them.
    fn give(&mut self, name: Name, value: Value) {
        self.args.insert(name, value);
        let place =
            |name: &Name| self.tool.arguments.iter().position(|own| own.name == *name).unwrap_or(usize::MAX);
        self.args.sort_by(|a, _, b, _| place(a).cmp(&place(b)));
    }

    fn call(&self) -> ToolCall {
        ToolCall {
            tool: self.name.clone(),
            args: self.args.clone(),
            result: self.result.clone(),
            written: None,
            mediator: None,
        }
    }
}

/// What is composed and not said yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composer {
    /// The call that is replied to.
    pub call: CallNo,
    /// What the model says before it calls.
    pub before: Arc<str>,
    /// Its calls.
    pub calls: Vec<Composed>,
    /// The call whose tool is to be another one.
    pub replaced: Option<usize>,
    /// Counts what was composed, so that an answer finds its question.
    pub serial: u32,
    /// The number of the reply of which the user was told what is missing: sent once more, it is sent as it is.
    pub warned: Option<u32>,
    /// Texts that were typed and given up, to be gone on with.
    pub given_up: BTreeMap<Typing, String>,
}

impl Composer {
    /// The reply as an input; none without a call.
    #[must_use]
    pub fn reply(&self) -> Option<Input> {
        let text = (!self.before.is_empty()).then(|| self.before.clone());
        let calls: Vec<ToolCall> = self.calls.iter().map(Composed::call).collect();
        (!calls.is_empty()).then_some(Input::Call { text, calls })
    }

    /// What is missing in the reply: one clause, lower case, without a full stop.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        self.calls.iter().find_map(|call| Some(format!("{} needs {}", call.name, call.missing()?)))
    }

    /// Takes what was typed for a part of the reply.
    ///
    /// # Errors
    ///
    /// Why it cannot be that: one sentence, lower case, without a full stop.
    pub fn take(&mut self, typing: &Typing, text: &str) -> Result<(), String> {
        match typing {
            Typing::Before => self.before = text.into(),
            Typing::Result(at) => {
                if let Some(call) = self.calls.get_mut(*at) {
                    call.result = Some(text.into());
                }
            }
            Typing::Argument(at, name) => {
                let Some(call) = self.calls.get_mut(*at) else { return Ok(()) };
                let kind = call.argument(name).map_or(Kind::Any, |own| own.kind.clone());
                let value = value(&kind, text)?;
                call.give(name.clone(), value);
            }
            Typing::Another(at) => {
                let (name, text) =
                    text.split_once(':').ok_or("a name, a colon and a value are wanted: name: value")?;
                let name = name.trim();
                if name.is_empty() {
                    return Err("a name is wanted in front of the colon".to_owned());
                }
                let Some(call) = self.calls.get_mut(*at) else { return Ok(()) };
                let kind = call.argument(name).map_or(Kind::Any, |own| own.kind.clone());
                let value = value(&kind, text.trim())?;
                call.give(name.into(), value);
            }
            Typing::Said(_) | Typing::Answer | Typing::Failure | Typing::RunName => {}
        }
        Ok(())
    }

    /// Takes a part out of the reply: a call, the value of an argument, a result that was typed. False where there is
    /// nothing to take out.
    pub fn take_out(&mut self, part: &Part) -> bool {
        match part {
            Part::Before => !std::mem::take(&mut self.before).is_empty(),
            Part::Call(at) if *at < self.calls.len() => {
                self.calls.remove(*at);
                true
            }
            Part::Argument(at, name) => {
                self.calls.get_mut(*at).is_some_and(|call| call.args.shift_remove(name).is_some())
            }
            Part::Result(at) => self.calls.get_mut(*at).is_some_and(|call| call.result.take().is_some()),
            Part::Call(_) | Part::Another(_) | Part::More | Part::Send => false,
        }
    }

    /// True for what may have several lines.
    #[must_use]
    pub fn takes_lines(&self, typing: &Typing) -> bool {
        match typing {
            Typing::Argument(at, name) => {
                let kind = self.calls.get(*at).and_then(|call| call.argument(name)).map(|own| &own.kind);
                matches!(kind, None | Some(Kind::Text | Kind::Any))
            }
            Typing::Another(_) | Typing::RunName | Typing::Failure => false,
            Typing::Said(_) | Typing::Answer | Typing::Before | Typing::Result(_) => true,
        }
    }

    /// What is there already of what is typed.
    #[must_use]
    pub fn written(&self, typing: &Typing) -> String {
        match typing {
            Typing::Before => self.before.to_string(),
            Typing::Result(at) => {
                let result = self.calls.get(*at).and_then(|call| call.result.as_deref());
                result.unwrap_or_default().to_owned()
            }
            Typing::Argument(at, name) => {
                let Some(call) = self.calls.get(*at) else { return String::new() };
                match (call.args.get(name), call.argument(name).map(|own| &own.kind)) {
                    (Some(Value::Text(text)), Some(Kind::Text)) => text.to_string(),
                    (Some(value), _) => written_on_one_line(value),
                    (None, _) => String::new(),
                }
            }
            Typing::Said(_) | Typing::Answer | Typing::Failure | Typing::Another(_) | Typing::RunName => {
                String::new()
            }
        }
    }
}

/// The value that was typed for an argument of a kind: a text as it is, anything else as YAML and JSON write it.
///
/// # Errors
///
/// Why it is none of that kind: one sentence, lower case, without a full stop.
pub fn value(kind: &Kind, text: &str) -> Result<Value, String> {
    if *kind == Kind::Text {
        return Ok(Value::text(text));
    }
    let value = typed(text)?;
    if kind.takes(&value) {
        return Ok(value);
    }
    Err(match kind {
        Kind::Int => "a whole number is wanted".to_owned(),
        Kind::Number => "a number is wanted".to_owned(),
        Kind::Bool => "true or false is wanted".to_owned(),
        Kind::Map => "a map is wanted, such as { key: value }".to_owned(),
        Kind::List(_) => format!("a {} is wanted, such as [a, b]", kind.words()),
        kind => format!("{} is wanted", kind.words()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(definition: &str) -> OfferedTool {
        OfferedTool { name: "T".into(), definition: definition.into(), does: None }
    }

    fn composer() -> Composer {
        let definition = r#"{"name":"T","parameters":{"type":"object","properties":{"n":{"type":"integer"},
            "path":{"type":"string"},"list":{"type":"array","items":{"type":"string"}},"how":{"enum":["a","b"]}},
            "required":["path"]}}"#;
        Composer { calls: vec![Composed::of(&offered(definition))], ..Composer::default() }
    }

    #[test]
    fn values_are_typed_as_the_schema_says() {
        let list = Kind::List(Some(Box::new(Kind::Text)));
        let one_of = Kind::OneOf(vec![Value::text("a"), Value::Int(2)]);
        for (kind, text, wanted) in [
            (Kind::Text, "12", Ok(Value::text("12"))),
            (Kind::Text, " 你好 🙂 ", Ok(Value::text(" 你好 🙂 "))),
            (Kind::Text, "", Ok(Value::text(""))),
            (Kind::Int, "12", Ok(Value::Int(12))),
            (Kind::Int, "1.5", Err("a whole number is wanted")),
            (Kind::Number, "1.5", Ok(Value::Float(1.5))),
            (Kind::Bool, "true", Ok(Value::Bool(true))),
            (Kind::Bool, "yes", Err("true or false is wanted")),
            (list.clone(), "[a, b]", Ok(Value::list([Value::text("a"), Value::text("b")]))),
            (list, "a", Err("a list of text is wanted, such as [a, b]")),
            (Kind::Map, "{\"a\": 1}", Ok(Value::map([("a", Value::Int(1))]))),
            (one_of.clone(), "2", Ok(Value::Int(2))),
            (one_of, "c", Err("one of a, 2 is wanted")),
            (Kind::Any, "null", Ok(Value::Null)),
        ] {
            assert_eq!(value(&kind, text), wanted.map_err(str::to_owned), "{kind:?} {text}");
        }
    }

    #[test]
    fn a_call_is_composed_part_by_part() {
        let mut composer = composer();
        assert_eq!(composer.missing().as_deref(), Some("T needs path"));
        let argument = |name: &str| Typing::Argument(0, name.into());
        composer.take(&argument("n"), "3").expect("a number");
        composer.take(&argument("path"), "a.rs").expect("a text");
        assert!(composer.take(&Typing::Another(0), "more").is_err());
        composer.take(&Typing::Another(0), "more: { x: 1 }").expect("a map");
        composer.take(&Typing::Result(0), "done\n").expect("a text");
        composer.take(&Typing::Before, "I look.").expect("a text");
        assert_eq!(composer.missing(), None);
        // What is required stands first in the form and in the call.
        let Some(Input::Call { text, calls }) = composer.reply() else { panic!("a reply") };
        assert_eq!(text.as_deref(), Some("I look."));
        assert_eq!(calls[0].args.keys().map(|name| &**name).collect::<Vec<_>>(), ["path", "n", "more"]);
        assert_eq!(calls[0].result.as_deref(), Some("done\n"));
        assert_eq!(
            (composer.written(&argument("n")), composer.written(&argument("path"))),
            ("3".into(), "a.rs".into())
        );
        assert!(composer.take_out(&Part::Argument(0, "path".into())));
        assert!(!composer.take_out(&Part::Argument(0, "path".into())));
        assert!(composer.take_out(&Part::Result(0)) && composer.take_out(&Part::Call(0)));
        assert_eq!(composer.reply(), None);
    }
}
