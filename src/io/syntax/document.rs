//! A bench file, read: the bench as it is written, and with any of its variants.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::bench::Bench;
use crate::core::diagnostic::{Diagnostic, Position, Severity};
use crate::core::fact::{FilePath, Found, Name};
use crate::core::text::Source;

use super::decode::{self, Files};
use super::node::Node;
use super::shape::{NOT_BUILT, Problems};
use super::suggest;
use super::template::Checker;
use super::variant::{self, Variant};

/// A bench file as a tree, before it means anything.
#[derive(Clone, Debug)]
pub struct Document {
    source: Arc<Source>,
    root: Arc<Node>,
    variants: Vec<Variant>,
    /// Variants that nobody wrote down, to be had by their names like the others.
    derived: Vec<Variant>,
    builtin: bool,
}

/// A bench with a set of variants applied, and what its author should know about it.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The file, for other variants.
    pub document: Document,
    /// The bench.
    pub bench: Bench,
    /// Warnings and notes. No errors.
    pub warnings: Vec<Diagnostic>,
}

/// True for a message about something that this version reads but does not do; false for a mistake.
#[must_use]
pub fn is_not_built(diagnostic: &Diagnostic) -> bool {
    diagnostic.message.starts_with(NOT_BUILT)
}

/// Reads a bench: `text` is the content of `file`, as the user would name it, and `variants` are applied in order.
///
/// Every variant of the file is checked, chosen or not; what a variant that is not chosen needs and this version does
/// not do is a warning.
///
/// # Errors
///
/// Everything that is wrong with the bench, its templates and its tables, ordered by place; at least one is an error.
pub fn open(
    file: &str,
    text: impl Into<Arc<str>>,
    variants: &[Name],
    files: &mut dyn Files,
) -> Result<Opened, Vec<Diagnostic>> {
    Document::parse(file, text)?.open(variants, files)
}

impl Document {
    /// Reads the YAML of a bench.
    ///
    /// # Errors
    ///
    /// What is not YAML, and duplicate keys.
    pub fn parse(file: &str, text: impl Into<Arc<str>>) -> Result<Document, Vec<Diagnostic>> {
        let source = Source::file(file, text);
        let root = super::parse(&source.name, &source.text)?;
        Ok(Document { variants: variant::all(&root), derived: Vec::new(), source, root, builtin: false })
    }

    /// The same document, read as one of the program's own: it may name folders outside its own.
    #[must_use]
    pub(crate) fn builtin(mut self) -> Document {
        self.builtin = true;
        self
    }

