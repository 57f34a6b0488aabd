//! Demos: scripts for a presenter, one beat for each key. A demo is data: a bench, and for each beat what is said of it,
//! which call is shown, and where to look.
//!
//! A beat says where things stand, not what to do to get there. Whatever a presenter tries out in between, and from
//! whichever side a beat is reached, it shows the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::samples::Sample;
use super::syntax::node::Kind;
use super::syntax::parse;
use super::syntax::shape::{Field, Problems, Record, Shape, field};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;

/// A demo, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demo {
    /// The name under which it is opened.
    pub name: Name,
    /// What the title line says.
    pub title: Name,
    /// What it shows, in one line, lower case, without a full stop.
    pub about: Name,
    /// The bench that it plays on, as the script names it.
    pub bench: Name,
    /// The beats, at least one.
    pub beats: Vec<Beat>,
    /// What its script is called where something is wrong with it.
    pub file: Name,
    /// The script.
    pub text: Arc<str>,
}

/// A beat: where everything stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// What is said, with places for numbers in braces: `{call.5.lost}`.
    pub say: Name,
    /// The run; the bench's first where no beat named one.
    pub run: Option<Name>,
    /// The variants, in order.
    pub variants: Vec<Name>,
    /// The model; the bench's where no beat named one.
    pub model: Option<Name>,
    /// The call that is shown, from 1.
    pub call: u32,
    /// The pane that is focused or the view that is open, by its name in lower case.
    pub show: Option<Name>,
    /// True when the focused pane has the whole screen.
    pub zoom: bool,
    /// What of the request is shown: the id of a layer, the name of a fact, or `message 4`.
    pub look: Option<Name>,
    /// What the beat names itself, and where; the rest it has from the beats before.
    pub named: BTreeMap<Name, Position>,
}

const fn record(what: &'static str, doc: &'static str, fields: &'static [Field]) -> Record {
    Record { what, doc, fields, choice: None, kinds: &[] }
}

static DEMO: Record = record(
    "a demo",
    "A script for a presenter.",
    &[
        field("demo", Shape::Int(1, 1), "the version of this format: 1").required(),
        field("title", Shape::Text, "what the title line says").required(),
        field("about", Shape::Text, "what it shows, in one line").required(),
        field("bench", Shape::Text, "a path from the folder of the script, or the name of a sample")
            .required(),
        field("beats", Shape::List(&Shape::Record(&BEAT)), "the beats, in order").required(),
    ],
);

static BEAT: Record = record(
    "a beat",
    "Where everything stands.",
    &[
        field("say", Shape::Text, "what is said").required(),
        field("run", Shape::Text, "the run"),
        field("variants", Shape::List(&Shape::Text), "the variants, in order"),
        field("model", Shape::Text, "the model, as provider:model"),
        field("call", Shape::Int(1, 9_999), "the call that is shown, from 1"),
        field("show", Shape::Text, "the pane that is focused or the view that is open"),
        field("zoom", Shape::Bool, "whether the focused pane has the whole screen"),
        field("look", Shape::Text, "the id of a layer, the name of a fact, or `message 4`"),
    ],
);

