//! Checks of the data files that a bench names: tables and tool schemas.

use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::{FilePath, Name};
use crate::core::text::Source;

use super::super::node::{Kind, Node};
use super::super::parse;
use super::super::suggest;
use super::super::template::Scope;
use super::Decoder;

const ROWS: &str =
    "a table is a map `key: text`, or a list of `{ match: key, text: .. }` (or `template:` with a file)";

impl Decoder<'_> {
    /// Reads a table's rows; its templates are checked as if they stood in the layer.
    pub(super) fn check_table(&mut self, path: &FilePath, at: Position) {
        let Some(text) = self.file_text(path, at) else { return };
        let file: Name = path.to_string().into();
        let root = match parse(&file, &text) {
            Ok(root) => root,
            Err(problems) => return problems.into_iter().for_each(|problem| self.problems.push(problem)),
        };
        let mut wrong = |at: Position, message: String| {
            let problem = Diagnostic::error(message).at(file.clone(), &text, at);
            self.problems.push(problem.hint(ROWS));
        };
        match &root.kind {
            Kind::Null => {}
            Kind::Map(entries) => {
                for entry in entries.iter().filter(|entry| entry.value.as_text().is_none()) {
                    let what = entry.value.describe();
                    wrong(
                        entry.value.at,
                        format!("the row `{}` must be a text, but this is {what}", entry.key),
                    );
                }
            }
            Kind::Seq(rows) => {
                let mut templates = Vec::new();
                for row in rows {
                    let keys = row.get("match");
                    let valid = keys.is_some_and(|keys| {
                        keys.as_text().is_some()
                            || !keys.items().is_empty() && keys.items().iter().all(|k| k.as_text().is_some())
                    });
                    let otherwise = row.get("otherwise").is_some();
                    if otherwise && keys.is_some() {
                        wrong(row.at, "a row needs either `match` or `otherwise`".to_owned());
                    } else if row.get("otherwise").is_some_and(|node| node.kind != Kind::Bool(true)) {
                        wrong(row.at, "`otherwise` can only be `true`".to_owned());
                    } else if !valid && !otherwise {
                        wrong(keys.map_or(row.at, |keys| keys.at), "a row without `match`".to_owned());
                    }
                    match (row.get("text"), row.get("template")) {
                        (Some(text), None) if text.as_text().is_some() => {}
                        (None, Some(file)) if file.as_text().is_some() => templates.push(file.clone()),
                        _ => wrong(row.at, "a row needs either `text` or `template`".to_owned()),
                    }
                    for entry in row.entries() {
                        if !matches!(&*entry.key, "match" | "otherwise" | "text" | "template") {
                            wrong(entry.at, format!("unknown key `{}` in a row of a table", entry.key));
                        }
                    }
                }
                templates.iter().for_each(|node| self.row_template(node, &file, &text));
            }
            _ => wrong(root.at, format!("a table cannot be {}", root.describe())),
        }
    }

    /// A template that a row names: what is wrong with the path is told in the table.
    fn row_template(&mut self, node: &Node, table: &Name, table_text: &str) {
        let before = self.problems.list.len();
        let Some(path) = self.bench_path(node, "template") else {
            self.in_table(before, table, table_text);
            return;
        };
        let text = self.file_text(&path, node.at);
        self.in_table(before, table, table_text);
        if let Some(text) = text {
            let source = Source::file(path.to_string(), text);
            self.checker.template(&source, Scope::Layer, &mut self.problems);
        }
    }

    /// Problems since `before` were told with positions of the table: they belong to its file.
    fn in_table(&mut self, before: usize, table: &Name, text: &str) {
        for problem in self.problems.list.split_off(before) {
            let mut moved = match problem.at {
                Some(at) => Diagnostic::error(problem.message).at(table.clone(), text, at),
                None => problem.clone(),
            };
            moved.hint = problem.hint;
            self.problems.push(moved);
        }
    }

    /// Reads a file of tool definitions; a tool without one is a warning where the file is named.
    pub(super) fn check_schemas(&mut self, path: &FilePath, at: Position, names: &[Name]) -> Option<()> {
        let text = self.file_text(path, at)?;
        let file: Name = path.to_string().into();
        let value: serde_json::Value = match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(error) => {
                let at = Position { line: error.line().max(1) as u32, column: error.column().max(1) as u32 };
                // The library appends the place, which stands in the diagnostic.
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or("it cannot be read");
                let problem = Diagnostic::error(format!("not JSON: {message}")).at(file, &text, at);
                self.problems
                    .push(problem.hint("a list of tool definitions, or a map from name to definition"));
                return None;
            }
        };
        let defined: Vec<Name> = match &value {
            serde_json::Value::Object(map) => map.keys().map(|key| key.as_str().into()).collect(),
            serde_json::Value::Array(list) => list.iter().filter_map(name_of).map(Name::from).collect(),
            _ => {
                let problem = Diagnostic::error("tool definitions must be a list or a map");
                self.problems.push(problem.at(file, &text, Position::START).hint("`[ { \"name\": .. } ]`"));
                return None;
            }
        };
        for name in names.iter().filter(|name| !defined.contains(name)) {
            let near = suggest::nearest(name, defined.iter().map(|name| &**name));
            let meant = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let hint = format!("{meant}the tool is sent with its name only");
            self.problems.warning(at, format!("`{path}` has no definition of `{name}`"), hint);
        }
        Some(())
    }
}

/// The name of a tool definition, in the forms of the three large providers.
fn name_of(definition: &serde_json::Value) -> Option<&str> {
    definition.get("name").or_else(|| definition.get("function")?.get("name"))?.as_str()
}