    /// The same document with a variant of the program's own behind those of the file: dotted paths and the text that each
    /// gets.
    ///
    /// # Errors
    ///
    /// When a path cannot stand in YAML.
    pub fn with_variant(mut self, name: &str, changes: &[(&str, &str)]) -> Result<Document, Vec<Diagnostic>> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let lines: String =
            changes.iter().map(|(path, text)| format!("    {path}: {}\n", quoted(text))).collect();
        let root = super::parse(&name.into(), &format!("variants:\n  {}:\n{lines}", quoted(name)))?;
        self.variants.extend(variant::all(&root));
        Ok(self)
    }

    /// The variants, in the order of the file.
    #[must_use]
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Variants that are not in the file and can be applied all the same. A variant of the file wins over one of these.
    pub(crate) fn derive(&mut self, derived: Vec<Variant>) {
        self.derived = derived;
    }

    /// The variants that are not in the file.
    pub(crate) fn derived(&self) -> &[Variant] {
        &self.derived
    }

    /// The variant with this name, of the file or not.
    #[must_use]
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().chain(&self.derived).find(|variant| *variant.name == *name)
    }

    /// The file and its text.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The tree of the file, without variants.
    #[must_use]
    pub fn root(&self) -> &Arc<Node> {
        &self.root
    }

    /// The bench with some variants applied in the order given, with warnings; the other variants are not looked at.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with that bench.
    pub fn bench(
        &self,
        variants: &[Name],
        files: &mut dyn Files,
    ) -> Result<(Bench, Vec<Diagnostic>), Vec<Diagnostic>> {
        match self.decode(variants, files, &mut Checker::new()) {
            (Some(bench), problems) => Ok((bench, sorted(problems, &self.source.name))),
            (None, problems) => Err(sorted(problems, &self.source.name)),
        }
    }

    /// As [`open`], for a document that was read already.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub fn open(self, variants: &[Name], files: &mut dyn Files) -> Result<Opened, Vec<Diagnostic>> {
        // Templates are the same files in each variant: read them once.
        let mut files = Once { known: BTreeMap::new(), files };
        let mut checker = Checker::new();
        let (bench, mut problems) = self.decode(variants, &mut files, &mut checker);
        let mut add = |found: Vec<Diagnostic>, chosen: bool| {
            for mut problem in found {
                if !chosen && is_not_built(&problem) && !problems.contains(&problem) {
                    problem.severity = Severity::Warning;
                }
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        };
        if !variants.is_empty() {
            add(self.decode(&[], &mut files, &mut checker).1, true);
        }
        for variant in &self.variants {
            if variants != [variant.name.clone()] {
                add(self.decode(std::slice::from_ref(&variant.name), &mut files, &mut checker).1, false);
            }
        }
        let problems = sorted(problems, &self.source.name);
        match bench {
            Some(bench) if problems.iter().all(|p| p.severity != Severity::Error) => {
                Ok(Opened { document: self, bench, warnings: problems })
            }
            _ => Err(problems),
        }
    }

    fn decode(
        &self,
        variants: &[Name],
        files: &mut dyn Files,
        checker: &mut Checker,
    ) -> (Option<Bench>, Vec<Diagnostic>) {
        let mut root = self.root.clone();
        let mut problems =
            Problems { file: self.source.name.clone(), text: &self.source.text, list: Vec::new() };
        for name in variants {
            match self.variant(name) {
                Some(variant) => variant::apply(&mut root, variant, &mut problems),
                None => {
                    let known: Vec<&str> = self.variants.iter().map(|variant| &*variant.name).collect();
                    let mut problem = Diagnostic::error(format!("there is no variant `{name}`"));
                    problem = problem.in_file(self.source.name.clone());
                    problem.hint =
                        suggest::hint(name, known).or(Some("this bench has no variants".to_owned()));
                    problems.push(problem);
                }
            }
        }
        let told = problems.list;
        let (bench, mut list) = decode::bench(&self.source, &root, self.builtin, files, checker);
        let bench = bench.filter(|_| told.is_empty());
        list.splice(0..0, told);
        (bench, list)
    }
}

/// Errors in front of what is less, in the bench file in front of others, each by place; what is said of several lines in
/// the same words is said of the first.
fn sorted(mut problems: Vec<Diagnostic>, bench: &Name) -> Vec<Diagnostic> {
    problems.sort_by_key(|problem| {
        let other = problem.file.as_ref().filter(|file| *file != bench).cloned();
        (std::cmp::Reverse(problem.severity), other, problem.at.unwrap_or(Position::START))
    });
    told_once(problems)
}

/// One mistake often shows in several lines: whoever mends the first wants to know of the others, and not to read it again.
fn told_once(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut told: Vec<(Diagnostic, Vec<u32>)> = Vec::new();
    for problem in problems {
        let twin = told.iter_mut().find(|(first, _)| {
            (first.severity, &first.message, &first.file, &first.hint)
                == (problem.severity, &problem.message, &problem.file, &problem.hint)
        });
        match (twin, problem.at) {
            (Some((_, lines)), Some(at)) => lines.push(at.line),
            _ => told.push((problem, Vec::new())),
        }
    }
    told.into_iter()
        .map(|(mut problem, mut lines)| {
            lines.retain(|line| problem.at.is_none_or(|at| at.line != *line));
            lines.dedup();
            if !lines.is_empty() {
                let word = if lines.len() == 1 { "line" } else { "lines" };
                let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
                let also = format!("the same in {word} {}", lines.join(", "));
                problem.hint = Some(match problem.hint {
                    Some(hint) => format!("{hint} ({also})"),
                    None => also,
                });
            }
            problem
        })
        .collect()
}

/// Files that are read once each.
struct Once<'a> {
    known: BTreeMap<FilePath, Found>,
    files: &'a mut dyn Files,
}

