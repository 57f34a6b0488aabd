//! A bench on a stage: benches from text, facts from memory, and words for what a case says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plywood::core::bench::Bench;
use plywood::core::fact::{Base, FactKey, FilePath, FileText, Found, Progress, Value};
use plywood::core::run::{CallRecord, EditTarget, Input, Load, Session, ToolCall};
use plywood::core::wire::{Block, BlockKind, CallNo, Request, Zone};
use plywood::io::samples;
use plywood::io::syntax;

/// The files that a bench sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(BTreeMap<FilePath, Arc<str>>, BTreeSet<FilePath>);

impl Files {
    /// Those of a sample, whose workspace is its folder `project`.
    pub(crate) fn of_sample(name: &str) -> Files {
        let sample = samples::find(name).expect("there is such a sample");
        let mut files = BTreeMap::new();
        for (path, content) in sample.files {
            let text: Arc<str> = std::str::from_utf8(content).expect("samples are UTF-8").into();
            files.insert(FilePath::new(Base::Bench, *path), text.clone());
            if let Some(path) = path.strip_prefix("project/") {
                files.insert(FilePath::new(Base::Workspace, path), text);
            }
        }
        Files(files, BTreeSet::new())
    }

    /// Without the files of the workspace whose path begins so.
    pub(crate) fn without(mut self, start: &str) -> Files {
        let before = self.0.len();
        self.0.retain(|path, _| path.base != Base::Workspace || !path.path.starts_with(start));
        assert_ne!(self.0.len(), before, "there is something at {start}");
        self
    }

    /// With another text in the file of the workspace.
    pub(crate) fn with(mut self, path: &str, text: &str) -> Files {
        self.0.insert(FilePath::new(Base::Workspace, path), text.into());
        self
    }

    /// With a file of the workspace that is there and cannot be read.
    pub(crate) fn unreadable(mut self, path: &str) -> Files {
        self.1.insert(FilePath::new(Base::Workspace, path));
        self
    }

    /// The text of a file beside the bench.
    pub(crate) fn text(&self, path: &str) -> Arc<str> {
        self.0.get(&FilePath::new(Base::Bench, path)).unwrap_or_else(|| panic!("no file {path}")).clone()
    }

    fn file(&self, path: &FilePath) -> Found {
        if self.1.contains(path) {
            return Found::Failed("permission denied".into());
        }
        match self.0.get(path) {
            Some(text) => Found::Value(Value::File(Arc::new(FileText::whole(path.clone(), text.clone())))),
            None => Found::Absent,
        }
    }

    fn find(&self, key: &FactKey) -> Found {
        match key {
            FactKey::File(path) => self.file(path),
            FactKey::Data(path) => match self.0.get(path) {
                Some(text) => Found::Value(data(path, text)),
                None => Found::Absent,
            },
            FactKey::Document(path) => match self.0.get(path) {
                Some(text) => Found::Value(document(path, text)),
                None => Found::Absent,
            },
            FactKey::Glob(pattern) => {
                let glob = globset::GlobBuilder::new(&pattern.path)
                    .literal_separator(true)
                    .build()
                    .expect("a pattern");
                let matcher = glob.compile_matcher();
                let paths =
                    self.0.keys().filter(|path| path.base == pattern.base && matcher.is_match(&*path.path));
                Found::Value(Value::list(paths.map(|path| Value::Text(path.path.clone()))))
            }
            // Nobody has reported anything yet.
            FactKey::Reported(_) => Found::Absent,
            FactKey::Environment(name) if &**name == "workspace" => {
                Found::Value(Value::text("/real/workspace"))
            }
            FactKey::Environment(name) if &**name == "home" => Found::Value(Value::text("/real/home")),
            key => panic!("the case did not expect a question for {key}"),
        }
    }
}

impl Load for Files {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), self.find(key))).collect()
    }
}

fn data(path: &FilePath, text: &str) -> Value {
    syntax::parse(&path.to_string().into(), text).expect("the file is YAML").value()
}

fn document(path: &FilePath, text: &str) -> Value {
    let (front, body) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .expect("samples have front matter");
    let body = FileText::whole(path.clone(), body);
    Value::map([("meta", data(path, front)), ("body", Value::File(Arc::new(body)))])
}

/// A bench in a session, with everything that it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) session: Session,
    files: Files,
}

/// A tool call with one argument.
pub(crate) fn tool(tool: &str, argument: &str, value: &str) -> ToolCall {
    ToolCall {
        tool: tool.into(),
        args: [(argument.into(), Value::text(value))].into_iter().collect(),
        ..ToolCall::default()
    }
}

/// A tool call whose result the script gives.
pub(crate) fn gives(name: &str, result: &str) -> ToolCall {
    ToolCall { result: Some(result.into()), ..tool(name, "command", "true") }
}

/// A call of `Cd`.
pub(crate) fn cd(path: &str) -> ToolCall {
    tool("Cd", "path", path)
}

impl Scene {
    /// A bench from text.
    pub(crate) fn of(text: &str, variants: &[&str], files: Files) -> Scene {
        Scene { session: Session::new(Arc::new(bench(text, variants, &files))), files }
    }

