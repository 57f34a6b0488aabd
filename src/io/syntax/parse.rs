//! YAML text to a tree of nodes. Only the events of the YAML library are used: its own deserialiser stops at the first
//! mistake, while a bench is to be told all of its duplicate keys at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_yaml::granit_parser::{Event, Parser, ScalarStyle, Span, options};

use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;

use super::node::{Entry, Kind, Node, Style};
use super::yaml_error;

/// The most nodes of a file, counting what an alias stands for: a guard against files that explode.
const MAX_NODES: usize = 200_000;

/// Reads `text`, the content of `file`, as one YAML document. An empty document is a null node.
///
/// # Errors
///
/// Everything that is not YAML, and duplicate keys: all of them.
pub fn parse(file: &Name, text: &str) -> Result<Arc<Node>, Vec<Diagnostic>> {
    let mut builder = Builder {
        file,
        text,
        lines: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect(),
        anchors: BTreeMap::new(),
        stack: Vec::new(),
        root: None,
        problems: Vec::new(),
        documents: 0,
        count: 0,
    };
    let options = options! { emit_comments: false, flow_nesting_limit: 100, block_nesting_limit: 100 };
    for next in Parser::new_from_str_with_options(text, options) {
        let goes_on = match next {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => {
                builder.problems.push(yaml_error::diagnostic(&error, file, text));
                false
            }
        };
        if !goes_on {
            break;
        }
    }
    if builder.problems.is_empty() {
        Ok(builder.root.unwrap_or_else(|| {
            Arc::new(Node {
                kind: Kind::Null,
                at: Position::START,
                byte: 0,
                text: "".into(),
                style: Style::Plain,
            })
        }))
    } else {
        Err(builder.problems)
    }
}

/// A sequence or map whose end has not come yet.
struct Open {
    node: Node,
    anchor: usize,
    /// In a map, the key whose value comes next.
    key: Option<(Name, Position)>,
    /// The number of nodes before it.
    before: usize,
}

struct Builder<'a> {
    file: &'a Name,
    text: &'a str,
    lines: Vec<usize>,
    anchors: BTreeMap<usize, (Arc<Node>, usize)>,
    stack: Vec<Open>,
    root: Option<Arc<Node>>,
    problems: Vec<Diagnostic>,
    documents: usize,
    count: usize,
}

