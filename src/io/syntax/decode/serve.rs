//! `serve:`.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::core::bench::{Absent, Preview, ReportIn, Serve};
use crate::core::fact::Name;

use super::super::node::Node;
use super::super::template::Scope;
use super::{Decoder, text, word};

impl Decoder<'_> {
    pub(super) fn serve(&mut self, node: Option<&Arc<Node>>) -> Serve {
        let Some(node) = node else { return Serve::default() };
        let reports = node.get("report").map(|list| list.items()).unwrap_or_default();
        Serve {
            report: reports.iter().filter_map(|report| self.report_in(report)).collect(),
            absent: if word(node, "absent") == Some("keep") { Absent::Keep } else { Absent::Clear },
            preview: node.get("preview").map(|preview| self.preview(preview)),
        }
    }

    fn report_in(&mut self, node: &Node) -> Option<ReportIn> {
        let field = node.get("field")?;
        let path: Vec<Name> = field.as_text()?.split('.').map(Name::from).collect();
        let last = path.last()?;
        if path.iter().any(|name| name.is_empty()) {
            let hint = "names with dots between them: `data.rules`".to_owned();
            self.problems.error(field.at, format!("`{}` is not a path of fields", field.text), hint);
            return None;
        }
        if !self.reported_fields.contains(last) {
            let hint = Decoder::hint(last, &self.reported_fields)
                .unwrap_or_else(|| format!("a read takes it: `read: {{ rules: {{ reported: {last} }} }}`"));
            self.problems.error(field.at, format!("no read has `reported: {last}`"), hint);
            return None;
        }
        Some(ReportIn { on: text(node, "on")?, path: path.into() })
    }

    fn preview(&mut self, node: &Node) -> Preview {
        let mut seen = BTreeSet::new();
        let mut paths = Vec::new();
        for path in node.get("paths").map(|paths| paths.items()).unwrap_or_default() {
            let Some(text) = path.as_text() else { continue };
            if !is_path(text) {
                let hint = "such as `/preview` or `/admin/{name}/preview`".to_owned();
                self.problems.error(path.at, format!("`{text}` cannot be the path of an endpoint"), hint);
            } else if !seen.insert(text.clone()) {
                self.problems.error(path.at, format!("the path `{text}` is named twice"), None);
            } else {
                paths.push(text.clone());
            }
        }
        let mut facts = IndexMap::new();
        for entry in node.get("facts").map(|facts| facts.entries()).unwrap_or_default() {
            if self.settable(&entry.key, entry.at)
                && let Some(value) = self.condition(&entry.value, Scope::Body)
            {
                facts.insert(entry.key.clone(), value);
            }
        }
        let model = node.get("model").and_then(|model| self.condition(model, Scope::Body));
        Preview { paths, facts, model }
    }
}

/// True for `/a/{b}/c`: what a request's path is compared with, segment by segment.
fn is_path(text: &str) -> bool {
    let word = |segment: &str| {
        !segment.is_empty()
            && segment.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~'))
    };
    let segment = |segment: &str| {
        let inner = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        word(inner.unwrap_or(segment))
    };
    text != "/ws" && text.strip_prefix('/').is_some_and(|rest| rest.split('/').all(segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_and_braces() {
        for path in ["/a", "/previewPrompt", "/admin/{name}/agent/preview-prompt", "/{x}"] {
            assert!(is_path(path), "{path}");
        }
        for path in ["", "/", "a", "/ws", "/a/", "//a", "/a b", "/{", "/{}", "/a{b}", "/a?b", "/a/{b"] {
            assert!(!is_path(path), "{path}");
        }
    }
}
