//! Placeholders in paths: `{{ session }}`, a field of `agent`, a fact that the bench gives.
//!
//! A path is filled when the bench is read and does not follow a run. Only what the bench itself says can stand in it.

use indexmap::IndexMap;

use crate::core::fact::{Name, Value};

use super::super::node::Node;
use super::Decoder;

/// The most characters that an id of a session can have where it names a folder.
const LONGEST_ID: usize = 64;

/// The values that can stand in a path, by dotted name.
pub(super) fn constants(root: &Node) -> IndexMap<Name, Value> {
    let agent = super::values(root.get("agent"));
    let facts = super::values(root.get("facts"));
    let session = facts.get("session").or_else(|| agent.get("session")).cloned();
    let mut constants: IndexMap<Name, Value> =
        agent.into_iter().map(|(key, value)| (format!("agent.{key}").into(), value)).collect();
    constants.extend(facts);
    constants.extend(session.map(|session| (Name::from("session"), session)));
    constants
}

impl Decoder<'_> {
    /// The text of a path with its placeholders filled; as it is where it has none.
    pub(super) fn filled(&mut self, node: &Node, key: &str) -> Option<Node> {
        let text = node.as_text()?;
        let mut out = String::new();
        let mut rest: &str = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((name, after)) = behind.split_once("}}") else {
                let hint = "a placeholder ends with `}}`".to_owned();
                self.problems.error(node.at, format!("`{key}`: a placeholder without an end"), hint);
                return None;
            };
            out.push_str(before);
            out.push_str(&self.constant(name.trim(), node, key)?);
            rest = after;
        }
        out.push_str(rest);
        Some(Node { text: out.into(), ..node.clone() })
    }

    fn constant(&mut self, name: &str, node: &Node, key: &str) -> Option<String> {
        let Some(value) = self.constants.get(name) else {
            let known: Vec<Name> = self.constants.keys().cloned().collect();
            let hint = Decoder::hint(name, &known).or_else(|| {
                Some("what stands in a path is a fact of the bench or a field of `agent`".to_owned())
            });
            self.problems.error(node.at, format!("`{key}`: `{{{{ {name} }}}}` cannot stand in a path"), hint);
            return None;
        };
        let text = match value {
            Value::Text(_) | Value::Int(_) => value.to_string(),
            _ => String::new(),
        };
        if name == "session" || name == "agent.session" {
            let valid = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
            if text.is_empty() || text.len() > LONGEST_ID || !text.bytes().all(valid) {
                let hint = "it names a folder; letters, digits, `_` and `-`".to_owned();
                self.problems.error(
                    node.at,
                    format!("`{key}`: `{text}` cannot stand in a path: session_id must match ^[A-Za-z0-9_-]{{1,64}}$"),
                    hint,
                );
                return None;
            }
        } else if text.trim().is_empty() {
            let hint = "give it a text that is not empty".to_owned();
            self.problems.error(node.at, format!("`{key}`: `{{{{ {name} }}}}` has no text for a path"), hint);
            return None;
        }
        Some(text)
    }
}
