//! The part of a long template that has to be rendered.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Failure;
use super::context::Context;
use super::environment::Templates;
use super::render::{self, Job, Rendered};
use crate::core::fact::Reads;
use crate::core::text::{Made, Source, Traced};

/// Shorter templates are always rendered whole.
const LONG: usize = 1024;

/// The part of a long template in which all of its tags are, with a line of text around them. What stands in front of it
/// and behind it is copied as it is, so it need not be compiled and rendered: a template may be a megabyte of rules with
/// one name in it, and is composed anew at every key that is typed in it.
pub(super) struct Middle {
    /// Empty where there are no tags.
    range: Range<usize>,
}

impl Middle {
    /// None where it is not worth it, or where what is a tag cannot be told here.
    pub(super) fn of(source: &Source) -> Option<Middle> {
        let text = &*source.text;
        if text.len() < LONG {
            return None;
        }
        let Some(open) = first_mark(text.as_bytes(), 0) else {
            return Some(Middle { range: 0..0 });
        };
        let close = last_close(text.as_bytes())?;
        if close <= open || first_mark(text.as_bytes(), close).is_some() {
            return None;
        }
        // A tag may take the white space beside it away, so there is more than white space at both ends.
        let before = text[..open].trim_end();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let behind = text[close..].trim_start();
        let line = text.len() - behind.len();
        let end = text[line..].find('\n').map_or(text.len(), |at| line + at + 1);
        let range = start..end;
        (range.len() < text.len() / 2 && !text[range.clone()].contains("debug")).then_some(Middle { range })
    }

    /// Renders it with what stands around it. None where that cannot be done, or where it goes wrong: errors are told of
    /// the whole template.
    pub(super) fn render(
        &self,
        job: &Job<'_>,
        templates: &mut Templates,
        reads: &mut Reads,
    ) -> Result<Option<Traced>, Failure> {
        let Job { part, source, facts, extra, cause, .. } = *job;
        let Range { start, end } = self.range;
        if self.range.is_empty() {
            let made = Made::Verbatim { source: source.clone(), at: 0 };
            return Ok(Some(Traced::whole(part.clone(), source.text.clone(), made, cause)));
        }
        let middle = Source::file(format!("{}\0middle", source.name), &source.text[start..end]);
        let Ok(compiled) = templates.compile(&middle) else { return Ok(None) };
        let names: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
        let context = Context::new(names.iter().map(String::as_str), facts, extra).map_err(Failure::Needs)?;
        let Ok((text, spans)) = compiled.render_with_spans(context.value()) else { return Ok(None) };
        let mut spans: Vec<Rendered> = spans.iter().map(Rendered::of).collect();
        // Copied text at both ends goes on into what stands there.
        let at_start = |span: &Rendered| span.raw && (span.output.start, span.source.start) == (0, 0);
        let at_end = |span: &Rendered| {
            let len = span.output.len();
            span.raw && span.output.end == text.len() && span.source.start + len == end - start
        };
        if !spans.first().is_some_and(at_start) || !spans.last().is_some_and(at_end) {
            return Ok(None);
        }
        context.note(facts, true, reads);
        let (head, tail) = (&source.text[..start], &source.text[end..]);
        for span in &mut spans {
            span.output = span.output.start + start..span.output.end + start;
            span.source = span.source.start + start..span.source.end + start;
        }
        if let Some(first) = spans.first_mut() {
            (first.output.start, first.source.start) = (0, 0);
        }
        if let Some(last) = spans.last_mut() {
            (last.output.end, last.source.end) = (last.output.end + tail.len(), source.text.len());
        }
        let mut whole = String::with_capacity(head.len() + text.len() + tail.len());
        whole.extend([head, &*text, tail]);
        Ok(Some(render::trace(job, whole.into(), &spans)))
    }
}

/// Where, from a byte on, a tag or comment opens.
fn first_mark(text: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 512;
    let mut at = from;
    while at < text.len() {
        let end = (at + BLOCK).min(text.len());
        if text[at..end].iter().fold(false, |found, byte| found | (*byte == b'{')) {
            let found = (at..end)
                .find(|&at| text[at] == b'{' && matches!(text.get(at + 1), Some(b'{' | b'%' | b'#')));
            if found.is_some() {
                return found;
            }
        }
        at = end;
    }
    None
}

