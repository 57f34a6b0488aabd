//! The forms of a layer and of the bench: what can be changed in the bench file, and the edit that a typed value means.

use super::compose::Typing;
use crate::core::fact::{Name, Value};
use crate::io::edit::bench::{BenchEdit, Rule, Sheet, typed};

/// What a form, a list of choices or a line is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The bench as a whole.
    Bench,
    /// A layer.
    Layer(Name),
    /// Something that has one value.
    Field(Field),
    /// Something that is composed by hand.
    Typing(Typing),
}

/// Something in the bench file that has one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// The model.
    Model,
    /// A field of the agent.
    Agent(Name),
    /// A field of the agent that is not there yet.
    NewAgent,
    /// A fact.
    Fact(Name),
    /// A fact that is not there yet.
    NewFact,
    /// A cache mark, by its number from 0.
    Mark(usize),
    /// A cache mark that is not there yet.
    NewMark,
    /// The place of a layer.
    Place(Name),
    /// A rule of a layer.
    Rule(Name, Rule),
}

impl Field {
    /// What it is called: `layers.reminder.keep.persist`.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Field::Model => "model".to_owned(),
            Field::Agent(name) => format!("agent.{name}"),
            Field::NewAgent => "agent".to_owned(),
            Field::Fact(name) => format!("facts.{name}"),
            Field::NewFact => "facts".to_owned(),
            Field::Mark(index) => format!("mark {}", index + 1),
            Field::NewMark => "marks".to_owned(),
            Field::Place(layer) => format!("layers.{layer}.in"),
            Field::Rule(layer, rule) => format!("layers.{layer}.{}", rule.path().join(".")),
        }
    }

    /// True for what is typed; everything else is chosen from a list.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        match self {
            Field::Agent(_) | Field::NewAgent | Field::Fact(_) | Field::NewFact => true,
            Field::Rule(_, rule) => matches!(rule, Rule::When | Rule::Key | Rule::Run | Rule::Budget),
            Field::Model | Field::Mark(_) | Field::NewMark | Field::Place(_) => false,
        }
    }

    /// True for a fact: it can be set in the run alone, too.
    #[must_use]
    pub fn is_fact(&self) -> bool {
        matches!(self, Field::Fact(_) | Field::NewFact)
    }

    /// What has to be typed, for the line below it.
    #[must_use]
    pub fn wanted(&self) -> &'static str {
        match self {
            Field::NewAgent | Field::NewFact => "type a name and a value: name: value",
            Field::Agent(_) | Field::Fact(_) => {
                "a text as it is; 3, true and null as such; \"..\", [..] and {..} as YAML reads them"
            }
            Field::Rule(_, Rule::When) => "an expression; the layer is left out where it does not hold",
            Field::Rule(_, Rule::Key) => "a key; in a place that goes by keys it decides the order",
            Field::Rule(_, Rule::Run) => "a whole number; layers with smaller numbers run first",
            Field::Rule(_, Rule::Budget) => "a number of characters; more is a warning, nothing is cut",
            _ => "",
        }
    }

    /// What the file says, as it is typed; empty where it says nothing.
    #[must_use]
    pub fn written(&self, sheet: &Sheet) -> String {
        let of = |list: &[(Name, crate::io::edit::bench::Written)], name: &Name| {
            let found = list.iter().find(|(other, _)| other == name);
            found.and_then(|(_, written)| written.text.as_deref()).unwrap_or_default().to_owned()
        };
        match self {
            Field::Agent(name) => of(&sheet.agent, name),
            Field::Fact(name) => of(&sheet.facts, name),
            Field::Rule(layer, rule) => {
                let written = sheet.layer(layer).map(|layer| layer.rule(*rule));
                let text = written.and_then(|written| written.text.as_deref()).unwrap_or_default();
                match rule {
                    // Quotes that only YAML needs are no part of an expression or a key.
                    Rule::When | Rule::Key => match typed(text) {
                        Ok(Value::Text(text)) => text.to_string(),
                        _ => text.to_owned(),
                    },
                    _ => text.to_owned(),
                }
            }
            _ => String::new(),
        }
    }
}

