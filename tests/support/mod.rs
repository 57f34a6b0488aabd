//! What several test binaries need: benches in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use plywood::core::bench::Bench;
use plywood::core::fact::{Base, FactKey, FilePath, FileText, Found, Value};
use plywood::core::run::{Load, Player};
use plywood::io::syntax;

/// A bench and its files, in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Files by base and path.
    pub(crate) files: BTreeMap<FilePath, Arc<str>>,
}

impl Memory {
    /// A file of the workspace.
    pub(crate) fn put(&mut self, path: &str, text: &str) -> &mut Memory {
        self.files.insert(FilePath::new(Base::Workspace, path), text.into());
        self
    }

    fn file(&self, path: &FilePath) -> Found {
        match self.files.get(path) {
            Some(text) => Found::Value(Value::File(Arc::new(FileText::whole(path.clone(), text.clone())))),
            None => Found::Absent,
        }
    }

    /// What is found under a key.
    pub(crate) fn find(&self, key: &FactKey) -> Found {
        match key {
            FactKey::File(path) => self.file(path),
            FactKey::Document(path) => match self.file(path) {
                Found::Value(body) => {
                    Found::Value(Value::map([("meta", Value::map::<&str>([])), ("body", body)]))
                }
                other => other,
            },
            FactKey::Environment(name) if &**name == "now" => {
                Found::Value(Value::text("2026-04-01T09:00:00Z"))
            }
            FactKey::Environment(name) if &**name == "workspace" => Found::Value(Value::text("/w")),
            FactKey::Environment(name) if &**name == "home" => Found::Value(Value::text("/home/u")),
            FactKey::Glob(pattern) => {
                let (folder, suffix) = pattern.path.split_once('*').unwrap_or((&pattern.path, ""));
                let paths = self.files.keys().filter(|path| {
                    path.base == pattern.base && path.path.starts_with(folder) && path.path.ends_with(suffix)
                });
                Found::Value(Value::list(paths.map(|path| Value::Text(path.path.clone()))))
            }
            _ => Found::Absent,
        }
    }
}

impl Load for Memory {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), self.find(key))).collect()
    }
}

/// Reads a bench from memory; what is wrong with it fails the test with the message a user would see.
pub(crate) fn bench(text: &str, variants: &[&str], memory: &Memory) -> Arc<Bench> {
    let variants: Vec<Arc<str>> = variants.iter().map(|name| Arc::from(*name)).collect();
    let mut files = |path: &FilePath| memory.file(path);
    match syntax::open("bench.yaml", text, &variants, &mut files) {
        Ok(opened) => Arc::new(opened.bench),
        Err(problems) => {
            panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))
        }
    }
}

/// Opens a bench and plays up to its first request.
pub(crate) fn player(text: &str, variants: &[&str], memory: &mut Memory) -> Player {
    let bench = bench(text, variants, memory);
    Player::start(bench, None, memory).expect("the run starts")
}