impl Builder<'_> {
    fn position(&self, byte: usize) -> Position {
        let line = self.lines.partition_point(|&start| start <= byte);
        let start = self.lines[line - 1];
        let before = self.text.get(start..byte).unwrap_or("");
        Position { line: line as u32, column: before.chars().count() as u32 + 1 }
    }

    fn problem(&mut self, at: Position, message: impl Into<String>, hint: impl Into<String>) {
        let problem = Diagnostic::error(message).at(self.file.clone(), self.text, at);
        self.problems.push(problem.hint(hint));
    }

    /// Takes one event; false to stop reading.
    fn event(&mut self, event: Event<'_>, span: Span) -> bool {
        let byte = span.start.byte_offset().unwrap_or(0).min(self.text.len());
        let at = self.position(byte);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.problem(
                        at,
                        "a second YAML document starts here",
                        "keep one document in a file; remove the line `---`",
                    );
                    return false;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::SingleQuoted => Style::Single,
                    ScalarStyle::DoubleQuoted => Style::Double,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                    _ => Style::Plain,
                };
                let mut kind = if style == Style::Plain { plain_kind(&text) } else { Kind::Text };
                match tag {
                    Some(tag) if tag.is_yaml_core_schema_tag("str") => kind = Kind::Text,
                    Some(tag) => self.tag(at, &tag.original()),
                    None => {}
                }
                let node = Node { kind, at, byte, text: text.as_ref().into(), style };
                return self.add(Arc::new(node), anchor, 1);
            }
            Event::SequenceStart(_, anchor, tag) => {
                if let Some(tag) = tag {
                    self.tag(at, &tag.original());
                }
                self.open(Kind::Seq(Vec::new()), at, byte, anchor);
            }
            Event::MappingStart(_, anchor, tag) => {
                if let Some(tag) = tag {
                    self.tag(at, &tag.original());
                }
                self.open(Kind::Map(Vec::new()), at, byte, anchor);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.stack.pop() {
                    let size = self.count - open.before + 1;
                    self.count = open.before;
                    return self.add(Arc::new(open.node), open.anchor, size);
                }
            }
            Event::Alias(id) => match self.anchors.get(&id).cloned() {
                Some((node, size)) => return self.add(node, 0, size),
                None => {
                    self.problem(
                        at,
                        "this alias stands inside what it refers to",
                        "an anchor can be used once it is complete",
                    );
                    return false;
                }
            },
            _ => {}
        }
        true
    }

    fn tag(&mut self, at: Position, tag: &str) {
        self.problem(
            at,
            format!("the tag `{tag}` is not used in these files"),
            "remove it; quotes make a text of anything",
        );
    }

    fn open(&mut self, kind: Kind, at: Position, byte: usize, anchor: usize) {
        let node = Node { kind, at, byte, text: "".into(), style: Style::Plain };
        self.stack.push(Open { node, anchor, key: None, before: self.count });
    }

    fn add(&mut self, node: Arc<Node>, anchor: usize, size: usize) -> bool {
        self.count += size;
        if self.count > MAX_NODES {
            self.problem(
                node.at,
                format!("this file holds more than {MAX_NODES} values"),
                "aliases count as what they stand for",
            );
            return false;
        }
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.stack.last_mut() else {
            self.root = Some(node);
            return true;
        };
        match (&mut open.node.kind, open.key.take()) {
            (Kind::Seq(items), _) => items.push(node),
            (Kind::Map(entries), Some((key, at))) => {
                let first = entries.iter().find(|entry| entry.key == key).map(|entry| entry.at);
                match first {
                    None => entries.push(Entry { key, at, value: node }),
                    Some(first) => self.problem(
                        at,
                        format!("the key `{key}` is given twice in this map"),
                        format!("it is first given in line {}; keep one of the two", first.line),
                    ),
                }
            }
            (Kind::Map(_), None) if node.is_scalar() => {
                if &*node.text == "<<" && node.style == Style::Plain {
                    let at = node.at;
                    open.key = Some((node.text.clone(), at));
                    self.problem(
                        at,
                        "merge keys (`<<`) are not used in these files",
                        "write the entries out, or use an alias for a whole value",
                    );
                } else {
                    open.key = Some((node.text.clone(), node.at));
                }
            }
            (Kind::Map(_), None) => {
                open.key = Some(("".into(), node.at));
                self.problem(
                    node.at,
                    format!("{} cannot be a key", node.describe()),
                    "a text that starts with `{` or `[` needs quotes",
                );
            }
            _ => {}
        }
        true
    }
}

