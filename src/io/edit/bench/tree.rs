//! A YAML file as it is written: where every key and value begins and ends, and every comment.
//!
//! The parser tells where scalars and flow collections begin and end. Where block collections and block scalars end is
//! found in the lines.

use std::ops::Range;

use serde_yaml::granit_parser::{Event, Parser, ScalarStyle, StructureStyle, options};

use crate::io::syntax::node::Style;

/// How a value is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// Not at all: `key:`.
    Empty,
    /// A scalar.
    Scalar(Style),
    /// `*name`.
    Alias,
    /// A sequence, in brackets where `flow`.
    Seq { flow: bool, items: Vec<Located> },
    /// A map, in braces where `flow`.
    Map { flow: bool, entries: Vec<Pair> },
}

/// A value and where it stands. Of block collections and block scalars only the start is right.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Located {
    pub form: Form,
    pub span: Range<usize>,
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub key: String,
    pub at: Range<usize>,
    pub value: Located,
}

/// A step into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A file as it is written.
pub(super) struct Tree<'t> {
    pub text: &'t str,
    pub root: Located,
    pub comments: Vec<Range<usize>>,
}

/// A reason for which an edit cannot be made: one sentence, lower case, without a full stop.
pub(super) type Refusal = String;

impl Located {
    pub(super) fn items(&self) -> &[Located] {
        match &self.form {
            Form::Seq { items, .. } => items,
            _ => &[],
        }
    }

    pub(super) fn entries(&self) -> &[Pair] {
        match &self.form {
            Form::Map { entries, .. } => entries,
            _ => &[],
        }
    }

    fn is_block_scalar(&self) -> bool {
        matches!(self.form, Form::Scalar(Style::Literal | Style::Folded))
    }
}

/// A collection that is not closed yet.
struct Open {
    node: Located,
    key: Option<(String, Range<usize>)>,
}

impl<'t> Tree<'t> {
    /// Reads a text; none where it is not one YAML document.
    pub(super) fn read(text: &'t str) -> Option<Tree<'t>> {
        let mut stack: Vec<Open> = Vec::new();
        let mut root = None;
        let options = options! { emit_comments: false, flow_nesting_limit: 100, block_nesting_limit: 100 };
        for next in Parser::new_from_str_with_options(text, options) {
            let (event, span) = next.ok()?;
            let start = span.start.byte_offset()?.min(text.len());
            let end = span.end.byte_offset()?.clamp(start, text.len());
            let done = match event {
                Event::Scalar(value, style, ..) => {
                    let style = match style {
                        ScalarStyle::SingleQuoted => Style::Single,
                        ScalarStyle::DoubleQuoted => Style::Double,
                        ScalarStyle::Literal => Style::Literal,
                        ScalarStyle::Folded => Style::Folded,
                        _ => Style::Plain,
                    };
                    if let Some(open) = stack.last_mut()
                        && matches!(open.node.form, Form::Map { .. })
                        && open.key.is_none()
                    {
                        open.key = Some((value.into_owned(), start..end));
                        continue;
                    }
                    let form =
                        if style == Style::Plain && start == end { Form::Empty } else { Form::Scalar(style) };
                    Located { form, span: start..end }
                }
                Event::Alias(_) => Located { form: Form::Alias, span: start..end },
                Event::SequenceStart(style, ..) => {
                    let form = Form::Seq { flow: style == StructureStyle::Flow, items: Vec::new() };
                    stack.push(Open { node: Located { form, span: start..end }, key: None });
                    continue;
                }
                Event::MappingStart(style, ..) => {
                    let form = Form::Map { flow: style == StructureStyle::Flow, entries: Vec::new() };
                    stack.push(Open { node: Located { form, span: start..end }, key: None });
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let mut node = stack.pop()?.node;
                    node.span.end = end;
                    node
                }
                _ => continue,
            };
            match stack.last_mut() {
                None => root = Some(done),
                Some(open) => match &mut open.node.form {
                    Form::Seq { items, .. } => items.push(done),
                    Form::Map { entries, .. } => {
                        // A collection as a key is refused where benches are read.
                        let (key, at) = open.key.take()?;
                        entries.push(Pair { key, at, value: done });
                    }
                    _ => return None,
                },
            }
        }
        let mut tree = Tree { text, root: root?, comments: Vec::new() };
        tree.comments = tree.find_comments();
        Some(tree)
    }

    /// The value at a path.
    pub(super) fn at(&self, path: &[Step<'_>]) -> Option<&Located> {
        path.iter().try_fold(&self.root, |node, step| match step {
            Step::Key(key) => node.entries().iter().find(|pair| pair.key == *key).map(|pair| &pair.value),
            Step::Index(index) => node.items().get(*index),
        })
    }

    /// The start of the line that holds a byte.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
    }

    /// The end of the line that holds a byte, in front of its line end.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.text[at..].find(['\n', '\r']).map_or(self.text.len(), |end| at + end)
    }