    /// A sample with some variants and these files.
    pub(crate) fn sample(files: Files, variants: &[&str]) -> Scene {
        Scene::of(&files.text("bench.yaml"), variants, files)
    }

    /// The sample with some variants.
    pub(crate) fn xbot(variants: &[&str]) -> Scene {
        Scene::sample(Files::of_sample("xbot"), variants)
    }

    /// The sample's bench text, changed.
    pub(crate) fn xbot_but(change: impl FnOnce(&str) -> String) -> Scene {
        let files = Files::of_sample("xbot");
        let text = files.text("bench.yaml");
        let changed = change(&text);
        assert_ne!(changed, &*text, "the change found what it was to change");
        Scene::of(&changed, &[], files)
    }

    /// Takes an input.
    pub(crate) fn take(&mut self, input: Input) -> &mut Scene {
        let mut progress = self.session.step(input).expect("the input can happen");
        while let Progress::Needs(keys) = progress {
            let found: Vec<_> = keys.into_iter().map(|key| (key.clone(), self.files.find(&key))).collect();
            self.session.supply(found);
            progress = self.session.resume();
        }
        self
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Scene {
        self.take(Input::User(text.into()))
    }

    pub(crate) fn call(&mut self, calls: impl Into<Vec<ToolCall>>) -> &mut Scene {
        self.take(Input::Call { text: None, calls: calls.into() })
    }

    pub(crate) fn say(&mut self, text: &str) -> &mut Scene {
        self.take(Input::Say(text.into()))
    }

    pub(crate) fn set_cwd(&mut self, cwd: &str) -> &mut Scene {
        self.take(Input::Set([("cwd".into(), Value::text(cwd))].into_iter().collect()))
    }

    /// The agent deletes (no text) or rewrites its newest tool message.
    pub(crate) fn edit_newest_tool(&mut self, text: Option<&str>) -> &mut Scene {
        self.take(Input::ContextEdit { target: EditTarget::NewestTool, text: text.map(Into::into) })
    }

    pub(crate) fn agent(&mut self, role: &str, goal: &str, cwd: Option<&str>) -> &mut Scene {
        self.take(Input::StartAgent {
            role: role.into(),
            goal: goal.into(),
            cwd: cwd.map(Into::into),
            fork: false,
        })
    }

    /// Plays a run of the bench to its end.
    pub(crate) fn play(&mut self, run: &str) -> &mut Scene {
        let lines = self.session.bench().runs.get(run).expect("there is such a run").clone();
        for line in lines.iter() {
            self.take(line.input.clone());
        }
        self
    }

    /// What a call was sent, or the next would be.
    pub(crate) fn request(&self, call: u32) -> Request {
        self.session.request(CallNo(call)).expect("there is such a call")
    }

    /// What the next call would be sent.
    pub(crate) fn next(&self) -> Request {
        self.request(self.session.next_call().0)
    }

    /// The record of the next call.
    pub(crate) fn prepared(&self) -> &CallRecord {
        self.session.prepared().expect("a request waits to be sent")
    }
}

/// A bench from text.
pub(crate) fn bench(text: &str, variants: &[&str], files: &Files) -> Bench {
    let variants: Vec<Arc<str>> = variants.iter().map(|&name| name.into()).collect();
    let mut read = |path: &FilePath| files.file(path);
    match syntax::open("bench.yaml", text, &variants, &mut read) {
        Ok(opened) => {
            assert!(opened.warnings.is_empty(), "{:?}", opened.warnings);
            opened.bench
        }
        Err(problems) => {
            panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))
        }
    }
}

/// The text of the system prompt.
pub(crate) fn system(request: &Request) -> &str {
    let blocks = request.zone(Zone::System);
    assert_eq!(blocks.len(), 1, "one system message");
    blocks[0].text.text()
}

/// The texts of the tool messages, in order.
pub(crate) fn tool_texts(request: &Request) -> Vec<&str> {
    let tools = request.blocks.iter().filter(|block| block.kind == BlockKind::ToolResult);
    tools.map(|block| &**block.text.text()).collect()
}

/// The text of the newest tool message.
pub(crate) fn newest_tool(request: &Request) -> &str {
    tool_texts(request).last().expect("there is a tool message")
}

/// Everything that is sent, as one text: for what must stand in it once, or never.
pub(crate) fn everything(request: &Request) -> String {
    request.blocks.iter().map(|block| &**block.text.text()).collect::<Vec<_>>().join("\n")
}

/// How often `what` stands in the messages of a request. The system prompt may speak of tags, too.
pub(crate) fn count(request: &Request, what: &str) -> usize {
    request.zone(Zone::Messages).iter().map(|block| block.text.text().matches(what).count()).sum()
}

/// The bytes of each block, which is all that a provider sees of it.
pub(crate) fn bytes(request: &Request) -> Vec<String> {
    let one = |block: &Arc<Block>| {
        format!("{:?} {} {:?} {}", block.kind, block.name, block.tool, block.text.text())
    };
    request.blocks.iter().map(one).collect()
}
