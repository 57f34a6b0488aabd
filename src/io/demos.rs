//! Demos: scripts for a presenter, one beat for each key. A demo is data: a bench, and for each beat what is said of it,
//! which call is shown, and where to look.
//!
//! A beat says where things stand, not what to do to get there. Whatever a presenter tries out in between, and from
//! whichever side a beat is reached, it shows the same.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::samples::Sample;
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    demo: u32,
    title: String,
    about: String,
    bench: String,
    beats: Vec<Line>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    say: String,
    run: Option<String>,
    variants: Option<Vec<String>>,
    model: Option<String>,
    call: Option<u32>,
    show: Option<String>,
    #[serde(default)]
    zoom: bool,
    look: Option<String>,
}

impl Demo {
    /// Reads a script. What a beat does not name stays as it was in the beat before, but for `zoom` and `look`.
    ///
    /// # Errors
    ///
    /// One sentence with what is wrong and where.
    pub fn parse(name: &str, text: &str) -> Result<Demo, String> {
        let script: Script = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        if script.demo != 1 {
            return Err(format!("`demo: {}`: this program reads version 1", script.demo));
        }
        let mut beats: Vec<Beat> = Vec::with_capacity(script.beats.len());
        for (index, line) in script.beats.into_iter().enumerate() {
            let name = |text: String| Name::from(text);
            let before = beats.last();
            let run = line.run.map(name);
            // In another run the numbers of calls mean something else.
            let moved = run.is_some() && run != before.and_then(|beat| beat.run.clone());
            let call = line.call.or(before.filter(|_| !moved).map(|beat| beat.call)).unwrap_or(1);
            if call == 0 {
                return Err(format!("beat {}: calls are numbered from 1", index + 1));
            }
            check(&line.say).map_err(|problem| format!("beat {}: {problem}", index + 1))?;
            let variants = line.variants.map(|list| list.into_iter().map(name).collect());
            beats.push(Beat {
                say: line.say.split_whitespace().collect::<Vec<_>>().join(" ").into(),
                run: run.or(before.and_then(|beat| beat.run.clone())),
                variants: variants.or(before.map(|beat| beat.variants.clone())).unwrap_or_default(),
                model: line.model.map(name).or(before.and_then(|beat| beat.model.clone())),
                call,
                show: line.show.map(name).or(before.and_then(|beat| beat.show.clone())),
                zoom: line.zoom,
                look: line.look.map(name),
            });
        }
        if beats.is_empty() {
            return Err("a demo without beats".to_owned());
        }
        let text = |text: String| Name::from(text);
        Ok(Demo {
            name: name.into(),
            title: text(script.title),
            about: text(script.about),
            bench: text(script.bench),
            beats,
        })
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
    pub fn demo(&self) -> Result<Demo, String> {
        Demo::parse(self.name, self.script)
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
        let demo = Demo::parse("d", script).expect("a demo");
        let beat = &demo.beats[1];
        assert_eq!((beat.run.as_deref(), beat.call, beat.show.as_deref()), (Some("r"), 2, Some("why")));
        assert_eq!((&*beat.variants[0], &beat.look, beat.zoom), ("v", &None, false));
        assert_eq!(&*beat.say, "two {call.2.lost}");
        assert_eq!((demo.beats[2].run.as_deref(), demo.beats[2].call), (Some("q"), 1));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |beats: &str| format!("demo: 1\ntitle: T\nabout: a\nbench: b\nbeats: {beats}\n");
        for (script, want) in [
            (with("[]"), "a demo without beats"),
            (with("[{ say: \"a {b\" }]"), "beat 1: a `{` is not closed in \"a {b\""),
            (with("[{ say: a }, { say: \"a } b\" }]"), "beat 2: a `}` too many in \"a } b\""),
            (with("[{ say: a, call: 0 }]"), "beat 1: calls are numbered from 1"),
            (with("[{ say: a }]").replace("demo: 1", "demo: 2"), "`demo: 2`: this program reads version 1"),
        ] {
            assert_eq!(Demo::parse("d", &script).expect_err("wrong"), want);
        }
        let unknown = Demo::parse("d", &with("[{ say: a, cal: 2 }]")).expect_err("an unknown key");
        assert!(unknown.contains("cal"), "{unknown}");
    }

    #[test]
    fn the_list_holds_every_file_of_the_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("demos");
        let mut listed: Vec<String> = Vec::new();
        for demo in demos() {
            demo.demo().unwrap_or_else(|problem| panic!("{}: {problem}", demo.name));
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
