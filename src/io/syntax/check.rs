//! A template file checked by itself, as the bench that names it would check it.

use std::ops::Range;
use std::sync::Arc;

use super::shape::Problems;
use super::template::{Checker, Names, Scope};
use crate::core::bench::{Bench, LayerSource, OnError, Template};
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::diff::differing;
use crate::core::fact::FilePath;
use crate::core::text::Source;

/// True for a file that some layer of the bench has as its template.
#[must_use]
pub fn is_template(bench: &Bench, file: &FilePath) -> bool {
    !scopes(bench, file).is_empty()
}

/// What the templates in a file are for.
fn scopes(bench: &Bench, file: &FilePath) -> Vec<Scope> {
    let is = |template: &Template| matches!(template, Template::File(path, _) if path == file);
    let mut scopes: Vec<Scope> = Vec::new();
    for layer in &bench.layers {
        let (template, frame) = match &layer.from {
            LayerSource::Template(template) => (Some((template, Scope::Layer)), None),
            LayerSource::Each { item, frame, .. } => {
                (Some((item, Scope::Item)), frame.as_ref().map(|frame| (frame, Scope::EachFrame)))
            }
            LayerSource::Lines { frame, .. } => {
                (None, frame.as_ref().map(|frame| (frame, Scope::LinesFrame)))
            }
            _ => (None, None),
        };
        let instead = match &layer.on_error {
            OnError::Use(template) => Some((template, Scope::Layer)),
            OnError::Skip | OnError::Stop => None,
        };
        for (template, scope) in template.into_iter().chain(frame).chain(instead) {
            if is(template) && !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
    }
    scopes
}

/// What is wrong with a template file that would hold this text; none for a file that no layer of the bench has as its
/// template. Where the answer is an empty list, the bench is right with it if it was right before.
#[must_use]
pub fn template_errors(bench: &Bench, file: &FilePath, text: &Arc<str>) -> Option<Vec<Diagnostic>> {
    let scopes = scopes(bench, file);
    if scopes.is_empty() {
        return None;
    }
    let mut checker = Checker::new();
    let values = bench.facts.keys().chain(bench.reads.keys()).cloned().collect();
    checker.set_names(Names { values, agent: bench.agent.keys().cloned().collect() });
    let source = Source::file(file.to_string(), text.clone());
    let mut problems =
        Problems { file: bench.source.name.clone(), text: &bench.source.text, list: Vec::new() };
    for scope in scopes {
        checker.template(&source, scope, &mut problems);
    }
    problems.list.retain(|problem| problem.severity == Severity::Error);
    Some(problems.list)
}

/// True when two templates differ in plain text alone, so that one is right if the other is: what differs stands in no tag
/// and begins or ends none.
#[must_use]
pub fn only_text_differs(old: &str, new: &str) -> bool {
    let (a, b) = differing(old, new);
    // Every mark of a tag has a brace. One beside what differs could make a tag with it.
    let tag = |c: char| matches!(c, '{' | '}');
    let around = |text: &str, range: &Range<usize>| {
        let before = text[..range.start].chars().next_back();
        let behind = text[range.end..].chars().next();
        before.into_iter().chain(text[range.clone()].chars()).chain(behind).any(tag)
    };
    if around(old, &a) || around(new, &b) {
        return false;
    }
    !ends_in_tag(&old.as_bytes()[..a.start])
}

/// True where the last mark of a tag in a text opens one. Found from the end, in blocks: a text may be long and its tags
/// few.
fn ends_in_tag(text: &[u8]) -> bool {
    const BLOCK: usize = 512;
    let mut end = text.len();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        // A mark that begins in the block may end one byte behind it.
        let block = &text[start..(end + 1).min(text.len())];
        if block.iter().fold(false, |found, byte| found | (*byte == b'{') | (*byte == b'}')) {
            for mark in block.windows(2).rev() {
                match mark {
                    [b'{', b'{' | b'%' | b'#'] => return true,
                    [b'}' | b'%' | b'#', b'}'] => return false,
                    _ => {}
                }
            }
        }
        end = start;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::open;
    use super::*;
    use crate::core::fact::{Base, FileText, Found, Value};

    const BENCH: &str = "bench: 1\nname: small\nmodel: a:b\nworkspace: { path: . }\nfacts: { list: [1], mood: calm }\nagent: { team: x }\nplaces: { s: { of: system } }\nlayers:\n  - { id: a, in: s, from: { template: a.md } }\n  - { id: b, in: s, from: { each: list, item: item.md, frame: frame.md } }\n  - { id: c, in: s, from: { text: hi }, on_error: { use: a.md } }\n";

    fn holds(path: &FilePath, text: &str) -> Found {
        Found::Value(Value::File(Arc::new(FileText::whole(path.clone(), text))))
    }

    /// What decoding the whole bench says, with `file` holding `text`.
    fn whole(file: &str, text: &str) -> Vec<String> {
        let mut files = |path: &FilePath| holds(path, if &*path.path == file { text } else { "" });
        match open("bench.yaml", BENCH, &[], &mut files) {
            Ok(_) => Vec::new(),
            Err(problems) => {
                problems.iter().filter(|p| p.severity == Severity::Error).map(ToString::to_string).collect()
            }
        }
    }

    #[test]
    fn text_outside_of_tags_changes_nothing_for_a_template() {
        for (old, new, same) in [
            ("a {{ x }} b", "a {{ x }} bc", true),
            ("a {{ x }} b", "ac {{ x }} b", true),
            ("a b", "a 你 b", true),
            ("a {{ x }} b", "a {{ xy }} b", false),
            ("a {# x #} b", "a {# y #} b", false),
            ("a { b", "a {{ b", false),
            ("a {b", "a b", false),
            ("a {% if x %} b", "a {% if x % b", false),
            ("a", "a", true),
            ("{{ x }}\n# a", "{{ x }}\n## a 5 %", true),
            ("a #", "a #}", false),
            ("a #} b", "a # b", false),
            ("a {x", "a {%x", false),
            ("a %}", "a }", false),
        ] {
            assert_eq!(only_text_differs(old, new), same, "{old} | {new}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_last_mark_decides(text in "[{}%#a]{0,6}", far in 0usize..1200) {
            let text = format!("{text}{}", "b".repeat(far));
            let last = |marks: [&str; 3]| marks.iter().filter_map(|mark| text.rfind(mark)).max();
            let opens = last(["{{", "{%", "{#"]) > last(["}}", "%}", "#}"]);
            proptest::prop_assert_eq!(ends_in_tag(text.as_bytes()), opens, "{}", text);
        }
    }

    #[test]
    fn a_template_alone_is_judged_as_with_its_bench() {
        let mut files = |path: &FilePath| holds(path, "");
        let bench = open("bench.yaml", BENCH, &[], &mut files).unwrap_or_else(|p| panic!("{}", p[0])).bench;
        for file in ["a.md", "item.md", "frame.md"] {
            for text in [
                "",
                "{{ mood }} {{ agent.team }}",
                "{{ item }}",
                "{{ items }}",
                "{{ mod }}",
                "{{",
                "{% if x %}",
                "{{ agent.nobody }}",
                "{{ cwd | nothing }}",
            ] {
                let alone = template_errors(&bench, &FilePath::new(Base::Bench, file), &text.into());
                let alone: Vec<String> = alone.expect("a template").iter().map(ToString::to_string).collect();
                assert_eq!(alone, whole(file, text), "{file}: {text}");
            }
        }
        assert_eq!(template_errors(&bench, &FilePath::new(Base::Bench, "bench.yaml"), &"".into()), None);
        assert_eq!(template_errors(&bench, &FilePath::new(Base::Workspace, "a.md"), &"".into()), None);
    }
}