impl Files for Once<'_> {
    fn read(&mut self, path: &FilePath) -> Found {
        self.known.entry(path.clone()).or_insert_with(|| self.files.read(path)).clone()
    }

    fn near(&self, path: &FilePath) -> Option<String> {
        self.files.near(path)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::bench::{LayerSource, Template};
    use crate::core::fact::Value;

    const BENCHES: &[&str] = &[
        include_str!("../../../samples/xbot/bench.yaml"),
        include_str!("../../../tests/it/sketches/xbot.yaml"),
        include_str!("../../../tests/it/sketches/netaclaw.yaml"),
        include_str!("../../../tests/it/sketches/wegent.yaml"),
        include_str!("../../../tests/it/sketches/omx.yaml"),
        include_str!("../../../tests/it/sketches/mao.yaml"),
    ];

    /// Some file for every name.
    fn some(path: &FilePath) -> Found {
        let text = match path.path.rsplit('.').next() {
            Some("yaml") => "- { match: [a, b], template: row.md }\n- { match: c, text: x }\n",
            Some("json") => "{ \"Cd\": {} }",
            _ => "{{ cwd }} {{ item.name }}\n",
        };
        Found::Value(Value::text(text))
    }

    fn small(layers: &str) -> String {
        format!(
            "bench: 1\nname: small\nmodel: a:b\nfacts: {{ sender: alice, other: x }}\n\
             places: {{ system: {{ of: system }}, block: {{ of: block }}, user: {{ of: current_user }} }}\n\
             tools: [ {{ names: [Cd] }} ]\n{layers}"
        )
    }

    fn bench(text: &str, variants: &[&str]) -> Bench {
        let variants: Vec<Name> = variants.iter().map(|name| (*name).into()).collect();
        match open("bench.yaml", text, &variants, &mut some) {
            Ok(opened) => opened.bench,
            Err(problems) => panic!("{}", problems[0]),
        }
    }

    fn problems(text: &str) -> Vec<String> {
        let found = match open("bench.yaml", text, &[], &mut some) {
            Ok(opened) => opened.warnings,
            Err(problems) => problems,
        };
        found.iter().map(|p| format!("{} {}", p.at.unwrap_or(Position::START), p.message)).collect()
    }

    #[test]
    fn variants_are_applied_in_the_order_given() {
        let text = small(
            "layers:\n  - { id: a, in: system, from: { text: x }, refresh: { change: [cwd], since: built } }\n\
             variants:\n  first: { layers.a.refresh.since: first, facts.sender: bob }\n  \
             empty: { layers.a.refresh.since: empty_is_unset }\n  \
             call: { layers.a.refresh: call, layers.a.keep.persist: strip, layers.0.title: A }\n",
        );
        let since = |variants: &[&str]| format!("{:?}", bench(&text, variants).layers[0].refresh);
        assert!(since(&[]).contains("Built"));
        assert!(since(&["first"]).contains("First"));
        assert!(since(&["first", "empty"]).contains("EmptyIsUnset"));
        assert!(since(&["empty", "first"]).contains("First"));
        assert_eq!(bench(&text, &["first"]).facts["sender"], Value::text("bob"));
        assert_eq!(bench(&text, &["call"]).layers[0].title.as_deref(), Some("A"));
        // After `call`, there is no `since` to change any more.
        let both = open("bench.yaml", text, &["call".into(), "first".into()], &mut some).expect_err("no map");
        assert!(both[0].message.contains("`layers.a.refresh` is the text `call`"), "{}", both[0].message);
    }

    #[test]
    fn what_a_variant_needs_that_is_not_built_is_a_warning_until_it_is_chosen() {
        let text = small(
            "layers:\n  - { id: a, in: system, from: { text: x } }\nread: { notes: { file: a.md } }\n\
             variants: { small: { read.notes.fresh: 3 } }\n",
        );
        let opened = open("bench.yaml", text.as_str(), &[], &mut some).expect("the bench itself is right");
        assert_eq!(opened.warnings[0].message, "not built yet: `fresh` in a read");
        assert_eq!(opened.warnings[0].severity, Severity::Warning);
        let chosen = open("bench.yaml", text, &["small".into()], &mut some).expect_err("not built");
        assert!(is_not_built(&chosen[0]) && chosen[0].severity == Severity::Error);
    }

    #[test]
    fn inline_texts_know_their_place_in_the_bench() {
        let text =
            small("layers:\n  - id: a\n    in: system\n    from:\n      text: \"one\\n{{ sender }}\"\n");
        let LayerSource::Template(Template::Inline(source)) = &bench(&text, &[]).layers[0].from else {
            panic!("not inline")
        };
        assert_eq!(source.position(source.text.find("sender").expect("it is there")).to_string(), "11:22");
    }

    #[test]
    fn blocks_must_be_taken_in_and_not_by_themselves() {
        let of = |layers: &str| problems(&small(&format!("layers:\n{layers}")));
        assert_eq!(
            of("  - { id: a, in: block, from: { text: x } }\n"),
            ["5:35 the block `block` stands nowhere"]
        );
        assert_eq!(
            of("  - { id: a, in: system, from: { place: user } }\n"),
            ["8:11 the layer `a` takes in a place that is not a block"]
        );
        assert!(
            of("  - { id: a, in: block, from: { text: x } }\n  - { id: b, in: system, from: { place: block } }\n")
                .is_empty()
        );
    }

    #[test]
    fn layers_can_be_blocks_of_their_own() {
        let places = |more: &str| {
            let text = small("layers: []\n");
            text.replace("places: {", &format!("places: {{ {more},"))
        };
        let text = places("own: { of: message, role: developer, join: blocks }");
        let own = &bench(&text, &[]).places["own"];
        assert!(own.blocks && own.join.is_empty() && own.role == crate::core::bench::Role::Developer);
        let problems =
            open("bench.yaml", places("own: { of: message, join: blocks, wrap: [a, b] }"), &[], &mut some)
                .expect_err("a mistake");
        assert_eq!(problems[0].message, "`wrap` does not go with `join: blocks`");
        let problems = open("bench.yaml", places("inner: { of: block, join: blocks }"), &[], &mut some)
            .expect_err("a mistake");
        assert_eq!(problems[0].message, "a block inside another place cannot hold blocks");
    }

    #[test]
    fn sub_agents_become_a_start_their_lines_and_an_end() {
        use crate::core::run::Input;
        let text = small(
            "layers: []\nruns:\n  r:\n    - user: Go.\n    - agent: { role: helper, goal: Look., run: [ { call: [ { Cd: \
             { path: x } } ] }, { say: Done. } ] }\n    - say: Good.\n",
        );
        let run = &bench(&text, &[]).runs["r"];
        let kinds: Vec<&str> = run
            .iter()
            .map(|line| match line.input {
                Input::User(_) => "user",
                Input::StartAgent { .. } => "start",
                Input::Call { .. } => "call",
                Input::Say(_) => "say",
                Input::EndAgent => "end",
                _ => "other",
            })
            .collect();
        assert_eq!(kinds, ["user", "start", "call", "say", "end", "say"]);
    }

    fn mutated(text: &str, changes: &[(prop::sample::Index, usize, String)]) -> String {
        let mut text: Vec<char> = text.chars().collect();
        for (at, remove, insert) in changes {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            let end = (at + remove).min(text.len());
            text.splice(at..end, insert.chars());
        }
        text.into_iter().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn no_bench_makes_the_reader_panic(
            index in 0..BENCHES.len(),
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), 0usize..12, "[ a-z0-9:,{}\\[\\]\"'|>&*!#%@\\\\\n\t.~{}你🙂-]{0,6}"),
                1..5,
            ),
            missing in any::<bool>(),
        ) {
            let text = mutated(BENCHES[index], &changes);
            let mut files = |path: &FilePath| if missing { Found::Absent } else { some(path) };
            if let Err(problems) = open("bench.yaml", text.as_str(), &[], &mut files) {
                prop_assert!(problems.iter().any(|p| p.severity == Severity::Error));
                let lines = text.lines().count() as u32;
                for problem in problems.iter().filter(|p| p.file.as_deref() == Some("bench.yaml")) {
                    let shown = problem.to_string();
                    prop_assert!(problem.at.is_none_or(|at| at.line <= lines + 1), "{}", shown);
                }
            }
        }
    }
}