impl Demo {
    /// Reads a script; `file` is what it is called where something is wrong with it. What a beat does not name stays as
    /// it was in the beat before, but for `zoom` and `look`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each at its line.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Demo, Vec<Diagnostic>> {
        let file = Name::from(file);
        let root = parse(&file, text)?;
        let mut problems = Problems { file: file.clone(), text, list: Vec::new() };
        problems.check(&root, &Shape::Record(&DEMO), "a demo");
        let nodes = root.get("beats").map(|node| node.items()).unwrap_or_default();
        let mut beats: Vec<Beat> = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let of = |key: &str| node.get(key).map(|value| Name::from(&*value.text));
            let before = beats.last();
            let run = of("run");
            // In another run the numbers of calls mean something else.
            let moved = run.is_some() && run != before.and_then(|beat| beat.run.clone());
            let call = node.get("call").and_then(|call| call.text.parse().ok());
            let say = of("say").unwrap_or_default();
            if let (Err(problem), Some(at)) = (check(&say), node.get("say")) {
                problems.error(at.at, format!("beat {}: {problem}", index + 1), None);
            }
            let variants = node.get("variants").map(|list| list.items().iter().map(|item| item.text.clone()));
            beats.push(Beat {
                say: say.split_whitespace().collect::<Vec<_>>().join(" ").into(),
                run: run.or(before.and_then(|beat| beat.run.clone())),
                variants: variants
                    .map(Iterator::collect)
                    .or(before.map(|beat| beat.variants.clone()))
                    .unwrap_or_default(),
                model: of("model").or(before.and_then(|beat| beat.model.clone())),
                call: call.or(before.filter(|_| !moved).map(|beat| beat.call)).unwrap_or(1),
                show: of("show").or(before.and_then(|beat| beat.show.clone())),
                zoom: node.get("zoom").is_some_and(|zoom| zoom.kind == Kind::Bool(true)),
                look: of("look"),
                named: node.entries().iter().map(|entry| (entry.key.clone(), entry.value.at)).collect(),
            });
        }
        if let (true, Some(list)) = (beats.is_empty() && problems.list.is_empty(), root.get("beats")) {
            problems.error(list.at, "a demo without beats", None);
        }
        if !problems.list.is_empty() {
            return Err(problems.list);
        }
        let of = |key: &str| root.get(key).map(|node| Name::from(&*node.text)).unwrap_or_default();
        Ok(Demo {
            name: name.into(),
            title: of("title"),
            about: of("about"),
            bench: of("bench"),
            beats,
            file,
            text: text.into(),
        })
    }

    /// Something that is wrong with what a beat names, at its line; where the beat does not name it, at none.
    #[must_use]
    pub fn problem(&self, beat: usize, key: &str, what: &str) -> Diagnostic {
        let problem = Diagnostic::error(format!("beat {} of the demo: {what}", beat + 1));
        match self.beats.get(beat).and_then(|beat| beat.named.get(key)) {
            Some(at) => problem.at(self.file.clone(), &self.text, *at),
            None => problem.in_file(self.file.clone()),
        }
    }
}

/// Checks that every brace that opens is closed.
fn check(say: &str) -> Result<(), String> {
    let mut open = false;
    for c in say.chars() {
        match (c, open) {
            ('{', false) => open = true,
            ('}', true) => open = false,
            ('{' | '}', _) => return Err(format!("a `{c}` too many in \"{say}\"")),
            _ => {}
        }
    }
    if open { Err(format!("a `{{` is not closed in \"{say}\"")) } else { Ok(()) }
}

/// A demo that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The name under which it is opened.
    pub name: &'static str,
    /// Its script.
    pub script: &'static str,
    /// The files of its own bench; empty where it plays on a sample.
    pub files: &'static [(&'static str, &'static [u8])],
}

macro_rules! demo {
    ($name:literal, [$($path:literal),* $(,)?]) => {
        BuiltIn {
            name: $name,
            script: include_str!(concat!("../../demos/", $name, "/demo.yaml")),
            files: &[$(($path, include_bytes!(concat!("../../demos/", $name, "/", $path)))),*],
        }
    };
}

const DEMOS: &[BuiltIn] = &[
    demo!("moved-break", []),
    demo!("injection-order", []),
    demo!("reminder-stripping", []),
    demo!("refresh-policy", []),
    demo!(
        "rules-file",
        ["bench.yaml", "dynamic.md", "project/AGENTS.md", "project/src/main.rs", "prompt.md", "tools.json"]
    ),
];

/// All demos that are part of the program.
#[must_use]
pub fn demos() -> &'static [BuiltIn] {
    DEMOS
}

/// The demo with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    DEMOS.iter().find(|demo| demo.name == name)
}

impl BuiltIn {
    /// Its script, read.
    ///
    /// # Errors
    ///
    /// As [`Demo::parse`]; a test reads them all.
    pub fn demo(&self) -> Result<Demo, Vec<Diagnostic>> {
        Demo::parse(self.name, &format!("{}/demo.yaml", self.name), self.script)
    }

