//! `read:`, `tools:` and `simulate:`.

use indexmap::IndexMap;

use crate::core::bench::{
    Leave, MapStyle, Markers, Mediation, Private, ReadKind, ReadSpec, Search, Template, ToolEffect, ToolGroup,
};
use crate::core::fact::{Command, FilePath, Name};
use crate::core::overlay::generated::Sign;

use super::super::fields::{READ, SIMULATE};
use super::super::node::Node;
use super::super::scalar;
use super::super::template::Scope;
use super::{Decoder, count, flag, text, word};

/// For how many seconds a program may run by default, and at most.
const TIMEOUT: (u32, u32) = (5, 60);
/// How many bytes it may print by default, and at most.
const MAX_BYTES: (u32, u32) = (65_536, 1 << 20);

impl Decoder<'_> {
    pub(super) fn reads(&mut self, root: &Node) -> IndexMap<Name, ReadSpec> {
        let mut reads = IndexMap::new();
        for entry in root.get("read").map(|node| node.entries()).unwrap_or_default() {
            if let Some(kind) = self.read(root, &entry.value) {
                reads.insert(entry.key.clone(), ReadSpec { at: entry.at, kind });
            }
        }
        reads
    }

    fn read(&mut self, root: &Node, node: &Node) -> Option<ReadKind> {
        let (kind, value) = READ.kind(node)?;
        Some(match kind {
            "file" => {
                let path = self.workspace_path(value, kind)?;
                let near = node.get("near").and_then(|near| self.near(near, &path));
                let body = word(node, "front_matter") == Some("drop");
                let leave = self.leave(root, node)?;
                let (max_chars, max_bytes) = (count(node, "max_chars"), count(node, "max_bytes"));
                ReadKind::File { path, max_chars, max_bytes, near, body, leave }
            }
            "section" => {
                let path = self.workspace_path(value, kind)?;
                let Some(heading) = text(node, "heading").filter(|heading| heading.starts_with('#')) else {
                    let at = node.get("heading").map_or(node.at, |heading| heading.at);
                    let hint = "`heading: \"## Notes\"`: the heading as it stands in the file".to_owned();
                    self.problems.error(at, "a `section` without a heading", hint);
                    return None;
                };
                ReadKind::Section { path, heading, anywhere: word(node, "match") == Some("substring") }
            }
            "glob" => ReadKind::Glob {
                pattern: self.glob(value)?,
                top: count(node, "top"),
                data: flag(node, "data"),
            },
            "skills" => ReadKind::Skills { folder: self.workspace_path(value, kind)? },
            "docs" => ReadKind::Docs {
                folder: self.workspace_path(value, kind)?,
                chunk_chars: count(node, "chunk_chars").unwrap_or(1200),
            },
            "git_files" => ReadKind::GitFiles {
                folder: self.workspace_path(value, kind)?,
                groups: count(node, "groups").unwrap_or(14),
                per_group: count(node, "per_group").unwrap_or(10),
                style: map_style(node),
                cap: node.get("cap").and_then(|cap| self.cap(cap, false)),
                cache: match node.get("cache") {
                    None => None,
                    Some(cache) => Some(self.workspace_path(cache, "cache")?),
                },
            },
            "command" => ReadKind::Command { command: self.command(node, value)? },
            "json" => ReadKind::Json { path: self.workspace_path(value, kind)? },
            "environment" => ReadKind::Environment { name: value.text.clone() },
            "reported" => {
                let field = value.as_text()?;
                if field.is_empty() || field.contains('.') {
                    let hint = "the name of one field; `serve:` says where it stands in messages".to_owned();
                    self.problems.error(value.at, format!("`{field}` cannot be the name of a field"), hint);
                    return None;
                }
                ReadKind::Reported {
                    field: field.clone(),
                    max_chars: count(node, "max_chars"),
                    of_turn: word(node, "until") == Some("turn_end"),
                }
            }
            _ => return None,
        })
    }

    /// A program with its limits, which a bench cannot raise above those of this program.
    fn command(&mut self, node: &Node, value: &Node) -> Option<Command> {
        // A number is the argument that it is written as.
        let args: Vec<Name> = value.items().iter().map(|item| item.text.clone()).collect();
        if args.first().is_none_or(|program| program.is_empty()) {
            let hint = "`command: [git, log, -1]`: the program, then its arguments".to_owned();
            self.problems.error(value.at, "a `command` without a program", hint);
            return None;
        }
        let timeout = match node.get("timeout") {
            None => TIMEOUT.0,
            Some(limit) => {
                let seconds = limit.as_text().and_then(|text| scalar::duration(text))?;
                let allowed = u32::try_from(seconds).ok().filter(|seconds| (1..=TIMEOUT.1).contains(seconds));
                let Some(seconds) = allowed else {
                    let hint = format!("from `1s` to `{}s`", TIMEOUT.1);
                    self.problems.error(limit.at, format!("`timeout` is out of range: {}", limit.text), hint);
                    return None;
                };
                seconds
            }
        };
        let max_bytes = match node.get("max_bytes") {
            None => MAX_BYTES.0,
            Some(limit) => {
                let allowed = count(node, "max_bytes").and_then(|max| u32::try_from(max).ok());
                let Some(max) = allowed.filter(|max| *max <= MAX_BYTES.1) else {
                    let hint = format!("at most {}", MAX_BYTES.1);
                    self.problems.error(
                        limit.at,
                        format!("`max_bytes` is out of range: {}", limit.text),
                        hint,
                    );
                    return None;
                };
                max
            }
        };
        Some(Command { args: args.into(), timeout, max_bytes })
    }

    /// What a file read leaves out.
    fn leave(&mut self, root: &Node, node: &Node) -> Option<Leave> {
        let mut blocks = Vec::new();
        if let Some(named) = node.get("markers") {
            blocks.push(self.pair_of_a_place(root, named)?);
        }
        if let Some(managed) = node.get("managed") {
            blocks.push(self.lines_around(managed, "managed")?);
        }
        let behind = match node.get("not_if_behind") {
            Some(behind) if node.get("not_if").is_none() => {
                let hint = "`not_if` is the line that is put behind the block".to_owned();
                self.problems.error(behind.at, "`not_if_behind` needs `not_if`", hint);
                return None;
            }
            Some(behind) => Some(self.lines_around(behind, "not_if_behind")?),
            None => None,
        };
        let not_if = text(node, "not_if").map(|line| Sign { line: line.trim().into(), behind });
        Some(Leave { blocks, not_if, trim: flag(node, "trim") })
    }

    /// The lines around a block, as they are written or as one word stands for them.
    fn lines_around(&mut self, node: &Node, key: &'static str) -> Option<Markers> {
        let [start, end] = match (node.as_text(), node.items()) {
            (Some(word), _) => [format!("<!-- {word}:START -->"), format!("<!-- {word}:END -->")],
            (None, [start, end]) => [start.text.to_string(), end.text.to_string()],
            _ => return None,
        };
        if [&start, &end]
            .into_iter()
            .any(|line| line.trim() != line || line.is_empty() || line.contains('\n'))
            || start == end
        {
            let hint = "two different lines, without white space around them".to_owned();
            self.problems.error(node.at, format!("`{key}` does not name the lines of a block"), hint);
            return None;
        }
        Some(Markers { name: key.into(), start: start.into(), end: end.into() })
    }

    /// The markers that some place of the bench gives this name.
    fn pair_of_a_place(&mut self, root: &Node, named: &Node) -> Option<Markers> {
        let name = named.as_text()?;
        let places = root.get("places").map(|places| places.entries()).unwrap_or_default();
        let pairs = || {
            places.iter().filter_map(|place| place.value.get("markers")).flat_map(|markers| markers.entries())
        };
        if let Some(pair) = pairs().find(|entry| entry.key == *name) {
            // What is wrong with the pair itself is told at its place.
            let [start, end] = pair.value.items() else { return None };
            let (start, end) = (start.as_text()?.clone(), end.as_text()?.clone());
            return Some(Markers { name: name.clone(), start, end });
        }
        let known: Vec<Name> = pairs().map(|entry| entry.key.clone()).collect();
        let hint = Decoder::hint(name, &known)
            .or_else(|| Some("a block has them: `markers: { NAME: [..] }`".into()));
        self.problems.error(named.at, format!("no place has markers called `{name}`"), hint);
        None
    }

    /// A pattern for names in the folder of a file.
    fn near(&mut self, node: &Node, file: &FilePath) -> Option<FilePath> {
        let folder = file.path.rfind('/').map_or("", |end| &file.path[..=end]);
        let mut names = Vec::new();
        for item in node.items() {
            let name = item.as_text()?;
            if name.is_empty() || name.contains(['/', ',', '\\']) {
                let hint = "a name in the same folder, without `/`, `,` and `\\`".to_owned();
                self.problems.error(item.at, format!("`{name}` cannot be a name beside the file"), hint);
                return None;
            }
            names.push(globset::escape(name));
        }
        match &*names {
            [] => None,
            [name] => Some(FilePath::new(file.base, format!("{}{name}", globset::escape(folder)))),
            names => {
                Some(FilePath::new(file.base, format!("{}{{{}}}", globset::escape(folder), names.join(","))))
            }
        }
    }

    fn glob(&mut self, node: &Node) -> Option<FilePath> {
        let pattern = self.workspace_path(node, "glob")?;
        match globset::Glob::new(&pattern.path) {
            Ok(_) => Some(pattern),
            Err(error) => {
                let hint = "`*` stands for any part of a name, `**` for any folders, `{a,b}` for one of them";
                let message = format!("the pattern `{}` cannot be used: {}", node.text, error.kind());
                self.problems.error(node.at, message, hint.to_owned());
                None
            }
        }
    }

    pub(super) fn tool_groups(&mut self, root: &Node) -> Vec<ToolGroup> {
        let mut groups = Vec::new();
        let mut always: Vec<(Name, u32)> = Vec::new();
        for node in root.get("tools").map(|node| node.items()).unwrap_or_default() {
            let when = node.get("when").map(|when| self.condition(when, Scope::Layer));
            let items = node.get("names").map(|names| names.items()).unwrap_or_default();
            for item in items {
                let Some(name) = item.as_text() else { continue };
                let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
                if name.is_empty() || !name.chars().all(valid) {
                    let hint = "letters, digits, `_`, `-` and `.`".to_owned();
                    self.problems.error(item.at, format!("`{name}` cannot be the name of a tool"), hint);
                }
                if when.is_none() {
                    if let Some((_, line)) = always.iter().find(|(known, _)| known == name) {
                        let hint = format!("it is first named in line {line}");
                        self.problems.error(item.at, format!("the tool `{name}` is named twice"), hint);
                    }
                    always.push((name.clone(), item.at.line));
                }
            }
            let names: Vec<Name> = items.iter().filter_map(|item| item.as_text().cloned()).collect();
            let schemas = node.get("schemas").and_then(|schemas| {
                let path = self.bench_path(schemas, "schemas")?;
                self.check_schemas(&path, schemas.at, &names)?;
                Some(path)
            });
            groups.push(ToolGroup { when: when.flatten(), names, schemas });
        }
        groups
    }

    /// A tool that the bench declares.
    pub(super) fn tool(&mut self, name: &Name, at: crate::core::diagnostic::Position) -> bool {
        let Some(tools) = self.tools.as_ref().filter(|tools| !tools.contains(name)) else { return true };
        let hint = Decoder::hint(name, tools)
            .unwrap_or_else(|| "declare it: `tools: [ { names: [...] } ]`".to_owned());
        self.problems.error(at, format!("the tool `{name}` is not declared in `tools`"), hint);
        false
    }

    pub(super) fn simulate(&mut self, root: &Node) -> IndexMap<Name, ToolEffect> {
        let mut effects = IndexMap::new();
        for entry in root.get("simulate").map(|node| node.entries()).unwrap_or_default() {
            self.tool(&entry.key, entry.at);
            let Some((kind, value)) = SIMULATE.kind(&entry.value) else { continue };
            let Some(argument) = value.as_text().cloned() else { continue };
            let effect = match kind {
                "set" => {
                    let Some(from) = text(&entry.value, "from") else {
                        let hint = "`from:` names the argument whose value the fact takes".to_owned();
                        self.problems.error(entry.value.at, "a simulation with `set` without `from`", hint);
                        continue;
                    };
                    if !self.settable(&argument, value.at) {
                        continue;
                    }
                    ToolEffect::Set { fact: argument, from }
                }
                "file" => ToolEffect::File { path: argument },
                "write" => ToolEffect::Write { path: argument },
                "search" => match self.search(&entry.value, argument, value.at) {
                    Some(search) => ToolEffect::Search(search),
                    None => continue,
                },
                _ => continue,
            };
            effects.insert(entry.key.clone(), effect);
        }
        effects
    }

    fn search(&mut self, node: &Node, over: Name, at: crate::core::diagnostic::Position) -> Option<Search> {
        if !self.reads.contains(&over) {
            let hint = Decoder::hint(&over, &self.reads);
            self.problems.error(at, format!("there is no read `{over}`"), hint);
        }
        let Some(result) = node.get("result") else {
            let hint = "`result:` names the template of what the tool returns".to_owned();
            self.problems.error(node.at, "a simulation with `search` without `result`", hint);
            return None;
        };
        let result = self.template_file(result, "result", Scope::Found);
        let log = self.log(node, Scope::Found);
        let private = match node.get("private") {
            None => None,
            Some(private) => Some(self.private(private)?),
        };
        Some(Search {
            over,
            query: text(node, "query").unwrap_or_else(|| "query".into()),
            top: count(node, "top").unwrap_or(24),
            item_chars: count(node, "item_chars").unwrap_or(1200),
            total_chars: count(node, "total_chars").unwrap_or(16_000),
            result: result?,
            log,
            private,
        })
    }

    fn private(&mut self, node: &Node) -> Option<Private> {
        let when = node.get("when").map(|when| self.condition(when, Scope::Layer));
        let result = self.template_file(node.get("result")?, "result", Scope::FoundInPrivate);
        let log = self.log(node, Scope::FoundInPrivate);
        let words = node.get("refuse").map(|words| words.items()).unwrap_or_default();
        Some(Private {
            when: when??,
            rules: Mediation {
                refuse: words.iter().filter_map(|word| word.as_text().cloned()).collect(),
                unavailable: super::flag(node, "unavailable"),
            },
            result: result?,
            log,
        })
    }

    fn log(&mut self, node: &Node, scope: Scope) -> Vec<Template> {
        let lines = node.get("log").map(|log| log.items()).unwrap_or_default();
        lines.iter().filter_map(|line| self.inline(line, scope)).collect()
    }

    /// True for a fact that a run can give a value: a fact of the bench, or a builtin that has a value of its own.
    pub(super) fn settable(&mut self, name: &Name, at: crate::core::diagnostic::Position) -> bool {
        if self.reads.contains(name) {
            let hint = "a read follows its files; write the file instead".to_owned();
            self.problems.error(at, format!("`{name}` is a read and cannot be set"), hint);
            return false;
        }
        if self.facts.contains(name) || super::STARTS.contains(&&**name) {
            return true;
        }
        let known: Vec<Name> = self
            .facts
            .iter()
            .cloned()
            .chain(super::STARTS.iter().map(|name| Name::from(*name)))
            .filter(|name| !self.reads.contains(name))
            .collect();
        self.problems.error(at, format!("there is no fact `{name}`"), Decoder::hint(name, &known));
        false
    }
}

/// How a code map is made.
fn map_style(node: &Node) -> MapStyle {
    let names = |key: &str| -> Vec<Name> {
        let items = node.get(key).map(|node| node.items()).unwrap_or_default();
        items.iter().filter_map(|item| item.as_text().cloned()).collect()
    };
    let plain = MapStyle::default();
    MapStyle {
        only: names("only"),
        skip: names("skip"),
        first: names("first"),
        split: names("split"),
        stems: word(node, "names") == Some("stem"),
        root: text(node, "root").unwrap_or(plain.root),
        more: node.get("more").is_none() || flag(node, "more"),
    }
}