/// The edit that a typed value means.
///
/// # Errors
///
/// Why it means none: one sentence, lower case, without a full stop.
pub fn edit(field: &Field, text: &str) -> Result<BenchEdit, String> {
    let text = text.trim();
    Ok(match field {
        Field::Agent(name) => BenchEdit::AgentField(name.clone(), typed(text)?),
        Field::Fact(name) => BenchEdit::Fact(name.clone(), typed(text)?),
        Field::NewAgent => {
            let (name, value) = named(text)?;
            BenchEdit::AgentField(name, value)
        }
        Field::NewFact => {
            let (name, value) = named(text)?;
            BenchEdit::Fact(name, value)
        }
        Field::Rule(layer, rule) => {
            let to = match (rule, text) {
                (_, "") => None,
                (Rule::Run | Rule::Budget, text) => {
                    let number: i64 = text.parse().map_err(|_| "a whole number is wanted".to_owned())?;
                    if *rule == Rule::Budget && number < 0 {
                        return Err("a budget is not negative".to_owned());
                    }
                    Some(Value::Int(number))
                }
                (_, text) => Some(Value::text(text)),
            };
            BenchEdit::Rule { layer: layer.clone(), rule: *rule, to }
        }
        Field::Model | Field::Mark(_) | Field::NewMark | Field::Place(_) => {
            return Err("it is chosen from a list".to_owned());
        }
    })
}

/// The fact and the value that were typed for it.
///
/// # Errors
///
/// As [`edit`].
pub fn fact(field: &Field, text: &str) -> Result<(Name, Value), String> {
    match edit(field, text)? {
        BenchEdit::Fact(name, value) => Ok((name, value)),
        _ => Err("only a fact can be set in the run alone".to_owned()),
    }
}

/// The edit that takes something out of the file; none for what has to be there.
#[must_use]
pub fn removal(field: &Field) -> Option<BenchEdit> {
    match field {
        Field::Agent(name) => Some(BenchEdit::RemoveAgentField(name.clone())),
        Field::Fact(name) => Some(BenchEdit::RemoveFact(name.clone())),
        Field::Mark(index) => Some(BenchEdit::RemoveMark(*index)),
        Field::Rule(layer, rule) => Some(BenchEdit::Rule { layer: layer.clone(), rule: *rule, to: None }),
        Field::Model | Field::NewAgent | Field::NewFact | Field::NewMark | Field::Place(_) => None,
    }
}

/// `name: value`, as typed.
fn named(text: &str) -> Result<(Name, Value), String> {
    let Some((name, value)) = text.split_once(':') else {
        return Err("a name, a colon and a value are wanted".to_owned());
    };
    let name = name.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !name.chars().all(fits) {
        return Err("a name is made of letters, digits and _, and begins with no digit".to_owned());
    }
    Ok((name.into(), typed(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_an_edit_or_is_refused() {
        let rule = |rule| Field::Rule("a".into(), rule);
        let ruled = |rule, to| BenchEdit::Rule { layer: "a".into(), rule, to };
        for (field, text, wanted) in [
            (Field::NewFact, "mood: calm", Ok(BenchEdit::Fact("mood".into(), Value::text("calm")))),
            (Field::NewFact, "mood", Err("a name, a colon and a value are wanted")),
            (
                Field::NewAgent,
                "a b: c",
                Err("a name is made of letters, digits and _, and begins with no digit"),
            ),
            (rule(Rule::When), " x and y ", Ok(ruled(Rule::When, Some(Value::text("x and y"))))),
            (rule(Rule::When), "", Ok(ruled(Rule::When, None))),
            (rule(Rule::Run), "-5", Ok(ruled(Rule::Run, Some(Value::Int(-5))))),
            (rule(Rule::Run), "x", Err("a whole number is wanted")),
            (rule(Rule::Budget), "-5", Err("a budget is not negative")),
            (rule(Rule::Key), "10", Ok(ruled(Rule::Key, Some(Value::text("10"))))),
        ] {
            assert_eq!(edit(&field, text), wanted.map_err(str::to_owned), "{text}");
        }
    }
}