/// What a scalar without quotes is, by the core schema of YAML 1.2.
pub(crate) fn plain_kind(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Kind::Text;
    }
    let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
    if let Some(n) =
        text.strip_prefix("0x").filter(|rest| !rest.starts_with(['-', '+'])).and_then(|d| radix(d, 16))
    {
        return Kind::Int(n);
    }
    if let Some(n) =
        text.strip_prefix("0o").filter(|rest| !rest.starts_with(['-', '+'])).and_then(|d| radix(d, 8))
    {
        return Kind::Int(n);
    }
    if unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().map_or_else(|_| text.parse().map_or(Kind::Text, Kind::Float), Kind::Int);
    }
    let number =
        unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'));
    match text.parse::<f64>() {
        Ok(n) if number && n.is_finite() => Kind::Float(n),
        _ => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(text: &str) -> Arc<Node> {
        parse(&"b.yaml".into(), text).unwrap_or_else(|problems| panic!("{}", problems[0]))
    }

    fn problems(text: &str) -> Vec<String> {
        let found = parse(&"b.yaml".into(), text).expect_err("this is broken");
        found.iter().map(|p| format!("{} {}", p.at.expect("a place"), p.message)).collect()
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        let shown = |text: &str| format!("{:?}", tree(text).kind);
        for (text, kind) in [
            ("12", "Int(12)"),
            ("-3", "Int(-3)"),
            ("0x1f", "Int(31)"),
            ("1.5", "Float(1.5)"),
            ("1e3", "Float(1000.0)"),
            ("true", "Bool(true)"),
            ("yes", "Text"),
            ("~", "Null"),
            ("", "Null"),
            ("2026-01-01", "Text"),
            ("1.2.3", "Text"),
            (".inf", "Text"),
            ("'12'", "Text"),
            ("!!str 12", "Text"),
            ("90s", "Text"),
        ] {
            assert_eq!(shown(text), kind, "{text}");
        }
    }

    #[test]
    fn keys_and_values_know_their_place() {
        let root = tree("a: 你好\nb: { 键: [x, \"y\"] }\n");
        let b = root.entry("b").expect("b");
        assert_eq!((b.at.line, b.at.column), (2, 1));
        let key = b.value.entry("键").expect("键");
        assert_eq!((key.at.line, key.at.column), (2, 6));
        assert_eq!((key.value.items()[1].at.line, key.value.items()[1].at.column), (2, 13));
    }

    #[test]
    fn all_duplicate_keys_are_told() {
        assert_eq!(
            problems("a: 1\nb: { c: 1, c: 2 }\na: 2\n"),
            ["2:12 the key `c` is given twice in this map", "3:1 the key `a` is given twice in this map"]
        );
    }

    #[test]
    fn aliases_stand_for_their_value_and_cannot_explode() {
        let root = tree("a: &x [1, 2]\nb: *x\n");
        assert_eq!(root.get("a"), root.get("b"));
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..9 {
            let last = n - 1;
            bomb += &format!(
                "a{n}: &a{n} [*a{last}, *a{last}, *a{last}, *a{last}, *a{last}, *a{last}, *a{last}]\n"
            );
        }
        assert!(problems(&bomb)[0].contains("more than"), "{:?}", problems(&bomb));
    }

    #[test]
    fn every_byte_of_a_scalar_knows_its_place() {
        let text = concat!(
            "plain: ab cd\n  ef\n",
            "single: 'it''s\n  x'\n",
            "double: \"\\n## Head\\tA\\\n   tail \\u4f60 {{ x }}\"\n",
            "literal: |\n    one\n      two\n\n    three\n",
            "folded: >-\n  one\n  two\n\n  three\n",
            "blank: |2\n\n    one\n",
        );
        let root = tree(text);
        let line = |at: Position| text.lines().nth(at.line as usize - 1).expect("line");
        for entry in root.entries() {
            let source = entry.value.source(&"b.yaml".into(), text);
            for (offset, c) in source.text.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()) {
                let at = source.position(offset);
                let there = line(at).chars().nth(at.column as usize - 1);
                assert_eq!(there, Some(c), "{} of {} is said to stand at {at}", offset, entry.key);
            }
        }
        let double = root.get("double").expect("double").source(&"b.yaml".into(), text);
        let x = double.text.find("{{").expect("braces");
        assert_eq!(double.position(x), Position { line: 6, column: 16 });
    }

    #[test]
    fn libraries_errors_are_told_in_our_words() {
        for (text, told) in [
            ("a: 1\n  b: 2\n", "2:4 this line is indented deeper than the map it belongs to"),
            ("a:\n  b: 1\n c: 2\n", "3:2 this line fits no map around it"),
            ("a:\n\tb: 1\n", "2:1 a tab is used for indentation"),
            ("a: 1\n\tb: 1\n", "2:1 a tab is used for indentation"),
            ("a: { b: 1\nc: 2\n", "1:4 the `{` here is not closed"),
            ("a: \"x\nb: 1\n", "1:4 the quote that starts here is not closed"),
            ("a: b: c\n", "1:5 a second `: ` in one line"),
            ("a: 'it's'\n", "1:8 text behind a closing quote"),
            ("a: {{ x }}\n", "1:5 a map cannot be a key"),
            ("a: @x\n", "1:4 a text cannot start with `@` here"),
            ("a: *x\n", "1:4 this alias refers to nothing"),
            ("a: 1\n---\nb: 1\n", "2:1 a second YAML document starts here"),
        ] {
            assert_eq!(problems(text), [told], "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-c \\n\\t:{}\\[\\],\"'|>&*!#\\\\你-]{0,60}") {
            let file: Name = "b.yaml".into();
            match parse(&file, &text) {
                Ok(root) => {
                    let mut nodes = vec![root];
                    while let Some(node) = nodes.pop() {
                        if node.is_scalar() {
                            let source = node.source(&file, &text);
                            source.text.char_indices().for_each(|(at, _)| assert!(source.position(at).line > 0));
                        }
                        nodes.extend(node.items().iter().cloned());
                        nodes.extend(node.entries().iter().map(|entry| entry.value.clone()));
                    }
                }
                Err(problems) => prop_assert!(problems.iter().all(|p| p.at.is_some() && p.hint.is_some())),
            }
        }
    }
}