/// The byte behind the last mark that closes a tag or a comment.
fn last_close(text: &[u8]) -> Option<usize> {
    const BLOCK: usize = 512;
    let mut end = text.len();
    while end > 1 {
        let start = end.saturating_sub(BLOCK).max(1);
        if text[start..end].iter().fold(false, |found, byte| found | (*byte == b'}')) {
            let closes = |&at: &usize| text[at] == b'}' && matches!(text[at - 1], b'}' | b'%' | b'#');
            if let Some(at) = (start..end).rev().find(closes) {
                return Some(at + 1);
            }
        }
        end = if start == 1 { 0 } else { start };
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::context::Facts;
    use super::*;
    use crate::core::fact::{EventId, FactKey, Lookup, Value};

    /// Knows a mood and nothing else.
    struct Mood;

    impl Facts for Mood {
        fn look(&self, key: &FactKey) -> Lookup {
            match key {
                FactKey::Named(name) if &**name == "mood" => {
                    let value = Value::text("calm\n");
                    Lookup::Ready(value.clone(), value.rev(), EventId(7))
                }
                _ => Lookup::Absent(EventId(0)),
            }
        }

        fn behind(&self, key: &FactKey) -> FactKey {
            key.clone()
        }

        fn sources(&self, _: &str) -> Option<&Reads> {
            None
        }
    }

    /// Renders both ways; says whether the short one was possible.
    fn both(text: &str) -> bool {
        let source = Source::file("a.md", text);
        let part = "a".into();
        let job =
            Job { part: &part, source: &source, facts: &Mood, extra: &[], insert: None, cause: EventId(3) };
        let mut templates = Templates::default();
        let mut reads = [Reads::default(), Reads::default()];
        let whole = render::whole(&job, &mut templates, &mut reads[0]);
        let middle = Middle::of(&source).map(|middle| middle.render(&job, &mut templates, &mut reads[1]));
        match (whole, middle) {
            (Ok(whole), Some(Ok(Some(short)))) => {
                assert_eq!(short, whole);
                assert_eq!(reads[0], reads[1]);
                true
            }
            (Err(_), Some(Ok(Some(short)))) => panic!("it went wrong, but not here: {:?}", short.text()),
            _ => false,
        }
    }

    #[test]
    fn the_usual_long_template_is_rendered_in_its_middle() {
        let rules = "- A rule of the house.\n".repeat(600);
        assert!(both(&rules));
        assert!(both(&format!("# Rules\n\nBe {{{{ mood }}}}.\n{rules}")));
        assert!(both(&format!("{rules}Be {{{{- mood -}}}}  \n\n{rules}")));
        assert!(both(&format!("{rules}{{% if mood %}}yes{{% endif %}} {{# no #}}\n{rules}")));
        assert!(!both(&format!("{{{{ mood }}}}{rules}{{{{ mood }}}}")), "all of it is the middle");
        assert!(!both(&format!("{rules}{{{{ nobody }}}} {rules}")), "errors are told of the whole");
        assert!(!both(&format!("{rules}{{{{ mood }} {rules}")));
    }

    proptest! {
        /// Whatever stands around and between tags: the text, who wrote it, and what was read are the same.
        #[test]
        fn the_middle_makes_the_whole(
            head in "( |\\n|a|你|\\}\\}|#\\}){0,9}", tail in "( |\\n|a|你|\\}\\}|%\\}){0,9}",
            tags in prop::collection::vec(prop::sample::select(vec![
                "{{ mood }}", "{{- mood -}}", "{{ mood | trim }}", "{% if mood %}", "{%- if not mood -%}", "{% endif %}",
                "{%- endif -%}", "{# {{ #}", "{% raw %}", "{% endraw %}", " ", "\n", "  \n\n", "b", "}}", "{{ nobody }}", "{{",
            ]), 0..7),
            before in any::<bool>(), after in any::<bool>(),
        ) {
            let long = |there: bool| if there { "- A rule, and 好.\n".repeat(600) } else { String::new() };
            both(&format!("{}{head}{}{tail}{}", long(before), tags.concat(), long(after)));
        }
    }
}