    /// The start of the line behind the one that ends at `end`; none for the last.
    pub(super) fn next_line(&self, end: usize) -> Option<usize> {
        let rest = &self.text[end..];
        let len = if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) };
        (len > 0).then_some(end + len)
    }

    /// How many characters stand in front of a byte in its line.
    pub(super) fn column(&self, at: usize) -> usize {
        self.text[self.line_start(at)..at].chars().count()
    }

    /// The line number of a byte, from 1.
    pub(super) fn line_number(&self, at: usize) -> usize {
        let before = &self.text[..at];
        before.matches('\n').count() + before.matches('\r').count() - before.matches("\r\n").count() + 1
    }

    /// The byte behind the colon of an entry's key.
    pub(super) fn behind_colon(&self, pair: &Pair) -> Result<usize, Refusal> {
        let rest = &self.text[pair.at.end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest[blank..].starts_with(':') {
            return Ok(pair.at.end + blank + 1);
        }
        Err(format!("line {} is written in a way that is not edited here", self.line_number(pair.at.start)))
    }

    /// The end of an entry: of its value, or of its key where it has none.
    pub(super) fn pair_end(&self, pair: &Pair) -> Result<usize, Refusal> {
        match pair.value.form {
            Form::Empty => Ok(self.behind_colon(pair).unwrap_or(pair.at.end)),
            _ => self.end(&pair.value),
        }
    }

    /// The end of a value: behind its last byte, in the case of block scalars behind their last line that is not blank.
    pub(super) fn end(&self, node: &Located) -> Result<usize, Refusal> {
        match &node.form {
            Form::Scalar(Style::Literal | Style::Folded) => self.block_scalar_end(node),
            Form::Seq { flow: false, items } => match items.last() {
                Some(Located { form: Form::Empty, span }) => {
                    // Its dash is the last thing in front of it.
                    Ok(self.text[..span.start].trim_end().len())
                }
                Some(last) => self.end(last),
                None => Ok(node.span.end),
            },
            Form::Map { flow: false, entries } => match entries.last() {
                Some(last) => self.pair_end(last),
                None => Ok(node.span.end),
            },
            _ => Ok(node.span.end),
        }
    }

    fn block_scalar_end(&self, node: &Located) -> Result<usize, Refusal> {
        let start = node.span.start;
        let indent = self.column(start);
        if self.text[start..node.span.end].trim().is_empty() || indent == 0 {
            return Err(format!(
                "the text in line {} has no lines of its own",
                self.line_number(start.saturating_sub(1))
            ));
        }
        let mut end = self.line_end(start);
        let mut at = end;
        while let Some(next) = self.next_line(at) {
            at = self.line_end(next);
            let line = &self.text[next..at];
            let spaces = line.len() - line.trim_start_matches(' ').len();
            if line.trim().is_empty() {
                continue;
            }
            if spaces < indent {
                break;
            }
            end = at;
        }
        Ok(end)
    }

    /// Where a block scalar's `|` or `>` stands.
    pub(super) fn block_header(&self, node: &Located, from: usize) -> Result<usize, Refusal> {
        let between = &self.text[from..node.span.start];
        match between.find(['|', '>']) {
            Some(at) if node.is_block_scalar() && !between[..at].contains(['&', '!', '#']) => Ok(from + at),
            _ => Err(format!("line {} is written in a way that is not edited here", self.line_number(from))),
        }
    }

    /// The comments that touch a range.
    pub(super) fn comment_in(&self, range: &Range<usize>) -> Option<&Range<usize>> {
        self.comments.iter().find(|comment| comment.start < range.end && comment.end > range.start)
    }

    /// Every `#` that begins a comment, to the end of its line: those that stand in no scalar.
    fn find_comments(&self) -> Vec<Range<usize>> {
        let mut scalars = Vec::new();
        self.scalars(&self.root, &mut scalars);
        scalars.sort_by_key(|scalar: &Range<usize>| scalar.start);
        let mut scalars = scalars.into_iter().peekable();
        let mut comments = Vec::new();
        let mut at = 0;
        while let Some(found) = self.text[at..].find('#').map(|hash| at + hash) {
            while scalars.peek().is_some_and(|scalar| scalar.end <= found) {
                scalars.next();
            }
            if let Some(scalar) = scalars.peek().filter(|scalar| scalar.start <= found) {
                at = scalar.end;
                continue;
            }
            if self.text[..found].chars().next_back().is_none_or(char::is_whitespace) {
                at = self.line_end(found);
                comments.push(found..at);
            } else {
                at = found + 1;
            }
        }
        comments
    }

    fn scalars(&self, node: &Located, out: &mut Vec<Range<usize>>) {
        match &node.form {
            Form::Scalar(_) => {
                let end = self.end(node).unwrap_or(node.span.end);
                out.push(node.span.start..end.max(node.span.start));
            }
            Form::Seq { items, .. } => items.iter().for_each(|item| self.scalars(item, out)),
            Form::Map { entries, .. } => entries.iter().for_each(|pair| {
                out.push(pair.at.clone());
                self.scalars(&pair.value, out);
            }),
            Form::Empty | Form::Alias => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str, path: &[Step<'_>]) -> String {
        let tree = Tree::read(text).expect("YAML");
        let node = tree.at(path).expect("a value");
        let end = tree.end(node).expect("an end");
        text[node.span.start..end].to_owned()
    }

    #[test]
    fn values_end_where_their_last_byte_is() {
        use Step::{Index, Key};
        let text = "a: &x { b: 1, c: 'it''s' }  # c\nd:\n  - x\n  - y: |\n      one\n\n       two\n\n# e\nf: [1,\n  2 ]\ng:\n- h:\n";
        assert_eq!(end_of(text, &[Key("a")]), "{ b: 1, c: 'it''s' }");
        assert_eq!(end_of(text, &[Key("d")]), "- x\n  - y: |\n      one\n\n       two");
        assert_eq!(end_of(text, &[Key("d"), Index(1), Key("y")]), "one\n\n       two");
        assert_eq!(end_of(text, &[Key("f")]), "[1,\n  2 ]");
        assert_eq!(end_of(text, &[Key("g"), Index(0)]), "h:");
    }

    #[test]
    fn a_hash_in_a_text_is_no_comment() {
        let text = "# one\na: \"# no\" # two\nb: x#y # three\nc: |\n  # no\n  x\n  # no\n # four\nd: [ 'a # no', b ] # five\n# six";
        let tree = Tree::read(text).expect("YAML");
        let comments: Vec<&str> = tree.comments.iter().map(|at| &text[at.clone()]).collect();
        assert_eq!(comments, ["# one", "# two", "# three", "# four", "# five", "# six"]);
    }
}