    /// Its own bench; none where it plays on a sample.
    #[must_use]
    pub fn own_bench(&self) -> Option<Sample> {
        let about = "the bench of a demo";
        (!self.files.is_empty()).then_some(Sample { name: self.name, about, files: self.files })
    }
}

/// The bench that a script in a file names: a path from the script's folder.
#[must_use]
pub fn bench_of(script: &Path, demo: &Demo) -> PathBuf {
    script.parent().unwrap_or(Path::new("")).join(&*demo.bench)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_beat_does_not_name_stays() {
        let script = "demo: 1\ntitle: T\nabout: a\nbench: b\nbeats:\n  \
            - { say: one, run: r, call: 2, variants: [v], show: why, look: x, zoom: true }\n  \
            - { say: \"two\\n  {call.2.lost}\" }\n  - { say: three, run: q }\n";
        let demo = Demo::parse("d", "d.yaml", script).expect("a demo");
        let beat = &demo.beats[1];
        assert_eq!((beat.run.as_deref(), beat.call, beat.show.as_deref()), (Some("r"), 2, Some("why")));
        assert_eq!((&*beat.variants[0], &beat.look, beat.zoom), ("v", &None, false));
        assert_eq!(&*beat.say, "two {call.2.lost}");
        assert_eq!((demo.beats[2].run.as_deref(), demo.beats[2].call), (Some("q"), 1));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |beats: &str| format!("demo: 1\ntitle: T\nabout: a\nbench: b\nbeats: {beats}\n");
        let wrong = |script: &str| {
            let problems = Demo::parse("d", "d.yaml", script).expect_err("it is wrong");
            let problem = &problems[0];
            let (at, line) = (problem.at.expect("a place"), problem.line.clone().expect("the line"));
            (problem.message.clone(), at.to_string(), line.clone(), problem.hint.clone())
        };
        for (script, want, at) in [
            (with("[]"), "a demo without beats", "5:8"),
            (with("[{ say: \"a {b\" }]"), "beat 1: a `{` is not closed in \"a {b\"", "5:16"),
            (with("\n  - { say: a }\n  - { say: \"a } b\" }"), "beat 2: a `}` too many in \"a } b\"", "7:12"),
        ] {
            let (message, place, line, _) = wrong(&script);
            assert_eq!((&*message, &*place), (want, at));
            assert!(script.lines().any(|own| own == line), "{line}");
        }
        let (message, place, ..) = wrong(&with("[{ say: a, call: 0 }]"));
        assert!(message.contains("`call`") && place == "5:25", "{message} at {place}");
        let (message, place, ..) = wrong(&with("[{ say: a }]").replace("demo: 1", "demo: 2"));
        assert!(message.contains("`demo`") && place == "1:7", "{message} at {place}");
        let (message, _, line, hint) = wrong(&with("\n  - { say: a, cal: 2 }"));
        assert!(message.contains("`cal`"), "{message}");
        assert_eq!((&*line, hint.as_deref()), ("  - { say: a, cal: 2 }", Some("did you mean `call`?")));
    }

    #[test]
    fn what_a_beat_names_is_found_again() {
        let script =
            "demo: 1\ntitle: T\nabout: a\nbench: b\nbeats:\n  - { say: one, run: r }\n  - { say: two }\n";
        let demo = Demo::parse("d", "d.yaml", script).expect("a demo");
        let at = |beat| demo.problem(beat, "run", "no run").at.map(|at| at.to_string());
        assert_eq!((at(0).as_deref(), at(1)), (Some("6:22"), None));
    }

    #[test]
    fn the_list_holds_every_file_of_the_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("demos");
        let mut listed: Vec<String> = Vec::new();
        for demo in demos() {
            demo.demo().unwrap_or_else(|problems| panic!("{}: {}", demo.name, problems[0]));
            listed.push(format!("{}/demo.yaml", demo.name));
            listed.extend(demo.files.iter().map(|(path, _)| format!("{}/{path}", demo.name)));
        }
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(
                        path.strip_prefix(&root).expect("below it").to_string_lossy().replace('\\', "/"),
                    );
                }
            }
        }
        listed.sort();
        found.sort();
        assert_eq!(listed, found);
    }
}
